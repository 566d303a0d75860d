//! Boogie files at the command line: `check`, `compile` and `sequentialize`.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use allways_base::{Code, Diagnostic, Severity};
use allways_driver::boogie::quiesce::QuiesceOptions;
use allways_driver::boogie::{
    self, BoogieError, BoogieOptions, Evidence, Finding, Loaded, Preemption, SchedulerKind, Stage, Watch,
};
use allways_report::annotation::Annotation;
use allways_report::check::{render_counterexample, violation};
use allways_report::json::{Head, Reports};
use allways_report::text::{count, count_of};
use allways_report::trace_file::Heading;
use allways_report::verdict::{self, VerdictReport};
use allways_report::{boogie as report, diagnostics, json, trace};
use allways_run::{StopReason, Verdict};

use super::show::{self, Shown};
use crate::args::{
    AssertionsArg, BoogieArgs, CheckArgs, Format, InputArgs, PreemptionArg, SchedulerArg, SequentializeArgs,
};
use crate::exit::ExitStatus;
use crate::progress::ProgressLine;
use crate::{annotations, interrupt, printer};

/// Where no limit is given: bounds rise while there is time, so there has to be an end.
const USUAL_TIME: Duration = Duration::from_secs(30);

fn is_boogie_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "bpl")
}

/// Whether paths are for this pipeline: a program in one language may have several files.
pub fn is_boogie(paths: &[PathBuf]) -> bool {
    paths.iter().any(|path| is_boogie_file(path))
}

/// Refuses a program that is partly Boogie.
pub(super) fn refuse_mixed(paths: &[PathBuf]) -> Result<(), ExitStatus> {
    match paths.iter().find(|path| !is_boogie_file(path)) {
        None => Ok(()),
        Some(other) => {
            printer::err(&format!(
                "`{}` is not a Boogie file, but the others are: a program is written in one language\n",
                other.display()
            ));
            Err(ExitStatus::Rejected)
        }
    }
}

/// Refuses a Boogie program for a command that takes P only.
pub fn refuse(input: &InputArgs) -> Result<(), ExitStatus> {
    let Some(path) = input.paths.iter().find(|path| is_boogie_file(path)) else { return Ok(()) };
    let file = path.display();
    printer::err(&format!(
        "`{file}` is a Boogie program; `allways check`, `compile`, `quiesce` and `sequentialize` accept those\n"
    ));
    Err(ExitStatus::Rejected)
}

/// The name of a program: its files.
pub(super) fn name(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    names.join(", ")
}

/// `allways compile FILE.bpl...`
pub fn compile(paths: &[PathBuf], format: Format) -> ExitStatus {
    if let Err(status) = refuse_mixed(paths) {
        return status;
    }
    let loaded = boogie::load(paths);
    match format {
        Format::Json => printer::out(&json::to_text(&compile_report(paths, &loaded))),
        _ => {
            show_diagnostics(&loaded);
            if loaded.checked.is_some() {
                printer::out(&format!("{}: accepted\n", name(paths)));
            }
        }
    }
    if loaded.checked.is_some() { ExitStatus::Success } else { ExitStatus::Rejected }
}

pub(super) fn compile_report(paths: &[PathBuf], loaded: &Loaded) -> json::CompileReport {
    let n_errors = loaded.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
    json::CompileReport {
        version: json::VERSION,
        command: "compile",
        project: name(paths),
        accepted: loaded.checked.is_some(),
        n_files: paths.len(),
        n_lines: loaded.sources.iter().map(|(_, file)| file.n_lines()).sum(),
        n_errors,
        n_warnings: loaded.diagnostics.len() - n_errors,
        tests: Vec::new(),
        diagnostics: loaded.diagnostics.iter().map(|d| json::diagnostic(d, &loaded.sources)).collect(),
    }
}

pub(super) fn show_diagnostics(loaded: &Loaded) {
    super::compile::show(&loaded.diagnostics, &loaded.sources);
    if loaded.checked.is_none() {
        printer::err(&format!("rejected: {}\n", diagnostics::render_counts(&loaded.diagnostics)));
    }
}

/// `allways sequentialize FILE.bpl...`
pub fn sequentialize(args: &SequentializeArgs) -> ExitStatus {
    let loaded = boogie::load(&args.files);
    let Some(checked) = &loaded.checked else {
        show_diagnostics(&loaded);
        return ExitStatus::Rejected;
    };
    let text = if args.non_termination {
        let options = QuiesceOptions {
            fair: args.fair,
            rounds: Some(args.rounds),
            entry: args.boogie.entry.clone(),
            ..QuiesceOptions::default()
        };
        boogie::quiesce::sequentialized(&loaded, checked, &options)
    } else {
        boogie::sequentialized(&loaded, checked, &options(&args.boogie, None))
    };
    let text = match text {
        Ok(text) => text,
        Err(error) => return show_error(&loaded, error),
    };
    match &args.output {
        None => printer::out(&text),
        // The file is the result here.
        Some(path) if !printer::file(path, &text) => return ExitStatus::Rejected,
        Some(_) => {}
    }
    ExitStatus::Success
}

