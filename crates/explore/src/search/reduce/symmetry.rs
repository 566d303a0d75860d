//! Machine symmetry.
//!
//! Names of machines are pure names: a program compares them for equality and sends to them, and that is all. So two
//! configurations that differ by a renaming of machines behave alike, and one of them is enough. The renamings
//! looked at permute the machines that one creator made of one interface; what these made moves along, and so do
//! names in fields, registers, inboxes, pending effects and monitors. Collections are ordered by insertion, not by
//! names, so a renaming keeps their order.
//!
//! Needs: a program that makes no text of machines, other than for messages, since texts have an order and sets in them
//! are sorted (`allways_machine::usage` says so); cells that tell which machines they mention. Establishes: a
//! configuration is replaced by one that is a renaming of it, as far as possible the same for all renamings of it.
//! Preserves: verdicts, faults, lengths of runs, and local states, monitor states and ends up to renaming; liveness under
//! weak fairness is decided without it.
//!
//! How: each machine gets a key of what it is and of how others mention it, from tables by cell, and siblings are sorted
//! by key. Siblings with equal keys that no other such machine mentions are interchangeable. The rest is tried out, if
//! there are few ways; else they stay in order, which is a renaming too, if not always the same. Cells are renamed by
//! a table, by the kernel's code when it has no entry. Keys come from content, so nothing depends on threads.

use std::rc::Rc;
use std::sync::Mutex;

use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use super::super::cells::{CellId, Cells};
use super::super::hash::mix;
use super::super::lock;

/// More orders of interchangeable-looking siblings are not tried.
const MAX_ORDERS: usize = 24;
/// Rounds in which keys learn of each other.
const MAX_ROUNDS: usize = 3;
pub(in super::super) const NOBODY: u32 = u32::MAX;

/// What a cell looks like with names left out.
#[derive(Clone, Copy)]
struct Form {
    skeleton: u64,
    hash: u64,
    owner: u32,
    /// The interface, plus one; zero is not asked yet.
    kind: u32,
    /// Of its mentions, in `Symmetry::mentions`.
    first: u32,
    n: u32,
}

/// Where a slot is in the tree of machines.
#[derive(Clone, Copy)]
struct Family {
    parent: u32,
    place: u32,
    rank: u64,
}

/// Which machines exist, and who may change places with whom.
struct Shape {
    /// Slots of machines, creators before those they made.
    order: Vec<u32>,
    /// Siblings of one interface, two at least, by place.
    groups: Vec<Vec<u32>>,
    /// By slot: the outermost machine that moves it; `NOBODY` when none does.
    mover: Vec<u32>,
}

/// A cell that was renamed: which, to what.
struct Renamed {
    hash: u64,
    cell: CellId,
    /// The owner and the mentions after, in `Symmetry::arena`.
    first: u32,
    to: CellId,
}

pub(in super::super) struct Symmetry<'a> {
    cells: &'a Mutex<Cells<'a>>,
    n_monitors: usize,
    forms: Vec<Form>,
    /// Slot and place.
    mentions: Vec<(u32, u64)>,
    families: Vec<Family>,
    children: FxHashMap<(u32, u32), u32>,
    shapes: FxHashMap<Box<[u32]>, Rc<Shape>>,
    /// The kinds of the machines at hand, and their shape.
    kinds: Vec<u32>,
    shape: Rc<Shape>,
    renamed: HashTable<Renamed>,
    arena: Vec<u32>,
    keys: Vec<u64>,
    sums: Vec<u64>,
    /// By slot: somebody else who moves mentions it, or is mentioned by it.
    is_related: Vec<bool>,
    /// By slot: where it goes.
    to: Vec<u32>,
    names: Vec<u32>,
    out: Vec<CellId>,
    best: Vec<CellId>,
    best_to: Vec<u32>,
    scratch: Vec<CellId>,
    /// The last configuration was replaced by another.
    pub has_renamed: bool,
    has_moved: bool,
}

