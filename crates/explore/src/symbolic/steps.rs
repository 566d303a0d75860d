//! Local steps for decision diagrams, out of the memo of explicit search.
//!
//! A slot is a slot of the state vector: a monitor, a machine, or a part of the network. A value is an interned local state,
//! numbered for its slot. An event is one outcome of a machine's own part of a step, or one arrival from the network: its lead is
//! the machine or the network; the other parties are the receiver, the monitors that observe the step, and the machine
//! that it creates.

use std::rc::Rc;

use allways_base::{Idx, IndexVec};
use allways_machine::invariant::kind_of;
use allways_machine::ir::{ControlId, EventId, MachineId, Op, OperandView};
use allways_machine::{Executable, Value};
use allways_mdd::{BlockStep, Halt, LocalSteps, NewEvent};
use allways_p::hir::Temperature;
use allways_run::StopReason;
use rustc_hash::{FxHashMap, FxHashSet};

use super::eager::{Ahead, NOTHING_AHEAD, Outboxes};
use super::split::Blocks;
use crate::search::context::{Context, Cuts};
use crate::search::expand::Expander;
use crate::search::local::entries::{
    ActEntry, ActKind, Crash, End, HEARD_COLD, HEARD_FAULT, HEARD_HOT, HEARD_UNKNOWN,
};
use crate::search::local::states::{InputId, LocalStateId, Owner, Slot};
use crate::search::lock;

/// The machine of the slot does not exist; the network of the slot is empty.
pub(crate) const ABSENT: u32 = 0;
/// The step broke a property: the vector is no configuration.
pub(crate) const BROKEN: u32 = 1;

/// The label of a crash, which fairness does not count as a step.
pub(crate) const CRASH_LABEL: u32 = 1;
/// The label of a step of a stimulus, where there are any.
pub(crate) const STIMULUS_LABEL: u32 = 2;

/// What happens to a party of an event.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Action {
    /// A message arrives at a machine; or an operation is performed on a network.
    Deliver(InputId),
    /// A monitor observes messages, in order.
    Observe(Box<[InputId]>),
    /// The same, only to see whether it fails.
    Probe(Box<[InputId]>),
    /// A machine comes into being with a local state.
    Create(LocalStateId),
    /// The network learns of a creation.
    NoteCreation(InputId),
    /// Nothing, where the slot has a step: a machine crashes only while the run goes on.
    CanStep,
    /// The other action, or nothing, where the slot does not stand before a left mover.
    Unless(Option<Box<Action>>),
}

/// Messages that commute to the left of everything, as the user says: where one can be brought, only that is looked at.
pub(crate) struct LeftMovers {
    events: Vec<EventId>,
    /// By declaration: its machines may stand before one.
    may_send: IndexVec<MachineId, bool>,
}

impl LeftMovers {
    pub fn new(exe: &Executable, events: Vec<EventId>) -> Option<Self> {
        let is_left = |op: &Op| match op {
            Op::Send { event, .. } => match event.view() {
                OperandView::Const(n) => {
                    exe.consts[n as usize].as_event().is_some_and(|event| events.contains(&event))
                }
                OperandView::Register(_) | OperandView::Field(_) => true,
            },
            _ => false,
        };
        let may_send = exe.machines.ids().map(|machine| {
            let mut code =
                exe.functions_of(machine).flat_map(|fun| &exe.code[fun.entry as usize..fun.end as usize]);
            code.any(is_left)
        });
        let may_send = may_send.collect();
        (!events.is_empty()).then_some(LeftMovers { events, may_send })
    }
}

/// Local steps computed between two checks of the clock: a handler may take milliseconds.
const POLL_AFTER: u64 = 16;

