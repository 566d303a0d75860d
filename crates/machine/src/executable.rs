//! One test of a program, ready to run.

use std::sync::OnceLock;

use allways_base::{Idx, IndexVec, Interner, Span, Symbol};
use allways_p::hir;
use allways_run::{HandlerLimit, InstanceId, NetworkOptions, StopReason};

use crate::configuration::Local;
use crate::demand::Demands;
use crate::instances::InstanceTable;
use crate::invariant::Invariant;
use crate::ir::{
    AccessId, ControlId, EventBits, EventId, FunDef, FunId, Inspection, InterfaceDef, InterfaceId,
    MachineDef, MachineId, MonitorDef, Op, ReceiveId, ReceiveTable, StateDef, Step, Template, TemplateId,
};
use crate::liveness::Liveness;
use crate::network::{Network, UnknownName};
use crate::numbers::Numbers;
use crate::usage::Usage;
use crate::value::{Notation, PermissionId, ShapeId, Shapes, Store, Value};

/// Code and tables of one test. It never changes, except that new instance names are added, and is shared by
/// all kernels that run the test.
///
/// Ids in code and tables are those of the typed program (events, functions, machines, interfaces);
/// control states have ids of the whole program.
pub struct Executable {
    pub test_name: String,
    pub symbols: Interner,
    pub events: IndexVec<EventId, Symbol>,
    /// How payloads of events are shown.
    pub payloads: IndexVec<EventId, Notation>,
    pub interfaces: IndexVec<InterfaceId, InterfaceDef>,
    pub machines: IndexVec<MachineId, MachineDef>,
    pub states: IndexVec<ControlId, StateDef>,
    pub funs: IndexVec<FunId, FunDef>,
    pub code: Vec<Op>,
    /// The source of each op.
    pub spans: Vec<Span>,
    pub consts: Vec<Value>,
    /// Fields that code asks for by name, and where they usually are.
    pub accesses: IndexVec<AccessId, (Symbol, u32)>,
    pub templates: IndexVec<TemplateId, Template>,
    pub paths: Vec<Vec<Step>>,
    pub receives: IndexVec<ReceiveId, ReceiveTable>,
    pub shapes: Shapes,
    pub permissions: IndexVec<PermissionId, EventBits>,
    /// Conditions of assertions, by the op that fails.
    pub inspections: Vec<Inspection>,
    /// Attached monitors in order of attachment.
    pub monitors: Vec<MonitorDef>,
    /// The interface of the main machine.
    pub main: InterfaceId,
    /// What the user states of all configurations.
    pub invariants: Vec<Invariant>,
    /// The first place at which a run may depend on the text of a machine. Such a text holds the number of the creation, so
    /// that configurations that differ in nothing else behave differently, and only single runs can be followed.
    pub observed_text: Option<Span>,
    /// Which registers code still reads.
    pub liveness: Liveness,
    /// What carries messages, and what can go wrong.
    pub network: Network,
    /// What code still reads; see [`Executable::usage`].
    pub(crate) usage: OnceLock<Usage>,
    /// The same of the inside of values; see [`Executable::demands`].
    pub(crate) demands: OnceLock<Demands>,
    /// Which numbers only compare; see [`Executable::numbers`].
    pub(crate) numbers: OnceLock<Numbers>,
    /// Names of instances, the same in all runs.
    pub instances: InstanceTable,
    /// Holds the constants; kernels begin with a copy.
    pub(crate) store: Store,
    /// What `new` of an interface makes, by creator and created.
    pub(crate) links: Vec<InterfaceId>,
    /// Monitors that observe an event, by the sender's interface and event.
    pub(crate) observers: Vec<Box<[u32]>>,
}

impl Executable {
    /// Makes the code of one test of `program.tests`.
    ///
    /// # Panics
    /// When there is no such test.
    pub fn new(program: &hir::Program, test: usize) -> Self {
        let mut executable = crate::lower::lower_test(program, test);
        debug_assert_eq!(crate::verify::verify(&executable), Ok(()));
        executable.liveness = Liveness::new(&executable);
        executable
    }

    /// The same over another network.
    ///
    /// # Errors
    /// When an event or machine that the options name does not exist.
    pub fn with_network(mut self, options: &NetworkOptions) -> Result<Self, UnknownName> {
        self.network = Network::resolve(&self, options)?;
        Ok(self)
    }

    /// A store that holds the constants of the code.
    pub fn new_store(&self) -> Store {
        self.store.clone()
    }

