//! `allways check`: systematic testing of one or more test cases.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use allways_base::Severity;
use allways_driver::{Compilation, select, suite};
use allways_explore::coverage::{Coverage, Share, Trigger, UnusedHandler};
use allways_explore::{
    CheckOptions, Fairness, Report, ScenarioCoverage, ScheduleFairness, Statistics, StrategyKind,
};
use allways_machine::Executable;
use allways_p::hir::Temperature;
use allways_report::annotation::Annotation;
use allways_report::json::{Head, Reports};
use allways_report::scenario::Scenario;
use allways_report::verdict::{self, Scope, VerdictReport};
use allways_report::{check as check_report, json, junit, text};
use allways_run::{Counterexample, NetworkOptions, StopReason, Verdict, Violation, ViolationKind};

use super::compile;
use super::distribute::{self, Beyond};
use super::files;
use super::foreign;
use super::network;
use super::show::{self, Shown};
use super::suite::{Asked, Ran};
use crate::args::{CheckArgs, FairnessArg, Format};
use crate::exit::ExitStatus;
use crate::interrupt::{self, Stop};
use crate::progress::{Goal, ProgressLine};
use crate::{annotations, printer};

/// One test case that was run.
pub struct Checked {
    pub name: String,
    pub executable: Arc<Executable>,
    pub report: Report,
    /// What was broken depends on the order of messages.
    pub order_note: Option<String>,
    pub seconds: f64,
    /// The report is that of another process.
    pub is_helper: bool,
    /// Why processes that test together could not go on.
    pub failure: Option<String>,
}

pub fn check(args: &CheckArgs) -> ExitStatus {
    if super::boogie::is_boogie(&args.input.paths) {
        if args.network.is_given() {
            printer::err("tasks of a Boogie file share memory: there is no network between them\n");
            return ExitStatus::Rejected;
        }
        return super::boogie::check(&args.input.paths, args);
    }
    if let Some(file) = &args.replay {
        return super::replay::replay_file(
            &args.input,
            file,
            args.format.format,
            args.full_trace,
            &args.network,
        );
    }
    match args.compat.notes() {
        Ok(notes) => {
            for note in notes.into_iter().chain(args.strategies.note().map(str::to_owned)) {
                printer::note(&format!("{note}\n"));
            }
            if args.fail_on_maxsteps && args.strategies.kind().fairness() == ScheduleFairness::Never {
                printer::err(
                    "`--fail-on-maxsteps` has no effect under an unfair strategy, which may never choose a machine that \
                     could end the run; use `--sch-random`, `--sch-fairpct N` or no strategy\n",
                );
            }
        }
        Err(problem) => {
            printer::err(&format!("{problem}\n"));
            return ExitStatus::Rejected;
        }
    }
    let compilation = match compile_project(args) {
        Ok(compilation) => compilation,
        Err(status) => return status,
    };
    let Some(program) = &compilation.program else { return ExitStatus::Rejected };
    if args.list_tests {
        for test in &program.tests {
            printer::out(&format!("{}\n", test.name));
        }
        return ExitStatus::Success;
    }
    if args.all {
        if let Some(problem) = wrong_use(args, 0) {
            printer::err(&format!("{problem}\n"));
            return ExitStatus::Rejected;
        }
        return check_all(args, &compilation);
    }
    let tests = match select::select_all(program, &args.tests.testcase) {
        Ok(tests) => tests,
        Err(error) => {
            printer::err(&format!("{error}\n"));
            return ExitStatus::Rejected;
        }
    };
    if let Some(problem) = wrong_use(args, tests.len()) {
        printer::err(&format!("{problem}\n"));
        return ExitStatus::Rejected;
    }
    interrupt::listen();
    let options = match options(args) {
        Ok(options) => options,
        Err(problem) => {
            printer::err(&format!("{problem}\n"));
            return ExitStatus::Rejected;
        }
    };
    let mut total = ExitStatus::Success;
    let mut cases = Vec::new();
    let mut reports = Vec::new();
    for test in tests {
        let network = args.network.options();
        let is_text = args.format.format.is_text();
        let name = &program.tests[test].name;
        let beyond = distribute::open_for_testing(&args.cluster, &compilation, name, &network, &options);
        let checked = beyond.and_then(|beyond| {
            let options = CheckOptions { peers: beyond.peers(), ..options.clone() };
            run_test(&compilation, test, &options, &network, timeout(args), is_text, &beyond)
        });
        let checked = match checked {
            Ok(checked) => checked,
            Err(status) => return status,
        };
        if let Some(status) = distribute::status_without_report(checked.failure.as_deref(), checked.is_helper)
        {
            return status;
        }
        let report = report_of(&compilation, &checked, &options);
        for finding in &checked.report.findings {
            annotate(&compilation, &checked.name, &finding.counterexample);
        }
        if let Verdict::Unknown(_) = checked.report.verdict {
            annotate_unknown(&checked.name, &report.answer.explanation);
        }
        match args.format.format {
            Format::Json => reports.push(serde_json::to_value(&report).expect("reports are plain data")),
            _ => show(&compilation, &checked, &report, args),
        }
        files::named(files::write(
            &compilation,
            &checked,
            &report,
            args.files.outdir.as_deref(),
            args.format.format,
        ));
        write_html(&compilation, &checked, args, is_text);
        cases.push(junit_case(&compilation, &checked.name, &checked.report.verdict, checked.seconds));
        total = add_up(total, status_of(&checked.report));
        if interrupt::is_interrupted() {
            break;
        }
    }
    let reports = (args.format.format == Format::Json).then_some(reports);
    finish(&compilation, args.files.junit.as_deref(), &cases, reports, total)
}

