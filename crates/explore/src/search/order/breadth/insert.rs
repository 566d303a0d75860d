//! Successors on their way into the table: their keys, and the batch in which they wait for their slots.

use std::sync::Mutex;

use allways_base::Idx;

use super::chunk::{Chunk, Writer};
use super::partition::Partition;
use crate::search::context::Tally;
use crate::search::distribute::flat::Outbox;
use crate::search::distribute::link::Link;
use crate::search::expand::{Move, Sink, Successor, write_successor};
use crate::search::local::states::{Cut, LocalStateId, LocalStates, Slot};
use crate::search::local::vector;
use crate::search::lock;
use crate::search::reduce::canonical::Canonicalizer;
use crate::search::reduce::confluent_sends::MergedSink;
use crate::search::store::table::{Full, Table};
use crate::search::store::tree::Tree;

/// Keys between prefetch and look.
const BATCH: usize = 16;

pub(crate) enum Keys<'a> {
    Fingerprint,
    Wide(Seconds<'a>),
    Exact(Box<Tree>),
}

/// Hashes of local states by number: second ones, for the other half of fingerprints of 128 bits; or first ones, where fingerprints are
/// not at hand.
pub(crate) struct Seconds<'a> {
    pub(crate) is_first: bool,
    pub(crate) locals: &'a Mutex<LocalStates<'a>>,
    pub(crate) by_local: Vec<u64>,
}

impl Seconds<'_> {
    #[inline]
    pub(crate) fn get(&mut self, local: LocalStateId) -> u64 {
        match self.by_local.get(local.index()) {
            Some(&hash) => hash,
            None => self.ask(local),
        }
    }

    #[cold]
    pub(crate) fn ask(&mut self, local: LocalStateId) -> u64 {
        let locals = lock(self.locals);
        // Zero is no local state, and adds nothing.
        let is_first = self.is_first;
        let new = (self.by_local.len()..=local.index()).map(LocalStateId::new);
        self.by_local.extend(new.map(|local| match local {
            LocalStateId::ABSENT => 0,
            _ if is_first => locals.hash(local),
            _ => locals.second_hash(local),
        }));
        self.by_local[local.index()]
    }

    pub(crate) fn of(&mut self, vector: &[LocalStateId]) -> u64 {
        vector.iter().fold(0, |sum, &local| sum.wrapping_add(self.get(local)))
    }

    /// What some changes of a vector add.
    #[inline]
    pub(crate) fn delta(&mut self, from: &[LocalStateId], changes: &[(Slot, LocalStateId)]) -> u64 {
        changes.iter().fold(0, |sum, &(slot, local)| {
            let before = vector::local_at(from, slot);
            sum.wrapping_add(self.get(local)).wrapping_sub(self.get(before))
        })
    }
}

/// Zero marks a free slot.
#[inline]
pub(crate) fn key_of(fingerprint: u64) -> u64 {
    fingerprint.max(1)
}

/// Successors whose slots are on their way.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) entries: Vec<Entry>,
    /// Of the entries, if they are made together.
    pub(crate) keys: Vec<u64>,
    pub(crate) changes: Vec<(Slot, LocalStateId)>,
}

#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) key: u64,
    /// The other half of a wide key.
    pub(crate) second: u64,
    pub(crate) fingerprint: u64,
    /// The vector of the chunk that it comes from.
    pub(crate) from: u32,
    pub(crate) first: u32,
    pub(crate) n: u32,
    pub(crate) is_representative: bool,
}

/// Keys that were looked up a short while ago, and are in the table. Ways that differ in the order of two steps meet
/// again soon in a search by layers, so many a successor is found here, near at hand, and not in a table of
/// hundreds of megabytes.
pub(crate) struct Recent {
    keys: Box<[u64; Recent::SIZE]>,
}

impl Recent {
    const SIZE: usize = 1 << 12;

