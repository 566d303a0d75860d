//! How fast the explicit-state search is, on the project's models.
//!
//! The baseline is a plain breadth-first search with snapshots of the kernel and a hash set of encoded
//! configurations. Time is processor time of this process, so that other work on the machine does not count.

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use allways_driver::Request;
use allways_explore::Never;
use allways_explore::search::{ProveOptions, ProveReport, Reductions, StoreKind, prove};
use allways_machine::{Executable, Kernel, Outcome, Script, Silent};
use allways_run::{Choice, Guarantee, Limits, NetworkModel, NetworkOptions, Quiet, StopReason, Verdict};

/// Model, test and network.
const RUNS: &[(&str, &str, NetworkModel)] = &[
    ("two_phase", "nParticipants_4__nTransactions_1", NetworkModel::Inbox),
    ("two_phase", "nParticipants_4__nTransactions_2", NetworkModel::Inbox),
    ("two_phase", "nParticipants_5__nTransactions_1", NetworkModel::Inbox),
    ("german", "nClients_3__nRequests_4", NetworkModel::Inbox),
    ("german", "nClients_3__nRequests_5", NetworkModel::Inbox),
    ("german", "nClients_3__nRequests_6", NetworkModel::Inbox),
    ("ring_election", "nNodes_7", NetworkModel::Inbox),
    ("ring_election", "nNodes_8", NetworkModel::Inbox),
    ("paxos", "nProposers_2__nAcceptors_3", NetworkModel::Inbox),
    ("paxos", "nProposers_3__nAcceptors_3", NetworkModel::Inbox),
    ("paxos_register", "nClients_2__nServers_3", NetworkModel::Bag),
    ("paxos_register", "nClients_3__nServers_3", NetworkModel::Bag),
    ("hybrid_clock", "nNodes_3__maxTime_3", NetworkModel::Inbox),
    ("hybrid_clock", "nNodes_3__maxTime_5", NetworkModel::Inbox),
    ("ben_or", "nNodes_3__nFaults_1__maxRound_2", NetworkModel::Inbox),
    ("ben_or_board", "nNodes_4__nFaults_1__maxRound_3", NetworkModel::Inbox),
];

/// One thread and two take turns, at least so often; and on, while that takes less than some seconds. What counts is the
/// mean, and of how much faster two are the median of neighbours: a machine that others use too is faster at one time than
/// at another.
const MIN_TURNS: usize = 3;
const MAX_TURNS: usize = 25;
const SECONDS: f64 = 12.0;

/// The baseline gives up there.
const MAX_PLAIN: usize = 200_000;

/// Runs all models, or those whose name and test contain the words.
pub fn run(words: &[&str]) {
    println!(
        "{:14} {:34} {:>10} {:>11} {:>6} {:>8} {:>6} {:>9} {:>9} {:>9} {:>7} {:>9} {:>8} {:>7} {:>7}",
        "model",
        "test",
        "configs",
        "transitions",
        "depth",
        "cells",
        "hits%",
        "print k/s",
        "exact k/s",
        "2 thr k/s",
        "2 thr x",
        "2 thr cpu",
        "plain k/s",
        "times",
        "B/conf"
    );
    for &(model, test, network) in RUNS {
        if !words.iter().all(|word| model.contains(word) || test.contains(word)) {
            continue;
        }
        let exe = load(model, test, network);
        // Confluent sends apply only over a network, where the search does not terminate without them.
        let reductions = Reductions { confluent_sends: true, ..Reductions::NONE };
        let turns = Turns::new(&exe, reductions);
        let Turns { print, two, .. } = &turns;
        let (exact, exact_cpu, _) = timed(|| search(&exe, StoreKind::Exact, 1, reductions));
        assert_eq!(print.statistics.n_configurations, exact.statistics.n_configurations);
        assert_eq!(print.statistics.n_configurations, two.statistics.n_configurations);
        assert!(matches!(exact.verdict, Verdict::Holds(Guarantee::Exhaustive)), "{:?}", exact.verdict);
        let (n_plain, plain_cpu, _) = timed(|| plain(&exe));
        let statistics = &print.statistics;
        let n = statistics.n_configurations as f64;
        let rate = |n: f64, seconds: f64| n / seconds.max(1e-3) / 1e3;
        let plain_rate = rate(n_plain as f64, plain_cpu);
        println!(
            "{model:14} {test:34} {:>10} {:>11} {:>6} {:>8} {:>6.2} {:>9.0} {:>9.0} {:>9.0} {:>7.2} {:>9.2} {:>8.0} {:>7.1} {:>7.1}",
            statistics.n_configurations,
            statistics.n_transitions,
            statistics.depth,
            statistics.n_local_states,
            100.0 * statistics.hit_rate(),
            rate(n, turns.print_cpu),
            rate(n, exact_cpu),
            rate(n, turns.two_wall),
            turns.ratio,
            turns.two_cpu / turns.print_cpu,
            plain_rate,
            rate(n, turns.print_cpu) / plain_rate,
            exact.statistics.bytes_per_configuration,
        );
    }
}

