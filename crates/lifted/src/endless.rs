//! Handlers without end, in lifted execution: a thread that comes back to a state of its own.
//!
//! As in the kernel (`kernel/effort.rs`), a copy of a thread is kept and compared with what follows, and renewed at growing distances (R. P. Brent, 1980).
//! Where the thread is at the same point with the same values, and has neither chosen nor observed anything since, it does the same for ever.
//! Only these cases count: a handler that chooses repeats a state and may end all the same.

use allways_run::ViolationKind;

use crate::guard::Guard;
use crate::local::LiftedLocal;
use crate::run::{Lifted, Thread, is_same_point};
use crate::summary::Shared;

/// Ops before the first copy.
const FIRST_COPY: u64 = 1 << 12;
/// Comparisons with one copy.
const MAX_WATCHED: u32 = 1 << 8;

/// A copy of a thread of the machine that runs.
pub(crate) struct Watch {
    copy: Option<(Thread, Vec<Shared>)>,
    next_copy: u64,
    n_watched: u32,
    /// Where something was chosen or observed since the copy.
    pub blurred: Guard,
}

impl Default for Watch {
    fn default() -> Self {
        Watch { copy: None, next_copy: FIRST_COPY, n_watched: 0, blurred: Guard::FALSE }
    }
}

impl Watch {
    /// Takes the runs away from a thread that go round for ever; they break a property.
    pub fn look(&mut self, lifted: &mut Lifted<'_>, local: &LiftedLocal, n_ops: u64, thread: &mut Thread) {
        if n_ops >= self.next_copy {
            self.next_copy = 2 * n_ops;
            self.n_watched = MAX_WATCHED;
            self.blurred = Guard::FALSE;
            self.copy = Some((thread.clone(), local.registers.clone()));
            return;
        }
        let Some((copy, registers)) = &self.copy else { return };
        if self.n_watched == 0 || !is_same_point(copy, thread) {
            return;
        }
        self.n_watched -= 1;
        let values = &mut lifted.values;
        let mut same = values.guards.and(copy.guard, thread.guard);
        same = values.guards.minus(same, self.blurred);
        for (before, now) in registers.iter().zip(&local.registers).take(thread.local.registers.len()) {
            if same.is_false() {
                return;
            }
            let equal = values.same(before, now);
            same = values.guards.and(same, equal);
        }
        if !same.is_false() && values.guards.halted().is_none() {
            thread.guard = values.guards.minus(thread.guard, same);
            lifted.fail(same, ViolationKind::EndlessHandler);
        }
    }
}