impl<'a> Symmetry<'a> {
    pub fn new(cells: &'a Mutex<Cells<'a>>) -> Self {
        let n_monitors = lock(cells).n_monitors();
        Symmetry {
            cells,
            n_monitors,
            forms: Vec::new(),
            mentions: Vec::new(),
            families: Vec::new(),
            children: FxHashMap::default(),
            shapes: FxHashMap::default(),
            kinds: vec![NOBODY],
            shape: Rc::new(Shape { order: Vec::new(), groups: Vec::new(), mover: Vec::new() }),
            renamed: HashTable::new(),
            arena: Vec::new(),
            keys: Vec::new(),
            sums: Vec::new(),
            is_related: Vec::new(),
            to: Vec::new(),
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
            + self.mentions.capacity() * 16
            + self.renamed.capacity() * (size_of::<Renamed>() + 1)
            + self.arena.capacity() * 4
    }

    /// How many machines are alike at most, in the vector that was looked at last.
    pub fn largest_group(&self) -> usize {
        self.shape.groups.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// What a configuration is replaced by.
    pub fn canonical(&mut self, vector: &[CellId]) -> &[CellId] {
        self.learn_all(vector);
        self.find_shape(vector);
        self.has_moved = !self.shape.groups.is_empty();
        if self.shape.groups.is_empty() {
            self.out.clear();
            self.out.extend_from_slice(vector);
            self.has_renamed = false;
            return &self.out;
        }
        let shape = self.shape.clone();
        self.find_keys(vector, &shape);
        // Each group in order of keys; and where that leaves a choice: group, from, to.
        let mut orders: Vec<Vec<u32>> = shape.groups.clone();
        let mut open: Vec<(usize, usize, usize)> = Vec::new();
        let mut n_orders = 1usize;
        for (number, group) in orders.iter_mut().enumerate() {
            group.sort_by_key(|&slot| (self.keys[slot as usize], self.families[slot as usize].place));
            let mut start = 0;
            while start < group.len() {
                let key = self.keys[group[start] as usize];
                let same = group[start..].iter().take_while(|&&slot| self.keys[slot as usize] == key).count();
                let end = start + same;
                if same > 1 && group[start..end].iter().any(|&slot| self.is_related[slot as usize]) {
                    open.push((number, start, end));
                    n_orders = (1..=same).fold(n_orders, usize::saturating_mul);
                }
                start = end;
            }
        }
        self.place(&shape, &orders);
        let fingerprint = self.apply(vector);
        if !open.is_empty() && n_orders <= MAX_ORDERS {
            let mut least = fingerprint;
            std::mem::swap(&mut self.best, &mut self.out);
            std::mem::swap(&mut self.best_to, &mut self.to);
            while self.next_order(&mut orders, &open) {
                self.place(&shape, &orders);
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
        self.has_renamed = self.out[..vector.len()] != *vector;
        &self.out
    }

    /// The same for the successor of a vector: tells what differs from the vector itself, and what that adds to the
    /// fingerprint.
    pub fn successor(
        &mut self,
        from: &[CellId],
        changes: &[(u32, CellId)],
        differences: &mut Vec<(u32, CellId)>,
    ) -> u64 {
        let mut vector = std::mem::take(&mut self.scratch);
        vector.clear();
        vector.extend_from_slice(from);
        for &(slot, cell) in changes {
            if vector.len() <= slot as usize {
                vector.resize(slot as usize + 1, 0);
            }
            vector[slot as usize] = cell;
        }
        self.canonical(&vector);
        differences.clear();
        let mut delta = 0u64;
        for slot in 0..self.out.len().max(from.len()) {
            let before = from.get(slot).copied().unwrap_or(0);
            let after = self.out.get(slot).copied().unwrap_or(0);
            if before == after {
                continue;
            }
            differences.push((slot as u32, after));
            delta = delta.wrapping_add(self.hash(after));
            if before != 0 {
                if self.forms.get(before as usize).is_none_or(|form| form.kind == 0) {
                    self.learn(before);
                }
                delta = delta.wrapping_sub(self.hash(before));
            }
        }
        self.scratch = vector;
        delta
    }

    /// Where each slot of the last configuration went.
    pub fn permutation(&self) -> &[u32] {
        if self.has_moved { &self.to } else { &[] }
    }

    /// What the last configuration was replaced by.
    pub fn last(&self) -> &[CellId] {
        &self.out
    }

    /// A configuration with the machines renamed as `to` says; `to` is completed for machines that have no name yet, which
    /// go by their creators.
    pub fn renamed(&mut self, vector: &[CellId], to: &mut Vec<u32>) -> Vec<CellId> {
        self.learn_all(vector);
        self.find_shape(vector);
        let shape = self.shape.clone();
        to.resize(self.families.len(), NOBODY);
        for &slot in &shape.order {
            let family = self.families[slot as usize];
            if to[slot as usize] == NOBODY {
                to[slot as usize] = match family.parent {
                    NOBODY => slot,
                    parent => {
                        let origin = (to[parent as usize], family.place);
                        let known = self.children.get(&origin).copied();
                        known.unwrap_or_else(|| self.new_slot(origin))
                    }
                };
            }
        }
        self.to.clear();
        let names = to.iter().enumerate();
        self.to.extend(names.map(|(slot, &name)| if name == NOBODY { slot as u32 } else { name }));
        self.to.extend(self.to.len() as u32..self.families.len() as u32);
        self.apply(vector);
        self.out.clone()
    }

    fn hash(&self, cell: CellId) -> u64 {
        if cell == 0 { 0 } else { self.forms[cell as usize].hash }
    }

    fn learn_all(&mut self, vector: &[CellId]) {
        for &cell in vector {
            let is_known = self.forms.get(cell as usize).is_some_and(|form| form.kind != 0);
            if cell != 0 && !is_known {
                self.learn(cell);
            }
        }
    }

    #[cold]
    fn learn(&mut self, cell: CellId) {
        let mut cells = lock(self.cells);
        let first = self.mentions.len() as u32;
        let (skeleton, owner, interface) = cells.form(cell, &mut self.mentions);
        let n = self.mentions.len() as u32 - first;
        let unasked = Form { skeleton: 0, hash: 0, owner: 0, kind: 0, first: 0, n: 0 };
        if self.forms.len() <= cell as usize {
            self.forms.resize(cells.n_cells() + 1, unasked);
        }
        let hash = cells.hash(cell);
        self.forms[cell as usize] = Form { skeleton, hash, owner, kind: interface + 1, first, n };
        self.meet(&mut cells);
    }

    fn find_shape(&mut self, vector: &[CellId]) {
        let kind = |cell: CellId| if cell == 0 { 0 } else { self.forms[cell as usize].kind };
        let machines = &vector[self.n_monitors..];
        let is_same = self.kinds.len() == machines.len()
            && self.kinds.iter().zip(machines).all(|(&known, &cell)| known == kind(cell));
        if is_same {
            return;
        }
        self.kinds = machines.iter().map(|&cell| kind(cell)).collect();
        if let Some(shape) = self.shapes.get(&*self.kinds) {
            self.shape = shape.clone();
            return;
        }
        self.shape = Rc::new(self.new_shape());
        self.shapes.insert(self.kinds.clone().into(), self.shape.clone());
    }

    fn new_shape(&self) -> Shape {
        let first = self.n_monitors as u32;
        let present = |slot: u32| {
            slot >= first && self.kinds.get((slot - first) as usize).is_some_and(|&kind| kind != 0)
        };
        let slots: Vec<u32> =
            (first..first + self.kinds.len() as u32).filter(|&slot| present(slot)).collect();
        let depth = |mut slot: u32| {
            let mut depth = 0;
            while self.families[slot as usize].parent != NOBODY {
                slot = self.families[slot as usize].parent;
                depth += 1;
            }
            depth
        };
        let mut order = slots.clone();
        order.sort_by_key(|&slot| (depth(slot), slot));
        let mut by_origin: FxHashMap<(u32, u32), Vec<u32>> = FxHashMap::default();
        for &slot in &order {
            let parent = self.families[slot as usize].parent;
            if parent != NOBODY {
                let kind = self.kinds[(slot - first) as usize];
                by_origin.entry((parent, kind)).or_default().push(slot);
            }
        }
        let mut groups: Vec<Vec<u32>> = by_origin.into_values().filter(|group| group.len() > 1).collect();
        for group in &mut groups {
            group.sort_by_key(|&slot| self.families[slot as usize].place);
        }
        groups.sort_by_key(|group| (depth(group[0]), self.families[group[0] as usize].rank));
        let n_slots = self.families.len().max(first as usize + self.kinds.len());
        let mut mover = vec![NOBODY; n_slots];
        for &slot in &order {
            let parent = self.families[slot as usize].parent;
            mover[slot as usize] = match parent {
                NOBODY => NOBODY,
                _ if mover[parent as usize] != NOBODY => mover[parent as usize],
                _ if groups.iter().any(|group| group.contains(&slot)) => slot,
                _ => NOBODY,
            };
        }
        Shape { order, groups, mover }
    }

    /// Keys of all machines: what they are, and how they and others mention each other.
    fn find_keys(&mut self, vector: &[CellId], shape: &Shape) {
        let n = self.families.len();
        self.keys.clear();
        self.keys.resize(n, 0);
        self.is_related.clear();
        self.is_related.resize(n, false);
        for (slot, &cell) in vector.iter().enumerate().filter(|(_, cell)| **cell != 0) {
            let skeleton = self.forms[cell as usize].skeleton;
            // Who does not move is known by name.
            let is_fixed = shape.mover[slot] == NOBODY;
            let name = if is_fixed { self.families[slot].rank } else { 0 };
            self.keys[slot] = mix(skeleton ^ name);
        }
        for round in 0..MAX_ROUNDS {
            self.sums.clear();
            self.sums.resize(n, 0);
            for (owner, &cell) in vector.iter().enumerate().filter(|(_, cell)| **cell != 0) {
                let form = self.forms[cell as usize];
                for &(who, place) in &self.mentions[form.first as usize..(form.first + form.n) as usize] {
                    let who = who as usize;
                    let place = place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    if who == owner {
                        self.sums[owner] = self.sums[owner].wrapping_add(mix(place ^ 1));
                        continue;
                    }
                    let (by, of) = (mix(self.keys[owner] ^ place), mix(self.keys[who] ^ place ^ 2));
                    self.sums[who] = self.sums[who].wrapping_add(by);
                    self.sums[owner] = self.sums[owner].wrapping_add(of);
                    let (a, b) = (shape.mover[owner], shape.mover.get(who).copied().unwrap_or(NOBODY));
                    if round == 0 && a != NOBODY && b != NOBODY && a != b {
                        for slot in [owner, who, a as usize, b as usize] {
                            self.is_related[slot] = true;
                        }
                    }
                }
                let parent = self.families[owner].parent;
                if parent != NOBODY && shape.mover[parent as usize] != NOBODY {
                    let parent = parent as usize;
                    let (up, down) = (mix(self.keys[owner] ^ 3), mix(self.keys[parent] ^ 4));
                    self.sums[parent] = self.sums[parent].wrapping_add(up);
                    self.sums[owner] = self.sums[owner].wrapping_add(down);
                }
            }
            for &slot in &shape.order {
                if shape.mover[slot as usize] != NOBODY {
                    let key = &mut self.keys[slot as usize];
                    *key = mix(key.wrapping_add(self.sums[slot as usize]));
                }
            }
            let is_tied = |group: &Vec<u32>| {
                group.iter().enumerate().any(|(at, &a)| {
                    self.is_related[a as usize]
                        && group[..at].iter().any(|&b| self.keys[a as usize] == self.keys[b as usize])
                })
            };
            if !shape.groups.iter().any(is_tied) {
                return;
            }
        }
    }

    /// The next order of those that have equal keys; the first again, and false, after the last.
    fn next_order(&self, orders: &mut [Vec<u32>], open: &[(usize, usize, usize)]) -> bool {
        for &(group, start, end) in open {
            let part = &mut orders[group][start..end];
            let place = |slot: u32| self.families[slot as usize].place;
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

    /// Says where everybody goes when the groups are in this order.
    fn place(&mut self, shape: &Shape, orders: &[Vec<u32>]) {
        let mut place_of: Vec<u32> = self.families.iter().map(|family| family.place).collect();
        for (group, order) in shape.groups.iter().zip(orders) {
            for (&here, &slot) in group.iter().zip(order) {
                place_of[slot as usize] = self.families[here as usize].place;
            }
        }
        self.to.clear();
        self.to.extend(0..self.families.len() as u32);
        for &slot in &shape.order {
            let family = self.families[slot as usize];
            if family.parent == NOBODY {
                continue;
            }
            let origin = (self.to[family.parent as usize], place_of[slot as usize]);
            let to = match self.children.get(&origin) {
                Some(&to) => to,
                None => self.new_slot(origin),
            };
            self.to[slot as usize] = to;
        }
    }

    #[cold]
    fn new_slot(&mut self, (parent, place): (u32, u32)) -> u32 {
        let mut cells = lock(self.cells);
        let slot = cells.child_slot(parent, place);
        self.meet(&mut cells);
        let n = self.to.len() as u32;
        self.to.extend(n..self.families.len() as u32);
        slot
    }

    /// Takes note of slots that are new.
    fn meet(&mut self, cells: &mut Cells<'_>) {
        for slot in self.families.len() as u32..cells.n_slots() as u32 {
            let rank = cells.rank(slot);
            let (parent, place) = cells.origin(slot).unwrap_or((NOBODY, 0));
            self.families.push(Family { parent, place, rank });
            self.children.insert((parent, place), slot);
        }
    }

    /// Renames everything as `to` says, into `out`; the fingerprint.
    fn apply(&mut self, vector: &[CellId]) -> u64 {
        self.out.clear();
        self.out.resize(vector.len(), 0);
        let mut fingerprint = 0u64;
        for (slot, &cell) in vector.iter().enumerate().filter(|(_, cell)| **cell != 0) {
            let to = self.to[slot] as usize;
            let cell = self.rename(cell);
            if self.out.len() <= to {
                self.out.resize(to + 1, 0);
            }
            self.out[to] = cell;
            fingerprint = fingerprint.wrapping_add(self.hash(cell));
        }
        fingerprint
    }

    fn rename(&mut self, cell: CellId) -> CellId {
        let form = self.forms[cell as usize];
        let mentions = &self.mentions[form.first as usize..(form.first + form.n) as usize];
        let owner = self.to[form.owner as usize];
        if owner == form.owner && mentions.iter().all(|&(slot, _)| self.to[slot as usize] == slot) {
            return cell;
        }
        self.names.clear();
        self.names.push(owner);
        self.names.extend(mentions.iter().map(|&(slot, _)| self.to[slot as usize]));
        let hash = self
            .names
            .iter()
            .fold(u64::from(cell), |hash, &name| mix(hash << 8 ^ hash >> 40 ^ u64::from(name)));
        let n = self.names.len();
        let known = self.renamed.find(hash, |renamed| {
            renamed.hash == hash
                && renamed.cell == cell
                && self.arena[renamed.first as usize..renamed.first as usize + n] == self.names[..]
        });
        match known {
            Some(renamed) => renamed.to,
            None => self.ask_rename(cell, hash),
        }
    }

    #[cold]
    fn ask_rename(&mut self, cell: CellId, hash: u64) -> CellId {
        let to = lock(self.cells).rename(cell, self.names[0], &self.to);
        let first = self.arena.len() as u32;
        self.arena.extend_from_slice(&self.names);
        self.renamed.insert_unique(hash, Renamed { hash, cell, first, to }, |renamed| renamed.hash);
        if self.forms.get(to as usize).is_none_or(|form| form.kind == 0) {
            self.learn(to);
        }
        to
    }
}
