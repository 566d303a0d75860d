//! The oracle and the kernel on random programs, and the kernel's runs on themselves.
//!
//! `cargo xtask differential` does the same with more programs, and shrinks those that differ.

use std::collections::BTreeMap;
use std::sync::Arc;

use allways_machine::{DataPoint, Executable, Kernel, Silent, trace};
use allways_run::{Choice, Limits, NetworkModel};
use allways_testkit::differential::{Comparison, Only, Over, Statistics, compare_seed};
use allways_testkit::generate::generate_any;
use allways_testkit::generate::races::N_KINDS;
use allways_testkit::generate::workers;
use allways_testkit::oracle::{self, OracleOptions};
use allways_testkit::proof;
use allways_testkit::random::Random;
use allways_testkit::{Case, Loaded, bounded};

/// Seeds of the command line are small numbers; these are others.
const FIRST_SEED: u64 = 1_000_000_000;

#[test]
fn oracle_and_kernel_agree_on_random_programs() {
    let options = OracleOptions { max_configurations: 5_000, ..OracleOptions::default() };
    let mut statistics = Statistics::default();
    for seed in FIRST_SEED..FIRST_SEED + 400 {
        let (text, compared) = compare_seed(seed, Over::default(), options);
        statistics.add(&compared);
        if let Comparison::Differ(difference) = compared.comparison {
            panic!("seed {seed}: {difference}\n{text}");
        }
    }
    // Programs that do nothing agree easily: the features have to be there.
    let violated = statistics.share(statistics.n_violated);
    assert!((20..=55).contains(&violated), "{violated} % violated");
    assert!(statistics.n_too_large < 60, "{statistics:?}");
    for (feature, percent) in [
        ("several machines", 80),
        ("deferred at rest", 25),
        ("blocked in receive", 10),
        ("monitor moved", 15),
        ("several ends", 10),
        ("halted", 8),
        ("machine made by a made one", 10),
    ] {
        assert!(statistics.share(statistics.features[feature]) >= percent, "{feature}: {statistics:?}");
    }
}

/// Every model, without and with faults.
fn networks() -> impl Iterator<Item = Over> {
    NetworkModel::ALL
        .into_iter()
        .flat_map(|model| [false, true].map(|faults| Over { model, faults, ..Over::default() }))
}

#[test]
fn oracle_and_kernel_agree_over_networks() {
    let options = OracleOptions { max_configurations: 800, ..OracleOptions::default() };
    for over in networks().filter(|over| *over != Over::default()) {
        let mut statistics = Statistics::default();
        for seed in FIRST_SEED..FIRST_SEED + 40 {
            let (text, compared) = compare_seed(seed, over, options);
            statistics.add(&compared);
            if let Comparison::Differ(difference) = compared.comparison {
                panic!("seed {seed}, {over:?}: {difference}\n{text}");
            }
        }
        assert!(statistics.n_too_large < 30, "{over:?}: {statistics:?}");
    }
}

#[test]
fn random_runs_over_networks_replay_to_the_same_trace() {
    for over in networks() {
        for seed in FIRST_SEED..FIRST_SEED + 30 {
            let Case { text, exe, .. } = Case::new(seed, over);
            let mut random = Random::new(seed);
            let mut kernel = Kernel::new(exe.clone(), Limits::default());
            while kernel.is_running() && kernel.n_steps() < 200 {
                let mut choices: Vec<Choice> = kernel.choices().collect();
                if random.below(8) == 0 {
                    choices.extend(kernel.crashes().map(Choice::Crash));
                }
                let choice = choices[random.below(choices.len())];
                let mut answers = |point: DataPoint| random.below(point.n_answers as usize) as u32;
                kernel.take(choice, &mut answers, &mut Silent).expect("the step is possible");
            }
            let schedule = kernel.schedule().clone();
            let (first, outcome) = trace(&exe, Limits::default(), &schedule).expect("the schedule replays");
            assert_eq!(outcome, *kernel.outcome(), "seed {seed}\n{text}");
            assert_eq!(first.schedule(), schedule, "seed {seed}\n{text}");
        }
    }
}

#[test]
fn oracle_and_search_agree_on_random_programs() {
    compare_proofs(FIRST_SEED..FIRST_SEED + 120, 60, |_| Over::default());
}

#[test]
fn oracle_and_search_agree_over_networks() {
    let all = |seed: u64| Over {
        model: NetworkModel::ALL[seed as usize % NetworkModel::ALL.len()],
        faults: (seed / 4).is_multiple_of(2),
        ..Over::default()
    };
    compare_proofs(FIRST_SEED..FIRST_SEED + 200, 60, all);
}

#[test]
fn oracle_and_search_agree_on_what_is_read_of_values() {
    compare_proofs(0..120, 60, |_| Over { only: Some(Only::Ledgers), ..Over::default() });
}

/// Every form in which the order of a broadcast can be observed, four times.
#[test]
fn oracle_and_search_agree_on_broadcasts_whose_order_shows() {
    compare_proofs(0..108, 60, |_| Over { only: Some(Only::Broadcasts), ..Over::default() });
}

