//! Value summaries: values that depend on guards, in canonical form.
//!
//! A summary stands for one value under every assignment of its *domain*, as in section 4.3 of L. Pick, A. Desai, A. Gupta,
//! *Psym: Efficient Symbolic Exploration of Distributed Systems*, 2023. It has a *spine* and *parts*. The spine is a list of
//! guarded values that are *hollow*: a tuple, sequence or map with null for each of its elements. The parts are the summaries of these
//! elements, by position or by map key. So
//! - a number, bool, event, machine reference, string, float or null is a spine of itself;
//! - a tuple is a part for each field; under `any`, several shapes and other classes may stand in one spine;
//! - a sequence is its size (a hollow sequence says no more) and a part for each position;
//! - a map is its key set (a hollow map, with the storage order that programs see in `foreach`) and a part for each key;
//! - a set is a spine of itself, since its storage order is visible and its elements are never changed.
//!
//! Differences from the paper: it has one list for sizes and one for elements, as here, but sorts sets; and it has no `any`.
//!
//! Invariants (its figure 4), asserted in debug builds: guards of a spine are satisfiable and disjoint, its values differ and are
//! sorted, and the domain of a part is exactly the guard under which the spine has that part. With canonical guards and
//! interned values, equal summaries are equivalent, and conversely (its theorem 4.2). Parts are shared, so changing one
//! part makes a new node for it and for what it lies in, and for nothing else; [`Values::n_made`] counts them.

use std::cell::Cell;
use std::rc::Rc;

use allways_base::Idx;
use allways_machine::value::{Kind, ShapeId, Store, Value, View};

use crate::guard::{Guard, Guards, Halt};

/// Values with disjoint guards.
type GuardedValues = Vec<(Value, Guard)>;

/// A summary that may be shared.
pub type Shared = Rc<Summary>;

/// Deeper summaries are not made: operations recurse over them.
pub const MAX_DEPTH: u32 = 500;
/// Summaries made between two looks at the memory in use.
const MADE_PER_LOOK: u64 = 1 << 10;

#[derive(Debug)]
pub struct Summary {
    domain: Guard,
    spine: Box<[(Value, Guard)]>,
    parts: Box<[Part]>,
    depth: u32,
    /// Bytes of all summaries that are alive; it leaves them when it goes.
    n_bytes: Rc<Cell<usize>>,
}

impl PartialEq for Summary {
    fn eq(&self, other: &Self) -> bool {
        self.domain == other.domain && self.spine == other.spine && self.parts == other.parts
    }
}

impl Eq for Summary {}

impl Drop for Summary {
    fn drop(&mut self) {
        self.n_bytes.set(self.n_bytes.get() - self.own_bytes());
    }
}

/// What stands at one place of a tuple, sequence or map.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    pub kind: Kind,
    /// The position, or the key of a map.
    pub key: Value,
    pub summary: Shared,
}

impl Part {
    fn order(&self) -> (Kind, u64) {
        (self.kind, self.key.bits())
    }
}

impl Summary {
    /// Memory of this node, roughly.
    fn own_bytes(&self) -> usize {
        size_of::<Summary>() + 32 + size_of_val(&*self.spine) + size_of_val(&*self.parts)
    }

    /// Where it has a value.
    pub fn domain(&self) -> Guard {
        self.domain
    }

    /// Hollow values with their guards.
    pub fn spine(&self) -> &[(Value, Guard)] {
        &self.spine
    }

    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The summary of a place, if the value has that place under some guard.
    pub fn part(&self, kind: Kind, key: Value) -> Option<&Shared> {
        let at = self.parts.binary_search_by_key(&(kind, key.bits()), Part::order).ok()?;
        Some(&self.parts[at].summary)
    }

    /// Shows every guard in it.
    pub fn each_guard(&self, visit: &mut dyn FnMut(Guard)) {
        self.spine.iter().for_each(|&(_, guard)| visit(guard));
        visit(self.domain);
        self.parts.iter().for_each(|part| part.summary.each_guard(visit));
    }
}

