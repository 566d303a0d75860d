//! The portfolio of the P repository, on a checkout: which tests are decided, and at what price.
//!
//! The checkout is read, and nothing of it is kept. Engines race as in `allways prove --engine auto`, unless explicit search is asked
//! for. A row has processor time of this process, so that other work on the
//! machine does not count, the largest memory of the process during the test where the system tells it, the share of
//! steps to a configuration for which another stands, and the share of steps that were put off.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use allways_driver::Request;
use allways_driver::engine::{self, Budget, Effort, Means, Question, Settings};
use allways_explore::search::{ProveOptions, Reductions};
use allways_machine::Executable;
use allways_run::{Guarantee, Quiet, StopReason, Verdict};

use crate::search::timed;

/// What to run, and how long.
pub struct PortfolioOptions {
    repo: PathBuf,
    seconds: u64,
    gigabytes: u64,
    n_threads: usize,
    reductions: Reductions,
    /// By name; `auto` races all.
    engine: String,
    /// Of a folder or test, part of the name.
    words: Vec<String>,
}

impl PortfolioOptions {
    pub fn parse(words: &[&str]) -> Option<Self> {
        let mut repo = None;
        let mut options = PortfolioOptions {
            repo: PathBuf::new(),
            seconds: 900,
            gigabytes: 12,
            n_threads: 2,
            reductions: Reductions::default(),
            engine: engine::AUTO.to_owned(),
            words: Vec::new(),
        };
        let mut rest = words;
        while let [word, more @ ..] = rest {
            let Some(name) = word.strip_prefix("--") else {
                options.words.push((*word).to_owned());
                rest = more;
                continue;
            };
            let [value, more @ ..] = more else { return None };
            match name {
                "p-repo" => repo = Some(PathBuf::from(value)),
                "seconds" => options.seconds = value.parse().ok()?,
                "memory" => options.gigabytes = value.parse().ok()?,
                "threads" => options.n_threads = value.parse().ok()?,
                "engine" => options.engine = engine_named(value)?.to_owned(),
                "reduction" => *options.reductions.by_name(value)? = true,
                "no-reduction" if *value == "all" => options.reductions = Reductions::NONE,
                "no-reduction" => *options.reductions.by_name(value)? = false,
                _ => return None,
            }
            rest = more;
        }
        options.repo = repo?;
        Some(options)
    }
}

/// Prints a table; says whether there was anything to run.
pub fn run(options: &PortfolioOptions) -> bool {
    let root = options.repo.join("Tst").join("PortfolioTests");
    let mut projects = Vec::new();
    find_projects(&root, &mut projects);
    if projects.is_empty() {
        eprintln!("{}: no projects", root.display());
        return false;
    }
    println!(
        "{:34} {:44} {:32} {:8} {:>12} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "project", "test", "verdict", "engine", "configs", "CPU s", "wall s", "MB", "renamed", "put off"
    );
    for project in projects {
        let name = project.strip_prefix(&root).unwrap_or(&project).display().to_string();
        let request = Request { paths: vec![project], ..Request::default() };
        let compilation = allways_driver::compile(&request, false);
        let Some(program) = compilation.program else {
            println!("{name:34} rejected, {} diagnostics", compilation.diagnostics.len());
            continue;
        };
        for test in 0..program.tests.len() {
            let exe = Arc::new(Executable::new(&program, test));
            let is_asked =
                |word: &String| name.contains(word.as_str()) || exe.test_name.contains(word.as_str());
            if options.words.iter().all(is_asked) {
                println!("{name:34} {:44} {}", exe.test_name, row(&exe, options));
            }
        }
    }
    true
}

fn row(exe: &Arc<Executable>, options: &PortfolioOptions) -> String {
    let limit = Duration::from_secs(options.seconds);
    let start = Instant::now();
    let cancel = || (start.elapsed() > limit).then_some(StopReason::Time(limit));
    let settings = Settings {
        explicit: ProveOptions { reductions: options.reductions, ..ProveOptions::default() },
        ..Settings::default()
    };
    let budget = Budget {
        n_threads: options.n_threads,
        memory_bytes: Some(options.gigabytes << 30),
        effort: Effort::Whole,
    };
    let means = Means { budget, observer: &Quiet, cancel: &cancel };
    let question = Question::new(exe.clone());
    forget_peak();
    let (answer, cpu, wall) = timed(|| engine::answer(&options.engine, &question, &settings, means));
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return format!("internal error: {error}"),
    };
    let verdict = match &answer.verdict {
        Verdict::Holds(
            Guarantee::Exhaustive
            | Guarantee::Probable { .. }
            | Guarantee::LocalStates { is_approximate: false },
        ) => "proved".to_owned(),
        Verdict::Holds(guarantee) => format!("holds: {guarantee:?}"),
        Verdict::Violated(found) => {
            format!("{} after {} steps", found.violation.kind.as_str(), found.schedule.n_steps())
        }
        Verdict::Unknown(StopReason::Time(_)) => format!("unknown: {} s", options.seconds),
        Verdict::Unknown(StopReason::Memory { .. }) => format!("unknown: {} GB", options.gigabytes),
        Verdict::Unknown(reason) => format!("unknown: {reason:?}"),
    };
    let statistics = &answer.figures.search.unwrap_or_default();
    let peak = peak_megabytes().unwrap_or(statistics.peak_bytes >> 20);
    let (steps, saved) = (statistics.n_transitions, statistics.saved);
    let share = |part: u64, all: u64| format!("{:.0} %", part as f64 * 100.0 / all.max(1) as f64);
    let renamed = share(saved.n_renamed, steps);
    let put_off = share(saved.n_put_off, steps + saved.n_put_off);
    let n = statistics.n_configurations;
    let engine = answer.engine;
    format!("{verdict:32} {engine:8} {n:>12} {cpu:>8.1} {wall:>8.1} {peak:>8} {renamed:>8} {put_off:>8}")
}

/// A name of an engine that can be asked for.
fn engine_named(name: &str) -> Option<&'static str> {
    let names = engine::ENGINES.iter().filter(|entry| entry.proves).map(|entry| entry.name);
    names.chain([engine::AUTO]).find(|known| *known == name)
}

/// Folders with a project file, and folders with sources and none.
fn find_projects(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let has = |extension: &str| paths.iter().any(|path| path.extension().is_some_and(|is| is == extension));
    if has("pproj") || has("p") {
        out.push(folder.to_owned());
        return;
    }
    for path in paths.iter().filter(|path| path.is_dir()) {
        find_projects(path, out);
    }
}

/// From now on the largest memory of the process is counted anew, where the system can.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn peak_megabytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? >> 10)
}
