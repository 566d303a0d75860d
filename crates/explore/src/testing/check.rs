//! The testing engine: schedule after schedule, on all cores.
//!
//! What schedule number i does depends on the seed, the options and i alone. Threads take blocks of consecutive
//! numbers; a violation in schedule i cancels only larger numbers, and blocks are merged in order, so the answer,
//! the figures and the coverage are those of a single thread, unless the search is stopped early.
//!
//! The length of schedules, which some strategies want to know, is learnt from the first [`N_CALIBRATION`] schedules;
//! these are run one after the other before any other. Several processes are in [`together`](super::together).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use allways_machine::{Executable, Kernel};
use allways_run::{
    Bound, Cancel, Guarantee, LastCall, Observer, Progress, Quiet, Schedule, StopReason, Verdict,
};

use super::crash::Crashes;
use super::finish::{self, RawFinding};
use super::options::CheckOptions;
use super::report::{Report, Statistics};
use super::rng;
use super::run::{Ended, Rules, run};
use super::scenarios::{self, ScenarioCoverage};
use super::strategy::{Plan, ScheduleFairness, Strategy, StrategyKind};
use super::together::Link;
use super::watch::Watch;
use crate::coverage::Coverage;
use crate::error::InternalError;
use crate::liveness;
use crate::liveness::Fairness;
use crate::liveness::heat::Heat;

/// Schedules from which the length of the rest is learnt.
const N_CALIBRATION: u64 = 8;
/// What is thought of the length before anything is known.
const FIRST_LENGTH: u64 = 64;
/// Schedules that a thread takes at a time.
const BLOCK: u64 = 32;
/// Places of violations that are distinguished when exploration continues after the first.
const MAX_FINDINGS: usize = 64;
/// The first so many schedules, and one in the square of it later, search for certain liveness violations without
/// regard to price when the step bound cuts them.
const N_THOROUGH: u64 = 16;
/// Steps between two reports of progress.
const PROGRESS_STEPS: u64 = 1 << 16;

/// Tests one executable.
pub fn check(
    exe: &Arc<Executable>,
    options: &CheckOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<Report, InternalError> {
    let mut shared = Shared::new(exe, options, observer, cancel);
    shared.link = options.peers.as_ref().map(|peers| Link::new(&*peers.0));
    shared.run();
    shared.report()
}

pub(super) struct Shared<'a> {
    exe: &'a Arc<Executable>,
    pub(super) options: &'a CheckOptions,
    observer: &'a dyn Observer,
    /// To other processes, if there are some.
    link: Option<Link<'a>>,
    cancel: &'a dyn Cancel,
    /// The first schedule that no thread has taken.
    next: AtomicU64,
    /// Schedules that a thread takes at a time.
    block: AtomicU64,
    /// The smallest schedule known to be violated.
    pub(super) best: AtomicU64,
    is_stopped: AtomicBool,
    // For progress only.
    pub(super) n_schedules: AtomicU64,
    pub(super) n_steps: AtomicU64,
    pub(super) max_length: AtomicU64,
    /// What was learnt of the length of schedules.
    length: AtomicU64,
    merger: Mutex<Merger>,
}

impl<'a> Shared<'a> {
    fn new(
        exe: &'a Arc<Executable>,
        options: &'a CheckOptions,
        observer: &'a dyn Observer,
        cancel: &'a dyn Cancel,
    ) -> Self {
        Shared {
            exe,
            options,
            observer,
            link: None,
            cancel,
            next: AtomicU64::new(0),
            block: AtomicU64::new(1),
            best: AtomicU64::new(u64::MAX),
            is_stopped: AtomicBool::new(false),
            n_schedules: AtomicU64::new(0),
            n_steps: AtomicU64::new(0),
            max_length: AtomicU64::new(0),
            length: AtomicU64::new(FIRST_LENGTH),
            merger: Mutex::new(Merger::new(exe, options.explore)),
        }
    }

