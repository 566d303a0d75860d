//! Symbolic exploration: how time grows with the number of machines, and what split levels are worth.
//!
//! Each line runs the symbolic and the explicit engine in the same process, each within a limit of processor time, and prints that
//! time, the memory that the engine counts, and the ratio. The tables of the PSYM paper are in `psym`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use allways_driver::Request;
use allways_driver::engine::{self, Answer, Budget, Effort, Means, Question, Settings};
use allways_explore::symbolic::Split;
use allways_machine::Executable;
use allways_run::{Quiet, Verdict};

use crate::figure_9::{Series, plot};
use crate::search::{cpu_limit, timed};

/// Families of tests: the model, part of the names of its tests, the parameter that grows and what people call it.
const GROWTH: &[(&str, &str, &str, &str)] = &[
    ("bench/models/commit_with_timer", "tcCommit", "nParticipants_", "participants"),
    ("bench/models/last_zero", "tcLastZero", "n_", "writers"),
    ("bench/models/rings", "tcRings", "nNodes_", "nodes of a ring"),
    ("models/german", "nRequests_2", "nClients_", "clients"),
    ("models/paxos", "nAcceptors_3", "nProposers_", "proposers"),
];

/// Models with a machine or monitor of which hardly any local state occurs twice.
const SPLIT: &[&str] = &[
    "bench/models/history",
    "bench/models/audit",
    "bench/models/fan_in",
    "bench/models/peers",
    "bench/models/worker_pool",
];

const MEMORY: u64 = 8 << 30;

/// The repository, wherever the bench is run.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The tests of a model of which the name contains a word.
fn tests(model: &str, word: &str) -> Vec<Arc<Executable>> {
    let request = Request { paths: vec![root().join(model)], ..Request::default() };
    let compilation = allways_driver::compile(&request, false);
    let Some(program) = compilation.program else {
        eprintln!("{model}: rejected");
        return Vec::new();
    };
    (0..program.tests.len())
        .map(|test| Arc::new(Executable::new(&program, test)))
        .filter(|exe| exe.test_name.contains(word))
        .collect()
}

struct Run {
    answer: Answer,
    cpu: f64,
}

fn run_engine(exe: &Arc<Executable>, name: &str, limit: Duration) -> Option<Run> {
    run_with(exe, name, &Settings::default(), limit)
}

fn run_with(exe: &Arc<Executable>, name: &str, settings: &Settings, limit: Duration) -> Option<Run> {
    let cancel = cpu_limit(limit);
    let budget = Budget { n_threads: 1, memory_bytes: Some(MEMORY), effort: Effort::Whole };
    let means = Means { budget, observer: &Quiet, cancel: &cancel };
    let question = Question::new(exe.clone());
    let (answer, cpu, _) = timed(|| engine::answer(name, &question, settings, means));
    match answer {
        Ok(answer) => Some(Run { answer, cpu }),
        Err(error) => {
            eprintln!("{}: internal error: {error}", exe.test_name);
            None
        }
    }
}

fn is_decided(answer: &Answer) -> bool {
    !matches!(answer.verdict, Verdict::Unknown(_))
}

/// What both engines did on a test.
#[derive(Default)]
struct Compared {
    /// Their verdicts do not contradict each other.
    agree: bool,
    /// CPU seconds of symbolic and of explicit search, if they decided.
    seconds: [Option<f64>; 2],
}

/// Runs both engines on a test, and prints one line.
fn compare(label: &str, exe: &Arc<Executable>, limit: Duration) -> Compared {
    let (Some(symbolic), Some(explicit)) =
        (run_engine(exe, engine::SYMBOLIC, limit), run_engine(exe, engine::EXPLICIT, limit))
    else {
        return Compared::default();
    };
    let figures = symbolic.answer.figures.symbolic.clone().unwrap_or_default();
    let megabytes = |run: &Run| run.answer.figures.search.map_or(0, |search| search.peak_bytes >> 20);
    let seconds = |run: &Run| match is_decided(&run.answer) {
        true => format!("{:.2}", run.cpu),
        false => format!("> {:.0}", run.cpu),
    };
    let ratio = match (is_decided(&symbolic.answer), is_decided(&explicit.answer)) {
        (true, true) => format!("{:.2}", symbolic.cpu.max(0.01) / explicit.cpu.max(0.01)),
        (true, false) => format!("< {:.2}", symbolic.cpu.max(0.01) / explicit.cpu.max(0.01)),
        (false, true) => format!("> {:.1}", symbolic.cpu.max(0.01) / explicit.cpu.max(0.01)),
        (false, false) => "-".to_owned(),
    };
    let count = figures.configurations.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string);
    println!(
        "{label:42} {count:>12} {:>9} {:>8} {:>9} {:>8} {:>5} {:>9} {:>6} {ratio:>8}",
        figures.n_handler_runs,
        figures.peak_nodes,
        seconds(&symbolic),
        seconds(&explicit),
        figures.n_slots,
        figures.most_local_states,
        megabytes(&symbolic),
    );
    let verdicts = [&symbolic.answer.verdict, &explicit.answer.verdict];
    let agree = match verdicts {
        [Verdict::Unknown(_), _] | [_, Verdict::Unknown(_)] => true,
        [Verdict::Holds(_), Verdict::Holds(_)] | [Verdict::Violated(_), Verdict::Violated(_)] => true,
        [a, b] => {
            eprintln!("{label}: the engines differ: {a:?}, {b:?}");
            false
        }
    };
    let seconds = [&symbolic, &explicit].map(|run| is_decided(&run.answer).then_some(run.cpu));
    Compared { agree, seconds }
}

