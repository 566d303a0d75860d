//! All runs of a program under a scheduler, with data from finite sets: the oracle against which
//! translations are tested.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::code::Code;
use super::machine::{Assertions, Conf, Failure, Machine, Stop};
use super::oracle::{Choice, Odometer, Recorder, Schedule};
use super::schedule::{Move, Sched, Scheduler};
use super::value::{Domains, Limit, Value};

#[derive(Clone, Debug)]
pub struct ExploreOptions {
    pub scheduler: Scheduler,
    pub assertions: Assertions,
    pub domains: Domains,
    /// Configurations to explore before giving up.
    pub max_confs: usize,
    /// Instructions between two scheduling points.
    pub max_steps: u64,
    /// The first violation ends the search, which is then not complete.
    pub stop_at_violation: bool,
}

impl Default for ExploreOptions {
    fn default() -> Self {
        ExploreOptions {
            scheduler: Scheduler::Concurrent,
            assertions: Assertions::default(),
            domains: Domains::default(),
            max_confs: 200_000,
            max_steps: 10_000,
            stop_at_violation: false,
        }
    }
}

/// What the search found.
#[derive(Clone, Debug, Default)]
pub struct Exploration {
    /// The globals at the end of finalized runs, with whether an assertion failed on the way (which
    /// only `continue` mode lets happen).
    pub finals: BTreeSet<(Vec<Value>, bool)>,
    /// The first violation in the order of the search, and how to repeat it with
    /// [`run`](super::run::run).
    pub violation: Option<(Failure, Schedule)>,
    /// Configurations seen.
    pub n_confs: usize,
    /// Some run got stuck before all tasks completed.
    pub has_stuck: bool,
    /// Every run of the scheduler was seen, over all values of the data.
    pub complete: bool,
    /// What ended the search early, or the first part of it that could not be searched.
    pub limit: Option<Limit>,
}

/// A configuration with the scheduler's memory, and how it was reached.
struct Node {
    state: Arc<(Conf, Sched)>,
    parent: Option<usize>,
    choices: Vec<Choice>,
}

/// Explores breadth first, so that the violation found is a short one; in `continue` mode depth
/// first, since there a violation shows only at the end of a run and all runs are about as long.
pub fn explore(code: &Code, options: &ExploreOptions) -> Exploration {
    let mut search = Search {
        code,
        options,
        out: Exploration { complete: true, ..Exploration::default() },
        nodes: Vec::new(),
        seen: FxHashMap::default(),
        frontier: VecDeque::new(),
    };
    search.starts();
    while let Some(node_idx) = search.next_node() {
        if options.stop_at_violation && search.out.violation.is_some() {
            search.out.complete = false;
            break;
        }
        if search.nodes.len() > options.max_confs {
            search.limit(Limit::Steps);
            break;
        }
        search.expand(node_idx);
    }
    search.out.n_confs = search.nodes.len();
    search.out
}

struct Search<'a> {
    code: &'a Code,
    options: &'a ExploreOptions,
    out: Exploration,
    nodes: Vec<Node>,
    seen: FxHashMap<Arc<(Conf, Sched)>, ()>,
    frontier: VecDeque<usize>,
}

