//! `allways prove`: a proof, or a counterexample, by the engines of the driver.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use allways_driver::abstraction::{self, AbstractEntry};
use allways_driver::engine::{self, Algorithm, Answer, BestSoFar, Budget, Effort, Means, Question, Settings};
use allways_driver::{Compilation, select};
use allways_explore::almost_sync::{AlmostSyncOptions, DestinationChoice, FloodRule, Rules, certify};
use allways_explore::search::{ProveOptions, Reductions, StoreKind, VariableBounds};
use allways_explore::symbolic::{FilterNames, Split, SymbolicOptions};
use allways_explore::{CheckOptions, InternalError};
use allways_machine::Executable;
use allways_report::verdict::{self, Scope};
use allways_report::{check as check_report, prove as prove_report, text};
use allways_run::{Cancel as _, Guarantee, NetworkModel, NetworkOptions, StopReason, Verdict};

use super::load::{load_with, show_default_test};
use super::reductions::{self, reductions};
use super::results::{Results, annotate, annotate_unknown, junit_case, show_explanation, show_page};
use super::show::{self, Shown};
use super::suite::{self, Ran};
use super::{answers, distribute, files, foreign, network};
use crate::args::{
    AlgorithmArg, DestinationArg, FilterArg, Format, OrderArg, ProveArgs, ProveFairnessArg, SplitArg,
    StoreArg,
};
use crate::exit::ExitStatus;
use crate::interrupt::{self, Stop};
use crate::overdue;
use crate::printer;
use crate::progress::{Goal, ProgressLine};

/// What is asked about a test, besides the arguments: a suite may say it for each.
struct Ask<'a> {
    args: &'a ProveArgs,
    engine: &'static str,
    network: NetworkOptions,
    timeout: Option<Duration>,
    memory: Option<u64>,
    seed: u64,
}

impl<'a> Ask<'a> {
    fn of(args: &'a ProveArgs) -> Self {
        Ask {
            args,
            engine: args.engine(),
            network: args.network.options(),
            timeout: args.timeout.map(Duration::from_secs),
            memory: memory_limit(args.memory),
            seed: 0,
        }
    }
}

/// Answers one test and shows its verdict in one line.
pub fn headline(compilation: &Compilation, test: usize, args: &ProveArgs) -> Result<Verdict, ExitStatus> {
    let proved = run_test(compilation, test, &Ask::of(args))?;
    let figures = prove_report::render_statistics(&proved.report, false);
    let figures = figures.lines().next().unwrap_or_default().trim_start_matches("..... ");
    let headline = verdict::headline(&proved.answer.verdict, Scope::default());
    printer::out(&format!("{}: {headline} ({figures})\n", proved.name));
    Ok(proved.answer.verdict)
}

/// One test case with its answer.
struct Proved {
    name: String,
    /// The report is that of another process.
    is_helper: bool,
    /// Why processes that work together could not go on.
    failure: Option<String>,
    question: Question,
    answer: Answer,
    report: prove_report::ProveReport,
    seconds: f64,
}

pub fn prove(args: &ProveArgs) -> ExitStatus {
    let invariants = args.symbolic.invariant.clone();
    let compilation = match load_with(&args.input, invariants, args.format.format, "prove") {
        Ok(compilation) => compilation,
        Err(status) => return status,
    };
    let Some(program) = &compilation.program else { return ExitStatus::Rejected };
    let tests = match args.all {
        true => Ok(Vec::new()),
        false => select::select_all(program, &args.tests.testcase),
    };
    let tests = match tests {
        Ok(tests) => tests,
        Err(error) => {
            printer::err(&format!("{error}\n"));
            return ExitStatus::Rejected;
        }
    };
    if let Some(problem) = wrong_use(args, tests.len()).or_else(|| reductions::wrong_use(args)) {
        printer::err(&format!("{problem}\n"));
        return ExitStatus::Rejected;
    }
    for note in reductions::notes(args) {
        printer::note(&format!("{note}\n"));
    }
    interrupt::listen();
    if args.all {
        return prove_all(args, &compilation);
    }
    let ask = Ask::of(args);
    let mut results = Results::new(args.format.format);
    for test in tests {
        let mut proved = match run_test(&compilation, test, &ask) {
            Ok(proved) => proved,
            Err(status) => return status,
        };
        if let Some(status) = distribute::status_without_report(proved.failure.as_deref(), proved.is_helper) {
            return status;
        }
        match &proved.answer.verdict {
            Verdict::Violated(counterexample) => annotate(&compilation, &proved.name, counterexample),
            Verdict::Unknown(_) => annotate_unknown(&proved.name, &proved.report.answer.explanation),
            Verdict::Holds(_) => {}
        }
        if !results.keep(&proved.report) {
            show(&compilation, &mut proved, args);
        }
        write_files(&compilation, &proved, args, args.format.format);
        let case = junit_case(&compilation, &proved.name, &proved.answer.verdict, proved.seconds);
        if !results.count(case, status_of(&proved.answer)) {
            break;
        }
    }
    results.finish(&compilation, args.files.junit.as_deref())
}

