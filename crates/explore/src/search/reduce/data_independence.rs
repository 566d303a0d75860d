//! Data independence: chosen numbers that a program only carries are one answer.
//!
//! The kernel finds out by itself which numbers a program tells apart ([`allways_machine::data`]); here is the loop that
//! repeats a search with a finer plan until nothing more is reported. A repetition is cheap, since most reports come in the
//! first steps.
//!
//! Needs: answers that may be represented by others, so no bound on answers or on variables, and no fairness that looks at
//! single answers. Preserves: verdicts, terminal configurations and local states up to the chosen numbers, lengths of runs,
//! liveness under `random` fairness.

use std::sync::Arc;

use allways_machine::{DataPlan, Executable};
use allways_run::{Cancel, Either, StopReason};

use super::super::options::ProveOptions;
use crate::liveness::Fairness;

/// Whether the reduction applies to a search.
pub(crate) fn applies(options: &ProveOptions) -> bool {
    options.reductions.data_independence
        && options.max_choices.is_none()
        && options.bounds.variables == Default::default()
        && options.fairness != Some(Fairness::Weak)
}

/// Runs a search with finer and finer plans, until it reports nothing that its plan leaves out, or until it has a result that
/// counts anyhow: a violation.
pub(crate) fn refine<R>(
    exe: &Executable,
    applies: bool,
    cancel: &dyn Cancel,
    mut run: impl FnMut(Option<Arc<DataPlan>>, &dyn Cancel) -> R,
    counts_anyhow: impl Fn(&R) -> bool,
) -> R {
    let mut plan = if applies { DataPlan::coarsest(exe) } else { None };
    loop {
        let Some(present) = plan else { return run(None, cancel) };
        let must_stop = || present.has_learned().then_some(StopReason::Interrupted);
        let result = run(Some(present.clone()), &Either(cancel, must_stop));
        if !present.has_learned() || counts_anyhow(&result) {
            return result;
        }
        // When a limit is reached, the next search ends at once and says so.
        let refined = present.refined();
        plan = (!refined.is_trivial()).then_some(refined);
    }
}
