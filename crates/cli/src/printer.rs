//! Which stream gets what. Results go to standard output; problems and progress go to standard error. Colors
//! appear only where a terminal shows them.
//!
//! Output that cannot be written never changes a verdict: the command goes on, and its exit status is that of the verdict.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use allways_report::trace::Look;

/// Whether a result could not be written. Later results are dropped, since a stream with a gap in it misleads.
static HAS_LOST_OUTPUT: AtomicBool = AtomicBool::new(false);

/// Writes a result. The first failure is named on standard error.
pub fn out(text: &str) {
    if has_lost_output() {
        return;
    }
    let mut stream = anstream::stdout();
    // The flush matters for text without a line break at its end, of which the stream keeps a part.
    if let Err(error) = stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
        HAS_LOST_OUTPUT.store(true, Ordering::Relaxed);
        err(&format!("standard output cannot be written: {error}\n"));
    }
}

pub fn has_lost_output() -> bool {
    HAS_LOST_OUTPUT.load(Ordering::Relaxed)
}

/// Writes what is not a result.
pub fn err(text: &str) {
    // No stream is left to report a failure of this one.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// Writes a file that comes beside the verdict. A failure is named on standard error and costs the file only.
pub fn file(path: &Path, text: &str) -> bool {
    let written = std::fs::write(path, text);
    if let Err(error) = &written {
        err(&format!("`{}` cannot be written: {error}\n", path.display()));
    }
    written.is_ok()
}

/// How runs are shown on standard output: as wide as the terminal is, or 80 columns where there is none.
pub fn look(is_full: bool) -> Look {
    let width = match terminal_size::terminal_size() {
        Some((terminal_size::Width(columns), _)) if std::io::stdout().is_terminal() => {
            usize::from(columns).clamp(40, 200)
        }
        _ => Look::PLAIN.width,
    };
    Look { width, is_full, is_styled: true }
}

/// Whether a person watches standard error.
pub fn err_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}
