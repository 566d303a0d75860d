//! The exhaustive search against the oracle.
//!
//! A search without reductions has to reach the very same local states, monitor states and ends. With a reduction they are
//! the same up to what it leaves out, and both sides are *projected*: fields that may not be read again (all of them, of a
//! machine that is not idle), payloads that are never read, parts that are never read, the order of collections, rest before the end, machines that may have crashed. Projections take
//! from the analyses of the program what they say is of no meaning; that it is, shows in the verdicts and in all the rest.
//! With symmetry both sides are compared up to renamings of machines, see [`crate::orbit`]; without machine garbage, also up to machines that
//! have halted or that no machine knows which may still act.

use std::collections::BTreeSet;
use std::sync::Arc;

use allways_base::Idx;
use allways_explore::Never;
use allways_explore::search::{
    Order, ProveOptions, ProveReport, Quotient, Reductions, SearchBounds, StoreKind, Survey, check_quotient,
    survey,
};
use allways_machine::Executable;
use allways_machine::demand::{Demand, DemandId, EVERYTHING, NOTHING, Part};
use allways_machine::ir::ControlId;
use allways_p::hir::{EventId, MachineId, Program, StateId};
use allways_run::{Bound, Guarantee, Limits, NetworkOptions, Quiet, Verdict};

use crate::bounded::{Reference, Within};
use crate::oracle::value::Value;
use crate::orbit::{self, Rename};
use crate::search::{Viewer, crashed};
use crate::view::{At, LocalView, MonitorView, QuiescentView, Scene, Summary};
use crate::{Loaded, oracle};

/// One configuration of the search.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub name: &'static str,
    pub reductions: Reductions,
    pub order: Order,
    pub store: StoreKind,
    pub n_threads: usize,
}

/// Without reductions, with each alone, with all; by one thread and two; in both stores. Depth first, too, where verdicts
/// are compared.
pub fn ways() -> Vec<Way> {
    // Where machines are left out, counters are not renumbered.
    let all_machines = Reductions { machine_garbage: false, ..Reductions::ALL };
    let mut kinds =
        vec![("none", Reductions::NONE), ("all", Reductions::ALL), ("all machines", all_machines)];
    kinds.extend(Reductions::NAMES.iter().filter_map(|name| Some((*name, Reductions::only(name)?))));
    let mut ways = Vec::new();
    for (name, reductions) in kinds {
        for (order, store, n_threads) in [
            (Order::Breadth, StoreKind::Exact, 1),
            (Order::Breadth, StoreKind::Fingerprint, 2),
            (Order::Depth, StoreKind::Exact, 1),
        ] {
            ways.push(Way { name, reductions, order, store, n_threads });
        }
    }
    for (order, store, n_threads) in [
        (Order::Breadth, StoreKind::Exact, 2),
        (Order::Breadth, StoreKind::Fingerprint, 1),
        (Order::Deepening, StoreKind::Exact, 1),
    ] {
        ways.push(Way { name: "all", reductions: Reductions::ALL, order, store, n_threads });
    }
    ways
}

/// The configurations of the search that differ over a network: over some, some reductions are off.
pub fn ways_over(exe: &Executable) -> Vec<Way> {
    ways_within(exe, &Within::default())
}

/// The same within bounds, under which more of them are off.
pub fn ways_within(exe: &Executable, within: &Within) -> Vec<Way> {
    let mut seen: Vec<(Reductions, Order, StoreKind, usize)> = Vec::new();
    let mut ways = ways();
    ways.retain(|way| {
        let mut reductions = way.reductions.over(exe);
        if within.bounds != SearchBounds::default() {
            reductions.persistent_sets = false;
            reductions.path_compression = false;
            reductions.broadcasts = false;
            reductions.machine_garbage = false;
            reductions.confluent_sends = false;
            reductions.lazy_faults = false;
        }
        let known = (reductions, way.order, way.store, way.n_threads);
        let is_new = !seen.contains(&known);
        seen.push(known);
        is_new
    });
    ways
}

