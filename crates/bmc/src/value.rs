//! Values of a model.

use std::fmt;

use crate::smt::SExpr;

/// A value as the solver gave it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    Bool(bool),
    /// Decimal digits with an optional sign.
    Int(String),
    /// Numerator and denominator as decimal digits, the first with an optional sign.
    Real(String, String),
    Bv {
        width: u32,
        bits: u128,
    },
    /// An element of an uninterpreted sort, by its name in the model.
    Element(String),
    /// Entries that come first win.
    Map {
        entries: Vec<(Value, Value)>,
        default: Box<Value>,
    },
    /// Something else, as text.
    Other(String),
}

impl Value {
    /// Reads a value; what is not understood is kept as text.
    pub fn read(expr: &SExpr) -> Value {
        let is_let = |expr: &SExpr| matches!(expr.list(), Some([head, _, _]) if head.atom() == Some("let"));
        let plain = if is_let(expr) { without_lets(expr, &mut Vec::new(), &mut { MAX_NODES }) } else { None };
        read(plain.as_ref().unwrap_or(expr)).unwrap_or_else(|| Value::Other(expr.to_string()))
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub fn as_int(&self) -> Option<i128> {
        match self {
            Value::Int(digits) => digits.parse().ok(),
            _ => None,
        }
    }
}

/// How large a value may grow when the parts that it shares are written out.
const MAX_NODES: usize = 100_000;

/// Z3 names parts of long values by `let`; here they are written out.
fn without_lets(expr: &SExpr, named: &mut Vec<(String, SExpr)>, n_left: &mut usize) -> Option<SExpr> {
    *n_left = n_left.checked_sub(1)?;
    match expr {
        SExpr::Atom(text) => {
            let known = named.iter().rev().find(|(name, _)| name == text);
            Some(known.map_or_else(|| expr.clone(), |(_, value)| value.clone()))
        }
        SExpr::List(items) => match &items[..] {
            [head, bindings, body] if head.atom() == Some("let") => {
                let n_before = named.len();
                let mut new = Vec::new();
                for binding in bindings.list()? {
                    let [name, value] = binding.list()? else { return None };
                    new.push((name.atom()?.to_owned(), without_lets(value, named, n_left)?));
                }
                named.append(&mut new);
                let body = without_lets(body, named, n_left);
                named.truncate(n_before);
                body
            }
            _ => {
                let items: Option<Vec<SExpr>> =
                    items.iter().map(|item| without_lets(item, named, n_left)).collect();
                Some(SExpr::List(items?))
            }
        },
    }
}

fn read(expr: &SExpr) -> Option<Value> {
    match expr {
        SExpr::Atom(text) => match text.as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ if text.bytes().all(|b| b.is_ascii_digit()) => Some(Value::Int(text.clone())),
            _ if text.starts_with("#x") => {
                let width = u32::try_from((text.len() - 2) * 4).ok()?;
                Some(Value::Bv { width, bits: u128::from_str_radix(&text[2..], 16).ok()? })
            }
            _ if text.starts_with("#b") => {
                let width = u32::try_from(text.len() - 2).ok()?;
                Some(Value::Bv { width, bits: u128::from_str_radix(&text[2..], 2).ok()? })
            }
            _ => match text.split_once('.') {
                Some((whole, fraction)) if text.bytes().all(|b| b.is_ascii_digit() || b == b'.') => {
                    let fraction = fraction.trim_end_matches('0');
                    let digits = format!("{whole}{fraction}");
                    let digits = digits.trim_start_matches('0');
                    let num = if digits.is_empty() { "0" } else { digits };
                    Some(Value::Real(num.to_owned(), format!("1{}", "0".repeat(fraction.len()))))
                }
                _ => Some(Value::Element(expr.symbol()?.to_owned())),
            },
        },
        SExpr::List(items) => match &items[..] {
            [head, arg] if head.atom() == Some("-") => match read(arg)? {
                Value::Int(digits) => Some(Value::Int(format!("-{digits}"))),
                Value::Real(num, den) => Some(Value::Real(format!("-{num}"), den)),
                _ => None,
            },
            [head, num, den] if head.atom() == Some("/") => {
                let whole = |value: Value| match value {
                    Value::Int(digits) => Some(digits),
                    Value::Real(digits, den) if den == "1" => Some(digits),
                    _ => None,
                };
                Some(Value::Real(whole(read(num)?)?, whole(read(den)?)?))
            }
            [head, bits, width] if head.atom() == Some("_") => {
                let bits = bits.atom()?.strip_prefix("bv")?.parse().ok()?;
                Some(Value::Bv { width: width.atom()?.parse().ok()?, bits })
            }
            [head, name, _] if head.atom() == Some("as") => Some(Value::Element(name.symbol()?.to_owned())),
            [head, default] if is_const(head) => {
                Some(Value::Map { entries: Vec::new(), default: Box::new(Value::read(default)) })
            }
            [head, ..] if head.atom() == Some("store") => stores(expr),
            _ => None,
        },
    }
}

fn is_const(head: &SExpr) -> bool {
    matches!(head.list(), Some([as_word, const_word, _])
        if as_word.atom() == Some("as") && const_word.atom() == Some("const"))
}

/// A chain of stores, read from the outside in.
fn stores(expr: &SExpr) -> Option<Value> {
    let mut entries: Vec<(Value, Value)> = Vec::new();
    let mut at = expr;
    loop {
        match at.list() {
            Some([head, map, index, value]) if head.atom() == Some("store") => {
                let index = Value::read(index);
                if !entries.iter().any(|(known, _)| *known == index) {
                    entries.push((index, Value::read(value)));
                }
                at = map;
            }
            Some([head, default]) if is_const(head) => {
                return Some(Value::Map { entries, default: Box::new(Value::read(default)) });
            }
            _ => return None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(digits) => f.write_str(digits),
            Value::Real(num, den) if den == "1" => write!(f, "{num}.0"),
            Value::Real(num, den) => write!(f, "{num}.0 / {den}.0"),
            Value::Bv { width, bits } => write!(f, "{bits}bv{width}"),
            Value::Element(name) | Value::Other(name) => f.write_str(name),
            Value::Map { entries, default } => {
                f.write_str("[")?;
                for (index, value) in entries {
                    write!(f, "{index} := {value}, ")?;
                }
                write!(f, "else {default}]")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smt::sexpr::parse;

    #[test]
    fn values_of_both_solvers_are_read() {
        for (answer, shown) in [
            ("true", "true"),
            ("(- 12)", "-12"),
            ("(/ 1.0 3.0)", "1.0 / 3.0"),
            ("(- (/ 1 3))", "-1.0 / 3.0"),
            ("2.50", "25.0 / 10.0"),
            ("#x0f", "15bv8"),
            ("#b101", "5bv3"),
            ("(_ bv7 32)", "7bv32"),
            ("T!val!0", "T!val!0"),
            ("(as @T_0 T)", "@T_0"),
            ("((as const (Array Int Int)) 4)", "[else 4]"),
            ("(store (store ((as const (Array Int Int)) 0) 1 2) 1 (- 3))", "[1 := -3, else 0]"),
            ("(_ as-array k!0)", "(_ as-array k!0)"),
            (
                "(let ((a!1 (store ((as const (Array Int Int)) 0) 1 2))) (let ((a!2 (store a!1 3 4))) (store a!2 5 6)))",
                "[5 := 6, 3 := 4, 1 := 2, else 0]",
            ),
        ] {
            assert_eq!(Value::read(&parse(answer).unwrap()).to_string(), shown, "{answer}");
        }
    }
}
