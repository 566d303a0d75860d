//! Several processes, here as threads that share nothing but messages, and checkpoints in memory, against one process.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use allways_explore::exchange::{Exchange, Peers};
use allways_explore::search::distribute::{Checkpoint, Checkpoints, SavedLayer, ShowBlock, WriteFrontier};
use allways_explore::search::{
    ProveOptions, ProveReport, Reductions, Scratch, ScratchFile, SearchBounds, Spill, StoreKind, prove,
};
use allways_explore::{Cancel, CheckOptions, Never, Report};
use allways_machine::Executable;
use allways_run::{NetworkModel, Quiet, StopReason, Verdict};
use allways_testkit::Loaded;
use allways_testkit::differential::{Over, program_of};

/// Queues by receiver and sender.
struct Bus {
    queues: Vec<Vec<Mutex<VecDeque<Vec<u8>>>>>,
    change: (Mutex<u64>, Condvar),
    n_bytes: AtomicU64,
    failure: Mutex<Option<String>>,
}

struct OnBus {
    bus: Arc<Bus>,
    number: usize,
}

impl Exchange for OnBus {
    fn number(&self) -> usize {
        self.number
    }

    fn n_processes(&self) -> usize {
        self.bus.queues.len()
    }

    fn send(&self, to: usize, message: Vec<u8>) {
        self.bus.n_bytes.fetch_add(message.len() as u64, Ordering::Relaxed);
        self.bus.queues[to][self.number].lock().unwrap().push_back(message);
        *self.bus.change.0.lock().unwrap() += 1;
        self.bus.change.1.notify_all();
    }

    fn take(&self, from: usize) -> Option<Vec<u8>> {
        self.bus.queues[self.number][from].lock().unwrap().pop_front()
    }

    fn is_congested(&self) -> bool {
        false
    }

    fn wait(&self) {
        let seen = self.bus.change.0.lock().unwrap();
        drop(self.bus.change.1.wait_timeout(seen, Duration::from_millis(1)).unwrap());
    }

    fn failure(&self) -> Option<String> {
        self.bus.failure.lock().unwrap().clone()
    }

    fn has_left(&self, _: usize) -> bool {
        false
    }

    fn fail(&self, with: usize, why: &str) {
        *self.bus.failure.lock().unwrap() = Some(format!("process {with}: {why}"));
    }
}

pub fn loaded(text: &str) -> Loaded {
    Loaded::new("test.p", text).unwrap_or_else(|error| panic!("{error}"))
}

