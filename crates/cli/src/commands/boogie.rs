//! Boogie files at the command line: `check`, `compile` and `sequentialize`.

use std::path::Path;

use allways_base::{Code, Diagnostic, Severity};
use allways_driver::boogie::{
    self, BoogieError, BoogieOptions, BoogieReport, BoogieVerdict, BoogieViolation, Loaded, Preemption,
    SchedulerKind,
};
use allways_report::{diagnostics, json};
use allways_run::{Observer, Progress};

use crate::args::{
    AssertionsArg, BoogieArgs, CheckArgs, Format, InputArgs, PreemptionArg, SchedulerArg, SequentializeArgs,
};
use crate::exit::ExitStatus;
use crate::interrupt::{self, Stop};
use crate::printer;
use crate::progress::ProgressLine;

/// Whether a path is for this pipeline.
pub fn is_boogie(paths: &[std::path::PathBuf]) -> bool {
    matches!(paths, [path] if path.extension().is_some_and(|extension| extension == "bpl"))
}

/// Refuses a Boogie program for a command that takes P only.
pub fn refuse(input: &InputArgs) -> Result<(), ExitStatus> {
    if !is_boogie(&input.paths) {
        return Ok(());
    }
    let file = input.paths[0].display();
    printer::err(&format!(
        "`{file}` is a Boogie program; `allways check`, `compile` and `sequentialize` take those\n"
    ));
    Err(ExitStatus::Rejected)
}

/// `allways compile FILE.bpl`
pub fn compile(path: &Path, format: Format) -> ExitStatus {
    let loaded = boogie::load(path);
    let accepted = loaded.checked.is_some();
    match format {
        Format::Json => {
            let found: Vec<_> =
                loaded.diagnostics.iter().map(|d| json::diagnostic(d, &loaded.sources)).collect();
            let report = serde_json::json!({
                "version": json::VERSION, "command": "compile", "accepted": accepted, "diagnostics": found,
            });
            printer::out(&json::to_text(&report));
        }
        Format::Text => {
            show_diagnostics(&loaded);
            if accepted {
                printer::out(&format!("{}: accepted\n", path.display()));
            }
        }
    }
    if accepted { ExitStatus::Success } else { ExitStatus::Rejected }
}

fn show_diagnostics(loaded: &Loaded) {
    printer::err(&diagnostics::render_text(&loaded.diagnostics, &loaded.sources, true));
    if loaded.checked.is_none() {
        printer::err(&format!("rejected: {}\n", diagnostics::render_counts(&loaded.diagnostics)));
    }
}

/// `allways sequentialize FILE.bpl`
pub fn sequentialize(args: &SequentializeArgs) -> ExitStatus {
    let loaded = boogie::load(&args.file);
    let Some(checked) = &loaded.checked else {
        show_diagnostics(&loaded);
        return ExitStatus::Rejected;
    };
    let text = match boogie::sequentialized(&loaded, checked, &options(&args.boogie)) {
        Ok(text) => text,
        Err(error) => return show_error(&loaded, error),
    };
    match &args.output {
        None => printer::out(&text),
        Some(path) => {
            if let Err(error) = std::fs::write(path, text) {
                printer::err(&format!("`{}` cannot be written: {error}\n", path.display()));
                return ExitStatus::Rejected;
            }
        }
    }
    ExitStatus::Success
}

