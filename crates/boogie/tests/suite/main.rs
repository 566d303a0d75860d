//! Tests of the Boogie front end, as one binary.

mod codes;
mod corpus;
mod desugar;
mod mono;
mod parser;
mod random_programs;
mod schedulers;
