//! The graph of configurations of a small program, for display.
//!
//! One kernel, every enabled move (machines, messages in flight, crashes) and every resolution of the data choices,
//! breadth first, so that nodes are sorted by distance from the initial one. Configurations are distinguished by their bytes. Machines are numbered in
//! the order in which the graph reaches them: a run numbers them in order of creation, which may differ between two
//! paths to the same configuration.

mod goal;

use std::sync::Arc;

use allways_machine::ir::{EventId, InterfaceId};
use allways_machine::record::reveal;
use allways_machine::value::{Form, InstanceNames, Notation, ProgramNames, write_value_as};
use allways_machine::{
    Executable, Kernel, Local, Message, Note, Outcome, Pending, Recorder, Scene, Snapshot, Status, Value,
    replay_on,
};
use allways_p::hir::Temperature;
use allways_run::{Cancel, Choice, InstanceId, Limits, Schedule, StopReason};
use rustc_hash::{FxHashMap, FxHashSet};

pub use goal::Goal;
use goal::What;

use crate::liveness::graph::Resolution;

/// Answers to data choices that a label shows.
const MAX_ANSWERS: usize = 8;
/// Resolutions of the data choices of one step that are explored.
const MAX_WAYS: usize = 2000;

#[derive(Clone, Default, Debug)]
pub struct StateGraph {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// Every configuration is there. Otherwise nodes of kind [`NodeKind::Open`] were not looked into.
    pub is_complete: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    pub kind: NodeKind,
    /// Some monitor is hot.
    pub is_hot: bool,
    /// One line for each monitor and machine: name, control state, fields, its inbox, what it is about to send. Then what is on
    /// its way.
    pub lines: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// Before the first step.
    Start,
    Plain,
    /// Terminal, without a deadlock.
    End,
    /// A property is broken; the last line says how.
    Violated,
    /// What comes next depends on something unsupported; the last line says on what.
    Unknown,
    /// It was not looked into, since there are too many.
    Open,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    pub from: u32,
    pub to: u32,
    /// What is done, and by which machine.
    pub label: String,
    /// The choices that make it.
    pub choices: Vec<Choice>,
}

/// Builds the graph, of at most about `max_nodes` configurations.
pub fn state_graph(
    exe: &Arc<Executable>,
    limits: Limits,
    max_nodes: usize,
    cancel: &dyn Cancel,
) -> StateGraph {
    let mut builder = Builder::new(exe);
    builder.build(Kernel::new(exe.clone(), limits), max_nodes, cancel);
    builder.graph
}

/// Builds the part of the graph that lies within `depth` steps of where a schedule ends; the first node is there. `None` if the
/// schedule does not fit the program.
pub fn neighbourhood(
    exe: &Arc<Executable>,
    limits: Limits,
    schedule: &Schedule,
    depth: usize,
    max_nodes: usize,
    cancel: &dyn Cancel,
) -> Option<StateGraph> {
    let mut builder = Builder::new(exe);
    let kernel = builder.start(exe, limits, schedule)?;
    builder.build_within(kernel, depth, max_nodes, cancel);
    Some(builder.graph)
}

/// Whether a configuration can be reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reach {
    /// By this schedule, one of the shortest from where the search began.
    Reached(Schedule),
    /// All configurations were explored.
    Unreachable,
    /// Not all were, for this reason.
    Unknown(&'static str),
}

/// Searches for a configuration that is as described, from where a schedule ends, breadth first: at most about `max_nodes`
/// configurations. Returns how many were explored, too; `None` if the schedule does not fit the program.
pub fn reach(
    exe: &Arc<Executable>,
    limits: Limits,
    schedule: &Schedule,
    goal: &Goal,
    max_nodes: usize,
    cancel: &dyn Cancel,
) -> Option<(Reach, usize)> {
    let mut builder = Builder::new(exe);
    builder.goal = Some(goal);
    let kernel = builder.start(exe, limits, schedule)?;
    builder.build_within(kernel, usize::MAX, max_nodes, cancel);
    let n = builder.graph.nodes.len();
    let is_unknown = builder.graph.nodes.iter().any(|node| node.kind == NodeKind::Unknown);
    let reach = match builder.found {
        Some(found) => Reach::Reached(builder.path_to(schedule, found)),
        None if cancel.reason().is_some() => Reach::Unknown("it was stopped"),
        None if !builder.graph.is_complete => Reach::Unknown("there are more"),
        None if is_unknown => Reach::Unknown("some runs could not be explored"),
        None => Reach::Unreachable,
    };
    Some((reach, n))
}

