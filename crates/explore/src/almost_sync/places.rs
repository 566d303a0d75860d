//! Places: local states of machines and monitors in this engine, and the local steps from them.
//!
//! A place is a local state (see `search::local`) and a *tail*. Without over-approximation there is no tail. With it, messages beyond the
//! bound are not kept in the inbox in order: the tail is the set of them, and the inbox is followed by any sequence of messages of that set.
//! Whenever the machine finds nothing to take in the known part of its inbox, it may find any message of the tail, or none. So
//! a local step has more outcomes, and those of the real machine are among them.

use std::rc::Rc;
use std::sync::Arc;

use allways_machine::{Executable, Pending, Status};
use allways_run::StopReason;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::search::local::entries::{InputId, Slot};
use crate::search::local::states::{
    Act, Answer, Ending, LOOK_AFTER, LocalOutcome, LocalStateId, LocalStates, Owner,
};

/// In a slot: there is no such machine.
pub(crate) const ABSENT: u32 = 0;
/// In a slot: the machine is blocked or has halted.
pub(crate) const GONE: u32 = u32::MAX;

/// More outcomes of one local step under over-approximation are too many.
const MAX_OUTCOMES: usize = 20_000;
/// So is more memory for them: messages that a machine keeps in a collection lead to larger and larger values.
const MAX_OUTCOME_BYTES: usize = 64 << 20;

/// What a machine can do where it stands.
#[derive(Debug)]
pub(crate) struct Head {
    pub kind: HeadKind,
    /// It waits for messages.
    pub is_receiving: bool,
    /// Slots that its step touches, if all machines exist.
    pub targets: Box<[Slot]>,
    /// The delivery that comes first: slot and message.
    pub deliver: Option<(Slot, InputId)>,
    pub outcomes: Box<[Own]>,
    /// Its own message to itself has to wait.
    pub waits_itself: bool,
    /// Whatever comes of its step, it stands as before, and has created no machine.
    pub returns: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum HeadKind {
    Rests,
    Moves,
    Fault,
    Unknown(StopReason),
}

/// One outcome of a machine's own part of a step.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Own {
    pub end: End,
    pub answers: Box<[u32]>,
    pub observed: Box<[(Slot, InputId)]>,
    pub created: Option<(Slot, u32)>,
}

/// Where a local step leads.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum End {
    At(u32),
    Fault,
    Unknown(StopReason),
}

/// What a receiver does with a message.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Reaction {
    pub end: End,
    pub answers: Box<[u32]>,
}

pub(crate) struct Places<'c> {
    pub locals: LocalStates<'c>,
    exe: Arc<Executable>,
    /// Messages kept in order in an inbox; the rest is a tail.
    bound: Option<u32>,
    places: Vec<(LocalStateId, u32)>,
    index: FxHashMap<(LocalStateId, u32), u32>,
    tails: Vec<Rc<[InputId]>>,
    tail_index: FxHashMap<Rc<[InputId]>, u32>,
    heads: Vec<Option<Rc<Head>>>,
    reactions: FxHashMap<(u32, InputId), Rc<[Reaction]>>,
    heard: FxHashMap<(u32, InputId), End>,
    /// Some tail was made.
    pub is_approximate: bool,
}

impl<'c> Places<'c> {
    pub fn new(exe: &Arc<Executable>, locals: LocalStates<'c>, bound: Option<u32>) -> Self {
        let nothing: Rc<[InputId]> = Rc::new([]);
        Places {
            locals,
            exe: exe.clone(),
            bound,
            places: vec![(LocalStateId::ABSENT, 0)],
            index: FxHashMap::default(),
            tails: vec![nothing.clone()],
            tail_index: FxHashMap::from_iter([(nothing, 0)]),
            heads: vec![None],
            reactions: FxHashMap::default(),
            heard: FxHashMap::default(),
            is_approximate: false,
        }
    }

