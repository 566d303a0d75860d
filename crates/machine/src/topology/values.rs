//! What a variable may hold, as far as the topology asks: machine references and events.
//!
//! Values are copied, never shared, so a value is a tree without aliases: references and events at the node itself, and
//! what lies below it by part. Parts of collections are not distinguished. Below [`MAX_DEPTH`] everything is one heap
//! (`any` can nest without end).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use allways_base::Symbol;

use super::SiteId;

use crate::ir::EventId;

const MAX_DEPTH: usize = 5;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Key {
    Part(u32),
    Field(Symbol),
    /// An element of a sequence or set, a value of a map.
    Element,
    /// A key of a map.
    Index,
}

/// A set of values. Without a node: no reference and no event anywhere.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct Abstract(Option<Rc<Node>>);

#[derive(Clone, PartialEq, Default, Debug)]
struct Node {
    refs: BTreeSet<SiteId>,
    events: BTreeSet<EventId>,
    parts: BTreeMap<Key, Abstract>,
    /// All parts, of whatever depth, are as the node itself.
    is_heap: bool,
}

impl Abstract {
    pub fn reference(site: SiteId) -> Self {
        Abstract(Some(Rc::new(Node { refs: BTreeSet::from([site]), ..Node::default() })))
    }

    pub fn event(event: EventId) -> Self {
        Abstract(Some(Rc::new(Node { events: BTreeSet::from([event]), ..Node::default() })))
    }

    pub fn of_parts(parts: impl IntoIterator<Item = (Key, Abstract)>) -> Self {
        let mut whole = Abstract::default();
        for (key, part) in parts {
            whole.put(&[key], &part);
        }
        whole
    }

    pub fn refs(&self) -> impl Iterator<Item = SiteId> + '_ {
        self.0.iter().flat_map(|node| node.refs.iter().copied())
    }

    /// Of any depth.
    pub fn all_refs(&self) -> Vec<SiteId> {
        self.heap().refs().collect()
    }

    pub fn events(&self) -> impl Iterator<Item = EventId> + '_ {
        self.0.iter().flat_map(|node| node.events.iter().copied())
    }

    /// What a part may be.
    pub fn get(&self, key: Key) -> Abstract {
        let Some(node) = &self.0 else { return Abstract::default() };
        if node.is_heap {
            return self.clone();
        }
        let mut found = node.parts.get(&key).cloned().unwrap_or_default();
        // Named tuples can be asked by position, too.
        for (other, part) in &node.parts {
            if matches!((key, other), (Key::Part(_), Key::Field(_)) | (Key::Field(_), Key::Part(_))) {
                found.join(part);
            }
        }
        found
    }

    /// What a loop over it, or a choice from it, gives.
    pub fn any_element(&self) -> Abstract {
        let mut found = self.get(Key::Element);
        found.join(&self.get(Key::Index));
        found
    }

    /// Adds a possible value at the end of a path. Whether that is new.
    pub fn put(&mut self, path: &[Key], value: &Abstract) -> bool {
        self.put_within(path, value, MAX_DEPTH)
    }

    fn put_within(&mut self, path: &[Key], value: &Abstract, depth: usize) -> bool {
        let Some((&first, rest)) = path.split_first() else { return self.join(&value.within(depth)) };
        if value.0.is_none() {
            return false;
        }
        if depth == 0 || self.0.as_ref().is_some_and(|node| node.is_heap) {
            return self.join(&value.heap());
        }
        let node = Rc::make_mut(self.0.get_or_insert_default());
        node.parts.entry(first).or_default().put_within(rest, value, depth - 1)
    }

    /// Adds all that another may be. Whether that is new.
    pub fn join(&mut self, other: &Abstract) -> bool {
        let Some(theirs) = &other.0 else { return false };
        let Some(mine) = &mut self.0 else {
            self.0 = Some(theirs.clone());
            return true;
        };
        if Rc::ptr_eq(mine, theirs) {
            return false;
        }
        if mine.is_heap != theirs.is_heap {
            let mut heap = self.heap();
            heap.join(&other.heap());
            let changed = *self != heap;
            *self = heap;
            return changed;
        }
        if mine.includes(theirs) {
            return false;
        }
        let mine = Rc::make_mut(mine);
        mine.refs.extend(&theirs.refs);
        mine.events.extend(&theirs.events);
        for (key, part) in &theirs.parts {
            mine.parts.entry(*key).or_default().join(part);
        }
        true
    }

    /// The same, with at most so many levels of parts.
    fn within(&self, depth: usize) -> Abstract {
        let Some(node) = &self.0 else { return Abstract::default() };
        if node.depth() <= depth {
            return self.clone();
        }
        if depth == 0 {
            return self.heap();
        }
        let parts = node.parts.iter().map(|(key, part)| (*key, part.within(depth - 1))).collect();
        Abstract(Some(Rc::new(Node { parts, ..(**node).clone() })))
    }

    /// Everything in it as one heap.
    fn heap(&self) -> Abstract {
        let Some(node) = &self.0 else { return Abstract::default() };
        let mut heap = Node { is_heap: true, ..Node::default() };
        node.gather(&mut heap);
        Abstract(Some(Rc::new(heap)))
    }
}

