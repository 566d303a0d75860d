//! The answer of a testing run, as data for scripts and as text for people.

use std::fmt::Write as _;

use allways_base::Sources;
use allways_run::{Choice, Counterexample, StopReason, Trace, TraceStep};
use serde::Serialize;

use crate::json::Head;
use crate::scenario::{self, Scenario};
use crate::text::count;
use crate::trace;
use crate::verdict::VerdictReport;

/// One test that was run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckReport {
    #[serde(flatten)]
    pub head: Head,
    #[serde(flatten)]
    pub answer: VerdictReport,
    pub seed: u64,
    pub strategy: String,
    /// Absent for P's own network without faults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Present when the violation depends on the order of messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_note: Option<String>,
    pub statistics: Statistics,
    pub coverage: Coverage,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<Scenario>,
    pub violations: Vec<Violation>,
}

/// What carried messages, and what could go wrong.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Network {
    pub model: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lossy: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub duplicating: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub crash: Vec<String>,
}

#[derive(Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Statistics {
    pub n_schedules: u64,
    pub n_steps: u64,
    pub n_choices: u64,
    pub min_length: u64,
    pub max_length: u64,
    /// Schedules that hit the step bound.
    pub n_bounded: u64,
}

#[derive(Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Coverage {
    pub states: Share,
    pub transitions: Share,
    pub events: Share,
    /// Handlers that never ran, as `Machine.State on event (file:line)`.
    pub unused_handlers: Vec<String>,
}

#[derive(Clone, Copy, Default, Serialize)]
pub struct Share {
    pub covered: usize,
    pub all: usize,
}

impl Share {
    pub(crate) fn percent(self) -> usize {
        (self.covered * 100).checked_div(self.all).unwrap_or(100)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Violation {
    pub kind: &'static str,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitor: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The schedule that shows it, from zero, and the strategy that found it.
    pub schedule_index: u64,
    pub strategy: String,
    pub n_steps: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_start: Option<usize>,
    pub steps: Vec<Step>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    pub machine: String,
    pub choices: Vec<u32>,
    /// What happened, a line each, as P's logs have it.
    pub log: Vec<String>,
}

/// A run that was made again.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayReport {
    #[serde(flatten)]
    pub head: Head,
    /// `violated`, `repeats`, or `holds` when it runs through.
    pub verdict: &'static str,
    /// Absent for P's own network without faults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Monitors that are hot at the end.
    pub hot_monitors: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<ViolationSummary>,
    pub n_steps: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_start: Option<usize>,
    pub steps: Vec<Step>,
}

/// What broke, without the way there.
#[derive(Serialize)]
pub struct ViolationSummary {
    pub kind: &'static str,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitor: Option<String>,
}

impl Violation {
    pub fn summary(&self) -> ViolationSummary {
        ViolationSummary {
            kind: self.kind,
            message: self.message.clone(),
            place: self.place.clone(),
            monitor: self.monitor.clone(),
        }
    }
}

/// A counterexample as data.
pub fn violation(
    counterexample: &Counterexample,
    monitor: Option<String>,
    help: Option<String>,
    schedule_index: u64,
    strategy: String,
    sources: &Sources,
) -> Violation {
    let violation = &counterexample.violation;
    Violation {
        kind: violation.kind.as_str(),
        message: violation.text(sources),
        place: violation.span.map(|span| sources.place(span)),
        monitor,
        help,
        schedule_index,
        strategy,
        n_steps: counterexample.trace.steps.len(),
        loop_start: counterexample.loop_start,
        steps: steps(&counterexample.trace, sources),
    }
}

/// The steps of a trace as data.
pub fn steps(trace: &Trace, sources: &Sources) -> Vec<Step> {
    let step = |step: &TraceStep| Step {
        machine: step.actor.map_or("network", |actor| trace.name(actor)).to_owned(),
        choices: step
            .choices
            .iter()
            .filter_map(|choice| match choice {
                Choice::Machine(_) | Choice::Deliver { .. } | Choice::Crash(_) => None,
                Choice::Data(answer) => Some(*answer),
            })
            .collect(),
        log: crate::p_log::lines(trace, step, sources),
    };
    trace.steps.iter().map(step).collect()
}

/// Why there is no answer, with the place in the program if there is one.
pub fn explain_stop_at(reason: &StopReason, sources: &Sources) -> String {
    match reason {
        StopReason::ObservedText { place } => {
            format!("{}: {reason}", sources.place(*place))
        }
        _ => reason.to_string(),
    }
}

/// The figures, in lines that scripts for P's checker look for.
pub fn render_statistics(report: &CheckReport) -> String {
    let n_bugs = report.violations.len();
    let statistics = &report.statistics;
    let mut out = String::new();
    if n_bugs > 0 {
        out.push_str("... Checker found a bug.\n");
    }
    let _ = writeln!(out, "..... Found {}.", count(n_bugs as u64, "bug"));
    let _ = writeln!(out, "..... Explored {}", count(statistics.n_schedules, "schedule"));
    if let Some(average) = statistics.n_choices.checked_div(statistics.n_schedules) {
        let _ = writeln!(
            out,
            "..... Number of scheduling points: {} (min), {average} (avg), {} (max).",
            statistics.min_length, statistics.max_length
        );
    }
    if statistics.n_bounded > 0 {
        let _ = writeln!(out, "..... {} cut off at the step bound", count(statistics.n_bounded, "schedule"));
    }
    let coverage = &report.coverage;
    let _ = writeln!(
        out,
        "..... Covered {} % of control states, {} % of transitions, {} % of events",
        coverage.states.percent(),
        coverage.transitions.percent(),
        coverage.events.percent()
    );
    out.push_str(&scenario::render(&report.scenarios));
    out
}

/// Coverage as a text file.
pub fn render_coverage(report: &CheckReport) -> String {
    let coverage = &report.coverage;
    let mut out = String::new();
    for (name, share) in [
        ("control states", coverage.states),
        ("transitions", coverage.transitions),
        ("events", coverage.events),
    ] {
        let _ = writeln!(out, "{name}: {} of {} ({} %)", share.covered, share.all, share.percent());
    }
    if !coverage.unused_handlers.is_empty() {
        out.push_str("\nhandlers that never ran:\n");
        for handler in &coverage.unused_handlers {
            let _ = writeln!(out, "  {handler}");
        }
    }
    if !report.scenarios.is_empty() {
        let _ = write!(out, "\n{}", scenario::render(&report.scenarios));
    }
    out
}

/// A counterexample for people: what broke, then the run.
pub fn render_counterexample(
    counterexample: &Counterexample,
    help: Option<String>,
    sources: &Sources,
    look: trace::Look,
) -> String {
    let mut out = trace::explain(counterexample, help, sources, look);
    out.push_str(&trace::render_steps(counterexample, sources, look));
    out
}
