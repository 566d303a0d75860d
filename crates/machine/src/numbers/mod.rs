//! Numbers of which a program sees only how they compare: terms, versions, request numbers, clocks.
//!
//! A [`Class`] is a set of places (see `flow`) that are connected by copies, comparisons, keys and increments by constants. If that is all
//! that happens to its numbers, two configurations that differ by a *renumbering* of a class behave alike (data independence with
//! order; Wolper 1986, and the regions of Alur and Dill 1994, where clocks advance one by one). A renumbering `f` of the numbers
//! that are alive in a configuration has to
//!
//! - keep order and equality: strictly monotone;
//! - keep every number up to [`Class::largest`], the largest constant that the class is compared with or gets from code that
//!   does not count from it;
//! - keep distances from the least number on that may still be counted from (*moving* numbers: those in places from which an
//!   increment can be reached), less what may be subtracted from it: a moving number may meet any number above it. Moving numbers must be larger
//!   than the largest constant;
//! - keep remainders, if the program computes any.
//!
//! That is a bisimulation: what is copied is renamed alike, comparisons have the same results, `f(n + c) = f(n) + c` for moving `n`,
//! and after the step `f` still is one, since moving numbers come from moving ones. Constants that the code may still begin
//! to count from (`counter = 0`) would be moving numbers below, and results of arithmetic, sizes and conversions may be any numbers; so a class is
//! left alone while some machine may still execute such code ([`Numbers::ahead`]), or make a machine that does. A class of which that is so wherever
//! some machine rests is refused.
//!
//! Maps and sets of which nothing is observed but what is found by key may lose entries. An entry is *dead* if its key, a number of a class that is not left
//! alone, is larger than the largest constant, smaller than every number that may still be counted from, less what may be subtracted, and equal to
//! no other number that is alive. Numbers come from copies and increments of numbers that are alive, and from constants, so no number will
//! equal the key again, and configurations with and without the entry behave alike. Numbers in an entry are alive if the entry is.
//!
//! What is refused, with the reason ([`Why`]): other arithmetic, indices, sizes, chosen numbers, texts that the program reads.
//! Integers have 64 bits and wrap; a class counts by steps of at most 2^20, so that a run of fewer than 2^40 steps does not get there.

mod ahead;
mod flow;
mod renumber;

use allways_base::{Span, forest};
use rustc_hash::FxHashMap;

use self::flow::{Flow, Label, NO_PLACE, Origin, PlaceId, PlaceMap};
use crate::Executable;
pub use renumber::{Occurrence, Renumbering};

/// Classes beyond this many are left alone, because sets of classes are words.
const MAX_CLASSES: usize = 64;
/// A class from which more may be subtracted is refused.
const MAX_FALL: i64 = 1 << 10;
/// So is one where that was found to grow so many times.
const MAX_RAISED: u32 = 1 << 6;
/// So is one with larger moduli.
const MAX_MODULUS: i64 = 1 << 10;

/// Why the numbers of a class are needed themselves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Why {
    Arithmetic,
    Conversion,
    Size,
    Index,
    Choice,
    Text,
    Foreign,
    /// Nested too deeply to be followed, or taken apart in two forms.
    Nesting,
    /// Subtracted from without end.
    Falls,
    /// Some machine can always begin to count it anew.
    Restarts,
    /// More classes than can be handled.
    TooMany,
}

impl Why {
    /// Completes the sentence "`term` of `Replica` ...".
    pub const fn as_str(self) -> &'static str {
        match self {
            Why::Arithmetic => "is used in, or comes from, arithmetic beyond adding a constant",
            Why::Conversion => "is converted",
            Why::Size => "is compared with a size or position",
            Why::Index => "is an index of a sequence or set",
            Why::Choice => "is chosen, or says how many answers there are",
            Why::Text => "is part of a text that the program looks at",
            Why::Foreign => "is given to a foreign function",
            Why::Nesting => "is nested too deeply",
            Why::Falls => "is subtracted from without end",
            Why::Restarts => "begins anew at a constant again and again",
            Why::TooMany => "is one of too many",
        }
    }
}

