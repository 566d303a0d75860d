//! Ctrl-C, a request to terminate, limits of time and memory, as one question: should the search stop?

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use allways_explore::Cancel;
use allways_run::StopReason;

static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Makes Ctrl-C, and a request to terminate, ask the search to end with what it has. A second one ends the program at once.
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

/// Between two checks of the memory of the process.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// What the process may have beside what the search counts: caches of the allocator, output.
const SPARE_BYTES: u64 = 24 << 20;
/// How long finishing what was found may take beyond a limit: this, or a twentieth of the limit if that is more.
const LAST_CALL: Duration = Duration::from_millis(1_000);

/// Stops at Ctrl-C or a request to terminate, and at limits of time and memory if there are some.
pub struct Stop {
    start: Instant,
    limit: Option<Duration>,
    memory: Option<u64>,
    /// What the process had before.
    base: u64,
    /// Milliseconds from the start to the next look.
    next_look: AtomicU64,
    /// What the last look saw.
    resident: AtomicU64,
    /// Milliseconds from the start to the moment of a reason to stop, plus one.
    stopped_at: AtomicU64,
    /// The same for the first reason that was seen by [`is_beyond_last_call`](Self::is_beyond_last_call).
    seen_at: AtomicU64,
}

impl Stop {
    pub fn after(limit: Option<Duration>) -> Self {
        Stop {
            start: Instant::now(),
            limit,
            memory: None,
            base: 0,
            next_look: AtomicU64::new(0),
            resident: AtomicU64::new(0),
            stopped_at: AtomicU64::new(0),
            seen_at: AtomicU64::new(0),
        }
    }

    /// Also when the process has more memory than the search may use: engines count what they keep, not what one
    /// handler needs while it is worked out.
    pub fn or_beyond(self, memory: Option<u64>) -> Self {
        Stop { memory, base: resident_bytes().unwrap_or(0), ..self }
    }

    fn elapsed(&self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }

    /// Bytes of the process, as of a moment ago.
    fn resident(&self) -> u64 {
        let now = self.elapsed();
        if now >= self.next_look.load(Ordering::Relaxed) {
            self.next_look.store(now + LOOK_EVERY.as_millis() as u64, Ordering::Relaxed);
            self.resident.store(resident_bytes().unwrap_or(0), Ordering::Relaxed);
        }
        self.resident.load(Ordering::Relaxed)
    }

    fn is_beyond(&self, memory: u64) -> bool {
        self.resident() > self.base + memory + memory / 16 + SPARE_BYTES
    }

    /// Why to stop now, if there is a reason, without recording that it was asked.
    fn standing_reason(&self) -> Option<StopReason> {
        if is_interrupted() {
            return Some(StopReason::Interrupted);
        }
        if let Some(bytes) = self.memory.filter(|&bytes| self.is_beyond(bytes)) {
            return Some(StopReason::Memory { bytes });
        }
        self.limit.filter(|&limit| self.start.elapsed() >= limit).map(StopReason::Time)
    }

    /// How much longer finishing may take than searching.
    fn last_call(&self) -> u64 {
        self.limit.map_or(LAST_CALL, |limit| LAST_CALL.max(limit / 20)).as_millis() as u64
    }

    /// Whether there has been a reason to stop for so long that even work which finishes what was found has ended, if it asks.
    pub fn is_beyond_last_call(&self) -> bool {
        if self.standing_reason().is_none() {
            self.seen_at.store(0, Ordering::Relaxed);
            return false;
        }
        let now = self.elapsed() + 1;
        let seen = self.seen_at.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        seen.is_err_and(|seen| now >= seen + self.last_call())
    }
}

impl Cancel for Stop {
    fn reason(&self) -> Option<StopReason> {
        let reason = self.standing_reason()?;
        let now = self.elapsed() + 1;
        let _ = self.stopped_at.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        Some(reason)
    }

    fn last_reason(&self) -> Option<StopReason> {
        // What is freed stays with the process, so that there is no second limit on it before the first one.
        if let Some(bytes) = self.memory
            && self.resident() > self.base + memory_at_last(bytes)
        {
            return Some(StopReason::Memory { bytes });
        }
        self.reason()?;
        let is_late = self.elapsed() >= self.stopped_at.load(Ordering::Relaxed) + self.last_call();
        if is_late { self.reason() } else { None }
    }
}

/// What finishing may use.
fn memory_at_last(bytes: u64) -> u64 {
    bytes + bytes / 3 + SPARE_BYTES + SPARE_BYTES / 2
}

/// Memory of this process, where the system tells.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    // Pages of other sizes are counted in these.
    Some(pages * 4096)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn uncounted_memory_stops_a_search() {
        let limit = Some(SPARE_BYTES);
        assert_eq!(Stop::after(None).or_beyond(limit).reason(), None);
        let stop = Stop::after(None).or_beyond(limit);
        let uncounted = vec![1u8; 3 * SPARE_BYTES as usize];
        assert_eq!(stop.reason(), Some(StopReason::Memory { bytes: SPARE_BYTES }));
        drop(uncounted);
        assert_eq!(Stop::after(None).or_beyond(None).reason(), None);
    }
}
