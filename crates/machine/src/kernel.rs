//! The kernel: one deterministic `step`.
//!
//! [`Kernel::step`] is the only definition of what a P program does. Its freedoms are which machine steps (the
//! argument) and how data choices resolve (asked of an [`Oracle`]); the list of both is the schedule. Over a network
//! that delays messages, bringing one to its target is a step too, and so is the crash of a machine: [`Kernel::take`]
//! makes all three.
//!
//! A step of machine p, as in docs/semantics.md, section 2 with patient, lazy outboxes:
//! 1. p makes the effect it stands before: a delivery, a creation, or nothing when its handler begins with an
//!    observation.
//! 2. p runs on to its next delivery or creation; what it observes until then passes through the monitors
//!    now. When its handler ends, it takes the next message, and stops before the first effect.
//! 3. The target, if it is idle and can take the message, handles it at once, but only up to its own first effect: an
//!    observation or a fault of its own needs a step of its own, since others may come first. A created machine
//!    begins likewise. (This comes last because nothing happens after a fault of p.)
//!
//! A machine whose control state handles null can step while it is idle; that step fires the null event, and
//! runs its handler up to the first effect as a delivery would.
//!
//! Over a network that delays ([`crate::network`]), 1 puts the message into the network, and 3 comes when the network brings it. A
//! machine that crashes halts where it stands; the effect it stood before is not made. A configuration in which
//! nothing but crashes is possible has ended.

mod apart;
mod effort;
mod fault;
mod snapshot;
mod stepping;
mod tail;

use std::sync::Arc;

use allways_base::Idx;
use allways_p::hir::Temperature;
use allways_run::{
    Cancel, Choice, InstanceId, Limits, Never, Schedule, StopReason, Violation, ViolationKind,
};

use crate::Executable;
use crate::configuration::{Configuration, EnabledSet, Fault, Local, Mover, Pending, Status};
use crate::data::DataPlan;
use crate::instances::KnownInstances;
use crate::invariant::{Evaluator, Invariant, Truth};
use crate::ir::{ControlId, InterfaceId, MachineId};
use crate::record::{Actor, Note, Recorder, Scene};
use crate::rules;
use crate::value::{Mark, Roots, Store, Value};

pub use apart::{Alone, Paused};
pub use effort::Spent;
pub use snapshot::Snapshot;
use stepping::Stepping;

/// Beyond so many nodes a reset forgets the values of earlier runs. Below, they are worth keeping: the next run makes
/// mostly the same ones.
const KEPT_NODES: usize = 1 << 14;
const KEPT_WORDS: usize = 1 << 18;

/// Steps between two questions whether to stop.
const STEPS_PER_POLL: u64 = 1 << 6;

/// How a run stands.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    Running,
    /// Terminal, without a deadlock.
    Quiescent,
    Violated(Box<Violation>),
    Unknown(StopReason),
}

/// A choice of data that has to be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataPoint {
    pub machine: InstanceId,
    /// Two at least.
    pub n_answers: u32,
    /// Written `$$`.
    pub is_fair: bool,
    /// Written `choose(n)`, of a number: answers are numbers, so none of them names a machine.
    pub is_number: bool,
    /// The op that asks.
    pub pc: u32,
}

/// Resolves data choices.
pub trait Oracle {
    /// The answer, below `n_answers`.
    fn answer(&mut self, point: DataPoint) -> u32;
}

impl<F: FnMut(DataPoint) -> u32> Oracle for F {
    fn answer(&mut self, point: DataPoint) -> u32 {
        self(point)
    }
}

/// That step cannot be made here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotEnabled(pub Choice);

/// One run at a time of one test. Made once and reset between runs, so that nothing is allocated anew.
pub struct Kernel<'c> {
    exe: Arc<Executable>,
    limits: Limits,
    /// Asked while a handler runs for long.
    stop: &'c dyn Cancel,
    /// A run of more choices is cut in the middle of a handler.
    max_choices: u64,
    /// All values are those of the present run: large ones change in place, and old ones are forgotten.
    is_transient: bool,
    /// Values that the current step needs later.
    held: Vec<Value>,
    store: Store,
    /// The constants of the store.
    base: Mark,
    known: KnownInstances,
    conf: Configuration,
    outcome: Outcome,
    schedule: Schedule,
    n_steps: u64,
    /// While a machine is run apart from all others.
    apart: Option<apart::Apart>,
}

