//! The frontier: one configuration of summaries that stands for all configurations after so many steps.
//!
//! This is the published algorithm (PSYM, sections 5.2 to 5.5) on the steps of the kernel. Where a run can go on in several ways,
//! fresh variables choose; all machines that are chosen under some guard make their steps, and a machine that is reached by
//! several senders handles all their messages in one lifted run. [`Frontier::covered`] is its `checkFixed`: where a configuration
//! repeats one that the same run had before.
//!
//! Scheduling choices are encoded so that no assignment chooses a machine that cannot step: a variable for each but the last
//! that can, in turn. The paper encodes a number and drops assignments that name nothing, which restricts every summary at
//! every step.

use std::collections::BTreeMap;

use allways_base::Idx;
use allways_machine::ir::{ControlId, EventId, MachineId, OperandView};
use allways_machine::rules::{self, Arrival};
use allways_machine::value::{Kind, Value};
use allways_machine::{Actor, Kernel, Local, Status};
use allways_run::{Choice, InstanceId, StopReason, ViolationKind};

use crate::filters::look::number_of;
use crate::filters::{FilterOptions, Filters};
use crate::guard::Guard;
use crate::local::{LiftedLocal, Point, Stand};
use crate::run::{Lifted, Thread, Wake};
use crate::summary::{Shared, Values};

/// One configuration of summaries.
#[derive(Clone)]
pub struct Frontier {
    /// The runs that are in it.
    pub path: Guard,
    /// By instance; one that exists nowhere has no points.
    pub(crate) machines: Vec<LiftedLocal>,
    pub(crate) monitors: Vec<LiftedLocal>,
    /// Messages on their way, by sender and receiver, as a sequence of pairs of event and payload.
    pub(crate) channels: BTreeMap<(InstanceId, InstanceId), Shared>,
    /// By sender: the receivers of its messages on their way, in the order of sending, if a filter asks for it.
    pub(crate) sent: Option<BTreeMap<InstanceId, Shared>>,
}

/// Inputs for machines that were reached in this step.
type Wakes = BTreeMap<InstanceId, Vec<(Wake, Guard, Shared)>>;

/// What can move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Mover {
    Machine(InstanceId),
    Channel(InstanceId, InstanceId),
}

impl Frontier {
    /// Before the first step.
    pub fn new(lifted: &mut Lifted<'_>, limits: allways_run::Limits, filters: &FilterOptions) -> Self {
        let kernel = Kernel::new(lifted.exe.clone(), limits);
        let configuration = kernel.configuration();
        let main =
            lifted.lift_local(&configuration.locals[InstanceId::MAIN.index()], Stand::Start, Guard::TRUE);
        let monitors = configuration
            .monitors
            .iter()
            .map(|local| lifted.lift_local(local, Stand::Idle, Guard::TRUE))
            .collect();
        let sent = filters.send_order.then(BTreeMap::new);
        Frontier { path: Guard::TRUE, machines: vec![main], monitors, channels: BTreeMap::new(), sent }
    }

    /// Instances that exist in some run.
    pub fn n_machines(&self) -> usize {
        self.machines.iter().filter(|machine| !machine.points.is_empty()).count()
    }

    fn all(&self) -> impl Iterator<Item = &LiftedLocal> {
        self.machines.iter().chain(&self.monitors)
    }

    /// The control states in which machines and monitors are.
    pub fn each_control(&self, lifted: &Lifted<'_>, mut see: impl FnMut(ControlId)) {
        for local in self.all() {
            local.points.iter().for_each(|&(number, _)| see(lifted.points.get(number).control));
        }
    }

    pub fn each_guard(&self, visit: &mut dyn FnMut(Guard)) {
        visit(self.path);
        self.all().for_each(|local| local.each_guard(visit));
        self.channels.values().for_each(|channel| channel.each_guard(visit));
        self.sent.iter().flatten().for_each(|(_, sent)| sent.each_guard(visit));
    }

    /// Nodes of its guards.
    pub fn n_nodes(&self, values: &Values<'_>) -> usize {
        let mut guards = Vec::new();
        self.each_guard(&mut |guard| guards.push(guard));
        values.guards.size(guards)
    }

