//! Whether every run ends, by a naive analysis of the graph: every configuration that the kernel reaches, by its bytes, and every step.
//!
//! A finite graph decides. Where it is larger than what is explored, an answer is put to the test all the same: a lap that was found
//! is made many times, and no run is longer than the longest.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use allways_base::Idx;
use allways_explore::Never;
use allways_explore::quiesce::{Divergence, Engine, QuiesceOptions, Quiescence, quiesce};
use allways_machine::encode::encode_message;
use allways_machine::ir::MachineId;
use allways_machine::{DataPoint, Executable, Kernel, Message, Outcome, Script, Silent};
use allways_run::{Choice, Limits, NetworkModel, NetworkOptions, Quiet, Schedule, StopReason, ViolationKind};

use crate::liveness::limits;
use crate::naive::{Edges, Flip, Flips, one_sided};

/// What moves: a machine, a channel, or, where no order is kept, a message by its bytes.
type Mover = (Choice, Vec<u8>);

struct Edge {
    to: usize,
    mover: Mover,
    is_stimulus: bool,
    /// Each `$$` that is asked, by machine and op, the answer, and how many there are.
    flips: Vec<Flip>,
}

/// What one answer may take, since a small graph can have a large diagram.
const MAX_BYTES: u64 = 1 << 30;

/// Edges of a small program. One step has very many if a handler asks for `$` again and again.
const MAX_EDGES: usize = 300_000;

/// The graph of a small program.
pub struct Graph {
    /// What has to move if it can always.
    enabled: Vec<BTreeSet<Mover>>,
    edges: Vec<Vec<Edge>>,
    depths: Vec<u64>,
    /// Every configuration is there.
    pub is_whole: bool,
    /// Steps of a run that breaks a property, at least.
    longest_broken: u64,
    /// By configuration: some step of it breaks a property.
    breaks: Vec<bool>,
}

impl Graph {
    /// `None` if a handler comes to no end, which no graph shows, or chooses among very many answers.
    pub fn new(exe: &Arc<Executable>, is_stimulus: &[bool], max_configurations: usize) -> Option<Graph> {
        let mut kernel = Kernel::new(exe.clone(), limits());
        let mut numbers: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut graph = Graph {
            enabled: Vec::new(),
            edges: Vec::new(),
            depths: Vec::new(),
            is_whole: true,
            longest_broken: 0,
            breaks: Vec::new(),
        };
        numbers.insert(kernel.encoded(), 0);
        graph.add(&kernel, is_stimulus, 0);
        let mut open = std::collections::VecDeque::from([(0, kernel.save())]);
        let mut n_edges = 0;
        while let Some((from, snapshot)) = open.pop_front() {
            if graph.edges.len() > max_configurations {
                graph.is_whole = false;
                break;
            }
            kernel.restore(&snapshot);
            let crashes: Vec<Choice> = kernel.crashes().map(Choice::Crash).collect();
            let choices: Vec<Choice> = kernel.choices().chain(crashes).collect();
            for choice in choices {
                kernel.restore(&snapshot);
                let mover = mover(&kernel, choice);
                let is_stimulus_step = moves_stimulus(&kernel, choice, is_stimulus);
                let mut script = Script::default();
                loop {
                    if n_edges == MAX_EDGES {
                        return None;
                    }
                    n_edges += 1;
                    kernel.restore(&snapshot);
                    let mut flips = Flips { script: &mut script, given: Vec::new() };
                    kernel.take(choice, &mut flips, &mut Silent).expect("it is possible");
                    let flips = flips.given;
                    let depth = graph.depths[from] + 1;
                    match kernel.outcome() {
                        Outcome::Violated(violation) => match violation.kind {
                            ViolationKind::EndlessHandler => return None,
                            // Ends, like others.
                            ViolationKind::Deadlock | ViolationKind::HotAtEnd => {}
                            _ => {
                                graph.longest_broken = graph.longest_broken.max(depth);
                                graph.breaks[from] = true;
                                if script.advance() {
                                    continue;
                                }
                                break;
                            }
                        },
                        Outcome::Unknown(_) => return None,
                        Outcome::Running | Outcome::Quiescent => {}
                    }
                    let bytes = kernel.encoded();
                    let to = match numbers.get(&bytes) {
                        Some(&to) => to,
                        None => {
                            let to = graph.edges.len();
                            numbers.insert(bytes, to);
                            graph.add(&kernel, is_stimulus, depth);
                            if kernel.is_running() {
                                open.push_back((to, kernel.save()));
                            }
                            to
                        }
                    };
                    let mover = mover.clone();
                    graph.edges[from].push(Edge { to, mover, is_stimulus: is_stimulus_step, flips });
                    if !script.advance() {
                        break;
                    }
                }
            }
        }
        Some(graph)
    }

