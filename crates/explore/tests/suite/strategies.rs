//! Strategies find seeded bugs, and what they find depends on the seed alone.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{executable, kind, options, report};
use allways_explore::{Cancel, CheckOptions, Report, StrategyKind, check};
use allways_run::{Bound, Guarantee, Observer, Progress, Quiet, StopReason, Verdict, ViolationKind};

const SAMPLING: [StrategyKind; 9] = [
    StrategyKind::Portfolio,
    StrategyKind::Random,
    StrategyKind::Probabilistic(1),
    StrategyKind::Probabilistic(3),
    StrategyKind::Pct(3),
    StrategyKind::FairPct(3),
    StrategyKind::Pos,
    StrategyKind::DelayBounding(2),
    StrategyKind::DelayBounding(4),
];

/// Two writers race for a cell; the checker wants the second to come last.
const RACE: &str = "
event eWrite: int;
event eLook;
machine Main {
  start state Init {
    entry {
      var cell: machine;
      cell = new Cell();
      new Writer((cell = cell, value = 1));
      new Writer((cell = cell, value = 2));
    }
  }
}
machine Writer {
  start state Init {
    entry (work: (cell: machine, value: int)) {
      send work.cell, eWrite, work.value;
      send work.cell, eLook;
    }
  }
}
machine Cell {
  var last: int;
  var looks: int;
  start state Run {
    on eWrite do (value: int) { last = value; }
    on eLook do {
      looks = looks + 1;
      assert looks < 2 || last == 2, \"the first writer came last\";
    }
  }
}
";

/// Breaks only when the answer to a data choice is right and three messages come in one of six orders.
const DEEP: &str = "
event eToken: int;
machine Main {
  start state Init {
    entry {
      var lock: machine;
      var i: int;
      lock = new Lock();
      while (i < 3) {
        new Sender((lock = lock, id = i));
        i = i + 1;
      }
    }
  }
}
machine Sender {
  start state Init {
    entry (work: (lock: machine, id: int)) {
      if ($) { send work.lock, eToken, work.id; } else { send work.lock, eToken, work.id + 10; }
    }
  }
}
machine Lock {
  var order: seq[int];
  start state Run {
    on eToken do (id: int) {
      order += (sizeof(order), id);
      assert sizeof(order) < 3 || order[0] != 2 || order[1] != 0 || order[2] != 1, \"the combination\";
    }
  }
}
";

#[test]
fn every_strategy_finds_a_race() {
    let exe = executable(RACE);
    for strategy in SAMPLING.into_iter().chain([StrategyKind::DepthFirst]) {
        let report = report(&exe, &options(strategy, 2_000));
        assert_eq!(kind(&report), Some(ViolationKind::Assertion), "{strategy}");
    }
}

#[test]
fn every_strategy_finds_a_combination() {
    let exe = executable(DEEP);
    for strategy in SAMPLING.into_iter().chain([StrategyKind::DepthFirst]) {
        let report = report(&exe, &options(strategy, 20_000));
        assert_eq!(kind(&report), Some(ViolationKind::Assertion), "{strategy}");
    }
}

/// What must not depend on threads or repetition.
fn essence(report: &Report) -> String {
    let found: Vec<_> = report.findings.iter().map(|f| (f.index, f.strategy, &f.counterexample)).collect();
    format!("{:?} {found:?} {:?} {:?}", report.verdict, report.statistics, report.coverage)
}

#[test]
fn same_seed_same_report_whatever_the_threads() {
    for text in [RACE, DEEP] {
        let exe = executable(text);
        for strategy in SAMPLING {
            for explore in [false, true] {
                for seed in [1, 2] {
                    let one = CheckOptions { seed, explore, ..options(strategy, 600) };
                    let two = CheckOptions { n_threads: 2, ..one.clone() };
                    let five = CheckOptions { n_threads: 5, ..one.clone() };
                    let expected = essence(&report(&exe, &one));
                    assert_eq!(expected, essence(&report(&exe, &one)), "{strategy} again");
                    assert_eq!(expected, essence(&report(&exe, &two)), "{strategy} on two threads");
                    assert_eq!(expected, essence(&report(&exe, &five)), "{strategy} on five threads");
                }
            }
        }
    }
}

