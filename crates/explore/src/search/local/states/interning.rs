//! Interning: numbers for messages and for local states, by their words (see `allways_machine::content`).

use allways_base::Idx;
use allways_machine::configuration::After;
use allways_machine::content::words;
use allways_machine::encode::{encode_in_flight, encode_whole};
use allways_machine::{Local, Message, Pending, Simplify, Status, Value};

use super::{LocalState, LocalStates};
use crate::search::local::entries::{InputId, LocalStateId, Owner};
use crate::search::store::hash::{hash_bytes_from, hash_words};

impl LocalStates<'_> {
    pub(crate) fn message(&mut self, message: Message) -> InputId {
        let key = (message.event, message.payload.bits());
        *self.message_index.entry(key).or_insert_with(|| {
            self.messages.push(message);
            InputId::new(self.messages.len() - 1)
        })
    }

    /// The number of a message that was met.
    pub fn known_message(&self, message: Message) -> Option<InputId> {
        self.message_index.get(&(message.event, message.payload.bits())).copied()
    }

    /// The local state of an owner in the configuration of the kernel.
    pub(super) fn intern(&mut self, owner: Owner) -> LocalStateId {
        let mut local = std::mem::take(&mut self.standing);
        local.clone_from(match owner {
            Owner::Monitor(monitor) => &self.kernel.configuration().monitors[monitor as usize],
            Owner::Machine(instance) | Owner::Network(instance) => {
                self.kernel.configuration().local(instance)
            }
        });
        let id = self.intern_local(owner, &mut local, true);
        self.standing = local;
        id
    }

    /// The number of a local whose values are the kernel's.
    pub(crate) fn intern_local(&mut self, owner: Owner, local: &mut Local, counts: bool) -> LocalStateId {
        forget_before_fault(local);
        let who = match owner {
            Owner::Monitor(monitor) => u64::from(monitor),
            Owner::Machine(instance) | Owner::Network(instance) => 1 << 32 | u64::from(instance.as_u32()),
        };
        let mut key = std::mem::take(&mut self.scratch);
        key.clear();
        key.push(who);
        if self.simplify != Simplify::default() {
            let raw = match (counts, self.records_content) {
                (true, true) => self.content_hash(owner, local),
                (true, false) => {
                    words(local, &mut key);
                    hash_words(&key)
                }
                (false, _) => 0,
            };
            let done = self.kernel.simplify(local, self.simplify, &mut self.sorted);
            if counts && done != Default::default() {
                for (is_done, known) in [done.dead_variables, done.unread_payloads, done.order]
                    .into_iter()
                    .zip(&mut self.simplified)
                {
                    if is_done {
                        known.insert(raw);
                    }
                }
            }
            key.truncate(1);
        }
        if self.renumbers {
            self.kernel.forget_unseen_numbers(local);
        }
        words(local, &mut key);
        let hash = hash_words(&key);
        self.touched = std::mem::take(&mut local.touched);
        let id = match self.find(hash, &key) {
            Some(id) => id,
            None => self.add_local(owner, local.clone(), hash, &key),
        };
        self.scratch = key;
        id
    }

    pub(super) fn add_local(&mut self, owner: Owner, local: Local, key: u64, words: &[u64]) -> LocalStateId {
        self.local_bytes += local.inbox.capacity() * size_of::<Message>()
            + local.registers.capacity() * 8
            + local.frames.capacity() * 16;
        let cut = self.cut(&local);
        if cut.is_none() {
            self.largest_inbox = self.largest_inbox.max(local.inbox.len());
        }
        let hash = self.content_hash(owner, &local);
        self.add(words, LocalState { local, flight: None, owner, hash, key, end: 0, cut })
    }

    pub(super) fn content_hash(&mut self, owner: Owner, local: &Local) -> u64 {
        let who = match owner {
            Owner::Monitor(monitor) => u64::from(monitor),
            Owner::Machine(instance) | Owner::Network(instance) => self.hashes.instance(&self.exe, instance),
        };
        self.hashes.local(&self.exe, self.kernel.store(), who, local)
    }

    /// Another hash of the same content, for fingerprints of 128 bits.
    pub fn second_hash(&self, id: LocalStateId) -> u64 {
        let LocalState { local, flight, owner, .. } = &self.states[id.index()];
        let mut bytes = self.name(*owner);
        match flight {
            Some(flight) => encode_in_flight(&self.exe, self.kernel.store(), flight, &mut bytes),
            None => encode_whole(&self.exe, self.kernel.store(), local, &mut bytes),
        }
        hash_bytes_from(&bytes, 0x2545_f491_4f6c_dd1d)
    }

    /// The local state with these words.
    pub(crate) fn find(&self, key: u64, words: &[u64]) -> Option<LocalStateId> {
        let is_it = |id: &LocalStateId| self.states[id.index()].key == key && self.content(*id) == words;
        self.index.find(key, is_it).copied()
    }

    pub(crate) fn add(&mut self, words: &[u64], state: LocalState) -> LocalStateId {
        let id = LocalStateId::new(self.states.len());
        let key = state.key;
        self.words.extend_from_slice(words);
        self.states.push(LocalState { end: self.words.len(), ..state });
        let states = &self.states;
        self.index.insert_unique(key, id, |&id| states[id.index()].key);
        id
    }

    pub(super) fn content(&self, id: LocalStateId) -> &[u64] {
        &self.words[self.states[id.index() - 1].end..self.states[id.index()].end]
    }
}

/// Leaves out all of a machine that is about to fail but that it will: a run that is replayed shows how.
pub(crate) fn forget_before_fault(local: &mut Local) {
    if let Status::Pending(Pending::Fault(fault)) = &mut local.status {
        fault.text = Value::NULL;
        local.after = After::Handler;
        local.frames.clear();
        local.registers.clear();
        local.inbox.clear();
        local.touched.write_all();
        local.n_named = 0;
    }
}
