//! Findings for other tools: annotations of GitHub Actions, SARIF 2.1.0 for code scanning, and the lines in which
//! `p compile` reports mistakes, which editors of P read.
//!
//! An [`Annotation`] is one mistake in a program or one violated property, with its place; for a violation, the messages
//! of the run that shows it are the steps.

use std::fmt::Write as _;

use allways_base::{CodeInfo, Diagnostic, Severity, Sources, Span};
use allways_run::{Counterexample, Trace};
use serde_json::{Value, json};

/// A stretch of a file; lines and columns count from one, the end is exclusive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
}

impl Place {
    pub fn of(span: Span, sources: &Sources) -> Self {
        let file = sources.file(span.file);
        let (start, end) = (file.line_col(span.start), file.line_col(span.end));
        Place {
            file: file.name.clone(),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column.max(if end.line == start.line { start.column + 1 } else { 1 }),
        }
    }
}

/// One finding.
#[derive(Clone, PartialEq, Debug)]
pub struct Annotation {
    pub severity: Severity,
    /// A diagnostic code, or a kind of violation: `allways explain` knows both.
    pub code: String,
    pub message: String,
    pub place: Option<Place>,
    /// How the run went, for a violation; the last step is the violation itself.
    pub steps: Vec<(String, Option<Place>)>,
    /// Whether the text could not be read as a program at all.
    pub is_syntax: bool,
}

/// More steps than people follow in an editor only make the document large.
const MAX_STEPS: usize = 500;

impl Annotation {
    /// A mistake in a program.
    pub fn of_diagnostic(diagnostic: &Diagnostic, sources: &Sources) -> Self {
        let mut message = diagnostic.message.clone();
        for more in diagnostic.notes.iter().chain(&diagnostic.help) {
            let _ = write!(message, "; {more}");
        }
        Annotation {
            severity: diagnostic.severity,
            code: diagnostic.code.as_str().to_owned(),
            message,
            place: diagnostic.primary.as_ref().map(|label| Place::of(label.span, sources)),
            steps: Vec::new(),
            is_syntax: diagnostic.code.as_str().ends_with("syntax-error")
                || diagnostic.code.as_str() == "boogie-syntax",
        }
    }

    /// A violated property of a test.
    pub fn of_counterexample(test: &str, counterexample: &Counterexample, sources: &Sources) -> Self {
        let violation = &counterexample.violation;
        let place = violation.span.map(|span| Place::of(span, sources));
        let mut steps = steps(&counterexample.trace, sources);
        steps.push((violation.message.clone(), place.clone()));
        Annotation {
            severity: Severity::Error,
            code: violation.kind.as_str().to_owned(),
            message: format!("{test}: {}", violation.message),
            place,
            steps,
            is_syntax: false,
        }
    }

    /// Something about a whole test or project.
    pub fn general(severity: Severity, code: &str, message: String) -> Self {
        Annotation {
            severity,
            code: code.to_owned(),
            message,
            place: None,
            steps: Vec::new(),
            is_syntax: false,
        }
    }
}

/// The messages of a run, in the order in which they were sent.
fn steps(trace: &Trace, sources: &Sources) -> Vec<(String, Option<Place>)> {
    let mut messages: Vec<_> = trace.messages.iter().collect();
    messages.sort_by_key(|message| message.sent);
    let name = |actor: Option<_>| actor.map_or("the environment", |actor| trace.name(actor));
    messages
        .into_iter()
        .take(MAX_STEPS)
        .map(|message| {
            let text = match message.target {
                Some(target) => {
                    format!("{} sends {} to {}", name(message.sender), message.event, trace.name(target))
                }
                None => format!("{} announces {}", name(message.sender), message.event),
            };
            (text, message.span.map(|span| Place::of(span, sources)))
        })
        .collect()
}

/// Workflow commands of GitHub Actions: `::error file=...,line=...::message`, one a line.
pub fn github(annotations: &[Annotation]) -> String {
    let mut out = String::new();
    for annotation in annotations {
        let level = match annotation.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let mut properties = String::new();
        if let Some(place) = &annotation.place {
            let _ = write!(properties, "file={},line={}", escape_property(&place.file), place.line);
            let _ = match place.line == place.end_line {
                true => write!(properties, ",col={},endColumn={},", place.column, place.end_column),
                // GitHub ignores columns of an annotation that spans lines.
                false => write!(properties, ",endLine={},", place.end_line),
            };
        }
        let _ = writeln!(
            out,
            "::{level} {properties}title={}::{}",
            escape_property(&annotation.code),
            escape_data(&annotation.message)
        );
    }
    out
}

