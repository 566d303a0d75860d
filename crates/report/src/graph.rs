//! Graphs for people: dot for Graphviz, SVG to look at right away, JSON for scripts.
//!
//! The picture is layered: nodes lie in rows by their distance from the roots, ordered within a row so that edges cross
//! little (a few sweeps of barycentres), which suits both state graphs and topologies. For anything large, dot and a
//! real layout program are the better way.

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
    fn colours(self) -> (&'static str, &'static str) {
        match self {
            NodeKind::Start => ("#1f3a5f", "#dbe7f5"),
            NodeKind::Machine | NodeKind::Plain => ("#555555", "#ffffff"),
            NodeKind::Monitor | NodeKind::Hot => ("#b3541e", "#fde8d7"),
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
        let style = if is_watched(graph, edge) { ", style=dashed" } else { "" };
        let label = quoted(&edge.labels.join(", "));
        let _ = writeln!(out, "  n{} -> n{} [label={label}{style}];", edge.from, edge.to);
    }
    out.push_str("}\n");
    out
}

/// What goes to a monitor is not sent, but seen.
fn is_watched(graph: &Graph, edge: &Edge) -> bool {
    graph.nodes[edge.to].kind == NodeKind::Monitor
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

const CHAR_WIDTH: f64 = 6.6;
const LINE_HEIGHT: f64 = 14.0;
const PADDING: f64 = 8.0;
const GAP_X: f64 = 36.0;
const GAP_Y: f64 = 64.0;
const MARGIN: f64 = 24.0;
const EDGE_LINE: f64 = 11.0;
/// Longer lines are cut in the picture.
const MAX_CHARS: usize = 60;

/// Where a node lies: its centre, and half its size.
#[derive(Clone, Copy, Default)]
struct Place {
    x: f64,
    y: f64,
    half_width: f64,
    half_height: f64,
}

pub fn to_svg(graph: &Graph) -> String {
    let (places, width, height) = layout(graph);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"monospace\">\n<title>{}</title>\n",
        xml(&graph.test)
    );
    out.push_str(
        "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#666\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
    );
    for edge in &graph.edges {
        draw_edge(&mut out, graph, edge, &places);
    }
    for (node, place) in graph.nodes.iter().zip(&places) {
        draw_node(&mut out, node, *place);
    }
    out.push_str("</svg>\n");
    out
}

fn draw_node(out: &mut String, node: &Node, place: Place) {
    let (border, fill) = node.kind.colours();
    let dash = if node.kind == NodeKind::Open { " stroke-dasharray=\"4 3\"" } else { "" };
    let (left, top) = (place.x - place.half_width, place.y - place.half_height);
    if let Some(place) = &node.place {
        let _ = write!(out, "<g><title>{}</title>", xml(place));
    }
    let _ = writeln!(
        out,
        "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"5\" fill=\"{fill}\" \
         stroke=\"{border}\"{dash}/>",
        place.half_width * 2.0,
        place.half_height * 2.0
    );
    for (i, line) in node.lines.iter().enumerate() {
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\" xml:space=\"preserve\">{}</text>",
            left + PADDING,
            top + PADDING + LINE_HEIGHT * (i as f64 + 0.75),
            xml(&cut(line))
        );
    }
    if node.place.is_some() {
        out.push_str("</g>\n");
    }
}

fn draw_edge(out: &mut String, graph: &Graph, edge: &Edge, places: &[Place]) {
    let (from, to) = (places[edge.from], places[edge.to]);
    let (path, x, y) = if edge.from == edge.to {
        let (right, y) = (from.x + from.half_width, from.y);
        let path = format!(
            "M{right:.1},{:.1} C{:.1},{:.1} {:.1},{:.1} {right:.1},{:.1}",
            y - 6.0,
            right + 30.0,
            y - 24.0,
            right + 30.0,
            y + 24.0,
            y + 6.0
        );
        (path, right + 24.0, y)
    } else if to.y > from.y {
        // Downwards: from the lower border to the upper one.
        let (y1, y2) = (from.y + from.half_height, to.y - to.half_height);
        let bend = (y2 - y1) / 2.0;
        let path = format!(
            "M{:.1},{y1:.1} C{:.1},{:.1} {:.1},{:.1} {:.1},{y2:.1}",
            from.x,
            from.x,
            y1 + bend,
            to.x,
            y2 - bend,
            to.x
        );
        (path, (from.x + to.x) / 2.0, (y1 + y2) / 2.0)
    } else {
        // Upwards or sideways: round the right-hand side.
        let (x1, x2) = (from.x + from.half_width, to.x + to.half_width);
        let far = x1.max(x2) + 30.0;
        let path = format!(
            "M{x1:.1},{:.1} C{far:.1},{:.1} {far:.1},{:.1} {x2:.1},{:.1}",
            from.y, from.y, to.y, to.y
        );
        (path, far - 8.0, (from.y + to.y) / 2.0)
    };
    let dash = if is_watched(graph, edge) { " stroke-dasharray=\"4 3\"" } else { "" };
    let _ =
        writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"#666\"{dash} marker-end=\"url(#arrow)\"/>");
    let first = y - EDGE_LINE * edge.labels.len().saturating_sub(1) as f64 / 2.0;
    for (line, label) in edge.labels.iter().enumerate() {
        let y = first + EDGE_LINE * line as f64;
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"9\" fill=\"#036\" text-anchor=\"middle\" stroke=\"white\" \
             stroke-width=\"3\" paint-order=\"stroke\">{}</text>",
            xml(&cut(label))
        );
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= MAX_CHARS {
        return text.to_owned();
    }
    text.chars().take(MAX_CHARS - 1).chain(std::iter::once('…')).collect()
}

