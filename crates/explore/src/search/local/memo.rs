//! What one thread remembers of local steps, laid out for reading.
//!
//! Hits touch nothing that another thread writes. A miss asks the shared [`LocalStates`] under its lock, and takes over whatever
//! other threads have computed meanwhile ([`Log`]), so that nothing is computed twice. Where several threads search, and the
//! lock is not free, a miss is postponed: the configuration is expanded again once all such questions were answered together. Every outcome carries
//! the difference that it makes to the fingerprint, so that a global step is a few additions.

use std::sync::{Mutex, MutexGuard};

use allways_base::Idx;
use allways_run::StopReason;

use super::entries::*;
use super::pair_table::PairTable;
use super::states::{Act, Delivered, Ending, Heard, LOOK_AFTER, LocalOutcome, LocalStateId, LocalStates};
use crate::search::lock;
use crate::search::store::hash::mix;
use crate::search::store::huge_pages::make_room;

/// In `extra` of the only outcome of what has several, or none.
const SEVERAL: u32 = u32::MAX;

/// What a thread has to ask for.
#[derive(Clone, Copy)]
enum Question {
    Act(LocalStateId),
    Delivered(LocalStateId, InputId),
    Heard(LocalStateId, InputId),
}

/// Questions that are answered under one lock.
const ANSWERS: usize = 32;

