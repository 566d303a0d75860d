//! `cargo xtask differential`: the oracle against the kernel on random programs.

use std::process::ExitCode;

use allways_run::NetworkModel;
use allways_testkit::Loaded;
use allways_testkit::differential::{
    Comparison, Over, Statistics, compare_seed, network_of, shrink_difference,
};
use allways_testkit::oracle::OracleOptions;

/// So many differing programs are enough to look at.
const MAX_DIFFERENCES: usize = 5;

pub fn run(args: &[&str]) -> ExitCode {
    let (mut n_programs, mut seed, mut max_configurations) = (5_000u64, 0u64, 20_000usize);
    let mut models = vec![NetworkModel::Inbox];
    let faults = args.contains(&"--faults");
    let args: Vec<&str> = args.iter().copied().filter(|arg| *arg != "--faults").collect();
    let mut rest = args.as_slice();
    while let [name, value, more @ ..] = rest {
        let parsed = match *name {
            "--programs" => value.parse().map(|n| n_programs = n).is_ok(),
            "--seed" => value.parse().map(|n| seed = n).is_ok(),
            "--max-configurations" => value.parse().map(|n| max_configurations = n).is_ok(),
            "--network" if *value == "all" => {
                models = NetworkModel::ALL.to_vec();
                true
            }
            "--network" => NetworkModel::named(value).map(|model| models = vec![model]).is_some(),
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
    let mut n_differences = 0;
    for model in models {
        n_differences += compare(Over { model, faults }, seed..seed + n_programs, options);
    }
    if n_differences == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

fn compare(over: Over, seeds: std::ops::Range<u64>, options: OracleOptions) -> usize {
    let mut statistics = Statistics::default();
    let mut n_differences = 0;
    for seed in seeds {
        let (text, compared) = compare_seed(seed, over, options);
        statistics.add(&compared);
        if let Comparison::Differ(difference) = &compared.comparison {
            n_differences += 1;
            let network = Loaded::new("random.p", &text)
                .map(|loaded| network_of(&loaded.program, seed, over))
                .unwrap_or_default();
            let words = network.describe().unwrap_or_default();
            let small = shrink_difference(&text, &network, options);
            println!("seed {seed} {words}: {difference}\n{small}");
            if n_differences == MAX_DIFFERENCES {
                break;
            }
        }
    }
    let s = &statistics;
    println!(
        "network {}{}: {} programs, {} too large, {n_differences} differences",
        over.model.as_str(),
        if over.faults { " with faults" } else { "" },
        s.n_programs,
        s.n_too_large
    );
    println!(
        "{} configurations of the oracle, {} of the kernel",
        s.n_oracle_configurations, s.n_kernel_configurations
    );
    println!("{} % violated", s.share(s.n_violated));
    for (what, n) in s.kinds.iter().chain(&s.features) {
        println!("  {what}: {n} ({} %)", s.share(*n));
    }
    n_differences
}

fn usage() -> ExitCode {
    println!(
        "cargo xtask differential [--programs N] [--seed S] [--max-configurations N] \
         [--network inbox|causal|fifo|bag|all] [--faults]"
    );
    ExitCode::from(2)
}
