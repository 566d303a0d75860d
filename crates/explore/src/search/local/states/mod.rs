//! Interned local states: everything about one machine or monitor (collapse compression, Holzmann 1997). What they do is in
//! `steps`, what that gives in `outcomes`; how they get their numbers in `interning`, and machines their places in `slots`; what they become
//! under other names and numbers in `renaming`; their form for other processes in `wire`.
//!
//! A local state includes its owner, so its number says which machine it is and how it stands. It is compared as words (see
//! `allways_machine::content`) after what is never read was left out (`allways_machine::simplify`). Its hash is of
//! its content, so it does not depend on the order of interning.
//!
//! *Slots* are the positions of a state vector: one for each monitor, then one for each instance, in the order in
//! which the search reaches them. Zero in a slot means that the machine does not exist. Over a network that delays
//! messages, messages in flight have slots too, see `network`.

mod interning;
mod outcomes;
mod renaming;
mod slots;
mod steps;
mod wire;

pub(crate) use super::entries::{Cut, InputId, LocalStateId, Owner, Slot};
pub(crate) use interning::forget_before_fault;
pub(crate) use outcomes::{Act, Answer, Beginning, Delivered, Ending, Given, Heard, LocalOutcome};
pub(crate) use renaming::Vitality;
pub(crate) use steps::{LOOK_AFTER, Walked};

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use allways_base::Idx;
use allways_machine::content::ContentHashes;
use allways_machine::ir::{ControlId, EventId, InterfaceId, MachineId};
use allways_machine::{
    Answers, DataPlan, DataPoint, Executable, InFlight, Kernel, KnownValues, Local, Message, Outcome,
    Simplify, Snapshot, Status, Touched, must_wait,
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
    message_index: FxHashMap<(EventId, u64), InputId>,
    /// By slot; monitors come first.
    pub(crate) owners: Vec<Owner>,
    slot_of: Vec<Option<Slot>>,
    /// By target; see `network`.
    pub(crate) network_slot_of: Vec<Option<Slot>>,
    pub(crate) network_ops: Vec<NetworkOp>,
    pub(crate) network_op_index: FxHashMap<NetworkOp, InputId>,
    /// What was worked out for memos, if more than one asks.
    pub(crate) log: Option<Log>,
    /// What was asked for to be named.
    acts: FxHashMap<LocalStateId, Arc<Act>>,
    deliveries: FxHashMap<(LocalStateId, InputId), Arc<Vec<Delivered>>>,
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

    /// What an instance that was met is.
    pub fn machine_of(&self, instance: usize) -> Option<MachineId> {
        let is_it =
            |state: &&LocalState| matches!(state.owner, Owner::Machine(owner) if owner.index() == instance);
        self.states.iter().skip(1).find(is_it).map(|state| state.local.machine)
    }

    pub fn is_halted(&self, id: LocalStateId) -> bool {
        self.states[id.index()].local.status == Status::Halted
    }

    /// A local state.
    pub fn local(&self, id: LocalStateId) -> &Local {
        &self.states[id.index()].local
    }

    pub fn owner_of(&self, id: LocalStateId) -> Owner {
        self.states[id.index()].owner
    }

    /// Whether the machine that stands there keeps the message for later when it is delivered.
    pub fn must_wait(&self, id: LocalStateId, message: InputId) -> bool {
        must_wait(&self.exe, self.local(id), self.messages[message.index()].event)
    }

    /// The kernel, which has the values of all local states.
    pub fn into_kernel(self) -> Kernel<'static> {
        self.kernel.without_stop()
    }

    pub fn hash(&self, id: LocalStateId) -> u64 {
        self.states[id.index()].hash
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

    pub fn temperature(&self, id: LocalStateId) -> Temperature {
        self.temperature_of(self.states[id.index()].local.control)
    }

    /// The same of a control state.
    pub fn temperature_of(&self, control: ControlId) -> Temperature {
        self.recorder.temperatures[control.index()]
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
        let LocalState { local, owner, .. } = &self.states[id.index()];
        owner.is_machine() && self.exe.network.can_crash(local.machine) && local.status != Status::Halted
    }

    /// Where a machine stands after a crash, if it can crash where it stands.
    pub fn crash(&mut self, id: LocalStateId) -> Option<LocalStateId> {
        if !self.can_crash(id) {
            return None;
        }
        let LocalState { local, owner, .. } = &self.states[id.index()];
        let Owner::Machine(machine) = *owner else { return None };
        self.kernel.crash_alone(machine, local, &mut self.recorder);
        Some(self.intern(Owner::Machine(machine)))
    }

    /// What moves when the owner of a local state does: a machine, or the channels of a network.
    pub fn movers(&mut self, id: LocalStateId) -> Vec<Choice> {
        match (self.states[id.index()].owner, &*self.known_act(id)) {
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
        !self.bounded.is_empty() && vector.iter().any(|id| !id.is_absent() && self.bounded.contains(id))
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
        match self.states[id.index()].cut {
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
