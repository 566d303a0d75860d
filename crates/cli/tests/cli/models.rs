//! The models that ship with Allways do what their suites say.

use std::path::Path;

use crate::common::{allways, folder};

/// Runs every fourth suite, from one on: four tests, so that threads share them. Many of the programs run for ever, and short runs show as much.
fn suites_are_as_expected(first: usize) {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut suites: Vec<_> = [models.clone(), models.join("almost_synchronous"), models.join("quiesce")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("allways.toml").exists())
        .collect();
    suites.sort();
    assert!(suites.len() >= 17);
    let out = folder(&format!("models-{first}"));
    for suite in suites.iter().skip(first).step_by(4) {
        let path = suite.canonicalize().unwrap();
        let output =
            allways(&out, &["check", path.to_str().unwrap(), "--all", "-s", "500", "--max-steps", "2000"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{}:\n{text}", path.display());
    }
}

#[test]
fn suites_0_4_8_are_as_expected() {
    suites_are_as_expected(0);
}

#[test]
fn suites_1_5_9_are_as_expected() {
    suites_are_as_expected(1);
}

#[test]
fn suites_2_6_10_are_as_expected() {
    suites_are_as_expected(2);
}

#[test]
fn suites_3_7_11_are_as_expected() {
    suites_are_as_expected(3);
}
