//! Expressions, one task at a time, in P's order of evaluation (docs/semantics.md, section 1).
//!
//! A *bare* operand, a variable or literal, of an operator is not evaluated beforehand: it is read when the operator
//! is applied, after the calls in its sibling operands (V2). Arguments, parts of tuples and payloads are copied one by
//! one (V3).

use allways_base::Idx;
use allways_p::hir::{BinaryOp, Body, Expr, ExprId, ExprKind, FormatPiece, ParamValue, Type};
use allways_run::ViolationKind;

use super::configuration::{Status, Task};
use super::machine::{Active, Flow, Outcome, Segment, Trap, Who};
use super::text;
use super::value::{Fault, Value};

/// More answers than this are a run-time error of `choose`.
const MAX_ANSWERS: usize = 10_000;

impl Segment<'_> {
    pub fn is_bare(&self, body: &Body, expr: ExprId) -> bool {
        matches!(
            body.exprs[expr].kind,
            ExprKind::Null
                | ExprKind::Bool(_)
                | ExprKind::Int(_)
                | ExprKind::Float(_)
                | ExprKind::Event(_)
                | ExprKind::EnumElement(_)
                | ExprKind::Local(_)
                | ExprKind::Field(_)
                | ExprKind::Param(_)
                | ExprKind::Default(_)
        )
    }

    /// A copy of a variable, or a literal; `None` for other expressions.
    pub fn bare(&self, active: &mut Active, body: &Body, expr: ExprId) -> Option<Value> {
        Some(match &body.exprs[expr].kind {
            ExprKind::Null => Value::Null,
            ExprKind::Bool(b) => Value::Bool(*b),
            ExprKind::Int(n) | ExprKind::EnumElement(n) => Value::Int(*n),
            ExprKind::Float(x) => Value::float(*x),
            ExprKind::Event(event) => Value::Event(*event),
            ExprKind::Local(local) => active.frame().locals[local.index()].copied(),
            ExprKind::Field(field) => active.local.fields[field.index()].copied(),
            ExprKind::Param(param) => match self.test.params.iter().find(|(id, _)| id == param) {
                Some((_, ParamValue::Bool(b))) => Value::Bool(*b),
                Some((_, ParamValue::Int(n))) => Value::Int(*n),
                None => Value::default_of(self.program, self.program.params[*param].ty),
            },
            ExprKind::Default(ty) => Value::default_of(self.program, *ty),
            _ => return None,
        })
    }

    /// Pushes the value of an expression, or queues what is needed for it.
    pub fn eval(&mut self, active: &mut Active, id: ExprId) -> Outcome<Flow> {
        let body = self.body(active);
        if let Some(value) = self.bare(active, body, id) {
            active.push(value);
            return Ok(Flow::Go);
        }
        if let ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, _) = body.exprs[id].kind {
            active.frame().tasks.extend([Task::Right(id), Task::Eval(left)]);
            return Ok(Flow::Go);
        }
        let expr = &body.exprs[id];
        let mut operands: Vec<ExprId> = expr.kind.operands().collect();
        if !copies_operands(expr) {
            operands.retain(|&operand| !self.is_bare(body, operand));
        }
        let tasks = &mut active.frame().tasks;
        tasks.push(Task::Apply(id));
        tasks.extend(operands.into_iter().rev().map(Task::Eval));
        Ok(Flow::Go)
    }

    pub fn right_side(&mut self, active: &mut Active, id: ExprId) -> Outcome<Flow> {
        let body = self.body(active);
        let ExprKind::Binary(op, _, right) = body.exprs[id].kind else { unreachable!("&& or ||") };
        let Value::Bool(left) = active.pop() else {
            return Err(Trap::fault(ViolationKind::Cast, body.exprs[id].span));
        };
        if left == (op == BinaryOp::Or) {
            active.push(Value::Bool(left));
        } else {
            active.frame().tasks.push(Task::Eval(right));
        }
        Ok(Flow::Go)
    }

    /// The operands of an operator, all computed.
    fn take_operands(&self, active: &mut Active, body: &Body, expr: &Expr) -> Vec<Value> {
        let mut values = Vec::new();
        for operand in expr.kind.operands().rev() {
            let value = match self.bare(active, body, operand) {
                Some(value) if !copies_operands(expr) => value,
                _ => active.pop(),
            };
            values.push(value);
        }
        values.reverse();
        values
    }

    pub fn apply(&mut self, active: &mut Active, id: ExprId) -> Outcome<Flow> {
        let body = self.body(active);
        let expr = &body.exprs[id];
        let values = self.take_operands(active, body, expr);
        let value = match &expr.kind {
            ExprKind::Call(fun, _) => return self.enter_function(active, *fun, values),
            ExprKind::New(created, _) => {
                let creator = active.local.interface.expect("machines have an interface");
                let interface = self.test.system.link(creator, *created);
                if self.test.system.machine_of(interface).is_none() {
                    return Err(Trap::fault(ViolationKind::Unbound, expr.span));
                }
                let payload = values.into_iter().next().unwrap_or(Value::Null);
                active.local.status = Status::Creating { interface, payload };
                return Ok(Flow::Stop);
            }
            _ => self.operator(active, body, expr, values).map_err(|fault| Trap::fault(fault, expr.span))?,
        };
        active.push(value);
        Ok(Flow::Go)
    }

    fn operator(
        &mut self,
        active: &Active,
        body: &Body,
        expr: &Expr,
        values: Vec<Value>,
    ) -> Result<Value, Fault> {
        let program = self.program;
        Ok(match &expr.kind {
            ExprKind::Format(pieces, _) => {
                let mut out = String::new();
                for piece in pieces {
                    match piece {
                        FormatPiece::Text(text) => out.push_str(text),
                        FormatPiece::Arg(at) => {
                            text::write(program, self.conf.order.as_deref(), &values[*at], &mut out)
                        }
                    }
                }
                Value::String(out)
            }
            ExprKind::This => match &active.who {
                Who::Machine(path) => {
                    let receives = &program.machines[active.local.machine].receives;
                    Value::Machine(path.clone(), receives.iter().collect())
                }
                Who::Monitor => Value::Null,
            },
            ExprKind::Nondet { .. } | ExprKind::Choose(None) => Value::Bool(self.script.ask(2) == 1),
            ExprKind::Choose(Some(_)) => self.choose(&values[0])?,
            ExprKind::Tuple(_) => Value::Tuple(values),
            ExprKind::NamedTuple(fields) => {
                Value::Named(fields.iter().map(|&(name, _)| name).zip(values).collect())
            }
            ExprKind::TupleGet(_, at) => values[0].part(*at)?.copied(),
            ExprKind::FieldGet(_, name, _) => values[0].field(*name)?.copied(),
            ExprKind::Index(..) => values[0].at(&values[1])?,
            ExprKind::Keys(_) => match &values[0] {
                map @ Value::Map(_) => Value::Seq(map.elements()?),
                _ => return Err(Fault::Cast),
            },
            ExprKind::Values(_) => Value::Seq(values[0].map_values()?),
            ExprKind::Sizeof(_) => Value::Int(values[0].elements()?.len() as i64),
            ExprKind::Neg(_) => match &values[0] {
                Value::Int(n) => Value::Int(n.wrapping_neg()),
                Value::Float(bits) => Value::float(-f64::from_bits(*bits)),
                _ => return Err(Fault::Cast),
            },
            ExprKind::Not(_) => match &values[0] {
                Value::Bool(b) => Value::Bool(!b),
                _ => return Err(Fault::Cast),
            },
            ExprKind::Binary(op, ..) => binary(*op, &values[0], &values[1])?,
            ExprKind::Cast(_) => {
                if !values[0].fits(program, expr.ty) {
                    return Err(Fault::Cast);
                }
                values[0].clone()
            }
            ExprKind::Coerce(e) => self.coerce(body, *e, expr, &values[0])?,
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Event(_)
            | ExprKind::EnumElement(_)
            | ExprKind::Local(_)
            | ExprKind::Field(_)
            | ExprKind::Param(_)
            | ExprKind::Default(_)
            | ExprKind::New(..)
            | ExprKind::Call(..) => unreachable!("not an operator"),
        })
    }

    /// `choose` (6.14). Where only one answer is possible there is no choice.
    fn choose(&mut self, source: &Value) -> Result<Value, Fault> {
        if let Value::Int(n) = source {
            return match usize::try_from(*n) {
                Ok(0 | 1) => Ok(Value::Int(0)),
                Ok(n) if n <= MAX_ANSWERS => Ok(Value::Int(self.number_below(n as u32).into())),
                _ => Err(Fault::Choose),
            };
        }
        let elements = source.elements()?;
        match elements.len() {
            0 => Err(Fault::Choose),
            1 => Ok(elements[0].clone()),
            n if n <= MAX_ANSWERS => Ok(elements[self.script.ask(n as u32) as usize].clone()),
            _ => Err(Fault::Choose),
        }
    }

    /// Under a bound only some are explored, from the first to the last in steps that are as even as they can be.
    fn number_below(&mut self, n: u32) -> u32 {
        match self.max_choices {
            Some(most) if most < n => {
                self.left_out = true;
                let place = self.script.ask(most);
                if most == 1 { 0 } else { place * (n - 1) / (most - 1) }
            }
            _ => self.script.ask(n),
        }
    }

    fn coerce(&self, body: &Body, operand: ExprId, expr: &Expr, value: &Value) -> Result<Value, Fault> {
        let types = &self.program.types;
        match (types.get(expr.ty), value) {
            (Type::Int, Value::Float(bits)) => Ok(Value::Int(f64::from_bits(*bits) as i64)),
            (Type::Float, Value::Int(n)) => Ok(Value::float(*n as f64)),
            (Type::Int, Value::Int(_)) | (Type::Float, Value::Float(_)) => Ok(value.clone()),
            (Type::Permission(_, wanted), _) => {
                let known = match types.get(body.exprs[operand].ty) {
                    Type::Permission(_, known) => Some(known),
                    _ => None,
                };
                match value {
                    // A conversion to the same type is none.
                    _ if known == Some(wanted) => Ok(value.clone()),
                    Value::Machine(path, permits) => {
                        if wanted.iter().all(|event| permits.contains(&event)) {
                            Ok(Value::Machine(path.clone(), wanted.iter().collect()))
                        } else {
                            Err(Fault::Permission)
                        }
                    }
                    _ => Err(Fault::Cast),
                }
            }
            _ => Err(Fault::Cast),
        }
    }
}

