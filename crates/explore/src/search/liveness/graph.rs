//! Liveness of monitors on the graph of configurations (docs/semantics.md, section 6).
//!
//! Built by one thread in a fixed order, after the search has found no other violation: configurations as vectors,
//! steps as numbers of their targets, everything else by expanding again. Under `random` the graph may be the reduced one that
//! the search explored, with permuted machines and postponed steps: from wherever a run leads,
//! steps of that graph lead to where the run passes, monitors observe the same in the same order, and the cycle proviso holds.
//! So a bottom component of it lies within one of the full graph, and has a cold step if and only if that has. Under `weak` it matters which
//! machine steps, so the graph is the full one; so it is over networks. The first question is whether any run is infinite at all
//! ([`termination`]).
//! A violation is a lasso: under `random`, into
//! a bottom component with a hot and no cold configuration; under `weak`, into a fair cycle of that kind. What a bound
//! has cut off counts as an exit, so that no lasso depends on it.

use std::sync::Arc;

use allways_base::Idx;
use allways_machine::Executable;
use allways_p::hir::Temperature;
use allways_run::{Choice, Counterexample, Limits, StopReason};
use rustc_hash::{FxHashMap, FxHashSet};

use super::termination;
use crate::confirm::{Claim, confirm};
use crate::error::InternalError;
use crate::liveness::Fairness;
use crate::liveness::components::components;
use crate::liveness::heat::{Heat, StepHeat};
use crate::liveness::{Search, graph as sampled, weak};
use crate::search::context::Context;
use crate::search::counterexample::{StepName, Walker, choice, moves_answers, name, run};
use crate::search::expand::{CRASH, Move};
use crate::search::local::states::{Following, Given, LOOK_AFTER, LocalStateId};
use crate::search::lock;
use crate::search::store::tree::ExactKeys;
use crate::search::successors::{Collect, Expansion, Layer, Purpose, Successors};

/// A lap leaves what is looked at as it was; what is not is written in it, or waits in an inbox, or stays.
pub(crate) const MAX_LAPS: usize = 1_000;
/// The same where numbers may be others after each lap.
const MAX_LAPS_OF_NUMBERS: usize = 64;

/// What the search for infinite runs says.
pub(crate) enum Answer {
    Holds,
    Violated(Box<Counterexample>),
    Stopped(StopReason),
}

/// Whether some monitor has a hot state.
pub(crate) fn has_liveness(exe: &Executable) -> bool {
    exe.monitors.iter().any(|monitor| {
        !exe.machines[monitor.machine].is_scenario
            && exe
                .states
                .iter()
                .any(|state| state.machine == monitor.machine && state.temperature == Temperature::Hot)
    })
}

/// Looks for an infinite run that breaks a monitor: whether there are any, as the search went, and which, in a graph with
/// faults where they happen.
pub(crate) fn check(
    cx: Context<'_>,
    in_graph: Context<'_>,
    exe: &Arc<Executable>,
    fairness: Fairness,
) -> Result<Answer, InternalError> {
    if exe.monitors.len() > StepHeat::MAX_MONITORS {
        let what = format!("liveness of more than {} monitors", StepHeat::MAX_MONITORS);
        return Ok(Answer::Stopped(StopReason::Unsupported { what }));
    }
    if termination::can_be_asked(&cx) {
        match termination::every_run_ends(cx) {
            Ok(true) => return Ok(Answer::Holds),
            Ok(false) => {}
            Err(reason) => return Ok(Answer::Stopped(reason)),
        }
    }
    let cx = match fairness {
        Fairness::Random => in_graph,
        Fairness::Weak => Context { is_symmetric: false, collects_garbage: false, reach: None, ..in_graph },
    };
    let mut graph = match Graph::explore(cx) {
        Ok(graph) => graph,
        Err(reason) => return Ok(Answer::Stopped(reason)),
    };
    let lasso = match fairness {
        Fairness::Random => graph.random_lasso(),
        Fairness::Weak => (0..exe.monitors.len()).find_map(|monitor| graph.weak_lasso(monitor)),
    };
    match lasso {
        None => Ok(Answer::Holds),
        Some(lasso) => match graph.counterexample(exe, &lasso, fairness)? {
            Some(found) => Ok(Answer::Violated(Box::new(found))),
            None => {
                let does = if cx.renumbers {
                    "makes machines or counts again and again"
                } else {
                    "makes machines again and again"
                };
                let why = format!(
                    "monitor `{}` stays hot for ever in a run that {does}, so the run has no finite loop to show as a counterexample",
                    exe.monitor_name(lasso.monitor)
                );
                Ok(Answer::Stopped(StopReason::Undecided { why }))
            }
        },
    }
}

