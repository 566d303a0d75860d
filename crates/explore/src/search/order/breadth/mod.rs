//! Breadth-first search on all threads, layer by layer.
//!
//! A layer is a list of chunks of vectors; threads take chunks, expand every vector in them, and put
//! vectors with new keys into chunks of their own for the next layer. Keys wait in a small batch between the prefetch
//! of their slot and its inspection. When the table is too full all threads pause, it is replaced, and
//! they continue: a *round* is what happens between two such pauses.
//!
//! What a local state does has to be computed once, under a lock. If another thread holds it, a vector that asks is set
//! aside, with its questions, and expanded again once they were answered; so threads hardly ever wait for each other within
//! a round.
//!
//! The result is only *whether* there is a violation, and at which depth. Which one, and the path to it, is found again in
//! a fixed order (see `counterexample`), so that it does not depend on threads.
//!
//! Layers, rounds and threads are here; how a thread expands vectors is in `worker`, vectors are in `chunk`, and the insertion of successors into the table in `insert`. What several
//! processes do together is in `together`, what is kept for a later one in `saving`, and what goes to disk for want of memory in `spill`: without
//! these, a layer is expanded just the same.

mod chunk;
mod insert;
mod partition;
mod saving;
mod spill;
mod tasks;
mod together;
mod worker;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use allways_run::{Progress, StopReason};

use chunk::{CHUNK, Chunk, N_PARTS};
pub(crate) use insert::key_of;
use insert::{Inserter, Keys};
use partition::{MIN_DIVIDED, Partition};
use spill::Spilled;
use tasks::{Task, Tasks};
use worker::Worker;

use super::barrier::Barrier;
use crate::search::context::{Context, Explored, SearchEnd, Tally};
use crate::search::distribute::link::Link;
use crate::search::distribute::record::Record;
use crate::search::expand::fingerprint;
use crate::search::growth::Clock;
use crate::search::local::states::Cut;
use crate::search::lock;
use crate::search::options::StoreKind;
use crate::search::store::table::{Growth, Table};
use crate::search::store::tree::Pairs;

/// Smaller layers are not worth waking the other threads.
const ALONE: usize = 2 * CHUNK;
/// Slots of the first table, as a power of two.
const FIRST_BITS: u32 = 16;
/// Larger tables are worth waking the other threads for.
const GROWS_ALONE: u32 = 17;
/// Chunks of which some vectors wait for answers, before a thread waits for these.
const MAX_WAITING: usize = 64;
/// Transitions after which a task checks clock and memory.
const LOOK_AFTER: u64 = 1 << 17;

struct Shared<'l> {
    /// To other processes, if there are some.
    link: Option<Link<'l>>,
    /// Messages of theirs that were read.
    n_received: AtomicU64,
    table: RwLock<Arc<Table>>,
    pairs: RwLock<Arc<Pairs>>,
    /// If not working on tasks: a larger table, which all threads help to fill.
    growth: RwLock<Option<Arc<Growth>>>,
    /// Of the round, those that no thread has taken.
    tasks: Tasks,
    /// What was left unfinished in the round.
    left: Mutex<Vec<Task>>,
    /// Chunks that are done, for reuse.
    spare: Mutex<Vec<Chunk>>,
    n_seen: AtomicU64,
    /// Of the chunks for the next layer.
    next_bytes: AtomicU64,
    /// How many of these there may be until some go to disk.
    spill_at: AtomicU64,
    pause: AtomicBool,
    /// The table was full in the middle of a configuration; the pairs were.
    is_full: AtomicBool,
    are_pairs_full: AtomicBool,
    reason: Mutex<Option<StopReason>>,
    /// Bytes of everything but the next layer and local states, as of the beginning of the round.
    base_bytes: AtomicU64,
    /// Of the local states, as of lately.
    local_bytes: AtomicU64,
    is_last_layer: AtomicBool,
    divider: RwLock<Partition>,
    memo_bytes: AtomicU64,
    done: AtomicBool,
    outputs: Mutex<Vec<Output>>,
}

