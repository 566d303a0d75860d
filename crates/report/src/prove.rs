//! The answer of an exhaustive search, as data for scripts and as text for people.

use std::fmt::Write as _;

use serde::Serialize;

use crate::check::{Coverage, Network, Violation};

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
    /// Of an explicit search that ended early: what it can vouch for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covered: Option<Covered>,
    pub engine: &'static str,
    pub store: &'static str,
    /// Absent for P's own network without faults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Present when the violation depends on the order of messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_note: Option<String>,
    pub statistics: Statistics,
    pub coverage: Coverage,
    /// Of testing, when that has the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_schedules: Option<u64>,
    /// An inbox that grew and grew, of the almost-synchronous engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flood: Option<Flood>,
    /// Handlers that no run reaches. Absent when the search did not see everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead_handlers: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<Violation>,
    /// The counterexample is one, but there was no room to look for a shorter one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub may_be_shorter: bool,
    /// A violation exists, but a limit was met before there was a run to show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_violation: Option<SeenViolation>,
    /// What was still growing when a limit ended the search.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub growth: Vec<Growth>,
    /// A choice that made the search wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wide_choice: Option<WideChoice>,
}

/// A choice of a number with many answers.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WideChoice {
    pub machine: String,
    pub n_answers: u32,
    /// What to do about it.
    pub help: String,
}

/// A violation without a counterexample.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenViolation {
    /// Of some way to it, if steps were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_steps: Option<u64>,
    /// The same, in a sentence.
    pub text: String,
}

/// Why a search may have no end.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Growth {
    /// `inbox`, `network`, `machines`, `collection`, `number` or `payload`.
    pub kind: &'static str,
    /// The machine or monitor; of a payload, the event.
    pub owner: String,
    /// The variable, or the event that waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The largest that was seen.
    pub size: u64,
    /// The same, in a sentence.
    pub text: String,
    /// What to do about it.
    pub help: &'static str,
}

/// What grew, and what helps; nothing if nothing did.
pub fn render_growth(growth: &[Growth]) -> String {
    let mut out = String::new();
    if growth.is_empty() {
        return out;
    }
    out.push_str("still growing when it ended; whether it ever stops is not known; so far:\n");
    for growth in growth {
        let _ = writeln!(out, "  {}", growth.text);
    }
    let mut told: Vec<&str> = Vec::new();
    for growth in growth {
        if !told.contains(&growth.help) {
            told.push(growth.help);
            let _ = writeln!(out, "help: {}", growth.help);
        }
    }
    out
}

/// What to do about a choice that made the search wide.
pub fn render_wide_choice(wide: Option<&WideChoice>) -> String {
    wide.map_or_else(String::new, |wide| format!("help: {}\n", wide.help))
}

/// What was looked at by a search that ended early.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Covered {
    /// Every run of up to so many steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_steps: Option<u64>,
    /// The same, in a sentence.
    pub text: String,
}

/// Who floods whom.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Flood {
    pub sender: String,
    pub receiver: String,
    pub event: String,
    pub n_waiting: u32,
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
    pub reductions: Saved,
}

/// What each reduction did; zero when it was off, or had nothing to do.
#[derive(Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Saved {
    /// Local states simplified.
    pub dead_variables: u64,
    pub unread_payloads: u64,
    pub collection_order: u64,
    /// Steps to a configuration for which another stands.
    pub symmetry: u64,
    /// Steps put off.
    pub persistent_sets: u64,
    /// Steps that change nothing.
    pub timer_stutter: u64,
}

pub fn render_statistics(report: &ProveReport) -> String {
    let s = &report.statistics;
    if let Some(n_schedules) = report.n_schedules {
        return format!("..... found by testing, on one of {n_schedules} schedules\n");
    }
    let mut out = if report.engine == "asi" {
        format!("..... {} states, {} transitions, depth {}\n", s.n_configurations, s.n_transitions, s.depth)
    } else {
        format!(
            "..... {} configurations, {} transitions, depth {}, {} ends\n",
            s.n_configurations, s.n_transitions, s.depth, s.n_ends
        )
    };
    if let Some(flood) = &report.flood {
        let _ = writeln!(
            out,
            "..... {} floods {} with {}: {} messages waited there",
            flood.sender, flood.receiver, flood.event, flood.n_waiting
        );
    }
    if report.may_be_shorter {
        out.push_str("..... a shorter counterexample may exist; looking for it would have taken too much\n");
    }
    let _ = writeln!(
        out,
        "..... largest inbox {}, at most {} machines, {} store",
        s.largest_inbox, s.n_machines, report.store
    );
    let r = &s.reductions;
    let saved: Vec<String> = [
        (r.dead_variables, "local states with dead variables"),
        (r.unread_payloads, "with unread payloads"),
        (r.collection_order, "with collections without order"),
        (r.symmetry, "configurations for which a symmetric one stands"),
        (r.persistent_sets, "steps put off"),
        (r.timer_stutter, "steps that change nothing"),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, what)| format!("{n} {what}"))
    .collect();
    if !saved.is_empty() {
        let _ = writeln!(out, "..... reduced: {}", saved.join(", "));
    }
    let _ = writeln!(
        out,
        "..... covered {} % of control states, {} % of transitions, {} % of events",
        report.coverage.states.percent(),
        report.coverage.transitions.percent(),
        report.coverage.events.percent()
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
