//! `allways quiesce` of P programs: verdicts, stimuli, networks, both engines, files and limits.

use std::fs;
use std::path::Path;

use crate::common::{allways, assert_says, folder, rejected};

/// A clock that never stops, and a worker that counts to two again and again.
const CLOCK: &str = "event eTick;
machine Clock {
    var worker: machine;
    start state Ticking {
        entry (target: machine) { worker = target; send this, eTick; }
        on eTick do { send worker, eTick; send this, eTick; }
    }
}
machine Worker {
    var n: int;
    start state Working { on eTick do { n = (n + 1) % 2; } }
}
machine Main { start state Init { entry { new Clock(new Worker()); } } }
test tcClock [main = Main]: { Main, Clock, Worker };
";

/// The ball is served after the game was closed; only where messages overtake each other it is played.
const OVERTAKE: &str = "event eOther: machine;
event eClose;
event eBall;
machine Player {
    var other: machine;
    start state Init {
        on eOther goto Open with (it: machine) { other = it; }
        defer eBall, eClose;
    }
    state Open {
        on eBall do { send other, eBall; }
        on eClose goto Closed;
    }
    state Closed { ignore eBall, eClose; }
}
machine Main {
    start state Init {
        entry {
            var left: machine;
            var right: machine;
            left = new Player();
            right = new Player();
            send left, eOther, right;
            send right, eOther, left;
            send left, eClose;
            send left, eBall;
        }
    }
}
test tcOvertake [main = Main]: { Main, Player };
";

/// Every request is answered by two: messages pile up.
const FLOOD: &str = "event eAsk: machine;
event eAnswer;
machine Server {
    start state Serving { on eAsk do (who: machine) { send who, eAnswer; send who, eAnswer; } }
}
machine Client {
    var server: machine;
    start state Asking {
        entry { server = new Server(); send server, eAsk, this; }
        on eAnswer do { send server, eAsk, this; }
    }
}
test tcFlood [main = Client]: { Client, Server };
";