    /// Forgets all runs but those of the guard.
    pub fn restrict(&mut self, values: &mut Values<'_>, guard: Guard) {
        self.path = values.guards.and(self.path, guard);
        let path = self.path;
        for local in self.machines.iter_mut().chain(&mut self.monitors) {
            local.restrict(values, path);
        }
        for channel in self.channels.values_mut() {
            *channel = values.restrict(channel, path);
        }
        self.channels.retain(|_, channel| !channel.domain().is_false());
        for sent in self.sent.iter_mut().flat_map(BTreeMap::values_mut) {
            *sent = values.restrict(sent, path);
        }
    }

    /// Where this configuration is the same as an earlier one of the same run.
    pub fn covered(&self, earlier: &Frontier, values: &mut Values<'_>) -> Guard {
        let mut equal = values.guards.and(self.path, earlier.path);
        let nowhere = LiftedLocal::nowhere(values);
        for at in 0..self.machines.len().max(earlier.machines.len()) {
            let (a, b) = (self.machines.get(at), earlier.machines.get(at));
            equal = a.unwrap_or(&nowhere).same(b.unwrap_or(&nowhere), values, equal);
            if equal.is_false() {
                return equal;
            }
        }
        for (a, b) in self.monitors.iter().zip(&earlier.monitors) {
            equal = a.same(b, values, equal);
        }
        equal = same_queues(&self.channels, &earlier.channels, values, equal);
        match (&self.sent, &earlier.sent) {
            (Some(a), Some(b)) => same_queues(a, b, values, equal),
            _ => equal,
        }
    }

    /// Where a machine can step.
    fn enabled(&self, lifted: &mut Lifted<'_>, machine: usize) -> Guard {
        let mut enabled = Guard::FALSE;
        for &(point, guard) in &self.machines[machine].points {
            let can = rules::can_step(lifted.exe, &lifted.points.get(point).local());
            if can {
                enabled = lifted.values.guards.or(enabled, guard);
            }
        }
        lifted.values.guards.and(enabled, self.path)
    }

    /// Where a machine blocks in `receive`.
    fn blocked(&self, lifted: &mut Lifted<'_>) -> Guard {
        let mut blocked = Guard::FALSE;
        for machine in &self.machines {
            for &(point, guard) in &machine.points {
                if matches!(lifted.points.get(point).stand, Stand::Blocked(_)) {
                    blocked = lifted.values.guards.or(blocked, guard);
                }
            }
        }
        blocked
    }

    /// Where a monitor is hot.
    fn hot(&self, lifted: &mut Lifted<'_>) -> Guard {
        let mut hot = Guard::FALSE;
        for monitor in &self.monitors {
            for &(point, guard) in &monitor.points {
                let point = lifted.points.get(point);
                let is_scenario = lifted.exe.machines[point.machine].is_scenario;
                if !is_scenario && lifted.exe.states[point.control].is_hot() {
                    hot = lifted.values.guards.or(hot, guard);
                }
            }
        }
        hot
    }

    /// Judges runs that have ended, and says whether there are others.
    pub fn end_here(&mut self, lifted: &mut Lifted<'_>) -> bool {
        let movers = self.movers(lifted);
        let enabled = lifted.values.guards.any(movers.iter().map(|&(_, guard)| guard));
        let terminal = lifted.values.guards.minus(self.path, enabled);
        self.end(lifted, terminal);
        !enabled.is_false()
    }

    /// What can move, and where.
    fn movers(&self, lifted: &mut Lifted<'_>) -> Vec<(Mover, Guard)> {
        let mut movers: Vec<(Mover, Guard)> = Vec::new();
        for at in 0..self.machines.len() {
            let enabled = self.enabled(lifted, at);
            movers.push((Mover::Machine(InstanceId::new(at)), enabled));
        }
        for (&(source, target), channel) in &self.channels {
            let sizes = lifted.values.seq_sizes(channel);
            let any = sizes.into_iter().filter(|(n, _)| *n > 0).map(|(_, guard)| guard);
            let any = lifted.values.guards.any(any);
            movers.push((Mover::Channel(source, target), lifted.values.guards.and(any, self.path)));
        }
        movers.retain(|(_, guard)| !guard.is_false());
        movers
    }

