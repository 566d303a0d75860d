//! Tests of the translations, as one binary.

mod delays;
mod random;
mod robustness;
