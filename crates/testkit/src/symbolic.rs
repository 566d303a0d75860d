//! Symbolic exploration against the oracle and against explicit search.
//!
//! Without reductions it has to reach the very same local states, monitor states and ends, in the same number of
//! configurations and by the same local steps, whatever the order of slots; and a counterexample of breadth-first length has the
//! length of the explicit one. Machines that handle eagerly are in other configurations, and all else is the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use allways_explore::Never;
use allways_explore::search::{self, Order, ProveOptions, REDUCTIONS, Reductions, SearchBounds, StoreKind};
use allways_explore::symbolic::paper::{self, PaperOptions, PaperReport};
use allways_explore::symbolic::{self, FilterNames, SlotOrder, Split, SymbolicOptions};
use allways_machine::Executable;
use allways_run::{Quiet, StopReason, Verdict};

use crate::Loaded;
use crate::bounded::{Reference, Within};
use crate::liveness::{self, limits};
use crate::proof::{self, Judged};

/// The reductions of single local states that symbolic exploration has.
const OF_LOCAL_STATES: Reductions =
    Reductions { dead_variables: true, unread_payloads: true, collection_order: true, ..Reductions::NONE };
/// Machines that handle before their sends are made.
const EAGER: Reductions = Reductions { eager_handling: true, ..Reductions::NONE };

/// One configuration of symbolic exploration.
struct Way {
    reductions: Reductions,
    order: SlotOrder,
    split: Split,
}

/// Each reduction, order and way to split comes with each other on some programs.
fn ways(seed: u64) -> Vec<Way> {
    let both = Reductions { eager_handling: true, ..OF_LOCAL_STATES };
    let random = SlotOrder::Random(seed);
    let way = |reductions, order: &SlotOrder, split| Way { reductions, order: order.clone(), split };
    let found = SlotOrder::Found;
    let (a, b) = if seed.is_multiple_of(2) { (&found, &random) } else { (&random, &found) };
    vec![
        way(Reductions::NONE, a, Split::Never),
        way(Reductions::NONE, b, Split::Always),
        way(EAGER, b, Split::Never),
        way(OF_LOCAL_STATES, b, if seed.is_multiple_of(3) { Split::Small } else { Split::Always }),
        way(both, a, if seed.is_multiple_of(3) { Split::Always } else { Split::Small }),
    ]
}

/// What symbolic exploration says of a test that was enumerated otherwise: how many configurations there are, or how it
/// differs.
///
/// # Errors
/// The difference, in words.
pub fn compare(
    loaded: &Loaded,
    exe: &Arc<Executable>,
    reference: &Reference,
    within: &Within,
    seed: u64,
) -> Result<u64, String> {
    // The one bound that it does not have.
    if within.bounds.machines.is_some() {
        return Ok(0);
    }
    let explicit = without_reductions(within);
    let plain = search::prove(exe, &explicit, &Quiet, &Never).map_err(|error| error.to_string())?;
    let mut n_configurations = 0;
    for Way { reductions, order, split } in ways(seed) {
        let is_plain = reductions == Reductions::NONE;
        // Both variants have the same runs.
        let has_lengths = is_plain || reductions == EAGER;
        let name = format!("{order:?}, split {split:?}, {}", named(reductions));
        let search = ProveOptions { reductions, ..explicit.clone() };
        let options = SymbolicOptions {
            search,
            order,
            shortest: has_lengths,
            split,
            finds_invariants: is_plain,
            ..SymbolicOptions::default()
        };
        let (found, survey) =
            symbolic::survey(exe, &options, &Quiet, &Never).map_err(|error| format!("{name}: {error}"))?;
        let judged = Judged { reductions, order: Order::Breadth, within };
        let n = proof::judge(loaded, exe, reference, judged, &found.report, &survey)
            .map_err(|difference| format!("{name}: {difference}"))?;
        if !has_lengths {
            continue;
        }
        match (&plain.verdict, &found.report.verdict) {
            (Verdict::Holds(a), Verdict::Holds(b)) if a == b && !is_plain => {
                let ends = (plain.statistics.n_ends, found.report.statistics.n_ends);
                if ends.0 != ends.1 {
                    return Err(format!("{name}: {} terminal configurations, explicit {}", ends.1, ends.0));
                }
            }
            (Verdict::Holds(a), Verdict::Holds(b)) => {
                // Split local states are put together only where they are needed.
                let is_whole = split == Split::Never;
                let has_all = is_whole && within.bounds.depth.is_none();
                let (mut a, mut b) = ((a, figures(&plain, !has_all)), (b, figures(&found.report, !has_all)));
                // Of the parties of a step that a bound cuts off, one may be asked before the other.
                if within.bounds != SearchBounds::default() {
                    (a.1.4, b.1.4) = (0, 0);
                }
                if a != b {
                    return Err(format!("{name}: {b:?}, explicit {a:?}"));
                }
                // Where a bound cuts off, or crashes wait for others, more may be asked for.
                let is_exact =
                    is_whole && within.bounds == SearchBounds::default() && !exe.network.has_crashes();
                let runs = (plain.statistics.n_misses, found.figures.n_handler_runs);
                if is_exact && runs.0 != runs.1 {
                    return Err(format!("{name}: {} local steps computed, explicit {}", runs.1, runs.0));
                }
                n_configurations = n;
            }
            (Verdict::Violated(a), Verdict::Violated(b)) => {
                let lengths = (a.schedule.n_steps(), b.schedule.n_steps());
                if lengths.0 != lengths.1 {
                    return Err(format!("{name}: a run of {} steps, explicit {}", lengths.1, lengths.0));
                }
            }
            (Verdict::Unknown(_), Verdict::Unknown(_)) => {}
            (a, b) => return Err(format!("{name}: {b:?}, explicit {a:?}")),
        }
    }
    Ok(n_configurations)
}

