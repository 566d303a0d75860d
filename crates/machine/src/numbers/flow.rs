//! Where values go: places of a program and the flow between them.
//!
//! A *place* is anything that holds a value: a field, a register while it is live, the payload of an event, of a transition or of a
//! creation, the result of a function, and every part of these (a part of a tuple, an element, a key). Values of P are copied, so
//! the flow is directed, and goes part by part. Registers are used again for other things, so a register is a place
//! for each stretch of code in which it is live (a web). All of it errs on the side of "may": code is taken to run in any order.

use allways_base::{Idx, IndexVec, Span, Symbol};
use allways_p::hir::BinaryOp;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Why;
use crate::Executable;
use crate::demand::EVERYTHING;
use crate::ir::{Action, ControlId, EventId, FunId, InterfaceId, MachineId, Op, Operand, OperandView, Step};
use crate::liveness::{Access, accesses};
use crate::usage::{machines_of, runs_in};
use crate::value::{Kind, Value, View};

/// Parts that are nested deeper are one place, of which nothing is known.
const MAX_DEPTH: u8 = 10;
/// Beyond so many places the analysis gives up.
const MAX_PLACES: usize = 400_000;
/// So it does after so many looks at pairs of places: values of type `data` that are put into each other have parts without end.
const MAX_LOOKS: usize = 4_000_000;
/// Increments that are larger would reach the end of the numbers in fewer steps than a run may have.
const MAX_STEP: i64 = 1 << 20;

pub(super) type PlaceId = u32;
pub(super) const NO_PLACE: PlaceId = u32::MAX;

/// A part of a place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Label {
    Part(u32),
    Name(Symbol),
    /// An element of a sequence or set, or a value of a map.
    Element,
    Key,
}

/// What may be in a place, as bits.
mod kinds {
    pub const INT: u8 = 1;
    pub const SEQ: u8 = 2;
    pub const SET: u8 = 4;
    pub const MAP: u8 = 8;
}

/// Where a constant comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    Op(u32),
    /// A field of a machine before its first step.
    Field(MachineId),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Constant {
    pub place: PlaceId,
    pub number: i64,
    pub origin: Origin,
}

impl Origin {
    pub fn span(self, exe: &Executable) -> Option<Span> {
        match self {
            Origin::Op(pc) => exe.spans.get(pc as usize).copied(),
            Origin::Field(_) => None,
        }
    }
}

/// A number that an op computes from something else.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub place: PlaceId,
    pub pc: u32,
    pub why: Why,
}

/// `to = from + by`
#[derive(Clone, Copy, Debug)]
pub(super) struct Increment {
    pub from: PlaceId,
    pub to: PlaceId,
    pub by: i64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub parts: Vec<(Label, PlaceId)>,
    depth: u8,
    kinds: u8,
    /// Values of this place are copied there.
    pub to: Vec<PlaceId>,
    pub from: Vec<PlaceId>,
    /// Compared with values of those.
    pub compared: Vec<PlaceId>,
    /// Some code depends on its numbers themselves.
    pub exposed: Option<(Why, Option<Span>)>,
    /// So with all its parts.
    is_opaque: Option<(Why, Option<Span>)>,
    /// It is a collection, and some code depends on its size or on which elements it has.
    pub is_enumerated: bool,
}

/// How an operand selects an element of a collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Selects {
    /// Reads, changes or removes what is there.
    Find,
    /// Adds what is not there.
    Enter,
}

/// Something that depends on what kinds of values may be in a place.
#[derive(Clone, Copy, Debug)]
enum Later {
    /// An index or key of the collection.
    Select { index: PlaceId, of: PlaceId, how: Selects, span: Span },
    /// Removal from a collection, or `in`.
    Member { index: PlaceId, of: PlaceId, is_in: bool, span: Span },
    /// An element, or key of a map, is copied.
    Pick { of: PlaceId, to: PlaceId, is_choice: bool, span: Span },
}

pub(super) struct Flow<'a> {
    exe: &'a Executable,
    pub places: Vec<Place>,
    pub constants: Vec<Constant>,
    pub increments: Vec<Increment>,
    /// Places whose numbers are ordered against each other.
    pub ordered: Vec<(PlaceId, PlaceId)>,
    /// Remainders that the program computes.
    pub moduli: Vec<(PlaceId, i64)>,
    /// Numbers of which nothing is known but the op that computes them: results of arithmetic, sizes, conversions.
    pub sources: Vec<Source>,
    /// By op: where its registers begin in `webs`.
    starts: Vec<u32>,
    webs: Vec<PlaceId>,
    /// By machine: its first field.
    fields: Vec<PlaceId>,
    payloads: PlaceId,
    transitions: PlaceId,
    creations: PlaceId,
    results: PlaceId,
    machines: IndexVec<FunId, Vec<MachineId>>,
    later: Vec<Later>,
    done: FxHashSet<(usize, u8)>,
    open: Vec<PlaceId>,
    edges: FxHashSet<(PlaceId, PlaceId, bool)>,
    constant_places: FxHashMap<(u32, u32), PlaceId>,
    n_looks: usize,
    has_overflown: bool,
}

