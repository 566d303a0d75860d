//! Almost-synchronous proofs beside bounded search: the tables of the paper's evaluation, on the project's models.
//!
//! For every test of `models/almost_synchronous`: the almost-synchronous engine, with no bound on inboxes; then the
//! baseline, a search that puts a scheduling point at every send, without reductions, bounded in the
//! occurrences of an event in an inbox by the figure of the paper for that model; then the explicit engine with its reductions under the
//! same bound. Models that hold come first, those that break after them, as in the paper.
//!
//! Ratios are those of the other search to the almost-synchronous one. A search that did not end within its time, the same
//! for all, has `>` before its count and its ratios, which are then too small. Note what is compared: the bounded searches say
//! nothing about longer inboxes, but the explicit engine also finds deadlocks, which the almost-synchronous one cannot.
//! All times are processor time. What the paper reports of its own models stands below each table, as published.
//!
//! `rules` compares the rules of the reduced system: the project's, with and without sleep sets, the paper's with the
//! project's choice of destination sets, and the paper's with its own choice.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use allways_driver::{Request, suite};
use allways_explore::almost_sync::{self, AlmostSyncOptions, DestinationChoice, Rules};
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

/// What the paper reports of a model: lines of P, the bound, states and minutes of the bounded search (none if it did not end
/// in twelve hours), and states and minutes of its own.
struct Reported {
    model: &'static str,
    lines: Option<u32>,
    bound: u32,
    bounded: Option<(f64, u32)>,
    own: (f64, u32),
}

const PROOFS: &[Reported] = &[
    Reported { model: "Elevator", lines: Some(270), bound: 2, bounded: Some((1.4e6, 22)), own: (2.8e4, 8) },
    Reported { model: "OSR", lines: Some(377), bound: 2, bounded: Some((3.1e5, 16)), own: (3.9e3, 2) },
    Reported {
        model: "Truck Lifts",
        lines: Some(290),
        bound: 2,
        bounded: Some((3.3e7, 127)),
        own: (1.1e5, 24),
    },
    Reported {
        model: "Time Sync (line)",
        lines: Some(2200),
        bound: 4,
        bounded: Some((7.4e10, 334)),
        own: (1.0e7, 187),
    },
    Reported { model: "German", lines: Some(280), bound: 3, bounded: None, own: (4.7e8, 152) },
    Reported { model: "Phone USB driver", lines: Some(1440), bound: 3, bounded: None, own: (2.4e9, 228) },
];
const BUGS: &[Reported] = &[
    Reported {
        model: "Truck Lifts",
        lines: None,
        bound: 2,
        bounded: Some((950_005.0, 77)),
        own: (13_453.0, 14),
    },
    Reported { model: "Time Sync (ring)", lines: None, bound: 4, bounded: None, own: (129_973.0, 97) },
    Reported { model: "German", lines: None, bound: 3, bounded: Some((595_723.0, 44)), own: (2_345.0, 10) },
    Reported {
        model: "Phone USB driver",
        lines: None,
        bound: 3,
        bounded: Some((1_616_157.0, 124)),
        own: (23_452.0, 38),
    },
];

/// A test to run.
pub struct Subject {
    pub model: String,
    /// Lines of P with code on them, without and with the broken variants.
    pub n_lines: [usize; 2],
    pub exe: Arc<Executable>,
    pub expected: suite::Expectation,
}

/// Both tables, of all tests whose model or name contains the words, each engine for at most so many seconds.
pub fn run(seconds: u64, words: &[&str]) {
    let subjects = subjects(words);
    let is_right = |subject: &&Subject| subject.expected == suite::Expectation::Holds;
    println!(
        "Every search is cut off after {seconds} s of processor time or {} GB. Then its states, and all ratios to",
        MEMORY >> 30
    );
    println!(
        "the almost-synchronous search, are lower bounds, marked `>`. Ratios above 1 are in favour of the"
    );
    println!(
        "almost-synchronous search. Lines: those with code on them. Bound: occurrences of an event in an inbox."
    );
    println!();
    println!(
        "Table 1, models that hold: proved without a bound; baseline and explicit search under the bound"
    );
    table(subjects.iter().filter(is_right), seconds);
    println!();
    reported("The paper's table 1 (its models, 24 threads)", PROOFS);
    println!();
    println!("Table 2, models that break: until the first violation");
    table(subjects.iter().filter(|subject| !is_right(subject)), seconds);
    println!();
    reported("The paper's table 2 (its models, 24 threads)", BUGS);
}

