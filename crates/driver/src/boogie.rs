//! The Boogie pipeline: read, check, sequentialize, verify, and repeat what was found.
//!
//! Nothing is called a violation of an asynchronous program before the concurrent interpreter has repeated it.

mod concrete;

use std::path::Path;
use std::time::Instant;

use allways_base::{Diagnostic, Severity, Sources, Span, Symbol, diagnostic};
use allways_bmc::smt::SolverError;
use allways_bmc::smt::find::find_solver;
use allways_bmc::smt::process::{ProcessOptions, ProcessSolver};
use allways_bmc::{Answer, Quantifiers, Recursion, Stats, TraceStep, VerifyError, VerifyOptions, verify};
use allways_boogie::check::Checked;
use allways_boogie::dialect::AsyncOp;
use allways_boogie::interp::run::render_trace;
use allways_boogie::interp::{self, Ending};
use allways_run::Observer;
use allways_sequentialize::decode::decode;
use allways_sequentialize::replay::{Values, replay};
use allways_sequentialize::{Options, Sequentialized, sequentialize};

use self::concrete::Concrete;

pub use allways_sequentialize::{Assertions, Preemption, Scheduler};

/// Delays that are tried when none are given, and nested calls likewise.
const MAX_DELAYS: u32 = 4;
const MAX_RECURSION: u32 = 8;

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

/// A file that was read and checked.
pub struct Loaded {
    pub sources: Sources,
    pub checked: Option<Checked>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads and checks one file.
pub fn load(path: &Path) -> Loaded {
    let sources = Sources::default();
    let text = match std::fs::read(path).map(String::from_utf8) {
        Ok(Ok(text)) => text,
        Ok(Err(_)) => return unreadable(sources, path, "is not UTF-8 text"),
        Err(error) => return unreadable(sources, path, &format!("cannot be read: {error}")),
    };
    read(sources, path.display().to_string(), text)
}

/// Checks a text under a name.
pub fn read(mut sources: Sources, name: String, text: String) -> Loaded {
    let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
    let file = sources.add(name, text);
    let (checked, mut diagnostics) = allways_boogie::analyze(file, &sources.file(file).text);
    diagnostic::sort(&mut diagnostics, &sources);
    Loaded { sources, checked, diagnostics }
}

fn unreadable(sources: Sources, path: &Path, why: &str) -> Loaded {
    let message = format!("`{}` {why}", path.display());
    let diagnostics = vec![Diagnostic::new(Severity::Error, allways_p::codes::UNREADABLE_FILE, message)];
    Loaded { sources, checked: None, diagnostics }
}

#[derive(Clone, Debug)]
pub struct BoogieOptions {
    pub scheduler: SchedulerKind,
    /// Exactly so many delays; otherwise one more after the other.
    pub delays: Option<u32>,
    /// Exactly so many nested calls of one procedure; otherwise one more after the other.
    pub recursion: Option<u32>,
    pub assertions: Assertions,
    /// Otherwise what [`usual_preemption`] says.
    pub preemption: Option<Preemption>,
    pub entry: Option<String>,
    pub keep_smt: bool,
    /// When the solver must be done with all questions; later is no answer.
    pub deadline: Option<Instant>,
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
            deadline: None,
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

/// What came out.
#[derive(Debug)]
pub struct BoogieReport {
    pub verdict: BoogieVerdict,
    /// Where nothing is decided: a run that fails unless a quantified assumption or axiom forbids it.
    pub candidate: Option<Box<BoogieViolation>>,
    pub preemption: Preemption,
    pub stats: Stats,
    /// The conversations with the solver, if they were kept.
    pub smt: String,
}

#[derive(Debug)]
pub enum BoogieVerdict {
    /// Nothing fails within the bounds. Without `is_bounded` nothing fails under this scheduler with so many delays,
    /// however deep calls nest; in a program without tasks nothing fails at all.
    Holds {
        delays: u32,
        recursion: u32,
        is_bounded: bool,
        is_sequential: bool,
    },
    Violated(Box<BoogieViolation>),
    Unknown(String),
}

#[derive(Debug)]
pub struct BoogieViolation {
    pub message: String,
    pub span: Option<Span>,
    pub delays: u32,
    pub recursion: u32,
    /// The run, a line for each statement.
    pub trace: String,
    /// The interpreter has made the same run. Only a program without tasks may lack this, where it uses what the
    /// interpreter cannot compute.
    pub is_repeated: bool,
    /// Assumptions over unbounded data on the way, for which the solver is trusted.
    pub n_trusted: usize,
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

/// Looks for a failing assertion.
pub fn check(
    loaded: &Loaded,
    checked: &Checked,
    options: &BoogieOptions,
    observer: &dyn Observer,
) -> Result<BoogieReport, BoogieError> {
    let entry = allways_boogie::entry_point(&checked.program, options.entry.as_deref())
        .map_err(BoogieError::Input)?;
    let mut pipeline = Pipeline {
        loaded,
        checked,
        entry,
        options,
        observer,
        preemption: options.preemption.unwrap_or_else(|| usual_preemption(checked)),
        is_sequential: is_sequential(checked),
        candidate: None,
        stats: Stats::default(),
        smt: String::new(),
    };
    let verdict = pipeline.run()?;
    let candidate = pipeline.candidate.filter(|_| matches!(verdict, BoogieVerdict::Unknown(_)));
    let (preemption, stats, smt) = (pipeline.preemption, pipeline.stats, pipeline.smt);
    Ok(BoogieReport { verdict, candidate, preemption, stats, smt })
}

/// Whether no statement has to do with tasks.
fn is_sequential(checked: &Checked) -> bool {
    checked.program.stmts.ids().all(|stmt| checked.async_op(stmt).is_none())
}

struct Pipeline<'a> {
    loaded: &'a Loaded,
    checked: &'a Checked,
    entry: Symbol,
    options: &'a BoogieOptions,
    observer: &'a dyn Observer,
    preemption: Preemption,
    is_sequential: bool,
    candidate: Option<Box<BoogieViolation>>,
    stats: Stats,
    smt: String,
}

impl Pipeline<'_> {
    fn run(&mut self) -> Result<BoogieVerdict, BoogieError> {
        let (first, last) = match self.options.delays {
            Some(delays) => (delays, delays),
            None if self.is_sequential => (0, 0),
            None => (0, MAX_DELAYS),
        };
        let mut covered = None;
        for delays in first..=last {
            let verdict = self.with_delays(delays)?;
            match verdict {
                BoogieVerdict::Holds { .. } => covered = Some(verdict),
                BoogieVerdict::Violated(_) => return Ok(verdict),
                // What was covered before is worth more than an unanswered question, but it must be told.
                BoogieVerdict::Unknown(reason) => {
                    let before = match (self.options.delays, delays) {
                        (None, 1..) => format!("; nothing fails with up to {} delays", delays - 1),
                        _ => String::new(),
                    };
                    return Ok(BoogieVerdict::Unknown(format!("{reason}{before}")));
                }
            }
        }
        Ok(covered.unwrap_or_else(|| BoogieVerdict::Unknown("no bound was tried".to_owned())))
    }

