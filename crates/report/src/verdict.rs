//! What a verdict is worth: one word for scripts, a headline and a sentence for people.
//!
//! A proof, a proof within bounds and a number of schedules without a violation are different words everywhere, so that
//! none of them passes for another.

use allways_base::Sources;
use allways_run::{Bound, Guarantee, Verdict};
use serde::Serialize;

use crate::check::explain_stop_at;
use crate::text::count;

/// What belongs to a verdict besides itself.
#[derive(Clone, Copy, Default, Debug)]
pub struct Scope<'a> {
    /// Bounds on variables, as they were asked for.
    pub variables: &'a [(String, u64)],
    /// Properties that were not checked: `deadlock`, `liveness`.
    pub unchecked: &'a [&'static str],
}

/// A verdict as data.
#[derive(Clone, Serialize)]
pub struct VerdictReport {
    /// As [`word`] has it.
    pub verdict: &'static str,
    /// How it holds, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guarantee: Option<GuaranteeReport>,
    /// What the verdict is worth, or why there is none.
    pub explanation: String,
}

impl VerdictReport {
    pub fn new(verdict: &Verdict, scope: Scope<'_>, explanation: String) -> Self {
        VerdictReport { verdict: word(verdict), guarantee: guarantee(verdict, scope), explanation }
    }
}

/// The guarantee of a verdict that holds, as data.
#[derive(Clone, PartialEq, Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub struct GuaranteeReport {
    /// `proved`, `bounded` or `tested`.
    pub kind: &'static str,
    /// Of `bounded`: those that cut something off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<BoundReport>,
    /// Of `tested`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_schedules: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_steps: Option<u64>,
    /// At most: the probability that a configuration was missed because of a hash collision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub miss_probability: Option<f64>,
    /// Properties that were not checked: `deadlock`, `liveness`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<&'static str>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct BoundReport {
    /// `steps`, `inbox`, `occurrences`, `machines`, `choices`, `variable`; of Boogie `delays`, `rounds`, `nesting`.
    pub kind: &'static str,
    /// Of `variable`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// `proved`, `bounded`, `tested`, `violated` or `unknown`.
pub fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Holds(
            Guarantee::Exhaustive | Guarantee::Probable { .. } | Guarantee::LocalStates { .. },
        ) => "proved",
        Verdict::Holds(Guarantee::UpTo(_)) => "bounded",
        Verdict::Holds(Guarantee::Sampled { .. }) => "tested",
        Verdict::Violated(_) => "violated",
        Verdict::Unknown(_) => "unknown",
    }
}

/// The guarantee of a verdict that holds.
pub fn guarantee(verdict: &Verdict, scope: Scope<'_>) -> Option<GuaranteeReport> {
    let Verdict::Holds(guarantee) = verdict else { return None };
    let mut report = GuaranteeReport {
        kind: word(verdict),
        bounds: Vec::new(),
        n_schedules: None,
        n_steps: None,
        miss_probability: None,
        unchecked: scope.unchecked.to_vec(),
    };
    match guarantee {
        Guarantee::Exhaustive | Guarantee::LocalStates { .. } => {}
        Guarantee::Probable { omission } => report.miss_probability = Some(*omission),
        Guarantee::UpTo(bounds) => {
            report.bounds = bounds.iter().flat_map(|bound| bound_reports(*bound, scope)).collect();
        }
        Guarantee::Sampled { n_schedules, n_steps } => {
            report.n_schedules = Some(*n_schedules);
            report.n_steps = Some(*n_steps);
        }
    }
    Some(report)
}

fn bound_reports(bound: Bound, scope: Scope<'_>) -> Vec<BoundReport> {
    let one = |kind, limit: u64| vec![BoundReport { kind, name: None, limit: Some(limit) }];
    match bound {
        Bound::Steps(n) => one("steps", n),
        Bound::InboxLength(n) => one("inbox", n.into()),
        Bound::Occurrences(n) => one("occurrences", n.into()),
        Bound::Machines(n) => one("machines", n.into()),
        Bound::Choices(n) => one("choices", n.into()),
        Bound::Delays(n) => one("delays", n.into()),
        Bound::Rounds(n) => one("rounds", n.into()),
        Bound::Nesting(n) => one("nesting", n.into()),
        Bound::Variables if scope.variables.is_empty() => {
            vec![BoundReport { kind: "variable", name: None, limit: None }]
        }
        Bound::Variables => {
            let variables = scope.variables.iter();
            let report = |(name, most): &(String, u64)| BoundReport {
                kind: "variable",
                name: Some(name.clone()),
                limit: Some(*most),
            };
            variables.map(report).collect()
        }
    }
}