/// Searches by one thread and by two, in turn, with means of seconds.
struct Turns {
    print: ProveReport,
    two: ProveReport,
    print_cpu: f64,
    two_cpu: f64,
    two_wall: f64,
    /// How much faster two are.
    ratio: f64,
}

impl Turns {
    fn new(exe: &Arc<Executable>, reductions: Reductions) -> Self {
        let (mut print_cpu, mut two_cpu, mut two_wall) = (0.0, 0.0, 0.0);
        let mut ratios: Vec<f64> = Vec::new();
        let start = Instant::now();
        loop {
            let print = timed(|| search(exe, StoreKind::Fingerprint, 1, reductions));
            let two = timed(|| search(exe, StoreKind::Fingerprint, 2, reductions));
            print_cpu += print.1;
            two_cpu += two.1;
            two_wall += two.2;
            ratios.push(print.2 / two.2);
            let n = ratios.len();
            if n >= MAX_TURNS || n >= MIN_TURNS && start.elapsed().as_secs_f64() > SECONDS {
                ratios.sort_by(f64::total_cmp);
                let mean = |sum: f64| sum / n as f64;
                return Turns {
                    print: print.0,
                    two: two.0,
                    print_cpu: mean(print_cpu),
                    two_cpu: mean(two_cpu),
                    two_wall: mean(two_wall),
                    ratio: ratios[n / 2],
                };
            }
        }
    }
}

/// One search of one model, for a profiler.
pub fn run_one(model: &str, test: &str, store: &str, n_threads: &str) {
    let network = if model == "paxos_register" { NetworkModel::Bag } else { NetworkModel::Inbox };
    let exe = load(model, test, network);
    let mut reductions = if store.contains("whole") {
        Reductions::NONE
    } else if store.contains("reduced") {
        Reductions::default()
    } else {
        Reductions { confluent_sends: true, ..Reductions::NONE }
    };
    for name in Reductions::NAMES.into_iter().filter(|name| store.contains(name)) {
        reductions = Reductions::only(name).unwrap_or(reductions);
    }
    let kind = if store.contains("exact") { StoreKind::Exact } else { StoreKind::Fingerprint };
    let n_threads = n_threads.parse().unwrap_or(1);
    let options =
        ProveOptions { store: kind, n_threads, fairness: None, reductions, ..ProveOptions::default() };
    // To see what a reduction is worth where the search would not use it.
    let options = ProveOptions { probes: !store.contains("always"), ..options };
    let (report, cpu, wall) = timed(|| prove(&exe, &options, &Quiet, &Never).expect("what is found replays"));
    println!("{:#?}", report.statistics);
    println!("{cpu:.2} s of processor, {wall:.2} s");
    match &report.verdict {
        Verdict::Violated(found) => println!("violated: {}", found.violation.message),
        other => println!("{other:?}"),
    }
}

