//! Drafts: large collections that a program changes in place.
//!
//! A node never changes, so that a change of a collection would copy all of it. A collection that is large enough becomes a
//! *draft* when it is changed: a node of its own outside of the table, which exactly one place holds, a variable or a part
//! of another draft. Changing it again costs what the change costs. A copy of it is a node with the same content
//! ([`Store::freeze`]), which is remembered until the next change. Reading needs no node.
//!
//! Drafts stay within one run of the kernel: a local that is kept, compared or cloned has none
//! ([`Store::freeze_all`]).

use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

use hashbrown::HashTable;

use super::{Flags, Kind, Store, Value, View};

/// Shorter collections are copied: that is cheap, and equal ones stay equal words.
pub(super) const LARGE: usize = 32;

/// In the number of a node: it is a draft.
pub(super) const DRAFT: u32 = 1 << 31;

/// A collection or tuple that one place holds.
#[derive(Clone)]
pub(super) struct Draft {
    kind: Kind,
    /// As a node has it, without the head of a set or map that has freed slots.
    pub content: Vec<Value>,
    /// The slot freed last.
    pub free: Option<u32>,
    pub n_free: usize,
    pub index: Option<Index>,
    /// The node with this content.
    frozen: Option<Value>,
}

impl Draft {
    /// The node with this content is renumbered.
    pub fn forget_node(&mut self) {
        self.frozen = None;
    }
}

/// Where elements or keys of a set or map are, by hashes that equal ones share.
#[derive(Clone, Default)]
pub(super) struct Index {
    slots: HashTable<u32>,
    /// By slot.
    hashes: Vec<u64>,
}

impl Index {
    fn insert(&mut self, slot: u32, hash: u64) {
        if self.hashes.len() <= slot as usize {
            self.hashes.resize(slot as usize + 1, 0);
        }
        self.hashes[slot as usize] = hash;
        let hashes = &self.hashes;
        self.slots.insert_unique(hash, slot, |&slot| hashes[slot as usize]);
    }

    fn remove(&mut self, slot: u32) {
        if let Ok(entry) = self.slots.find_entry(self.hashes[slot as usize], |&other| other == slot) {
            entry.remove();
        }
    }
}

/// What a change does to the elements or keys of a set or map.
#[derive(Clone, Copy)]
pub(super) enum Change {
    /// They stay.
    Value,
    /// This one comes.
    Add(Value),
    /// The one in this slot goes.
    Remove(usize),
}

impl Store {
    /// Whether there may be drafts.
    #[inline]
    pub fn has_drafts(&self) -> bool {
        !self.drafts.is_empty()
    }

    /// Forgets all drafts. Nothing may hold one.
    pub(crate) fn clear_drafts(&mut self) {
        self.drafts.clear();
        self.free_drafts.clear();
        self.draft_words = 0;
    }

    pub(super) fn draft(&self, id: u32) -> &Draft {
        &self.drafts[(id & !DRAFT) as usize]
    }

    /// Forgets a draft that nothing holds any more.
    fn release(&mut self, value: Value) {
        if let (true, View::Node(_, id)) = (value.is_draft(), value.view()) {
            let at = id & !DRAFT;
            let draft = &mut self.drafts[at as usize];
            let content = std::mem::take(&mut draft.content);
            (draft.index, draft.frozen) = (None, None);
            self.draft_words = self.draft_words.saturating_sub(content.len());
            self.free_drafts.push(at);
            content.into_iter().for_each(|part| self.release(part));
        }
    }

