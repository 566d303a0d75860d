//! Tests of the P front end, as one binary.

mod corpus;
mod robustness;
mod support;
