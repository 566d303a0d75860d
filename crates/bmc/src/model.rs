//! The functions of a model: what the solver says about functions without a definition, applied on demand.
//!
//! Solvers write such a function as a definition over literals, comparisons and branches. What goes beyond that has no
//! value here, and callers have to do without.

use std::collections::BTreeMap;

use crate::smt::SExpr;
use crate::value::Value;

/// How deep the definitions of a model may nest and refer to each other.
const MAX_DEPTH: usize = 500;

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Model {
    /// Names of parameters and the body, by the name of the function without bars.
    functions: BTreeMap<String, (Vec<String>, SExpr)>,
}

/// The values of bound names.
type Env<'a> = Vec<(&'a str, Value)>;

impl Model {
    /// Reads the answer to `(get-model)`.
    pub fn read(answer: &SExpr) -> Model {
        let mut functions = BTreeMap::new();
        for item in answer.list().unwrap_or_default() {
            let Some([head, name, params, _, body]) = item.list() else { continue };
            let (Some("define-fun"), Some(name), Some(params)) = (head.atom(), name.symbol(), params.list())
            else {
                continue;
            };
            let names: Option<Vec<String>> =
                params.iter().map(|param| Some(param.list()?.first()?.symbol()?.to_owned())).collect();
            if let Some(names) = names {
                functions.insert(name.to_owned(), (names, body.clone()));
            }
        }
        Model { functions }
    }

    /// The value of a function of the program for these arguments.
    pub fn apply(&self, function: &str, args: &[Value]) -> Option<Value> {
        self.call(&format!("{}()", crate::term::quotable(function)), args.to_vec(), 0)
    }

    /// The value, with references to functions of the model replaced by the maps that they are.
    pub fn resolve(&self, value: Value) -> Value {
        match &value {
            Value::Other(text) => match crate::smt::sexpr::parse(text) {
                Some(expr) => self.map(&expr).unwrap_or(value),
                None => value,
            },
            _ => value,
        }
    }

    /// `(_ as-array f)` or `(lambda ((x S)) body)`, as far as the body is a table.
    fn map(&self, expr: &SExpr) -> Option<Value> {
        let items = expr.list()?;
        match items {
            [head, word, name] if head.atom() == Some("_") && word.atom() == Some("as-array") => {
                let (params, body) = self.functions.get(name.symbol()?)?;
                let [param] = &params[..] else { return None };
                self.table(param, body)
            }
            [head, params, body] if head.atom() == Some("lambda") => {
                let [param] = params.list()? else { return None };
                self.table(param.list()?.first()?.symbol()?, body)
            }
            _ => None,
        }
    }

    /// A body that compares one name with literals, as entries and a default.
    fn table(&self, param: &str, body: &SExpr) -> Option<Value> {
        let mut keys = Vec::new();
        literals(param, body, &mut keys, 0)?;
        let mut entries = Vec::new();
        for key in keys {
            let value = self.eval(body, &mut vec![(param, key.clone())], 0)?;
            if !entries.iter().any(|(known, _)| *known == key) {
                entries.push((key, value));
            }
        }
        // A value that is none of the keys: nothing else is known about it.
        let default = self.eval(body, &mut vec![(param, Value::Other("else".to_owned()))], 0)?;
        Some(Value::Map { entries, default: Box::new(default) })
    }

    fn call(&self, name: &str, args: Vec<Value>, depth: usize) -> Option<Value> {
        let (params, body) = self.functions.get(name)?;
        if params.len() != args.len() || depth > MAX_DEPTH {
            return None;
        }
        let mut env: Env<'_> = params.iter().map(String::as_str).zip(args).collect();
        self.eval(body, &mut env, depth + 1)
    }

