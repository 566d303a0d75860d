//! `allways graph`: pictures of a program.

use std::path::Path;

use allways_base::Idx;
use allways_driver::{Compilation, select};
use allways_explore::state_graph::{self, StateGraph};
use allways_machine::Executable;
use allways_machine::chart::{self, Cause};
use allways_machine::ir::{Action, ControlId, MachineId};
use allways_machine::topology::{Target, Topology};
use allways_p::hir::Temperature;
use allways_report::graph::{self, Edge, Graph, Node, NodeKind};
use allways_report::json;
use allways_run::Limits;
use allways_view::svg;

use super::load::load;
use super::network;
use crate::args::{Format, GraphArgs, GraphFormat};
use crate::exit::ExitStatus;
use crate::interrupt::{self, Stop};
use crate::printer;

pub fn graph(args: &GraphArgs) -> ExitStatus {
    let format = if args.format == GraphFormat::Json { Format::Json } else { Format::Text };
    let compilation = match load(&args.input, format, "graph") {
        Ok(compilation) => compilation,
        Err(status) => return status,
    };
    let Some(program) = &compilation.program else { return ExitStatus::Rejected };
    let tests = match select::select(program, args.testcase.as_deref()) {
        Ok(tests) => tests,
        Err(error) => {
            printer::err(&format!("{error}\n"));
            return ExitStatus::Rejected;
        }
    };
    let [test] = tests.as_slice() else {
        let names: Vec<&str> = tests.iter().map(|&test| program.tests[test].name.as_str()).collect();
        printer::err(&format!("a graph shows one test case; choose it with -tc:\n{}\n", names.join("\n")));
        return ExitStatus::Rejected;
    };
    let executable = match network::executable(program, *test, &args.network.options()) {
        Ok(executable) => executable,
        Err(status) => return status,
    };
    let mut is_cut = None;
    let graph = if args.topology {
        topology(&compilation, &executable)
    } else if args.states {
        match state_charts(&compilation, &executable, &args.machine) {
            Ok(graph) => graph,
            Err(problem) => {
                printer::err(&format!("{problem}\n"));
                return ExitStatus::Rejected;
            }
        }
    } else {
        interrupt::listen();
        let stop = Stop::after(None);
        let usual = if args.format == GraphFormat::Svg { 60 } else { 500 };
        let max_nodes = args.max_nodes.unwrap_or(usual);
        let states = state_graph::state_graph(&executable, Limits::default(), max_nodes, &stop);
        is_cut = (!states.is_complete).then_some(states.nodes.len());
        configurations(&compilation, &executable, &states)
    };
    if args.format == GraphFormat::Svg && graph.nodes.len() > svg::MAX_NODES {
        printer::err(&format!(
            "a picture of {} nodes is not readable, and none is drawn beyond {}: `--format dot` writes the graph for \
             Graphviz, and a smaller `--max-nodes` draws its beginning\n",
            graph.nodes.len(),
            svg::MAX_NODES
        ));
        return ExitStatus::Rejected;
    }
    let text = match args.format {
        GraphFormat::Dot => graph::to_dot(&graph),
        GraphFormat::Svg => svg::to_svg(&graph),
        GraphFormat::Json => json::to_text(&graph),
    };
    match &args.output {
        None => printer::out(&text),
        Some(path) => {
            if let Err(problem) = write(path, &text) {
                printer::err(&format!("{problem}\n"));
                return ExitStatus::Rejected;
            }
        }
    }
    if let Some(n) = is_cut {
        printer::err(&format!(
            "the graph is cut off: it shows {n} configurations, and dashed nodes were not expanded; see --max-nodes\n"
        ));
    }
    if interrupt::is_interrupted() { ExitStatus::Interrupted } else { ExitStatus::Success }
}

/// Every configuration, and the steps between them.
fn configurations(compilation: &Compilation, exe: &Executable, states: &StateGraph) -> Graph {
    let nodes = states.nodes.iter().map(|node| Node {
        lines: node.lines.clone(),
        kind: match node.kind {
            state_graph::NodeKind::Start => NodeKind::Start,
            state_graph::NodeKind::Plain if node.is_hot => NodeKind::Hot,
            state_graph::NodeKind::Plain => NodeKind::Plain,
            state_graph::NodeKind::End => NodeKind::End,
            state_graph::NodeKind::Violated => NodeKind::Violated,
            state_graph::NodeKind::Unknown => NodeKind::Unknown,
            state_graph::NodeKind::Open => NodeKind::Open,
        },
        place: None,
    });
    let edges = states.edges.iter().map(|edge| Edge {
        from: edge.from as usize,
        to: edge.to as usize,
        labels: vec![edge.label.clone()],
    });
    picture(compilation, exe, nodes.collect(), edges.collect())
}

