//! Hand-overs first, then drops.
//!
//! Over a network that delays messages a send only puts its message beside those that are on their way. Over `bag` and `fifo`
//! that commutes with every step of everybody else, now and later: others add messages of their own, or take messages that
//! were there; what arrives meanwhile at the sender waits in its inbox, where it would be found as well a step later. Nobody can
//! keep the sender from it. So where some machine is about to send, and no monitor hears of it, that alone is a persistent set,
//! and so is the making of a machine.
//!
//! Where nobody is about to send, the arrival of a message that its target ignores, and will ignore wherever it comes
//! (`allways_machine::drops`), is a persistent set as well: it takes away what does nothing to anybody.
//!
//! Over `causal` a message carries what its sender knows, which an arrival changes. Faults are decided late, or nothing is put off where
//! there are any; then of the sends of machines that can crash only those go first that come right after an arrival, and a drop loses
//! nothing else ([`super::late_fault`]).
//!
//! Preserved: local states but for what waits in the inbox of a machine that is about to send, faults, monitor states, ends.
//! Not preserved: lengths of runs, see [`super::persistent`].
//!
//! **Nobody is put off for ever**: there are as many drops as messages, and between them nobody sends. A machine's hand-overs go first only
//! if they come to an end, by first outcomes, after [`MAX_WAY`] of them at most; else they are steps like others. Where there are finitely
//! many configurations they always end, since each leaves a message or a machine behind, a message that may get lost likewise; but where
//! there are not, what others do may break something.
//!
//! Nobody can tell a configuration with hand-overs or drops to come from the one after them, so the former is not stored:
//! a step is *folded* together with all such steps that it leads to. A machine may send for ever; so after [`MAX_FOLDED`] of
//! them the configuration is stored as it is, and they go on from there. Outcomes of one step share what is left of these, since
//! their number may double each time.
//!
//! Which of several such machines goes first is decided by their paths, so that counts do not depend on threads.

use std::sync::Mutex;

use allways_machine::Executable;
use allways_run::NetworkModel;
use rustc_hash::FxHashMap;

use super::super::cells::{CellId, Cells, Cut, Owner};
use super::super::expand::{Expander, Move, Sink, Standing, Successor};
use super::super::lock;
use super::super::memo::{ActEntry, ActKind, Brought, Crash, End, Memo, Out, Reaction};
use super::super::pair_table::PairTable;
use super::super::survey::Notes;
use super::symmetry::Symmetry;
use briefs::{BriefKind, Briefs};
use meetings::{Arrival, Meeting, Meetings};
use sends::{Next, Run, Sends};

mod briefs;
mod meetings;
mod sends;

/// Steps that one step is folded with, at most.
pub(in super::super) const MAX_FOLDED: u32 = 64;

/// Hand-overs of one machine, and of those that it makes in them, that may go first in a row.
const MAX_WAY: u32 = 4 * MAX_FOLDED;

/// What becomes of a network whose target drops what it can.
#[derive(Clone, Copy, Default)]
struct AfterDrops {
    /// What that adds to the fingerprint.
    delta: u64,
    after: CellId,
    /// How many messages.
    n: u32,
}

/// Finds hand-overs and drops.
pub(in super::super) struct HandOvers<'a> {
    cells: &'a Mutex<Cells<'a>>,
    /// By slot: a number that depends on the path of the machine alone.
    ranks: Vec<u64>,
    /// By cell and message: whether the message is dropped there for good.
    known: FxHashMap<(CellId, u32), bool>,
    sends: Sends,
    meetings: Meetings,
    places: Vec<Place>,
    /// By cells of a machine and of its network.
    dropped: PairTable<AfterDrops>,
    briefs: Briefs,
    /// By cell: how many hand-overs follow each other from there, one more than go first if these are too many; zero where it
    /// was not asked for.
    ways: Vec<u32>,
    open: Vec<Unfolded>,
    spare: Vec<Vec<(u32, CellId)>>,
    /// Of the two that meet.
    arrivals: Vec<Arrival>,
    encounters: Vec<Encounter>,
    /// The successor at hand.
    now: Unfolded,
}

