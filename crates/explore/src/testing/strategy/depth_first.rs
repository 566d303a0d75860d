//! All schedules, depth first.
//!
//! The strategy remembers the branch taken at each choice point of the last schedule. The next one repeats it up to
//! the last point that has a branch left, takes that, and from there on always the first. Nothing else is
//! remembered: configurations that are reached twice are explored twice.

use allways_machine::{DataPoint, Kernel};

use super::{Plan, Strategy, nth_place};

#[derive(Clone, Copy, Debug)]
struct Branch {
    taken: u32,
    n: u32,
}

#[derive(Default, Debug)]
pub struct DepthFirst {
    branches: Vec<Branch>,
    at: usize,
    has_begun: bool,
}

impl DepthFirst {
    fn next(&mut self, n: u32) -> u32 {
        let at = self.at;
        self.at += 1;
        match self.branches.get(at) {
            Some(branch) => branch.taken,
            None => {
                self.branches.push(Branch { taken: 0, n });
                0
            }
        }
    }
}

impl Strategy for DepthFirst {
    fn begin(&mut self, _: &Plan) -> bool {
        self.at = 0;
        if !self.has_begun {
            self.has_begun = true;
            return true;
        }
        while let Some(last) = self.branches.last_mut() {
            if last.taken + 1 < last.n {
                last.taken += 1;
                return true;
            }
            self.branches.pop();
        }
        false
    }

    fn place(&mut self, kernel: &Kernel) -> usize {
        let n = match kernel.n_enabled() as u32 {
            1 => 0,
            n_enabled => self.next(n_enabled),
        };
        nth_place(kernel, n as u64)
    }

    fn pick(&mut self, n: u32) -> u32 {
        self.next(n)
    }

    fn enumerates_crashes(&self) -> bool {
        true
    }

    fn crash(&mut self, n: u32) -> Option<u32> {
        self.next(n + 1).checked_sub(1)
    }

    fn answer(&mut self, point: DataPoint) -> u32 {
        self.next(point.n_answers)
    }
}