    /// Memory in use, roughly.
    pub fn n_bytes(&self) -> usize {
        self.locals.n_bytes()
            + self.places.capacity() * 32
            + self.heads.len() * 150
            + self.reactions.capacity() * 80
            + self.heard.capacity() * 40
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn local(&self, place: u32) -> LocalStateId {
        self.places[place as usize].0
    }

    /// The place of a local state without tail.
    pub fn of_local(&mut self, local: LocalStateId) -> u32 {
        self.place(local, 0)
    }

    fn place(&mut self, local: LocalStateId, tail: u32) -> u32 {
        // A halted machine is the same whatever waits.
        let tail = if self.locals.is_halted(local) { 0 } else { tail };
        let next = self.places.len() as u32;
        let place = *self.index.entry((local, tail)).or_insert(next);
        if place == next {
            self.places.push((local, tail));
            self.heads.push(None);
        }
        place
    }

    pub fn is_halted(&self, place: u32) -> bool {
        self.locals.is_halted(self.places[place as usize].0)
    }

    fn with_tail(&mut self, tail: u32, message: InputId) -> u32 {
        self.is_approximate = true;
        let known = &self.tails[tail as usize];
        let Err(at) = known.binary_search(&message) else { return tail };
        let mut more = known.to_vec();
        more.insert(at, message);
        let more: Rc<[InputId]> = more.into();
        let next = self.tails.len() as u32;
        let number = *self.tail_index.entry(more.clone()).or_insert(next);
        if number == next {
            self.tails.push(more);
        }
        number
    }

    /// The messages of the tail.
    pub fn tail(&self, place: u32) -> &[InputId] {
        &self.tails[self.places[place as usize].1 as usize]
    }

    /// Messages kept in order, if the rest is a tail.
    pub fn bound(&self) -> Option<u32> {
        self.bound.filter(|_| self.is_approximate)
    }

    /// How many messages wait in order, and whether there may be more.
    pub fn n_waiting(&self, place: u32) -> u32 {
        let (local, tail) = self.places[place as usize];
        self.locals.local(local).inbox.len() as u32 + self.tails[tail as usize].len() as u32
    }

    /// Whether a message that is delivered now is kept for later.
    pub fn must_wait(&self, place: u32, message: InputId) -> bool {
        self.locals.must_wait(self.places[place as usize].0, message)
    }

    /// Whether the reaction to a message is to stand as before.
    pub fn is_unmoved(&mut self, place: u32, message: InputId) -> bool {
        if self.must_wait(place, message) {
            // It is seen in the inbox, but not in a tail that has it already.
            return self.tail(place).contains(&message);
        }
        self.react(place, message).iter().all(|reaction| reaction.end == End::At(place))
    }

    /// Whether two messages lead to the same place in whichever order they come, with one outcome each.
    pub fn commute(&mut self, place: u32, first: InputId, second: InputId) -> bool {
        let mut both = |one: InputId, other: InputId| {
            let after = self.only_reaction(place, one)?;
            self.only_reaction(after, other)
        };
        both(first, second).is_some_and(|end| both(second, first) == Some(end))
    }

    /// Where a message leads if it can lead to one place only, and the machine goes on there.
    fn only_reaction(&mut self, place: u32, message: InputId) -> Option<u32> {
        match &*self.react(place, message) {
            [Reaction { end: End::At(next), .. }] if !self.is_halted(*next) => Some(*next),
            _ => None,
        }
    }

    pub fn head(&mut self, slot: Slot, place: u32) -> Rc<Head> {
        if let Some(head) = &self.heads[place as usize] {
            return head.clone();
        }
        let mut head = self.work_out_head(slot, place);
        head.returns = head.kind == HeadKind::Moves
            && head.outcomes.iter().all(|own| own.end == End::At(place) && own.created.is_none());
        let head = Rc::new(head);
        self.heads[place as usize] = Some(head.clone());
        head
    }

    fn work_out_head(&mut self, slot: Slot, place: u32) -> Head {
        let (local, tail) = self.places[place as usize];
        let mut head = Head {
            kind: HeadKind::Rests,
            is_receiving: false,
            targets: Box::default(),
            deliver: None,
            outcomes: Box::default(),
            waits_itself: false,
            returns: false,
        };
        let status = self.locals.local(local).status;
        let n_waiting = self.locals.local(local).inbox.len();
        head.is_receiving = matches!(status, Status::Idle | Status::Blocked { .. });
        let to_itself = match status {
            Status::Pending(Pending::Deliver { target, message })
                if self.locals.owner_of(local) == Owner::Machine(target) =>
            {
                Some(message)
            }
            _ => None,
        };
        if let Some(message) = to_itself
            && self.bound.is_some_and(|bound| tail != 0 || n_waiting as u32 >= bound)
        {
            // Its message comes after those of the tail, which the kernel does not know.
            let message = self.locals.message(message);
            let tail = self.with_tail(tail, message);
            match self.locals.act_undelivered(local) {
                Ok(outcomes) => self.moves(&mut head, vec![slot], &outcomes, tail),
                Err(reason) => head.kind = HeadKind::Unknown(reason),
            }
            head.waits_itself = true;
            return head;
        }
        match &self.locals.act(local) {
            // Networks other than inboxes are refused beforehand.
            Act::Rest { .. } | Act::Network(_) => {}
            Act::Fault => head.kind = HeadKind::Fault,
            Act::Unknown(reason) => head.kind = HeadKind::Unknown(reason.clone()),
            Act::Step { deliver, outcomes, .. } => {
                head.deliver = *deliver;
                let mut targets: Vec<Slot> = deliver.iter().map(|&(slot, _)| slot).collect();
                if to_itself.is_some() || status == Status::Idle {
                    targets.push(slot);
                }
                head.waits_itself = to_itself.is_some()
                    && outcomes.iter().any(|outcome| match outcome.end {
                        Ending::Stands(next) => self.locals.local(next).inbox.len() > n_waiting,
                        Ending::Cut(_) | Ending::Fault(..) | Ending::Unknown(_) => false,
                    });
                self.moves(&mut head, targets, outcomes, tail);
            }
        }
        head
    }

    /// The machine can make a step, with these outcomes but for what it finds in its tail afterwards.
    fn moves(&mut self, head: &mut Head, mut targets: Vec<Slot>, outcomes: &[LocalOutcome], tail: u32) {
        head.kind = HeadKind::Moves;
        let mut own = Vec::new();
        for (number, outcome) in outcomes.iter().enumerate() {
            if number % LOOK_AFTER == LOOK_AFTER - 1
                && let Some(reason) = self.locals.stop_reason()
            {
                head.kind = HeadKind::Unknown(reason);
                return;
            }
            targets.extend(outcome.observed.iter().map(|&(monitor, _)| monitor));
            let observed: Box<[(Slot, InputId)]> = (*outcome.observed).into();
            let created = outcome.created.map(|(slot, local)| (slot, self.of_local(local)));
            let answers: Vec<u32> = outcome.answers().map(|answer| answer.answer).collect();
            for (end, more) in self.ends(&outcome.end, tail) {
                let answers = answers.iter().copied().chain(more).collect();
                own.push(Own { end, answers, observed: observed.clone(), created });
            }
        }
        targets.sort_unstable();
        targets.dedup();
        head.targets = targets.into();
        head.outcomes = own.into();
    }

    /// What a machine does when a message reaches it.
    pub fn react(&mut self, place: u32, message: InputId) -> Rc<[Reaction]> {
        if let Some(known) = self.reactions.get(&(place, message)) {
            return known.clone();
        }
        let (local, tail) = self.places[place as usize];
        let n_waiting = self.locals.local(local).inbox.len() as u32;
        let is_full = self.bound.is_some_and(|bound| tail != 0 || n_waiting >= bound);
        let reactions: Rc<[Reaction]> = if is_full && self.locals.must_wait(local, message) {
            let tail = self.with_tail(tail, message);
            let end = End::At(self.place(local, tail));
            Rc::new([Reaction { end, answers: Box::default() }])
        } else {
            let delivered = self.locals.deliver(local, message);
            let mut all = Vec::new();
            for outcome in delivered.iter() {
                let answers = numbers(&outcome.answers);
                for (end, more) in self.ends(&outcome.end, tail) {
                    let answers = answers.iter().copied().chain(more).collect();
                    all.push(Reaction { end, answers });
                }
            }
            all.into()
        };
        self.reactions.insert((place, message), reactions.clone());
        reactions
    }

    /// What a monitor does with an observation.
    pub fn hear(&mut self, place: u32, message: InputId) -> End {
        if let Some(known) = self.heard.get(&(place, message)) {
            return known.clone();
        }
        let local = self.places[place as usize].0;
        let end = match self.locals.observe(local, message).end {
            Ending::Stands(local) => End::At(self.of_local(local)),
            Ending::Fault(..) => End::Fault,
            Ending::Unknown(reason) => End::Unknown(reason),
            Ending::Cut(_) => unreachable!("a monitor has no inbox, and there are no bounds"),
        };
        self.heard.insert((place, message), end.clone());
        end
    }

    /// Where a machine may stand after a local step, with the answers to choices made on the way. If it rests, it may have
    /// taken messages of its tail.
    fn ends(&mut self, end: &Ending, tail: u32) -> Vec<(End, Vec<u32>)> {
        let local = match end {
            Ending::Stands(local) => *local,
            Ending::Fault(..) => return vec![(End::Fault, Vec::new())],
            Ending::Unknown(reason) => return vec![(End::Unknown(reason.clone()), Vec::new())],
            Ending::Cut(_) => unreachable!("there are no bounds"),
        };
        if tail == 0 {
            return vec![(End::At(self.place(local, 0)), Vec::new())];
        }
        let messages = self.tails[tail as usize].clone();
        let mut known = FxHashSet::from_iter([local]);
        let mut open = vec![(local, Vec::new())];
        let mut found = Vec::new();
        let bytes_before = self.locals.n_bytes();
        while let Some((local, answers)) = open.pop() {
            if found.len() % 64 == 63
                && let Some(reason) = self.locals.stop_reason()
            {
                return vec![(End::Unknown(reason), Vec::new())];
            }
            found.push((End::At(self.place(local, tail)), answers.clone()));
            if !matches!(self.locals.local(local).status, Status::Idle | Status::Blocked { .. }) {
                continue;
            }
            for &message in messages.iter() {
                if self.locals.must_wait(local, message) {
                    continue;
                }
                for outcome in self.locals.deliver(local, message).iter() {
                    match &outcome.end {
                        Ending::Stands(next) => {
                            if known.insert(*next) {
                                let more = numbers(&outcome.answers);
                                open.push((*next, answers.iter().copied().chain(more).collect()));
                            }
                        }
                        Ending::Unknown(reason) => found.push((End::Unknown(reason.clone()), Vec::new())),
                        Ending::Fault(..) | Ending::Cut(_) => {
                            unreachable!("a delivery ends before faults, and there are no bounds")
                        }
                    }
                }
            }
            let bytes = self.locals.n_bytes().saturating_sub(bytes_before);
            if known.len() > MAX_OUTCOMES || bytes > MAX_OUTCOME_BYTES {
                let why = "the messages of an over-approximated inbox lead to too many local states; try `--flood off` or a \
                           larger `--flood N`";
                return vec![(End::Unknown(StopReason::Undecided { why: why.to_owned() }), Vec::new())];
            }
        }
        found
    }

    /// The machine of a slot, for people.
    pub fn machine_name(&self, slot: Slot, place: u32) -> String {
        let machine = self.locals.local(self.local(place)).machine;
        let path = match self.locals.owner(slot) {
            Owner::Machine(instance) => self.exe.instance_path(instance),
            Owner::Monitor(_) | Owner::Network(_) => String::new(),
        };
        format!("{}({path})", self.exe.machine_name(machine))
    }
}

fn numbers(answers: &[Answer]) -> Vec<u32> {
    answers.iter().map(|answer| answer.answer).collect()
}
