//! Foreign functions: which have no body, skeletons for them, and the policy that tries every result.

use std::fs;
use std::path::Path;

use crate::common::{allways, assert_says, folder};

const PROGRAM: &str = r#"
enum Mood { CALM = 3, CROSS = 7, GLAD = 9 }
type tHandle;
event eDone: (ok: bool, mood: Mood);
fun IsReady(name: string, handle: tHandle): bool;
fun MoodOf(any_0: machine): Mood;
fun Answer(): (ok: bool, mood: Mood);
fun Open(peers: seq[machine], log: map[string, (int, any)]): tHandle;
fun Count(client: Client): int;
fun Log(text: string);
fun Single(): (only: bool);
machine Client {
  fun Roll(limit: int): (bool, bool);
  start state S {
    entry {
      var answer: (ok: bool, mood: Mood);
      Log("begin");
      answer = Answer();
      BODY
    }
    on eDone do { }
  }
}
spec Watch observes eDone {
  fun Judge(mood: Mood): bool;
  start state S { on eDone do (done: (ok: bool, mood: Mood)) { assert done.ok || Judge(done.mood); } }
}
test tcPlain [main=Client]: { Client };
test tcSpec [main=Client]: assert Watch in { Client };
"#;

fn project(name: &str, body: &str) -> std::path::PathBuf {
    let dir = folder(name);
    fs::write(dir.join("main.p"), PROGRAM.replace("BODY", body)).unwrap();
    dir
}

/// A command that answers about a test, with what it needs to end soon.
fn ask(dir: &Path, command: &str, args: &[&str]) -> (String, i32) {
    let first: &[&str] = if command == "check" { &["check", "-s", "200"] } else { &["prove", "-t", "10"] };
    run(dir, &[first, args].concat())
}

fn run(dir: &Path, args: &[&str]) -> (String, i32) {
    let output = allways(dir, args);
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (text, output.status.code().unwrap_or(-1))
}

const ALL: [&str; 9] = [
    "`IsReady`",
    "`MoodOf`",
    "`Answer`",
    "`Open`",
    "`Count`",
    "`Log`",
    "`Single`",
    "`Client.Roll`",
    "`Watch.Judge`",
];

#[test]
fn all_missing_bodies_are_named_at_once() {
    let dir = project("foreign_names", "assert Count(this) == 0;");
    let (text, status) = run(&dir, &["compile"]);
    assert_eq!(status, 0, "{text}");
    assert_says(&text, &ALL);
    for command in ["check", "prove"] {
        let (text, status) = ask(&dir, command, &["-tc", "tcPlain"]);
        assert_eq!(status, 3, "{text}");
        assert_says(&text, &ALL);
        assert_says(&text, &["unknown", "--foreign-stubs", "--foreign any"]);
    }
}

#[test]
fn skeletons_are_bodies_for_all() {
    let dir = project("foreign_stubs", "assert Count(this) == 0; assert MoodOf(this) == CALM;");
    let (text, status) = run(&dir, &["compile", "--foreign-stubs", "stubs.p"]);
    assert_eq!(status, 0, "{text}");
    let stubs = fs::read_to_string(dir.join("stubs.p")).unwrap();
    assert_says(&stubs, &["return default(Mood);", "// type tHandle = int;", "spec Watch observes eDone"]);
    // The file lies in the folder of the project, and is no source of it.
    let (text, status) = run(&dir, &["compile", "--strict", "--foreign", "stubs.p"]);
    assert_eq!((text.contains("no body"), status), (false, 0), "{text}");
    let (text, status) = run(&dir, &["prove", "-tc", "tcPlain", "--foreign", "stubs.p"]);
    assert_eq!(status, 0, "{text}");
    fs::write(dir.join("allways.toml"), "foreign = ['stubs.p']\n").unwrap();
    let (text, status) = run(&dir, &["check", "-tc", "tcPlain", "-s", "20"]);
    assert_eq!(status, 0, "{text}");
    let (text, status) = run(&dir, &["compile"]);
    assert_eq!((text.contains("no body"), status), (false, 0), "{text}");
    // What was filled in is not overwritten, and what has bodies needs none.
    let (text, status) = run(&dir, &["compile", "--foreign", "stubs.p", "--foreign-stubs", "more.p"]);
    assert_eq!((status, dir.join("more.p").exists()), (0, false), "{text}");
    fs::remove_file(dir.join("allways.toml")).unwrap();
    fs::write(dir.join("kept.foreign"), "mine").unwrap();
    fs::remove_file(dir.join("stubs.p")).unwrap();
    let (text, status) = run(&dir, &["compile", "--foreign-stubs", "kept.foreign"]);
    assert_eq!(status, 2, "{text}");
    assert_eq!(fs::read_to_string(dir.join("kept.foreign")).unwrap(), "mine");
}

#[test]
fn any_tries_every_result() {
    let holds = "assert answer.mood == CALM || answer.mood == CROSS || answer.mood == GLAD;";
    let dir = project("foreign_any", holds);
    for command in ["check", "prove"] {
        let (text, status) = ask(&dir, command, &["-tc", "tcPlain", "--foreign", "any"]);
        assert_eq!(status, 0, "{text}");
        assert_says(&text, &["every value", "`Answer`", "`MoodOf`", "`Client.Roll`", "`Single`"]);
        assert!(!text.contains("`Open`") && !text.contains("`Watch.Judge`"), "{text}");
    }
    let wrongs = [
        "assert answer.mood != GLAD || answer.ok;",
        "assert MoodOf(this) != CROSS;",
        "assert Roll(3) != (false, true);",
        "assert Single().only;",
    ];
    for wrong in wrongs {
        fs::write(dir.join("main.p"), PROGRAM.replace("BODY", wrong)).unwrap();
        for command in ["check", "prove"] {
            let (text, status) = ask(&dir, command, &["-tc", "tcPlain", "--foreign", "any"]);
            assert_eq!(status, 1, "{wrong}: {text}");
            assert_says(&text, &["the real function may never return"]);
        }
    }
    let schedule = "PCheckerOutput/tcPlain/BugFinding/foreign_any_0_0.schedule";
    let (text, status) = run(&dir, &["replay", schedule, "--foreign", "any"]);
    assert_eq!(status, 1, "{text}");
    // A type without bound, and a spec, which makes no choices.
    for (test, body, name) in [
        ("tcPlain", "assert Count(this) == 0;", "`Count`"),
        ("tcSpec", "announce eDone, (ok = false, mood = CALM);", "`Judge`"),
    ] {
        fs::write(dir.join("main.p"), PROGRAM.replace("BODY", body)).unwrap();
        for command in ["check", "prove"] {
            let (text, status) = ask(&dir, command, &["-tc", test, "--foreign", "any"]);
            assert_eq!(status, 3, "{text}");
            assert_says(&text, &["unknown", "foreign function", name, "whose result type has few values"]);
        }
    }
}
