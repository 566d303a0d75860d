//! Every diagnostic code has a page, and the first example on the page triggers it.

use std::path::Path;

use allways_base::{Diagnostic, FileId};
use allways_boogie::{analyze, codes, entry_point};

/// Everything the front end has to say about a text.
fn diagnostics(text: &str) -> Vec<Diagnostic> {
    let (checked, mut all) = analyze(FileId::from_u32(0), text);
    if let Some(checked) = checked {
        all.extend(entry_point(&checked.program, None).err().map(|diagnostic| *diagnostic));
    }
    all
}

#[test]
fn every_code_has_a_page_whose_first_example_triggers_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/codes");
    for info in codes::ALL {
        let code = info.code.as_str();
        assert!(code.starts_with("boogie-"), "{code}");
        let path = folder.join(format!("{code}.md"));
        let page = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("no page for {code}: {e}"));
        let (_, rest) = page.split_once("```boogie\n").unwrap_or_else(|| panic!("no example for {code}"));
        let (example, _) = rest.split_once("```").unwrap_or_else(|| panic!("open example for {code}"));
        let found = diagnostics(example);
        assert!(found.iter().any(|d| d.code == info.code), "{code} is not triggered: {found:#?}");
        // An example shows its own mistake and no other, save for a missing entry point.
        let other = found.iter().find(|d| d.code != info.code && d.code != codes::NO_ENTRY_POINT);
        assert!(other.is_none(), "{code} shows {other:?} too");
    }
}

#[test]
fn every_page_of_this_front_end_belongs_to_a_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/codes");
    for entry in std::fs::read_dir(folder).expect("the folder of pages") {
        let name = entry.expect("a page").file_name().to_string_lossy().into_owned();
        if name.starts_with("boogie-") {
            let code = name.trim_end_matches(".md");
            assert!(codes::ALL.iter().any(|info| info.code.as_str() == code), "{name} has no code");
        }
    }
}