/// What one thread hands over after a round.
struct Output {
    /// Of which thread.
    number: usize,
    tally: Tally,
    /// By part.
    chunks: [Vec<Chunk>; N_PARTS],
}

fn read<T: Clone>(lock: &RwLock<T>) -> T {
    lock.read().unwrap_or_else(PoisonError::into_inner).clone()
}

fn write<T>(lock: &RwLock<T>, value: T) {
    *lock.write().unwrap_or_else(PoisonError::into_inner) = value;
}

/// Looks at everything within bounds.
pub(crate) fn search(cx: Context<'_>) -> Explored {
    let no_memory =
        |cx: Context<'_>| StopReason::Memory { bytes: cx.options.limits.memory_bytes.unwrap_or(0) };
    let table = match cx.options.store {
        StoreKind::Fingerprint => Table::new_for_hashes(spill::first_bits(cx.options)),
        StoreKind::Exact => Table::new_exact(FIRST_BITS, 0),
        StoreKind::Wide => Table::new_wide(spill::first_bits(cx.options)),
    };
    let (Some(table), Some(pairs)) = (table, Pairs::new(10)) else {
        return Explored::nothing(SearchEnd::Stopped(no_memory(cx)));
    };
    table.touch(0..table.n_slots());
    let n_threads = cx.options.n_threads.max(1);
    let shared = Shared {
        link: cx.options.peers.as_ref().map(|peers| Link::new(&*peers.0)),
        n_received: AtomicU64::new(0),
        table: RwLock::new(Arc::new(table)),
        pairs: RwLock::new(Arc::new(pairs)),
        growth: RwLock::new(None),
        tasks: Tasks::new(n_threads),
        left: Mutex::new(Vec::new()),
        spare: Mutex::new(Vec::new()),
        n_seen: AtomicU64::new(0),
        next_bytes: AtomicU64::new(0),
        spill_at: AtomicU64::new(u64::MAX),
        pause: AtomicBool::new(false),
        is_full: AtomicBool::new(false),
        are_pairs_full: AtomicBool::new(false),
        reason: Mutex::new(None),
        base_bytes: AtomicU64::new(0),
        local_bytes: AtomicU64::new(0),
        is_last_layer: AtomicBool::new(false),
        divider: RwLock::default(),
        memo_bytes: AtomicU64::new(0),
        done: AtomicBool::new(false),
        outputs: Mutex::new(Vec::new()),
    };
    let barrier = Barrier::new(n_threads);
    std::thread::scope(|scope| {
        let helpers: Vec<_> = (1..n_threads)
            .map(|number| {
                let (shared, barrier) = (&shared, &barrier);
                scope.spawn(move || {
                    let mut worker = Worker::new(cx, shared, number);
                    loop {
                        barrier.wait();
                        if shared.done.load(Ordering::Acquire) {
                            let memo = &worker.expander.memo;
                            return (memo.unknown.clone(), memo.n_lookups, memo.n_misses);
                        }
                        worker.round();
                        barrier.wait();
                    }
                })
            })
            .collect();
        let worker = Worker::new(cx, &shared, 0);
        let mut leader = Leader {
            cx,
            shared: &shared,
            barrier: &barrier,
            worker,
            peak: 0,
            clock: Clock::default(),
            divider: Partition::default(),
            n_when_chosen: 0,
            base: Record::default(),
            is_due: false,
            spilled: Spilled::new(cx.options),
        };
        let mut explored = leader.search();
        let base = std::mem::take(&mut leader.base);
        shared.done.store(true, Ordering::Release);
        if n_threads > 1 {
            barrier.wait();
        }
        for helper in helpers {
            if let Ok((unknown, n_lookups, n_misses)) = helper.join() {
                explored.unknown = explored.unknown.take().or(unknown);
                explored.n_lookups += n_lookups;
                explored.n_misses += n_misses;
            }
        }
        if cx.options.peers.is_some() || cx.options.checkpoint.is_some() {
            together::record(cx, shared.link.as_ref(), base, &mut explored);
        }
        explored
    })
}

