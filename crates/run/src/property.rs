//! What can break in a run.

use allways_base::{Sources, Span};

use crate::InstanceId;

/// How sure a liveness violation is (docs/semantics.md, section 6).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Certainty {
    /// No schedule can cool the monitor any more.
    Certain,
    /// The monitor stayed hot for as long as the temperature rule allows.
    Potential,
}

/// The property that broke, by kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ViolationKind {
    /// `assert` in a machine or monitor.
    Assertion,
    /// `requires` of a procedure, at a call.
    Precondition,
    /// `ensures` of a procedure, at its end.
    Postcondition,
    /// An invariant of a loop.
    LoopInvariant,
    /// A statement that must not be reached is.
    Reached,
    /// A task waits for one that was never posted.
    UnassignedHandle,
    /// A machine met an event that its control state neither handles, defers nor ignores.
    UnhandledEvent,
    /// The same in a monitor.
    MonitorUnhandled,
    /// A machine is blocked in `receive` and no machine can step.
    Deadlock,
    /// The target of a send is null.
    NullTarget,
    /// The event of a send, announce or raise is null.
    NullEvent,
    /// An operation on a value of the wrong class, null included: casts, payloads, operands.
    Cast,
    /// A field that the named tuple does not have.
    MissingField,
    /// A sequence or set index out of range.
    Index,
    /// A map read of an absent key.
    MissingKey,
    /// `+=` of a key that the map has.
    DuplicateKey,
    /// Null as map key or set element.
    NullElement,
    DivisionByZero,
    /// The event is not in the `sends` set of the machine.
    SendsSet,
    /// The reference does not permit the event, or `to` asks for more than it permits.
    Permission,
    /// `choose` over nothing, over too much, or below zero.
    Choose,
    /// `new` of an interface that the test binds to no machine.
    Unbound,
    /// A `halt` arrived in a `receive` of an exit or `with` function.
    PendingTransition,
    /// A monitor without start state was attached.
    NoStartState,
    /// A monitor is hot when the run has ended.
    HotAtEnd,
    /// A monitor stays hot on an infinite run.
    Liveness(Certainty),
    /// Messages beget messages for ever. Only `quiesce` looks for that.
    Divergence,
    /// A handler never ends: it came back to a state of its own, with nothing sent, created or observed in between.
    EndlessHandler,
    /// An invariant that the user stated for a search does not hold in a configuration.
    Invariant,
    /// The step bound was hit and the user asked to fail on that.
    StepBound(u64),
}

impl ViolationKind {
    /// Every kind. Each has a page in `docs/codes/run`.
    pub const ALL: &[ViolationKind] = &[
        ViolationKind::Assertion,
        ViolationKind::Precondition,
        ViolationKind::Postcondition,
        ViolationKind::LoopInvariant,
        ViolationKind::Reached,
        ViolationKind::UnassignedHandle,
        ViolationKind::UnhandledEvent,
        ViolationKind::MonitorUnhandled,
        ViolationKind::Deadlock,
        ViolationKind::NullTarget,
        ViolationKind::NullEvent,
        ViolationKind::Cast,
        ViolationKind::MissingField,
        ViolationKind::Index,
        ViolationKind::MissingKey,
        ViolationKind::DuplicateKey,
        ViolationKind::NullElement,
        ViolationKind::DivisionByZero,
        ViolationKind::SendsSet,
        ViolationKind::Permission,
        ViolationKind::Choose,
        ViolationKind::Unbound,
        ViolationKind::PendingTransition,
        ViolationKind::NoStartState,
        ViolationKind::HotAtEnd,
        ViolationKind::Liveness(Certainty::Certain),
        ViolationKind::Liveness(Certainty::Potential),
        ViolationKind::Divergence,
        ViolationKind::EndlessHandler,
        ViolationKind::Invariant,
        ViolationKind::StepBound(0),
    ];

