//! Answers to data choices, enumerated: run with one script, advance it, run again, until there is no next one.
//!
//! Programs choose among more numbers than can be explored: `choose(1000)` for a value, `choose(100) < 5` for a chance of
//! one in twenty. [`Answers`] are those that are explored under a bound: from the first to the last, evenly spread, so that
//! two of them already see both sides of a comparison.

use std::sync::Arc;

use crate::data::DataPlan;
use crate::kernel::{DataPoint, Oracle};

/// The answers to one data choice that are explored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answers {
    /// How many, one at least.
    pub n: u32,
    /// How many there are.
    n_all: u32,
    /// Those that represent all others, if not all are explored.
    representatives: Option<Arc<[u32]>>,
}

impl Answers {
    /// Under a bound on the answers to choices of numbers. Others are never bounded: that one of several is left out
    /// would make a difference between machines that are alike, and an order of collections that have none.
    pub fn to(point: DataPoint, bound: Option<u32>, plan: Option<&DataPlan>) -> Self {
        let n_all = point.n_answers;
        if let Some(representatives) =
            plan.and_then(|plan| plan.answers(point.pc)).filter(|_| point.is_number)
        {
            let n = representatives.len() as u32;
            return Answers { n, n_all, representatives: Some(representatives) };
        }
        let bound = bound.filter(|_| point.is_number).unwrap_or(n_all);
        Answers { n: n_all.min(bound.max(1)), n_all, representatives: None }
    }

    /// Some are not explored.
    pub fn is_bounded(&self) -> bool {
        self.n < self.n_all && self.representatives.is_none()
    }

    /// The one at a place below `n`; they ascend.
    pub fn at(&self, place: u32) -> u32 {
        if let Some(representatives) = &self.representatives {
            return representatives[place as usize];
        }
        match (self.is_bounded(), u64::from(self.n)) {
            (false, _) => place,
            (true, 1) => 0,
            (true, n) => (u64::from(place) * u64::from(self.n_all - 1) / (n - 1)) as u32,
        }
    }
}

/// The answers of one run. What lies beyond them is answered with zero and remembered.
#[derive(Clone, Default, Debug)]
pub struct Script {
    /// Each answer by its place among those that are explored.
    answers: Vec<(u32, Answers)>,
    at: usize,
    /// Of answers to choices of numbers.
    bound: Option<u32>,
    plan: Option<Arc<DataPlan>>,
}

impl Script {
    /// One that gives so many answers to a choice of a number, at most, or those that represent all others.
    pub fn bounded(bound: Option<u32>, plan: Option<Arc<DataPlan>>) -> Self {
        Script { bound, plan, ..Script::default() }
    }

    /// The answer to the next question, which has `n` answers.
    pub fn ask(&mut self, n: u32) -> u32 {
        self.next(Answers { n, n_all: n, representatives: None })
    }

    fn next(&mut self, answers: Answers) -> u32 {
        if self.at == self.answers.len() {
            self.answers.push((0, answers));
        }
        let (place, answers) = &self.answers[self.at];
        self.at += 1;
        answers.at(*place)
    }

    /// The answers given so far.
    pub fn given(&self) -> impl Iterator<Item = u32> + '_ {
        self.answers[..self.at].iter().map(|(place, answers)| answers.at(*place))
    }

    /// Makes this the next script; false when all were seen.
    pub fn advance(&mut self) -> bool {
        self.answers.truncate(self.at);
        self.at = 0;
        while let Some((place, answers)) = self.answers.pop() {
            if place + 1 < answers.n {
                self.answers.push((place + 1, answers));
                return true;
            }
        }
        false
    }
}

impl Oracle for Script {
    fn answer(&mut self, point: DataPoint) -> u32 {
        self.next(Answers::to(point, self.bound, self.plan.as_deref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_answers_come_once() {
        let mut script = Script::default();
        let mut seen = Vec::new();
        loop {
            let first = script.ask(2);
            let second = if first == 0 { script.ask(3) } else { 9 };
            seen.push((first, second));
            if !script.advance() {
                break;
            }
        }
        assert_eq!(seen, [(0, 0), (0, 1), (0, 2), (1, 9)]);
    }

    #[test]
    fn a_bound_spreads_answers_from_the_first_to_the_last() {
        let spread = |n, n_all| -> Vec<u32> {
            let answers = Answers { n, n_all, representatives: None };
            (0..n).map(|place| answers.at(place)).collect()
        };
        assert_eq!(spread(1, 100), [0]);
        assert_eq!(spread(2, 100), [0, 99]);
        assert_eq!(spread(4, 100), [0, 33, 66, 99]);
        assert_eq!(spread(4, 5), [0, 1, 2, 4]);
        assert_eq!(spread(3, 3), [0, 1, 2]);
    }
}