/// The thread that sees to rounds and layers; it works too.
struct Leader<'a, 's> {
    cx: Context<'a>,
    shared: &'s Shared<'a>,
    barrier: &'s Barrier,
    worker: Worker<'a, 's>,
    peak: u64,
    /// Ticks with every layer.
    clock: Clock,
    /// How layers are divided that are large enough, and how large the one was for which that was chosen.
    divider: Partition,
    n_when_chosen: u64,
    /// What was noted before the search was resumed.
    base: Record,
    /// The processes keep the layer at hand.
    is_due: bool,
    /// What is on disk, if something may go there.
    spilled: Option<Spilled>,
}

impl Leader<'_, '_> {
    fn search(&mut self) -> Explored {
        // The configuration before the first step.
        let mut tally = Tally { n_configurations: 1, n_machines: 1, ..Tally::default() };
        let beginning = lock(self.cx.locals).begin();
        tally.n_transitions += beginning.n_transitions;
        let mut unknown = beginning.unknown;
        let mut depth = 0;
        let mut layer = Vec::new();
        if !self.is_first() {
            // Every process begins alike, and the first of them counts that.
            tally = Tally::default();
        }
        let resumed = match self.resume(&mut layer, &mut depth) {
            Ok(is_resumed) => is_resumed,
            Err(why) => {
                let end = SearchEnd::Stopped(StopReason::Undecided { why });
                return Explored { peak_bytes: self.peak, ..Explored::nothing(end) };
            }
        };
        let end = if resumed {
            tally = Tally::default();
            self.layers(layer, &mut tally, &mut depth)
        } else if self.cx.options.bounds.depth == Some(0) {
            tally.cuts.add(Cut::Depth);
            SearchEnd::Exhausted
        } else if !beginning.violations.is_empty() {
            SearchEnd::Broken { depth: 1 }
        } else {
            for (_, vector) in &beginning.vectors {
                let print = fingerprint(&lock(self.cx.locals), vector);
                if self.shared.link.as_ref().is_some_and(|link| link.owner_of(print) != link.number()) {
                    continue;
                }
                let inserted = match &mut self.worker.keys {
                    Keys::Fingerprint => self.worker.table.insert(key_of(print)),
                    Keys::Wide(seconds) => {
                        self.worker.table.insert_wide(key_of(print), key_of(seconds.of(vector)))
                    }
                    Keys::Exact(tree) => tree.key_of(vector).and_then(|key| self.worker.table.insert(key)),
                };
                // Different vectors, and hardly any.
                if inserted == Ok(true) {
                    let mut chunk = Chunk::new(Chunk::default(), vector.len(), false);
                    match &mut self.worker.keys {
                        Keys::Fingerprint | Keys::Wide(_) => chunk.write(vector, &[], print),
                        Keys::Exact(tree) => {
                            tree.key_of(vector).into_iter().for_each(|key| chunk.write_key(key))
                        }
                    }
                    layer.push(chunk);
                }
            }
            tally.n_configurations += layer.len() as u64;
            self.shared.n_seen.store(layer.len() as u64, Ordering::Relaxed);
            self.layers(layer, &mut tally, &mut depth)
        };
        let memo = &self.worker.expander.memo;
        unknown = unknown.or_else(|| memo.unknown.clone());
        let store_bytes = self.store_bytes();
        Explored {
            end,
            tally,
            depth,
            // The layer that it stopped in is not complete; and steps that were put off make some runs longer, faults that are
            // late make them shorter.
            n_covered: match (&self.worker.persistent_sets, &self.worker.confluent_sends) {
                (None, None) if !self.cx.has_lazy_faults() => depth.saturating_sub(1),
                (None, None) | (Some(_), _) | (_, Some(_)) => 0,
            },
            unknown,
            n_lookups: memo.n_lookups,
            n_misses: memo.n_misses,
            store_bytes,
            peak_bytes: self.peak,
            clock: std::mem::take(&mut self.clock),
            record: None,
        }
    }

