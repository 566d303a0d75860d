//! Traces: what a recorder hears, in the words of people.
//!
//! The tracer keeps one state of the run, as words of the store, and writes down what each step changed in it. So its
//! memory grows with what happens, not with the size of states.

mod data;
mod diff;
mod failure;
mod lap;
mod mail;

use std::sync::Arc;

use allways_base::Idx;
use allways_p::hir::Temperature;
use allways_run::trace::Change;
use allways_run::{
    Activity, ActorId, ActorKind, ChangeKind, Choice, Datum, Edit, Entry, Fate, InstanceId, Limits,
    MessageId, Name, Payload, Schedule, Trace, TraceActor, TraceStep, ViolationKind,
};
use rustc_hash::FxHashMap;

use crate::Executable;
use crate::configuration::{Configuration, Local, Message, Status};
use crate::ir::{ControlId, EventId, MachineId};
use crate::kernel::{Kernel, Outcome};
use crate::record::{Actor, Note, Recorder, Scene};
use crate::replay::{ReplayError, replay};
use crate::value::{Form, Kind, Notation, Value};
use data::Data;
use mail::Mail;

/// Alternatives beyond so many are only counted.
const MAX_ALTERNATIVES: usize = 8;

/// Replays a schedule into a trace.
pub fn trace(
    exe: &Arc<Executable>,
    limits: Limits,
    schedule: &Schedule,
) -> Result<(Trace, Outcome), ReplayError> {
    let mut tracer = Tracer::default();
    let kernel = replay(exe, limits, schedule, &mut tracer)?;
    let outcome = kernel.outcome().clone();
    Ok((tracer.finish(&kernel), outcome))
}

/// An actor as it was after the last step.
#[derive(Clone, Debug)]
struct Known {
    control: ControlId,
    activity: Activity,
    fields: Vec<Value>,
    /// Variables that were assigned since, as bits; those beyond 64 count as never assigned.
    assigned: u64,
    /// The message that it handled last.
    message: Option<MessageId>,
    /// Its event, if a `receive` took it.
    received: Option<EventId>,
}

/// Builds a [`Trace`] from notes.
#[derive(Clone, Default, Debug)]
pub struct Tracer {
    trace: Trace,
    data: Data,
    mail: Mail,
    /// By actor.
    known: Vec<Known>,
    /// By instance.
    actors: FxHashMap<InstanceId, ActorId>,
    /// Actors that ran in this step.
    touched: Vec<(ActorId, Actor)>,
}

impl Tracer {
    /// The trace, with the violation that ended the run and what explains it.
    pub fn finish(mut self, kernel: &Kernel) -> Trace {
        if let Outcome::Violated(violation) = kernel.outcome() {
            let violation = (**violation).clone();
            self.explain(kernel, &violation);
            if let Some(step) = self.trace.steps.last_mut() {
                if violation.kind == ViolationKind::EndlessHandler {
                    lap::keep_one_lap(&mut step.entries, &self.trace.messages);
                }
                step.entries.push(Entry::Fault(violation.clone()));
            }
            self.trace.violation = Some(violation);
        }
        self.trace
    }

    fn push(&mut self, entry: Entry) {
        if let Some(step) = self.trace.steps.last_mut() {
            step.entries.push(entry);
        }
    }

    fn change(&mut self, actor: ActorId, what: ChangeKind) {
        if let Some(step) = self.trace.steps.last_mut() {
            step.changes.push(Change { actor, what });
        }
    }

    /// The index of the step at hand.
    fn now(&self) -> u32 {
        self.trace.steps.len().saturating_sub(1) as u32
    }

    fn state_name(&mut self, scene: &Scene<'_>, state: ControlId) -> Name {
        self.data.symbol(scene, scene.exe.states[state].name)
    }

    fn event_name(&mut self, scene: &Scene<'_>, event: EventId) -> Name {
        self.data.symbol(scene, scene.exe.events[event])
    }

