//! Expressions to values. Arbitrary values (constants, function entries, unset locals) are chosen
//! at their first use and kept.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use allways_base::Symbol;

use super::builtin;
use super::code::{Code, ExprCode, Meaning, Op};
use super::oracle::{Asked, Oracle};
use super::value::{Domains, Limit, MapValue, Ratio, Value, n_indices};
use crate::check::{Checked, Ty, TyKind};
use crate::tree::{BinaryOp, Quantifier};

/// How deep defined functions may call each other.
const MAX_CALLS: u32 = 200;

/// What an evaluation needs to know and to ask.
pub(super) struct Eval<'a> {
    pub code: &'a Code,
    pub domains: &'a Domains,
    pub oracle: &'a mut dyn Oracle,
    /// Becomes false when a value was chosen from fewer candidates than there are.
    pub complete: &'a mut bool,
    pub globals: &'a [Value],
    pub old_globals: &'a [Value],
    pub world: &'a mut World,
    pub n_calls: u32,
    /// Whether values are tried for quantifiers over unbounded data. Not worth it for axioms, of which a prelude has hundreds.
    pub tries_witnesses: bool,
}

/// The values of constants and functions, as far as they have been asked for.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct World {
    pub consts: Vec<Option<Value>>,
    pub functions: BTreeMap<(usize, Vec<Value>), Value>,
}

/// The slots of a frame; `None` is arbitrary and not yet looked at.
pub(super) struct Locals<'a> {
    pub slots: &'a mut [Option<Value>],
    pub types: &'a [Ty],
    pub names: &'a [Symbol],
    /// The task, and the depth of the frame in it.
    pub frame: (usize, usize),
}

impl Locals<'_> {
    pub fn none() -> Self {
        Locals { slots: &mut [], types: &[], names: &[], frame: (0, 0) }
    }
}

/// Some ops of an expression; ends of quantifiers are places in the whole.
#[derive(Clone, Copy)]
struct OpRange<'a> {
    ops: &'a [Op],
    start: usize,
    end: usize,
}

impl<'a> OpRange<'a> {
    fn iter(self) -> impl Iterator<Item = &'a Op> {
        self.ops[self.start..self.end].iter()
    }
}

#[derive(Clone, Copy)]
struct Quantified<'a> {
    quantifier: Quantifier,
    types: &'a [Ty],
    body: OpRange<'a>,
}

