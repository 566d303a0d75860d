//! Several engines on one question at once. The first final answer stops the others.
//!
//! First a little testing, alone: most broken programs break within a few hundred schedules, and that answer depends on the
//! seed alone. Then the first search that accepts the question leads the race, with all threads. The others start
//! a moment later, so that small programs cost no more than the leading search alone, and work with one thread each and a share of the
//! time ([`shares`]): testing soon gets little, since what it finds it mostly finds early; a search gets more when
//! its frontier shrinks, because then it is about to end; and little if it leaves part of the question open, so that others have to answer anyway. Once the leader has seen every configuration and looks for
//! infinite runs, safety is settled, and engines that check nothing else stop.
//!
//! Which engine answers first may depend on the machine and its load, and with it which of several counterexamples is
//! shown. The verdict does not.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use allways_explore::{Cancel, InternalError};
use allways_run::{Guarantee, Observer, Progress, Quiet, StopReason, Verdict};

use super::pace::{Finish, Paced, WHOLE};
use super::{Answer, BestSoFar, Budget, Effort, Engine, Means, Question, run};

/// Before the others start.
const HEAD_START: Duration = Duration::from_millis(100);
/// Between two decisions about the share of each engine.
const TICK: Duration = Duration::from_millis(100);
/// In which testing works without pause.
const EARLY: Duration = Duration::from_secs(2);
/// Configurations below which a frontier that shrinks says nothing.
const MIN_FRONTIER: u64 = 1_000;

/// Runs the engines that accept a question until one of them has a final answer.
///
/// # Errors
/// When an engine found a violation that does not replay: a fault of Allways.
pub fn race(
    engines: &[Box<dyn Engine>],
    question: &Question,
    means: Means<'_>,
) -> Result<Answer, InternalError> {
    race_step_by_step(engines, question, means, &BestSoFar::default())
}

/// The same, which also shows the best answer so far.
///
/// # Errors
/// As there.
pub fn race_step_by_step(
    engines: &[Box<dyn Engine>],
    question: &Question,
    means: Means<'_>,
    so_far: &BestSoFar,
) -> Result<Answer, InternalError> {
    let budget = means.budget;
    let mut reasons = Vec::new();
    let mut accepting = Vec::new();
    for engine in engines {
        match engine.refuses(question) {
            None => accepting.push(&**engine),
            Some(reason) => reasons.push(reason),
        }
    }
    if accepting.is_empty() {
        let reason = StopReason::Unsupported { what: reasons.join("; ") };
        return Ok(Answer::new(super::AUTO, Verdict::Unknown(reason)));
    }
    let mut best = None;
    for engine in accepting.iter().filter(|engine| !engine.proves()) {
        let brief = Budget { effort: Effort::Brief, ..budget };
        let answer = run(*engine, question, Means { budget: brief, observer: &Quiet, ..means })?;
        if answer.is_final(question) {
            return Ok(answer);
        }
        best.get_or_insert(answer);
    }
    show(so_far, best.as_ref(), budget);
    let n_searches = accepting.iter().filter(|engine| engine.proves()).count();
    let leader = accepting.iter().position(|engine| engine.proves()).unwrap_or(0);
    let runners: Vec<Runner<'_>> = accepting
        .iter()
        .enumerate()
        .map(|(at, &engine)| {
            Runner::new(engine, of_budget(budget, at == leader, engine.proves(), n_searches))
        })
        .collect();
    let race = Race {
        question,
        means,
        so_far,
        runners,
        leader,
        shown: AtomicUsize::new(leader),
        finish: Finish::default(),
    };
    let found = race.run()?;
    Ok(of_whole_memory(found.or(best).unwrap_or_else(|| nothing(means.cancel)), budget))
}

/// If no engine came to anything, it was stopped before it began.
fn nothing(cancel: &dyn Cancel) -> Answer {
    Answer::new(super::AUTO, Verdict::Unknown(cancel.reason().unwrap_or(StopReason::Interrupted)))
}

fn show(so_far: &BestSoFar, answer: Option<&Answer>, budget: Budget) {
    let answer = answer.map(|answer| of_whole_memory(answer.clone(), budget));
    *so_far.lock().unwrap_or_else(PoisonError::into_inner) = answer;
}