/// Runs one test and shows what comes of it; writes no files.
pub fn test(compilation: &Compilation, test: usize, args: &CheckArgs) -> Result<Checked, ExitStatus> {
    let options = options(args).map_err(|_| ExitStatus::Internal)?;
    let network = args.network.options();
    let checked = run_test(compilation, test, &options, &network, timeout(args), true, &Beyond::default())?;
    show(compilation, &checked, &report_of(compilation, &checked, &options), args);
    Ok(checked)
}

/// Keeps a violation for other tools.
pub fn annotate(compilation: &Compilation, test: &str, counterexample: &Counterexample) {
    annotations::add(Annotation::of_counterexample(test, counterexample, compilation.sources()));
}

/// Keeps for other tools that there is no answer.
pub fn annotate_unknown(test: &str, explanation: &str) {
    let message = format!("{test}: {explanation}");
    annotations::add(Annotation::general(Severity::Warning, "inconclusive", message));
}

/// The pages that `--html` asks for.
fn write_html(compilation: &Compilation, checked: &Checked, args: &CheckArgs, is_reported: bool) {
    let Some(folder) = args.files.html.as_deref() else { return };
    for (number, finding) in checked.report.findings.iter().enumerate() {
        let shown =
            Shown { folder, project: &compilation.project.name, test: &checked.name, number, is_reported };
        show::write_html(&shown, &checked.executable, &finding.counterexample, compilation.sources());
    }
}

/// Every test, with the verdict that `allways.toml` expects of it.
fn check_all(args: &CheckArgs, compilation: &Compilation) -> ExitStatus {
    let asked = Asked {
        command: "check",
        names: &args.tests.testcase,
        format: args.format.format,
        junit: args.files.junit.as_deref(),
        outdir: args.files.outdir.as_deref(),
        network: &args.network,
        timeout: args.timeout,
        memory: None,
    };
    super::suite::run(&asked, compilation, |test, budget, network| {
        let (options, timeout) = budgeted(args, budget)?;
        let is_text = args.format.format.is_text();
        let beyond = Beyond::default();
        let checked = run_test(compilation, test, &options, &network, timeout, is_text, &beyond)?;
        let report = report_of(compilation, &checked, &options);
        let written =
            files::write(compilation, &checked, &report, args.files.outdir.as_deref(), Format::Json);
        write_html(compilation, &checked, args, false);
        Ok(Ran {
            exe: checked.executable.clone(),
            verdict: checked.report.verdict.clone(),
            guarantee: report.answer.guarantee,
            explanation: report.answer.explanation,
            engine: None,
            n: report.statistics.n_schedules,
            unit: "schedule",
            seconds: checked.seconds,
            files: files::named(written),
        })
    })
}

