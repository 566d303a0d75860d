//! Almost-synchronous proofs beside bounded search: the tables of the paper's evaluation, on the project's models.
//!
//! For every test of `models/almost_synchronous`: the almost-synchronous engine, with no bound on inboxes; then the
//! baseline, a search that puts a scheduling point at every send, without reductions, bounded in the
//! occurrences of an event in an inbox by the figure of the paper for that model; then the explicit engine with its reductions under the
//! same bound. Models that hold come first, those that break after them, as in the paper.
//!
//! Ratios are those of the other search to the almost-synchronous one. A search that did not end within its time has
//! `>` before its count and its ratios, which are then too small. Note what is compared: the bounded searches say nothing
//! about longer inboxes, but the explicit engine also finds deadlocks, which the almost-synchronous one cannot.
//! All times are processor time.
//!
//! `rules` compares the rules of the reduced system: the project's, the paper's with the project's choice of
//! destination sets, and the paper's with its own choice.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use allways_driver::{Request, suite};
use allways_explore::search::almost_sync::{self, AlmostSyncOptions, DestinationChoice, Rules};
use allways_explore::search::{ProveOptions, ProveReport, Reductions, SearchBounds, prove};
use allways_machine::Executable;
use allways_run::{Limits, Quiet, StopReason, Verdict};

use crate::search::{cpu_seconds, timed};

/// Model, and the paper's bound on the occurrences of one event in one inbox; small programs have none there.
const OCCURRENCES: &[(&str, u32)] = &[
    ("elevator", 2),
    ("switch_board", 2),
    ("truck_lifts", 2),
    ("time_sync", 4),
    ("german", 3),
    ("usb_stack", 3),
    ("scenarios", 2),
];
const MEMORY: u64 = 6 << 30;

/// A test to run.
pub struct Subject {
    pub model: String,
    pub exe: Arc<Executable>,
    pub expected: suite::Expectation,
}

/// Both tables, of all tests whose model or name contains the words, each engine for at most so many seconds.
pub fn run(seconds: u64, words: &[&str]) {
    let subjects = subjects(words);
    let is_right = |subject: &&Subject| subject.expected == suite::Expectation::Holds;
    println!(
        "Models that hold: proved without a bound, and searched under the paper's bound on occurrences of an event"
    );
    table(subjects.iter().filter(is_right), seconds);
    println!();
    println!("Models that break: until the first violation");
    table(subjects.iter().filter(|subject| !is_right(subject)), seconds);
}

fn table<'a>(subjects: impl Iterator<Item = &'a Subject>, seconds: u64) {
    println!(
        "{:64} | {:5} {:>11} {:>7} {:>7} {:>7} | {:>11} {:>7} {:>7} {:>7}",
        "almost-synchronous", "bound", "baseline", "s", "states", "time", "explicit", "s", "states", "time"
    );
    println!("{:12} {:22} {:8} {:>9} {:>7} {:>5}", "model", "test", "verdict", "states", "s", "inbox");
    for subject in subjects {
        line(subject, seconds);
    }
}

fn line(subject: &Subject, seconds: u64) {
    let Subject { model, exe, expected } = subject;
    let (almost, almost_cpu) = almost(exe, DestinationChoice::LeastWaiting, Rules::Lean, seconds);
    let occurrences = OCCURRENCES.iter().find(|(name, _)| name == model).map_or(2, |&(_, bound)| bound);
    let verdict = match (&almost.verdict, expected) {
        (Verdict::Unknown(_), _) => "unknown",
        (Verdict::Holds(_), suite::Expectation::Holds) => "proved",
        (Verdict::Violated(_), suite::Expectation::Violated) => "violated",
        (Verdict::Holds(_) | Verdict::Violated(_), _) => "WRONG",
    };
    print!(
        "{model:12} {:22} {verdict:8} {:>9} {almost_cpu:>7.2} {:>5} | {occurrences:>5}",
        short(&exe.test_name),
        count(&almost),
        almost.statistics.largest_inbox,
    );
    for reductions in [Reductions::NONE, Reductions::default()] {
        let (found, cpu, _) = timed(|| {
            let bounds = SearchBounds { occurrences: Some(occurrences), ..SearchBounds::default() };
            let options = ProveOptions {
                bounds,
                reductions,
                limits: limits(),
                fairness: None,
                ..ProveOptions::default()
            };
            prove(exe, &options, &Quiet, &until(seconds)).expect("what is found replays")
        });
        let sign = sign(&found);
        let states =
            found.statistics.n_configurations as f64 / almost.statistics.n_configurations.max(1) as f64;
        // Below the resolution of the clock there is no ratio.
        let time = if almost_cpu < 0.05 { "-".to_owned() } else { format!("{sign}{:.1}", cpu / almost_cpu) };
        print!(" {:>11} {cpu:>7.2} {:>7} {time:>7} |", count(&found), format!("{sign}{states:.1}"));
    }
    println!();
}

