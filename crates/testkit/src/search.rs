//! The kernel, enumerated: a plain stateful depth-first search over its public interface.
//!
//! Configurations are compared by their bytes. There is nothing clever here either, so that a difference to the
//! oracle is a difference of the kernel.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use allways_base::Idx;
use allways_machine::value::{Kind, View};
use allways_machine::{Executable, Kernel, Local, Outcome, Pending, Script, Silent, Snapshot, Status, Store};
use allways_p::hir::{EventId, Program, StateId, Temperature};
use allways_run::{Choice, InstanceId, Limits, NetworkOptions, ViolationKind};

use crate::oracle::value::{Path, Value};
use crate::view::{At, LocalView, MonitorView, QuiescentView, Summary};

/// Enumerates one test of a program through the kernel.
pub fn explore(program: &Program, test_idx: usize, max_configurations: usize) -> Summary {
    explore_over(program, test_idx, max_configurations, &NetworkOptions::default())
}

/// The same over some network.
///
/// # Panics
/// When the options name what is not in the program.
pub fn explore_over(
    program: &Program,
    test_idx: usize,
    max_configurations: usize,
    network: &NetworkOptions,
) -> Summary {
    let exe =
        Executable::new(program, test_idx).with_network(network).expect("names are those of the program");
    let exe = Arc::new(exe);
    let limits = Limits { instructions: 20_000, call_depth: 500, ..Limits::default() };
    let mut search = Search {
        program,
        kernel: Kernel::new(exe, limits),
        summary: Summary::default(),
        seen: HashSet::new(),
        open: Vec::new(),
    };
    search.visit();
    while let Some(snapshot) = search.open.pop() {
        if search.seen.len() >= max_configurations {
            search.summary.bound_hit = true;
            break;
        }
        search.expand(&snapshot);
    }
    search.summary.n_configurations = search.seen.len();
    search.summary
}

struct Search<'a> {
    program: &'a Program,
    kernel: Kernel<'static>,
    summary: Summary,
    seen: HashSet<Vec<u8>>,
    open: Vec<Snapshot>,
}

impl Search<'_> {
    fn expand(&mut self, snapshot: &Snapshot) {
        self.kernel.restore(snapshot);
        let choices: Vec<Choice> =
            self.kernel.choices().chain(self.kernel.crashes().map(Choice::Crash)).collect();
        for choice in choices {
            let mut script = Script::default();
            loop {
                self.kernel.restore(snapshot);
                self.kernel.take(choice, &mut script, &mut Silent).expect("the step is possible");
                self.visit();
                if !script.advance() {
                    break;
                }
            }
        }
    }

    /// Looks at the configuration in which the kernel stands.
    fn visit(&mut self) {
        match self.kernel.outcome() {
            Outcome::Running => {}
            Outcome::Quiescent => {}
            Outcome::Violated(violation) => match violation.kind {
                // The place of a deadlock is that of one of the machines in it, whichever was created first.
                ViolationKind::Deadlock => {
                    self.summary.violations.insert((ViolationKind::Deadlock, None));
                }
                ViolationKind::HotAtEnd => {
                    self.summary.violations.insert((ViolationKind::HotAtEnd, violation.span));
                }
                kind => {
                    self.summary.violations.insert((kind, violation.span));
                    return;
                }
            },
            Outcome::Unknown(_) => {
                self.summary.is_unknown = true;
                return;
            }
        }
        if !self.seen.insert(self.kernel.encoded()) {
            return;
        }
        if self.kernel.n_steps() > 0 {
            self.record();
        }
        if self.kernel.is_running() {
            self.open.push(self.kernel.save());
        }
    }

    fn record(&mut self) {
        let conf = self.kernel.configuration();
        let viewer = self.viewer();
        let mut views: Vec<Option<LocalView>> =
            conf.instances().map(|(instance, local)| viewer.local_view(instance, local)).collect();
        let monitors: Vec<MonitorView> =
            conf.monitors.iter().map(|local| viewer.monitor_view(local)).collect();
        if !self.kernel.is_running() {
            let machines: Vec<LocalView> = views.iter().flatten().cloned().collect();
            self.ended(machines, &monitors);
        }
        self.summary.locals.extend(views.drain(..).flatten());
        self.summary.monitors.insert(monitors);
    }

    /// No machine can step. The kernel's runs end there, but a machine that can crash still may, to no effect on others.
    fn ended(&mut self, machines: Vec<LocalView>, monitors: &[MonitorView]) {
        let hot = (0..self.kernel.n_monitors()).find(|&m| self.kernel.temperature(m) == Temperature::Hot);
        let hot_span = hot.map(|monitor| {
            let control = self.kernel.configuration().monitors[monitor].control;
            self.kernel.executable().states[control].span
        });
        let ends = crashed(self.kernel.executable(), machines);
        for machines in &ends[1..] {
            self.summary.locals.extend(machines.iter().filter(|view| view.at == At::Halted).cloned());
        }
        for mut machines in ends {
            let is_blocked = machines.iter().any(|view| matches!(view.at, At::Blocked { .. }));
            if is_blocked {
                self.summary.violations.insert((ViolationKind::Deadlock, None));
            } else if let Some(span) = hot_span {
                self.summary.violations.insert((ViolationKind::HotAtEnd, Some(span)));
            }
            machines.sort();
            self.summary.quiescent.insert(QuiescentView { machines, monitors: monitors.to_vec() });
        }
    }

    fn viewer(&self) -> Viewer<'_> {
        Viewer { program: self.program, exe: self.kernel.executable(), store: self.kernel.store() }
    }
}

