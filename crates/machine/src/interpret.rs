//! The interpreter: runs one instance, or one monitor, from one effect to the next.
//!
//! It is a coroutine over a [`Local`]: [`resume`] takes what the instance was waiting for and returns the next
//! [`Effect`]. It sees no other machine, no inbox and no monitor; whatever it needs from outside comes as
//! [`Input`]. So an outcome depends on the local and the inputs alone and can be remembered for both.
//!
//! This file knows P's handlers: states, actions, exit and entry, raise and goto. `interpret/exec.rs` executes ops.

mod exec;
mod pointwise;

use allways_base::Span;
use allways_p::hir::EventId;
use allways_run::{HandlerLimit, Limits, ViolationKind};

use crate::Executable;
use crate::configuration::{After, Fault, Frame, Local, Message, Roster};
use crate::ir::{Action, ControlId, FunId, InterfaceId, Op, Operand, ReceiveId};
use crate::ops;
use crate::record::{Actor, Note, PathNames, Recorder, Scene};
use crate::value::{InstanceNames, Store, Value};

pub use pointwise::{Piece, Pointwise};

/// What an instance waited for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Input {
    /// It begins: run the entry of the start state with the constructor's payload.
    Start(Value),
    /// A message was taken from the inbox, or the null event fires.
    Handle(Message),
    /// Go on with the op at hand: after a delivery or creation, or before an observation.
    Continue,
    /// The observation at hand was made.
    Observed,
    /// The answer to the choice at hand.
    Chosen(u32),
    /// A message for the `receive` at hand.
    Received(Message),
}

/// Where an instance stops.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Effect {
    /// Before an announcement, or before the observation of a send; nothing has changed yet.
    Observe(Message),
    /// Before a delivery; its observation is made.
    Deliver {
        target: allways_run::InstanceId,
        message: Message,
    },
    /// Before a creation.
    Create {
        interface: InterfaceId,
        payload: Value,
        dst: Operand,
    },
    /// At a `$` or `choose` with so many answers, two at least.
    Choose {
        n_answers: u32,
        /// Written `choose(n)`, of a number.
        is_number: bool,
    },
    /// At a `receive`, by its table.
    Receive {
        table: ReceiveId,
    },
    /// The handler is done: time for the next message.
    Done,
    Halt,
    Fault(Fault),
    /// It needs more than it is given.
    Exceeds(HandlerLimit),
    /// At the call of a foreign function without body.
    Foreign {
        fun: FunId,
    },
    /// The fuel is used up; [`Input::Continue`] goes on.
    Yield,
}

/// What a run of the interpreter needs besides the local.
pub struct Context<'a, R> {
    pub exe: &'a Executable,
    pub store: &'a mut Store,
    /// For names in notes only.
    pub roster: &'a Roster,
    pub limits: &'a Limits,
    pub recorder: &'a mut R,
    pub actor: Actor,
    /// Instructions before it yields.
    pub fuel: &'a mut u32,
}

/// Runs `local` up to its next effect.
pub fn resume<R: Recorder>(context: Context<'_, R>, local: &mut Local, input: Input) -> Effect {
    let mut interpreter = Interpreter { cx: context, local };
    match interpreter.run(input) {
        Ok(effect) => effect,
        Err(trap) => trap.into(),
    }
}

/// Why a handler goes no further than the op at hand.
enum Trap {
    Fault(Fault),
    Exceeds(HandlerLimit),
}

impl From<Trap> for Effect {
    fn from(trap: Trap) -> Self {
        match trap {
            Trap::Fault(fault) => Effect::Fault(fault),
            Trap::Exceeds(limit) => Effect::Exceeds(limit),
        }
    }
}

/// How the frames of a handler ended, or were left.
enum Stop {
    Return,
    Raise(Message),
    Goto { target: ControlId, payload: Value },
    Effect(Effect),
}

/// What to do between handlers' frames.
enum Next {
    /// Execute the frames.
    Execute,
    Effect(Effect),
}

struct Interpreter<'a, 'b, R> {
    cx: Context<'a, R>,
    local: &'b mut Local,
}

impl<R: Recorder> Interpreter<'_, '_, R> {
    fn run(&mut self, input: Input) -> Result<Effect, Trap> {
        let mut next = self.take_input(input)?;
        loop {
            match next {
                Next::Effect(effect) => return Ok(effect),
                Next::Execute => {}
            }
            next = match self.execute()? {
                Stop::Effect(effect) => return Ok(effect),
                stop => self.after_stop(stop)?,
            };
        }
    }

