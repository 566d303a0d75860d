//! The answer of an exhaustive search, as data for scripts and as text for people.

use std::fmt::Write as _;

use serde::Serialize;

use crate::check::{Network, Violation};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProveReport {
    pub version: u32,
    pub command: &'static str,
    pub project: String,
    pub test: String,
    /// `holds`, `violated` or `unknown`.
    pub verdict: &'static str,
    /// What the verdict is worth, or why there is none.
    pub explanation: String,
    pub engine: &'static str,
    pub store: &'static str,
    /// Absent for P's own network without faults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Present when the violation depends on the order of messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_note: Option<String>,
    pub statistics: Statistics,
    /// Handlers that no run reaches. Absent when the search did not see everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead_handlers: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<Violation>,
}

/// Figures that are the same for any number of threads.
#[derive(Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Statistics {
    pub n_configurations: u64,
    pub n_transitions: u64,
    pub depth: u64,
    pub n_ends: u64,
    pub largest_inbox: u32,
    pub n_machines: u32,
}

pub fn render_statistics(report: &ProveReport) -> String {
    let s = &report.statistics;
    let mut out = format!(
        "..... {} configurations, {} transitions, depth {}, {} ends\n",
        s.n_configurations, s.n_transitions, s.depth, s.n_ends
    );
    let _ = writeln!(
        out,
        "..... largest inbox {}, at most {} machines, {} store",
        s.largest_inbox, s.n_machines, report.store
    );
    if let Some(dead) = &report.dead_handlers
        && !dead.is_empty()
    {
        out.push_str("..... handlers that no run reaches:\n");
        for handler in dead {
            let _ = writeln!(out, "        {handler}");
        }
    }
    out
}
