//! A run for people: made by replaying a schedule, never while searching.
//!
//! Names are already those that people read: `Client(3)` for the third machine created. Values come as
//! text in the form of P's logs (strings quoted, storage order kept).

use allways_base::Span;

use crate::{Choice, Schedule, Violation};

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Trace {
    pub steps: Vec<TraceStep>,
    pub violation: Option<Violation>,
}

impl Trace {
    /// The schedule that the trace was made from.
    pub fn schedule(&self) -> Schedule {
        self.steps.iter().flat_map(|step| step.choices.iter().copied()).collect()
    }
}

/// One atomic move: the choices that made it and what happened in it, in order.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TraceStep {
    /// Who stepped; `network` when a message was brought to its target.
    pub machine: String,
    /// The choice of who moves, then the data choices met in the step.
    pub choices: Vec<Choice>,
    pub entries: Vec<Entry>,
}

/// Something that happened. `machine` is the machine or monitor it happened in, `state` its control
/// state at that moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entry {
    Create {
        machine: String,
        creator: Option<String>,
        interface: String,
        payload: Option<String>,
    },
    /// The message is on its way: under P's own network it reached the target's inbox, or its hands.
    Send {
        machine: String,
        state: String,
        target: String,
        event: String,
        payload: Option<String>,
        span: Option<Span>,
        /// It is in the hands of the network, which brings it in a step of its own.
        is_delayed: bool,
    },
    /// The network lost the message.
    Lose {
        machine: String,
        target: String,
        event: String,
    },
    /// The network carries the message twice.
    Duplicate {
        machine: String,
        target: String,
        event: String,
    },
    /// The network brings a message to the inbox of `machine`.
    Arrive {
        machine: String,
        source: String,
        event: String,
        payload: Option<String>,
    },
    /// The machine stops for good.
    Crash {
        machine: String,
        state: String,
        n_discarded: usize,
    },
    /// The target had halted, and the message is gone.
    Drop {
        machine: String,
        target: String,
        event: String,
    },
    Dequeue {
        machine: String,
        state: String,
        event: String,
        payload: Option<String>,
    },
    /// A message that a `receive` waited for.
    Receive {
        machine: String,
        state: String,
        event: String,
        payload: Option<String>,
    },
    /// The machine waits in `receive` for one of these events.
    Wait {
        machine: String,
        state: String,
        events: Vec<String>,
    },
    Raise {
        machine: String,
        state: String,
        event: String,
        payload: Option<String>,
        span: Span,
    },
    Goto {
        machine: String,
        state: String,
        target: String,
    },
    Enter {
        machine: String,
        state: String,
    },
    Exit {
        machine: String,
        state: String,
    },
    Announce {
        machine: String,
        state: String,
        event: String,
        payload: Option<String>,
        span: Span,
    },
    /// A monitor is told of an event that `machine` sent or announced.
    Observe {
        monitor: String,
        state: String,
        machine: String,
        event: String,
        payload: Option<String>,
    },
    /// A monitor entered a control state.
    MonitorEnter {
        monitor: String,
        state: String,
        temperature: Option<&'static str>,
    },
    MonitorExit {
        monitor: String,
        state: String,
    },
    /// A data choice: the answer and how many there were.
    Choice {
        machine: String,
        answer: u32,
        n_answers: u32,
        span: Span,
    },
    Print {
        machine: String,
        text: String,
        span: Span,
    },
    Halt {
        machine: String,
        n_discarded: usize,
    },
    Fault(Violation),
}
