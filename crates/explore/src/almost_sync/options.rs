//! What can be asked of an almost-synchronous proof.

use std::sync::Arc;

use allways_machine::{DataPlan, Simplify};
use allways_run::Limits;

/// Which closed destination set is taken. Every one is sound.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum DestinationChoice {
    /// The one after which the fewest messages have to wait, then the smallest.
    #[default]
    LeastWaiting,
    /// The one closed from the first machine that can move, as in the paper.
    Canonical,
}

/// The moves of a state. All are sound.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Rules {
    /// A block move only where no step does as well, and no steps in vain.
    #[default]
    Lean,
    /// All moves of the paper.
    Paper,
}

/// What happens when an inbox grows and grows.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum FloodRule {
    /// It is over-approximated once it is longer than [`FLOOD_AT`], beyond [`FLOOD_BOUND`] messages. If that decides
    /// nothing, the exact search goes on.
    #[default]
    Auto,
    /// Never over-approximated.
    Off,
    /// Every inbox is over-approximated beyond so many messages.
    Bound(u32),
}

/// An inbox with more messages is called flooded.
pub const FLOOD_AT: u32 = 8;
/// So many messages of a flooded inbox are kept in order.
pub const FLOOD_BOUND: u32 = 2;

#[derive(Clone, Debug)]
pub struct AlmostSyncOptions {
    pub choice: DestinationChoice,
    pub flood: FloodRule,
    pub rules: Rules,
    /// What of a local state does not count.
    pub simplify: Simplify,
    /// Represent answers of `choose` that no operation of the program tells apart by one. A certificate has all of them.
    pub data_independence: bool,
    /// Which answers these are. Searches find it out by themselves.
    pub data: Option<Arc<DataPlan>>,
    /// Leave out steps that lead where others have led in another order. A certificate has all of them.
    pub sleep: bool,
    /// Write a certificate of the proof.
    pub certificate: bool,
    /// States after which the search gives up.
    pub max_states: Option<u64>,
    /// Steps that shrinking a counterexample may make.
    pub shrink_steps: u64,
    pub limits: Limits,
}

impl Default for AlmostSyncOptions {
    fn default() -> Self {
        AlmostSyncOptions {
            choice: DestinationChoice::default(),
            flood: FloodRule::default(),
            rules: Rules::default(),
            simplify: Simplify {
                dead_variables: true,
                unread_payloads: true,
                order: true,
                counters: false,
                choose_counts: true,
                broadcasts: false,
            },
            data_independence: true,
            data: None,
            sleep: true,
            certificate: false,
            max_states: None,
            shrink_steps: 200_000,
            limits: Limits::default(),
        }
    }
}
