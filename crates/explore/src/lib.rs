//! Engines that decide which choices of a program to explore.
//!
//! Each engine is a folder: [`testing`] samples schedules; [`search`] visits every configuration, one at a time; [`symbolic`]
//! visits sets of configurations; [`almost_sync`] proves programs whose inboxes have no bound; [`quiesce`] decides whether
//! every run terminates. They share [`coverage`], [`liveness`] (infinite runs of the kernel), `shrink` (shorter
//! counterexamples), [`confirm`](mod@confirm) (the replay of every counterexample), [`exchange`] (other processes) and [`error`]. [`state_graph`] draws small programs.
//!
//! What is absent on purpose: clocks, files, printing. An engine asks a [`Cancel`] whether to stop, and reports progress
//! to an [`Observer`](allways_run::Observer).

pub mod almost_sync;
pub mod confirm;
pub mod coverage;
pub mod error;
pub mod exchange;
pub mod liveness;
pub mod quiesce;
pub mod search;
mod shrink;
pub mod state_graph;
pub mod symbolic;
pub mod testing;
mod wire;

pub use allways_run::{Cancel, Never};
pub use confirm::{Claim, broken_invariant, confirm};
pub use coverage::Coverage;
pub use error::InternalError;
pub use liveness::Fairness;
pub use liveness::potential as potential_liveness;
pub use testing::{
    CheckOptions, Finding, LivenessOptions, Report, ScenarioCoverage, ScheduleFairness, Statistics, Strategy,
    StrategyKind, TemperatureRule, check, step_bound_violation,
};
