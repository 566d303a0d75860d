//! The answer about a Boogie program, as data for scripts and as text for people. Verdict, trace and violation are those of every
//! report; what a delay-bounded search adds stands beside them.

use allways_run::{Bound, Guarantee, StopReason, Verdict};
use serde::Serialize;

use crate::check::Violation;
use crate::json::Head;
use crate::text::count;
use crate::verdict::VerdictReport;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BoogieReport {
    #[serde(flatten)]
    pub head: Head,
    #[serde(flatten)]
    pub answer: VerdictReport,
    #[serde(flatten)]
    pub search: SearchReport,
    pub statistics: Statistics,
    pub violations: Vec<Violation>,
    /// A run that fails unless a quantified assumption or axiom forbids it, if nothing is decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidate: Option<Violation>,
}

/// What was explored.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchReport {
    pub scheduler: &'static str,
    pub preemption: &'static str,
    pub assertions: &'static str,
    /// Whether a task is posted or waited for.
    pub has_tasks: bool,
    /// Whether the axioms were shown to have a model.
    pub axioms_are_consistent: bool,
    /// The largest bounds within which nothing fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covered: Option<Covered>,
    /// Why larger bounds were not covered, where they could have been.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// What the failing run is worth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// What a bound on nesting is about.
    #[serde(skip)]
    pub nesting: Nesting,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Covered {
    pub delays: u32,
    pub recursion: u32,
    /// Whether anything lies beyond `recursion`.
    pub is_bounded: bool,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    pub delays: u32,
    pub recursion: u32,
    pub is_repeated: bool,
    pub assumptions_left_to_solver: usize,
}

#[derive(Clone, Copy, Default)]
pub struct Nesting {
    pub loops: bool,
    pub calls: bool,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Statistics {
    pub n_queries: u64,
    /// Procedures that were looked into, once for each call.
    pub n_instances: u64,
}

/// The verdict in a line, with what it is worth; of a violation that comes after the run.
pub fn headline(verdict: &Verdict, search: &SearchReport, has_candidate: bool) -> String {
    let word = match verdict {
        Verdict::Holds(_) => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::Unknown(_) => "unknown",
    };
    match verdict {
        Verdict::Violated(_) => word.to_owned(),
        Verdict::Holds(_) | Verdict::Unknown(_) => {
            format!("{word}: {}", explain(verdict, search, has_candidate))
        }
    }
}

fn within(bounds: &[Bound], search: &SearchReport) -> String {
    let words: Vec<String> = bounds
        .iter()
        .map(|bound| match *bound {
            Bound::Delays(n) => count(u64::from(n), "delay"),
            Bound::Rounds(n) => count(u64::from(n), "round"),
            Bound::Nesting(n) => nested(n, search.nesting),
            other => format!("{other:?}"),
        })
        .collect();
    words.join(" and ")
}

fn nested(n: u32, nesting: Nesting) -> String {
    let (iterations, calls) = (count(u64::from(n), "iteration"), count(u64::from(n), "nested call"));
    match (nesting.loops, nesting.calls) {
        (true, false) => format!("{iterations} of each loop"),
        (false, true) => format!("{calls} of each procedure"),
        _ => format!("{iterations} of each loop or nested calls of each procedure"),
    }
}

/// What the verdict is worth, in sentences.
pub fn explain(verdict: &Verdict, search: &SearchReport, has_candidate: bool) -> String {
    let mut text = match verdict {
        Verdict::Holds(Guarantee::UpTo(bounds)) => {
            let under =
                if search.has_tasks { format!(" under {}", scheduler(search)) } else { String::new() };
            let mut text = format!("no failure{under} within {}; not a proof", within(bounds, search));
            if let Some(reason) = &search.stopped {
                text.push_str(&format!("; larger bounds were tried: {reason}"));
            }
            text
        }
        Verdict::Holds(_) => "proved, no run fails".to_owned(),
        Verdict::Violated(_) => found(search),
        Verdict::Unknown(reason) => {
            let mut text = reason.to_string();
            if let Some(covered) = search.covered {
                let bounds = [Bound::Delays(covered.delays)].into_iter().filter(|_| search.has_tasks);
                let nesting = covered.is_bounded.then_some(Bound::Nesting(covered.recursion));
                let bounds: Vec<Bound> = bounds.chain(nesting).collect();
                if !bounds.is_empty() && !matches!(reason, StopReason::Undecided { .. } if !search.has_tasks)
                {
                    text.push_str(&format!("; no failure within {}", within(&bounds, search)));
                }
            }
            if has_candidate {
                text.push_str("; the run shown fails unless it is ruled out by a quantified assumption or axiom that the solver could not decide");
            }
            text
        }
    };
    if !search.axioms_are_consistent && matches!(verdict, Verdict::Holds(_)) {
        text.push_str("; the solver did not decide whether the axioms contradict each other");
    }
    text
}

fn scheduler(search: &SearchReport) -> String {
    let name = match search.scheduler {
        "dfw" => "DFW",
        "df" => "DF",
        name => name,
    };
    let points = match search.preemption {
        "automatic" => ", preempted before every shared access,",
        "serial" => ", preempted at waits only,",
        _ => "",
    };
    format!("{name}{points}")
}

fn found(search: &SearchReport) -> String {
    let Some(evidence) = search.evidence else { return "found".to_owned() };
    let mut bounds = Vec::new();
    if search.has_tasks {
        let delays = match search.scheduler {
            "child-first" => format!("in {}", count(u64::from(evidence.delays) + 1, "round")),
            _ => format!("with {}", count(u64::from(evidence.delays), "delay")),
        };
        bounds.push(format!("under {} {delays}", scheduler(search)));
    }
    if search.nesting.loops || search.nesting.calls {
        bounds.push(format!("within {}", nested(evidence.recursion, search.nesting)));
    }
    let bounds = if bounds.is_empty() { String::new() } else { format!("found {}; ", bounds.join(" and ")) };
    match (evidence.is_repeated, evidence.assumptions_left_to_solver) {
        (true, 0) => format!("{bounds}the concurrent interpreter replayed the run"),
        (true, n) => format!(
            "{bounds}the concurrent interpreter replayed the run; {} over unbounded data checked by the solver only",
            count(n as u64, "assumption")
        ),
        (false, _) => {
            format!("{bounds}the run is the solver's model: the interpreter cannot compute it")
        }
    }
}