    fn add(&mut self, kernel: &Kernel, is_stimulus: &[bool], depth: u64) {
        let has_to = kernel.choices().filter(|&choice| !moves_stimulus(kernel, choice, is_stimulus));
        self.enabled.push(has_to.map(|choice| mover(kernel, choice)).collect());
        self.edges.push(Vec::new());
        self.depths.push(depth);
        self.breaks.push(false);
    }

    /// Steps that some run has, at least.
    fn reached_depth(&self) -> u64 {
        self.depths.iter().copied().max().unwrap_or(0).max(self.longest_broken)
    }

    fn components(
        &self,
        within: &BTreeSet<usize>,
        keeps: &dyn Fn(usize, usize) -> bool,
    ) -> Vec<BTreeSet<usize>> {
        Edges { by_source: &self.edges, target: |edge| edge.to }.components(within, keeps)
    }

    /// Whether some run goes on for ever, without stimuli from some point on.
    pub fn diverges(&self) -> bool {
        let all = (0..self.edges.len()).collect();
        !self.components(&all, &|node, place| !self.edges[node][place].is_stimulus).is_empty()
    }

    /// The same, and nothing that can always move is put off for ever, and each `$$` gives all its answers.
    pub fn diverges_fairly(&self) -> bool {
        let mut left_out: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut open: Vec<BTreeSet<usize>> = vec![(0..self.edges.len()).collect()];
        while let Some(within) = open.pop() {
            let keeps = |node: usize, place: usize| {
                !self.edges[node][place].is_stimulus && !left_out.contains(&(node, place))
            };
            let mut unfair: BTreeSet<(usize, usize)> = BTreeSet::new();
            for part in self.components(&within, &keeps) {
                let mut inner: Vec<(usize, usize, &Edge)> = Vec::new();
                for &node in &part {
                    for (place, edge) in self.edges[node].iter().enumerate() {
                        if part.contains(&edge.to) && keeps(node, place) {
                            inner.push((node, place, edge));
                        }
                    }
                }
                let one_sided = one_sided(inner.iter().flat_map(|(.., edge)| &edge.flips));
                let bad: Vec<(usize, usize)> = inner
                    .iter()
                    .filter(|(.., edge)| edge.flips.iter().any(|(point, ..)| one_sided.contains(point)))
                    .map(|&(node, place, _)| (node, place))
                    .collect();
                if !bad.is_empty() {
                    unfair.extend(bad);
                    open.push(part);
                    continue;
                }
                let mut always = part.iter().map(|&node| self.enabled[node].clone());
                let first = always.next().unwrap_or_default();
                let always = always.fold(first, |all, here| all.intersection(&here).cloned().collect());
                let moved: BTreeSet<&Mover> = inner.iter().map(|(.., edge)| &edge.mover).collect();
                if always.iter().all(|mover| moved.contains(mover)) {
                    return true;
                }
            }
            left_out.extend(unfair);
        }
        false
    }

    /// Steps of the longest run of a whole graph without cycles.
    fn longest(&self) -> Option<u64> {
        fn from(graph: &Graph, node: usize, known: &mut [Option<u64>]) -> u64 {
            if let Some(n) = known[node] {
                return n;
            }
            // A step that breaks a property is the last one, of runs of any length that come there.
            let breaks = u64::from(graph.breaks[node]);
            let n = graph.edges[node].iter().map(|edge| 1 + from(graph, edge.to, known)).max();
            let n = n.unwrap_or(0).max(breaks);
            known[node] = Some(n);
            n
        }
        let all = (0..self.edges.len()).collect();
        if !self.is_whole || !self.components(&all, &|_, _| true).is_empty() {
            return None;
        }
        Some(from(self, 0, &mut vec![None; self.edges.len()]))
    }
}

fn message_at(kernel: &Kernel, choice: Choice) -> Option<Message> {
    let Choice::Deliver { target, source, place } = choice else { return None };
    let mut flight = kernel.configuration().network.clone();
    flight.deliver(kernel.executable().network.model, flight.position(source, target)?, place)
}

