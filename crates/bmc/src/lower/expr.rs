//! Expressions to terms, without recursion.

use allways_boogie::check::{Checked, Ty, TyKind, VarId, VarKind};
use allways_boogie::tree::*;

use super::{EncodeError, Lowerer, Scope, bound_number};
use crate::term::{TermId, TermKind, quotable};
use crate::theory;

/// A function that stands for a lambda expression, with what defines it.
#[derive(Clone, Debug)]
pub struct LambdaFunction {
    pub name: String,
    /// The program variables and outer bound variables that the expression mentions.
    pub params: Vec<Ty>,
    pub result: Ty,
    pub axiom: TermId,
}

/// The SMT name of a function.
pub fn function_name(name: &str) -> String {
    format!("|{}()|", quotable(name))
}

/// The SMT name of a constant.
pub fn constant_name(name: &str) -> String {
    format!("|{}@|", quotable(name))
}

/// The operation of the solver that an attribute of a function names.
pub(super) fn builtin(checked: &Checked, attrs: &[Attr]) -> Option<String> {
    let attr = checked.program.attr(attrs, "bvbuiltin").or_else(|| checked.program.attr(attrs, "builtin"))?;
    let ExprKind::Text(text) = checked.program.exprs[*attr.args.first()?].kind else { return None };
    let text = checked.program.text(text).trim();
    // Indexed operations are often written without the wrapping, as in `zero_extend 24`.
    Some(if text.contains(' ') && !text.starts_with('(') { format!("(_ {text})") } else { text.to_owned() })
}

enum Work {
    Visit(ExprId, bool),
    Build(ExprId),
}

