//! The Boogie pipeline as a whole: what the operational schedulers say about a program, the translation says too, and
//! every violation has been repeated by the concurrent interpreter.
//!
//! `ALLWAYS_RANDOM_PROGRAMS` sets the number of random programs (default 40), `ALLWAYS_RANDOM_FIRST` the first seed.

use std::fs;
use std::time::Duration;

use allways_base::Sources;
use allways_boogie::generate::{GenerateOptions, generate};
use allways_boogie::interp::{Domains, ExploreOptions, Limit, explore, lower};
use allways_boogie::{check as recheck, entry_point};
use allways_driver::boogie::{Assertions, BoogieOptions, Loaded, Preemption, SchedulerKind, check, read};
use allways_run::{Bound, Guarantee, Quiet, StopReason, Verdict};
use allways_testkit::boogie::solver::{need_solver, workspace};

const SCHEDULERS: [SchedulerKind; 3] = [SchedulerKind::Dfw, SchedulerKind::Df, SchedulerKind::ChildFirst];

fn loaded(name: &str, text: &str) -> Loaded {
    need_solver();
    read(Sources::default(), [(name.to_owned(), text.to_owned())])
}

fn bounds(scheduler: SchedulerKind, delays: u32) -> BoogieOptions {
    BoogieOptions {
        scheduler,
        delays: Some(delays),
        recursion: Some(6),
        preemption: Some(Preemption::Explicit),
        ..BoogieOptions::default()
    }
}

/// What the pipeline says: whether something fails.
fn fails(name: &str, text: &str, options: &BoogieOptions) -> Result<bool, String> {
    let loaded = loaded(name, text);
    let Some(checked) = &loaded.checked else { return Err(format!("{:?}", loaded.diagnostics)) };
    match check(&loaded, checked, options, &Quiet) {
        Ok(report) => match report.verdict {
            Verdict::Holds(_) => Ok(false),
            Verdict::Violated(_) if report.evidence.is_some_and(|evidence| evidence.is_repeated) => Ok(true),
            Verdict::Violated(counterexample) => Err(format!("not repeated: {counterexample:?}")),
            Verdict::Unknown(StopReason::Undecided { why }) => Err(why),
            Verdict::Unknown(reason) => Err(format!("{reason:?}")),
        },
        Err(error) => Err(format!("{error:?}")),
    }
}

/// What the operational scheduler says, with data from small sets; `None` if it has too much to explore.
fn explored(text: &str, options: &BoogieOptions) -> Option<bool> {
    let loaded = loaded("explored", text);
    let checked = loaded.checked.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let entry = entry_point(&checked.program, None).unwrap_or_else(|d| panic!("{}", d.message));
    let preemption = options.preemption.unwrap_or(Preemption::Explicit);
    let code = lower(recheck(checked.program).0, entry, preemption).unwrap_or_else(|limit| panic!("{limit}"));
    let found = explore(
        &code,
        &ExploreOptions {
            scheduler: options.scheduler.operational(options.delays.unwrap_or(0)),
            assertions: options.assertions,
            domains: Domains { closed: true, ..Domains::default() },
            ..ExploreOptions::default()
        },
    );
    match found.limit {
        None => Some(found.violation.is_some()),
        Some(Limit::Steps) => None,
        Some(limit) => panic!("{limit}\n{text}"),
    }
}

/// What both say.
fn agree(name: &str, text: &str, options: &BoogieOptions) -> Option<bool> {
    let expected = explored(text, options)?;
    assert_eq!(fails(name, text, options), Ok(expected), "{name}: {options:?}\n{text}");
    Some(expected)
}

