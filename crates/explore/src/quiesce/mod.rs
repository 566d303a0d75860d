//! Whether every run ends, given finitely many stimuli (docs/semantics.md, section 7; Emmi and Lal, 2012).
//!
//! A program *diverges* when messages beget messages for ever. A witness is a lasso: a stem, and a lap that can be repeated
//! for ever, which the kernel has made twice (`certify`). Where the graph of configurations is finite, a lasso is a cycle,
//! and without one every run ends. Buffers that only grow make the graph infinite; a configuration that is like an earlier one of its
//! run but for longer buffers is then a candidate for a lap (`growth`).
//!
//! Reading order: `graph` (configurations and cycles), `fair` (fair cycles), `growth` (candidates), `omega` (acceleration), `certify` (why
//! a lap repeats), `explain` (what happens in it), `symbolic` (the same question on sets of
//! configurations).

mod certify;
mod explain;
mod fair;
mod graph;
mod growth;
mod omega;
mod symbolic;

use std::sync::{Arc, Mutex};

use allways_base::Idx;
use allways_machine::ir::MachineId;
use allways_machine::network::machine_named;
use allways_machine::{Executable, Outcome, Silent, Simplify, UnknownName, replay};
use allways_run::{
    Cancel, Choice, InstanceId, Limits, NetworkModel, Observer, Schedule, StopReason, Trace, ViolationKind,
};

use crate::confirm::confirm_running;
use crate::error::InternalError;
use crate::search::Reductions;
use crate::search::context::Context;
use crate::search::counterexample::StepName;
use crate::search::expand::Move;
use crate::search::local::states::{Act, Ending, LocalStateId, LocalStates};
use crate::search::lock;
use crate::search::options::{ProveOptions, SearchBounds};
use crate::search::reduce::persistent::Reach;
use crate::search::stop::StickyCancel;
use certify::{Certificate, Runner};
pub use explain::{Part, PileUp, Sends, Turn};
use graph::{Direct, Graph, GraphLasso, Pause};
use growth::Skeletons;
use omega::Omega;

/// What can be asked.
#[derive(Clone, Debug)]
pub struct QuiesceOptions {
    /// Only loops count in which everything that can always move does.
    pub is_fair: bool,
    /// By machine definition: its own steps are the environment's, and a loop that needs them does not count.
    pub is_stimulus: Vec<bool>,
    /// Configurations that may be the same for all that happens later are one.
    pub simplifies: bool,
    pub engine: Engine,
    /// Explicit search gives up beyond so many.
    pub max_configurations: Option<usize>,
    pub limits: Limits,
}

impl Default for QuiesceOptions {
    fn default() -> Self {
        QuiesceOptions {
            is_fair: false,
            is_stimulus: Vec::new(),
            simplifies: true,
            engine: Engine::Explicit,
            max_configurations: None,
            limits: Limits::default(),
        }
    }
}

/// Which search answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// One configuration after the other. Knows loops in which buffers grow.
    Explicit,
    /// Sets of configurations, which have to be finitely many. Does not know fairness.
    Symbolic,
}

/// Machine definitions of these names.
///
/// # Errors
/// When a name is not that of a machine.
pub fn stimuli(exe: &Executable, names: &[String]) -> Result<Vec<bool>, UnknownName> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut is_stimulus = vec![false; exe.machines.len()];
    for name in names {
        is_stimulus[machine_named(exe, name)?] = true;
    }
    Ok(is_stimulus)
}

#[derive(Clone, PartialEq, Debug)]
pub enum Quiescence {
    /// Every run ends, or every infinite one needs what does not count. With the number of steps of the longest run, if
    /// there is one.
    Quiesces {
        longest: Option<u64>,
    },
    Diverges(Box<Divergence>),
    Unknown(StopReason),
}

/// A lasso that was replayed.
#[derive(Clone, PartialEq, Debug)]
pub struct Divergence {
    /// The stem, then one lap.
    pub schedule: Schedule,
    /// Where in `schedule` the lap begins.
    pub loop_start: usize,
    pub trace: Trace,
    pub turn: Turn,
}

