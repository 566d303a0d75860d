//! A few random asynchronous Boogie programs; `cargo xtask differential --boogie` takes as many as wanted.

use allways_base::FileId;
use allways_boogie::interp::{ExploreOptions, Preemption, Scheduler, Value, explore, lower};
use allways_boogie::{analyze, entry_point};
use allways_testkit::boogie::solver::need_solver;
use allways_testkit::boogie::{CompareOptions, Comparison, Reused, Statistics, compare, compare_seed};

fn solver() -> Reused {
    need_solver();
    Reused::start().expect("the solver starts")
}

#[test]
fn translated_programs_do_what_schedulers_do() {
    let mut solver = solver();
    let mut statistics = Statistics::default();
    for seed in 0..25 {
        let (text, comparison) = compare_seed(seed, &mut solver);
        statistics.add(&comparison);
        if let Comparison::Differ(difference) = comparison {
            panic!("seed {seed}: {difference}\n{text}");
        }
    }
    assert!(statistics.n_too_large < 10 && statistics.n_failing > 0, "{statistics:?}");
}

/// The paper's theorem that DF(K) is contained in DFW(K) is wrong: this end is reached with one delay by the one and
/// needs two with the other. The translations agree.
#[test]
fn depth_first_reaches_what_waiting_does_not() {
    let text = "type task a; var g0, g1, g2: bool;
        procedure J() { g0 := true; }
        procedure D(x: bool) { yield; g1 := x; }
        procedure {:entrypoint} main() {
          var j: task bool; var x: bool;
          g0, g1, g2 := false, false, false;
          call {:async j} J();
          yield;
          x := g0;
          async call D(x);
          assume {:wait j} true;
          g2 := g1;
        }";
    let (checked, _) = analyze(FileId::from_u32(0), text);
    let checked = checked.expect("the program is correct");
    let entry = entry_point(&checked.program, None).expect("there is an entry point");
    let code = lower(checked, entry, Preemption::Explicit).expect("the program can be run");
    let reaches = |scheduler: Scheduler| {
        let found = explore(&code, &ExploreOptions { scheduler, ..ExploreOptions::default() });
        assert!(found.complete);
        found.finals.contains(&(vec![Value::Bool(true), Value::Bool(true), Value::Bool(false)], false))
    };
    assert!(reaches(Scheduler::Df { delays: 1 }));
    assert!(!reaches(Scheduler::Dfw { delays: 1 }));
    assert!(reaches(Scheduler::Dfw { delays: 2 }));
    let comparison = compare(text, &CompareOptions::default(), &mut solver());
    assert!(matches!(comparison, Comparison::Same { .. }), "{comparison:?}");
}