    fn merger(&self) -> MutexGuard<'_, Merger> {
        self.merger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let Some(link) = &self.link else {
            if let Some(mut worker) = self.begin() {
                self.go_on(&mut worker);
            }
            return;
        };
        if !link.is_first() {
            return self.help(link);
        }
        let worker = self.begin();
        let length = worker.as_ref().map(|worker| worker.length);
        std::thread::scope(|scope| {
            scope.spawn(|| self.lead(link, length));
            if let Some(mut worker) = worker {
                self.go_on(&mut worker);
            }
        });
    }

    /// What is done before there are several threads; who did it, if there is more to do.
    fn begin(&self) -> Option<Worker<'_>> {
        let options = self.options;
        if options.liveness.fairness == Fairness::Weak && self.weak_search() {
            return None;
        }
        let n_schedules = options.n_schedules.unwrap_or(u64::MAX);
        let mut worker = Worker::new(self);
        // An enumeration has one order.
        let n_alone = match options.strategy {
            StrategyKind::DepthFirst => n_schedules,
            _ => n_schedules.min(N_CALIBRATION),
        };
        self.next.store(n_alone, Ordering::Relaxed);
        self.set_block();
        let mut at = 0;
        while at < n_alone && !self.is_over(at) {
            let end = n_alone.min(at.saturating_add(BLOCK));
            if !worker.block(at, end) {
                return None;
            }
            at = end;
        }
        self.length.store(worker.length, Ordering::Relaxed);
        (n_alone < n_schedules).then_some(worker)
    }

    /// On all threads.
    fn go_on(&self, worker: &mut Worker<'_>) {
        let length = worker.length;
        let n_threads = self.options.n_threads.max(1);
        std::thread::scope(|scope| {
            for _ in 1..n_threads {
                scope.spawn(|| {
                    let mut worker = Worker::new(self);
                    worker.length = length;
                    worker.blocks();
                });
            }
            worker.blocks();
        });
    }

    /// Takes a block of schedules, if some are left.
    pub(super) fn next_block(&self) -> Option<(u64, u64)> {
        let n_schedules = self.options.n_schedules.unwrap_or(u64::MAX);
        let block = self.block.load(Ordering::Relaxed);
        let start = self.next.fetch_add(block, Ordering::Relaxed);
        let is_left = start < n_schedules && !self.is_over(start);
        is_left.then(|| (start, n_schedules.min(start.saturating_add(block))))
    }

    /// Schedules that are taken at a time: so many that threads hardly ever wait for each other, so few that all have enough to do.
    fn set_block(&self) {
        let n_processes = self.link.as_ref().map_or(1, Link::n_processes) as u64;
        let n_workers = self.options.n_threads.max(1) as u64 * n_processes;
        let n_schedules = self.options.n_schedules.unwrap_or(u64::MAX);
        self.block.store((n_schedules / (4 * n_workers)).clamp(1, BLOCK), Ordering::Relaxed);
    }

    /// Runs a schedule again that another process has found to be violated.
    fn again(&self, index: u64) -> Result<RawFinding, InternalError> {
        let last_call = LastCall(self.cancel);
        let options = CheckOptions { explore: false, peers: None, ..self.options.clone() };
        let shared = Shared::new(self.exe, &options, &Quiet, &last_call);
        let mut worker = Worker::new(&shared);
        worker.length = self.length.load(Ordering::Relaxed);
        let mut block = Block::default();
        worker.schedule(index, &mut block);
        match block.findings.pop() {
            Some(RawOrRemote::Raw(raw)) => Ok(*raw),
            Some(RawOrRemote::Remote { .. }) | None => Err(InternalError::OtherOutcome {
                expected: format!("a violation in schedule {index}, as another process says"),
                found: "none".to_owned(),
            }),
        }
    }

    /// Takes what came of a block, here or elsewhere.
    pub(super) fn merge(&self, mut block: Block) {
        match &self.link {
            Some(link) if !link.is_first() => {
                let mut merger = self.merger();
                for finding in &mut block.findings {
                    finding.give_place(&mut merger.places);
                }
                drop(merger);
                link.send_result(&block);
            }
            _ => self.merger().add(block, &|index| self.again(index)),
        }
    }

    pub(super) fn stop(&self, reason: StopReason) {
        self.merger().stopped.get_or_insert(reason);
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// The processes cannot go on together.
    pub(super) fn fail(&self, why: String) {
        let mut merger = self.merger();
        merger.is_failed = true;
        merger.stopped = Some(StopReason::Undecided { why });
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn stopped(&self) -> Option<StopReason> {
        self.merger().stopped.clone()
    }

    fn report(self) -> Result<Report, InternalError> {
        {
            let mut merger = self.merger();
            // A search that was stopped leaves holes; what lies behind them counts all the same. Where processes have failed, the first violation
            // may be in a hole.
            if !merger.is_failed {
                for (_, block) in std::mem::take(&mut merger.waiting) {
                    merger.merge(block, &|index| self.again(index));
                }
            }
        }
        let is_helper = self.link.as_ref().is_some_and(|link| !link.is_first());
        let Shared { exe, options, cancel, merger, .. } = self;
        let mut merger = merger.into_inner().unwrap_or_else(PoisonError::into_inner);
        if is_helper && !merger.is_failed && merger.stopped.is_none() {
            merger.stopped = Some(StopReason::Undecided { why: "process 0 has the report".to_owned() });
        }
        merger.report(exe, options, cancel)
    }

    /// Looks for fair loops in what is near the beginning. Says whether the search is over with that.
    fn weak_search(&self) -> bool {
        let options = self.options;
        let heat = Heat::new(self.exe);
        if !heat.has_liveness() || options.liveness.configurations == 0 {
            return false;
        }
        let mut kernel = Kernel::with_stop(self.exe.clone(), options.limits, self);
        let is_cancelled = || self.asks_to_stop();
        let search = liveness::weak::search(&mut kernel, &heat, options.liveness.allowance(), &is_cancelled);
        let mut merger = self.merger();
        merger.total.n_searches += 1;
        merger.total.n_open_searches += u64::from(search == liveness::Search::Open);
        let Some(found) = search.into_break(self.exe, Fairness::Weak) else { return false };
        let schedule = Schedule::default();
        merger.add_finding(RawFinding::new(0, StrategyKind::DepthFirst, &schedule, found));
        merger.total.n_violated += 1;
        !options.explore
    }

    /// Whether schedules from `index` on are of no interest any more.
    fn is_over(&self, index: u64) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
            || (!self.options.explore && index > self.best.load(Ordering::Relaxed))
    }

    pub(super) fn asks_to_stop(&self) -> bool {
        if self.is_stopped.load(Ordering::Relaxed) {
            return true;
        }
        let Some(reason) = self.cancel.reason() else { return false };
        self.stop(reason);
        true
    }

    pub(super) fn tell(&self) {
        self.observer.progress(&Progress {
            n_schedules: Some(self.n_schedules.load(Ordering::Relaxed)),
            n_steps: self.n_steps.load(Ordering::Relaxed),
            depth: self.max_length.load(Ordering::Relaxed),
            // A merger that is busy has news soon enough.
            n_covered: self.merger.try_lock().ok().map(|merger| merger.coverage.n_covered()),
            ..Progress::default()
        });
    }
}

