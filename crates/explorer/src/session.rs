//! What the page asks: where a path leads, what can come next, what lies around.

use std::sync::Arc;

use allways_driver::Compilation;
use allways_explore::state_graph::{self, Goal, NodeKind, StateGraph};
use allways_machine::{Executable, Kernel, Outcome, Tracer, replay_on};
use allways_report::graph::{self, Graph};
use allways_report::json;
use allways_report::trace::step_lines;
use allways_report::trace_file::{self, Heading};
use allways_run::{
    Cancel, Certainty, Choice, Counterexample, Limits, Schedule, Trace, Violation, ViolationKind,
};
use allways_view::svg::{Picture, path};
use serde_json::{Value, json as value};

use crate::choices;

/// Steps that are offered at once.
const MAX_OPTIONS: usize = 80;
/// Configurations in the picture of the neighbourhood.
const MAX_NODES: usize = 60;
/// Choices of a path.
pub const MAX_PATH: usize = 200_000;

/// One test of a program.
pub struct Session<'a> {
    pub exe: Arc<Executable>,
    compilation: &'a Compilation,
    test: String,
}

impl<'a> Session<'a> {
    pub fn new(compilation: &'a Compilation, exe: Arc<Executable>) -> Self {
        let test = exe.test_name.clone();
        Session { exe, compilation, test }
    }

    /// The schedule of a path.
    ///
    /// # Errors
    /// In one sentence, when it is not one.
    pub fn schedule(&self, lines: &Value) -> Result<Schedule, String> {
        let Value::Array(lines) = lines else { return Err("the path is not a list".to_owned()) };
        if lines.len() > MAX_PATH {
            return Err(format!("the path has more than {MAX_PATH} choices"));
        }
        let choice = |line: &Value| choices::of_line(&self.exe, line.as_str()?);
        let choices: Option<Vec<Choice>> = lines.iter().map(choice).collect();
        choices
            .map(|choices| Schedule { choices })
            .ok_or_else(|| "the path has a line that is not a choice".to_owned())
    }

    /// The configurations that a text describes.
    ///
    /// # Errors
    /// In one sentence, when it describes none.
    pub fn goal(&self, text: &str) -> Result<Goal, String> {
        Goal::parse(text, &self.exe)
    }

    /// A schedule as the page writes it.
    pub fn lines(&self, schedule: &Schedule) -> Vec<String> {
        schedule.choices.iter().map(|choice| choices::line(&self.exe, choice)).collect()
    }

    fn replayed(&self, schedule: &Schedule) -> Result<(Kernel<'static>, Trace), String> {
        let mut kernel = Kernel::new(self.exe.clone(), Limits::default());
        let mut tracer = Tracer::default();
        replay_on(&mut kernel, schedule, &mut tracer).map_err(|error| error.to_string())?;
        let trace = tracer.finish(&kernel);
        Ok((kernel, trace))
    }

    /// Where a path leads: the run so far, and the steps that can come next. The answer is JSON text.
    ///
    /// # Errors
    /// When the path does not fit the program.
    pub fn position(&self, schedule: &Schedule, cancel: &dyn Cancel) -> Result<String, String> {
        let (kernel, trace) = self.replayed(schedule)?;
        let (outcome, trouble) = match kernel.outcome() {
            Outcome::Running => ("running", None),
            Outcome::Quiescent => ("ended", None),
            Outcome::Violated(violation) => ("violated", Some(violation.text(self.compilation.sources()))),
            Outcome::Unknown(reason) => ("unknown", Some(format!("{reason:?}"))),
        };
        let steps: Vec<Value> =
            trace.steps.iter().map(|step| value!(self.step_lines(&step.choices))).collect();
        let (options, is_cut) = self.options(schedule, cancel)?;
        let rest = value!({
            "outcome": outcome,
            "trouble": trouble,
            "steps": steps,
            "options": options,
            "moreOptions": is_cut,
        });
        let violation = trace.violation.clone().unwrap_or_else(|| Violation {
            kind: ViolationKind::Liveness(Certainty::Certain),
            message: String::new(),
            span: None,
            machine: None,
            monitor: None,
        });
        let monitor = violation.monitor.map(|monitor| self.exe.monitor_name(monitor));
        let network = self.exe.network.options().describe();
        let heading = Heading {
            project: &self.compilation.project.name,
            test: &self.test,
            network: network.as_deref(),
            monitor,
        };
        let run = Counterexample { violation, schedule: schedule.clone(), loop_start: None, trace };
        let mut text = b"{\"trace\":".to_vec();
        trace_file::write(&run, &heading, self.compilation.sources(), &mut text)
            .map_err(|error| error.to_string())?;
        text.extend_from_slice(b",\"position\":");
        text.extend_from_slice(rest.to_string().as_bytes());
        text.push(b'}');
        String::from_utf8(text).map_err(|error| error.to_string())
    }

