//! Exact keys: a vector as a pair of pairs of pairs, each pair interned (LTSmin calls this tree compression).
//!
//! A step changes two or three leaves, so only the pairs above them are looked up anew. The topmost pair is not
//! interned: it is itself the 64-bit key, and equal keys are equal vectors. Vectors are as long as their last machine
//! asks for, rounded up a little if they are long; the key names that length, so that short and long ones do not mix.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use allways_base::Idx;

use super::hash::mix;
use super::huge_pages::{prefetch, zeros};
use super::table::Full;
use crate::search::local::states::{LocalStateId, Slot};
use crate::search::local::vector;

/// Numbers of pairs must leave room for the length in the key.
const MAX_PAIRS: u32 = 1 << TAG_SHIFT;
/// In the index of pairs, where a few bits of the hash begin.
const TAG_SHIFT: u32 = 27;

/// The lengths for which there are trees, by the number in the key less one.
const LENGTHS: [usize; 31] = [
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    15,
    16,
    20,
    24,
    28,
    32,
    40,
    48,
    56,
    64,
    96,
    128,
    192,
    256,
    1 << 9,
    1 << 12,
    1 << 16,
    1 << 24,
];

/// Numbers for pairs, shared by all threads. It grows between rounds, like the table of keys.
///
/// The pairs lie in order of their numbers; an index finds them, with a few bits of their hashes beside the numbers, so that
/// a pair is hardly ever compared with another one.
pub(crate) struct Pairs {
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

    /// Brings the place of a pair in the index nearer.
    #[inline]
    fn prefetch(&self, pair: u64) {
        prefetch(&self.index[(mix(pair) >> self.shift) as usize]);
    }

