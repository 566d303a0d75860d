//! Non-termination of asynchronous Boogie: translate, verify within bounds, rebuild the lasso, and repeat it.
//!
//! Nothing is called a divergence before the concurrent interpreter has run stem, loop and loop again. Without given
//! bounds they rise step by step along diagonals, cheap pairs first, until the budget is spent.

use std::time::Duration;

use allways_base::Symbol;
use allways_bmc::{Answer, Quantifiers, Recursion, Stats, Trace};
use allways_boogie::check::Checked;
use allways_boogie::dialect::AsyncOp;
use allways_boogie::interp::{self, Value};
use allways_boogie::tree::{StmtId, StmtKind};
use allways_run::{Counterexample, Lasso, StopReason};
use allways_sequentialize::effects::{EffectTable, Effects};
use allways_sequentialize::nontermination::causes::{Cause, Question, causes, has_cycle, is_finite_data};
use allways_sequentialize::nontermination::lasso::{Certificate, decode, replay};
use allways_sequentialize::nontermination::shift::commutes;
use allways_sequentialize::nontermination::{self, Legend, NonTermination, describe::describe};
use allways_sequentialize::replay::Values;
use allways_sequentialize::{Preemption, Sequentialized};

use super::concrete::Concrete;
use super::pipeline::{Pipeline, checked_again, recheck};
use super::{BoogieError, BoogieOptions, Loaded, Watch, trace, unsupported};
use crate::quiesce::divergence;

/// Bounds that are tried where none are given.
const MAX_ROUNDS: u32 = 3;
const MAX_RECURSION: u32 = 8;

/// Turns of loops that are tried first. The last turn finds out that the loop is over.
const FEW_TURNS: [u32; 2] = [2, 3];

#[derive(Clone, Default, Debug)]
pub struct QuiesceOptions {
    /// Only fair runs count.
    pub fair: bool,
    /// At most so many rounds; otherwise a few, one more after the other.
    pub rounds: Option<u32>,
    /// At most so many nested activations of one procedure; otherwise a few, one more after the other.
    pub recursion: Option<u32>,
    pub entry: Option<String>,
    pub keep_smt: bool,
    /// For everything together, the solver included.
    pub time: Option<Duration>,
}

/// What came out.
#[derive(Debug)]
pub struct QuiesceReport {
    pub verdict: QuiesceVerdict,
    /// The procedure that it starts from.
    pub entry: String,
    pub stats: Stats,
    pub smt: String,
}

#[derive(Debug)]
pub enum QuiesceVerdict {
    Diverges(Box<Divergence>),
    /// No lasso within these bounds, largest last; the reason why the search ended early, if it did.
    NoDivergence {
        covered: Vec<Covered>,
        stopped: Option<StopReason>,
    },
    /// Runs have finitely many tasks, whatever the bounds.
    Quiescent(Proof),
    /// No loop returns to the values that it started with, whatever the bounds. Values without end may still grow.
    NoLasso,
    Unknown(StopReason),
}

/// Why runs have finitely many tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proof {
    /// No task can cause another of its own kind, nor post in a loop.
    Acyclic,
    /// The same of the tasks of a loop that returns to its start, with finite data.
    AcyclicLoops,
}

/// Bounds within which there is no lasso.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Covered {
    pub rounds: u32,
    pub recursion: u32,
    /// Whether longer causal chains were cut off.
    pub is_bounded: bool,
}

