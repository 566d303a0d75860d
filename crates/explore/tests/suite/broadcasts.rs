//! Broadcasts without order, and chains: the same verdicts and lengths of counterexamples as without, on programs in which
//! a machine sends to all its peers, some of which observe the order.

use std::sync::Arc;

use allways_explore::search::{ProveReport, Reductions};
use allways_machine::Executable;
use allways_run::{NetworkModel, NetworkOptions, Verdict};
use allways_testkit::generate::broadcasts::broadcasts;

use crate::support::{compile, prove_exactly};

#[test]
fn the_order_is_not_observable() {
    let mut problems = Vec::new();
    let (mut n_holds, mut n_violated, mut n_smaller) = (0, 0, [0; 2]);
    for seed in 0..150 {
        let text = broadcasts(seed);
        let program =
            compile("random.p", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        let exe = Arc::new(Executable::new(&program, 0));
        let whole = prove_exactly(&exe, Reductions::NONE, 1);
        let ordered = Reductions { broadcasts: false, path_compression: false, ..Reductions::ALL };
        let chained = prove_exactly(&exe, Reductions { path_compression: true, ..ordered }, 1);
        let ordered = prove_exactly(&exe, ordered, 1);
        let by_name = |name| Reductions::only(name).unwrap_or_else(|| panic!("{name}"));
        let reduced = prove_exactly(&exe, Reductions::ALL, 1);
        let others = [
            prove_exactly(&exe, by_name("broadcasts"), 1),
            prove_exactly(&exe, Reductions { symmetry: true, ..by_name("broadcasts") }, 1),
            prove_exactly(&exe, by_name("path-compression"), 1),
            prove_exactly(&exe, Reductions::ALL, 2),
        ];
        match &whole.verdict {
            Verdict::Holds(_) => n_holds += 1,
            Verdict::Violated(_) => n_violated += 1,
            Verdict::Unknown(_) => {}
        }
        for (at, other) in [&ordered, &chained, &reduced].into_iter().chain(&others).enumerate() {
            match (&whole.verdict, &other.verdict) {
                (Verdict::Holds(_), Verdict::Holds(_)) => {}
                (Verdict::Violated(a), Verdict::Violated(b))
                    if a.schedule.n_steps() >= b.schedule.n_steps() => {}
                (a, b) => problems.push(format!("seed {seed}, {at}: {b:?}, not {a:?}\n{text}")),
            }
        }
        let size = |report: &ProveReport| report.statistics.n_configurations;
        if size(&others[3]) != size(&reduced) {
            problems.push(format!(
                "seed {seed}: {} configurations by two threads, not {}",
                size(&others[3]),
                size(&reduced)
            ));
        }
        if let Verdict::Holds(_) = whole.verdict {
            n_smaller[0] += u64::from(size(&chained) < size(&ordered));
            n_smaller[1] += u64::from(size(&reduced) < size(&chained));
        }
    }
    assert!(problems.is_empty(), "{} of\n{}", problems.len(), problems[0]);
    assert!(n_holds > 20 && n_violated > 20, "{n_holds} programs hold, {n_violated} do not");
    assert!(
        n_smaller.iter().all(|&n| n > 3),
        "path-compression made {}, broadcasts {} smaller",
        n_smaller[0],
        n_smaller[1]
    );
}

/// Each step has two outcomes that meet again soon: following all paths before anything is stored never ends.
#[test]
fn ways_that_meet_again_are_not_followed_one_by_one() {
    // Before one machine asks alone, two can step: else there is no chain.
    let ticks = "event eTick;
        machine Ticker { var n: int; start state S {
            entry { send this, eTick; }
            on eTick do { if ($) { n = (n + 1) % 3; } send this, eTick; }
        } }
        machine Idle { start state S { } }
        machine Main { start state S { entry { new Ticker(); new Idle(); } } }";
    // It asks while another one is put off, and comes to an end.
    let asks = "event eNoise;
        machine Sink { start state S { ignore eNoise; } }
        machine Asker { var n: int; var i: int; start state S { entry (sink: machine) {
            while (i < 40) {
                if ($) { n = (n + 1) % 3; }
                send sink, eNoise;
                i = i + 1;
            }
        } } }
        machine Other { start state S { entry (sink: machine) { send sink, eNoise; } } }
        machine Main { start state S { entry { new Asker(new Sink()); new Other(new Sink()); } } }";
    // Over a network each send goes first.
    let sends = "event eOne; event eOther;
        machine Sink { start state S { ignore eOne, eOther; } }
        machine Main { var n: int; start state S { entry {
            var sink: machine;
            sink = new Sink();
            while (n < 60) {
                if ($) { send sink, eOne; } else { send sink, eOther; }
                n = n + 1;
            }
        } } }";
    for (text, model) in
        [(ticks, NetworkModel::Inbox), (asks, NetworkModel::Inbox), (sends, NetworkModel::Bag)]
    {
        let program = compile("ways.p", text).unwrap_or_else(|error| panic!("{error}"));
        let network = NetworkOptions { model, ..NetworkOptions::default() };
        let exe = Executable::new(&program, 0).with_network(&network);
        let exe = Arc::new(exe.unwrap_or_else(|error| panic!("{error:?}")));
        for n_threads in [1, 2] {
            let report = prove_exactly(&exe, Reductions::ALL, n_threads);
            assert!(matches!(report.verdict, Verdict::Holds(_)), "{:?}", report.verdict);
            assert!(report.statistics.n_configurations < 1_000, "{:?}", report.statistics);
        }
    }
}
