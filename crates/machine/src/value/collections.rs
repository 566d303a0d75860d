//! Sequences, sets and maps.
//!
//! Sets and maps keep their elements in slots. A new element takes the slot freed last, or a new one at the end; a
//! removed element leaves a freed slot; enumeration goes by slots. A *copy* has no freed slots
//! ([`Store::copy`]). Programs see this order in `foreach`, `keys`, `values`, indexing and `choose`.
//!
//! Look-ups scan small collections: a scan over words beats an index that every change would have to copy. Large ones
//! have an index and change in place, see `draft`.

use super::draft::Change;
use super::{Flags, Kind, Store, Value, View};
use crate::data::is_named;

/// Why an operation on a collection failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CollectionFault {
    /// The value is not of the class that the operation needs.
    Class,
    /// The index and the size it exceeds.
    Index(i64, usize),
    MissingKey,
    DuplicateKey,
    /// Null as key or set element.
    Null,
}

type Outcome = Result<Value, CollectionFault>;

impl Store {
    /// The value as a copy has it: sets and maps without freed slots, at any depth.
    #[inline]
    pub fn copy(&mut self, value: Value) -> Value {
        if value.flags().has(Flags::HOLES.with(Flags::DRAFT)) { self.compact(value) } else { value }
    }

    fn compact(&mut self, value: Value) -> Value {
        let value = self.freeze(value);
        if !value.flags().has(Flags::HOLES) {
            return value;
        }
        let View::Node(kind, id) = value.view() else { return value };
        match kind {
            Kind::Int | Kind::Float | Kind::String => value,
            Kind::Tuple | Kind::Seq => {
                let mut parts = self.parts(id).to_vec();
                for part in &mut parts {
                    *part = self.copy(*part);
                }
                self.intern_parts(kind, &parts)
            }
            Kind::Named => {
                let (shape, parts) = self.named_parts(id);
                let mut parts = parts.to_vec();
                for part in &mut parts {
                    *part = self.copy(*part);
                }
                self.named(shape, &parts)
            }
            Kind::Set => {
                let mut elements: Vec<Value> = self.set_elements(id).collect();
                for element in &mut elements {
                    *element = self.copy(*element);
                }
                self.slots(Kind::Set, &elements, None)
            }
            Kind::Map => {
                let mut entries: Vec<Value> = self.map_entries(id).flat_map(|(k, v)| [k, v]).collect();
                for part in &mut entries {
                    *part = self.copy(*part);
                }
                self.slots(Kind::Map, &entries, None)
            }
        }
    }

    pub fn empty(&mut self, kind: Kind) -> Value {
        match kind {
            Kind::Set | Kind::Map => self.slots(kind, &[], None),
            _ => self.intern_parts(kind, &[]),
        }
    }

    /// The number of elements or entries, if it is a collection.
    pub fn size_of(&self, value: Value) -> Option<usize> {
        match value.view() {
            View::Node(Kind::Seq, id) => Some(self.parts(id).len()),
            View::Node(Kind::Set, id) => Some(match self.slots_of(id) {
                (slots, None) => slots.len(),
                (slots, Some(_)) if value.is_draft() => slots.len() - self.draft(id).n_free,
                (slots, Some(_)) => slots.iter().filter(|v| !v.is_hole()).count(),
            }),
            View::Node(Kind::Map, id) => Some(match self.slots_of(id) {
                (slots, None) => slots.len() / 2,
                (slots, Some(_)) if value.is_draft() => slots.len() / 2 - self.draft(id).n_free,
                (slots, Some(_)) => slots.iter().step_by(2).filter(|v| !v.is_hole()).count(),
            }),
            _ => None,
        }
    }

