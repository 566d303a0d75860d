//! The part of the configuration graph that was explored from one configuration.
//!
//! Breadth first, with every enabled move and every resolution of the data choices of the step.
//! Configurations are distinguished by their whole content, not by hashes of it, so that "none" means none.

use std::collections::VecDeque;

use allways_base::Idx;
use allways_machine::{DataPoint, Kernel, Oracle, Outcome, Snapshot};
use allways_run::{Choice, InstanceId, Violation};
use rustc_hash::FxHashMap;

use super::components::components;
use super::heat::{Heat, StepHeat, standing};
use super::key::write_key;

/// How much an exploration may do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    pub configurations: usize,
    /// In units of about one step of a run.
    pub work: u64,
}

/// The price of an edge: going back to a configuration, a step, and looking up so many words.
fn price(n_words: usize) -> u64 {
    4 + n_words as u64 / 32
}

pub(crate) struct Node {
    /// Monitors that are hot here, and those that are cold, a bit for each.
    pub hot: u64,
    pub cold: u64,
    /// The enabled moves, as [`Choice::mover`] names them. Crashes are not among them: no machine has to crash.
    pub enabled: Vec<Choice>,
    /// Movers that have to move if they can again and again, where they can.
    pub compelled: Vec<Choice>,
    /// The edge by which it was found; the root has none.
    pub found_by: Option<u32>,
    /// Its edges, as a range; empty until it was expanded.
    pub edges: std::ops::Range<u32>,
}

pub(crate) struct Edge {
    pub from: u32,
    pub to: u32,
    /// What monitors went through in the step, that in passing included.
    pub hot: u64,
    pub cold: u64,
    pub choice: Choice,
    /// What moves, as nodes say it.
    pub mover: Choice,
    pub answers: Vec<Answer>,
}

/// A data choice in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    pub point: DataPoint,
    pub answer: u32,
}

#[derive(Default)]
pub(crate) struct Graph {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
}

/// Why the exploration ended.
pub(crate) enum End {
    /// All was seen.
    Exhausted,
    /// The bound was hit; the graph is a part.
    Bound,
    Cancelled,
    /// The caller said so at this edge.
    Stopped,
    /// The last step went wrong: these choices lead to it.
    Broken {
        path: Vec<Choice>,
        violation: Box<Violation>,
    },
    /// A step ended in something unsupported: the rest cannot be known.
    Unknown,
}

impl Graph {
    /// See [`components`].
    pub fn components(&self, within: impl Fn(u32) -> bool, keeps: impl Fn(usize) -> bool) -> Vec<Vec<u32>> {
        let edges = |node: u32| {
            let edges = &self.nodes[node as usize].edges;
            edges.start as usize..edges.end as usize
        };
        components(self.nodes.len(), edges, |edge| self.edges[edge].to, within, keeps)
    }

