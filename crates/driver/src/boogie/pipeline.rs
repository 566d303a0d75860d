//! One search: bounds rise until an assertion fails, nothing lies beyond them, or the time is over.
//!
//! Delays rise first, with a few nested calls and turns of loops each; that is what a verdict needs at least. Then nesting doubles
//! as long as there is time. A limit that is reached before the first of these is done leaves no verdict; one that is
//! reached later leaves what was covered.

use std::time::{Duration, Instant};

use allways_base::{Diagnostic, Span, Symbol};
use allways_bmc::smt::find::{Found, find_solver};
use allways_bmc::smt::process::{ProcessOptions, ProcessSolver};
use allways_bmc::{
    Answer, Consistency, Nesting, Quantifiers, Recursion, SolverError, Stats, TraceStep, VerifyError,
    VerifyOptions, check_axioms, verify,
};
use allways_boogie::check::Checked;
use allways_boogie::interp::{self, Ending};
use allways_boogie::tree::Program;
use allways_run::task_trace::Write;
use allways_run::{
    Bound, Counterexample, Guarantee, Observer, Progress, Schedule, StopReason, TaskTrace, Trace, Verdict,
    Violation, ViolationKind,
};
use allways_sequentialize::decode::decode;
use allways_sequentialize::replay::{Values, replay};
use allways_sequentialize::{Options, Preemption, Sequentialized, sequentialize};

use super::concrete::Concrete;
use super::{
    BoogieError, BoogieOptions, BoogieReport, Covered, Evidence, Finding, Loaded, SchedulerKind, Stage,
    Watch, is_sequential, trace, unsupported, usual_preemption,
};

/// Delays that are tried when none are given.
const MAX_DELAYS: u32 = 4;

/// Nested calls and turns of loops that a verdict needs at least, when none are given.
const FIRST_RECURSION: u32 = 8;

/// How long the solver may think about whether the axioms contradict each other.
const AXIOM_TIME: Duration = Duration::from_secs(1);

/// Looks for a failing assertion.
pub fn check(
    loaded: &Loaded,
    checked: &Checked,
    options: &BoogieOptions,
    watch: &dyn Watch,
) -> Result<BoogieReport, BoogieError> {
    let entry = allways_boogie::entry_point(&checked.program, options.entry.as_deref())
        .map_err(BoogieError::Input)?;
    let mut pipeline = Pipeline::new(loaded, checked, entry, options, watch)?;
    let Search { verdict, evidence, covered, stopped } = pipeline.run()?;
    let is_contradictory = matches!(pipeline.axioms, Some(Consistency::Contradictory(_)));
    Ok(BoogieReport {
        candidate: pipeline.candidate.filter(|_| matches!(verdict, Verdict::Unknown(_)) && !is_contradictory),
        verdict,
        evidence,
        covered,
        stopped,
        axioms_are_consistent: pipeline.axioms != Some(Consistency::Undecided),
        is_sequential: pipeline.is_sequential,
        preemption: pipeline.preemption,
        entry: checked.program.text(entry).to_owned(),
        nesting: pipeline.nesting,
        stats: pipeline.stats,
        smt: pipeline.smt,
    })
}

/// The end of a search.
struct Search {
    verdict: Verdict,
    evidence: Option<Evidence>,
    covered: Option<Covered>,
    stopped: Option<StopReason>,
}

/// The answer about one number of delays and one bound on nesting.
enum Step {
    Holds { recursion: u32, is_bounded: bool },
    Fails(Box<Finding>),
    Undecided(StopReason),
}

/// What ends a search from outside.
#[derive(Clone, Copy)]
pub(super) struct Clock<'a> {
    watch: &'a dyn Watch,
    limit: Option<Duration>,
    deadline: Option<Instant>,
}

impl Clock<'_> {
    pub fn stopped(&self) -> Option<StopReason> {
        if self.watch.should_stop() {
            return Some(StopReason::Interrupted);
        }
        let is_over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        self.limit.filter(|_| is_over).map(StopReason::Time)
    }
}

/// Hears of the progress of the verifier, and passes it on while the solver computes.
struct Bridge<'a> {
    clock: Clock<'a>,
    delays: u32,
    n_queries_before: u64,
    last: std::sync::Mutex<Stage>,
}

