//! Values as text, in the shapes that P prints and reads.
//!
//! A reference is shown as `Name(number)`, with numbers in order of creation. But a string that a program builds
//! with `format` is part of its state and must not depend on the interleaving. Such a string therefore holds the
//! *name* of the machine (its path from the main machine) between [`REF_OPEN`] and [`REF_CLOSE`]; the number
//! is filled in when the string is shown ([`InstanceNames`]). Where a run may depend on the letters
//! ([`Executable::observed_text`](crate::Executable)), strings hold the numbers, and only single runs are followed.

use allways_base::Interner;
use allways_run::InstanceId;
use allways_run::datum::write_float;

use super::{Kind, Notation, Shapes, Store, Value, View};
use crate::ir::EventId;

/// Marks around the path of a machine in a string, from the private-use area.
pub(crate) const REF_OPEN: char = '\u{f5a00}';
pub(crate) const REF_CLOSE: char = '\u{f5a01}';

/// Which of P's notations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// As `print` and `format` show it: strings bare, null empty, sets and maps sorted by text.
    Plain,
    /// As logs show a payload: strings quoted, null spelled, storage order.
    Log,
    /// As source has it, and traces and pages do: `(from = Client(3), n = 1)`; storage order, too.
    Source,
}

/// How machines are called.
pub trait InstanceNames {
    fn write_instance(&self, instance: InstanceId, out: &mut String);
    /// The names of everything else.
    fn program(&self) -> &dyn ProgramNames;
}

/// How a program calls events, fields and elements of enums.
pub trait ProgramNames {
    fn event_name(&self, event: EventId) -> &str;
    fn shapes(&self) -> &Shapes;
    fn symbols(&self) -> &Interner;
}

/// Appends the text of a value.
pub fn write_value(
    store: &Store,
    names: &(impl InstanceNames + ?Sized),
    form: Form,
    value: Value,
    out: &mut String,
) {
    write_value_as(store, names, form, &Notation::Plain, value, out);
}

/// The same, with the names of enums where the notation has them.
pub fn write_value_as(
    store: &Store,
    names: &(impl InstanceNames + ?Sized),
    form: Form,
    notation: &Notation,
    value: Value,
    out: &mut String,
) {
    let write = |notation: &Notation, value: Value, out: &mut String| {
        write_value_as(store, names, form, notation, value, out);
    };
    if let Some(element) = store.shown_int(value).and_then(|n| notation.element(n)) {
        return out.push_str(names.program().symbols().text(element));
    }
    match value.view() {
        View::Null => out.push_str(if form == Form::Plain { "" } else { "null" }),
        View::Bool(b) if form == Form::Source => out.push_str(if b { "true" } else { "false" }),
        View::Bool(b) => out.push_str(if b { "True" } else { "False" }),
        View::Int(n) => out.push_str(&n.to_string()),
        View::Atom(_, n) => out.push_str(&n.to_string()),
        View::Event(event) => out.push_str(names.program().event_name(event)),
        View::Ref(instance, _) => names.write_instance(instance, out),
        View::Hole(_) => {}
        View::Node(kind, id) => match kind {
            Kind::Int => out.push_str(&store.as_int(value).unwrap_or(0).to_string()),
            Kind::Float => write_float(store.as_float(value).unwrap_or(0.0), out),
            Kind::String => {
                let text = store.as_str(value).unwrap_or("");
                match form {
                    Form::Plain => out.push_str(text),
                    Form::Log => out.extend(["\"", text, "\""]),
                    Form::Source => {
                        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
                        out.extend(["\"", &escaped, "\""]);
                    }
                }
            }
            Kind::Tuple | Kind::Named | Kind::Seq | Kind::Set | Kind::Map if form == Form::Source => {
                write_source(store, names, notation, (kind, id), out);
            }
            Kind::Tuple => {
                out.push('<');
                for (at, &part) in store.parts(id).iter().enumerate() {
                    write(notation.part(at), part, out);
                    out.push(',');
                }
                out.push('>');
            }
            Kind::Named => {
                let (shape, parts) = store.named_parts(id);
                out.push('<');
                for (&name, &part) in names.program().shapes()[shape].iter().zip(parts) {
                    out.push_str(names.program().symbols().text(name));
                    out.push(':');
                    write(notation.field(name), part, out);
                    out.push_str(", ");
                }
                out.push('>');
            }
            Kind::Seq => {
                out.push('(');
                for (i, &part) in store.parts(id).iter().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    write(notation.elements(), part, out);
                }
                out.push(')');
            }
            Kind::Set | Kind::Map => {
                let show = |notation: &Notation, value: Value| {
                    let mut text = String::new();
                    write(notation, value, &mut text);
                    text
                };
                let [of_key, of_value] = notation.entries();
                let mut entries: Vec<(String, Option<String>)> = match kind {
                    Kind::Set => {
                        store.set_elements(id).map(|v| (show(notation.elements(), v), None)).collect()
                    }
                    _ => store
                        .map_entries(id)
                        .map(|(k, v)| (show(of_key, k), Some(show(of_value, v))))
                        .collect(),
                };
                if form == Form::Plain {
                    entries.sort_by(|a, b| a.0.cmp(&b.0));
                }
                out.push('(');
                for (i, (key, value)) in entries.iter().enumerate() {
                    out.push_str(if i > 0 { ", <" } else { "<" });
                    out.push_str(key);
                    if let Some(value) = value {
                        out.push_str("->");
                        out.push_str(value);
                    }
                    out.push('>');
                }
                out.push(')');
            }
        },
    }
}

