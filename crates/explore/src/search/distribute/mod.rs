//! A search beyond one process: other processes, and files that outlive it.
//!
//! Numbers of local states and slots mean something within one process only, so whatever leaves it is in a flat form
//! (`flat`): contents of local states, each once, and vectors of their numbers. Everything else that a search has noted is a
//! `record`. The search reaches other processes through [`Exchange`](crate::exchange::Exchange) and files through [`Checkpoint`]; below the driver there are
//! neither sockets nor files.
//!
//! A configuration is owned by the process that its fingerprint names ([`owner_of`]); only its owner inserts and expands it. `link` has the
//! protocol between processes, `journal` what a checkpoint consists of.

pub(crate) mod flat;
pub(crate) mod journal;
pub(crate) mod link;
pub(crate) mod record;

use std::sync::Arc;

/// Where layers of a search are kept, so that it can go on from there.
///
/// What is kept belongs to a *label*, which says everything that decides what is explored. Keys are appended as they are found; a commit makes all
/// of them last, together with the frontier of one layer. If several processes search, a layer counts once all of them have committed it.
pub trait Checkpoint: Send + Sync {
    /// Begins a search by one process of several; says what there is to resume, if there is something.
    ///
    /// # Errors
    /// When what is there is damaged, or belongs to something else.
    fn open(&self, label: &str, process: usize, n_processes: usize) -> Result<Option<SavedLayer>, String>;

    /// Shows the keys of the saved layers, in pieces of any length.
    ///
    /// # Errors
    /// When they are damaged.
    fn read_keys(&self, show: &mut dyn FnMut(&[u8])) -> Result<(), String>;

    /// Shows the blocks of the saved frontier: the part, and a block. The blocks of a part come in order.
    ///
    /// # Errors
    /// When they are damaged, or `show` says so.
    fn read_frontier(&self, show: &mut ShowBlock<'_>) -> Result<(), String>;

    /// Keeps keys until the next commit.
    ///
    /// # Errors
    /// When they cannot be written.
    fn add_keys(&self, keys: &[u8]) -> Result<(), String>;

    /// Whether it is time for a commit.
    fn is_due(&self) -> bool;

    /// Makes what was added last. `frontier` writes blocks.
    ///
    /// # Errors
    /// When it cannot be written.
    fn commit(&self, depth: u64, frontier: &mut WriteFrontier<'_>) -> Result<(), String>;
}

/// Takes a block of a part of a frontier.
pub type ShowBlock<'a> = dyn FnMut(usize, &[u8]) -> Result<(), String> + 'a;

/// Writes a frontier block by block to what it is given.
pub type WriteFrontier<'a> =
    dyn FnMut(&mut dyn FnMut(&[u8]) -> Result<(), String>) -> Result<(), String> + 'a;

/// Where a search can go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SavedLayer {
    pub depth: u64,
    /// Bytes of keys in all.
    pub n_key_bytes: u64,
}

/// A place for checkpoints, as an option.
#[derive(Clone)]
pub struct Checkpoints(pub Arc<dyn Checkpoint>);

impl std::fmt::Debug for Checkpoints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("checkpoint")
    }
}

/// The process that owns a configuration, by its fingerprint. The table of a process begins with the high bits, so these must not decide.
#[inline]
pub(crate) fn owner_of(fingerprint: u64, n_processes: usize) -> usize {
    let spread = (fingerprint as u32).wrapping_mul(0x9e37_79b9);
    ((u64::from(spread) * n_processes as u64) >> 32) as usize
}