#[derive(Debug)]
pub struct Divergence {
    pub rounds: u32,
    pub recursion: u32,
    pub lasso: Lasso,
    /// The statements of the stem and of one turn of the loop.
    pub counterexample: Counterexample,
    /// Assumptions over unbounded data on the way, for which the solver is trusted.
    pub n_trusted: usize,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum QuiesceError {
    Boogie(BoogieError),
    /// The solver has a lasso that the interpreter does not repeat: a fault of Allways.
    NotRepeated(String),
}

impl From<BoogieError> for QuiesceError {
    fn from(error: BoogieError) -> Self {
        QuiesceError::Boogie(error)
    }
}

/// Writes the program whose failing runs are lassos, with the rounds of the options or one.
///
/// # Errors
/// When the program cannot be translated.
pub fn sequentialized(
    loaded: &Loaded,
    checked: &Checked,
    options: &QuiesceOptions,
) -> Result<String, BoogieError> {
    let entry = entry_point(checked, options)?;
    let (done, _) = translate(loaded, checked, entry, options, options.rounds.unwrap_or(1))?;
    Ok(allways_boogie::print(&done.program))
}

fn entry_point(checked: &Checked, options: &QuiesceOptions) -> Result<Symbol, BoogieError> {
    allways_boogie::entry_point(&checked.program, options.entry.as_deref()).map_err(BoogieError::Input)
}

fn translate(
    loaded: &Loaded,
    checked: &Checked,
    entry: Symbol,
    options: &QuiesceOptions,
    rounds: u32,
) -> Result<(Sequentialized, Legend), BoogieError> {
    let options = NonTermination { rounds, fair: options.fair, sources: Some(&loaded.sources) };
    nontermination::sequentialize(checked, entry, &options).map_err(unsupported)
}

/// Looks for an infinite run.
///
/// # Errors
/// When nothing could be asked, or when a lasso does not repeat.
pub fn quiesce(
    loaded: &Loaded,
    checked: &Checked,
    options: &QuiesceOptions,
    watch: &dyn Watch,
) -> Result<QuiesceReport, QuiesceError> {
    let entry = entry_point(checked, options)?;
    // Also where nothing can repeat, unsupported input is reported.
    translate(loaded, checked, entry, options, 1)?;
    let name = checked.program.text(entry).to_owned();
    let effects = EffectTable::new(checked);
    let posts_in_loop = may_post_endlessly(checked, &effects, entry);
    let causes = causes(checked, entry, options.fair);
    let all: Vec<(Symbol, Symbol)> = causes.iter().map(|cause| (cause.from, cause.to)).collect();
    if !has_cycle(checked, &all) && !posts_in_loop {
        let (verdict, stats, smt) =
            (QuiesceVerdict::Quiescent(Proof::Acyclic), Stats::default(), String::new());
        return Ok(QuiesceReport { verdict, entry: name, stats, smt });
    }
    let boogie = BoogieOptions {
        preemption: Some(Preemption::Serial),
        entry: options.entry.clone(),
        keep_smt: options.keep_smt,
        time: options.time,
        ..BoogieOptions::default()
    };
    let pipeline = Pipeline::new(loaded, checked, entry, &boogie, watch)?;
    let mut search = Search { pipeline, options };
    let verdict = if !search.has_possible_cycle(&causes)? {
        match !posts_in_loop && is_finite_data(checked, entry) {
            true => QuiesceVerdict::Quiescent(Proof::AcyclicLoops),
            false => QuiesceVerdict::NoLasso,
        }
    } else {
        search.run()?
    };
    Ok(QuiesceReport { verdict, entry: name, stats: search.pipeline.stats, smt: search.pipeline.smt })
}

/// Whether some task may post without end by itself: in a loop, or through calls of itself.
fn may_post_endlessly(checked: &Checked, effects: &EffectTable, entry: Symbol) -> bool {
    let program = &checked.program;
    let posts = |name: Symbol| effects.called_from(name).any(|(_, effects)| !effects.posts.is_empty());
    let is_post = |stmt: StmtId| match &program.stmts[stmt].kind {
        StmtKind::Call(call) => {
            matches!(checked.async_op(stmt), Some(AsyncOp::Post(_))) || posts(call.callee.symbol)
        }
        _ => false,
    };
    let loops = |name: Symbol| {
        let below = program.bodies_of(name).flat_map(|found| program.stmts_below(&found.body.block));
        below.into_iter().any(|stmt| match &program.stmts[stmt].kind {
            StmtKind::While { body, .. } => program.stmts_below(body).into_iter().any(is_post),
            // Any jump may be one back.
            StmtKind::Goto(_) => posts(name),
            _ => false,
        })
    };
    let calls_itself = |name: Symbol, own: &Effects| {
        own.calls.iter().any(|&callee| effects.called_from(callee).any(|(other, _)| other == name))
    };
    effects.below(entry).any(|(name, own)| posts(name) && (calls_itself(name, own) || loops(name)))
}

struct Search<'a> {
    pipeline: Pipeline<'a>,
    options: &'a QuiesceOptions,
}

/// One question.
#[derive(Clone, Copy)]
struct Bounds {
    rounds: u32,
    recursion: u32,
    /// Fewer turns of loops than the recursion bound allows.
    turns: Option<u32>,
}

/// The answer to one question.
enum Outcome {
    Diverges(Box<Divergence>),
    Nothing { is_bounded: bool },
    Unknown(StopReason),
}

