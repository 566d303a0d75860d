//! Layers that are kept for a later process: keys as they are found, and from time to time the frontier ([`journal`]).

use std::sync::Arc;

use allways_run::StopReason;

use super::chunk::{Arrived, Chunk};
use super::insert::{Keys, key_of};
use super::{FIRST_BITS, Leader, write};
use crate::search::context::Tally;
use crate::search::distribute::link::Arrivals;
use crate::search::distribute::{journal, owner_of};
use crate::search::lock;
use crate::search::options::StoreKind;
use crate::search::store::table::Table;

/// Bytes of keys that are given away together.
const PIECE: usize = 1 << 16;

impl Leader<'_, '_> {
    /// Which process of how many this is.
    fn process(&self) -> (usize, usize) {
        self.shared.link.as_ref().map_or((0, 1), |link| (link.number(), link.n_processes()))
    }

    /// Goes on where a checkpoint ends, if there is one.
    pub(super) fn resume(&mut self, layer: &mut Vec<Chunk>, depth: &mut u64) -> Result<bool, String> {
        let Some(checkpoint) = &self.cx.options.checkpoint else { return Ok(false) };
        if self.cx.options.store == StoreKind::Exact {
            return Err(
                "the exact store cannot be kept in a checkpoint: its keys are numbers of one process"
                    .to_owned(),
            );
        }
        let (number, n_processes) = self.process();
        let label = self.cx.label;
        let Some(saved) = checkpoint.0.open(label, number, n_processes)? else { return Ok(false) };
        let is_wide = self.cx.options.store == StoreKind::Wide;
        let key_bytes = if is_wide { 16 } else { 8 };
        let no_memory = || "there is no memory for the checkpoint".to_owned();
        // About that many; the table grows if there are more.
        let n_keys = saved.n_key_bytes / key_bytes / n_processes as u64;
        let bits = (n_keys * 16 / 13 + 1).next_power_of_two().trailing_zeros().max(FIRST_BITS);
        let table = if is_wide { Table::new_wide(bits) } else { Table::new_for_hashes(bits) };
        let mut table = table.ok_or_else(no_memory)?;
        table.touch(0..table.n_slots());
        let (mut left, mut n_seen, mut is_out) = (Vec::new(), 0u64, false);
        checkpoint.0.read_keys(&mut |piece| {
            left.extend_from_slice(piece);
            let n_whole = left.len() / key_bytes as usize * key_bytes as usize;
            for key in left[..n_whole].chunks_exact(key_bytes as usize) {
                let word = |at: usize| {
                    let mut word = [0; 8];
                    word.copy_from_slice(&key[at..at + 8]);
                    u64::from_le_bytes(word)
                };
                if owner_of(word(0), n_processes) != number {
                    continue;
                }
                let (first, second) = (key_of(word(0)), if is_wide { key_of(word(8)) } else { 0 });
                let insert = |table: &Table| match is_wide {
                    true => table.insert_wide(first, second),
                    false => table.insert(first),
                };
                let mut inserted = insert(&table);
                while inserted.is_err() && !is_out {
                    is_out = table.grow().is_none();
                    inserted = insert(&table);
                }
                n_seen += u64::from(inserted == Ok(true));
            }
            left.drain(..n_whole);
        })?;
        if is_out || self.cx.is_over(table.n_bytes() as u64).is_some() {
            return Err(no_memory());
        }
        if !left.is_empty() {
            return Err("the checkpoint has half a key".to_owned());
        }
        let mut arrived = Arrived::default();
        let record = journal::read_frontier(
            &*checkpoint.0,
            self.cx.locals,
            &mut |vector, print, is_representative| {
                if owner_of(print, n_processes) == number {
                    arrived.add(vector, print, is_representative);
                }
            },
        )?;
        lock(self.cx.locals).meet_singles(&record.singles);
        if self.is_first() {
            self.base = record;
        }
        *layer = arrived.chunks;
        *depth = saved.depth;
        self.shared.n_seen.store(n_seen, std::sync::atomic::Ordering::Relaxed);
        let table = Arc::new(table);
        self.worker.table = table.clone();
        write(&self.shared.table, table);
        Ok(true)
    }

    /// Keeps the keys of a layer that is new.
    pub(super) fn save_keys(&mut self, layer: &[Chunk]) -> Result<(), StopReason> {
        let Some(checkpoint) = &self.cx.options.checkpoint else { return Ok(()) };
        let failed = |why: String| StopReason::Undecided { why };
        let mut bytes = Vec::with_capacity(PIECE + 16);
        for chunk in layer {
            for (at, &print) in chunk.words.iter().enumerate() {
                bytes.extend_from_slice(&print.to_le_bytes());
                if let Keys::Wide(seconds) = &mut self.worker.keys {
                    let vector = &chunk.vectors[at * chunk.stride..(at + 1) * chunk.stride];
                    bytes.extend_from_slice(&seconds.of(vector).to_le_bytes());
                }
                if bytes.len() >= PIECE {
                    checkpoint.0.add_keys(&bytes).map_err(failed)?;
                    bytes.clear();
                }
            }
        }
        checkpoint.0.add_keys(&bytes).map_err(failed)
    }

    /// Keeps what there is after a layer: its keys, and if it is time for that, all that is needed to go on from here.
    pub(super) fn save(&mut self, layer: &[Chunk], tally: &Tally, depth: u64) -> Result<(), StopReason> {
        let Some(checkpoint) = &self.cx.options.checkpoint else { return Ok(()) };
        self.save_keys(layer)?;
        let is_due = match &self.shared.link {
            None => checkpoint.0.is_due(),
            Some(_) => self.is_due,
        };
        // What a limit has left out must not count as done.
        if !is_due || self.cx.stop_reason().is_some() {
            return Ok(());
        }
        let mut record = {
            let mut locals = lock(self.cx.locals);
            let mut record = locals.record();
            record.unknown = locals.log.as_ref().and_then(|log| log.unknown.clone());
            record
        };
        record.tally = *tally;
        lock(self.cx.locals).cuts().for_each(|cut| record.tally.cuts.add(cut));
        record.unknown = record.unknown.or_else(|| self.worker.expander.memo.unknown.clone());
        record.merge(self.base.clone());
        let mut vectors = layer.iter().flat_map(|chunk| {
            let is_representative = chunk.is_representative;
            chunk.vectors.chunks_exact(chunk.stride.max(1)).map(move |vector| (vector, is_representative))
        });
        let locals = self.cx.locals;
        checkpoint
            .0
            .commit(depth, &mut |write| journal::write_frontier(locals, &record, &mut vectors, write))
            .map_err(|why| StopReason::Undecided { why })
    }
}
