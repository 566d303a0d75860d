//! What every engine has to agree on: the reachable local states, monitor states, quiescent configurations and
//! violations of a test, in a form that belongs to no engine.
//!
//! Which local states two models of one program share is a question of care. They are those at a machine's
//! *effects* and at *rest*: before a delivery or creation, idle, blocked in a `receive`, halted. In between a model is
//! free to run a handler early or late. For the same reason the inbox counts only at rest. Ignored messages may
//! lie in the inbox of an idle machine or be gone; they have no effect any more, and are left out.

use std::collections::BTreeSet;

use allways_base::{Sources, Span};
use allways_p::hir::{EventId, FunId, InterfaceId, MachineId, Program, StateId};
use allways_run::ViolationKind;

use crate::oracle::value::{Path, Value};

/// Where a machine is when it can be compared.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum At {
    Idle {
        inbox: Vec<(EventId, Value)>,
    },
    /// In the `receive` at this place, called through these functions.
    Blocked {
        receive: Span,
        calls: Vec<FunId>,
        inbox: Vec<(EventId, Value)>,
    },
    Halted,
    Sending {
        target: Path,
        event: EventId,
        payload: Value,
    },
    Creating {
        interface: InterfaceId,
        payload: Value,
    },
}

/// One machine at rest or before an effect.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LocalView {
    pub path: Path,
    pub machine: MachineId,
    /// Both are empty of meaning in a halted machine.
    pub control: StateId,
    pub fields: Vec<Value>,
    pub at: At,
}

impl LocalView {
    /// The same with nothing waiting.
    pub fn without_inbox(&self) -> LocalView {
        let mut view = self.clone();
        match &mut view.at {
            At::Idle { inbox } | At::Blocked { inbox, .. } => inbox.clear(),
            At::Halted | At::Sending { .. } | At::Creating { .. } => {}
        }
        view
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MonitorView {
    pub control: StateId,
    pub fields: Vec<Value>,
}

/// A terminal configuration.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct QuiescentView {
    pub machines: Vec<LocalView>,
    pub monitors: Vec<MonitorView>,
}

/// All that is compared about one test.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Summary {
    pub locals: BTreeSet<LocalView>,
    /// The states of all monitors together.
    pub monitors: BTreeSet<Vec<MonitorView>>,
    pub quiescent: BTreeSet<QuiescentView>,
    /// Kind and place. A deadlock has no single place.
    pub violations: BTreeSet<(ViolationKind, Option<Span>)>,
    /// Some run could not be continued: a foreign function.
    pub is_unknown: bool,
    pub n_configurations: usize,
    /// Something was cut off, so the sets are not complete.
    pub bound_hit: bool,
    /// Of a choice of a number, since not all are to be explored.
    pub answers_left_out: bool,
}

impl Summary {
    pub fn is_violated(&self) -> bool {
        !self.violations.is_empty()
    }

    /// The first difference to another summary of the same test, in words.
    pub fn difference(&self, other: &Summary, names: [&str; 2], scene: &Scene<'_>) -> Option<String> {
        let verdicts = [self, other].map(|summary| (summary.is_violated(), summary.is_unknown));
        let local = |view: &LocalView| scene.local(view);
        let monitors = |views: &Vec<MonitorView>| format!("{views:?}");
        let quiescent = |view: &QuiescentView| {
            let machines: Vec<String> = view.machines.iter().map(|machine| scene.local(machine)).collect();
            format!("[{}] monitors {:?}", machines.join("; "), view.monitors)
        };
        let violation = |&(kind, span): &(ViolationKind, Option<Span>)| {
            let place = span.map_or("no place".to_owned(), |span| scene.sources.place(span));
            format!("{} at {place}", kind.as_str())
        };
        compare("violation", &self.violations, &other.violations, names, violation)
            .or_else(|| compare("monitor state", &self.monitors, &other.monitors, names, monitors))
            .or_else(|| compare("local state", &self.locals, &other.locals, names, local))
            .or_else(|| {
                compare("quiescent configuration", &self.quiescent, &other.quiescent, names, quiescent)
            })
            .or_else(|| (verdicts[0] != verdicts[1]).then(|| format!("verdicts {verdicts:?}")))
    }
}

/// What is left when machines and monitors are taken one by one: all that a reduction has to keep which does not
/// keep configurations.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LocalSummary {
    pub locals: BTreeSet<LocalView>,
    /// By place of the monitor.
    pub monitors: BTreeSet<(usize, MonitorView)>,
    /// Without those that are reported at the end of a run.
    pub violations: BTreeSet<(ViolationKind, Option<Span>)>,
    pub is_unknown: bool,
}

