//! Exact counts on the project's models: what is silently left out, or explored twice, shows here.

use std::sync::Arc;

use crate::support::{compile, texts};
use allways_explore::search::{ProveOptions, Reductions, StoreKind, prove};
use allways_explore::{Fairness, Never};
use allways_machine::Executable;
use allways_run::{Guarantee, NetworkModel, NetworkOptions, Quiet, Verdict};

/// Test by part of its name; configurations, transitions, depth and ends without reductions, and with those that
/// are on by default.
type Row = (&'static str, [u64; 4], [u64; 4]);

fn check(model: &str, rows: &[Row]) {
    check_over(NetworkModel::Inbox, model, rows);
}

fn check_over(network: NetworkModel, model: &str, rows: &[Row]) {
    let options = NetworkOptions { model: network, ..NetworkOptions::default() };
    let (name, text) = texts(&format!("models/{model}")).remove(0);
    let program = compile(&name, &text).unwrap_or_else(|error| panic!("{error}"));
    let mut problems = Vec::new();
    for &(test, whole, reduced) in rows {
        let exe = (0..program.tests.len())
            .map(|test| Executable::new(&program, test))
            .find(|exe| exe.test_name.contains(test))
            .unwrap_or_else(|| panic!("no test {test} of {model}"));
        let exe = Arc::new(exe.with_network(&options).unwrap_or_else(|error| panic!("{error}")));
        for (reductions, expected) in [(Reductions::NONE, whole), (Reductions::default(), reduced)] {
            for (store, n_threads) in [
                (StoreKind::Exact, 1),
                (StoreKind::Exact, 2),
                (StoreKind::Fingerprint, 1),
                (StoreKind::Fingerprint, 2),
                (StoreKind::Wide, 2),
            ] {
                let options =
                    ProveOptions { store, n_threads, fairness: None, reductions, ..ProveOptions::default() };
                let report = prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"));
                let holds = match store {
                    StoreKind::Exact => report.verdict == Verdict::Holds(Guarantee::Exhaustive),
                    StoreKind::Fingerprint | StoreKind::Wide => {
                        matches!(report.verdict, Verdict::Holds(Guarantee::Probable { .. }))
                    }
                };
                assert!(holds, "{model}, {test}: {:?}", report.verdict);
                let s = report.statistics;
                let found = [s.n_configurations, s.n_transitions, s.depth, s.n_ends];
                if found != expected {
                    problems.push(format!(
                        "{model}, {test}, {store:?}, {n_threads} threads: {found:?}, not {expected:?}"
                    ));
                }
            }
        }
        // Monitors with hot states hold on infinite runs too.
        let options = ProveOptions { fairness: Some(Fairness::Random), ..ProveOptions::default() };
        let report = prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"));
        assert!(matches!(report.verdict, Verdict::Holds(_)), "{model}, {test}: {:?}", report.verdict);
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// A test of a model.
fn executable(model: &str, test: &str) -> Arc<Executable> {
    let (name, text) = texts(&format!("models/{model}")).remove(0);
    let program = compile(&name, &text).unwrap_or_else(|error| panic!("{error}"));
    let exe = (0..program.tests.len())
        .map(|test| Executable::new(&program, test))
        .find(|exe| exe.test_name == test)
        .unwrap_or_else(|| panic!("no test {test} of {model}"));
    Arc::new(exe)
}

/// Programs that count for ever: no search without `counters` comes to an end.
#[test]
fn counters_without_end() {
    for (model, test, expected) in [
        ("elections", "tcPair", [30, 44, 12, 5]),
        ("retries", "tcRetries", [69, 112, 18, 0]),
        ("fenced_leases", "tcTwo", [99, 201, 19, 0]),
        ("fenced_leases", "tcThree", [773, 2_238, 27, 0]),
        ("phases", "tcPatient", [16_758, 37_831, 38, 0]),
        ("replicated_log", "tcPair", [22, 26, 13, 0]),
    ] {
        let exe = executable(model, test);
        for (store, n_threads) in [(StoreKind::Exact, 1), (StoreKind::Fingerprint, 2)] {
            let options = ProveOptions { store, n_threads, ..ProveOptions::default() };
            let report = prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"));
            assert!(matches!(report.verdict, Verdict::Holds(_)), "{model}, {test}: {:?}", report.verdict);
            let s = report.statistics;
            assert_eq!([s.n_configurations, s.n_transitions, s.depth, s.n_ends], expected, "{model}, {test}");
        }
    }
}

/// Programs that choose a hundred bytes at once: no search without `data-independence` begins.
#[test]
fn choices_without_number() {
    for (test, expected) in [("tcPlain", 15), ("tcFailing", 25), ("tcTwice", 392)] {
        let exe = executable("payloads", test);
        for n_threads in [1, 2] {
            let options = ProveOptions { n_threads, ..ProveOptions::default() };
            let report = prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"));
            assert!(matches!(report.verdict, Verdict::Holds(_)), "{test}: {:?}", report.verdict);
            assert_eq!(report.statistics.n_configurations, expected, "{test}");
        }
    }
}

#[test]
fn two_phase() {
    check(
        "two_phase",
        &[
            ("nParticipants_2__nTransactions_1", [279, 556, 17, 3], [117, 203, 17, 2]),
            ("nParticipants_2__nTransactions_2", [738, 1_380, 28, 6], [273, 435, 28, 4]),
            ("nParticipants_3__nTransactions_1", [3_875, 10_064, 24, 4], [564, 1_181, 22, 2]),
            ("nParticipants_3__nTransactions_2", [10_525, 25_912, 40, 8], [1_264, 2_517, 36, 4]),
            ("nParticipants_4__nTransactions_1", [64_355, 203_072, 31, 5], [2_875, 6_843, 27, 2]),
        ],
    );
}

#[test]
fn german() {
    check(
        "german",
        &[
            ("nClients_2__nRequests_4", [6_350, 13_897, 29, 18], [2_292, 5_342, 20, 3]),
            ("nClients_3__nRequests_4", [46_262, 107_380, 30, 87], [3_927, 9_184, 23, 4]),
            ("nClients_4__nRequests_3", [12_918, 25_289, 24, 188], [676, 1_381, 19, 4]),
            ("nClients_4__nRequests_4", [182_114, 428_921, 31, 796], [5_622, 15_132, 26, 5]),
        ],
    );
}

#[test]
fn ring_election() {
    check(
        "ring_election",
        &[
            ("nNodes_4", [547, 1_260, 20, 5], [360, 655, 20, 5]),
            ("nNodes_5", [2_737, 7_638, 27, 6], [1_644, 3_352, 27, 6]),
            ("nNodes_6", [14_069, 45_904, 35, 7], [7_899, 17_629, 35, 7]),
            ("nNodes_7", [73_441, 273_714, 44, 8], [39_192, 94_702, 44, 8]),
        ],
    );
}

#[test]
fn token_ring() {
    check(
        "token_ring",
        &[
            ("nNodes_2", [16, 21, 10, 0], [16, 21, 10, 0]),
            ("nNodes_3", [23, 30, 13, 0], [23, 30, 13, 0]),
            ("nNodes_6", [44, 57, 22, 0], [44, 57, 22, 0]),
        ],
    );
}

#[test]
fn paxos() {
    check(
        "paxos",
        &[
            ("nProposers_2__nAcceptors_2", [485, 1_009, 25, 3], [485, 1_009, 25, 3]),
            ("nProposers_2__nAcceptors_3", [19_903, 62_995, 36, 6], [13_815, 34_991, 34, 5]),
        ],
    );
}

#[test]
fn failure_detector() {
    check(
        "failure_detector",
        &[
            ("nNodes_1", [14, 17, 8, 1], [14, 17, 8, 1]),
            ("nNodes_2", [171, 293, 14, 4], [149, 270, 14, 1]),
            ("nNodes_3", [2_917, 5_884, 20, 36], [1_667, 3_889, 20, 1]),
            ("nNodes_4", [72_226, 157_278, 27, 576], [19_005, 53_300, 27, 1]),
        ],
    );
}

#[test]
fn hybrid_clock() {
    check(
        "hybrid_clock",
        &[
            ("nNodes_2__maxTime_5", [3_011, 4_566, 28, 84], [1_912, 2_914, 28, 31]),
            ("nNodes_3__maxTime_3", [46_532, 89_895, 30, 649], [38_429, 65_586, 30, 649]),
        ],
    );
}

#[test]
fn ben_or() {
    check("ben_or", &[("nNodes_3__nFaults_1__maxRound_1", [6_897, 17_397, 28, 34], [5_818, 13_797, 27, 2])]);
}

/// The largest, nNodes_4__nFaults_1__maxRound_3, has 3,209,885 configurations, and is in the bench.
#[test]
fn ben_or_board() {
    check(
        "ben_or_board",
        &[
            ("nNodes_3__nFaults_1__maxRound_1", [874, 1_755, 20, 3], [98, 178, 19, 3]),
            ("nNodes_4__nFaults_1__maxRound_1", [9_719, 22_340, 26, 4], [219, 494, 23, 4]),
        ],
    );
}

/// As reduced by default it has 11,929 configurations with two clients and 2,001,126 with three, which are in the bench.
#[test]
fn paxos_register() {
    check_over(
        NetworkModel::Bag,
        "paxos_register",
        &[("nClients_1__nServers_3", [2_197, 6_372, 48, 8], [139, 392, 21, 1])],
    );
}

#[test]
fn saga() {
    check(
        "saga",
        &[
            ("tcSaga___nTrips_2", [948, 1_534, 38, 43], [648, 1_122, 38, 15]),
            ("tcSaga___nTrips_3", [35_933, 78_759, 55, 766], [10_216, 25_030, 55, 54]),
        ],
    );
}

#[test]
fn chain() {
    check(
        "chain",
        &[
            ("tcChain___nNodes_4", [66, 95, 35, 1], [66, 95, 35, 1]),
            ("tcOneStops___nNodes_3", [2_142, 4_079, 36, 22], [1_666, 3_281, 35, 6]),
            ("tcTwoStop___nNodes_3", [9_907, 20_122, 42, 73], [6_880, 14_689, 40, 9]),
        ],
    );
}

#[test]
fn snapshot() {
    check(
        "snapshot",
        &[
            ("tcSnapshot___nBranches_2__nCoins_2", [114, 173, 13, 12], [50, 68, 10, 5]),
            ("tcSnapshot___nBranches_3__nCoins_1", [3_428, 4_985, 20, 552], [1_428, 2_426, 18, 10]),
            ("tcSnapshot___nBranches_3__nCoins_2", [43_125, 80_794, 23, 5_232], [25_453, 62_006, 22, 28]),
        ],
    );
}

#[test]
fn lease() {
    check(
        "lease",
        &[
            ("tcFenced___nClients_2__nWrites_2__nExpiries_2", [3_166, 6_546, 38, 14], [622, 1_358, 30, 1]),
            (
                "tcFenced___nClients_3__nWrites_2__nExpiries_2",
                [216_176, 524_310, 50, 294],
                [4_899, 12_697, 50, 3],
            ),
        ],
    );
}

/// A machine that keeps peers in a row is reached with the row in one order, of the many that renamings have, so the states of
/// machines that the search meets do not multiply by them.
#[test]
fn rows_of_machines_alike_have_one_order() {
    for (model, test, n_configurations, n_local_states) in [
        ("two_phase", "nParticipants_4__nTransactions_1", 64_355, 3_571),
        ("failure_detector", "nNodes_4", 72_226, 1_252),
    ] {
        let (name, text) = texts(&format!("models/{model}")).remove(0);
        let program = compile(&name, &text).unwrap_or_else(|error| panic!("{error}"));
        let exe = (0..program.tests.len())
            .map(|test| Executable::new(&program, test))
            .find(|exe| exe.test_name.contains(test))
            .unwrap_or_else(|| panic!("no test {test} of {model}"));
        let reductions = Reductions { symmetry: true, ..Reductions::NONE };
        let options = ProveOptions { fairness: None, reductions, probes: false, ..ProveOptions::default() };
        let report =
            prove(&Arc::new(exe), &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"));
        let statistics = report.statistics;
        assert_eq!(statistics.n_configurations, n_configurations, "{model}");
        assert!(statistics.n_local_states <= n_local_states, "{model}: {} cells", statistics.n_local_states);
    }
}
