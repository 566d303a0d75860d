//! Runs as P's checker writes them, for scripts and viewers that read those files: the text log (`.txt`) and the
//! JSON trace (`.trace.json`, with vector clocks).

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io;

use allways_base::Sources;
use allways_run::{ActorId, ActorKind, ChangeKind, Edit, Entry, MessageId, Payload, Trace, TraceStep};
use serde_json::{Map, Value, json};

use crate::value::log_text;

/// The text log, one line for each thing that happened.
pub fn render_text(trace: &Trace, test: &str, strategy: &str, sources: &Sources) -> String {
    let mut out = format!("<TestLog> Running test '{test}'.\n");
    for entry in trace.steps.iter().flat_map(|step| &step.entries) {
        if let Some((tag, text)) = line_of(trace, entry, sources) {
            let _ = writeln!(out, "<{tag}> {text}");
        }
    }
    let _ = writeln!(out, "<StrategyLog> Found bug using '{strategy}' strategy.");
    out
}

/// What happened in one step, a line each.
pub fn lines(trace: &Trace, step: &TraceStep, sources: &Sources) -> Vec<String> {
    let mut lines: Vec<String> = step
        .entries
        .iter()
        .filter_map(|entry| line_of(trace, entry, sources))
        .map(|(tag, text)| format!("<{tag}> {text}"))
        .collect();
    if let Some(Entry::Statement { .. }) = step.entries.first() {
        for change in &step.changes {
            if let ChangeKind::Variable { name, edit: Edit::Replace { after: Some(after), .. }, .. } =
                &change.what
            {
                lines[0].push_str(&format!(" // {name} = {}", log_text(after)));
            }
        }
    }
    lines
}

fn event_with(event: &str, payload: &Payload) -> String {
    match payload {
        Some(payload) => format!("{event} with payload ({})", log_text(payload)),
        None => event.to_owned(),
    }
}