    /// The kind in one line, for lists.
    pub const fn summary(self) -> &'static str {
        match self {
            ViolationKind::Assertion => "the condition of an `assert` is false",
            ViolationKind::Precondition => "a procedure is called where its `requires` does not hold",
            ViolationKind::Postcondition => "a procedure ends where its `ensures` does not hold",
            ViolationKind::LoopInvariant => "an invariant of a loop does not hold",
            ViolationKind::Reached => "a place that must not be reached is reached",
            ViolationKind::UnassignedHandle => "a task waits for a handle to which no task was assigned",
            ViolationKind::UnhandledEvent => {
                "an event that the current state neither handles, defers nor ignores"
            }
            ViolationKind::MonitorUnhandled => {
                "an event that the current state of a spec neither handles nor ignores"
            }
            ViolationKind::Deadlock => "no machine can step, and one waits in `receive`",
            ViolationKind::NullTarget => "a message is sent to `null`",
            ViolationKind::NullEvent => "a null event is sent, raised or announced",
            ViolationKind::Cast => "a value does not have the type that is needed",
            ViolationKind::MissingField => "a named tuple does not have the field",
            ViolationKind::Index => "an index of a sequence or set is out of range",
            ViolationKind::MissingKey => "a map does not have the key",
            ViolationKind::DuplicateKey => "`+=` of a key that the map has",
            ViolationKind::NullElement => "`null` as a key of a map or element of a set",
            ViolationKind::DivisionByZero => "the right operand of `/` or `%` is zero",
            ViolationKind::SendsSet => "an event that the `sends` clause of the machine does not list",
            ViolationKind::Permission => "an event that the reference to the machine does not permit",
            ViolationKind::Choose => "`choose` from nothing, or from too much",
            ViolationKind::Unbound => "`new` of an interface to which the test binds no machine",
            ViolationKind::PendingTransition => "`halt` arrives in a `receive` between two states",
            ViolationKind::NoStartState => "a spec without a start state is attached",
            ViolationKind::HotAtEnd => "the run has ended and a spec is hot",
            ViolationKind::Liveness(Certainty::Certain) => "a spec stays hot for ever on an infinite run",
            ViolationKind::Liveness(Certainty::Potential) => "a spec was hot for very long",
            ViolationKind::Divergence => "messages cause messages for ever",
            ViolationKind::EndlessHandler => "a handler never ends",
            ViolationKind::Invariant => "an invariant of `prove --invariant` does not hold",
            ViolationKind::StepBound(_) => {
                "the step bound was reached, which `--fail-on-maxsteps` makes a violation"
            }
        }
    }

    /// The stable name, in kebab case.
    pub const fn as_str(self) -> &'static str {
        match self {
            ViolationKind::Assertion => "assertion",
            ViolationKind::Precondition => "precondition",
            ViolationKind::Postcondition => "postcondition",
            ViolationKind::LoopInvariant => "loop-invariant",
            ViolationKind::Reached => "reached",
            ViolationKind::UnassignedHandle => "unassigned-handle",
            ViolationKind::UnhandledEvent => "unhandled-event",
            ViolationKind::MonitorUnhandled => "monitor-unhandled",
            ViolationKind::Deadlock => "deadlock",
            ViolationKind::NullTarget => "null-target",
            ViolationKind::NullEvent => "null-event",
            ViolationKind::Cast => "cast",
            ViolationKind::MissingField => "missing-field",
            ViolationKind::Index => "index",
            ViolationKind::MissingKey => "missing-key",
            ViolationKind::DuplicateKey => "duplicate-key",
            ViolationKind::NullElement => "null-element",
            ViolationKind::DivisionByZero => "division-by-zero",
            ViolationKind::SendsSet => "sends-set",
            ViolationKind::Permission => "permission",
            ViolationKind::Choose => "choose",
            ViolationKind::Unbound => "unbound",
            ViolationKind::PendingTransition => "pending-transition",
            ViolationKind::NoStartState => "no-start-state",
            ViolationKind::HotAtEnd => "hot-at-end",
            ViolationKind::Liveness(Certainty::Certain) => "liveness",
            ViolationKind::Liveness(Certainty::Potential) => "potential-liveness",
            ViolationKind::Divergence => "divergence",
            ViolationKind::EndlessHandler => "endless-handler",
            ViolationKind::Invariant => "invariant",
            ViolationKind::StepBound(_) => "step-bound",
        }
    }
}

/// One property that broke, where, and the text for people, which follows P's where P has one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    pub kind: ViolationKind,
    pub message: String,
    /// The construct that failed. Absent where no single construct is at fault (deadlock, hot at end).
    pub span: Option<Span>,
    /// The machine that was running, if one was.
    pub machine: Option<InstanceId>,
    /// The monitor that broke or was broken, by its place in the test.
    pub monitor: Option<usize>,
}

impl Violation {
    /// The whole text as P writes it: an assertion names its place.
    pub fn text(&self, sources: &Sources) -> String {
        match (self.kind, self.span) {
            (ViolationKind::Assertion, Some(span)) => {
                format!("Assertion Failed: {} {}", sources.place(span), self.message)
            }
            _ => self.message.clone(),
        }
    }
}
