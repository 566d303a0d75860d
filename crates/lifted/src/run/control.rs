//! Control between handlers: what a machine that wakes gets, where it goes on, rests or ends, and what it takes out of its inbox.

use allways_machine::configuration::{After, Fault};
use allways_machine::interpret::{Effect, Input, Piece};
use allways_machine::ir::{Action, EventId, FunId, InterfaceId, Op, Operand, ReceiveId};
use allways_machine::value::{Kind, Value};
use allways_machine::{Actor, Local, Message, rules};
use allways_run::{HandlerLimit, StopReason};

use super::{Running, Thread, Wake, class_of};
use crate::guard::Guard;
use crate::local::{AfterPoint, Point, Stand};
use crate::summary::Shared;

impl Running<'_, '_> {
    /// A thread takes an input, with a payload that has a value where the thread is.
    pub(super) fn input(&mut self, thread: Thread, wake: Wake, payload: &Shared) {
        if let Wake::Receive(event) = wake {
            return self.received(thread, event, payload);
        }
        self.control(thread, payload, false, |running, local, payload| {
            let input = match wake {
                Wake::Start => Input::Start(payload),
                Wake::Handle(event) | Wake::Receive(event) => Input::Handle(Message { event, payload }),
            };
            running.lifted.pointwise.input(&mut running.lifted.values.store, running.actor, local, input)
        });
    }

    pub(super) fn received(&mut self, thread: Thread, event: EventId, payload: &Shared) {
        let exe = self.lifted.exe.clone();
        let pc = thread.local.frames.last().map_or(0, |frame| frame.pc);
        let case = match exe.code[pc as usize] {
            Op::Receive { table } => exe.receives[table].cases[event],
            _ => None,
        };
        let param = case.and_then(|case| case.param);
        self.control(thread, payload, case.is_some(), |running, local, payload| {
            let input = Input::Received(Message { event, payload });
            let piece =
                running.lifted.pointwise.input(&mut running.lifted.values.store, running.actor, local, input);
            if let (Some((register, _)), Some(frame)) = (param, local.frames.last()) {
                local.registers[(frame.base + register) as usize] = Value::NULL;
            }
            piece
        });
        if let Some((register, _)) = param {
            // The parameter, for those of the threads that got it.
            let threads: Vec<Thread> = self
                .threads
                .iter()
                .filter(|thread| self.is_at_case(thread, case.map(|case| case.to)))
                .cloned()
                .collect();
            for thread in threads {
                let guard = self.lifted.values.guards.and(thread.guard, payload.domain());
                self.write(&thread, Operand::register(register), payload, guard);
            }
        }
    }

    pub(super) fn is_at_case(&self, thread: &Thread, to: Option<u32>) -> bool {
        thread.local.frames.last().map(|frame| frame.pc) == to
    }

    /// Passes control: once for each class of payload, since control depends on no more. `keeps` says that the frames stay.
    pub(super) fn control(
        &mut self,
        thread: Thread,
        payload: &Shared,
        keeps: bool,
        mut act: impl FnMut(&mut Self, &mut Local, Value) -> Piece,
    ) {
        // By class: a value that stands for it, and where.
        let mut classes: Vec<(Value, Guard)> = Vec::new();
        for &(value, guard) in payload.spine() {
            let guard = self.lifted.values.guards.and(guard, thread.guard);
            if guard.is_false() {
                continue;
            }
            match classes.iter_mut().find(|(known, _)| class_of(*known) == class_of(value)) {
                Some(known) => known.1 = self.lifted.values.guards.or(known.1, guard),
                None => classes.push((value, guard)),
            }
        }
        for (value, guard) in classes {
            let mut thread = Thread { guard, ..thread.clone() };
            let piece = act(self, &mut thread.local, value);
            self.settle_control(thread, piece, (value, payload), keeps);
        }
    }

