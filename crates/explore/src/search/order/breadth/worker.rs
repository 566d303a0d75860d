//! One thread of the search: what it knows, and how it expands the vectors of a task.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use allways_p::hir::Temperature;

use super::chunk::Writer;
use super::insert::{Batch, Inserter, Keys, Recent, Route, Seconds};
use super::tasks::{Again, Task};
use super::{LOOK_AFTER, MAX_WAITING, Output, Shared, read};
use crate::search::context::{Context, Tally};
use crate::search::distribute::flat::Outbox;
use crate::search::distribute::link::Link;
use crate::search::expand::{Expander, Standing};
use crate::search::local::states::{Cut, LocalStateId, Slot};
use crate::search::lock;
use crate::search::options::StoreKind;
use crate::search::reduce::canonical::Canonicalizer;
use crate::search::reduce::confluent_sends::{ConfluentSends, Raw};
use crate::search::reduce::path_compression::PathCompression;
use crate::search::reduce::persistent::PersistentSets;
use crate::search::store::table::Table;
use crate::search::store::tree::{Pairs, Tree};

pub(super) struct Worker<'a, 's> {
    pub(super) cx: Context<'a>,
    pub(super) shared: &'s Shared<'a>,
    /// By process: what it owns and was not sent yet.
    pub(super) outboxes: Vec<Outbox>,
    /// Fingerprints of vectors, where other processes need them and the store does not.
    pub(super) prints: Option<Seconds<'a>>,
    /// Which of the threads it is.
    pub(super) number: usize,
    pub(super) expander: Expander<'a>,
    pub(super) keys: Keys<'a>,
    pub(super) table: Arc<Table>,
    pub(super) batch: Batch,
    pub(super) recent: Recent,
    pub(super) persistent_sets: Option<PersistentSets<'a>>,
    pub(super) path_compression: Option<PathCompression>,
    pub(super) confluent_sends: Option<ConfluentSends<'a>>,
    pub(super) raw: Raw,
    pub(super) canonicalizer: Option<Canonicalizer<'a>>,
    pub(super) differences: Vec<(Slot, LocalStateId)>,
    pub(super) memo_bytes: u64,
    /// The one at hand, where it is read from its key.
    pub(super) vector: Vec<LocalStateId>,
    pub(super) before: Vec<(usize, Tally)>,
    /// With vectors that ask for what has to be worked out.
    pub(super) waiting: Vec<Task>,
}

impl<'a, 's> Worker<'a, 's> {
    pub(super) fn new(cx: Context<'a>, shared: &'s Shared<'a>, number: usize) -> Self {
        let keys = match cx.options.store {
            StoreKind::Fingerprint => Keys::Fingerprint,
            StoreKind::Wide => {
                Keys::Wide(Seconds { locals: cx.locals, by_local: Vec::new(), is_first: false })
            }
            StoreKind::Exact => Keys::Exact(Box::new(Tree::new(read(&shared.pairs)))),
        };
        let mut expander = cx.expander();
        expander.skips_stutter = cx.options.reductions.timer_stutter;
        let has_prints = cx.options.store != StoreKind::Exact || shared.link.is_none();
        let n_processes = shared.link.as_ref().map_or(0, Link::n_processes);
        Worker {
            cx,
            shared,
            outboxes: (0..n_processes).map(|_| Outbox::default()).collect(),
            prints: (!has_prints).then(|| Seconds {
                locals: cx.locals,
                by_local: Vec::new(),
                is_first: true,
            }),
            number,
            expander,
            keys,
            table: read(&shared.table),
            batch: Batch::default(),
            recent: Recent::new(),
            persistent_sets: cx.persistent_sets(),
            path_compression: cx.compresses_paths().then(PathCompression::default),
            confluent_sends: cx.has_confluent_sends().then(|| ConfluentSends::new(cx.locals)),
            raw: Raw::default(),
            canonicalizer: cx.canonicalizer(),
            differences: Vec::new(),
            memo_bytes: 0,
            vector: Vec::new(),
            before: Vec::new(),
            waiting: Vec::new(),
        }
    }

