//! Priorities up to the unfair step bound, then random: starvation first, fairness in the end.

use allways_machine::{DataPoint, Kernel};

use super::{Pct, Plan, Random, Strategy};

#[derive(Debug)]
pub struct FairPct {
    pct: Pct,
    random: Random,
    n_unfair: u64,
}

impl FairPct {
    pub fn new(n: u32) -> Self {
        FairPct { pct: Pct::new(n), random: Random::default(), n_unfair: 0 }
    }
}

impl Strategy for FairPct {
    fn begin(&mut self, plan: &Plan) -> bool {
        self.n_unfair = plan.unfair_steps.unwrap_or(plan.length);
        let suffix = Plan { seed: !plan.seed, ..*plan };
        self.pct.begin(plan) && self.random.begin(&suffix)
    }

    fn place(&mut self, kernel: &Kernel) -> usize {
        if kernel.schedule().len() as u64 >= self.n_unfair {
            self.random.place(kernel)
        } else {
            self.pct.place(kernel)
        }
    }

    fn pick(&mut self, n: u32) -> u32 {
        self.random.pick(n)
    }

    fn answer(&mut self, point: DataPoint) -> u32 {
        self.random.answer(point)
    }
}