/// The reductions that are on.
fn named(reductions: Reductions) -> String {
    let on = REDUCTIONS.iter().filter(|row| row.is_on(reductions)).map(|row| row.name);
    on.collect::<Vec<&str>>().join(", ")
}

/// Figures that must be equal. What explicit search does with the last layer within a bound of steps has no counterpart.
fn figures(report: &search::ProveReport, has_depth: bool) -> (u64, u64, u32, u32, u64) {
    let s = &report.statistics;
    match has_depth {
        true => (s.n_configurations, s.n_ends, 0, 0, 0),
        false => (s.n_configurations, s.n_ends, s.largest_inbox, s.n_machines, s.n_local_states),
    }
}

/// The same for liveness under `random` fairness, of a program that only infinite runs can break.
///
/// # Errors
/// The difference, in words.
pub fn compare_liveness(exe: &Arc<Executable>, is_violated: bool, seed: u64) -> Result<(), String> {
    for reductions in [Reductions::NONE, OF_LOCAL_STATES] {
        for order in [SlotOrder::Found, SlotOrder::Random(seed)] {
            let name = format!("symbolic, {order:?}");
            let search = ProveOptions { reductions, limits: limits(), ..ProveOptions::default() };
            let options = SymbolicOptions { search, order, ..SymbolicOptions::default() };
            let found = symbolic::prove(exe, &options, &Quiet, &Never)
                .map_err(|error| format!("{name}: {error}, expected {is_violated}"))?;
            liveness::judge(&found.report.verdict, is_violated)
                .map_err(|what| format!("{name}: {what}, expected {is_violated}"))?;
        }
    }
    Ok(())
}

/// What the published algorithm made of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaperOutcome {
    /// It agrees.
    Agrees { is_violated: bool },
    /// It was stopped after so much work, or does not do what the program needs.
    Undecided,
}

/// Explicit search of every configuration within a bound.
fn without_reductions(within: &Within) -> ProveOptions {
    ProveOptions {
        bounds: within.bounds,
        max_choices: within.max_choices,
        reductions: Reductions::NONE,
        store: StoreKind::Exact,
        probes: false,
        fairness: None,
        limits: limits(),
        ..ProveOptions::default()
    }
}

