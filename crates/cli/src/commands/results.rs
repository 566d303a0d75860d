//! What the commands that answer about several test cases do with each answer: JSON, JUnit, annotations, exit status.

use std::path::Path;

use allways_base::Severity;
use allways_driver::Compilation;
use allways_report::annotation::Annotation;
use allways_report::json::Reports;
use allways_report::{check as check_report, json, junit};
use allways_run::{Counterexample, Verdict, Violation};
use serde::Serialize;

use crate::args::Format;
use crate::exit::ExitStatus;
use crate::{annotations, interrupt, printer};

/// The answers of a command so far.
pub struct Results {
    status: ExitStatus,
    cases: Vec<junit::Case>,
    /// Reports as data, where these are the output.
    reports: Option<Vec<serde_json::Value>>,
}

impl Results {
    pub fn new(format: Format) -> Self {
        let reports = (format == Format::Json).then(Vec::new);
        Results { status: ExitStatus::Success, cases: Vec::new(), reports }
    }

    /// Keeps the answer about one test case, if data is asked for; else it is to be shown as text.
    pub fn keep(&mut self, report: &impl Serialize) -> bool {
        let Some(reports) = &mut self.reports else { return false };
        reports.push(serde_json::to_value(report).expect("reports are plain data"));
        true
    }

    /// Counts the answer; says whether to go on with the next test case.
    pub fn count(&mut self, case: junit::Case, status: ExitStatus) -> bool {
        self.cases.push(case);
        self.status = add_up(self.status, status);
        !interrupt::is_interrupted()
    }

    /// Writes what the options ask for besides the text, and gives back the status of the command.
    pub fn finish(self, compilation: &Compilation, junit: Option<&Path>) -> ExitStatus {
        if let Some(reports) = self.reports {
            printer::out(&json::to_text(&Reports::new(reports)));
        }
        if let Some(path) = junit {
            printer::file(path, &junit::render(&compilation.project.name, &self.cases));
        }
        self.status
    }
}

/// The status of several tests: a violation anywhere counts most.
fn add_up(a: ExitStatus, b: ExitStatus) -> ExitStatus {
    let rank = |status| match status {
        ExitStatus::Internal => 5,
        ExitStatus::Interrupted => 4,
        ExitStatus::Violated => 3,
        ExitStatus::Rejected => 2,
        ExitStatus::Inconclusive | ExitStatus::Lost => 1,
        ExitStatus::Success => 0,
    };
    if rank(b) > rank(a) { b } else { a }
}

/// A verdict as CI systems see it.
pub fn junit_case(compilation: &Compilation, name: &str, verdict: &Verdict, seconds: f64) -> junit::Case {
    let sources = compilation.sources();
    let result = match verdict {
        Verdict::Holds(_) => junit::CaseResult::Passed,
        Verdict::Violated(counterexample) => junit::CaseResult::Failed(
            counterexample.violation.text(sources),
            check_report::render_counterexample(
                counterexample,
                None,
                sources,
                allways_report::trace::Look::PLAIN,
            ),
        ),
        Verdict::Unknown(reason) => junit::CaseResult::Error(reason.to_string()),
    };
    junit::Case { name: name.to_owned(), seconds, result }
}

/// Keeps a violation for other tools.
pub fn annotate(compilation: &Compilation, test: &str, counterexample: &Counterexample) {
    annotations::add(Annotation::of_counterexample(test, counterexample, compilation.sources()));
}

/// Keeps for other tools that there is no answer.
pub fn annotate_unknown(test: &str, explanation: &str) {
    let message = format!("{test}: {explanation}");
    annotations::add(Annotation::general(Severity::Warning, "inconclusive", message));
}

/// Leads from a violation to its page.
pub fn show_page(violation: &Violation) {
    let kind = violation.kind.as_str();
    printer::detail(&format!("`allways explain {kind}` says what this means and what to try\n"));
}

/// Says what a verdict is worth. With `-q`, only a missing verdict is explained.
pub fn show_explanation(verdict: &Verdict, explanation: &str) {
    match verdict {
        Verdict::Unknown(_) => printer::out(&format!("{explanation}\n")),
        Verdict::Holds(_) | Verdict::Violated(_) => printer::detail(&format!("{explanation}\n")),
    }
}
