//! Searches in the background, one at a time, with their progress.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use allways_driver::engine::{self, Budget, Effort, Means, Question, Settings};
use allways_explore::CheckOptions;
use allways_explore::state_graph::{self, Goal, Reach};
use allways_explore::testing::rng::{Rng, derive};
use allways_machine::{Kernel, Outcome, Silent, replay_on};
use allways_report::text::count;
use allways_report::verdict;
use allways_run::{Cancel, Limits, Observer, Progress, Schedule, StopReason, Verdict};
use serde_json::{Value, json};

use crate::session::Session;

/// Schedules of a `check`.
const N_SCHEDULES: u64 = 100_000;
/// Walks from one place in search of a violation, and their steps.
const N_WALKS: u64 = 5_000;
const WALK_STEPS: u64 = 1_000;
/// Configurations among which a described one is searched for.
const N_REACHED: usize = 200_000;
/// Steps of a walk for its own sake.
const STROLL_STEPS: u64 = 20;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Test from the beginning.
    Check,
    /// Look at all runs.
    Prove,
    /// Random walks from here, until something breaks.
    FromHere,
    /// One random walk of a few steps.
    Walk,
    /// Whether a configuration that is described can be reached from here.
    Reach,
}

impl Kind {
    pub fn named(name: &str) -> Option<Kind> {
        let all = [Kind::Check, Kind::Prove, Kind::FromHere, Kind::Walk, Kind::Reach];
        all.into_iter().find(|kind| kind.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Check => "check",
            Kind::Prove => "prove",
            Kind::FromHere => "from-here",
            Kind::Walk => "walk",
            Kind::Reach => "reach",
        }
    }
}

/// A search that runs or has run.
pub struct Job {
    kind: Kind,
    /// What is to be reached.
    goal: Option<Goal>,
    start: Instant,
    should_stop: AtomicBool,
    progress: Mutex<String>,
    done: Mutex<Option<Done>>,
}

struct Done {
    text: String,
    /// Where it leads: a violation, or the end of a walk.
    path: Option<Vec<String>>,
    is_violation: bool,
    seconds: f64,
}

impl Job {
    pub fn new(kind: Kind, goal: Option<Goal>) -> Job {
        Job {
            kind,
            goal,
            start: Instant::now(),
            should_stop: AtomicBool::new(false),
            progress: Mutex::new(String::new()),
            done: Mutex::new(None),
        }
    }

    pub fn stop(&self) {
        self.should_stop.store(true, Ordering::Relaxed);
    }

    pub fn is_running(&self) -> bool {
        self.done.lock().is_ok_and(|done| done.is_none())
    }

    pub fn status(&self) -> Value {
        let (Ok(done), Ok(progress)) = (self.done.lock(), self.progress.lock()) else { return Value::Null };
        let seconds = done.as_ref().map_or_else(|| self.start.elapsed().as_secs_f64(), |done| done.seconds);
        json!({
            "kind": self.kind.name(),
            "isRunning": done.is_none(),
            "seconds": (seconds * 10.0).round() / 10.0,
            "text": done.as_ref().map_or(progress.as_str(), |done| &done.text),
            "path": done.as_ref().and_then(|done| done.path.as_ref()),
            "isViolation": done.as_ref().is_some_and(|done| done.is_violation),
        })
    }

    /// Works until there is an answer or the job is stopped.
    pub fn run(&self, session: &Session<'_>, from: &Schedule) {
        let (text, found, is_violation) = match self.kind {
            Kind::Check => self.check(session),
            Kind::Prove => self.prove(session),
            Kind::FromHere => self.walks(session, from),
            Kind::Walk => self.walk(session, from),
            Kind::Reach => self.reach(session, from),
        };
        let path = found.map(|schedule| session.lines(&schedule));
        let seconds = self.start.elapsed().as_secs_f64();
        if let Ok(mut done) = self.done.lock() {
            *done = Some(Done { text, path, is_violation, seconds });
        }
    }

    fn answer(verdict: &Verdict) -> (String, Option<Schedule>, bool) {
        let headline = verdict::headline(verdict, verdict::Scope::default());
        match verdict {
            Verdict::Violated(found) => (headline, Some(found.schedule.clone()), true),
            Verdict::Holds(_) | Verdict::Unknown(_) => (headline, None, false),
        }
    }

    fn check(&self, session: &Session<'_>) -> (String, Option<Schedule>, bool) {
        let options = CheckOptions {
            n_schedules: Some(N_SCHEDULES),
            n_threads: n_threads(),
            ..CheckOptions::default()
        };
        match allways_explore::check(&session.exe, &options, self, self) {
            Ok(report) => Self::answer(&report.verdict),
            Err(error) => (format!("internal error: {error}"), None, false),
        }
    }

