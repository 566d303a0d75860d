//! The P front end: from texts to a typed program, with every mistake reported in one run.
pub mod hir;
pub mod types;