    /// Brings registers in order after control has passed with a payload, of which a value stood for its class.
    pub(super) fn settle_control(
        &mut self,
        mut thread: Thread,
        piece: Piece,
        (value, payload): (Value, &Shared),
        keeps: bool,
    ) {
        let guard = thread.guard;
        let delivered = |running: &mut Self, found: Value| match found == value {
            true => running.lifted.values.restrict(payload, guard),
            false => running.lifted.values.lift(found, guard),
        };
        if !keeps {
            let after = match thread.local.after {
                After::Exit { payload: found, .. } | After::With { payload: found, .. } => {
                    delivered(self, found)
                }
                After::Handler | After::Unhandled { .. } => self.lifted.values.nothing(),
            };
            thread.local.after = AfterPoint::from(thread.local.after).with_payload(Value::NULL);
            self.local.after = self.lifted.values.update(&self.local.after.clone(), &after, guard);
            let n_fields = self.n_fields(&thread);
            let mut param = None;
            if let (Piece::Execute, Some(frame)) = (piece, thread.local.frames.last()) {
                let has_param = !self.lifted.exe.funs[frame.fun].params.is_empty();
                if has_param {
                    let place = frame.base as usize;
                    param = Some((place, delivered(self, thread.local.registers[place])));
                }
            }
            thread.local.registers.iter_mut().for_each(|value| *value = Value::NULL);
            self.clear_registers(&thread, n_fields);
            if let Some((place, payload)) = param {
                self.write_at(place, &payload, guard);
            }
        }
        self.went(thread, piece);
    }

    /// Frames were left; the payload is that of the event or transition, or of the transition under way.
    pub(super) fn left(&mut self, thread: Thread, piece: Piece, payload: &Shared) {
        self.control(thread, payload, false, |running, local, payload| {
            let piece = match piece {
                Piece::Raise(message) => Piece::Raise(Message { payload, ..message }),
                Piece::Goto { target, .. } => Piece::Goto { target, payload },
                other => {
                    local.after = AfterPoint::from(local.after).with_payload(payload);
                    other
                }
            };
            running.lifted.pointwise.left(&mut running.lifted.values.store, running.actor, local, piece)
        });
    }

    pub(super) fn returned(&mut self, thread: Thread) {
        let payload = match AfterPoint::from(thread.local.after).has_payload() {
            true => self.local.after.clone(),
            false => self.lifted.values.lift(Value::NULL, thread.guard),
        };
        self.left(thread, Piece::Return, &payload);
    }

    /// After a piece of control: on to the next op, or to what the machine stands before.
    pub(super) fn went(&mut self, thread: Thread, piece: Piece) {
        match piece {
            Piece::Execute => self.push(thread),
            Piece::Return => self.returned(thread),
            Piece::Raise(_) | Piece::Goto { .. } => self.push(thread),
            Piece::Effect(effect) => self.effect(thread, effect),
        }
    }

    /// The machine stands there.
    pub(super) fn rest(&mut self, thread: &Thread, stand: Stand) {
        let point = self.lifted.points.number(Point::of(&thread.local, stand));
        self.local.put(&mut self.lifted.values, point, thread.guard);
    }

    pub(super) fn interface(&self, thread: &Thread) -> InterfaceId {
        thread.local.interface
    }

    pub(super) fn is_monitor(&self) -> bool {
        matches!(self.actor, Actor::Monitor(_))
    }

    pub(super) fn effect(&mut self, mut thread: Thread, effect: Effect) {
        if self.is_monitor() {
            return self.monitor_effect(&thread, effect);
        }
        match effect {
            Effect::Done => {
                thread.own = false;
                self.done(thread);
            }
            Effect::Halt => {
                thread.local.halt();
                for place in 0..self.local.registers.len() {
                    let old = self.local.registers[place].clone();
                    self.local.registers[place] = self.lifted.values.restrict(&old, thread.guard.not());
                }
                self.local.inbox = self.lifted.values.restrict(&self.local.inbox.clone(), thread.guard.not());
                self.rest(&thread, Stand::Halted);
            }
            Effect::Fault(fault) => self.fault(&thread, fault),
            Effect::Exceeds(limit) => self.exceeds(&thread, limit),
            Effect::Foreign { fun } if thread.own => self.foreign(&thread, fun),
            Effect::Foreign { fun } => self.rest(&thread, Stand::Foreign(fun)),
            Effect::Receive { table } => {
                thread.own = false;
                self.receive(thread, table);
            }
            // Ops that have these effects are executed here, with their payloads.
            Effect::Observe(_)
            | Effect::Deliver { .. }
            | Effect::Create { .. }
            | Effect::Choose { .. }
            | Effect::Yield => debug_assert!(false, "an effect that its op did not take"),
        }
    }

    pub(super) fn monitor_effect(&mut self, thread: &Thread, effect: Effect) {
        match effect {
            Effect::Done => self.rest(thread, Stand::Idle),
            Effect::Fault(fault) => self.lifted.fail(thread.guard, fault.kind),
            Effect::Exceeds(limit) => self.exceeds(thread, limit),
            Effect::Foreign { fun } => self.foreign(thread, fun),
            _ => {
                let what = "an effect of a monitor".to_owned();
                self.lifted.lose(thread.guard, StopReason::Unsupported { what });
            }
        }
    }

