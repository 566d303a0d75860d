//! What is shown is short.

use crate::common::{executable, kind, options, report};
use allways_explore::{CheckOptions, StrategyKind};
use allways_machine::{Outcome, Silent, replay};
use allways_run::{Choice, ViolationKind};

/// Much noise around two steps that matter.
const NOISE: &str = "
event eNoise: int;
event eBad;
machine Main {
  start state Init {
    entry {
      var sink: machine;
      var i: int;
      sink = new Sink();
      while (i < 4) { new Chatter(sink); i = i + 1; }
      new Villain(sink);
    }
  }
}
machine Sink {
  start state Run {
    on eNoise do (n: int) { }
    on eBad do { assert false, \"bad\"; }
  }
}
machine Chatter {
  start state Run {
    entry (sink: machine) {
      var i: int;
      while (i < 20) { send sink, eNoise, choose(9); i = i + 1; }
    }
  }
}
machine Villain {
  start state Run {
    entry (sink: machine) {
      var i: int;
      while (i < 3) { send sink, eNoise, choose(9); i = i + 1; }
      send sink, eBad;
    }
  }
}
";

#[test]
fn noise_is_left_out() {
    let exe = executable(NOISE);
    let raw = report(&exe, &CheckOptions { shrink_steps: 0, ..options(StrategyKind::Random, 10) });
    let found = report(&exe, &options(StrategyKind::Random, 10));
    let (long, short) = (&raw.findings[0].counterexample, &found.findings[0].counterexample);
    assert_eq!(long.violation, short.violation);
    assert_eq!(found.findings[0].found_length as usize, long.schedule.len());
    // Main's start, its six creations, and four deliveries of the villain, the last of which breaks.
    assert_eq!(short.schedule.n_steps(), 12, "{:?}", short.schedule);
    assert_eq!(short.schedule.n_switches(), 2);
    assert!(short.schedule.choices.iter().all(|choice| !matches!(choice, Choice::Data(1..))));
    assert_eq!(short.trace.schedule(), short.schedule);
}

#[test]
fn shrunk_schedules_replay() {
    let exe = executable(NOISE);
    for strategy in [StrategyKind::Portfolio, StrategyKind::Pos, StrategyKind::Pct(2)] {
        for seed in 0..5 {
            let report = report(&exe, &CheckOptions { seed, ..options(strategy, 20) });
            let found = &report.findings[0].counterexample;
            let limits = CheckOptions::default().limits;
            let kernel = replay(&exe, limits, &found.schedule, &mut Silent).expect("it replays");
            assert_eq!(kernel.outcome(), &Outcome::Violated(Box::new(found.violation.clone())));
        }
    }
}

#[test]
fn deadlocks_shrink_too() {
    let exe = executable(
        "
event eAsk: machine;
event eAnswer;
machine Main {
  start state Init {
    entry { new Asker(new Clerk()); new Asker(new Clerk()); }
  }
}
machine Clerk {
  start state Run {
    on eAsk do (who: machine) { if ($) { send who, eAnswer; } }
  }
}
machine Asker {
  start state Run {
    entry (clerk: machine) {
      var i: int;
      while (i < 5) { send clerk, eAsk, this; receive { case eAnswer: { } } i = i + 1; }
    }
  }
}
",
    );
    let report = report(&exe, &options(StrategyKind::Random, 100));
    assert_eq!(kind(&report), Some(ViolationKind::Deadlock));
    let found = &report.findings[0];
    assert!(found.counterexample.schedule.len() as u64 <= found.found_length);
    // Start, four creations, one question each and no answer.
    assert_eq!(found.counterexample.schedule.n_steps(), 7, "{:?}", found.counterexample.schedule);
}

/// A clock that ticks for nothing, one that counts down, and talk among others: a path far too long for the budget.
#[test]
fn long_ways_lose_circles_and_what_led_nowhere() {
    let exe = executable(
        "
event eTick;
event eTalk: machine;
event eAlarm;
machine Main {
  start state Init {
    entry {
      new Clock((who = this, n = 0));
      new Clock((who = this, n = 40));
      new Talker(new Talker(null as machine));
    }
    on eAlarm do { assert false, \"too late\"; }
  }
}
machine Clock {
  var n: int;
  var who: machine;
  start state Init {
    entry (input: (who: machine, n: int)) { n = input.n; who = input.who; goto Run; }
  }
  state Run {
    entry {
      if (n == 1) { send who, eAlarm; }
      if (n > 1) { n = n - 1; }
      send this, eTick;
    }
    on eTick goto Run;
  }
}
machine Talker {
  var n: int;
  start state Init {
    entry (other: machine) { if (other != null) { send other, eTalk, this; } }
    on eTalk do (other: machine) { n = n + 1; send other, eTalk, this; }
  }
}
",
    );
    // A budget of three candidates.
    let raw = report(&exe, &CheckOptions { shrink_steps: 0, ..options(StrategyKind::Random, 10) });
    let found_length = raw.findings[0].found_length;
    let found =
        report(&exe, &CheckOptions { shrink_steps: 3 * found_length, ..options(StrategyKind::Random, 10) });
    // Main's start and four creations, 39 ticks of the second clock, the alarm, and that it breaks.
    assert_eq!(found.findings[0].counterexample.schedule.n_steps(), 46, "from {found_length}");
}