/// Everything that can be reached, by number in order of discovery.
struct Graph<'a> {
    cx: Context<'a>,
    successors: Successors<'a>,
    beginnings: Vec<Vec<u32>>,
    nodes: Layer,
    /// Where a node was found: its parent and the place of the step there. Beginnings have themselves as parents.
    origins: Vec<(u32, u32)>,
    /// Where the steps of a node begin in `targets`; one more at the end.
    starts: Vec<usize>,
    targets: Vec<u32>,
    /// Monitors that were hot or cold in a step, and are not so at its end.
    passing: FxHashMap<usize, (u64, u64)>,
    /// Steps that are crashes.
    crashes: FxHashSet<usize>,
    /// Monitors that are hot, that are cold, in a node.
    heat: Vec<(u64, u64)>,
    /// Something behind a node was cut off.
    is_open: Vec<bool>,
}

/// A path to a node, and a cycle from there: steps by node and place.
struct Lasso {
    monitor: usize,
    start: u32,
    lap: Vec<(u32, u32)>,
}

impl<'a> Graph<'a> {
    fn explore(cx: Context<'a>) -> Result<Self, StopReason> {
        let beginning = lock(cx.locals).begin();
        let mut graph = Graph {
            cx,
            successors: Successors::new(cx, Purpose::Liveness),
            beginnings: Vec::new(),
            nodes: Layer::default(),
            origins: Vec::new(),
            starts: vec![0],
            targets: Vec::new(),
            passing: FxHashMap::default(),
            crashes: FxHashSet::default(),
            heat: Vec::new(),
            is_open: Vec::new(),
        };
        let mut known: FxHashMap<u64, u32> = FxHashMap::default();
        let no_memory = StopReason::Memory { bytes: cx.options.limits.memory_bytes.unwrap_or(0) };
        let mut keys = ExactKeys::new().ok_or(no_memory.clone())?;
        let mut depths: Vec<u32> = Vec::new();
        for (answers, vector) in beginning.vectors {
            let number = graph.add(&vector, None);
            depths.push(1);
            known.insert(keys.key(&vector).ok_or(no_memory.clone())?, number);
            graph.beginnings.push(answers);
        }
        let mut at = 0;
        while at < graph.nodes.len() {
            if at % 1024 == 0 {
                let bytes =
                    graph.n_bytes() + keys.n_bytes() + known.capacity() * 8 / 7 * 17 + depths.capacity() * 4;
                let bytes = bytes as u64 + lock(cx.locals).n_bytes() as u64;
                if let Some(reason) = cx.stop_reason().or_else(|| cx.is_over(bytes)) {
                    return Err(reason);
                }
                cx.looks_at_liveness(graph.nodes.len() as u64);
            }
            let vector = graph.nodes.get(at).to_vec();
            let mut sink = Collect::default();
            let Expansion { standing, .. } = graph.successors.expand(&vector, &mut sink);
            let is_deepest = cx.options.bounds.depth == Some(u64::from(depths[at]));
            graph.is_open[at] = !sink.cuts.is_empty()
                || is_deepest && standing.n_enabled > 0
                || cx.options.max_choices.is_some() && lock(cx.locals).may_do_more(&vector);
            if !is_deepest {
                for place in 0..sink.moves.len() {
                    if place % LOOK_AFTER == LOOK_AFTER - 1
                        && let Some(reason) = cx.stop_reason()
                    {
                        return Err(reason);
                    }
                    let successor = graph.successors.canonical(sink.vectors.get(place)).to_vec();
                    let successor = &successor[..];
                    let key = keys.key(successor).ok_or(no_memory.clone())?;
                    let target = match known.get(&key) {
                        Some(&target) => target,
                        None => {
                            let target = graph.add(successor, Some((at as u32, place as u32)));
                            depths.push(depths[at] + 1);
                            known.insert(key, target);
                            target
                        }
                    };
                    let (hot, cold) = sink.heat[place];
                    let (hot_there, cold_there) = graph.heat[target as usize];
                    let passing = (hot & !hot_there, cold & !cold_there);
                    if passing != (0, 0) {
                        graph.passing.insert(graph.targets.len(), passing);
                    }
                    if sink.moves[place].delivered == CRASH {
                        graph.crashes.insert(graph.targets.len());
                    }
                    graph.targets.push(target);
                }
            }
            graph.starts.push(graph.targets.len());
            at += 1;
        }
        Ok(graph)
    }

