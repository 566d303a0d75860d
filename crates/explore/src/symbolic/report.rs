//! What a symbolic proof hands back.

use allways_mdd::Count;

use super::filters::{FilterNames, Seen};
use crate::search::options::ProveOptions;
use crate::search::report::ProveReport;

/// The order of slots in diagrams.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum SlotOrder {
    /// Found by random walks and annealing; several are tried.
    #[default]
    Found,
    /// Slots as the search meets them.
    AsMet,
    /// By a seed; for tests.
    Random(u64),
}

#[derive(Clone, Default, Debug)]
pub struct SymbolicOptions {
    /// Bounds, reductions of single local states, fairness and limits; the rest has no meaning here.
    pub search: ProveOptions,
    pub order: SlotOrder,
    /// Look for a counterexample of breadth-first length, whatever it costs.
    pub shortest: bool,
    pub split: Split,
    /// At the end of a proof, say what holds of all configurations.
    pub finds_invariants: bool,
    pub filters: FilterNames,
    /// Search without filters, too, and compare.
    pub checks_filters: bool,
}

/// Which machines and monitors are split into several levels.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Split {
    /// Those with many local states, in a search that takes turns with one in which they are whole.
    #[default]
    Large,
    /// The same with few local states and short turns; for tests.
    Small,
    /// None: a local state is one value.
    Never,
    /// All; for tests.
    Always,
}

/// Figures of a symbolic search.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SymbolicFigures {
    /// Different configurations, the one before the first step included, if all were reached.
    pub configurations: Option<Count>,
    /// Those in which no machine can step.
    pub terminal: Option<Count>,
    /// Local steps that the kernel computed.
    pub n_handler_runs: u64,
    /// Machines, monitors and parts of the network that are levels of the diagrams.
    pub n_slots: u64,
    /// Different products of local relations.
    pub n_events: u64,
    /// Values of all levels: local states, and parts of them where a slot is split.
    pub n_local_states: u64,
    /// Of the level that has most.
    pub most_local_states: u64,
    /// Slots that are split into several levels.
    pub n_split: u64,
    pub peak_nodes: u64,
    /// Nodes of the set of all configurations.
    pub set_nodes: u64,
    /// Names of the slots, from the bottom level up.
    pub order: Vec<String>,
    /// Orders that were given up before the one that was used.
    pub n_orders_left: u64,
    /// Invariants that the user stated and that hold in all configurations.
    pub n_stated: u64,
    /// What holds in all configurations, if that was asked for and all were reached.
    pub invariants: Vec<String>,
    pub n_collections: u64,
    pub n_operations: u64,
    /// Control states that occur, if filters are compared.
    pub(super) seen: Seen,
    /// Whether filters lose something, if that was asked for.
    pub comparison: Option<String>,
}

pub struct SymbolicReport {
    pub report: ProveReport,
    pub figures: SymbolicFigures,
}
