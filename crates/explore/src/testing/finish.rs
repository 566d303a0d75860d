//! From a violation as it was found to one that can be shown: shrunk, replayed, traced.
//!
//! Nothing leaves the engine that has not been replayed here. A lasso is replayed twice round its loop, and must come
//! back to the same configuration without the monitor ever being cold.

use std::sync::Arc;

use allways_machine::{Executable, Kernel, Outcome, Tracer, replay_on};
use allways_run::{
    Cancel, Certainty, Choice, Counterexample, LastCall, Schedule, StopReason, Trace, Violation,
    ViolationKind,
};

use super::options::CheckOptions;
use super::report::Finding;
use super::strategy::StrategyKind;
use crate::error::InternalError;
use crate::liveness::Fairness;
use crate::liveness::heat::{Heat, StepHeat, standing};
use crate::liveness::{self, Break, Search};
use crate::shrink::same_place;
use crate::shrink::{Shrinker, Step, follow, schedule_of, shrink, steps_of};

/// A violation as it was found.
#[derive(Clone, Debug)]
pub(crate) struct RawFinding {
    pub index: u64,
    pub strategy: StrategyKind,
    pub violation: Box<Violation>,
    pub schedule: Schedule,
    pub loop_start: Option<usize>,
    pub n_schedules: u64,
}

impl RawFinding {
    pub fn new(index: u64, strategy: StrategyKind, run: &Schedule, found: Break) -> Self {
        let mut schedule = run.clone();
        schedule.choices.extend(found.more);
        let loop_start = found.n_lap.map(|n_lap| schedule.len() - n_lap);
        RawFinding { index, strategy, violation: found.violation, schedule, loop_start, n_schedules: 1 }
    }

    /// Whether both broke the same property in the same place.
    pub fn is_same(&self, other: &RawFinding) -> bool {
        same_place(&self.violation, &other.violation)
    }
}

pub(crate) fn finish(
    exe: &Arc<Executable>,
    options: &CheckOptions,
    mut raw: RawFinding,
    cancel: &dyn Cancel,
) -> Result<Finding, InternalError> {
    let found_length = raw.schedule.len() as u64;
    let is_cancelled = || cancel.reason().is_some();
    let budget = options.shrink_steps;
    let mut kernel = Kernel::with_stop(exe.clone(), options.limits, cancel);
    kernel.set_transient(true);
    match raw.violation.kind {
        _ if budget == 0 => {}
        ViolationKind::Liveness(Certainty::Certain) => {
            // A lasso of the graph search from the beginning has a shortest stem already.
            if raw.strategy != StrategyKind::DepthFirst {
                shrink_lasso(&mut kernel, options, &mut raw, &is_cancelled);
            }
        }
        // Their length is the point.
        ViolationKind::Liveness(Certainty::Potential) | ViolationKind::StepBound(_) => {}
        _ => raw.schedule = shrink(&mut kernel, &raw.schedule, &raw.violation, budget, &is_cancelled),
    }
    let last_call = LastCall(cancel);
    let mut kernel = Kernel::with_stop(exe.clone(), options.limits, &last_call);
    kernel.set_transient(true);
    if let Some(loop_start) = raw.loop_start {
        confirm_lasso(&mut kernel, &raw, loop_start)?;
    }
    let (violation, trace) = confirm(&mut kernel, &raw)?;
    Ok(Finding {
        index: raw.index,
        strategy: raw.strategy,
        counterexample: Counterexample {
            violation,
            schedule: raw.schedule,
            loop_start: raw.loop_start,
            trace,
        },
        found_length,
        n_schedules: raw.n_schedules,
    })
}

/// Replays into a trace that ends in the violation.
fn confirm(kernel: &mut Kernel, raw: &RawFinding) -> Result<(Violation, Trace), InternalError> {
    let mut tracer = Tracer::default();
    let error = |error| InternalError::Replay { index: raw.index, error };
    // The tracer compares values of one step with those of the next.
    kernel.set_transient(false);
    if matches!(raw.violation.kind, ViolationKind::StepBound(_)) {
        // It may have come to its bound in the middle of a handler.
        kernel.bound_choices(raw.schedule.len() as u64);
    }
    let replayed = replay_on(kernel, &raw.schedule, &mut tracer);
    let outcome = kernel.outcome().clone();
    if is_stopped(kernel) {
        // The kernel has met the violation before; only the trace is missing.
        let violation: Violation = (*raw.violation).clone();
        let mut trace = Trace::default();
        trace.fail(&violation);
        return Ok((violation, trace));
    }
    replayed.map_err(error)?;
    let mut trace = tracer.finish(kernel);
    let is_of_kernel =
        !matches!(raw.violation.kind, ViolationKind::Liveness(_) | ViolationKind::StepBound(_));
    match outcome {
        Outcome::Violated(found) if is_of_kernel && same_place(&found, &raw.violation) => Ok((*found, trace)),
        // The kernel knows nothing of these: the run just goes on.
        Outcome::Running | Outcome::Unknown(StopReason::ChoiceBound(_)) if !is_of_kernel => {
            let violation: Violation = (*raw.violation).clone();
            trace.fail(&violation);
            Ok((violation, trace))
        }
        other => Err(differs(raw, format!("{other:?}"))),
    }
}