    fn store_bytes(&self) -> u64 {
        let table = read(&self.shared.table).n_bytes() as u64;
        match self.cx.options.store {
            StoreKind::Fingerprint | StoreKind::Wide => table,
            StoreKind::Exact => table + read(&self.shared.pairs).n_bytes() as u64,
        }
    }

    fn layers(&mut self, first: Vec<Chunk>, tally: &mut Tally, depth: &mut u64) -> SearchEnd {
        let mut layer = first;
        let found = match self.shared.link {
            None => None,
            Some(_) => self.meet_first(&layer, *depth),
        };
        if let Some(end) = found {
            return end;
        }
        if *depth == 0
            && let Err(reason) = self.save_keys(&layer)
        {
            return SearchEnd::Stopped(reason);
        }
        while self.shared.link.is_some() || !layer.is_empty() || self.n_spilled() > 0 {
            let found = self.layer(&mut layer, tally, depth);
            let found = match self.shared.link {
                None => found,
                // What comes next is known when all processes have met.
                Some(_) => self.meet(found, &mut layer, tally, *depth),
            };
            if let Some(end) = found {
                return end;
            }
            if let Err(reason) = self.save(&layer, tally, *depth) {
                return SearchEnd::Stopped(reason);
            }
        }
        SearchEnd::Exhausted
    }

    /// Expands a layer; what comes after it takes its place. Says how the search ends, if it does here.
    fn layer(&mut self, layer: &mut Vec<Chunk>, tally: &mut Tally, depth: &mut u64) -> Option<SearchEnd> {
        {
            *depth += 1;
            self.clock.tick(&lock(self.cx.locals));
            let is_last = self.cx.options.bounds.depth == Some(*depth);
            self.shared.is_last_layer.store(is_last, Ordering::Release);
            let in_memory: u64 = layer.iter().map(|chunk| chunk.len() as u64).sum();
            let frontier = in_memory + self.n_spilled();
            self.divide(layer, frontier);
            let mut layer_bytes: u64 = layer.iter().map(|chunk| chunk.n_bytes() as u64).sum();
            self.shared.next_bytes.store(0, Ordering::Relaxed);
            let to_do = |chunk| Task { chunk, ..Task::default() };
            let mut tasks: Vec<Task> = layer.drain(..).map(to_do).collect();
            let mut in_layer = Tally::default();
            while !tasks.is_empty() || self.n_spilled() > 0 {
                if tasks.is_empty() {
                    match self.read_chunks() {
                        Ok(chunks) => {
                            layer_bytes = chunks.iter().map(|chunk| chunk.n_bytes() as u64).sum();
                            tasks.extend(chunks.into_iter().map(to_do));
                        }
                        Err(reason) => {
                            tally.add(&in_layer);
                            return Some(SearchEnd::Stopped(reason));
                        }
                    }
                }
                if let Some(reason) = self.prepare(layer_bytes, Some((&mut *layer, &mut in_layer))) {
                    tally.add(&in_layer);
                    return Some(SearchEnd::Stopped(reason));
                }
                let n_left: usize = tasks.iter().map(Task::len).sum();
                tasks = self.round(tasks, n_left, &mut in_layer, layer);
                if self.shared.link.is_none() {
                    self.cx.observer.progress(&Progress {
                        n_steps: tally.n_transitions + in_layer.n_transitions,
                        n_configurations: Some(tally.n_configurations + in_layer.n_configurations),
                        frontier: Some(frontier),
                        depth: *depth,
                        bytes: Some(self.peak),
                        ..Progress::default()
                    });
                }
                // What was seen counts more than that there is no more time or memory.
                let reason = lock(&self.shared.reason).take();
                if in_layer.breaks || in_layer.ends_badly {
                    tally.add(&in_layer);
                    let depth = if in_layer.ends_badly { *depth } else { *depth + 1 };
                    return Some(SearchEnd::Broken { depth });
                }
                if let Some(reason) = reason {
                    tally.add(&in_layer);
                    return Some(SearchEnd::Stopped(reason));
                }
                if self.shared.link.as_ref().is_some_and(Link::is_urgent) {
                    break;
                }
            }
            tally.add(&in_layer);
        }
        self.end_layer(layer, tally).err().map(SearchEnd::Stopped)
    }