    pub(crate) fn new() -> Self {
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

/// Where successors go that other processes own.
pub(crate) struct Route<'b, 'a> {
    pub(crate) link: &'b Link<'a>,
    /// By process.
    pub(crate) outboxes: &'b mut [Outbox],
    pub(crate) vector: Vec<LocalStateId>,
}

impl Route<'_, '_> {
    /// Sends what makes a block; all of it, if that is asked for.
    pub(crate) fn send(&mut self, locals: &Mutex<LocalStates<'_>>, all: bool) {
        for (to, outbox) in self.outboxes.iter_mut().enumerate() {
            if all || outbox.is_large() {
                self.link.send(to, locals, outbox);
            }
        }
    }
}

pub(crate) struct Inserter<'b, 'a, 'w> {
    /// If there are other processes.
    pub(crate) route: Option<Route<'b, 'a>>,
    pub(crate) chunk: &'b Chunk,
    pub(crate) table: &'b Table,
    pub(crate) keys: &'b mut Keys<'a>,
    pub(crate) batch: &'b mut Batch,
    pub(crate) recent: &'b mut Recent,
    pub(crate) canonicalizer: Option<&'b mut Canonicalizer<'a>>,
    pub(crate) differences: &'b mut Vec<(Slot, LocalStateId)>,
    pub(crate) writer: &'b mut Writer<'w>,
    pub(crate) divider: Partition,
    pub(crate) tally: &'b mut Tally,
    pub(crate) from: usize,
    pub(crate) fingerprint: u64,
    pub(crate) second: u64,
    pub(crate) n_new: u64,
    /// New keys that this thread may have, together with those in `n_new`.
    pub(crate) n_free: u64,
    /// Of the next successor.
    pub(crate) is_representative: bool,
    /// The first vector that has to be expanded again, since the table was full, or the pairs were.
    pub(crate) full_from: Option<usize>,
    pub(crate) are_pairs_full: bool,
}

impl Sink for Inserter<'_, '_, '_> {
    #[inline]
    fn successor(&mut self, from: &[LocalStateId], successor: Successor<'_>) {
        self.tally.n_transitions += 1;
        let (delta, changes) = match &mut self.canonicalizer {
            None => (successor.delta, successor.changes),
            Some(canonicalizer) => {
                let delta = canonicalizer.successor(from, successor.changes, self.differences);
                canonicalizer.count(self.tally);
                (delta, &self.differences[..])
            }
        };
        let fingerprint = self.fingerprint.wrapping_add(delta);
        if let Some(route) = &mut self.route {
            let owner = route.link.owner_of(fingerprint);
            if owner != route.link.number() {
                let key = key_of(fingerprint);
                if matches!(self.keys, Keys::Fingerprint) {
                    if self.recent.has(key) {
                        return;
                    }
                    // It was sent, so its owner has it soon.
                    self.recent.add(key);
                }
                route.vector.clear();
                let highest = changes.iter().map(|&(slot, _)| slot.index() + 1).max().unwrap_or(0);
                write_successor(from, changes, highest.max(from.len()), &mut route.vector);
                route.outboxes[owner].push(route.vector.iter().copied(), self.is_representative);
                return;
            }
        }
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
        let (from, is_representative) = (self.from as u32, self.is_representative);
        self.batch.entries.push(Entry { key, second, fingerprint, from, first, n, is_representative });
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

impl MergedSink for Inserter<'_, '_, '_> {
    #[inline]
    fn merged(&mut self, n_merged: u32, is_representative: bool) {
        self.tally.n_merged += u64::from(n_merged);
        self.is_representative = is_representative;
    }

    fn with_canonicalizer<R>(&mut self, with: impl FnOnce(Option<&mut Canonicalizer<'_>>) -> R) -> R {
        with(self.canonicalizer.as_deref_mut())
    }
}

impl Inserter<'_, '_, '_> {
    #[inline]
    pub(crate) fn flush(&mut self) {
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
                    let highest = changes.iter().map(|&(slot, _)| slot.index() + 1).max().unwrap_or(0);
                    let stride_after = highest.max(stride);
                    match self.keys {
                        Keys::Fingerprint | Keys::Wide(_) => {
                            let start = entry.from as usize * stride;
                            let from = &self.chunk.vectors[start..start + stride];
                            let part = self.divider.part(from, changes);
                            let next = self.writer.chunk(stride_after, entry.is_representative, part);
                            next.write(from, changes, entry.fingerprint);
                        }
                        Keys::Exact(_) => {
                            self.writer.chunk(stride_after, entry.is_representative, 0).write_key(entry.key);
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
    pub(crate) fn are_full(&mut self, from: usize) {
        self.full_from = Some(self.full_from.map_or(from, |known| known.min(from)));
        self.are_pairs_full = true;
    }
}
