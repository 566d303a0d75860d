//! Configurations, and the step from one scheduling point of a task to its next.
//!
//! A task stops at a preemption point, at a wait, when it completes, when an assertion fails (in
//! exit mode) and when an assumption does not hold. The last ends the run: a task that could have
//! waited for better times had a preemption point before.

pub mod pending;

use std::sync::Arc;

use allways_base::{Span, Symbol};

use super::code::{Body, Code, Contract, Instr, Origin, Slot, Target};
use super::eval::{Eval, Locals, World};
use super::lower::is_task_type;
use super::oracle::{Asked, At, Oracle};
use super::run::Event;
use super::value::{Domains, Limit, Value};
use crate::check::VarKind;

/// What a failed assertion does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Assertions {
    /// The run ends there with a violation.
    #[default]
    Exit,
    /// The run goes on; it is a violation once all tasks have completed.
    Continue,
}

/// The global state: shared variables, the world, and all tasks that ever were.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Conf {
    /// By slot. Variables of a task's own hold nothing of interest here.
    pub globals: Vec<Value>,
    pub world: World,
    /// The first is the entry point's. Handles are places in this list.
    pub tasks: Vec<Task>,
    /// The first assertion that failed.
    pub failure: Option<Failure>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Task {
    pub parent: Option<usize>,
    /// In posting order.
    pub children: Vec<usize>,
    pub procedure: usize,
    frames: Vec<Frame>,
    /// The first result, once completed.
    pub result: Option<Value>,
    /// Depth of dynamic atomic sections.
    atomic: u32,
    /// Its own copies of thread-local variables, in the order of their slots.
    private: Vec<Value>,
    /// Stands at a yield or wait that it has reached.
    parked: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Frame {
    procedure: usize,
    /// `None` for a bodiless procedure.
    body: Option<usize>,
    pc: usize,
    slots: Vec<Option<Value>>,
    old_globals: Arc<Vec<Value>>,
    outs: Vec<Option<Slot>>,
    /// Contracts that are not free are assumed instead of asserted.
    free: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Failure {
    pub kind: FailureKind,
    pub task: usize,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FailureKind {
    Assertion,
    Precondition,
    Postcondition,
    /// `corral_assert_not_reachable` was reached.
    Reached,
    /// A wait for a handle that was never assigned.
    Handle,
}

/// Where a task stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Posted and not started, or between statements.
    Running,
    /// At a preemption point it has reached; the jump that it allows.
    AtYield {
        jump: Option<(u32, u32)>,
    },
    /// At a wait for this task.
    AtWait {
        target: Option<usize>,
    },
    /// At a wait for all its children.
    AtWaitAll,
    Completed,
}

/// Why a task stopped running.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    Parked,
    Completed,
    /// An assumption does not hold, or a wait inside an atomic section cannot pass.
    Blocked,
    Failed,
}

/// Executes tasks.
pub struct Machine<'a> {
    pub code: &'a Code,
    pub domains: &'a Domains,
    pub assertions: Assertions,
    pub oracle: &'a mut dyn Oracle,
    /// Cleared when a choice was made among fewer values than there are.
    pub complete: &'a mut bool,
    /// Where to tell what happens.
    pub events: Option<&'a mut Vec<Event>>,
    /// Instructions that may still be executed.
    pub n_steps_left: u64,
    /// A task stops after each post outside of atomic sections, so that the child may run first.
    pub stop_after_post: bool,
}

/// Frames of one task.
const MAX_FRAMES: usize = 2_000;

/// What an instruction does to the flow of control.
enum Flow {
    Next,
    Goto(usize),
    Stop(Stop),
    /// On to the next instruction, but not at once.
    Pause,
    /// A frame was pushed or popped.
    Switched,
}

impl Conf {
    pub fn standing(&self, code: &Code, task: usize) -> Standing {
        let task = &self.tasks[task];
        let Some(frame) = task.frames.last() else { return Standing::Completed };
        let Some(body) = frame.body else { return Standing::Running };
        if !task.parked {
            return Standing::Running;
        }
        match &code.procedures[frame.procedure].bodies[body].instrs[frame.pc] {
            Instr::Yield { jump, .. } => Standing::AtYield { jump: *jump },
            Instr::Wait { handle, .. } => Standing::AtWait {
                target: match self.slot_value(frame, *handle) {
                    Some(Value::Task(target)) => target.map(|task| task as usize),
                    _ => None,
                },
            },
            Instr::WaitAll => Standing::AtWaitAll,
            _ => Standing::Running,
        }
    }

