//! Reading a certificate. There is one way to write each state, and what is written otherwise is refused.

use std::hash::{BuildHasher, BuildHasherDefault};

use allways_machine::Simplify;
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

use super::{ABSENT, GONE};
use crate::almost_sync::certificate::{HEAD, SIMPLIFICATIONS};

/// The content of a certificate.
pub(crate) struct File<'t> {
    pub test: &'t str,
    pub is_lean: bool,
    pub simplify: Simplify,
    /// So many messages of an inbox are kept in order.
    pub inbox: Option<usize>,
    pub topology: Vec<&'t str>,
    /// Paths of machines, in order of slots; the slots of monitors come first.
    pub machines: Vec<&'t str>,
    /// By text.
    pub places: FxHashMap<&'t str, u32>,
    pub n_slots: u32,
    pub states: Table,
    /// The lines of states.
    pub lines: &'t str,
}

/// All states, to be found by their places. Numbers of places are small as long as there are few.
pub(crate) struct Table {
    width: usize,
    places: Numbers,
    index: HashTable<u32>,
}

enum Numbers {
    Small(Vec<u16>),
    Large(Vec<u32>),
}

impl Table {
    /// A table for so many states; `None` if there is no room.
    fn new(width: usize, n_places: usize, n_states: usize) -> Option<Table> {
        let n_numbers = width.checked_mul(n_states)?;
        let (mut small, mut large) = (Vec::new(), Vec::new());
        let places = if n_places < usize::from(u16::MAX) {
            small.try_reserve_exact(n_numbers).ok()?;
            Numbers::Small(small)
        } else {
            large.try_reserve_exact(n_numbers).ok()?;
            Numbers::Large(large)
        };
        Some(Table { width, places, index: HashTable::with_capacity(n_states) })
    }

    pub fn len(&self) -> usize {
        self.index.len()
    }

    pub fn get(&self, state: u32) -> Vec<u32> {
        self.places.of(state, self.width).collect()
    }

    pub fn find(&self, vector: &[u32]) -> Option<u32> {
        let is_it = |&state: &u32| self.places.of(state, self.width).eq(vector.iter().copied());
        self.index.find(hash(vector), is_it).copied()
    }

    pub fn n_bytes(&self) -> usize {
        let n_bytes = match &self.places {
            Numbers::Small(numbers) => numbers.capacity() * 2,
            Numbers::Large(numbers) => numbers.capacity() * 4,
        };
        n_bytes + self.index.capacity() * 5
    }

    /// Adds a state; false if it is there.
    fn add(&mut self, vector: &[u32]) -> bool {
        if self.find(vector).is_some() {
            return false;
        }
        let (state, width) = (self.index.len() as u32, self.width);
        match &mut self.places {
            Numbers::Small(numbers) => numbers.extend(vector.iter().map(|&place| place as u16)),
            Numbers::Large(numbers) => numbers.extend_from_slice(vector),
        }
        let places = &self.places;
        self.index.insert_unique(hash(vector), state, |&state| {
            hash(&places.of(state, width).collect::<Vec<u32>>())
        });
        true
    }
}

impl Numbers {
    fn of(&self, state: u32, width: usize) -> impl Iterator<Item = u32> + '_ {
        let range = state as usize * width..(state as usize + 1) * width;
        let (small, large): (&[u16], &[u32]) = match self {
            Numbers::Small(numbers) => (&numbers[range], &[]),
            Numbers::Large(numbers) => (&[], &numbers[range]),
        };
        let widen = |&place: &u16| if place == u16::MAX { GONE } else { u32::from(place) };
        small.iter().map(widen).chain(large.iter().copied())
    }
}

fn hash(vector: &[u32]) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(vector)
}

