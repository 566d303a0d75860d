//! Certificates of almost-synchronous proofs: how large they are, and what it takes to check them.
//!
//! For every test of `models/almost_synchronous` that holds: the proof with its certificate, then the checker. Where
//! `whole` is said, nothing is left out of local states, so that less has to be trusted.
//! All times are processor time.

use allways_explore::Never;
use allways_explore::almost_sync::certify::certify;
use allways_explore::almost_sync::{AlmostSyncOptions, prove};
use allways_machine::Simplify;
use allways_run::Quiet;

use crate::almost_sync::{Subject, limits, short, subjects, until};
use crate::search::timed;
use allways_driver::suite::Expectation;

/// The table, of all tests whose model or name contains the words, each proof for at most so many seconds. Whether all
/// certificates were accepted.
pub fn run(seconds: u64, is_whole: bool, words: &[&str]) -> bool {
    println!(
        "{:12} {:22} {:>9} {:>7} | {:>10} {:>7} {:>7} | {:>9} {:>7} {:>6} {:>6}",
        "model", "test", "states", "prove s", "bytes", "/state", "places", "steps", "s", "times", "MB"
    );
    let mut all_accepted = true;
    for Subject { model, exe, expected, .. } in subjects(words) {
        if expected != Expectation::Holds {
            continue;
        }
        let defaults =
            AlmostSyncOptions { certificate: true, limits: limits(), ..AlmostSyncOptions::default() };
        let options =
            if is_whole { AlmostSyncOptions { simplify: Simplify::default(), ..defaults } } else { defaults };
        let (found, proof_cpu, _) =
            timed(|| prove(&exe, &options, &Quiet, &until(seconds)).expect("what is found replays"));
        print!(
            "{model:12} {:22} {:>9} {proof_cpu:>7.2} |",
            short(&exe.test_name),
            found.report.statistics.n_configurations
        );
        let Some(text) = found.certificate else {
            println!(" no proof");
            continue;
        };
        let (checked, cpu, _) = timed(|| certify(&exe, &text, limits(), &Quiet, &Never));
        match checked {
            Ok(checked) => {
                let each = text.len() as f64 / checked.n_states.max(1) as f64;
                // Below the resolution of the clock there is no ratio.
                let times = if proof_cpu < 0.05 { "-".to_owned() } else { format!("{:.1}", cpu / proof_cpu) };
                println!(
                    " {:>10} {each:>7.1} {:>7} | {:>9} {cpu:>7.2} {times:>6} {:>6}",
                    text.len(),
                    checked.n_places,
                    checked.n_steps,
                    checked.n_bytes >> 20
                );
            }
            Err(why) => {
                all_accepted = false;
                println!(" REFUSED: {why}");
            }
        }
    }
    all_accepted
}
