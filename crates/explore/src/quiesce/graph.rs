//! The graph of configurations in which cycles are looked for: breadth first, by one thread, in a fixed order.
//!
//! Nodes are state vectors with exact keys, steps are the numbers of their targets; everything else is found again by
//! expanding a node. The graph can be asked for cycles while it is incomplete, because every cycle of an explored part is
//! a cycle of the program.

use std::collections::VecDeque;
use std::ops::Range;

use allways_base::{Idx, IndexVec};
use allways_machine::ir::MachineId;
use allways_machine::{Pending, Status};
use allways_run::{Progress, StopReason};
use rustc_hash::{FxHashMap, FxHashSet};

use super::omega::Omega;
use crate::liveness::components::components;
use crate::search::context::Context;
use crate::search::counterexample::{StepName, name};
use crate::search::expand::{CRASH, Move};
use crate::search::local::states::{Act, Following, LOOK_AFTER, LocalStateId, Owner, Slot};
use crate::search::lock;
use crate::search::store::tree::ExactKeys;
use crate::search::successors::{Collect, Layer, Purpose, Successors};

/// Nodes between two checks of clock and memory.
const INTERVAL: usize = 256;

/// A step: its node and its place among the steps of the node.
pub(crate) type Step = (u32, u32);

/// A path from the beginning to a node, and a cycle through that node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct GraphLasso {
    pub start: u32,
    pub lap: Vec<Step>,
}

/// Why the exploration paused.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Pause {
    /// Every configuration is there.
    Exhausted,
    /// So many configurations as were asked for.
    Enough,
    Stopped(StopReason),
}

pub(crate) struct Graph<'a> {
    pub cx: Context<'a>,
    pub successors: Successors<'a>,
    /// By machine definition: what it does is the environment's.
    is_stimulus: Vec<bool>,
    beginnings: Vec<Vec<u32>>,
    pub nodes: Layer,
    /// The step by which a node was found. Beginnings have themselves as parents.
    pub origins: Vec<Step>,
    depths: Vec<u32>,
    /// Where the steps of a node begin in `targets`; one more at the end. Nodes without an entry wait to be expanded.
    starts: Vec<usize>,
    pub targets: Vec<u32>,
    /// Steps of stimuli; empty if there are none.
    by_stimulus: Vec<bool>,
    /// The answers of a first step that breaks a property.
    pub begins_broken: Option<Vec<u32>>,
    /// Why the first step is not known in full.
    pub begins_unknown: Option<StopReason>,
    /// Nodes with a step that breaks a property.
    pub broken: Vec<(u32, Move)>,
    /// By exact key and set of messages without bound.
    known: FxHashMap<(u64, u32), u32>,
    keys: ExactKeys,
    next_look: usize,
    direct: Option<Direct>,
    /// Where loops that do not count may make buffers grow without order: acceleration.
    pub omega: Option<Omega>,
    /// Steps that are in no loop that counts, though they are in a component.
    pub pruned: FxHashSet<usize>,
    /// Of what goes with the graph.
    pub extra_bytes: usize,
}

/// Where no order is kept, messages arrive only when they are taken at once: any run can put off an arrival until then.
/// Not so if a machine has sent to itself: what it has sent so is in its inbox, before or behind what arrives.
#[derive(Clone, Default, Debug)]
pub(crate) struct Direct {
    /// By machine definition: it sends to itself, and messages to it arrive at any time.
    pub is_self_sender: IndexVec<MachineId, bool>,
    /// One that was not known to do so was met: the search has to begin again.
    pub found: Option<MachineId>,
}

