//! The progress line: on standard error, and only when a person watches it.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use allways_run::{Observer, Progress};

use crate::printer;

const PERIOD: Duration = Duration::from_millis(100);

/// Draws the figures of a search on one line, over and over.
pub struct ProgressLine {
    title: String,
    is_shown: bool,
    state: Mutex<State>,
}

struct State {
    start: Instant,
    last: Instant,
    is_drawn: bool,
}

impl ProgressLine {
    pub fn new(title: &str, is_shown: bool) -> Self {
        let now = Instant::now();
        ProgressLine {
            title: title.to_owned(),
            is_shown: is_shown && printer::err_is_terminal(),
            state: Mutex::new(State { start: now, last: now, is_drawn: false }),
        }
    }

    /// Takes the line away.
    pub fn finish(&self) {
        if let Ok(state) = self.state.lock()
            && state.is_drawn
        {
            printer::err("\r\x1b[K");
        }
    }
}

impl Observer for ProgressLine {
    fn progress(&self, progress: &Progress) {
        if !self.is_shown {
            return;
        }
        // A thread that finds another one drawing has nothing to add.
        let Ok(mut state) = self.state.try_lock() else { return };
        if state.last.elapsed() < PERIOD {
            return;
        }
        state.last = Instant::now();
        state.is_drawn = true;
        let seconds = state.start.elapsed().as_secs_f64().max(0.001);
        let mut line = format!("\r\x1b[K{}:", self.title);
        if let Some(n) = progress.n_schedules {
            let _ = write!(line, " {n} schedules,");
        }
        if let Some(n) = progress.n_configurations {
            let _ = write!(line, " {n} configurations ({:.0} k/s),", n as f64 / seconds / 1e3);
        }
        if let Some(n) = progress.frontier {
            let _ = write!(line, " frontier {n},");
        }
        let _ = write!(
            line,
            " {:.0} k steps/s, depth {}",
            progress.n_steps as f64 / seconds / 1e3,
            progress.depth
        );
        if let Some(n) = progress.n_covered {
            let _ = write!(line, ", {n} things covered");
        }
        if let Some(bytes) = progress.bytes {
            let _ = write!(line, ", {} MB", bytes >> 20);
        }
        printer::err(&line);
    }
}
