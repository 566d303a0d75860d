//! Almost-synchronous proofs beside bounded search: the tables of the paper's evaluation, on the project's models.
//!
//! For every test of `models/almost_synchronous`: the almost-synchronous engine, with no bound on inboxes; then the
//! baseline, a search that puts a scheduling point at every send, without reductions, bounded in the
//! occurrences of an event in an inbox; then the explicit engine with its reductions under the same bound. The ratio is
//! that of configurations to states. A search that does not end within its time has a `>` before its count.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use allways_driver::{Request, suite};
use allways_explore::search::almost_sync::{self, AlmostSyncOptions};
use allways_explore::search::{ProveOptions, ProveReport, Reductions, SearchBounds, prove};
use allways_machine::Executable;
use allways_run::{Limits, Quiet, StopReason, Verdict};

use crate::search::timed;

/// Occurrences of one event in one inbox, for the bounded searches.
const OCCURRENCES: u32 = 1;
const MEMORY: u64 = 6 << 30;

/// Runs all tests whose model or name contains the words, each engine for at most so many seconds.
pub fn run(seconds: u64, words: &[&str]) {
    let limit = Duration::from_secs(seconds);
    println!(
        "{:14} {:36} {:9} {:>10} {:>7} {:>5} | {:>11} {:>7} {:>7} | {:>11} {:>7} {:>7}",
        "model", "test", "asi", "states", "s", "inbox", "baseline", "s", "times", "explicit", "s", "times"
    );
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models/almost_synchronous");
    let mut models: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the models are there")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.is_dir())
        .collect();
    models.sort();
    for model in models {
        run_model(&model, limit, words);
    }
}

fn run_model(folder: &Path, limit: Duration, words: &[&str]) {
    let model = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let suite = suite::load(folder).ok().flatten().unwrap_or_default();
    let request = Request { paths: vec![folder.to_owned()], ..Request::default() };
    let program = allways_driver::compile(&request, false).program.expect("the model is accepted");
    for test in 0..program.tests.len() {
        let exe = Arc::new(Executable::new(&program, test));
        let name = &exe.test_name;
        if !words.iter().all(|word| model.contains(word) || name.contains(word)) {
            continue;
        }
        let expected = suite
            .tests
            .iter()
            .find(|test| name.starts_with(&test.name))
            .map_or(suite::Expectation::Holds, |test| test.expect);
        let limits = Limits { memory_bytes: Some(MEMORY), ..Limits::default() };
        let (almost, almost_cpu, _) = timed(|| {
            let options = AlmostSyncOptions { limits, ..AlmostSyncOptions::default() };
            almost_sync::prove(&exe, &options, &Quiet, &until(limit)).expect("what is found replays").report
        });
        let bounded = |reductions| {
            timed(|| {
                let bounds = SearchBounds { occurrences: Some(OCCURRENCES), ..SearchBounds::default() };
                let options =
                    ProveOptions { bounds, reductions, limits, fairness: None, ..ProveOptions::default() };
                prove(&exe, &options, &Quiet, &until(limit)).expect("what is found replays")
            })
        };
        let (baseline, baseline_cpu, _) = bounded(Reductions::NONE);
        let (explicit, explicit_cpu, _) = bounded(Reductions::default());
        let verdict = match (&almost.verdict, expected) {
            (Verdict::Unknown(_), _) => "unknown",
            (Verdict::Holds(_), suite::Expectation::Holds) => "proved",
            (Verdict::Violated(_), suite::Expectation::Violated) => "violated",
            (Verdict::Holds(_) | Verdict::Violated(_), _) => "UNEXPECTED",
        };
        let n_states = almost.statistics.n_configurations.max(1) as f64;
        let times = |other: &ProveReport| other.statistics.n_configurations as f64 / n_states;
        let short = name.replace("___", " ").replace("__", " ");
        println!(
            "{model:14} {short:36} {verdict:9} {:>10} {almost_cpu:>7.2} {:>5} | {:>11} {baseline_cpu:>7.2} {:>7.1} | {:>11} {explicit_cpu:>7.2} {:>7.1}",
            count(&almost),
            almost.statistics.largest_inbox,
            count(&baseline),
            times(&baseline),
            count(&explicit),
            times(&explicit),
        );
    }
}

fn count(report: &ProveReport) -> String {
    let sign = if matches!(report.verdict, Verdict::Unknown(_)) { ">" } else { "" };
    format!("{sign}{}", report.statistics.n_configurations)
}

fn until(limit: Duration) -> impl Fn() -> Option<StopReason> + Sync {
    let start = Instant::now();
    move || (start.elapsed() > limit).then_some(StopReason::Time(limit))
}
