//! Random schedules of the P files in some folders, and how fast they go. A yardstick for the kernel alone.
//!
//! ```text
//! cargo run --release -p allways-machine --example sample -- SCHEDULES MAX_STEPS TEST FOLDER...
//! ```
//!
//! `TEST` is a test name or `*`.

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use allways_base::Sources;
use allways_machine::{DataPoint, Executable, Kernel, Outcome, Silent};
use allways_p::{Dialect, FileRole, Input};
use allways_run::Limits;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [n_schedules, max_steps, test_name, folders @ ..] = args.as_slice() else {
        println!("usage: sample SCHEDULES MAX_STEPS TEST FOLDER...");
        return;
    };
    let n_schedules: u64 = n_schedules.parse().unwrap_or(1000);
    let max_steps: u64 = max_steps.parse().unwrap_or(10_000);
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
    for (idx, test) in program.tests.iter().enumerate() {
        if test_name == "*" || test.name == *test_name {
            sample(Arc::new(Executable::new(&program, idx)), n_schedules, max_steps, &sources);
        }
    }
}

fn add(path: &Path, sources: &mut Sources, inputs: &mut Vec<Input>) {
    if path.is_dir() {
        let mut entries: Vec<_> =
            std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for entry in entries {
            add(&entry, sources, inputs);
        }
    } else if path.extension().is_some_and(|ext| ext == "p") {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
        let file = sources.add(path.display().to_string(), text);
        inputs.push(Input { file, role: FileRole::Source });
    }
}

fn sample(exe: Arc<Executable>, n_schedules: u64, max_steps: u64, sources: &Sources) {
    let name = exe.test_name.clone();
    let mut kernel = Kernel::new(exe, Limits::default());
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |n: u32| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (((seed >> 32) * n as u64) >> 32) as u32
    };
    let (mut n_steps, mut n_choices, mut n_done, mut n_bounded) = (0, 0, 0, 0);
    let mut found = None;
    let start = Instant::now();
    for _ in 0..n_schedules {
        kernel.reset();
        while kernel.is_running() && kernel.n_steps() < max_steps {
            let Some(choice) = kernel.nth_enabled(next(kernel.n_enabled() as u32) as usize) else { break };
            if kernel.take(choice, &mut |point: DataPoint| next(point.n_answers), &mut Silent).is_err() {
                break;
            }
        }
        n_done += 1;
        n_steps += kernel.n_steps();
        n_choices += kernel.schedule().len() as u64;
        match kernel.outcome() {
            Outcome::Running => n_bounded += 1,
            Outcome::Quiescent => {}
            other => {
                found = Some(other.clone());
                break;
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let verdict = match found {
        None => "holds".to_owned(),
        Some(Outcome::Violated(violation)) => {
            format!("violated {} {}", violation.kind.as_str(), violation.text(sources))
        }
        Some(other) => format!("{other:?}"),
    };
    println!(
        "{name}: {verdict} | {n_done} schedules ({n_bounded} cut), {n_steps} steps, {n_choices} choices, {:.2} M choices/s, store {} nodes, {} KB",
        n_choices as f64 / seconds / 1e6,
        kernel.store().n_nodes(),
        kernel.store().n_bytes() / 1024,
    );
}
