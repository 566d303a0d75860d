//! Almost-synchronous proofs: the small scenarios, flooded inboxes and what is refused.

use std::sync::Arc;

use crate::support::{compile, texts};
use allways_explore::Never;
use allways_explore::almost_sync::certify::certify;
use allways_explore::almost_sync::survey::survey;
use allways_explore::almost_sync::{
    AlmostSyncOptions, AlmostSyncReport, DestinationChoice, FloodRule, prove,
};
use allways_machine::{Executable, Simplify};
use allways_run::{Guarantee, Limits, Quiet, Verdict};

fn scenarios() -> Vec<Arc<Executable>> {
    let texts: Vec<String> =
        texts("models/almost_synchronous/scenarios").into_iter().map(|(_, text)| text).collect();
    let program = compile("scenarios.p", &texts.join("\n")).unwrap_or_else(|error| panic!("{error}"));
    (0..program.tests.len()).map(|test| Arc::new(Executable::new(&program, test))).collect()
}

fn scenario(name: &str) -> Arc<Executable> {
    scenarios().into_iter().find(|exe| exe.test_name == name).unwrap_or_else(|| panic!("no test {name}"))
}

fn run(exe: &Arc<Executable>, options: &AlmostSyncOptions) -> AlmostSyncReport {
    prove(exe, options, &Quiet, &Never).unwrap_or_else(|error| panic!("{}: {error}", exe.test_name))
}

fn is_proved(report: &AlmostSyncReport, is_approximate: bool) -> bool {
    report.report.verdict == Verdict::Holds(Guarantee::LocalStates { is_approximate })
}

#[test]
fn endless_senders_are_proved_in_few_states() {
    for (name, n_states) in [("tcProducer", 10), ("tcRelay", 30)] {
        let found = run(&scenario(name), &AlmostSyncOptions::default());
        assert!(is_proved(&found, false), "{name}: {:?}", found.report.verdict);
        assert!(found.report.statistics.n_configurations < n_states, "{name}");
        assert!(found.report.statistics.largest_inbox <= 1 && found.flood.is_none(), "{name}");
    }
}

#[test]
fn a_monitor_that_nothing_changes_connects_no_machines() {
    // Four clocks of their own; what hears of them is one monitor.
    let text = "event eTick: int;
        machine Main { start state Only { entry { new Clock(); new Clock(); new Clock(); new Clock(); } } }
        machine Clock {
          var n: int;
          start state Only {
            entry { send this, eTick, 0; }
            on eTick do (now: int) { n = (now + 1) % 5; send this, eTick, n; }
          }
        }
        spec Watch observes eTick {
          var last: int;
          start state Only { on eTick do (now: int) { assert now < BOUND; DOES } }
        }";
    let states = |bound: &str, does: &str| {
        let text = text.replace("BOUND", bound).replace("DOES", does);
        let program = compile("clocks.p", &text).unwrap_or_else(|error| panic!("{error}"));
        let found = run(&Arc::new(Executable::new(&program, 0)), &AlmostSyncOptions::default());
        assert_eq!(is_proved(&found, false), bound == "5", "{:?}", found.report.verdict);
        found.report.statistics.n_configurations
    };
    let (looks, counts) = (states("5", ""), states("5", "last = now;"));
    assert!(looks * 10 < counts, "{looks} and {counts}");
    states("4", "");
}

#[test]
fn time_in_a_line_is_proved_in_few_states() {
    let texts: Vec<String> =
        texts("models/almost_synchronous/time_sync").into_iter().map(|(_, text)| text).collect();
    let program = compile("time_sync.p", &texts.join("\n")).unwrap_or_else(|error| panic!("{error}"));
    let tests = (0..program.tests.len()).map(|test| Arc::new(Executable::new(&program, test)));
    let is_meant =
        |exe: &Arc<Executable>| exe.test_name.starts_with("tcLine3") && exe.test_name.ends_with("nTimes_1");
    let exe = tests.into_iter().find(is_meant).expect("a line of three");
    // Slaves and the source tell the monitor, which never changes and so connects no machines.
    let found = run(&exe, &AlmostSyncOptions::default());
    assert!(is_proved(&found, false), "{:?}", found.report.verdict);
    assert!(found.report.statistics.largest_inbox <= 2);
    assert!(
        found.report.statistics.n_configurations < 15_000,
        "{}",
        found.report.statistics.n_configurations
    );
}

#[test]
fn sleep_sets_save_moves_and_change_no_verdict() {
    let mut n_moves = [0, 0];
    for exe in scenarios() {
        let verdicts = [false, true].map(|sleep| {
            let found = run(&exe, &AlmostSyncOptions { sleep, ..Default::default() });
            n_moves[usize::from(sleep)] += found.report.statistics.n_transitions;
            match found.report.verdict {
                Verdict::Holds(guarantee) => Some(guarantee),
                Verdict::Violated(_) => None,
                Verdict::Unknown(reason) => panic!("{}: {reason:?}", exe.test_name),
            }
        });
        assert_eq!(verdicts[0], verdicts[1], "{}", exe.test_name);
    }
    assert!(n_moves[1] < n_moves[0], "{n_moves:?}");
}

