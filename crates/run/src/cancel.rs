//! Why a search should stop. Clocks, signals and the memory of the process are behind one question, so that long
//! work can ask it: engines between steps, the kernel inside a handler.

use std::sync::OnceLock;

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

/// Answers as another does, and keeps the first reason to stop that was given.
pub struct Noted<'a> {
    pub cancel: &'a dyn Cancel,
    first: OnceLock<StopReason>,
}

impl<'a> Noted<'a> {
    pub fn new(cancel: &'a dyn Cancel) -> Self {
        Noted { cancel, first: OnceLock::new() }
    }

    /// The first reason that was given, if there was one.
    pub fn first(&self) -> Option<StopReason> {
        self.first.get().cloned()
    }

    fn note(&self, reason: Option<StopReason>) -> Option<StopReason> {
        if let Some(reason) = &reason {
            self.first.get_or_init(|| reason.clone());
        }
        reason
    }
}

impl Cancel for Noted<'_> {
    fn reason(&self) -> Option<StopReason> {
        self.note(self.cancel.reason())
    }

    fn last_reason(&self) -> Option<StopReason> {
        self.note(self.cancel.last_reason())
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
