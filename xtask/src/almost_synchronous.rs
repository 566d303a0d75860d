//! `cargo xtask almost-synchronous`: the almost-synchronous exploration against the oracle on random programs.

use std::process::ExitCode;

use allways_testkit::Loaded;
use allways_testkit::almost_sync::{Outcome, compare};
use allways_testkit::generate::generate_any;
use allways_testkit::oracle::OracleOptions;

/// So many differing programs are enough to look at.
const MAX_DIFFERENCES: usize = 5;

pub fn run(args: &[&str]) -> ExitCode {
    let (mut n_programs, mut seed, mut max_configurations) = (1_000u64, 0u64, 4_000usize);
    let mut rest = args;
    while let [name, value, more @ ..] = rest {
        let parsed = match *name {
            "--programs" => value.parse().map(|n| n_programs = n).is_ok(),
            "--seed" => value.parse().map(|n| seed = n).is_ok(),
            "--max-configurations" => value.parse().map(|n| max_configurations = n).is_ok(),
            _ => false,
        };
        if !parsed {
            return usage();
        }
        rest = more;
    }
    if !rest.is_empty() {
        return usage();
    }
    let options = OracleOptions { max_configurations, ..OracleOptions::default() };
    let (mut n_agree, mut n_large, mut n_ended, mut n_violated, mut n_differences) = (0, 0, 0, 0, 0);
    let (mut n_oracle, mut n_least, mut n_canonical) = (0, 0, 0);
    for seed in seed..seed + n_programs {
        let (text, _) = generate_any(seed);
        let outcome = match Loaded::new("random.p", &text) {
            Ok(loaded) => compare(&loaded, 0, options, 5 * max_configurations as u64),
            Err(error) => Outcome::Differ(error),
        };
        match outcome {
            Outcome::Agree { n_oracle: n, n_states, n_violations } => {
                n_agree += 1;
                n_violated += u64::from(n_violations > 0);
                n_oracle += n as u64;
                n_least += n_states[0];
                n_canonical += n_states[1];
            }
            Outcome::TooLarge { ended } => {
                n_large += 1;
                n_ended += u64::from(ended);
            }
            Outcome::Differ(difference) => {
                n_differences += 1;
                println!("seed {seed}: {difference}\n{text}");
                if n_differences == MAX_DIFFERENCES {
                    break;
                }
            }
        }
    }
    println!("{n_agree} programs agree, {n_differences} differ, {n_violated} are violated");
    println!("{n_large} too large for the oracle, {n_ended} of them explored to the end");
    println!(
        "{n_oracle} configurations of the oracle, {n_least} states, {n_canonical} by the canonical choice"
    );
    if n_differences == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

fn usage() -> ExitCode {
    println!("cargo xtask almost-synchronous [--programs N] [--seed S] [--max-configurations N]");
    ExitCode::from(2)
}
