//! The recorder of local steps: what they cover, and how hot a monitor was in them.

use allways_machine::{Actor, Executable, Note, Recorder, Scene};
use allways_p::hir::Temperature;

use crate::coverage::Sink;

/// Hears coverage, and how hot a monitor was.
pub(super) struct PartWatch {
    pub coverage: Sink,
    pub temperatures: Vec<Temperature>,
    pub hot: bool,
    pub cold: bool,
}

impl Recorder for PartWatch {
    fn record(&mut self, _: &Scene<'_>, note: Note) {
        let layout = self.coverage.layout;
        match note {
            Note::Enter { actor, state } => {
                self.coverage.cover(layout.entered(state));
                if let Actor::Monitor(_) = actor {
                    match self.temperatures[state as usize] {
                        Temperature::Hot => self.hot = true,
                        Temperature::Cold => self.cold = true,
                        Temperature::Warm => {}
                    }
                }
            }
            Note::Exit { state, .. } => self.coverage.cover(layout.left(state)),
            Note::Send { message, .. } | Note::Announce { message, .. } => {
                self.coverage.cover(layout.sent(message.event));
            }
            Note::Dequeue { state, message, .. }
            | Note::Raise { state, message, .. }
            | Note::Observe { state, message, .. } => {
                self.coverage.cover(layout.handled(state, message.event));
            }
            Note::Receive { state, message, .. } => {
                self.coverage.cover(layout.received(state, message.event));
            }
            Note::Chosen(_)
            | Note::Create { .. }
            | Note::Lose { .. }
            | Note::Duplicate { .. }
            | Note::Arrive { .. }
            | Note::Crash { .. }
            | Note::Drop { .. }
            | Note::Wait { .. }
            | Note::Goto { .. }
            | Note::Answer { .. }
            | Note::Print { .. }
            | Note::Halt { .. } => {}
        }
    }
}

/// By control state. Scenarios are never hot.
pub(super) fn temperatures(exe: &Executable) -> Vec<Temperature> {
    let temperature = |state: &allways_machine::ir::StateDef| {
        let machine = &exe.machines[state.machine as usize];
        if machine.is_monitor && !machine.is_scenario { state.temperature } else { Temperature::Warm }
    };
    exe.states.iter().map(temperature).collect()
}