/// What a slot has to do with networks.
#[derive(Clone, Copy)]
struct Place {
    /// The slot of the network that brings messages there; itself if there is none.
    network: u32,
    /// The slot to which this network brings messages; itself if it is none.
    target: u32,
}

/// A machine and its network, as they stood in the configuration that was looked at last.
#[derive(Clone, Copy)]
struct Encounter {
    /// The slots of the two; [`NOWHERE`] for one that is not there.
    target: u32,
    slot: u32,
    machine: CellId,
    network: CellId,
    /// It does nothing by itself.
    machine_rests: bool,
    meeting: Meeting,
}

const NOWHERE: u32 = u32::MAX;

impl Encounter {
    fn new(target: u32, slot: u32) -> Self {
        Encounter { target, slot, machine: 0, network: 0, machine_rests: true, meeting: Meeting::NONE }
    }

    /// No cell has this number.
    fn forget(&mut self) {
        self.machine = CellId::MAX;
    }
}

/// A successor before the steps that it is folded with.
#[derive(Default)]
struct Unfolded {
    delta: u64,
    changes: Vec<(u32, CellId)>,
    n_folded: u32,
    /// Steps that may still be folded, from here on.
    n_left: u32,
}

/// Successors of one configuration, before they are folded.
#[derive(Default)]
pub(in super::super) struct Raw {
    /// What each adds to the fingerprint, and where its changes end.
    pub(super) ends: Vec<(u64, usize)>,
    pub(super) changes: Vec<(u32, CellId)>,
    pub(super) n_broken: usize,
    pub(super) cuts: Vec<Cut>,
}

impl Raw {
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty() && self.n_broken == 0 && self.cuts.is_empty()
    }

    pub fn clear(&mut self) {
        self.ends.clear();
        self.changes.clear();
        self.n_broken = 0;
        self.cuts.clear();
    }
}

impl Sink for Raw {
    #[inline]
    fn successor(&mut self, _: &[CellId], successor: Successor<'_>) {
        self.changes.extend_from_slice(successor.changes);
        self.ends.push((successor.delta, self.changes.len()));
    }

    fn broken(&mut self, _: Move) {
        self.n_broken += 1;
    }

    fn cut(&mut self, cut: Cut) {
        self.cuts.push(cut);
    }
}

/// Takes folded successors.
pub(in super::super) trait FoldedSink: Sink {
    /// Of the successor that is told next: with so many steps it was folded, and there are no more.
    fn folded(&mut self, n_folded: u32, is_settled: bool);

    /// Does something with the symmetry by which successors are stored, if there is one.
    fn with_symmetry<R>(&mut self, with: impl FnOnce(Option<&mut Symmetry<'_>>) -> R) -> R {
        with(None)
    }
}

impl<'a> HandOvers<'a> {
    pub fn n_bytes(&self) -> usize {
        self.dropped.n_bytes() + self.sends.n_bytes() + self.meetings.n_bytes()
    }

    /// Whether they can go first in a program, where faults are late if there are any.
    pub fn are_sound(exe: &Executable) -> bool {
        matches!(exe.network.model, NetworkModel::Bag | NetworkModel::Fifo)
    }

    pub fn new(cells: &'a Mutex<Cells<'a>>) -> Self {
        let exe = lock(cells).exe.clone();
        HandOvers {
            cells,
            ranks: Vec::new(),
            known: FxHashMap::default(),
            sends: Sends::default(),
            meetings: Meetings::default(),
            places: Vec::new(),
            dropped: PairTable::default(),
            briefs: Briefs::new(&exe),
            ways: Vec::new(),
            open: Vec::new(),
            spare: Vec::new(),
            arrivals: Vec::new(),
            encounters: Vec::new(),
            now: Unfolded::default(),
        }
    }

