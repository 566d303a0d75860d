//! What does not fit into memory goes to disk: keys that were visited, in sorted runs, and vectors of layers.
//!
//! When the table may not grow, all of its keys become a *run* ([`runs`](crate::search::store::runs)), and it is empty again. From then on a vector with
//! a key that is new to the table is a *candidate*: it is in the next layer if no run has its key. Candidates are looked up together, before the
//! table is emptied and at the end of the layer (delayed duplicate detection), so only what is new is ever expanded, and all figures are those of
//! a search in memory. Since the table has every candidate since the last look, no two of these have one key, and no run is younger
//! than a candidate that was not looked up.
//!
//! Chunks of the next layer go to a file when they take too much, and are read back some at a time.

use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use allways_run::StopReason;

use super::chunk::{CHUNK, Chunk};
use super::insert::{Keys, Seconds, key_of};
use super::{FIRST_BITS, Leader, read};
use crate::search::context::Tally;
use crate::search::local::states::LocalStateId;
use crate::search::lock;
use crate::search::options::StoreKind;
use crate::search::store::runs::{Key, Run, Scratch, ScratchFile};

/// What is left of the memory limit after local states is shared: the table and the one that replaces it may have three of so many parts, chunks of the next
/// layer one, those of the layer at hand two. The rest is for sorting keys.
const PARTS: u64 = 8;
const TABLE_PARTS: u64 = 3;
/// The least that each part has.
const LEAST: u64 = 1 << 18;
/// Most slots of a vector that is read back; files are ours, and no vector is near that.
const MAX_STRIDE: usize = 1 << 24;

type Done<T> = Result<T, StopReason>;

fn failed(error: std::io::Error) -> StopReason {
    StopReason::Undecided { why: format!("--spill: {error}") }
}

/// Chunks in a file.
struct ChunkFile {
    file: BufWriter<Box<dyn ScratchFile>>,
    n_vectors: u64,
}

impl ChunkFile {
    fn new(scratch: &dyn Scratch) -> Done<Self> {
        let file = BufWriter::with_capacity(1 << 16, scratch.file().map_err(failed)?);
        Ok(ChunkFile { file, n_vectors: 0 })
    }

    fn add(&mut self, chunk: &Chunk) -> Done<()> {
        let mut bytes = Vec::with_capacity(12 + chunk.words.len() * 8 + chunk.vectors.len() * 4);
        for n in [chunk.stride as u32, chunk.len() as u32, u32::from(chunk.is_representative)] {
            bytes.extend_from_slice(&n.to_le_bytes());
        }
        chunk.words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        chunk.vectors.iter().for_each(|local| bytes.extend_from_slice(&local.as_u32().to_le_bytes()));
        self.n_vectors += chunk.len() as u64;
        self.file.write_all(&bytes).map_err(failed)
    }

    fn read(self) -> Done<ChunkReader> {
        let mut file = self.file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        Ok(ChunkReader { file: BufReader::with_capacity(1 << 16, file), n_left: self.n_vectors })
    }
}

/// The same, from the beginning on.
struct ChunkReader {
    file: BufReader<Box<dyn ScratchFile>>,
    /// Vectors that were not read yet.
    n_left: u64,
}

impl ChunkReader {
    fn next(&mut self) -> Done<Option<Chunk>> {
        if self.n_left == 0 {
            return Ok(None);
        }
        let damaged = || failed(std::io::Error::other("what was written is not what is read"));
        let mut header = [0; 12];
        self.file.read_exact(&mut header).map_err(failed)?;
        let n = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let (stride, len, kind) = (n(0) as usize, n(4) as usize, n(8));
        if len == 0 || len > CHUNK || len as u64 > self.n_left || stride > MAX_STRIDE || kind > 1 {
            return Err(damaged());
        }
        let mut bytes = vec![0; len * 8 + len * stride * 4];
        self.file.read_exact(&mut bytes).map_err(failed)?;
        let (words, vectors) = bytes.split_at(len * 8);
        self.n_left -= len as u64;
        Ok(Some(Chunk {
            stride,
            is_representative: kind == 1,
            words: words.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect(),
            vectors: vectors
                .as_chunks()
                .0
                .iter()
                .map(|local| LocalStateId::from_u32(u32::from_le_bytes(*local)))
                .collect(),
        }))
    }

    fn again(self) -> Done<ChunkFile> {
        let mut file = self.file.into_inner();
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(ChunkFile { file: BufWriter::with_capacity(1 << 16, file), n_vectors: 0 })
    }
}

