//! `allways quiesce` of P programs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use allways_base::Severity;
use allways_driver::quiesce::{self, Aside};
use allways_driver::{Compilation, select, suite};
use allways_explore::quiesce::{Divergence, Engine, QuiesceOptions, Quiescence, stimuli};
use allways_machine::Executable;
use allways_report::annotation::Annotation;
use allways_report::json::Head;
use allways_report::{check as check_report, graph, json, junit, quiesce as quiesce_report};
use allways_run::{Limits, NetworkOptions, StopReason};

use super::super::load::{load, show_default_test};
use super::super::results::{Results, annotate_unknown};
use super::super::{files, network};
use crate::args::{Format, QuiesceArgs};
use crate::exit::ExitStatus;
use crate::interrupt::{self, Stop};
use crate::progress::ProgressLine;
use crate::{annotations, printer};

/// One test case that was asked.
pub struct Quiesced {
    pub name: String,
    pub executable: Arc<Executable>,
    pub answer: quiesce::Answer,
    pub is_fair: bool,
    pub stimuli: Vec<String>,
    pub seconds: f64,
}

pub fn quiesce(args: &QuiesceArgs) -> ExitStatus {
    let compilation = match load(&args.input, args.format.format, "quiesce") {
        Ok(compilation) => compilation,
        Err(status) => return status,
    };
    let Some(program) = &compilation.program else { return ExitStatus::Rejected };
    if args.all {
        return quiesce_all(args, &compilation);
    }
    let tests = match select::select_all(program, &args.tests.testcase) {
        Ok(tests) => tests,
        Err(error) => return rejected(&error.to_string()),
    };
    if let Some(path) = &args.diagram
        && let Err(problem) = picture_format(path)
    {
        return rejected(&problem);
    }
    if args.diagram.is_some() && tests.len() > 1 {
        return rejected("a diagram shows one test case; choose it with -tc");
    }
    let suite = match suite::load(&compilation.project.folder) {
        Ok(suite) => suite.unwrap_or_default(),
        Err(problem) => return rejected(&problem),
    };
    interrupt::listen();
    let mut results = Results::new(args.format.format);
    for test in tests {
        let name = &program.tests[test].name;
        let mut stimuli = args.stimulus.clone();
        stimuli.extend(suite.stimuli_of(name));
        let asked = Asked {
            is_fair: args.fair,
            engine: engine_named(args.engine.as_deref()),
            stimuli,
            network: args.network.options(),
            timeout: args.timeout.map(Duration::from_secs),
            memory: super::super::prove::memory_limit(args.memory),
            is_text: args.format.format.is_text(),
        };
        let quiesced = match run_test(&compilation, test, &asked) {
            Ok(quiesced) => quiesced,
            Err(status) => return status,
        };
        let report = report_of(&compilation, &quiesced);
        match &quiesced.answer.report.quiescence {
            Quiescence::Diverges(_) => {
                let message = format!("{name}: {}", report.explanation);
                annotations::add(Annotation::general(Severity::Error, "divergence", message));
            }
            _ if report.verdict == "unknown" => annotate_unknown(name, &report.explanation),
            _ => {}
        }
        if !results.keep(&report) {
            show(&compilation, &quiesced, &report, args);
        }
        draw(&report, args);
        files::named(write_run(&compilation, &quiesced, args.outdir.as_deref(), args.format.format));
        let case = junit_case(&report, quiesced.seconds);
        if !results.count(case, status_of(&quiesced.answer.report.quiescence)) {
            break;
        }
    }
    results.finish(&compilation, args.junit.as_deref())
}

/// Every test, with the verdict that `allways.toml` expects of it.
fn quiesce_all(args: &QuiesceArgs, compilation: &Compilation) -> ExitStatus {
    if args.diagram.is_some() {
        return rejected("a diagram shows one test case; choose it with -tc, without --all");
    }
    let asked = super::super::suite::Asked {
        command: "quiesce",
        names: &args.tests.testcase,
        format: args.format.format,
        junit: args.junit.as_deref(),
        outdir: args.outdir.as_deref(),
        network: &args.network,
        timeout: args.timeout,
        memory: args.memory,
    };
    super::super::suite::run_quiescence(&asked, args, compilation)
}

fn rejected(problem: &str) -> ExitStatus {
    printer::err(&format!("{problem}\n"));
    ExitStatus::Rejected
}

/// The engine of a name; explicit search, unless it is the symbolic one.
pub fn engine_named(name: Option<&str>) -> Engine {
    if name == Some("symbolic") { Engine::Symbolic } else { Engine::Explicit }
}

