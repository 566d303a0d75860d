//! Where the nodes and edges of a graph are drawn: layered, after Sugiyama, Tagawa and Toda (1981).
//!
//! The order within layers, with few crossings, is up to `rust-sugiyama`. What it does not do is done here: edges that close a cycle
//! are turned round, every edge is cut into pieces from one layer to the next, and a label is a
//! node of its own above the lower end of its edge. So labels overlap neither nodes nor each other, and edges have bends to go through.

use std::collections::BTreeMap;

use rust_sugiyama::configure::Config;

/// A node or label: its size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Size {
    pub width: f64,
    pub height: f64,
}

/// What is laid out: nodes by their sizes, and edges, each with the size of its label.
#[derive(Clone, Debug, Default)]
pub struct Input {
    pub nodes: Vec<Size>,
    pub edges: Vec<(usize, usize, Option<Size>)>,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// Centres of nodes and labels, and the line of each edge from its source to its target.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    pub width: f64,
    pub height: f64,
    pub nodes: Vec<Point>,
    pub edges: Vec<EdgeLine>,
    /// Layers stand side by side, from left to right.
    pub is_sideways: bool,
}

#[derive(Clone, Debug, Default)]
pub struct EdgeLine {
    /// Two at least; of an edge from a node to itself, the corners of a loop at its right side, or sideways below it.
    pub points: Vec<Point>,
    pub label: Option<Point>,
}

const GAP: f64 = 22.0;
const LAYER_GAP: f64 = 26.0;
const MARGIN: f64 = 16.0;
/// Nodes of one layer, side by side; edges that pass come on top.
const MAX_WIDTH: f64 = 1500.0;
/// How far a loop reaches out of its node.
const LOOP: f64 = 26.0;

/// A piece of the layered graph: a node, a label, or a bend of an edge.
#[derive(Clone, Copy)]
struct Piece {
    size: Size,
    layer: usize,
}

/// What a picture should fit into: a screen wide, and higher, since pages are scrolled downwards.
const SCREEN: Size = Size { width: 1600.0, height: 2400.0 };

/// From top to bottom, unless the picture is larger than a screen and gets smaller from left to right.
pub fn layout(input: &Input) -> Layout {
    let downwards = downwards(input);
    let excess = |layout: &Layout| (layout.width / SCREEN.width).max(layout.height / SCREEN.height);
    if excess(&downwards) <= 1.0 {
        return downwards;
    }
    let sideways = sideways(input);
    if excess(&sideways) < 0.8 * excess(&downwards) { sideways } else { downwards }
}

/// From left to right: nodes are wider than high, so that more of them have room above each other.
fn sideways(input: &Input) -> Layout {
    let turned = |size: Size| Size { width: size.height, height: size.width };
    let turned_input = Input {
        nodes: input.nodes.iter().copied().map(turned).collect(),
        edges: input.edges.iter().map(|&(from, to, label)| (from, to, label.map(turned))).collect(),
    };
    let mut found = downwards(&turned_input);
    let turn = |point: &mut Point| *point = Point { x: point.y, y: point.x };
    found.nodes.iter_mut().for_each(turn);
    for edge in &mut found.edges {
        edge.points.iter_mut().for_each(turn);
        edge.label.iter_mut().for_each(turn);
    }
    // A line runs along its label here, so the label stands above it.
    for (edge, (from, to, size)) in found.edges.iter_mut().zip(&input.edges) {
        if let (Some(label), Some(size), true) = (&mut edge.label, size, from != to) {
            label.y -= (size.height / 2.0 + 2.0).min(GAP / 2.0);
        }
    }
    (found.width, found.height) = (found.height, found.width);
    found.is_sideways = true;
    found
}