impl Divergence {
    /// Whether a fair scheduler can go on like that.
    pub fn is_fair(&self) -> bool {
        self.turn.starved.is_empty()
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct QuiesceReport {
    pub quiescence: Quiescence,
    pub n_configurations: u64,
    /// `None` where sets of configurations were explored.
    pub n_transitions: Option<u64>,
    pub depth: u64,
    /// Some runs end with a violation of this kind.
    pub violation: Option<ViolationKind>,
}

/// Configurations before the first look for cycles; twice as many before each further one.
const FIRST_LOOK: usize = 512;

/// Configurations that are explored without persistent sets first.
const UNREDUCED: usize = 200_000;
/// How often loops that accelerate are made before a lap, one after the other until it can be made.
const PUMPED: [usize; 6] = [0, 1, 2, 4, 8, 16];
/// Cycles that are tried.
const MAX_LASSOS: usize = 64;
/// Steps of a stem that is tried.
const MAX_STEM: usize = 100_000;

/// Looks for an infinite run.
///
/// # Errors
/// When the kernel does not agree with what was found: a fault of this crate.
pub fn quiesce(
    exe: &Arc<Executable>,
    options: &QuiesceOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<QuiesceReport, InternalError> {
    if let Some(reason) = crate::search::observed_text(exe) {
        return Ok(QuiesceReport::unknown(reason));
    }
    let (prove_options, simplify) = search_options(exe, options);
    if options.engine == Engine::Symbolic {
        return symbolic::quiesce(exe, options, &prove_options, simplify, observer, cancel);
    }
    let sticky = StickyCancel::new(cancel);
    let bounds = SearchBounds::default();
    let locals =
        Mutex::new(LocalStates::new(exe, options.limits, bounds, options.is_fair, simplify, false, &sticky));
    let cx = Context::plain(&prove_options, &locals, observer, &sticky);
    let search = Search { exe, options, simplify };
    let mut direct = (exe.network.model == NetworkModel::Bag)
        .then(|| Direct { is_self_sender: vec![false; exe.machines.len()].into(), found: None });
    let is_plain = !options.is_fair && options.is_stimulus.is_empty();
    let most = options.max_configurations.unwrap_or(usize::MAX);
    // An infinite run exists if and only if there is one among those that persistent sets leave (see `termination`). Lengths are not
    // the same, so they come second.
    let reach = if is_plain && exe.network.is_default() { Reach::new(exe) } else { None };
    let mut is_reduced = false;
    let (graph, quiescence) = loop {
        let cx = Context { reach: reach.as_ref().filter(|_| is_reduced), ..cx };
        let mut graph = match Graph::new(cx, options.is_stimulus.clone(), direct.clone()) {
            Ok(graph) => graph,
            Err(reason) => return Ok(QuiesceReport::unknown(reason)),
        };
        if direct.is_some() && !is_plain {
            graph.omega = Some(Omega::new());
        }
        let may_reduce = reach.is_some() && !is_reduced;
        let enough = if may_reduce { most.min(UNREDUCED) } else { most };
        match (search.run(&mut graph, enough)?, &mut direct) {
            (Ended::Answer(quiescence), _) => break (graph, quiescence),
            (Ended::SelfSender(machine), Some(direct)) => direct.is_self_sender[machine] = true,
            (Ended::Enough, _) if may_reduce && enough < most => is_reduced = true,
            (Ended::Enough | Ended::SelfSender(_), _) => {
                let why = format!("gave up after {most} configurations");
                break (graph, Quiescence::Unknown(StopReason::Undecided { why }));
            }
        }
    };
    let quiescence = match quiescence {
        Quiescence::Quiesces { .. } if is_reduced => Quiescence::Quiesces { longest: None },
        other => other,
    };
    let mut report = QuiesceReport {
        quiescence,
        n_configurations: graph.len() as u64 + 1,
        n_transitions: Some(graph.targets.len() as u64 + 1),
        depth: graph.depth(),
        violation: None,
    };
    report.violation = search.violation(&graph);
    if let Quiescence::Quiesces { .. } = report.quiescence {
        // A step that was left out because of a limit says nothing; neither does what is not supported.
        let unsupported =
            graph.begins_unknown.clone().or_else(|| graph.successors.expander.memo.unknown.clone());
        let unfinished = unfinished(lock(&locals).unfinished.as_slice());
        if let Some(reason) = sticky.first_reason().or(unsupported).or(unfinished) {
            report.quiescence = Quiescence::Unknown(reason);
        }
    }
    Ok(report)
}

/// Exploration without reductions other than those of single local states, and what these leave out.
fn search_options(exe: &Executable, options: &QuiesceOptions) -> (ProveOptions, Simplify) {
    let reductions = Reductions {
        dead_variables: options.simplifies,
        unread_payloads: options.simplifies,
        collection_order: options.simplifies,
        ..Reductions::NONE
    };
    let reductions = reductions.over(exe);
    let simplify = Simplify { counters: reductions.dead_variables, ..reductions.simplify() };
    (ProveOptions { reductions, limits: options.limits, ..ProveOptions::default() }, simplify)
}

/// A handler among these violations that does not finish: that such a run ends is not known.
fn unfinished(broken: &[ViolationKind]) -> Option<StopReason> {
    let kind = broken.iter().find(|kind| **kind == ViolationKind::EndlessHandler)?;
    Some(StopReason::Unsupported { what: format!("a handler that does not finish ({})", kind.as_str()) })
}

impl QuiesceReport {
    /// Nothing was explored.
    pub fn unknown(reason: StopReason) -> Self {
        let quiescence = Quiescence::Unknown(reason);
        QuiesceReport { quiescence, n_configurations: 0, n_transitions: None, depth: 0, violation: None }
    }
}

/// How an exploration ended.
enum Ended {
    Answer(Quiescence),
    /// A machine of this definition sends to itself, which was not known: it has to begin again.
    SelfSender(MachineId),
    /// There are more configurations than it may explore.
    Enough,
}

/// How often a candidate was replayed: each costs a run from the beginning, and most of them may fail.
#[derive(Default)]
struct Trials {
    n: usize,
}

impl Trials {
    fn may_try(&mut self, n_nodes: usize) -> bool {
        self.n += 1;
        self.n <= 64 + n_nodes / 64
    }
}

struct Search<'a> {
    exe: &'a Arc<Executable>,
    options: &'a QuiesceOptions,
    simplify: Simplify,
}

impl Search<'_> {
    /// Explores, and looks for cycles in between, until there is an answer or so many configurations.
    fn run(&self, graph: &mut Graph<'_>, most: usize) -> Result<Ended, InternalError> {
        let mut enough = FIRST_LOOK.min(most);
        let mut skeletons = Skeletons::default();
        let mut trials = Trials::default();
        loop {
            let mut found = Ok(None);
            let pause = graph.explore(enough, |graph, node| {
                if graph.new_self_sender().is_some() {
                    return true;
                }
                let candidates = match &graph.omega {
                    Some(omega) => omega.pump(node).into_iter().collect(),
                    None => skeletons.candidates(graph, node),
                };
                graph.extra_bytes = skeletons.n_bytes();
                found = self.growing_lap(graph, &candidates, node, &mut trials);
                !matches!(found, Ok(None))
            });
            if let Some(found) = found? {
                return Ok(Ended::Answer(Quiescence::Diverges(Box::new(found))));
            }
            if pause == Pause::Exhausted {
                graph.prune();
            }
            let lassos = self.cycles(graph);
            for lasso in &lassos {
                if let Some(found) = self.divergence(graph, lasso)?
                    && (!self.options.is_fair || found.is_fair())
                {
                    return Ok(Ended::Answer(Quiescence::Diverges(Box::new(found))));
                }
            }
            if let Some(machine) = graph.new_self_sender() {
                return Ok(Ended::SelfSender(machine));
            }
            return Ok(match pause {
                Pause::Enough if enough >= most => Ended::Enough,
                Pause::Enough => {
                    enough = enough.saturating_mul(2).min(most);
                    continue;
                }
                Pause::Exhausted if !lassos.is_empty() => {
                    let why = "messages pile up without bound, and whether some run repeats for ever could not be decided";
                    Ended::Answer(Quiescence::Unknown(StopReason::Undecided { why: why.to_owned() }))
                }
                Pause::Exhausted => Ended::Answer(Quiescence::Quiesces { longest: graph.longest_run() }),
                Pause::Stopped(reason) => Ended::Answer(Quiescence::Unknown(reason)),
            });
        }
    }

    /// A lap from one of these to the node that makes buffers longer for ever.
    fn growing_lap(
        &self,
        graph: &mut Graph<'_>,
        candidates: &[u32],
        node: u32,
        trials: &mut Trials,
    ) -> Result<Option<Divergence>, InternalError> {
        for &start in candidates {
            let Some(lap) = graph.tree_path(start, node) else { continue };
            let counts = |&(from, place): &(u32, u32)| graph.counts(graph.steps(from).start + place as usize);
            if !lap.iter().all(counts) || !trials.may_try(graph.len()) {
                continue;
            }
            let found = self.divergence(graph, &GraphLasso { start, lap })?;
            if found.as_ref().is_some_and(|found| !self.options.is_fair || found.is_fair()) {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Cycles that count, those that can be reached soonest in front; one where each is as good as any other.
    fn cycles(&self, graph: &mut Graph<'_>) -> Vec<GraphLasso> {
        let is_accelerated = graph.omega.as_ref().is_some_and(Omega::is_used);
        let n = if is_accelerated { MAX_LASSOS } else { 1 };
        let components = graph.cyclic_components();
        if self.options.is_fair {
            // With the others the search ends.
            let compels: &[bool] = if is_accelerated { &[true, false] } else { &[true] };
            let mut lassos = Vec::new();
            for &compels_omega in compels {
                let found = components.iter().filter_map(|it| fair::fair_lasso(graph, it, compels_omega));
                lassos.extend(found.take(n));
            }
            return lassos;
        }
        let mut lassos = Vec::new();
        for component in components {
            let inside: rustc_hash::FxHashSet<u32> = component.iter().copied().collect();
            let keeps = |step: usize| graph.counts(step) && inside.contains(&graph.targets[step]);
            let mut here: Vec<GraphLasso> = component
                .iter()
                .take(MAX_LASSOS)
                .filter_map(|&start| Some(GraphLasso { start, lap: graph.cycle(start, &keeps)? }))
                .collect();
            here.sort_by_key(|lasso| (lasso.lap.len(), lasso.start));
            lassos.extend(here);
            if lassos.len() >= n {
                break;
            }
        }
        lassos.truncate(n);
        lassos
    }

    /// The lasso as a schedule, which the kernel has made, with two laps.
    fn divergence(
        &self,
        graph: &mut Graph<'_>,
        lasso: &GraphLasso,
    ) -> Result<Option<Divergence>, InternalError> {
        let limits = self.options.limits;
        if graph.omega.as_ref().is_none_or(|omega| !omega.is_used()) {
            let stem = graph.stem(lasso.start);
            let lap = graph.names(&lasso.lap);
            let runner = Runner::new(self.exe, limits, self.simplify, &stem)?;
            let found = self.replayed(runner, &lap)?;
            let end = lasso
                .lap
                .last()
                .map(|&(node, place)| graph.targets[graph.steps(node).start + place as usize]);
            if found.is_none() && end == Some(lasso.start) {
                return Err(InternalError::differs("a cycle that repeats", &Outcome::Running));
            }
            return Ok(found);
        }
        if !graph.is_sustained(&lasso.lap) {
            return Ok(None);
        }
        let lap = graph.named(&lasso.lap);
        for n_times in PUMPED {
            let stem = graph.pumped_stem(lasso.start, n_times);
            if stem.len() > MAX_STEM {
                break;
            }
            if let Some(mut runner) = Runner::guess(self.exe, limits, self.simplify, &stem)
                && let Some(lap) = runner.possible(&lap)
                && let Some(found) = self.replayed(runner, &lap)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn replayed(
        &self,
        mut runner: Runner<'_>,
        lap: &[StepName],
    ) -> Result<Option<Divergence>, InternalError> {
        let limits = self.options.limits;
        let loop_start = runner.kernel.schedule().len();
        let Some(certificate) = runner.certify(lap)? else { return Ok(None) };
        let schedule = runner.kernel.schedule().clone();
        let second = std::mem::take(&mut runner.last_lap);
        let turn = explain::turn(&mut runner.kernel, &second, &certificate, &self.options.is_stimulus);
        if let Certificate::Repeats = certificate
            && schedule.len() == loop_start
        {
            return Err(InternalError::differs("a lap", runner.kernel.outcome()));
        }
        let trace = confirm_running(self.exe, limits, &schedule)?;
        Ok(Some(Divergence { schedule, loop_start, trace, turn }))
    }

    /// The kind of the first violation found that runs end with.
    fn violation(&self, graph: &Graph<'_>) -> Option<ViolationKind> {
        if let Some(answers) = &graph.begins_broken {
            let mut choices = vec![Choice::Machine(InstanceId::MAIN)];
            choices.extend(answers.iter().map(|&answer| Choice::Data(answer)));
            let schedule = Schedule { choices };
            let kernel = replay(self.exe, self.options.limits, &schedule, &mut Silent).ok()?;
            return match kernel.outcome() {
                Outcome::Violated(violation) => Some(violation.kind),
                _ => None,
            };
        }
        let mut broken = graph.broken.iter();
        broken.find_map(|&(node, by)| kind_of(&mut lock(graph.cx.locals), graph.nodes.get(node as usize), by))
    }
}

/// What a step breaks, if it is the machine that fails and not a monitor.
fn kind_of(locals: &mut LocalStates<'_>, vector: &[LocalStateId], by: Move) -> Option<ViolationKind> {
    use allways_machine::{Pending, Status};
    let local = vector[by.slot.index()];
    match &*locals.known_act(local) {
        Act::Fault => match locals.local(local).status {
            Status::Pending(Pending::Fault(fault)) => Some(fault.kind),
            _ => None,
        },
        Act::Step { outcomes, .. } => match outcomes.get(by.own as usize)?.end {
            Ending::Fault(kind, _) => Some(kind),
            Ending::Stands(_) | Ending::Cut(_) | Ending::Unknown(_) => Some(ViolationKind::Assertion),
        },
        Act::Rest { .. } | Act::Network(_) | Act::Unknown(_) => None,
    }
}

/// The kinds of violations with which steps of a local state end.
pub(crate) fn kinds_of(locals: &mut LocalStates<'_>, id: LocalStateId) -> Vec<ViolationKind> {
    use allways_machine::{Pending, Status};
    match &*locals.known_act(id) {
        Act::Fault => match locals.local(id).status {
            Status::Pending(Pending::Fault(fault)) => vec![fault.kind],
            _ => Vec::new(),
        },
        Act::Step { outcomes, .. } => {
            let kind = |end: &Ending| match end {
                Ending::Fault(kind, _) => Some(*kind),
                Ending::Stands(_) | Ending::Cut(_) | Ending::Unknown(_) => None,
            };
            outcomes.iter().filter_map(|outcome| kind(&outcome.end)).collect()
        }
        Act::Rest { .. } | Act::Network(_) | Act::Unknown(_) => Vec::new(),
    }
}
