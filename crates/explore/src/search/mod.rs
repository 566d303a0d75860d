//! Exhaustive exploration: ends with a proof, a shortest counterexample, or with what was covered.
//!
//! A handler is a function of where its machine stands and of the message. So it is run once for each such pair, by the
//! kernel, and its outcomes are remembered. Everything about one machine is interned to a number, its *local state*; a
//! *configuration* is a short vector of local states, monitors first; and a global step replaces two or three numbers of it.
//! What was seen is told apart by a 64-bit key that is kept up to date by such differences: a fingerprint of the
//! content, or, in the exact store, a pair of numbers that names the vector uniquely.
//!
//! Reading order: [`options`], [`report`], `states` (interning, and below it local steps by the kernel), `network` (what is on
//! its way, likewise), `memo` (what each thread
//! remembers of them, in a `pair_table`), `expand` (successors of a vector), `table` (the set of keys), `tree` (exact keys), `breadth` (the
//! search proper, on all cores, which meet at a `barrier`), `reduce` (what need not be looked at), `depth` (depth first, and by iterative deepening), `witness` (from "there is a
//! violation" to a schedule that replays), `graph` (liveness), `growth` (why a search came to no end, by the `size` of values).
//!
//! Deterministic: numbers of local states depend on the order of interning, and so on threads, but neither keys of the
//! fingerprint store nor counts do; and the counterexample is looked for again, in a fixed order, once it is known
//! that there is one.

pub(crate) mod counterexample;
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
pub(crate) mod survey;
pub(crate) mod variables;

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use allways_machine::Executable;
use allways_run::StopReason;
pub use growth::{Growth, GrowthKind};
pub use options::{Order, ProveOptions, Reductions, SearchBounds, StoreKind};
pub use prove::prove;
pub use report::{Covered, ProveReport, ProveStatistics, Remarks, Saved, SeenViolation, WideChoice};
pub use survey::{Survey, survey};
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
