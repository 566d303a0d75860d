//! Steps that go first, alone: they satisfy the cycle proviso, and what comes after many of them is explored.

use std::sync::Arc;

use allways_explore::search::{ProveReport, Reductions};
use allways_machine::Executable;
use allways_run::{NetworkModel, NetworkOptions, Verdict};

use crate::support::{compile, prove_exactly};

fn executable(text: &str, model: NetworkModel) -> Arc<Executable> {
    executable_over(text, NetworkOptions { model, ..NetworkOptions::default() })
}

fn executable_over(text: &str, network: NetworkOptions) -> Arc<Executable> {
    let program = compile("first.p", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let exe = Executable::new(&program, 0).with_network(&network);
    Arc::new(exe.unwrap_or_else(|error| panic!("{error:?}")))
}

/// Steps to the violation.
fn depth(report: &ProveReport) -> usize {
    match &report.verdict {
        Verdict::Violated(found) => found.schedule.n_steps(),
        other => panic!("{other:?}"),
    }
}

/// One machine sends or creates machines for ever, harmlessly; another one violates a property.
#[test]
fn endless_senders_satisfy_the_cycle_proviso() {
    let endless = [
        "while (true) { send sink, eNoise; }",
        "while (true) { if ($) { send sink, eNoise; } else { send sink, eOther; } }",
        "while (true) { new Idle(); }",
        "new Parent();",
        "goto Again, sink;",
    ];
    for body in endless {
        let text = format!(
            "event eNoise; event eOther; event eBad;
            machine Idle {{ start state S {{ }} }}
            machine Parent {{ start state S {{ entry {{ new Parent(); }} }} }}
            machine Sink {{ start state S {{ on eNoise do {{ }} on eOther do {{ }} on eBad do {{ assert false; }} }} }}
            machine Endless {{
                start state S {{ entry (sink: machine) {{ {body} }} }}
                state Again {{ entry (sink: machine) {{ send sink, eNoise; goto Again, sink; }} }}
            }}
            machine Bad {{ start state S {{ entry (sink: machine) {{ send sink, eBad; }} }} }}
            machine Main {{ start state S {{ entry {{
                var sink: machine;
                sink = new Sink(); new Endless(sink); new Bad(sink);
            }} }} }}"
        );
        for model in NetworkModel::ALL {
            let exe = executable(&text, model);
            let expected = depth(&prove_exactly(&exe, Reductions::NONE, 1));
            for n_threads in [1, 2] {
                let found = depth(&prove_exactly(&exe, Reductions::ALL, n_threads));
                assert_eq!(found, expected, "{model:?}, {n_threads} threads\n{text}");
            }
        }
    }
}

/// More steps in a row than are folded: what comes after them is as it is without.
#[test]
fn long_rows_are_looked_at_to_their_end() {
    for n in [60, 62, 63, 64, 65, 66, 130] {
        for (last, is_broken) in [("eBad", true), ("eNoise", false)] {
            let text = format!(
                "event eNoise; event eBad;
                machine Sink {{ start state S {{ ignore eNoise; on eBad do {{ assert false; }} }} }}
                machine Row {{ start state S {{ entry (sink: machine) {{
                    var n: int;
                    while (n < {n}) {{ send sink, eNoise; n = n + 1; }}
                    send sink, {last};
                }} }} }}
                machine Main {{ start state S {{ entry {{ new Row(new Sink()); send new Sink(), eNoise; }} }} }}"
            );
            for (model, name) in [
                (NetworkModel::Inbox, "path-compression"),
                (NetworkModel::Bag, "confluent-sends"),
                (NetworkModel::Fifo, "confluent-sends"),
            ] {
                let exe = executable(&text, model);
                let reductions = Reductions::only(name).unwrap_or_else(|| panic!("{name}"));
                let report = prove_exactly(&exe, reductions, 1);
                let is_as_expected = match &report.verdict {
                    Verdict::Violated(_) => is_broken,
                    Verdict::Holds(_) => !is_broken,
                    Verdict::Unknown(_) => false,
                };
                assert!(is_as_expected, "{model:?}, {name}: {:?}\n{text}", report.verdict);
            }
        }
    }
}

/// What is dropped first takes nothing with it that may still arrive.
#[test]
fn a_drop_loses_nothing_else() {
    let text = "event eNoise; event eBad;
        machine Sink { start state S { ignore eNoise; on eBad do { assert false; } } }
        machine Main { start state S { entry {
            var sink: machine;
            sink = new Sink();
            send sink, eBad;
            send sink, eNoise;
        } } }";
    for model in [NetworkModel::Bag, NetworkModel::Causal, NetworkModel::Fifo] {
        let lossy = vec!["eBad".to_owned()];
        let exe = executable_over(text, NetworkOptions { model, lossy, ..NetworkOptions::default() });
        let expected = depth(&prove_exactly(&exe, Reductions::NONE, 1));
        assert_eq!(depth(&prove_exactly(&exe, Reductions::ALL, 1)), expected, "{model:?}");
    }
}

/// A machine that waits in `receive` and can crash has crashed where its message never arrives. One that cannot crash waits for ever when
/// the message is lost, or the sender has crashed.
#[test]
fn a_machine_that_waits_for_ever_has_not_crashed() {
    let text = "event e;
        machine Waiter { start state S { ignore e; entry { receive { case e: { } } } } }
        machine Sender { start state S { entry (waiter: machine) { send waiter, e; } } }
        machine Main { start state S { entry { new Sender(new Waiter()); } } }";
    let named = |name: &str| vec![name.to_owned()];
    let none = NetworkOptions::default();
    for model in NetworkModel::ALL {
        for (network, is_broken) in [
            (NetworkOptions { crash: named("Waiter"), ..none.clone() }, false),
            (NetworkOptions { crash: named("Main"), ..none.clone() }, true),
            (NetworkOptions { crash: named("Sender"), ..none.clone() }, true),
            (NetworkOptions { lossy: named("e"), ..none.clone() }, true),
            (NetworkOptions { duplicating: named("e"), ..none.clone() }, false),
        ] {
            let exe = executable_over(text, NetworkOptions { model, ..network.clone() });
            for reductions in [Reductions::NONE, Reductions::ALL] {
                let report = prove_exactly(&exe, reductions, 1);
                let found = matches!(report.verdict, Verdict::Violated(_));
                assert_eq!(found, is_broken, "{model:?} {network:?}: {:?}", report.verdict);
            }
        }
    }
}
