//! How many scheduling decisions a second the testing engine makes on models that ship with Allways, and on models of large data.
//!
//! The baseline is one thread; the ratio is what two threads make of it. CPU seconds tell what a decision costs also
//! on a machine that does other things, where wall time says little.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use allways_driver::Request;
use allways_explore::{CheckOptions, Never, StrategyKind, check};
use allways_machine::Executable;
use allways_run::Quiet;

/// Path, test, and one in how many of the schedules are run: runs over large data are long.
const MODELS: [(&str, &str, u64); 7] = [
    ("models/bank", "OneSharedAccount", 1),
    ("models/two_phase_commit", "TwoWriters", 1),
    ("models/raft", "Three", 1),
    ("bench/models/gossip.p", "Gossip", 1_000),
    ("bench/models/records.p", "Records", 2_000),
    ("bench/models/reordering.p", "Reordering", 100),
    ("bench/models/succession.p", "Succession", 100),
];

/// Runs so many schedules of each model on one thread and on two.
pub fn run(n_schedules: u64) {
    println!(
        "{:<34} {:>7} {:>12} {:>14} {:>19} {:>14} {:>7} {:>9}",
        "test", "threads", "decisions", "per CPU s", "schedules per CPU s", "per second", "ratio", "peak MB"
    );
    for (model, test, share) in MODELS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(model);
        let compilation =
            allways_driver::compile(&Request { paths: vec![folder], ..Request::default() }, false);
        let Some(program) = &compilation.program else { panic!("{model} is a program") };
        let index =
            program.tests.iter().position(|found| found.name == test).expect("the model has the test");
        let executable = Arc::new(Executable::new(program, index));
        let mut baseline = None;
        for n_threads in [1, 2] {
            let options = CheckOptions {
                strategy: StrategyKind::Random,
                n_schedules: Some((n_schedules / share).max(1)),
                n_threads,
                ..CheckOptions::default()
            };
            let (start, cpu) = (Instant::now(), cpu_seconds());
            let report = check(&executable, &options, &Quiet, &Never).expect("what is found replays");
            let seconds = start.elapsed().as_secs_f64();
            let cpu = (cpu_seconds() - cpu).max(0.01);
            let n = report.statistics.n_choices as f64;
            let rate = n / seconds;
            let ratio = rate / *baseline.get_or_insert(rate);
            println!(
                "{:<34} {n_threads:>7} {n:>12.0} {:>14.0} {:>19.1} {rate:>14.0} {ratio:>7.2} {:>9.1}",
                format!("{model} {test}"),
                n / cpu,
                report.statistics.n_schedules as f64 / cpu,
                peak_megabytes()
            );
        }
    }
}

/// User and system time of this process, in hundredths of a second; zero where the system does not tell.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program is in parentheses and may hold anything.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn peak_megabytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|n| n.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}