fn xml(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .map(|c| match c {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            c => c.to_string(),
        })
        .collect()
}

/// Places, and the size of the whole.
fn layout(graph: &Graph) -> (Vec<Place>, f64, f64) {
    let rows = ordered_rows(graph);
    let mut places: Vec<Place> = graph.nodes.iter().map(size).collect();
    let row_width = |row: &[usize], places: &[Place]| {
        row.iter().map(|&n| places[n].half_width * 2.0).sum::<f64>()
            + GAP_X * row.len().saturating_sub(1) as f64
    };
    let widest = rows.iter().map(|row| row_width(row, &places)).fold(0.0, f64::max);
    // The gaps must hold the labels.
    let most_labels = graph.edges.iter().map(|edge| edge.labels.len()).max().unwrap_or(0);
    let gap_y = GAP_Y + EDGE_LINE * most_labels as f64;
    let mut y = MARGIN;
    for row in &rows {
        let half_height = row.iter().map(|&n| places[n].half_height).fold(0.0, f64::max);
        let mut x = MARGIN + (widest - row_width(row, &places)) / 2.0;
        for &node in row {
            places[node].x = x + places[node].half_width;
            places[node].y = y + half_height;
            x += places[node].half_width * 2.0 + GAP_X;
        }
        y += half_height * 2.0 + gap_y;
    }
    // Room for edges that go round.
    (places, widest + 2.0 * MARGIN + 60.0, y - gap_y + MARGIN)
}

fn size(node: &Node) -> Place {
    let chars = node.lines.iter().map(|line| line.chars().count().min(MAX_CHARS)).max().unwrap_or(1);
    Place {
        half_width: (chars as f64 * CHAR_WIDTH) / 2.0 + PADDING,
        half_height: (node.lines.len().max(1) as f64 * LINE_HEIGHT) / 2.0 + PADDING,
        ..Place::default()
    }
}

/// Nodes in rows by distance from the roots: node 0, then whatever nothing before leads to.
fn ordered_rows(graph: &Graph) -> Vec<Vec<usize>> {
    let n = graph.nodes.len();
    let mut successors = vec![Vec::new(); n];
    let mut predecessors = vec![Vec::new(); n];
    for edge in &graph.edges {
        successors[edge.from].push(edge.to);
        predecessors[edge.to].push(edge.from);
    }
    let mut depth = vec![usize::MAX; n];
    let mut queue = std::collections::VecDeque::new();
    for root in 0..n {
        if depth[root] != usize::MAX {
            continue;
        }
        depth[root] = 0;
        queue.push_back(root);
        while let Some(node) = queue.pop_front() {
            for &next in &successors[node] {
                if depth[next] == usize::MAX {
                    depth[next] = depth[node] + 1;
                    queue.push_back(next);
                }
            }
        }
    }
    let n_rows = depth.iter().max().map_or(0, |&deepest| deepest + 1);
    let mut rows = vec![Vec::new(); n_rows];
    for (node, &row) in depth.iter().enumerate() {
        rows[row].push(node);
    }
    let mut position = vec![0.0f64; n];
    let note = |rows: &[Vec<usize>], position: &mut [f64]| {
        for row in rows {
            for (i, &node) in row.iter().enumerate() {
                position[node] = (i as f64 + 0.5) / row.len() as f64;
            }
        }
    };
    note(&rows, &mut position);
    for sweep in 0..6 {
        let neighbours = if sweep % 2 == 0 { &predecessors } else { &successors };
        for row in &mut rows {
            let mut keyed: Vec<(f64, usize)> = row
                .iter()
                .map(|&node| {
                    let near: Vec<f64> = neighbours[node]
                        .iter()
                        .filter(|&&other| other != node)
                        .map(|&other| position[other])
                        .collect();
                    let mean = near.iter().sum::<f64>() / near.len().max(1) as f64;
                    (if near.is_empty() { position[node] } else { mean }, node)
                })
                .collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            *row = keyed.into_iter().map(|(_, node)| node).collect();
        }
        note(&rows, &mut position);
    }
    rows
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

    #[test]
    fn svg_has_every_node_and_edge_within_the_picture() {
        let graph = example();
        let svg = to_svg(&graph);
        assert_eq!(svg.matches("<rect x=").count(), 4);
        assert_eq!(svg.matches("marker-end").count(), 4);
        assert!(svg.contains("&lt;line&gt;"), "{svg}");
        let (places, width, height) = layout(&graph);
        for place in places {
            assert!(place.x - place.half_width >= 0.0 && place.x + place.half_width <= width);
            assert!(place.y - place.half_height >= 0.0 && place.y + place.half_height <= height);
        }
    }

    #[test]
    fn rows_follow_the_distance_from_the_first_node() {
        assert_eq!(ordered_rows(&example()), [vec![0, 3], vec![1], vec![2]]);
    }
}
