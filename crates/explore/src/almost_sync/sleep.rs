//! Sleep sets (Godefroid 1996): steps that need not be taken, since their results were reached in another order.
//!
//! If two machines are stepped in a state, and their steps are *independent* (both orders lead to the same state),
//! then after the second the first need not be stepped: it is *asleep* there, and stays asleep as long as steps
//! are taken that are independent of it. Steps are independent if they touch nothing in common and neither touches the machine of the
//! other; or if they deliver to the same machine, which ends in the same place, with a single outcome, in either order of the
//! two messages.
//!
//! Invariant: every run from a state that cannot be reordered, by exchanging independent neighbours, so that it begins
//! with a sleeping step, is followed. Where a run does not touch the destination set, it is followed by the delegate:
//! neither the delegate's step nor a block move is in the run, so there it begins with a sleeping step only if it does so here. Steps in vain do
//! no harm. Only runs need be followed in which no step can be left out, that is, a step that leaves its machine and all monitors where they are and delivers
//! to a machine that stays where it is, or does not move any more; such a run stays so when it is reordered, and at the delegate.
//!
//! Each state stores one set. When it is reached again with a smaller one, steps that slept without reason are woken: the
//! state is expanded again, with the intersection of both. Sets only shrink, so this terminates. If a state needs a delegate and
//! no step that is awake can provide it, a sleeping one is woken before any machine is blocked.
//!
//! Sleep sets save moves, hardly ever states. Sets are bits; in a program with more machines than bits, all steps are woken.

use std::collections::VecDeque;

use allways_base::Idx;

use crate::search::local::entries::Slot;

/// Slots from there on have no bit.
const N_BITS: usize = 63;
/// In a set: the state waits to be expanded again. In the stepped machines: they are blocked in turn.
const MARK: u64 = 1 << N_BITS;

#[derive(Default)]
pub(crate) struct Sleep {
    is_on: bool,
    /// By state: slots of machines that are asleep.
    asleep: Vec<u64>,
    /// By state that was explored: slots of machines that are stepped there.
    stepped: Vec<u64>,
    again: VecDeque<u32>,
}

impl Sleep {
    pub fn new(is_on: bool) -> Self {
        Sleep { is_on, ..Sleep::default() }
    }

    pub fn is_on(&self) -> bool {
        self.is_on
    }

    pub fn n_bytes(&self) -> usize {
        (self.asleep.capacity() + self.stepped.capacity()) * 8 + self.again.capacity() * 4
    }

    /// A state is reached, with this set. Those below `next` were explored.
    pub fn meets(&mut self, state: u32, set: u64, next: u32) {
        if !self.is_on {
            return;
        }
        if state as usize == self.asleep.len() {
            self.asleep.push(set);
            return;
        }
        let known = &mut self.asleep[state as usize];
        if *known & !set & !MARK == 0 {
            return;
        }
        let was_marked = *known & MARK != 0;
        *known &= set | MARK;
        if state < next && !was_marked {
            *known |= MARK;
            self.again.push_back(state);
        }
    }

    /// The machines that are asleep in a state.
    pub fn of(&self, state: u32) -> u64 {
        self.asleep.get(state as usize).map_or(0, |set| set & !MARK)
    }

    pub fn wake(&mut self, state: u32, slots: u64) {
        if self.is_on {
            self.asleep[state as usize] &= !slots;
        }
    }

    /// A state was expanded, in order of numbers: which machines are stepped, and whether these are blocked in turn.
    pub fn looked_at(&mut self, slots: u64, is_blocking: bool) {
        if self.is_on {
            self.stepped.push(slots | if is_blocking { MARK } else { 0 });
        }
    }

    /// The machines that are stepped in an expanded state, and whether these are blocked in turn.
    pub fn stepped(&self, state: u32) -> (u64, bool) {
        let slots = self.stepped[state as usize];
        (slots & !MARK, slots & MARK != 0)
    }

    /// A state that must be explored again.
    pub fn next(&mut self) -> Option<u32> {
        let state = self.again.pop_front()?;
        self.asleep[state as usize] &= !MARK;
        Some(state)
    }

    /// There are so many slots. If these are too many, all are woken for good.
    pub fn has_slots(&mut self, n_slots: usize) {
        if !self.is_on || n_slots <= N_BITS {
            return;
        }
        self.is_on = false;
        for (state, set) in self.asleep.iter_mut().enumerate() {
            if state < self.stepped.len() && *set & !MARK != 0 && *set & MARK == 0 {
                self.again.push_back(state as u32);
            }
            *set = 0;
        }
    }
}

/// The bit of a slot; none beyond the last.
pub(crate) fn bit(slot: Slot) -> u64 {
    if (slot.index()) < N_BITS { 1 << slot.as_u32() } else { 0 }
}

/// The slots of a set, in order.
pub(crate) fn slots(set: u64) -> impl Iterator<Item = Slot> {
    std::iter::successors((set != 0).then_some(set), |&set| {
        let rest = set & (set - 1);
        (rest != 0).then_some(rest)
    })
    .map(|set| Slot::from_u32(set.trailing_zeros()))
}