/// What is on disk, and how much may be in memory.
pub(super) struct Spilled {
    scratch: Arc<dyn Scratch>,
    limit: u64,
    part: Option<u64>,
    runs: Runs,
    /// Of the next layer: vectors that no run has, and those that were not looked up yet.
    confirmed: Option<ChunkFile>,
    candidates: Option<ChunkFile>,
    /// The rest of the layer at hand.
    layer: Option<ChunkReader>,
    /// Transitions of the layer when the table was last emptied. If it is full again after none, one configuration has too many successors for it.
    n_when_emptied: Option<u64>,
}

/// By the store.
enum Runs {
    Narrow(Vec<Run<u64>>),
    Wide(Vec<Run<(u64, u64)>>),
}

impl Runs {
    fn n_bytes(&self) -> usize {
        match self {
            Runs::Narrow(runs) => runs.iter().map(Run::n_bytes).sum(),
            Runs::Wide(runs) => runs.iter().map(Run::n_bytes).sum(),
        }
    }
}

/// Slots of the first table, as a power of two.
pub(super) fn first_bits(options: &crate::search::ProveOptions) -> u32 {
    let part = options.spill.as_ref().and_then(|spill| spill.part);
    part.map_or(FIRST_BITS, |part| (part / 8).max(1).ilog2().min(FIRST_BITS))
}

impl Spilled {
    /// Nothing is there yet; `None` where nothing may go to disk.
    pub(super) fn new(options: &crate::search::ProveOptions) -> Option<Self> {
        let spill = options.spill.as_ref()?;
        let limit = options.limits.memory_bytes.or(spill.part)?;
        let (scratch, part) = (spill.scratch.clone(), spill.part);
        let runs = match options.store {
            StoreKind::Fingerprint => Runs::Narrow(Vec::new()),
            StoreKind::Wide => Runs::Wide(Vec::new()),
            // Its keys are numbers of pairs, which stay in memory.
            StoreKind::Exact => return None,
        };
        Some(Spilled {
            scratch,
            limit,
            part,
            runs,
            confirmed: None,
            candidates: None,
            layer: None,
            n_when_emptied: None,
        })
    }

    /// Vectors of the layer at hand that are on disk.
    pub(super) fn n_left(&self) -> u64 {
        self.layer.as_ref().map_or(0, |layer| layer.n_left)
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.runs.n_bytes()
    }

    fn part(&self, others: u64) -> u64 {
        self.part.unwrap_or_else(|| (self.limit.saturating_sub(others) / PARTS).max(LEAST))
    }
}

/// Appends the key of each vector of a chunk.
fn put_keys<K: Key>(chunk: &Chunk, seconds: &mut Option<&mut Seconds<'_>>, out: &mut Vec<K>) {
    for at in 0..chunk.len() {
        out.push(key_at(chunk, at, seconds));
    }
}

fn key_at<K: Key>(chunk: &Chunk, at: usize, seconds: &mut Option<&mut Seconds<'_>>) -> K {
    let second = match seconds {
        None => 0,
        Some(seconds) => key_of(seconds.of(&chunk.vectors[at * chunk.stride..(at + 1) * chunk.stride])),
    };
    K::new(key_of(chunk.words[at]), second)
}

/// The chunk without those whose keys are `known`, which are sorted.
fn without<K: Key>(chunk: Chunk, known: &[K], seconds: &mut Option<&mut Seconds<'_>>) -> Chunk {
    let is_new: Vec<bool> =
        (0..chunk.len()).map(|at| known.binary_search(&key_at::<K>(&chunk, at, seconds)).is_err()).collect();
    if is_new.iter().all(|&is_new| is_new) {
        return chunk;
    }
    let mut kept =
        Chunk { stride: chunk.stride, is_representative: chunk.is_representative, ..Chunk::default() };
    for at in (0..chunk.len()).filter(|&at| is_new[at]) {
        kept.words.push(chunk.words[at]);
        kept.vectors.extend_from_slice(&chunk.vectors[at * chunk.stride..(at + 1) * chunk.stride]);
    }
    kept
}

