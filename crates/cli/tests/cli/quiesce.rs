//! `allways quiesce` and `allways sequentialize --non-termination`.

use std::fs;

use allways_testkit::boogie::solver::need_solver;

use crate::common::{allways, assert_says, folder, rejected};

/// One of two tasks is never dispatched by the infinite run.
const STORM: &str = "var x: bool;\n\
procedure main() { x := false; call {:async} retry(1); }\n\
procedure retry(n: int) { if (!x) { call {:async} retry(n); call {:async} stop(); } }\n\
procedure stop() { x := true; }\n";

const COUNTDOWN: &str = "var n: int;\n\
procedure main() { n := 2; call {:async} tick(); }\n\
procedure tick() { if (n > 0) { n := n - 1; call {:async} tick(); } }\n";

#[test]
fn an_infinite_run_is_shown_with_what_keeps_it_going() {
    need_solver();
    let dir = folder("quiesce_storm");
    fs::write(dir.join("storm.bpl"), STORM).unwrap();
    let output = allways(&dir, &["quiesce", "storm.bpl", "--diagram", "storm.dot"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let expected = "storm.bpl: diverges

stem:
    1  main()
         sends retry(1): pending when the loop starts, handled by 2
loop, repeated for ever:
    2  retry(1)
         sends retry(1): handled in the next iteration
         sends stop(): never handled

messages that keep the loop going: retry -> retry
each iteration ends in the state in which it began
piles up: stop(), 1 per iteration
unfair: ignores stop() for ever; --fair rules such loops out
found in 1 round with recursion bound 1; the concurrent interpreter replayed the stem and two iterations of the loop
";
    assert_eq!(text, expected);
    assert_says(
        &fs::read_to_string(dir.join("storm.dot")).unwrap(),
        &["digraph", "next iteration", "piles up"],
    );
    let output = allways(&dir, &["quiesce", "storm.bpl", "--format", "json", "--junit", "junit.xml"]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let report = &answer["reports"][0];
    assert_says(
        &fs::read_to_string(dir.join("junit.xml")).unwrap(),
        &["failures=\"1\"", "messages that keep the loop going: retry"],
    );
    assert_eq!((&report["project"], &report["test"]), (&"storm.bpl".into(), &"main".into()));
    assert_eq!((&report["verdict"], &report["isProof"]), (&"diverges".into(), &false.into()));
    let lasso = &report["divergence"]["lasso"];
    assert_eq!((&lasso["stem"][0]["name"], &lasso["loop"][0]["name"]), (&"main".into(), &"retry".into()));
    assert_eq!((&lasso["isFair"], &lasso["growing"][0]["message"]), (&false.into(), &"stop()".into()));
    let divergence = &report["divergence"];
    assert_eq!((&divergence["nStemSteps"], &divergence["nLoopSteps"]), (&2.into(), &3.into()));
    assert_eq!(
        divergence["steps"][2],
        serde_json::json!({
            "machine": "retry(2)",
            "choices": [],
            "log": ["<StatementLog> 'retry(2)' in 'retry' at storm.bpl:3:27: if (!x)"],
        })
    );
    let output = allways(&dir, &["quiesce", "storm.bpl", "--full-trace"]);
    let table = "
  step                                                                    source
     1  main(1): x := false;                                         storm.bpl:2
          shared: x = false
     2  main(1): call {:async} retry(1);                             storm.bpl:2
.-- from here on the run repeats for ever -------------------------------------
|    3  retry(2): if (!x)                                            storm.bpl:3
|    4  retry(2): call {:async} retry(n);                            storm.bpl:3
|    5  retry(2): call {:async} stop();                              storm.bpl:3
'-- and again from step 3 -----------------------------------------------------
";
    assert_says(&String::from_utf8_lossy(&output.stdout), &[table]);
}

#[test]
fn bounds_without_an_infinite_run_are_no_proof() {
    need_solver();
    let dir = folder("quiesce_none");
    fs::write(dir.join("storm.bpl"), STORM).unwrap();
    fs::write(dir.join("count.bpl"), COUNTDOWN).unwrap();
    fs::write(dir.join("once.bpl"), "procedure main() { async call p(); }\nprocedure p() {}\n").unwrap();
    let said = |args: &[&str]| {
        let output = allways(&dir, args);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let bounds = ["--rounds", "1", "--recursion", "2"];
    let fair = said(&[&["quiesce", "storm.bpl", "--fair"], &bounds[..]].concat());
    assert_says(
        &fair,
        &["storm.bpl: no divergence that repeats", "proved: in no fair infinite run", "whatever the bounds"],
    );
    let count = said(&[&["quiesce", "count.bpl"], &bounds[..]].concat());
    assert_says(&count, &["in 1 round", "this is not a proof"]);
    assert_says(&said(&["quiesce", "once.bpl"]), &["once.bpl: quiesces", "proved"]);
}

#[test]
fn what_cannot_be_answered_is_said() {
    let dir = folder("quiesce_mistakes");
    fs::write(dir.join("storm.bpl"), STORM).unwrap();
    fs::write(dir.join("bad.bpl"), "procedure main() { x := ; }\n").unwrap();
    fs::write(
        dir.join("waits.bpl"),
        "type task a;\nprocedure main() { var t: task int; call {:async t} p(); assume {:wait t} true; }\nprocedure p() {}\n",
    )
    .unwrap();
    assert_says(&rejected(&dir, &["quiesce", "bad.bpl"]), &["error[boogie-", "bad.bpl:1"]);
    assert_says(&rejected(&dir, &["quiesce", "storm.bpl", "-tc", "t"]), &["-tc is for P programs"]);
    assert_says(&rejected(&dir, &["quiesce", "storm.bpl", "--diagram", "x.png"]), &["x.png", ".svg"]);
    assert_says(&rejected(&dir, &["quiesce", "storm.bpl", "--rounds", "0"]), &["--rounds"]);
    assert_says(&rejected(&dir, &["quiesce", "storm.bpl", "--entry", "missing"]), &["missing", "retry"]);
    let output = allways(&dir, &["quiesce", "waits.bpl"]);
    assert_eq!(output.status.code(), Some(3));
    assert_says(&String::from_utf8_lossy(&output.stderr), &["waits.bpl:2", "waits"]);
}

#[test]
fn the_translated_program_is_boogie_again() {
    let dir = folder("quiesce_translation");
    fs::write(dir.join("storm.bpl"), STORM).unwrap();
    for extra in [&[][..], &["--fair", "--rounds", "3"]] {
        let args = [&["sequentialize", "storm.bpl", "--non-termination", "-o", "out.bpl"], extra].concat();
        let output = allways(&dir, &args);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(allways(&dir, &["compile", "out.bpl"]).status.code(), Some(0));
        assert_says(
            &fs::read_to_string(dir.join("out.bpl")).unwrap(),
            &["pro.retry", "anti.retry", "repeated"],
        );
    }
    assert_says(&rejected(&dir, &["sequentialize", "storm.bpl", "--fair"]), &["--non-termination"]);
}

/// A handler that never ends, or not within its budget, is no run that ends: nothing is proved then. The first step counts as every other.
#[test]
fn handlers_that_do_not_finish_prove_nothing() {
    let dir = folder("quiesce_handlers");
    let program = "event eGo;
machine First { start state S { entry { while (true) { } } } }
machine Later { start state S { entry { send this, eGo; } on eGo do { var i: int; while (true) { i = 1 - i; } } } }
machine Tosses { start state S { entry { var i: int; while (true) { if ($) { i = i + 1; } } } } }
machine Sink { start state S { on eGo do { assert false; } } }
machine Beside { start state S { entry { var sink: Sink; sink = new Sink(); new Later(); send sink, eGo; } } }
machine Fails { start state S { entry { assert false; } } }
test tcFirst [main = First]: { First };
test tcLater [main = Later]: { Later };
test tcTosses [main = Tosses]: { Tosses };
test tcBeside [main = Beside]: { Beside, Sink, Later };
test tcFails [main = Fails]: { Fails };
";
    fs::write(dir.join("handlers.p"), program).unwrap();
    for (name, status, says) in [
        ("First", 3, "a handler that does not finish (endless-handler)"),
        ("Later", 3, "a handler that does not finish (endless-handler)"),
        ("Tosses", 3, "choices in one step"),
        ("Beside", 3, "a handler that does not finish (endless-handler)"),
        ("Fails", 0, "some runs end with a violation (assertion)"),
    ] {
        let output = allways(&dir, &["quiesce", "handlers.p", "-tc", &format!("tc{name}")]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(status), "{name}: {text}");
        assert_says(&text, &[says]);
    }
}
