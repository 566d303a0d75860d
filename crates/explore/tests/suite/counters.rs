//! Numbers that grow for ever: configurations that differ by a renumbering are one, and what is recorded under numbers that cannot occur again goes.

use std::sync::Arc;

use allways_explore::Never;
use allways_explore::liveness::Fairness;
use allways_explore::search::{ProveOptions, ProveReport, Reductions, StoreKind, prove};
use allways_machine::Executable;
use allways_run::{Limits, Quiet, StopReason, Verdict};

use crate::support::{compile, prove_exactly};

fn executable(text: &str) -> Arc<Executable> {
    let program = compile("counters.p", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Arc::new(Executable::new(&program, 0))
}

fn only_counters() -> Reductions {
    Reductions::only("counters").unwrap_or(Reductions::NONE)
}

/// A client that numbers its requests from `first`, does `own` before each, and goes on when an answer has come that is the last; a server that does
/// `body` with each; and a monitor of the requests.
fn program(first: &str, own: &str, body: &str, monitor: &str) -> String {
    format!(
        "event eAsk: (Client, int); event eAnswer: int; event eSpin: int;
        spec Watch observes eAsk, eAnswer {{
            var asked: map[int, int]; var all: set[int]; var copy: map[int, int]; var last: int; var k: int; var i: int;
            var sets: set[set[int]];
            start state S {{
                on eAsk do (ask: (Client, int)) {{ {monitor} last = ask.1; }}
                ignore eAnswer;
            }}
        }}
        machine Main {{ start state S {{ entry {{ new Client(new Server()); }} }} }}
        machine Server {{
            var kept: int; var row: seq[int]; var t: string;
            start state S {{ on eAsk do (ask: (Client, int)) {{ {body} send ask.0, eAnswer, ask.1; }} }}
        }}
        machine Client {{
            var server: Server; var n: int; var m: int;
            start state S {{ entry (s: Server) {{ server = s; n = {first}; goto Ask; }} }}
            state Ask {{
                entry {{ {own} send server, eAsk, (this, n); }}
                on eAnswer do (i: int) {{ assert i == n; n = n + 1; goto Ask; }}
            }}
        }}
        test tc [main = Main]: assert Watch in {{ Main, Server, Client }};"
    )
}

/// How many configurations there are up to renumbering, with and without other reductions.
#[track_caller]
fn assert_closes(text: &str) {
    let exe = executable(text);
    for reductions in [only_counters(), Reductions::ALL] {
        for n_threads in [1, 2] {
            let report = prove_exactly(&exe, reductions, n_threads);
            assert!(matches!(report.verdict, Verdict::Holds(_)), "{text}\n{:?}", report.verdict);
            let n = report.statistics.n_configurations;
            assert!(n < 100, "{text}\n{n} configurations");
        }
    }
}

/// What is said of the counter that must stay as it is.
#[track_caller]
fn assert_refused(text: &str, why: &str) {
    let exe = executable(text);
    assert!(exe.numbers().classes().is_empty(), "{text}");
    let refused: Vec<&str> = exe.numbers().refused().iter().map(|refused| refused.why.as_str()).collect();
    assert!(refused.contains(&why), "{text}\n{refused:?}");
}

#[test]
fn requests_without_end_are_finitely_many() {
    assert_closes(&program("1", "", "", ""));
    // Where a client begins may be computed.
    assert_closes(&program("3 * m + 7", "", "kept = ask.1;", ""));
    // Remainders, and texts for people.
    assert_closes(&program("1", "if (n % 3 == 1) { m = n; }", "print format(\"{0}\", ask.1);", ""));
}

#[test]
fn records_of_numbers_that_cannot_occur_again_go() {
    let looks = "asked[ask.1] = 7; if (last in asked) { assert asked[last] == 7; }";
    assert_closes(&program("1", "", "", looks));
    assert_closes(&program("1", "", "", "assert !(ask.1 in all); all += (ask.1);"));
    assert_closes(&program("1", "", "", "asked[ask.1] = 0; asked -= (ask.1);"));
    // A copy that is looked up likewise.
    assert_closes(&program("1", "", "", "copy = asked; asked[ask.1] = 3; assert !(ask.1 in copy);"));
}

/// The verdict on eight requests.
#[track_caller]
fn assert_eight(monitor: &str, holds: bool) {
    let text = program("1", "m = m + 1; if (m > 8) { raise halt; }", "", monitor);
    let exe = executable(&text);
    assert!(!exe.numbers().classes().is_empty(), "{monitor}");
    let report = prove_exactly(&exe, only_counters(), 1);
    assert_eq!(matches!(report.verdict, Verdict::Holds(_)), holds, "{monitor}: {:?}", report.verdict);
    assert_eq!(matches!(report.verdict, Verdict::Violated(_)), !holds, "{monitor}");
}

#[test]
fn records_that_are_observed_as_a_whole_stay() {
    assert_eight("all += (ask.1); assert sizeof(all) < 8;", false);
    assert_eight("all += (ask.1); assert sizeof(all) < 9;", true);
    assert_eight("asked[ask.1] = 0; k = 0; foreach (i in keys(asked)) { k = k + 1; } assert k < 8;", false);
    assert_eight("asked[ask.1] = 1; k = 0; foreach (i in values(asked)) { k = k + i; } assert k < 8;", false);
    // By way of a copy, or of a set that they are elements of.
    assert_eight("asked[ask.1] = 0; copy = asked; assert sizeof(copy) < 8;", false);
    assert_eight("all += (ask.1); sets += (all); assert sizeof(sets) < 8;", false);
    assert_eight(
        "asked[ask.1] = 0; if (k == 0) { copy = asked; } assert k == 0 || copy != asked; k = 1;",
        true,
    );
    // Looked up at a distance.
    assert_eight("all += (ask.1); assert !((ask.1 - 3) in all);", false);
    assert_eight("all += (ask.1); assert !(2 in all);", false);
    assert_eight(
        "if (k == 4) { last = 4; } asked[ask.1] = last; k = k + 1; assert k < 5 || !(last in asked);",
        false,
    );
    assert_eight("asked[ask.1] = last; assert last < 4 || !(asked[asked[last]] in asked);", false);
}

/// Elements of a set are compared with each other: a set that is one keeps what is never looked up.
#[test]
fn sets_that_are_elements_of_sets_stay() {
    let text = "event eNumber: int; event eBack: int; event eHit;
        spec Watch observes eHit { start state S { } }
        machine Peer {
            var boss: machine;
            start state S { entry (b: machine) { boss = b; goto S2; } }
            state S2 { on eNumber do (n: int) { send boss, eBack, n; } }
        }
        machine Main {
            var a: int; var c: int; var s: set[int]; var x: set[set[int]]; var peer: machine;
            start state S {
                entry { var turn: int;
                    peer = new Peer(this); a = 1;
                    while (turn < 3) { turn = turn + 1; a = a + 1; send peer, eNumber, a; }
                }
                on eBack do (n: int) {
                    x += (s); s += (a); if (sizeof(x) > 2) { announce eHit; }
                    if (c in s) { announce eHit; }
                    s += (n); c = a;
                }
            }
        }
        test tc [main = Main]: assert Watch in { Main, Peer };";
    let exe = executable(text);
    let whole = prove_exactly(&exe, Reductions::NONE, 1);
    assert!(matches!(whole.verdict, Verdict::Violated(_)), "{:?}", whole.verdict);
    for reductions in [only_counters(), Reductions::ALL] {
        let report = prove_exactly(&exe, reductions, 1);
        assert!(matches!(report.verdict, Verdict::Violated(_)), "{:?}", report.verdict);
    }
}

#[test]
fn counters_that_are_needed_themselves_are_refused() {
    let index = "is an index of a sequence or set";
    let arithmetic = "is used in, or comes from, arithmetic beyond adding a constant";
    let restarts = "begins anew at a constant again and again";
    assert_refused(&program("1", "", "row += (0, 1); if (ask.1 == 0) { kept = row[ask.1]; }", ""), index);
    assert_refused(&program("1", "", "kept = ask.1 * 2; assert kept > 0;", ""), arithmetic);
    assert_refused(
        &program("1", "", "t = format(\"{0}\", ask.1); assert t != \"x\";", ""),
        "is part of a text that the program looks at",
    );
    assert_refused(&program("1", "if ($) { n = 0; }", "", ""), restarts);
}

#[test]
fn values_nested_without_end_are_given_up_in_time() {
    let body = "x.p = y as data; x.q = y as data; x.r = z as data; y.p = x as data; y.q = z as data; y.r = x as data;
        z.p = x as data; z.q = y as data; z.r = z as data; x = y.p as (p: data, q: data, r: data); n = n + 1;";
    let text = format!(
        "machine Main {{
            var x: (p: data, q: data, r: data); var y: (p: data, q: data, r: data); var z: (p: data, q: data, r: data); var n: int;
            start state S {{ entry {{ if (n > 0) {{ {body} }} }} }}
        }}"
    );
    assert!(executable(&text).numbers().classes().is_empty());
}

