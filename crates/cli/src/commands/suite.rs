//! `check --all`, `prove --all` and `quiesce --all`: every test with the verdict it is expected to give, as one table.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use allways_base::Severity;
use allways_driver::engine;
use allways_driver::suite::{self, Budget, Expectation, SuiteTest};
use allways_driver::{Compilation, select};
use allways_machine::Executable;
use allways_report::annotation::Annotation;
use allways_report::suite::{SuiteReport, TestReport};
use allways_report::text::count;
use allways_report::trace::Look;
use allways_report::verdict::{self, GuaranteeReport};
use allways_report::{check as check_report, json, junit, schedule_file};
use allways_run::{NetworkModel, NetworkOptions, Verdict};

use super::prove::memory_limit;
use super::replay::{self, Outlook};
use super::results::{annotate, annotate_unknown};
use super::tested::help_of;
use super::{files, quiesce};
use crate::args::{Format, NetworkArgs, QuiesceArgs};
use crate::exit::ExitStatus;
use crate::interrupt;
use crate::{annotations, printer};

/// What every command is asked.
pub struct Asked<'a> {
    pub command: &'static str,
    /// Test cases to run, by name or beginning of a name; all if there is none.
    pub names: &'a [String],
    pub format: Format,
    pub junit: Option<&'a Path>,
    /// Where the files of runs go.
    pub outdir: Option<&'a Path>,
    pub network: &'a NetworkArgs,
    /// Seconds for each test.
    pub timeout: Option<u64>,
    /// Gigabytes.
    pub memory: Option<f64>,
}

/// A test that was run.
pub struct Ran {
    pub exe: Arc<Executable>,
    pub verdict: Verdict,
    pub guarantee: Option<GuaranteeReport>,
    pub explanation: String,
    /// Of `prove`.
    pub engine: Option<&'static str>,
    /// How much was explored: so many of these.
    pub n: u64,
    pub unit: &'static str,
    pub seconds: f64,
    /// Where the files are.
    pub files: Option<PathBuf>,
}

/// Why a test could not be run.
pub enum Failure {
    /// The suite asks for something that does not exist.
    Suite(String),
    /// What is wrong has been shown.
    Shown(ExitStatus),
}

impl Failure {
    fn show(self) -> ExitStatus {
        match self {
            Failure::Suite(problem) => rejected(&format!("{}: {problem}", suite::FILE_NAME)),
            Failure::Shown(status) => status,
        }
    }
}

impl From<ExitStatus> for Failure {
    fn from(status: ExitStatus) -> Failure {
        Failure::Shown(status)
    }
}

impl From<String> for Failure {
    fn from(problem: String) -> Failure {
        Failure::Suite(problem)
    }
}

/// A row of the table.
struct Row {
    report: TestReport,
    seconds: f64,
    /// For CI, if it is not as expected.
    failure: junit::CaseResult,
}

/// Runs the tests that the suite names, or all, by `run_test`, which gets the test, its budget and its network.
pub fn run(
    asked: &Asked<'_>,
    compilation: &Compilation,
    mut run_test: impl FnMut(usize, &Budget, NetworkOptions) -> Result<Ran, Failure>,
) -> ExitStatus {
    run_all(asked, compilation, planned, |index, test, budget, network| {
        if test.expect.is_quiescence() {
            return quiescence(asked, None, compilation, index, test, budget, network);
        }
        let again = test.schedule.as_deref().map_or(Ok(None), |path| rerun(compilation, path, test))?;
        let ran = again.map_or_else(|| run_test(index, budget, network), Ok)?;
        // A violation counts also if the search for others was interrupted.
        if interrupt::is_interrupted() && !matches!(ran.verdict, Verdict::Violated(_)) {
            return Ok(None);
        }
        let Some(program) = &compilation.program else { return Ok(None) };
        Ok(Some(row_of(compilation, &program.tests[index].name, test, &ran)))
    })
}

