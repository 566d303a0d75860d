//! Fair cycles: those in which everything that can always move does.
//!
//! Machines, and channels that keep an order, are weakly fair. Where no order is kept each message is by itself, and strongly fair in
//! the graph that is searched, where a message arrives only when its target takes it at once: in a run of the
//! program it would wait in the inbox meanwhile, and be taken as soon as it can be. `$$` gives both answers. Stimuli need not move.

use allways_base::Idx;
use allways_run::{Choice, NetworkModel};
use rustc_hash::FxHashMap;

use super::graph::{Graph, GraphLasso, Step};
use crate::liveness::{graph as sampled, weak};
use crate::search::counterexample::{choice, moves_answers};
use crate::search::local::states::{Act, InputId, LocalStateId, LocalStates, Owner};
use crate::search::lock;

/// A fair cycle within a component. Of messages without bound there may be none: they have to arrive only if that is taken to be so.
pub(crate) fn fair_lasso(
    graph: &mut Graph<'_>,
    component: &[u32],
    compels_omega: bool,
) -> Option<GraphLasso> {
    let inside: FxHashMap<u32, u32> =
        component.iter().enumerate().map(|(number, &node)| (node, number as u32)).collect();
    let (part, steps) = part(graph, component, &inside, compels_omega);
    let (start, walk) = weak::fair_cycle(&part, 0)?;
    let lap = walk.iter().map(|&edge| steps[edge as usize]).collect();
    Some(GraphLasso { start: component[start as usize], lap })
}

/// The component in the form in which fair cycles are looked for, and where its edges are in the graph.
fn part(
    graph: &mut Graph<'_>,
    component: &[u32],
    inside: &FxHashMap<u32, u32>,
    compels_omega: bool,
) -> (sampled::Graph, Vec<Step>) {
    let (mut part, mut places) = (sampled::Graph::default(), Vec::new());
    for (number, &node) in component.iter().enumerate() {
        let sink = graph.expand(node);
        let vector = graph.nodes.get(node as usize).to_vec();
        let slots = graph.successors.expander.enabled_slots(&vector);
        let is_stimulus = graph.stimulus_slots(&vector);
        let mut locals = lock(graph.cx.locals);
        let is_bag = locals.exe.network.model == NetworkModel::Bag;
        let first = part.edges.len() as u32;
        let (mut enabled, mut compelled) = (Vec::new(), Vec::new());
        for slot in slots.into_iter().filter(|slot| !is_stimulus.contains(slot)) {
            match locals.owner(slot) {
                Owner::Network(_) if is_bag => {}
                _ => enabled.extend(locals.movers(vector[slot.index()])),
            }
        }
        for (place, &by) in sink.moves.iter().enumerate() {
            let choice = choice(&mut locals, &vector, by);
            let mover = mover(&mut locals, &vector, by, choice);
            if let (true, Choice::Deliver { target, source, place }) = (is_bag, mover) {
                let kind = (source, target, InputId::from_u32(place));
                let is_sure =
                    compels_omega || graph.omega.as_ref().is_none_or(|omega| !omega.has(node, kind));
                compelled.extend(is_sure.then_some(mover));
            }
            let step = graph.steps(node).start + place;
            let Some(&to) = graph.targets.get(step).and_then(|target| inside.get(target)) else { continue };
            if !graph.counts(step) {
                continue;
            }
            let answers = moves_answers(&mut locals, &vector, by)
                .iter()
                .map(|answer| sampled::Answer { point: answer.point, answer: answer.answer })
                .collect();
            let from = number as u32;
            part.edges.push(sampled::Edge { from, to, hot: 1, cold: 0, choice, mover, answers });
            places.push((node, place as u32));
        }
        let edges = first..part.edges.len() as u32;
        part.nodes.push(sampled::Node { hot: 0, cold: 0, enabled, compelled, found_by: None, edges });
    }
    (part, places)
}

/// What moves: where no order is kept, a message by what it is, not by its place.
fn mover(
    locals: &mut LocalStates<'_>,
    vector: &[LocalStateId],
    by: crate::search::expand::Move,
    choice: Choice,
) -> Choice {
    let Choice::Deliver { target, source, .. } = choice else { return choice.mover() };
    if locals.exe.network.model != NetworkModel::Bag {
        return choice.mover();
    }
    let message = match &*locals.known_act(vector[by.slot.index()]) {
        Act::Network(arrivals) => arrivals[by.own as usize].delivery.1.as_u32(),
        Act::Rest { .. } | Act::Step { .. } | Act::Fault | Act::Unknown(_) => 0,
    };
    Choice::Deliver { target, source, place: message }
}
