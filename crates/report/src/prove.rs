//! The answer of an exhaustive search, as data for scripts and as text for people.

use std::fmt::Write as _;

use serde::Serialize;

use crate::check::{self, Coverage, Network, Violation};
use crate::json::Head;
use crate::text::{count, count_of};
use crate::verdict::VerdictReport;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProveReport {
    #[serde(flatten)]
    pub head: Head,
    #[serde(flatten)]
    pub answer: VerdictReport,
    /// Of an explicit search that ended early: what it can vouch for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covered: Option<Covered>,
    pub engine: &'static str,
    /// Of explicit search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<&'static str>,
    /// Absent for P's own network without faults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Present when the violation depends on the order of messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_note: Option<String>,
    pub statistics: Figures,
    /// Absent if the engine does not keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// Of testing, when that has the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_schedules: Option<u64>,
    /// An inbox that grew and grew, of the almost-synchronous engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flood: Option<Flood>,
    /// Figures of symbolic exploration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbolic: Option<Symbolic>,
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
    /// What the engine has to say besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
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
    /// Of some path to it, if steps were counted.
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
    pub help: String,
}

/// What grew, and what helps; nothing if nothing did.
pub fn render_growth(growth: &[Growth]) -> String {
    let mut out = String::new();
    if growth.is_empty() {
        return out;
    }
    out.push_str("still growing when the search ended (it may or may not stop later):\n");
    for growth in growth {
        let _ = writeln!(out, "  {}", growth.text);
    }
    // Advice of one kind is given once.
    let mut shown: Vec<&str> = Vec::new();
    for growth in growth {
        if !shown.contains(&growth.kind) {
            shown.push(growth.kind);
            let _ = writeln!(out, "help: {}", growth.help);
        }
    }
    out
}

/// What to do about a choice that made the search wide.
pub fn render_wide_choice(wide: Option<&WideChoice>) -> String {
    wide.map_or_else(String::new, |wide| format!("help: {}\n", wide.help))
}

/// What was explored by a search that ended early.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Covered {
    /// Every run of up to so many steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_steps: Option<u64>,
    /// The same, in a sentence.
    pub text: String,
}

/// Which machine floods which.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Flood {
    pub sender: String,
    pub receiver: String,
    pub event: String,
    pub n_waiting: u32,
}

/// Figures of the engine that answered.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Figures {
    Search(Statistics),
    Testing(check::Statistics),
    Other(Other),
}

/// Figures of an engine of another kind: `nSolverCalls` to a number and its unit.
pub struct Other(pub Vec<(&'static str, &'static str, u64)>);

impl Serialize for Other {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, _, n)| (name, n)))
    }
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
    /// Machines that left a configuration.
    pub machine_garbage: u64,
    /// Steps put off.
    pub persistent_sets: u64,
    /// Steps that change nothing.
    pub timer_stutter: u64,
    /// Answers of `choose` that others represent.
    pub data_independence: u64,
    /// Steps to a configuration whose numbers were renumbered.
    pub counters: u64,
}

/// The figures of a search; `is_verbose` adds those that only experts need.
pub fn render_statistics(report: &ProveReport, is_verbose: bool) -> String {
    let mut out = match &report.statistics {
        Figures::Search(statistics) => render_search(report, statistics, is_verbose),
        Figures::Testing(statistics) => {
            let by = if report.violation.is_some() { "found by testing, after" } else { "testing:" };
            format!("..... {by} {}\n", count(statistics.n_schedules, "schedule"))
        }
        Figures::Other(Other(figures)) => {
            let words: Vec<String> = figures.iter().map(|(_, unit, n)| format!("{n} {unit}")).collect();
            if words.is_empty() { String::new() } else { format!("..... {}\n", words.join(", ")) }
        }
    };
    for note in &report.notes {
        let _ = writeln!(out, "..... {note}");
    }
    if let Some(coverage) = &report.coverage {
        let _ = writeln!(
            out,
            "..... covered {} % of control states, {} % of transitions, {} % of events",
            coverage.states.percent(),
            coverage.transitions.percent(),
            coverage.events.percent()
        );
    }
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

/// Figures of symbolic exploration. Counts of configurations are decimal digits, since they may be beyond any machine number.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Symbolic {
    /// Absent when the search did not reach all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configurations: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal: Option<String>,
    /// Local steps that were computed; all others were remembered.
    pub handler_runs: u64,
    /// Levels of the diagrams: machines, monitors, parts of the network.
    pub slots: u64,
    pub events: u64,
    /// Local states; where a machine is split, the values of its parts.
    pub local_states: u64,
    /// Of the level that has most.
    pub most_local_states: u64,
    /// Machines and monitors that take several levels.
    pub split: u64,
    pub peak_nodes: u64,
    /// Nodes of the set of all configurations.
    pub set_nodes: u64,
    /// Names of the slots, from the bottom level up.
    pub order: Vec<String>,
    /// Invariants that the user stated and that hold in all configurations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stated_invariants: Option<u64>,
    /// What holds in all configurations, one sentence each, if that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub invariants: Vec<String>,
    /// The two counts for people.
    #[serde(skip)]
    pub short: Option<(String, String)>,
    #[serde(skip)]
    pub shows_order: bool,
}

