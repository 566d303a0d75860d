//! Backward search: the vectors from which one step, or some steps, lead into a set.
//!
//! Relations are read backwards from what a forward search has learned, so preimages contain a vector only if some forward
//! search asked for its step. Callers intersect with what was reached.

use rustc_hash::FxHashMap;

use crate::cache::Key;
use crate::diagrams::{Edge, Halt, Node};
use crate::events::{Change, EventId, Events, KnownStep, LocalSteps, Role};
use crate::reach::{OPERATION_BITS, PRE_EVENT, PRE_IMAGE, Reach};

/// The relations that are known, backwards.
pub struct Backward {
    /// Distinguishes it from others in the cache.
    number: u32,
    /// By event and successor of the lead: the values before.
    leads: FxHashMap<(EventId, u32), Vec<u32>>,
    /// The same by relation.
    reactions: Vec<FxHashMap<u32, Vec<u32>>>,
    /// By top level and successor there: events and the value before.
    tops: Vec<FxHashMap<u32, Vec<(EventId, u32)>>>,
    /// By top level that is the first part of a block: events.
    block_tops: Vec<Vec<EventId>>,
    /// What blocks do as leads, by event, and as parties, by relation.
    block_leads: FxHashMap<EventId, Vec<Vec<Change>>>,
    block_reactions: FxHashMap<u32, Vec<Vec<Change>>>,
    /// By slot, of blocks: the values of its parts.
    n_values: FxHashMap<u32, Vec<u32>>,
}

impl Backward {
    fn operation(&self, operation: u32) -> u32 {
        self.number << OPERATION_BITS | operation
    }

    fn new<S: LocalSteps>(events: &Events, steps: &S, number: u32, filter: &Filter<'_>) -> Self {
        let is_kept: Vec<bool> =
            (0..events.n_events() as EventId).map(|event| (filter.event)(events, event)).collect();
        let mut leads: FxHashMap<(EventId, u32), Vec<u32>> = FxHashMap::default();
        let mut of_event: Vec<Vec<(u32, u32)>> = vec![Vec::new(); events.n_events()];
        for (event, value, next) in events.known_leads().filter(|&(event, ..)| is_kept[event as usize]) {
            leads.entry((event, next)).or_default().push(value);
            of_event[event as usize].push((value, next));
        }
        let mut reactions = vec![FxHashMap::<u32, Vec<u32>>::default(); events.n_relations()];
        for (relation, value, next) in events.known_reactions() {
            let (slot, action) = events.slot_and_action(relation);
            if !(filter.reaction)(slot, action, value) {
                continue;
            }
            reactions[relation as usize].entry(next).or_default().push(value);
        }
        let mut tops = vec![FxHashMap::<u32, Vec<(EventId, u32)>>::default(); events.n_levels() as usize];
        for (event, top, role) in events.tops().filter(|&(event, ..)| is_kept[event as usize]) {
            let tops = &mut tops[top as usize - 1];
            match role {
                Role::Lead => {
                    for &(value, next) in &of_event[event as usize] {
                        tops.entry(next).or_default().push((event, value));
                    }
                }
                Role::Party(relation) => {
                    for (&next, values) in &reactions[relation as usize] {
                        let before = values.iter().map(|&value| (event, value));
                        tops.entry(next).or_default().extend(before);
                    }
                }
                Role::None => {}
            }
        }
        for before in tops.iter_mut().flat_map(FxHashMap::values_mut) {
            before.sort_unstable();
            before.dedup();
        }
        let mut backward = Backward {
            number,
            leads,
            reactions,
            tops,
            block_tops: vec![Vec::new(); events.n_levels() as usize],
            block_leads: FxHashMap::default(),
            block_reactions: FxHashMap::default(),
            n_values: FxHashMap::default(),
        };
        backward.add_blocks(events, steps, &is_kept);
        backward
    }

    /// A filter of reactions does not apply to blocks.
    fn add_blocks<S: LocalSteps>(&mut self, events: &Events, steps: &S, is_kept: &[bool]) {
        for KnownStep { slot, action, event, changes } in events.known_block_steps(steps) {
            let n_parts = events.n_parts_of(slot);
            let n_values = || (0..n_parts).map(|part| steps.n_values(slot, part)).collect();
            self.n_values.entry(slot).or_insert_with(n_values);
            match (event, action.and_then(|action| events.known_relation(slot, action))) {
                (Some(event), _) if is_kept[event as usize] => {
                    self.block_leads.entry(event).or_default().push(changes);
                }
                (None, Some(relation)) => self.block_reactions.entry(relation).or_default().push(changes),
                (Some(_), _) | (None, None) => {}
            }
        }
        for (event, top, role) in events.tops().filter(|&(event, ..)| is_kept[event as usize]) {
            if role != Role::None && events.is_block(top) {
                self.block_tops[top as usize - 1].push(event);
            }
        }
    }

