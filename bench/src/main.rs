//! Figures of speed. Each benchmark runs a baseline beside the thing measured, in the same process and on the
//! same data, and prints the ratio: absolute figures depend on the machine, ratios much less.
//!
//! `cargo run --release -p allways-bench -- front-end`, or `search`, or `search one MODEL TEST (exact|print)[-reduced|-NAME][-always] THREADS`, or
//! `search project PATH SECONDS`, or `portfolio --p-repo DIR [--seconds S] [--memory GB] [--threads N] [--engine auto|explicit] [--reduction NAME]
//! [--no-reduction NAME] [WORD]...`, or `figure-5 [WORD]...`, or `figure-9 [--max N] [--every] [-o FILE]`, or
//! `symbolic (growth | split) [SECONDS] [WORD]...`, or `psym [cases] [--p-repo DIR] [--seconds S] [WORD]...`, or `summaries`, or `almost-synchronous [rules] [SECONDS] [WORD]...`, or `certificates [whole] [SECONDS] [WORD]...`

mod almost_sync;
mod certificates;
mod figure_5;
mod figure_9;
mod front_end;
mod portfolio;
mod psym;
mod search;
mod summaries;
mod symbolic;
mod testing;

use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["front-end"] => front_end::run(),
        ["figure-5", words @ ..] => {
            return if figure_5::run(words) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        ["figure-9", words @ ..] if figure_9::FigureOptions::parse(words).is_some() => {
            let is_good =
                figure_9::FigureOptions::parse(words).is_some_and(|options| figure_9::run(&options));
            return if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        ["portfolio", words @ ..] => {
            return match portfolio::PortfolioOptions::parse(words) {
                Some(options) if portfolio::run(&options) => ExitCode::SUCCESS,
                Some(_) => ExitCode::FAILURE,
                None => usage(),
            };
        }
        ["almost-synchronous", "rules", seconds, words @ ..] if seconds.parse::<u64>().is_ok() => {
            almost_sync::rules(seconds.parse().unwrap_or(120), words);
        }
        ["almost-synchronous", "rules", words @ ..] => almost_sync::rules(120, words),
        ["almost-synchronous", seconds, words @ ..] if seconds.parse::<u64>().is_ok() => {
            almost_sync::run(seconds.parse().unwrap_or(120), words);
        }
        ["almost-synchronous", words @ ..] => almost_sync::run(120, words),
        ["certificates", words @ ..] => {
            let (is_whole, words) = match words {
                ["whole", words @ ..] => (true, words),
                words => (false, words),
            };
            let seconds = words.first().and_then(|word| word.parse().ok());
            let words = if seconds.is_some() { &words[1..] } else { words };
            return match certificates::run(seconds.unwrap_or(120), is_whole, words) {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            };
        }
        ["symbolic", words @ ..] => {
            let (compare, words): (fn(Duration, &[&str]) -> bool, _) = match words {
                ["growth", words @ ..] => (symbolic::growth, words),
                ["split", words @ ..] => (symbolic::split, words),
                _ => return usage(),
            };
            let seconds = words.first().and_then(|word| word.parse().ok());
            let words = if seconds.is_some() { &words[1..] } else { words };
            let limit = Duration::from_secs(seconds.unwrap_or(60));
            return if compare(limit, words) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        [psym::ONE, way, kind, seconds, test, model] => {
            let is_done = psym::run_one(way, kind, seconds, test, model);
            return if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        ["psym", words @ ..] => {
            let (run, words): (fn(&psym::PsymOptions) -> bool, _) = match words {
                ["cases", words @ ..] => (psym::cases, words),
                words => (psym::run, words),
            };
            return match psym::PsymOptions::parse(words) {
                Some(options) if run(&options) => ExitCode::SUCCESS,
                Some(_) => ExitCode::FAILURE,
                None => usage(),
            };
        }
        ["summaries"] => summaries::run(),
        ["testing"] => testing::run(20_000),
        ["testing", n] if n.parse::<u64>().is_ok() => testing::run(n.parse().unwrap_or(20_000)),
        ["search", "one", model, test, store, n_threads] => search::run_one(model, test, store, n_threads),
        ["search", "project", path, seconds] => search::run_project(path, seconds),
        ["search", words @ ..] => search::run(words),
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: cargo run --release -p allways-bench -- front-end | figure-5 [word of a program]... | figure-9 [--max N] [--every] [-o FILE] | almost-synchronous [rules] [seconds] [word of a model or test]... | certificates [whole] [seconds] [word of a model or test]... | testing [schedules] | portfolio --p-repo DIR [--seconds S] [--memory GB] [--threads N] [--engine auto|explicit] [--reduction NAME] [--no-reduction NAME] [word of a project or test]... | symbolic (growth | split) [seconds] [word of a model or test]... | psym [cases] [--p-repo DIR] [--seconds S] [word of a row]... | summaries | search [word of a model or test]..."
    );
    ExitCode::from(2)
}

/// The shortest of several runs.
fn best_of<T>(n_runs: usize, mut run: impl FnMut() -> T) -> Duration {
    (0..n_runs)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(run());
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}
