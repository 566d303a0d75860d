//! Limits that are met late: a violation that was seen is reported, with a run that replays, or at least as seen. And what is reported of
//! searches that come to no end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use crate::support::compare::safety;
use crate::support::compile;
use allways_explore::search::{
    Covered, GrowthKind, ProveOptions, ProveReport, Reductions, SearchBounds, SeenViolation, prove,
};
use allways_explore::{Cancel, Fairness, Never};
use allways_machine::{Executable, Outcome, Silent, replay};
use allways_run::{Limits, NetworkModel, NetworkOptions, Observer, Progress, Quiet, StopReason, Verdict};

/// Clients that count by themselves, and a server that may hear more than it likes.
const BUSY: &str = "
event eWork: int;
event eGo;
machine Main {
    start state S {
        entry {
            var server: Server;
            var i: int;
            server = new Server(choose(100));
            while (i < 4) { send new Client(server), eGo; i = i + 1; }
        }
    }
}
machine Client {
    var server: Server;
    var n: int;
    start state S {
        entry (it: Server) { server = it; }
        on eGo do {
            n = n + 1;
            if ($) { send server, eWork, n; }
            if (n < 5) { send this, eGo; }
        }
    }
}
machine Server {
    var sum: int;
    start state S {
        entry (first: int) { if (first == 99) { sum = 1; } }
        on eWork do (k: int) {
            sum = sum + k;
            assert sum < 40;
        }
    }
}
";

fn executable(text: &str) -> Arc<Executable> {
    let program = compile("limits.p", text).unwrap_or_else(|error| panic!("{error}"));
    Arc::new(Executable::new(&program, 0))
}