    fn payload(&mut self, scene: &Scene<'_>, message: Message) -> Payload {
        let notation = &scene.exe.payloads[message.event];
        (!message.payload.is_null()).then(|| self.data.shared(scene, notation, message.payload))
    }

    fn touch(&mut self, actor: ActorId, of: Actor) {
        if !self.touched.contains(&(actor, of)) {
            self.touched.push((actor, of));
        }
    }

    fn machine(&mut self, scene: &Scene<'_>, instance: InstanceId) -> ActorId {
        let actor = match self.actors.get(&instance) {
            Some(&actor) => actor,
            None => self.add_machine(scene, instance, None),
        };
        self.touch(actor, Actor::Machine(instance));
        actor
    }

    fn actor(&mut self, scene: &Scene<'_>, actor: Actor) -> ActorId {
        match actor {
            Actor::Machine(instance) => self.machine(scene, instance),
            Actor::Monitor(monitor) => {
                let id = ActorId::from_u32(monitor);
                self.touch(id, actor);
                id
            }
        }
    }

    fn add_machine(&mut self, scene: &Scene<'_>, instance: InstanceId, creator: Option<ActorId>) -> ActorId {
        let exe = scene.exe;
        let interface = scene.roster.interface(instance);
        let machine = exe.interfaces[interface].machine.unwrap_or(MachineId::from_u32(0));
        let name: Name = scene.name(instance).into();
        let id = self.add_actor(scene, machine, name.clone(), ActorKind::Machine, creator);
        self.data.name_machine(instance, name);
        self.actors.insert(instance, id);
        self.trace.actors[id.index()].type_name = self.data.symbol(scene, exe.interfaces[interface].name);
        id
    }

    fn add_actor(
        &mut self,
        scene: &Scene<'_>,
        machine: MachineId,
        name: Name,
        kind: ActorKind,
        creator: Option<ActorId>,
    ) -> ActorId {
        let def = &scene.exe.machines[machine];
        let control = def.start.unwrap_or(ControlId::from_u32(0));
        let fields: Vec<Value> = def.fields.iter().map(|&(_, value)| value).collect();
        let variables = def.fields.iter().zip(&def.notations);
        let variables = variables
            .map(|(&(name, value), notation)| {
                (self.data.symbol(scene, name), self.data.datum(scene, notation, value))
            })
            .collect();
        let id = ActorId::new(self.trace.actors.len());
        let state = self.state_name(scene, control);
        let type_name = self.data.symbol(scene, def.name);
        let (created, span) = (self.now(), Some(def.span));
        let reactions = if kind == ActorKind::Monitor { self.reactions(scene, machine) } else { Vec::new() };
        let actor = TraceActor { name, type_name, kind, creator, created, state, variables, reactions, span };
        self.trace.actors.push(actor);
        self.known.push(Known {
            control,
            activity: Activity::Running,
            fields,
            assigned: 0,
            message: None,
            received: None,
        });
        self.change(id, ChangeKind::Created);
        id
    }

    /// Writes down what a step changed in one actor.
    fn compare(&mut self, scene: &Scene<'_>, actor: ActorId, of: Actor, local: &Local) {
        let exe = scene.exe;
        let def = &exe.machines[local.machine];
        let known = &self.known[actor.index()];
        if known.control != local.control {
            let before = known.control;
            let (before, after) = (self.state_name(scene, before), self.state_name(scene, local.control));
            self.change(actor, ChangeKind::State { before, after });
        }
        let after = match (of, local.status) {
            (Actor::Monitor(_), _) | (_, Status::Idle) => Activity::Idle,
            (_, Status::Pending(_)) => Activity::Running,
            (_, Status::Blocked { .. }) => Activity::Waiting,
            (_, Status::Halted) => Activity::Halted,
        };
        let before = self.known[actor.index()].activity;
        if before != after {
            self.change(actor, ChangeKind::Activity { before, after });
        }
        // A halted machine has no variables; what it had last is still of interest.
        if after != Activity::Halted {
            for (at, &(name, _)) in def.fields.iter().enumerate() {
                let (before, after) = (self.known[actor.index()].fields[at], local.registers[at]);
                if before == after {
                    let is_assigned = at < 64 && self.known[actor.index()].assigned >> at & 1 == 1;
                    if is_assigned && is_scalar(after) {
                        let name = self.data.symbol(scene, name);
                        let value = Some(self.data.datum(scene, &def.notations[at], after));
                        let edit = Edit::Replace { before: value.clone(), after: value };
                        self.change(actor, ChangeKind::Variable { name, path: Vec::new(), edit });
                    }
                    continue;
                }
                let name = self.data.symbol(scene, name);
                let edits = diff::diff(&mut self.data, scene, &def.notations[at], before, after);
                for (path, edit) in edits {
                    self.change(actor, ChangeKind::Variable { name: name.clone(), path, edit });
                }
            }
        }
        let known = &mut self.known[actor.index()];
        known.control = local.control;
        known.activity = after;
        known.assigned = 0;
        if after != Activity::Halted {
            known.fields.clear();
            known.fields.extend_from_slice(&local.registers[..def.fields.len()]);
        }
    }