    fn n_bytes(&self) -> usize {
        self.nodes.n_bytes()
            + self.origins.capacity() * 8
            + self.starts.capacity() * 8
            + self.targets.capacity() * 4
            + self.passing.capacity() * 32
            + self.heat.capacity() * 17
    }

    fn add(&mut self, vector: &[LocalStateId], origin: Option<(u32, u32)>) -> u32 {
        let number = self.nodes.len() as u32;
        self.nodes.push(vector);
        self.origins.push(origin.unwrap_or((number, 0)));
        let locals = lock(self.cx.locals);
        let (mut hot, mut cold) = (0, 0);
        for (monitor, &local) in vector[..locals.n_monitors()].iter().enumerate() {
            match locals.temperature(local) {
                Temperature::Hot => hot |= 1 << monitor,
                Temperature::Cold => cold |= 1 << monitor,
                Temperature::Warm => {}
            }
        }
        self.heat.push((hot, cold));
        self.is_open.push(false);
        number
    }

    fn steps(&self, node: u32) -> std::ops::Range<usize> {
        self.starts[node as usize]..self.starts[node as usize + 1]
    }

    /// Monitors that are hot or cold in a step or at its end.
    fn heat_of(&self, step: usize) -> (u64, u64) {
        let (hot, cold) = self.heat[self.targets[step] as usize];
        let (more_hot, more_cold) = self.passing.get(&step).copied().unwrap_or_default();
        (hot | more_hot, cold | more_cold)
    }

    /// A bottom component with a hot and no cold configuration, the one found first. That no machine has to crash makes one
    /// that only crashes lead out of a bottom too.
    fn random_lasso(&self) -> Option<Lasso> {
        let is_step = |step: usize| !self.crashes.contains(&step);
        let found = components(
            self.nodes.len(),
            |node| self.steps(node),
            |step| self.targets[step],
            |_| true,
            is_step,
        );
        let mut component_of = vec![0u32; self.nodes.len()];
        for (number, component) in found.iter().enumerate() {
            for &node in component {
                component_of[node as usize] = number as u32;
            }
        }
        let mut best: Option<(u32, usize, usize)> = None;
        for (number, component) in found.iter().enumerate() {
            let steps = || component.iter().flat_map(|&node| self.steps(node)).filter(|&step| is_step(step));
            let stays = |step: usize| component_of[self.targets[step] as usize] == number as u32;
            let is_bottom = steps().next().is_some()
                && steps().all(stays)
                && component.iter().all(|&node| !self.is_open[node as usize]);
            if !is_bottom {
                continue;
            }
            // A monitor that stands cold all through is cold at the end of every step.
            let heat = steps().map(|step| self.heat_of(step));
            let (hot, cold) = heat.fold((0, 0), |sum, heat| (sum.0 | heat.0, sum.1 | heat.1));
            let blamed = hot & !cold;
            if blamed == 0 {
                continue;
            }
            let monitor = blamed.trailing_zeros() as usize;
            let step = steps().find(|&step| self.heat_of(step).0 >> monitor & 1 == 1);
            let source = |step: usize| self.starts.partition_point(|&start| start <= step) as u32 - 1;
            if let Some(step) = step {
                let from = component.iter().copied().find(|&node| self.steps(node).contains(&step));
                let from = from.unwrap_or_else(|| source(step));
                if best.is_none_or(|(other, ..)| from < other) {
                    best = Some((from, step, monitor));
                }
            }
        }
        let (start, hot_step, monitor) = best?;
        let first = (start, (hot_step - self.starts[start as usize]) as u32);
        let mut lap = vec![first];
        let at = self.targets[hot_step];
        if at != start {
            lap.extend(self.walk(at, start)?);
        }
        Some(Lasso { monitor, start, lap })
    }

