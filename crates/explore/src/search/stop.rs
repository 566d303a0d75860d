//! A stop signal that stays set. Whatever saw the signal has left something out, and a limit of memory may be exceeded only for a
//! moment, while one step with very many outcomes is computed: later phases must not take the rest for everything.

use allways_run::{Cancel, Noted, StopReason};

pub(crate) struct StickyCancel<'a>(Noted<'a>);

impl<'a> StickyCancel<'a> {
    pub fn new(cancel: &'a dyn Cancel) -> Self {
        StickyCancel(Noted::new(cancel))
    }

    /// The first reason that was given, if there was one.
    pub fn first_reason(&self) -> Option<StopReason> {
        self.0.first()
    }
}

impl Cancel for StickyCancel<'_> {
    fn reason(&self) -> Option<StopReason> {
        match self.0.reason() {
            // A user who interrupts is answered, whatever came before.
            Some(StopReason::Interrupted) => Some(StopReason::Interrupted),
            _ => self.0.first(),
        }
    }

    fn last_reason(&self) -> Option<StopReason> {
        self.0.cancel.last_reason()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn the_first_reason_stays() {
        let n_asked = AtomicU32::new(0);
        let memory = StopReason::Memory { bytes: 7 };
        let cancel = || match n_asked.fetch_add(1, Ordering::Relaxed) {
            1 => Some(StopReason::Memory { bytes: 7 }),
            3 => Some(StopReason::Interrupted),
            _ => None,
        };
        let cancel = StickyCancel::new(&cancel);
        assert_eq!((cancel.reason(), cancel.first_reason()), (None, None));
        assert_eq!(cancel.reason(), Some(memory.clone()));
        assert_eq!(cancel.reason(), Some(memory.clone()));
        assert_eq!(cancel.reason(), Some(StopReason::Interrupted));
        assert_eq!(cancel.first_reason(), Some(memory));
    }
}
