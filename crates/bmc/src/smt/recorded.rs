//! A solver that reads its answers from a list. For tests, and for looking into a conversation that
//! another solver had.

use std::collections::VecDeque;

use super::{Solver, SolverError};

#[derive(Clone, Default, Debug)]
pub struct Recorded {
    answers: VecDeque<String>,
    /// Everything that was said to it.
    pub heard: String,
}

impl Recorded {
    pub fn new<'a>(answers: impl IntoIterator<Item = &'a str>) -> Self {
        Recorded { answers: answers.into_iter().map(str::to_owned).collect(), heard: String::new() }
    }

    pub fn n_left(&self) -> usize {
        self.answers.len()
    }
}

impl Solver for Recorded {
    fn tell(&mut self, commands: &str) -> Result<(), SolverError> {
        self.heard.push_str(commands);
        Ok(())
    }

    fn ask(&mut self, command: &str) -> Result<String, SolverError> {
        self.heard.push_str(command);
        self.heard.push('\n');
        self.answers.pop_front().ok_or_else(|| SolverError::Died {
            program: "recorded answers".to_owned(),
            detail: "there are no more answers".to_owned(),
        })
    }
}
