//! Invariants that the user states: what they read of a configuration, and whether it holds.
//!
//! The parts without quantifiers and connectives are functions of the program ([`hir::Invariant`]), run by the interpreter
//! like all code. What they read is asked for place by place ([`Place`]): a search that knows a set of configurations splits it by the
//! values of a place when they are asked for, and one configuration has an answer to everything.

use allways_base::{Idx, Span, Symbol};
use allways_p::hir;
use allways_run::{InstanceId, Limits, StopReason, ViolationKind};

use crate::Executable;
use crate::configuration::{Configuration, Fault, Frame, Local, Roster, Status};
use crate::interpret::{Context, Effect, Input, resume};
use crate::ir::{ControlId, FunId, MachineId, Operand};
use crate::record::{Actor, Silent};
use crate::value::{Store, Value};

/// Instructions of one part; more are a mistake.
const MAX_INSTRUCTIONS: u32 = 10_000_000;

/// A condition on all machines and monitors.
#[derive(Clone, Debug)]
pub struct Invariant {
    pub span: Span,
    /// Machines that it is about, by number: of which declaration, and what they are called.
    pub variables: Vec<(MachineId, Symbol)>,
    pub formula: Formula,
    /// A spec that it reads and the test does not attach.
    pub unattached: Option<MachineId>,
}

#[derive(Clone, Debug)]
pub enum Formula {
    Atom(Atom),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Iff(Box<Formula>, Box<Formula>),
    /// Of all machines of the variable's declaration that exist, or of some.
    Quantified {
        is_universal: bool,
        variable: usize,
        body: Box<Formula>,
    },
}

/// A part that one function evaluates.
#[derive(Clone, Debug)]
pub struct Atom {
    pub fun: FunId,
    pub reads: Vec<Read>,
    pub span: Span,
}

/// Something that is read of a configuration: an argument of the function.
#[derive(Clone, Debug)]
pub enum Read {
    Machine(usize),
    Field(Box<Read>, MachineId, u32),
    MonitorField(u32, u32),
    IsIn(Box<Read>, ControlId),
    MonitorIsIn(u32, ControlId),
    IsKind(Box<Read>, MachineId),
}

/// A part of a configuration that has one value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// Which declaration it is of.
    Kind(Actor),
    Control(Actor),
    Field(Actor, u32),
}

/// What is at a place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum At {
    /// `None`: there is no such machine, or not any more.
    Kind(Option<MachineId>),
    Control(Option<ControlId>),
    Value(Value),
}

/// What became of an evaluation.
#[derive(Clone, PartialEq, Debug)]
pub enum Truth {
    Holds,
    Fails,
    /// It has no value: the kind of fault and its text.
    Fault(ViolationKind, String),
    /// It depends on what is at a place that is not known.
    DependsOn(Place),
    /// It cannot be evaluated.
    Unknown(StopReason),
}

impl Invariant {
    pub(crate) fn new(
        invariant: &hir::Invariant,
        control: impl Fn(MachineId, hir::StateId) -> ControlId,
        monitor: impl Fn(MachineId) -> Option<u32>,
    ) -> Self {
        let mut lowering = Lowering { control: &control, monitor: &monitor, unattached: None };
        let formula = lowering.formula(&invariant.formula);
        Invariant {
            span: invariant.span,
            variables: invariant.variables.clone(),
            formula,
            unattached: lowering.unattached,
        }
    }
}

struct Lowering<'a> {
    control: &'a dyn Fn(MachineId, hir::StateId) -> ControlId,
    monitor: &'a dyn Fn(MachineId) -> Option<u32>,
    unattached: Option<MachineId>,
}

impl Lowering<'_> {
    fn formula(&mut self, formula: &hir::Formula) -> Formula {
        let mut lower = |inner: &hir::Formula| Box::new(self.formula(inner));
        match formula {
            hir::Formula::Not(a) => Formula::Not(lower(a)),
            hir::Formula::And(a, b) => Formula::And(lower(a), lower(b)),
            hir::Formula::Or(a, b) => Formula::Or(lower(a), lower(b)),
            hir::Formula::Iff(a, b) => Formula::Iff(lower(a), lower(b)),
            hir::Formula::Quantified { is_universal, variable, body } => {
                Formula::Quantified { is_universal: *is_universal, variable: *variable, body: lower(body) }
            }
            hir::Formula::Atom(atom) => Formula::Atom(Atom {
                fun: atom.fun,
                reads: atom.reads.iter().map(|read| self.read(read)).collect(),
                span: atom.span,
            }),
        }
    }

    fn read(&mut self, read: &hir::Read) -> Read {
        match read {
            hir::Read::Machine(variable) => Read::Machine(*variable),
            hir::Read::Field(of, machine, field) => {
                Read::Field(Box::new(self.read(of)), *machine, field.as_u32())
            }
            hir::Read::SpecField(machine, field) => {
                Read::MonitorField(self.monitor(*machine), field.as_u32())
            }
            hir::Read::IsIn(of, machine, state) => {
                Read::IsIn(Box::new(self.read(of)), (self.control)(*machine, *state))
            }
            hir::Read::SpecIsIn(machine, state) => {
                Read::MonitorIsIn(self.monitor(*machine), (self.control)(*machine, *state))
            }
            hir::Read::IsKind(of, machine) => Read::IsKind(Box::new(self.read(of)), *machine),
        }
    }

    fn monitor(&mut self, machine: MachineId) -> u32 {
        (self.monitor)(machine).unwrap_or_else(|| {
            self.unattached = Some(machine);
            0
        })
    }
}

