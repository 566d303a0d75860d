//! The Boogie pipeline: read, check, sequentialize, verify, and repeat what was found.
//!
//! Nothing is called a violation of an asynchronous program before the concurrent interpreter has repeated it.

mod concrete;
mod pipeline;
pub mod quiesce;
mod trace;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use allways_base::{Diagnostic, FileId, Severity, Sources, Span, Symbol, diagnostic};
use allways_bmc::{Nesting, Stats};
use allways_boogie::check::Checked;
use allways_boogie::dialect::AsyncOp;
use allways_boogie::interp;
use allways_boogie::tree::StmtKind;
use allways_run::{Counterexample, StopReason, Verdict};
use allways_sequentialize::{Options, sequentialize};

pub use allways_sequentialize::{Assertions, Preemption, Scheduler};
pub use pipeline::check;

use crate::files::{Disk, Files};

/// The family of a scheduler; its bound is asked for apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SchedulerKind {
    Dfw,
    Df,
    ChildFirst,
}

impl SchedulerKind {
    pub fn with(self, delays: u32) -> Scheduler {
        match self {
            SchedulerKind::Dfw => Scheduler::Dfw { delays },
            SchedulerKind::Df => Scheduler::Df { delays },
            SchedulerKind::ChildFirst => Scheduler::ChildFirst { rounds: delays + 1 },
        }
    }

    /// The scheduler of the interpreter that defines this one.
    pub fn operational(self, delays: u32) -> interp::Scheduler {
        match self {
            SchedulerKind::Dfw => interp::Scheduler::Dfw { delays },
            SchedulerKind::Df => interp::Scheduler::Df { delays },
            SchedulerKind::ChildFirst => interp::Scheduler::ChildFirst { rounds: delays + 1 },
        }
    }
}

/// A program that was read and checked.
pub struct Loaded {
    pub sources: Sources,
    pub checked: Option<Checked>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads and checks files, which are one program.
pub fn load(paths: &[impl AsRef<Path>]) -> Loaded {
    load_from(&Disk, paths)
}

/// The same, from files that need not be on disk.
pub fn load_from(files: &dyn Files, paths: &[impl AsRef<Path>]) -> Loaded {
    let mut texts = Vec::new();
    let mut unreadable = Vec::new();
    for path in paths.iter().map(AsRef::as_ref) {
        let why = match files.read(path).map(String::from_utf8) {
            Ok(Ok(text)) => {
                texts.push((path.display().to_string(), text));
                continue;
            }
            Ok(Err(_)) => "is not UTF-8 text".to_owned(),
            Err(error) => format!("cannot be read: {error}"),
        };
        let message = format!("`{}` {why}", path.display());
        unreadable.push(Diagnostic::new(Severity::Error, allways_p::codes::UNREADABLE_FILE, message));
    }
    if !unreadable.is_empty() {
        return Loaded { sources: Sources::default(), checked: None, diagnostics: unreadable };
    }
    read(Sources::default(), texts)
}

/// Checks texts under their names as one program.
pub fn read(mut sources: Sources, texts: impl IntoIterator<Item = (String, String)>) -> Loaded {
    let mut files: Vec<FileId> = Vec::new();
    for (name, text) in texts {
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        files.push(sources.add(name, text));
    }
    let texts = files.iter().map(|&file| (file, sources.file(file).text.as_str()));
    let (checked, mut diagnostics) = allways_boogie::analyze_files(texts);
    diagnostic::sort(&mut diagnostics, &sources);
    Loaded { sources, checked, diagnostics }
}

#[derive(Clone, Debug)]
pub struct BoogieOptions {
    pub scheduler: SchedulerKind,
    /// Exactly so many delays; otherwise one more after the other.
    pub delays: Option<u32>,
    /// Exactly so many nested calls of one procedure; otherwise one more after the other, and more as long as there is time.
    pub recursion: Option<u32>,
    pub assertions: Assertions,
    /// Otherwise what [`usual_preemption`] says.
    pub preemption: Option<Preemption>,
    pub entry: Option<String>,
    pub keep_smt: bool,
    /// For everything together, the solver included. Without a limit, the bounds do not rise beyond the first that is
    /// worth a verdict.
    pub time: Option<Duration>,
}

impl Default for BoogieOptions {
    fn default() -> Self {
        BoogieOptions {
            scheduler: SchedulerKind::Dfw,
            delays: None,
            recursion: None,
            assertions: Assertions::default(),
            preemption: None,
            entry: None,
            keep_smt: false,
            time: None,
        }
    }
}

/// Where tasks may be preempted if nothing is said: at the written points; before every shared access in a program in
/// Corral's spelling that has no points and no waits, since it was written for tools that preempt there.
pub fn usual_preemption(checked: &Checked) -> Preemption {
    let mut is_corral = false;
    for stmt in checked.program.stmts.ids() {
        match checked.async_op(stmt) {
            Some(AsyncOp::Yield(_) | AsyncOp::Wait { .. } | AsyncOp::WaitAll) => return Preemption::Explicit,
            Some(AsyncOp::Post(post)) => is_corral |= post.call.is_async,
            Some(
                AsyncOp::AtomicBegin
                | AsyncOp::AtomicEnd
                | AsyncOp::OwnId { .. }
                | AsyncOp::ChildId { .. }
                | AsyncOp::Unreachable,
            ) => is_corral = true,
            Some(AsyncOp::Record(_)) | None => {}
        }
    }
    if is_corral { Preemption::Automatic } else { Preemption::Explicit }
}

/// How far a search is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stage {
    pub delays: u32,
    pub recursion: u32,
    pub n_queries: u64,
    pub n_instances: u64,
}

