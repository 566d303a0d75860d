//! Why a search should stop. Clocks, signals and the memory of the process are behind one question, so that whoever works
//! for long can ask it: engines between steps, the kernel inside a handler.

use crate::StopReason;

/// Asked from time to time, from any thread, whether to stop.
pub trait Cancel: Sync {
    fn reason(&self) -> Option<StopReason>;

    /// The same for work that finishes what was found: a counterexample is replayed and written although the limit is
    /// reached, but not for long.
    fn last_reason(&self) -> Option<StopReason> {
        None
    }
}

/// Stops work that finishes what was found.
pub struct LastCall<'a>(pub &'a dyn Cancel);

impl Cancel for LastCall<'_> {
    fn reason(&self) -> Option<StopReason> {
        self.0.last_reason()
    }

    fn last_reason(&self) -> Option<StopReason> {
        self.0.last_reason()
    }
}

/// A search with a limit of its own beside the common one.
pub struct Either<'a, F>(pub &'a dyn Cancel, pub F);

impl<F: Fn() -> Option<StopReason> + Sync> Cancel for Either<'_, F> {
    fn reason(&self) -> Option<StopReason> {
        self.0.reason().or_else(&self.1)
    }

    fn last_reason(&self) -> Option<StopReason> {
        self.0.last_reason()
    }
}

impl<F: Fn() -> Option<StopReason> + Sync> Cancel for F {
    fn reason(&self) -> Option<StopReason> {
        self()
    }
}

/// Lets a search run to its end.
#[derive(Clone, Copy, Default, Debug)]
pub struct Never;

impl Cancel for Never {
    fn reason(&self) -> Option<StopReason> {
        None
    }
}
