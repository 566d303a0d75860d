//! The certificate: the explored states as text, for a checker that trusts nothing of the engine.
//!
//! The format is described in `docs/formats/certificate.md`. It is written while the search goes on, a line for each state when it
//! is expanded: what differs from the line before, which machines move, and the delegate. Machines have letters and places have
//! numbers, by machine, in the order in which they come.

use std::fmt::Write as _;

use allways_base::Idx;
use allways_machine::topology::{Target, Topology};
use allways_machine::{Executable, Simplify};

use super::options::Rules;
use super::places::{ABSENT, GONE};
use crate::search::local::entries::Slot;

pub(crate) const HEAD: &str = "allways-certificate 3";

/// Something that may be left out of local states: its name, and the switch for it.
type Simplification = (&'static str, fn(&mut Simplify) -> &mut bool);

pub(crate) const SIMPLIFICATIONS: [Simplification; 3] = [
    ("dead-variables", |simplify| &mut simplify.dead_variables),
    ("unread-payloads", |simplify| &mut simplify.unread_payloads),
    ("order", |simplify| &mut simplify.order),
];

/// The state that takes over the runs without the machines that move, which are named by slots of the search or of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Delegate<S> {
    /// There are none.
    None,
    /// The state in which these machines are blocked.
    Blocked,
    /// A state after a step of the machine of this slot.
    Step(S),
}

/// What a certificate is about.
pub(crate) struct Subject<'a> {
    pub exe: &'a Executable,
    pub topology: &'a Topology,
    pub rules: Rules,
    pub simplify: Simplify,
    /// So many messages of an inbox are kept in order.
    pub bound: Option<u32>,
}

/// The lines of the topology.
pub(crate) fn topology_lines(exe: &Executable, topology: &Topology) -> Vec<String> {
    topology
        .edges()
        .map(|(from, target, events)| {
            let target = match target {
                Target::Site(site) => format!("site {}", site.as_u32()),
                Target::Monitor(monitor) => format!("monitor {monitor}"),
            };
            let events: Vec<&str> = events.iter().map(|&event| exe.event_name(event)).collect();
            format!("send {} {target} {}", from.as_u32(), events.join(" "))
        })
        .collect()
}

/// A place: whose, where, and the messages of the tail in order.
pub(crate) fn place_text(slot: u32, bytes: &[u8], tail: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    push_slot(&mut text, slot);
    text.push(' ');
    text.push_str(&hex(bytes));
    let mut tail: Vec<String> = tail.collect();
    tail.sort_unstable();
    for message in tail {
        text.push(' ');
        text.push_str(&message);
    }
    text
}

/// The letters of a slot: `A` to `Y`, then `ZA` to `ZY`, and so on, so that no name begins another.
pub(crate) fn push_slot(out: &mut String, slot: u32) {
    for _ in 0..slot / 25 {
        out.push('Z');
    }
    out.push((b'A' + (slot % 25) as u8) as char);
}

