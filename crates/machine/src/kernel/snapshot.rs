//! Going back to an earlier point of a run.

use super::{Kernel, Outcome};
use crate::configuration::Configuration;

/// A point of a run, to go back to. Values in it live in the store of the kernel that made it, so a
/// snapshot dies with the next [`Kernel::reset`].
#[derive(Clone)]
pub struct Snapshot {
    conf: Configuration,
    outcome: Outcome,
    n_choices: usize,
    n_steps: u64,
}

impl Kernel<'_> {
    pub fn save(&mut self) -> Snapshot {
        self.settle();
        Snapshot {
            conf: self.conf.clone(),
            outcome: self.outcome.clone(),
            n_choices: self.schedule.len(),
            n_steps: self.n_steps,
        }
    }

    /// Goes back to a point of the present run. The schedule is cut to what led there, so that point must be a
    /// prefix of the present one, as in a depth-first search; otherwise only the schedule is wrong.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        self.store.clear_drafts();
        self.conf.clone_from(&snapshot.conf);
        self.outcome.clone_from(&snapshot.outcome);
        self.schedule.choices.truncate(snapshot.n_choices);
        self.n_steps = snapshot.n_steps;
    }
}
