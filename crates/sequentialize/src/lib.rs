//! Boogie to Boogie: asynchronous programs become sequential ones that simulate them under a
//! delay-bounded scheduler.
//!
//! [`sequentialize`] is the entry point. [`effects`] finds out which procedure touches what, [`translate`] is the
//! translation for all schedulers. Three passes prepare programs for it: [`preemption`] writes down points that are
//! not written, [`numbering`] makes variables of the numbers of tasks, and [`wait_removal`] is for schedulers that do
//! not know waits. [`decode`] reads off a run of the translated program what the tasks of the original did, and
//! [`replay`] makes the concurrent interpreter repeat it.
//!
//! [`nontermination`] reduces the question whether a program runs for ever to a question about the runs of another
//! asynchronous program, and reads lassos off its answers.
//!
//! The result is plain Boogie: scalars `g.0 .. g.K` per shared variable and round, no arrays of
//! rounds. Statements that stand for an asynchronous one are preceded by an assumption with the
//! attribute `{:origin file, line, column}`. The only assertion is the last statement of the new entry
//! point: guesses are validated before it.

pub mod build;
pub mod decode;
pub mod effects;
pub mod nontermination;
pub mod numbering;
pub mod preemption;
pub mod replay;
pub mod translate;
pub mod wait_removal;

use std::fmt;

use allways_base::{Sources, Span, Symbol};
use allways_boogie::check::Checked;
use allways_boogie::tree::{Program, StmtId};
use allways_boogie::{check, interp};
use rustc_hash::FxHashMap;

pub use interp::{Assertions, Preemption};

/// Whose interleavings the translated program simulates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheduler {
    /// Depth first with waiting, with at most so many delays in the whole run.
    Dfw { delays: u32 },
    /// Depth first, with at most so many delays in the whole run.
    Df { delays: u32 },
    /// Tasks are not preempted and may be put off to any of so many rounds, each on its own.
    Rounds { rounds: u32 },
    /// Corral's: in each of so many rounds a child runs before the rest of its parent.
    ChildFirst { rounds: u32 },
}

/// What the user set.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    pub scheduler: Scheduler,
    pub assertions: Assertions,
    /// Serial ignores the written points, automatic adds to them.
    pub preemption: Preemption,
    /// For the places in `{:origin}` attributes; without, there are none.
    pub sources: Option<&'a Sources>,
}

/// A sequential program, and how to read its runs.
pub struct Sequentialized {
    pub program: Program,
    pub entry: Symbol,
    /// What statements of `program` stand for.
    pub origins: FxHashMap<StmtId, Origin>,
    /// The variables of the original, each with the variable that holds its value at the end of
    /// the simulated run when the new entry point returns.
    pub finals: Vec<(Symbol, Symbol)>,
    /// The same at the start.
    pub initials: Vec<(Symbol, Symbol)>,
}

/// What a statement of a translated program stands for in the original.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin {
    pub stmt: StmtId,
    pub role: Role,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The statement itself.
    Plain,
    /// Chooses the values that the statement takes from nowhere.
    Choice,
    /// A call that runs a posted task.
    Post,
    /// Chooses the round of a task that is posted and not preempted.
    Round,
    /// A preemption point; chooses by how many rounds the task moves on, if there is more than one.
    Yield,
    /// The task stops for good at a preemption point.
    Stop,
    /// The end of a wait; assigns the round in which the task goes on.
    Wait,
}

/// A program that cannot be translated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    pub what: String,
    pub span: Option<Span>,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sequentialization does not support {}", self.what)
    }
}

impl std::error::Error for Unsupported {}

/// Translates a program without errors and type parameters, started from `entry`.
pub fn sequentialize(
    checked: &Checked,
    entry: Symbol,
    options: &Options<'_>,
) -> Result<Sequentialized, Unsupported> {
    let mut prepared: Option<Checked> = None;
    let mut stands_for: Vec<FxHashMap<StmtId, StmtId>> = Vec::new();
    let mut prepare = |rewritten: Option<build::Rewritten>, what: &str, prepared: &mut Option<Checked>| {
        if let Some((program, names)) = rewritten {
            *prepared = Some(rechecked(program, what)?);
            stands_for.push(names);
        }
        Ok(())
    };
    let pointed = match options.preemption {
        Preemption::Explicit => None,
        Preemption::Automatic => Some(preemption::insert_points(checked)),
        Preemption::Serial => Some(preemption::remove_points(checked)?),
    };
    prepare(pointed, "these preemption points", &mut prepared)?;
    let numbered = numbering::number_tasks(prepared.as_ref().unwrap_or(checked), entry)?;
    prepare(numbered, "this use of task numbers", &mut prepared)?;
    let knows_waits = match options.scheduler {
        Scheduler::Dfw { .. } | Scheduler::Rounds { .. } => true,
        Scheduler::Df { .. } => {
            !wait_removal::tasks_return_handles(prepared.as_ref().unwrap_or(checked), entry)
        }
        Scheduler::ChildFirst { .. } => false,
    };
    if !knows_waits {
        let without = wait_removal::remove_waits(prepared.as_ref().unwrap_or(checked), entry)?;
        prepare(without, "this use of waits", &mut prepared)?;
    }
    let mut done = translate::translate(prepared.as_ref().unwrap_or(checked), entry, options)?;
    for names in stands_for.iter().rev() {
        rename_origins(&mut done, names);
    }
    // Only the variables of the original are of interest.
    let is_original = |name: &Symbol| checked.globals.iter().any(|&v| checked.vars[v].name.symbol == *name);
    done.finals.retain(|(name, _)| is_original(name));
    done.initials.retain(|(name, _)| is_original(name));
    Ok(done)
}

/// A program made from a checked one; mistakes in it are limits of the translation.
fn rechecked(program: Program, what: &str) -> Result<Checked, Unsupported> {
    let (checked, diagnostics) = check(program);
    match diagnostics.iter().find(|d| d.is_error()) {
        Some(first) => Err(Unsupported {
            what: format!("{what} ({})", first.message),
            span: first.primary.as_ref().map(|label| label.span),
        }),
        None => Ok(checked),
    }
}

fn rename_origins(done: &mut Sequentialized, names: &FxHashMap<StmtId, StmtId>) {
    for origin in done.origins.values_mut() {
        origin.stmt = names.get(&origin.stmt).copied().unwrap_or(origin.stmt);
    }
}
