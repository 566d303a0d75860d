//! Diagnostics as data: what is wrong with the input, where, and what to do about it.
//!
//! A headline is one sentence a beginner understands; detail goes into labels, advice into help.
//! Nothing here renders: `allways-report` does.

use std::fmt;

use crate::{Sources, Span};

/// The stable name of a kind of diagnostic, in kebab case. Every code has a page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(&'static str);

impl Code {
    pub const fn new(name: &'static str) -> Self {
        Code(name)
    }

    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A code with the one line that lists show for it.
#[derive(Clone, Copy, Debug)]
pub struct CodeInfo {
    pub code: Code,
    pub summary: &'static str,
}

/// Declares the codes of a front end as constants, and `ALL`, the table of them.
#[macro_export]
macro_rules! codes {
    ($($(#[$meta:meta])* $name:ident = $text:literal: $summary:literal;)*) => {
        $($(#[$meta])* pub const $name: $crate::Code = $crate::Code::new($text);)*

        /// Every code of this front end, in the order of declaration.
        pub const ALL: &[$crate::CodeInfo] = &[
            $($crate::CodeInfo { code: $name, summary: $summary },)*
        ];
    };
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// The input is rejected.
    Error,
    /// The input is accepted, and something in it deserves a look.
    Warning,
    /// A fact the reader should know; nothing is wrong.
    Note,
}

impl Severity {
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// A place with the words that belong to it. Empty words only point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: Severity,
    pub message: String,
    /// The construct that is wrong. Absent only where no source text is at fault (a missing file).
    pub primary: Option<Label>,
    /// Other places that explain the first, in any file.
    pub secondary: Vec<Label>,
    pub notes: Vec<String>,
    pub help: Vec<String>,
}

impl Diagnostic {
    pub fn new(severity: Severity, code: Code, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity,
            message: message.into(),
            primary: None,
            secondary: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message).at(span, "")
    }

    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message).at(span, "")
    }

    /// Sets the primary place, with the words shown beside it.
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.primary = Some(Label { span, text: text.into() });
        self
    }

    /// Words beside the primary place that is already set.
    pub fn label(mut self, text: impl Into<String>) -> Self {
        if let Some(primary) = &mut self.primary {
            primary.text = text.into();
        }
        self
    }

    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Sorts by file name, then place, then severity and text, and drops exact repetitions. Diagnostics
/// without a place come first.
pub fn sort(diagnostics: &mut Vec<Diagnostic>, sources: &Sources) {
    diagnostics.sort_by(|a, b| {
        let key = |d: &Diagnostic| d.primary.as_ref().map(|l| l.span);
        let name = |d: &Diagnostic| key(d).map(|span| sources.file(span.file).name.as_str());
        (name(a), key(a), a.severity, a.code, &a.message).cmp(&(
            name(b),
            key(b),
            b.severity,
            b.code,
            &b.message,
        ))
    });
    diagnostics.dedup();
}

/// Whether any of them rejects the input.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_error)
}
