//! Following references through the code.
//!
//! What registers hold is worked out for each op of a function, so that temporaries are not mixed up; everything that
//! outlives a handler (fields, payloads by receiver and event, parameters, results) is one set for each site, which only grows.
//! All is repeated until nothing grows any more. Which states of a machine can be entered is followed likewise.
//!
//! Monitors are left out: they send nothing and make nothing.

use std::collections::{BTreeMap, BTreeSet};

use allways_base::{Idx, IndexVec};
use rustc_hash::FxHashMap;

use super::values::{Abstract, Key};
use super::{MAX_SITES, Site, SiteId, Target};
use crate::Executable;
use crate::ir::{Action, ControlId, EventId, FunId, InterfaceId, MachineId, Op, Operand, OperandView, Step};
use crate::value::{Kind, Value, View};

pub(super) struct Found {
    pub sites: IndexVec<SiteId, Site>,
    pub children: FxHashMap<(SiteId, u32, InterfaceId), SiteId>,
    pub edges: BTreeMap<(SiteId, Target), BTreeSet<EventId>>,
    /// Sender, receiver, and the sites of references in what is sent.
    pub carried: BTreeMap<(SiteId, SiteId), BTreeSet<SiteId>>,
    pub naming_itself: BTreeSet<SiteId>,
    /// Sender and op, and the sites that it may send to.
    pub targets: BTreeMap<(SiteId, u32), BTreeSet<SiteId>>,
}

/// `None` when there would be too many sites.
pub(super) fn analyse(exe: &Executable, by_creator: bool) -> Option<Found> {
    let mut analysis = Analysis {
        exe,
        by_creator,
        found: Found {
            sites: IndexVec::new(),
            children: FxHashMap::default(),
            edges: BTreeMap::new(),
            carried: BTreeMap::new(),
            naming_itself: BTreeSet::new(),
            targets: BTreeMap::new(),
        },
        machines: IndexVec::new(),
        changed: true,
    };
    analysis.add_site(None, 0, exe.main);
    while std::mem::take(&mut analysis.changed) {
        let mut site = 0;
        while site < analysis.machines.len() {
            analysis.machine(SiteId::new(site));
            site += 1;
        }
        if by_creator && analysis.machines.len() > MAX_SITES {
            return None;
        }
    }
    Some(analysis.found)
}

/// What is known of the machines of one site.
#[derive(Default)]
struct Machine {
    fields: Vec<Abstract>,
    states: BTreeSet<ControlId>,
    /// Payloads of what may arrive or be raised, by event.
    payloads: BTreeMap<EventId, Abstract>,
    functions: BTreeMap<FunId, Function>,
    /// Those that were found since the last look.
    fresh: Vec<FunId>,
}

#[derive(Clone, Default)]
struct Function {
    params: Vec<Abstract>,
    result: Abstract,
}

struct Analysis<'a> {
    exe: &'a Executable,
    by_creator: bool,
    found: Found,
    machines: IndexVec<SiteId, Machine>,
    changed: bool,
}

