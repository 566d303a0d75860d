//! Lifted execution: one run of the code for all values of a guard.
//!
//! A machine that runs is a set of threads: control points with disjoint guards, over one set of registers. The thread that is
//! least advanced goes on first (by program counters from the outermost frame inwards; a callee before its caller), so that threads
//! which part at a branch meet again where the branches join, and are one thread from there on. A choice of data is a fresh variable
//! and parts no threads.
//!
//! An op that has a lifted form works on summaries ([`crate::lifted_ops`] has those on collections). Whatever it does not cover, such as
//! an index out of range, and every op without a lifted form is applied pointwise: the values that occur are enumerated, and each is
//! given to the kernel's interpreter. So nothing is ever skipped, and a fault is the kernel's own.

use std::cmp::Ordering;
use std::sync::Arc;

use allways_machine::configuration::{After, Fault, Frame};
use allways_machine::interpret::{Effect, Input, Piece, Pointwise};
use allways_machine::ir::{Action, Class, EventId, FunId, InterfaceId, Op, Operand, OperandView};
use allways_machine::liveness::reads_and_writes;
use allways_machine::value::{Kind, Value, View};
use allways_machine::{Actor, Executable, Local, Message, rules};
use allways_run::{Choice, HandlerLimit, InstanceId, StopReason, ViolationKind};

use crate::endless::Watch;
use crate::guard::{Guard, Halt};
use crate::local::{AfterPoint, LiftedLocal, Point, Points, Stand};
use crate::summary::{Shared, Values};

/// Ops of one machine in one step, all threads together; more are not run.
const MAX_OPS: u64 = 2_000_000;
const OPS_PER_POLL: u64 = 1 << 8;

/// Figures of lifted execution.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LiftedFigures {
    /// Runs of a machine or monitor, for all its messages at once.
    pub n_runs: u64,
    /// Ops executed on summaries.
    pub n_ops: u64,
    /// Single values given to the kernel's interpreter.
    pub n_pointwise: u64,
}

/// One control point of a machine that runs.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its control; all values in it are null.
    pub local: Local,
    /// This is a step of its own, in which it may observe and fail.
    pub own: bool,
    pub guard: Guard,
}

/// What a machine that wakes gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wake {
    Start,
    Handle(EventId),
    Receive(EventId),
}

/// Code, values and what became of runs.
pub struct Lifted<'a> {
    pub exe: &'a Arc<Executable>,
    pub pointwise: Pointwise<'a>,
    pub values: Values<'a>,
    pub points: Points,
    /// Every choice made, with the guard under which it was, in an order that agrees with that of each run.
    pub log: Vec<(Guard, Choice)>,
    /// Where a property broke.
    pub errors: Vec<(Guard, ViolationKind)>,
    /// Where runs ended without an answer, and the first reason.
    pub lost: Guard,
    pub unknown: Option<StopReason>,
    /// Where a property broke or a run was lost: these go no further.
    pub ended: Guard,
    pub monitors: Vec<LiftedLocal>,
    pub call_depth: u32,
    pub figures: LiftedFigures,
    consts: Vec<Option<Shared>>,
    n_ops_in_run: u64,
}

/// Which values the class check of a payload cannot tell apart.
fn class_of(value: Value) -> u8 {
    match value.view() {
        View::Null => 0,
        View::Bool(_) => 1,
        View::Int(_) | View::Atom(..) | View::Node(Kind::Int, _) => 2,
        View::Event(_) => 3,
        View::Ref(..) => 4,
        View::Hole(_) => 5,
        View::Node(kind, _) => 6 + kind as u8,
    }
}

impl<'a> Lifted<'a> {
    pub fn new(exe: &'a Arc<Executable>, values: Values<'a>, limits: allways_run::Limits) -> Self {
        Lifted {
            exe,
            pointwise: Pointwise::new(exe, limits),
            values,
            points: Points::default(),
            log: Vec::new(),
            errors: Vec::new(),
            lost: Guard::FALSE,
            unknown: None,
            ended: Guard::FALSE,
            monitors: Vec::new(),
            call_depth: limits.call_depth,
            figures: LiftedFigures::default(),
            consts: vec![None; exe.consts.len()],
            n_ops_in_run: 0,
        }
    }

    /// A property breaks where the guard holds.
    pub fn fail(&mut self, guard: Guard, kind: ViolationKind) {
        self.errors.push((guard, kind));
        self.ended = self.values.guards.or(self.ended, guard);
    }

    /// Runs end without an answer where the guard holds.
    pub fn lose(&mut self, guard: Guard, why: StopReason) {
        if guard.is_false() {
            return;
        }
        self.unknown.get_or_insert(why);
        self.lost = self.values.guards.or(self.lost, guard);
        self.ended = self.values.guards.or(self.ended, guard);
    }

    /// Where runs go on.
    pub fn alive(&mut self, guard: Guard) -> Guard {
        self.values.guards.minus(guard, self.ended)
    }

