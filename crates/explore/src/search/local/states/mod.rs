//! Interned local states: everything about one machine or monitor (collapse compression, Holzmann 1997). What they do is in
//! `steps`, what that gives in `outcomes`; what they become under other names and numbers in `renaming`; their form for other processes in `wire`.
//!
//! A local state includes its owner, so its number says which machine it is and how it stands. It is compared as words (see
//! `allways_machine::content`) after what is never read was left out (`allways_machine::simplify`). Its hash is of
//! its content, so it does not depend on the order of interning.
//!
//! *Slots* are the positions of a state vector: one for each monitor, then one for each instance, in the order in
//! which the search reaches them. Zero in a slot means that the machine does not exist. Over a network that delays
//! messages, messages in flight have slots too, see `network`.

mod outcomes;
mod renaming;
mod steps;
mod wire;

pub(crate) use super::entries::{Cut, LocalStateId, Owner};
pub(crate) use outcomes::{Act, Answer, Beginning, Delivered, Ending, Given, Heard, LocalOutcome};
pub(crate) use renaming::Vitality;
pub(crate) use steps::{LOOK_AFTER, Walked};

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use allways_base::Idx;
use allways_machine::configuration::After;
use allways_machine::content::{ContentHashes, words};
use allways_machine::encode::{encode_in_flight, encode_whole};
use allways_machine::ir::{ControlId, EventId, InterfaceId, MachineId};
use allways_machine::{
    Answers, DataPlan, DataPoint, Executable, InFlight, Kernel, KnownValues, Local, Message, Outcome,
    Pending, Simplify, Snapshot, Status, Touched, Value, must_wait,
};
use allways_p::hir::Temperature;
use allways_run::{Cancel, Choice, InstanceId, Limits, StopReason, ViolationKind};
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHashSet};

use super::entries::{Log, NetworkOp};
use super::recorder::{LocalRecorder, temperatures};
use super::size::Sizes;
use crate::coverage::{Coverage, Sink};
use crate::search::lock;
use crate::search::options::SearchBounds;
use crate::search::report::WideChoice;
use crate::search::store::hash::{hash_bytes, hash_bytes_from, hash_words};

/// Answers to one choice that are worth a remark when a search is too large.
const MANY_ANSWERS: u32 = 10;

pub(crate) struct LocalState {
    pub local: Local,
    /// Of a network.
    pub flight: Option<Box<InFlight>>,
    pub owner: Owner,
    /// Of its content.
    pub hash: u64,
    /// Of its words.
    pub key: u64,
    /// Where its words end; they begin where those of the one before end.
    pub end: usize,
    pub cut: Option<Cut>,
}

pub(crate) struct LocalStates<'c> {
    pub(crate) exe: Arc<Executable>,
    pub(crate) kernel: Kernel<'c>,
    /// Before the first step.
    start: Snapshot,
    pub(crate) bounds: SearchBounds,
    /// Of what is in bounded variables.
    sizes: Sizes,
    /// The kind of the first fault by which a handler does not finish: it never ends, or not within a limit.
    pub(crate) unfinished: Option<ViolationKind>,
    /// Of answers to choices of numbers.
    pub(crate) max_choices: Option<u32>,
    /// Which of these answers represent all others.
    data: Option<Arc<DataPlan>>,
    /// Machines that have been asked for a step, or given a message, with answers left out by that bound; zero is the beginning.
    bounded: FxHashSet<LocalStateId>,
    /// Of the choice of a number with most answers: the machine, and how many; of those with as many, the first.
    widest: Option<(MachineId, u32)>,
    /// A bound has cut off an outcome of the first step.
    cut_at_beginning: Option<Cut>,
    /// Faults are not decided before they show; see `reduce::lazy_faults`.
    pub(crate) has_lazy_faults: bool,
    /// Answers count, not only where they lead.
    keep_answers: bool,
    /// Outcomes say what was touched, and differ where that differs.
    pub(crate) records_touched: bool,
    /// By the local state that was interned last.
    touched: Touched,
    simplify: Simplify,
    /// Numbers that no code reads are forgotten, since configurations are compared up to renumbering.
    pub(crate) renumbers: bool,
    /// Locals that differ before they are simplified, by hash: those with dead variables, with unread payloads,
    /// with collections out of order.
    simplified: [HashSet<u64, rustc_hash::FxBuildHasher>; 3],
    /// These hashes are of content.
    records_content: bool,
    sorted: KnownValues,
    pub(crate) hashes: ContentHashes,
    pub(crate) states: Vec<LocalState>,
    words: Vec<u64>,
    index: HashTable<LocalStateId>,
    /// Buffers for reuse: words, and a local state that may be new.
    pub(crate) scratch: Vec<u64>,
    standing: Local,
    pub(crate) messages: Vec<Message>,
    message_index: FxHashMap<(EventId, u64), u32>,
    /// By slot; monitors come first.
    pub(crate) owners: Vec<Owner>,
    slot_of: Vec<u32>,
    /// By target; see `network`.
    pub(crate) network_slot_of: Vec<u32>,
    pub(crate) network_ops: Vec<NetworkOp>,
    pub(crate) network_op_index: FxHashMap<NetworkOp, u32>,
    /// What was worked out for memos, if more than one asks.
    pub(crate) log: Option<Log>,
    /// What was asked for to be named.
    acts: FxHashMap<LocalStateId, Arc<Act>>,
    deliveries: FxHashMap<(LocalStateId, u32), Arc<Vec<Delivered>>>,
    recorder: LocalRecorder,
    /// Asked in handlers with many choices, which may take long.
    cancel: &'c dyn Cancel,
    /// Local steps computed since it was asked.
    n_unasked: u32,
    /// Runs that were found and are followed now ([`Following`]).
    pub(crate) n_following: u32,
    largest_inbox: usize,
    pub(crate) local_bytes: usize,
    /// Of interfaces of which one machine is made at most, if broadcasts are to see no order.
    singles: FxHashMap<InterfaceId, InstanceId>,
    /// A machine was created that may observe the order of broadcasts.
    lacks_broadcast_precondition: bool,
}