/// Options that say something about P programs only, if they are given.
fn foreign_option(args: &CheckArgs) -> Option<&'static str> {
    let given = [
        (!args.tests.testcase.is_empty(), "--testcase"),
        (args.all, "--all"),
        (args.list_tests, "--list-tests"),
        (args.replay.is_some(), "--replay"),
        (args.files.junit.is_some(), "--junit"),
    ];
    given.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name)
}

/// `allways check FILE.bpl...`
pub fn check(paths: &[PathBuf], args: &CheckArgs) -> ExitStatus {
    if let Err(status) = refuse_mixed(paths) {
        return status;
    }
    if let Some(option) = foreign_option(args) {
        printer::err(&format!("`{option}` is for P programs; a Boogie program starts from `--entry`\n"));
        return ExitStatus::Rejected;
    }
    let loaded = boogie::load(paths);
    let Some(checked) = &loaded.checked else {
        match args.format.format {
            Format::Json => printer::out(&json::to_text(&compile_report(paths, &loaded))),
            _ => show_diagnostics(&loaded),
        }
        return ExitStatus::Rejected;
    };
    let is_text = args.format.format.is_text();
    if is_text {
        show_diagnostics(&loaded);
    }
    interrupt::listen();
    let time = args.timeout.map_or(USUAL_TIME, Duration::from_secs);
    let options = options(&args.boogie, Some(time));
    let watch = Screen {
        loaded: &loaded,
        line: ProgressLine::new(&name(paths), is_text),
        is_text,
        has_shown: AtomicBool::new(false),
        look: printer::look(args.full_trace),
    };
    let answer = boogie::check(&loaded, checked, &options, &watch);
    watch.line.finish();
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return show_error(&loaded, error),
    };
    if let Some(file) = &args.boogie.dump_smt {
        printer::file(file, &answer.smt);
    }
    if let (Some(folder), Verdict::Violated(counterexample)) = (args.files.html.as_deref(), &answer.verdict) {
        let (project, test) = (&name(paths), &answer.entry);
        let heading = Heading { project, test, network: None, monitor: None };
        let shown = Shown { folder, project, test, number: 0, is_reported: is_text };
        show::write_html_of(&shown, &heading, counterexample, &loaded.sources);
    }
    let search = search_report(&options, &answer);
    match &answer.verdict {
        Verdict::Violated(counterexample) => {
            annotations::add(Annotation::of_counterexample(&name(paths), counterexample, &loaded.sources));
        }
        Verdict::Unknown(_) => {
            let explanation = report::explain(&answer.verdict, &search, answer.candidate.is_some());
            super::results::annotate_unknown(&name(paths), &explanation);
        }
        Verdict::Holds(_) => {}
    }
    match args.format.format {
        Format::Json => {
            let found = |counterexample| {
                let strategy = search.scheduler.to_owned();
                violation(counterexample, None, None, 0, strategy, &loaded.sources)
            };
            let violations = match &answer.verdict {
                Verdict::Violated(counterexample) => vec![found(counterexample)],
                Verdict::Holds(_) | Verdict::Unknown(_) => Vec::new(),
            };
            let whole = report::BoogieReport {
                head: Head::new("check", &name(paths), &answer.entry),
                answer: VerdictReport::new(
                    &answer.verdict,
                    verdict::Scope::default(),
                    report::explain(&answer.verdict, &search, answer.candidate.is_some()),
                ),
                statistics: report::Statistics {
                    n_queries: answer.stats.n_queries,
                    n_instances: answer.stats.n_instances,
                },
                violations,
                candidate: answer.candidate.as_ref().map(|finding| found(&finding.counterexample)),
                search,
            };
            printer::out(&json::to_text(&Reports::new(vec![whole])));
        }
        _ => {
            let has_candidate = answer.candidate.is_some();
            let headline = report::headline(&answer.verdict, &search, has_candidate);
            if let Some(finding) = &answer.candidate {
                watch.show_candidate(finding);
            }
            printer::out(&format!("{}: {headline}\n", name(paths)));
            if let Verdict::Violated(counterexample) = &answer.verdict {
                let text = render_counterexample(counterexample, None, &loaded.sources, watch.look);
                printer::out(&format!("\n{text}"));
                printer::detail(&format!("\n{}\n", report::explain(&answer.verdict, &search, false)));
            }
            printer::note(&format!(
                "... {}, {}, {:.2} s in the solver\n",
                count_of(answer.stats.n_queries, "query", "queries"),
                count(answer.stats.n_instances, "inlined call"),
                answer.stats.solver_time.as_secs_f64()
            ));
        }
    }
    match (&answer.verdict, &answer.stopped) {
        (Verdict::Violated(_), _) => ExitStatus::Violated,
        (Verdict::Unknown(StopReason::Interrupted), _) | (_, Some(StopReason::Interrupted)) => {
            ExitStatus::Interrupted
        }
        (Verdict::Holds(_), _) => ExitStatus::Success,
        (Verdict::Unknown(_), _) => ExitStatus::Inconclusive,
    }
}

