//! Counters up to renumbering: configurations that differ by a renumbering of terms, versions or request numbers are one.
//!
//! Which numbers may be renumbered, and how, is in [`allways_machine::numbers`], with the argument. Here a configuration is replaced by the
//! one with the least numbers: those that are never counted from again become consecutive, and the others, from the least one on
//! that may be, move down together. Entries of maps and sets that are only ever looked up by key go when their key cannot occur again: no number that may
//! still be counted from lies at or below it, and no other number equals it. Numbers in an entry count only while the entry
//! stays. So a protocol whose numbers grow without end, and a monitor that records its history by them, have finitely many configurations,
//! if the numbers that are alive stay close to each other.
//!
//! Needs: P's own network, and no bound on variables. Establishes: two configurations that differ by a renumbering are replaced by
//! the same one. Preserves: verdicts, lengths of runs, local states, monitor states and terminal configurations up to renumbering and entries that
//! go. Steps of configurations that differ so correspond one to one and lead to such configurations again, with the same temperatures, so
//! bottom components correspond, too, and liveness under `random` fairness is decided on the reduced graph. A violation of it is shown if its
//! loop comes back to the very same numbers; where it counts for ever, the verdict is unknown. Under `weak` fairness liveness is decided without.
//!
//! How: by local state, its numbers are found once. For a successor these are read for all slots, and local states whose
//! numbers change are renumbered through a table, and by the kernel's code on a miss. Nothing depends on threads, because numbers are content.

use allways_base::Idx;
use std::sync::Mutex;

use allways_machine::{Occurrence, Renumbering};
use hashbrown::HashTable;

use crate::search::local::states::{LocalStateId, LocalStates};
use crate::search::lock;
use crate::search::store::hash::mix;

/// Renumbered local states that are remembered, before all are forgotten.
const MAX_KNOWN: usize = 1 << 20;
/// Larger numbers are left alone.
const MAX_NUMBER: i64 = 1 << 48;
/// What the numbers of an entry that goes become.
const GONE: i64 = i64::MIN;

/// Local states, locked for each look or at hand already.
pub(crate) enum Source<'m, 'a> {
    Shared(&'m Mutex<LocalStates<'a>>),
    Held(&'m mut LocalStates<'a>),
}

impl<'a> Source<'_, 'a> {
    fn with<R>(&mut self, look: impl FnOnce(&mut LocalStates<'a>) -> R) -> R {
        match self {
            Source::Shared(locals) => look(&mut lock(locals)),
            Source::Held(locals) => look(locals),
        }
    }
}

/// The numbers of a local state.
#[derive(Clone, Copy, Default)]
struct Form {
    is_known: bool,
    /// Classes that it may still begin to count in.
    ahead: u64,
    /// Its numbers, in `Counters::numbers`.
    first: u32,
    n: u32,
}

/// What is known of a class in the configuration at hand.
#[derive(Clone, Copy)]
struct Class {
    largest: i64,
    modulus: i64,
    /// The least number that may still be counted from, or that subtraction leads to.
    least: i64,
}

impl Class {
    fn meet(&mut self, number: &Occurrence) {
        if let Some(least) = number.least {
            self.least = self.least.min(least);
        }
    }
}

/// What the numbers of a configuration become.
#[derive(Default)]
struct Images {
    /// By class and number, sorted.
    numbers: Vec<(u8, i64, i64)>,
    /// Classes some entries of which go, as bits: those whose keys are not among the numbers, and larger than the constants of the class.
    pruned: u64,
    /// By class, the largest constant.
    largest: Vec<i64>,
    /// Numbers that were found just now.
    late: Vec<(u8, i64, i64)>,
}

impl Images {
    fn find(&self, class: u8, number: i64) -> Option<usize> {
        self.numbers.binary_search_by_key(&(class, number), |&(class, number, _)| (class, number)).ok()
    }
}

impl Renumbering for Images {
    fn image(&self, class: u8, number: i64) -> i64 {
        self.find(class, number).map_or(number, |at| self.numbers[at].2)
    }

    fn is_gone(&self, class: u8, key: i64) -> bool {
        self.pruned >> class & 1 == 1 && key > self.largest[class as usize] && self.find(class, key).is_none()
    }
}

struct Renumbered {
    hash: u64,
    local: LocalStateId,
    first: u32,
    to: LocalStateId,
}