    fn prove(&self, session: &Session<'_>) -> (String, Option<Schedule>, bool) {
        let question = Question::new(session.exe.clone());
        let budget = Budget { n_threads: n_threads(), memory_bytes: None, effort: Effort::Whole };
        let means = Means { budget, observer: self, cancel: self };
        match engine::answer(engine::AUTO, &question, &Settings::default(), means) {
            Ok(answer) => Self::answer(&answer.verdict),
            Err(error) => (format!("internal error: {error}"), None, false),
        }
    }

    fn walks(&self, session: &Session<'_>, from: &Schedule) -> (String, Option<Schedule>, bool) {
        for seed in 0..N_WALKS {
            if self.should_stop.load(Ordering::Relaxed) {
                return (format!("stopped after {seed} walks"), None, false);
            }
            if let Ok(mut progress) = self.progress.lock() {
                *progress = format!("{seed} walks");
            }
            match wander(session, from, seed, WALK_STEPS) {
                Err(problem) => return (problem, None, false),
                Ok((schedule, true)) => return ("violated".to_owned(), Some(schedule), true),
                Ok(_) => {}
            }
        }
        (format!("nothing broke in {N_WALKS} walks of at most {WALK_STEPS} steps"), None, false)
    }

    fn reach(&self, session: &Session<'_>, from: &Schedule) -> (String, Option<Schedule>, bool) {
        let Some(goal) = &self.goal else { return ("nothing is described".to_owned(), None, false) };
        let found = state_graph::reach(&session.exe, Limits::default(), from, goal, N_REACHED, self);
        match found {
            None => ("the path does not fit the program".to_owned(), None, false),
            Some((Reach::Reached(schedule), n)) => {
                (format!("reachable; {} explored", count(n as u64, "configuration")), Some(schedule), false)
            }
            Some((Reach::Unreachable, n)) => {
                let text =
                    format!("not reachable from here: all {} explored", count(n as u64, "configuration"));
                (text, None, false)
            }
            Some((Reach::Unknown(why), n)) => {
                let text =
                    format!("unknown: not found among {}, and {why}", count(n as u64, "configuration"));
                (text, None, false)
            }
        }
    }

    fn walk(&self, session: &Session<'_>, from: &Schedule) -> (String, Option<Schedule>, bool) {
        match wander(session, from, from.len() as u64, STROLL_STEPS) {
            Ok((schedule, is_violation)) => {
                let text = if is_violation { "violated" } else { "walked on" };
                (text.to_owned(), Some(schedule), is_violation)
            }
            Err(problem) => (problem, None, false),
        }
    }
}

fn n_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Goes on at random. Says whether that broke something.
fn wander(session: &Session<'_>, from: &Schedule, seed: u64, steps: u64) -> Result<(Schedule, bool), String> {
    let mut kernel = Kernel::new(session.exe.clone(), Limits::default());
    replay_on(&mut kernel, from, &mut Silent).map_err(|error| error.to_string())?;
    let mut rng = Rng::new(derive(0, seed));
    let mut below = |n: usize| rng.below(n.max(1) as u64) as usize;
    for _ in 0..steps {
        if !kernel.is_running() {
            break;
        }
        let n = kernel.n_enabled();
        let Some(choice) = kernel.nth_enabled(below(n)) else { break };
        let taken = kernel.take(
            choice,
            &mut |point: allways_machine::DataPoint| below(point.n_answers as usize) as u32,
            &mut Silent,
        );
        if taken.is_err() {
            break;
        }
    }
    let is_violation = matches!(kernel.outcome(), Outcome::Violated(_));
    Ok((kernel.schedule().clone(), is_violation))
}

impl Observer for Job {
    fn progress(&self, progress: &Progress) {
        // A thread that finds another one writing has nothing to add.
        let Ok(mut text) = self.progress.try_lock() else { return };
        let mut parts = Vec::new();
        parts.extend(progress.n_schedules.map(|n| format!("{n} schedules")));
        parts.extend(progress.n_configurations.map(|n| format!("{n} configurations")));
        parts.extend(progress.n_nodes.map(|n| format!("{n} diagram nodes")));
        parts.push(format!("depth {}", progress.depth));
        *text = parts.join(", ");
    }

    fn should_stop(&self) -> bool {
        self.should_stop.load(Ordering::Relaxed)
    }
}

impl Cancel for Job {
    fn reason(&self) -> Option<StopReason> {
        self.should_stop.load(Ordering::Relaxed).then_some(StopReason::Interrupted)
    }
}
