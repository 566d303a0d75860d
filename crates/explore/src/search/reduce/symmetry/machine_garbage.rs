//! Machine garbage: a machine that can never act again leaves the configuration, as an object leaves a heap that is marked and swept
//! (McCarthy 1960; for state spaces, Iosif and Sisto 2000).
//!
//! A machine that has halted, or that is idle in a state without a null handler, does nothing unless it is sent a message, and only a machine that
//! holds its name can send one. So machines that act by themselves are the roots, and what they mention, directly or through machines that they mention, is
//! live; names in variables, inboxes, pending effects and payloads count. Everything else is garbage. A machine that is blocked in `receive` is a root: where it waits
//! for ever, that is a deadlock, and reported.
//!
//! Monitors cannot send, but compare names. Garbage that a monitor mentions keeps its name, and so does the main machine, which has no creator; it
//! becomes a machine that has halted. All other garbage goes, and what it made is from then on named by the nearest creator that stays.
//! The machines that this creator made, and those that it took over, are numbered anew, without gaps and by interface, and the next one
//! that it makes gets the next number. So a program that makes a machine for each request and halts it has finitely many configurations.
//!
//! Needs: pure names, as symmetry does; no bounds, since a bound on machines counts those that have halted. Establishes: names of
//! siblings have no gaps. Preserves: what symmetry preserves; terminal configurations up to garbage. A cycle in which machines are made is not a
//! cycle of the kernel, where their number grows: such a violation of liveness cannot be shown as a loop (`liveness`).

use std::collections::VecDeque;
use std::sync::Mutex;

use allways_base::Idx;
use rustc_hash::FxHashMap;

use super::{BEYOND, Symmetry};
use crate::search::local::states::{LocalStateId, LocalStates, Slot};
use crate::search::local::vector;
use crate::search::lock;
use crate::search::survey::Notes;

/// Renamings that are remembered, before all are forgotten.
const MAX_KNOWN: usize = 1 << 16;

/// What is remembered while garbage is found.
#[derive(Default)]
pub(crate) struct Garbage<'a> {
    /// Where to record local states of machines that leave.
    notes: Option<&'a Notes>,
    /// Machines of the last configuration that left, or became machines that have halted.
    pub n_collected: u32,
    /// By slot: what the machine is to the others.
    marks: Vec<Mark>,
    open: Vec<Slot>,
    /// What stays of the last configuration, and where its slots went.
    kept: Vec<LocalStateId>,
    to: Vec<Slot>,
    /// Where its slots are after machines were permuted, too.
    pub composed: Vec<Slot>,
    /// By local state, machines made, and names: what it becomes.
    known: FxHashMap<Box<[u32]>, LocalStateId>,
    names: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mark {
    Absent,
    Live,
    /// Its name counts.
    Halted,
    Garbage,
}

impl<'a> Garbage<'a> {
    pub fn n_bytes(&self) -> usize {
        self.known.capacity() * 64
    }
}

/// A machine that stays, by what decides its number.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Child {
    interface: u32,
    path: Vec<u32>,
    slot: Slot,
}

impl<'a> Symmetry<'a> {
    /// Leaves out garbage, and permutes machines made alike if it `is_sorting`.
    pub fn collecting(
        locals: &'a Mutex<LocalStates<'a>>,
        is_sorting: bool,
        notes: Option<&'a Notes>,
    ) -> Self {
        Symmetry::with(locals, is_sorting, Some(Garbage { notes, ..Garbage::default() }))
    }

    /// Machines of the last configuration that could never act again.
    pub fn n_collected(&self) -> u32 {
        self.garbage.as_ref().map_or(0, |garbage| garbage.n_collected)
    }