impl Lowerer<'_> {
    /// The term of an expression in a scope.
    pub(super) fn expr(&mut self, root: ExprId, scope: &Scope) -> Result<TermId, EncodeError> {
        let checked = self.checked;
        let program = &checked.program;
        let mut work = vec![Work::Visit(root, false)];
        let mut done: Vec<TermId> = Vec::new();
        while let Some(item) = work.pop() {
            let id = match item {
                Work::Visit(id, old) => {
                    match &program.exprs[id].kind {
                        ExprKind::Var(_) => {
                            let term = self.variable(id, old, scope)?;
                            done.push(term);
                        }
                        ExprKind::Old(inner) => work.push(Work::Visit(*inner, true)),
                        ExprKind::Coerce { arg, .. } => work.push(Work::Visit(*arg, old)),
                        ExprKind::Quantified(quantified) => {
                            work.push(Work::Build(id));
                            work.push(Work::Visit(quantified.body, old));
                            for &part in quantified.triggers.iter().flatten().rev() {
                                work.push(Work::Visit(part, old));
                            }
                        }
                        _ => {
                            work.push(Work::Build(id));
                            let at = work.len();
                            program.operands(id, |operand| work.push(Work::Visit(operand, old)));
                            work[at..].reverse();
                        }
                    }
                    continue;
                }
                Work::Build(id) => id,
            };
            let mut n_operands = 0;
            program.operands(id, |_| n_operands += 1);
            if let ExprKind::Quantified(quantified) = &program.exprs[id].kind {
                n_operands += quantified.triggers.iter().flatten().count();
            }
            let operands = done.split_off(done.len() - n_operands);
            let term = self.build(id, operands)?;
            done.push(term);
        }
        match done.pop() {
            Some(term) => Ok(term),
            None => self.unsupported("this expression", program.exprs[root].span),
        }
    }

    fn variable(&mut self, id: ExprId, old: bool, scope: &Scope) -> Result<TermId, EncodeError> {
        let checked = self.checked;
        let Expr { kind, span } = &checked.program.exprs[id];
        let Some(var) = checked.expr_vars[id] else {
            return self.unsupported(format!("the name {kind:?}"), *span);
        };
        if let Some(&local) = scope.names.get(&var) {
            return Ok(self.terms.var(local));
        }
        let info = &checked.vars[var];
        match info.kind {
            VarKind::Global | VarKind::ThreadLocal => {
                let var = match scope.old.get(&var) {
                    Some(&snapshot) if old => snapshot,
                    _ => self.globals[&var],
                };
                Ok(self.terms.var(var))
            }
            VarKind::Const => {
                let name = constant_name(checked.program.text(info.name.symbol));
                Ok(self.terms.atom(name))
            }
            // Parameters of functions are variables of their definition.
            VarKind::Bound | VarKind::Param | VarKind::Result | VarKind::Local => {
                Ok(self.terms.add(TermKind::Bound(bound_number(var))))
            }
        }
    }

    fn build(&mut self, id: ExprId, operands: Vec<TermId>) -> Result<TermId, EncodeError> {
        let checked = self.checked;
        let program = &checked.program;
        let span = program.exprs[id].span;
        let term = match &program.exprs[id].kind {
            ExprKind::Bool(value) => self.terms.bool(*value),
            ExprKind::Int(digits) => {
                let digits = numeral(program.text(*digits));
                self.terms.atom(digits)
            }
            ExprKind::Real(digits) => match literal_real(program.text(*digits)) {
                Some(text) => self.terms.atom(text),
                None => return self.unsupported("a number of this size", span),
            },
            ExprKind::Bv { digits, width } => {
                let text = format!("(_ bv{} {width})", numeral(program.text(*digits)));
                self.terms.atom(text)
            }
            ExprKind::Text(_) => return self.unsupported("a string in an expression", span),
            ExprKind::Apply { function, .. } => self.apply(id, *function, operands)?,
            ExprKind::Unary(UnaryOp::Not, _) => self.terms.not(operands[0]),
            ExprKind::Unary(UnaryOp::Neg, _) => self.terms.app("-", operands),
            ExprKind::Binary(BinaryOp::Slash, left, right) => {
                let mut parts = operands;
                for (part, side) in parts.iter_mut().zip([left, right]) {
                    if checked.expr_types[*side] == Ty::INT {
                        *part = self.terms.app("to_real", vec![*part]);
                    }
                }
                self.terms.app("/", parts)
            }
            ExprKind::Binary(op, ..) => {
                let head = match op {
                    BinaryOp::Iff | BinaryOp::Eq => "=",
                    BinaryOp::Implies => "=>",
                    BinaryOp::Explies => {
                        return Ok(self.terms.app("=>", vec![operands[1], operands[0]]));
                    }
                    BinaryOp::And => "and",
                    BinaryOp::Or => "or",
                    BinaryOp::Ne => "distinct",
                    BinaryOp::Lt => "<",
                    BinaryOp::Le => "<=",
                    BinaryOp::Gt => ">",
                    BinaryOp::Ge => ">=",
                    BinaryOp::Below => return self.unsupported("the order `<:` of constants", span),
                    BinaryOp::Concat => "concat",
                    BinaryOp::Add => "+",
                    BinaryOp::Sub => "-",
                    BinaryOp::Mul => "*",
                    BinaryOp::Slash => "/",
                    BinaryOp::Div => "div",
                    BinaryOp::Percent | BinaryOp::Mod => "mod",
                    BinaryOp::Pow => theory::POWER,
                };
                self.terms.app(head, operands)
            }
            ExprKind::Select { .. } => self.select(operands[0], &operands[1..]),
            ExprKind::Store { .. } => {
                let (value, indices) = match &operands[1..] {
                    [indices @ .., value] => (*value, indices.to_vec()),
                    [] => return self.unsupported("this map update", span),
                };
                self.nested_store(operands[0], &[indices], value)
            }
            ExprKind::Extract { hi, lo, .. } => {
                if hi <= lo {
                    return self.unsupported("an empty range of bits", span);
                }
                let head = format!("(_ extract {} {lo})", hi - 1);
                self.terms.app(&head, operands)
            }
            ExprKind::ToInt(_) => self.terms.app("to_int", operands),
            ExprKind::ToReal(_) => self.terms.app("to_real", operands),
            ExprKind::If { .. } => self.terms.app("ite", operands),
            ExprKind::Quantified(quantified) => self.quantified(id, quantified, operands)?,
            ExprKind::Let(binding) => {
                let vars = checked.bound_vars.get(&id).cloned().unwrap_or_default();
                if vars.len() != binding.values.len() {
                    return self.unsupported("this `let`", span);
                }
                let vars: Vec<(u32, TermId)> =
                    vars.iter().map(|&v| bound_number(v)).zip(operands.iter().copied()).collect();
                self.terms.add(TermKind::Let { vars, body: operands[operands.len() - 1] })
            }
            ExprKind::Var(_) | ExprKind::Old(_) | ExprKind::Coerce { .. } => operands[0],
        };
        Ok(term)
    }

    fn apply(&mut self, id: ExprId, function: Ident, operands: Vec<TermId>) -> Result<TermId, EncodeError> {
        let checked = self.checked;
        let decl = checked.functions.get(&function.symbol).map(|&idx| &checked.program.decls[idx]);
        let Some(decl) = decl else {
            return self.unsupported(format!("the function `{}`", self.name(function.symbol)), function.span);
        };
        match builtin(checked, &decl.attrs).as_deref() {
            Some("MapConst") => {
                let sort = theory::sort(checked, checked.expr_types[id]);
                Ok(self.terms.app(&format!("(as const {sort})"), operands))
            }
            Some(name) if name.starts_with("Map") => {
                self.unsupported(format!("the map operation `{name}`"), function.span)
            }
            Some(name) => Ok(self.terms.app(name, operands)),
            None => Ok(self.terms.app(&function_name(checked.program.text(function.symbol)), operands)),
        }
    }

    fn select(&mut self, map: TermId, indices: &[TermId]) -> TermId {
        indices.iter().fold(map, |map, &index| self.terms.app("select", vec![map, index]))
    }

    /// `map` with `value` at a path of index tuples.
    pub(super) fn nested_store(&mut self, map: TermId, indices: &[Vec<TermId>], value: TermId) -> TermId {
        let path: Vec<TermId> = indices.iter().flatten().copied().collect();
        match path[..] {
            [] => value,
            [index] => self.terms.app("store", vec![map, index, value]),
            _ => {
                // The map is named, because it is mentioned once per index.
                let name = self.fresh_bound;
                self.fresh_bound += 1;
                let named = self.terms.add(TermKind::Bound(name));
                let mut inner = vec![named];
                for &index in &path[..path.len() - 1] {
                    let last = inner[inner.len() - 1];
                    inner.push(self.terms.app("select", vec![last, index]));
                }
                let mut stored = value;
                for (&map, &index) in inner.iter().zip(&path).rev() {
                    stored = self.terms.app("store", vec![map, index, stored]);
                }
                self.terms.add(TermKind::Let { vars: vec![(name, map)], body: stored })
            }
        }
    }

    fn quantified(
        &mut self,
        id: ExprId,
        quantified: &Quantified,
        mut operands: Vec<TermId>,
    ) -> Result<TermId, EncodeError> {
        let checked = self.checked;
        let span = checked.program.exprs[id].span;
        if !quantified.type_params.is_empty() {
            return self.unsupported("a quantifier over types", span);
        }
        let bound = checked.bound_vars.get(&id).cloned().unwrap_or_default();
        let vars: Vec<(u32, Ty)> = bound.iter().map(|&v| (bound_number(v), checked.vars[v].ty)).collect();
        let Some(body) = operands.pop() else { return self.unsupported("this quantifier", span) };
        let mut parts = operands.into_iter();
        let triggers: Vec<Vec<TermId>> =
            quantified.triggers.iter().map(|trigger| parts.by_ref().take(trigger.len()).collect()).collect();
        match quantified.quantifier {
            Quantifier::Forall => {
                if let Some(term) = self.constant_map(&vars, body, quantified.body) {
                    return Ok(term);
                }
                Ok(self.terms.add(TermKind::Quantified { forall: true, vars, triggers, body }))
            }
            Quantifier::Exists => {
                Ok(self.terms.add(TermKind::Quantified { forall: false, vars, triggers, body }))
            }
            Quantifier::Lambda => {
                let numbers: Vec<u32> = vars.iter().map(|&(number, _)| number).collect();
                if !self.terms.mentions_bound(body, &numbers)
                    && let Some(constant) = self.same_everywhere(checked.expr_types[id], body)
                {
                    return Ok(constant);
                }
                Ok(self.any_lambda(checked.expr_types[id], vars, body))
            }
        }
    }

    fn any_lambda(&mut self, ty: Ty, vars: Vec<(u32, Ty)>, body: TermId) -> TermId {
        match self.native_lambda {
            true => self.terms.add(TermKind::Lambda { vars, body }),
            false => self.lambda(ty, vars, body),
        }
    }

    /// A map of this type with one value.
    fn same_everywhere(&mut self, ty: Ty, value: TermId) -> Option<TermId> {
        let TyKind::Map(args, result) = self.checked.types.kind(ty) else { return None };
        let mut sort = theory::sort(self.checked, *result);
        let mut constant = value;
        for &arg in args.iter().rev() {
            sort = format!("(Array {} {sort})", theory::sort(self.checked, arg));
            constant = self.terms.app(&format!("(as const {sort})"), vec![constant]);
        }
        Some(constant)
    }

    /// `(forall i :: m[i] == c)` says that `m` is a constant map, which needs no quantifier.
    fn constant_map(&mut self, vars: &[(u32, Ty)], body: TermId, source: ExprId) -> Option<TermId> {
        let program = &self.checked.program;
        let ExprKind::Binary(BinaryOp::Eq | BinaryOp::Iff, left, right) = program.exprs[source].kind else {
            return None;
        };
        let TermKind::App(_, sides) = self.terms.kind(body).clone() else { return None };
        let [left_term, right_term] = sides[..] else { return None };
        let numbers: Vec<u32> = vars.iter().map(|&(number, _)| number).collect();
        for (side, side_term, other) in [(left, left_term, right_term), (right, right_term, left_term)] {
            let ExprKind::Select { map, indices } = &program.exprs[side].kind else { continue };
            let is_plain = indices.len() == vars.len()
                && indices
                    .iter()
                    .zip(&numbers)
                    .all(|(&index, &number)| self.checked.expr_vars[index].map(bound_number) == Some(number));
            if !is_plain || self.terms.mentions_bound(other, &numbers) {
                continue;
            }
            // The map is the innermost operand of the selections.
            let mut map_term = side_term;
            for _ in indices {
                let TermKind::App(_, args) = self.terms.kind(map_term) else { return None };
                map_term = args[0];
            }
            if self.terms.mentions_bound(map_term, &numbers) {
                continue;
            }
            let ty = self.checked.expr_types[*map];
            let Some(constant) = self.same_everywhere(ty, other) else { continue };
            return Some(self.terms.app("=", vec![map_term, constant]));
        }
        None
    }

    /// A lambda is a function of what it captures, defined by an axiom.
    fn lambda(&mut self, ty: Ty, vars: Vec<(u32, Ty)>, body: TermId) -> TermId {
        let captured = self.terms.vars_of(body);
        let own: Vec<u32> = vars.iter().map(|&(number, _)| number).collect();
        let mut outer: Vec<u32> = Vec::new();
        let mut inner: Vec<u32> = Vec::new();
        self.terms.walk(body, |kind| match kind {
            TermKind::Bound(number) if !own.contains(number) && !outer.contains(number) => {
                outer.push(*number)
            }
            TermKind::Quantified { vars, .. } => inner.extend(vars.iter().map(|&(number, _)| number)),
            TermKind::Let { vars, .. } => inner.extend(vars.iter().map(|&(number, _)| number)),
            _ => {}
        });
        outer.retain(|number| !inner.contains(number));
        let mut params: Vec<(u32, Ty)> = Vec::new();
        let mut args: Vec<TermId> = Vec::new();
        let mut renamed = Vec::new();
        for var in captured {
            let number = self.fresh_bound;
            self.fresh_bound += 1;
            params.push((number, self.vars[var].ty));
            args.push(self.terms.var(var));
            let bound = self.terms.add(TermKind::Bound(number));
            renamed.push((var, bound));
        }
        for number in outer {
            let ty = self.bound_type(number);
            params.push((number, ty));
            args.push(self.terms.add(TermKind::Bound(number)));
        }
        let name = format!("|lambda {}|", self.lambdas.len());
        let definition = self.terms.replace_vars(body, &renamed);
        let formals: Vec<TermId> =
            params.iter().map(|&(number, _)| self.terms.add(TermKind::Bound(number))).collect();
        let map = self.terms.app(&name, formals);
        let indices: Vec<TermId> = own.iter().map(|&n| self.terms.add(TermKind::Bound(n))).collect();
        let selected = self.select(map, &indices);
        let equation = self.terms.app("=", vec![selected, definition]);
        let all: Vec<(u32, Ty)> = params.iter().copied().chain(vars).collect();
        let axiom = self.terms.add(TermKind::Quantified {
            forall: true,
            vars: all,
            triggers: vec![vec![selected]],
            body: equation,
        });
        let types = params.iter().map(|&(_, ty)| ty).collect();
        self.lambdas.push(LambdaFunction { name: name.clone(), params: types, result: ty, axiom });
        self.terms.app(&name, args)
    }

    fn bound_type(&self, number: u32) -> Ty {
        self.checked
            .vars
            .iter_ids()
            .find(|&(var, _): &(VarId, _)| bound_number(var) == number)
            .map_or(Ty::ERROR, |(_, info)| info.ty)
    }
}

