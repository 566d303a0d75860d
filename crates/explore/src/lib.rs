//! Engines that look at configurations one at a time. Now: systematic testing.
//!
//! Reading order: [`options`] (what can be asked for), [`check()`] (the testing engine), `run` (one schedule),
//! [`strategy`] (who steps next), [`coverage`], `liveness` (certain violations by bounded search), `finish`
//! (shrinking and replaying what was found), [`report`] (what comes back).
//!
//! What is absent on purpose: clocks, files, printing. Whether to stop is asked of a [`Cancel`]; what happens is told
//! to an [`Observer`](allways_run::Observer).

pub mod check;
pub mod coverage;
mod crash;
mod finish;
mod liveness;
pub mod options;
pub mod report;
mod rng;
mod run;
pub mod search;
mod shrink;
pub mod state_graph;
pub mod strategy;
mod watch;

pub use check::check;
pub use coverage::Coverage;
pub use liveness::potential as potential_liveness;
pub use options::{Cancel, CheckOptions, Fairness, LivenessOptions, Never, TemperatureRule};
pub use report::{Finding, InternalError, Report, Statistics};
pub use run::step_bound_violation;
pub use strategy::{ScheduleFairness, Strategy, StrategyKind};
