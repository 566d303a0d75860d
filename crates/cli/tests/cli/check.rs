//! `allways check` and `allways replay` as users run them.

use std::fs;
use std::path::Path;

use crate::common::{allways, assert_says, folder, rejected};

/// Two writers race; the reader expects the first one's value. `tcOne` has a single writer and holds.
const RACE: &str = r#"
event eWrite: int;
event eDone;

machine Cell {
  var value: int;
  var n_writes: int;
  start state Open {
    on eWrite do (written: int) {
      value = written;
      n_writes = n_writes + 1;
      assert n_writes < 2 || value == 2, format("lost update: value is {0}", value);
    }
  }
}

machine Writer {
  start state Write {
    entry (job: (cell: machine, value: int)) { send job.cell, eWrite, job.value; }
  }
}

machine Two {
  start state Go {
    entry {
      var cell: machine;
      cell = new Cell();
      new Writer((cell = cell, value = 1));
      new Writer((cell = cell, value = 2));
    }
  }
}

machine One {
  start state Go {
    entry {
      var cell: machine;
      cell = new Cell();
      new Writer((cell = cell, value = 1));
    }
  }
}

test tcTwo [main=Two]: { Two, Cell, Writer };
test tcOne [main=One]: { One, Cell, Writer };
test tcOneMore [main=One]: { One, Cell, Writer };
"#;

fn race(name: &str) -> std::path::PathBuf {
    let dir = folder(name);
    fs::write(dir.join("race.p"), RACE).unwrap();
    dir
}

fn stdout(dir: &Path, args: &[&str]) -> (String, i32) {
    let output = allways(dir, args);
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap())
}

#[test]
fn a_violation_is_shown_and_replays() {
    let dir = race("violation");
    let (text, status) = stdout(&dir, &["check", "-tc", "tcTwo"]);
    assert_eq!(status, 1);
    assert_says(
        &text,
        &["tcTwo: violated", "lost update: value is 1", "race.p:12:7", "step", "Found 1 bug."],
    );
    let schedule = "PCheckerOutput/tcTwo/BugFinding/violation_0_0.schedule";
    let (again, status) = stdout(&dir, &["replay", schedule]);
    assert_eq!(status, 1);
    assert_says(&again, &["tcTwo: violated", "lost update: value is 1"]);
    let (as_p, status) = stdout(&dir, &["check", "-r", schedule]);
    assert_eq!((as_p, status), (again, 1));
    let log = fs::read_to_string(dir.join(schedule.replace(".schedule", ".txt"))).unwrap();
    assert_says(&log, &["<SendLog>", "<ErrorLog> Assertion Failed: race.p:12:7 lost update: value is 1"]);
    let trace = fs::read(dir.join(schedule.replace(".schedule", ".trace.json"))).unwrap();
    let trace: serde_json::Value = serde_json::from_slice(&trace).unwrap();
    assert_eq!(trace.as_array().unwrap().last().unwrap()["type"], "AssertionFailure");
}

#[test]
fn earlier_files_are_kept_aside() {
    let dir = race("rotation");
    for _ in 0..3 {
        allways(&dir, &["check", "-tc", "tcTwo"]);
    }
    for name in ["BugFinding", "BugFinding0", "BugFinding1"] {
        assert!(dir.join("PCheckerOutput/tcTwo").join(name).join("rotation_0_0.txt").exists(), "{name}");
    }
}

#[test]
fn nothing_broken_leaves_no_files() {
    let dir = race("holds");
    let (text, status) = stdout(&dir, &["check", "-tc", "tcOne", "-s", "50"]);
    assert_eq!(status, 0);
    assert_says(&text, &["tcOne: no violation in ", "50 schedules", "not a proof", "Found 0 bugs."]);
    assert!(!dir.join("PCheckerOutput").exists());
    allways(&dir, &["check", "-tc", "tcOne", "-s", "50", "-o", "out"]);
    assert!(dir.join("out/tcOne/BugFinding/holds.coverage.txt").exists());
}

#[test]
fn same_seed_same_bytes_whatever_the_threads() {
    let dir = race("same_bytes");
    let run = |threads: &str, format: &str| {
        stdout(
            &dir,
            &[
                "check",
                "-tc",
                "tcTwo",
                "--seed",
                "7",
                "-j",
                threads,
                "--format",
                format,
                "--explore",
                "-s",
                "300",
            ],
        )
    };
    for format in ["text", "json"] {
        let first = run("1", format);
        assert_eq!(first.1, 1);
        assert_eq!(run("1", format), first);
        assert_eq!(run("2", format), first);
    }
}