/// All that summaries need: guards, concrete values, and counts of the work.
pub struct Values<'a> {
    pub guards: Guards<'a>,
    pub store: Store,
    /// Summary nodes made.
    pub n_made: u64,
    /// A summary became deeper than [`MAX_DEPTH`]; it lacks what lies deeper.
    pub is_too_deep: bool,
    nothing: Shared,
    n_bytes: Rc<Cell<usize>>,
    /// What guards, single values and summaries may use together.
    max_bytes: usize,
}

impl<'a> Values<'a> {
    pub fn new(guards: Guards<'a>, store: Store) -> Self {
        let n_bytes = Rc::new(Cell::new(0));
        let nothing = Summary {
            domain: Guard::FALSE,
            spine: [].into(),
            parts: [].into(),
            depth: 0,
            n_bytes: n_bytes.clone(),
        };
        n_bytes.set(nothing.own_bytes());
        let max_bytes = guards.max_bytes();
        Values { guards, store, n_made: 0, is_too_deep: false, nothing: Rc::new(nothing), n_bytes, max_bytes }
    }

    /// Memory of guards, single values and summaries in use, roughly.
    pub fn n_bytes(&self) -> usize {
        self.guards.n_bytes() + self.store.n_bytes() + self.n_bytes.get()
    }

    /// Guards may use what the others leave; when these have all of it, the work halts.
    pub fn share_memory(&mut self) {
        let others = self.store.n_bytes() + self.n_bytes.get();
        self.guards.set_max_bytes(self.max_bytes.saturating_sub(others));
        if others > self.max_bytes {
            self.guards.halt(Halt::Memory);
        }
    }

    /// The summary without any value.
    pub fn nothing(&self) -> Shared {
        self.nothing.clone()
    }

