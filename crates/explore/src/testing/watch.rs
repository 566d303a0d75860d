//! The recorder of testing: coverage, monitor temperatures and scenarios, nothing else.

use allways_machine::{Actor, Executable, Note, Recorder, Scene};

use super::scenarios::ScenarioWatch;
use crate::coverage::Sink;
use crate::liveness::heat::Heat;

pub(crate) struct Watch {
    pub coverage: Sink,
    pub heat: Heat,
    /// `None` if there are no scenarios.
    pub scenarios: Option<Box<ScenarioWatch>>,
}

impl Watch {
    pub fn new(exe: &Executable) -> Self {
        let scenarios = ScenarioWatch::new(exe).map(Box::new);
        Watch { coverage: Sink::new(exe), heat: Heat::new(exe), scenarios }
    }

    /// A schedule begins.
    pub fn begin(&mut self) {
        self.heat.reset();
        if let Some(scenarios) = &mut self.scenarios {
            scenarios.begin();
        }
    }
}

impl Recorder for Watch {
    // Inlined into each place that notes something, where the match is then decided.
    #[inline(always)]
    fn record(&mut self, _: &Scene<'_>, note: Note) {
        self.coverage.note(&note);
        if let Note::Enter { actor: Actor::Monitor(monitor), state } = note {
            self.heat.enter(monitor as usize, state);
        }
        if let Some(scenarios) = &mut self.scenarios {
            scenarios.note(&note);
        }
    }
}
