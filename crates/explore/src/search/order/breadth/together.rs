//! Layers of several processes.
//!
//! A process expands what it owns, sends successors to their owners while it does so, and inserts what it is sent. Processes meet twice a
//! layer ([`Link`]): when all successors were sent, with word of violations and limits; and when all of them were inserted, with
//! their number. All decide by the same notes, so all end at the same layer and in the same way.
//!
//! Messages of a process arrive in order, and a process that meets a limit says so at once, so others stop in the middle of
//! the layer.

use std::sync::atomic::Ordering;

use allways_run::{Progress, StopReason};

use super::Leader;
use super::chunk::{Arrived, Chunk, Writer};
use super::insert::{Keys, Route, key_of};
use super::tasks::Task;
use super::worker::Worker;
use crate::search::context::{Context, Explored, SearchEnd, Tally};
use crate::search::distribute::link::Link;
use crate::search::distribute::record::Record;
use crate::search::local::states::LocalStateId;
use crate::search::lock;
use crate::search::store::table::Full;
use crate::search::store::tree::Pairs;
use crate::wire::{
    Read, get_bytes, get_length, get_number, get_path, get_reason, get_small, put_number, put_path,
    put_reason,
};

/// Looks at the others after the end of a limit, before this process ends without them. Each takes a few hundredths of a second.
const PATIENCE: u32 = 200;

/// What a process says when it has sent its successors.
struct Expanded {
    /// Steps of a run that violates a property.
    broken: Option<u64>,
    stopped: Option<StopReason>,
    /// Broadcasts must not be taken to have no order.
    lacks_precondition: bool,
    singles: Vec<(u32, Vec<u32>)>,
    /// See `DataPlan::reports`.
    reports: Vec<(u32, Option<u32>)>,
}

impl Expanded {
    fn put(&self, out: &mut Vec<u8>) {
        put_number(out, self.broken.map_or(0, |depth| depth + 1));
        put_reason(self.stopped.as_ref(), out);
        put_number(out, u64::from(self.lacks_precondition));
        put_number(out, self.singles.len() as u64);
        for (interface, path) in &self.singles {
            put_number(out, u64::from(*interface));
            put_path(out, path);
        }
        put_number(out, self.reports.len() as u64);
        for &(class, at) in &self.reports {
            put_number(out, u64::from(class));
            put_number(out, at.map_or(0, |at| u64::from(at) + 1));
        }
    }

    fn get(mut bytes: &[u8]) -> Read<Expanded> {
        let bytes = &mut bytes;
        let broken = get_number(bytes)?.checked_sub(1);
        let stopped = get_reason(bytes)?;
        let lacks_precondition = get_number(bytes)? != 0;
        let n = get_length(bytes)?;
        let single = |bytes: &mut &[u8]| Ok((get_small(bytes)?, get_path(bytes)?));
        let singles = (0..n).map(|_| single(bytes)).collect::<Read<_>>()?;
        let n = get_length(bytes)?;
        let at = |bytes: &mut &[u8]| -> Read<Option<u32>> { Ok(get_small(bytes)?.checked_sub(1)) };
        let reports = (0..n).map(|_| Ok((get_small(bytes)?, at(bytes)?))).collect::<Read<_>>()?;
        Ok(Expanded { broken, stopped, lacks_precondition, singles, reports })
    }
}

/// What a process says when it has inserted what it was sent.
#[derive(Default)]
struct Inserted {
    /// Configurations of the next layer.
    n_next: u64,
    n_configurations: u64,
    n_transitions: u64,
    /// The layer is to be kept.
    is_due: bool,
    stopped: Option<StopReason>,
}

impl Inserted {
    fn put(&self, out: &mut Vec<u8>) {
        put_reason(self.stopped.as_ref(), out);
        for n in [self.n_next, self.n_configurations, self.n_transitions, u64::from(self.is_due)] {
            put_number(out, n);
        }
    }

    fn get(mut bytes: &[u8]) -> Read<Inserted> {
        let bytes = &mut bytes;
        Ok(Inserted {
            stopped: get_reason(bytes)?,
            n_next: get_number(bytes)?,
            n_configurations: get_number(bytes)?,
            n_transitions: get_number(bytes)?,
            is_due: get_number(bytes)? != 0,
        })
    }
}

impl Leader<'_, '_> {
    /// Whether this process counts what all have in common.
    pub(super) fn is_first(&self) -> bool {
        self.shared.link.as_ref().is_none_or(Link::is_leader)
    }