/// Whether operands are copied one by one before the next is evaluated.
fn copies_operands(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Format(..)
            | ExprKind::Tuple(_)
            | ExprKind::NamedTuple(_)
            | ExprKind::Call(..)
            | ExprKind::New(..)
    )
}

fn binary(op: BinaryOp, a: &Value, b: &Value) -> Result<Value, Fault> {
    use std::cmp::Ordering;
    match op {
        BinaryOp::Eq => return Ok(Value::Bool(a.equals(b))),
        BinaryOp::Ne => return Ok(Value::Bool(!a.equals(b))),
        BinaryOp::In => return b.contains(a).map(Value::Bool),
        _ => {}
    }
    let order = match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => f64::from_bits(*a).partial_cmp(&f64::from_bits(*b)),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => return Err(Fault::Cast),
    };
    match op {
        BinaryOp::Lt => return Ok(Value::Bool(order == Some(Ordering::Less))),
        BinaryOp::Gt => return Ok(Value::Bool(order == Some(Ordering::Greater))),
        BinaryOp::Le => return Ok(Value::Bool(matches!(order, Some(Ordering::Less | Ordering::Equal)))),
        BinaryOp::Ge => return Ok(Value::Bool(matches!(order, Some(Ordering::Greater | Ordering::Equal)))),
        _ => {}
    }
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(Value::Int(match op {
            BinaryOp::Add => a.wrapping_add(*b),
            BinaryOp::Sub => a.wrapping_sub(*b),
            BinaryOp::Mul => a.wrapping_mul(*b),
            BinaryOp::Div | BinaryOp::Mod if *b == 0 => return Err(Fault::DivisionByZero),
            BinaryOp::Div => a.wrapping_div(*b),
            BinaryOp::Mod => a.wrapping_rem(*b),
            _ => return Err(Fault::Cast),
        })),
        (Value::Float(a), Value::Float(b)) => {
            let (a, b) = (f64::from_bits(*a), f64::from_bits(*b));
            Ok(Value::float(match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                BinaryOp::Div => a / b,
                BinaryOp::Mod => a % b,
                _ => return Err(Fault::Cast),
            }))
        }
        (Value::String(a), Value::String(b)) if op == BinaryOp::Add => Ok(Value::String(format!("{a}{b}"))),
        _ => Err(Fault::Cast),
    }
}