fn ask(dir: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = allways(dir, &[&["quiesce"], args].concat());
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_loop_is_a_cycle_of_machines_and_stimuli_do_not_count() {
    let dir = folder("quiesce_p_clock");
    fs::write(dir.join("Clock.p"), CLOCK).unwrap();
    for engine in ["explicit", "symbolic"] {
        let (code, text) = ask(&dir, &["Clock.p", "--engine", engine, "--diagram", "loop.dot"]);
        assert_eq!(code, Some(1), "{text}");
        let expected = [
            "tcClock: diverges",
            "these 4 steps repeat for ever",
            "  Clock(3) --eTick--> Clock(3)\n",
            "  Clock(3)   takes 2 messages; sends eTick x 2 to Worker(2), eTick x 2 to Clock(3)\n",
            "  Worker(2)  takes 2 messages; n = 0 -> 1 -> 0\n",
            "this loop is fair: ",
            "from here on the run repeats for ever",
        ];
        assert_says(&text, &expected);
        assert_says(
            &fs::read_to_string(dir.join("loop.dot")).unwrap(),
            &["digraph", "Clock(3)", "Worker(2)", "eTick"],
        );
        let (code, text) = ask(&dir, &["Clock.p", "--engine", engine, "--stimulus", "Clock"]);
        assert_eq!(code, Some(0), "{text}");
        assert_says(&text, &["tcClock: quiesces", "proved, every run with finitely many stimuli ends"]);
    }
    fs::write(
        dir.join("allways.toml"),
        "[[test]]\nname = \"tcClock\"\nexpect = \"quiesces\"\nstimuli = [\"Clock\"]\n",
    )
    .unwrap();
    let (code, text) = ask(&dir, &["."]);
    assert_eq!(code, Some(0), "{text}");
    assert_says(
        &rejected(&dir, &["quiesce", "Clock.p", "--stimulus", "Missing"]),
        &["there is no machine `Missing`"],
    );
    assert_says(&rejected(&dir, &["quiesce", "Clock.p", "--diagram", "loop.png"]), &["loop.png", ".svg"]);
}

#[test]
fn a_loop_of_an_unordered_network_is_looked_for_in_order() {
    let dir = folder("quiesce_p_overtake");
    fs::write(dir.join("Overtake.p"), OVERTAKE).unwrap();
    for engine in ["explicit", "symbolic"] {
        let (code, text) = ask(&dir, &["Overtake.p", "--engine", engine]);
        assert_eq!(code, Some(0), "{text}");
        assert_says(&text, &["quiescent: proved, every run ends; the longest has 7 steps"]);
        let (code, text) = ask(&dir, &["Overtake.p", "--engine", engine, "--network", "bag"]);
        assert_eq!(code, Some(1), "{text}");
        let expected = [
            "tcOvertake: diverges (network bag)",
            " --eBall--> Player(2)",
            " --eBall--> Player(3)",
            "this loop is unfair: eClose from Main(1) never arrives at Player(2)",
            "with `--fair` it quiesces",
            "this depends on the order of messages: with `--network inbox` it quiesces",
        ];
        assert_says(&text, &expected);
    }
    let (code, text) = ask(&dir, &["Overtake.p", "--network", "bag", "--fair"]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = ask(&dir, &["Overtake.p", "--engine", "symbolic", "--fair"]);
    assert_eq!(code, Some(3), "{text}");
    assert_says(&text, &["tcOvertake: unknown", "fair runs in symbolic exploration"]);
}

#[test]
fn messages_that_pile_up_are_named_and_reports_agree() {
    let dir = folder("quiesce_p_flood");
    fs::write(dir.join("Flood.p"), FLOOD).unwrap();
    let (code, text) = ask(&dir, &["Flood.p", "--junit", "junit.xml"]);
    assert_eq!(code, Some(1), "{text}");
    assert_says(&text, &["tcFlood: diverges", "1 eAsk more each iteration in the inbox of Server(2)"]);
    assert_says(&fs::read_to_string(dir.join("junit.xml")).unwrap(), &["failures=\"1\"", "repeat for ever"]);
    let output = allways(&dir, &["quiesce", "Flood.p", "--format", "json"]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let report = &answer["reports"][0];
    assert_eq!((&report["verdict"], &report["divergence"]["kind"]), (&"diverges".into(), &"growth".into()));
    assert_eq!(report["divergence"]["piles"][0]["nEachTurn"], 1, "{report}");
    // Sets of configurations have to be finite, and a limit is a limit.
    let (code, text) = ask(&dir, &["Flood.p", "--engine", "symbolic", "-t", "1"]);
    assert_eq!(code, Some(3), "{text}");
    assert_says(&text, &["tcFlood: unknown", "the time limit of 1 s"]);
    // The suite says what is expected.
    let suite = "[[test]]\nname = \"tcFlood\"\nexpect = \"diverges\"\n";
    fs::write(dir.join("allways.toml"), suite).unwrap();
    for command in ["check", "prove", "quiesce"] {
        let output = allways(&dir, &[command, ".", "--all"]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    }
    fs::write(dir.join("allways.toml"), suite.replace("diverges", "quiesces")).unwrap();
    let output = allways(&dir, &["check", ".", "--all"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
    // Where it says nothing about runs that end, `quiesce` expects that all do.
    fs::write(dir.join("allways.toml"), "[[test]]\nname = \"tcFlood\"\n").unwrap();
    let (code, text) = ask(&dir, &[".", "--all", "--junit", "all.xml"]);
    assert_eq!(code, Some(1), "{text}");
    assert_says(&text, &["!! tcFlood  quiesces  diverges", "files of tcFlood: ", "1 of 1 not as expected"]);
    assert_says(
        &fs::read_to_string(dir.join("all.xml")).unwrap(),
        &["expected quiesces, diverges", "repeat for ever"],
    );
    assert_says(
        &rejected(&dir, &["quiesce", ".", "--all", "--diagram", "loop.svg"]),
        &["choose it with -tc"],
    );
}

/// The table of `docs/quiesce.md`.
#[test]
fn models_end_or_do_not_as_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let text = fs::read_to_string(root.join("docs/quiesce.md")).unwrap();
    let dir = folder("quiesce_models");
    let table = text.lines().skip_while(|line| !line.starts_with("| model |")).skip(2);
    let mut n_rows = 0;
    for line in table.take_while(|line| line.starts_with('|')) {
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().replace('`', "")).collect();
        let [_, model, test, options, ends, longest, ..] = cells.as_slice() else { panic!("{line}") };
        let model = root.join("models").join(model);
        let mut args = vec![model.to_str().unwrap(), "-tc", test, "-t", "60"];
        args.extend(options.split_whitespace());
        let (status, said) = ask(&dir, &args);
        assert_eq!(status, Some(i32::from(ends != "yes")), "{line}\n{said}");
        if !longest.is_empty() {
            assert_says(&said, &[&format!("the longest has {longest} steps")]);
        }
        n_rows += 1;
    }
    assert!(n_rows > 40);
}
