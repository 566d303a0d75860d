//! What can be asked of a proof.

use allways_run::Limits;

use crate::options::Fairness;

/// In which order configurations are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Order {
    /// Layer by layer, on all threads; counterexamples are shortest.
    #[default]
    Breadth,
    /// One thread, little memory besides the store; counterexamples are long.
    Depth,
    /// Depth first to a depth that doubles each time; counterexamples are at most twice too long.
    Deepening,
}

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

/// What is not looked at. A bound that cuts something off shows in the verdict.
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
}

/// What need not be looked at; see `search/reduce`. None changes a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Reductions {
    /// Steps that touch nobody else go first, alone. Off by default: looking for them costs a fifth of the time, and
    /// only programs that make machines all the time have many.
    pub private_steps: bool,
}

impl Reductions {
    pub const NONE: Reductions = Reductions { private_steps: false };
    pub const ALL: Reductions = Reductions { private_steps: true };
}

#[derive(Clone, Debug)]
pub struct ProveOptions {
    pub order: Order,
    pub store: StoreKind,
    pub bounds: SearchBounds,
    /// Used by breadth-first searches without bounds.
    pub reductions: Reductions,
    /// Which infinite runs count for liveness; `None` leaves liveness of infinite runs out.
    pub fairness: Option<Fairness>,
    /// At least one. Answer and counts do not depend on it.
    pub n_threads: usize,
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
            reductions: Reductions::default(),
            fairness: Some(Fairness::Random),
            n_threads: 1,
            limits: Limits::default(),
        }
    }
}
