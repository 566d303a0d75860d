//! The recorder of local steps: what they cover, and how hot a monitor was in them.

use allways_base::Idx;
use allways_machine::{Actor, Executable, Note, Recorder, Scene};
use allways_p::hir::Temperature;

use crate::coverage::Sink;

/// Hears coverage, and how hot a monitor was.
pub(crate) struct LocalRecorder {
    pub coverage: Sink,
    pub temperatures: Vec<Temperature>,
    pub hot: bool,
    pub cold: bool,
}

impl Recorder for LocalRecorder {
    fn record(&mut self, _: &Scene<'_>, note: Note) {
        self.coverage.note(&note);
        if let Note::Enter { actor: Actor::Monitor(_), state } = note {
            match self.temperatures[state.index()] {
                Temperature::Hot => self.hot = true,
                Temperature::Cold => self.cold = true,
                Temperature::Warm => {}
            }
        }
    }
}

/// By control state. Scenarios are never hot.
pub(crate) fn temperatures(exe: &Executable) -> Vec<Temperature> {
    let temperature = |state: &allways_machine::ir::StateDef| {
        let machine = &exe.machines[state.machine];
        if machine.is_monitor && !machine.is_scenario { state.temperature } else { Temperature::Warm }
    };
    exe.states.iter().map(temperature).collect()
}
