//! Systematic testing: schedule after schedule, sampled by a portfolio of strategies.
//!
//! Reading order: [`options`] (what can be asked for), [`check()`] (the engine), `run` (one schedule), [`strategy`] (which
//! machine steps next), `crash` (when machines crash), `watch` (what is listened to), [`scenarios`], `finish` (shrinking and
//! replaying what was found), [`report`] (what comes back), `together` (several processes).

pub mod check;
mod crash;
mod finish;
pub mod options;
pub mod report;
pub mod rng;
mod run;
pub mod scenarios;
pub mod strategy;
mod together;
mod watch;

pub use check::check;
pub use options::{CheckOptions, LivenessOptions, TemperatureRule};
pub use report::{Finding, Report, Statistics};
pub use run::step_bound_violation;
pub use scenarios::ScenarioCoverage;
pub use strategy::{ScheduleFairness, Strategy, StrategyKind};
