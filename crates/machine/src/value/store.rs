//! The store of nodes.
//!
//! Nodes are interned: content goes into one vector of words (texts into one string), and an open-addressing
//! table finds a node by its content. A store is used by one thread. It can be cut back to a [`Mark`], so that a
//! search that forgets its runs keeps the memory flat; a search that remembers configurations lets it grow.
//!
//! A store shared by threads can come by the same interface: split by hash into shards, each a store behind
//! a lock that is taken only when a node is not found in a private one, with the shard in the high bits of the
//! node number. Nothing outside this file depends on how a number is made.

use std::sync::Arc;

use allways_base::{Idx, IndexVec, Symbol};
use allways_run::InstanceId;

use super::draft::{DRAFT, Draft, Index, LARGE};
use super::{Flags, Kind, ShapeId, Value, View};
use crate::data::{DataPlan, Origin};

/// Deeper values are a fault: comparing and printing recurse over them.
pub(crate) const MAX_DEPTH: u32 = 1_000;

#[derive(Clone, Copy)]
pub(super) struct Node {
    /// Into `words`, or into `texts` for a string.
    start: u32,
    len: u32,
    hash: u32,
    /// Kind, flags and depth: `kind | flags << 8 | depth << 16`.
    meta: u32,
}

/// How far a store was filled at some moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    nodes: usize,
    words: usize,
    texts: usize,
}

impl Mark {
    pub(super) fn n_nodes(&self) -> usize {
        self.nodes
    }
}

/// Field names of named tuples.
pub type Shapes = IndexVec<ShapeId, Vec<Symbol>>;

#[derive(Clone)]
pub struct Store {
    words: Vec<Value>,
    texts: String,
    nodes: Vec<Node>,
    /// Node numbers plus one; zero is free. The length is a power of two.
    table: Vec<u32>,
    /// Room for content under construction.
    pub(super) scratch: Vec<Value>,
    too_deep: bool,
    pub(super) drafts: Vec<Draft>,
    pub(super) free_drafts: Vec<u32>,
    /// Words of all drafts.
    pub(super) draft_words: usize,
    /// Indexes of large nodes that were looked into lately.
    pub(super) indexed: Vec<(u32, Index)>,
    /// The large node that was looked into last, and how often in a row.
    pub(super) looked_up: (u32, u32),
    /// Bytes from which on it is collected.
    pub(super) collect_at: usize,
    /// Words of large values that were copied since this was last asked.
    copied: u32,
    /// Which chosen numbers are equivalent, if any are taken to be.
    pub(crate) data: Option<Arc<DataPlan>>,
    /// Those before.
    copied_before: u64,
}

impl Default for Store {
    fn default() -> Self {
        Store {
            words: Vec::new(),
            texts: String::new(),
            nodes: Vec::new(),
            table: vec![0; 64],
            scratch: Vec::new(),
            too_deep: false,
            drafts: Vec::new(),
            free_drafts: Vec::new(),
            draft_words: 0,
            indexed: Vec::new(),
            looked_up: (u32::MAX, 0),
            collect_at: 0,
            copied: 0,
            data: None,
            copied_before: 0,
        }
    }
}

impl Store {
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Memory in use, roughly.
    pub fn n_bytes(&self) -> usize {
        self.words.capacity() * 8
            + self.texts.capacity()
            + self.nodes.capacity() * size_of::<Node>()
            + self.table.capacity() * 4
            + self.draft_words * 8
    }

    pub(crate) fn n_words(&self) -> usize {
        self.words.len()
    }

