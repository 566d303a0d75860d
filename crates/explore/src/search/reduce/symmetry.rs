//! Machine symmetry: scalarsets (Ip and Dill 1996) for the machines that one creator made of one interface.
//!
//! Machines are referred to by pure names: a program compares them for equality and sends to them, and that is all. So two
//! configurations that differ by a renaming of machines behave alike, and exploring one of them is enough. The renamings
//! permute the machines that one creator made of one interface; the machines that these created move along, and so do
//! names in fields, registers, inboxes, pending effects and monitors. Collections are ordered by insertion, not by
//! name, so a renaming keeps their order.
//!
//! Needs: a program that makes no text of machine names, except in messages for people, since texts are ordered and sets of them
//! sorted (`allways_machine::usage` decides this). Establishes: a configuration is replaced by a renaming of it, as far as possible the same one for the
//! whole orbit. Preserves: verdicts, faults, lengths of runs; local states, monitor states and terminal configurations up to renaming.
//! Liveness under `weak` fairness is decided without it.
//!
//! How: machines outside of any family are fixed. A machine that may be permuted gets a key from what it is and from how others mention it, from
//! tables by local state, and siblings are sorted: first by where a fixed machine mentions them, then by key. So the local states of a
//! machine that keeps its peers in a sequence have them in one order only, however many orders there are, and steps
//! through the sequence permute nothing. Siblings with equal keys that no other permuted machine mentions are interchangeable. The remaining permutations are
//! tried if there are few; otherwise the order is kept, which is a renaming as well, though not always the same one. Local states are renamed through
//! a table of bounded size, and by the kernel's code on a miss. Keys are computed from content, so nothing depends on threads.

mod machine_garbage;

use std::rc::Rc;
use std::sync::Mutex;

use allways_base::Idx;
use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use crate::search::local::states::{LocalStateId, LocalStates, Slot, Vitality};
use crate::search::local::vector;
use crate::search::lock;
use crate::search::store::hash::mix;
use machine_garbage::Garbage;

/// More orders of interchangeable-looking siblings are not tried.
const MAX_ORDERS: usize = 24;
/// Rounds in which keys learn of each other.
const MAX_ROUNDS: usize = 3;
/// Names after a renaming fit into a word, six bits each, if there are no more.
const MAX_NAMES: u32 = 10;
/// Renamings that are remembered, as powers of two: those that fit, at first and at most.
const FIRST_BITS: u32 = 8;
const MAX_BITS: u32 = 17;
/// Those that do not, before all are forgotten.
const MAX_LONG: usize = 1 << 16;

/// What a local state looks like with names left out.
#[derive(Clone, Copy)]
struct Form {
    skeleton: u64,
    hash: u64,
    /// The slots of its owner and of those that it mentions.
    names: u64,
    /// For a shape: what is known of it by the names that stay.
    base: u64,
    shape: u32,
    /// For the shape: it mentions another permuted machine, or was created by one.
    is_linked: bool,
    owner: Slot,
    /// The interface, plus one; zero is not asked yet.
    kind: u32,
    /// Of its mentions, in `Symmetry::mentions`.
    first: u32,
    n: u32,
    /// For [`machine_garbage`].
    vitality: Vitality,
}

#[derive(Clone, Copy)]
struct Mention {
    slot: Slot,
    /// Of the first mention at that place.
    at: u32,
    /// Differs from place to place, but not within a collection without order.
    place: u64,
}

/// Where a slot is in the tree of machines.
#[derive(Clone, Copy)]
struct Family {
    parent: Slot,
    place: u32,
    rank: u64,
}

