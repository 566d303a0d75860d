//! From a violation as it was found to one that can be shown: shrunk, replayed, traced.

use std::sync::Arc;

use allways_machine::{Executable, Outcome, Tracer, replay};
use allways_run::{Counterexample, Entry, Violation};

use crate::check::{RawFinding, is_of_kernel, same_place};
use crate::options::{Cancel, CheckOptions};
use crate::report::{Finding, InternalError};

pub(crate) fn finish(
    exe: &Arc<Executable>,
    options: &CheckOptions,
    raw: RawFinding,
    _cancel: &dyn Cancel,
) -> Result<Finding, InternalError> {
    let found_length = raw.schedule.len() as u64;
    let mut tracer = Tracer::default();
    let error = |error| InternalError::Replay { index: raw.index, error };
    let kernel = replay(exe, options.limits, &raw.schedule, &mut tracer).map_err(error)?;
    let outcome = kernel.outcome().clone();
    let mut trace = tracer.finish(&outcome);
    let violation = if is_of_kernel(raw.violation.kind) {
        match outcome {
            Outcome::Violated(found) if same_place(&found, &raw.violation) => *found,
            other => return Err(differs(&raw, &other)),
        }
    } else {
        let Outcome::Running = outcome else { return Err(differs(&raw, &outcome)) };
        let violation: Violation = (*raw.violation).clone();
        if let Some(step) = trace.steps.last_mut() {
            step.entries.push(Entry::Fault(violation.clone()));
        }
        trace.violation = Some(violation.clone());
        violation
    };
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

fn differs(raw: &RawFinding, found: &Outcome) -> InternalError {
    InternalError::OtherOutcome {
        index: raw.index,
        expected: format!("{}: {}", raw.violation.kind.as_str(), raw.violation.message),
        found: format!("{found:?}"),
    }
}
