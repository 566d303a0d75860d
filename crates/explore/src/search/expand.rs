//! The successors of a configuration vector: arithmetic on numbers of local states.

use allways_base::Idx;

use super::local::entries::{
    ActEntry, ActKind, Brought, Crash, End, HEARD_COLD, HEARD_FAULT, HEARD_HOT, HEARD_UNKNOWN, Out, Reaction,
};
use super::local::memo::Memo;
use super::local::states::{Cut, LOOK_AFTER, LocalStateId, Owner, Slot};
use super::local::vector::local_at;

/// Which step of a configuration: the slot that moves, and the outcomes of the receiver and of itself. Of a network, `own` is which of
/// its messages arrives.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Move {
    pub slot: Slot,
    pub delivered: u32,
    pub own: u32,
}

/// Outcomes that are as dear as a handler which has to be run: a limit is asked about after a few of these.
const HANDLER: usize = LOOK_AFTER / 64;

/// In `Move::delivered`: the machine crashes.
pub(crate) const CRASH: u32 = u32::MAX;

/// What a step makes of a configuration.
#[derive(Clone, Copy)]
pub(crate) struct Successor<'a> {
    /// What it adds to the fingerprint.
    pub delta: u64,
    /// Slots and their new local states; a slot comes once.
    pub changes: &'a [(Slot, LocalStateId)],
    pub by: Move,
    /// Monitors that were hot, that were cold, in the step, if only in passing.
    pub hot: u64,
    pub cold: u64,
}

/// Takes what an expansion finds.
pub(crate) trait Sink {
    fn successor(&mut self, from: &[LocalStateId], successor: Successor<'_>);
    /// The step breaks a property.
    fn broken(&mut self, by: Move);
    fn cut(&mut self, cut: Cut);
}

/// How a configuration stands.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Standing {
    pub n_enabled: u32,
    pub n_machines: u32,
    /// Some machine waits in `receive`.
    pub is_blocked: bool,
    /// Steps that lead to where they began, if they are skipped.
    pub n_stuttering: u32,
}

pub(crate) struct Expander<'a> {
    pub memo: Memo<'a>,
    n_monitors: usize,
    max_machines: usize,
    has_crashes: bool,
    /// Steps that change nothing are not reported.
    pub skips_stutter: bool,
    /// Slots whose steps were postponed; as bits, if there are not too many slots.
    missed: u64,
    /// By slot, as far as it was asked for.
    is_machine: Vec<bool>,
    changes: Vec<(Slot, LocalStateId)>,
}

impl<'a> Expander<'a> {
    pub fn new(memo: Memo<'a>, max_machines: Option<u32>) -> Self {
        let n_monitors = memo.locals().n_monitors();
        let has_crashes = memo.locals().exe.network.has_crashes();
        let max_machines = max_machines.map_or(usize::MAX, |n| n as usize);
        Expander {
            memo,
            n_monitors,
            max_machines,
            has_crashes,
            skips_stutter: false,
            missed: 0,
            is_machine: Vec::new(),
            changes: Vec::new(),
        }
    }

    pub fn n_monitors(&self) -> usize {
        self.n_monitors
    }

    /// Tells the sink all steps, machines in order of slots.
    #[inline]
    pub fn expand<S: Sink>(&mut self, vector: &[LocalStateId], sink: &mut S) -> Standing {
        let mut standing = Standing::default();
        self.missed = 0;
        for (slot, &local) in vector.iter().enumerate().skip(self.n_monitors) {
            self.step(vector, Slot::new(slot), local, sink, &mut standing);
        }
        if self.has_crashes && standing.n_enabled > 0 {
            for (slot, &local) in vector.iter().enumerate().skip(self.n_monitors) {
                self.crash(vector, Slot::new(slot), local, sink);
            }
        }
        standing
    }

    /// Tells the sink the steps of one machine, which can step.
    pub fn expand_one<S: Sink>(&mut self, vector: &[LocalStateId], slot: Slot, sink: &mut S) -> Standing {
        let mut standing = Standing::default();
        self.step(vector, slot, vector[slot.index()], sink, &mut standing);
        standing.n_machines = self.n_machines(vector) as u32;
        standing
    }

    /// The same for some machines, which can step; bits are slots.
    pub fn expand_some<S: Sink>(&mut self, vector: &[LocalStateId], movers: u64, sink: &mut S) -> Standing {
        let mut standing = Standing::default();
        self.missed = 0;
        let mut left = movers;
        while left != 0 {
            let slot = Slot::from_u32(left.trailing_zeros());
            left &= left - 1;
            self.step(vector, slot, vector[slot.index()], sink, &mut standing);
        }
        standing.n_machines =
            vector[self.n_monitors..].iter().filter(|&&local| !local.is_absent()).count() as u32;
        standing
    }

