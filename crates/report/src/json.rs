//! The JSON that scripts read. [`VERSION`] counts up when a field changes its meaning or goes away; new fields
//! may appear at any time. `docs/formats` describes it.

use allways_base::{Diagnostic, Label, Sources};
use serde::Serialize;

pub const VERSION: u32 = 2;

/// What every answer about a test begins with.
#[derive(Clone, Serialize)]
pub struct Head {
    pub version: u32,
    pub command: &'static str,
    /// The project, or the files as they were named.
    pub project: String,
    /// The test, or the procedure that a Boogie program starts from.
    pub test: String,
}

impl Head {
    pub fn new(command: &'static str, project: &str, test: &str) -> Self {
        Head { version: VERSION, command, project: project.to_owned(), test: test.to_owned() }
    }
}

/// The reports of a command, one per test.
#[derive(Serialize)]
pub struct Reports<T> {
    pub version: u32,
    pub reports: Vec<T>,
}

impl<T> Reports<T> {
    pub fn new(reports: Vec<T>) -> Self {
        Reports { version: VERSION, reports }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompileReport {
    pub version: u32,
    pub command: &'static str,
    pub project: String,
    pub accepted: bool,
    pub n_files: usize,
    pub n_lines: usize,
    pub n_errors: usize,
    pub n_warnings: usize,
    pub tests: Vec<String>,
    pub diagnostics: Vec<DiagnosticReport>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosticReport {
    pub code: &'static str,
    pub severity: &'static str,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<PlaceReport>,
    pub related: Vec<PlaceReport>,
    pub notes: Vec<String>,
    pub help: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlaceReport {
    pub file: String,
    /// Lines and columns count from one, columns in characters; the end is exclusive.
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
}

pub fn diagnostic(diagnostic: &Diagnostic, sources: &Sources) -> DiagnosticReport {
    DiagnosticReport {
        code: diagnostic.code.as_str(),
        severity: diagnostic.severity.as_str(),
        message: diagnostic.message.clone(),
        place: diagnostic.primary.as_ref().map(|label| place(label, sources)),
        related: diagnostic.secondary.iter().map(|label| place(label, sources)).collect(),
        notes: diagnostic.notes.clone(),
        help: diagnostic.help.clone(),
    }
}

fn place(label: &Label, sources: &Sources) -> PlaceReport {
    let file = sources.file(label.span.file);
    let (start, end) = (file.line_col(label.span.start), file.line_col(label.span.end));
    PlaceReport {
        file: file.name.clone(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        label: label.text.clone(),
    }
}

/// The text of a report, with a line break at the end.
pub fn to_text(report: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("reports are plain data");
    text.push('\n');
    text
}
