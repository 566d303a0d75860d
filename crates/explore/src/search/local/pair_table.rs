//! A map from pairs of numbers, of which the first is not zero, to a few words: open addressing, in halves or quarters of lines of
//! the cache, so that what is found lies beside the key.

use crate::search::store::hash::mix;
use crate::search::store::huge_pages::{make_room, prefetch};

pub(crate) struct PairTable<V, A = Half> {
    slots: Vec<Slot<V, A>>,
    len: usize,
}

/// For values of up to 24 bytes.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
pub(crate) struct Half;

/// For values of up to 8 bytes.
#[derive(Clone, Copy, Default)]
#[repr(align(16))]
pub(crate) struct Quarter;

#[derive(Clone, Copy)]
struct Slot<V, A> {
    /// Takes no room, but no slot lies in two lines.
    _place: [A; 0],
    /// Zero is free.
    key: u64,
    value: V,
}

impl<V: Default, A> Slot<V, A> {
    fn free() -> Self {
        Slot { _place: [], key: 0, value: V::default() }
    }
}

#[inline]
fn key_of(a: impl Into<u32>, b: impl Into<u32>) -> u64 {
    u64::from(a.into()) << 32 | u64::from(b.into())
}

impl<V, A> Default for PairTable<V, A> {
    fn default() -> Self {
        PairTable { slots: Vec::new(), len: 0 }
    }
}

impl<V: Copy + Default, A: Copy> PairTable<V, A> {
    pub fn n_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<V, A>>()
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn clear(&mut self) {
        self.slots.fill(Slot::free());
        self.len = 0;
    }

    #[inline]
    pub fn get(&self, a: impl Into<u32>, b: impl Into<u32>) -> Option<V> {
        if self.slots.is_empty() {
            return None;
        }
        let key = key_of(a, b);
        let mask = self.slots.len() - 1;
        let mut at = mix(key) as usize & mask;
        loop {
            let slot = &self.slots[at];
            if slot.key == key {
                return Some(slot.value);
            }
            if slot.key == 0 {
                return None;
            }
            at = (at + 1) & mask;
        }
    }

    /// Brings what is known of a pair nearer.
    #[inline]
    pub fn prefetch(&self, a: impl Into<u32>, b: impl Into<u32>) {
        if !self.slots.is_empty() {
            prefetch(&self.slots[mix(key_of(a, b)) as usize & (self.slots.len() - 1)]);
        }
    }

    pub fn insert(&mut self, a: impl Into<u32>, b: impl Into<u32>, value: V) {
        if (self.len + 1) * 2 > self.slots.len() {
            let size = (self.slots.len() * 2).max(64);
            let mut larger = Vec::new();
            make_room(&mut larger, size);
            larger.resize(size, Slot::free());
            let old = std::mem::replace(&mut self.slots, larger);
            for slot in old.into_iter().filter(|slot| slot.key != 0) {
                self.place(slot);
            }
        }
        self.len += 1;
        self.place(Slot { _place: [], key: key_of(a, b), value });
    }

    fn place(&mut self, slot: Slot<V, A>) {
        let mask = self.slots.len() - 1;
        let mut at = mix(slot.key) as usize & mask;
        while self.slots[at].key != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_found_and_nothing_else() {
        let mut table: PairTable<(u32, u64)> = PairTable::default();
        assert_eq!(table.get(1u32, 0u32), None);
        for n in 1..=1_000u32 {
            table.insert(n, n % 7, (n, u64::from(n) * 3));
        }
        for n in 1..=1_000u32 {
            assert_eq!(table.get(n, n % 7), Some((n, u64::from(n) * 3)));
            assert_eq!(table.get(n, n % 7 + 1), None);
        }
        assert!(table.n_bytes() >= 1_000 * 32);
        table.clear();
        assert_eq!((table.len(), table.get(7u32, 0u32)), (0, None));
        table.insert(7u32, 0u32, (1, 1));
        assert_eq!((table.len(), table.get(7u32, 0u32)), (1, Some((1, 1))));
    }
}