    /// Whether some changes of a configuration without garbage may make some: a machine stops to act, or a name is dropped.
    #[inline]
    pub(super) fn may_leave_garbage(
        &mut self,
        from: &[LocalStateId],
        changes: &[(Slot, LocalStateId)],
    ) -> bool {
        match &mut self.garbage {
            Some(garbage) => garbage.n_collected = 0,
            None => return false,
        }
        let mut may = false;
        for &(slot, after) in changes {
            let before = vector::local_at(from, slot);
            let (names, acts) = match before {
                // It has just been made.
                LocalStateId::ABSENT => (0, true),
                before => {
                    let form = self.know(before);
                    (form.names, form.vitality.acts)
                }
            };
            if after.is_absent() {
                return true;
            }
            let form = self.know(after);
            may |= names & !form.names != 0 || names & BEYOND != 0 || acts && !form.vitality.acts;
        }
        may
    }

    /// Finds the garbage of a configuration; whether there is any. What stays is in `Garbage::kept` then.
    pub(super) fn collect(&mut self, vector: &[LocalStateId]) -> bool {
        let Some(mut garbage) = self.garbage.take() else { return false };
        garbage.n_collected = self.mark(&mut garbage, vector);
        if garbage.n_collected > 0 {
            self.sweep(&mut garbage, vector);
        }
        let has_any = garbage.n_collected > 0;
        self.garbage = Some(garbage);
        has_any
    }

    /// Permutes what stays.
    pub(super) fn arrange_kept(&mut self) {
        let Some(mut garbage) = self.garbage.take() else { return };
        self.arrange(&garbage.kept);
        garbage.composed.clear();
        let (to, has_moved) = (&self.to, self.has_moved);
        garbage.composed.extend(garbage.to.iter().map(|&slot| match slot {
            Slot::NONE => Slot::NONE,
            slot if has_moved => to[slot.index()],
            slot => slot,
        }));
        self.garbage = Some(garbage);
    }

    /// Marks what is live; says how many others there are that are not yet out of the way.
    fn mark(&mut self, garbage: &mut Garbage<'_>, vector: &[LocalStateId]) -> u32 {
        let Garbage { marks, open, .. } = garbage;
        marks.clear();
        open.clear();
        for (slot, &local) in vector.iter().enumerate() {
            let acts = !local.is_absent() && self.know(local).vitality.acts;
            marks.push(match local {
                LocalStateId::ABSENT => Mark::Absent,
                _ if acts => Mark::Live,
                _ => Mark::Garbage,
            });
            // Monitors hold names, but send nothing.
            if acts && slot >= self.n_monitors {
                open.push(Slot::new(slot));
            }
        }
        while let Some(slot) = open.pop() {
            let form = &self.forms[vector[slot.index()].index()];
            for mention in &self.mentions[form.first as usize..(form.first + form.n) as usize] {
                if let Some(mark @ Mark::Garbage) = marks.get_mut(mention.slot.index()) {
                    *mark = Mark::Live;
                    open.push(mention.slot);
                }
            }
        }
        if marks.iter().all(|&mark| mark != Mark::Garbage) {
            return 0;
        }
        for &local in vector[..self.n_monitors].iter().filter(|&&local| !local.is_absent()) {
            let form = &self.forms[local.index()];
            for mention in &self.mentions[form.first as usize..(form.first + form.n) as usize] {
                if let Some(mark @ Mark::Garbage) = marks.get_mut(mention.slot.index()) {
                    *mark = Mark::Halted;
                }
            }
        }
        let mut n_collected = 0;
        for (slot, mark) in marks.iter_mut().enumerate() {
            if *mark == Mark::Garbage && self.families[slot].parent == Slot::NONE {
                *mark = Mark::Halted;
            }
            n_collected += match *mark {
                Mark::Garbage => 1,
                Mark::Halted => u32::from(!self.forms[vector[slot].index()].vitality.is_halted),
                Mark::Live | Mark::Absent => 0,
            };
        }
        n_collected
    }

