//! The published algorithm: one frontier of value summaries, step by step (PSYM, algorithms 2 and 3).
//!
//! It is here for comparison and for the paper's tables; sets of state vectors (`engine`) are what decides large programs.
//! Guards remember how a configuration was reached, so an assignment of the guard of an error is a schedule: each choice is in the log with its guard,
//! and those whose guards hold under the assignment, in order, are the run. The kernel replays it.
//!
//! The search ends when every run has ended, or has come back to a configuration that it had before (`checkFixed`). The latter compares
//! with all frontiers before, so its cost grows with the square of the steps.

use std::cell::RefCell;
use std::sync::Arc;

use allways_lifted::run::stop_reason;
use allways_lifted::{Filters, Frontier, Guards, Lifted, Values};
use allways_machine::Executable;
use allways_run::{
    Bound, Cancel, Choice, Counterexample, Guarantee, Limits, NetworkModel, Observer, Progress, Schedule,
    StopReason, Verdict,
};

use super::engine::on_large_stack;
use super::filters::{self, FilterNames, Seen};
use crate::confirm::confirm_kind;
use crate::error::InternalError;
use crate::search::options::{ProveOptions, SearchBounds};
use crate::search::stop::StickyCancel;

/// Guard nodes after which a collection is worth its time.
const COLLECT_AFTER: usize = 1 << 17;

/// Options of the published algorithm.
#[derive(Clone, Debug)]
pub struct PaperOptions {
    /// Bounds and limits; the rest has no meaning here.
    pub search: ProveOptions,
    /// Whether repeated configurations end a run (`checkFixed`). Without it, a program with infinite runs has no end.
    pub checks_fixed: bool,
    pub filters: FilterNames,
    /// Search without filters, too, and compare.
    pub checks_filters: bool,
}

impl Default for PaperOptions {
    fn default() -> Self {
        PaperOptions {
            search: ProveOptions::default(),
            checks_fixed: true,
            filters: FilterNames::default(),
            checks_filters: false,
        }
    }
}

/// Figures of a search.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PaperFigures {
    /// Steps of the frontier.
    pub n_steps: u64,
    /// Variables of guards: scheduling choices and data choices.
    pub n_variables: u64,
    /// Lifted runs of machines and monitors.
    pub n_runs: u64,
    /// Ops executed on summaries, and single values given to the kernel.
    pub n_ops: u64,
    pub n_pointwise: u64,
    pub n_summaries: u64,
    pub peak_nodes: u64,
    pub n_operations: u64,
    pub n_collections: u64,
    /// Instances that exist in some run.
    pub n_machines: u64,
    /// Steps that filters took away.
    pub n_pruned: u64,
    pub peak_bytes: u64,
}

pub struct PaperReport {
    pub verdict: Verdict,
    pub stopped: Option<StopReason>,
    pub figures: PaperFigures,
    /// Whether filters lose something, if that was asked for.
    pub comparison: Option<String>,
}

/// Why the published algorithm has no answer under these options, if so: one sentence for users.
pub fn unsupported(exe: &Executable, options: &ProveOptions, filters: &FilterNames) -> Option<String> {
    if !exe.invariants.is_empty() {
        return Some("`--symbolic paper` with invariants".to_owned());
    }
    let model = exe.network.options().model;
    if !matches!(model, NetworkModel::Inbox | NetworkModel::Fifo) {
        return Some(format!("`--symbolic paper` over network `{}`", model.as_str()));
    }
    if exe.network.has_faults() || exe.network.has_crashes() {
        return Some("`--symbolic paper` with lost or duplicated messages or crashes".to_owned());
    }
    let SearchBounds { depth: _, inbox, occurrences, machines, variables } = &options.bounds;
    let is_bounded = inbox.is_some() || occurrences.is_some() || machines.is_some();
    if is_bounded || *variables != Default::default() || options.max_choices.is_some() {
        return Some("`--symbolic paper` with a bound other than `--max-depth`".to_owned());
    }
    filters.unsupported(exe, true)
}