    /// The elements of a set in order of enumeration.
    pub fn set_elements(&self, id: u32) -> impl Iterator<Item = Value> + '_ {
        self.slots_of(id).0.iter().copied().filter(|v| !v.is_hole())
    }

    /// The entries of a map in order of enumeration.
    pub fn map_entries(&self, id: u32) -> impl Iterator<Item = (Value, Value)> + '_ {
        self.slots_of(id).0.chunks_exact(2).map(|entry| (entry[0], entry[1])).filter(|(k, _)| !k.is_hole())
    }

    /// The slot of an element.
    pub(super) fn find_in_set(&self, id: u32, element: Value) -> Option<usize> {
        let (slots, _) = self.slots_of(id);
        match self.index_of(id) {
            Some(index) => self.find_by_index(index, slots, 1, element),
            None => slots.iter().position(|&v| self.eq(v, element)),
        }
    }

    /// The slot and the value of a key.
    pub(super) fn find_in_map(&self, id: u32, key: Value) -> Option<(usize, Value)> {
        let (slots, _) = self.slots_of(id);
        let at = match self.index_of(id) {
            Some(index) => self.find_by_index(index, slots, 2, key)?,
            None => slots.chunks_exact(2).position(|entry| self.eq(entry[0], key))?,
        };
        Some((at, slots[2 * at + 1]))
    }

    fn checked_index(&self, index: Value, limit: usize, size: usize) -> Result<usize, CollectionFault> {
        let index = self.as_int(index).ok_or(CollectionFault::Class)?;
        match usize::try_from(index) {
            Ok(at) if at < limit => Ok(at),
            _ => Err(CollectionFault::Index(index, size)),
        }
    }

    /// `c[i]`
    pub fn get(&mut self, collection: Value, index: Value) -> Outcome {
        self.prepare(collection);
        self.peek(collection, index)
    }

    /// The same, without making an index that later accesses would use.
    pub fn peek(&self, collection: Value, index: Value) -> Outcome {
        match collection.view() {
            View::Node(Kind::Seq, id) => {
                let parts = self.parts(id);
                Ok(parts[self.checked_index(index, parts.len(), parts.len())?])
            }
            View::Node(Kind::Set, id) => {
                let size = self.size_of(collection).unwrap_or(0);
                let at = self.checked_index(index, size, size)?;
                self.set_elements(id).nth(at).ok_or(CollectionFault::Class)
            }
            View::Node(Kind::Map, _) if index.is_null() => Err(CollectionFault::Null),
            View::Node(Kind::Map, id) => {
                self.find_in_map(id, index).map(|(_, value)| value).ok_or(CollectionFault::MissingKey)
            }
            _ => Err(CollectionFault::Class),
        }
    }

    /// `c[i] = v`: an existing index of a sequence, any key of a map.
    pub fn set(&mut self, collection: Value, index: Value, value: Value) -> Outcome {
        self.prepare(collection);
        match collection.view() {
            View::Node(Kind::Seq, id) => {
                let size = self.parts(id).len();
                let at = self.checked_index(index, size, size)?;
                Ok(self.with_parts(collection, value, |parts| parts[at] = value))
            }
            View::Node(Kind::Map, _) if index.is_null() => Err(CollectionFault::Null),
            View::Node(Kind::Map, id) => Ok(match self.find_in_map(id, index) {
                Some((slot, _)) => self.with_slots(collection, value, Change::Value, |slots, _| {
                    slots[2 * slot + 1] = value;
                }),
                None => self.add_entry(collection, index, value),
            }),
            _ => Err(CollectionFault::Class),
        }
    }

    /// `c += (i, v)`
    pub fn insert_at(&mut self, collection: Value, index: Value, value: Value) -> Outcome {
        self.prepare(collection);
        match collection.view() {
            View::Node(Kind::Seq, id) => {
                let size = self.parts(id).len();
                let at = self.checked_index(index, size + 1, size)?;
                Ok(self.with_parts(collection, value, |parts| parts.insert(at, value)))
            }
            View::Node(Kind::Map, _) if index.is_null() => Err(CollectionFault::Null),
            View::Node(Kind::Map, id) => match self.find_in_map(id, index) {
                Some(_) => Err(CollectionFault::DuplicateKey),
                None => Ok(self.add_entry(collection, index, value)),
            },
            _ => Err(CollectionFault::Class),
        }
    }

    /// `c += (v)`
    pub fn add(&mut self, collection: Value, element: Value) -> Outcome {
        let View::Node(Kind::Set, id) = collection.view() else { return Err(CollectionFault::Class) };
        if element.is_null() {
            return Err(CollectionFault::Null);
        }
        self.prepare(collection);
        if self.find_in_set(id, element).is_some() {
            return Ok(collection);
        }
        Ok(self.with_slots(collection, element, Change::Add(element), |slots, free| match *free {
            Some(slot) => {
                *free = next_free(slots[slot as usize]);
                slots[slot as usize] = element;
            }
            None => slots.push(element),
        }))
    }

    /// `c -= k`
    pub fn remove(&mut self, collection: Value, key: Value) -> Outcome {
        self.prepare(collection);
        match collection.view() {
            View::Node(Kind::Seq, id) => {
                let size = self.parts(id).len();
                let at = self.checked_index(key, size, size)?;
                Ok(self.with_parts(collection, Value::NULL, |parts| {
                    parts.remove(at);
                }))
            }
            View::Node(Kind::Set, id) => Ok(match self.find_in_set(id, key) {
                None => collection,
                Some(slot) => {
                    self.with_slots(collection, Value::NULL, Change::Remove(slot), |slots, free| {
                        slots[slot] = Value::hole(*free);
                        *free = Some(slot as u32);
                    })
                }
            }),
            View::Node(Kind::Map, _) if key.is_null() => Err(CollectionFault::Null),
            View::Node(Kind::Map, id) => Ok(match self.find_in_map(id, key) {
                None => collection,
                Some((slot, _)) => {
                    self.with_slots(collection, Value::NULL, Change::Remove(slot), |slots, free| {
                        slots[2 * slot] = Value::hole(*free);
                        slots[2 * slot + 1] = Value::NULL;
                        *free = Some(slot as u32);
                    })
                }
            }),
            _ => Err(CollectionFault::Class),
        }
    }

    /// `x in c`
    pub fn contains(&mut self, collection: Value, element: Value) -> Result<bool, CollectionFault> {
        self.prepare(collection);
        match collection.view() {
            // Where the very choice is, the others do not matter.
            View::Node(Kind::Seq, id) if is_named(element) && self.parts(id).contains(&element) => Ok(true),
            View::Node(Kind::Seq, id) => Ok(self.parts(id).iter().any(|&v| self.eq(v, element))),
            View::Node(Kind::Set, id) => Ok(self.find_in_set(id, element).is_some()),
            View::Node(Kind::Map, _) if element.is_null() => Err(CollectionFault::Null),
            View::Node(Kind::Map, id) => Ok(self.find_in_map(id, element).is_some()),
            _ => Err(CollectionFault::Class),
        }
    }

    /// `keys(m)`
    pub fn keys(&mut self, map: Value) -> Outcome {
        self.halves(map, 0)
    }

    /// `values(m)`
    pub fn values(&mut self, map: Value) -> Outcome {
        self.halves(map, 1)
    }

    /// The first or second halves of the entries, copied.
    fn halves(&mut self, map: Value, which: usize) -> Outcome {
        let View::Node(Kind::Map, id) = map.view() else { return Err(CollectionFault::Class) };
        let mut parts = std::mem::take(&mut self.scratch);
        parts.clear();
        parts.extend(self.map_entries(id).map(|(key, value)| [key, value][which]));
        if map.flags().has(Flags::HOLES.with(Flags::DRAFT)) {
            let mut copies = parts.clone();
            for part in &mut copies {
                *part = self.copy(*part);
            }
            parts = copies;
        }
        let seq = self.seq(&parts);
        self.scratch = parts;
        Ok(seq)
    }

    /// The n-th element of a sequence or set, or key of a map, in order of enumeration.
    pub fn nth(&self, collection: Value, n: usize) -> Option<Value> {
        match collection.view() {
            View::Node(Kind::Seq, id) => self.parts(id).get(n).copied(),
            View::Node(Kind::Set, id) => match self.slots_of(id) {
                (slots, None) => slots.get(n).copied(),
                (_, Some(_)) => self.set_elements(id).nth(n),
            },
            View::Node(Kind::Map, id) if self.slots_of(id).1.is_none() => {
                self.slots_of(id).0.get(2 * n).copied()
            }
            View::Node(Kind::Map, id) => self.map_entries(id).nth(n).map(|(key, _)| key),
            _ => None,
        }
    }

    /// A tuple or named tuple with one part replaced.
    pub fn with_part(&mut self, value: Value, at: usize, part: Value) -> Option<Value> {
        let View::Node(kind @ (Kind::Tuple | Kind::Named), id) = value.view() else { return None };
        // The shape comes before the fields.
        let at = at + usize::from(kind == Kind::Named);
        (at < self.raw(id).len()).then(|| self.with_parts(value, part, |parts| parts[at] = part))
    }

    fn add_entry(&mut self, map: Value, key: Value, value: Value) -> Value {
        self.with_slots(map, value, Change::Add(key), |slots, free| match *free {
            Some(slot) => {
                let at = 2 * slot as usize;
                *free = next_free(slots[at]);
                slots[at] = key;
                slots[at + 1] = value;
            }
            None => slots.extend([key, value]),
        })
    }

    /// A tuple or sequence that was changed; `part` is what comes into it.
    fn with_parts(&mut self, value: Value, part: Value, change: impl FnOnce(&mut Vec<Value>)) -> Value {
        self.with_slots(value, part, Change::Value, |parts, _| change(parts))
    }

    /// A collection or tuple that was changed, in place if it is a draft or large; `part` is what comes into it.
    fn with_slots(
        &mut self,
        value: Value,
        part: Value,
        change: Change,
        act: impl FnOnce(&mut Vec<Value>, &mut Option<u32>),
    ) -> Value {
        let mut act = Some(act);
        let edited = self.edit(value, part.is_draft(), change, |content, free| {
            if let Some(act) = act.take() {
                act(content, free);
            }
        });
        let (Some(act), View::Node(kind, id)) = (act, value.view()) else { return edited.unwrap_or(value) };
        let mut content = std::mem::take(&mut self.scratch);
        content.clear();
        let (parts, mut free) = match kind {
            Kind::Set | Kind::Map => self.slots_of(id),
            _ => (self.raw(id), None),
        };
        content.extend_from_slice(parts);
        act(&mut content, &mut free);
        let value = match kind {
            Kind::Set | Kind::Map => self.slots(kind, &content, free),
            _ => self.intern_parts(kind, &content),
        };
        self.scratch = content;
        value
    }
}