/// Candidates in memory and on disk without those that some run has; says how many these are.
fn look_up<K: Key>(
    runs: &mut [Run<K>],
    next: &mut Vec<Chunk>,
    candidates: &mut Option<ChunkFile>,
    scratch: &dyn Scratch,
    mut seconds: Option<&mut Seconds<'_>>,
) -> Done<u64> {
    if runs.is_empty() {
        return Ok(0);
    }
    let n_in_memory: usize = next.iter().map(Chunk::len).sum();
    let n_in_file = candidates.as_ref().map_or(0, |file| file.n_vectors);
    let mut keys: Vec<K> = Vec::with_capacity(n_in_memory + n_in_file as usize);
    next.iter().for_each(|chunk| put_keys(chunk, &mut seconds, &mut keys));
    if let Some(file) = candidates.take() {
        let n_vectors = file.n_vectors;
        let mut reader = file.read()?;
        while let Some(chunk) = reader.next()? {
            put_keys(&chunk, &mut seconds, &mut keys);
        }
        *candidates = Some(ChunkFile { n_vectors, ..reader.again()? });
    }
    keys.sort_unstable();
    let mut known = Vec::new();
    for run in runs {
        run.find(&keys, &mut known).map_err(failed)?;
    }
    drop(keys);
    if known.is_empty() {
        return Ok(0);
    }
    known.sort_unstable();
    // A key may be in several runs: it was new to the table after the older was written, and found to be known later.
    known.dedup();
    for chunk in next.iter_mut() {
        *chunk = without(std::mem::take(chunk), &known, &mut seconds);
    }
    next.retain(|chunk| chunk.len() > 0);
    if let Some(file) = candidates.take() {
        let mut reader = file.read()?;
        let mut kept = ChunkFile::new(scratch)?;
        while let Some(chunk) = reader.next()? {
            let chunk = without(chunk, &known, &mut seconds);
            if chunk.len() > 0 {
                kept.add(&chunk)?;
            }
        }
        *candidates = Some(kept);
    }
    Ok(known.len() as u64)
}

impl Leader<'_, '_> {
    /// Bytes that do not go to disk.
    fn fixed_bytes(&self) -> u64 {
        lock(self.cx.locals).n_bytes() as u64
            + self.shared.memo_bytes.load(Ordering::Relaxed)
            + self.spilled.as_ref().map_or(0, Spilled::n_bytes) as u64
    }

    /// Whether a table of so many bytes, with the one that it replaces, is too large, so that keys go to disk instead. The layer has had so many
    /// transitions.
    fn is_table_spilled(&self, bytes: u64, n_transitions: u64) -> bool {
        let fixed = self.fixed_bytes();
        self.spilled.as_ref().is_some_and(|spilled| {
            bytes > TABLE_PARTS * spilled.part(fixed) && spilled.n_when_emptied != Some(n_transitions)
        })
    }

    /// Between two rounds: what is too much goes to disk.
    pub(super) fn spill(&mut self, next: &mut Vec<Chunk>, tally: &mut Tally) -> Done<()> {
        let shared = self.shared;
        let table = read(&shared.table);
        let is_full = shared.is_full.load(Ordering::Relaxed)
            || shared.n_seen.load(Ordering::Relaxed) as usize > table.room();
        let bytes = (table.n_bytes() + table.bytes_of_larger()) as u64;
        drop(table);
        if is_full && self.is_table_spilled(bytes, tally.n_transitions) {
            shared.is_full.store(false, Ordering::Relaxed);
            self.spill_table(next, tally)?;
        }
        self.spill_chunks(next)
    }

    /// Looks up the candidates; those that are new stay where they are. Says how many are not.
    fn look_up(&mut self, next: &mut Vec<Chunk>) -> Done<u64> {
        let Some(spilled) = &mut self.spilled else { return Ok(0) };
        let Spilled { scratch, runs, candidates, .. } = spilled;
        let seconds = match &mut self.worker.keys {
            Keys::Wide(seconds) => Some(seconds),
            Keys::Fingerprint | Keys::Exact(_) => None,
        };
        match runs {
            Runs::Narrow(runs) => look_up(runs, next, candidates, &**scratch, seconds),
            Runs::Wide(runs) => look_up(runs, next, candidates, &**scratch, seconds),
        }
    }

