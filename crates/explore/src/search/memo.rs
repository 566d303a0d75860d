//! What one thread remembers of local steps, laid out for reading.
//!
//! Hits touch nothing that another thread writes. A miss asks the shared [`Cells`] under its lock, and takes over whatever
//! others have worked out meanwhile ([`Log`]), so that nothing is worked out twice. Where several threads search, and the
//! lock is not free, a miss is put off: the configuration is looked at again when the lock was free for all such questions together. Every outcome carries
//! the difference that it makes to the fingerprint, so that the global step is additions.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use allways_run::StopReason;

use super::cells::{Act, CellId, Cells, Cut, Delivered, Ending, Heard, LOOK_AFTER, Outcome1};
use super::huge::make_room;
use super::lock;
use super::pair_table::PairTable;

/// What a machine can do where it stands, in half a line of the cache: a step with one outcome and nothing special about it,
/// as most are, is all in here.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
pub(super) struct ActEntry {
    /// Of the outcome, if there is one that has nothing extra.
    pub delta: u64,
    /// Likewise; else zero.
    pub next: CellId,
    /// Outcomes, in `outs`.
    pub first: u32,
    pub n: u32,
    /// The delivery that comes first: the slot and the message.
    pub delivery: (u32, u32),
    pub kind: ActKind,
    /// No monitor hears of the step, and no bound cuts it.
    pub is_unheard: bool,
    /// It rests for ever.
    pub is_halted: bool,
    pub crash: Crash,
}

/// Whether a machine can crash where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Crash {
    #[default]
    Never,
    /// Behind its outcomes there is one more: it crashes.
    Step,
    /// It may have crashed, and then does none of its steps.
    Late,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum ActKind {
    #[default]
    Unasked,
    Rest,
    Blocked,
    /// A step without delivery.
    Alone,
    Deliver,
    Create,
    /// Not a machine: the network brings something. The deliveries of the outcomes are in their `extra`.
    Network,
    Fault,
    Unknown,
}

/// One outcome: the next cell, and what replacing the present one by it adds to the fingerprint.
#[derive(Clone, Copy, Default)]
pub(super) struct Out {
    pub delta: u64,
    pub next: CellId,
    /// Into `extras`; zero is none.
    pub extra: u32,
}

/// What a receiver makes of a message.
#[derive(Clone, Copy, Default)]
pub(super) struct Reaction {
    /// The outcome, if it is the only one; else its `extra` is not zero.
    pub only: Out,
    /// All outcomes, in `outs`.
    pub first: u32,
    pub n: u32,
}

/// What a network brings.
#[derive(Clone, Copy, Default)]
pub(super) struct Brought {
    /// The slot of the target.
    pub target: u32,
    pub message: u32,
    /// With late faults: it need not arrive; others are lost for that.
    pub is_spare: bool,
    pub loses: bool,
}

/// In `extra` of the only outcome of what has several, or none.
const SEVERAL: u32 = u32::MAX;

/// What few outcomes have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extra {
    pub end: End,
    /// What monitors hear, in `observed`: the first, and how many.
    heard: (u32, u32),
    /// Slot, cell and what it adds to the fingerprint.
    pub created: Option<(u32, CellId, u64)>,
    /// What the creation does to the network: its slot and the operation.
    pub birth: Option<(u32, u32)>,
}

impl Extra {
    fn new(end: End) -> Self {
        Extra { end, heard: (0, 0), created: None, birth: None }
    }

    /// Places in `observed`.
    #[inline]
    pub fn observed(&self) -> Range<usize> {
        let (first, n) = self.heard;
        first as usize..(first + n) as usize
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Stands,
    Cut(Cut),
    Fault,
    Unknown,
}

/// In `Out::extra` of a monitor.
pub(super) const HEARD_HOT: u32 = 1;
pub(super) const HEARD_COLD: u32 = 2;
pub(super) const HEARD_FAULT: u32 = 4;
pub(super) const HEARD_UNKNOWN: u32 = 8;

/// What a thread has to ask for.
#[derive(Clone, Copy)]
enum Question {
    Act(CellId),
    Delivered(CellId, u32),
    Heard(CellId, u32),
}

/// Questions that are answered under one lock.
const ANSWERS: usize = 32;

/// What memos have worked out, in order, as they lay it out: outcomes have the same places in all of them, so who catches up
/// only copies.
#[derive(Default)]
pub(super) struct Log {
    acts: Vec<(CellId, ActEntry)>,
    delivered: Vec<(CellId, u32, Reaction)>,
    heard: Vec<(CellId, u32, Reaction)>,
    outs: Vec<Out>,
    extras: Vec<Extra>,
    observed: Vec<(u32, u32)>,
    deliveries: Vec<Brought>,
    unknown: Option<StopReason>,
}

impl Log {
    pub fn n_bytes(&self) -> usize {
        self.acts.capacity() * size_of::<(CellId, ActEntry)>()
            + (self.delivered.capacity() + self.heard.capacity()) * size_of::<(CellId, u32, Reaction)>()
            + self.outs.capacity() * size_of::<Out>()
            + self.extras.capacity() * size_of::<Extra>()
            + self.observed.capacity() * 8
            + self.deliveries.capacity() * size_of::<Brought>()
    }