/// Asks the tests of which the suite expects that their runs end, or do not; all tests, if it expects that of none.
pub fn run_quiescence(asked: &Asked<'_>, args: &QuiesceArgs, compilation: &Compilation) -> ExitStatus {
    run_all(asked, compilation, planned_quiescence, |index, test, budget, network| {
        quiescence(asked, Some(args), compilation, index, test, budget, network)
    })
}

/// What to run: the number of the test in the program, and what the suite says of it.
type Plan = Vec<(usize, SuiteTest)>;

/// Runs what is planned. `row` gives no row if it was interrupted.
fn run_all(
    asked: &Asked<'_>,
    compilation: &Compilation,
    plan: fn(&Asked<'_>, &Compilation, &suite::Suite) -> Result<Plan, String>,
    mut row: impl FnMut(usize, &SuiteTest, &Budget, NetworkOptions) -> Result<Option<Row>, Failure>,
) -> ExitStatus {
    let suite = match suite::load(&compilation.project.folder) {
        Ok(suite) => suite.unwrap_or_default(),
        Err(problem) => return rejected(&problem),
    };
    let tests = match plan(asked, compilation, &suite) {
        Ok(tests) => tests,
        Err(problem) => return rejected(&problem),
    };
    if tests.is_empty() {
        return rejected("there is no test case to run; `allways tests` lists those of the program");
    }
    interrupt::listen();
    let mut rows = Vec::new();
    for (index, test) in tests {
        let budget = test.budget.or(&suite.defaults);
        let row = network(asked.network, &budget)
            .map_err(Failure::Suite)
            .and_then(|network| row(index, &test, &budget, network));
        match row {
            Ok(Some(row)) => rows.push(row),
            Ok(None) => break,
            Err(failure) => return failure.show(),
        }
    }
    match asked.format {
        Format::Json => show_json(asked, compilation, &rows),
        _ => show_table(&rows),
    }
    if let Some(path) = asked.junit {
        let case = |row: &Row| junit::Case {
            name: row.report.test.clone(),
            seconds: row.seconds,
            result: if row.report.as_expected { junit::CaseResult::Passed } else { row.failure.clone() },
        };
        let cases: Vec<junit::Case> = rows.iter().map(case).collect();
        printer::file(path, &junit::render(&compilation.project.name, &cases));
    }
    status_of(&rows)
}

/// Runs the schedule of a test again, and says what it found if it breaks something. A schedule that does not fit the
/// program any more is named, and the test goes on without it.
fn rerun(compilation: &Compilation, path: &Path, test: &SuiteTest) -> Result<Option<Ran>, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("the schedule `{}` cannot be read: {error}", path.display()))?;
    let file = schedule_file::parse(&text)
        .map_err(|problem| format!("the schedule `{}`: {problem}", path.display()))?;
    if !file.test.starts_with(&test.name) {
        let (named, found) = (&test.name, &file.test);
        return Err(format!("the schedule `{}` is one of `{found}`, not of `{named}`", path.display()));
    }
    let start = Instant::now();
    let replayed = match replay::run_on(compilation, file) {
        Ok(replayed) => replayed,
        Err(problem) => {
            printer::err(&format!("{}: `{}`: {problem}\n", test.name, path.display()));
            return Ok(None);
        }
    };
    if replayed.verdict == Outlook::Holds {
        return Ok(None);
    }
    let what = match replayed.verdict {
        Outlook::Repeats => "the run repeats for ever".to_owned(),
        _ => replayed.counterexample.violation.text(compilation.sources()),
    };
    Ok(Some(Ran {
        exe: replayed.executable.clone(),
        verdict: Verdict::Violated(Box::new(replayed.counterexample)),
        guarantee: None,
        explanation: format!("`{}` fails again: {what}", path.display()),
        engine: None,
        n: 1,
        unit: "schedule",
        seconds: start.elapsed().as_secs_f64(),
        files: None,
    }))
}