/// What one search came to.
struct Cost {
    n_states: u64,
    seconds: f64,
    is_cut: bool,
}

fn table<'a>(subjects: impl Iterator<Item = &'a Subject>, seconds: u64) {
    println!(
        "{:41} | {:42} | {:37} | {:37}",
        "", "almost-synchronous, no bound", "baseline: every send a choice", "explicit, with reductions"
    );
    println!(
        "{:12} {:22} {:>5} | {:8} {:>10} {:>8} {:>5} {:>7} | {:>11} {:>8} {:>8} {:>7} | {:>11} {:>8} {:>8} {:>7}",
        "model",
        "test",
        "lines",
        "verdict",
        "states",
        "s",
        "inbox",
        "bound",
        "states",
        "s",
        "x states",
        "x time",
        "states",
        "s",
        "x states",
        "x time"
    );
    let (mut n, mut n_decided, mut largest_inbox, mut slowest) = (0, 0, 0, 0f64);
    for subject in subjects {
        let (is_decided, inbox, cpu) = line(subject, seconds);
        n += 1;
        n_decided += u32::from(is_decided);
        largest_inbox = largest_inbox.max(inbox);
        slowest = slowest.max(cpu);
    }
    println!("{n_decided} of {n} as expected; largest inbox {largest_inbox}; slowest {slowest:.2} s");
}

/// Whether the verdict is the expected one, the largest inbox, and the time of the almost-synchronous search.
fn line(subject: &Subject, seconds: u64) -> (bool, u32, f64) {
    let Subject { model, n_lines, exe, expected } = subject;
    let (almost, cpu) =
        almost(exe, AlmostSyncOptions { limits: limits(), ..AlmostSyncOptions::default() }, seconds);
    let own = cost(&almost, cpu);
    let occurrences = OCCURRENCES.iter().find(|(name, _)| name == model).map_or(2, |&(_, bound)| bound);
    let (verdict, is_decided) = match (&almost.verdict, expected) {
        (Verdict::Unknown(_), _) => ("unknown", false),
        (Verdict::Holds(_), suite::Expectation::Holds) => ("proved", true),
        (Verdict::Violated(_), suite::Expectation::Violated) => ("violated", true),
        (Verdict::Holds(_) | Verdict::Violated(_), _) => ("WRONG", false),
    };
    let largest_inbox = almost.statistics.largest_inbox;
    let n_lines = n_lines[usize::from(*expected == suite::Expectation::Violated)];
    print!(
        "{model:12} {:22} {n_lines:>5} | {verdict:8} {:>10} {cpu:>8.2} {largest_inbox:>5} {occurrences:>7}",
        short(&exe.test_name),
        count(&own),
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
        let other = cost(&found, cpu);
        // Below the resolution of the clock there is no ratio.
        let time = if own.seconds < 0.05 { "-".to_owned() } else { ratio(&other, &own, cpu / own.seconds) };
        let states = ratio(&other, &own, other.n_states as f64 / own.n_states.max(1) as f64);
        let is_other = match (&found.verdict, expected) {
            (Verdict::Holds(_), suite::Expectation::Violated) => true,
            (Verdict::Violated(_), suite::Expectation::Holds) => true,
            (Verdict::Holds(_) | Verdict::Violated(_) | Verdict::Unknown(_), _) => false,
        };
        let states_found = format!("{}{}", if is_other { "!" } else { "" }, count(&other));
        print!(" | {states_found:>11} {cpu:>8.2} {states:>8} {time:>7}");
    }
    println!();
    (is_decided, largest_inbox, cpu)
}