/// The tag and text of an entry; `None` for what P does not log.
fn line_of(trace: &Trace, entry: &Entry, sources: &Sources) -> Option<(&'static str, String)> {
    let name = |actor: &ActorId| trace.name(*actor);
    let parties = |message: &MessageId| {
        let message = trace.message(*message);
        let [sender, target] =
            [message.sender, message.target].map(|actor| actor.map_or("", |a| trace.name(a)));
        (sender, target, &*message.event, event_with(&message.event, &message.payload))
    };
    Some(match entry {
        Entry::Create { machine, creator, .. } => {
            let creator = creator.as_ref().map_or("task '2'", name);
            ("CreateLog", format!("{} was created by {creator}.", name(machine)))
        }
        Entry::Send { message, state, .. } => {
            let (sender, target, _, event) = parties(message);
            ("SendLog", format!("'{sender}' in state '{state}' sent event '{event}' to '{target}'."))
        }
        // P has no network of its own: these are in its manner.
        Entry::Lose { message } => {
            let (sender, target, event, _) = parties(message);
            ("NetworkLog", format!("event '{event}' from '{sender}' to '{target}' was lost."))
        }
        Entry::Duplicate { message, .. } => {
            let (sender, target, event, _) = parties(message);
            ("NetworkLog", format!("event '{event}' from '{sender}' to '{target}' was duplicated."))
        }
        Entry::Arrive { message } => {
            let (sender, target, _, event) = parties(message);
            ("NetworkLog", format!("event '{event}' from '{sender}' arrived at '{target}'."))
        }
        Entry::Crash { machine, state, n_discarded } => (
            "CrashLog",
            format!("{} crashed in state '{state}' with {n_discarded} events in its inbox.", name(machine)),
        ),
        Entry::Drop { message } => {
            let (sender, target, event, _) = parties(message);
            ("SendLog", format!("'{sender}' sent event '{event}' to '{target}' which has halted."))
        }
        Entry::Dequeue { machine, state, event, payload, .. } => (
            "DequeueLog",
            format!(
                "'{}' dequeued event '{}' in state '{state}'.",
                name(machine),
                event_with(event, payload)
            ),
        ),
        Entry::Receive { machine, state, event, payload, .. } => (
            "ReceiveLog",
            format!(
                "'{}' dequeued event '{}' and unblocked in state '{state}'.",
                name(machine),
                event_with(event, payload)
            ),
        ),
        Entry::Wait { machine, state, events } => {
            let names: Vec<String> = events.iter().map(|event| format!("'{event}'")).collect();
            let (machine, names) = (name(machine), names.join(", "));
            (
                "ReceiveLog",
                format!("{machine} is waiting to dequeue an event of type {names} in state '{state}'."),
            )
        }
        Entry::Raise { actor, state, event, payload, .. } => (
            "RaiseLog",
            format!("'{}' raised event '{}' in state '{state}'.", name(actor), event_with(event, payload)),
        ),
        Entry::Goto { actor, state, target } => {
            let actor = name(actor);
            ("GotoLog", format!("{actor} is transitioning from state '{state}' to state '{target}'."))
        }
        Entry::Enter { actor, state, temperature } => match trace.actor(*actor).kind {
            ActorKind::Monitor => {
                let temperature = temperature.map_or(String::new(), |t| format!("{t} "));
                ("MonitorLog", format!("{} enters {temperature}state '{state}'.", name(actor)))
            }
            _ => ("StateLog", format!("{} enters state '{state}'.", name(actor))),
        },
        Entry::Exit { actor, state } => {
            let tag = match trace.actor(*actor).kind {
                ActorKind::Monitor => "MonitorLog",
                _ => "StateLog",
            };
            (tag, format!("{} exits state '{state}'.", name(actor)))
        }
        Entry::Announce { message, .. } => {
            let (sender, _, _, event) = parties(message);
            ("AnnounceLog", format!("'{sender}' announced event '{event}'."))
        }
        Entry::Observe { monitor, state, message } => {
            let (_, _, _, event) = parties(message);
            ("MonitorLog", format!("{} is processing event '{event}' in state '{state}'.", name(monitor)))
        }
        Entry::Choice { machine, answer, n_answers, .. } => {
            let answer = match (n_answers, answer) {
                (2, 0) => "False".to_owned(),
                (2, 1) => "True".to_owned(),
                _ => answer.to_string(),
            };
            ("RandomLog", format!("{} nondeterministically chose '{answer}'.", name(machine)))
        }
        Entry::Print { text, .. } => ("PrintLog", text.to_string()),
        Entry::Halt { machine, n_discarded } => {
            ("HaltLog", format!("{} halted with {n_discarded} events in its inbox.", name(machine)))
        }
        // P has no tasks.
        Entry::Statement { actor, procedure, text, span, .. } => {
            let line = format!("'{}' in '{procedure}' at {}: {text}", name(actor), sources.place(*span));
            ("StatementLog", line)
        }
        Entry::Delay { actor, n_rounds } => {
            ("ScheduleLog", format!("'{}' is delayed by {n_rounds}.", name(actor)))
        }
        Entry::Abandon { actor } => ("ScheduleLog", format!("'{}' is never run again.", name(actor))),
        Entry::Fault(violation) => ("ErrorLog", violation.text(sources)),
        // P does not log what is ignored.
        Entry::Ignore { .. } => return None,
    })
}

/// The JSON trace: an array of `{type, details}`. It is written entry by entry, since the whole can be large.
pub fn write_json(trace: &Trace, sources: &Sources, out: &mut dyn io::Write) -> io::Result<()> {
    let mut clocks = Clocks::default();
    let entries = trace.steps.iter().flat_map(|step| &step.entries);
    let mut is_first = true;
    out.write_all(b"[")?;
    for entry in entries {
        let Some(value) = json_of(trace, entry, sources, &mut clocks) else { continue };
        out.write_all(if is_first { b"\n  " } else { b",\n  " })?;
        is_first = false;
        let text = serde_json::to_string_pretty(&value).map_err(io::Error::other)?;
        out.write_all(text.replace('\n', "\n  ").as_bytes())?;
    }
    out.write_all(b"\n]\n")
}

type Clock = BTreeMap<String, u64>;

