//! Liveness by a naive analysis of the graph: every configuration that the kernel reaches, by its bytes, and every step.
//!
//! Under `random` a monitor is broken by a bottom component that is hot and never cold; under `weak` by a part of the graph in which one can go
//! round for ever, hot and never cold, without putting off a machine that can always step or a `$$` that is asked. Both are found by asking which
//! node reaches which, for graphs of some hundred configurations.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use allways_explore::search::{ProveOptions, Reductions, StoreKind, prove};
use allways_explore::{Fairness, Never};
use allways_machine::{Actor, Executable, Kernel, Note, Outcome, Recorder, Scene, Script};
use allways_p::hir::Temperature;
use allways_run::{Certainty, Choice, Limits, Quiet, Verdict, ViolationKind};

use crate::naive::{Edges, Flip, Flips, one_sided};

/// The graph of a small program.
pub struct Graph {
    nodes: Vec<Node>,
    /// By source.
    edges: Vec<Vec<Edge>>,
    n_monitors: usize,
}

/// Monitors hot and cold there, and the machines that can step.
struct Node {
    hot: u64,
    cold: u64,
    enabled: BTreeSet<Choice>,
}

struct Edge {
    to: usize,
    /// Monitors that become hot or cold in between.
    hot: u64,
    cold: u64,
    mover: Choice,
    flips: Vec<Flip>,
}

struct Temperatures<'a> {
    exe: &'a Executable,
    hot: u64,
    cold: u64,
}

impl Recorder for Temperatures<'_> {
    fn record(&mut self, _: &Scene<'_>, note: Note) {
        if let Note::Enter { actor: Actor::Monitor(monitor), state } = note {
            match self.exe.states[state].temperature {
                Temperature::Hot => self.hot |= 1 << monitor,
                Temperature::Cold => self.cold |= 1 << monitor,
                Temperature::Warm => {}
            }
        }
    }
}

pub fn limits() -> Limits {
    Limits { instructions: 20_000, call_depth: 500, ..Limits::default() }
}

impl Graph {
    /// `None` when it has more configurations, or something breaks in it.
    pub fn new(exe: &Arc<Executable>, max_configurations: usize) -> Option<Graph> {
        let mut kernel = Kernel::new(exe.clone(), limits());
        let mut numbers: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut graph = Graph { nodes: Vec::new(), edges: Vec::new(), n_monitors: kernel.n_monitors() };
        numbers.insert(kernel.encoded(), graph.add(&kernel));
        let mut open = vec![(0, kernel.save())];
        while let Some((from, snapshot)) = open.pop() {
            kernel.restore(&snapshot);
            // No machine has to crash: these steps are no edges, so that what is a bottom does not depend on them.
            let crashes: Vec<Choice> = kernel.crashes().map(Choice::Crash).collect();
            let choices: Vec<Choice> = kernel.choices().chain(crashes).collect();
            for choice in choices {
                let mut script = Script::default();
                loop {
                    kernel.restore(&snapshot);
                    let mut heat = Temperatures { exe, hot: 0, cold: 0 };
                    let mut flips = Flips { script: &mut script, given: Vec::new() };
                    kernel.take(choice, &mut flips, &mut heat).expect("it is possible");
                    let flips = flips.given;
                    if !matches!(kernel.outcome(), Outcome::Running | Outcome::Quiescent) {
                        return None;
                    }
                    let to = match numbers.get(&kernel.encoded()) {
                        Some(&to) => to,
                        None if graph.nodes.len() == max_configurations => return None,
                        None => {
                            let to = graph.add(&kernel);
                            numbers.insert(kernel.encoded(), to);
                            open.push((to, kernel.save()));
                            to
                        }
                    };
                    if !matches!(choice, Choice::Crash(_)) {
                        let Temperatures { hot, cold, .. } = heat;
                        graph.edges[from].push(Edge { to, hot, cold, mover: choice.mover(), flips });
                    }
                    if !script.advance() {
                        break;
                    }
                }
            }
        }
        Some(graph)
    }

    fn add(&mut self, kernel: &Kernel) -> usize {
        let at = |temperature| {
            (0..kernel.n_monitors())
                .filter(|&monitor| kernel.temperature(monitor) == temperature)
                .fold(0u64, |bits, monitor| bits | 1 << monitor)
        };
        // Before the first step no monitor has started.
        let has_begun = kernel.n_steps() > 0;
        let [hot, cold] =
            [Temperature::Hot, Temperature::Cold].map(|heat| if has_begun { at(heat) } else { 0 });
        let enabled = kernel.choices().map(Choice::mover).collect();
        self.nodes.push(Node { hot, cold, enabled });
        self.edges.push(Vec::new());
        self.nodes.len() - 1
    }

    /// Configurations.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Whether some run is infinite.
    pub fn is_endless(&self) -> bool {
        !self.components(&(0..self.nodes.len()).collect(), &|_, _| true).is_empty()
    }

    fn components(
        &self,
        within: &BTreeSet<usize>,
        keeps: &dyn Fn(usize, usize) -> bool,
    ) -> Vec<BTreeSet<usize>> {
        Edges { by_source: &self.edges, target: |edge| edge.to }.components(within, keeps)
    }

