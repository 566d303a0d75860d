//! The shared words of runs: what was chosen, what broke, what a verdict is worth, how far a search is.
//!
//! Everything here is plain data. Engines produce it, `allways-report` shows it, and neither has to know
//! the other. Reading order: [`choice`] (every freedom and the list of answers), [`network`] (what may happen to messages), [`property`] (what can
//! break), [`datum`] and [`trace`] (a run for people), [`trace_state`] (its states), [`lasso`] (a run for ever), [`verdict`]
//! (what an engine says in the end), [`observer`] (what it says meanwhile), [`cancel`] (when it has to stop).

pub mod cancel;
pub mod choice;
pub mod datum;
pub mod lasso;
pub mod network;
pub mod observer;
pub mod property;
pub mod task_trace;
pub mod trace;
pub mod trace_state;
pub mod verdict;

pub use cancel::{Cancel, Either, LastCall, Never, Noted};
pub use choice::{Choice, InstanceId, Schedule};
pub use datum::{Datum, Edit, Name, PathStep};
pub use lasso::{Change, Dispatch, Lasso, Message, Sent, SentFate};
pub use network::{NetworkModel, NetworkOptions};
pub use observer::{Observer, Progress, Quiet};
pub use property::{Certainty, Violation, ViolationKind};
pub use task_trace::TaskTrace;
pub use trace::{
    Activity, ActorId, ActorKind, ChangeKind, Entry, Failure, FailurePart, Fate, MessageId, PartLabel,
    PartOrigin, Payload, Trace, TraceActor, TraceMessage, TraceStep, Waiting,
};
pub use trace_state::{ActorState, TraceState};
pub use verdict::{Bound, Counterexample, Guarantee, HandlerLimit, Limits, StopReason, Verdict};
