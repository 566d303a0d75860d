//! The explicit-state search on random programs: against a plain search with snapshots, against the brute-force oracle,
//! and, for liveness, against a naive look at the graph.

mod support;

use std::collections::HashMap;
use std::sync::Arc;

use allways_explore::search::{ProveOptions, ProveReport, Reductions, StoreKind, prove};
use allways_explore::{Fairness, Never};
use allways_machine::{Actor, Executable, Kernel, Note, Outcome, Recorder, Scene, Script};
use allways_p::hir::Temperature;
use allways_run::{Certainty, Choice, NetworkModel, NetworkOptions, Quiet, Verdict, ViolationKind};
use allways_testkit::differential::{Over, network_of};
use allways_testkit::generate::generate_any;
use allways_testkit::oracle::{self, OracleOptions};
use support::compare::{compare_all, limits, safety};
use support::compile;

#[test]
fn random_programs_agree_with_plain_search() {
    let mut problems = Vec::new();
    let mut n_compared = 0;
    for seed in 0..500 {
        let (text, _) = generate_any(seed);
        let n_before = problems.len();
        n_compared += compare_all(&format!("seed {seed}"), &text, &mut problems);
        if problems.len() > n_before + 4 {
            problems.push(text);
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(n_compared > 300, "only {n_compared} programs");
}

#[test]
fn random_programs_have_the_verdicts_of_the_oracle() {
    let mut problems = Vec::new();
    let mut n_compared = 0;
    for seed in 10_000..10_400 {
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
        let agrees = match &report.verdict {
            Verdict::Violated(found) => {
                reference.violations.iter().any(|(kind, _)| *kind == found.violation.kind)
            }
            Verdict::Holds(_) => !reference.is_violated() && !reference.is_unknown,
            Verdict::Unknown(_) => reference.is_unknown && !reference.is_violated(),
        };
        if !agrees {
            problems.push(format!("seed {seed}: {:?}, but {:?}", report.verdict, reference.violations));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(n_compared > 100, "only {n_compared} programs");
}

/// The graph of a small program, by brute force.
struct Naive {
    /// Monitors hot and cold in each node.
    heat: Vec<(u64, u64)>,
    /// Target and monitors hot and cold in the step.
    edges: Vec<Vec<(usize, u64, u64)>>,
}

struct Temperatures<'a> {
    exe: &'a Executable,
    hot: u64,
    cold: u64,
}

impl Recorder for Temperatures<'_> {
    fn record(&mut self, _: &Scene<'_>, note: Note) {
        if let Note::Enter { actor: Actor::Monitor(monitor), state } = note {
            match self.exe.states[state as usize].temperature {
                Temperature::Hot => self.hot |= 1 << monitor,
                Temperature::Cold => self.cold |= 1 << monitor,
                Temperature::Warm => {}
            }
        }
    }
}

/// `None` when it is too large, or something breaks in it.
fn naive(exe: &Arc<Executable>) -> Option<Naive> {
    let mut kernel = Kernel::new(exe.clone(), limits());
    let mut numbers: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut graph = Naive { heat: vec![(0, 0)], edges: vec![Vec::new()] };
    let mut bytes = Vec::new();
    kernel.encode(&mut bytes);
    numbers.insert(bytes, 0);
    let mut open = vec![(0, kernel.save())];
    while let Some((from, snapshot)) = open.pop() {
        kernel.restore(&snapshot);
        // Nobody has to crash: these steps leave the graph apart, so that what is a bottom does not depend on them.
        let crashes: Vec<Choice> = kernel.crashes().map(Choice::Crash).collect();
        let choices: Vec<Choice> = kernel.choices().chain(crashes).collect();
        for choice in choices {
            let mut script = Script::default();
            loop {
                kernel.restore(&snapshot);
                let mut heat = Temperatures { exe, hot: 0, cold: 0 };
                kernel.take(choice, &mut script, &mut heat).expect("it is possible");
                let (hot, cold) = (heat.hot, heat.cold);
                if !matches!(kernel.outcome(), Outcome::Running | Outcome::Quiescent) {
                    return None;
                }
                let mut bytes = Vec::new();
                kernel.encode(&mut bytes);
                let to = *numbers.entry(bytes).or_insert_with(|| {
                    let at = |temperature| {
                        (0..kernel.n_monitors())
                            .filter(|&monitor| kernel.temperature(monitor) == temperature)
                            .fold(0u64, |bits, monitor| bits | 1 << monitor)
                    };
                    graph.heat.push((at(Temperature::Hot), at(Temperature::Cold)));
                    graph.edges.push(Vec::new());
                    open.push((graph.heat.len() - 1, kernel.save()));
                    graph.heat.len() - 1
                });
                if !matches!(choice, Choice::Crash(_)) {
                    graph.edges[from].push((to, hot, cold));
                }
                if graph.heat.len() > 250 {
                    return None;
                }
                if !script.advance() {
                    break;
                }
            }
        }
    }
    Some(graph)
}

/// Whether some bottom component is hot and never cold for some monitor.
fn is_violated(graph: &Naive) -> bool {
    let n = graph.heat.len();
    let reach: Vec<Vec<bool>> = (0..n)
        .map(|start| {
            let mut seen = vec![false; n];
            let mut open = vec![start];
            while let Some(at) = open.pop() {
                for &(to, ..) in &graph.edges[at] {
                    if !std::mem::replace(&mut seen[to], true) {
                        open.push(to);
                    }
                }
            }
            seen
        })
        .collect();
    (0..n).any(|node| {
        let members: Vec<usize> = (0..n).filter(|&other| reach[node][other]).collect();
        let is_bottom =
            !members.is_empty() && reach[node][node] && members.iter().all(|&other| reach[other][node]);
        if !is_bottom {
            return false;
        }
        let (mut hot, mut cold) = (0, 0);
        for &member in &members {
            hot |= graph.heat[member].0;
            cold |= graph.heat[member].1;
            for &(_, step_hot, step_cold) in &graph.edges[member] {
                hot |= step_hot;
                cold |= step_cold;
            }
        }
        hot & !cold != 0
    })
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

#[test]
fn reductions_change_no_verdict() {
    let mut problems = Vec::new();
    let mut n_holds = 0;
    // Configurations without and with each; of steps that change nothing, transitions.
    let mut sizes: HashMap<&str, (u64, u64)> = HashMap::new();
    for seed in 30_000..30_600 {
        let (text, _) = generate_any(seed);
        let program = compile("random.p", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let exe = Arc::new(Executable::new(&program, 0));
        if support::plain(&exe, limits(), 2_000).is_none() {
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
            let figures = |report: &ProveReport| {
                let s = report.statistics;
                (s.n_configurations, s.n_transitions, s.n_ends, s.depth, s.saved)
            };
            if figures(&reduced) != figures(&two) {
                let both = [figures(&reduced), figures(&two)];
                problems.push(format!("seed {seed}, {name}: {both:?} with one thread and two"));
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
    assert!(n_holds > 100, "{n_holds} programs");
    // Over P's own network nothing is handed over.
    for (name, (n_whole, n_reduced)) in sizes.iter().filter(|(name, _)| **name != "hand-overs") {
        assert!(n_reduced < n_whole, "{name}: {n_reduced} of {n_whole}");
    }
}

/// Over networks, sends first: the same verdicts, ends and lengths of counterexamples, whatever the number of threads.
#[test]
fn hand_overs_change_no_verdict() {
    let mut problems = Vec::new();
    let (mut n_holds, mut n_violated, mut n_whole, mut n_reduced) = (0, 0, 0, 0);
    for seed in 40_000..40_900 {
        let (text, _) = generate_any(seed);
        let program = compile("random.p", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let model = if seed % 2 == 0 { NetworkModel::Bag } else { NetworkModel::Fifo };
        let network = NetworkOptions { model, ..NetworkOptions::default() };
        let exe = Executable::new(&program, 0).with_network(&network).expect("names of the program");
        let exe = Arc::new(exe);
        if support::plain(&exe, limits(), 2_000).is_none() {
            continue;
        }
        let run = |hand_overs, store, n_threads| {
            let reductions = Reductions { hand_overs, ..Reductions::NONE };
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
    assert!(n_holds > 100 && n_violated > 100, "{n_holds} programs hold, {n_violated} do not");
    assert!(n_reduced < n_whole, "{n_reduced} of {n_whole} configurations");
}

#[test]
fn liveness_agrees_with_a_naive_look_at_the_graph() {
    compare_liveness(20_000..22_500, 20, |_| Over::default());
}

#[test]
fn liveness_over_networks_agrees_with_a_naive_look_at_the_graph() {
    let all = |seed: u64| Over {
        model: NetworkModel::ALL[seed as usize % NetworkModel::ALL.len()],
        faults: (seed / 4).is_multiple_of(2),
        ..Over::default()
    };
    compare_liveness(40_000..43_000, 10, all);
}

fn compare_liveness(seeds: std::ops::Range<u64>, n_least: usize, over: impl Fn(u64) -> Over) {
    let mut problems = Vec::new();
    let (mut n_compared, mut n_violated) = (0, 0);
    for seed in seeds {
        let (text, _) = generate_any(seed);
        if !text.contains("hot state") {
            continue;
        }
        let program = compile("random.p", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let network = network_of(&program, seed, over(seed));
        let exe = Executable::new(&program, 0).with_network(&network).expect("names of the program");
        let exe = Arc::new(exe);
        let Some(graph) = naive(&exe) else { continue };
        n_compared += 1;
        let expected = is_violated(&graph);
        n_violated += usize::from(expected);
        let options = ProveOptions {
            store: StoreKind::Exact,
            fairness: Some(Fairness::Random),
            limits: limits(),
            ..safety()
        };
        for reductions in [Reductions::NONE, Reductions::ALL] {
            let options = ProveOptions { reductions, probes: false, ..options.clone() };
            let report =
                prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            let found = match &report.verdict {
                Verdict::Violated(found) => {
                    found.violation.kind == ViolationKind::Liveness(Certainty::Certain)
                }
                Verdict::Holds(_) => false,
                Verdict::Unknown(reason) => panic!("seed {seed}: {reason:?}"),
            };
            if found != expected {
                problems.push(format!("seed {seed}, {reductions:?}: {found}, not {expected}\n{text}"));
            }
        }
        // Weak fairness asks for less, so it finds at least as much; and whether runs end is asked of smaller graphs.
        let [whole, reduced] = [Reductions::NONE, Reductions::ALL].map(|reductions| {
            let fairness = Some(Fairness::Weak);
            let options = ProveOptions { fairness, reductions, probes: false, ..options.clone() };
            let weak = prove(&exe, &options, &Quiet, &Never);
            let weak = weak.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            matches!(weak.verdict, Verdict::Violated(_))
        });
        if expected && !whole || whole != reduced {
            problems.push(format!("seed {seed}: under weak fairness {whole} and {reduced}\n{text}"));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(n_compared >= n_least, "only {n_compared} programs, {n_violated} of them violated");
}