fn header() {
    println!(
        "{:42} {:>12} {:>9} {:>8} {:>9} {:>8} {:>5} {:>9} {:>6} {:>8}",
        "model", "configs", "runs", "nodes", "symb. s", "expl. s", "slots", "locals", "MB", "s/e"
    );
}

/// The value of a parameter in the name of a test.
fn parameter(test: &str, name: &str) -> Option<u32> {
    let (_, rest) = test.rsplit_once(name)?;
    rest.split('_').next()?.parse().ok()
}

/// How figures grow: a line for each test of the families, and a plot of each family.
pub fn growth(limit: Duration, words: &[&str]) -> bool {
    header();
    let mut agree = true;
    for (model, word, name, number) in GROWTH {
        if !words.iter().all(|word| model.contains(word)) {
            continue;
        }
        let series = |name, colour| Series { name, colour, is_baseline: false, points: Vec::new() };
        let mut all = [series("symbolic", "#1b6ca8"), series("explicit", "#b8420f")];
        let mut max = 0;
        for exe in tests(model, word) {
            let Compared { agree: agrees, seconds } = compare(&exe.test_name, &exe, limit);
            agree &= agrees;
            let Some(n) = parameter(&exe.test_name, name) else { continue };
            max = max.max(n);
            for (series, seconds) in all.iter_mut().zip(seconds) {
                series.points.extend(seconds.map(|seconds| (n, seconds)));
            }
        }
        let family = model.rsplit('/').next().unwrap_or(model);
        let out = root().join("target").join(format!("growth-{family}.svg"));
        match std::fs::write(&out, plot(&all, max, number)) {
            Ok(()) => println!("plot: {}", out.display()),
            Err(error) => {
                println!("cannot write {}: {error}", out.display());
                agree = false;
            }
        }
    }
    agree
}

/// Whole local states against split ones, and against explicit search.
pub fn split(limit: Duration, words: &[&str]) -> bool {
    println!(
        "{:34} {:>8} {:>12} {:>10} {:>9} {:>9} {:>7} {:>9} {:>6}",
        "test", "engine", "configs", "runs", "nodes", "locals", "levels", "cpu s", "MB"
    );
    let mut agree = true;
    for model in SPLIT {
        for exe in tests(model, "").iter().filter(|exe| words.iter().all(|word| exe.test_name.contains(word)))
        {
            let mut verdicts = Vec::new();
            for (name, split) in [
                ("whole", Some(Split::Never)),
                ("large", Some(Split::Large)),
                ("all", Some(Split::Always)),
                ("explicit", None),
            ] {
                let mut settings = Settings::default();
                settings.symbolic.split = split.unwrap_or_default();
                let engine = if split.is_some() { engine::SYMBOLIC } else { engine::EXPLICIT };
                let Some(run) = run_with(exe, engine, &settings, limit) else { return false };
                let figures = run.answer.figures.symbolic.clone().unwrap_or_default();
                let search = run.answer.figures.search;
                let count = match &figures.configurations {
                    Some(count) => count.to_string(),
                    None if split.is_some() => "?".to_owned(),
                    None => search.map_or(0, |search| search.n_configurations).to_string(),
                };
                let is_known = is_decided(&run.answer);
                println!(
                    "{:34} {name:>8} {count:>12} {:>10} {:>9} {:>9} {:>7} {:>9} {:>6}",
                    exe.test_name,
                    if split.is_some() { figures.n_handler_runs } else { search.map_or(0, |it| it.n_misses) },
                    figures.peak_nodes,
                    figures.most_local_states,
                    figures.n_slots,
                    format!("{}{:.2}", if is_known { "" } else { "> " }, run.cpu),
                    search.map_or(0, |search| search.peak_bytes >> 20),
                );
                if is_known {
                    verdicts.push(matches!(run.answer.verdict, Verdict::Holds(_)));
                }
            }
            agree &= verdicts.windows(2).all(|pair| pair[0] == pair[1]);
        }
    }
    agree
}
