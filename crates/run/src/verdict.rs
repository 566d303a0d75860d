//! What an engine says in the end, and what that is worth.

use std::time::Duration;

use allways_base::Span;

use crate::{Schedule, Trace, Violation};

/// The answer about one test.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    Holds(Guarantee),
    Violated(Box<Counterexample>),
    Unknown(StopReason),
}

/// What "holds" is worth.
#[derive(Clone, PartialEq, Debug)]
pub enum Guarantee {
    /// All configurations were seen; buffers are not bounded.
    Exhaustive,
    /// Every state of every machine and monitor was seen, though not every configuration; buffers are not bounded.
    /// Deadlock and infinite runs are not checked. If it is approximate, more was seen than can happen.
    LocalStates { is_approximate: bool },
    /// All configurations within these bounds, at least one of which cut something off.
    UpTo(Vec<Bound>),
    /// All configurations, but for this chance that a fingerprint stood for two of them.
    Probable { omission: f64 },
    /// Nothing broke on so many schedules.
    Sampled { n_schedules: u64, n_steps: u64 },
}

/// A bound that cut something off. Bounds weaken verdicts; reductions, which do not, are elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Bound {
    Steps(u64),
    InboxLength(u32),
    /// Messages of one event in one inbox.
    Occurrences(u32),
    Machines(u32),
    /// Answers to a choice of a number.
    Choices(u32),
    /// On what variables hold.
    Variables,
    /// Delays that a delay-bounded scheduler spends, by all tasks together.
    Delays(u32),
    /// Rounds in which each task may run.
    Rounds(u32),
    /// Nested calls of one procedure, and turns of one loop.
    Nesting(u32),
}

/// A violation with the schedule that replays to it.
#[derive(Clone, PartialEq, Debug)]
pub struct Counterexample {
    pub violation: Violation,
    pub schedule: Schedule,
    /// Where in `schedule` the loop begins, for a violation on an infinite run.
    pub loop_start: Option<usize>,
    pub trace: Trace,
}

/// Why a run or a search ended without an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StopReason {
    Time(Duration),
    Memory {
        bytes: u64,
    },
    Interrupted,
    /// A run reached a foreign function for which no body was given.
    ForeignFunction {
        name: String,
    },
    /// A run may depend on the text of a machine here, and so on the order in which machines are created; this engine takes
    /// runs together that differ in that order.
    ObservedText {
        place: Span,
    },
    /// A handler needed more than it is given. Whether it would ever end is not known.
    LongHandler {
        machine: String,
        state: String,
        limit: HandlerLimit,
    },
    /// A run came to its bound on choices in the middle of a handler.
    ChoiceBound(u64),
    /// Something that this engine cannot do.
    Unsupported {
        what: String,
    },
    /// The engine asked all it could and knows no answer.
    Undecided {
        why: String,
    },
}

/// What a handler needed more of than it is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandlerLimit {
    /// Instructions without an effect and without repeating its state.
    Instructions(u32),
    /// Nested calls.
    CallDepth(u32),
    /// Bytes of one string.
    TextBytes(u32),
    /// Tuples and collections within each other.
    Nesting(u32),
}

/// What the user, or the default, allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Instructions of one machine between two effects; more ends the run as unknown
    /// ([`LongHandler`](StopReason::LongHandler)).
    pub instructions: u32,
    /// Nested calls; more ends the run as unknown, too.
    pub call_depth: u32,
    /// Machines created in one run; more ends the run as unknown.
    pub machines: u32,
    /// Steps of one run; `None` is no bound.
    pub steps: Option<u64>,
    pub time: Option<Duration>,
    pub memory_bytes: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            instructions: 100_000_000,
            call_depth: 100_000,
            machines: 1_000_000,
            steps: None,
            time: None,
            memory_bytes: None,
        }
    }
}