    /// The state in which a machine stands after all of a local's values were lifted.
    pub fn lift_local(&mut self, local: &Local, stand: Stand, guard: Guard) -> LiftedLocal {
        let mut lifted = LiftedLocal::nowhere(&self.values);
        lifted.registers = local.registers.iter().map(|&value| self.values.lift(value, guard)).collect();
        let empty = self.values.store.seq(&[]);
        lifted.inbox = self.values.lift(empty, guard);
        let point = self.points.number(Point::of(local, stand));
        lifted.put(&mut self.values, point, guard);
        lifted
    }

    /// Runs threads of a machine or monitor until each stands before an effect that is not its own business, or has nothing to do.
    pub fn run(&mut self, actor: Actor, local: &mut LiftedLocal, threads: Vec<Thread>) {
        self.figures.n_runs += 1;
        self.n_ops_in_run = 0;
        let mut running =
            Running { lifted: self, actor, local, threads: Vec::new(), watch: Watch::default() };
        for thread in threads {
            running.push(thread);
        }
        running.run();
    }

    /// Passes an observation through the monitors that watch it.
    fn observe(&mut self, interface: InterfaceId, event: EventId, payload: &Shared, guard: Guard) {
        let exe = self.exe.clone();
        for &monitor in exe.observers(interface, event) {
            let alive = self.alive(guard);
            if alive.is_false() {
                return;
            }
            self.run_monitor(monitor, Wake::Handle(event), payload, alive);
        }
    }

    /// Gives a monitor its input, where the guard holds.
    pub fn run_monitor(&mut self, monitor: u32, wake: Wake, payload: &Shared, guard: Guard) {
        let nowhere = LiftedLocal::nowhere(&self.values);
        let mut local = std::mem::replace(&mut self.monitors[monitor as usize], nowhere);
        let n_ops = self.n_ops_in_run;
        self.wake(Actor::Monitor(monitor), &mut local, &[(wake, guard, payload.clone())]);
        self.n_ops_in_run = n_ops;
        self.monitors[monitor as usize] = local;
    }

    /// Gives inputs to a machine that waits for them, and runs it.
    pub fn wake(&mut self, actor: Actor, local: &mut LiftedLocal, wakes: &[(Wake, Guard, Shared)]) {
        self.wake_as(actor, local, wakes, false);
    }

    /// The same; `own` says that it is a step of its own, in which it may observe and fail.
    pub fn wake_as(
        &mut self,
        actor: Actor,
        local: &mut LiftedLocal,
        wakes: &[(Wake, Guard, Shared)],
        own: bool,
    ) {
        self.figures.n_runs += 1;
        self.n_ops_in_run = 0;
        let mut running =
            Running { lifted: self, actor, local, threads: Vec::new(), watch: Watch::default() };
        for (wake, guard, payload) in wakes {
            let taken = running.local.take(&mut running.lifted.values, *guard);
            for (point, guard) in taken {
                let thread = Thread { local: running.lifted.points.get(point).local(), own, guard };
                running.input(thread, *wake, payload);
            }
        }
        running.run();
    }

    fn constant(&mut self, at: u32) -> Shared {
        if let Some(known) = &self.consts[at as usize] {
            return known.clone();
        }
        let lifted = self.values.lift(self.exe.consts[at as usize], Guard::TRUE);
        self.consts[at as usize] = Some(lifted.clone());
        lifted
    }

    /// Constants of the code keep these guards alive.
    pub fn each_guard(&self, visit: &mut dyn FnMut(Guard)) {
        self.consts.iter().flatten().for_each(|summary| summary.each_guard(visit));
        self.monitors.iter().for_each(|monitor| monitor.each_guard(visit));
        self.log.iter().for_each(|&(guard, _)| visit(guard));
        self.errors.iter().for_each(|&(guard, _)| visit(guard));
        visit(self.lost);
        visit(self.ended);
    }
}

/// A machine or monitor that runs.
pub(crate) struct Running<'r, 'a> {
    pub lifted: &'r mut Lifted<'a>,
    actor: Actor,
    pub local: &'r mut LiftedLocal,
    threads: Vec<Thread>,
    watch: Watch,
}

/// Whether two threads are at the same point.
pub(crate) fn is_same_point(a: &Thread, b: &Thread) -> bool {
    a.own == b.own
        && a.local.control == b.local.control
        && a.local.frames == b.local.frames
        && AfterPoint::from(a.local.after) == AfterPoint::from(b.local.after)
        && (a.local.n_children, a.local.machine, a.local.interface)
            == (b.local.n_children, b.local.machine, b.local.interface)
        && a.local.registers.len() == b.local.registers.len()
}

/// Which of two threads is less advanced.
fn advance(a: &Thread, b: &Thread) -> Ordering {
    for (a, b) in a.local.frames.iter().zip(&b.local.frames) {
        match a.pc.cmp(&b.pc) {
            Ordering::Equal => {}
            other => return other,
        }
    }
    // A callee goes before its caller.
    b.local.frames.len().cmp(&a.local.frames.len())
}

impl Running<'_, '_> {
    fn push(&mut self, thread: Thread) {
        if thread.guard.is_false() {
            return;
        }
        match self.threads.iter_mut().find(|known| is_same_point(known, &thread)) {
            Some(known) => known.guard = self.lifted.values.guards.or(known.guard, thread.guard),
            None => self.threads.push(thread),
        }
    }

