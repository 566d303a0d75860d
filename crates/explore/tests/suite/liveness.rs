//! Liveness of monitors: certain, potential, and none.

use crate::common::{executable, kind, options, report};
use allways_explore::{CheckOptions, Fairness, LivenessOptions, StrategyKind, TemperatureRule};
use allways_run::{Certainty, ViolationKind};

const CERTAIN: Option<ViolationKind> = Some(ViolationKind::Liveness(Certainty::Certain));
const POTENTIAL: Option<ViolationKind> = Some(ViolationKind::Liveness(Certainty::Potential));

/// A monitor that is hot from `eOn` to `eOff`, and a machine that does something with them.
fn switch(body: &str) -> String {
    format!(
        "
event eOn;
event eOff;
event eTick;
event eTock;
spec Cools observes eOn, eOff {{
  start cold state Off {{ on eOn goto On; ignore eOff; }}
  hot state On {{ on eOff goto Off; ignore eOn; }}
}}
{body}
test T [main = Main]: assert Cools in {{ Main }};
"
    )
}

fn fair(n: u64) -> CheckOptions {
    CheckOptions { fair_steps: Some(4_000), ..options(StrategyKind::Random, n) }
}

fn weak(n: u64) -> CheckOptions {
    let liveness = LivenessOptions { fairness: Fairness::Weak, ..LivenessOptions::default() };
    CheckOptions { liveness, ..fair(n) }
}

#[test]
fn hot_at_the_end_is_a_violation() {
    let exe = executable(&switch(
        "machine Main { start state Init { entry { announce eOn; if ($) { announce eOff; } } } }",
    ));
    let found = report(&exe, &fair(20));
    assert_eq!(kind(&found), Some(ViolationKind::HotAtEnd));
    assert_eq!(found.findings[0].counterexample.violation.monitor, Some(0));
}

/// Ticks for ever, and turns the monitor hot after some ticks, for good.
const STUCK: &str = "
machine Main {
  var n: int;
  start state Wait {
    entry { send this, eTick; }
    on eTick do {
      n = n + 1;
      send this, eTick;
      if (n == 3) { announce eOn; goto Loop; }
    }
  }
  state Loop {
    on eTick do { send this, eTock; }
    on eTock do { send this, eTick; }
  }
}
";

#[test]
fn a_monitor_that_can_never_cool_is_certain() {
    let exe = executable(&switch(STUCK));
    for options in [fair(1), weak(1)] {
        let found = report(&exe, &options);
        assert_eq!(kind(&found), CERTAIN);
        let lasso = &found.findings[0].counterexample;
        let start = lasso.loop_start.expect("a loop");
        assert!(start > 0 && start < lasso.schedule.len());
        // Tick and tock, and as few steps before as it takes.
        assert_eq!(lasso.schedule.len() - start, 2, "{:?}", lasso.schedule);
        assert!(lasso.schedule.len() <= 10, "{:?}", lasso.schedule);
    }
}

#[test]
fn certain_needs_no_temperature_and_no_long_run() {
    let exe = executable(&switch(STUCK));
    let liveness = LivenessOptions { temperature: TemperatureRule::Off, ..LivenessOptions::default() };
    let found = report(&exe, &CheckOptions { liveness, fair_steps: Some(200), ..fair(1) });
    assert_eq!(kind(&found), CERTAIN);
}

/// Stays hot for long, but a lucky answer cools it at any time.
const LUCK: &str = "
machine Main {
  start state Run {
    entry { announce eOn; send this, eTick; }
    on eTick do {
      if (choose(10000) == 7777) { announce eOff; } else { send this, eTick; }
    }
  }
}
";

#[test]
fn a_monitor_that_can_cool_is_no_violation() {
    let exe = executable(&switch(LUCK));
    let found = report(&exe, &fair(20));
    assert_eq!(kind(&found), None);
    assert!(found.statistics.n_searches > 0);
}

#[test]
fn cold_in_passing_is_cold() {
    // Off and on again within one step: between steps the monitor is never seen cold.
    let exe = executable(&switch(
        "
machine Main {
  start state Run {
    entry { announce eOn; send this, eTick; }
    on eTick do { announce eOff; announce eOn; send this, eTick; }
  }
}
",
    ));
    assert_eq!(kind(&report(&exe, &fair(2))), None);
    assert_eq!(kind(&report(&exe, &weak(2))), None);
}

