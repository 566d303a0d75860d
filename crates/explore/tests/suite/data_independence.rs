//! Chosen numbers that a program cannot tell apart: one answer represents the others, unless some operation tells them apart.

use std::sync::Arc;

use allways_explore::Never;
use allways_explore::almost_sync::{self, AlmostSyncOptions};
use allways_explore::search::{ProveOptions, ProveReport, Reductions};
use allways_explore::symbolic::{self, SymbolicOptions};
use allways_machine::Executable;
use allways_run::{Quiet, Verdict};
use allways_testkit::generate::carrier::carrier;

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
    assert_answers("if (n == kept) { kept = 1; } kept = n; if (n == kept) { kept = 2; }", 100);
    assert_answers("t = format(\"{0}\", n); if (t == \"1\") { kept = 1; }", 100);
    assert_answers("if (-n == 3) { kept = 1; }", 100);
    assert_answers("if ((n, 1) == (kept, 1)) { kept = 1; }", 2);
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
    for seed in 10_000..10_150 {
        let text = carrier(seed);
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