impl<'a> Flow<'a> {
    /// The flow of a program; `None` if it is too large.
    pub fn new(exe: &'a Executable) -> Option<Self> {
        let runs_in = runs_in(exe);
        let machines = machines_of(exe, &runs_in);
        let mut flow = Flow {
            exe,
            places: Vec::new(),
            constants: Vec::new(),
            increments: Vec::new(),
            ordered: Vec::new(),
            moduli: Vec::new(),
            sources: Vec::new(),
            starts: Vec::new(),
            webs: Vec::new(),
            fields: Vec::new(),
            payloads: 0,
            transitions: 0,
            creations: 0,
            results: 0,
            machines,
            later: Vec::new(),
            done: FxHashSet::default(),
            open: Vec::new(),
            edges: FxHashSet::default(),
            constant_places: FxHashMap::default(),
            n_looks: 0,
            has_overflown: false,
        };
        flow.find_webs();
        for machine in &exe.machines {
            let first = flow.new_places(machine.fields.len());
            flow.fields.push(first);
        }
        flow.payloads = flow.new_places(exe.n_events());
        flow.transitions = flow.new_places(exe.states.len());
        flow.creations = flow.new_places(exe.interfaces.len());
        flow.results = flow.new_places(exe.funs.len());
        flow.beginnings();
        flow.handlers();
        for fun in exe.funs.ids() {
            // What no machine runs says nothing.
            if flow.machines[fun].is_empty() {
                continue;
            }
            let def = &exe.funs[fun];
            for pc in def.entry..def.end {
                flow.op(fun, pc);
            }
        }
        flow.solve();
        (!flow.has_overflown).then_some(flow)
    }

    pub fn field(&self, machine: MachineId, field: usize) -> PlaceId {
        self.fields[machine.index()] + field as PlaceId
    }

    pub fn payload(&self, event: EventId) -> PlaceId {
        self.payloads + event.as_u32()
    }

    pub fn transition(&self, state: ControlId) -> PlaceId {
        self.transitions + state.as_u32()
    }

    pub fn creation(&self, interface: InterfaceId) -> PlaceId {
        self.creations + interface.as_u32()
    }

    /// A register before an op; none if it is dead there.
    pub fn register(&self, pc: u32, register: u32) -> PlaceId {
        self.webs[(self.starts[pc as usize] + register) as usize]
    }

    pub fn into_tables(self) -> (Vec<Place>, Vec<u32>, Vec<PlaceId>) {
        (self.places, self.starts, self.webs)
    }

    fn new_places(&mut self, n: usize) -> PlaceId {
        let first = self.places.len() as PlaceId;
        self.places.resize(self.places.len() + n, Place::default());
        first
    }

    /// Makes a place of every register for each stretch of code in which it is live.
    fn find_webs(&mut self) {
        let exe = self.exe;
        let mut n = 0;
        for fun in &exe.funs {
            for _ in fun.entry..fun.end {
                self.starts.push(n);
                n += fun.n_registers;
            }
        }
        if n as usize > 16 * MAX_PLACES {
            self.has_overflown = true;
            self.webs = vec![NO_PLACE; n as usize];
            return;
        }
        let mut parents: Vec<u32> = (0..n).collect();
        let mut written: Vec<u32> = Vec::new();
        for (number, fun) in exe.funs.iter_ids() {
            let is_live = |pc: u32, register: u32| exe.liveness.is_live(exe, number, pc, register);
            for pc in fun.entry..fun.end {
                let op = &exe.code[pc as usize];
                written.clear();
                accesses(exe, op, &mut |operand, access| {
                    if let (Access::Write, OperandView::Register(n)) = (access, operand.view()) {
                        written.push(n);
                    }
                });
                let starts = &self.starts;
                let mut join = |to: u32, param: Option<u32>| {
                    for register in 0..fun.n_registers {
                        if is_live(pc, register)
                            && is_live(to, register)
                            && !written.contains(&register)
                            && param != Some(register)
                        {
                            let a = find(&mut parents, starts[pc as usize] + register);
                            let b = find(&mut parents, starts[to as usize] + register);
                            parents[a as usize] = b;
                        }
                    }
                };
                if !op.ends() && pc + 1 < fun.end {
                    join(pc + 1, None);
                }
                match *op {
                    Op::Jump { to }
                    | Op::JumpIf { to, .. }
                    | Op::JumpIfNot { to, .. }
                    | Op::Next { end: to, .. } => join(to, None),
                    Op::Receive { table } => {
                        for case in exe.receives[table as usize].cases.iter().flatten() {
                            join(case.to, case.param.map(|(param, _)| param));
                        }
                    }
                    _ => {}
                }
            }
        }
        self.webs = vec![NO_PLACE; n as usize];
        for (number, fun) in exe.funs.iter_ids() {
            for pc in fun.entry..fun.end {
                for register in 0..fun.n_registers {
                    if exe.liveness.is_live(exe, number, pc, register) {
                        let at = self.starts[pc as usize] + register;
                        let root = find(&mut parents, at);
                        if self.webs[root as usize] == NO_PLACE {
                            self.webs[root as usize] = self.new_places(1);
                        }
                        self.webs[at as usize] = self.webs[root as usize];
                    }
                }
            }
        }
    }

