//! Steps that go first, alone: nobody is put off for ever by them, and what comes after many of them is looked at.

mod support;

use std::sync::Arc;

use allways_explore::search::{ProveReport, Reductions};
use allways_machine::Executable;
use allways_run::{NetworkModel, NetworkOptions, Verdict};

use support::{compile, prove_exactly};

fn executable(text: &str, model: NetworkModel) -> Arc<Executable> {
    let program = compile("first.p", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let network = NetworkOptions { model, ..NetworkOptions::default() };
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

/// Somebody sends without end, or makes machines without end, to nobody's harm; what somebody else does breaks something.
#[test]
fn who_sends_without_end_puts_nobody_off() {
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
                (NetworkModel::Inbox, "chains"),
                (NetworkModel::Bag, "hand-overs"),
                (NetworkModel::Fifo, "hand-overs"),
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