fn downwards(input: &Input) -> Layout {
    let n = input.nodes.len();
    if n == 0 {
        return Layout { width: 2.0 * MARGIN, height: 2.0 * MARGIN, ..Layout::default() };
    }
    let layers = layers(input);
    // Odd layers are for labels.
    let mut pieces: Vec<Piece> =
        (0..n).map(|node| Piece { size: input.nodes[node], layer: 2 * layers[node] }).collect();
    // Loops need room at the right side.
    let mut room = vec![0.0f64; n];
    for &(from, to, label) in &input.edges {
        if from == to {
            room[from] = room[from].max(LOOP + 6.0 + label.map_or(0.0, |size| size.width));
        }
    }
    for (node, room) in room.iter().enumerate() {
        // On both sides, so that the node stays in the middle of its piece.
        pieces[node].size.width += 2.0 * room;
    }
    let mut links: Vec<(u32, u32)> = Vec::new();
    // By edge: its pieces from the upper to the lower end, and which of them is the label.
    let mut chains: Vec<(Vec<usize>, Option<usize>)> = Vec::new();
    for &(from, to, label) in &input.edges {
        if from == to {
            chains.push((Vec::new(), None));
            continue;
        }
        let (upper, lower) = if layers[from] < layers[to] { (from, to) } else { (to, from) };
        // Beside the lower end, where edges of one node with many have already parted.
        let label_layer = 2 * layers[lower] - 1;
        let mut chain = vec![upper];
        let mut label_piece = None;
        for layer in 2 * layers[upper] + 1..2 * layers[lower] {
            let size = match label {
                Some(size) if layer == label_layer => {
                    label_piece = Some(pieces.len());
                    size
                }
                _ => Size { width: 4.0, height: 1.0 },
            };
            chain.push(pieces.len());
            pieces.push(Piece { size, layer });
        }
        chain.push(lower);
        links.extend(chain.windows(2).map(|pair| (pair[0] as u32, pair[1] as u32)));
        chains.push((chain, label_piece));
    }
    let xs = columns(&pieces, &links);
    let ys = rows(&pieces);
    let mut found = Layout::default();
    let centre = |piece: usize| Point { x: xs[piece], y: ys[pieces[piece].layer] };
    found.nodes = (0..n).map(centre).collect();
    for (&(from, to, label), (chain, label_piece)) in input.edges.iter().zip(&chains) {
        found.edges.push(if from == to {
            self_loop(found.nodes[from], input.nodes[from], label)
        } else {
            let mut points: Vec<Point> = chain.iter().map(|&piece| centre(piece)).collect();
            let (upper, lower) = (chain[0], chain[chain.len() - 1]);
            points[0].y += input.nodes[upper].height / 2.0;
            let last = points.len() - 1;
            points[last].y -= input.nodes[lower].height / 2.0;
            if upper != from {
                points.reverse();
            }
            EdgeLine { points, label: label_piece.map(centre) }
        });
    }
    spread_ends(input, &mut found);
    for (piece, Piece { size, .. }) in pieces.iter().enumerate() {
        let at = centre(piece);
        found.width = found.width.max(at.x + size.width / 2.0 + MARGIN);
        found.height = found.height.max(at.y + size.height / 2.0 + MARGIN);
    }
    found
}

/// An end of an edge: where it comes from, the edge, and whether it is the last point.
type End = (f64, usize, bool);

/// Ends of edges share the side of a node, in the order of where they come from, rather than meet in one point.
fn spread_ends(input: &Input, found: &mut Layout) {
    let mut sides: BTreeMap<(usize, bool), Vec<End>> = BTreeMap::new();
    for (edge, &(from, to, _)) in input.edges.iter().enumerate().filter(|(_, (from, to, _))| from != to) {
        let points = &found.edges[edge].points;
        let last = points.len() - 1;
        let is_below = |end: Point, node: usize| end.y > found.nodes[node].y;
        sides.entry((from, is_below(points[0], from))).or_default().push((points[1].x, edge, false));
        sides.entry((to, is_below(points[last], to))).or_default().push((points[last - 1].x, edge, true));
    }
    for ((node, _), mut ends) in sides {
        ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let room = (input.nodes[node].width - 16.0).max(0.0);
        let gap = (room / ends.len() as f64).min(18.0);
        let first = found.nodes[node].x - gap * (ends.len() - 1) as f64 / 2.0;
        for (i, (_, edge, is_last)) in ends.into_iter().enumerate() {
            let points = &mut found.edges[edge].points;
            let end = if is_last { points.len() - 1 } else { 0 };
            points[end].x = first + gap * i as f64;
        }
    }
}