    /// Vectors of the layer at hand that are on disk.
    fn n_spilled(&self) -> u64 {
        self.spilled.as_ref().map_or(0, Spilled::n_left)
    }

    /// Says how what comes after a layer is divided. In the exact store vectors are not at hand; and where nothing is handed over,
    /// what there is to look up is so little that it is at hand anyway.
    fn divide(&mut self, layer: &[Chunk], frontier: u64) {
        let is_divided = frontier >= MIN_DIVIDED
            && self.cx.options.n_threads > 1
            && self.cx.options.store != StoreKind::Exact
            && self.worker.confluent_sends.is_some();
        if is_divided && frontier >= 4 * self.n_when_chosen {
            self.divider = Partition::choose(layer);
            self.n_when_chosen = frontier;
        }
        write(&self.shared.divider, if is_divided { self.divider } else { Partition::default() });
    }

    /// Makes room for the next round; says why there is none. What there is of the next layer, and the figures of this one, are at hand while
    /// something may go to disk.
    fn prepare(
        &mut self,
        layer_bytes: u64,
        next: Option<(&mut Vec<Chunk>, &mut Tally)>,
    ) -> Option<StopReason> {
        if let Some(reason) = self.cx.stop_reason() {
            return Some(reason);
        }
        let shared = self.shared;
        shared.pause.store(false, Ordering::Relaxed);
        if self.spilled.is_some()
            && let Some((next, tally)) = next
            && let Err(reason) = self.spill(next, tally)
        {
            return Some(reason);
        }
        let others = lock(self.cx.locals).n_bytes() as u64
            + shared.memo_bytes.load(Ordering::Relaxed)
            + shared.next_bytes.load(Ordering::Relaxed)
            + shared.link.as_ref().map_or(0, Link::n_bytes) as u64
            + layer_bytes;
        let no_memory = |bytes| Some(StopReason::Memory { bytes });
        let table = read(&shared.table);
        let is_full = shared.is_full.swap(false, Ordering::Relaxed);
        if is_full || shared.n_seen.load(Ordering::Relaxed) as usize > table.room() {
            let bytes = others + self.store_bytes() + table.bytes_of_larger() as u64;
            if let Some(reason) = self.cx.is_over(bytes) {
                return Some(reason);
            }
            let Some(grown) = self.grown(table) else { return no_memory(bytes) };
            write(&shared.table, Arc::new(grown));
            self.peak = self.peak.max(bytes);
        } else {
            drop(table);
        }
        let pairs = read(&shared.pairs);
        if shared.are_pairs_full.swap(false, Ordering::Relaxed) || pairs.len() > pairs.room() {
            let bytes = others + self.store_bytes() + 2 * pairs.n_bytes() as u64;
            if let Some(reason) = self.cx.is_over(bytes) {
                return Some(reason);
            }
            if !pairs.can_grow() {
                return no_memory(bytes);
            }
            let Some(grown) = pairs.grown() else { return no_memory(bytes) };
            write(&shared.pairs, Arc::new(grown));
            self.peak = self.peak.max(bytes);
        }
        let bytes = others + self.store_bytes();
        self.peak = self.peak.max(bytes);
        let local_bytes = lock(self.cx.locals).n_bytes() as u64;
        shared.local_bytes.store(local_bytes, Ordering::Relaxed);
        let others = shared.next_bytes.load(Ordering::Relaxed) + local_bytes;
        shared.base_bytes.store(bytes.saturating_sub(others), Ordering::Relaxed);
        self.cx.is_over(bytes)
    }

