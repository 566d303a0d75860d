//! Liveness of monitors on the graph of configurations (semantics.md, section 6). Not yet: see `check`.

use allways_machine::Executable;
use allways_p::hir::Temperature;
use allways_run::{Counterexample, StopReason};

use super::breadth::Context;
use crate::options::Fairness;
use crate::report::InternalError;

/// What the search for infinite runs says.
pub(super) enum Answer {
    Holds,
    Violated(Counterexample),
    Stopped(StopReason),
}

/// Whether some monitor has a hot state.
pub(super) fn has_liveness(exe: &Executable) -> bool {
    exe.monitors.iter().any(|monitor| {
        !exe.machines[monitor.machine as usize].is_scenario
            && exe
                .states
                .iter()
                .any(|state| state.machine == monitor.machine && state.temperature == Temperature::Hot)
    })
}

pub(super) fn check(_: Context<'_>, _: Fairness) -> Result<Answer, InternalError> {
    Ok(Answer::Stopped(StopReason::Unsupported { what: "liveness of infinite runs".to_owned() }))
}