    /// The same for what is found there.
    #[inline]
    fn prefetch_found(&self, pair: u64) {
        let hash = mix(pair);
        let known = self.index[(hash >> self.shift) as usize].load(Ordering::Relaxed);
        if known != 0 && known >> TAG_SHIFT == Self::tag(hash) >> TAG_SHIFT {
            prefetch(&self.pairs[(known & (MAX_PAIRS - 1)) as usize]);
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
///
/// Keys of successors are made in batches, from the leaves up, all nodes of one level together: so the looks into the index of
/// pairs, each of which would be waited for, are on their way at the same time.
pub(crate) struct Tree {
    pairs: Arc<Pairs>,
    cache: Box<[(u64, u32)]>,
    /// Which of `LENGTHS` the tree of the vector at hand is for, from one.
    shape: usize,
    /// The pairs of the vector at hand, as a heap: below node `n` are `2n` and `2n + 1`.
    nodes: Vec<u32>,
    /// The same, of vectors that are not at hand.
    scratch: Vec<u32>,
    /// By number, as far as they were needed.
    shapes: [Option<Box<Shape>>; LENGTHS.len() + 1],
    /// The last slot of the vector at hand that is taken.
    last: usize,
    /// By node: whether it was changed in the vector or successor of this number, and its step there.
    stamps: Vec<u32>,
    step_of: Vec<u32>,
    stamp: u32,
    steps: Vec<Step>,
    /// Steps of the batch by the level of their nodes, that of the root first.
    levels: Vec<Vec<u32>>,
    /// Of each successor of the batch: the step of its root, or its key.
    roots: Vec<Root>,
}

/// The nodes of the trees for vectors of one length.
struct Shape {
    n_nodes: usize,
    /// By slot: its place among the nodes.
    leaves: Vec<u32>,
    /// Those that are pairs, without the topmost, from the top.
    inner: Vec<u32>,
}

impl Shape {
    fn new(length: usize) -> Self {
        let n_nodes = 2 * length.next_power_of_two();
        let leaves: Vec<u32> = (0..length).map(|slot| leaf(length, slot) as u32).collect();
        // What is above a leaf is a pair.
        let mut is_inner = vec![false; n_nodes];
        for &leaf in &leaves {
            let mut at = leaf as usize / 2;
            while at > 1 && !is_inner[at] {
                is_inner[at] = true;
                at /= 2;
            }
        }
        let inner = (2..n_nodes as u32).filter(|&at| is_inner[at as usize]).collect();
        Shape { n_nodes, leaves, inner }
    }
}

/// A changed node of a successor.
struct Step {
    left: u32,
    right: u32,
    /// The step of the node above.
    above: u32,
    is_right: bool,
    /// Not in the cache.
    is_open: bool,
}

enum Root {
    Step { shape: usize, step: u32 },
    Key(u64),
}

impl Tree {
    pub fn new(pairs: Arc<Pairs>) -> Self {
        Tree {
            pairs,
            cache: vec![(0, 0); CACHE].into_boxed_slice(),
            shape: 0,
            nodes: Vec::new(),
            scratch: Vec::new(),
            shapes: Default::default(),
            last: 0,
            stamps: Vec::new(),
            step_of: Vec::new(),
            stamp: 0,
            steps: Vec::new(),
            levels: Vec::new(),
            roots: Vec::new(),
        }
    }

    /// After the shared pairs have grown.
    pub fn set_pairs(&mut self, pairs: Arc<Pairs>) {
        self.pairs = pairs;
    }

    #[inline]
    fn place(pair: u64) -> usize {
        (mix(pair) >> 40) as usize & (CACHE - 1)
    }

    #[inline]
    fn number(&mut self, left: u32, right: u32) -> Result<u32, Full> {
        let pair = (left as u64) << 32 | right as u64;
        if pair == 0 {
            return Ok(0);
        }
        let slot = &mut self.cache[Self::place(pair)];
        if slot.0 == pair {
            return Ok(slot.1);
        }
        let number = self.pairs.number(pair)?;
        *slot = (pair, number);
        Ok(number)
    }

    /// Has the nodes of a tree of that shape.
    #[inline]
    fn reshape(&mut self, shape: usize) {
        if self.shape != shape {
            self.reshape_now(shape);
        }
    }

    fn reshape_now(&mut self, shape: usize) {
        self.shape = shape;
        let known = self.shapes[shape].get_or_insert_with(|| Box::new(Shape::new(LENGTHS[shape - 1])));
        if self.nodes.len() < known.n_nodes {
            self.nodes.resize(known.n_nodes, 0);
            self.stamps.resize(known.n_nodes, 0);
            self.step_of.resize(known.n_nodes, 0);
        }
    }

    /// Reads the vector at hand, of so many slots, from its key.
    pub fn open(&mut self, key: u64, n_slots: usize, vector: &mut Vec<LocalStateId>) {
        self.reshape((key >> 59) as usize);
        let Tree { pairs, shapes, nodes, .. } = self;
        vector.clear();
        if let Some(shape) = &shapes[self.shape] {
            (nodes[2], nodes[3]) = ((key >> 32) as u32 & (MAX_PAIRS - 1), key as u32);
            for &at in &shape.inner {
                let at = at as usize;
                let pair = pairs.pairs[nodes[at] as usize].load(Ordering::Relaxed);
                (nodes[2 * at], nodes[2 * at + 1]) = ((pair >> 32) as u32, pair as u32);
            }
            vector.extend(
                shape.leaves.iter().take(n_slots).map(|&leaf| LocalStateId::from_u32(nodes[leaf as usize])),
            );
        }
        vector.resize(n_slots, LocalStateId::ABSENT);
        self.last = vector.iter().rposition(|&local| !local.is_absent()).unwrap_or(0);
    }

    /// Brings the first pairs of a key nearer.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        for number in [(key >> 32) as u32 & (MAX_PAIRS - 1), key as u32] {
            // In short vectors it may be that of a local state.
            if let Some(pair) = self.pairs.pairs.get(number as usize) {
                prefetch(pair);
            }
        }
    }

    /// Of the vector at hand.
    fn key(&self) -> u64 {
        key(self.shape, self.nodes[2], self.nodes[3])
    }

    /// The key of any vector.
    pub fn key_of(&mut self, vector: &[LocalStateId]) -> Result<u64, Full> {
        let shape = shape_for(vector)?;
        let known = match self.shapes[shape].take() {
            Some(known) => known,
            None => Box::new(Shape::new(LENGTHS[shape - 1])),
        };
        let mut nodes = std::mem::take(&mut self.scratch);
        nodes.resize(nodes.len().max(known.n_nodes), 0);
        let locals = vector.iter().copied().chain(std::iter::repeat(LocalStateId::ABSENT));
        for (&leaf, local) in known.leaves.iter().zip(locals) {
            nodes[leaf as usize] = local.as_u32();
        }
        let done = known.inner.iter().rev().try_for_each(|&at| {
            let at = at as usize;
            nodes[at] = self.number(nodes[2 * at], nodes[2 * at + 1])?;
            Ok(())
        });
        let key = key(shape, nodes[2], nodes[3]);
        self.shapes[shape] = Some(known);
        self.scratch = nodes;
        done.map(|()| key)
    }

    fn next_stamp(&mut self) -> u32 {
        if self.stamp == u32::MAX {
            self.stamps.fill(0);
            self.stamp = 0;
        }
        self.stamp += 1;
        self.stamp
    }

    /// Adds the vector at hand, with some leaves changed, to the batch.
    pub fn add(&mut self, vector: &[LocalStateId], changes: &[(Slot, LocalStateId)]) -> Result<(), Full> {
        let Some(shape) = &self.shapes[self.shape] else { return Err(Full) };
        // Where the last machine goes away, the vector may be shorter than its shape says.
        let is_longer = |&(slot, _): &(Slot, LocalStateId)| slot.index() >= shape.leaves.len();
        let is_shorter =
            |&(slot, local): &(Slot, LocalStateId)| local.is_absent() && slot.index() >= self.last;
        if changes.iter().any(|change| is_longer(change) || is_shorter(change)) {
            let key = self.key_from_scratch(vector, changes)?;
            self.roots.push(Root::Key(key));
            return Ok(());
        }
        let stamp = self.next_stamp();
        for &(slot, local) in changes {
            let Some(shape) = &self.shapes[self.shape] else { continue };
            let mut at = shape.leaves[slot.index()] as usize;
            if self.nodes[at] == local.as_u32() {
                continue;
            }
            // Up to where another change has been; the leaf itself has no step.
            let mut below = None;
            loop {
                let is_right = at & 1 == 1;
                at /= 2;
                let is_known = self.stamps[at] == stamp;
                let step = if is_known { self.step_of[at] } else { self.new_step(at, stamp) };
                match below {
                    None if is_right => self.steps[step as usize].right = local.as_u32(),
                    None => self.steps[step as usize].left = local.as_u32(),
                    Some(below) => {
                        let below: &mut Step = &mut self.steps[below as usize];
                        (below.above, below.is_right) = (step, is_right);
                    }
                }
                if is_known || at == 1 {
                    break;
                }
                below = Some(step);
            }
        }
        let is_changed = self.stamps[1] == stamp;
        self.roots.push(match is_changed {
            true => Root::Step { shape: self.shape, step: self.step_of[1] },
            false => Root::Key(self.key()),
        });
        Ok(())
    }

    fn new_step(&mut self, at: usize, stamp: u32) -> u32 {
        let number = self.steps.len() as u32;
        let (left, right) = (self.nodes[2 * at], self.nodes[2 * at + 1]);
        self.steps.push(Step { left, right, above: 0, is_right: false, is_open: false });
        self.stamps[at] = stamp;
        self.step_of[at] = number;
        let level = at.ilog2() as usize;
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, Vec::new);
        }
        self.levels[level].push(number);
        number
    }

    /// Ends the batch: its keys, in order.
    pub fn finish(&mut self, keys: &mut Vec<u64>) -> Result<(), Full> {
        keys.clear();
        let done = (1..self.levels.len()).rev().try_for_each(|level| self.climb(level));
        if done.is_ok() {
            keys.extend(self.roots.iter().map(|root| match *root {
                Root::Key(key) => key,
                Root::Step { shape, step } => {
                    let Step { left, right, .. } = self.steps[step as usize];
                    key(shape, left, right)
                }
            }));
        }
        self.roots.clear();
        self.steps.clear();
        self.levels.iter_mut().for_each(Vec::clear);
        done
    }

    /// Numbers the nodes of one level, and tells those above.
    fn climb(&mut self, level: usize) -> Result<(), Full> {
        let Tree { pairs, cache, steps, levels, .. } = self;
        for &at in &levels[level] {
            let Step { left, right, above, is_right, .. } = steps[at as usize];
            let pair = u64::from(left) << 32 | u64::from(right);
            let (known, number) = cache[Self::place(pair)];
            if pair == 0 || known == pair {
                tell(steps, above, is_right, if pair == 0 { 0 } else { number });
            } else {
                steps[at as usize].is_open = true;
                pairs.prefetch(pair);
            }
        }
        for &at in &levels[level] {
            let Step { left, right, is_open, .. } = steps[at as usize];
            if is_open {
                pairs.prefetch_found(u64::from(left) << 32 | u64::from(right));
            }
        }
        for &at in &levels[level] {
            let Step { left, right, above, is_right, is_open } = steps[at as usize];
            if is_open {
                let pair = u64::from(left) << 32 | u64::from(right);
                let number = pairs.number(pair)?;
                cache[Self::place(pair)] = (pair, number);
                tell(steps, above, is_right, number);
            }
        }
        Ok(())
    }

    #[cold]
    fn key_from_scratch(
        &mut self,
        vector: &[LocalStateId],
        changes: &[(Slot, LocalStateId)],
    ) -> Result<u64, Full> {
        let mut whole = vector.to_vec();
        vector::apply(&mut whole, changes);
        self.key_of(&whole)
    }
}

