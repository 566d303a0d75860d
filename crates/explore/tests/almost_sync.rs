//! Almost-synchronous proofs: the small scenarios, flooded inboxes, certificates and what is refused.

mod support;

use std::sync::Arc;

use allways_explore::Never;
use allways_explore::search::almost_sync::certify::certify;
use allways_explore::search::almost_sync::survey::survey;
use allways_explore::search::almost_sync::{
    AlmostSyncOptions, AlmostSyncReport, DestinationChoice, FloodRule, prove,
};
use allways_machine::{Executable, Simplify};
use allways_run::{Guarantee, Limits, Quiet, Verdict};
use allways_testkit::almost_sync::{Programs, limits};
use allways_testkit::random::Random;
use support::{compile, texts};

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
            certify(&exe, &certificate, Limits::default()).unwrap_or_else(|problem| panic!("{problem}"));
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

/// Certificates of proofs, with what they are about.
fn certificates() -> Vec<(Arc<Executable>, String, Limits)> {
    let mut found = Vec::new();
    let mut add = |exe: &Arc<Executable>, flood: FloodRule, limits: Limits| {
        let max_states = Some(3_000);
        let options =
            AlmostSyncOptions { certificate: true, flood, max_states, limits, ..Default::default() };
        if let Some(certificate) = run(exe, &options).certificate {
            found.push((exe.clone(), certificate, limits));
        }
    };
    for exe in scenarios() {
        for flood in [FloodRule::Auto, FloodRule::Bound(0)] {
            add(&exe, flood, Limits::default());
        }
    }
    for seed in 50_000..50_060 {
        let (text, _) = Programs::All.program(seed);
        let program = compile("random.p", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let exe = Arc::new(Executable::new(&program, 0));
        for flood in [FloodRule::Off, FloodRule::Bound(1)] {
            add(&exe, flood, limits());
        }
    }
    found
}

/// The certificate with one thing changed.
fn tamper(lines: &[&str], random: &mut Random) -> Option<String> {
    let mut lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
    let of = |lines: &[String], word: &str| -> Vec<usize> {
        (0..lines.len()).filter(|&at| lines[at].starts_with(word)).collect()
    };
    let (states, machines) = (of(&lines, "state "), of(&lines, "machine "));
    match random.below(9) {
        // A state is dropped, and the count mended.
        0 => {
            lines.remove(*random.pick(&states));
            mend(&mut lines);
        }
        // A variable is changed.
        1 => {
            let at = *random.pick(&machines);
            let mut bytes = lines[at].clone().into_bytes();
            let place = bytes.len() - 1 - random.below(4.min(bytes.len()));
            bytes[place] = if bytes[place] == b'0' { b'1' } else { b'0' };
            lines[at] = String::from_utf8(bytes).ok()?;
        }
        // A machine is blocked where it is not.
        2 => {
            let at = *random.pick(&machines);
            lines[at] = format!("gone {}", lines[at].split(' ').nth(1)?);
        }
        // Somebody does not move who should.
        3 => {
            let at = *random.pick(&states);
            let (places, movers) = lines[at].split_once('|')?;
            let rest = movers.split_once(' ').map_or("", |(_, rest)| rest);
            if movers.is_empty() {
                return None;
            }
            lines[at] = format!("{places}|{rest}");
        }
        // The topology has an edge less.
        4 => {
            let sends = of(&lines, "send ");
            if sends.is_empty() {
                return None;
            }
            lines.remove(*random.pick(&sends));
            mend(&mut lines);
        }
        // It is cut short.
        5 => lines.truncate(1 + random.below(lines.len() - 1)),
        // A tail is shorter.
        6 => {
            let has_tail = |&&at: &&usize| lines[at].split(' ').count() > 3;
            let with_tail: Vec<usize> = machines.iter().filter(has_tail).copied().collect();
            if with_tail.is_empty() {
                return None;
            }
            let at = *random.pick(&with_tail);
            lines[at] = lines[at].rsplit_once(' ')?.0.to_owned();
        }
        // Other inboxes are full.
        7 => {
            let at = *of(&lines, "inbox ").first()?;
            let bound: usize = lines[at].strip_prefix("inbox ")?.parse().ok()?;
            lines[at] = format!("inbox {}", bound + 1 + random.below(3));
        }
        // A place of a state is another.
        _ => {
            let at = *random.pick(&states);
            let (places, movers) = lines[at].split_once('|')?;
            let mut places: Vec<&str> = places.split(' ').collect();
            places.remove(1 + random.below(places.len() - 1));
            lines[at] = format!("{}|{movers}", places.join(" "));
        }
    }
    Some(lines.join("\n") + "\n")
}

fn mend(lines: &mut Vec<String>) {
    let count = |word: &str| lines.iter().filter(|line| line.starts_with(word)).count();
    let n_places = count("machine ") + count("monitor ") + count("gone ");
    let end = format!("end {} {n_places} {}", count("send "), count("state "));
    lines.pop();
    lines.push(end);
}

#[test]
fn certificates_are_accepted_and_tampered_ones_refused() {
    let certificates = certificates();
    let n_approximate = certificates.iter().filter(|(_, text, _)| text.contains("\ninbox ")).count();
    assert!(certificates.len() > 40, "only {} proofs", certificates.len());
    assert!(n_approximate > 10, "only {n_approximate} proofs with tails");
    for (exe, certificate, limits) in &certificates {
        if let Err(problem) = certify(exe, certificate, *limits) {
            panic!("{}: {problem}", exe.test_name);
        }
    }
    let mut random = Random::new(7);
    let mut n_refused = 0;
    while n_refused < 1_000 {
        let (exe, certificate, limits) = &certificates[random.below(certificates.len())];
        let lines: Vec<&str> = certificate.lines().collect();
        let Some(tampered) = tamper(&lines, &mut random) else { continue };
        assert!(tampered != *certificate);
        assert!(certify(exe, &tampered, *limits).is_err(), "accepted for {}:\n{tampered}", exe.test_name);
        n_refused += 1;
    }
    // The certificate of another program.
    for pair in certificates.windows(2) {
        if !Arc::ptr_eq(&pair[0].0, &pair[1].0) && pair[0].1 != pair[1].1 {
            assert!(certify(&pair[0].0, &pair[1].1, pair[0].2).is_err());
        }
    }
}
