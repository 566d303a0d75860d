//! A map from pairs of numbers, of which the first is not zero, to a few words: open addressing, in halves of lines of the
//! cache, so that what is found lies beside the key.

use super::hash::mix;

pub(super) struct PairTable<V> {
    slots: Vec<Slot<V>>,
    len: usize,
}

#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Slot<V> {
    /// Zero is free.
    key: u64,
    value: V,
}

#[inline]
fn key_of(a: u32, b: u32) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

impl<V> Default for PairTable<V> {
    fn default() -> Self {
        PairTable { slots: Vec::new(), len: 0 }
    }
}

impl<V: Copy + Default> PairTable<V> {
    pub fn n_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<V>>()
    }

    #[inline]
    pub fn get(&self, a: u32, b: u32) -> Option<V> {
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

    pub fn insert(&mut self, a: u32, b: u32, value: V) {
        if (self.len + 1) * 2 > self.slots.len() {
            let size = (self.slots.len() * 2).max(64);
            let old = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
            for slot in old.into_iter().filter(|slot| slot.key != 0) {
                self.place(slot);
            }
        }
        self.len += 1;
        self.place(Slot { key: key_of(a, b), value });
    }

    fn place(&mut self, slot: Slot<V>) {
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
        let mut table = PairTable::default();
        assert_eq!(table.get(1, 0), None);
        for n in 1..=1_000u32 {
            table.insert(n, n % 7, (n, u64::from(n) * 3));
        }
        for n in 1..=1_000u32 {
            assert_eq!(table.get(n, n % 7), Some((n, u64::from(n) * 3)));
            assert_eq!(table.get(n, n % 7 + 1), None);
        }
        assert!(table.n_bytes() >= 1_000 * 32);
    }
}