fn mover(kernel: &Kernel, choice: Choice) -> Mover {
    let mut bytes = Vec::new();
    if kernel.executable().network.model == NetworkModel::Bag
        && let Some(message) = message_at(kernel, choice)
    {
        encode_message(kernel.executable(), kernel.store(), message, &mut bytes);
    }
    (choice.mover(), bytes)
}

fn moves_stimulus(kernel: &Kernel, choice: Choice, is_stimulus: &[bool]) -> bool {
    let Choice::Machine(machine) = choice else { return false };
    let machine = kernel.configuration().local(machine).machine;
    is_stimulus.get(machine.index()).copied().unwrap_or(false)
}

/// Laps that are made of a loop that was found.
const N_LAPS: usize = 12;

/// What an answer was compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compared {
    Quiesces,
    Diverges,
    /// The graph is larger than what is explored, and there is no answer.
    Unknown,
}

/// Compares an answer with the graph.
///
/// # Errors
/// When they differ, with what.
pub fn compare(exe: &Arc<Executable>, graph: &Graph, options: &QuiesceOptions) -> Result<Compared, String> {
    let report = quiesce(exe, options, &Quiet, &Never).map_err(|error| error.to_string())?;
    let expected = || if options.is_fair { graph.diverges_fairly() } else { graph.diverges() };
    match &report.quiescence {
        Quiescence::Diverges(found) => {
            if graph.is_whole && !expected() {
                return Err(format!("it ends, but a loop was found: {:?}", found.turn));
            }
            if options.is_fair && !found.is_fair() {
                return Err(format!("a loop that is not fair: {:?}", found.turn));
            }
            repeat(exe, found, &options.is_stimulus)?;
            Ok(Compared::Diverges)
        }
        Quiescence::Quiesces { longest } => {
            if graph.is_whole && expected() {
                return Err("it does not end, but that was called proved".to_owned());
            }
            if let Some(longest) = longest
                && (graph.reached_depth() > *longest || graph.longest().is_some_and(|n| n != *longest))
            {
                let n = graph.longest().unwrap_or(graph.reached_depth());
                return Err(format!("the longest run has {n} steps, not {longest}"));
            }
            Ok(Compared::Quiesces)
        }
        Quiescence::Unknown(StopReason::Memory { .. }) => Ok(Compared::Unknown),
        Quiescence::Unknown(reason) if graph.is_whole => Err(format!("no answer: {reason:?}")),
        Quiescence::Unknown(_) => Ok(Compared::Unknown),
    }
}

/// Makes many laps of a loop; messages that overtake each other are found by what they are.
fn repeat(exe: &Arc<Executable>, found: &Divergence, is_stimulus: &[bool]) -> Result<(), String> {
    let stem = Schedule { choices: found.schedule.choices[..found.loop_start].to_vec() };
    let mut kernel = allways_machine::replay(exe, limits(), &stem, &mut Silent)
        .map_err(|error| format!("the stem does not replay: {error}"))?;
    let lap = &found.schedule.choices[found.loop_start..];
    let mut steps: Vec<(Choice, Vec<u32>)> = Vec::new();
    for &choice in lap {
        match (choice, steps.last_mut()) {
            (Choice::Data(answer), Some((_, answers))) => answers.push(answer),
            (choice, _) => steps.push((choice, Vec::new())),
        }
    }
    if steps.is_empty() {
        return Err("the loop is empty".to_owned());
    }
    let mut messages: Vec<Option<Message>> = Vec::new();
    for lap in 0..N_LAPS {
        for (number, (choice, answers)) in steps.iter().enumerate() {
            let choice = if lap == 0 {
                if moves_stimulus(&kernel, *choice, is_stimulus) {
                    return Err("a stimulus takes part in the loop".to_owned());
                }
                messages.push(message_at(&kernel, *choice));
                *choice
            } else {
                match (*choice, messages[number]) {
                    (Choice::Deliver { target, source, .. }, Some(message)) => (0..100)
                        .map(|place| Choice::Deliver { target, source, place })
                        .find(|&choice| message_at(&kernel, choice) == Some(message))
                        .ok_or_else(|| format!("lap {lap}: the message is gone"))?,
                    (choice, _) => choice,
                }
            };
            let mut given = answers.iter().copied();
            let mut ask = |_: DataPoint| given.next().unwrap_or(0);
            let made = kernel.take(choice, &mut ask, &mut Silent);
            if made.is_err() || !kernel.is_running() {
                return Err(format!("lap {lap}: step {number} cannot be made: {:?}", kernel.outcome()));
            }
        }
    }
    Ok(())
}

