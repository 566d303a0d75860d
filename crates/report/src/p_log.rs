//! Runs as P's checker writes them, for scripts and viewers that read those files: the text log (`.txt`) and the
//! JSON trace (`.trace.json`, with vector clocks).

use std::collections::HashMap;
use std::io;
use std::rc::Rc;

use allways_base::Sources;
use allways_run::{ActorId, ActorKind, ChangeKind, Edit, Entry, MessageId, Payload, Trace, TraceStep};
use serde_json::{Map, Value, json};

use crate::limited::Limited;
use crate::value::log_text;

/// The text log, one line for each thing that happened.
///
/// # Errors
/// When it cannot be written.
pub fn write_text(
    trace: &Trace,
    test: &str,
    strategy: &str,
    sources: &Sources,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    writeln!(out, "<TestLog> Running test '{test}'.")?;
    for entry in trace.steps.iter().flat_map(|step| &step.entries) {
        if let Some((tag, text)) = line_of(trace, entry, sources) {
            writeln!(out, "<{tag}> {text}")?;
        }
    }
    writeln!(out, "<StrategyLog> Found bug using '{strategy}' strategy.")
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

/// Bytes of the largest JSON trace.
pub const MAX_BYTES: usize = 64 << 20;

/// The JSON trace: an array of `{type, details}`. It is written entry by entry, since the whole can be large.
///
/// # Errors
/// When it cannot be written; of the kind `FileTooLarge` when there would be more than [`MAX_BYTES`]: each entry has the whole clock of
/// its machine, so that the file grows with steps times machines.
pub fn write_json(trace: &Trace, sources: &Sources, out: &mut dyn io::Write) -> io::Result<()> {
    use io::Write as _;
    let out = &mut Limited::new(out, MAX_BYTES);
    let mut clocks = Clocks::new(trace);
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

/// What is known of others: times by the ranks of their names, in order.
type Clock = Rc<Vec<(u32, u64)>>;

/// Vector clocks: what each machine knows of the others.
struct Clocks<'a> {
    /// In order, which is that of the JSON.
    names: Vec<&'a str>,
    /// By rank.
    machines: Vec<Clock>,
    /// What the sender of a message knew, until the message is taken.
    sent: HashMap<MessageId, Clock>,
}

impl<'a> Clocks<'a> {
    fn new(trace: &'a Trace) -> Self {
        // A message without a sender has one without a name.
        let mut names: Vec<&str> = trace.actors.iter().map(|actor| &*actor.name).chain([""]).collect();
        names.sort_unstable();
        names.dedup();
        Clocks { machines: vec![Clock::default(); names.len()], names, sent: HashMap::new() }
    }

    fn rank(&self, machine: &str) -> usize {
        self.names.partition_point(|&name| name < machine)
    }

    fn json(&self, clock: &Clock) -> Value {
        let times = clock.iter().map(|&(rank, time)| (self.names[rank as usize].to_owned(), json!(time)));
        Value::Object(times.collect())
    }

    fn count(&mut self, machine: &str) -> &Clock {
        let rank = self.rank(machine);
        let clock = &mut self.machines[rank];
        let times = Rc::make_mut(clock);
        match times.binary_search_by_key(&(rank as u32), |&(other, _)| other) {
            Ok(at) => times[at].1 += 1,
            Err(at) => times.insert(at, (rank as u32, 1)),
        }
        clock
    }

    fn tick(&mut self, machine: &str) -> Value {
        let clock = self.count(machine).clone();
        self.json(&clock)
    }

    fn send(&mut self, machine: &str, message: MessageId) -> Value {
        let clock = self.count(machine).clone();
        let json = self.json(&clock);
        self.sent.insert(message, clock);
        json
    }

    fn duplicate(&mut self, message: MessageId, copy: MessageId) {
        if let Some(known) = self.sent.get(&message).cloned() {
            self.sent.insert(copy, known);
        }
    }

    fn take(&mut self, machine: &str, message: Option<MessageId>) -> Value {
        if let Some(known) = message.and_then(|id| self.sent.remove(&id)) {
            let rank = self.rank(machine);
            let mine = &mut self.machines[rank];
            let mut times: Vec<(u32, u64)> = Vec::with_capacity(mine.len().max(known.len()));
            let (mut a, mut b) = (mine.iter().copied().peekable(), known.iter().copied().peekable());
            while let Some(next) = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 == y.0 => {
                    let time = x.1.max(y.1);
                    b.next();
                    a.next().map(|(other, _)| (other, time))
                }
                (Some(x), Some(y)) if x.0 < y.0 => a.next(),
                (Some(_), None) => a.next(),
                _ => b.next(),
            } {
                times.push(next);
            }
            *mine = Rc::new(times);
        }
        self.tick(machine)
    }
}

fn json_of(trace: &Trace, entry: &Entry, sources: &Sources, clocks: &mut Clocks<'_>) -> Option<Value> {
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
            set("clock", clocks.tick(name(machine)));
            "CreateStateMachine"
        }
        Entry::Send { message, state, .. } => {
            set("sender", json!(sender_of(message)));
            set("state", json!(&**state));
            set("event", json!(event_of(message)));
            set("target", json!(target_of(message)));
            set("isTargetHalted", json!(false));
            set("payload", payload_of(&trace.message(*message).payload));
            set("clock", clocks.send(sender_of(message), *message));
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
            set("clock", clocks.tick(name(machine)));
            "Crash"
        }
        Entry::Drop { message } => {
            set("sender", json!(sender_of(message)));
            set("event", json!(event_of(message)));
            set("target", json!(target_of(message)));
            set("isTargetHalted", json!(true));
            set("clock", clocks.tick(sender_of(message)));
            "SendEvent"
        }
        Entry::Dequeue { machine, state, event, payload, message } => {
            set("id", json!(name(machine)));
            set("event", json!(&**event));
            set("state", json!(&**state));
            set("payload", payload_of(payload));
            set("clock", clocks.take(name(machine), *message));
            "DequeueEvent"
        }
        Entry::Receive { machine, state, event, payload, message } => {
            set("id", json!(name(machine)));
            set("event", json!(&**event));
            set("state", json!(&**state));
            set("wasBlocked", json!(true));
            set("payload", payload_of(payload));
            set("clock", clocks.take(name(machine), *message));
            "ReceiveEvent"
        }
        Entry::Wait { machine, state, events } => {
            let events: Vec<&str> = events.iter().map(|event| &**event).collect();
            set("id", json!(name(machine)));
            set("eventTypes", json!(events));
            set("state", json!(&**state));
            set("clock", clocks.tick(name(machine)));
            "WaitMultipleEvents"
        }
        Entry::Raise { actor, state, event, payload, .. } => {
            set("id", json!(name(actor)));
            set("event", json!(&**event));
            set("state", json!(&**state));
            set("payload", payload_of(payload));
            set("clock", clocks.tick(name(actor)));
            "RaiseEvent"
        }
        Entry::Goto { actor, state, target } => {
            set("id", json!(name(actor)));
            set("startState", json!(&**state));
            set("endState", json!(&**target));
            set("clock", clocks.tick(name(actor)));
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
            set("clock", clocks.tick(name(actor)));
            "StateTransition"
        }
        Entry::Announce { message, .. } => {
            set("id", json!(sender_of(message)));
            set("event", json!(event_of(message)));
            set("payload", payload_of(&trace.message(*message).payload));
            set("clock", clocks.tick(sender_of(message)));
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
            set("clock", clocks.tick(name(machine)));
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