/// Options of the command line where they were given, of the suite elsewhere.
fn budgeted(args: &CheckArgs, budget: &suite::Budget) -> Result<(CheckOptions, Option<Duration>), String> {
    let mut options = options(args)?;
    let timeout = args.timeout.or(budget.timeout).map(Duration::from_secs);
    if args.schedules.is_none() && args.timeout.is_none() {
        if let Some(n) = budget.schedules {
            options.n_schedules = (n > 0).then_some(n);
        } else if budget.timeout.is_some() {
            options.n_schedules = None;
        }
    }
    if args.max_steps.is_empty()
        && let Some(steps) = budget.max_steps
    {
        set_steps(&mut options, steps, steps.saturating_mul(10));
    }
    if args.memory.is_none() && budget.memory.is_some() {
        options.limits.memory_bytes = super::prove::memory_limit(budget.memory);
    }
    if let Some(seed) = budget.seed
        && args.seed == 0
    {
        options.seed = seed;
    }
    if let Some(name) = &budget.strategy
        && !args.strategies.is_given()
    {
        options.strategy = strategy_named(name, budget.strategy_bound)
            .ok_or_else(|| format!("there is no strategy `{name}`"))?;
    }
    Ok((options, timeout))
}

/// Compiles, with the foreign bodies that the suite names. Shows what is wrong.
pub fn compile_project(args: &CheckArgs) -> Result<Compilation, ExitStatus> {
    load(&args.input, args.format.format, "check")
}

/// What is asked for, with the foreign bodies that the suite of the project names.
pub fn request_of(input: &crate::args::InputArgs) -> Result<allways_driver::Request, ExitStatus> {
    let mut request = input.request();
    match suite::load(&project_folder(&request.paths)) {
        Ok(Some(suite)) => request.foreign.extend(suite.foreign),
        Ok(None) => {}
        Err(problem) => {
            printer::err(&format!("{problem}\n"));
            return Err(ExitStatus::Rejected);
        }
    }
    Ok(request)
}

pub fn load(
    input: &crate::args::InputArgs,
    format: Format,
    command: &'static str,
) -> Result<Compilation, ExitStatus> {
    load_with(input, Vec::new(), format, command)
}

/// The same, with invariants that the user states.
pub fn load_with(
    input: &crate::args::InputArgs,
    invariants: Vec<String>,
    format: Format,
    command: &'static str,
) -> Result<Compilation, ExitStatus> {
    super::boogie::refuse(input)?;
    let request = allways_driver::Request { invariants, ..request_of(input)? };
    let compilation = allways_driver::compile(&request, input.strict);
    if compilation.program.is_none() {
        if format == Format::Json {
            printer::out(&json::to_text(&compile::report(&compilation, command)));
        } else {
            compile::show_diagnostics(&compilation);
        }
        return Err(ExitStatus::Rejected);
    }
    Ok(compilation)
}

/// Where `allways.toml` is looked for.
fn project_folder(paths: &[PathBuf]) -> PathBuf {
    match paths {
        [path] if path.is_dir() => path.clone(),
        [path, ..] => path.parent().map(Path::to_owned).unwrap_or_default(),
        [] => PathBuf::new(),
    }
}

fn timeout(args: &CheckArgs) -> Option<Duration> {
    args.timeout.map(Duration::from_secs)
}

/// Says what the default test is: P attaches no spec to it, Allways attaches all.
pub fn show_default_test(compilation: &Compilation, test: &str) {
    let tests = compilation.program.iter().flat_map(|program| &program.tests);
    let is_made_up = |kind| kind == allways_p::hir::TestKind::Default;
    let Some(default) = tests.into_iter().find(|found| found.name == test && is_made_up(found.kind)) else {
        return;
    };
    let specs = match default.system.monitors.len() {
        0 => "there is no spec to attach",
        _ => "every spec is attached",
    };
    printer::detail(&format!("the program declares no test, so `Main` is run; {specs}\n"));
}

