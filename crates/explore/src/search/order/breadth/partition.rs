//! Which configurations of a layer are stored side by side when several threads share it.
//!
//! Two steps of different machines make a diamond: four configurations with most local states in common. In the order in which one
//! thread finds them they are near each other, and what it has just looked up is still cached for the next. When
//! two threads share them, each gets some, and in the next layer both look up everything: on a
//! Paxos model of 2.7 million configurations each thread missed a fifth of what a single thread has cached. So a layer is partitioned by
//! the local state of one machine, and each thread has some of the parts: steps of other machines stay in the same part.

use allways_base::Idx;
use rustc_hash::FxHashSet;

use super::chunk::{Chunk, N_PARTS};
use crate::search::local::states::{LocalStateId, Slot};
use crate::search::store::hash::mix;

/// Smaller layers are not divided: there would be many chunks with hardly anything in them. Where checks are on, all but the smallest are, so
/// that small programs show what goes wrong.
pub(crate) const MIN_DIVIDED: u64 = if cfg!(debug_assertions) { 8 } else { 512 * N_PARTS as u64 };
/// Vectors from which a machine is chosen.
const SAMPLE: usize = 1024;
/// The share of the largest part, at most.
const MAX_SHARE: f64 = 0.25;

/// By the local state of which slot a layer is divided, if it is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Partition {
    slot: Option<usize>,
}

impl Partition {
    /// The slot which divides a layer evenly, and of those the one with the fewest local states, since that changes seldom.
    pub fn choose(layer: &[Chunk]) -> Self {
        let n_vectors: usize = layer.iter().map(Chunk::len).sum();
        let apart = (n_vectors / SAMPLE).max(1);
        let vectors = layer.iter().flat_map(|chunk| chunk.vectors.chunks_exact(chunk.stride.max(1)));
        let sample: Vec<&[LocalStateId]> = vectors.step_by(apart).collect();
        let n_slots = sample.iter().map(|vector| vector.len()).max().unwrap_or(0);
        let candidate = |slot: usize| {
            let mut locals = FxHashSet::default();
            let mut sizes = [0usize; N_PARTS];
            for vector in &sample {
                let local = vector.get(slot).copied().unwrap_or(LocalStateId::ABSENT);
                locals.insert(local);
                sizes[part_of(local)] += 1;
            }
            let largest = sizes.into_iter().max().unwrap_or(0);
            (largest as f64 <= MAX_SHARE * sample.len() as f64).then_some((locals.len(), slot))
        };
        Partition { slot: (0..n_slots).filter_map(candidate).min().map(|(_, slot)| slot) }
    }

    /// The part of a successor.
    #[inline]
    pub fn part(self, from: &[LocalStateId], changes: &[(Slot, LocalStateId)]) -> usize {
        let Some(slot) = self.slot else { return 0 };
        let changed = changes.iter().find(|change| change.0.index() == slot);
        part_of(
            changed
                .map_or_else(|| from.get(slot).copied().unwrap_or(LocalStateId::ABSENT), |change| change.1),
        )
    }
}

#[inline]
fn part_of(local: LocalStateId) -> usize {
    mix(u64::from(local.as_u32())) as usize % N_PARTS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(vectors: impl Iterator<Item = [u32; 3]>) -> Chunk {
        let mut chunk = Chunk { stride: 3, ..Chunk::default() };
        vectors.for_each(|vector| chunk.write(&vector.map(LocalStateId::from_u32), &[], 1));
        chunk
    }

    fn part(divider: Partition, vector: [u32; 3], changes: &[(u32, u32)]) -> usize {
        let change = |&(slot, local): &(u32, u32)| (Slot::from_u32(slot), LocalStateId::from_u32(local));
        let changes: Vec<_> = changes.iter().map(change).collect();
        divider.part(&vector.map(LocalStateId::from_u32), &changes)
    }

    #[test]
    fn the_slot_that_divides_evenly_and_changes_least_is_chosen() {
        let layer = [chunk((0..3_000).map(|n| [1, n % 64 + 1, n + 100]))];
        let divider = Partition::choose(&layer);
        assert_eq!(divider, Partition { slot: Some(1) });
        let one = part(divider, [1, 5, 100], &[(2, 7)]);
        assert_eq!(one, part(divider, [2, 5, 1], &[]));
        assert_eq!(part(divider, [1, 9, 1], &[(1, 5)]), one);
        let same = [chunk((0..3_000).map(|n| [1, n % 2 + 1, 3]))];
        assert_eq!(Partition::choose(&same), Partition::default());
        assert_eq!(part(Partition::default(), [1, 2, 3], &[(1, 4)]), 0);
    }
}
