//! `allways graph`: pictures of a program.

use std::path::Path;

use allways_driver::{Compilation, select};
use allways_machine::Executable;
use allways_machine::topology::{Target, Topology};
use allways_report::graph::{Edge, Graph, Node, NodeKind};
use allways_report::json;

use super::check::load;
use crate::args::{Format, GraphArgs, GraphFormat};
use crate::exit::ExitStatus;
use crate::printer;

pub fn graph(args: &GraphArgs) -> ExitStatus {
    if !args.topology {
        printer::err("say what to show: `--topology` shows who may send to whom\n");
        return ExitStatus::Rejected;
    }
    let format = if args.format == GraphFormat::Json { Format::Json } else { Format::Text };
    let compilation = match load(&args.input, format, "graph") {
        Ok(compilation) => compilation,
        Err(status) => return status,
    };
    let Some(program) = &compilation.program else { return ExitStatus::Rejected };
    let test = match select::select(program, args.testcase.as_deref()) {
        Ok(tests) => tests[0],
        Err(error) => {
            printer::err(&format!("{error}\n"));
            return ExitStatus::Rejected;
        }
    };
    let graph = topology(&compilation, &Executable::new(program, test));
    let text = match args.format {
        GraphFormat::Dot => graph.to_dot(),
        GraphFormat::Svg => graph.to_svg(),
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
    ExitStatus::Success
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Creation sites and monitors, and who may send to whom.
fn topology(compilation: &Compilation, exe: &Executable) -> Graph {
    let topology = Topology::new(exe);
    let n_sites = topology.sites().len();
    let machines = (0..n_sites as u32).map(|site| Node {
        name: topology.name(exe, site),
        kind: NodeKind::Machine,
        place: Some(compilation.sources().place(topology.place(exe, site))),
    });
    let monitors = exe.monitors.iter().enumerate().map(|(at, monitor)| Node {
        name: exe.monitor_name(at).to_owned(),
        kind: NodeKind::Monitor,
        place: Some(compilation.sources().place(exe.machines[monitor.machine as usize].span)),
    });
    let edges = topology.edges().map(|(from, target, events)| Edge {
        from: from as usize,
        to: match target {
            Target::Site(site) => site as usize,
            Target::Monitor(monitor) => n_sites + monitor as usize,
        },
        labels: events.iter().map(|&event| exe.event_name(event).to_owned()).collect(),
    });
    Graph {
        version: json::VERSION,
        command: "graph",
        project: compilation.project.name.clone(),
        test: exe.test_name.clone(),
        nodes: machines.chain(monitors).collect(),
        edges: edges.collect(),
    }
}