/// What one engine of a race may use.
fn of_budget(budget: Budget, leads: bool, proves: bool, n_searches: usize) -> Budget {
    let n_threads = match (leads, budget.n_threads) {
        (false, _) => 1,
        // The others need one of many.
        (true, n) if n > 3 => n - 1,
        (true, n) => n.max(1),
    };
    let others = n_searches.saturating_sub(1) as u64;
    let memory_bytes = budget.memory_bytes.map(|bytes| match (leads, others) {
        _ if !proves => bytes / 8,
        (true, 0) => bytes,
        (true, 1) => bytes / 4 * 3,
        (true, _) => bytes / 2,
        (false, 1) => bytes / 4,
        (false, others) => bytes / 2 / others.max(1),
    });
    Budget { n_threads, memory_bytes, effort: Effort::Whole }
}

/// An engine that used up its share of the memory used up what there was: the limit that was set is reported, not the share.
fn of_whole_memory(mut answer: Answer, budget: Budget) -> Answer {
    let unknown = match &mut answer.verdict {
        Verdict::Unknown(reason) => Some(reason),
        Verdict::Holds(_) | Verdict::Violated(_) => None,
    };
    for reason in [answer.stopped.as_mut(), unknown].into_iter().flatten() {
        if let (StopReason::Memory { bytes }, Some(whole)) = (reason, budget.memory_bytes) {
            *bytes = whole;
        }
    }
    answer
}

struct Race<'a> {
    question: &'a Question,
    means: Means<'a>,
    so_far: &'a BestSoFar,
    runners: Vec<Runner<'a>>,
    leader: usize,
    /// Whose progress is shown.
    shown: AtomicUsize,
    finish: Finish,
}

/// An engine in a race.
struct Runner<'a> {
    engine: &'a dyn Engine,
    budget: Budget,
    share: AtomicU32,
    is_stopped: AtomicBool,
    state: AtomicU32,
    /// Configurations that wait, and the most that ever did.
    frontier: AtomicU64,
    most: AtomicU64,
    /// It has seen every configuration and looks for infinite runs.
    is_at_liveness: AtomicBool,
}

const WAITS: u32 = 0;
const RUNS: u32 = 1;
const ENDED: u32 = 2;

impl<'a> Runner<'a> {
    fn new(engine: &'a dyn Engine, budget: Budget) -> Self {
        Runner {
            engine,
            budget,
            share: AtomicU32::new(WHOLE),
            is_stopped: AtomicBool::new(false),
            state: AtomicU32::new(WAITS),
            frontier: AtomicU64::new(0),
            most: AtomicU64::new(0),
            is_at_liveness: AtomicBool::new(false),
        }
    }

    fn is(&self, state: u32) -> bool {
        self.state.load(Ordering::Relaxed) == state
    }

    fn standing(&self, question: &Question) -> Standing {
        let (frontier, most) = (self.frontier.load(Ordering::Relaxed), self.most.load(Ordering::Relaxed));
        Standing {
            proves: self.engine.proves(),
            is_partial: self.engine.proves() && !self.engine.leaves_unchecked(question).is_empty(),
            is_running: self.is(RUNS),
            is_closing: self.is_at_liveness.load(Ordering::Relaxed)
                || (most >= MIN_FRONTIER && frontier < most / 4 * 3),
        }
    }
}

/// How an engine stands, as far as shares depend on it.
#[derive(Clone, Copy, Debug)]
struct Standing {
    proves: bool,
    /// It leaves part of the question open.
    is_partial: bool,
    is_running: bool,
    /// Its frontier shrinks, so that it is about to end.
    is_closing: bool,
}

/// How much of the time each engine gets, of [`WHOLE`]. The leader works without pause; so does any engine when no
/// search is left beside it.
fn shares(standings: &[Standing], leader: usize, age: Duration) -> Vec<u32> {
    let share = |at: usize| {
        let rivals = || {
            standings
                .iter()
                .enumerate()
                .filter(|&(other, rival)| other != at && rival.is_running && rival.proves)
        };
        let one = standings[at];
        if at == leader || rivals().next().is_none() || (one.proves && one.is_closing && !one.is_partial) {
            return WHOLE;
        }
        let is_nearly_over = rivals().any(|(_, rival)| rival.is_closing && !rival.is_partial);
        match (one.proves, is_nearly_over) {
            (true, true) => WHOLE / 8,
            (true, false) if one.is_partial && age >= EARLY => WHOLE / 8,
            (true, false) => WHOLE / 2,
            (false, _) if age < EARLY => WHOLE / 2,
            (false, false) => WHOLE / 8,
            (false, true) => WHOLE / 16,
        }
    };
    (0..standings.len()).map(share).collect()
}