    pub(super) fn n_text_bytes(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn text_hash(&self, id: u32) -> u64 {
        self.nodes[id as usize].hash.into()
    }

    pub fn mark(&self) -> Mark {
        Mark { nodes: self.nodes.len(), words: self.words.len(), texts: self.texts.len() }
    }

    /// Forgets every node made after `mark`. Values that need them must be gone.
    pub fn truncate(&mut self, mark: Mark) {
        // Nodes leave the table in the reverse order of their coming, also when it was rebuilt meanwhile
        // (in order of numbers), so no probe sequence is ever cut.
        let mask = self.table.len() - 1;
        for id in (mark.nodes..self.nodes.len()).rev() {
            let mut slot = self.nodes[id].hash as usize & mask;
            while self.table[slot] != id as u32 + 1 {
                slot = (slot + 1) & mask;
            }
            self.table[slot] = 0;
        }
        self.nodes.truncate(mark.nodes);
        self.words.truncate(mark.words);
        self.texts.truncate(mark.texts);
        self.too_deep = false;
        self.clear_drafts();
        self.forget_indexes();
    }

    fn forget_indexes(&mut self) {
        self.indexed.clear();
        self.looked_up = (u32::MAX, 0);
    }

    /// Moves the nodes that are to be kept together, and says where each of them is then.
    pub(super) fn keep(&mut self, base: Mark, is_kept: &[bool]) -> Vec<u32> {
        let mut places: Vec<u32> = (0..base.nodes as u32).collect();
        let texts = self.texts.split_off(base.texts);
        let mut n_words = base.words;
        let mut n_nodes = base.nodes;
        for (id, &is_kept) in is_kept.iter().enumerate().skip(base.nodes) {
            places.push(n_nodes as u32);
            if !is_kept {
                continue;
            }
            let mut node = self.nodes[id];
            let range = node.start as usize..(node.start + node.len) as usize;
            if node.meta & 0xff == Kind::String as u32 {
                node.start = self.texts.len() as u32;
                self.texts.push_str(&texts[range.start - base.texts..range.end - base.texts]);
            } else {
                node.start = n_words as u32;
                self.words.copy_within(range, n_words);
                let content = &mut self.words[n_words..n_words + node.len as usize];
                n_words += content.len();
                if node.meta & 0xff >= Kind::Tuple as u32 {
                    // Parts are older than what they are in, so their places are known.
                    for part in content.iter_mut() {
                        if let View::Node(kind, id) = part.view() {
                            *part = Value::node(kind, part.flags(), places[id as usize]);
                        }
                    }
                    node.hash = fold(
                        content
                            .iter()
                            .fold((node.meta & 0xff) as u64 + 1, |hash, part| mix(hash, part.bits())),
                    );
                }
            }
            self.nodes[n_nodes] = node;
            n_nodes += 1;
        }
        self.nodes.truncate(n_nodes);
        self.words.truncate(n_words);
        self.words.shrink_to(2 * n_words);
        self.nodes.shrink_to(2 * n_nodes);
        let size = (2 * n_nodes + 2).next_power_of_two().max(64);
        self.rehash(size);
        self.forget_indexes();
        places
    }

    /// Words of large values that were copied since the last call: what instructions cost beside themselves.
    #[inline]
    pub(crate) fn take_copied(&mut self) -> u32 {
        let copied = std::mem::take(&mut self.copied);
        self.copied_before += u64::from(copied);
        copied
    }

    /// The sum of what [`take_copied`](Self::take_copied) has given.
    #[inline]
    pub(crate) fn copied_in_all(&self) -> u64 {
        self.copied_before
    }

    /// Whether a value became too deep since the last call.
    #[inline]
    pub fn take_too_deep(&mut self) -> bool {
        std::mem::take(&mut self.too_deep)
    }

    #[inline]
    pub fn int(&mut self, n: i64) -> Value {
        match Value::small_int(n) {
            Some(value) => value,
            None => self.intern(Kind::Int, Flags::NONE, &[Value::from_bits(n as u64)]),
        }
    }

    #[inline]
    pub fn as_int(&self, value: Value) -> Option<i64> {
        match value.view() {
            View::Int(n) => Some(n),
            View::Node(Kind::Int, id) => Some(self.raw(id)[0].bits() as i64),
            View::Atom(class, n) => {
                self.need_numbers(class);
                Some(n.into())
            }
            _ => None,
        }
    }

    /// The same for people: such a reading is not reported.
    pub fn shown_int(&self, value: Value) -> Option<i64> {
        match value.view() {
            View::Atom(_, n) => Some(n.into()),
            _ => self.as_int(value),
        }
    }

    /// The choice that an atom comes from, if it has a name.
    pub(crate) fn origin(&self, class: u32) -> Option<Origin> {
        self.data.as_ref()?.origin(class)
    }

    fn need_numbers(&self, class: u32) {
        if let Some(plan) = &self.data {
            plan.need_numbers(class);
        }
    }

    /// Reports that the numbers of all atoms in a value have to be distinguished.
    pub(crate) fn need_numbers_in(&self, value: Value) {
        match value.view() {
            View::Atom(class, _) => self.need_numbers(class),
            View::Node(_, id) if value.flags().has(Flags::ATOMS) => {
                self.raw(id).iter().for_each(|&part| self.need_numbers_in(part));
            }
            _ => {}
        }
    }

    /// Reports where numbers of an atom's class have to be distinguished, so that comparing it with a number has one answer.
    pub(crate) fn need_cut(&self, atom: Value, at: i64) {
        if let (View::Atom(class, _), Some(plan)) = (atom.view(), &self.data) {
            plan.need_cut(class, at);
        }
    }

    pub fn float(&mut self, x: f64) -> Value {
        let flags = if x.is_nan() {
            Flags::LOOSE.with(Flags::NAN)
        } else if x == 0.0 {
            Flags::LOOSE
        } else {
            Flags::NONE
        };
        self.intern(Kind::Float, flags, &[Value::from_bits(x.to_bits())])
    }

    pub fn as_float(&self, value: Value) -> Option<f64> {
        match value.view() {
            View::Node(Kind::Float, id) => Some(f64::from_bits(self.raw(id)[0].bits())),
            _ => None,
        }
    }

    pub fn string(&mut self, text: &str) -> Value {
        self.copied = self.copied.saturating_add(text.len() as u32 / 64);
        let mut hash = Kind::String as u64 + 1;
        for chunk in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            hash = mix(hash, u64::from_le_bytes(word));
        }
        let hash = fold(mix(hash, text.len() as u64));
        let meta = Kind::String as u32;
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(id) = self.table[slot].checked_sub(1) {
            let node = self.nodes[id as usize];
            if node.hash == hash && node.meta == meta && self.text_of(node) == text {
                return Value::node(Kind::String, Flags::NONE, id);
            }
            slot = (slot + 1) & mask;
        }
        let start = self.texts.len() as u32;
        self.texts.push_str(text);
        self.insert(slot, Node { start, len: text.len() as u32, hash, meta }, Kind::String, Flags::NONE)
    }

