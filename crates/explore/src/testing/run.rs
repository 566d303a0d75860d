//! One schedule: a strategy drives the kernel until the run ends.

use allways_machine::{Kernel, Outcome};
use allways_run::{Choice, StopReason, Violation, ViolationKind};

use super::crash::Crashes;
use super::options::CheckOptions;
use super::report::Statistics;
use super::strategy::{Asked, ScheduleFairness, Strategy, StrategyKind};
use super::watch::Watch;
use crate::liveness::Fairness;
use crate::liveness::graph::Allowance;
use crate::liveness::{self, Break, Search};

/// How a schedule ended.
#[derive(Debug)]
pub(crate) enum Ended {
    Quiescent,
    Violated(Break),
    Unknown(StopReason),
    /// The step bound.
    Bounded,
    Cancelled,
}

/// What does not change from schedule to schedule.
pub(crate) struct Rules {
    pub step_bound: u64,
    /// Whether a run that comes to the bound is a violation: only if it ends fairly.
    pub fail_on_bound: bool,
    /// The number of choices after which the run is fair. Heat counts from there on.
    pub fair_from: u64,
    pub temperature_limit: u64,
    /// What the largest search may do.
    pub allowance: Allowance,
    /// This schedule may make the largest search when it is cut.
    pub is_thorough: bool,
    pub fairness: Fairness,
}

impl Rules {
    pub fn new(options: &CheckOptions, strategy: StrategyKind) -> Self {
        Rules {
            step_bound: options.step_bound(strategy).unwrap_or(u64::MAX),
            fail_on_bound: options.fail_on_max_steps && strategy.fairness() != ScheduleFairness::Never,
            fair_from: u64::MAX,
            temperature_limit: options.temperature_limit().unwrap_or(u64::MAX),
            allowance: options.liveness.allowance(),
            is_thorough: true,
            fairness: options.liveness.fairness,
        }
    }
}

/// The first temperature at which a run is suspicious; the next are four times as high each. A search costs about as
/// much as so many steps, so they add a bounded share to the price of a run.
const SUSPICIOUS: u64 = 1_024;
/// A run that was cut while a monitor was hot for so long is worth a last search.
const SUSPICIOUS_AT_BOUND: u64 = 100;
/// Steps between two checks of whether to go on: a step may take milliseconds.
const POLL_STEPS: u64 = 1 << 6;

/// Choices that the last step may make beyond the bound. Only a handler that makes more of them is cut before its end.
const LAST_STEP: u64 = 1_000;

/// Runs one schedule on a kernel that was reset. `poll` hears of the steps from time to time and says whether to stop.
pub(crate) fn run(
    kernel: &mut Kernel,
    strategy: &mut dyn Strategy,
    crashes: &mut Crashes,
    watch: &mut Watch,
    rules: &Rules,
    statistics: &mut Statistics,
    poll: &mut dyn FnMut(u64) -> bool,
) -> Ended {
    watch.begin();
    kernel.bound_choices(rules.step_bound.saturating_add(LAST_STEP));
    let has_crashes = kernel.executable().network.has_crashes();
    let mut next_suspicion = SUSPICIOUS;
    while kernel.is_running() {
        if kernel.schedule().len() as u64 >= rules.step_bound {
            return at_bound(kernel, watch, rules, statistics, poll);
        }
        if kernel.n_steps().is_multiple_of(POLL_STEPS) && poll(kernel.n_steps()) {
            return Ended::Cancelled;
        }
        let choice = match has_crashes {
            true => crashes.next(kernel, strategy).map_or_else(|| chosen(kernel, strategy), Choice::Crash),
            false => chosen(kernel, strategy),
        };
        let stepped = kernel.take(choice, &mut Asked(strategy), watch);
        debug_assert!(stepped.is_ok(), "strategies choose machines that can step");
        if stepped.is_err() {
            return Ended::Unknown(StopReason::Unsupported {
                what: "a strategy that chooses a machine that cannot step".to_owned(),
            });
        }
        if (kernel.schedule().len() as u64) < rules.fair_from {
            continue;
        }
        let Some((monitor, temperature)) = watch.heat.step() else { continue };
        if !kernel.is_running() {
            break;
        }
        let is_over = temperature > rules.temperature_limit;
        if temperature >= next_suspicion || is_over {
            let work = if is_over { u64::MAX } else { 2 * temperature };
            next_suspicion = temperature.saturating_mul(4);
            match suspect(kernel, watch, monitor, work, rules, statistics, poll) {
                Suspicion::Ended(ended) => return ended,
                Suspicion::Open if is_over => {
                    return Ended::Violated(Break::here(liveness::potential(kernel, monitor)));
                }
                // It can be cold again, so the temperature is not a violation either.
                Suspicion::Cleared if is_over => next_suspicion = temperature.saturating_mul(2),
                Suspicion::Open | Suspicion::Cleared => {}
            }
        }
    }
    match kernel.outcome() {
        Outcome::Violated(violation) => Ended::Violated(Break::here((**violation).clone())),
        // A machine that makes choices for ever is cut as one that sends for ever.
        Outcome::Unknown(StopReason::ChoiceBound(bound)) if *bound > rules.step_bound => {
            match rules.fail_on_bound {
                true => Ended::Violated(Break::here(step_bound_violation(rules.step_bound))),
                false => Ended::Bounded,
            }
        }
        Outcome::Unknown(StopReason::Time(_) | StopReason::Memory { .. } | StopReason::Interrupted) => {
            Ended::Cancelled
        }
        Outcome::Unknown(reason) => Ended::Unknown(reason.clone()),
        Outcome::Quiescent | Outcome::Running => Ended::Quiescent,
    }
}

