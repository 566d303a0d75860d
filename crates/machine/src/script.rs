//! Answers to data choices, enumerated: run with one script, advance it, run again, until there is no next one.

use crate::kernel::{DataPoint, Oracle};

/// The answers of one run. What lies beyond them is answered with zero and remembered.
#[derive(Clone, Default, Debug)]
pub struct Script {
    /// Each answer with the number of answers there were.
    answers: Vec<(u32, u32)>,
    at: usize,
}

impl Script {
    /// The answer to the next question, which has `n` answers.
    pub fn ask(&mut self, n: u32) -> u32 {
        if self.at == self.answers.len() {
            self.answers.push((0, n));
        }
        let (answer, _) = self.answers[self.at];
        self.at += 1;
        answer
    }

    /// The answers given so far.
    pub fn given(&self) -> impl Iterator<Item = u32> + '_ {
        self.answers[..self.at].iter().map(|&(answer, _)| answer)
    }

    /// Makes this the next script; false when all were seen.
    pub fn advance(&mut self) -> bool {
        self.answers.truncate(self.at);
        self.at = 0;
        while let Some((answer, n)) = self.answers.pop() {
            if answer + 1 < n {
                self.answers.push((answer + 1, n));
                return true;
            }
        }
        false
    }
}

impl Oracle for Script {
    fn answer(&mut self, point: DataPoint) -> u32 {
        self.ask(point.n_answers)
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
}
