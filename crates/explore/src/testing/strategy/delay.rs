//! Delay bounding (Emmi, Qadeer and Rakamaric, POPL 2011), sampled.
//!
//! A deterministic scheduler lets a machine step for as long as it can and then turns to the next in order of
//! creation. At so many random places it passes over the machine whose turn it is. Most bugs need very few of these.

use allways_machine::{DataPoint, Kernel};

use super::{Plan, Strategy, draw_points};
use crate::testing::rng::Rng;

#[derive(Debug)]
pub struct DelayBounding {
    n: u32,
    rng: Rng,
    present: usize,
    points: Vec<u64>,
    next_point: usize,
    at: u64,
}

impl DelayBounding {
    pub fn new(n: u32) -> Self {
        DelayBounding { n, rng: Rng::new(0), present: 0, points: Vec::new(), next_point: 0, at: 0 }
    }
}

impl Strategy for DelayBounding {
    fn begin(&mut self, plan: &Plan) -> bool {
        self.rng = Rng::new(plan.seed);
        self.present = 0;
        draw_points(&mut self.rng, self.n, plan.length, &mut self.points);
        self.next_point = 0;
        self.at = 0;
        true
    }

    fn place(&mut self, kernel: &Kernel) -> usize {
        let n_places = kernel.n_places();
        let next_from = |place: usize| {
            let mut place = place % n_places;
            while !kernel.enabled_set().contains(place) {
                place = (place + 1) % n_places;
            }
            place
        };
        self.present = next_from(self.present);
        while self.points.get(self.next_point).is_some_and(|&point| point <= self.at) {
            self.next_point += 1;
            self.present = next_from(self.present + 1);
        }
        self.at += 1;
        self.present
    }

    fn pick(&mut self, n: u32) -> u32 {
        self.rng.below(n as u64) as u32
    }

    fn answer(&mut self, point: DataPoint) -> u32 {
        self.rng.below(point.n_answers as u64) as u32
    }
}
