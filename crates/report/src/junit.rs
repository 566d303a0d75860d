//! JUnit XML for continuous integration.

use std::fmt::Write as _;

/// One test case as a CI system sees it.
pub struct Case {
    pub name: String,
    pub seconds: f64,
    pub result: CaseResult,
}

#[derive(Clone)]
pub enum CaseResult {
    Passed,
    /// A one-line message and the whole text.
    Failed(String, String),
    /// No answer: CI systems show it as an error.
    Error(String),
}

pub fn render(suite: &str, cases: &[Case]) -> String {
    let count = |is: fn(&CaseResult) -> bool| cases.iter().filter(|case| is(&case.result)).count();
    let n_failed = count(|result| matches!(result, CaseResult::Failed(..)));
    let n_errors = count(|result| matches!(result, CaseResult::Error(_)));
    let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let totals = format!(
        "tests=\"{}\" failures=\"{n_failed}\" errors=\"{n_errors}\" time=\"{seconds:.3}\"",
        cases.len()
    );
    let _ = writeln!(out, "<testsuites {totals}>\n  <testsuite name=\"{}\" {totals}>", escape(suite));
    for case in cases {
        let _ = write!(
            out,
            "    <testcase name=\"{}\" classname=\"{}\" time=\"{:.3}\"",
            escape(&case.name),
            escape(suite),
            case.seconds
        );
        match &case.result {
            CaseResult::Passed => out.push_str("/>\n"),
            CaseResult::Failed(message, text) => {
                let _ = writeln!(
                    out,
                    ">\n      <failure message=\"{}\">{}</failure>\n    </testcase>",
                    escape(message),
                    escape(text)
                );
            }
            CaseResult::Error(message) => {
                let _ = writeln!(out, ">\n      <error message=\"{}\"/>\n    </testcase>", escape(message));
            }
        }
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            // XML has no way to write other control characters.
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        let cases = [Case {
            name: "a<b".into(),
            seconds: 0.5,
            result: CaseResult::Failed("x & \"y\"".into(), "\u{1}".into()),
        }];
        let text = render("S", &cases);
        assert!(text.contains("name=\"a&lt;b\""));
        assert!(text.contains("message=\"x &amp; &quot;y&quot;\">\u{fffd}</failure>"));
        assert!(text.contains("tests=\"1\" failures=\"1\" errors=\"0\""));
    }
}