    /// One step of every run, and the end of those that have none. What happened is in `lifted`.
    pub fn step(&mut self, lifted: &mut Lifted<'_>, filters: &mut Filters) {
        let movers = self.movers(lifted);
        let enabled = lifted.values.guards.any(movers.iter().map(|&(_, guard)| guard));
        let terminal = lifted.values.guards.minus(self.path, enabled);
        if !terminal.is_false() {
            self.end(lifted, terminal);
            self.restrict(&mut lifted.values, enabled);
        }
        let (movers, pruned) = filters.apply(self, lifted, movers);
        let picked = pick_movers(lifted, &movers);
        let left = lifted.values.guards.any(picked.iter().map(|&(_, guard)| guard));
        if left != self.path {
            // All that these runs could do is in others.
            self.restrict(&mut lifted.values, left);
        }
        filters.picked(self, lifted, &picked, pruned);
        let mut wakes = Wakes::new();
        lifted.monitors = std::mem::take(&mut self.monitors);
        for (mover, guard) in picked {
            if lifted.values.guards.halted().is_some() {
                break;
            }
            match mover {
                Mover::Machine(machine) => {
                    lifted.log.push((guard, Choice::Machine(machine)));
                    self.step_machine(lifted, machine, guard, &mut wakes);
                }
                Mover::Channel(source, target) => {
                    lifted.log.push((guard, Choice::Deliver { target, source, place: 0 }));
                    self.bring(lifted, source, target, guard, &mut wakes);
                }
            }
        }
        for (machine, inputs) in wakes {
            let inputs: Vec<(Wake, Guard, Shared)> = inputs
                .into_iter()
                .map(|(wake, guard, payload)| {
                    let guard = lifted.alive(guard);
                    (wake, guard, lifted.values.restrict(&payload, guard))
                })
                .filter(|(_, guard, _)| !guard.is_false())
                .collect();
            let mut local = self.take(lifted, machine);
            lifted.wake(Actor::Machine(machine), &mut local, &inputs);
            self.machines[machine.index()] = local;
        }
        self.monitors = std::mem::take(&mut lifted.monitors);
        let path = lifted.alive(self.path);
        if path != self.path {
            self.restrict(&mut lifted.values, path);
        }
        self.forget_dead_registers(lifted);
    }

    fn take(&mut self, lifted: &Lifted<'_>, machine: InstanceId) -> LiftedLocal {
        std::mem::replace(&mut self.machines[machine.index()], LiftedLocal::nowhere(&lifted.values))
    }

    /// Runs that have ended.
    fn end(&mut self, lifted: &mut Lifted<'_>, terminal: Guard) {
        let blocked = self.blocked(lifted);
        let blocked = lifted.values.guards.and(blocked, terminal);
        if !blocked.is_false() {
            lifted.fail(blocked, ViolationKind::Deadlock);
        }
        let hot = self.hot(lifted);
        let hot = lifted.values.guards.and(hot, terminal);
        let hot = lifted.values.guards.minus(hot, blocked);
        if !hot.is_false() {
            lifted.fail(hot, ViolationKind::HotAtEnd);
        }
    }

