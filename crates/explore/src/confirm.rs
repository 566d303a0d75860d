//! The gate for counterexamples: nothing leaves an engine that the kernel has not replayed here.
//!
//! An engine makes a [`Claim`]: this schedule breaks that property. The kernel runs the schedule anew, into a trace, and must meet
//! the same kind of violation at the same construct. Of a lasso it also goes twice round the loop, and must come back to the same
//! configuration, with the monitor hot and never cold on it. A claim that does not hold is an [`InternalError`], a fault of
//! Allways, and never a verdict.

use std::sync::Arc;

use allways_machine::invariant::Truth;
use allways_machine::value::InstanceNames;
use allways_machine::{Executable, Kernel, Outcome, Tracer, replay, replay_on};
use allways_run::{Choice, Counterexample, Limits, Schedule, StopReason, Trace, Violation, ViolationKind};

use crate::error::InternalError;
use crate::liveness::heat::{Heat, StepHeat, standing};
use crate::shrink::{same_place, steps_of};

/// What an engine says it has found.
#[derive(Clone, Debug)]
pub struct Claim {
    pub violation: Violation,
    pub schedule: Schedule,
    /// Of a lasso: the choice with which its loop begins.
    pub loop_start: Option<usize>,
}

/// The counterexample of a claim that holds.
///
/// # Errors
/// When the kernel does not meet the violation again.
pub fn confirm(exe: &Arc<Executable>, limits: Limits, claim: Claim) -> Result<Counterexample, InternalError> {
    confirm_on(&mut Kernel::new(exe.clone(), limits), claim)
}

/// The same on a kernel that may be stopped. A claim whose replay is cut off by a limit passes without a trace: the kernel
/// has met the violation before, when it was found.
pub(crate) fn confirm_on(kernel: &mut Kernel, claim: Claim) -> Result<Counterexample, InternalError> {
    if let Some(loop_start) = claim.loop_start {
        confirm_lasso(kernel, &claim, loop_start)?;
    }
    let (violation, trace) = confirm_end(kernel, &claim)?;
    Ok(Counterexample { violation, schedule: claim.schedule, loop_start: claim.loop_start, trace })
}

/// The counterexample of a schedule of which only the kind of violation is known that it ends in.
pub(crate) fn confirm_kind(
    exe: &Arc<Executable>,
    limits: Limits,
    schedule: Schedule,
    kind: ViolationKind,
) -> Result<Counterexample, InternalError> {
    let mut tracer = Tracer::default();
    let replayed = replay(exe, limits, &schedule, &mut tracer)?;
    let outcome = replayed.outcome().clone();
    match outcome {
        Outcome::Violated(violation) if violation.kind == kind => {
            let trace = tracer.finish(&replayed);
            Ok(Counterexample { violation: *violation, schedule, loop_start: None, trace })
        }
        other => Err(InternalError::differs(kind.as_str(), &other)),
    }
}

/// The trace of a schedule after which the run goes on.
pub(crate) fn confirm_running(
    exe: &Arc<Executable>,
    limits: Limits,
    schedule: &Schedule,
) -> Result<Trace, InternalError> {
    let mut tracer = Tracer::default();
    let replayed = replay(exe, limits, schedule, &mut tracer)?;
    match replayed.outcome() {
        Outcome::Running => Ok(tracer.finish(&replayed)),
        other => Err(InternalError::differs("a lasso", other)),
    }
}

/// The counterexample of a schedule after which an invariant of the user does not hold, by its number.
///
/// # Errors
/// When it holds, or the kernel meets a violation.
pub fn confirm_invariant(
    exe: &Arc<Executable>,
    limits: Limits,
    schedule: Schedule,
    number: usize,
) -> Result<Counterexample, InternalError> {
    let mut tracer = Tracer::default();
    let mut kernel = replay(exe, limits, &schedule, &mut tracer)?;
    if !matches!(kernel.outcome(), Outcome::Running | Outcome::Quiescent) {
        return Err(InternalError::differs("a broken invariant", kernel.outcome()));
    }
    let Some(violation) = broken_invariant(&mut kernel, number) else {
        return Err(InternalError::differs("a broken invariant", kernel.outcome()));
    };
    let mut trace = tracer.finish(&kernel);
    trace.fail(&violation);
    Ok(Counterexample { violation, schedule, loop_start: None, trace })
}

