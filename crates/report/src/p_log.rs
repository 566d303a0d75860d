//! Runs as P's checker writes them, for scripts and viewers that read those files: the text log (`.txt`) and the
//! JSON trace (`.trace.json`, with vector clocks).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use allways_base::Sources;
use allways_run::{Entry, Trace, TraceStep};
use serde_json::{Map, Value, json};

/// The text log, one line for each thing that happened.
pub fn render_text(trace: &Trace, test: &str, strategy: &str, sources: &Sources) -> String {
    let mut out = format!("<TestLog> Running test '{test}'.\n");
    for entry in trace.steps.iter().flat_map(|step| &step.entries) {
        if let Some((tag, text)) = line_of(entry, sources) {
            let _ = writeln!(out, "<{tag}> {text}");
        }
    }
    let _ = writeln!(out, "<StrategyLog> Found bug using '{strategy}' strategy.");
    out
}

/// What happened in one step, a line each.
pub fn lines(step: &TraceStep, sources: &Sources) -> Vec<String> {
    step.entries
        .iter()
        .filter_map(|entry| line_of(entry, sources))
        .map(|(tag, text)| format!("<{tag}> {text}"))
        .collect()
}

fn event_with(event: &str, payload: &Option<String>) -> String {
    match payload {
        Some(payload) => format!("{event} with payload ({payload})"),
        None => event.to_owned(),
    }
}

/// The tag and text of an entry; `None` for what P does not log.
fn line_of(entry: &Entry, sources: &Sources) -> Option<(&'static str, String)> {
    Some(match entry {
        Entry::Create { machine, creator, .. } => {
            let creator = creator.as_deref().unwrap_or("task '2'");
            ("CreateLog", format!("{machine} was created by {creator}."))
        }
        Entry::Send { machine, state, target, event, payload, .. } => (
            "SendLog",
            format!(
                "'{machine}' in state '{state}' sent event '{}' to '{target}'.",
                event_with(event, payload)
            ),
        ),
        // P has no network of its own: these are in its manner.
        Entry::Lose { machine, target, event } => {
            ("NetworkLog", format!("event '{event}' from '{machine}' to '{target}' was lost."))
        }
        Entry::Duplicate { machine, target, event } => {
            ("NetworkLog", format!("event '{event}' from '{machine}' to '{target}' was duplicated."))
        }
        Entry::Arrive { machine, source, event, payload } => (
            "NetworkLog",
            format!("event '{}' from '{source}' arrived at '{machine}'.", event_with(event, payload)),
        ),
        Entry::Crash { machine, state, n_discarded } => (
            "CrashLog",
            format!("{machine} crashed in state '{state}' with {n_discarded} events in its inbox."),
        ),
        Entry::Drop { machine, target, event } => {
            ("SendLog", format!("'{machine}' sent event '{event}' to '{target}' which has halted."))
        }
        Entry::Dequeue { machine, state, event, payload } => (
            "DequeueLog",
            format!("'{machine}' dequeued event '{}' in state '{state}'.", event_with(event, payload)),
        ),
        Entry::Receive { machine, state, event, payload } => (
            "ReceiveLog",
            format!(
                "'{machine}' dequeued event '{}' and unblocked in state '{state}'.",
                event_with(event, payload)
            ),
        ),
        Entry::Wait { machine, state, events } => {
            let names: Vec<String> = events.iter().map(|event| format!("'{event}'")).collect();
            let names = names.join(", ");
            (
                "ReceiveLog",
                format!("{machine} is waiting to dequeue an event of type {names} in state '{state}'."),
            )
        }
        Entry::Raise { machine, state, event, payload, .. } => (
            "RaiseLog",
            format!("'{machine}' raised event '{}' in state '{state}'.", event_with(event, payload)),
        ),
        Entry::Goto { machine, state, target } => {
            ("GotoLog", format!("{machine} is transitioning from state '{state}' to state '{target}'."))
        }
        Entry::Enter { machine, state } => ("StateLog", format!("{machine} enters state '{state}'.")),
        Entry::Exit { machine, state } => ("StateLog", format!("{machine} exits state '{state}'.")),
        Entry::Announce { machine, event, payload, .. } => {
            ("AnnounceLog", format!("'{machine}' announced event '{}'.", event_with(event, payload)))
        }
        Entry::Observe { monitor, state, event, payload, .. } => (
            "MonitorLog",
            format!("{monitor} is processing event '{}' in state '{state}'.", event_with(event, payload)),
        ),
        Entry::MonitorEnter { monitor, state, temperature } => {
            let temperature = temperature.map_or(String::new(), |t| format!("{t} "));
            ("MonitorLog", format!("{monitor} enters {temperature}state '{state}'."))
        }
        Entry::MonitorExit { monitor, state } => ("MonitorLog", format!("{monitor} exits state '{state}'.")),
        Entry::Choice { machine, answer, n_answers, .. } => {
            let answer = match (n_answers, answer) {
                (2, 0) => "False".to_owned(),
                (2, 1) => "True".to_owned(),
                _ => answer.to_string(),
            };
            ("RandomLog", format!("{machine} nondeterministically chose '{answer}'."))
        }
        Entry::Print { text, .. } => ("PrintLog", text.clone()),
        Entry::Halt { machine, n_discarded } => {
            ("HaltLog", format!("{machine} halted with {n_discarded} events in its inbox."))
        }
        Entry::Fault(violation) => ("ErrorLog", violation.text(sources)),
    })
}