#[inline]
fn tell(steps: &mut [Step], above: u32, is_right: bool, number: u32) {
    let above = &mut steps[above as usize];
    *(if is_right { &mut above.right } else { &mut above.left }) = number;
}

/// Exact keys for a search of one thread, which may grow whenever it has to.
pub(crate) struct ExactKeys {
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
    pub fn key(&mut self, vector: &[LocalStateId]) -> Option<u64> {
        if self.tree.pairs.len() > self.tree.pairs.room() {
            if !self.tree.pairs.can_grow() {
                return None;
            }
            self.tree.pairs = Arc::new(self.tree.pairs.grown()?);
        }
        loop {
            match self.tree.key_of(vector) {
                Ok(key) => return Some(key),
                Err(Full) => self.tree.pairs = Arc::new(self.tree.pairs.grown()?),
            }
        }
    }
}

/// `Full` if there is no tree for so long a vector.
fn shape_for(vector: &[LocalStateId]) -> Result<usize, Full> {
    let length = vector.iter().rposition(|&local| !local.is_absent()).map_or(0, |last| last + 1);
    let shape = LENGTHS.partition_point(|&known| known < length) + 1;
    if shape > LENGTHS.len() { Err(Full) } else { Ok(shape) }
}

/// Where a slot is among the nodes of the tree for so many slots: by its bits from the lowest up, as many as it takes until
/// no other slot has the same. So both halves of a tree have as many machines in them, and each pair has two halves.
fn leaf(length: usize, slot: usize) -> usize {
    let is_alone = |depth: u32| slot < 1 << depth && slot + (1 << depth) >= length;
    let depth = (1..usize::BITS - 1).find(|&depth| is_alone(depth)).unwrap_or(1);
    (1 << depth) + (slot.reverse_bits() >> (usize::BITS - depth))
}

