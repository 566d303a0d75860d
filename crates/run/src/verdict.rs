//! What an engine says in the end, and what that is worth.

use std::fmt;
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

/// In a clause that can follow `unknown: `.
impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopReason::Time(limit) => write!(f, "the time limit of {} s was reached", limit.as_secs()),
            StopReason::Memory { bytes } => write!(f, "the memory limit of {} MB was reached", bytes >> 20),
            StopReason::Interrupted => f.write_str("interrupted"),
            StopReason::ForeignFunction { name } => {
                write!(f, "a run reached the foreign function `{name}`, which has no body in P")
            }
            StopReason::ObservedText { .. } => f.write_str(
                "the program turns a machine into text here. The text holds a number that depends on the order in which \
                 machines are created, which exhaustive search abstracts from. Compare the machines themselves, or use \
                 `allways check`, which has the exact text",
            ),
            StopReason::LongHandler { machine, state, limit } => {
                write!(f, "a handler of `{machine}` in state `{state}` {limit}")
            }
            StopReason::ChoiceBound(bound) => {
                write!(f, "the bound of {bound} choices was reached inside a handler, which may never end")
            }
            StopReason::Unsupported { what } => write!(f, "not supported: {what}"),
            StopReason::Undecided { why } => f.write_str(why),
        }
    }
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

/// In a clause after the machine and its handler.
impl fmt::Display for HandlerLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HandlerLimit::Instructions(n) => write!(
                f,
                "ran for more than {n} instructions without sending, creating a machine or finishing; it may never end"
            ),
            HandlerLimit::CallDepth(n) => {
                write!(f, "nested more than {n} calls; the recursion may never end")
            }
            HandlerLimit::TextBytes(n) => write!(f, "made a string of more than {n} bytes"),
            HandlerLimit::Nesting(n) => write!(f, "nested tuples or collections more than {n} deep"),
        }
    }
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
