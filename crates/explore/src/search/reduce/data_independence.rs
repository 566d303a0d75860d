//! Data independence: chosen numbers that a program only carries are one answer.
//!
//! The kernel finds out by itself which numbers a program distinguishes ([`allways_machine::data`]); here is the loop that
//! repeats a search with a finer plan until nothing more is reported. A repetition is cheap, since most reports come in the
//! first steps.
//!
//! Where numbers are compared with each other, what comes from one choice keeps its name, so that it equals its copies ([`Names::Kept`]). Names are
//! made of machines, so these must keep theirs: then machines are not permuted and none is left out. A program that chooses
//! for ever gives names for ever; after as many as there are numbers, and a few, all numbers count.
//!
//! Needs: answers that may be represented by others, so no bound on answers or on variables, and no fairness that depends on
//! single answers. Preserves: verdicts, terminal configurations and local states up to the chosen numbers, lengths of runs,
//! liveness under `random` fairness.

use std::sync::Arc;

use allways_machine::{DataPlan, Executable};
use allways_run::{Cancel, Either, StopReason};

use crate::search::options::ProveOptions;

/// Whether the reduction applies to a search.
pub(crate) fn applies(exe: &Executable, options: &ProveOptions) -> bool {
    options.reductions.within(&options.setting(exe, false)).data_independence
}

/// Whether chosen numbers can be told apart by the choice that they come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Names {
    /// Machines keep their names.
    Kept,
    None,
}

/// One search of several.
pub(crate) struct Attempt<'a> {
    pub plan: Option<Arc<DataPlan>>,
    pub cancel: &'a dyn Cancel,
    /// By one thread, so that what is reported depends on the program alone.
    pub is_alone: bool,
}

/// Runs a search with finer and finer plans, until it reports nothing that its plan leaves out, or has found a violation.
///
/// Which reports come in before a search stops depends on threads, but a proof does not: plans only get finer, and all sequences of
/// them lead to the same plan. The counterexample that is shown must not depend on it, either. So it is looked for again, by searches
/// that no report stops.
pub(crate) fn refine<R>(
    exe: &Executable,
    (applies, names): (bool, Names),
    cancel: &dyn Cancel,
    mut run: impl FnMut(Attempt<'_>) -> R,
    is_violated: impl Fn(&R) -> bool,
) -> R {
    let coarsest = || DataPlan::coarsest(exe, names == Names::Kept);
    let first = if applies { coarsest() } else { None };
    let Some(first) = first else { return run(Attempt { plan: None, cancel, is_alone: false }) };
    let mut plan = Some(first);
    let mut is_first = true;
    let found = loop {
        let Some(present) = plan else { break run(Attempt { plan: None, cancel, is_alone: false }) };
        let must_stop = || present.has_learned().then_some(StopReason::Interrupted);
        let stop = Either(cancel, must_stop);
        let found = run(Attempt { plan: Some(present.clone()), cancel: &stop, is_alone: false });
        match present.has_learned() {
            false if is_first => return found,
            false => break found,
            true if is_violated(&found) => break found,
            true => {}
        }
        is_first = false;
        // When a limit is reached, the next search ends at once and says so.
        plan = finer(&present);
    };
    if !is_violated(&found) {
        return found;
    }
    let mut plan = coarsest();
    loop {
        let again = run(Attempt { plan: plan.clone(), cancel, is_alone: true });
        match &plan {
            Some(present) if present.has_learned() && cancel.reason().is_none() => plan = finer(present),
            _ if is_violated(&again) => return again,
            // A limit was reached meanwhile.
            _ => return found,
        }
    }
}

/// The plan with what was reported; `None` if all answers count then.
fn finer(plan: &DataPlan) -> Option<Arc<DataPlan>> {
    let refined = plan.refined();
    (!refined.is_trivial()).then_some(refined)
}