impl Search<'_> {
    /// Whether tasks of a loop may cause each other in a circle. What is not decided is possible.
    fn has_possible_cycle(&mut self, causes: &[Cause]) -> Result<bool, QuiesceError> {
        let mut possible: Vec<(Symbol, Symbol)> = Vec::new();
        for Cause { from, to, question } in causes {
            let is_possible = match question {
                Some(question) => self.is_possible(question)?,
                None => true,
            };
            if is_possible {
                possible.push((*from, *to));
            }
        }
        Ok(has_cycle(self.pipeline.checked, &possible) || self.pipeline.contradiction().is_some())
    }

    fn is_possible(&mut self, question: &Question) -> Result<bool, QuiesceError> {
        let program = checked_again(question.program.clone())?;
        let bound = Recursion::Exactly(1);
        let answer = self.pipeline.ask(&program, question.entry, 0, bound, Quantifiers::Quick)?;
        if !matches!(answer, Answer::Holds { .. }) {
            return Ok(true);
        }
        self.pipeline.look_at_axioms(&program, question.entry)?;
        Ok(false)
    }

    fn run(&mut self) -> Result<QuiesceVerdict, QuiesceError> {
        let mut covered: Vec<Covered> = Vec::new();
        let mut stopped = None;
        for Bounds { rounds, recursion, turns } in self.bounds() {
            // Deeper chains than there are need not be looked for.
            if covered.iter().any(|done| done.rounds == rounds && !done.is_bounded) {
                continue;
            }
            match self.within(rounds, recursion, turns)? {
                Outcome::Diverges(found) => return Ok(QuiesceVerdict::Diverges(found)),
                Outcome::Nothing { is_bounded: true } if turns.is_some() => {}
                Outcome::Nothing { is_bounded } => covered.push(Covered { rounds, recursion, is_bounded }),
                Outcome::Unknown(reason) => {
                    stopped = Some(reason);
                    break;
                }
            }
        }
        if let Some(why) = self.pipeline.contradiction() {
            return Ok(QuiesceVerdict::Unknown(StopReason::Undecided { why }));
        }
        // Bounds that were asked for and not covered leave no verdict.
        let is_asked = self.options.rounds.is_some() || self.options.recursion.is_some();
        match stopped {
            Some(reason) if is_asked || covered.is_empty() => Ok(QuiesceVerdict::Unknown(reason)),
            stopped => Ok(QuiesceVerdict::NoDivergence { covered: largest(&covered), stopped }),
        }
    }

    /// The bounds to try, cheap ones first. A lasso within smaller bounds is one within larger ones, and is much easier to
    /// find; one with few turns of loops is easier still.
    fn bounds(&self) -> Vec<Bounds> {
        let max_rounds = self.options.rounds.unwrap_or(MAX_ROUNDS);
        let has_loops = has_loops(self.pipeline.checked);
        let mut all = Vec::new();
        for rounds in 1..=max_rounds {
            for recursion in 1..=self.options.recursion.unwrap_or(MAX_RECURSION) {
                // All turns of loops are the expensive question, so given bounds are asked that once per number of rounds.
                if !has_loops || self.options.recursion.is_none_or(|given| given == recursion) {
                    all.push(Bounds { rounds, recursion, turns: None });
                }
                let few = FEW_TURNS.into_iter().filter(|&turns| has_loops && turns < recursion);
                all.extend(few.map(|turns| Bounds { rounds, recursion, turns: Some(turns) }));
            }
        }
        let cost = |bounds: &Bounds| 2 * bounds.rounds + bounds.recursion + bounds.turns.unwrap_or(5);
        all.sort_by_key(|bounds| (cost(bounds), bounds.rounds));
        all
    }

    fn within(&mut self, rounds: u32, recursion: u32, turns: Option<u32>) -> Result<Outcome, QuiesceError> {
        let Pipeline { loaded, checked, entry, .. } = self.pipeline;
        let (done, legend) = translate(loaded, checked, entry, self.options, rounds)?;
        let translated = recheck(&done)?;
        self.pipeline.turns = turns;
        self.ask(&done, &legend, &translated, rounds, recursion)
    }

    fn ask(
        &mut self,
        done: &Sequentialized,
        legend: &Legend,
        translated: &Checked,
        rounds: u32,
        recursion: u32,
    ) -> Result<Outcome, QuiesceError> {
        let bound = Recursion::Exactly(recursion);
        let mut answer = self.pipeline.ask(translated, done.entry, rounds - 1, bound, Quantifiers::Quick)?;
        if let Answer::Candidate { trace, .. } = &answer {
            if let Ok((found, true)) = self.repeat(done, legend, translated, trace, rounds, recursion) {
                return Ok(found);
            }
            answer = self.pipeline.ask(translated, done.entry, rounds - 1, bound, Quantifiers::Thorough)?;
        }
        let undecided = |search: &Self, why: String| {
            let why = format!("{why} in {rounds} rounds with recursion bound {recursion}");
            Outcome::Unknown(search.pipeline.clock.stopped().unwrap_or(StopReason::Undecided { why }))
        };
        Ok(match answer {
            Answer::Holds { bound_reached, .. } => {
                self.pipeline.look_at_axioms(translated, done.entry)?;
                Outcome::Nothing { is_bounded: bound_reached }
            }
            Answer::Fails { trace, .. } => {
                match self.repeat(done, legend, translated, &trace, rounds, recursion) {
                    Ok((found, _)) => found,
                    // Something that the interpreter cannot compute is a limit; anything else is a fault.
                    Err(Some(reason)) => undecided(
                        self,
                        format!(
                            "the solver found a lasso that the concurrent interpreter could not replay ({reason})"
                        ),
                    ),
                    Err(None) if self.pipeline.clock.stopped().is_some() => {
                        undecided(self, "the lasso was not replayed".to_owned())
                    }
                    Err(None) => {
                        return Err(QuiesceError::NotRepeated(format!(
                            "the lasso found in {rounds} rounds with recursion bound {recursion} does not replay"
                        )));
                    }
                }
            }
            Answer::Unknown { reason, .. } => {
                undecided(self, format!("the solver did not decide ({reason})"))
            }
            Answer::Candidate { .. } => undecided(self, "the solver did not decide (incomplete)".to_owned()),
            Answer::Stopped { .. } => undecided(self, "stopped".to_owned()),
        })
    }

    /// Rebuilds the lasso, and whether it stands without the solver's word for anything.
    fn repeat(
        &self,
        done: &Sequentialized,
        legend: &Legend,
        translated: &Checked,
        found: &Trace,
        rounds: u32,
        recursion: u32,
    ) -> Result<(Outcome, bool), Option<String>> {
        let Pipeline { loaded, checked: original, entry, .. } = self.pipeline;
        let checked = allways_boogie::check(original.program.clone()).0;
        let code =
            interp::lower(checked, entry, Preemption::Serial).map_err(|error| Some(error.to_string()))?;
        let concrete = Concrete::new(original, translated, &code.unique, found);
        let plan = decode(done, legend, concrete.steps(found));
        let values = Values {
            initial: concrete.initial(done, found),
            constants: concrete.constants(found),
            apply: &|function, args| concrete.apply(found, function, args),
            pool: concrete.pool(done, found),
            should_stop: &|| self.pipeline.clock.stopped().is_some(),
        };
        let shift = match &legend.shift {
            Some(name) => match concrete.constant(found, name) {
                Some(Value::Int(amount)) => amount,
                _ => return Err(Some("the amount of the shift is unknown".to_owned())),
            },
            None => 0,
        };
        let certificate =
            replay(&code, &plan, &values, shift).map_err(|limit| limit.map(|limit| limit.to_string()))?;
        if shift != 0
            && let Err(obstacle) = commutes(&code, &certificate.executed())
        {
            return Err(Some(format!(
                "one iteration of the loop increases the marked numbers by {shift}, but the next one may differ: {} {}",
                loaded.sources.place(obstacle.span),
                obstacle.what
            )));
        }
        let Certificate { n_trusted, n_axioms, .. } = certificate;
        let lasso = describe(&code, &certificate);
        let violation = match lasso.growing().is_empty() {
            true => divergence("this run goes on for ever: it repeats"),
            false => divergence("this run goes on for ever, and tasks pile up"),
        };
        let counterexample = trace::of_lasso(&code, &certificate, violation);
        let divergence = Divergence { rounds, recursion, lasso, counterexample, n_trusted };
        Ok((Outcome::Diverges(Box::new(divergence)), n_trusted == 0 && n_axioms == 0))
    }
}

/// Whether a program has loops.
fn has_loops(checked: &Checked) -> bool {
    checked.program.stmts.iter().any(|stmt| matches!(stmt.kind, StmtKind::While { .. } | StmtKind::Goto(_)))
}

/// Bounds that no others include.
fn largest(covered: &[Covered]) -> Vec<Covered> {
    let includes = |large: &Covered, small: &Covered| {
        large.rounds >= small.rounds && (!large.is_bounded || large.recursion >= small.recursion)
    };
    let is_largest = |at: usize| {
        !covered.iter().enumerate().any(|(other, large)| {
            other != at && includes(large, &covered[at]) && (!includes(&covered[at], large) || other < at)
        })
    };
    (0..covered.len()).filter(|&at| is_largest(at)).map(|at| covered[at]).collect()
}
