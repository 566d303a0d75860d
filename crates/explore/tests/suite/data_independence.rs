//! Chosen numbers that a program cannot tell apart: one answer represents the others, unless some operation tells them apart.

use std::sync::Arc;

use allways_explore::Never;
use allways_explore::almost_sync::{self, AlmostSyncOptions};
use allways_explore::search::{Order, ProveOptions, ProveReport, Reductions, prove};
use allways_explore::symbolic::{self, SymbolicOptions};
use allways_machine::Executable;
use allways_run::{Quiet, Verdict};
use allways_testkit::generate::carrier::carrier;
use allways_testkit::generate::echoes::echoes;

use crate::support::{compile, prove_exactly};

fn executable(text: &str) -> Arc<Executable> {
    let program = compile("data.p", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Arc::new(Executable::new(&program, 0))
}

fn alone(text: &str) -> ProveReport {
    let only = Reductions::only("data-independence").unwrap_or(Reductions::NONE);
    prove_exactly(&executable(text), only, 1)
}

/// A driver with one machine that receives what `choose(100)` gives, and does something with it.
fn program(body: &str) -> String {
    format!(
        "event e: int;
        machine Main {{ start state S {{ entry {{ send new Other(), e, choose(100); }} }} }}
        machine Other {{
            var kept: int; var table: map[int, int]; var all: set[int]; var row: seq[int];
            start state S {{ on e do (n: int) {{ var t: string; {body} }} }}
        }}"
    )
}

/// The number of answers that represent all hundred.
#[track_caller]
fn assert_answers(body: &str, n_answers: u64) {
    let report = alone(&program(body));
    assert!(matches!(report.verdict, Verdict::Holds(_)), "{body}: {:?}", report.verdict);
    assert_eq!(100 - report.statistics.saved.n_equivalent, n_answers, "{body}");
}

#[test]
fn operations_tell_apart_what_they_need() {
    assert_answers("kept = n;", 1);
    assert_answers("row += (0, n); kept = row[0];", 1);
    assert_answers("table[7] = n; print format(\"{0}\", n);", 1);
    assert_answers("assert n < 100, format(\"{0}\", n);", 1);
    // Blocks begin at the constants that numbers are compared with.
    assert_answers("if (n == 7) { kept = 1; }", 3);
    assert_answers("if (n == 0) { kept = 1; }", 2);
    assert_answers("if (n < 5) { kept = 1; } if (20 < n) { kept = 2; }", 3);
    assert_answers("if (n >= 5) { kept = 1; } if (n > 5) { kept = 2; }", 3);
    assert_answers("if (n == 100 || n == -1) { kept = 1; }", 1);
    // The first element is compared with nothing.
    assert_answers("all += (n);", 1);
    assert_answers("all += (3); if (n in all) { kept = 1; }", 3);
    // Everything else needs the number.
    assert_answers("kept = n + 1;", 100);
    assert_answers("kept = n; if (n < kept) { kept = 1; }", 100);
    assert_answers("t = format(\"{0}\", n); if (t == \"1\") { kept = 1; }", 100);
    assert_answers("if (-n == 3) { kept = 1; }", 100);
    assert_answers("if ((n, 1) == (kept, 1)) { kept = 1; }", 2);
    // What comes from one choice is equal, whichever number it is.
    assert_answers("if (n == kept) { kept = 1; } kept = n; if (n != kept) { kept = 2; }", 2);
    assert_answers("row += (0, n); assert n in row;", 1);
    assert_answers("table[n] = 1; table[n] = 2; assert sizeof(table) == 1;", 1);
}

/// Drivers that choose several numbers, which another machine compares.
fn choosers(pick: &str, hears: &str, rounds: &str) -> String {
    format!(
        "event e: int; event eGo;
        machine Main {{ start state S {{ entry {{
            var other: machine; var a: machine; var b: machine;
            other = new Other(); {rounds}
        }} }} }}
        machine Picker {{
            var other: machine;
            start state S {{ entry (of: machine) {{ other = of; }} on eGo do {{ {pick} }} }}
        }}
        machine Other {{
            var kept: int; var some: bool; var row: seq[int];
            start state S {{ on e do (n: int) {{ {hears} kept = n; some = true; }} }}
        }}"
    )
}

#[test]
fn choices_that_meet_are_enumerated() {
    let twice = "a = new Picker(other); send a, eGo; send a, eGo;";
    let alike = "a = new Picker(other); b = new Picker(other); send a, eGo; send b, eGo;";
    let one_by_one = "a = new Picker(other); send a, eGo; b = new Picker(other); send b, eGo;";
    let send = "send other, e, choose(20);";
    // Of these machines nothing but the count of their choices says that they have chosen.
    for (pick, rounds) in [
        (send, twice),
        (send, alike),
        (send, one_by_one),
        ("send other, e, choose(20); raise halt;", one_by_one),
        ("send other, e, choose(20); send other, e, choose(20);", "a = new Picker(other); send a, eGo;"),
    ] {
        for (hears, is_violated) in [
            ("assert !some || n == kept;", true),
            ("assert !some || n != kept;", true),
            ("assert !some || (n, 1) != (kept, 2);", false),
            ("row += (0, n); assert n in row;", false),
        ] {
            let text = choosers(pick, hears, rounds);
            for reductions in
                [Reductions::only("data-independence").unwrap_or(Reductions::NONE), Reductions::ALL]
            {
                let report = prove_exactly(&executable(&text), reductions, 1);
                let found = matches!(report.verdict, Verdict::Violated(_));
                assert_eq!(found, is_violated, "{text}: {:?}", report.verdict);
                // Only the first two need to know which numbers these are.
                let n_all = if is_violated { 0 } else { 19 };
                assert!(found || report.statistics.saved.n_equivalent >= n_all, "{text}");
            }
        }
    }
}

/// What an operation reports asks a search to stop; a violation that was found just then is shown all the same.
#[test]
fn a_violation_is_shown_when_a_report_comes_first() {
    let text = "event e: int;
        spec Watch observes e { var n: int; start state S { on e do (v: int) { n = n + 1; assert n < 2; } } }
        machine Main { start state S { entry { new Picker(); new Picker(); } } }
        machine Picker { start state S { entry {
            var x: int; var y: int;
            x = choose(4); y = choose(4);
            if (x + y == y + x) { announce e, 1; }
        } } }
        test tc [main = Main]: assert Watch in { Main, Picker };";
    let only = Reductions::only("data-independence").unwrap_or(Reductions::NONE);
    for order in [Order::Breadth, Order::Depth, Order::Deepening] {
        let options = ProveOptions { order, reductions: only, probes: false, ..ProveOptions::default() };
        let report =
            prove(&executable(text), &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"));
        assert!(matches!(report.verdict, Verdict::Violated(_)), "{order:?}: {:?}", report.verdict);
    }
}

/// A machine that chooses for ever gives names for ever, so its numbers are enumerated.
#[test]
fn choices_without_end_have_no_names() {
    let report = alone(
        "event e: (machine, int); event eBack: int;
        machine Main {
            var other: machine; var mine: int;
            start state S { entry { other = new Other(); goto Asks; } }
            state Asks {
                entry { mine = choose(6); send other, e, (this, mine); }
                on eBack do (n: int) { assert n == mine; goto Asks; }
            }
        }
        machine Other { start state S { on e do (n: (machine, int)) { send n.0, eBack, n.1; } } }",
    );
    assert!(matches!(report.verdict, Verdict::Holds(_)), "{:?}", report.verdict);
    assert_eq!(report.statistics.saved.n_equivalent, 0);
}

#[test]
fn a_hundred_random_bytes_are_one_answer() {
    let text = "event e: seq[int];
        machine Main { start state S { entry {
            var bytes: seq[int]; var i: int;
            while (i < 100) { bytes += (i, choose(256)); i = i + 1; }
            send new Other(), e, bytes;
        } } }
        machine Other { var kept: seq[int]; start state S { on e do (bytes: seq[int]) { kept = bytes; } } }";
    let report = alone(text);
    assert!(matches!(report.verdict, Verdict::Holds(_)), "{:?}", report.verdict);
    assert_eq!(report.statistics.saved.n_equivalent, 255);
}

#[test]
fn a_rare_number_that_breaks_the_program_is_found() {
    let report = alone(&program("assert n != 63;"));
    assert!(matches!(report.verdict, Verdict::Violated(_)), "{:?}", report.verdict);
    let report = alone(&program("table[n] = 1; table[n / 2 + 1] = 2; assert !(81 in table);"));
    assert!(matches!(report.verdict, Verdict::Violated(_)), "{:?}", report.verdict);
}

/// Random programs have the same verdicts by every engine, and counterexamples of the same length.
#[test]
fn random_programs_keep_their_verdicts() {
    let (mut n_fewer, mut n_violated, mut problems) = (0, 0, Vec::new());
    for seed in 10_000..10_220 {
        let text = if seed < 10_150 { carrier(seed) } else { echoes(seed) };
        let exe = executable(&text);
        let whole = prove_exactly(&exe, Reductions::NONE, 1);
        let found = alone(&text);
        let reduced = prove_exactly(&exe, Reductions::ALL, 2);
        match (&whole.verdict, &found.verdict, &reduced.verdict) {
            (Verdict::Holds(_), Verdict::Holds(_), Verdict::Holds(_)) => {
                n_fewer += u32::from(found.statistics.n_configurations < whole.statistics.n_configurations);
            }
            (Verdict::Violated(a), Verdict::Violated(b), Verdict::Violated(_))
                if a.schedule.n_steps() == b.schedule.n_steps() =>
            {
                n_violated += 1;
            }
            verdicts => problems.push(format!("seed {seed}: {verdicts:?}\n{text}")),
        }
        let search = ProveOptions { fairness: None, ..ProveOptions::default() };
        let options = SymbolicOptions { search, ..SymbolicOptions::default() };
        let by_sets = symbolic::prove(&exe, &options, &Quiet, &Never)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"))
            .report;
        let by_pairs = almost_sync::prove(&exe, &AlmostSyncOptions::default(), &Quiet, &Never)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"))
            .report;
        for (engine, report) in [("symbolic", by_sets), ("asi", by_pairs)] {
            let is_violated = |verdict: &Verdict| matches!(verdict, Verdict::Violated(_));
            let is_known = !matches!(report.verdict, Verdict::Unknown(_));
            if !is_known || is_violated(&report.verdict) != is_violated(&whole.verdict) {
                problems.push(format!("seed {seed}, {engine}: {:?}\n{text}", report.verdict));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(n_fewer > 40 && n_violated > 30, "{n_fewer} with fewer configurations, {n_violated} violated");
}