/// A test of a program over a network.
///
/// # Errors
/// When the options name what is not in the program.
pub fn executable(loaded: &Loaded, network: &NetworkOptions) -> Result<Arc<Executable>, String> {
    let exe = Executable::new(&loaded.program, 0).with_network(network);
    exe.map(Arc::new).map_err(|error| format!("{error:?}"))
}

/// What the search says of a test that the oracle has enumerated: how many configurations it needed, or how it differs.
///
/// # Errors
/// The difference, in words.
pub fn compare(loaded: &Loaded, exe: &Arc<Executable>, oracle: &Summary, way: Way) -> Result<u64, String> {
    compare_within(loaded, exe, &Reference::from(oracle.clone()), way, &Within::default())
}

/// The same within bounds, under which the reference was enumerated.
///
/// # Errors
/// The difference, in words.
pub fn compare_within(
    loaded: &Loaded,
    exe: &Arc<Executable>,
    reference: &Reference,
    way: Way,
    within: &Within,
) -> Result<u64, String> {
    let options = ProveOptions {
        bounds: within.bounds,
        max_choices: within.max_choices,
        order: way.order,
        reductions: way.reductions,
        store: way.store,
        n_threads: way.n_threads,
        fairness: None,
        probes: false,
        limits: Limits { instructions: 20_000, call_depth: 500, ..Limits::default() },
        ..ProveOptions::default()
    };
    let (report, found) = survey(exe, &options, &Quiet, &Never).map_err(|error| error.to_string())?;
    let judged = Judged { reductions: way.reductions, order: way.order, within };
    judge(loaded, exe, reference, judged, &report, &found)
}

/// What a report is judged by.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    pub reductions: Reductions,
    pub order: Order,
    pub within: &'a Within,
}

/// Whether a report and what was reached are those of the reference.
///
/// # Errors
/// The difference, in words.
pub fn judge(
    loaded: &Loaded,
    exe: &Arc<Executable>,
    reference: &Reference,
    way: Judged<'_>,
    report: &ProveReport,
    found: &Survey,
) -> Result<u64, String> {
    let (oracle, within) = (&reference.summary, way.within);
    // What is never read of a variable is no longer there to be bounded, and the search goes further.
    let is_loose = within.is_trimmed && (way.reductions.dead_variables || way.reductions.unread_payloads);
    let says = |what: &str| Err(format!("{what}, but the oracle has {:?}", oracle.violations));
    match &report.verdict {
        Verdict::Violated(counterexample) => {
            let kind = counterexample.violation.kind;
            let is_known = oracle.violations.iter().any(|(other, _)| *other == kind);
            if !is_known && !reference.doubtful.contains(&kind) && !is_loose {
                return says(&format!("violated: {}", kind.as_str()));
            }
        }
        Verdict::Unknown(_) if oracle.is_unknown && !oracle.is_violated() => {}
        Verdict::Unknown(reason) => return says(&format!("unknown: {reason:?}")),
        Verdict::Holds(_) if oracle.is_violated() || oracle.is_unknown => return says("holds"),
        Verdict::Holds(_) if is_loose || !reference.doubtful.is_empty() => {}
        Verdict::Holds(guarantee) => {
            let hit: &[Bound] = match guarantee {
                Guarantee::UpTo(hit) => hit,
                _ => &[],
            };
            let expected: Vec<Bound> = within.bound.into_iter().filter(|_| reference.is_hit).collect();
            // Configurations that differ only in what is never read are one, so that nothing new may lie beyond the bound.
            let merges = way.reductions.dead_variables || way.reductions.unread_payloads;
            let is_closed = hit.is_empty() && merges && matches!(within.bound, Some(Bound::Steps(_)));
            if hit != expected && !is_closed {
                return Err(format!("bounds {hit:?} were met, not {expected:?}"));
            }
            let n_configurations = report.statistics.n_configurations;
            if way.reductions == Reductions::NONE
                && reference.n_configurations.is_some_and(|n| n != n_configurations)
            {
                return Err(format!(
                    "{n_configurations} configurations, not {:?}",
                    reference.n_configurations
                ));
            }
            if way.order != Order::Breadth {
                return Ok(n_configurations);
            }
            let mut reductions = way.reductions.over(exe);
            // It is for searches without bounds.
            reductions.persistent_sets &= within.bounds == SearchBounds::default();
            reductions.machine_garbage &= within.bounds == SearchBounds::default();
            reductions.counters &= within.bounds == SearchBounds::default();
            // Numbers stand for others.
            let hides_numbers = report.statistics.saved.n_equivalent > 0 || reductions.counters;
            let projection = Projection { program: &loaded.program, exe, reductions, hides_numbers };
            let found = summary_of(&loaded.program, exe, found);
            let (expected, found) = (projection.summary(oracle), projection.summary(&found));
            let scene = Scene { program: &loaded.program, sources: &loaded.sources };
            if let Some(difference) = expected.difference(&found, ["oracle", "search"], &scene) {
                return Err(difference);
            }
        }
    }
    Ok(report.statistics.n_configurations)
}