#[test]
fn seeds_differ() {
    let exe = executable(DEEP);
    let index_of = |seed| {
        let options = CheckOptions { seed, ..options(StrategyKind::Random, 10_000) };
        report(&exe, &options).findings[0].index
    };
    let indices: std::collections::BTreeSet<u64> = (0..10).map(index_of).collect();
    assert!(indices.len() > 3, "{indices:?}");
}

#[test]
fn depth_first_counts_all_schedules() {
    // Three machines make one step each in any order, after one common beginning: 3! orders.
    let exe = executable(
        "
event eGo;
machine Main {
  start state Init { entry { new A(this); new A(this); new A(this); } ignore eGo; }
}
machine A { start state Init { entry (m: machine) { send m, eGo; } } }
",
    );
    let report = report(&exe, &CheckOptions { n_schedules: None, ..options(StrategyKind::DepthFirst, 0) });
    assert_eq!(report.verdict, Verdict::Holds(Guarantee::Exhaustive));
    // The first sender can go before the second exists, and so on: the paths of the 3 creations and 3 sends in
    // which each send comes after its creation.
    assert_eq!(report.statistics.n_schedules, 15);
    assert_eq!(report.statistics.max_length, report.statistics.min_length);
}

const ENDLESS: &str = "
event ePing: machine;
machine Main {
  start state Init {
    entry { send this, ePing, this; }
    on ePing do (other: machine) { send other, ePing, this; }
  }
}
";

#[test]
fn depth_first_confesses_its_bound() {
    let exe = executable(ENDLESS);
    let bounded = CheckOptions { unfair_steps: Some(50), ..options(StrategyKind::DepthFirst, 10) };
    let report = report(&exe, &bounded);
    assert_eq!(report.verdict, Verdict::Holds(Guarantee::UpTo(vec![Bound::Steps(50)])));
}

#[test]
fn step_bounds_cut_and_can_be_violations() {
    let exe = executable(ENDLESS);
    let cut = CheckOptions { fair_steps: Some(300), ..options(StrategyKind::Random, 3) };
    let found = report(&exe, &cut);
    assert_eq!((kind(&found), found.statistics.n_bounded, found.statistics.max_length), (None, 3, 300));
    let failing = CheckOptions { fail_on_max_steps: true, ..cut };
    let found = report(&exe, &failing);
    assert_eq!(kind(&found), Some(ViolationKind::StepBound(300)));
    assert_eq!(found.findings[0].counterexample.schedule.len(), 300);
}

/// As P does, whose bound counts choices, too; also where the bound is far.
#[test]
fn choices_for_ever_are_cut_at_the_step_bound() {
    let exe = executable(
        "
machine Main {
    start state S { entry { var i: int; while (true) { if ($) { i = i + 1; } } } }
}
",
    );
    for fair_steps in [500, 110_000] {
        let cut = CheckOptions { fair_steps: Some(fair_steps), ..options(StrategyKind::Random, 2) };
        let found = report(&exe, &cut);
        assert_eq!((kind(&found), found.statistics.n_bounded), (None, 2));
        assert!(matches!(found.verdict, Verdict::Holds(_)), "{:?}", found.verdict);
        let failing = CheckOptions { fail_on_max_steps: true, ..cut };
        assert_eq!(kind(&report(&exe, &failing)), Some(ViolationKind::StepBound(fair_steps)));
    }
}