    /// What a block may do in an event.
    fn block_steps(&self, event: EventId, role: Role) -> &[Vec<Change>] {
        let steps = match role {
            Role::Lead => self.block_leads.get(&event),
            Role::Party(relation) => self.block_reactions.get(&relation),
            Role::None => None,
        };
        steps.map_or(&[], Vec::as_slice)
    }
}

/// Which steps are read backwards.
pub struct Filter<'f> {
    pub event: &'f dyn Fn(&Events, EventId) -> bool,
    /// By slot, action and the value before.
    pub reaction: &'f dyn Fn(u32, u32, u32) -> bool,
}

/// Sets by their distance from a target, the target first.
pub type Rings = Vec<Node>;

impl<S: LocalSteps> Reach<'_, S> {
    /// Reads the relations that are known now backwards.
    pub fn backward(&mut self) -> Backward {
        self.backward_where(&Filter { event: &|_, _| true, reaction: &|_, _, _| true })
    }

    /// The same for some steps only.
    pub fn backward_where(&mut self, filter: &Filter<'_>) -> Backward {
        self.n_backward += 1;
        Backward::new(&self.events, &self.steps, self.n_backward, filter)
    }

    /// The vectors from which one step leads into a set.
    ///
    /// # Errors
    /// When a limit is met.
    pub fn preimage(&mut self, backward: &Backward, set: Node) -> Result<Node, Halt> {
        self.begin();
        self.preimage_of(backward, set)
    }

    /// The vectors of `within` from which some steps, or none, lead into `target` without leaving `within`; as rings.
    ///
    /// # Errors
    /// When a limit is met.
    pub fn rings(&mut self, backward: &Backward, target: Node, within: Node) -> Result<(Rings, Node), Halt> {
        let n_kept = self.kept.len();
        let target = self.diagrams.intersect(target, within)?;
        let mut rings = vec![target];
        let (mut front, mut closed) = (target, target);
        self.kept.extend([within, target]);
        while !front.is_empty() {
            self.collect_if_due([front, closed]);
            let before = self.preimage(backward, front)?;
            let before = self.diagrams.intersect(before, within)?;
            front = self.diagrams.minus(before, closed)?;
            closed = self.diagrams.union(closed, front)?;
            if !front.is_empty() {
                rings.push(front);
                self.kept.push(front);
            }
        }
        self.kept.truncate(n_kept);
        Ok((rings, closed))
    }

    /// The vectors of `within` from which steps can go on for ever inside of it: the greatest fixed point of preimages. Where
    /// there are none, the second number is the most steps that lead from `within` into `all`, which contains it.
    ///
    /// # Errors
    /// When a limit is met.
    pub fn forever(&mut self, backward: &Backward, all: Node, within: Node) -> Result<(Node, u64), Halt> {
        let n_kept = self.kept.len();
        self.kept.extend([all, within]);
        // From where at least so many steps can be made.
        let (mut left, mut n_steps) = (all, 0);
        loop {
            self.collect_if_due([left]);
            let before = self.preimage(backward, left)?;
            let next = self.diagrams.intersect(before, within)?;
            if next.is_empty() || next == left {
                self.kept.truncate(n_kept);
                return Ok((next, n_steps));
            }
            left = next;
            n_steps += 1;
        }
    }

    fn preimage_of(&mut self, backward: &Backward, node: Node) -> Result<Node, Halt> {
        if node.is_empty() || node == Node::UNIT {
            return Ok(Node::EMPTY);
        }
        let key = Key { operation: backward.operation(PRE_IMAGE), first: 0, second: node };
        if let Some(known) = self.diagrams.images.get(key) {
            return Ok(known);
        }
        self.diagrams.tick()?;
        let level = self.diagrams.level(node);
        let base = self.diagrams.work.len();
        for at in 0..self.diagrams.n_edges(node) {
            let Edge { value, child } = self.diagrams.edge(node, at);
            let below = self.preimage_of(backward, child)?;
            if !below.is_empty() {
                self.add(base, value, below)?;
            }
            let Some(before) = backward.tops.get(level as usize - 1).and_then(|tops| tops.get(&value)) else {
                continue;
            };
            let mut last = None;
            for &(event, source) in before {
                let below = match last {
                    Some((known, below)) if known == event => below,
                    _ => self.unfire(backward, event, child)?,
                };
                last = Some((event, below));
                if !below.is_empty() {
                    self.add(base, source, below)?;
                }
            }
        }
        let mut image = self.diagrams.node_of_work(level, base)?;
        let n_alone = backward.block_tops.get(level as usize - 1).map_or(0, Vec::len);
        for at in 0..n_alone {
            let event = backward.block_tops[level as usize - 1][at];
            let before = self.unfire_block(backward, event, node)?;
            image = self.diagrams.union(image, before)?;
        }
        self.diagrams.images.insert(key, image);
        Ok(image)
    }

    /// The preimage under one event of a node at the first part of a block that takes part in it.
    fn unfire_block(&mut self, backward: &Backward, event: EventId, node: Node) -> Result<Node, Halt> {
        let level = self.diagrams.level(node);
        let slot = self.events.slot_of(level);
        let mut image = Node::EMPTY;
        for changes in backward.block_steps(event, self.events.role(event, level)) {
            let before = self.unread_block(backward, event, slot, changes, 0, node)?;
            image = self.diagrams.union(image, before)?;
        }
        Ok(image)
    }

    /// Undoes one known step of a block, from one of its parts down. There is no cache: sets that are looked back from are
    /// small where there are blocks.
    fn unread_block(
        &mut self,
        backward: &Backward,
        event: EventId,
        slot: u32,
        changes: &[Change],
        part: u32,
        node: Node,
    ) -> Result<Node, Halt> {
        if part == self.events.n_parts_of(slot) {
            return self.unfire(backward, event, node);
        }
        self.diagrams.tick()?;
        let level = self.diagrams.level(node);
        let base = self.diagrams.work.len();
        let (change, rest) = match changes.split_first() {
            Some((&change, rest)) if change.0 == part => (Some(change), rest),
            _ => (None, changes),
        };
        for at in 0..self.diagrams.n_edges(node) {
            let Edge { value, child } = self.diagrams.edge(node, at);
            if change.is_some_and(|(_, _, after)| after != value) {
                continue;
            }
            let below = self.unread_block(backward, event, slot, rest, part + 1, child)?;
            if below.is_empty() {
                continue;
            }
            match change {
                None => self.add(base, value, below)?,
                Some((_, Some(before), _)) => self.add(base, before, below)?,
                Some((_, None, _)) => {
                    let n_values = backward.n_values.get(&slot).map_or(0, |all| all[part as usize]);
                    for before in 0..n_values {
                        self.add(base, before, below)?;
                    }
                }
            }
        }
        self.diagrams.node_of_work(level, base)
    }

    /// The preimage under one event of the levels at and below a node.
    fn unfire(&mut self, backward: &Backward, event: EventId, node: Node) -> Result<Node, Halt> {
        let level = self.diagrams.level(node);
        if node.is_empty() || level < self.events.bottom(event) {
            return Ok(node);
        }
        let key = Key { operation: backward.operation(PRE_EVENT), first: event, second: node };
        if let Some(known) = self.diagrams.images.get(key) {
            return Ok(known);
        }
        self.diagrams.tick()?;
        let role = self.events.role(event, level);
        if role != Role::None && self.events.is_block(level) {
            let image = self.unfire_block(backward, event, node)?;
            self.diagrams.images.insert(key, image);
            return Ok(image);
        }
        let base = self.diagrams.work.len();
        for at in 0..self.diagrams.n_edges(node) {
            let Edge { value, child } = self.diagrams.edge(node, at);
            let before = match role {
                Role::None => {
                    let below = self.unfire(backward, event, child)?;
                    if !below.is_empty() {
                        self.add(base, value, below)?;
                    }
                    continue;
                }
                Role::Lead => backward.leads.get(&(event, value)),
                Role::Party(relation) => backward.reactions[relation as usize].get(&value),
            };
            let Some(before) = before else { continue };
            let below = self.unfire(backward, event, child)?;
            if below.is_empty() {
                continue;
            }
            for &source in before {
                self.add(base, source, below)?;
            }
        }
        let image = self.diagrams.node_of_work(level, base)?;
        self.diagrams.images.insert(key, image);
        Ok(image)
    }
}