#[test]
fn every_strategy_finds_the_race() {
    let dir = race("strategies");
    for strategy in [
        &["--sch-random"][..],
        &["--sch-probabilistic", "2"],
        &["-sp", "2"],
        &["--sch-pct", "3"],
        &["--sch-fairpct", "3"],
        &["--sch-pos"],
        &["--sch-delay", "2"],
        &["--sch-dfs"],
    ] {
        let mut args = vec!["check", "-tc", "tcTwo", "-s", "500"];
        args.extend(strategy);
        assert_eq!(stdout(&dir, &args).1, 1, "{strategy:?}");
    }
    rejected(&dir, &["check", "-tc", "tcTwo", "--sch-pos", "--sch-random"]);
}

#[test]
fn test_cases_are_chosen_by_exact_name_then_by_prefix() {
    let dir = race("selection");
    let (text, _) = stdout(&dir, &["check", "-tc", "tcOne", "-s", "5"]);
    assert!(!text.contains("tcOneMore"), "an exact name means one test");
    // A violation anywhere decides the exit status.
    let (text, status) = stdout(&dir, &["check", "-tc", "tc", "-s", "200"]);
    assert_says(&text, &["tcTwo: violated", "tcOne: no violation in ", "tcOneMore: no violation in "]);
    assert_eq!(status, 1);
    assert_says(
        &rejected(&dir, &["check"]),
        &["We found '3' test cases", "Possible options are:", "tcTwo\ntcOne\n"],
    );
    assert_says(&rejected(&dir, &["check", "-tc", "nothing"]), &["no test case `nothing`", "tcTwo"]);
    assert_eq!(stdout(&dir, &["check", "--list-tests"]).0, "tcTwo\ntcOne\ntcOneMore\n");
}