/// Vector clocks: what each machine knows of the others.
#[derive(Default)]
struct Clocks {
    machines: BTreeMap<String, Clock>,
    /// What the sender of a message knew, until the message is taken.
    sent: HashMap<MessageId, Clock>,
}

impl Clocks {
    fn tick(&mut self, machine: &str) -> Clock {
        let clock = self.machines.entry(machine.to_owned()).or_default();
        *clock.entry(machine.to_owned()).or_default() += 1;
        clock.clone()
    }

    fn send(&mut self, machine: &str, message: MessageId) -> Clock {
        let clock = self.tick(machine);
        self.sent.insert(message, clock.clone());
        clock
    }

    fn duplicate(&mut self, message: MessageId, copy: MessageId) {
        if let Some(known) = self.sent.get(&message).cloned() {
            self.sent.insert(copy, known);
        }
    }

    fn take(&mut self, machine: &str, message: Option<MessageId>) -> Clock {
        if let Some(known) = message.and_then(|id| self.sent.remove(&id)) {
            let mine = self.machines.entry(machine.to_owned()).or_default();
            for (other, time) in known {
                let entry = mine.entry(other).or_default();
                *entry = (*entry).max(time);
            }
        }
        self.tick(machine)
    }
}

fn json_of(trace: &Trace, entry: &Entry, sources: &Sources, clocks: &mut Clocks) -> Option<Value> {
    let (_, log) = line_of(trace, entry, sources)?;
    let name = |actor: &ActorId| trace.name(*actor);
    let mut details = Map::new();
    details.insert("log".to_owned(), json!(log));
    let mut set = |key: &str, value: Value| {
        details.insert(key.to_owned(), value);
    };
    let payload_of = |payload: &Payload| match payload {
        Some(payload) => json!(log_text(payload)),
        None => json!("null"),
    };
    let sender_of =
        |message: &MessageId| trace.message(*message).sender.map_or("", |actor| trace.name(actor));
    let target_of =
        |message: &MessageId| trace.message(*message).target.map_or("", |actor| trace.name(actor));
    let event_of = |message: &MessageId| &*trace.message(*message).event;
    let kind = match entry {
        Entry::Create { machine, creator, .. } => {
            set("id", json!(name(machine)));
            set("creatorName", json!(creator.as_ref().map(name)));
            set("clock", json!(clocks.tick(name(machine))));
            "CreateStateMachine"
        }
        Entry::Send { message, state, .. } => {
            set("sender", json!(sender_of(message)));
            set("state", json!(&**state));
            set("event", json!(event_of(message)));
            set("target", json!(target_of(message)));
            set("isTargetHalted", json!(false));
            set("payload", payload_of(&trace.message(*message).payload));
            set("clock", json!(clocks.send(sender_of(message), *message)));
            "SendEvent"
        }
        Entry::Lose { message } | Entry::Duplicate { message, .. } => {
            if let Entry::Duplicate { message, copy } = entry {
                clocks.duplicate(*message, *copy);
            }
            set("sender", json!(sender_of(message)));
            set("event", json!(event_of(message)));
            set("target", json!(target_of(message)));
            if matches!(entry, Entry::Lose { .. }) { "LoseEvent" } else { "DuplicateEvent" }
        }
        Entry::Arrive { message } => {
            set("sender", json!(sender_of(message)));
            set("event", json!(event_of(message)));
            set("target", json!(target_of(message)));
            set("payload", payload_of(&trace.message(*message).payload));
            "ArriveEvent"
        }
        Entry::Crash { machine, state, n_discarded } => {
            set("id", json!(name(machine)));
            set("state", json!(&**state));
            set("haltInboxSize", json!(n_discarded));
            set("clock", json!(clocks.tick(name(machine))));
            "Crash"
        }
        Entry::Drop { message } => {
            set("sender", json!(sender_of(message)));
            set("event", json!(event_of(message)));
            set("target", json!(target_of(message)));
            set("isTargetHalted", json!(true));
            set("clock", json!(clocks.tick(sender_of(message))));
            "SendEvent"
        }
        Entry::Dequeue { machine, state, event, payload, message } => {
            set("id", json!(name(machine)));
            set("event", json!(&**event));
            set("state", json!(&**state));
            set("payload", payload_of(payload));
            set("clock", json!(clocks.take(name(machine), *message)));
            "DequeueEvent"
        }
        Entry::Receive { machine, state, event, payload, message } => {
            set("id", json!(name(machine)));
            set("event", json!(&**event));
            set("state", json!(&**state));
            set("wasBlocked", json!(true));
            set("payload", payload_of(payload));
            set("clock", json!(clocks.take(name(machine), *message)));
            "ReceiveEvent"
        }
        Entry::Wait { machine, state, events } => {
            let events: Vec<&str> = events.iter().map(|event| &**event).collect();
            set("id", json!(name(machine)));
            set("eventTypes", json!(events));
            set("state", json!(&**state));
            set("clock", json!(clocks.tick(name(machine))));
            "WaitMultipleEvents"
        }
        Entry::Raise { actor, state, event, payload, .. } => {
            set("id", json!(name(actor)));
            set("event", json!(&**event));
            set("state", json!(&**state));
            set("payload", payload_of(payload));
            set("clock", json!(clocks.tick(name(actor))));
            "RaiseEvent"
        }
        Entry::Goto { actor, state, target } => {
            set("id", json!(name(actor)));
            set("startState", json!(&**state));
            set("endState", json!(&**target));
            set("clock", json!(clocks.tick(name(actor))));
            "GotoState"
        }
        Entry::Enter { actor, state, temperature } if trace.actor(*actor).kind == ActorKind::Monitor => {
            set("monitor", json!(name(actor)));
            set("state", json!(&**state));
            set("isEntry", json!(true));
            set("isInHotState", json!(temperature.map(|t| t == "hot")));
            "MonitorStateTransition"
        }
        Entry::Exit { actor, state } if trace.actor(*actor).kind == ActorKind::Monitor => {
            set("monitor", json!(name(actor)));
            set("state", json!(&**state));
            set("isEntry", json!(false));
            "MonitorStateTransition"
        }
        Entry::Enter { actor, state, .. } | Entry::Exit { actor, state } => {
            set("id", json!(name(actor)));
            set("state", json!(&**state));
            set("payload", json!("null"));
            set("isEntry", json!(matches!(entry, Entry::Enter { .. })));
            set("clock", json!(clocks.tick(name(actor))));
            "StateTransition"
        }
        Entry::Announce { message, .. } => {
            set("id", json!(sender_of(message)));
            set("event", json!(event_of(message)));
            set("payload", payload_of(&trace.message(*message).payload));
            set("clock", json!(clocks.tick(sender_of(message))));
            "Announce"
        }
        Entry::Observe { monitor, state, message } => {
            set("monitor", json!(name(monitor)));
            set("state", json!(&**state));
            set("event", json!(event_of(message)));
            set("payload", payload_of(&trace.message(*message).payload));
            "MonitorProcessEvent"
        }
        Entry::Statement { actor, procedure, .. } => {
            set("id", json!(name(actor)));
            set("procedure", json!(&**procedure));
            "Statement"
        }
        Entry::Delay { actor, .. } | Entry::Abandon { actor } => {
            set("id", json!(name(actor)));
            "Delay"
        }
        Entry::Print { text, .. } => {
            set("payload", json!(&**text));
            "Print"
        }
        Entry::Halt { machine, n_discarded } => {
            set("id", json!(name(machine)));
            set("haltInboxSize", json!(n_discarded));
            set("clock", json!(clocks.tick(name(machine))));
            "Halt"
        }
        Entry::Fault(violation) => {
            set("error", json!(violation.text(sources)));
            set("payload", json!("null"));
            "AssertionFailure"
        }
        // P's JSON has no entry for these.
        Entry::Choice { .. } | Entry::Ignore { .. } => return None,
    };
    // P leaves out keys without value.
    details.retain(|_, value| !value.is_null());
    Some(json!({ "type": kind, "details": details }))
}
