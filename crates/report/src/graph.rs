//! Small graphs for people: as dot, as SVG with a layout of our own, as JSON.
//!
//! The layout puts nodes on rows by their distance from the first node, in the given order; edges are curves that bend to
//! the right of their direction, so that two opposite ones stay apart.

use std::fmt::Write as _;

use serde::Serialize;

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub enum NodeKind {
    Machine,
    Monitor,
}

#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    pub name: String,
    pub kind: NodeKind,
    /// Where it comes from in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// From one node to another, by their places in the list.
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub labels: Vec<String>,
}

#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Graph {
    pub version: u32,
    pub command: &'static str,
    pub project: String,
    pub test: String,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
}

impl Graph {
    pub fn to_dot(&self) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let mut out = format!("digraph {} {{\n", quoted(&self.test));
        for (at, node) in self.nodes.iter().enumerate() {
            let shape = match node.kind {
                NodeKind::Machine => "box",
                NodeKind::Monitor => "ellipse",
            };
            let tip =
                node.place.as_ref().map_or(String::new(), |place| format!(", tooltip={}", quoted(place)));
            let _ = writeln!(out, "  n{at} [label={}, shape={shape}{tip}];", quoted(&node.name));
        }
        for edge in &self.edges {
            let style = match self.nodes[edge.to].kind {
                NodeKind::Machine => "",
                NodeKind::Monitor => ", style=dashed",
            };
            let label = quoted(&edge.labels.join(", "));
            let _ = writeln!(out, "  n{} -> n{} [label={label}{style}];", edge.from, edge.to);
        }
        out.push_str("}\n");
        out
    }

    pub fn to_svg(&self) -> String {
        let rows = self.rows();
        let widths: Vec<f64> = self.nodes.iter().map(|node| 24.0 + text_width(&node.name)).collect();
        // Labels stand beside their edges, so the gaps must hold them.
        let longest = self.edges.iter().flat_map(|edge| &edge.labels).map(|label| text_width(label));
        let gap = 40.0 + longest.fold(0.0, f64::max);
        let most_labels = self.edges.iter().map(|edge| edge.labels.len()).max().unwrap_or(0);
        let row_height = 90.0 + LINE * most_labels as f64;
        let row_width = |row: &Vec<usize>| {
            row.iter().map(|&node| widths[node]).sum::<f64>() + gap * (row.len() as f64 - 1.0)
        };
        let width = rows.iter().map(row_width).fold(0.0, f64::max) + 2.0 * gap;
        let height = row_height * rows.len() as f64;
        let mut places = vec![(0.0, 0.0); self.nodes.len()];
        for (depth, row) in rows.iter().enumerate() {
            let mut x = (width - row_width(row)) / 2.0;
            for &node in row {
                places[node] = (x + widths[node] / 2.0, row_height * (depth as f64 + 0.5));
                x += widths[node] + gap;
            }
        }
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
             orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n"
        );
        for edge in &self.edges {
            self.draw_edge(edge, &places, &widths, &mut out);
        }
        for ((node, &(x, y)), &width) in self.nodes.iter().zip(&places).zip(&widths) {
            let title = node.place.as_deref().unwrap_or(&node.name);
            let _ = write!(out, "<g><title>{}</title>", escape(title));
            let _ = match node.kind {
                NodeKind::Machine => write!(
                    out,
                    "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{HEIGHT}\" fill=\"#fff\" stroke=\"#000\"/>",
                    x - width / 2.0,
                    y - HEIGHT / 2.0
                ),
                NodeKind::Monitor => write!(
                    out,
                    "<ellipse cx=\"{x:.1}\" cy=\"{y:.1}\" rx=\"{:.1}\" ry=\"{:.1}\" fill=\"#fff\" stroke=\"#000\"/>",
                    width / 2.0,
                    HEIGHT / 2.0
                ),
            };
            let name = escape(&node.name);
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text></g>",
                y + 4.0
            );
        }
        out.push_str("</svg>\n");
        out
    }

    /// Nodes by their distance from the first; what cannot be reached comes last.
    fn rows(&self) -> Vec<Vec<usize>> {
        let mut depth = vec![usize::MAX; self.nodes.len()];
        let mut rows: Vec<Vec<usize>> = Vec::new();
        while let Some(start) = depth.iter().position(|&depth| depth == usize::MAX) {
            let mut row = vec![start];
            depth[start] = rows.len();
            while !row.is_empty() {
                let mut next = Vec::new();
                for edge in self.edges.iter().filter(|edge| row.contains(&edge.from)) {
                    if depth[edge.to] == usize::MAX {
                        depth[edge.to] = rows.len() + 1;
                        next.push(edge.to);
                    }
                }
                next.sort_unstable();
                rows.push(std::mem::replace(&mut row, next));
            }
        }
        rows
    }

    fn draw_edge(&self, edge: &Edge, places: &[(f64, f64)], widths: &[f64], out: &mut String) {
        let dash = match self.nodes[edge.to].kind {
            NodeKind::Machine => "",
            NodeKind::Monitor => " stroke-dasharray=\"4 3\"",
        };
        let (from, to) = (places[edge.from], places[edge.to]);
        let (path, label) = if edge.from == edge.to {
            let (x, y) = (from.0 + widths[edge.from] / 2.0, from.1);
            let path = format!(
                "M{x:.1} {:.1}C{:.1} {:.1} {:.1} {:.1} {x:.1} {:.1}",
                y - 6.0,
                x + 36.0,
                y - 26.0,
                x + 36.0,
                y + 26.0,
                y + 6.0
            );
            (path, (x + 34.0, y))
        } else {
            let (dx, dy) = (to.0 - from.0, to.1 - from.1);
            let length = dx.hypot(dy).max(1.0);
            let bend = 18.0;
            let middle =
                ((from.0 + to.0) / 2.0 - dy / length * bend, (from.1 + to.1) / 2.0 + dx / length * bend);
            let start = border(from, middle, widths[edge.from]);
            let end = border(to, middle, widths[edge.to]);
            let path = format!(
                "M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}",
                start.0, start.1, middle.0, middle.1, end.0, end.1
            );
            (path, (middle.0 - dy / length * 4.0, middle.1 + dx / length * 4.0))
        };
        let _ = writeln!(
            out,
            "<path d=\"{path}\" fill=\"none\" stroke=\"#555\"{dash} marker-end=\"url(#tip)\"/>"
        );
        let first = label.1 - LINE * (edge.labels.len() as f64 - 1.0) / 2.0 + 4.0;
        for (line, text) in edge.labels.iter().enumerate() {
            let anchor =
                if edge.from == edge.to || label.0 > (from.0 + to.0) / 2.0 { "start" } else { "end" };
            let y = first + LINE * line as f64;
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"#036\">{}</text>",
                label.0,
                escape(text)
            );
        }
    }
}