/// The options of the engine.
pub fn options(args: &CheckArgs) -> Result<CheckOptions, String> {
    let mut options = CheckOptions {
        strategy: args.strategies.kind(),
        seed: args.seed,
        // A time limit alone means: as many as fit in.
        n_schedules: match (args.schedules, args.timeout) {
            (Some(0), _) => None,
            (Some(n), _) => Some(n),
            (None, Some(_)) => None,
            (None, None) => Some(crate::args::DEFAULT_SCHEDULES),
        },
        fail_on_max_steps: args.fail_on_maxsteps,
        explore: args.explore,
        n_threads: args
            .threads
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        ..CheckOptions::default()
    };
    match args.max_steps.as_slice() {
        [] => {}
        [unfair] => set_steps(&mut options, *unfair, unfair.saturating_mul(10)),
        [unfair, fair, ..] if fair >= unfair || *fair == 0 => set_steps(&mut options, *unfair, *fair),
        [unfair, fair, ..] => {
            return Err(format!("--max-steps: the fair bound {fair} is below the unfair bound {unfair}"));
        }
    }
    options.liveness.fairness = match args.fairness {
        FairnessArg::Random => Fairness::Random,
        FairnessArg::Weak => Fairness::Weak,
    };
    if args.no_shrink {
        options.shrink_steps = 0;
    }
    options.limits.memory_bytes = super::prove::memory_limit(args.memory);
    Ok(options)
}

/// Zero is no bound.
fn set_steps(options: &mut CheckOptions, unfair: u64, fair: u64) {
    options.unfair_steps = (unfair > 0).then_some(unfair);
    options.fair_steps = (fair > 0).then_some(fair);
}

/// What processes that test together cannot do.
fn wrong_use(args: &CheckArgs, n_tests: usize) -> Option<String> {
    args.cluster.cluster.as_ref()?;
    let problem = match () {
        () if n_tests != 1 => "--cluster is for one test case: choose it with --testcase",
        () if args.strategies.sch_dfs => "--sch-dfs has one order, so it is for one process",
        () => return None,
    };
    Some(problem.to_owned())
}

/// Runs one test case; a fault of ours is shown and ends the command.
pub fn run_test(
    compilation: &Compilation,
    test: usize,
    options: &CheckOptions,
    network: &NetworkOptions,
    timeout: Option<Duration>,
    show_progress: bool,
    beyond: &Beyond,
) -> Result<Checked, ExitStatus> {
    let Some(program) = &compilation.program else { return Err(ExitStatus::Rejected) };
    let name = program.tests[test].name.clone();
    let executable = network::executable(program, test, network)?;
    let goal = Goal { n_schedules: options.n_schedules, seconds: timeout.map(|limit| limit.as_secs()) };
    let progress = ProgressLine::with_goal(&name, show_progress && !beyond.is_helper(), goal);
    let start = Instant::now();
    let stop = Stop::after(timeout).or_beyond(options.limits.memory_bytes);
    let report = allways_explore::check(&executable, options, &progress, &stop);
    progress.finish();
    let failure = beyond.close().err();
    match report {
        Ok(report) => {
            let order = report.findings.first().and_then(|finding| {
                network::check_in_order(program, test, network, options, finding.index, &stop)
            });
            let seconds = start.elapsed().as_secs_f64();
            // What was found counts, whatever became of the others since.
            let failure = failure.filter(|_| matches!(report.verdict, Verdict::Unknown(_)));
            Ok(Checked {
                name,
                executable,
                report,
                order_note: order.map(network::order_note),
                seconds,
                is_helper: beyond.is_helper(),
                failure,
            })
        }
        Err(error) => {
            printer::err(&format!("internal error in test case `{name}`: {error}\nplease report this\n"));
            Err(ExitStatus::Internal)
        }
    }
}

/// The report as data.
pub fn report_of(
    compilation: &Compilation,
    checked: &Checked,
    options: &CheckOptions,
) -> check_report::CheckReport {
    let sources = compilation.sources();
    let exe = &checked.executable;
    let report = &checked.report;
    check_report::CheckReport {
        head: Head::new("check", &compilation.project.name, &checked.name),
        answer: VerdictReport::new(&report.verdict, Scope::default(), explanation(compilation, checked)),
        seed: options.seed,
        strategy: options.strategy.to_string(),
        network: network::report_of(exe.network.options()),
        order_note: checked.order_note.clone(),
        statistics: testing_statistics(&report.statistics),
        coverage: coverage_of(exe, sources, &report.coverage),
        scenarios: report.scenarios.iter().map(|it| scenario_of(exe, it)).collect(),
        violations: report
            .findings
            .iter()
            .map(|finding| {
                let monitor = finding.counterexample.violation.monitor;
                check_report::violation(
                    &finding.counterexample,
                    monitor.map(|monitor| exe.monitor_name(monitor).to_owned()),
                    help_of(exe, &finding.counterexample.violation),
                    finding.index,
                    finding.strategy.to_string(),
                    sources,
                )
            })
            .collect(),
    }
}

