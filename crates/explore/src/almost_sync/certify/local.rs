//! What machines and monitors do where they stand, each by itself: the kernel works it out once for each place.
//!
//! A place is a number: that of the file, or a later one if the file does not have it, and then no state does. Whatever breaks or
//! cannot be continued is kept as such; it counts when that step is taken.

use std::rc::Rc;
use std::sync::Arc;

use allways_machine::content::{live_words, words};
use allways_machine::encode::{encode_message, encode_whole};
use allways_machine::ir::{EventId, InterfaceId};
use allways_machine::{
    Alone, Executable, Kernel, KnownValues, Local, Message, Outcome, Pending, Silent, Status, must_wait,
};
use allways_run::{InstanceId, Limits};
use rustc_hash::FxHashMap;

use super::file::File;
use super::{ABSENT, GONE};
use crate::almost_sync::certificate::{hex, place_text};

/// More resolutions of the choices of one step are too many.
const MAX_WAYS: usize = 100_000;

/// A place, or why there is none.
pub(crate) type End = Result<u32, Box<str>>;

/// Monitors and the messages that they hear of, in order.
type Observed = Rc<[(u32, u32)]>;

/// The messages of a tail, by their bytes.
type Tail = Rc<[(String, u32)]>;

/// What a machine can do where it stands.
pub(crate) struct Head {
    /// It waits for messages.
    pub receives: bool,
    /// It can make a step.
    pub moves: bool,
    /// Slots that its step touches, if all machines exist.
    pub touches: Vec<u32>,
    /// What it delivers to another machine: slot and message.
    pub deliver: Option<(u32, u32)>,
    pub ways: Vec<Branch>,
    /// The slot of the machine that its step makes.
    pub creates: Option<u32>,
}

/// One outcome of a machine's own part of a step.
#[derive(Clone, PartialEq)]
pub(crate) struct Branch {
    pub end: End,
    pub observed: Observed,
    /// Slot and place.
    pub created: Option<(u32, u32)>,
}

/// A local state.
#[derive(Clone)]
struct Standing {
    slot: u32,
    local: Local,
    tail: Tail,
}

type Key = (u32, Tail, Box<[u64]>);

pub(crate) struct Places<'t> {
    exe: Arc<Executable>,
    kernel: Kernel<'static>,
    file: &'t File<'t>,
    sorted: KnownValues,
    /// By slot, without monitors.
    machines: Vec<InstanceId>,
    slots: FxHashMap<InstanceId, u32>,
    /// Places by slot, tail and words.
    known: FxHashMap<Key, u32>,
    /// By place.
    standing: Vec<Option<Standing>>,
    heads: Vec<Option<Rc<Head>>>,
    reactions: FxHashMap<(u32, u32), Rc<[End]>>,
    heard: FxHashMap<(u32, u32), End>,
    messages: Vec<Message>,
    message_index: FxHashMap<(EventId, u64), u32>,
}

impl<'t> Places<'t> {
    pub fn new(exe: &Arc<Executable>, file: &'t File<'t>, limits: Limits) -> Result<Self, String> {
        // The creator of a machine has made those before it, which are in the file, too.
        let is_there = |place: &str| place.parse().is_ok_and(|place: usize| place < file.machines.len());
        let machine = |path: &&str| {
            let machine = path.split('.').all(is_there).then(|| exe.instance_at(path))??;
            (exe.instance_path(machine) == **path).then_some(machine)
        };
        let machines: Option<Vec<InstanceId>> = file.machines.iter().map(machine).collect();
        let machines = machines.ok_or("a machine without a path")?;
        let slots = machines.iter().zip(exe.monitors.len() as u32..);
        let slots: FxHashMap<InstanceId, u32> = slots.map(|(&machine, slot)| (machine, slot)).collect();
        if slots.len() < machines.len() || machines.first() != Some(&InstanceId::MAIN) {
            return Err("its machines are not in order".to_owned());
        }
        let n_places = file.places.len() + 1;
        Ok(Places {
            exe: exe.clone(),
            kernel: Kernel::new(exe.clone(), limits),
            file,
            sorted: KnownValues::default(),
            machines,
            slots,
            known: FxHashMap::default(),
            standing: vec![None; n_places],
            heads: vec![None; n_places],
            reactions: FxHashMap::default(),
            heard: FxHashMap::default(),
            messages: Vec::new(),
            message_index: FxHashMap::default(),
        })
    }