    /// Folds the successors of a configuration, and tells them. In a *settled* configuration nothing goes first. Where misses are put
    /// off, what needs them is not told.
    pub fn fold<S: FoldedSink>(
        &mut self,
        memo: &mut Memo<'_>,
        from: &[CellId],
        is_settled: bool,
        raw: &mut Raw,
        notes: Option<(&Notes, usize)>,
        sink: &mut S,
    ) {
        if self.places.len() < from.len() {
            self.find_places();
        }
        let mut start = 0;
        for &(delta, end) in &raw.ends {
            let mut changes = self.spare.pop().unwrap_or_default();
            changes.clear();
            changes.extend_from_slice(&raw.changes[start..end]);
            start = end;
            let mut next = Unfolded { delta, changes, n_folded: 0, n_left: MAX_FOLDED };
            if is_settled && self.fold_plain(memo, from, &mut next, notes, sink) {
                self.spare.push(next.changes);
                continue;
            }
            if !is_settled {
                // Who has not moved may be about to send as well.
                for (slot, &cell) in from.iter().enumerate().filter(|(_, cell)| **cell != 0) {
                    if next.changes.iter().all(|&(other, _)| other != slot as u32) {
                        next.changes.push((slot as u32, cell));
                    }
                }
            }
            let puts_off = std::mem::take(&mut memo.puts_off);
            self.open.push(next);
            while let Some(next) = self.open.pop() {
                self.fold_one(memo, from, next, notes, sink);
            }
            memo.puts_off = puts_off;
        }
        for _ in 0..raw.n_broken {
            sink.broken(Move::default());
        }
        for &cut in &raw.cuts {
            sink.cut(cut);
        }
        raw.clear();
    }

    /// Tells the steps of a settled configuration, folded. Those about which there is something special are left to be folded.
    /// The `next` configuration is the one that will be asked for after this one, if that is known: what it needs is brought nearer.
    pub fn expand<S: FoldedSink>(
        &mut self,
        expander: &mut Expander<'_>,
        vector: &[CellId],
        next: &[CellId],
        raw: &mut Raw,
        notes: Option<(&Notes, usize)>,
        sink: &mut S,
    ) -> Standing {
        if self.places.len() < vector.len() {
            self.find_places();
        }
        if self.meetings.tidy() {
            self.encounters.iter_mut().for_each(Encounter::forget);
        }
        let mut standing = Standing::default();
        // Neighbours have most of their cells in common, so who meets whom is mostly known from the last one.
        let mut encounters = std::mem::take(&mut self.encounters);
        for now in &mut encounters {
            let (machine, network) = (cell_at(vector, now.target), cell_at(vector, now.slot));
            if (machine, network) != (now.machine, now.network) {
                self.encounter(&mut expander.memo, machine, network, now);
            }
            standing.n_machines += u32::from(machine != 0 && now.machine_rests);
            standing.n_enabled += u32::from(!now.meeting.can_wait);
            if !now.machine_rests {
                expander.step(vector, now.target, machine, raw, &mut standing);
            }
            if now.meeting.is_special {
                expander.step(vector, now.slot, network, raw, &mut standing);
            }
        }
        if !next.is_empty() {
            for now in &encounters {
                let (machine, network) = (cell_at(next, now.target), cell_at(next, now.slot));
                if network != 0 && (machine, network) != (now.machine, now.network) {
                    self.meetings.prefetch(machine, network);
                }
            }
        }
        let mut changed = std::mem::take(&mut self.now);
        let memo = &mut expander.memo;
        for now in &encounters {
            for at in 0..usize::from(now.meeting.n) {
                let arrival = self.meetings.arrivals(now.meeting)[at];
                changed.delta = arrival.delta;
                changed.n_folded = arrival.n_folded();
                changed.changes.clear();
                changed
                    .changes
                    .extend_from_slice(&[(now.target, arrival.machine), (now.slot, arrival.network)]);
                // Nothing was sent to itself, so what comes now concerns others.
                let is_known = match arrival.n_sent {
                    0 => true,
                    1 if notes.is_none() => {
                        self.hand_one_over(memo, vector, arrival.delivery, &mut changed, sink)
                    }
                    _ => {
                        let is_known =
                            self.hand_over(memo, vector, 0, arrival.sent(), &mut changed, notes, sink)
                                && self.drop_all(memo, vector, 2, &mut changed);
                        changed.changes[0].1 = arrival.machine;
                        is_known
                    }
                };
                if is_known {
                    sink.folded(changed.n_folded, true);
                    tell(vector, &changed, sink);
                }
            }
        }
        self.now = changed;
        // Unless there are new machines, so that they were found anew.
        if self.encounters.is_empty() {
            self.encounters = encounters;
        }
        standing
    }

