//! Exact keys: a vector as a pair of pairs of pairs, each pair interned (LTSmin calls this tree compression).
//!
//! A step changes two or three leaves, so only the pairs above them are looked up anew. The topmost pair is not
//! interned: it is itself the 64-bit key, and equal keys are equal vectors. Vectors are as long as their last machine
//! asks for, rounded up to a power of two; the key names that length, so that short and long ones do not mix.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::cells::CellId;
use super::hash::mix;
use super::huge::zeros;
use super::table::Full;

/// Numbers of pairs must leave room for the length in the key.
const MAX_PAIRS: u32 = 1 << TAG_SHIFT;
/// In the index of pairs, where a few bits of the hash begin.
const TAG_SHIFT: u32 = 27;

/// Numbers for pairs, shared by all threads. It grows between rounds, like the table of keys.
///
/// The pairs lie in order of their numbers; an index finds them, with a few bits of their hashes beside the numbers, so that
/// hardly ever a pair is looked at that is another one.
pub(super) struct Pairs {
    /// By number; what a thread gave up, since another was faster, is zero.
    pairs: Box<[AtomicU64]>,
    /// Numbers and tags; zero is free.
    index: Box<[AtomicU32]>,
    shift: u32,
    /// The next number.
    next: AtomicU32,
}

impl Pairs {
    pub fn new(bits: u32) -> Option<Self> {
        let n = 1usize << bits;
        Some(Pairs {
            pairs: zeros((n / 8 * 7).min(MAX_PAIRS as usize))?,
            index: zeros(n)?,
            shift: 64 - bits,
            next: AtomicU32::new(1),
        })
    }

    /// Memory in use; that of numbers not given yet was never touched.
    pub fn n_bytes(&self) -> usize {
        self.index.len() * 4 + (self.len() + 1) * 8
    }

    /// Numbers that were given.
    pub fn len(&self) -> usize {
        (self.next.load(Ordering::Relaxed) as usize - 1).min(self.pairs.len() - 1)
    }

    pub fn room(&self) -> usize {
        (self.index.len() / 4 * 3).min(MAX_PAIRS as usize / 8 * 7)
    }

    pub fn can_grow(&self) -> bool {
        self.index.len() / 4 * 3 < MAX_PAIRS as usize / 8 * 7
    }

    #[inline]
    fn tag(hash: u64) -> u32 {
        (hash as u32) << TAG_SHIFT
    }

    /// The number of a pair that is not all zero.
    #[inline]
    fn number(&self, pair: u64) -> Result<u32, Full> {
        let mask = self.index.len() - 1;
        let hash = mix(pair);
        let tag = Self::tag(hash);
        let start = (hash >> self.shift) as usize;
        let mut at = start;
        // Ours, if it turns out to be new.
        let mut own = 0;
        loop {
            // Acquire: the pair was written before its number.
            let mut known = self.index[at].load(Ordering::Acquire);
            if known == 0 {
                if own == 0 {
                    own = self.give(pair)?;
                }
                match self.index[at].compare_exchange(0, tag | own, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => return Ok(own),
                    Err(other) => known = other,
                }
            }
            if known >> TAG_SHIFT == tag >> TAG_SHIFT {
                let number = known & (MAX_PAIRS - 1);
                if self.pairs[number as usize].load(Ordering::Relaxed) == pair {
                    if own != 0 {
                        self.pairs[own as usize].store(0, Ordering::Relaxed);
                    }
                    return Ok(number);
                }
            }
            at = (at + 1) & mask;
            if at == start {
                return Err(Full);
            }
        }
    }

    /// A number for a pair.
    fn give(&self, pair: u64) -> Result<u32, Full> {
        if self.next.load(Ordering::Relaxed) as usize >= self.pairs.len() {
            return Err(Full);
        }
        let own = self.next.fetch_add(1, Ordering::Relaxed);
        self.pairs.get(own as usize).ok_or(Full)?.store(pair, Ordering::Relaxed);
        Ok(own)
    }

