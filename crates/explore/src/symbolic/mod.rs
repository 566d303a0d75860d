//! Symbolic exploration: sets of configurations as decision diagrams, by saturation.
//!
//! Experiments with the published algorithm (PSYM: every field of one configuration a value summary, guards over all choices of
//! the run so far) show that guards which remember the path grow without bound, while sets that remember the state only
//! stay small. So sets of state vectors are kept, one level for each interned local state, and every handler is run once
//! for each pair of local state and message that some reachable configuration has, as in explicit search and by the same memo.
//!
//! Reading order: `report` (options and figures), `steps` (local steps out of the memo), `eager` (machines that run on before
//! their sends are made), `split` (local states of several levels), `order` (of the slots), `engine` (the search proper and its
//! verdict), `path` (counterexamples), `liveness` (infinite runs that keep a monitor hot), `quiescence` (all infinite runs), `invariants`
//! (what holds of all configurations), `stated` (whether what the user says holds of them). `paper` is the published algorithm;
//! `filters` says which steps either leaves out.

mod eager;
mod engine;
mod filters;
mod invariants;
mod liveness;
mod names;
mod order;
pub mod paper;
mod path;
pub(crate) mod quiescence;
mod report;
mod split;
mod stated;
mod steps;

pub use allways_mdd::Count;
pub use engine::{prove, survey, unsupported};
pub use filters::FilterNames;
pub use report::{SlotOrder, Split, SymbolicFigures, SymbolicOptions, SymbolicReport};