    /// Looks up a machine and its network, as they stand in a configuration. What was put off is asked for again.
    fn encounter(&mut self, memo: &mut Memo<'_>, machine: CellId, network: CellId, now: &mut Encounter) {
        *now = Encounter { machine, network, machine_rests: true, meeting: Meeting::NONE, ..*now };
        if machine != 0 {
            let kind = self.briefs.get(memo, machine).kind;
            now.machine_rests = kind == BriefKind::Rests;
            if kind == BriefKind::Unasked {
                now.forget();
            }
        }
        if network != 0 {
            let known = match machine {
                0 => Some(Meeting::SPECIAL),
                _ => {
                    let known = self.meetings.get(machine, network);
                    known.or_else(|| self.meet(memo, machine, now.slot, network))
                }
            };
            match known {
                Some(meeting) => {
                    now.meeting = meeting;
                    self.meetings.prefetch_arrivals(meeting);
                }
                None => now.forget(),
            }
        }
    }

    /// What becomes of a machine and of its network, the one of that slot, when something arrives; `None` if an answer was put off.
    #[cold]
    fn meet(&mut self, memo: &mut Memo<'_>, machine: CellId, slot: u32, network: CellId) -> Option<Meeting> {
        let act = memo.act(network);
        if act.kind == ActKind::Unasked {
            return None;
        }
        self.arrivals.clear();
        let mut can_wait = true;
        for own in 0..act.n {
            let out = memo.outs[(act.first + own) as usize];
            let Brought { message, is_spare, .. } = memo.deliveries[out.extra as usize];
            let Reaction { only, .. } = memo.reaction(machine, message);
            let crash = memo.act(machine).crash;
            if memo.has_missed() {
                return None;
            }
            can_wait &= is_spare || crash == Crash::Late;
            if is_spare && only.extra == 0 && only.next == machine {
                continue;
            }
            let next = match only.extra {
                0 => self.sends.next_after_arrival(memo, only.next)?,
                _ => Next::Special,
            };
            let (sent, next, more) = match next {
                Next::Nothing => (Run::default(), only.next, 0),
                Next::Sends { run, next, delta }
                    if self.sends.all(run).iter().all(|sent| sent.delivery.0 != slot) =>
                {
                    (run, next, delta)
                }
                Next::Sends { .. } | Next::Special => {
                    return Some(self.meetings.add_special(machine, network));
                }
            };
            let AfterDrops { delta, after, n } = match out.next {
                0 => AfterDrops::default(),
                before => self.after_drops(memo, next, before)?,
            };
            let delta = [only.delta, more, delta].into_iter().fold(out.delta, u64::wrapping_add);
            match Arrival::new(delta, next, after, (sent, self.sends.all(sent)), n) {
                Some(arrival) => self.arrivals.push(arrival),
                None => return Some(self.meetings.add_special(machine, network)),
            }
        }
        Some(self.meetings.add(machine, network, &self.arrivals, can_wait))
    }

    /// Folds a successor of a settled configuration in which nobody is about to send but one machine that sends in one way only, as
    /// most are. Says whether it was such a one.
    #[inline]
    fn fold_plain<S: FoldedSink>(
        &mut self,
        memo: &mut Memo<'_>,
        from: &[CellId],
        now: &mut Unfolded,
        notes: Option<(&Notes, usize)>,
        sink: &mut S,
    ) -> bool {
        let mut sender = None;
        for (at, &(slot, cell)) in now.changes.iter().enumerate() {
            if cell == 0 || self.place(slot).network == slot {
                continue;
            }
            match self.sends.next(memo, cell) {
                Some(Next::Nothing) => {}
                Some(Next::Sends { run, next, delta }) if sender.is_none() => {
                    sender = Some((at, run, next, delta));
                }
                Some(Next::Sends { .. } | Next::Special) => return false,
                None => return true,
            }
        }
        if let Some((at, run, next, delta)) = sender {
            if !self.hand_over(memo, from, at, run, now, notes, sink) {
                return true;
            }
            now.changes[at].1 = next;
            now.delta = now.delta.wrapping_add(delta);
            now.n_folded = run.n;
        }
        if self.drop_all(memo, from, 0, now) {
            sink.folded(now.n_folded, true);
            tell(from, now, sink);
        }
        true
    }