/// Which machines exist, and which may be permuted.
struct Shape {
    id: u32,
    /// Slots of machines, creators before those they made.
    order: Vec<Slot>,
    /// Siblings of one interface, two at least, by place; one group after the other.
    siblings: Vec<Slot>,
    /// Where the groups are in `siblings`.
    groups: Vec<(usize, usize)>,
    /// By slot: the outermost machine that moves it; `Slot::NONE` when none does.
    mover: Vec<Slot>,
    /// Permuted machines, with others or by themselves.
    moving: Vec<Slot>,
    /// Fixed machines, in an order that depends on paths alone; monitors last.
    staying: Vec<Slot>,
    /// No permuted machine has created another.
    is_flat: bool,
}

impl Shape {
    fn moves(&self, slot: Slot) -> bool {
        self.mover.get(slot.index()).is_some_and(|&mover| mover != Slot::NONE)
    }
}

/// A local state that was renamed: which, by which names, to what.
#[derive(Clone, Copy, Default)]
struct Renamed {
    names: u64,
    local: LocalStateId,
    to: LocalStateId,
}

/// The same with more names, which are in `Symmetry::arena`.
struct LongRenamed {
    hash: u64,
    local: LocalStateId,
    first: u32,
    to: LocalStateId,
}

/// Which sibling comes first: by fixed machines, by key, by place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Key {
    mentioned: u32,
    key: u64,
}

pub(crate) struct Symmetry<'a> {
    locals: &'a Mutex<LocalStates<'a>>,
    /// Machines made alike are permuted.
    is_sorting: bool,
    garbage: Option<Garbage<'a>>,
    n_monitors: usize,
    forms: Vec<Form>,
    mentions: Vec<Mention>,
    found: Vec<(Slot, u64)>,
    families: Vec<Family>,
    children: FxHashMap<(Slot, u32), Slot>,
    shapes: FxHashMap<Box<[u32]>, Rc<Shape>>,
    /// The kinds of the machines at hand, and their shape.
    kinds: Vec<u32>,
    shape: Rc<Shape>,
    /// By hash; a newer one replaces an older one.
    renamed: Vec<Renamed>,
    /// How many were replaced since the table grew.
    n_replaced: usize,
    long_renamed: HashTable<LongRenamed>,
    arena: Vec<u32>,
    /// By slot, of permuted machines.
    keys: Vec<Key>,
    sums: Vec<u64>,
    /// By slot: another permuted machine mentions it, or is mentioned by it.
    is_related: Vec<bool>,
    /// The siblings of the shape in order, and where that leaves a choice.
    sorted: Vec<Slot>,
    open: Vec<(usize, usize)>,
    place_of: Vec<u32>,
    /// By slot: its image; and the set of slots that are not fixed points.
    to: Vec<Slot>,
    moved: u64,
    names: Vec<u32>,
    out: Vec<LocalStateId>,
    best: Vec<LocalStateId>,
    best_to: Vec<Slot>,
    scratch: Vec<LocalStateId>,
    /// The last configuration was replaced by another.
    pub has_renamed: bool,
    has_moved: bool,
}

/// Slots as bits; the last is all that have none of their own.
fn bit(slot: Slot) -> u64 {
    1 << slot.as_u32().min(63)
}

const BEYOND: u64 = 1 << 63;

impl<'a> Symmetry<'a> {
    pub fn new(locals: &'a Mutex<LocalStates<'a>>) -> Self {
        Symmetry::with(locals, true, None)
    }

    /// Canonicalises by permuting machines made alike, if it `is_sorting`, after garbage was left out.
    fn with(locals: &'a Mutex<LocalStates<'a>>, is_sorting: bool, garbage: Option<Garbage<'a>>) -> Self {
        let n_monitors = lock(locals).n_monitors();
        let empty = Shape {
            id: 0,
            order: Vec::new(),
            siblings: Vec::new(),
            groups: Vec::new(),
            mover: Vec::new(),
            moving: Vec::new(),
            staying: Vec::new(),
            is_flat: true,
        };
        Symmetry {
            locals,
            is_sorting,
            garbage,
            n_monitors,
            forms: Vec::new(),
            mentions: Vec::new(),
            found: Vec::new(),
            families: Vec::new(),
            children: FxHashMap::default(),
            shapes: FxHashMap::default(),
            kinds: vec![u32::MAX],
            shape: Rc::new(empty),
            renamed: vec![Renamed::default(); 1 << FIRST_BITS],
            n_replaced: 0,
            long_renamed: HashTable::new(),
            arena: Vec::new(),
            keys: Vec::new(),
            sums: Vec::new(),
            is_related: Vec::new(),
            sorted: Vec::new(),
            open: Vec::new(),
            place_of: Vec::new(),
            to: Vec::new(),
            moved: 0,
            names: Vec::new(),
            out: Vec::new(),
            best: Vec::new(),
            best_to: Vec::new(),
            scratch: Vec::new(),
            has_renamed: false,
            has_moved: false,
        }
    }