    /// Fields before the first step.
    fn beginnings(&mut self) {
        let exe = self.exe;
        for (number, machine) in exe.machines.iter_ids() {
            for (at, &(_, value)) in machine.fields.iter().enumerate() {
                let place = self.field(number, at);
                self.constant_into(place, value, Origin::Field(number));
            }
        }
    }

    /// What a constant holds goes to a place and its parts.
    fn constant_into(&mut self, place: PlaceId, value: Value, origin: Origin) {
        let store = &self.exe.store;
        match value.view() {
            View::Int(number) => {
                self.add_kinds(place, kinds::INT);
                let from = self.new_places(1);
                self.places[from as usize].kinds = kinds::INT;
                self.constants.push(Constant { place: from, number, origin });
                self.flow(from, place);
            }
            View::Node(kind, id) => match kind {
                Kind::Float | Kind::String => {}
                Kind::Int => {
                    let number = store.as_int(value).unwrap_or(i64::MAX);
                    self.add_kinds(place, kinds::INT);
                    let from = self.new_places(1);
                    self.constants.push(Constant { place: from, number, origin });
                    self.flow(from, place);
                }
                Kind::Tuple => {
                    for (at, part) in store.parts(id).to_vec().into_iter().enumerate() {
                        let place = self.part(place, Label::Part(at as u32));
                        self.constant_into(place, part, origin);
                    }
                }
                Kind::Named => {
                    let (shape, parts) = store.named_parts(id);
                    let names = self.exe.shapes[shape].to_vec();
                    for (name, part) in names.into_iter().zip(parts.to_vec()) {
                        let place = self.part(place, Label::Name(name));
                        self.constant_into(place, part, origin);
                    }
                }
                Kind::Seq | Kind::Set | Kind::Map => {
                    self.add_kinds(place, kind_bits(kind));
                    let entries: Vec<Vec<Value>> = store.elements(value).map(<[Value]>::to_vec).collect();
                    for entry in entries {
                        let labels: &[Label] =
                            if kind == Kind::Map { &[Label::Key, Label::Element] } else { &[Label::Element] };
                        for (&label, part) in labels.iter().zip(entry) {
                            let place = self.part(place, label);
                            self.constant_into(place, part, origin);
                        }
                    }
                }
            },
            View::Null | View::Bool(_) | View::Event(_) | View::Ref(..) | View::Hole(_) | View::Atom(..) => {}
        }
    }

    /// What handlers and functions of transitions are given.
    fn handlers(&mut self) {
        let exe = self.exe;
        for (number, state) in exe.states.iter_ids() {
            let transition = self.transition(number);
            if let Some(entry) = state.entry {
                self.give(transition, entry);
            }
            for (event, action) in state.actions.iter_ids() {
                let payload = self.payload(event);
                match *action {
                    Action::None | Action::Defer | Action::Ignore => {}
                    Action::Do(fun) => self.give(payload, fun),
                    Action::Goto(target, with) => {
                        let kept = self.transition(target);
                        self.flow(payload, kept);
                        if let Some(with) = with {
                            self.give(kept, with);
                        }
                    }
                }
            }
        }
        for (number, interface) in exe.interfaces.iter_ids() {
            let start = interface.machine.and_then(|machine| exe.machines[machine].start);
            if let Some(start) = start {
                let (from, to) = (self.creation(number), self.transition(start));
                self.flow(from, to);
            }
        }
    }

    /// A value is the parameter of a function.
    fn give(&mut self, from: PlaceId, fun: FunId) {
        let def = &self.exe.funs[fun];
        if !def.params.is_empty() && def.entry < def.end {
            let param = self.register(def.entry, 0);
            self.flow(from, param);
        }
    }

