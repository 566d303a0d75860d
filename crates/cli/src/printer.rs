//! Which stream gets what. Results go to standard output; problems and progress go to standard error. Colors
//! appear only where a terminal shows them, or where `--color` says so.
//!
//! How much is written depends on `-q` and `-v`: [`out`] is written always, [`detail`] and [`note`] unless `-q` is given,
//! [`figures`] only with `-v`. With `--format sarif`, standard output carries one document and nothing else.
//!
//! Output that cannot be written never changes a verdict: the command goes on, and its exit status is that of the verdict.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use allways_report::trace::Look;

use crate::args::{ColorArg, Format, ShowArgs};

/// Whether a result could not be written. Later results are dropped, since a stream with a gap in it misleads.
static HAS_LOST_OUTPUT: AtomicBool = AtomicBool::new(false);

static SETTINGS: OnceLock<Settings> = OnceLock::new();

#[derive(Clone, Copy)]
struct Settings {
    is_quiet: bool,
    is_verbose: bool,
    format: Format,
}

fn settings() -> Settings {
    let defaults = Settings { is_quiet: false, is_verbose: false, format: Format::Text };
    SETTINGS.get().copied().unwrap_or(defaults)
}

/// Says how much is written, and how. Counts once, before anything is written.
pub fn configure(show: &ShowArgs, format: Format) {
    match show.color {
        ColorArg::Auto => {}
        ColorArg::Always => anstream::ColorChoice::Always.write_global(),
        ColorArg::Never => anstream::ColorChoice::Never.write_global(),
    }
    let _ = SETTINGS.set(Settings { is_quiet: show.quiet, is_verbose: show.verbose, format });
}

/// How results are written.
pub fn format() -> Format {
    settings().format
}

pub fn is_verbose() -> bool {
    settings().is_verbose
}

/// Writes a result. The first failure is named on standard error.
pub fn out(text: &str) {
    if format() != Format::Sarif {
        document(text);
    }
}

/// Writes the whole of what standard output is to carry.
pub fn document(text: &str) {
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

/// Writes what belongs to a result and is not the result itself; not with `-q`.
pub fn detail(text: &str) {
    if !settings().is_quiet {
        out(text);
    }
}

pub fn has_lost_output() -> bool {
    HAS_LOST_OUTPUT.load(Ordering::Relaxed)
}

/// Writes a problem.
pub fn err(text: &str) {
    // No stream is left to report a failure of this one.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// Writes a remark that is no result, such as the time that was needed; not with `-q`.
pub fn note(text: &str) {
    if !settings().is_quiet {
        err(text);
    }
}

/// Writes figures about the search, which differ from run to run; only with `-v`.
pub fn figures(text: &str) {
    if settings().is_verbose {
        err(text);
    }
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

/// Columns for pages of help: those of the terminal as far as lines stay readable, or 80 where there is none.
pub fn help_width() -> usize {
    look(false).width.clamp(60, 100)
}

/// Whether a person watches standard error and wants to see progress there.
pub fn shows_progress() -> bool {
    err_is_terminal() && !settings().is_quiet
}

/// Whether a person watches standard error.
pub fn err_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Columns of the terminal that standard error goes to.
pub fn err_width() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stderr())
        .map(|(terminal_size::Width(columns), _)| usize::from(columns))
}
