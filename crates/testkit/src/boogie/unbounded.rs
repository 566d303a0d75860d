//! Infinite runs without bounds: configurations as they are defined, the globals and how often each task is pending, and every step.
//!
//! A run is infinite if it comes back to globals with at least the tasks that were pending before, since these and what was
//! between can be repeated. It is fair if each task that is pending then was dispatched in between: one that was not is pending
//! for ever. A graph that is whole decides; in part of one an infinite run is found, but none is ruled out.

use std::collections::{HashMap, HashSet, VecDeque};

use super::lasso::{Outcome, Tasks};

/// Configurations of a graph.
const MAX_CONFIGURATIONS: usize = 400;
/// Tasks that are pending at a time.
const MAX_PENDING: u16 = 7;
/// Nodes of all searches for loops together.
const MAX_NODES: usize = 150_000;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Configuration {
    globals: u32,
    /// By task.
    pending: Vec<u16>,
}

struct Step {
    task: u32,
    to: usize,
}

pub(super) struct Graph {
    configurations: Vec<Configuration>,
    steps: Vec<Vec<Step>>,
    is_whole: bool,
}

impl Graph {
    pub fn new(tasks: &Tasks<'_>, starts: &[Outcome]) -> Graph {
        let mut graph = Graph { configurations: Vec::new(), steps: Vec::new(), is_whole: true };
        let mut numbers: HashMap<Configuration, usize> = HashMap::new();
        let nothing = vec![0; tasks.kinds.len()];
        for start in starts {
            graph.add(&nothing, start, &mut numbers);
        }
        let mut at = 0;
        while let Some(Configuration { globals, pending }) = graph.configurations.get(at).cloned() {
            for task in (0..pending.len()).filter(|&task| pending[task] > 0) {
                let mut rest = pending.clone();
                rest[task] -= 1;
                let task = task as u32;
                for outcome in &tasks.outcomes[&(task, globals)] {
                    if let Some(to) = graph.add(&rest, outcome, &mut numbers) {
                        graph.steps[at].push(Step { task, to });
                    }
                }
            }
            at += 1;
        }
        graph
    }

    /// The configuration in which an outcome was added to what is pending; `None` beyond the limits.
    fn add(
        &mut self,
        rest: &[u16],
        (globals, posts): &Outcome,
        numbers: &mut HashMap<Configuration, usize>,
    ) -> Option<usize> {
        let mut configuration = Configuration { globals: *globals, pending: rest.to_vec() };
        for &post in posts {
            configuration.pending[post as usize] += 1;
        }
        if let Some(&known) = numbers.get(&configuration) {
            return Some(known);
        }
        let n_pending: u16 = configuration.pending.iter().sum();
        if n_pending > MAX_PENDING || self.configurations.len() == MAX_CONFIGURATIONS {
            self.is_whole = false;
            return None;
        }
        let number = self.configurations.len();
        numbers.insert(configuration.clone(), number);
        self.configurations.push(configuration);
        self.steps.push(Vec::new());
        Some(number)
    }

    pub fn has_infinite_run(&self, fair: bool) -> Option<bool> {
        let mut n_left = MAX_NODES;
        for from in 0..self.configurations.len() {
            if self.has_loop(from, fair, &mut n_left) {
                return Some(true);
            }
        }
        (self.is_whole && n_left > 0).then_some(false)
    }

    fn has_loop(&self, from: usize, fair: bool, n_left: &mut usize) -> bool {
        let mut seen: HashSet<(usize, u64)> = HashSet::new();
        let mut open = VecDeque::from([(from, 0u64)]);
        while let Some((at, dispatched)) = open.pop_front() {
            for &Step { task, to } in &self.steps[at] {
                // Which tasks were dispatched says nothing where fairness is not asked for.
                let dispatched = if fair { dispatched | 1 << task.min(63) } else { 0 };
                if self.repeats(from, to, fair.then_some(dispatched)) {
                    return true;
                }
                if *n_left > 0 && seen.insert((to, dispatched)) {
                    *n_left -= 1;
                    open.push_back((to, dispatched));
                }
            }
        }
        false
    }

    fn repeats(&self, from: usize, to: usize, dispatched: Option<u64>) -> bool {
        let (from, to) = (&self.configurations[from], &self.configurations[to]);
        let is_dispatched =
            |task: usize| dispatched.is_none_or(|dispatched| dispatched & (1 << task.min(63)) != 0);
        from.globals == to.globals
            && from.pending.iter().zip(&to.pending).all(|(before, after)| before <= after)
            && (0..to.pending.len()).all(|task| to.pending[task] == 0 || is_dispatched(task))
    }
}