    /// The same for all, with the machines in this order.
    pub fn expand_in_order<S: Sink>(
        &mut self,
        vector: &[LocalStateId],
        slots: &[Slot],
        sink: &mut S,
    ) -> Standing {
        let mut standing = Standing::default();
        for &slot in slots {
            if let Some(&local) = vector.get(slot.index()) {
                self.step(vector, slot, local, sink, &mut standing);
            }
        }
        if self.has_crashes && standing.n_enabled > 0 {
            for &slot in slots {
                self.crash(vector, slot, local_at(vector, slot), sink);
            }
        }
        standing
    }

    /// Tells the sink of the crash of a machine, if it can crash.
    fn crash<S: Sink>(&mut self, vector: &[LocalStateId], slot: Slot, local: LocalStateId, sink: &mut S) {
        if local.is_absent() {
            return;
        }
        let act = self.memo.act(local);
        if act.crash == Crash::Step {
            let out = self.memo.outs[(act.first + act.n) as usize];
            let changes = &[(slot, out.next)];
            let by = Move { slot, delivered: CRASH, own: 0 };
            sink.successor(vector, Successor { delta: out.delta, changes, by, hot: 0, cold: 0 });
        }
    }

    fn n_machines(&mut self, vector: &[LocalStateId]) -> usize {
        if self.is_machine.len() < vector.len() {
            let locals = self.memo.locals();
            let slots = 0..locals.n_slots().max(vector.len());
            self.is_machine =
                slots.map(|slot| locals.owners.get(slot).is_some_and(Owner::is_machine)).collect();
        }
        vector
            .iter()
            .zip(&self.is_machine)
            .filter(|&(&local, &is_machine)| is_machine && !local.is_absent())
            .count()
    }

    /// The slots of the machines that can step, and of networks that have something to bring.
    pub fn enabled_slots(&mut self, vector: &[LocalStateId]) -> Vec<Slot> {
        let machines =
            vector.iter().enumerate().skip(self.n_monitors).filter(|(_, local)| !local.is_absent());
        let is_enabled = |kind| !matches!(kind, ActKind::Unasked | ActKind::Rest | ActKind::Blocked);
        machines
            .filter(|(_, local)| is_enabled(self.memo.act(**local).kind))
            .map(|(slot, _)| Slot::new(slot))
            .collect()
    }

    /// How a configuration stands, without its successors.
    pub fn standing(&mut self, vector: &[LocalStateId]) -> Standing {
        let mut standing = Standing::default();
        for &local in vector.iter().skip(self.n_monitors).filter(|&&local| !local.is_absent()) {
            match self.memo.act(local).kind {
                ActKind::Unasked | ActKind::Rest => {}
                ActKind::Blocked => standing.is_blocked = true,
                ActKind::Alone
                | ActKind::Deliver
                | ActKind::Create
                | ActKind::Network
                | ActKind::Fault
                | ActKind::Unknown => {
                    standing.n_enabled += 1;
                }
            }
        }
        standing
    }

