//! The search within bounds, by brute force.
//!
//! A bound on answers leaves another program, which the oracle enumerates like any. The others are on configurations of the
//! kernel: how many steps there are, what waits and what variables hold depends on how far machines run ahead. So they have another
//! reference, the kernel itself, step by step from snapshots, checking every machine after each.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use allways_base::Idx;
use allways_explore::search::{SearchBounds, VariableBounds};
use allways_machine::configuration::After;
use allways_machine::demand::EVERYTHING;
use allways_machine::encode::{encode_in_flight, encode_whole};
use allways_machine::ir::{EventId, MachineId};
use allways_machine::{Executable, Kernel, Local, Outcome, Pending, Script, Silent, Status};
use allways_p::hir::{MachineKind, Program};
use allways_run::{Bound, InstanceId, Limits, NetworkOptions, ViolationKind};

use crate::Loaded;
use crate::differential::{self, Over};
use crate::oracle::value::Value;
use crate::oracle::{self, OracleOptions};
use crate::random::Random;
use crate::search::Viewer;
use crate::view::{LocalView, MonitorView, QuiescentView, Summary};

/// A bound, if there is one.
#[derive(Clone, Default, Debug)]
pub struct Within {
    pub bounds: SearchBounds,
    pub max_choices: Option<u32>,
    /// What the verdict says when it is met.
    pub bound: Option<Bound>,
    /// Of a bound on a variable: parts of it are not read, and may be left out before they are measured.
    pub is_trimmed: bool,
    variable: Option<Variable>,
}

#[derive(Clone, Copy, Debug)]
struct Variable {
    machine: MachineId,
    field: usize,
    most: u64,
    is_of_length: bool,
}

/// What is reached within a bound.
#[derive(Clone, Default, Debug)]
pub struct Reference {
    pub summary: Summary,
    /// Something is beyond the bound.
    pub is_hit: bool,
    /// Violations in steps that exceed it meanwhile: an engine need not report them.
    pub doubtful: BTreeSet<ViolationKind>,
    /// As a search without reductions counts them, where that is known.
    pub n_configurations: Option<u64>,
}

impl From<Summary> for Reference {
    fn from(summary: Summary) -> Self {
        Reference { is_hit: summary.answers_left_out, summary, ..Reference::default() }
    }
}

/// Kinds of bounds.
const N_KINDS: u64 = 6;
/// Of answers.
const CHOICES: u64 = 4;

/// The program of a seed. Where answers are bounded, it has some choices of numbers that are wide enough.
pub fn program_of(seed: u64, over: Over) -> String {
    let text = differential::program_of(seed, over);
    if seed % N_KINDS != CHOICES {
        return text;
    }
    let wide = widened(&text);
    if Loaded::new("random.p", &wide).is_ok() { wide } else { text }
}

/// Choices of few numbers are of more, and two divisors inside of machines are chosen. Monitors must not choose.
fn widened(text: &str) -> String {
    let (mut n_left, mut is_machine) = (2, false);
    let mut lines = Vec::new();
    for line in text.lines() {
        if !line.starts_with([' ', '}']) {
            is_machine = line.starts_with("machine ");
        }
        let mut line = line.to_owned();
        if is_machine {
            line = line.replace("choose(2)", "choose(5)").replace("choose(3)", "choose(6)");
            if n_left > 0 && line.contains(" % 3") {
                n_left -= 1;
                line = line.replacen(" % 3", " % (1 + choose(5))", 1);
            }
        }
        lines.push(line);
    }
    lines.join("\n") + "\n"
}

/// A bound for a random program, kinds in turn.
pub fn within(program: &Program, exe: &Executable, seed: u64) -> Within {
    let mut random = Random::new(seed ^ 0xb0b0_b0b0);
    let mut bounds = SearchBounds::default();
    let of = |bounds, bound| Within { bounds, bound: Some(bound), ..Within::default() };
    match seed % N_KINDS {
        0 => {
            let n = random.between(1, 12) as u64;
            bounds.depth = Some(n);
            of(bounds, Bound::Steps(n))
        }
        1 => {
            let n = random.below(4) as u32;
            bounds.inbox = Some(n);
            of(bounds, Bound::InboxLength(n))
        }
        2 => {
            let n = random.below(3) as u32;
            bounds.occurrences = Some(n);
            of(bounds, Bound::Occurrences(n))
        }
        3 => {
            let n = random.between(1, 4) as u32;
            bounds.machines = Some(n);
            of(bounds, Bound::Machines(n))
        }
        CHOICES => {
            let n = random.between(1, 3) as u32;
            Within { max_choices: Some(n), ..of(bounds, Bound::Choices(n)) }
        }
        _ => variable(program, exe, &mut random).unwrap_or_default(),
    }
}

