//! Boogie files at the command line.

use std::fs;
use std::process::{Command, Output};

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
    assert_says(&text, &["race.bpl: violated", "race.bpl:3:", "replayed the run", "x := x + 1"]);
    let output = allways(&dir, &["check", "race.bpl", "--format", "json", "--dump-smt", "out.smt2"]);
    let report = only_report(&output);
    assert_eq!((&report["verdict"], &report["evidence"]["isRepeated"]), (&"violated".into(), &true.into()));
    let violation = &report["violations"][0];
    assert_eq!(
        (&violation["kind"], &violation["steps"][2]["machine"]),
        (&"assertion".into(), &"worker(2)".into())
    );
    // What was said to the solver can be said again, with the same answers.
    let kept = fs::read_to_string(dir.join("out.smt2")).unwrap();
    let answers: Vec<&str> =
        kept.lines().filter_map(|line| line.strip_prefix("; ")).filter(|line| is_answer(line)).collect();
    assert!(answers.contains(&"sat") && answers.contains(&"unsat"), "{kept}");
    let solver = allways_testkit::boogie::solver::solver();
    let again = Command::new(solver.program).current_dir(&dir).arg("out.smt2").output().unwrap();
    let again = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(!again.contains("error"), "{again}");
    assert_eq!(again.lines().filter(|line| is_answer(line)).collect::<Vec<_>>(), answers, "{again}");
}

fn is_answer(line: &str) -> bool {
    matches!(line, "sat" | "unsat" | "unknown")
}

/// The one report of a JSON answer.
fn only_report(output: &Output) -> serde_json::Value {
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["reports"].as_array().map(Vec::len), Some(1), "{answer}");
    answer["reports"][0].clone()
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
    assert_says(&said(&["check", "safe.bpl"]), &["safe.bpl: holds: proved, no run fails"]);
    assert_says(
        &said(&["check", "safe.bpl", "--recursion", "1"]),
        &["safe.bpl: holds: no failure within 1 iteration of each loop; not a proof"],
    );
    let output = allways(&dir, &["check", "safe.bpl", "--recursion", "2", "--format", "json"]);
    let guarantee = &only_report(&output)["guarantee"];
    assert_eq!(
        *guarantee,
        serde_json::json!({"kind": "bounded", "bounds": [{"kind": "nesting", "limit": 2}]})
    );
    // Deeper ones are tried while there is time.
    fs::write(dir.join("long.bpl"), SAFE.replace("3", "30")).unwrap();
    assert_says(&said(&["check", "long.bpl"]), &["long.bpl: holds: proved"]);
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
fn mistakes_and_missing_solvers_are_reported() {
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
        (output.status.code(), only_report(&output))
    };
    let (code, report) = checked(&[]);
    assert_eq!(
        (code, &report["preemption"], &report["scheduler"]),
        (Some(1), &"automatic".into(), &"dfw".into())
    );
    assert_says(report["explanation"].as_str().unwrap(), &["preempted before every shared access"]);
    let (code, report) = checked(&["--preemption", "serial", "--scheduler", "child-first"]);
    assert_eq!((code, &report["hasTasks"]), (Some(0), &true.into()));
    assert_says(
        report["explanation"].as_str().unwrap(),
        &["child-first, preempted at waits only, within 5 rounds"],
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

#[test]
fn several_files_are_one_program() {
    need_solver();
    let dir = folder("boogie_files");
    let (prelude, main) = RACE.split_at(RACE.find("procedure main").unwrap());
    fs::write(dir.join("prelude.bpl"), prelude).unwrap();
    fs::write(dir.join("main.bpl"), main).unwrap();
    let output = allways(&dir, &["check", "main.bpl", "prelude.bpl"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    assert_says(&text, &["main.bpl, prelude.bpl: violated", "--> main.bpl:1:", "prelude.bpl:2"]);
    assert_eq!(allways(&dir, &["compile", "main.bpl", "prelude.bpl"]).status.code(), Some(0));
    assert_eq!(allways(&dir, &["sequentialize", "main.bpl", "prelude.bpl"]).status.code(), Some(0));
    assert_says(&rejected(&dir, &["check", "main.bpl"]), &["main.bpl:1"]);
    assert_says(&rejected(&dir, &["check", "main.bpl", "other.p"]), &["`other.p` is not a Boogie file"]);
}

#[test]
fn a_limit_keeps_what_was_covered() {
    need_solver();
    let dir = folder("boogie_limit");
    // No bound is the last one.
    fs::write(
        dir.join("endless.bpl"),
        "procedure main() { var i: int; i := 0; while (*) { i := i + 1; } assert i >= 0; }\n",
    )
    .unwrap();
    let output = allways(&dir, &["check", "endless.bpl", "-t", "4"]);
    assert_eq!(output.status.code(), Some(0));
    assert_says(
        &String::from_utf8_lossy(&output.stdout),
        &["no failure within ", " iterations of each loop; not a proof", "the time limit of 4 s"],
    );
    let hard = "procedure main() { var a, b, c: int; assume a > 1 && b > 1 && c > 1; assert a * a * a + b * b * b != c * c * c; }\n";
    fs::write(dir.join("hard.bpl"), hard).unwrap();
    let output = allways(&dir, &["check", "hard.bpl", "-t", "1"]);
    assert_eq!(output.status.code(), Some(3));
    assert_says(
        &String::from_utf8_lossy(&output.stdout),
        &["hard.bpl: unknown: the time limit of 1 s was reached"],
    );
}

#[test]
fn a_copy_of_the_executable_finds_the_solver_or_says_what_to_do() {
    let dir = folder("boogie_copy");
    fs::write(dir.join("safe.bpl"), SAFE).unwrap();
    let copy = dir.join("allways");
    fs::copy(env!("CARGO_BIN_EXE_allways"), &copy).unwrap();
    let data = dir.join("data");
    let run = || {
        let mut command = Command::new(&copy);
        command.current_dir("/").arg("check").arg(dir.join("safe.bpl"));
        command.env_remove("ALLWAYS_SOLVER").env_remove("CARGO_TARGET_DIR").env("PATH", "");
        command.env("XDG_DATA_HOME", &data);
        loop {
            match command.output() {
                // A child that another test is starting holds the copy open for writing until it executes.
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                    std::thread::yield_now()
                }
                output => break output.unwrap(),
            }
        }
    };
    let output = run();
    let has_built = matches!(output.status.code(), Some(0));
    if !has_built {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), said.lines().count()), (Some(3), 1), "{said}");
        assert_says(&said, &["scripts/get-solver --user"]);
    }
    // Where `scripts/get-solver --user` puts it.
    let solver = allways_testkit::boogie::solver::solver().program;
    let program = if solver.is_absolute() { solver } else { std::env::current_dir().unwrap().join(solver) };
    if program.is_file() {
        fs::create_dir_all(data.join("allways/bin")).unwrap();
        fs::copy(program, data.join("allways/bin/z3")).unwrap();
        assert_eq!(run().status.code(), Some(0));
    }
}
