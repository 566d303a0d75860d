//! The set of keys that all threads share: open addressing in one array of words, without locks.
//!
//! The slot of a key comes from its high bits, so that doubling the table moves keys in order. A table does not grow
//! while it is in use; who finds it too full stops, and it is replaced between two rounds of the search.

use std::sync::atomic::{AtomicU64, Ordering};

use super::hash::mix;

/// No slot was free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Full;

pub(super) struct Table {
    slots: Box<[AtomicU64]>,
    /// The second words of keys of 128 bits; empty for keys of 64.
    seconds: Box<[AtomicU64]>,
    shift: u32,
}

fn zeros(n: usize) -> Option<Box<[AtomicU64]>> {
    let mut slots: Vec<AtomicU64> = Vec::new();
    slots.try_reserve_exact(n).ok()?;
    super::huge::advise(slots.spare_capacity_mut());
    slots.resize_with(n, || AtomicU64::new(0));
    Some(slots.into_boxed_slice())
}

impl Table {
    /// With `1 << bits` slots; `None` when there is no memory for them.
    pub fn new(bits: u32) -> Option<Self> {
        Some(Table { slots: zeros(1 << bits)?, seconds: Box::default(), shift: 64 - bits })
    }

    /// The same, for keys of 128 bits.
    pub fn new_wide(bits: u32) -> Option<Self> {
        Some(Table { seconds: zeros(1 << bits)?, ..Table::new(bits)? })
    }

    pub fn bits(&self) -> u32 {
        64 - self.shift
    }

    pub fn n_bytes(&self) -> usize {
        (self.slots.len() + self.seconds.len()) * 8
    }

    /// How many keys may be in it before it should grow.
    pub fn room(&self) -> usize {
        self.slots.len() / 8 * 5
    }

    /// How many keys it takes at all; beyond, looks get long.
    pub fn capacity(&self) -> usize {
        self.slots.len() / 8 * 7
    }

    #[inline]
    fn slot(&self, key: u64) -> usize {
        (mix(key) >> self.shift) as usize
    }

    /// Brings the slot of a key nearer, for an insertion that comes soon.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        #[cfg(target_arch = "x86_64")]
        {
            let slot = &raw const self.slots[self.slot(key)];
            // SAFETY: a prefetch reads nothing, whatever the address; this one is of a slot.
            unsafe {
                std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(slot.cast());
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = key;
    }

    /// Whether the key is new; it is in the set then. Keys are not zero.
    #[inline]
    pub fn insert(&self, key: u64) -> Result<bool, Full> {
        let mask = self.slots.len() - 1;
        let start = self.slot(key);
        let mut at = start;
        loop {
            let mut known = self.slots[at].load(Ordering::Relaxed);
            if known == 0 {
                // Relaxed: the key is all that there is to see.
                match self.slots[at].compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return Ok(true),
                    Err(other) => known = other,
                }
            }
            if known == key {
                return Ok(false);
            }
            at = (at + 1) & mask;
            if at == start {
                return Err(Full);
            }
        }
    }

    /// The same for a key of 128 bits, of which neither half is zero.
    #[inline]
    pub fn insert_wide(&self, key: u64, second: u64) -> Result<bool, Full> {
        let mask = self.slots.len() - 1;
        let start = self.slot(key);
        let mut at = start;
        loop {
            let mut known = self.slots[at].load(Ordering::Relaxed);
            if known == 0 {
                match self.slots[at].compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => {
                        self.seconds[at].store(second, Ordering::Relaxed);
                        return Ok(true);
                    }
                    Err(other) => known = other,
                }
            }
            if known == key && self.second(at) == second {
                return Ok(false);
            }
            at = (at + 1) & mask;
            if at == start {
                return Err(Full);
            }
        }
    }

    /// The second word of a slot that is taken. Who took it may be about to write it.
    #[inline]
    fn second(&self, at: usize) -> u64 {
        loop {
            let second = self.seconds[at].load(Ordering::Relaxed);
            if second != 0 {
                return second;
            }
            std::hint::spin_loop();
        }
    }

    /// One with twice the slots and the same keys.
    pub fn grown(&self) -> Option<Self> {
        let bits = self.bits() + 1;
        let is_wide = !self.seconds.is_empty();
        let table = if is_wide { Table::new_wide(bits) } else { Table::new(bits) }?;
        for (at, slot) in self.slots.iter().enumerate() {
            let key = slot.load(Ordering::Relaxed);
            if key != 0 {
                // It has twice the room.
                let _ = if is_wide { table.insert_wide(key, self.second(at)) } else { table.insert(key) };
            }
        }
        Some(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_survive_growth_and_fullness_is_told() {
        let mut table = Table::new(4).unwrap();
        let keys: Vec<u64> = (1..=16u64).map(|n| n * 0x1_0000_0001).collect();
        for &key in &keys {
            assert_eq!(table.insert(key), Ok(true));
            assert_eq!(table.insert(key), Ok(false));
        }
        assert_eq!(table.insert(99), Err(Full));
        table = table.grown().unwrap();
        assert!(keys.iter().all(|&key| table.insert(key) == Ok(false)));
        assert_eq!(table.insert(99), Ok(true));
    }

    #[test]
    fn both_halves_of_a_wide_key_count() {
        let table = Table::new_wide(5).unwrap();
        assert_eq!(table.insert_wide(7, 1), Ok(true));
        assert_eq!(table.insert_wide(7, 2), Ok(true));
        assert_eq!(table.insert_wide(7, 1), Ok(false));
        let table = table.grown().unwrap();
        assert_eq!(table.insert_wide(7, 2), Ok(false));
        assert_eq!(table.insert_wide(7, 3), Ok(true));
        let table = Table::new_wide(12).unwrap();
        let news: usize = std::thread::scope(|scope| {
            let work =
                || (1..=2_000u64).filter(|&n| table.insert_wide(n / 2 + 1, n % 2 + 1) == Ok(true)).count();
            let threads = [scope.spawn(work), scope.spawn(work)];
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(news, 2_000);
    }

    #[test]
    fn threads_agree_who_was_first() {
        let table = Table::new(16).unwrap();
        let news: usize = std::thread::scope(|scope| {
            let work = || (1..=20_000u64).filter(|&key| table.insert(key) == Ok(true)).count();
            let threads = [scope.spawn(work), scope.spawn(work)];
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(news, 20_000);
    }
}
