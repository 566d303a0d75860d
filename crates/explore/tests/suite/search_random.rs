//! The explicit-state search on random programs: against a plain search with snapshots, against the brute-force oracle,
//! and, for liveness, against a naive analysis of the graph.

use std::collections::HashMap;
use std::sync::Arc;

use crate::support::compare::{agrees_with_oracle, compare_all, limits, safety};
use crate::support::compile;
use allways_explore::Never;
use allways_explore::search::{ProveOptions, ProveReport, Reductions, StoreKind, prove};
use allways_machine::Executable;
use allways_run::{NetworkModel, NetworkOptions, Quiet, Verdict};
use allways_testkit::differential::{Only, Over, network_of, program_of};
use allways_testkit::generate::generate_any;
use allways_testkit::liveness;
use allways_testkit::oracle::{self, OracleOptions};

#[test]
fn random_programs_agree_with_plain_search() {
    let mut problems = Vec::new();
    let mut n_compared = 0;
    for seed in 0..250 {
        let (text, _) = generate_any(seed);
        let n_before = problems.len();
        n_compared += compare_all(&format!("seed {seed}"), &text, &mut problems);
        if problems.len() > n_before + 4 {
            problems.push(text);
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(n_compared > 150, "only {n_compared} programs");
}

#[test]
fn random_programs_have_the_verdicts_of_the_oracle() {
    let mut problems = Vec::new();
    let mut n_compared = 0;
    for seed in 10_000..10_200 {
        let (text, _) = generate_any(seed);
        let program = compile("random.p", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let reference =
            oracle::explore(&program, 0, OracleOptions { max_configurations: 4_000, ..Default::default() });
        if reference.bound_hit {
            continue;
        }
        n_compared += 1;
        let exe = Arc::new(Executable::new(&program, 0));
        let report =
            prove(&exe, &safety(), &Quiet, &Never).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        if !agrees_with_oracle(&report.verdict, &reference) {
            problems.push(format!("seed {seed}: {:?}, but {:?}", report.verdict, reference.violations));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(n_compared > 50, "only {n_compared} programs");
}

/// Each reduction alone, and all together.
fn reductions() -> Vec<(&'static str, Reductions)> {
    let mut all: Vec<_> = Reductions::NAMES
        .iter()
        .map(|name| (*name, Reductions::only(name).unwrap_or_else(|| panic!("no {name}"))))
        .collect();
    all.push(("all", Reductions::ALL));
    all
}

/// What one thread and two count, if it is not the same.
fn difference_by_threads(one: &ProveReport, two: &ProveReport) -> Option<String> {
    let figures = |report: &ProveReport| {
        let s = report.statistics;
        (s.n_configurations, s.n_transitions, s.n_ends, s.depth, s.saved)
    };
    let both = [figures(one), figures(two)];
    (both[0] != both[1]).then(|| format!("{both:?} with one thread and two"))
}

#[test]
fn reductions_change_no_verdict() {
    let mut problems = Vec::new();
    let mut n_holds = 0;
    // Configurations without and with each; of steps that change nothing, transitions.
    let mut sizes: HashMap<&str, (u64, u64)> = HashMap::new();
    for seed in 30_000..30_250 {
        let (text, _) = generate_any(seed);
        let program = compile("random.p", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let exe = Arc::new(Executable::new(&program, 0));
        if crate::support::plain(&exe, limits(), 2_000).is_none() {
            continue;
        }
        let run = |reductions, store, n_threads| {
            let options = ProveOptions { store, reductions, n_threads, ..safety() };
            prove(&exe, &options, &Quiet, &Never)
                .unwrap_or_else(|error| panic!("seed {seed}, {reductions:?}: {error}"))
        };
        let whole = run(Reductions::NONE, StoreKind::Exact, 1);
        n_holds += u32::from(matches!(whole.verdict, Verdict::Holds(_)));
        for (name, reductions) in reductions() {
            let reduced = run(reductions, StoreKind::Exact, 1);
            let two = run(reductions, StoreKind::Fingerprint, 2);
            if let Some(difference) = difference_by_threads(&reduced, &two) {
                problems.push(format!("seed {seed}, {name}: {difference}"));
            }
            match (&whole.verdict, &reduced.verdict) {
                (Verdict::Holds(_), Verdict::Holds(_)) => {
                    let (n_whole, n_reduced) = sizes.entry(name).or_default();
                    let size = |report: &ProveReport| match name {
                        "timer-stutter" => report.statistics.n_transitions,
                        _ => report.statistics.n_configurations,
                    };
                    *n_whole += size(&whole);
                    *n_reduced += size(&reduced);
                }
                (Verdict::Violated(a), Verdict::Violated(b))
                    if a.schedule.n_steps() == b.schedule.n_steps() => {}
                (Verdict::Unknown(_), Verdict::Unknown(_)) => {}
                (a, b) => problems.push(format!("seed {seed}, {name}: {b:?}, not {a:?}")),
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(n_holds > 40, "{n_holds} programs");
    // Over P's own network no sends are confluent, without faults none is late, and explicit search does not handle eagerly.
    let others = ["confluent-sends", "lazy-faults", "eager-handling"];
    for (name, (n_whole, n_reduced)) in sizes.iter().filter(|(name, _)| !others.contains(name)) {
        assert!(n_reduced < n_whole, "{name}: {n_reduced} of {n_whole}");
    }
}

/// Over networks, sends first: the same verdicts, ends and lengths of counterexamples, whatever the number of threads.
#[test]
fn confluent_sends_change_no_verdict() {
    let mut problems = Vec::new();
    let (mut n_holds, mut n_violated, mut n_whole, mut n_reduced) = (0, 0, 0, 0);
    for seed in 40_000..40_300 {
        let (text, _) = generate_any(seed);
        let program = compile("random.p", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let model = if seed % 2 == 0 { NetworkModel::Bag } else { NetworkModel::Fifo };
        let network = NetworkOptions { model, ..NetworkOptions::default() };
        let exe = Executable::new(&program, 0).with_network(&network).expect("names of the program");
        let exe = Arc::new(exe);
        if crate::support::plain(&exe, limits(), 2_000).is_none() {
            continue;
        }
        let run = |confluent_sends, store, n_threads| {
            let reductions = Reductions { confluent_sends, ..Reductions::NONE };
            let options = ProveOptions { store, reductions, n_threads, ..safety() };
            prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
        };
        let whole = run(false, StoreKind::Exact, 1);
        let reduced = run(true, StoreKind::Exact, 1);
        let two = run(true, StoreKind::Fingerprint, 2);
        let figures = |report: &ProveReport| {
            let s = report.statistics;
            (s.n_configurations, s.n_transitions, s.n_ends, s.depth, s.saved)
        };
        if figures(&reduced) != figures(&two) {
            problems.push(format!("seed {seed}: {:?} with two threads", [figures(&reduced), figures(&two)]));
        }
        match (&whole.verdict, &reduced.verdict) {
            (Verdict::Holds(_), Verdict::Holds(_)) => {
                n_holds += 1;
                n_whole += whole.statistics.n_configurations;
                n_reduced += reduced.statistics.n_configurations;
                let ends = [whole.statistics.n_ends, reduced.statistics.n_ends];
                if ends[0] != ends[1] {
                    problems.push(format!("seed {seed}: ends {ends:?}"));
                }
            }
            (Verdict::Violated(a), Verdict::Violated(b)) if a.schedule.n_steps() == b.schedule.n_steps() => {
                n_violated += 1;
            }
            (Verdict::Unknown(_), Verdict::Unknown(_)) => {}
            (a, b) => problems.push(format!("seed {seed}: {b:?}, not {a:?}")),
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(n_holds > 30 && n_violated > 30, "{n_holds} programs hold, {n_violated} do not");
    assert!(n_reduced < n_whole, "{n_reduced} of {n_whole} configurations");
}

/// With faults that are late, alone and with sends first: the same verdicts and lengths of counterexamples, whatever the number of
/// threads.
#[test]
fn lazy_faults_change_no_verdict() {
    let mut problems = Vec::new();
    let (mut n_holds, mut n_violated) = (0, 0);
    // By model and kind of fault, configurations without and with.
    let mut sizes: HashMap<String, (u64, u64)> = HashMap::new();
    for seed in 50_000..50_400 {
        let model = NetworkModel::ALL[seed as usize % NetworkModel::ALL.len()];
        let over = Over { model, faults: true, only: None };
        let text = program_of(seed, over);
        let program = compile("random.p", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let network = network_of(&program, seed, over);
        let exe = Executable::new(&program, 0).with_network(&network).expect("names of the program");
        let exe = Arc::new(exe);
        if crate::support::plain(&exe, limits(), 2_000).is_none() {
            continue;
        }
        let run = |reductions, store, n_threads| {
            let options = ProveOptions { store, reductions, n_threads, ..safety() };
            prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
        };
        let whole = run(Reductions::NONE, StoreKind::Exact, 1);
        for confluent_sends in [false, true] {
            let reductions = Reductions { lazy_faults: true, confluent_sends, ..Reductions::NONE };
            let reduced = run(reductions, StoreKind::Exact, 1);
            let two = run(reductions, StoreKind::Fingerprint, 2);
            if let Some(difference) = difference_by_threads(&reduced, &two) {
                problems.push(format!("seed {seed}: {difference}"));
            }
            match (&whole.verdict, &reduced.verdict) {
                (Verdict::Holds(_), Verdict::Holds(_)) => {
                    n_holds += 1;
                    let faults = [&network.lossy, &network.duplicating, &network.crash].map(Vec::is_empty);
                    let (n_whole, n_reduced) = sizes.entry(format!("{model:?} {faults:?}")).or_default();
                    *n_whole += whole.statistics.n_configurations;
                    *n_reduced += reduced.statistics.n_configurations;
                }
                (Verdict::Violated(a), Verdict::Violated(b))
                    if a.schedule.n_steps() == b.schedule.n_steps() =>
                {
                    n_violated += 1;
                }
                (Verdict::Unknown(_), Verdict::Unknown(_)) => {}
                (a, b) => {
                    problems.push(format!("seed {seed}, confluent sends {confluent_sends}: {b:?}, not {a:?}"))
                }
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(n_holds > 30 && n_violated > 30, "{n_holds} hold, {n_violated} do not");
    for (what, (n_whole, n_reduced)) in &sizes {
        // Over P's own network only crashes are late.
        let is_less = n_reduced < n_whole || what.starts_with("Inbox") && what.ends_with("true]");
        assert!(is_less, "{what}: {n_reduced} of {n_whole}");
    }
}

#[test]
fn liveness_agrees_with_a_naive_look_at_the_graph() {
    compare_liveness(20_000..21_250, 10, |_| Over::default());
}

#[test]
fn liveness_over_networks_agrees_with_a_naive_look_at_the_graph() {
    let all = |seed: u64| Over {
        model: NetworkModel::ALL[seed as usize % NetworkModel::ALL.len()],
        faults: (seed / 4).is_multiple_of(2),
        ..Over::default()
    };
    compare_liveness(40_000..42_000, 6, all);
}

/// Programs that go round for ever, most of which have infinite runs.
#[test]
fn liveness_of_rounds_agrees_with_a_naive_look_at_the_graph() {
    compare_liveness(0..125, 50, |_| Over { only: Some(Only::LivenessCycles), ..Over::default() });
    let all = |seed: u64| Over {
        model: NetworkModel::ALL[seed as usize % NetworkModel::ALL.len()],
        faults: (seed / 4).is_multiple_of(2),
        only: Some(Only::LivenessCycles),
    };
    compare_liveness(1_000..1_100, 30, all);
}

/// Programs of which most runs end, unless the right one comes first.
#[test]
fn liveness_of_rivals_agrees_with_a_naive_look_at_the_graph() {
    compare_liveness(0..125, 75, |_| Over { only: Some(Only::Races), ..Over::default() });
    let bag = Over { model: NetworkModel::Bag, only: Some(Only::Races), ..Over::default() };
    compare_liveness(0..50, 15, |_| bag);
}

fn compare_liveness(seeds: std::ops::Range<u64>, n_least: usize, over: impl Fn(u64) -> Over) {
    let mut problems = Vec::new();
    let mut n_compared = 0;
    for seed in seeds {
        let over = over(seed);
        let text = if over.only.is_some() { program_of(seed, over) } else { generate_any(seed).0 };
        if !text.contains("hot state") {
            continue;
        }
        let program = compile("random.p", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let network = network_of(&program, seed, over);
        let exe = Executable::new(&program, 0).with_network(&network).expect("names of the program");
        let exe = Arc::new(exe);
        let Some(graph) = liveness::Graph::new(&exe, 250) else { continue };
        n_compared += 1;
        if let Err(difference) = liveness::compare(&exe, liveness::Expected::of(&graph)) {
            problems.push(format!("seed {seed}, {difference}\n{text}"));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(n_compared >= n_least, "only {n_compared} programs");
}
