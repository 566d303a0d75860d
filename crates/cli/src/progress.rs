//! The progress line: on standard error, and only when a person watches it.
//!
//! Engines report figures when they have some. A thread of its own redraws the line with the time that has passed, so
//! that it never stands still, and cuts it to the width of the terminal.

use std::fmt::Write as _;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use allways_run::{Observer, Progress};

use crate::printer;

/// Between two drawings of figures.
const PERIOD: Duration = Duration::from_millis(100);
/// Between two drawings when no figures come.
const TICK: Duration = Duration::from_millis(500);

/// Back to the beginning of the line, which is emptied.
const CLEAR: &str = "\r\x1b[K";
/// Names of parameterized tests can be longer than a terminal.
const MAX_TITLE: usize = 30;
/// Where the terminal does not say how wide it is.
const USUAL_WIDTH: usize = 80;

/// When a search ends at the latest: for the estimate.
#[derive(Clone, Copy, Default)]
pub struct Goal {
    pub n_schedules: Option<u64>,
    pub seconds: Option<u64>,
}

/// Draws the figures of a search on one line, over and over.
pub struct ProgressLine {
    shared: Arc<Shared>,
    ticker: Option<JoinHandle<()>>,
    is_shown: bool,
    goal: Goal,
}

struct Shared {
    title: String,
    start: Instant,
    state: Mutex<State>,
    has_ended: Condvar,
}

struct State {
    last: Instant,
    figures: String,
    is_drawn: bool,
    is_done: bool,
}

impl ProgressLine {
    pub fn new(title: &str, is_shown: bool) -> Self {
        Self::with_goal(title, is_shown, Goal::default())
    }

    pub fn with_goal(title: &str, is_shown: bool, goal: Goal) -> Self {
        let now = Instant::now();
        let state = State { last: now, figures: String::new(), is_drawn: false, is_done: false };
        let shared = Arc::new(Shared {
            title: short(title),
            start: now,
            state: Mutex::new(state),
            has_ended: Condvar::new(),
        });
        let is_shown = is_shown && printer::shows_progress();
        let ticker = is_shown.then(|| {
            let shared = shared.clone();
            std::thread::spawn(move || shared.tick())
        });
        ProgressLine { shared, ticker, is_shown, goal }
    }

    /// Takes the line away until the next drawing, to make room for other output.
    pub fn clear(&self) {
        self.shared.clear(&mut self.shared.state.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Takes the line away for good.
    pub fn finish(&self) {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_done = true;
        self.shared.has_ended.notify_all();
        self.shared.clear(&mut state);
    }

    /// Draws what `text` makes of the seconds since the start, unless the last drawing was a moment ago.
    pub fn draw(&self, text: impl FnOnce(f64) -> String) {
        if !self.is_shown {
            return;
        }
        // A thread that finds another one drawing has nothing to add.
        let Ok(mut state) = self.shared.state.try_lock() else { return };
        if state.is_done || state.last.elapsed() < PERIOD {
            return;
        }
        state.figures = text(self.shared.start.elapsed().as_secs_f64().max(0.001));
        self.shared.draw(&mut state);
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.finish();
        if let Some(ticker) = self.ticker.take() {
            let _ = ticker.join();
        }
    }
}

impl Shared {
    fn clear(&self, state: &mut State) {
        if std::mem::take(&mut state.is_drawn) {
            printer::err(CLEAR);
        }
    }

    fn draw(&self, state: &mut State) {
        state.last = Instant::now();
        state.is_drawn = true;
        let seconds = self.start.elapsed().as_secs();
        let line = format!("{} {seconds} s:{}", self.title, state.figures);
        let width = printer::err_width().unwrap_or(USUAL_WIDTH);
        printer::err(&format!("{CLEAR}{}", fitted(&line, width)));
    }

    /// Redraws while no figures come.
    fn tick(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.is_done {
            let waited = self.has_ended.wait_timeout(state, TICK);
            state = waited.map_or_else(|error| error.into_inner().0, |(state, _)| state);
            if !state.is_done && state.last.elapsed() >= TICK {
                self.draw(&mut state);
            }
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

/// A line that leaves the last column of the terminal free: beyond it, some terminals begin another line.
fn fitted(line: &str, width: usize) -> String {
    let room = width.saturating_sub(1).max(1);
    if line.chars().count() <= room {
        return line.to_owned();
    }
    line.chars().take(room - 1).chain(['…']).collect()
}

impl Observer for ProgressLine {
    fn progress(&self, progress: &Progress) {
        self.draw(|seconds| line(progress, seconds, self.goal));
    }
}

/// The figures of a search.
fn line(progress: &Progress, seconds: f64, goal: Goal) -> String {
    let mut line = String::new();
    if let Some(n) = progress.n_schedules {
        let _ = write!(line, " {n} schedules,");
    }
    if let Some(phase) = progress.phase {
        // What it costs has nothing to do with the time before it.
        let _ = write!(line, " {phase}, {} configurations", progress.n_configurations.unwrap_or(0));
        return line;
    }
    if let Some(left) = left(progress, seconds, goal) {
        let _ = write!(line, " about {left} left,");
    }
    if let Some(n) = progress.n_configurations {
        let _ = write!(line, " {n} configurations ({:.0} k/s),", n as f64 / seconds / 1e3);
    }
    if let Some(n) = progress.frontier {
        let _ = write!(line, " {n} to explore,");
    }
    let _ = match progress.n_nodes {
        Some(n) => write!(line, " {} k operations, {} k nodes", progress.n_steps / 1000, n / 1000),
        None => {
            let rate = progress.n_steps as f64 / seconds / 1e3;
            write!(line, " {rate:.0} k steps/s, depth {}", progress.depth)
        }
    };
    if let Some(n) = progress.n_covered {
        let _ = write!(line, ", {n} states and transitions covered");
    }
    if let Some(bytes) = progress.bytes {
        let _ = write!(line, ", {} MB", bytes >> 20);
    }
    line
}

/// An estimate of the time that is left, where a number of schedules or a time limit allows one.
fn left(progress: &Progress, seconds: f64, goal: Goal) -> Option<String> {
    let by_time = goal.seconds.map(|limit| limit as f64 - seconds);
    let by_schedules = match (goal.n_schedules, progress.n_schedules) {
        (Some(all), Some(n)) if n > 0 && all >= n => Some((all - n) as f64 * seconds / n as f64),
        _ => None,
    };
    let left = match (by_time, by_schedules) {
        (Some(a), Some(b)) => a.min(b),
        (a, b) => a.or(b)?,
    };
    let left = left.max(0.0);
    Some(match left {
        0.0..100.0 => format!("{left:.0} s"),
        100.0..6000.0 => format!("{:.0} min", left / 60.0),
        _ => format!("{:.1} h", left / 3600.0),
    })
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

    #[test]
    fn a_line_fits_the_terminal() {
        assert_eq!(fitted("abcdef", 80), "abcdef");
        assert_eq!(fitted("abcdef", 6), "abcd…");
        assert_eq!(fitted("abcdef", 0), "…");
    }

    #[test]
    fn the_nearer_limit_makes_the_estimate() {
        let progress = Progress { n_schedules: Some(100), ..Progress::default() };
        let goal = Goal { n_schedules: Some(400), seconds: None };
        assert_eq!(left(&progress, 10.0, goal).as_deref(), Some("30 s"));
        assert_eq!(left(&progress, 10.0, Goal { seconds: Some(15), ..goal }).as_deref(), Some("5 s"));
        assert_eq!(left(&progress, 10.0, Goal::default()), None);
    }
}
