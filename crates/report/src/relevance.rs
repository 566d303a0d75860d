//! Which steps of a run led to its end: the causal past of the failure, without what left no trace in it.
//!
//! Going back from the failure, an actor matters in two ways: its *state* matters when something later depends on it, and
//! its *handler* when something later is done in the middle of it. A step is relevant if it changed the state of an actor
//! that matters, took the message whose handler matters, or delivered a message that matters. What a step depends on then
//! matters before it. A handler that changes nothing and whose messages do not matter is left out: ticks of a timer,
//! polling, messages that are ignored. Assigning the value that a variable has changes nothing, with one exception: of the
//! variables that the failing values come from, the last assignment matters, since it may have lost another one.

use std::collections::HashSet;

use allways_run::{
    Activity, ActorId, ActorKind, ChangeKind, Entry, MessageId, Name, PartOrigin, Trace, TraceState,
    ViolationKind,
};

/// By step: whether it is relevant.
pub struct Relevance {
    relevant: Vec<bool>,
}

#[derive(Default)]
struct Needs {
    states: HashSet<ActorId>,
    handlers: HashSet<ActorId>,
    messages: HashSet<MessageId>,
    /// Machines that wait at the end, until the step is found in which they began to.
    waits: HashSet<ActorId>,
    /// Variables whose last assignment matters, until it is found.
    assigned: HashSet<(ActorId, Name)>,
}

/// The variables that the values in the failing condition come from: those of the failing actor, and those of the sender of a
/// payload that had the same value when it was sent.
pub fn decisive_variables(trace: &Trace) -> HashSet<(ActorId, Name)> {
    let failure = &trace.failure;
    let mut found = HashSet::new();
    for part in &failure.parts {
        match (&part.origin, failure.actor) {
            (PartOrigin::Variable { name, .. }, Some(actor)) => {
                found.insert((actor, name.clone()));
            }
            (PartOrigin::Payload, _) => {
                let Some(message) = failure.message.map(|id| trace.message(id)) else { continue };
                let Some(sender) = message.sender else { continue };
                let mut state = TraceState::first(trace);
                let before = trace.steps.iter().take(message.sent as usize + 1);
                before.for_each(|step| state.apply(step));
                let same = state.of(sender).variables.iter().filter(|(_, value)| *value == part.value);
                found.extend(same.map(|(name, _)| (sender, name.clone())));
            }
            _ => {}
        }
    }
    found
}

impl Relevance {
    /// Of a run that repeats from `loop_start` on, every step of the loop is relevant.
    pub fn of(trace: &Trace, loop_start: Option<usize>) -> Self {
        let mut relevant = vec![false; trace.steps.len()];
        let has_tasks = trace.actors.iter().any(|actor| actor.kind == ActorKind::Task);
        if has_tasks || (trace.violation.is_none() && loop_start.is_none()) {
            // Tasks share memory, and where nothing failed everything is as interesting as everything else.
            return Relevance { relevant: vec![true; trace.steps.len()] };
        }
        let mut needs = Needs::default();
        needs.states.extend(trace.failure.actor);
        if trace.violation.as_ref().is_some_and(|violation| violation.kind == ViolationKind::Invariant) {
            // It is about all machines.
            needs.states.extend(trace.actor_ids());
        }
        needs.states.extend(trace.failure.waiting.iter().map(|waiting| waiting.actor));
        needs.handlers.extend(trace.failure.waiting.iter().map(|waiting| waiting.actor));
        needs.messages.extend(trace.failure.message);
        needs.waits.extend(trace.failure.waiting.iter().map(|waiting| waiting.actor));
        // What a machine waits for could come from these; how they got where they are is why it does not.
        let could_send = |actor: &ActorId| {
            let waits = trace.failure.waiting.iter();
            waits.flat_map(|waiting| &waiting.senders).any(|sender| *sender == trace.actor(*actor).type_name)
        };
        needs.states.extend(trace.actor_ids().filter(could_send));
        needs.assigned = decisive_variables(trace);
        for at in (0..trace.steps.len()).rev() {
            let is_forced = at + 1 == trace.steps.len() || loop_start.is_some_and(|start| at >= start);
            relevant[at] = needs.step(trace, at, is_forced);
        }
        Relevance { relevant }
    }