/// Numbers that may be renumbered together.
#[derive(Clone, Debug)]
pub struct Class {
    /// For people: a place of the class.
    pub name: String,
    /// Numbers up to this one stay.
    pub largest: i64,
    /// Remainders by this stay.
    pub modulus: i64,
}

/// A class that has to stay as it is.
#[derive(Clone, Debug)]
pub struct Refused {
    pub name: String,
    pub why: Why,
    pub span: Option<Span>,
}

/// What is known of a place, as far as classes need it.
#[derive(Clone, Debug, Default)]
struct Known {
    parts: Vec<(Label, PlaceId)>,
    class: Option<u8>,
    /// Its numbers may be counted from: how much may be subtracted.
    falls: Option<i64>,
    /// It is a collection of which nothing is known but what is found by key.
    is_only_found: bool,
    /// It or some part of it is in a class.
    is_relevant: bool,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    classes: Vec<Class>,
    refused: Vec<Refused>,
    places: Vec<Known>,
    map: PlaceMap,
    ahead: ahead::Ahead,
}

impl Numbers {
    pub(crate) fn new(exe: &Executable) -> Self {
        match Flow::new(exe) {
            Some(flow) => Classifier::new(exe, flow).classify(),
            None => Numbers::default(),
        }
    }

    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// Classes that are counted from, but have to stay as they are.
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }
}

/// The analysis under way.
struct Classifier<'a> {
    exe: &'a Executable,
    flow: Flow<'a>,
    /// Places of one class, as a forest.
    parents: Vec<u32>,
    /// By place: its numbers may be counted from.
    falls: Vec<Option<i64>>,
}

impl<'a> Classifier<'a> {
    fn new(exe: &'a Executable, flow: Flow<'a>) -> Self {
        let n = flow.places.len();
        Classifier { exe, flow, parents: (0..n as u32).collect(), falls: vec![None; n] }
    }

    fn classify(mut self) -> Numbers {
        self.connect();
        self.find_moving();
        let mut exposed: FxHashMap<u32, (Why, Option<Span>)> = FxHashMap::default();
        for place in 0..self.flow.places.len() as u32 {
            if let Some(why) = self.flow.places[place as usize].exposed {
                let root = forest::root(&mut self.parents, place);
                let known = exposed.entry(root).or_insert(why);
                if why.0 < known.0 {
                    *known = why;
                }
            }
            if self.falls[place as usize].is_some_and(|falls| falls > MAX_FALL) {
                let root = forest::root(&mut self.parents, place);
                exposed.entry(root).or_insert((Why::Falls, None));
            }
        }
        let mut largest: FxHashMap<u32, i64> = FxHashMap::default();
        for at in 0..self.flow.constants.len() {
            let constant = self.flow.constants[at];
            let root = forest::root(&mut self.parents, constant.place);
            let known = largest.entry(root).or_insert(-1);
            // What is counted from is another matter, see `ahead`.
            if self.falls[constant.place as usize].is_none() {
                *known = (*known).max(constant.number);
            }
            if constant.number.unsigned_abs() >= 1 << 40 {
                exposed.entry(root).or_insert((Why::Arithmetic, None));
            }
        }
        let mut moduli: FxHashMap<u32, i64> = FxHashMap::default();
        for at in 0..self.flow.moduli.len() {
            let (place, n) = self.flow.moduli[at];
            let root = forest::root(&mut self.parents, place);
            let known = moduli.entry(root).or_insert(1);
            *known = lcm(*known, n);
            if *known > MAX_MODULUS {
                *known = 1;
                exposed.entry(root).or_insert((Why::Arithmetic, None));
            }
        }
        let mut counted: Vec<u32> = Vec::new();
        for at in 0..self.flow.increments.len() {
            let root = forest::root(&mut self.parents, self.flow.increments[at].from);
            if !counted.contains(&root) {
                counted.push(root);
            }
        }
        let names = self.names();
        let mut numbers = Numbers::default();
        let mut refuse = |root: u32, why: Why, span: Option<Span>| {
            // What has no name is a number of turns in a loop, mostly.
            if let Some(name) = names.get(&root).filter(|name| !name.is_empty()) {
                numbers.refused.push(Refused { name: name.clone(), why, span });
            }
        };
        let mut candidates: Vec<u32> = Vec::new();
        for root in counted {
            match exposed.get(&root) {
                Some(&(why, span)) => refuse(root, why, span),
                None => candidates.push(root),
            }
        }
        let mut roots: Vec<u32> = Vec::new();
        for some in candidates.chunks(MAX_CLASSES) {
            let class_of = some.iter().copied().zip(0u8..).collect();
            let seeds = self.seeds(&class_of);
            let always = ahead::Ahead::new(self.exe, &seeds).always(self.exe);
            for (&root, class) in some.iter().zip(0u8..) {
                let begins = |&&(_, of, _): &&(Origin, u8, Why)| of == class;
                match seeds.iter().find(begins) {
                    Some(&(origin, _, why)) if always >> class & 1 == 1 => {
                        refuse(root, why, origin.span(self.exe));
                    }
                    _ if roots.len() >= MAX_CLASSES => refuse(root, Why::TooMany, None),
                    _ => roots.push(root),
                }
            }
        }
        for &root in &roots {
            let name = names.get(&root).cloned().unwrap_or_default();
            let largest = largest.get(&root).copied().unwrap_or(-1);
            let modulus = moduli.get(&root).copied().unwrap_or(1);
            numbers.classes.push(Class { name, largest, modulus });
        }
        if numbers.classes.is_empty() {
            return numbers;
        }
        let class_of = roots.into_iter().zip(0u8..).collect();
        numbers.ahead = ahead::Ahead::new(self.exe, &self.seeds(&class_of));
        self.finish(numbers, &class_of)
    }

