//! The almost-synchronous exploration on random programs: the same local states, monitor states and local violations as the
//! brute-force oracle, whichever destination set is taken; and every violation replays. `cargo xtask almost-synchronous`
//! does the same on as many programs as one likes.

use allways_testkit::Loaded;
use allways_testkit::almost_sync::{Outcome, compare};
use allways_testkit::generate::generate_any;
use allways_testkit::oracle::OracleOptions;

#[test]
fn local_states_are_those_of_the_oracle() {
    let options = OracleOptions { max_configurations: 4_000, ..OracleOptions::default() };
    let mut problems = Vec::new();
    let (mut n_compared, mut n_broken, mut n_oracle, mut n_reduced) = (0, 0, 0, 0);
    for seed in 41_000..41_150 {
        let (text, _) = generate_any(seed);
        let loaded = Loaded::new("random.p", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        match compare(&loaded, 0, options, 20_000) {
            Outcome::Agree { n_oracle: n, n_states, n_violations } => {
                n_compared += 1;
                n_broken += usize::from(n_violations > 0);
                n_oracle += n as u64;
                n_reduced += n_states[0];
            }
            Outcome::Differ(difference) => problems.push(format!("seed {seed}: {difference}")),
            Outcome::TooLarge { .. } => {}
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(n_compared > 80 && n_broken > 8, "only {n_compared} programs, {n_broken} of them violated");
    assert!(n_reduced < n_oracle, "{n_reduced} states for {n_oracle} configurations");
}
