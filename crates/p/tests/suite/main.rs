//! Tests of the P front end, as one binary.

mod code_pages;
mod corpus;
mod robustness;
mod support;