    /// Before the first layer: whether all search the same, and for something.
    pub(super) fn meet_first(&mut self, layer: &[Chunk], depth: u64) -> Option<SearchEnd> {
        // All resume from the same layer, too.
        let label = format!("{} from layer {depth}", self.cx.label);
        let mut note = Vec::new();
        put_number(&mut note, label.len() as u64);
        note.extend_from_slice(label.as_bytes());
        put_number(&mut note, layer.iter().map(|chunk| chunk.len() as u64).sum());
        let notes = match self.exchange(&note, false, None) {
            Ok(notes) => notes,
            Err(reason) => return Some(SearchEnd::Stopped(reason)),
        };
        let mut n_first: u64 = layer.iter().map(|chunk| chunk.len() as u64).sum();
        for (from, note) in notes {
            let bytes = &mut &note[..];
            let other = get_bytes(bytes);
            if other.as_deref().is_ok_and(|other| other != label.as_bytes()) {
                let link = self.shared.link.as_ref()?;
                return Some(SearchEnd::Stopped(link.fail(
                    from,
                    "it runs a different search: start all processes with the same program, test and options",
                )));
            }
            match other.and_then(|_| get_number(bytes)) {
                Ok(n) => n_first = n_first.saturating_add(n),
                Err(why) => return Some(self.broken_note(from, &why)),
            }
        }
        (n_first == 0).then_some(SearchEnd::Exhausted)
    }

    fn broken_note(&self, from: usize, why: &str) -> SearchEnd {
        let reason = self.shared.link.as_ref().map(|link| link.fail(from, why));
        SearchEnd::Stopped(reason.unwrap_or(StopReason::Interrupted))
    }

    /// After a layer was expanded here, in whatever way that ended: waits for all others. What comes next is in `layer` then.
    pub(super) fn meet(
        &mut self,
        found: Option<SearchEnd>,
        layer: &mut Vec<Chunk>,
        tally: &mut Tally,
        depth: u64,
    ) -> Option<SearchEnd> {
        let (broken, stopped) = match found {
            Some(SearchEnd::Broken { depth }) => (Some(depth), None),
            Some(SearchEnd::Stopped(reason)) => (None, Some(reason)),
            Some(SearchEnd::Exhausted) | None => (None, None),
        };
        let is_over = broken.is_some() || stopped.is_some();
        // Steps may have been left out without any word but this.
        let stopped = stopped.or_else(|| self.cx.cancel.reason());
        let plan = self.cx.options.data.clone();
        let mut all = {
            let locals = lock(self.cx.locals);
            Expanded {
                broken,
                stopped,
                lacks_precondition: locals.lacks_broadcast_precondition(),
                singles: locals.singles(),
                reports: plan.as_ref().map_or_else(Vec::new, |plan| plan.reports()),
            }
        };
        let mut note = Vec::new();
        all.put(&mut note);
        let is_urgent = is_over || all.stopped.is_some() || all.lacks_precondition;
        let mut into = Some((&mut *layer, &mut *tally));
        if is_urgent {
            into = None;
        }
        let notes = match self.exchange(&note, is_urgent, into) {
            Ok(notes) => notes,
            Err(reason) => return Some(SearchEnd::Stopped(reason)),
        };
        let me = self.shared.link.as_ref().map_or(0, Link::number);
        // Of several reasons, that of the first process.
        let mut reason_of = (all.stopped.is_some()).then_some(me);
        for (from, note) in notes {
            let other = match Expanded::get(&note) {
                Ok(other) => other,
                Err(why) => return Some(self.broken_note(from, &why)),
            };
            all.broken = match (all.broken, other.broken) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            if other.stopped.is_some() && reason_of.is_none_or(|of| from < of) {
                (all.stopped, reason_of) = (other.stopped, Some(from));
            }
            all.lacks_precondition |= other.lacks_precondition;
            all.singles.extend(other.singles);
            all.reports.extend(other.reports);
        }
        {
            let mut locals = lock(self.cx.locals);
            locals.meet_singles(&all.singles);
            all.lacks_precondition |= locals.lacks_broadcast_precondition();
            if all.lacks_precondition {
                locals.set_lacks_broadcast_precondition();
            }
        }
        if let Some(plan) = &plan {
            plan.add_reports(&all.reports);
        }
        let is_futile = all.lacks_precondition || !all.reports.is_empty();
        let found = match (all.broken, all.stopped) {
            (Some(depth), _) => Some(SearchEnd::Broken { depth }),
            (None, Some(reason)) => Some(SearchEnd::Stopped(reason)),
            (None, None) => is_futile.then_some(SearchEnd::Stopped(StopReason::Interrupted)),
        };
        found.or_else(|| self.meet_again(layer, tally, depth))
    }