impl Bridge<'_> {
    fn goes_on(&self) -> bool {
        if let Ok(stage) = self.last.lock() {
            self.clock.watch.stage(&stage);
        }
        self.clock.stopped().is_none()
    }
}

impl Observer for Bridge<'_> {
    fn progress(&self, progress: &Progress) {
        let stage = Stage {
            delays: self.delays,
            recursion: u32::try_from(progress.depth).unwrap_or(u32::MAX),
            n_queries: self.n_queries_before + progress.n_schedules.unwrap_or(0),
            n_instances: progress.n_steps,
        };
        if let Ok(mut last) = self.last.lock() {
            *last = stage;
        }
        self.clock.watch.stage(&stage);
    }

    fn should_stop(&self) -> bool {
        self.clock.stopped().is_some()
    }
}

pub(super) struct Pipeline<'a> {
    pub loaded: &'a Loaded,
    pub checked: &'a Checked,
    pub entry: Symbol,
    options: &'a BoogieOptions,
    pub clock: Clock<'a>,
    found: Found,
    preemption: Preemption,
    is_sequential: bool,
    /// Fewer turns of loops than nested calls, where that is wanted.
    pub turns: Option<u32>,
    candidate: Option<Box<Finding>>,
    /// What is known about the axioms, once it was asked.
    axioms: Option<Consistency>,
    nesting: Nesting,
    pub stats: Stats,
    pub smt: String,
}

impl<'a> Pipeline<'a> {
    pub(super) fn new(
        loaded: &'a Loaded,
        checked: &'a Checked,
        entry: Symbol,
        options: &'a BoogieOptions,
        watch: &'a dyn Watch,
    ) -> Result<Self, BoogieError> {
        Ok(Pipeline {
            loaded,
            checked,
            entry,
            options,
            clock: Clock {
                watch,
                limit: options.time,
                deadline: options.time.and_then(|limit| Instant::now().checked_add(limit)),
            },
            found: find_solver().map_err(|error| BoogieError::Solver(error.to_string()))?,
            preemption: options.preemption.unwrap_or_else(|| usual_preemption(checked)),
            is_sequential: is_sequential(checked, entry),
            turns: None,
            candidate: None,
            axioms: None,
            nesting: Nesting::default(),
            stats: Stats::default(),
            smt: String::new(),
        })
    }

    fn run(&mut self) -> Result<Search, BoogieError> {
        let (first, last) = match self.options.delays {
            Some(delays) => (delays, delays),
            None if self.is_sequential => (0, 0),
            None => (0, MAX_DELAYS),
        };
        let mut bound = match self.options.recursion {
            Some(recursion) => Recursion::Exactly(recursion),
            None => Recursion::UpTo(FIRST_RECURSION),
        };
        // By delays, whether deeper runs exist than were explored.
        let mut is_open = vec![true; (last - first + 1) as usize];
        let mut covered: Option<Covered> = None;
        loop {
            let mut step_covered: Option<Covered> = None;
            for delays in first..=last {
                let at = (delays - first) as usize;
                if !is_open[at] {
                    continue;
                }
                match self.with_delays(delays, bound)? {
                    Step::Holds { recursion, is_bounded } => {
                        is_open[at] = is_bounded;
                        let before = step_covered.map_or(0, |covered| covered.recursion);
                        step_covered = Some(Covered {
                            delays,
                            recursion: recursion.max(before),
                            is_bounded: is_open[..=at].contains(&true),
                        });
                    }
                    Step::Fails(finding) => {
                        let Finding { counterexample, evidence } = *finding;
                        let verdict = Verdict::Violated(Box::new(counterexample));
                        return Ok(Search { verdict, evidence: Some(evidence), covered, stopped: None });
                    }
                    Step::Undecided(reason) => {
                        // What was covered with fewer delays is worth being reported, but it is no verdict.
                        return match covered {
                            Some(whole) => self.holds(whole, Some(reason)),
                            None => Ok(Search {
                                verdict: Verdict::Unknown(reason),
                                evidence: None,
                                covered: step_covered,
                                stopped: None,
                            }),
                        };
                    }
                }
            }
            let recursion = match bound {
                Recursion::Exactly(n) | Recursion::UpTo(n) => n,
            };
            let is_bounded = is_open.contains(&true);
            let deepest = step_covered.map_or(recursion, |covered| covered.recursion);
            let whole =
                Covered { delays: last, recursion: if is_bounded { recursion } else { deepest }, is_bounded };
            covered = Some(whole);
            if !is_bounded || self.options.recursion.is_some() || self.options.time.is_none() {
                return self.holds(whole, None);
            }
            bound = Recursion::Exactly(recursion.saturating_mul(2));
        }
    }