    pub(super) fn round(&mut self) {
        let shared = self.shared;
        if let Some(growth) = read(&shared.growth) {
            return growth.work();
        }
        self.table = read(&shared.table);
        let pairs = read(&shared.pairs);
        if let Keys::Exact(tree) = &mut self.keys {
            tree.set_pairs(pairs.clone());
        }
        let room = self.table.room() as u64;
        let mut output = Output { number: self.number, tally: Tally::default(), chunks: Default::default() };
        let mut writer = Writer::new(&shared.spare);
        while !shared.pause.load(Ordering::Relaxed) {
            if let Some(link) = &shared.link {
                // What others have sent comes first: they may wait until there is room for more.
                let arrived = self.receive();
                let has_arrived = !arrived.is_empty();
                for chunk in arrived {
                    let task = Task { chunk, is_arrival: true, ..Task::default() };
                    self.work(task, room, &pairs, &mut output.tally, &mut writer);
                }
                if link.is_urgent() {
                    shared.pause.store(true, Ordering::Relaxed);
                    break;
                }
                if has_arrived || link.is_congested() {
                    if !has_arrived {
                        link.wait();
                    }
                    if shared.must_stop(&self.cx, 0) {
                        shared.pause.store(true, Ordering::Relaxed);
                    }
                    continue;
                }
            }
            let task = shared.tasks.take(self.number);
            if task.is_none() && self.waiting.is_empty() {
                break;
            }
            let waits = task.is_none() || self.waiting.len() >= MAX_WAITING;
            if let Some(task) = task {
                self.work(task, room, &pairs, &mut output.tally, &mut writer);
            }
            if !self.waiting.is_empty() && self.expander.memo.work_out(waits) {
                for task in std::mem::take(&mut self.waiting) {
                    self.work(task, room, &pairs, &mut output.tally, &mut writer);
                }
            }
            if let Ok(locals) = self.cx.locals.try_lock() {
                shared.local_bytes.store(locals.n_bytes() as u64, Ordering::Relaxed);
                self.expander.memo.catch_up(&locals);
            }
            shared.next_bytes.fetch_add(writer.take_new_bytes(), Ordering::Relaxed);
            if shared.must_stop(&self.cx, 0) {
                shared.pause.store(true, Ordering::Relaxed);
            }
            if output.tally.breaks || output.tally.ends_badly {
                shared.pause.store(true, Ordering::Relaxed);
            }
        }
        self.send_all();
        self.expander.memo.forget();
        lock(&shared.left).append(&mut self.waiting);
        output.chunks = writer.finish();
        let canonicalizer = self.canonicalizer.as_ref().map_or(0, Canonicalizer::n_bytes);
        let sets = self.persistent_sets.as_ref().map_or(0, PersistentSets::n_bytes);
        let confluent_sends = self.confluent_sends.as_ref().map_or(0, ConfluentSends::n_bytes);
        let bytes = (self.expander.memo.n_bytes() + canonicalizer + sets + confluent_sends) as u64;
        shared.memo_bytes.fetch_add(bytes - self.memo_bytes, Ordering::Relaxed);
        self.memo_bytes = bytes;
        lock(&shared.outputs).push(output);
    }

    /// Expands the vectors of a task, and puts it where it belongs then.
    pub(super) fn work(
        &mut self,
        mut task: Task,
        room: u64,
        pairs: &Pairs,
        tally: &mut Tally,
        writer: &mut Writer<'_>,
    ) {
        if task.is_arrival {
            match self.insert_task(&task, room, pairs, tally, writer) {
                Some(from) => lock(&self.shared.left).push(Task { from, ..task }),
                None => writer.reuse(task.chunk),
            }
            return;
        }
        let mut again = Vec::new();
        match self.expand_task(&task, room, pairs, tally, writer, &mut again) {
            Some(from) => {
                again.retain(|other| (other.place as usize) < from);
                again.extend(task.others.iter().filter(|other| other.place as usize >= from));
                let from = from.max(task.from);
                lock(&self.shared.left).push(Task { from, others: again, ..task });
            }
            None if again.is_empty() => writer.reuse(task.chunk),
            None => {
                (task.from, task.others) = (task.chunk.len(), again);
                self.waiting.push(task);
            }
        }
    }