    pub fn as_str(&self, value: Value) -> Option<&str> {
        match value.view() {
            View::Node(Kind::String, id) => Some(self.text_of(self.nodes[id as usize])),
            _ => None,
        }
    }

    pub fn tuple(&mut self, elements: &[Value]) -> Value {
        self.intern_parts(Kind::Tuple, elements)
    }

    pub fn seq(&mut self, elements: &[Value]) -> Value {
        self.intern_parts(Kind::Seq, elements)
    }

    pub fn named(&mut self, shape: ShapeId, elements: &[Value]) -> Value {
        let mut content = std::mem::take(&mut self.scratch);
        content.clear();
        content.push(Value::size(shape.index()));
        content.extend_from_slice(elements);
        let value = self.intern_parts(Kind::Named, &content);
        self.scratch = content;
        value
    }

    /// The tuple or collection with this content, as [`Store::content`] gives it; `None` if nothing has it.
    pub(crate) fn intern_content(&mut self, kind: Kind, content: &[Value]) -> Option<Value> {
        let width = match kind {
            Kind::Set => 1,
            Kind::Map => 2,
            Kind::Tuple | Kind::Named | Kind::Seq => {
                let has_hole = content.iter().any(|part| part.is_hole());
                return (!has_hole).then(|| self.intern_parts(kind, content));
            }
            Kind::Int | Kind::Float | Kind::String => return None,
        };
        let (slots, free) = match content.first().map(|first| first.view()) {
            Some(View::Hole(free)) => (&content[1..], Some(free?)),
            _ => (content, None),
        };
        let n_slots = slots.len() / width;
        let is_free = |slot: &u32| (*slot as usize) < n_slots && slots[*slot as usize * width].is_hole();
        // The freed slots are a list that has all of them, once.
        let (mut next, mut n_free) = (free, 0);
        while let Some(slot) = next.filter(|_| n_free <= n_slots) {
            let View::Hole(after) = slots.get(slot as usize * width).filter(|_| is_free(&slot))?.view()
            else {
                return None;
            };
            (next, n_free) = (after, n_free + 1);
        }
        let n_holes = slots.chunks(width).filter(|slot| slot[0].is_hole()).count();
        let is_stray = |slot: &[Value]| slot.iter().skip(1).any(|part| part.is_hole());
        let is_whole = slots.len() % width == 0 && n_free == n_holes && !slots.chunks(width).any(is_stray);
        is_whole.then(|| self.slots(kind, slots, free))
    }

