//! The entry: chooses the search, and says in the end what it is worth.

use std::sync::{Arc, Mutex, PoisonError};

use allways_machine::{Executable, Simplify};
use allways_run::{
    Bound, Cancel, Counterexample, Guarantee, LastCall, Limits, Observer, StopReason, Verdict,
};

use super::context::{Context, Cuts, Explored, SearchEnd};
use super::counterexample::{self, Allowance, Found, owners};
use super::growth;
use super::liveness::graph;
use super::local::states::{Cut, LocalStates};
use super::options::{ProveOptions, StoreKind};
use super::order::Order;
use super::order::breadth;
use super::order::depth;
use super::reduce::data_independence::{self, Attempt, Names};
use super::reduce::machine_garbage;
use super::reduce::persistent::Reach;
use super::reduce::probe;
use super::reduce::table::Reductions;
use super::report::{Covered, ProveReport, ProveStatistics, Remarks, Saved, SeenViolation};
use super::stop::StickyCancel;
use super::survey::{Notes, Survey};
use crate::coverage::Coverage;
use crate::error::InternalError;
use crate::liveness::Fairness;

/// Looks at every configuration of a test, within bounds.
///
/// # Errors
/// When a violation was found that does not replay: a fault of Allways.
pub fn prove(
    exe: &Arc<Executable>,
    options: &ProveOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<ProveReport, InternalError> {
    search(exe, options, observer, cancel, None).map(|(report, _)| report)
}

/// The same, with notes of what is reached.
pub(crate) fn search(
    exe: &Arc<Executable>,
    options: &ProveOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
    notes: Option<Notes>,
) -> Result<(ProveReport, Survey), InternalError> {
    data_independence::refine(
        exe,
        (data_independence::applies(exe, options), Names::Kept),
        cancel,
        |Attempt { plan, cancel, is_alone }| {
            let n_threads = if is_alone { 1 } else { options.n_threads };
            let mut options = ProveOptions { data: plan, n_threads, ..options.clone() };
            if is_alone {
                (options.peers, options.checkpoint) = (None, None);
            }
            search_by_plan(exe, &options, observer, cancel, notes.as_ref().map(|_| Notes::default()))
        },
        // Processes that search together must agree about that, and only the first has the counterexample.
        |found| {
            found.as_ref().is_ok_and(|(report, _)| {
                let is_seen = options.peers.is_some() && report.remarks.seen.is_some();
                matches!(report.verdict, Verdict::Violated(_)) || is_seen
            })
        },
    )
}

/// The search, with the answers that its plan says.
fn search_by_plan(
    exe: &Arc<Executable>,
    options: &ProveOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
    notes: Option<Notes>,
) -> Result<(ProveReport, Survey), InternalError> {
    if let Some(reason) = super::observed_text(exe) {
        let report = ProveReport {
            verdict: Verdict::Unknown(reason.clone()),
            statistics: ProveStatistics::default(),
            coverage: Coverage::new(exe),
            dead_handlers: None,
            stopped: Some(reason),
            remarks: Remarks::default(),
        };
        return Ok((report, Survey::default()));
    }
    let has_liveness = graph::has_liveness(exe);
    let setting = options.setting(exe, has_liveness);
    let sound = ProveOptions { reductions: options.reductions.within(&setting), ..options.clone() };
    let options = &sound;
    let has_network = !exe.network.is_default();
    let keep_answers = options.fairness == Some(Fairness::Weak);
    // Only the breadth-first search finds its witness by walking; others go by the answers of local states.
    let reductions = options.reductions;
    let has_graph = options.fairness.is_some() && has_liveness;
    let simplify = Simplify {
        counters: reductions.dead_variables && !has_graph,
        choose_counts: options.order != Order::Breadth || has_graph || has_network,
        broadcasts: reductions.broadcasts && exe.usage().broadcast_precondition().is_some(),
        ..reductions.simplify()
    };
    // Limits apply a little later to the search for a run that shows a violation which was seen.
    let last_call = LastCall(cancel);
    let sticky = StickyCancel::new(cancel);
    // What a first look leaves out, the search may have room for.
    let sticky_first = StickyCancel::new(cancel);
    // A machine under another name would give the names of choices again.
    let renames_machines = !options.data.as_ref().is_some_and(|plan| plan.has_names());
    let collects_garbage = reductions.machine_garbage
        && renames_machines
        && (!options.probes || machine_garbage::may_repeat_creations(exe));
    let new_locals = |is_shared, simplify, renumbers, cancel| {
        let (limits, bounds) = (options.limits, options.bounds);
        let mut locals = LocalStates::new(exe, limits, bounds, keep_answers, simplify, is_shared, cancel);
        locals.max_choices = options.max_choices;
        locals.set_data(options.data.clone());
        locals.renumbers = renumbers;
        Mutex::new(locals)
    };
    let probed = new_locals(false, simplify, reductions.counters, &sticky_first);
    let reach = if reductions.persistent_sets { Reach::new(exe) } else { None };
    let look = Context {
        label: "",
        options,
        locals: &probed,
        is_symmetric: false,
        collects_garbage,
        renumbers: reductions.counters,
        reach: reach.as_ref(),
        notes: None,
        observer,
        cancel: &sticky_first,
    };
    let uses_sets = reach.is_some() && (!options.probes || probe::sets_are_worth_it(look));
    let reach = reach.as_ref().filter(|_| uses_sets);
    // In the middle of broadcasts there is an order, and with sets these are few.
    let look = Context { reach: reach.filter(|_| simplify.broadcasts), ..look };
    let renumbers = reductions.counters && (!options.probes || probe::counters_are_worth_it(look));
    super::lock(&probed).renumbers = renumbers;
    let look = Context { renumbers, ..look };
    let is_symmetric = reductions.symmetry
        && renames_machines
        && (!options.probes || probe::symmetry_is_worth_it(look, simplify.broadcasts));
    if super::lock(&probed).lacks_broadcast_precondition() {
        let reductions = Reductions { broadcasts: false, ..reductions };
        return search_by_plan(exe, &ProveOptions { reductions, ..options.clone() }, observer, cancel, notes);
    }
    let locals = new_locals(options.n_threads > 1, simplify, renumbers, &sticky);
    super::lock(&locals).has_lazy_faults = reductions.lazy_faults;
    if options.peers.is_some() || options.checkpoint.is_some() {
        super::lock(&locals).record_content();
    }
    let label = label(options, &simplify, uses_sets, is_symmetric, renumbers);
    let is_helper = options.peers.as_ref().is_some_and(|peers| peers.0.number() > 0);
    // Those with faults where they happen and all numbers, if they are asked for.
    let whole;
    let cx = Context {
        label: &label,
        locals: &locals,
        cancel: &sticky,
        is_symmetric,
        reach,
        notes: notes.as_ref(),
        ..look
    };
    let (mut explored, counterexample) = match options.order {
        Order::Breadth => {
            let explored = breadth::search(cx);
            let has_broadcasts = simplify.broadcasts;
            if super::lock(&locals).lacks_broadcast_precondition() {
                let reductions = Reductions { broadcasts: false, ..reductions };
                let options = ProveOptions { reductions, ..options.clone() };
                return search_by_plan(exe, &options, observer, cancel, notes.map(|_| Notes::default()));
            }
            if is_helper && !matches!(explored.end, SearchEnd::Broken { .. }) {
                return Ok((helper_report(exe, options, &locals, explored), Survey::default()));
            }
            if let SearchEnd::Broken { depth } = explored.end {
                // How far threads came before they stopped is chance; the report is of the second search alone.
                // A way that tells all in another order is no way of the program.
                let simplify = Simplify { broadcasts: false, ..simplify };
                // It needs the memory that the search had.
                *super::lock(&locals) = unlocked(new_locals(false, simplify, renumbers, &sticky));
                let locals = new_locals(false, simplify, renumbers, &last_call);
                // What stopped the search need not stop this, unless it still holds.
                let cx = Context { locals: &locals, cancel, ..cx };
                if let Some(peers) = options.peers.as_ref().filter(|_| is_helper) {
                    owners::help(Context { cancel: &last_call, ..cx }, &*peers.0);
                    return Ok((helper_report(exe, options, &locals, explored), Survey::default()));
                }
                let depth = if has_broadcasts || cx.merges_steps() { u64::MAX } else { depth };
                let witness = witness(cx, exe, explored, depth);
                if let Some(peers) = &options.peers {
                    owners::dismiss(&*peers.0);
                }
                let (explored, counterexample, remarks) = witness?;
                let mut report = report(exe, options, &locals, explored, counterexample);
                report.remarks = remarks;
                return Ok((report, Survey::default()));
            }
            (explored, None)
        }
        Order::Depth => depth_first(depth::search(cx)?, cx, exe)?,
        Order::Deepening => depth_first(depth::deepening(cx)?, cx, exe)?,
    };
    let mut counterexample = counterexample;
    if explored.end == SearchEnd::Exhausted
        && let Some(reason) = sticky.first_reason()
    {
        explored.end = SearchEnd::Stopped(reason);
    }
    // Only liveness was left open.
    let mut is_finite = false;
    if counterexample.is_none()
        && explored.end == SearchEnd::Exhausted
        && let Some(fairness) = options.fairness
        && graph::has_liveness(exe)
    {
        let answer = if cx.has_lazy_faults() || cx.renumbers && fairness == Fairness::Weak {
            whole = new_locals(false, simplify, false, &sticky);
            graph::check(cx, Context { locals: &whole, renumbers: false, ..cx }, exe, fairness)?
        } else {
            graph::check(cx, cx, exe, fairness)?
        };
        // Where a step was left out because of a limit, the rest of the graph says nothing.
        match (answer, sticky.first_reason()) {
            (graph::Answer::Stopped(reason), _) | (_, Some(reason)) => {
                explored.end = SearchEnd::Stopped(reason);
                is_finite = true;
            }
            (graph::Answer::Holds, None) => {}
            (graph::Answer::Violated(found), None) => counterexample = Some(*found),
        }
    }
    let mut report = report(exe, options, &locals, explored, counterexample);
    if is_finite && report.statistics.covered != Covered::UpToUnknown {
        report.statistics.covered = Covered::Finite;
    }
    let survey = notes.as_ref().map_or_else(Survey::default, |notes| notes.survey(&super::lock(&locals)));
    Ok((report, survey))
}

/// Everything that decides what is explored, besides the program.
fn label(
    options: &ProveOptions,
    simplify: &Simplify,
    uses_sets: bool,
    is_symmetric: bool,
    renumbers: bool,
) -> String {
    let ProveOptions { store, bounds, max_choices, reductions, limits, .. } = options;
    let Limits { instructions, call_depth, machines, .. } = limits;
    let plan = options.data.as_ref().map(|plan| plan.label());
    format!(
        "{store:?} {bounds:?} {max_choices:?} {reductions:?} {simplify:?} sets {uses_sets} symmetry {is_symmetric} counters {renumbers} \
         limits {instructions} {call_depth} {machines} data {plan:?}"
    )
}

/// What a process says that has searched together with others, and is not the first of them.
fn helper_report(
    exe: &Executable,
    options: &ProveOptions,
    locals: &Mutex<LocalStates>,
    mut explored: Explored,
) -> ProveReport {
    let is_broken = matches!(explored.end, SearchEnd::Broken { .. });
    if !matches!(explored.end, SearchEnd::Stopped(_)) {
        explored.end =
            SearchEnd::Stopped(StopReason::Undecided { why: "process 0 has the report".to_owned() });
    }
    let mut report = report(exe, options, locals, explored, None);
    report.remarks.seen = is_broken.then_some(SeenViolation { n_steps: None });
    report
}

/// A breadth-first search that also says what it reached. When something breaks, that is only part of it.
///
/// # Errors
/// As [`prove`](super::prove()).
pub fn survey(
    exe: &Arc<Executable>,
    options: &ProveOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<(ProveReport, Survey), InternalError> {
    search(exe, options, observer, cancel, Some(Notes::default()))
}

fn unlocked<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What the path to a violation may cost beyond the limit of time, in transitions: many times what the search has cost.
fn allowed_transitions(explored: &Explored) -> u64 {
    explored.tally.n_transitions.saturating_mul(16).saturating_add(50_000_000)
}

/// The run to a violation of that depth; of any depth, where the search has counted otherwise: with merged steps, a run has
/// more steps than the search has layers.
fn witness(
    cx: Context<'_>,
    exe: &Arc<Executable>,
    mut explored: Explored,
    depth: u64,
) -> Result<(Explored, Option<Counterexample>, Remarks), InternalError> {
    // What processes have noted before they stopped is chance, too.
    explored.record = None;
    let allowance = Allowance { depth, most: None, transitions: allowed_transitions(&explored) };
    // Where steps were put off, the shortest path may be behind many more configurations: so many, and no more.
    // A limit that is met on the way leaves steps out, and the way is lost.
    let shortest = |cx: Context<'_>, allowance: Allowance| match counterexample::shortest(cx, allowance) {
        Err(error) => cx.stop_reason().map(Found::Stopped).ok_or(error),
        found => found,
    };
    let found = match (cx.reach, shortest(cx, allowance)?) {
        (Some(_), Found::Path { steps, tally, depth, is_shortest, record }) => {
            let most = if is_shortest { 4 * tally.n_configurations + 100_000 } else { 0 };
            let allowance = Allowance { depth, most: Some(most), ..allowance };
            match shortest(Context { reach: None, ..cx }, allowance)? {
                found @ Found::Path { .. } => found,
                Found::Stopped(_) | Found::TooMany | Found::Nothing => {
                    Found::Path { steps, tally, depth, is_shortest: false, record }
                }
            }
        }
        (_, found) => found,
    };
    match found {
        Found::Path { steps, tally, depth, is_shortest, record } => {
            explored.record = record;
            // Its figures do not depend on threads.
            explored.tally = tally;
            explored.depth = depth;
            let found = counterexample::counterexample(exe, cx.options.limits, &steps)?;
            let remarks = Remarks { may_be_shorter: !is_shortest, ..Remarks::default() };
            Ok((explored, Some(found), remarks))
        }
        Found::Stopped(reason) => {
            explored.end = SearchEnd::Stopped(reason);
            let n_steps = (depth != u64::MAX).then_some(depth);
            let remarks = Remarks { seen: Some(SeenViolation { n_steps }), ..Remarks::default() };
            Ok((explored, None, remarks))
        }
        Found::TooMany | Found::Nothing => Err(InternalError::OtherOutcome {
            expected: format!("a violation after {depth} steps"),
            found: "none".to_owned(),
        }),
    }
}

fn depth_first(
    found: depth::DepthFirst,
    cx: Context<'_>,
    exe: &Arc<Executable>,
) -> Result<(Explored, Option<Counterexample>), InternalError> {
    let counterexample = match &found.way {
        Some(steps) => Some(counterexample::counterexample(exe, cx.options.limits, steps)?),
        None => None,
    };
    Ok((found.explored, counterexample))
}

/// The report of what was explored.
pub(crate) fn report(
    exe: &Executable,
    options: &ProveOptions,
    locals: &Mutex<LocalStates>,
    explored: Explored,
    counterexample: Option<Counterexample>,
) -> ProveReport {
    let mut locals = super::lock(locals);
    let mut tally = explored.tally;
    locals.cuts().for_each(|cut| tally.cuts.add(cut));
    let record = explored.record.as_deref();
    // Depth-first searches have exact keys always.
    let store = if options.order == Order::Breadth { options.store } else { StoreKind::Exact };
    let omission = match store {
        StoreKind::Exact => 0.0,
        StoreKind::Fingerprint => omission(tally.n_configurations, 64),
        StoreKind::Wide => omission(tally.n_configurations, 128),
    };
    let stopped = match &explored.end {
        SearchEnd::Stopped(reason) => Some(reason.clone()),
        SearchEnd::Exhausted | SearchEnd::Broken { .. } => None,
    };
    let is_complete = stopped.is_none() && counterexample.is_none() && explored.unknown.is_none();
    let mut coverage = locals.coverage();
    coverage.merge_all(record.map_or(&[], |record| &record.coverage));
    let dead_handlers = (is_complete && tally.cuts.is_empty()).then(|| coverage.unused_handlers(exe));
    let simplified = record.map_or_else(
        || locals.n_simplified(),
        |record| record.simplified.each_ref().map(|known| known.len() as u64),
    );
    let statistics = ProveStatistics {
        n_configurations: tally.n_configurations,
        n_transitions: tally.n_transitions,
        depth: explored.depth,
        n_ends: tally.n_ends,
        largest_inbox: record.map_or(locals.largest_inbox() as u64, |record| record.largest_inbox) as u32,
        n_machines: tally.n_machines,
        n_local_states: record.map_or(locals.n_local_states(), |record| record.local_states.len()) as u64,
        n_messages: record.map_or(locals.n_messages(), |record| record.messages.len()) as u64,
        n_lookups: explored.n_lookups,
        n_misses: explored.n_misses,
        store,
        bytes_per_configuration: explored.store_bytes as f64 / tally.n_configurations.max(1) as f64,
        peak_bytes: explored.peak_bytes,
        saved: Saved {
            n_dead: simplified[0],
            n_unread: simplified[1],
            n_unordered: simplified[2],
            n_renamed: tally.n_renamed,
            n_collected: tally.n_collected,
            n_renumbered: tally.n_renumbered,
            n_persistent: tally.n_persistent,
            n_put_off: tally.n_put_off,
            n_merged: tally.n_merged,
            n_stuttering: tally.n_stuttering,
            n_equivalent: options.data.as_ref().map_or(0, |plan| plan.n_left_out()),
        },
        omission,
        covered: match (&stopped, &explored.unknown, tally.cuts.is_empty()) {
            (Some(_), _, _) if explored.n_covered > 0 => Covered::Steps(explored.n_covered),
            (Some(_), _, _) => Covered::Part,
            (None, Some(_), true) => Covered::UpToUnknown,
            _ => Covered::Unsaid,
        },
    };
    let verdict = match (counterexample, &stopped, explored.unknown) {
        (Some(found), _, _) => Verdict::Violated(Box::new(found)),
        (None, Some(reason), _) => Verdict::Unknown(reason.clone()),
        (None, None, Some(reason)) => Verdict::Unknown(reason),
        (None, None, None) => Verdict::Holds(guarantee(options, tally.cuts, omission)),
    };
    let is_cut_short = matches!(verdict, Verdict::Unknown(_)) && stopped.is_some();
    let growth = if is_cut_short { growth::growth(&locals, &explored.clock) } else { Vec::new() };
    let wide_choice =
        if is_cut_short { locals.wide_choice(record.and_then(|record| record.widest)) } else { None };
    let remarks = Remarks { growth, wide_choice, ..Remarks::default() };
    ProveReport { verdict, statistics, coverage, dead_handlers, stopped, remarks }
}

fn guarantee(options: &ProveOptions, cuts: Cuts, omission: f64) -> Guarantee {
    let bounds = &options.bounds;
    let hit: Vec<Bound> = [
        (Cut::Depth, bounds.depth.map(Bound::Steps)),
        (Cut::Inbox, bounds.inbox.map(Bound::InboxLength)),
        (Cut::Occurrences, bounds.occurrences.map(Bound::Occurrences)),
        (Cut::Machines, bounds.machines.map(Bound::Machines)),
        (Cut::Choices, options.max_choices.map(Bound::Choices)),
        (Cut::Variables, Some(Bound::Variables)),
    ]
    .into_iter()
    .filter(|(cut, _)| cuts.has(*cut))
    .filter_map(|(_, bound)| bound)
    .collect();
    match (hit.is_empty(), omission) {
        (false, _) => Guarantee::UpTo(hit),
        (true, 0.0) => Guarantee::Exhaustive,
        (true, omission) => Guarantee::Probable { omission },
    }
}

/// The chance that among so many fingerprints of so many bits two are equal.
fn omission(n: u64, bits: i32) -> f64 {
    let n = n as f64;
    -(-(n * (n - 1.0) / 2.0) / 2f64.powi(bits)).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omission_grows_with_the_square() {
        assert!(omission(1, 64) == 0.0);
        let billion = omission(1_000_000_000, 64);
        assert!((0.026..0.028).contains(&billion), "{billion}");
        assert!((1e-21..2e-21).contains(&omission(1_000_000_000, 128)));
    }
}
