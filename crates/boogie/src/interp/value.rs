//! Values, and the finite sets of values that a search chooses from.
//!
//! Integers have 128 bits here and bitvectors at most 128; what goes beyond is a [`Limit`], never a
//! wrong result.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::check::{Checked, Ty, TyKind};

/// Why a run cannot go on although the program could.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Limit {
    /// A number beyond 128 bits.
    Magnitude,
    /// A quantifier or lambda over a type with too many values.
    Quantifier,
    /// Functions that call each other too deeply.
    Recursion,
    /// A `havoc` or an initial value of a type with no finite set of candidates.
    Candidates,
    /// A function of the solver that has no meaning here.
    Builtin(String),
    /// Something that the program should not contain after checking and monomorphization.
    Unsupported(&'static str),
    /// More steps, tasks or frames than the limits allow.
    Steps,
    /// The given schedule does not fit the program.
    Schedule,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Magnitude => f.write_str("a number beyond 128 bits"),
            Limit::Quantifier => f.write_str("a quantifier over too many values"),
            Limit::Recursion => f.write_str("functions that call each other too deeply"),
            Limit::Candidates => f.write_str("an arbitrary value of a type with too many values"),
            Limit::Builtin(name) => write!(f, "the solver function `{name}`"),
            Limit::Unsupported(what) => f.write_str(what),
            Limit::Steps => f.write_str("more steps than the limit"),
            Limit::Schedule => f.write_str("a schedule that does not fit the program"),
        }
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Value {
    Bool(bool),
    Int(i128),
    Real(Ratio),
    Bv {
        width: u32,
        bits: u128,
    },
    /// An element of an uninterpreted type, by number.
    Element(Ty, u32),
    Map(Arc<MapValue>),
    /// A task handle; `None` before it is assigned.
    Task(Option<u32>),
}

/// A fraction in lowest terms with a positive denominator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ratio {
    pub num: i128,
    pub den: i128,
}

impl Ratio {
    pub fn new(num: i128, den: i128) -> Result<Ratio, Limit> {
        if den == 0 {
            return Err(Limit::Magnitude);
        }
        let divisor = gcd(num.unsigned_abs(), den.unsigned_abs());
        let divisor = i128::try_from(divisor).map_err(|_| Limit::Magnitude)?;
        let (num, den) = (num / divisor, den / divisor);
        if den < 0 {
            let (num, den) = (num.checked_neg(), den.checked_neg());
            return num.zip(den).map(|(num, den)| Ratio { num, den }).ok_or(Limit::Magnitude);
        }
        Ok(Ratio { num, den })
    }

    pub fn floor(self) -> i128 {
        self.num.div_euclid(self.den)
    }

    pub fn compare(self, other: Ratio) -> Result<std::cmp::Ordering, Limit> {
        let left = self.num.checked_mul(other.den).ok_or(Limit::Magnitude)?;
        let right = other.num.checked_mul(self.den).ok_or(Limit::Magnitude)?;
        Ok(left.cmp(&right))
    }
}

/// Some total order that agrees with equality; [`Ratio::compare`] is the numeric one.
impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.floor(), self.num, self.den).cmp(&(other.floor(), other.num, other.den))
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// A total map: a default and the entries that differ from it, so that equal maps are equal values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MapValue {
    default: Value,
    entries: BTreeMap<Vec<Value>, Value>,
    /// How many index tuples exist, if they can be counted.
    n_indices: Option<u64>,
}

impl MapValue {
    pub fn constant(default: Value, n_indices: Option<u64>) -> Self {
        MapValue { default, entries: BTreeMap::new(), n_indices }
    }

    pub fn get(&self, index: &[Value]) -> &Value {
        self.entries.get(index).unwrap_or(&self.default)
    }

    pub fn entries(&self) -> impl Iterator<Item = (&[Value], &Value)> {
        self.entries.iter().map(|(index, value)| (index.as_slice(), value))
    }

    pub fn default_value(&self) -> &Value {
        &self.default
    }

    pub fn set(&mut self, index: Vec<Value>, value: Value) {
        if value == self.default {
            self.entries.remove(&index);
        } else {
            self.entries.insert(index, value);
        }
        // When no index is left for the default, the value of the first index takes its place.
        if self.n_indices == Some(self.entries.len() as u64)
            && let Some(first) = self.entries.values().next().cloned()
        {
            self.default = first;
            let default = &self.default;
            self.entries.retain(|_, value| value != default);
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Real(Ratio { num, den: 1 }) => write!(f, "{num}.0"),
            Value::Real(Ratio { num, den }) => write!(f, "{num}.0 / {den}.0"),
            Value::Bv { width, bits } => write!(f, "{bits}bv{width}"),
            Value::Element(_, number) => write!(f, "element#{number}"),
            Value::Map(map) => {
                write!(f, "[")?;
                for (index, value) in map.entries() {
                    let index: Vec<String> = index.iter().map(Value::to_string).collect();
                    write!(f, "{} := {value}, ", index.join(", "))?;
                }
                write!(f, "else {}]", map.default)
            }
            Value::Task(Some(task)) => write!(f, "task#{task}"),
            Value::Task(None) => write!(f, "no task"),
        }
    }
}