#[test]
fn cancelled_searches_report_what_they_have() {
    let exe = executable(ENDLESS);
    for n_threads in [1, 2] {
        let options = CheckOptions {
            n_schedules: None,
            n_threads,
            fair_steps: Some(100),
            unfair_steps: Some(100),
            ..options(StrategyKind::Portfolio, 0)
        };
        let n_asked = AtomicU64::new(0);
        let time = std::time::Duration::from_secs(1);
        let cancel = || (n_asked.fetch_add(1, Ordering::Relaxed) > 500).then_some(StopReason::Time(time));
        let report = check(&exe, &options, &Quiet, &cancel).expect("replays");
        assert_eq!(report.stopped, Some(StopReason::Time(time)));
        let Verdict::Holds(Guarantee::Sampled { n_schedules, .. }) = report.verdict else {
            panic!("{:?}", report.verdict)
        };
        assert!(n_schedules > 20 && n_schedules == report.statistics.n_schedules);
    }
}

#[test]
fn interrupted_searches_are_unknown() {
    struct Impatient(AtomicU64);
    impl Observer for Impatient {
        fn progress(&self, progress: &Progress) {
            self.0.store(progress.n_steps, Ordering::Relaxed);
        }
    }
    impl Cancel for Impatient {
        fn reason(&self) -> Option<StopReason> {
            (self.0.load(Ordering::Relaxed) > 100_000).then_some(StopReason::Interrupted)
        }
    }
    let exe = executable(ENDLESS);
    let endless = CheckOptions { n_schedules: None, n_threads: 2, ..options(StrategyKind::Random, 0) };
    let impatient = Impatient(AtomicU64::new(0));
    let report = check(&exe, &endless, &impatient, &impatient).expect("replays");
    assert_eq!(report.verdict, Verdict::Unknown(StopReason::Interrupted));
}

#[test]
fn foreign_calls_make_the_answer_unknown() {
    let exe = executable(
        "
fun Secret(): int;
machine Main { start state Init { entry { if ($) { assert Secret() == 1; } } } }
",
    );
    let report = report(&exe, &options(StrategyKind::Random, 50));
    let Verdict::Unknown(StopReason::ForeignFunction { name }) = &report.verdict else {
        panic!("{:?}", report.verdict)
    };
    assert_eq!(name, "Secret");
    assert!((1..50).contains(&report.statistics.n_unknown));
}

#[test]
fn coverage_names_what_never_ran() {
    let exe = executable(
        "
event eA;
event eB;
event eC;
machine Main {
  start state Init {
    entry { send this, eA; }
    on eA goto Next;
    on eB do { assert false; }
  }
  state Next { entry { raise eC; } exit { } on eC do { } ignore eA; }
  state Never { entry { } }
}
",
    );
    let report = report(&exe, &options(StrategyKind::Portfolio, 20));
    let summary = report.coverage.summary(&exe);
    assert_eq!((summary.states.n_covered, summary.states.n_all), (2, 3));
    assert_eq!((summary.transitions.n_covered, summary.transitions.n_all), (2, 3));
    let unused: Vec<String> = report
        .coverage
        .unused_handlers(&exe)
        .iter()
        .map(|handler| format!("{} {:?}", exe.state_name(handler.state), handler.trigger))
        .collect();
    let b = exe.events.iter().position(|&name| exe.symbols.text(name) == "eB").unwrap_or(0);
    assert_eq!(unused, [format!("Init Event(ev{b})"), "Next Exit".into(), "Never Entry".into()]);
}

