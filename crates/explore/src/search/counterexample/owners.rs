//! A path to a violation by several processes, when one of them has no room for the search.
//!
//! Layer by layer, each process expands what it owns, and keeps of each configuration that it owns the fingerprint of a predecessor. A layer is always
//! finished. Of all configurations in which something breaks, that with the least fingerprint counts, and of all predecessors in the layer
//! before, likewise; so the path depends neither on processes nor on the order of messages. It is followed back by asking owners,
//! and process 0 makes its moves again from the beginning.
//!
//! Each process works with one thread: this is for what is too large, not for what is slow.

use allways_run::StopReason;
use rustc_hash::FxHashMap;

use super::{Allowance, Found, LOOK_AFTER, StepName, is_bad_end, lost, steps_of, tell};
use crate::error::InternalError;
use crate::exchange::Exchange;
use crate::search::context::{Context, Tally};
use crate::search::distribute::flat::Outbox;
use crate::search::distribute::link::{Arrivals, Link};
use crate::search::distribute::record::{Record, get_tally, put_tally};
use crate::search::expand::{Move, fingerprint};
use crate::search::local::states::LocalStateId;
use crate::search::lock;
use crate::search::store::table::Table;
use crate::search::successors::{Collect, Layer, Purpose, Successors};
use crate::wire::{Read, get_number, get_reason, get_word, put_number, put_reason};

/// Looks at the others after the end of a limit, before this process ends without them.
const PATIENCE: u32 = 200;

/// Word of process 0 to the others.
const SEARCH: u8 = 1;
const DONE: u8 = 0;

/// What breaks: a configuration that is terminal, or a step of one, which is later. The configuration by its fingerprint.
type Broken = (u8, u64);

/// What a process says after a layer.
struct Note {
    broken: Option<Broken>,
    stopped: Option<StopReason>,
    n_next: u64,
    tally: Tally,
}

impl Note {
    fn put(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let (kind, print) = self.broken.map_or((0, 0), |(kind, print)| (kind + 1, print));
        out.push(kind);
        out.extend_from_slice(&print.to_le_bytes());
        put_reason(self.stopped.as_ref(), &mut out);
        put_number(&mut out, self.n_next);
        put_tally(&self.tally, &mut out);
        out
    }

    fn get(mut bytes: &[u8]) -> Read<Note> {
        let bytes = &mut bytes;
        let kind = get_number(bytes)?;
        let print = get_word(bytes)?;
        let broken = match kind {
            0 => None,
            1 | 2 => Some((kind as u8 - 1, print)),
            _ => return Err("no such violation".to_owned()),
        };
        Ok(Note { broken, stopped: get_reason(bytes)?, n_next: get_number(bytes)?, tally: get_tally(bytes)? })
    }
}

/// The path as all processes know it in the end.
struct Prints {
    /// From the beginning.
    prints: Vec<u64>,
    /// A step breaks a property; else the last configuration does.
    breaks: bool,
    tally: Tally,
}

/// Configurations of this process.
struct Owned {
    table: Table,
    /// By layer, each sorted: fingerprints with those of predecessors.
    layers: Vec<Vec<(u64, u64)>>,
    /// Of the next layer.
    origins: FxHashMap<u64, u64>,
    next: Layer,
    n: u64,
    /// There is no memory for more.
    is_full: bool,
    /// Of the arrival at hand.
    parent: u64,
}

impl Owned {
    fn new() -> Option<Self> {
        let (layers, origins, next) = Default::default();
        Some(Owned {
            table: Table::new_for_hashes(12)?,
            layers,
            origins,
            next,
            n: 0,
            is_full: false,
            parent: 0,
        })
    }

    fn insert(&mut self, vector: &[LocalStateId], print: u64, parent: u64) {
        match self.table.insert_growing(print.max(1)) {
            // The search ends soon.
            None => self.is_full = true,
            Some(true) => {
                self.n += 1;
                self.is_full |= self.n as usize > self.table.room() && self.table.grow().is_none();
                self.origins.insert(print, parent);
                self.next.push(vector);
            }
            Some(false) => {
                if let Some(known) = self.origins.get_mut(&print) {
                    *known = (*known).min(parent);
                }
            }
        }
    }

