//! Keeps in mind that an engine was asked to stop, and why.

use std::sync::OnceLock;

use allways_explore::Cancel;
use allways_run::StopReason;

/// Answers as another does, and keeps the first reason to stop that was given.
pub(crate) struct Noted<'a> {
    cancel: &'a dyn Cancel,
    first: OnceLock<StopReason>,
}

impl<'a> Noted<'a> {
    pub fn new(cancel: &'a dyn Cancel) -> Self {
        Noted { cancel, first: OnceLock::new() }
    }

    /// Why the engine was asked to stop, if it was.
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