    /// A shortest path between two nodes.
    fn walk(&self, from: u32, to: u32) -> Option<Vec<(u32, u32)>> {
        let mut found_by: FxHashMap<u32, (u32, u32)> = FxHashMap::default();
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for (place, step) in self.steps(at).enumerate() {
                let target = self.targets[step];
                if target == from || found_by.contains_key(&target) {
                    continue;
                }
                found_by.insert(target, (at, place as u32));
                if target == to {
                    let mut way = Vec::new();
                    let mut node = to;
                    while node != from {
                        let by = found_by[&node];
                        way.push(by);
                        node = by.0;
                    }
                    way.reverse();
                    return Some(way);
                }
                queue.push_back(target);
            }
        }
        None
    }

    /// A fair cycle with a hot and no cold configuration for a monitor.
    fn weak_lasso(&mut self, monitor: usize) -> Option<Lasso> {
        let bit = 1u64 << monitor;
        let is_warm = |node: u32| self.heat[node as usize].1 & bit == 0;
        let keeps = |step: usize| self.heat_of(step).1 & bit == 0;
        let mut found =
            components(self.nodes.len(), |node| self.steps(node), |step| self.targets[step], is_warm, keeps);
        found.sort();
        for component in found {
            let mut inside: FxHashMap<u32, u32> = FxHashMap::default();
            for (number, &node) in component.iter().enumerate() {
                inside.insert(node, number as u32);
            }
            let is_hot = component.iter().any(|&node| {
                self.steps(node).any(|step| {
                    inside.contains_key(&self.targets[step])
                        && self.heat_of(step).0 & bit != 0
                        && self.heat_of(step).1 & bit == 0
                })
            });
            if !is_hot {
                continue;
            }
            let (part, steps) = self.part(&component, &inside);
            if let Some((start, walk)) = weak::fair_cycle(&part, monitor) {
                let lap = walk.iter().map(|&edge| steps[edge as usize]).collect();
                return Some(Lasso { monitor, start: component[start as usize], lap });
            }
        }
        None
    }

    /// A component in the form in which fair cycles are looked for, and where its edges are here.
    fn part(&mut self, component: &[u32], inside: &FxHashMap<u32, u32>) -> (sampled::Graph, Vec<(u32, u32)>) {
        let mut part = sampled::Graph::default();
        let mut places = Vec::new();
        for (number, &node) in component.iter().enumerate() {
            let vector = self.nodes.get(node as usize).to_vec();
            let mut sink = Collect::default();
            self.successors.expand_fully(&vector, &mut sink);
            let slots = self.successors.expander.enabled_slots(&vector);
            let mut locals = lock(self.cx.locals);
            // Also those whose steps a bound cuts off: they starve in every loop.
            let enabled: Vec<Choice> =
                slots.into_iter().flat_map(|slot| locals.movers(vector[slot.index()])).collect();
            let first = part.edges.len() as u32;
            for (place, &by) in sink.moves.iter().enumerate() {
                let step = self.starts[node as usize] + place;
                let Some(&to) = self.targets.get(step).and_then(|target| inside.get(target)) else {
                    continue;
                };
                let answers = moves_answers(&mut locals, &vector, by)
                    .iter()
                    .map(|answer| sampled::Answer { point: answer.point, answer: answer.answer })
                    .collect();
                let (hot, cold) = self.heat_of(step);
                let choice = choice(&mut locals, &vector, by);
                let mover = choice.mover();
                part.edges.push(sampled::Edge { from: number as u32, to, hot, cold, choice, mover, answers });
                places.push((node, place as u32));
            }
            let (hot, cold) = self.heat[node as usize];
            part.nodes.push(sampled::Node {
                hot,
                cold,
                enabled,
                compelled: Vec::new(),
                found_by: None,
                edges: first..part.edges.len() as u32,
            });
        }
        (part, places)
    }

    /// The move of a node by its place.
    fn move_at(&mut self, node: u32, place: u32) -> Option<Move> {
        let vector = self.nodes.get(node as usize).to_vec();
        let mut sink = Collect::default();
        self.successors.expand(&vector, &mut sink);
        sink.moves.get(place as usize).copied()
    }

    /// What steps are called in a run. Where configurations stand for others, a walker knows.
    fn names(
        &mut self,
        steps: &[(u32, u32)],
        walker: &mut Option<Walker<'_>>,
    ) -> Result<Vec<StepName>, InternalError> {
        let _following = Following::new(self.cx.locals);
        let mut names = Vec::new();
        for &(node, place) in steps {
            let Some(by) = self.move_at(node, place) else { continue };
            names.push(match walker {
                Some(walker) => walker.step(by, false)?,
                None => name(&mut lock(self.cx.locals), self.nodes.get(node as usize), by),
            });
        }
        Ok(names)
    }

    /// Walks a lasso until it repeats, and replays that.
    fn counterexample(
        &mut self,
        exe: &Arc<Executable>,
        lasso: &Lasso,
        fairness: Fairness,
    ) -> Result<Option<Counterexample>, InternalError> {
        let mut way = Vec::new();
        let mut at = lasso.start;
        while self.origins[at as usize].0 != at {
            way.push(self.origins[at as usize]);
            at = self.origins[at as usize].0;
        }
        way.reverse();
        let mut stem = vec![StepName::first(self.beginnings[at as usize].clone())];
        let mut walker = None;
        if self.cx.has_representatives() {
            let (begun, first) = Walker::begin(self.cx, self.nodes.get(at as usize))?;
            walker = Some(begun);
            stem = vec![first];
        }
        stem.extend(self.names(&way, &mut walker)?);
        let limits = self.cx.options.limits;
        let max_laps = if self.cx.renumbers { MAX_LAPS_OF_NUMBERS } else { MAX_LAPS };
        let lap = &mut || self.names(&lasso.lap, &mut walker);
        repeat_lap(exe, limits, &stem, lap, max_laps, lasso.monitor, fairness)
    }
}