/// Every test, with the verdict that `allways.toml` expects of it.
fn prove_all(args: &ProveArgs, compilation: &Compilation) -> ExitStatus {
    let asked = suite::Asked {
        command: "prove",
        names: &args.tests.testcase,
        format: args.format.format,
        junit: args.files.junit.as_deref(),
        outdir: args.files.outdir.as_deref(),
        network: &args.network,
        timeout: args.timeout,
        memory: args.memory,
    };
    suite::run(&asked, compilation, |test, budget, network| {
        let engine = match (&args.engine, &budget.engine) {
            (Some(_), _) => args.engine(),
            (None, Some(engine)) => suite::engine_named(engine)?,
            (None, None) => engine::AUTO,
        };
        let ask = Ask {
            args,
            engine,
            network,
            timeout: args.timeout.or(budget.timeout).map(Duration::from_secs),
            memory: memory_limit(args.memory.or(budget.memory)),
            seed: budget.seed.unwrap_or(0),
        };
        let proved = run_test(compilation, test, &ask)?;
        let files = write_files(compilation, &proved, args, Format::Json);
        let answer = &proved.answer;
        let (n, unit) = match (&answer.figures.search, &answer.figures.testing, &answer.figures.more[..]) {
            (Some(search), ..) if answer.engine == engine::ALMOST_SYNC => (search.n_configurations, "state"),
            (Some(search), ..) => (search.n_configurations, "configuration"),
            (None, Some(testing), _) => (testing.n_schedules, "schedule"),
            (None, None, [first, ..]) => (first.n, first.unit.trim_end_matches('s')),
            (None, None, []) => (0, "configuration"),
        };
        Ok(Ran {
            exe: proved.question.exe.clone(),
            verdict: answer.verdict.clone(),
            guarantee: proved.report.answer.guarantee.clone(),
            explanation: proved.report.answer.explanation.clone(),
            engine: Some(answer.engine),
            n,
            unit,
            seconds: proved.seconds,
            files,
        })
    })
}

