//! The almost-synchronous exploration on random programs: the same local states, monitor states and local violations as the
//! brute-force oracle, whichever destination set is taken; and every violation replays. `cargo xtask almost-synchronous`
//! does the same on as many programs as one likes.

use allways_testkit::Loaded;
use allways_testkit::almost_sync::{Outcome, Programs, compare};

#[test]
fn local_states_are_those_of_the_oracle() {
    let mut problems = Vec::new();
    let (mut n_ended, mut n_broken, mut n_oracle, mut n_reduced) = (0, 0, 0, 0);
    let (mut n_endless, mut n_certificates) = (0, 0);
    for seed in 41_000..41_099 {
        let (text, _) = Programs::All.program(seed);
        let loaded = Loaded::new("random.p", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        match compare(&loaded, 0, Programs::All.oracle_options(seed, 1_000), 2_000) {
            Outcome::Agree(agreement) => {
                n_certificates += agreement.n_certificates;
                n_broken += usize::from(agreement.n_violations > 0);
                match agreement.n_states[0] {
                    Some(n_states) if agreement.oracle_ended => {
                        n_ended += 1;
                        n_oracle += agreement.n_oracle as u64;
                        n_reduced += n_states;
                    }
                    Some(_) => n_endless += 1,
                    None => {}
                }
            }
            Outcome::Differ(difference) => problems.push(format!("seed {seed}: {difference}")),
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(n_ended > 40 && n_broken > 5, "only {n_ended} programs, {n_broken} of them violated");
    assert!(
        n_endless > 5 && n_certificates > 50,
        "only {n_endless} endless ones, {n_certificates} certificates"
    );
    assert!(n_reduced < n_oracle, "{n_reduced} states for {n_oracle} configurations");
}