    /// After all that was sent was inserted.
    fn meet_again(&mut self, layer: &[Chunk], tally: &Tally, depth: u64) -> Option<SearchEnd> {
        let mut all = Inserted {
            n_next: layer.iter().map(|chunk| chunk.len() as u64).sum(),
            n_configurations: tally.n_configurations,
            n_transitions: tally.n_transitions,
            is_due: self.cx.options.checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.0.is_due()),
            stopped: lock(&self.shared.reason).take().or_else(|| self.cx.cancel.reason()),
        };
        let mut note = Vec::new();
        all.put(&mut note);
        let notes = match self.exchange(&note, false, None) {
            Ok(notes) => notes,
            Err(reason) => return Some(SearchEnd::Stopped(reason)),
        };
        let me = self.shared.link.as_ref().map_or(0, Link::number);
        let mut reason_of = (all.stopped.is_some()).then_some(me);
        for (from, note) in notes {
            let other = match Inserted::get(&note) {
                Ok(other) => other,
                Err(why) => return Some(self.broken_note(from, &why)),
            };
            all.n_next = all.n_next.saturating_add(other.n_next);
            all.n_configurations = all.n_configurations.saturating_add(other.n_configurations);
            all.n_transitions = all.n_transitions.saturating_add(other.n_transitions);
            if from == 0 {
                all.is_due = other.is_due;
            }
            if other.stopped.is_some() && reason_of.is_none_or(|of| from < of) {
                (all.stopped, reason_of) = (other.stopped, Some(from));
            }
        }
        self.is_due = all.is_due;
        self.cx.observer.progress(&Progress {
            n_steps: self.base.tally.n_transitions.saturating_add(all.n_transitions),
            n_configurations: Some(self.base.tally.n_configurations.saturating_add(all.n_configurations)),
            frontier: Some(all.n_next),
            depth,
            bytes: Some(self.peak),
            ..Progress::default()
        });
        match all.stopped {
            Some(reason) => Some(SearchEnd::Stopped(reason)),
            None if all.n_next == 0 => Some(SearchEnd::Exhausted),
            None => None,
        }
    }

    /// Sends a note and waits for those of the others. What arrives meanwhile is inserted `into` the next layer, or dropped.
    fn exchange(
        &mut self,
        note: &[u8],
        is_urgent: bool,
        mut into: Option<(&mut Vec<Chunk>, &mut Tally)>,
    ) -> Result<Vec<(usize, Vec<u8>)>, StopReason> {
        let shared = self.shared;
        let Some(link) = &shared.link else { return Ok(Vec::new()) };
        link.note(note, is_urgent);
        let mut tasks = Vec::new();
        let mut n_looks = 0;
        loop {
            if let Some(reason) = link.failure() {
                return Err(reason);
            }
            let n_received = shared.n_received.load(Ordering::Relaxed);
            match &mut into {
                Some((layer, tally)) if !link.is_urgent() => {
                    if let Some(reason) = self.prepare(0, None) {
                        // Word of it goes with the next note.
                        lock(&shared.reason).get_or_insert(reason);
                        into = None;
                        continue;
                    }
                    let n_left: usize = tasks.iter().map(Task::len).sum();
                    let mut inserted = Tally::default();
                    tasks = self.round(std::mem::take(&mut tasks), n_left, &mut inserted, layer);
                    tally.add(&inserted);
                    if lock(&shared.reason).is_some() {
                        into = None;
                        continue;
                    }
                }
                _ => {
                    tasks.clear();
                    while self.worker.receive_and_drop() {}
                }
            }
            let is_quiet = shared.n_received.load(Ordering::Relaxed) == n_received && tasks.is_empty();
            if is_quiet && link.have_all_met() {
                return Ok(link.notes());
            }
            if is_quiet {
                // A process that is stopped does not wait for others that are not; but all of them stop for what one has learned of data.
                let has_learned = self.cx.options.data.as_ref().is_some_and(|plan| plan.has_learned());
                if let Some(reason) = self.cx.cancel.reason().filter(|_| !has_learned) {
                    n_looks += 1;
                    if n_looks > PATIENCE {
                        return Err(reason);
                    }
                }
                link.wait();
            }
        }
    }
}

struct Dropped;

impl crate::search::distribute::link::Arrivals for Dropped {
    fn add(&mut self, _: &[LocalStateId], _: u64, _: bool) {}
}

impl Worker<'_, '_> {
    /// The vectors of the next message from another process.
    pub(super) fn receive(&self) -> Vec<Chunk> {
        let Some(link) = &self.shared.link else { return Vec::new() };
        let mut arrived = Arrived { spare: Some(&self.shared.spare), ..Arrived::default() };
        while arrived.chunks.is_empty() && link.receive(self.cx.locals, &mut arrived) {
            self.shared.n_received.fetch_add(1, Ordering::Relaxed);
        }
        arrived.chunks
    }

    /// Reads a message of which nothing is needed but that it came.
    fn receive_and_drop(&self) -> bool {
        self.shared.link.as_ref().is_some_and(|link| link.receive(self.cx.locals, &mut Dropped))
    }

