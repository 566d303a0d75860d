//! Private steps first.
//!
//! A step that makes a machine, or delivers to one that has halted, and that no monitor hears, touches nothing that
//! any other machine's step touches: its targets (semantics.md, section 4) are the new machine, which nobody else knows
//! yet, or nobody. Such a step commutes with every step of every other machine, now and later, and nobody can keep it from
//! happening. So it alone is a persistent set, and where there is one nothing else has to be looked at.
//!
//! Preserved: local states, faults, monitor states, ends. A run cannot put others off for ever by such steps, as each
//! makes a machine or uses up a message. Not preserved: lengths of runs, and so the depth; shortest counterexamples come
//! from `witness`, which does not reduce. Liveness is decided on the whole graph.
//!
//! Which of several such machines goes first is decided by their paths, so that counts do not depend on threads.

use std::sync::Mutex;

use super::super::cells::{CellId, Cells};
use super::super::lock;
use super::super::memo::{ActKind, Memo};

/// Finds private steps.
pub(in super::super) struct PrivateSteps<'a> {
    cells: &'a Mutex<Cells<'a>>,
    /// By slot: a number that depends on the path of the machine alone.
    ranks: Vec<u64>,
}

impl<'a> PrivateSteps<'a> {
    pub fn new(cells: &'a Mutex<Cells<'a>>) -> Self {
        PrivateSteps { cells, ranks: Vec::new() }
    }

    /// The slot of a machine whose step is private, if there is one, and how many others are put off.
    #[inline]
    pub fn find(&mut self, memo: &mut Memo<'_>, vector: &[CellId], n_monitors: usize) -> Option<(u32, u64)> {
        let mut found: Option<u32> = None;
        let mut n_enabled = 0;
        for (slot, &cell) in vector.iter().enumerate().skip(n_monitors) {
            if cell == 0 {
                continue;
            }
            let act = memo.act(cell);
            n_enabled += u64::from(!matches!(act.kind, ActKind::Rest | ActKind::Blocked | ActKind::Unasked));
            if !act.is_unheard {
                continue;
            }
            let is_private = match act.kind {
                ActKind::Create => true,
                ActKind::Deliver => {
                    let (target, _) = memo.deliveries[act.delivery as usize];
                    memo.act(vector[target as usize]).is_halted
                }
                ActKind::Unasked
                | ActKind::Rest
                | ActKind::Blocked
                | ActKind::Alone
                | ActKind::Network
                | ActKind::Fault
                | ActKind::Unknown => false,
            };
            if is_private && found.is_none_or(|other| self.rank(slot as u32) < self.rank(other)) {
                found = Some(slot as u32);
            }
        }
        found.map(|slot| (slot, n_enabled - 1))
    }

    fn rank(&mut self, slot: u32) -> u64 {
        if self.ranks.len() <= slot as usize {
            let cells = lock(self.cells);
            self.ranks = (0..cells.n_slots() as u32).map(|slot| cells.rank(slot)).collect();
        }
        self.ranks[slot as usize]
    }
}