fn reported(title: &str, rows: &[Reported]) {
    println!("{title}");
    println!(
        "{:18} {:>5} {:>5} | {:>9} {:>5} | {:>9} {:>5} {:>8}",
        "model", "lines", "bound", "bounded", "min", "its own", "min", "x states"
    );
    for Reported { model, lines, bound, bounded, own: (n_states, minutes) } in rows {
        let lines = lines.map_or("-".to_owned(), |lines| lines.to_string());
        let (states, time, times) = match bounded {
            Some((states, minutes)) => {
                (format!("{states:.1e}"), minutes.to_string(), format!("{:.0}", states / n_states))
            }
            None => ("no end".to_owned(), ">720".to_owned(), "-".to_owned()),
        };
        println!(
            "{model:18} {lines:>5} {bound:>5} | {states:>9} {time:>5} | {:>9} {minutes:>5} {times:>8}",
            format!("{n_states:.1e}")
        );
    }
}

/// How much the rules matter: states, moves and seconds.
pub fn rules(seconds: u64, words: &[&str]) {
    let kinds: [(&str, AlmostSyncOptions); 4] = [
        ("lean, with sleep sets", AlmostSyncOptions::default()),
        ("without sleep sets", AlmostSyncOptions { sleep: false, ..AlmostSyncOptions::default() }),
        (
            "the paper's",
            AlmostSyncOptions { rules: Rules::Paper, sleep: false, ..AlmostSyncOptions::default() },
        ),
        (
            "canonical",
            AlmostSyncOptions {
                rules: Rules::Paper,
                sleep: false,
                choice: DestinationChoice::Canonical,
                ..AlmostSyncOptions::default()
            },
        ),
    ];
    print!("{:35}", "states, moves, seconds, largest inbox");
    for (name, _) in &kinds {
        print!(" | {name:36}");
    }
    println!();
    for Subject { model, exe, .. } in subjects(words) {
        print!("{model:12} {:22}", short(&exe.test_name));
        for (_, options) in &kinds {
            let options = AlmostSyncOptions { limits: limits(), ..options.clone() };
            let (found, cpu) = almost(&exe, options, seconds);
            let own = cost(&found, cpu);
            print!(
                " | {:>10} {:>11} {cpu:>7.2} {:>5}",
                count(&own),
                found.statistics.n_transitions,
                found.statistics.largest_inbox
            );
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
    let n_lines = [lines_of(folder, false), lines_of(folder, true)];
    (0..program.tests.len())
        .map(|test| Arc::new(Executable::new(&program, test)))
        .filter(|exe| words.iter().all(|word| model.contains(word) || exe.test_name.contains(word)))
        .map(|exe| {
            let known = suite.tests.iter().find(|test| exe.test_name.starts_with(&test.name));
            let expected = known.map_or(suite::Expectation::Holds, |test| test.expect);
            Subject { model: model.clone(), n_lines, exe, expected }
        })
        .collect()
}

/// Lines of P that are neither empty nor comments.
fn lines_of(folder: &Path, with_broken: bool) -> usize {
    let files = std::fs::read_dir(folder).expect("the model is there").flatten().map(|entry| entry.path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "p"))
        .filter(|path| with_broken || path.file_name().is_some_and(|name| name != "Broken.p"))
        .map(|path| {
            let text = std::fs::read_to_string(path).expect("the file can be read");
            let lines = text.lines().map(str::trim);
            lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count()
        })
        .sum()
}

fn almost(exe: &Arc<Executable>, options: AlmostSyncOptions, seconds: u64) -> (ProveReport, f64) {
    let (report, cpu, _) = timed(|| {
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

fn cost(report: &ProveReport, seconds: f64) -> Cost {
    let is_cut = matches!(report.verdict, Verdict::Unknown(_));
    Cost { n_states: report.statistics.n_configurations, seconds, is_cut }
}

fn count(cost: &Cost) -> String {
    format!("{}{}", if cost.is_cut { ">" } else { "" }, cost.n_states)
}

/// The other search to the almost-synchronous one. If that was cut off, nothing can be said.
fn ratio(other: &Cost, own: &Cost, ratio: f64) -> String {
    match (own.is_cut, other.is_cut) {
        (true, _) => "-".to_owned(),
        (false, true) => format!(">{ratio:.1}"),
        (false, false) => format!("{ratio:.1}"),
    }
}

/// Until so much processor time has gone by.
pub fn until(seconds: u64) -> impl Fn() -> Option<StopReason> + Sync {
    let start = cpu_seconds();
    move || (cpu_seconds() - start > seconds as f64).then_some(StopReason::Time(Duration::from_secs(seconds)))
}
