//! What can be asked of a proof.

use std::sync::Arc;

use allways_machine::{DataPlan, Executable};
use allways_run::Limits;

use super::distribute::Checkpoints;
use super::order::Order;
use super::reduce::table::{Reductions, Setting};
use super::store::runs::Spill;
use super::variables::VariableBounds;
use crate::exchange::Peers;
use crate::liveness::Fairness;

/// How configurations that were seen are kept.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum StoreKind {
    /// 64 bits of each. Two may share them, with the chance that the verdict names.
    #[default]
    Fingerprint,
    /// 128 bits of each: twice the memory, and a chance that hardly needs a name.
    Wide,
    /// All of each, as pairs of pairs. Nothing is omitted.
    Exact,
}

/// What is not explored. A bound that cuts something off shows in the verdict.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SearchBounds {
    /// Steps from the beginning.
    pub depth: Option<u64>,
    /// Messages that wait in one inbox.
    pub inbox: Option<u32>,
    /// Messages of one event that wait in one inbox.
    pub occurrences: Option<u32>,
    /// Machines, halted ones included.
    pub machines: Option<u32>,
    /// What variables of machines hold.
    pub variables: VariableBounds,
}

#[derive(Clone, Debug)]
pub struct ProveOptions {
    pub order: Order,
    pub store: StoreKind,
    pub bounds: SearchBounds,
    /// Answers to `choose(n)` that are explored, one at least, evenly spread from the first to the last. This leaves a program
    /// with fewer choices, to which all reductions apply, and shows in the verdict as a bound does.
    pub max_choices: Option<u32>,
    /// Which answers of `choose` represent all others. Searches find it out by themselves.
    pub data: Option<Arc<DataPlan>>,
    pub reductions: Reductions,
    /// Symmetry and persistent sets are used only where a look at the first configurations finds them worth their price.
    pub probes: bool,
    /// Which infinite runs count for liveness; `None` leaves liveness of infinite runs out.
    pub fairness: Option<Fairness>,
    /// At least one. Answer and counts do not depend on it.
    pub n_threads: usize,
    /// Other processes that search together with this one. Answer and counts do not depend on them; process 0 has the report.
    pub peers: Option<Peers>,
    /// These search for the counterexample together from the beginning on, not only when process 0 has no room for it. It may be
    /// another one then, as short.
    pub shares_counterexample: bool,
    /// Where to keep layers of the search, and to resume from if there are some.
    pub checkpoint: Option<Checkpoints>,
    /// Where keys and layers go that do not fit into the memory limit, by one process without checkpoints, breadth first.
    pub spill: Option<Spill>,
    /// Of a machine's instructions and calls, and `memory_bytes` for the whole search. Time is up to [`Cancel`].
    ///
    /// [`Cancel`]: crate::Cancel
    pub limits: Limits,
}

impl Default for ProveOptions {
    fn default() -> Self {
        ProveOptions {
            order: Order::Breadth,
            store: StoreKind::Fingerprint,
            bounds: SearchBounds::default(),
            max_choices: None,
            data: None,
            reductions: Reductions::default(),
            probes: true,
            fairness: Some(Fairness::Random),
            n_threads: 1,
            peers: None,
            shares_counterexample: false,
            checkpoint: None,
            spill: None,
            limits: Limits::default(),
        }
    }
}

impl ProveOptions {
    /// What decides which reductions apply; `has_liveness` if some monitor has hot states.
    pub fn setting(&self, exe: &Executable, has_liveness: bool) -> Setting {
        let program =
            if self.reductions.counters { Setting::over(exe) } else { Setting::without_counters(exe) };
        Setting {
            is_bounded: self.bounds != SearchBounds::default(),
            bounds_data: self.max_choices.is_some() || self.bounds.variables != VariableBounds::default(),
            order: self.order,
            fairness: self.fairness,
            has_liveness: has_liveness && self.fairness.is_some(),
            ..program
        }
    }
}