/// The JSON trace: an array of `{type, details}`.
pub fn render_json(trace: &Trace, sources: &Sources) -> String {
    let mut clocks = Clocks::default();
    let entries: Vec<Value> = trace
        .steps
        .iter()
        .flat_map(|step| &step.entries)
        .filter_map(|entry| json_of(entry, sources, &mut clocks))
        .collect();
    let mut text = serde_json::to_string_pretty(&Value::Array(entries)).expect("entries are plain data");
    text.push('\n');
    text
}

type Clock = BTreeMap<String, u64>;

/// Vector clocks: what each machine knows of the others.
#[derive(Default)]
struct Clocks {
    machines: BTreeMap<String, Clock>,
    /// Messages on their way: target, event, payload, and what the sender knew.
    sent: Vec<(String, String, Option<String>, Clock)>,
}

impl Clocks {
    fn tick(&mut self, machine: &str) -> Clock {
        let clock = self.machines.entry(machine.to_owned()).or_default();
        *clock.entry(machine.to_owned()).or_default() += 1;
        clock.clone()
    }

    fn send(&mut self, machine: &str, target: &str, event: &str, payload: &Option<String>) -> Clock {
        let clock = self.tick(machine);
        self.sent.push((target.to_owned(), event.to_owned(), payload.clone(), clock.clone()));
        clock
    }

    fn take(&mut self, machine: &str, event: &str, payload: &Option<String>) -> Clock {
        let is_it = |sent: &(String, String, Option<String>, Clock)| {
            sent.0 == machine && sent.1 == event && sent.2 == *payload
        };
        if let Some(at) = self.sent.iter().position(is_it) {
            let (_, _, _, known) = self.sent.remove(at);
            let mine = self.machines.entry(machine.to_owned()).or_default();
            for (other, time) in known {
                let entry = mine.entry(other).or_default();
                *entry = (*entry).max(time);
            }
        }
        self.tick(machine)
    }
}

