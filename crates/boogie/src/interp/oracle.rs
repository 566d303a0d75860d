//! Who answers when a run has a choice: every freedom passes through [`Oracle`], and a run is the
//! list of its answers.

use allways_base::Symbol;

use super::schedule::Move;
use super::value::{Limit, Value};
use crate::tree::StmtId;

/// The candidates of a type, and whether they are all its values.
pub type Candidates<'a> = &'a dyn Fn() -> Result<(Vec<Value>, bool), Limit>;

/// What a value is asked for. Most oracles do not care; one that has a run in mind does.
#[derive(Clone, Copy, Debug)]
pub enum Asked<'a> {
    /// A global variable at the start, by slot.
    Global(usize),
    /// A global variable that the statement at hand gives any value, or a task's own copy of one.
    Chosen { task: usize, name: Symbol },
    /// A variable of the frame of a task at this depth, which is read before it was assigned.
    Local { task: usize, depth: usize, name: Symbol },
    /// A constant, by slot.
    Const(usize),
    /// A function without a definition, by its place in [`Code::functions`](super::Code::functions), or a division by
    /// zero behind them.
    Function { function: usize, args: &'a [Value] },
}

/// What happens on the way, for oracles that have a run in mind.
#[derive(Clone, Copy, Debug)]
pub enum At {
    /// A task comes to a statement that may choose values.
    Stmt { task: usize, stmt: StmtId },
    /// A procedure begins, in the frame of this depth.
    Enter { task: usize, depth: usize, procedure: usize },
    /// A local variable gets any value.
    Forget { task: usize, depth: usize, name: Symbol },
    /// A result that was never assigned is passed from the frame of this depth to the one below.
    Passed { task: usize, depth: usize, from: Symbol, to: Symbol },
}

pub trait Oracle {
    /// Is notified of what happens.
    fn at(&mut self, _event: At) {}

    /// One of `n` ways for control to go.
    fn branch(&mut self, n: usize) -> Result<usize, Limit>;

    /// A value where any would do, and whether the choice was among all values of the type.
    fn value(&mut self, asked: Asked<'_>, candidates: Candidates<'_>) -> Result<(Value, bool), Limit>;

    /// One of the moves of the scheduler.
    fn next_move(&mut self, moves: &[Move]) -> Result<usize, Limit>;

    /// Is notified of an axiom that cannot be evaluated here. It is taken to hold.
    fn axiom(&mut self) {}

    /// Whether an assumption holds that cannot be evaluated here.
    fn assumption(&mut self, limit: Limit) -> Result<bool, Limit> {
        Err(limit)
    }
}

/// One answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Choice {
    Branch(usize),
    Value(Value),
    Move(Move),
}

/// Answers in the order of the questions: enough to repeat a run. Every move is in it, also where
/// there was only one.
pub type Schedule = Vec<Choice>;

/// The schedule with which the concurrent interpreter repeats a run of a delay-bounded scheduler:
/// the same tasks run in the same order, and delays disappear.
pub fn concurrent_schedule(schedule: &[Choice]) -> Schedule {
    let counts = |choice: &&Choice| match choice {
        Choice::Move(Move::Delay(..) | Move::Abandon(_)) => false,
        Choice::Move(Move::Run(_)) | Choice::Branch(_) | Choice::Value(_) => true,
    };
    schedule.iter().filter(counts).cloned().collect()
}

/// Always the first alternative.
#[derive(Default)]
pub struct First;

impl Oracle for First {
    fn branch(&mut self, _n: usize) -> Result<usize, Limit> {
        Ok(0)
    }

    fn value(&mut self, _asked: Asked<'_>, candidates: Candidates<'_>) -> Result<(Value, bool), Limit> {
        let (values, complete) = candidates()?;
        let n_values = values.len();
        let first = values.into_iter().next().ok_or(Limit::Candidates)?;
        Ok((first, complete && n_values == 1))
    }

    fn next_move(&mut self, _moves: &[Move]) -> Result<usize, Limit> {
        Ok(0)
    }
}

/// Pseudo-random answers, the same for the same seed.
pub struct Random {
    state: u64,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Random { state: seed }
    }

    /// A number below `n`, by the generator SplitMix64.
    pub fn below(&mut self, n: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % (n.max(1) as u64)) as usize
    }
}

impl Oracle for Random {
    fn branch(&mut self, n: usize) -> Result<usize, Limit> {
        Ok(self.below(n))
    }

    fn value(&mut self, _asked: Asked<'_>, candidates: Candidates<'_>) -> Result<(Value, bool), Limit> {
        let (values, _) = candidates()?;
        let idx = self.below(values.len());
        values.into_iter().nth(idx).map(|value| (value, false)).ok_or(Limit::Candidates)
    }