/// What each process does. Each has an executable of its own, as it would have elsewhere.
pub fn each_of<T: Send>(text: &str, n: usize, work: impl Fn(&Arc<Executable>, Peers) -> T + Sync) -> Vec<T> {
    let bus = Arc::new(Bus {
        queues: (0..n).map(|_| (0..n).map(|_| Mutex::default()).collect()).collect(),
        change: (Mutex::new(0), Condvar::new()),
        n_bytes: AtomicU64::new(0),
        failure: Mutex::default(),
    });
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n)
            .map(|number| {
                let (bus, work) = (bus.clone(), &work);
                scope.spawn(move || {
                    let exe = Arc::new(Executable::new(&loaded(text).program, 0));
                    work(&exe, Peers(Arc::new(OnBus { bus, number })))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The report of each process.
fn by_processes(text: &str, options: &ProveOptions, n: usize) -> Vec<ProveReport> {
    each_of(text, n, |exe, peers| {
        prove(exe, &ProveOptions { peers: Some(peers), ..options.clone() }, &Quiet, &Never).unwrap()
    })
}

pub fn alone(text: &str, options: &ProveOptions) -> ProveReport {
    let exe = Arc::new(Executable::new(&loaded(text).program, 0));
    prove(&exe, options, &Quiet, &Never).unwrap()
}

/// What must not depend on processes.
pub fn essence(report: &ProveReport) -> String {
    let s = &report.statistics;
    let verdict = match &report.verdict {
        Verdict::Violated(found) => format!("violated {:?}", found.schedule),
        other => format!("{other:?}"),
    };
    format!(
        "{verdict} {} {} {} {} {} {} {} {:?} {:?}",
        s.n_configurations,
        s.n_transitions,
        s.depth,
        s.n_ends,
        s.largest_inbox,
        s.n_machines,
        s.n_messages,
        report.coverage,
        report.dead_handlers
    )
}

const PROGRAMS: &[&str] = &[RING, BROKEN, CHOICES];

/// Workers that pass tokens, with a hundred or so configurations.
pub const RING: &str = "
event eToken: int; event eStart: machine;
machine Main {
  start state Init { entry {
    var a: machine; var b: machine; var c: machine;
    a = new Node(1); b = new Node(2); c = new Node(3);
    send a, eStart, b; send b, eStart, c; send c, eStart, a;
    send a, eToken, 4; send b, eToken, 3; send c, eToken, 3;
  } }
}
machine Node {
  var next: machine; var seen: set[int]; var name: int;
  start state Wait { entry (n: int) { name = n; } on eStart do (after: machine) { next = after; goto Run; } defer eToken; }
  state Run { on eToken do (n: int) { seen += (n * 10 + name); if (n > 0) { send next, eToken, n - 1; } } }
}
test t [main = Main]: { Main, Node };
";

pub const BROKEN: &str = "
event ePing: machine; event eOne; event eTwo;
machine Main {
  var n: int;
  start state Init { entry { var a: machine; var b: machine; a = new Ping(this); b = new Ping(this); }
    on eOne do { n = n + 1; if ($) { n = n + 1; } }
    on eTwo do { assert n < 4; n = n + 1; } }
}
machine Ping { start state S { entry (m: machine) { send m, eOne; send m, eTwo; } } }
test t [main = Main]: { Main, Ping };
";

const CHOICES: &str = "
event eValue: int; event eDone;
machine Main {
  start state Init { entry { var s: machine; s = new Sink(); send s, eValue, choose(9); send s, eValue, choose(5); send s, eDone; } }
}
machine Sink {
  var all: seq[int];
  start state S { on eValue do (v: int) { if (v > 3) { all += (sizeof(all), v); } } on eDone goto Never with { } }
  state Never { on eValue do { assert false; } ignore eDone; }
}
test t [main = Main]: { Main, Sink };
";

#[test]
fn processes_find_what_one_finds() {
    for text in PROGRAMS {
        for reductions in [Reductions::NONE, Reductions::ALL] {
            for (store, n_threads) in
                [(StoreKind::Fingerprint, 1), (StoreKind::Exact, 2), (StoreKind::Wide, 1)]
            {
                let options = ProveOptions { reductions, store, n_threads, ..ProveOptions::default() };
                let expected = essence(&alone(text, &options));
                for n in [1, 2, 4] {
                    let reports = by_processes(text, &options, n);
                    assert_eq!(essence(&reports[0]), expected, "{n} processes");
                    let is_helper = |report: &ProveReport| matches!(report.verdict, Verdict::Unknown(_));
                    assert!(reports[1..].iter().all(is_helper));
                }
            }
        }
    }
}

#[test]
fn processes_find_a_counterexample_together() {
    for text in [BROKEN, RARE] {
        for reductions in [Reductions::NONE, Reductions::ALL] {
            let options = ProveOptions { reductions, ..ProveOptions::default() };
            let expected = alone(text, &options);
            let options = ProveOptions { shares_counterexample: true, ..options };
            let found: Vec<ProveReport> =
                [1, 2, 4].into_iter().map(|n| by_processes(text, &options, n).remove(0)).collect();
            for report in &found {
                let (Verdict::Violated(a), Verdict::Violated(b)) = (&expected.verdict, &report.verdict)
                else {
                    panic!("{:?}", report.verdict)
                };
                // All counterexamples are replayed before they are reported.
                assert_eq!(a.violation.kind, b.violation.kind);
                assert_eq!(a.schedule.n_steps(), b.schedule.n_steps());
                // The path does not depend on the number of processes.
                assert_eq!(essence(report), essence(&found[0]));
            }
        }
    }
}

/// A folder in memory: what one process of a run has written, by layer.
#[derive(Default)]
pub struct Folder {
    label: Mutex<Option<String>>,
    /// By depth and process.
    pub layers: Mutex<BTreeMap<u64, BTreeMap<usize, Segment>>>,
}

#[derive(Clone, Default)]
pub struct Segment {
    pub keys: Vec<u8>,
    pub frontier: Vec<Vec<u8>>,
}

pub struct InFolder {
    folder: Arc<Folder>,
    process: Mutex<usize>,
    pending: Mutex<Vec<u8>>,
    /// Only layers up to this one are seen, as if nothing was written later.
    until: u64,
}

impl InFolder {
    pub fn new(folder: &Arc<Folder>, until: u64) -> Self {
        InFolder { folder: folder.clone(), process: Mutex::new(0), pending: Mutex::default(), until }
    }

    fn segments(&self) -> Vec<(u64, usize, Segment)> {
        let layers = self.folder.layers.lock().unwrap();
        let parts = layers.iter().flat_map(|(&depth, parts)| {
            parts.iter().map(move |(&process, segment)| (depth, process, segment.clone()))
        });
        parts.filter(|&(depth, _, _)| depth <= self.until).collect()
    }

    fn newest(&self) -> Option<u64> {
        self.segments().iter().map(|&(depth, ..)| depth).max()
    }
}

impl Checkpoint for InFolder {
    fn open(&self, label: &str, process: usize, _: usize) -> Result<Option<SavedLayer>, String> {
        *self.process.lock().unwrap() = process;
        let known = self.folder.label.lock().unwrap().replace(label.to_owned());
        if known.is_some_and(|known| known != label) {
            return Err("another search".to_owned());
        }
        let n_key_bytes = self.segments().iter().map(|(_, _, segment)| segment.keys.len() as u64).sum();
        Ok(self.newest().map(|depth| SavedLayer { depth, n_key_bytes }))
    }

    fn read_keys(&self, show: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        // In pieces that are no multiple of a key.
        self.segments().iter().for_each(|(_, _, segment)| segment.keys.chunks(13).for_each(&mut *show));
        Ok(())
    }

    fn read_frontier(&self, show: &mut ShowBlock<'_>) -> Result<(), String> {
        let newest = self.newest();
        for (depth, process, segment) in self.segments() {
            if Some(depth) == newest {
                segment.frontier.iter().try_for_each(|block| show(process, block))?;
            }
        }
        Ok(())
    }

    fn add_keys(&self, keys: &[u8]) -> Result<(), String> {
        self.pending.lock().unwrap().extend_from_slice(keys);
        Ok(())
    }

    fn is_due(&self) -> bool {
        true
    }

    fn commit(&self, depth: u64, frontier: &mut WriteFrontier<'_>) -> Result<(), String> {
        let keys = std::mem::take(&mut *self.pending.lock().unwrap());
        let mut blocks = Vec::new();
        frontier(&mut |block| {
            blocks.push(block.to_vec());
            Ok(())
        })?;
        let mut layers = self.folder.layers.lock().unwrap();
        let process = *self.process.lock().unwrap();
        layers.entry(depth).or_default().insert(process, Segment { keys, frontier: blocks });
        Ok(())
    }
}

#[test]
fn a_search_goes_on_from_every_layer_with_the_same_result() {
    for text in PROGRAMS {
        for (reductions, store) in
            [(Reductions::NONE, StoreKind::Wide), (Reductions::ALL, StoreKind::Fingerprint)]
        {
            // Searches that learn more about data begin again, which is a checkpoint of its own.
            let reductions = Reductions { data_independence: false, ..reductions };
            let options = ProveOptions { reductions, store, ..ProveOptions::default() };
            let expected = essence(&alone(text, &options));
            let folder = Arc::new(Folder::default());
            let checkpoint = Some(Checkpoints(Arc::new(InFolder::new(&folder, 0))));
            let kept = alone(text, &ProveOptions { checkpoint, ..options.clone() });
            assert_eq!(essence(&kept), expected);
            let n_layers = folder.layers.lock().unwrap().len() as u64;
            assert!(n_layers > 2);
            let kept = folder.layers.lock().unwrap().clone();
            for until in 1..=n_layers {
                for n_threads in [1, 2] {
                    let checkpoint = Some(Checkpoints(Arc::new(InFolder::new(&folder, until))));
                    let options = ProveOptions { checkpoint, n_threads, ..options.clone() };
                    assert_eq!(essence(&alone(text, &options)), expected, "from layer {until}");
                    *folder.layers.lock().unwrap() = kept.clone();
                }
            }
        }
    }
}

#[test]
fn another_search_does_not_go_on() {
    let folder = Arc::new(Folder::default());
    let checkpoint = || Some(Checkpoints(Arc::new(InFolder::new(&folder, u64::MAX))));
    let options = ProveOptions { checkpoint: checkpoint(), ..ProveOptions::default() };
    alone(RING, &options);
    let other = ProveOptions { store: StoreKind::Wide, checkpoint: checkpoint(), ..options };
    let Verdict::Unknown(StopReason::Undecided { why }) = alone(RING, &other).verdict else { panic!() };
    assert_eq!(why, "another search");
}

/// What must not depend on who tests.
fn essence_of_test(report: &Report) -> String {
    let findings = report.findings.iter().map(|finding| {
        let found = &finding.counterexample;
        format!("{} {} {:?} {:?}", finding.index, finding.n_schedules, found.violation.kind, found.schedule)
    });
    let verdict = match &report.verdict {
        Verdict::Violated(found) => format!("{:?}", found.violation),
        other => format!("{other:?}"),
    };
    format!("{verdict} {:?} {:?} {:?}", findings.collect::<Vec<_>>(), report.statistics, report.coverage)
}

/// A violation that one schedule in fifty or so has, in two places.
const RARE: &str = "
event eOne: int; event eDone;
machine Main {
  var n: int; var last: int;
  start state Init { entry { var i: int; while (i < 6) { new Sender((sink = this, n = i)); i = i + 1; } }
    on eOne do (i: int) {
      assert i != 0 || n < 5, \"the first is last\";
      assert !(last == 5 && i == 4 && n == 3), \"backwards\";
      last = i; n = n + 1; } }
}
machine Sender { start state S { entry (a: (sink: machine, n: int)) { send a.sink, eOne, a.n; } } }
test t [main = Main]: { Main, Sender };
";

#[test]
fn processes_report_the_violation_that_one_reports() {
    for (text, n_schedules) in [(RARE, 2_000), (BROKEN, 300), (RING, 200), (RARE, 5)] {
        for explore in [false, true] {
            let options = CheckOptions {
                n_schedules: Some(n_schedules),
                explore,
                seed: 3,
                n_threads: 2,
                ..CheckOptions::default()
            };
            let exe = Arc::new(Executable::new(&loaded(text).program, 0));
            let alone = allways_explore::check(&exe, &options, &Quiet, &Never).unwrap();
            for n in [1, 2, 4] {
                let reports = each_of(text, n, |exe, peers| {
                    let options = CheckOptions { peers: Some(peers), ..options.clone() };
                    allways_explore::check(exe, &options, &Quiet, &Never).unwrap()
                });
                assert_eq!(essence_of_test(&reports[0]), essence_of_test(&alone), "{n} processes");
                let is_helper = |report: &Report| matches!(report.verdict, Verdict::Unknown(_));
                assert!(reports[1..].iter().all(is_helper));
            }
        }
    }
}

/// Stops after so many questions.
struct After(AtomicU64);

impl Cancel for After {
    fn reason(&self) -> Option<StopReason> {
        let left =
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(1)));
        (left == Ok(0)).then_some(StopReason::Interrupted)
    }
}

#[test]
fn a_process_that_is_stopped_stops_all_that_test() {
    for stopped in [0, 1] {
        let options = CheckOptions { n_schedules: None, ..CheckOptions::default() };
        let reports = each_of(RING, 3, |exe, peers| {
            let cancel = After(AtomicU64::new(if peers.0.number() == stopped { 2_000 } else { u64::MAX }));
            let options = CheckOptions { peers: Some(peers), ..options.clone() };
            allways_explore::check(exe, &options, &Quiet, &cancel).unwrap()
        });
        assert!(reports.iter().all(|report| report.stopped.is_some()));
        assert!(reports[0].statistics.n_schedules > 0);
    }
}

/// With some thousand configurations.
fn larger_ring() -> String {
    RING.replace("eToken, 4", "eToken, 14").replace("eToken, 3;", "eToken, 12;")
}

/// Files in memory.
struct InMemory(AtomicU64);

impl Scratch for InMemory {
    fn file(&self) -> std::io::Result<Box<dyn ScratchFile>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(std::io::Cursor::new(Vec::new())))
    }
}