/// The engine of a name, as suites write it.
pub fn engine_named(name: &str) -> Result<&'static str, Failure> {
    engine::known(name).ok_or_else(|| format!("there is no engine `{name}`").into())
}

fn rejected(problem: &str) -> ExitStatus {
    printer::err(&format!("{problem}\n"));
    ExitStatus::Rejected
}

/// The tests to run: those that the suite names, or all, which are then expected to hold.
fn planned(asked: &Asked<'_>, compilation: &Compilation, suite: &suite::Suite) -> Result<Plan, String> {
    if suite.tests.is_empty() {
        return Ok(every_test(asked, compilation, Expectation::Holds));
    }
    named(asked, compilation, suite.tests.iter())
}

/// The tests of which the suite expects that their runs end, or do not; or all, whose runs are then expected to end.
fn planned_quiescence(
    asked: &Asked<'_>,
    compilation: &Compilation,
    suite: &suite::Suite,
) -> Result<Plan, String> {
    let mut tests = suite.tests.iter().filter(|test| test.expect.is_quiescence()).peekable();
    if tests.peek().is_some() {
        return named(asked, compilation, tests);
    }
    let mut all = every_test(asked, compilation, Expectation::Quiesces);
    for (_, test) in &mut all {
        if let Some(of_suite) = suite.tests.iter().find(|of_suite| test.name.starts_with(&of_suite.name)) {
            test.budget = of_suite.budget.clone();
        }
    }
    Ok(all)
}

fn is_asked(asked: &Asked<'_>, name: &str) -> bool {
    asked.names.is_empty() || asked.names.iter().any(|asked| name.starts_with(asked))
}

fn every_test(asked: &Asked<'_>, compilation: &Compilation, expect: Expectation) -> Plan {
    let tests = compilation.program.iter().flat_map(|program| program.tests.iter().enumerate());
    let of_name = |name: &str| SuiteTest {
        name: name.to_owned(),
        expect,
        by: None,
        message: None,
        schedule: None,
        budget: Budget::default(),
    };
    let asked_for = tests.filter(|(_, test)| is_asked(asked, &test.name));
    asked_for.map(|(index, test)| (index, of_name(&test.name))).collect()
}

/// The test cases that entries of the suite mean.
fn named<'a>(
    asked: &Asked<'_>,
    compilation: &Compilation,
    entries: impl Iterator<Item = &'a SuiteTest>,
) -> Result<Plan, String> {
    let Some(program) = &compilation.program else { return Ok(Vec::new()) };
    let mut planned = Vec::new();
    for test in entries.filter(|test| is_asked(asked, &test.name)) {
        let found = select::select(program, Some(&test.name))
            .map_err(|error| format!("{}: {error}", suite::FILE_NAME))?;
        planned.extend(found.into_iter().map(|index| (index, test.clone())));
    }
    Ok(planned)
}

/// The network of a test: that of the command line, if one is given there.
fn network(args: &NetworkArgs, budget: &Budget) -> Result<NetworkOptions, String> {
    if args.is_given() {
        return Ok(args.options());
    }
    let model = match &budget.network {
        None => NetworkModel::Inbox,
        Some(name) => NetworkModel::named(name)
            .ok_or_else(|| format!("there is no network `{name}`; choose inbox, causal, fifo or bag"))?,
    };
    Ok(NetworkOptions {
        model,
        lossy: budget.lossy.clone().unwrap_or_default(),
        duplicating: budget.duplicating.clone().unwrap_or_default(),
        crash: budget.crash.clone().unwrap_or_default(),
    })
}

