//! Chunks: vectors of one length, side by side, and how those of the next layer are filled.

use std::sync::Mutex;

use super::super::cells::CellId;
use super::super::expand::write_successor;
use super::super::lock;

/// Vectors in a chunk.
pub(super) const CHUNK: usize = 256;

/// Vectors of one length, with their fingerprints if those are in use.
#[derive(Default)]
pub(super) struct Chunk {
    pub(super) stride: usize,
    /// No hand-over or drop goes first in any of them.
    pub(super) is_settled: bool,
    pub(super) vectors: Vec<CellId>,
    pub(super) fingerprints: Vec<u64>,
}

impl Chunk {
    pub(super) fn new(stride: usize, is_settled: bool) -> Self {
        let vectors = Vec::with_capacity(stride * CHUNK);
        Chunk { stride, is_settled, vectors, fingerprints: Vec::new() }
    }

    /// The memory of another one.
    pub(super) fn reuse(mut self, stride: usize, is_settled: bool) -> Self {
        self.vectors.clear();
        self.vectors.reserve(stride * CHUNK);
        self.fingerprints.clear();
        Chunk { stride, is_settled, ..self }
    }

    pub(super) fn len(&self) -> usize {
        self.vectors.len() / self.stride.max(1)
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.vectors.capacity() * 4 + self.fingerprints.capacity() * 8
    }
}

/// Fills chunks for the next layer.
pub(super) struct Writer<'s> {
    pub(super) spare: &'s Mutex<Vec<Chunk>>,
    pub(super) done: Vec<Chunk>,
    /// For vectors that are not settled, and for those that are.
    pub(super) open: [Option<Chunk>; 2],
    pub(super) new_bytes: u64,
}

impl Writer<'_> {
    #[inline]
    pub(super) fn write(
        &mut self,
        from: &[CellId],
        changes: &[(u32, CellId)],
        fingerprint: Option<u64>,
        is_settled: bool,
    ) {
        let highest = changes.iter().map(|&(slot, _)| slot as usize + 1).max().unwrap_or(0);
        let stride = highest.max(from.len());
        let which = usize::from(is_settled);
        let fits = |chunk: &Chunk| chunk.stride >= stride && chunk.len() < CHUNK;
        if !self.open[which].as_ref().is_some_and(fits) {
            self.close(which);
            let spare = lock(self.spare).pop();
            let chunk =
                spare.map_or_else(|| Chunk::new(stride, is_settled), |chunk| chunk.reuse(stride, is_settled));
            self.open[which] = Some(chunk);
        }
        if let Some(chunk) = &mut self.open[which] {
            write_successor(from, changes, chunk.stride, &mut chunk.vectors);
            chunk.fingerprints.extend(fingerprint);
        }
    }

    pub(super) fn close(&mut self, which: usize) {
        if let Some(chunk) = self.open[which].take() {
            self.new_bytes += chunk.n_bytes() as u64;
            self.done.push(chunk);
        }
    }

    pub(super) fn take_new_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.new_bytes)
    }

    pub(super) fn finish(mut self) -> Vec<Chunk> {
        self.close(0);
        self.close(1);
        self.done
    }
}
