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

mod control;
mod ops;

use std::cmp::Ordering;
use std::sync::Arc;

use allways_machine::interpret::Pointwise;
use allways_machine::ir::{EventId, InterfaceId, Operand, OperandView};
use allways_machine::value::{Kind, Value, View};
use allways_machine::{Actor, Executable, Local};
use allways_run::{Choice, StopReason, ViolationKind};

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
}

/// Why guards stopped, as users read it.
pub fn stop_reason(halt: Halt, reason: Option<StopReason>, bytes: u64) -> StopReason {
    match (halt, reason) {
        (Halt::Stopped, Some(reason)) => reason,
        (Halt::Stopped, None) => StopReason::Interrupted,
        (Halt::Memory, _) => StopReason::Memory { bytes },
    }
}
