//! Acceleration where no order is kept (Karp and Miller, 1969): messages of which there can be any number.
//!
//! A loop that makes buffers grow may not count: it needs a stimulus, or it is not fair. The search has to go on behind it then, and would
//! never end. So where a configuration has what an earlier one of its path has, and more, there are without bound as many as one likes of what is
//! more: *omega*. In a vector one message stands for them; it is there again whenever it has been taken.
//!
//! What is found so is more than what can happen in two respects. A cycle may take more of such messages than it sends: it does not
//! repeat for ever. [`Graph::prune`] leaves out steps that take what no step of their component sends. And there may be
//! none of a message at a moment: so fairness asks nothing of such messages. If no cycle is left, every run ends. A cycle that is
//! left is tried: the loops that accelerate are made so many times before it, and the kernel decides.

use allways_base::Idx;
use allways_run::{InstanceId, StopReason};
use rustc_hash::{FxHashMap, FxHashSet};

use super::certify::Named;
use super::graph::{Graph, Step};
use crate::search::counterexample::StepName;
use crate::search::expand::{CRASH, Move};
use crate::search::local::network::NetworkOp;
use crate::search::local::states::{Act, InputId, LocalStateId, Owner, Slot};
use crate::search::lock;
use crate::search::store::hash::hash_words;

/// Source, target, and the number of the message.
pub(crate) type Kind = (InstanceId, InstanceId, InputId);

/// What a step takes from the network, and what it gives to it, so many times.
type NetworkEffect = (Option<Kind>, Option<(Kind, u32)>);

#[derive(Default)]
pub(crate) struct Omega {
    /// Sets of kinds without bound; the first is empty.
    sets: Vec<Vec<Kind>>,
    index: FxHashMap<Vec<Kind>, u32>,
    /// By node: its set.
    of_node: Vec<u32>,
    /// By node: a hash of all but the network.
    cores: Vec<u64>,
    /// By step.
    effects: Vec<NetworkEffect>,
    /// Nodes at which the path was accelerated: the earlier node, and the steps from there.
    pumps: FxHashMap<u32, (u32, Vec<Step>)>,
}

impl Omega {
    pub fn new() -> Self {
        Omega { sets: vec![Vec::new()], index: FxHashMap::from_iter([(Vec::new(), 0)]), ..Omega::default() }
    }

    fn set(&mut self, mut kinds: Vec<Kind>) -> u32 {
        kinds.sort_unstable();
        kinds.dedup();
        let next = self.sets.len() as u32;
        let number = *self.index.entry(kinds.clone()).or_insert(next);
        if number == next {
            self.sets.push(kinds);
        }
        number
    }

    fn set_of(&self, node: u32) -> u32 {
        self.of_node.get(node as usize).copied().unwrap_or(0)
    }

    /// Whether a kind has no bound at a node.
    pub fn has(&self, node: u32, kind: Kind) -> bool {
        self.sets[self.set_of(node) as usize].contains(&kind)
    }

    pub fn is_used(&self) -> bool {
        !self.pumps.is_empty()
    }

    /// The earlier node from which steps lead to this one, with more in flight.
    pub fn pump(&self, node: u32) -> Option<u32> {
        self.pumps.get(&node).map(|(ancestor, _)| *ancestor)
    }
}

