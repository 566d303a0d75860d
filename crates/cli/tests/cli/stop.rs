//! Searches that are stopped: what was seen is reported, and the exit status tells why.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::common::{allways, assert_says, folder};

/// It never ends, and every configuration is new: with arithmetic, its numbers are not renumbered.
const ENDLESS: &str = "
event eTick: int;
machine Main {
    start state Count {
        entry { send this, eTick, 0; }
        on eTick do (n: int) { assert n * 2 != 7; if ($) { send this, eTick, n + 1; } else { send this, eTick, n + 2; } }
    }
}
";

fn endless(name: &str) -> PathBuf {
    let folder = folder(name);
    fs::write(folder.join("endless.p"), ENDLESS).unwrap();
    folder
}

/// The number before a word of the report.
#[track_caller]
fn figure(text: &str, word: &str) -> u64 {
    let before = text.split(word).next().unwrap_or("").trim_end();
    let digits = before.rsplit(' ').next().unwrap_or("");
    digits.parse().unwrap_or_else(|_| panic!("no number before `{word}` in:\n{text}"))
}

#[test]
fn memory_limit_ends_with_what_was_seen() {
    let folder = endless("stop-memory");
    for order in ["breadth", "depth", "deepening"] {
        for store in ["fingerprint", "wide", "exact"] {
            let output = allways(&folder, &["prove", "--memory", "0.02", "--order", order, "--store", store]);
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(output.status.code(), Some(3), "{order}, {store}: {text}");
            assert_says(&text, &["DefaultImpl: unknown", "the memory limit of 20 MB was reached"]);
            assert_says(
                &text,
                match order {
                    "depth" => &["only some of the runs were explored"],
                    _ => &["every run of up to ", " steps was explored"],
                },
            );
            assert!(figure(&text, " configurations,") > 1000, "{order}, {store}: {text}");
        }
    }
}

/// Nothing is said about how far it came: a busy machine may leave it no time at all.
#[test]
fn time_limit_ends_with_what_was_seen() {
    let folder = endless("stop-time");
    let output = allways(&folder, &["prove", "--engine", "explicit", "--timeout", "1", "--format", "json"]);
    assert_eq!(output.status.code(), Some(3));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let report = &report["reports"][0];
    assert_eq!(report["verdict"], "unknown");
    assert_says(report["explanation"].as_str().unwrap(), &["the time limit of 1 s was reached"]);
    // The layer at which it stopped is not complete.
    let depth = report["statistics"]["depth"].as_u64().unwrap();
    let text = match report["covered"]["nSteps"].as_u64() {
        None | Some(0) => {
            assert!(depth <= 1, "{report}");
            return;
        }
        Some(1) => "every run of up to 1 step was explored".to_owned(),
        Some(n) => format!("every run of up to {n} steps was explored"),
    };
    assert_eq!(Some(depth - 1), report["covered"]["nSteps"].as_u64(), "{report}");
    assert_eq!(report["covered"]["text"], *text);
    assert_says(report["explanation"].as_str().unwrap(), &[&text]);
}