/// What is asked of a test.
pub struct Asked {
    pub is_fair: bool,
    pub engine: Engine,
    pub stimuli: Vec<String>,
    pub network: NetworkOptions,
    pub timeout: Option<Duration>,
    pub memory: Option<u64>,
    pub is_text: bool,
}

/// Asks one test. What goes wrong is shown.
pub fn run_test(compilation: &Compilation, test: usize, asked: &Asked) -> Result<Quiesced, ExitStatus> {
    let Some(program) = &compilation.program else { return Err(ExitStatus::Rejected) };
    let name = program.tests[test].name.clone();
    let executable = network::executable(program, test, &asked.network)?;
    let is_stimulus =
        stimuli(&executable, &asked.stimuli).map_err(|error| rejected(&format!("--stimulus: {error}")))?;
    let options = QuiesceOptions {
        is_fair: asked.is_fair,
        engine: asked.engine,
        is_stimulus,
        limits: Limits { memory_bytes: asked.memory, ..Limits::default() },
        ..QuiesceOptions::default()
    };
    let progress = ProgressLine::new(&name, asked.is_text);
    let start = Instant::now();
    let stop = Stop::after(asked.timeout).or_beyond(asked.memory);
    let over =
        |network: &NetworkOptions| Executable::new(program, test).with_network(network).ok().map(Arc::new);
    let found = quiesce::quiesce(&executable, &over, &options, &progress, &stop);
    progress.finish();
    let answer = found.map_err(|error| {
        printer::err(&format!("internal error in test case `{name}`: {error}\nplease report this\n"));
        ExitStatus::Internal
    })?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(Quiesced { name, executable, answer, is_fair: asked.is_fair, stimuli: asked.stimuli.clone(), seconds })
}

pub fn report_of(compilation: &Compilation, quiesced: &Quiesced) -> quiesce_report::QuiesceReport {
    let Quiesced { answer, executable, .. } = quiesced;
    let found = &answer.report;
    let which = match (quiesced.is_fair, quiesced.stimuli.is_empty()) {
        (false, true) => "every run ends",
        (true, true) => "every fair run ends",
        (false, false) => "every run with finitely many stimuli ends",
        (true, false) => "every fair run with finitely many stimuli ends",
    };
    let (verdict, explanation, longest_run) = match &found.quiescence {
        Quiescence::Quiesces { longest: Some(n) } => {
            let s = if *n == 1 { "" } else { "s" };
            ("quiesces", format!("quiescent: proved, {which}; the longest has {n} step{s}"), Some(*n))
        }
        Quiescence::Quiesces { longest: None } => ("quiesces", format!("quiescent: proved, {which}"), None),
        Quiescence::Diverges(found) => {
            let text = if found.turn.piles.is_empty() {
                "a run repeats for ever"
            } else {
                "a run goes on for ever, and messages pile up"
            };
            ("diverges", text.to_owned(), None)
        }
        Quiescence::Unknown(reason) => {
            ("unknown", check_report::explain_stop_at(reason, compilation.sources()), None)
        }
    };
    let divergence = match &found.quiescence {
        Quiescence::Diverges(found) => Some(divergence(compilation, quiesced, found)),
        Quiescence::Quiesces { .. } | Quiescence::Unknown(_) => None,
    };
    quiesce_report::QuiesceReport {
        head: Head::new("quiesce", &compilation.project.name, &quiesced.name),
        verdict,
        explanation,
        fair: quiesced.is_fair,
        stimuli: quiesced.stimuli.clone(),
        network: network::report_of(executable.network.options()),
        longest_run,
        violation: found.violation.map(|kind| kind.as_str()),
        statistics: quiesce_report::Statistics {
            n_configurations: found.n_configurations,
            n_transitions: found.n_transitions,
            depth: found.depth,
        },
        divergence,
    }
}

fn divergence(
    compilation: &Compilation,
    quiesced: &Quiesced,
    found: &Divergence,
) -> quiesce_report::Divergence {
    let counterexample = quiesce::counterexample(found);
    let sources = compilation.sources();
    let run = check_report::violation(&counterexample, None, None, 0, "quiesce".to_owned(), sources);
    let turn = &found.turn;
    let n_steps = found.schedule.n_steps();
    let n_stem_steps = found.schedule.choices[..found.loop_start].iter().filter(|it| it.is_step()).count();
    quiesce_report::Divergence {
        kind: if turn.piles.is_empty() { "repetition" } else { "growth" },
        n_stem_steps,
        n_loop_steps: n_steps - n_stem_steps,
        is_fair: found.is_fair(),
        starved: turn.starved.clone(),
        fairly: quiesced.answer.fairly.map(Aside::as_str),
        in_order: quiesced.answer.in_order.map(Aside::as_str),
        sends: turn
            .sends
            .iter()
            .map(|sends| quiesce_report::Sends {
                from: sends.from.clone(),
                to: sends.to.clone(),
                event: sends.event.clone(),
                n: sends.n,
            })
            .collect(),
        machines: turn
            .machines
            .iter()
            .map(|part| quiesce_report::Part {
                machine: part.machine.clone(),
                states: part.states.clone(),
                variables: part
                    .variables
                    .iter()
                    .map(|(name, values)| quiesce_report::Variable {
                        name: name.clone(),
                        values: values.clone(),
                    })
                    .collect(),
                n_taken: part.n_taken,
            })
            .collect(),
        piles: turn
            .piles
            .iter()
            .map(|pile| quiesce_report::Pile {
                from: pile.from.clone(),
                to: pile.to.clone(),
                event: pile.event.clone(),
                n_each_turn: pile.n_each_turn,
            })
            .collect(),
        n_created: turn.n_created,
        endless_handlers: turn.endless_handlers.clone(),
        steps: run.steps,
    }
}

