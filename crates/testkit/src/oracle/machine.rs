//! One atomic segment: a machine from one scheduling point to the next (docs/semantics.md, section 1).

use std::collections::VecDeque;
use std::rc::Rc;

use allways_base::Span;
use allways_p::hir::{Action, EventId, FunId, InterfaceId, Program, StmtId, StmtKind, Test};
use allways_run::{NetworkModel, ViolationKind};

use super::configuration::{Configuration, Frame, Local, Message, Next, Raised, Status, Task};
use super::network::Rules;
use super::value::{Fault, Path, Value};
use allways_machine::Script;

/// Why a segment ends the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trap {
    Violation(ViolationKind, Option<Span>),
    /// The program cannot go on, and that is not its fault: a foreign function without body.
    Unknown,
    /// Too many tasks without a scheduling point.
    Bound,
}

impl Trap {
    pub fn fault(kind: Fault, span: Span) -> Trap {
        Trap::Violation(kind, Some(span))
    }
}

/// Whether a machine goes on or has reached a scheduling point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    Go,
    Stop,
}

pub type Outcome<T> = Result<T, Trap>;

/// The machine or monitor that executes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Who {
    Machine(Path),
    Monitor,
}

/// A local that is being executed, taken out of the configuration.
pub struct Active {
    pub who: Who,
    pub local: Local,
}

impl Active {
    pub fn frame(&mut self) -> &mut Frame {
        self.local.frames.last_mut().expect("a task runs in a frame")
    }

    pub fn push(&mut self, value: Value) {
        self.frame().values.push(value);
    }

    pub fn pop(&mut self) -> Value {
        self.frame().values.pop().expect("operands are on the stack")
    }
}

/// One segment in progress.
pub struct Segment<'a> {
    pub program: &'a Program,
    pub test: &'a Test,
    pub rules: &'a Rules,
    pub conf: Configuration,
    pub script: &'a mut Script,
    /// Tasks left.
    pub fuel: u32,
    /// Answers to a choice of a number that are explored.
    pub max_choices: Option<u32>,
    /// Some were not.
    pub left_out: bool,
}