/// While it lives, local steps are computed even if there is a reason to stop: a run that was found must be named, or its
/// verdict would be lost. A run is short beside the search that found it.
pub(crate) struct Following<'a>(&'a Mutex<LocalStates<'a>>);

impl<'a> Following<'a> {
    pub fn new(locals: &'a Mutex<LocalStates<'a>>) -> Self {
        lock(locals).n_following += 1;
        Following(locals)
    }
}

impl Drop for Following<'_> {
    fn drop(&mut self) {
        lock(self.0).n_following -= 1;
    }
}

impl<'c> LocalStates<'c> {
    pub fn new(
        exe: &Arc<Executable>,
        limits: Limits,
        bounds: SearchBounds,
        keep_answers: bool,
        simplify: Simplify,
        is_shared: bool,
        cancel: &'c dyn Cancel,
    ) -> Self {
        let n_monitors = exe.monitors.len() as u32;
        let absent = LocalState {
            local: Local::default(),
            flight: None,
            owner: Owner::Machine(InstanceId::MAIN),
            hash: 0,
            key: 0,
            end: 0,
            cut: None,
        };
        let mut kernel = Kernel::with_stop(exe.clone(), limits, cancel);
        LocalStates {
            exe: exe.clone(),
            start: kernel.save(),
            kernel,
            bounds,
            sizes: Sizes::default(),
            max_choices: None,
            data: None,
            unfinished: None,
            bounded: FxHashSet::default(),
            widest: None,
            cut_at_beginning: None,
            has_lazy_faults: false,
            keep_answers,
            records_touched: false,
            touched: Touched::default(),
            simplify,
            renumbers: false,
            simplified: Default::default(),
            records_content: false,
            sorted: KnownValues::default(),
            hashes: ContentHashes::default(),
            states: vec![absent],
            words: Vec::new(),
            index: HashTable::new(),
            scratch: Vec::new(),
            standing: Local::default(),
            messages: Vec::new(),
            message_index: FxHashMap::default(),
            owners: (0..n_monitors).map(Owner::Monitor).collect(),
            slot_of: Vec::new(),
            network_slot_of: Vec::new(),
            network_ops: Vec::new(),
            network_op_index: FxHashMap::default(),
            recorder: LocalRecorder {
                coverage: Sink::new(exe),
                temperatures: temperatures(exe),
                hot: false,
                cold: false,
            },
            log: is_shared.then(Log::default),
            acts: FxHashMap::default(),
            deliveries: FxHashMap::default(),
            cancel,
            n_unasked: 0,
            n_following: 0,
            largest_inbox: 0,
            local_bytes: 0,
            singles: FxHashMap::from_iter([(exe.main, InstanceId::MAIN)]),
            lacks_broadcast_precondition: false,
        }
    }