fn show(
    compilation: &Compilation,
    quiesced: &Quiesced,
    report: &quiesce_report::QuiesceReport,
    args: &QuiesceArgs,
) {
    show_default_test(compilation, &report.head.test);
    let mut words = network::words(quiesced.executable.network.options());
    if quiesced.is_fair {
        words.push_str(" (fair runs)");
    }
    printer::out(&format!("{}: {}{words}\n", report.head.test, report.verdict));
    match (&quiesced.answer.report.quiescence, &report.divergence) {
        (Quiescence::Diverges(found), Some(divergence)) => {
            let look = printer::look(args.full_trace);
            let counterexample = quiesce::counterexample(found);
            let table = allways_report::trace::render_steps(&counterexample, compilation.sources(), look);
            printer::out(&format!("\n{}\n{table}\n", quiesce_report::render_divergence(divergence)));
        }
        _ => printer::out(&format!("{}\n", report.explanation)),
    }
    if let Some(kind) = report.violation {
        printer::out(&format!("some runs end with a violation ({kind}); `allways prove` shows it\n"));
    }
    printer::detail(&quiesce_report::render_statistics(&report.statistics));
    printer::note(&format!("... Elapsed {:.2} sec\n", quiesced.seconds));
}

/// The loop as a diagram, if one is asked for.
fn draw(report: &quiesce_report::QuiesceReport, args: &QuiesceArgs) {
    if let (Some(path), Some(divergence)) = (&args.diagram, &report.divergence)
        && let Ok(render) = picture_format(path)
    {
        printer::file(path, &render(&quiesce_report::diagram(report, divergence)));
    }
}

/// The run that does not end as files; the folder, if there is such a run.
pub fn write_run(
    compilation: &Compilation,
    quiesced: &Quiesced,
    outdir: Option<&Path>,
    format: Format,
) -> Result<Option<PathBuf>, String> {
    let Quiescence::Diverges(found) = &quiesced.answer.report.quiescence else { return Ok(None) };
    let counterexample = quiesce::counterexample(found);
    let (executable, name) = (&quiesced.executable, &quiesced.name);
    files::write_counterexample(compilation, executable, name, &counterexample, "quiesce", outdir, format)
}

/// How a picture is written, by the name of its file.
pub fn picture_format(path: &Path) -> Result<fn(&graph::Graph) -> String, String> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => Ok(allways_view::svg::to_svg),
        Some("dot" | "gv") => Ok(graph::to_dot),
        Some("json") => Ok(json::to_text),
        _ => Err(format!("`{}`: give the diagram a name that ends in .svg, .dot or .json", path.display())),
    }
}

fn status_of(quiescence: &Quiescence) -> ExitStatus {
    match quiescence {
        Quiescence::Quiesces { .. } => ExitStatus::Success,
        Quiescence::Diverges(_) => ExitStatus::Violated,
        Quiescence::Unknown(StopReason::Interrupted) => ExitStatus::Interrupted,
        Quiescence::Unknown(_) => ExitStatus::Inconclusive,
    }
}

/// The explanation, and of a run that does not end the loop.
pub fn in_full(report: &quiesce_report::QuiesceReport) -> String {
    report.divergence.as_ref().map_or_else(|| report.explanation.clone(), quiesce_report::render_divergence)
}

/// The answer as CI systems see it.
pub fn junit_case(report: &quiesce_report::QuiesceReport, seconds: f64) -> junit::Case {
    let result = match (report.verdict, &report.divergence) {
        ("quiesces", _) => junit::CaseResult::Passed,
        (_, Some(_)) => junit::CaseResult::Failed(report.explanation.clone(), in_full(report)),
        _ => junit::CaseResult::Error(report.explanation.clone()),
    };
    junit::Case { name: report.head.test.clone(), seconds, result }
}
