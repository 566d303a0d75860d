//! The trace of a run as JSON, for scripts and for the viewer: docs/formats/trace.md.
//!
//! It is written and read step by step, since a long run makes a large file; nothing but the current step is in memory
//! twice.

mod read;

use std::io;

use allways_base::{FileId, Sources, Span};
use allways_run::{
    ActorKind, ChangeKind, Counterexample, Edit, Entry, FailurePart, MessageId, PartLabel, PartOrigin,
    PathStep, Trace, TraceStep,
};
use serde_json::{Map, Value, json};

pub use read::{ReadError, read};

use crate::relevance::Relevance;
use crate::value::{path_text, to_json};

/// Counts up when a field changes its meaning or goes away; new fields may appear at any time.
pub const VERSION: u32 = 1;
pub const FORMAT: &str = "allways-trace";

/// Where the trace belongs.
#[derive(Clone, Copy)]
pub struct Heading<'a> {
    pub project: &'a str,
    pub test: &'a str,
    /// What carried messages, if it was not P's own network without faults.
    pub network: Option<&'a str>,
    pub monitor: Option<&'a str>,
}

/// Lists of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum List {
    Files,
    Actors,
    Messages,
    Steps,
}

impl List {
    pub const fn as_str(self) -> &'static str {
        match self {
            List::Files => "files",
            List::Actors => "actors",
            List::Messages => "messages",
            List::Steps => "steps",
        }
    }

    fn named(name: &str) -> Option<List> {
        [List::Files, List::Actors, List::Messages, List::Steps]
            .into_iter()
            .find(|list| list.as_str() == name)
    }
}

/// Takes a trace piece by piece: a file, a page. Values are JSON without line breaks.
pub trait Sink {
    /// A value beside the lists.
    fn field(&mut self, key: &str, value: &str) -> io::Result<()>;
    /// What follows are elements of this list.
    fn begin(&mut self, list: List) -> io::Result<()>;
    fn item(&mut self, value: &str) -> io::Result<()>;
    fn end(&mut self) -> io::Result<()>;
}

/// A trace file: one line for each actor, message and step.
struct FileSink<'a> {
    out: &'a mut dyn io::Write,
    n_items: usize,
}

impl Sink for FileSink<'_> {
    fn field(&mut self, key: &str, value: &str) -> io::Result<()> {
        writeln!(self.out, "{}:{value},", json!(key))
    }

    fn begin(&mut self, list: List) -> io::Result<()> {
        self.n_items = 0;
        write!(self.out, "\"{}\":[", list.as_str())
    }

    fn item(&mut self, value: &str) -> io::Result<()> {
        self.out.write_all(if self.n_items > 0 { b",\n" } else { b"\n" })?;
        self.n_items += 1;
        self.out.write_all(value.as_bytes())
    }

    fn end(&mut self) -> io::Result<()> {
        self.out.write_all(b"],\n")
    }
}

/// Writes a trace, one line for each actor, message and step.
pub fn write(
    counterexample: &Counterexample,
    heading: &Heading<'_>,
    sources: &Sources,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    out.write_all(b"{\n")?;
    emit(counterexample, heading, sources, &mut FileSink { out, n_items: 0 })?;
    out.write_all(b"\"end\":true\n}\n")
}

