//! Bounded verification of sequential Boogie programs with an SMT solver.
//!
//! Reading order: [`lower`] (a checked program to flow graphs, [`flow`]), [`relevant`] (what the solver need not hear of), [`loops`] (loops become
//! recursive procedures), [`passive`] (graphs to constraints), [`inline`] (which calls to look into),
//! [`trace`] (what a model means), [`consistency`] (axioms that contradict each other), and [`smt`], which knows solvers and nothing else.
//!
//! ```text
//! Checked ─ lower ─► Flow ─ extract_loops ─► acyclic Flow ─ passive_form ─► Templates ─ Inliner ─► Answer
//! ```
//!
//! An answer that nothing fails is about the recursion bound it names. A solver that does not decide
//! gives [`Answer::Unknown`]; one that is missing, dies or talks nonsense gives a [`SolverError`].

pub mod consistency;
pub mod flow;
pub mod inline;
pub mod loops;
pub mod lower;
pub mod model;
pub mod passive;
pub mod relevant;
pub mod smt;
pub mod term;
pub mod theory;
pub mod trace;
pub mod value;

use std::fmt;

use allways_base::Symbol;
use allways_boogie::check::Checked;
use allways_run::Observer;

pub use consistency::{Consistency, check_axioms};
pub use flow::{Failure, FailureKind};
pub use inline::{Answer, Nesting, Recursion, Stats};
pub use lower::EncodeError;
use lower::{Assumptions, Lowered};
pub use model::Model;
pub use smt::{Solver, SolverError};
pub use trace::{Assigned, Trace, TraceStep};
pub use value::Value;

/// What the user set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VerifyOptions {
    pub recursion: Recursion,
    /// A smaller bound on turns of loops in recursion groups: a failing run within it is one within the recursion bound.
    pub turns: Option<u32>,
    pub quantifiers: Quantifiers,
    /// Keep everything that is said to the solver.
    pub keep_smt: bool,
}

/// How much the solver does about quantifiers, where there are any.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Quantifiers {
    /// All it can: a failing run is one.
    #[default]
    Thorough,
    /// Instances by triggers only. That nothing fails is certain; a failing run is an [`Answer::Candidate`], which the caller has to
    /// confirm.
    Quick,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        VerifyOptions {
            recursion: Recursion::UpTo(8),
            turns: None,
            quantifiers: Quantifiers::Thorough,
            keep_smt: false,
        }
    }
}

/// The answer about a program, with figures.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    pub answer: Answer,
    pub stats: Stats,
    /// What the recursion bound is about.
    pub nesting: Nesting,
    /// Whether more could be had with [`Quantifiers::Thorough`].
    pub is_quick: bool,
    /// The conversation in SMT-LIB, if it was kept.
    pub smt: Option<String>,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VerifyError {
    Encode(EncodeError),
    Solver(SolverError),
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VerifyError::Encode(error) => error.fmt(f),
            VerifyError::Solver(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for VerifyError {}

impl From<EncodeError> for VerifyError {
    fn from(error: EncodeError) -> Self {
        VerifyError::Encode(error)
    }
}

impl From<SolverError> for VerifyError {
    fn from(error: SolverError) -> Self {
        VerifyError::Solver(error)
    }
}

/// Looks for a failing assertion from the procedure `entry` on. The program has no errors and no type
/// parameters; its `requires` at the entry are assumed.
pub fn verify(
    checked: &Checked,
    entry: Symbol,
    options: &VerifyOptions,
    solver: &mut dyn Solver,
    observer: &dyn Observer,
) -> Result<Report, VerifyError> {
    let lowered = prepared(checked, entry, solver.has_lambda(), Assumptions::Kept)?;
    let has_quantifiers = lowered.flow.terms.any(|kind| matches!(kind, term::TermKind::Quantified { .. }));
    let quick = has_quantifiers && options.quantifiers == Quantifiers::Quick;
    let mut session = smt::Session::start(solver, options.keep_smt, quick)?;
    let is_quick = session.gives_candidates;
    session.tell(&theory::prelude(checked, &lowered))?;
    session.tell(&theory::axioms(checked, &lowered))?;
    let mut inliner = inline::Inliner::new(checked, &lowered.flow, session, observer);
    inliner.limit_turns(options.turns);
    let answer = inliner.run(options.recursion)?;
    let (stats, nesting) = (inliner.stats(), inliner.nesting());
    Ok(Report { answer, stats, nesting, is_quick, smt: inliner.into_log() })
}

/// The program as acyclic flow graphs, with the axioms that matter for it.
fn prepared(
    checked: &Checked,
    entry: Symbol,
    native_lambda: bool,
    assumptions: Assumptions,
) -> Result<Lowered, EncodeError> {
    let mut lowered = lower::lower(checked, entry, native_lambda, assumptions)?;
    relevant::keep_relevant(checked, &mut lowered);
    loops::extract_loops(&mut lowered.flow);
    lowered.flow.link();
    Ok(lowered)
}