/// Machines in order of creation.
struct Created(Vec<(InstanceId, InterfaceId)>);

impl Recorder for Created {
    fn record(&mut self, scene: &Scene<'_>, note: Note) {
        if let Note::Create { created, .. } = note {
            self.0.push((created, scene.roster.interface(created)));
        }
    }
}

/// What monitors see first in a step.
#[derive(Default)]
struct Seen {
    first: Option<(InstanceId, EventId)>,
    is_announced: bool,
}

impl Recorder for Seen {
    fn record(&mut self, _: &Scene<'_>, note: Note) {
        let (machine, message, is_announced) = match note {
            Note::Announce { machine, message, .. } => (machine, message, true),
            Note::Observe { machine, message, .. } => (machine, message, false),
            _ => return,
        };
        if self.first.is_none() {
            self.first = Some((machine, message.event));
            self.is_announced = is_announced;
        }
    }
}

struct Builder<'a> {
    exe: &'a Executable,
    names: Names<'a>,
    graph: StateGraph,
    known: FxHashMap<Vec<u8>, u32>,
    /// By node: where it stands; taken when it is expanded.
    open: Vec<Option<Snapshot>>,
    /// What is searched for; then nothing is written for display.
    goal: Option<&'a Goal>,
    found: Option<u32>,
}

impl<'a> Builder<'a> {
    fn new(exe: &'a Executable) -> Self {
        Builder {
            exe,
            names: Names { exe, numbers: FxHashMap::default(), interfaces: FxHashMap::default() },
            graph: StateGraph { is_complete: true, ..StateGraph::default() },
            known: FxHashMap::default(),
            open: Vec::new(),
            goal: None,
            found: None,
        }
    }