/// Explores all runs of a test, within a bound of steps.
///
/// # Errors
/// When a violation was found that does not replay: a fault of Allways.
pub fn prove(
    exe: &Arc<Executable>,
    options: &PaperOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<PaperReport, InternalError> {
    let unknown = |reason: StopReason| PaperReport {
        verdict: Verdict::Unknown(reason.clone()),
        stopped: Some(reason),
        figures: PaperFigures::default(),
        comparison: None,
    };
    if let Some(what) = unsupported(exe, &options.search, &options.filters) {
        return Ok(unknown(StopReason::Unsupported { what }));
    }
    if let Some(reason) = crate::search::observed_text(exe) {
        return Ok(unknown(reason));
    }
    let run = |options: &PaperOptions| {
        let memory = StopReason::Memory { bytes: options.search.limits.memory_bytes.unwrap_or(0) };
        on_large_stack(|| search(exe, options, observer, cancel))
            .unwrap_or_else(|| Ok((unknown(memory), Seen::default())))
    };
    let (found, seen) = run(options)?;
    if !options.checks_filters || options.filters.is_empty() {
        return Ok(found);
    }
    let (mut whole, all) = run(&PaperOptions { filters: FilterNames::default(), ..options.clone() })?;
    whole.comparison = Some(filters::compare(exe, (&found.verdict, &seen), (&whole.verdict, &all)));
    Ok(whole)
}

fn search(
    exe: &Arc<Executable>,
    options: &PaperOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<(PaperReport, Seen), InternalError> {
    let limits = options.search.limits;
    let sticky = StickyCancel::new(cancel);
    let reason = RefCell::new(None);
    let stop = || {
        if observer.should_stop() {
            reason.borrow_mut().get_or_insert(StopReason::Interrupted);
        }
        if let Some(found) = sticky.reason() {
            reason.borrow_mut().get_or_insert(found);
        }
        reason.borrow().is_some()
    };
    let max_bytes =
        limits.memory_bytes.map_or(usize::MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let guards = Guards::new(max_bytes, &stop);
    let mut lifted = Lifted::new(exe, Values::new(guards, exe.new_store()), limits);
    // Names were looked up before.
    let filters = options.filters.resolve(exe).unwrap_or_default();
    let mut frontier = Frontier::new(&mut lifted, limits, &filters);
    let mut filters = Filters::new(&filters, &lifted);
    let mut seen = Seen::default();
    let mut earlier: Vec<Frontier> = Vec::new();
    let mut figures = PaperFigures::default();
    let mut collect_at = COLLECT_AFTER;
    let verdict = loop {
        lifted.values.guards.poll();
        if options.checks_fixed && !frontier.path.is_false() {
            let covered = covered(&frontier, &earlier, &mut lifted);
            if !covered.is_false() {
                frontier.restrict(&mut lifted.values, covered.not());
            }
            earlier.push(frontier.clone());
        }
        note(&mut figures, &lifted, &frontier);
        if options.checks_filters {
            frontier.each_control(&lifted, |control| {
                seen.insert(control);
            });
        }
        observer.progress(&progress(&figures, &lifted));
        if let Some(halt) = lifted.values.guards.halted() {
            break Verdict::Unknown(stop_reason(
                halt,
                reason.borrow().clone(),
                limits.memory_bytes.unwrap_or(0),
            ));
        }
        if frontier.path.is_false() {
            break match lifted.unknown.clone() {
                Some(reason) => Verdict::Unknown(reason),
                None => Verdict::Holds(Guarantee::Exhaustive),
            };
        }
        if let Some(depth) = options.search.bounds.depth
            && figures.n_steps >= depth
        {
            // Runs that have ended here are judged, others are cut.
            let cut = frontier.end_here(&mut lifted);
            if lifted.values.guards.halted().is_some() {
                continue;
            }
            if let Some(found) = first_error(exe, &lifted, limits)? {
                break Verdict::Violated(Box::new(found));
            }
            break match (lifted.unknown.clone(), cut) {
                (Some(reason), _) => Verdict::Unknown(reason),
                (None, true) => Verdict::Holds(Guarantee::UpTo(vec![Bound::Steps(depth)])),
                (None, false) => Verdict::Holds(Guarantee::Exhaustive),
            };
        }
        figures.n_steps += 1;
        frontier.step(&mut lifted, &mut filters);
        figures.n_pruned = filters.n_pruned;
        if lifted.values.guards.halted().is_some() {
            continue;
        }
        if let Some(found) = first_error(exe, &lifted, limits)? {
            break Verdict::Violated(Box::new(found));
        }
        if lifted.values.guards.usage().n_nodes > collect_at {
            let mut roots = Vec::new();
            let mut visit = |guard| roots.push(guard);
            lifted.each_guard(&mut visit);
            frontier.each_guard(&mut visit);
            filters.each_guard(&mut visit);
            earlier.iter().for_each(|frontier| frontier.each_guard(&mut visit));
            lifted.values.guards.collect(roots);
            collect_at = COLLECT_AFTER.max(2 * lifted.values.guards.usage().n_nodes);
        }
        lifted.values.share_memory();
    };
    note(&mut figures, &lifted, &frontier);
    let stopped = match &verdict {
        Verdict::Unknown(reason) => Some(reason.clone()),
        Verdict::Holds(_) | Verdict::Violated(_) => None,
    };
    Ok((PaperReport { verdict, stopped, figures, comparison: None }, seen))
}

/// Where each run has come back to a configuration that it had before.
fn covered(frontier: &Frontier, earlier: &[Frontier], lifted: &mut Lifted<'_>) -> allways_lifted::Guard {
    let mut covered = allways_lifted::Guard::FALSE;
    for before in earlier.iter().rev() {
        let same = frontier.covered(before, &mut lifted.values);
        covered = lifted.values.guards.or(covered, same);
        if covered == frontier.path || lifted.values.guards.halted().is_some() {
            break;
        }
    }
    covered
}

/// The first property that broke, as a run.
fn first_error(
    exe: &Arc<Executable>,
    lifted: &Lifted<'_>,
    limits: Limits,
) -> Result<Option<Counterexample>, InternalError> {
    let Some((assignment, kind)) =
        lifted.errors.iter().find_map(|&(guard, kind)| Some((lifted.values.guards.pick(guard)?, kind)))
    else {
        return Ok(None);
    };
    let holds =
        |&&(guard, _): &&(allways_lifted::Guard, Choice)| lifted.values.guards.holds(guard, &assignment);
    let choices = lifted.log.iter().filter(holds).map(|&(_, choice)| choice).collect();
    confirm_kind(exe, limits, Schedule { choices }, kind).map(Some)
}

fn note(figures: &mut PaperFigures, lifted: &Lifted<'_>, frontier: &Frontier) {
    let usage = lifted.values.guards.usage();
    figures.n_variables = usage.n_variables.into();
    figures.n_runs = lifted.figures.n_runs;
    figures.n_ops = lifted.figures.n_ops;
    figures.n_pointwise = lifted.figures.n_pointwise;
    figures.n_summaries = lifted.values.n_made;
    figures.peak_nodes = usage.peak_nodes as u64;
    figures.n_operations = usage.n_operations;
    figures.n_collections = usage.n_collections;
    figures.n_machines = figures.n_machines.max(frontier.n_machines() as u64);
    figures.peak_bytes = figures.peak_bytes.max(lifted.values.n_bytes() as u64);
}

fn progress(figures: &PaperFigures, lifted: &Lifted<'_>) -> Progress {
    Progress {
        n_steps: figures.n_steps,
        depth: figures.n_steps,
        bytes: Some(figures.peak_bytes),
        n_nodes: Some(lifted.values.guards.usage().n_nodes as u64),
        ..Progress::default()
    }
}