    /// Nothing fails within bounds, unless that is because the axioms contradict each other.
    fn holds(&mut self, covered: Covered, stopped: Option<StopReason>) -> Result<Search, BoogieError> {
        let verdict = match self.contradiction() {
            Some(why) => Verdict::Unknown(StopReason::Undecided { why }),
            None => Verdict::Holds(self.guarantee(covered)),
        };
        Ok(Search { verdict, evidence: None, covered: Some(covered), stopped })
    }

    fn guarantee(&self, covered: Covered) -> Guarantee {
        let nesting = covered.is_bounded.then_some(Bound::Nesting(covered.recursion));
        let bounds: Vec<Bound> = match self.options.scheduler {
            _ if self.is_sequential => nesting.into_iter().collect(),
            SchedulerKind::ChildFirst => {
                [Bound::Rounds(covered.delays + 1)].into_iter().chain(nesting).collect()
            }
            SchedulerKind::Dfw | SchedulerKind::Df => {
                [Bound::Delays(covered.delays)].into_iter().chain(nesting).collect()
            }
        };
        if bounds.is_empty() { Guarantee::Exhaustive } else { Guarantee::UpTo(bounds) }
    }

    /// What to say about axioms that contradict each other, if they do.
    pub(super) fn contradiction(&self) -> Option<String> {
        let Some(Consistency::Contradictory(spans)) = &self.axioms else { return None };
        const MOST: usize = 3;
        let mut places: Vec<String> =
            spans.iter().take(MOST).map(|&span| self.loaded.sources.place(span)).collect();
        if spans.len() > MOST {
            places.push(format!("{} more", spans.len() - MOST));
        }
        let which = if places.is_empty() { "unique constants".to_owned() } else { places.join(", ") };
        Some(format!(
            "the axioms contradict each other ({which}), so every assertion would hold and nothing is known about the program; correct them"
        ))
    }