/// Gives a trace to a sink, piece by piece.
pub fn emit(
    counterexample: &Counterexample,
    heading: &Heading<'_>,
    sources: &Sources,
    sink: &mut dyn Sink,
) -> io::Result<()> {
    let trace = &counterexample.trace;
    let files = Files::of(trace, sources);
    let place = |span: Option<Span>| span.map_or(Value::Null, |span| files.place(span, sources));
    let loop_start = counterexample.loop_start.map(|choice| trace.step_of_choice(choice) + 1);
    let relevance = Relevance::of(trace, loop_start.map(|step| step - 1));
    let mut head = Map::new();
    head.insert("format".to_owned(), json!(FORMAT));
    head.insert("version".to_owned(), json!(VERSION));
    head.insert("project".to_owned(), json!(heading.project));
    head.insert("test".to_owned(), json!(heading.test));
    if let Some(network) = heading.network {
        head.insert("network".to_owned(), json!(network));
    }
    if trace.violation.is_some() {
        let violation = &counterexample.violation;
        head.insert(
            "violation".to_owned(),
            json!({
                "kind": violation.kind.as_str(),
                "message": violation.text(sources),
                "headline": crate::trace::headline(counterexample),
                "why": crate::trace::reasons(counterexample, sources),
                "place": place(violation.span),
                "monitor": heading.monitor,
                "failure": failure(trace, sources, &files),
            }),
        );
    }
    if let Some(step) = loop_start {
        head.insert("loopStart".to_owned(), json!(step));
    }
    head.insert("nSteps".to_owned(), json!(trace.steps.len()));
    for (key, value) in &head {
        sink.field(key, &value.to_string())?;
    }
    let files_json =
        files.0.iter().map(|&id| json!({ "name": sources.file(id).name, "text": sources.file(id).text }));
    list(sink, List::Files, files_json)?;
    let actors = trace.actors.iter().enumerate().map(|(id, actor)| {
        let variables: Vec<Value> =
            actor.variables.iter().map(|(name, value)| json!([&**name, to_json(value)])).collect();
        without_nulls(json!({
            "id": id,
            "name": &*actor.name,
            "type": &*actor.type_name,
            "kind": match actor.kind {
                ActorKind::Machine => "machine",
                ActorKind::Monitor => "monitor",
                ActorKind::Task => "task",
                ActorKind::Shared => "shared",
            },
            "creator": actor.creator.map(|creator| creator.as_u32()),
            "created": actor.created + 1,
            "state": &*actor.state,
            "variables": variables,
            "place": place(actor.span),
        }))
    });
    list(sink, List::Actors, actors)?;
    let messages = trace.messages.iter().enumerate().map(|(id, message)| {
        without_nulls(json!({
            "id": id,
            "event": &*message.event,
            "payload": message.payload.as_ref().map(|payload| to_json(payload)),
            "from": message.sender.map(|actor| actor.as_u32()),
            "to": message.target.map(|actor| actor.as_u32()),
            "sent": message.sent + 1,
            "delivered": message.delivered.map(|step| step + 1),
            "taken": message.taken.map(|step| step + 1),
            "fate": message.fate.as_str(),
            "copyOf": message.copy_of.map(|message| message.as_u32()),
            "place": place(message.span),
        }))
    });
    list(sink, List::Messages, messages)?;
    let steps = trace.steps.iter().enumerate().map(|(at, step)| {
        let mut value = step_json(trace, step, sources, &files);
        value["number"] = json!(at + 1);
        value["relevant"] = json!(relevance.is_relevant(at));
        value
    });
    list(sink, List::Steps, steps)
}

fn list(sink: &mut dyn Sink, list: List, values: impl Iterator<Item = Value>) -> io::Result<()> {
    sink.begin(list)?;
    for value in values {
        sink.item(&value.to_string())?;
    }
    sink.end()
}

fn without_nulls(mut value: Value) -> Value {
    if let Value::Object(map) = &mut value {
        map.retain(|_, value| !value.is_null());
    }
    value
}

/// The files that the trace refers to.
struct Files(Vec<FileId>);

impl Files {
    fn of(trace: &Trace, sources: &Sources) -> Self {
        let mut files = Vec::new();
        let mut add = |span: Option<Span>| {
            if let Some(span) = span
                && !files.contains(&span.file)
            {
                files.push(span.file);
            }
        };
        add(trace.violation.as_ref().and_then(|violation| violation.span));
        trace.actors.iter().for_each(|actor| add(actor.span));
        trace.messages.iter().for_each(|message| add(message.span));
        for entry in trace.steps.iter().flat_map(|step| &step.entries) {
            add(span_of(entry));
        }
        files.retain(|&file| !sources.file(file).name.is_empty());
        Files(files)
    }

    /// The file by its index in the list, the line and column from one, and the end.
    fn place(&self, span: Span, sources: &Sources) -> Value {
        let Some(file) = self.0.iter().position(|&file| file == span.file) else { return Value::Null };
        let source = sources.file(span.file);
        let (start, end) = (source.line_col(span.start), source.line_col(span.end));
        json!([file, start.line, start.column, end.line, end.column])
    }
}

fn span_of(entry: &Entry) -> Option<Span> {
    match entry {
        Entry::Create { span, .. } => *span,
        Entry::Statement { span, .. } => Some(*span),
        Entry::Raise { span, .. } | Entry::Choice { span, .. } | Entry::Print { span, .. } => Some(*span),
        _ => None,
    }
}