/// Evaluates parts of invariants on values of a store.
pub struct Evaluator<'e> {
    pub exe: &'e Executable,
    pub limits: &'e Limits,
    pub store: &'e mut Store,
}

impl Evaluator<'_> {
    /// Whether a part holds where variables stand for these machines, as far as the places tell that it depends on.
    pub fn atom(
        &mut self,
        atom: &Atom,
        machines: &[Option<InstanceId>],
        look: &mut dyn FnMut(Place) -> Option<At>,
    ) -> Truth {
        let mut arguments = Vec::with_capacity(atom.reads.len());
        for read in &atom.reads {
            match self.read(read, machines, look) {
                Ok(value) => arguments.push(value),
                Err(truth) => return truth,
            }
        }
        self.call(atom, &arguments)
    }

    fn read(
        &mut self,
        read: &Read,
        machines: &[Option<InstanceId>],
        look: &mut dyn FnMut(Place) -> Option<At>,
    ) -> Result<Value, Truth> {
        match read {
            Read::Machine(variable) => {
                let Some(machine) = machines[*variable] else { return Ok(Value::NULL) };
                let kind = kind_at(Actor::Machine(machine), look)?;
                let receives = kind.map(|kind| self.exe.machines[kind].receives);
                Ok(receives.map_or(Value::NULL, |receives| Value::reference(machine, receives)))
            }
            Read::Field(of, machine, field) => {
                let fault = |kind, text: String| Err(Truth::Fault(kind, text));
                let kind = || self.exe.machine_name(*machine).to_owned();
                let Some((instance, _)) = self.read(of, machines, look)?.as_ref() else {
                    let text = format!("it reads a variable of a `{}` that is null.", kind());
                    return fault(ViolationKind::NullTarget, text);
                };
                match kind_at(Actor::Machine(instance), look)? {
                    Some(found) if found == *machine => value_at(Actor::Machine(instance), *field, look),
                    Some(_) => {
                        let text = format!(
                            "it reads a variable of a `{}`, but the machine is of another type.",
                            kind()
                        );
                        fault(ViolationKind::Cast, text)
                    }
                    None => {
                        let text = format!("it reads a variable of a `{}` that has halted.", kind());
                        fault(ViolationKind::NullTarget, text)
                    }
                }
            }
            Read::MonitorField(monitor, field) => value_at(Actor::Monitor(*monitor), *field, look),
            Read::IsIn(of, wanted) => {
                let Some((instance, _)) = self.read(of, machines, look)?.as_ref() else {
                    return Ok(Value::FALSE);
                };
                Ok(Value::bool(control_at(Actor::Machine(instance), look)? == Some(*wanted)))
            }
            Read::MonitorIsIn(monitor, wanted) => {
                Ok(Value::bool(control_at(Actor::Monitor(*monitor), look)? == Some(*wanted)))
            }
            Read::IsKind(of, machine) => {
                let Some((instance, _)) = self.read(of, machines, look)?.as_ref() else {
                    return Ok(Value::FALSE);
                };
                Ok(Value::bool(kind_at(Actor::Machine(instance), look)? == Some(*machine)))
            }
        }
    }

    fn call(&mut self, atom: &Atom, arguments: &[Value]) -> Truth {
        let def = &self.exe.funs[atom.fun];
        // The function belongs to no machine, but every local state does.
        let mut local = Local { machine: MachineId::from_u32(0), ..Local::default() };
        let n_fields = self.exe.machines[local.machine].fields.len();
        local.registers = vec![Value::NULL; n_fields];
        local.registers.extend(arguments);
        local.registers.resize(n_fields + def.n_registers as usize, Value::NULL);
        local.frames.push(Frame {
            fun: atom.fun,
            pc: def.entry,
            base: n_fields as u32,
            dst: Operand::register(0),
        });
        let mut fuel = MAX_INSTRUCTIONS;
        let effect = resume(
            Context {
                exe: self.exe,
                store: self.store,
                roster: &Roster::default(),
                limits: self.limits,
                recorder: &mut Silent,
                actor: Actor::Machine(InstanceId::MAIN),
                fuel: &mut fuel,
            },
            &mut local,
            Input::Continue,
        );
        self.store.settle(&mut local.registers);
        match effect {
            Effect::Done => Truth::Holds,
            Effect::Fault(Fault { kind: ViolationKind::Assertion, span, .. }) if span == Some(atom.span) => {
                Truth::Fails
            }
            Effect::Fault(Fault { kind, text, .. }) => {
                let text = self.store.as_str(text).unwrap_or("an operation that fails.").to_owned();
                Truth::Fault(kind, text)
            }
            Effect::Foreign { fun } => {
                let name = self.exe.function_name(fun).to_owned();
                Truth::Unknown(StopReason::ForeignFunction { name })
            }
            _ => {
                let what = "an invariant of more than 10,000,000 instructions".to_owned();
                Truth::Unknown(StopReason::Unsupported { what })
            }
        }
    }

    /// Whether it holds in one configuration; if not, for which machines, by variable.
    pub fn holds(
        &mut self,
        invariant: &Invariant,
        configuration: &Configuration,
    ) -> (Truth, Vec<Option<InstanceId>>) {
        let mut machines = vec![None; invariant.variables.len()];
        let truth = self.formula(&invariant.formula, invariant, configuration, &mut machines);
        (truth, machines)
    }

    fn formula(
        &mut self,
        formula: &Formula,
        invariant: &Invariant,
        configuration: &Configuration,
        machines: &mut [Option<InstanceId>],
    ) -> Truth {
        let mut value = |formula: &Formula, machines: &mut [Option<InstanceId>]| {
            self.formula(formula, invariant, configuration, machines)
        };
        match formula {
            Formula::Atom(atom) => self.atom(atom, machines, &mut |place| Some(at(configuration, place))),
            Formula::Not(inner) => match value(inner, machines) {
                Truth::Holds => Truth::Fails,
                Truth::Fails => Truth::Holds,
                other => other,
            },
            Formula::And(a, b) => match value(a, machines) {
                Truth::Holds => value(b, machines),
                other => other,
            },
            Formula::Or(a, b) => match value(a, machines) {
                Truth::Fails => value(b, machines),
                other => other,
            },
            Formula::Iff(a, b) => match (value(a, machines), value(b, machines)) {
                (Truth::Holds, Truth::Holds) | (Truth::Fails, Truth::Fails) => Truth::Holds,
                (Truth::Holds, Truth::Fails) | (Truth::Fails, Truth::Holds) => Truth::Fails,
                (Truth::Holds | Truth::Fails, other) | (other, _) => other,
            },
            Formula::Quantified { is_universal, variable, body } => {
                let kind = invariant.variables[*variable].0;
                let (end, rest) = match is_universal {
                    true => (Truth::Fails, Truth::Holds),
                    false => (Truth::Holds, Truth::Fails),
                };
                for instance in configuration.roster.iter() {
                    let local = &configuration.locals[instance.index()];
                    if kind_of(local) != Some(kind) {
                        continue;
                    }
                    machines[*variable] = Some(instance);
                    let found = self.formula(body, invariant, configuration, machines);
                    // The machine for which it is so stays, for messages.
                    if found == end || !matches!(found, Truth::Holds | Truth::Fails) {
                        return found;
                    }
                }
                machines[*variable] = None;
                rest
            }
        }
    }
}