/// Every test of a project, with a limit of time for each: what is decided, and at what price.
pub fn run_project(path: &str, seconds: &str) {
    let limit = std::time::Duration::from_secs(seconds.parse().unwrap_or(60));
    let request = Request { paths: vec![PathBuf::from(path)], ..Request::default() };
    let compilation = allways_driver::compile(&request, false);
    let Some(program) = compilation.program else {
        println!("{path}: rejected, {} diagnostics", compilation.diagnostics.len());
        return;
    };
    for test in 0..program.tests.len() {
        let exe = Arc::new(Executable::new(&program, test));
        let start = Instant::now();
        let cancel = || (start.elapsed() > limit).then_some(StopReason::Time(limit));
        let limits = Limits { memory_bytes: Some(12 << 30), ..Limits::default() };
        let options = ProveOptions { n_threads: 2, limits, ..ProveOptions::default() };
        let (report, cpu, wall) = timed(|| prove(&exe, &options, &Quiet, &cancel));
        let name = PathBuf::from(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(report) = report else {
            println!("{name} {}: {report:?}", exe.test_name);
            continue;
        };
        let verdict = match &report.verdict {
            Verdict::Holds(_) => "holds".to_owned(),
            Verdict::Violated(found) => {
                format!("{} after {} steps", found.violation.kind.as_str(), found.schedule.n_steps())
            }
            Verdict::Unknown(reason) => format!("unknown {reason:?}"),
        };
        let statistics = &report.statistics;
        println!(
            "{name} {}: {verdict}; {} configurations, {} transitions, depth {}, {} cells, hits {:.1} %, {cpu:.1} s of processor, {wall:.1} s, {} MB",
            exe.test_name,
            statistics.n_configurations,
            statistics.n_transitions,
            statistics.depth,
            statistics.n_local_states,
            100.0 * statistics.hit_rate(),
            statistics.peak_bytes >> 20,
        );
    }
}

fn load(model: &str, test: &str, network: NetworkModel) -> Arc<Executable> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models").join(model);
    let request = Request { paths: vec![folder], ..Request::default() };
    let compilation = allways_driver::compile(&request, false);
    for diagnostic in &compilation.diagnostics {
        let place = diagnostic.primary.as_ref().map(|label| compilation.sources().place(label.span));
        eprintln!("{}: {}", place.unwrap_or_default(), diagnostic.message);
    }
    let program = compilation.program.expect("the model is accepted");
    let executables = (0..program.tests.len()).map(|test| Executable::new(&program, test));
    let mut names = Vec::new();
    for exe in executables {
        if exe.test_name.contains(test) {
            let options = NetworkOptions { model: network, ..NetworkOptions::default() };
            return Arc::new(exe.with_network(&options).expect("it names nothing"));
        }
        names.push(exe.test_name.clone());
    }
    panic!("no test {test} of {model}, but {names:?}");
}

fn search(exe: &Arc<Executable>, store: StoreKind, n_threads: usize, reductions: Reductions) -> ProveReport {
    let options = ProveOptions { store, n_threads, fairness: None, reductions, ..ProveOptions::default() };

    prove(exe, &options, &Quiet, &Never).expect("what is found replays")
}

/// The result, seconds of processor time and of the clock.
pub fn timed<T>(run: impl FnOnce() -> T) -> (T, f64, f64) {
    let (cpu, clock) = (cpu_seconds(), Instant::now());
    let result = run();
    (result, cpu_seconds() - cpu, clock.elapsed().as_secs_f64())
}

/// Processor time of this process so far, or of the clock where the system does not tell.
pub fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // User and system time are the 14th and 15th field, counted from before the name in parentheses.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// Between two looks at the processor time.
const LOOK_AFTER: Duration = Duration::from_millis(50);

/// A limit on the processor time of this process from now on, so that other processes do not change a table.
pub fn cpu_limit(limit: Duration) -> impl Fn() -> Option<StopReason> + Sync {
    let began = cpu_seconds();
    let next_look = Mutex::new(Instant::now());
    move || {
        let mut next_look = next_look.lock().ok()?;
        if Instant::now() < *next_look {
            return None;
        }
        *next_look = Instant::now() + LOOK_AFTER;
        (cpu_seconds() - began > limit.as_secs_f64()).then_some(StopReason::Time(limit))
    }
}

/// How many configurations the baseline saw.
fn plain(exe: &Arc<Executable>) -> usize {
    let mut kernel = Kernel::new(exe.clone(), Limits::default());
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mut open = VecDeque::from([kernel.save()]);
    while let Some(snapshot) = open.pop_front() {
        kernel.restore(&snapshot);
        let choices: Vec<Choice> = kernel.choices().collect();
        for choice in choices {
            let mut script = Script::default();
            loop {
                kernel.restore(&snapshot);
                kernel.take(choice, &mut script, &mut Silent).expect("it is enabled");
                let mut bytes = Vec::new();
                kernel.encode_whole(&mut bytes);
                if seen.insert(bytes) && matches!(kernel.outcome(), Outcome::Running) {
                    open.push_back(kernel.save());
                }
                if !script.advance() {
                    break;
                }
            }
        }
        if seen.len() > MAX_PLAIN {
            break;
        }
    }
    seen.len()
}
