//! The successors of a configuration, for a purpose: which steps are taken, in which order, and how the results are canonicalised.
//!
//! Every search that runs in a fixed order on one thread expands through [`Successors`]: the choice of a persistent set, the
//! expansion, the merging of confluent sends and canonical forms stand here once. Breadth-first search has its own loop (`order::breadth`),
//! because it batches successors, postpones cache misses and shares tables between threads; it uses the same parts.

use allways_base::Idx;

use super::context::{Context, Cuts, Tally};
use super::expand::{Expander, Move, Sink, Standing, Successor, write_successor};
use super::local::states::{Cut, LocalStateId, Slot};
use super::reduce::canonical::Canonicalizer;
use super::reduce::confluent_sends::{ConfluentSends, MergedSink, Raw};
use super::reduce::persistent::{Chosen, PersistentSets};

/// What successors are computed for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// To find violations: steps that change nothing are dropped, if the options say so.
    Search,
    /// To find the run to a known violation.
    Counterexample,
    /// To decide whether every run terminates: confluent sends are merged, if they are on.
    Termination,
    /// To find infinite runs: steps that change nothing count.
    Liveness,
    /// To estimate what a reduction saves.
    Probe,
}

/// Computes successors, with the machines in order of their paths.
pub(crate) struct Successors<'a> {
    pub expander: Expander<'a>,
    slots: Vec<Slot>,
    canonicalizer: Option<Canonicalizer<'a>>,
    sets: Option<PersistentSets<'a>>,
    confluent_sends: Option<ConfluentSends<'a>>,
    raw: Raw,
}

/// What an expansion found besides successors.
#[derive(Clone, Copy)]
pub(crate) struct Expansion {
    pub standing: Standing,
    /// The persistent set, if only part of the enabled machines was stepped.
    pub chosen: Option<Chosen>,
}

impl<'a> Successors<'a> {
    pub fn new(cx: Context<'a>, purpose: Purpose) -> Self {
        let mut expander = cx.expander();
        expander.skips_stutter = purpose == Purpose::Search && cx.options.reductions.timer_stutter;
        let merges_sends = purpose == Purpose::Termination && cx.has_confluent_sends();
        Successors {
            expander,
            slots: Vec::new(),
            canonicalizer: cx.canonicalizer(),
            sets: cx.persistent_sets(),
            confluent_sends: merges_sends.then(|| ConfluentSends::new(cx.locals)),
            raw: Raw::default(),
        }
    }

    /// The successors of a configuration, reduced as the purpose allows. They are not canonical yet, see [`Self::canonical`].
    pub fn expand(&mut self, vector: &[LocalStateId], sink: &mut Collect) -> Expansion {
        if let Some(confluent_sends) = &mut self.confluent_sends {
            let n_monitors = self.expander.n_monitors();
            let standing = match confluent_sends.find(&mut self.expander.memo, vector, n_monitors) {
                Some((slot, _)) => self.expander.expand_one(vector, slot, &mut self.raw),
                None => self.expander.expand(vector, &mut self.raw),
            };
            confluent_sends.merge(&mut self.expander.memo, vector, false, &mut self.raw, None, sink);
            return Expansion { standing, chosen: None };
        }
        let memo = &mut self.expander.memo;
        let chosen = self.sets.as_mut().and_then(|sets| sets.find(memo, vector, self.canonicalizer.as_mut()));
        let standing = match chosen {
            None => self.expand_fully(vector, sink),
            Some(chosen) => {
                self.find_slots(vector);
                let is_mover =
                    |slot: &Slot| slot.as_u32() < u64::BITS && chosen.movers >> slot.as_u32() & 1 == 1;
                let slots: Vec<Slot> = self.slots.iter().copied().filter(is_mover).collect();
                self.expander.expand_in_order(vector, &slots, sink)
            }
        };
        Expansion { standing, chosen }
    }

    /// All successors, without partial-order reduction.
    pub fn expand_fully<S: Sink>(&mut self, vector: &[LocalStateId], sink: &mut S) -> Standing {
        self.find_slots(vector);
        self.expander.expand_in_order(vector, &self.slots, sink)
    }

    fn find_slots(&mut self, vector: &[LocalStateId]) {
        if self.slots.len() + self.expander.n_monitors() < vector.len() {
            self.slots = self.expander.memo.locals().slots_by_path();
        }
    }

    /// The representative of a successor.
    pub fn canonical<'s>(&'s mut self, successor: &'s [LocalStateId]) -> &'s [LocalStateId] {
        match &mut self.canonicalizer {
            Some(canonicalizer) => canonicalizer.canonical(successor),
            None => successor,
        }
    }

    /// The same, with a note of what was done.
    pub fn counted<'s>(&'s mut self, successor: &'s [LocalStateId], tally: &mut Tally) -> &'s [LocalStateId] {
        match &mut self.canonicalizer {
            Some(canonicalizer) => {
                canonicalizer.canonical(successor);
                canonicalizer.count(tally);
                canonicalizer.last()
            }
            None => successor,
        }
    }
}

fn stride_of(from: &[LocalStateId], changes: &[(Slot, LocalStateId)]) -> usize {
    changes.iter().map(|&(slot, _)| slot.index() + 1).max().unwrap_or(0).max(from.len())
}

/// The successor of a vector by some changes.
pub(crate) fn apply(from: &[LocalStateId], changes: &[(Slot, LocalStateId)]) -> Vec<LocalStateId> {
    let stride = stride_of(from, changes);
    let mut vector = Vec::with_capacity(stride);
    write_successor(from, changes, stride, &mut vector);
    vector
}

/// Vectors of any length, one after the other.
#[derive(Default)]
pub(crate) struct Layer {
    vectors: Vec<LocalStateId>,
    ends: Vec<usize>,
}

impl Layer {
    pub fn push(&mut self, vector: &[LocalStateId]) {
        self.vectors.extend_from_slice(vector);
        self.ends.push(self.vectors.len());
    }

    /// The successor of a vector by some changes.
    pub fn push_successor(&mut self, from: &[LocalStateId], changes: &[(Slot, LocalStateId)]) {
        write_successor(from, changes, stride_of(from, changes), &mut self.vectors);
        self.ends.push(self.vectors.len());
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn get(&self, at: usize) -> &[LocalStateId] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.vectors[start..self.ends[at]]
    }

    pub fn n_bytes(&self) -> usize {
        self.vectors.capacity() * 4 + self.ends.capacity() * 8
    }
}

/// Keeps all successors, in order.
#[derive(Default)]
pub(crate) struct Collect {
    pub moves: Vec<Move>,
    pub vectors: Layer,
    /// Monitors that were hot, that were cold, in each step.
    pub heat: Vec<(u64, u64)>,
    /// The first step that breaks a property.
    pub broken: Option<Move>,
    pub cuts: Cuts,
}

impl Sink for Collect {
    fn successor(&mut self, from: &[LocalStateId], successor: Successor<'_>) {
        self.moves.push(successor.by);
        self.heat.push((successor.hot, successor.cold));
        self.vectors.push_successor(from, successor.changes);
    }

    fn broken(&mut self, by: Move) {
        self.broken.get_or_insert(by);
    }

    fn cut(&mut self, cut: Cut) {
        self.cuts.add(cut);
    }
}

impl MergedSink for Collect {
    fn merged(&mut self, _: u32, _: bool) {}
}
