//! Liveness on the whole graph of configurations: `termination` (whether every run terminates, asked first), `graph` (fair
//! lassos).

pub(crate) mod graph;
pub(crate) mod termination;
