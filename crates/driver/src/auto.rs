//! Choosing and racing engines.
//!
//! First a little testing: most broken programs break within a few hundred schedules, and that answer depends on the seed
//! alone. What survives goes to all engines at once: explicit search, almost-synchronous search, and testing goes on. The
//! first full answer stops the others. A full answer is a violation, which each engine has replayed, or a proof of every
//! property. The almost-synchronous engine says nothing about deadlock and liveness; where the program has neither
//! `receive` nor a hot state there is nothing to say about them, and its proof is full. Otherwise it is kept for the case that explicit search
//! comes to no end.
//!
//! Which engine answers first may depend on the machine and its load, and with it which of several counterexamples is
//! shown. The verdict does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use allways_explore::search::almost_sync::{self, AlmostSyncOptions, Flood};
use allways_explore::search::{self, ProveOptions, ProveReport, ProveStatistics};
use allways_explore::{Cancel, CheckOptions, InternalError, LivenessOptions, TemperatureRule};
use allways_machine::Executable;
use allways_p::hir::Temperature;
use allways_run::{Guarantee, Observer, Progress, StopReason, Verdict};

/// Schedules that are run before the race, and their length, so that endless programs are not run for long.
const FIRST_SCHEDULES: u64 = 500;
const FIRST_STEPS: u64 = 2_000;
/// Where a step is slow, as with values that grow and grow, they end early.
const FIRST_TIME: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    Testing,
    Explicit,
    AlmostSync,
}

impl Engine {
    /// As users name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Engine::Testing => "testing",
            Engine::Explicit => "explicit",
            Engine::AlmostSync => "asi",
        }
    }
}

#[derive(Clone, Debug)]
pub struct AutoOptions {
    pub explicit: ProveOptions,
    /// `None` where its semantics is not asked for, as under bounds and weaker networks.
    pub almost_sync: Option<AlmostSyncOptions>,
    pub seed: u64,
}

/// What the race came to.
#[derive(Clone, Debug)]
pub struct Answer {
    pub engine: Engine,
    pub report: ProveReport,
    pub flood: Option<Flood>,
    /// Of testing.
    pub n_schedules: u64,
}

