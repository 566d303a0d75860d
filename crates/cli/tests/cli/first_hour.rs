//! What a newcomer meets: `new`, `demo`, help, suggestions, options of `p`, and formats for other tools.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{allways, assert_says, folder, rejected};

fn stdout(folder: &Path, args: &[&str], status: i32) -> String {
    let output = allways(folder, args);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let problems = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{args:?} said: {text}{problems}");
    text
}

/// A project of `allways new`.
fn project(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    stdout(&folder, &["new", "tickets"], 0);
    folder.join("tickets")
}

fn repair(project: &Path) {
    let file = project.join("PSrc/TicketOffice.p");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("// FIX: "));
    fs::write(file, text.replace("// FIX: ", "")).unwrap();
}

#[test]
fn a_new_project_has_a_bug_and_its_repair_is_proved() {
    let project = project("new_project");
    let text = stdout(&project, &["check", "-tc", "tcOneSeat"], 1);
    assert_says(&text, &["tcOneSeat: violated", "a seat was sold twice", "found a bug"]);
    stdout(&project, &["check", "--all"], 1);
    repair(&project);
    let text = stdout(&project, &["prove", "--all"], 0);
    assert_says(
        &text,
        &["tcOneSeat   holds     proved", "tcTwoSeats  holds     proved", "all 2 as expected"],
    );
}

#[test]
fn new_overwrites_nothing_and_names_are_checked() {
    let folder = folder("new_twice");
    stdout(&folder, &["new", "a"], 0);
    assert_says(&rejected(&folder, &["new", "a"]), &["exists and is not an empty folder"]);
    assert_says(&rejected(&folder, &["new", "my-model"]), &["`my_model`"]);
    assert_says(&rejected(&folder, &["new", ".."]), &["cannot be the name"]);
}

#[test]
fn the_demo_needs_no_files() {
    let folder = folder("demo");
    let text = stdout(&folder, &["demo"], 0);
    assert_says(
        &text,
        &["violated", "a write under lease 1 after one under lease 2", "hasFence_true: proved"],
    );
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "files were written");
    stdout(&folder, &["demo", "-q", "-o", "lease"], 0);
    stdout(&folder, &["compile", "lease"], 0);
}

#[test]
fn short_help_is_short_and_long_help_is_grouped() {
    let folder = folder("help");
    let short = stdout(&folder, &["check", "-h"], 0);
    let long = stdout(&folder, &["check", "--help"], 0);
    assert!(!short.contains("\nBoogie files:") && !short.contains("--sch-pct"), "{short}");
    for heading in ["Test cases:", "Limits:", "Search:", "Network and faults:", "Output:", "--help-boogie"] {
        assert!(long.contains(heading), "{heading} is missing in:\n{long}");
    }
    assert!(!long.contains("--preemption"), "{long}");
    let boogie = stdout(&folder, &["check", "--help-boogie"], 0);
    assert_says(&boogie, &["Boogie files:", "--preemption", "--delays"]);
    assert!(!boogie.contains("--sch-pct"), "{boogie}");
}

#[test]
fn quiet_and_verbose_change_what_is_shown() {
    let project = project("quiet");
    repair(&project);
    let quiet = allways(&project, &["prove", "-q", "-tc", "tcOneSeat"]);
    assert_eq!(String::from_utf8_lossy(&quiet.stdout), "tcOneSeat: proved\n");
    assert!(quiet.stderr.is_empty());
    let verbose = allways(&project, &["prove", "-v", "-tc", "tcOneSeat", "--engine", "explicit"]);
    assert_says(&String::from_utf8_lossy(&verbose.stdout), &["largest inbox", "reduced:"]);
    assert_says(&String::from_utf8_lossy(&verbose.stderr), &["memo hit rate", "memory:"]);
    let usual = stdout(&project, &["prove", "-tc", "tcOneSeat"], 0);
    assert!(!usual.contains("largest inbox"), "{usual}");
    assert_says(&rejected(&project, &["prove", "-q", "-v"]), &["cannot be used with"]);
}