    pub fn grown(&self) -> Option<Self> {
        let grown = Pairs::new(64 - self.shift + 1)?;
        let mask = grown.index.len() - 1;
        for (number, pair) in self.pairs[..=self.len()].iter().enumerate() {
            let pair = pair.load(Ordering::Relaxed);
            if pair == 0 {
                continue;
            }
            grown.pairs[number].store(pair, Ordering::Relaxed);
            let hash = mix(pair);
            let mut at = (hash >> grown.shift) as usize;
            while grown.index[at].load(Ordering::Relaxed) != 0 {
                at = (at + 1) & mask;
            }
            grown.index[at].store(Self::tag(hash) | number as u32, Ordering::Relaxed);
        }
        grown.next.store(self.len() as u32 + 1, Ordering::Relaxed);
        Some(grown)
    }
}

/// Pairs seen lately by one thread.
const CACHE: usize = 1 << 12;

/// Makes keys. One for each thread.
pub(super) struct Tree {
    pairs: Arc<Pairs>,
    cache: Box<[(u64, u32)]>,
    /// The pairs of the vector at hand, as a heap: the leaves are the second half.
    nodes: Vec<u32>,
    /// The same for a successor, where `stamp` says so.
    changed: Vec<u32>,
    stamps: Vec<u32>,
    stamp: u32,
    dirty: Vec<u32>,
}

impl Tree {
    pub fn new(pairs: Arc<Pairs>) -> Self {
        Tree {
            pairs,
            cache: vec![(0, 0); CACHE].into_boxed_slice(),
            nodes: Vec::new(),
            changed: Vec::new(),
            stamps: Vec::new(),
            stamp: 0,
            dirty: Vec::new(),
        }
    }

    /// After the shared pairs have grown.
    pub fn set_pairs(&mut self, pairs: Arc<Pairs>) {
        self.pairs = pairs;
    }

    #[inline]
    fn number(&mut self, left: u32, right: u32) -> Result<u32, Full> {
        let pair = (left as u64) << 32 | right as u64;
        if pair == 0 {
            return Ok(0);
        }
        let slot = &mut self.cache[(mix(pair) >> 40) as usize & (CACHE - 1)];
        if slot.0 == pair {
            return Ok(slot.1);
        }
        let number = self.pairs.number(pair)?;
        *slot = (pair, number);
        Ok(number)
    }

    /// Sets the vector at hand, and gives its key.
    pub fn set(&mut self, vector: &[CellId]) -> Result<u64, Full> {
        let size = size_for(vector);
        self.nodes.clear();
        self.nodes.resize(2 * size, 0);
        for (slot, &cell) in vector.iter().take(size).enumerate() {
            self.nodes[leaf(size, slot)] = cell;
        }
        self.stamps.clear();
        self.stamps.resize(2 * size, 0);
        self.changed.clear();
        self.changed.resize(2 * size, 0);
        self.stamp = 0;
        for at in (2..size).rev() {
            self.nodes[at] = self.number(self.nodes[2 * at], self.nodes[2 * at + 1])?;
        }
        Ok(key(size, self.nodes[2], self.nodes[3]))
    }

    /// The key of the vector at hand with some leaves changed.
    pub fn key(&mut self, vector: &[CellId], changes: &[(u32, CellId)]) -> Result<u64, Full> {
        let size = self.nodes.len() / 2;
        // Where a machine goes away, the vector may be shorter than its size says.
        if changes.iter().any(|&(slot, cell)| slot as usize >= size || cell == 0) {
            return self.key_from_scratch(vector, changes);
        }
        self.stamp += 1;
        let stamp = self.stamp;
        self.dirty.clear();
        for &(slot, cell) in changes {
            let at = leaf(size, slot as usize);
            if self.nodes[at] != cell {
                self.stamps[at] = stamp;
                self.changed[at] = cell;
                if self.stamps[at / 2] != stamp {
                    self.stamps[at / 2] = stamp;
                    self.dirty.push(at as u32 / 2);
                }
            }
        }
        // Parents come after all children of theirs: one level at a time.
        let mut done = 0;
        while done < self.dirty.len() {
            let at = self.dirty[done] as usize;
            done += 1;
            if at <= 1 {
                continue;
            }
            let (left, right) = (self.value(2 * at), self.value(2 * at + 1));
            self.changed[at] = self.number(left, right)?;
            if self.stamps[at / 2] != stamp {
                self.stamps[at / 2] = stamp;
                self.dirty.push(at as u32 / 2);
            }
        }
        Ok(key(size, self.value(2), self.value(3)))
    }