/// `allways check FILE.bpl`
pub fn check(path: &Path, args: &CheckArgs) -> ExitStatus {
    let loaded = boogie::load(path);
    let Some(checked) = &loaded.checked else {
        if args.format == Format::Json {
            return compile(path, Format::Json);
        }
        show_diagnostics(&loaded);
        return ExitStatus::Rejected;
    };
    interrupt::listen();
    let limit = args.timeout.map(std::time::Duration::from_secs);
    let deadline = limit.and_then(|limit| std::time::Instant::now().checked_add(limit));
    let options = BoogieOptions { deadline, ..options(&args.boogie) };
    let watch = Watch {
        line: ProgressLine::new(&path.display().to_string(), args.format == Format::Text),
        stop: Stop::after(limit),
    };
    let report = boogie::check(&loaded, checked, &options, &watch);
    watch.line.finish();
    let report = match report {
        Ok(report) => report,
        Err(error) => return show_error(&loaded, error),
    };
    if let Some(file) = &args.boogie.dump_smt
        && let Err(error) = std::fs::write(file, &report.smt)
    {
        printer::err(&format!("`{}` cannot be written: {error}\n", file.display()));
        return ExitStatus::Rejected;
    }
    match args.format {
        Format::Json => printer::out(&json::to_text(&report_json(path, &loaded, &options, &report))),
        Format::Text => show(path, &loaded, &options, &report),
    }
    match report.verdict {
        BoogieVerdict::Holds { .. } => ExitStatus::Success,
        BoogieVerdict::Violated(_) => ExitStatus::Violated,
        BoogieVerdict::Unknown(_) if interrupt::is_interrupted() => ExitStatus::Interrupted,
        BoogieVerdict::Unknown(_) => ExitStatus::Inconclusive,
    }
}

/// Progress for people, and the question whether to stop.
struct Watch {
    line: ProgressLine,
    stop: Stop,
}

impl Observer for Watch {
    fn progress(&self, progress: &Progress) {
        self.line.progress(progress);
    }