/// Adds to the log what a memo has computed, which had caught up before.
fn add_to(log: &mut Log, memo: &mut Memo<'_>, known: Known) {
    append(&mut log.outs, &memo.outs);
    append(&mut log.extras, &memo.extras);
    append(&mut log.observed, &memo.observed);
    append(&mut log.deliveries, &memo.deliveries);
    if log.unknown.is_none() {
        log.unknown = memo.unknown.clone();
    }
    match known {
        Known::Act(local, entry) => {
            log.acts.push((local, entry));
            memo.n_caught_up.acts += 1;
        }
        Known::Delivered(local, message, reaction) => {
            log.delivered.push((local, message, reaction));
            memo.n_caught_up.delivered += 1;
        }
        Known::Heard(local, message, reaction) => {
            log.heard.push((local, message, reaction));
            memo.n_caught_up.heard += 1;
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
    Act(LocalStateId, ActEntry),
    Delivered(LocalStateId, InputId, Reaction),
    Heard(LocalStateId, InputId, Reaction),
}

/// Places in the log.
#[derive(Clone, Copy, Default)]
struct Places {
    acts: usize,
    delivered: usize,
    heard: usize,
}

pub(crate) struct Memo<'a> {
    locals: &'a Mutex<LocalStates<'a>>,
    acts: Vec<ActEntry>,
    pub outs: Vec<Out>,
    pub extras: Vec<Extra>,
    /// What monitors hear: slot and message.
    pub observed: Vec<(Slot, InputId)>,
    /// What a network brings.
    pub deliveries: Vec<Brought>,
    delivered: PairTable<Reaction>,
    heard: PairTable<Reaction>,
    /// By slot, the number of an empty network there; zero where it was not asked for.
    empty: Vec<LocalStateId>,
    /// Why some step cannot be known, the first such.
    pub unknown: Option<StopReason>,
    /// Misses are put off unless the lock is free: what is not known does nothing, and `take_missed` says so.
    pub puts_off: bool,
    n_missed: u32,
    /// Questions that could be put off; counted where checks are on.
    n_asked: u32,
    /// What was put off.
    open: Vec<Question>,
    pub n_lookups: u64,
    /// What this thread worked out.
    pub n_misses: u64,
    /// How much of the log of the local states is in here.
    n_caught_up: Places,
}

impl<'a> Memo<'a> {
    pub fn new(locals: &'a Mutex<LocalStates<'a>>) -> Self {
        Memo {
            locals,
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
            n_asked: 0,
            open: Vec::new(),
            n_lookups: 0,
            n_misses: 0,
            n_caught_up: Places::default(),
        }
    }

    pub fn locals(&self) -> MutexGuard<'a, LocalStates<'a>> {
        lock(self.locals)
    }

    /// The same, unless misses are put off and the lock is not free: then that is one.
    pub fn locals_unless_busy(&mut self) -> Option<MutexGuard<'a, LocalStates<'a>>> {
        if !self.puts_off {
            return Some(self.locals());
        }
        let locals = if self.seems_busy() { None } else { self.locals.try_lock().ok() };
        self.n_missed += u32::from(locals.is_none());
        locals
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
    pub fn act(&mut self, local: LocalStateId) -> ActEntry {
        self.n_lookups += 1;
        match self.acts.get(local.index()) {
            Some(entry) if entry.kind != ActKind::Unasked => *entry,
            _ => self.ask_act(local),
        }
    }

    /// The outcomes of a delivery: the first in `outs`, and how many.
    #[inline]
    pub fn deliver(&mut self, local: LocalStateId, message: InputId) -> (u32, u32) {
        let Reaction { first, n, .. } = self.reaction(local, message);
        (first, n)
    }

    #[inline]
    pub fn reaction(&mut self, local: LocalStateId, message: InputId) -> Reaction {
        self.n_lookups += 1;
        match self.delivered.get(local.as_u32(), message) {
            Some(found) => found,
            None => self.ask_deliver(local, message),
        }
    }

    /// What a monitor does with a message.
    #[inline]
    pub fn hear(&mut self, local: LocalStateId, message: InputId) -> Out {
        self.n_lookups += 1;
        match self.heard.get(local.as_u32(), message) {
            Some(reaction) => reaction.only,
            None => self.ask_hear(local, message),
        }
    }

    /// The number of an empty network, which is zero in vectors.
    #[inline]
    pub fn empty_network(&mut self, slot: Slot) -> LocalStateId {
        match self.empty.get(slot.index()) {
            Some(&local) if !local.is_absent() => local,
            _ => self.ask_empty(slot),
        }
    }

    #[cold]
    fn ask_empty(&mut self, slot: Slot) -> LocalStateId {
        let at = slot.index();
        if self.empty.len() <= at {
            self.empty.resize(at + 1, LocalStateId::ABSENT);
        }
        self.empty[at] = self.locals().empty_network(slot);
        self.empty[at]
    }

    /// Takes over what other threads have worked out.
    pub fn catch_up(&mut self, locals: &LocalStates<'_>) {
        let Some(log) = &locals.log else { return };
        append(&mut self.outs, &log.outs);
        append(&mut self.extras, &log.extras);
        append(&mut self.observed, &log.observed);
        append(&mut self.deliveries, &log.deliveries);
        let known = self.n_caught_up;
        for &(local, entry) in &log.acts[known.acts..] {
            self.set_act(locals, local, entry);
        }
        for &(local, message, reaction) in &log.delivered[known.delivered..] {
            self.delivered.insert(local.as_u32(), message, reaction);
        }
        for &(local, message, reaction) in &log.heard[known.heard..] {
            self.heard.insert(local.as_u32(), message, reaction);
        }
        self.n_caught_up =
            Places { acts: log.acts.len(), delivered: log.delivered.len(), heard: log.heard.len() };
        if self.unknown.is_none() {
            self.unknown = log.unknown.clone();
        }
    }

    /// Where checks are on, every third question or so is put off although the lock is free: in small programs it nearly always is, and what
    /// depends on it would go unseen.
    fn seems_busy(&mut self) -> bool {
        if !cfg!(debug_assertions) {
            return false;
        }
        self.n_asked = self.n_asked.wrapping_add(1);
        mix(u64::from(self.n_asked)).is_multiple_of(3)
    }

    /// Has it answered now, if the lock is free; else later.
    #[cold]
    fn put_off(&mut self, question: Question) {
        if !self.seems_busy()
            && let Ok(mut locals) = self.locals.try_lock()
        {
            self.catch_up(&locals);
            self.answer(&mut locals, question);
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
            let free = if waits { Some(self.locals()) } else { self.locals.try_lock().ok() };
            let Some(mut locals) = free else {
                self.open = open;
                return false;
            };
            self.catch_up(&locals);
            for question in open.drain(open.len().saturating_sub(ANSWERS)..).rev() {
                self.answer(&mut locals, question);
            }
        }
        self.open = open;
        true
    }

    /// Has the kernel answer, unless the answer is known. It has caught up.
    fn answer(&mut self, locals: &mut LocalStates<'_>, question: Question) {
        let known = match question {
            Question::Act(local) => {
                if self.acts.get(local.index()).is_some_and(|entry| entry.kind != ActKind::Unasked) {
                    return;
                }
                let act = locals.act(local);
                Known::Act(local, self.add_act(locals, local, &act))
            }
            Question::Delivered(local, message) => {
                if self.delivered.get(local.as_u32(), message).is_some() {
                    return;
                }
                let delivered = locals.deliver(local, message);
                Known::Delivered(local, message, self.add_delivered(locals, local, message, &delivered))
            }
            Question::Heard(local, message) => {
                if self.heard.get(local.as_u32(), message).is_some() {
                    return;
                }
                let heard = locals.observe(local, message);
                Known::Heard(local, message, self.add_heard(locals, local, message, &heard))
            }
        };
        self.n_misses += 1;
        if let Some(log) = &mut locals.log {
            add_to(log, self, known);
        }
    }

    fn ask(&mut self, question: Question) {
        let mut locals = self.locals();
        self.catch_up(&locals);
        self.answer(&mut locals, question);
    }

    #[cold]
    fn ask_act(&mut self, local: LocalStateId) -> ActEntry {
        if self.puts_off {
            self.put_off(Question::Act(local));
            return self.acts.get(local.index()).copied().unwrap_or_default();
        }
        self.ask(Question::Act(local));
        self.acts[local.index()]
    }

    fn add_act(&mut self, locals: &mut LocalStates<'_>, local: LocalStateId, act: &Act) -> ActEntry {
        let here = locals.hash(local);
        make_room(&mut self.outs, 1);
        let first = self.outs.len() as u32;
        let mut entry = match act {
            Act::Rest { blocked: false } => {
                ActEntry { kind: ActKind::Rest, is_halted: locals.is_halted(local), ..Default::default() }
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
                    let delta = locals.hash(arrival.next).wrapping_sub(here);
                    self.outs.push(Out { delta, next: locals.in_vector(arrival.next), extra });
                }
                ActEntry { kind: ActKind::Network, n: arrivals.len() as u32, first, ..Default::default() }
            }
            Act::Step { deliver, creates, outcomes } => match self.add_outcomes(locals, here, outcomes) {
                Ok(is_unheard) => {
                    let kind = match (deliver, creates) {
                        (None, false) => ActKind::Alone,
                        (None, true) => ActKind::Create,
                        (Some(_), _) => ActKind::Deliver,
                    };
                    let (n, delivery) = (outcomes.len() as u32, deliver.unwrap_or_default());
                    let only = self.only(first);
                    let (delta, next) =
                        if only.extra == 0 { (only.delta, only.next) } else { (0, LocalStateId::ABSENT) };
                    ActEntry { delta, next, first, n, delivery, kind, is_unheard, ..Default::default() }
                }
                Err(reason) => {
                    self.unknown.get_or_insert(reason);
                    ActEntry { kind: ActKind::Unknown, ..Default::default() }
                }
            },
        };
        if locals.has_lazy_faults {
            entry.crash = if locals.can_crash(local) { Crash::Late } else { Crash::Never };
        } else if let Some(next) = locals.crash(local) {
            let delta = locals.hash(next).wrapping_sub(here);
            entry.crash = Crash::Step;
            entry.first = first;
            self.outs.push(Out { delta, next, extra: 0 });
        }
        self.set_act(locals, local, entry);
        entry
    }

    /// Lays out the outcomes of a step; says whether no monitor observes any, and none is cut. There may be millions: nothing is left
    /// of them if it has to stop.
    fn add_outcomes(
        &mut self,
        locals: &LocalStates<'_>,
        here: u64,
        outcomes: &[LocalOutcome],
    ) -> Result<bool, StopReason> {
        let before = (self.outs.len(), self.extras.len(), self.observed.len());
        let mut is_unheard = true;
        for (place, some) in outcomes.chunks(LOOK_AFTER).enumerate() {
            if place > 0
                && let Some(reason) = locals.stop_reason()
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
                let delta = if next.is_absent() { 0 } else { locals.hash(next).wrapping_sub(here) };
                let created = outcome.created.map(|(slot, local)| (slot, local, locals.hash(local)));
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

    fn set_act(&mut self, locals: &LocalStates<'_>, local: LocalStateId, entry: ActEntry) {
        if self.acts.len() <= local.index() {
            let n_more = locals.n_local_states() + 1 - self.acts.len();
            make_room(&mut self.acts, n_more);
            self.acts.resize(locals.n_local_states() + 1, ActEntry::default());
        }
        self.acts[local.index()] = entry;
    }

    /// The outcome that was added, if it is the only one from there on.
    fn only(&self, first: u32) -> Out {
        match self.outs[first as usize..] {
            [only] => only,
            _ => Out { extra: SEVERAL, ..Out::default() },
        }
    }

    #[cold]
    fn ask_deliver(&mut self, local: LocalStateId, message: InputId) -> Reaction {
        if self.puts_off {
            self.put_off(Question::Delivered(local, message));
            let nothing = Reaction { only: Out { extra: SEVERAL, ..Out::default() }, first: 0, n: 0 };
            return self.delivered.get(local.as_u32(), message).unwrap_or(nothing);
        }
        self.ask(Question::Delivered(local, message));
        self.delivered.get(local.as_u32(), message).unwrap_or_default()
    }

    fn add_delivered(
        &mut self,
        locals: &LocalStates<'_>,
        local: LocalStateId,
        message: InputId,
        outcomes: &[Delivered],
    ) -> Reaction {
        make_room(&mut self.outs, 1);
        let first = self.outs.len() as u32;
        let here = locals.hash(local);
        for outcome in outcomes {
            let (end, next) = self.end(&outcome.end);
            let delta = if next.is_absent() { 0 } else { locals.hash(next).wrapping_sub(here) };
            let next = locals.in_vector(next);
            let extra = if end == End::Stands {
                0
            } else {
                self.extras.push(Extra::new(end));
                self.extras.len() as u32 - 1
            };
            self.outs.push(Out { delta, next, extra });
        }
        let reaction = Reaction { only: self.only(first), first, n: outcomes.len() as u32 };
        self.delivered.insert(local.as_u32(), message, reaction);
        reaction
    }

    #[cold]
    fn ask_hear(&mut self, local: LocalStateId, message: InputId) -> Out {
        if self.puts_off {
            self.put_off(Question::Heard(local, message));
            let nothing = Out { extra: HEARD_UNKNOWN, ..Out::default() };
            return self.heard.get(local.as_u32(), message).map_or(nothing, |reaction| reaction.only);
        }
        self.ask(Question::Heard(local, message));
        self.heard.get(local.as_u32(), message).unwrap_or_default().only
    }

    fn add_heard(
        &mut self,
        locals: &LocalStates<'_>,
        local: LocalStateId,
        message: InputId,
        heard: &Heard,
    ) -> Reaction {
        let (end, next) = self.end(&heard.end);
        let delta = if next.is_absent() { 0 } else { locals.hash(next).wrapping_sub(locals.hash(local)) };
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
        self.heard.insert(local.as_u32(), message, reaction);
        reaction
    }

    fn end(&mut self, end: &Ending) -> (End, LocalStateId) {
        match end {
            Ending::Stands(local) => (End::Stands, *local),
            Ending::Cut(cut) => (End::Cut(*cut), LocalStateId::ABSENT),
            Ending::Fault(..) => (End::Fault, LocalStateId::ABSENT),
            Ending::Unknown(reason) => {
                self.unknown.get_or_insert_with(|| reason.clone());
                (End::Unknown, LocalStateId::ABSENT)
            }
        }
    }
}