    fn end_layer(&mut self) -> Layer {
        let mut layer: Vec<(u64, u64)> = self.origins.drain().collect();
        layer.sort_unstable();
        self.layers.push(layer);
        std::mem::take(&mut self.next)
    }

    fn n_bytes(&self) -> usize {
        let origins = self.layers.iter().map(|layer| layer.capacity() * 16).sum::<usize>();
        self.table.n_bytes() + origins + self.origins.capacity() * 20 + self.next.n_bytes()
    }

    fn parent_of(&self, layer: usize, print: u64) -> Option<u64> {
        let layer = self.layers.get(layer)?;
        layer.binary_search_by_key(&print, |entry| entry.0).ok().map(|at| layer[at].1)
    }
}

impl Arrivals for Owned {
    fn parent(&mut self, parent: u64) {
        self.parent = parent;
    }

    fn add(&mut self, vector: &[LocalStateId], fingerprint: u64, _: bool) {
        self.insert(vector, fingerprint, self.parent);
    }
}

/// Process 0 finds a path with the others, which wait for word of that.
pub(crate) fn lead(
    cx: Context<'_>,
    exchange: &dyn Exchange,
    allowance: Allowance,
) -> Result<Found, InternalError> {
    let link = Link::new(exchange);
    link.note(&[SEARCH], false);
    let found = match search(cx, &link, allowance) {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(Found::Nothing),
        Err(reason) => return Ok(Found::Stopped(reason)),
    };
    let depth = found.prints.len() as u64 + u64::from(found.breaks);
    let record = match records(cx, &link) {
        Ok(record) => Some(Box::new(record)),
        Err(reason) => return Ok(Found::Stopped(reason)),
    };
    let tally = found.tally;
    let steps = walk(cx, &found)?;
    Ok(Found::Path { steps, tally, depth, is_shortest: true, record })
}

/// Process 0 needs the others no more.
pub(crate) fn dismiss(exchange: &dyn Exchange) {
    Link::new(exchange).note(&[DONE], false);
}

/// Any other process: waits for word of process 0, and helps it.
pub(crate) fn help(cx: Context<'_>, exchange: &dyn Exchange) {
    loop {
        let link = Link::new(exchange);
        let mut nothing = Nothing;
        while !link.has_met(0) {
            if link.failure().is_some() || cx.cancel.reason().is_some() {
                return;
            }
            if !link.receive_from(0, cx.locals, &mut nothing) {
                link.wait();
            }
        }
        let word = link.take_note(0);
        if word.as_deref() != Some(&[SEARCH]) {
            return;
        }
        let allowance = Allowance { depth: u64::MAX, most: None, transitions: u64::MAX };
        match search(cx, &link, allowance) {
            Err(_) => return,
            Ok(None) => {}
            Ok(Some(_)) => {
                let mut note = Vec::new();
                lock(cx.locals).record().put(&mut note);
                link.note_to(0, &note, false);
            }
        }
    }
}

/// What all have noted, for process 0.
fn records(cx: Context<'_>, link: &Link<'_>) -> Result<Record, StopReason> {
    let mut record = lock(cx.locals).record();
    while !link.have_all_met() {
        if let Some(reason) = link.failure() {
            return Err(reason);
        }
        if !link.receive(cx.locals, &mut Nothing) {
            link.wait();
        }
    }
    for (from, note) in link.notes() {
        record.merge(Record::get(&mut &note[..]).map_err(|why| link.fail(from, &why))?);
    }
    Ok(record)
}

struct Nothing;

impl Arrivals for Nothing {
    fn add(&mut self, _: &[LocalStateId], _: u64, _: bool) {}
}