fn render_symbolic(symbolic: &Symbolic, is_verbose: bool) -> String {
    let mut out = String::new();
    if let Some((configurations, terminal)) = &symbolic.short {
        let _ = writeln!(out, "..... {configurations} configurations, {terminal} terminal");
    }
    match symbolic.stated_invariants {
        None => {}
        Some(1) => out.push_str("..... the invariant holds in all of them\n"),
        Some(n) => {
            let _ = writeln!(out, "..... {n} invariants hold in all of them");
        }
    }
    for invariant in &symbolic.invariants {
        let _ = writeln!(out, "..... invariant: {invariant}");
    }
    if symbolic.shows_order {
        let _ =
            writeln!(out, "..... order of levels, from the bottom level up: {}", symbolic.order.join(", "));
    }
    if !is_verbose {
        return out;
    }
    let _ = writeln!(
        out,
        "..... {}, {} (at most {} in one level)",
        count(symbolic.handler_runs, "computed local step"),
        count(symbolic.local_states, "local state"),
        symbolic.most_local_states
    );
    let _ = writeln!(
        out,
        "..... {}{}, {}, {} for all configurations, at most {} in use",
        count(symbolic.slots, "level"),
        match symbolic.split {
            0 => String::new(),
            n => format!(" ({n} of the machines and monitors split into several)"),
        },
        count(symbolic.events, "event"),
        count(symbolic.set_nodes, "node"),
        count(symbolic.peak_nodes, "node")
    );
    out
}

fn render_search(report: &ProveReport, s: &Statistics, is_verbose: bool) -> String {
    let (transitions, depth) = (count(s.n_transitions, "transition"), s.depth);
    let mut out = if let Some(symbolic) = &report.symbolic {
        render_symbolic(symbolic, is_verbose)
    } else if report.engine == "asi" {
        format!("..... {}, {transitions}, depth {depth}\n", count(s.n_configurations, "state"))
    } else {
        let configurations = count(s.n_configurations, "configuration");
        format!("..... {configurations}, {transitions}, depth {depth}, {} terminal\n", s.n_ends)
    };
    if let Some(flood) = &report.flood {
        let _ = writeln!(
            out,
            "..... {} floods {} with {}: {} waited there",
            flood.sender,
            flood.receiver,
            flood.event,
            count(flood.n_waiting.into(), "message")
        );
    }
    if report.may_be_shorter {
        out.push_str("..... a shorter counterexample may exist, and the search for it was given up; `--no-reduction persistent-sets` may find it\n");
    }
    if !is_verbose {
        return out;
    }
    let store = report.store.map_or_else(String::new, |store| format!(", {store} store"));
    let machines = count(s.n_machines.into(), "machine");
    let _ = writeln!(out, "..... largest inbox {}, at most {machines}{store}", s.largest_inbox);
    let r = &s.reductions;
    let saved: Vec<String> = [
        (r.dead_variables, "local state with dead variables", "local states with dead variables"),
        (r.unread_payloads, "with unread payloads", "with unread payloads"),
        (r.collection_order, "with collections without order", "with collections without order"),
        (
            r.symmetry,
            "configuration replaced by a symmetric one",
            "configurations replaced by symmetric ones",
        ),
        (
            r.machine_garbage,
            "machine left out that could never act again",
            "machines left out that could never act again",
        ),
        (r.persistent_sets, "step postponed", "steps postponed"),
        (r.timer_stutter, "step that changes nothing", "steps that change nothing"),
        (
            r.data_independence,
            "answer of `choose` that another one represents",
            "answers of `choose` that others represent",
        ),
        (r.counters, "configuration renumbered", "configurations renumbered"),
    ]
    .into_iter()
    .filter(|(n, ..)| *n > 0)
    .map(|(n, one, many)| count_of(n, one, many))
    .collect();
    if !saved.is_empty() {
        let _ = writeln!(out, "..... reduced: {}", saved.join(", "));
    }
    out
}