fn failure(trace: &Trace, sources: &Sources, files: &Files) -> Value {
    let failure = &trace.failure;
    let part = |part: &FailurePart| {
        let label = match &part.label {
            PartLabel::Source(span) => {
                sources.file(span.file).text[span.start as usize..span.end as usize].to_owned()
            }
            PartLabel::Text(text) => text.to_string(),
        };
        let (origin, variable) = match &part.origin {
            PartOrigin::Variable { name, path } => ("variable", Some(format!("{name}{}", path_text(path)))),
            PartOrigin::Payload => ("payload", None),
            PartOrigin::Local => ("local", None),
            PartOrigin::Computed => ("computed", None),
        };
        without_nulls(
            json!({ "text": label, "value": to_json(&part.value), "origin": origin, "variable": variable }),
        )
    };
    let waiting: Vec<Value> = failure
        .waiting
        .iter()
        .map(|waiting| {
            json!({
                "actor": waiting.actor.as_u32(),
                "state": &*waiting.state,
                "events": names(&waiting.events),
                "senders": names(&waiting.senders),
                "elsewhere": names(&waiting.elsewhere),
                "place": waiting.span.map_or(Value::Null, |span| files.place(span, sources)),
            })
        })
        .collect();
    without_nulls(json!({
        "actor": failure.actor.map(|actor| actor.as_u32()),
        "message": failure.message.map(|message| message.as_u32()),
        "condition": failure.condition.map_or(Value::Null, |span| files.place(span, sources)),
        "parts": failure.parts.iter().map(part).collect::<Vec<_>>(),
        "waiting": waiting,
        "handledIn": names(&failure.handled_in),
    }))
}

fn names(names: &[allways_run::Name]) -> Vec<&str> {
    names.iter().map(|name| &**name).collect()
}

fn step_json(trace: &Trace, step: &TraceStep, sources: &Sources, files: &Files) -> Value {
    let events: Vec<Value> =
        step.entries.iter().map(|entry| entry_json(trace, entry, sources, files)).collect();
    let changes: Vec<Value> = step
        .changes
        .iter()
        .map(|change| {
            let mut value = change_json(&change.what);
            value["actor"] = json!(change.actor.as_u32());
            value
        })
        .collect();
    let alternatives: Vec<u32> = step.alternatives.iter().map(|actor| actor.as_u32()).collect();
    without_nulls(json!({
        "actor": step.actor.map(|actor| actor.as_u32()),
        "alternatives": alternatives,
        "nAlternatives": step.n_alternatives,
        "events": events,
        "changes": changes,
    }))
}

fn path_json(path: &[PathStep]) -> Vec<Value> {
    path.iter()
        .map(|step| match step {
            PathStep::Field(name) => json!({ "field": &**name }),
            PathStep::Part(at) => json!({ "part": at }),
            PathStep::Key(key) => json!({ "key": to_json(key) }),
            PathStep::Element(element) => json!({ "element": to_json(element) }),
        })
        .collect()
}

fn change_json(change: &ChangeKind) -> Value {
    match change {
        ChangeKind::Created => json!({ "kind": "created" }),
        ChangeKind::State { before, after } => {
            json!({ "kind": "state", "before": &**before, "after": &**after })
        }
        ChangeKind::Activity { before, after } => {
            json!({ "kind": "activity", "before": before.as_str(), "after": after.as_str() })
        }
        ChangeKind::Queued(message) => json!({ "kind": "queued", "message": message.as_u32() }),
        ChangeKind::Unqueued(message) => json!({ "kind": "unqueued", "message": message.as_u32() }),
        ChangeKind::Variable { name, path, edit } => {
            let mut value = json!({ "kind": "variable", "variable": &**name, "path": path_json(path) });
            match edit {
                Edit::Replace { before, after } => {
                    // Absent is not null: a key that does not exist has no value.
                    for (key, side) in [("before", before), ("after", after)] {
                        if let Some(side) = side {
                            value[key] = to_json(side);
                        }
                    }
                }
                Edit::Splice { at, removed, inserted } => {
                    value["at"] = json!(at);
                    value["removed"] = removed.iter().map(to_json).collect();
                    value["inserted"] = inserted.iter().map(to_json).collect();
                }
            }
            value
        }
    }
}

