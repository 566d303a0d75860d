//! Exhaustive, explicit-state search: terminates with a proof, a shortest counterexample, or a report of what was covered.
//!
//! A handler is a function of its machine's local state and of the message. So it is run once for each such pair, by the kernel, and
//! its outcomes are remembered. Everything about one machine is interned to a number, its *local state* (collapse compression); a
//! *configuration* is a short state vector of such numbers, monitors first; a global step replaces two or three of them. The visited
//! set holds one 64-bit key per configuration, updated incrementally: a fingerprint of the content or, in the exact store, a pair of numbers that
//! names the vector uniquely.
//!
//! Reading order: [`options`], [`report`], [`local`] (interned local states, their steps, messages in flight, and what each thread remembers
//! of them), [`expand`] (the steps of a vector), [`successors`] (which of them are taken, for which purpose), [`context`] (what searches share), [`store`] (visited sets), [`order`] (breadth first on all cores; depth first), [`reduce`]
//! (reductions), [`counterexample`] (from "there is a violation" to a schedule that replays), [`liveness`] (infinite runs), [`growth`] (why
//! a search did not terminate), [`distribute`] (several processes, and checkpoints).
//!
//! Deterministic: numbers of local states depend on the order of interning, and so on threads, but neither keys of the
//! fingerprint store nor counts do; and once a violation is known to exist, its counterexample is searched for again in a fixed order.

pub(crate) mod context;
pub(crate) mod counterexample;
pub mod distribute;
pub(crate) mod expand;
pub(crate) mod growth;
pub(crate) mod liveness;
pub(crate) mod local;
pub mod options;
pub(crate) mod order;
pub(crate) mod prove;
pub(crate) mod reduce;
pub mod report;
pub(crate) mod stop;
pub(crate) mod store;
pub(crate) mod successors;
pub(crate) mod survey;
pub(crate) mod variables;

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use allways_machine::Executable;
use allways_run::StopReason;
pub use growth::{Growth, GrowthKind};
pub use options::{ProveOptions, SearchBounds, StoreKind};
pub use order::Order;
pub use prove::{prove, survey};
pub use reduce::quotient::{Quotient, check_quotient};
pub use reduce::table::{Obstacle, REDUCTIONS, Reduction, Reductions, Setting};
pub use report::{Covered, ProveReport, ProveStatistics, Remarks, Saved, SeenViolation, WideChoice};
pub use store::runs::{Scratch, ScratchFile, Spill};
pub use survey::Survey;
pub use variables::VariableBounds;

/// Why nothing can be said by searches that tell configurations apart by the names of machines, not by their numbers: the program
/// may observe these.
pub(crate) fn observed_text(exe: &Executable) -> Option<StopReason> {
    exe.observed_text.map(|place| StopReason::ObservedText { place })
}

/// Looks at a lock that are made before the thread goes to sleep.
const LOOKS: u32 = 200;

/// All locks of the search are held for microseconds, which is less than it takes to sleep and be woken.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    for _ in 0..LOOKS {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => (0..8).for_each(|_| std::hint::spin_loop()),
        }
    }
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
