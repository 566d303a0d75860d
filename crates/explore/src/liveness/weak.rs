//! `weak` fairness: `$` is free, `$$` fair, machines and channels of the network weakly fair: a channel that always has
//! something to deliver does deliver something. Faults are free: no machine has to crash, and every message may be lost.
//!
//! A violation is a cycle with a hot and no cold configuration in which every machine that can always step does, and
//! every `$$` that is asked gives both answers. Any such cycle in the explored part is real, whether or not the search
//! was exhausted.

use allways_machine::Kernel;
use allways_run::{Choice, InstanceId};

use super::Search;
use super::graph::{Allowance, End, Graph};
use super::heat::{Heat, StepHeat};

/// Looks for a fair cycle in what can be reached from where the kernel stands, for any monitor.
pub(crate) fn search(
    kernel: &mut Kernel,
    heat: &Heat,
    allowance: Allowance,
    is_cancelled: &dyn Fn() -> bool,
) -> Search {
    let (graph, end) = Graph::explore(kernel, heat, allowance, true, is_cancelled, |_, _| false);
    for monitor in 0..kernel.n_monitors().min(StepHeat::MAX_MONITORS) {
        if let Some((start, walk)) = fair_cycle(&graph, monitor) {
            return Search::Lasso { monitor, stem: graph.path_to(start), lap: graph.choices(&walk) };
        }
    }
    match end {
        End::Exhausted | End::Stopped => Search::Cools,
        End::Bound | End::Cancelled | End::Unknown => Search::Open,
        End::Broken { path, violation } => Search::Broken { path, violation },
    }
}

/// A `$$` of a machine, by the op that asks.
type FairPoint = (InstanceId, u32);

pub(crate) fn fair_cycle(graph: &Graph, monitor: usize) -> Option<(u32, Vec<u32>)> {
    let bit = 1u64 << monitor;
    let is_hot = |edge: u32| {
        let edge = &graph.edges[edge as usize];
        (edge.hot | graph.nodes[edge.to as usize].hot) & bit != 0
    };
    let mut is_kept: Vec<bool> = graph.edges.iter().map(|edge| edge.cold & bit == 0).collect();
    let whole: Vec<u32> =
        (0..graph.nodes.len() as u32).filter(|&node| graph.nodes[node as usize].cold & bit == 0).collect();
    let mut work = vec![whole];
    let mut is_member = vec![false; graph.nodes.len()];
    while let Some(part) = work.pop() {
        let mut is_within = vec![false; graph.nodes.len()];
        part.iter().for_each(|&node| is_within[node as usize] = true);
        for component in graph.components(|node| is_within[node as usize], |edge| is_kept[edge]) {
            for &node in &component {
                is_member[node as usize] = true;
            }
            let edges: Vec<u32> = component
                .iter()
                .flat_map(|&node| graph.nodes[node as usize].edges.clone())
                .filter(|&edge| is_kept[edge as usize] && is_member[graph.edges[edge as usize].to as usize])
                .collect();
            for &node in &component {
                is_member[node as usize] = false;
            }
            if !edges.iter().any(|&edge| is_hot(edge)) {
                continue;
            }
            // A `$$` that gives one answer only in here must not be asked: without those edges, what is left?
            let asked = answers(graph, &edges);
            let unfair: Vec<FairPoint> =
                asked.iter().filter(|(_, seen)| seen.contains(&false)).map(|(point, _)| *point).collect();
            if !unfair.is_empty() {
                for &edge in &edges {
                    if fair_points(graph, edge).any(|(point, _, _)| unfair.contains(&point)) {
                        is_kept[edge as usize] = false;
                    }
                }
                work.push(component);
                continue;
            }
            // A machine that can step all through the component and never does starves in every cycle of it.
            let starves = graph.nodes[component[0] as usize].enabled.iter().any(|machine| {
                component.iter().all(|&node| graph.nodes[node as usize].enabled.contains(machine))
                    && !edges.iter().any(|&edge| graph.edges[edge as usize].mover == *machine)
            });
            // What never moves in here though it would have to if it could again and again must not be able to: without the
            // nodes where it can, what is left? (Strong fairness, as Streett automata have it.)
            let moved: rustc_hash::FxHashSet<Choice> =
                edges.iter().map(|&edge| graph.edges[edge as usize].mover).collect();
            let is_neglected =
                |node: u32| graph.nodes[node as usize].compelled.iter().any(|mover| !moved.contains(mover));
            if !starves && component.iter().any(|&node| is_neglected(node)) {
                work.push(component.into_iter().filter(|&node| !is_neglected(node)).collect());
                continue;
            }
            if !starves && let Some(found) = close(graph, &edges, &is_hot) {
                return Some(found);
            }
        }
    }
    None
}