/// Answers one test case; a fault of ours is shown and ends the command.
fn run_test(compilation: &Compilation, test: usize, ask: &Ask<'_>) -> Result<Proved, ExitStatus> {
    let args = ask.args;
    let Some(program) = &compilation.program else { return Err(ExitStatus::Rejected) };
    let name = program.tests[test].name.clone();
    let exe = network::executable(program, test, &ask.network)?;
    let mut options = options(args);
    let bounds = args.max_value.iter().map(|(name, most)| (name.as_str(), *most));
    options.bounds.variables = VariableBounds::named(&exe, bounds).map_err(|problem| {
        printer::err(&format!("--max-value: {problem}\n"));
        ExitStatus::Rejected
    })?;
    options.limits.memory_bytes = ask.memory;
    let beyond = match args.is_distributed() || args.distribute.spill.is_some() {
        true => {
            let belongs = distribute::belongs_to_proof(compilation, &name, &ask.network, &options);
            distribute::open(&args.distribute, &belongs)?
        }
        false => distribute::Beyond::default(),
    };
    (options.peers, options.checkpoint) = (beyond.peers(), beyond.checkpoints());
    options.spill = beyond.spill();
    let mut question = Question {
        exe,
        bounds: options.bounds,
        max_choices: options.max_choices,
        fairness: options.fairness,
        limits: options.limits,
    };
    let settings = Settings {
        explicit: options.clone(),
        almost_sync: almost_sync_options(args),
        symbolic: SymbolicOptions {
            search: options.clone(),
            shortest: args.symbolic.shortest,
            finds_invariants: args.symbolic.show_invariants,
            split: match args.symbolic.split {
                SplitArg::Large => Split::Large,
                SplitArg::Never => Split::Never,
                SplitArg::Always => Split::Always,
            },
            filters: filters(compilation, args, &question.exe)?,
            checks_filters: args.symbolic.check_filters,
            ..SymbolicOptions::default()
        },
        symbolic_algorithm: match args.symbolic.algorithm {
            AlgorithmArg::Sets => Algorithm::Sets,
            AlgorithmArg::Paper => Algorithm::Paper,
        },
        testing: CheckOptions { seed: ask.seed, ..CheckOptions::default() },
    };
    let budget = Budget { n_threads: options.n_threads, memory_bytes: ask.memory, effort: Effort::Whole };
    let goal = Goal { n_schedules: None, seconds: ask.timeout.map(|limit| limit.as_secs()) };
    let is_shown = args.format.format.is_text() && !beyond.is_helper();
    let progress = Arc::new(ProgressLine::with_goal(&name, is_shown, goal));
    let start = Instant::now();
    let stop = Arc::new(Stop::after(ask.timeout).or_beyond(ask.memory));
    let mut spurious = None;
    let found = match args.is_abstract {
        false => answer_in_time(ask.engine, &question, settings, budget, &progress, &stop),
        true => {
            let types = abstract_types(compilation)?;
            let found = abstraction::answer(
                program,
                test,
                &ask.network,
                &types,
                ask.engine,
                &question,
                &settings,
                Means { budget, observer: &*progress, cancel: &*stop },
            );
            match found {
                Ok(found) => {
                    question.exe = found.exe;
                    question.fairness = None;
                    spurious = found.spurious;
                    Ok(found.answer)
                }
                Err(abstraction::Failure::Internal(error)) => Err(error),
                Err(other) => {
                    progress.finish();
                    return Err(no_abstraction(compilation, other));
                }
            }
        }
    };
    progress.finish();
    let failure = beyond.close().err();
    if let Some(mesh) = beyond.mesh.as_ref().filter(|_| !beyond.is_helper()) {
        printer::figures(&format!("..... sent {} bytes to other processes\n", mesh.n_sent()));
    }
    if let Some(spare) = beyond.spare.as_ref().filter(|spare| spare.n_written() > 0) {
        printer::figures(&format!("..... on disk: {} MB\n", spare.n_written() >> 20));
    }
    if let Some(layer) = beyond.folder.as_ref().and_then(|folder| folder.resumed())
        && !beyond.is_helper()
    {
        printer::note(&format!("... went on from layer {layer} of the checkpoint\n"));
    }
    let answer = found.map_err(|error| {
        printer::err(&format!("internal error in test case `{name}`: {error}\nplease report this\n"));
        ExitStatus::Internal
    })?;
    if let Some((_, Answer { verdict: Verdict::Violated(counterexample), .. })) = &spurious
        && args.format.format.is_text()
    {
        let look = printer::look(args.full_trace);
        let text = check_report::render_counterexample(counterexample, None, compilation.sources(), look);
        printer::note(&format!(
            "a violating run of the abstract program, which the program itself may not have:\n{text}\n"
        ));
    }
    let seconds = start.elapsed().as_secs_f64();
    let unchecked = answers::unchecked(&question, &answer);
    let scope = Scope { variables: &args.max_value, unchecked: &unchecked };
    let mut report = answers::report_of(compilation, &question, &name, &answer, scope);
    if let Some(symbolic) = &mut report.symbolic {
        symbolic.shows_order = args.symbolic.show_order;
    }
    if let Verdict::Violated(counterexample) = &answer.verdict {
        report.order_note =
            network::prove_in_order(program, test, &ask.network, &options, counterexample, &*stop);
    }
    // What was found counts, whatever became of the others since.
    let failure = failure.filter(|_| matches!(answer.verdict, Verdict::Unknown(_)));
    Ok(Proved { name, is_helper: beyond.is_helper(), failure, question, answer, report, seconds })
}