    fn take_input(&mut self, input: Input) -> Result<Next, Trap> {
        Ok(match input {
            Input::Start(payload) => self.enter(self.local.control, payload)?,
            Input::Handle(message) => self.dispatch(message)?,
            Input::Continue => Next::Execute,
            Input::Observed => self.observed(),
            Input::Chosen(answer) => {
                self.chosen(answer)?;
                Next::Execute
            }
            Input::Received(message) => self.received(message)?,
        })
    }

    /// What comes when frames were left.
    fn after_stop(&mut self, stop: Stop) -> Result<Next, Trap> {
        match stop {
            Stop::Effect(effect) => Ok(Next::Effect(effect)),
            Stop::Return => self.after_frames(),
            Stop::Raise(message) => self.raised(message),
            Stop::Goto { target, payload } => {
                self.unwind();
                if R::ON {
                    let (actor, state) = (self.cx.actor, self.local.control);
                    self.note(Note::Goto { actor, state, target });
                }
                self.leave(target, None, payload)
            }
        }
    }

    #[inline]
    fn note(&mut self, note: Note) {
        let scene = Scene { exe: self.cx.exe, store: self.cx.store, roster: self.cx.roster };
        self.cx.recorder.record(&scene, note);
    }

    fn is_monitor(&self) -> bool {
        matches!(self.cx.actor, Actor::Monitor(_))
    }

    fn unwind(&mut self) {
        self.local.frames.clear();
        let n_fields = self.cx.exe.machines[self.local.machine].fields.len();
        if self.cx.store.has_drafts() {
            self.cx.store.release_all(&self.local.registers[n_fields..]);
        }
        self.local.registers.truncate(n_fields);
    }

    /// Handles an event in the current control state.
    fn dispatch(&mut self, message: Message) -> Result<Next, Trap> {
        let exe = self.cx.exe;
        let state = &exe.states[self.local.control];
        match state.actions[message.event] {
            // Only a raised event can be one that is deferred, and it is lost.
            Action::Ignore | Action::Defer => Ok(Next::Effect(Effect::Done)),
            Action::Do(fun) => {
                self.local.after = After::Handler;
                self.begin(fun, message.payload)
            }
            Action::Goto(target, with) => {
                if R::ON {
                    let (actor, state) = (self.cx.actor, self.local.control);
                    self.note(Note::Goto { actor, state, target });
                }
                self.leave(target, with, message.payload)
            }
            Action::None if self.is_monitor() => Err(self.unhandled(message.event)),
            Action::None => {
                self.local.after = After::Unhandled { event: message.event };
                self.exit_state()
            }
        }
    }

    fn raised(&mut self, message: Message) -> Result<Next, Trap> {
        // Possible only for a halt that arrives in a `receive`: the front end rejects the rest.
        if self.local.after != After::Handler {
            return Err(self.fault_here(
                ViolationKind::PendingTransition,
                "halt arrived in a receive of an exit or transition function".into(),
            ));
        }
        self.unwind();
        self.dispatch(message)
    }

    /// Begins a transition: the exit function of the current state comes first.
    fn leave(&mut self, target: ControlId, with: Option<FunId>, payload: Value) -> Result<Next, Trap> {
        self.local.after = After::Exit { target, with, payload };
        self.exit_state()
    }

    fn exit_state(&mut self) -> Result<Next, Trap> {
        let state = self.local.control;
        if R::ON {
            let actor = self.cx.actor;
            self.note(Note::Exit { actor, state });
        }
        match self.cx.exe.states[state].exit {
            Some(fun) => self.begin(fun, Value::NULL),
            None => self.after_frames(),
        }
    }

    /// The outermost function returned, or was not there.
    fn after_frames(&mut self) -> Result<Next, Trap> {
        match self.local.after {
            After::Handler => Ok(Next::Effect(Effect::Done)),
            After::Exit { target, with: Some(fun), payload } => {
                self.local.after = After::With { target, payload };
                self.begin(fun, payload)
            }
            After::Exit { target, with: None, payload } | After::With { target, payload } => {
                self.enter(target, payload)
            }
            After::Unhandled { event: EventId::HALT } => Ok(Next::Effect(Effect::Halt)),
            After::Unhandled { event } => Err(self.unhandled(event)),
        }
    }

