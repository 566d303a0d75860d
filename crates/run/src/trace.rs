//! A run for people: made by replaying a schedule, never while searching.
//!
//! A trace is data. Values are [`Datum`]s, names are those that people read (`Client(3)` for the third machine created),
//! and what a step changed is kept as differences, so that a trace needs memory in proportion to its length, not to
//! its length times the size of a state. `state` makes states of it again.
//!
//! Order: entries are in the order of the kernel. There a monitor sees a message when its `send` executes, which is a
//! step before the one that delivers it, if others come between. [`TraceMessage`] has both.

use std::sync::Arc;

use allways_base::{Span, newtype_ids};

use crate::datum::{Datum, Edit, Name, PathStep};
use crate::{Choice, Schedule, Violation};

newtype_ids! {
    /// A machine or monitor of a trace.
    ActorId = "a";
    /// A message of a trace.
    MessageId = "m";
}

pub type Payload = Option<Arc<Datum>>;

#[derive(Clone, PartialEq, Default, Debug)]
pub struct Trace {
    /// Monitors first, then machines in order of creation.
    pub actors: Vec<TraceActor>,
    pub messages: Vec<TraceMessage>,
    pub steps: Vec<TraceStep>,
    pub violation: Option<Violation>,
    /// What explains the violation; empty without one.
    pub failure: Failure,
}

impl Trace {
    /// The schedule that the trace was made from.
    pub fn schedule(&self) -> Schedule {
        self.steps.iter().flat_map(|step| step.choices.iter().copied()).collect()
    }

    pub fn actor(&self, actor: ActorId) -> &TraceActor {
        &self.actors[actor.as_u32() as usize]
    }

    /// What an actor is called.
    pub fn name(&self, actor: ActorId) -> &str {
        &self.actor(actor).name
    }

    pub fn message(&self, message: MessageId) -> &TraceMessage {
        &self.messages[message.as_u32() as usize]
    }

    pub fn actor_ids(&self) -> impl Iterator<Item = ActorId> + use<> {
        (0..self.actors.len() as u32).map(ActorId::from_u32)
    }

    /// Ends the run with a violation that the kernel knows nothing of.
    pub fn fail(&mut self, violation: &Violation) {
        if let Some(step) = self.steps.last_mut() {
            step.entries.push(Entry::Fault(violation.clone()));
        }
        self.violation = Some(violation.clone());
        // A trace that a limit has cut short has no actors.
        let monitor = violation.monitor.filter(|&monitor| monitor < self.actors.len());
        self.failure.actor = monitor.map(|monitor| ActorId::from_u32(monitor as u32));
    }

    /// The step, by its index, that a choice of the schedule belongs to.
    pub fn step_of_choice(&self, choice: usize) -> usize {
        let mut n_before = 0;
        for (i, step) in self.steps.iter().enumerate() {
            n_before += step.choices.len();
            if choice < n_before {
                return i;
            }
        }
        self.steps.len()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActorKind {
    Machine,
    Monitor,
    /// A task of a program with shared memory.
    Task,
    /// The variables that all tasks share.
    Shared,
}

/// A machine or monitor, and how it begins.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceActor {
    /// `Client(3)`
    pub name: Name,
    /// `Client`
    pub type_name: Name,
    pub kind: ActorKind,
    pub creator: Option<ActorId>,
    /// The step, by index, in which it begins to exist.
    pub created: u32,
    pub state: Name,
    /// Its variables and their first values.
    pub variables: Vec<(Name, Datum)>,
    /// Of a monitor: the events that each of its control states reacts to.
    pub reactions: Vec<(Name, Vec<Name>)>,
    pub span: Option<Span>,
}

/// What became of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Sent, and the run ended before it was delivered.
    Undelivered,
    /// In the network when the run ended.
    InFlight,
    /// In the inbox when the run ended.
    Waiting,
    Taken,
    Ignored,
    /// The network lost it.
    Lost,
    /// The target had halted.
    Dropped,
    /// The target halted or crashed while it waited.
    Discarded,
    /// An announcement is for monitors only.
    Announced,
}

impl Fate {
    pub const fn as_str(self) -> &'static str {
        match self {
            Fate::Undelivered => "undelivered",
            Fate::InFlight => "in-flight",
            Fate::Waiting => "waiting",
            Fate::Taken => "taken",
            Fate::Ignored => "ignored",
            Fate::Lost => "lost",
            Fate::Dropped => "dropped",
            Fate::Discarded => "discarded",
            Fate::Announced => "announced",
        }
    }
}

/// A message from its `send` to its end. Steps are indices.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceMessage {
    pub event: Name,
    pub payload: Payload,
    pub sender: Option<ActorId>,
    /// Absent for an announcement.
    pub target: Option<ActorId>,
    pub span: Option<Span>,
    /// The step in which monitors saw it; the one that delivers it if none did.
    pub sent: u32,
    /// The step that brought it to the inbox of its target, or to its hands.
    pub delivered: Option<u32>,
    /// The step in which its target took it.
    pub taken: Option<u32>,
    pub fate: Fate,
    /// The network made it of this one.
    pub copy_of: Option<MessageId>,
}

/// One atomic step: the choices that made it and what happened in it, in order.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct TraceStep {
    /// The machine that stepped; none when the network brought a message to its target.
    pub actor: Option<ActorId>,
    /// The choice of the mover, then the data choices in the step.
    pub choices: Vec<Choice>,
    /// Other machines that could have stepped, and targets that the network could have brought something; the first few.
    pub alternatives: Vec<ActorId>,
    /// How many there were in all.
    pub n_alternatives: u32,
    pub entries: Vec<Entry>,
    pub changes: Vec<Change>,
}