    /// Takes chosen numbers to be equivalent, as far as a plan says.
    pub fn set_data(&mut self, plan: Option<Arc<DataPlan>>) {
        self.kernel.set_data(plan.clone());
        self.data = plan;
    }

    pub fn n_monitors(&self) -> usize {
        self.exe.monitors.len()
    }

    pub fn n_local_states(&self) -> usize {
        self.states.len() - 1
    }

    pub fn n_messages(&self) -> usize {
        self.messages.len()
    }

    pub fn n_slots(&self) -> usize {
        self.owners.len()
    }

    /// A number for the machine of a slot that depends on its path alone, and differs from those of others.
    pub fn rank(&self, slot: u32) -> u64 {
        match self.owners[slot as usize] {
            Owner::Monitor(monitor) => u64::from(monitor),
            Owner::Machine(instance) | Owner::Network(instance) => {
                let path = self.exe.instances.path(instance);
                let mut bytes: Vec<u8> = path.iter().flat_map(|place| place.to_le_bytes()).collect();
                if let Owner::Network(_) = self.owners[slot as usize] {
                    bytes.push(1);
                }
                hash_bytes(&bytes)
            }
        }
    }

    /// The slot of an instance that was met.
    pub fn known_slot(&self, instance: usize) -> Option<usize> {
        self.slot_of.get(instance).and_then(|slot| slot.checked_sub(1)).map(|slot| slot as usize)
    }

    /// What an instance that was met is.
    pub fn machine_of(&self, instance: usize) -> Option<MachineId> {
        let is_it =
            |state: &&LocalState| matches!(state.owner, Owner::Machine(owner) if owner.index() == instance);
        self.states.iter().skip(1).find(is_it).map(|state| state.local.machine)
    }

    pub fn is_halted(&self, id: LocalStateId) -> bool {
        self.states[id as usize].local.status == Status::Halted
    }

    /// A local state.
    pub fn local(&self, id: LocalStateId) -> &Local {
        &self.states[id as usize].local
    }

    pub fn owner_of(&self, id: LocalStateId) -> Owner {
        self.states[id as usize].owner
    }

    /// Whether the machine that stands there keeps the message for later when it is delivered.
    pub fn must_wait(&self, id: LocalStateId, message: u32) -> bool {
        must_wait(&self.exe, self.local(id), self.messages[message as usize].event)
    }