    /// Brings what is known of an inbox in line with the inbox.
    /// In a step that was cut, a message can be in the hands of its target.
    fn compare_inbox(&mut self, actor: ActorId, local: &Local, is_cut: bool) {
        let halted = local.status == Status::Halted;
        let gone = if is_cut { Vec::new() } else { self.mail.reconcile(actor, local) };
        for message in gone {
            let fate = if halted { Fate::Discarded } else { Fate::Ignored };
            self.trace.messages[message.index()].fate = fate;
            if !halted {
                self.push(Entry::Ignore { message });
            }
        }
        for (message, is_in) in self.mail.take_moves(actor) {
            let what = if is_in { ChangeKind::Queued(message) } else { ChangeKind::Unqueued(message) };
            self.change(actor, what);
        }
    }

    /// A machine takes a message.
    fn take(
        &mut self,
        scene: &Scene<'_>,
        machine: InstanceId,
        message: Message,
    ) -> (ActorId, Option<MessageId>) {
        let actor = self.machine(scene, machine);
        let id = self.mail.take(actor, message);
        if let Some(id) = id {
            let now = self.now();
            let taken = &mut self.trace.messages[id.index()];
            taken.taken = Some(now);
            taken.fate = Fate::Taken;
        }
        self.known[actor.index()].message = id;
        (actor, id)
    }
}

/// A value without parts. That a place was assigned the value it had can be what was lost of another assignment; of values
/// with parts, only differences are kept.
fn is_scalar(value: Value) -> bool {
    matches!(value.kind(), None | Some(Kind::Int | Kind::Float | Kind::String))
}

impl Recorder for Tracer {
    const WRITES: bool = true;

    fn before_step(&mut self, scene: &Scene<'_>, conf: &Configuration, choice: Choice) {
        self.touched.clear();
        if self.trace.steps.is_empty() {
            self.trace.steps.push(TraceStep::default());
            for monitor in 0..scene.exe.monitors.len() {
                let name: Name = scene.exe.monitor_name(monitor).into();
                let machine = scene.exe.monitors[monitor].machine;
                self.add_actor(scene, machine, name, ActorKind::Monitor, None);
                self.touch(ActorId::new(monitor), Actor::Monitor(monitor as u32));
            }
        } else {
            self.trace.steps.push(TraceStep::default());
        }
        let mover = match choice {
            Choice::Machine(machine) | Choice::Crash(machine) => Some(self.machine(scene, machine)),
            Choice::Deliver { .. } | Choice::Data(_) => None,
        };
        let others = conf.movers().filter(|&other| match choice {
            Choice::Machine(machine) => machine != other,
            Choice::Deliver { target, .. } => target != other,
            Choice::Crash(_) | Choice::Data(_) => true,
        });
        let mut alternatives = Vec::new();
        let mut n_alternatives = 0;
        for other in others {
            n_alternatives += 1;
            if alternatives.len() < MAX_ALTERNATIVES {
                alternatives.extend(self.actors.get(&other).filter(|actor| !alternatives.contains(*actor)));
            }
        }
        if let Some(step) = self.trace.steps.last_mut() {
            step.actor = mover;
            step.alternatives = alternatives;
            step.n_alternatives = n_alternatives;
        }
    }

