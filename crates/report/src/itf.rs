//! A run in the Informal Trace Format, which tools of the TLA+ and Quint world read.
//!
//! ITF has whole states, not differences: state number n is the one after n steps. They are made one after the other
//! and written at once, so that memory holds one of them; the file grows with steps times size of the state.

use std::io;

use allways_run::{ActorKind, ActorState, Counterexample, Datum, Trace, TraceState};
use serde_json::{Map, Value, json};

use crate::limited::Limited;

/// Runs of more steps get no ITF file unless it is asked for: the file has a whole state for each step.
pub const MAX_STEPS: usize = 1_000;

/// Bytes of the largest file.
pub const MAX_BYTES: usize = 16 << 20;

/// Writes a run, one line for each state.
///
/// # Errors
/// When it cannot be written; of the kind `FileTooLarge` when there would be more than [`MAX_BYTES`], since states may be large.
pub fn write(
    counterexample: &Counterexample,
    test: &str,
    place: Option<String>,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    use io::Write as _;
    let out = &mut Limited::new(out, MAX_BYTES);
    let trace = &counterexample.trace;
    let vars: Vec<&str> = trace.actors.iter().map(|actor| &*actor.name).chain(["step"]).collect();
    let meta = json!({
        "format": "ITF",
        "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
        "description": format!("{test}: {}", counterexample.violation.kind.as_str()),
        "source": place,
    });
    write!(out, "{{\n\"#meta\":{meta},\n\"vars\":{},\n", json!(vars))?;
    if let Some(choice) = counterexample.loop_start {
        writeln!(out, "\"loop\":{},", trace.step_of_choice(choice))?;
    }
    out.write_all(b"\"states\":[\n")?;
    let mut state = TraceState::first(trace);
    for at in 0..=trace.steps.len() {
        if let Some(step) = at.checked_sub(1).map(|before| &trace.steps[before]) {
            state.apply(step);
            out.write_all(b",\n")?;
        }
        // Actor by actor, since inboxes may be long.
        write!(out, "{{\"#meta\":{}", json!({ "index": at }))?;
        for (actor, now) in trace.actors.iter().zip(&state.actors) {
            write!(out, ",{}:", json!(&*actor.name))?;
            serde_json::to_writer(&mut *out, &actor_json(trace, actor.kind, now))?;
        }
        write!(out, ",\"step\":{at}}}")?;
    }
    out.write_all(b"\n]\n}\n")
}

fn actor_json(trace: &Trace, kind: ActorKind, actor: &ActorState) -> Value {
    let mut fields = Map::new();
    let state = if actor.exists { &*actor.state } else { "(not created)" };
    fields.insert("state".to_owned(), json!(state));
    for (name, value) in &actor.variables {
        fields.insert(format!("var.{name}"), datum_json(value));
    }
    if kind == ActorKind::Machine {
        let inbox = actor.inbox.iter().map(|&message| {
            let message = trace.message(message);
            let payload = message.payload.as_ref().map_or(json!("null"), |payload| datum_json(payload));
            json!({ "event": &*message.event, "payload": payload })
        });
        fields.insert("inbox".to_owned(), inbox.collect());
        fields.insert("activity".to_owned(), json!(actor.activity.as_str()));
    }
    Value::Object(fields)
}

fn datum_json(datum: &Datum) -> Value {
    let list = |parts: &[Datum]| Value::Array(parts.iter().map(datum_json).collect());
    match datum {
        Datum::Null => json!("null"),
        Datum::Bool(b) => json!(b),
        Datum::Int(n) | Datum::Enum { number: n, .. } => json!({ "#bigint": n.to_string() }),
        // ITF has no floats.
        Datum::Float(x) => json!(x.to_string()),
        Datum::Text(text) | Datum::Event(text) | Datum::Machine(text) | Datum::Other(text) => json!(&**text),
        Datum::Tuple(parts) => json!({ "#tup": list(parts) }),
        Datum::Named(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.to_string(), datum_json(value))).collect())
        }
        Datum::Seq(parts) => list(parts),
        Datum::Set(elements) => json!({ "#set": list(elements) }),
        Datum::Map(entries) => {
            let entries: Vec<Value> =
                entries.iter().map(|(key, value)| json!([datum_json(key), datum_json(value)])).collect();
            json!({ "#map": entries })
        }
    }
}