impl LocalSummary {
    pub fn of(summary: &Summary) -> Self {
        let is_local = |kind| !matches!(kind, ViolationKind::Deadlock | ViolationKind::HotAtEnd);
        LocalSummary {
            locals: summary.locals.clone(),
            monitors: summary.monitors.iter().flat_map(|views| views.iter().cloned().enumerate()).collect(),
            violations: summary.violations.iter().filter(|(kind, _)| is_local(*kind)).copied().collect(),
            is_unknown: summary.is_unknown,
        }
    }

    /// What the other lacks, in words.
    pub fn missing_from(&self, other: &LocalSummary, scene: &Scene<'_>) -> Option<String> {
        let violation = |&(kind, span): &(ViolationKind, Option<Span>)| {
            let place = span.map_or("no place".to_owned(), |span| scene.sources.place(span));
            format!("violation {} at {place}", kind.as_str())
        };
        let first = self.violations.difference(&other.violations).next().map(violation);
        first
            .or_else(|| {
                let missing = self.monitors.difference(&other.monitors).next();
                missing.map(|(at, view)| format!("state of monitor {at}: {view:?}"))
            })
            .or_else(|| {
                let missing = self.locals.difference(&other.locals).next();
                missing.map(|view| format!("local state {}", scene.local(view)))
            })
            .or_else(|| (self.is_unknown && !other.is_unknown).then(|| "an unknown end".to_owned()))
    }
}

fn compare<T: Ord>(
    what: &str,
    left: &BTreeSet<T>,
    right: &BTreeSet<T>,
    names: [&str; 2],
    show: impl Fn(&T) -> String,
) -> Option<String> {
    let only = |a: &BTreeSet<T>, b: &BTreeSet<T>, name: &str| {
        let mut extra = a.difference(b);
        let first = extra.next()?;
        let more = extra.count();
        let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
        Some(format!("{what} only of the {name}: {}{more}", show(first)))
    };
    only(left, right, names[0]).or_else(|| only(right, left, names[1]))
}

/// Names for differences.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub program: &'a Program,
    pub sources: &'a Sources,
}

impl Scene<'_> {
    fn local(&self, view: &LocalView) -> String {
        let def = &self.program.machines[view.machine];
        let fields: Vec<String> = def
            .fields
            .iter()
            .zip(&view.fields)
            .map(|(field, value)| {
                format!("{}={}", self.program.name(field.name), show_value(self.program, value))
            })
            .collect();
        let at = match &view.at {
            At::Blocked { receive, inbox, .. } => {
                format!("blocked at {} with {}", self.sources.place(*receive), self.messages(inbox))
            }
            At::Idle { inbox } => format!("idle with {}", self.messages(inbox)),
            At::Halted => return format!("{:?} {} halted", view.path, self.program.name(def.name)),
            At::Sending { target, event, payload } => {
                format!("sending {} to {target:?}", self.messages(&[(*event, payload.clone())]))
            }
            At::Creating { interface, payload } => {
                let interface = self.program.name(self.program.interfaces[*interface].name);
                format!("creating {interface}({})", show_value(self.program, payload))
            }
        };
        let state = self.program.name(def.states[view.control].name);
        format!("{:?} {}.{state} {{{}}} {at}", view.path, self.program.name(def.name), fields.join(", "))
    }

    fn messages(&self, messages: &[(EventId, Value)]) -> String {
        let texts: Vec<String> = messages
            .iter()
            .map(|(event, payload)| {
                let event = self.program.name(self.program.events[*event].name);
                format!("{event}({})", show_value(self.program, payload))
            })
            .collect();
        format!("[{}]", texts.join(", "))
    }
}

fn show_value(program: &Program, value: &Value) -> String {
    let mut out = String::new();
    crate::oracle::text::write(program, None, value, &mut out);
    out
}

/// The value as both sides show it: no free slots, references without permissions.
pub fn shown(value: &Value) -> Value {
    let all = |values: &[Value]| values.iter().map(shown).collect();
    match value {
        Value::Machine(path, _) => Value::Machine(path.clone(), [].into()),
        Value::Tuple(parts) => Value::Tuple(all(parts)),
        Value::Seq(parts) => Value::Seq(all(parts)),
        Value::Named(fields) => {
            Value::Named(fields.iter().map(|(name, value)| (*name, shown(value))).collect())
        }
        Value::Set(slots) => Value::Set(slots.iter().map(shown).collect()),
        Value::Map(slots) => Value::Map(slots.iter().map(|(k, v)| (shown(k), shown(v))).collect()),
        simple => simple.clone(),
    }
}
