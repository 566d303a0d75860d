//! The state graph shows exactly the configurations that the search counts.

use std::sync::Arc;

use crate::support::compare::{limits, safety};
use allways_explore::Never;
use allways_explore::search;
use allways_explore::state_graph::{Goal, NodeKind, Reach, reach, state_graph};
use allways_machine::Executable;
use allways_p::hir::{EventId, MachineKind, Program};
use allways_run::{NetworkModel, NetworkOptions, Quiet, Schedule, Verdict};

fn faults(program: &Program, which: usize) -> NetworkOptions {
    let mut options = NetworkOptions::default();
    let events = || {
        let events = program.events.ids().filter(|&event| event != EventId::NULL);
        events.map(|event| program.name(program.events[event].name).to_owned()).collect()
    };
    let machines = program.machines.iter().filter(|machine| machine.kind == MachineKind::Machine);
    match which % 5 {
        1 => options.lossy = events(),
        2 => options.duplicating = events(),
        3 => options.crash = machines.map(|machine| program.name(machine.name).to_owned()).collect(),
        _ => {}
    }
    options
}

#[test]
fn graph_has_the_configurations_of_the_search() {
    let (mut n_compared, mut n_tests) = (0, 0);
    for (name, text) in crate::support::corpus() {
        let Ok(program) = crate::support::compile(&name, &text) else { continue };
        for test in 0..program.tests.len() {
            // Over each network in turn, with everything lossy or doubled, or everybody crashing.
            let model = NetworkModel::ALL[n_tests % NetworkModel::ALL.len()];
            let network = NetworkOptions { model, ..faults(&program, n_tests / NetworkModel::ALL.len()) };
            n_tests += 1;
            let exe = Arc::new(Executable::new(&program, test).with_network(&network).expect("names"));
            // Some programs of the corpus never end.
            let graph = state_graph(&exe, limits(), 400, &Never);
            let is_clean = graph
                .nodes
                .iter()
                .all(|node| matches!(node.kind, NodeKind::Start | NodeKind::Plain | NodeKind::End));
            // Where texts of machines are observed the graph tells more apart than the search, which gives no answer.
            if !graph.is_complete || !is_clean || exe.observed_text.is_some() {
                continue;
            }
            let found = search::prove(&exe, &safety(), &Quiet, &Never).expect("replays");
            assert!(matches!(found.verdict, Verdict::Holds(_)), "{name}");
            assert_eq!(graph.nodes.len() as u64, found.statistics.n_configurations, "{name}");
            let n_ends = graph.nodes.iter().filter(|node| node.kind == NodeKind::End).count();
            assert_eq!(n_ends as u64, found.statistics.n_ends, "{name}");
            n_compared += 1;
        }
    }
    assert!(n_compared > 50, "{n_compared}");
}

#[test]
fn graph_of_too_many_is_cut_and_says_so() {
    let (name, text) = crate::support::corpus().remove(0);
    let program = crate::support::compile(&name, &text).expect("compiles");
    let exe = Arc::new(Executable::new(&program, 0));
    let graph = state_graph(&exe, limits(), 2, &Never);
    assert!(!graph.is_complete);
    assert!(graph.nodes.iter().any(|node| node.kind == NodeKind::Open));
}

#[test]
fn graph_shows_enums_by_name() {
    let text = "
enum Mode { OFF, ON }
event eSet: (mode: Mode, at: int);
machine Main {
    var mode: Mode;
    start state S {
        entry { send this, eSet, (mode = ON, at = 1); }
        on eSet do (it: (mode: Mode, at: int)) { mode = it.mode; }
    }
}
";
    let program = crate::support::compile("enums.p", text).expect("compiles");
    let exe = Arc::new(Executable::new(&program, 0));
    let graph = state_graph(&exe, limits(), 100, &Never);
    let last = graph.nodes.last().expect("there is an end");
    assert_eq!(last.lines, ["Main(1): S {mode = ON}"]);
    assert!(
        graph.edges.iter().any(|edge| edge.label.contains("eSet(mode = ON, at = 1)")),
        "{:?}",
        graph.edges
    );
}

/// Values are described as pages show them.
#[test]
fn states_are_found_by_their_values() {
    let text = "
event eOpen: string;
machine Main {
    var isOpen: bool; var who: string;
    start state S {
        entry { send this, eOpen, \"me\"; }
        on eOpen do (by: string) { isOpen = true; who = by; }
    }
}
";
    let program = crate::support::compile("values.p", text).expect("compiles");
    let exe = Arc::new(Executable::new(&program, 0));
    for (goal, is_reached) in [
        ("Main.isOpen = true", true),
        ("Main.isOpen = true and Main.who = \"me\"", true),
        ("Main.isOpen = false, Main.who = \"me\"", false),
    ] {
        let goal = Goal::parse(goal, &exe).expect("is a description");
        let start = Schedule { choices: Vec::new() };
        let (found, _) = reach(&exe, limits(), &start, &goal, 100, &Never).expect("starts");
        assert_eq!(matches!(found, Reach::Reached(_)), is_reached, "{goal:?}");
    }
}
