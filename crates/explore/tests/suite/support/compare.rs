//! Every variant of the search against the plain one.

use std::sync::Arc;

use allways_base::Span;
use allways_explore::Never;
use allways_explore::search::{Order, ProveOptions, Reductions, StoreKind, prove};
use allways_machine::Executable;
use allways_run::{Limits, NetworkOptions, Quiet, StopReason, Verdict};
use allways_testkit::Summary;

use super::{Plain, compile, plain};

pub fn limits() -> Limits {
    Limits { instructions: 20_000, call_depth: 500, ..Limits::default() }
}

pub fn safety() -> ProveOptions {
    ProveOptions {
        fairness: None,
        reductions: Reductions::NONE,
        probes: false,
        limits: limits(),
        ..ProveOptions::default()
    }
}

pub fn variants() -> Vec<(&'static str, ProveOptions)> {
    let with = |order, store, n_threads| ProveOptions { order, store, n_threads, ..safety() };
    vec![
        ("fingerprint", with(Order::Breadth, StoreKind::Fingerprint, 1)),
        ("exact", with(Order::Breadth, StoreKind::Exact, 1)),
        ("fingerprint, two threads", with(Order::Breadth, StoreKind::Fingerprint, 2)),
        ("exact, two threads", with(Order::Breadth, StoreKind::Exact, 2)),
        ("wide, two threads", with(Order::Breadth, StoreKind::Wide, 2)),
        ("depth first", with(Order::Depth, StoreKind::Exact, 1)),
        ("deepening", with(Order::Deepening, StoreKind::Exact, 1)),
    ]
}

/// Compares one search with the plain one.
pub fn agree(exe: &Arc<Executable>, options: &ProveOptions, plain: &Plain) -> Result<(), String> {
    let report = prove(exe, options, &Quiet, &Never).map_err(|error| error.to_string())?;
    let statistics = &report.statistics;
    match (&report.verdict, &plain.broken) {
        (Verdict::Violated(found), Some((depth, kinds))) => {
            let n_steps = found.schedule.n_steps() as u64;
            match options.order {
                Order::Breadth if n_steps != *depth => {
                    Err(format!("{n_steps} steps, and {depth} are enough"))
                }
                Order::Breadth if !kinds.contains(&found.violation.kind) => {
                    Err(format!("{:?}, not one of {kinds:?}", found.violation.kind))
                }
                Order::Deepening if n_steps > (2 * depth).max(8) => {
                    Err(format!("{n_steps} steps, more than twice {depth}"))
                }
                Order::Breadth | Order::Depth | Order::Deepening => Ok(()),
            }
        }
        (Verdict::Holds(_), None) if !plain.is_unknown => {
            let mine = (statistics.n_configurations, statistics.n_ends);
            if mine != (plain.n_configurations, plain.n_ends) {
                return Err(format!("{mine:?} configurations and ends, not {plain:?}"));
            }
            if options.order == Order::Breadth && statistics.depth != plain.depth {
                return Err(format!("depth {}, not {}", statistics.depth, plain.depth));
            }
            Ok(())
        }
        (Verdict::Unknown(_), None) if plain.is_unknown => Ok(()),
        (verdict, _) => Err(format!("{verdict:?}, but {plain:?}")),
    }
}

/// Whether a verdict is that of the brute-force oracle.
pub fn agrees_with_oracle(verdict: &Verdict, reference: &Summary) -> bool {
    match verdict {
        Verdict::Violated(found) => {
            reference.violations.iter().any(|(kind, _)| *kind == found.violation.kind)
        }
        Verdict::Holds(_) => !reference.is_violated() && !reference.is_unknown,
        Verdict::Unknown(_) => reference.is_unknown && !reference.is_violated(),
    }
}

pub fn compare_all(name: &str, text: &str, problems: &mut Vec<String>) -> usize {
    compare_over(name, text, problems, |_| NetworkOptions::default())
}

/// The same over a network.
pub fn compare_over(
    name: &str,
    text: &str,
    problems: &mut Vec<String>,
    network: impl Fn(&allways_p::hir::Program) -> NetworkOptions,
) -> usize {
    let program = match compile(name, text) {
        Ok(program) => program,
        Err(error) => {
            problems.push(format!("{name}: {error}"));
            return 0;
        }
    };
    let mut n_compared = 0;
    for test in 0..program.tests.len() {
        let exe = Executable::new(&program, test).with_network(&network(&program));
        let exe = Arc::new(exe.expect("names are those of the program"));
        let Some(plain) = plain(&exe, limits(), 3_000) else { continue };
        n_compared += 1;
        for (variant, options) in variants() {
            let agrees = match exe.observed_text {
                None => agree(&exe, &options, &plain),
                Some(place) => refuses(&exe, &options, place),
            };
            if let Err(problem) = agrees {
                problems.push(format!("{name}, {}, {variant}: {problem}", exe.test_name));
            }
        }
    }
    n_compared
}

/// A program that observes texts of machines gets no answer, but the place.
fn refuses(exe: &Arc<Executable>, options: &ProveOptions, place: Span) -> Result<(), String> {
    let report = prove(exe, options, &Quiet, &Never).map_err(|error| error.to_string())?;
    match report.verdict {
        Verdict::Unknown(StopReason::ObservedText { place: found }) if found == place => Ok(()),
        other => Err(format!("texts of machines are observed, and the answer is {other:?}")),
    }
}