impl Analysis<'_> {
    fn add_site(&mut self, parent: Option<SiteId>, pc: u32, interface: InterfaceId) -> SiteId {
        let machine = self.exe.interfaces[interface].machine.unwrap_or(MachineId::from_u32(0));
        let site = self.found.sites.push(Site { parent, pc, interface, machine });
        let def = &self.exe.machines[machine];
        let fields = def.fields.iter().map(|&(_, value)| self.value(value)).collect();
        self.machines.push(Machine { fields, ..Machine::default() });
        self.changed = true;
        if let Some(start) = def.start {
            self.enter(site, start, &Abstract::default());
        }
        site
    }

    fn child(&mut self, parent: SiteId, pc: u32, interface: InterfaceId) -> SiteId {
        if let Some(&child) = self.found.children.get(&(parent, pc, interface)) {
            return child;
        }
        let sites = &self.found.sites;
        let is_same = |site: &Site| site.parent.is_some() && site.pc == pc && site.interface == interface;
        let known = if self.by_creator {
            // A machine that makes its like does so without end: all of them are one site.
            std::iter::successors(Some(parent), |&site| sites[site].parent)
                .find(|&site| is_same(&sites[site]))
        } else {
            sites.iter().position(is_same).map(SiteId::new)
        };
        let child = known.unwrap_or_else(|| self.add_site(Some(parent), pc, interface));
        self.found.children.insert((parent, pc, interface), child);
        self.changed = true;
        child
    }

    fn enter(&mut self, site: SiteId, state: ControlId, payload: &Abstract) {
        self.changed |= self.machines[site].states.insert(state);
        if let Some(fun) = self.exe.states[state].entry {
            self.begin(site, fun, payload);
        }
    }

    /// A function may run as the outermost of a handler.
    fn begin(&mut self, site: SiteId, fun: FunId, payload: &Abstract) {
        self.call(site, fun, std::slice::from_ref(payload));
    }

    fn call(&mut self, site: SiteId, fun: FunId, args: &[Abstract]) -> Abstract {
        let n_params = self.exe.funs[fun].params.len();
        let changed = &mut self.changed;
        let Machine { functions, fresh, .. } = &mut self.machines[site];
        let function = functions.entry(fun).or_insert_with(|| {
            *changed = true;
            fresh.push(fun);
            Function { params: vec![Abstract::default(); n_params], result: Abstract::default() }
        });
        for (param, arg) in function.params.iter_mut().zip(args) {
            *changed |= param.join(arg);
        }
        function.result.clone()
    }

    fn occurs(&mut self, site: SiteId, event: EventId, payload: &Abstract) {
        let changed = &mut self.changed;
        let known = self.machines[site].payloads.entry(event).or_insert_with(|| {
            *changed = true;
            Abstract::default()
        });
        *changed |= known.join(payload);
    }

    /// Everything that machines of a site may do, once.
    fn machine(&mut self, site: SiteId) {
        let states: Vec<ControlId> = self.machines[site].states.iter().copied().collect();
        let mut payloads: Vec<(EventId, Abstract)> =
            self.machines[site].payloads.iter().map(|(&e, payload)| (e, payload.clone())).collect();
        payloads.push((EventId::NULL, Abstract::default()));
        for state in states {
            let def = &self.exe.states[state];
            for (event, payload) in &payloads {
                match def.actions[*event] {
                    Action::None | Action::Defer | Action::Ignore => {}
                    Action::Do(fun) => self.begin(site, fun, payload),
                    Action::Goto(target, with) => {
                        if let Some(fun) = with {
                            self.begin(site, fun, payload);
                        }
                        self.enter(site, target, payload);
                    }
                }
            }
            if let Some(fun) = def.exit {
                self.begin(site, fun, &Abstract::default());
            }
        }
        // With those that are called for the first time meanwhile, so that chains of calls are followed at once.
        self.machines[site].fresh.clear();
        let mut open: Vec<FunId> = self.machines[site].functions.keys().copied().collect();
        while !open.is_empty() {
            for fun in open {
                self.function(site, fun);
            }
            open = std::mem::take(&mut self.machines[site].fresh);
        }
    }

    fn function(&mut self, site: SiteId, fun: FunId) {
        let def = &self.exe.funs[fun];
        let mut registers = self.machines[site].functions[&fun].params.clone();
        registers.resize(def.n_registers as usize, Abstract::default());
        // What registers hold where control meets.
        let mut known: FxHashMap<u32, Vec<Abstract>> = FxHashMap::default();
        let mut joins: BTreeSet<u32> = BTreeSet::new();
        for op in &self.exe.code[def.entry as usize..def.end as usize] {
            match *op {
                Op::Jump { to }
                | Op::JumpIf { to, .. }
                | Op::JumpIfNot { to, .. }
                | Op::Next { end: to, .. } => {
                    joins.insert(to);
                }
                Op::Receive { table } => {
                    let cases = self.exe.receives[table].cases.iter().flatten();
                    joins.extend(cases.map(|case| case.to));
                }
                _ => {}
            }
        }
        known.insert(def.entry, registers);
        let mut open = vec![def.entry];
        let reach = |known: &mut FxHashMap<u32, Vec<Abstract>>, open: &mut Vec<u32>, to, now: &[Abstract]| {
            let grew = match known.get_mut(&to) {
                None => {
                    known.insert(to, now.to_vec());
                    true
                }
                Some(before) => {
                    before.iter_mut().zip(now).fold(false, |grew, (before, now)| before.join(now) | grew)
                }
            };
            if grew {
                open.push(to);
            }
        };
        while let Some(start) = open.pop() {
            let mut now = known[&start].clone();
            let mut pc = start;
            loop {
                let op = self.exe.code[pc as usize];
                match op {
                    Op::Jump { to } | Op::JumpIf { to, .. } | Op::JumpIfNot { to, .. } => {
                        reach(&mut known, &mut open, to, &now);
                    }
                    Op::Next { dst, iter, end } => {
                        reach(&mut known, &mut open, end, &now);
                        let item = now[iter as usize].any_element();
                        self.write(site, &mut now, dst, item);
                    }
                    Op::Receive { table } => {
                        let exe = self.exe;
                        for (event, case) in exe.receives[table].cases.iter_ids() {
                            let Some(case) = case else { continue };
                            let Some(payload) = self.machines[site].payloads.get(&event) else {
                                continue;
                            };
                            let mut then = now.clone();
                            if let Some((param, _)) = case.param {
                                then[param as usize] = payload.clone();
                            }
                            reach(&mut known, &mut open, case.to, &then);
                        }
                    }
                    Op::Return { src } => {
                        let result = self.read(site, &now, src);
                        if let Some(function) = self.machines[site].functions.get_mut(&fun) {
                            self.changed |= function.result.join(&result);
                        }
                    }
                    _ => self.op(site, pc, op, &mut now),
                }
                if op.ends() {
                    break;
                }
                pc += 1;
                if joins.contains(&pc) {
                    reach(&mut known, &mut open, pc, &now);
                    break;
                }
            }
        }
    }

    /// What an op does that is neither control flow nor the end of the function.
    fn op(&mut self, site: SiteId, pc: u32, op: Op, now: &mut [Abstract]) {
        let nothing = Abstract::default;
        match op {
            Op::Move { dst, src } | Op::Cast { dst, src, .. } | Op::ToPermission { dst, src, .. } => {
                let value = self.read(site, now, src);
                self.write(site, now, dst, value);
            }
            // Numbers, truth values and texts.
            Op::Binary { dst, .. }
            | Op::Not { dst, .. }
            | Op::Neg { dst, .. }
            | Op::Sizeof { dst, .. }
            | Op::ToInt { dst, .. }
            | Op::ToFloat { dst, .. }
            | Op::Format { dst, .. }
            | Op::FormatForPrint { dst, .. }
            | Op::Flip { dst, .. } => self.write(site, now, dst, nothing()),
            Op::Tuple { dst, first, n } => {
                let parts = (0..n).map(|at| (Key::Part(at), now[(first + at) as usize].clone()));
                let value = Abstract::of_parts(parts);
                self.write(site, now, dst, value);
            }
            Op::Named { dst, first, shape } => {
                let names = self.exe.shapes[shape].iter().enumerate();
                let parts = names.map(|(at, &name)| (Key::Field(name), now[first as usize + at].clone()));
                let value = Abstract::of_parts(parts);
                self.write(site, now, dst, value);
            }
            Op::Part { dst, src, index } => {
                let value = self.read(site, now, src).get(Key::Part(index));
                self.write(site, now, dst, value);
            }
            Op::Field { dst, src, access } => {
                let (name, _) = self.exe.accesses[access];
                let value = self.read(site, now, src).get(Key::Field(name));
                self.write(site, now, dst, value);
            }
            Op::Index { dst, src, .. } => {
                let value = self.read(site, now, src).any_element();
                self.write(site, now, dst, value);
            }
            Op::Keys { dst, src } => {
                let keys = self.read(site, now, src).get(Key::Index);
                self.write(site, now, dst, Abstract::of_parts([(Key::Element, keys)]));
            }
            Op::Values { dst, src } => {
                let values = self.read(site, now, src).get(Key::Element);
                self.write(site, now, dst, Abstract::of_parts([(Key::Element, values)]));
            }
            Op::This { dst } => {
                self.found.naming_itself.insert(site);
                self.write(site, now, dst, Abstract::reference(site));
            }
            Op::Choose { dst, src } => {
                let value = self.read(site, now, src).any_element();
                self.write(site, now, dst, value);
            }
            Op::Call { dst, fun, first } => {
                let n_params = self.exe.funs[fun].params.len();
                let args = now[first as usize..first as usize + n_params].to_vec();
                let result = self.call(site, fun, &args);
                self.write(site, now, dst, result);
            }
            Op::Store { root, path, src } | Op::Insert { root, path, src } => {
                let value = self.read(site, now, src);
                self.update(site, now, root, path, value, false);
            }
            Op::Add { root, path, src } => {
                let value = self.read(site, now, src);
                self.update(site, now, root, path, value, true);
            }
            Op::Send { target, event, payload } => {
                let targets = self.read(site, now, target);
                let events = self.read(site, now, event);
                let payload = self.read(site, now, payload);
                self.found.targets.entry((site, pc)).or_default().extend(targets.refs());
                for event in events.events() {
                    for target in targets.refs() {
                        self.send(site, target, event, &payload);
                    }
                }
            }
            Op::Announce { event, .. } => {
                for event in self.read(site, now, event).events() {
                    self.observe(site, event);
                }
            }
            Op::New { dst, interface, payload } => {
                let payload = self.read(site, now, payload);
                let created = self.exe.link(self.found.sites[site].interface, interface);
                // Without a machine bound to it, this is a fault.
                let Some(machine) = self.exe.interfaces[created].machine else { return };
                let child = self.child(site, pc, created);
                if let Some(start) = self.exe.machines[machine].start {
                    self.enter(child, start, &payload);
                }
                self.write(site, now, dst, Abstract::reference(child));
            }
            Op::Raise { event, payload } => {
                let events = self.read(site, now, event);
                let payload = self.read(site, now, payload);
                for event in events.events() {
                    self.occurs(site, event, &payload);
                }
            }
            Op::Goto { state, payload } => {
                let payload = self.read(site, now, payload);
                self.enter(site, state, &payload);
            }
            // Nothing moves.
            Op::Remove { .. } | Op::Fail { .. } | Op::Print { .. } | Op::PrintFormat { .. } => {}
            // The run cannot be continued.
            Op::Foreign { .. } => {}
            Op::Jump { .. }
            | Op::JumpIf { .. }
            | Op::JumpIfNot { .. }
            | Op::Next { .. }
            | Op::Receive { .. }
            | Op::Return { .. } => unreachable!("control flow is followed by the caller"),
        }
    }

    fn send(&mut self, site: SiteId, target: SiteId, event: EventId, payload: &Abstract) {
        let exe = self.exe;
        let (from, to) = (self.found.sites[site], self.found.sites[target]);
        if !exe.machines[from.machine].sends.contains(event) {
            return;
        }
        // A reference permits what the interface receives, or what `this` does; conversions only take away.
        let receives = [exe.interfaces[to.interface].receives, exe.machines[to.machine].receives];
        if !receives.iter().any(|&permission| exe.permissions[permission].contains(event)) {
            return;
        }
        self.changed |= self.found.edges.entry((site, Target::Site(target))).or_default().insert(event);
        // Whatever grows here has made something else grow, or comes in the last round, in which all is the same.
        self.found.carried.entry((site, target)).or_default().extend(payload.all_refs());
        self.observe(site, event);
        self.occurs(target, event, payload);
    }

    fn observe(&mut self, site: SiteId, event: EventId) {
        let exe = self.exe;
        for &monitor in exe.observers(self.found.sites[site].interface, event) {
            self.changed |=
                self.found.edges.entry((site, Target::Monitor(monitor))).or_default().insert(event);
        }
    }

    fn read(&self, site: SiteId, now: &[Abstract], operand: Operand) -> Abstract {
        match operand.view() {
            OperandView::Register(n) => now[n as usize].clone(),
            OperandView::Field(n) => self.machines[site].fields[n as usize].clone(),
            OperandView::Const(n) => self.value(self.exe.consts[n as usize]),
        }
    }

    fn write(&mut self, site: SiteId, now: &mut [Abstract], operand: Operand, value: Abstract) {
        match operand.view() {
            OperandView::Register(n) => now[n as usize] = value,
            OperandView::Field(n) => {
                self.changed |= self.machines[site].fields[n as usize].join(&value);
            }
            OperandView::Const(_) => {}
        }
    }

    /// A part of a variable becomes `value`; `adds` says that it becomes one more element there.
    fn update(
        &mut self,
        site: SiteId,
        now: &mut [Abstract],
        root: Operand,
        path: u32,
        value: Abstract,
        adds: bool,
    ) {
        let mut changed = self.read(site, now, root);
        let mut keys = Vec::new();
        for step in &self.exe.paths[path as usize] {
            match *step {
                Step::Part(at) => keys.push(Key::Part(at)),
                Step::Field(access) => keys.push(Key::Field(self.exe.accesses[access].0)),
                Step::Index(index) => {
                    // The step may make a new key of a map.
                    let index = self.read(site, now, index);
                    keys.push(Key::Index);
                    changed.put(&keys, &index);
                    keys.pop();
                    keys.push(Key::Element);
                }
            }
        }
        if adds {
            keys.push(Key::Element);
        }
        changed.put(&keys, &value);
        self.write(site, now, root, changed);
    }

    /// Constants hold no references, but events.
    fn value(&self, value: Value) -> Abstract {
        match value.view() {
            View::Null | View::Bool(_) | View::Int(_) | View::Ref(..) | View::Hole(_) | View::Atom(..) => {
                Abstract::default()
            }
            View::Event(event) => Abstract::event(event),
            View::Node(kind, id) => {
                let store = &self.exe.store;
                match kind {
                    Kind::Int | Kind::Float | Kind::String => Abstract::default(),
                    Kind::Tuple => Abstract::of_parts(
                        store
                            .parts(id)
                            .iter()
                            .enumerate()
                            .map(|(at, &v)| (Key::Part(at as u32), self.value(v))),
                    ),
                    Kind::Named => {
                        let (shape, parts) = store.named_parts(id);
                        let names = self.exe.shapes[shape].iter();
                        Abstract::of_parts(
                            names.zip(parts).map(|(&name, &part)| (Key::Field(name), self.value(part))),
                        )
                    }
                    Kind::Seq => Abstract::of_parts(
                        store.parts(id).iter().map(|&part| (Key::Element, self.value(part))),
                    ),
                    Kind::Set => Abstract::of_parts(
                        store.set_elements(id).map(|element| (Key::Element, self.value(element))),
                    ),
                    Kind::Map => Abstract::of_parts(store.map_entries(id).flat_map(|(key, value)| {
                        [(Key::Index, self.value(key)), (Key::Element, self.value(value))]
                    })),
                }
            }
        }
    }
}