    fn with_delays(&mut self, delays: u32) -> Result<BoogieVerdict, BoogieError> {
        let options = Options {
            scheduler: self.options.scheduler.with(delays),
            assertions: self.options.assertions,
            preemption: self.preemption,
            sources: Some(&self.loaded.sources),
        };
        let done = match sequentialize(self.checked, self.entry, &options) {
            Ok(done) => Some(done),
            // A program without tasks can be verified as it is.
            Err(_) if self.is_sequential => None,
            Err(error) => return Err(unsupported(error)),
        };
        let translated = match &done {
            Some(done) if !self.is_sequential => Some(self.recheck(done)?),
            _ => None,
        };
        let (program, entry) = match (&translated, &done) {
            (Some(program), Some(done)) => (program, done.entry),
            _ => (self.checked, self.entry),
        };
        let recursion = match self.options.recursion {
            Some(recursion) => Recursion::Exactly(recursion),
            None => Recursion::UpTo(MAX_RECURSION),
        };
        let mut answer = self.ask(program, entry, recursion, Quantifiers::Quick)?;
        if let Answer::Candidate { trace, recursion: at } = &answer {
            let confirmed = match (&done, &translated) {
                (Some(done), Some(translated)) => self.repeat(done, translated, trace, delays).ok(),
                (Some(done), None) => self.repeat_sequential(done, *at)?,
                (None, _) => None,
            };
            match confirmed {
                Some(failure) if failure.is_certain => return Ok(failure.violation(delays, *at)),
                Some(failure) => self.candidate = Some(failure.run(delays, *at)),
                None => {}
            }
            answer = self.ask(program, entry, recursion, Quantifiers::Thorough)?;
        }
        Ok(match answer {
            Answer::Holds { recursion, bound_reached } => BoogieVerdict::Holds {
                delays,
                recursion,
                is_bounded: bound_reached,
                is_sequential: self.is_sequential,
            },
            Answer::Unknown { reason, recursion } => BoogieVerdict::Unknown(format!(
                "the solver did not decide at recursion bound {recursion}: {reason}"
            )),
            Answer::Candidate { recursion, .. } => BoogieVerdict::Unknown(format!(
                "the solver did not decide at recursion bound {recursion}: incomplete"
            )),
            Answer::Stopped { recursion } => {
                BoogieVerdict::Unknown(format!("stopped with {delays} delays at recursion bound {recursion}"))
            }
            Answer::Fails { trace, recursion } if self.is_sequential => {
                self.sequential_violation(done.as_ref(), trace, recursion)?
            }
            Answer::Fails { trace, recursion } => {
                let (Some(done), Some(translated)) = (&done, &translated) else {
                    return Ok(BoogieVerdict::Unknown("nothing to repeat".to_owned()));
                };
                match self.repeat(done, translated, &trace, delays) {
                    Ok(failure) => failure.violation(delays, recursion),
                    Err(reason) => {
                        let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
                        BoogieVerdict::Unknown(format!(
                            "the solver has a failing run, but the concurrent interpreter could not repeat it{reason}"
                        ))
                    }
                }
            }
        })
    }

