//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatti, ASPLOS 2010).
//!
//! Machines (and channels) have random priorities, and the highest that can step does. At so many random places of the
//! schedule the one about to step falls below all others. Depth-d bugs need d - 1 such places, so `n` here is d - 1, as P's
//! option counts. The length of a schedule, from which the places are drawn, is an estimate.

use allways_machine::{DataPoint, Kernel};

use super::{Plan, Strategy, draw_points};
use crate::testing::rng::Rng;

#[derive(Debug)]
pub struct Pct {
    n: u32,
    rng: Rng,
    /// By place. Drawn priorities have the top bit; those that fell do not, and later ones are lower.
    priorities: Vec<u64>,
    points: Vec<u64>,
    next_point: usize,
    at: u64,
}

const DRAWN: u64 = 1 << 63;

impl Pct {
    pub fn new(n: u32) -> Self {
        Pct { n, rng: Rng::new(0), priorities: Vec::new(), points: Vec::new(), next_point: 0, at: 0 }
    }

    fn highest(&mut self, kernel: &Kernel) -> usize {
        let n_places = kernel.n_places();
        while self.priorities.len() < n_places {
            self.priorities.push(self.rng.next() | DRAWN);
        }
        let mut best = (0, 0);
        for place in kernel.enabled_set().iter() {
            let candidate = (self.priorities[place], place);
            if candidate >= best {
                best = candidate;
            }
        }
        best.1
    }
}

impl Strategy for Pct {
    fn begin(&mut self, plan: &Plan) -> bool {
        self.rng = Rng::new(plan.seed);
        self.priorities.clear();
        draw_points(&mut self.rng, self.n, plan.length, &mut self.points);
        self.next_point = 0;
        self.at = 0;
        true
    }

    fn place(&mut self, kernel: &Kernel) -> usize {
        let mut place = self.highest(kernel);
        if self.points.get(self.next_point).is_some_and(|&point| point <= self.at) {
            self.priorities[place] = (self.points.len() - self.next_point) as u64;
            self.next_point += 1;
            place = self.highest(kernel);
        }
        self.at += 1;
        place
    }

    fn pick(&mut self, n: u32) -> u32 {
        self.rng.below(n as u64) as u32
    }

    fn answer(&mut self, point: DataPoint) -> u32 {
        self.rng.below(point.n_answers as u64) as u32
    }
}