/// The path to a violation by fingerprints; none if there is no violation.
fn search(cx: Context<'_>, link: &Link<'_>, allowance: Allowance) -> Result<Option<Prints>, StopReason> {
    let no_memory = || StopReason::Memory { bytes: cx.options.limits.memory_bytes.unwrap_or(0) };
    let me = link.number();
    lock(cx.locals).record_content();
    let mut owned = Owned::new().ok_or_else(no_memory)?;
    let mut outboxes: Vec<Outbox> = (0..link.n_processes()).map(|_| Outbox::default()).collect();
    let mut successors = Successors::new(cx, Purpose::Counterexample);
    let beginning = lock(cx.locals).begin();
    let mut tally = Tally::default();
    if link.is_leader() {
        tally = Tally { n_configurations: 1, n_machines: 1, n_transitions: beginning.n_transitions, ..tally };
    }
    for (_, vector) in &beginning.vectors {
        let print = fingerprint(&lock(cx.locals), vector);
        if link.owner_of(print) == me {
            owned.insert(vector, print, 0);
        }
    }
    let mut layer = owned.end_layer();
    let mut depth = 1;
    tally.n_configurations += layer.len() as u64;
    loop {
        let (mut broken, mut stopped): (Option<Broken>, _) = (None, None);
        let mut look_at = tally.n_transitions + LOOK_AFTER;
        let n_before = owned.n;
        for at in 0..layer.len() {
            while link.receive(cx.locals, &mut owned) {}
            while link.is_congested() && link.failure().is_none() {
                if !link.receive(cx.locals, &mut owned) {
                    link.wait();
                }
            }
            if at % 256 == 0 || tally.n_transitions >= look_at {
                look_at = tally.n_transitions + LOOK_AFTER;
                let others = lock(cx.locals).n_bytes() + successors.expander.memo.n_bytes() + link.n_bytes();
                let bytes = (owned.n_bytes() + layer.n_bytes() + others) as u64;
                stopped = allowance
                    .stop_reason(cx, tally.n_transitions)
                    .or_else(|| cx.is_over(bytes))
                    .or_else(|| owned.is_full.then(no_memory))
                    .or_else(|| link.failure());
                if stopped.is_some() || link.is_urgent() {
                    break;
                }
                tell(cx, &tally, depth);
            }
            let vector = layer.get(at);
            let from = fingerprint(&lock(cx.locals), vector);
            let mut sink = Collect::default();
            let expansion = successors.expand(vector, &mut sink);
            tally.n_persistent += u64::from(expansion.chosen.is_some());
            tally.n_put_off += expansion.chosen.map_or(0, |chosen| chosen.n_put_off);
            tally.n_transitions += sink.moves.len() as u64 + u64::from(sink.broken.is_some());
            tally.n_machines = tally.n_machines.max(expansion.standing.n_machines);
            let mut note =
                |kind: u8| broken = Some(broken.map_or((kind, from), |known| known.min((kind, from))));
            if expansion.standing.n_enabled == 0 {
                tally.n_ends += 1;
                if is_bad_end(&lock(cx.locals), vector, expansion.standing) {
                    note(0);
                }
            }
            if sink.broken.is_some() {
                note(1);
            }
            for number in 0..sink.moves.len() {
                let successor = successors.counted(sink.vectors.get(number), &mut tally);
                let print = fingerprint(&lock(cx.locals), successor);
                match link.owner_of(print) {
                    owner if owner == me => owned.insert(successor, print, from),
                    owner => {
                        outboxes[owner].push_with_parent(successor.iter().copied(), from);
                        if outboxes[owner].is_large() {
                            link.send(owner, cx.locals, &mut outboxes[owner]);
                        }
                    }
                }
            }
        }
        for (owner, outbox) in outboxes.iter_mut().enumerate() {
            link.send(owner, cx.locals, outbox);
        }
        let is_urgent = stopped.is_some();
        let note = Note { broken, stopped, n_next: 0, tally };
        let mut all = meet(cx, link, note, is_urgent, &mut owned)?;
        if let Some((kind, print)) = all.broken {
            return follow_back(cx, link, &mut owned, print)
                .map(|prints| Some(Prints { prints, breaks: kind == 1, tally: all.tally }));
        }
        if depth >= allowance.depth {
            all.stopped.get_or_insert(StopReason::Interrupted);
        }
        tally.n_configurations += owned.n - n_before;
        layer = owned.end_layer();
        depth += 1;
        let note = Note { broken: None, stopped: all.stopped, n_next: layer.len() as u64, tally };
        let all = meet(cx, link, note, false, &mut owned)?;
        if let Some(reason) = all.stopped {
            return Err(reason);
        }
        if all.n_next == 0 {
            return Ok(None);
        }
    }
}