#[test]
fn what_is_on_disk_is_found_again() {
    let larger = larger_ring();
    for text in [larger.as_str(), RING, CHOICES] {
        for reductions in [Reductions::NONE, Reductions::ALL] {
            for (store, n_threads) in
                [(StoreKind::Fingerprint, 1), (StoreKind::Fingerprint, 2), (StoreKind::Wide, 1)]
            {
                let options = ProveOptions { reductions, store, n_threads, ..ProveOptions::default() };
                let expected = essence(&alone(text, &options));
                for part in [1, 1_000, 5_000] {
                    let scratch = Arc::new(InMemory(AtomicU64::new(0)));
                    let spill = Some(Spill { scratch: scratch.clone(), part: Some(part) });
                    let report = alone(text, &ProveOptions { spill, ..options.clone() });
                    assert_eq!(essence(&report), expected, "{part}");
                    if part == 1 && reductions == Reductions::NONE && text == larger {
                        assert!(scratch.0.load(Ordering::Relaxed) > 20);
                    }
                }
            }
        }
    }
}

#[test]
fn a_disk_that_is_full_stops_the_search() {
    struct Full;
    impl Scratch for Full {
        fn file(&self) -> std::io::Result<Box<dyn ScratchFile>> {
            Err(std::io::Error::other("no room"))
        }
    }
    let spill = Some(Spill { scratch: Arc::new(Full), part: Some(1) });
    let options = ProveOptions { reductions: Reductions::NONE, spill, ..ProveOptions::default() };
    let report = alone(&larger_ring(), &options);
    let Verdict::Unknown(StopReason::Undecided { why }) = report.verdict else { panic!() };
    assert_eq!(why, "--spill: no room");
}

