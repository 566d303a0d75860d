//! Figure 9: time to find the failure at the end of a chain of posts that are waited for, by length.
//!
//! `cargo run --release -p allways-sequentialize --example chain -- dfw 200 10` measures DFW(0) for
//! lengths 10, 20, .. 200; with `df` the number of delays is the length.

use std::io::Write;
use std::time::Instant;

use allways_base::FileId;
use allways_bmc::smt::{ProcessOptions, ProcessSolver, find_solver};
use allways_bmc::{Answer, Recursion, VerifyOptions, verify};
use allways_boogie::{check, entry_point, parse};
use allways_run::Quiet;
use allways_sequentialize::{Assertions, Options, Preemption, Scheduler, sequentialize};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let is_df = args.first().is_some_and(|word| word == "df");
    let number =
        |idx: usize, default: u32| args.get(idx).and_then(|word| word.parse().ok()).unwrap_or(default);
    let (most, step) = (number(1, 50), number(2, 10));
    let mut out = std::io::stdout();
    for n in (1..=most).filter(|n| *n == 1 || n % step == 0) {
        let text = format!(
            "type task a; var i: int;
             procedure p() returns (r: int) {{ }}
             procedure {{:entrypoint}} Main() {{
               var t: task int; var x: int;
               i := 0;
               while (i < {n}) {{ call {{:async t}} x := p(); i := i + 1; yield; assume {{:wait t}} true; }}
               assert false;
             }}"
        );
        let start = Instant::now();
        let (checked, _) = check(parse(FileId::from_u32(0), &text).program);
        let entry = entry_point(&checked.program, None).map_err(|d| d.message.clone())?;
        let scheduler = if is_df { Scheduler::Df { delays: n } } else { Scheduler::Dfw { delays: 0 } };
        let options = Options {
            scheduler,
            assertions: Assertions::Exit,
            preemption: Preemption::Explicit,
            sources: None,
        };
        let done = sequentialize(&checked, entry, &options)?;
        let (sequential, _) = check(done.program);
        let options = VerifyOptions { recursion: Recursion::Exactly(n + 1), keep_smt: false };
        let mut solver = ProcessSolver::start(&find_solver()?, &ProcessOptions::default())?;
        let report = verify(&sequential, done.entry, &options, &mut solver, &Quiet)?;
        let found = if matches!(report.answer, Answer::Fails { .. }) { "found" } else { "not found" };
        writeln!(
            out,
            "{n} {found} {:.3} s, {:.3} s in the solver, {} queries, {} instances",
            start.elapsed().as_secs_f64(),
            report.stats.solver_time.as_secs_f64(),
            report.stats.n_queries,
            report.stats.n_instances
        )?;
    }
    Ok(())
}
