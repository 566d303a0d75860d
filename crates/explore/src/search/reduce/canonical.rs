//! The representative of a configuration: first its numbers are put in canonical form ([`Counters`]), then its machines
//! ([`Symmetry`]). The former does not depend on the places of machines, and the latter keeps numbers, so the two together are canonical.

use allways_base::Idx;
use std::sync::Mutex;

use super::counters::{Counters, Source};
use super::symmetry::Symmetry;
use crate::search::context::Tally;
use crate::search::local::states::{LocalStateId, LocalStates, Slot};
use crate::search::local::vector;
use crate::search::lock;

/// See the module.
pub(crate) struct Canonicalizer<'a> {
    locals: &'a Mutex<LocalStates<'a>>,
    counters: Option<Counters>,
    symmetry: Option<Symmetry<'a>>,
    /// By local state, as far as asked for.
    hashes: Vec<u64>,
    scratch: Vec<LocalStateId>,
    /// The last configuration was replaced by another.
    has_renamed: bool,
    has_renumbered: bool,
}

impl<'a> Canonicalizer<'a> {
    /// `None` if every configuration is its own representative.
    pub fn new(
        symmetry: Option<Symmetry<'a>>,
        locals: &'a Mutex<LocalStates<'a>>,
        renumbers: bool,
    ) -> Option<Self> {
        let counters = if renumbers { Counters::new(&lock(locals)) } else { None };
        (counters.is_some() || symmetry.is_some()).then(|| Canonicalizer {
            locals,
            counters,
            symmetry,
            hashes: Vec::new(),
            scratch: Vec::new(),
            has_renamed: false,
            has_renumbered: false,
        })
    }

    pub fn n_bytes(&self) -> usize {
        self.counters.as_ref().map_or(0, Counters::n_bytes)
            + self.symmetry.as_ref().map_or(0, Symmetry::n_bytes)
            + self.hashes.capacity() * 8
    }

    /// What a configuration is replaced by.
    pub fn canonical(&mut self, vector: &[LocalStateId]) -> &[LocalStateId] {
        match (&mut self.counters, &mut self.symmetry) {
            (Some(counters), symmetry) => {
                counters.canonical(vector, &mut Source::Shared(self.locals));
                self.has_renumbered = counters.has_renumbered;
                if let Some(symmetry) = symmetry {
                    symmetry.canonical(counters.last());
                    self.has_renamed = symmetry.has_renamed;
                }
            }
            (None, Some(symmetry)) => {
                symmetry.canonical(vector);
                self.has_renamed = symmetry.has_renamed;
            }
            (None, None) => {}
        }
        self.last()
    }

    /// Counts what was done to the last configuration.
    #[inline]
    pub fn count(&self, tally: &mut Tally) {
        tally.n_renamed += u64::from(self.has_renamed);
        tally.n_collected += u64::from(self.symmetry.as_ref().map_or(0, Symmetry::n_collected));
        tally.n_renumbered += u64::from(self.has_renumbered);
    }

    /// What the last configuration was replaced by.
    pub fn last(&self) -> &[LocalStateId] {
        match (&self.counters, &self.symmetry) {
            (_, Some(symmetry)) => symmetry.last(),
            (Some(counters), None) => counters.last(),
            (None, None) => &[],
        }
    }

    /// The same for the successor of a vector: collects what differs from the vector itself, and returns what that adds to the
    /// fingerprint.
    pub fn successor(
        &mut self,
        from: &[LocalStateId],
        changes: &[(Slot, LocalStateId)],
        differences: &mut Vec<(Slot, LocalStateId)>,
    ) -> u64 {
        if let (None, Some(symmetry)) = (&self.counters, &mut self.symmetry) {
            let delta = symmetry.successor(from, changes, differences);
            self.has_renamed = symmetry.has_renamed;
            return delta;
        }
        let mut vector = std::mem::take(&mut self.scratch);
        vector::copy_changed(&mut vector, from, changes);
        self.canonical(&vector);
        vector.clear();
        vector.extend_from_slice(self.last());
        let delta = vector::differences(from, &vector, differences, |local| self.hash(local));
        self.scratch = vector;
        delta
    }

    #[inline]
    fn hash(&mut self, local: LocalStateId) -> u64 {
        match self.hashes.get(local.index()) {
            Some(&hash) => hash,
            None => self.ask_hash(local),
        }
    }

    #[cold]
    fn ask_hash(&mut self, local: LocalStateId) -> u64 {
        let locals = lock(self.locals);
        // Zero is no local state, and adds nothing.
        let new = (self.hashes.len()..=local.index()).map(LocalStateId::new);
        let all = new.map(|local| if local.is_absent() { 0 } else { locals.hash(local) });
        self.hashes.extend(all);
        self.hashes[local.index()]
    }
}