#[test]
fn a_search_that_hits_its_bound_leaves_it_to_the_temperature() {
    // The counter makes the graph infinite.
    let exe = executable(&switch(
        "
machine Main {
  var n: int;
  start state Run {
    entry { announce eOn; send this, eTick; }
    on eTick do { n = n + 1; send this, eTick; }
  }
}
",
    ));
    let found = report(&exe, &fair(1));
    assert_eq!(kind(&found), POTENTIAL);
    assert!(found.statistics.n_open_searches > 0);
    let liveness = LivenessOptions { temperature: TemperatureRule::Off, ..LivenessOptions::default() };
    assert_eq!(kind(&report(&exe, &CheckOptions { liveness, ..fair(1) })), None);
}

/// Asks a `$` or `$$` again and again, and cools the monitor when it is true.
fn asks(question: &str) -> String {
    switch(&format!(
        "
machine Main {{
  start state Run {{
    entry {{ announce eOn; send this, eTick; }}
    on eTick do {{
      if ({question}) {{ announce eOff; announce eOn; }}
      send this, eTick;
    }}
  }}
}}
"
    ))
}

#[test]
fn weak_fairness_distrusts_single_but_trusts_double() {
    let unfair = executable(&asks("$"));
    assert_eq!(kind(&report(&unfair, &fair(5))), None);
    assert_eq!(kind(&report(&unfair, &weak(5))), CERTAIN);
    let fair_choice = executable(&asks("$$"));
    assert_eq!(kind(&report(&fair_choice, &fair(5))), None);
    assert_eq!(kind(&report(&fair_choice, &weak(5))), None);
}

#[test]
fn weak_fairness_lets_every_machine_step() {
    // One machine spins, the other would cool the monitor: starving it does not count.
    let exe = executable(
        "
event eOn;
event eOff;
event eTick;
spec Cools observes eOn, eOff {
  start cold state Off { on eOn goto On; ignore eOff; }
  hot state On { on eOff goto Off; ignore eOn; }
}
machine Main {
  start state Run {
    entry { announce eOn; new Other(); send this, eTick; }
    on eTick do { send this, eTick; }
  }
}
machine Other {
  start state Init { entry { announce eOff; } }
}
test T [main = Main]: assert Cools in { Main, Other };
",
    );
    assert_eq!(kind(&report(&exe, &fair(5))), None);
    assert_eq!(kind(&report(&exe, &weak(5))), None);
}

#[test]
fn warm_and_hot_without_cold_is_a_violation() {
    // Hot again and again, warm in between, never cold.
    let exe = executable(
        "
event eOn;
event eHalf;
event eTick;
spec Cools observes eOn, eHalf {
  start cold state Off { on eOn goto On; ignore eHalf; }
  hot state On { on eHalf goto Half; ignore eOn; }
  state Half { on eOn goto On; ignore eHalf; }
}
machine Main {
  start state Run {
    entry { announce eOn; send this, eTick; }
    on eTick do { if ($) { announce eHalf; } else { announce eOn; } send this, eTick; }
  }
}
test T [main = Main]: assert Cools in { Main };
",
    );
    assert_eq!(kind(&report(&exe, &fair(2))), CERTAIN);
    assert_eq!(kind(&report(&exe, &weak(2))), CERTAIN);
}

#[test]
fn a_violation_met_by_the_search_is_reported() {
    let exe = executable(&switch(
        "
machine Main {
  start state Run {
    entry { announce eOn; send this, eTick; }
    on eTick do {
      assert choose(10000) != 7777, \"bad luck\";
      send this, eTick;
    }
  }
}
",
    ));
    let found = report(&exe, &fair(1));
    assert_eq!(kind(&found), Some(ViolationKind::Assertion));
    assert!(found.findings[0].counterexample.schedule.len() < 10);
}

#[test]
fn unfair_strategies_report_no_violation() {
    let exe = executable(&switch(STUCK));
    for strategy in [StrategyKind::Pct(3), StrategyKind::Pos, StrategyKind::DelayBounding(2)] {
        assert_eq!(kind(&report(&exe, &CheckOptions { strategy, ..fair(5) })), None, "{strategy}");
    }
}

#[test]
fn lassos_do_not_depend_on_threads() {
    let exe = executable(&switch(STUCK));
    let one = report(&exe, &fair(50));
    let two = report(&exe, &CheckOptions { n_threads: 2, ..fair(50) });
    assert_eq!(one.findings[0].counterexample, two.findings[0].counterexample);
    assert_eq!(one.statistics, two.statistics);
}