    pub fn n_bytes(&self) -> usize {
        self.forms.capacity() * size_of::<Form>()
            + self.mentions.capacity() * size_of::<Mention>()
            + self.renamed.len() * size_of::<Renamed>()
            + self.long_renamed.capacity() * (size_of::<LongRenamed>() + 1)
            + self.arena.capacity() * 4
            + self.garbage.as_ref().map_or(0, Garbage::n_bytes)
    }

    /// How many machines are alike at most, in the last vector.
    pub fn largest_group(&self) -> usize {
        self.shape.groups.iter().map(|&(start, end)| end - start).max().unwrap_or(0)
    }

    /// What a configuration is replaced by.
    pub fn canonical(&mut self, vector: &[LocalStateId]) -> &[LocalStateId] {
        if self.collect(vector) {
            self.arrange_kept();
            return &self.out;
        }
        self.arrange(vector)
    }

    /// Permutes the machines of a configuration.
    fn arrange(&mut self, vector: &[LocalStateId]) -> &[LocalStateId] {
        self.has_moved = false;
        self.has_renamed = false;
        if self.is_sorting {
            self.look_at(vector);
        }
        if self.is_sorting && !self.shape.groups.is_empty() {
            let shape = self.shape.clone();
            let has_links = self.find_keys(vector, &shape);
            let n_orders = self.sort(&shape, has_links);
            let is_open = !self.open.is_empty() && n_orders <= MAX_ORDERS;
            if is_open || self.sorted != shape.siblings {
                self.has_moved = true;
                self.place(&shape);
                let fingerprint = self.apply(vector);
                if is_open {
                    self.try_orders(vector, &shape, fingerprint);
                }
                self.has_renamed = self.out[..vector.len()] != *vector;
                return &self.out;
            }
        }
        self.out.clear();
        self.out.extend_from_slice(vector);
        &self.out
    }

    /// Takes the order of those with equal keys that has the least fingerprint.
    fn try_orders(&mut self, vector: &[LocalStateId], shape: &Shape, first: u64) {
        let mut least = first;
        std::mem::swap(&mut self.best, &mut self.out);
        std::mem::swap(&mut self.best_to, &mut self.to);
        while self.next_order() {
            self.place(shape);
            let fingerprint = self.apply(vector);
            if fingerprint < least {
                least = fingerprint;
                std::mem::swap(&mut self.best, &mut self.out);
                std::mem::swap(&mut self.best_to, &mut self.to);
            }
        }
        std::mem::swap(&mut self.best, &mut self.out);
        std::mem::swap(&mut self.best_to, &mut self.to);
    }