    /// Makes a draft of a value that is to be changed, if it is one already, must be one, or is large.
    fn thaw(&mut self, value: Value, must: bool) -> Option<(usize, Value)> {
        let View::Node(kind, id) = value.view() else { return None };
        if value.is_draft() {
            return Some(((id & !DRAFT) as usize, value));
        }
        if !must && self.raw(id).len() < LARGE {
            return None;
        }
        let (content, free) = match kind {
            Kind::Set | Kind::Map => self.slots_of(id),
            _ => (self.raw(id), None),
        };
        let content = content.to_vec();
        let n_free = content.iter().filter(|part| part.is_hole()).count();
        self.draft_words += content.len();
        let index = self.take_index(id);
        let draft = Draft { kind, content, free, n_free, index, frozen: None };
        let at = match self.free_drafts.pop() {
            Some(at) => {
                self.drafts[at as usize] = draft;
                at
            }
            None => {
                self.drafts.push(draft);
                self.drafts.len() as u32 - 1
            }
        };
        Some((at as usize, Value::node(kind, Flags::LOOSE.with(Flags::DRAFT), DRAFT | at)))
    }

    /// Changes a collection or tuple in place, if it is a draft or becomes one; `must` says that the change puts a draft
    /// into it.
    pub(super) fn edit(
        &mut self,
        value: Value,
        must: bool,
        change: Change,
        act: impl FnOnce(&mut Vec<Value>, &mut Option<u32>),
    ) -> Option<Value> {
        let (at, value) = self.thaw(value, must)?;
        let hash = match change {
            Change::Add(key) => self.loose_hash(key),
            Change::Value | Change::Remove(_) => 0,
        };
        let draft = &mut self.drafts[at];
        draft.frozen = None;
        let before = draft.content.len();
        let width = if draft.kind == Kind::Map { 2 } else { 1 };
        match change {
            Change::Value => {}
            Change::Add(_) => {
                let slot = draft.free.unwrap_or((before / width) as u32);
                draft.n_free -= usize::from(draft.free.is_some());
                if let Some(index) = &mut draft.index {
                    index.insert(slot, hash);
                }
            }
            Change::Remove(slot) => {
                draft.n_free += 1;
                if let Some(index) = &mut draft.index {
                    index.remove(slot as u32);
                }
            }
        }
        act(&mut draft.content, &mut draft.free);
        self.draft_words = (self.draft_words + draft.content.len()).saturating_sub(before);
        Some(value)
    }

    /// The node with the content of a draft.
    pub fn freeze(&mut self, value: Value) -> Value {
        let View::Node(kind, id) = value.view() else { return value };
        if !value.is_draft() {
            return value;
        }
        let at = (id & !DRAFT) as usize;
        if let Some(frozen) = self.drafts[at].frozen {
            return frozen;
        }
        let content = std::mem::take(&mut self.drafts[at].content);
        let frozen = if content.iter().any(|part| part.is_draft()) {
            let parts: Vec<Value> = content.iter().map(|&part| self.freeze(part)).collect();
            self.node_of(kind, &parts, self.drafts[at].free)
        } else {
            self.node_of(kind, &content, self.drafts[at].free)
        };
        let draft = &mut self.drafts[at];
        draft.content = content;
        draft.frozen = Some(frozen);
        frozen
    }

    fn node_of(&mut self, kind: Kind, content: &[Value], free: Option<u32>) -> Value {
        match kind {
            Kind::Set | Kind::Map => self.slots(kind, content, free),
            _ => self.intern_parts(kind, content),
        }
    }

    /// Puts nodes in place of drafts.
    pub(crate) fn freeze_all(&mut self, values: &mut [Value]) {
        for value in values {
            if value.is_draft() {
                *value = self.freeze(*value);
            }
        }
    }

    /// The same, and the drafts are gone.
    pub(crate) fn settle(&mut self, values: &mut [Value]) {
        for value in values {
            if value.is_draft() {
                let frozen = self.freeze(*value);
                self.release(*value);
                *value = frozen;
            }
        }
    }

    /// Forgets the drafts among values that nothing reads any more.
    pub(crate) fn release_all(&mut self, values: &[Value]) {
        values.iter().for_each(|&value| self.release(value));
    }

