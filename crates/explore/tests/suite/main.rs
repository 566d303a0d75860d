//! Tests of the engines, as one binary: each file here is a module, so that the crate is linked once.

mod almost_sync;
mod almost_sync_random;
mod broadcasts;
mod certificates;
mod check_network;
mod common;
mod counters;
mod data_independence;
mod distribute;
mod first;
mod hostile;
mod limits;
mod liveness;
mod observed_texts;
mod search;
mod search_liveness;
mod search_models;
mod search_network;
mod search_random;
mod shrink;
mod state_graph;
mod strategies;
mod support;
mod symbolic;
mod topology;
