//! `allways quiesce` of Boogie programs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use allways_driver::boogie::quiesce::{
    Covered, Divergence, Proof, QuiesceError, QuiesceOptions, QuiesceReport, QuiesceVerdict,
};
use allways_driver::boogie::{self, Loaded};
use allways_report::check;
use allways_report::json::{Head, Reports};
use allways_report::lasso::{CoveredReport, DivergenceReport, FoundReport};
use allways_report::text::{count, count_of};
use allways_report::{boogie as boogie_report, json, junit, lasso, trace};
use allways_run::{Counterexample, StopReason};

use super::super::boogie::{compile_report, name, refuse_mixed, show_diagnostics, show_error};
use super::p::picture_format;
use crate::args::{Format, QuiesceArgs};
use crate::exit::ExitStatus;
use crate::interrupt;
use crate::printer;
use crate::progress::ProgressLine;

/// The budget of a search whose bounds rise.
const USUAL_TIME: Duration = Duration::from_secs(60);

/// Asks one program.
pub fn quiesce(paths: &[PathBuf], args: &QuiesceArgs) -> ExitStatus {
    if let Err(status) = refuse_mixed(paths) {
        return status;
    }
    if let Some(problem) = misplaced(args) {
        printer::err(&format!("{problem}\n"));
        return ExitStatus::Rejected;
    }
    let loaded = boogie::load(paths);
    let is_text = args.format.format.is_text();
    let Some(checked) = &loaded.checked else {
        match args.format.format {
            Format::Json => printer::out(&json::to_text(&compile_report(paths, &loaded))),
            _ => show_diagnostics(&loaded),
        }
        return ExitStatus::Rejected;
    };
    if is_text {
        show_diagnostics(&loaded);
    }
    interrupt::listen();
    let options = QuiesceOptions {
        fair: args.fair,
        rounds: args.rounds,
        recursion: args.recursion,
        entry: args.entry.clone(),
        keep_smt: args.dump_smt.is_some(),
        time: Some(args.timeout.map_or(USUAL_TIME, Duration::from_secs)),
    };
    let name = name(paths);
    let screen = Screen { line: ProgressLine::new(&name, is_text) };
    let start = Instant::now();
    let report = boogie::quiesce::quiesce(&loaded, checked, &options, &screen);
    screen.line.finish();
    let report = match report {
        Ok(report) => report,
        Err(QuiesceError::Boogie(error)) => return show_error(&loaded, error),
        Err(QuiesceError::NotRepeated(what)) => {
            printer::err(&format!("internal error: {what}\n"));
            return ExitStatus::Internal;
        }
    };
    write_files(&name, args, &report);
    match args.format.format {
        Format::Json => {
            printer::out(&json::to_text(&Reports::new(vec![report_of(&name, &loaded, args, &report)])));
        }
        _ => show(&name, &loaded, args, &report),
    }
    if let Some(path) = &args.junit {
        let seconds = start.elapsed().as_secs_f64();
        printer::file(path, &junit::render(&name, &[junit_case(args, &report, seconds)]));
    }
    match &report.verdict {
        QuiesceVerdict::Diverges(_) => ExitStatus::Violated,
        QuiesceVerdict::NoDivergence { stopped: Some(StopReason::Interrupted), .. }
        | QuiesceVerdict::Unknown(StopReason::Interrupted) => ExitStatus::Interrupted,
        QuiesceVerdict::Quiescent(_) | QuiesceVerdict::NoLasso | QuiesceVerdict::NoDivergence { .. } => {
            ExitStatus::Success
        }
        QuiesceVerdict::Unknown(_) => ExitStatus::Inconclusive,
    }
}

/// Progress for people, and the question whether to stop.
struct Screen {
    line: ProgressLine,
}

impl boogie::Watch for Screen {
    fn stage(&self, stage: &boogie::Stage) {
        self.line.draw(|seconds| {
            format!(
                " {}, recursion bound {}, {}, {seconds:.0} s",
                count(u64::from(stage.delays) + 1, "round"),
                stage.recursion,
                count_of(stage.n_queries, "query", "queries"),
            )
        });
    }

    fn should_stop(&self) -> bool {
        interrupt::is_interrupted()
    }
}

/// Options of P programs that mean nothing here.
fn misplaced(args: &QuiesceArgs) -> Option<String> {
    let given = [
        (!args.tests.testcase.is_empty(), "-tc"),
        (args.all, "--all"),
        (args.engine.is_some(), "--engine"),
        (!args.stimulus.is_empty(), "--stimulus"),
        (args.memory.is_some(), "--memory"),
        (args.outdir.is_some(), "--outdir"),
    ];
    if let Some((_, option)) = given.into_iter().find(|(is_given, _)| *is_given) {
        return Some(format!("{option} is for P programs, and this is a Boogie file"));
    }
    args.diagram.as_deref().and_then(|path| picture_format(path).err())
}

/// Files that cannot be written do not change the answer.
fn write_files(name: &str, args: &QuiesceArgs, report: &QuiesceReport) {
    if let Some(file) = &args.dump_smt {
        printer::file(file, &report.smt);
    }
    if let (QuiesceVerdict::Diverges(found), Some(file)) = (&report.verdict, &args.diagram)
        && let Ok(write) = picture_format(file)
    {
        printer::file(file, &write(&lasso::diagram(name, &found.lasso)));
    }
}

/// The verdict in the words of the documentation.
fn verdict_word(verdict: &QuiesceVerdict) -> &'static str {
    match verdict {
        QuiesceVerdict::Diverges(_) => "diverges",
        QuiesceVerdict::NoDivergence { .. } => "no divergence within bounds",
        QuiesceVerdict::NoLasso => "no divergence that repeats",
        QuiesceVerdict::Quiescent(_) => "quiesces",
        QuiesceVerdict::Unknown(_) => "unknown",
    }
}