    /// Takes what a memo added, which had caught up before.
    fn add(&mut self, memo: &mut Memo<'_>, known: Known) {
        append(&mut self.outs, &memo.outs);
        append(&mut self.extras, &memo.extras);
        append(&mut self.observed, &memo.observed);
        append(&mut self.deliveries, &memo.deliveries);
        if self.unknown.is_none() {
            self.unknown = memo.unknown.clone();
        }
        match known {
            Known::Act(cell, entry) => {
                self.acts.push((cell, entry));
                memo.n_caught_up.acts += 1;
            }
            Known::Delivered(cell, message, reaction) => {
                self.delivered.push((cell, message, reaction));
                memo.n_caught_up.delivered += 1;
            }
            Known::Heard(cell, message, reaction) => {
                self.heard.push((cell, message, reaction));
                memo.n_caught_up.heard += 1;
            }
        }
    }
}

/// Makes the one equal to the other, which it is the beginning of.
fn append<T: Copy>(to: &mut Vec<T>, from: &[T]) {
    if let Some(new) = from.get(to.len()..) {
        make_room(to, new.len());
        to.extend_from_slice(new);
    }
}

/// An answer, laid out.
#[derive(Clone, Copy)]
enum Known {
    Act(CellId, ActEntry),
    Delivered(CellId, u32, Reaction),
    Heard(CellId, u32, Reaction),
}

/// Places in the log.
#[derive(Clone, Copy, Default)]
struct Places {
    acts: usize,
    delivered: usize,
    heard: usize,
}

pub(super) struct Memo<'a> {
    cells: &'a Mutex<Cells<'a>>,
    acts: Vec<ActEntry>,
    pub outs: Vec<Out>,
    pub extras: Vec<Extra>,
    /// What monitors hear: slot and message.
    pub observed: Vec<(u32, u32)>,
    /// What a network brings.
    pub deliveries: Vec<Brought>,
    delivered: PairTable<Reaction>,
    heard: PairTable<Reaction>,
    /// By slot, the number of an empty network there; zero where it was not asked for.
    empty: Vec<CellId>,
    /// Why some step cannot be known, the first such.
    pub unknown: Option<StopReason>,
    /// Misses are put off unless the lock is free: what is not known does nothing, and `take_missed` says so.
    pub puts_off: bool,
    n_missed: u32,
    /// What was put off.
    open: Vec<Question>,
    pub n_lookups: u64,
    /// What this thread worked out.
    pub n_misses: u64,
    /// How much of the log of the cells is in here.
    n_caught_up: Places,
}

impl<'a> Memo<'a> {
    pub fn new(cells: &'a Mutex<Cells<'a>>) -> Self {
        Memo {
            cells,
            acts: Vec::new(),
            outs: Vec::new(),
            extras: vec![Extra::new(End::Stands)],
            observed: Vec::new(),
            deliveries: vec![Brought::default()],
            delivered: PairTable::default(),
            heard: PairTable::default(),
            empty: Vec::new(),
            unknown: None,
            puts_off: false,
            n_missed: 0,
            open: Vec::new(),
            n_lookups: 0,
            n_misses: 0,
            n_caught_up: Places::default(),
        }
    }

    pub fn cells(&self) -> MutexGuard<'a, Cells<'a>> {
        lock(self.cells)
    }

    /// The same, unless misses are put off and the lock is not free: then that is one.
    pub fn cells_unless_busy(&mut self) -> Option<MutexGuard<'a, Cells<'a>>> {
        if !self.puts_off {
            return Some(self.cells());
        }
        let cells = self.cells.try_lock().ok();
        self.n_missed += u32::from(cells.is_none());
        cells
    }

    pub fn n_bytes(&self) -> usize {
        self.acts.capacity() * size_of::<ActEntry>()
            + self.outs.capacity() * size_of::<Out>()
            + self.extras.capacity() * size_of::<Extra>()
            + self.observed.capacity() * 8
            + self.deliveries.capacity() * size_of::<Brought>()
            + self.delivered.n_bytes()
            + self.heard.n_bytes()
    }

