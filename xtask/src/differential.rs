//! `cargo xtask differential`: the oracle against the kernel on random programs.

use std::process::ExitCode;

use allways_testkit::differential::{Comparison, Statistics, compare_seed, shrink_difference};
use allways_testkit::oracle::OracleOptions;

/// So many differing programs are enough to look at.
const MAX_DIFFERENCES: usize = 5;

pub fn run(args: &[&str]) -> ExitCode {
    let (mut n_programs, mut seed, mut max_configurations) = (5_000u64, 0u64, 20_000usize);
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
    let mut statistics = Statistics::default();
    let mut n_differences = 0;
    for seed in seed..seed + n_programs {
        let (text, compared) = compare_seed(seed, options);
        statistics.add(&compared);
        if let Comparison::Differ(difference) = &compared.comparison {
            n_differences += 1;
            println!("seed {seed}: {difference}\n{}", shrink_difference(&text, options));
            if n_differences == MAX_DIFFERENCES {
                break;
            }
        }
    }
    let s = &statistics;
    println!("{} programs, {} too large, {n_differences} differences", s.n_programs, s.n_too_large);
    println!(
        "{} configurations of the oracle, {} of the kernel",
        s.n_oracle_configurations, s.n_kernel_configurations
    );
    println!("{} % violated", s.share(s.n_violated));
    for (what, n) in s.kinds.iter().chain(&s.features) {
        println!("  {what}: {n} ({} %)", s.share(*n));
    }
    if n_differences == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

fn usage() -> ExitCode {
    println!("cargo xtask differential [--programs N] [--seed S] [--max-configurations N]");
    ExitCode::from(2)
}