impl<'c> Kernel<'c> {
    /// A kernel that stands before the first step.
    pub fn new(exe: Arc<Executable>, limits: Limits) -> Self {
        Kernel::with_stop(exe, limits, &Never)
    }

    /// The same, where a handler that runs for long ends when it is to stop: the outcome is unknown then.
    pub fn with_stop(exe: Arc<Executable>, limits: Limits, stop: &'c dyn Cancel) -> Self {
        let store = exe.store.clone();
        let mut kernel = Kernel {
            limits,
            stop,
            max_choices: u64::MAX,
            is_transient: false,
            held: Vec::new(),
            base: store.mark(),
            store,
            known: KnownInstances::default(),
            conf: Configuration::default(),
            outcome: Outcome::Running,
            schedule: Schedule::default(),
            n_steps: 0,
            apart: None,
            exe,
        };
        kernel.reset();
        kernel
    }

    /// Takes chosen numbers to be equivalent, as far as a plan says, and reports to it what shows the difference.
    pub fn set_data(&mut self, plan: Option<Arc<DataPlan>>) {
        self.store.data = plan;
    }

    /// Back to before the first step, which starts the monitors and the main machine.
    pub fn reset(&mut self) {
        self.store.clear_drafts();
        self.held.clear();
        if self.store.n_nodes() > KEPT_NODES || self.store.n_words() > KEPT_WORDS {
            self.store.truncate(self.base);
        }
        self.conf.clear();
        self.outcome = Outcome::Running;
        self.schedule.choices.clear();
        self.n_steps = 0;
        let exe = &self.exe;
        self.conf.monitors.resize_with(exe.monitors.len(), Local::default);
        for (monitor, local) in exe.monitors.iter().zip(&mut self.conf.monitors) {
            let def = &exe.machines[monitor.machine];
            let start = def.start.unwrap_or(ControlId::from_u32(0));
            local.reset(monitor.machine, InterfaceId::from_u32(0), start, &def.fields);
        }
        let main = self.exe.main;
        self.add_machine(InstanceId::MAIN, main);
        self.conf.locals[0].status = Status::Pending(Pending::Start);
        self.refresh(InstanceId::MAIN);
    }

