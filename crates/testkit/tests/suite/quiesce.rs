//! Whether every run ends, on random programs under every network, against a naive analysis of the graph.

use allways_run::NetworkModel;
use allways_testkit::quiesce::{Tally, compare_seeds};

/// Programs of each network, unless `ALLWAYS_RANDOM_PROGRAMS` says how many; `cargo xtask differential --quiesce` takes more.
const N_PROGRAMS: u64 = 60;
/// A machine is about to fail and never does, while messages to it pile up; a machine sends to itself while others send to it; the
/// longest run ends with a step that breaks a property.
const ONCE_WRONG: [u64; 4] = [1177, 1217, 2159, 4657];

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn compare(model: NetworkModel) {
    let mut tally = Tally::default();
    let first = number("ALLWAYS_RANDOM_FIRST").unwrap_or(0);
    let n = number("ALLWAYS_RANDOM_PROGRAMS").unwrap_or(N_PROGRAMS);
    let mut report = |difference: String| panic!("{difference}");
    for seed in ONCE_WRONG {
        compare_seeds(seed..seed + 1, model, &mut tally, &mut report);
    }
    compare_seeds(first..first + n, model, &mut tally, &mut report);
    // A check that sees nothing would hold, too.
    assert!(tally.n_diverging > 10 && tally.n_quiescing > 10, "{tally:?}");
}

#[test]
fn inbox() {
    compare(NetworkModel::Inbox);
}

#[test]
fn causal() {
    compare(NetworkModel::Causal);
}

#[test]
fn fifo() {
    compare(NetworkModel::Fifo);
}

#[test]
fn bag() {
    compare(NetworkModel::Bag);
}
