//! Pages of `docs/codes/run`: every kind of violation has one, and the programs in it do what it says.
//!
//! A fence is `p` or `bpl`, then `violated` or `holds`, then the command and its options if it is not `prove` (`check` for
//! Boogie), separated by commas.

use std::path::Path;

use allways_run::ViolationKind;
use serde_json::Value;

use crate::common::{allways, fences, folder};

/// Kinds that no program on a page can show: the compiler rejects it before, or the verifier has another name for it.
const WITHOUT_PROGRAM: &[&str] = &["unbound", "loop-invariant"];
/// Pages about verdicts, not about violations.
const VERDICTS: &[&str] = &["inconclusive", "unexpected-verdict"];

fn page(kind: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/codes/run/{kind}.md"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_kind_has_a_page_and_every_page_a_kind() {
    let kinds: Vec<&str> = ViolationKind::ALL.iter().map(|kind| kind.as_str()).collect();
    for kind in kinds.iter().chain(VERDICTS) {
        let text = page(kind);
        assert!(text.starts_with(&format!("# {kind}\n\n")), "the title of {kind}");
        assert!(text.contains("\nWhat to try:\n"), "{kind} gives no advice");
        let output = allways(Path::new("."), &["explain", kind]);
        assert_eq!(output.status.code(), Some(0), "allways explain {kind}");
        assert!(String::from_utf8_lossy(&output.stdout).contains(&text), "allways explain {kind}");
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/codes/run");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().replace(".md", "");
        assert!(kinds.contains(&name.as_str()) || VERDICTS.contains(&name.as_str()), "{name} is no kind");
    }
}

#[test]
fn programs_of_pages_do_what_they_say() {
    let folder = folder("run_pages");
    let mut wrong = Vec::new();
    for kind in ViolationKind::ALL.iter().map(|kind| kind.as_str()) {
        let fences = fences(&page(kind));
        let n_expected = if WITHOUT_PROGRAM.contains(&kind) { 0 } else { 2 };
        assert_eq!(fences.len(), n_expected, "programs of {kind}");
        for (info, program) in fences {
            let mut parts = info.splitn(3, ',');
            let (language, expected) = (parts.next().unwrap(), parts.next().unwrap_or_default());
            let usual = if language == "p" { "prove" } else { "check" };
            let mut words: Vec<&str> = parts.next().unwrap_or(usual).split_whitespace().collect();
            let file = format!("{kind}-{expected}.{language}");
            std::fs::write(folder.join(&file), program).unwrap();
            words.insert(1, &file);
            words.extend(["--format", "json"]);
            let output = allways(&folder, &words);
            let text = String::from_utf8_lossy(&output.stdout);
            let report: Value = serde_json::from_str(&text).unwrap_or_default();
            let report = &report["reports"][0];
            let found = [&report["violation"]["kind"], &report["violations"][0]["kind"]];
            let is_kind = found.iter().any(|found| *found == kind) || report["verdict"] == "diverges";
            let is_right = match expected {
                "violated" => output.status.code() == Some(1) && is_kind,
                "holds" => output.status.code() == Some(0),
                _ => false,
            };
            if !is_right {
                wrong.push(format!("{kind} {info}: {text}{}", String::from_utf8_lossy(&output.stderr)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