impl Eval<'_> {
    /// Any value of the type.
    pub fn arbitrary(&mut self, asked: Asked<'_>, ty: Ty) -> Result<Value, Limit> {
        let (domains, checked) = (self.domains, &self.code.checked);
        let (value, complete) = self.oracle.value(asked, &|| domains.values(checked, ty))?;
        *self.complete &= complete;
        Ok(value)
    }

    pub fn bool(&mut self, expr: &ExprCode, locals: &mut Locals<'_>) -> Result<bool, Limit> {
        match self.value(expr, locals)? {
            Value::Bool(value) => Ok(value),
            _ => Err(Limit::Unsupported("an ill-typed expression")),
        }
    }

    pub fn value(&mut self, expr: &ExprCode, locals: &mut Locals<'_>) -> Result<Value, Limit> {
        self.range(OpRange { ops: &expr.ops, start: 0, end: expr.ops.len() }, locals, &mut Vec::new())
    }

    fn range(
        &mut self,
        code: OpRange<'_>,
        locals: &mut Locals<'_>,
        bound: &mut Vec<Value>,
    ) -> Result<Value, Limit> {
        let OpRange { ops, start, end } = code;
        let mut stack: Vec<Value> = Vec::new();
        let mut at = start;
        while at < end {
            let op = &ops[at];
            at += 1;
            match op {
                Op::Push(value) => stack.push(value.clone()),
                Op::Global(slot) => stack.push(self.globals[*slot].clone()),
                Op::OldGlobal(slot) => stack.push(self.old_globals[*slot].clone()),
                Op::Local(slot) => {
                    if locals.slots[*slot].is_none() {
                        let (task, depth) = locals.frame;
                        let asked = Asked::Local { task, depth, name: locals.names[*slot] };
                        locals.slots[*slot] = Some(self.arbitrary(asked, locals.types[*slot])?);
                    }
                    stack.extend(locals.slots[*slot].clone());
                }
                Op::Const(slot) => stack.push(self.constant(*slot)?),
                Op::Bound(idx) => stack.push(bound[*idx].clone()),
                Op::Not => {
                    let value = !pop_bool(&mut stack)?;
                    stack.push(Value::Bool(value));
                }
                Op::Neg => {
                    let value = match pop(&mut stack)? {
                        Value::Int(n) => Value::Int(n.checked_neg().ok_or(Limit::Magnitude)?),
                        Value::Real(r) => Value::Real(Ratio {
                            num: r.num.checked_neg().ok_or(Limit::Magnitude)?,
                            den: r.den,
                        }),
                        _ => return Err(ILL_TYPED),
                    };
                    stack.push(value);
                }
                Op::Binary(op) => {
                    let right = pop(&mut stack)?;
                    let left = pop(&mut stack)?;
                    stack.push(self.binary(*op, left, right)?);
                }
                Op::AndThen(target) | Op::OrElse(target) => {
                    let stay = matches!(op, Op::OrElse(_));
                    let value = pop_bool(&mut stack)?;
                    if value == stay {
                        stack.push(Value::Bool(value));
                        at = *target;
                    }
                }
                Op::Unless(target) => {
                    if !pop_bool(&mut stack)? {
                        at = *target;
                    }
                }
                Op::Jump(target) => at = *target,
                Op::Select { n_indices } => {
                    let index = pop_many(&mut stack, *n_indices)?;
                    let map = pop_map(&mut stack)?;
                    stack.push(map.get(&index).clone());
                }
                Op::Store { n_indices } => {
                    let value = pop(&mut stack)?;
                    let index = pop_many(&mut stack, *n_indices)?;
                    let mut map = pop_map(&mut stack)?;
                    Arc::make_mut(&mut map).set(index, value);
                    stack.push(Value::Map(map));
                }
                Op::Extract { hi, lo } => {
                    let Value::Bv { bits, .. } = pop(&mut stack)? else { return Err(ILL_TYPED) };
                    let bits = if *lo >= 128 { 0 } else { bits >> lo };
                    stack.push(builtin::bv(hi - lo, bits));
                }
                Op::ToInt => match pop(&mut stack)? {
                    Value::Real(ratio) => stack.push(Value::Int(ratio.floor())),
                    _ => return Err(ILL_TYPED),
                },
                Op::ToReal => match pop(&mut stack)? {
                    Value::Int(num) => stack.push(Value::Real(Ratio { num, den: 1 })),
                    _ => return Err(ILL_TYPED),
                },
                Op::Apply { function, n_args } => {
                    let args = pop_many(&mut stack, *n_args)?;
                    stack.push(self.apply(*function, args)?);
                }
                Op::Quantified { quantifier, types, end } => {
                    let body = OpRange { ops, start: at, end: *end };
                    let quantified = Quantified { quantifier: *quantifier, types, body };
                    stack.push(self.quantified(quantified, locals, bound)?);
                    at = *end;
                }
                Op::Bind => bound.push(pop(&mut stack)?),
                Op::Unbind(n) => bound.truncate(bound.len() - n),
            }
        }
        pop(&mut stack)
    }

    fn constant(&mut self, slot: usize) -> Result<Value, Limit> {
        if let Some(value) = &self.world.consts[slot] {
            return Ok(value.clone());
        }
        let ty = self.code.checked.vars[self.code.checked.consts[slot]].ty;
        let value = self.arbitrary(Asked::Const(slot), ty)?;
        self.world.consts[slot] = Some(value.clone());
        Ok(value)
    }

    fn apply(&mut self, idx: usize, args: Vec<Value>) -> Result<Value, Limit> {
        let code = self.code;
        let function = &code.functions[idx];
        match &function.meaning {
            Meaning::Builtin(name) if name == "MapConst" => {
                let TyKind::Map(indices, _) = code.checked.types.kind(function.result) else {
                    return Err(ILL_TYPED);
                };
                let [value] = <[Value; 1]>::try_from(args).map_err(|_| ILL_TYPED)?;
                Ok(Value::Map(Arc::new(MapValue::constant(value, n_indices(&code.checked, indices)))))
            }
            Meaning::Builtin(name) => builtin::apply(name, &args, &code.checked, function.result),
            Meaning::Defined(body) => {
                if self.n_calls >= MAX_CALLS {
                    return Err(Limit::Recursion);
                }
                self.n_calls += 1;
                let mut slots: Vec<Option<Value>> = args.into_iter().map(Some).collect();
                // All slots are filled, so names are not asked for.
                let mut locals =
                    Locals { slots: &mut slots, types: &function.params, names: &[], frame: (0, 0) };
                let value = self.value(body, &mut locals);
                self.n_calls -= 1;
                value
            }
            Meaning::Uninterpreted => {
                let key = (idx, args);
                if let Some(value) = self.world.functions.get(&key) {
                    return Ok(value.clone());
                }
                let asked = Asked::Function { function: idx, args: &key.1 };
                let value = self.arbitrary(asked, function.result)?;
                self.world.functions.insert(key, value.clone());
                Ok(value)
            }
        }
    }

    fn quantified(
        &mut self,
        quantified: Quantified<'_>,
        locals: &mut Locals<'_>,
        bound: &mut Vec<Value>,
    ) -> Result<Value, Limit> {
        let Quantified { quantifier, types, body } = quantified;
        let n_indices = n_indices(&self.code.checked, types);
        let is_mentioned = body.iter().any(|op| matches!(op, Op::Bound(idx) if *idx >= bound.len()));
        if !is_mentioned {
            // The same for all values; every type has some.
            let value = self.range(body, locals, bound)?;
            return Ok(match quantifier {
                Quantifier::Forall | Quantifier::Exists => value,
                Quantifier::Lambda => Value::Map(Arc::new(MapValue::constant(value, n_indices))),
            });
        }
        if self.domains.n_tuples(&self.code.checked, types).is_none() {
            return self.decided_by_witness(quantified, locals, bound);
        }
        let tuples = self.domains.tuples(&self.code.checked, types).map_err(|_| Limit::Quantifier)?;
        let n_before = bound.len();
        let mut map: Option<MapValue> = None;
        for tuple in tuples {
            bound.extend(tuple.iter().cloned());
            let value = self.range(body, locals, bound);
            bound.truncate(n_before);
            match (quantifier, value?) {
                (Quantifier::Forall, Value::Bool(false)) => return Ok(Value::Bool(false)),
                (Quantifier::Exists, Value::Bool(true)) => return Ok(Value::Bool(true)),
                (Quantifier::Forall | Quantifier::Exists, _) => {}
                (Quantifier::Lambda, value) => {
                    map.get_or_insert_with(|| MapValue::constant(value.clone(), n_indices)).set(tuple, value);
                }
            }
        }
        Ok(match quantifier {
            Quantifier::Forall => Value::Bool(true),
            Quantifier::Exists => Value::Bool(false),
            Quantifier::Lambda => Value::Map(Arc::new(map.ok_or(Limit::Quantifier)?)),
        })
    }

    /// A quantifier over unbounded data is decided by one value: a counterexample of `forall`, an example of `exists`. Those are
    /// looked for among the values at hand. If there is none, nothing is known.
    fn decided_by_witness(
        &mut self,
        quantified: Quantified<'_>,
        locals: &mut Locals<'_>,
        bound: &mut Vec<Value>,
    ) -> Result<Value, Limit> {
        let Quantified { quantifier, types, body } = quantified;
        let decides = match quantifier {
            Quantifier::Forall if self.tries_witnesses => false,
            Quantifier::Exists if self.tries_witnesses => true,
            Quantifier::Forall | Quantifier::Exists | Quantifier::Lambda => return Err(Limit::Quantifier),
        };
        let mut at_hand = Witnesses::default();
        for op in body.iter() {
            if let Op::Push(value) = op {
                at_hand.add(value);
            }
        }
        bound.iter().for_each(|value| at_hand.add(value));
        locals.slots.iter().flatten().for_each(|value| at_hand.add(value));
        self.globals.iter().chain(self.old_globals).for_each(|value| at_hand.add(value));
        self.world.consts.iter().flatten().for_each(|value| at_hand.add(value));
        for (args, value) in self.world.functions.iter().map(|((_, args), value)| (args, value)) {
            args.iter().chain([value]).for_each(|value| at_hand.add(value));
        }
        let n_before = bound.len();
        for tuple in at_hand.tuples(&self.code.checked, types) {
            bound.extend(tuple);
            let value = self.range(body, locals, bound);
            bound.truncate(n_before);
            if let Ok(Value::Bool(value)) = value
                && value == decides
            {
                return Ok(Value::Bool(decides));
            }
        }
        Err(Limit::Quantifier)
    }

    fn binary(&mut self, op: BinaryOp, left: Value, right: Value) -> Result<Value, Limit> {
        match op {
            BinaryOp::Eq | BinaryOp::Iff => return Ok(Value::Bool(left == right)),
            BinaryOp::Ne => return Ok(Value::Bool(left != right)),
            BinaryOp::Concat => {
                let (Value::Bv { width: a, bits: high }, Value::Bv { width: b, bits: low }) = (left, right)
                else {
                    return Err(ILL_TYPED);
                };
                return match a.checked_add(b) {
                    Some(width @ ..=128) if b < 128 => Ok(Value::Bv { width, bits: (high << b) | low }),
                    Some(width @ ..=128) => Ok(Value::Bv { width, bits: low }),
                    _ => Err(Limit::Magnitude),
                };
            }
            BinaryOp::Slash => return self.quotient(ratio(left)?, ratio(right)?),
            _ => {}
        }
        match (left, right) {
            (Value::Int(a), Value::Int(b)) => self.int_binary(op, a, b),
            (Value::Real(a), Value::Real(b)) => real_binary(op, a, b),
            _ => Err(ILL_TYPED),
        }
    }

    fn int_binary(&mut self, op: BinaryOp, a: i128, b: i128) -> Result<Value, Limit> {
        let int = |value: Option<i128>| value.map(Value::Int).ok_or(Limit::Magnitude);
        match op {
            BinaryOp::Add => int(a.checked_add(b)),
            BinaryOp::Sub => int(a.checked_sub(b)),
            BinaryOp::Mul => int(a.checked_mul(b)),
            BinaryOp::Div if b == 0 => self.by_zero(1, Value::Int(a), Ty::INT),
            BinaryOp::Percent | BinaryOp::Mod if b == 0 => self.by_zero(0, Value::Int(a), Ty::INT),
            BinaryOp::Div => int(a.checked_div_euclid(b)),
            BinaryOp::Percent | BinaryOp::Mod => int(a.checked_rem_euclid(b)),
            BinaryOp::Pow => match u32::try_from(b) {
                Ok(exponent) => int(a.checked_pow(exponent)),
                Err(_) => Err(Limit::Magnitude),
            },
            BinaryOp::Lt => Ok(Value::Bool(a < b)),
            BinaryOp::Le => Ok(Value::Bool(a <= b)),
            BinaryOp::Gt => Ok(Value::Bool(a > b)),
            BinaryOp::Ge => Ok(Value::Bool(a >= b)),
            _ => Err(ILL_TYPED),
        }
    }

    /// The quotient of two real numbers.
    fn quotient(&mut self, a: Ratio, b: Ratio) -> Result<Value, Limit> {
        if b.num == 0 {
            return self.by_zero(2, Value::Real(a), Ty::REAL);
        }
        let mul = |x: i128, y: i128| x.checked_mul(y).ok_or(Limit::Magnitude);
        Ok(Value::Real(Ratio::new(mul(a.num, b.den)?, mul(a.den, b.num)?)?))
    }

    /// The result of a division by zero is arbitrary but always the same; the operations are numbered behind the declared
    /// functions.
    fn by_zero(&mut self, operation: usize, left: Value, ty: Ty) -> Result<Value, Limit> {
        let key = (self.code.functions.len() + operation, vec![left]);
        if let Some(value) = self.world.functions.get(&key) {
            return Ok(value.clone());
        }
        let asked = Asked::Function { function: key.0, args: &key.1 };
        let value = self.arbitrary(asked, ty)?;
        self.world.functions.insert(key, value.clone());
        Ok(value)
    }
}

