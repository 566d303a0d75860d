//! Backward search: the vectors from which one step, or some steps, lead into a set.
//!
//! Relations are read backwards from what a forward search has learned, so preimages contain a vector only if some forward
//! search asked for its step. Callers intersect with what was reached. Blocks have no relations: where there are some, a
//! single predecessor is found by images ([`Reach::predecessor`]).

use rustc_hash::FxHashMap;

use crate::cache::Key;
use crate::diagrams::{Edge, Halt, Node};
use crate::events::{EventId, Events, LocalSteps, Role};
use crate::reach::{Mode, OPERATION_BITS, PRE_EVENT, PRE_IMAGE, Reach};

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
}

impl Backward {
    fn operation(&self, operation: u32) -> u32 {
        self.number << OPERATION_BITS | operation
    }

    fn new(events: &Events, number: u32, filter: &Filter<'_>) -> Self {
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
        Backward { number, leads, reactions, tops }
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
        Backward::new(&self.events, self.n_backward, filter)
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

    /// A vector of a set from which one step leads to a vector, found by images of smaller and smaller sets: also where there are
    /// blocks.
    ///
    /// # Errors
    /// When a limit is met, or the steps ask for an end.
    pub fn predecessor(&mut self, set: Node, vector: &[u32]) -> Result<Option<Vec<u32>>, Halt> {
        if set.is_empty() || !self.leads_to(set, vector)? {
            return Ok(None);
        }
        let set = self.lift(set)?;
        // From the top down; the set has these values there.
        let mut above: Vec<u32> = Vec::new();
        let mut node = set;
        while node != Node::UNIT {
            let level = self.diagrams.level(node);
            let mut edges = self.diagrams.edges(node).to_vec();
            while edges.len() > 1 {
                self.kept.push(node);
                let half = edges.split_off(edges.len() / 2);
                let mut tried = self.diagrams.node(level, &edges)?;
                for (over, &value) in above.iter().rev().enumerate() {
                    tried = self.diagrams.node(level + 1 + over as u32, &[Edge { value, child: tried }])?;
                }
                let leads = self.leads_to(tried, vector);
                self.kept.pop();
                if !leads? {
                    edges = half;
                }
            }
            above.push(edges[0].value);
            node = edges[0].child;
        }
        above.reverse();
        Ok(Some(above))
    }

    /// Whether one step leads from a set to a vector.
    fn leads_to(&mut self, set: Node, vector: &[u32]) -> Result<bool, Halt> {
        self.kept.push(set);
        let image = self.image(set);
        self.kept.pop();
        let image = image?;
        let n = (self.diagrams.level(image) as usize).min(vector.len());
        Ok(!image.is_empty() && vector[n..].iter().all(|&value| value == 0) && {
            let mut padded = vector[..n].to_vec();
            padded.resize(self.diagrams.level(image) as usize, 0);
            self.diagrams.contains(image, &padded)
        })
    }

    fn preimage_of(&mut self, backward: &Backward, node: Node) -> Result<Node, Halt> {
        if node.is_empty() || node == Node::UNIT {
            return Ok(Node::EMPTY);
        }
        let key = Key { operation: backward.operation(PRE_IMAGE), first: 0, second: node };
        if let Some(known) = self.diagrams.images.get(key) {
            return Ok(known);
        }
        let level = self.diagrams.level(node);
        self.rebuild(key, Mode::Plain, |reach, base, Edge { value, child }| {
            let below = reach.preimage_of(backward, child)?;
            if !below.is_empty() {
                reach.add(base, value, below)?;
            }
            let before = backward.tops.get(level as usize - 1).and_then(|tops| tops.get(&value));
            let mut last = None;
            for &(event, source) in before.into_iter().flatten() {
                let below = match last {
                    Some((known, below)) if known == event => below,
                    _ => reach.unfire(backward, event, child)?,
                };
                last = Some((event, below));
                if !below.is_empty() {
                    reach.add(base, source, below)?;
                }
            }
            Ok(())
        })
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
        let role = self.events.role(event, level);
        self.rebuild(key, Mode::Plain, |reach, base, Edge { value, child }| {
            let before = match role {
                Role::None => None,
                Role::Lead => Some(backward.leads.get(&(event, value))),
                Role::Party(relation) => Some(backward.reactions[relation as usize].get(&value)),
            };
            let sources = match &before {
                None => std::slice::from_ref(&value),
                Some(Some(sources)) => sources,
                Some(None) => return Ok(()),
            };
            let below = reach.unfire(backward, event, child)?;
            if below.is_empty() {
                return Ok(());
            }
            for &source in sources {
                reach.add(base, source, below)?;
            }
            Ok(())
        })
    }
}