    /// The places that an operand of an op is read from. A constant is a place of its own.
    fn read(&mut self, fun: FunId, pc: u32, operand: Operand) -> Vec<PlaceId> {
        match operand.view() {
            OperandView::Register(n) => vec![self.register(pc, n)],
            OperandView::Field(n) => {
                self.machines[fun].iter().map(|&machine| self.field(machine, n as usize)).collect()
            }
            OperandView::Const(n) => {
                if let Some(&place) = self.constant_places.get(&(pc, n)) {
                    return vec![place];
                }
                let place = self.new_places(1);
                self.constant_places.insert((pc, n), place);
                self.constant_into(place, self.exe.consts[n as usize], Origin::Op(pc));
                vec![place]
            }
        }
    }

    /// The places that an op writes an operand to: none for a register that is dead after it.
    fn written(&mut self, fun: FunId, pc: u32, operand: Operand) -> Vec<PlaceId> {
        match operand.view() {
            OperandView::Register(n) if pc + 1 < self.exe.funs[fun].end => {
                vec![self.register(pc + 1, n)]
            }
            OperandView::Register(_) | OperandView::Const(_) => Vec::new(),
            OperandView::Field(_) => self.read(fun, pc, operand),
        }
    }

    fn copy(&mut self, fun: FunId, pc: u32, src: Operand, dst: Operand) {
        for from in self.read(fun, pc, src) {
            for to in self.written(fun, pc, dst) {
                self.flow(from, to);
            }
        }
    }

    fn constant(&self, operand: Operand) -> Option<i64> {
        match operand.view() {
            OperandView::Const(n) => self.exe.store.as_int(self.exe.consts[n as usize]),
            OperandView::Register(_) | OperandView::Field(_) => None,
        }
    }

