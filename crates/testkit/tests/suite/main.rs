//! Comparisons of engines and oracles, as one binary.

mod boogie;
mod corpus;
mod differential;
mod generator;
mod quiesce;
mod texts;