type Found = Result<Result<Answer, InternalError>, Box<dyn Any + Send>>;

impl<'a> Race<'a> {
    /// The best answer, if any engine had one.
    fn run(&self) -> Result<Option<Answer>, InternalError> {
        let start = Instant::now();
        let (answers, incoming) = mpsc::channel::<(usize, Found)>();
        std::thread::scope(|scope| {
            let begin = |at: usize| {
                let answers = answers.clone();
                self.runners[at].state.store(RUNS, Ordering::Relaxed);
                scope.spawn(move || {
                    let found = panic::catch_unwind(AssertUnwindSafe(|| self.run_one(at, start)));
                    // The receiver lives until all have answered.
                    let _ = answers.send((at, found));
                });
            };
            begin(self.leader);
            let mut best: Option<(Answer, usize)> = None;
            let mut failure: Option<InternalError> = None;
            let mut panicked = None;
            loop {
                let others_may_start = start.elapsed() >= HEAD_START || self.runners[self.leader].is(ENDED);
                if others_may_start && !self.finish.is_over() {
                    (0..self.runners.len()).filter(|&at| self.runners[at].is(WAITS)).for_each(begin);
                }
                self.set_shares(start.elapsed());
                if !self.runners.iter().any(|runner| runner.is(RUNS)) {
                    break;
                }
                let (at, found) = match incoming.recv_timeout(TICK) {
                    Ok(found) => found,
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                self.runners[at].state.store(ENDED, Ordering::Relaxed);
                match found {
                    Ok(Ok(answer)) => self.take(at, answer, &mut best),
                    Ok(Err(error)) => {
                        failure = Some(error);
                        self.finish.end();
                    }
                    Err(payload) => {
                        panicked = Some(payload);
                        self.finish.end();
                    }
                }
            }
            if let Some(payload) = panicked {
                panic::resume_unwind(payload);
            }
            match failure {
                Some(error) => Err(error),
                None => Ok(best.map(|(answer, _)| answer)),
            }
        })
    }

    fn run_one(&self, at: usize, start: Instant) -> Result<Answer, InternalError> {
        let runner = &self.runners[at];
        let cancel = Paced {
            cancel: self.means.cancel,
            finish: &self.finish,
            is_stopped: &runner.is_stopped,
            share: &runner.share,
            start,
        };
        let watch = Watch { race: self, at };
        let means = Means { budget: runner.budget, observer: &watch, cancel: &cancel };
        run(runner.engine, self.question, means)
    }

    /// Keeps an answer if it is the best so far, and ends the race if nothing better can come.
    fn take(&self, at: usize, answer: Answer, best: &mut Option<(Answer, usize)>) {
        let runs_on = |(_, runner): &(usize, &Runner<'_>)| runner.engine.proves() && !runner.is(ENDED);
        let next = self.runners.iter().enumerate().find(runs_on);
        if let Some((next, _)) = next {
            let _ = self.shown.compare_exchange(at, next, Ordering::Relaxed, Ordering::Relaxed);
        }
        // What came in after the end was cut short by it.
        let is_late = self.finish.is_over() || self.runners[at].is_stopped.load(Ordering::Relaxed);
        if is_late && !matches!(answer.verdict, Verdict::Violated(_)) {
            return;
        }
        if answer.is_final(self.question) || next.is_none() {
            self.finish.end();
        }
        let is_better = |(other, other_at): &(Answer, usize)| {
            let proves = |at: usize| self.runners[at].engine.proves();
            let rank = |answer, at| rank(self.question, answer, proves(at));
            let (rank, other_rank) = (rank(&answer, at), rank(other, *other_at));
            rank > other_rank || (rank == other_rank && at < *other_at && rank < FINAL)
        };
        if best.as_ref().is_none_or(is_better) {
            show(self.so_far, Some(&answer), self.means.budget);
            *best = Some((answer, at));
        }
    }

    fn set_shares(&self, age: Duration) {
        let standings: Vec<Standing> =
            self.runners.iter().map(|runner| runner.standing(self.question)).collect();
        let shares = shares(&standings, self.leader, age);
        let is_safe = self.runners[self.leader].is_at_liveness.load(Ordering::Relaxed);
        for (at, (runner, share)) in self.runners.iter().zip(shares).enumerate() {
            runner.share.store(share, Ordering::Relaxed);
            let is_useless = at != self.leader
                && is_safe
                && runner.engine.proves()
                && !runner.engine.leaves_unchecked(self.question).is_empty();
            if is_useless {
                runner.is_stopped.store(true, Ordering::Relaxed);
            }
        }
    }
}

const FINAL: u32 = 5;

/// How much an answer is worth; of equals, that of the engine that comes first in the list.
fn rank(question: &Question, answer: &Answer, proves: bool) -> u32 {
    match &answer.verdict {
        _ if answer.is_final(question) => FINAL,
        _ if !proves => 0,
        Verdict::Holds(Guarantee::Sampled { .. }) => 0,
        Verdict::Holds(Guarantee::UpTo(_)) => 2,
        Verdict::Holds(_) => 4,
        // A violation exists, though there is no run to show it.
        Verdict::Unknown(_) if answer.remarks.search.seen.is_some() => 3,
        Verdict::Unknown(_) | Verdict::Violated(_) => 1,
    }
}

/// Keeps in mind how far an engine is, and shows the progress of one of them.
struct Watch<'a> {
    race: &'a Race<'a>,
    at: usize,
}

impl Observer for Watch<'_> {
    fn progress(&self, progress: &Progress) {
        let runner = &self.race.runners[self.at];
        if let Some(frontier) = progress.frontier {
            runner.frontier.store(frontier, Ordering::Relaxed);
            runner.most.fetch_max(frontier, Ordering::Relaxed);
        }
        if progress.phase.is_some() {
            runner.is_at_liveness.store(true, Ordering::Relaxed);
        }
        if self.race.shown.load(Ordering::Relaxed) == self.at {
            self.race.means.observer.progress(progress);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: Standing =
        Standing { proves: true, is_partial: false, is_running: true, is_closing: false };
    const CLOSING: Standing = Standing { is_closing: true, ..SEARCH };
    const TEST: Standing = Standing { proves: false, ..SEARCH };
    const LATE: Duration = Duration::from_secs(60);

    #[test]
    fn testing_gets_less_with_time_and_near_the_end() {
        let early = shares(&[SEARCH, SEARCH, TEST], 0, Duration::ZERO);
        let late = shares(&[SEARCH, SEARCH, TEST], 0, LATE);
        let closing = shares(&[CLOSING, SEARCH, TEST], 0, LATE);
        assert_eq!((early[0], late[0], closing[0]), (WHOLE, WHOLE, WHOLE));
        assert!(early[2] > late[2] && late[2] > closing[2] && closing[2] > 0);
        assert!(closing[1] < late[1] && closing[1] > 0);
        assert_eq!(shares(&[SEARCH, CLOSING, TEST], 0, LATE)[1], WHOLE);
    }

    #[test]
    fn one_that_leaves_part_of_the_question_open_gets_little() {
        let partial = Standing { is_partial: true, ..SEARCH };
        let late = shares(&[SEARCH, partial, SEARCH], 0, LATE);
        assert!(late[1] < late[2] && late[1] > 0);
        assert_eq!(shares(&[SEARCH, partial, SEARCH], 0, Duration::ZERO)[1], late[2]);
        let ended = Standing { is_running: false, ..SEARCH };
        assert_eq!(shares(&[ended, partial, ended], 0, LATE)[1], WHOLE);
    }

    #[test]
    fn the_last_one_works_without_pause() {
        let ended = Standing { is_running: false, ..SEARCH };
        assert_eq!(shares(&[ended, ended, TEST], 0, LATE)[2], WHOLE);
        assert_eq!(shares(&[ended, SEARCH, TEST], 0, LATE)[1], WHOLE);
    }

    #[test]
    fn memory_is_shared_out() {
        let budget = Budget { n_threads: 8, memory_bytes: Some(800), effort: Effort::Brief };
        let lead = of_budget(budget, true, true, 2);
        let other = of_budget(budget, false, true, 2);
        assert_eq!((lead.n_threads, lead.memory_bytes, lead.effort), (7, Some(600), Effort::Whole));
        assert_eq!((other.n_threads, other.memory_bytes), (1, Some(200)));
        assert_eq!(of_budget(Budget { n_threads: 2, ..budget }, true, true, 1).n_threads, 2);
        let three: u64 = [true, false, false]
            .map(|leads| of_budget(budget, leads, true, 3).memory_bytes.unwrap_or(0))
            .iter()
            .sum();
        assert_eq!(three, 800);
    }
}
