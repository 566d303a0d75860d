//! Liveness of monitors beyond what a single run can show (docs/semantics.md, section 6).
//!
//! A run in which a monitor stays hot for long is only suspicious. From such a point an exhaustive search asks
//! whether any configuration can still be reached in which the monitor is cold. If not, and the explored part has a
//! cycle to stay in, the violation is certain, and the cycle is the loop of the lasso. If one is found, the run goes
//! on. If the search hits its bound, P's temperature rule decides in the end.
//!
//! Reading order: [`graph`] (the explored part), [`components`] (its strongly connected components), [`random`] and
//! [`weak`] (which loops count, by fairness).

pub(crate) mod components;
pub(crate) mod graph;
pub(crate) mod heat;
pub(crate) mod key;
pub(crate) mod random;
pub(crate) mod weak;

use allways_machine::{Executable, Kernel};
use allways_run::{Certainty, Choice, Violation, ViolationKind};

/// Which infinite runs count for liveness (docs/semantics.md, section 6).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Fairness {
    /// Those that a scheduler which resolves every choice at random produces with positive probability.
    #[default]
    Random,
    /// Those in which every machine that can always step does, and every `$$` gives both answers; `$` and `choose`
    /// are free.
    Weak,
}

/// What a search from one configuration says of one monitor.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Search {
    /// No violation from here that is certain, or none at all.
    Cools,
    /// The bound was hit, or the search was cancelled.
    Open,
    /// An infinite run: choices to the loop, and the choices of the loop.
    Lasso { monitor: usize, stem: Vec<Choice>, lap: Vec<Choice> },
    /// Choices to an ordinary violation that was met on the way.
    Broken { path: Vec<Choice>, violation: Box<Violation> },
}

/// A violation, and how to come to it from where the kernel stands.
#[derive(Clone, Debug)]
pub(crate) struct Break {
    pub violation: Box<Violation>,
    /// Choices after those of the run.
    pub more: Vec<Choice>,
    /// How many choices at the end are a loop.
    pub n_lap: Option<usize>,
}

impl Break {
    pub fn here(violation: Violation) -> Self {
        Break { violation: Box::new(violation), more: Vec::new(), n_lap: None }
    }
}

impl Search {
    /// What was found, if something was.
    pub fn into_break(self, exe: &Executable, fairness: Fairness) -> Option<Break> {
        match self {
            Search::Cools | Search::Open => None,
            Search::Lasso { monitor, stem, lap } => {
                let n_lap = Some(lap.len());
                let violation = Box::new(certain(exe, monitor, fairness));
                Some(Break { violation, more: [stem, lap].concat(), n_lap })
            }
            Search::Broken { path, violation } => Some(Break { violation, more: path, n_lap: None }),
        }
    }
}

/// The violation that a certain lasso shows.
fn certain(exe: &Executable, monitor: usize, fairness: Fairness) -> Violation {
    let name = exe.monitor_name(monitor);
    let message = match fairness {
        Fairness::Random => {
            format!(
                "Monitor '{name}' detected liveness bug: after this run, no continuation ever takes it to a cold state."
            )
        }
        Fairness::Weak => {
            format!(
                "Monitor '{name}' detected liveness bug: it is hot again and again on a fair loop, and never cold."
            )
        }
    };
    Violation {
        kind: ViolationKind::Liveness(Certainty::Certain),
        message,
        span: Some(exe.machines[exe.monitors[monitor].machine].span),
        machine: None,
        monitor: Some(monitor),
    }
}

/// The violation of the temperature rule, for a monitor that is hot where the kernel stands.
pub fn potential(kernel: &Kernel, monitor: usize) -> Violation {
    let exe = kernel.executable();
    let state = kernel.configuration().monitors[monitor].control;
    Violation {
        kind: ViolationKind::Liveness(Certainty::Potential),
        message: format!(
            "Monitor '{}' detected potential liveness bug in hot state '{}'.",
            exe.monitor_name(monitor),
            exe.state_name(state)
        ),
        span: Some(exe.states[state].span),
        machine: None,
        monitor: Some(monitor),
    }
}
