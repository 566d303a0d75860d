//! What tests of engines share: a brute-force oracle, random programs, and the comparison of both with the kernel.
//!
//! Reading order: [`view`] (what is compared), [`oracle`] (the reference semantics, enumerated), [`search`] (the
//! kernel, enumerated), [`proof`] (the exhaustive search), [`bounded`] (the same within bounds), [`orbit`] (renamings of machines), [`differential`] (on one program), [`generate`] (programs), [`shrink`] (small
//! programs from large ones), [`case`] (the random program of a seed), [`liveness`] and [`quiesce`] (infinite runs, by a naive analysis of the graph), [`stated`] (invariants, configuration by configuration), [`almost_sync`] (the almost-synchronous exploration against the oracle).
//! [`boogie`] does the same for asynchronous Boogie.
//!
//! What is absent on purpose: the oracle uses nothing of `allways-machine`. It reads the typed program and shares
//! no code, no values and no execution model with the kernel, so a mistake has to be made twice to stay hidden.

pub mod abstraction;
pub mod almost_sync;
pub mod boogie;
pub mod bounded;
pub mod case;
pub mod differential;
pub mod generate;
pub mod liveness;
mod naive;
pub mod oracle;
pub mod orbit;
pub mod played;
pub mod proof;
pub mod quiesce;
pub mod random;
pub mod search;
pub mod shrink;
pub mod source;
pub mod stated;
pub mod symbolic;
pub mod view;

pub use case::Case;
pub use source::Loaded;
pub use view::Summary;