    /// The step of a machine, but for what it wakes.
    fn step_machine(
        &mut self,
        lifted: &mut Lifted<'_>,
        machine: InstanceId,
        guard: Guard,
        wakes: &mut Wakes,
    ) {
        let actor = Actor::Machine(machine);
        let mut local = self.take(lifted, machine);
        let points = local.take(&mut lifted.values, guard);
        let mut threads = Vec::new();
        for (number, guard) in points {
            let point = lifted.points.get(number).clone();
            let own = Thread { local: point.local(), own: true, guard };
            match point.stand {
                Stand::Start => {
                    self.start_monitors(lifted, guard);
                    let null = lifted.values.lift(Value::NULL, guard);
                    local.put(&mut lifted.values, number, guard);
                    wake_own(lifted, actor, &mut local, guard, &null);
                }
                Stand::Observe => threads.push(own),
                Stand::Deliver { target, event } => {
                    let payload = lifted.values.restrict(&local.pending, guard);
                    if target == machine {
                        // It is in the middle of a handler.
                        push(lifted, &mut local.inbox, event, &payload, guard);
                    } else if lifted.exe.network.is_delayed() {
                        let empty = lifted.values.store.seq(&[]);
                        let channel = self.channels.entry((machine, target));
                        let channel = channel.or_insert_with(|| lifted.values.nothing());
                        let missing = lifted.values.guards.minus(guard, channel.domain());
                        let empty = lifted.values.lift(empty, missing);
                        *channel = lifted.values.merge(channel, &empty);
                        push(lifted, channel, event, &payload, guard);
                        self.note_sent(lifted, machine, target, guard);
                    } else {
                        self.arrive(lifted, target, event, &payload, guard, wakes);
                    }
                    threads.push(own);
                }
                Stand::Create { interface, dst } => {
                    let payload = lifted.values.restrict(&local.pending, guard);
                    if let Some((thread, created)) = self.create(lifted, machine, &point, guard) {
                        let receives = lifted.exe.interfaces[interface].receives;
                        let reference = Value::reference(created, receives);
                        let reference = lifted.values.lift(reference, guard);
                        let base = point.frames.last().map_or(0, |frame| frame.base as usize);
                        let place = match dst.view() {
                            OperandView::Register(n) => Some(base + n as usize),
                            OperandView::Field(n) => Some(n as usize),
                            OperandView::Const(_) => None,
                        };
                        if let Some(place) = place {
                            while local.registers.len() <= place {
                                local.registers.push(lifted.values.nothing());
                            }
                            let old = local.registers[place].clone();
                            local.registers[place] = lifted.values.update(&old, &reference, guard);
                        }
                        wakes.entry(created).or_default().push((Wake::Start, guard, payload));
                        threads.push(thread);
                    }
                }
                Stand::Fault(fault) => {
                    let kind = lifted.points.faults[fault as usize].kind;
                    lifted.fail(guard, kind);
                }
                Stand::Foreign(fun) => {
                    let name = lifted.exe.function_name(fun).to_owned();
                    lifted.lose(guard, StopReason::ForeignFunction { name });
                }
                Stand::Idle => {
                    // The null event; nothing can be taken from the inbox.
                    let null = lifted.values.lift(Value::NULL, guard);
                    local.put(&mut lifted.values, number, guard);
                    lifted.wake(actor, &mut local, &[(Wake::Handle(EventId::NULL), guard, null)]);
                }
                Stand::Blocked(_) | Stand::Halted => {
                    local.put(&mut lifted.values, number, guard);
                }
            }
        }
        let stepped = lifted.values.guards.any(threads.iter().map(|thread| thread.guard));
        local.pending = lifted.values.restrict(&local.pending.clone(), stepped.not());
        if !threads.is_empty() {
            lifted.run(actor, &mut local, threads);
        }
        self.machines[machine.index()] = local;
    }

    fn start_monitors(&mut self, lifted: &mut Lifted<'_>, guard: Guard) {
        for monitor in 0..lifted.monitors.len() {
            let alive = lifted.alive(guard);
            let machine = lifted.exe.monitors[monitor].machine;
            if lifted.exe.machines[machine].start.is_none() {
                return lifted.fail(alive, ViolationKind::NoStartState);
            }
            let null = lifted.values.lift(Value::NULL, alive);
            lifted.run_monitor(monitor as u32, Wake::Start, &null, alive);
        }
    }