impl Search<'_> {
    fn next_node(&mut self) -> Option<usize> {
        match self.options.assertions {
            Assertions::Exit => self.frontier.pop_front(),
            Assertions::Continue => self.frontier.pop_back(),
        }
    }

    fn starts(&mut self) {
        let scheduler = self.options.scheduler;
        self.each_outcome(
            |machine| machine.start(),
            |search, start, choices| {
                if let Some(conf) = start {
                    search.add(conf, scheduler.start(), None, choices);
                }
            },
        );
    }

    fn expand(&mut self, node_idx: usize) {
        let state = Arc::clone(&self.nodes[node_idx].state);
        let (conf, sched) = &*state;
        let scheduler = self.options.scheduler;
        if scheduler.is_finalized(conf, sched) {
            self.out.finals.insert((conf.globals.clone(), conf.failure.is_some()));
            if let Some(failure) = &conf.failure {
                self.violation(failure.clone(), node_idx, Vec::new());
            }
            return;
        }
        let moves = scheduler.moves(self.code, conf, sched);
        if moves.is_empty() {
            self.out.has_stuck = true;
        }
        for &made in &moves {
            let prefix = vec![Choice::Move(made)];
            match made {
                Move::Run(task) => self.run(conf, sched, node_idx, task, &prefix),
                Move::Delay(..) | Move::Abandon(_) => {
                    let mut sched = sched.clone();
                    scheduler.after(self.code, conf, &mut sched, made);
                    self.add(conf.clone(), sched, Some(node_idx), prefix);
                }
            }
        }
    }

    fn run(&mut self, conf: &Conf, sched: &Sched, node_idx: usize, task: usize, prefix: &[Choice]) {
        let scheduler = self.options.scheduler;
        let run = |machine: &mut Machine<'_>| {
            let mut conf = conf.clone();
            let stop = machine.run_task(&mut conf, task)?;
            Ok((conf, stop))
        };
        self.each_outcome(run, |search, (conf, stop), choices| {
            let choices: Vec<Choice> = prefix.iter().cloned().chain(choices).collect();
            match stop {
                Stop::Parked | Stop::Completed => {
                    let mut sched = sched.clone();
                    scheduler.after(search.code, &conf, &mut sched, Move::Run(task));
                    search.add(conf, sched, Some(node_idx), choices);
                }
                Stop::Blocked => search.out.has_stuck = true,
                Stop::Failed => {
                    if let Some(failure) = conf.failure {
                        search.violation(failure, node_idx, choices);
                    }
                }
            }
        });
    }

    /// Calls `f` once for each combination of choices, and `then` with what came out.
    fn each_outcome<T>(
        &mut self,
        f: impl Fn(&mut Machine<'_>) -> Result<T, Limit>,
        mut then: impl FnMut(&mut Self, T, Vec<Choice>),
    ) {
        let mut odometer = Odometer::default();
        loop {
            let mut recorder = Recorder { inner: &mut odometer, schedule: Schedule::new() };
            let mut complete = true;
            let mut machine = Machine {
                code: self.code,
                domains: &self.options.domains,
                assertions: self.options.assertions,
                oracle: &mut recorder,
                complete: &mut complete,
                events: None,
                n_steps_left: self.options.max_steps,
                stop_after_post: self.options.scheduler.stops_after_post(),
            };
            let outcome = f(&mut machine);
            let choices = recorder.schedule;
            self.out.complete &= complete;
            match outcome {
                Ok(outcome) => then(self, outcome, choices),
                Err(limit) => self.limit(limit),
            }
            if !odometer.advance() {
                return;
            }
        }
    }

    fn limit(&mut self, limit: Limit) {
        self.out.complete = false;
        self.out.limit.get_or_insert(limit);
    }

    fn add(&mut self, conf: Conf, sched: Sched, parent: Option<usize>, choices: Vec<Choice>) {
        let state = Arc::new((conf, sched));
        if self.seen.insert(Arc::clone(&state), ()).is_none() {
            self.frontier.push_back(self.nodes.len());
            self.nodes.push(Node { state, parent, choices });
        }
    }

    fn violation(&mut self, failure: Failure, node_idx: usize, last: Vec<Choice>) {
        if self.out.violation.is_some() {
            return;
        }
        let mut parts = vec![last];
        let mut at = Some(node_idx);
        while let Some(idx) = at {
            parts.push(self.nodes[idx].choices.clone());
            at = self.nodes[idx].parent;
        }
        let schedule = parts.into_iter().rev().flatten().collect();
        self.out.violation = Some((failure, schedule));
    }
}
