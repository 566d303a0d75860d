//! From a run of the translated program back to the tasks of the original.
//!
//! A [`Plan`] says what the scheduler and the tasks did: for each task, in which order it passed its
//! preemption points and what happened at each, which ways its free branches took, and
//! which tasks it posted. Together with the operational scheduler this fixes the interleaving.

use allways_boogie::tree::StmtId;

use crate::{Role, Sequentialized};

/// One step of a run of the translated program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    Enter,
    Leave,
    /// A statement, the way it took if it was a free branch, and the first value it assigned if that is a number.
    Stmt {
        stmt: StmtId,
        way: Option<u32>,
        value: Option<u32>,
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
    /// The ways of free branches.
    pub ways: Vec<u32>,
}

/// What happened to a task at a preemption point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtPoint {
    /// It went on after so many rounds.
    Delay(u32),
    /// It never went on.
    Stop,
}

/// Reads the steps of a run, from the call of the old entry point on.
pub fn decode(done: &Sequentialized, steps: impl IntoIterator<Item = Step>) -> Plan {
    let mut plan = Plan { tasks: vec![TaskPlan::default()] };
    // The tasks around, each with the depth of calls at which it was entered.
    let mut running: Vec<(usize, usize)> = vec![(0, 0)];
    let (mut depth, mut posted) = (0usize, false);
    for step in steps {
        let Some(&(task, entered)) = running.last() else { break };
        match step {
            Step::Enter => {
                depth += 1;
                if std::mem::take(&mut posted) {
                    let child = plan.tasks.len();
                    plan.tasks.push(TaskPlan::default());
                    plan.tasks[task].children.push(child);
                    running.push((child, depth));
                }
            }
            Step::Leave => {
                if depth == entered && running.len() > 1 {
                    running.pop();
                }
                depth = depth.saturating_sub(1);
            }
            Step::Stmt { stmt, way, value } => {
                let Some(origin) = done.origins.get(&stmt) else { continue };
                match origin.role {
                    Role::Post => posted = true,
                    Role::Yield => {
                        plan.tasks[task].points.push((origin.stmt, AtPoint::Delay(value.unwrap_or(0))));
                    }
                    Role::Stop => plan.tasks[task].points.push((origin.stmt, AtPoint::Stop)),
                    Role::Plain => plan.tasks[task].ways.extend(way),
                    Role::Choice | Role::Wait => {}
                }
            }
        }
    }
    plan
}
