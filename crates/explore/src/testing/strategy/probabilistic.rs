//! A machine that steps goes on stepping; with probability 1 / 2^n the next one is drawn at random.

use allways_machine::{DataPoint, Kernel};

use super::{Plan, Strategy, nth_place};
use crate::testing::rng::Rng;

#[derive(Debug)]
pub struct Probabilistic {
    n: u32,
    rng: Rng,
    present: usize,
}

impl Probabilistic {
    pub fn new(n: u32) -> Self {
        Probabilistic { n: n.min(63), rng: Rng::new(0), present: 0 }
    }
}

impl Strategy for Probabilistic {
    fn begin(&mut self, plan: &Plan) -> bool {
        self.rng = Rng::new(plan.seed);
        self.present = 0;
        true
    }

    fn place(&mut self, kernel: &Kernel) -> usize {
        let stays = self.rng.next() >> (64 - self.n.max(1)) != 0 && self.n > 0;
        if !stays || !kernel.enabled_set().contains(self.present) {
            let n = self.rng.below(kernel.n_enabled() as u64);
            self.present = nth_place(kernel, n);
        }
        self.present
    }

    fn pick(&mut self, n: u32) -> u32 {
        self.rng.below(n as u64) as u32
    }

    fn answer(&mut self, point: DataPoint) -> u32 {
        self.rng.below(point.n_answers as u64) as u32
    }
}