    /// Whether a value is what a node holds, exactly, without making a node of it.
    pub(crate) fn is_same(&self, value: Value, node: Value) -> bool {
        let (View::Node(kind, id), View::Node(other_kind, other)) = (value.view(), node.view()) else {
            return value == node;
        };
        if !value.is_draft() || kind != other_kind {
            return value == node;
        }
        let draft = self.draft(id);
        let (content, free) = match kind {
            Kind::Set | Kind::Map => self.slots_of(other),
            _ => (self.raw(other), None),
        };
        draft.frozen.is_none_or(|frozen| frozen == node)
            && draft.free == free
            && draft.content.len() == content.len()
            && draft.content.iter().zip(content).all(|(&part, &other)| self.is_same(part, other))
    }

    /// A hash that is the same for values that P calls equal.
    pub(super) fn loose_hash(&self, value: Value) -> u64 {
        let of = |n: u64| FxBuildHasher.hash_one(n);
        let all = |parts: &[Value]| {
            parts.iter().fold(parts.len() as u64, |hash, &part| of(hash ^ self.loose_hash(part)))
        };
        match value.view() {
            View::Ref(instance, _) => of(u64::from(instance.as_u32()) << 4 | 4),
            View::Node(kind, id) => match kind {
                Kind::Int => of(self.raw(id)[0].bits()),
                Kind::Float => of(self.as_float(value).map_or(0, |x| if x == 0.0 { 0 } else { x.to_bits() })),
                Kind::String => of(self.text_hash(id)),
                Kind::Tuple | Kind::Seq => all(self.raw(id)),
                Kind::Named => all(&self.raw(id)[1..]),
                // Without order.
                Kind::Set => self.set_elements(id).fold(1, |sum, v| sum.wrapping_add(self.loose_hash(v))),
                Kind::Map => self.map_entries(id).fold(2, |sum, (key, value)| {
                    sum.wrapping_add(of(self.loose_hash(key) ^ of(self.loose_hash(value))))
                }),
            },
            View::Atom(_, n) => {
                // Values are not compared one by one here.
                self.need_numbers_in(value);
                of(Value::size(n as usize).bits())
            }
            View::Null | View::Bool(_) | View::Int(_) | View::Event(_) | View::Hole(_) => of(value.bits()),
        }
    }

    /// The slot of an element or key in a large set or map.
    pub(super) fn find_by_index(
        &self,
        index: &Index,
        slots: &[Value],
        width: usize,
        key: Value,
    ) -> Option<usize> {
        let is_it = |&slot: &u32| self.eq(slots[slot as usize * width], key);
        index.slots.find(self.loose_hash(key), is_it).map(|&slot| slot as usize)
    }

    pub(super) fn new_index(&self, kind: Kind, id: u32) -> Index {
        let (slots, _) = self.slots_of(id);
        let width = if kind == Kind::Map { 2 } else { 1 };
        let n = slots.len() / width;
        let mut index = Index { slots: HashTable::with_capacity(n), hashes: Vec::with_capacity(n) };
        for (slot, entry) in slots.chunks_exact(width).enumerate() {
            if !entry[0].is_hole() {
                index.insert(slot as u32, self.loose_hash(entry[0]));
            }
        }
        index
    }

    /// Prepares look-ups in a set or map, if it is large: a draft has its index from the first look-up on, a node after
    /// several in a row.
    #[inline]
    pub(super) fn prepare(&mut self, collection: Value) {
        if let View::Node(kind @ (Kind::Set | Kind::Map), id) = collection.view()
            && self.slots_of(id).0.len() >= LARGE
        {
            self.prepare_large(kind, id);
        }
    }

    fn prepare_large(&mut self, kind: Kind, id: u32) {
        if id & DRAFT != 0 {
            if self.draft(id).index.is_none() {
                let index = self.new_index(kind, id);
                self.drafts[(id & !DRAFT) as usize].index = Some(index);
            }
            return;
        }
        if self.indexed.iter().any(|(known, _)| *known == id) {
            return;
        }
        let (last, n) = self.looked_up;
        self.looked_up = if last == id { (id, n + 1) } else { (id, 1) };
        if self.looked_up.1 >= LOOKUPS {
            let index = self.new_index(kind, id);
            if self.indexed.len() == INDEXED {
                self.indexed.remove(0);
            }
            self.indexed.push((id, index));
        }
    }