    /// Code that gives a class numbers which may not be renumbered while it may still be executed.
    fn seeds(&mut self, class_of: &FxHashMap<u32, u8>) -> Vec<(Origin, u8, Why)> {
        let mut seeds: Vec<(Origin, u8, Why)> = Vec::new();
        for at in 0..self.flow.constants.len() {
            let constant = self.flow.constants[at];
            let root = forest::root(&mut self.parents, constant.place);
            if let Some(&class) = class_of.get(&root)
                && self.falls[constant.place as usize].is_some()
            {
                seeds.push((constant.origin, class, Why::Restarts));
            }
        }
        for at in 0..self.flow.sources.len() {
            let source = self.flow.sources[at];
            let root = forest::root(&mut self.parents, source.place);
            if let Some(&class) = class_of.get(&root) {
                seeds.push((Origin::Op(source.pc), class, source.why));
            }
        }
        seeds
    }

    fn finish(mut self, mut numbers: Numbers, class_of: &FxHashMap<u32, u8>) -> Numbers {
        self.flow.spread_enumeration();
        let classes: Vec<Option<u8>> = (0..self.flow.places.len() as u32)
            .map(|place| class_of.get(&forest::root(&mut self.parents, place)).copied())
            .collect();
        let falls = self.falls;
        let (places, map) = self.flow.into_tables();
        let known = places.into_iter().zip(classes).zip(falls).map(|((place, class), falls)| Known {
            is_only_found: !place.is_enumerated,
            parts: place.parts,
            class,
            falls: falls.filter(|_| class.is_some()),
            is_relevant: class.is_some(),
        });
        numbers.places = known.collect();
        numbers.map = map;
        numbers.find_relevant();
        numbers
    }

    /// Connects the places of each class.
    fn connect(&mut self) {
        let mut pairs: Vec<(PlaceId, PlaceId)> = self.flow.ordered.clone();
        for (place, here) in self.flow.places.iter().enumerate() {
            let others = here.to.iter().chain(&here.compared);
            pairs.extend(others.map(|&other| (place as PlaceId, other)));
        }
        pairs.extend(self.flow.increments.iter().map(|increment| (increment.from, increment.to)));
        for (a, b) in pairs {
            let (a, b) = (forest::root(&mut self.parents, a), forest::root(&mut self.parents, b));
            self.parents[a as usize] = b;
        }
    }

