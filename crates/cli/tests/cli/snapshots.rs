//! What users see, to the byte. Each folder of `corpus/cli` has a `cmd` (one command a line), the files it runs on,
//! and `expected`: both streams and the exit status. `ALLWAYS_BLESS=1` rewrites expectations; review the diff.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use allways_testkit::boogie::solver::need_solver;

use crate::common::{allways, folder};

#[test]
fn output_is_as_recorded() {
    need_solver();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/cli");
    let mut cases: Vec<PathBuf> =
        std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(!cases.is_empty());
    let is_blessing = std::env::var_os("ALLWAYS_BLESS").is_some();
    let mut differences = String::new();
    for case in cases {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let seen = run(&case, &name);
        let file = case.join("expected");
        let expected = std::fs::read_to_string(&file).unwrap_or_default();
        if seen == expected {
            continue;
        }
        if is_blessing {
            std::fs::write(&file, &seen).unwrap();
        } else {
            let _ = writeln!(differences, "== {name}: expected\n{expected}\n== but saw\n{seen}");
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

/// Runs the commands of a case in a copy of its folder.
fn run(case: &Path, name: &str) -> String {
    let copy = folder(&format!("snapshots/{name}"));
    let mut commands = String::new();
    for entry in std::fs::read_dir(case).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        match file.as_str() {
            "cmd" => commands = std::fs::read_to_string(&path).unwrap(),
            "expected" => {}
            _ => {
                std::fs::copy(&path, copy.join(file)).unwrap();
            }
        }
    }
    let mut seen = String::new();
    for command in commands.lines() {
        let args: Vec<&str> = command.split_whitespace().collect();
        let output = allways(&copy, &args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        // The clock is the only thing that may differ.
        let stderr: String = stderr
            .lines()
            .filter(|line| {
                !line.starts_with("... Elapsed")
                    && !line.contains("configurations/s")
                    && !line.contains(" s in the solver")
            })
            .fold(String::new(), |all, line| all + line + "\n");
        let _ = write!(
            seen,
            "$ allways {command}\n{}{stderr}[{}]\n",
            without_clock(&String::from_utf8_lossy(&output.stdout)),
            output.status.code().unwrap_or(-1)
        );
    }
    seen
}

/// Text in which the times of a table of tests are all alike.
fn without_clock(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let is_row = line.starts_with("ok ") || line.starts_with("!! ");
        let time = line.split(' ').zip(line.split(' ').skip(1)).find(|(n, unit)| {
            let is_unit = unit.trim_end() == "s";
            is_unit && n.contains('.') && n.parse::<f64>().is_ok()
        });
        match time {
            Some((n, _)) if is_row => out.push_str(&line.replacen(&format!("{n:>7} s"), "   0.00 s", 1)),
            _ => out.push_str(line),
        }
    }
    out
}