#[test]
fn colors_are_on_request() {
    let project = project("color");
    assert!(stdout(&project, &["check", "--color", "always", "-tc", "tcOneSeat"], 1).contains('\u{1b}'));
    assert!(!stdout(&project, &["check", "--color", "never", "-tc", "tcOneSeat"], 1).contains('\u{1b}'));
}

#[test]
fn several_test_cases_can_be_named() {
    let project = project("several");
    let text = stdout(&project, &["check", "-q", "-tc", "tcTwoSeats", "-tc", "tcOne"], 1);
    let verdicts: Vec<&str> = text.lines().filter(|line| line.starts_with("tc")).collect();
    assert_eq!(verdicts, ["tcOneSeat: violated", "tcTwoSeats: violated"]);
}

#[test]
fn mistyped_names_get_a_suggestion() {
    let project = project("suggestions");
    assert_says(&rejected(&project, &["check", "-tc", "tcOneSaet"]), &["did you mean `tcOneSeat`?"]);
    assert_says(&rejected(&project, &["chekc"]), &["'check'"]);
    assert_says(&rejected(&project, &["check", "--shedules", "3"]), &["did you mean `--schedules`?"]);
    assert_says(&rejected(&project, &["check", "--schedule", "3"]), &["did you mean `--schedules`?"]);
    assert_says(&rejected(&project, &["prove", "--schedules", "3"]), &["it is an option of `check`"]);
    assert_says(&rejected(&project, &["prove", "--engine", "symbolc"]), &["'symbolic'"]);
    assert_says(&rejected(&project, &["explain", "deadlok"]), &["did you mean `deadlock`?"]);
    assert_says(&rejected(&project, &["man", "chek"]), &["did you mean `check`?"]);
    let wrong = [
        (
            "event ePing;\nmachine Main { start state S { entry { send this, ePign; } ignore ePing; } }",
            "`ePing`",
        ),
        ("machine Main { var n: itn; start state S { } }", "`int`"),
        ("machne Main { start state S { } }", "`machine`"),
        ("machine Main { start state S { entry { retrun; } } }", "`return`"),
        ("machine Main { start sate S { } }", "`state`"),
        ("event eA;\nmachine Main { start state S { entry { sned this, eA; } ignore eA; } }", "`send`"),
    ];
    for (program, near) in wrong {
        fs::write(project.join("wrong.p"), program).unwrap();
        let text = rejected(&project, &["compile", "wrong.p"]);
        assert_says(&text, &[&format!("did you mean {near}?")]);
    }
}

#[test]
fn one_malformed_suite_gives_one_error() {
    let project = project("malformed_suite");
    fs::write(project.join("allways.toml"), "[[test]]\nname = 'tcOneSeat'\nstrategy = 'pkt'\n").unwrap();
    let commands: &[&[&str]] = &[
        &["compile"],
        &["tests"],
        &["check", "-tc", "tcOneSeat"],
        &["check", "--all"],
        &["prove", "-tc", "tcOneSeat"],
        &["prove", "--all"],
        &["quiesce", "-tc", "tcOneSeat"],
        &["graph", "-tc", "tcOneSeat"],
    ];
    for command in commands {
        let text = rejected(&project, command);
        let expected =
            "`allways.toml`: the test `tcOneSeat`: there is no strategy `pkt`; did you mean `pct`?\n";
        assert_eq!(text, expected, "{command:?}");
    }
}

#[test]
fn options_of_p_are_understood() {
    let project = project("options_of_p");
    repair(&project);
    stdout(&project, &["compile", "-o", "PGenerated", "-pn", "Other", "-md", "bugfinding"], 0);
    stdout(&project, &["version"], 0);
    let args = [
        "check",
        "-tc",
        "tcOneSeat",
        "-s",
        "10",
        "-m",
        "1.5",
        "-v",
        "--checker-args",
        ":--x",
        "-d",
        "--xml-trace",
    ];
    let output = allways(&project, &args);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_says(&String::from_utf8_lossy(&output.stderr), &["`--checker-args`", "`--xml-trace`"]);
    assert_says(&rejected(&project, &["check", "--mode", "pex"]), &["allways prove"]);
}

