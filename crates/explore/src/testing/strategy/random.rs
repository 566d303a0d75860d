//! Every machine that can step is equally likely to, at every step.

use allways_machine::{DataPoint, Kernel};

use super::{Plan, Strategy, nth_place};
use crate::testing::rng::Rng;

#[derive(Debug)]
pub struct Random {
    rng: Rng,
}

impl Default for Random {
    fn default() -> Self {
        Random { rng: Rng::new(0) }
    }
}

impl Strategy for Random {
    fn begin(&mut self, plan: &Plan) -> bool {
        self.rng = Rng::new(plan.seed);
        true
    }

    #[inline]
    fn place(&mut self, kernel: &Kernel) -> usize {
        let n = match kernel.n_enabled() as u64 {
            1 => 0,
            n_enabled => self.rng.below(n_enabled),
        };
        nth_place(kernel, n)
    }

    fn pick(&mut self, n: u32) -> u32 {
        self.rng.below(n as u64) as u32
    }

    fn answer(&mut self, point: DataPoint) -> u32 {
        self.rng.below(point.n_answers as u64) as u32
    }
}