/// `cargo xtask cluster compare` takes more, and real processes.
#[test]
fn random_programs_have_one_answer() {
    let (mut n_compared, mut n_violated) = (0, 0);
    for seed in 0..40 {
        let text = program_of(seed, Over { model: NetworkModel::Inbox, faults: false, only: None });
        for reductions in [Reductions::NONE, Reductions::ALL] {
            let options = ProveOptions { reductions, ..ProveOptions::default() };
            let depth = SearchBounds { depth: Some(60), ..SearchBounds::default() };
            let report = alone(&text, &ProveOptions { bounds: depth, ..options.clone() });
            if report.statistics.n_configurations > 1_500 || report.statistics.depth >= 60 {
                continue;
            }
            let report = alone(&text, &options);
            let expected = essence(&report);
            n_compared += 1;
            n_violated += usize::from(matches!(report.verdict, Verdict::Violated(_)));
            for n in [2, 4] {
                assert_eq!(
                    essence(&by_processes(&text, &options, n)[0]),
                    expected,
                    "seed {seed}, {n} processes"
                );
            }
            let spill = Some(Spill { scratch: Arc::new(InMemory(AtomicU64::new(0))), part: Some(1) });
            assert_eq!(
                essence(&alone(&text, &ProveOptions { spill, ..options.clone() })),
                expected,
                "seed {seed}"
            );
            let options = ProveOptions { shares_counterexample: true, ..options };
            let found = by_processes(&text, &options, 3).remove(0);
            match (&found.verdict, &report.verdict) {
                (Verdict::Violated(a), Verdict::Violated(b)) if reductions == Reductions::NONE => {
                    assert_eq!(a.schedule.n_steps(), b.schedule.n_steps(), "seed {seed}");
                }
                (Verdict::Violated(_), Verdict::Violated(_)) => {}
                _ => assert_eq!(essence(&found), expected, "seed {seed}"),
            }
        }
    }
    // A comparison of nothing would hold, too.
    assert!(n_compared > 20 && n_violated > 5, "{n_compared} {n_violated}");
}