fn next_free(hole: Value) -> Option<u32> {
    match hole.view() {
        View::Hole(next) => next,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(store: &Store, collection: Value) -> Vec<i64> {
        (0..).map_while(|n| store.nth(collection, n)).filter_map(|v| store.as_int(v)).collect()
    }

    fn set_of(store: &mut Store, elements: &[usize]) -> Value {
        elements.iter().fold(store.empty(Kind::Set), |set, &n| store.add(set, Value::size(n)).unwrap())
    }

    #[test]
    fn freed_slots_are_taken_last_first() {
        let mut store = Store::default();
        let mut set = set_of(&mut store, &[1, 2, 3, 4]);
        set = store.remove(set, Value::size(2)).unwrap();
        set = store.remove(set, Value::size(4)).unwrap();
        assert_eq!((ints(&store, set), store.size_of(set)), (vec![1, 3], Some(2)));
        let copy = store.copy(set);
        assert!(copy != set && store.eq(copy, set));
        set = store.add(set, Value::size(5)).unwrap();
        assert_eq!(ints(&store, set), [1, 3, 5]);
        set = store.add(set, Value::size(6)).unwrap();
        assert_eq!(ints(&store, set), [1, 6, 3, 5]);
        assert!(!set.flags().has(Flags::HOLES));
        let copy = store.add(copy, Value::size(7)).unwrap();
        assert_eq!(ints(&store, copy), [1, 3, 7]);
    }

    #[test]
    fn first_slot_may_be_free() {
        let mut store = Store::default();
        let mut set = set_of(&mut store, &[1, 2]);
        set = store.remove(set, Value::size(1)).unwrap();
        assert_eq!(ints(&store, set), [2]);
        set = store.remove(set, Value::size(2)).unwrap();
        assert_eq!(store.size_of(set), Some(0));
        let empty = store.empty(Kind::Set);
        assert!(store.eq(set, empty));
        set = store.add(set, Value::size(3)).unwrap();
        set = store.add(set, Value::size(4)).unwrap();
        assert_eq!(ints(&store, set), [4, 3]);
    }

    #[test]
    fn sets_and_maps_ignore_order() {
        let mut store = Store::default();
        let (a, b) = (set_of(&mut store, &[1, 2]), set_of(&mut store, &[2, 1]));
        assert!(a != b && store.eq(a, b));
        let (x, y) = (store.tuple(&[a]), store.tuple(&[b]));
        assert!(store.eq(x, y));
        let empty = store.empty(Kind::Map);
        let (one, two) = (Value::size(1), Value::size(2));
        let m = store.set(empty, one, a).unwrap();
        let m = store.set(m, two, b).unwrap();
        let n = store.set(empty, two, a).unwrap();
        let n = store.set(n, one, b).unwrap();
        assert!(store.eq(m, n));
        let n = store.set(n, one, one).unwrap();
        assert!(!store.eq(m, n));
    }

    #[test]
    fn maps_insert_overwrite_and_refuse() {
        let mut store = Store::default();
        let (one, two) = (Value::size(1), Value::size(2));
        let mut map = store.empty(Kind::Map);
        map = store.insert_at(map, one, two).unwrap();
        assert_eq!(store.insert_at(map, one, one), Err(CollectionFault::DuplicateKey));
        map = store.set(map, one, one).unwrap();
        assert_eq!(store.get(map, one), Ok(one));
        assert_eq!(store.get(map, two), Err(CollectionFault::MissingKey));
        assert_eq!(store.get(map, Value::NULL), Err(CollectionFault::Null));
        map = store.remove(map, one).unwrap();
        assert_eq!(store.contains(map, one), Ok(false));
        map = store.remove(map, one).unwrap();
        map = store.set(map, two, one).unwrap();
        let keys = store.keys(map).unwrap();
        assert_eq!(ints(&store, keys), [2]);
    }

    #[test]
    fn sequences_check_their_indices() {
        let mut store = Store::default();
        let empty = store.empty(Kind::Seq);
        let at = |n: i64, store: &mut Store| store.int(n);
        let seq = store.insert_at(empty, Value::size(0), Value::size(5)).unwrap();
        let seq = store.insert_at(seq, Value::size(0), Value::size(4)).unwrap();
        assert_eq!(ints(&store, seq), [4, 5]);
        assert_eq!(store.insert_at(seq, Value::size(3), Value::NULL), Err(CollectionFault::Index(3, 2)));
        assert_eq!(store.get(seq, Value::size(2)), Err(CollectionFault::Index(2, 2)));
        let minus = at(-1, &mut store);
        assert_eq!(store.set(seq, minus, Value::NULL), Err(CollectionFault::Index(-1, 2)));
        assert_eq!(store.get(seq, Value::NULL), Err(CollectionFault::Class));
        let seq = store.remove(seq, Value::size(0)).unwrap();
        assert_eq!(ints(&store, seq), [5]);
        assert_eq!(store.remove(seq, Value::size(1)), Err(CollectionFault::Index(1, 1)));
    }
}
