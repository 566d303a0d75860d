//! Symbolic exploration on random programs, against the brute-force oracle and explicit search, over every network.

use std::sync::Arc;

use allways_explore::Never;
use allways_explore::search::{ProveOptions, Reductions};
use allways_explore::symbolic::paper::PaperOptions;
use allways_explore::symbolic::{self as engine, FilterNames, SlotOrder, Split, SymbolicOptions};
use allways_machine::Executable;
use allways_run::{Bound, Limits, NetworkModel, NetworkOptions, Quiet, Verdict, ViolationKind};
use allways_testkit::bounded::{self, Reference, Within};
use allways_testkit::differential::{Only, Over};
use allways_testkit::oracle::{self, OracleOptions};
use allways_testkit::{Case, Loaded, abstraction, liveness, proof, stated, symbolic};

fn agree(over: Over, seeds: std::ops::Range<u64>) -> usize {
    let options = OracleOptions { max_configurations: 4_000, ..OracleOptions::default() };
    let mut problems = Vec::new();
    let mut n_compared = 0;
    for seed in seeds {
        let Case { loaded, network, exe, .. } = Case::new(seed, over);
        let reference = oracle::explore_over(&loaded.program, 0, options, &network);
        if reference.bound_hit {
            continue;
        }
        n_compared += 1;
        let reference = Reference::from(reference);
        if let Err(difference) = symbolic::compare(&loaded, &exe, &reference, &Within::default(), seed) {
            problems.push(format!("seed {seed}, {over:?}: {difference}"));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    n_compared
}

#[test]
fn random_programs_agree_with_explicit_search() {
    let over = |model, faults| Over { model, faults, only: None };
    let n = agree(over(NetworkModel::Inbox, false), 50_000..50_150);
    assert!(n > 80, "{n} programs");
    for model in NetworkModel::ALL {
        for faults in [false, true] {
            let n = agree(over(model, faults), 51_000..51_030);
            assert!(n > 10, "{n} programs over {model:?}");
        }
    }
}

#[test]
fn random_programs_agree_within_bounds() {
    let over = Over { model: NetworkModel::Inbox, faults: false, only: None };
    let options = OracleOptions { max_configurations: 2_000, ..OracleOptions::default() };
    let (mut problems, mut n_compared, mut n_hit) = (Vec::new(), 0, 0);
    for seed in 52_000..52_120 {
        let Case { loaded, network, exe, .. } = Case::with_text(seed, over, bounded::program_of(seed, over));
        let within = bounded::within(&loaded.program, &exe, seed);
        let Some(reference) = bounded::explore(&loaded, &exe, &within, options, &network) else { continue };
        n_compared += 1;
        n_hit += usize::from(reference.is_hit);
        if let Err(difference) = symbolic::compare(&loaded, &exe, &reference, &within, seed) {
            problems.push(format!("seed {seed}, {within:?}: {difference}"));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(n_compared > 50 && n_hit > 20, "{n_compared} programs, {n_hit} beyond the bound");
}

#[test]
fn liveness_agrees_with_a_naive_look_at_the_graph() {
    let (mut problems, mut n_compared, mut n_violated) = (Vec::new(), 0, 0);
    for (model, faults) in [
        (NetworkModel::Inbox, false),
        (NetworkModel::Inbox, true),
        (NetworkModel::Fifo, false),
        (NetworkModel::Bag, true),
    ] {
        let over = Over { model, faults, only: Some(Only::LivenessCycles) };
        for seed in 53_000..53_060 {
            let exe = Case::new(seed, over).exe;
            let Some(graph) = liveness::Graph::new(&exe, 200) else { continue };
            let expected = liveness::Expected::of(&graph).at_random;
            n_compared += 1;
            n_violated += usize::from(expected);
            if let Err(difference) = symbolic::compare_liveness(&exe, expected, seed) {
                problems.push(format!("seed {seed}, {over:?}: {difference}"));
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(n_compared > 40 && n_violated > 5, "{n_compared} programs, {n_violated} violated");
}

/// A receiver stays in the state in which it handles a message, and the copy comes after it.
const COPIES: &str = "
event eRow: int;
machine Main { start state S { entry { send new Ledger(), eRow, 1; } } }
machine Ledger { var n: int; start state Open { on eRow do (given: int) { n = n + given; } } }
";

/// A machine fails after some steps, and a run that ends hot is shorter.
const HOT: &str = "
event eSeen;
spec Watch observes eSeen { start hot state S { } }
machine Main { start state S { entry { new Next(); } } }
machine Next { var peer: machine; start state S { entry { send peer, eSeen; } } }
";

/// Where the counter may be zero, a number is chosen; it never is.
const UNMET: &str = "
event eGo;
machine Main { start state S { entry { send new Next(), eGo; } } }
machine Next {
  var left: int;
  start state S {
    entry { left = 1; }
    on eGo do { if (left <= 0) { left = choose(5); } left = left - 1; }
  }
}
";

#[test]
fn copies_short_runs_and_unmet_bounds_are_those_of_explicit_search() {
    let duplicating = NetworkOptions { duplicating: vec!["eRow".to_owned()], ..NetworkOptions::default() };
    let crash = NetworkOptions { crash: vec!["Main".to_owned()], ..NetworkOptions::default() };
    let mut two = Within::default();
    (two.max_choices, two.bound) = (Some(2), Some(Bound::Choices(2)));
    for (text, network, within) in [
        (COPIES, duplicating, Within::default()),
        (HOT, crash, Within::default()),
        (UNMET, NetworkOptions::default(), two),
    ] {
        let loaded = Loaded::new("random.p", text).unwrap_or_else(|error| panic!("{error}"));
        let exe = proof::executable(&loaded, &network).unwrap_or_else(|error| panic!("{error}"));
        let options = OracleOptions::default();
        let reference = match within.bound {
            None => Reference::from(oracle::explore_over(&loaded.program, 0, options, &network)),
            Some(_) => bounded::explore(&loaded, &exe, &within, options, &network).expect("is small"),
        };
        for seed in 0..6 {
            let compared = symbolic::compare(&loaded, &exe, &reference, &within, seed);
            compared.unwrap_or_else(|difference| panic!("seed {seed}: {difference}\n{text}"));
        }
    }
}

/// Outcomes of one step that differ only in what they have touched: they have other numbers where that is recorded.
const CHOOSER: &str = "
event eValue: int;
event eHit;
spec Watch observes eHit {
  var n: int;
  start state S { on eHit do { n = n + 1; assert n < 2; } }
}
machine Peer { start state S { ignore eValue; } }
machine Main {
  var b: int;
  start state S {
    entry {
      var i: int;
      var peer: machine;
      peer = new Peer();
      while (i < 3) {
        i = i + 1;
        if ($) { b = choose(2); }
        if (b != 0) { announce eHit; }
        send peer, eValue, b;
      }
    }
  }
}
";

#[test]
fn outcomes_have_the_same_numbers_on_the_way_to_a_violation() {
    let loaded = Loaded::new("chooser.p", CHOOSER).unwrap_or_else(|error| panic!("{error}"));
    let exe = Arc::new(Executable::new(&loaded.program, 0));
    for seed in 0..6 {
        let search = ProveOptions { reductions: Reductions::NONE, ..ProveOptions::default() };
        let order = SlotOrder::Random(seed);
        let options = SymbolicOptions {
            search,
            order,
            split: Split::Always,
            shortest: true,
            ..SymbolicOptions::default()
        };
        let found = engine::prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"));
        assert!(matches!(found.report.verdict, Verdict::Violated(_)), "order {seed}");
    }
}

/// A machine that may leave out each of its sends.
const UNRELIABLE: &str = "
event eValue: int;
machine Peer { var n: int; start state S { on eValue do (given: int) { n = (n + given) % 2; } } }
machine Main {
  start state S {
    entry {
      var i: int;
      var peer: machine;
      peer = new Peer();
      while (i < 24) {
        i = i + 1;
        if ($) { send peer, eValue, i; }
      }
    }
  }
}
";

#[test]
fn machines_do_not_choose_far_ahead() {
    let loaded = Loaded::new("unreliable.p", UNRELIABLE).unwrap_or_else(|error| panic!("{error}"));
    let exe = Arc::new(Executable::new(&loaded.program, 0));
    let options = SymbolicOptions::default();
    let found = engine::prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"));
    assert!(matches!(found.report.verdict, Verdict::Holds(_)));
    // Not one for each of the 2^24 subsets of sends.
    assert!(found.figures.n_local_states < 10_000, "{} local states", found.figures.n_local_states);
}

/// Runs are long, and a walk meets the violation where sets would have to go through many layers.
const COUNTERS: &str = "
event eTick;
event eReport: int;
spec Sum observes eReport {
  var n: int;
  start state S { on eReport do (given: int) { n = (n + given) % 1000; assert n != 77; } }
}
machine Counter {
  var n: int;
  start state S {
    on eTick do {
      n = n + 1 + choose(3);
      announce eReport, n;
      if (n < 12) { send this, eTick; }
    }
  }
}
machine Main {
  start state S {
    entry {
      var i: int;
      var counter: machine;
      while (i < 6) { counter = new Counter(); send counter, eTick; i = i + 1; }
    }
  }
}
";

#[test]
fn a_violation_on_a_walk_is_shown_where_sets_have_no_room() {
    let loaded = Loaded::new("counters.p", COUNTERS).unwrap_or_else(|error| panic!("{error}"));
    let exe = Arc::new(Executable::new(&loaded.program, 0));
    let verdict = |shortest| {
        let limits = Limits { memory_bytes: Some(3_000_000), ..Limits::default() };
        let search = ProveOptions { limits, ..ProveOptions::default() };
        let options = SymbolicOptions { search, shortest, ..SymbolicOptions::default() };
        let found = engine::prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"));
        found.report.verdict
    };
    assert!(matches!(verdict(false), Verdict::Violated(_)));
    // A shortest run is not the one that was walked.
    assert!(matches!(verdict(true), Verdict::Unknown(_)));
}

/// A lamp that a switch turns on and off again.
const LAMP: &str = "
event eOn: machine;
event eOff;
event eDone;
machine Lamp {
  var n: int;
  start state Dark { on eOn do (who: machine) { n = n + 1; send who, eDone; goto Bright; } }
  state Bright { on eOff do { assert n == 1; n = 0; goto Dark; } }
}
machine Main {
  var lamp: machine;
  start state Off { entry { lamp = new Lamp(); send lamp, eOn, this; } on eDone goto On; }
  state On { entry { send lamp, eOff; goto Again; } }
  state Again { entry { send lamp, eOn, this; } on eDone goto On; }
}
";

#[test]
fn invariants_are_the_same_of_whole_and_split_machines() {
    let loaded = Loaded::new("lamp.p", LAMP).unwrap_or_else(|error| panic!("{error}"));
    let exe = Arc::new(Executable::new(&loaded.program, 0));
    let [whole, split] = [Split::Never, Split::Always].map(|split| {
        let options = SymbolicOptions { split, finds_invariants: true, ..SymbolicOptions::default() };
        let found = engine::prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found.figures.n_split > 0, split == Split::Always);
        let mut invariants = found.figures.invariants;
        invariants.sort();
        invariants
    });
    assert_eq!(whole, split);
    assert!(whole.iter().any(|it| it == "Lamp#0 in Bright: n is 1"), "{whole:#?}");
    assert!(whole.iter().any(|it| it == "Main in On: Lamp#0 in Bright"), "{whole:#?}");
}

/// What the symbolic engine says of an invariant of the lamp: the message if it is broken, and the steps that show it.
fn stated(invariant: &str, split: Split) -> Option<(String, usize)> {
    let loaded = Loaded::with_invariants("lamp.p", LAMP, &[invariant.to_owned()])
        .unwrap_or_else(|error| panic!("{invariant}: {error}"));
    let exe = Arc::new(Executable::new(&loaded.program, 0));
    let options = SymbolicOptions { split, shortest: true, ..SymbolicOptions::default() };
    let found = engine::prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"));
    match found.report.verdict {
        Verdict::Holds(_) => {
            assert_eq!(found.figures.n_stated, 1);
            None
        }
        Verdict::Violated(found) => {
            assert_eq!(found.violation.kind, ViolationKind::Invariant, "{invariant}");
            Some((found.violation.message, found.schedule.n_steps()))
        }
        Verdict::Unknown(reason) => panic!("{invariant}: {reason:?}"),
    }
}

#[test]
fn stated_invariants_are_checked_in_every_configuration() {
    for split in [Split::Never, Split::Always] {
        let holds = [
            "forall (l: Lamp) :: l is Bright ==> l.n == 1",
            "Main is On ==> Lamp is Bright",
            "forall (m: Main, l: Lamp) :: m.lamp == l || m is Off",
            "exists (m: Main) :: m is Off || m is On || m is Again",
            "!(Main is On && Lamp is Dark) <==> Lamp.n <= 1",
            "Main.lamp is Lamp || Main.lamp == null",
            "forall (l: Lamp) :: l.n <= 1 && 4 / (l.n + 1) >= 2",
        ];
        for invariant in holds {
            assert_eq!(stated(invariant, split), None, "{invariant}");
        }
        let broken =
            |invariant: &str| stated(invariant, split).unwrap_or_else(|| panic!("{invariant} holds"));
        assert_eq!(broken("Lamp.n == 0"), ("The invariant does not hold for Lamp = Lamp(2).".to_owned(), 3));
        let (message, n_steps) = broken("forall (m: Main) :: m is On ==> (exists (l: Lamp) :: l is Dark)");
        assert_eq!((&*message, n_steps), ("The invariant does not hold for m = Main(1).", 4));
        let (message, _) = broken("1 / Lamp.n == 1");
        assert!(message.starts_with("The invariant cannot be evaluated: "), "{message}");
    }
}

#[test]
fn stated_invariants_agree_with_a_look_at_every_configuration() {
    let (mut n_holding, mut n_broken) = (0, 0);
    for seed in 54_000..54_060 {
        let model = if seed % 3 == 0 { NetworkModel::Bag } else { NetworkModel::Inbox };
        let over = Over { model, faults: false, only: None };
        let Case { text, network, .. } = Case::new(seed, over);
        let compared = stated::compare(&text, &network, seed, 1_000)
            .unwrap_or_else(|difference| panic!("seed {seed}: {difference}"));
        n_holding += compared.n_holding;
        n_broken += compared.n_broken;
    }
    assert!(n_holding > 20 && n_broken > 20, "{n_holding} hold, {n_broken} do not");
}

/// The published algorithm against the oracle and explicit search.
#[test]
fn published_algorithm_agrees_on_random_programs() {
    let options = OracleOptions { max_configurations: 300, ..OracleOptions::default() };
    let mut n_compared = 0;
    for seed in 0..40 {
        let model = if seed % 4 == 0 { NetworkModel::Fifo } else { NetworkModel::Inbox };
        let over = Over { model, faults: false, only: None };
        let Case { loaded, network, exe, .. } = Case::new(seed, over);
        let reference = oracle::explore_over(&loaded.program, 0, options, &network);
        if reference.bound_hit {
            continue;
        }
        match symbolic::compare_paper(&exe, reference.is_violated(), &Within::default(), 2_000) {
            Ok(symbolic::PaperOutcome::Agrees { .. }) => n_compared += 1,
            Ok(symbolic::PaperOutcome::Undecided) => {}
            Err(difference) => panic!("seed {seed}: {difference}"),
        }
    }
    assert!(n_compared > 15, "{n_compared}");
}

/// What is proved for any values of a type holds with two values and with three.
#[test]
fn abstract_proofs_hold_in_instances() {
    let mut n_proved = 0;
    for seed in 0..150 {
        let text = abstraction::program_of(seed);
        let loaded =
            Loaded::new("random.p", &text).unwrap_or_else(|messages| panic!("seed {seed}: {messages}"));
        match abstraction::compare(&loaded) {
            Ok(is_proved) => n_proved += u32::from(is_proved),
            Err(difference) => panic!("seed {seed}: {difference}\n{text}"),
        }
    }
    assert!(n_proved > 15, "{n_proved}");
}

/// Filters that rest on no claim lose nothing, and leave out steps.
#[test]
fn filters_lose_nothing_on_random_programs() {
    let options = OracleOptions { max_configurations: 300, ..OracleOptions::default() };
    let (mut n_compared, mut n_pruned) = (0, 0);
    for seed in 55_000..55_040 {
        let model = if seed % 4 == 0 { NetworkModel::Fifo } else { NetworkModel::Inbox };
        let over = Over { model, faults: false, only: None };
        let Case { loaded, network, exe, .. } = Case::new(seed, over);
        let reference = oracle::explore_over(&loaded.program, 0, options, &network);
        if reference.bound_hit {
            continue;
        }
        match symbolic::compare_filters(&exe, reference.is_violated(), 2_000) {
            Ok((compared, pruned)) => {
                n_compared += compared;
                n_pruned += pruned;
            }
            Err(difference) => panic!("seed {seed}: {difference}"),
        }
    }
    assert!(n_compared > 40 && n_pruned > 50, "{n_compared} compared, {n_pruned} steps left out");
}

/// The order of sends over `fifo` is causal order: PSYM's semantics.
#[test]
fn send_order_over_fifo_is_causal_order() {
    let options = OracleOptions { max_configurations: 300, ..OracleOptions::default() };
    let (mut n_compared, mut n_violated) = (0, 0);
    for seed in 56_000..56_040 {
        let over = |model| Over { model, faults: false, only: None };
        let Case { loaded, network: causal, .. } = Case::new(seed, over(NetworkModel::Causal));
        let fifo = NetworkOptions { model: NetworkModel::Fifo, ..causal.clone() };
        let exe = Executable::new(&loaded.program, 0).with_network(&fifo);
        let exe = Arc::new(exe.unwrap_or_else(|error| panic!("seed {seed}: {error}")));
        let reference = oracle::explore_over(&loaded.program, 0, options, &causal);
        if reference.bound_hit {
            continue;
        }
        let found =
            symbolic::in_send_order(&exe, 2_000).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let Some(found) = found else { continue };
        assert_eq!(found, reference.is_violated(), "seed {seed}");
        n_compared += 1;
        n_violated += usize::from(found);
    }
    assert!(n_compared > 10 && n_violated > 2, "{n_compared} compared, {n_violated} violated");
}

/// Two clients, each with a server of its own; `eTold` is a left mover, since its client waits for nothing else.
const PAIRS: &str = "
event eAsk: machine;
event eTold;
machine Server { start state Serve { on eAsk do (who: machine) { send who, eTold; } } }
machine Client {
  var server: machine;
  var n: int;
  start state Asking { entry { server = new Server(); send server, eAsk, this; } on eTold goto Again; }
  state Again { entry { n = n + 1; if (n < 3) { send server, eAsk, this; } } on eTold goto Again; }
}
machine Main { start state S { entry { new Client(); new Client(); } } }
";

#[test]
fn left_movers_are_what_the_user_says() {
    let loaded = Loaded::new("pairs.p", PAIRS).unwrap_or_else(|error| panic!("{error}"));
    let exe = Arc::new(Executable::new(&loaded.program, 0));
    let left_movers = |names: &[&str]| FilterNames {
        left_movers: names.iter().map(|&name| name.to_owned()).collect(),
        ..FilterNames::default()
    };
    let sets = |filters, checks_filters| {
        let options = SymbolicOptions { filters, checks_filters, ..SymbolicOptions::default() };
        engine::prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}")).figures
    };
    let paper = |filters, checks_filters| {
        let options = PaperOptions { filters, checks_filters, ..PaperOptions::default() };
        engine::paper::prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"))
    };
    let count = |figures: &engine::SymbolicFigures| figures.configurations.as_ref().and_then(|n| n.as_u64());
    let all = count(&sets(FilterNames::default(), false));
    let fewer = count(&sets(left_movers(&["eTold"]), false));
    assert!(fewer.is_some() && fewer < all, "{fewer:?} of {all:?}");
    let same = "the search without filters has the same verdict and the same control states";
    assert_eq!(sets(left_movers(&["eTold"]), true).comparison.as_deref(), Some(same));
    assert_eq!(paper(left_movers(&["eTold"]), true).comparison.as_deref(), Some(same));
    assert!(paper(left_movers(&["eTold"]), false).figures.n_pruned > 0);
    assert!(
        left_movers(&["eToll"]).resolve(&exe).is_err_and(|problem| problem.contains("did you mean `eTold`?"))
    );
}

/// Two messages race for one machine; the claim that one of them is a left mover is wrong.
const RACE: &str = "
event eOne;
event eTwo;
machine Sink {
  start state Wait { on eOne goto Done; on eTwo goto Two; }
  state Two { on eOne do { assert false, \"two came first\"; } }
  state Done { ignore eTwo; }
}
machine Sender { start state Begin { entry (sink: Sink) { send sink, eTwo; } } }
machine Main { start state Begin { entry { var sink: Sink; sink = new Sink(); new Sender(sink); send sink, eOne; } } }
";

#[test]
fn wrong_left_movers_are_found_out() {
    let loaded = Loaded::new("race.p", RACE).unwrap_or_else(|error| panic!("{error}"));
    let exe = Arc::new(Executable::new(&loaded.program, 0));
    let filters = FilterNames { left_movers: vec!["eOne".to_owned()], ..FilterNames::default() };
    let options = PaperOptions { filters: filters.clone(), ..PaperOptions::default() };
    let blind =
        engine::paper::prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"));
    assert!(matches!(blind.verdict, Verdict::Holds(_)), "the claim hides the race");
    let options = PaperOptions { checks_filters: true, ..options };
    let found =
        engine::paper::prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"));
    assert!(matches!(found.verdict, Verdict::Violated(_)));
    assert!(found.comparison.is_some_and(|text| text.contains("without them there is a violation")));
}

/// The published algorithm on a program, with so many bytes.
fn paper_verdict(text: &str, memory_bytes: Option<u64>) -> Verdict {
    let loaded = Loaded::new("program.p", text).unwrap_or_else(|error| panic!("{error}"));
    let exe = Arc::new(Executable::new(&loaded.program, 0));
    let mut options = PaperOptions::default();
    options.search.limits.memory_bytes = memory_bytes;
    engine::paper::prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}")).verdict
}

#[test]
fn published_algorithm_ends_with_endless_handlers() {
    let program =
        |body: &str| format!("machine Main {{ var i: int; start state S {{ entry {{ {body} }} }} }}");
    let is_endless = |body: &str| match paper_verdict(&program(body), None) {
        Verdict::Violated(found) => {
            assert_eq!(found.violation.kind, ViolationKind::EndlessHandler, "{body}");
            true
        }
        Verdict::Holds(_) => false,
        Verdict::Unknown(reason) => panic!("{body}: {reason:?}"),
    };
    assert!(is_endless("while (true) { i = (i + 1) % 7; }"));
    assert!(is_endless("if ($) { while (i >= 0) { i = (i + 3) % 5; } }"));
    assert!(!is_endless("while (i < 5000) { i = i + 1; }"));
}

#[test]
fn published_algorithm_counts_the_memory_of_summaries() {
    const GROWS: &str = "
event eMore: seq[int];
machine Main {
  start state S {
    entry { send this, eMore, default(seq[int]); }
    on eMore do (s: seq[int]) { s += (0, sizeof(s)); send this, eMore, s; }
  }
}
";
    let verdict = paper_verdict(GROWS, Some(16 << 20));
    assert!(matches!(verdict, Verdict::Unknown(allways_run::StopReason::Memory { .. })), "{verdict:?}");
}
