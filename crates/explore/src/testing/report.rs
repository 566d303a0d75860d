//! What a search hands back.

use allways_run::{Counterexample, StopReason, Verdict};

use super::scenarios::ScenarioCoverage;
use super::strategy::StrategyKind;
use crate::coverage::Coverage;

#[derive(Clone, Debug)]
pub struct Report {
    pub verdict: Verdict,
    /// The violations, by schedule number: at most one, unless exploration continues after the first. The verdict has the first.
    pub findings: Vec<Finding>,
    pub statistics: Statistics,
    pub coverage: Coverage,
    pub scenarios: Vec<ScenarioCoverage>,
    /// Why the search ended early, if it did.
    pub stopped: Option<StopReason>,
}

#[derive(Clone, Debug)]
pub struct Finding {
    /// Number of the schedule, from zero.
    pub index: u64,
    pub strategy: StrategyKind,
    pub counterexample: Counterexample,
    /// Choices of the schedule as it was found, before shrinking.
    pub found_length: u64,
    /// How many schedules broke in the same place.
    pub n_schedules: u64,
}

/// Figures of a search. They depend on seed and options only, except when it was stopped early.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Statistics {
    pub n_schedules: u64,
    /// Steps of machines.
    pub n_steps: u64,
    /// Steps and data choices.
    pub n_choices: u64,
    /// Choices of the shortest and of the longest schedule.
    pub min_length: u64,
    pub max_length: u64,
    /// Schedules cut by the step bound.
    pub n_bounded: u64,
    /// Schedules that ended in something unsupported.
    pub n_unknown: u64,
    pub n_violated: u64,
    /// Searches for certain liveness violations, and those that hit their bound.
    pub n_searches: u64,
    pub n_open_searches: u64,
}

impl Statistics {
    pub(crate) fn add(&mut self, other: &Statistics) {
        if other.n_schedules == 0 {
            return;
        }
        self.min_length =
            if self.n_schedules == 0 { other.min_length } else { self.min_length.min(other.min_length) };
        self.max_length = self.max_length.max(other.max_length);
        // Another process may say anything.
        let add = |into: &mut u64, more: u64| *into = into.saturating_add(more);
        add(&mut self.n_schedules, other.n_schedules);
        add(&mut self.n_steps, other.n_steps);
        add(&mut self.n_choices, other.n_choices);
        add(&mut self.n_bounded, other.n_bounded);
        add(&mut self.n_unknown, other.n_unknown);
        add(&mut self.n_violated, other.n_violated);
        add(&mut self.n_searches, other.n_searches);
        add(&mut self.n_open_searches, other.n_open_searches);
    }
}