fn entry_json(trace: &Trace, entry: &Entry, sources: &Sources, files: &Files) -> Value {
    let id = |message: &MessageId| message.as_u32();
    let place = |span: Span| files.place(span, sources);
    let payload = |payload: &allways_run::Payload| payload.as_ref().map(|payload| to_json(payload));
    without_nulls(match entry {
        Entry::Create { machine, creator, payload: given, span } => json!({
            "kind": "create",
            "actor": machine.as_u32(),
            "creator": creator.map(|creator| creator.as_u32()),
            "payload": payload(given),
            "place": span.map(place),
        }),
        Entry::Send { message, state, is_delayed } => {
            json!({ "kind": "send", "message": id(message), "state": &**state, "delayed": is_delayed })
        }
        Entry::Lose { message } => json!({ "kind": "lose", "message": id(message) }),
        Entry::Duplicate { message, copy } => {
            json!({ "kind": "duplicate", "message": id(message), "copy": id(copy) })
        }
        Entry::Arrive { message } => json!({ "kind": "arrive", "message": id(message) }),
        Entry::Drop { message } => json!({ "kind": "drop", "message": id(message) }),
        Entry::Ignore { message } => json!({ "kind": "ignore", "message": id(message) }),
        Entry::Crash { machine, state, n_discarded } => json!({
            "kind": "crash", "actor": machine.as_u32(), "state": &**state, "discarded": n_discarded,
        }),
        Entry::Dequeue { machine, state, event, message, .. } => json!({
            "kind": "dequeue",
            "actor": machine.as_u32(),
            "state": &**state,
            "event": &**event,
            "message": message.as_ref().map(id),
        }),
        Entry::Receive { machine, state, event, message, .. } => json!({
            "kind": "receive",
            "actor": machine.as_u32(),
            "state": &**state,
            "event": &**event,
            "message": message.as_ref().map(id),
        }),
        Entry::Wait { machine, state, events } => json!({
            "kind": "wait", "actor": machine.as_u32(), "state": &**state, "events": names(events),
        }),
        Entry::Raise { actor, state, event, payload: given, span } => json!({
            "kind": "raise",
            "actor": actor.as_u32(),
            "state": &**state,
            "event": &**event,
            "payload": payload(given),
            "place": place(*span),
        }),
        Entry::Goto { actor, state, target } => json!({
            "kind": "goto", "actor": actor.as_u32(), "state": &**state, "target": &**target,
        }),
        Entry::Enter { actor, state, temperature } => json!({
            "kind": "enter", "actor": actor.as_u32(), "state": &**state, "temperature": temperature,
        }),
        Entry::Exit { actor, state } => json!({ "kind": "exit", "actor": actor.as_u32(), "state": &**state }),
        Entry::Announce { message, state } => {
            json!({ "kind": "announce", "message": id(message), "state": &**state })
        }
        Entry::Observe { monitor, state, message } => json!({
            "kind": "observe", "actor": monitor.as_u32(), "state": &**state, "message": id(message),
        }),
        Entry::Choice { machine, answer, n_answers, value, span } => json!({
            "kind": "choice",
            "actor": machine.as_u32(),
            "answer": answer,
            "answers": n_answers,
            "value": to_json(value),
            "place": place(*span),
        }),
        Entry::Print { actor, text, span } => json!({
            "kind": "print", "actor": actor.as_u32(), "text": &**text, "place": place(*span),
        }),
        Entry::Halt { machine, n_discarded } => {
            json!({ "kind": "halt", "actor": machine.as_u32(), "discarded": n_discarded })
        }
        Entry::Statement { actor, procedure, round, text, span } => json!({
            "kind": "statement",
            "actor": actor.as_u32(),
            "procedure": &**procedure,
            "round": round,
            "text": &**text,
            "place": place(*span),
        }),
        Entry::Delay { actor, n_rounds } => {
            json!({ "kind": "delay", "actor": actor.as_u32(), "rounds": n_rounds })
        }
        Entry::Abandon { actor } => json!({ "kind": "abandon", "actor": actor.as_u32() }),
        Entry::Fault(violation) => json!({
            "kind": "fault",
            "actor": trace.failure.actor.map(|actor| actor.as_u32()),
            "violation": violation.kind.as_str(),
            "message": violation.text(sources),
            "place": violation.span.map(place),
        }),
    })
}