/// A bound on some variable of some machine.
fn variable(program: &Program, exe: &Executable, random: &mut Random) -> Option<Within> {
    let machines = program.machines.iter().enumerate();
    let fields: Vec<(usize, usize)> = machines
        .filter(|(_, machine)| machine.kind == MachineKind::Machine)
        .flat_map(|(at, machine)| (0..machine.fields.len()).map(move |field| (at, field)))
        .collect();
    if fields.is_empty() {
        return None;
    }
    let &(machine, field) = random.pick(&fields);
    let def = program.machines.iter().nth(machine)?;
    let name = format!("{}.{}", program.name(def.name), program.name(def.fields.iter().nth(field)?.name));
    let (most, is_of_length) = (random.below(4) as u64, random.chance(25));
    let name = if is_of_length { format!("sizeof({name})") } else { name };
    let variables = VariableBounds::named(exe, [(name.as_str(), most)]).ok()?;
    let machine = MachineId::new(machine);
    Some(Within {
        bounds: SearchBounds { variables, ..SearchBounds::default() },
        bound: Some(Bound::Variables),
        is_trimmed: exe.demands().field(machine, field) != EVERYTHING,
        variable: Some(Variable { machine, field, most, is_of_length }),
        ..Within::default()
    })
}

/// Enumerates a test within a bound; `None` if there are too many configurations, or nothing is bounded.
pub fn explore(
    loaded: &Loaded,
    exe: &Arc<Executable>,
    within: &Within,
    options: OracleOptions,
    network: &NetworkOptions,
) -> Option<Reference> {
    within.bound?;
    if within.max_choices.is_some() {
        let options = OracleOptions { max_choices: within.max_choices, ..options };
        let summary = oracle::explore_over(&loaded.program, 0, options, network);
        return (!summary.bound_hit).then(|| summary.into());
    }
    let limits = Limits { instructions: 20_000, call_depth: 500, ..Limits::default() };
    let kernel = Kernel::new(exe.clone(), limits);
    let mut search = Search {
        program: &loaded.program,
        exe,
        within,
        kernel,
        seen: HashSet::new(),
        found: Reference::default(),
    };
    search.run(options.max_configurations)?;
    search.found.n_configurations = Some(search.seen.len() as u64);
    Some(search.found)
}

struct Search<'a> {
    program: &'a Program,
    exe: &'a Executable,
    within: &'a Within,
    kernel: Kernel<'static>,
    seen: HashSet<Vec<u8>>,
    found: Reference,
}

