//! Where values go: places of a program and the flow between them.
//!
//! A *place* is anything that holds a value: a field, a register while it is live, the payload of an event, of a transition or of a
//! creation, the result of a function, and every part of these (a part of a tuple, an element, a key). Values of P are copied, so
//! the flow is directed, and goes part by part. Registers are used again for other things, so a register is a place
//! for each stretch of code in which it is live (a web). All of it errs on the side of "may": code is taken to run in any order.

mod code;
mod webs;

use std::ops::Deref;

use allways_base::{Idx, IndexVec, Span, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Why;
use crate::Executable;
use crate::ir::{Action, ControlId, EventId, FunId, InterfaceId, MachineId};
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

/// Which place is that of a variable, a register or a payload.
#[derive(Clone, Debug, Default)]
pub(super) struct PlaceMap {
    /// By op: where its registers begin in `webs`.
    starts: Vec<u32>,
    webs: Vec<PlaceId>,
    /// By machine: its first field.
    fields: Vec<PlaceId>,
    payloads: PlaceId,
    transitions: PlaceId,
    creations: PlaceId,
}

impl PlaceMap {
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
}

impl Deref for Flow<'_> {
    type Target = PlaceMap;

    fn deref(&self) -> &PlaceMap {
        &self.map
    }
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
    map: PlaceMap,
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
            map: PlaceMap::default(),
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
            flow.map.fields.push(first);
        }
        flow.map.payloads = flow.new_places(exe.n_events());
        flow.map.transitions = flow.new_places(exe.states.len());
        flow.map.creations = flow.new_places(exe.interfaces.len());
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

    pub fn into_tables(self) -> (Vec<Place>, PlaceMap) {
        (self.places, self.map)
    }

    fn new_places(&mut self, n: usize) -> PlaceId {
        let first = self.places.len() as PlaceId;
        self.places.resize(self.places.len() + n, Place::default());
        first
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

    fn expose(&mut self, place: PlaceId, why: (Why, Option<Span>)) {
        if place != NO_PLACE {
            self.places[place as usize].exposed.get_or_insert(why);
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