#[test]
fn going_on_reports_one_violation_for_each_place() {
    let exe = executable(
        "
machine Main {
  start state Init { entry { if ($) { assert $, \"first\"; } else { assert $, \"second\"; } } }
}
",
    );
    let options = CheckOptions { explore: true, ..options(StrategyKind::Random, 200) };
    let report = report(&exe, &options);
    assert_eq!(report.findings.len(), 2);
    let n: u64 = report.findings.iter().map(|finding| finding.n_schedules).sum();
    assert_eq!(n, report.statistics.n_violated);
    assert_eq!(report.statistics.n_schedules, 200);
}

/// A client that asks again whenever its timer goes off, until the first reply. Every fair run ends; one that starves the
/// server or the timer does not.
const POLLING: &str = "
event eAsk: machine;
event eReply;
event eStart;
event eTick;
machine Main {
  start state Init {
    entry {
      var server: machine;
      server = new Server();
      new Client(server);
      new Client(server);
    }
  }
}
machine Client {
  var server: machine;
  var timer: machine;
  start state Asking {
    entry (s: machine) {
      server = s;
      timer = new Timer(this);
      send server, eAsk, this;
      send timer, eStart;
    }
    on eTick do { send server, eAsk, this; send timer, eStart; }
    on eReply goto Done;
  }
  state Done { ignore eTick, eReply; entry { send timer, halt; } }
}
machine Timer {
  var client: machine;
  start state Init {
    entry (c: machine) { client = c; }
    on eStart do { send client, eTick; }
  }
}
machine Server {
  start state Run { on eAsk do (client: machine) { send client, eReply; } }
}
";

#[test]
fn a_starved_machine_is_no_fault_of_the_program() {
    let exe = executable(POLLING);
    for strategy in SAMPLING.into_iter().chain([StrategyKind::Probabilistic(20), StrategyKind::DepthFirst]) {
        let options = CheckOptions { fail_on_max_steps: true, ..options(strategy, 200) };
        assert_eq!(kind(&report(&exe, &options)), None, "{strategy}");
    }
}

#[test]
fn every_run_of_the_portfolio_ends_fairly() {
    let exe = executable(POLLING);
    let report = report(&exe, &options(StrategyKind::Portfolio, 600));
    assert_eq!((kind(&report), report.statistics.n_bounded), (None, 0));
}

#[test]
fn partial_order_sampling_starves_nothing_for_long() {
    let exe = executable(POLLING);
    let report = report(&exe, &options(StrategyKind::Pos, 2_000));
    assert_eq!((kind(&report), report.statistics.n_bounded), (None, 0));
    assert!(report.statistics.max_length < 1_000, "{:?}", report.statistics);
}

/// One machine spins in its null handler, another creates machines for ever; a third has to count to ten.
const BUSY: &str = "
event eNext;
machine Main {
  start state Init { entry { new Idle(); new Maker(); new Counter(); } }
}
machine Idle { start state Run { on null do { } } }
machine Maker { start state Run { entry { new Maker(); } } }
machine Counter {
  var n: int;
  start state Run {
    entry { send this, eNext; }
    on eNext do { n = n + 1; assert n < 10; send this, eNext; }
  }
}
";

#[test]
fn partial_order_sampling_lets_deliveries_pass_busy_machines() {
    let exe = executable(BUSY);
    let report = report(&exe, &CheckOptions { unfair_steps: Some(3_000), ..options(StrategyKind::Pos, 20) });
    assert_eq!(kind(&report), Some(ViolationKind::Assertion));
    assert!(report.findings[0].found_length < 2_000);
}

#[test]
fn endless_runs_are_blamed_where_they_end_fairly() {
    let exe = executable(ENDLESS);
    for (strategy, expected) in [
        (StrategyKind::Portfolio, true),
        (StrategyKind::Random, true),
        (StrategyKind::FairPct(3), true),
        (StrategyKind::Probabilistic(3), true),
        (StrategyKind::Probabilistic(40), false),
        (StrategyKind::Pct(3), false),
        (StrategyKind::Pos, false),
        (StrategyKind::DelayBounding(2), false),
        (StrategyKind::DepthFirst, false),
    ] {
        let cut = CheckOptions {
            fail_on_max_steps: true,
            fair_steps: Some(300),
            unfair_steps: Some(300),
            ..options(strategy, 3)
        };
        let found = report(&exe, &cut);
        assert_eq!(kind(&found), expected.then_some(ViolationKind::StepBound(300)), "{strategy}");
    }
}