/// What stands behind the name of a test: `proved`, `holds within bounds: ...`, `no violation in 10 schedules`,
/// `violated` or `unknown`.
pub fn headline(verdict: &Verdict, scope: Scope<'_>) -> String {
    match verdict {
        Verdict::Holds(Guarantee::UpTo(bounds)) => {
            format!("holds within bounds: {}{}", bound_words(bounds, scope), unchecked_words(scope))
        }
        Verdict::Holds(Guarantee::Sampled { n_schedules, .. }) => {
            format!("no violation in {}", count(*n_schedules, "schedule"))
        }
        Verdict::Holds(_) => format!("proved{}", unchecked_words(scope)),
        Verdict::Violated(_) | Verdict::Unknown(_) => word(verdict).to_owned(),
    }
}

fn unchecked_words(scope: Scope<'_>) -> String {
    match scope.unchecked {
        [] => String::new(),
        names => format!(" ({} not checked)", names.join(" and ")),
    }
}

fn bound_words(bounds: &[Bound], scope: Scope<'_>) -> String {
    let words = |bound: &Bound| match *bound {
        Bound::Steps(n) => vec![count(n, "step")],
        Bound::InboxLength(n) => vec![format!("{} in an inbox", count(n.into(), "message"))],
        Bound::Occurrences(n) => vec![format!("{} of one event in an inbox", count(n.into(), "message"))],
        Bound::Machines(n) => vec![count(n.into(), "machine")],
        Bound::Choices(n) => vec![format!("{} to each `choose`", count(n.into(), "answer"))],
        Bound::Delays(n) => vec![count(n.into(), "delay")],
        Bound::Rounds(n) => vec![count(n.into(), "round")],
        Bound::Nesting(n) => vec![format!("{} or iterations of a loop", count(n.into(), "nested call"))],
        Bound::Variables if scope.variables.is_empty() => vec!["values of variables".to_owned()],
        Bound::Variables => scope.variables.iter().map(|(name, most)| format!("{name} <= {most}")).collect(),
    };
    bounds.iter().flat_map(words).collect::<Vec<_>>().join(", ")
}

/// What a verdict is worth, or why there is none, in a sentence that follows the headline.
pub fn explain(verdict: &Verdict, scope: Scope<'_>, sources: &Sources) -> String {
    let guarantee = match verdict {
        Verdict::Violated(counterexample) => return counterexample.violation.text(sources),
        Verdict::Unknown(reason) => return explain_stop_at(reason, sources),
        Verdict::Holds(guarantee) => guarantee,
    };
    match guarantee {
        Guarantee::Exhaustive | Guarantee::Probable { .. } => "every run was explored".to_owned(),
        Guarantee::LocalStates { is_approximate } => {
            let how = if *is_approximate { " (flooded inboxes over-approximated)" } else { "" };
            let open = match scope.unchecked {
                [] => "no machine waits in `receive`, and no state is hot".to_owned(),
                names => format!("{}: not checked by this engine", names.join(" and ")),
            };
            format!(
                "every local state was explored, with inboxes of any length{how}: no failing assertion, unhandled event, \
                run-time error or monitor error; {open}"
            )
        }
        Guarantee::UpTo(_) => {
            "every run within the bounds was explored; runs beyond them were cut off, so this is not a proof"
                .to_owned()
        }
        Guarantee::Sampled { .. } => "these schedules were tested; this is not a proof".to_owned(),
    }
}

/// What qualifies a proof without taking anything from it.
pub fn note(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Holds(Guarantee::Probable { omission }) => Some(format!(
            "probability of a missed configuration (hash collision): at most {omission:.1e}; `--store exact` excludes it"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proofs_bounds_and_tests_read_differently() {
        let variables = [("Client.next".to_owned(), 3)];
        let bounded = Scope { variables: &variables, unchecked: &[] };
        let up_to = Verdict::Holds(Guarantee::UpTo(vec![Bound::Choices(1), Bound::Variables]));
        let tested = Verdict::Holds(Guarantee::Sampled { n_schedules: 1, n_steps: 9 });
        let probable = Verdict::Holds(Guarantee::Probable { omission: 2.6e-10 });
        assert_eq!(
            headline(&up_to, bounded),
            "holds within bounds: 1 answer to each `choose`, Client.next <= 3"
        );
        assert_eq!(headline(&tested, Scope::default()), "no violation in 1 schedule");
        assert_eq!(headline(&probable, Scope::default()), "proved");
        assert!(note(&probable).is_some_and(|note| note.contains("at most 2.6e-10")));
        let unchecked = Scope { unchecked: &["deadlock", "liveness"], ..Scope::default() };
        let local = Verdict::Holds(Guarantee::LocalStates { is_approximate: false });
        assert_eq!(headline(&local, unchecked), "proved (deadlock and liveness not checked)");
        assert_eq!([word(&up_to), word(&tested), word(&probable)], ["bounded", "tested", "proved"]);
        let bounds = guarantee(&up_to, bounded).unwrap().bounds;
        assert_eq!((bounds[1].name.as_deref(), bounds[1].limit), (Some("Client.next"), Some(3)));
    }
}
