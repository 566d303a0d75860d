//! Boogie files at the command line.

use std::fs;
use std::process::Command;

use allways_testkit::boogie::solver::need_solver;

use crate::common::{allways, assert_says, folder, rejected};

/// A task is posted and may run at the yield.
const RACE: &str = "var x: int;\n\
procedure worker() { x := x + 1; }\n\
procedure main() { x := 0; async call worker(); yield; assert x == 0; }\n";

const SAFE: &str = "procedure main() { var i: int; i := 0; while (i < 3) { i := i + 1; } assert i == 3; }\n";

#[test]
fn a_race_is_found_and_repeated() {
    need_solver();
    let dir = folder("boogie_race");
    fs::write(dir.join("race.bpl"), RACE).unwrap();
    let output = allways(&dir, &["check", "race.bpl"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert_says(&text, &["race.bpl: violated", "race.bpl:3:", "has repeated the run", "x := x + 1"]);
    let output = allways(&dir, &["check", "race.bpl", "--format", "json", "--dump-smt", "out.smt2"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["verdict"], &report["violation"]["isRepeated"]), (&"violated".into(), &true.into()));
    assert_says(&fs::read_to_string(dir.join("out.smt2")).unwrap(), &["check-sat"]);
}

#[test]
fn a_safe_program_is_proved_or_bounded() {
    need_solver();
    let dir = folder("boogie_safe");
    fs::write(dir.join("safe.bpl"), SAFE).unwrap();
    let said = |args: &[&str]| {
        let output = allways(&dir, args);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_says(&said(&["check", "safe.bpl"]), &["safe.bpl: holds", "proved"]);
    assert_says(&said(&["check", "safe.bpl", "--recursion", "1"]), &["at most 1 nested calls"]);
}

#[test]
fn sequentialized_text_is_boogie_again() {
    let dir = folder("boogie_sequentialize");
    fs::write(dir.join("race.bpl"), RACE).unwrap();
    let output = allways(&dir, &["sequentialize", "race.bpl", "--delays", "1", "-o", "out.bpl"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(allways(&dir, &["compile", "out.bpl"]).status.code(), Some(0));
}

#[test]
fn mistakes_and_missing_solvers_are_told() {
    let dir = folder("boogie_mistakes");
    fs::write(dir.join("bad.bpl"), "procedure main() { x := 1; y := ; }\n").unwrap();
    assert_says(&rejected(&dir, &["check", "bad.bpl"]), &["error[boogie-", "bad.bpl:1"]);
    assert_says(&rejected(&dir, &["compile", "missing.bpl"]), &["missing.bpl", "cannot be read"]);
    fs::write(dir.join("safe.bpl"), SAFE).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_allways"))
        .current_dir(&dir)
        .args(["check", "safe.bpl"])
        .env("ALLWAYS_SOLVER", "./no-such-solver")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_says(&String::from_utf8_lossy(&output.stderr), &["no-such-solver", "could not be started"]);
}

#[test]
fn preemption_is_chosen_or_usual() {
    need_solver();
    let dir = folder("boogie_preemption");
    // Corral's spelling without yields: the second task may come between reading and writing.
    let lost = "var x: int;\nprocedure add() { var t: int; t := x; x := t + 1; }\n\
        procedure main() { x := 0; async call add(); async call add(); assume x != 0; assert x == 2; }\n";
    fs::write(dir.join("lost.bpl"), lost).unwrap();
    let checked = |args: &[&str]| {
        let output = allways(&dir, &[&["check", "lost.bpl", "--format", "json"], args].concat());
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), report)
    };
    let (code, report) = checked(&[]);
    assert_eq!(
        (code, &report["preemption"], &report["scheduler"]),
        (Some(1), &"automatic".into(), &"dfw".into())
    );
    assert_says(report["explanation"].as_str().unwrap(), &["preempted before every shared access"]);
    let (code, report) = checked(&["--preemption", "serial", "--scheduler", "child-first"]);
    assert_eq!((code, &report["covered"]["hasTasks"]), (Some(0), &true.into()));
    assert_says(
        report["explanation"].as_str().unwrap(),
        &["child-first, preempted at waits only, in 5 rounds"],
    );
    let (code, report) = checked(&["--delays", "1", "--recursion", "2", "--preemption", "explicit"]);
    assert_eq!((code, &report["covered"]["delays"]), (Some(0), &1.into()));
    assert_says(
        &rejected(&dir, &["check", "lost.bpl", "--preemption", "never"]),
        &["explicit, automatic, serial"],
    );
    assert_says(&rejected(&dir, &["check", "lost.bpl", "--entry", "start"]), &["start"]);
}

#[test]
fn commands_for_p_refuse_boogie_and_say_what_takes_it() {
    let folder = folder("boogie-for-p");
    fs::write(folder.join("main.bpl"), "procedure main() { assert true; }\n").unwrap();
    for command in ["prove", "graph", "tests"] {
        let text = rejected(&folder, &[command, "main.bpl"]);
        assert_says(&text, &["is a Boogie program", "`allways check`"]);
    }
}
