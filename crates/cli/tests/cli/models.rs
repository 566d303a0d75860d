//! The models that ship with Allways do what their suites say.

use std::path::Path;

use crate::common::{allways, folder};

#[test]
fn every_suite_is_as_expected() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut suites: Vec<_> = [models.clone(), models.join("almost_synchronous"), models.join("quiesce")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("allways.toml").exists())
        .collect();
    suites.sort();
    assert!(suites.len() >= 17);
    let out = folder("models");
    for suite in suites {
        let path = suite.canonicalize().unwrap();
        let output = allways(&out, &["check", path.to_str().unwrap(), "--all", "-s", "500"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{}:\n{text}", path.display());
    }
}
