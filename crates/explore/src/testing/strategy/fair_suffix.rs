//! An unfair strategy up to the unfair step bound, then random: starvation first, fairness in the end.
//!
//! Without the suffix a run in which a machine waits for one that never steps is cut by the bound, and says nothing.

use allways_machine::{DataPoint, Kernel};

use super::{Plan, Random, Strategy};

#[derive(Debug)]
pub struct FairSuffix<S> {
    prefix: S,
    suffix: Random,
    n_unfair: u64,
}

impl<S: Strategy> FairSuffix<S> {
    pub fn new(prefix: S) -> Self {
        FairSuffix { prefix, suffix: Random::default(), n_unfair: 0 }
    }
}

impl<S: Strategy> Strategy for FairSuffix<S> {
    fn begin(&mut self, plan: &Plan) -> bool {
        self.n_unfair = plan.n_unfair;
        let suffix = Plan { seed: !plan.seed, ..*plan };
        let prefix = Plan { length: plan.length.min(plan.n_unfair.max(1)), ..*plan };
        self.prefix.begin(&prefix) && self.suffix.begin(&suffix)
    }

    fn place(&mut self, kernel: &Kernel) -> usize {
        if kernel.schedule().len() as u64 >= self.n_unfair {
            self.suffix.place(kernel)
        } else {
            self.prefix.place(kernel)
        }
    }

    fn pick(&mut self, n: u32) -> u32 {
        self.suffix.pick(n)
    }

    fn answer(&mut self, point: DataPoint) -> u32 {
        self.suffix.answer(point)
    }
}
