//! Bounded verification of sequential Boogie programs with an SMT solver.
//!
//! Reading order: [`lower`] (a checked program to flow graphs, [`flow`]), [`relevant`] (what the solver need not hear of), [`loops`] (loops become
//! recursive procedures), [`passive`] (graphs to constraints), [`inline`] (which calls to look into),
//! [`trace`] (what a model means), and [`smt`], which knows solvers and nothing else.
//!
//! ```text
//! Checked ─ lower ─► Flow ─ extract_loops ─► acyclic Flow ─ passive_form ─► Templates ─ Inliner ─► Answer
//! ```
//!
//! An answer that nothing fails is about the recursion bound it names. A solver that does not decide
//! gives [`Answer::Unknown`]; one that is missing, dies or talks nonsense gives a [`SolverError`].

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

pub use flow::{Failure, FailureKind};
pub use inline::{Answer, Recursion, Stats};
pub use lower::EncodeError;
pub use model::Model;
pub use smt::{Solver, SolverError};
pub use trace::{Assigned, Trace, TraceStep};
pub use value::Value;

/// What the user set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VerifyOptions {
    pub recursion: Recursion,
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
    /// Instances by triggers only. That nothing fails is certain; a failing run is an [`Answer::Candidate`], which somebody else has to
    /// confirm.
    Quick,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        VerifyOptions { recursion: Recursion::UpTo(8), quantifiers: Quantifiers::Thorough, keep_smt: false }
    }
}

/// The answer about a program, with figures.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    pub answer: Answer,
    pub stats: Stats,
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
    let mut lowered = lower::lower(checked, entry, solver.has_lambda())?;
    relevant::keep_relevant(checked, &mut lowered);
    loops::extract_loops(&mut lowered.flow);
    lowered.flow.link();
    let has_quantifiers = lowered.flow.terms.any(|kind| matches!(kind, term::TermKind::Quantified { .. }));
    let quick = has_quantifiers && options.quantifiers == Quantifiers::Quick;
    let mut session = smt::Session::start(solver, options.keep_smt, quick)?;
    let is_quick = session.gives_candidates;
    session.tell(&theory::prelude(checked, &lowered))?;
    let mut inliner = inline::Inliner::new(checked, &lowered.flow, session, observer);
    let answer = inliner.run(options.recursion)?;
    let stats = inliner.stats();
    Ok(Report { answer, stats, is_quick, smt: inliner.into_log() })
}
