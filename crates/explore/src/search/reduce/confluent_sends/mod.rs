//! Confluent sends first, then drops: an ample set of invisible sends (Peled 1993), for networks that delay messages.
//!
//! Over such a network a send only adds its message to those in flight. Over `bag` and `fifo` that commutes with every present and
//! future step of all other machines: these add messages of their own, or take messages that were there; what arrives at the sender meanwhile waits in
//! its inbox, where it is found just as well a step later. No step of another machine can disable the send. So where a machine is about to send and no
//! monitor observes it, that send alone is a persistent set; so is the creation of a machine.
//!
//! Where no machine is about to send, the arrival of a message that its target ignores, now and in every later state
//! (`allways_machine::drops`), is a persistent set as well: it removes a message that affects nothing.
//!
//! Over `causal` a message carries what its sender knows, which an arrival changes, so sends are not confluent there. With faults, this reduction needs lazy
//! fault injection; then, of the sends of machines that can crash, only those that directly follow an arrival come first, and a drop loses
//! nothing else ([`super::lazy_faults`]).
//!
//! Preserves: local states, except for what waits in the inbox of a machine that is about to send; faults; monitor states; terminal configurations.
//! Does not preserve: lengths of runs, see [`super::persistent`].
//!
//! **Cycle proviso** (the ignoring problem, Valmari 1990): there are finitely many drops, one per message, and no send between them. The sends of a machine come
//! first only if they end, following first outcomes, after at most [`MAX_IN_A_ROW`] of them; otherwise they are ordinary steps. In a program with finitely
//! many configurations they always end, since each adds a message or a machine; in an infinite one,
//! a postponed step of another machine may violate something.
//!
//! No property distinguishes a configuration with confluent sends or drops still to come from the one after them, so the former is not stored:
//! a step is *merged* with all such steps that follow it, up to a *representative* configuration, in which none is left. A machine may send for ever; so after [`MAX_MERGED`]
//! merged steps the configuration is stored as it is, and the sends continue from there. The outcomes of one step share that budget,
//! since each step may double their number.
//!
//! Which of several such machines comes first is decided by their paths, so that counts do not depend on threads.

use std::sync::Mutex;

use allways_base::Idx;
use rustc_hash::FxHashMap;

use super::canonical::Canonicalizer;
use crate::search::expand::{Expander, Move, Sink, Standing, Successor};
use crate::search::local::entries::{ActEntry, ActKind, Brought, Crash, End, Out, Reaction};
use crate::search::local::memo::Memo;
use crate::search::local::pair_table::PairTable;
use crate::search::local::states::{Cut, InputId, LocalStateId, LocalStates, Owner, Slot};
use crate::search::local::vector::{self, local_at};
use crate::search::lock;
use crate::search::survey::Notes;
use arrival_cache::{Arrival, ArrivalCache, CachedArrivals};
use sends::{Next, Run, Sends};
use summaries::{LocalSummaries, SummaryKind};

mod arrival_cache;
mod sends;
mod summaries;

/// Steps that one step is merged with, at most.
pub(crate) const MAX_MERGED: u32 = 64;

/// Confluent sends of one machine, and of those that it makes in them, that may go first in a row.
const MAX_IN_A_ROW: u32 = 4 * MAX_MERGED;

/// What becomes of a network whose target drops what it can.
#[derive(Clone, Copy, Default)]
struct AfterDrops {
    /// What that adds to the fingerprint.
    delta: u64,
    after: LocalStateId,
    /// How many messages.
    n: u32,
}

