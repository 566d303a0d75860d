//! `allways check --all`: every test with the verdict it is expected to give, as one table.

use std::time::Duration;

use allways_driver::suite::{self, Expectation, SuiteTest};
use allways_driver::{Compilation, select};
use allways_explore::CheckOptions;
use allways_report::{check as check_report, json, junit};
use allways_run::{NetworkModel, NetworkOptions, Verdict};

use super::check::{self, Checked};
use super::files;
use crate::args::{CheckArgs, Format};
use crate::exit::ExitStatus;
use crate::interrupt;
use crate::printer;

/// A test of the suite and how it went.
struct Row {
    name: String,
    expected: String,
    verdict: String,
    is_expected: bool,
    detail: String,
    n_schedules: u64,
    seconds: f64,
}

pub fn run(args: &CheckArgs, compilation: &Compilation) -> ExitStatus {
    let suite = match suite::load(&compilation.project.folder) {
        Ok(suite) => suite.unwrap_or_default(),
        Err(problem) => return rejected(&problem),
    };
    let Some(program) = &compilation.program else { return ExitStatus::Rejected };
    let tests = match planned(args, compilation, &suite) {
        Ok(tests) => tests,
        Err(problem) => return rejected(&problem),
    };
    if tests.is_empty() {
        return rejected("there is no test case to run");
    }
    interrupt::listen();
    let mut rows = Vec::new();
    for (index, test) in tests {
        let (options, timeout) = match budget(args, &suite, &test) {
            Ok(budget) => budget,
            Err(problem) => return rejected(&problem),
        };
        let network = match network(args, &suite, &test) {
            Ok(network) => network,
            Err(problem) => return rejected(&problem),
        };
        let is_text = args.format == Format::Text;
        let checked = match check::run_test(compilation, index, &options, &network, timeout, is_text) {
            Ok(checked) => checked,
            Err(status) => return status,
        };
        if interrupt::is_interrupted() {
            break;
        }
        let report = check::report_of(compilation, &checked, &options);
        if let Err(problem) =
            files::write(compilation, &checked, &report, args.outdir.as_deref(), Format::Json)
        {
            return rejected(&problem);
        }
        rows.push(judge(compilation, &test, &checked, &program.tests[index].name));
    }
    show(args, compilation, &rows)
}

fn rejected(problem: &str) -> ExitStatus {
    printer::err(&format!("{problem}\n"));
    ExitStatus::Rejected
}

/// The tests to run: those that the suite names, or all, which are then expected to hold.
fn planned(
    args: &CheckArgs,
    compilation: &Compilation,
    suite: &suite::Suite,
) -> Result<Vec<(usize, SuiteTest)>, String> {
    let Some(program) = &compilation.program else { return Ok(Vec::new()) };
    let prefix = args.testcase.as_deref().unwrap_or("");
    if suite.tests.is_empty() {
        let all = program.tests.iter().enumerate().filter(|(_, test)| test.name.starts_with(prefix));
        return Ok(all.map(|(index, test)| (index, expected_to_hold(&test.name))).collect());
    }
    let mut planned = Vec::new();
    for test in suite.tests.iter().filter(|test| test.name.starts_with(prefix)) {
        let found = select::select(program, Some(&test.name))
            .map_err(|error| format!("{}: {error}", suite::FILE_NAME))?;
        planned.extend(found.into_iter().map(|index| (index, test.clone())));
    }
    Ok(planned)
}

fn expected_to_hold(name: &str) -> SuiteTest {
    SuiteTest {
        name: name.to_owned(),
        expect: Expectation::Holds,
        by: None,
        message: None,
        budget: suite::Budget::default(),
    }
}

/// Options of the command line where they were given, of the suite elsewhere.
fn budget(
    args: &CheckArgs,
    suite: &suite::Suite,
    test: &SuiteTest,
) -> Result<(CheckOptions, Option<Duration>), String> {
    let mut options = check::options(args)?;
    let budget = test.budget.or(&suite.defaults);
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
        options.unfair_steps = Some(steps);
        options.fair_steps = Some(steps.saturating_mul(10));
    }
    if let Some(seed) = budget.seed
        && args.seed == 0
    {
        options.seed = seed;
    }
    if let Some(name) = &budget.strategy
        && !args.strategies.is_given()
    {
        options.strategy = check::strategy_named(name, budget.strategy_bound)
            .ok_or_else(|| format!("{}: there is no strategy `{name}`", suite::FILE_NAME))?;
    }
    Ok((options, timeout))
}