    /// The states in which the program begins: monitors start, then the main machine.
    pub fn begin(&mut self) -> Result<Vec<Vec<u32>>, String> {
        let main = self.kernel.configuration().local(InstanceId::MAIN).clone();
        self.kernel.start_monitors_alone(&mut Silent);
        self.outcome()?;
        let n_monitors = self.exe.monitors.len() as u32;
        let mut vector = vec![ABSENT; self.file.n_slots as usize];
        for monitor in 0..n_monitors {
            let local = self.kernel.configuration().monitors[monitor as usize].clone();
            vector[monitor as usize] = self.place(monitor, local, &Rc::default());
        }
        let first = self.kernel.step_alone(InstanceId::MAIN, &main, &mut Silent);
        let mut found = Vec::new();
        for (end, observed) in self.ways(n_monitors, Some(main.interface), first, &Rc::default())? {
            let mut vector = vector.clone();
            for &(monitor, message) in observed.iter() {
                vector[monitor as usize] = self.hear(vector[monitor as usize], message)?;
            }
            vector[n_monitors as usize] = end?;
            found.push(vector);
        }
        Ok(found)
    }

    /// How a machine that was met stands.
    pub fn local(&self, place: u32) -> Result<&Local, String> {
        self.standing(place).map(|standing| &standing.local)
    }

    fn standing(&self, place: u32) -> Result<&Standing, String> {
        let standing = self.standing.get(place as usize).and_then(Option::as_ref);
        standing.ok_or_else(|| "a place that is never reached".to_owned())
    }

    /// What the file would say of a place that it does not have.
    pub fn missing(&self, place: u32) -> Option<String> {
        if place == GONE || (place as usize) <= self.file.places.len() {
            return None;
        }
        self.standing(place).ok().map(|standing| self.text(standing.slot, &standing.local, &standing.tail))
    }

    pub fn head(&mut self, place: u32) -> Result<Rc<Head>, String> {
        if let Some(Some(head)) = self.heads.get(place as usize) {
            return Ok(head.clone());
        }
        let head = Rc::new(self.work_out_head(place)?);
        self.heads[place as usize] = Some(head.clone());
        Ok(head)
    }

    fn work_out_head(&mut self, place: u32) -> Result<Head, String> {
        let Standing { slot, local, tail } = self.standing(place)?.clone();
        let n_monitors = self.exe.monitors.len() as u32;
        let machine = slot.checked_sub(n_monitors).and_then(|at| self.machines.get(at as usize));
        let machine = *machine.ok_or("not a machine of the program")?;
        let mut head = Head {
            receives: matches!(local.status, Status::Idle | Status::Blocked { .. }),
            moves: true,
            touches: Vec::new(),
            deliver: None,
            ways: Vec::new(),
            creates: None,
        };
        let mut tail_after = tail.clone();
        let mut payload = None;
        let first = match local.status {
            Status::Halted | Status::Blocked { .. } => {
                head.moves = false;
                return Ok(head);
            }
            Status::Idle if !self.exe.states[local.control].has_null => {
                head.moves = false;
                return Ok(head);
            }
            Status::Pending(Pending::Fault(fault)) => {
                return Err(format!("a violation is reached: {}", fault.kind.as_str()));
            }
            Status::Pending(Pending::Foreign { .. }) => return Err("a run cannot be continued".to_owned()),
            Status::Pending(Pending::Deliver { target, message }) if target == machine => {
                head.touches.push(slot);
                if self.is_full(&local, &tail) {
                    let message = self.message(message);
                    tail_after = self.with(&tail, message);
                    self.kernel.step_undelivered_alone(machine, &local, &mut Silent)
                } else {
                    self.kernel.step_alone(machine, &local, &mut Silent)
                }
            }
            Status::Pending(Pending::Deliver { target, message }) => {
                let target = self.slot(target)?;
                head.touches.push(target);
                head.deliver = Some((target, self.message(message)));
                self.kernel.step_alone(machine, &local, &mut Silent)
            }
            Status::Idle => {
                head.touches.push(slot);
                self.kernel.step_alone(machine, &local, &mut Silent)
            }
            Status::Pending(Pending::Create { payload: given, .. }) => {
                payload = Some(given);
                self.kernel.step_alone(machine, &local, &mut Silent)
            }
            Status::Pending(Pending::Start | Pending::Observe) => {
                self.kernel.step_alone(machine, &local, &mut Silent)
            }
        };
        let newborn = first.created.map(|child| (child, self.kernel.configuration().local(child).clone()));
        let own = self.ways(slot, Some(local.interface), first, &tail_after)?;
        let mut births = vec![None];
        if let Some(((child, newborn), payload)) = newborn.zip(payload) {
            births = match self.slot(child) {
                Ok(slot) => {
                    head.creates = Some(slot);
                    let first = self.kernel.begin_alone(child, &newborn, payload, &mut Silent);
                    let ways = self.ways(slot, None, first, &Rc::default())?;
                    ways.into_iter().map(|(end, _)| Some((slot, end))).collect()
                }
                // No state has it, so that step must not be taken.
                Err(why) => vec![Some((ABSENT, Err(why.into())))],
            };
        }
        for (end, observed) in own {
            head.touches.extend(observed.iter().map(|&(monitor, _)| monitor));
            for birth in &births {
                let way = match birth {
                    None => Branch { end: end.clone(), observed: observed.clone(), created: None },
                    Some((slot, Ok(place))) => {
                        let created = Some((*slot, *place));
                        Branch { end: end.clone(), observed: observed.clone(), created }
                    }
                    Some((_, Err(why))) => {
                        Branch { end: Err(why.clone()), observed: observed.clone(), created: None }
                    }
                };
                head.ways.push(way);
            }
        }
        head.touches.sort_unstable();
        head.touches.dedup();
        Ok(head)
    }