fn run(exe: &Arc<Executable>, options: &ProveOptions, memory_bytes: Option<u64>) -> ProveReport {
    let limits = Limits { memory_bytes, ..options.limits };
    let options = ProveOptions { limits, ..options.clone() };
    prove(exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn assert_replays(exe: &Arc<Executable>, report: &ProveReport) -> usize {
    let Verdict::Violated(found) = &report.verdict else { panic!("{:?}", report.verdict) };
    let kernel = replay(exe, Limits::default(), &found.schedule, &mut Silent).unwrap();
    assert!(matches!(kernel.outcome(), Outcome::Violated(_)), "{:?}", kernel.outcome());
    found.schedule.n_steps()
}

/// The search itself has just enough memory. To search for a path again it would need more.
#[test]
fn violations_that_were_seen_are_reported_without_memory_for_a_shortest_way() {
    let exe = executable(BUSY);
    let mut n_frugal = 0;
    for reductions in [Reductions::NONE, Reductions::default(), Reductions::ALL] {
        let options = ProveOptions { reductions, probes: false, ..safety() };
        let whole = run(&exe, &options, None);
        let length = assert_replays(&exe, &whole);
        // Chunks of the layer that breaks come on top of the peak, which is reported as of the beginning of rounds.
        let peak = whole.statistics.peak_bytes;
        for memory in [peak / 4 * 5, peak / 2 * 3, peak * 2] {
            let scarce = run(&exe, &options, Some(memory));
            if memory < peak * 2 && !matches!(scarce.verdict, Verdict::Violated(_)) {
                continue;
            }
            let longer = assert_replays(&exe, &scarce);
            assert!(longer >= length, "{longer} steps, {length} at least");
            assert!(longer <= 2 * length, "{longer} steps, {length} would do");
            n_frugal += u32::from(scarce.remarks.may_be_shorter && !whole.remarks.may_be_shorter);
        }
        // With less, nothing may have been seen; but what was found is reported, and nothing else.
        for share in [2, 4] {
            let less = run(&exe, &options, Some(whole.statistics.peak_bytes / share));
            match &less.verdict {
                Verdict::Violated(_) => assert!(assert_replays(&exe, &less) >= length),
                Verdict::Unknown(StopReason::Memory { .. }) => {}
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(n_frugal > 0, "there was always enough memory");
}

/// Notes when the search for the path has begun.
#[derive(Default)]
struct Watch(AtomicBool);

impl Observer for Watch {
    fn progress(&self, progress: &Progress) {
        if progress.phase == Some("counterexample") {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

struct Then<'a>(&'a Watch, StopReason);

impl Cancel for Then<'_> {
    fn reason(&self) -> Option<StopReason> {
        self.0.0.load(Ordering::Relaxed).then(|| self.1.clone())
    }
}

#[test]
fn violations_that_were_seen_are_reported_after_the_time_limit() {
    let exe = executable(BUSY);
    for reductions in [Reductions::NONE, Reductions::default()] {
        let options = ProveOptions { reductions, ..safety() };
        let watch = Watch::default();
        let reason = StopReason::Time(Duration::from_secs(1));
        let report = prove(&exe, &options, &watch, &Then(&watch, reason)).unwrap();
        assert_replays(&exe, &report);
        assert!(watch.0.load(Ordering::Relaxed), "the limit was met");
    }
}

#[test]
fn violations_that_were_seen_are_reported_without_a_run_if_need_be() {
    let exe = executable(BUSY);
    let bounds = SearchBounds { depth: Some(1000), ..SearchBounds::default() };
    for (reductions, is_counted) in [(Reductions::NONE, true), (Reductions::ALL, false)] {
        let bounds = if is_counted { bounds } else { SearchBounds::default() };
        let options = ProveOptions { reductions, bounds, probes: false, ..safety() };
        let watch = Watch::default();
        let report = prove(&exe, &options, &watch, &Then(&watch, StopReason::Interrupted)).unwrap();
        assert_eq!(report.verdict, Verdict::Unknown(StopReason::Interrupted));
        let Some(SeenViolation { n_steps }) = report.remarks.seen else { panic!("{:?}", report.remarks) };
        assert_eq!(n_steps.is_some(), is_counted);
    }
}

/// What is reported of an endless program, by kind, owner and name.
fn growth(text: &str) -> Vec<(GrowthKind, String, Option<String>)> {
    let report = run(&executable(text), &safety(), Some(4 << 20));
    assert!(matches!(report.verdict, Verdict::Unknown(StopReason::Memory { .. })), "{:?}", report.verdict);
    report.remarks.growth.into_iter().map(|growth| (growth.kind, growth.owner, growth.name)).collect()
}

fn grows(kind: GrowthKind, owner: &str, name: &str) -> (GrowthKind, String, Option<String>) {
    (kind, owner.to_owned(), (!name.is_empty()).then(|| name.to_owned()))
}

#[test]
fn what_grows_is_reported() {
    let inbox = "
event eItem: int;
machine Main { start state S { entry { new Producer(new Sink()); } } }
machine Sink { start state S { defer eItem; } }
machine Producer { start state S { entry (sink: Sink) { while (true) { send sink, eItem, choose(2); } } } }
";
    assert_eq!(growth(inbox)[0], grows(GrowthKind::Inbox, "Sink", "eItem"));
    let number = "
event eTick;
machine Main {
    var n: int;
    var is_odd: bool;
    start state S {
        entry { send this, eTick; }
        on eTick do { n = n + 1; is_odd = !is_odd; assert n != 0; send this, eTick; }
    }
}
";
    assert_eq!(growth(number), [grows(GrowthKind::Number, "Main", "n")]);
    let collection = "
event eTick;
machine Main {
    var log: seq[bool];
    start state S {
        entry { send this, eTick; }
        on eTick do { log += (sizeof(log), $); send this, eTick; assert sizeof(log) == 0 || log[0] || true; }
    }
}
";
    assert_eq!(growth(collection), [grows(GrowthKind::Collection, "Main", "log")]);
    let machines = "
event eTick;
machine Main {
    start state S {
        entry { send this, eTick; }
        on eTick do { new Child(); send this, eTick; }
    }
}
machine Child { start state S { on eTick do { } } }
";
    assert_eq!(growth(machines)[0], grows(GrowthKind::Machines, "Child", ""));
    let payload = "
event eTick: int;
machine Main {
    start state S {
        entry { send this, eTick, 1; }
        on eTick do (n: int) { if ($) { send this, eTick, n + 1; } else { send this, eTick, n + 2; } }
    }
}
";
    assert_eq!(growth(payload).len(), 1, "{:?}", growth(payload));
}

/// Large, not endless: every variable has had its values long before the end.
#[test]
fn nothing_is_reported_where_nothing_grows() {
    let text = "
event eGo;
machine Main { start state S { entry { var i: int; while (i < 6) { send new Client(), eGo; i = i + 1; } } } }
machine Client {
    var n: int;
    start state S {
        on eGo do { n = (n + 1) % 10; assert n < 10; send this, eGo; }
    }
}
";
    let options = ProveOptions { reductions: Reductions::NONE, ..safety() };
    let report = run(&executable(text), &options, Some(8 << 20));
    assert!(matches!(report.verdict, Verdict::Unknown(StopReason::Memory { .. })), "{:?}", report.verdict);
    assert_eq!(report.remarks.growth, []);
}

/// A counter of a late phase that was cut off on its way to a bound is not reported where something else has grown all the time.
#[test]
fn what_grows_all_the_time_comes_before_a_counter_of_a_phase() {
    let program = |late: &str| {
        format!(
            "
event eTick;
machine Main {{
    var log: seq[bool];
    var tries: int;
    start state S {{
        entry {{ send this, eTick; }}
        on eTick do {{
            log += (sizeof(log), sizeof(log) < 20 || $);
            if (sizeof(log) > {late}) {{ tries = tries + 1; assert tries < 50; }}
            send this, eTick;
            assert sizeof(log) == 0 || log[0];
        }}
    }}
}}
"
        )
    };
    let log = || grows(GrowthKind::Collection, "Main", "log");
    assert_eq!(growth(&program("20")), [log()]);
    // What stops cannot be distinguished from what does not if both have grown from the beginning.
    assert_eq!(growth(&program("0")), [log(), grows(GrowthKind::Number, "Main", "tries")]);
}

/// A wide choice sets many records, in one layer.
#[test]
fn choices_do_not_grow() {
    let text = "
event eGo: (n: int, ballot: int);
machine Main {
    start state S {
        entry {
            var i: int;
            while (i < 4) { send new Client(), eGo, (n = choose(60), ballot = choose(50)); i = i + 1; }
        }
    }
}
machine Client {
    var n: int;
    var ballot: int;
    start state S {
        on eGo do (it: (n: int, ballot: int)) { n = it.n; ballot = it.ballot; }
        on null do { assert n + ballot < 200; }
    }
}
";
    let report = run(&executable(text), &safety(), Some(8 << 20));
    assert!(matches!(report.verdict, Verdict::Unknown(StopReason::Memory { .. })), "{:?}", report.verdict);
    assert_eq!(report.remarks.growth, []);
    let wide = report.remarks.wide_choice.expect("there are choices");
    assert_eq!((wide.machine.as_str(), wide.n_answers), ("Main", 60));
}

/// What is on its way to machines of one kind is reported once.
#[test]
fn what_grows_alike_is_reported_once() {
    let text = "
event eItem: int;
machine Main {
    start state S {
        entry {
            var all: seq[Sink];
            all += (0, new Sink());
            all += (1, new Sink());
            while (true) { send choose(all), eItem, choose(2); }
        }
    }
}
machine Sink { start state S { ignore eItem; } }
";
    let program = compile("limits.p", text).unwrap_or_else(|error| panic!("{error}"));
    let network = NetworkOptions { model: NetworkModel::Bag, ..NetworkOptions::default() };
    let exe = Arc::new(Executable::new(&program, 0).with_network(&network).expect("names"));
    let report = run(&exe, &ProveOptions { reductions: Reductions::NONE, ..safety() }, Some(8 << 20));
    let growth: Vec<_> = report.remarks.growth.iter().map(|it| (it.kind, it.owner.as_str())).collect();
    assert_eq!(growth, [(GrowthKind::Network, "Sink")]);
}

/// A step with very many outcomes, and a monitor for which all of the graph is explored.
const MANY_OUTCOMES: &str = "
event eGo: int;
event eDone;
event eTick;
spec Ends observes eGo, eDone {
    start cold state Quiet { on eGo goto Waiting; ignore eDone; }
    hot state Waiting { on eDone goto Quiet; ignore eGo; }
}
machine Main {
    var x: int;
    start state S {
        entry { new Child(this); x = choose(140); }
        on eGo do (y: int) { assert x + y < 300; announce eDone; }
    }
}
machine Child {
    start state S {
        entry (it: Main) { var y: int; y = choose(140); send it, eGo, y; send this, eTick; }
        on eTick do { send this, eTick; }
    }
}
test tcMany [main=Main]: assert Ends in { Main, Child };
";

/// A limit may be met for a moment: a phase that sees it leaves something out, and the verdict says so.
#[test]
fn a_limit_that_is_said_once_is_in_the_verdict() {
    let exe = executable(MANY_OUTCOMES);
    for fairness in [None, Some(Fairness::Random)] {
        for n_threads in [1, 2] {
            let options = ProveOptions { fairness, n_threads, ..safety() };
            let n_asked = AtomicU32::new(0);
            let never = || {
                n_asked.fetch_add(1, Ordering::Relaxed);
                None
            };
            let whole = prove(&exe, &options, &Quiet, &never).unwrap();
            assert!(matches!(whole.verdict, Verdict::Holds(_)), "{:?}", whole.verdict);
            let n_asks = n_asked.load(Ordering::Relaxed);
            assert!(n_asks > 30, "{n_asks}");
            let mut n_stopped = 0;
            for at in (0..n_asks).step_by(n_asks as usize / 12) {
                let n_asked = AtomicU32::new(0);
                let reason = StopReason::Memory { bytes: 1 << 30 };
                let once = || (n_asked.fetch_add(1, Ordering::Relaxed) == at).then(|| reason.clone());
                let report = prove(&exe, &options, &Quiet, &once).unwrap();
                if n_asked.load(Ordering::Relaxed) <= at {
                    continue;
                }
                n_stopped += 1;
                assert_eq!(report.verdict, Verdict::Unknown(reason.clone()), "{at} of {n_asks}");
                assert_eq!(report.stopped, Some(reason.clone()), "{at} of {n_asks}");
                assert_ne!(report.statistics.covered, Covered::UpToUnknown, "{at} of {n_asks}");
            }
            assert!(n_stopped > 3, "{n_stopped}");
        }
    }
}

/// Very many messages on their way, each of which may arrive next: a layer of few configurations has many local states, each of them large.
const MANY_ARRIVALS: &str = "
event eGo: int;
machine Main {
    start state S { entry { var i: int; var sink: Sink; sink = new Sink(); while (i < 60) { send sink, eGo, i; i = i + 1; } } }
}
machine Sink { var last: int; start state S { defer eGo; } }
test tcArrivals [main=Main]: { Main, Sink };
";

/// Once there is a reason to stop, no local step is computed any more, however many a layer asks for.
#[test]
fn limits_hold_between_the_local_steps_of_a_layer() {
    let program = compile("limits.p", MANY_ARRIVALS).unwrap_or_else(|error| panic!("{error}"));
    for model in [NetworkModel::Bag, NetworkModel::Fifo] {
        let network = NetworkOptions { model, ..NetworkOptions::default() };
        let exe = Arc::new(Executable::new(&program, 0).with_network(&network).expect("names"));
        for reductions in [Reductions::NONE, Reductions::ALL] {
            let options = ProveOptions { reductions, probes: false, n_threads: 1, ..safety() };
            for at in [5, 30] {
                let n_asked = AtomicU32::new(0);
                let reason = StopReason::Memory { bytes: 1 << 30 };
                let stop = || (n_asked.fetch_add(1, Ordering::Relaxed) >= at).then(|| reason.clone());
                let report = prove(&exe, &options, &Quiet, &stop).unwrap();
                if n_asked.load(Ordering::Relaxed) <= at {
                    continue;
                }
                assert_eq!(report.verdict, Verdict::Unknown(reason.clone()), "{model:?}, {at}");
                // An answer to each question, and what one step lays out.
                let n_steps = u64::from(at) * 16 + 64;
                let n_local_states = report.statistics.n_local_states;
                assert!(n_local_states <= 60 * n_steps, "{model:?}, {at}: {n_local_states} local states");
            }
        }
    }
}
