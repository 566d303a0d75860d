//! Findings of a command, collected for `--format github` and `--format sarif`, and written when it ends.

use std::sync::Mutex;

use allways_base::{Diagnostic, Sources};
use allways_report::annotation::{self, Annotation};
use allways_report::json;

use crate::args::Format;
use crate::{pages, printer};

static FOUND: Mutex<Vec<Annotation>> = Mutex::new(Vec::new());

pub fn add(annotation: Annotation) {
    if matches!(printer::format(), Format::Github | Format::Sarif)
        && let Ok(mut found) = FOUND.lock()
    {
        found.push(annotation);
    }
}

pub fn add_diagnostics(diagnostics: &[Diagnostic], sources: &Sources) {
    for diagnostic in diagnostics {
        add(Annotation::of_diagnostic(diagnostic, sources));
    }
}

/// Writes what was found, in the format that was asked for.
pub fn write() {
    let Ok(found) = FOUND.lock() else { return };
    match printer::format() {
        Format::Github => printer::out(&annotation::github(&found)),
        Format::Sarif => {
            let document = annotation::sarif(&found, &pages::codes(), env!("CARGO_PKG_VERSION"));
            printer::document(&json::to_text(&document));
        }
        Format::Text | Format::Json | Format::P => {}
    }
}