    fn after_step(&mut self, scene: &Scene<'_>, conf: &Configuration, is_cut: bool) {
        let touched = std::mem::take(&mut self.touched);
        for &(actor, of) in &touched {
            let local = match of {
                Actor::Machine(instance) => conf.local(instance),
                Actor::Monitor(monitor) => &conf.monitors[monitor as usize],
            };
            self.compare(scene, actor, of, local);
            if let Actor::Machine(_) = of {
                self.compare_inbox(actor, local, is_cut);
            }
        }
        self.touched = touched;
    }

    fn record(&mut self, scene: &Scene<'_>, note: Note) {
        let exe = scene.exe;
        let entry = match note {
            Note::Chosen(choice) => {
                if let Some(step) = self.trace.steps.last_mut() {
                    step.choices.push(choice);
                }
                return;
            }
            Note::Create { creator, created, payload, span } => {
                let creator = creator.map(|creator| self.machine(scene, creator));
                let machine = match self.actors.get(&created) {
                    Some(&machine) => machine,
                    None => self.add_machine(scene, created, creator),
                };
                self.touch(machine, Actor::Machine(created));
                let notation = &exe.interfaces[scene.roster.interface(created)].payload;
                let payload = (!payload.is_null()).then(|| self.data.shared(scene, notation, payload));
                Entry::Create { machine, creator, payload, span }
            }
            Note::Send { machine, state, target, message, span } => {
                let is_delayed = exe.network.is_delayed() && machine != target;
                let (sender, to) = (self.machine(scene, machine), self.machine(scene, target));
                let id = match self.mail.observed(sender) {
                    Some(id) => id,
                    None => self.new_message(scene, sender, Some(to), message, span),
                };
                let now = self.now();
                let sent = &mut self.trace.messages[id.index()];
                sent.fate = if is_delayed { Fate::InFlight } else { Fate::Waiting };
                sent.delivered = (!is_delayed).then_some(now);
                self.mail.send(id, sender, to, message, is_delayed);
                Entry::Send { message: id, state: self.state_name(scene, state), is_delayed }
            }
            Note::Lose { machine, target, message } => {
                let (sender, to) = (self.machine(scene, machine), self.machine(scene, target));
                let Some(id) = self.mail.undo(sender, to, message) else { return };
                self.trace.messages[id.index()].fate = Fate::Lost;
                self.trace.messages[id.index()].delivered = None;
                Entry::Lose { message: id }
            }
            Note::Duplicate { machine, target, message } => {
                let (sender, to) = (self.machine(scene, machine), self.machine(scene, target));
                let Some(first) = self.mail.last(sender, to, message) else { return };
                let copy = self.trace.messages[first.index()].clone();
                let id = MessageId::new(self.trace.messages.len());
                let is_delayed = copy.delivered.is_none();
                self.trace.messages.push(allways_run::TraceMessage { copy_of: Some(first), ..copy });
                self.mail.send(id, sender, to, message, is_delayed);
                Entry::Duplicate { message: first, copy: id }
            }
            Note::Arrive { source, target, message } => {
                let (sender, to) = (self.machine(scene, source), self.machine(scene, target));
                let id = match self.mail.arrive(sender, to, message) {
                    Some(id) => id,
                    None => {
                        let id = self.new_message(scene, sender, Some(to), message, None);
                        self.mail.send(id, sender, to, message, false);
                        id
                    }
                };
                let now = self.now();
                let arrived = &mut self.trace.messages[id.index()];
                arrived.delivered = Some(now);
                arrived.fate = Fate::Waiting;
                Entry::Arrive { message: id }
            }
            Note::Crash { machine, state, n_discarded } => Entry::Crash {
                machine: self.machine(scene, machine),
                state: self.state_name(scene, state),
                n_discarded,
            },
            Note::Drop { machine, target, message } => {
                let (sender, to) = (self.machine(scene, machine), self.machine(scene, target));
                let Some(id) = self.mail.undo(sender, to, message) else { return };
                self.trace.messages[id.index()].fate = Fate::Dropped;
                Entry::Drop { message: id }
            }
            Note::Dequeue { machine, state, message } => {
                let (machine, id) = self.take(scene, machine, message);
                self.known[machine.index()].received = None;
                let (state, event) = (self.state_name(scene, state), self.event_name(scene, message.event));
                Entry::Dequeue { machine, state, event, payload: self.payload(scene, message), message: id }
            }
            Note::Receive { machine, state, message } => {
                let (machine, id) = self.take(scene, machine, message);
                self.known[machine.index()].received = Some(message.event);
                let (state, event) = (self.state_name(scene, state), self.event_name(scene, message.event));
                Entry::Receive { machine, state, event, payload: self.payload(scene, message), message: id }
            }
            Note::Wait { machine, state, table } => {
                let machine = self.machine(scene, machine);
                let events = self.awaited(scene, table);
                Entry::Wait { machine, state: self.state_name(scene, state), events }
            }
            Note::Raise { actor, state, message, span } => {
                let actor = self.actor(scene, actor);
                let (state, event) = (self.state_name(scene, state), self.event_name(scene, message.event));
                Entry::Raise { actor, state, event, payload: self.payload(scene, message), span }
            }
            Note::Goto { actor, state, target } => Entry::Goto {
                actor: self.actor(scene, actor),
                state: self.state_name(scene, state),
                target: self.state_name(scene, target),
            },
            Note::Enter { actor, state } => Entry::Enter {
                actor: self.actor(scene, actor),
                state: self.state_name(scene, state),
                temperature: match exe.states[state].temperature {
                    Temperature::Warm => None,
                    Temperature::Hot => Some("hot"),
                    Temperature::Cold => Some("cold"),
                },
            },
            Note::Exit { actor, state } => {
                Entry::Exit { actor: self.actor(scene, actor), state: self.state_name(scene, state) }
            }
            Note::Announce { machine, state, message, span } => {
                let sender = self.machine(scene, machine);
                let id = self.new_message(scene, sender, None, message, Some(span));
                self.trace.messages[id.index()].fate = Fate::Announced;
                self.mail.announce(sender, id);
                Entry::Announce { message: id, state: self.state_name(scene, state) }
            }
            Note::Observe { monitor, state, machine, message, target, span } => {
                let sender = self.machine(scene, machine);
                let target = target.map(|target| self.machine(scene, target));
                let id = match self.mail.observing(sender, target.is_some()) {
                    Some(id) => id,
                    None => {
                        let id = self.new_message(scene, sender, target, message, Some(span));
                        self.mail.observe(sender, id);
                        id
                    }
                };
                let monitor = self.actor(scene, Actor::Monitor(monitor));
                self.known[monitor.index()].message = Some(id);
                Entry::Observe { monitor, state: self.state_name(scene, state), message: id }
            }
            Note::Assign { actor, field } => {
                let actor = self.actor(scene, actor);
                self.known[actor.index()].assigned |= 1u64.checked_shl(field).unwrap_or(0);
                return;
            }
            Note::Answer { machine, answer, n_answers, source, span } => {
                let value = match scene.store.nth(source, answer as usize) {
                    Some(value) => self.data.datum(scene, &Notation::Plain, value),
                    None if source.is_null() => Datum::Bool(answer != 0),
                    None => Datum::Int(answer as i64),
                };
                Entry::Choice { machine: self.machine(scene, machine), answer, n_answers, value, span }
            }
            Note::Print { actor, text, span } => {
                let text = scene.text(Form::Plain, text).into();
                Entry::Print { actor: self.actor(scene, actor), text, span }
            }
            Note::Halt { machine, n_discarded } => {
                Entry::Halt { machine: self.machine(scene, machine), n_discarded }
            }
        };
        self.push(entry);
    }
}