pub fn testing_statistics(statistics: &Statistics) -> check_report::Statistics {
    check_report::Statistics {
        n_schedules: statistics.n_schedules,
        n_steps: statistics.n_steps,
        n_choices: statistics.n_choices,
        min_length: statistics.min_length,
        max_length: statistics.max_length,
        n_bounded: statistics.n_bounded,
    }
}

/// `Machine.State on event (file:line:column)`
pub fn handler_text(exe: &Executable, sources: &allways_base::Sources, handler: &UnusedHandler) -> String {
    let state = &exe.states[handler.state];
    let machine = exe.machine_name(state.machine);
    let trigger = match handler.trigger {
        Trigger::Entry => "entry".to_owned(),
        Trigger::Exit => "exit".to_owned(),
        Trigger::Event(event) => format!("on {}", exe.event_name(event)),
    };
    format!("{machine}.{} {trigger} ({})", exe.state_name(handler.state), sources.place(handler.span))
}

pub fn coverage_of(
    exe: &Executable,
    sources: &allways_base::Sources,
    coverage: &Coverage,
) -> check_report::Coverage {
    let summary = coverage.summary(exe);
    let share = |share: Share| check_report::Share { covered: share.n_covered, all: share.n_all };
    let unused = coverage.unused_handlers(exe);
    check_report::Coverage {
        states: share(summary.states),
        transitions: share(summary.transitions),
        events: share(summary.events),
        unused_handlers: unused.iter().map(|handler| handler_text(exe, sources, handler)).collect(),
    }
}

fn scenario_of(exe: &Executable, coverage: &ScenarioCoverage) -> Scenario {
    Scenario {
        name: exe.monitor_name(coverage.monitor).to_owned(),
        satisfied: coverage.is_satisfied(),
        satisfying_schedules: coverage.n_satisfying,
        distinct_satisfying_timelines: coverage.n_timelines() as u64,
        max_states_visited: coverage.most_visited as u64,
        monitor_states: coverage.n_states as u64,
    }
}

/// Advice for a violation, where there is some: a monitor without cold states is a common slip.
pub fn help_of(exe: &Executable, violation: &Violation) -> Option<String> {
    let (ViolationKind::Liveness(_), Some(monitor)) = (violation.kind, violation.monitor) else {
        return None;
    };
    let machine = exe.monitors[monitor].machine;
    let mut states = exe.states.iter().filter(|state| state.machine == machine);
    let is_never_cold = states.all(|state| state.temperature != Temperature::Cold);
    is_never_cold.then(|| {
        let name = exe.monitor_name(monitor);
        format!(
            "mark the states of `{name}` in which nothing is pending as `cold`: no state is, and only a cold state ends the waiting"
        )
    })
}

/// What the verdict is worth, and what cut it short.
fn explanation(compilation: &Compilation, checked: &Checked) -> String {
    let mut text = verdict::explain(&checked.report.verdict, Scope::default(), compilation.sources());
    if let (Verdict::Holds(_), Some(reason)) = (&checked.report.verdict, &checked.report.stopped) {
        text.push_str("; ");
        text.push_str(&reason.to_string());
    }
    if let Some(note) = foreign::note(compilation, &checked.report.verdict) {
        text.push_str("; ");
        text.push_str(&note);
    }
    text
}

fn show(compilation: &Compilation, checked: &Checked, report: &check_report::CheckReport, args: &CheckArgs) {
    let sources = compilation.sources();
    printer::detail(&format!(
        "... Checker is using '{}' strategy (seed:{}).\n",
        report.strategy, report.seed
    ));
    show_default_test(compilation, &report.head.test);
    let words = network::words(checked.executable.network.options());
    let headline = verdict::headline(&checked.report.verdict, Scope::default());
    printer::out(&format!("{}: {headline}{words}\n", report.head.test));
    for (finding, violation) in checked.report.findings.iter().zip(&report.violations) {
        let text = check_report::render_counterexample(
            &finding.counterexample,
            violation.help.clone(),
            sources,
            printer::look(args.full_trace),
        );
        printer::out(&format!("\n{text}"));
        let shrunk = match finding.found_length as usize {
            n if n > finding.counterexample.schedule.len() => {
                format!(", shrunk from {n} to {} choices", finding.counterexample.schedule.len())
            }
            _ => String::new(),
        };
        printer::detail(&format!(
            "\nfound by {} in schedule {}: {} steps{shrunk}\n",
            violation.strategy, violation.schedule_index, violation.n_steps
        ));
        show_page(&finding.counterexample.violation);
    }
    if let Some(note) = &checked.order_note {
        printer::detail(&format!("{note}\n"));
    }
    if checked.report.findings.is_empty() {
        show_explanation(&checked.report.verdict, &report.answer.explanation);
    } else if let Some(note) = foreign::note(compilation, &checked.report.verdict) {
        printer::detail(&format!("{note}\n"));
    }
    printer::detail(&check_report::render_statistics(report));
    if args.coverage {
        printer::out(&check_report::render_coverage(report));
    }
    let rate = text::rate(report.statistics.n_schedules, checked.seconds);
    printer::note(&format!("... Elapsed {:.2} sec, schedules: {rate}\n", checked.seconds));
}