    /// Puts what the machine at this place of the changes sends into networks; says whether all that this needs is known.
    #[inline]
    fn hand_over<S: FoldedSink>(
        &mut self,
        memo: &mut Memo<'_>,
        from: &[CellId],
        at: usize,
        run: Run,
        now: &mut Unfolded,
        notes: Option<(&Notes, usize)>,
        sink: &mut S,
    ) -> bool {
        for &sent in self.sends.all(run) {
            let (network, op) = sent.delivery;
            if let Some((notes, n_monitors)) = notes {
                now.changes[at].1 = sent.cell;
                notes.see(&vector_of(from, &now.changes), n_monitors, false);
            }
            let place = now.changes.iter().position(|&(slot, _)| slot == network);
            let before = place.map_or_else(|| cell_at(from, network), |place| now.changes[place].1);
            let Some(Out { delta, next, .. }) = handed_over(memo, network, before, op, sink) else {
                return false;
            };
            now.delta = now.delta.wrapping_add(delta);
            match place {
                Some(place) => now.changes[place].1 = next,
                None => now.changes.push((network, next)),
            }
        }
        true
    }

    /// The same of one message to a network that has not changed, whose machine has not either, and what this drops of it.
    #[inline]
    fn hand_one_over<S: FoldedSink>(
        &mut self,
        memo: &mut Memo<'_>,
        from: &[CellId],
        (network, op): (u32, u32),
        now: &mut Unfolded,
        sink: &mut S,
    ) -> bool {
        let Some(handed) = handed_over(memo, network, cell_at(from, network), op, sink) else {
            return false;
        };
        let mut change = (network, handed.next);
        now.delta = now.delta.wrapping_add(handed.delta);
        let target = self.place(network).target;
        if target != network && cell_at(from, target) != 0 && handed.next != 0 {
            let dropped = self.after_drops(memo, cell_at(from, target), handed.next);
            let Some(AfterDrops { delta, after, n }) = dropped else { return false };
            change.1 = after;
            now.delta = now.delta.wrapping_add(delta);
            now.n_folded += n;
        }
        now.changes.push(change);
        true
    }