fn fair_points(graph: &Graph, edge: u32) -> impl Iterator<Item = (FairPoint, u32, u32)> + '_ {
    graph.edges[edge as usize]
        .answers
        .iter()
        .filter(|answer| answer.point.is_fair)
        .map(|answer| ((answer.point.machine, answer.point.pc), answer.answer, answer.point.n_answers))
}

/// The fair points asked on these edges, as they come, with which of the answers were given.
fn answers(graph: &Graph, edges: &[u32]) -> Vec<(FairPoint, Vec<bool>)> {
    let mut asked: Vec<(FairPoint, Vec<bool>)> = Vec::new();
    for &edge in edges {
        for (point, answer, n_answers) in fair_points(graph, edge) {
            let at = asked.iter().position(|(known, _)| *known == point).unwrap_or_else(|| {
                asked.push((point, vec![false; n_answers as usize]));
                asked.len() - 1
            });
            asked[at].1[answer as usize] = true;
        }
    }
    asked
}

/// A closed walk over edges of a fair component that is fair itself, and its first node. It begins with a hot edge
/// and takes in what its own fairness asks for, until nothing is missing.
fn close(graph: &Graph, edges: &[u32], is_hot: &dyn Fn(u32) -> bool) -> Option<(u32, Vec<u32>)> {
    let is_inside: rustc_hash::FxHashSet<u32> = edges.iter().copied().collect();
    let keeps = |edge: u32| is_inside.contains(&edge);
    let first = edges.iter().copied().find(|&edge| is_hot(edge))?;
    let start = graph.edges[first as usize].from;
    let mut walk = vec![first];
    let go_home = |walk: &mut Vec<u32>| -> Option<()> {
        let at = graph.edges[*walk.last()? as usize].to;
        if at != start {
            walk.extend(graph.walk(at, &keeps, &|edge| graph.edges[edge as usize].to == start)?);
        }
        Some(())
    };
    loop {
        go_home(&mut walk)?;
        let missing = missing(graph, edges, &walk);
        let Some(edge) = missing else { return Some((start, walk)) };
        walk.extend(graph.walk(start, &keeps, &|candidate| candidate == edge)?);
    }
}

/// An edge that the fairness of the walk asks for.
fn missing(graph: &Graph, edges: &[u32], walk: &[u32]) -> Option<u32> {
    for (point, seen) in answers(graph, walk) {
        if let Some(answer) = seen.iter().position(|seen| !seen) {
            return edges.iter().copied().find(|&edge| {
                fair_points(graph, edge).any(|(p, given, _)| p == point && given as usize == answer)
            });
        }
    }
    let source = |edge: u32| &graph.nodes[graph.edges[edge as usize].from as usize];
    for machine in &source(walk[0]).enabled {
        let can_always = walk.iter().all(|&edge| source(edge).enabled.contains(machine));
        let steps = walk.iter().any(|&edge| graph.edges[edge as usize].mover == *machine);
        if can_always && !steps {
            // Either it steps somewhere in the component, or it cannot step somewhere: go there.
            return edges.iter().copied().find(|&edge| {
                graph.edges[edge as usize].mover == *machine || !source(edge).enabled.contains(machine)
            });
        }
    }
    let compelled = walk.iter().flat_map(|&edge| &source(edge).compelled);
    let moves = |edge: u32, mover: Choice| graph.edges[edge as usize].mover == mover;
    for &mover in compelled {
        if !walk.iter().any(|&edge| moves(edge, mover)) {
            return edges.iter().copied().find(|&edge| moves(edge, mover));
        }
    }
    None
}
