//! The oracle and the kernel on the programs of the corpus.

use std::path::PathBuf;

use allways_testkit::Loaded;
use allways_testkit::differential::{Comparison, compare};
use allways_testkit::oracle::OracleOptions;

#[test]
fn oracle_and_kernel_agree_on_the_corpus() {
    let corpus = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/p");
    let mut problems = Vec::new();
    let (mut n_agree, mut n_too_large) = (0, Vec::new());
    for folder in ["run", "regress"] {
        let Ok(entries) = std::fs::read_dir(corpus.join(folder)) else { continue };
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
        files.sort();
        for path in files.iter().filter(|path| path.extension().is_some_and(|ext| ext == "p")) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(path).expect("readable");
            // Limits on instructions, calls and sizes belong to the kernel; P and the oracle have none.
            let beyond = ["endless-handler", "LongHandler"];
            if beyond.iter().any(|kind| text.lines().next().is_some_and(|line| line.contains(kind))) {
                continue;
            }
            let loaded = Loaded::new(&name, &text).unwrap_or_else(|messages| panic!("{name}: {messages}"));
            for test in 0..loaded.program.tests.len() {
                let options = OracleOptions { max_configurations: 5_000, ..OracleOptions::default() };
                match compare(&loaded, test, options).comparison {
                    Comparison::Agree => n_agree += 1,
                    Comparison::TooLarge => n_too_large.push(name.clone()),
                    Comparison::Differ(difference) => problems.push(format!("{name}: {difference}")),
                }
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(n_agree > 180, "only {n_agree} compared; too large: {n_too_large:?}");
}