/// Leads from a violation to its page.
pub fn show_page(violation: &Violation) {
    let kind = violation.kind.as_str();
    printer::detail(&format!("`allways explain {kind}` says what this means and what to try\n"));
}

/// Says what a verdict is worth. With `-q`, only a missing verdict is explained.
pub fn show_explanation(verdict: &Verdict, explanation: &str) {
    match verdict {
        Verdict::Unknown(_) => printer::out(&format!("{explanation}\n")),
        Verdict::Holds(_) | Verdict::Violated(_) => printer::detail(&format!("{explanation}\n")),
    }
}

pub fn status_of(report: &Report) -> ExitStatus {
    match (&report.verdict, &report.stopped) {
        (Verdict::Violated(_), _) => ExitStatus::Violated,
        (_, Some(StopReason::Interrupted)) => ExitStatus::Interrupted,
        (Verdict::Unknown(_), _) => ExitStatus::Inconclusive,
        (Verdict::Holds(_), _) => ExitStatus::Success,
    }
}

/// The status of several tests: a violation anywhere counts most.
pub fn add_up(a: ExitStatus, b: ExitStatus) -> ExitStatus {
    let rank = |status| match status {
        ExitStatus::Internal => 5,
        ExitStatus::Interrupted => 4,
        ExitStatus::Violated => 3,
        ExitStatus::Rejected => 2,
        ExitStatus::Inconclusive | ExitStatus::Lost => 1,
        ExitStatus::Success => 0,
    };
    if rank(b) > rank(a) { b } else { a }
}

/// A verdict as CI systems see it.
pub fn junit_case(compilation: &Compilation, name: &str, verdict: &Verdict, seconds: f64) -> junit::Case {
    let sources = compilation.sources();
    let result = match verdict {
        Verdict::Holds(_) => junit::CaseResult::Passed,
        Verdict::Violated(counterexample) => junit::CaseResult::Failed(
            counterexample.violation.text(sources),
            check_report::render_counterexample(
                counterexample,
                None,
                sources,
                allways_report::trace::Look::PLAIN,
            ),
        ),
        Verdict::Unknown(reason) => junit::CaseResult::Error(reason.to_string()),
    };
    junit::Case { name: name.to_owned(), seconds, result }
}

/// Writes what the options ask for besides the text, and gives back the status of the command.
pub fn finish(
    compilation: &Compilation,
    junit: Option<&Path>,
    cases: &[junit::Case],
    reports: Option<Vec<serde_json::Value>>,
    status: ExitStatus,
) -> ExitStatus {
    if let Some(reports) = reports {
        printer::out(&json::to_text(&Reports::new(reports)));
    }
    if let Some(path) = junit {
        printer::file(path, &junit::render(&compilation.project.name, cases));
    }
    status
}

/// The strategy of a name, as suites write it.
pub fn strategy_named(name: &str, bound: Option<u32>) -> Option<StrategyKind> {
    Some(match name {
        "portfolio" => StrategyKind::Portfolio,
        "random" => StrategyKind::Random,
        "probabilistic" => StrategyKind::Probabilistic(bound.unwrap_or(3)),
        "pct" => StrategyKind::Pct(bound.unwrap_or(10)),
        "fairpct" => StrategyKind::FairPct(bound.unwrap_or(10)),
        "pos" => StrategyKind::Pos,
        "delay" => StrategyKind::DelayBounding(bound.unwrap_or(2)),
        "dfs" => StrategyKind::DepthFirst,
        _ => return None,
    })
}