    /// Explores from where the kernel stands, and leaves it there. `stop` sees every edge once, with its target.
    pub fn explore(
        kernel: &mut Kernel,
        heat: &Heat,
        allowance: Allowance,
        with_crashes: bool,
        is_cancelled: &dyn Fn() -> bool,
        mut stop: impl FnMut(&Edge, &Node) -> bool,
    ) -> (Graph, End) {
        let was_transient = kernel.set_transient(false);
        let home = kernel.save();
        // The bound is of the run, not of what may come after it.
        let max_choices = kernel.bound_choices(u64::MAX);
        let mut graph = Graph::default();
        let mut known: FxHashMap<Box<[u64]>, u32> = FxHashMap::default();
        let mut instances = Vec::new();
        let mut work_left = allowance.work;
        let mut frontier: VecDeque<(u32, Snapshot)> = VecDeque::new();
        let mut key = Vec::new();
        write_key(kernel, &mut instances, &mut key);
        known.insert(key.as_slice().into(), 0);
        graph.nodes.push(node(kernel, None));
        frontier.push_back((0, kernel.save()));
        let end = 'search: loop {
            let Some((from, snapshot)) = frontier.pop_front() else { break End::Exhausted };
            if is_cancelled() {
                break End::Cancelled;
            }
            let first_edge = graph.edges.len() as u32;
            kernel.restore(&snapshot);
            let mut choices: Vec<Choice> = kernel.choices().collect();
            sort_by_paths(kernel, &mut choices);
            if with_crashes {
                choices.extend(kernel.crashes().map(Choice::Crash));
            }
            for choice in choices {
                let mut resolution = Resolution::default();
                loop {
                    kernel.restore(&snapshot);
                    resolution.answers.clear();
                    let mut passing = StepHeat { heat, hot: 0, cold: 0 };
                    if kernel.take(choice, &mut resolution, &mut passing).is_err() {
                        break 'search End::Unknown;
                    }
                    let (hot, cold) = (passing.hot, passing.cold);
                    match kernel.outcome() {
                        Outcome::Violated(violation) => {
                            let violation = violation.clone();
                            let mut path = graph.path_to(from);
                            push_step(&mut path, choice, &resolution.answers);
                            break 'search End::Broken { path, violation };
                        }
                        Outcome::Unknown(_) => break 'search End::Unknown,
                        Outcome::Running | Outcome::Quiescent => {}
                    }
                    write_key(kernel, &mut instances, &mut key);
                    work_left = work_left.saturating_sub(price(key.len()));
                    let to = match known.get(key.as_slice()) {
                        Some(&to) => to,
                        None => {
                            let to = graph.nodes.len() as u32;
                            known.insert(key.as_slice().into(), to);
                            graph.nodes.push(node(kernel, Some(graph.edges.len() as u32)));
                            frontier.push_back((to, kernel.save()));
                            to
                        }
                    };
                    let (mover, answers) = (choice.mover(), resolution.answers.clone());
                    let edge = Edge { from, to, hot, cold, choice, mover, answers };
                    let stops = stop(&edge, &graph.nodes[to as usize]);
                    graph.edges.push(edge);
                    if stops {
                        break 'search End::Stopped;
                    }
                    if work_left == 0 {
                        break 'search End::Bound;
                    }
                    if !resolution.advance() {
                        break;
                    }
                }
            }
            graph.nodes[from as usize].edges = first_edge..graph.edges.len() as u32;
            if graph.nodes.len() > allowance.configurations {
                break End::Bound;
            }
        };
        kernel.restore(&home);
        kernel.bound_choices(max_choices);
        kernel.set_transient(was_transient);
        (graph, end)
    }

    /// The choices from the root to a node, the way it was found.
    pub fn path_to(&self, node: u32) -> Vec<Choice> {
        let mut edges = Vec::new();
        let mut at = node;
        while let Some(edge) = self.nodes[at as usize].found_by {
            edges.push(edge);
            at = self.edges[edge as usize].from;
        }
        edges.reverse();
        self.choices(&edges)
    }

    /// The choices of a walk.
    pub fn choices(&self, walk: &[u32]) -> Vec<Choice> {
        let mut choices = Vec::new();
        for &edge in walk {
            let edge = &self.edges[edge as usize];
            push_step(&mut choices, edge.choice, &edge.answers);
        }
        choices
    }

    /// A shortest walk from `from` over edges that `keeps` to one that `wants`, that one included.
    pub fn walk(
        &self,
        from: u32,
        keeps: &dyn Fn(u32) -> bool,
        wants: &dyn Fn(u32) -> bool,
    ) -> Option<Vec<u32>> {
        let mut found_by: FxHashMap<u32, Option<u32>> = FxHashMap::default();
        found_by.insert(from, None);
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for edge in self.nodes[at as usize].edges.clone().filter(|&edge| keeps(edge)) {
                if wants(edge) {
                    let mut walk = vec![edge];
                    let mut node = at;
                    while let Some(Some(edge)) = found_by.get(&node) {
                        walk.push(*edge);
                        node = self.edges[*edge as usize].from;
                    }
                    walk.reverse();
                    return Some(walk);
                }
                let to = self.edges[edge as usize].to;
                if let std::collections::hash_map::Entry::Vacant(entry) = found_by.entry(to) {
                    entry.insert(Some(edge));
                    queue.push_back(to);
                }
            }
        }
        None
    }
}

fn push_step(choices: &mut Vec<Choice>, choice: Choice, answers: &[Answer]) {
    choices.push(choice);
    choices.extend(answers.iter().map(|answer| Choice::Data(answer.answer)));
}

fn node(kernel: &Kernel, found_by: Option<u32>) -> Node {
    let (hot, cold) = standing(kernel);
    let mut enabled: Vec<Choice> = kernel.choices().map(Choice::mover).collect();
    enabled.dedup();
    Node { hot, cold, enabled, compelled: Vec::new(), found_by, edges: 0..0 }
}

/// By path, so that the order does not depend on which runs the process made before.
fn sort_by_paths(kernel: &Kernel, choices: &mut [Choice]) {
    if choices.len() < 2 {
        return;
    }
    let path = |machine: InstanceId| {
        if machine.index() == 0 { Vec::new() } else { kernel.executable().instances.path(machine) }
    };
    choices.sort_by_cached_key(|&choice| match choice {
        Choice::Machine(machine) => (0, path(machine), Vec::new(), 0),
        Choice::Deliver { target, source, place } => (1, path(target), path(source), place),
        Choice::Crash(machine) => (2, path(machine), Vec::new(), 0),
        Choice::Data(answer) => (3, Vec::new(), Vec::new(), answer),
    });
}

/// Enumerates the resolutions of the data choices of one step, in lexicographic order.
#[derive(Default)]
pub(crate) struct Resolution {
    /// What to answer first; after that, zero.
    prefix: Vec<u32>,
    pub answers: Vec<Answer>,
}

impl Resolution {
    /// On to the next one; `false` when that was the last.
    pub fn advance(&mut self) -> bool {
        let last = self.answers.iter().rposition(|answer| answer.answer + 1 < answer.point.n_answers);
        let Some(last) = last else { return false };
        self.prefix.clear();
        self.prefix.extend(self.answers[..=last].iter().map(|answer| answer.answer));
        self.prefix[last] += 1;
        true
    }
}

impl Oracle for Resolution {
    fn answer(&mut self, point: DataPoint) -> u32 {
        let answer = self.prefix.get(self.answers.len()).copied().unwrap_or(0);
        self.answers.push(Answer { point, answer });
        answer
    }
}