    /// Leaves garbage out, and names what stays.
    fn sweep(&mut self, garbage: &mut Garbage<'_>, vector: &[LocalStateId]) {
        let n = vector.len();
        let first = self.n_monitors;
        if let Some(notes) = garbage.notes {
            let has_left = |&slot: &usize| matches!(garbage.marks[slot], Mark::Garbage | Mark::Halted);
            notes.see_locals((first..n).filter(has_left).map(|slot| vector[slot]));
        }
        // By slot of the creator that stays: what it made, or took over, and whether something is missing there.
        let mut children: Vec<Vec<Child>> = vec![Vec::new(); n];
        let mut has_gaps = vec![false; n];
        let mut main = None;
        for (slot, &local) in vector.iter().enumerate().skip(first) {
            let mark = garbage.marks[slot];
            if mark == Mark::Absent {
                continue;
            }
            let mut parent = self.families[slot].parent;
            while parent != Slot::NONE
                && !matches!(garbage.marks.get(parent.index()), Some(Mark::Live | Mark::Halted))
            {
                parent = self.families[parent.index()].parent;
            }
            if parent == Slot::NONE {
                main = Some(Slot::new(slot));
            } else if mark == Mark::Garbage {
                has_gaps[parent.index()] = true;
            } else {
                let interface = self.forms[local.index()].kind;
                let child = Child { interface, path: self.path(Slot::new(slot)), slot: Slot::new(slot) };
                children[parent.index()].push(child);
            }
        }
        garbage.to.clear();
        garbage.to.extend((0..first).map(Slot::new));
        garbage.to.resize(n, Slot::NONE);
        let mut open = VecDeque::from_iter(main);
        if let Some(main) = main {
            garbage.to[main.index()] = main;
        }
        while let Some(parent) = open.pop_front() {
            let group = &mut children[parent.index()];
            match has_gaps[parent.index()] {
                true => group.sort_unstable(),
                false => group.sort_unstable_by(|a, b| a.path.cmp(&b.path)),
            }
            let above = garbage.to[parent.index()];
            for (place, child) in group.iter().enumerate() {
                let origin = (above, place as u32);
                let known = self.children.get(&origin).copied();
                garbage.to[child.slot.index()] = known.unwrap_or_else(|| self.new_slot(origin));
                open.push_back(child.slot);
            }
        }
        let highest = garbage.to.iter().filter(|&&to| to != Slot::NONE).max().map_or(0, |&to| to.index() + 1);
        garbage.kept.clear();
        garbage.kept.resize(n.max(highest), LocalStateId::ABSENT);
        for (slot, &local) in vector.iter().enumerate() {
            let to = garbage.to[slot];
            if local.is_absent() || to == Slot::NONE {
                continue;
            }
            let mut local = local;
            if garbage.marks[slot] == Mark::Halted {
                local = lock(self.locals).halted(local);
                self.know(local);
            }
            let n_children = children[slot].len() as u32;
            garbage.kept[to.index()] = self.rename_kept(garbage, local, to, n_children);
        }
    }

    /// A machine that stays, where it is now and with the names that count now.
    fn rename_kept(
        &mut self,
        garbage: &mut Garbage<'_>,
        local: LocalStateId,
        owner: Slot,
        n_children: u32,
    ) -> LocalStateId {
        let form = self.forms[local.index()];
        let has_made = !form.vitality.is_halted && form.vitality.n_children != n_children;
        let mentions = &self.mentions[form.first as usize..(form.first + form.n) as usize];
        garbage.names.clear();
        garbage.names.extend([local.as_u32(), owner.as_u32(), n_children]);
        let mut is_same = owner == form.owner && (form.owner.index() < self.n_monitors || !has_made);
        for mention in mentions {
            // A halted machine that stays may be mentioned where none is left.
            let to = garbage.to.get(mention.slot.index()).copied().unwrap_or(Slot::NONE);
            is_same &= to == mention.slot;
            garbage.names.push(to.as_u32());
        }
        if is_same {
            return local;
        }
        if let Some(&known) = garbage.known.get(&*garbage.names) {
            return known;
        }
        let renamed = lock(self.locals).rename(local, owner, &garbage.to, Some(n_children));
        self.know(renamed);
        if garbage.known.len() >= MAX_KNOWN {
            garbage.known.clear();
        }
        garbage.known.insert(garbage.names.as_slice().into(), renamed);
        renamed
    }

    fn path(&self, slot: Slot) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = self.families[slot.index()];
        while at.parent != Slot::NONE {
            path.push(at.place);
            at = self.families[at.parent.index()];
        }
        path.reverse();
        path
    }
}