    /// What code may still read, worked out at the first call.
    pub fn usage(&self) -> &Usage {
        self.usage.get_or_init(|| Usage::new(self))
    }

    /// How much of values code may still read, worked out at the first call.
    pub fn demands(&self) -> &Demands {
        self.demands.get_or_init(|| Demands::new(self))
    }

    /// Where a named tuple of a shape has the field of an access: where the static type says, or wherever its own names say.
    #[inline]
    pub fn field_position(&self, shape: ShapeId, access: AccessId) -> Option<usize> {
        let (name, usual) = self.accesses[access];
        let names = &self.shapes[shape];
        if names.get(usual as usize) == Some(&name) {
            return Some(usual as usize);
        }
        names.iter().position(|&other| other == name)
    }

    /// Which numbers a program sees only by how they compare, worked out at the first call.
    pub fn numbers(&self) -> &Numbers {
        self.numbers.get_or_init(|| Numbers::new(self))
    }

    pub fn n_events(&self) -> usize {
        self.events.len()
    }

    #[inline]
    pub(crate) fn link(&self, creator: InterfaceId, created: InterfaceId) -> InterfaceId {
        self.links[creator.index() * self.interfaces.len() + created.index()]
    }

    /// The monitors that observe it when a machine running as `interface` sends or announces `event`.
    #[inline]
    pub fn observers(&self, interface: InterfaceId, event: EventId) -> &[u32] {
        &self.observers[interface.index() * self.events.len() + event.index()]
    }

    pub fn event_name(&self, event: EventId) -> &str {
        self.symbols.text(self.events[event])
    }

    pub fn state_name(&self, state: ControlId) -> &str {
        self.symbols.text(self.states[state].name)
    }

    pub fn interface_name(&self, interface: InterfaceId) -> &str {
        self.symbols.text(self.interfaces[interface].name)
    }

    pub fn machine_name(&self, machine: MachineId) -> &str {
        self.symbols.text(self.machines[machine].name)
    }

    /// That a machine or monitor which stands like this would need more than it is given.
    pub fn long_handler(&self, local: &Local, limit: HandlerLimit) -> StopReason {
        let (machine, state) = (self.machine_name(local.machine), self.state_name(local.control));
        StopReason::LongHandler { machine: machine.to_owned(), state: state.to_owned(), limit }
    }

    /// The name of an attached monitor.
    pub fn monitor_name(&self, monitor: usize) -> &str {
        self.machine_name(self.monitors[monitor].machine)
    }

    pub fn function_name(&self, fun: FunId) -> &str {
        self.funs[fun].name.map_or("anonymous function", |name| self.symbols.text(name))
    }

    /// The functions that a machine may run: its handlers, and what these call.
    pub fn functions_of(&self, machine: MachineId) -> impl Iterator<Item = &FunDef> {
        self.functions_by_machine().filter(move |&(of, _)| of == machine).map(|(_, fun)| fun)
    }

    /// Every machine with each function that it may run.
    pub fn functions_by_machine(&self) -> impl Iterator<Item = (MachineId, &FunDef)> {
        let runs_in = crate::usage::runs_in(self);
        self.funs.iter().zip(runs_in).flat_map(move |(fun, states)| {
            let machines = states.into_iter().map(|state| self.states[state].machine);
            let machines: std::collections::BTreeSet<MachineId> = machines.collect();
            machines.into_iter().map(move |machine| (machine, fun))
        })
    }

    /// The function that an op belongs to.
    pub fn function_at(&self, pc: u32) -> FunId {
        FunId::new(self.funs.as_slice().partition_point(|fun| fun.entry <= pc) - 1)
    }

    /// The path of an instance from the main machine, joined with dots; `0` is the main machine.
    pub fn instance_path(&self, instance: InstanceId) -> String {
        let mut text = String::from("0");
        for place in self.instances.path(instance) {
            text.push('.');
            text.push_str(&place.to_string());
        }
        text
    }

    /// The instance with a path as [`instance_path`](Self::instance_path) writes it.
    pub fn instance_at(&self, path: &str) -> Option<InstanceId> {
        /// No run makes more machines than this in one place; a longer path is a damaged file.
        const MAX_PLACE: u32 = 1 << 20;
        let mut parts = path.split('.');
        if parts.next() != Some("0") {
            return None;
        }
        let places: Option<Vec<u32>> =
            parts.map(|part| part.parse().ok().filter(|&place| place < MAX_PLACE)).collect();
        Some(self.instances.at_path(&places?))
    }
}

impl std::fmt::Debug for Executable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Executable({}, {} ops)", self.test_name, self.code.len())
    }
}