    fn enter(&mut self, state: ControlId, payload: Value) -> Result<Next, Trap> {
        self.local.control = state;
        self.local.after = After::Handler;
        if R::ON {
            let actor = self.cx.actor;
            self.note(Note::Enter { actor, state });
        }
        match self.cx.exe.states[state].entry {
            Some(fun) => self.begin(fun, payload),
            None => Ok(Next::Effect(Effect::Done)),
        }
    }

    /// Pushes the outermost frame of a handler.
    fn begin(&mut self, fun: FunId, payload: Value) -> Result<Next, Trap> {
        let exe = self.cx.exe;
        let def = &exe.funs[fun];
        let has_fuel = self.spend(def.end - def.entry);
        let base = self.local.registers.len();
        self.local.frames.push(Frame { fun, pc: def.entry, base: base as u32, dst: Operand::register(0) });
        self.local.registers.resize(base + def.n_registers as usize, Value::NULL);
        if let Some(&class) = def.params.first() {
            if let Err(fault) = ops::check_payload(payload, class) {
                return Err(self.op_fault_at(fault, Some(def.span)));
            }
            self.local.registers[base] = payload;
        }
        Ok(if has_fuel { Next::Execute } else { Next::Effect(Effect::Yield) })
    }

    /// The observation of the op at hand was made: a send goes on to its delivery.
    fn observed(&mut self) -> Next {
        let Some(frame) = self.local.frames.last_mut() else { return Next::Effect(Effect::Done) };
        let pc = frame.pc;
        frame.pc += 1;
        let base = frame.base as usize;
        match self.cx.exe.code[pc as usize] {
            Op::Send { target, event, payload } => {
                let (target, event) = (self.read(base, target), self.read(base, event));
                let payload = self.read_copy(base, payload);
                match (target.as_ref(), event.as_event()) {
                    (Some((target, _)), Some(event)) => {
                        Next::Effect(Effect::Deliver { target, message: Message { event, payload } })
                    }
                    _ => Next::Execute,
                }
            }
            _ => Next::Execute,
        }
    }

    fn received(&mut self, message: Message) -> Result<Next, Trap> {
        let exe = self.cx.exe;
        let Some(frame) = self.local.frames.last_mut() else { return Ok(Next::Effect(Effect::Done)) };
        let Op::Receive { table } = exe.code[frame.pc as usize] else { return Ok(Next::Execute) };
        let Some(case) = exe.receives[table].cases[message.event] else {
            // Every `receive` waits for halt; without a case it stops the machine right here.
            return self.raised(message);
        };
        if let Some((register, class)) = case.param {
            if let Err(fault) = ops::check_payload(message.payload, class) {
                return Err(self.op_fault(fault));
            }
            let at = frame.base as usize + register as usize;
            self.local.registers[at] = message.payload;
        }
        frame.pc = case.to;
        Ok(Next::Execute)
    }

    /// Whether there was fuel for that.
    #[inline]
    fn spend(&mut self, n: u32) -> bool {
        let left = self.cx.fuel.checked_sub(n.saturating_add(self.cx.store.take_copied()));
        *self.cx.fuel = left.unwrap_or(0);
        left.is_some()
    }

    fn unhandled(&mut self, event: EventId) -> Trap {
        let exe = self.cx.exe;
        let name = exe.event_name(event);
        let state = &exe.states[self.local.control];
        let (kind, text) = match self.cx.actor {
            Actor::Monitor(monitor) => (
                ViolationKind::MonitorUnhandled,
                format!(
                    "{} received event '{name}' that cannot be handled in state '{}'.",
                    exe.monitor_name(monitor as usize),
                    exe.symbols.text(state.name)
                ),
            ),
            Actor::Machine(instance) => {
                let mut text = String::new();
                PathNames(exe).write_instance(instance, &mut text);
                text.push_str(&format!(" received event '{name}' that cannot be handled."));
                (ViolationKind::UnhandledEvent, text)
            }
        };
        self.fault(kind, text, Some(state.span))
    }

    #[cold]
    fn fault(&mut self, kind: ViolationKind, text: String, span: Option<Span>) -> Trap {
        Trap::Fault(Fault { kind, text: self.cx.store.string(&text), span })
    }

    /// A fault at the op at hand.
    #[cold]
    fn fault_here(&mut self, kind: ViolationKind, text: String) -> Trap {
        let span = self.local.frames.last().and_then(|frame| self.cx.exe.spans.get(frame.pc as usize));
        let span = span.copied();
        self.fault(kind, text, span)
    }
}