    fn recheck(&self, done: &Sequentialized) -> Result<Checked, BoogieError> {
        let (checked, diagnostics) = allways_boogie::check(done.program.clone());
        match diagnostics.into_iter().find(Diagnostic::is_error) {
            None => Ok(checked),
            Some(error) => Err(BoogieError::Unsupported(
                format!("the translation is not valid Boogie: {}", error.message),
                error.primary.map(|label| label.span),
            )),
        }
    }

    /// Asks quickly first, if that is wanted and makes a difference: an answer that nothing fails is as good as any.
    fn ask(
        &mut self,
        program: &Checked,
        entry: Symbol,
        recursion: Recursion,
        quantifiers: Quantifiers,
    ) -> Result<Answer, BoogieError> {
        let (answer, is_quick) = self.ask_once(program, entry, recursion, quantifiers)?;
        match answer {
            Answer::Unknown { .. } if is_quick => {
                Ok(self.ask_once(program, entry, recursion, Quantifiers::Thorough)?.0)
            }
            answer => Ok(answer),
        }
    }

    fn ask_once(
        &mut self,
        program: &Checked,
        entry: Symbol,
        recursion: Recursion,
        quantifiers: Quantifiers,
    ) -> Result<(Answer, bool), BoogieError> {
        let process = ProcessOptions { deadline: self.options.deadline, ..ProcessOptions::default() };
        let found = find_solver().map_err(|error| BoogieError::Solver(error.to_string()))?;
        let mut solver =
            ProcessSolver::start(&found, &process).map_err(|error| BoogieError::Solver(error.to_string()))?;
        let options = VerifyOptions { recursion, quantifiers, keep_smt: self.options.keep_smt };
        let report = match verify(program, entry, &options, &mut solver, self.observer) {
            Ok(report) => report,
            // It did not heed the limit that it was given.
            Err(VerifyError::Solver(SolverError::Silent { .. })) if self.options.deadline.is_some() => {
                let (Recursion::Exactly(recursion) | Recursion::UpTo(recursion)) = recursion;
                return Ok((Answer::Unknown { reason: "timeout".to_owned(), recursion }, false));
            }
            // Somebody who wants to stop us stops the solver too: they are in one group of processes.
            Err(VerifyError::Solver(SolverError::Died { .. })) if self.observer.should_stop() => {
                let (Recursion::Exactly(recursion) | Recursion::UpTo(recursion)) = recursion;
                return Ok((Answer::Stopped { recursion }, false));
            }
            Err(VerifyError::Encode(error)) => return Err(BoogieError::Unsupported(error.to_string(), None)),
            Err(VerifyError::Solver(error)) => return Err(BoogieError::Solver(error.to_string())),
        };
        self.stats.n_queries += report.stats.n_queries;
        self.stats.n_instances += report.stats.n_instances;
        self.stats.solver_time += report.stats.solver_time;
        self.smt.push_str(&report.smt.unwrap_or_default());
        Ok((report.answer, report.is_quick))
    }

    /// A violation of a program without tasks: the model is a run of the program itself. The interpreter repeats the
    /// run of the translated program, which has the same statements, where it can.
    fn sequential_violation(
        &mut self,
        done: Option<&Sequentialized>,
        trace: allways_bmc::Trace,
        recursion: u32,
    ) -> Result<BoogieVerdict, BoogieError> {
        if let Some(done) = done
            && let Some(failure) = self.repeat_sequential(done, recursion)?
        {
            return Ok(failure.violation(0, recursion));
        }
        let failure = trace.failure.clone();
        Ok(BoogieVerdict::Violated(Box::new(BoogieViolation {
            message: failure.as_ref().map_or("an assertion fails".to_owned(), |failure| {
                model_failure_text(failure.kind).to_owned()
            }),
            span: failure.as_ref().map(|failure| failure.span),
            delays: 0,
            recursion,
            trace: self.render_model(&trace),
            is_repeated: false,
            n_trusted: 0,
        })))
    }

