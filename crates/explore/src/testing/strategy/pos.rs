//! Partial-order sampling (Yuan, Yang and Gu, CAV 2018), with the priorities that P's checker gives.
//!
//! Pending steps stand in a list. The first of those that deliver nothing (creations, observations, idle steps) is
//! taken; if every step delivers, the first of all. The steps that race with it, that is deliveries to the same machine,
//! are inserted anew, each at a random index; the others keep their order, so that the order of independent steps
//! does not use up the chance of the rest.
//!
//! Random indices, rather than random numbers as in the paper, keep starvation short: against `n` others that step again
//! and again, the last of the list is passed by about `n` insertions, while a number close to zero is passed by
//! nothing but a number closer still, for which thousands of steps may be needed.
//!
//! One step in [`N_PREFERRED`] is the first of all whatever it does. P's checker has no such step, so that there a
//! machine that creates others for ever, or whose null handler runs again and again, stops everything else.

use allways_machine::{DataPoint, Kernel};

use super::{Plan, Strategy};
use crate::testing::rng::Rng;

/// Of so many steps, one does not prefer those without a delivery.
const N_PREFERRED: u64 = 16;

#[derive(Debug)]
pub struct Pos {
    rng: Rng,
    /// Places, by falling priority.
    order: Vec<usize>,
    /// By place: whether it is in `order`.
    is_listed: Vec<bool>,
}

impl Default for Pos {
    fn default() -> Self {
        Pos { rng: Rng::new(0), order: Vec::new(), is_listed: Vec::new() }
    }
}

impl Pos {
    fn insert_new(&mut self, kernel: &Kernel) {
        self.is_listed.resize(kernel.n_places(), false);
        for place in kernel.enabled_set().iter() {
            if !self.is_listed[place] {
                let at = self.rng.below(self.order.len() as u64 + 1) as usize;
                self.order.insert(at, place);
                self.is_listed[place] = true;
            }
        }
    }

    fn first(&self, kernel: &Kernel, condition: impl Fn(usize) -> bool) -> Option<usize> {
        let enabled = kernel.enabled_set();
        self.order.iter().copied().find(|&place| enabled.contains(place) && condition(place))
    }
}

impl Strategy for Pos {
    fn begin(&mut self, plan: &Plan) -> bool {
        self.rng = Rng::new(plan.seed);
        self.order.clear();
        self.is_listed.clear();
        true
    }

    fn place(&mut self, kernel: &Kernel) -> usize {
        self.insert_new(kernel);
        let prefers = self.rng.below(N_PREFERRED) != 0;
        let preferred =
            prefers.then(|| self.first(kernel, |place| kernel.reaches(place).is_none())).flatten();
        let Some(chosen) = preferred.or_else(|| self.first(kernel, |_| true)) else {
            debug_assert!(false, "a running kernel has an enabled place, and all of them are listed");
            return super::nth_place(kernel, 0);
        };
        let target = kernel.reaches(chosen);
        let is_listed = &mut self.is_listed;
        self.order.retain(|&place| {
            is_listed[place] = place != chosen && (target.is_none() || kernel.reaches(place) != target);
            is_listed[place]
        });
        chosen
    }

    fn pick(&mut self, n: u32) -> u32 {
        self.rng.below(n as u64) as u32
    }

    fn answer(&mut self, point: DataPoint) -> u32 {
        self.rng.below(point.n_answers as u64) as u32
    }
}
