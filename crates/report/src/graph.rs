//! Graphs for people: dot for Graphviz, JSON for scripts. Pictures are up to `view`.

use std::fmt::Write as _;

use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Graph {
    pub version: u32,
    pub command: &'static str,
    pub project: String,
    pub test: String,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    pub lines: Vec<String>,
    pub kind: NodeKind,
    /// Where it comes from in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum NodeKind {
    // Of a topology.
    Machine,
    Monitor,
    // Of a state machine.
    State,
    StartState,
    ColdState,
    HotState,
    // Configurations.
    Start,
    Plain,
    Hot,
    End,
    Violated,
    Unknown,
    /// There is more behind it.
    Open,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub labels: Vec<String>,
}

impl NodeKind {
    /// Border and filling.
    pub fn colours(self) -> (&'static str, &'static str) {
        match self {
            NodeKind::Start | NodeKind::StartState | NodeKind::ColdState => ("#1f3a5f", "#dbe7f5"),
            NodeKind::Machine | NodeKind::Plain | NodeKind::State => ("#555555", "#ffffff"),
            NodeKind::Monitor | NodeKind::Hot | NodeKind::HotState => ("#b3541e", "#fde8d7"),
            NodeKind::End => ("#2c6e49", "#dff2e3"),
            NodeKind::Violated => ("#a4161a", "#fbdcdc"),
            NodeKind::Unknown | NodeKind::Open => ("#888888", "#eeeeee"),
        }
    }
}

pub fn to_dot(graph: &Graph) -> String {
    let mut out = format!("digraph {} {{\n", quoted(&graph.test));
    out.push_str("  node [shape=box, style=\"rounded,filled\", fontname=\"monospace\", fontsize=10];\n");
    out.push_str("  edge [fontname=\"monospace\", fontsize=9];\n");
    for (number, node) in graph.nodes.iter().enumerate() {
        let (border, fill) = node.kind.colours();
        let dashed = if node.kind == NodeKind::Open { ", style=\"rounded,filled,dashed\"" } else { "" };
        let lines: String = node.lines.iter().map(|line| escaped(line) + "\\l").collect();
        let tip =
            node.place.as_ref().map_or_else(String::new, |place| format!(", tooltip={}", quoted(place)));
        let _ = writeln!(
            out,
            "  n{number} [label=\"{lines}\", color=\"{border}\", fillcolor=\"{fill}\"{dashed}{tip}];"
        );
    }
    for edge in &graph.edges {
        let style = if graph.is_watched(edge) { ", style=dashed" } else { "" };
        let label = quoted(&edge.labels.join(", "));
        let _ = writeln!(out, "  n{} -> n{} [label={label}{style}];", edge.from, edge.to);
    }
    out.push_str("}\n");
    out
}

impl Graph {
    /// What goes to a monitor is not sent, but observed.
    pub fn is_watched(&self, edge: &Edge) -> bool {
        self.nodes[edge.to].kind == NodeKind::Monitor
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Graph {
        let node = |text: &str, kind| Node { lines: vec![text.to_owned()], kind, place: None };
        let edge = |from, to, label: &str| Edge { from, to, labels: vec![label.to_owned()] };
        Graph {
            version: 1,
            command: "graph",
            project: "Small".to_owned(),
            test: "t".to_owned(),
            nodes: vec![
                node("a \"quoted\" <line>", NodeKind::Start),
                node("b", NodeKind::Plain),
                node("c", NodeKind::Monitor),
                node("alone", NodeKind::Open),
            ],
            edges: vec![edge(0, 1, "x"), edge(1, 1, "again"), edge(1, 2, "y"), edge(2, 0, "back")],
        }
    }

    #[test]
    fn dot_escapes_and_names_every_edge() {
        let dot = to_dot(&example());
        assert!(dot.contains("a \\\"quoted\\\" <line>\\l"), "{dot}");
        assert_eq!(dot.matches(" -> ").count(), 4);
        assert!(dot.contains("n1 -> n2 [label=\"y\", style=dashed];"), "{dot}");
    }
}