impl Node {
    fn depth(&self) -> usize {
        let depth = |part: &Abstract| 1 + part.0.as_ref().map_or(0, |node| node.depth());
        self.parts.values().map(depth).max().unwrap_or(0)
    }

    fn gather(&self, heap: &mut Node) {
        heap.refs.extend(&self.refs);
        heap.events.extend(&self.events);
        for part in self.parts.values() {
            if let Some(node) = &part.0 {
                node.gather(heap);
            }
        }
    }

    fn includes(&self, other: &Node) -> bool {
        self.is_heap == other.is_heap
            && other.refs.is_subset(&self.refs)
            && other.events.is_subset(&self.events)
            && other.parts.iter().all(|(key, theirs)| match (&theirs.0, self.parts.get(key)) {
                (None, _) => true,
                (Some(theirs), Some(Abstract(Some(mine)))) => {
                    Rc::ptr_eq(mine, theirs) || mine.includes(theirs)
                }
                (Some(_), _) => false,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(site: u32) -> Abstract {
        Abstract::reference(SiteId::from_u32(site))
    }

    fn refs(value: &Abstract) -> Vec<u32> {
        value.refs().map(SiteId::as_u32).collect()
    }

    #[test]
    fn parts_are_reported_apart() {
        let pair = Abstract::of_parts([(Key::Part(0), reference(1)), (Key::Part(1), reference(2))]);
        assert_eq!((refs(&pair.get(Key::Part(0))), refs(&pair.get(Key::Part(1)))), (vec![1], vec![2]));
        assert!(refs(&pair).is_empty());
        let mut other = pair.clone();
        assert!(!other.join(&pair) && other.put(&[Key::Part(0)], &reference(2)));
        assert_eq!(refs(&other.get(Key::Part(0))), [1, 2]);
    }

    #[test]
    fn deep_values_become_a_heap_and_lose_nothing() {
        let mut value = reference(7);
        for _ in 0..20 {
            value = Abstract::of_parts([
                (Key::Element, value.clone()),
                (Key::Part(0), Abstract::event(EventId::from_u32(3))),
            ]);
        }
        let again = Abstract::of_parts([
            (Key::Element, value.clone()),
            (Key::Part(0), Abstract::event(EventId::from_u32(3))),
        ]);
        assert_eq!(value, again, "it settles");
        let mut inner = value;
        for _ in 0..20 {
            inner = inner.get(Key::Element);
        }
        assert_eq!((refs(&inner), inner.events().collect::<Vec<_>>()), (vec![7], vec![EventId::from_u32(3)]));
    }
}