fn escape_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

/// What `p compile` prints for each mistake, in the two forms that editors of P look for.
pub fn p_lines(annotations: &[Annotation]) -> String {
    let mut out = String::new();
    for annotation in annotations.iter().filter(|annotation| annotation.severity == Severity::Error) {
        let message = annotation.message.replace('\n', " ");
        let _ = match (&annotation.place, annotation.is_syntax) {
            (Some(place), true) => writeln!(
                out,
                "[Parser Error:]\n[{}] parse error: line {}:{} {message}",
                place.file, place.line, place.column
            ),
            (Some(place), false) => {
                writeln!(out, "[Error:]\n[{}:{}:{}] {message}", place.file, place.line, place.column)
            }
            (None, _) => writeln!(out, "[Error:]\n{message}"),
        };
    }
    out
}

/// One SARIF document. `rules` describes codes; those that occur are listed.
pub fn sarif(annotations: &[Annotation], rules: &[CodeInfo], version: &str) -> Value {
    let mut used: Vec<&str> = annotations.iter().map(|annotation| annotation.code.as_str()).collect();
    used.sort_unstable();
    used.dedup();
    let rule = |code: &&str| {
        let about = rules.iter().find(|info| info.code.as_str() == *code);
        let mut rule = json!({ "id": code, "help": { "text": format!("allways explain {code}") } });
        if let Some(info) = about {
            rule["shortDescription"] = json!({ "text": info.summary });
        }
        rule
    };
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Allways",
                "version": version,
                "rules": used.iter().map(rule).collect::<Vec<Value>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": annotations.iter().map(|annotation| result(annotation, &used)).collect::<Vec<Value>>(),
        }],
    })
}

fn result(annotation: &Annotation, used: &[&str]) -> Value {
    let level = match annotation.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut result = json!({
        "ruleId": annotation.code,
        "ruleIndex": used.iter().position(|code| *code == annotation.code),
        "level": level,
        "message": { "text": annotation.message },
    });
    if let Some(place) = &annotation.place {
        result["locations"] = json!([{ "physicalLocation": location(place) }]);
    }
    if !annotation.steps.is_empty() {
        let steps = annotation.steps.iter().map(|(text, place)| {
            let mut at = json!({ "message": { "text": text } });
            if let Some(place) = place {
                at["physicalLocation"] = location(place);
            }
            json!({ "location": at })
        });
        let steps: Vec<Value> = steps.collect();
        result["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps }] }]);
    }
    result
}

fn location(place: &Place) -> Value {
    json!({
        "artifactLocation": { "uri": uri(&place.file) },
        "region": {
            "startLine": place.line,
            "startColumn": place.column,
            "endLine": place.end_line,
            "endColumn": place.end_column,
        },
    })
}

/// A relative path as a URI reference: what cannot stand in one is percent-encoded.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(byte as char)
            }
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Annotation {
        Annotation {
            severity: Severity::Error,
            code: "assertion".to_owned(),
            message: "100 % wrong\nsecond line".to_owned(),
            place: Some(Place { file: "a,b c.p".to_owned(), line: 3, column: 5, end_line: 3, end_column: 9 }),
            steps: vec![("A(1) sends e to B(2)".to_owned(), None)],
            is_syntax: false,
        }
    }

    #[test]
    fn github_commands_are_escaped() {
        assert_eq!(
            github(&[sample()]),
            "::error file=a%2Cb c.p,line=3,col=5,endColumn=9,title=assertion::100 %25 wrong%0Asecond line\n"
        );
    }

    #[test]
    fn sarif_has_rules_places_and_steps() {
        let document = sarif(&[sample()], &[], "1.0");
        let result = &document["runs"][0]["results"][0];
        assert_eq!(document["runs"][0]["tool"]["driver"]["rules"][0]["id"], "assertion");
        assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a%2Cb%20c.p");
        let flow = &result["codeFlows"][0]["threadFlows"][0]["locations"][0];
        assert_eq!(flow["location"]["message"]["text"], "A(1) sends e to B(2)");
    }

    #[test]
    fn editors_of_p_find_places() {
        let mut syntax = sample();
        syntax.is_syntax = true;
        let text = p_lines(&[sample(), syntax]);
        assert!(text.starts_with("[Error:]\n[a,b c.p:3:5] 100 % wrong second line\n"));
        assert!(text.ends_with("[Parser Error:]\n[a,b c.p] parse error: line 3:5 100 % wrong second line\n"));
    }
}