    /// The kernel, which has the values of all local states.
    pub fn into_kernel(self) -> Kernel<'static> {
        self.kernel.without_stop()
    }

    pub fn owner(&self, slot: u32) -> Owner {
        self.owners[slot as usize]
    }

    /// Another hash of the same content, for fingerprints of 128 bits.
    pub fn second_hash(&self, id: LocalStateId) -> u64 {
        let LocalState { local, flight, owner, .. } = &self.states[id as usize];
        let mut bytes = self.name(*owner);
        match flight {
            Some(flight) => encode_in_flight(&self.exe, self.kernel.store(), flight, &mut bytes),
            None => encode_whole(&self.exe, self.kernel.store(), local, &mut bytes),
        }
        hash_bytes_from(&bytes, 0x2545_f491_4f6c_dd1d)
    }

    pub fn hash(&self, id: LocalStateId) -> u64 {
        self.states[id as usize].hash
    }

    pub fn largest_inbox(&self) -> usize {
        self.largest_inbox
    }

    /// An inbox of so many messages exists, although no local state has it.
    pub fn note_inbox(&mut self, n_messages: usize) {
        self.largest_inbox = self.largest_inbox.max(n_messages);
    }

    /// Memory in use, roughly.
    pub fn n_bytes(&self) -> usize {
        self.words.capacity() * 8
            + self.states.capacity() * size_of::<LocalState>()
            + self.local_bytes
            + self.hashes.n_bytes()
            + self.sorted.n_bytes()
            + self.sizes.n_bytes()
            + self.index.capacity() * 5
            + self.messages.capacity() * 40
            + self.acts.capacity() * 200
            + self.deliveries.capacity() * 100
            + self.log.as_ref().map_or(0, Log::n_bytes)
            + self.kernel.store().n_bytes()
    }

    /// Why the search should end now, if it should.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.cancel.reason()
    }

    /// What was run, once and for all.
    pub fn coverage(&mut self) -> Coverage {
        let mut coverage = Coverage::new(&self.exe);
        coverage.merge(&self.recorder.coverage.take_fresh());
        coverage
    }

    /// The slots of machines by their paths, then those of networks, which does not depend on the order of interning.
    pub fn slots_by_path(&self) -> Vec<u32> {
        let mut slots: Vec<(bool, Vec<u32>, u32)> = self
            .owners
            .iter()
            .enumerate()
            .filter_map(|(slot, owner)| match owner {
                Owner::Machine(instance) => Some((false, self.exe.instances.path(*instance), slot as u32)),
                Owner::Network(target) => Some((true, self.exe.instances.path(*target), slot as u32)),
                Owner::Monitor(_) => None,
            })
            .collect();
        slots.sort();
        slots.into_iter().map(|(_, _, slot)| slot).collect()
    }

    pub fn temperature(&self, id: LocalStateId) -> Temperature {
        self.temperature_of(self.states[id as usize].local.control)
    }

    /// The same of a control state.
    pub fn temperature_of(&self, control: ControlId) -> Temperature {
        self.recorder.temperatures[control.index()]
    }

    pub(crate) fn slot(&mut self, owner: Owner) -> u32 {
        let machine = match owner {
            Owner::Monitor(monitor) => return monitor,
            Owner::Network(target) => return self.network_slot(target),
            Owner::Machine(machine) => machine,
        };
        let instance = machine.index();
        if self.slot_of.len() <= instance {
            self.slot_of.resize(instance + 1, 0);
        }
        if self.slot_of[instance] == 0 {
            if self.exe.network.is_delayed() {
                self.network_slot(machine);
            }
            self.owners.push(owner);
            self.slot_of[instance] = self.owners.len() as u32;
        }
        self.slot_of[instance] - 1
    }

    pub(crate) fn message(&mut self, message: Message) -> u32 {
        let key = (message.event, message.payload.bits());
        *self.message_index.entry(key).or_insert_with(|| {
            self.messages.push(message);
            self.messages.len() as u32 - 1
        })
    }

    /// The number of a message that was met.
    pub fn known_message(&self, message: Message) -> u32 {
        self.message_index.get(&(message.event, message.payload.bits())).copied().unwrap_or(u32::MAX)
    }

    /// The owner, as bytes.
    pub(crate) fn name(&self, owner: Owner) -> Vec<u8> {
        let (kind, instance) = match owner {
            Owner::Monitor(monitor) => return vec![0, monitor as u8, (monitor >> 8) as u8],
            Owner::Machine(instance) => (1, instance),
            Owner::Network(instance) => (2, instance),
        };
        let mut bytes = vec![kind];
        for place in self.exe.instances.path(instance) {
            bytes.extend_from_slice(&(place + 1).to_le_bytes());
        }
        bytes.extend_from_slice(&0u32.to_le_bytes());
        bytes
    }

    /// The local state of an owner in the configuration of the kernel.
    fn intern(&mut self, owner: Owner) -> LocalStateId {
        let mut local = std::mem::take(&mut self.standing);
        local.clone_from(match owner {
            Owner::Monitor(monitor) => &self.kernel.configuration().monitors[monitor as usize],
            Owner::Machine(instance) | Owner::Network(instance) => {
                self.kernel.configuration().local(instance)
            }
        });
        let id = self.intern_local(owner, &mut local, true);
        self.standing = local;
        id
    }

    /// The number of a local whose values are the kernel's.
    pub(crate) fn intern_local(&mut self, owner: Owner, local: &mut Local, counts: bool) -> LocalStateId {
        forget_before_fault(local);
        let who = match owner {
            Owner::Monitor(monitor) => u64::from(monitor),
            Owner::Machine(instance) | Owner::Network(instance) => 1 << 32 | u64::from(instance.as_u32()),
        };
        let mut key = std::mem::take(&mut self.scratch);
        key.clear();
        key.push(who);
        if self.simplify != Simplify::default() {
            let raw = match (counts, self.records_content) {
                (true, true) => self.content_hash(owner, local),
                (true, false) => {
                    words(local, &mut key);
                    hash_words(&key)
                }
                (false, _) => 0,
            };
            let done = self.kernel.simplify(local, self.simplify, &mut self.sorted);
            if counts && done != Default::default() {
                for (is_done, known) in [done.dead_variables, done.unread_payloads, done.order]
                    .into_iter()
                    .zip(&mut self.simplified)
                {
                    if is_done {
                        known.insert(raw);
                    }
                }
            }
            key.truncate(1);
        }
        if self.renumbers {
            self.kernel.forget_unseen_numbers(local);
        }
        words(local, &mut key);
        let hash = hash_words(&key);
        self.touched = std::mem::take(&mut local.touched);
        let id = match self.find(hash, &key) {
            Some(id) => id,
            None => self.add_local(owner, local.clone(), hash, &key),
        };
        self.scratch = key;
        id
    }

    fn add_local(&mut self, owner: Owner, local: Local, key: u64, words: &[u64]) -> LocalStateId {
        self.local_bytes += local.inbox.capacity() * size_of::<Message>()
            + local.registers.capacity() * 8
            + local.frames.capacity() * 16;
        let cut = self.cut(&local);
        if cut.is_none() {
            self.largest_inbox = self.largest_inbox.max(local.inbox.len());
        }
        let hash = self.content_hash(owner, &local);
        self.add(words, LocalState { local, flight: None, owner, hash, key, end: 0, cut })
    }

    fn content_hash(&mut self, owner: Owner, local: &Local) -> u64 {
        let who = match owner {
            Owner::Monitor(monitor) => u64::from(monitor),
            Owner::Machine(instance) | Owner::Network(instance) => self.hashes.instance(&self.exe, instance),
        };
        self.hashes.local(&self.exe, self.kernel.store(), who, local)
    }

    /// The local state with these words.
    pub(crate) fn find(&self, key: u64, words: &[u64]) -> Option<LocalStateId> {
        let is_it = |id: &LocalStateId| self.states[*id as usize].key == key && self.content(*id) == words;
        self.index.find(key, is_it).copied()
    }

    pub(crate) fn add(&mut self, words: &[u64], state: LocalState) -> LocalStateId {
        let id = self.states.len() as LocalStateId;
        let key = state.key;
        self.words.extend_from_slice(words);
        self.states.push(LocalState { end: self.words.len(), ..state });
        let states = &self.states;
        self.index.insert_unique(key, id, |&id| states[id as usize].key);
        id
    }

    pub(crate) fn cover_sent(&mut self, event: EventId) {
        let layout = self.recorder.coverage.layout;
        self.recorder.coverage.cover(layout.sent(event));
    }

    /// A machine was made: looks whether that may show the order of broadcasts.
    fn meet(&mut self, machine: InstanceId, interface: InterfaceId) {
        if !self.simplify.broadcasts || self.lacks_broadcast_precondition {
            return;
        }
        let exe = self.exe.clone();
        let Some(precondition) = exe.usage().broadcast_precondition() else { return };
        let is_second = precondition.single.contains(&interface)
            && *self.singles.entry(interface).or_insert(machine) != machine;
        self.lacks_broadcast_precondition = is_second || precondition.absent.contains(&interface);
    }

    /// Broadcasts were taken to have no order, and a machine was created that may observe it.
    pub fn lacks_broadcast_precondition(&self) -> bool {
        self.lacks_broadcast_precondition
    }

    /// Whether a machine can crash where it stands.
    pub fn can_crash(&self, id: LocalStateId) -> bool {
        let LocalState { local, owner, .. } = &self.states[id as usize];
        owner.is_machine() && self.exe.network.can_crash(local.machine) && local.status != Status::Halted
    }

    /// Where a machine stands after a crash, if it can crash where it stands.
    pub fn crash(&mut self, id: LocalStateId) -> Option<LocalStateId> {
        if !self.can_crash(id) {
            return None;
        }
        let LocalState { local, owner, .. } = &self.states[id as usize];
        let Owner::Machine(machine) = *owner else { return None };
        self.kernel.crash_alone(machine, local, &mut self.recorder);
        Some(self.intern(Owner::Machine(machine)))
    }

    /// What moves when the owner of a local state does: a machine, or the channels of a network.
    pub fn movers(&mut self, id: LocalStateId) -> Vec<Choice> {
        match (self.states[id as usize].owner, &*self.known_act(id)) {
            (Owner::Network(_), Act::Network(arrivals)) => {
                let mut movers: Vec<Choice> = arrivals.iter().map(|arrival| arrival.choice.mover()).collect();
                movers.dedup();
                movers
            }
            (Owner::Machine(machine), _) => vec![Choice::Machine(machine)],
            (Owner::Network(_) | Owner::Monitor(_), _) => Vec::new(),
        }
    }

    /// Different locals that were simplified: dead variables, unread payloads, order.
    pub fn n_simplified(&self) -> [u64; 3] {
        self.simplified.each_ref().map(|known| known.len() as u64)
    }

    fn content(&self, id: LocalStateId) -> &[u64] {
        &self.words[self.states[id as usize - 1].end..self.states[id as usize].end]
    }

    /// Makes a note of a choice by a machine.
    fn meet_choice(&mut self, machine: InstanceId, point: DataPoint) {
        let n = Answers::to(point, self.max_choices, self.data.as_deref()).n;
        if point.is_number && self.widest.is_none_or(|(_, most)| n > most) {
            self.widest = Some((self.kernel.configuration().local(machine).machine, n));
        }
    }

    /// The choice of a number with most answers that were explored, if these are many.
    pub fn wide_choice(&self, widest: Option<(u32, u32)>) -> Option<WideChoice> {
        let widest = widest.map(|(machine, n)| (MachineId::from_u32(machine), n));
        let (machine, n_answers) = widest.or(self.widest).filter(|&(_, n)| n >= MANY_ANSWERS)?;
        if machine.index() >= self.exe.machines.len() {
            return None;
        }
        Some(WideChoice { machine: self.exe.machine_name(machine).to_owned(), n_answers })
    }

    /// Bounds that have cut something off in the first step, or left out answers.
    pub fn cuts(&self) -> impl Iterator<Item = Cut> {
        let choices = (!self.bounded.is_empty()).then_some(Cut::Choices);
        self.cut_at_beginning.into_iter().chain(choices)
    }

    /// Whether a machine in a configuration may do more than was explored: with an answer that was left out.
    pub fn may_do_more(&self, vector: &[LocalStateId]) -> bool {
        !self.bounded.is_empty() && vector.iter().any(|id| *id != 0 && self.bounded.contains(id))
    }

    fn cut(&self, local: &Local) -> Option<Cut> {
        if self.bounds.inbox.is_some_and(|bound| local.inbox.len() > bound as usize) {
            return Some(Cut::Inbox);
        }
        let bound = self.bounds.occurrences? as usize;
        let is_over = |message: &Message| {
            local.inbox.iter().filter(|other| other.event == message.event).count() > bound
        };
        local.inbox.iter().any(is_over).then_some(Cut::Occurrences)
    }

    fn stands(&mut self, owner: Owner) -> Ending {
        // Before anything is left out: what a variable holds when it is never read again counts, so that bounds mean the same with
        // and without reductions.
        if let Owner::Machine(machine) = owner {
            let local = self.kernel.configuration().local(machine);
            if self.bounds.variables.are_exceeded(&self.exe, &mut self.sizes, self.kernel.store(), local) {
                return Ending::Cut(Cut::Variables);
            }
        }
        let id = self.intern(owner);
        match self.states[id as usize].cut {
            None => Ending::Stands(id),
            Some(cut) => Ending::Cut(cut),
        }
    }

    /// What the owner of a local has touched on its way to this end, if that is recorded.
    fn touched_before(&self, owner: Owner, end: &Ending) -> Touched {
        match (end, owner) {
            _ if !self.records_touched => Touched::default(),
            (Ending::Stands(_), _) => self.touched,
            (_, Owner::Monitor(monitor)) => self.kernel.configuration().monitors[monitor as usize].touched,
            (_, Owner::Machine(machine) | Owner::Network(machine)) => {
                self.kernel.configuration().local(machine).touched
            }
        }
    }

    /// How the machine that was just run ended.
    fn ending(&mut self, owner: Owner) -> Ending {
        match self.kernel.outcome() {
            Outcome::Running | Outcome::Quiescent => self.stands(owner),
            Outcome::Violated(found) => {
                let (kind, span) = (found.kind, found.span);
                self.note_fault(kind);
                Ending::Fault(kind, span)
            }
            Outcome::Unknown(reason) => Ending::Unknown(reason.clone()),
        }
    }

    /// Keeps in mind that a handler does not finish.
    fn note_fault(&mut self, kind: ViolationKind) {
        if kind == ViolationKind::EndlessHandler {
            self.unfinished.get_or_insert(kind);
        }
    }
}

/// Leaves out all of a machine that is about to fail but that it will: a run that is replayed shows how.
pub(crate) fn forget_before_fault(local: &mut Local) {
    if let Status::Pending(Pending::Fault(fault)) = &mut local.status {
        fault.text = Value::NULL;
        local.after = After::Handler;
        local.frames.clear();
        local.registers.clear();
        local.inbox.clear();
        local.touched.write_all();
        local.n_named = 0;
    }
}
