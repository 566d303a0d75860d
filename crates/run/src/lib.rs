//! The shared words of runs: what was chosen, what broke, what a verdict is worth, how far a search is.
//!
//! Everything here is plain data. Engines produce it, `allways-report` shows it, and neither has to know
//! the other. Reading order: [`choice`] (every freedom and the list of answers), [`network`] (what may happen to messages), [`property`] (what can
//! break), [`trace`] (a run for people), [`verdict`] (what an engine says in the end), [`observer`]
//! (what it says meanwhile).

pub mod choice;
pub mod network;
pub mod observer;
pub mod property;
pub mod trace;
pub mod verdict;

pub use choice::{Choice, InstanceId, Schedule};
pub use network::{NetworkModel, NetworkOptions};
pub use observer::{Observer, Progress, Quiet};
pub use property::{Certainty, Violation, ViolationKind};
pub use trace::{Entry, Trace, TraceStep};
pub use verdict::{Bound, Counterexample, Guarantee, Limits, StopReason, Verdict};
