//! Partial-order sampling (Yuan, Yang and Gu, CAV 2018).
//!
//! Every pending effect has a random priority, and the highest takes place. Effects that race with it, that is
//! deliveries to the same machine, draw anew; the others keep theirs, so that the order of independent effects does
//! not use up the chance of the rest.

use allways_machine::{DataPoint, Kernel};

use super::{Plan, Strategy};
use crate::rng::Rng;

#[derive(Debug)]
pub struct Pos {
    rng: Rng,
    /// By place; zero is not yet drawn.
    priorities: Vec<u64>,
}

impl Default for Pos {
    fn default() -> Self {
        Pos { rng: Rng::new(0), priorities: Vec::new() }
    }
}

impl Strategy for Pos {
    fn begin(&mut self, plan: &Plan) -> bool {
        self.rng = Rng::new(plan.seed);
        self.priorities.clear();
        true
    }

    fn place(&mut self, kernel: &Kernel) -> usize {
        self.priorities.resize(kernel.n_places(), 0);
        let mut best = (0, 0);
        for place in kernel.enabled_set().iter() {
            let priority = &mut self.priorities[place];
            if *priority == 0 {
                *priority = self.rng.next() | 1;
            }
            best = best.max((*priority, place));
        }
        let chosen = best.1;
        self.priorities[chosen] = 0;
        if let Some(target) = kernel.reaches(chosen) {
            for place in kernel.enabled_set().iter() {
                if kernel.reaches(place) == Some(target) {
                    self.priorities[place] = 0;
                }
            }
        }
        chosen
    }

    fn pick(&mut self, n: u32) -> u32 {
        self.rng.below(n as u64) as u32
    }

    fn answer(&mut self, point: DataPoint) -> u32 {
        self.rng.below(point.n_answers as u64) as u32
    }
}