/// The answer of an engine, or what is known when it does not heed the limits.
fn answer_in_time(
    engine: &'static str,
    question: &Question,
    settings: Settings,
    budget: Budget,
    progress: &Arc<ProgressLine>,
    stop: &Arc<Stop>,
) -> Result<Answer, InternalError> {
    let best = Arc::new(BestSoFar::default());
    let work = {
        let (question, progress, stop, best) =
            (question.clone(), progress.clone(), stop.clone(), best.clone());
        move || {
            let means = Means { budget, observer: &*progress, cancel: &*stop };
            engine::answer_step_by_step(engine, &question, &settings, means, &best)
        }
    };
    overdue::run(stop, work).unwrap_or_else(|| {
        let best = best.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Testing alone says less than that the limit was reached.
        let best = best.filter(|best| !matches!(best.verdict, Verdict::Holds(Guarantee::Sampled { .. })));
        Ok(best.unwrap_or_else(|| {
            let reason = stop.reason().unwrap_or(StopReason::Interrupted);
            Answer::new(engine, Verdict::Unknown(reason))
        }))
    })
}

/// The filters that were asked for, with what `allways.toml` says of the program.
fn filters(compilation: &Compilation, args: &ProveArgs, exe: &Executable) -> Result<FilterNames, ExitStatus> {
    let asked = &args.symbolic.filters;
    if asked.is_empty() {
        return Ok(FilterNames::default());
    }
    let suite = allways_driver::suite::load(&compilation.project.folder).map_err(|problem| {
        printer::err(&format!("{problem}\n"));
        ExitStatus::Rejected
    })?;
    let said = suite.map(|suite| suite.filters).unwrap_or_default();
    let has = |filter| asked.contains(&filter);
    let is_paper = args.symbolic.algorithm == AlgorithmArg::Paper;
    let all = has(FilterArg::All);
    let is_fifo = args.network.options().model == NetworkModel::Fifo;
    let names = FilterNames {
        send_order: has(FilterArg::SendOrder) || all && is_paper && is_fifo,
        monotonic: has(FilterArg::Monotonic) || all && is_paper,
        left_movers: if has(FilterArg::LeftMovers) || all { said.left_movers } else { Vec::new() },
        symmetric: if has(FilterArg::Symmetry) || all && is_paper { said.symmetric } else { Vec::new() },
    };
    let lacks = [
        (FilterArg::LeftMovers, "left-movers", names.left_movers.is_empty()),
        (FilterArg::Symmetry, "symmetric", names.symmetric.is_empty()),
    ];
    let problem = match lacks.into_iter().find(|&(filter, _, is_empty)| is_empty && has(filter)) {
        Some((_, key, _)) => Some(format!("`{key}` is missing below `[filters]` in `allways.toml`")),
        None => names.resolve(exe).err(),
    };
    match problem {
        None => Ok(names),
        Some(problem) => {
            printer::err(&format!("--filters: {problem}\n"));
            Err(ExitStatus::Rejected)
        }
    }
}

/// The types that `allways.toml` declares abstract; none is a mistake.
fn abstract_types(compilation: &Compilation) -> Result<Vec<AbstractEntry>, ExitStatus> {
    let problem = match allways_driver::suite::load(&compilation.project.folder) {
        Ok(Some(suite)) if !suite.abstract_types.is_empty() => return Ok(suite.abstract_types),
        Ok(_) => "--abstract needs an `[[abstract]]` section in `allways.toml`".to_owned(),
        Err(problem) => problem,
    };
    printer::err(&format!("{problem}\n"));
    Err(ExitStatus::Rejected)
}

