//! How many scheduling decisions per second the testing engine makes on the P files of some folders.
//!
//! ```text
//! cargo run --release -p allways-explore --example throughput -- STRATEGY THREADS SCHEDULES TEST FOLDER...
//! ```
//!
//! `STRATEGY` is a name as the engine prints it, `TEST` a test name or `*`.

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use allways_base::Sources;
use allways_explore::{CheckOptions, Never, StrategyKind, check};
use allways_machine::Executable;
use allways_p::{Dialect, FileRole, Input};
use allways_run::{Quiet, Verdict};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [strategy, n_threads, n_schedules, test_name, folders @ ..] = args.as_slice() else {
        println!("usage: throughput STRATEGY THREADS SCHEDULES TEST FOLDER...");
        return;
    };
    let strategies = [
        StrategyKind::Portfolio,
        StrategyKind::Random,
        StrategyKind::Probabilistic(3),
        StrategyKind::Pct(3),
        StrategyKind::FairPct(3),
        StrategyKind::Pos,
        StrategyKind::DelayBounding(3),
        StrategyKind::DepthFirst,
    ];
    let Some(strategy) = strategies.into_iter().find(|kind| kind.to_string() == *strategy) else {
        println!("strategies: {}", strategies.map(|kind| kind.to_string()).join(" "));
        return;
    };
    let mut sources = Sources::default();
    let mut inputs = Vec::new();
    for folder in folders {
        add(Path::new(folder), &mut sources, &mut inputs);
    }
    let compiled = allways_p::compile(&sources, &inputs, Dialect::default());
    let Some(program) = compiled.program else {
        for diagnostic in &compiled.diagnostics {
            let place = diagnostic.primary.as_ref().map_or(String::new(), |label| sources.place(label.span));
            println!("rejected {place}: {}", diagnostic.message);
        }
        return;
    };
    for (test, def) in program.tests.iter().enumerate() {
        if test_name != "*" && def.name != *test_name {
            continue;
        }
        let exe = Arc::new(Executable::new(&program, test));
        let options = CheckOptions {
            strategy,
            n_schedules: n_schedules.parse().ok(),
            n_threads: n_threads.parse().unwrap_or(1),
            ..CheckOptions::default()
        };
        let start = Instant::now();
        let report = check(&exe, &options, &Quiet, &Never);
        let seconds = start.elapsed().as_secs_f64();
        match report {
            Err(error) => println!("{}: {error}", def.name),
            Ok(report) => {
                let figures = report.statistics;
                println!(
                    "{} {strategy} x{n_threads}: {} schedules, {} decisions, {:.3} s, {:.3} million per second, length {}..{}, {} bounded",
                    def.name,
                    figures.n_schedules,
                    figures.n_choices,
                    seconds,
                    figures.n_choices as f64 / seconds / 1e6,
                    figures.min_length,
                    figures.max_length,
                    figures.n_bounded,
                );
                let summary = report.coverage.summary(&exe);
                println!("  {:?}", summary);
                match &report.verdict {
                    Verdict::Holds(guarantee) => println!("  holds: {guarantee:?}"),
                    Verdict::Unknown(reason) => println!("  unknown: {reason:?}"),
                    Verdict::Violated(found) => {
                        let finding = &report.findings[0];
                        println!(
                            "  violated by schedule {} ({}): {}\n  {} choices, {} as found, loop from {:?}",
                            finding.index,
                            finding.strategy,
                            found.violation.text(&sources),
                            found.schedule.len(),
                            finding.found_length,
                            found.loop_start
                        );
                        for (number, step) in found.trace.steps.iter().enumerate() {
                            println!("  {number:>5} {:?}: {:?}", step.actor, step.entries);
                        }
                    }
                }
            }
        }
    }
}

fn add(folder: &Path, sources: &mut Sources, inputs: &mut Vec<Input>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add(&path, sources, inputs);
        } else if path.extension().is_some_and(|extension| extension == "p")
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            let file = sources.add(path.display().to_string(), text);
            inputs.push(Input { file, role: FileRole::Source });
        }
    }
}