/// Digits without leading zeros.
fn numeral(digits: &str) -> &str {
    let trimmed = digits.trim_start_matches('0');
    if trimmed.is_empty() { "0" } else { trimmed }
}

/// A real literal as SMT-LIB text: no exponents there.
pub fn literal_real(text: &str) -> Option<String> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    if exponent.abs() > 10_000 {
        return None;
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = format!("{whole}{fraction}");
    let point = whole.len() as i32 + exponent;
    while (digits.len() as i32) < point {
        digits.push('0');
    }
    let padding = (1 - point).max(0) as usize;
    let digits = format!("{}{digits}", "0".repeat(padding));
    let point = (point + padding as i32) as usize;
    let (whole, fraction) = digits.split_at(point);
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    Some(format!("{}.{fraction}", numeral(whole)))
}

#[cfg(test)]
mod tests {
    use super::literal_real;

    #[test]
    fn reals_are_written_out() {
        for (source, text) in [
            ("1.5", "1.5"),
            ("2e3", "2000.0"),
            ("1.25e1", "12.5"),
            ("5e-3", "0.005"),
            ("0.0", "0.0"),
            ("12.5e-1", "1.25"),
        ] {
            assert_eq!(literal_real(source).as_deref(), Some(text), "{source}");
        }
        assert_eq!(literal_real("1e999999"), None);
    }
}
