//! Delegates: who takes over the runs that touch nothing of a state's destination set.
//!
//! Such a run needs none of the machines that are stepped now. The block move keeps it, but most often a step does, too: if all that a
//! step touches is left alone by the run, the run can just as well come after the step. So the state after the step is
//! the *delegate*, and there is no block move. A step is not good enough when it puts a message before a machine that goes on
//! sending: that machine would find it when it comes to rest. Of several states that can be delegate, the first is.
//!
//! Nothing is gained from a circle of delegates, in which everybody leaves a run to somebody else: so a state whose delegate
//! would close a circle blocks. A block move never closes one, as marks of machines
//! that are gone stay. Whether a delegate closes a circle is the question whether the line of delegates that begins there ends in
//! the state itself; the ends are kept as in a union-find structure.

#[derive(Default)]
pub(crate) struct Delegates {
    /// By state: the delegate, or somebody further down the line; itself at the end.
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

    /// Makes somebody the delegate of a state that has none.
    pub fn set(&mut self, state: u32, delegate: u32) {
        let end = self.end(delegate);
        self.reserve(state);
        debug_assert_ne!(end, state, "a circle of delegates");
        self.further[state as usize] = end;
    }

    fn reserve(&mut self, state: u32) {
        let next = self.further.len() as u32;
        self.further.extend(next..(state + 1).max(next));
    }

    fn end(&mut self, mut state: u32) -> u32 {
        self.reserve(state);
        loop {
            let next = self.further[state as usize];
            let after = self.further[next as usize];
            if next == after {
                return next;
            }
            self.further[state as usize] = after;
            state = after;
        }
    }
}