/// See the module.
pub(crate) struct Counters {
    classes: Vec<Class>,
    forms: Vec<Form>,
    numbers: Vec<Occurrence>,
    found: Vec<Occurrence>,
    /// The numbers of the configuration at hand with what they become, and which entries go.
    images: Images,
    /// Occurrences in entries, while it is not known whether these stay.
    open: Vec<Occurrence>,
    /// Of one local state.
    own: Vec<i64>,
    known: HashTable<Renumbered>,
    arena: Vec<i64>,
    out: Vec<LocalStateId>,
    /// The last configuration was replaced by another.
    pub has_renumbered: bool,
}

impl Counters {
    /// `None` if the program has no such numbers.
    pub fn new(locals: &LocalStates<'_>) -> Option<Self> {
        let classes = locals.exe.numbers().classes();
        let classes = classes.iter().map(|class| Class {
            largest: class.largest,
            modulus: class.modulus,
            least: i64::MAX,
        });
        let classes: Vec<Class> = classes.collect();
        let largest = classes.iter().map(|class| class.largest).collect();
        let images = Images { largest, ..Images::default() };
        (!classes.is_empty()).then(|| Counters {
            classes,
            forms: Vec::new(),
            numbers: Vec::new(),
            found: Vec::new(),
            images,
            open: Vec::new(),
            own: Vec::new(),
            known: HashTable::new(),
            arena: Vec::new(),
            out: Vec::new(),
            has_renumbered: false,
        })
    }

    pub fn n_bytes(&self) -> usize {
        self.forms.capacity() * size_of::<Form>()
            + self.numbers.capacity() * size_of::<Occurrence>()
            + self.known.capacity() * (size_of::<Renumbered>() + 1)
            + self.arena.capacity() * 8
    }

    /// What a configuration is replaced by.
    pub fn canonical(&mut self, vector: &[LocalStateId], source: &mut Source<'_, '_>) -> &[LocalStateId] {
        self.out.clear();
        self.out.extend_from_slice(vector);
        self.has_renumbered = false;
        if !self.find_images(vector, source) {
            return &self.out;
        }
        for (slot, &local) in vector.iter().enumerate() {
            if !local.is_absent() && self.forms[local.index()].n > 0 {
                let to = self.renumber(local, source);
                self.has_renumbered |= to != local;
                self.out[slot] = to;
            }
        }
        &self.out
    }

    /// What the last configuration was replaced by.
    pub fn last(&self) -> &[LocalStateId] {
        &self.out
    }

    /// What each number of a configuration becomes; whether any changes, or an entry goes.
    fn find_images(&mut self, vector: &[LocalStateId], source: &mut Source<'_, '_>) -> bool {
        self.images.numbers.clear();
        self.images.pruned = 0;
        self.open.clear();
        for class in &mut self.classes {
            class.least = i64::MAX;
        }
        let mut ahead = 0;
        for &local in vector.iter().filter(|&&local| !local.is_absent()) {
            let form = match self.forms.get(local.index()) {
                Some(form) if form.is_known => *form,
                _ => self.learn(local, source),
            };
            ahead |= form.ahead;
            for number in &self.numbers[form.first as usize..(form.first + form.n) as usize] {
                // Too large to be distinguished from others.
                if number.number >= MAX_NUMBER {
                    ahead |= 1 << number.class;
                }
                if number.entries[0].is_some() {
                    self.open.push(*number);
                    continue;
                }
                self.classes[number.class as usize].meet(number);
                self.images.numbers.push((number.class, number.number, 0));
            }
        }
        let has_entries_to_go = !self.open.is_empty() && self.find_entries(ahead);
        // A class some entries of which go may change, too: their keys lie above its largest constant and below what is counted from.
        let classes = &self.classes;
        self.images.numbers.retain(|&(class, number, _)| {
            let Class { largest, least, .. } = classes[class as usize];
            ahead >> class & 1 == 0 && least > largest && number > largest
        });
        self.images.numbers.sort_unstable();
        self.images.numbers.dedup();
        let mut has_changed = has_entries_to_go;
        let mut at_class = None;
        let (mut next, mut shift) = (0, None);
        for (number_of, number, image) in &mut self.images.numbers {
            let class = classes[*number_of as usize];
            if at_class != Some(*number_of) {
                at_class = Some(*number_of);
                (next, shift) = (class.largest + 1, None);
            }
            *image = if *number < class.least {
                lowest(*number, next, class.modulus)
            } else {
                let shift =
                    *shift.get_or_insert_with(|| class.least - lowest(class.least, next, class.modulus));
                *number - shift
            };
            next = *image + 1;
            has_changed |= *image != *number;
        }
        has_changed
    }

