//! Where threads wait for each other between rounds. Many rounds are shorter than it takes to sleep and be woken, so a thread
//! looks around for a while before it sleeps.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::search::lock;

/// Looks before sleep; together some 50 microseconds.
const LOOKS: u32 = 3_000;

pub(crate) struct Barrier {
    n_threads: usize,
    n_arrived: AtomicUsize,
    /// How often all have met.
    n_met: AtomicUsize,
    /// How many sleep.
    asleep: Mutex<usize>,
    wake: Condvar,
}

impl Barrier {
    pub fn new(n_threads: usize) -> Self {
        Barrier {
            n_threads,
            n_arrived: AtomicUsize::new(0),
            n_met: AtomicUsize::new(0),
            asleep: Mutex::new(0),
            wake: Condvar::new(),
        }
    }

    /// Comes back when all threads are here. What each did before, all see after.
    pub fn wait(&self) {
        let n_met = self.n_met.load(Ordering::Acquire);
        if self.n_arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.n_threads {
            self.n_arrived.store(0, Ordering::Relaxed);
            // Under the lock, so that no thread goes to sleep between the check and the call.
            let asleep = lock(&self.asleep);
            self.n_met.store(n_met.wrapping_add(1), Ordering::Release);
            if *asleep > 0 {
                self.wake.notify_all();
            }
            return;
        }
        for _ in 0..LOOKS {
            if self.n_met.load(Ordering::Acquire) != n_met {
                return;
            }
            std::hint::spin_loop();
        }
        let mut asleep = lock(&self.asleep);
        *asleep += 1;
        while self.n_met.load(Ordering::Acquire) == n_met {
            asleep = self.wake.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
        *asleep -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    #[test]
    fn no_thread_continues_before_all_arrived() {
        const N: u64 = 3;
        let barrier = Barrier::new(N as usize);
        let count = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..N {
                scope.spawn(|| {
                    for round in 1..=1_000 {
                        count.fetch_add(1, Ordering::Relaxed);
                        barrier.wait();
                        assert_eq!(count.load(Ordering::Relaxed), round * N);
                        barrier.wait();
                    }
                });
            }
        });
    }
}