/// How much the rules matter.
pub fn rules(seconds: u64, words: &[&str]) {
    println!(
        "{:35} | {:>10} {:>7} {:>5} | {:>10} {:>7} {:>5} {:>6} | {:>10} {:>7} {:>5} {:>6}",
        "states, seconds, largest inbox",
        "lean",
        "",
        "",
        "paper's",
        "",
        "",
        "times",
        "canonical",
        "",
        "",
        "times"
    );
    for Subject { model, exe, .. } in subjects(words) {
        print!("{model:12} {:22}", short(&exe.test_name));
        let mut first = None;
        for (choice, rules) in [
            (DestinationChoice::LeastWaiting, Rules::Lean),
            (DestinationChoice::LeastWaiting, Rules::Paper),
            (DestinationChoice::Canonical, Rules::Paper),
        ] {
            let (found, cpu) = almost(&exe, choice, rules, seconds);
            let n_states = found.statistics.n_configurations as f64;
            print!(" | {:>10} {cpu:>7.2} {:>5}", count(&found), found.statistics.largest_inbox);
            match first {
                None => first = Some(n_states),
                Some(lean) => print!(" {:>6}", format!("{}{:.1}", sign(&found), n_states / lean)),
            }
        }
        println!();
    }
}

pub fn subjects(words: &[&str]) -> Vec<Subject> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models/almost_synchronous");
    let mut models: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the models are there")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.is_dir())
        .collect();
    models.sort();
    models.iter().flat_map(|model| subjects_of(model, words)).collect()
}

fn subjects_of(folder: &Path, words: &[&str]) -> Vec<Subject> {
    let model = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let suite = suite::load(folder).ok().flatten().unwrap_or_default();
    let request = Request { paths: vec![folder.to_owned()], ..Request::default() };
    let program = allways_driver::compile(&request, false).program.expect("the model is accepted");
    (0..program.tests.len())
        .map(|test| Arc::new(Executable::new(&program, test)))
        .filter(|exe| words.iter().all(|word| model.contains(word) || exe.test_name.contains(word)))
        .map(|exe| {
            let known = suite.tests.iter().find(|test| exe.test_name.starts_with(&test.name));
            let expected = known.map_or(suite::Expectation::Holds, |test| test.expect);
            Subject { model: model.clone(), exe, expected }
        })
        .collect()
}

fn almost(
    exe: &Arc<Executable>,
    choice: DestinationChoice,
    rules: Rules,
    seconds: u64,
) -> (ProveReport, f64) {
    let (report, cpu, _) = timed(|| {
        let options = AlmostSyncOptions { choice, rules, limits: limits(), ..AlmostSyncOptions::default() };
        almost_sync::prove(exe, &options, &Quiet, &until(seconds)).expect("what is found replays").report
    });
    (report, cpu)
}

pub fn limits() -> Limits {
    Limits { memory_bytes: Some(MEMORY), ..Limits::default() }
}

/// The name of a test with the values of its parameters alone.
pub fn short(name: &str) -> String {
    let (test, parameters) = name.split_once("___").unwrap_or((name, ""));
    let values: Vec<&str> = parameters.split("__").filter_map(|part| part.rsplit('_').next()).collect();
    format!("{test} {}", values.join(" "))
}

fn sign(report: &ProveReport) -> &'static str {
    if matches!(report.verdict, Verdict::Unknown(_)) { ">" } else { "" }
}

fn count(report: &ProveReport) -> String {
    format!("{}{}", sign(report), report.statistics.n_configurations)
}

/// Until so much processor time has gone by.
pub fn until(seconds: u64) -> impl Fn() -> Option<StopReason> + Sync {
    let start = cpu_seconds();
    move || (cpu_seconds() - start > seconds as f64).then_some(StopReason::Time(Duration::from_secs(seconds)))
}