/// An end, and what becomes of it when some of those crash that can.
pub(crate) fn crashed(exe: &Executable, machines: Vec<LocalView>) -> Vec<Vec<LocalView>> {
    let can_crash = |view: &LocalView| view.at != At::Halted && exe.network.can_crash(view.machine);
    let mut ends = vec![machines];
    for at in 0..ends[0].len() {
        if !can_crash(&ends[0][at]) {
            continue;
        }
        for mut machines in ends.clone() {
            let view = &mut machines[at];
            view.at = At::Halted;
            view.control = StateId::from_u32(0);
            view.fields.clear();
            ends.push(machines);
        }
    }
    ends
}

/// Shows locals of the kernel in the form that belongs to no engine.
pub(crate) struct Viewer<'a> {
    pub program: &'a Program,
    pub exe: &'a Executable,
    pub store: &'a Store,
}

impl Viewer<'_> {
    /// The control state as the typed program numbers it.
    pub(crate) fn control(&self, local: &Local) -> StateId {
        let before: usize = self
            .program
            .machines
            .iter()
            .take(local.machine.index())
            .map(|machine| machine.states.len())
            .sum();
        StateId::new(local.control.index() - before)
    }

    pub(crate) fn monitor_view(&self, local: &Local) -> MonitorView {
        MonitorView { control: self.control(local), fields: self.fields(local) }
    }

    pub(crate) fn fields(&self, local: &Local) -> Vec<Value> {
        let n_fields = self.program.machines[local.machine].fields.len();
        local.registers[..n_fields].iter().map(|&value| self.value(value)).collect()
    }

    pub(crate) fn path(&self, instance: InstanceId) -> Path {
        Rc::from(self.exe.instances.path(instance))
    }

    pub(crate) fn local_view(&self, instance: InstanceId, local: &Local) -> Option<LocalView> {
        let inbox = || local.inbox.iter().map(|message| self.message(message)).collect();
        let at = match local.status {
            Status::Idle => At::Idle { inbox: inbox() },
            Status::Blocked { .. } => {
                let exe = self.exe;
                let receive = exe.spans[local.frames.last()?.pc as usize];
                let calls = local.frames.iter().map(|frame| frame.fun).collect();
                At::Blocked { receive, calls, inbox: inbox() }
            }
            Status::Halted => {
                return Some(LocalView {
                    path: self.path(instance),
                    machine: local.machine,
                    control: StateId::from_u32(0),
                    fields: Vec::new(),
                    at: At::Halted,
                });
            }
            Status::Pending(Pending::Deliver { target, message }) => {
                let (event, payload) = self.message(&message);
                At::Sending { target: self.path(target), event, payload }
            }
            Status::Pending(Pending::Create { interface, payload, .. }) => {
                At::Creating { interface, payload: self.value(payload) }
            }
            Status::Pending(
                Pending::Start | Pending::Observe | Pending::Fault(_) | Pending::Foreign { .. },
            ) => return None,
        };
        Some(LocalView {
            path: self.path(instance),
            machine: local.machine,
            control: self.control(local),
            fields: self.fields(local),
            at,
        })
    }

    fn message(&self, message: &allways_machine::Message) -> (EventId, Value) {
        (message.event, self.value(message.payload))
    }

    fn value(&self, value: allways_machine::Value) -> Value {
        let store = self.store;
        let all = |parts: &[allways_machine::Value]| parts.iter().map(|&part| self.value(part)).collect();
        match value.view() {
            View::Null => Value::Null,
            View::Bool(b) => Value::Bool(b),
            View::Int(n) => Value::Int(n),
            View::Atom(_, n) => Value::Int(n.into()),
            View::Event(event) => Value::Event(event),
            View::Ref(instance, _) => Value::Machine(self.path(instance), [].into()),
            View::Hole(_) => unreachable!("a freed slot is no element"),
            View::Node(kind, id) => match kind {
                Kind::Int => Value::Int(store.as_int(value).unwrap_or(0)),
                Kind::Float => Value::float(store.as_float(value).unwrap_or(0.0)),
                Kind::String => Value::String(store.as_str(value).unwrap_or("").to_owned()),
                Kind::Tuple => Value::Tuple(all(store.parts(id))),
                Kind::Seq => Value::Seq(all(store.parts(id))),
                Kind::Named => {
                    let (shape, parts) = store.named_parts(id);
                    let names = &self.exe.shapes[shape];
                    Value::Named(
                        names.iter().copied().zip(parts.iter().map(|&part| self.value(part))).collect(),
                    )
                }
                Kind::Set => Value::Set(store.set_elements(id).map(|element| self.value(element)).collect()),
                Kind::Map => {
                    Value::Map(store.map_entries(id).map(|(k, v)| (self.value(k), self.value(v))).collect())
                }
            },
        }
    }
}
