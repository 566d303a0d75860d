//! Every program below `corpus/p/static` reports exactly what its comments expect.
//!
//! A comment `//~ code` at the end of a line expects an error whose primary label starts on that line;
//! `//~ warning code` and `//~ note code` expect the milder kinds. `//~^` means the line above, and `@N` behind
//! the code fixes the column as well. Programs in `ok` are accepted without a word, those in `warning` are
//! accepted, those in `error` are not. A first line `// strict` or `// verifier` sets the dialect.
//!
//! With `ALLWAYS_BLESS=1` in the environment the comments are rewritten to what is reported now.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use crate::support::{Case, cases};
use allways_base::{Severity, Sources};
use allways_p::Compiled;

/// What is expected, or reported, at a line of a file of the case.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Finding {
    file: usize,
    line: u32,
    severity: Severity,
    code: String,
    /// Expected only where the comment gives one.
    column: Option<u32>,
}

impl Finding {
    fn comment(&self) -> String {
        let mut comment = "//~ ".to_owned();
        if self.severity != Severity::Error {
            comment.push_str(self.severity.as_str());
            comment.push(' ');
        }
        comment.push_str(&self.code);
        if let Some(column) = self.column {
            let _ = write!(comment, " @{column}");
        }
        comment
    }
}

fn expected(case: &Case) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in case.files.iter().enumerate() {
        for (line_idx, line) in source.text.lines().enumerate() {
            for comment in line.split("//~").skip(1) {
                let n_up = comment.bytes().take_while(|&b| b == b'^').count();
                let mut words = comment[n_up..].split_whitespace().peekable();
                let severity = match words.peek() {
                    Some(&"warning") => Severity::Warning,
                    Some(&"note") => Severity::Note,
                    _ => Severity::Error,
                };
                if severity != Severity::Error {
                    words.next();
                }
                let code = words.next().unwrap_or_else(|| panic!("{}: `//~` without code", case.name));
                let column = words.next().map(|word| {
                    let column = word.strip_prefix('@').and_then(|column| column.parse().ok());
                    column.unwrap_or_else(|| panic!("{}: `{word}` is no column", case.name))
                });
                let line = (line_idx + 1 - n_up) as u32;
                findings.push(Finding { file, line, severity, code: code.to_owned(), column });
            }
        }
    }
    findings
}

fn reported(sources: &Sources, compiled: &Compiled) -> Vec<Finding> {
    let findings = compiled.diagnostics.iter().map(|diagnostic| {
        let primary = diagnostic.primary.as_ref().expect("diagnostics of a program have a place");
        let at = sources.line_col(primary.span);
        Finding {
            file: allways_base::Idx::index(primary.span.file),
            line: at.line,
            severity: diagnostic.severity,
            code: diagnostic.code.to_string(),
            column: Some(at.column),
        }
    });
    findings.collect()
}

/// Pairs of expected and reported findings are taken away; the rest is the difference.
fn difference(mut expected: Vec<Finding>, mut reported: Vec<Finding>) -> (Vec<Finding>, Vec<Finding>) {
    // Those with columns first: the others take what is left.
    expected.sort_by_key(|finding| finding.column.is_none());
    expected.retain(|want| {
        let found = reported.iter().position(|have| {
            let is_same = (have.file, have.line, have.severity, &have.code)
                == (want.file, want.line, want.severity, &want.code);
            is_same && (want.column.is_none() || want.column == have.column)
        });
        found.inspect(|&at| drop(reported.remove(at))).is_none()
    });
    expected.sort();
    (expected, reported)
}

/// Rewrites the comments of a case. Columns stay where there was one.
fn bless(case: &Case, expected: &[Finding], reported: &[Finding]) {
    for (file, source) in case.files.iter().enumerate() {
        let mut by_line: BTreeMap<u32, Vec<Finding>> = BTreeMap::new();
        for finding in reported.iter().filter(|finding| finding.file == file) {
            let has_column = expected.iter().any(|want| {
                want.column.is_some()
                    && (want.file, want.line, &want.code) == (file, finding.line, &finding.code)
            });
            let column = finding.column.filter(|_| has_column);
            by_line.entry(finding.line).or_default().push(Finding { column, ..finding.clone() });
        }
        let mut text = String::new();
        for (line_idx, line) in source.text.lines().enumerate() {
            let code = line.split("//~").next().unwrap_or_default().trim_end();
            text.push_str(code);
            for finding in by_line.remove(&(line_idx as u32 + 1)).unwrap_or_default() {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push(' ');
                }
                text.push_str(&finding.comment());
            }
            text.push('\n');
        }
        if text != source.text {
            fs::write(&source.path, text).expect("the corpus can be written");
        }
    }
}

