//! From "there is such a configuration" to a run.
//!
//! Sets are made that grow step by step from the first configurations, until one has what is looked for. Each set contains,
//! beyond the one before, only configurations that one step reaches from the one before. So from any configuration a
//! predecessor in an earlier set is found by a preimage, down to the first set. Breadth-first layers give a shortest run;
//! when they cost too much, the search goes on by chaining, which needs fewer sets, and the run may be longer.

use allways_mdd::{Halt, Node};
use allways_p::hir::Temperature;

use super::engine::Search;
use super::steps::BROKEN;
use crate::search::expand::Move;
use crate::search::local::states::LocalStateId;
use crate::search::successors::Collect;

/// Operations on diagrams after which layers are given up.
const LAYER_OPERATIONS: u64 = 20_000_000;

/// What is looked for.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    /// A step that breaks a property.
    Broken,
    /// A configuration of a set.
    Set(Node),
    /// One of a set in which an invariant of the user does not hold, by its number.
    Stated(Node, usize),
}

/// A run from one of the first configurations.
pub(crate) struct Run {
    /// The answers that lead to the first configuration.
    pub answers: Vec<u32>,
    pub first: Vec<LocalStateId>,
    pub moves: Vec<Move>,
}

/// A way to a goal.
pub(crate) struct Found {
    /// Vectors of values, from a first configuration to the goal.
    pub vectors: Vec<Vec<u32>>,
    /// The goal that was asked for, or a nearer one.
    pub goal: Goal,
}

/// The vectors of a set that are at the goal.
pub(super) fn hits(reach: &mut Search<'_>, set: Node, goal: Goal) -> Result<Node, Halt> {
    match goal {
        Goal::Broken => {
            let Search { diagrams, events, .. } = reach;
            diagrams.some(set, |level, value| value == BROKEN && events.part_of(level) == 0)
        }
        Goal::Set(goal) | Goal::Stated(goal, _) => {
            let (set, goal) = (reach.lift(set)?, reach.lift(goal)?);
            reach.diagrams.intersect(set, goal)
        }
    }
}

/// The configurations of a set in which no machine can step, and those of them that break a property.
pub(super) fn bad_ends(reach: &mut Search<'_>, set: Node) -> Result<(Node, Node), Halt> {
    let Search { diagrams, events, steps, .. } = reach;
    let terminal = diagrams.all(set, |level, value| {
        events.part_of(level) > 0 || !steps.can_step(events.slot_of(level), value)
    })?;
    let bad = diagrams.some(terminal, |level, value| {
        let slot = events.slot_of(level);
        events.part_of(level) == 0
            && (steps.is_blocked(slot, value) || steps.temperature(slot, value) == Some(Temperature::Hot))
    })?;
    Ok((terminal, bad))
}

/// Vectors of a run to the goal; `None` if it is not reachable. Of a shortest run to a step that breaks a property, one that ends badly
/// before is shorter.
pub(crate) fn find(
    reach: &mut Search<'_>,
    start: Node,
    goal: Goal,
    shortest: bool,
) -> Result<Option<Found>, Halt> {
    let n_kept = reach.kept.len();
    let found = find_kept(reach, start, goal, shortest);
    reach.kept.truncate(n_kept);
    found
}