#[test]
fn sleep_sets_end_where_there_are_too_many_machines() {
    // The board hears of everybody; two of those who tell it go on alone while more and more are made.
    let text = "event eMore; event eTell: int;
        machine Main {
          var board: machine; var n: int;
          start state Only {
            entry {
              board = new Board();
              new Teller((board, 1)); new Teller((board, 2)); new Teller((new Board(), 1));
              send this, eMore;
            }
            on eMore do { n = n + 1; new Board(); if (n < 80) { send this, eMore; } else { send board, eTell, 4; } }
          }
        }
        machine Teller {
          start state Only { entry (given: (machine, int)) { send given.0, eTell, given.1; send given.0, eTell, given.1; } }
        }
        machine Board {
          var sum: int;
          start state Only { on eTell do (n: int) { sum = sum + n; assert sum < BOUND; } }
        }";
    for (bound, holds) in [("11", true), ("10", false)] {
        let program =
            compile("board.p", &text.replace("BOUND", bound)).unwrap_or_else(|error| panic!("{error}"));
        let exe = Arc::new(Executable::new(&program, 0));
        for sleep in [false, true] {
            let found = run(&exe, &AlmostSyncOptions { sleep, ..Default::default() });
            assert!(found.report.statistics.n_machines > 64);
            assert_eq!(is_proved(&found, false), holds, "{:?}", found.report.verdict);
            assert_eq!(matches!(found.report.verdict, Verdict::Violated(_)), !holds);
        }
    }
}

#[test]
fn a_flooded_inbox_is_named_and_proved() {
    let exe = scenario("tcFlood");
    let found = run(&exe, &AlmostSyncOptions::default());
    assert!(is_proved(&found, true), "{:?}", found.report.verdict);
    let flood = found.flood.expect("a diagnosis");
    assert_eq!((flood.sender.as_str(), flood.event.as_str()), ("Flooder(0)", "eFlood"));
    // Without over-approximation there is no end.
    let exact = AlmostSyncOptions { flood: FloodRule::Off, max_states: Some(2_000), ..Default::default() };
    assert!(matches!(run(&exe, &exact).report.verdict, Verdict::Unknown(_)));
}

#[test]
fn a_machine_that_floods_itself_is_proved() {
    // It sends itself more than it takes.
    let text = "event eTick; event eTock;
        machine Main {
          var n: int;
          start state Only {
            entry { send this, eTick; }
            on eTick do { send this, eTick; send this, eTock; n = (n + 1) % 3; assert n < BOUND; }
            on eTock do { send this, eTick; }
          }
        }";
    for (bound, holds) in [("3", true), ("2", false)] {
        let program =
            compile("itself.p", &text.replace("BOUND", bound)).unwrap_or_else(|error| panic!("{error}"));
        let exe = Arc::new(Executable::new(&program, 0));
        let found = run(&exe, &AlmostSyncOptions { certificate: true, ..Default::default() });
        assert_eq!(is_proved(&found, true), holds, "{:?}", found.report.verdict);
        assert_eq!(matches!(found.report.verdict, Verdict::Violated(_)), !holds);
        if let Some(certificate) = found.certificate {
            certify(&exe, &certificate, Limits::default(), &Quiet, &Never)
                .unwrap_or_else(|problem| panic!("{problem}"));
        }
    }
}

#[test]
fn bugs_are_found_and_replay_by_both_choices() {
    let broken = [
        "tcForgetfulProducer",
        "tcRestlessRelay",
        "tcPoliteCrossing",
        "tcOrderlyDetour",
        "tcHastyCommit",
        "tcEagerFlood",
    ];
    for name in broken {
        for choice in [DestinationChoice::LeastWaiting, DestinationChoice::Canonical] {
            let found = run(&scenario(name), &AlmostSyncOptions { choice, ..Default::default() });
            assert!(
                matches!(found.report.verdict, Verdict::Violated(_)),
                "{name}: {:?}",
                found.report.verdict
            );
        }
    }
}

#[test]
fn a_way_through_collections_without_order_replays() {
    // Only choices look at the friends, so the order in which they stand does not count; but answers are places in it.
    let text = "event eGo; event eBreak;
        machine Main {
          var friends: seq[machine];
          start state Only {
            entry {
              friends += (0, new Friend());
              friends += (0, new Friend());
              friends += (0, new Friend());
              send this, eGo;
            }
            on eGo do { var friend: machine; friend = choose(friends); send friend, eBreak; }
          }
        }
        machine Friend { start state Only { on eBreak do { assert false; } } }";
    let program = compile("friends.p", text).unwrap_or_else(|error| panic!("{error}"));
    let found = run(&Arc::new(Executable::new(&program, 0)), &AlmostSyncOptions::default());
    assert!(matches!(found.report.verdict, Verdict::Violated(_)), "{:?}", found.report.verdict);
}

/// Where assertions fail, in order.
fn failures(text: &str) -> Vec<u32> {
    let program = compile("failures.p", text).unwrap_or_else(|error| panic!("{error}"));
    let exe = Arc::new(Executable::new(&program, 0));
    let options =
        AlmostSyncOptions { flood: FloodRule::Off, simplify: Simplify::default(), ..Default::default() };
    let found = survey(&exe, &options).unwrap_or_else(|error| panic!("{error}")).expect("an end");
    let mut places: Vec<u32> =
        found.violations.iter().filter_map(|found| found.span).map(|span| span.start).collect();
    places.sort_unstable();
    places.dedup();
    places
}

#[test]
fn failures_at_different_places_are_different() {
    // The worker stands alike whichever assertion it is about to fail.
    let at_rest = "event eWork;
        machine Main { start state Only { entry { var w: machine; w = new Worker(); send w, eWork; } } }
        machine Worker {
          start state Only {
            entry { assert $; }
            on eWork do { assert false; }
            on null do { }
          }
        }";
    assert_eq!(failures(at_rest).len(), 2);
    // Both fail in the middle of one step, after the same observations.
    let on_its_way = "event eWork; event eSeen;
        spec Watch observes eSeen { start state Only { ignore eSeen; } }
        machine Main {
          start state Only {
            entry { send new Idler(), eWork; announce eSeen; if ($) { assert false; } else { assert false; } }
          }
        }
        machine Idler { start state Only { ignore eWork; } }";
    assert_eq!(failures(on_its_way).len(), 2);
}
