//! `allways check`: systematic testing of one or more test cases.

use std::sync::Arc;
use std::time::{Duration, Instant};

use allways_driver::{Compilation, select, suite};
use allways_explore::{CheckOptions, Fairness, Report, ScheduleFairness, StrategyKind};
use allways_machine::Executable;
use allways_report::verdict::{self, Scope};
use allways_report::{check as check_report, text};
use allways_run::{NetworkOptions, StopReason, Verdict};

use super::distribute::{self, Beyond};
use super::files;
use super::foreign;
use super::load::{load, show_default_test};
use super::network;
use super::results::{Results, annotate, annotate_unknown, junit_case, show_explanation, show_page};
use super::show::{self, Shown};
use super::suite::{Asked, Ran};
use super::tested::report_of;
use crate::args::{CheckArgs, FairnessArg, Format};
use crate::exit::ExitStatus;
use crate::interrupt::{self, Stop};
use crate::printer;
use crate::progress::{Goal, ProgressLine};

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

/// Compiles. Shows what is wrong.
pub fn compile_project(args: &CheckArgs) -> Result<Compilation, ExitStatus> {
    load(&args.input, args.format.format, "check")
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
    let mut results = Results::new(args.format.format);
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
        if !results.keep(&report) {
            show(&compilation, &checked, &report, args);
        }
        files::named(files::write(
            &compilation,
            &checked,
            &report,
            args.files.outdir.as_deref(),
            args.format.format,
        ));
        write_html(&compilation, &checked, args, is_text);
        let case = junit_case(&compilation, &checked.name, &checked.report.verdict, checked.seconds);
        if !results.count(case, status_of(&checked.report)) {
            break;
        }
    }
    results.finish(&compilation, args.files.junit.as_deref())
}

/// Runs one test and shows what comes of it; writes no files.
pub fn test(compilation: &Compilation, test: usize, args: &CheckArgs) -> Result<Checked, ExitStatus> {
    let options = options(args).map_err(|_| ExitStatus::Internal)?;
    let network = args.network.options();
    let checked = run_test(compilation, test, &options, &network, timeout(args), true, &Beyond::default())?;
    show(compilation, &checked, &report_of(compilation, &checked, &options), args);
    Ok(checked)
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

fn timeout(args: &CheckArgs) -> Option<Duration> {
    args.timeout.map(Duration::from_secs)
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

pub fn status_of(report: &Report) -> ExitStatus {
    match (&report.verdict, &report.stopped) {
        (Verdict::Violated(_), _) => ExitStatus::Violated,
        (_, Some(StopReason::Interrupted)) => ExitStatus::Interrupted,
        (Verdict::Unknown(_), _) => ExitStatus::Inconclusive,
        (Verdict::Holds(_), _) => ExitStatus::Success,
    }
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
