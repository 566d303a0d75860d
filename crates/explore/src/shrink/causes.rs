//! What led to the end of a run: its causes, step by step, backwards.
//!
//! A step depends on what moves and changes what it reaches: the mover, the target of its message, a machine that it makes, monitors that
//! hear of it, a channel of the network. Going back from the last step, a step counts if it changed a party that matters; then
//! the parties it depends on matter as well. What is left violates the same property, unless a party that no longer matters gets in
//! the way, so it is a candidate like any other. One run finds it, however long the way is.

use allways_machine::{Kernel, Note, Recorder, Scene};
use allways_run::{Choice, InstanceId};

use rustc_hash::FxHashSet;

use super::Step;

/// What can matter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Party {
    Machine(InstanceId),
    Monitor(u32),
    Channel { source: InstanceId, target: InstanceId },
}

/// What a step changes.
struct Changes {
    is_delayed: bool,
    changed: Vec<Party>,
}

impl Recorder for Changes {
    fn record(&mut self, _: &Scene<'_>, note: Note) {
        match note {
            Note::Send { machine, target, .. } if self.is_delayed => {
                self.changed.push(Party::Channel { source: machine, target });
            }
            Note::Send { target, .. } => self.changed.push(Party::Machine(target)),
            Note::Create { created, .. } => self.changed.push(Party::Machine(created)),
            Note::Observe { monitor, .. } => self.changed.push(Party::Monitor(monitor)),
            Note::Arrive { source, target, .. } => {
                self.changed.extend([Party::Machine(target), Party::Channel { source, target }]);
            }
            _ => {}
        }
    }
}

/// What a step depends on.
fn mover(choice: Choice) -> Option<Party> {
    match choice {
        Choice::Machine(machine) | Choice::Crash(machine) => Some(Party::Machine(machine)),
        Choice::Deliver { target, source, .. } => Some(Party::Channel { source, target }),
        Choice::Data(_) => None,
    }
}

/// Makes a step if it can be made: what it may have changed, the mover first.
pub(super) fn take(kernel: &mut Kernel, step: &Step) -> Vec<Party> {
    let is_delayed = kernel.executable().network.is_delayed();
    let mut changes = Changes { is_delayed, changed: mover(step.choice).into_iter().collect() };
    if kernel.is_running() {
        step.take(kernel, &mut changes);
    }
    changes.changed
}

/// The steps of a run that led to its last one.
pub(crate) fn causes(kernel: &mut Kernel, steps: &[Step]) -> Vec<Step> {
    kernel.reset();
    let changed: Vec<Vec<Party>> = steps.iter().map(|step| take(kernel, step)).collect();
    let mut matters: FxHashSet<Party> = changed.last().into_iter().flatten().copied().collect();
    let mut kept = Vec::new();
    for (step, changed) in steps.iter().zip(&changed).rev() {
        if changed.iter().any(|party| matters.contains(party)) {
            matters.extend(mover(step.choice));
            kept.push(step.clone());
        }
    }
    kept.reverse();
    kept
}