    /// A larger table with the same keys, filled by all threads; `None` when there is no memory for it.
    fn grown(&mut self, table: Arc<Table>) -> Option<Table> {
        let is_small = table.bits() < GROWS_ALONE;
        // The numbers in exact keys are those of pairs, and of local states in the shortest vectors.
        let n_local_states = lock(self.cx.locals).n_local_states();
        let larger = table.larger(read(&self.shared.pairs).len().max(n_local_states) as u64)?;
        let growth = Arc::new(Growth::new(table, larger));
        write(&self.shared.growth, Some(growth.clone()));
        self.all_workers(is_small);
        write(&self.shared.growth, None);
        Arc::into_inner(growth)?.finish()
    }

    /// One round, alone or with all others.
    fn all_workers(&mut self, alone: bool) {
        if alone || self.cx.options.n_threads <= 1 {
            self.worker.round();
        } else {
            self.barrier.wait();
            self.worker.round();
            self.barrier.wait();
        }
    }

    /// Works on the tasks; gives back those that are left.
    fn round(
        &mut self,
        tasks: Vec<Task>,
        n_left: usize,
        tally: &mut Tally,
        next: &mut Vec<Chunk>,
    ) -> Vec<Task> {
        let shared = self.shared;
        shared.tasks.hand_out(tasks);
        self.all_workers(n_left < ALONE);
        let mut outputs = std::mem::take(&mut *lock(&shared.outputs));
        // So that each goes on with what it has found.
        outputs.sort_unstable_by_key(|output| output.number);
        for part in 0..N_PARTS {
            outputs.iter_mut().for_each(|output| next.append(&mut output.chunks[part]));
        }
        outputs.iter().for_each(|output| tally.add(&output.tally));
        let mut left = shared.tasks.take_back();
        left.append(&mut lock(&shared.left));
        left
    }
}

impl Shared<'_> {
    /// Looks at clock and memory, where so many bytes of the next layer are not counted yet.
    fn must_stop(&self, cx: &Context<'_>, more_bytes: u64) -> bool {
        let bytes = self.next_bytes.load(Ordering::Relaxed)
            + self.base_bytes.load(Ordering::Relaxed)
            + self.local_bytes.load(Ordering::Relaxed)
            + more_bytes;
        let failure = || self.link.as_ref().and_then(Link::failure);
        let reason = cx.is_over(bytes).or_else(|| cx.stop_reason()).or_else(failure);
        let goes_to_disk =
            self.next_bytes.load(Ordering::Relaxed) + more_bytes > self.spill_at.load(Ordering::Relaxed);
        let must_stop = reason.is_some() || goes_to_disk;
        if let Some(reason) = reason {
            lock(&self.reason).get_or_insert(reason);
        }
        must_stop
    }

    /// Stops the round for want of room; says from which vector on the chunk has to be expanded later.
    fn pause_at(&self, sink: &mut Inserter<'_, '_, '_>, at: usize, before: &[(usize, Tally)]) -> usize {
        self.pause.store(true, Ordering::Relaxed);
        self.n_seen.fetch_add(std::mem::take(&mut sink.n_new), Ordering::Relaxed);
        let Some(from) = sink.full_from else { return at };
        let flag = if sink.are_pairs_full { &self.are_pairs_full } else { &self.is_full };
        flag.store(true, Ordering::Relaxed);
        if let Some((_, known)) = before.iter().find(|(at, _)| *at == from) {
            sink.tally.go_back(known);
        }
        from
    }
}
