//! How things look: diagnostics, verdicts and traces as text for people and as versioned JSON for scripts.
//!
//! Serialized types live in this crate only; inner types of other crates derive no serialization. Nothing here
//! decides anything, and nothing here writes to a stream: text goes back to the caller.

pub mod annotation;
pub mod boogie;
pub mod check;
pub mod diagnostics;
pub mod graph;
pub mod itf;
pub mod json;
pub mod junit;
pub mod lasso;
pub mod limited;
pub mod p_log;
pub mod prove;
pub mod quiesce;
pub mod relevance;
pub mod scenario;
pub mod schedule_file;
pub mod suite;
pub mod text;
pub mod trace;
pub mod trace_file;
pub mod value;
pub mod verdict;