impl<'a> Graph<'a> {
    /// The configurations after the first step.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn new(cx: Context<'a>, is_stimulus: Vec<bool>, direct: Option<Direct>) -> Result<Self, StopReason> {
        let beginning = lock(cx.locals).begin();
        let mut graph = Graph {
            cx,
            successors: Successors::new(cx, Purpose::Liveness),
            is_stimulus,
            beginnings: Vec::new(),
            nodes: Layer::default(),
            origins: Vec::new(),
            depths: Vec::new(),
            starts: vec![0],
            targets: Vec::new(),
            by_stimulus: Vec::new(),
            begins_broken: beginning.violations.into_iter().next(),
            begins_unknown: beginning.unknown,
            broken: Vec::new(),
            known: FxHashMap::default(),
            keys: ExactKeys::new().ok_or(no_memory(&cx))?,
            next_look: 0,
            direct,
            omega: None,
            pruned: FxHashSet::default(),
            extra_bytes: 0,
        };
        for (answers, vector) in beginning.vectors {
            let key = graph.keys.key(&vector).ok_or(no_memory(&cx))?;
            let number = graph.add(&vector, None);
            graph.known.insert((key, 0), number);
            graph.beginnings.push(answers);
        }
        Ok(graph)
    }

    fn add(&mut self, vector: &[LocalStateId], origin: Option<Step>) -> u32 {
        let number = self.nodes.len() as u32;
        self.nodes.push(vector);
        self.origins.push(origin.unwrap_or((number, 0)));
        self.depths.push(origin.map_or(1, |(parent, _)| self.depths[parent as usize] + 1));
        number
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Configurations whose steps are known.
    pub fn n_expanded(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn depth(&self) -> u64 {
        self.depths.last().copied().unwrap_or(0).into()
    }

    pub fn n_bytes(&self) -> usize {
        self.nodes.n_bytes()
            + self.origins.capacity() * 8
            + self.depths.capacity() * 4
            + self.starts.capacity() * 8
            + self.targets.capacity() * 4
            + self.by_stimulus.capacity()
            + self.known.capacity() * 8 / 7 * 21
            + self.keys.n_bytes()
    }

    /// Expands configurations until there are so many. `visit` sees each new one and can end it.
    pub fn explore(&mut self, enough: usize, mut visit: impl FnMut(&mut Self, u32) -> bool) -> Pause {
        while self.n_expanded() < self.len() {
            if self.len() >= enough {
                return Pause::Enough;
            }
            if self.n_expanded() >= self.next_look
                && let Err(reason) = self.look()
            {
                return Pause::Stopped(reason);
            }
            let first_new = self.len() as u32;
            // One step may need much memory: a buffer with thousands of messages is copied for each that arrives.
            if let Some(reason) = self.cx.stop_reason() {
                return Pause::Stopped(reason);
            }
            if let Err(reason) = self.expand_next() {
                return Pause::Stopped(reason);
            }
            for node in first_new..self.len() as u32 {
                if visit(self, node) {
                    return Pause::Enough;
                }
            }
        }
        Pause::Exhausted
    }

    /// Clock, memory and progress.
    fn look(&mut self) -> Result<(), StopReason> {
        self.next_look = self.n_expanded() + INTERVAL;
        let bytes = self.n_bytes()
            + self.extra_bytes
            + lock(self.cx.locals).n_bytes()
            + self.successors.expander.memo.n_bytes();
        self.cx.observer.progress(&Progress {
            n_configurations: Some(self.len() as u64),
            n_steps: self.targets.len() as u64,
            frontier: Some((self.len() - self.n_expanded()) as u64),
            depth: self.depth(),
            bytes: Some(bytes as u64),
            ..Progress::default()
        });
        self.cx.stop_reason().or_else(|| self.cx.is_over(bytes as u64)).map_or(Ok(()), Err)
    }

    fn expand_next(&mut self) -> Result<(), StopReason> {
        let at = self.n_expanded() as u32;
        let sink = self.expand(at);
        self.broken.extend(sink.broken.map(|by| (at, by)));
        for (place, by) in sink.moves.iter().enumerate() {
            if place % LOOK_AFTER == LOOK_AFTER - 1
                && let Some(reason) = self.cx.stop_reason()
            {
                return Err(reason);
            }
            let target = match self.omega.is_some() {
                false => self.insert(sink.vectors.get(place), 0, (at, place as u32))?.0,
                true => self.insert_accelerated(sink.vectors.get(place), (at, place as u32), *by)?,
            };
            self.targets.push(target);
            if !self.is_stimulus.is_empty() {
                let is_stimulus = self.moves_stimulus(at, *by);
                self.by_stimulus.push(is_stimulus);
            }
        }
        self.starts.push(self.targets.len());
        Ok(())
    }

    /// The node of a vector with so much of some messages, which may be new.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn insert(
        &mut self,
        vector: &[LocalStateId],
        omega: u32,
        by: Step,
    ) -> Result<(u32, bool), StopReason> {
        let key = self.keys.key(vector).ok_or(no_memory(&self.cx))?;
        match self.known.get(&(key, omega)) {
            Some(&target) => Ok((target, false)),
            None => {
                let target = self.add(vector, Some(by));
                self.known.insert((key, omega), target);
                Ok((target, true))
            }
        }
    }

    /// The steps of a node, in their order.
    pub fn expand(&mut self, node: u32) -> Collect {
        let vector = self.nodes.get(node as usize).to_vec();
        let mut sink = Collect::default();
        self.successors.expand(&vector, &mut sink);
        if self.direct.is_some() { self.direct_only(&vector, sink) } else { sink }
    }

    /// Leaves out arrivals of messages that would wait.
    fn direct_only(&mut self, vector: &[LocalStateId], all: Collect) -> Collect {
        let Some(direct) = &mut self.direct else { return all };
        let mut kept = Collect { broken: all.broken, cuts: all.cuts, ..Collect::default() };
        let mut locals = lock(self.cx.locals);
        for (place, &by) in all.moves.iter().enumerate() {
            let local = vector[by.slot.index()];
            let waits = match &*locals.known_act(local) {
                Act::Network(arrivals) => {
                    let (target, message) = arrivals[by.own as usize].delivery;
                    let receiver = vector[target.index()];
                    let machine = locals.local(receiver).machine;
                    !direct.is_self_sender[machine] && locals.must_wait(receiver, message)
                }
                Act::Step { .. } => {
                    // A send to itself is a step of one machine alone, so only where it stands says so.
                    let local = locals.local(local);
                    if let (Owner::Machine(machine), Status::Pending(Pending::Deliver { target, .. })) =
                        (locals.owner(by.slot), local.status)
                        && machine == target
                        && !direct.is_self_sender[local.machine]
                    {
                        direct.found = Some(local.machine);
                    }
                    false
                }
                Act::Rest { .. } | Act::Fault | Act::Unknown(_) => false,
            };
            if !waits {
                kept.moves.push(by);
                kept.heat.push(all.heat[place]);
                kept.vectors.push(all.vectors.get(place));
            }
        }
        kept
    }

    /// A machine that sends to itself, if that was not known: what was explored is not all then.
    pub fn new_self_sender(&self) -> Option<MachineId> {
        self.direct.as_ref().and_then(|direct| direct.found)
    }

    /// The slots of stimuli.
    pub fn stimulus_slots(&self, vector: &[LocalStateId]) -> Vec<Slot> {
        if self.is_stimulus.is_empty() {
            return Vec::new();
        }
        let locals = lock(self.cx.locals);
        let is_stimulus = |slot: &Slot| {
            let local = vector[slot.index()];
            matches!(locals.owner(*slot), Owner::Machine(_))
                && !local.is_absent()
                && self.is_stimulus[locals.local(local).machine.index()]
        };
        (0..vector.len()).map(Slot::new).filter(is_stimulus).collect()
    }

    /// Whether a step is a stimulus's own. A crash is none.
    fn moves_stimulus(&self, node: u32, by: Move) -> bool {
        let locals = lock(self.cx.locals);
        let Owner::Machine(_) = locals.owner(by.slot) else { return false };
        let local = self.nodes.get(node as usize)[by.slot.index()];
        by.delivered != CRASH && self.is_stimulus[locals.local(local).machine.index()]
    }

    pub fn steps(&self, node: u32) -> Range<usize> {
        match self.starts.get(node as usize + 1) {
            Some(&end) => self.starts[node as usize]..end,
            None => 0..0,
        }
    }

    /// Whether a cycle through the step counts.
    pub fn counts(&self, step: usize) -> bool {
        !self.by_stimulus.get(step).copied().unwrap_or(false) && !self.pruned.contains(&step)
    }

    /// The strongly connected components with a cycle over steps that count, those found first in front.
    pub fn cyclic_components(&self) -> Vec<Vec<u32>> {
        let keeps = |step: usize| self.counts(step);
        let mut found =
            components(self.len(), |node| self.steps(node), |step| self.targets[step], |_| true, keeps);
        found.retain(|component| {
            let is_loop = |node: u32| self.steps(node).any(|step| keeps(step) && self.targets[step] == node);
            component.len() > 1 || is_loop(component[0])
        });
        found.sort_unstable_by_key(|component| component[0]);
        found
    }

    /// A shortest cycle through a node, over steps that `keeps`.
    pub fn cycle(&self, node: u32, keeps: &dyn Fn(usize) -> bool) -> Option<Vec<Step>> {
        let mut found_by: FxHashMap<u32, Step> = FxHashMap::default();
        let mut queue = VecDeque::from([node]);
        while let Some(at) = queue.pop_front() {
            for (place, step) in self.steps(at).enumerate() {
                let target = self.targets[step];
                if !keeps(step) || found_by.contains_key(&target) {
                    continue;
                }
                found_by.insert(target, (at, place as u32));
                if target == node {
                    let mut lap = Vec::new();
                    let mut back = node;
                    loop {
                        let by = found_by[&back];
                        lap.push(by);
                        back = by.0;
                        if back == node {
                            lap.reverse();
                            return Some(lap);
                        }
                    }
                }
                queue.push_back(target);
            }
        }
        None
    }

    /// The steps from a node to one found below it, if the path by which that was found goes through it.
    pub fn tree_path(&self, from: u32, to: u32) -> Option<Vec<Step>> {
        let mut path = Vec::new();
        let mut at = to;
        while at != from {
            let by = self.origins[at as usize];
            if by.0 == at {
                return None;
            }
            path.push(by);
            at = by.0;
        }
        path.reverse();
        Some(path)
    }

    pub fn parent(&self, node: u32) -> Option<u32> {
        let (parent, _) = self.origins[node as usize];
        (parent != node).then_some(parent)
    }

    /// The names of the steps by which a node was found, from the first step of the program on.
    pub fn stem(&mut self, node: u32) -> Vec<StepName> {
        let mut root = node;
        while let Some(parent) = self.parent(root) {
            root = parent;
        }
        let path = self.tree_path(root, node).unwrap_or_default();
        let mut stem = vec![StepName::first(self.beginnings[root as usize].clone())];
        stem.extend(self.names(&path));
        stem
    }

    /// The answers of the first step to a beginning.
    pub fn beginning_of(&self, root: u32) -> Vec<u32> {
        self.beginnings[root as usize].clone()
    }

    pub fn names(&mut self, steps: &[Step]) -> Vec<StepName> {
        let _following = Following::new(self.cx.locals);
        let mut names = Vec::new();
        for &(node, place) in steps {
            let sink = self.expand(node);
            let Some(&by) = sink.moves.get(place as usize) else { continue };
            names.push(name(&mut lock(self.cx.locals), self.nodes.get(node as usize), by));
        }
        names
    }

    /// Steps of the longest run, if the graph is whole and has no cycle.
    pub fn longest_run(&self) -> Option<u64> {
        // With messages without bound runs have no bound.
        if self.omega.as_ref().is_some_and(Omega::is_used) {
            return None;
        }
        let order =
            components(self.len(), |node| self.steps(node), |step| self.targets[step], |_| true, |_| true);
        let mut longest = vec![0u64; self.len()];
        for &(node, _) in &self.broken {
            longest[node as usize] = 1;
        }
        // Messages that are never taken still arrive, which are steps, too.
        if self.direct.is_some() {
            let locals = lock(self.cx.locals);
            for node in (0..self.len()).filter(|&node| self.steps(node as u32).is_empty()) {
                let flights = self
                    .nodes
                    .get(node)
                    .iter()
                    .filter_map(|&local| locals.states[local.index()].flight.as_ref());
                longest[node] += flights.map(|flight| flight.n_messages() as u64).sum::<u64>();
            }
        }
        // Targets come before sources.
        for component in order {
            let &[node] = component.as_slice() else { return None };
            for step in self.steps(node) {
                let target = self.targets[step];
                if target == node {
                    return None;
                }
                longest[node as usize] = longest[node as usize].max(longest[target as usize] + 1);
            }
        }
        let beginnings = 0..self.beginnings.len();
        beginnings.map(|node| longest[node] + 1).max()
    }
}

fn no_memory(cx: &Context<'_>) -> StopReason {
    StopReason::Memory { bytes: cx.options.limits.memory_bytes.unwrap_or(0) }
}