/// Quotients whose configurations are compared one by one, see [`check_quotient`]. Machine garbage is not among them, because one that
/// becomes garbage when another has left may stay for a step longer: it has no canonical form, only smaller ones.
pub fn quotients() -> Vec<(&'static str, Reductions)> {
    let both = Reductions { counters: true, symmetry: true, ..Reductions::NONE };
    let trimmed = Reductions {
        dead_variables: true,
        unread_payloads: true,
        collection_order: true,
        ..Reductions::NONE
    };
    vec![
        ("counters", Reductions { counters: true, ..Reductions::NONE }),
        ("symmetry", Reductions { symmetry: true, ..Reductions::NONE }),
        ("counters, values trimmed", Reductions { counters: true, ..trimmed }),
        ("counters, symmetry", both),
    ]
}

/// Whether a quotient merges only configurations that behave alike, on all configurations of a program; nothing if these are too many.
///
/// # Errors
/// Two configurations that do not.
pub fn compare_quotient(
    exe: &Arc<Executable>,
    reductions: Reductions,
    max_configurations: usize,
) -> Result<Option<Quotient>, String> {
    let limits = Limits { instructions: 20_000, call_depth: 500, ..Limits::default() };
    let options = ProveOptions { reductions, fairness: None, limits, ..ProveOptions::default() };
    check_quotient(exe, &options, max_configurations)
}

/// Makes a program on which a search and the oracle differ as small as lines can be left out.
pub fn shrink_difference(
    text: &str,
    network: &NetworkOptions,
    options: oracle::OracleOptions,
    way: Way,
) -> String {
    crate::case::shrunk(text, |loaded| {
        // A name of the network that went away is not a difference.
        let exe = executable(loaded, network).ok()?;
        let reference = oracle::explore_over(&loaded.program, 0, options, network);
        Some(!reference.bound_hit && compare(loaded, &exe, &reference, way).is_err())
    })
}

fn summary_of(program: &Program, exe: &Executable, survey: &Survey) -> Summary {
    let viewer = Viewer { program, exe, store: &survey.store };
    let local = |(instance, local): &(_, _)| viewer.local_view(*instance, local);
    let monitors = |monitors: &[_]| -> Vec<MonitorView> {
        monitors.iter().map(|monitor| viewer.monitor_view(monitor)).collect()
    };
    let mut summary = Summary {
        locals: survey.locals.iter().filter_map(local).collect(),
        monitors: survey.monitors.iter().map(|group| monitors(group)).collect(),
        ..Summary::default()
    };
    for (machines, group) in &survey.ends {
        // The search ends in terminal configurations; machines that can crash still may.
        for mut machines in crashed(exe, machines.iter().filter_map(local).collect()) {
            machines.sort();
            summary.locals.extend(machines.iter().filter(|view| view.at == At::Halted).cloned());
            summary.quiescent.insert(QuiescentView { machines, monitors: monitors(group) });
        }
    }
    summary
}

/// Leaves out what reductions leave out.
struct Projection<'a> {
    program: &'a Program,
    exe: &'a Executable,
    reductions: Reductions,
    hides_numbers: bool,
}