/// Sends a note, waits for those of the others, and puts all together. What arrives meanwhile is inserted.
fn meet(
    cx: Context<'_>,
    link: &Link<'_>,
    mut all: Note,
    is_urgent: bool,
    owned: &mut Owned,
) -> Result<Note, StopReason> {
    for (from, bytes) in exchange(cx, link, &all.put(), is_urgent, owned)? {
        let other = Note::get(&bytes).map_err(|why| link.fail(from, &why))?;
        all.broken = match (all.broken, other.broken) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        all.stopped = all.stopped.or(other.stopped);
        all.n_next = all.n_next.saturating_add(other.n_next);
        all.tally.add(&other.tally);
    }
    Ok(all)
}

fn exchange(
    cx: Context<'_>,
    link: &Link<'_>,
    note: &[u8],
    is_urgent: bool,
    owned: &mut Owned,
) -> Result<Vec<(usize, Vec<u8>)>, StopReason> {
    link.note(note, is_urgent);
    let mut n_looks = 0;
    while !link.have_all_met() {
        if link.receive(cx.locals, owned) {
            continue;
        }
        if let Some(reason) = link.failure() {
            return Err(reason);
        }
        if let Some(reason) = cx.cancel.reason() {
            n_looks += 1;
            if n_looks > PATIENCE && !matches!(reason, StopReason::Time(_)) {
                return Err(reason);
            }
        }
        link.wait();
    }
    Ok(link.notes())
}

/// From a configuration of the last layer back to the beginning, by asking owners; in the order of a run.
fn follow_back(
    cx: Context<'_>,
    link: &Link<'_>,
    owned: &mut Owned,
    last: u64,
) -> Result<Vec<u64>, StopReason> {
    let mut prints = vec![last];
    let mut at = last;
    for layer in (1..owned.layers.len()).rev() {
        let own = owned.parent_of(layer, at);
        let mut note = Vec::new();
        put_number(&mut note, u64::from(own.is_some()));
        note.extend_from_slice(&own.unwrap_or(0).to_le_bytes());
        let mut parent = own;
        for (from, bytes) in exchange(cx, link, &note, false, owned)? {
            let bytes = &mut &bytes[..];
            let read = get_number(bytes).and_then(|known| Ok((known, get_word(bytes)?)));
            let (known, print) = read.map_err(|why| link.fail(from, &why))?;
            if known == 1 {
                parent = parent.or(Some(print));
            }
        }
        at = parent.ok_or(StopReason::Undecided { why: "no process has a step of the path".to_owned() })?;
        prints.push(at);
    }
    prints.reverse();
    Ok(prints)
}

/// The steps through configurations with these fingerprints.
fn walk(cx: Context<'_>, found: &Prints) -> Result<Vec<StepName>, InternalError> {
    let beginning = lock(cx.locals).begin();
    let [first, rest @ ..] = &found.prints[..] else { return Err(lost(None)) };
    let is_first =
        |(_, vector): &&(Vec<u32>, Vec<LocalStateId>)| fingerprint(&lock(cx.locals), vector) == *first;
    let (answers, start) = beginning.vectors.iter().find(is_first).ok_or_else(|| lost(None))?;
    let mut successors = Successors::new(cx, Purpose::Counterexample);
    let mut vector = start.clone();
    let mut moves: Vec<Move> = Vec::new();
    for &print in rest {
        let mut sink = Collect::default();
        successors.expand(&vector, &mut sink);
        let mut next = None;
        for (number, &by) in sink.moves.iter().enumerate() {
            let successor = successors.canonical(sink.vectors.get(number));
            if fingerprint(&lock(cx.locals), successor) == print {
                next = Some((by, successor.to_vec()));
                break;
            }
        }
        let (by, after) = next.ok_or_else(|| lost(None))?;
        moves.push(by);
        vector = after;
    }
    if found.breaks {
        let mut sink = Collect::default();
        successors.expand(&vector, &mut sink);
        moves.push(sink.broken.ok_or_else(|| lost(None))?);
    }
    drop(successors);
    steps_of(cx, answers, start, &moves, found.breaks)
}