    pub(super) fn fault(&mut self, thread: &Thread, fault: Fault) {
        if thread.own || self.is_monitor() {
            return self.lifted.fail(thread.guard, fault.kind);
        }
        let fault = self.lifted.points.fault(fault);
        self.rest(thread, Stand::Fault(fault));
    }

    pub(super) fn exceeds(&mut self, thread: &Thread, limit: HandlerLimit) {
        let why = self.lifted.exe.long_handler(&thread.local, limit);
        self.lifted.lose(thread.guard, why);
    }

    pub(super) fn foreign(&mut self, thread: &Thread, fun: FunId) {
        let name = self.lifted.exe.function_name(fun).to_owned();
        self.lifted.lose(thread.guard, StopReason::ForeignFunction { name });
    }

    // Inbox.

    /// The handler is done: time for the next message.
    pub(super) fn done(&mut self, thread: Thread) {
        let exe = self.lifted.exe.clone();
        let actions = &exe.states[thread.local.control].actions;
        let (taken, rest) = self.take_from_inbox(thread.guard, |event| match actions[event] {
            Action::Defer => Look::Skip,
            Action::Ignore => Look::Drop,
            Action::None | Action::Do(_) | Action::Goto(..) => Look::Take,
        });
        self.rest(&Thread { guard: rest, ..thread.clone() }, Stand::Idle);
        for (event, payload) in taken {
            let thread = Thread { guard: payload.domain(), ..thread.clone() };
            self.input(thread, Wake::Handle(event), &payload);
        }
    }

    pub(super) fn receive(&mut self, thread: Thread, table: ReceiveId) {
        let exe = self.lifted.exe.clone();
        let table_of = &exe.receives[table];
        let (taken, rest) =
            self.take_from_inbox(thread.guard, |event| match rules::is_awaited(table_of, event) {
                true => Look::Take,
                false => Look::Skip,
            });
        self.rest(&Thread { guard: rest, ..thread.clone() }, Stand::Blocked(table));
        for (event, payload) in taken {
            let thread = Thread { guard: payload.domain(), ..thread.clone() };
            self.input(thread, Wake::Receive(event), &payload);
        }
    }

    /// The first message that is taken, by event, and where there is none.
    pub(super) fn take_from_inbox(
        &mut self,
        guard: Guard,
        look: impl Fn(EventId) -> Look,
    ) -> (Vec<(EventId, Shared)>, Guard) {
        let values = &mut self.lifted.values;
        let mut taken: Vec<(EventId, Shared)> = Vec::new();
        let mut none = Guard::FALSE;
        let mut at = 0;
        let mut here = guard;
        let mut beyond = Guard::FALSE;
        while !here.is_false() {
            let sizes = values.seq_sizes(&self.local.inbox);
            let longer =
                values.guards.any(sizes.into_iter().filter(|(n, _)| *n > at).map(|(_, guard)| guard));
            let ends = values.guards.minus(here, longer);
            none = values.guards.or(none, ends);
            here = values.guards.and(here, longer);
            let mut dropped = Guard::FALSE;
            let mut removed = Guard::FALSE;
            if let Some(message) = self.local.inbox.part(Kind::Seq, Value::size(at)).cloned() {
                let part = |n| message.part(Kind::Tuple, Value::size(n)).cloned();
                let (Some(events), Some(payload)) = (part(0), part(1)) else { break };
                for &(event, own) in events.spine() {
                    let own = values.guards.and(own, here);
                    let Some(event) = event.as_event().filter(|_| !own.is_false()) else { continue };
                    match look(event) {
                        Look::Skip => beyond = values.guards.or(beyond, own),
                        Look::Drop => {
                            dropped = values.guards.or(dropped, own);
                            removed = values.guards.or(removed, own);
                        }
                        Look::Take => {
                            removed = values.guards.or(removed, own);
                            let payload = values.restrict(&payload, own);
                            match taken.iter_mut().find(|(known, _)| *known == event) {
                                Some(known) => known.1 = values.merge(&known.1.clone(), &payload),
                                None => taken.push((event, payload)),
                            }
                        }
                    }
                }
            }
            if !removed.is_false() {
                self.local.inbox = values.seq_remove(&self.local.inbox.clone(), at, removed);
            }
            // What follows a message that was dropped is at the same place now.
            here = dropped;
            if here.is_false() {
                at += 1;
                here = std::mem::replace(&mut beyond, Guard::FALSE);
            }
            if values.guards.halted().is_some() {
                break;
            }
        }
        (taken, none)
    }
}

/// What is done with a message in the inbox.
pub(super) enum Look {
    Skip,
    Drop,
    Take,
}
