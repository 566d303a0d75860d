//! `random` fairness, the default: which infinite runs does a scheduler produce that draws every choice at random?
//!
//! Those that end up in a bottom component of the graph and visit all of it. So a violation is a bottom component with
//! a hot and no cold configuration. Crashes are never compelled: a run may continue for ever without another one, so they
//! are not edges.

use allways_machine::Kernel;

use super::Search;
use super::graph::{Allowance, End, Graph};
use super::heat::{Heat, StepHeat, standing};

/// Asks of a monitor whether it can still be cold, from where the kernel stands.
pub(crate) fn search(
    kernel: &mut Kernel,
    heat: &Heat,
    monitor: usize,
    allowance: Allowance,
    is_cancelled: &dyn Fn() -> bool,
) -> Search {
    if monitor >= StepHeat::MAX_MONITORS {
        return Search::Open;
    }
    let bit = 1 << monitor;
    if standing(kernel).1 & bit != 0 {
        return Search::Cools;
    }
    let (graph, end) =
        Graph::explore(kernel, heat, allowance, false, is_cancelled, |edge, _| edge.cold & bit != 0);
    match end {
        End::Exhausted => {}
        End::Stopped => return Search::Cools,
        End::Bound | End::Cancelled | End::Unknown => return Search::Open,
        End::Broken { path, violation } => return Search::Broken { path, violation },
    }
    let mut component_of = vec![0; graph.nodes.len()];
    let found = graph.components(|_| true, |_| true);
    for (number, component) in found.iter().enumerate() {
        for &node in component {
            component_of[node as usize] = number;
        }
    }
    let hot_bottoms = found.iter().enumerate().filter_map(|(number, component)| {
        let edges = || component.iter().flat_map(|&node| graph.nodes[node as usize].edges.clone());
        let stays = |edge: u32| component_of[graph.edges[edge as usize].to as usize] == number;
        // No edge is a quiescent end: were a monitor hot there, the search had broken.
        let is_bottom = edges().next().is_some() && edges().all(stays);
        let hot = edges().find(|&edge| {
            let edge = &graph.edges[edge as usize];
            (edge.hot | graph.nodes[edge.to as usize].hot) & bit != 0
        })?;
        is_bottom.then_some(hot)
    });
    // The one that was found first, so that the stem is short.
    let Some(hot) = hot_bottoms.min() else { return Search::Cools };
    let start = graph.edges[hot as usize].from;
    let back = if graph.edges[hot as usize].to == start {
        Vec::new()
    } else {
        let to = graph.edges[hot as usize].to;
        graph.walk(to, &|_| true, &|edge| graph.edges[edge as usize].to == start).unwrap_or_default()
    };
    let mut lap = vec![hot];
    lap.extend(back);
    Search::Lasso { monitor, stem: graph.path_to(start), lap: graph.choices(&lap) }
}