    /// The kernel where a schedule ends. Machines are called as the run calls them.
    fn start(
        &mut self,
        exe: &Arc<Executable>,
        limits: Limits,
        schedule: &Schedule,
    ) -> Option<Kernel<'static>> {
        let mut created = Created(Vec::new());
        let mut kernel = Kernel::new(exe.clone(), limits);
        replay_on(&mut kernel, schedule, &mut created).ok()?;
        for (instance, interface) in created.0 {
            self.names.add(instance, interface);
        }
        Some(kernel)
    }

    /// The schedule that goes on to a node, by the first edge to each.
    fn path_to(&self, from: &Schedule, node: u32) -> Schedule {
        let mut edges: Vec<&Edge> = Vec::new();
        let mut at = node;
        while at != 0 {
            let Some(edge) = self.graph.edges.iter().find(|edge| edge.to == at) else { break };
            edges.push(edge);
            at = edge.from;
        }
        let mut schedule = from.clone();
        for edge in edges.into_iter().rev() {
            schedule.choices.extend(&edge.choices);
        }
        schedule
    }

    /// Whether the kernel stands where the goal describes.
    fn is_goal(&self, kernel: &Kernel, goal: &Goal) -> bool {
        goal.conditions.iter().all(|condition| {
            let holds = |local: &Local| match &condition.what {
                What::State(state) => self.exe.state_name(local.control) == state,
                What::Variable { name, relation, value } => {
                    let def = &self.exe.machines[local.machine];
                    let fields = def.fields.iter().zip(&def.notations).zip(&local.registers);
                    fields.into_iter().any(|((&(field, _), notation), &found)| {
                        self.exe.symbols.text(field) == name
                            && relation.holds(&self.text(kernel, notation, found), value)
                    })
                }
            };
            let configuration = kernel.configuration();
            let is_monitor = (0..kernel.n_monitors()).any(|monitor| {
                self.exe.monitor_name(monitor) == condition.who && holds(&configuration.monitors[monitor])
            });
            // A machine that has not begun or has halted is in no state.
            let is_there =
                |local: &Local| !matches!(local.status, Status::Halted | Status::Pending(Pending::Start));
            let is_called = |instance: InstanceId, local: &Local| {
                self.exe.interface_name(local.interface) == condition.who
                    || self.names.name(instance) == condition.who
            };
            is_monitor
                || configuration
                    .instances()
                    .any(|(instance, local)| is_there(local) && is_called(instance, local) && holds(local))
        })
    }

    fn build(&mut self, kernel: Kernel, max_nodes: usize, cancel: &dyn Cancel) {
        self.build_within(kernel, usize::MAX, max_nodes, cancel);
        self.graph.nodes[0].kind = NodeKind::Start;
    }

    fn build_within(&mut self, mut kernel: Kernel, depth: usize, max_nodes: usize, cancel: &dyn Cancel) {
        self.node(&mut kernel);
        let (mut at, mut layer, mut layer_end) = (0, 0, 1);
        while at < self.graph.nodes.len() {
            if at == layer_end {
                (layer, layer_end) = (layer + 1, self.graph.nodes.len());
            }
            let Some(snapshot) = self.open[at].take() else {
                at += 1;
                continue;
            };
            if self.found.is_some() {
                return;
            }
            if layer >= depth || self.graph.nodes.len() >= max_nodes || cancel.reason().is_some() {
                self.graph.nodes[at].kind = NodeKind::Open;
                self.graph.is_complete = false;
            } else {
                self.expand(&mut kernel, at as u32, &snapshot, 2 * max_nodes);
            }
            at += 1;
        }
    }

    fn expand(&mut self, kernel: &mut Kernel, from: u32, snapshot: &Snapshot, max_nodes: usize) {
        // Answers may lead to the same place.
        let mut known: FxHashSet<(u32, String)> = FxHashSet::default();
        kernel.restore(snapshot);
        let mut choices: Vec<Choice> = kernel.choices().chain(kernel.crashes().map(Choice::Crash)).collect();
        choices.sort_by_key(|&choice| match choice {
            Choice::Machine(machine) => (0, self.names.number(machine), 0, 0),
            Choice::Deliver { target, source, place } => {
                (1, self.names.number(target), self.names.number(source), place)
            }
            Choice::Crash(machine) => (2, self.names.number(machine), 0, 0),
            // Never asked for here.
            Choice::Data(answer) => (3, answer, 0, 0),
        });
        for choice in choices {
            let mut resolution = Resolution::default();
            let mut n_ways = 0;
            loop {
                kernel.restore(snapshot);
                let mut label = if self.goal.is_some() { String::new() } else { self.act(kernel, choice) };
                resolution.answers.clear();
                let mut seen = Seen::default();
                if kernel.take(choice, &mut resolution, &mut seen).is_err() {
                    break;
                }
                if label.is_empty()
                    && self.goal.is_none()
                    && let Some((machine, event)) = seen.first
                {
                    let (who, event) = (self.names.name(machine), self.exe.event_name(event));
                    label = match seen.is_announced {
                        true => format!("{who} announces {event}"),
                        false => format!("monitors see {event} of {who}"),
                    };
                }
                for answer in resolution.answers.iter().take(MAX_ANSWERS) {
                    label.push_str(&format!(" [{} of {}]", answer.answer + 1, answer.point.n_answers));
                }
                if resolution.answers.len() > MAX_ANSWERS {
                    label.push_str(" ...");
                }
                let to = self.node(kernel);
                // For a path, one edge to each node is enough: the first that reaches it.
                let is_needed = self.goal.is_none() || to + 1 == self.graph.nodes.len() as u32;
                if is_needed && known.insert((to, label.clone())) {
                    let answers = resolution.answers.iter().map(|answer| Choice::Data(answer.answer));
                    let choices = std::iter::once(choice).chain(answers).collect();
                    self.graph.edges.push(Edge { from, to, label, choices });
                }
                n_ways += 1;
                if self.found.is_some() {
                    return;
                }
                if self.graph.nodes.len() > max_nodes || n_ways > MAX_WAYS {
                    self.graph.nodes[from as usize].kind = NodeKind::Open;
                    self.graph.is_complete = false;
                    return;
                }
                if !resolution.advance() {
                    break;
                }
            }
        }
    }

    /// What a step does first.
    fn act(&self, kernel: &Kernel, choice: Choice) -> String {
        let machine = match choice {
            Choice::Machine(machine) => machine,
            Choice::Crash(machine) => return format!("{} crashes", self.names.name(machine)),
            Choice::Deliver { target, source, place } => {
                let mut network = kernel.configuration().network.clone();
                let channel = network.position(source, target);
                let message = channel.and_then(|at| network.deliver(self.exe.network.model, at, place));
                let message = message.map_or(String::new(), |message| self.message(kernel, message));
                return format!(
                    "{} gets {message} from {}",
                    self.names.name(target),
                    self.names.name(source)
                );
            }
            Choice::Data(_) => return String::new(),
        };
        let who = self.names.name(machine);
        match kernel.pending(machine) {
            None => format!("{who}: null"),
            Some(Pending::Start) => format!("{who} starts"),
            // What the monitors see is known after the step.
            Some(Pending::Observe) => String::new(),
            Some(Pending::Deliver { target, message }) => {
                format!("{who} → {}: {}", self.names.name(target), self.message(kernel, message))
            }
            Some(Pending::Create { interface, payload, .. }) => {
                format!(
                    "{who} creates {}{}",
                    self.exe.interface_name(interface),
                    self.payload(kernel, &self.exe.interfaces[interface].payload, payload)
                )
            }
            Some(Pending::Fault(_)) => format!("{who} fails"),
            Some(Pending::Foreign { fun }) => format!("{who} calls {}", self.exe.function_name(fun)),
        }
    }

    /// The number of the node for where the kernel stands.
    fn node(&mut self, kernel: &mut Kernel) -> u32 {
        for (instance, local) in kernel.configuration().instances() {
            self.names.add(instance, local.interface);
        }
        let mut key = Vec::new();
        let (kind, trouble) = match kernel.outcome() {
            Outcome::Running => (NodeKind::Plain, None),
            Outcome::Quiescent => (NodeKind::End, None),
            Outcome::Violated(violation) => (NodeKind::Violated, Some(violation.message.clone())),
            Outcome::Unknown(reason) => (NodeKind::Unknown, Some(trouble(reason))),
        };
        kernel.encode(&mut key);
        key.push(kind as u8);
        key.extend(trouble.iter().flat_map(|text| text.bytes()));
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let number = self.graph.nodes.len() as u32;
        self.known.insert(key, number);
        if let Some(goal) = self.goal {
            if self.found.is_none() && self.is_goal(kernel, goal) {
                self.found = Some(number);
            }
            self.graph.nodes.push(Node { kind, is_hot: false, lines: Vec::new() });
            self.open.push(kernel.is_running().then(|| kernel.save()));
            return number;
        }
        let mut lines: Vec<String> = Vec::new();
        for monitor in 0..kernel.n_monitors() {
            let local = &kernel.configuration().monitors[monitor];
            let heat = match kernel.temperature(monitor) {
                Temperature::Hot => " (hot)",
                Temperature::Cold => " (cold)",
                Temperature::Warm => "",
            };
            lines.push(format!(
                "{}: {}{heat}",
                self.exe.monitor_name(monitor),
                self.exe.state_name(local.control)
            ));
        }
        let mut machines: Vec<(u32, InstanceId)> = kernel
            .configuration()
            .instances()
            .map(|(instance, _)| (self.names.number(instance), instance))
            .collect();
        machines.sort_unstable();
        for (_, instance) in machines {
            lines.push(self.machine(kernel, instance, kernel.configuration().local(instance)));
        }
        lines.extend(self.on_its_way(kernel));
        lines.extend(trouble);
        let is_hot = (0..kernel.n_monitors()).any(|n| kernel.temperature(n) == Temperature::Hot);
        self.graph.nodes.push(Node { kind, is_hot, lines });
        self.open.push(kernel.is_running().then(|| kernel.save()));
        number
    }

    /// One line for each channel that has something to bring.
    fn on_its_way(&self, kernel: &Kernel) -> Vec<String> {
        let channels = kernel.configuration().network.channels.iter();
        let mut lines: Vec<(u32, u32, String)> = channels
            .filter(|channel| !channel.messages.is_empty())
            .map(|channel| {
                let (source, target) = (channel.source, channel.target);
                let messages: Vec<String> =
                    channel.messages.iter().map(|sent| self.message(kernel, sent.message)).collect();
                let (from, to) = (self.names.name(source), self.names.name(target));
                let line = format!("on its way, {from} → {to}: {}", messages.join(", "));
                (self.names.number(source), self.names.number(target), line)
            })
            .collect();
        lines.sort();
        lines.into_iter().map(|(_, _, line)| line).collect()
    }

    fn machine(&self, kernel: &Kernel, instance: InstanceId, local: &Local) -> String {
        let who = self.names.name(instance);
        let mut line = match local.status {
            Status::Halted => return format!("{who}: halted"),
            Status::Pending(Pending::Start) => return format!("{who}: not started"),
            Status::Blocked { .. } => format!("{who}: {} (in receive)", self.exe.state_name(local.control)),
            Status::Idle | Status::Pending(_) => format!("{who}: {}", self.exe.state_name(local.control)),
        };
        let def = &self.exe.machines[local.machine];
        let fields: Vec<String> = def
            .fields
            .iter()
            .zip(&def.notations)
            .zip(&local.registers)
            .map(|((&(name, _), notation), &value)| {
                format!("{} = {}", self.exe.symbols.text(name), self.text(kernel, notation, value))
            })
            .collect();
        if !fields.is_empty() {
            line.push_str(&format!(" {{{}}}", fields.join(", ")));
        }
        if !local.inbox.is_empty() {
            let waiting: Vec<String> =
                local.inbox.iter().map(|&message| self.message(kernel, message)).collect();
            line.push_str(&format!(" ⟨{}⟩", waiting.join(", ")));
        }
        if let Status::Pending(Pending::Deliver { target, message }) = local.status {
            line.push_str(&format!(" → {}: {}", self.names.name(target), self.message(kernel, message)));
        }
        line
    }

    fn message(&self, kernel: &Kernel, message: Message) -> String {
        let notation = &self.exe.payloads[message.event];
        format!("{}{}", self.exe.event_name(message.event), self.payload(kernel, notation, message.payload))
    }

    fn payload(&self, kernel: &Kernel, notation: &Notation, payload: Value) -> String {
        if payload == Value::NULL {
            return String::new();
        }
        let text = self.text(kernel, notation, payload);
        if text.starts_with('(') { text } else { format!("({text})") }
    }

    fn text(&self, kernel: &Kernel, notation: &Notation, value: Value) -> String {
        let mut text = String::new();
        write_value_as(kernel.store(), &self.names, Form::Source, notation, value, &mut text);
        reveal(self.exe, &self.names, &text)
    }
}