    #[inline]
    pub fn step<S: Sink>(
        &mut self,
        vector: &[LocalStateId],
        slot: Slot,
        local: LocalStateId,
        sink: &mut S,
        standing: &mut Standing,
    ) {
        if local.is_absent() {
            return;
        }
        standing.n_machines += 1;
        let act = self.memo.act(local);
        // A machine that may have crashed need not step.
        let n_needed = u32::from(act.crash != Crash::Late);
        match act.kind {
            ActKind::Rest => return,
            ActKind::Unasked => return self.miss(slot),
            ActKind::Blocked => {
                standing.is_blocked = true;
                return;
            }
            ActKind::Fault => sink.broken(Move { slot, delivered: 0, own: 0 }),
            ActKind::Unknown => {}
            ActKind::Deliver => {
                let (target, message) = act.delivery;
                let receiver = match vector[target.index()] {
                    // No machine sends to one that does not exist: the network is empty.
                    LocalStateId::ABSENT => self.memo.empty_network(target),
                    local => local,
                };
                let Reaction { only, first, n } = self.memo.reaction(receiver, message);
                standing.n_enabled += n_needed;
                if !act.next.is_absent() && only.extra == 0 {
                    if self.skips_stutter && only.next == receiver && act.next == local {
                        standing.n_stuttering += 1;
                        return;
                    }
                    let delta = only.delta.wrapping_add(act.delta);
                    let changes = &[(target, only.next), (slot, act.next)];
                    let by = Move { slot, delivered: 0, own: 0 };
                    return sink.successor(vector, Successor { delta, changes, by, hot: 0, cold: 0 });
                }
                if n == 0 {
                    return self.miss(slot);
                }
                let mut n_left = LOOK_AFTER;
                for delivered in 0..n {
                    if self.must_stop(act.n as usize, &mut n_left) {
                        return;
                    }
                    let reaction = self.memo.outs[(first + delivered) as usize];
                    if reaction.extra != 0 {
                        if let End::Cut(cut) = self.memo.extras[reaction.extra as usize].end {
                            sink.cut(cut);
                        }
                        continue;
                    }
                    for own in 0..act.n {
                        let out = self.memo.outs[(act.first + own) as usize];
                        let delta = reaction.delta.wrapping_add(out.delta);
                        let by = Move { slot, delivered, own };
                        if out.extra == 0 {
                            if self.skips_stutter && reaction.next == receiver && out.next == local {
                                standing.n_stuttering += 1;
                                continue;
                            }
                            let changes = &[(target, reaction.next), (slot, out.next)];
                            sink.successor(vector, Successor { delta, changes, by, hot: 0, cold: 0 });
                        } else {
                            self.changes.clear();
                            self.changes.push((target, reaction.next));
                            self.finish(vector, out, delta, by, sink);
                        }
                    }
                }
                return;
            }
            ActKind::Network => {
                standing.n_machines -= 1;
                let mut is_needed = false;
                let mut n_left = LOOK_AFTER;
                for own in 0..act.n {
                    let n_stuttering = &mut standing.n_stuttering;
                    let n_misses = self.memo.n_misses;
                    is_needed |= self.arrive(vector, slot, act, own, n_stuttering, sink);
                    if self.memo.n_misses != n_misses && self.must_stop(HANDLER, &mut n_left) {
                        return;
                    }
                }
                standing.n_enabled += u32::from(is_needed);
                return;
            }
            ActKind::Create
                if self.max_machines != usize::MAX && self.n_machines(vector) >= self.max_machines =>
            {
                sink.cut(Cut::Machines);
            }
            ActKind::Alone | ActKind::Create => {
                let mut n_left = LOOK_AFTER;
                for own in 0..act.n {
                    if self.must_stop(1, &mut n_left) {
                        break;
                    }
                    let out = self.memo.outs[(act.first + own) as usize];
                    let by = Move { slot, delivered: 0, own };
                    if out.extra == 0 {
                        if self.skips_stutter && out.next == local {
                            standing.n_stuttering += 1;
                            continue;
                        }
                        let changes = &[(slot, out.next)];
                        sink.successor(vector, Successor { delta: out.delta, changes, by, hot: 0, cold: 0 });
                    } else {
                        self.changes.clear();
                        self.finish(vector, out, out.delta, by, sink);
                    }
                }
            }
        }
        standing.n_enabled += n_needed;
    }

    /// With lazy faults, where no machine has to step: whether a machine that need not have crashed waits in `receive`.
    pub fn is_stuck(&mut self, vector: &[LocalStateId]) -> bool {
        let (mut blocked, mut crashed) = (Vec::new(), Vec::new());
        for (slot, &local) in
            vector.iter().enumerate().skip(self.n_monitors).filter(|(_, local)| !local.is_absent())
        {
            let act = self.memo.act(local);
            match act.kind {
                ActKind::Blocked => blocked.push(Slot::new(slot)),
                ActKind::Network => {
                    let outs = &self.memo.outs[act.first as usize..(act.first + act.n) as usize];
                    let brought = outs.iter().map(|out| self.memo.deliveries[out.extra as usize]);
                    crashed.extend(brought.filter(|brought| !brought.is_spare).map(|brought| brought.target));
                }
                ActKind::Unasked
                | ActKind::Rest
                | ActKind::Alone
                | ActKind::Deliver
                | ActKind::Create
                | ActKind::Fault
                | ActKind::Unknown => {}
            }
        }
        blocked.iter().any(|slot| !crashed.contains(slot))
    }

    #[cold]
    fn miss(&mut self, slot: Slot) {
        self.missed |= 1u64.checked_shl(slot.as_u32()).unwrap_or(0);
    }

    /// Bit set of the slots whose steps were postponed since the last call; empty when only part of the steps of a slot was postponed.
    /// `None` when no step was postponed.
    #[inline]
    pub fn take_missed(&mut self) -> Option<u64> {
        match self.memo.take_missed() {
            0 => None,
            n => {
                let slots = std::mem::take(&mut self.missed);
                Some(if n == slots.count_ones() && !self.has_crashes { slots } else { 0 })
            }
        }
    }

    /// Before so many of the outcomes of one step, which may have millions: whether to leave the rest out, since the search will
    /// end. Asked where many are left.
    #[inline]
    fn must_stop(&mut self, n: usize, n_left: &mut usize) -> bool {
        if let Some(left) = n_left.checked_sub(n) {
            *n_left = left;
            return false;
        }
        *n_left = LOOK_AFTER;
        self.is_asked_to_stop()
    }

