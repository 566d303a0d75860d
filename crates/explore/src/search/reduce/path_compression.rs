//! Path compression: steps that form a persistent set by themselves are merged.
//!
//! A handler that sends the same to many machines stops before each send. Where these sends are independent of all other steps, each of
//! them alone is a persistent set ([`super::persistent`]), and the configurations between them have one predecessor and one successor. So
//! they are passed through and not stored: from a stored configuration in which a single machine forms the set, the search continues until a larger set is
//! needed, or for [`MAX_MERGED`] steps, since a machine may send for ever. The outcomes of one step share what is left of that
//! budget: a machine that asks `$` each time has exponentially many paths, which meet again only where configurations are stored.
//!
//! The first configuration of such a path is stored, not only the last: many steps may lead there, and the path is followed once.
//!
//! Needs: persistent sets. Preserves: what they preserve. At each configuration on the path all steps of a persistent set are taken;
//! where the set has several machines the path ends. The **cycle proviso** concerns only stored configurations: from these, steps
//! lead to full expansion, and every path ends in a stored configuration, even if it runs into a cycle. Does not preserve: the
//! number of layers, so counterexamples are searched for without it.

use allways_base::Idx;

use super::confluent_sends::{MAX_MERGED, MergedSink, Raw};
use super::persistent::PersistentSets;
use crate::search::expand::{Expander, Move, Successor};
use crate::search::local::states::{LocalStateId, Slot};
use crate::search::local::vector;
use crate::search::survey::Notes;

/// Follows paths of single-machine persistent sets.
#[derive(Default)]
pub(crate) struct PathCompression {
    open: Vec<Link>,
    raw: Raw,
    spare: Vec<Vec<LocalStateId>>,
    changes: Vec<(Slot, LocalStateId)>,
}

/// A configuration on the path.
struct Link {
    vector: Vec<LocalStateId>,
    /// What it adds to the fingerprint of the first; of no meaning where configurations have representatives.
    delta: u64,
    n_merged: u32,
    /// Steps that may still be merged, from here on.
    n_left: u32,
}

impl PathCompression {
    /// Continues from the successors of a single-machine set, and reports where the paths end.
    pub fn follow<S: MergedSink>(
        &mut self,
        expander: &mut Expander<'_>,
        sets: &mut PersistentSets<'_>,
        from: &[LocalStateId],
        raw: &mut Raw,
        notes: Option<&Notes>,
        sink: &mut S,
    ) {
        self.take(from, (0, 0, MAX_MERGED), raw, sink);
        while let Some(mut link) = self.open.pop() {
            let mut next = std::mem::take(&mut self.raw);
            if link.n_left > 0 {
                // The path that was followed for the cycle proviso is mostly this one.
                let alone = match sets.recall(&link.vector) {
                    Some((vector, chosen)) => {
                        link.vector.clear();
                        link.vector.extend_from_slice(vector);
                        match chosen {
                            Some(chosen) => chosen.alone(),
                            None => sets.alone(&mut expander.memo, &link.vector),
                        }
                    }
                    None => {
                        sink.with_canonicalizer(|canonicalizer| {
                            if let Some(canonicalizer) = canonicalizer {
                                let canonical = canonicalizer.canonical(&link.vector);
                                link.vector.clear();
                                link.vector.extend_from_slice(canonical);
                            }
                        });
                        sets.alone(&mut expander.memo, &link.vector)
                    }
                };
                if let Some(slot) = alone {
                    expander.expand_one(&link.vector, slot, &mut next);
                }
            }
            if next.is_empty() {
                // It stops here, or does nothing but stay.
                self.tell(from, &link, sink);
            } else {
                if let Some(notes) = notes {
                    notes.see(&link.vector, expander.n_monitors(), false);
                }
                let n_left = (link.n_left - 1) / next.ends.len().max(1) as u32;
                self.take(&link.vector, (link.delta, link.n_merged + 1, n_left), &mut next, sink);
            }
            self.raw = next;
            self.spare.push(link.vector);
        }
    }

    /// Takes over the successors of one configuration.
    fn take<S: MergedSink>(
        &mut self,
        from: &[LocalStateId],
        (delta, n_merged, n_left): (u64, u32, u32),
        raw: &mut Raw,
        sink: &mut S,
    ) {
        let mut start = 0;
        for &(more, end) in &raw.ends {
            let mut vector = self.spare.pop().unwrap_or_default();
            vector::copy_changed(&mut vector, from, &raw.changes[start..end]);
            start = end;
            self.open.push(Link { vector, delta: delta.wrapping_add(more), n_merged, n_left });
        }
        for _ in 0..raw.n_broken {
            sink.broken(Move::default());
        }
        for &cut in &raw.cuts {
            sink.cut(cut);
        }
        raw.clear();
    }

    fn tell<S: MergedSink>(&mut self, from: &[LocalStateId], link: &Link, sink: &mut S) {
        self.changes.clear();
        for (slot, &local) in link.vector.iter().enumerate() {
            if from.get(slot) != Some(&local) && (!local.is_absent() || slot < from.len()) {
                self.changes.push((Slot::new(slot), local));
            }
        }
        sink.merged(link.n_merged, false);
        let changes = &self.changes;
        sink.successor(from, Successor { delta: link.delta, changes, by: Move::default(), hot: 0, cold: 0 });
    }
}