impl Projection<'_> {
    fn summary(&self, summary: &Summary) -> Summary {
        let Reductions { symmetry, collection_order, machine_garbage, .. } = self.reductions;
        let end = |view: &QuiescentView| {
            let end = self.end(view);
            if machine_garbage {
                return self.end(&orbit::without_garbage(&end));
            }
            if symmetry { orbit::least(&end, |end| self.end(&end)) } else { end }
        };
        // A machine rests only if nothing waits for it, and that depends on which machine steps first.
        let is_kept = |view: &&LocalView| {
            let is_at_rest = matches!(view.at, At::Idle { .. } | At::Blocked { .. });
            let may_have_crashed = view.at == At::Halted && self.crashes_late(view);
            // One that can never act again counts as halted.
            let is_gone = view.at == At::Halted && machine_garbage;
            !(self.reductions.persistent_sets && is_at_rest || may_have_crashed || is_gone)
        };
        let local = |view: &LocalView| match (symmetry, self.local(view)) {
            (_, view) if machine_garbage && collection_order => {
                self.local(&view.renamed(&mut orbit::anonymous))
            }
            (_, view) if machine_garbage => orbit::apart(&view),
            (false, view) => view,
            (true, view) if collection_order => self.local(&view.renamed(&mut orbit::nameless)),
            (true, view) => orbit::alone(&view),
        };
        let monitors = |views: &Vec<MonitorView>| match (symmetry, self.monitors(views)) {
            (_, views) if machine_garbage && collection_order => {
                self.monitors(&views.renamed(&mut orbit::anonymous))
            }
            (_, views) if machine_garbage => orbit::apart(&views),
            (false, views) => views,
            (true, views) if collection_order => self.monitors(&views.renamed(&mut orbit::nameless)),
            (true, views) => orbit::alone(&views),
        };
        Summary {
            locals: summary.locals.iter().filter(is_kept).map(local).collect(),
            monitors: summary.monitors.iter().map(monitors).collect(),
            quiescent: summary.quiescent.iter().map(end).collect::<BTreeSet<QuiescentView>>(),
            ..Summary::default()
        }
    }

    fn end(&self, view: &QuiescentView) -> QuiescentView {
        let machines = view.machines.iter().filter(|view| !self.crashes_late(view));
        let mut machines: Vec<LocalView> = machines.map(|view| self.local(view)).collect();
        machines.sort();
        QuiescentView { machines, monitors: self.monitors(&view.monitors) }
    }

    /// Whether the search makes no step of a crash of the machine, so that in ends it stands where it has crashed.
    fn crashes_late(&self, view: &LocalView) -> bool {
        self.reductions.lazy_faults && self.exe.network.can_crash(view.machine)
    }

    fn local(&self, view: &LocalView) -> LocalView {
        let inbox = |inbox: &[(EventId, Value)]| -> Vec<(EventId, Value)> {
            inbox
                .iter()
                .map(|(event, payload)| (*event, self.payload(view.machine, *event, payload)))
                .collect()
        };
        let at = match &view.at {
            At::Idle { inbox: messages } => At::Idle { inbox: inbox(messages) },
            At::Blocked { receive, calls, inbox: messages } => {
                At::Blocked { receive: *receive, calls: calls.clone(), inbox: inbox(messages) }
            }
            At::Halted => At::Halted,
            At::Sending { target, event, payload } => {
                At::Sending { target: target.clone(), event: *event, payload: self.value(payload) }
            }
            At::Creating { interface, payload } => {
                At::Creating { interface: *interface, payload: self.value(payload) }
            }
        };
        let is_idle = matches!(view.at, At::Idle { .. });
        let fields = if is_idle || !self.reductions.dead_variables {
            self.fields(view.machine, view.control, &view.fields)
        } else {
            Vec::new()
        };
        LocalView { path: view.path.clone(), machine: view.machine, control: view.control, fields, at }
    }

    fn monitors(&self, views: &[MonitorView]) -> Vec<MonitorView> {
        let attached = self.exe.monitors.iter().zip(views);
        attached
            .map(|(monitor, view)| {
                let machine = monitor.machine;
                MonitorView {
                    control: view.control,
                    fields: self.fields(machine, view.control, &view.fields),
                }
            })
            .collect()
    }

    fn fields(&self, machine: MachineId, control: StateId, fields: &[Value]) -> Vec<Value> {
        let before: usize = self
            .program
            .machines
            .iter()
            .take(machine.as_u32() as usize)
            .map(|machine| machine.states.len())
            .sum();
        let live = match self.reductions.dead_variables {
            true => self.exe.usage().live_at_rest(ControlId::new(before + control.index())),
            false => u64::MAX,
        };
        let is_live = |field: usize| field >= 64 || live >> field & 1 == 1;
        let shown = fields.iter().enumerate();
        let trimmed = |field: usize, value: &Value| {
            let demand = self.exe.demands().field(machine, field);
            let drops = self.reductions.dead_variables || self.reductions.unread_payloads;
            self.trimmed(value, demand, drops)
        };
        shown.map(|(field, value)| if is_live(field) { trimmed(field, value) } else { Value::Null }).collect()
    }

    fn payload(&self, machine: MachineId, event: EventId, payload: &Value) -> Value {
        let is_read = self.exe.usage().reads_payload(machine, event);
        let demand = self.exe.demands().payload(machine, event);
        let drops = self.reductions.unread_payloads;
        if drops && !is_read { Value::Null } else { self.trimmed(payload, demand, drops) }
    }

    /// The value without what no demand reaches, if that is left out.
    fn trimmed(&self, value: &Value, demand: DemandId, drops: bool) -> Value {
        if !drops || demand == EVERYTHING {
            return self.value(value);
        }
        if demand == NOTHING {
            return Value::Null;
        }
        let node = self.exe.demands().node(demand);
        let part = |part: Part, value: &Value| {
            let known = node.parts.iter().find(|(known, _)| *known == part);
            self.trimmed(value, known.map_or(NOTHING, |&(_, demand)| demand), drops)
        };
        let element = |value: &Value| self.trimmed(value, node.elements, drops);
        let trimmed = match value {
            Value::Int(_) if self.reductions.dead_variables && *node == Demand::default() => Value::Int(0),
            Value::Tuple(parts) => {
                let parts = parts.iter().enumerate();
                Value::Tuple(parts.map(|(at, value)| part(Part::Place(at as u32), value)).collect())
            }
            Value::Named(fields) => {
                let fields = fields.iter();
                Value::Named(fields.map(|(name, value)| (*name, part(Part::Name(*name), value))).collect())
            }
            Value::Seq(parts) => Value::Seq(parts.iter().map(element).collect()),
            Value::Map(slots) => {
                Value::Map(slots.iter().map(|(key, value)| (key.clone(), element(value))).collect())
            }
            whole => whole.clone(),
        };
        self.value(&trimmed)
    }

    fn value(&self, value: &Value) -> Value {
        let all = |values: &[Value]| -> Vec<Value> { values.iter().map(|value| self.value(value)).collect() };
        let has_no_order = self.reductions.collection_order;
        match value {
            Value::Tuple(parts) => Value::Tuple(all(parts)),
            Value::Named(fields) => {
                Value::Named(fields.iter().map(|(name, value)| (*name, self.value(value))).collect())
            }
            Value::Seq(parts) => {
                let mut parts = all(parts);
                if has_no_order {
                    parts.sort();
                }
                Value::Seq(parts)
            }
            // Entries that cannot be found any more may be gone.
            Value::Set(_) if self.reductions.counters => Value::Set([].into_iter().collect()),
            Value::Map(_) if self.reductions.counters => Value::Map([].into_iter().collect()),
            Value::Set(slots) => {
                let mut elements: Vec<Value> = slots.iter().map(|value| self.value(value)).collect();
                if has_no_order {
                    elements.sort();
                }
                Value::Set(elements.into_iter().collect())
            }
            Value::Map(slots) => {
                let mut entries: Vec<(Value, Value)> =
                    slots.iter().map(|(key, value)| (self.value(key), self.value(value))).collect();
                if has_no_order {
                    entries.sort();
                }
                Value::Map(entries.into_iter().collect())
            }
            Value::Int(_) if self.hides_numbers => Value::Int(0),
            simple => simple.clone(),
        }
    }
}