/// What a step changed in one actor.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    pub actor: ActorId,
    pub what: ChangeKind,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ChangeKind {
    /// The actor begins to exist.
    Created,
    State {
        before: Name,
        after: Name,
    },
    Activity {
        before: Activity,
        after: Activity,
    },
    Variable {
        name: Name,
        path: Vec<PathStep>,
        edit: Edit,
    },
    /// The message waits in the inbox from now on.
    Queued(MessageId),
    /// The message waited there, and was taken, ignored or discarded.
    Unqueued(MessageId),
}

/// What an actor is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    /// No handler runs.
    Idle,
    /// In the middle of a handler.
    Running,
    /// In `receive`.
    Waiting,
    Halted,
}

impl Activity {
    pub const fn as_str(self) -> &'static str {
        match self {
            Activity::Idle => "idle",
            Activity::Running => "running",
            Activity::Waiting => "waiting",
            Activity::Halted => "halted",
        }
    }
}

/// Why the run failed, beyond the text of the violation.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Failure {
    /// The machine or monitor that failed.
    pub actor: Option<ActorId>,
    /// The message that it was handling.
    pub message: Option<MessageId>,
    /// The condition of the assertion, or the expression that could not be evaluated.
    pub condition: Option<Span>,
    /// Values of variables and of parts of them in the condition, and operands of the operation that failed.
    pub parts: Vec<FailurePart>,
    /// Machines that wait in `receive`, and for which events.
    pub waiting: Vec<Waiting>,
    /// Of an unhandled event: the states that would have handled it.
    pub handled_in: Vec<Name>,
}

/// A value that matters for the failure.
#[derive(Clone, PartialEq, Debug)]
pub struct FailurePart {
    /// Where the expression stands, or what it is called.
    pub label: PartLabel,
    pub value: Datum,
    pub origin: PartOrigin,
}

#[derive(Clone, PartialEq, Debug)]
pub enum PartLabel {
    Source(Span),
    Text(Name),
}

/// Where a value came from.
#[derive(Clone, PartialEq, Debug)]
pub enum PartOrigin {
    /// A variable of the failing actor or else of the memory that tasks share, and the path into it.
    Variable {
        name: Name,
        path: Vec<PathStep>,
    },
    /// The payload of the message that was handled.
    Payload,
    Local,
    Computed,
}

/// A machine that waits in `receive`.
#[derive(Clone, PartialEq, Debug)]
pub struct Waiting {
    pub actor: ActorId,
    pub state: Name,
    pub events: Vec<Name>,
    pub span: Option<Span>,
    /// Machine types that may send one of them to this machine in this test.
    pub senders: Vec<Name>,
    /// Other machine types that may send one of them, but never to this machine.
    pub elsewhere: Vec<Name>,
}

/// Something that happened. `state` is the control state at that moment.
#[derive(Clone, PartialEq, Debug)]
pub enum Entry {
    Create {
        machine: ActorId,
        creator: Option<ActorId>,
        payload: Payload,
        span: Option<Span>,
    },
    /// The message is on its way: under P's own network it reached the target's inbox, or its hands.
    Send {
        message: MessageId,
        state: Name,
        /// The network brings it in a step of its own.
        is_delayed: bool,
    },
    /// The network lost the message.
    Lose {
        message: MessageId,
    },
    /// The network carries the message twice.
    Duplicate {
        message: MessageId,
        copy: MessageId,
    },
    /// The network brings a message to the inbox of its target.
    Arrive {
        message: MessageId,
    },
    /// The machine stops for good.
    Crash {
        machine: ActorId,
        state: Name,
        n_discarded: usize,
    },
    /// The target had halted, and the message is gone.
    Drop {
        message: MessageId,
    },
    /// The control state of the target ignores the message.
    Ignore {
        message: MessageId,
    },
    Dequeue {
        machine: ActorId,
        state: Name,
        event: Name,
        payload: Payload,
        /// Absent for the null event.
        message: Option<MessageId>,
    },
    /// A message that a `receive` waited for.
    Receive {
        machine: ActorId,
        state: Name,
        event: Name,
        payload: Payload,
        message: Option<MessageId>,
    },
    /// The machine waits in `receive` for one of these events.
    Wait {
        machine: ActorId,
        state: Name,
        events: Vec<Name>,
    },
    Raise {
        actor: ActorId,
        state: Name,
        event: Name,
        payload: Payload,
        span: Span,
    },
    Goto {
        actor: ActorId,
        state: Name,
        target: Name,
    },
    Enter {
        actor: ActorId,
        state: Name,
        /// Of a monitor.
        temperature: Option<&'static str>,
    },
    Exit {
        actor: ActorId,
        state: Name,
    },
    Announce {
        message: MessageId,
        state: Name,
    },
    /// A monitor sees an event that a machine sent or announced.
    Observe {
        monitor: ActorId,
        state: Name,
        message: MessageId,
    },
    /// A data choice: the answer and how many there were.
    Choice {
        machine: ActorId,
        answer: u32,
        n_answers: u32,
        value: Datum,
        span: Span,
    },
    Print {
        actor: ActorId,
        text: Name,
        span: Span,
    },
    Halt {
        machine: ActorId,
        n_discarded: usize,
    },
    /// A task executed a statement of a procedure. What it wrote is in the changes of the step.
    Statement {
        actor: ActorId,
        procedure: Name,
        /// The round of the scheduler, if it has more than one.
        round: Option<u32>,
        text: Name,
        span: Span,
    },
    /// The scheduler puts a task off by so many rounds.
    Delay {
        actor: ActorId,
        n_rounds: u32,
    },
    /// The scheduler never runs the task again.
    Abandon {
        actor: ActorId,
    },
    Fault(Violation),
}
