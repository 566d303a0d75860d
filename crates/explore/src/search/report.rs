//! What a proof hands back.

use allways_run::{StopReason, Verdict};

use super::growth::Growth;
use super::options::StoreKind;
use crate::coverage::{Coverage, UnusedHandler};

#[derive(Clone, Debug)]
pub struct ProveReport {
    pub verdict: Verdict,
    pub statistics: ProveStatistics,
    pub coverage: Coverage,
    /// Handlers that no run reaches; known only when the search saw everything.
    pub dead_handlers: Option<Vec<UnusedHandler>>,
    /// Why the search ended early, if it did.
    pub stopped: Option<StopReason>,
    pub remarks: Remarks,
}

/// What is worth telling beside the verdict.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Remarks {
    /// The counterexample is good, but there was no room to look whether it is a shortest one.
    pub may_be_shorter: bool,
    /// A violation exists, but a limit was met before there was a run to show it.
    pub seen: Option<SeenViolation>,
    /// What was still growing when a limit ended the search.
    pub growth: Vec<Growth>,
    /// The choice with most answers, if they are many, when a limit ended the search.
    pub wide_choice: Option<WideChoice>,
}

/// A choice of a number, which makes a search as many times wider.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WideChoice {
    pub machine: String,
    pub n_answers: u32,
}

/// A violation without a counterexample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SeenViolation {
    /// Of some path to it, if steps were counted.
    pub n_steps: Option<u64>,
}

/// Figures of a search. All but bytes and memo figures are the same for any number of threads, except when it was
/// stopped early.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct ProveStatistics {
    /// Different configurations, the one before the first step included.
    pub n_configurations: u64,
    /// Steps explored, one for each different outcome; likewise.
    pub n_transitions: u64,
    /// Steps to the configuration farthest from the beginning; a step together with the confluent sends and drops that it was
    /// merged with is one.
    pub depth: u64,
    /// Terminal configurations.
    pub n_ends: u64,
    /// Messages in the fullest inbox.
    pub largest_inbox: u32,
    /// Machines in the fullest configuration.
    pub n_machines: u32,
    /// Different places in which a machine or monitor stands.
    pub n_local_states: u64,
    pub n_messages: u64,
    /// Questions to the memo, and those that the kernel had to answer.
    pub n_lookups: u64,
    pub n_misses: u64,
    pub store: StoreKind,
    /// Of the store of configurations, for each of them.
    pub bytes_per_configuration: f64,
    /// Of everything: store, frontier, memo, local states.
    pub peak_bytes: u64,
    pub saved: Saved,
    /// The chance that a fingerprint stood for two configurations.
    pub omission: f64,
    /// Of a search that did not see everything.
    pub covered: Covered,
}

/// What a search that ended early can vouch for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Covered {
    /// It did not end early, or is not of this kind.
    #[default]
    Unsaid,
    /// Some runs: depth first, or with steps put off, those of no length are complete.
    Part,
    /// Every run of up to so many steps was explored.
    Steps(u64),
    /// Every run was explored, but liveness was not decided.
    Finite,
    /// Every run was explored, up to where it cannot be followed.
    UpToUnknown,
}

/// What each reduction did; zero when it was off, or had nothing to do.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Saved {
    /// Different local states with variables, or parts of them, that are not read again.
    pub n_dead: u64,
    /// Different local states with payloads, or parts of them, that are never read.
    pub n_unread: u64,
    /// Different local states with collections out of order, where there is none.
    pub n_unordered: u64,
    /// Steps to a configuration for which another stands.
    pub n_renamed: u64,
    /// Machines that left a configuration, since they could never act again.
    pub n_collected: u64,
    /// Steps to a configuration whose numbers were renumbered.
    pub n_renumbered: u64,
    /// Configurations at which some machines stepped alone, or a confluent send went first, and machines whose steps were put off there.
    pub n_persistent: u64,
    pub n_put_off: u64,
    /// Steps that were made together with the one before them: those of chains, confluent sends and drops.
    pub n_merged: u64,
    /// Steps that changed nothing.
    pub n_stuttering: u64,
    /// Answers of `choose` that others represent.
    pub n_equivalent: u64,
}

impl ProveStatistics {
    /// The share of local steps that were remembered.
    pub fn hit_rate(&self) -> f64 {
        if self.n_lookups == 0 { 0.0 } else { 1.0 - self.n_misses as f64 / self.n_lookups as f64 }
    }
}
