//! What a machine will never read again: messages that it ignores where it stands, and wherever it can come from there.
//!
//! An over-approximation of where it can come is enough: every `goto` of code that may run in a control state counts. A
//! `receive` may take what the control state ignores, so where there is one nothing is known.

use allways_base::{Idx, IndexVec};

use crate::Executable;
use crate::chart;
use crate::configuration::{Local, Status};
use crate::ir::{Action, ControlId, EventId, FunId};

/// By control state and event.
#[derive(Clone, Debug)]
pub struct Drops {
    for_good: Vec<bool>,
    n_events: usize,
}

impl Drops {
    pub fn new(exe: &Executable) -> Self {
        let n_events = exe.n_events();
        let next: IndexVec<ControlId, Option<Vec<ControlId>>> =
            exe.states.ids().map(|state| next_states(exe, state)).collect();
        let mut for_good: Vec<bool> = Vec::with_capacity(exe.states.len() * n_events);
        for (state, next) in next.iter_ids() {
            let ignores = |action: &Action| next.is_some() && matches!(action, Action::Ignore);
            for_good.extend(exe.states[state].actions.iter().map(ignores));
        }
        // What can be lost later is not for good.
        let mut changed = true;
        while changed {
            changed = false;
            for (state, next) in next.iter_ids() {
                for &to in next.iter().flatten() {
                    for event in 0..n_events {
                        let (here, there) = (state.index() * n_events + event, to.index() * n_events + event);
                        if for_good[here] && !for_good[there] {
                            for_good[here] = false;
                            changed = true;
                        }
                    }
                }
            }
        }
        Drops { for_good, n_events }
    }

    /// Whether the event is dropped for good in some control state.
    pub fn somewhere(&self, event: EventId) -> bool {
        self.for_good.iter().skip(event.index()).step_by(self.n_events).any(|&for_good| for_good)
    }

    /// Whether a machine that waits in that control state drops the event, and would whenever it came.
    pub fn at(&self, control: ControlId, event: EventId) -> bool {
        self.for_good[control.index() * self.n_events + event.index()]
    }

    /// Whether a machine that stands like that drops the event, and would whenever it came.
    pub fn for_good(&self, local: &Local, event: EventId) -> bool {
        match local.status {
            Status::Halted => true,
            Status::Idle => self.at(local.control, event),
            Status::Pending(_) | Status::Blocked { .. } => false,
        }
    }
}

/// The control states that may come next; `None` where code may `receive`.
fn next_states(exe: &Executable, state: ControlId) -> Option<Vec<ControlId>> {
    let state = &exe.states[state];
    let mut open: Vec<FunId> = state.entry.into_iter().chain(state.exit).collect();
    let mut next = Vec::new();
    for action in &state.actions {
        match *action {
            Action::Do(fun) => open.push(fun),
            Action::Goto(to, fun) => {
                next.push(to);
                open.extend(fun);
            }
            Action::None | Action::Defer | Action::Ignore => {}
        }
    }
    let moves = chart::moves(exe, open);
    if moves.may_receive {
        return None;
    }
    next.extend(moves.targets);
    next.sort_unstable();
    next.dedup();
    Some(next)
}
