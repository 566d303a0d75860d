//! Code as text: programs with what they are lowered to, and the checklist for new operations.
//!
//! `NAME.ir` is the code of `NAME.p`. `ALLWAYS_BLESS=1` writes it anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use allways_base::Sources;
use allways_machine::Executable;
use allways_machine::show::show;
use allways_p::{Dialect, FileRole, Input};

#[test]
fn programs_have_their_code() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/suite/ir");
    let is_blessing = std::env::var_os("ALLWAYS_BLESS").is_some();
    let mut n = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|ext| ext != "p") {
            continue;
        }
        let mut sources = Sources::default();
        let file = sources.add("program.p".to_owned(), std::fs::read_to_string(&path).expect("readable"));
        let compiled =
            allways_p::compile(&sources, &[Input { file, role: FileRole::Source }], Dialect::default());
        let program = compiled.program.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
        let code = show(&Executable::new(&program, 0));
        let expected = path.with_extension("ir");
        if is_blessing {
            std::fs::write(&expected, &code).expect("writable");
        }
        let known = std::fs::read_to_string(&expected).unwrap_or_default();
        assert!(known == code, "{} is not the code of {}:\n{code}", expected.display(), path.display());
        n += 1;
    }
    assert!(n >= 2, "only {n} programs");
}

/// `docs/how-to/add-an-operation.md` names every source file that names operations, and no other in its lists of code.
#[test]
fn the_checklist_for_operations_is_complete() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/how-to/add-an-operation.md")).expect("readable");
    let listed: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("- `")?.split_once('`'))
        .map(|(path, _)| path.to_owned())
        .filter(|path| path.ends_with(".rs"))
        .collect();
    let mut named = BTreeSet::new();
    for part in ["machine", "lifted", "explore", "driver", "testkit", "explorer", "cli"] {
        collect(&root, &root.join("crates").join(part).join("src"), &mut named);
    }
    assert_eq!(listed, named);
}

fn collect(root: &Path, folder: &Path, named: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            collect(root, &path, named);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            let text = std::fs::read_to_string(&path).expect("readable");
            let names_op = text.match_indices("Op::").any(|(at, _)| {
                let is_whole = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
                is_whole && text[at + 4..].starts_with(|c: char| c.is_ascii_uppercase())
            });
            if names_op {
                let path = path.strip_prefix(root).expect("below the root");
                named.insert(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
}
