//! What local steps give: outcomes of steps and deliveries, answers to choices.

use std::sync::Arc;

use allways_base::Span;
use allways_machine::{DataPoint, Oracle, Touched};
use allways_run::{StopReason, ViolationKind};

use crate::search::local::entries::{Arrival, Cut, InputId, LocalStateId, Slot};

/// What a machine can do by itself.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// It waits, or has halted.
    Rest {
        blocked: bool,
    },
    /// A step, with its outcomes in lexicographic order of data choices.
    Step {
        /// The delivery that comes first: to the slot, of the message; or to a network, by the operation.
        deliver: Option<(Slot, InputId)>,
        creates: bool,
        outcomes: Vec<LocalOutcome>,
    },
    /// A network brings something.
    Network(Vec<Arrival>),
    Fault,
    Unknown(StopReason),
}

/// One outcome of a machine's own part of a step.
///
/// A step that makes a machine has the outcomes of both, each with each: there may be millions, so they share what they have.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LocalOutcome {
    pub end: Ending,
    pub(super) answers: Arc<[Answer]>,
    /// Of the machine that was made.
    pub(super) birth_answers: Option<Arc<[Answer]>>,
    /// What monitors hear: slot and message, in order.
    pub observed: Arc<[(Slot, InputId)]>,
    /// The machine that was made: slot and local state.
    pub created: Option<(Slot, LocalStateId)>,
    /// What the creation means to the network: slot and operation.
    pub birth: Option<(Slot, InputId)>,
    /// By the machine itself; nothing unless it is recorded.
    pub touched: Touched,
}

impl LocalOutcome {
    /// Its data choices, in order.
    pub fn answers(&self) -> impl Iterator<Item = Answer> + '_ {
        self.answers.iter().chain(self.birth_answers.iter().flat_map(|answers| answers.iter())).copied()
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Ending {
    Stands(LocalStateId),
    Cut(Cut),
    /// By kind and place: a step that can fail in two places has two outcomes.
    Fault(ViolationKind, Option<Span>),
    Unknown(StopReason),
}

/// One outcome of a delivery.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Delivered {
    pub end: Ending,
    pub answers: Vec<Answer>,
    pub touched: Touched,
}

impl Delivered {
    pub fn unknown(reason: StopReason) -> Self {
        Delivered { end: Ending::Unknown(reason), answers: Vec::new(), touched: Touched::default() }
    }
}

/// What a monitor does with an observation.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Heard {
    pub end: Ending,
    /// The monitor was hot, was cold, if only in passing.
    pub hot: bool,
    pub cold: bool,
    pub touched: Touched,
}

/// A data choice and its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    pub point: DataPoint,
    pub answer: u32,
}

/// The configurations after the first step, and what went wrong in it.
pub(crate) struct Beginning {
    /// Each with the answers that lead there.
    pub vectors: Vec<(Vec<u32>, Vec<LocalStateId>)>,
    pub n_transitions: u64,
    /// By the answers: they lead to a violation.
    pub violations: Vec<Vec<u32>>,
    pub unknown: Option<StopReason>,
}

/// Answers that are given.
pub(crate) struct Given<'a> {
    pub answers: &'a [u32],
    pub at: usize,
}

impl Oracle for Given<'_> {
    fn answer(&mut self, _: DataPoint) -> u32 {
        let answer = self.answers.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        answer
    }
}