impl Search<'_> {
    /// First come, first served, so that each is met after as few steps as can be.
    fn run(&mut self, max_configurations: usize) -> Option<()> {
        self.is_new();
        let mut open = VecDeque::from([(self.kernel.save(), 0)]);
        while let Some((snapshot, depth)) = open.pop_front() {
            if self.within.bounds.depth == Some(depth) {
                // It is running, so there would be another step.
                self.found.is_hit = true;
                continue;
            }
            self.kernel.restore(&snapshot);
            let choices: Vec<_> = self.kernel.choices().collect();
            for choice in choices {
                let mut script = Script::default();
                loop {
                    self.kernel.restore(&snapshot);
                    self.kernel.take(choice, &mut script, &mut Silent).expect("the step is possible");
                    if self.visit() && self.kernel.is_running() {
                        open.push_back((self.kernel.save(), depth + 1));
                    }
                    if self.seen.len() > max_configurations {
                        return None;
                    }
                    if !script.advance() {
                        break;
                    }
                }
            }
        }
        Some(())
    }

    /// A machine that is about to fail is not distinguished by how else it stands: a search does not distinguish it either.
    fn is_new(&mut self) -> bool {
        let conf = self.kernel.configuration();
        let fails = conf.instances().any(|(_, local)| is_failing(local));
        let mut bytes = vec![u8::from(fails)];
        if fails {
            let (exe, store) = (self.exe, self.kernel.store());
            let mut machines: Vec<(InstanceId, &Local)> = conf.instances().collect();
            machines.sort_by_key(|(instance, _)| *instance);
            for (instance, local) in machines {
                bytes.extend(instance.as_u32().to_le_bytes());
                encode_whole(exe, store, &bare(local), &mut bytes);
            }
            conf.monitors.iter().for_each(|monitor| encode_whole(exe, store, monitor, &mut bytes));
            encode_in_flight(exe, store, &conf.network, &mut bytes);
        } else {
            self.kernel.encode_whole(&mut bytes);
        }
        self.seen.insert(bytes)
    }

    /// Looks at where the kernel stands; whether that is new, and within the bound.
    fn visit(&mut self) -> bool {
        let is_beyond = self.is_beyond();
        match self.kernel.outcome() {
            Outcome::Unknown(_) => {
                self.found.summary.is_unknown = true;
                return false;
            }
            Outcome::Violated(violation)
                if !matches!(violation.kind, ViolationKind::Deadlock | ViolationKind::HotAtEnd) =>
            {
                if is_beyond {
                    self.found.doubtful.insert(violation.kind);
                } else {
                    self.found.summary.violations.insert((violation.kind, violation.span));
                }
                return false;
            }
            Outcome::Running | Outcome::Quiescent | Outcome::Violated(_) => {}
        }
        if is_beyond {
            self.found.is_hit = true;
            return false;
        }
        if let Outcome::Violated(violation) = self.kernel.outcome() {
            self.found.summary.violations.insert((violation.kind, violation.span));
        }
        let is_new = self.is_new();
        if is_new {
            self.record();
        }
        is_new
    }

    fn record(&mut self) {
        let conf = self.kernel.configuration();
        let viewer = Viewer { program: self.program, exe: self.exe, store: self.kernel.store() };
        let machines: Vec<LocalView> =
            conf.instances().filter_map(|(instance, local)| viewer.local_view(instance, local)).collect();
        let monitors: Vec<MonitorView> =
            conf.monitors.iter().map(|local| viewer.monitor_view(local)).collect();
        let summary = &mut self.found.summary;
        summary.locals.extend(machines.iter().cloned());
        summary.monitors.insert(monitors.clone());
        if !self.kernel.is_running() {
            let mut machines = machines;
            machines.sort();
            summary.quiescent.insert(QuiescentView { machines, monitors });
        }
    }

    /// Some machine is beyond the bound. One that is about to fail is not: it will do nothing else. What is in flight to a machine is
    /// counted likewise.
    fn is_beyond(&self) -> bool {
        let SearchBounds { depth: _, inbox, occurrences, machines, variables: _ } = self.within.bounds;
        let conf = self.kernel.configuration();
        let are_many = |waiting: &[EventId]| {
            let is_often = |event: &EventId, most: u32| {
                waiting.iter().filter(|other| *other == event).count() > most as usize
            };
            inbox.is_some_and(|most| waiting.len() > most as usize)
                || occurrences.is_some_and(|most| waiting.iter().any(|event| is_often(event, most)))
        };
        let is_beyond = |(instance, local): (InstanceId, &Local)| {
            let inbox: Vec<EventId> = local.inbox.iter().map(|message| message.event).collect();
            let channels = conf.network.channels.iter().filter(|channel| channel.target == instance);
            let on_the_way: Vec<EventId> =
                channels.flat_map(|channel| channel.messages.iter().map(|sent| sent.message.event)).collect();
            let is_too_large = |variable| self.is_too_large(local, variable);
            are_many(&on_the_way)
                || !is_failing(local) && (are_many(&inbox) || self.within.variable.is_some_and(is_too_large))
        };
        machines.is_some_and(|most| conf.instances().count() > most as usize)
            || conf.instances().any(is_beyond)
    }

    fn is_too_large(&self, local: &Local, variable: Variable) -> bool {
        if local.machine != variable.machine || local.status == Status::Halted {
            return false;
        }
        let viewer = Viewer { program: self.program, exe: self.exe, store: self.kernel.store() };
        let fields = viewer.fields(local);
        fields.get(variable.field).is_some_and(|value| {
            let (number, length) = measures(value);
            length > variable.most || !variable.is_of_length && number > variable.most
        })
    }
}

fn is_failing(local: &Local) -> bool {
    matches!(local.status, Status::Pending(Pending::Fault(_)))
}

/// Of a machine that is about to fail, just how.
fn bare(local: &Local) -> Local {
    let mut local = local.clone();
    if let Status::Pending(Pending::Fault(fault)) = &mut local.status {
        fault.text = allways_machine::Value::NULL;
        local.after = After::Handler;
        local.frames.clear();
        local.registers.clear();
        local.inbox.clear();
    }
    local
}

/// The largest number in a value, without its sign, and how many elements the largest collection in it has.
fn measures(value: &Value) -> (u64, u64) {
    let within = |parts: Vec<&Value>| {
        parts
            .into_iter()
            .map(measures)
            .fold((0, 0), |(number, length), (other, another)| (number.max(other), length.max(another)))
    };
    let of = |n: usize, (number, length): (u64, u64)| (number, length.max(n as u64));
    match value {
        Value::Int(n) => (n.unsigned_abs(), 0),
        Value::Tuple(parts) => within(parts.iter().collect()),
        Value::Named(fields) => within(fields.iter().map(|(_, value)| value).collect()),
        Value::Seq(parts) => of(parts.len(), within(parts.iter().collect())),
        Value::Set(slots) => of(slots.iter().count(), within(slots.iter().collect())),
        Value::Map(slots) => {
            of(slots.iter().count(), within(slots.iter().flat_map(|(key, value)| [key, value]).collect()))
        }
        Value::Null
        | Value::Bool(_)
        | Value::Float(_)
        | Value::String(_)
        | Value::Event(_)
        | Value::Machine(..) => (0, 0),
    }
}
