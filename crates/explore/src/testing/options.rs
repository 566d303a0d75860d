//! What the user of testing set.

use allways_run::Limits;

use super::strategy::{ScheduleFairness, StrategyKind};
use crate::exchange::Peers;
use crate::liveness::Fairness;
use crate::liveness::graph::Allowance;

#[derive(Clone, Debug)]
pub struct CheckOptions {
    pub strategy: StrategyKind,
    pub seed: u64,
    /// `None` goes on until cancelled, or until depth-first search is through.
    pub n_schedules: Option<u64>,
    /// Choices of one schedule under a strategy that is fair, at least in the end; `None` is no bound.
    pub fair_steps: Option<u64>,
    /// The same under an unfair one.
    pub unfair_steps: Option<u64>,
    /// A schedule that hits its step bound is a violation, if it is fair: under an unfair strategy the bound may be due to a
    /// machine that was never chosen, which is no fault of the program.
    pub fail_on_max_steps: bool,
    /// Go on after a violation, and report one for each place.
    pub explore: bool,
    pub liveness: LivenessOptions,
    /// At least one. The answer does not depend on it.
    pub n_threads: usize,
    /// Other processes that test together with this one. Answer, figures and coverage do not depend on them; process 0 has the report.
    pub peers: Option<Peers>,
    /// Steps that shrinking one counterexample may make; zero leaves it as it was found.
    pub shrink_steps: u64,
    pub limits: Limits,
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions {
            strategy: StrategyKind::Portfolio,
            seed: 0,
            n_schedules: Some(1),
            fair_steps: Some(100_000),
            unfair_steps: Some(10_000),
            fail_on_max_steps: false,
            explore: false,
            liveness: LivenessOptions::default(),
            n_threads: 1,
            peers: None,
            shrink_steps: 1_000_000,
            limits: Limits::default(),
        }
    }
}

impl CheckOptions {
    /// The step bound under a strategy.
    pub fn step_bound(&self, strategy: StrategyKind) -> Option<u64> {
        match strategy.fairness() {
            ScheduleFairness::Always | ScheduleFairness::Suffix => self.fair_steps,
            ScheduleFairness::Never => self.unfair_steps,
        }
    }

    /// For how many choices a strategy with a fair suffix is unfair: up to the unfair bound, but never for more than half
    /// of a schedule, lest too little of it is fair. `length` is what schedules are thought to have.
    pub fn unfair_prefix(&self, length: u64) -> u64 {
        let half = self.fair_steps.map_or(u64::MAX, |steps| steps / 2);
        self.unfair_steps.unwrap_or(length).min(half)
    }

    /// For how many steps a monitor may stay hot under a fair strategy.
    pub fn temperature_limit(&self) -> Option<u64> {
        match self.liveness.temperature {
            TemperatureRule::HalfOfBound => self.fair_steps.map(|steps| (steps / 2).max(1)),
            TemperatureRule::Steps(steps) => Some(steps.max(1)),
            TemperatureRule::Off => None,
        }
    }
}

/// How liveness of monitors is decided.
#[derive(Clone, Debug)]
pub struct LivenessOptions {
    pub fairness: Fairness,
    pub temperature: TemperatureRule,
    /// Configurations that one search for a certain violation may visit; zero turns these searches off. Most searches
    /// are allowed less: what the run before them has cost.
    pub configurations: usize,
}

impl LivenessOptions {
    /// What the largest searches may do.
    pub(crate) fn allowance(&self) -> Allowance {
        Allowance { configurations: self.configurations, work: self.configurations as u64 * 16 }
    }
}

impl Default for LivenessOptions {
    fn default() -> Self {
        LivenessOptions {
            fairness: Fairness::Random,
            temperature: TemperatureRule::HalfOfBound,
            configurations: 20_000,
        }
    }
}

/// P's rule of last resort: hot for too many steps of a fair schedule is a potential violation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TemperatureRule {
    /// Half of the fair step bound, as P has it; no rule without a bound.
    HalfOfBound,
    Steps(u64),
    Off,
}
