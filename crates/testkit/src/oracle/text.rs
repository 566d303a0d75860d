//! Values as `format` shows them.

use allways_p::hir::{InterfaceId, Program};

use super::value::{Path, Value};

/// Around the path of a machine in a string. The number that P prints depends on the interleaving, and a string
/// is part of the state; so the state holds the path, between the marks that the kernel uses too, unless the program may depend on it.
const MARKS: [char; 2] = ['\u{f5a00}', '\u{f5a01}'];

/// `order` are the machines in order of creation, if their numbers are to be seen.
pub fn write(program: &Program, order: Option<&[(Path, InterfaceId)]>, value: &Value, out: &mut String) {
    let shown = |value: &Value| {
        let mut text = String::new();
        write(program, order, value, &mut text);
        text
    };
    match value {
        Value::Null => {}
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Int(n) => out.push_str(&n.to_string()),
        Value::Float(bits) => out.push_str(&float_text(f64::from_bits(*bits))),
        Value::String(text) => out.push_str(text),
        Value::Event(event) => out.push_str(program.name(program.events[*event].name)),
        Value::Machine(path, _) => {
            let number = order.and_then(|order| {
                order.iter().zip(1..).find(|((known, _), _)| known == path).map(|(known, n)| (known.1, n))
            });
            match number {
                Some((interface, number)) => {
                    let name = program.name(program.interfaces[interface].name);
                    out.push_str(&format!("{name}({number})"));
                }
                None => {
                    out.push(MARKS[0]);
                    out.push_str(&path_text(path));
                    out.push(MARKS[1]);
                }
            }
        }
        Value::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| shown(part) + ",").collect();
            out.push_str(&format!("<{}>", parts.concat()));
        }
        Value::Named(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}:{}, ", program.name(*name), shown(value)))
                .collect();
            out.push_str(&format!("<{}>", fields.concat()));
        }
        Value::Seq(parts) => {
            let parts: Vec<String> = parts.iter().map(shown).collect();
            out.push_str(&format!("({})", parts.join(", ")));
        }
        Value::Set(slots) => {
            let mut parts: Vec<String> = slots.iter().map(shown).collect();
            parts.sort();
            let parts: Vec<String> = parts.iter().map(|part| format!("<{part}>")).collect();
            out.push_str(&format!("({})", parts.join(", ")));
        }
        Value::Map(slots) => {
            let mut entries: Vec<(String, String)> =
                slots.iter().map(|(k, v)| (shown(k), shown(v))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            let entries: Vec<String> = entries.iter().map(|(k, v)| format!("<{k}->{v}>")).collect();
            out.push_str(&format!("({})", entries.join(", ")));
        }
    }
}

/// The path from the main machine with dots; the main machine is `0`.
pub fn path_text(path: &Path) -> String {
    std::iter::once(&0).chain(path.iter()).map(u32::to_string).collect::<Vec<_>>().join(".")
}

/// The shortest decimal, with an exponent from `1E+15` up and below `0.0001`.
fn float_text(x: f64) -> String {
    if x.is_nan() {
        return "NaN".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "∞" } else { "-∞" }.into();
    }
    let scientific = format!("{x:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..15).contains(&exponent) {
        return x.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}E{sign}{:02}", exponent.abs())
}