/// How many tuples of values are tried for one quantifier.
const MAX_WITNESSES: usize = 600;

/// The values of a state, to instantiate a quantifier with.
#[derive(Default)]
struct Witnesses {
    found: Vec<Value>,
}

impl Witnesses {
    /// The value, or, of a map, its indices and values.
    fn add(&mut self, value: &Value) {
        if self.found.len() >= MAX_WITNESSES {
            return;
        }
        match value {
            Value::Map(map) => {
                for (index, value) in map.entries() {
                    index.iter().chain([value]).for_each(|part| self.add(part));
                }
                self.add(map.default_value());
            }
            value if !self.found.contains(value) => self.found.push(value.clone()),
            _ => {}
        }
    }

    /// Tuples of these types, as many as are tried.
    fn tuples(&self, checked: &Checked, types: &[Ty]) -> Vec<Vec<Value>> {
        let n_each = (1..=MAX_WITNESSES)
            .take_while(|n| n.pow(types.len() as u32) <= MAX_WITNESSES)
            .last()
            .unwrap_or(1);
        let mut tuples = vec![Vec::new()];
        for &ty in types {
            let small: Vec<Value> = match checked.types.kind(ty) {
                TyKind::Int => (-1..=2).map(Value::Int).collect(),
                TyKind::Real => (-1..=1).map(|num| Value::Real(Ratio { num, den: 1 })).collect(),
                TyKind::Bool => vec![Value::Bool(false), Value::Bool(true)],
                TyKind::Bv(width) => {
                    vec![builtin::bv(*width, 0), builtin::bv(*width, 1), builtin::bv(*width, u128::MAX)]
                }
                _ => Vec::new(),
            };
            let is_one = |value: &&Value| match (value, checked.types.kind(ty)) {
                (Value::Int(_), TyKind::Int)
                | (Value::Real(_), TyKind::Real)
                | (Value::Bool(_), TyKind::Bool) => true,
                (Value::Bv { width, .. }, TyKind::Bv(wanted)) => width == wanted,
                (Value::Element(of, _), _) => *of == ty,
                _ => false,
            };
            let mut values: Vec<&Value> = self.found.iter().filter(is_one).collect();
            values.extend(small.iter().filter(|value| !self.found.contains(value)));
            values.truncate(n_each);
            tuples = tuples
                .iter()
                .flat_map(|tuple| {
                    values.iter().map(|&value| [&tuple[..], std::slice::from_ref(value)].concat())
                })
                .collect();
        }
        tuples
    }
}

