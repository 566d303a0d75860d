//! From the typed program to code.
//!
//! Needs: an accepted [`hir::Program`]. Establishes: an [`Executable`] that passes [`crate::verify`].
//! This file makes the tables; `lower/function.rs` makes the code.

mod function;
mod inspect;
mod observed_texts;
mod print_only;

use allways_base::{Idx, IndexVec, Symbol};
use allways_p::hir;
use rustc_hash::FxHashMap;

use crate::executable::Executable;
use crate::instances::InstanceTable;
use crate::invariant::Invariant;
use crate::ir::{
    AccessId, Action, Class, ControlId, EventBits, FunDef, InterfaceDef, MachineDef, MonitorDef, StateDef,
};
use crate::liveness::Liveness;
use crate::value::{Kind, Notation, PermissionId, ShapeId, Shapes, Store, Value};

pub(crate) fn lower_test(program: &hir::Program, test_idx: usize) -> Executable {
    let test = &program.tests[test_idx];
    let mut lowering = Lowering {
        program,
        test,
        first_states: IndexVec::new(),
        print_only: print_only::print_only_params(program),
        const_ids: FxHashMap::default(),
        access_ids: FxHashMap::default(),
        exe: Executable {
            test_name: test.name.clone(),
            symbols: program.symbols.clone(),
            events: program.events.iter().map(|event| event.name).collect(),
            payloads: program.events.iter().map(|event| Notation::of(program, event.payload)).collect(),
            interfaces: IndexVec::new(),
            machines: IndexVec::new(),
            states: IndexVec::new(),
            funs: IndexVec::new(),
            code: Vec::new(),
            spans: Vec::new(),
            consts: Vec::new(),
            accesses: IndexVec::new(),
            templates: IndexVec::new(),
            inspections: Vec::new(),
            paths: Vec::new(),
            receives: IndexVec::new(),
            shapes: Shapes::default(),
            permissions: IndexVec::new(),
            monitors: Vec::new(),
            main: test.main_interface,
            invariants: Vec::new(),
            observed_text: observed_texts::observed_text(program, test),
            network: crate::network::Network::default(),
            liveness: Liveness::default(),
            usage: std::sync::OnceLock::new(),
            demands: std::sync::OnceLock::new(),
            numbers: std::sync::OnceLock::new(),
            instances: InstanceTable::new(),
            store: Store::default(),
            links: Vec::new(),
            observers: Vec::new(),
        },
    };
    lowering.lower_system();
    lowering.lower_machines();
    for (fun, function) in program.functions.iter_ids() {
        lowering.lower_function(fun, function);
    }
    for invariant in &program.invariants {
        let monitor = |machine| {
            let at = lowering.exe.monitors.iter().position(|monitor| monitor.machine == machine)?;
            Some(at as u32)
        };
        let control = |machine, state| lowering.control(machine, state);
        let invariant = Invariant::new(invariant, control, monitor);
        lowering.exe.invariants.push(invariant);
    }
    lowering.exe
}

struct Lowering<'a> {
    program: &'a hir::Program,
    test: &'a hir::Test,
    /// The number of the first control state of each machine.
    first_states: IndexVec<hir::MachineId, u32>,
    /// For each function, which parameters are only printed.
    print_only: Vec<Vec<bool>>,
    const_ids: FxHashMap<Value, u32>,
    access_ids: FxHashMap<(Symbol, u32), AccessId>,
    exe: Executable,
}

