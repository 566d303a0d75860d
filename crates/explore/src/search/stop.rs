//! A reason to stop that was told once stays. Whoever was told has left something out, and a limit of memory may be met for a
//! moment only, while one step with very many outcomes is worked out: what comes after must not take the rest for all.

use std::sync::OnceLock;

use allways_run::{Cancel, StopReason};

pub(crate) struct StickyCancel<'a> {
    cancel: &'a dyn Cancel,
    first: OnceLock<StopReason>,
}

impl<'a> StickyCancel<'a> {
    pub fn new(cancel: &'a dyn Cancel) -> Self {
        StickyCancel { cancel, first: OnceLock::new() }
    }

    /// What was told, if anybody asked when there was something to tell.
    pub fn told(&self) -> Option<StopReason> {
        self.first.get().cloned()
    }
}

impl Cancel for StickyCancel<'_> {
    fn reason(&self) -> Option<StopReason> {
        match self.cancel.reason() {
            // A user who interrupts is answered, whatever came before.
            Some(StopReason::Interrupted) => {
                self.first.get_or_init(|| StopReason::Interrupted);
                Some(StopReason::Interrupted)
            }
            Some(reason) => Some(self.first.get_or_init(|| reason).clone()),
            None => self.told(),
        }
    }

    fn last_reason(&self) -> Option<StopReason> {
        self.cancel.last_reason()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn what_was_told_stays() {
        let n_asked = AtomicU32::new(0);
        let memory = StopReason::Memory { bytes: 7 };
        let cancel = || match n_asked.fetch_add(1, Ordering::Relaxed) {
            1 => Some(StopReason::Memory { bytes: 7 }),
            3 => Some(StopReason::Interrupted),
            _ => None,
        };
        let told = StickyCancel::new(&cancel);
        assert_eq!((told.reason(), told.told()), (None, None));
        assert_eq!(told.reason(), Some(memory.clone()));
        assert_eq!(told.reason(), Some(memory.clone()));
        assert_eq!(told.reason(), Some(StopReason::Interrupted));
        assert_eq!(told.told(), Some(memory));
    }
}
