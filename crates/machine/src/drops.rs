//! What a machine will never look at again: messages that it ignores where it stands, and wherever it can come from there.
//!
//! An over-approximation of where it can come is enough: every `goto` of code that may run in a control state counts. A
//! `receive` may take what the control state ignores, so where there is one nothing is known.

use crate::Executable;
use crate::chart;
use crate::configuration::{Local, Status};
use crate::ir::Action;

/// By control state and event.
#[derive(Clone, Debug)]
pub struct Drops {
    for_good: Vec<bool>,
    n_events: usize,
}

impl Drops {
    pub fn new(exe: &Executable) -> Self {
        let (n_states, n_events) = (exe.states.len(), exe.n_events());
        let ways: Vec<Option<Vec<u32>>> = (0..n_states).map(|state| ways_from(exe, state)).collect();
        let ignores = |state: usize, event: usize| {
            ways[state].is_some() && matches!(exe.states[state].actions.get(event), Some(Action::Ignore))
        };
        let mut for_good: Vec<bool> =
            (0..n_states * n_events).map(|at| ignores(at / n_events, at % n_events)).collect();
        // What can be lost later is not for good.
        let mut changed = true;
        while changed {
            changed = false;
            for (state, ways) in ways.iter().enumerate() {
                for &to in ways.iter().flatten() {
                    for event in 0..n_events {
                        let (here, there) = (state * n_events + event, to as usize * n_events + event);
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
    pub fn somewhere(&self, event: u32) -> bool {
        self.for_good.iter().skip(event as usize).step_by(self.n_events).any(|&for_good| for_good)
    }

    /// Whether a machine that waits in that control state drops the event, and would whenever it came.
    pub fn at(&self, control: u32, event: u32) -> bool {
        self.for_good[control as usize * self.n_events + event as usize]
    }

    /// Whether a machine that stands like that drops the event, and would whenever it came.
    pub fn for_good(&self, local: &Local, event: u32) -> bool {
        match local.status {
            Status::Halted => true,
            Status::Idle => self.at(local.control, event),
            Status::Pending(_) | Status::Blocked { .. } => false,
        }
    }
}

/// The control states that may come next; `None` where code may `receive`.
fn ways_from(exe: &Executable, state: usize) -> Option<Vec<u32>> {
    let state = &exe.states[state];
    let mut open: Vec<u32> = state.entry.into_iter().chain(state.exit).collect();
    let mut ways = Vec::new();
    for action in &state.actions {
        match *action {
            Action::Do(fun) => open.push(fun),
            Action::Goto(to, fun) => {
                ways.push(to);
                open.extend(fun);
            }
            Action::None | Action::Defer | Action::Ignore => {}
        }
    }
    let moves = chart::moves(exe, open);
    if moves.may_receive {
        return None;
    }
    ways.extend(moves.targets);
    ways.sort_unstable();
    ways.dedup();
    Some(ways)
}