fn trouble(reason: &StopReason) -> String {
    match reason {
        StopReason::ForeignFunction { name } => format!("needs the foreign function {name}"),
        StopReason::Unsupported { what } => format!("needs {what}"),
        other => format!("stopped: {other}"),
    }
}

/// Machines by the order in which the graph meets them.
struct Names<'a> {
    exe: &'a Executable,
    numbers: FxHashMap<InstanceId, u32>,
    interfaces: FxHashMap<InstanceId, InterfaceId>,
}

impl Names<'_> {
    fn add(&mut self, instance: InstanceId, interface: InterfaceId) {
        let next = self.numbers.len() as u32 + 1;
        self.numbers.entry(instance).or_insert(next);
        self.interfaces.entry(instance).or_insert(interface);
    }

    fn number(&self, instance: InstanceId) -> u32 {
        self.numbers.get(&instance).copied().unwrap_or(0)
    }

    fn name(&self, instance: InstanceId) -> String {
        let mut out = String::new();
        self.write_instance(instance, &mut out);
        out
    }
}

impl InstanceNames for Names<'_> {
    fn write_instance(&self, instance: InstanceId, out: &mut String) {
        let name =
            self.interfaces.get(&instance).map_or("?", |&interface| self.exe.interface_name(interface));
        out.push_str(&format!("{name}({})", self.number(instance)));
    }

    fn program(&self) -> &dyn ProgramNames {
        self.exe
    }
}
