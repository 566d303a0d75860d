//! Values as data for people and files, apart from the store of any engine, and how they change.

use std::sync::Arc;

/// A name or text that many places share.
pub type Name = Arc<str>;

/// A value of a run.
#[derive(Clone, PartialEq, Debug)]
pub enum Datum {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Name),
    Event(Name),
    /// A machine, as its actor is named: `Client(3)`.
    Machine(Name),
    Enum {
        name: Name,
        number: i64,
    },
    Tuple(Vec<Datum>),
    /// Fields in the order of the value.
    Named(Vec<(Name, Datum)>),
    Seq(Vec<Datum>),
    /// In storage order, as P prints it.
    Set(Vec<Datum>),
    Map(Vec<(Datum, Datum)>),
    /// A value that has only a text: numbers beyond 64 bits, bit vectors, maps without an end.
    Other(Name),
}

/// One step from a value into a part of it.
#[derive(Clone, PartialEq, Debug)]
pub enum PathStep {
    Field(Name),
    Part(u32),
    /// An index of a sequence or a key of a map.
    Key(Datum),
    /// An element of a set.
    Element(Datum),
}

/// What happened to one place inside a variable. `None` is a place that does not exist.
#[derive(Clone, PartialEq, Debug)]
pub enum Edit {
    Replace {
        before: Option<Datum>,
        after: Option<Datum>,
    },
    /// Elements of a sequence from this index on.
    Splice {
        at: usize,
        removed: Vec<Datum>,
        inserted: Vec<Datum>,
    },
}

impl Edit {
    /// The place was assigned the value that it had.
    pub fn is_same(&self) -> bool {
        matches!(self, Edit::Replace { before, after } if before == after)
    }
}

impl Datum {
    /// The part that a step leads to.
    pub fn part(&self, step: &PathStep) -> Option<&Datum> {
        match (self, step) {
            (Datum::Named(fields), PathStep::Field(name)) => {
                fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
            }
            (Datum::Tuple(parts), PathStep::Part(at)) => parts.get(*at as usize),
            (Datum::Seq(parts), PathStep::Key(Datum::Int(at))) => parts.get(usize::try_from(*at).ok()?),
            (Datum::Map(entries), PathStep::Key(key)) => {
                entries.iter().find(|(found, _)| found == key).map(|(_, value)| value)
            }
            (Datum::Set(elements), PathStep::Element(wanted)) => {
                elements.iter().find(|element| *element == wanted)
            }
            _ => None,
        }
    }

    /// Makes an edit at the end of a path. An edit that does not fit changes nothing.
    pub fn apply(&mut self, path: &[PathStep], edit: &Edit) {
        let Some((first, rest)) = path.split_first() else {
            match (self, edit) {
                (whole, Edit::Replace { after, .. }) => *whole = after.clone().unwrap_or(Datum::Null),
                (Datum::Seq(parts), Edit::Splice { at, removed, inserted })
                    if at + removed.len() <= parts.len() =>
                {
                    parts.splice(*at..at + removed.len(), inserted.iter().cloned());
                }
                _ => {}
            }
            return;
        };
        match (self, first) {
            (Datum::Named(fields), PathStep::Field(name)) => {
                if let Some((_, value)) = fields.iter_mut().find(|(field, _)| field == name) {
                    value.apply(rest, edit);
                }
            }
            (Datum::Tuple(parts), PathStep::Part(at)) => {
                if let Some(value) = parts.get_mut(*at as usize) {
                    value.apply(rest, edit);
                }
            }
            (Datum::Seq(parts), PathStep::Key(Datum::Int(at))) => {
                if let Some(value) = usize::try_from(*at).ok().and_then(|at| parts.get_mut(at)) {
                    value.apply(rest, edit);
                }
            }
            (Datum::Map(entries), PathStep::Key(key)) => {
                let found = entries.iter().position(|(found, _)| found == key);
                match (found, rest, edit) {
                    (Some(at), [], Edit::Replace { after: None, .. }) => drop(entries.remove(at)),
                    (Some(at), ..) => entries[at].1.apply(rest, edit),
                    (None, [], Edit::Replace { after: Some(after), .. }) => {
                        entries.push((key.clone(), after.clone()));
                    }
                    _ => {}
                }
            }
            (Datum::Set(elements), PathStep::Element(changed)) => {
                if let Edit::Replace { after, .. } = edit {
                    elements.retain(|element| element != changed);
                    elements.extend(after.clone());
                }
            }
            _ => {}
        }
    }
}

/// Appends a float as P prints it: the shortest decimal, `10` for `10.0`, with an exponent from `1E+15` up
/// and below `0.0001`.
pub fn write_float(x: f64, out: &mut String) {
    if x.is_nan() {
        return out.push_str("NaN");
    }
    if x.is_infinite() {
        return out.push_str(if x > 0.0 { "∞" } else { "-∞" });
    }
    let scientific = format!("{x:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..15).contains(&exponent) {
        out.push_str(&format!("{x}"));
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        out.push_str(&format!("{digits}E{sign}{:02}", exponent.abs()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_reach_into_values() {
        let key = Datum::Int(7);
        let mut value = Datum::Named(vec![
            ("m".into(), Datum::Map(vec![(key.clone(), Datum::Int(1))])),
            ("q".into(), Datum::Seq(vec![Datum::Int(1), Datum::Int(2)])),
        ]);
        let at = [PathStep::Field("m".into()), PathStep::Key(key)];
        value.apply(&at, &Edit::Replace { before: Some(Datum::Int(1)), after: None });
        assert_eq!(value.part(&at[0]), Some(&Datum::Map(Vec::new())));
        value.apply(&at, &Edit::Replace { before: None, after: Some(Datum::Null) });
        assert_eq!(value.part(&at[0]).and_then(|map| map.part(&at[1])), Some(&Datum::Null));
        let queue = [PathStep::Field("q".into())];
        let edit = Edit::Splice { at: 0, removed: vec![Datum::Int(1)], inserted: Vec::new() };
        value.apply(&queue, &edit);
        assert_eq!(value.part(&queue[0]), Some(&Datum::Seq(vec![Datum::Int(2)])));
    }

    #[test]
    fn floats_are_shortest() {
        let show = |x| {
            let mut out = String::new();
            write_float(x, &mut out);
            out
        };
        for (x, text) in [
            (10.0, "10"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (1e15, "1E+15"),
            (1.5e300, "1.5E+300"),
            (1e-5, "1E-05"),
            (0.0001, "0.0001"),
            (1e-7, "1E-07"),
            (123456789012345.0, "123456789012345"),
        ] {
            assert_eq!(show(x), text);
        }
    }
}