    /// Between two rounds: the keys of the table become a run, and it is empty.
    fn spill_table(&mut self, next: &mut Vec<Chunk>, tally: &mut Tally) -> Done<()> {
        let n_known = self.look_up(next)?;
        tally.n_configurations -= n_known.min(tally.n_configurations);
        self.confirm(next)?;
        let Some(spilled) = &mut self.spilled else { return Ok(()) };
        let table = read(&self.shared.table);
        let n = self.shared.n_seen.swap(0, Ordering::Relaxed) as usize;
        match &mut spilled.runs {
            Runs::Narrow(runs) => {
                let mut keys = Vec::with_capacity(n);
                table.keys(0..table.n_slots(), &mut |key, _| keys.push(key));
                keys.sort_unstable();
                runs.push(Run::write(&*spilled.scratch, &keys).map_err(failed)?);
            }
            Runs::Wide(runs) => {
                let mut keys = Vec::with_capacity(n);
                table.keys(0..table.n_slots(), &mut |key, second| keys.push((key, second)));
                keys.sort_unstable();
                runs.push(Run::write(&*spilled.scratch, &keys).map_err(failed)?);
            }
        }
        table.clear();
        spilled.n_when_emptied = Some(tally.n_transitions);
        Ok(())
    }

    /// All candidates were looked up: they go to the part of the next layer that is on disk.
    fn confirm(&mut self, next: &mut Vec<Chunk>) -> Done<()> {
        let Some(spilled) = &mut self.spilled else { return Ok(()) };
        if next.is_empty() && spilled.candidates.is_none() {
            return Ok(());
        }
        let mut confirmed = match spilled.confirmed.take() {
            Some(confirmed) => confirmed,
            None => ChunkFile::new(&*spilled.scratch)?,
        };
        if let Some(candidates) = spilled.candidates.take() {
            let mut reader = candidates.read()?;
            while let Some(chunk) = reader.next()? {
                confirmed.add(&chunk)?;
            }
        }
        for chunk in next.drain(..) {
            confirmed.add(&chunk)?;
        }
        spilled.confirmed = Some(confirmed);
        self.shared.next_bytes.store(0, Ordering::Relaxed);
        Ok(())
    }

    /// Between two rounds: chunks of the next layer go to disk if they take too much.
    fn spill_chunks(&mut self, next: &mut Vec<Chunk>) -> Done<()> {
        let fixed = self.fixed_bytes();
        let Some(spilled) = &mut self.spilled else { return Ok(()) };
        let part = spilled.part(fixed);
        self.shared.spill_at.store(part, Ordering::Relaxed);
        let n_bytes = next.iter().map(|chunk| chunk.n_bytes() as u64).sum();
        self.shared.next_bytes.store(n_bytes, Ordering::Relaxed);
        if n_bytes <= part / 2 {
            return Ok(());
        }
        let candidates = match &mut spilled.candidates {
            Some(candidates) => candidates,
            none => none.insert(ChunkFile::new(&*spilled.scratch)?),
        };
        for chunk in next.drain(..) {
            candidates.add(&chunk)?;
        }
        // What was kept for reuse is not counted.
        lock(&self.shared.spare).clear();
        self.shared.next_bytes.store(0, Ordering::Relaxed);
        Ok(())
    }

    /// At the end of a layer: leaves out of the next one what some run has.
    pub(super) fn end_layer(&mut self, next: &mut Vec<Chunk>, tally: &mut Tally) -> Done<()> {
        let n_known = self.look_up(next)?;
        tally.n_configurations -= n_known.min(tally.n_configurations);
        if let Some(spilled) = &mut self.spilled
            && (spilled.candidates.is_some() || spilled.confirmed.is_some())
        {
            if spilled.confirmed.is_none() {
                spilled.confirmed = spilled.candidates.take();
            } else if spilled.candidates.is_some() {
                let mut in_memory = std::mem::take(next);
                self.confirm(&mut Vec::new())?;
                next.append(&mut in_memory);
            }
        }
        if let Some(spilled) = &mut self.spilled {
            spilled.n_when_emptied = None;
            let layer = spilled.confirmed.take().map(ChunkFile::read).transpose()?;
            spilled.layer = layer.filter(|layer| layer.n_left > 0);
        }
        Ok(())
    }

    /// The next chunks of the layer at hand that are on disk.
    pub(super) fn read_chunks(&mut self) -> Done<Vec<Chunk>> {
        let fixed = self.fixed_bytes();
        let Some(spilled) = &mut self.spilled else { return Ok(Vec::new()) };
        let most = spilled.part(fixed) / 2;
        let Some(layer) = &mut spilled.layer else { return Ok(Vec::new()) };
        let mut chunks = Vec::new();
        let mut n_bytes = 0;
        while n_bytes <= most {
            let Some(chunk) = layer.next()? else {
                spilled.layer = None;
                break;
            };
            n_bytes += chunk.n_bytes() as u64;
            chunks.push(chunk);
        }
        Ok(chunks)
    }
}
