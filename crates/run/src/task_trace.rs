//! Traces of programs with shared memory: a task is an actor, a step is a statement, and the variables that all tasks
//! share are an actor of their own, which never steps.

use std::collections::HashMap;

use allways_base::{Idx, Span};

use crate::Violation;
use crate::choice::Choice;
use crate::datum::{Datum, Edit, Name};
use crate::trace::{
    ActorId, ActorKind, Change, ChangeKind, Entry, FailurePart, PartLabel, PartOrigin, Trace, TraceActor,
    TraceStep,
};

/// A value that a statement gave to a variable.
#[derive(Clone, PartialEq, Debug)]
pub struct Write {
    pub variable: Name,
    pub value: Name,
    pub is_shared: bool,
}

/// Builds a trace statement by statement.
#[derive(Default, Debug)]
pub struct TaskTrace {
    trace: Trace,
    tasks: HashMap<Name, ActorId>,
    shared: Option<ActorId>,
    /// What variables hold.
    values: HashMap<(ActorId, Name), Datum>,
}

impl TaskTrace {
    /// The actor of this name, which begins to exist at the next step if it is new.
    pub fn task(&mut self, name: &str) -> ActorId {
        if let Some(&task) = self.tasks.get(name) {
            return task;
        }
        let task = self.add(name.into(), ActorKind::Task);
        self.tasks.insert(name.into(), task);
        task
    }

    fn add(&mut self, name: Name, kind: ActorKind) -> ActorId {
        let id = ActorId::new(self.trace.actors.len());
        let type_name: Name = name.split('(').next().unwrap_or(&name).into();
        self.trace.actors.push(TraceActor {
            name,
            type_name,
            kind,
            creator: None,
            created: self.trace.steps.len() as u32,
            state: "".into(),
            variables: Vec::new(),
            reactions: Vec::new(),
            span: None,
        });
        id
    }

    /// A step of a task, in which it does one thing.
    pub fn step(&mut self, task: ActorId, entry: Entry) {
        let at = self.trace.steps.len() as u32;
        let is_new = |&id: &ActorId| self.trace.actors[id.index()].created == at;
        let changes = [Some(task), self.shared].into_iter().flatten().filter(is_new);
        let changes = changes.map(|actor| Change { actor, what: ChangeKind::Created }).collect();
        self.trace.steps.push(TraceStep {
            actor: Some(task),
            entries: vec![entry],
            changes,
            ..TraceStep::default()
        });
    }

    /// A statement that a task executes, and what it wrote.
    pub fn statement(
        &mut self,
        task: ActorId,
        procedure: Name,
        round: Option<u32>,
        text: Name,
        writes: Vec<Write>,
        span: Span,
    ) {
        if self.shared.is_none() && writes.iter().any(|write| write.is_shared) {
            self.shared = Some(self.add("shared".into(), ActorKind::Shared));
        }
        self.step(task, Entry::Statement { actor: task, procedure, round, text, span });
        for Write { variable, value, is_shared } in writes {
            let actor = self.shared.filter(|_| is_shared).unwrap_or(task);
            let after = Datum::Other(value);
            let before = self.values.insert((actor, variable.clone()), after.clone());
            if before.is_none() {
                self.trace.actors[actor.index()].variables.push((variable.clone(), Datum::Null));
            }
            let before = Some(before.unwrap_or(Datum::Null));
            let edit = Edit::Replace { before, after: Some(after) };
            let what = ChangeKind::Variable { name: variable, path: Vec::new(), edit };
            if let Some(step) = self.trace.steps.last_mut() {
                step.changes.push(Change { actor, what });
            }
        }
    }

    /// The choice of the scheduler that the last step begins with.
    pub fn choose(&mut self, choice: Choice) {
        if let Some(step) = self.trace.steps.last_mut() {
            step.choices.push(choice);
        }
    }

    /// A variable that the failing condition of a task reads. One that was never written has no value to show.
    pub fn reads(&mut self, task: ActorId, variable: Name, span: Span) {
        let is_known = self
            .trace
            .failure
            .parts
            .iter()
            .any(|part| matches!(&part.origin, PartOrigin::Variable { name, .. } if *name == variable));
        // A local variable hides a shared one.
        let actors = [Some(task), self.shared].into_iter().flatten();
        let value = actors.filter_map(|actor| self.values.get(&(actor, variable.clone()))).next();
        if let (false, Some(value)) = (is_known, value) {
            self.trace.failure.parts.push(FailurePart {
                label: PartLabel::Source(span),
                value: value.clone(),
                origin: PartOrigin::Variable { name: variable, path: Vec::new() },
            });
        }
    }

    /// The trace of a run without failure.
    pub fn into_trace(self) -> Trace {
        self.trace
    }

    /// The trace that ends with a violation.
    pub fn finish(mut self, violation: &Violation) -> Trace {
        self.trace.fail(violation);
        self.trace.failure.actor = self.trace.steps.last().and_then(|step| step.actor);
        self.trace
    }
}