    fn op(&mut self, fun: FunId, pc: u32) {
        let exe = self.exe;
        let span = exe.spans[pc as usize];
        match exe.code[pc as usize] {
            Op::Move { dst, src } | Op::Cast { dst, src, .. } => self.copy(fun, pc, src, dst),
            Op::Binary { op, dst, a, b } => self.binary(fun, pc, op, dst, [a, b]),
            Op::Neg { dst, src } if self.constant(src).is_some() => {
                let number = self.constant(src).unwrap_or(0).wrapping_neg();
                for to in self.written(fun, pc, dst).into_iter().filter(|&to| to != NO_PLACE) {
                    let place = self.new_places(1);
                    self.add_kinds(place, kinds::INT);
                    self.constants.push(Constant { place, number, origin: Origin::Op(pc) });
                    self.flow(place, to);
                }
            }
            Op::Neg { dst, src } => {
                self.expose_operand(fun, pc, src, Why::Arithmetic);
                self.unknown(fun, pc, dst, Why::Arithmetic);
            }
            Op::ToInt { dst, src } => {
                self.expose_operand(fun, pc, src, Why::Conversion);
                self.unknown(fun, pc, dst, Why::Conversion);
            }
            Op::ToFloat { src, .. } => self.expose_operand(fun, pc, src, Why::Conversion),
            Op::Tuple { dst, first, n } => {
                for to in self.written(fun, pc, dst) {
                    for at in 0..n {
                        let to = self.part(to, Label::Part(at));
                        self.flow(self.register(pc, first + at), to);
                    }
                }
            }
            Op::Named { dst, first, shape } => {
                for to in self.written(fun, pc, dst) {
                    for (at, &name) in exe.shapes[shape].iter().enumerate() {
                        let to = self.part(to, Label::Name(name));
                        self.flow(self.register(pc, first + at as u32), to);
                    }
                }
            }
            Op::Part { dst, src, index } => self.project(fun, pc, src, Label::Part(index), dst),
            Op::Field { dst, src, access } => {
                let (name, _) = exe.accesses[access as usize];
                self.project(fun, pc, src, Label::Name(name), dst);
            }
            Op::Index { dst, src, index } => {
                for of in self.read(fun, pc, src) {
                    for index in self.read(fun, pc, index) {
                        self.later.push(Later::Select { index, of, how: Selects::Find, span });
                    }
                }
                self.project(fun, pc, src, Label::Element, dst);
            }
            Op::Keys { dst, src } => self.list(fun, pc, src, Label::Key, dst),
            Op::Values { dst, src } => self.list(fun, pc, src, Label::Element, dst),
            Op::Sizeof { dst, src } => {
                self.enumerate(fun, pc, src);
                self.unknown(fun, pc, dst, Why::Size);
            }
            Op::Format { dst, template, first } => {
                // The text of a failed assertion is for people, and no code reads it.
                let is_for_people = exe.code.get(pc as usize + 1) == Some(&Op::Fail { message: dst })
                    || matches!(dst.view(), OperandView::Register(n)
                        if exe.demands().register(pc + 1, n as usize) != EVERYTHING);
                if !is_for_people {
                    for at in 0..exe.templates[template as usize].n_args {
                        self.opaque(self.register(pc, first + at), (Why::Text, Some(span)));
                    }
                }
            }
            Op::Choose { dst, src } => {
                self.enumerate(fun, pc, src);
                for of in self.read(fun, pc, src) {
                    for to in self.written(fun, pc, dst) {
                        self.later.push(Later::Pick { of, to, is_choice: true, span });
                    }
                    // Even if the answer is not used.
                    self.later.push(Later::Pick { of, to: NO_PLACE, is_choice: true, span });
                }
            }
            Op::Next { dst, iter, .. } => {
                let (collection, position) = (self.register(pc, iter), self.register(pc, iter + 1));
                self.enumerate(fun, pc, Operand::register(iter));
                self.expose(position, (Why::Size, Some(span)));
                for to in self.written(fun, pc, dst) {
                    self.later.push(Later::Pick { of: collection, to, is_choice: false, span });
                }
            }
            Op::Call { dst, fun: callee, first } => {
                let def = &exe.funs[callee];
                for at in 0..def.params.len() as u32 {
                    if def.entry < def.end {
                        let (from, to) = (self.register(pc, first + at), self.register(def.entry, at));
                        self.flow(from, to);
                    }
                }
                for to in self.written(fun, pc, dst) {
                    self.flow(self.results + callee.as_u32(), to);
                }
            }
            Op::Return { src } => {
                for from in self.read(fun, pc, src) {
                    self.flow(from, self.results + fun.as_u32());
                }
            }
            Op::Store { root, path, src } => {
                for place in self.walk(fun, pc, root, &exe.paths[path as usize], true) {
                    for from in self.read(fun, pc, src) {
                        self.flow(from, place);
                    }
                }
            }
            Op::Insert { root, path, src } => {
                for place in self.walk(fun, pc, root, &exe.paths[path as usize], true) {
                    for from in self.read(fun, pc, src) {
                        self.flow(from, place);
                    }
                }
            }
            Op::Add { root, path, src } => {
                for place in self.walk(fun, pc, root, &exe.paths[path as usize], false) {
                    let element = self.part(place, Label::Element);
                    for from in self.read(fun, pc, src) {
                        self.flow(from, element);
                    }
                }
            }
            Op::Remove { root, path } => {
                let Some((&last, steps)) = exe.paths[path as usize].split_last() else { return };
                let Step::Index(index) = last else { return };
                for of in self.walk(fun, pc, root, steps, false) {
                    for index in self.read(fun, pc, index) {
                        self.later.push(Later::Member { index, of, is_in: false, span });
                    }
                }
            }
            Op::Send { event, payload, .. }
            | Op::Announce { event, payload }
            | Op::Raise { event, payload } => {
                let known = match event.view() {
                    OperandView::Const(n) => exe.consts[n as usize].as_event(),
                    OperandView::Register(_) | OperandView::Field(_) => None,
                };
                let events: Vec<EventId> = match known {
                    Some(event) => vec![event],
                    None => exe.events.ids().collect(),
                };
                for from in self.read(fun, pc, payload) {
                    for &event in &events {
                        self.flow(from, self.payload(event));
                    }
                }
            }
            Op::New { interface, payload, .. } => {
                for from in self.read(fun, pc, payload) {
                    for creator in exe.interfaces.ids() {
                        self.flow(from, self.creation(exe.link(creator, interface)));
                    }
                }
            }
            Op::Goto { state, payload } => {
                for from in self.read(fun, pc, payload) {
                    self.flow(from, self.transition(state));
                }
            }
            Op::Receive { table } => {
                for (event, case) in exe.receives[table as usize].cases.iter_ids() {
                    if let Some((case, (param, _))) = case.and_then(|case| Some((case, case.param?))) {
                        self.flow(self.payload(event), self.register(case.to, param));
                    }
                }
            }
            Op::Foreign { fun: foreign } => {
                let def = &exe.funs[foreign];
                for at in 0..def.params.len() as u32 {
                    if def.entry < def.end {
                        self.opaque(self.register(def.entry, at), (Why::Foreign, Some(span)));
                    }
                }
                self.opaque(self.results + foreign.as_u32(), (Why::Foreign, Some(span)));
            }
            Op::Not { .. }
            | Op::ToPermission { .. }
            | Op::FormatForPrint { .. }
            | Op::This { .. }
            | Op::Flip { .. }
            | Op::Jump { .. }
            | Op::JumpIf { .. }
            | Op::JumpIfNot { .. }
            | Op::Fail { .. }
            | Op::Print { .. }
            | Op::PrintFormat { .. } => {}
        }
    }