/// What stops a search stops the handlers in it.
impl Cancel for Shared<'_> {
    fn reason(&self) -> Option<StopReason> {
        if !self.asks_to_stop() {
            return None;
        }
        self.stopped()
    }

    fn last_reason(&self) -> Option<StopReason> {
        self.cancel.last_reason()
    }
}

/// One thread with its kernel, its strategies, and what it has covered.
pub(super) struct Worker<'a> {
    shared: &'a Shared<'a>,
    kernel: Kernel<'a>,
    watch: Watch,
    crashes: Crashes,
    strategies: Vec<(StrategyKind, Box<dyn Strategy>, Rules)>,
    /// How long schedules are thought to be. Changes during calibration only.
    length: u64,
    n_steps_unreported: u64,
}

impl<'a> Worker<'a> {
    pub(super) fn new(shared: &'a Shared<'a>) -> Self {
        let mut kernel = Kernel::with_stop(shared.exe.clone(), shared.options.limits, shared);
        kernel.set_transient(true);
        Worker {
            shared,
            kernel,
            watch: Watch::new(shared.exe),
            crashes: Crashes::new(),
            strategies: Vec::new(),
            length: FIRST_LENGTH,
            n_steps_unreported: 0,
        }
    }

    /// Takes blocks for as long as there are some.
    fn blocks(&mut self) {
        while let Some((start, end)) = self.shared.next_block() {
            if !self.block(start, end) {
                return;
            }
        }
    }