    pub fn is_completed(&self, task: usize) -> bool {
        self.tasks[task].frames.is_empty()
    }

    /// Whether the task could pass the wait it stands at, or stands at none.
    pub fn can_pass(&self, code: &Code, task: usize) -> bool {
        match self.standing(code, task) {
            Standing::AtWait { target } => target.is_none_or(|target| self.is_completed(target)),
            Standing::AtWaitAll => self.tasks[task].children.iter().all(|&child| self.is_completed(child)),
            Standing::Running | Standing::AtYield { .. } => true,
            Standing::Completed => false,
        }
    }

    pub fn is_finalized(&self) -> bool {
        self.tasks.iter().all(|task| task.frames.is_empty())
    }

    fn slot_value<'c>(&'c self, frame: &'c Frame, slot: Slot) -> Option<&'c Value> {
        match slot {
            Slot::Global(slot) => self.globals.get(slot),
            Slot::Local(slot) => frame.slots[slot].as_ref(),
        }
    }

    /// The place of the statement a task stands at.
    pub fn place(&self, code: &Code, task: usize) -> Option<Origin> {
        let frame = self.tasks[task].frames.last()?;
        let body = frame.body?;
        code.procedures[frame.procedure].bodies[body].origins.get(frame.pc).copied()
    }
}