/// The violation of an invariant of the user, by its number, in the present configuration of a kernel.
pub fn broken_invariant(kernel: &mut Kernel, number: usize) -> Option<Violation> {
    let exe = kernel.executable().clone();
    let invariant = exe.invariants.get(number)?;
    let (truth, machines) = kernel.check_invariant(invariant);
    let mut message = match truth {
        Truth::Holds | Truth::DependsOn(_) | Truth::Unknown(_) => return None,
        Truth::Fails => "The invariant does not hold".to_owned(),
        Truth::Fault(_, text) => {
            format!(
                "The invariant cannot be evaluated: {}",
                kernel.scene().reveal(text.trim_end_matches('.'))
            )
        }
    };
    let named = invariant.variables.iter().zip(machines);
    for (at, (&(_, name), machine)) in named.filter_map(|(it, machine)| Some((it, machine?))).enumerate() {
        message.push_str(if at == 0 { " for " } else { ", " });
        message.push_str(&format!("{} = ", exe.symbols.text(name)));
        kernel.scene().write_instance(machine, &mut message);
    }
    message.push('.');
    let kind = ViolationKind::Invariant;
    Some(Violation { kind, message, span: Some(invariant.span), machine: None, monitor: None })
}

/// Replays into a trace that ends in the violation.
fn confirm_end(kernel: &mut Kernel, claim: &Claim) -> Result<(Violation, Trace), InternalError> {
    let kind = &claim.violation.kind;
    let mut tracer = Tracer::default();
    // The tracer compares values of one step with those of the next.
    kernel.set_transient(false);
    if matches!(kind, ViolationKind::StepBound(_)) {
        // It may have come to its bound in the middle of a handler.
        kernel.bound_choices(claim.schedule.len() as u64);
    }
    let replayed = replay_on(kernel, &claim.schedule, &mut tracer);
    let outcome = kernel.outcome().clone();
    let failed_by = |mut trace: Trace| {
        trace.fail(&claim.violation);
        Ok((claim.violation.clone(), trace))
    };
    if is_stopped(kernel) {
        return failed_by(Trace::default());
    }
    replayed?;
    let trace = tracer.finish(kernel);
    // The kernel knows nothing of these: the run just goes on.
    let goes_on = matches!(kind, ViolationKind::Liveness(_) | ViolationKind::StepBound(_));
    match outcome {
        Outcome::Violated(found) if !goes_on && same_place(&found, &claim.violation) => Ok((*found, trace)),
        Outcome::Running | Outcome::Unknown(StopReason::ChoiceBound(_)) if goes_on => failed_by(trace),
        other => Err(differs(claim, format!("{other:?}"))),
    }
}

/// A limit has cut the replay.
fn is_stopped(kernel: &Kernel) -> bool {
    use StopReason::{Interrupted, Memory, Time};
    matches!(kernel.outcome(), Outcome::Unknown(Time(_) | Memory { .. } | Interrupted))
}

fn differs(claim: &Claim, found: String) -> InternalError {
    let Violation { kind, message, .. } = &claim.violation;
    InternalError::OtherOutcome { expected: format!("{}: {message}", kind.as_str()), found }
}

fn confirm_lasso(kernel: &mut Kernel, claim: &Claim, loop_start: usize) -> Result<(), InternalError> {
    let exe = kernel.executable().clone();
    let heat = Heat::new(&exe);
    let bit = claim.violation.monitor.and_then(|monitor| 1u64.checked_shl(monitor as u32)).unwrap_or(0);
    let (stem, lap) = claim.schedule.choices.split_at(loop_start);
    let mut rounds = Vec::new();
    for n_rounds in 0..3 {
        let choices: Vec<Choice> =
            stem.iter().chain(lap.iter().cycle().take(n_rounds * lap.len())).copied().collect();
        let mut passing = StepHeat { heat: &heat, hot: 0, cold: 0 };
        let replayed = replay_on(kernel, &Schedule { choices }, &mut passing);
        if is_stopped(kernel) {
            return Ok(());
        }
        replayed?;
        rounds.push(kernel.encoded());
    }
    if rounds.iter().any(|bytes| *bytes != rounds[0]) {
        return Err(differs(claim, "the loop does not close".to_owned()));
    }
    let mut hot = 0;
    let mut cold = 0;
    let mut passing = StepHeat { heat: &heat, hot: 0, cold: 0 };
    let replayed = replay_on(kernel, &Schedule { choices: stem.to_vec() }, &mut passing);
    if is_stopped(kernel) {
        return Ok(());
    }
    replayed?;
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
        return Err(differs(claim, "the monitor is cold in the loop, or never hot".to_owned()));
    }
    Ok(())
}