    #[inline]
    fn value(&self, at: usize) -> u32 {
        if self.stamps[at] == self.stamp && self.stamp != 0 { self.changed[at] } else { self.nodes[at] }
    }

    #[cold]
    fn key_from_scratch(&mut self, vector: &[CellId], changes: &[(u32, CellId)]) -> Result<u64, Full> {
        let mut whole = vector.to_vec();
        for &(slot, cell) in changes {
            if whole.len() <= slot as usize {
                whole.resize(slot as usize + 1, 0);
            }
            whole[slot as usize] = cell;
        }
        let key = self.set(&whole)?;
        self.set(vector)?;
        Ok(key)
    }
}

/// Exact keys for a search of one thread, which may grow whenever it has to.
pub(super) struct ExactKeys {
    tree: Tree,
}

impl ExactKeys {
    pub fn new() -> Option<Self> {
        Some(ExactKeys { tree: Tree::new(Arc::new(Pairs::new(12)?)) })
    }

    pub fn n_bytes(&self) -> usize {
        self.tree.pairs.n_bytes()
    }

    /// The key of a vector; `None` when there is no memory for it.
    pub fn key(&mut self, vector: &[CellId]) -> Option<u64> {
        if self.tree.pairs.len() > self.tree.pairs.room() {
            if !self.tree.pairs.can_grow() {
                return None;
            }
            self.tree.pairs = Arc::new(self.tree.pairs.grown()?);
        }
        loop {
            match self.tree.set(vector) {
                Ok(key) => return Some(key),
                Err(Full) => self.tree.pairs = Arc::new(self.tree.pairs.grown()?),
            }
        }
    }
}

fn size_for(vector: &[CellId]) -> usize {
    let len = vector.iter().rposition(|&cell| cell != 0).map_or(0, |last| last + 1);
    len.next_power_of_two().max(2)
}

/// Where a slot is among the nodes of a tree with so many leaves: by its bits from the lowest up. So both halves of a tree
/// have as many machines in them, also when the vector is just longer than a smaller tree could hold; else one half would be
/// nearly the whole vector, and have nearly as many pairs as there are vectors.
#[inline]
fn leaf(size: usize, slot: usize) -> usize {
    size + (slot.reverse_bits() >> (usize::BITS - size.trailing_zeros()))
}

#[inline]
fn key(size: usize, left: u32, right: u32) -> u64 {
    // For two leaves, the halves are cells, of which there are fewer than of pairs.
    (size.trailing_zeros() as u64) << 59 | (left as u64) << 32 | right as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_equal_when_vectors_are() {
        let mut tree = Tree::new(Arc::new(Pairs::new(12).unwrap()));
        let mut seen: Vec<(u64, Vec<u32>)> = Vec::new();
        let vectors: Vec<Vec<u32>> = vec![
            vec![1, 2],
            vec![1, 2, 0, 0, 0],
            vec![1, 2, 1, 2],
            vec![1, 2, 1, 2, 1],
            vec![3, 0, 0, 4, 0, 0, 0, 9],
            vec![1, 1, 1],
        ];
        for vector in vectors {
            let key = tree.set(&vector).unwrap();
            let last = vector.iter().rposition(|&cell| cell != 0).unwrap();
            for (other, content) in &seen {
                assert_eq!(*other == key, *content == vector[..=last]);
            }
            seen.push((key, vector[..=last].to_vec()));
        }
    }

    #[test]
    fn changed_keys_are_those_of_the_changed_vectors() {
        let mut tree = Tree::new(Arc::new(Pairs::new(12).unwrap()));
        let from = [5, 6, 7, 8, 9, 0];
        for changes in [vec![(0, 3)], vec![(1, 9), (4, 2)], vec![(5, 1)], vec![(9, 1), (2, 2)], vec![(0, 5)]]
        {
            tree.set(&from).unwrap();
            let key = tree.key(&from, &changes).unwrap();
            let mut to = from.to_vec();
            to.resize(10, 0);
            for &(slot, cell) in &changes {
                to[slot as usize] = cell;
            }
            assert_eq!(tree.set(&to).unwrap(), key);
        }
    }
}
