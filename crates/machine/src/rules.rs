//! What machines do with messages: the rules for arriving, waiting and taking, as functions of one local.
//!
//! The kernel's step applies them; engines that look at a machine apart from all others, and checkers, ask the same functions.
//! [docs/semantics.md](../../../docs/semantics.md), section 2, states them. Nothing here runs code.

use crate::Executable;
use crate::configuration::{Local, Message, Status};
use crate::ir::{Action, EventId, ReceiveId, ReceiveTable};

/// What becomes of a message when it reaches its target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// The target has halted.
    Dropped,
    /// The target is idle and ignores it: it would go at the next look into the inbox, before anything behind it is taken.
    Ignored,
    /// It is appended to the inbox.
    Waits,
    /// The target is idle, and its control state handles it at once.
    Handled,
    /// The target is in a `receive` that waits for it.
    Received,
}

/// What becomes of a message of an event that reaches a machine which stands so.
#[inline]
pub fn arrival(exe: &Executable, local: &Local, event: EventId) -> Arrival {
    match local.status {
        Status::Halted => Arrival::Dropped,
        Status::Pending(_) => Arrival::Waits,
        Status::Blocked { table } => match is_awaited(&exe.receives[table], event) {
            true => Arrival::Received,
            false => Arrival::Waits,
        },
        Status::Idle => match exe.states[local.control].actions[event] {
            Action::Ignore => Arrival::Ignored,
            Action::Defer => Arrival::Waits,
            Action::None | Action::Do(_) | Action::Goto(..) => Arrival::Handled,
        },
    }
}

/// Whether a machine that stands so keeps a message for later when it is delivered: it is in the middle of a handler, or
/// defers the event, or waits for others.
pub fn must_wait(exe: &Executable, local: &Local, event: EventId) -> bool {
    arrival(exe, local, event) == Arrival::Waits
}

/// Whether a `receive` waits for an event. Every `receive` also waits for halt.
#[inline]
pub fn is_awaited(table: &ReceiveTable, event: EventId) -> bool {
    event == EventId::HALT || table.cases[event].is_some()
}

/// Whether a machine that stands so can step by itself: it stands before an effect, or its control state handles null.
#[inline]
pub fn can_step(exe: &Executable, local: &Local) -> bool {
    match local.status {
        Status::Pending(_) => true,
        Status::Idle => exe.states[local.control].has_null,
        Status::Blocked { .. } | Status::Halted => false,
    }
}

/// Takes the first message that the control state neither defers nor ignores. Ignored ones before it are gone.
#[inline]
pub fn take(exe: &Executable, local: &mut Local) -> Option<Message> {
    local.touched.read_inbox();
    let actions = &exe.states[local.control].actions;
    let mut at = 0;
    while let Some(&message) = local.inbox.get(at) {
        match actions[message.event] {
            Action::Defer => at += 1,
            Action::Ignore => drop(local.inbox.remove(at)),
            Action::None | Action::Do(_) | Action::Goto(..) => return local.inbox.remove(at),
        }
    }
    None
}

/// Takes the first message that a `receive` waits for.
#[inline]
pub fn take_awaited(exe: &Executable, local: &mut Local, table: ReceiveId) -> Option<Message> {
    local.touched.read_inbox();
    let wanted = &exe.receives[table];
    let at = local.inbox.iter().position(|message| is_awaited(wanted, message.event))?;
    local.inbox.remove(at)
}

/// Appends a message to the inbox.
#[inline]
pub fn keep(local: &mut Local, message: Message) {
    local.touched.read_inbox();
    local.inbox.push_back(message);
}