    /// Goes on with one successor until nothing goes first, or to where there are several ways.
    fn fold_one<S: FoldedSink>(
        &mut self,
        memo: &mut Memo<'_>,
        from: &[CellId],
        mut now: Unfolded,
        notes: Option<(&Notes, usize)>,
        sink: &mut S,
    ) {
        loop {
            let mut sender: Option<(usize, ActEntry)> = None;
            for (at, &(slot, cell)) in now.changes.iter().enumerate() {
                if cell == 0 || self.place(slot).network == slot {
                    continue;
                }
                let act = memo.act(cell);
                if self.goes_first(memo, cell, act)
                    && sender.is_none_or(|(other, _)| self.rank(slot) < self.rank(now.changes[other].0))
                {
                    sender = Some((at, act));
                }
            }
            let Some((at, act)) = sender else { break };
            if let Some((notes, n_monitors)) = notes {
                notes.see(&vector_of(from, &now.changes), n_monitors, false);
            }
            if now.n_left == 0 {
                sink.folded(now.n_folded, false);
                tell(from, &now, sink);
                self.spare.push(now.changes);
                return;
            }
            now.n_folded += 1;
            now.n_left = (now.n_left - 1) / act.n.max(1);
            if act.kind == ActKind::Deliver {
                let (network, op) = act.delivery;
                let place = now.changes.iter().position(|&(slot, _)| slot == network);
                let before = place.map_or_else(|| cell_at(from, network), |place| now.changes[place].1);
                let before = if before == 0 { memo.empty_network(network) } else { before };
                let (first, n) = memo.deliver(before, op);
                // Without faults and bounds there is one way to hand a message over.
                debug_assert_eq!(n, 1);
                let reaction = memo.outs[first as usize];
                if reaction.extra != 0 {
                    if let End::Cut(cut) = memo.extras[reaction.extra as usize].end {
                        sink.cut(cut);
                    }
                    self.spare.push(now.changes);
                    return;
                }
                now.delta = now.delta.wrapping_add(reaction.delta);
                match place {
                    Some(place) => now.changes[place].1 = reaction.next,
                    None => now.changes.push((network, reaction.next)),
                }
            }
            for own in 1..act.n {
                let mut changes = self.spare.pop().unwrap_or_default();
                changes.clear();
                changes.extend_from_slice(&now.changes);
                let mut other = Unfolded { changes, ..now };
                match step_on(memo, act, own, at, &mut other) {
                    true => self.open.push(other),
                    false => sink.broken(Move::default()),
                }
            }
            if act.n == 0 || !step_on(memo, act, 0, at, &mut now) {
                if act.n > 0 {
                    sink.broken(Move::default());
                }
                self.spare.push(now.changes);
                return;
            }
        }
        if self.drop_all(memo, from, 0, &mut now) {
            sink.folded(now.n_folded, true);
            tell(from, &now, sink);
        }
        self.spare.push(now.changes);
    }

    /// Takes what is dropped for good out of the networks, where they or their targets have changed, from some change on; says
    /// whether all that this needs is known.
    #[inline]
    fn drop_all(&mut self, memo: &mut Memo<'_>, from: &[CellId], start: usize, now: &mut Unfolded) -> bool {
        for at in start..now.changes.len() {
            let (slot, cell) = now.changes[at];
            if cell == 0 {
                continue;
            }
            let Place { network, target } = self.place(slot);
            let (target_cell, place) = if network != slot {
                (cell, now.changes.iter().position(|&(other, _)| other == network))
            } else if target != slot && now.changes.iter().all(|&(other, _)| other != target) {
                (cell_at(from, target), Some(at))
            } else {
                // If the target has changed too, that is where it is looked at.
                continue;
            };
            let before = place.map_or_else(|| cell_at(from, network), |place| now.changes[place].1);
            if before == 0 || target_cell == 0 {
                continue;
            }
            let Some(AfterDrops { delta, after, n }) = self.after_drops(memo, target_cell, before) else {
                return false;
            };
            if after != before {
                now.delta = now.delta.wrapping_add(delta);
                now.n_folded += n;
                match place {
                    Some(place) => now.changes[place].1 = after,
                    None => now.changes.push((network, after)),
                }
            }
        }
        true
    }

    /// What becomes of a network whose machine stands like that; `None` if an answer was put off.
    #[inline]
    fn after_drops(&mut self, memo: &mut Memo<'_>, target: CellId, before: CellId) -> Option<AfterDrops> {
        let (target_brief, brief) = (self.briefs.get(memo, target), self.briefs.get(memo, before));
        if target_brief.events & brief.events == 0 {
            let is_known = target_brief.kind != BriefKind::Unasked && brief.kind != BriefKind::Unasked;
            return is_known.then_some(AfterDrops { delta: 0, after: before, n: 0 });
        }
        self.dropped.get(target, before).or_else(|| self.work_out_drops(memo, target, before))
    }