    #[inline]
    pub fn act(&mut self, cell: CellId) -> ActEntry {
        self.n_lookups += 1;
        match self.acts.get(cell as usize) {
            Some(entry) if entry.kind != ActKind::Unasked => *entry,
            _ => self.ask_act(cell),
        }
    }

    /// The outcomes of a delivery: the first in `outs`, and how many.
    #[inline]
    pub fn deliver(&mut self, cell: CellId, message: u32) -> (u32, u32) {
        let Reaction { first, n, .. } = self.reaction(cell, message);
        (first, n)
    }

    #[inline]
    pub fn reaction(&mut self, cell: CellId, message: u32) -> Reaction {
        self.n_lookups += 1;
        match self.delivered.get(cell, message) {
            Some(found) => found,
            None => self.ask_deliver(cell, message),
        }
    }

    /// What a monitor does with a message.
    #[inline]
    pub fn hear(&mut self, cell: CellId, message: u32) -> Out {
        self.n_lookups += 1;
        match self.heard.get(cell, message) {
            Some(reaction) => reaction.only,
            None => self.ask_hear(cell, message),
        }
    }

    /// The number of an empty network, which is zero in vectors.
    #[inline]
    pub fn empty_network(&mut self, slot: u32) -> CellId {
        match self.empty.get(slot as usize) {
            Some(&cell) if cell != 0 => cell,
            _ => self.ask_empty(slot),
        }
    }

    #[cold]
    fn ask_empty(&mut self, slot: u32) -> CellId {
        let at = slot as usize;
        if self.empty.len() <= at {
            self.empty.resize(at + 1, 0);
        }
        self.empty[at] = self.cells().empty_network(slot);
        self.empty[at]
    }

    /// Takes over what other threads have worked out.
    pub fn catch_up(&mut self, cells: &Cells<'_>) {
        let Some(log) = &cells.log else { return };
        append(&mut self.outs, &log.outs);
        append(&mut self.extras, &log.extras);
        append(&mut self.observed, &log.observed);
        append(&mut self.deliveries, &log.deliveries);
        let known = self.n_caught_up;
        for &(cell, entry) in &log.acts[known.acts..] {
            self.set_act(cells, cell, entry);
        }
        for &(cell, message, reaction) in &log.delivered[known.delivered..] {
            self.delivered.insert(cell, message, reaction);
        }
        for &(cell, message, reaction) in &log.heard[known.heard..] {
            self.heard.insert(cell, message, reaction);
        }
        self.n_caught_up =
            Places { acts: log.acts.len(), delivered: log.delivered.len(), heard: log.heard.len() };
        if self.unknown.is_none() {
            self.unknown = log.unknown.clone();
        }
    }

    /// Has it answered now, if the lock is free; else later.
    #[cold]
    fn put_off(&mut self, question: Question) {
        if let Ok(mut cells) = self.cells.try_lock() {
            self.catch_up(&cells);
            self.answer(&mut cells, question);
            return;
        }
        self.n_missed += 1;
        self.open.push(question);
    }

    /// How much was put off since the last call.
    #[inline]
    pub fn take_missed(&mut self) -> u32 {
        std::mem::take(&mut self.n_missed)
    }

    #[inline]
    pub fn has_missed(&self) -> bool {
        self.n_missed > 0
    }

    /// Whether something that was put off has no answer yet.
    #[inline]
    pub fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Forgets what was put off.
    pub fn forget(&mut self) {
        self.open.clear();
    }

    /// Finds the answers to what was put off, as soon as the lock is free or, unless it `waits`, if it is.
    pub fn work_out(&mut self, waits: bool) -> bool {
        let mut open = std::mem::take(&mut self.open);
        while !open.is_empty() {
            let free = if waits { Some(self.cells()) } else { self.cells.try_lock().ok() };
            let Some(mut cells) = free else {
                self.open = open;
                return false;
            };
            self.catch_up(&cells);
            for question in open.drain(open.len().saturating_sub(ANSWERS)..).rev() {
                self.answer(&mut cells, question);
            }
        }
        self.open = open;
        true
    }

