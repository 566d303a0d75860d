//! The end of a race, and the pace of the engines in it.
//!
//! Engines ask often whether to stop. One that should leave the processor to others is held for a moment when it asks:
//! of each [`PERIOD`] it works a share and sleeps the rest. This needs no help from the engine and nothing of the operating system.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use allways_explore::Cancel;
use allways_run::StopReason;

const PERIOD: Duration = Duration::from_millis(64);
/// Of a sleep, so that a user who interrupts does not wait for its end.
const SLICE: Duration = Duration::from_millis(16);

/// The share of an engine that works without pause.
pub(super) const WHOLE: u32 = 64;

/// Says when all is over, also to engines that sleep.
#[derive(Default)]
pub(super) struct Finish {
    is_over: AtomicBool,
    sleepers: Mutex<()>,
    wake: Condvar,
}

impl Finish {
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    pub fn end(&self) {
        let _guard = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_over.store(true, Ordering::Relaxed);
        self.wake.notify_all();
    }

    fn sleep(&self, time: Duration) {
        let guard = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_over() {
            drop(self.wake.wait_timeout(guard, time));
        }
    }
}

/// The stop signal of one engine in a race.
pub(super) struct Paced<'a> {
    pub cancel: &'a dyn Cancel,
    pub finish: &'a Finish,
    /// It alone is to stop.
    pub is_stopped: &'a AtomicBool,
    /// Of [`WHOLE`].
    pub share: &'a AtomicU32,
    pub start: Instant,
}

impl Paced<'_> {
    /// How long to sleep now.
    fn rest(&self) -> Option<Duration> {
        let share = self.share.load(Ordering::Relaxed);
        if share >= WHOLE {
            return None;
        }
        let period = PERIOD.as_nanos() as u64;
        let at = self.start.elapsed().as_nanos() as u64 % period;
        let work = period / u64::from(WHOLE) * u64::from(share);
        (at >= work).then(|| Duration::from_nanos(period - at).min(SLICE))
    }
}

impl Cancel for Paced<'_> {
    fn reason(&self) -> Option<StopReason> {
        loop {
            if let Some(reason) = self.cancel.reason() {
                return Some(reason);
            }
            if self.finish.is_over() || self.is_stopped.load(Ordering::Relaxed) {
                return Some(StopReason::Interrupted);
            }
            self.finish.sleep(self.rest()?);
        }
    }

    fn last_reason(&self) -> Option<StopReason> {
        self.cancel.last_reason()
    }
}

#[cfg(test)]
mod tests {
    use allways_explore::Never;

    use super::*;

    #[test]
    fn one_without_a_share_sleeps_until_the_end() {
        let (finish, is_stopped, share) = (Finish::default(), AtomicBool::new(false), AtomicU32::new(WHOLE));
        let paced = Paced {
            cancel: &Never,
            finish: &finish,
            is_stopped: &is_stopped,
            share: &share,
            start: Instant::now(),
        };
        assert_eq!(paced.reason(), None);
        share.store(0, Ordering::Relaxed);
        std::thread::scope(|scope| {
            let asleep = scope.spawn(|| paced.reason());
            finish.end();
            assert_eq!(asleep.join().unwrap(), Some(StopReason::Interrupted));
        });
        let stopped = AtomicBool::new(true);
        let finish = Finish::default();
        let paced = Paced { finish: &finish, is_stopped: &stopped, ..paced };
        assert_eq!(paced.reason(), Some(StopReason::Interrupted));
    }
}