    /// Expands the vectors of a task; says where it stopped, if it did. Those that need what is not known yet are to be looked
    /// at `again`.
    pub(super) fn expand_task(
        &mut self,
        task: &Task,
        room: u64,
        pairs: &Pairs,
        tally: &mut Tally,
        writer: &mut Writer<'_>,
        again: &mut Vec<Again>,
    ) -> Option<usize> {
        let chunk = &task.chunk;
        let puts_off = self.cx.options.n_threads > 1;
        let is_last_layer = self.shared.is_last_layer.load(Ordering::Acquire);
        let n_monitors = self.expander.n_monitors();
        let link = self.shared.link.as_ref();
        let outboxes = &mut self.outboxes[..];
        let mut sink = Inserter {
            route: link.map(|link| Route { link, outboxes, vector: Vec::new() }),
            chunk,
            table: &self.table,
            keys: &mut self.keys,
            batch: &mut self.batch,
            recent: &mut self.recent,
            canonicalizer: self.canonicalizer.as_mut(),
            differences: &mut self.differences,
            writer,
            divider: read(&self.shared.divider),
            tally,
            from: 0,
            fingerprint: 0,
            second: 0,
            n_new: 0,
            n_free: 0,
            is_representative: false,
            full_from: None,
            are_pairs_full: false,
        };
        // Of each vector with successors in the batch: the figures before it, for when it has to be expanded again.
        let before = &mut self.before;
        before.clear();
        let mut look_at = sink.tally.n_transitions + LOOK_AFTER;
        let others = task.others.iter().map(|other| (other.place as usize, other.slots));
        for (from, slots) in others.chain((task.from..chunk.len()).map(|from| (from, 0))) {
            let seen = self.shared.n_seen.load(Ordering::Relaxed) + sink.n_new;
            let is_full = seen > room || pairs.len() > pairs.room();
            if is_full || sink.full_from.is_some() {
                sink.flush();
                return Some(self.shared.pause_at(&mut sink, from, before));
            }
            if sink.tally.n_transitions >= look_at {
                look_at = sink.tally.n_transitions + LOOK_AFTER;
                if self.shared.must_stop(&self.cx, sink.writer.new_bytes) {
                    sink.flush();
                    return Some(self.shared.pause_at(&mut sink, from, before));
                }
            }
            // So that those which follow, and ask for the same, need not be put aside too.
            if self.expander.memo.has_open() {
                self.expander.memo.work_out(false);
            }
            if sink.n_new > 256 {
                self.shared.n_seen.fetch_add(std::mem::take(&mut sink.n_new), Ordering::Relaxed);
            }
            if let Some(route) = &mut sink.route {
                route.send(self.cx.locals, false);
            }
            if sink.batch.entries.is_empty() {
                before.clear();
            }
            before.push((from, *sink.tally));
            let n_threads = self.cx.options.n_threads.max(1) as u64;
            sink.n_free = (self.table.capacity() as u64).saturating_sub(seen) / n_threads + sink.n_new;
            // The vector, and the one after it as far as it is known.
            let (vector, next) = match sink.keys {
                Keys::Fingerprint | Keys::Wide(_) => {
                    let (vector, next) = chunk.vectors[from * chunk.stride..].split_at(chunk.stride);
                    (vector, &next[..chunk.stride.min(next.len())])
                }
                Keys::Exact(tree) => {
                    tree.open(chunk.words[from], chunk.stride, &mut self.vector);
                    if let Some(&next) = chunk.words.get(from + 1) {
                        tree.prefetch(next);
                    }
                    (&self.vector[..], &[][..])
                }
            };
            let standing = if is_last_layer {
                let standing = self.expander.standing(vector);
                if standing.n_enabled > 0 {
                    sink.tally.cuts.add(Cut::Depth);
                }
                standing
            } else {
                sink.from = from;
                match sink.keys {
                    Keys::Fingerprint => sink.fingerprint = chunk.words[from],
                    Keys::Wide(seconds) => {
                        sink.fingerprint = chunk.words[from];
                        sink.second = seconds.of(vector);
                    }
                    Keys::Exact(_) => {
                        sink.fingerprint = self.prints.as_mut().map_or(0, |prints| prints.of(vector));
                    }
                }
                let memo = &mut self.expander.memo;
                let canonicalizer = sink.canonicalizer.as_deref_mut();
                // The one is for P's own network, the other for those that delay.
                let mut sets = self.persistent_sets.as_mut();
                let chosen = sets.as_mut().and_then(|sets| sets.find(memo, vector, canonicalizer));
                let first = match &mut self.confluent_sends {
                    Some(confluent_sends) if !chunk.is_representative => {
                        confluent_sends.find(memo, vector, n_monitors)
                    }
                    _ => None,
                };
                let n_put_off = chosen.map_or(first.map_or(0, |(_, n)| n), |chosen| chosen.n_put_off);
                sink.tally.n_persistent += u64::from(n_put_off > 0);
                sink.tally.n_put_off += n_put_off;
                self.expander.memo.puts_off = puts_off;
                let standing = match (chosen, &mut self.confluent_sends) {
                    (Some(chosen), _) => match (&mut self.path_compression, sets) {
                        (Some(path_compression), Some(sets)) if chosen.movers.is_power_of_two() => {
                            let (expander, raw) = (&mut self.expander, &mut self.raw);
                            let slot = Slot::from_u32(chosen.movers.trailing_zeros());
                            let standing = expander.expand_one(vector, slot, raw);
                            expander.memo.puts_off = false;
                            match expander.memo.has_missed() {
                                true => raw.clear(),
                                false => {
                                    path_compression.follow(
                                        expander,
                                        sets,
                                        vector,
                                        raw,
                                        self.cx.notes,
                                        &mut sink,
                                    );
                                }
                            }
                            standing
                        }
                        _ => self.expander.expand_some(vector, chosen.movers, &mut sink),
                    },
                    (None, None) if slots != 0 => {
                        let standing = self.expander.expand_some(vector, slots, &mut sink);
                        // Others can step.
                        Standing { n_enabled: standing.n_enabled + 1, ..standing }
                    }
                    (None, None) => self.expander.expand(vector, &mut sink),
                    (None, Some(confluent_sends)) => {
                        let (expander, raw) = (&mut self.expander, &mut self.raw);
                        let notes = self.cx.notes.map(|notes| (notes, n_monitors));
                        let standing = match first {
                            Some((slot, _)) => expander.expand_one(vector, slot, raw),
                            None if chunk.is_representative => {
                                confluent_sends.expand(expander, vector, next, raw, notes, &mut sink)
                            }
                            None => expander.expand(vector, raw),
                        };
                        if !raw.is_empty() {
                            let memo = &mut expander.memo;
                            confluent_sends.merge(
                                memo,
                                vector,
                                chunk.is_representative,
                                raw,
                                notes,
                                &mut sink,
                            );
                        }
                        standing
                    }
                };
                self.expander.memo.puts_off = false;
                if let Some(missed) = self.expander.take_missed() {
                    // Whether a vector without other steps is terminal is decided when all is known.
                    let is_plain =
                        chosen.is_none() && self.confluent_sends.is_none() && standing.n_enabled > 0;
                    let is_part = is_plain && missed != 0;
                    match before.last() {
                        Some((_, known)) if !is_part => sink.tally.go_back(known),
                        _ => sink.tally.n_stuttering += u64::from(standing.n_stuttering),
                    }
                    again.push(Again { place: from as u32, slots: if is_part { missed } else { slots } });
                    continue;
                }
                standing
            };
            sink.tally.n_stuttering += u64::from(standing.n_stuttering);
            sink.tally.n_machines = sink.tally.n_machines.max(standing.n_machines);
            if let Some(notes) = self.cx.notes {
                notes.see(vector, n_monitors, standing.n_enabled == 0);
            }
            if standing.n_enabled == 0 {
                sink.tally.n_ends += 1;
                let is_hot = || {
                    let locals = lock(self.cx.locals);
                    vector[..n_monitors].iter().any(|&local| locals.temperature(local) == Temperature::Hot)
                };
                let is_stuck =
                    standing.is_blocked && (!self.cx.has_lazy_faults() || self.expander.is_stuck(vector));
                if is_stuck || is_hot() {
                    sink.tally.ends_badly = true;
                }
            }
        }
        sink.flush();
        if sink.full_from.is_some() {
            return Some(self.shared.pause_at(&mut sink, chunk.len(), before));
        }
        self.shared.n_seen.fetch_add(sink.n_new, Ordering::Relaxed);
        None
    }
}