    /// Has the kernel answer, unless the answer is known. It has caught up.
    fn answer(&mut self, cells: &mut Cells<'_>, question: Question) {
        let known = match question {
            Question::Act(cell) => {
                if self.acts.get(cell as usize).is_some_and(|entry| entry.kind != ActKind::Unasked) {
                    return;
                }
                let act = cells.act(cell);
                Known::Act(cell, self.add_act(cells, cell, &act))
            }
            Question::Delivered(cell, message) => {
                if self.delivered.get(cell, message).is_some() {
                    return;
                }
                let delivered = cells.deliver(cell, message);
                Known::Delivered(cell, message, self.add_delivered(cells, cell, message, &delivered))
            }
            Question::Heard(cell, message) => {
                if self.heard.get(cell, message).is_some() {
                    return;
                }
                let heard = cells.observe(cell, message);
                Known::Heard(cell, message, self.add_heard(cells, cell, message, &heard))
            }
        };
        self.n_misses += 1;
        if let Some(log) = &mut cells.log {
            log.add(self, known);
        }
    }

    fn ask(&mut self, question: Question) {
        let mut cells = self.cells();
        self.catch_up(&cells);
        self.answer(&mut cells, question);
    }

    #[cold]
    fn ask_act(&mut self, cell: CellId) -> ActEntry {
        if self.puts_off {
            self.put_off(Question::Act(cell));
            return self.acts.get(cell as usize).copied().unwrap_or_default();
        }
        self.ask(Question::Act(cell));
        self.acts[cell as usize]
    }

    fn add_act(&mut self, cells: &mut Cells<'_>, cell: CellId, act: &Act) -> ActEntry {
        let here = cells.hash(cell);
        make_room(&mut self.outs, 1);
        let first = self.outs.len() as u32;
        let mut entry = match act {
            Act::Rest { blocked: false } => {
                ActEntry { kind: ActKind::Rest, is_halted: cells.is_halted(cell), ..Default::default() }
            }
            Act::Rest { blocked: true } => ActEntry { kind: ActKind::Blocked, ..Default::default() },
            Act::Fault => ActEntry { kind: ActKind::Fault, ..Default::default() },
            Act::Unknown(reason) => {
                self.unknown.get_or_insert_with(|| reason.clone());
                ActEntry { kind: ActKind::Unknown, ..Default::default() }
            }
            Act::Network(arrivals) => {
                for arrival in arrivals {
                    let ((target, message), is_spare) = (arrival.delivery, arrival.is_spare);
                    self.deliveries.push(Brought { target, message, is_spare, loses: arrival.loses });
                    let extra = self.deliveries.len() as u32 - 1;
                    let delta = cells.hash(arrival.next).wrapping_sub(here);
                    self.outs.push(Out { delta, next: cells.in_vector(arrival.next), extra });
                }
                ActEntry { kind: ActKind::Network, n: arrivals.len() as u32, first, ..Default::default() }
            }
            Act::Step { deliver, creates, outcomes } => match self.add_outcomes(cells, here, outcomes) {
                Ok(is_unheard) => {
                    let kind = match (deliver, creates) {
                        (None, false) => ActKind::Alone,
                        (None, true) => ActKind::Create,
                        (Some(_), _) => ActKind::Deliver,
                    };
                    let (n, delivery) = (outcomes.len() as u32, deliver.unwrap_or_default());
                    let only = self.only(first);
                    let (delta, next) = if only.extra == 0 { (only.delta, only.next) } else { (0, 0) };
                    ActEntry { delta, next, first, n, delivery, kind, is_unheard, ..Default::default() }
                }
                Err(reason) => {
                    self.unknown.get_or_insert(reason);
                    ActEntry { kind: ActKind::Unknown, ..Default::default() }
                }
            },
        };
        if cells.has_late_faults {
            entry.crash = if cells.can_crash(cell) { Crash::Late } else { Crash::Never };
        } else if let Some(next) = cells.crash(cell) {
            let delta = cells.hash(next).wrapping_sub(here);
            entry.crash = Crash::Step;
            entry.first = first;
            self.outs.push(Out { delta, next, extra: 0 });
        }
        self.set_act(cells, cell, entry);
        entry
    }

    /// Lays out the outcomes of a step; says whether nobody hears of any, and none is cut. There may be millions: nothing is left
    /// of them if it is told to stop.
    fn add_outcomes(
        &mut self,
        cells: &Cells<'_>,
        here: u64,
        outcomes: &[Outcome1],
    ) -> Result<bool, StopReason> {
        let before = (self.outs.len(), self.extras.len(), self.observed.len());
        let mut is_unheard = true;
        for (place, some) in outcomes.chunks(LOOK_AFTER).enumerate() {
            if place > 0
                && let Some(reason) = cells.stop_reason()
            {
                self.outs.truncate(before.0);
                self.extras.truncate(before.1);
                self.observed.truncate(before.2);
                return Err(reason);
            }
            make_room(&mut self.outs, some.len());
            for outcome in some {
                is_unheard &= outcome.observed.is_empty()
                    && matches!(outcome.end, Ending::Stands(_) | Ending::Fault(..));
                let (end, next) = self.end(&outcome.end);
                let delta = if next == 0 { 0 } else { cells.hash(next).wrapping_sub(here) };
                let created = outcome.created.map(|(slot, cell)| (slot, cell, cells.hash(cell)));
                let extra = if end == End::Stands && outcome.observed.is_empty() && created.is_none() {
                    0
                } else {
                    let heard = (self.observed.len() as u32, outcome.observed.len() as u32);
                    self.observed.extend_from_slice(&outcome.observed);
                    self.extras.push(Extra { end, heard, created, birth: outcome.birth });
                    self.extras.len() as u32 - 1
                };
                self.outs.push(Out { delta, next, extra });
            }
        }
        Ok(is_unheard)
    }