    /// A set or map of which `content` is the slots. `free` is the slot freed last; it must be given
    /// exactly when there are freed slots.
    pub(super) fn slots(&mut self, kind: Kind, content: &[Value], free: Option<u32>) -> Value {
        let width = if kind == Kind::Map { 2 } else { 1 };
        let mut flags = flags_of(content);
        if free.is_some() || content.len() > width {
            flags = flags.with(Flags::LOOSE);
        }
        let Some(free) = free else { return self.intern(kind, flags, content) };
        let mut with_head = Vec::with_capacity(content.len() + 1);
        with_head.push(Value::hole(Some(free)));
        with_head.extend_from_slice(content);
        self.intern(kind, flags.with(Flags::HOLES), &with_head)
    }

    /// The slots of a set or map, and the slot freed last.
    pub(super) fn slots_of(&self, id: u32) -> (&[Value], Option<u32>) {
        if id & DRAFT != 0 {
            let draft = self.draft(id);
            return (&draft.content, draft.free);
        }
        let content = self.raw(id);
        // A node without freed slots of its own does not begin with a hole; one that has some begins
        // with the hole that names the one freed last.
        match content.first().map(|first| first.view()) {
            Some(View::Hole(free)) => (&content[1..], free),
            _ => (content, None),
        }
    }

    /// The fields of a named tuple, and their names.
    #[inline]
    pub fn named_parts(&self, id: u32) -> (ShapeId, &[Value]) {
        let content = self.raw(id);
        (ShapeId::new(content[0].as_small_int().unwrap_or(0) as usize), &content[1..])
    }

    /// The elements of a tuple or sequence.
    #[inline]
    pub fn parts(&self, id: u32) -> &[Value] {
        self.raw(id)
    }

    /// The value with other machines in it.
    pub fn rename(&mut self, value: Value, to: &dyn Fn(InstanceId) -> InstanceId) -> Value {
        if !value.flags().has(Flags::REFS) {
            return value;
        }
        match value.view() {
            View::Ref(instance, permission) => Value::reference(to(instance), permission),
            View::Node(kind, id) => {
                let mut content = self.raw(id).to_vec();
                for part in &mut content {
                    *part = self.rename(*part, to);
                }
                // What flags say does not depend on which machines these are.
                self.intern(kind, value.flags(), &content)
            }
            View::Null | View::Bool(_) | View::Int(_) | View::Event(_) | View::Hole(_) | View::Atom(..) => {
                value
            }
        }
    }

    /// The elements of a collection in order of enumeration; an entry of a map has two parts.
    pub(crate) fn elements(&self, value: Value) -> impl Iterator<Item = &[Value]> {
        let (slots, width) = match value.view() {
            View::Node(Kind::Seq, id) => (self.raw(id), 1),
            View::Node(Kind::Set, id) => (self.slots_of(id).0, 1),
            View::Node(Kind::Map, id) => (self.slots_of(id).0, 2),
            _ => (&[][..], 1),
        };
        slots.chunks_exact(width).filter(|element| !element[0].is_hole())
    }

    /// The collection with its elements in another order, without freed slots.
    pub(crate) fn reordered(&mut self, value: Value, order: &[usize]) -> Value {
        let elements: Vec<&[Value]> = self.elements(value).collect();
        let content: Vec<Value> = order.iter().flat_map(|&at| elements[at].iter().copied()).collect();
        self.with_elements(value, &content, None)
    }

    /// The elements of a collection with freed slots among them, and the slot freed last.
    pub(crate) fn elements_and_holes(&self, value: Value) -> (&[Value], Option<u32>) {
        match value.view() {
            View::Node(Kind::Set | Kind::Map, id) => self.slots_of(id),
            View::Node(Kind::Seq, id) => (self.raw(id), None),
            _ => (&[][..], None),
        }
    }

    /// A collection of the same kind with these elements, and the slot freed last if there are freed ones among them.
    pub(crate) fn with_elements(&mut self, value: Value, content: &[Value], free: Option<u32>) -> Value {
        match value.view() {
            View::Node(kind @ (Kind::Set | Kind::Map), _) => self.slots(kind, content, free),
            View::Node(kind, _) => self.intern_parts(kind, content),
            _ => value,
        }
    }

    /// What a node holds, as it is stored: the shape before the fields, freed slots among the others.
    pub(crate) fn content(&self, id: u32) -> &[Value] {
        self.raw(id)
    }

