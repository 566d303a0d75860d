//! Tests of the verifier, as one binary.

mod corpus;
mod solvers;