    pub(super) fn index_of(&self, id: u32) -> Option<&Index> {
        if id & DRAFT != 0 {
            return self.draft(id).index.as_ref();
        }
        if self.indexed.is_empty() {
            return None;
        }
        self.indexed.iter().find(|(known, _)| *known == id).map(|(_, index)| index)
    }

    fn take_index(&mut self, id: u32) -> Option<Index> {
        let at = self.indexed.iter().position(|(known, _)| *known == id)?;
        Some(self.indexed.remove(at).1)
    }
}

/// Look-ups in a row after which a node gets an index, and how many nodes have one at a time.
const LOOKUPS: u32 = 4;
const INDEXED: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn next(seed: &mut u64, below: u64) -> u64 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        *seed % below
    }

    fn change(store: &mut Store, value: Value, kind: Kind, what: (u64, u64, u64)) -> Value {
        let (act, n, at) = what;
        let size = store.size_of(value).unwrap() as u64;
        let index = Value::size(match kind {
            Kind::Seq => at % (size + 1),
            _ => n,
        } as usize);
        let text = store.string(&format!("text {}", n % 50));
        let key = if n % 3 == 0 && kind != Kind::Seq { text } else { index };
        let element = store.tuple(&[text, Value::size(n as usize)]);
        let changed = match (kind, act) {
            (Kind::Set, 0..6) => store.add(value, key),
            (_, 0..5) => store.insert_at(value, key, element),
            (_, 5) => store.set(value, key, text),
            _ => store.remove(value, key),
        };
        changed.unwrap_or(value)
    }

    /// What is changed in place is what is copied at each change, also when old values are forgotten meanwhile.
    #[test]
    fn drafts_are_what_copies_are() {
        for kind in [Kind::Seq, Kind::Set, Kind::Map] {
            let (mut copies, mut drafts) = (Store::default(), Store::default());
            let base = drafts.mark();
            let (mut copied, mut held) = (copies.empty(kind), drafts.empty(kind));
            let mut pair = drafts.tuple(&[Value::NULL, Value::NULL]);
            let mut seed = 7 + kind as u64;
            let mut n_drafts = 0;
            for round in 0..4_000 {
                let what = (next(&mut seed, 8), next(&mut seed, 300), next(&mut seed, 1 << 20));
                copied = change(&mut copies, copied, kind, what);
                copied = copies.freeze(copied);
                copies.clear_drafts();
                held = change(&mut drafts, held, kind, what);
                n_drafts += u32::from(held.is_draft());
                assert_eq!(copies.size_of(copied), drafts.size_of(held));
                if round % 97 == 0 {
                    // A draft in a draft.
                    pair = drafts.with_part(pair, 0, held).unwrap();
                    let part = drafts.raw(match pair.view() {
                        View::Node(_, id) => id,
                        _ => unreachable!(),
                    })[0];
                    let (a, b) = (drafts.freeze(part), drafts.freeze(held));
                    assert_eq!(a, b);
                    assert!(drafts.eq(part, a) && drafts.is_same(held, a));
                    pair = drafts.with_part(pair, 0, Value::NULL).unwrap();
                }
                if round % 131 == 0 {
                    drafts.collect(base, &mut |visit| {
                        visit(&mut held);
                        visit(&mut pair);
                    });
                }
                if round % 59 == 0 {
                    let n = copies.size_of(copied).unwrap();
                    for at in 0..n {
                        let (a, b) = (copies.nth(copied, at).unwrap(), drafts.nth(held, at).unwrap());
                        assert_eq!(copies.loose_hash(a), drafts.loose_hash(b));
                        assert!(kind == Kind::Seq || drafts.contains(held, b).unwrap());
                    }
                    let node = drafts.freeze(held);
                    assert!(drafts.eq(node, held) && drafts.eq(held, node));
                }
            }
            assert!(n_drafts > 1_000, "{kind:?}: {n_drafts}");
        }
    }
}
