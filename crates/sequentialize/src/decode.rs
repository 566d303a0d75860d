//! From a run of the translated program back to the tasks of the original.
//!
//! A [`Plan`] says what the scheduler and the tasks did: for each task, in which order it passed its
//! preemption points and what happened at each, which ways its free branches took, which tasks it posted, and which
//! values it took from nowhere. Together with the operational scheduler this fixes the run.

use allways_boogie::interp::Value;
use allways_boogie::tree::{StmtId, StmtKind};

use crate::{Role, Sequentialized};

/// Variables of the translated program with values.
pub type Named = Vec<(String, Value)>;

/// One step of a run of the translated program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A procedure, with the values of its parameters and of what it reads before it assigns it; or a loop.
    Enter {
        procedure: Option<String>,
        values: Named,
    },
    Leave,
    /// Which of its bodies a procedure executes.
    Body(u32),
    /// A statement, the way it took if it was a free branch, and what it assigned.
    Stmt {
        stmt: StmtId,
        way: Option<u32>,
        values: Named,
    },
}

/// What the tasks did. The first is the entry point's.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Plan {
    pub tasks: Vec<TaskPlan>,
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TaskPlan {
    /// Places in [`Plan::tasks`], in the order of posting.
    pub children: Vec<usize>,
    /// The preemption points reached, and what happened there.
    pub points: Vec<(StmtId, AtPoint)>,
    /// The ways of free branches, and which body a procedure executes where it has several. That of a posted procedure is
    /// chosen by its poster.
    pub ways: Vec<u32>,
    /// Values that come from nowhere, in order.
    pub items: Vec<Item>,
}

/// A place of a run where values come from nowhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// A procedure begins.
    Enter { procedure: String, values: Named },
    /// A statement of the original that chooses, or calls a procedure that may.
    Stmt { stmt: StmtId, values: Named },
}

/// What happened to a task at a preemption point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtPoint {
    /// It went on after so many rounds.
    Delay(u32),
    /// It never went on.
    Stop,
}

/// Which task of the original runs while the translated program, in which a task is a call, is read step by step.
pub(crate) struct Running<T> {
    /// The tasks around, each with the depth of calls at which it was entered.
    tasks: Vec<(T, usize)>,
    depth: usize,
}

impl<T: Copy> Running<T> {
    pub fn new(first: T) -> Self {
        Running { tasks: vec![(first, 0)], depth: 0 }
    }

    pub fn task(&self) -> Option<T> {
        self.tasks.last().map(|&(task, _)| task)
    }

    /// A procedure is entered, which runs this task if it is one.
    pub fn enter(&mut self, task: Option<T>) {
        self.depth += 1;
        self.tasks.extend(task.map(|task| (task, self.depth)));
    }

    pub fn leave(&mut self) {
        if self.tasks.len() > 1 && self.tasks.last().is_some_and(|&(_, entered)| entered == self.depth) {
            self.tasks.pop();
        }
        self.depth = self.depth.saturating_sub(1);
    }
}

/// Reads the steps of a run, from the call of the old entry point on.
pub fn decode(done: &Sequentialized, steps: impl IntoIterator<Item = Step>) -> Plan {
    let mut plan = Plan { tasks: vec![TaskPlan::default()] };
    let mut running = Running::new(0);
    let mut posted = false;
    // The poster of the running task, until that has executed a statement.
    let mut poster: Option<usize> = None;
    for step in steps {
        let Some(task) = running.task() else { break };
        match step {
            Step::Enter { procedure, values } => {
                let mut posts = None;
                if std::mem::take(&mut posted) {
                    let child = plan.tasks.len();
                    plan.tasks.push(TaskPlan::default());
                    plan.tasks[task].children.push(child);
                    posts = Some(child);
                    poster = Some(task);
                }
                running.enter(posts);
                if let Some(procedure) = procedure {
                    plan.tasks[posts.unwrap_or(task)].items.push(Item::Enter { procedure, values });
                }
            }
            Step::Leave => {
                running.leave();
                poster = None;
            }
            Step::Body(number) => plan.tasks[poster.unwrap_or(task)].ways.push(number),
            Step::Stmt { stmt, way, values } => {
                let Some(origin) = done.origins.get(&stmt) else { continue };
                poster = None;
                let is_call = matches!(done.program.stmts[stmt].kind, StmtKind::Call(_));
                let task = &mut plan.tasks[task];
                match origin.role {
                    Role::Post => posted = true,
                    Role::Yield => {
                        let jump = match values.first() {
                            Some((_, Value::Int(jump))) => u32::try_from(*jump).unwrap_or(0),
                            _ => 0,
                        };
                        task.points.push((origin.stmt, AtPoint::Delay(jump)));
                    }
                    Role::Stop => task.points.push((origin.stmt, AtPoint::Stop)),
                    Role::Choice => choose(&mut task.items, origin.stmt, values),
                    Role::Plain if is_call => choose(&mut task.items, origin.stmt, values),
                    Role::Plain => task.ways.extend(way),
                    Role::Wait | Role::Round => {}
                }
            }
        }
    }
    plan
}

/// Adds what a statement chose; several steps of one visit are one item.
pub(crate) fn choose(items: &mut Vec<Item>, stmt: StmtId, values: Named) {
    if let Some(Item::Stmt { stmt: last, values: known }) = items.last_mut()
        && *last == stmt
        && !known.iter().any(|(name, _)| values.iter().any(|(other, _)| other == name))
    {
        known.extend(values);
    } else {
        items.push(Item::Stmt { stmt, values });
    }
}
