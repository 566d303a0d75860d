//! Idle configurations: every task has completed or has not started.

use super::{Conf, ENTRY};
use crate::interp::code::Code;
use crate::interp::value::Value;

/// A task that was posted and has not started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pending {
    /// Its place in [`Conf::tasks`].
    pub task: usize,
    /// A place in [`Code::procedures`].
    pub procedure: usize,
    pub args: Vec<Value>,
}

impl Conf {
    /// The pending tasks in posting order; `None` if some task is neither completed nor pending.
    pub fn pending(&self, code: &Code) -> Option<Vec<Pending>> {
        let mut pending = Vec::new();
        for (number, task) in self.tasks.iter().enumerate() {
            let [frame] = &task.frames[..] else {
                if task.frames.is_empty() {
                    continue;
                }
                return None;
            };
            // A procedure without body runs in one step.
            if frame.pc != ENTRY {
                return None;
            }
            let n_params = code.procedures[frame.procedure].n_params;
            let args: Option<Vec<Value>> = frame.slots[..n_params].iter().cloned().collect();
            pending.push(Pending { task: number, procedure: frame.procedure, args: args? });
        }
        Some(pending)
    }
}
