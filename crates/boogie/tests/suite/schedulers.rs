//! The unit programs of the sequentialization literature, run under the operational schedulers.

use allways_base::FileId;
use allways_boogie::interp::{
    Assertions, Code, Domains, Ending, Exploration, ExploreOptions, Preemption, Replay, RunOptions,
    Scheduler, Value, explore, lower, run,
};
use allways_boogie::{check, entry_point, parse};

fn code(text: &str) -> Code {
    let parsed = parse(FileId::from_u32(0), text);
    assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics);
    let (checked, diagnostics) = check(parsed.program);
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    let entry = entry_point(&checked.program, None).unwrap();
    lower(checked, entry, Preemption::Explicit).unwrap()
}

fn explored(code: &Code, scheduler: Scheduler, assertions: Assertions) -> Exploration {
    let domains = Domains { closed: true, ..Domains::default() };
    let options =
        ExploreOptions { scheduler, assertions, domains: domains.clone(), ..ExploreOptions::default() };
    let found = explore(code, &options);
    assert_eq!(found.limit, None);
    if let Some((failure, schedule)) = &found.violation {
        // Every violation replays to the same failure.
        let options = RunOptions { scheduler, assertions, domains, ..RunOptions::default() };
        let mut replay = Replay::new(schedule);
        let again = run(code, &options, &mut replay);
        assert_eq!(again.ending, Ending::Failed(failure.clone()));
        assert!(replay.is_done());
    }
    found
}

fn fails(text: &str, scheduler: Scheduler) -> bool {
    explored(&code(text), scheduler, Assertions::Exit).violation.is_some()
}

fn df(delays: u32) -> Scheduler {
    Scheduler::Df { delays }
}

fn dfw(delays: u32) -> Scheduler {
    Scheduler::Dfw { delays }
}

/// The least K up to `max` with which a scheduler fails.
fn least(text: &str, scheduler: impl Fn(u32) -> Scheduler, assertions: Assertions, max: u32) -> Option<u32> {
    let code = code(text);
    (0..=max).find(|&k| explored(&code, scheduler(k), assertions).violation.is_some())
}

#[test]
fn one_delay_lets_the_child_overtake() {
    let text = "
        var x: int;
        procedure inc() { x := x + 1; }
        procedure {:entrypoint} main() {
          x := 0; call {:async} inc(); assume {:yield} true; assert x == 0;
        }";
    for scheduler in [df, dfw] {
        assert!(!fails(text, scheduler(0)));
        assert!(fails(text, scheduler(1)));
    }
    assert!(fails(text, Scheduler::Concurrent));
    assert!(fails(text, Scheduler::ChildFirst { rounds: 1 }));
}

#[test]
fn child_first_runs_the_child_at_once() {
    let text = "
        var x: int;
        procedure child() { x := 1; yield; x := 2; }
        procedure main() { x := 0; async call child(); assert x != 2; }";
    assert!(fails(text, Scheduler::ChildFirst { rounds: 1 }));
    assert!(!fails(text, df(0)));
    let text = text.replace("assert x != 2", "assert x != 1");
    assert!(!fails(&text.replace("yield; ", ""), Scheduler::ChildFirst { rounds: 2 }));
    assert!(fails(&text, Scheduler::ChildFirst { rounds: 2 }));
}

#[test]
fn arguments_are_evaluated_when_posted() {
    let text = "
        var g: int;
        procedure p(a: int) { assert a == 1; }
        procedure main() { g := 1; call {:async} p(g); g := 2; yield; }";
    for scheduler in [df(2), dfw(2), Scheduler::Concurrent] {
        assert!(!fails(text, scheduler));
    }
}

#[test]
fn one_point_may_take_two_delays() {
    // `a` has a single yield and must be overtaken by two tasks of later rounds.
    let text = "
        var g: int;
        procedure b() { yield; if (g == 0) { g := 1; } }
        procedure a() { yield; assert g != 1; }
        procedure main() { g := 0; call {:async} a(); call {:async} b(); }";
    assert_eq!(least(text, df, Assertions::Exit, 3), Some(1));
    let text = "
        var g: int;
        procedure b() { yield; if (g == 1) { g := 2; } }
        procedure c() { if (g == 0) { g := 1; } }
        procedure a() { yield; assert g != 2; }
        procedure main() { g := 0; call {:async} a(); call {:async} b(); call {:async} c(); }";
    assert_eq!(least(text, df, Assertions::Exit, 4), Some(3));
    assert_eq!(least(text, dfw, Assertions::Exit, 4), Some(3));
}

const THEOREM_1: &str = "
    type task a;
    var g0, g1, g2: int;
    procedure J() { g0 := 1; }
    procedure D(x: int) { g1 := x; }
    procedure {:entrypoint} main() {
      var j: task int; var x: int;
      g0, g1, g2 := 0, 0, 0;
      call {:async j} J();
      assume {:yield} true;
      x := g0;
      call {:async} D(x);
      assume {:wait j} true;
      g2 := g1;
    }";

#[test]
fn dfw_does_not_subsume_df() {
    // D may be delayed only if it has a preemption point.
    let code = code(&THEOREM_1.replace("{ g1 := x; }", "{ yield; g1 := x; }"));
    let reaches = |scheduler| {
        let wanted = [1, 1, 0].map(Value::Int).to_vec();
        explored(&code, scheduler, Assertions::Exit).finals.contains(&(wanted, false))
    };
    assert!(!reaches(df(0)) && reaches(df(1)));
    assert!(!reaches(dfw(0)) && !reaches(dfw(1)) && reaches(dfw(2)));
}