fn json_of(entry: &Entry, sources: &Sources, clocks: &mut Clocks) -> Option<Value> {
    let (_, log) = line_of(entry, sources)?;
    let mut details = Map::new();
    details.insert("log".to_owned(), json!(log));
    let mut set = |key: &str, value: Value| {
        details.insert(key.to_owned(), value);
    };
    let payload_of = |payload: &Option<String>| json!(payload.as_deref().unwrap_or("null"));
    let kind = match entry {
        Entry::Create { machine, creator, .. } => {
            set("id", json!(machine));
            set("creatorName", json!(creator));
            set("clock", json!(clocks.tick(machine)));
            "CreateStateMachine"
        }
        Entry::Send { machine, state, target, event, payload, .. } => {
            set("sender", json!(machine));
            set("state", json!(state));
            set("event", json!(event));
            set("target", json!(target));
            set("isTargetHalted", json!(false));
            set("payload", payload_of(payload));
            set("clock", json!(clocks.send(machine, target, event, payload)));
            "SendEvent"
        }
        Entry::Lose { machine, target, event } | Entry::Duplicate { machine, target, event } => {
            set("sender", json!(machine));
            set("event", json!(event));
            set("target", json!(target));
            if matches!(entry, Entry::Lose { .. }) { "LoseEvent" } else { "DuplicateEvent" }
        }
        Entry::Arrive { machine, source, event, payload } => {
            set("sender", json!(source));
            set("event", json!(event));
            set("target", json!(machine));
            set("payload", payload_of(payload));
            "ArriveEvent"
        }
        Entry::Crash { machine, state, n_discarded } => {
            set("id", json!(machine));
            set("state", json!(state));
            set("haltInboxSize", json!(n_discarded));
            set("clock", json!(clocks.tick(machine)));
            "Crash"
        }
        Entry::Drop { machine, target, event } => {
            set("sender", json!(machine));
            set("event", json!(event));
            set("target", json!(target));
            set("isTargetHalted", json!(true));
            set("clock", json!(clocks.tick(machine)));
            "SendEvent"
        }
        Entry::Dequeue { machine, state, event, payload } => {
            set("id", json!(machine));
            set("event", json!(event));
            set("state", json!(state));
            set("payload", payload_of(payload));
            set("clock", json!(clocks.take(machine, event, payload)));
            "DequeueEvent"
        }
        Entry::Receive { machine, state, event, payload } => {
            set("id", json!(machine));
            set("event", json!(event));
            set("state", json!(state));
            set("wasBlocked", json!(true));
            set("payload", payload_of(payload));
            set("clock", json!(clocks.take(machine, event, payload)));
            "ReceiveEvent"
        }
        Entry::Wait { machine, state, events } => {
            set("id", json!(machine));
            set("eventTypes", json!(events));
            set("state", json!(state));
            set("clock", json!(clocks.tick(machine)));
            "WaitMultipleEvents"
        }
        Entry::Raise { machine, state, event, payload, .. } => {
            set("id", json!(machine));
            set("event", json!(event));
            set("state", json!(state));
            set("payload", payload_of(payload));
            set("clock", json!(clocks.tick(machine)));
            "RaiseEvent"
        }
        Entry::Goto { machine, state, target } => {
            set("id", json!(machine));
            set("startState", json!(state));
            set("endState", json!(target));
            set("clock", json!(clocks.tick(machine)));
            "GotoState"
        }
        Entry::Enter { machine, state } | Entry::Exit { machine, state } => {
            set("id", json!(machine));
            set("state", json!(state));
            set("payload", json!("null"));
            set("isEntry", json!(matches!(entry, Entry::Enter { .. })));
            set("clock", json!(clocks.tick(machine)));
            "StateTransition"
        }
        Entry::Announce { machine, event, payload, .. } => {
            set("id", json!(machine));
            set("event", json!(event));
            set("payload", payload_of(payload));
            set("clock", json!(clocks.tick(machine)));
            "Announce"
        }
        Entry::Observe { monitor, state, event, payload, .. } => {
            set("monitor", json!(monitor));
            set("state", json!(state));
            set("event", json!(event));
            set("payload", payload_of(payload));
            "MonitorProcessEvent"
        }
        Entry::MonitorEnter { monitor, state, temperature } => {
            set("monitor", json!(monitor));
            set("state", json!(state));
            set("isEntry", json!(true));
            set("isInHotState", json!(temperature.map(|t| t == "hot")));
            "MonitorStateTransition"
        }
        Entry::MonitorExit { monitor, state } => {
            set("monitor", json!(monitor));
            set("state", json!(state));
            set("isEntry", json!(false));
            "MonitorStateTransition"
        }
        Entry::Print { text, .. } => {
            set("payload", json!(text));
            "Print"
        }
        Entry::Halt { machine, n_discarded } => {
            set("id", json!(machine));
            set("haltInboxSize", json!(n_discarded));
            set("clock", json!(clocks.tick(machine)));
            "Halt"
        }
        Entry::Fault(violation) => {
            set("error", json!(violation.text(sources)));
            set("payload", json!("null"));
            "AssertionFailure"
        }
        // P's JSON has no entry for choices.
        Entry::Choice { .. } => return None,
    };
    // P leaves out keys without value.
    details.retain(|_, value| !value.is_null());
    Some(json!({ "type": kind, "details": details }))
}
