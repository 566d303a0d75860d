//! Traces: what a recorder hears, in the words of people.

use std::sync::Arc;

use allways_p::hir::Temperature;
use allways_run::{Choice, Entry, Limits, Schedule, Trace, TraceStep};

use crate::Executable;
use crate::configuration::Message;
use crate::kernel::Outcome;
use crate::record::{Actor, Note, Recorder, Scene};
use crate::replay::{ReplayError, replay};
use crate::value::{Form, Value};

/// Replays a schedule into a trace.
pub fn trace(
    exe: &Arc<Executable>,
    limits: Limits,
    schedule: &Schedule,
) -> Result<(Trace, Outcome), ReplayError> {
    let mut tracer = Tracer::default();
    let kernel = replay(exe, limits, schedule, &mut tracer)?;
    let outcome = kernel.outcome().clone();
    Ok((tracer.finish(&outcome), outcome))
}

/// Builds a [`Trace`] from notes.
#[derive(Clone, Default, Debug)]
pub struct Tracer {
    trace: Trace,
}

impl Tracer {
    /// The trace, with the violation that ended the run.
    pub fn finish(mut self, outcome: &Outcome) -> Trace {
        if let Outcome::Violated(violation) = outcome {
            if let Some(step) = self.trace.steps.last_mut() {
                step.entries.push(Entry::Fault((**violation).clone()));
            }
            self.trace.violation = Some((**violation).clone());
        }
        self.trace
    }

    fn push(&mut self, entry: Entry) {
        if let Some(step) = self.trace.steps.last_mut() {
            step.entries.push(entry);
        }
    }
}

impl Recorder for Tracer {
    fn record(&mut self, scene: &Scene<'_>, note: Note) {
        let exe = scene.exe;
        let name = |instance| scene.name(instance);
        let state_name = |state: u32| exe.state_name(state).to_owned();
        let event_name = |event: u32| exe.event_name(event).to_owned();
        let text = |notation, value: Value| (!value.is_null()).then(|| scene.text_as(notation, value));
        let payload = |message: Message| text(&exe.payloads[message.event as usize], message.payload);
        let entry = match note {
            Note::Chosen(choice) => {
                let mover = match choice {
                    Choice::Machine(machine) | Choice::Crash(machine) => Some(name(machine)),
                    Choice::Deliver { .. } => Some("network".to_owned()),
                    Choice::Data(_) => None,
                };
                if let Some(machine) = mover {
                    self.trace.steps.push(TraceStep { machine, ..TraceStep::default() });
                }
                if let Some(step) = self.trace.steps.last_mut() {
                    step.choices.push(choice);
                }
                return;
            }
            Note::Create { creator, created, payload: value } => Entry::Create {
                machine: name(created),
                creator: creator.map(name),
                interface: exe.interface_name(scene.roster.interface(created)).to_owned(),
                payload: text(&exe.interfaces[scene.roster.interface(created) as usize].payload, value),
            },
            Note::Send { machine, state, target, message, span } => Entry::Send {
                machine: name(machine),
                state: state_name(state),
                target: name(target),
                event: event_name(message.event),
                payload: payload(message),
                span,
                is_delayed: exe.network.is_delayed() && machine != target,
            },
            Note::Lose { machine, target, message } => {
                Entry::Lose { machine: name(machine), target: name(target), event: event_name(message.event) }
            }
            Note::Duplicate { machine, target, message } => Entry::Duplicate {
                machine: name(machine),
                target: name(target),
                event: event_name(message.event),
            },
            Note::Arrive { source, target, message } => Entry::Arrive {
                machine: name(target),
                source: name(source),
                event: event_name(message.event),
                payload: payload(message),
            },
            Note::Crash { machine, state, n_discarded } => {
                Entry::Crash { machine: name(machine), state: state_name(state), n_discarded }
            }
            Note::Drop { machine, target, message } => {
                Entry::Drop { machine: name(machine), target: name(target), event: event_name(message.event) }
            }
            Note::Dequeue { machine, state, message } => Entry::Dequeue {
                machine: name(machine),
                state: state_name(state),
                event: event_name(message.event),
                payload: payload(message),
            },
            Note::Receive { machine, state, message } => Entry::Receive {
                machine: name(machine),
                state: state_name(state),
                event: event_name(message.event),
                payload: payload(message),
            },
            Note::Wait { machine, state, table } => {
                let cases = exe.receives[table as usize].cases.iter().enumerate();
                let events = cases.filter(|(_, case)| case.is_some()).map(|(event, _)| event as u32);
                Entry::Wait {
                    machine: name(machine),
                    state: state_name(state),
                    events: events.map(event_name).collect(),
                }
            }
            Note::Raise { actor, state, message, span } => Entry::Raise {
                machine: scene.actor_name(actor),
                state: state_name(state),
                event: event_name(message.event),
                payload: payload(message),
                span,
            },
            Note::Goto { actor, state, target } => Entry::Goto {
                machine: scene.actor_name(actor),
                state: state_name(state),
                target: state_name(target),
            },
            Note::Enter { actor: Actor::Machine(machine), state } => {
                Entry::Enter { machine: name(machine), state: state_name(state) }
            }
            Note::Exit { actor: Actor::Machine(machine), state } => {
                Entry::Exit { machine: name(machine), state: state_name(state) }
            }
            Note::Enter { actor: actor @ Actor::Monitor(_), state } => Entry::MonitorEnter {
                monitor: scene.actor_name(actor),
                state: state_name(state),
                temperature: match exe.states[state as usize].temperature {
                    Temperature::Warm => None,
                    Temperature::Hot => Some("hot"),
                    Temperature::Cold => Some("cold"),
                },
            },
            Note::Exit { actor: actor @ Actor::Monitor(_), state } => {
                Entry::MonitorExit { monitor: scene.actor_name(actor), state: state_name(state) }
            }
            Note::Announce { machine, state, message, span } => Entry::Announce {
                machine: name(machine),
                state: state_name(state),
                event: event_name(message.event),
                payload: payload(message),
                span,
            },
            Note::Observe { monitor, state, machine, message } => Entry::Observe {
                monitor: exe.monitor_name(monitor as usize).to_owned(),
                state: state_name(state),
                machine: name(machine),
                event: event_name(message.event),
                payload: payload(message),
            },
            Note::Answer { machine, answer, n_answers, span } => {
                Entry::Choice { machine: name(machine), answer, n_answers, span }
            }
            Note::Print { actor, text, span } => {
                Entry::Print { machine: scene.actor_name(actor), text: scene.text(Form::Plain, text), span }
            }
            Note::Halt { machine, n_discarded } => Entry::Halt { machine: name(machine), n_discarded },
        };
        self.push(entry);
    }
}