    /// The siblings in order of their keys; in how many orders those come that have equal ones.
    fn sort(&mut self, shape: &Shape, has_links: bool) -> usize {
        self.sorted.clear();
        self.sorted.extend_from_slice(&shape.siblings);
        self.open.clear();
        let mut n_orders = 1usize;
        for &(first, end) in &shape.groups {
            // By insertion, since there are few, and mostly they are in order.
            for at in first + 1..end {
                let slot = self.sorted[at];
                let key = self.keys[slot.index()];
                let mut to = at;
                while to > first && self.keys[self.sorted[to - 1].index()] > key {
                    self.sorted[to] = self.sorted[to - 1];
                    to -= 1;
                }
                self.sorted[to] = slot;
            }
            if !has_links {
                continue;
            }
            let mut start = first;
            while start < end {
                let group = &self.sorted[start..end];
                let key = self.keys[group[0].index()];
                let same = group.iter().take_while(|&&slot| self.keys[slot.index()] == key).count();
                if same > 1 && group[..same].iter().any(|&slot| self.is_related[slot.index()]) {
                    self.open.push((start, start + same));
                    n_orders = (1..=same).fold(n_orders, usize::saturating_mul);
                }
                start += same;
            }
        }
        n_orders
    }

    /// The same for the successor of a vector: collects what differs from the vector itself, and returns what that adds to the
    /// fingerprint.
    pub fn successor(
        &mut self,
        from: &[LocalStateId],
        changes: &[(Slot, LocalStateId)],
        differences: &mut Vec<(Slot, LocalStateId)>,
    ) -> u64 {
        if !self.is_sorting && !self.may_leave_garbage(from, changes) {
            self.has_renamed = false;
            differences.clear();
            differences.extend_from_slice(changes);
            return changes.iter().fold(0u64, |delta, &(slot, after)| {
                let before = vector::local_at(from, slot);
                delta.wrapping_add(self.hash(after)).wrapping_sub(self.hash(before))
            });
        }
        let mut vector = std::mem::take(&mut self.scratch);
        vector::copy_changed(&mut vector, from, changes);
        self.canonical(&vector);
        let out = std::mem::take(&mut self.out);
        let delta = vector::differences(from, &out, differences, |local| {
            if !local.is_absent() {
                self.know(local);
            }
            self.hash(local)
        });
        self.out = out;
        self.scratch = vector;
        delta
    }

    /// Where each slot of the last configuration went; `Slot::NONE` where its machine left.
    pub fn permutation(&self) -> &[Slot] {
        match &self.garbage {
            Some(garbage) if garbage.n_collected > 0 => &garbage.composed,
            _ if self.has_moved => &self.to,
            _ => &[],
        }
    }

    /// What the last configuration was replaced by.
    pub fn last(&self) -> &[LocalStateId] {
        &self.out
    }

    fn hash(&self, local: LocalStateId) -> u64 {
        if local.is_absent() { 0 } else { self.forms[local.index()].hash }
    }

    /// Learns of new local states, and finds the shape.
    fn look_at(&mut self, vector: &[LocalStateId]) {
        let n_machines = vector.len() - self.n_monitors;
        let mut is_same = self.kinds.len() == n_machines;
        for (slot, &local) in vector.iter().enumerate() {
            let kind = if local.is_absent() { 0 } else { self.know(local).kind };
            if let Some(at) = slot.checked_sub(self.n_monitors) {
                is_same &= self.kinds.get(at) == Some(&kind);
            }
        }
        if !is_same {
            self.find_shape(vector);
        }
    }

    #[inline]
    fn know(&mut self, local: LocalStateId) -> &Form {
        if self.forms.get(local.index()).is_none_or(|form| form.kind == 0) {
            self.learn(local);
        }
        &self.forms[local.index()]
    }

    #[cold]
    fn learn(&mut self, local: LocalStateId) {
        let mut locals = lock(self.locals);
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        let (skeleton, owner, interface) = locals.form(local, &mut found);
        let first = self.mentions.len() as u32;
        let mut names = bit(owner);
        for &(slot, place) in &found {
            names |= bit(slot);
            let place = place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let known = &self.mentions[first as usize..];
            let at = known.iter().position(|other| other.place == place).unwrap_or(known.len()) as u32;
            self.mentions.push(Mention { slot, at, place });
        }
        let n = found.len() as u32;
        self.found = found;
        let unasked = Form {
            skeleton: 0,
            hash: 0,
            names: 0,
            base: 0,
            shape: 0,
            is_linked: false,
            owner: Slot::default(),
            kind: 0,
            first: 0,
            n: 0,
            vitality: Vitality::default(),
        };
        if self.forms.len() <= local.index() {
            self.forms.resize(locals.n_local_states() + 1, unasked);
        }
        let hash = locals.hash(local);
        let kind = interface.as_u32() + 1;
        let vitality = locals.vitality(local);
        self.forms[local.index()] =
            Form { skeleton, hash, names, owner, kind, first, n, vitality, ..unasked };
        self.meet(&mut locals);
    }

