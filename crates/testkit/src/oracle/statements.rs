//! Statements, one task at a time.

use allways_base::{Idx, Span};
use allways_p::hir::{Body, ExprId, PathKind, Place, PlaceRoot, StmtId, StmtKind};
use allways_run::ViolationKind;

use super::configuration::{Raised, Status, Task};
use super::machine::{Active, Flow, Outcome, Segment, Trap};
use super::value::{Fault, Value};

/// One step of a path into a variable, its index computed.
enum Step {
    Part(usize),
    Field(allways_base::Symbol),
    Index(Value),
}

impl<'a> Segment<'a> {
    pub fn body(&self, active: &mut Active) -> &'a Body {
        let program = self.program;
        program.functions[active.frame().fun].body.as_ref().expect("code that runs has a body")
    }

    pub fn task(&mut self, active: &mut Active, task: Task) -> Outcome<Flow> {
        match task {
            Task::Begin(stmt) => self.begin(active, stmt),
            Task::Finish(stmt) => self.finish(active, stmt),
            Task::Test(stmt, arm) => self.test_condition(active, stmt, arm),
            Task::While(stmt) => {
                let StmtKind::While { cond, .. } = self.body(active).stmts[stmt].kind else {
                    unreachable!("a while")
                };
                active.frame().tasks.extend([Task::Test(stmt, 0), Task::Eval(cond)]);
                Ok(Flow::Go)
            }
            Task::Foreach(stmt, items, at) => self.next_item(active, stmt, items, at),
            Task::CaseEnd => Ok(Flow::Go),
            Task::Eval(expr) => self.eval(active, expr),
            Task::Apply(expr) => self.apply(active, expr),
            Task::Right(expr) => self.right_side(active, expr),
        }
    }

    /// Queues the evaluation of operands, the first to come first.
    fn evaluate(&self, active: &mut Active, stmt: StmtId, operands: impl IntoIterator<Item = ExprId>) {
        let operands: Vec<ExprId> = operands.into_iter().collect();
        let tasks = &mut active.frame().tasks;
        tasks.push(Task::Finish(stmt));
        tasks.extend(operands.into_iter().rev().map(Task::Eval));
    }

    fn begin(&mut self, active: &mut Active, id: StmtId) -> Outcome<Flow> {
        let body = self.body(active);
        match &body.stmts[id].kind {
            StmtKind::Block(block) => {
                active.frame().tasks.extend(block.iter().rev().map(|&stmt| Task::Begin(stmt)));
            }
            StmtKind::Assert { cond, .. } => {
                active.frame().tasks.extend([Task::Test(id, 0), Task::Eval(*cond)]);
            }
            StmtKind::Print(e) | StmtKind::Eval(e) => self.evaluate(active, id, [*e]),
            StmtKind::Return(e) => self.evaluate(active, id, *e),
            StmtKind::Break | StmtKind::Continue | StmtKind::Receive { .. } => {
                active.frame().tasks.push(Task::Finish(id));
            }
            StmtKind::Assign { place, value } => {
                let late = late_indices(self, body, place);
                self.evaluate(active, id, late.into_iter().chain([*value]));
            }
            StmtKind::Insert { place, key, value } => {
                let late = late_indices(self, body, place);
                self.evaluate(active, id, late.into_iter().chain([*key, *value]));
            }
            StmtKind::Add { place, value: e } | StmtKind::Remove { place, key: e } => {
                let late = late_indices(self, body, place);
                self.evaluate(active, id, late.into_iter().chain([*e]));
            }
            StmtKind::While { .. } => active.frame().tasks.push(Task::While(id)),
            StmtKind::Foreach { collection, .. } => self.evaluate(active, id, [*collection]),
            StmtKind::If { arms, otherwise } => match arms.first() {
                Some((cond, _)) => active.frame().tasks.extend([Task::Test(id, 0), Task::Eval(*cond)]),
                None => active.frame().tasks.extend(otherwise.map(Task::Begin)),
            },
            StmtKind::Raise { event, payload } | StmtKind::Announce { event, payload } => {
                self.evaluate(active, id, [*event].into_iter().chain(*payload));
            }
            StmtKind::Send { target, event, payload } => {
                self.evaluate(active, id, [*target, *event].into_iter().chain(*payload));
            }
            StmtKind::Goto { payload, .. } => self.evaluate(active, id, *payload),
        }
        Ok(Flow::Go)
    }

    fn test_condition(&mut self, active: &mut Active, id: StmtId, arm: usize) -> Outcome<Flow> {
        let body = self.body(active);
        let stmt = &body.stmts[id];
        let is_true = match active.pop() {
            Value::Bool(b) => b,
            _ => return Err(Trap::fault(ViolationKind::Cast, stmt.span)),
        };
        match &stmt.kind {
            StmtKind::Assert { message, .. } => {
                if !is_true {
                    self.evaluate(active, id, *message);
                }
            }
            StmtKind::While { body, .. } => {
                if is_true {
                    active.frame().tasks.extend([Task::While(id), Task::Begin(*body)]);
                }
            }
            StmtKind::If { arms, otherwise } => {
                if is_true {
                    active.frame().tasks.push(Task::Begin(arms[arm].1));
                } else if let Some((cond, _)) = arms.get(arm + 1) {
                    active.frame().tasks.extend([Task::Test(id, arm + 1), Task::Eval(*cond)]);
                } else {
                    active.frame().tasks.extend(otherwise.map(Task::Begin));
                }
            }
            _ => unreachable!("a statement with a condition"),
        }
        Ok(Flow::Go)
    }

    fn next_item(&mut self, active: &mut Active, id: StmtId, items: Vec<Value>, at: usize) -> Outcome<Flow> {
        let body = self.body(active);
        let StmtKind::Foreach { item: place, body: inner, .. } = &body.stmts[id].kind else {
            unreachable!("a foreach")
        };
        let Some(item) = items.get(at).cloned() else { return Ok(Flow::Go) };
        // The loop variable is a variable in every program there is; indices in it would have to be evaluated here.
        if !place.path.is_empty() {
            return Err(Trap::Unknown);
        }
        self.store(active, place, body.stmts[id].span, |root| {
            *root = item;
            Ok(())
        })?;
        active.frame().tasks.extend([Task::Foreach(id, items, at + 1), Task::Begin(*inner)]);
        Ok(Flow::Go)
    }

    fn finish(&mut self, active: &mut Active, id: StmtId) -> Outcome<Flow> {
        let body = self.body(active);
        let stmt = &body.stmts[id];
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Assert { .. } => Err(Trap::fault(ViolationKind::Assertion, span)),
            StmtKind::Print(_) | StmtKind::Eval(_) => {
                active.pop();
                Ok(Flow::Go)
            }
            StmtKind::Return(e) => {
                let result = if e.is_some() { active.pop() } else { Value::Null };
                Ok(self.leave_function(active, result))
            }
            StmtKind::Break => {
                // A receive case catches `break`, but not `continue`.
                while let Some(task) = active.frame().tasks.pop() {
                    if matches!(task, Task::While(_) | Task::Foreach(..) | Task::CaseEnd) {
                        break;
                    }
                }
                Ok(Flow::Go)
            }
            StmtKind::Continue => {
                let tasks = &mut active.frame().tasks;
                while !matches!(tasks.last(), None | Some(Task::While(_) | Task::Foreach(..))) {
                    tasks.pop();
                }
                Ok(Flow::Go)
            }
            StmtKind::Receive { .. } => Ok(self.receive(active, id)),
            StmtKind::Assign { place, .. } => {
                let value = active.pop();
                let mut steps = self.steps(active, place);
                let last = steps.pop();
                self.store_at(active, place, &steps, span, |holder| match last {
                    None => {
                        *holder = value;
                        Ok(())
                    }
                    Some(Step::Part(at)) => holder.part_mut(at).map(|part| *part = value),
                    Some(Step::Field(name)) => holder.field_mut(name).map(|part| *part = value),
                    Some(Step::Index(index)) => holder.set_at(&index, value),
                })
            }
            StmtKind::Insert { place, .. } => {
                let value = active.pop();
                let key = active.pop();
                let steps = self.steps(active, place);
                self.store_at(active, place, &steps, span, |holder| holder.insert(&key, value))
            }
            StmtKind::Add { place, .. } => {
                let value = active.pop();
                let steps = self.steps(active, place);
                self.store_at(active, place, &steps, span, |holder| holder.add(value))
            }
            StmtKind::Remove { place, .. } => {
                let key = active.pop();
                let steps = self.steps(active, place);
                self.store_at(active, place, &steps, span, |holder| holder.remove(&key))
            }
            StmtKind::Foreach { .. } => {
                let items = active.pop().elements().map_err(|fault| Trap::fault(fault, span))?;
                active.frame().tasks.push(Task::Foreach(id, items, 0));
                Ok(Flow::Go)
            }
            StmtKind::Raise { payload, .. } => {
                let payload = if payload.is_some() { active.pop() } else { Value::Null };
                let Value::Event(event) = active.pop() else {
                    return Err(Trap::fault(ViolationKind::NullEvent, span));
                };
                self.raise(active, Raised::Event((event, payload)), span)
            }
            StmtKind::Goto { state, payload } => {
                let payload = if payload.is_some() { active.pop() } else { Value::Null };
                self.raise(active, Raised::Goto(*state, payload), span)
            }
            StmtKind::Announce { payload, .. } => {
                let payload = if payload.is_some() { active.pop() } else { Value::Null };
                let Value::Event(event) = active.pop() else {
                    return Err(Trap::fault(ViolationKind::NullEvent, span));
                };
                self.observe(&active.local, &(event, payload))?;
                Ok(Flow::Go)
            }
            StmtKind::Send { payload, .. } => {
                let payload = if payload.is_some() { active.pop() } else { Value::Null };
                let (event, target) = (active.pop(), active.pop());
                self.send(active, target, event, payload, span)
            }
            StmtKind::Block(_) | StmtKind::While { .. } | StmtKind::If { .. } => {
                unreachable!("done in other tasks")
            }
        }
    }

    /// The checks of a send, its observation, and then a scheduling point (6.8).
    fn send(
        &mut self,
        active: &mut Active,
        target: Value,
        event: Value,
        payload: Value,
        span: Span,
    ) -> Outcome<Flow> {
        let Value::Event(event) = event else { return Err(Trap::fault(ViolationKind::NullEvent, span)) };
        let Value::Machine(target, permits) = target else {
            return Err(Trap::fault(ViolationKind::NullTarget, span));
        };
        if !self.program.machines[active.local.machine].sends.contains(event) {
            return Err(Trap::fault(ViolationKind::SendsSet, span));
        }
        if !permits.contains(&event) {
            return Err(Trap::fault(ViolationKind::Permission, span));
        }
        let message = (event, payload);
        self.observe(&active.local, &message)?;
        active.local.status = Status::Sending { target, message };
        Ok(Flow::Stop)
    }

    // Places.

    /// The path of a place; the indices that are not bare are on the stack.
    fn steps(&mut self, active: &mut Active, place: &Place) -> Vec<Step> {
        let body = self.body(active);
        let mut steps: Vec<Step> = Vec::new();
        for step in place.path.iter().rev() {
            steps.push(match &step.kind {
                PathKind::Tuple(at) => Step::Part(*at),
                PathKind::Field(name, _) => Step::Field(*name),
                PathKind::Index(index) => Step::Index(match self.bare(active, body, *index) {
                    Some(value) => value,
                    None => active.pop(),
                }),
            });
        }
        steps.reverse();
        steps
    }

    /// Changes what a path leads to.
    fn store_at(
        &mut self,
        active: &mut Active,
        place: &Place,
        steps: &[Step],
        span: Span,
        change: impl FnOnce(&mut Value) -> Result<(), Fault>,
    ) -> Outcome<Flow> {
        self.store(active, place, span, |root| {
            let mut holder = root;
            for step in steps {
                holder = match step {
                    Step::Part(at) => holder.part_mut(*at)?,
                    Step::Field(name) => holder.field_mut(*name)?,
                    Step::Index(index) => holder.at_mut(index)?,
                };
            }
            change(holder)
        })
    }

    fn store(
        &mut self,
        active: &mut Active,
        place: &Place,
        span: Span,
        change: impl FnOnce(&mut Value) -> Result<(), Fault>,
    ) -> Outcome<Flow> {
        let root = match place.root {
            PlaceRoot::Local(local) => &mut active.frame().locals[local.index()],
            PlaceRoot::Field(field) => &mut active.local.fields[field.index()],
        };
        change(root).map_err(|fault| Trap::fault(fault, span))?;
        Ok(Flow::Go)
    }
}

/// The indices of a path that are evaluated beforehand; bare ones are read when the store happens (V5).
fn late_indices(segment: &Segment<'_>, body: &Body, place: &Place) -> Vec<ExprId> {
    let indices = place.path.iter().filter_map(|step| match step.kind {
        PathKind::Index(index) => Some(index),
        PathKind::Tuple(_) | PathKind::Field(..) => None,
    });
    indices.filter(|&index| !segment.is_bare(body, index)).collect()
}
