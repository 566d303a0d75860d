//! The answer of `check --all` and `prove --all`, as data for scripts.

use serde::Serialize;

use crate::verdict::GuaranteeReport;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SuiteReport<'a> {
    pub version: u32,
    pub command: &'static str,
    pub project: &'a str,
    pub as_expected: bool,
    pub tests: Vec<&'a TestReport>,
}

/// One test of a suite.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TestReport {
    pub test: String,
    /// `holds`, `violated`, `quiesces` or `diverges`.
    pub expected: &'static str,
    /// `proved`, `bounded`, `tested`, `violated`, `quiesces`, `diverges` or `unknown`.
    pub verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guarantee: Option<GuaranteeReport>,
    pub as_expected: bool,
    /// What broke, or what is not as expected.
    pub detail: String,
    /// Of the violation: its kind, text and place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Of `prove`: the engine that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<&'static str>,
    /// How much was explored, and of what.
    pub n_explored: u64,
    pub unit: String,
    /// The folder with the files of the counterexample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
}