/// Runs the engines until one of them has a full answer.
///
/// # Errors
/// When an engine found a violation that does not replay: a fault of Allways.
pub fn prove(
    exe: &Arc<Executable>,
    options: &AutoOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<Answer, InternalError> {
    let n_threads = options.explicit.n_threads.max(1);
    let start = Instant::now();
    let briefly = || {
        let is_late = start.elapsed() >= FIRST_TIME;
        cancel.reason().or_else(|| is_late.then_some(StopReason::Time(FIRST_TIME)))
    };
    let first_options = testing_options(options, Some(FIRST_SCHEDULES), n_threads);
    let first = test(exe, &first_options, &allways_run::Quiet, &briefly)?;
    if matches!(first.report.verdict, Verdict::Violated(_)) {
        return Ok(first);
    }
    let is_over = AtomicBool::new(false);
    let stop =
        || cancel.reason().or_else(|| is_over.load(Ordering::Relaxed).then_some(StopReason::Interrupted));
    let mut runners: Vec<Runner<'_>> = Vec::new();
    // Testing takes one thread, so the search takes the others.
    let explicit = ProveOptions {
        n_threads: (n_threads - 1).max(1),
        limits: limits(options, 3),
        ..options.explicit.clone()
    };
    runners.push(Box::new(|| {
        let report = search::prove(exe, &explicit, observer, &stop)?;
        Ok(Answer { engine: Engine::Explicit, report, flood: None, n_schedules: 0 })
    }));
    if let Some(almost_sync) = &options.almost_sync {
        let almost_sync = AlmostSyncOptions { limits: limits(options, 1), ..almost_sync.clone() };
        let stop = &stop;
        runners.push(Box::new(move || {
            let found = almost_sync::prove(exe, &almost_sync, &Aside(observer), stop)?;
            let (report, flood) = (found.report, found.flood);
            Ok(Answer { engine: Engine::AlmostSync, report, flood, n_schedules: 0 })
        }));
    }
    let mut n_searches = runners.len();
    runners.push(Box::new(|| test(exe, &testing_options(options, None, 1), &Aside(observer), &stop)));
    let (answers, incoming) = mpsc::channel();
    std::thread::scope(|scope| {
        let n_running = runners.len();
        for run in runners {
            let answers = answers.clone();
            scope.spawn(move || {
                // The receiver lives until all have answered.
                let _ = answers.send(run());
            });
        }
        let mut best: Option<Answer> = None;
        for _ in 0..n_running {
            let Ok(answer) = incoming.recv() else { break };
            let answer = match answer {
                Ok(answer) => answer,
                Err(error) => {
                    is_over.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            };
            if answer.engine != Engine::Testing {
                n_searches -= 1;
            }
            // What came in after the end was cut short by it.
            if !is_over.load(Ordering::Relaxed) || matches!(answer.report.verdict, Verdict::Violated(_)) {
                if is_full(exe, &answer) || n_searches == 0 {
                    is_over.store(true, Ordering::Relaxed);
                }
                if best.as_ref().is_none_or(|best| rank(exe, &answer) > rank(exe, best)) {
                    best = Some(answer);
                }
            }
        }
        Ok(of_whole_memory(best.unwrap_or(first), options))
    })
}

type Runner<'a> = Box<dyn FnOnce() -> Result<Answer, InternalError> + Send + 'a>;

/// How much an answer is worth; of equals, the first to come.
fn rank(exe: &Executable, answer: &Answer) -> u32 {
    match (&answer.report.verdict, answer.engine) {
        _ if is_full(exe, answer) => 4,
        (Verdict::Holds(_), Engine::AlmostSync) => 3,
        (Verdict::Holds(_), Engine::Explicit) => 2,
        (Verdict::Unknown(_), Engine::Explicit) => 1,
        _ => 0,
    }
}

fn is_full(exe: &Executable, answer: &Answer) -> bool {
    match (&answer.report.verdict, answer.engine) {
        (Verdict::Violated(_), _) => true,
        (Verdict::Unknown(_), _) | (Verdict::Holds(_), Engine::Testing) => false,
        (Verdict::Holds(Guarantee::UpTo(_)), _) => false,
        (Verdict::Holds(_), Engine::Explicit) => true,
        (Verdict::Holds(_), Engine::AlmostSync) => cannot_hang(exe),
    }
}

/// Whether there is nothing to say about deadlock and liveness.
pub fn cannot_hang(exe: &Executable) -> bool {
    exe.receives.is_empty() && !has_hot_state(exe)
}

/// Whether some monitor that is attached has a hot state.
pub fn has_hot_state(exe: &Executable) -> bool {
    let is_monitor = |machine| exe.monitors.iter().any(|monitor| monitor.machine == machine);
    exe.states.iter().any(|state| state.temperature == Temperature::Hot && is_monitor(state.machine))
}

/// A share of the memory, in quarters.
fn limits(options: &AutoOptions, quarters: u64) -> allways_run::Limits {
    let mut limits = options.explicit.limits;
    limits.memory_bytes = limits.memory_bytes.map(|bytes| bytes / 4 * quarters);
    limits
}

/// Whoever used up its share has used up what there was for it: the limit that was set is told, not the share.
fn of_whole_memory(mut answer: Answer, options: &AutoOptions) -> Answer {
    let whole = options.explicit.limits.memory_bytes;
    let report = &mut answer.report;
    for reason in [report.stopped.as_mut(), unknown_reason(&mut report.verdict)].into_iter().flatten() {
        if let (StopReason::Memory { bytes }, Some(whole)) = (reason, whole) {
            *bytes = whole;
        }
    }
    answer
}

fn unknown_reason(verdict: &mut Verdict) -> Option<&mut StopReason> {
    match verdict {
        Verdict::Unknown(reason) => Some(reason),
        Verdict::Holds(_) | Verdict::Violated(_) => None,
    }
}

fn testing_options(options: &AutoOptions, n_schedules: Option<u64>, n_threads: usize) -> CheckOptions {
    let is_first = n_schedules.is_some();
    let whole = CheckOptions::default();
    CheckOptions {
        seed: options.seed,
        n_schedules,
        n_threads,
        fair_steps: if is_first { Some(FIRST_STEPS) } else { whole.fair_steps },
        unfair_steps: if is_first { Some(FIRST_STEPS) } else { whole.unfair_steps },
        // What is only potentially broken is no answer here.
        liveness: LivenessOptions {
            temperature: TemperatureRule::Off,
            fairness: options.explicit.fairness.unwrap_or_default(),
            ..LivenessOptions::default()
        },
        limits: allways_run::Limits { memory_bytes: None, ..options.explicit.limits },
        ..whole
    }
}

fn test(
    exe: &Arc<Executable>,
    options: &CheckOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<Answer, InternalError> {
    let found = allways_explore::check(exe, options, observer, cancel)?;
    let statistics =
        ProveStatistics { n_transitions: found.statistics.n_steps, ..ProveStatistics::default() };
    let report = ProveReport {
        verdict: found.verdict,
        statistics,
        coverage: found.coverage,
        dead_handlers: None,
        stopped: found.stopped,
        remarks: search::Remarks::default(),
    };
    Ok(Answer { engine: Engine::Testing, report, flood: None, n_schedules: found.statistics.n_schedules })
}

/// Progress is that of the explicit search; the others only ask whether to stop.
struct Aside<'a>(&'a dyn Observer);

impl Observer for Aside<'_> {
    fn progress(&self, _: &Progress) {}

    fn should_stop(&self) -> bool {
        self.0.should_stop()
    }
}
