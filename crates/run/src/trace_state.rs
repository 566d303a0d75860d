//! The states of a trace, made of its differences one after the other.

use crate::datum::{Datum, Name};
use crate::trace::{Activity, ActorId, ChangeKind, MessageId, Trace, TraceStep};

/// An actor at one moment.
#[derive(Clone, PartialEq, Debug)]
pub struct ActorState {
    pub exists: bool,
    pub state: Name,
    pub activity: Activity,
    pub variables: Vec<(Name, Datum)>,
    pub inbox: Vec<MessageId>,
}

/// All actors at one moment, by their ids.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceState {
    pub actors: Vec<ActorState>,
}

impl TraceState {
    /// Before the first step.
    pub fn first(trace: &Trace) -> Self {
        let actor = |actor: &crate::TraceActor| ActorState {
            exists: false,
            state: actor.state.clone(),
            activity: Activity::Running,
            variables: actor.variables.clone(),
            inbox: Vec::new(),
        };
        TraceState { actors: trace.actors.iter().map(actor).collect() }
    }

    pub fn of(&self, actor: ActorId) -> &ActorState {
        &self.actors[actor.as_u32() as usize]
    }

    pub fn apply(&mut self, step: &TraceStep) {
        for change in &step.changes {
            let actor = &mut self.actors[change.actor.as_u32() as usize];
            match &change.what {
                ChangeKind::Created => actor.exists = true,
                ChangeKind::State { after, .. } => actor.state = after.clone(),
                ChangeKind::Activity { after, .. } => actor.activity = *after,
                ChangeKind::Queued(message) => actor.inbox.push(*message),
                ChangeKind::Unqueued(message) => actor.inbox.retain(|found| found != message),
                ChangeKind::Variable { name, path, edit } => {
                    if let Some((_, value)) = actor.variables.iter_mut().find(|(found, _)| found == name) {
                        value.apply(path, edit);
                    }
                }
            }
        }
    }
}