impl<'t> File<'t> {
    pub fn read(text: &'t str, n_monitors: u32) -> Result<File<'t>, String> {
        let mut rest = text;
        if next_line(&mut rest) != Some(HEAD) {
            return Err(format!("the first line is not `{HEAD}`"));
        }
        let test = next_line(&mut rest).and_then(|line| line.strip_prefix("test "));
        let mut rules = next_line(&mut rest);
        if rules.is_some_and(|line| line.starts_with("program ")) {
            rules = next_line(&mut rest);
        }
        let mut file = File {
            test: test.ok_or("no test is named")?,
            is_lean: match rules {
                Some("rules lean") => true,
                Some("rules paper") => false,
                _ => return Err("no rules are named".to_owned()),
            },
            simplify: Simplify { choose_counts: true, ..Simplify::default() },
            inbox: None,
            topology: Vec::new(),
            machines: Vec::new(),
            places: FxHashMap::default(),
            n_slots: n_monitors,
            states: Table { width: 0, places: Numbers::Small(Vec::new()), index: HashTable::new() },
            lines: "",
        };
        // By slot: where its places begin. Place 0 is the absent machine.
        let mut starts = vec![1];
        let mut stage = 0;
        loop {
            let line = next_line(&mut rest).ok_or("the end is missing")?;
            let (word, words) = line.split_once(' ').unwrap_or((line, ""));
            // The first two and the last come once.
            let order = ["without", "inbox", "send", "machine", "place", "states"];
            let at = order.iter().position(|known| *known == word).map(|at| at + 1);
            let at = at.filter(|&at| at > stage || at == stage && at > 2);
            stage = at.ok_or_else(|| format!("not expected here: `{line}`"))?;
            match word {
                "without" => file.simplify = simplifications(words)?,
                "inbox" => {
                    let bound = words.parse().ok().filter(|bound: &usize| bound.to_string() == words);
                    file.inbox = Some(bound.ok_or_else(|| format!("cannot read `{line}`"))?);
                }
                "send" => file.topology.push(line),
                "machine" => file.machines.push(words),
                "place" => {
                    let mut name = words;
                    let slot = slot(&mut name).ok_or_else(|| format!("cannot read `{line}`"))?;
                    let number = file.places.len() as u32 + 1;
                    if (slot as usize) < starts.len() - 1 {
                        return Err("places are not in order".to_owned());
                    }
                    starts.resize(slot as usize + 1, number);
                    if file.places.insert(words, number).is_some() {
                        return Err("a place comes twice".to_owned());
                    }
                }
                _ => break,
            }
        }
        file.n_slots += file.machines.len() as u32;
        let n_places = file.places.len() as u32;
        if starts.len() > file.n_slots as usize {
            return Err("a place of an absent machine".to_owned());
        }
        starts.resize(file.n_slots as usize + 1, n_places + 1);
        let counts = [file.topology.len(), file.machines.len(), file.places.len()];
        file.lines = rest;
        file.read_states(&starts, &counts)?;
        Ok(file)
    }

    fn read_states(&mut self, starts: &[u32], counts: &[usize; 3]) -> Result<(), String> {
        let n_slots = self.n_slots as usize;
        // One of the lines is the end.
        let n_lines = self.lines.bytes().filter(|&letter| letter == b'\n').count();
        let table = Table::new(n_slots, self.places.len(), n_lines.saturating_sub(1));
        self.states = table.ok_or("it is too large")?;
        let mut vector = vec![ABSENT; n_slots];
        // Slots, and places of each, that some state had.
        let mut n_met = 0;
        let mut n_seen = vec![0; n_slots];
        let mut rest = self.lines;
        loop {
            let line = next_line(&mut rest).ok_or("the end is missing")?;
            if let Some(found) = line.strip_prefix("end ") {
                let [n_sends, n_machines, n_places] = counts;
                let expected = format!("{n_sends} {n_machines} {n_places} {}", self.states.len());
                if found != expected || !rest.is_empty() {
                    return Err("it does not have as many lines as it says".to_owned());
                }
                break;
            }
            let cannot_read = || format!("cannot read `{line}`");
            let mut changes = line.split_once(' ').map_or(line, |(changes, _)| changes);
            let mut next = 0;
            while !changes.is_empty() {
                let at = slot(&mut changes).filter(|&at| at >= next && (at as usize) < n_slots);
                let at = at.ok_or_else(cannot_read)? as usize;
                next = at as u32 + 1;
                let place = if let Some(rest) = changes.strip_prefix('-') {
                    changes = rest;
                    GONE
                } else if let Some(rest) = changes.strip_prefix('.') {
                    changes = rest;
                    ABSENT
                } else {
                    let place = number(&mut changes).filter(|&place| place <= n_seen[at]);
                    let place = place.ok_or_else(cannot_read)?;
                    n_seen[at] += u32::from(place == n_seen[at]);
                    starts[at]
                        .checked_add(place)
                        .filter(|&place| place < starts[at + 1])
                        .ok_or_else(cannot_read)?
                };
                if vector[at] == place || at > n_met {
                    return Err(cannot_read());
                }
                n_met += usize::from(at == n_met);
                vector[at] = place;
            }
            if !self.states.add(&vector) {
                return Err("a state comes twice".to_owned());
            }
        }
        let all_seen = starts.windows(2).zip(&n_seen).all(|(pair, &n)| pair[1] - pair[0] == n);
        if all_seen && n_met == n_slots { Ok(()) } else { Err("a place that no state has".to_owned()) }
    }
}

/// The next line, which ends as lines do.
pub(crate) fn next_line<'t>(rest: &mut &'t str) -> Option<&'t str> {
    let (line, more) = rest.split_once('\n')?;
    *rest = more;
    Some(line)
}

fn simplifications(words: &str) -> Result<Simplify, String> {
    let mut simplify = Simplify { choose_counts: true, ..Simplify::default() };
    let mut known = SIMPLIFICATIONS.iter();
    for word in words.split(' ') {
        let found = known.find(|(name, _)| *name == word);
        let (_, flag) = found.ok_or_else(|| format!("cannot leave out `{words}`"))?;
        *flag(&mut simplify) = true;
    }
    Ok(simplify)
}

/// Reads the letters of a slot.
pub(crate) fn slot(text: &mut &str) -> Option<u32> {
    let n_more = text.bytes().take_while(|&letter| letter == b'Z').count();
    let letter = text.as_bytes().get(n_more).filter(|letter| letter.is_ascii_uppercase())?;
    *text = &text[n_more + 1..];
    Some(n_more as u32 * 25 + u32::from(letter - b'A'))
}

/// Reads a number in base 36.
fn number(text: &mut &str) -> Option<u32> {
    let is_digit = |digit: &u8| digit.is_ascii_digit() || digit.is_ascii_lowercase();
    let length = text.bytes().take_while(|digit| is_digit(digit)).count();
    let (digits, rest) = text.split_at(length);
    *text = rest;
    let is_shortest = length == 1 || !digits.starts_with('0');
    u32::from_str_radix(digits, 36).ok().filter(|_| is_shortest)
}