/// Listens to a search.
pub trait Watch: Sync {
    /// Several times a second.
    fn stage(&self, _stage: &Stage) {}

    /// A run was found that fails unless a quantified assumption or axiom forbids it; the solver is asked thoroughly now, which may
    /// take long.
    fn candidate(&self, _finding: &Finding) {}

    /// Asked several times a second; `true` ends the search with what it has.
    fn should_stop(&self) -> bool {
        false
    }
}

impl Watch for allways_run::Quiet {}

/// What came out.
#[derive(Debug)]
pub struct BoogieReport {
    /// A proof of a program without tasks is [`Exhaustive`](allways_run::Guarantee::Exhaustive); otherwise bounds are named.
    pub verdict: Verdict,
    /// If it is violated: what the run is worth.
    pub evidence: Option<Evidence>,
    /// If nothing is decided: a run that fails unless a quantified assumption or axiom forbids it.
    pub candidate: Option<Box<Finding>>,
    /// The largest bounds within which nothing fails.
    pub covered: Option<Covered>,
    /// Why larger bounds were not covered, where they could have been.
    pub stopped: Option<StopReason>,
    /// Whether the axioms are known to have a model. Without that, a verdict that nothing fails might be on their account.
    pub axioms_are_consistent: bool,
    pub is_sequential: bool,
    pub preemption: Preemption,
    pub entry: String,
    /// What a bound on nesting is about.
    pub nesting: Nesting,
    pub stats: Stats,
    /// What was said to the solver, if it was kept: a file for it.
    pub smt: String,
}

/// A failing run.
#[derive(Clone, Debug)]
pub struct Finding {
    pub counterexample: Counterexample,
    pub evidence: Evidence,
}

/// What a failing run is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Evidence {
    /// The bounds that it needs.
    pub delays: u32,
    pub recursion: u32,
    /// The interpreter has made the same run. Only a program without tasks may lack this, where it uses what the
    /// interpreter cannot compute.
    pub is_repeated: bool,
    /// Assumptions over unbounded data in the run, for which the solver is trusted.
    pub n_trusted: usize,
}

/// Bounds within which nothing fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Covered {
    pub delays: u32,
    pub recursion: u32,
    /// Whether there are runs with deeper nesting.
    pub is_bounded: bool,
}

/// Why nothing could be asked.
#[derive(Debug)]
pub enum BoogieError {
    Input(Box<Diagnostic>),
    /// The program uses something that the pipeline does not support.
    Unsupported(String, Option<Span>),
    Solver(String),
}

/// Writes an asynchronous program as a sequential one, with `delays` of the options or one.
pub fn sequentialized(
    loaded: &Loaded,
    checked: &Checked,
    options: &BoogieOptions,
) -> Result<String, BoogieError> {
    let entry = allways_boogie::entry_point(&checked.program, options.entry.as_deref())
        .map_err(BoogieError::Input)?;
    let options = Options {
        scheduler: options.scheduler.with(options.delays.unwrap_or(1)),
        assertions: options.assertions,
        preemption: options.preemption.unwrap_or_else(|| usual_preemption(checked)),
        sources: Some(&loaded.sources),
    };
    let done = sequentialize(checked, entry, &options).map_err(unsupported)?;
    Ok(allways_boogie::print(&done.program))
}

fn unsupported(error: allways_sequentialize::Unsupported) -> BoogieError {
    BoogieError::Unsupported(error.to_string(), error.span)
}

/// Whether no statement that can be reached from `entry` posts a task or waits for one. Then there is one task, for which
/// preemption points, atomic sections, numbers of tasks and recorded values make no difference.
fn is_sequential(checked: &Checked, entry: Symbol) -> bool {
    let program = &checked.program;
    let mut seen = BTreeSet::from([entry]);
    let mut work = vec![entry];
    while let Some(procedure) = work.pop() {
        for stmt in program.bodies_of(procedure).flat_map(|found| program.stmts_below(&found.body.block)) {
            if let Some(AsyncOp::Post(_) | AsyncOp::Wait { .. } | AsyncOp::WaitAll) = checked.async_op(stmt) {
                return false;
            }
            if let StmtKind::Call(call) = &program.stmts[stmt].kind
                && seen.insert(call.callee.symbol)
            {
                work.push(call.callee.symbol);
            }
        }
    }
    true
}