/// Finds confluent sends and drops.
pub(crate) struct ConfluentSends<'a> {
    locals: &'a Mutex<LocalStates<'a>>,
    /// By slot: a number that depends on the path of the machine alone.
    ranks: Vec<u64>,
    /// By local state and message: whether the message is dropped there for good.
    known: FxHashMap<(LocalStateId, InputId), bool>,
    sends: Sends,
    arrival_cache: ArrivalCache,
    places: Vec<Place>,
    /// By local states of a machine and of its network.
    dropped: PairTable<AfterDrops>,
    summaries: LocalSummaries,
    /// By local state: how many confluent sends follow each other from there, one more than go first if these are too many; zero where it
    /// was not asked for.
    ways: Vec<u32>,
    open: Vec<Unmerged>,
    spare: Vec<Vec<(Slot, LocalStateId)>>,
    /// Of the two that meet.
    arrivals: Vec<Arrival>,
    pairs: Vec<MachineNetworkPair>,
    /// The successor at hand.
    now: Unmerged,
}

/// What a slot has to do with networks.
#[derive(Clone, Copy)]
struct Place {
    /// The slot of the network that brings messages there; itself if there is none.
    network: Slot,
    /// The slot to which this network brings messages; itself if it is none.
    target: Slot,
}

/// A machine and its network, as they stood in the configuration that was expanded last.
#[derive(Clone, Copy)]
struct MachineNetworkPair {
    /// The slots of the two; [`Slot::NONE`] for one that is not there.
    target: Slot,
    slot: Slot,
    machine: LocalStateId,
    network: LocalStateId,
    /// It does nothing by itself.
    machine_rests: bool,
    cached: CachedArrivals,
}

impl MachineNetworkPair {
    fn new(target: Slot, slot: Slot) -> Self {
        MachineNetworkPair {
            target,
            slot,
            machine: LocalStateId::ABSENT,
            network: LocalStateId::ABSENT,
            machine_rests: true,
            cached: CachedArrivals::NONE,
        }
    }

    /// No local state has this number.
    fn forget(&mut self) {
        self.machine = LocalStateId::from_u32(u32::MAX);
    }
}

/// A successor before the steps that it is merged with.
#[derive(Default)]
struct Unmerged {
    delta: u64,
    changes: Vec<(Slot, LocalStateId)>,
    n_merged: u32,
    /// Steps that may still be merged, from here on.
    n_left: u32,
}

