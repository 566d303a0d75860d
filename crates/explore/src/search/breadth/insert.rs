//! Successors on their way into the table: their keys, and the batch in which they wait for their slots.

use std::sync::Mutex;

use super::super::cells::{CellId, Cells, Cut};
use super::super::expand::{Move, Sink, Successor};
use super::super::lock;
use super::super::reduce::hand_over::FoldedSink;
use super::super::reduce::symmetry::Symmetry;
use super::super::table::{Full, Table};
use super::super::tree::Tree;
use super::Tally;
use super::chunk::{Chunk, Writer};
use super::parts::Divider;

/// Keys between prefetch and look.
const BATCH: usize = 16;

pub(super) enum Keys<'a> {
    Fingerprint,
    Wide(Seconds<'a>),
    Exact(Box<Tree>),
}

/// Second hashes of cells, for the other half of fingerprints of 128 bits.
pub(super) struct Seconds<'a> {
    pub(super) cells: &'a Mutex<Cells<'a>>,
    pub(super) by_cell: Vec<u64>,
}

impl Seconds<'_> {
    #[inline]
    pub(super) fn get(&mut self, cell: CellId) -> u64 {
        match self.by_cell.get(cell as usize) {
            Some(&hash) => hash,
            None => self.ask(cell),
        }
    }

    #[cold]
    pub(super) fn ask(&mut self, cell: CellId) -> u64 {
        let cells = lock(self.cells);
        let known = self.by_cell.len() as CellId;
        // Zero is no cell, and adds nothing.
        self.by_cell.extend((known..=cell).map(|cell| if cell == 0 { 0 } else { cells.second_hash(cell) }));
        self.by_cell[cell as usize]
    }

    pub(super) fn of(&mut self, vector: &[CellId]) -> u64 {
        vector.iter().fold(0, |sum, &cell| sum.wrapping_add(self.get(cell)))
    }

    /// What some changes of a vector add.
    #[inline]
    pub(super) fn delta(&mut self, from: &[CellId], changes: &[(u32, CellId)]) -> u64 {
        changes.iter().fold(0, |sum, &(slot, cell)| {
            let before = from.get(slot as usize).copied().unwrap_or(0);
            sum.wrapping_add(self.get(cell)).wrapping_sub(self.get(before))
        })
    }
}

/// Zero marks a free slot.
#[inline]
pub(in super::super) fn key_of(fingerprint: u64) -> u64 {
    fingerprint.max(1)
}

/// Successors whose slots are on their way.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) entries: Vec<Entry>,
    /// Of the entries, if they are made together.
    pub(super) keys: Vec<u64>,
    pub(super) changes: Vec<(u32, CellId)>,
}

#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) key: u64,
    /// The other half of a wide key.
    pub(super) second: u64,
    pub(super) fingerprint: u64,
    /// The vector of the chunk that it comes from.
    pub(super) from: u32,
    pub(super) first: u32,
    pub(super) n: u32,
    pub(super) is_settled: bool,
}

/// Keys that were looked up a short while ago, and are in the table. Ways that differ in the order of two steps meet
/// again soon in a search by layers, so many a successor is found here, near at hand, and not in a table of
/// hundreds of megabytes.
pub(super) struct Recent {
    keys: Box<[u64; Recent::SIZE]>,
}

impl Recent {
    const SIZE: usize = 1 << 12;

    pub(super) fn new() -> Self {
        // Zero is no key.
        Recent { keys: Box::new([0; Recent::SIZE]) }
    }

    #[inline]
    fn has(&self, key: u64) -> bool {
        self.keys[key as usize % Recent::SIZE] == key
    }

    #[inline]
    fn add(&mut self, key: u64) {
        self.keys[key as usize % Recent::SIZE] = key;
    }
}

pub(super) struct Inserter<'b, 'a, 'w> {
    pub(super) chunk: &'b Chunk,
    pub(super) table: &'b Table,
    pub(super) keys: &'b mut Keys<'a>,
    pub(super) batch: &'b mut Batch,
    pub(super) recent: &'b mut Recent,
    pub(super) symmetry: Option<&'b mut Symmetry<'a>>,
    pub(super) differences: &'b mut Vec<(u32, CellId)>,
    pub(super) writer: &'b mut Writer<'w>,
    pub(super) divider: Divider,
    pub(super) tally: &'b mut Tally,
    pub(super) from: usize,
    pub(super) fingerprint: u64,
    pub(super) second: u64,
    pub(super) n_new: u64,
    /// New keys that this thread may have, together with those in `n_new`.
    pub(super) n_free: u64,
    /// Of the next successor.
    pub(super) is_settled: bool,
    /// The first vector that has to be expanded again, since the table was full, or the pairs were.
    pub(super) full_from: Option<usize>,
    pub(super) are_pairs_full: bool,
}

