//! Which stream gets what. Results go to standard output; problems and progress go to standard error. Colors
//! appear only where a terminal shows them.

use std::io::{IsTerminal, Write};

use crate::exit::ExitStatus;

/// Writes a result. A reader that has gone away (`| head`) ends the program quietly.
pub fn out(text: &str) {
    if anstream::stdout().write_all(text.as_bytes()).is_err() {
        std::process::exit(ExitStatus::Success as i32);
    }
}

/// Writes what is not a result.
pub fn err(text: &str) {
    // Nobody is left to tell if this fails.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// Whether a person watches standard error.
pub fn err_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}