fn live(text: &str, reductions: Reductions) -> ProveReport {
    let options = ProveOptions {
        store: StoreKind::Exact,
        reductions,
        probes: false,
        fairness: Some(Fairness::Random),
        limits: Limits { memory_bytes: Some(1 << 28), ..Limits::default() },
        ..ProveOptions::default()
    };
    prove(&executable(text), &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"))
}

/// A client whose requests are answered again and again, unless the server does something else by `body`.
fn awaited(body: &str) -> String {
    program("1", "", body, "").replace(
        "start state S {\n                on eAsk do (ask: (Client, int)) {  last = ask.1; }\n                ignore eAnswer;",
        "start cold state S { on eAsk goto Waits; ignore eAnswer; }
            hot state Waits { on eAnswer goto S; ignore eAsk;",
    )
}

#[test]
fn liveness_of_programs_that_count_for_ever_is_decided() {
    for reductions in [only_counters(), Reductions::ALL] {
        let report = live(&awaited(""), reductions);
        assert!(matches!(report.verdict, Verdict::Holds(_)), "{:?}", report.verdict);
        // It counts by itself for ever, so that no configuration is met again.
        let text = awaited("if ($) { goto Alone, 1; }").replace(
            "eAnswer, ask.1; } }\n",
            "eAnswer, ask.1; } }
            state Alone { entry (i: int) { send this, eSpin, i + 1; } on eSpin goto Alone; ignore eAsk; }\n",
        );
        let report = live(&text, reductions);
        let Verdict::Unknown(StopReason::Undecided { why }) = &report.verdict else {
            panic!("{:?}", report.verdict)
        };
        assert!(why.contains("counts again and again"), "{why}");
    }
}

#[test]
fn machines_that_leave_do_not_keep_numbers() {
    let text = "event eJob: int; event eDone: (Worker, int);
        spec Once observes eDone {
            var done: set[int];
            start state S {
                on eDone do (d: (Worker, int)) { assert !(d.1 in done); done += (d.1); }
            }
        }
        machine Main {
            var n: int;
            start state S {
                entry { n = n + 1; new Worker((this, n)); }
                on eJob do (i: int) { assert i == n; n = n + 1; new Worker((this, n)); }
            }
        }
        machine Worker {
            start state S {
                entry (job: (Main, int)) { announce eDone, (this, job.1); send job.0, eJob, job.1; raise halt; }
            }
        }
        test tc [main = Main]: assert Once in { Main, Worker };";
    let report = prove_exactly(&executable(text), Reductions::ALL, 1);
    assert!(matches!(report.verdict, Verdict::Holds(_)), "{:?}", report.verdict);
    assert!(report.statistics.n_configurations < 100);
    // With a mistake, the run to it is shown although numbers and machines of it are others.
    let broken = text.replace("assert i == n; n = n + 1;", "assert i == n; if ($) { n = n + 1; }");
    let report = prove_exactly(&executable(&broken), Reductions::ALL, 1);
    assert!(matches!(report.verdict, Verdict::Violated(_)), "{:?}", report.verdict);
}