    fn eval<'a>(&self, expr: &'a SExpr, env: &mut Env<'a>, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        let items = match expr {
            SExpr::Atom(_) => {
                let bound = env.iter().rev().find(|(name, _)| expr.symbol() == Some(name));
                return Some(bound.map_or_else(|| Value::read(expr), |(_, value)| value.clone()));
            }
            SExpr::List(items) => items,
        };
        let [head, args @ ..] = &items[..] else { return None };
        let truth =
            |model: &Self, expr: &'a SExpr, env: &mut Env<'a>| model.eval(expr, env, depth + 1)?.as_bool();
        match (head.atom(), args) {
            (Some("ite"), [cond, then, otherwise]) => {
                let taken = if truth(self, cond, env)? { then } else { otherwise };
                self.eval(taken, env, depth + 1)
            }
            (Some("="), [left, right]) => {
                let (left, right) = (self.eval(left, env, depth + 1)?, self.eval(right, env, depth + 1)?);
                Some(Value::Bool(left == right))
            }
            (Some("not"), [arg]) => Some(Value::Bool(!truth(self, arg, env)?)),
            (Some(word @ ("and" | "or")), args) => {
                let stay = word == "or";
                for arg in args {
                    if truth(self, arg, env)? == stay {
                        return Some(Value::Bool(stay));
                    }
                }
                Some(Value::Bool(!stay))
            }
            (Some("let"), [bindings, body]) => {
                let mut values = Vec::new();
                for binding in bindings.list()? {
                    let [name, value] = binding.list()? else { return None };
                    values.push((name.symbol()?, self.eval(value, env, depth + 1)?));
                }
                let n_before = env.len();
                env.extend(values);
                let value = self.eval(body, env, depth + 1);
                env.truncate(n_before);
                value
            }
            (Some(word @ ("<" | "<=" | ">" | ">=")), [left, right]) => {
                let left = self.eval(left, env, depth + 1)?.as_int()?;
                let right = self.eval(right, env, depth + 1)?.as_int()?;
                Some(Value::Bool(match word {
                    "<" => left < right,
                    "<=" => left <= right,
                    ">" => left > right,
                    _ => left >= right,
                }))
            }
            (Some(name), args) if self.functions.contains_key(head.symbol().unwrap_or(name)) => {
                let mut values = Vec::new();
                for arg in args {
                    values.push(self.eval(arg, env, depth + 1)?);
                }
                self.call(head.symbol().unwrap_or(name), values, depth + 1)
            }
            _ => match Value::read(expr) {
                Value::Other(_) => self.map(expr),
                value => Some(value),
            },
        }
    }
}

/// The literals that a name is compared with. `None` if the name is used in another way.
fn literals(param: &str, expr: &SExpr, keys: &mut Vec<Value>, depth: usize) -> Option<()> {
    let Some([head, args @ ..]) = expr.list() else { return Some(()) };
    let is_param = |expr: &SExpr| expr.symbol() == Some(param);
    match (head.atom(), args) {
        _ if depth > MAX_DEPTH => None,
        (Some("="), [left, right]) if is_param(left) != is_param(right) => {
            keys.push(Value::read(if is_param(left) { right } else { left }));
            Some(())
        }
        (Some("ite" | "and" | "or" | "not"), args) => {
            args.iter().try_for_each(|arg| literals(param, arg, keys, depth + 1))
        }
        (_, args) => args.iter().all(|arg| !mentions(param, arg, depth + 1)).then_some(()),
    }
}

fn mentions(param: &str, expr: &SExpr, depth: usize) -> bool {
    match expr {
        SExpr::Atom(_) => expr.symbol() == Some(param),
        SExpr::List(items) => depth > MAX_DEPTH || items.iter().any(|item| mentions(param, item, depth + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smt::sexpr::parse;

    #[test]
    fn functions_of_both_solvers_are_applied() {
        let z3 = "((define-fun |f()| ((x!0 Int)) Int (ite (= x!0 3) 7 (ite (= x!0 (- 1)) 4 0)))
            (define-fun |g()| ((x!0 Int) (x!1 Bool)) Bool (and (= x!0 2) (not x!1)))
            (define-fun k!0 ((x!0 Int)) Bool (or (= x!0 5) (= x!0 6)))
            (define-fun |h()| ((x!0 Int)) Int (|f()| (ite (<= x!0 0) 3 x!0))))";
        let model = Model::read(&parse(z3).unwrap());
        let int = |n: i32| Value::Int(n.to_string());
        assert_eq!(model.apply("f", &[int(3)]), Some(int(7)));
        assert_eq!(model.apply("f", &[int(-1)]), Some(int(4)));
        assert_eq!(model.apply("f", &[int(9)]), Some(int(0)));
        assert_eq!(model.apply("g", &[int(2), Value::Bool(false)]), Some(Value::Bool(true)));
        assert_eq!(model.apply("h", &[int(-5)]), Some(int(7)));
        assert_eq!(model.apply("f", &[]), None);
        assert_eq!(model.apply("nothing", &[]), None);
        let as_array = model.resolve(Value::read(&parse("(_ as-array k!0)").unwrap()));
        assert_eq!(as_array.to_string(), "[5 := true, 6 := true, else false]");
        let lambda = parse("(lambda ((x Int)) (ite (= x 1) 2 3))").unwrap();
        assert_eq!(model.resolve(Value::read(&lambda)).to_string(), "[1 := 2, else 3]");
        let other = parse("(lambda ((x Int)) (+ x 1))").unwrap();
        assert!(matches!(model.resolve(Value::read(&other)), Value::Other(_)));
        let cvc5 =
            "((define-fun |f()| ((_arg_1 Int)) Int (let ((_let_1 (= 3 _arg_1))) (ite _let_1 7 (- 2)))))";
        let model = Model::read(&parse(cvc5).unwrap());
        assert_eq!(model.apply("f", &[int(3)]), Some(int(7)));
        assert_eq!(model.apply("f", &[int(4)]), Some(int(-2)));
    }
}