/// Goes round a lap until a configuration repeats, and replays that. The lap is asked for again each time, since machines may
/// change places in it. `None` where each lap makes machines: they are garbage, and the next lap does not miss them, but in the kernel nothing
/// repeats. Likewise after fewer laps than usual, if numbers may be others after each.
pub(crate) fn repeat_lap(
    exe: &Arc<Executable>,
    limits: Limits,
    stem: &[StepName],
    lap: &mut dyn FnMut() -> Result<Vec<StepName>, InternalError>,
    max_laps: usize,
    monitor: usize,
    fairness: Fairness,
) -> Result<Option<Counterexample>, InternalError> {
    let mut kernel = run(exe, limits, stem)?;
    let n_machines = kernel.configuration().roster.len();
    let heat = Heat::new(exe);
    // What no code reads may take a few laps until it repeats, and so may machines that change places.
    let mut homes = vec![(kernel.encoded(), kernel.schedule().len())];
    let loop_start = loop {
        if homes.len() > max_laps {
            if max_laps < MAX_LAPS {
                return Ok(None);
            }
            return Err(InternalError::differs("a loop", kernel.outcome()));
        }
        let mut passing = StepHeat { heat: &heat, hot: 0, cold: 0 };
        for step in &lap()? {
            let mut answers = Given { answers: &step.answers, at: 0 };
            if kernel.take(step.choice, &mut answers, &mut passing).is_err() || !kernel.is_running() {
                return Err(InternalError::differs("a loop", kernel.outcome()));
            }
        }
        let bit = 1 << monitor;
        let (hot, cold) = crate::liveness::heat::standing(&kernel);
        if (passing.hot | hot) & bit == 0 || (passing.cold | cold) & bit != 0 {
            return Err(InternalError::differs("a loop that is hot and never cold", kernel.outcome()));
        }
        if kernel.configuration().roster.len() > n_machines {
            return Ok(None);
        }
        let here = kernel.encoded();
        if let Some((_, start)) = homes.iter().find(|(home, _)| *home == here) {
            break *start;
        }
        homes.push((here, kernel.schedule().len()));
    };
    let schedule = kernel.schedule().clone();
    let found = Search::Lasso { monitor, stem: Vec::new(), lap: Vec::new() };
    let Some(broken) = found.into_break(exe, fairness) else {
        return Err(InternalError::differs("a violation", kernel.outcome()));
    };
    let claim = Claim { violation: *broken.violation, schedule, loop_start: Some(loop_start) };
    confirm(exe, limits, claim).map(Some)
}
