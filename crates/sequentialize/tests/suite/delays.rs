//! The smallest number of delays at which the programs of the paper fail, by scheduler and assertion
//! mode, and the small programs that every translation must get right.

use std::fs;

use allways_base::Sources;
use allways_bmc::{Answer, Recursion, VerifyOptions, verify};
use allways_boogie::{entry_point, print};
use allways_run::Quiet;
use allways_sequentialize::{Assertions, Options, Preemption, Scheduler, sequentialize};
use allways_testkit::boogie::solver;

const EXIT: Assertions = Assertions::Exit;
const CONTINUE: Assertions = Assertions::Continue;

/// Translates, checks that the result is Boogie text, and verifies: whether it fails.
fn outcome(
    name: &str,
    text: &str,
    scheduler: Scheduler,
    assertions: Assertions,
    recursion: u32,
) -> Result<bool, String> {
    let mut sources = Sources::default();
    sources.add(name.to_owned(), text.to_owned());
    let checked = solver::load(name, text)?;
    let entry = entry_point(&checked.program, None).map_err(|d| d.message.clone())?;
    let preemption =
        if text.contains("// preemption: automatic") { Preemption::Automatic } else { Preemption::Explicit };
    let options = Options { scheduler, assertions, preemption, sources: Some(&sources) };
    let done = sequentialize(&checked, entry, &options).map_err(|e| e.to_string())?;
    let printed = print(&done.program);
    if let Ok(folder) = std::env::var("ALLWAYS_KEEP_TRANSLATIONS") {
        let _ = fs::write(format!("{folder}/{name}.{scheduler:?}.{assertions:?}.bpl"), &printed);
    }
    let checked = solver::load("translated", &printed)?;
    let entry = entry_point(&checked.program, None).map_err(|d| d.message.clone())?;
    let options = VerifyOptions { recursion: Recursion::Exactly(recursion), ..VerifyOptions::default() };
    let mut solver = solver::start();
    let report = verify(&checked, entry, &options, &mut solver, &Quiet).map_err(|e| e.to_string())?;
    match report.answer {
        Answer::Fails { .. } => Ok(true),
        Answer::Holds { .. } => Ok(false),
        other => Err(format!("{other:?}")),
    }
}

fn fails(name: &str, text: &str, scheduler: Scheduler, assertions: Assertions, recursion: u32) -> bool {
    outcome(name, text, scheduler, assertions, recursion)
        .unwrap_or_else(|message| panic!("{name}: {scheduler:?} {assertions:?}: {message}"))
}

fn dfw(delays: u32) -> Scheduler {
    Scheduler::Dfw { delays }
}

fn df(delays: u32) -> Scheduler {
    Scheduler::Df { delays }
}

/// Fails with so many delays and not with fewer.
fn expect(
    name: &str,
    text: &str,
    by: fn(u32) -> Scheduler,
    assertions: Assertions,
    delays: u32,
    recursion: u32,
) {
    for fewer in 0..delays {
        assert!(
            !fails(name, text, by(fewer), assertions, recursion),
            "{name}: {:?} {assertions:?}",
            by(fewer)
        );
    }
    assert!(fails(name, text, by(delays), assertions, recursion), "{name}: {:?} {assertions:?}", by(delays));
}