/// Every condition under which steps may go first, four times, and over networks.
#[test]
fn oracle_and_search_agree_on_who_comes_first() {
    compare_proofs(0..4 * N_KINDS, 90, |_| Over { only: Some(Only::Races), ..Over::default() });
    for (model, faults) in [
        (NetworkModel::Bag, false),
        (NetworkModel::Fifo, false),
        (NetworkModel::Causal, false),
        (NetworkModel::Bag, true),
        (NetworkModel::Inbox, true),
    ] {
        compare_proofs(0..N_KINDS, 15, |_| Over { model, faults, only: Some(Only::Races) });
    }
}

/// Every way in which a machine may stop to act, or its name may be kept.
#[test]
fn oracle_and_search_agree_on_which_machines_are_garbage() {
    compare_proofs(0..2 * workers::N_KINDS, 30, |_| Over { only: Some(Only::Workers), ..Over::default() });
}

/// All configurations that a renumbering of counters, or a renaming of machines, takes to be one behave alike.
#[test]
fn quotients_merge_only_configurations_that_behave_alike() {
    let mut n_merged = 0;
    for (seed, only) in
        (0..300).map(|seed| (seed, Only::Counting)).chain((0..60).map(|seed| (seed, Only::Workers)))
    {
        let Case { text, exe, .. } = Case::new(seed, Over { only: Some(only), ..Over::default() });
        for (name, reductions) in proof::quotients() {
            match proof::compare_quotient(&exe, reductions, 120) {
                Err(difference) => panic!("seed {seed}, {name}: {difference}\n{text}"),
                Ok(Some(found)) => n_merged += usize::from(found.n_representatives < found.n_configurations),
                Ok(None) => {}
            }
        }
    }
    assert!(n_merged > 40, "something is merged in {n_merged} programs only");
}

fn compare_proofs(seeds: std::ops::Range<u64>, n_least: usize, over: impl Fn(u64) -> Over) {
    let options = OracleOptions { max_configurations: 1_500, ..OracleOptions::default() };
    let mut n_compared = 0;
    for seed in seeds {
        let Case { text, loaded, network, exe, .. } = Case::new(seed, over(seed));
        let reference = oracle::explore_over(&loaded.program, 0, options, &network);
        if reference.bound_hit {
            continue;
        }
        n_compared += 1;
        for way in proof::ways_over(&exe) {
            if let Err(difference) = proof::compare(&loaded, &exe, &reference, way) {
                panic!("seed {seed}, {network:?}, {way:?}: {difference}\n{text}");
            }
        }
    }
    assert!(n_compared > n_least, "only {n_compared} programs");
}

#[test]
fn random_runs_replay_to_the_same_trace() {
    for seed in FIRST_SEED..FIRST_SEED + 150 {
        let (text, _) = generate_any(seed);
        let loaded = Loaded::new("random.p", &text).expect("random programs compile");
        let exe = Arc::new(Executable::new(&loaded.program, 0));
        let mut kernel = Kernel::new(exe.clone(), Limits::default());
        for run in 0..3 {
            let mut random = Random::new(seed ^ run);
            kernel.reset();
            // Null handlers run for ever.
            while kernel.is_running() && kernel.n_steps() < 200 {
                let choice =
                    kernel.nth_enabled(random.below(kernel.n_enabled())).expect("some machine can step");
                let mut answers = |point: DataPoint| random.below(point.n_answers as usize) as u32;
                kernel.take(choice, &mut answers, &mut Silent).expect("the machine is enabled");
            }
            let schedule = kernel.schedule().clone();
            let (first, outcome) = trace(&exe, Limits::default(), &schedule).expect("the schedule replays");
            assert_eq!(outcome, *kernel.outcome(), "seed {seed}\n{text}");
            assert_eq!(first.schedule(), schedule, "seed {seed}\n{text}");
            let (second, _) = trace(&exe, Limits::default(), &schedule).expect("the schedule replays");
            assert_eq!(first, second, "seed {seed}\n{text}");
        }
    }
}

/// Within a bound of each kind: the same verdicts and local states, and whether it was met.
#[test]
fn searches_agree_within_bounds() {
    let options = OracleOptions { max_configurations: 600, ..OracleOptions::default() };
    let mut n_met: BTreeMap<String, usize> = BTreeMap::new();
    for model in [NetworkModel::Inbox, NetworkModel::Fifo] {
        let over = Over { model, ..Over::default() };
        // And some where the last step within the bound leaves a machine about to fail.
        for seed in (FIRST_SEED..FIRST_SEED + 240).chain([100_003_584, 100_007_364]) {
            let case = Case::with_text(seed, over, bounded::program_of(seed, over));
            let Case { text, loaded, network, exe, .. } = case;
            let within = bounded::within(&loaded.program, &exe, seed);
            let Some(reference) = bounded::explore(&loaded, &exe, &within, options, &network) else {
                continue;
            };
            for way in proof::ways_within(&exe, &within) {
                if let Err(difference) = proof::compare_within(&loaded, &exe, &reference, way, &within) {
                    panic!("seed {seed} {within:?} {way:?}: {difference}\n{text}");
                }
            }
            if reference.is_hit && !reference.summary.is_violated() {
                let name = format!("{:?}", within.bound).split(['(', ')']).nth(1).map(str::to_owned);
                *n_met.entry(name.unwrap_or_default()).or_default() += 1;
            }
        }
    }
    for bound in ["Steps", "InboxLength", "Occurrences", "Machines", "Choices", "Variables"] {
        assert!(n_met.get(bound).is_some_and(|&n| n >= 3), "{bound}: {n_met:?}");
    }
}