    /// What schedules are thought to have, as another process has learnt.
    pub(super) fn set_length(&mut self, length: u64) {
        self.length = length.max(1);
    }

    /// Runs the schedules of a block and merges them. Says whether there may be more to do.
    pub(super) fn block(&mut self, start: u64, end: u64) -> bool {
        let mut block = Block { start, end, ..Block::default() };
        let mut goes_on = true;
        for index in start..end {
            if self.shared.is_over(index) || self.shared.asks_to_stop() {
                goes_on = false;
                break;
            }
            match self.schedule(index, &mut block) {
                Next::More => {}
                Next::NoMore => {
                    block.is_last = true;
                    goes_on = false;
                    break;
                }
                Next::Stop => {
                    goes_on = false;
                    break;
                }
            }
        }
        block.fresh = self.watch.coverage.take_fresh();
        block.scenarios = self.watch.scenarios.as_mut().map(|it| it.take()).unwrap_or_default();
        self.shared.merge(block);
        goes_on
    }

    fn schedule(&mut self, index: u64, block: &mut Block) -> Next {
        let shared = self.shared;
        let options = shared.options;
        let kind = options.strategy.of_schedule(index);
        let at = self.strategies.iter().position(|(known, _, _)| *known == kind).unwrap_or_else(|| {
            self.strategies.push((kind, kind.make(), Rules::new(options, kind)));
            self.strategies.len() - 1
        });
        let (_, strategy, rules) = &mut self.strategies[at];
        let n_unfair = options.unfair_prefix(self.length);
        rules.fair_from = match kind.fairness() {
            ScheduleFairness::Always => 0,
            ScheduleFairness::Suffix => n_unfair,
            ScheduleFairness::Never => u64::MAX,
        };
        let plan = Plan {
            seed: rng::derive(options.seed, index),
            length: self.length.min(rules.step_bound).max(1),
            n_unfair,
        };
        if !strategy.begin(&plan) {
            return Next::NoMore;
        }
        self.crashes.begin(&plan);
        rules.is_thorough = index < N_THOROUGH || index.is_multiple_of(N_THOROUGH * N_THOROUGH);
        self.kernel.reset();
        let mut statistics = Statistics::default();
        let mut n_reported = 0;
        let unreported = &mut self.n_steps_unreported;
        let mut poll = |n_steps: u64| {
            if n_steps > n_reported {
                *unreported += n_steps - n_reported;
                n_reported = n_steps;
                if *unreported >= PROGRESS_STEPS {
                    shared.n_steps.fetch_add(std::mem::take(unreported), Ordering::Relaxed);
                    shared.tell();
                }
            }
            shared.is_over(index) || shared.asks_to_stop()
        };
        let ended = run(
            &mut self.kernel,
            strategy.as_mut(),
            &mut self.crashes,
            &mut self.watch,
            rules,
            &mut statistics,
            &mut poll,
        );
        self.n_steps_unreported += self.kernel.n_steps() - n_reported;
        if let Ended::Cancelled = ended {
            return Next::Stop;
        }
        if let Some(scenarios) = &mut self.watch.scenarios {
            scenarios.end();
        }
        let length = self.kernel.schedule().len() as u64;
        shared.n_schedules.fetch_add(1, Ordering::Relaxed);
        shared.max_length.fetch_max(length, Ordering::Relaxed);
        if self.n_steps_unreported >= PROGRESS_STEPS {
            shared.n_steps.fetch_add(std::mem::take(&mut self.n_steps_unreported), Ordering::Relaxed);
            shared.tell();
        }
        if index < N_CALIBRATION {
            self.length = if index == 0 { length.max(1) } else { self.length.max(length) };
        }
        statistics.n_schedules = 1;
        statistics.n_steps = self.kernel.n_steps();
        statistics.n_choices = length;
        statistics.min_length = length;
        statistics.max_length = length;
        let mut next = Next::More;
        match ended {
            Ended::Quiescent | Ended::Cancelled => {}
            Ended::Bounded => statistics.n_bounded = 1,
            Ended::Unknown(reason) => {
                statistics.n_unknown = 1;
                block.unknown.get_or_insert(reason);
            }
            Ended::Violated(found) => {
                statistics.n_violated = 1;
                let raw = RawFinding::new(index, kind, self.kernel.schedule(), found);
                block.findings.push(RawOrRemote::Raw(Box::new(raw)));
                if !options.explore {
                    shared.best.fetch_min(index, Ordering::Relaxed);
                    next = Next::Stop;
                }
            }
        }
        block.statistics.add(&statistics);
        next
    }
}

