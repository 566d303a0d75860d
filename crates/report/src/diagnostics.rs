//! Diagnostics on the terminal.

use allways_base::{Diagnostic, FileId, Label, Severity, Sources};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// Renders diagnostics one below the other. `styled` adds colors.
pub fn render_text(diagnostics: &[Diagnostic], sources: &Sources, styled: bool) -> String {
    let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let mut out = String::new();
    for diagnostic in diagnostics {
        out.push_str(&renderer.render(&[group(diagnostic, sources)]));
        out.push_str("\n\n");
    }
    out
}

fn group<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group =
        Group::with_title(level.primary_title(diagnostic.message.as_str()).id(diagnostic.code.as_str()));
    let mut files: Vec<FileId> = Vec::new();
    for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    for file in files {
        group = group.element(snippet(diagnostic, sources, file));
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    group
}

/// The lines of one file that labels lie on. Only those are handed over: a large file has many diagnostics.
fn snippet<'a>(
    diagnostic: &'a Diagnostic,
    sources: &'a Sources,
    file: FileId,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let source = sources.file(file);
    let labels = || {
        let primary = diagnostic.primary.iter().map(|label| (label, AnnotationKind::Primary));
        let secondary = diagnostic.secondary.iter().map(|label| (label, AnnotationKind::Context));
        primary.chain(secondary).filter(move |(label, _)| label.span.file == file)
    };
    let first = labels().map(|(label, _)| label.span.start).min().unwrap_or(0) as usize;
    let last = labels().map(|(label, _)| label.span.end).max().unwrap_or(0) as usize;
    let start = source.text[..first].rfind('\n').map_or(0, |at| at + 1);
    let end = source.text[last..].find('\n').map_or(source.text.len(), |at| last + at);
    let line = source.line_col(first as u32).line as usize;
    let annotations = labels().map(|(label, kind): (&Label, _)| {
        let span = label.span.start as usize - start..label.span.end as usize - start;
        let annotation = kind.span(span);
        if label.text.is_empty() { annotation } else { annotation.label(label.text.as_str()) }
    });
    Snippet::source(&source.text[start..end])
        .line_start(line)
        .path(source.name.as_str())
        .annotations(annotations)
}

/// `2 errors, 1 warning`
pub fn render_counts(diagnostics: &[Diagnostic]) -> String {
    let count = |severity| diagnostics.iter().filter(|d| d.severity == severity).count();
    let parts: Vec<String> = [(count(Severity::Error), "error"), (count(Severity::Warning), "warning")]
        .into_iter()
        .filter(|&(n, _)| n > 0)
        .map(|(n, what)| format!("{n} {what}{}", if n == 1 { "" } else { "s" }))
        .collect();
    parts.join(", ")
}