fn no_abstraction(compilation: &Compilation, failure: abstraction::Failure) -> ExitStatus {
    match failure {
        abstraction::Failure::Problems(problems) => {
            let sources = compilation.sources();
            for problem in problems {
                let place = problem.span.map(|span| format!("{}: ", sources.place(span)));
                printer::err(&format!("--abstract: {}{}\n", place.unwrap_or_default(), problem.message));
            }
        }
        abstraction::Failure::Network(error) => printer::err(&format!("{error}\n")),
        abstraction::Failure::Internal(error) => printer::err(&format!("internal error: {error}\n")),
    }
    ExitStatus::Rejected
}

/// Writes certificate and counterexample. Says where the latter went.
fn write_files(
    compilation: &Compilation,
    proved: &Proved,
    args: &ProveArgs,
    format: Format,
) -> Option<std::path::PathBuf> {
    let answer = &proved.answer;
    if let Some(file) = &args.almost_sync.certificate {
        let label = files::program_fingerprint(compilation);
        match answer.certificate.as_ref().map(|text| certify::with_program(text, &label)) {
            None => printer::err(&format!("no certificate for `{}`: there is no proof\n", proved.name)),
            Some(text) if printer::file(file, &text) => {
                printer::err(&format!("... {} bytes of certificate in {}\n", text.len(), file.display()));
            }
            Some(_) => {}
        }
    }
    let Verdict::Violated(counterexample) = &answer.verdict else { return None };
    let exe = &proved.question.exe;
    let outdir = args.files.outdir.as_deref();
    if let Some(folder) = args.files.html.as_deref() {
        let project = &compilation.project.name;
        let shown =
            Shown { folder, project, test: &proved.name, number: 0, is_reported: format == Format::Text };
        show::write_html(&shown, exe, counterexample, compilation.sources());
    }
    files::named(files::write_counterexample(
        compilation,
        exe,
        &proved.name,
        counterexample,
        answer.engine,
        outdir,
        format,
    ))
}

fn options(args: &ProveArgs) -> ProveOptions {
    let mut options = ProveOptions {
        order: args.order(),
        store: match args.store {
            StoreArg::Fingerprint => StoreKind::Fingerprint,
            StoreArg::Wide => StoreKind::Wide,
            StoreArg::Exact => StoreKind::Exact,
        },
        fairness: args.fairness(),
        n_threads: args
            .threads
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        ..ProveOptions::default()
    };
    options.reductions = reductions(args);
    options.bounds.depth = args.max_depth;
    options.bounds.inbox = args.max_inbox;
    options.bounds.occurrences = args.max_occurrences;
    options.max_choices = args.max_choices;
    options
}

