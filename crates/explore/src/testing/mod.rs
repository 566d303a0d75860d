//! Systematic testing: schedule after schedule, sampled by a portfolio of strategies.
//!
//! Reading order: [`options`] (what can be asked for), [`check()`] (the engine), `run` (one schedule), [`strategy`] (which
//! machine steps next), `crash` (when machines crash), `finish` (shrinking and replaying what was found), [`report`] (what
//! comes back), `together` (several processes).

pub mod check;
mod crash;
mod finish;
pub mod options;
pub mod report;
pub mod rng;
mod run;
pub mod strategy;
mod together;

pub use check::check;
pub use options::{CheckOptions, LivenessOptions, TemperatureRule};
pub use report::{Finding, Report, Statistics};
pub use run::step_bound_violation;
pub use strategy::{ScheduleFairness, Strategy, StrategyKind};
