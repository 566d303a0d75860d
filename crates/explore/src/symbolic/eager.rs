//! Eager handling: a machine handles a message although it has not made all the sends of earlier handlers.
//!
//! The kernel is *patient*: a machine stops before each send, and what arrives meanwhile waits in its inbox, in every order. Here the machine
//! runs on alone, and what it will do is kept in its *outbox*, a queue of segments: at most one delivery or creation, and what monitors
//! observe with it. A step makes the first segment of an outbox. Local work commutes with everything outside of the machine, and
//! segments take effect in their order, so both variants have the same runs: the same deliveries in the same order in each inbox, the same
//! observations of each monitor, the same terminal configurations (docs/semantics.md, section 8). A machine that counts votes while it
//! still asks for others has one state for each count instead of one for each sequence of votes that may wait.
//!
//! A machine runs on only where no fault and no bound ends what it does. Where it makes choices of its own on the way, these are made
//! early, and the slot has a value for each: a choice commutes with everything outside of the machine just as other local work does.
//! A machine with [`MOST_WAYS`] open at once, or [`MOST_SEGMENTS`] in its outbox, as before an endless loop of sends, stops and is patient. So
//! outboxes are finite where inboxes are.
//!
//! A configuration of the search *stands for* those of the kernel in which each machine has its outbox before it: they become equal when
//! every machine runs on. Runs are followed step by step in the kernel's configurations ([`MemoSteps::stands_for`]).

use std::rc::Rc;

use allways_machine::{Pending, Status};
use rustc_hash::FxHashMap;

use super::steps::{Action, MemoSteps};
use crate::search::local::entries::{ActEntry, ActKind, End};
use crate::search::local::states::{Ending, InputId, LocalStateId, Owner, Slot};

/// Segments of an outbox beyond which a machine waits until some are done.
const MOST_SEGMENTS: usize = 64;
/// Ways that the choices behind the segments of an outbox may go, together, beyond which a machine waits until some are done.
const MOST_WAYS: u32 = 64;

/// The outbox without segments.
pub(super) const NOTHING_AHEAD: u32 = 0;

/// One step of a machine, without what becomes of the machine.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Segment {
    /// Slot and message, or network and operation. The slot may be the machine's own.
    pub deliver: Option<(Slot, InputId)>,
    /// Monitor and message.
    pub observed: Box<[(Slot, InputId)]>,
    pub created: Option<(Slot, LocalStateId)>,
    pub birth: Option<(Slot, InputId)>,
}

/// What is in a slot: an outbox, and the local state behind it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Ahead {
    pub outbox: u32,
    pub local: LocalStateId,
}

impl Ahead {
    /// A local state of the kernel.
    pub fn at(local: LocalStateId) -> Self {
        Ahead { outbox: NOTHING_AHEAD, local }
    }
}

/// A segment in an outbox.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Waiting {
    segment: u32,
    /// How many ways there were to run on by this or another segment.
    n_ways: u32,
}

/// A segment and the rest of an outbox.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Link {
    first: Waiting,
    rest: u32,
}

/// Segments that a machine may make next, and where it stands after each.
type Next = Rc<[(u32, LocalStateId)]>;

/// All outboxes, as lists that share their ends.
#[derive(Default)]
pub(crate) struct Outboxes {
    /// Machines handle eagerly.
    pub is_on: bool,
    segments: Vec<Segment>,
    segment_index: FxHashMap<Segment, u32>,
    /// By number less one.
    links: Vec<Link>,
    link_index: FxHashMap<Link, u32>,
    /// By local state: how it runs on, unless it has to be patient.
    next: FxHashMap<LocalStateId, Option<Next>>,
    /// Local steps computed beside the memo.
    pub n_runs: u64,
}

impl Outboxes {
    fn segment(&mut self, segment: Segment) -> u32 {
        let next = self.segments.len() as u32;
        let number = *self.segment_index.entry(segment.clone()).or_insert(next);
        if number == next {
            self.segments.push(segment);
        }
        number
    }