impl Graph<'_> {
    /// The node that a step leads to, with omega for what has grown.
    pub fn insert_accelerated(
        &mut self,
        successor: &[LocalStateId],
        by: Step,
        step: Move,
    ) -> Result<u32, StopReason> {
        let effect = self.effect(by.0, step);
        let Some(mut omega) = self.omega.take() else { return Ok(self.insert(successor, 0, by)?.0) };
        for node in omega.cores.len()..self.len() {
            let core = self.core(self.nodes.get(node));
            omega.cores.push(core);
            omega.of_node.resize(node + 1, 0);
        }
        omega.effects.push(effect);
        let mut set = omega.set_of(by.0);
        let mut vector = self.with_omega(successor, &omega.sets[set as usize]);
        let core = self.core(&vector);
        // The earlier node and the path from there.
        let mut pump = None;
        let mut at = by.0;
        loop {
            if omega.cores[at as usize] == core
                && let Some(more) =
                    self.surplus(self.nodes.get(at as usize), &vector, &omega.sets[set as usize])
                && !more.is_empty()
            {
                let kinds = [omega.sets[set as usize].clone(), more].concat();
                set = omega.set(kinds);
                vector = self.with_omega(&vector, &omega.sets[set as usize]);
                pump = pump.or(Some(at));
            }
            let Some(parent) = self.parent(at) else { break };
            at = parent;
        }
        let found = self.insert(&vector, set, by);
        if let Ok((node, true)) = found {
            omega.cores.push(core);
            omega.of_node.push(set);
            if let Some(ancestor) = pump {
                let way = self.tree_path(ancestor, node).unwrap_or_default();
                omega.pumps.insert(node, (ancestor, way));
            }
        }
        self.omega = Some(omega);
        found.map(|(node, _)| node)
    }

    /// A hash of all but the network.
    fn core(&self, vector: &[LocalStateId]) -> u64 {
        let locals = lock(self.cx.locals);
        let words: Vec<u64> = vector
            .iter()
            .enumerate()
            .filter(|&(slot, &local)| {
                !local.is_absent() && !matches!(locals.owner(Slot::new(slot)), Owner::Network(_))
            })
            .map(|(slot, &local)| (slot as u64) << 32 | u64::from(local.as_u32()))
            .collect();
        hash_words(&words)
    }

    fn with_omega(&self, vector: &[LocalStateId], kinds: &[Kind]) -> Vec<LocalStateId> {
        let mut vector = vector.to_vec();
        let mut locals = lock(self.cx.locals);
        let slots: FxHashSet<Slot> =
            kinds.iter().filter_map(|kind| locals.network_slot_known(kind.1)).collect();
        for slot in slots {
            let local = vector[slot.index()];
            vector[slot.index()] = locals.with_one_of_each(slot, local, kinds);
        }
        vector
    }

    /// What is in flight later and was not before, if all that was before is there still and machines stand as they did.
    fn surplus(&self, before: &[LocalStateId], after: &[LocalStateId], omega: &[Kind]) -> Option<Vec<Kind>> {
        let locals = lock(self.cx.locals);
        let mut more = Vec::new();
        let at =
            |vector: &[LocalStateId], slot: usize| vector.get(slot).copied().unwrap_or(LocalStateId::ABSENT);
        for slot in 0..before.len().max(after.len()) {
            let (before, after) = (at(before, slot), at(after, slot));
            if before == after {
                continue;
            }
            let Owner::Network(_) = locals.owner(Slot::new(slot)) else { return None };
            let counts = |local: LocalStateId| {
                let mut counts: FxHashMap<Kind, u32> = FxHashMap::default();
                let flight = locals.states[local.index()].flight.as_deref();
                for channel in flight.iter().flat_map(|flight| &flight.channels) {
                    for sent in &channel.messages {
                        let Some(message) = locals.known_message(sent.message) else { continue };
                        *counts.entry((channel.source, channel.target, message)).or_default() += 1;
                    }
                }
                counts
            };
            let (earlier, later) = (counts(before), counts(after));
            let is_bounded = |kind: &Kind| !omega.contains(kind);
            let n = |counts: &FxHashMap<Kind, u32>, kind: &Kind| counts.get(kind).copied().unwrap_or(0);
            if earlier.keys().any(|kind| is_bounded(kind) && n(&later, kind) < n(&earlier, kind)) {
                return None;
            }
            more.extend(
                later.keys().copied().filter(|kind| is_bounded(kind) && n(&later, kind) > n(&earlier, kind)),
            );
        }
        more.sort_unstable();
        Some(more)
    }

    /// What a step takes from the network, and what it gives to it.
    fn effect(&self, node: u32, by: Move) -> (Option<Kind>, Option<(Kind, u32)>) {
        if by.delivered == CRASH {
            return (None, None);
        }
        let mut locals = lock(self.cx.locals);
        let local = self.nodes.get(node as usize)[by.slot.index()];
        match &*locals.known_act(local) {
            Act::Network(arrivals) => {
                let arrival = &arrivals[by.own as usize];
                let allways_run::Choice::Deliver { target, source, .. } = arrival.choice else {
                    return (None, None);
                };
                (Some((source, target, arrival.delivery.1)), None)
            }
            Act::Step { deliver: Some((slot, op)), .. } => {
                let (Owner::Network(_), Some(&NetworkOp::Send { source, target, message })) =
                    (locals.owner(*slot), locals.network_ops.get(op.index()))
                else {
                    return (None, None);
                };
                let fates = locals.exe.network.fates(locals.messages[message.index()].event);
                let n = fates.get(by.delivered as usize).copied().unwrap_or(1);
                (None, Some(((source, target, message), n)))
            }
            Act::Step { .. } | Act::Rest { .. } | Act::Fault | Act::Unknown(_) => (None, None),
        }
    }

    /// Leaves out steps that take what is without bound and what no step of their component sends, until there are none.
    pub fn prune(&mut self) {
        let Some(omega) = self.omega.take() else { return };
        loop {
            let mut more = Vec::new();
            for component in self.cyclic_components() {
                let inside: FxHashSet<u32> = component.iter().copied().collect();
                let steps = || {
                    let steps =
                        component.iter().flat_map(|&node| self.steps(node).map(move |step| (node, step)));
                    steps.filter(|&(_, step)| self.counts(step) && inside.contains(&self.targets[step]))
                };
                let sent: FxHashSet<Kind> = steps()
                    .filter_map(|(_, step)| omega.effects[step].1)
                    .filter(|(_, n)| *n > 0)
                    .map(|(kind, _)| kind)
                    .collect();
                more.extend(steps().filter_map(|(node, step)| {
                    let taken = omega.effects[step].0?;
                    (omega.has(node, taken) && !sent.contains(&taken)).then_some(step)
                }));
            }
            if more.is_empty() {
                break;
            }
            self.pruned.extend(more);
        }
        self.omega = Some(omega);
    }

    /// Whether a lap gives to the network at least what it takes of messages without bound.
    pub fn is_sustained(&self, lap: &[Step]) -> bool {
        let Some(omega) = &self.omega else { return true };
        let mut balance: FxHashMap<Kind, i64> = FxHashMap::default();
        for &(node, place) in lap {
            let (taken, given) = omega.effects[self.steps(node).start + place as usize];
            if let Some(kind) = taken {
                *balance.entry(kind).or_default() -= 1;
            }
            if let Some((kind, n)) = given {
                *balance.entry(kind).or_default() += i64::from(n);
            }
        }
        balance.values().all(|&n| n >= 0)
    }

    /// The steps to a node, with the loops that accelerate made so many times: first more often, since later ones may take
    /// what they send.
    pub fn pumped_stem(&mut self, node: u32, n_times: usize) -> Vec<Named> {
        let mut path = vec![node];
        while let Some(parent) = self.parent(path[path.len() - 1]) {
            path.push(parent);
        }
        path.reverse();
        let pumps: Vec<Option<Vec<Step>>> = path
            .iter()
            .map(|node| {
                self.omega.as_ref().and_then(|omega| omega.pumps.get(node)).map(|(_, way)| way.clone())
            })
            .collect();
        let mut n_left = pumps.iter().flatten().count();
        let mut stem = vec![Named { name: StepName::first(self.beginning_of(path[0])), bytes: None }];
        for (at, &node) in path.iter().enumerate() {
            if at > 0 {
                let by = self.origins[node as usize];
                stem.extend(self.named(&[by]));
            }
            if let Some(way) = &pumps[at] {
                let lap = self.named(way);
                let n = n_times.saturating_mul(n_left);
                n_left -= 1;
                stem.extend(std::iter::repeat_n(lap, n).flatten());
            }
        }
        stem
    }

    /// Steps by name, with messages by their bytes.
    pub fn named(&mut self, steps: &[Step]) -> Vec<Named> {
        let names = self.names(steps);
        let mut named = Vec::new();
        for (name, &(node, place)) in names.into_iter().zip(steps) {
            let taken = self
                .omega
                .as_ref()
                .and_then(|omega| omega.effects[self.steps(node).start + place as usize].0);
            let bytes = taken.map(|(_, _, message)| lock(self.cx.locals).encoded_message(message));
            named.push(Named { name, bytes });
        }
        named
    }
}