    #[cold]
    fn find_shape(&mut self, vector: &[LocalStateId]) {
        let kind = |local: LocalStateId| if local.is_absent() { 0 } else { self.forms[local.index()].kind };
        let machines = &vector[self.n_monitors..];
        self.kinds = machines.iter().map(|&local| kind(local)).collect();
        if let Some(shape) = self.shapes.get(&*self.kinds) {
            self.shape = shape.clone();
            return;
        }
        self.shape = Rc::new(self.new_shape());
        self.shapes.insert(self.kinds.clone().into(), self.shape.clone());
    }

    fn new_shape(&self) -> Shape {
        let first = self.n_monitors;
        let present = self.kinds.iter().enumerate().filter(|&(_, &kind)| kind != 0);
        let slots: Vec<Slot> = present.map(|(at, _)| Slot::new(first + at)).collect();
        let depth = |mut slot: Slot| {
            let mut depth = 0;
            while self.families[slot.index()].parent != Slot::NONE {
                slot = self.families[slot.index()].parent;
                depth += 1;
            }
            depth
        };
        let mut order = slots.clone();
        order.sort_by_key(|&slot| (depth(slot), slot));
        let mut by_origin: FxHashMap<(Slot, u32), Vec<Slot>> = FxHashMap::default();
        for &slot in &order {
            let parent = self.families[slot.index()].parent;
            if parent != Slot::NONE {
                let kind = self.kinds[slot.index() - first];
                by_origin.entry((parent, kind)).or_default().push(slot);
            }
        }
        let mut sets: Vec<Vec<Slot>> = by_origin.into_values().filter(|group| group.len() > 1).collect();
        for group in &mut sets {
            group.sort_by_key(|&slot| self.families[slot.index()].place);
        }
        sets.sort_by_key(|group| (depth(group[0]), self.families[group[0].index()].rank));
        let (mut siblings, mut groups) = (Vec::new(), Vec::new());
        for set in sets {
            groups.push((siblings.len(), siblings.len() + set.len()));
            siblings.extend(set);
        }
        let n_slots = self.families.len().max(first + self.kinds.len());
        let mut mover = vec![Slot::NONE; n_slots];
        let mut is_flat = true;
        for &slot in &order {
            let parent = self.families[slot.index()].parent;
            mover[slot.index()] = match parent {
                Slot::NONE => Slot::NONE,
                _ if mover[parent.index()] != Slot::NONE => {
                    is_flat = false;
                    mover[parent.index()]
                }
                _ if siblings.contains(&slot) => slot,
                _ => Slot::NONE,
            };
        }
        let (moving, mut staying): (Vec<Slot>, Vec<Slot>) =
            order.iter().partition(|&&slot| mover[slot.index()] != Slot::NONE);
        staying.sort_by_key(|&slot| self.families[slot.index()].rank);
        staying.extend((0..first).map(Slot::new));
        let id = self.shapes.len() as u32 + 1;
        Shape { id, order, siblings, groups, mover, moving, staying, is_flat }
    }

    /// What a local state is for a shape, by the names that stay.
    #[inline]
    fn form(&mut self, local: LocalStateId, shape: &Shape) -> Form {
        let form = self.forms[local.index()];
        if form.shape == shape.id { form } else { self.find_form(local, shape) }
    }