impl Lowering<'_> {
    /// Interfaces, links, and which monitors watch which machines.
    fn lower_system(&mut self) {
        let program = self.program;
        let system = &self.test.system;
        for (id, interface) in program.interfaces.iter_ids() {
            let receives = self.permission(&interface.receives);
            let machine = system.machine_of(id);
            let payload = Notation::of(program, interface.constructor);
            self.exe.interfaces.push(InterfaceDef { name: interface.name, receives, machine, payload });
        }
        for creator in program.interfaces.ids() {
            for created in program.interfaces.ids() {
                self.exe.links.push(system.link(creator, created));
            }
        }
        for (machine, _) in &system.monitors {
            self.exe.monitors.push(MonitorDef { machine: *machine });
        }
        for sender in program.interfaces.ids() {
            for event in program.events.ids() {
                let watching = system.monitors.iter().enumerate().filter(|(_, (machine, watched))| {
                    watched.contains(&sender) && program.machines[*machine].observes.contains(event)
                });
                self.exe.observers.push(watching.map(|(monitor, _)| monitor as u32).collect());
            }
        }
    }

    fn lower_machines(&mut self) {
        let program = self.program;
        let mut n_states = 0;
        for machine in &program.machines {
            self.first_states.push(n_states);
            n_states += machine.states.len() as u32;
        }
        for (id, machine) in program.machines.iter_ids() {
            let fields =
                machine.fields.iter().map(|field| (field.name, self.default_value(field.ty))).collect();
            let notations = machine.fields.iter().map(|field| Notation::of(program, field.ty)).collect();
            let receives = self.permission(&machine.receives);
            self.exe.machines.push(MachineDef {
                name: machine.name,
                span: machine.span,
                is_monitor: machine.is_monitor(),
                is_scenario: machine.kind == hir::MachineKind::Scenario,
                fields,
                notations,
                start: machine.start.map(|state| self.control(id, state)),
                sends: self.event_bits(&machine.sends),
                receives,
            });
            for state in &machine.states {
                let mut actions = IndexVec::from(vec![Action::None; program.events.len()]);
                for &(event, action) in &state.actions {
                    actions[event] = match action {
                        hir::Action::Defer => Action::Defer,
                        hir::Action::Ignore => Action::Ignore,
                        hir::Action::Do(fun) => Action::Do(fun),
                        hir::Action::Goto(target, with) => Action::Goto(self.control(id, target), with),
                    };
                }
                let on_null = actions[hir::EventId::NULL];
                self.exe.states.push(StateDef {
                    name: state.name,
                    span: state.span,
                    machine: id,
                    temperature: state.temperature,
                    entry: state.entry,
                    exit: state.exit,
                    has_null: matches!(on_null, Action::Do(_) | Action::Goto(..)),
                    actions,
                });
            }
        }
    }

    fn lower_function(&mut self, id: hir::FunId, function: &hir::Function) {
        let entry = self.exe.code.len() as u32;
        let params = function.locals.iter().take(function.n_params);
        let params = params.map(|param| self.class(param.ty)).collect();
        let n_registers = function::lower_body(self, id, function);
        let n_fields = function.owner.map_or(0, |machine| self.program.machines[machine].fields.len());
        self.exe.funs.push(FunDef {
            name: function.name,
            span: function.span,
            entry,
            end: self.exe.code.len() as u32,
            n_registers,
            params,
            locals: function.locals.iter().map(|local| local.name).collect(),
            n_fields: n_fields as u32,
        });
    }

    fn control(&self, machine: hir::MachineId, state: hir::StateId) -> ControlId {
        ControlId::from_u32(self.first_states[machine] + state.as_u32())
    }

    fn event_bits(&self, events: &hir::EventSet) -> EventBits {
        EventBits::new(self.program.events.len(), events.iter())
    }

    fn permission(&mut self, events: &hir::EventSet) -> PermissionId {
        let bits = self.event_bits(events);
        match self.exe.permissions.iter().position(|known| *known == bits) {
            Some(at) => PermissionId::new(at),
            None => self.exe.permissions.push(bits),
        }
    }

    fn shape(&mut self, names: Vec<Symbol>) -> ShapeId {
        match self.exe.shapes.iter().position(|shape| *shape == names) {
            Some(at) => ShapeId::new(at),
            None => self.exe.shapes.push(names),
        }
    }

    fn access(&mut self, name: Symbol, position: usize) -> AccessId {
        let accesses = &mut self.exe.accesses;
        *self
            .access_ids
            .entry((name, position as u32))
            .or_insert_with(|| accesses.push((name, position as u32)))
    }

    fn constant(&mut self, value: Value) -> u32 {
        let consts = &mut self.exe.consts;
        *self.const_ids.entry(value).or_insert_with(|| {
            consts.push(value);
            consts.len() as u32 - 1
        })
    }

    fn param_value(&mut self, param: hir::ParamId) -> Value {
        match self.test.params.iter().find(|(id, _)| *id == param) {
            Some((_, hir::ParamValue::Bool(b))) => Value::bool(*b),
            Some((_, hir::ParamValue::Int(n))) => self.exe.store.int(*n),
            None => self.default_value(self.program.params[param].ty),
        }
    }

    /// The value of an uninitialized variable.
    fn default_value(&mut self, ty: hir::TypeId) -> Value {
        let program = self.program;
        match program.types.get(ty) {
            hir::Type::Bool => Value::FALSE,
            hir::Type::Int => Value::ZERO,
            hir::Type::Float => self.exe.store.float(0.0),
            hir::Type::String => self.exe.store.string(""),
            hir::Type::Enum(id) => self.exe.store.int(program.enums[*id].default_value()),
            hir::Type::Seq(_) => self.exe.store.empty(Kind::Seq),
            hir::Type::Set(_) => self.exe.store.empty(Kind::Set),
            hir::Type::Map(..) => self.exe.store.empty(Kind::Map),
            hir::Type::Tuple(parts) => {
                let parts: Vec<Value> = parts.iter().map(|&part| self.default_value(part)).collect();
                self.exe.store.tuple(&parts)
            }
            hir::Type::NamedTuple(fields) => {
                let shape = self.shape(fields.iter().map(|&(name, _)| name).collect());
                let parts: Vec<Value> = fields.iter().map(|&(_, ty)| self.default_value(ty)).collect();
                self.exe.store.named(shape, &parts)
            }
            hir::Type::Error
            | hir::Type::Null
            | hir::Type::Event
            | hir::Type::Machine
            | hir::Type::Any
            | hir::Type::Data
            | hir::Type::Foreign(_)
            | hir::Type::Permission(..)
            | hir::Type::Alias(_) => Value::NULL,
        }
    }

    fn class(&self, ty: hir::TypeId) -> Class {
        match self.program.types.get(ty) {
            hir::Type::Bool => Class::Bool,
            hir::Type::Int | hir::Type::Enum(_) => Class::Int,
            hir::Type::Float => Class::Float,
            hir::Type::String => Class::String,
            hir::Type::Event => Class::Event,
            hir::Type::Machine | hir::Type::Permission(..) => Class::Machine,
            hir::Type::Seq(_) => Class::Seq,
            hir::Type::Set(_) => Class::Set,
            hir::Type::Map(..) => Class::Map,
            hir::Type::Tuple(_) => Class::Tuple,
            hir::Type::NamedTuple(_) => Class::Named,
            hir::Type::Null => Class::Null,
            hir::Type::Error
            | hir::Type::Any
            | hir::Type::Data
            | hir::Type::Foreign(_)
            | hir::Type::Alias(_) => Class::Any,
        }
    }
}