pub(crate) struct MemoSteps<'a> {
    pub(crate) cx: Context<'a>,
    /// Of local steps computed: when to look at the clock.
    next_poll: u64,
    pub expander: Expander<'a>,
    /// By slot and value.
    states: Vec<Vec<Ahead>>,
    /// By local state of the kernel.
    values: Vec<Option<Rc<[u32]>>>,
    /// Likewise, of what is in a slot; local states that are there as they are left out.
    values_ahead: FxHashMap<Ahead, u32>,
    pub(super) owners: Vec<Owner>,
    pub(super) actions: Vec<Action>,
    action_index: FxHashMap<Action, u32>,
    /// The search ends at the first violation; else it leads to the value [`BROKEN`].
    pub stops_at_violation: bool,
    pub has_violation: bool,
    /// Local states whose own step breaks a property.
    pub faults: FxHashSet<LocalStateId>,
    /// By machine definition: its own steps are the environment's.
    pub is_stimulus: Vec<bool>,
    pub cuts: Cuts,
    has_crashes: bool,
    pub left: Option<LeftMovers>,
    /// Slots that are known to every value that was asked for.
    n_slots_asked: usize,
    leads_have_grown: bool,
    /// Reactions of monitors that are hot, that are cold, in passing: slot, action and value.
    pub passes_hot: FxHashSet<(u32, u32, u32)>,
    pub passes_cold: FxHashSet<(u32, u32, u32)>,
    /// Slots that are split into several levels.
    pub blocks: Blocks,
    /// Local steps after which another search has its turn, which splits slots that are whole here.
    pub most_runs: u64,
    /// What machines have run through, where they handle eagerly.
    pub(super) outboxes: Outboxes,
}

impl<'a> MemoSteps<'a> {
    pub fn new(cx: Context<'a>) -> Self {
        let has_crashes = lock(cx.locals).exe.network.has_crashes();
        MemoSteps {
            cx,
            next_poll: POLL_AFTER,
            expander: cx.expander(),
            states: Vec::new(),
            values: Vec::new(),
            values_ahead: FxHashMap::default(),
            owners: Vec::new(),
            actions: Vec::new(),
            action_index: FxHashMap::default(),
            stops_at_violation: true,
            has_violation: false,
            faults: FxHashSet::default(),
            is_stimulus: Vec::new(),
            cuts: Cuts::default(),
            has_crashes,
            left: None,
            n_slots_asked: 0,
            leads_have_grown: false,
            passes_hot: FxHashSet::default(),
            passes_cold: FxHashSet::default(),
            blocks: Blocks::default(),
            most_runs: u64::MAX,
            outboxes: Outboxes::default(),
        }
    }

    /// The value of a slot whose owner stands in a local state of the kernel, and does not run on.
    fn value(&mut self, slot: u32, local: LocalStateId) -> u32 {
        debug_assert!(!self.is_eager(slot));
        self.values(slot, local).last().copied().unwrap_or(ABSENT)
    }

    /// The values of a slot whose owner stands in a local state of the kernel: several where it runs on and chooses on the way.
    pub fn values(&mut self, slot: u32, local: LocalStateId) -> Rc<[u32]> {
        if let Some(Some(known)) = self.values.get(local.index()) {
            return known.clone();
        }
        let values: Rc<[u32]> = match local {
            LocalStateId::ABSENT => [ABSENT].into(),
            _ => self.values_behind(slot, NOTHING_AHEAD, local).into(),
        };
        if self.values.len() <= local.index() {
            self.values.resize(local.index() + 1, None);
        }
        self.values[local.index()] = Some(values.clone());
        values
    }

    /// The same of one that has an outbox before the local state.
    fn values_behind(&mut self, slot: u32, outbox: u32, local: LocalStateId) -> Vec<u32> {
        let state = Ahead { outbox, local };
        let all = if self.is_eager(slot) { self.run_on(slot, state) } else { vec![state] };
        all.into_iter().map(|state| self.value_of_state(slot, state)).collect()
    }

    fn value_of_state(&mut self, slot: u32, state: Ahead) -> u32 {
        if self.states.len() <= slot as usize {
            self.states.resize(slot as usize + 1, vec![Ahead::at(LocalStateId::ABSENT); BROKEN as usize + 1]);
        }
        let next = self.states[slot as usize].len() as u32;
        let value = *self.values_ahead.entry(state).or_insert(next);
        if value == next {
            self.states[slot as usize].push(state);
            self.blocks.note(slot, value as usize - BROKEN as usize);
        }
        value
    }

    /// The values of a slot whose owner has come to a local state behind an outbox.
    fn values_after(&mut self, slot: u32, outbox: u32, local: LocalStateId, next: &mut Vec<u32>) {
        match outbox {
            NOTHING_AHEAD => next.extend_from_slice(&self.values(slot, local)),
            _ => next.extend(self.values_behind(slot, outbox, local)),
        }
    }