/// The network of a test: that of the command line, if one is given there.
fn network(args: &CheckArgs, suite: &suite::Suite, test: &SuiteTest) -> Result<NetworkOptions, String> {
    if args.network.is_given() {
        return Ok(args.network.options());
    }
    let budget = test.budget.or(&suite.defaults);
    let model = match &budget.network {
        None => NetworkModel::Inbox,
        Some(name) => NetworkModel::named(name).ok_or_else(|| {
            format!("{}: there is no network `{name}`; inbox, causal, fifo and bag are", suite::FILE_NAME)
        })?,
    };
    Ok(NetworkOptions {
        model,
        lossy: budget.lossy.unwrap_or_default(),
        duplicating: budget.duplicating.unwrap_or_default(),
        crash: budget.crash.unwrap_or_default(),
    })
}

/// Compares what came out with what was expected.
fn judge(compilation: &Compilation, test: &SuiteTest, checked: &Checked, name: &str) -> Row {
    let sources = compilation.sources();
    let verdict = &checked.report.verdict;
    let (is_expected, detail) = match (test.expect, verdict) {
        (Expectation::Holds, Verdict::Holds(_)) => (true, String::new()),
        (Expectation::Violated, Verdict::Violated(counterexample)) => {
            let violation = &counterexample.violation;
            let monitor = violation.monitor.map(|monitor| checked.executable.monitor_name(monitor));
            let text = violation.text(sources);
            let is_by = |by: &str| by == violation.kind.as_str() || Some(by) == monitor;
            if let Some(by) = &test.by
                && !is_by(by)
            {
                (false, format!("broken by {}, not by {by}", violation.kind.as_str()))
            } else if let Some(message) = &test.message
                && !text.contains(message.as_str())
            {
                (false, format!("broken by another message: {text}"))
            } else {
                (true, violation.kind.as_str().to_owned())
            }
        }
        _ => (false, check_report::explain_verdict(verdict, sources)),
    };
    Row {
        name: name.to_owned(),
        expected: match test.expect {
            Expectation::Holds => "holds".to_owned(),
            Expectation::Violated => "violated".to_owned(),
        },
        verdict: check_report::verdict_word(verdict).to_owned(),
        is_expected,
        detail,
        n_schedules: checked.report.statistics.n_schedules,
        seconds: checked.seconds,
    }
}

fn show(args: &CheckArgs, compilation: &Compilation, rows: &[Row]) -> ExitStatus {
    let n_wrong = rows.iter().filter(|row| !row.is_expected).count();
    match args.format {
        Format::Json => {
            let tests: Vec<_> = rows
                .iter()
                .map(|row| {
                    serde_json::json!({
                        "test": row.name, "expected": row.expected, "verdict": row.verdict,
                        "asExpected": row.is_expected, "detail": row.detail, "nSchedules": row.n_schedules,
                    })
                })
                .collect();
            let project = &compilation.project.name;
            printer::out(&json::to_text(&serde_json::json!({
                "version": json::VERSION, "command": "check", "project": project,
                "asExpected": n_wrong == 0, "tests": tests,
            })));
        }
        Format::Text => {
            let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0).max(4);
            printer::out(&format!(
                "   {:<width$}  {:<9} {:<9} {:>10}\n",
                "test", "expected", "verdict", "schedules"
            ));
            for row in rows {
                let mark = if row.is_expected { "ok" } else { "!!" };
                let line = format!(
                    "{mark} {:<width$}  {:<9} {:<9} {:>10}  {}",
                    row.name, row.expected, row.verdict, row.n_schedules, row.detail
                );
                printer::out(&format!("{}\n", line.trim_end()));
            }
            let n = rows.len();
            match n_wrong {
                0 => printer::out(&format!("all {n} as expected\n")),
                n_wrong => printer::out(&format!("{n_wrong} of {n} not as expected\n")),
            }
        }
    }
    if let Some(path) = &args.junit {
        let cases: Vec<junit::Case> = rows
            .iter()
            .map(|row| junit::Case {
                name: row.name.clone(),
                seconds: row.seconds,
                result: if row.is_expected {
                    junit::CaseResult::Passed
                } else {
                    let message = format!("expected {}, {}", row.expected, row.verdict);
                    junit::CaseResult::Failed(message, row.detail.clone())
                },
            })
            .collect();
        if let Err(error) = std::fs::write(path, junit::render(&compilation.project.name, &cases)) {
            return rejected(&format!("`{}` cannot be written: {error}", path.display()));
        }
    }
    if interrupt::is_interrupted() {
        return ExitStatus::Interrupted;
    }
    if n_wrong == 0 { ExitStatus::Success } else { ExitStatus::Violated }
}
