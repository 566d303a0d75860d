//! Hand-overs first, then drops.
//!
//! Over a network that delays messages a send only puts its message beside those that are on their way. Over `bag` and `fifo`
//! that commutes with every step of everybody else, now and later: others add messages of their own, or take messages that
//! were there; what arrives meanwhile at the sender waits in its inbox, where it would be found as well a step later. Nobody can
//! keep the sender from it. So where some machine is about to send, and no monitor hears of it, that alone is a persistent set,
//! and so is the making of a machine.
//!
//! Where nobody is about to send, the arrival of a message that its target ignores, and will ignore wherever it comes
//! (`allways_machine::drops`), is a persistent set as well: it takes away what does nothing to anybody.
//!
//! Over `causal` a message carries what its sender knows, which an arrival changes. A crash is in conflict with every step
//! of its machine, and where messages get lost a sender may go on for ever without anything to show for it: over networks with faults
//! nothing is put off.
//!
//! Preserved: local states but for what waits in the inbox of a machine that is about to send, faults, monitor states, ends.
//! A run cannot put others off for ever by such steps: each hand-over leaves a message or a machine behind, and between drops, of
//! which there are as many as messages, nobody sends. Not preserved: lengths of runs, see [`super::persistent`].
//!
//! Which of several such machines goes first is decided by their paths, so that counts do not depend on threads.

use std::sync::Mutex;

use allways_machine::Executable;
use allways_machine::drops::Drops;
use allways_run::NetworkModel;
use rustc_hash::FxHashMap;

use super::super::cells::{CellId, Cells};
use super::super::lock;
use super::super::memo::{ActEntry, ActKind, Memo};

/// Finds hand-overs and drops.
pub(in super::super) struct HandOvers<'a> {
    cells: &'a Mutex<Cells<'a>>,
    /// By slot: a number that depends on the path of the machine alone.
    ranks: Vec<u64>,
    drops: Drops,
    /// By cell and message: whether the message is dropped there for good.
    known: FxHashMap<(CellId, u32), bool>,
}

/// What goes first, alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum First {
    /// The step of the machine of a slot.
    Machine(u32),
    /// This arrival of the network of a slot.
    Arrival(u32, u32),
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
        let drops = Drops::new(&lock(cells).exe);
        HandOvers { cells, ranks: Vec::new(), drops, known: FxHashMap::default() }
    }

    /// What goes first, if anything does, and how many others are put off.
    #[inline]
    pub fn find(
        &mut self,
        memo: &mut Memo<'_>,
        vector: &[CellId],
        n_monitors: usize,
    ) -> Option<(First, u64)> {
        let mut sender: Option<u32> = None;
        let mut n_enabled = 0;
        for (slot, &cell) in vector.iter().enumerate().skip(n_monitors) {
            if cell == 0 {
                continue;
            }
            let act = memo.act(cell);
            match act.kind {
                ActKind::Rest | ActKind::Blocked | ActKind::Unasked => continue,
                ActKind::Create | ActKind::Deliver if act.is_unheard => {
                    if sender.is_none_or(|other| self.rank(slot as u32) < self.rank(other)) {
                        sender = Some(slot as u32);
                    }
                }
                ActKind::Create
                | ActKind::Deliver
                | ActKind::Alone
                | ActKind::Network
                | ActKind::Fault
                | ActKind::Unknown => {}
            }
            n_enabled += 1;
        }
        let first = match sender {
            Some(slot) => Some(First::Machine(slot)),
            None => self.drop_of(memo, vector, n_monitors),
        };
        first.map(|first| (first, n_enabled - 1))
    }

    /// The first arrival, by networks, that its target drops for good.
    fn drop_of(&mut self, memo: &mut Memo<'_>, vector: &[CellId], n_monitors: usize) -> Option<First> {
        let mut found: Option<(u32, u32)> = None;
        for (slot, &cell) in vector.iter().enumerate().skip(n_monitors) {
            if cell == 0 {
                continue;
            }
            let (slot, act) = (slot as u32, memo.act(cell));
            if act.kind == ActKind::Network
                && found.is_none_or(|(other, _)| self.rank(slot) < self.rank(other))
                && let Some(own) = self.dropped(memo, vector, act)
            {
                found = Some((slot, own));
            }
        }
        found.map(|(slot, own)| First::Arrival(slot, own))
    }

    /// The first arrival of one network that its target drops for good.
    fn dropped(&mut self, memo: &Memo<'_>, vector: &[CellId], act: ActEntry) -> Option<u32> {
        (0..act.n).find(|own| {
            let out = memo.outs[(act.first + own) as usize];
            let (target, message) = memo.deliveries[out.extra as usize];
            let cell = vector[target as usize];
            match self.known.get(&(cell, message)) {
                Some(&known) => known,
                None => {
                    let is_dropped = {
                        let cells = lock(self.cells);
                        self.drops.for_good(cells.local(cell), cells.messages[message as usize].event)
                    };
                    self.known.insert((cell, message), is_dropped);
                    is_dropped
                }
            }
        })
    }

    fn rank(&mut self, slot: u32) -> u64 {
        if self.ranks.len() <= slot as usize {
            let cells = lock(self.cells);
            self.ranks = (0..cells.n_slots() as u32).map(|slot| cells.rank(slot)).collect();
        }
        self.ranks[slot as usize]
    }
}
