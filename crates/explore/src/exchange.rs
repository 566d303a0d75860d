//! Other processes, as an engine sees them. Below the driver there are no sockets: `allways-cluster` has them.

use std::sync::Arc;

/// Processes that work together, as one of them sees the others. Messages between two processes arrive in the order in which they
/// were sent, and none is lost unless there is a [`failure`](Exchange::failure).
pub trait Exchange: Send + Sync {
    /// Which process this is, from zero.
    fn number(&self) -> usize;

    fn n_processes(&self) -> usize;

    /// Queues a message. Does not wait: see [`is_congested`](Exchange::is_congested).
    fn send(&self, to: usize, message: Vec<u8>);

    /// The next message from another process, if one has arrived.
    fn take(&self, from: usize) -> Option<Vec<u8>>;

    /// Much waits to be sent, and no more should be made before it was.
    fn is_congested(&self) -> bool;

    /// Returns when something may have changed: a message has arrived, or was sent, or there is a failure. Returns after a few
    /// hundredths of a second in any case.
    fn wait(&self);

    /// Why the processes cannot go on together, if they cannot.
    fn failure(&self) -> Option<String>;

    /// Whether a process has ended its work, and all of its messages were taken.
    fn has_left(&self, process: usize) -> bool;

    /// Ends the connection to a process, with a reason.
    fn fail(&self, with: usize, why: &str);
}

/// Other processes, as an option.
#[derive(Clone)]
pub struct Peers(pub Arc<dyn Exchange>);

impl std::fmt::Debug for Peers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {} of {}", self.0.number(), self.0.n_processes())
    }
}