    fn run(&mut self) {
        loop {
            let first = (0..self.threads.len()).min_by(|&a, &b| advance(&self.threads[a], &self.threads[b]));
            let Some(first) = first else { return };
            let mut thread = self.threads.swap_remove(first);
            thread.guard = self.lifted.alive(thread.guard);
            if thread.guard.is_false() {
                continue;
            }
            self.lifted.n_ops_in_run += 1;
            self.lifted.figures.n_ops += 1;
            if self.lifted.figures.n_ops.is_multiple_of(OPS_PER_POLL) {
                self.lifted.values.guards.poll();
            }
            if self.lifted.values.guards.halted().is_some() {
                return;
            }
            if self.lifted.values.is_too_deep {
                let what = "a deeply nested value in lifted execution".to_owned();
                return self.lose_all(thread, &StopReason::Unsupported { what });
            }
            if self.lifted.n_ops_in_run > MAX_OPS {
                let what = format!("a handler of more than {MAX_OPS} instructions in lifted execution");
                return self.lose_all(thread, &StopReason::Unsupported { what });
            }
            self.watch.look(self.lifted, self.local, self.lifted.n_ops_in_run, &mut thread);
            if !thread.guard.is_false() {
                self.execute(thread);
            }
        }
    }

    /// Gives up on a thread and all that are left.
    fn lose_all(&mut self, thread: Thread, why: &StopReason) {
        for thread in std::mem::take(&mut self.threads).into_iter().chain([thread]) {
            self.lifted.lose(thread.guard, why.clone());
        }
    }

    // Registers.

    fn place(thread: &Thread, operand: Operand) -> Option<usize> {
        let base = thread.local.frames.last().map_or(0, |frame| frame.base as usize);
        match operand.view() {
            OperandView::Register(n) => Some(base + n as usize),
            OperandView::Field(n) => Some(n as usize),
            OperandView::Const(_) => None,
        }
    }

    /// The summary of an operand, with a value wherever the thread's guard holds.
    pub fn read(&mut self, thread: &Thread, operand: Operand) -> Shared {
        let Some(place) = Self::place(thread, operand) else {
            let OperandView::Const(n) = operand.view() else { return self.lifted.values.nothing() };
            return self.lifted.constant(n);
        };
        let values = &mut self.lifted.values;
        let known = self.local.registers.get(place).cloned().unwrap_or_else(|| values.nothing());
        if values.guards.implies(thread.guard, known.domain()) {
            return known;
        }
        // What was never written is null.
        let missing = values.guards.minus(thread.guard, known.domain());
        let null = values.lift(Value::NULL, missing);
        values.merge(&known, &null)
    }

    pub fn write(&mut self, thread: &Thread, operand: Operand, new: &Shared, guard: Guard) {
        if let Some(place) = Self::place(thread, operand) {
            self.write_at(place, new, guard);
        }
    }

    fn write_at(&mut self, place: usize, new: &Shared, guard: Guard) {
        while self.local.registers.len() <= place {
            self.local.registers.push(self.lifted.values.nothing());
        }
        let old = self.local.registers[place].clone();
        self.local.registers[place] = self.lifted.values.update(&old, new, guard);
    }

    fn write_value(&mut self, thread: &Thread, operand: Operand, value: Value, guard: Guard) {
        let new = self.lifted.values.lift(value, guard);
        self.write(thread, operand, &new, guard);
    }

    /// Forgets registers from a place on, and makes those null that code may read from `pc` on before it writes them.
    fn clear_registers(&mut self, thread: &Thread, from: usize) {
        let guard = thread.guard;
        for place in from..self.local.registers.len() {
            let old = self.local.registers[place].clone();
            self.local.registers[place] = self.lifted.values.restrict(&old, guard.not());
        }
        let Some(frame) = thread.local.frames.last() else { return };
        let exe = self.lifted.exe.clone();
        for place in from..thread.local.registers.len() {
            let register = (place as u32).wrapping_sub(frame.base);
            if place >= frame.base as usize && exe.liveness.is_live(&exe, frame.fun, frame.pc, register) {
                let null = self.lifted.values.lift(Value::NULL, guard);
                self.write_at(place, &null, guard);
            }
        }
    }

    fn n_fields(&self, thread: &Thread) -> usize {
        self.lifted.exe.machines[thread.local.machine].fields.len()
    }

    // Control.

