//! Ctrl-C, limits of time, and memory that nobody counted, as one question: should the search stop?

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use allways_explore::Cancel;
use allways_run::StopReason;

static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Makes Ctrl-C ask the search to end with what it has. A second Ctrl-C ends the program at once.
pub fn listen() {
    // Without the handler Ctrl-C still ends the program, only less politely.
    let _ = ctrlc::set_handler(|| {
        if IS_INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(crate::exit::ExitStatus::Interrupted as i32);
        }
    });
}

pub fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Relaxed)
}

/// Between two looks at the memory of the process.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// What the process may have beside what the search counts.
const SPARE_BYTES: u64 = 128 << 20;

/// Stops at Ctrl-C, and after a time limit if there is one.
pub struct Stop {
    start: Instant,
    limit: Option<Duration>,
    memory: Option<u64>,
    /// What the process had before.
    base: u64,
    /// Milliseconds from the start to the next look.
    next_look: AtomicU64,
}

impl Stop {
    pub fn after(limit: Option<Duration>) -> Self {
        Stop { start: Instant::now(), limit, memory: None, base: 0, next_look: AtomicU64::new(0) }
    }

    /// Also when the process has clearly more memory than the search may use: engines count what they keep, not
    /// what one handler with very many choices needs while it is worked out.
    pub fn or_beyond(self, memory: Option<u64>) -> Self {
        Stop { memory, base: resident_bytes().unwrap_or(0), ..self }
    }

    fn is_beyond(&self, memory: u64) -> bool {
        let now = self.start.elapsed().as_millis() as u64;
        if now < self.next_look.load(Ordering::Relaxed) {
            return false;
        }
        self.next_look.store(now + LOOK_EVERY.as_millis() as u64, Ordering::Relaxed);
        resident_bytes().is_some_and(|bytes| bytes > self.base + memory + memory / 8 + SPARE_BYTES)
    }
}

impl Cancel for Stop {
    fn reason(&self) -> Option<StopReason> {
        if is_interrupted() {
            return Some(StopReason::Interrupted);
        }
        if let Some(bytes) = self.memory
            && self.is_beyond(bytes)
        {
            return Some(StopReason::Memory { bytes });
        }
        let limit = self.limit?;
        (self.start.elapsed() >= limit).then_some(StopReason::Time(limit))
    }
}

/// Memory of this process, where the system tells.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn memory_that_nobody_counted_stops_a_search() {
        let limit = Some(SPARE_BYTES);
        assert_eq!(Stop::after(None).or_beyond(limit).reason(), None);
        let stop = Stop::after(None).or_beyond(limit);
        let uncounted = vec![1u8; 3 * SPARE_BYTES as usize];
        assert_eq!(stop.reason(), Some(StopReason::Memory { bytes: SPARE_BYTES }));
        drop(uncounted);
        assert_eq!(Stop::after(None).or_beyond(None).reason(), None);
    }
}