/// What the verdict is worth, in a sentence.
fn explain(args: &QuiesceArgs, report: &QuiesceReport) -> String {
    let fair = if args.fair { "fair " } else { "" };
    match &report.verdict {
        QuiesceVerdict::Diverges(found) => {
            let Divergence { rounds, recursion, n_trusted, .. } = **found;
            let trusted = match n_trusted {
                0 => String::new(),
                n => format!(
                    "; {} over unbounded data checked by the solver only",
                    count(n as u64, "assumption")
                ),
            };
            format!(
                "found in {} with recursion bound {recursion}; the concurrent interpreter replayed the stem and two \
                 iterations of the loop{trusted}",
                count(u64::from(rounds), "round")
            )
        }
        QuiesceVerdict::NoDivergence { covered, stopped } => {
            let bounds: Vec<String> = covered.iter().map(bounds).collect();
            let stopped = stopped.as_ref().map_or(String::new(), |reason| format!("; then {reason}"));
            format!("no {fair}infinite run was found {}{stopped}; this is not a proof", bounds.join(", nor "))
        }
        QuiesceVerdict::NoLasso => format!(
            "proved: in no {fair}infinite run is there a causal cycle of tasks that returns to earlier data values, \
             whatever the bounds; runs with ever new values, and tasks that never complete, are not ruled out"
        ),
        QuiesceVerdict::Quiescent(Proof::Acyclic) => {
            "proved: no task can lead to another task of the same procedure, and none posts in a loop, so every run has finitely many tasks"
                .to_owned()
        }
        QuiesceVerdict::Quiescent(Proof::AcyclicLoops) => format!(
            "proved: data are finite, and in no {fair}infinite run is there a causal cycle of tasks that returns to earlier \
             data values, so every {fair}run has finitely many tasks"
        ),
        QuiesceVerdict::Unknown(reason) => reason.to_string(),
    }
}

fn bounds(covered: &Covered) -> String {
    let rounds = count(u64::from(covered.rounds), "round");
    match covered.is_bounded {
        true => format!("in {rounds} with recursion bound {}", covered.recursion),
        false => format!("in {rounds}, however long causal chains are"),
    }
}

fn show(name: &str, loaded: &Loaded, args: &QuiesceArgs, report: &QuiesceReport) {
    printer::out(&format!("{name}: {}\n", verdict_word(&report.verdict)));
    if let QuiesceVerdict::Diverges(found) = &report.verdict {
        printer::out(&format!("\n{}", lasso::render(&found.lasso)));
        if args.full_trace {
            let table = trace::render_steps(&found.counterexample, &loaded.sources, printer::look(true));
            printer::out(&format!("\n{table}\n"));
        }
    }
    printer::out(&format!("{}\n", explain(args, report)));
    let stats = &report.stats;
    printer::note(&format!(
        "... {}, {}, {:.2} s in the solver\n",
        count_of(stats.n_queries, "query", "queries"),
        count(stats.n_instances, "inlined call"),
        stats.solver_time.as_secs_f64()
    ));
}

/// The answer as CI systems see it.
fn junit_case(args: &QuiesceArgs, report: &QuiesceReport, seconds: f64) -> junit::Case {
    let said = explain(args, report);
    let result = match &report.verdict {
        QuiesceVerdict::Quiescent(_) | QuiesceVerdict::NoLasso | QuiesceVerdict::NoDivergence { .. } => {
            junit::CaseResult::Passed
        }
        QuiesceVerdict::Diverges(found) => junit::CaseResult::Failed(said, lasso::render(&found.lasso)),
        QuiesceVerdict::Unknown(_) => junit::CaseResult::Error(said),
    };
    junit::Case { name: report.entry.clone(), seconds, result }
}

fn report_of(name: &str, loaded: &Loaded, args: &QuiesceArgs, report: &QuiesceReport) -> DivergenceReport {
    let (covered, divergence) = match &report.verdict {
        QuiesceVerdict::Diverges(found) => (None, Some(found)),
        QuiesceVerdict::NoDivergence { covered, .. } => (Some(covered), None),
        QuiesceVerdict::NoLasso | QuiesceVerdict::Quiescent(_) | QuiesceVerdict::Unknown(_) => (None, None),
    };
    let covered_report = |covered: &Covered| {
        let Covered { rounds, recursion, is_bounded } = *covered;
        CoveredReport { rounds, recursion, is_bounded }
    };
    DivergenceReport {
        head: Head::new("quiesce", name, &report.entry),
        verdict: match &report.verdict {
            QuiesceVerdict::NoDivergence { .. } => "no-divergence-within-bounds",
            QuiesceVerdict::NoLasso => "no-divergence-that-repeats",
            verdict => verdict_word(verdict),
        },
        is_proof: matches!(report.verdict, QuiesceVerdict::Quiescent(_)),
        explanation: explain(args, report),
        fair: args.fair,
        covered: covered.map(|covered| covered.iter().map(covered_report).collect()),
        divergence: divergence.map(|found| {
            let Counterexample { trace, loop_start, .. } = &found.counterexample;
            let n_stem_steps = loop_start.map_or(0, |choice| trace.step_of_choice(choice));
            FoundReport {
                rounds: found.rounds,
                recursion: found.recursion,
                assumptions_left_to_solver: found.n_trusted,
                lasso: lasso::report(&found.lasso),
                n_stem_steps,
                n_loop_steps: trace.steps.len() - n_stem_steps,
                steps: check::steps(trace, &loaded.sources),
            }
        }),
        statistics: boogie_report::Statistics {
            n_queries: report.stats.n_queries,
            n_instances: report.stats.n_instances,
        },
    }
}
