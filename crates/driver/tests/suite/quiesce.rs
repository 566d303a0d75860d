//! Non-termination of the programs in `corpus/boogie/quiesce`. Each line `//~ diverges K N [fair]` or `//~ none K N [fair]`
//! there says what is expected in K rounds with recursion bound N.

use std::fs;
use std::path::PathBuf;

use allways_base::Sources;
use allways_driver::boogie::quiesce::{Proof, QuiesceOptions, QuiesceReport, QuiesceVerdict, quiesce};
use allways_driver::boogie::{BoogieError, read};
use allways_run::{Lasso, Quiet, SentFate};
use allways_testkit::boogie::solver::{need_solver, workspace};

fn programs() -> Vec<PathBuf> {
    let folder = workspace().join("corpus/boogie/quiesce");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn ask(name: &str, text: &str, options: &QuiesceOptions) -> QuiesceReport {
    need_solver();
    let loaded = read(Sources::default(), [(name.to_owned(), text.to_owned())]);
    let checked = loaded.checked.as_ref().unwrap_or_else(|| panic!("{name}: {:?}", loaded.diagnostics));
    quiesce(&loaded, checked, options, &Quiet).unwrap_or_else(|error| panic!("{name}: {error:?}"))
}

fn bounds(rounds: u32, recursion: u32, fair: bool) -> QuiesceOptions {
    QuiesceOptions { fair, rounds: Some(rounds), recursion: Some(recursion), ..QuiesceOptions::default() }
}

fn lasso(name: &str, text: &str, options: &QuiesceOptions) -> Option<Lasso> {
    match ask(name, text, options).verdict {
        QuiesceVerdict::Diverges(found) => Some(found.lasso),
        QuiesceVerdict::NoDivergence { stopped: None, .. }
        | QuiesceVerdict::Quiescent(_)
        | QuiesceVerdict::NoLasso => None,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn programs_diverge_within_the_bounds_that_they_name() {
    let mut n_checked = 0;
    for file in programs() {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        for line in text.lines().filter_map(|line| line.strip_prefix("//~ ")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [expected, rounds, recursion, ref rest @ ..] = words[..] else { panic!("{name}: {line}") };
            let fair = rest == ["fair"];
            let options = bounds(rounds.parse().unwrap(), recursion.parse().unwrap(), fair);
            let found = lasso(&name, &text, &options);
            assert_eq!(found.is_some(), expected == "diverges", "{name}: {line}");
            if let Some(found) = found {
                assert!(!found.cycle.is_empty());
                assert!(!fair || found.starved.is_empty(), "{name}: {line}: {:?}", found.starved);
                n_checked += 1;
            }
        }
    }
    assert!(n_checked > 5);
}

#[test]
fn a_search_without_bounds_raises_them() {
    let text = fs::read_to_string(workspace().join("corpus/boogie/quiesce/ping-pong-mod2.bpl")).unwrap();
    let QuiesceVerdict::Diverges(found) = ask("mod2", &text, &QuiesceOptions::default()).verdict else {
        panic!("no divergence")
    };
    assert_eq!((found.rounds, found.recursion), (2, 2));
    // Each task of the loop causes one of the next turn or of this one.
    let fates: Vec<SentFate> = found.lasso.cycle.iter().flat_map(|d| &d.sent).map(|sent| sent.fate).collect();
    assert_eq!(fates.iter().filter(|fate| **fate == SentFate::NextTurn).count(), 2, "{fates:?}");
}

/// Small programs, each with what is expected in some rounds with some recursion bound, fair or not.
#[test]
fn small_programs() {
    let cases: &[(&str, &str, u32, u32, bool)] = &[
        ("post of oneself", "procedure main() { async call p(); } procedure p() { async call p(); }", 1, 1, true),
        (
            "countdown",
            "var n: int; procedure main() { n := 3; async call p(); }
             procedure p() { if (n > 0) { n := n - 1; async call p(); } }",
            2,
            5,
            false,),
        (
            "growing counter",
            "var n: int; procedure main() { n := 0; async call p(); } procedure p() { n := n + 1; async call p(); }",
            1,
            3,
            false,),
        (
            "growing counter, marked",
            "var {:shift} n: int; procedure main() { n := 0; async call p(); }
             procedure p() { n := n + 1; async call p(); }",
            1,
            2,
            true,),
        (
            "failing assertions end runs",
            "procedure main() { async call p(); } procedure p() { assert false; async call p(); }",
            1,
            2,
            false,),
        (
            "blocked tasks are never dispatched",
            "procedure main() { async call p(); } procedure p() { assume false; async call p(); }",
            1,
            2,
            false,),
        (
            "an argument that alternates",
            "procedure main() { async call p(true); } procedure p(b: bool) { async call p(!b); }",
            1,
            2,
            true,),
        (
            "an argument that alternates needs two activations",
            "procedure main() { async call p(true); } procedure p(b: bool) { async call p(!b); }",
            1,
            1,
            false,),
        (
            "globals that are chosen",
            "var g: int; procedure main() { async call p(); } procedure p() { havoc g; assume g > 5; async call p(); }",
            1,
            2,
            true,),
        (
            "messages that pile up",
            "procedure main() { async call p(); } procedure p() { async call p(); async call q(); } procedure q() {}",
            1,
            1,
            true,),
        (
            "synchronous calls",
            "var x: bool; procedure main() { x := false; async call p(); }
             procedure p() { call flip(); async call q(x); } procedure q(b: bool) { if (b) { call flip(); async call p(); } }
             procedure flip() { x := !x; }",
            1,
            2,
            true,),
        (
            "preemption points are not used",
            "procedure main() { async call p(); } procedure p() { yield; async call p(); }",
            1,
            1,
            true,),
    ];
    for &(name, text, rounds, recursion, expected) in cases {
        for fair in [false, true] {
            let found = lasso(name, text, &bounds(rounds, recursion, fair)).is_some();
            assert_eq!(found, expected, "{name}, fair: {fair}");
        }
    }
}

#[test]
fn programs_whose_tasks_cause_no_others_of_their_kind_are_quiescent() {
    let text = "var x: int; procedure main() { async call p(); async call p(); } procedure p() { x := x + 1; async call q(); }
        procedure q() {}";
    let report = ask("acyclic", text, &QuiesceOptions::default());
    assert!(matches!(report.verdict, QuiesceVerdict::Quiescent(Proof::Acyclic)));
    assert_eq!(report.stats.n_queries, 0);
}

/// One task may post for ever, by itself. Such runs are no lassos, but they are no proof either.
#[test]
fn tasks_that_post_in_loops_are_not_called_quiescent() {
    let bodies = [
        "while (true) { async call q(); }",
        "while (*) { call post(); }",
        "again: async call q(); goto again;",
        "call twice();",
    ];
    for body in bodies {
        let text = format!(
            "procedure main() {{ async call p(); }} procedure p() {{ {body} }} procedure q() {{ }}
             procedure post() {{ async call q(); }} procedure twice() {{ async call q(); call twice(); }}"
        );
        let verdict = ask(body, &text, &bounds(1, 2, false)).verdict;
        assert!(matches!(verdict, QuiesceVerdict::NoLasso), "{body}: {verdict:?}");
    }
    // A loop that posts nothing is another question.
    let text = "procedure main() { async call p(); } procedure p() { var i: int; while (i < 3) { i := i + 1; } async call q(); }
        procedure q() { }";
    assert!(matches!(
        ask("loop", text, &bounds(1, 2, false)).verdict,
        QuiesceVerdict::Quiescent(Proof::Acyclic)
    ));
}

/// Conditions about values that do not change in a loop rule posts out.
#[test]
fn circles_of_tasks_that_cannot_happen_in_a_loop_are_ruled_out() {
    const DATA: &str = "var done: bool; var seen: [bool]bool; var x: bool; var n: int;
        procedure main() { done := false; async call p(true); }";
    // A body of `p`, other procedures, and whether circles are possible in any run, and in fair ones.
    let cases: &[(&str, &str, bool, bool)] = &[
        ("if (!seen[a]) { seen[a] := true; async call p(!a); }", "", false, false),
        ("if (seen[a]) { return; } seen[a] := true; async call p(!a);", "", false, false),
        ("if (!seen[a] && x) { async call p(a); seen[a] := true; }", "", false, false),
        // Another place.
        ("if (!seen[a]) { seen[!a] := true; async call p(!a); }", "", true, true),
        // Not at each post.
        ("if (!done) { if (*) { done := true; } async call p(a); }", "", true, true),
        ("if (!done) { async call p(a); if (x) { return; } done := true; }", "", true, true),
        // Only if the other task is dispatched.
        ("if (!done) { async call q(); async call p(a); }", "procedure q() { done := true; }", true, false),
        (
            "if (!done) { async call q(); async call p(a); }",
            "procedure q() { if (x) { return; } done := true; }",
            true,
            true,
        ),
        (
            "if (!seen[a]) { async call q(a); async call p(!a); }",
            "procedure q(b: bool) { call r(b); }
            procedure r(c: bool) { seen[c] := true; }",
            true,
            false,
        ),
        // The next of the circle needs what this one rules out.
        (
            "if (!done) { async call q(); }",
            "procedure q() { done := true; async call p(true); }",
            false,
            false,
        ),
        // No latches.
        ("if (!done) { done := true; async call p(a); } else { done := false; }", "", true, true),
        ("if (!done) { done := true; async call p(a); havoc done; }", "", true, true),
        (
            "if (!done) { done := true; async call p(a); call q(); }",
            "procedure q(); modifies done;",
            true,
            true,
        ),
    ];
    for &(body, others, any, only_fair) in cases {
        let text = format!("{DATA} procedure p(a: bool) {{ {body} }} {others}");
        for (fair, is_possible) in [(false, any), (true, only_fair)] {
            let verdict = ask(body, &text, &bounds(1, 1, fair)).verdict;
            let is_ruled_out = matches!(verdict, QuiesceVerdict::Quiescent(Proof::AcyclicLoops));
            assert_eq!(is_ruled_out, !is_possible, "{body}, fair: {fair}: {verdict:?}");
        }
    }
    // Numbers may grow, which no loop that returns to its start shows.
    let text = format!(
        "{DATA} procedure p(a: bool) {{ n := n + 1; if (!done) {{ done := true; async call p(a); }} }}"
    );
    assert!(matches!(ask("numbers", &text, &bounds(1, 1, false)).verdict, QuiesceVerdict::NoLasso));
}

/// A loop that repeats twice, and not for ever, is no divergence.
#[test]
fn a_shift_that_does_not_go_on_is_not_trusted() {
    let text = "var {:shift} n: int; procedure main() { n := 0; async call p(); }
        procedure p() { if (n < 100) { n := n + 1; async call p(); } }";
    let QuiesceVerdict::Unknown(reason) = ask("limited", text, &bounds(1, 2, false)).verdict else {
        panic!("a verdict")
    };
    assert!(format!("{reason:?}").contains("mixes numbers that shift with others"), "{reason:?}");
}

#[test]
fn what_has_no_meaning_here_is_unsupported() {
    for (text, what) in [
        (
            "type task a; procedure main() { var t: task int; call {:async t} p(); assume {:wait t} true; }
             procedure p() { call {:async} p(); }",
            "waits",
        ),
        (
            "procedure main() { var i: int; call i := corral_getThreadID(); async call main(); }
             procedure corral_getThreadID() returns (i: int);",
            "task numbers",
        ),
        ("var {:thread_local} t: int; procedure main() { t := 1; async call main(); }", "thread-local"),
        ("var {:shift} b: bool; procedure main() { b := true; async call main(); }", "{:shift}"),
    ] {
        let loaded = read(Sources::default(), [(what.to_owned(), text.to_owned())]);
        let checked = loaded.checked.as_ref().unwrap_or_else(|| panic!("{what}: {:?}", loaded.diagnostics));
        let error = quiesce(&loaded, checked, &QuiesceOptions::default(), &Quiet).err();
        let Some(allways_driver::boogie::quiesce::QuiesceError::Boogie(BoogieError::Unsupported(said, span))) =
            error
        else {
            panic!("{what}: {error:?}")
        };
        assert!(said.contains(what) && span.is_some(), "{said}");
    }
}