/// Options that the engine does not have must not be dropped in silence.
fn wrong_use(args: &ProveArgs, n_tests: usize) -> Option<String> {
    if args.distribute.spill.is_some() {
        let problems = [
            (args.all || n_tests != 1, "--spill is for one test case: choose it with --testcase"),
            (args.engine() != engine::EXPLICIT, "--spill is for `--engine explicit`"),
            (args.order != OrderArg::Breadth, "--spill is for `--order breadth`"),
            (
                args.store == StoreArg::Exact,
                "--spill keeps fingerprints: choose `--store fingerprint` or `--store wide`",
            ),
            (args.is_distributed(), "--spill is for one process without checkpoints"),
            (args.is_abstract, "--abstract does not go with --spill"),
        ];
        if let Some((_, problem)) = problems.into_iter().find(|(is_wrong, _)| *is_wrong) {
            return Some(problem.to_owned());
        }
    }
    if args.is_distributed() {
        let problems = [
            (
                args.all || n_tests != 1,
                "--checkpoint and --cluster work on one test case: choose it with --testcase",
            ),
            (args.engine() != engine::EXPLICIT, "--checkpoint and --cluster need `--engine explicit`"),
            (args.order != OrderArg::Breadth, "--checkpoint and --cluster need `--order breadth`"),
            (
                args.distribute.checkpoint.is_some() && args.store == StoreArg::Exact,
                "--checkpoint keeps fingerprints: choose `--store fingerprint` or `--store wide`",
            ),
        ];
        if let Some((_, problem)) = problems.into_iter().find(|(is_wrong, _)| *is_wrong) {
            return Some(problem.to_owned());
        }
    }
    if args.almost_sync.certificate.is_some()
        && (args.engine() != engine::ALMOST_SYNC || args.all || n_tests > 1)
    {
        return Some("--certificate needs `--engine asi` and one test case".to_owned());
    }
    if (args.symbolic.shortest || args.symbolic.show_order) && args.engine() != engine::SYMBOLIC {
        return Some("--shortest and --show-order need `--engine symbolic`".to_owned());
    }
    if args.is_abstract && args.is_distributed() {
        return Some("--abstract needs one process without checkpoints".to_owned());
    }
    if !args.symbolic.invariant.is_empty() {
        let problem = match () {
            () if args.is_abstract => "--invariant does not go with --abstract",
            () if args.is_distributed() => "--invariant needs one process without checkpoints",
            () if ![engine::SYMBOLIC, engine::AUTO].contains(&args.engine()) => {
                "--invariant needs `--engine symbolic`"
            }
            () if args.symbolic.algorithm == AlgorithmArg::Paper => "--invariant needs `--symbolic sets`",
            () => "",
        };
        if !problem.is_empty() {
            return Some(problem.to_owned());
        }
    }
    if !args.symbolic.filters.is_empty() && args.engine() != engine::SYMBOLIC {
        return Some("--filters needs `--engine symbolic`".to_owned());
    }
    if args.symbolic.check_filters && args.symbolic.filters.is_empty() {
        return Some("--check-filters needs --filters".to_owned());
    }
    if args.symbolic.algorithm == AlgorithmArg::Paper && args.engine() != engine::SYMBOLIC {
        return Some("--symbolic needs `--engine symbolic`".to_owned());
    }
    if args.engine() == engine::SYMBOLIC {
        let given =
            [("--store", args.store != StoreArg::Fingerprint), ("--order", args.order != OrderArg::Breadth)];
        let (name, _) = given.into_iter().find(|(_, given)| *given)?;
        return Some(format!("{name} needs `--engine explicit`: the symbolic engine keeps exact sets"));
    }
    if args.engine() == engine::EXPLICIT {
        let given = [
            ("--no-sleep-sets", args.almost_sync.no_sleep_sets),
            ("--destination", args.almost_sync.destination != DestinationArg::LeastWaiting),
            ("--flood", args.almost_sync.flood != FloodRule::Auto),
            ("--max-states", args.almost_sync.max_states.is_some()),
        ];
        let (name, _) = given.into_iter().find(|(_, given)| *given)?;
        return Some(format!("{name} needs `--engine asi`"));
    }
    if args.engine() != engine::ALMOST_SYNC {
        return None;
    }
    if args.store != StoreArg::Fingerprint {
        return Some("--store needs `--engine explicit`: the almost-synchronous engine is exact".to_owned());
    }
    if args.fairness == ProveFairnessArg::Weak {
        return Some(
            "--fairness needs `--engine explicit`: the almost-synchronous engine does not check liveness"
                .to_owned(),
        );
    }
    let given = [
        ("--max-depth", args.max_depth.is_some()),
        ("--max-inbox", args.max_inbox.is_some()),
        ("--max-occurrences", args.max_occurrences.is_some()),
        ("--max-choices", args.max_choices.is_some()),
        ("--max-value", !args.max_value.is_empty()),
        ("--order", args.order != OrderArg::Breadth),
    ];
    let (name, _) = given.into_iter().find(|(_, given)| *given)?;
    Some(format!(
        "{name} needs `--engine explicit`: the almost-synchronous engine needs no bounds and has an order of its own"
    ))
}

fn almost_sync_options(args: &ProveArgs) -> AlmostSyncOptions {
    let reductions = reductions(args);
    AlmostSyncOptions {
        choice: match args.almost_sync.destination {
            DestinationArg::LeastWaiting => DestinationChoice::LeastWaiting,
            DestinationArg::Canonical => DestinationChoice::Canonical,
        },
        // The canonical choice is the paper's, and so are the rules that go with it.
        sleep: args.almost_sync.destination == DestinationArg::LeastWaiting
            && !args.almost_sync.no_sleep_sets
            && reductions != Reductions::NONE,
        rules: match args.almost_sync.destination {
            DestinationArg::LeastWaiting => Rules::Lean,
            DestinationArg::Canonical => Rules::Paper,
        },
        flood: args.almost_sync.flood,
        certificate: args.almost_sync.certificate.is_some(),
        max_states: args.almost_sync.max_states,
        data_independence: reductions.data_independence,
        simplify: reductions.simplify(),
        ..AlmostSyncOptions::default()
    }
}