/// What came out of many comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    pub n_programs: u64,
    /// Programs whose whole graph was explored.
    pub n_whole: u64,
    /// Questions that no graph answers: a handler comes to no end, or something is not supported.
    pub n_skipped: u64,
    pub n_quiescing: u64,
    pub n_diverging: u64,
    pub n_unknown: u64,
    pub n_differences: u64,
}

/// Configurations of a graph that is explored naively.
const MAX_NAIVE: usize = 400;
/// Configurations after which the search gives up.
const MAX_SEARCHED: usize = 4_000;

/// The program of a seed: different kinds in turn.
pub fn program_of(seed: u64) -> String {
    match seed % 4 {
        0 => crate::generate::liveness_cycles::liveness_cycles(seed),
        1 => crate::generate::generate_endless(seed).0,
        _ => crate::generate::chatter::chatter(seed),
    }
}

/// Compares the programs of seeds, each with and without fairness, with and without a stimulus. Differences are reported, with a
/// small program that shows them.
///
/// # Panics
/// When a random program is rejected.
pub fn compare_seeds(
    seeds: std::ops::Range<u64>,
    model: NetworkModel,
    tally: &mut Tally,
    report: &mut dyn FnMut(String),
) {
    for seed in seeds {
        let text = program_of(seed);
        if let Err(messages) = crate::Loaded::new("random.p", &text) {
            panic!("seed {seed} is rejected: {messages}\n{text}");
        }
        tally.n_programs += 1;
        for is_fair in [false, true] {
            for has_stimulus in [false, true] {
                let options = |exe: &Executable| QuiesceOptions {
                    is_fair,
                    is_stimulus: stimulus_of(exe, seed, has_stimulus),
                    simplifies: seed % 3 != 0,
                    engine: Engine::Explicit,
                    max_configurations: Some(MAX_SEARCHED),
                    limits: Limits { memory_bytes: Some(MAX_BYTES), ..limits() },
                };
                let look = |text: &str| -> Option<Result<(Compared, bool), String>> {
                    let loaded = crate::Loaded::new("random.p", text).ok()?;
                    if loaded.program.tests.is_empty() {
                        return None;
                    }
                    let network = NetworkOptions { model, ..NetworkOptions::default() };
                    let exe = crate::proof::executable(&loaded, &network).ok()?;
                    let options = options(&exe);
                    let graph = Graph::new(&exe, &options.is_stimulus, MAX_NAIVE)?;
                    let compared = compare(&exe, &graph, &options).map(|compared| (compared, graph.is_whole));
                    // Sets of configurations need a finite graph, and do not know fairness.
                    if !graph.is_whole || is_fair || compared.is_err() {
                        return Some(compared);
                    }
                    let options = QuiesceOptions { engine: Engine::Symbolic, ..options };
                    let symbolic = compare(&exe, &graph, &options);
                    Some(symbolic.map_err(|difference| format!("symbolic: {difference}")).and(compared))
                };
                match look(&text) {
                    None => tally.n_skipped += 1,
                    Some(Ok((compared, is_whole))) => {
                        tally.n_whole += u64::from(is_whole && !is_fair && !has_stimulus);
                        match compared {
                            Compared::Quiesces => tally.n_quiescing += 1,
                            Compared::Diverges => tally.n_diverging += 1,
                            Compared::Unknown => tally.n_unknown += 1,
                        }
                    }
                    Some(Err(difference)) => {
                        tally.n_differences += 1;
                        let small = crate::shrink::shrink(&text, |text| matches!(look(text), Some(Err(_))));
                        report(format!(
                            "seed {seed}, network {}, fair {is_fair}, stimulus {has_stimulus}: {difference}\n{small}",
                            model.as_str()
                        ));
                    }
                }
            }
        }
    }
}

/// One of the machines, by chance.
fn stimulus_of(exe: &Executable, seed: u64, has_stimulus: bool) -> Vec<bool> {
    if !has_stimulus {
        return Vec::new();
    }
    let machines: Vec<MachineId> =
        exe.machines.ids().filter(|&machine| !exe.machines[machine].is_monitor).collect();
    let mut is_stimulus = vec![false; exe.machines.len()];
    is_stimulus[machines[(seed / 4) as usize % machines.len()].index()] = true;
    is_stimulus
}
