//! A bounded cache of operations: it may forget, and never errs.

use crate::diagrams::Node;

/// What was computed of what: an operation, a parameter and a node, or two nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key {
    pub operation: u32,
    pub first: u32,
    pub second: Node,
}

#[derive(Clone, Copy)]
struct Entry {
    key: Key,
    result: Node,
}

const VACANT: Entry = Entry { key: Key { operation: 0, first: 0, second: Node::EMPTY }, result: Node::EMPTY };

/// Two entries for each hash: the one that was used last comes first.
const WAYS: usize = 2;

pub(crate) struct Cache {
    entries: Vec<Entry>,
    /// Entries written since the cache was made or last grew.
    n_written: usize,
    max_entries: usize,
}

impl Cache {
    pub fn new(max_entries: usize) -> Self {
        let n = (1 << 10).min(max_entries.next_power_of_two());
        Cache { entries: vec![VACANT; n], n_written: 0, max_entries }
    }

    pub fn n_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }

    #[inline]
    fn bucket(&self, key: Key) -> usize {
        let words = u64::from(key.first) << 32 | u64::from(key.second.number());
        let hash = (words ^ u64::from(key.operation).wrapping_mul(0xc2b2_ae3d_27d4_eb4f))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 24;
        hash as usize & (self.entries.len() - 1) & !(WAYS - 1)
    }

    #[inline]
    pub fn get(&mut self, key: Key) -> Option<Node> {
        let at = self.bucket(key);
        if self.entries[at].key == key {
            return Some(self.entries[at].result);
        }
        if self.entries[at + 1].key == key {
            self.entries.swap(at, at + 1);
            return Some(self.entries[at].result);
        }
        None
    }

    #[inline]
    pub fn insert(&mut self, key: Key, result: Node) {
        if self.n_written > self.entries.len() && self.entries.len() * 2 <= self.max_entries {
            self.grow();
        }
        self.n_written += 1;
        let at = self.bucket(key);
        self.entries[at + 1] = self.entries[at];
        self.entries[at] = Entry { key, result };
    }

    #[cold]
    fn grow(&mut self) {
        let n = self.entries.len() * 2;
        let old = std::mem::replace(&mut self.entries, vec![VACANT; n]);
        self.n_written = 0;
        for entry in old.into_iter().filter(|entry| entry.key.operation != 0) {
            self.insert(entry.key, entry.result);
        }
        self.n_written = 0;
    }

    /// Forgets what mentions nodes that are gone.
    pub fn retain(&mut self, mut is_kept: impl FnMut(Key, Node) -> bool) {
        for entry in &mut self.entries {
            if entry.key.operation != 0 && !is_kept(entry.key, entry.result) {
                *entry = VACANT;
            }
        }
    }
}