    #[inline]
    pub(super) fn raw(&self, id: u32) -> &[Value] {
        if id & DRAFT != 0 {
            return &self.draft(id).content;
        }
        let node = self.nodes[id as usize];
        &self.words[node.start as usize..(node.start + node.len) as usize]
    }

    fn text_of(&self, node: Node) -> &str {
        &self.texts[node.start as usize..(node.start + node.len) as usize]
    }

    #[inline]
    pub(super) fn intern_parts(&mut self, kind: Kind, content: &[Value]) -> Value {
        let flags = flags_of(content);
        if flags.has(Flags::DRAFT) {
            return self.intern_frozen(kind, content);
        }
        self.intern(kind, flags, content)
    }

    #[cold]
    fn intern_frozen(&mut self, kind: Kind, content: &[Value]) -> Value {
        let parts: Vec<Value> = content.iter().map(|&part| self.freeze(part)).collect();
        self.intern(kind, flags_of(&parts), &parts)
    }

    fn intern(&mut self, kind: Kind, flags: Flags, content: &[Value]) -> Value {
        let mut hash = kind as u64 + 1;
        let mut depth = 0;
        self.copied = self.copied.saturating_add(content.len() as u32 / 32);
        for &value in content {
            hash = mix(hash, value.bits());
        }
        let hash = fold(hash);
        let tag = kind as u32 | (flags.0 as u32) << 8;
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(id) = self.table[slot].checked_sub(1) {
            let node = self.nodes[id as usize];
            if node.hash == hash && node.meta & 0xffff == tag && self.raw(id) == content {
                return Value::node(kind, flags, id);
            }
            slot = (slot + 1) & mask;
        }
        if kind >= Kind::Tuple {
            for &value in content {
                if let View::Node(_, id) = value.view() {
                    depth = depth.max((self.nodes[id as usize].meta >> 16) + 1);
                }
            }
        }
        if depth > MAX_DEPTH {
            self.too_deep = true;
        }
        let start = self.words.len() as u32;
        self.words.extend_from_slice(content);
        let node = Node { start, len: content.len() as u32, hash, meta: tag | depth.min(0xffff) << 16 };
        self.insert(slot, node, kind, flags)
    }

    fn insert(&mut self, slot: usize, node: Node, kind: Kind, flags: Flags) -> Value {
        let id = self.nodes.len() as u32;
        self.nodes.push(node);
        self.table[slot] = id + 1;
        if self.nodes.len() * 2 > self.table.len() {
            self.grow();
        }
        Value::node(kind, flags, id)
    }

    fn grow(&mut self) {
        self.rehash(self.table.len() * 2);
    }

