//! `cargo xtask differential --boogie`: the operational schedulers against translated and verified programs; with `--quiesce`,
//! lassos by explicit search against lassos by translation and solver.

use std::process::ExitCode;
use std::time::Duration;

use allways_base::Sources;
use allways_driver::boogie::quiesce::{Proof, QuiesceOptions, QuiesceVerdict, quiesce};
use allways_driver::boogie::read;
use allways_run::Quiet;
use allways_testkit::boogie::{self, lasso};
use allways_testkit::shrink::shrink;

use super::MAX_DIFFERENCES;

/// For one question about a lasso.
const TIME_PER_PROGRAM: Duration = Duration::from_secs(60);

pub fn run(args: &[&str]) -> ExitCode {
    let quiesces = args.contains(&"--quiesce");
    let args: Vec<&str> = args.iter().copied().filter(|arg| *arg != "--quiesce").collect();
    let (mut n_programs, mut first) = (if quiesces { 3_000u64 } else { 5_000 }, 0u64);
    let understood = crate::options(&args, |name, value| match name {
        "--programs" => value.parse().map(|n| n_programs = n).is_ok(),
        "--seed" => value.parse().map(|n| first = n).is_ok(),
        _ => false,
    });
    if !understood {
        return super::usage();
    }
    if quiesces {
        let n_differences = lassos(first..first + n_programs, &mut lasso::Statistics::default());
        return if n_differences == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) };
    }
    let mut solver = match boogie::Reused::start() {
        Ok(solver) => solver,
        Err(error) => {
            println!("{error}");
            return ExitCode::from(2);
        }
    };
    let mut statistics = boogie::Statistics::default();
    let mut n_differences = 0;
    for seed in first..first + n_programs {
        let (text, comparison) = boogie::compare_seed(seed, &mut solver);
        statistics.add(&comparison);
        if let boogie::Comparison::Differ(difference) = &comparison {
            n_differences += 1;
            let small = boogie::shrink(&text, &boogie::options_of(seed), &mut solver);
            println!("seed {seed}: {difference}\n\n{small}");
            if n_differences == MAX_DIFFERENCES {
                break;
            }
        }
    }
    let s = &statistics;
    println!(
        "{} programs, {} too large, {} of them fail, {} questions, {n_differences} differences",
        s.n_programs, s.n_too_large, s.n_failing, s.n_questions
    );
    if n_differences == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Lassos of random programs, by explicit search and by translation and solver.
fn lassos(seeds: std::ops::Range<u64>, statistics: &mut lasso::Statistics) -> usize {
    let mut n_differences = 0;
    for seed in seeds {
        let (text, comparison) = lasso::compare_seed(seed, &ask);
        statistics.add(&comparison);
        if let lasso::Comparison::Differ(difference) = &comparison {
            n_differences += 1;
            let bounds = lasso::bounds_of(seed);
            let small = shrink(&text, |candidate| {
                let loaded = read(Sources::default(), [("random.bpl".to_owned(), candidate.to_owned())]);
                loaded.checked.is_some()
                    && matches!(lasso::compare(candidate, bounds, &ask), lasso::Comparison::Differ(_))
            });
            println!("seed {seed}: {difference}\n\n{small}");
            if n_differences == MAX_DIFFERENCES {
                break;
            }
        }
    }
    println!(
        "quiesce, Boogie: {} programs, {} too large, {} diverge within their bounds, {} never by the conditions for posts ({} confirmed by the whole graph), \
         {n_differences} differences",
        statistics.n_programs,
        statistics.n_too_large,
        statistics.n_diverging,
        statistics.n_never,
        statistics.n_never_confirmed
    );
    n_differences
}

/// Whether a program has a lasso within bounds, by translation and solver. Every lasso has been replayed; one that does not
/// is an error.
fn ask(text: &str, bounds: lasso::Bounds) -> Result<Option<lasso::Found>, String> {
    let loaded = read(Sources::default(), [("random.bpl".to_owned(), text.to_owned())]);
    let checked = loaded.checked.as_ref().ok_or_else(|| format!("{:?}", loaded.diagnostics))?;
    let options = QuiesceOptions {
        fair: bounds.fair,
        rounds: Some(bounds.rounds),
        recursion: Some(bounds.recursion),
        time: Some(TIME_PER_PROGRAM),
        ..QuiesceOptions::default()
    };
    let report = quiesce(&loaded, checked, &options, &Quiet).map_err(|error| format!("{error:?}"))?;
    match report.verdict {
        QuiesceVerdict::Diverges(found) if bounds.fair && !found.lasso.starved.is_empty() => {
            Err(format!("a fair lasso that ignores {:?}", found.lasso.starved))
        }
        QuiesceVerdict::Diverges(_) => Ok(Some(lasso::Found::Lasso)),
        QuiesceVerdict::NoDivergence { stopped: None, .. } => Ok(Some(lasso::Found::NoneWithinBounds)),
        QuiesceVerdict::Quiescent(Proof::Acyclic) => Ok(Some(lasso::Found::Acyclic)),
        QuiesceVerdict::Quiescent(Proof::AcyclicLoops) | QuiesceVerdict::NoLasso => {
            Ok(Some(lasso::Found::Never))
        }
        QuiesceVerdict::NoDivergence { .. } | QuiesceVerdict::Unknown(allways_run::StopReason::Time(_)) => {
            Ok(None)
        }
        QuiesceVerdict::Unknown(reason) => Err(format!("{reason:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cargo xtask differential --boogie --quiesce` takes more.
    #[test]
    fn lassos_are_those_of_explicit_search() {
        boogie::solver::need_solver();
        let mut statistics = lasso::Statistics::default();
        assert_eq!(lassos(0..60, &mut statistics), 0);
        // A check that sees nothing would hold, too.
        let n_compared = statistics.n_programs - statistics.n_too_large;
        assert!(statistics.n_diverging > 10 && n_compared - statistics.n_diverging > 10, "{statistics:?}");
        assert!(statistics.n_never_confirmed > 2, "{statistics:?}");
    }
}
