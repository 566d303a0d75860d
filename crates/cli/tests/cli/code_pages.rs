//! Every code has a page in `docs/codes`, and the examples of the page do what it says.
//!
//! The first fence `p` reports the code of the page and nothing else; fences `p,ok` report no error. Pages of codes
//! about files and projects have no examples. Pages `boogie-*` belong to the other front end.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use allways_base::{Diagnostic, Sources};
use allways_p::{Dialect, FileRole, Input, codes};

use crate::common::fences;

struct Page {
    code: String,
    text: String,
}

fn pages() -> Vec<Page> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/codes");
    let listing = fs::read_dir(&folder).expect("the folder of the pages");
    let mut pages: Vec<Page> = listing
        .map(|entry| entry.expect("a readable folder").path())
        .filter_map(|path| {
            let code = path.file_name()?.to_str()?.strip_suffix(".md")?.to_owned();
            (!code.starts_with("boogie-")).then_some((code, path))
        })
        .map(|(code, path)| Page { code, text: fs::read_to_string(path).expect("a readable page") })
        .collect();
    pages.sort_by(|a, b| a.code.cmp(&b.code));
    pages
}

fn diagnostics(program: &str) -> Vec<Diagnostic> {
    let mut sources = Sources::default();
    let mut input =
        |text: &str, role| Input { file: sources.add("page.p".to_owned(), text.to_owned()), role };
    let mut inputs = vec![input(program, FileRole::Source)];
    // The page of a code about invariants states them in comments.
    let stated = program.lines().filter_map(|line| line.strip_prefix("// --invariant "));
    inputs.extend(stated.map(|text| input(text.trim_matches('\''), FileRole::Invariant)));
    allways_p::compile(&sources, &inputs, Dialect::default()).diagnostics
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let known: BTreeSet<&str> = codes::ALL.iter().map(|info| info.code.as_str()).collect();
    let pages = pages();
    let written: BTreeSet<&str> = pages.iter().map(|page| page.code.as_str()).collect();
    let missing: Vec<_> = known.difference(&written).collect();
    let surplus: Vec<_> = written.difference(&known).collect();
    assert!(missing.is_empty() && surplus.is_empty(), "without page: {missing:?}; without code: {surplus:?}");
    assert_eq!(known.len(), codes::ALL.len(), "a code is declared twice");
    for page in &pages {
        assert!(page.text.starts_with(&format!("# {}\n\n", page.code)), "the title of {}", page.code);
    }
}

#[test]
fn examples_do_what_the_page_says() {
    let mut wrong = Vec::new();
    for page in pages() {
        for (i, (info, program)) in fences(&page.text).into_iter().enumerate() {
            let diagnostics = diagnostics(&program);
            let found: Vec<&str> = diagnostics.iter().map(|d| d.code.as_str()).collect();
            let is_right = match info.as_str() {
                "p" if i == 0 => !found.is_empty() && found.iter().all(|&code| code == page.code),
                "p,ok" => i > 0 && found.is_empty(),
                _ => false,
            };
            if !is_right {
                wrong.push(format!("{}: fence {} `{info}` reports {found:?}", page.code, i + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn codes_of_programs_have_examples() {
    let of_projects = [
        codes::DUPLICATE_FILE,
        codes::UNREADABLE_FILE,
        codes::NOT_UTF8,
        codes::FILE_TOO_LARGE,
        codes::BAD_PROJECT,
        codes::SEVERAL_PROJECTS,
        codes::NO_SOURCES,
        codes::INCLUDE_CYCLE,
    ];
    for page in pages() {
        let is_of_project = of_projects.iter().any(|code| code.as_str() == page.code);
        assert_eq!(fences(&page.text).len(), if is_of_project { 0 } else { 2 }, "examples of {}", page.code);
    }
}