    /// What a value of a slot is; local state zero where there is none.
    pub(super) fn state(&self, slot: u32, value: u32) -> Ahead {
        let state = self.states.get(slot as usize).and_then(|states| states.get(value as usize));
        state.copied().unwrap_or(Ahead::at(LocalStateId::ABSENT))
    }

    /// The local state of a value in a slot, behind its outbox; zero where there is none.
    pub fn local(&self, slot: u32, value: u32) -> LocalStateId {
        self.state(slot, value).local
    }

    /// The local states that a slot is known to have.
    pub(super) fn locals_of(&self, slot: u32) -> impl Iterator<Item = LocalStateId> + '_ {
        let states = self.states.get(slot as usize).into_iter().flatten();
        states.map(|state| state.local).filter(|&local| !local.is_absent())
    }

    /// Values of the levels of slots, one number for each level.
    fn n_values_of_levels(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.states.len()).flat_map(|slot| match self.blocks.n_parts(slot as u32) {
            1 => vec![self.states[slot].len().saturating_sub(BROKEN as usize + 1) as u64],
            n => (0..n).map(|part| u64::from(self.blocks.n_values(slot as u32, part))).collect(),
        })
    }

    /// Different values that occur in some level: local states, or parts of them.
    pub fn n_local_states(&self) -> u64 {
        self.n_values_of_levels().sum()
    }

    /// Values of the level that has most.
    pub fn most_local_states(&self) -> u64 {
        self.n_values_of_levels().max().unwrap_or(0)
    }

    pub fn n_bytes(&self) -> usize {
        let states: usize = self.states.iter().map(|states| states.capacity() * size_of::<Ahead>()).sum();
        states
            + self.values.capacity() * (size_of::<Option<Rc<[u32]>>>() + 24)
            + self.values_ahead.capacity() * 13
            + self.expander.memo.n_bytes()
            + self.blocks.n_bytes()
            + self.outboxes.n_bytes()
    }

    fn learn_slots(&mut self) {
        let locals = self.expander.memo.locals();
        let new = &locals.owners[self.owners.len()..];
        self.owners.extend_from_slice(new);
    }

    pub fn owner(&mut self, slot: u32) -> Option<Owner> {
        if self.owners.len() <= slot as usize {
            self.learn_slots();
        }
        self.owners.get(slot as usize).copied()
    }

    /// The local state of a value; zero for monitors, which have no steps of their own.
    fn acting_local(&self, slot: u32, value: u32) -> LocalStateId {
        if (slot as usize) < self.expander.n_monitors() {
            LocalStateId::ABSENT
        } else {
            self.local(slot, value)
        }
    }

    /// Whether the owner of a local state has a step, so that a configuration with it is not terminal.
    pub fn can_step(&mut self, slot: u32, value: u32) -> bool {
        if self.blocks.is_split(slot) {
            return self.block_can_step(slot, value);
        }
        if self.state(slot, value).outbox != NOTHING_AHEAD {
            return true;
        }
        let local = self.acting_local(slot, value);
        !local.is_absent() && is_enabled(self.expander.memo.act(local))
    }

    /// Whether a machine waits in `receive`.
    pub fn is_blocked(&mut self, slot: u32, value: u32) -> bool {
        if self.blocks.is_split(slot) {
            return self.blocks.is_blocked(slot, value);
        }
        if self.state(slot, value).outbox != NOTHING_AHEAD {
            return false;
        }
        let local = self.acting_local(slot, value);
        !local.is_absent() && self.expander.memo.act(local).kind == ActKind::Blocked
    }

    /// The temperature of the local state of a monitor.
    pub fn temperature(&self, slot: u32, value: u32) -> Option<Temperature> {
        if self.blocks.is_split(slot) {
            let control = self.blocks.control_state(slot, value)?;
            let is_monitor = (slot as usize) < self.expander.n_monitors();
            return is_monitor.then(|| self.expander.memo.locals().temperature_of(control));
        }
        let local = self.local(slot, value);
        ((slot as usize) < self.expander.n_monitors() && !local.is_absent())
            .then(|| self.expander.memo.locals().temperature(local))
    }

    pub fn is_machine_or_monitor(&mut self, slot: u32) -> bool {
        self.owner(slot).is_some_and(|owner| !matches!(owner, Owner::Network(_)))
    }

    /// The control state of a value of a slot, of its first part if it is split; `None` if there is no machine.
    pub fn control_state(&self, slot: u32, value: u32) -> Option<ControlId> {
        if self.blocks.is_split(slot) {
            return self.blocks.control_state(slot, value);
        }
        match self.local(slot, value) {
            LocalStateId::ABSENT => None,
            local => Some(self.expander.memo.locals().local(local).control),
        }
    }

    /// What the machine or monitor of a slot is and where it stands; `None` if there is none, or it has halted.
    pub fn standing(&self, slot: u32, value: u32) -> Option<(MachineId, ControlId)> {
        if self.blocks.is_split(slot) {
            return self.blocks.standing(slot, value);
        }
        match self.local(slot, value) {
            LocalStateId::ABSENT => None,
            local => {
                let locals = self.expander.memo.locals();
                let local = locals.local(local);
                Some((kind_of(local)?, local.control))
            }
        }
    }

    /// The fields that a value of a part of a slot has; of a whole local state, all.
    pub fn each_field(&self, slot: u32, part: u32, value: u32, mut see: impl FnMut(usize, Value)) {
        if self.blocks.is_split(slot) {
            if let Some((field, value)) = self.blocks.field(slot, part, value) {
                see(field, value);
            }
            return;
        }
        let id = self.local(slot, value);
        if id.is_absent() {
            return;
        }
        let locals = self.expander.memo.locals();
        let local = locals.local(id);
        let n_fields = locals.exe.machines[local.machine].fields.len();
        for (field, &value) in local.registers.iter().take(n_fields).enumerate() {
            see(field, value);
        }
    }

    /// Why some step could not be computed, if there is such a step.
    pub fn unknown(&self) -> Option<StopReason> {
        self.expander.memo.unknown.clone()
    }

    pub(super) fn action(&mut self, action: Action) -> u32 {
        if let Some(&known) = self.action_index.get(&action) {
            return known;
        }
        let number = self.actions.len() as u32;
        self.actions.push(action.clone());
        self.action_index.insert(action, number);
        number
    }

    /// Whether the owner of a slot, which has this local state, is a stimulus.
    pub fn is_stimulus(&mut self, slot: u32, id: LocalStateId) -> bool {
        !self.is_stimulus.is_empty()
            && matches!(self.owner(slot), Some(Owner::Machine(_)))
            && self.is_stimulus[self.expander.memo.locals().local(id).machine.index()]
    }

    /// Looks from time to time whether to stop.
    pub(super) fn poll(&mut self) -> Result<(), Halt> {
        // The search begins again, with more levels.
        if self.must_restart() {
            return Err(Halt::Stopped);
        }
        let n_runs = self.n_handler_runs();
        if self.blocks.has_wishes() && n_runs > self.most_runs {
            return Err(Halt::Nodes);
        }
        if n_runs < self.next_poll {
            return Ok(());
        }
        self.next_poll = n_runs + POLL_AFTER;
        // The first reason that was given stays, so whoever asks later gets it.
        if self.cx.stop_reason().is_some() { Err(Halt::Stopped) } else { Ok(()) }
    }

    /// Local steps that the kernel computed.
    pub fn n_handler_runs(&self) -> u64 {
        self.expander.memo.n_misses + self.blocks.n_runs + self.outboxes.n_runs
    }

    /// A step breaks a property.
    pub(super) fn break_property(&mut self) -> Result<(), Halt> {
        self.has_violation = true;
        if self.stops_at_violation { Err(Halt::Stopped) } else { Ok(()) }
    }

    /// The outcomes of a machine's own part of a step.
    fn own_steps(
        &mut self,
        slot: u32,
        value: u32,
        act: ActEntry,
        receiver: Option<(u32, u32)>,
        found: &mut Vec<NewEvent>,
    ) -> Result<(), Halt> {
        for own in 0..act.n {
            let out = self.expander.memo.outs[(act.first + own) as usize];
            let mut parties: Vec<(u32, u32)> = receiver.into_iter().collect();
            if out.extra == 0 {
                let values = self.values(slot, out.next);
                let event = |&next| NewEvent { label: 0, parties: parties.clone(), next };
                found.extend(values.iter().map(event));
                continue;
            }
            let extra = self.expander.memo.extras[out.extra as usize];
            let values = match extra.end {
                End::Unknown => continue,
                End::Stands => self.values(slot, out.next),
                // Monitors that fail first break the property just as well.
                End::Fault => {
                    self.faults.insert(self.local(slot, value));
                    self.break_property()?;
                    [BROKEN].into()
                }
                // Monitors observe the step before the bound cuts it, and may fail.
                End::Cut(cut) => {
                    self.cuts.add(cut);
                    parties.clear();
                    let observed = self.expander.memo.observed[extra.observed()].to_vec();
                    self.add_observers(&observed, Action::Probe, &mut parties);
                    if !parties.is_empty() {
                        found.push(NewEvent { label: 0, parties, next: value });
                    }
                    continue;
                }
            };
            let observed = self.expander.memo.observed[extra.observed()].to_vec();
            self.add_observers(&observed, Action::Observe, &mut parties);
            if let (End::Stands, Some((created, local, _))) = (extra.end, extra.created) {
                parties.push((created.as_u32(), self.action(Action::Create(local))));
            }
            if let (End::Stands, Some((network, operation))) = (extra.end, extra.birth) {
                parties.push((network.as_u32(), self.action(Action::NoteCreation(operation))));
            }
            let event = |&next| NewEvent { label: 0, parties: parties.clone(), next };
            found.extend(values.iter().map(event));
        }
        Ok(())
    }

    /// The monitors that observe a step: one party for each.
    pub(super) fn add_observers(
        &mut self,
        observed: &[(Slot, InputId)],
        action: impl Fn(Box<[InputId]>) -> Action,
        parties: &mut Vec<(u32, u32)>,
    ) {
        let mut monitors: Vec<Slot> = observed.iter().map(|&(monitor, _)| monitor).collect();
        monitors.sort_unstable();
        monitors.dedup();
        for monitor in monitors {
            let messages = observed.iter().filter(|&&(slot, _)| slot == monitor);
            let messages: Box<[InputId]> = messages.map(|&(_, message)| message).collect();
            let action = self.action(action(messages));
            parties.push((monitor.as_u32(), action));
        }
    }

    /// Crashes happen while some slot has a step: in one event for each, where the machine itself has none.
    fn crash(&mut self, slot: u32, act: ActEntry, found: &mut Vec<NewEvent>) {
        let out = self.expander.memo.outs[(act.first + act.n) as usize];
        let next = self.value(slot, out.next);
        if is_enabled(act) {
            found.push(NewEvent { label: CRASH_LABEL, parties: Vec::new(), next });
            return;
        }
        self.learn_slots();
        let can_step = self.action(Action::CanStep);
        for other in self.expander.n_monitors() as u32..self.owners.len() as u32 {
            if other != slot {
                found.push(NewEvent { label: CRASH_LABEL, parties: vec![(other, can_step)], next });
            }
        }
    }

    /// The first step of an outbox.
    fn step_of_outbox(&mut self, slot: u32, state: Ahead, found: &mut Vec<NewEvent>) -> Result<(), Halt> {
        let (segment, rest) = self.outboxes.first(state.outbox);
        let segment = segment.clone();
        let parties = self.parties_of(slot, &segment);
        let after = Ahead { outbox: rest, local: state.local };
        let mut next = Vec::new();
        match segment.deliver {
            Some((target, message)) if target.as_u32() == slot => {
                self.delivered(slot, after, message, &mut next)?
            }
            Some(_) | None => self.values_after(slot, after.outbox, after.local, &mut next),
        }
        found.extend(next.into_iter().map(|next| NewEvent { label: 0, parties: parties.clone(), next }));
        Ok(())
    }

    /// Whether a machine stands before a left mover.
    fn is_left(&mut self, local: LocalStateId) -> bool {
        let Some(left) = &self.left else { return false };
        if local.is_absent() {
            return false;
        }
        let act = self.expander.memo.act(local);
        if act.kind != ActKind::Deliver {
            return false;
        }
        let locals = self.expander.memo.locals();
        left.events.contains(&locals.messages[act.delivery.1.index()].event)
    }

    /// Whether the owner of a slot can come to stand before a left mover.
    fn may_stand_before_left(&self, slot: u32) -> bool {
        let (Some(left), Owner::Machine(instance)) = (&self.left, self.owners[slot as usize]) else {
            return false;
        };
        let machine = self.expander.memo.locals().machine_of(instance.index());
        machine.is_none_or(|machine| left.may_send[machine])
    }

    /// A step happens only where no other machine stands before a left mover; of several left movers, the first slot's.
    fn hold_back(&mut self, slot: u32, local: LocalStateId, found: &mut [NewEvent]) {
        self.learn_slots();
        let is_left = self.is_left(local);
        let end = if is_left { slot } else { self.owners.len() as u32 };
        for other in self.expander.n_monitors() as u32..end {
            if other == slot || !self.may_stand_before_left(other) {
                continue;
            }
            for event in found.iter_mut() {
                match event.parties.iter().position(|&(party, _)| party == other) {
                    Some(at) => {
                        let known = self.actions[event.parties[at].1 as usize].clone();
                        event.parties[at].1 = self.action(Action::Unless(Some(Box::new(known))));
                    }
                    None => event.parties.push((other, self.action(Action::Unless(None)))),
                }
            }
        }
    }

    /// What becomes of a receiver.
    fn delivered(
        &mut self,
        slot: u32,
        state: Ahead,
        message: InputId,
        next: &mut Vec<u32>,
    ) -> Result<(), Halt> {
        let Ahead { outbox, local } = state;
        let (first, n) = self.expander.memo.deliver(local, message);
        for at in first..first + n {
            let out = self.expander.memo.outs[at as usize];
            match out.extra {
                0 => self.values_after(slot, outbox, out.next, next),
                extra => match self.expander.memo.extras[extra as usize].end {
                    End::Stands => self.values_after(slot, outbox, out.next, next),
                    End::Cut(cut) => self.cuts.add(cut),
                    End::Fault | End::Unknown => {}
                },
            }
        }
        Ok(())
    }

    /// What becomes of a monitor.
    fn observed(
        &mut self,
        slot: u32,
        action: u32,
        value: u32,
        messages: &[InputId],
        next: &mut Vec<u32>,
    ) -> Result<(), Halt> {
        let mut local = self.local(slot, value);
        let mut flags = 0;
        for &message in messages {
            let heard = self.expander.memo.hear(local, message);
            flags |= heard.extra;
            if heard.extra & HEARD_FAULT != 0 {
                self.break_property()?;
                next.push(BROKEN);
                return Ok(());
            }
            if heard.extra & HEARD_UNKNOWN != 0 {
                return Ok(());
            }
            local = heard.next;
        }
        if flags & HEARD_HOT != 0 {
            self.passes_hot.insert((slot, action, value));
        }
        if flags & HEARD_COLD != 0 {
            self.passes_cold.insert((slot, action, value));
        }
        next.push(self.value(slot, local));
        Ok(())
    }

    /// What becomes of a party.
    fn act_on(
        &mut self,
        slot: u32,
        action: u32,
        value: u32,
        asked: Action,
        next: &mut Vec<u32>,
    ) -> Result<(), Halt> {
        match asked {
            Action::Deliver(message) => {
                let state = match self.state(slot, value) {
                    // No machine sends to one that does not exist: the network is empty.
                    Ahead { local: LocalStateId::ABSENT, .. } => {
                        Ahead::at(self.expander.memo.empty_network(Slot::from_u32(slot)))
                    }
                    state => state,
                };
                self.delivered(slot, state, message, next)
            }
            Action::Observe(messages) => self.observed(slot, action, value, &messages, next),
            Action::Probe(messages) => {
                let mut after = Vec::new();
                self.observed(slot, action, value, &messages, &mut after)?;
                next.extend(after.first().map(|&after| if after == BROKEN { BROKEN } else { value }));
                Ok(())
            }
            Action::Create(local) => {
                if value == ABSENT {
                    next.extend_from_slice(&self.values(slot, local));
                }
                Ok(())
            }
            Action::NoteCreation(operation) => match self.local(slot, value) {
                // Of an empty network there is nothing to know.
                LocalStateId::ABSENT => {
                    next.push(value);
                    Ok(())
                }
                local => self.delivered(slot, Ahead::at(local), operation, next),
            },
            Action::CanStep => {
                if self.can_step(slot, value) {
                    next.push(value);
                }
                Ok(())
            }
            Action::Unless(inner) => {
                if self.is_left(self.acting_local(slot, value)) {
                    return Ok(());
                }
                match inner {
                    Some(inner) => self.act_on(slot, action, value, *inner, next),
                    None => {
                        next.push(value);
                        Ok(())
                    }
                }
            }
        }
    }
}