/// Progress for people, and the question whether to stop.
struct Screen<'a> {
    loaded: &'a Loaded,
    line: ProgressLine,
    is_text: bool,
    /// Whether a run that may fail has been shown.
    has_shown: AtomicBool,
    look: trace::Look,
}

impl Screen<'_> {
    fn show_candidate(&self, finding: &Finding) {
        if !self.is_text || self.has_shown.swap(true, Ordering::Relaxed) {
            return;
        }
        self.line.clear();
        let counterexample = &finding.counterexample;
        let message = format!(
            "{}, unless a quantified assumption or axiom forbids this run",
            counterexample.violation.message
        );
        let code = Code::new(counterexample.violation.kind.as_str());
        let mut diagnostic = Diagnostic::new(Severity::Warning, code, message);
        if let Some(span) = counterexample.violation.span {
            diagnostic = diagnostic.at(span, "");
        }
        printer::out(&diagnostics::render_text(&[diagnostic], &self.loaded.sources, true));
        printer::out(&trace::render_steps(counterexample, &self.loaded.sources, self.look));
        printer::out("\n");
    }
}

impl Watch for Screen<'_> {
    fn stage(&self, stage: &Stage) {
        self.line.draw(|_| {
            format!(
                " {}, {} nested calls or loop iterations, {}",
                count(u64::from(stage.delays), "delay"),
                stage.recursion,
                count_of(stage.n_queries, "query", "queries"),
            )
        });
    }

    fn candidate(&self, finding: &Finding) {
        self.show_candidate(finding);
    }

    fn should_stop(&self) -> bool {
        interrupt::is_interrupted()
    }
}

fn search_report(options: &BoogieOptions, answer: &boogie::BoogieReport) -> report::SearchReport {
    let evidence = |evidence: Evidence| report::Evidence {
        delays: evidence.delays,
        recursion: evidence.recursion,
        is_repeated: evidence.is_repeated,
        assumptions_left_to_solver: evidence.n_trusted,
    };
    report::SearchReport {
        scheduler: match options.scheduler {
            SchedulerKind::Dfw => "dfw",
            SchedulerKind::Df => "df",
            SchedulerKind::ChildFirst => "child-first",
        },
        preemption: match answer.preemption {
            Preemption::Explicit => "explicit",
            Preemption::Automatic => "automatic",
            Preemption::Serial => "serial",
        },
        assertions: match options.assertions {
            boogie::Assertions::Exit => "exit",
            boogie::Assertions::Continue => "continue",
        },
        has_tasks: !answer.is_sequential,
        axioms_are_consistent: answer.axioms_are_consistent,
        covered: answer.covered.map(|covered| report::Covered {
            delays: covered.delays,
            recursion: covered.recursion,
            is_bounded: covered.is_bounded,
        }),
        stopped: answer.stopped.as_ref().map(ToString::to_string),
        evidence: answer.evidence.or(answer.candidate.as_ref().map(|finding| finding.evidence)).map(evidence),
        nesting: report::Nesting { loops: answer.nesting.loops, calls: answer.nesting.calls },
    }
}

fn scheduler(arg: SchedulerArg) -> SchedulerKind {
    match arg {
        SchedulerArg::Dfw => SchedulerKind::Dfw,
        SchedulerArg::Df => SchedulerKind::Df,
        SchedulerArg::ChildFirst => SchedulerKind::ChildFirst,
    }
}

fn assertions(arg: AssertionsArg) -> boogie::Assertions {
    match arg {
        AssertionsArg::Exit => boogie::Assertions::Exit,
        AssertionsArg::Continue => boogie::Assertions::Continue,
    }
}

fn preemption(arg: PreemptionArg) -> Preemption {
    match arg {
        PreemptionArg::Explicit => Preemption::Explicit,
        PreemptionArg::Automatic => Preemption::Automatic,
        PreemptionArg::Serial => Preemption::Serial,
    }
}

fn options(args: &BoogieArgs, time: Option<Duration>) -> BoogieOptions {
    BoogieOptions {
        scheduler: scheduler(args.scheduler),
        delays: args.delays,
        recursion: args.recursion,
        assertions: assertions(args.assertions),
        preemption: args.preemption.map(preemption),
        entry: args.entry.clone(),
        keep_smt: args.dump_smt.is_some(),
        time,
    }
}

pub(super) fn show_error(loaded: &Loaded, error: BoogieError) -> ExitStatus {
    let (diagnostic, status) = match error {
        BoogieError::Input(diagnostic) => (*diagnostic, ExitStatus::Rejected),
        BoogieError::Unsupported(message, span) => {
            let diagnostic = Diagnostic::new(Severity::Error, Code::new("boogie-unsupported"), message);
            (span.map_or(diagnostic.clone(), |span| diagnostic.at(span, "")), ExitStatus::Inconclusive)
        }
        BoogieError::Solver(message) => {
            printer::err(&format!("{message}\n"));
            return ExitStatus::Inconclusive;
        }
    };
    printer::err(&diagnostics::render_text(&[diagnostic], &loaded.sources, true));
    status
}
