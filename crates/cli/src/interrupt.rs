//! Ctrl-C and time limits, as one question: should the search stop?

use std::sync::atomic::{AtomicBool, Ordering};
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

/// Stops at Ctrl-C, and after a time limit if there is one.
pub struct Stop {
    start: Instant,
    limit: Option<Duration>,
}

impl Stop {
    pub fn after(limit: Option<Duration>) -> Self {
        Stop { start: Instant::now(), limit }
    }
}

impl Cancel for Stop {
    fn reason(&self) -> Option<StopReason> {
        if is_interrupted() {
            return Some(StopReason::Interrupted);
        }
        let limit = self.limit?;
        (self.start.elapsed() >= limit).then_some(StopReason::Time(limit))
    }
}
