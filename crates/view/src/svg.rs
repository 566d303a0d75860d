//! Graphs as pictures: laid out, without overlaps, long texts cut and whole on hover.

use std::fmt::Write as _;

use allways_report::graph::{Graph, Node, NodeKind};

use crate::brief::{brief, is_of_configurations};
use crate::layout::{EdgeLine, Input, Layout, Point, Size, layout};

/// Beyond so many nodes a picture is no help; dot and a layout program of its own are.
pub const MAX_NODES: usize = 400;

const CHAR_WIDTH: f64 = 6.7;
const LINE_HEIGHT: f64 = 14.0;
const PADDING: f64 = 8.0;
const LABEL_CHAR: f64 = 5.6;
const LABEL_LINE: f64 = 11.5;
/// Of more configurations than these, only what changed is shown.
const MAX_WHOLE: usize = 12;
/// Longer lines are cut in the picture.
const MAX_CHARS: usize = 44;
/// Where only what changed is shown.
const MAX_BRIEF_CHARS: usize = 60;
const MAX_LABEL_CHARS: usize = 36;
/// Further labels of an edge are counted.
const MAX_LABELS: usize = 4;

/// A graph with places for everything.
pub struct Picture {
    pub layout: Layout,
    pub sizes: Vec<Size>,
    /// By node, the lines that are shown.
    pub lines: Vec<Vec<String>>,
    /// By edge.
    pub labels: Vec<Vec<String>>,
}

impl Picture {
    pub fn of(graph: &Graph) -> Picture {
        let cut_all = |lines: &[String]| lines.iter().map(|line| cut(line, MAX_CHARS)).collect::<Vec<_>>();
        let is_brief = graph.nodes.len() > MAX_WHOLE && is_of_configurations(graph);
        let lines: Vec<Vec<String>> = match is_brief {
            true => brief(graph)
                .iter()
                .map(|lines| lines.iter().map(|line| cut(line, MAX_BRIEF_CHARS)).collect())
                .collect(),
            false => graph.nodes.iter().map(|node| cut_all(&node.lines)).collect(),
        };
        let sizes: Vec<Size> =
            lines.iter().map(|lines| size(lines, CHAR_WIDTH, LINE_HEIGHT, PADDING)).collect();
        let labels: Vec<Vec<String>> = graph.edges.iter().map(|edge| labels(&edge.labels)).collect();
        let edges = graph.edges.iter().zip(&labels).map(|(edge, labels)| {
            let label = (!labels.is_empty()).then(|| size(labels, LABEL_CHAR, LABEL_LINE, 2.0));
            (edge.from, edge.to, label)
        });
        let layout = layout(&Input { nodes: sizes.clone(), edges: edges.collect() });
        Picture { layout, sizes, lines, labels }
    }
}

fn size(lines: &[String], char_width: f64, line_height: f64, padding: f64) -> Size {
    let chars = lines.iter().map(|line| line.chars().count()).max().unwrap_or(1).max(1);
    Size {
        width: chars as f64 * char_width + 2.0 * padding,
        height: lines.len().max(1) as f64 * line_height + 2.0 * padding,
    }
}

fn labels(all: &[String]) -> Vec<String> {
    let mut shown: Vec<String> =
        all.iter().take(MAX_LABELS).map(|label| cut(label, MAX_LABEL_CHARS)).collect();
    if all.len() > MAX_LABELS {
        shown.push(format!("and {} more", all.len() - MAX_LABELS));
    }
    shown
}

/// Border and filling.
fn colours(kind: NodeKind) -> (&'static str, &'static str) {
    kind.colours()
}

pub fn to_svg(graph: &Graph) -> String {
    let picture = Picture::of(graph);
    let (width, height) = (picture.layout.width, picture.layout.height);
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
    for ((edge, line), labels) in graph.edges.iter().zip(&picture.layout.edges).zip(&picture.labels) {
        let dash = if graph.is_watched(edge) { " stroke-dasharray=\"4 3\"" } else { "" };
        let _ = writeln!(
            out,
            "<g><title>{}</title><path d=\"{}\" fill=\"none\" stroke=\"#666\"{dash} marker-end=\"url(#arrow)\"/>",
            xml(&edge.labels.join(", ")),
            path(line, picture.layout.is_sideways)
        );
        draw_labels(&mut out, line, labels);
        out.push_str("</g>\n");
    }
    for (at, node) in graph.nodes.iter().enumerate() {
        draw_node(&mut out, node, picture.layout.nodes[at], picture.sizes[at], &picture.lines[at]);
    }
    out.push_str("</svg>\n");
    out
}

