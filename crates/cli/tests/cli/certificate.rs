//! `prove --engine asi --certificate` and `certify`: a proof that others can check.

use std::fs;

use crate::common::{allways, assert_says, folder, rejected};

/// What the keeper defers has no bound; the walker's inbox needs none.
const PROGRAM: &str = "
event eItem: int;
event eOpen;
machine Keeper {
    start state Closed { defer eItem; on eOpen goto Open; }
    state Open { on eItem do (item: int) { assert item < 2; } ignore eOpen; }
}
machine Flooder {
    start state Begin {
        entry {
            var keeper: Keeper;
            keeper = new Keeper();
            new Opener(keeper);
            while (true) { send keeper, eItem, choose(2); }
        }
    }
}
machine Opener { start state Begin { entry (keeper: Keeper) { send keeper, eOpen; } } }
machine Walker {
    start state Begin { entry { send this, eOpen; } on eOpen do { send this, eOpen; } }
}
test tcFlood [main = Flooder]: { Flooder, Keeper, Opener };
test tcWalk [main = Walker]: { Walker };
";

#[test]
fn certificates_are_written_accepted_and_refused() {
    let folder = folder("certificate");
    fs::write(folder.join("keeper.p"), PROGRAM).unwrap();
    for (name, words) in [
        ("tcWalk", "accepted\nproved for unbounded inboxes by "),
        ("tcFlood", "accepted\nproved for unbounded inboxes, over-approximated beyond 2 messages, by "),
    ] {
        let args = ["prove", "--engine", "asi", "--testcase", name, "--certificate", "proof.txt"];
        let proved = allways(&folder, &args);
        assert_eq!(proved.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&proved.stdout));
        let checked = allways(&folder, &["certify", "proof.txt"]);
        assert_says(&String::from_utf8_lossy(&checked.stdout), &[name, words]);
        assert_eq!(checked.status.code(), Some(0));
        let text = fs::read_to_string(folder.join("proof.txt")).unwrap();
        assert_says(&text, &["\nrules lean\nwithout dead-variables unread-payloads order\n"]);
        // The last state is dropped.
        let mut lines: Vec<&str> = text.lines().collect();
        lines.remove(lines.len() - 2);
        fs::write(folder.join("proof.txt"), lines.join("\n") + "\n").unwrap();
        let checked = allways(&folder, &["certify", "proof.txt"]);
        assert_says(&String::from_utf8_lossy(&checked.stdout), &["refused"]);
        assert_eq!(checked.status.code(), Some(1));
    }
    // A program that was changed since is named as the cause, if the proof does not fit it any more.
    let args = ["prove", "--engine", "asi", "--testcase", "tcFlood", "--certificate", "proof.txt"];
    assert_eq!(allways(&folder, &args).status.code(), Some(0));
    fs::write(folder.join("keeper.p"), PROGRAM.replace("choose(2)", "choose(1)")).unwrap();
    let changed = allways(&folder, &["certify", "proof.txt"]);
    let words =
        ["refused", "the program text has changed since the certificate was written", "writes a new one"];
    assert_says(&String::from_utf8_lossy(&changed.stdout), &words);
    assert_eq!(changed.status.code(), Some(1));
    // A comment changes no proof.
    fs::write(folder.join("keeper.p"), format!("// The same.\n{PROGRAM}")).unwrap();
    let same = allways(&folder, &["certify", "proof.txt"]);
    assert_eq!(same.status.code(), Some(0));
    assert_says(&String::from_utf8_lossy(&same.stderr), &["has changed", "as it is now"]);
    fs::write(folder.join("keeper.p"), PROGRAM).unwrap();
    let same = allways(&folder, &["certify", "proof.txt"]);
    assert!(!String::from_utf8_lossy(&same.stderr).contains("has changed"));
    // Nothing is left out of places if that is wanted.
    let whole = [
        "prove",
        "--engine",
        "asi",
        "--testcase",
        "tcFlood",
        "--reductions",
        "none",
        "--certificate",
        "proof.txt",
    ];
    assert_eq!(allways(&folder, &whole).status.code(), Some(0));
    assert!(!fs::read_to_string(folder.join("proof.txt")).unwrap().contains("\nwithout "));
    assert_eq!(allways(&folder, &["certify", "proof.txt"]).status.code(), Some(0));
    // Without sleep sets the answer is the same; a program without any is reported as such.
    let awake = ["prove", "--engine", "asi", "--testcase", "tcFlood", "--no-sleep-sets"];
    assert_eq!(allways(&folder, &awake).status.code(), Some(0));
    let explicit = ["prove", "--engine", "explicit", "--testcase", "tcWalk", "--no-sleep-sets"];
    assert_says(&rejected(&folder, &explicit), &["--no-sleep-sets", "--engine asi"]);
    // One file holds one proof.
    let both = ["prove", "--engine", "asi", "--all", "--certificate", "proof.txt"];
    assert_says(&rejected(&folder, &both), &["--certificate", "one test case"]);
}