impl Sink for Inserter<'_, '_, '_> {
    #[inline]
    fn successor(&mut self, from: &[CellId], successor: Successor<'_>) {
        self.tally.n_transitions += 1;
        let (delta, changes) = match &mut self.symmetry {
            None => (successor.delta, successor.changes),
            Some(symmetry) => {
                let delta = symmetry.successor(from, successor.changes, self.differences);
                self.tally.n_renamed += u64::from(symmetry.has_renamed);
                (delta, &self.differences[..])
            }
        };
        let fingerprint = self.fingerprint.wrapping_add(delta);
        let mut second = 0;
        let key = match self.keys {
            Keys::Fingerprint => {
                let key = key_of(fingerprint);
                if self.recent.has(key) {
                    return;
                }
                self.table.prefetch(key);
                key
            }
            Keys::Wide(seconds) => {
                second = key_of(self.second.wrapping_add(seconds.delta(from, changes)));
                self.table.prefetch(key_of(fingerprint));
                key_of(fingerprint)
            }
            // It comes with those of the whole batch.
            Keys::Exact(tree) => match tree.add(from, changes) {
                Ok(()) => 0,
                Err(Full) => {
                    self.are_full(self.from);
                    return;
                }
            },
        };
        let first = self.batch.changes.len() as u32;
        self.batch.changes.extend_from_slice(changes);
        let n = changes.len() as u32;
        let (from, is_settled) = (self.from as u32, self.is_settled);
        self.batch.entries.push(Entry { key, second, fingerprint, from, first, n, is_settled });
        if self.batch.entries.len() == BATCH {
            self.flush();
        }
    }

    fn broken(&mut self, _: Move) {
        self.tally.n_transitions += 1;
        self.tally.breaks = true;
    }

    fn cut(&mut self, cut: Cut) {
        self.tally.cuts.add(cut);
    }
}

impl FoldedSink for Inserter<'_, '_, '_> {
    #[inline]
    fn folded(&mut self, n_folded: u32, is_settled: bool) {
        self.tally.n_folded += u64::from(n_folded);
        self.is_settled = is_settled;
    }

    fn with_symmetry<R>(&mut self, with: impl FnOnce(Option<&mut Symmetry<'_>>) -> R) -> R {
        with(self.symmetry.as_deref_mut())
    }
}

impl Inserter<'_, '_, '_> {
    #[inline]
    pub(super) fn flush(&mut self) {
        let stride = self.chunk.stride;
        if let Keys::Exact(tree) = self.keys {
            match tree.finish(&mut self.batch.keys) {
                Ok(()) => {
                    for (entry, &key) in self.batch.entries.iter_mut().zip(&self.batch.keys) {
                        entry.key = key;
                        self.table.prefetch(key);
                    }
                }
                Err(Full) => {
                    if let Some(from) = self.batch.entries.iter().map(|entry| entry.from as usize).min() {
                        self.are_full(from);
                    }
                    self.batch.entries.clear();
                }
            }
        }
        for entry in &self.batch.entries {
            let inserted = match self.keys {
                _ if self.n_new >= self.n_free => Err(Full),
                Keys::Wide(_) => self.table.insert_wide(entry.key, entry.second),
                Keys::Fingerprint | Keys::Exact(_) => self.table.insert(entry.key),
            };
            if inserted.is_ok() && matches!(self.keys, Keys::Fingerprint) {
                self.recent.add(entry.key);
            }
            match inserted {
                Ok(false) => {}
                Ok(true) => {
                    self.n_new += 1;
                    self.tally.n_configurations += 1;
                    let changes = &self.batch.changes[entry.first as usize..(entry.first + entry.n) as usize];
                    let highest = changes.iter().map(|&(slot, _)| slot as usize + 1).max().unwrap_or(0);
                    let stride_after = highest.max(stride);
                    match self.keys {
                        Keys::Fingerprint | Keys::Wide(_) => {
                            let start = entry.from as usize * stride;
                            let from = &self.chunk.vectors[start..start + stride];
                            let part = self.divider.part(from, changes);
                            let next = self.writer.chunk(stride_after, entry.is_settled, part);
                            next.write(from, changes, entry.fingerprint);
                        }
                        Keys::Exact(_) => {
                            self.writer.chunk(stride_after, entry.is_settled, 0).write_key(entry.key);
                        }
                    }
                }
                Err(_) => {
                    let from = entry.from as usize;
                    self.full_from = Some(self.full_from.map_or(from, |known| known.min(from)));
                }
            }
        }
        self.batch.entries.clear();
        self.batch.changes.clear();
    }

    /// The pairs were full at a vector.
    #[cold]
    pub(super) fn are_full(&mut self, from: usize) {
        self.full_from = Some(self.full_from.map_or(from, |known| known.min(from)));
        self.are_pairs_full = true;
    }
}