    /// Makes a machine; its creator goes on as the thread.
    fn create(
        &mut self,
        lifted: &mut Lifted<'_>,
        creator: InstanceId,
        point: &Point,
        guard: Guard,
    ) -> Option<(Thread, InstanceId)> {
        let Stand::Create { interface, .. } = point.stand else { return None };
        let created = lifted.exe.instances.child(creator, point.n_children);
        let machine = lifted.exe.interfaces[interface].machine.unwrap_or(MachineId::from_u32(0));
        let def = &lifted.exe.machines[machine];
        let fresh = Local {
            machine,
            interface,
            control: def.start.unwrap_or(ControlId::from_u32(0)),
            status: Status::Idle,
            registers: def.fields.iter().map(|&(_, value)| value).collect(),
            ..Local::default()
        };
        while self.machines.len() <= created.index() {
            self.machines.push(LiftedLocal::nowhere(&lifted.values));
        }
        let new = lifted.lift_local(&fresh, Stand::Idle, guard);
        let known = &mut self.machines[created.index()];
        for (at, register) in new.registers.iter().enumerate() {
            match known.registers.get(at) {
                None => known.registers.push(register.clone()),
                Some(old) => known.registers[at] = lifted.values.merge(&old.clone(), register),
            }
        }
        known.inbox = lifted.values.merge(&known.inbox.clone(), &new.inbox);
        for (point, guard) in new.points {
            known.put(&mut lifted.values, point, guard);
        }
        let mut local = point.local();
        local.n_children += 1;
        Some((Thread { local, own: true, guard }, created))
    }

    /// A message reaches its target, which handles it later in this step if it can.
    fn arrive(
        &mut self,
        lifted: &mut Lifted<'_>,
        target: InstanceId,
        event: EventId,
        payload: &Shared,
        guard: Guard,
        wakes: &mut Wakes,
    ) {
        let exe = lifted.exe.clone();
        let mut kept = Guard::FALSE;
        let mut woken: Vec<(Wake, Guard)> = Vec::new();
        for &(number, own) in &self.machines[target.index()].points {
            let own = lifted.values.guards.and(own, guard);
            if own.is_false() {
                continue;
            }
            let wake = match rules::arrival(&exe, &lifted.points.get(number).local(), event) {
                Arrival::Dropped | Arrival::Ignored => continue,
                Arrival::Waits => None,
                Arrival::Received => Some(Wake::Receive(event)),
                Arrival::Handled => Some(Wake::Handle(event)),
            };
            match wake {
                None => kept = lifted.values.guards.or(kept, own),
                Some(wake) => match woken.iter_mut().find(|(known, _)| *known == wake) {
                    Some(known) => known.1 = lifted.values.guards.or(known.1, own),
                    None => woken.push((wake, own)),
                },
            }
        }
        if !kept.is_false() {
            push(lifted, &mut self.machines[target.index()].inbox, event, payload, kept);
        }
        for (wake, guard) in woken {
            let payload = lifted.values.restrict(payload, guard);
            let inputs = wakes.entry(target).or_default();
            // Messages of several senders are handled in one run.
            match inputs.iter_mut().find(|(known, _, _)| *known == wake) {
                Some(known) => {
                    known.1 = lifted.values.guards.or(known.1, guard);
                    known.2 = lifted.values.merge(&known.2.clone(), &payload);
                }
                None => inputs.push((wake, guard, payload)),
            }
        }
    }

    /// Remembers which machine a message was sent to.
    fn note_sent(&mut self, lifted: &mut Lifted<'_>, source: InstanceId, target: InstanceId, guard: Guard) {
        let Some(sent) = &mut self.sent else { return };
        let sent = sent.entry(source).or_insert_with(|| lifted.values.nothing());
        let empty = lifted.values.store.seq(&[]);
        let missing = lifted.values.guards.minus(guard, sent.domain());
        let empty = lifted.values.lift(empty, missing);
        *sent = lifted.values.merge(sent, &empty);
        let target = lifted.values.lift(number_of(target), guard);
        *sent = lifted.values.seq_push(&sent.clone(), &target, guard);
    }

    /// The network brings the oldest message of a channel.
    fn bring(
        &mut self,
        lifted: &mut Lifted<'_>,
        source: InstanceId,
        target: InstanceId,
        guard: Guard,
        wakes: &mut Wakes,
    ) {
        let Some(channel) = self.channels.get(&(source, target)).cloned() else { return };
        let Some(message) = channel.part(Kind::Seq, Value::size(0)).cloned() else { return };
        let part = |n| message.part(Kind::Tuple, Value::size(n)).cloned();
        let (Some(events), Some(payload)) = (part(0), part(1)) else { return };
        let shorter = lifted.values.seq_remove(&channel, 0, guard);
        self.channels.insert((source, target), shorter);
        if let Some(sent) = self.sent.as_mut().and_then(|sent| sent.get_mut(&source)) {
            // The filter has seen to it that this was the oldest.
            *sent = lifted.values.seq_remove(&sent.clone(), 0, guard);
        }
        for &(event, own) in events.spine() {
            let own = lifted.values.guards.and(own, guard);
            let Some(event) = event.as_event().filter(|_| !own.is_false()) else { continue };
            let payload = lifted.values.restrict(&payload, own);
            self.arrive(lifted, target, event, &payload, own, wakes);
        }
    }