    /// A thread takes an input, with a payload that has a value where the thread is.
    fn input(&mut self, thread: Thread, wake: Wake, payload: &Shared) {
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

    fn received(&mut self, thread: Thread, event: EventId, payload: &Shared) {
        let exe = self.lifted.exe.clone();
        let pc = thread.local.frames.last().map_or(0, |frame| frame.pc);
        let case = match exe.code[pc as usize] {
            Op::Receive { table } => exe.receives[table as usize].cases[event],
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

    fn is_at_case(&self, thread: &Thread, to: Option<u32>) -> bool {
        thread.local.frames.last().map(|frame| frame.pc) == to
    }

    /// Passes control: once for each class of payload, since control depends on no more. `keeps` says that the frames stay.
    fn control(
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
    fn settle_control(
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
    fn left(&mut self, thread: Thread, piece: Piece, payload: &Shared) {
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

    fn returned(&mut self, thread: Thread) {
        let payload = match AfterPoint::from(thread.local.after).has_payload() {
            true => self.local.after.clone(),
            false => self.lifted.values.lift(Value::NULL, thread.guard),
        };
        self.left(thread, Piece::Return, &payload);
    }

    /// After a piece of control: on to the next op, or to what the machine stands before.
    fn went(&mut self, thread: Thread, piece: Piece) {
        match piece {
            Piece::Execute => self.push(thread),
            Piece::Return => self.returned(thread),
            Piece::Raise(_) | Piece::Goto { .. } => self.push(thread),
            Piece::Effect(effect) => self.effect(thread, effect),
        }
    }

    /// The machine stands there.
    fn rest(&mut self, thread: &Thread, stand: Stand) {
        let point = self.lifted.points.number(Point::of(&thread.local, stand));
        self.local.put(&mut self.lifted.values, point, thread.guard);
    }

    fn interface(&self, thread: &Thread) -> InterfaceId {
        thread.local.interface
    }

    fn is_monitor(&self) -> bool {
        matches!(self.actor, Actor::Monitor(_))
    }

    fn effect(&mut self, mut thread: Thread, effect: Effect) {
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

    fn monitor_effect(&mut self, thread: &Thread, effect: Effect) {
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

    fn fault(&mut self, thread: &Thread, fault: Fault) {
        if thread.own || self.is_monitor() {
            return self.lifted.fail(thread.guard, fault.kind);
        }
        let fault = self.lifted.points.fault(fault);
        self.rest(thread, Stand::Fault(fault));
    }

    fn exceeds(&mut self, thread: &Thread, limit: HandlerLimit) {
        let why = self.lifted.exe.long_handler(&thread.local, limit);
        self.lifted.lose(thread.guard, why);
    }

    fn foreign(&mut self, thread: &Thread, fun: FunId) {
        let name = self.lifted.exe.function_name(fun).to_owned();
        self.lifted.lose(thread.guard, StopReason::ForeignFunction { name });
    }

    // Inbox.

    /// The handler is done: time for the next message.
    fn done(&mut self, thread: Thread) {
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

    fn receive(&mut self, thread: Thread, table: u32) {
        let exe = self.lifted.exe.clone();
        let table_of = &exe.receives[table as usize];
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
    fn take_from_inbox(
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

    // Ops.

    fn set_pc(thread: &mut Thread, pc: u32) {
        if let Some(frame) = thread.local.frames.last_mut() {
            frame.pc = pc;
        }
    }

    fn go_on(&mut self, mut thread: Thread, pc: u32) {
        Self::set_pc(&mut thread, pc);
        self.push(thread);
    }

    /// Goes on behind an op that was executed where `done` holds, and executes it pointwise elsewhere.
    pub fn finish(&mut self, thread: Thread, pc: u32, done: Guard) {
        let rest = self.lifted.values.guards.minus(thread.guard, done);
        self.go_on(Thread { guard: done, ..thread.clone() }, pc + 1);
        if !rest.is_false() {
            self.op_pointwise(&Thread { guard: rest, ..thread }, pc);
        }
    }

    fn execute(&mut self, thread: Thread) {
        let exe = self.lifted.exe.clone();
        let Some(&Frame { pc, .. }) = thread.local.frames.last() else { return self.returned(thread) };
        let guard = thread.guard;
        match exe.code[pc as usize] {
            Op::Move { dst, src } => {
                let value = self.read(&thread, src);
                let value = self.lifted.values.copy(&value);
                self.write(&thread, dst, &value, guard);
                self.go_on(thread, pc + 1);
            }
            Op::Tuple { dst, first, n } => {
                let parts: Vec<Shared> =
                    (first..first + n).map(|at| self.read(&thread, Operand::register(at))).collect();
                let tuple = self.lifted.values.tuple(&parts, guard);
                self.write(&thread, dst, &tuple, guard);
                self.go_on(thread, pc + 1);
            }
            Op::Named { dst, first, shape } => {
                let n = exe.shapes[shape].len() as u32;
                let parts: Vec<Shared> =
                    (first..first + n).map(|at| self.read(&thread, Operand::register(at))).collect();
                let tuple = self.lifted.values.named(shape, &parts, guard);
                self.write(&thread, dst, &tuple, guard);
                self.go_on(thread, pc + 1);
            }
            Op::Part { dst, src, index } => {
                let tuple = self.read(&thread, src);
                let done = self.load_part(&thread, dst, &tuple, |_, _| Some(index as usize));
                self.finish(thread, pc, done);
            }
            Op::Field { dst, src, access } => {
                let tuple = self.read(&thread, src);
                let done = self
                    .load_part(&thread, dst, &tuple, |running, value| running.field_position(value, access));
                self.finish(thread, pc, done);
            }
            Op::Index { dst, src, index } => {
                let (collection, index) = (self.read(&thread, src), self.read(&thread, index));
                let done = self.load_element(&thread, dst, &collection, &index);
                self.finish(thread, pc, done);
            }
            Op::Cast { dst, src, class } => {
                let value = self.read(&thread, src);
                let done = self.has_class(&thread, &value, class);
                let copied = self.lifted.values.copy(&value);
                self.write(&thread, dst, &copied, done);
                self.finish(thread, pc, done);
            }
            Op::Sizeof { .. } | Op::Keys { .. } => self.op_on_hollow(&thread, pc),
            Op::Format { dst, .. } if exe.code.get(pc as usize + 1) == Some(&Op::Fail { message: dst }) => {
                // The text of a failed assertion is for people, and replay makes it.
                self.write_value(&thread, dst, Value::NULL, guard);
                self.go_on(thread, pc + 1);
            }
            Op::Print { .. } | Op::PrintFormat { .. } => self.go_on(thread, pc + 1),
            Op::Flip { dst, .. } => {
                let variable = self.lifted.values.guards.fresh();
                let yes = self.lifted.values.guards.and(guard, variable);
                let no = self.lifted.values.guards.minus(guard, variable);
                let answer = self.lifted.values.of_values(&[(Value::TRUE, yes), (Value::FALSE, no)]);
                self.write(&thread, dst, &answer, guard);
                self.lifted.log.push((yes, Choice::Data(1)));
                self.lifted.log.push((no, Choice::Data(0)));
                self.go_on(thread, pc + 1);
            }
            Op::Choose { dst, src } => self.choose(&thread, pc, dst, src),
            Op::Jump { to } => self.go_on(thread, to),
            Op::JumpIf { cond, to } => self.branch(thread, pc, cond, to, true),
            Op::JumpIfNot { cond, to } => self.branch(thread, pc, cond, to, false),
            Op::Next { dst, iter, end } => self.next(&thread, pc, (dst, iter, end)),
            Op::Call { dst, fun, first } => self.call(thread, pc, (dst, fun, first)),
            Op::Return { src } => self.return_from(thread, src),
            Op::Store { root, path, src } => {
                let value = self.read(&thread, src);
                let value = self.lifted.values.copy(&value);
                self.update(thread, pc, root, path, crate::lifted_ops::Update::Set(value));
            }
            Op::Insert { root, path, src } => {
                let value = self.read(&thread, src);
                let value = self.lifted.values.copy(&value);
                self.update(thread, pc, root, path, crate::lifted_ops::Update::Insert(value));
            }
            Op::Add { root, path, src } => {
                let value = self.read(&thread, src);
                let value = self.lifted.values.copy(&value);
                self.update(thread, pc, root, path, crate::lifted_ops::Update::Add(value));
            }
            Op::Remove { root, path } => {
                self.update(thread, pc, root, path, crate::lifted_ops::Update::Remove);
            }
            Op::Fail { .. } if thread.own || self.is_monitor() => {
                self.lifted.fail(guard, ViolationKind::Assertion);
            }
            Op::Send { target, event, payload } => self.send(&thread, pc, target, event, payload),
            Op::Announce { event, payload } => self.announce(&thread, pc, event, payload),
            Op::New { payload, .. } => self.create(&thread, payload),
            Op::Raise { event, payload } => {
                let (event, payload) = (self.read(&thread, event), self.read(&thread, payload));
                let payload = self.lifted.values.copy(&payload);
                for (thread, event) in self.split(&thread, &event) {
                    match event.as_event() {
                        Some(event) => {
                            let message = Message { event, payload: Value::NULL };
                            self.left(thread, Piece::Raise(message), &payload);
                        }
                        None => self.op_pointwise(&thread, pc),
                    }
                }
            }
            Op::Goto { state, payload } => {
                let payload = self.read(&thread, payload);
                let payload = self.lifted.values.copy(&payload);
                self.left(thread, Piece::Goto { target: state, payload: Value::NULL }, &payload);
            }
            Op::Receive { table } => self.effect(thread, Effect::Receive { table }),
            Op::Foreign { fun } => self.effect(thread, Effect::Foreign { fun }),
            Op::Binary { .. }
            | Op::Not { .. }
            | Op::Neg { .. }
            | Op::Values { .. }
            | Op::ToInt { .. }
            | Op::ToFloat { .. }
            | Op::ToPermission { .. }
            | Op::Format { .. }
            | Op::FormatForPrint { .. }
            | Op::This { .. }
            | Op::Fail { .. } => self.op_pointwise(&thread, pc),
        }
    }

    /// The thread once for each value of a spine.
    fn split(&mut self, thread: &Thread, summary: &Shared) -> Vec<(Thread, Value)> {
        let mut found = Vec::new();
        for &(value, guard) in summary.spine() {
            let guard = self.lifted.values.guards.and(guard, thread.guard);
            if !guard.is_false() {
                found.push((Thread { guard, ..thread.clone() }, value));
            }
        }
        found
    }

    /// Runs the op at hand on a local state with these operands.
    fn apply(&mut self, thread: &Thread, operands: &[(Operand, Value)]) -> (Local, Piece) {
        self.lifted.figures.n_pointwise += 1;
        let mut local = thread.local.clone();
        for &(operand, value) in operands {
            if let Some(place) = Self::place(thread, operand) {
                local.registers[place] = value;
            }
        }
        let piece = self.lifted.pointwise.op(&mut self.lifted.values.store, self.actor, &mut local);
        (local, piece)
    }

    /// Executes the op at hand once for each combination of values that it reads.
    fn op_pointwise(&mut self, thread: &Thread, pc: u32) {
        self.op_by(thread, pc, |running, summary, guard| running.lifted.values.values(summary, guard));
    }

    /// The same for an op that looks at no element of what it reads.
    fn op_on_hollow(&mut self, thread: &Thread, pc: u32) {
        self.op_by(thread, pc, |running, summary, guard| {
            let both = |&(value, own): &(Value, Guard)| (value, running.lifted.values.guards.and(own, guard));
            summary.spine().iter().map(both).filter(|(_, guard)| !guard.is_false()).collect()
        });
    }

    fn op_by(
        &mut self,
        thread: &Thread,
        pc: u32,
        enumerate: impl Fn(&mut Self, &Shared, Guard) -> Vec<(Value, Guard)>,
    ) {
        let exe = self.lifted.exe.clone();
        let (reads, writes) = reads_and_writes(&exe, &exe.code[pc as usize]);
        let mut rows: Vec<(Vec<(Operand, Value)>, Guard)> = vec![(Vec::new(), thread.guard)];
        for operand in reads {
            if matches!(operand.view(), OperandView::Const(_)) {
                continue;
            }
            let summary = self.read(thread, operand);
            let mut next = Vec::new();
            for (row, guard) in rows {
                for (value, guard) in enumerate(self, &summary, guard) {
                    let mut row = row.clone();
                    row.push((operand, value));
                    next.push((row, guard));
                }
            }
            rows = next;
            if self.lifted.values.guards.halted().is_some() {
                return;
            }
        }
        // By result: what is written, and where.
        let mut results: Vec<(Vec<Value>, Guard)> = Vec::new();
        for (row, guard) in rows {
            if self.lifted.values.guards.halted().is_some() {
                return;
            }
            let (local, piece) = self.apply(thread, &row);
            match piece {
                Piece::Execute => {
                    let read = |&operand: &Operand| self.lifted.pointwise.read(&local, operand);
                    let written: Vec<Value> = writes.iter().map(read).collect();
                    match results.iter_mut().find(|(known, _)| *known == written) {
                        Some(known) => known.1 = self.lifted.values.guards.or(known.1, guard),
                        None => results.push((written, guard)),
                    }
                }
                Piece::Effect(effect) => {
                    let mut thread = Thread { guard, ..thread.clone() };
                    // Of the local state only control has changed that matters.
                    thread.local.frames = local.frames;
                    self.effect(thread, effect);
                }
                Piece::Return | Piece::Raise(_) | Piece::Goto { .. } => {
                    debug_assert!(false, "control is passed elsewhere");
                }
            }
        }
        let done = self.lifted.values.guards.any(results.iter().map(|&(_, guard)| guard));
        for (at, &operand) in writes.iter().enumerate() {
            let column: Vec<(Value, Guard)> = results.iter().map(|(row, guard)| (row[at], *guard)).collect();
            let mut joined: Vec<(Value, Guard)> = Vec::new();
            for (value, guard) in column {
                match joined.iter_mut().find(|(known, _)| *known == value) {
                    Some(known) => known.1 = self.lifted.values.guards.or(known.1, guard),
                    None => joined.push((value, guard)),
                }
            }
            let summary = self.lifted.values.of_values(&joined);
            self.write(thread, operand, &summary, done);
        }
        self.go_on(Thread { guard: done, ..thread.clone() }, pc + 1);
    }

    fn branch(&mut self, thread: Thread, pc: u32, cond: Operand, to: u32, jumps_if: bool) {
        let condition = self.read(&thread, cond);
        let mut done = Guard::FALSE;
        for &(value, guard) in condition.spine() {
            let Some(is_true) = value.as_bool() else { continue };
            let guard = self.lifted.values.guards.and(guard, thread.guard);
            done = self.lifted.values.guards.or(done, guard);
            let next = if is_true == jumps_if { to } else { pc + 1 };
            self.go_on(Thread { guard, ..thread.clone() }, next);
        }
        let rest = self.lifted.values.guards.minus(thread.guard, done);
        if !rest.is_false() {
            self.op_on_hollow(&Thread { guard: rest, ..thread }, pc);
        }
    }

    /// The next element of a loop: of the collection only the spine is looked at, and of a sequence one part.
    fn next(&mut self, thread: &Thread, pc: u32, (dst, iter, end): (Operand, u32, u32)) {
        let (collection_at, position_at) = (Operand::register(iter), Operand::register(iter + 1));
        let (collection, position) = (self.read(thread, collection_at), self.read(thread, position_at));
        for (at_collection, hollow) in self.split(thread, &collection) {
            for (thread, place) in self.split(&at_collection, &position) {
                let guard = thread.guard;
                let (local, piece) = self.apply(&thread, &[(collection_at, hollow), (position_at, place)]);
                if let Piece::Effect(effect) = piece {
                    self.effect(thread, effect);
                    continue;
                }
                let next = local.frames.last().map_or(pc, |frame| frame.pc);
                let moved = self.lifted.pointwise.read(&local, position_at);
                self.write_value(&thread, position_at, moved, guard);
                if next == end && moved.is_null() {
                    self.write_value(&thread, collection_at, Value::NULL, guard);
                    self.go_on(thread, next);
                    continue;
                }
                let at = if place.is_null() { Value::size(0) } else { place };
                match collection.part(Kind::Seq, at).cloned() {
                    Some(element) if hollow.kind() == Some(Kind::Seq) => {
                        self.write(&thread, dst, &element, guard)
                    }
                    _ => {
                        let element = self.lifted.pointwise.read(&local, dst);
                        self.write_value(&thread, dst, element, guard);
                    }
                }
                self.go_on(thread, next);
            }
        }
    }

    fn call(&mut self, mut thread: Thread, pc: u32, (dst, fun, first): (Operand, FunId, u32)) {
        if thread.local.frames.len() >= self.lifted.call_depth as usize {
            let (_, piece) = self.apply(&thread, &[]);
            return self.went(thread, piece);
        }
        let exe = self.lifted.exe.clone();
        let def = &exe.funs[fun];
        Self::set_pc(&mut thread, pc + 1);
        let base = thread.local.frames.last().map_or(0, |frame| frame.base) + first;
        thread.local.registers.resize((base + def.n_registers) as usize, Value::NULL);
        thread.local.frames.push(Frame { fun, pc: def.entry, base, dst });
        self.clear_registers(&thread, base as usize + def.params.len());
        self.push(thread);
    }

    fn return_from(&mut self, mut thread: Thread, src: Operand) {
        let value = self.read(&thread, src);
        let value = self.lifted.values.copy(&value);
        let Some(frame) = thread.local.frames.pop() else { return self.returned(thread) };
        thread.local.registers.truncate(frame.base as usize);
        let Some(&caller) = thread.local.frames.last() else {
            self.clear_registers(&thread, frame.base as usize);
            return self.returned(thread);
        };
        let n_registers = self.lifted.exe.funs[caller.fun].n_registers;
        thread.local.registers.resize((caller.base + n_registers) as usize, Value::NULL);
        self.clear_registers(&thread, frame.base as usize);
        self.write(&thread, frame.dst, &value, thread.guard);
        self.push(thread);
    }

    fn choose(&mut self, thread: &Thread, pc: u32, dst: Operand, src: Operand) {
        let source = self.read(thread, src);
        // By number of answers: guards of the answers.
        let mut alternatives: Vec<(u32, Vec<Guard>)> = Vec::new();
        for (thread, hollow) in self.split(thread, &source) {
            let guard = thread.guard;
            let (local, piece) = self.apply(&thread, &[(src, hollow)]);
            let element = |source: &Shared, at: u32| match hollow.kind() {
                Some(Kind::Seq) => source.part(Kind::Seq, Value::size(at as usize)).cloned(),
                _ => None,
            };
            match piece {
                Piece::Effect(Effect::Choose { n_answers, .. }) => {
                    if alternatives.iter().all(|(n, _)| *n != n_answers) {
                        let guards = self.lifted.values.guards.alternatives(n_answers as usize);
                        alternatives.push((n_answers, guards));
                    }
                    let Some(at) = alternatives.iter().position(|(n, _)| *n == n_answers) else { continue };
                    self.watch.blurred = self.lifted.values.guards.or(self.watch.blurred, guard);
                    let mut chosen = Vec::new();
                    for answer in 0..n_answers {
                        let own = self.lifted.values.guards.and(guard, alternatives[at].1[answer as usize]);
                        self.lifted.log.push((own, Choice::Data(answer)));
                        match element(&source, answer) {
                            Some(element) => self.write(&thread, dst, &element, own),
                            None => {
                                let mut local = thread.local.clone();
                                if let Some(place) = Self::place(&thread, src) {
                                    local.registers[place] = hollow;
                                }
                                let store = &mut self.lifted.values.store;
                                self.lifted.pointwise.answer(store, self.actor, &mut local, answer);
                                chosen.push((self.lifted.pointwise.read(&local, dst), own));
                            }
                        }
                        if self.lifted.values.guards.halted().is_some() {
                            return;
                        }
                    }
                    if !chosen.is_empty() {
                        let chosen = self.lifted.values.of_values(&chosen);
                        self.write(&thread, dst, &chosen, guard);
                    }
                    self.go_on(thread, pc + 1);
                }
                Piece::Effect(effect) => self.effect(thread, effect),
                _ => {
                    match element(&source, 0) {
                        Some(element) => self.write(&thread, dst, &element, guard),
                        None => {
                            let value = self.lifted.pointwise.read(&local, dst);
                            self.write_value(&thread, dst, value, guard);
                        }
                    }
                    self.go_on(thread, pc + 1);
                }
            }
        }
    }

    // Effects of ops, with payloads.

    fn send(&mut self, thread: &Thread, pc: u32, target: Operand, event: Operand, payload: Operand) {
        let (targets, events) = (self.read(thread, target), self.read(thread, event));
        let payload = self.read(thread, payload);
        let payload = self.lifted.values.copy(&payload);
        for (at_target, to) in self.split(thread, &targets) {
            for (mut thread, what) in self.split(&at_target, &events) {
                let (local, piece) = self.apply(&thread, &[(target, to), (event, what)]);
                match piece {
                    Piece::Effect(Effect::Observe(_)) if !thread.own => self.rest(&thread, Stand::Observe),
                    Piece::Effect(Effect::Observe(message)) => {
                        let interface = self.interface(&thread);
                        let payload = self.lifted.values.restrict(&payload, thread.guard);
                        self.watch.blurred = self.lifted.values.guards.or(self.watch.blurred, thread.guard);
                        self.lifted.observe(interface, message.event, &payload, thread.guard);
                        thread.guard = self.lifted.alive(thread.guard);
                        Self::set_pc(&mut thread, pc + 1);
                        if let Some((target, _)) = to.as_ref() {
                            self.deliver(&thread, target, message.event, &payload);
                        }
                    }
                    Piece::Effect(Effect::Deliver { target, message }) => {
                        thread.local.frames = local.frames;
                        self.deliver(&thread, target, message.event, &payload);
                    }
                    other => self.went(thread, other),
                }
            }
        }
    }

    fn deliver(&mut self, thread: &Thread, target: InstanceId, event: EventId, payload: &Shared) {
        if thread.guard.is_false() {
            return;
        }
        self.local.pending = self.lifted.values.update(&self.local.pending.clone(), payload, thread.guard);
        self.rest(thread, Stand::Deliver { target, event });
    }

    fn announce(&mut self, thread: &Thread, pc: u32, event: Operand, payload: Operand) {
        let events = self.read(thread, event);
        let payload = self.read(thread, payload);
        let payload = self.lifted.values.copy(&payload);
        for (mut thread, what) in self.split(thread, &events) {
            let (local, piece) = self.apply(&thread, &[(event, what)]);
            match piece {
                Piece::Effect(Effect::Observe(_)) if !thread.own => self.rest(&thread, Stand::Observe),
                Piece::Effect(Effect::Observe(message)) => {
                    let interface = self.interface(&thread);
                    let payload = self.lifted.values.restrict(&payload, thread.guard);
                    self.watch.blurred = self.lifted.values.guards.or(self.watch.blurred, thread.guard);
                    self.lifted.observe(interface, message.event, &payload, thread.guard);
                    thread.guard = self.lifted.alive(thread.guard);
                    self.go_on(thread, pc + 1);
                }
                Piece::Execute => {
                    thread.local.frames = local.frames;
                    self.push(thread);
                }
                other => self.went(thread, other),
            }
        }
    }

    fn create(&mut self, thread: &Thread, payload: Operand) {
        let payload = self.read(thread, payload);
        let payload = self.lifted.values.copy(&payload);
        let (local, piece) = self.apply(thread, &[]);
        let mut thread = thread.clone();
        match piece {
            Piece::Effect(Effect::Create { interface, dst, .. }) => {
                thread.local.frames = local.frames;
                self.local.pending =
                    self.lifted.values.update(&self.local.pending.clone(), &payload, thread.guard);
                self.rest(&thread, Stand::Create { interface, dst });
            }
            other => self.went(thread, other),
        }
    }

    // Parts of tuples.

    pub fn field_position(&self, value: Value, access: u32) -> Option<usize> {
        let shape = self.lifted.values.shape_of(value)?;
        self.lifted.exe.field_position(shape, access)
    }

    /// Where a value has a class, by the kernel's own check.
    fn has_class(&mut self, thread: &Thread, value: &Shared, class: Class) -> Guard {
        self.lifted
            .values
            .guard_where(value, thread.guard, |value| allways_machine::ops::has_class(value, class))
    }

    /// Reads one place of tuples, as `position` says for each of them, and says where that was possible.
    fn load_part(
        &mut self,
        thread: &Thread,
        dst: Operand,
        tuple: &Shared,
        position: impl Fn(&Self, Value) -> Option<usize>,
    ) -> Guard {
        let mut done = Guard::FALSE;
        let mut loaded = self.lifted.values.nothing();
        // By place: where.
        let mut places: Vec<(Kind, usize, Guard)> = Vec::new();
        for &(value, own) in tuple.spine() {
            let Some(kind @ (Kind::Tuple | Kind::Named)) = value.kind() else { continue };
            let Some(at) = position(self, value) else { continue };
            if !self.lifted.values.places(value).contains(&(kind, Value::size(at))) {
                continue;
            }
            let guard = self.lifted.values.guards.and(own, thread.guard);
            match places.iter_mut().find(|place| (place.0, place.1) == (kind, at)) {
                Some(place) => place.2 = self.lifted.values.guards.or(place.2, guard),
                None => places.push((kind, at, guard)),
            }
        }
        for (kind, at, guard) in places {
            let Some(part) = tuple.part(kind, Value::size(at)).cloned() else { continue };
            let part = self.lifted.values.restrict(&part, guard);
            loaded = self.lifted.values.merge(&loaded, &part);
            done = self.lifted.values.guards.or(done, guard);
        }
        let loaded = self.lifted.values.copy(&loaded);
        self.write(thread, dst, &loaded, done);
        done
    }
}

/// What is done with a message in the inbox.
enum Look {
    Skip,
    Drop,
    Take,
}

/// Why guards stopped, as users read it.
pub fn stop_reason(halt: Halt, reason: Option<StopReason>, bytes: u64) -> StopReason {
    match (halt, reason) {
        (Halt::Stopped, Some(reason)) => reason,
        (Halt::Stopped, None) => StopReason::Interrupted,
        (Halt::Memory, _) => StopReason::Memory { bytes },
    }
}
