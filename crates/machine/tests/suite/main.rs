//! Tests of lowering and kernel, as one binary.

mod corpus;
mod ir;
mod oracle;
