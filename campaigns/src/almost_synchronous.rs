//! `cargo xtask almost-synchronous`: the almost-synchronous exploration against the oracle on random programs.

use std::process::ExitCode;

use allways_testkit::Loaded;
use allways_testkit::almost_sync::{Agreement, Outcome, Programs, compare};
use allways_testkit::case::shrunk;

/// The comparison ends after so many differing programs.
const MAX_DIFFERENCES: usize = 5;

pub fn run(args: &[&str]) -> ExitCode {
    let (mut n_programs, mut seed, mut max_configurations) = (1_000u64, 0u64, 4_000usize);
    let mut shrinks = false;
    let mut programs = Programs::default();
    let understood = crate::options(args, |name, value| match name {
        "--programs" => value.parse().map(|n| n_programs = n).is_ok(),
        "--seed" => value.parse().map(|n| seed = n).is_ok(),
        "--only" => {
            programs = if value == "endless" { Programs::Endless } else { Programs::Finite };
            matches!(value, "endless" | "finite")
        }
        "--shrink" => value.parse().map(|is_on| shrinks = is_on).is_ok(),
        "--max-configurations" => value.parse().map(|n| max_configurations = n).is_ok(),
        _ => false,
    });
    if !understood {
        return usage();
    }
    let max_states = 5 * max_configurations as u64;
    let mut differences = 0;
    // Programs that may be endless, and others.
    let mut tallies = [Tally::default(), Tally::default()];
    for (number, seed) in (seed..seed + n_programs).enumerate() {
        if number > 0 && number % 1_000 == 0 {
            eprintln!("{number} programs, {differences} differ");
        }
        let (text, profile) = programs.program(seed);
        let options = programs.oracle_options(seed, max_configurations);
        let outcome = match Loaded::new("random.p", &text) {
            Ok(loaded) => compare(&loaded, 0, options, max_states),
            Err(error) => Outcome::Differ(error),
        };
        match outcome {
            Outcome::Agree(agreement) => tallies[usize::from(profile.roles == 0)].add(&agreement),
            Outcome::Differ(difference) => {
                differences += 1;
                println!("seed {seed} ({}): {difference}", profile.name);
                if shrinks {
                    let small = shrunk(&text, |loaded| {
                        Some(matches!(compare(loaded, 0, options, max_states), Outcome::Differ(_)))
                    });
                    println!("{small}");
                }
                if differences == MAX_DIFFERENCES {
                    break;
                }
            }
        }
    }
    for (name, tally) in ["endless", "finite"].into_iter().zip(&tallies) {
        tally.print(name);
    }
    println!("{differences} differ");
    if differences == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// What programs without difference were worth.
#[derive(Default)]
struct Tally {
    n_programs: u64,
    n_violated: u64,
    n_oracle_ended: u64,
    n_oracle: u64,
    /// By kind of exploration: those that ended, and their states.
    n_ended: [u64; 3],
    n_states: [u64; 3],
    n_approximated: u64,
    /// Not even the over-approximated exploration ended.
    n_skipped: u64,
    verdicts: [u64; 4],
    n_certificates: u64,
}

impl Tally {
    fn add(&mut self, agreement: &Agreement) {
        self.n_programs += 1;
        self.n_violated += u64::from(agreement.n_violations > 0);
        self.n_oracle_ended += u64::from(agreement.oracle_ended);
        self.n_oracle += agreement.n_oracle as u64;
        for (at, n_states) in agreement.n_states.iter().enumerate() {
            self.n_ended[at] += u64::from(n_states.is_some());
            self.n_states[at] += n_states.unwrap_or(0);
        }
        self.n_approximated += u64::from(agreement.approximated);
        self.n_skipped += u64::from(!agreement.approximated && agreement.n_states == [None; 3]);
        for (sum, n) in self.verdicts.iter_mut().zip(agreement.verdicts) {
            *sum += u64::from(n);
        }
        self.n_certificates += u64::from(agreement.n_certificates);
    }

    fn print(&self, name: &str) {
        let Tally { n_programs, n_violated, n_oracle_ended, n_oracle, n_ended, n_states, .. } = self;
        println!("{name}: {n_programs} programs agree, {n_violated} of them violated");
        println!("  {n_oracle_ended} enumerated to the end by the oracle, {n_oracle} configurations");
        println!(
            "  {} explored to the end, {} states; with sleep sets {}, {} states; by the canonical choice {}, {} states",
            n_ended[0], n_states[0], n_ended[1], n_states[1], n_ended[2], n_states[2]
        );
        println!(
            "  {} explored to the end by over-approximation; {} by nothing, and not compared",
            self.n_approximated, self.n_skipped
        );
        let [exact, approximate, violated, unknown] = self.verdicts;
        println!(
            "  verdicts: {exact} proofs, {approximate} by over-approximation, {violated} violated, {unknown} unknown; {} certificates accepted",
            self.n_certificates
        );
    }
}

fn usage() -> ExitCode {
    println!(
        "cargo xtask almost-synchronous [--programs N] [--seed S] [--max-configurations N] [--only endless|finite] [--shrink true]"
    );
    ExitCode::from(2)
}