/// A limit has cut the replay.
fn is_stopped(kernel: &Kernel) -> bool {
    use StopReason::{Interrupted, Memory, Time};
    matches!(kernel.outcome(), Outcome::Unknown(Time(_) | Memory { .. } | Interrupted))
}

fn differs(raw: &RawFinding, found: String) -> InternalError {
    InternalError::OtherOutcome {
        index: raw.index,
        expected: format!("{}: {}", raw.violation.kind.as_str(), raw.violation.message),
        found,
    }
}

fn confirm_lasso(kernel: &mut Kernel, raw: &RawFinding, loop_start: usize) -> Result<(), InternalError> {
    let error = |error| InternalError::Replay { index: raw.index, error };
    let exe = kernel.executable().clone();
    let heat = Heat::new(&exe);
    let bit = raw.violation.monitor.and_then(|monitor| 1u64.checked_shl(monitor as u32)).unwrap_or(0);
    let (stem, lap) = raw.schedule.choices.split_at(loop_start);
    let mut rounds = Vec::new();
    for n_rounds in 0..3 {
        let choices: Vec<Choice> =
            stem.iter().chain(lap.iter().cycle().take(n_rounds * lap.len())).copied().collect();
        let mut passing = StepHeat { heat: &heat, hot: 0, cold: 0 };
        let replayed = replay_on(kernel, &Schedule { choices }, &mut passing);
        if is_stopped(kernel) {
            return Ok(());
        }
        replayed.map_err(error)?;
        let mut bytes = Vec::new();
        kernel.encode(&mut bytes);
        rounds.push((bytes, passing.hot, passing.cold));
    }
    if rounds.iter().any(|(bytes, _, _)| *bytes != rounds[0].0) {
        return Err(differs(raw, "the loop does not close".to_owned()));
    }
    let mut hot = 0;
    let mut cold = 0;
    let mut passing = StepHeat { heat: &heat, hot: 0, cold: 0 };
    let replayed = replay_on(kernel, &Schedule { choices: stem.to_vec() }, &mut passing);
    if is_stopped(kernel) {
        return Ok(());
    }
    replayed.map_err(error)?;
    for step in steps_of(lap) {
        let mut passing = StepHeat { heat: &heat, hot: 0, cold: 0 };
        step.take(kernel, &mut passing);
        let standing = standing(kernel);
        hot |= passing.hot | standing.0;
        cold |= passing.cold | standing.1;
    }
    if is_stopped(kernel) {
        return Ok(());
    }
    if hot & bit == 0 || cold & bit != 0 {
        return Err(differs(raw, "the monitor is cold in the loop, or never hot".to_owned()));
    }
    Ok(())
}

/// Looks for the earliest point of no return, then leaves out what does not matter before it.
fn shrink_lasso(
    kernel: &mut Kernel,
    options: &CheckOptions,
    raw: &mut RawFinding,
    is_cancelled: &dyn Fn() -> bool,
) {
    let (Some(loop_start), Some(monitor)) = (raw.loop_start, raw.violation.monitor) else { return };
    let exe = kernel.executable().clone();
    let heat = Heat::new(&exe);
    let allowance = options.liveness.allowance();
    let search = |kernel: &mut Kernel| match options.liveness.fairness {
        Fairness::Random => liveness::random::search(kernel, &heat, monitor, allowance, is_cancelled),
        Fairness::Weak => liveness::weak::search(kernel, &heat, allowance, is_cancelled),
    };
    let is_lasso = |found: &Search| matches!(found, Search::Lasso { monitor: m, .. } if *m == monitor);
    let stem = steps_of(&raw.schedule.choices[..loop_start]);
    // From the point of no return on every configuration is one, so halving finds the first.
    let (mut low, mut high) = (0, stem.len());
    while low < high {
        let middle = low + (high - low) / 2;
        follow(kernel, &stem[..middle], &mut allways_machine::Silent);
        if kernel.is_running() && is_lasso(&search(kernel)) { high = middle } else { low = middle + 1 }
    }
    // A search costs about as many steps as it may visit configurations.
    let price = allowance.configurations as u64 / 16;
    let mut test = |kernel: &mut Kernel, candidate: &[Step]| {
        follow(kernel, candidate, &mut allways_machine::Silent);
        let cost = kernel.n_steps() + price;
        let holds = kernel.is_running() && is_lasso(&search(kernel));
        (holds.then(|| steps_of(&kernel.schedule().choices)), cost)
    };
    let best = stem[..high].to_vec();
    let mut shrinker =
        Shrinker { kernel: &mut *kernel, best, left: options.shrink_steps, test: &mut test, is_cancelled };
    shrinker.run();
    let best = shrinker.best;
    follow(kernel, &best, &mut allways_machine::Silent);
    let Search::Lasso { monitor: found, stem, lap } = search(kernel) else { return };
    if found != monitor {
        return;
    }
    let mut schedule = schedule_of(&best);
    schedule.choices.extend(stem);
    let start = schedule.len();
    schedule.choices.extend(lap);
    if schedule.len() <= raw.schedule.len() {
        raw.loop_start = Some(start);
        raw.schedule = schedule;
    }
}