    /// What becomes of a network that brings messages to a machine which stands like that; `None` if an answer was put off.
    #[cold]
    fn work_out_drops(&mut self, memo: &mut Memo<'_>, target: CellId, before: CellId) -> Option<AfterDrops> {
        let (mut network, mut delta, mut n_dropped) = (before, 0u64, 0);
        while network != 0 {
            let act = memo.act(network);
            if act.kind != ActKind::Network {
                break;
            }
            let dropped = (0..act.n).find_map(|own| {
                let out = memo.outs[(act.first + own) as usize];
                let Brought { message, loses, .. } = memo.deliveries[out.extra as usize];
                if loses || !self.is_dropped(memo, target, message) {
                    return None;
                }
                let Reaction { only, .. } = memo.reaction(target, message);
                (only.extra == 0 && only.next == target).then_some(out)
            });
            let Some(out) = dropped else { break };
            network = out.next;
            delta = delta.wrapping_add(out.delta);
            n_dropped += 1;
        }
        if memo.has_missed() {
            return None;
        }
        let found = AfterDrops { delta, after: network, n: n_dropped };
        self.dropped.insert(target, before, found);
        Some(found)
    }

    #[inline]
    fn place(&mut self, slot: u32) -> Place {
        match self.places.get(slot as usize) {
            Some(&place) => place,
            None => {
                self.find_places();
                self.places[slot as usize]
            }
        }
    }

    /// The slot of a network comes before that of its machine, so of machines that are known all is known.
    #[cold]
    fn find_places(&mut self) {
        let cells = lock(self.cells);
        self.places = (0..cells.n_slots() as u32).map(|slot| Place { network: slot, target: slot }).collect();
        self.encounters.clear();
        for (slot, owner) in cells.owners.iter().enumerate() {
            let Owner::Machine(instance) = owner else { continue };
            let network = cells.network_slot_known(*instance);
            if let Some(network) = network {
                self.places[slot].network = network;
                self.places[network as usize].target = slot as u32;
            }
            self.encounters.push(Encounter::new(slot as u32, network.unwrap_or(NOWHERE)));
        }
        for (slot, owner) in cells.owners.iter().enumerate() {
            if matches!(owner, Owner::Network(_)) && self.places[slot].target as usize == slot {
                self.encounters.push(Encounter::new(NOWHERE, slot as u32));
            }
        }
    }

    /// The machine that goes first, if one does, and how many others are put off. Drops never do here: where nobody goes first
    /// they were made, and at the beginning nothing is on its way.
    #[inline]
    pub fn find(&mut self, memo: &mut Memo<'_>, vector: &[CellId], n_monitors: usize) -> Option<(u32, u64)> {
        let mut sender: Option<u32> = None;
        let mut n_enabled = 0;
        for (slot, &cell) in vector.iter().enumerate().skip(n_monitors) {
            if cell == 0 {
                continue;
            }
            let act = memo.act(cell);
            match act.kind {
                ActKind::Rest | ActKind::Blocked | ActKind::Unasked => continue,
                ActKind::Create | ActKind::Deliver => {
                    if self.goes_first(memo, cell, act)
                        && sender.is_none_or(|other| self.rank(slot as u32) < self.rank(other))
                    {
                        sender = Some(slot as u32);
                    }
                }
                ActKind::Alone | ActKind::Network | ActKind::Fault | ActKind::Unknown => {}
            }
            n_enabled += 1;
        }
        sender.map(|slot| (slot, n_enabled - 1))
    }

    /// Whether the machine that stands there is about to send or make another one, with no more than so many to follow.
    #[inline]
    fn goes_first(&mut self, memo: &mut Memo<'_>, cell: CellId, act: ActEntry) -> bool {
        if !is_hand_over(act) {
            return false;
        }
        let n = match self.ways.get(cell as usize) {
            Some(&n) if n != 0 => n,
            _ => self.work_out_way(memo, cell),
        };
        n <= MAX_WAY
    }

    #[cold]
    fn work_out_way(&mut self, memo: &mut Memo<'_>, cell: CellId) -> u32 {
        let n = self.hand_overs_from(memo, cell, MAX_WAY + 1);
        if self.ways.len() <= cell as usize {
            self.ways.resize(lock(self.cells).n_cells() + 1, 0);
        }
        self.ways[cell as usize] = n;
        n
    }