fn picture(compilation: &Compilation, exe: &Executable, nodes: Vec<Node>, edges: Vec<Edge>) -> Graph {
    Graph {
        version: json::VERSION,
        command: "graph",
        project: compilation.project.name.clone(),
        test: exe.test_name.clone(),
        nodes,
        edges,
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// The control states of machines and monitors, those that are named or all of the test.
fn state_charts(compilation: &Compilation, exe: &Executable, only: &[String]) -> Result<Graph, String> {
    let topology = Topology::new(exe);
    let in_test = |machine: MachineId| {
        let is_created = topology.sites().iter().any(|site| site.machine == machine);
        is_created || exe.monitors.iter().any(|monitor| monitor.machine == machine)
    };
    let machines: Vec<MachineId> = exe.machines.ids().filter(|&machine| in_test(machine)).collect();
    if let Some(name) = only.iter().find(|name| !machines.iter().any(|&id| exe.machine_name(id) == **name)) {
        let names: Vec<&str> = machines.iter().map(|&id| exe.machine_name(id)).collect();
        return Err(format!("the test has no machine `{name}`; it has {}", names.join(", ")));
    }
    let is_asked = |machine: MachineId| {
        machines.contains(&machine)
            && (only.is_empty() || only.iter().any(|name| name == exe.machine_name(machine)))
    };
    let states: Vec<ControlId> =
        exe.states.ids().filter(|&state| is_asked(exe.states[state].machine)).collect();
    let nodes = states.iter().map(|&state| {
        let def = &exe.states[state];
        let machine = &exe.machines[def.machine];
        let name = format!("{}.{}", exe.machine_name(def.machine), exe.state_name(state));
        let mut lines = vec![name];
        for (word, action) in [("defers", Action::Defer), ("ignores", Action::Ignore)] {
            let events: Vec<&str> = def
                .actions
                .iter_ids()
                .filter(|&(_, &known)| known == action)
                .map(|(event, _)| exe.event_name(event))
                .collect();
            if !events.is_empty() {
                lines.push(format!("{word} {}", events.join(", ")));
            }
        }
        let kind = match def.temperature {
            Temperature::Hot => NodeKind::HotState,
            Temperature::Cold => NodeKind::ColdState,
            Temperature::Warm if machine.start == Some(state) => NodeKind::StartState,
            Temperature::Warm => NodeKind::State,
        };
        Node { lines, kind, place: Some(compilation.sources().place(def.span)) }
    });
    let mut edges: Vec<Edge> = Vec::new();
    for (from, &state) in states.iter().enumerate() {
        for transition in chart::transitions(exe, state) {
            let Some(to) = states.iter().position(|&other| other == transition.target) else { continue };
            let label = match transition.cause {
                Cause::Entry => "entry".to_owned(),
                Cause::Exit => "exit".to_owned(),
                Cause::Event(event) => exe.event_name(event).to_owned(),
            };
            match edges.iter_mut().find(|edge| (edge.from, edge.to) == (from, to)) {
                Some(edge) => edge.labels.push(label),
                None => edges.push(Edge { from, to, labels: vec![label] }),
            }
        }
    }
    Ok(picture(compilation, exe, nodes.collect(), edges))
}

/// Creation sites and monitors, and which machine may send to which.
fn topology(compilation: &Compilation, exe: &Executable) -> Graph {
    let topology = Topology::new(exe);
    let n_sites = topology.sites().len();
    let machines = topology.sites().ids().map(|site| Node {
        lines: vec![topology.name(exe, site)],
        kind: NodeKind::Machine,
        place: Some(compilation.sources().place(topology.place(exe, site))),
    });
    let monitors = exe.monitors.iter().enumerate().map(|(at, monitor)| Node {
        lines: vec![exe.monitor_name(at).to_owned()],
        kind: NodeKind::Monitor,
        place: Some(compilation.sources().place(exe.machines[monitor.machine].span)),
    });
    let edges = topology.edges().map(|(from, target, events)| Edge {
        from: from.index(),
        to: match target {
            Target::Site(site) => site.index(),
            Target::Monitor(monitor) => n_sites + monitor as usize,
        },
        labels: events.iter().map(|&event| exe.event_name(event).to_owned()).collect(),
    });
    picture(compilation, exe, machines.chain(monitors).collect(), edges.collect())
}