    /// From which places an increment can be reached, and how much may be subtracted on the way.
    fn find_moving(&mut self) {
        let mut counted_into: FxHashMap<PlaceId, Vec<(PlaceId, i64)>> = FxHashMap::default();
        for increment in &self.flow.increments {
            counted_into.entry(increment.to).or_default().push((increment.from, (-increment.by).max(0)));
        }
        let mut n_raised = vec![0u32; self.flow.places.len()];
        let mut open: Vec<PlaceId> = Vec::new();
        let mut raise = |falls: &mut Vec<Option<i64>>, open: &mut Vec<PlaceId>, place: PlaceId, to: i64| {
            let (known, n_raised) = (&mut falls[place as usize], &mut n_raised[place as usize]);
            if known.is_some_and(|known| known >= to.min(MAX_FALL + 1)) {
                return;
            }
            *n_raised += 1;
            // Round a loop, it would come there in many small steps.
            *known = Some(if *n_raised > MAX_RAISED { MAX_FALL + 1 } else { to.min(MAX_FALL + 1) });
            open.push(place);
        };
        for increment in &self.flow.increments {
            raise(&mut self.falls, &mut open, increment.from, (-increment.by).max(0));
        }
        while let Some(place) = open.pop() {
            let Some(beyond) = self.falls[place as usize] else { continue };
            for &from in &self.flow.places[place as usize].from {
                raise(&mut self.falls, &mut open, from, beyond);
            }
            for &(from, less) in counted_into.get(&place).into_iter().flatten() {
                raise(&mut self.falls, &mut open, from, beyond + less);
            }
        }
    }

    /// A name for each class: of a field if there is one, else of a payload.
    fn names(&mut self) -> FxHashMap<u32, String> {
        let exe = self.exe;
        let mut names = FxHashMap::default();
        for (number, machine) in exe.machines.iter_ids() {
            for (at, &(name, _)) in machine.fields.iter().enumerate() {
                let place = self.flow.field(number, at);
                let name = exe.symbols.text(name).to_owned();
                let of = format!("of `{}`", exe.machine_name(number));
                self.name_parts(place, &name, &of, 0, &mut names);
            }
        }
        for event in exe.events.ids() {
            let of = format!("of `{}`", exe.event_name(event));
            self.name_parts(self.flow.payload(event), "payload", &of, 0, &mut names);
        }
        names
    }

    fn name_parts(
        &mut self,
        place: PlaceId,
        name: &str,
        of: &str,
        depth: usize,
        names: &mut FxHashMap<u32, String>,
    ) {
        let root = forest::root(&mut self.parents, place);
        names.entry(root).or_insert_with(|| format!("`{name}` {of}"));
        if depth >= 3 {
            return;
        }
        for (label, part) in self.flow.places[place as usize].parts.clone() {
            if part == place {
                continue;
            }
            let name = match label {
                Label::Part(at) => format!("{name}.{at}"),
                Label::Name(symbol) => format!("{name}.{}", self.exe.symbols.text(symbol)),
                Label::Element => format!("{name}[]"),
                Label::Key => format!("keys({name})"),
            };
            self.name_parts(part, &name, of, depth + 1, names);
        }
    }
}

impl Numbers {
    /// Marks places that have relevant parts.
    fn find_relevant(&mut self) {
        let mut wholes = vec![NO_PLACE; self.places.len()];
        for (place, here) in self.places.iter().enumerate() {
            for &(_, part) in here.parts.iter().filter(|&&(_, part)| part as usize != place) {
                wholes[part as usize] = place as PlaceId;
            }
        }
        for place in 0..self.places.len() {
            if self.places[place].class.is_none() {
                continue;
            }
            let mut whole = wholes[place];
            while whole != NO_PLACE && !self.places[whole as usize].is_relevant {
                self.places[whole as usize].is_relevant = true;
                whole = wholes[whole as usize];
            }
        }
    }

    fn part(&self, place: PlaceId, label: Label) -> PlaceId {
        let parts = &self.places[place as usize].parts;
        parts.iter().find(|(known, _)| *known == label).map_or(NO_PLACE, |&(_, part)| part)
    }

    fn class_of(&self, place: PlaceId) -> Option<u8> {
        if place == NO_PLACE { None } else { self.places[place as usize].class }
    }

    fn is_relevant(&self, place: PlaceId) -> bool {
        place != NO_PLACE && self.places[place as usize].is_relevant
    }
}

fn lcm(a: i64, b: i64) -> i64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}
