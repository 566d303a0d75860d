//! Hand-overs first.
//!
//! Over a network that delays messages a send only puts its message beside those that are on their way. Over `bag` and `fifo`
//! that commutes with every step of everybody else, now and later: others add messages of their own, or take messages that
//! were there; what arrives meanwhile at the sender waits in its inbox, where it would be found as well a step later. Nobody can
//! keep the sender from it. So where some machine is about to send, and no monitor hears of it, that alone is a persistent set,
//! and so is the making of a machine.
//!
//! Over `causal` a message carries what its sender knows, which an arrival changes. A crash is in conflict with every step
//! of its machine, and where messages get lost a sender may go on for ever without anything to show for it: over networks with faults
//! nothing is put off.
//!
//! Preserved: local states but for what waits in the inbox of a machine that is about to send, faults, monitor states, ends.
//! A run cannot put others off for ever by such steps, since each leaves a message or a machine behind. Not preserved: lengths
//! of runs, see [`super::persistent`].
//!
//! Which of several such machines goes first is decided by their paths, so that counts do not depend on threads.

use std::sync::Mutex;

use allways_machine::Executable;
use allways_run::NetworkModel;

use super::super::cells::{CellId, Cells};
use super::super::lock;
use super::super::memo::{ActKind, Memo};

/// Finds hand-overs.
pub(in super::super) struct HandOvers<'a> {
    cells: &'a Mutex<Cells<'a>>,
    /// By slot: a number that depends on the path of the machine alone.
    ranks: Vec<u64>,
}

impl<'a> HandOvers<'a> {
    /// Whether they can go first in a program.
    pub fn are_sound(exe: &Executable) -> bool {
        let network = exe.network.options();
        matches!(network.model, NetworkModel::Bag | NetworkModel::Fifo)
            && network.lossy.is_empty()
            && network.duplicating.is_empty()
            && network.crash.is_empty()
    }

    pub fn new(cells: &'a Mutex<Cells<'a>>) -> Self {
        HandOvers { cells, ranks: Vec::new() }
    }

    /// The slot of a machine that hands something over, if there is one, and how many others are put off.
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
            let is_hand_over = match act.kind {
                ActKind::Create | ActKind::Deliver => act.is_unheard,
                ActKind::Unasked
                | ActKind::Rest
                | ActKind::Blocked
                | ActKind::Alone
                | ActKind::Network
                | ActKind::Fault
                | ActKind::Unknown => false,
            };
            if is_hand_over && found.is_none_or(|other| self.rank(slot as u32) < self.rank(other)) {
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