    fn with_delays(&mut self, delays: u32, recursion: Recursion) -> Result<Step, BoogieError> {
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
            Some(done) if !self.is_sequential => Some(recheck(done)?),
            _ => None,
        };
        let (program, entry) = match (&translated, &done) {
            (Some(program), Some(done)) => (program, done.entry),
            _ => (self.checked, self.entry),
        };
        let mut answer = self.ask(program, entry, delays, recursion, Quantifiers::Quick)?;
        if let Answer::Candidate { trace, recursion: at } = &answer {
            let confirmed = match (&done, &translated) {
                (Some(done), Some(translated)) => self.repeat(done, translated, trace, delays).ok(),
                (Some(done), None) => self.repeat_sequential(done, *at)?,
                (None, _) => None,
            };
            if let Some(repetition) = confirmed {
                let is_certain = repetition.is_certain;
                let finding = Box::new(repetition.finding(delays, *at));
                if is_certain {
                    return Ok(Step::Fails(finding));
                }
                self.clock.watch.candidate(&finding);
                self.candidate = Some(finding);
            }
            answer = self.ask(program, entry, delays, recursion, Quantifiers::Thorough)?;
        }
        Ok(match answer {
            Answer::Holds { recursion, bound_reached } => {
                self.look_at_axioms(program, entry)?;
                Step::Holds { recursion, is_bounded: bound_reached }
            }
            Answer::Unknown { reason, recursion } => self.undecided(recursion, &reason),
            Answer::Candidate { recursion, .. } => self.undecided(recursion, "incomplete"),
            Answer::Stopped { .. } => {
                Step::Undecided(self.clock.stopped().unwrap_or(StopReason::Interrupted))
            }
            Answer::Fails { trace, recursion } if self.is_sequential => {
                Step::Fails(Box::new(self.sequential_violation(done.as_ref(), trace, recursion)?))
            }
            Answer::Fails { trace, recursion } => {
                let (Some(done), Some(translated)) = (&done, &translated) else {
                    return Ok(self.undecided(recursion, "nothing to repeat"));
                };
                match self.repeat(done, translated, &trace, delays) {
                    Ok(repetition) => Step::Fails(Box::new(repetition.finding(delays, recursion))),
                    Err(reason) => {
                        let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
                        Step::Undecided(StopReason::Undecided {
                            why: format!(
                                "the solver found a failing run, but the concurrent interpreter could not replay it{reason}"
                            ),
                        })
                    }
                }
            }
        })
    }

    /// The solver gave up, by itself or because its time was over.
    fn undecided(&self, recursion: u32, reason: &str) -> Step {
        Step::Undecided(self.clock.stopped().unwrap_or_else(|| StopReason::Undecided {
            why: format!("the solver did not decide at recursion bound {recursion}: {reason}"),
        }))
    }

    /// Asks once whether the axioms contradict each other.
    pub(super) fn look_at_axioms(&mut self, program: &Checked, entry: Symbol) -> Result<(), BoogieError> {
        if self.axioms.is_none() {
            let known = self.consistency(program, entry)?;
            self.axioms = Some(known);
        }
        Ok(())
    }

    /// Whether the axioms that matter for a program have a model. A solver that fails at this question has not decided it.
    fn consistency(&mut self, program: &Checked, entry: Symbol) -> Result<Consistency, BoogieError> {
        let process = ProcessOptions {
            time_per_check: Some(AXIOM_TIME),
            deadline: self.clock.deadline,
            ..ProcessOptions::default()
        };
        let bridge = self.bridge(0);
        let goes_on = || bridge.goes_on();
        match check_axioms(program, entry, || ProcessSolver::watched(&self.found, &process, &goes_on)) {
            Ok(consistency) => Ok(consistency),
            Err(VerifyError::Solver(_)) => Ok(Consistency::Undecided),
            Err(VerifyError::Encode(error)) => Err(BoogieError::Unsupported(error.to_string(), error.span())),
        }
    }

    fn bridge(&self, delays: u32) -> Bridge<'_> {
        let last = Stage { delays, n_queries: self.stats.n_queries, ..Stage::default() };
        Bridge { clock: self.clock, delays, n_queries_before: self.stats.n_queries, last: last.into() }
    }

    /// Asks quickly first, if that is wanted and makes a difference: an answer that nothing fails is as good as any.
    pub(super) fn ask(
        &mut self,
        program: &Checked,
        entry: Symbol,
        delays: u32,
        recursion: Recursion,
        quantifiers: Quantifiers,
    ) -> Result<Answer, BoogieError> {
        let (answer, is_quick) = self.ask_once(program, entry, delays, recursion, quantifiers)?;
        match answer {
            Answer::Unknown { .. } if is_quick => {
                Ok(self.ask_once(program, entry, delays, recursion, Quantifiers::Thorough)?.0)
            }
            answer => Ok(answer),
        }
    }

    fn ask_once(
        &mut self,
        program: &Checked,
        entry: Symbol,
        delays: u32,
        recursion: Recursion,
        quantifiers: Quantifiers,
    ) -> Result<(Answer, bool), BoogieError> {
        let (Recursion::Exactly(bound) | Recursion::UpTo(bound)) = recursion;
        if self.clock.stopped().is_some() {
            return Ok((Answer::Stopped { recursion: bound }, false));
        }
        let process = ProcessOptions { deadline: self.clock.deadline, ..ProcessOptions::default() };
        let bridge = self.bridge(delays);
        let goes_on = || bridge.goes_on();
        let mut solver = ProcessSolver::watched(&self.found, &process, &goes_on)
            .map_err(|error| BoogieError::Solver(error.to_string()))?;
        let options =
            VerifyOptions { recursion, turns: self.turns, quantifiers, keep_smt: self.options.keep_smt };
        let report = match verify(program, entry, &options, &mut solver, &bridge) {
            Ok(report) => report,
            Err(VerifyError::Encode(error)) => {
                return Err(BoogieError::Unsupported(error.to_string(), error.span()));
            }
            // Ctrl-C reaches the solver as well: it is in the same group of processes.
            Err(VerifyError::Solver(
                SolverError::Stopped | SolverError::Silent { .. } | SolverError::Died { .. },
            )) if self.clock.stopped().is_some() => {
                return Ok((Answer::Stopped { recursion: bound }, false));
            }
            Err(VerifyError::Solver(error)) => return Err(BoogieError::Solver(error.to_string())),
        };
        drop(solver);
        self.nesting = report.nesting;
        self.stats.n_queries += report.stats.n_queries;
        self.stats.n_instances += report.stats.n_instances;
        self.stats.solver_time += report.stats.solver_time;
        if let Some(smt) = report.smt {
            self.smt.push_str(&format!("; {delays} delays, {recursion:?}, {quantifiers:?}\n{smt}"));
        }
        Ok((report.answer, report.is_quick))
    }

    /// A violation of a program without tasks: the model is a run of the program itself. The interpreter repeats the
    /// run of the translated program, which has the same statements, where it can.
    fn sequential_violation(
        &mut self,
        done: Option<&Sequentialized>,
        trace: allways_bmc::Trace,
        recursion: u32,
    ) -> Result<Finding, BoogieError> {
        if let Some(done) = done
            && let Some(repetition) = self.repeat_sequential(done, recursion)?
        {
            return Ok(repetition.finding(0, recursion));
        }
        let failure = trace.failure.clone();
        let kind = failure.as_ref().map_or(ViolationKind::Assertion, |failure| model_failure(failure.kind));
        let violation = violation(kind, failure.map(|failure| failure.span));
        let trace = self.model_trace(&trace, &violation);
        let counterexample =
            Counterexample { violation, schedule: Schedule::default(), loop_start: None, trace };
        let evidence = Evidence { delays: 0, recursion, is_repeated: false, n_trusted: 0 };
        Ok(Finding { counterexample, evidence })
    }

    /// The failing run of a program without tasks, found once more in its translation, which is what can be decoded.
    fn repeat_sequential(
        &mut self,
        done: &Sequentialized,
        recursion: u32,
    ) -> Result<Option<Repetition>, BoogieError> {
        let translated = recheck(done)?;
        let bound = Recursion::Exactly(recursion);
        let answer = match self.ask(&translated, done.entry, 0, bound, Quantifiers::Quick) {
            Ok(answer) => answer,
            // The run is there; only its repetition is not.
            Err(BoogieError::Solver(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(match answer {
            Answer::Fails { trace, .. } | Answer::Candidate { trace, .. } => {
                self.repeat(done, &translated, &trace, 0).ok()
            }
            Answer::Holds { .. } | Answer::Unknown { .. } | Answer::Stopped { .. } => None,
        })
    }

    /// The statements of a model, with the values they gave.
    fn model_trace(&self, found: &allways_bmc::Trace, violation: &Violation) -> Trace {
        let program = &self.checked.program;
        let globals = &self.checked.global_names;
        let is_shared = |name: &str| globals.keys().any(|&symbol| program.text(symbol) == name);
        let mut stack: Vec<&str> = Vec::new();
        let mut trace = TaskTrace::default();
        let task = trace.task(&trace::task_name(program.text(self.entry), 0));
        let mut last = None;
        for step in &found.steps {
            match step {
                TraceStep::Enter { procedure, is_loop: false, .. } => stack.push(procedure),
                TraceStep::Leave { is_loop: false, .. } => drop(stack.pop()),
                TraceStep::Enter { .. } | TraceStep::Leave { .. } | TraceStep::Body(_) => {}
                TraceStep::Stmt { stmt, values, .. } => {
                    let writes = values.iter().map(|assigned| Write {
                        variable: assigned.name.as_str().into(),
                        value: assigned.value.to_string().into(),
                        is_shared: is_shared(&assigned.name),
                    });
                    last = Some(*stmt);
                    trace.statement(
                        task,
                        stack.last().copied().unwrap_or_default().into(),
                        None,
                        allways_boogie::printer::print_stmt_head(program, *stmt).into(),
                        writes.collect(),
                        program.stmts[*stmt].span,
                    );
                }
            }
        }
        if let Some(stmt) = last {
            trace::add_reads(&mut trace, program, task, stmt);
        }
        trace.finish(violation)
    }

    /// Decodes a run of the translated program and has the concurrent interpreter make it. An error says what kept it from
    /// that, as far as it knows.
    fn repeat(
        &self,
        done: &Sequentialized,
        translated: &Checked,
        found: &allways_bmc::Trace,
        delays: u32,
    ) -> Result<Repetition, Option<String>> {
        let checked = allways_boogie::check(self.checked.program.clone()).0;
        let code =
            interp::lower(checked, self.entry, self.preemption).map_err(|error| Some(error.to_string()))?;
        let concrete = Concrete::new(self.checked, translated, &code.unique, found);
        let plan = decode(done, concrete.steps(found));
        let values = Values {
            initial: concrete.initial(done, found),
            constants: concrete.constants(found),
            apply: &|function, args| concrete.apply(found, function, args),
            pool: concrete.pool(done, found),
            should_stop: &|| self.clock.stopped().is_some(),
        };
        let scheduler = self.options.scheduler.operational(delays);
        let repeated = replay(&code, &plan, &values, scheduler, self.options.assertions)
            .map_err(|limit| limit.map(|limit| limit.to_string()))?;
        let Ending::Failed(failure) = &repeated.run.ending else { return Err(None) };
        let violation = violation(interpreter_failure(failure.kind), Some(failure.span));
        let shows_rounds = delays > 0;
        Ok(Repetition {
            trace: trace::of_run(&code, &repeated.run, &violation, shows_rounds),
            violation,
            n_trusted: repeated.n_trusted,
            is_certain: repeated.n_trusted == 0 && repeated.n_axioms == 0,
        })
    }
}

pub(super) fn recheck(done: &Sequentialized) -> Result<Checked, BoogieError> {
    checked_again(done.program.clone())
}

/// A program that was made from another.
pub(super) fn checked_again(program: Program) -> Result<Checked, BoogieError> {
    let (checked, diagnostics) = allways_boogie::check(program);
    match diagnostics.into_iter().find(Diagnostic::is_error) {
        None => Ok(checked),
        Some(error) => Err(BoogieError::Unsupported(
            format!(
                "internal error: the translated program is not valid Boogie: {}; please report this",
                error.message
            ),
            error.primary.map(|label| label.span),
        )),
    }
}

/// A failing run that the interpreter has made.
struct Repetition {
    violation: Violation,
    trace: Trace,
    n_trusted: usize,
    /// Whether it stands without the solver: the interpreter has evaluated every assumption and axiom.
    is_certain: bool,
}

impl Repetition {
    fn finding(self, delays: u32, recursion: u32) -> Finding {
        Finding {
            counterexample: Counterexample {
                violation: self.violation,
                schedule: Schedule::default(),
                loop_start: None,
                trace: self.trace,
            },
            evidence: Evidence { delays, recursion, is_repeated: true, n_trusted: self.n_trusted },
        }
    }
}

fn violation(kind: ViolationKind, span: Option<Span>) -> Violation {
    let message = match kind {
        ViolationKind::Precondition => "a precondition fails",
        ViolationKind::Postcondition => "a postcondition fails",
        ViolationKind::LoopInvariant => "a loop invariant fails",
        ViolationKind::Reached => "a place that must not be reached is reached",
        ViolationKind::UnassignedHandle => "a task is waited for that was never posted",
        _ => "an assertion fails",
    };
    Violation { kind, message: message.to_owned(), span, machine: None, monitor: None }
}

fn interpreter_failure(kind: interp::machine::FailureKind) -> ViolationKind {
    use interp::machine::FailureKind;
    match kind {
        FailureKind::Assertion => ViolationKind::Assertion,
        FailureKind::Precondition => ViolationKind::Precondition,
        FailureKind::Postcondition => ViolationKind::Postcondition,
        FailureKind::Reached => ViolationKind::Reached,
        FailureKind::Handle => ViolationKind::UnassignedHandle,
    }
}

fn model_failure(kind: allways_bmc::FailureKind) -> ViolationKind {
    use allways_bmc::FailureKind;
    match kind {
        FailureKind::Assert => ViolationKind::Assertion,
        FailureKind::Requires => ViolationKind::Precondition,
        FailureKind::Ensures => ViolationKind::Postcondition,
        FailureKind::Invariant => ViolationKind::LoopInvariant,
        FailureKind::Unreachable => ViolationKind::Reached,
    }
}
