//! How things look: diagnostics, verdicts and traces as text for people and as versioned JSON for scripts.
//!
//! Serialized types live in this crate only; inner types of other crates derive no serialization. Nothing here
//! decides anything, and nothing here writes to a stream: text goes back to the caller.

pub mod check;
pub mod diagnostics;
pub mod graph;
pub mod json;
pub mod junit;
pub mod p_log;
pub mod prove;
pub mod schedule_file;
pub mod trace;
