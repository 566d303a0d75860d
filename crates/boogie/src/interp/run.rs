//! One run, with an oracle for every choice: recorded and replayed.

use allways_base::Span;

use super::code::Code;
use super::machine::{Assertions, Conf, Failure, Machine, Stop, Writes};
use super::oracle::{Oracle, Recorder, Schedule};
use super::schedule::{Move, Scheduler};
use super::value::{Domains, Limit};
use crate::tree::StmtId;

#[derive(Clone, Debug)]
pub struct RunOptions {
    pub scheduler: Scheduler,
    pub assertions: Assertions,
    pub domains: Domains,
    /// Instructions of the whole run.
    pub max_steps: u64,
    /// Every post outside of atomic sections is a scheduling point. A run of the child-first
    /// scheduler needs this to be repeated as a concurrent run.
    pub posts_are_points: bool,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            scheduler: Scheduler::Concurrent,
            assertions: Assertions::default(),
            domains: Domains::default(),
            max_steps: 1_000_000,
            posts_are_points: false,
        }
    }
}

/// A statement that was executed.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    pub task: usize,
    /// The procedure it belongs to, a place in [`Code::procedures`].
    pub procedure: usize,
    /// How many frames the task had.
    pub depth: usize,
    pub stmt: Option<StmtId>,
    pub span: Span,
    pub writes: Writes,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// All tasks completed.
    Finalized,
    /// Some assumption did not hold, or no task could run.
    Stuck,
    Failed(Failure),
    Limit(Limit),
}

pub struct Run {
    pub ending: Ending,
    /// The answers of the oracle.
    pub schedule: Schedule,
    /// The decisions of the scheduler with the round of the task and the events of each.
    pub segments: Vec<Segment>,
    /// The last configuration; none if not even the start was possible.
    pub conf: Option<Conf>,
}

pub struct Segment {
    pub made: Move,
    pub round: u32,
    pub events: Vec<Event>,
}

/// Makes one run.
pub fn run(code: &Code, options: &RunOptions, oracle: &mut dyn Oracle) -> Run {
    let mut recorder = Recorder { inner: oracle, schedule: Schedule::new() };
    let mut segments = Vec::new();
    let mut conf = None;
    let ending = match run_to_end(code, options, &mut recorder, &mut segments, &mut conf) {
        Ok(ending) => ending,
        Err(limit) => Ending::Limit(limit),
    };
    Run { ending, schedule: recorder.schedule, segments, conf }
}

fn machine_of<'a>(
    code: &'a Code,
    options: &'a RunOptions,
    oracle: &'a mut Recorder<'_>,
    complete: &'a mut bool,
    events: Option<&'a mut Vec<Event>>,
    n_steps_left: u64,
) -> Machine<'a> {
    Machine {
        code,
        domains: &options.domains,
        assertions: options.assertions,
        oracle,
        complete,
        events,
        n_steps_left,
        stop_after_post: options.posts_are_points || options.scheduler.stops_after_post(),
    }
}

fn run_to_end(
    code: &Code,
    options: &RunOptions,
    oracle: &mut Recorder<'_>,
    segments: &mut Vec<Segment>,
    last: &mut Option<Conf>,
) -> Result<Ending, Limit> {
    let scheduler = options.scheduler;
    let mut complete = true;
    let mut n_steps_left = options.max_steps;
    let mut machine = machine_of(code, options, oracle, &mut complete, None, n_steps_left);
    let Some(start) = machine.start()? else { return Ok(Ending::Stuck) };
    let conf = last.insert(start);
    let mut sched = scheduler.start();
    loop {
        if scheduler.is_finalized(conf, &sched) {
            return Ok(conf.failure.clone().map_or(Ending::Finalized, Ending::Failed));
        }
        let moves = scheduler.moves(code, conf, &sched);
        if moves.is_empty() {
            return Ok(Ending::Stuck);
        }
        let made = moves[oracle.next_move(&moves)?];
        let mut events = Vec::new();
        let mut stop = Ok(Stop::Parked);
        if let Move::Run(task) = made {
            let mut machine =
                machine_of(code, options, oracle, &mut complete, Some(&mut events), n_steps_left);
            stop = machine.run_task(conf, task);
            n_steps_left = machine.n_steps_left;
        }
        let task = match made {
            Move::Run(task) | Move::Delay(task, _) | Move::Abandon(task) => task,
        };
        segments.push(Segment { made, round: sched.round(task), events });
        match stop? {
            Stop::Parked | Stop::Completed => scheduler.after(code, conf, &mut sched, made),
            Stop::Blocked => return Ok(Ending::Stuck),
            Stop::Failed => {
                return Ok(conf.failure.clone().map_or(Ending::Stuck, Ending::Failed));
            }
        }
    }
}