/// A loop at the right side of a node, with its label beside it.
fn self_loop(at: Point, size: Size, label: Option<Size>) -> EdgeLine {
    let (right, reach) = (at.x + size.width / 2.0, (size.height / 2.0 - 3.0).min(10.0));
    let points = vec![
        Point { x: right, y: at.y - reach },
        Point { x: right + LOOP, y: at.y - reach },
        Point { x: right + LOOP, y: at.y + reach },
        Point { x: right, y: at.y + reach },
    ];
    let label = label.map(|size| Point { x: right + LOOP + 4.0 + size.width / 2.0, y: at.y });
    EdgeLine { points, label }
}

/// The layer of each node: edges go downwards, but for those that close a cycle of a depth-first walk from the first node. A layer
/// that is full sends further nodes to the next one, as in the algorithm of Coffman and Graham (1972), so that a node with many
/// successors does not make a picture that is many screens wide.
fn layers(input: &Input) -> Vec<usize> {
    let n = input.nodes.len();
    let mut successors = vec![Vec::new(); n];
    for &(from, to, _) in input.edges.iter().filter(|(from, to, _)| from != to) {
        successors[from].push(to);
    }
    // Nodes in the order in which the walk leaves them: reversed, it is a topological order without the closing edges.
    let mut left = Vec::with_capacity(n);
    let mut position = vec![usize::MAX; n];
    let mut is_seen = vec![false; n];
    for root in 0..n {
        if is_seen[root] {
            continue;
        }
        is_seen[root] = true;
        let mut path = vec![(root, 0)];
        while let Some((node, next)) = path.last_mut() {
            match successors[*node].get(*next) {
                Some(&to) => {
                    *next += 1;
                    if !is_seen[to] {
                        is_seen[to] = true;
                        path.push((to, 0));
                    }
                }
                None => {
                    position[*node] = left.len();
                    left.push(*node);
                    path.pop();
                }
            }
        }
    }
    let mut layers = vec![0; n];
    // Where a node may be at the earliest; then nodes in that order, and in that of their numbers.
    for &node in left.iter().rev() {
        for &to in successors[node].iter().filter(|&&to| position[to] < position[node]) {
            layers[to] = layers[to].max(layers[node] + 1);
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&node| (layers[node], node));
    let mut filled: Vec<f64> = Vec::new();
    for node in order {
        let width = input.nodes[node].width + GAP;
        let mut layer = layers[node];
        while filled.get(layer).is_some_and(|filled| filled + width > MAX_WIDTH) {
            layer += 1;
        }
        if filled.len() <= layer {
            filled.resize(layer + 1, 0.0);
        }
        filled[layer] += width;
        layers[node] = layer;
        for &to in successors[node].iter().filter(|&&to| position[to] < position[node]) {
            layers[to] = layers[to].max(layer + 1);
        }
    }
    layers
}

/// The middle of each layer, from top to bottom.
fn rows(pieces: &[Piece]) -> Vec<f64> {
    let n = pieces.iter().map(|piece| piece.layer + 1).max().unwrap_or(0);
    let mut heights = vec![0.0f64; n];
    for piece in pieces {
        heights[piece.layer] = heights[piece.layer].max(piece.size.height);
    }
    let mut y = MARGIN;
    heights
        .iter()
        .map(|height| {
            let middle = y + height / 2.0;
            y += height + LAYER_GAP / 2.0 + height.min(LAYER_GAP) / 4.0;
            middle
        })
        .collect()
}

/// The x of each piece's centre, in the order that the library finds for each layer.
fn columns(pieces: &[Piece], links: &[(u32, u32)]) -> Vec<f64> {
    let vertices: Vec<(u32, (f64, f64))> =
        pieces.iter().enumerate().map(|(id, piece)| (id as u32, (piece.size.width, 10.0))).collect();
    let config = Config { vertex_spacing: GAP, dummy_vertices: true, ..Config::default() };
    let mut xs = vec![0.0; pieces.len()];
    let mut components: Vec<Vec<(usize, f64)>> =
        rust_sugiyama::from_vertices_and_edges(&vertices, links, &config)
            .into_iter()
            .map(|(placed, _, _)| placed.into_iter().map(|(id, (x, _))| (id, x)).collect())
            .collect();
    // The library gives no order; the first node's part comes first.
    for component in &mut components {
        component.sort_by_key(|&(id, _)| id);
    }
    components.sort_by_key(|component| component.first().map(|&(id, _)| id));
    let mut left = MARGIN;
    for component in components {
        let edge =
            |side: f64| component.iter().map(move |&(id, x)| (id, x + side * pieces[id].size.width / 2.0));
        let low = edge(-1.0).map(|(_, x)| x).fold(f64::INFINITY, f64::min);
        let high = edge(1.0).map(|(_, x)| x).fold(f64::NEG_INFINITY, f64::max);
        for &(id, x) in &component {
            xs[id] = x - low + left;
        }
        left += high - low + 2.0 * GAP;
    }
    compact(pieces, links, &mut xs);
    xs
}

/// Sweeps over the layers, in which each piece goes towards its neighbours.
const SWEEPS: usize = 24;

/// Keeps the order of the pieces in each layer, and brings each close to its neighbours in the layers beside it. The coordinates that the
/// library finds keep long edges straight, which makes pictures with many of them very wide.
fn compact(pieces: &[Piece], links: &[(u32, u32)], xs: &mut [f64]) {
    let mut by_layer: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (id, piece) in pieces.iter().enumerate() {
        by_layer.entry(piece.layer).or_default().push(id);
    }
    let mut layers: Vec<Vec<usize>> = by_layer.into_values().collect();
    let (mut above, mut below) = (vec![Vec::new(); pieces.len()], vec![Vec::new(); pieces.len()]);
    for &(upper, lower) in links {
        above[lower as usize].push(upper as usize);
        below[upper as usize].push(lower as usize);
    }
    let widest = layers.iter().map(|layer| width_of(pieces, layer)).fold(0.0, f64::max);
    for layer in &mut layers {
        layer.sort_by(|&a, &b| xs[a].total_cmp(&xs[b]).then(a.cmp(&b)));
        // Side by side to begin with, in the middle.
        let mut x = (widest - width_of(pieces, layer)) / 2.0;
        for &piece in layer.iter() {
            xs[piece] = x + pieces[piece].size.width / 2.0;
            x += pieces[piece].size.width + GAP;
        }
    }
    for sweep in 0..SWEEPS {
        let is_down = sweep % 2 == 0;
        for at in 0..layers.len() {
            let layer = &layers[if is_down { at } else { layers.len() - 1 - at }];
            let wanted: Vec<f64> = layer
                .iter()
                .map(|&piece| {
                    // In the last sweeps both sides count.
                    let near: Vec<usize> = match (sweep + 4 >= SWEEPS, is_down) {
                        (true, _) => above[piece].iter().chain(&below[piece]).copied().collect(),
                        (false, true) => above[piece].clone(),
                        (false, false) => below[piece].clone(),
                    };
                    match near.len() {
                        0 => xs[piece],
                        n => near.iter().map(|&other| xs[other]).sum::<f64>() / n as f64,
                    }
                })
                .collect();
            place(pieces, layer, &wanted, xs);
        }
    }
    let left = (0..pieces.len()).map(|at| xs[at] - pieces[at].size.width / 2.0).fold(f64::INFINITY, f64::min);
    for x in xs {
        *x += MARGIN - left;
    }
}

fn width_of(pieces: &[Piece], layer: &[usize]) -> f64 {
    layer.iter().map(|&piece| pieces[piece].size.width + GAP).sum::<f64>() - GAP
}

/// Puts the pieces of a layer as near as possible to where they want to be, by least squares, in their order and apart: pieces that
/// would be too close form a block, which stands where its members want on average (pool adjacent violators).
fn place(pieces: &[Piece], layer: &[usize], wanted: &[f64], xs: &mut [f64]) {
    // Blocks: the sum of what its members want for their first, how many they are.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    let mut offsets = Vec::with_capacity(layer.len());
    let mut offset = 0.0;
    for (i, &piece) in layer.iter().enumerate() {
        if i > 0 {
            offset += (pieces[layer[i - 1]].size.width + pieces[piece].size.width) / 2.0 + GAP;
        }
        offsets.push(offset);
        blocks.push((wanted[i] - offset, 1));
        while let [.., (before, n_before), (sum, n)] = blocks[..]
            && before / n_before as f64 > sum / n as f64
        {
            blocks.pop();
            blocks.pop();
            blocks.push((before + sum, n_before + n));
        }
    }
    let mut at = 0;
    for (sum, n) in blocks {
        for _ in 0..n {
            xs[layer[at]] = sum / n as f64 + offsets[at];
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph of numbers that look random, and the same ones each time.
    fn sample(seed: u64, n: usize, n_edges: usize) -> Input {
        let mut state = seed;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let nodes =
            (0..n).map(|_| Size { width: 30.0 + next(200) as f64, height: 20.0 + next(80) as f64 }).collect();
        let edges = (0..n_edges)
            .map(|_| {
                let label = (next(3) > 0).then(|| Size { width: 20.0 + next(90) as f64, height: 11.0 });
                (next(n), next(n), label)
            })
            .collect();
        Input { nodes, edges }
    }

    type Rectangle = (f64, f64, f64, f64);

    fn rectangle(at: Point, size: Size) -> Rectangle {
        let (w, h) = (size.width / 2.0, size.height / 2.0);
        (at.x - w, at.y - h, at.x + w, at.y + h)
    }

    fn overlap(a: Rectangle, b: Rectangle) -> bool {
        a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3
    }

    #[test]
    fn nothing_overlaps() {
        for (seed, arrange) in
            (0..60).flat_map(|seed| [(seed, downwards as fn(&Input) -> Layout), (seed, sideways)])
        {
            let n = 1 + seed as usize % 25;
            let input = sample(seed, n, n * (1 + seed as usize % 3));
            let found = arrange(&input);
            let mut all: Vec<Rectangle> =
                found.nodes.iter().zip(&input.nodes).map(|(&at, &size)| rectangle(at, size)).collect();
            let labels = found.edges.iter().zip(&input.edges).filter(|(_, (from, to, _))| from != to);
            for (line, (.., size)) in labels {
                assert_eq!(line.label.is_some(), size.is_some(), "seed {seed}");
                all.extend(line.label.zip(*size).map(|(at, size)| rectangle(at, size)));
            }
            for (i, &a) in all.iter().enumerate() {
                assert!(a.0 >= 0.0 && a.1 >= 0.0 && a.2 <= found.width && a.3 <= found.height, "seed {seed}");
                for &b in &all[..i] {
                    assert!(!overlap(a, b), "seed {seed}: {a:?} and {b:?}");
                }
            }
        }
    }

    #[test]
    fn edges_lead_from_source_to_target() {
        let input = sample(7, 12, 30);
        let found = downwards(&input);
        for (line, &(from, to, _)) in found.edges.iter().zip(&input.edges) {
            let (first, last) = (line.points[0], line.points[line.points.len() - 1]);
            if from != to {
                assert!((first.x - found.nodes[from].x).abs() <= input.nodes[from].width / 2.0);
                assert!((last.x - found.nodes[to].x).abs() <= input.nodes[to].width / 2.0);
                assert!((first.y - found.nodes[from].y).abs() - input.nodes[from].height / 2.0 < 1e-6);
            }
        }
    }

    /// A start with many successors, as a choice makes them.
    #[test]
    fn a_wide_graph_goes_from_left_to_right() {
        let node = Size { width: 300.0, height: 40.0 };
        let edges = (1..40).map(|to| (0, to, Some(Size { width: 150.0, height: 11.0 })));
        let found = layout(&Input { nodes: vec![node; 40], edges: edges.collect() });
        assert!(found.is_sideways && found.width < 1600.0, "{} x {}", found.width, found.height);
        let small = layout(&Input { nodes: vec![node; 3], edges: vec![(0, 1, None), (1, 2, None)] });
        assert!(!small.is_sideways);
    }

    #[test]
    fn the_same_graph_looks_the_same() {
        let input = sample(3, 40, 90);
        let (a, b) = (layout(&input), layout(&input));
        assert_eq!(a.nodes, b.nodes);
    }
}