enum Next {
    More,
    /// The strategy has nothing left to try.
    NoMore,
    /// Cancelled, or a violation was found.
    Stop,
}

/// The outcome of consecutive schedules.
#[derive(Default)]
pub(super) struct Block {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) statistics: Statistics,
    /// What the thread covered here for the first time. Since a thread takes blocks in order, whatever it covered before
    /// is merged before.
    pub(super) fresh: Vec<u32>,
    pub(super) scenarios: Vec<ScenarioCoverage>,
    pub(super) findings: Vec<RawOrRemote>,
    pub(super) unknown: Option<StopReason>,
    /// The enumeration ended here.
    pub(super) is_last: bool,
}

/// A violation that was found here, or by another process.
pub(super) enum RawOrRemote {
    Raw(Box<RawFinding>),
    /// By another process: the schedule, and by process and number where it breaks.
    Remote {
        index: u64,
        place: (usize, u64),
    },
}

impl RawOrRemote {
    pub(super) fn index_and_place(&self) -> (u64, u64) {
        match self {
            RawOrRemote::Raw(raw) => (raw.index, 0),
            RawOrRemote::Remote { index, place } => (*index, place.1),
        }
    }

    /// Says the place by a number, which is that of the list.
    fn give_place(&mut self, places: &mut Vec<RawFinding>) {
        if let RawOrRemote::Raw(raw) = self {
            let known = places.iter().position(|known| known.is_same(raw));
            let number = known.unwrap_or_else(|| {
                places.push((**raw).clone());
                places.len() - 1
            });
            *self = RawOrRemote::Remote { index: raw.index, place: (0, number as u64) };
        }
    }
}

/// Puts blocks together in order.
struct Merger {
    goes_on: bool,
    next: u64,
    waiting: BTreeMap<u64, Block>,
    total: Statistics,
    coverage: Coverage,
    scenarios: Vec<ScenarioCoverage>,
    findings: Vec<RawFinding>,
    /// Where violations are of which other processes know: which of the findings, unless there are too many of these.
    remote: BTreeMap<(usize, u64), Option<usize>>,
    /// Of a process that is not the first: places of violations, in the order in which they were found.
    places: Vec<RawFinding>,
    unknown: Option<StopReason>,
    is_exhausted: bool,
    is_complete: bool,
    stopped: Option<StopReason>,
    /// Processes cannot go on together.
    is_failed: bool,
    /// A violation that another process has found is none here.
    error: Option<InternalError>,
}