    pub(super) fn send_all(&mut self) {
        if let Some(link) = &self.shared.link {
            let mut route = Route { link, outboxes: &mut self.outboxes, vector: Vec::new() };
            route.send(self.cx.locals, true);
        }
    }

    /// Inserts vectors that have arrived; says where it stopped, if it did.
    pub(super) fn insert_task(
        &mut self,
        task: &Task,
        room: u64,
        pairs: &Pairs,
        tally: &mut Tally,
        writer: &mut Writer<'_>,
    ) -> Option<usize> {
        let chunk = &task.chunk;
        let shared = self.shared;
        let divider = super::read(&shared.divider);
        if let Keys::Fingerprint = self.keys {
            chunk.words[task.from..].iter().for_each(|&print| self.table.prefetch(key_of(print)));
        }
        for at in task.from..chunk.len() {
            let vector = &chunk.vectors[at * chunk.stride..(at + 1) * chunk.stride];
            let print = chunk.words[at];
            let is_full = shared.n_seen.load(Ordering::Relaxed) > room || pairs.len() > pairs.room();
            let mut key = key_of(print);
            let inserted = match &mut self.keys {
                _ if is_full => Err(Full),
                Keys::Fingerprint => self.table.insert(key),
                Keys::Wide(seconds) => self.table.insert_wide(key, key_of(seconds.of(vector))),
                Keys::Exact(tree) => match tree.key_of(vector) {
                    Ok(exact) => {
                        key = exact;
                        self.table.insert(key)
                    }
                    Err(Full) => {
                        shared.are_pairs_full.store(true, Ordering::Relaxed);
                        shared.pause.store(true, Ordering::Relaxed);
                        return Some(at);
                    }
                },
            };
            match inserted {
                Ok(false) => {}
                Ok(true) => {
                    shared.n_seen.fetch_add(1, Ordering::Relaxed);
                    tally.n_configurations += 1;
                    match self.keys {
                        Keys::Fingerprint | Keys::Wide(_) => {
                            let part = divider.part(vector, &[]);
                            let next = writer.chunk(chunk.stride, chunk.is_representative, part);
                            next.write(vector, &[], print);
                        }
                        Keys::Exact(_) => {
                            writer.chunk(chunk.stride, chunk.is_representative, 0).write_key(key);
                        }
                    }
                }
                Err(Full) => {
                    shared.is_full.store(true, Ordering::Relaxed);
                    shared.pause.store(true, Ordering::Relaxed);
                    return Some(at);
                }
            }
        }
        None
    }
}

/// What the search has noted, with what it had noted before it was resumed, and with what other processes have: those send
/// theirs to the first.
pub(super) fn record(cx: Context<'_>, link: Option<&Link<'_>>, base: Record, explored: &mut Explored) {
    let mut record = lock(cx.locals).record();
    lock(cx.locals).cuts().for_each(|cut| explored.tally.cuts.add(cut));
    record.tally = explored.tally;
    record.unknown = explored.unknown.clone();
    (record.n_lookups, record.n_misses) = (explored.n_lookups, explored.n_misses);
    (record.store_bytes, record.peak_bytes) = (explored.store_bytes, explored.peak_bytes);
    record.merge(base);
    if let Some(link) = link {
        if !link.is_leader() {
            let mut note = Vec::new();
            record.put(&mut note);
            link.note_to(0, &note, false);
            return;
        }
        let mut n_looks = 0;
        while !link.have_all_met() && link.failure().is_none() {
            if !link.receive(cx.locals, &mut Dropped) {
                if cx.cancel.reason().is_some() {
                    n_looks += 1;
                }
                if n_looks > PATIENCE {
                    break;
                }
                link.wait();
            }
        }
        let notes = if link.have_all_met() { link.notes() } else { Vec::new() };
        let n_others = notes.len();
        for (from, note) in notes {
            match Record::get(&mut &note[..]) {
                Ok(other) => record.merge(other),
                Err(why) => explored.end = SearchEnd::Stopped(link.fail(from, &why)),
            }
        }
        // Figures that lack those of a process are none; and what it found out about handlers is lost.
        if n_others + 1 < link.n_processes() && explored.end == SearchEnd::Exhausted {
            let reason = link.failure().or_else(|| cx.cancel.reason());
            explored.end = SearchEnd::Stopped(reason.unwrap_or(StopReason::Interrupted));
        }
    }
    explored.tally = record.tally;
    explored.unknown = record.unknown.clone();
    (explored.n_lookups, explored.n_misses) = (record.n_lookups, record.n_misses);
    (explored.store_bytes, explored.peak_bytes) = (record.store_bytes, record.peak_bytes);
    explored.record = Some(Box::new(record));
}
