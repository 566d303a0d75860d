//! Limits hold also for work that does not ask whether to stop.
//!
//! Engines ask every few milliseconds, but what is worked out about a program before a search begins asks no clock, and takes long if the
//! program is very large. So the work has a thread of its own, which is left alone when it does not heed a limit: the process ends soon after.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::interrupt::Stop;

/// Between two looks at the limits.
const TICK: Duration = Duration::from_millis(20);
/// How long work that heeds limits may still take after its last call, if it has a processor; a busy machine may give it none.
const GRACE: Duration = Duration::from_millis(700);
const GRACE_WITHOUT_PROCESSOR: Duration = Duration::from_secs(10);
/// As much as the main thread has.
const STACK_BYTES: usize = 8 << 20;

/// What some work gives back; `None` when it goes on beyond its limits.
pub fn run<T: Send + 'static>(stop: &Arc<Stop>, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        // The receiver may be gone.
        let _ = sender.send(panic::catch_unwind(AssertUnwindSafe(work)));
    });
    worker.ok()?;
    let mut overdue: Option<(Instant, Duration)> = None;
    loop {
        match receiver.recv_timeout(TICK) {
            Ok(Ok(found)) => return Some(found),
            Ok(Err(payload)) => panic::resume_unwind(payload),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if !stop.is_beyond_last_call() {
            overdue = None;
            continue;
        }
        let (since, used) = *overdue.get_or_insert_with(|| (Instant::now(), processor_time()));
        let waited = since.elapsed();
        let is_given_up = waited >= GRACE && processor_time().saturating_sub(used) >= GRACE;
        if is_given_up || waited >= GRACE_WITHOUT_PROCESSOR {
            return None;
        }
    }
}

/// What this process has used of all processors; the time of the clock where the system does not say.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program is in parentheses and may hold anything. User and system time are the 14th and 15th field.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
    match (ticks(11), ticks(12)) {
        (Some(user), Some(system)) => Duration::from_millis((user + system) * 10),
        _ => std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_heeds_no_limit_is_left_alone() {
        let stop = || Arc::new(Stop::after(Some(Duration::ZERO)));
        assert_eq!(run(&stop(), || 5), Some(5));
        let deaf = || -> u64 {
            let mut n = 0u64;
            loop {
                n = std::hint::black_box(n.wrapping_add(1));
            }
        };
        assert_eq!(run(&stop(), deaf), None);
    }
}