    fn step_lines(&self, choices: &[Choice]) -> Vec<String> {
        self.lines(&choices.iter().copied().collect())
    }

    /// The steps that can come next, each with what it would do; and whether there are more.
    fn options(&self, schedule: &Schedule, cancel: &dyn Cancel) -> Result<(Vec<Value>, bool), String> {
        let around = self.around(schedule, 1, MAX_OPTIONS, cancel)?;
        let mut options = Vec::new();
        for edge in around.edges.iter().filter(|edge| edge.from == 0) {
            let mut next = schedule.clone();
            next.choices.extend(&edge.choices);
            let (_, trace) = self.replayed(&next)?;
            let preview = match trace.steps.len().checked_sub(1) {
                Some(last) => step_lines(&trace, self.compilation.sources(), last),
                None => Vec::new(),
            };
            options.push(value!({
                "choices": self.step_lines(&edge.choices),
                "label": edge.label,
                "preview": preview,
                "kind": kind_of(&around, edge.to),
            }));
        }
        Ok((options, !around.is_complete && around.nodes.len() >= MAX_OPTIONS))
    }

    fn around(
        &self,
        schedule: &Schedule,
        depth: usize,
        max_nodes: usize,
        cancel: &dyn Cancel,
    ) -> Result<StateGraph, String> {
        let limits = Limits::default();
        state_graph::neighbourhood(&self.exe, limits, schedule, depth, max_nodes, cancel)
            .ok_or_else(|| "the path does not fit the program".to_owned())
    }

    /// The configurations within a few steps, laid out.
    ///
    /// # Errors
    /// When the path does not fit the program.
    pub fn picture(&self, schedule: &Schedule, depth: usize, cancel: &dyn Cancel) -> Result<Value, String> {
        let around = self.around(schedule, depth.clamp(1, 4), MAX_NODES, cancel)?;
        // The first path to each configuration.
        let mut ways: Vec<Option<Vec<String>>> = vec![None; around.nodes.len()];
        ways[0] = Some(Vec::new());
        let mut edges: Vec<graph::Edge> = Vec::new();
        for edge in &around.edges {
            let (from, to) = (edge.from as usize, edge.to as usize);
            if ways[to].is_none()
                && let Some(way) = &ways[from]
            {
                let way = way.iter().cloned().chain(self.step_lines(&edge.choices)).collect();
                ways[to] = Some(way);
            }
            match edges.iter_mut().find(|known| (known.from, known.to) == (from, to)) {
                Some(known) => known.labels.push(edge.label.clone()),
                None => edges.push(graph::Edge { from, to, labels: vec![edge.label.clone()] }),
            }
        }
        let nodes = around.nodes.iter().enumerate().map(|(at, node)| graph::Node {
            lines: node.lines.clone(),
            kind: match node.kind {
                _ if at == 0 => graph::NodeKind::Start,
                NodeKind::Plain if node.is_hot => graph::NodeKind::Hot,
                NodeKind::Start | NodeKind::Plain => graph::NodeKind::Plain,
                NodeKind::End => graph::NodeKind::End,
                NodeKind::Violated => graph::NodeKind::Violated,
                NodeKind::Unknown => graph::NodeKind::Unknown,
                NodeKind::Open => graph::NodeKind::Open,
            },
            place: None,
        });
        let graph = Graph {
            version: json::VERSION,
            command: "explore",
            project: self.compilation.project.name.clone(),
            test: self.test.clone(),
            nodes: nodes.collect(),
            edges,
        };
        let picture = Picture::of(&graph);
        let nodes: Vec<Value> = (0..graph.nodes.len())
            .map(|at| {
                let (place, size) = (picture.layout.nodes[at], picture.sizes[at]);
                value!({
                    "x": place.x, "y": place.y, "width": size.width, "height": size.height,
                    "lines": picture.lines[at], "whole": graph.nodes[at].lines, "kind": graph.nodes[at].kind,
                    "way": ways[at],
                })
            })
            .collect();
        let edges: Vec<Value> = picture
            .layout
            .edges
            .iter()
            .zip(&picture.labels)
            .zip(&graph.edges)
            .map(|((line, labels), edge)| {
                let label = line.label.map(|at| value!({ "x": at.x, "y": at.y }));
                value!({ "d": path(line, picture.layout.is_sideways), "labels": labels, "whole": edge.labels, "label": label })
            })
            .collect();
        Ok(value!({
            "width": picture.layout.width,
            "height": picture.layout.height,
            "nodes": nodes,
            "edges": edges,
            "isComplete": around.is_complete,
        }))
    }
}

/// What a step leads to.
fn kind_of(graph: &StateGraph, node: u32) -> &'static str {
    match graph.nodes[node as usize].kind {
        NodeKind::End => "ends",
        NodeKind::Violated => "violated",
        NodeKind::Unknown => "unknown",
        NodeKind::Start | NodeKind::Plain | NodeKind::Open => "goes-on",
    }
}