    #[cold]
    fn find_form(&mut self, local: LocalStateId, shape: &Shape) -> Form {
        let mut form = self.forms[local.index()];
        let parent = self.families[form.owner.index()].parent;
        form.shape = shape.id;
        form.is_linked = parent != Slot::NONE && shape.moves(parent);
        form.base = mix(form.skeleton);
        for mention in &self.mentions[form.first as usize..(form.first + form.n) as usize] {
            if mention.slot == form.owner {
                form.base = form.base.wrapping_add(mix(mention.place ^ 1));
            } else if shape.moves(mention.slot) {
                form.is_linked = true;
            } else {
                let name = mix(self.families[mention.slot.index()].rank);
                form.base = form.base.wrapping_add(mix(name ^ mention.place ^ 2));
            }
        }
        self.forms[local.index()] = form;
        form
    }

    /// Keys of all machines that move: what they are, and how they and others mention each other. Whether any of them mentions
    /// another.
    fn find_keys(&mut self, vector: &[LocalStateId], shape: &Shape) -> bool {
        let n = self.families.len();
        if self.keys.len() < n {
            self.keys.resize(n, Key::default());
            self.sums.resize(n, 0);
            self.is_related.resize(n, false);
        }
        let mut has_links = false;
        for &slot in &shape.moving {
            let form = self.form(vector[slot.index()], shape);
            has_links |= form.is_linked;
            self.keys[slot.index()].mentioned = u32::MAX;
            self.sums[slot.index()] = form.base;
        }
        for (number, &owner) in shape.staying.iter().enumerate() {
            let local = vector[owner.index()];
            if local.is_absent() {
                continue;
            }
            let form = self.form(local, shape);
            if !form.is_linked {
                continue;
            }
            let name = mix(self.families[owner.index()].rank);
            for mention in &self.mentions[form.first as usize..(form.first + form.n) as usize] {
                let who = mention.slot.index();
                if shape.moves(mention.slot) {
                    self.sums[who] = self.sums[who].wrapping_add(mix(name ^ mention.place));
                    let mentioned = &mut self.keys[who].mentioned;
                    *mentioned = (*mentioned).min((number as u32) << 16 | mention.at.min(0xffff));
                }
            }
        }
        for &slot in &shape.moving {
            self.keys[slot.index()].key = mix(self.sums[slot.index()]);
        }
        if has_links {
            self.refine(vector, shape);
        }
        has_links
    }

    /// Refines the keys of permuted machines by each other.
    fn refine(&mut self, vector: &[LocalStateId], shape: &Shape) {
        for &slot in &shape.moving {
            self.is_related[slot.index()] = false;
        }
        for round in 0..MAX_ROUNDS {
            for &slot in &shape.moving {
                self.sums[slot.index()] = 0;
            }
            for &owner in &shape.moving {
                let form = self.forms[vector[owner.index()].index()];
                if !form.is_linked {
                    continue;
                }
                let me = owner.index();
                for mention in &self.mentions[form.first as usize..(form.first + form.n) as usize] {
                    if mention.slot == owner || !shape.moves(mention.slot) {
                        continue;
                    }
                    let who = mention.slot.index();
                    let by = mix(self.keys[me].key ^ mention.place);
                    let of = mix(self.keys[who].key ^ mention.place ^ 2);
                    self.sums[who] = self.sums[who].wrapping_add(by);
                    self.sums[me] = self.sums[me].wrapping_add(of);
                    let (a, b) = (shape.mover[me], shape.mover[who]);
                    if round == 0 && a != b {
                        for slot in [me, who, a.index(), b.index()] {
                            self.is_related[slot] = true;
                        }
                    }
                }
                let parent = self.families[me].parent;
                if parent != Slot::NONE && shape.moves(parent) {
                    let parent = parent.index();
                    let (up, down) = (mix(self.keys[me].key ^ 3), mix(self.keys[parent].key ^ 4));
                    self.sums[parent] = self.sums[parent].wrapping_add(up);
                    self.sums[me] = self.sums[me].wrapping_add(down);
                }
            }
            for &slot in &shape.moving {
                let key = &mut self.keys[slot.index()].key;
                *key = mix(key.wrapping_add(self.sums[slot.index()]));
            }
            let is_tied = |&(start, end): &(usize, usize)| {
                let group = &shape.siblings[start..end];
                group.iter().enumerate().any(|(at, &a)| {
                    self.is_related[a.index()]
                        && group[..at].iter().any(|&b| self.keys[a.index()] == self.keys[b.index()])
                })
            };
            if !shape.groups.iter().any(is_tied) {
                return;
            }
        }
    }

