//! Where every machine stands, as owned data that is compared by structure.
//!
//! The continuation of a handler is a stack of [`Frame`]s, each a stack of [`Task`]s over the statements and
//! expressions of one function, with the values computed so far. So a machine can stop anywhere: in a `send` inside a
//! function inside an expression inside a loop.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use allways_p::hir::{Action, EventId, ExprId, FunId, InterfaceId, MachineId, Program, StateId, StmtId};

use super::network::Network;
use super::value::{Path, Value};

pub type Message = (EventId, Value);

/// What a function has still to do. The last task of a list comes first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Task {
    /// Begin a statement: queue the evaluation of its operands.
    Begin(StmtId),
    /// Perform a statement: its operands are on the value stack.
    Finish(StmtId),
    /// The condition of the n-th arm of an `if`, or of a `while`, is on the stack.
    Test(StmtId, usize),
    /// The head of a `while`.
    While(StmtId),
    /// The head of a `foreach`, with the items and how many are done.
    Foreach(StmtId, Vec<Value>, usize),
    /// The end of a receive case, which `break` looks for.
    CaseEnd,
    Eval(ExprId),
    /// Apply an operator: the operands that are not bare are on the stack.
    Apply(ExprId),
    /// The left side of `&&` or `||` is on the stack.
    Right(ExprId),
}

/// One activation of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    pub fun: FunId,
    pub locals: Vec<Value>,
    pub tasks: Vec<Task>,
    pub values: Vec<Value>,
}

/// What comes when no function is running, in the course of handling one item.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Next {
    /// The exit function of the current control state.
    Exit,
    /// The `with` function of a transition.
    With(FunId, Value),
    /// Change the control state and run its entry.
    Enter(StateId, Value),
    /// Nothing handles this event: halt stops the machine, others are violations.
    Unhandled(EventId),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Raised {
    Event(Message),
    Goto(StateId, Value),
}

/// At which scheduling point a machine stands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// Executing. Never seen between two scheduling points, and the only status of a monitor.
    Running,
    /// Created; the entry of the start state has not run.
    Created(Value),
    /// In `send`: observed, not yet enqueued.
    Sending {
        target: Path,
        message: Message,
    },
    /// In `new`: the machine does not exist yet.
    Creating {
        interface: InterfaceId,
        payload: Value,
    },
    /// A message was taken from the inbox and is not yet handled.
    Taken(Message),
    /// In a control state with a null handler, before the inbox is checked.
    BeforeLook,
    /// There, and nothing was found: before the null handler.
    BeforeNull,
    /// In this `receive`, with a message that it waits for in hand.
    Received(StmtId, Message),
    /// In this `receive`, waiting.
    Blocked(StmtId),
    /// Nothing to do.
    Idle,
    /// Was idle, and something arrived that can be handled.
    Woken,
    Halted,
}

/// A machine instance or a monitor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Local {
    pub machine: MachineId,
    /// The interface it was created as; a monitor has none.
    pub interface: Option<InterfaceId>,
    pub control: StateId,
    pub fields: Vec<Value>,
    pub inbox: VecDeque<Message>,
    pub status: Status,
    pub frames: Vec<Frame>,
    pub agenda: VecDeque<Next>,
    pub raised: Option<Raised>,
    pub n_children: u32,
}

impl Local {
    pub fn new(
        program: &Program,
        machine: MachineId,
        interface: Option<InterfaceId>,
        start: StateId,
    ) -> Self {
        let def = &program.machines[machine];
        Local {
            machine,
            interface,
            control: start,
            fields: def.fields.iter().map(|field| Value::default_of(program, field.ty)).collect(),
            inbox: VecDeque::new(),
            status: Status::Running,
            frames: Vec::new(),
            agenda: VecDeque::new(),
            raised: None,
            n_children: 0,
        }
    }

    /// Stops for good; nothing of it can be seen any more.
    pub fn halt(&mut self) {
        self.status = Status::Halted;
        self.inbox.clear();
        self.fields.clear();
        self.control = StateId::from_u32(0);
        self.n_children = 0;
        self.frames.clear();
        self.agenda.clear();
        self.raised = None;
    }

    pub fn action(&self, program: &Program, event: EventId) -> Option<Action> {
        program.machines[self.machine].states[self.control].action(event)
    }

    pub fn has_null_handler(&self, program: &Program) -> bool {
        matches!(self.action(program, EventId::NULL), Some(Action::Do(_) | Action::Goto(..)))
    }

    /// Whether the inbox holds something that the control state neither defers nor ignores.
    pub fn can_take(&self, program: &Program) -> bool {
        let waits = |event| matches!(self.action(program, event), Some(Action::Defer | Action::Ignore));
        self.inbox.iter().any(|(event, _)| !waits(*event))
    }

    pub fn is_enabled(&self) -> bool {
        match self.status {
            Status::Running | Status::Blocked(_) | Status::Idle | Status::Halted => false,
            Status::Created(_)
            | Status::Sending { .. }
            | Status::Creating { .. }
            | Status::Taken(_)
            | Status::BeforeLook
            | Status::BeforeNull
            | Status::Received(..)
            | Status::Woken => true,
        }
    }
}

/// The global state. Locals are shared between configurations to save memory; equality is of content.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Configuration {
    pub machines: BTreeMap<Path, Rc<Local>>,
    /// In order of attachment.
    pub monitors: Vec<Rc<Local>>,
    /// The messages in flight.
    pub network: Network,
    /// Machines in order of creation, if their numbers are to be seen in texts.
    pub order: Option<Vec<(Path, InterfaceId)>>,
}
