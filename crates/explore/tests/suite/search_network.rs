//! Search over networks that delay messages, and with faults: against a plain search with snapshots, and against the
//! brute-force oracle.

use std::sync::Arc;

use crate::support::compare::{agrees_with_oracle, compare_over, limits, safety};
use crate::support::compile;
use allways_explore::Never;
use allways_explore::search::{ProveOptions, Reductions, prove};
use allways_machine::Executable;
use allways_run::{Certainty, NetworkModel, NetworkOptions, Quiet, Verdict, ViolationKind};
use allways_testkit::differential::{Over, network_of, program_of};
use allways_testkit::oracle::{self, OracleOptions};

/// Every model, without and with faults; but P's own without is tested elsewhere.
fn networks() -> Vec<Over> {
    let all = NetworkModel::ALL
        .into_iter()
        .flat_map(|model| [false, true].map(|faults| Over { model, faults, ..Over::default() }));
    all.filter(|over| *over != Over::default()).collect()
}

#[test]
fn random_programs_agree_with_plain_search() {
    let mut problems = Vec::new();
    for over in networks() {
        let mut n_compared = 0;
        for seed in 50_000..50_030 {
            let text = program_of(seed, over);
            let n_before = problems.len();
            let name = format!("seed {seed}, {over:?}");
            n_compared +=
                compare_over(&name, &text, &mut problems, |program| network_of(program, seed, over));
            if problems.len() > n_before + 4 {
                problems.push(text);
            }
        }
        assert!(n_compared > 10, "only {n_compared} programs over {over:?}");
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn random_programs_have_the_verdicts_of_the_oracle() {
    let mut problems = Vec::new();
    let options = OracleOptions { max_configurations: 1_000, ..Default::default() };
    for over in networks() {
        let (mut n_compared, mut n_violated) = (0, 0);
        for seed in 60_000..60_030 {
            let text = program_of(seed, over);
            let program = compile("random.p", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            let network = network_of(&program, seed, over);
            let reference = oracle::explore_over(&program, 0, options, &network);
            if reference.bound_hit {
                continue;
            }
            n_compared += 1;
            n_violated += usize::from(reference.is_violated());
            let exe = Executable::new(&program, 0).with_network(&network).expect("names of the program");
            let report = prove(&Arc::new(exe), &safety(), &Quiet, &Never)
                .unwrap_or_else(|error| panic!("seed {seed}, {over:?}: {error}"));
            if !agrees_with_oracle(&report.verdict, &reference) {
                let expected = &reference.violations;
                problems.push(format!("seed {seed}, {over:?}: {:?}, but {expected:?}", report.verdict));
            }
        }
        assert!(n_compared > 8 && n_violated > 1, "{n_violated} of {n_compared} violated over {over:?}");
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn reductions_change_no_verdict() {
    let mut problems = Vec::new();
    for over in networks() {
        let (mut n_holds, mut n_violated) = (0, 0);
        for seed in 70_000..70_030 {
            let text = program_of(seed, over);
            let program = compile("random.p", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            let network = network_of(&program, seed, over);
            let exe = Executable::new(&program, 0).with_network(&network).expect("names of the program");
            let exe = Arc::new(exe);
            if crate::support::plain(&exe, limits(), 1_000).is_none() {
                continue;
            }
            let run = |reductions| {
                let options = ProveOptions { reductions, ..safety() };
                prove(&exe, &options, &Quiet, &Never)
                    .unwrap_or_else(|error| panic!("seed {seed}, {over:?}: {error}\n{text}"))
            };
            let [whole, reduced] = [Reductions::NONE, Reductions::ALL].map(run);
            let is_same = match (&whole.verdict, &reduced.verdict) {
                (Verdict::Holds(_), Verdict::Holds(_)) => true,
                (Verdict::Unknown(_), Verdict::Unknown(_)) => true,
                (Verdict::Violated(a), Verdict::Violated(b)) => a.schedule.n_steps() == b.schedule.n_steps(),
                _ => false,
            };
            if !is_same {
                problems
                    .push(format!("seed {seed}, {over:?}: {:?}, not {:?}", reduced.verdict, whole.verdict));
            }
            match whole.verdict {
                Verdict::Holds(_) => n_holds += 1,
                Verdict::Violated(_) => n_violated += 1,
                Verdict::Unknown(_) => {}
            }
        }
        assert!(n_holds > 2 && n_violated > 2, "{n_holds} hold and {n_violated} do not over {over:?}");
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// The kind of violation that a program of the corpus shows over a network, if any.
fn verdict(file: &str, network: &NetworkOptions) -> Option<ViolationKind> {
    let texts = crate::support::texts("corpus/p/network");
    let (_, text) = texts.into_iter().find(|(name, _)| name == file).expect("the program is there");
    let program = compile(file, &text).unwrap_or_else(|error| panic!("{error}"));
    let exe = Executable::new(&program, 0).with_network(network).expect("names of the program");
    let mut options = safety();
    options.fairness = Some(allways_explore::Fairness::Random);
    let report = prove(&Arc::new(exe), &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"));
    match report.verdict {
        Verdict::Holds(_) => None,
        Verdict::Violated(found) => Some(found.violation.kind),
        Verdict::Unknown(reason) => panic!("{file}: {reason:?}"),
    }
}

#[test]
fn each_order_that_a_program_needs_is_found() {
    let over = |model| NetworkOptions { model, ..NetworkOptions::default() };
    let broken = Some(ViolationKind::Assertion);
    use NetworkModel::{Bag, Causal, Fifo, Inbox};
    // What the program needs, and which networks break it.
    for (file, expected) in [
        ("two-senders.p", [(Inbox, None), (Causal, broken), (Fifo, broken), (Bag, broken)]),
        ("relay.p", [(Inbox, None), (Causal, None), (Fifo, broken), (Bag, broken)]),
        ("stream.p", [(Inbox, None), (Causal, None), (Fifo, None), (Bag, broken)]),
    ] {
        for (model, kind) in expected {
            assert_eq!(verdict(file, &over(model)), kind, "{file} over {model:?}");
        }
    }
}

#[test]
fn faults_break_what_does_not_expect_them() {
    let none = NetworkOptions::default();
    let liveness = Some(ViolationKind::Liveness(Certainty::Certain));
    let named = |name: &str| vec![name.to_owned()];
    assert_eq!(verdict("request.p", &none), None);
    for model in NetworkModel::ALL {
        let lossy = NetworkOptions { model, lossy: named("eReply"), ..none.clone() };
        assert_eq!(verdict("request.p", &lossy), Some(ViolationKind::Deadlock), "{model:?}");
        let twice = NetworkOptions { model, duplicating: named("eRequest"), ..none.clone() };
        assert_eq!(verdict("request.p", &twice), Some(ViolationKind::Assertion), "{model:?}");
        let crash = NetworkOptions { model, crash: named("Server"), ..none.clone() };
        assert_eq!(verdict("crash.p", &crash), liveness, "{model:?}");
    }
    assert_eq!(verdict("crash.p", &none), None);
}