    /// Decides which entries stay, and counts the numbers in them; whether any go.
    fn find_entries(&mut self, ahead: u64) -> bool {
        // Each round finds what the numbers found before it keep.
        let mut has_found = true;
        while std::mem::take(&mut has_found) {
            self.images.numbers.sort_unstable();
            let mut open = std::mem::take(&mut self.open);
            open.retain(|occurrence| {
                let stays = |&(of, key): &(u8, i64)| {
                    let class = self.classes[of as usize];
                    let is_fixed = ahead >> of & 1 == 1 || key <= class.largest || key >= class.least;
                    is_fixed || self.images.find(of, key).is_some()
                };
                if !occurrence.entries.iter().flatten().all(stays) {
                    return true;
                }
                has_found = true;
                if !occurrence.is_key {
                    self.classes[occurrence.class as usize].meet(occurrence);
                }
                self.images.late.push((occurrence.class, occurrence.number, 0));
                false
            });
            self.open = open;
            self.images.numbers.append(&mut self.images.late);
        }
        for occurrence in self.open.iter().filter(|occurrence| occurrence.is_key) {
            // The numbers of other classes are not kept. Then the key is in an entry that goes.
            let class = self.classes[occurrence.class as usize];
            if ahead >> occurrence.class & 1 == 0 && class.least > class.largest {
                self.images.pruned |= 1 << occurrence.class;
            }
        }
        self.images.pruned != 0
    }

    #[cold]
    fn learn(&mut self, local: LocalStateId, source: &mut Source<'_, '_>) -> Form {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        let (ahead, n_local_states) = source.with(|locals| {
            let ahead = locals.numbers_of(local, &mut found);
            (ahead, locals.n_local_states())
        });
        let form = Form { is_known: true, ahead, first: self.numbers.len() as u32, n: found.len() as u32 };
        self.numbers.extend_from_slice(&found);
        self.found = found;
        if self.forms.len() <= local.index() {
            self.forms.resize(n_local_states.max(local.index()) + 1, Form::default());
        }
        self.forms[local.index()] = form;
        form
    }

    fn renumber(&mut self, local: LocalStateId, source: &mut Source<'_, '_>) -> LocalStateId {
        let form = self.forms[local.index()];
        let mut own = std::mem::take(&mut self.own);
        own.clear();
        let mut is_same = true;
        let mut hash = u64::from(local.as_u32());
        for number in &self.numbers[form.first as usize..(form.first + form.n) as usize] {
            let is_gone =
                number.entries.iter().flatten().any(|&(class, key)| self.images.is_gone(class, key));
            let image = if is_gone { GONE } else { self.images.image(number.class, number.number) };
            is_same &= image == number.number;
            hash = mix(hash.rotate_left(9) ^ image as u64);
            own.push(image);
        }
        let to = if is_same { local } else { self.look_up(local, hash, &own, source) };
        self.own = own;
        to
    }

    fn look_up(
        &mut self,
        local: LocalStateId,
        hash: u64,
        own: &[i64],
        source: &mut Source<'_, '_>,
    ) -> LocalStateId {
        let known = self.known.find(hash, |known| {
            known.hash == hash
                && known.local == local
                && self.arena[known.first as usize..known.first as usize + own.len()] == *own
        });
        if let Some(known) = known {
            return known.to;
        }
        let to = source.with(|locals| locals.renumber(local, &self.images));
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
            self.arena.clear();
        }
        let first = self.arena.len() as u32;
        self.arena.extend_from_slice(own);
        self.known.insert_unique(hash, Renumbered { hash, local, first, to }, |known| known.hash);
        to
    }
}

/// The least number from `from` on that has the remainder of another.
fn lowest(number: i64, from: i64, modulus: i64) -> i64 {
    from + (number - from).rem_euclid(modulus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_stay() {
        assert_eq!(lowest(17, 3, 1), 3);
        assert_eq!(lowest(17, 3, 5), 7);
        assert_eq!(lowest(3, 3, 5), 3);
        assert_eq!(lowest(17, 0, 4), 1);
    }
}
