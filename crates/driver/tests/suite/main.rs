//! Tests of the facade, as one binary.

mod boogie;
mod engine_seam;
mod quiesce;
