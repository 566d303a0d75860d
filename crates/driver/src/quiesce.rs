//! Whether every run of a test ends: the search, and what is worth asking about a loop that it finds.

use std::sync::Arc;

use allways_explore::quiesce::{self, Engine, QuiesceOptions, QuiesceReport, Quiescence};
use allways_explore::{Cancel, InternalError};
use allways_machine::Executable;
use allways_run::{
    Counterexample, NetworkModel, NetworkOptions, Noted, Observer, Quiet, Violation, ViolationKind,
};

/// Configurations that a question about a loop may cost.
const ASIDE: usize = 200_000;

/// The answer, with what else was asked about a loop.
pub struct Answer {
    pub report: QuiesceReport,
    /// Whether all fair runs end, where the loop is not fair.
    pub fairly: Option<Aside>,
    /// Whether all runs end over P's own network, where the loop was found over another one.
    pub in_order: Option<Aside>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aside {
    Quiesces,
    Diverges,
    Unknown,
}

impl Aside {
    pub const fn as_str(self) -> &'static str {
        match self {
            Aside::Quiesces => "quiesces",
            Aside::Diverges => "diverges",
            Aside::Unknown => "unknown",
        }
    }

    fn of(report: &QuiesceReport) -> Aside {
        match report.quiescence {
            Quiescence::Quiesces { .. } => Aside::Quiesces,
            Quiescence::Diverges(_) => Aside::Diverges,
            Quiescence::Unknown(_) => Aside::Unknown,
        }
    }
}

/// Looks for an infinite run of one test. `over` makes the executable of another network.
///
/// # Errors
/// When something that was found does not replay: a fault of Allways.
pub fn quiesce(
    exe: &Arc<Executable>,
    over: &dyn Fn(&NetworkOptions) -> Option<Arc<Executable>>,
    options: &QuiesceOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<Answer, InternalError> {
    let report = ask(exe, options, observer, cancel)?;
    let mut answer = Answer { report, fairly: None, in_order: None };
    let Quiescence::Diverges(found) = &answer.report.quiescence else { return Ok(answer) };
    let aside =
        QuiesceOptions { max_configurations: Some(ASIDE), engine: Engine::Explicit, ..options.clone() };
    if !found.is_fair() {
        let aside = QuiesceOptions { is_fair: true, ..aside.clone() };
        answer.fairly = Some(Aside::of(&ask(exe, &aside, &Quiet, cancel)?));
    }
    let network = exe.network.options();
    if network.model != NetworkModel::Inbox {
        let ordered = NetworkOptions { model: NetworkModel::Inbox, ..network.clone() };
        answer.in_order = match over(&ordered) {
            Some(ordered) => Some(Aside::of(&ask(&ordered, &aside, &Quiet, cancel)?)),
            None => Some(Aside::Unknown),
        };
    }
    Ok(answer)
}

/// The report of a search. A loop that it could not replay because it was stopped meanwhile is no fault of Allways: the answer is
/// unknown.
fn ask(
    exe: &Arc<Executable>,
    options: &QuiesceOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<QuiesceReport, InternalError> {
    let noted = Noted::new(cancel);
    match (quiesce::quiesce(exe, options, observer, &noted), noted.first()) {
        (Err(_), Some(reason)) => Ok(QuiesceReport::unknown(reason)),
        (found, _) => found,
    }
}

/// The infinite run as a counterexample, to be shown and written like others.
pub fn counterexample(found: &quiesce::Divergence) -> Counterexample {
    let violation = match found.turn.piles.is_empty() {
        true => divergence("this run goes on for ever: it repeats"),
        false => divergence("this run goes on for ever, and messages pile up"),
    };
    Counterexample {
        violation,
        schedule: found.schedule.clone(),
        loop_start: Some(found.loop_start),
        trace: found.trace.clone(),
    }
}

/// An infinite run as a violation: the answer to the question whether all runs end.
pub(crate) fn divergence(message: &str) -> Violation {
    Violation {
        kind: ViolationKind::Divergence,
        message: message.to_owned(),
        span: None,
        machine: None,
        monitor: None,
    }
}