/// Successors of one configuration, before merging.
#[derive(Default)]
pub(crate) struct Raw {
    /// What each adds to the fingerprint, and where its changes end.
    pub(crate) ends: Vec<(u64, usize)>,
    pub(crate) changes: Vec<(Slot, LocalStateId)>,
    pub(crate) n_broken: usize,
    pub(crate) cuts: Vec<Cut>,
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
    fn successor(&mut self, _: &[LocalStateId], successor: Successor<'_>) {
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

/// Takes merged successors.
pub(crate) trait MergedSink: Sink {
    /// Announces the next successor: how many steps were merged into it, and whether it is a representative.
    fn merged(&mut self, n_merged: u32, is_representative: bool);

    /// Does something with the canonical form in which successors are stored, if there is one.
    fn with_canonicalizer<R>(&mut self, with: impl FnOnce(Option<&mut Canonicalizer<'_>>) -> R) -> R {
        with(None)
    }
}

impl<'a> ConfluentSends<'a> {
    pub fn n_bytes(&self) -> usize {
        self.dropped.n_bytes() + self.sends.n_bytes() + self.arrival_cache.n_bytes()
    }

    pub fn new(locals: &'a Mutex<LocalStates<'a>>) -> Self {
        let exe = lock(locals).exe.clone();
        ConfluentSends {
            locals,
            ranks: Vec::new(),
            known: FxHashMap::default(),
            sends: Sends::default(),
            arrival_cache: ArrivalCache::default(),
            places: Vec::new(),
            dropped: PairTable::default(),
            summaries: LocalSummaries::new(&exe),
            ways: Vec::new(),
            open: Vec::new(),
            spare: Vec::new(),
            arrivals: Vec::new(),
            pairs: Vec::new(),
            now: Unmerged::default(),
        }
    }

    /// Merges the successors of a configuration, and reports them. In a *representative* configuration no confluent step is left. Where misses are
    /// postponed, successors that need them are not reported.
    pub fn merge<S: MergedSink>(
        &mut self,
        memo: &mut Memo<'_>,
        from: &[LocalStateId],
        is_representative: bool,
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
            let mut next = Unmerged { delta, changes, n_merged: 0, n_left: MAX_MERGED };
            if is_representative && self.merge_plain(memo, from, &mut next, notes, sink) {
                self.spare.push(next.changes);
                continue;
            }
            if !is_representative {
                // Machines that have not moved may be about to send as well.
                for (slot, &local) in from.iter().enumerate().filter(|(_, local)| !local.is_absent()) {
                    if next.changes.iter().all(|&(other, _)| other != Slot::new(slot)) {
                        next.changes.push((Slot::new(slot), local));
                    }
                }
            }
            let puts_off = std::mem::take(&mut memo.puts_off);
            self.open.push(next);
            while let Some(next) = self.open.pop() {
                self.merge_one(memo, from, next, notes, sink);
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

    /// Reports the merged steps of a representative configuration. Those that need special treatment go to [`Self::merge`].
    /// The `next` configuration is the one that will be asked for after this one, if that is known: what it needs is brought nearer.
    pub fn expand<S: MergedSink>(
        &mut self,
        expander: &mut Expander<'_>,
        vector: &[LocalStateId],
        next: &[LocalStateId],
        raw: &mut Raw,
        notes: Option<(&Notes, usize)>,
        sink: &mut S,
    ) -> Standing {
        if self.places.len() < vector.len() {
            self.find_places();
        }
        if self.arrival_cache.tidy() {
            self.pairs.iter_mut().for_each(MachineNetworkPair::forget);
        }
        let mut standing = Standing::default();
        // Neighbours have most of their local states in common, so most pairs are known from the last one.
        let mut pairs = std::mem::take(&mut self.pairs);
        for now in &mut pairs {
            let (machine, network) = (local_at(vector, now.target), local_at(vector, now.slot));
            if (machine, network) != (now.machine, now.network) {
                self.look_up_pair(&mut expander.memo, machine, network, now);
            }
            standing.n_machines += u32::from(!machine.is_absent() && now.machine_rests);
            standing.n_enabled += u32::from(!now.cached.can_wait);
            if !now.machine_rests {
                expander.step(vector, now.target, machine, raw, &mut standing);
            }
            if now.cached.is_special {
                expander.step(vector, now.slot, network, raw, &mut standing);
            }
        }
        if !next.is_empty() {
            for now in &pairs {
                let (machine, network) = (local_at(next, now.target), local_at(next, now.slot));
                if !network.is_absent() && (machine, network) != (now.machine, now.network) {
                    self.arrival_cache.prefetch(machine, network);
                }
            }
        }
        let mut changed = std::mem::take(&mut self.now);
        let memo = &mut expander.memo;
        for now in &pairs {
            for at in 0..usize::from(now.cached.n) {
                let arrival = self.arrival_cache.arrivals(now.cached)[at];
                changed.delta = arrival.delta;
                changed.n_merged = arrival.n_merged();
                changed.changes.clear();
                changed
                    .changes
                    .extend_from_slice(&[(now.target, arrival.machine), (now.slot, arrival.network)]);
                // Nothing was sent to itself, so what comes now concerns others.
                let is_known = match arrival.n_sent {
                    0 => true,
                    1 if notes.is_none() => {
                        self.apply_one_send(memo, vector, arrival.delivery, &mut changed, sink)
                    }
                    _ => {
                        let is_known =
                            self.apply_sends(memo, vector, 0, arrival.sent(), &mut changed, notes, sink)
                                && self.drop_all(memo, vector, 2, &mut changed);
                        changed.changes[0].1 = arrival.machine;
                        is_known
                    }
                };
                if is_known {
                    sink.merged(changed.n_merged, true);
                    tell(vector, &changed, sink);
                }
            }
        }
        self.now = changed;
        // Unless there are new machines, so that they were found anew.
        if self.pairs.is_empty() {
            self.pairs = pairs;
        }
        standing
    }

    /// Looks up a machine and its network, as they stand in a configuration. What was put off is asked for again.
    fn look_up_pair(
        &mut self,
        memo: &mut Memo<'_>,
        machine: LocalStateId,
        network: LocalStateId,
        now: &mut MachineNetworkPair,
    ) {
        *now = MachineNetworkPair {
            machine,
            network,
            machine_rests: true,
            cached: CachedArrivals::NONE,
            ..*now
        };
        if !machine.is_absent() {
            let kind = self.summaries.get(memo, machine).kind;
            now.machine_rests = kind == SummaryKind::Rests;
            if kind == SummaryKind::Unasked {
                now.forget();
            }
        }
        if !network.is_absent() {
            let known = match machine {
                LocalStateId::ABSENT => Some(CachedArrivals::SPECIAL),
                _ => {
                    let known = self.arrival_cache.get(machine, network);
                    known.or_else(|| self.compute_arrivals(memo, machine, now.slot, network))
                }
            };
            match known {
                Some(cached) => {
                    now.cached = cached;
                    self.arrival_cache.prefetch_arrivals(cached);
                }
                None => now.forget(),
            }
        }
    }

    /// What becomes of a machine and of its network, the one of that slot, when something arrives; `None` if an answer was put off.
    #[cold]
    fn compute_arrivals(
        &mut self,
        memo: &mut Memo<'_>,
        machine: LocalStateId,
        slot: Slot,
        network: LocalStateId,
    ) -> Option<CachedArrivals> {
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
                    return Some(self.arrival_cache.add_special(machine, network));
                }
            };
            let AfterDrops { delta, after, n } = match out.next {
                LocalStateId::ABSENT => AfterDrops::default(),
                before => self.after_drops(memo, next, before)?,
            };
            let delta = [only.delta, more, delta].into_iter().fold(out.delta, u64::wrapping_add);
            match Arrival::new(delta, next, after, (sent, self.sends.all(sent)), n) {
                Some(arrival) => self.arrivals.push(arrival),
                None => return Some(self.arrival_cache.add_special(machine, network)),
            }
        }
        Some(self.arrival_cache.add(machine, network, &self.arrivals, can_wait))
    }

    /// Merges a successor of a representative configuration in which only one machine is about to send, with a single outcome, as
    /// most are. Says whether it was such a one.
    #[inline]
    fn merge_plain<S: MergedSink>(
        &mut self,
        memo: &mut Memo<'_>,
        from: &[LocalStateId],
        now: &mut Unmerged,
        notes: Option<(&Notes, usize)>,
        sink: &mut S,
    ) -> bool {
        let mut sender = None;
        for (at, &(slot, local)) in now.changes.iter().enumerate() {
            if local.is_absent() || self.place(slot).network == slot {
                continue;
            }
            match self.sends.next(memo, local) {
                Some(Next::Nothing) => {}
                Some(Next::Sends { run, next, delta }) if sender.is_none() => {
                    sender = Some((at, run, next, delta));
                }
                Some(Next::Sends { .. } | Next::Special) => return false,
                None => return true,
            }
        }
        if let Some((at, run, next, delta)) = sender {
            if !self.apply_sends(memo, from, at, run, now, notes, sink) {
                return true;
            }
            now.changes[at].1 = next;
            now.delta = now.delta.wrapping_add(delta);
            now.n_merged = run.n;
        }
        if self.drop_all(memo, from, 0, now) {
            sink.merged(now.n_merged, true);
            tell(from, now, sink);
        }
        true
    }

    /// Puts what the machine at this place of the changes sends into networks; says whether all that this needs is known.
    #[inline]
    fn apply_sends<S: MergedSink>(
        &mut self,
        memo: &mut Memo<'_>,
        from: &[LocalStateId],
        at: usize,
        run: Run,
        now: &mut Unmerged,
        notes: Option<(&Notes, usize)>,
        sink: &mut S,
    ) -> bool {
        for &sent in self.sends.all(run) {
            let (network, op) = sent.delivery;
            if let Some((notes, n_monitors)) = notes {
                now.changes[at].1 = sent.local;
                notes.see(&vector_of(from, &now.changes), n_monitors, false);
            }
            let place = now.changes.iter().position(|&(slot, _)| slot == network);
            let before = place.map_or_else(|| local_at(from, network), |place| now.changes[place].1);
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
    fn apply_one_send<S: MergedSink>(
        &mut self,
        memo: &mut Memo<'_>,
        from: &[LocalStateId],
        (network, op): (Slot, InputId),
        now: &mut Unmerged,
        sink: &mut S,
    ) -> bool {
        let Some(handed) = handed_over(memo, network, local_at(from, network), op, sink) else {
            return false;
        };
        let mut change = (network, handed.next);
        now.delta = now.delta.wrapping_add(handed.delta);
        let target = self.place(network).target;
        if target != network && local_at(from, target) != LocalStateId::ABSENT && !handed.next.is_absent() {
            let dropped = self.after_drops(memo, local_at(from, target), handed.next);
            let Some(AfterDrops { delta, after, n }) = dropped else { return false };
            change.1 = after;
            now.delta = now.delta.wrapping_add(delta);
            now.n_merged += n;
        }
        now.changes.push(change);
        true
    }

    /// Follows one successor until no confluent send is left, or to where there are several outcomes.
    fn merge_one<S: MergedSink>(
        &mut self,
        memo: &mut Memo<'_>,
        from: &[LocalStateId],
        mut now: Unmerged,
        notes: Option<(&Notes, usize)>,
        sink: &mut S,
    ) {
        loop {
            let mut sender: Option<(usize, ActEntry)> = None;
            for (at, &(slot, local)) in now.changes.iter().enumerate() {
                if local.is_absent() || self.place(slot).network == slot {
                    continue;
                }
                let act = memo.act(local);
                if self.goes_first(memo, local, act)
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
                sink.merged(now.n_merged, false);
                tell(from, &now, sink);
                self.spare.push(now.changes);
                return;
            }
            now.n_merged += 1;
            now.n_left = (now.n_left - 1) / act.n.max(1);
            if act.kind == ActKind::Deliver {
                let (network, op) = act.delivery;
                let place = now.changes.iter().position(|&(slot, _)| slot == network);
                let before = place.map_or_else(|| local_at(from, network), |place| now.changes[place].1);
                let before = if before.is_absent() { memo.empty_network(network) } else { before };
                let (first, n) = memo.deliver(before, op);
                // Without faults and bounds there is one outcome of an arrival.
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
                let mut other = Unmerged { changes, ..now };
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
            sink.merged(now.n_merged, true);
            tell(from, &now, sink);
        }
        self.spare.push(now.changes);
    }

    /// Takes what is dropped for good out of the networks, where they or their targets have changed, from some change on; says
    /// whether all that this needs is known.
    #[inline]
    fn drop_all(
        &mut self,
        memo: &mut Memo<'_>,
        from: &[LocalStateId],
        start: usize,
        now: &mut Unmerged,
    ) -> bool {
        for at in start..now.changes.len() {
            let (slot, local) = now.changes[at];
            if local.is_absent() {
                continue;
            }
            let Place { network, target } = self.place(slot);
            let (target_local, place) = if network != slot {
                (local, now.changes.iter().position(|&(other, _)| other == network))
            } else if target != slot && now.changes.iter().all(|&(other, _)| other != target) {
                (local_at(from, target), Some(at))
            } else {
                // If the target has changed too, the change counts.
                continue;
            };
            let before = place.map_or_else(|| local_at(from, network), |place| now.changes[place].1);
            if before.is_absent() || target_local.is_absent() {
                continue;
            }
            let Some(AfterDrops { delta, after, n }) = self.after_drops(memo, target_local, before) else {
                return false;
            };
            if after != before {
                now.delta = now.delta.wrapping_add(delta);
                now.n_merged += n;
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
    fn after_drops(
        &mut self,
        memo: &mut Memo<'_>,
        target: LocalStateId,
        before: LocalStateId,
    ) -> Option<AfterDrops> {
        let (target_brief, summary) = (self.summaries.get(memo, target), self.summaries.get(memo, before));
        if target_brief.events & summary.events == 0 {
            let is_known = target_brief.kind != SummaryKind::Unasked && summary.kind != SummaryKind::Unasked;
            return is_known.then_some(AfterDrops { delta: 0, after: before, n: 0 });
        }
        self.dropped.get(target, before).or_else(|| self.work_out_drops(memo, target, before))
    }

    /// What becomes of a network that brings messages to a machine which stands like that; `None` if an answer was put off.
    #[cold]
    fn work_out_drops(
        &mut self,
        memo: &mut Memo<'_>,
        target: LocalStateId,
        before: LocalStateId,
    ) -> Option<AfterDrops> {
        let (mut network, mut delta, mut n_dropped) = (before, 0u64, 0);
        while !network.is_absent() {
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
    fn place(&mut self, slot: Slot) -> Place {
        match self.places.get(slot.index()) {
            Some(&place) => place,
            None => {
                self.find_places();
                self.places[slot.index()]
            }
        }
    }

    /// The slot of a network comes before that of its machine, so of machines that are known all is known.
    #[cold]
    fn find_places(&mut self) {
        let locals = lock(self.locals);
        self.places =
            (0..locals.n_slots()).map(Slot::new).map(|slot| Place { network: slot, target: slot }).collect();
        self.pairs.clear();
        for (slot, owner) in locals.owners.iter().enumerate() {
            let Owner::Machine(instance) = owner else { continue };
            let network = locals.network_slot_known(*instance);
            if let Some(network) = network {
                self.places[slot].network = network;
                self.places[network.index()].target = Slot::new(slot);
            }
            self.pairs.push(MachineNetworkPair::new(Slot::new(slot), network.unwrap_or(Slot::NONE)));
        }
        for (slot, owner) in locals.owners.iter().enumerate() {
            if matches!(owner, Owner::Network(_)) && self.places[slot].target.index() == slot {
                self.pairs.push(MachineNetworkPair::new(Slot::NONE, Slot::new(slot)));
            }
        }
    }

    /// The machine that goes first, if one does, and how many others are put off. Drops never do here: where no send comes first
    /// they were made, and at the beginning nothing is on its way.
    #[inline]
    pub fn find(
        &mut self,
        memo: &mut Memo<'_>,
        vector: &[LocalStateId],
        n_monitors: usize,
    ) -> Option<(Slot, u64)> {
        let mut sender: Option<Slot> = None;
        let mut n_enabled = 0;
        for (slot, &local) in vector.iter().enumerate().skip(n_monitors) {
            if local.is_absent() {
                continue;
            }
            let act = memo.act(local);
            match act.kind {
                ActKind::Rest | ActKind::Blocked | ActKind::Unasked => continue,
                ActKind::Create | ActKind::Deliver => {
                    if self.goes_first(memo, local, act)
                        && sender.is_none_or(|other| self.rank(Slot::new(slot)) < self.rank(other))
                    {
                        sender = Some(Slot::new(slot));
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
    fn goes_first(&mut self, memo: &mut Memo<'_>, local: LocalStateId, act: ActEntry) -> bool {
        if !is_confluent_send(act) {
            return false;
        }
        let n = match self.ways.get(local.index()) {
            Some(&n) if n != 0 => n,
            _ => self.work_out_way(memo, local),
        };
        n <= MAX_IN_A_ROW
    }

    #[cold]
    fn work_out_way(&mut self, memo: &mut Memo<'_>, local: LocalStateId) -> u32 {
        let n = self.sends_from(memo, local, MAX_IN_A_ROW + 1);
        if self.ways.len() <= local.index() {
            self.ways.resize(lock(self.locals).n_local_states() + 1, 0);
        }
        self.ways[local.index()] = n;
        n
    }

    /// How many confluent sends follow each other from there by first outcomes, with those of machines that are made; at most so many.
    fn sends_from(&self, memo: &mut Memo<'_>, local: LocalStateId, most: u32) -> u32 {
        let (mut local, mut n) = (local, 0);
        while n < most {
            let act = memo.act(local);
            if !is_confluent_send(act) {
                break;
            }
            n += 1;
            let outs = &memo.outs[act.first as usize..(act.first + act.n) as usize];
            let stands = |out: &&Out| memo.extras[out.extra as usize].end == End::Stands;
            // If there is none, the search ends here.
            let Some(&out) = outs.iter().find(stands) else { break };
            if let Some((_, created, _)) = memo.extras[out.extra as usize].created {
                n += self.sends_from(memo, created, most - n);
            }
            local = out.next;
        }
        n
    }

    /// Whether the machine that stands there drops the message for good; not if the answer was put off.
    fn is_dropped(&mut self, memo: &mut Memo<'_>, local: LocalStateId, message: InputId) -> bool {
        if let Some(&known) = self.known.get(&(local, message)) {
            return known;
        }
        let Some(locals) = memo.locals_unless_busy() else { return false };
        let is_dropped = self.summaries.is_dropped(&locals, local, locals.messages[message.index()].event);
        self.known.insert((local, message), is_dropped);
        is_dropped
    }

    fn rank(&mut self, slot: Slot) -> u64 {
        if self.ranks.len() <= slot.index() {
            let locals = lock(self.locals);
            self.ranks = (0..locals.n_slots()).map(|slot| locals.rank(Slot::new(slot))).collect();
        }
        self.ranks[slot.index()]
    }
}

/// The step is independent of all others, and no monitor observes it.
#[inline]
fn is_confluent_send(act: ActEntry) -> bool {
    matches!(act.kind, ActKind::Deliver | ActKind::Create) && act.is_unheard && act.crash == Crash::Never
}

/// Makes the own part of a confluent send or creation, by one outcome; says whether the machine still stands.
#[inline]
fn step_on(memo: &Memo<'_>, act: ActEntry, own: u32, at: usize, now: &mut Unmerged) -> bool {
    let out = memo.outs[(act.first + own) as usize];
    if out.extra != 0 {
        // Nothing is observed, and there are no bounds.
        let extra = &memo.extras[out.extra as usize];
        if extra.end != End::Stands {
            return false;
        }
        if let Some((slot, local, hash)) = extra.created {
            now.changes.push((slot, local));
            now.delta = now.delta.wrapping_add(hash);
        }
    }
    now.changes[at].1 = out.next;
    now.delta = now.delta.wrapping_add(out.delta);
    true
}

/// What becomes of a network that gets a message; nothing if that was put off, or is cut off, which the sink records.
#[inline]
fn handed_over<S: MergedSink>(
    memo: &mut Memo<'_>,
    network: Slot,
    before: LocalStateId,
    op: InputId,
    sink: &mut S,
) -> Option<Out> {
    let before = if before.is_absent() { memo.empty_network(network) } else { before };
    let Reaction { only, n, .. } = memo.reaction(before, op);
    // Without faults and bounds there is one outcome of an arrival, unless the answer was put off.
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
fn tell<S: MergedSink>(from: &[LocalStateId], now: &Unmerged, sink: &mut S) {
    let (delta, changes) = (now.delta, &now.changes);
    sink.successor(from, Successor { delta, changes, by: Move::default(), hot: 0, cold: 0 });
}

#[inline]
fn vector_of(from: &[LocalStateId], changes: &[(Slot, LocalStateId)]) -> Vec<LocalStateId> {
    let mut vector = from.to_vec();
    vector::apply(&mut vector, changes);
    vector
}