/// The published algorithm against explicit search, which the oracle agrees with: verdict, and length of the counterexample.
///
/// # Errors
/// The difference, in words.
pub fn compare_paper(
    exe: &Arc<Executable>,
    is_violated: bool,
    within: &Within,
    max_polls: u64,
) -> Result<PaperOutcome, String> {
    let explicit = without_reductions(within);
    let plain = search::prove(exe, &explicit, &Quiet, &Never).map_err(|error| error.to_string())?;
    let options = PaperOptions { search: explicit.clone(), ..PaperOptions::default() };
    // It asks after so much work, whatever the time.
    let n_polls = AtomicU64::new(0);
    let cancel = || (n_polls.fetch_add(1, Ordering::Relaxed) >= max_polls).then_some(StopReason::Interrupted);
    let found = paper::prove(exe, &options, &Quiet, &cancel).map_err(|error| error.to_string())?;
    match (&plain.verdict, &found.verdict) {
        (
            _,
            Verdict::Unknown(
                StopReason::Interrupted | StopReason::Unsupported { .. } | StopReason::Undecided { .. },
            ),
        ) => Ok(PaperOutcome::Undecided),
        (Verdict::Unknown(a), Verdict::Unknown(b)) if a == b => Ok(PaperOutcome::Undecided),
        (Verdict::Holds(a), Verdict::Holds(b)) if a == b && !is_violated => {
            Ok(PaperOutcome::Agrees { is_violated })
        }
        (Verdict::Violated(a), Verdict::Violated(b)) if is_violated => {
            let lengths = (a.schedule.n_steps(), b.schedule.n_steps());
            match lengths.0 == lengths.1 {
                true => Ok(PaperOutcome::Agrees { is_violated }),
                false => Err(format!("a run of {} steps, explicit {}", lengths.1, lengths.0)),
            }
        }
        (a, b) => Err(format!("{b:?}, explicit {a:?}, oracle {is_violated}")),
    }
}

/// Filters of the published algorithm, one by one and together, which must lose nothing.
fn sound_filters(exe: &Executable) -> Vec<(&'static str, FilterNames)> {
    let kinds = exe.machines.iter_ids().filter(|(_, machine)| !machine.is_monitor);
    let symmetric: Vec<String> = kinds.map(|(machine, _)| exe.machine_name(machine).to_owned()).collect();
    let monotonic = FilterNames { monotonic: true, ..FilterNames::default() };
    vec![
        ("monotonic", monotonic.clone()),
        ("symmetry", FilterNames { symmetric: symmetric.clone(), ..FilterNames::default() }),
        ("both", FilterNames { symmetric, ..monotonic }),
    ]
}

/// The published algorithm with filters: the verdict of the oracle, and no control state lost. How many searches had an answer, and how many
/// steps were left out.
///
/// # Errors
/// The difference, in words.
pub fn compare_filters(
    exe: &Arc<Executable>,
    is_violated: bool,
    max_polls: u64,
) -> Result<(usize, u64), String> {
    let (mut n_compared, mut n_pruned) = (0, 0);
    for (name, filters) in sound_filters(exe) {
        let found = filtered(exe, &filters, false, max_polls).map_err(|error| format!("{name}: {error}"))?;
        let found_violated = match &found.verdict {
            Verdict::Unknown(_) => continue,
            verdict => matches!(verdict, Verdict::Violated(_)),
        };
        if found_violated != is_violated {
            return Err(format!("{name}: {:?}, oracle {is_violated}", found.verdict));
        }
        n_compared += 1;
        n_pruned += found.figures.n_pruned;
        let checked = filtered(exe, &filters, true, max_polls).map_err(|error| format!("{name}: {error}"))?;
        let comparison = checked.comparison.unwrap_or_default();
        if comparison.contains("lose") {
            return Err(format!("{name}: {comparison}"));
        }
    }
    Ok((n_compared, n_pruned))
}

/// The verdict of the published algorithm over a network that keeps the order of two machines, by the order of sends; `None` if it has none.
///
/// # Errors
/// When a violation does not replay.
pub fn in_send_order(exe: &Arc<Executable>, max_polls: u64) -> Result<Option<bool>, String> {
    let filters = FilterNames { send_order: true, ..FilterNames::default() };
    let found = filtered(exe, &filters, false, max_polls)?;
    Ok(match found.verdict {
        Verdict::Unknown(_) => None,
        verdict => Some(matches!(verdict, Verdict::Violated(_))),
    })
}

fn filtered(
    exe: &Arc<Executable>,
    filters: &FilterNames,
    checks_filters: bool,
    max_polls: u64,
) -> Result<PaperReport, String> {
    let search = without_reductions(&Within::default());
    let options =
        PaperOptions { search, filters: filters.clone(), checks_filters, ..PaperOptions::default() };
    let n_polls = AtomicU64::new(0);
    let cancel = || (n_polls.fetch_add(1, Ordering::Relaxed) >= max_polls).then_some(StopReason::Interrupted);
    paper::prove(exe, &options, &Quiet, &cancel).map_err(|error| error.to_string())
}