impl Segment<'_> {
    /// Starts the monitors, in order of attachment.
    pub fn start_monitors(&mut self) -> Outcome<()> {
        for monitor in 0..self.conf.monitors.len() {
            let machine = self.conf.monitors[monitor].machine;
            let def = &self.program.machines[machine];
            let Some(start) = def.start else {
                return Err(Trap::fault(ViolationKind::NoStartState, def.span));
            };
            self.with_monitor(monitor, |_, active| {
                active.local.agenda.push_back(Next::Enter(start, Value::Null));
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Runs a machine to its next scheduling point.
    pub fn run(&mut self, path: &Path) -> Outcome<()> {
        let status = self.machine_mut(path).status.clone();
        self.machine_mut(path).status = Status::Running;
        // The effect that the machine stands before concerns others: make it while all are in their places.
        match &status {
            Status::Sending { target, message } => self.put_in_flight(path, target, message),
            Status::Creating { interface, payload } => self.create(path, *interface, payload.clone()),
            _ => {}
        }
        let local = self.conf.machines.remove(path).expect("the machine exists");
        let mut active = Active { who: Who::Machine(path.clone()), local: Rc::unwrap_or_clone(local) };
        let flow = match status {
            Status::Created(payload) => {
                let start = active.local.control;
                active.local.agenda.push_back(Next::Enter(start, payload));
                Flow::Go
            }
            Status::Sending { .. } | Status::Creating { .. } => Flow::Go,
            Status::Taken(message) => self.handle(&mut active, message)?,
            Status::BeforeLook => self.look(&mut active, false)?,
            Status::Woken => self.look(&mut active, true)?,
            Status::BeforeNull => self.handle(&mut active, (EventId::NULL, Value::Null))?,
            Status::Received(stmt, message) => self.received(&mut active, stmt, message)?,
            Status::Running | Status::Blocked(_) | Status::Idle | Status::Halted => {
                unreachable!("only enabled machines run")
            }
        };
        if flow == Flow::Go {
            self.drive(&mut active)?;
        }
        self.conf.machines.insert(path.clone(), Rc::new(active.local));
        Ok(())
    }

    fn machine_mut(&mut self, path: &Path) -> &mut Local {
        Rc::make_mut(self.conf.machines.get_mut(path).expect("the machine exists"))
    }

    /// A message leaves its sender. One to oneself is in the inbox at once.
    fn put_in_flight(&mut self, sender: &Path, target: &Path, message: &Message) {
        if sender == target {
            return self.enqueue(target, message.clone());
        }
        let fates = self.rules.fates(message.0);
        let fate = if fates.len() > 1 { self.script.ask(fates.len() as u32) } else { 0 };
        for _ in 0..fates[fate as usize] {
            match self.rules.model {
                NetworkModel::Inbox => self.enqueue(target, message.clone()),
                model => self.conf.network.send(model, sender, target, message),
            }
        }
    }

    /// A message arrives (6.8).
    pub fn enqueue(&mut self, target: &Path, message: Message) {
        let program = self.program;
        let local = self.machine_mut(target);
        match local.status {
            Status::Halted => {}
            Status::Blocked(stmt) if waits_for(program, local, stmt, message.0) => {
                local.status = Status::Received(stmt, message);
            }
            Status::Idle => {
                local.inbox.push_back(message);
                if local.can_take(program) {
                    local.status = Status::Woken;
                }
            }
            _ => local.inbox.push_back(message),
        }
    }

    /// The machine comes to exist, and its creator gets the reference.
    fn create(&mut self, creator: &Path, interface: InterfaceId, payload: Value) {
        let program = self.program;
        let local = self.machine_mut(creator);
        let child: Path = creator.iter().copied().chain([local.n_children]).collect();
        local.n_children += 1;
        let permits = program.interfaces[interface].receives.iter().collect();
        let frame = local.frames.last_mut().expect("new is in a frame");
        frame.values.push(Value::Machine(child.clone(), permits));
        let created = new_machine(program, self.test, interface, payload);
        self.conf.network.create(creator, &child);
        if let Some(order) = &mut self.conf.order {
            order.push((child.clone(), interface));
        }
        self.conf.machines.insert(child, Rc::new(created));
    }

    /// Passes a sent or announced event through the monitors that watch the sender (6.10).
    pub fn observe(&mut self, sender: &Local, message: &Message) -> Outcome<()> {
        let test = self.test;
        for (monitor, (machine, watched)) in test.system.monitors.iter().enumerate() {
            let observes = self.program.machines[*machine].observes.contains(message.0);
            if observes && sender.interface.is_some_and(|interface| watched.contains(&interface)) {
                self.with_monitor(monitor, |segment, active| {
                    segment.handle(active, message.clone())?;
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn with_monitor(
        &mut self,
        monitor: usize,
        begin: impl FnOnce(&mut Self, &mut Active) -> Outcome<()>,
    ) -> Outcome<()> {
        let local = (*self.conf.monitors[monitor]).clone();
        let mut active = Active { who: Who::Monitor, local };
        begin(self, &mut active)?;
        self.drive(&mut active)?;
        self.conf.monitors[monitor] = Rc::new(active.local);
        Ok(())
    }

    /// Executes until a scheduling point; a monitor, until it has nothing left to do.
    fn drive(&mut self, active: &mut Active) -> Outcome<()> {
        loop {
            self.fuel = self.fuel.checked_sub(1).ok_or(Trap::Bound)?;
            let flow = if let Some(frame) = active.local.frames.last_mut() {
                match frame.tasks.pop() {
                    Some(task) => self.task(active, task)?,
                    None => self.leave_function(active, Value::Null),
                }
            } else if let Some(next) = active.local.agenda.pop_front() {
                self.next(active, next)?
            } else if let Some(raised) = active.local.raised.take() {
                self.handle_raised(active, raised)?
            } else if active.who == Who::Monitor {
                Flow::Stop
            } else if active.local.has_null_handler(self.program) {
                active.local.status = Status::BeforeLook;
                Flow::Stop
            } else {
                self.look(active, false)?
            };
            if flow == Flow::Stop {
                return Ok(());
            }
        }
    }

    /// Looks for a message to take (6.3).
    fn look(&mut self, active: &mut Active, was_woken: bool) -> Outcome<Flow> {
        let program = self.program;
        let local = &mut active.local;
        let mut kept = VecDeque::new();
        let mut taken = None;
        while let Some(message) = local.inbox.pop_front() {
            match local.action(program, message.0) {
                Some(Action::Defer) => kept.push_back(message),
                Some(Action::Ignore) => {}
                Some(Action::Do(_) | Action::Goto(..)) | None => {
                    taken = Some(message);
                    break;
                }
            }
        }
        kept.append(&mut local.inbox);
        local.inbox = kept;
        match taken {
            Some(message) if was_woken => return self.handle(active, message),
            Some(message) => local.status = Status::Taken(message),
            None if local.has_null_handler(program) => local.status = Status::BeforeNull,
            None => local.status = Status::Idle,
        }
        Ok(Flow::Stop)
    }

    fn handle_raised(&mut self, active: &mut Active, raised: Raised) -> Outcome<Flow> {
        match raised {
            Raised::Goto(target, payload) => {
                active.local.agenda.extend([Next::Exit, Next::Enter(target, payload)]);
                Ok(Flow::Go)
            }
            Raised::Event((event, payload)) => match active.local.action(self.program, event) {
                Some(Action::Ignore) => Ok(Flow::Go),
                _ => self.handle(active, (event, payload)),
            },
        }
    }

    /// Handles an item in the current control state (6.4).
    fn handle(&mut self, active: &mut Active, (event, payload): Message) -> Outcome<Flow> {
        let local = &mut active.local;
        match local.action(self.program, event) {
            Some(Action::Do(fun)) => return self.call_handler(active, fun, payload),
            Some(Action::Goto(target, with)) => {
                local.agenda.push_back(Next::Exit);
                if let Some(fun) = with {
                    local.agenda.push_back(Next::With(fun, payload.clone()));
                }
                local.agenda.push_back(Next::Enter(target, payload));
            }
            // Of a raised event that is deferred nothing remains. A monitor ignores what it observes here.
            Some(Action::Defer | Action::Ignore) => {}
            None if active.who == Who::Monitor => {
                let span = self.program.machines[local.machine].states[local.control].span;
                return Err(Trap::fault(ViolationKind::MonitorUnhandled, span));
            }
            None => local.agenda.extend([Next::Exit, Next::Unhandled(event)]),
        }
        Ok(Flow::Go)
    }

    fn next(&mut self, active: &mut Active, next: Next) -> Outcome<Flow> {
        let def = &self.program.machines[active.local.machine];
        let state = &def.states[active.local.control];
        match next {
            Next::Exit => match state.exit {
                Some(fun) => self.call_handler(active, fun, Value::Null),
                None => Ok(Flow::Go),
            },
            Next::With(fun, payload) => self.call_handler(active, fun, payload),
            Next::Enter(target, payload) => {
                active.local.control = target;
                match def.states[target].entry {
                    Some(fun) => self.call_handler(active, fun, payload),
                    None => Ok(Flow::Go),
                }
            }
            Next::Unhandled(EventId::HALT) => {
                active.local.halt();
                Ok(Flow::Stop)
            }
            Next::Unhandled(_) => Err(Trap::fault(ViolationKind::UnhandledEvent, state.span)),
        }
    }

    /// Runs a function as a handler: it gets the payload if it wants one (6.5).
    fn call_handler(&mut self, active: &mut Active, fun: FunId, payload: Value) -> Outcome<Flow> {
        let def = &self.program.functions[fun];
        let mut args = Vec::new();
        if def.n_params > 0 {
            let param = &def.locals.as_slice()[0];
            if !payload.fits(self.program, param.ty) {
                return Err(Trap::fault(ViolationKind::Cast, def.span));
            }
            args.push(payload);
        }
        self.enter_function(active, fun, args)
    }

    pub fn enter_function(&mut self, active: &mut Active, fun: FunId, args: Vec<Value>) -> Outcome<Flow> {
        let program = self.program;
        let def = &program.functions[fun];
        let Some(body) = &def.body else { return Err(Trap::Unknown) };
        let mut locals = args;
        for local in def.locals.iter().skip(locals.len()) {
            locals.push(Value::default_of(program, local.ty));
        }
        let tasks = body.block.iter().rev().map(|&stmt| Task::Begin(stmt)).collect();
        active.local.frames.push(Frame { fun, locals, tasks, values: Vec::new() });
        Ok(Flow::Go)
    }

    /// Returns to the caller, or to the agenda.
    pub fn leave_function(&mut self, active: &mut Active, result: Value) -> Flow {
        active.local.frames.pop();
        if let Some(caller) = active.local.frames.last_mut() {
            caller.values.push(result);
        }
        Flow::Go
    }

    /// `raise` and `goto` unwind the handler (6.6).
    pub fn raise(&mut self, active: &mut Active, raised: Raised, span: Span) -> Outcome<Flow> {
        // What is left of the agenda shows that this was an exit or `with` function.
        if !active.local.agenda.is_empty() {
            return Err(Trap::fault(ViolationKind::PendingTransition, span));
        }
        active.local.frames.clear();
        active.local.raised = Some(raised);
        Ok(Flow::Go)
    }

    /// A message for the `receive` at hand (6.7).
    fn received(&mut self, active: &mut Active, stmt: StmtId, message: Message) -> Outcome<Flow> {
        let program = self.program;
        let function = &program.functions[active.frame().fun];
        let body = function.body.as_ref().expect("receive is in a body");
        let span = body.stmts[stmt].span;
        let StmtKind::Receive { cases } = &body.stmts[stmt].kind else { unreachable!("a receive") };
        let (event, payload) = message;
        let Some(case) = cases.iter().find(|case| case.events.contains(&event)) else {
            return self.raise(active, Raised::Event((event, payload)), span);
        };
        let frame = active.frame();
        for &local in &case.locals {
            let ty = function.locals[local].ty;
            frame.locals[allways_base::Idx::index(local)] = Value::default_of(program, ty);
        }
        if let Some(param) = case.param {
            if !payload.fits(program, function.locals[param].ty) {
                return Err(Trap::fault(ViolationKind::Cast, span));
            }
            frame.locals[allways_base::Idx::index(param)] = payload;
        }
        frame.tasks.push(Task::CaseEnd);
        frame.tasks.extend(case.block.iter().rev().map(|&stmt| Task::Begin(stmt)));
        Ok(Flow::Go)
    }

    /// `receive`: takes the first message it waits for, whatever the control state says, or blocks.
    pub fn receive(&mut self, active: &mut Active, stmt: StmtId) -> Flow {
        let program = self.program;
        let local = &mut active.local;
        let at = local.inbox.iter().position(|(event, _)| waits_for(program, local, stmt, *event));
        local.status = match at.and_then(|at| local.inbox.remove(at)) {
            Some(message) => Status::Received(stmt, message),
            None => Status::Blocked(stmt),
        };
        Flow::Stop
    }
}

/// Whether the `receive` at hand waits for an event; every one waits for halt.
fn waits_for(program: &Program, local: &Local, stmt: StmtId, event: EventId) -> bool {
    let frame = local.frames.last().expect("receive is in a frame");
    let body = program.functions[frame.fun].body.as_ref().expect("receive is in a body");
    let StmtKind::Receive { cases } = &body.stmts[stmt].kind else { unreachable!("a receive") };
    event == EventId::HALT || cases.iter().any(|case| case.events.contains(&event))
}

/// A machine that exists and has not begun.
pub fn new_machine(program: &Program, test: &Test, interface: InterfaceId, payload: Value) -> Local {
    let machine = test.system.machine_of(interface).expect("checked before the scheduling point");
    let start = program.machines[machine].start.expect("machines have a start state");
    let mut local = Local::new(program, machine, Some(interface), start);
    local.status = Status::Created(payload);
    local
}
