//! The numbers of a local, by class, and the local with others in their place.
//!
//! Of a collection that is only ever looked up by key (`Known::is_only_found`), entries whose key cannot occur again may be left out. Whether
//! one can depends on the whole configuration, so an occurrence says which entry it is in.

use super::Numbers;

use super::flow::{Label, NO_PLACE, PlaceId};
use crate::Executable;
use crate::configuration::{After, Local, Message, Pending, Status};
use crate::demand::{Demand, DemandId, EVERYTHING, NOTHING, Part};
use crate::kernel::Kernel;
use crate::value::{Kind, Store, Value, View};

/// Entries of entries of collections are not left out by themselves from this depth on.
const MAX_ENTRIES: usize = 2;

/// Which entries a number is in, by class and key.
pub type Entries = [Option<(u8, i64)>; MAX_ENTRIES];

/// A number of a class in a local.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Occurrence {
    pub class: u8,
    pub number: i64,
    /// It may be counted from: the least number that this may lead to by subtraction.
    pub least: Option<i64>,
    /// It is, or is in, entries of collections that are only found by these keys, of these classes; the outermost first.
    pub entries: Entries,
    /// It is the key of the innermost of these itself.
    pub is_key: bool,
}

/// What becomes of the numbers of a configuration.
pub trait Renumbering {
    fn image(&self, class: u8, number: i64) -> i64;

    /// Whether entries of collections that are only found by this key can go.
    fn is_gone(&self, class: u8, key: i64) -> bool;
}

/// Sees every number of a class, and may change it.
trait Visit {
    fn number(&mut self, store: &mut Store, class: u8, falls: Option<i64>, value: Value) -> Value;

    /// A number that no code reads any more.
    fn unseen(&mut self, value: Value) -> Value {
        value
    }

    /// Enters an entry of a collection that is only found by this key; whether it stays.
    fn enter(&mut self, _class: u8, _key: i64) -> bool {
        true
    }

    /// The key of such an entry.
    fn key(&mut self, store: &mut Store, class: u8, value: Value) -> Value {
        self.number(store, class, None, value)
    }

    /// Leaves the entry that was entered last.
    fn leave(&mut self) {}

    /// Whether registers that are not read again are forgotten, too.
    fn forgets(&self) -> bool {
        false
    }
}

struct Walker<'a, V> {
    exe: &'a Executable,
    numbers: &'a Numbers,
    store: &'a mut Store,
    visit: V,
    /// Keys and elements of sets around this.
    n_keys: usize,
    /// Entries around this that can go.
    n_entries: usize,
}

impl Numbers {
    /// The classes in which a machine that stands like this, and those that it makes, may still begin to count from a constant.
    pub fn ahead(&self, exe: &Executable, local: &Local) -> u64 {
        if self.classes.is_empty() { 0 } else { self.ahead.of(exe, local) }
    }
}

impl Kernel<'_> {
    /// The numbers of a local whose values are this kernel's, sorted, each once.
    pub fn numbers_of(&mut self, local: &Local, out: &mut Vec<Occurrence>) {
        struct Collect<'a> {
            out: &'a mut Vec<Occurrence>,
            entries: Entries,
        }
        impl Collect<'_> {
            fn n_entries(&self) -> usize {
                self.entries.iter().flatten().count()
            }
        }
        impl Visit for Collect<'_> {
            fn number(&mut self, store: &mut Store, class: u8, falls: Option<i64>, value: Value) -> Value {
                let number = match value.view() {
                    View::Int(number) => number,
                    // Boxed: too large to be renumbered.
                    _ => store.as_int(value).unwrap_or(i64::MAX),
                };
                let least = falls.map(|falls| number.saturating_sub(falls));
                self.out.push(Occurrence { class, number, least, entries: self.entries, is_key: false });
                value
            }

            fn enter(&mut self, class: u8, key: i64) -> bool {
                let depth = self.n_entries();
                self.entries[depth] = Some((class, key));
                let (entries, least) = (self.entries, None);
                self.out.push(Occurrence { class, number: key, least, entries, is_key: true });
                true
            }

            fn key(&mut self, _: &mut Store, _: u8, value: Value) -> Value {
                value
            }

            fn leave(&mut self) {
                let depth = self.n_entries();
                self.entries[depth - 1] = None;
            }
        }
        let mut copy = local.clone();
        self.visit_numbers(&mut copy, Collect { out, entries: Entries::default() });
        out.sort_unstable();
        out.dedup();
    }

    /// The local with other numbers, and without entries that can go.
    pub fn renumber(&mut self, local: &mut Local, to: &dyn Renumbering) {
        struct Change<'a>(&'a dyn Renumbering);
        impl Visit for Change<'_> {
            fn number(&mut self, store: &mut Store, class: u8, _: Option<i64>, value: Value) -> Value {
                match value.view() {
                    View::Int(number) => store.int(self.0.image(class, number)),
                    _ => value,
                }
            }

            fn enter(&mut self, class: u8, key: i64) -> bool {
                !self.0.is_gone(class, key)
            }
        }
        self.visit_numbers(local, Change(to));
    }

    /// Numbers that no code looks at any more become zero, and collections that are only looked up by key are sorted, so that locals which differ
    /// in nothing else are equal after a renumbering.
    pub fn forget_unseen_numbers(&mut self, local: &mut Local) {
        struct Forget;
        impl Visit for Forget {
            fn number(&mut self, _: &mut Store, _: u8, _: Option<i64>, value: Value) -> Value {
                value
            }

            fn unseen(&mut self, _: Value) -> Value {
                Value::ZERO
            }

            fn forgets(&self) -> bool {
                true
            }
        }
        self.visit_numbers(local, Forget);
    }

    fn visit_numbers(&mut self, local: &mut Local, visit: impl Visit) {
        let exe = self.executable().clone();
        let numbers = exe.numbers();
        let store = self.store_mut();
        let mut walker = Walker { exe: &exe, numbers, store, visit, n_keys: 0, n_entries: 0 };
        walker.local(local);
    }
}