    /// Registers that code does not read any more are no part of a configuration.
    fn forget_dead_registers(&mut self, lifted: &mut Lifted<'_>) {
        let exe = lifted.exe.clone();
        for machine in &mut self.machines {
            let n_registers = machine.registers.len();
            let mut live = vec![Guard::FALSE; n_registers];
            for &(number, guard) in &machine.points {
                let point = lifted.points.get(number);
                let local = point.local();
                let mut is_live = vec![true; local.registers.len()];
                exe.liveness.dead(&exe, &local).for_each(|place| is_live[place] = false);
                for (place, _) in
                    is_live.iter().enumerate().filter(|&(at, is_live)| *is_live && at < n_registers)
                {
                    live[place] = lifted.values.guards.or(live[place], guard);
                }
            }
            for (register, guard) in machine.registers.iter_mut().zip(live) {
                *register = lifted.values.restrict(register, guard);
            }
        }
    }
}

/// Where queues are the same; one that was never used is empty.
fn same_queues<K: Ord + Copy>(
    some: &BTreeMap<K, Shared>,
    others: &BTreeMap<K, Shared>,
    values: &mut Values<'_>,
    within: Guard,
) -> Guard {
    let mut equal = within;
    let keys: Vec<K> = some.keys().chain(others.keys()).copied().collect();
    for key in keys {
        let empty = values.store.seq(&[]);
        let empty = values.lift(empty, equal);
        let mut queue = |queues: &BTreeMap<K, Shared>| match queues.get(&key) {
            None => empty.clone(),
            Some(queue) => {
                let missing = values.guards.minus(equal, queue.domain());
                let rest = values.restrict(&empty, missing);
                values.merge(queue, &rest)
            }
        };
        let (a, b) = (queue(some), queue(others));
        let same = values.same(&a, &b);
        equal = values.guards.and(equal, same);
    }
    equal
}

/// The machine begins, in a step of its own.
fn wake_own(lifted: &mut Lifted<'_>, actor: Actor, local: &mut LiftedLocal, guard: Guard, payload: &Shared) {
    let alive = lifted.alive(guard);
    lifted.wake_as(actor, local, &[(Wake::Start, alive, payload.clone())], true);
}

/// Puts a message at the end of an inbox or channel.
fn push(lifted: &mut Lifted<'_>, queue: &mut Shared, event: EventId, payload: &Shared, guard: Guard) {
    let event = lifted.values.lift(Value::event(event), guard);
    let message = lifted.values.tuple(&[event, payload.clone()], guard);
    *queue = lifted.values.seq_push(&queue.clone(), &message, guard);
}

/// Chooses one mover for every run that has some.
fn pick_movers(lifted: &mut Lifted<'_>, movers: &[(Mover, Guard)]) -> Vec<(Mover, Guard)> {
    let guards = &mut lifted.values.guards;
    // Where one of those behind can move.
    let mut later = vec![Guard::FALSE; movers.len()];
    for at in (1..movers.len()).rev() {
        later[at - 1] = guards.or(later[at], movers[at].1);
    }
    let mut left = Guard::TRUE;
    let mut picked = Vec::new();
    for (&(mover, enabled), later) in movers.iter().zip(later) {
        let can = guards.and(enabled, left);
        let rivals = guards.and(can, later);
        let pick = if rivals.is_false() {
            can
        } else {
            let variable = guards.fresh();
            let chosen = guards.and(can, variable);
            let alone = guards.minus(can, later);
            guards.or(chosen, alone)
        };
        left = guards.minus(left, pick);
        if !pick.is_false() {
            picked.push((mover, pick));
        }
    }
    picked
}