    /// The next order of those that have equal keys; the first again, and false, after the last.
    fn next_order(&mut self) -> bool {
        for &(start, end) in &self.open {
            let part = &mut self.sorted[start..end];
            let place = |slot: Slot| self.families[slot.index()].place;
            match (1..part.len()).rev().find(|&at| place(part[at - 1]) < place(part[at])) {
                Some(at) => {
                    let pivot = place(part[at - 1]);
                    let next = (at..part.len()).rev().find(|&other| place(part[other]) > pivot);
                    part.swap(at - 1, next.unwrap_or(at));
                    part[at..].reverse();
                    return true;
                }
                None => part.reverse(),
            }
        }
        false
    }

    /// The permutation that puts the siblings in this order.
    fn place(&mut self, shape: &Shape) {
        self.to.clear();
        self.to.extend((0..self.families.len()).map(Slot::new));
        if shape.is_flat {
            for (&here, &slot) in shape.siblings.iter().zip(&self.sorted) {
                self.to[slot.index()] = here;
            }
        } else {
            self.place_families(shape);
        }
        self.find_moved();
    }

    /// The same where permuted machines have created others.
    fn place_families(&mut self, shape: &Shape) {
        self.place_of.clear();
        self.place_of.extend(self.families.iter().map(|family| family.place));
        for (&here, &slot) in shape.siblings.iter().zip(&self.sorted) {
            self.place_of[slot.index()] = self.families[here.index()].place;
        }
        for &slot in &shape.order {
            let family = self.families[slot.index()];
            if family.parent == Slot::NONE {
                continue;
            }
            let origin = (self.to[family.parent.index()], self.place_of[slot.index()]);
            let to = match self.children.get(&origin) {
                Some(&to) => to,
                None => self.new_slot(origin),
            };
            self.to[slot.index()] = to;
        }
    }

    fn find_moved(&mut self) {
        let goes = self.to.iter().enumerate().filter(|&(slot, &to)| Slot::new(slot) != to);
        self.moved = goes.fold(0, |moved, (slot, _)| moved | bit(Slot::new(slot)));
    }

    #[cold]
    fn new_slot(&mut self, (parent, place): (Slot, u32)) -> Slot {
        let mut locals = lock(self.locals);
        let slot = locals.child_slot(parent, place);
        self.meet(&mut locals);
        let n = self.to.len();
        self.to.extend((n..self.families.len()).map(Slot::new));
        slot
    }

    /// Takes note of slots that are new.
    fn meet(&mut self, locals: &mut LocalStates<'_>) {
        for slot in (self.families.len()..locals.n_slots()).map(Slot::new) {
            let rank = locals.rank(slot);
            let (parent, place) = locals.origin(slot).unwrap_or((Slot::NONE, 0));
            self.families.push(Family { parent, place, rank });
            self.children.insert((parent, place), slot);
        }
    }

    /// Renames everything as `to` says, into `out`; the fingerprint.
    fn apply(&mut self, vector: &[LocalStateId]) -> u64 {
        self.out.clear();
        self.out.resize(vector.len(), LocalStateId::ABSENT);
        let mut fingerprint = 0u64;
        for (slot, &local) in vector.iter().enumerate().filter(|(_, local)| !local.is_absent()) {
            let to = self.to[slot].index();
            let local = self.rename(local);
            if self.out.len() <= to {
                self.out.resize(to + 1, LocalStateId::ABSENT);
            }
            self.out[to] = local;
            fingerprint = fingerprint.wrapping_add(self.hash(local));
        }
        fingerprint
    }