fn kind_at(actor: Actor, look: &mut dyn FnMut(Place) -> Option<At>) -> Result<Option<MachineId>, Truth> {
    let place = Place::Kind(actor);
    match look(place) {
        Some(At::Kind(kind)) => Ok(kind),
        Some(At::Control(_) | At::Value(_)) | None => Err(Truth::DependsOn(place)),
    }
}

fn control_at(actor: Actor, look: &mut dyn FnMut(Place) -> Option<At>) -> Result<Option<ControlId>, Truth> {
    let place = Place::Control(actor);
    match look(place) {
        Some(At::Control(control)) => Ok(control),
        Some(At::Kind(_) | At::Value(_)) | None => Err(Truth::DependsOn(place)),
    }
}

fn value_at(actor: Actor, field: u32, look: &mut dyn FnMut(Place) -> Option<At>) -> Result<Value, Truth> {
    let place = Place::Field(actor, field);
    match look(place) {
        Some(At::Value(value)) => Ok(value),
        Some(At::Kind(_) | At::Control(_)) | None => Err(Truth::DependsOn(place)),
    }
}

/// The declaration of a machine that has not halted.
pub fn kind_of(local: &Local) -> Option<MachineId> {
    (local.status != Status::Halted).then_some(local.machine)
}

/// The control state of a machine that has not halted.
pub fn control_of(local: &Local) -> Option<ControlId> {
    (local.status != Status::Halted).then_some(local.control)
}

fn at(configuration: &Configuration, place: Place) -> At {
    let local = |actor| match actor {
        Actor::Machine(instance) => {
            let is_there = configuration.roster.number(instance).is_some();
            is_there.then(|| &configuration.locals[instance.index()])
        }
        Actor::Monitor(monitor) => configuration.monitors.get(monitor as usize),
    };
    match place {
        Place::Kind(actor) => At::Kind(local(actor).and_then(kind_of)),
        Place::Control(actor) => At::Control(local(actor).and_then(control_of)),
        Place::Field(actor, field) => {
            let value = local(actor).and_then(|local| local.registers.get(field as usize));
            At::Value(value.copied().unwrap_or(Value::NULL))
        }
    }
}