    /// The first segment of an outbox that is not empty, and the rest.
    pub fn first(&self, outbox: u32) -> (&Segment, u32) {
        let Link { first, rest } = self.links[outbox as usize - 1];
        (&self.segments[first.segment as usize], rest)
    }

    fn all(&self, outbox: u32) -> Vec<Waiting> {
        let mut all = Vec::new();
        let mut at = outbox;
        while at != NOTHING_AHEAD {
            let Link { first, rest } = self.links[at as usize - 1];
            all.push(first);
            at = rest;
        }
        all
    }

    fn outbox(&mut self, segments: &[Waiting]) -> u32 {
        let mut outbox = NOTHING_AHEAD;
        for &first in segments.iter().rev() {
            let link = Link { first, rest: outbox };
            let next = self.links.len() as u32 + 1;
            outbox = *self.link_index.entry(link).or_insert(next);
            if outbox == next {
                self.links.push(link);
            }
        }
        outbox
    }

    pub fn n_bytes(&self) -> usize {
        self.segments.capacity() * (2 * size_of::<Segment>() + 24)
            + self.links.capacity() * (2 * size_of::<Link>() + 8)
            + self.next.capacity() * 20
    }

    /// Local states that machines run through: they stop there in the kernel, but for what has arrived meanwhile.
    pub fn passed(&self) -> impl Iterator<Item = LocalStateId> + '_ {
        self.next.iter().filter(|(_, next)| next.is_some()).map(|(&local, _)| local)
    }
}

/// Whether another segment may come behind these, in so many ways.
fn has_room(segments: &[Waiting], n_ways: usize) -> bool {
    let ways = segments.iter().fold(n_ways as u32, |ways, waiting| ways.saturating_mul(waiting.n_ways));
    segments.len() < MOST_SEGMENTS && (n_ways == 1 || ways <= MOST_WAYS)
}