#[test]
fn exit_mode_does_not_need_the_rest_to_complete() {
    let text = "
        procedure p() { assume false; }
        procedure main() { call {:async} p(); assert false; }";
    let code = code(text);
    for scheduler in [df(0), dfw(0), Scheduler::Concurrent] {
        assert!(explored(&code, scheduler, Assertions::Exit).violation.is_some());
        assert!(explored(&code, scheduler, Assertions::Continue).violation.is_none());
    }
}

#[test]
fn failures_in_rounds_after_the_last_of_main_count() {
    let text = "
        var g: int;
        procedure p() { yield; assert g == 0; }
        procedure q() { g := 1; }
        procedure main() { g := 0; call {:async} p(); call {:async} q(); }";
    for mode in [Assertions::Exit, Assertions::Continue] {
        assert_eq!(least(text, df, mode, 2), Some(1));
        assert_eq!(least(text, dfw, mode, 2), Some(1));
    }
}

#[test]
fn lost_update_takes_one_delay() {
    let text = "
        type task a;
        var n: int;
        procedure inc() { var t: int; t := n; yield; n := t + 1; }
        procedure main() {
          var a, b: task int;
          n := 0;
          call {:async a} inc(); call {:async b} inc();
          assume {:wait a} true; assume {:wait b} true;
          assert n == 2;
        }";
    assert_eq!(least(text, dfw, Assertions::Exit, 2), Some(1));
    assert_eq!(least(text, df, Assertions::Exit, 3), Some(3));
    // Without the waits of main, which cost DF delays, one is enough.
    let text = text.replace("assume {:wait a} true; assume {:wait b} true;", "");
    let code = code(&text.replace("assert n == 2;", ""));
    let lost = |k| explored(&code, df(k), Assertions::Exit).finals.contains(&(vec![Value::Int(1)], false));
    assert!(!lost(0) && lost(1));
}

#[test]
fn handles_go_to_younger_tasks_and_may_be_waited_for_twice() {
    let text = "
        type task a;
        var seen: int;
        procedure one() returns (r: int) { r := 1; }
        procedure reader(t: task int) { var x, y: int; assume {:wait x, t} true; assume {:wait y, t} true; seen := x + y; }
        procedure main() {
          var t: task int; var r: task int; var d: int;
          seen := 0;
          call {:async t} d := one();
          call {:async r} reader(t);
          assume {:wait r} true;
          assert seen == 2;
        }";
    assert!(!fails(text, dfw(2)) && !fails(text, Scheduler::Concurrent));
    assert!(explored(&code(text), dfw(0), Assertions::Exit).finals.len() == 1);
}

#[test]
fn waiting_for_nothing_is_reported() {
    let text = "
        type task a;
        procedure main() { var t: task int; assume {:wait t} true; }";
    assert!(fails(text, dfw(0)) && fails(text, df(0)) && fails(text, Scheduler::Concurrent));
}

#[test]
fn untouched_entries_of_maps_stay() {
    let text = "
        var m: [bool]bool;
        procedure set() { m[true] := false; }
        procedure main() {
          var before: [bool]bool;
          before := m; call {:async} set(); yield;
          assert m == before || m == before[true := false];
          assert m[false] == before[false];
        }";
    for scheduler in [df(1), dfw(1), Scheduler::Concurrent] {
        assert!(!fails(text, scheduler));
    }
    assert!(fails(&text.replace("m == before || ", ""), df(0)));
}

/// The chained calls of the paper's figure 9.
fn chain(n: u32) -> String {
    format!(
        "type task a;
        var i: int;
        procedure p() {{ }}
        procedure {{:entrypoint}} main() {{
          var t: task int;
          i := 0;
          while (i < {n}) {{ call {{:async t}} p(); i := i + 1; assume {{:yield}} true; assume {{:wait t}} true; }}
          assert false;
        }}"
    )
}

#[test]
fn chained_calls_are_free_under_dfw_only() {
    for n in 1..=4 {
        assert_eq!(least(&chain(n), dfw, Assertions::Exit, 0), Some(0), "DFW, n = {n}");
        assert_eq!(least(&chain(n), df, Assertions::Exit, n), Some(n), "DF, n = {n}");
    }
    assert_eq!(least(&chain(200), dfw, Assertions::Exit, 0), Some(0));
}

#[test]
fn figure_4_reaches_every_value_without_delays_under_dfw() {
    let text = |bad: u32| {
        format!(
            "type task a;
            var i: int;
            procedure p() returns (r: int) {{ r := i; }}
            procedure {{:entrypoint}} main() {{
              var x: task int; var y, n: int;
              i := 0; n := 0;
              while (*) {{
                n := n + 1; assume n <= 5;
                call {{:async x}} y := p(); assume {{:wait y, x}} true; i := i + 1;
              }}
              assert i != {bad};
            }}"
        )
    };
    for bad in 0..=3 {
        assert_eq!(least(&text(bad), dfw, Assertions::Exit, 0), Some(0));
        assert_eq!(least(&text(bad), df, Assertions::Exit, bad), Some(bad));
    }
}