/// Every `// explore: SCHEDULER(N) MODE VERDICT` line of the corpus, symbolically.
#[test]
fn corpus_verdicts_of_the_operational_schedulers() {
    let folder = solver::workspace().join("corpus/boogie/async");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the corpus is there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    let (mut n_lines, mut wrong) = (0, Vec::new());
    for path in files.iter().filter(|path| path.extension().is_some_and(|e| e == "bpl")) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(path).expect("corpus files are text");
        for line in text.lines().filter_map(|line| line.strip_prefix("// explore: ")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [scheduler, mode, verdict] = words[..] else { continue };
            let Some((scheduler, bound)) = scheduler.trim_end_matches(')').split_once('(') else { continue };
            let bound: u32 = bound.parse().unwrap_or(0);
            let scheduler = match scheduler {
                "df" => df(bound),
                "dfw" => dfw(bound),
                "child-first" => Scheduler::ChildFirst { rounds: bound },
                _ => continue,
            };
            let assertions = if mode == "continue" { CONTINUE } else { EXIT };
            let found = match outcome(&name, &text, scheduler, assertions, 6) {
                Ok(true) => "fails",
                Ok(false) => "holds",
                Err(message) if message.contains("task numbers") => continue,
                Err(message) => {
                    wrong.push(format!("{name}: {line}: {message}"));
                    continue;
                }
            };
            n_lines += 1;
            if found != verdict {
                wrong.push(format!("{name}: {line}: found {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {n_lines}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(n_lines > 40, "only {n_lines} lines");
}

/// A loop of posts and waits: any number of passes without delay, or one delay per pass.
#[test]
fn figure_four() {
    let text = "type task a; var i: int;
        procedure p() returns (r: int) { r := i; }
        procedure {:entrypoint} Main() {
          var x: task int; var y: int;
          i := 0;
          while (*) { call {:async x} y := p(); assume {:wait y, x} true; i := i + 1; }
          assert i != 3;
        }";
    for assertions in [EXIT, CONTINUE] {
        expect("figure_four", text, dfw, assertions, 0, 4);
        expect("figure_four", text, df, assertions, 3, 4);
    }
}

/// The chain of n posts, each waited for.
fn chain(n: u32) -> String {
    format!(
        "type task a; var i: int;
         procedure p() returns (r: int) {{ }}
         procedure {{:entrypoint}} Main() {{
           var t: task int; var x: int;
           i := 0;
           while (i < {n}) {{ call {{:async t}} x := p(); i := i + 1; yield; assume {{:wait t}} true; }}
           assert false;
         }}"
    )
}

/// The lengths of chains: a sample, or all up to `ALLWAYS_CHAIN`.
fn lengths(sample: &[u32]) -> Vec<u32> {
    let most = std::env::var("ALLWAYS_CHAIN").ok().and_then(|text| text.parse().ok());
    most.map_or_else(|| sample.to_vec(), |most| (1..=most).collect())
}

#[test]
fn chain_needs_no_delay_with_waiting() {
    for n in lengths(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 33, 50, 100, 200]) {
        assert!(fails("chain", &chain(n), dfw(0), EXIT, n + 1), "{n}");
    }
    for n in lengths(&[1, 2, 3, 10]) {
        assert!(fails("chain", &chain(n), dfw(0), CONTINUE, n + 1), "{n}");
    }
}

#[test]
fn chain_needs_a_delay_per_link_without_waiting() {
    for n in lengths(&[1, 2, 3, 4, 5, 8, 13, 20, 40]) {
        for assertions in [EXIT, CONTINUE] {
            assert!(!fails("chain", &chain(n), df(n - 1), assertions, n + 1), "{n}");
            assert!(fails("chain", &chain(n), df(n), assertions, n + 1), "{n}");
        }
    }
    for n in 1..=4 {
        expect("chain", &chain(n), df, EXIT, n, n + 1);
    }
}

#[test]
fn small_programs() {
    let both = |name: &str, text: &str, delays: Option<u32>, most: u32| {
        for by in [dfw as fn(u32) -> Scheduler, df] {
            for assertions in [EXIT, CONTINUE] {
                match delays {
                    Some(delays) => expect(name, text, by, assertions, delays, 1),
                    None => {
                        for delays in 0..=most {
                            assert!(!fails(name, text, by(delays), assertions, 1), "{name} {:?}", by(delays));
                        }
                    }
                }
            }
        }
    };
    both(
        "a child is seen after one delay",
        "var x: int; procedure p() { x := x + 1; }
         procedure main() { x := 0; async call p(); yield; assert x == 0; }",
        Some(1),
        0,
    );
    both(
        "arguments are those of the post",
        "var g: int; procedure p(a: int) { assert a == 1; }
         procedure main() { g := 1; async call p(g); g := 2; yield; }",
        None,
        2,
    );
    both(
        "one yield may be passed in two rounds",
        "var x: int;
         procedure a() { yield; x := x * 2; }
         procedure b() { yield; x := x + 1; }
         procedure main() { x := 1; async call b(); yield; assert x != 2; }",
        Some(1),
        0,
    );
    both(
        "lost update",
        "var x: int; var n: int;
         procedure inc() { var l: int; l := x; yield; x := l + 1; n := n + 1; if (n == 2) { assert x == 2; } }
         procedure main() { x := 0; n := 0; async call inc(); async call inc(); }",
        Some(1),
        0,
    );
    both(
        "failure after the last round of the entry point",
        "var x: int; procedure p() { yield; x := 1; async call q(); } procedure q() { yield; assert x != 1; }
         procedure main() { x := 0; async call p(); }",
        Some(0),
        0,
    );
    both(
        "maps are compared whole",
        "var m: [int]int; procedure p() { m[1] := 5; }
         procedure main() { m[0] := 7; m[1] := 0; async call p(); yield; assert m[0] == 7; assert m[1] != 5; }",
        Some(1),
        0,
    );
}

#[test]
fn exit_finds_what_continue_misses() {
    let text = "var x: int; procedure p() { yield; assume x == 9; }
        procedure main() { x := 0; async call p(); assert false; }";
    assert!(fails("blocked", text, dfw(0), EXIT, 1));
    assert!(!fails("blocked", text, dfw(1), CONTINUE, 1));
}

#[test]
fn handles_travel_to_younger_tasks() {
    let text = "type task a; var g: int;
        procedure p() returns (r: int) { r := 3; g := g + 1; }
        procedure q(h: task int) { var v: int; assume {:wait v, h} true; assume {:wait v, h} true; assert v == 3 && g == 1; g := 10; }
        procedure main() { var t: task int; var x: int; g := 0; call {:async t} x := p(); async call q(t); yield; yield; assert g != 10; }";
    expect("handles", text, dfw, EXIT, 1, 1);
}

#[test]
fn serial_rounds_put_tasks_off() {
    let text = "var x: int; procedure a() { x := x * 2; } procedure b() { x := x + 3; } procedure c() { assert x != 8; }
        procedure main() { x := 1; async call a(); async call b(); async call c(); }";
    assert!(!fails("serial", text, Scheduler::Rounds { rounds: 1 }, EXIT, 1));
    assert!(fails("serial", text, Scheduler::Rounds { rounds: 2 }, EXIT, 1));
}