impl<V: Visit> Walker<'_, V> {
    fn local(&mut self, local: &mut Local) {
        if let Status::Halted | Status::Pending(Pending::Fault(_)) = local.status {
            return;
        }
        let (exe, numbers) = (self.exe, self.numbers);
        let demands = exe.demands();
        let machine = local.machine;
        // What is not read any more is left as it is.
        let live = exe.usage().live_fields(local);
        let n_fields = exe.machines[machine].fields.len().min(local.registers.len());
        for field in 0..n_fields {
            let place = numbers.map.field(machine, field);
            if numbers.is_relevant(place) {
                let is_live = field >= 64 || live >> field & 1 == 1;
                let demand = if is_live { demands.field(machine, field) } else { NOTHING };
                local.registers[field] = self.value(local.registers[field], place, demand);
            }
        }
        let mut dead = exe.liveness.dead(exe, local).collect::<Vec<usize>>().into_iter().peekable();
        for depth in 0..local.frames.len() {
            let frame = local.frames[depth];
            let end =
                local.frames.get(depth + 1).map_or(local.registers.len(), |callee| callee.base as usize);
            for at in frame.base as usize..end {
                if dead.next_if_eq(&at).is_some() {
                    if self.visit.forgets() {
                        local.registers[at] = Value::NULL;
                    }
                    continue;
                }
                let register = at as u32 - frame.base;
                let place = numbers.map.register(frame.pc, register);
                if numbers.is_relevant(place) {
                    let demand = demands.register(frame.pc, register as usize);
                    local.registers[at] = self.value(local.registers[at], place, demand);
                }
            }
        }
        for message in &mut local.inbox {
            let demand = demands.payload(machine, message.event);
            self.message(message, demand);
        }
        match &mut local.after {
            After::Exit { target, with, payload } => {
                let demand = demands.transition(*target, *with);
                *payload = self.value(*payload, numbers.map.transition(*target), demand);
            }
            After::With { target, payload } => {
                let demand = demands.transition(*target, None);
                *payload = self.value(*payload, numbers.map.transition(*target), demand);
            }
            After::Handler | After::Unhandled { .. } => {}
        }
        match &mut local.status {
            Status::Pending(Pending::Deliver { message, .. }) => self.message(message, EVERYTHING),
            Status::Pending(Pending::Create { interface, payload, .. }) => {
                *payload = self.value(*payload, numbers.map.creation(*interface), EVERYTHING);
            }
            Status::Pending(
                Pending::Start | Pending::Observe | Pending::Fault(_) | Pending::Foreign { .. },
            )
            | Status::Idle
            | Status::Blocked { .. }
            | Status::Halted => {}
        }
    }

    fn message(&mut self, message: &mut Message, demand: DemandId) {
        message.payload = self.value(message.payload, self.numbers.map.payload(message.event), demand);
    }

    /// The value with other numbers.
    fn value(&mut self, value: Value, place: PlaceId, demand: DemandId) -> Value {
        if place == NO_PLACE || !self.numbers.is_relevant(place) {
            return value;
        }
        let numbers = self.numbers;
        match value.view() {
            View::Int(_) | View::Node(Kind::Int, _) => {
                let known = &numbers.places[place as usize];
                match known.class {
                    // Some are zero by now.
                    Some(_) if self.is_unseen(demand) => self.visit.unseen(value),
                    Some(class) => self.visit.number(self.store, class, known.falls, value),
                    None => value,
                }
            }
            View::Node(Kind::Tuple, id) => {
                let mut parts = self.store.parts(id).to_vec();
                for (at, part) in parts.iter_mut().enumerate() {
                    let inside = self.demand_of(demand, Part::Place(at as u32));
                    *part = self.value(*part, numbers.part(place, Label::Part(at as u32)), inside);
                }
                self.store.tuple(&parts)
            }
            View::Node(Kind::Named, id) => {
                let (shape, parts) = self.store.named_parts(id);
                let mut parts = parts.to_vec();
                for (part, &name) in parts.iter_mut().zip(&self.exe.shapes[shape]) {
                    let inside = self.demand_of(demand, Part::Name(name));
                    *part = self.value(*part, numbers.part(place, Label::Name(name)), inside);
                }
                self.store.named(shape, &parts)
            }
            View::Node(kind @ (Kind::Seq | Kind::Set | Kind::Map), _) => {
                let of_elements = match demand {
                    EVERYTHING => EVERYTHING,
                    _ => self.exe.demands().node(demand).elements,
                };
                self.collection(value, kind, place, of_elements)
            }
            View::Node(Kind::Float | Kind::String, _)
            | View::Null
            | View::Bool(_)
            | View::Event(_)
            | View::Ref(..)
            | View::Hole(_)
            | View::Atom(..) => value,
        }
    }

    fn collection(&mut self, value: Value, kind: Kind, place: PlaceId, of_elements: DemandId) -> Value {
        let numbers = self.numbers;
        let element = numbers.part(place, Label::Element);
        let key = if kind == Kind::Map { numbers.part(place, Label::Key) } else { element };
        let (content, free) = self.store.elements_and_holes(value);
        let mut content = content.to_vec();
        let width = if kind == Kind::Map { 2 } else { 1 };
        // Keys and elements of sets have to differ from each other, whatever reads them: no entry within them is removed.
        let of_keys = match kind {
            Kind::Set | Kind::Map if self.n_keys == 0 && self.n_entries < MAX_ENTRIES => {
                numbers.class_of(key).filter(|_| numbers.places[place as usize].is_only_found)
            }
            _ => None,
        };
        let Some(class) = of_keys else {
            let is_set = kind == Kind::Set;
            for entry in content.chunks_exact_mut(width).filter(|entry| !entry[0].is_hole()) {
                if kind != Kind::Seq {
                    self.n_keys += 1;
                    entry[0] = self.value(entry[0], key, EVERYTHING);
                    self.n_keys -= 1;
                }
                if !is_set {
                    entry[width - 1] = self.value(entry[width - 1], element, of_elements);
                }
            }
            return self.store.with_elements(value, &content, free);
        };
        let mut stays: Vec<(i64, [Value; 2])> = Vec::new();
        self.n_entries += 1;
        for entry in content.chunks_exact(width).filter(|entry| !entry[0].is_hole()) {
            let number = match entry[0].view() {
                View::Int(number) => number,
                // Boxed: too large to be renumbered, and so is the class then.
                _ => self.store.as_int(entry[0]).unwrap_or(i64::MAX),
            };
            if self.visit.enter(class, number) {
                let first = self.visit.key(self.store, class, entry[0]);
                let second =
                    if width == 2 { self.value(entry[1], element, of_elements) } else { Value::NULL };
                stays.push((number, [first, second]));
                self.visit.leave();
            }
        }
        self.n_entries -= 1;
        // In the order of their keys, which nothing observes.
        stays.sort_unstable_by_key(|&(number, _)| number);
        content.clear();
        content.extend(stays.iter().flat_map(|(_, entry)| &entry[..width]));
        self.store.with_elements(value, &content, None)
    }

    fn demand_of(&self, demand: DemandId, part: Part) -> DemandId {
        match demand {
            EVERYTHING => EVERYTHING,
            _ => {
                let parts = &self.exe.demands().node(demand).parts;
                parts.iter().find(|(known, _)| *known == part).map_or(NOTHING, |&(_, demand)| demand)
            }
        }
    }

    fn is_unseen(&self, demand: DemandId) -> bool {
        demand != EVERYTHING && *self.exe.demands().node(demand) == Demand::default()
    }
}