/// A number in base 36.
pub(crate) fn push_number(out: &mut String, mut number: u32) {
    let mut digits = [0; 7];
    let mut at = digits.len();
    loop {
        at -= 1;
        let digit = (number % 36) as u8;
        digits[at] = if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
        number /= 36;
        if number == 0 {
            break;
        }
    }
    out.extend(digits[at..].iter().map(|&digit| digit as char));
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// Writes a certificate, state by state.
pub(crate) struct Writer {
    /// By slot of the search: the slot in the file, if it has one.
    slots: Vec<Option<u32>>,
    /// By slot of the file: the slot of the search.
    met: Vec<Slot>,
    /// By slot of the file: its places.
    places: Vec<Vec<u32>>,
    /// By place of the search: its number among those of its slot.
    numbers: Vec<Option<u32>>,
    states: String,
    n_states: u64,
    previous: Vec<u32>,
    /// For use again.
    changes: Vec<(u32, u32)>,
    movers: Vec<u32>,
}

impl Writer {
    pub fn new() -> Self {
        Writer {
            slots: Vec::new(),
            met: Vec::new(),
            places: Vec::new(),
            numbers: Vec::new(),
            states: String::new(),
            n_states: 0,
            previous: Vec::new(),
            changes: Vec::new(),
            movers: Vec::new(),
        }
    }

    pub fn n_bytes(&self) -> usize {
        self.states.capacity() + self.numbers.capacity() * 12
    }

    /// The next state: its places by slot of the search, and the slots of the movers.
    pub fn state(&mut self, vector: &[u32], movers: impl Iterator<Item = Slot>, delegate: Delegate<Slot>) {
        let n_slots = vector.len().max(self.previous.len());
        self.previous.resize(n_slots, ABSENT);
        if self.slots.len() < n_slots {
            self.slots.resize(n_slots, None);
        }
        self.changes.clear();
        for slot in 0..n_slots {
            let place = vector.get(slot).copied().unwrap_or(ABSENT);
            if place != self.previous[slot] {
                self.previous[slot] = place;
                let in_file = *self.slots[slot].get_or_insert_with(|| {
                    self.met.push(Slot::new(slot));
                    self.places.push(Vec::new());
                    self.met.len() as u32 - 1
                });
                self.changes.push((in_file, place));
            }
        }
        self.changes.sort_unstable();
        for &(slot, place) in &self.changes {
            push_slot(&mut self.states, slot);
            match place {
                ABSENT => self.states.push('.'),
                GONE => self.states.push('-'),
                place => {
                    if self.numbers.len() <= place as usize {
                        self.numbers.resize(place as usize + 1, None);
                    }
                    let known = &mut self.places[slot as usize];
                    let number = *self.numbers[place as usize].get_or_insert_with(|| {
                        known.push(place);
                        known.len() as u32 - 1
                    });
                    push_number(&mut self.states, number);
                }
            }
        }
        let in_file = |slot: Slot| self.slots[slot.index()].unwrap_or(0);
        self.movers.clear();
        self.movers.extend(movers.map(in_file));
        self.movers.sort_unstable();
        if !self.movers.is_empty() {
            self.states.push(' ');
            self.movers.iter().for_each(|&slot| push_slot(&mut self.states, slot));
        }
        match delegate {
            Delegate::None => {}
            Delegate::Blocked => self.states.push('!'),
            Delegate::Step(slot) => {
                self.states.push('>');
                push_slot(&mut self.states, in_file(slot));
            }
        }
        self.states.push('\n');
        self.n_states += 1;
    }

    /// All of it. Names of machines are by slot of the search, encoded places by slot of the file.
    pub fn finish(
        self,
        subject: &Subject<'_>,
        path: impl Fn(Slot) -> Option<String>,
        encoded: impl Fn(u32) -> (Vec<u8>, Vec<String>),
    ) -> String {
        let Subject { exe, topology, rules, mut simplify, bound } = *subject;
        let rules = match rules {
            Rules::Lean => "lean",
            Rules::Paper => "paper",
        };
        let mut out = format!("{HEAD}\ntest {}\nrules {rules}\n", exe.test_name);
        let names: Vec<&str> =
            SIMPLIFICATIONS.iter().filter(|(_, flag)| *flag(&mut simplify)).map(|(name, _)| *name).collect();
        if !names.is_empty() {
            let _ = writeln!(out, "without {}", names.join(" "));
        }
        if let Some(bound) = bound {
            let _ = writeln!(out, "inbox {bound}");
        }
        let sends = topology_lines(exe, topology);
        for line in &sends {
            out.push_str(line);
            out.push('\n');
        }
        let paths: Vec<String> = self.met.iter().filter_map(|&slot| path(slot)).collect();
        for path in &paths {
            let _ = writeln!(out, "machine {path}");
        }
        let mut n_places = 0;
        for (slot, places) in self.places.iter().enumerate() {
            n_places += places.len();
            for &place in places {
                let (bytes, tail) = encoded(place);
                let _ = writeln!(out, "place {}", place_text(slot as u32, &bytes, tail.into_iter()));
            }
        }
        // Room for the end, too, so that it is not moved once more.
        out.reserve_exact(self.states.len() + 128);
        out.push_str("states\n");
        out.push_str(&self.states);
        let _ = writeln!(out, "end {} {} {n_places} {}", sends.len(), paths.len(), self.n_states);
        out
    }
}