/// Bytes that a search may use, by the gigabytes that were given.
pub fn memory_limit(gigabytes: Option<f64>) -> Option<u64> {
    gigabytes.map(|gigabytes| (gigabytes * (1u64 << 30) as f64) as u64).or_else(available_memory)
}

/// Four fifths of the memory that is free now, where the system tells.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024 / 5 * 4)
}

fn show(compilation: &Compilation, proved: &mut Proved, args: &ProveArgs) {
    // What a verdict with filters is worth belongs to it.
    let compared =
        if args.symbolic.filters.is_empty() { Vec::new() } else { std::mem::take(&mut proved.report.notes) };
    let Proved { question, answer: found, report, seconds, .. } = proved;
    let unchecked = answers::unchecked(question, found);
    let scope = Scope { variables: &args.max_value, unchecked: &unchecked };
    show_default_test(compilation, &report.head.test);
    let (headline, words) =
        (verdict::headline(&found.verdict, scope), network::words(&args.network.options()));
    printer::out(&format!("{}: {headline}{words}\n", report.head.test));
    for sentence in compared {
        printer::out(&format!("{sentence}\n"));
    }
    match &found.verdict {
        Verdict::Violated(counterexample) => {
            let text = check_report::render_counterexample(
                counterexample,
                report.violation.as_ref().and_then(|violation| violation.help.clone()),
                compilation.sources(),
                printer::look(args.full_trace),
            );
            printer::out(&format!("\n{text}\n"));
            show_page(&counterexample.violation);
            for note in report.order_note.iter().chain(&foreign::note(compilation, &found.verdict)) {
                printer::detail(&format!("{note}\n"));
            }
        }
        Verdict::Holds(_) | Verdict::Unknown(_) => {
            show_explanation(&found.verdict, &report.answer.explanation);
            if let Some(note) = verdict::note(&found.verdict) {
                printer::detail(&format!("note: {note}\n"));
            }
            printer::detail(&prove_report::render_growth(&report.growth));
            printer::detail(&prove_report::render_wide_choice(report.wide_choice.as_ref()));
            if printer::is_verbose() && matches!(found.verdict, Verdict::Unknown(_)) {
                printer::detail(&reductions::kept_counters(&question.exe, compilation.sources(), args));
            }
        }
    }
    printer::detail(&prove_report::render_statistics(report, printer::is_verbose()));
    // These depend on the number of threads and on the clock.
    if let Some(testing) = &found.figures.testing {
        printer::figures(&format!("..... schedules: {}\n", text::rate(testing.n_schedules, *seconds)));
    }
    if let Some(statistics) = &found.figures.search {
        if found.figures.symbolic.is_none() {
            let rate = text::rate(statistics.n_configurations, *seconds);
            // In a small store most of the room is free, and a figure for each would say nothing.
            let each = match statistics.n_configurations {
                0..10_000 => String::new(),
                _ => format!(", {:.1} bytes each", statistics.bytes_per_configuration),
            };
            let hits = statistics.hit_rate() * 100.0;
            printer::figures(&format!("..... configurations: {rate}{each}, memo hit rate {hits:.2} %\n"));
        }
        printer::figures(&format!("..... memory: {} MB\n", statistics.peak_bytes >> 20));
    }
    printer::note(&format!("... Elapsed {seconds:.2} sec\n"));
}

fn status_of(found: &Answer) -> ExitStatus {
    match (&found.verdict, &found.stopped) {
        (Verdict::Violated(_), _) => ExitStatus::Violated,
        (_, Some(StopReason::Interrupted)) | (Verdict::Unknown(StopReason::Interrupted), _) => {
            ExitStatus::Interrupted
        }
        (Verdict::Unknown(_) | Verdict::Holds(Guarantee::Sampled { .. }), _) => ExitStatus::Inconclusive,
        (Verdict::Holds(_), _) => ExitStatus::Success,
    }
}