fn draw_labels(out: &mut String, line: &EdgeLine, labels: &[String]) {
    let Some(at) = line.label else { return };
    let top = at.y - LABEL_LINE * labels.len() as f64 / 2.0;
    for (i, label) in labels.iter().enumerate() {
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"9\" fill=\"#036\" text-anchor=\"middle\" stroke=\"white\" \
             stroke-width=\"3\" paint-order=\"stroke\">{}</text>",
            at.x,
            top + LABEL_LINE * (i as f64 + 0.8),
            xml(label)
        );
    }
}

/// A smooth line through the points of an edge: at right angles to each layer that it passes.
pub fn path(line: &EdgeLine, is_sideways: bool) -> String {
    let points = &line.points;
    let Some(first) = points.first() else { return String::new() };
    let mut out = format!("M{:.1},{:.1}", first.x, first.y);
    // Between layers there is an odd number of points.
    if points.len() == 4 {
        let _ = write!(
            out,
            " C{:.1},{:.1} {:.1},{:.1} {:.1},{:.1}",
            points[1].x, points[1].y, points[2].x, points[2].y, points[3].x, points[3].y
        );
        return out;
    }
    for pair in points.windows(2) {
        if is_sideways {
            let middle = (pair[0].x + pair[1].x) / 2.0;
            let _ = write!(
                out,
                " C{middle:.1},{:.1} {middle:.1},{:.1} {:.1},{:.1}",
                pair[0].y, pair[1].y, pair[1].x, pair[1].y
            );
            continue;
        }
        let middle = (pair[0].y + pair[1].y) / 2.0;
        let _ = write!(
            out,
            " C{:.1},{middle:.1} {:.1},{middle:.1} {:.1},{:.1}",
            pair[0].x, pair[1].x, pair[1].x, pair[1].y
        );
    }
    out
}

fn draw_node(out: &mut String, node: &Node, at: Point, size: Size, lines: &[String]) {
    let (border, fill) = colours(node.kind);
    let dash = if node.kind == NodeKind::Open { " stroke-dasharray=\"4 3\"" } else { "" };
    let (left, top) = (at.x - size.width / 2.0, at.y - size.height / 2.0);
    let whole: Vec<&str> = node.lines.iter().chain(&node.place).map(String::as_str).collect();
    let _ = writeln!(
        out,
        "<g><title>{}</title><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"5\" fill=\"{fill}\" \
         stroke=\"{border}\"{dash}/>",
        xml(&whole.join("\n")),
        size.width,
        size.height
    );
    for (i, line) in lines.iter().enumerate() {
        let weight = if node.kind == NodeKind::State && i == 0 { " font-weight=\"bold\"" } else { "" };
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\"{weight} xml:space=\"preserve\">{}</text>",
            left + PADDING,
            top + PADDING + LINE_HEIGHT * (i as f64 + 0.75),
            xml(line)
        );
    }
    out.push_str("</g>\n");
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(std::iter::once('…')).collect()
}

fn xml(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control() || *c == '\n')
        .map(|c| match c {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            c => c.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use allways_report::graph::Edge;

    use super::*;

    #[test]
    fn a_picture_has_every_node_and_edge_and_nothing_looks_like_markup() {
        let node = |text: &str, kind| Node { lines: vec![text.to_owned()], kind, place: None };
        let edge = |from, to, label: &str| Edge { from, to, labels: vec![label.to_owned()] };
        let graph = Graph {
            version: 1,
            command: "graph",
            project: "Small".to_owned(),
            test: "t".to_owned(),
            nodes: vec![
                node("a \"quoted\" <line>", NodeKind::Start),
                node("b", NodeKind::Plain),
                node("c", NodeKind::Monitor),
                node(&"long ".repeat(40), NodeKind::Open),
            ],
            edges: vec![edge(0, 1, "x"), edge(1, 1, "again"), edge(1, 2, "<y>"), edge(2, 0, "back")],
        };
        let svg = to_svg(&graph);
        assert_eq!(svg.matches("<rect x=").count(), 4);
        assert_eq!(svg.matches("marker-end").count(), 4);
        assert!(svg.contains("&lt;line&gt;") && svg.contains("&lt;y&gt;"), "{svg}");
        assert!(svg.contains('…') && svg.contains(&"long ".repeat(40)), "cut, and whole on hover");
    }
}