    /// The failing run of a program without tasks, found once more in its translation, which is what can be decoded.
    fn repeat_sequential(
        &mut self,
        done: &Sequentialized,
        recursion: u32,
    ) -> Result<Option<Repetition>, BoogieError> {
        let translated = self.recheck(done)?;
        let answer = self.ask(&translated, done.entry, Recursion::Exactly(recursion), Quantifiers::Quick)?;
        Ok(match answer {
            Answer::Fails { trace, .. } | Answer::Candidate { trace, .. } => {
                self.repeat(done, &translated, &trace, 0).ok()
            }
            Answer::Holds { .. } | Answer::Unknown { .. } | Answer::Stopped { .. } => None,
        })
    }

    /// The statements of a model, with the values they gave.
    fn render_model(&self, trace: &allways_bmc::Trace) -> String {
        let program = &self.checked.program;
        let mut out = String::new();
        for step in &trace.steps {
            let TraceStep::Stmt { stmt, values, .. } = step else { continue };
            let span = program.stmts[*stmt].span;
            let mut line = format!("{}:", self.loaded.sources.place(span));
            for assigned in values {
                line.push_str(&format!("  // {} = {}", assigned.name, assigned.value));
            }
            out.push_str(&line);
            out.push('\n');
        }
        out
    }

    /// Decodes a run of the translated program and has the concurrent interpreter make it. An error says what kept it from
    /// that, as far as it knows.
    fn repeat(
        &self,
        done: &Sequentialized,
        translated: &Checked,
        trace: &allways_bmc::Trace,
        delays: u32,
    ) -> Result<Repetition, Option<String>> {
        let checked = allways_boogie::check(self.checked.program.clone()).0;
        let code =
            interp::lower(checked, self.entry, self.preemption).map_err(|error| Some(error.to_string()))?;
        let concrete = Concrete::new(self.checked, translated, &code.unique, trace);
        let plan = decode(done, concrete.steps(trace));
        let values = Values {
            initial: concrete.initial(done, trace),
            constants: concrete.constants(trace),
            apply: &|function, args| concrete.apply(trace, function, args),
            pool: concrete.pool(done, trace),
        };
        let scheduler = self.options.scheduler.operational(delays);
        let repeated = replay(&code, &plan, &values, scheduler, self.options.assertions)
            .map_err(|limit| limit.map(|limit| limit.to_string()))?;
        let Ending::Failed(failure) = &repeated.run.ending else { return Err(None) };
        Ok(Repetition {
            message: failure_text(failure.kind),
            span: failure.span,
            trace: render_trace(&code, &self.loaded.sources, &repeated.run),
            n_trusted: repeated.n_trusted,
            is_certain: repeated.n_trusted == 0 && repeated.n_axioms == 0,
        })
    }
}

/// A failing run that the interpreter has made: what failed, where, and the run for people.
struct Repetition {
    message: String,
    span: Span,
    trace: String,
    n_trusted: usize,
    /// Whether it stands without the solver: the interpreter has evaluated every assumption and axiom.
    is_certain: bool,
}

impl Repetition {
    fn run(self, delays: u32, recursion: u32) -> Box<BoogieViolation> {
        Box::new(BoogieViolation {
            message: self.message,
            span: Some(self.span),
            delays,
            recursion,
            trace: self.trace,
            is_repeated: true,
            n_trusted: self.n_trusted,
        })
    }

    fn violation(self, delays: u32, recursion: u32) -> BoogieVerdict {
        BoogieVerdict::Violated(self.run(delays, recursion))
    }
}

fn failure_text(kind: interp::machine::FailureKind) -> String {
    use interp::machine::FailureKind;
    match kind {
        FailureKind::Assertion => "an assertion fails",
        FailureKind::Precondition => "a precondition fails",
        FailureKind::Postcondition => "a postcondition fails",
        FailureKind::Reached => "a place that must not be reached is reached",
        FailureKind::Handle => "a task is waited for that was never posted",
    }
    .to_owned()
}

fn model_failure_text(kind: allways_bmc::FailureKind) -> &'static str {
    use allways_bmc::FailureKind;
    match kind {
        FailureKind::Assert => "an assertion fails",
        FailureKind::Requires => "a precondition fails",
        FailureKind::Ensures => "a postcondition fails",
        FailureKind::Invariant => "a loop invariant fails",
        FailureKind::Unreachable => "a place that must not be reached is reached",
    }
}
