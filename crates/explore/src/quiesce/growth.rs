//! Configurations that are like an earlier one of their run but for longer buffers: candidates for a lap.
//!
//! Two configurations have one *skeleton* when they differ in inboxes and in messages in flight only. A new configuration is
//! compared with those of its skeleton on the path by which it was found. In a graph that is infinite only because buffers grow
//! some path is infinite (König), and goes through one skeleton again and again. Over a network without order what is in flight is
//! contained in what is in flight later (Dickson), so a candidate always comes up.

use allways_base::Idx;
use allways_machine::content::words;
use allways_machine::{InFlight, Message};
use allways_run::NetworkModel;
use rustc_hash::FxHashMap;

use super::graph::Graph;
use crate::search::local::states::{LocalStateId, LocalStates, Owner, Slot};
use crate::search::lock;
use crate::search::store::hash::hash_words;

/// Candidates of one configuration that are tried.
const MAX_CANDIDATES: usize = 4;

#[derive(Default)]
pub(crate) struct Skeletons {
    /// By local state: the number of its skeleton, and the messages in its buffer; zero if it was not asked for yet.
    locals: Vec<(u32, u32)>,
    index: FxHashMap<Vec<u64>, u32>,
    /// By node: a hash of the skeletons of its local states, and the messages in its buffers.
    nodes: Vec<(u64, u32)>,
    /// By hash: the fewest messages in buffers.
    fewest: FxHashMap<u64, u32>,
}

impl Skeletons {
    pub fn n_bytes(&self) -> usize {
        self.locals.capacity() * 8
            + self.index.capacity() * 120
            + self.nodes.capacity() * 16
            + self.fewest.capacity() * 14
    }

    fn of_local(&mut self, locals: &LocalStates<'_>, local: LocalStateId) -> (u32, u32) {
        let at = local.index();
        if self.locals.len() <= at {
            self.locals.resize(at + 1, (0, 0));
        }
        if self.locals[at].0 == 0 {
            let mut key = Vec::new();
            let n_messages = match (&locals.states[at].flight, locals.owner_of(local)) {
                (Some(flight), _) => flight.n_messages(),
                (None, owner) => {
                    let mut local = locals.local(local).clone();
                    let n_messages = local.inbox.len();
                    local.inbox.clear();
                    key.push(match owner {
                        Owner::Monitor(monitor) => u64::from(monitor) << 1,
                        Owner::Machine(instance) | Owner::Network(instance) => {
                            u64::from(instance.as_u32()) << 1 | 1
                        }
                    });
                    words(&local, &mut key);
                    n_messages
                }
            };
            let next = self.index.len() as u32 + 1;
            let number = *self.index.entry(key).or_insert(next);
            self.locals[at] = (number, n_messages as u32);
        }
        self.locals[at]
    }

    /// Takes a note of the next node, and gives earlier ones of its path that are like it but for shorter buffers, the nearest first.
    pub fn candidates(&mut self, graph: &Graph<'_>, node: u32) -> Vec<u32> {
        let locals = lock(graph.cx.locals);
        while self.nodes.len() <= node as usize {
            let vector = graph.nodes.get(self.nodes.len());
            let (mut key, mut n_messages) = (Vec::with_capacity(vector.len()), 0);
            for (slot, &local) in vector.iter().enumerate().filter(|(_, local)| !local.is_absent()) {
                let (skeleton, n) = self.of_local(&locals, local);
                n_messages += n;
                if !matches!(locals.owner(Slot::new(slot)), Owner::Network(_)) {
                    key.push((slot as u64) << 32 | u64::from(skeleton));
                }
            }
            self.nodes.push((hash_words(&key), n_messages));
        }
        let (hash, n_messages) = self.nodes[node as usize];
        let fewest = self.fewest.entry(hash).or_insert(u32::MAX);
        let is_candidate = *fewest < n_messages;
        *fewest = n_messages.min(*fewest);
        let mut found = Vec::new();
        if !is_candidate {
            return found;
        }
        let mut at = node;
        while let Some(parent) = graph.parent(at) {
            at = parent;
            let (other, n_before) = self.nodes[at as usize];
            if other == hash
                && n_before < n_messages
                && is_extended(&locals, graph.nodes.get(at as usize), graph.nodes.get(node as usize))
            {
                found.push(at);
                if found.len() == MAX_CANDIDATES {
                    break;
                }
            }
        }
        found
    }
}

/// Whether buffers of the second are those of the first, with something behind; without order, with something more.
fn is_extended(locals: &LocalStates<'_>, before: &[LocalStateId], after: &[LocalStateId]) -> bool {
    let model = locals.exe.network.model;
    let at = |vector: &[LocalStateId], slot: usize| vector.get(slot).copied().unwrap_or(LocalStateId::ABSENT);
    (0..before.len().max(after.len())).all(|slot| {
        let (before, after) = (at(before, slot), at(after, slot));
        if before == after {
            return true;
        }
        match locals.owner(Slot::new(slot)) {
            Owner::Network(_) => {
                let empty = InFlight::default();
                let flight =
                    |local: LocalStateId| locals.states[local.index()].flight.as_deref().unwrap_or(&empty);
                is_longer(model, flight(before), flight(after))
            }
            Owner::Machine(_) | Owner::Monitor(_) if before.is_absent() || after.is_absent() => false,
            Owner::Machine(_) | Owner::Monitor(_) => {
                let (before, after) = (&locals.local(before).inbox, &locals.local(after).inbox);
                model != NetworkModel::Bag
                    && before.len() <= after.len()
                    && before.iter().zip(after).all(|(a, b)| a == b)
            }
        }
    })
}

fn is_longer(model: NetworkModel, before: &InFlight, after: &InFlight) -> bool {
    before.channels.iter().filter(|channel| !channel.messages.is_empty()).all(|channel| {
        let Some(at) = after.position(channel.source, channel.target) else { return false };
        let mut later: Vec<Message> = after.channels[at].messages.iter().map(|sent| sent.message).collect();
        let mut earlier = channel.messages.iter().map(|sent| sent.message);
        match model {
            NetworkModel::Bag => earlier.all(|message| {
                let place = later.iter().position(|it| *it == message);
                place.map(|place| later.swap_remove(place)).is_some()
            }),
            NetworkModel::Inbox | NetworkModel::Fifo | NetworkModel::Causal => {
                channel.messages.len() <= later.len() && earlier.zip(&later).all(|(a, b)| a == *b)
            }
        }
    })
}