/// The values a search tries where the program may take any.
#[derive(Clone, Debug)]
pub struct Domains {
    /// Candidates for integers, from and to, both included.
    pub ints: (i128, i128),
    /// Candidates for each uninterpreted type.
    pub n_elements: u32,
    /// Bitvectors up to this width are enumerated in full.
    pub max_width: u32,
    /// More candidates than this are too many.
    pub max_values: usize,
    /// Take the candidates for all there is: quantifiers range over them too, and a search over
    /// them counts as complete.
    pub closed: bool,
}

impl Default for Domains {
    fn default() -> Self {
        Domains { ints: (0, 1), n_elements: 2, max_width: 4, max_values: 4096, closed: false }
    }
}

impl Domains {
    /// The candidates of a type, and whether they are all its values.
    pub fn values(&self, checked: &Checked, ty: Ty) -> Result<(Vec<Value>, bool), Limit> {
        match checked.types.kind(ty).clone() {
            TyKind::Bool => Ok((vec![Value::Bool(false), Value::Bool(true)], true)),
            TyKind::Int => {
                let (low, high) = self.ints;
                Ok(((low..=high).map(Value::Int).collect(), self.closed))
            }
            TyKind::Real => {
                let (low, high) = self.ints;
                let real = |num| Value::Real(Ratio { num, den: 1 });
                Ok(((low..=high).map(real).collect(), self.closed))
            }
            TyKind::Bv(width) => {
                let all = width <= self.max_width;
                let n = if all { 1u128 << width } else { 1 << self.max_width };
                Ok(((0..n).map(|bits| Value::Bv { width, bits }).collect(), all || self.closed))
            }
            TyKind::Con(name, _) if checked.program.text(name) == "task" => {
                Ok((vec![Value::Task(None)], true))
            }
            TyKind::Con(..) => {
                Ok(((0..self.n_elements).map(|n| Value::Element(ty, n)).collect(), self.closed))
            }
            TyKind::Map(args, result) => self.maps(checked, &args, result),
            TyKind::Error | TyKind::Param(_) | TyKind::Infer(_) => {
                Err(Limit::Unsupported("a type that is not determined"))
            }
        }
    }

    /// Every assignment of candidates to the tuples of candidate indices; elsewhere the maps have
    /// the value of the first tuple.
    fn maps(&self, checked: &Checked, args: &[Ty], result: Ty) -> Result<(Vec<Value>, bool), Limit> {
        let (values, mut complete) = self.values(checked, result)?;
        complete &= self.n_tuples(checked, args).is_some();
        let n_indices = n_indices(checked, args);
        let tuples = self.tuples(checked, args)?;
        let first = values.first().cloned().ok_or(Limit::Candidates)?;
        let mut maps = vec![MapValue::constant(first, n_indices)];
        for (idx, tuple) in tuples.iter().enumerate() {
            if maps.len().saturating_mul(values.len()) > self.max_values {
                return Err(Limit::Candidates);
            }
            let mut next = Vec::new();
            for map in &maps {
                for value in &values {
                    let mut map = map.clone();
                    if idx == 0 {
                        map.default = value.clone();
                    }
                    map.set(tuple.clone(), value.clone());
                    next.push(map);
                }
            }
            maps = next;
        }
        let mut maps: Vec<Value> = maps.into_iter().map(|map| Value::Map(Arc::new(map))).collect();
        maps.sort();
        maps.dedup();
        Ok((maps, complete))
    }

    /// All tuples of candidates.
    pub fn tuples(&self, checked: &Checked, args: &[Ty]) -> Result<Vec<Vec<Value>>, Limit> {
        let mut tuples = vec![Vec::new()];
        for &arg in args {
            let (values, _) = self.values(checked, arg)?;
            if tuples.len().saturating_mul(values.len()) > self.max_values {
                return Err(Limit::Candidates);
            }
            let extend = |tuple: &Vec<Value>| -> Vec<Vec<Value>> {
                let with = |value: &Value| tuple.iter().cloned().chain([value.clone()]).collect();
                values.iter().map(with).collect()
            };
            tuples = tuples.iter().flat_map(extend).collect();
        }
        Ok(tuples)
    }

    /// How many tuples of candidates there are, when the candidates count as all there is.
    pub fn n_tuples(&self, checked: &Checked, args: &[Ty]) -> Option<u64> {
        let mut n: u64 = 1;
        for &arg in args {
            let (values, complete) = self.values(checked, arg).ok()?;
            if !complete {
                return None;
            }
            n = n.checked_mul(values.len() as u64)?;
        }
        Some(n)
    }
}

/// How many index tuples a map really has, whatever the candidates: values outside of them may be
/// computed, so only types that are finite by themselves count.
pub fn n_indices(checked: &Checked, args: &[Ty]) -> Option<u64> {
    let mut n: u64 = 1;
    for &arg in args {
        n = n.checked_mul(match checked.types.kind(arg) {
            TyKind::Bool => 2,
            TyKind::Bv(width @ ..=16) => 1 << width,
            _ => return None,
        })?;
    }
    Some(n)
}
