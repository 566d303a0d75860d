//! The explicit-state search against a plain search with snapshots of the kernel: the same configurations, ends,
//! depths and verdicts, for each store, order and number of threads.

use std::sync::Arc;

use crate::support::compare::{compare_all, limits, safety};
use crate::support::{compile, corpus};
use allways_explore::search::{
    Order, ProveOptions, ProveReport, Reductions, SearchBounds, StoreKind, VariableBounds, prove,
};
use allways_explore::{Fairness, Never};
use allways_machine::{Executable, Outcome, Silent, replay};
use allways_run::{Bound, Guarantee, Limits, Quiet, StopReason, Verdict, ViolationKind};

fn run(exe: &Arc<Executable>, options: &ProveOptions) -> ProveReport {
    prove(exe, options, &Quiet, &Never).unwrap_or_else(|error| panic!("{}: {error}", exe.test_name))
}

#[test]
fn corpus_agrees_with_plain_search() {
    let mut problems = Vec::new();
    let mut n_compared = 0;
    for (name, text) in corpus() {
        n_compared += compare_all(&name, &text, &mut problems);
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(n_compared >= 120, "only {n_compared} tests");
}

const COUNTER: &str = "
event tick: int;
machine Main {
    var n: int;
    start state S {
        entry { send this, tick, 0; }
        on tick do (k: int) { n = n + 1; send this, tick, k + 1; }
    }
}
";

#[test]
fn bounds_show_in_the_verdict() {
    let program = compile("counter.p", COUNTER).unwrap();
    let exe = Arc::new(Executable::new(&program, 0));
    for order in [Order::Breadth, Order::Depth, Order::Deepening] {
        let bounds = SearchBounds { depth: Some(50), ..SearchBounds::default() };
        let report = run(&exe, &ProveOptions { order, bounds, ..safety() });
        assert_eq!(report.verdict, Verdict::Holds(Guarantee::UpTo(vec![Bound::Steps(50)])), "{order:?}");
        assert_eq!(report.statistics.n_configurations, 51, "{order:?}");
        assert!(report.dead_handlers.is_none());
    }
}

/// The producer never waits, and no other machine sends to the sink.
const ENDLESS: &str = "
event item: int;
event go;
event answer;
machine Main {
    start state S {
        entry { new Producer(new Sink()); send new Client(), go; }
    }
}
machine Sink { start state S { DEFER item; } }
machine Producer {
    start state S {
        entry (sink: Sink) { var i: int; while (true) { send sink, item, i; i = NEXT; } }
    }
}
machine Client {
    start state S {
        entry { send this, answer; }
        on go do { send this, answer; }
        on answer do { send this, halt; }
        on halt do { assert false; }
    }
}
";

/// Alone, the producer would do: persistent sets must not leave out the client for ever.
#[test]
fn persistent_sets_satisfy_the_cycle_proviso() {
    for (defer, next) in [("defer", "i"), ("defer", "i + 1"), ("ignore", "i"), ("ignore", "i + 1")] {
        let text = ENDLESS.replace("DEFER", defer).replace("NEXT", next).replace("halt", "stop");
        let text = text.replace("event go;", "event go; event stop;");
        let program = compile("endless.p", &text).unwrap_or_else(|error| panic!("{error}"));
        let exe = Arc::new(Executable::new(&program, 0));
        let mut lengths = Vec::new();
        for reductions in [Reductions::NONE, Reductions { persistent_sets: true, ..Reductions::NONE }] {
            let report = run(&exe, &ProveOptions { reductions, probes: false, ..safety() });
            let Verdict::Violated(found) = &report.verdict else { panic!("{defer}: {:?}", report.verdict) };
            lengths.push(found.schedule.n_steps());
        }
        assert_eq!(lengths[0], lengths[1], "{defer}, {next}");
    }
}

const FLOOD: &str = "
event ping;
event pong;
machine Sink { start state S { defer ping; on pong do { } } }
machine Main {
    start state S {
        entry {
            var sink: machine;
            sink = new Sink();
            while (true) { send sink, ping; }
        }
    }
}
";

#[test]
fn inbox_bounds_cut() {
    let program = compile("flood.p", FLOOD).unwrap();
    let exe = Arc::new(Executable::new(&program, 0));
    let cases = [
        (SearchBounds { inbox: Some(4), ..Default::default() }, Bound::InboxLength(4)),
        (SearchBounds { occurrences: Some(3), ..Default::default() }, Bound::Occurrences(3)),
        (SearchBounds { machines: Some(1), ..Default::default() }, Bound::Machines(1)),
    ];
    for (bounds, bound) in cases {
        let report = run(&exe, &ProveOptions { bounds, ..safety() });
        assert_eq!(report.verdict, Verdict::Holds(Guarantee::UpTo(vec![bound])));
    }
    let bounds = SearchBounds { inbox: Some(4), ..Default::default() };
    assert_eq!(run(&exe, &ProveOptions { bounds, ..safety() }).statistics.largest_inbox, 4);
}

/// Requests have numbers, and a client that is refused asks again.
const REQUESTS: &str = "
event eRequest: (source: Client, n: int);
event eAnswer: (n: int, ok: bool);
machine Main { start state S { entry { new Client(new Server()); } } }
machine Server {
    start state S {
        on eRequest do (it: (source: Client, n: int)) { send it.source, eAnswer, (n = it.n, ok = $); }
    }
}
machine Client {
    var server: Server;
    var n: int;
    var log: seq[int];
    start state S {
        entry (it: Server) { server = it; ask(); }
        on eAnswer do (it: (n: int, ok: bool)) {
            assert it.n == n;
            if (it.ok) { raise halt; }
            log += (0, n);
            assert BAD;
            ask();
        }
    }
    fun ask() { n = n + 1; send server, eRequest, (source = this, n = n); }
}
";

#[test]
fn variables_can_be_bounded() {
    let exe = |bad: &str| {
        let program = compile("requests.p", &REQUESTS.replace("BAD", bad)).unwrap();
        Arc::new(Executable::new(&program, 0))
    };
    let bounded = Verdict::Holds(Guarantee::UpTo(vec![Bound::Variables]));
    let fine = exe("sizeof(log) != 6");
    for order in [Order::Breadth, Order::Depth, Order::Deepening] {
        for reductions in [Reductions::NONE, Reductions::ALL] {
            for (name, most) in [("n", 5), ("Client.n", 3), ("Client.log", 4)] {
                let variables = VariableBounds::named(&fine, [(name, most)]).unwrap();
                let bounds = SearchBounds { variables, ..Default::default() };
                let options = ProveOptions { bounds, order, reductions, ..safety() };
                assert_eq!(run(&fine, &options).verdict, bounded, "{name} {order:?}");
                let broken = run(&exe("n != 3"), &options).verdict;
                assert!(matches!(broken, Verdict::Violated(_)), "{name} {order:?}");
            }
        }
    }
    for name in ["m", "Server.n", "Missing.n"] {
        assert!(VariableBounds::named(&fine, [(name, 1)]).is_err(), "{name}");
    }
    // A bound that cuts off the first step at once shows, too.
    let program = compile(
        "at-once.p",
        "machine Main { var n: int; start state S { entry { n = 7; } on null do { n = n - 1; assert n > 0; } } }",
    );
    let exe = Arc::new(Executable::new(&program.unwrap(), 0));
    let variables = VariableBounds::named(&exe, [("n", 6)]).unwrap();
    let bounds = SearchBounds { variables, ..Default::default() };
    assert_eq!(run(&exe, &ProveOptions { bounds, ..safety() }).verdict, bounded);
}

/// Parameters and locals count while their function runs.
#[test]
fn locals_can_be_bounded() {
    let program = compile(
        "locals.p",
        "
event eTick: int;
machine Main {
    start state S {
        entry { send this, eTick, 0; }
        on eTick do (n: int) { var next: int; next = n + 1; assert next != 9; send this, eTick, next; }
    }
}
machine Other { start state S { entry { var count: int; count = 1; } } }
",
    );
    let exe = Arc::new(Executable::new(&program.unwrap(), 0));
    for reductions in [Reductions::NONE, Reductions::ALL] {
        for (name, most, is_violated) in
            [("n", 5, false), ("Main.n", 9, true), ("Main.next", 5, false), ("next", 8, true)]
        {
            let variables = VariableBounds::named(&exe, [(name, most)]).unwrap();
            let bounds = SearchBounds { variables, ..Default::default() };
            let verdict = run(&exe, &ProveOptions { bounds, reductions, ..safety() }).verdict;
            match is_violated {
                true => assert!(matches!(verdict, Verdict::Violated(_)), "{name}={most}: {verdict:?}"),
                false => {
                    assert_eq!(
                        verdict,
                        Verdict::Holds(Guarantee::UpTo(vec![Bound::Variables])),
                        "{name}={most}"
                    );
                }
            }
        }
    }
    for name in ["Main.count", "Other.next", "missing"] {
        assert!(VariableBounds::named(&exe, [(name, 1)]).is_err(), "{name}");
    }
}

/// A bound is on what is reported to grow: numbers, also inside of collections, and how many elements these have.
#[test]
fn bounds_on_variables_reach_into_collections() {
    let program = compile(
        "nested.p",
        "
event eTick;
machine Main {
    var tries: map[int, (n: int, seen: set[int])];
    start state S {
        entry { tries[0] = (n = 0, seen = default(set[int])); send this, eTick; }
        on eTick do { tries[0].n = tries[0].n + 1; tries[0].seen += (100 * (tries[0].n / 3)); assert tries[0].n < 12; send this, eTick; }
    }
}
",
    );
    let exe = Arc::new(Executable::new(&program.unwrap(), 0));
    let verdict = |name, most| {
        let variables = VariableBounds::named(&exe, [(name, most)]).unwrap();
        run(&exe, &ProveOptions { bounds: SearchBounds { variables, ..Default::default() }, ..safety() })
            .verdict
    };
    let bounded = Verdict::Holds(Guarantee::UpTo(vec![Bound::Variables]));
    // The third turn puts a hundred into the set, the ninth makes it four elements; the twelfth fails.
    assert_eq!(verdict("Main.tries", 11), bounded);
    assert_eq!(verdict("Main.tries", 299), bounded);
    assert!(matches!(verdict("tries", 300), Verdict::Violated(_)));
    assert_eq!(verdict("sizeof(tries)", 3), bounded);
    assert!(matches!(verdict("sizeof(Main.tries)", 5), Verdict::Violated(_)));
}

/// Three choices with a hundred answers each, of which a few decide.
const WIDE: &str = "
event eItem: (value: int, rate: int);
machine Main {
    start state S {
        entry {
            var i: int;
            var server: Server;
            server = new Server();
            while (i < 3) {
                send server, eItem, (value = choose(100), rate = choose(100));
                i = i + 1;
            }
        }
    }
}
machine Server {
    var sum: int;
    var n: int;
    start state S {
        on eItem do (it: (value: int, rate: int)) {
            if (it.rate < 50) { sum = sum + it.value; }
            n = n + 1;
            assert n < 3 || sum != BAD;
        }
    }
}
";

/// Answers are spread from the first to the last, whatever the order of the search, and a run that breaks replays.
#[test]
fn choices_of_numbers_can_be_bounded() {
    let exe = |bad: &str| {
        let program = compile("wide.p", &WIDE.replace("BAD", bad)).unwrap();
        Arc::new(Executable::new(&program, 0))
    };
    for order in [Order::Breadth, Order::Depth, Order::Deepening] {
        for reductions in [Reductions::NONE, Reductions::ALL] {
            let options = ProveOptions { order, reductions, max_choices: Some(2), ..safety() };
            // 0 and 99 are explored, and 33 is not.
            let bounded = Verdict::Holds(Guarantee::UpTo(vec![Bound::Choices(2)]));
            assert_eq!(run(&exe("33"), &options).verdict, bounded, "{order:?}");
            let Verdict::Violated(found) = run(&exe("198"), &options).verdict else { panic!("{order:?}") };
            let again = replay(&exe("198"), limits(), &found.schedule, &mut Silent).expect("fits");
            assert!(matches!(again.outcome(), Outcome::Violated(_)));
            let options = ProveOptions { max_choices: Some(4), ..options };
            assert!(matches!(run(&exe("33"), &options).verdict, Verdict::Violated(_)), "{order:?}");
        }
    }
    // A bound that no choice is above cuts nothing off.
    let none = ProveOptions { max_choices: Some(100), ..safety() };
    let few = compile("few.p", &WIDE.replace("BAD", "-1").replace("choose(100)", "choose(4)")).unwrap();
    let few = Arc::new(Executable::new(&few, 0));
    let (with, without) = (run(&few, &none), run(&few, &safety()));
    assert_eq!(with.verdict, without.verdict);
    assert_eq!(with.statistics.n_configurations, without.statistics.n_configurations);
}

#[test]
fn memory_and_cancellation_end_with_what_was_covered() {
    let program = compile("flood.p", FLOOD).unwrap();
    let exe = Arc::new(Executable::new(&program, 0));
    for order in [Order::Breadth, Order::Depth] {
        let limits = Limits { memory_bytes: Some(3 << 20), ..limits() };
        let report = run(&exe, &ProveOptions { order, limits, ..safety() });
        assert!(
            matches!(report.verdict, Verdict::Unknown(StopReason::Memory { .. })),
            "{:?}",
            report.verdict
        );
        assert!(report.statistics.n_configurations > 100);
    }
    let program = compile("counter.p", COUNTER).unwrap();
    let exe = Arc::new(Executable::new(&program, 0));
    let asked = std::sync::atomic::AtomicU32::new(0);
    let cancel = || {
        let n = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        (n > 10).then_some(StopReason::Interrupted)
    };
    let report = prove(&exe, &safety(), &Quiet, &cancel).unwrap();
    assert_eq!(report.verdict, Verdict::Unknown(StopReason::Interrupted));
    assert_eq!(report.stopped, Some(StopReason::Interrupted));
}

#[test]
fn dead_handlers_are_those_of_finished_proofs() {
    let text = "
event used;
event unused;
machine Main { start state S { entry { send this, used; } on used do { } on unused do { } } }
";
    let program = compile("dead.p", text).unwrap();
    let exe = Arc::new(Executable::new(&program, 0));
    let report =
        run(&exe, &ProveOptions { store: StoreKind::Exact, fairness: Some(Fairness::Random), ..safety() });
    assert_eq!(report.verdict, Verdict::Holds(Guarantee::Exhaustive));
    assert_eq!(report.dead_handlers.map(|dead| dead.len()), Some(1));
}

#[test]
fn a_configuration_may_have_more_successors_than_the_table_has_room() {
    let text = "
event none;
machine Main {
    var a: int;
    var b: int;
    start state S {
        entry { send this, none; }
        on none do { a = choose(400); b = choose(200); goto T; }
    }
    state T { }
}
";
    let program = compile("wide.p", text).unwrap();
    let exe = Arc::new(Executable::new(&program, 0));
    for (store, n_threads) in [
        (StoreKind::Exact, 1),
        (StoreKind::Wide, 1),
        (StoreKind::Fingerprint, 1),
        (StoreKind::Fingerprint, 2),
    ] {
        let report = run(&exe, &ProveOptions { store, n_threads, ..safety() });
        let statistics = report.statistics;
        assert!(matches!(report.verdict, Verdict::Holds(_)));
        assert_eq!(
            (statistics.n_configurations, statistics.n_transitions, statistics.n_ends),
            (80_002, 80_001, 80_000),
            "{store:?} {n_threads}"
        );
    }
}

/// Three workers report, with their names, to one that counts.
const REPORTS: &str = "
event report: (from: machine, kind: int, load: (int, int));
event go: machine;
machine Main {
    var byKind: map[int, seq[int]];
    var nSeen: int;
    var nCalls: int;
    start state S {
        entry {
            var i: int;
            byKind[0] = default(seq[int]);
            while (i < 3) { send new Worker(), go, this; i = i + 1; }
        }
        on report do (r: (from: machine, kind: int, load: (int, int))) {
            nCalls = nCalls + 1;
            byKind[0] += (sizeof(byKind[0]), r.kind);
            if (sizeof(byKind[0]) == 3) { assert CHECK, format(\"{0} of {1}\", r.from, nCalls); }
        }
    }
}
machine Worker {
    start state S {
        on go do (target: machine) { send target, report, (from = this, kind = choose(2) + 6, load = (1, 2)); }
    }
}
";

/// Parts of values that no code reads distinguish no configurations: parts of payloads, the order of a sequence in a map, a
/// counter, what goes into the message of an assertion.
#[test]
fn parts_of_values_that_are_never_read_are_left_out() {
    let program =
        compile("reports.p", &REPORTS.replace("CHECK", "6 in byKind[0] || 7 in byKind[0]")).unwrap();
    let exe = Arc::new(Executable::new(&program, 0));
    let size = |reductions| {
        let report = run(&exe, &ProveOptions { reductions, store: StoreKind::Exact, ..safety() });
        assert_eq!(report.verdict, Verdict::Holds(Guarantee::Exhaustive), "{reductions:?}");
        report.statistics
    };
    let whole = size(Reductions::NONE).n_configurations;
    let unread = Reductions::only("unread-payloads").unwrap();
    let order = Reductions { collection_order: true, ..unread };
    let symmetry = Reductions { symmetry: true, ..order };
    assert!(size(Reductions::only("dead-variables").unwrap()).saved.n_dead > 0);
    assert!(size(unread).saved.n_unread > 0 && size(order).saved.n_unordered > 0);
    let sizes = [unread, order, symmetry].map(|reductions| size(reductions).n_configurations);
    assert!(whole > sizes[0] && sizes[0] > sizes[1] && sizes[1] > sizes[2], "{whole}, {sizes:?}");
}

const COPIES: &str = "
event row: int;
event look: int;
machine Main {
    start state S {
        entry {
            var book: machine;
            book = new Book();
            send book, row, 1;
            send book, row, 0;
            send book, look, 2;
        }
    }
}
fun size(rows: map[int, (int, int)]): int {
    return sizeof(rows);
}
machine Book {
    var rows: map[int, (int, int)];
    start state S {
        on row do (n: int) { rows[n] = (n, n); }
        on look do (n: int) {
            var copy: map[int, (int, int)];
            var count: int;
            copy = rows;
            count = size(copy);
            new Witness(count);
        }
    }
}
machine Witness {
    start state S { entry (count: int) { assert count != 2; } }
}
";

/// A copy that is never read again has the order of what it is a copy of, or what stands for a configuration does not go where
/// that goes.
#[test]
fn copies_that_are_not_left_out_are_sorted_too() {
    let program = compile("copies.p", COPIES).unwrap();
    let exe = Arc::new(Executable::new(&program, 0));
    for name in ["collection-order", "unread-payloads", "dead-variables"] {
        let reductions = Reductions { collection_order: true, ..Reductions::only(name).unwrap() };
        let report = run(&exe, &ProveOptions { reductions, ..safety() });
        assert!(matches!(report.verdict, Verdict::Violated(_)), "{name}: {:?}", report.verdict);
    }
}

/// Time that is over while the path to a violation is looked for does not make the violation unknown.
#[test]
fn a_violation_that_was_found_is_reported_however_long_its_path_takes() {
    let program = compile("reports.p", &REPORTS.replace("CHECK", "7 in byKind[0]")).unwrap();
    let exe = Arc::new(Executable::new(&program, 0));
    let run_for = |n_most: usize| {
        let n_asked = std::sync::atomic::AtomicUsize::new(0);
        let cancel = || {
            let n = n_asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            (n >= n_most).then_some(StopReason::Time(std::time::Duration::from_secs(1)))
        };
        let report = prove(&exe, &safety(), &Quiet, &cancel).unwrap();
        (report.verdict, n_asked.into_inner())
    };
    let (verdict, n_asked) = run_for(usize::MAX);
    let Verdict::Violated(expected) = verdict else { panic!("{verdict:?}") };
    // The last question is that of the second look.
    let (verdict, _) = run_for(n_asked - 1);
    let Verdict::Violated(found) = verdict else { panic!("{verdict:?}") };
    assert_eq!(found.schedule, expected.schedule);
    assert!(matches!(run_for(0).0, Verdict::Unknown(StopReason::Time(_))));
}

/// Machines that choose again and again what to do, without doing anything: as many runs as there are numbers, and few local states.
const IDLERS: &str = "
event eGo; event eOpen: int; event eUnit;
machine Main {
    start state S {
        entry { var server: Server; server = new Server(); new User(server); new User(server); }
    }
}
machine Server {
    var n: int;
    start state S { on eOpen do (k: int) { n = n + 1; assert n < BAD; } }
}
machine User {
    var server: Server;
    var last: int;
    start state S { entry (it: Server) { server = it; goto Loop; } }
    state Loop {
        entry {
            if ($) { goto Done; }
            last = choose(3);
            if ($) { raise eUnit; }
            if ($) { send server, eOpen, last; }
            raise eUnit;
        }
        on eUnit goto Loop;
    }
    state Done { ignore eGo; }
}
";

#[test]
fn who_asks_again_and_again_is_no_explosion() {
    let exe = |text: &str| Arc::new(Executable::new(&compile("idlers.p", text).unwrap(), 0));
    for order in [Order::Breadth, Order::Depth] {
        for reductions in [Reductions::NONE, Reductions::ALL] {
            let bounds = SearchBounds { depth: Some(12), ..Default::default() };
            let options = ProveOptions { order, reductions, bounds, probes: false, ..safety() };
            let report = run(&exe(&IDLERS.replace("BAD", "20")), &options);
            assert_eq!(report.verdict, Verdict::Holds(Guarantee::UpTo(vec![Bound::Steps(12)])));
            let broken = exe(&IDLERS.replace("BAD", "4"));
            let options = ProveOptions { bounds: SearchBounds::default(), ..options };
            let Verdict::Violated(found) = run(&broken, &options).verdict else { panic!("{order:?}") };
            assert_eq!(found.violation.kind, ViolationKind::Assertion);
            let again = replay(&broken, limits(), &found.schedule, &mut Silent).expect("fits");
            assert!(matches!(again.outcome(), Outcome::Violated(_)));
        }
    }
    // Who cannot get out is not passed over.
    let lost = exe("machine Main { start state S { entry { var x: bool; while (true) { x = $; } } } }");
    match run(&lost, &safety()).verdict {
        Verdict::Violated(found) => assert_eq!(found.violation.kind, ViolationKind::EndlessHandler),
        other => panic!("{other:?}"),
    }
}

/// Who may go on as long as chance likes does nothing wrong; who cannot but go on, whatever the answers, never ends his handler.
#[test]
fn handlers_that_cannot_end_are_endless() {
    let verdict = |body: &str, order| {
        let text = format!("machine Main {{ var n: int; start state S {{ entry {{ {body} }} }} }}");
        let exe = Arc::new(Executable::new(&compile("round.p", &text).unwrap(), 0));
        run(&exe, &ProveOptions { order, ..safety() }).verdict
    };
    for order in [Order::Breadth, Order::Depth] {
        let holds = verdict("while ($) { n = (n + 1) % 3; }", order);
        assert!(matches!(holds, Verdict::Holds(_)), "{holds:?}");
        for body in [
            "while (true) { if ($) { n = (n + 1) % 3; } }",
            // Only after some answers.
            "while (n < 3) { if ($) { n = n + 1; } else if (n == 2) { n = 7; while (true) { if ($) { n = 8; } else { n = 7; } } } }",
        ] {
            match verdict(body, order) {
                Verdict::Violated(found) => assert_eq!(found.violation.kind, ViolationKind::EndlessHandler),
                other => panic!("{body}: {other:?}"),
            }
        }
        // As many places as there are numbers.
        match verdict("while ($) { n = n + 1; } assert n >= 0;", order) {
            Verdict::Unknown(StopReason::Undecided { why }) => {
                assert!(why.contains("more than 4096 choices in one step"), "{why}");
            }
            other => panic!("{other:?}"),
        }
    }
}
