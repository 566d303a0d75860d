//! The solver, seen from outside: text goes in, one answer comes out.
//!
//! Nothing here knows Boogie. [`Solver`] is the trait the verifier talks to; [`process`] runs a real
//! solver behind a pipe, [`recorded`] answers from a list. [`find`] looks for an executable, [`sexpr`]
//! reads answers, and [`session`] is the conversation: declarations, checks, cores, values.

pub mod find;
pub mod process;
pub mod recorded;
pub mod session;
pub mod sexpr;

use std::fmt;
use std::time::Duration;

pub use find::{Found, find_solver};
pub use process::{ProcessOptions, ProcessSolver};
pub use recorded::Recorded;
pub use session::{CheckResult, Session};
pub use sexpr::SExpr;

/// Something that understands SMT-LIB 2.
pub trait Solver {
    /// Passes on commands that have no answer. May be delayed until the next [`ask`](Self::ask).
    fn tell(&mut self, commands: &str) -> Result<(), SolverError>;

    /// Passes on one command and returns its answer, one balanced expression.
    fn ask(&mut self, command: &str) -> Result<String, SolverError>;

    /// Whether `(lambda ..)` is a term of array sort, as in Z3.
    fn has_lambda(&self) -> bool {
        false
    }

    /// What makes it instantiate quantifiers by triggers only, and give up soon where that decides nothing.
    fn triggers_only(&self) -> Option<&'static str> {
        None
    }

    /// The time spent waiting for answers.
    fn time(&self) -> Duration {
        Duration::ZERO
    }
}

/// What went wrong with a solver. None of these says anything about the program under test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SolverError {
    /// No solver was found in any of the places searched.
    Missing,
    /// The executable could not be started.
    Start { program: String, reason: String },
    /// The process ended, or closed its output, before it answered.
    Died { program: String, detail: String },
    /// It printed an error message.
    Complaint(String),
    /// It printed something that is no answer to what was asked.
    Nonsense { asked: String, answer: String },
    /// No answer within the time that was given, and none when asked to stop.
    Silent { after: Duration },
    /// It was ended on request.
    Stopped,
}

impl fmt::Display for SolverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SolverError::Missing => f.write_str(
                "no SMT solver was found: install z3, run `scripts/get-solver --user` in a checkout of Allways, or set ALLWAYS_SOLVER to the path of a solver",
            ),
            SolverError::Start { program, reason } => {
                write!(f, "the solver `{program}` could not be started: {reason}")
            }
            SolverError::Died { program, detail } if detail.is_empty() => {
                write!(f, "the solver `{program}` ended before it answered")
            }
            SolverError::Died { program, detail } => {
                write!(f, "the solver `{program}` ended before it answered: {detail}")
            }
            SolverError::Complaint(message) => write!(f, "the solver rejected a command: {message}"),
            SolverError::Nonsense { asked, answer } => {
                write!(f, "the solver answered `{answer}` to `{asked}`, which is not an SMT-LIB answer")
            }
            SolverError::Silent { after } => {
                write!(f, "the solver gave no answer within {} s and was stopped", after.as_secs())
            }
            SolverError::Stopped => f.write_str("the solver was stopped"),
        }
    }
}

impl std::error::Error for SolverError {}