    fn should_stop(&self) -> bool {
        allways_explore::Cancel::reason(&self.stop).is_some()
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

fn options(args: &BoogieArgs) -> BoogieOptions {
    BoogieOptions {
        scheduler: scheduler(args.scheduler),
        delays: args.delays,
        recursion: args.recursion,
        assertions: assertions(args.assertions),
        preemption: args.preemption.map(preemption),
        entry: args.entry.clone(),
        keep_smt: args.dump_smt.is_some(),
        deadline: None,
    }
}

fn show_error(loaded: &Loaded, error: BoogieError) -> ExitStatus {
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

/// The bound of a scheduler: delays are spent by all tasks together, rounds are there for each task.
fn bound(scheduler: SchedulerKind, delays: u32, at_most: &str) -> String {
    match scheduler {
        SchedulerKind::Dfw | SchedulerKind::Df => format!("with {at_most}{}", counted(delays, "delay")),
        SchedulerKind::ChildFirst => format!("in {}", counted(delays + 1, "round")),
    }
}

fn counted(n: u32, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// What the verdict is worth, in a sentence.
fn explain(options: &BoogieOptions, report: &BoogieReport) -> String {
    let name = match options.scheduler {
        SchedulerKind::Dfw => "DFW",
        SchedulerKind::Df => "DF",
        SchedulerKind::ChildFirst => "child-first",
    };
    let points = match report.preemption {
        Preemption::Explicit => "",
        Preemption::Automatic => ", preempted before every shared access,",
        Preemption::Serial => ", preempted at waits only,",
    };
    match &report.verdict {
        BoogieVerdict::Holds { is_bounded: false, is_sequential: true, .. } => {
            "proved: no run fails".to_owned()
        }
        BoogieVerdict::Holds { recursion, is_sequential: true, .. } => {
            format!(
                "nothing fails with at most {recursion} nested calls or turns of a loop; deeper was not looked at"
            )
        }
        BoogieVerdict::Holds { delays, recursion, is_bounded, .. } => {
            let depth = match is_bounded {
                true => format!(" and at most {recursion} nested calls or turns of a loop"),
                false => ", however deep calls nest".to_owned(),
            };
            format!(
                "nothing fails under {name}{points} {}{depth}",
                bound(options.scheduler, *delays, "at most ")
            )
        }
        BoogieVerdict::Violated(violation) => {
            let bounds = format!(
                "{name}{points} {}, recursion bound {}",
                bound(options.scheduler, violation.delays, ""),
                violation.recursion
            );
            match (violation.is_repeated, violation.n_trusted) {
                (true, 0) => format!("found under {bounds}; the concurrent interpreter has repeated the run"),
                (true, n) => format!(
                    "found under {bounds}; the concurrent interpreter has repeated the run, except that it leaves {n} \
                     {} over unbounded data to the solver",
                    if n == 1 { "assumption" } else { "assumptions" }
                ),
                (false, _) => format!(
                    "found under {bounds} in the solver's model; the interpreter cannot compute this run"
                ),
            }
        }
        BoogieVerdict::Unknown(reason) if report.candidate.is_some() => format!(
            "{reason}; the run shown fails, unless a quantified assumption or axiom forbids it that nobody could decide"
        ),
        BoogieVerdict::Unknown(reason) => reason.clone(),
    }
}

fn verdict_word(verdict: &BoogieVerdict) -> &'static str {
    match verdict {
        BoogieVerdict::Holds { .. } => "holds",
        BoogieVerdict::Violated(_) => "violated",
        BoogieVerdict::Unknown(_) => "unknown",
    }
}

fn show(path: &Path, loaded: &Loaded, options: &BoogieOptions, report: &BoogieReport) {
    printer::out(&format!("{}: {}\n", path.display(), verdict_word(&report.verdict)));
    let shown = match &report.verdict {
        BoogieVerdict::Violated(violation) => Some((Severity::Error, violation)),
        BoogieVerdict::Unknown(_) => report.candidate.as_ref().map(|run| (Severity::Warning, run)),
        BoogieVerdict::Holds { .. } => None,
    };
    if let Some((severity, violation)) = shown {
        let mut diagnostic = Diagnostic::new(severity, Code::new("assertion"), violation.message.clone());
        if let Some(span) = violation.span {
            diagnostic = diagnostic.at(span, "");
        }
        printer::out(&format!("\n{}", diagnostics::render_text(&[diagnostic], &loaded.sources, true)));
        printer::out(&format!("{}\n", violation.trace));
    }
    printer::out(&format!("{}\n", explain(options, report)));
    let stats = &report.stats;
    printer::err(&format!(
        "... {} queries, {} inlined calls, {:.2} s in the solver\n",
        stats.n_queries,
        stats.n_instances,
        stats.solver_time.as_secs_f64()
    ));
}

fn report_json(
    path: &Path,
    loaded: &Loaded,
    options: &BoogieOptions,
    report: &BoogieReport,
) -> serde_json::Value {
    let run = |violation: &BoogieViolation| {
        serde_json::json!({
            "message": violation.message,
            "place": violation.span.map(|span| loaded.sources.place(span)),
            "delays": violation.delays,
            "recursion": violation.recursion,
            "isRepeated": violation.is_repeated,
            "assumptionsLeftToSolver": violation.n_trusted,
            "trace": violation.trace.lines().collect::<Vec<_>>(),
        })
    };
    let violation = match &report.verdict {
        BoogieVerdict::Violated(violation) => run(violation),
        BoogieVerdict::Holds { .. } | BoogieVerdict::Unknown(_) => serde_json::Value::Null,
    };
    let candidate = report.candidate.as_deref().map_or(serde_json::Value::Null, run);
    let covered = match &report.verdict {
        BoogieVerdict::Holds { delays, recursion, is_bounded, is_sequential } => serde_json::json!({
            "delays": delays,
            "recursion": recursion,
            "isBounded": is_bounded,
            "hasTasks": !is_sequential,
        }),
        BoogieVerdict::Violated(_) | BoogieVerdict::Unknown(_) => serde_json::Value::Null,
    };
    serde_json::json!({
        "version": json::VERSION,
        "command": "check",
        "file": path.display().to_string(),
        "verdict": verdict_word(&report.verdict),
        "explanation": explain(options, report),
        "scheduler": match options.scheduler {
            SchedulerKind::Dfw => "dfw",
            SchedulerKind::Df => "df",
            SchedulerKind::ChildFirst => "child-first",
        },
        "preemption": match report.preemption {
            Preemption::Explicit => "explicit",
            Preemption::Automatic => "automatic",
            Preemption::Serial => "serial",
        },
        "assertions": match options.assertions {
            boogie::Assertions::Exit => "exit",
            boogie::Assertions::Continue => "continue",
        },
        "covered": covered,
        "violation": violation,
        "candidate": candidate,
        "statistics": {
            "nQueries": report.stats.n_queries,
            "nInstances": report.stats.n_instances,
        },
    })
}