/// Compares what was found with what was expected. Says what differs, or what broke.
fn judge(compilation: &Compilation, test: &SuiteTest, ran: &Ran) -> (bool, String) {
    let sources = compilation.sources();
    match (test.expect, &ran.verdict) {
        (Expectation::Holds, Verdict::Holds(_)) => (true, String::new()),
        (Expectation::Violated, Verdict::Violated(counterexample)) => {
            let violation = &counterexample.violation;
            let monitor = violation.monitor.map(|monitor| ran.exe.monitor_name(monitor));
            let text = violation.text(sources);
            let is_by = |by: &str| by == violation.kind.as_str() || Some(by) == monitor;
            if let Some(by) = &test.by
                && !is_by(by)
            {
                (false, format!("violated by {}, not by {by}", violation.kind.as_str()))
            } else if let Some(message) = &test.message
                && !text.contains(message.as_str())
            {
                (false, format!("violated with another message: {text}"))
            } else {
                (true, violation.kind.as_str().to_owned())
            }
        }
        _ => (false, ran.explanation.clone()),
    }
}

fn row_of(compilation: &Compilation, name: &str, test: &SuiteTest, ran: &Ran) -> Row {
    let sources = compilation.sources();
    let (as_expected, detail) = judge(compilation, test, ran);
    let violation = match &ran.verdict {
        Verdict::Violated(counterexample) => Some(&counterexample.violation),
        Verdict::Holds(_) | Verdict::Unknown(_) => None,
    };
    let report = TestReport {
        test: name.to_owned(),
        expected: test.expect.as_str(),
        verdict: verdict::word(&ran.verdict),
        guarantee: ran.guarantee.clone(),
        as_expected,
        detail,
        kind: violation.map(|violation| violation.kind.as_str()),
        message: violation.map(|violation| violation.text(sources)),
        place: violation.and_then(|violation| violation.span).map(|span| sources.place(span)),
        engine: ran.engine,
        n_explored: ran.n,
        unit: format!("{}s", ran.unit),
        files: ran.files.as_ref().map(|path| path.display().to_string()),
    };
    let message = format!("expected {}, {}", report.expected, report.verdict);
    if !as_expected {
        match &ran.verdict {
            Verdict::Violated(counterexample) => annotate(compilation, name, counterexample),
            Verdict::Unknown(_) => annotate_unknown(name, &ran.explanation),
            Verdict::Holds(_) => annotate_unexpected(name, &message),
        }
    }
    let failure = match &ran.verdict {
        Verdict::Unknown(_) => junit::CaseResult::Error(format!("{message}: {}", report.detail)),
        Verdict::Holds(_) => junit::CaseResult::Failed(message, report.detail.clone()),
        Verdict::Violated(counterexample) => {
            let help = help_of(&ran.exe, &counterexample.violation);
            let look = Look { is_full: true, ..Look::PLAIN };
            let trace = check_report::render_counterexample(counterexample, help, sources, look);
            let text = counterexample.violation.text(sources);
            junit::CaseResult::Failed(format!("{message}: {text}"), trace)
        }
    };
    Row { report, seconds: ran.seconds, failure }
}