    /// How many hand-overs follow each other from there by first outcomes, with those of machines that are made; at most so many.
    fn hand_overs_from(&self, memo: &mut Memo<'_>, cell: CellId, most: u32) -> u32 {
        let (mut cell, mut n) = (cell, 0);
        while n < most {
            let act = memo.act(cell);
            if !is_hand_over(act) {
                break;
            }
            n += 1;
            let outs = &memo.outs[act.first as usize..(act.first + act.n) as usize];
            let stands = |out: &&Out| memo.extras[out.extra as usize].end == End::Stands;
            // If there is none, the search ends here.
            let Some(&out) = outs.iter().find(stands) else { break };
            if let Some((_, created, _)) = memo.extras[out.extra as usize].created {
                n += self.hand_overs_from(memo, created, most - n);
            }
            cell = out.next;
        }
        n
    }

    /// Whether the machine that stands there drops the message for good; not if the answer was put off.
    fn is_dropped(&mut self, memo: &mut Memo<'_>, cell: CellId, message: u32) -> bool {
        if let Some(&known) = self.known.get(&(cell, message)) {
            return known;
        }
        let Some(cells) = memo.cells_unless_busy() else { return false };
        let is_dropped = self.briefs.is_dropped(&cells, cell, cells.messages[message as usize].event);
        self.known.insert((cell, message), is_dropped);
        is_dropped
    }

    fn rank(&mut self, slot: u32) -> u64 {
        if self.ranks.len() <= slot as usize {
            let cells = lock(self.cells);
            self.ranks = (0..cells.n_slots() as u32).map(|slot| cells.rank(slot)).collect();
        }
        self.ranks[slot as usize]
    }
}

/// Nobody gets in the way of the step, and no monitor hears of it.
#[inline]
fn is_hand_over(act: ActEntry) -> bool {
    matches!(act.kind, ActKind::Deliver | ActKind::Create) && act.is_unheard && act.crash == Crash::Never
}

/// Makes the own part of a hand-over or creation, by one outcome; says whether the machine still stands.
#[inline]
fn step_on(memo: &Memo<'_>, act: ActEntry, own: u32, at: usize, now: &mut Unfolded) -> bool {
    let out = memo.outs[(act.first + own) as usize];
    if out.extra != 0 {
        // Nothing is observed, and there are no bounds.
        let extra = &memo.extras[out.extra as usize];
        if extra.end != End::Stands {
            return false;
        }
        if let Some((slot, cell, hash)) = extra.created {
            now.changes.push((slot, cell));
            now.delta = now.delta.wrapping_add(hash);
        }
    }
    now.changes[at].1 = out.next;
    now.delta = now.delta.wrapping_add(out.delta);
    true
}

/// What becomes of a network that gets a message; nothing if that was put off, or is cut off, of which the sink is told.
#[inline]
fn handed_over<S: FoldedSink>(
    memo: &mut Memo<'_>,
    network: u32,
    before: CellId,
    op: u32,
    sink: &mut S,
) -> Option<Out> {
    let before = if before == 0 { memo.empty_network(network) } else { before };
    let Reaction { only, n, .. } = memo.reaction(before, op);
    // Without faults and bounds there is one way to hand a message over, unless the answer was put off.
    debug_assert!(n == 1 || memo.has_missed());
    if only.extra == 0 {
        return Some(only);
    }
    if n > 0
        && let End::Cut(cut) = memo.extras[only.extra as usize].end
    {
        sink.cut(cut);
    }
    None
}

#[inline]
fn tell<S: FoldedSink>(from: &[CellId], now: &Unfolded, sink: &mut S) {
    let (delta, changes) = (now.delta, &now.changes);
    sink.successor(from, Successor { delta, changes, by: Move::default(), hot: 0, cold: 0 });
}

#[inline]
fn cell_at(vector: &[CellId], slot: u32) -> CellId {
    vector.get(slot as usize).copied().unwrap_or(0)
}

fn vector_of(from: &[CellId], changes: &[(u32, CellId)]) -> Vec<CellId> {
    let mut vector = from.to_vec();
    for &(slot, cell) in changes {
        if vector.len() <= slot as usize {
            vector.resize(slot as usize + 1, 0);
        }
        vector[slot as usize] = cell;
    }
    vector
}