/// Both commands take expectations, budgets and engines from the same file, and show the same table.
#[test]
fn check_and_prove_run_the_same_suite() {
    let dir = race("suite-both");
    let suite = "[defaults]\nschedules = 300\ntimeout = 60\n\n[[test]]\nname = \"tcOne\"\nengine = \"explicit\"\n\n\
                 [[test]]\nname = \"tcTwo\"\nexpect = \"violated\"\nby = \"assertion\"\n";
    fs::write(dir.join("allways.toml"), suite).unwrap();
    for (command, verdict, unit) in [("check", "tested", "schedules"), ("prove", "proved", "configurations")]
    {
        let (text, status) = stdout(&dir, &[command, "--all", "-o", "out"]);
        assert_eq!(status, 0, "{text}");
        assert_says(&text, &["explored", "time", "ok tcOne", verdict, unit, "all 2 as expected"]);
        assert_says(&text, &["files of tcTwo: out/tcTwo/BugFinding"]);
        let (text, _) = stdout(&dir, &[command, "--all", "-o", "out", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        let [one, two] = report["tests"].as_array().unwrap().as_slice() else { panic!("{report}") };
        assert_eq!((&one["verdict"], &one["unit"]), (&verdict.into(), &unit.into()), "{report}");
        assert_eq!(one["guarantee"]["kind"], verdict);
        assert_eq!((&two["kind"], &two["place"]), (&"assertion".into(), &"race.p:12:7".into()), "{report}");
        assert_eq!(two["files"], "out/tcTwo/BugFinding");
        assert_eq!(
            one["engine"],
            if command == "prove" { "explicit".into() } else { serde_json::Value::Null }
        );
    }
    // What is not expected fails, with its trace for CI.
    fs::write(dir.join("allways.toml"), "[[test]]\nname = \"tcTwo\"\nschedules = 300\n").unwrap();
    for command in ["check", "prove"] {
        let args = [command, "--all", "-o", "out", "--junit", "junit.xml"];
        let (text, status) = stdout(&dir, &args);
        assert_eq!(status, 1, "{text}");
        let junit = fs::read_to_string(dir.join("junit.xml")).unwrap();
        assert_says(
            &junit,
            &["failures=\"1\"", "expected holds, violated", "race.p:12:7", "creates Cell(2)"],
        );
    }
    fs::write(dir.join("allways.toml"), "[[test]]\nname = \"tcOne\"\nengine = \"magic\"\n").unwrap();
    assert_says(&rejected(&dir, &["prove", "--all"]), &["allways.toml", "no engine `magic`", "explicit"]);
    // A test without an answer is not as expected, and not wrong either.
    let slow = "event e: int; machine Main { start state S {\n\
        entry { send this, e, 0; } on e do (n: int) { assert n * 2 != 7; send this, e, n + 1; } } }";
    let endless = folder("suite-unknown");
    fs::write(endless.join("slow.p"), slow).unwrap();
    fs::write(endless.join("allways.toml"), "[defaults]\nmemory = 0.02\nengine = \"explicit\"\n").unwrap();
    let (text, status) = stdout(&endless, &["prove", "--all", "--junit", "junit.xml"]);
    assert_eq!(status, 3, "{text}");
    assert_says(&text, &["!! DefaultImpl", "unknown", "the memory limit of 20 MB", "1 of 1 not as expected"]);
    assert_says(&fs::read_to_string(endless.join("junit.xml")).unwrap(), &["errors=\"1\"", "memory limit"]);
    let large = "machine Main { var all: seq[int]; start state S {\n\
        entry { while (sizeof(all) < 5000000) { all += (sizeof(all), 1); } } } }";
    fs::write(endless.join("slow.p"), large).unwrap();
    let (text, status) = stdout(&endless, &["check", "--all", "--junit", "junit.xml"]);
    assert_eq!(status, 3, "{text}");
    assert_says(&text, &["unknown", "the memory limit of 20 MB"]);
    // No bound on steps, as on the command line: nothing is cut, and the violation is found.
    fs::write(endless.join("slow.p"), "machine Main { start state S { entry { assert false; } } }").unwrap();
    fs::write(endless.join("allways.toml"), "[defaults]\nmax-steps = 0\n").unwrap();
    assert_eq!(stdout(&endless, &["check", "--all"]).1, 1);
}

/// A proof, a proof within bounds and testing differ in their headline and for scripts.
#[test]
fn verdicts_say_how_they_hold() {
    let dir = race("guarantees");
    let json = |args: &[&str]| -> serde_json::Value {
        let report: serde_json::Value = serde_json::from_str(&stdout(&dir, args).0).unwrap();
        assert_eq!(report["version"], 2);
        report["reports"][0].clone()
    };
    let (text, _) = stdout(&dir, &["prove", "-tc", "tcOne"]);
    assert_says(
        &text,
        &["tcOne: proved\nevery run was explored\nnote: probability of a missed configuration"],
    );
    let proved = json(&["prove", "-tc", "tcOne", "--format", "json"]);
    assert_eq!((&proved["verdict"], &proved["guarantee"]["kind"]), (&"proved".into(), &"proved".into()));
    assert!(proved["guarantee"]["missProbability"].as_f64().unwrap() < 1e-9);
    let exact = json(&["prove", "-tc", "tcOne", "--store", "exact", "--format", "json"]);
    assert_eq!(exact["guarantee"], serde_json::json!({ "kind": "proved" }));
    // The bound hides the violation: this must not read like a proof.
    let bounded = ["prove", "-tc", "tcTwo", "--max-value", "Cell.n_writes=0"];
    let (text, status) = stdout(&dir, &bounded);
    assert_eq!(status, 0, "{text}");
    assert_says(&text, &["tcTwo: holds within bounds: Cell.n_writes <= 0\n", "not a proof"]);
    let report = json(&[&bounded[..], &["--format", "json"]].concat());
    let bounds = serde_json::json!([{ "kind": "variable", "name": "Cell.n_writes", "limit": 0 }]);
    assert_eq!((&report["verdict"], &report["guarantee"]["bounds"]), (&"bounded".into(), &bounds));
    let (text, _) = stdout(&dir, &["check", "-tc", "tcOne", "-s", "1"]);
    assert_says(&text, &["tcOne: no violation in 1 schedule\n", "Explored 1 schedule\n"]);
    let tested = json(&["check", "-tc", "tcOne", "-s", "20", "--format", "json"]);
    assert_eq!((&tested["verdict"], &tested["guarantee"]["nSchedules"]), (&"tested".into(), &20.into()));
    let violated = json(&["prove", "-tc", "tcTwo", "--format", "json"]);
    assert_eq!(
        (&violated["verdict"], &violated["guarantee"]),
        (&"violated".into(), &serde_json::Value::Null)
    );
}

#[test]
fn suites_compare_with_expectations() {
    let dir = race("suite");
    let suite = |text: &str| fs::write(dir.join("allways.toml"), text).unwrap();
    suite(
        "[defaults]\nschedules = 300\n\n[[test]]\nname = \"tcOne\"\n\n[[test]]\nname = \"tcTwo\"\n\
         expect = \"violated\"\nby = \"assertion\"\nmessage = \"lost update\"\n",
    );
    let (text, status) = stdout(&dir, &["check", "--all", "--junit", "junit.xml"]);
    assert_eq!(status, 0, "{text}");
    assert_says(&text, &["ok tcOne", "ok tcTwo", "all 2 as expected"]);
    assert_says(&fs::read_to_string(dir.join("junit.xml")).unwrap(), &["tests=\"2\" failures=\"0\""]);
    suite("[[test]]\nname = \"tcTwo\"\nexpect = \"violated\"\nby = \"deadlock\"\nschedules = 300\n");
    let (text, status) = stdout(&dir, &["check", "--all"]);
    assert_eq!(status, 1);
    assert_says(&text, &["!! tcTwo", "violated by assertion, not by deadlock"]);
    suite("[[test]]\nname = \"tcTwo\"\nschedules = 300\n");
    assert_eq!(stdout(&dir, &["check", "--all"]).1, 1, "a test that breaks was expected to hold");
    suite("[[test]]\nname = \"tcNone\"\n");
    assert_says(&rejected(&dir, &["check", "--all"]), &["allways.toml", "tcNone"]);
    suite("[[test]]\nname = 3\n");
    assert_says(&rejected(&dir, &["check", "--all"]), &["allways.toml"]);
}

#[test]
fn wrong_schedules_are_refused() {
    let dir = race("wrong_schedules");
    allways(&dir, &["check", "-tc", "tcTwo"]);
    let schedule = dir.join("PCheckerOutput/tcTwo/BugFinding/wrong_schedules_0_0.schedule");
    let text = fs::read_to_string(&schedule).unwrap();
    let refused = |text: &str| {
        fs::write(dir.join("x.schedule"), text).unwrap();
        rejected(&dir, &["replay", "x.schedule"])
    };
    assert_says(&refused(&text[..text.len() - 5]), &["cut off"]);
    assert_says(&refused(&text.replace("tcTwo", "tcThree")), &["no test case `tcThree`"]);
    assert_says(&refused(&text.replace("(0)", "(0.7.7)")), &["does not fit"]);
    assert_says(&refused("--fair-scheduling\n--test-method:tcTwo\n(0)\n(1)\n"), &["P's own checker"]);
    assert_says(&refused("nonsense"), &["not a schedule file"]);
    assert_says(&rejected(&dir, &["replay", "missing.schedule"]), &["missing.schedule"]);
    // Of another program: it says so, and tries.
    fs::write(dir.join("race.p"), RACE.replace("value == 2", "value == 2 || true")).unwrap();
    let output = allways(&dir, &["replay", schedule.to_str().unwrap()]);
    assert_says(&String::from_utf8_lossy(&output.stderr), &["the program text has changed"]);
    let shorter = RACE.replace("      new Writer((cell = cell, value = 2));\n", "");
    fs::write(dir.join("race.p"), shorter).unwrap();
    let said = rejected(&dir, &["replay", schedule.to_str().unwrap()]);
    assert_says(
        &said,
        &["the program text has changed since the schedule was written, and the schedule does not fit"],
    );
}

/// A schedule that shows no more than that the run is long says so again.
#[test]
fn a_step_bound_violation_replays() {
    let dir = folder("step-bound");
    let program = "
event eTick: int;
machine Main {
    start state S {
        entry { send this, eTick, 0; }
        on eTick do (n: int) { if (n != -1) { send this, eTick, n + 1; } }
    }
}
";
    fs::write(dir.join("long.p"), program).unwrap();
    let (text, status) = stdout(&dir, &["check", "-s", "1", "-ms", "50", "50", "--fail-on-maxsteps"]);
    assert_eq!(status, 1, "{text}");
    assert_says(&text, &["error[step-bound]: Scheduling steps bound of 50 reached."]);
    let schedule = "PCheckerOutput/DefaultImpl/BugFinding/step-bound_0_0.schedule";
    let (again, status) = stdout(&dir, &["replay", schedule]);
    assert_eq!(status, 1, "{again}");
    assert_says(
        &again,
        &["DefaultImpl: violated", "error[step-bound]: Scheduling steps bound of 50 reached."],
    );
    // Where the run ends before, nothing is wrong.
    fs::write(dir.join("long.p"), program.replace("n != -1", "n < 48")).unwrap();
    let (again, status) = stdout(&dir, &["replay", schedule]);
    assert_eq!(status, 0, "{again}");
}

/// A schedule that shows no more than that a monitor was hot for too long says so again.
#[test]
fn a_potential_liveness_violation_replays() {
    let dir = folder("potential");
    let program = "
event eBegin;
event eEnd;
event eTick: int;
machine Main {
    start state S {
        entry { announce eBegin; send this, eTick, 0; }
        on eTick do (n: int) { if (n == -1) { announce eEnd; } send this, eTick, n + 1; }
    }
}
spec Progress observes eBegin, eEnd {
    start cold state Idle { on eBegin goto Busy; }
    hot state Busy { on eEnd goto Idle; }
}
test tcMain [main=Main]: assert Progress in { Main };
";
    fs::write(dir.join("potential.p"), program).unwrap();
    let (text, status) = stdout(&dir, &["check", "-tc", "tcMain", "-s", "1", "-ms", "100", "1000"]);
    assert_eq!(status, 1, "{text}");
    assert_says(&text, &["potential liveness"]);
    let schedule = "PCheckerOutput/tcMain/BugFinding/potential_0_0.schedule";
    assert_says(&fs::read_to_string(dir.join(schedule)).unwrap(), &["--potential:Progress"]);
    let (again, status) = stdout(&dir, &["replay", schedule]);
    assert_eq!(status, 1, "{again}");
    assert_says(
        &again,
        &["tcMain: violated", "'Progress' detected potential liveness bug in hot state 'Busy'"],
    );
    // Where the monitor is not hot in the end, nothing is wrong.
    fs::write(dir.join("potential.p"), program.replace("n == -1", "n == 3")).unwrap();
    let (again, status) = stdout(&dir, &["replay", schedule]);
    assert_eq!(status, 0, "{again}");
}

#[test]
fn habits_of_p_are_understood() {
    let dir = race("habits");
    let said = |args: &[&str]| {
        let args: Vec<&str> = ["check", "-tc", "tcOne", "-s", "20"].iter().chain(args).copied().collect();
        let output = allways(&dir, &args);
        (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code().unwrap())
    };
    for (args, words) in [
        (&["--sch-feedback"][..], &["--sch-feedback", "portfolio"][..]),
        (&["--sch-rl"], &["--sch-rl", "portfolio"]),
        (&["--sch-feedbackpct", "3"], &["--sch-pct"]),
        (&["--sch-feedbackpos"], &["--sch-pos"]),
        (&["--xml-trace"], &["JSON"]),
        (&["--graph"], &["allways graph"]),
        (&["--mode", "bugfinding"], &[]),
    ] {
        let (text, status) = said(args);
        assert_eq!(status, 0, "{args:?}: {text}");
        assert_says(&text, words);
    }
    for (mode, word) in [("pex", "allways prove"), ("verification", "invariants"), ("other", "there is no")] {
        let (text, status) = said(&["-md", mode]);
        assert_eq!(status, 2, "{mode}: {text}");
        assert_says(&text, &[word]);
    }
    assert_eq!(said(&["--sch-rl", "--sch-pos"]).1, 2, "one strategy at a time");
}

/// At run time they are numbers. A trace knows better, wherever they are in a payload; `format` does as P does.
#[test]
fn enums_are_shown_by_name() {
    let dir = folder("enums");
    let program = "
enum Color { Red = 3, Green = 5 }
event ePaint: (color: Color, n: int);
event eAll: (seq[Color], map[int, Color], set[Color], (Color, int));
machine Main {
    start state S {
        entry {
            var colors: seq[Color];
            var by_number: map[int, Color];
            var both: set[Color];
            new Other(Green);
            send this, ePaint, (color = Green, n = 5);
            colors += (0, Red);
            colors += (1, Green);
            by_number[5] = Red;
            both += (Green);
            send this, eAll, (colors, by_number, both, (Red, 3));
        }
        on ePaint do (p: (color: Color, n: int)) { }
        on eAll do { assert false, format(\"{0}\", Green); }
    }
}
machine Other { start state S { entry (color: Color) { } } }
";
    fs::write(dir.join("enums.p"), program).unwrap();
    let (text, status) = stdout(&dir, &["prove", "--full-trace"]);
    assert_eq!(status, 1, "{text}");
    assert_says(
        &text,
        &[
            "Main(1) creates Other(2)",
            "payload: Green",
            "(color = Green, n = 5)",
            "([Red, Green], {5 -> Red}, {Green}, (Red, 3))",
            "error[assertion]: 5",
        ],
    );
    let log = fs::read_to_string(dir.join("PCheckerOutput/DefaultImpl/BugFinding/enums_0_0.txt")).unwrap();
    assert_says(&log, &["<color:Green, n:5, >"]);
}

#[test]
fn an_assertion_without_words_has_a_headline() {
    let dir = folder("silent");
    fs::write(dir.join("silent.p"), "machine Main { start state S { entry { assert false; } } }").unwrap();
    for command in ["check", "prove"] {
        let (text, status) = stdout(&dir, &[command]);
        assert_eq!(status, 1, "{text}");
        assert_says(&text, &["error[assertion]: this does not hold", "assert false"]);
    }
}

#[test]
fn a_folder_names_its_project() {
    let dir = race("plain-folder");
    let project = |args: &[&str]| {
        let output = allways(&dir, &[&["compile", "--format", "json"], args].concat());
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        report["project"].as_str().unwrap().to_owned()
    };
    assert_eq!(project(&[]), "plain-folder");
    assert_eq!(project(&["."]), "plain-folder");
    assert_eq!(project(&["race.p"]), "race");
    fs::write(dir.join("more.p"), "event eMore;").unwrap();
    assert_eq!(project(&["race.p", "more.p"]), "generatedOutput");
}

#[test]
fn bad_usage_is_reported() {
    let dir = race("check_usage");
    assert_says(&rejected(&dir, &["check", "--no-such-option"]), &["--no-such-option"]);
    assert_says(&rejected(&dir, &["check", "-tc", "tcOne", "-ms", "100", "50"]), &["--max-steps"]);
    assert_says(&rejected(&dir, &["check", "-tc", "tcOne", "-j", "0"]), &["at least 1"]);
    let empty = folder("check_no_tests");
    fs::write(empty.join("a.p"), "event e;").unwrap();
    assert_says(&rejected(&empty, &["check"]), &["no test case"]);
}

#[test]
fn a_compiled_library_means_its_project() {
    let dir = folder("library");
    fs::write(dir.join("race.p"), RACE).unwrap();
    let project =
        "<Project><ProjectName>Race</ProjectName><InputFiles><PFile>.</PFile></InputFiles></Project>";
    fs::write(dir.join("race.pproj"), project).unwrap();
    let (text, status) =
        stdout(&dir, &["check", "PGenerated/PChecker/net8.0/Race.dll", "-tc", "tcOne", "-s", "5"]);
    assert_eq!(status, 0, "{text}");
}

#[test]
fn foreign_functions_take_bodies_in_p() {
    let dir = folder("foreign");
    fs::write(
        dir.join("main.p"),
        "fun Limit(): int;\nmachine Main { start state S { entry { assert Limit() == 3; } } }\n",
    )
    .unwrap();
    let (text, status) = stdout(&dir, &["check", "-s", "5"]);
    assert_eq!(status, 3, "{text}");
    assert_says(&text, &["unknown", "foreign function `Limit`"]);
    fs::create_dir(dir.join("bodies")).unwrap();
    fs::write(dir.join("bodies/limit.foreign"), "fun Limit(): int { return 3; }\n").unwrap();
    assert_eq!(stdout(&dir, &["check", "-s", "5", "--foreign", "bodies/limit.foreign"]).1, 0);
    fs::write(dir.join("allways.toml"), "foreign = [\"bodies/limit.foreign\"]\n").unwrap();
    assert_eq!(stdout(&dir, &["check", "-s", "5"]).1, 0);
}

/// The Informal Trace Format has whole states, so that its file grows with steps times data: beyond a size it is left out.
#[test]
fn a_trace_of_large_states_is_not_written() {
    let dir = folder("check_large_states");
    let program = "event eGo: int;
machine Main {
    var rows: map[int, seq[int]];
    start state S {
        entry { var row: seq[int]; var i: int; while (i < 90) { row += (i, 1000000000 + i); i = i + 1; } i = 0;
            while (i < 100) { rows[i] = row; i = i + 1; } send this, eGo, 0; }
        on eGo do (n: int) { rows[n] -= (n); assert n < 89; send this, eGo, n + 1; }
    }
}
";
    fs::write(dir.join("rows.p"), program).unwrap();
    let (text, status) = stdout(&dir, &["check", "rows.p", "-s", "1", "-o", "out"]);
    assert_eq!(status, 1, "{text}");
    assert_says(&text, &["Not writing", "itf.json: it would be too large", "rows_0_0.schedule"]);
    let files = dir.join("out/DefaultImpl/BugFinding");
    assert!(!files.join("rows_0_0.itf.json").exists() && files.join("rows_0_0.allways.json").exists());
}