#[test]
fn tools_of_p_find_bugs_and_places() {
    let project = project("tools_of_p");
    assert_says(&stdout(&project, &["check", "-tc", "tcOneSeat"], 1), &["found a bug"]);
    fs::write(project.join("PSrc/wrong.p"), "machine X { start state S { on eNo do { } } }\n").unwrap();
    let text = stdout(&project, &["compile", "--format", "p"], 2);
    assert_says(&text, &["[Error:]\n[PSrc/wrong.p:1:"]);
    fs::write(project.join("PSrc/wrong.p"), "machine {\n").unwrap();
    let text = stdout(&project, &["compile", "--format", "p"], 2);
    assert_says(&text, &["[Parser Error:]\n[PSrc/wrong.p] parse error: line 1:"]);
    fs::remove_file(project.join("PSrc/wrong.p")).unwrap();
    repair(&project);
    assert_says(&stdout(&project, &["check", "-tc", "tcOneSeat", "-s", "10"], 0), &["Found 0 bugs"]);
}

#[test]
fn github_gets_annotations() {
    let project = project("github");
    let text = stdout(&project, &["check", "--all", "--format", "github"], 1);
    assert_says(&text, &["2 of 2 not as expected", "\n::error file=PSpec/Specs.p,line=13,"]);
    fs::write(project.join("wrong.p"), "machine Main { state S { } }").unwrap();
    let text = stdout(&project, &["compile", "wrong.p", "--format", "github"], 2);
    assert_says(&text, &["::error file=wrong.p,line=1,col=9,endColumn=13,title=no-start-state::"]);
}

#[test]
fn sarif_is_one_document() {
    let project = project("sarif");
    let text = stdout(&project, &["check", "-tc", "tcOneSeat", "--format", "sarif"], 1);
    let document: Value = serde_json::from_str(&text).expect("one JSON document");
    assert_eq!(document["version"], "2.1.0");
    let result = &document["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "assertion");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "PSpec/Specs.p");
    assert_eq!(place["region"]["startLine"], 13);
    let steps = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap();
    assert!(steps.iter().any(|step| {
        step["location"]["message"]["text"].as_str().is_some_and(|text| text.contains("sends eBuy to Office"))
    }));
    let last = &steps.last().unwrap()["location"];
    assert_eq!(last["message"]["text"], "a seat was sold twice");
    assert_eq!(&last["physicalLocation"], place);
    repair(&project);
    let text = stdout(&project, &["prove", "--all", "--format", "sarif"], 0);
    let document: Value = serde_json::from_str(&text).expect("one JSON document");
    assert_eq!(document["runs"][0]["results"].as_array().map(Vec::len), Some(0));
}

#[test]
fn completions_and_man_pages_come_from_the_same_table() {
    // Between double quotes, fish reads `$` as the start of a variable.
    let fish = stdout(&folder("fish"), &["completions", "fish"], 0);
    assert_says(&fish, &["`\\$` is free", "`\\$\\$` is fair"]);
    let folder = folder("man");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert_says(&stdout(&folder, &["completions", shell], 0), &["quiesce", "timeout"]);
    }
    assert_says(&stdout(&folder, &["man", "check"], 0), &[".TH", "schedules"]);
    stdout(&folder, &["man", "-o", "pages"], 0);
    let page = fs::read_to_string(folder.join("pages/allways-prove.1")).unwrap();
    assert_says(&page, &["certificate"]);
    assert!(folder.join("pages/allways.1").exists());
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_read_as_a_program() {
    let folder = folder("pipe");
    let made = std::process::Command::new("mkfifo").arg(folder.join("x.p")).status();
    assert!(made.unwrap().success());
    for args in [&["compile", "x.p"][..], &["compile"], &["check", "x.p"]] {
        assert_says(&rejected(&folder, args), &["not a regular file"]);
    }
    assert_says(&rejected(&folder, &["compile", "/dev/null"]), &["not a regular file"]);
}