    fn next_move(&mut self, moves: &[Move]) -> Result<usize, Limit> {
        Ok(self.below(moves.len()))
    }
}

/// Repeats the answers of a schedule. An answer that does not fit its question is
/// [`Limit::Schedule`].
pub struct Replay<'a> {
    schedule: std::slice::Iter<'a, Choice>,
    trusts: bool,
    /// How many assumptions on the way, and how many axioms, were taken on trust.
    pub n_trusted: usize,
    pub n_axioms: usize,
}

impl<'a> Replay<'a> {
    pub fn new(schedule: &'a [Choice]) -> Self {
        Replay { schedule: schedule.iter(), trusts: false, n_trusted: 0, n_axioms: 0 }
    }

    /// Where the run comes from a solver, assumptions that only the solver can judge are taken on trust, and counted.
    pub fn trusting(schedule: &'a [Choice]) -> Self {
        Replay { trusts: true, ..Replay::new(schedule) }
    }

    /// Whether all answers have been used.
    pub fn is_done(&self) -> bool {
        self.schedule.len() == 0
    }
}

impl Oracle for Replay<'_> {
    fn branch(&mut self, n: usize) -> Result<usize, Limit> {
        match self.schedule.next() {
            Some(Choice::Branch(idx)) if *idx < n => Ok(*idx),
            _ => Err(Limit::Schedule),
        }
    }

    fn value(&mut self, _asked: Asked<'_>, _candidates: Candidates<'_>) -> Result<(Value, bool), Limit> {
        match self.schedule.next() {
            Some(Choice::Value(value)) => Ok((value.clone(), false)),
            _ => Err(Limit::Schedule),
        }
    }

    fn next_move(&mut self, moves: &[Move]) -> Result<usize, Limit> {
        match self.schedule.next() {
            Some(Choice::Move(wanted)) => {
                moves.iter().position(|offered| offered == wanted).ok_or(Limit::Schedule)
            }
            _ => Err(Limit::Schedule),
        }
    }

    fn axiom(&mut self) {
        self.n_axioms += 1;
    }

    fn assumption(&mut self, limit: Limit) -> Result<bool, Limit> {
        if !self.trusts {
            return Err(limit);
        }
        self.n_trusted += 1;
        Ok(true)
    }
}

/// Writes down what another oracle answers.
pub struct Recorder<'a> {
    pub inner: &'a mut dyn Oracle,
    pub schedule: Schedule,
}

impl Oracle for Recorder<'_> {
    fn at(&mut self, event: At) {
        self.inner.at(event);
    }

    fn branch(&mut self, n: usize) -> Result<usize, Limit> {
        let idx = self.inner.branch(n)?;
        self.schedule.push(Choice::Branch(idx));
        Ok(idx)
    }

    fn value(&mut self, asked: Asked<'_>, candidates: Candidates<'_>) -> Result<(Value, bool), Limit> {
        let (value, complete) = self.inner.value(asked, candidates)?;
        self.schedule.push(Choice::Value(value.clone()));
        Ok((value, complete))
    }

    fn next_move(&mut self, moves: &[Move]) -> Result<usize, Limit> {
        let idx = self.inner.next_move(moves)?;
        self.schedule.push(Choice::Move(moves[idx]));
        Ok(idx)
    }

    fn axiom(&mut self) {
        self.inner.axiom();
    }

    fn assumption(&mut self, limit: Limit) -> Result<bool, Limit> {
        self.inner.assumption(limit)
    }
}

/// Goes through all answers, one combination per round, like the digits of a counter.
#[derive(Default)]
pub(super) struct Odometer {
    /// The answer and the number of alternatives of each question so far.
    digits: Vec<(usize, usize)>,
    at: usize,
}

impl Odometer {
    fn answer(&mut self, n: usize) -> usize {
        if self.at == self.digits.len() {
            self.digits.push((0, n));
        }
        self.at += 1;
        self.digits[self.at - 1].0
    }

    /// Moves to the next combination; false when all have been seen.
    pub fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((digit, n)) = self.digits.pop() {
            if digit + 1 < n {
                self.digits.push((digit + 1, n));
                return true;
            }
        }
        false
    }
}

impl Oracle for Odometer {
    fn branch(&mut self, n: usize) -> Result<usize, Limit> {
        Ok(self.answer(n))
    }

    fn value(&mut self, _asked: Asked<'_>, candidates: Candidates<'_>) -> Result<(Value, bool), Limit> {
        let (values, complete) = candidates()?;
        if values.is_empty() {
            return Err(Limit::Candidates);
        }
        let idx = self.answer(values.len());
        values.into_iter().nth(idx).map(|value| (value, complete)).ok_or(Limit::Candidates)
    }

    fn next_move(&mut self, moves: &[Move]) -> Result<usize, Limit> {
        Ok(self.answer(moves.len()))
    }
}