fn find_kept(reach: &mut Search<'_>, start: Node, goal: Goal, shortest: bool) -> Result<Option<Found>, Halt> {
    let mut sets = vec![start];
    let mut goal = goal;
    reach.kept.push(start);
    let begin = reach.diagrams.usage().n_operations;
    let (mut front, mut reached) = (start, start);
    let mut hit = hits(reach, start, goal)?;
    while hit.is_empty() {
        if shortest && matches!(goal, Goal::Broken) {
            let (_, bad) = bad_ends(reach, front)?;
            if !bad.is_empty() {
                (goal, hit) = (Goal::Set(bad), bad);
                break;
            }
        }
        if !shortest && reach.diagrams.usage().n_operations - begin > LAYER_OPERATIONS {
            break;
        }
        (front, reached) = reach.layer(front, reached)?;
        if front.is_empty() {
            return Ok(None);
        }
        sets.push(reached);
        reach.kept.push(reached);
        hit = hits(reach, front, goal)?;
    }
    while hit.is_empty() {
        let mut found = Node::EMPTY;
        let chained = reach.chain(reached, |reach, set| {
            sets.push(set);
            reach.kept.push(set);
            found = hits(reach, set, goal)?;
            if found.is_empty() { Ok(()) } else { Err(Halt::Stopped) }
        });
        hit = found;
        match chained {
            Err(_) if !hit.is_empty() => {}
            Err(halt) => return Err(halt),
            Ok(set) if set == reached => return Ok(None),
            Ok(set) => reached = set,
        }
    }
    let Some(last) = reach.diagrams.pick(hit) else { return Ok(None) };
    Ok(back(reach, &sets, last)?.map(|vectors| Found { vectors, goal }))
}

/// Goes back from a vector of the last set to one of the first.
fn back(reach: &mut Search<'_>, sets: &[Node], last: Vec<u32>) -> Result<Option<Vec<Vec<u32>>>, Halt> {
    // Blocks have no relations to read backwards.
    let backward = reach.steps.blocks.is_empty().then(|| reach.backward());
    let mut vectors = vec![last];
    let mut at = sets.len();
    loop {
        let vector = vectors[vectors.len() - 1].clone();
        // Sets grow, so the first that has it is found by bisection.
        at = sets[..at].partition_point(|&set| !contains(reach, set, &vector));
        if at == 0 {
            vectors.reverse();
            return Ok(Some(vectors));
        }
        let before = match &backward {
            None => reach.predecessor(sets[at - 1], &vector)?,
            Some(backward) => {
                let one = reach.diagrams.vector(&vector)?;
                let one = reach.lift(one)?;
                let before = reach.preimage(backward, one)?;
                let earlier = reach.lift(sets[at - 1])?;
                let before = reach.diagrams.intersect(before, earlier)?;
                reach.diagrams.pick(before)
            }
        };
        match before {
            Some(before) => vectors.push(before),
            None => return Ok(None),
        }
    }
}

/// Whether a set has a vector; levels that it lacks have the value zero.
pub(crate) fn contains(reach: &Search<'_>, set: Node, vector: &[u32]) -> bool {
    let n = (reach.diagrams.level(set) as usize).min(vector.len());
    vector[n..].iter().all(|&value| value == 0) && reach.diagrams.contains(set, &vector[..n])
}

/// The configurations after the first step, as a set.
pub(crate) fn start_set(
    reach: &mut Search<'_>,
    starts: &[(Vec<u32>, Vec<LocalStateId>)],
) -> Result<Node, Halt> {
    for slot in starts.iter().flat_map(|(_, vector)| 0..vector.len() as u32) {
        reach.events.place(slot, reach.steps.blocks.n_parts(slot));
    }
    let mut set = Node::EMPTY;
    for (_, vector) in starts {
        for values in all_values_of(reach, vector) {
            let one = reach.diagrams.vector(&values)?;
            set = reach.diagrams.union(set, one)?;
        }
    }
    Ok(set)
}

