//! The oracle and the kernel on one program.

use crate::oracle::{self, OracleOptions};
use crate::view::Scene;
use crate::{Loaded, Summary, search};

/// How a comparison ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Comparison {
    Agree,
    Differ(String),
    /// Too many configurations to say.
    TooLarge,
}

/// Both summaries of one test and how they compare.
pub struct Compared {
    pub oracle: Summary,
    pub kernel: Summary,
    pub comparison: Comparison,
}

/// Enumerates a test twice and compares.
pub fn compare(loaded: &Loaded, test_idx: usize, options: OracleOptions) -> Compared {
    let oracle = oracle::explore(&loaded.program, test_idx, options);
    if oracle.bound_hit {
        return Compared { oracle, kernel: Summary::default(), comparison: Comparison::TooLarge };
    }
    // The kernel never needs more configurations than the oracle has; the margin is for the initial one.
    let kernel = search::explore(&loaded.program, test_idx, 2 * options.max_configurations);
    let scene = Scene { program: &loaded.program, sources: &loaded.sources };
    let comparison = match oracle.difference(&kernel, ["oracle", "kernel"], &scene) {
        Some(difference) => Comparison::Differ(difference),
        None if kernel.bound_hit => Comparison::Differ("the kernel's search does not end".into()),
        None => Comparison::Agree,
    };
    Compared { oracle, kernel, comparison }
}