    /// Makes the table anew, of a size that is a power of two.
    fn rehash(&mut self, size: usize) {
        let mask = size - 1;
        let mut table = vec![0; mask + 1];
        for (id, node) in self.nodes.iter().enumerate() {
            let mut slot = node.hash as usize & mask;
            while table[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            table[slot] = id as u32 + 1;
        }
        self.table = table;
    }

    /// P's equality.
    #[inline]
    pub fn eq(&self, a: Value, b: Value) -> bool {
        let flags = a.flags().with(b.flags());
        if a == b && !flags.has(Flags::DRAFT.with(Flags::ATOMS)) {
            return !flags.has(Flags::NAN);
        }
        flags.has(Flags::LOOSE) && self.eq_structural(a, b)
    }

    fn eq_structural(&self, a: Value, b: Value) -> bool {
        match (a.view(), b.view()) {
            (View::Ref(a, _), View::Ref(b, _)) => a == b,
            (View::Atom(class, x), View::Atom(other, y)) => match &self.data {
                Some(plan) => plan.are_equal((class, x), (other, y)),
                None => x == y,
            },
            (View::Atom(_, x), View::Int(n)) => self.eq_atom(a, x, n),
            (View::Int(n), View::Atom(_, x)) => self.eq_atom(b, x, n),
            (View::Node(kind, x), View::Node(other, y)) if kind == other => match kind {
                Kind::Int | Kind::String => x == y,
                Kind::Float => self.as_float(a) == self.as_float(b),
                Kind::Tuple | Kind::Seq => self.eq_slices(self.raw(x), self.raw(y)),
                Kind::Named => {
                    let ((shape, xs), (other, ys)) = (self.named_parts(x), self.named_parts(y));
                    shape == other && self.eq_slices(xs, ys)
                }
                Kind::Set | Kind::Map if self.size_of(a) != self.size_of(b) => false,
                Kind::Set | Kind::Map if self.slots_of(x).0.len().min(self.slots_of(y).0.len()) >= LARGE => {
                    self.eq_large(kind, x, y)
                }
                Kind::Set => self.set_elements(x).all(|element| self.find_in_set(y, element).is_some()),
                Kind::Map => self.map_entries(x).all(|(key, value)| {
                    self.find_in_map(y, key).is_some_and(|(_, other)| self.eq(value, other))
                }),
            },
            _ => false,
        }
    }

    /// An atom and a number are equal only if they are distinguished too little.
    fn eq_atom(&self, atom: Value, x: u32, n: i64) -> bool {
        self.need_cut(atom, n);
        self.need_cut(atom, n.saturating_add(1));
        i64::from(x) == n
    }

    /// Sets or maps of the same size.
    fn eq_large(&self, kind: Kind, x: u32, y: u32) -> bool {
        let made;
        let index = match self.index_of(y) {
            Some(index) => index,
            None => {
                made = self.new_index(kind, y);
                &made
            }
        };
        let slots = self.slots_of(y).0;
        match kind {
            Kind::Map => self.map_entries(x).all(|(key, value)| {
                let found = self.find_by_index(index, slots, 2, key);
                found.is_some_and(|slot| self.eq(value, slots[2 * slot + 1]))
            }),
            _ => self.set_elements(x).all(|v| self.find_by_index(index, slots, 1, v).is_some()),
        }
    }

    fn eq_slices(&self, a: &[Value], b: &[Value]) -> bool {
        let has_atoms = |&(&a, &b): &(&Value, &Value)| a.flags().with(b.flags()).has(Flags::ATOMS);
        let are_equal = |(&a, &b): (&Value, &Value)| self.eq(a, b);
        // What has no atoms first: where that differs, it does not matter which numbers were chosen.
        a.len() == b.len()
            && a.iter().zip(b).filter(|pair| !has_atoms(pair)).all(are_equal)
            && a.iter().zip(b).filter(has_atoms).all(are_equal)
    }
}

fn flags_of(content: &[Value]) -> Flags {
    content.iter().fold(Flags::NONE, |flags, value| flags.with(value.flags()))
}

#[inline]
fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}

#[inline]
fn fold(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Store({} nodes)", self.nodes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_content_is_same_word() {
        let mut store = Store::default();
        let (one, two) = (store.int(1), store.int(2));
        let a = store.tuple(&[one, two]);
        assert_eq!(a, store.tuple(&[one, two]));
        assert_ne!(a, store.tuple(&[two, one]));
        assert_ne!(a, store.seq(&[one, two]));
        let text = store.string("long enough to need several words");
        assert_eq!(text, store.string("long enough to need several words"));
        assert_eq!(store.as_str(text), Some("long enough to need several words"));
        let max = store.int(i64::MAX);
        assert_eq!(store.as_int(max), Some(i64::MAX));
        assert!(store.eq(max, max));
    }

    #[test]
    fn truncate_restores_the_table() {
        let mut store = Store::default();
        let keep: Vec<Value> = (0..20).map(|n| store.tuple(&[Value::size(n)])).collect();
        let mark = store.mark();
        for round in 0..3 {
            for n in 0..500 {
                store.seq(&[Value::size(n), Value::size(round)]);
                store.string(&format!("text {n} {round}"));
            }
            store.truncate(mark);
            for (n, &value) in keep.iter().enumerate() {
                assert_eq!(store.tuple(&[Value::size(n)]), value);
            }
            assert_eq!(store.mark(), mark);
        }
    }

    #[test]
    fn floats_compare_as_numbers() {
        let mut store = Store::default();
        let (zero, minus, nan) = (store.float(0.0), store.float(-0.0), store.float(f64::NAN));
        assert!(store.eq(zero, minus));
        assert!(!store.eq(nan, nan));
        let pair = store.tuple(&[zero, nan]);
        assert!(!store.eq(pair, pair));
        let (a, b) = (store.tuple(&[zero]), store.tuple(&[minus]));
        assert!(a != b && store.eq(a, b));
    }

    #[test]
    fn deep_values_are_noticed() {
        let mut store = Store::default();
        let mut value = Value::NULL;
        for _ in 0..MAX_DEPTH {
            value = store.seq(&[value]);
        }
        assert!(!store.take_too_deep());
        for _ in 0..3 {
            value = store.seq(&[value]);
        }
        assert!(store.take_too_deep());
    }
}
