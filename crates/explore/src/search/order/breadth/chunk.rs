//! Chunks: vectors of one length, side by side, and how those of the next layer are filled. In the exact store they are just
//! keys: the pairs have the rest.

use std::sync::Mutex;

use crate::search::distribute::link::Arrivals;
use crate::search::expand::write_successor;
use crate::search::local::states::{LocalStateId, Slot};
use crate::search::lock;

/// Parts of a layer that is shared by threads (see `partition`).
pub(crate) const N_PARTS: usize = 16;
/// Vectors in a chunk.
pub(crate) const CHUNK: usize = 256;

/// Vectors of one length.
#[derive(Default)]
pub(crate) struct Chunk {
    pub(crate) stride: usize,
    /// No confluent send or drop goes first in any of them.
    pub(crate) is_representative: bool,
    /// None where the words say them.
    pub(crate) vectors: Vec<LocalStateId>,
    /// Of each vector: its fingerprint, or, in the exact store, its key, from which it is read again.
    pub(crate) words: Vec<u64>,
}

impl Chunk {
    /// With the memory of another one.
    pub(crate) fn new(mut old: Chunk, stride: usize, is_representative: bool) -> Self {
        old.vectors.clear();
        old.words.clear();
        Chunk { stride, is_representative, ..old }
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn n_bytes(&self) -> usize {
        self.vectors.capacity() * 4 + self.words.capacity() * 8
    }

    /// Adds a vector for which there is room, with its fingerprint.
    #[inline]
    pub(crate) fn write(&mut self, from: &[LocalStateId], changes: &[(Slot, LocalStateId)], print: u64) {
        if self.vectors.is_empty() {
            self.vectors.reserve(self.stride * CHUNK);
        }
        write_successor(from, changes, self.stride, &mut self.vectors);
        self.words.push(print);
    }

    /// Adds the vector of an exact key.
    #[inline]
    pub(crate) fn write_key(&mut self, key: u64) {
        self.words.push(key);
    }
}

/// Chunks of vectors that have arrived from elsewhere.
#[derive(Default)]
pub(crate) struct Arrived<'s> {
    pub(crate) chunks: Vec<Chunk>,
    /// Chunks whose memory is used again. Inserted ones end there, so what arrives must not take new memory each time.
    pub(crate) spare: Option<&'s Mutex<Vec<Chunk>>>,
}

impl Arrivals for Arrived<'_> {
    fn add(&mut self, vector: &[LocalStateId], fingerprint: u64, is_representative: bool) {
        let fits = |chunk: &&mut Chunk| {
            chunk.is_representative == is_representative
                && chunk.stride >= vector.len()
                && chunk.len() < CHUNK
        };
        match self.chunks.iter_mut().rev().take(2).find(fits) {
            Some(chunk) => chunk.write(vector, &[], fingerprint),
            None => {
                let old = self.spare.and_then(|spare| lock(spare).pop());
                let mut chunk = Chunk::new(old.unwrap_or_default(), vector.len(), is_representative);
                chunk.write(vector, &[], fingerprint);
                self.chunks.push(chunk);
            }
        }
    }
}

/// Chunks that are kept for reuse by all threads; by the one that has read them, whose cache has them.
const MAX_SPARE: usize = 1024;
const MAX_OWN: usize = 8;

/// Fills chunks for the next layer.
pub(crate) struct Writer<'s> {
    spare: &'s Mutex<Vec<Chunk>>,
    own: Vec<Chunk>,
    /// By part of the layer.
    done: [Vec<Chunk>; N_PARTS],
    /// Likewise, for vectors that are not representatives, and for those that are.
    open: [[Option<Chunk>; 2]; N_PARTS],
    pub(crate) new_bytes: u64,
}

impl<'s> Writer<'s> {
    pub(crate) fn new(spare: &'s Mutex<Vec<Chunk>>) -> Self {
        let (done, open) = Default::default();
        Writer { spare, own: Vec::with_capacity(MAX_OWN), done, open, new_bytes: 0 }
    }

    /// Takes a chunk that was read, for reuse.
    pub(crate) fn reuse(&mut self, chunk: Chunk) {
        if self.own.len() < MAX_OWN {
            return self.own.push(chunk);
        }
        let mut spare = lock(self.spare);
        if spare.len() < MAX_SPARE {
            spare.push(chunk);
        }
    }

    /// A chunk of some part with room for a vector of so many slots.
    #[inline]
    pub(crate) fn chunk(&mut self, stride: usize, is_representative: bool, part: usize) -> &mut Chunk {
        let which = usize::from(is_representative);
        let fits = |chunk: &Chunk| chunk.stride >= stride && chunk.len() < CHUNK;
        if !self.open[part][which].as_ref().is_some_and(fits) {
            self.close(part, which);
            let spare = self.own.pop().or_else(|| lock(self.spare).pop());
            self.open[part][which] = Some(Chunk::new(spare.unwrap_or_default(), stride, is_representative));
        }
        self.open[part][which].get_or_insert_default()
    }

    fn close(&mut self, part: usize, which: usize) {
        if let Some(chunk) = self.open[part][which].take() {
            self.new_bytes += chunk.n_bytes() as u64;
            self.done[part].push(chunk);
        }
    }

    pub(crate) fn take_new_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.new_bytes)
    }

    pub(crate) fn finish(mut self) -> [Vec<Chunk>; N_PARTS] {
        for part in 0..N_PARTS {
            self.close(part, 0);
            self.close(part, 1);
        }
        lock(self.spare).append(&mut self.own);
        self.done
    }
}