    #[inline]
    fn rename(&mut self, local: LocalStateId) -> LocalStateId {
        let form = self.forms[local.index()];
        if form.names & self.moved == 0 {
            return local;
        }
        // A machine that is fixed now but may be permuted later has its name noted, too: which bits there are depends on the local state alone.
        if form.names & BEYOND != 0 || form.names.count_ones() > MAX_NAMES {
            return self.rename_long(local, form);
        }
        let (mut names, mut left) = (0u64, form.names);
        while left != 0 {
            let to = self.to[left.trailing_zeros() as usize];
            if to.as_u32() >= 63 {
                return self.rename_long(local, form);
            }
            names = names << 6 | u64::from(to.as_u32());
            left &= left - 1;
        }
        let known = self.renamed[self.place_of_renamed(local, names)];
        if known.local == local && known.names == names {
            return known.to;
        }
        let to = self.ask_rename(local, form.owner);
        self.remember(Renamed { names, local, to });
        to
    }

    #[inline]
    fn place_of_renamed(&self, local: LocalStateId, names: u64) -> usize {
        mix(names ^ u64::from(local.as_u32()) << 32) as usize & (self.renamed.len() - 1)
    }

    /// Takes note of a renaming, in a larger table if the old one is too small, unless that is as large as it gets.
    #[cold]
    fn remember(&mut self, renamed: Renamed) {
        let at = self.place_of_renamed(renamed.local, renamed.names);
        self.n_replaced += usize::from(self.renamed[at].local != LocalStateId::ABSENT);
        self.renamed[at] = renamed;
        let n = self.renamed.len();
        if self.n_replaced <= n / 2 || n >= 1 << MAX_BITS {
            return;
        }
        self.n_replaced = 0;
        let old = std::mem::replace(&mut self.renamed, vec![Renamed::default(); 2 * n]);
        for renamed in old.into_iter().filter(|renamed| !renamed.local.is_absent()) {
            let at = self.place_of_renamed(renamed.local, renamed.names);
            self.renamed[at] = renamed;
        }
    }

    /// Renames a local state with many names.
    fn rename_long(&mut self, local: LocalStateId, form: Form) -> LocalStateId {
        let mentions = &self.mentions[form.first as usize..(form.first + form.n) as usize];
        let owner = self.to[form.owner.index()];
        if owner == form.owner && mentions.iter().all(|mention| self.to[mention.slot.index()] == mention.slot)
        {
            return local;
        }
        self.names.clear();
        self.names.push(owner.as_u32());
        self.names.extend(mentions.iter().map(|mention| self.to[mention.slot.index()].as_u32()));
        let hash = self
            .names
            .iter()
            .fold(u64::from(local.as_u32()), |hash, &name| mix(hash << 8 ^ hash >> 40 ^ u64::from(name)));
        let n = self.names.len();
        let known = self.long_renamed.find(hash, |renamed| {
            renamed.hash == hash
                && renamed.local == local
                && self.arena[renamed.first as usize..renamed.first as usize + n] == self.names[..]
        });
        if let Some(renamed) = known {
            return renamed.to;
        }
        let to = self.ask_rename(local, form.owner);
        if self.long_renamed.len() >= MAX_LONG {
            self.long_renamed.clear();
            self.arena.clear();
        }
        let first = self.arena.len() as u32;
        self.arena.extend_from_slice(&self.names);
        let renamed = LongRenamed { hash, local, first, to };
        self.long_renamed.insert_unique(hash, renamed, |renamed| renamed.hash);
        to
    }

    #[cold]
    fn ask_rename(&mut self, local: LocalStateId, owner: Slot) -> LocalStateId {
        let to = lock(self.locals).rename(local, self.to[owner.index()], &self.to, None);
        self.know(to);
        to
    }
}