    fn binary(&mut self, fun: FunId, pc: u32, op: BinaryOp, dst: Operand, [a, b]: [Operand; 2]) {
        let span = self.exe.spans[pc as usize];
        match op {
            BinaryOp::Eq | BinaryOp::Ne => {
                for a in self.read(fun, pc, a) {
                    for b in self.read(fun, pc, b) {
                        self.compare(a, b);
                    }
                }
            }
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                for a in self.read(fun, pc, a) {
                    for b in self.read(fun, pc, b) {
                        if a != NO_PLACE && b != NO_PLACE {
                            self.ordered.push((a, b));
                        }
                    }
                }
            }
            BinaryOp::In => {
                for index in self.read(fun, pc, a) {
                    for of in self.read(fun, pc, b) {
                        self.later.push(Later::Member { index, of, is_in: true, span });
                    }
                }
            }
            BinaryOp::Add | BinaryOp::Sub => {
                let (from, by) = match (self.constant(a), self.constant(b), op) {
                    (None, Some(by), BinaryOp::Add) => (a, by),
                    (None, Some(by), _) => (a, by.saturating_neg()),
                    (Some(by), None, BinaryOp::Add) => (b, by),
                    _ => {
                        self.expose_operand(fun, pc, a, Why::Arithmetic);
                        self.expose_operand(fun, pc, b, Why::Arithmetic);
                        return self.unknown(fun, pc, dst, Why::Arithmetic);
                    }
                };
                if by.unsigned_abs() > MAX_STEP as u64 {
                    self.expose_operand(fun, pc, from, Why::Arithmetic);
                    return self.unknown(fun, pc, dst, Why::Arithmetic);
                }
                for from in self.read(fun, pc, from) {
                    for to in self.written(fun, pc, dst) {
                        if from != NO_PLACE && to != NO_PLACE {
                            self.add_kinds(to, kinds::INT);
                            self.increments.push(Increment { from, to, by });
                        }
                    }
                }
            }
            BinaryOp::Mod if self.constant(b).is_some_and(|n| (1..=MAX_STEP).contains(&n)) => {
                let modulus = self.constant(b).unwrap_or(1);
                for from in self.read(fun, pc, a).into_iter().filter(|&from| from != NO_PLACE) {
                    self.moduli.push((from, modulus));
                }
                self.unknown(fun, pc, dst, Why::Arithmetic);
            }
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod => {
                self.expose_operand(fun, pc, a, Why::Arithmetic);
                self.expose_operand(fun, pc, b, Why::Arithmetic);
                self.unknown(fun, pc, dst, Why::Arithmetic);
            }
            BinaryOp::And | BinaryOp::Or => {}
        }
    }

    fn project(&mut self, fun: FunId, pc: u32, src: Operand, label: Label, dst: Operand) {
        for from in self.read(fun, pc, src) {
            let part = self.part(from, label);
            for to in self.written(fun, pc, dst) {
                self.flow(part, to);
            }
        }
    }

    /// A sequence of keys or values.
    fn list(&mut self, fun: FunId, pc: u32, src: Operand, label: Label, dst: Operand) {
        self.enumerate(fun, pc, src);
        for from in self.read(fun, pc, src) {
            let part = self.part(from, label);
            for to in self.written(fun, pc, dst) {
                self.add_kinds(to, kinds::SEQ);
                let element = self.part(to, Label::Element);
                self.flow(part, element);
            }
        }
    }

    fn enumerate(&mut self, fun: FunId, pc: u32, operand: Operand) {
        for place in self.read(fun, pc, operand).into_iter().filter(|&place| place != NO_PLACE) {
            self.places[place as usize].is_enumerated = true;
        }
    }

    /// The places at the end of a path into a variable. If `enters`, the last key may be new.
    fn walk(&mut self, fun: FunId, pc: u32, root: Operand, steps: &[Step], enters: bool) -> Vec<PlaceId> {
        let span = self.exe.spans[pc as usize];
        let mut ends = Vec::new();
        let mut roots = self.read(fun, pc, root);
        // What is dead before the op is live after it all the same: it is changed in place.
        roots.extend(self.written(fun, pc, root));
        for mut place in roots {
            for (at, step) in steps.iter().enumerate() {
                let label = match *step {
                    Step::Part(part) => Label::Part(part),
                    Step::Field(access) => Label::Name(self.exe.accesses[access as usize].0),
                    Step::Index(index) => {
                        let is_last = at + 1 == steps.len();
                        let how = if enters && is_last { Selects::Enter } else { Selects::Find };
                        for index in self.read(fun, pc, index) {
                            self.later.push(Later::Select { index, of: place, how, span });
                        }
                        Label::Element
                    }
                };
                place = self.part(place, label);
            }
            ends.push(place);
        }
        ends
    }

    /// An op depends on the numbers of an operand themselves.
    fn expose_operand(&mut self, fun: FunId, pc: u32, operand: Operand, why: Why) {
        let span = self.exe.spans[pc as usize];
        for place in self.read(fun, pc, operand) {
            self.expose(place, (why, Some(span)));
        }
    }

    fn expose(&mut self, place: PlaceId, why: (Why, Option<Span>)) {
        if place != NO_PLACE {
            self.places[place as usize].exposed.get_or_insert(why);
        }
    }

    /// A number is written of which nothing is known but where.
    fn unknown(&mut self, fun: FunId, pc: u32, operand: Operand, why: Why) {
        for place in self.written(fun, pc, operand).into_iter().filter(|&place| place != NO_PLACE) {
            self.sources.push(Source { place, pc, why });
            self.add_kinds(place, kinds::INT);
        }
    }

    /// Nothing is known of a place and its parts.
    fn opaque(&mut self, place: PlaceId, why: (Why, Option<Span>)) {
        if place == NO_PLACE || self.places[place as usize].is_opaque.is_some() {
            return;
        }
        let here = &mut self.places[place as usize];
        here.is_opaque = Some(why);
        here.is_enumerated = true;
        here.exposed.get_or_insert(why);
        let parts: Vec<PlaceId> = here.parts.iter().map(|&(_, part)| part).collect();
        for part in parts {
            self.opaque(part, why);
        }
    }

    fn add_kinds(&mut self, place: PlaceId, kinds: u8) {
        if place != NO_PLACE && self.places[place as usize].kinds | kinds != self.places[place as usize].kinds
        {
            self.places[place as usize].kinds |= kinds;
            self.open.push(place);
        }
    }

    /// A part of a place.
    fn part(&mut self, place: PlaceId, label: Label) -> PlaceId {
        if place == NO_PLACE {
            return NO_PLACE;
        }
        let here = &self.places[place as usize];
        if let Some(&(_, part)) = here.parts.iter().find(|(known, _)| *known == label) {
            return part;
        }
        if here.depth >= MAX_DEPTH || self.places.len() > MAX_PLACES {
            self.has_overflown |= self.places.len() > MAX_PLACES;
            // Its own part: whatever is below is as little known as this.
            self.opaque(place, (Why::Nesting, None));
            return place;
        }
        let (depth, opaque) = (here.depth + 1, here.is_opaque);
        // A tuple with names may be taken apart by position, and then no name says which part that is.
        let is_mixed = match label {
            Label::Part(_) => here.parts.iter().any(|(known, _)| matches!(known, Label::Name(_))),
            Label::Name(_) => here.parts.iter().any(|(known, _)| matches!(known, Label::Part(_))),
            Label::Element | Label::Key => false,
        };
        let part = self.new_places(1);
        self.places[part as usize].depth = depth;
        self.places[place as usize].parts.push((label, part));
        self.open.push(place);
        if let Some(why) = opaque {
            self.opaque(part, why);
        }
        if is_mixed {
            self.opaque(place, (Why::Nesting, None));
        }
        part
    }

    /// Values of a place are copied to another.
    fn flow(&mut self, from: PlaceId, to: PlaceId) {
        if from == NO_PLACE || to == NO_PLACE || from == to || !self.edges.insert((from, to, true)) {
            return;
        }
        self.places[from as usize].to.push(to);
        self.places[to as usize].from.push(from);
        self.open.push(from);
        self.open.push(to);
    }

    /// Values of two places are compared for equality.
    fn compare(&mut self, a: PlaceId, b: PlaceId) {
        if a == NO_PLACE || b == NO_PLACE {
            return;
        }
        self.places[a as usize].is_enumerated = true;
        self.places[b as usize].is_enumerated = true;
        let (a, b) = (a.min(b), a.max(b));
        if a == b || !self.edges.insert((a, b, false)) {
            return;
        }
        self.places[a as usize].compared.push(b);
        self.places[b as usize].compared.push(a);
        self.open.push(a);
        self.open.push(b);
    }

    /// Marks collections that are elements of sets or keys of maps, or parts of these: they are compared as a whole.
    fn mark_members(&mut self) {
        let mut open = Vec::new();
        for here in &self.places {
            let is_set = here.kinds & kinds::SET != 0;
            let is_member = |label: &Label| *label == Label::Key || is_set && *label == Label::Element;
            open.extend(here.parts.iter().filter(|(label, _)| is_member(label)).map(|&(_, part)| part));
        }
        let mut is_seen = vec![false; self.places.len()];
        while let Some(place) = open.pop() {
            if !std::mem::replace(&mut is_seen[place as usize], true) {
                self.places[place as usize].is_enumerated = true;
                open.extend(self.places[place as usize].parts.iter().map(|&(_, part)| part));
            }
        }
    }

    /// Marks collections whose content goes to one that is enumerated.
    pub fn spread_enumeration(&mut self) {
        self.mark_members();
        let is_marked = |place: &PlaceId| self.places[*place as usize].is_enumerated;
        let mut open: Vec<PlaceId> = (0..self.places.len() as PlaceId).filter(is_marked).collect();
        while let Some(place) = open.pop() {
            for from in self.places[place as usize].from.clone() {
                if !std::mem::replace(&mut self.places[from as usize].is_enumerated, true) {
                    open.push(from);
                }
            }
        }
    }

    /// Propagates until nothing is new.
    fn solve(&mut self) {
        loop {
            while let Some(place) = self.open.pop() {
                self.propagate(place);
                if self.has_overflown {
                    return;
                }
            }
            if self.has_overflown || !self.look_later() {
                return;
            }
        }
    }

    fn propagate(&mut self, place: PlaceId) {
        let here = self.places[place as usize].clone();
        let n_others = here.to.len() + here.from.len() + here.compared.len();
        self.n_looks += here.to.len() + here.parts.len() * n_others;
        self.has_overflown |= self.n_looks > MAX_LOOKS;
        for &to in &here.to {
            self.add_kinds(to, here.kinds);
        }
        for &(label, part) in &here.parts {
            for &to in &here.to {
                let other = self.part(to, label);
                self.flow(part, other);
            }
            for &from in &here.from {
                let other = self.part(from, label);
                self.flow(other, part);
            }
            for &with in &here.compared {
                let other = self.part(with, label);
                self.compare(part, other);
            }
        }
    }

    /// Does what depends on kinds; whether there was anything new.
    fn look_later(&mut self) -> bool {
        let mut is_new = false;
        for number in 0..self.later.len() {
            let later = self.later[number];
            let of = match later {
                Later::Select { of, .. } | Later::Member { of, .. } | Later::Pick { of, .. } => of,
            };
            if of == NO_PLACE {
                continue;
            }
            let all = self.places[of as usize].kinds;
            for kind in [kinds::INT, kinds::SEQ, kinds::SET, kinds::MAP] {
                if all & kind == 0 || !self.done.insert((number, kind)) {
                    continue;
                }
                is_new = true;
                match (later, kind) {
                    (Later::Select { index, how, .. }, kinds::MAP) => {
                        let key = self.part(of, Label::Key);
                        match how {
                            Selects::Find => self.compare(index, key),
                            Selects::Enter => self.flow(index, key),
                        }
                    }
                    (Later::Select { index, span, .. }, kinds::SEQ | kinds::SET) => {
                        self.expose(index, (Why::Index, Some(span)));
                        self.places[of as usize].is_enumerated = true;
                    }
                    (Later::Member { index, .. }, kinds::MAP) => {
                        let key = self.part(of, Label::Key);
                        self.compare(index, key);
                    }
                    (Later::Member { index, .. }, kinds::SET) => {
                        let element = self.part(of, Label::Element);
                        self.compare(index, element);
                    }
                    (Later::Member { index, is_in: true, .. }, kinds::SEQ) => {
                        let element = self.part(of, Label::Element);
                        self.places[of as usize].is_enumerated = true;
                        self.compare(index, element);
                    }
                    (Later::Member { index, is_in: false, span, .. }, kinds::SEQ) => {
                        self.expose(index, (Why::Index, Some(span)));
                        self.places[of as usize].is_enumerated = true;
                    }
                    (Later::Pick { to, is_choice: true, span, .. }, kinds::INT) => {
                        self.expose(of, (Why::Choice, Some(span)));
                        self.expose(to, (Why::Choice, Some(span)));
                        self.add_kinds(to, kinds::INT);
                    }
                    (Later::Pick { to, .. }, kinds::MAP) => {
                        let key = self.part(of, Label::Key);
                        self.flow(key, to);
                    }
                    (Later::Pick { to, .. }, kinds::SEQ | kinds::SET) => {
                        let element = self.part(of, Label::Element);
                        self.flow(element, to);
                    }
                    _ => {}
                }
            }
        }
        is_new
    }
}

fn kind_bits(kind: Kind) -> u8 {
    match kind {
        Kind::Seq => kinds::SEQ,
        Kind::Set => kinds::SET,
        Kind::Map => kinds::MAP,
        Kind::Int => kinds::INT,
        Kind::Float | Kind::String | Kind::Tuple | Kind::Named => 0,
    }
}

pub(super) fn find(parents: &mut [u32], at: u32) -> u32 {
    let mut root = at;
    while parents[root as usize] != root {
        root = parents[root as usize];
    }
    let mut at = at;
    while parents[at as usize] != root {
        at = std::mem::replace(&mut parents[at as usize], root);
    }
    root
}
