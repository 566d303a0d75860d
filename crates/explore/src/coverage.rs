//! What was run: control states, transitions, events, and so the handlers that never were.
//!
//! Every thing that can be covered has a number. A search thread keeps a byte for each and a list of those it has
//! newly set, so that in the long run covering costs the reading of a byte that is already set. The lists are merged in
//! the order of schedules.

use allways_base::{Idx, IndexVec, Span};
use allways_machine::ir::{Action, ControlId, EventId, FunId};
use allways_machine::{Executable, Note};

/// Where the numbers of each kind of thing begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    n_states: usize,
    n_events: usize,
}

impl Layout {
    pub fn new(exe: &Executable) -> Self {
        Layout { n_states: exe.states.len(), n_events: exe.n_events() }
    }

    #[inline]
    pub fn entered(&self, state: ControlId) -> usize {
        state.index()
    }

    #[inline]
    pub fn left(&self, state: ControlId) -> usize {
        self.n_states + state.index()
    }

    #[inline]
    pub fn sent(&self, event: EventId) -> usize {
        2 * self.n_states + event.index()
    }

    #[inline]
    pub fn handled(&self, state: ControlId, event: EventId) -> usize {
        2 * self.n_states + self.n_events + state.index() * self.n_events + event.index()
    }

    /// Taken by a `receive`, not by the control state.
    #[inline]
    pub fn received(&self, state: ControlId, event: EventId) -> usize {
        self.handled(state, event) + self.n_states * self.n_events
    }

    fn len(&self) -> usize {
        2 * self.n_states + self.n_events + 2 * self.n_states * self.n_events
    }
}

/// The part that one thread fills.
pub(crate) struct Sink {
    pub layout: Layout,
    seen: Vec<bool>,
    fresh: Vec<u32>,
}

impl Sink {
    pub fn new(exe: &Executable) -> Self {
        let layout = Layout::new(exe);
        Sink { layout, seen: vec![false; layout.len()], fresh: Vec::new() }
    }

    /// Covers what a note tells of.
    // Inlined into each place that notes something, where the match is then decided.
    #[inline(always)]
    pub fn note(&mut self, note: &Note) {
        let layout = self.layout;
        match *note {
            Note::Enter { state, .. } => self.cover(layout.entered(state)),
            Note::Exit { state, .. } => self.cover(layout.left(state)),
            Note::Send { message, .. } | Note::Announce { message, .. } => {
                self.cover(layout.sent(message.event));
            }
            Note::Dequeue { state, message, .. }
            | Note::Raise { state, message, .. }
            | Note::Observe { state, message, .. } => {
                self.cover(layout.handled(state, message.event));
            }
            Note::Receive { state, message, .. } => {
                self.cover(layout.received(state, message.event));
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
            | Note::Assign { .. }
            | Note::Halt { .. } => {}
        }
    }

    #[inline]
    pub fn cover(&mut self, thing: usize) {
        if let Some(seen) = self.seen.get_mut(thing)
            && !*seen
        {
            *seen = true;
            self.fresh.push(thing as u32);
        }
    }

    /// Everything that was covered.
    pub fn all(&self) -> impl Iterator<Item = u32> + '_ {
        self.seen.iter().zip(0..).filter(|(seen, _)| **seen).map(|(_, thing)| thing)
    }

    /// What was covered for the first time since the last call.
    pub fn take_fresh(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.fresh)
    }
}

/// What was covered by a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coverage {
    layout: Layout,
    seen: Vec<bool>,
    n_covered: u64,
}

/// How many of how many.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Share {
    pub n_covered: usize,
    pub n_all: usize,
}

impl Share {
    fn count(&mut self, is_covered: bool) {
        self.n_all += 1;
        self.n_covered += usize::from(is_covered);
    }
}

/// Coverage in three figures, over the machines and monitors of the test.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Summary {
    pub states: Share,
    /// Pairs of a control state and an event that it handles.
    pub transitions: Share,
    /// Events that some machine handles, and of which one was sent or announced.
    pub events: Share,
}

/// What starts a handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trigger {
    Entry,
    Exit,
    Event(EventId),
}

/// A handler that no schedule ran. Numbers are those of the executable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnusedHandler {
    pub state: ControlId,
    pub trigger: Trigger,
    /// The lines of it; of a transition without function, those of its control state.
    pub span: Span,
}

