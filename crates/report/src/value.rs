//! Values of a trace as text and as JSON.

use std::fmt::Write as _;

use allways_run::datum::write_float;
use allways_run::{Datum, PathStep};
use serde_json::{Value, json};

/// As P's logs have it: `<f:True, g:"x", >`.
pub fn log_text(datum: &Datum) -> String {
    let mut out = String::new();
    write_log(datum, &mut out);
    out
}

fn write_log(datum: &Datum, out: &mut String) {
    match datum {
        Datum::Null => out.push_str("null"),
        Datum::Bool(b) => out.push_str(if *b { "True" } else { "False" }),
        Datum::Int(n) => out.push_str(&n.to_string()),
        Datum::Float(x) => write_float(*x, out),
        Datum::Text(text) => {
            out.push('"');
            out.push_str(text);
            out.push('"');
        }
        Datum::Event(name) | Datum::Machine(name) | Datum::Enum { name, .. } | Datum::Other(name) => {
            out.push_str(name);
        }
        Datum::Tuple(parts) => {
            out.push('<');
            for part in parts {
                write_log(part, out);
                out.push(',');
            }
            out.push('>');
        }
        Datum::Named(fields) => {
            out.push('<');
            for (name, value) in fields {
                out.push_str(name);
                out.push(':');
                write_log(value, out);
                out.push_str(", ");
            }
            out.push('>');
        }
        Datum::Seq(parts) => {
            out.push('(');
            for (i, part) in parts.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                write_log(part, out);
            }
            out.push(')');
        }
        Datum::Set(elements) => {
            out.push('(');
            for (i, element) in elements.iter().enumerate() {
                out.push_str(if i > 0 { ", <" } else { "<" });
                write_log(element, out);
                out.push('>');
            }
            out.push(')');
        }
        Datum::Map(entries) => {
            out.push('(');
            for (i, (key, value)) in entries.iter().enumerate() {
                out.push_str(if i > 0 { ", <" } else { "<" });
                write_log(key, out);
                out.push_str("->");
                write_log(value, out);
                out.push('>');
            }
            out.push(')');
        }
    }
}

/// As P's source has it: `(from = Client(3), n = 1)`. Nothing in it can move the cursor of a terminal.
pub fn source_text(datum: &Datum) -> String {
    let mut out = String::new();
    write_source(datum, &mut out);
    out
}

fn write_list<'a>(out: &mut String, marks: [&str; 2], parts: impl Iterator<Item = &'a Datum>) {
    out.push_str(marks[0]);
    for (i, part) in parts.enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        write_source(part, out);
    }
    out.push_str(marks[1]);
}

fn write_source(datum: &Datum, out: &mut String) {
    match datum {
        Datum::Null => out.push_str("null"),
        Datum::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Datum::Int(n) => out.push_str(&n.to_string()),
        Datum::Float(x) => write_float(*x, out),
        Datum::Text(text) => {
            out.push('"');
            write_plain(&text.replace('\\', "\\\\").replace('"', "\\\""), out);
            out.push('"');
        }
        Datum::Event(name) | Datum::Machine(name) | Datum::Enum { name, .. } | Datum::Other(name) => {
            write_plain(name, out);
        }
        Datum::Tuple(parts) => {
            let end = if parts.len() == 1 { ",)" } else { ")" };
            write_list(out, ["(", end], parts.iter());
        }
        Datum::Named(fields) => {
            out.push('(');
            for (i, (name, value)) in fields.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                let _ = write!(out, "{name} = ");
                write_source(value, out);
            }
            out.push_str(if fields.len() == 1 { ",)" } else { ")" });
        }
        Datum::Seq(parts) => write_list(out, ["[", "]"], parts.iter()),
        Datum::Set(elements) => write_list(out, ["{", "}"], elements.iter()),
        Datum::Map(entries) => {
            out.push('{');
            for (i, (key, value)) in entries.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                write_source(key, out);
                out.push_str(" -> ");
                write_source(value, out);
            }
            out.push('}');
        }
    }
}

/// Text without control characters and marks of direction, which could make it look like something else.
pub fn plain(text: &str) -> String {
    let mut out = String::new();
    write_plain(text, &mut out);
    out
}

fn write_plain(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control()
                || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
            {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
}

/// `balances[0].amount`, after the name of the variable.
pub fn path_text(path: &[PathStep]) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            PathStep::Field(name) => {
                let _ = write!(out, ".{name}");
            }
            PathStep::Part(at) => {
                let _ = write!(out, ".{at}");
            }
            PathStep::Key(key) => {
                out.push('[');
                write_source(key, &mut out);
                out.push(']');
            }
            PathStep::Element(element) => {
                out.push('{');
                write_source(element, &mut out);
                out.push('}');
            }
        }
    }
    out
}

/// Integers that every reader of JSON keeps exact.
const EXACT: std::ops::RangeInclusive<i64> = -(1 << 53)..=1 << 53;

/// As docs/formats/trace.md has it.
pub fn to_json(datum: &Datum) -> Value {
    let list = |parts: &[Datum]| Value::Array(parts.iter().map(to_json).collect());
    match datum {
        Datum::Null => Value::Null,
        Datum::Bool(b) => json!(b),
        Datum::Int(n) if EXACT.contains(n) => json!(n),
        Datum::Int(n) => json!({ "int": n.to_string() }),
        Datum::Float(x) if x.is_finite() => json!({ "float": x }),
        Datum::Float(_) => json!({ "float": log_text(datum) }),
        Datum::Text(text) => json!(&**text),
        Datum::Event(name) => json!({ "event": &**name }),
        Datum::Machine(name) => json!({ "machine": &**name }),
        Datum::Enum { name, number } => json!({ "enum": &**name, "number": number }),
        Datum::Tuple(parts) => json!({ "tuple": list(parts) }),
        Datum::Named(fields) => {
            let fields: Vec<Value> =
                fields.iter().map(|(name, value)| json!([&**name, to_json(value)])).collect();
            json!({ "fields": fields })
        }
        Datum::Seq(parts) => list(parts),
        Datum::Set(elements) => json!({ "set": list(elements) }),
        Datum::Map(entries) => {
            let entries: Vec<Value> =
                entries.iter().map(|(key, value)| json!([to_json(key), to_json(value)])).collect();
            json!({ "map": entries })
        }
        Datum::Other(text) => json!({ "other": &**text }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_as_in_the_source() {
        let value = Datum::Named(vec![
            ("from".into(), Datum::Machine("Client(3)".into())),
            ("n".into(), Datum::Tuple(vec![Datum::Int(1)])),
            ("m".into(), Datum::Map(vec![(Datum::Int(0), Datum::Set(vec![Datum::Bool(true)]))])),
        ]);
        assert_eq!(source_text(&value), "(from = Client(3), n = (1,), m = {0 -> {true}})");
        assert_eq!(log_text(&value), "<from:Client(3), n:<1,>, m:(<0->(<True>)>), >");
    }

    #[test]
    fn terminals_are_safe_from_values() {
        assert_eq!(
            source_text(&Datum::Text("a\u{1b}[31m\u{202e}\nb".into())),
            "\"a\\u{1b}[31m\\u{202e}\\nb\""
        );
    }
}
