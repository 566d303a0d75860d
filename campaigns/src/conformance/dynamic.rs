//! Runs the programs of the P repository and compares the verdicts.
//!
//! The budget is that of P's own runner: 1,000 schedules with at most 1,000 steps. P runs its Liveness group with another
//! engine, which reads `$` as unfair and `$$` as fair, so that group runs with weak fairness.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use allways_base::Sources;
use allways_explore::{CheckOptions, Fairness, LivenessOptions, StrategyKind, TemperatureRule, check};
use allways_machine::Executable;
use allways_p::hir::Program;
use allways_run::{Quiet, StopReason, Verdict};

use super::{Score, compile, first_error, folders, projects_below, shown};

/// No directory may take longer.
const MAX_TIME: Duration = Duration::from_secs(10);

/// Programs that are not held to what their folder says.
const EXCEPTIONS: [(&str, &str); 4] = [
    (
        "Feature1SMLevelDecls/Correct/BugRepro",
        "P attaches no spec to a test that it makes up, so it passes there; its spec Safety can fail, as a comment in it says",
    ),
    (
        "Feature5ModuleSystem/Correct/Elevator",
        "only compiled by P: its runner leaves the group out, and a run reaches an unhandled event",
    ),
    (
        "Feature5ModuleSystem/Correct/ElevatorMod",
        "only compiled by P: its runner leaves the group out, and a run reaches an unhandled event",
    ),
    (
        "Feature5ModuleSystem/Correct/OSR",
        "only compiled by P: its runner leaves the group out, and a run reaches an unhandled event",
    ),
];

pub fn regression_scores(repo: &Path, seed: u64) -> Vec<Score> {
    let suite = repo.join("Tst/RegressionTests");
    let mut scores = Vec::new();
    for group in folders(&suite) {
        for kind in ["Correct", "DynamicError"] {
            let tests = folders(&group.join(kind));
            if tests.is_empty() {
                continue;
            }
            let mut score = Score::new(format!("run: {}/{kind}", shown(&group, &suite)));
            for test in tests {
                let name = shown(&test, &suite);
                let options = options_of(&name, seed);
                let exception = EXCEPTIONS.iter().find(|(exception, _)| *exception == name);
                let begun = Instant::now();
                let (found, text) = verdict(&test, &options);
                let elapsed = begun.elapsed();
                score.time(elapsed.as_secs_f64(), &name);
                if let Some((_, reason)) = exception {
                    score.exceptions.push(format!("{name}: {reason}; found: {text}"));
                    continue;
                }
                let expected = if kind == "Correct" { Found::Holds } else { Found::Violated };
                let is_right = found == expected && elapsed <= MAX_TIME;
                score.count(is_right, || format!("{name}: {text}, {:.1} s", elapsed.as_secs_f64()));
            }
            scores.push(score);
        }
    }
    scores
}

fn options_of(name: &str, seed: u64) -> CheckOptions {
    let base = CheckOptions {
        strategy: StrategyKind::Portfolio,
        seed,
        n_schedules: Some(1_000),
        fair_steps: Some(1_000),
        unfair_steps: Some(1_000),
        n_threads: n_threads(),
        shrink_steps: 0,
        ..CheckOptions::default()
    };
    if name.starts_with("Liveness/") {
        let liveness = LivenessOptions { fairness: Fairness::Weak, ..LivenessOptions::default() };
        CheckOptions { liveness, ..base }
    } else {
        // P's runner has the temperature rule off; certain violations need none.
        let liveness = LivenessOptions { temperature: TemperatureRule::Off, ..LivenessOptions::default() };
        CheckOptions { liveness, ..base }
    }
}

fn n_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    Holds,
    Violated,
    Neither,
}

/// Runs all tests of a directory; one that is violated decides.
fn verdict(path: &Path, options: &CheckOptions) -> (Found, String) {
    let compilation = compile(path);
    let Some(program) = &compilation.program else { return (Found::Neither, first_error(&compilation)) };
    if program.tests.is_empty() {
        return (Found::Neither, "no test".to_owned());
    }
    let deadline = Instant::now() + MAX_TIME;
    let mut all = (Found::Holds, "holds".to_owned());
    for test in 0..program.tests.len() {
        let (found, text) = verdict_of_test(program, test, compilation.sources(), options, deadline);
        match found {
            Found::Holds => {}
            Found::Violated => return (found, text),
            Found::Neither => all = (found, text),
        }
    }
    all
}

fn verdict_of_test(
    program: &Program,
    test: usize,
    sources: &Sources,
    options: &CheckOptions,
    deadline: Instant,
) -> (Found, String) {
    let exe = Arc::new(Executable::new(program, test));
    let cancel = || (Instant::now() > deadline).then_some(StopReason::Time(MAX_TIME));
    match check(&exe, options, &Quiet, &cancel) {
        Err(error) => (Found::Neither, format!("internal error: {error}")),
        Ok(report) => match &report.verdict {
            Verdict::Violated(found) => {
                let violation = &found.violation;
                (Found::Violated, format!("{}: {}", violation.kind.as_str(), violation.text(sources)))
            }
            Verdict::Unknown(reason) => (Found::Neither, format!("unknown: {reason:?}")),
            Verdict::Holds(_) if report.stopped.is_some() => {
                (Found::Neither, format!("stopped after {} schedules", report.statistics.n_schedules))
            }
            Verdict::Holds(_) => {
                (Found::Holds, format!("holds on {} schedules", report.statistics.n_schedules))
            }
        },
    }
}

/// The tests that fail when P's own integration runs the tutorials: all tests without an underscore in their name.
const FAILING: [&str; 3] = ["tcAbstractServer", "tcMultipleClientsNoFailure", "tcMultipleClientsWithFailure"];

pub fn tutorial_score(repo: &Path, seed: u64) -> Score {
    let mut score = Score::new("run: tutorials with the budget of P's integration");
    let start = Instant::now();
    for project in projects_below(&repo.join("Tutorial")) {
        let compilation = compile(&project);
        let Some(program) = &compilation.program else { continue };
        if compilation.project.for_verifier {
            continue;
        }
        let name = shown(&project, repo);
        let n_schedules = if name.contains("Raft") { 1_000 } else { 25_000 };
        for (test, def) in program.tests.iter().enumerate() {
            if def.name.contains('_') {
                continue;
            }
            // P's integration draws at random. Our portfolio starves machines too, and then finds a run in which the Raft
            // tutorial announces a leader so late that its monitor objects.
            let options = CheckOptions {
                strategy: StrategyKind::Random,
                seed,
                n_schedules: Some(n_schedules),
                n_threads: n_threads(),
                ..CheckOptions::default()
            };
            let begun = Instant::now();
            let deadline = begun + Duration::from_secs(600);
            let (found, text) = verdict_of_test(program, test, compilation.sources(), &options, deadline);
            let expected = if FAILING.contains(&def.name.as_str()) { Found::Violated } else { Found::Holds };
            println!("{:>8.1} s  {name} {}: {text}", begun.elapsed().as_secs_f64(), def.name);
            score.count(found == expected, || format!("{name} {}: {text}", def.name));
        }
    }
    println!("{:>8.1} s  all tutorials", start.elapsed().as_secs_f64());
    score
}
