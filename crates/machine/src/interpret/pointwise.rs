//! The interpreter piece by piece: one op, or one transition between handlers, on one local state.
//!
//! Lifted execution runs code on many values at once. What an op does to single values, and how control passes from handler
//! to handler, must not be written twice; so it asks here, once for each value that it cannot treat together with others. The
//! code is that of [`resume`](super::resume).

use allways_run::Limits;

use super::{Context, Effect, Input, Interpreter, Next, Stop, Trap};
use crate::Executable;
use crate::configuration::{Local, Message, Roster};
use crate::ir::{ControlId, Operand};
use crate::record::{Actor, Silent};
use crate::value::{Store, Value};

/// How a piece ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Piece {
    /// The top frame's `pc` says which op is next.
    Execute,
    /// The outermost function returned.
    Return,
    Raise(Message),
    Goto {
        target: ControlId,
        payload: Value,
    },
    /// Never [`Effect::Yield`].
    Effect(Effect),
}

/// Runs pieces of one test.
pub struct Pointwise<'e> {
    exe: &'e Executable,
    limits: Limits,
    /// Only notes ask it for names, and nothing takes notes.
    roster: Roster,
}

impl<'e> Pointwise<'e> {
    pub fn new(exe: &'e Executable, limits: Limits) -> Self {
        Pointwise { exe, limits, roster: Roster::default() }
    }

    fn with<T>(
        &self,
        store: &mut Store,
        actor: Actor,
        local: &mut Local,
        act: impl FnOnce(&mut Interpreter<'_, '_, Silent>) -> T,
    ) -> T {
        let mut fuel = u32::MAX;
        let cx = Context {
            exe: self.exe,
            store,
            roster: &self.roster,
            limits: &self.limits,
            recorder: &mut Silent,
            actor,
            fuel: &mut fuel,
        };
        let found = act(&mut Interpreter { cx, local });
        store.settle(&mut local.registers);
        found
    }

    /// Executes the op at hand. It must not be a plain jump, and a jump only if its condition is no bool; not a return, and a call only if it is nested too
    /// deeply.
    pub fn op(&self, store: &mut Store, actor: Actor, local: &mut Local) -> Piece {
        self.with(store, actor, local, |interpreter| match interpreter.execute_ops::<true>() {
            Ok(stop) => stop.into(),
            Err(trap) => Piece::Effect(trap.into()),
        })
    }

    /// Gives the choice at hand an answer.
    pub fn answer(&self, store: &mut Store, actor: Actor, local: &mut Local, answer: u32) -> Piece {
        self.with(store, actor, local, |interpreter| match interpreter.chosen(answer) {
            Ok(()) => Piece::Execute,
            Err(trap) => Piece::Effect(trap.into()),
        })
    }

    /// Takes an input, up to the first op.
    pub fn input(&self, store: &mut Store, actor: Actor, local: &mut Local, input: Input) -> Piece {
        self.with(store, actor, local, |interpreter| interpreter.take_input(input).into())
    }

    /// What comes when frames were left, up to the next op.
    pub fn left(&self, store: &mut Store, actor: Actor, local: &mut Local, piece: Piece) -> Piece {
        self.with(store, actor, local, |interpreter| {
            let stop = match piece {
                Piece::Return => Stop::Return,
                Piece::Raise(message) => Stop::Raise(message),
                Piece::Goto { target, payload } => Stop::Goto { target, payload },
                Piece::Execute | Piece::Effect(_) => return piece,
            };
            interpreter.after_stop(stop).into()
        })
    }

    /// The value of an operand in the top frame.
    pub fn read(&self, local: &Local, operand: Operand) -> Value {
        local.read(self.exe, operand)
    }
}

impl From<Stop> for Piece {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Return => Piece::Return,
            Stop::Raise(message) => Piece::Raise(message),
            Stop::Goto { target, payload } => Piece::Goto { target, payload },
            Stop::Effect(Effect::Yield) => Piece::Execute,
            Stop::Effect(effect) => Piece::Effect(effect),
        }
    }
}

impl From<Result<Next, Trap>> for Piece {
    fn from(next: Result<Next, Trap>) -> Self {
        match next {
            Ok(Next::Execute | Next::Effect(Effect::Yield)) => Piece::Execute,
            Ok(Next::Effect(effect)) => Piece::Effect(effect),
            Err(trap) => Piece::Effect(trap.into()),
        }
    }
}
