//! When machines crash in a sampled schedule.
//!
//! Each machine that can crash does so in every other schedule, before a step that is drawn when the machine is made:
//! anywhere in the length that schedules are thought to have, or half of the time soon, within a tenth of it. So a crash is
//! as likely late as early, and schedules without any are as common as others.

use allways_machine::Kernel;
use allways_run::InstanceId;

use super::rng::Rng;
use super::strategy::{Plan, Strategy};

pub(crate) struct Crashes {
    rng: Rng,
    length: u64,
    /// Machines seen so far, in order of creation.
    n_seen: usize,
    /// Which machines crash, and before which step.
    planned: Vec<(InstanceId, u64)>,
}

impl Crashes {
    pub fn new() -> Self {
        Crashes { rng: Rng::new(0), length: 1, n_seen: 0, planned: Vec::new() }
    }

    pub fn begin(&mut self, plan: &Plan) {
        // Another sequence than that of the strategy.
        self.rng = Rng::new(super::rng::derive(plan.seed, 0xc7a5));
        self.length = plan.length.max(10);
        self.n_seen = 0;
        self.planned.clear();
    }

    /// The machine that crashes now, if any.
    pub fn next(&mut self, kernel: &Kernel, strategy: &mut dyn Strategy) -> Option<InstanceId> {
        if strategy.enumerates_crashes() {
            let n = kernel.crashes().count() as u32;
            let which = if n > 0 { strategy.crash(n)? } else { return None };
            return kernel.crashes().nth(which as usize);
        }
        let roster = &kernel.configuration().roster;
        while self.n_seen < roster.len() {
            let machine = roster.at(self.n_seen);
            self.n_seen += 1;
            if !kernel.executable().network.can_crash(kernel.configuration().local(machine).machine) {
                continue;
            }
            let draw = self.rng.below(4);
            let length = if draw == 2 { self.length / 10 } else { self.length };
            if draw >= 2 {
                self.planned.push((machine, kernel.n_steps() + self.rng.below(length.max(1))));
            }
        }
        let due = self
            .planned
            .iter()
            .position(|&(machine, step)| step <= kernel.n_steps() && kernel.can_crash(machine))?;
        Some(self.planned.swap_remove(due).0)
    }
}