    /// The same kernel, which runs every handler to its end.
    pub fn without_stop(self) -> Kernel<'static> {
        let Kernel { exe, limits, max_choices, store, base, known, conf, outcome, .. } = self;
        let Kernel { schedule, n_steps, apart, is_transient, held, .. } = self;
        Kernel {
            exe,
            limits,
            stop: &Never,
            max_choices,
            is_transient,
            held,
            store,
            base,
            known,
            conf,
            outcome,
            schedule,
            n_steps,
            apart,
        }
    }

    /// Cuts runs at so many choices, data choices in the middle of a handler included:
    /// [`StopReason::ChoiceBound`]. Returns the bound so far.
    pub fn bound_choices(&mut self, max_choices: u64) -> u64 {
        std::mem::replace(&mut self.max_choices, max_choices)
    }

    /// Says whether values are those of the present run alone, of which nothing is kept between steps: then large
    /// collections change in place, and old values are forgotten.
    pub fn set_transient(&mut self, is_transient: bool) -> bool {
        if !is_transient {
            self.settle();
        }
        std::mem::replace(&mut self.is_transient, is_transient)
    }

    /// Makes every value one that can be kept.
    fn settle(&mut self) {
        if !self.store.has_drafts() {
            return;
        }
        let Kernel { store, conf, outcome, .. } = self;
        // A run that was stopped is not used, and may have stopped because memory is short.
        let is_stopped = matches!(outcome, Outcome::Unknown(_));
        let mut settle = |registers: &mut [Value]| match is_stopped {
            true => {
                registers.iter_mut().filter(|value| value.is_draft()).for_each(|value| *value = Value::NULL)
            }
            false => store.freeze_all(registers),
        };
        for machine in conf.roster.iter() {
            settle(&mut conf.locals[machine.index()].registers);
        }
        for local in &mut conf.monitors {
            settle(&mut local.registers);
        }
        store.clear_drafts();
    }

    /// Values in order again.
    fn after_step(&mut self) {
        match self.is_transient {
            true => drop(self.collect()),
            false => self.settle(),
        }
    }

    #[inline]
    fn machine_parts(&mut self, machine: InstanceId) -> (&Executable, &mut Local) {
        (&self.exe, &mut self.conf.locals[machine.index()])
    }

    /// The same of one machine or monitor, which is all that has changed.
    #[inline]
    fn settle_local(&mut self, actor: Actor) {
        if !self.is_transient && self.store.has_drafts() {
            let Kernel { store, conf, .. } = self;
            let local = match actor {
                Actor::Machine(machine) => &mut conf.locals[machine.index()],
                Actor::Monitor(monitor) => &mut conf.monitors[monitor as usize],
            };
            store.settle(&mut local.registers);
        }
    }

    /// Forgets values that nothing needs any more, if there are many. Says whether values have moved.
    #[inline]
    fn collect(&mut self) -> bool {
        let is_due = self.is_transient && self.apart.is_none() && self.store.is_full();
        if is_due {
            let Kernel { store, conf, held, base, .. } = self;
            let roots: &mut Roots<'_> = &mut |visit| {
                conf.each_value(visit);
                held.iter_mut().for_each(&mut *visit);
            };
            store.collect(*base, roots);
        }
        is_due
    }

    pub fn executable(&self) -> &Arc<Executable> {
        &self.exe
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    #[inline]
    pub fn is_running(&self) -> bool {
        matches!(self.outcome, Outcome::Running)
    }

    /// The choices of the run so far.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Steps so far, of machines and of the network.
    #[inline]
    pub fn n_steps(&self) -> u64 {
        self.n_steps
    }

    pub fn configuration(&self) -> &Configuration {
        &self.conf
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Evaluates parts of invariants on the kernel's values.
    pub fn evaluator(&mut self) -> Evaluator<'_> {
        Evaluator { exe: &self.exe, limits: &self.limits, store: &mut self.store }
    }

    /// Whether an invariant holds in the present configuration; if not, for which machines, by variable.
    pub fn check_invariant(&mut self, invariant: &Invariant) -> (Truth, Vec<Option<InstanceId>>) {
        let mut evaluator = Evaluator { exe: &self.exe, limits: &self.limits, store: &mut self.store };
        evaluator.holds(invariant, &self.conf)
    }

    pub(crate) fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    pub fn scene(&self) -> Scene<'_> {
        Scene { exe: &self.exe, store: &self.store, roster: &self.conf.roster }
    }

    /// What can move, by place: machines that can step, and channels of the network that can bring something.
    #[inline]
    pub fn enabled_set(&self) -> &EnabledSet {
        &self.conf.enabled
    }

    /// How many places there are.
    #[inline]
    pub fn n_places(&self) -> usize {
        let n_movers = self.conf.places.movers.len();
        if n_movers == 0 { self.conf.roster.len() } else { n_movers }
    }

    /// The step at this place; of a channel that can bring several messages, the first of these steps.
    #[inline]
    pub fn choice_at(&self, place: usize) -> Choice {
        match self.conf.places.movers.get(place) {
            None => Choice::Machine(self.conf.roster.at(place)),
            Some(Mover::Machine(machine)) => Choice::Machine(*machine),
            Some(Mover::Channel(channel)) => {
                let channel = &self.conf.network.channels[*channel as usize];
                Choice::Deliver { target: channel.target, source: channel.source, place: 0 }
            }
        }
    }

    /// How many steps there are at a place: one, unless it is a channel in which messages overtake each other.
    pub fn n_picks(&self, place: usize) -> u32 {
        match self.conf.places.movers.get(place) {
            None | Some(Mover::Machine(_)) => 1,
            Some(Mover::Channel(channel)) => {
                self.conf.network.n_picks(self.exe.network.model, *channel as usize)
            }
        }
    }

    /// All steps but crashes, in order of places.
    pub fn choices(&self) -> impl Iterator<Item = Choice> + '_ {
        self.conf.enabled.iter().flat_map(|at| {
            let first = self.choice_at(at);
            (0..self.n_picks(at)).map(move |place| match first {
                Choice::Deliver { target, source, .. } => Choice::Deliver { target, source, place },
                other => other,
            })
        })
    }

    /// Machines that can step, in order of creation.
    pub fn enabled(&self) -> impl Iterator<Item = InstanceId> + '_ {
        self.conf.enabled.iter().filter_map(|place| match self.choice_at(place) {
            Choice::Machine(machine) => Some(machine),
            Choice::Deliver { .. } | Choice::Crash(_) | Choice::Data(_) => None,
        })
    }

    /// Machines that can crash now, in order of creation.
    pub fn crashes(&self) -> impl Iterator<Item = InstanceId> + '_ {
        let has_crashes = self.is_running() && self.exe.network.has_crashes();
        let machines = has_crashes.then(|| self.conf.roster.iter());
        machines.into_iter().flatten().filter(|&machine| self.can_crash(machine))
    }

    /// How many can move.
    #[inline]
    pub fn n_enabled(&self) -> usize {
        self.conf.enabled.len()
    }

    /// The step of the `n`-th place that can move.
    #[inline]
    pub fn nth_enabled(&self, n: usize) -> Option<Choice> {
        self.conf.enabled.nth(n).map(|place| self.choice_at(place))
    }

    pub fn is_enabled(&self, machine: InstanceId) -> bool {
        let number = self.conf.roster.number(machine);
        let place = number.map(|number| self.conf.places.of_machine(number as usize - 1));
        place.is_some_and(|place| self.conf.enabled.contains(place))
    }

    /// The machine that is reached by the move at a place: strategies look at conflicts here.
    pub fn reaches(&self, place: usize) -> Option<InstanceId> {
        match self.choice_at(place) {
            Choice::Deliver { target, .. } => Some(target),
            // What enters the network does not yet reach anything.
            Choice::Machine(_) if self.exe.network.is_delayed() => None,
            Choice::Machine(machine) => match self.pending(machine) {
                Some(Pending::Deliver { target, .. }) => Some(target),
                _ => None,
            },
            Choice::Crash(_) | Choice::Data(_) => None,
        }
    }

    /// What the next step of a machine does first.
    pub fn pending(&self, machine: InstanceId) -> Option<Pending> {
        self.conf.roster.number(machine)?;
        match self.conf.locals[machine.index()].status {
            Status::Pending(pending) => Some(pending),
            Status::Idle | Status::Blocked { .. } | Status::Halted => None,
        }
    }

    /// The temperature of a monitor's control state. Scenarios are never hot.
    #[inline]
    pub fn temperature(&self, monitor: usize) -> Temperature {
        let local = &self.conf.monitors[monitor];
        match self.exe.states.get(local.control) {
            Some(state) if !self.exe.machines[local.machine].is_scenario => state.temperature,
            _ => Temperature::Warm,
        }
    }

    pub fn n_monitors(&self) -> usize {
        self.conf.monitors.len()
    }

    /// Makes one step of `machine`. Data choices met in it are asked of the oracle.
    pub fn step<O: Oracle, R: Recorder>(
        &mut self,
        machine: InstanceId,
        oracle: &mut O,
        recorder: &mut R,
    ) -> Result<(), NotEnabled> {
        if !self.is_running() || !self.is_enabled(machine) {
            return Err(NotEnabled(Choice::Machine(machine)));
        }
        if self.is_stopped() {
            return Ok(());
        }
        self.open(Choice::Machine(machine), recorder);
        Stepping { kernel: self, oracle, recorder }.step(machine);
        self.close(recorder);
        Ok(())
    }

    /// Begins a step.
    fn open<R: Recorder>(&mut self, choice: Choice, recorder: &mut R) {
        if R::ON {
            recorder.before_step(&self.scene(), &self.conf, choice);
        }
        self.n_steps += 1;
        self.schedule.choices.push(choice);
        note(self, recorder, || Note::Chosen(choice));
    }

    /// Ends a step, and the run if no other step can be made.
    fn close<R: Recorder>(&mut self, recorder: &mut R) {
        self.after_step();
        if R::ON {
            recorder.after_step(&self.scene(), &self.conf, !self.is_running());
        }
        if self.is_running() && self.conf.enabled.is_empty() {
            self.end();
        }
    }

    /// Asks from time to time whether to stop: a run may have any number of steps, and a step may take milliseconds.
    #[inline]
    fn is_stopped(&mut self) -> bool {
        if self.n_steps % STEPS_PER_POLL != STEPS_PER_POLL - 1 {
            return false;
        }
        match self.stop.reason() {
            None => false,
            Some(reason) => {
                self.outcome = Outcome::Unknown(reason);
                true
            }
        }
    }

    fn add_machine(&mut self, instance: InstanceId, interface: InterfaceId) {
        if self.conf.locals.len() <= instance.index() {
            self.conf.locals.resize_with(instance.index() + 1, Local::default);
        }
        let machine = self.exe.interfaces[interface].machine.unwrap_or(MachineId::from_u32(0));
        let def = &self.exe.machines[machine];
        let local = &mut self.conf.locals[instance.index()];
        let start = def.start.unwrap_or(ControlId::from_u32(0));
        local.reset(machine, interface, start, &def.fields);
        self.conf.roster.add(instance, interface);
        if self.exe.network.is_delayed() {
            self.conf.places.add_machine(instance);
        }
    }

    /// Brings the enabled set up to date about one machine.
    #[inline]
    fn refresh(&mut self, instance: InstanceId) {
        let enabled = rules::can_step(&self.exe, &self.conf.locals[instance.index()]);
        if let Some(number) = self.conf.roster.number(instance) {
            let place = self.conf.places.of_machine(number as usize - 1);
            self.conf.enabled.set(place, enabled);
        }
    }

    /// No step is enabled.
    fn end(&mut self) {
        let blocked: Vec<InstanceId> = self
            .conf
            .instances()
            .filter(|(_, local)| matches!(local.status, Status::Blocked { .. }))
            .map(|(instance, _)| instance)
            .collect();
        if let Some(&first) = blocked.first() {
            let scene = self.scene();
            let names: Vec<String> = blocked.iter().map(|&instance| scene.name(instance)).collect();
            let verb = if names.len() == 1 { "is" } else { "are" };
            let message = format!(
                "Deadlock detected. {} {verb} waiting to receive an event, but no other controlled tasks are enabled.",
                names.join(", ")
            );
            let span =
                self.conf.locals[first.index()].frames.last().map(|frame| self.exe.spans[frame.pc as usize]);
            self.outcome = Outcome::Violated(Box::new(Violation {
                kind: ViolationKind::Deadlock,
                message,
                span,
                machine: Some(first),
                monitor: None,
            }));
            return;
        }
        let hot = (0..self.n_monitors()).find(|&monitor| self.temperature(monitor) == Temperature::Hot);
        self.outcome = match hot {
            None => Outcome::Quiescent,
            Some(monitor) => {
                let state = &self.exe.states[self.conf.monitors[monitor].control];
                Outcome::Violated(Box::new(Violation {
                    kind: ViolationKind::HotAtEnd,
                    message: format!(
                        "Monitor '{}' detected liveness bug in hot state '{}' at the end of program execution.",
                        self.exe.monitor_name(monitor),
                        self.exe.symbols.text(state.name)
                    ),
                    span: Some(state.span),
                    machine: None,
                    monitor: Some(monitor),
                }))
            }
        };
    }

    #[cold]
    fn violate(&mut self, actor: Actor, fault: Fault) {
        let message = self.store.as_str(fault.text).unwrap_or("");
        let message = self.scene().reveal(message);
        let (machine, monitor) = match actor {
            Actor::Machine(instance) => (Some(instance), None),
            Actor::Monitor(monitor) => (None, Some(monitor as usize)),
        };
        self.outcome = Outcome::Violated(Box::new(Violation {
            kind: fault.kind,
            message,
            span: fault.span,
            machine,
            monitor,
        }));
    }
}

#[inline]
fn note<R: Recorder>(kernel: &Kernel<'_>, recorder: &mut R, note: impl FnOnce() -> Note) {
    if R::ON {
        recorder.record(&kernel.scene(), note());
    }
}
