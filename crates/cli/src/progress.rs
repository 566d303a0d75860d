//! The progress line: on standard error, and only when a person watches it.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use allways_run::{Observer, Progress};

use crate::printer;

const PERIOD: Duration = Duration::from_millis(100);

/// Back to the beginning of the line, which is emptied.
const CLEAR: &str = "\r\x1b[K";
/// A line that is too long for the terminal is cut off: of one that goes on in the next row, only that row could be taken away.
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";
/// Names of parameterized tests can be longer than a terminal.
const MAX_TITLE: usize = 30;

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
            title: short(title),
            is_shown: is_shown && printer::err_is_terminal(),
            state: Mutex::new(State { start: now, last: now, is_drawn: false }),
        }
    }

    /// Takes the line away.
    pub fn finish(&self) {
        if let Ok(state) = self.state.lock()
            && state.is_drawn
        {
            printer::err(CLEAR);
        }
    }
}

/// A title that leaves room for figures.
fn short(title: &str) -> String {
    match title.char_indices().nth(MAX_TITLE) {
        Some((end, _)) => format!("{}…", &title[..end]),
        None => title.to_owned(),
    }
}

impl ProgressLine {
    /// Draws what `text` makes of the seconds since the start, unless the last drawing was a moment ago.
    pub fn draw(&self, text: impl FnOnce(f64) -> String) {
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
        printer::err(&format!("{CLEAR}{NO_WRAP}{}:{}{WRAP}", self.title, text(seconds)));
    }
}

impl Observer for ProgressLine {
    fn progress(&self, progress: &Progress) {
        self.draw(|seconds| line(progress, seconds));
    }
}

/// The figures of a search.
fn line(progress: &Progress, seconds: f64) -> String {
    let mut line = String::new();
    if let Some(n) = progress.n_schedules {
        let _ = write!(line, " {n} schedules,");
    }
    if let Some(phase) = progress.phase {
        // What it costs has nothing to do with the time before it.
        let _ = write!(line, " {phase}, {} configurations", progress.n_configurations.unwrap_or(0));
        return line;
    }
    if let Some(n) = progress.n_configurations {
        let _ = write!(line, " {n} configurations ({:.0} k/s),", n as f64 / seconds / 1e3);
    }
    if let Some(n) = progress.frontier {
        let _ = write!(line, " frontier {n},");
    }
    let _ = match progress.n_nodes {
        Some(n) => write!(line, " {} k operations, {} k nodes", progress.n_steps / 1000, n / 1000),
        None => {
            let rate = progress.n_steps as f64 / seconds / 1e3;
            write!(line, " {rate:.0} k steps/s, depth {}", progress.depth)
        }
    };
    if let Some(n) = progress.n_covered {
        let _ = write!(line, ", {n} things covered");
    }
    if let Some(bytes) = progress.bytes {
        let _ = write!(line, ", {} MB", bytes >> 20);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_titles_are_cut_between_characters() {
        assert_eq!(short("tcOne"), "tcOne");
        let long = "ä".repeat(MAX_TITLE + 1);
        assert_eq!(short(&long), "ä".repeat(MAX_TITLE) + "…");
    }
}