    /// Where a machine may stand when a message has reached it.
    pub fn react(&mut self, place: u32, message: u32) -> Result<Rc<[End]>, String> {
        if let Some(known) = self.reactions.get(&(place, message)) {
            return Ok(known.clone());
        }
        let Standing { slot, local, tail } = self.standing(place)?.clone();
        let sent = self.messages[message as usize];
        let found: Rc<[End]> = if self.is_full(&local, &tail) && must_wait(&self.exe, &local, sent.event) {
            let tail = self.with(&tail, message);
            Rc::new([Ok(self.place(slot, local, &tail))])
        } else {
            let machine = self.machines[slot as usize - self.exe.monitors.len()];
            let first = self.kernel.deliver_alone(machine, &local, sent, 1, &mut Silent);
            self.ways(slot, None, first, &tail)?.into_iter().map(|(end, _)| end).collect()
        };
        self.reactions.insert((place, message), found.clone());
        Ok(found)
    }

    /// Where a monitor stands when it has heard of a message.
    pub fn hear(&mut self, place: u32, message: u32) -> End {
        if let Some(known) = self.heard.get(&(place, message)) {
            return known.clone();
        }
        let Standing { slot, local, tail } = self.standing(place)?.clone();
        self.kernel.observe_alone(slot, &local, self.messages[message as usize], &mut Silent);
        let end = match self.outcome() {
            Ok(()) => {
                let local = self.kernel.configuration().monitors[slot as usize].clone();
                Ok(self.place(slot, local, &tail))
            }
            Err(why) => Err(why),
        };
        self.heard.insert((place, message), end.clone());
        end
    }