/// Every line `// explore: SCHEDULER(K) MODE VERDICT`, which the operational schedulers confirm elsewhere, and every
/// line `// check: SCHEDULER(K) recursion(N) MODE VERDICT` of the corpus.
#[test]
fn corpus_verdicts_are_found_and_repeated() {
    let mut files: Vec<_> = fs::read_dir(workspace().join("corpus/boogie/async"))
        .expect("the corpus is there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    let (mut n_repeated, mut n_held, mut wrong) = (0, 0, Vec::new());
    for path in files.iter().filter(|path| path.extension().is_some_and(|e| e == "bpl")) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(path).expect("corpus files are text");
        let preemption = match text.lines().find_map(|line| line.strip_prefix("// preemption: ")) {
            Some("automatic") => Preemption::Automatic,
            Some("serial") => Preemption::Serial,
            _ => Preemption::Explicit,
        };
        for line in text.lines() {
            let Some(claim) = line.strip_prefix("// explore: ").or(line.strip_prefix("// check: ")) else {
                continue;
            };
            let words: Vec<&str> = claim.split_whitespace().collect();
            let (scheduler, recursion, mode, verdict) = match words[..] {
                [scheduler, mode, verdict] => (scheduler, "recursion(6)", mode, verdict),
                [scheduler, recursion, mode, verdict] => (scheduler, recursion, mode, verdict),
                _ => panic!("{name}: {line}"),
            };
            let number =
                |text: &str| -> Option<u32> { text.split_once('(')?.1.trim_end_matches(')').parse().ok() };
            let (Some(bound), Some(recursion)) = (number(scheduler), number(recursion)) else { continue };
            let (scheduler, delays) = match scheduler.split_once('(') {
                Some(("df", _)) => (SchedulerKind::Df, bound),
                Some(("dfw", _)) => (SchedulerKind::Dfw, bound),
                Some(("child-first", _)) => (SchedulerKind::ChildFirst, bound - 1),
                _ => panic!("{name}: {line}"),
            };
            let assertions = if mode == "continue" { Assertions::Continue } else { Assertions::Exit };
            let options = BoogieOptions {
                assertions,
                recursion: Some(recursion),
                preemption: Some(preemption),
                ..bounds(scheduler, delays)
            };
            match (fails(&name, &text, &options), verdict) {
                (Ok(true), "fails") => n_repeated += 1,
                (Ok(false), "holds") => n_held += 1,
                (found, _) => wrong.push(format!("{name}: {line}: {found:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_repeated >= 50 && n_held >= 40, "only {n_repeated} and {n_held}");
}

#[test]
fn values_and_branches_of_the_model_are_used() {
    let texts = [
        "var x: int; procedure p() { var y: int; havoc y; if (y > 40) { x := y; } }
         procedure main() { x := 0; async call p(); yield; assert x != 77; }",
        "var x: int; procedure p(n: int) { while (*) { x := x + n; yield; } }
         procedure main() { x := 0; async call p(3); async call p(5); yield; yield; assert x != 11; }",
        "var x: int; procedure p() { goto a, b; a: x := 1; return; b: x := 2; }
         procedure main() { x := 0; async call p(); yield; if (*) { x := x + 10; } else { x := x + 20; } assert x != 22; }",
        // Many values that only the model knows, in frames of one procedure and in both orders.
        "var x: int;
         procedure any() returns (r: int) { var a, b: int; havoc a; havoc b; assume a > 1000 && b > 1000 && a != b; havoc a;
           assume a == b + 17; r := a; }
         procedure p() { var y, z, u: int; call y := any(); call z := any(); assume u == y + z; x := u; }
         procedure main() { x := 0; async call p(); yield; assert x < 3000; }",
        // Constants, functions, elements of types without definition.
        "type T; type task a; const c: int; const unique red, blue: T; function f(t: T, n: int) returns (int); function g(int) returns (T);
         axiom c > 500; axiom (forall t: T :: f(t, 0) >= 0);
         var owner: T; var m: [T]int;
         procedure p(n: int) { assume f(owner, n) == c + 3; assume g(c) == owner; m[owner] := f(red, 1) + f(blue, 2); owner := red; }
         procedure main() { assume owner != red && owner != blue; m := (lambda t: T :: 7); async call p(c); yield; yield;
           assert m[g(c)] != 9000 || owner != red; }",
        // Procedures without body: their results and what they modify.
        "var x, y: int;
         procedure read() returns (a: int, b: int); ensures a > 40 && b == a + x;
         procedure write(); modifies y; ensures y == old(y) + 1000;
         procedure p() { var a, b: int; call a, b := read(); call a, b := read(); call write(); call write(); x := b; }
         procedure main() { x := 5; y := 60; async call p(); yield; yield; assert x != 77 || y != 2060; }",
        // Results that are never assigned, bits, and a map chosen as a whole.
        "var x: bv16; var m: [bv16]bool;
         function {:bvbuiltin \"bvadd\"} add(bv16, bv16) returns (bv16);
         procedure none() returns (r: bv16) { }
         procedure p() { var k: bv16; call x := none(); call k := none(); havoc m; assume m[x] && !m[k] && m[add(x, k)]; x := k; }
         procedure main() { x := 0bv16; async call p(); yield; yield; assert add(x, 1bv16) != 4660bv16; }",
        // Copies of a variable for each task.
        "var {:thread_local} mine: int; var x: int;
         procedure p() { x := x + mine; }
         procedure main() { x := 0; async call p(); async call p(); yield; yield; assert x != 123456; }",
    ];
    for text in texts {
        for scheduler in [SchedulerKind::Dfw, SchedulerKind::Df] {
            assert_eq!(fails("test", text, &bounds(scheduler, 2)), Ok(true), "{scheduler:?}\n{text}");
        }
    }
}

/// The least number of delays up to 3 with which a program fails, for DFW, DF and child first. The operational
/// schedulers agree on the way there.
fn least(text: &str) -> [Option<u32>; 3] {
    SCHEDULERS.map(|scheduler| {
        (0..=3).find(|&delays| agree("test", text, &bounds(scheduler, delays)) == Some(true))
    })
}

const NEVER: [Option<u32>; 3] = [None; 3];

#[test]
fn numbers_of_tasks() {
    let program = |claim: &str| {
        format!(
            "var log: int;
             procedure child() {{ var me: int; yield; call me := corral_getThreadID(); log := 10 * log + me; }}
             procedure main() {{
               var me, a, b, c: int; log := 0;
               async call a := child(); call b := corral_getChildThreadID();
               async call c := child(); call me := corral_getThreadID();
               yield; assert {claim};
             }}"
        )
    };
    assert_eq!(least(&program("me == 1 && a == 2 && b == a && c == 3")), NEVER);
    assert_eq!(least(&program("log != 23")), [Some(1), Some(1), Some(0)]);
    assert_eq!(least(&program("log != 32")), [Some(3), Some(3), Some(1)]);
    // Numbers are given in the order of posting, and a parent may be overtaken.
    let nested = "var first: int;
        procedure leaf() { var me: int; call me := corral_getThreadID(); if (first == 0) { first := me; } }
        procedure inner() { yield; async call leaf(); }
        procedure main() { first := 0; async call inner(); yield; async call leaf(); yield; assert first != 4; }";
    assert_eq!(least(nested), [Some(1), Some(1), None]);
    let bits = "var t: bv32;
        procedure child() { call t := corral_getThreadID(); }
        procedure main() { async call child(); yield; assert t != 2bv32; }";
    assert_eq!(least(bits), [Some(0), Some(0), Some(0)]);
    let mixed = "procedure main() { var a: int; var b: bv32;
        call a := corral_getThreadID(); call b := corral_getThreadID(); async call main(); assert true; }";
    let message = fails("mixed", mixed, &bounds(SchedulerKind::Dfw, 0)).expect_err("it is rejected");
    assert!(message.contains("task numbers that are int here and bv32 elsewhere"), "{message}");
}

#[test]
fn arguments_are_evaluated_before_the_number_is_given() {
    let text = "var t: int;
        procedure child(n: int) { yield; assert n == 7 && t == 2; }
        procedure main() { t := 7; async call t := child(t); }";
    assert_eq!(least(text), NEVER);
    let handle = "type task a; var g: int;
        procedure one() returns (r: int) { r := 1; }
        procedure two(h: task int) returns (r: int) { assume {:wait r, h} true; g := r; }
        procedure main() { var h: task int; g := 0; call {:async h} one(); call {:async h} two(h);
          assume {:wait h} true; assert g == 1; }";
    assert_eq!(least(handle), NEVER);
}

#[test]
fn waiting_for_all_children() {
    let program = |claim: &str| {
        format!(
            "var n: int;
             procedure inc() {{ var t: int; t := n; yield; n := t + 1; }}
             procedure outer() {{ async call inc(); async call inc(); assume {{:waitall}} true; n := n + 10; }}
             procedure main() {{ n := 0; async call outer(); async call inc(); assume {{:waitall}} true; assert {claim}; }}"
        )
    };
    // Waiting is free under DFW and costs delays under DF; a child that runs first needs none.
    assert_eq!(least(&program("n != 13")), [Some(0), Some(3), Some(0)]);
    assert_eq!(least(&program("n == 13")), [Some(1), None, Some(1)]);
}

#[test]
fn free_calls_assume_what_others_check() {
    let program = |call: &str| {
        format!(
            "var g: int;
             procedure p(x: int) requires x > g; {{ g := x; }}
             procedure q(x: int); requires x > g; ensures x > old(g); modifies g;
             procedure child() {{ {call} }}
             procedure main() {{ g := 0; async call child(); yield; assert g >= 0; }}"
        )
    };
    assert_eq!(least(&program("free call p(1);")), NEVER);
    assert_eq!(least(&program("free call p(0);")), NEVER);
    assert_eq!(least(&program("call p(0);")), [Some(0), Some(0), Some(0)]);
    assert_eq!(least(&program("free call q(0);")), NEVER);
}

#[test]
fn serial_tasks_give_way_at_waits_only() {
    let text = "type task a; var n: int;
        procedure inc() returns (r: int) { var t: int; t := n; yield; n := t + 1; }
        procedure main() { var h, i: task int; n := 0; call {:async h} inc(); call {:async i} inc();
          assume {:wait h} true; assume {:wait i} true; assert n == 2; }";
    for (preemption, delays, expected) in [
        (Preemption::Explicit, 1, [true, false, true]),
        (Preemption::Explicit, 3, [true, true, true]),
        (Preemption::Serial, 3, [false, false, false]),
        (Preemption::Automatic, 1, [true, false, true]),
    ] {
        for (scheduler, expected) in SCHEDULERS.into_iter().zip(expected) {
            let options = BoogieOptions { preemption: Some(preemption), ..bounds(scheduler, delays) };
            assert_eq!(agree("serial", text, &options), Some(expected), "{options:?}");
        }
    }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Random programs whose first task ends with an assertion about what it sees.
#[test]
fn random_programs_get_the_verdict_of_their_scheduler() {
    let (first, n) = (number("ALLWAYS_RANDOM_FIRST", 0), number("ALLWAYS_RANDOM_PROGRAMS", 40));
    let (mut n_failing, mut n_holding) = (0, 0);
    for seed in first..first + n {
        let options = GenerateOptions { waits: seed % 3 != 0, ..GenerateOptions::default() };
        let text = generate(seed, &options).to_boogie();
        let claim = ["g0", "!g0", "g0 || g1", "!g0 || g1"][(seed / 3 % 4) as usize];
        let text = text.replacen(
            "\n  r := ",
            &format!("\n  assume {{:yield}} true;\n  assert {claim};\n  r := "),
            1,
        );
        let scheduler = match seed % 4 {
            0 => SchedulerKind::Dfw,
            1 => SchedulerKind::Df,
            _ => SchedulerKind::ChildFirst,
        };
        let assertions = if seed % 5 == 0 { Assertions::Continue } else { Assertions::Exit };
        let preemption = match seed % 7 {
            0 | 1 => Preemption::Automatic,
            2 => Preemption::Serial,
            _ => Preemption::Explicit,
        };
        let delays = u32::try_from(seed % 3).unwrap_or(0);
        let options = BoogieOptions { assertions, preemption: Some(preemption), ..bounds(scheduler, delays) };
        match agree(&format!("seed {seed}"), &text, &options) {
            Some(true) => n_failing += 1,
            Some(false) => n_holding += 1,
            None => {}
        }
    }
    assert!(
        n < 40 || n_failing * 5 > n && n_holding * 5 > n,
        "of {n}, {n_failing} fail and {n_holding} hold"
    );
}

/// The trigger keeps the axiom from being instantiated, so that a quick look finds a run that fails. The axiom forbids it, which the
/// interpreter cannot see: a candidate is not yet a violation.
#[test]
fn candidates_are_not_violations() {
    let text = "function f(x: int) returns (int); function g(x: int) returns (int);
        axiom (forall x: int :: { g(x) } f(x) == 0);
        procedure main() { assert f(1) == 0; }";
    assert_eq!(fails("candidate", text, &bounds(SchedulerKind::Dfw, 0)), Ok(false));
    let text = text.replace("assert f(1) == 0", "assert f(1) == 0 && f(2) == 1");
    assert_eq!(fails("candidate", &text, &bounds(SchedulerKind::Dfw, 0)), Ok(true));
}

/// What is said about a program with the usual bounds and time to raise them.
fn report(text: &str) -> (Verdict, String) {
    let loaded = loaded("test.bpl", text);
    let checked = loaded.checked.as_ref().unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let options = BoogieOptions { time: Some(Duration::from_secs(20)), ..BoogieOptions::default() };
    let report =
        check(&loaded, checked, &options, &Quiet).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let why = match &report.verdict {
        Verdict::Unknown(StopReason::Undecided { why }) => why.clone(),
        verdict => format!("{verdict:?}"),
    };
    (report.verdict, why)
}

#[test]
fn contradictory_axioms_prove_nothing() {
    let contradictory = [
        "axiom false; procedure main() { assert false; }",
        // Only together, and only for arguments above ten.
        "function f(x: int): int; axiom (forall x: int :: f(x) > 0); axiom (forall x: int :: x > 10 ==> f(x) < 0);
         procedure main() { assert f(3) > 5; }",
        // For one argument, which the program computes.
        "function f(x: int): int; axiom (forall x: int :: { f(x) } x == 11 ==> f(x) < 0 && f(x) > 0);
         procedure main() { var y: int; y := 11; y := f(y); assert y > 5; }",
        "const unique a: bool; const unique b: bool; const unique c: bool; axiom a;
         procedure main() { assert false; }",
        // With tasks.
        "var g: int; const c: int; axiom (forall x: int :: x > c); procedure p() { g := c; }
         procedure main() { async call p(); yield; assert g == 2; }",
    ];
    for text in contradictory {
        let (verdict, why) = report(text);
        assert!(matches!(verdict, Verdict::Unknown(_)) && why.contains("contradict"), "{why}\n{text}");
    }
}

#[test]
fn axioms_count_through_bodies_of_functions() {
    // What the axiom says about `h`, it says about `f`.
    let text = "function f(x: int): int; function h(x: int): int { f(x) + 1 }
        axiom (forall x: int :: h(x) > 10); procedure main() { assert f(3) > 5; }";
    assert_eq!(report(text).0, Verdict::Holds(Guarantee::Exhaustive));
    // The program reaches `f` through `h`.
    let text = "function f(x: int): int; function h(x: int): int { f(x) + 1 }
        axiom (forall x: int :: f(x) > 10); procedure main() { assert h(3) > 5; }";
    assert_eq!(report(text).0, Verdict::Holds(Guarantee::Exhaustive));
}

#[test]
fn recorded_values_make_no_tasks() {
    let text = "procedure boogie_si_record_int(x: int); procedure corral_atomic_begin();
        procedure never() { async call never(); }
        procedure main() { var i: int; i := 0; call corral_atomic_begin();
          while (i < 3) { call boogie_si_record_int(i); i := i + 1; } assert i == 3; }";
    assert_eq!(report(text).0, Verdict::Holds(Guarantee::Exhaustive));
}

#[test]
fn bounds_rise_and_are_named() {
    let text = "procedure main() { var i: int; i := 0; while (i < 20) { i := i + 1; } assert i != 20; }";
    assert!(matches!(report(text).0, Verdict::Violated(_)));
    let loaded = loaded("test.bpl", &text.replace("!=", "=="));
    let checked = loaded.checked.as_ref().expect("no mistakes");
    let options = BoogieOptions { recursion: Some(8), ..BoogieOptions::default() };
    let report = check(&loaded, checked, &options, &Quiet).expect("an answer");
    assert_eq!(report.verdict, Verdict::Holds(Guarantee::UpTo(vec![Bound::Nesting(8)])));
    assert_eq!((report.nesting.loops, report.nesting.calls), (true, false));
}

/// One value decides a quantifier over unbounded data, and it is among those of the run.
#[test]
fn quantifiers_over_unbounded_data_do_not_keep_runs_from_being_repeated() {
    let failing = [
        // A call that makes no difference, in a program without tasks.
        "procedure corral_getThreadID() returns (x: int);
         procedure main() { var m: [int]int; var t: int; call t := corral_getThreadID(); m[3] := 4;
           assert (forall k: int :: m[k] >= 5); }",
        "var m: [int]int; procedure w(i: int) { m[i] := 7; }
         procedure main() { assume (forall i: int :: m[i] == 0); async call w(3); yield; assert (forall i: int :: m[i] == 0); }",
        "var m: [int]int; var g: bool; procedure w() { if ((exists k: int :: m[k] > 5)) { g := true; } }
         procedure main() { g := false; m[4] := 6; async call w(); yield; assert !g; }",
        // An assertion that holds for all values comes before the one that fails.
        "var m: [int]int; procedure w(i: int) { m[i] := 7; }
         procedure main() { assume (forall i: int :: m[i] == 0); async call w(3);
           assert (forall i: int :: m[i] >= 0); yield; assert m[3] == 0; }",
        "function {:builtin \"MapConst\"} all(v: int): [int]int; var m: [int]int; procedure w() { m := all(3); }
         procedure main() { m := all(1); async call w(); yield; assert m[9] == 1; }",
    ];
    for text in failing {
        let found = fails("quantifier", text, &bounds(SchedulerKind::Dfw, 1));
        assert_eq!(found, Ok(true), "{text}");
    }
}
