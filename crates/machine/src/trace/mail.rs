//! Messages from their `send` to their end: which one a machine takes when several look alike.
//!
//! The kernel's notes name a message by its content. Inboxes and channels are mirrored here with an id for each
//! message; after each step what the mirror has too much was ignored in between.

use allways_base::{Idx, Span};
use allways_run::{ActorId, Fate, MessageId, TraceMessage};
use rustc_hash::FxHashMap;

use super::Tracer;
use crate::configuration::{Local, Message};
use crate::record::Scene;

type Held = (MessageId, Message);

#[derive(Clone, Default, Debug)]
pub(super) struct Mail {
    /// By target: what waits, in order.
    inboxes: FxHashMap<ActorId, Vec<Held>>,
    /// By sender and target: what the network carries.
    channels: FxHashMap<(ActorId, ActorId), Vec<Held>>,
    /// By sender: a message that monitors have seen, and that is not delivered yet.
    seen: FxHashMap<ActorId, MessageId>,
    /// By sender: the last announcement.
    announced: FxHashMap<ActorId, MessageId>,
    /// Messages that came to an inbox or left it in this step, and stayed over a step.
    arrived: Vec<(ActorId, MessageId)>,
    left: Vec<(ActorId, MessageId)>,
}

impl Mail {
    /// Monitors see a message that is going to be delivered.
    pub fn observe(&mut self, sender: ActorId, message: MessageId) {
        self.seen.insert(sender, message);
    }

    /// Monitors see an announcement.
    pub fn announce(&mut self, sender: ActorId, message: MessageId) {
        self.announced.insert(sender, message);
    }

    /// The message that monitors are seeing.
    pub fn observing(&self, sender: ActorId, is_send: bool) -> Option<MessageId> {
        if is_send { self.seen.get(&sender).copied() } else { self.announced.get(&sender).copied() }
    }

    /// The message that is delivered now, if monitors have seen it.
    pub fn observed(&mut self, sender: ActorId) -> Option<MessageId> {
        self.seen.remove(&sender)
    }

    pub fn send(
        &mut self,
        id: MessageId,
        sender: ActorId,
        target: ActorId,
        message: Message,
        is_delayed: bool,
    ) {
        if is_delayed {
            self.channels.entry((sender, target)).or_default().push((id, message));
        } else {
            self.inboxes.entry(target).or_default().push((id, message));
            self.arrived.push((target, id));
        }
    }

    fn latest(held: Option<&Vec<Held>>, message: Message) -> Option<usize> {
        held.and_then(|held| held.iter().rposition(|(_, found)| *found == message))
    }

    /// The latest such message in flight or in the inbox.
    pub fn last(&self, sender: ActorId, target: ActorId, message: Message) -> Option<MessageId> {
        let channel = self.channels.get(&(sender, target));
        if let (Some(held), Some(at)) = (channel, Self::latest(channel, message)) {
            return Some(held[at].0);
        }
        let inbox = self.inboxes.get(&target);
        Self::latest(inbox, message).zip(inbox).map(|(at, held)| held[at].0)
    }

    /// The same, which is gone now.
    pub fn undo(&mut self, sender: ActorId, target: ActorId, message: Message) -> Option<MessageId> {
        let id = self.last(sender, target, message)?;
        for held in self.channels.get_mut(&(sender, target)).into_iter().chain(self.inboxes.get_mut(&target))
        {
            held.retain(|(found, _)| *found != id);
        }
        self.arrived.retain(|(_, found)| *found != id);
        Some(id)
    }

    /// The network brings the oldest such message.
    pub fn arrive(&mut self, sender: ActorId, target: ActorId, message: Message) -> Option<MessageId> {
        let held = self.channels.get_mut(&(sender, target))?;
        let at = held.iter().position(|(_, found)| *found == message)?;
        let (id, message) = held.remove(at);
        self.send(id, sender, target, message, false);
        Some(id)
    }

    /// The target takes the oldest such message.
    pub fn take(&mut self, target: ActorId, message: Message) -> Option<MessageId> {
        let held = self.inboxes.get_mut(&target)?;
        let at = held.iter().position(|(_, found)| *found == message)?;
        let (id, _) = held.remove(at);
        self.left.push((target, id));
        Some(id)
    }

    /// Drops what the inbox does not have, and returns it. Machines ignore from the front, so that of equal messages the
    /// later ones stay.
    pub fn reconcile(&mut self, target: ActorId, local: &Local) -> Vec<MessageId> {
        let Some(held) = self.inboxes.get_mut(&target) else { return Vec::new() };
        if held.len() == local.inbox.len() {
            return Vec::new();
        }
        let mut kept = Vec::new();
        let mut gone = Vec::new();
        let mut real = local.inbox.iter().rev().peekable();
        for &(id, message) in held.iter().rev() {
            if real.peek() == Some(&&message) {
                real.next();
                kept.push((id, message));
            } else {
                gone.push(id);
            }
        }
        kept.reverse();
        gone.reverse();
        *held = kept;
        self.left.extend(gone.iter().map(|&id| (target, id)));
        gone
    }

    /// Messages that began or ceased to wait in an inbox. One that was taken at once never waited.
    pub fn take_moves(&mut self, target: ActorId) -> Vec<(MessageId, bool)> {
        let mut moves = Vec::new();
        let (arrived, left) = (&mut self.arrived, &mut self.left);
        arrived.retain(|&(to, id)| {
            if to != target {
                return true;
            }
            match left.iter().position(|&found| found == (to, id)) {
                Some(at) => drop(left.swap_remove(at)),
                None => moves.push((id, true)),
            }
            false
        });
        left.retain(|&(to, id)| {
            if to == target {
                moves.push((id, false));
            }
            to != target
        });
        moves
    }
}

impl Tracer {
    pub(super) fn new_message(
        &mut self,
        scene: &Scene<'_>,
        sender: ActorId,
        target: Option<ActorId>,
        message: Message,
        span: Option<Span>,
    ) -> MessageId {
        let id = MessageId::new(self.trace.messages.len());
        let new = TraceMessage {
            event: self.event_name(scene, message.event),
            payload: self.payload(scene, message),
            sender: Some(sender),
            target,
            span,
            sent: self.now(),
            delivered: None,
            taken: None,
            fate: Fate::Undelivered,
            copy_of: None,
        };
        self.trace.messages.push(new);
        id
    }
}
