//! Liveness of monitors on the whole graph: which loops count, by fairness; every lasso replays.

use std::sync::Arc;

use crate::support::compile;
use allways_explore::search::{ProveOptions, Reductions, SearchBounds, StoreKind, prove};
use allways_explore::{Fairness, Never};
use allways_machine::Executable;
use allways_run::{Bound, Certainty, Guarantee, Quiet, Verdict, ViolationKind};

fn verdict(text: &str, fairness: Option<Fairness>, bounds: SearchBounds) -> Verdict {
    let program = compile("live.p", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let exe = Arc::new(Executable::new(&program, 0));
    let options = ProveOptions { store: StoreKind::Exact, fairness, bounds, ..ProveOptions::default() };
    prove(&exe, &options, &Quiet, &Never).unwrap().verdict
}

fn is_lasso(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Violated(found) => {
            found.violation.kind == ViolationKind::Liveness(Certainty::Certain)
                && found.loop_start.is_some_and(|start| start < found.schedule.len())
        }
        Verdict::Holds(_) | Verdict::Unknown(_) => false,
    }
}

fn holds(verdict: &Verdict) -> bool {
    *verdict == Verdict::Holds(Guarantee::Exhaustive)
}

const SPEC: &str = "
event request; event answer; event again;
spec Answered observes request, answer {
    start cold state Calm { on request goto Waiting; on answer do { } }
    hot state Waiting { on answer goto Calm; on request do { } }
}
";

#[test]
fn a_loop_that_never_answers_is_a_violation() {
    let text = format!(
        "{SPEC} machine Main {{ start state S {{
            entry {{ announce request; send this, again; }}
            on again do {{ send this, again; }}
        }} }}"
    );
    for fairness in [Fairness::Random, Fairness::Weak] {
        let verdict = verdict(&text, Some(fairness), SearchBounds::default());
        assert!(is_lasso(&verdict), "{fairness:?}: {verdict:?}");
    }
    assert!(holds(&verdict(&text, None, SearchBounds::default())));
}

#[test]
fn chance_answers_in_the_end_but_a_free_choice_need_not() {
    let with = |choice: &str| {
        format!(
            "{SPEC} machine Main {{ start state S {{
                entry {{ announce request; send this, again; }}
                on again do {{ if ({choice}) {{ announce answer; announce request; }} send this, again; }}
            }} }}"
        )
    };
    assert!(holds(&verdict(&with("$"), Some(Fairness::Random), SearchBounds::default())));
    let free = verdict(&with("$"), Some(Fairness::Weak), SearchBounds::default());
    assert!(is_lasso(&free), "{free:?}");
    assert!(holds(&verdict(&with("$$"), Some(Fairness::Weak), SearchBounds::default())));
}

#[test]
fn a_machine_that_can_step_does() {
    // The loop of one machine may not starve the other, whose step cools the monitor.
    let text = format!(
        "{SPEC} machine Busy {{ start state S {{ entry {{ send this, again; }} on again do {{ send this, again; }} }} }}
        machine Main {{ start state S {{ entry {{ announce request; new Busy(); announce answer; }} }} }}"
    );
    for fairness in [Fairness::Random, Fairness::Weak] {
        let verdict = verdict(&text, Some(fairness), SearchBounds::default());
        assert!(holds(&verdict), "{fairness:?}: {verdict:?}");
    }
}

#[test]
fn who_comes_first_may_decide_whether_a_run_ends() {
    // Both orders of one and other are explored, whichever reductions there are: only one of them goes on for ever.
    for (first, second) in [("one", "other"), ("other", "one")] {
        let text = format!(
            "{SPEC} event one; event other;
            machine Sender {{ start state S {{ entry (p: (target: machine, is_one: bool)) {{
                if (p.is_one) {{ send p.target, {first}; }} else {{ send p.target, {second}; }}
            }} }} }}
            machine Main {{
                start state S {{
                    entry {{ new Sender((target = this, is_one = true)); new Sender((target = this, is_one = false)); }}
                    on one goto Done;
                    on other goto Round;
                }}
                state Done {{ ignore other, one, again; }}
                state Round {{
                    entry {{ announce request; send this, again; }}
                    on again do {{ send this, again; }}
                    ignore one;
                }}
            }}"
        );
        let program = compile("live.p", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let exe = Arc::new(Executable::new(&program, 0));
        for (fairness, reductions) in [Fairness::Random, Fairness::Weak]
            .into_iter()
            .flat_map(|fairness| [Reductions::NONE, Reductions::ALL].map(|reductions| (fairness, reductions)))
        {
            let fairness = Some(fairness);
            let options = ProveOptions { fairness, reductions, probes: false, ..ProveOptions::default() };
            let verdict = prove(&exe, &options, &Quiet, &Never).unwrap().verdict;
            assert!(is_lasso(&verdict), "{fairness:?}, {reductions:?}: {verdict:?}");
        }
    }
}

#[test]
fn cold_in_passing_is_cold() {
    let text = format!(
        "{SPEC} machine Main {{ start state S {{
            entry {{ announce request; send this, again; }}
            on again do {{ announce answer; announce request; send this, again; }}
        }} }}"
    );
    for fairness in [Fairness::Random, Fairness::Weak] {
        assert!(holds(&verdict(&text, Some(fairness), SearchBounds::default())), "{fairness:?}");
    }
}

#[test]
fn what_is_cut_off_is_a_way_out() {
    let text = format!(
        "{SPEC} machine Main {{ var n: int; start state S {{
            entry {{ announce request; send this, again; }}
            on again do {{ n = n + 1; send this, again; }}
        }} }}"
    );
    let bounds = SearchBounds { depth: Some(20), ..SearchBounds::default() };
    for fairness in [Fairness::Random, Fairness::Weak] {
        let verdict = verdict(&text, Some(fairness), bounds);
        assert!(matches!(verdict, Verdict::Holds(Guarantee::UpTo(_))), "{fairness:?}: {verdict:?}");
    }
}

/// An answer that is left out may be the way out, as chance would have it. A free choice need not give it.
#[test]
fn an_answer_that_is_left_out_is_a_way_out() {
    let text = format!(
        "{SPEC} machine Main {{ start state S {{
            entry {{ announce request; send this, again; }}
            on again do {{ if (choose(10) == 5) {{ announce answer; }} else {{ send this, again; }} }}
        }} }}"
    );
    let program = compile("live.p", &text).unwrap_or_else(|error| panic!("{error}"));
    let exe = Arc::new(Executable::new(&program, 0));
    let verdict = |fairness, max_choices| {
        let options = ProveOptions {
            store: StoreKind::Exact,
            fairness: Some(fairness),
            max_choices,
            ..Default::default()
        };
        prove(&exe, &options, &Quiet, &Never).unwrap().verdict
    };
    assert!(holds(&verdict(Fairness::Random, None)));
    assert_eq!(verdict(Fairness::Random, Some(2)), Verdict::Holds(Guarantee::UpTo(vec![Bound::Choices(2)])));
    assert!(is_lasso(&verdict(Fairness::Weak, Some(2))));
}