/// Files that grow faster than the run are left out, and large values are shown in part: limits hold while files are written, too.
#[test]
fn files_of_long_runs_and_large_values_stay_small() {
    let folder = folder("stop-files");
    let program = "
event eGo: int;
machine Main {
    var all: seq[seq[int]];
    var one: seq[int];
    start state S {
        entry {
            while (sizeof(all) < 2000) { one += (sizeof(one), sizeof(one)); all += (sizeof(all), one); }
            new Link(0);
        }
    }
}
machine Link {
    start state S {
        entry (n: int) { assert n < 3000, \"too long\"; new Link(n + 1); }
    }
}
";
    fs::write(folder.join("chain.p"), program).unwrap();
    let output = allways(&folder, &["check", "chain.p", "-s", "1", "-o", "out"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    // Two million numbers, of which few are written.
    let written = folder.join("out/DefaultImpl/BugFinding");
    let trace = fs::read_to_string(written.join("chain_0_0.allways.json")).unwrap();
    assert_says(&trace, &["... ", " more"]);
    for entry in fs::read_dir(&written).unwrap() {
        let entry = entry.unwrap();
        assert!(entry.metadata().unwrap().len() < 80 << 20, "{:?}", entry.path());
    }
    let output = allways(&folder, &["replay", "out/DefaultImpl/BugFinding/chain_0_0.schedule", "chain.p"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn what_grew_is_reported() {
    let folder = folder("stop-growth");
    let program = "
event eItem: int;
machine Main { start state S { entry { new Producer(new Sink()); } } }
machine Sink { start state S { defer eItem; } }
machine Producer { start state S { entry (sink: Sink) { while (true) { send sink, eItem, choose(2); } } } }
";
    fs::write(folder.join("flood.p"), program).unwrap();
    let output = allways(&folder, &["prove", "--engine", "explicit", "--memory", "0.02"]);
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_says(
        &text,
        &[
            "still growing when the search ended",
            "the inbox of `Sink`: ",
            " messages `eItem` wait",
            "help: ",
            "--max-inbox N",
        ],
    );
    let output = allways(&folder, &["prove", "--engine", "explicit", "--memory", "0.02", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let growth = &report["reports"][0]["growth"][0];
    assert_eq!(
        (&growth["kind"], &growth["owner"], &growth["name"]),
        (&"inbox".into(), &"Sink".into(), &"eItem".into())
    );
    assert!(growth["size"].as_u64().unwrap() > 8, "{growth}");
    // With the bound that it advises there is an end, and nothing to tell.
    let output = allways(&folder, &["prove", "--max-inbox", "4"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(!String::from_utf8_lossy(&output.stdout).contains("growing"));
}

/// Why numbers that grow are not renumbered.
#[test]
fn counters_that_stay_are_named() {
    let folder = folder("stop-counters");
    let program = "
event eTick;
machine Main {
  var n: int;
  start state S {
    entry { send this, eTick; }
    on eTick do {
      n = n + 1;
      assert n * 2 != 7;
      send this, eTick;
    }
  }
}
";
    fs::write(folder.join("ticks.p"), program).unwrap();
    let args = ["prove", "--engine", "explicit", "--memory", "0.02"];
    let output = allways(&folder, &[&args[..], &["-v"]].concat());
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let why = "not renumbered: `n` of `Main` is used in, or comes from, arithmetic beyond adding a constant (ticks.p:9:14)";
    assert_says(&text, &[why]);
    let output = allways(&folder, &args);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("not renumbered"));
}

#[test]
fn too_many_choices_are_reported() {
    let folder = folder("stop-choices");
    let program = "
event eDone: int;
machine Main {
    start state Begin {
        entry {
            new Other();
            send this, eDone, Some();
        }
        on eDone do (n: int) { assert n >= 0; }
    }
}
machine Other {
    start state Begin { entry { send this, eDone, Some(); } on eDone do (n: int) { assert n >= 0; } }
}
fun Some(): int {
    var i: int;
    var n: int;
    while (i < 17) { n = n * 2; if ($) { n = n + 1; } i = i + 1; }
    return n;
}
";
    fs::write(folder.join("choices.p"), program).unwrap();
    let output = allways(&folder, &["prove"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert_says(
        &text,
        &["one step of `Main` has more than 100000 combinations of choices", "`allways check`"],
    );
}

/// The limit that was set is reported, whichever engine of the race used up its share of it.
#[test]
fn memory_limit_of_a_race_is_the_one_that_was_set() {
    let folder = endless("stop-memory-auto");
    let output = allways(&folder, &["prove", "--memory", "0.02", "--engine", "auto"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert_says(&text, &["DefaultImpl: unknown", "the memory limit of 20 MB was reached"]);
}

#[test]
#[cfg(target_os = "linux")]
fn interrupt_ends_with_what_was_seen() {
    let folder = endless("stop-interrupt");
    for command in [
        &["prove"][..],
        &["prove", "--order", "depth"],
        &["prove", "--engine", "asi"],
        &["prove", "--engine", "auto"],
        &["prove", "--network", "bag", "--threads", "2"],
        &["check", "-s", "0"],
    ] {
        let child = Command::new(env!("CARGO_BIN_EXE_allways"))
            .current_dir(&folder)
            .args(command)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        await_handler(&child);
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(130), "{command:?}: {text}");
        assert_says(&text, &["DefaultImpl", "interrupted"]);
    }
}

/// Until the process catches the signal: before, it would just die of it.
#[cfg(target_os = "linux")]
fn await_handler(child: &Child) {
    const INTERRUPT: u32 = 2;
    let status = format!("/proc/{}/status", child.id());
    loop {
        let text = fs::read_to_string(&status).expect("it runs until it is stopped");
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("").trim();
        if u64::from_str_radix(caught, 16).is_ok_and(|mask| mask >> (INTERRUPT - 1) & 1 == 1) {
            return;
        }
        std::thread::yield_now();
    }
}

/// Every variable that is named with advice to bound it can be bounded, locals included; a monitor's is named without it.
#[test]
fn what_is_named_can_be_bounded() {
    let folder = folder("stop-locals");
    let program = "
event eTick: int;
machine Main {
    start state Count {
        entry { send this, eTick, 0; }
        on eTick do (n: int) { var next: int; next = n + 1; assert n * 2 != 7; announce eSeen, next % 7; send this, eTick, next; }
    }
}
event eSeen: int;
spec Counts observes eSeen { var seen: int; start state S { on eSeen do (n: int) { seen = seen + 1; } } }
test tcCount [main = Main]: assert Counts in { Main };
";
    fs::write(folder.join("count.p"), program).unwrap();
    let output = allways(&folder, &["prove", "--memory", "0.02", "--format", "json"]);
    assert_eq!(output.status.code(), Some(3));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let growth = report["reports"][0]["growth"].as_array().unwrap();
    let mut n_bounded = 0;
    for grown in growth {
        let (owner, name) = (grown["owner"].as_str().unwrap(), grown["name"].as_str().unwrap_or("?"));
        let help = grown["help"].as_str().unwrap();
        if !help.contains("--max-value") {
            assert_eq!(owner, "Counts", "{grown}");
            continue;
        }
        let bound = format!("{owner}.{name}=4");
        let output = allways(&folder, &["prove", "--max-value", &bound]);
        assert_eq!(output.status.code(), Some(0), "{bound}: {}", String::from_utf8_lossy(&output.stderr));
        n_bounded += 1;
    }
    assert!(n_bounded > 0, "{report}");
}

/// What is advised helps: choices and variables can be bounded, and the verdict says so.
#[test]
fn advice_on_wide_and_endless_programs_helps() {
    let folder = folder("stop-advice");
    let program = "
event eAsk: (source: Client, n: int, value: int);
event eAnswer: int;
machine Main { start state S { entry { var server: Server; server = new Server(); new Client(server); new Client(server); } } }
machine Server { start state S { on eAsk do (it: (source: Client, n: int, value: int)) { assert it.value + 1 < 501; send it.source, eAnswer, it.n; } } }
machine Client {
    var server: Server;
    var next: int;
    start state S {
        entry (it: Server) { server = it; ask(); }
        on eAnswer do (n: int) { assert n == next && n * 2 != 7; ask(); }
    }
    fun ask() { next = next + 1; send server, eAsk, (source = this, n = next, value = choose(500)); }
}
";
    fs::write(folder.join("ask.p"), program).unwrap();
    let output = allways(&folder, &["prove", "--memory", "0.03"]);
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_says(
        &text,
        &["`Client` has a `choose` with 500 answers; `--max-choices N` explores N answers of each"],
    );
    let output = allways(&folder, &["prove", "--memory", "0.03", "--max-choices", "2"]);
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_says(&text, &["`next` of `Client`: up to ", "--max-value Client.next=5"]);
    let output = allways(&folder, &["prove", "--max-choices", "2", "--max-value", "Client.next=4"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_says(
        &text,
        &["holds within bounds: 2 answers to each `choose`, Client.next <= 4", "this is not a proof"],
    );
    for (wrong, says) in
        [("Client.nxt=4", "no machine `Client` has a variable `nxt`"), ("next", "Machine.variable=5")]
    {
        let output = allways(&folder, &["prove", "--max-value", wrong]);
        assert_eq!(output.status.code(), Some(2));
        assert_says(&String::from_utf8_lossy(&output.stderr), &[says]);
    }
}