/// What has parts, in the notation of source.
fn write_source(
    store: &Store,
    names: &(impl InstanceNames + ?Sized),
    notation: &Notation,
    (kind, id): (Kind, u32),
    out: &mut String,
) {
    let show = |notation: &Notation, value: Value| {
        let mut text = String::new();
        write_value_as(store, names, Form::Source, notation, value, &mut text);
        text
    };
    let elements = notation.elements();
    let parts: Vec<String> = match kind {
        Kind::Named => {
            let (shape, parts) = store.named_parts(id);
            let fields = names.program().shapes()[shape].iter().zip(parts);
            fields
                .map(|(&name, &part)| {
                    format!("{} = {}", names.program().symbols().text(name), show(notation.field(name), part))
                })
                .collect()
        }
        Kind::Tuple => {
            store.parts(id).iter().enumerate().map(|(at, &part)| show(notation.part(at), part)).collect()
        }
        Kind::Set => store.set_elements(id).map(|element| show(elements, element)).collect(),
        Kind::Map => {
            let [of_key, of_value] = notation.entries();
            let entries = store.map_entries(id);
            entries
                .map(|(key, value)| format!("{} -> {}", show(of_key, key), show(of_value, value)))
                .collect()
        }
        _ => store.parts(id).iter().map(|&part| show(elements, part)).collect(),
    };
    let [open, close] = match kind {
        Kind::Named | Kind::Tuple if parts.len() == 1 => ["(", ",)"],
        Kind::Named | Kind::Tuple => ["(", ")"],
        Kind::Set | Kind::Map => ["{", "}"],
        _ => ["[", "]"],
    };
    out.extend([open, &parts.join(", "), close]);
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Names(Shapes, Interner);

    impl InstanceNames for Names {
        fn write_instance(&self, instance: InstanceId, out: &mut String) {
            out.push_str(&format!("M({})", instance.as_u32()));
        }
        fn program(&self) -> &dyn ProgramNames {
            self
        }
    }

    impl ProgramNames for Names {
        fn event_name(&self, _: EventId) -> &str {
            "eGo"
        }
        fn shapes(&self) -> &Shapes {
            &self.0
        }
        fn symbols(&self) -> &Interner {
            &self.1
        }
    }

    #[test]
    fn shapes_of_text() {
        let mut names = Names(Shapes::default(), Interner::default());
        let (f, g) = (names.1.intern("f"), names.1.intern("g"));
        let shape = names.0.push(vec![f, g]);
        let mut store = Store::default();
        let text = store.string("x");
        let (one, two, ten) = (Value::size(1), Value::size(2), Value::size(10));
        let mut set = store.empty(Kind::Set);
        let mut map = store.empty(Kind::Map);
        for n in [two, one, ten] {
            set = store.add(set, n).unwrap();
            map = store.set(map, n, text).unwrap();
        }
        let seq = store.seq(&[one, two]);
        let tuple = store.tuple(&[one, Value::NULL]);
        let named = store.named(shape, &[Value::TRUE, text]);
        let show = |form, value| {
            let mut out = String::new();
            write_value(&store, &names, form, value, &mut out);
            out
        };
        assert_eq!(show(Form::Plain, set), "(<1>, <10>, <2>)");
        assert_eq!(show(Form::Log, set), "(<2>, <1>, <10>)");
        assert_eq!(show(Form::Plain, map), "(<1->x>, <10->x>, <2->x>)");
        assert_eq!(show(Form::Log, map), "(<2->\"x\">, <1->\"x\">, <10->\"x\">)");
        assert_eq!(show(Form::Plain, seq), "(1, 2)");
        assert_eq!(show(Form::Plain, tuple), "<1,,>");
        assert_eq!(show(Form::Log, tuple), "<1,null,>");
        assert_eq!(show(Form::Plain, named), "<f:True, g:x, >");
        assert_eq!(show(Form::Plain, Value::event(EventId::from_u32(3))), "eGo");
        let shown = [set, map, seq, tuple, named, Value::TRUE].map(|value| show(Form::Source, value));
        let source = [
            "{2, 1, 10}",
            "{2 -> \"x\", 1 -> \"x\", 10 -> \"x\"}",
            "[1, 2]",
            "(1, null)",
            "(f = true, g = \"x\")",
            "true",
        ];
        assert_eq!(shown, source);
    }
}
