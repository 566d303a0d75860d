//! `prove --invariant`: a condition on all machines, checked in every configuration.

use std::fs;

use serde_json::Value;

use crate::common::{allways, assert_says, folder, rejected};

const DOOR: &str = "
event eOpen;
event eShut;
spec Count observes eOpen {
  var n: int;
  start state Calm { on eOpen do { n = n + 1; } }
}
machine Door {
  var n: int;
  start state Shut { on eOpen do { n = n + 1; goto Open; } ignore eShut; }
  state Open { on eShut goto Shut; on eOpen do { n = n + 1; } }
}
machine Main {
  start state S { entry { var d: Door; d = new Door(); send d, eOpen; send d, eShut; send d, eOpen; } }
}
test tcDoor [main = Main]: assert Count in { Main, Door };
test tcBare [main = Main]: { Main, Door };
";

#[test]
fn invariants_hold_or_a_run_shows_that_they_do_not() {
    let folder = folder("invariants");
    fs::write(folder.join("door.p"), DOOR).unwrap();
    let run = |args: &[&str]| {
        let mut all = vec!["prove", "door.p"];
        all.extend(args);
        let output = allways(&folder, &all);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (status, text) = run(&[
        "-tc",
        "tcDoor",
        "--invariant",
        "Door.n <= Count.n + 1",
        "--invariant",
        "Door is Open ==> Door.n > 0",
    ]);
    assert_eq!(status, Some(0), "{text}");
    assert_says(&text, &["tcDoor: proved", "2 invariants hold in all of them"]);

    let (status, text) = run(&["-tc", "tcDoor", "--invariant", "forall (d: Door) :: d is Shut ==> d.n == 0"]);
    assert_eq!(status, Some(1), "{text}");
    assert_says(&text, &["The invariant does not hold for d = Door(2).", "<--invariant>:1:1"]);
    // The schedule knows what it shows.
    let output =
        allways(&folder, &["replay", "PCheckerOutput/tcDoor/BugFinding/door_0_0.schedule", "door.p"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert_says(&text, &["The invariant does not hold for d = Door(2)."]);

    let (status, text) = run(&["-tc", "tcDoor", "--invariant", "Door.n < 2", "--format", "json"]);
    assert_eq!(status, Some(1), "{text}");
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["reports"][0]["violation"]["kind"], "invariant");
    let (_, text) = run(&["-tc", "tcDoor", "--invariant", "Door.n < 3", "--format", "json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["reports"][0]["symbolic"]["statedInvariants"], 1);

    let (status, text) = run(&["-tc", "tcBare", "--invariant", "Count.n <= 2"]);
    assert_eq!(status, Some(3), "{text}");
    assert_says(&text, &["spec `Count`, which the test does not attach"]);
}

#[test]
fn mistakes_in_invariants_have_a_place() {
    let folder = folder("invariant_mistakes");
    fs::write(folder.join("door.p"), DOOR).unwrap();
    let run = |args: &[&str]| {
        let mut all = vec!["prove", "door.p", "-tc", "tcDoor"];
        all.extend(args);
        rejected(&folder, &all)
    };
    let text = run(&["--invariant", "forall (d: Door) :: d.opened > 1"]);
    assert_says(&text, &["there is no variable of `Door` `opened`", "<--invariant>:1:23"]);
    let text = run(&["--invariant", "Door in Open"]);
    assert_says(&text, &["write `Door is Open`"]);
    let text = run(&["--invariant", "Door.n <"]);
    assert_says(&text, &["<--invariant>:1"]);
    let text = run(&["--invariant", "Door.n < 3", "--engine", "explicit"]);
    assert_says(&text, &["--invariant needs `--engine symbolic`"]);
    let text = run(&["--invariant", "Door.n < 3", "--engine", "symbolic", "--symbolic", "paper"]);
    assert_says(&text, &["--invariant needs `--symbolic sets`"]);
}