/// A number as a fraction.
fn ratio(value: Value) -> Result<Ratio, Limit> {
    match value {
        Value::Int(value) => Ratio::new(value, 1),
        Value::Real(value) => Ok(value),
        _ => Err(ILL_TYPED),
    }
}

const ILL_TYPED: Limit = Limit::Unsupported("an ill-typed expression");

fn real_binary(op: BinaryOp, a: Ratio, b: Ratio) -> Result<Value, Limit> {
    let mul = |x: i128, y: i128| x.checked_mul(y).ok_or(Limit::Magnitude);
    let sum = |b: Ratio| -> Result<Value, Limit> {
        let num = mul(a.num, b.den)?.checked_add(mul(b.num, a.den)?).ok_or(Limit::Magnitude)?;
        Ok(Value::Real(Ratio::new(num, mul(a.den, b.den)?)?))
    };
    let compare = |wanted: &[Ordering]| Ok(Value::Bool(wanted.contains(&a.compare(b)?)));
    match op {
        BinaryOp::Add => sum(b),
        BinaryOp::Sub => sum(Ratio { num: b.num.checked_neg().ok_or(Limit::Magnitude)?, den: b.den }),
        BinaryOp::Mul => Ok(Value::Real(Ratio::new(mul(a.num, b.num)?, mul(a.den, b.den)?)?)),
        BinaryOp::Lt => compare(&[Ordering::Less]),
        BinaryOp::Le => compare(&[Ordering::Less, Ordering::Equal]),
        BinaryOp::Gt => compare(&[Ordering::Greater]),
        BinaryOp::Ge => compare(&[Ordering::Greater, Ordering::Equal]),
        BinaryOp::Pow if b.den == 1 && (0..=128).contains(&b.num) => {
            let mut power = Ratio { num: 1, den: 1 };
            for _ in 0..b.num {
                power = Ratio::new(mul(power.num, a.num)?, mul(power.den, a.den)?)?;
            }
            Ok(Value::Real(power))
        }
        BinaryOp::Pow => Err(Limit::Unsupported("powers of reals with such an exponent")),
        _ => Err(ILL_TYPED),
    }
}

fn pop(stack: &mut Vec<Value>) -> Result<Value, Limit> {
    stack.pop().ok_or(ILL_TYPED)
}

fn pop_bool(stack: &mut Vec<Value>) -> Result<bool, Limit> {
    match stack.pop() {
        Some(Value::Bool(value)) => Ok(value),
        _ => Err(ILL_TYPED),
    }
}

fn pop_map(stack: &mut Vec<Value>) -> Result<Arc<MapValue>, Limit> {
    match stack.pop() {
        Some(Value::Map(map)) => Ok(map),
        _ => Err(ILL_TYPED),
    }
}

fn pop_many(stack: &mut Vec<Value>, n: usize) -> Result<Vec<Value>, Limit> {
    if stack.len() < n { Err(ILL_TYPED) } else { Ok(stack.split_off(stack.len() - n)) }
}