    #[cold]
    fn is_asked_to_stop(&mut self) -> bool {
        let reason = self.memo.locals().stop_reason();
        let must_stop = reason.is_some();
        if let Some(reason) = reason {
            self.memo.unknown.get_or_insert(reason);
        }
        must_stop
    }

    /// A network brings one of its messages; says whether it has to.
    #[inline]
    fn arrive<S: Sink>(
        &mut self,
        vector: &[LocalStateId],
        slot: Slot,
        act: ActEntry,
        own: u32,
        n_stuttering: &mut u32,
        sink: &mut S,
    ) -> bool {
        let out = self.memo.outs[(act.first + own) as usize];
        let Brought { target, message, is_spare, .. } = self.memo.deliveries[out.extra as usize];
        let receiver = vector[target.index()];
        let (first, n) = self.memo.deliver(receiver, message);
        for delivered in 0..n {
            let reaction = self.memo.outs[(first + delivered) as usize];
            if reaction.extra != 0 {
                if let End::Cut(cut) = self.memo.extras[reaction.extra as usize].end {
                    sink.cut(cut);
                }
                continue;
            }
            if is_spare && reaction.next == receiver {
                *n_stuttering += 1;
                continue;
            }
            let delta = reaction.delta.wrapping_add(out.delta);
            let changes = &[(target, reaction.next), (slot, out.next)];
            let by = Move { slot, delivered, own };
            sink.successor(vector, Successor { delta, changes, by, hot: 0, cold: 0 });
        }
        !is_spare && self.memo.act(receiver).crash != Crash::Late
    }

    /// The rest of a step that is observed, that makes a machine, or that ends otherwise.
    fn finish<S: Sink>(&mut self, vector: &[LocalStateId], out: Out, delta: u64, by: Move, sink: &mut S) {
        let mut delta = delta;
        let (mut hot, mut cold) = (0, 0);
        for place in self.memo.extras[out.extra as usize].observed() {
            let (monitor, message) = self.memo.observed[place];
            let known = self.changes.iter().position(|&(slot, _)| slot == monitor);
            let before = known.map_or_else(|| vector[monitor.index()], |at| self.changes[at].1);
            let heard = self.memo.hear(before, message);
            let bit = 1u64.checked_shl(monitor.as_u32()).unwrap_or(0);
            if heard.extra & HEARD_HOT != 0 {
                hot |= bit;
            }
            if heard.extra & HEARD_COLD != 0 {
                cold |= bit;
            }
            if heard.extra & HEARD_FAULT != 0 {
                return sink.broken(by);
            }
            if heard.extra & HEARD_UNKNOWN != 0 {
                return;
            }
            delta = delta.wrapping_add(heard.delta);
            match known {
                Some(at) => self.changes[at].1 = heard.next,
                None => self.changes.push((monitor, heard.next)),
            }
        }
        let extra = &self.memo.extras[out.extra as usize];
        match extra.end {
            End::Fault => return sink.broken(by),
            End::Cut(cut) => return sink.cut(cut),
            End::Unknown => return,
            End::Stands => {}
        }
        let birth = extra.birth;
        if let Some((slot, local, hash)) = extra.created {
            self.changes.push((slot, local));
            delta = delta.wrapping_add(hash);
        }
        // Of an empty network there is nothing to know.
        if let Some((network, op)) = birth
            && !vector[network.index()].is_absent()
        {
            let (first, n) = self.memo.deliver(vector[network.index()], op);
            if n == 0 {
                // It was put off.
                return;
            }
            let known = self.memo.outs[first as usize];
            self.changes.push((network, known.next));
            delta = delta.wrapping_add(known.delta);
        }
        self.changes.push((by.slot, out.next));
        sink.successor(vector, Successor { delta, changes: &self.changes, by, hot, cold });
    }
}

/// The fingerprint of a vector, from nothing.
pub(crate) fn fingerprint(locals: &super::local::states::LocalStates, vector: &[LocalStateId]) -> u64 {
    vector
        .iter()
        .filter(|&&local| !local.is_absent())
        .fold(0, |sum, &local| sum.wrapping_add(locals.hash(local)))
}

/// Writes the successor of `from` to the end of `out`, which has room for `stride` slots a vector.
#[inline]
pub(crate) fn write_successor(
    from: &[LocalStateId],
    changes: &[(Slot, LocalStateId)],
    stride: usize,
    out: &mut Vec<LocalStateId>,
) {
    let start = out.len();
    out.extend_from_slice(from);
    out.resize(start + stride, LocalStateId::ABSENT);
    for &(slot, local) in changes {
        out[start + slot.index()] = local;
    }
}