impl MemoSteps<'_> {
    /// Whether the owner of a slot may have an outbox.
    pub(super) fn is_eager(&mut self, slot: u32) -> bool {
        self.outboxes.is_on
            && !self.blocks.is_split(slot)
            && matches!(self.owner(slot), Some(Owner::Machine(_)))
    }

    /// Runs on behind an outbox for as long as it is certain what comes, whatever is chosen: all that it may come to.
    pub(super) fn run_on(&mut self, slot: u32, from: Ahead) -> Vec<Ahead> {
        if self.next_segments(slot, from.local).is_none() {
            return vec![from];
        }
        let mut found = Vec::new();
        let mut open = vec![(self.outboxes.all(from.outbox), from.local)];
        while let Some((segments, local)) = open.pop() {
            let next = self.next_segments(slot, local).filter(|next| has_room(&segments, next.len()));
            let Some(next) = next else {
                found.push(Ahead { outbox: self.outboxes.outbox(&segments), local });
                continue;
            };
            let n_ways = next.len() as u32;
            open.extend(next.iter().rev().map(|&(segment, after)| {
                let mut segments = segments.clone();
                segments.push(Waiting { segment, n_ways });
                (segments, after)
            }));
        }
        found
    }

    /// The segments that may come behind a local state, and where the machine stands after each; `None` if it has to be patient.
    fn next_segments(&mut self, slot: u32, local: LocalStateId) -> Option<Next> {
        if let Some(known) = self.outboxes.next.get(&local) {
            return known.clone();
        }
        let all: Option<Vec<(u32, LocalStateId)>> = self.segments_of(slot, local).into_iter().collect();
        let next = all.filter(|all| !all.is_empty()).map(|mut all| {
            all.sort_unstable();
            all.dedup();
            Next::from(all)
        });
        self.outboxes.next.insert(local, next.clone());
        next
    }

    /// What a machine in a local state may do before it rests: segments, and where it stands after each; `None` for what ends otherwise.
    fn segments_of(&mut self, slot: u32, local: LocalStateId) -> Vec<Option<(u32, LocalStateId)>> {
        let (is_pending, to_itself) = {
            let mut locals = self.expander.memo.locals();
            let own = matches!(self.owners.get(slot as usize), Some(Owner::Machine(_)));
            let owner = locals.owner_of(local);
            match locals.local(local).status {
                Status::Pending(Pending::Deliver { target, message })
                    if own && owner == Owner::Machine(target) =>
                {
                    let message = locals.message(message);
                    (true, Some(message))
                }
                Status::Pending(Pending::Deliver { .. } | Pending::Create { .. } | Pending::Observe) => {
                    (own, None)
                }
                Status::Pending(_) | Status::Idle | Status::Blocked { .. } | Status::Halted => (false, None),
            }
        };
        if !is_pending {
            return Vec::new();
        }
        if let Some(message) = to_itself {
            return self.segments_to_itself(slot, local, message);
        }
        let act = self.expander.memo.act(local);
        (act.first..act.first + act.n).map(|out| self.segment_of(act, out)).collect()
    }

    fn segment_of(&mut self, act: ActEntry, out: u32) -> Option<(u32, LocalStateId)> {
        let memo = &self.expander.memo;
        let out = memo.outs[out as usize];
        let deliver = match act.kind {
            ActKind::Deliver => Some(act.delivery),
            ActKind::Alone | ActKind::Create => None,
            _ => return None,
        };
        let mut segment = Segment { deliver, observed: Box::default(), created: None, birth: None };
        if out.extra != 0 {
            let extra = memo.extras[out.extra as usize];
            if extra.end != End::Stands {
                return None;
            }
            segment.observed = memo.observed[extra.observed()].into();
            segment.created = extra.created.map(|(created, local, _)| (created, local));
            segment.birth = extra.birth;
        }
        Some((self.outboxes.segment(segment), out.next))
    }

    /// The same for a machine that is about to send to itself: what it sends reaches it when it is done, behind all that came before.
    fn segments_to_itself(
        &mut self,
        slot: u32,
        local: LocalStateId,
        message: InputId,
    ) -> Vec<Option<(u32, LocalStateId)>> {
        let mut locals = self.expander.memo.locals();
        if !locals.exe.network.is_default() {
            return Vec::new();
        }
        let outcomes = locals.act_undelivered(local).unwrap_or_default();
        drop(locals);
        self.outboxes.n_runs += 1;
        let segment = |outcome: crate::search::local::states::LocalOutcome| {
            let Ending::Stands(next) = outcome.end else { return None };
            let observed = outcome.observed.iter().copied().collect();
            let segment = Segment {
                deliver: Some((Slot::from_u32(slot), message)),
                observed,
                created: None,
                birth: None,
            };
            Some((self.outboxes.segment(segment), next))
        };
        outcomes.into_iter().map(segment).collect()
    }

    /// Whether what is in a slot is what the kernel's local state becomes when the machine runs on.
    pub(crate) fn stands_for(&mut self, slot: u32, value: u32, local: LocalStateId) -> bool {
        let ahead = self.state(slot, value);
        if !self.is_eager(slot) || ahead.outbox == NOTHING_AHEAD {
            return ahead.local == local;
        }
        let mut found = vec![local];
        for Waiting { segment, .. } in self.outboxes.all(ahead.outbox) {
            let mut next = Vec::new();
            for local in found {
                let all = self.segments_of(slot, local);
                next.extend(all.into_iter().flatten().filter(|one| one.0 == segment).map(|one| one.1));
            }
            next.sort_unstable();
            next.dedup();
            found = next;
        }
        found.contains(&ahead.local)
    }

    /// The other parties of the step that makes a segment, but for a delivery to the machine itself.
    pub(super) fn parties_of(&mut self, slot: u32, segment: &Segment) -> Vec<(u32, u32)> {
        let mut parties = Vec::new();
        if let Some((target, message)) = segment.deliver.filter(|&(target, _)| target.as_u32() != slot) {
            parties.push((target.as_u32(), self.action(Action::Deliver(message))));
        }
        self.add_observers(&segment.observed, Action::Observe, &mut parties);
        if let Some((created, local)) = segment.created {
            parties.push((created.as_u32(), self.action(Action::Create(local))));
        }
        if let Some((network, operation)) = segment.birth {
            parties.push((network.as_u32(), self.action(Action::NoteCreation(operation))));
        }
        parties
    }
}