#[inline]
fn key(shape: usize, left: u32, right: u32) -> u64 {
    // In short vectors the halves may be local states, of which there are fewer than of pairs.
    (shape as u64) << 59 | (left as u64) << 32 | right as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> LocalStateId {
        LocalStateId::from_u32(number)
    }

    fn locals(numbers: &[u32]) -> Vec<LocalStateId> {
        numbers.iter().copied().map(id).collect()
    }

    #[test]
    fn trees_have_one_leaf_for_each_slot_and_two_halves_everywhere() {
        for &length in &LENGTHS[..27] {
            let shape = Shape::new(length);
            // Without the topmost.
            let mut nodes: Vec<u32> = shape.leaves.iter().chain(&shape.inner).copied().collect();
            nodes.sort_unstable();
            nodes.dedup();
            assert_eq!(nodes.len(), 2 * length - 2);
            assert!(nodes.iter().all(|&at| nodes.contains(&(at ^ 1))));
            assert!(shape.inner.iter().all(|&at| nodes.contains(&(2 * at))));
            assert!(shape.leaves.iter().all(|&at| !nodes.contains(&(2 * at))));
        }
    }

    #[test]
    fn keys_are_equal_when_vectors_are() {
        let mut tree = Tree::new(Arc::new(Pairs::new(12).unwrap()));
        let mut seen: Vec<(u64, Vec<LocalStateId>)> = Vec::new();
        let vectors = [
            locals(&[1, 2]),
            locals(&[1, 2, 0, 0, 0]),
            locals(&[1, 2, 1, 2]),
            locals(&[1, 2, 1, 2, 1]),
            locals(&[3, 0, 0, 4, 0, 0, 0, 9]),
            locals(&[1, 1, 1]),
        ];
        for vector in vectors {
            let key = tree.key_of(&vector).unwrap();
            let last = vector.iter().rposition(|local| !local.is_absent()).unwrap();
            for (other, content) in &seen {
                assert_eq!(*other == key, *content == vector[..=last]);
            }
            seen.push((key, vector[..=last].to_vec()));
        }
        let mut read = Vec::new();
        for (key, content) in seen {
            tree.open(key, 9, &mut read);
            assert_eq!(read[..content.len()], content);
            assert!(read.len() == 9 && read[content.len()..].iter().all(|local| local.is_absent()));
            assert_eq!(tree.key(), key);
        }
    }

    #[test]
    fn changed_keys_are_those_of_the_changed_vectors() {
        let mut tree = Tree::new(Arc::new(Pairs::new(12).unwrap()));
        let vectors = [
            locals(&[5, 6, 7, 8, 9, 0]),
            locals(&[5, 0, 7, 8, 9, 3]),
            locals(&[5, 0, 7]),
            locals(&[1, 2, 3, 4, 5, 6, 7, 8]),
        ];
        let changes = [
            vec![(0, 3)],
            vec![(1, 9), (2, 2)],
            vec![(2, 1)],
            vec![(9, 1), (2, 2)],
            vec![(0, 5)],
            vec![(1, 0), (0, 7)],
            vec![(2, 0)],
            vec![(7, 0), (6, 0)],
            vec![],
        ];
        let changes: [Vec<(Slot, LocalStateId)>; 9] = changes
            .map(|list| list.into_iter().map(|(slot, local)| (Slot::from_u32(slot), id(local))).collect());
        let mut keys = Vec::new();
        let mut expected = Vec::new();
        let mut read = Vec::new();
        for from in &vectors {
            let key = tree.key_of(from).unwrap();
            tree.open(key, from.len(), &mut read);
            assert_eq!(&read, from);
            for changes in &changes {
                tree.add(from, changes).unwrap();
                let mut to = from.clone();
                to.resize(10, LocalStateId::ABSENT);
                for &(slot, local) in changes {
                    to[slot.index()] = local;
                }
                expected.push(to);
            }
        }
        tree.finish(&mut keys).unwrap();
        assert_eq!(keys.len(), expected.len());
        for (key, to) in keys.iter().zip(&expected) {
            assert_eq!(tree.key_of(to).unwrap(), *key, "{to:?}");
        }
        tree.finish(&mut keys).unwrap();
        assert!(keys.is_empty());
    }
}