    /// Puts a summary together. Values may repeat and guards may be false; guards of different values are disjoint, and parts
    /// of one place have disjoint domains.
    pub fn build(&mut self, mut spine: Vec<(Value, Guard)>, mut parts: Vec<Part>) -> Shared {
        spine.retain(|(_, guard)| !guard.is_false());
        if spine.is_empty() {
            return self.nothing();
        }
        spine.sort_unstable_by_key(|(value, guard)| (value.bits(), *guard));
        let guards = &mut self.guards;
        spine.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 = guards.or(kept.1, next.1);
            }
            is_same
        });
        parts.retain(|part| !part.summary.domain.is_false());
        parts.sort_by_key(Part::order);
        if parts.windows(2).any(|pair| pair[0].order() == pair[1].order()) {
            let mut joined: Vec<Part> = Vec::with_capacity(parts.len());
            for part in parts {
                match joined.last_mut() {
                    Some(last) if last.order() == part.order() => {
                        last.summary = self.merge(&last.summary.clone(), &part.summary);
                    }
                    _ => joined.push(part),
                }
            }
            parts = joined;
        }
        let depth = parts.iter().map(|part| part.summary.depth + 1).max().unwrap_or(0);
        if depth > MAX_DEPTH {
            self.is_too_deep = true;
            return self.nothing();
        }
        let domain = self.guards.any(spine.iter().map(|&(_, guard)| guard));
        self.n_made += 1;
        let n_bytes = self.n_bytes.clone();
        let summary = Summary { domain, spine: spine.into(), parts: parts.into(), depth, n_bytes };
        self.n_bytes.set(self.n_bytes.get() + summary.own_bytes());
        let summary = Rc::new(summary);
        if self.n_made.is_multiple_of(MADE_PER_LOOK) {
            self.share_memory();
        }
        #[cfg(debug_assertions)]
        self.check(&summary);
        summary
    }

    /// The invariants of this node.
    #[cfg(debug_assertions)]
    fn check(&mut self, summary: &Summary) {
        let mut seen = Guard::FALSE;
        for (at, &(value, guard)) in summary.spine.iter().enumerate() {
            let is_new = !self.guards.meet(seen, guard);
            seen = self.guards.or(seen, guard);
            if self.guards.halted().is_some() || self.is_too_deep {
                return;
            }
            assert!(!guard.is_false() && is_new, "guards of a summary overlap");
            assert!(at == 0 || summary.spine[at - 1].0.bits() < value.bits(), "values of a summary repeat");
        }
        let mut wanted: Vec<(Kind, Value, Guard)> = Vec::new();
        for &(value, guard) in &summary.spine {
            for (kind, key) in self.places(value) {
                match wanted.iter_mut().find(|(k, at, _)| (*k, *at) == (kind, key)) {
                    Some(found) => found.2 = self.guards.or(found.2, guard),
                    None => wanted.push((kind, key, guard)),
                }
            }
        }
        if self.guards.halted().is_some() {
            return;
        }
        assert_eq!(wanted.len(), summary.parts.len(), "a summary has other parts than its spine");
        for (kind, key, guard) in wanted {
            let domain = summary.part(kind, key).map(|part| part.domain);
            assert_eq!(domain, Some(guard), "a part has another domain than its place");
        }
    }

    /// The places of a hollow value.
    pub fn places(&self, hollow: Value) -> Vec<(Kind, Value)> {
        let rows = |kind, n: usize| (0..n).map(move |at| (kind, Value::size(at))).collect();
        match hollow.view() {
            View::Node(kind @ (Kind::Tuple | Kind::Seq), id) => rows(kind, self.store.parts(id).len()),
            View::Node(Kind::Named, id) => rows(Kind::Named, self.store.named_parts(id).1.len()),
            View::Node(Kind::Map, id) => {
                self.store.map_entries(id).map(|(key, _)| (Kind::Map, key)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The value at a place.
    fn at_place(&self, value: Value, kind: Kind, key: Value) -> Value {
        let at = || key.bits() as usize >> 4;
        match value.view() {
            View::Node(Kind::Named, id) => self.store.named_parts(id).1[at()],
            View::Node(Kind::Map, id) => {
                let found = self.store.map_entries(id).find(|(known, _)| *known == key);
                found.map_or(Value::NULL, |(_, value)| value)
            }
            View::Node(_, id) if kind != Kind::Map => self.store.parts(id)[at()],
            _ => Value::NULL,
        }
    }

    /// The hollow value with these elements, in order of its places.
    fn fill(&mut self, hollow: Value, elements: &[Value]) -> Value {
        match hollow.view() {
            View::Node(Kind::Tuple, _) => self.store.tuple(elements),
            View::Node(Kind::Seq, _) => self.store.seq(elements),
            View::Node(Kind::Named, id) => {
                let shape = self.store.named_parts(id).0;
                self.store.named(shape, elements)
            }
            View::Node(Kind::Map, id) => {
                let keys: Vec<Value> = self.store.map_entries(id).map(|(key, _)| key).collect();
                let filled = keys.into_iter().zip(elements).fold(hollow, |map, (key, &element)| {
                    // The key is there, so its value is replaced where it stands.
                    self.store.set(map, key, element).unwrap_or(map)
                });
                self.store.freeze(filled)
            }
            _ => hollow,
        }
    }

    /// The value with null for each of its elements.
    pub fn hollow(&mut self, value: Value) -> Value {
        let n = self.places(value).len();
        if n == 0 { value } else { self.fill(value, &vec![Value::NULL; n]) }
    }

    /// The summary of one value, where the guard holds.
    pub fn lift(&mut self, value: Value, guard: Guard) -> Shared {
        self.lift_at(value, guard, 0)
    }

    fn lift_at(&mut self, value: Value, guard: Guard, depth: u32) -> Shared {
        if guard.is_false() {
            return self.nothing();
        }
        if depth > MAX_DEPTH {
            self.is_too_deep = true;
            return self.nothing();
        }
        let places = self.places(value);
        let hollow = self.hollow(value);
        let mut parts = Vec::with_capacity(places.len());
        for (kind, key) in places {
            let element = self.at_place(value, kind, key);
            let summary = self.lift_at(element, guard, depth + 1);
            parts.push(Part { kind, key, summary });
        }
        self.build(vec![(hollow, guard)], parts)
    }

    /// The summary of guarded values with disjoint guards.
    pub fn of_values(&mut self, values: &[(Value, Guard)]) -> Shared {
        let is_flat = values.iter().all(|&(value, _)| self.places(value).is_empty());
        if is_flat {
            return self.build(values.to_vec(), Vec::new());
        }
        // Values that are equal go together first, so that each is taken apart once.
        let mut spine = Vec::new();
        let mut parts: Vec<(Kind, Value, GuardedValues)> = Vec::new();
        for &(value, guard) in values {
            if guard.is_false() {
                continue;
            }
            spine.push((self.hollow(value), guard));
            for (kind, key) in self.places(value) {
                let element = self.at_place(value, kind, key);
                match parts.iter_mut().find(|part| (part.0, part.1) == (kind, key)) {
                    Some(part) => part.2.push((element, guard)),
                    None => parts.push((kind, key, vec![(element, guard)])),
                }
            }
        }
        let parts = parts
            .into_iter()
            .map(|(kind, key, values)| {
                let mut joined: Vec<(Value, Guard)> = Vec::new();
                for (value, guard) in values {
                    match joined.iter_mut().find(|(known, _)| *known == value) {
                        Some(known) => known.1 = self.guards.or(known.1, guard),
                        None => joined.push((value, guard)),
                    }
                }
                Part { kind, key, summary: self.of_values(&joined) }
            })
            .collect();
        self.build(spine, parts)
    }

    /// All values with their guards, within a guard: as many as differ there.
    pub fn values(&mut self, summary: &Summary, within: Guard) -> Vec<(Value, Guard)> {
        let mut found = Vec::new();
        if !self.guards.meet(summary.domain, within) {
            return found;
        }
        for &(hollow, guard) in &summary.spine {
            let guard = self.guards.and(guard, within);
            if guard.is_false() {
                continue;
            }
            let places = self.places(hollow);
            if places.is_empty() {
                found.push((hollow, guard));
                continue;
            }
            // Combinations that occur, place by place.
            let mut rows: Vec<(Vec<Value>, Guard)> = vec![(Vec::with_capacity(places.len()), guard)];
            for (kind, key) in places {
                let Some(part) = summary.part(kind, key).cloned() else { continue };
                let mut next = Vec::with_capacity(rows.len());
                for (row, guard) in rows {
                    for (element, guard) in self.values(&part, guard) {
                        let mut row = row.clone();
                        row.push(element);
                        next.push((row, guard));
                    }
                    if self.guards.halted().is_some() {
                        return Vec::new();
                    }
                }
                rows = next;
            }
            for (row, guard) in rows {
                found.push((self.fill(hollow, &row), guard));
            }
        }
        found
    }

    /// The value under an assignment.
    pub fn value_under(&mut self, summary: &Summary, assignment: &crate::guard::Assignment) -> Option<Value> {
        let holds = |guards: &Guards<'_>, guard| guards.holds(guard, assignment);
        let &(hollow, _) = summary.spine.iter().find(|(_, guard)| holds(&self.guards, *guard))?;
        let elements: Option<Vec<Value>> = self
            .places(hollow)
            .into_iter()
            .map(|(kind, key)| {
                let part = summary.part(kind, key)?.clone();
                self.value_under(&part, assignment)
            })
            .collect();
        let elements = elements?;
        Some(if elements.is_empty() { hollow } else { self.fill(hollow, &elements) })
    }

    /// The same values, where the guard holds, too.
    pub fn restrict(&mut self, summary: &Shared, guard: Guard) -> Shared {
        let domain = self.guards.and(summary.domain, guard);
        if domain == summary.domain {
            return summary.clone();
        }
        if domain.is_false() {
            return self.nothing();
        }
        let spine = summary.spine.iter().map(|&(value, own)| (value, self.guards.and(own, guard))).collect();
        let parts = summary.parts.iter().map(|part| self.restrict_part(part, guard)).collect();
        self.build(spine, parts)
    }

    fn restrict_part(&mut self, part: &Part, guard: Guard) -> Part {
        Part { summary: self.restrict(&part.summary, guard), ..*part }
    }

    /// Both, whose domains must be disjoint.
    pub fn merge(&mut self, a: &Shared, b: &Shared) -> Shared {
        if a.domain.is_false() {
            return b.clone();
        }
        if b.domain.is_false() {
            return a.clone();
        }
        debug_assert!(!self.guards.meet(a.domain, b.domain), "merged summaries overlap");
        let spine = a.spine.iter().chain(&b.spine).copied().collect();
        let parts = a.parts.iter().chain(&b.parts).cloned().collect();
        self.build(spine, parts)
    }

    /// `new` where the guard holds, else `old`.
    pub fn update(&mut self, old: &Shared, new: &Shared, guard: Guard) -> Shared {
        let new = self.restrict(new, guard);
        let old = self.restrict(old, guard.not());
        self.merge(&old, &new)
    }

    /// Where it is this value.
    pub fn guard_for(&mut self, summary: &Summary, value: Value) -> Guard {
        let hollow = self.hollow(value);
        let Some(&(_, mut guard)) = summary.spine.iter().find(|(known, _)| *known == hollow) else {
            return Guard::FALSE;
        };
        for (kind, key) in self.places(value) {
            let element = self.at_place(value, kind, key);
            let Some(part) = summary.part(kind, key).cloned() else { return Guard::FALSE };
            let equal = self.guard_for(&part, element);
            guard = self.guards.and(guard, equal);
        }
        guard
    }

    /// Where both have the same value, or neither has one.
    pub fn same(&mut self, a: &Shared, b: &Shared) -> Guard {
        if Rc::ptr_eq(a, b) {
            return Guard::TRUE;
        }
        let neither = self.guards.or(a.domain, b.domain).not();
        let mut equal = Guard::FALSE;
        for &(value, guard) in &a.spine {
            if let Ok(at) = b.spine.binary_search_by_key(&value.bits(), |(value, _)| value.bits()) {
                let both = self.guards.and(guard, b.spine[at].1);
                equal = self.guards.or(equal, both);
            }
        }
        for part in &a.parts {
            if !self.guards.meet(equal, part.summary.domain) {
                continue;
            }
            if let Some(other) = b.part(part.kind, part.key).cloned() {
                let same = self.same(&part.summary, &other);
                // Where the part exists in one only, spines differ.
                equal = self.guards.and(equal, same);
            }
        }
        self.guards.or(equal, neither)
    }

    /// A tuple of these parts, all of which have values where the guard holds.
    pub fn tuple(&mut self, parts: &[Shared], guard: Guard) -> Shared {
        let hollow = self.store.tuple(&vec![Value::NULL; parts.len()]);
        self.compound(hollow, Kind::Tuple, parts, guard)
    }

    pub fn named(&mut self, shape: ShapeId, parts: &[Shared], guard: Guard) -> Shared {
        let hollow = self.store.named(shape, &vec![Value::NULL; parts.len()]);
        self.compound(hollow, Kind::Named, parts, guard)
    }

    fn compound(&mut self, hollow: Value, kind: Kind, parts: &[Shared], guard: Guard) -> Shared {
        let parts = parts
            .iter()
            .enumerate()
            .map(|(at, part)| Part { kind, key: Value::size(at), summary: self.restrict(part, guard) })
            .collect();
        self.build(vec![(hollow, guard)], parts)
    }

    /// The summary with another value at a place where the guard holds; the place must exist there. No other part is made anew.
    pub fn with_part(
        &mut self,
        summary: &Shared,
        kind: Kind,
        key: Value,
        new: &Shared,
        guard: Guard,
    ) -> Shared {
        let Ok(at) = summary.parts.binary_search_by_key(&(kind, key.bits()), Part::order) else {
            return summary.clone();
        };
        let changed = self.update(&summary.parts[at].summary.clone(), new, guard);
        let mut parts = summary.parts.to_vec();
        parts[at].summary = changed;
        self.build(summary.spine.to_vec(), parts)
    }

    /// The summary as a copy of the value has it: without freed slots of sets and maps.
    pub fn copy(&mut self, summary: &Shared) -> Shared {
        if !self.has_freed_slots(summary) {
            return summary.clone();
        }
        let spine = summary.spine.iter().map(|&(value, guard)| (self.store.copy(value), guard)).collect();
        let parts =
            summary.parts.iter().map(|part| Part { summary: self.copy(&part.summary), ..*part }).collect();
        self.build(spine, parts)
    }

    fn has_freed_slots(&self, summary: &Summary) -> bool {
        use allways_machine::value::Flags;
        summary.spine.iter().any(|(value, _)| value.flags().has(Flags::HOLES))
            || summary.parts.iter().any(|part| self.has_freed_slots(&part.summary))
    }

    /// Where a value of the spine passes a test.
    pub fn guard_where(
        &mut self,
        summary: &Summary,
        within: Guard,
        mut test: impl FnMut(Value) -> bool,
    ) -> Guard {
        let mut all = Guard::FALSE;
        for &(value, guard) in &summary.spine {
            if test(value) {
                all = self.guards.or(all, guard);
            }
        }
        self.guards.and(all, within)
    }

    /// The size of a sequence, by guard.
    pub fn seq_sizes(&self, summary: &Summary) -> Vec<(usize, Guard)> {
        let size = |value: Value| match value.view() {
            View::Node(Kind::Seq, id) => Some(self.store.parts(id).len()),
            _ => None,
        };
        summary.spine.iter().filter_map(|&(value, guard)| Some((size(value)?, guard))).collect()
    }

    /// A sequence with a value put in at a position where the guard holds; it is at least that long there.
    pub fn seq_insert(&mut self, seq: &Shared, at: usize, element: &Shared, guard: Guard) -> Shared {
        self.seq_change(seq, guard, 1, |parts, values, guard| {
            for part in parts.iter_mut() {
                let place = part.key.bits() as usize >> 4;
                if place >= at {
                    part.key = Value::size(place + 1);
                }
            }
            let summary = values.restrict(element, guard);
            parts.push(Part { kind: Kind::Seq, key: Value::size(at), summary });
        })
    }

    /// A sequence without the element at a position where the guard holds; it is longer than that there.
    pub fn seq_remove(&mut self, seq: &Shared, at: usize, guard: Guard) -> Shared {
        self.seq_change(seq, guard, -1, |parts, _, _| {
            parts.retain_mut(|part| {
                let place = part.key.bits() as usize >> 4;
                if place > at {
                    part.key = Value::size(place - 1);
                }
                place != at
            });
        })
    }

    /// Adds an element at the end, whatever the size.
    pub fn seq_push(&mut self, seq: &Shared, element: &Shared, guard: Guard) -> Shared {
        let mut changed = seq.clone();
        for (size, own) in self.seq_sizes(seq) {
            let guard = self.guards.and(own, guard);
            if !guard.is_false() {
                changed = self.seq_insert(&changed, size, element, guard);
            }
        }
        changed
    }

    fn seq_change(
        &mut self,
        seq: &Shared,
        guard: Guard,
        by: isize,
        change: impl FnOnce(&mut Vec<Part>, &mut Self, Guard),
    ) -> Shared {
        let touched = self.restrict(seq, guard);
        let kept = self.restrict(seq, guard.not());
        let sizes = self.seq_sizes(&touched);
        let spine = sizes
            .into_iter()
            .map(|(size, guard)| (self.store.seq(&vec![Value::NULL; size.saturating_add_signed(by)]), guard))
            .collect();
        let mut parts = touched.parts.to_vec();
        change(&mut parts, self, touched.domain);
        let changed = self.build(spine, parts);
        self.merge(&kept, &changed)
    }

    /// The key that a hollow map has for a value, which may be another word for the same key.
    pub fn stored_key(&self, map: Value, key: Value) -> Option<Value> {
        let View::Node(Kind::Map, id) = map.view() else { return None };
        self.store.map_entries(id).map(|(known, _)| known).find(|&known| self.store.eq(known, key))
    }

    /// The position of a field by name in the values of a shape.
    pub fn shape_of(&self, value: Value) -> Option<ShapeId> {
        match value.view() {
            View::Node(Kind::Named, id) => Some(ShapeId::new(self.store.named_parts(id).0.index())),
            _ => None,
        }
    }
}
