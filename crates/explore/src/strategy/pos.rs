//! Partial-order sampling (Yuan, Yang and Gu, CAV 2018).
//!
//! Every pending effect has a random priority, and the highest takes place. Effects that race with it, that is
//! deliveries to the same machine, draw anew; the others keep theirs, so that the order of independent effects does
//! not use up the chance of the rest.

use allways_machine::{DataPoint, Kernel, Pending};

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

    fn machine(&mut self, kernel: &Kernel) -> usize {
        let roster = &kernel.configuration().roster;
        self.priorities.resize(roster.len(), 0);
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
        let target_of = |place| match kernel.pending(roster.at(place)) {
            Some(Pending::Deliver { target, .. }) => Some(target),
            _ => None,
        };
        if let Some(target) = target_of(chosen) {
            for place in kernel.enabled_set().iter() {
                if target_of(place) == Some(target) {
                    self.priorities[place] = 0;
                }
            }
        }
        chosen
    }

    fn answer(&mut self, point: DataPoint) -> u32 {
        self.rng.below(point.n_answers as u64) as u32
    }
}