/// What the folder says about the verdict.
fn folder_fits(case: &Case, compiled: &Compiled) -> bool {
    let has = |severity| compiled.diagnostics.iter().any(|d| d.severity == severity);
    let is_accepted = compiled.program.is_some() && !has(Severity::Error);
    match case.name.split(['/', '\\']).next() {
        Some("ok") => is_accepted && compiled.diagnostics.is_empty(),
        Some("warning") => is_accepted && !compiled.diagnostics.is_empty(),
        Some("error") => compiled.program.is_none() && has(Severity::Error),
        _ => false,
    }
}

fn all_cases() -> Vec<Case> {
    let mut all = Vec::new();
    for folder in ["ok", "error", "warning"] {
        for mut case in cases(&format!("static/{folder}")) {
            case.name = format!("{folder}/{}", case.name);
            all.push(case);
        }
    }
    all
}

#[test]
fn programs_report_what_they_expect() {
    let should_bless = std::env::var_os("ALLWAYS_BLESS").is_some();
    let mut report = String::new();
    let mut n_wrong = 0;
    let cases = all_cases();
    for case in &cases {
        let (sources, compiled) = case.compile();
        crate::support::check_places(&sources, &compiled.diagnostics);
        let (expected, reported) = (expected(case), reported(&sources, &compiled));
        let (missing, surplus) = difference(expected.clone(), reported.clone());
        let fits = folder_fits(case, &compiled);
        if missing.is_empty() && surplus.is_empty() && fits {
            continue;
        }
        if should_bless && !(missing.is_empty() && surplus.is_empty()) {
            bless(case, &expected, &reported);
            if fits {
                continue;
            }
        }
        n_wrong += 1;
        let _ = writeln!(report, "{}", case.name);
        let place = |finding: &Finding| {
            let name = sources.file(allways_base::Idx::new(finding.file)).name.as_str();
            let column = finding.column.map(|column| format!(":{column}")).unwrap_or_default();
            format!("{name}:{}{column}: {} {}", finding.line, finding.severity.as_str(), finding.code)
        };
        for finding in &missing {
            let _ = writeln!(report, "  expected, not reported: {}", place(finding));
        }
        for finding in &surplus {
            let message = compiled.diagnostics.iter().find(|d| {
                d.code.as_str() == finding.code
                    && d.primary.as_ref().is_some_and(|p| {
                        sources.line_col(p.span).line == finding.line
                            && Some(sources.line_col(p.span).column) == finding.column
                    })
            });
            let message = message.map_or("", |d| &d.message);
            let _ = writeln!(report, "  reported, not expected: {}: {message}", place(finding));
        }
        if !fits {
            let _ = writeln!(report, "  the verdict is not that of the folder");
        }
    }
    assert!(n_wrong == 0, "{n_wrong} of {} programs differ:\n{report}", cases.len());
}

#[test]
fn the_corpus_is_large_and_covers_every_code_of_programs() {
    let cases = all_cases();
    assert!(cases.len() >= 250, "only {} programs", cases.len());
    let expected: Vec<String> = cases.iter().flat_map(expected).map(|finding| finding.code).collect();
    // Those of files and projects come from the driver, which has tests of its own.
    let of_projects = [
        allways_p::codes::DUPLICATE_FILE,
        allways_p::codes::UNREADABLE_FILE,
        allways_p::codes::NOT_UTF8,
        allways_p::codes::FILE_TOO_LARGE,
        allways_p::codes::BAD_PROJECT,
        allways_p::codes::SEVERAL_PROJECTS,
        allways_p::codes::NO_SOURCES,
        allways_p::codes::INCLUDE_CYCLE,
    ];
    let unseen: Vec<&str> = allways_p::codes::ALL
        .iter()
        .filter(|info| !of_projects.contains(&info.code))
        .map(|info| info.code.as_str())
        .filter(|code| !expected.iter().any(|seen| seen == code))
        .collect();
    assert!(unseen.is_empty(), "no program expects {unseen:?}");
}

/// Messages are one sentence without a full stop, and say something.
#[test]
fn messages_have_the_house_style() {
    for case in all_cases() {
        for diagnostic in case.compile().1.diagnostics {
            let message = &diagnostic.message;
            assert!(message.len() > 10, "{}: `{message}` says too little", case.name);
            assert!(!message.ends_with('.'), "{}: `{message}` ends with a full stop", case.name);
            assert!(!message.contains('\n'), "{}: `{message}` has several lines", case.name);
            assert!(
                !message.starts_with(char::is_uppercase),
                "{}: `{message}` starts with a capital letter",
                case.name
            );
        }
    }
}
