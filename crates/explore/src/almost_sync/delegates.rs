//! Delegates: the states that take over the runs which touch nothing of a state's destination set.
//!
//! Such a run needs none of the machines that are stepped now. The block move preserves it, but most often a step does, too: if the run touches nothing that
//! the step touches, the run can just as well come after the step. So the state after the step is
//! the *delegate*, and no block move is needed. A step does not qualify if it delivers a message to a machine that is still
//! sending: that machine would find the message when it next waits. Of several candidates, the first is the delegate.
//!
//! A cycle of delegates, each of which leaves a run to the next, would lose the run: so a state whose delegate
//! would close a cycle blocks instead. A block move never closes a cycle, because the marks of blocked machines
//! are permanent. A delegate closes a cycle if the line of delegates that begins there ends in
//! the state itself; the ends are kept in a union-find structure.

use allways_base::forest;

#[derive(Default)]
pub(crate) struct Delegates {
    /// By state: the delegate, or a later one of its line; itself at the end.
    further: Vec<u32>,
}

impl Delegates {
    pub fn n_bytes(&self) -> usize {
        self.further.capacity() * 4
    }

    /// Whether the line that begins at `delegate` does not lead to `state`, which has no delegate yet.
    pub fn is_open(&mut self, state: u32, delegate: u32) -> bool {
        self.end(delegate) != state
    }

    /// Sets the delegate of a state that has none.
    pub fn set(&mut self, state: u32, delegate: u32) {
        let end = self.end(delegate);
        self.reserve(state);
        debug_assert_ne!(end, state, "a cycle of delegates");
        self.further[state as usize] = end;
    }

    fn reserve(&mut self, state: u32) {
        let next = self.further.len() as u32;
        self.further.extend(next..(state + 1).max(next));
    }

    fn end(&mut self, state: u32) -> u32 {
        self.reserve(state);
        forest::root(&mut self.further, state)
    }
}