    /// Goes on from where the kernel has brought a machine, by every answer to its choices: where it may stand, and what was
    /// observed. Outcomes that meet at a choice go on as one.
    fn ways(
        &mut self,
        slot: u32,
        interface: Option<InterfaceId>,
        first: Alone,
        tail: &Tail,
    ) -> Result<Vec<(End, Observed)>, String> {
        let exe = self.exe.clone();
        let machine = self.machines[slot as usize - exe.monitors.len()];
        let mut found = Vec::new();
        let mut known: FxHashMap<Vec<u64>, usize> = FxHashMap::default();
        // From choice to choice, and those after which there is an end: a handler that comes to none is endless.
        let (mut edges, mut ends): (Vec<(usize, usize)>, Vec<usize>) = (Vec::new(), Vec::new());
        let local = self.kernel.configuration().local(machine).clone();
        let mut open = vec![(first, local, self.outcome(), Vec::new(), None)];
        let mut n_ways = 0;
        while let Some((alone, local, outcome, mut observed, from)) = open.pop() {
            for message in alone.observed {
                let number = self.message(message);
                if let Some(interface) = interface {
                    let monitors = exe.observers(interface, message.event).iter();
                    observed.extend(monitors.map(|&monitor| (monitor, number)));
                }
            }
            let Some(paused) = alone.paused else {
                ends.extend(from);
                match outcome {
                    Err(why) => found.push((Err(why), observed.into())),
                    Ok(()) => {
                        let observed: Observed = observed.into();
                        for place in self.rests(slot, local, tail)? {
                            found.push((Ok(place), observed.clone()));
                        }
                    }
                }
                continue;
            };
            let mut key = vec![u64::from(paused.own), observed.len() as u64];
            key.extend(
                observed.iter().map(|&(monitor, message)| u64::from(monitor) << 32 | u64::from(message)),
            );
            match self.file.simplify.dead_variables {
                true => live_words(&exe, &local, &mut key),
                false => words(&local, &mut key),
            }
            let n_known = known.len();
            let number = *known.entry(key).or_insert(n_known);
            edges.extend(from.map(|from| (from, number)));
            if number < n_known {
                continue;
            }
            for answer in 0..paused.point.n_answers {
                n_ways += 1;
                if n_ways > MAX_WAYS {
                    return Err("a step with too many choices".to_owned());
                }
                let alone = self.kernel.resume_alone(&local, &paused, answer, &mut Silent);
                let local = self.kernel.configuration().local(machine).clone();
                open.push((alone, local, self.outcome(), observed.clone(), Some(number)));
            }
        }
        if !all_end(known.len(), &edges, ends) {
            return Err("a handler that never ends".to_owned());
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Where a machine stands that has run as far as it can. If it rests, it may have found any message of its tail that it can
    /// take, again and again, or nothing.
    fn rests(&mut self, slot: u32, local: Local, tail: &Tail) -> Result<Vec<u32>, String> {
        let machine = self.machines[slot as usize - self.exe.monitors.len()];
        let first = self.place(slot, local, tail);
        let mut found = vec![first];
        let mut at = 0;
        while let Some(&place) = found.get(at) {
            at += 1;
            if place == GONE {
                continue;
            }
            let local = self.local(place)?.clone();
            if tail.is_empty() || !matches!(local.status, Status::Idle | Status::Blocked { .. }) {
                continue;
            }
            for &(_, message) in tail.iter() {
                let message = self.messages[message as usize];
                if must_wait(&self.exe, &local, message.event) {
                    continue;
                }
                let first = self.kernel.deliver_alone(machine, &local, message, 1, &mut Silent);
                // Without a tail, or it would look there itself.
                for (end, _) in self.ways(slot, None, first, &Rc::default())? {
                    let next = match end? {
                        GONE => GONE,
                        next => {
                            let local = self.local(next)?.clone();
                            self.place(slot, local, tail)
                        }
                    };
                    if !found.contains(&next) {
                        found.push(next);
                    }
                }
            }
            if found.len() > MAX_WAYS {
                return Err("a step with too many choices".to_owned());
            }
        }
        Ok(found)
    }

    /// Whether the run that the kernel just made goes on.
    fn outcome(&self) -> Result<(), Box<str>> {
        match self.kernel.outcome() {
            Outcome::Running | Outcome::Quiescent => Ok(()),
            Outcome::Violated(found) => Err(format!("a violation is reached: {}", found.message).into()),
            Outcome::Unknown(_) => Err("a run cannot be continued".into()),
        }
    }

    /// Whether messages that have to wait go to the tail.
    fn is_full(&self, local: &Local, tail: &Tail) -> bool {
        self.file.inbox.is_some_and(|bound| !tail.is_empty() || local.inbox.len() >= bound)
    }

    fn with(&self, tail: &Tail, message: u32) -> Tail {
        let mut bytes = Vec::new();
        encode_message(&self.exe, self.kernel.store(), self.messages[message as usize], &mut bytes);
        let entry = (hex(&bytes), message);
        match tail.binary_search(&entry) {
            Ok(_) => tail.clone(),
            Err(at) => {
                let mut more = tail.to_vec();
                more.insert(at, entry);
                more.into()
            }
        }
    }

    /// The number of a local state.
    fn place(&mut self, slot: u32, mut local: Local, tail: &Tail) -> u32 {
        if local.status == Status::Halted {
            return GONE;
        }
        self.kernel.simplify(&mut local, self.file.simplify, &mut self.sorted);
        let mut key = Vec::new();
        words(&local, &mut key);
        let key = (slot, tail.clone(), key.into_boxed_slice());
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let listed = self.file.places.get(self.text(slot, &local, tail).as_str()).copied();
        let place = listed.unwrap_or(self.standing.len() as u32);
        if listed.is_none() {
            self.standing.push(None);
            self.heads.push(None);
        }
        self.standing[place as usize] = Some(Standing { slot, local, tail: tail.clone() });
        self.known.insert(key, place);
        place
    }

    fn text(&self, slot: u32, local: &Local, tail: &Tail) -> String {
        let mut bytes = Vec::new();
        encode_whole(&self.exe, self.kernel.store(), local, &mut bytes);
        place_text(slot, &bytes, tail.iter().map(|(message, _)| message.clone()))
    }

    fn slot(&self, machine: InstanceId) -> Result<u32, String> {
        let slot = self.slots.get(&machine).copied();
        slot.ok_or_else(|| format!("a machine is missing: {}", self.exe.instance_path(machine)))
    }

    fn message(&mut self, message: Message) -> u32 {
        let key = (message.event, message.payload.bits());
        let next = self.messages.len() as u32;
        let number = *self.message_index.entry(key).or_insert(next);
        if number == next {
            self.messages.push(message);
        }
        number
    }
}

/// Whether one of `ends` can be reached from each of `n` choices.
fn all_end(n: usize, edges: &[(usize, usize)], mut ends: Vec<usize>) -> bool {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); n];
    for &(from, to) in edges {
        before[to].push(from);
    }
    let mut is_good = vec![false; n];
    while let Some(choice) = ends.pop() {
        if !std::mem::replace(&mut is_good[choice], true) {
            ends.append(&mut before[choice]);
        }
    }
    is_good.into_iter().all(|is_good| is_good)
}