const HEIGHT: f64 = 28.0;
const LINE: f64 = 14.0;

fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * 7.2
}

/// Where the line from the middle of a node to a point leaves its box.
fn border(node: (f64, f64), point: (f64, f64), width: f64) -> (f64, f64) {
    let (dx, dy) = (point.0 - node.0, point.1 - node.1);
    let scale = (width / 2.0 / dx.abs().max(1e-6)).min(HEIGHT / 2.0 / dy.abs().max(1e-6)).min(1.0);
    (node.0 + dx * scale, node.1 + dy * scale)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph() -> Graph {
        let node = |name: &str, kind| Node { name: name.to_owned(), kind, place: None };
        let edge = |from, to, label: &str| Edge { from, to, labels: vec![label.to_owned()] };
        Graph {
            version: 1,
            command: "graph",
            project: "Small".to_owned(),
            test: "t".to_owned(),
            nodes: vec![
                node("Main", NodeKind::Machine),
                node("A<B>", NodeKind::Machine),
                node("Spec", NodeKind::Monitor),
            ],
            edges: vec![edge(0, 1, "go"), edge(1, 0, "back"), edge(1, 1, "again"), edge(1, 2, "seen")],
        }
    }

    #[test]
    fn dot_names_all() {
        let dot = graph().to_dot();
        assert!(dot.starts_with("digraph \"t\" {\n  n0 [label=\"Main\", shape=box];"), "{dot}");
        assert!(dot.contains("n1 -> n2 [label=\"seen\", style=dashed];"), "{dot}");
    }

    #[test]
    fn svg_is_closed_and_inside_its_frame() {
        let svg = graph().to_svg();
        assert!(svg.contains("A&lt;B&gt;") && svg.ends_with("</svg>\n"), "{svg}");
        assert_eq!(svg.matches("<g>").count(), svg.matches("</g>").count());
        assert_eq!(svg.matches("marker-end").count(), 4);
        assert_eq!(graph().rows(), [vec![0], vec![1], vec![2]]);
        assert!(!svg.contains("NaN") && !svg.contains("\"-"), "{svg}");
    }
}