/// A test of which it is asked whether its runs end, by any command; `args` are those of `quiesce`.
fn quiescence(
    asked: &Asked<'_>,
    args: Option<&QuiesceArgs>,
    compilation: &Compilation,
    index: usize,
    test: &SuiteTest,
    budget: &Budget,
    network: NetworkOptions,
) -> Result<Option<Row>, Failure> {
    let mut stimuli = budget.stimuli.clone().unwrap_or_default();
    stimuli.extend(args.iter().flat_map(|args| args.stimulus.iter().cloned()));
    let engine = args.and_then(|args| args.engine.as_deref()).or(budget.engine.as_deref());
    let question = quiesce::Asked {
        is_fair: args.is_some_and(|args| args.fair) || budget.fair.unwrap_or(false),
        engine: quiesce::engine_named(engine),
        stimuli,
        network,
        timeout: asked.timeout.or(budget.timeout).map(Duration::from_secs),
        memory: memory_limit(asked.memory.or(budget.memory)),
        is_text: asked.format.is_text(),
    };
    let quiesced = quiesce::run_test(compilation, index, &question)?;
    if interrupt::is_interrupted() {
        return Ok(None);
    }
    let found = quiesce::report_of(compilation, &quiesced);
    let as_expected = found.verdict == test.expect.as_str();
    let files = files::named(quiesce::write_run(compilation, &quiesced, asked.outdir, Format::Json));
    let message = format!("expected {}, {}: {}", test.expect.as_str(), found.verdict, found.explanation);
    if !as_expected {
        annotate_unexpected(&quiesced.name, &message);
    }
    let failure = match found.verdict {
        "unknown" => junit::CaseResult::Error(message),
        _ => junit::CaseResult::Failed(message, quiesce::in_full(&found)),
    };
    let report = TestReport {
        test: quiesced.name,
        expected: test.expect.as_str(),
        verdict: found.verdict,
        guarantee: None,
        as_expected,
        detail: if as_expected { String::new() } else { found.explanation },
        kind: None,
        message: None,
        place: None,
        engine: None,
        n_explored: found.statistics.n_configurations,
        unit: "configurations".to_owned(),
        files: files.map(|path| path.display().to_string()),
    };
    Ok(Some(Row { report, seconds: quiesced.seconds, failure }))
}

/// Keeps a verdict that is not the expected one for other tools.
fn annotate_unexpected(test: &str, message: &str) {
    let message = format!("{test}: {message}");
    annotations::add(Annotation::general(Severity::Error, "unexpected-verdict", message));
}

fn show_json(asked: &Asked<'_>, compilation: &Compilation, rows: &[Row]) {
    let report = SuiteReport {
        version: json::VERSION,
        command: asked.command,
        project: &compilation.project.name,
        as_expected: rows.iter().all(|row| row.report.as_expected),
        tests: rows.iter().map(|row| &row.report).collect(),
    };
    printer::out(&json::to_text(&report));
}

fn show_table(rows: &[Row]) {
    let explored = |report: &TestReport| count(report.n_explored, report.unit.trim_end_matches('s'));
    let width = |text: &dyn Fn(&TestReport) -> usize, title: &str| {
        rows.iter().map(|row| text(&row.report)).max().unwrap_or(0).max(title.len())
    };
    let name_width = width(&|report| report.test.len(), "test");
    let explored_width = width(&|report| explored(report).len(), "explored");
    printer::out(&format!(
        "   {:<name_width$}  {:<8}  {:<8}  {:>explored_width$}  {:>9}\n",
        "test", "expected", "verdict", "explored", "time"
    ));
    for Row { report, seconds, .. } in rows {
        let mark = if report.as_expected { "ok" } else { "!!" };
        let line = format!(
            "{mark} {:<name_width$}  {:<8}  {:<8}  {:>explored_width$}  {seconds:>7.2} s  {}",
            report.test,
            report.expected,
            report.verdict,
            explored(report),
            report.detail
        );
        printer::out(&format!("{}\n", line.trim_end()));
    }
    for report in rows.iter().map(|row| &row.report) {
        if let Some(path) = &report.files {
            printer::detail(&format!("files of {}: {path}\n", report.test));
        }
    }
    let (n, n_wrong) = (rows.len(), rows.iter().filter(|row| !row.report.as_expected).count());
    match n_wrong {
        0 => printer::out(&format!("all {n} as expected\n")),
        n_wrong => printer::out(&format!("{n_wrong} of {n} not as expected\n")),
    }
}

/// A verdict that is not the expected one counts most, then one that is missing.
fn status_of(rows: &[Row]) -> ExitStatus {
    let mut wrong = rows.iter().map(|row| &row.report).filter(|report| !report.as_expected).peekable();
    if interrupt::is_interrupted() {
        ExitStatus::Interrupted
    } else if wrong.peek().is_none() {
        ExitStatus::Success
    } else if wrong.any(|report| report.verdict != "unknown") {
        ExitStatus::Violated
    } else {
        ExitStatus::Inconclusive
    }
}