/// The values, by levels, of a state vector: several where a machine runs on and chooses on the way.
fn all_values_of(reach: &mut Search<'_>, vector: &[LocalStateId]) -> Vec<Vec<u32>> {
    let (order, steps) = (reach.events.order(), &mut reach.steps);
    let mut all = vec![Vec::with_capacity(order.len())];
    for block in order.chunk_by(|a, b| a == b) {
        let local = vector.get(block[0] as usize).copied().unwrap_or(LocalStateId::ABSENT);
        if steps.blocks.is_split(block[0]) {
            // The first part is on top.
            let parts = steps.values_of_parts(block[0], local);
            all.iter_mut().for_each(|values| values.extend(parts.iter().rev()));
            continue;
        }
        let values = steps.values(block[0], local);
        let with = |before: &Vec<u32>| {
            let before = before.clone();
            values.iter().map(move |&value| [&before[..], &[value]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// The values, by levels, of a state vector in which no machine runs on.
pub(crate) fn values_of(reach: &mut Search<'_>, vector: &[LocalStateId]) -> Vec<u32> {
    let (order, steps) = (reach.events.order(), &mut reach.steps);
    let local = |slot: u32| vector.get(slot as usize).copied().unwrap_or(LocalStateId::ABSENT);
    let mut values = Vec::with_capacity(order.len());
    for block in order.chunk_by(|a, b| a == b) {
        // The first part is on top.
        values.extend(steps.values_of_parts(block[0], local(block[0])).iter().rev());
    }
    values
}

/// The state vector, by slots, of values by levels.
pub(crate) fn state_vector(reach: &mut Search<'_>, values: &[u32]) -> Vec<LocalStateId> {
    let n_slots = reach.events.order().iter().max().map_or(0, |&slot| slot as usize + 1);
    let mut vector = vec![LocalStateId::ABSENT; n_slots];
    let (order, steps) = (reach.events.order(), &mut reach.steps);
    let mut at = 0;
    for block in order.chunk_by(|a, b| a == b) {
        // Levels that are newer than the vector have the value zero.
        let parts: Vec<u32> =
            (at..at + block.len()).rev().map(|level| values.get(level).copied().unwrap_or(0)).collect();
        at += block.len();
        vector[block[0] as usize] = steps.local_of_parts(block[0], &parts);
    }
    vector
}

/// Whether values, by levels, stand for a configuration of the kernel.
fn stand_for(reach: &mut Search<'_>, values: &[u32], vector: &[LocalStateId]) -> bool {
    let (order, steps) = (reach.events.order(), &mut reach.steps);
    let n_slots = order.iter().max().map_or(0, |&slot| slot as usize + 1);
    if vector.iter().skip(n_slots).any(|&local| !local.is_absent()) {
        return false;
    }
    let mut at = 0;
    for block in order.chunk_by(|a, b| a == b) {
        // Levels that are newer than the vector have the value zero.
        let parts: Vec<u32> =
            (at..at + block.len()).rev().map(|level| values.get(level).copied().unwrap_or(0)).collect();
        at += block.len();
        let local = vector.get(block[0] as usize).copied().unwrap_or(LocalStateId::ABSENT);
        let is_it = match steps.blocks.is_split(block[0]) {
            true => steps.local_of_parts(block[0], &parts) == local,
            false => steps.stands_for(block[0], parts[0], local),
        };
        if !is_it {
            return false;
        }
    }
    true
}

/// The moves between vectors, in configurations of the kernel for which the vectors stand; `None` if some step does not exist.
pub(crate) fn moves(
    reach: &mut Search<'_>,
    values: &[Vec<u32>],
    goal: Goal,
    starts: &[(Vec<u32>, Vec<LocalStateId>)],
) -> Option<Run> {
    let breaks = matches!(goal, Goal::Broken);
    let n = values.len() - usize::from(breaks);
    let (answers, first) = starts.iter().find(|(_, vector)| stand_for(reach, &values[0], vector))?;
    let mut vector = first.clone();
    let mut moves = Vec::new();
    for next in &values[1..n] {
        let mut sink = Collect::default();
        reach.steps.expander.expand(&vector, &mut sink);
        let place = (0..sink.moves.len()).find(|&place| stand_for(reach, next, sink.vectors.get(place)))?;
        moves.push(sink.moves[place]);
        vector = sink.vectors.get(place).to_vec();
    }
    if breaks {
        let mut sink = Collect::default();
        reach.steps.expander.expand(&vector, &mut sink);
        moves.push(sink.broken?);
    }
    Some(Run { answers: answers.clone(), first: first.clone(), moves })
}