    fn set_act(&mut self, cells: &Cells<'_>, cell: CellId, entry: ActEntry) {
        if self.acts.len() <= cell as usize {
            let n_more = cells.n_cells() + 1 - self.acts.len();
            make_room(&mut self.acts, n_more);
            self.acts.resize(cells.n_cells() + 1, ActEntry::default());
        }
        self.acts[cell as usize] = entry;
    }

    /// The outcome that was added, if it is the only one from there on.
    fn only(&self, first: u32) -> Out {
        match self.outs[first as usize..] {
            [only] => only,
            _ => Out { extra: SEVERAL, ..Out::default() },
        }
    }

    #[cold]
    fn ask_deliver(&mut self, cell: CellId, message: u32) -> Reaction {
        if self.puts_off {
            self.put_off(Question::Delivered(cell, message));
            let nothing = Reaction { only: Out { extra: SEVERAL, ..Out::default() }, first: 0, n: 0 };
            return self.delivered.get(cell, message).unwrap_or(nothing);
        }
        self.ask(Question::Delivered(cell, message));
        self.delivered.get(cell, message).unwrap_or_default()
    }

    fn add_delivered(
        &mut self,
        cells: &Cells<'_>,
        cell: CellId,
        message: u32,
        outcomes: &[Delivered],
    ) -> Reaction {
        make_room(&mut self.outs, 1);
        let first = self.outs.len() as u32;
        let here = cells.hash(cell);
        for outcome in outcomes {
            let (end, next) = self.end(&outcome.end);
            let delta = if next == 0 { 0 } else { cells.hash(next).wrapping_sub(here) };
            let next = cells.in_vector(next);
            let extra = if end == End::Stands {
                0
            } else {
                self.extras.push(Extra::new(end));
                self.extras.len() as u32 - 1
            };
            self.outs.push(Out { delta, next, extra });
        }
        let reaction = Reaction { only: self.only(first), first, n: outcomes.len() as u32 };
        self.delivered.insert(cell, message, reaction);
        reaction
    }

    #[cold]
    fn ask_hear(&mut self, cell: CellId, message: u32) -> Out {
        if self.puts_off {
            self.put_off(Question::Heard(cell, message));
            let nothing = Out { extra: HEARD_UNKNOWN, ..Out::default() };
            return self.heard.get(cell, message).map_or(nothing, |reaction| reaction.only);
        }
        self.ask(Question::Heard(cell, message));
        self.heard.get(cell, message).unwrap_or_default().only
    }

    fn add_heard(&mut self, cells: &Cells<'_>, cell: CellId, message: u32, heard: &Heard) -> Reaction {
        let (end, next) = self.end(&heard.end);
        let delta = if next == 0 { 0 } else { cells.hash(next).wrapping_sub(cells.hash(cell)) };
        let mut extra = 0;
        if heard.hot {
            extra |= HEARD_HOT;
        }
        if heard.cold {
            extra |= HEARD_COLD;
        }
        match end {
            End::Fault => extra |= HEARD_FAULT,
            // Monitors have no inbox, so nothing is ever cut.
            End::Unknown | End::Cut(_) => extra |= HEARD_UNKNOWN,
            End::Stands => {}
        }
        let reaction = Reaction { only: Out { delta, next, extra }, first: 0, n: 1 };
        self.heard.insert(cell, message, reaction);
        reaction
    }

    fn end(&mut self, end: &Ending) -> (End, CellId) {
        match end {
            Ending::Stands(cell) => (End::Stands, *cell),
            Ending::Cut(cut) => (End::Cut(*cut), 0),
            Ending::Fault(..) => (End::Fault, 0),
            Ending::Unknown(reason) => {
                self.unknown.get_or_insert_with(|| reason.clone());
                (End::Unknown, 0)
            }
        }
    }
}