/// Runs a schedule of another process again.
type Again<'a> = dyn Fn(u64) -> Result<RawFinding, InternalError> + 'a;

impl Merger {
    fn new(exe: &Executable, goes_on: bool) -> Self {
        Merger {
            goes_on,
            next: 0,
            waiting: BTreeMap::new(),
            total: Statistics::default(),
            coverage: Coverage::new(exe),
            scenarios: scenarios::none_covered(exe),
            findings: Vec::new(),
            remote: BTreeMap::new(),
            places: Vec::new(),
            unknown: None,
            is_exhausted: false,
            is_complete: false,
            stopped: None,
            is_failed: false,
            error: None,
        }
    }

    fn add(&mut self, block: Block, again: &Again<'_>) {
        if self.is_complete {
            return;
        }
        self.waiting.insert(block.start, block);
        while let Some(block) = self.waiting.remove(&self.next) {
            self.next = block.end;
            self.merge(block, again);
        }
    }

    fn merge(&mut self, block: Block, again: &Again<'_>) {
        if self.is_complete {
            return;
        }
        self.total.add(&block.statistics);
        self.coverage.merge(&block.fresh);
        scenarios::merge(&mut self.scenarios, block.scenarios);
        if self.unknown.is_none() {
            self.unknown = block.unknown;
        }
        self.is_exhausted |= block.is_last;
        for finding in block.findings {
            self.is_complete |= !self.goes_on;
            match finding {
                RawOrRemote::Raw(raw) => {
                    self.add_finding(*raw);
                }
                RawOrRemote::Remote { index, place } => match self.remote.get(&place) {
                    Some(&Some(at)) => self.findings[at].n_schedules += 1,
                    Some(None) => {}
                    None => match again(index) {
                        Ok(raw) => {
                            let at = self.add_finding(raw);
                            self.remote.insert(place, at);
                        }
                        Err(error) => self.error = Some(error),
                    },
                },
            }
        }
    }

    /// Says which of the findings it is, unless there are too many.
    fn add_finding(&mut self, finding: RawFinding) -> Option<usize> {
        if let Some(at) = self.findings.iter().position(|known| known.is_same(&finding)) {
            self.findings[at].n_schedules += 1;
            return Some(at);
        }
        if self.findings.len() == MAX_FINDINGS {
            return None;
        }
        self.findings.push(finding);
        Some(self.findings.len() - 1)
    }

    fn report(
        self,
        exe: &Arc<Executable>,
        options: &CheckOptions,
        cancel: &dyn Cancel,
    ) -> Result<Report, InternalError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let mut findings = Vec::new();
        for raw in self.findings {
            findings.push(finish::finish(exe, options, raw, cancel)?);
        }
        let total = self.total;
        let verdict = match (findings.first(), self.unknown) {
            (Some(first), _) => Verdict::Violated(Box::new(first.counterexample.clone())),
            (None, Some(reason)) => Verdict::Unknown(reason),
            (None, None) => match &self.stopped {
                Some(reason @ (StopReason::Interrupted | StopReason::Undecided { .. })) => {
                    Verdict::Unknown(reason.clone())
                }
                Some(reason) if total.n_schedules == 0 => Verdict::Unknown(reason.clone()),
                _ => Verdict::Holds(guarantee(&total, self.is_exhausted, options)),
            },
        };
        Ok(Report {
            verdict,
            findings,
            statistics: total,
            coverage: self.coverage,
            scenarios: self.scenarios,
            stopped: self.stopped,
        })
    }
}

fn guarantee(total: &Statistics, is_exhausted: bool, options: &CheckOptions) -> Guarantee {
    match (is_exhausted, options.step_bound(options.strategy)) {
        (true, Some(bound)) if total.n_bounded > 0 => Guarantee::UpTo(vec![Bound::Steps(bound)]),
        (true, _) => Guarantee::Exhaustive,
        (false, _) => Guarantee::Sampled { n_schedules: total.n_schedules, n_steps: total.n_steps },
    }
}
