//! From a violation as it was found to one that can be shown: shrunk, replayed, traced.
//!
//! [`mod@crate::confirm`] replays it at the end.

use std::sync::Arc;

use allways_machine::{Executable, Kernel};
use allways_run::{Cancel, Certainty, LastCall, Schedule, Violation, ViolationKind};

use super::options::CheckOptions;
use super::report::Finding;
use super::strategy::StrategyKind;
use crate::confirm::{Claim, confirm_on};
use crate::error::InternalError;
use crate::liveness::Fairness;
use crate::liveness::heat::Heat;
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
    let claim = Claim { violation: *raw.violation, schedule: raw.schedule, loop_start: raw.loop_start };
    let counterexample = confirm_on(&mut kernel, claim).map_err(|error| error.of_schedule(raw.index))?;
    Ok(Finding {
        index: raw.index,
        strategy: raw.strategy,
        counterexample,
        found_length,
        n_schedules: raw.n_schedules,
    })
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