fn is_enabled(act: ActEntry) -> bool {
    match act.kind {
        ActKind::Unasked | ActKind::Rest | ActKind::Blocked => false,
        ActKind::Network => act.n > 0,
        ActKind::Alone | ActKind::Deliver | ActKind::Create | ActKind::Fault | ActKind::Unknown => true,
    }
}

impl LocalSteps for MemoSteps<'_> {
    fn leads(&mut self, slot: u32, value: u32, found: &mut Vec<NewEvent>) -> Result<(), Halt> {
        let local = self.acting_local(slot, value);
        if local.is_absent() {
            return Ok(());
        }
        self.poll()?;
        let state = self.state(slot, value);
        if state.outbox != NOTHING_AHEAD {
            return self.step_of_outbox(slot, state, found);
        }
        let act = self.expander.memo.act(local);
        match act.kind {
            ActKind::Unasked | ActKind::Rest | ActKind::Blocked | ActKind::Unknown => {}
            ActKind::Fault => {
                self.faults.insert(local);
                self.break_property()?;
                found.push(NewEvent { label: 0, parties: Vec::new(), next: BROKEN });
            }
            ActKind::Alone | ActKind::Create => self.own_steps(slot, value, act, None, found)?,
            ActKind::Deliver => {
                let (target, message) = act.delivery;
                let action = self.action(Action::Deliver(message));
                self.own_steps(slot, value, act, Some((target.as_u32(), action)), found)?;
            }
            ActKind::Network => {
                for at in act.first..act.first + act.n {
                    let out = self.expander.memo.outs[at as usize];
                    let brought = self.expander.memo.deliveries[out.extra as usize];
                    let parties =
                        vec![(brought.target.as_u32(), self.action(Action::Deliver(brought.message)))];
                    found.push(NewEvent { label: 0, parties, next: self.value(slot, out.next) });
                }
            }
        }
        if self.is_stimulus(slot, local) {
            found.iter_mut().for_each(|event| event.label = STIMULUS_LABEL);
        }
        if act.crash == Crash::Step {
            self.crash(slot, act, found);
        }
        if self.left.is_some() {
            self.hold_back(slot, local, found);
        }
        if self.has_crashes || self.left.is_some() {
            self.learn_slots();
            if self.owners.len() > self.n_slots_asked {
                self.leads_have_grown = self.n_slots_asked > 0;
                self.n_slots_asked = self.owners.len();
            }
        }
        Ok(())
    }

    fn react(&mut self, slot: u32, action: u32, value: u32, next: &mut Vec<u32>) -> Result<(), Halt> {
        if value == BROKEN {
            return Ok(());
        }
        self.poll()?;
        let asked = self.actions[action as usize].clone();
        self.act_on(slot, action, value, asked, next)
    }

    fn leads_have_grown(&mut self) -> bool {
        std::mem::take(&mut self.leads_have_grown)
    }

    fn n_parts(&mut self, slot: u32) -> u32 {
        self.blocks.n_parts(slot)
    }

    fn enter(&mut self, slot: u32, action: Option<u32>, value: u32) -> Result<Option<u32>, Halt> {
        self.poll()?;
        Ok(self.enter_block(slot, action, value))
    }

    fn read(&mut self, reading: u32, part: u32, value: u32) -> Result<Option<u32>, Halt> {
        self.read_block(reading, part, value)
    }

    fn finish(&mut self, reading: u32, found: &mut Vec<BlockStep>) -> Result<bool, Halt> {
        self.poll()?;
        self.finish_block(reading, found)
    }
}