    /// Whether a monitor is broken by runs that chance leaves.
    pub fn breaks_at_random(&self) -> bool {
        let all: BTreeSet<usize> = (0..self.nodes.len()).collect();
        self.components(&all, &|_, _| true).iter().any(|part| {
            let (mut hot, mut cold, mut is_bottom) = (0, 0, true);
            for &node in part {
                hot |= self.nodes[node].hot;
                cold |= self.nodes[node].cold;
                for edge in &self.edges[node] {
                    is_bottom &= part.contains(&edge.to);
                    hot |= edge.hot;
                    cold |= edge.cold;
                }
            }
            is_bottom && hot & !cold != 0
        })
    }

    /// Whether a monitor is broken by a run in which every machine that can always step does so again and again, and each `$$` gives all
    /// its answers.
    pub fn breaks_weakly(&self) -> bool {
        (0..self.n_monitors).any(|monitor| {
            let bit = 1 << monitor;
            let warm: BTreeSet<usize> =
                (0..self.nodes.len()).filter(|&node| self.nodes[node].cold & bit == 0).collect();
            let mut left_out: BTreeSet<(usize, usize)> = BTreeSet::new();
            for &node in &warm {
                let cold = self.edges[node].iter().enumerate().filter(|(_, edge)| edge.cold & bit != 0);
                left_out.extend(cold.map(|(place, _)| (node, place)));
            }
            self.has_fair_round(&warm, bit, left_out)
        })
    }

    fn has_fair_round(&self, within: &BTreeSet<usize>, bit: u64, left_out: BTreeSet<(usize, usize)>) -> bool {
        self.components(within, &|node, place| !left_out.contains(&(node, place))).iter().any(|part| {
            let edges: Vec<(usize, usize, &Edge)> = part
                .iter()
                .flat_map(|&node| self.edges[node].iter().enumerate().map(move |(at, edge)| (node, at, edge)))
                .filter(|(node, at, edge)| part.contains(&edge.to) && !left_out.contains(&(*node, *at)))
                .collect();
            let is_hot = part.iter().any(|&node| self.nodes[node].hot & bit != 0)
                || edges.iter().any(|(.., edge)| edge.hot & bit != 0);
            let starves = self.nodes.iter().flat_map(|node| &node.enabled).any(|mover| {
                part.iter().all(|&node| self.nodes[node].enabled.contains(mover))
                    && edges.iter().all(|(.., edge)| edge.mover != *mover)
            });
            if !is_hot || starves {
                return false;
            }
            let unfair = one_sided(edges.iter().flat_map(|(.., edge)| &edge.flips));
            if unfair.is_empty() {
                return true;
            }
            let mut left_out = left_out.clone();
            for (node, at, edge) in edges {
                if edge.flips.iter().any(|(point, ..)| unfair.contains(point)) {
                    left_out.insert((node, at));
                }
            }
            self.has_fair_round(part, bit, left_out)
        })
    }
}

/// Variants of the proof of liveness: without reductions, with each alone, with all; and all without symmetry, or by two threads.
pub fn ways() -> Vec<(&'static str, Reductions, usize)> {
    let mut ways = vec![
        ("none", Reductions::NONE, 1),
        ("all", Reductions::ALL, 1),
        ("all, by two threads", Reductions::ALL, 2),
        ("all but symmetry", Reductions { symmetry: false, ..Reductions::ALL }, 1),
        ("all but persistent sets", Reductions { persistent_sets: false, ..Reductions::ALL }, 1),
    ];
    ways.extend(Reductions::NAMES.iter().filter_map(|name| Some((*name, Reductions::only(name)?, 1))));
    ways
}

/// What is compared: whether monitors are broken, at random and weakly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expected {
    pub at_random: bool,
    pub weakly: bool,
}

impl Expected {
    pub fn of(graph: &Graph) -> Expected {
        Expected { at_random: graph.breaks_at_random(), weakly: graph.breaks_weakly() }
    }
}

/// Compares the proofs of liveness, in all configurations, with what is expected.
///
/// # Errors
/// The first difference, in words.
pub fn compare(exe: &Arc<Executable>, expected: Expected) -> Result<(), String> {
    let mut seen: Vec<(Reductions, usize)> = Vec::new();
    for (name, reductions, n_threads) in ways() {
        // Over some networks some are off.
        let known = (reductions.over(exe), n_threads);
        if seen.contains(&known) {
            continue;
        }
        seen.push(known);
        for (fairness, expected) in
            [(Fairness::Random, expected.at_random), (Fairness::Weak, expected.weakly)]
        {
            let options = ProveOptions {
                store: StoreKind::Exact,
                reductions,
                probes: false,
                fairness: Some(fairness),
                n_threads,
                limits: limits(),
                ..ProveOptions::default()
            };
            let says = |what: String| Err(format!("{name}, {fairness:?}: {what}, expected {expected}"));
            let report = match prove(exe, &options, &Quiet, &Never) {
                Ok(report) => report,
                Err(error) => return says(error.to_string()),
            };
            judge(&report.verdict, expected).or_else(says)?;
        }
    }
    Ok(())
}

/// Whether a verdict is the one that is expected of a program that only infinite runs can break.
///
/// # Errors
/// What it is, in words.
pub fn judge(verdict: &Verdict, is_violated: bool) -> Result<(), String> {
    match verdict {
        Verdict::Violated(found)
            if found.violation.kind == ViolationKind::Liveness(Certainty::Certain) && is_violated =>
        {
            Ok(())
        }
        Verdict::Holds(_) if !is_violated => Ok(()),
        Verdict::Violated(found) => Err(found.violation.kind.as_str().to_owned()),
        Verdict::Holds(_) => Err("holds".to_owned()),
        Verdict::Unknown(reason) => Err(format!("unknown: {reason:?}")),
    }
}