/// The step that the strategy chooses.
#[inline]
fn chosen(kernel: &Kernel, strategy: &mut dyn Strategy) -> Choice {
    let at = strategy.place(kernel);
    match kernel.choice_at(at) {
        Choice::Deliver { target, source, .. } => {
            let n = kernel.n_picks(at);
            let place = if n > 1 { strategy.pick(n) } else { 0 };
            Choice::Deliver { target, source, place }
        }
        other => other,
    }
}

fn at_bound(
    kernel: &mut Kernel,
    watch: &mut Watch,
    rules: &Rules,
    statistics: &mut Statistics,
    poll: &mut dyn FnMut(u64) -> bool,
) -> Ended {
    if rules.fail_on_bound {
        return Ended::Violated(Break::here(step_bound_violation(rules.step_bound)));
    }
    let work = if rules.is_thorough { u64::MAX } else { kernel.n_steps() };
    if rules.fair_from < rules.step_bound
        && let Some((monitor, temperature)) = watch.heat.hottest()
        && temperature >= SUSPICIOUS_AT_BOUND
        && let Suspicion::Ended(ended) = suspect(kernel, watch, monitor, work, rules, statistics, poll)
    {
        return ended;
    }
    Ended::Bounded
}

/// That a run has so many choices and goes on.
pub fn step_bound_violation(steps: u64) -> Violation {
    Violation {
        kind: ViolationKind::StepBound(steps),
        message: format!("Scheduling steps bound of {steps} reached."),
        span: None,
        machine: None,
        monitor: None,
    }
}

enum Suspicion {
    /// The run ends here, with a violation or because it was cancelled.
    Ended(Ended),
    /// Nothing is sure.
    Open,
    /// The monitor can still be cold.
    Cleared,
}

fn suspect(
    kernel: &mut Kernel,
    watch: &mut Watch,
    monitor: usize,
    work: u64,
    rules: &Rules,
    statistics: &mut Statistics,
    poll: &mut dyn FnMut(u64) -> bool,
) -> Suspicion {
    let work = work.min(rules.allowance.work);
    let allowance = Allowance { work, ..rules.allowance };
    if allowance.configurations == 0 {
        return Suspicion::Open;
    }
    statistics.n_searches += 1;
    let poll = std::cell::RefCell::new(poll);
    let is_cancelled = || (poll.borrow_mut())(0);
    let heat = &watch.heat;
    let search = match rules.fairness {
        Fairness::Random => liveness::random::search(kernel, heat, monitor, allowance, &is_cancelled),
        Fairness::Weak => liveness::weak::search(kernel, heat, allowance, &is_cancelled),
    };
    match search {
        Search::Cools => Suspicion::Cleared,
        Search::Open => {
            statistics.n_open_searches += 1;
            Suspicion::Open
        }
        search @ (Search::Lasso { .. } | Search::Broken { .. }) => {
            match search.into_break(kernel.executable(), rules.fairness) {
                Some(found) => Suspicion::Ended(Ended::Violated(found)),
                None => Suspicion::Open,
            }
        }
    }
}