impl<'a> Machine<'a> {
    /// The initial configuration: arbitrary globals, the entry point about to start. `None` if what
    /// is assumed of the start cannot hold with the choices made.
    pub fn start(&mut self) -> Result<Option<Conf>, Limit> {
        let code = self.code;
        let checked = &code.checked;
        let mut conf = Conf {
            globals: Vec::new(),
            world: World { consts: vec![None; checked.consts.len()], ..World::default() },
            tasks: Vec::new(),
            failure: None,
        };
        if !self.choose_unique(&mut conf)? {
            return Ok(None);
        }
        for (slot, &var) in checked.globals.iter().enumerate() {
            let ty = checked.vars[var].ty;
            let value = self.eval(&mut conf, &[], |eval, _| eval.arbitrary(Asked::Global(slot), ty))?;
            conf.globals.push(value);
        }
        let wheres = code.global_where.iter().flatten();
        for expr in wheres.chain(&code.axioms) {
            match self.eval(&mut conf, &[], |eval, locals| eval.bool(expr, locals)) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                // An axiom over unbounded data cannot be evaluated; the search is not complete then.
                Err(Limit::Quantifier) => {
                    self.oracle.axiom();
                    *self.complete = false;
                }
                Err(limit) => return Err(limit),
            }
        }
        let private = self.private_globals(&conf);
        let mut frame = self.new_frame(code.entry, Vec::new())?;
        frame.free = true;
        conf.tasks.push(Task {
            parent: None,
            children: Vec::new(),
            procedure: code.entry,
            frames: vec![frame],
            result: None,
            atomic: 0,
            private,
            parked: false,
        });
        Ok(Some(conf))
    }

    /// Unique constants get different values: elements of an uninterpreted type are as good as any
    /// others, numbers are not. False if the oracle insists on equal ones.
    fn choose_unique(&mut self, conf: &mut Conf) -> Result<bool, Limit> {
        for group in &self.code.unique {
            let mut taken: Vec<Value> = Vec::new();
            for (number, &slot) in group.iter().enumerate() {
                let checked = &self.code.checked;
                let ty = checked.vars[checked.consts[slot]].ty;
                let value = match checked.types.kind(ty) {
                    crate::check::TyKind::Con(..) => Value::Element(ty, number as u32),
                    crate::check::TyKind::Int => {
                        let usual = Value::Int(number as i128);
                        self.oracle.value(Asked::Const(slot), &|| Ok((vec![usual.clone()], false)))?.0
                    }
                    _ => {
                        let domains = self.domains;
                        let others = || {
                            let (mut values, _) = domains.values(checked, ty)?;
                            values.retain(|value| !taken.contains(value));
                            Ok((values, false))
                        };
                        self.oracle.value(Asked::Const(slot), &others)?.0
                    }
                };
                *self.complete &= matches!(value, Value::Element(..));
                if taken.contains(&value) {
                    return Ok(false);
                }
                taken.push(value.clone());
                conf.world.consts[slot] = Some(value);
            }
        }
        Ok(true)
    }

    fn thread_local_slots(&self) -> Vec<usize> {
        let checked = &self.code.checked;
        let is_private = |&slot: &usize| checked.vars[checked.globals[slot]].kind == VarKind::ThreadLocal;
        (0..checked.globals.len()).filter(is_private).collect()
    }

    fn private_globals(&self, conf: &Conf) -> Vec<Value> {
        self.thread_local_slots().into_iter().map(|slot| conf.globals[slot].clone()).collect()
    }

    /// Runs a task to its next scheduling point.
    pub fn run_task(&mut self, conf: &mut Conf, task: usize) -> Result<Stop, Limit> {
        let private = self.thread_local_slots();
        let neutral: Vec<Value> = private.iter().map(|&slot| conf.globals[slot].clone()).collect();
        for (idx, &slot) in private.iter().enumerate() {
            conf.globals[slot] = conf.tasks[task].private[idx].clone();
        }
        let stop = self.run_swapped(conf, task);
        for (idx, &slot) in private.iter().enumerate() {
            conf.tasks[task].private[idx] = std::mem::replace(&mut conf.globals[slot], neutral[idx].clone());
        }
        stop
    }

    fn run_swapped(&mut self, conf: &mut Conf, task: usize) -> Result<Stop, Limit> {
        let mut may_pass = std::mem::take(&mut conf.tasks[task].parked);
        loop {
            self.n_steps_left = self.n_steps_left.checked_sub(1).ok_or(Limit::Steps)?;
            let Some(frame) = conf.tasks[task].frames.last() else { return Ok(Stop::Completed) };
            let (procedure, body_idx, pc) = (frame.procedure, frame.body, frame.pc);
            let flow = match body_idx {
                None => self.bodiless(conf, task)?,
                Some(body_idx) if pc == ENTRY => self.enter(conf, task, body_idx)?,
                Some(body_idx) => {
                    let body = &self.code.procedures[procedure].bodies[body_idx];
                    self.instr(conf, task, body, pc, std::mem::take(&mut may_pass))?
                }
            };
            let frame = conf.tasks[task].frames.last_mut();
            match (flow, frame) {
                (Flow::Next, Some(frame)) => frame.pc = frame.pc.wrapping_add(1),
                (Flow::Goto(target), Some(frame)) => frame.pc = target,
                (Flow::Pause, Some(frame)) => {
                    frame.pc += 1;
                    return Ok(Stop::Parked);
                }
                (Flow::Stop(stop), _) => return Ok(stop),
                (Flow::Switched | Flow::Next | Flow::Goto(_) | Flow::Pause, _) => {}
            }
        }
    }

    /// The globals for `old`. Programs without it keep none, which makes for fewer configurations.
    fn snapshot(&self, conf: &Conf) -> Arc<Vec<Value>> {
        Arc::new(if self.code.uses_old { conf.globals.clone() } else { Vec::new() })
    }

    /// The first thing in a body: preconditions and `where` clauses.
    fn enter(&mut self, conf: &mut Conf, task: usize, body_idx: usize) -> Result<Flow, Limit> {
        // `old` is the state when the procedure starts, not when its task was posted.
        let before = self.snapshot(conf);
        self.announce(conf, task);
        let frame = top(conf, task);
        frame.old_globals = before;
        let (procedure, free) = (&self.code.procedures[frame.procedure], frame.free);
        for contract in &procedure.requires {
            if let Some(stop) = self.contract(conf, task, contract, free, FailureKind::Precondition)? {
                return Ok(Flow::Stop(stop));
            }
        }
        let body = &procedure.bodies[body_idx];
        for (_, clause) in procedure.result_where.iter().chain(&body.wheres) {
            if !self.truth(conf, task, clause)? {
                return Ok(Flow::Stop(Stop::Blocked));
            }
        }
        Ok(Flow::Goto(0))
    }

    /// Tells the oracle that the procedure of the top frame begins.
    fn announce(&mut self, conf: &Conf, task: usize) {
        let frames = &conf.tasks[task].frames;
        if let Some(frame) = frames.last() {
            self.oracle.at(At::Enter { task, depth: frames.len(), procedure: frame.procedure });
        }
    }

    fn contract(
        &mut self,
        conf: &mut Conf,
        task: usize,
        contract: &Contract,
        assume: bool,
        kind: FailureKind,
    ) -> Result<Option<Stop>, Limit> {
        if self.truth(conf, task, &contract.expr)? {
            return Ok(None);
        }
        if contract.free || assume {
            return Ok(Some(Stop::Blocked));
        }
        Ok(self.fail(conf, task, kind, contract.span))
    }

    /// Notes a failure; `Some` if the run ends with it.
    fn fail(&mut self, conf: &mut Conf, task: usize, kind: FailureKind, span: Span) -> Option<Stop> {
        if conf.failure.is_none() {
            conf.failure = Some(Failure { kind, task, span });
        }
        match self.assertions {
            Assertions::Exit => Some(Stop::Failed),
            Assertions::Continue => None,
        }
    }

    fn instr(
        &mut self,
        conf: &mut Conf,
        task: usize,
        body: &'a Body,
        pc: usize,
        may_pass: bool,
    ) -> Result<Flow, Limit> {
        let origin = body.origins[pc];
        let mut writes = Vec::new();
        if let (Instr::Havoc(_) | Instr::Call { .. } | Instr::Post { .. }, Some(stmt)) =
            (&body.instrs[pc], origin.stmt)
        {
            self.oracle.at(At::Stmt { task, stmt });
        }
        let flow = match &body.instrs[pc] {
            Instr::Assign { targets, values } => {
                self.assign(conf, task, targets, values, &mut writes)?;
                Flow::Next
            }
            Instr::Havoc(slots) => self.havoc(conf, task, body, slots, &mut writes)?,
            Instr::Assert(expr) => match self.truth(conf, task, expr)? {
                true => Flow::Next,
                false => {
                    self.fail(conf, task, FailureKind::Assertion, origin.span).map_or(Flow::Next, Flow::Stop)
                }
            },
            Instr::Assume(expr) => match self.truth(conf, task, expr)? {
                true => Flow::Next,
                false => Flow::Stop(Stop::Blocked),
            },
            Instr::Call { procedure, args, outs, free } => {
                let args = self.args(conf, task, args)?;
                let mut frame = self.new_frame(*procedure, args)?;
                frame.outs = outs.clone();
                frame.free = *free;
                if conf.tasks[task].frames.len() >= MAX_FRAMES {
                    return Err(Limit::Steps);
                }
                self.note(conf, task, origin, &[]);
                top(conf, task).pc += 1;
                conf.tasks[task].frames.push(frame);
                return Ok(Flow::Switched);
            }
            Instr::Post { procedure, args, handle, task_id } => {
                let args = self.args(conf, task, args)?;
                let child = self.post(conf, task, *procedure, args)?;
                if let Some(slot) = *handle {
                    self.write(conf, task, slot, Some(Value::Task(Some(child as u32))), &mut writes);
                }
                if let Some(slot) = *task_id {
                    let value = self.number_for(conf, task, slot, child);
                    self.write(conf, task, slot, Some(value), &mut writes);
                }
                if self.stop_after_post && !self.is_atomic(conf, task) { Flow::Pause } else { Flow::Next }
            }
            Instr::Wait { out, handle } => {
                let target = match self.read(conf, task, *handle)? {
                    Value::Task(Some(target)) => target as usize,
                    _ => {
                        let stop = self.fail(conf, task, FailureKind::Handle, origin.span);
                        return Ok(Flow::Stop(stop.unwrap_or(Stop::Blocked)));
                    }
                };
                if !self.may_pass_wait(conf, task, may_pass) {
                    return Ok(self.park(conf, task));
                }
                if !conf.is_completed(target) {
                    return Ok(Flow::Stop(Stop::Blocked));
                }
                if let Some(slot) = *out {
                    let value = conf.tasks[target].result.clone();
                    self.write(conf, task, slot, value, &mut writes);
                }
                Flow::Next
            }
            Instr::WaitAll => {
                if !self.may_pass_wait(conf, task, may_pass) {
                    return Ok(self.park(conf, task));
                }
                let children = &conf.tasks[task].children;
                match children.iter().all(|&child| conf.is_completed(child)) {
                    true => Flow::Next,
                    false => Flow::Stop(Stop::Blocked),
                }
            }
            Instr::Yield { condition, .. } => {
                if may_pass || self.is_atomic(conf, task) {
                    return Ok(Flow::Next);
                }
                let open = match condition {
                    Some(expr) => self.eval_top(conf, task, |eval, locals| eval.bool(expr, locals))?,
                    None => true,
                };
                return Ok(if open { self.park(conf, task) } else { Flow::Next });
            }
            Instr::AtomicBegin => {
                conf.tasks[task].atomic += 1;
                Flow::Next
            }
            Instr::AtomicEnd => {
                conf.tasks[task].atomic = conf.tasks[task].atomic.saturating_sub(1);
                Flow::Next
            }
            Instr::OwnId(out) => {
                self.write_number(conf, task, *out, task, &mut writes);
                Flow::Next
            }
            Instr::ChildId(out) => {
                let child = conf.tasks[task].children.last().copied().unwrap_or(task);
                self.write_number(conf, task, *out, child, &mut writes);
                Flow::Next
            }
            Instr::Fail => {
                self.fail(conf, task, FailureKind::Reached, origin.span).map_or(Flow::Next, Flow::Stop)
            }
            Instr::Record(expr) => {
                let value = self.eval_top(conf, task, |eval, locals| eval.value(expr, locals))?;
                writes.push((None, Some(value)));
                Flow::Next
            }
            Instr::Jump(target) => return Ok(Flow::Goto(*target)),
            Instr::Branch(expr, then, otherwise) => {
                let holds = self.eval_top(conf, task, |eval, locals| eval.bool(expr, locals))?;
                self.note(conf, task, origin, &[]);
                return Ok(Flow::Goto(if holds { *then } else { *otherwise }));
            }
            Instr::Choose(targets) => {
                let idx = self.oracle.branch(targets.len())?;
                self.note(conf, task, origin, &[]);
                return Ok(Flow::Goto(targets[idx]));
            }
            Instr::Return => return self.finish(conf, task),
        };
        self.note(conf, task, origin, &writes);
        Ok(flow)
    }

    fn park(&mut self, conf: &mut Conf, task: usize) -> Flow {
        conf.tasks[task].parked = true;
        Flow::Stop(Stop::Parked)
    }

    /// Inside an atomic section a wait is no scheduling point: it passes at once or never.
    fn may_pass_wait(&self, conf: &Conf, task: usize, may_pass: bool) -> bool {
        may_pass || self.is_atomic(conf, task)
    }

    fn is_atomic(&self, conf: &Conf, task: usize) -> bool {
        let task = &conf.tasks[task];
        task.atomic > 0 || task.frames.iter().any(|frame| self.code.procedures[frame.procedure].atomic)
    }

    fn args(
        &mut self,
        conf: &mut Conf,
        task: usize,
        args: &[super::code::ExprCode],
    ) -> Result<Vec<Value>, Limit> {
        args.iter().map(|arg| self.eval_top(conf, task, |eval, locals| eval.value(arg, locals))).collect()
    }

    fn new_frame(&mut self, procedure: usize, args: Vec<Value>) -> Result<Frame, Limit> {
        let lowered = &self.code.procedures[procedure];
        let body = match lowered.bodies.len() {
            0 => None,
            1 => Some(0),
            n => Some(self.oracle.branch(n)?),
        };
        let types = body.map_or(&lowered.types, |body| &lowered.bodies[body].types);
        let mut slots: Vec<Option<Value>> = args.into_iter().map(Some).collect();
        for &ty in &types[slots.len()..] {
            slots.push(is_task_type(&self.code.checked, ty).then_some(Value::Task(None)));
        }
        Ok(Frame {
            procedure,
            body,
            pc: ENTRY,
            slots,
            old_globals: Arc::new(Vec::new()),
            outs: Vec::new(),
            free: false,
        })
    }

    fn post(
        &mut self,
        conf: &mut Conf,
        parent: usize,
        procedure: usize,
        args: Vec<Value>,
    ) -> Result<usize, Limit> {
        let mut private = Vec::new();
        for slot in self.thread_local_slots() {
            let var = &self.code.checked.vars[self.code.checked.globals[slot]];
            let (asked, ty) = (Asked::Chosen { task: parent, name: var.name.symbol }, var.ty);
            private.push(self.eval(conf, &[], |eval, _| eval.arbitrary(asked, ty))?);
        }
        let frame = self.new_frame(procedure, args)?;
        let child = conf.tasks.len();
        conf.tasks.push(Task {
            parent: Some(parent),
            children: Vec::new(),
            procedure,
            frames: vec![frame],
            result: None,
            atomic: 0,
            private,
            parked: false,
        });
        conf.tasks[parent].children.push(child);
        Ok(child)
    }

    fn finish(&mut self, conf: &mut Conf, task: usize) -> Result<Flow, Limit> {
        let procedure = &self.code.procedures[top(conf, task).procedure];
        for contract in &procedure.ensures {
            if let Some(stop) = self.contract(conf, task, contract, false, FailureKind::Postcondition)? {
                return Ok(Flow::Stop(stop));
            }
        }
        self.leave(conf, task, procedure.n_params, procedure.n_results)
    }

    /// Pops the frame and delivers its results.
    fn leave(
        &mut self,
        conf: &mut Conf,
        task: usize,
        n_params: usize,
        n_results: usize,
    ) -> Result<Flow, Limit> {
        if conf.tasks[task].frames.len() == 1 && n_results > 0 {
            // Later waits must all see the same result.
            let slot = Slot::Local(n_params);
            if top(conf, task).slots[n_params].is_none() {
                self.read(conf, task, slot)?;
            }
        }
        let Some(frame) = conf.tasks[task].frames.pop() else { return Ok(Flow::Stop(Stop::Completed)) };
        let results = &frame.slots[n_params..n_params + n_results];
        if conf.tasks[task].frames.is_empty() {
            conf.tasks[task].result = results.first().cloned().flatten();
            return Ok(Flow::Stop(Stop::Completed));
        }
        let mut writes = Vec::new();
        let depth = conf.tasks[task].frames.len() + 1;
        for (idx, (out, value)) in frame.outs.iter().zip(results).enumerate() {
            if let Some(slot) = *out {
                if value.is_none() {
                    let from = self.local_name(&frame, n_params + idx);
                    let to = self.slot_name(top(conf, task), slot);
                    self.oracle.at(At::Passed { task, depth, from, to });
                }
                // A global has a value at any time, so an unset result is chosen now.
                let value = match (slot, value) {
                    (Slot::Global(global), None) => {
                        let var = &self.code.checked.vars[self.code.checked.globals[global]];
                        let (asked, ty) = (Asked::Chosen { task, name: var.name.symbol }, var.ty);
                        Some(self.eval(conf, &[], |eval, _| eval.arbitrary(asked, ty))?)
                    }
                    _ => value.clone(),
                };
                self.write(conf, task, slot, value, &mut writes);
            }
        }
        Ok(Flow::Switched)
    }

    /// A call of a procedure without body, in one step.
    fn bodiless(&mut self, conf: &mut Conf, task: usize) -> Result<Flow, Limit> {
        let (procedure, free) = {
            let before = self.snapshot(conf);
            self.announce(conf, task);
            let frame = top(conf, task);
            frame.old_globals = before;
            (&self.code.procedures[frame.procedure], frame.free)
        };
        for contract in &procedure.requires {
            if let Some(stop) = self.contract(conf, task, contract, free, FailureKind::Precondition)? {
                return Ok(Flow::Stop(stop));
            }
        }
        for &slot in &procedure.modifies {
            let var = &self.code.checked.vars[self.code.checked.globals[slot]];
            let (asked, ty) = (Asked::Chosen { task, name: var.name.symbol }, var.ty);
            conf.globals[slot] = self.eval(conf, &[], |eval, _| eval.arbitrary(asked, ty))?;
        }
        let wheres = procedure.modifies.iter().filter_map(|&slot| self.code.global_where[slot].as_ref());
        let assumed = wheres
            .chain(procedure.result_where.iter().map(|(_, clause)| clause))
            .chain(procedure.ensures.iter().map(|contract| &contract.expr));
        for expr in assumed {
            if !self.truth(conf, task, expr)? {
                return Ok(Flow::Stop(Stop::Blocked));
            }
        }
        self.leave(conf, task, procedure.n_params, procedure.n_results)
    }

    fn assign(
        &mut self,
        conf: &mut Conf,
        task: usize,
        targets: &[Target],
        values: &[super::code::ExprCode],
        writes: &mut Writes,
    ) -> Result<(), Limit> {
        // All indices and right sides are evaluated before anything is written.
        let mut paths: Vec<Vec<Vec<Value>>> = Vec::new();
        for target in targets {
            let mut path = Vec::new();
            for list in &target.indices {
                path.push(self.args(conf, task, list)?);
            }
            paths.push(path);
        }
        let values = self.args(conf, task, values)?;
        for ((target, path), value) in targets.iter().zip(paths).zip(values) {
            let value = if path.is_empty() {
                value
            } else {
                let map = self.read(conf, task, target.slot)?;
                store(map, &path, value)?
            };
            self.write(conf, task, target.slot, Some(value), writes);
        }
        Ok(())
    }

    fn havoc(
        &mut self,
        conf: &mut Conf,
        task: usize,
        body: &Body,
        slots: &[Slot],
        writes: &mut Writes,
    ) -> Result<Flow, Limit> {
        for &slot in slots {
            let value = match slot {
                Slot::Global(slot) => {
                    let var = &self.code.checked.vars[self.code.checked.globals[slot]];
                    let (asked, ty) = (Asked::Chosen { task, name: var.name.symbol }, var.ty);
                    Some(self.eval(conf, &[], |eval, _| eval.arbitrary(asked, ty))?)
                }
                Slot::Local(slot) => {
                    let depth = conf.tasks[task].frames.len();
                    self.oracle.at(At::Forget { task, depth, name: body.names[slot] });
                    is_task_type(&self.code.checked, body.types[slot]).then_some(Value::Task(None))
                }
            };
            self.write(conf, task, slot, value, writes);
        }
        for &slot in slots {
            let clauses: Vec<_> = match slot {
                Slot::Global(slot) => self.code.global_where[slot].iter().collect(),
                Slot::Local(slot) => {
                    body.wheres.iter().filter(|(of, _)| *of == slot).map(|(_, clause)| clause).collect()
                }
            };
            for clause in clauses {
                if !self.truth(conf, task, clause)? {
                    return Ok(Flow::Stop(Stop::Blocked));
                }
            }
        }
        Ok(Flow::Next)
    }

    fn read(&mut self, conf: &mut Conf, task: usize, slot: Slot) -> Result<Value, Limit> {
        match slot {
            Slot::Global(slot) => Ok(conf.globals[slot].clone()),
            Slot::Local(slot) => {
                let expr = super::code::ExprCode { ops: vec![super::code::Op::Local(slot)] };
                self.eval_top(conf, task, |eval, locals| eval.value(&expr, locals))
            }
        }
    }

    fn write(&self, conf: &mut Conf, task: usize, slot: Slot, value: Option<Value>, writes: &mut Writes) {
        if self.events.is_some() {
            let name = self.slot_name(top(conf, task), slot);
            writes.push((Some(name), value.clone()));
        }
        match (slot, value) {
            (Slot::Global(slot), Some(value)) => conf.globals[slot] = value,
            (Slot::Global(_), None) => {}
            (Slot::Local(slot), value) => top(conf, task).slots[slot] = value,
        }
    }

    fn local_name(&self, frame: &Frame, slot: usize) -> Symbol {
        let procedure = &self.code.procedures[frame.procedure];
        frame.body.map_or(&procedure.names, |body| &procedure.bodies[body].names)[slot]
    }

    fn slot_name(&self, frame: &Frame, slot: Slot) -> Symbol {
        match slot {
            Slot::Global(slot) => self.code.checked.vars[self.code.checked.globals[slot]].name.symbol,
            Slot::Local(slot) => self.local_name(frame, slot),
        }
    }

    fn write_number(
        &self,
        conf: &mut Conf,
        task: usize,
        out: Option<Slot>,
        number: usize,
        writes: &mut Writes,
    ) {
        if let Some(slot) = out {
            let value = self.number_for(conf, task, slot, number);
            self.write(conf, task, slot, Some(value), writes);
        }
    }

    /// The number of a task in the type of the variable that receives it. Numbers start at one.
    fn number_for(&self, conf: &Conf, task: usize, slot: Slot, number: usize) -> Value {
        let checked = &self.code.checked;
        let ty = match (slot, conf.tasks[task].frames.last()) {
            (Slot::Global(slot), _) => Some(checked.vars[checked.globals[slot]].ty),
            (Slot::Local(slot), Some(frame)) => {
                frame.body.map(|body| self.code.procedures[frame.procedure].bodies[body].types[slot])
            }
            (Slot::Local(_), None) => None,
        };
        match ty.map(|ty| checked.types.kind(ty)) {
            Some(crate::check::TyKind::Bv(width)) => Value::Bv { width: *width, bits: number as u128 + 1 },
            _ => Value::Int(number as i128 + 1),
        }
    }

    fn note(&mut self, conf: &Conf, task: usize, origin: Origin, writes: &[Write]) {
        let n_frames = conf.tasks[task].frames.len();
        let procedure = conf.tasks[task].frames.last().map_or(conf.tasks[task].procedure, |f| f.procedure);
        if let Some(events) = &mut self.events {
            events.push(Event {
                task,
                procedure,
                depth: n_frames,
                stmt: origin.stmt,
                span: origin.span,
                writes: writes.to_vec(),
            });
        }
    }

    fn eval<T>(
        &mut self,
        conf: &mut Conf,
        old_globals: &[Value],
        f: impl FnOnce(&mut Eval<'_>, &mut Locals<'_>) -> Result<T, Limit>,
    ) -> Result<T, Limit> {
        let mut eval = Eval {
            code: self.code,
            domains: self.domains,
            oracle: self.oracle,
            complete: self.complete,
            globals: &conf.globals,
            old_globals,
            world: &mut conf.world,
            n_calls: 0,
            tries_witnesses: false,
        };
        f(&mut eval, &mut Locals::none())
    }

    /// Whether something holds that a run relies on. What quantifies over unbounded data and has no counterexample at hand is left
    /// to the oracle. An assertion is no exception: either it holds, or it is itself the violation that the run is about.
    fn truth(&mut self, conf: &mut Conf, task: usize, expr: &super::code::ExprCode) -> Result<bool, Limit> {
        match self.eval_top(conf, task, |eval, locals| eval.bool(expr, locals)) {
            Err(limit @ Limit::Quantifier) => self.oracle.assumption(limit),
            answer => answer,
        }
    }

    /// Evaluates in the top frame of a task.
    fn eval_top<T>(
        &mut self,
        conf: &mut Conf,
        task: usize,
        f: impl FnOnce(&mut Eval<'_>, &mut Locals<'_>) -> Result<T, Limit>,
    ) -> Result<T, Limit> {
        let Conf { globals, world, tasks, .. } = conf;
        let depth = tasks[task].frames.len();
        let Some(frame) = tasks[task].frames.last_mut() else {
            return Err(Limit::Unsupported("a completed task"));
        };
        let procedure = &self.code.procedures[frame.procedure];
        let (types, names) = match frame.body {
            Some(body) => (&procedure.bodies[body].types, &procedure.bodies[body].names),
            None => (&procedure.types, &procedure.names),
        };
        let mut eval = Eval {
            code: self.code,
            domains: self.domains,
            oracle: self.oracle,
            complete: self.complete,
            globals,
            old_globals: &frame.old_globals,
            world,
            n_calls: 0,
            tries_witnesses: true,
        };
        f(&mut eval, &mut Locals { slots: &mut frame.slots, types, names, frame: (task, depth) })
    }
}

/// The program counter before the first instruction.
const ENTRY: usize = usize::MAX;

/// Names and new values; no name for a recorded value, no value for an arbitrary one.
pub type Write = (Option<Symbol>, Option<Value>);
pub type Writes = Vec<Write>;

/// The frame a task executes in. Callers know that the task has not completed.
fn top(conf: &mut Conf, task: usize) -> &mut Frame {
    let frames = &mut conf.tasks[task].frames;
    let last = frames.len() - 1;
    &mut frames[last]
}

/// The map with the element at this path replaced.
fn store(map: Value, path: &[Vec<Value>], value: Value) -> Result<Value, Limit> {
    let [index, rest @ ..] = path else { return Ok(value) };
    let Value::Map(mut map) = map else { return Err(Limit::Unsupported("an ill-typed assignment")) };
    let inner = store(map.get(index).clone(), rest, value)?;
    Arc::make_mut(&mut map).set(index.clone(), inner);
    Ok(Value::Map(map))
}