    pub fn is_relevant(&self, step: usize) -> bool {
        self.relevant.get(step).copied().unwrap_or(true)
    }
}

impl Needs {
    /// Whether a step matters for what comes after it; if so, what it depends on matters from now on.
    fn step(&mut self, trace: &Trace, at: usize, is_forced: bool) -> bool {
        let step = &trace.steps[at];
        // Actors on whose state and handler before this step something depends.
        let mut active: Vec<ActorId> = Vec::new();
        let mut taken: Vec<(ActorId, MessageId)> = Vec::new();
        let mut began: Vec<ActorId> = Vec::new();
        let mut went_on: Vec<ActorId> = Vec::new();
        for entry in &step.entries {
            match entry {
                Entry::Send { message, .. } | Entry::Arrive { message } | Entry::Announce { message, .. } => {
                    if self.messages.contains(message) {
                        active.extend(trace.message(*message).sender);
                    }
                }
                Entry::Observe { monitor, message, .. } if self.states.contains(monitor) => {
                    active.extend(trace.message(*message).sender);
                }
                Entry::Dequeue { machine, message, .. } => {
                    began.push(*machine);
                    taken.extend(message.map(|message| (*machine, message)));
                }
                Entry::Receive { machine, message, .. } => {
                    went_on.push(*machine);
                    taken.extend(message.map(|message| (*machine, message)));
                }
                Entry::Wait { machine, .. } if self.waits.remove(machine) => active.push(*machine),
                Entry::Create { machine, creator, .. } => {
                    began.push(*machine);
                    if self.states.contains(machine) || self.handlers.contains(machine) {
                        active.extend(*creator);
                    }
                }
                _ => {}
            }
        }
        let mut changed: Vec<ActorId> = Vec::new();
        for change in &step.changes {
            let is_of_state = match &change.what {
                ChangeKind::State { .. } => true,
                ChangeKind::Variable { name, edit, .. } => {
                    let is_last =
                        !self.assigned.is_empty() && self.assigned.remove(&(change.actor, name.clone()));
                    is_last || !edit.is_same()
                }
                ChangeKind::Activity { after, .. } => *after == Activity::Halted,
                ChangeKind::Created | ChangeKind::Queued(_) | ChangeKind::Unqueued(_) => false,
            };
            if is_of_state && self.states.contains(&change.actor) {
                changed.push(change.actor);
            }
        }
        // A handler that waited in `receive` is where it is because of what came.
        let has_begun = began.iter().chain(&went_on).any(|actor| self.handlers.contains(actor));
        if !is_forced && active.is_empty() && changed.is_empty() && !has_begun {
            return false;
        }
        for &(actor, message) in &taken {
            let is_needed = changed.contains(&actor) || self.handlers.contains(&actor);
            if is_needed || (is_forced && self.states.contains(&actor)) {
                // A copy is there because its original was sent.
                self.messages.extend([message].into_iter().chain(trace.message(message).copy_of));
            }
        }
        for actor in began {
            self.handlers.remove(&actor);
        }
        // A message that is taken at once is delivered in this step.
        for entry in &step.entries {
            if let Entry::Send { message, .. } | Entry::Arrive { message } = entry
                && self.messages.contains(message)
            {
                active.extend(trace.message(*message).sender);
            }
        }
        let mover = step.actor;
        active.extend(mover.filter(|mover| is_forced || changed.contains(mover)));
        for actor in active {
            self.states.insert(actor);
            self.handlers.insert(actor);
        }
        true
    }
}
