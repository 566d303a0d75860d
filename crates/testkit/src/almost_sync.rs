//! The almost-synchronous exploration against the oracle: the same states of machines and monitors, one by one, and the
//! same violations but those that are told at the end of a run; and every violation replays.

use std::sync::Arc;

use allways_explore::search::almost_sync::survey::{Survey, survey};
use allways_explore::search::almost_sync::{AlmostSyncOptions, DestinationChoice, FloodRule};
use allways_machine::{Executable, Simplify};
use allways_run::Limits;

use crate::Loaded;
use crate::oracle::{self, OracleOptions};
use crate::search::Viewer;
use crate::view::{LocalSummary, Scene};

/// How one program compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Configurations of the oracle, and states of the exploration for each choice of destination set.
    Agree {
        n_oracle: usize,
        n_states: [u64; 2],
        n_violations: usize,
    },
    Differ(String),
    /// The oracle does not end. What it reached was reached, too, if the exploration ended.
    TooLarge {
        ended: bool,
    },
}

pub fn limits() -> Limits {
    Limits { instructions: 20_000, call_depth: 500, ..Limits::default() }
}

/// What an exploration reached, in the words of the oracle.
pub fn local_summary(loaded: &Loaded, survey: &Survey) -> LocalSummary {
    let (exe, store) = (survey.kernel.executable(), survey.kernel.store());
    let viewer = Viewer { program: &loaded.program, exe, store };
    let locals = survey.locals.iter().filter_map(|(instance, local)| viewer.local_view(*instance, local));
    let monitors = survey.monitors.iter().enumerate();
    LocalSummary {
        locals: locals.collect(),
        monitors: monitors
            .flat_map(|(at, states)| states.iter().map(move |local| (at, local)))
            .map(|(at, local)| (at, viewer.monitor_view(local)))
            .collect(),
        violations: survey.violations.iter().map(|found| (found.kind, found.span)).collect(),
        is_unknown: survey.unknown.is_some(),
    }
}

/// Compares one test, by both choices of destination sets and with over-approximated inboxes.
pub fn compare(loaded: &Loaded, test_idx: usize, options: OracleOptions, max_states: u64) -> Outcome {
    let reference = oracle::explore(&loaded.program, test_idx, options);
    let expected = LocalSummary::of(&reference);
    let scene = Scene { program: &loaded.program, sources: &loaded.sources };
    let exe = Arc::new(Executable::new(&loaded.program, test_idx));
    let mut n_states = [0; 2];
    let mut ended = true;
    for (at, choice) in
        [DestinationChoice::LeastWaiting, DestinationChoice::Canonical].into_iter().enumerate()
    {
        let options = AlmostSyncOptions {
            choice,
            flood: FloodRule::Off,
            max_states: Some(max_states),
            simplify: Simplify::default(),
            limits: limits(),
            ..AlmostSyncOptions::default()
        };
        let found = match survey(&exe, &options) {
            Ok(Some(found)) => found,
            Ok(None) if reference.bound_hit => {
                ended = false;
                continue;
            }
            Ok(None) => return Outcome::Differ(format!("{choice:?}: the exploration does not end")),
            Err(error) => return Outcome::Differ(format!("{choice:?}: {error}")),
        };
        n_states[at] = found.n_states;
        let reached = local_summary(loaded, &found);
        if let Some(missing) = expected.missing_from(&reached, &scene) {
            return Outcome::Differ(format!("{choice:?}: not reached: {missing}"));
        }
        if !reference.bound_hit
            && let Some(more) = reached.missing_from(&expected, &scene)
        {
            return Outcome::Differ(format!("{choice:?}: reached, but not by the oracle: {more}"));
        }
    }
    // Over-approximation may reach more, never less.
    let options = AlmostSyncOptions {
        flood: FloodRule::Bound(1),
        max_states: Some(max_states),
        simplify: Simplify::default(),
        limits: limits(),
        ..AlmostSyncOptions::default()
    };
    match survey(&exe, &options) {
        Ok(Some(found)) if found.unknown.is_none() => {
            let mut reached = local_summary(loaded, &found);
            // Inboxes are not kept in order, so only what does not show them is compared; and violations need not replay.
            let mut wanted = expected.clone();
            for summary in [&mut reached, &mut wanted] {
                summary.locals = summary.locals.iter().map(|view| view.without_inbox()).collect();
            }
            if found.n_doubts > 0 {
                wanted.violations.clear();
            }
            if let Some(missing) = wanted.missing_from(&reached, &scene) {
                return Outcome::Differ(format!("over-approximated: not reached: {missing}"));
            }
        }
        Ok(_) => {}
        Err(error) => return Outcome::Differ(format!("over-approximated: {error}")),
    }
    if reference.bound_hit {
        return Outcome::TooLarge { ended };
    }
    Outcome::Agree { n_oracle: reference.n_configurations, n_states, n_violations: expected.violations.len() }
}