impl Coverage {
    pub fn new(exe: &Executable) -> Self {
        let layout = Layout::new(exe);
        Coverage { layout, seen: vec![false; layout.len()], n_covered: 0 }
    }

    /// Things that do not exist, of which only another process could say so, are left out.
    pub(crate) fn merge(&mut self, fresh: &[u32]) {
        for &thing in fresh {
            if let Some(seen) = self.seen.get_mut(thing as usize)
                && !std::mem::replace(seen, true)
            {
                self.n_covered += 1;
            }
        }
    }

    /// The same of things by number, of which some may not exist.
    pub(crate) fn merge_all(&mut self, things: &[u64]) {
        let known = things.iter().filter(|&&thing| thing < self.seen.len() as u64);
        self.merge(&known.map(|&thing| thing as u32).collect::<Vec<_>>());
    }

    /// How many things of all kinds were covered: a figure that grows while there is news.
    pub fn n_covered(&self) -> u64 {
        self.n_covered
    }

    pub fn is_entered(&self, state: ControlId) -> bool {
        self.seen[self.layout.entered(state)]
    }

    pub fn is_left(&self, state: ControlId) -> bool {
        self.seen[self.layout.left(state)]
    }

    /// Sent to a machine, or announced.
    pub fn is_sent(&self, event: EventId) -> bool {
        self.seen[self.layout.sent(event)]
    }

    /// Handled by the control state, also after a raise.
    pub fn is_handled(&self, state: ControlId, event: EventId) -> bool {
        self.seen[self.layout.handled(state, event)]
    }

    /// Taken by a `receive` in the control state.
    pub fn is_received(&self, state: ControlId, event: EventId) -> bool {
        self.seen[self.layout.received(state, event)]
    }

    pub fn summary(&self, exe: &Executable) -> Summary {
        let mut summary = Summary::default();
        let mut is_handled: IndexVec<EventId, bool> = vec![false; exe.n_events()].into();
        for state in states_of_test(exe) {
            summary.states.count(self.is_entered(state));
            for (event, action) in exe.states[state].actions.iter_ids() {
                if let Action::Do(_) | Action::Goto(..) = action {
                    is_handled[event] = true;
                    summary.transitions.count(self.is_handled(state, event));
                }
            }
        }
        for (event, _) in is_handled.iter_ids().filter(|(_, handled)| **handled) {
            summary.events.count(self.is_sent(event));
        }
        summary
    }

    /// Handlers of the test's machines and monitors that were never run, in order of control states.
    pub fn unused_handlers(&self, exe: &Executable) -> Vec<UnusedHandler> {
        let mut unused = Vec::new();
        for state in states_of_test(exe) {
            let def = &exe.states[state];
            let mut push = |trigger, fun: Option<FunId>| {
                let span = fun.map_or(def.span, |fun| exe.funs[fun].span);
                unused.push(UnusedHandler { state, trigger, span });
            };
            if def.entry.is_some() && !self.is_entered(state) {
                push(Trigger::Entry, def.entry);
            }
            if def.exit.is_some() && !self.is_left(state) {
                push(Trigger::Exit, def.exit);
            }
            for (event, action) in exe.states[state].actions.iter_ids() {
                match *action {
                    Action::Do(fun) if !self.is_handled(state, event) => {
                        push(Trigger::Event(event), Some(fun));
                    }
                    Action::Goto(_, with) if !self.is_handled(state, event) => {
                        push(Trigger::Event(event), with);
                    }
                    Action::Do(_) | Action::Goto(..) | Action::None | Action::Defer | Action::Ignore => {}
                }
            }
        }
        unused
    }
}

/// Control states of the machines that the test binds and of the monitors that it attaches.
fn states_of_test(exe: &Executable) -> impl Iterator<Item = ControlId> {
    let mut is_used = vec![false; exe.machines.len()];
    for machine in exe.interfaces.iter().filter_map(|interface| interface.machine) {
        is_used[machine.index()] = true;
    }
    for monitor in &exe.monitors {
        is_used[monitor.machine.index()] = true;
    }
    exe.states.iter_ids().filter(move |(_, state)| is_used[state.machine.index()]).map(|(state, _)| state)
}
