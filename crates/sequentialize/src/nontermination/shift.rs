//! Loops that repeat up to a uniform shift of marked numbers, as the proposal numbers of Paxos do.
//!
//! Globals and parameters marked `{:shift}` hold numbers that a turn of the loop may increase by one common amount. Emmi and
//! Lal (2012, section 4.3) relate globals only; pending tasks have to be shifted as well, or the loop never closes.

use std::collections::BTreeSet;

use allways_base::{Span, Symbol};
use allways_boogie::check::{Checked, Ty, TyKind, VarId, VarKind};
use allways_boogie::dialect::AsyncOp;
use allways_boogie::interp::Code;
use allways_boogie::tree::*;
use allways_boogie::walk::BodyOf;
use rustc_hash::FxHashMap;

use crate::build::Builder;

/// Whether attributes mark what they stand at.
pub fn is_marked(program: &Program, attrs: &[Attr]) -> bool {
    program.has_attr(attrs, "shift")
}

/// Whether a global is marked.
pub fn is_marked_global(checked: &Checked, var: VarId) -> bool {
    let name = checked.vars[var].name.symbol;
    checked.program.decls.iter().any(|decl| {
        matches!(&decl.kind, DeclKind::Var(binding) if binding.name.symbol == name
            && (is_marked(&checked.program, &decl.attrs) || is_marked(&checked.program, &binding.attrs)))
    })
}

/// Whether values of a type are numbers, or maps to numbers.
pub fn can_shift(checked: &Checked, ty: Ty) -> bool {
    match checked.types.kind(ty) {
        TyKind::Int => true,
        TyKind::Map(_, result) => *result == Ty::INT,
        _ => false,
    }
}

/// `after` is `before` plus `amount`, for maps at every index.
pub(super) fn shifted_by(
    build: &mut Builder,
    checked: &Checked,
    var: VarId,
    after: Symbol,
    before: Symbol,
    amount: Symbol,
) -> ExprId {
    let TyKind::Map(args, _) = checked.types.kind(checked.vars[var].ty).clone() else {
        let (after, before) = (build.var(after), build.var(before));
        return plus(build, after, before, amount);
    };
    let at = |build: &mut Builder, map: Symbol, indices: &[ExprId]| {
        let map = build.var(map);
        build.program.add_expr(ExprKind::Select { map, indices: indices.to_vec() }, build.span)
    };
    if args.iter().all(|&arg| arg == Ty::BOOL) && args.len() <= 4 {
        // Few indices: no quantifier.
        let mut parts = Vec::new();
        for bits in 0..1u32 << args.len() {
            let indices: Vec<ExprId> =
                (0..args.len()).map(|position| build.bool(bits >> position & 1 == 1)).collect();
            let (after, before) = (at(build, after, &indices), at(build, before, &indices));
            parts.push(plus(build, after, before, amount));
        }
        return build.and(&parts);
    }
    let mut vars = Vec::new();
    for &arg in &args {
        let name = build.fresh("index");
        let ty = build.type_of(checked, arg);
        vars.push(build.binding(name, ty));
    }
    let indices: Vec<ExprId> = vars
        .iter()
        .map(|v| v.name.symbol)
        .collect::<Vec<_>>()
        .into_iter()
        .map(|name| build.var(name))
        .collect();
    let (after, before) = (at(build, after, &indices), at(build, before, &indices));
    let body = plus(build, after, before, amount);
    let quantified = Quantified {
        quantifier: Quantifier::Forall,
        type_params: Vec::new(),
        vars,
        attrs: Vec::new(),
        triggers: Vec::new(),
        body,
    };
    build.program.add_expr(ExprKind::Quantified(Box::new(quantified)), build.span)
}

fn plus(build: &mut Builder, after: ExprId, before: ExprId, amount: Symbol) -> ExprId {
    let amount = build.var(amount);
    let sum = build.binary(BinaryOp::Add, before, amount);
    build.eq(after, sum)
}

/// Which parameters of a procedure are marked, in order.
pub fn marked_params(code: &Code, procedure: usize) -> Vec<bool> {
    let (program, lowered) = (&code.checked.program, &code.procedures[procedure]);
    match program.procedure(lowered.name) {
        Some((_, declared)) => declared.params.iter().map(|param| is_marked(program, &param.attrs)).collect(),
        None => vec![false; lowered.n_params],
    }
}

/// What keeps a loop from repeating for ever although one turn shifts all marked values alike.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Obstacle {
    pub span: Span,
    pub what: &'static str,
}

/// Whether executed statements commute with shifting the marked values: then a run of them from a shifted state is the
/// same run, shifted, and a loop that shifts once does so for ever.
///
/// Marked values may be copied to marked places, moved by what is not marked, and compared or subtracted with each other;
/// nothing else may depend on them. Locals are marked if they receive marked values. Only what was executed counts: a
/// branch that the loop does not take may do what it likes, since its guard commutes.
///
/// # Errors
/// The first statement that does not commute.
pub fn commutes(code: &Code, executed: &BTreeSet<StmtId>) -> Result<(), Obstacle> {
    let checked = &code.checked;
    let mut marks = Marks { checked, shifted: BTreeSet::new(), decl_of: FxHashMap::default() };
    marks.shifted.extend(checked.globals.iter().copied().filter(|&var| is_marked_global(checked, var)));
    for (decl_idx, decl) in checked.program.decls.iter().enumerate() {
        let params = match &decl.kind {
            DeclKind::Procedure(procedure) => &procedure.params,
            DeclKind::Implementation(implementation) => &implementation.params,
            _ => continue,
        };
        // Names and marks of parameters are those of the procedure, in implementations by position.
        let declared = match &decl.kind {
            DeclKind::Implementation(i) => checked.program.procedure(i.name.symbol).map(|(_, p)| &p.params),
            _ => Some(params),
        };
        let frame = checked.frames.get(&decl_idx).cloned().unwrap_or_default();
        for (&var, param) in frame.vars.iter().zip(declared.into_iter().flatten()) {
            if is_marked(&checked.program, &param.attrs) {
                marks.shifted.insert(var);
            }
        }
    }
    for BodyOf { decl_idx, body, .. } in checked.program.bodies() {
        for stmt in checked.program.stmts_below(&body.block) {
            marks.decl_of.insert(stmt, decl_idx);
        }
    }
    // Marks of locals only grow.
    while executed.iter().any(|&stmt| marks.spread(stmt)) {}
    executed.iter().try_for_each(|&stmt| marks.check(stmt))
}

struct Marks<'a> {
    checked: &'a Checked,
    shifted: BTreeSet<VarId>,
    /// The declaration that a statement is in.
    decl_of: FxHashMap<StmtId, usize>,
}

impl Marks<'_> {
    fn var(&self, stmt: StmtId, name: Symbol) -> Option<VarId> {
        self.checked.var_in(*self.decl_of.get(&stmt)?, name)
    }

    /// The values that a statement moves, with the variables that receive them.
    fn flows(&self, stmt: StmtId) -> Vec<(VarId, Source)> {
        let checked = self.checked;
        let mut flows = Vec::new();
        match &checked.program.stmts[stmt].kind {
            StmtKind::Assign { lhs, rhs } => {
                for (lhs, &rhs) in lhs.iter().zip(rhs) {
                    flows.extend(self.var(stmt, lhs.name.symbol).map(|var| (var, Source::Expr(rhs))));
                }
            }
            StmtKind::Call(call) => {
                let is_post = matches!(checked.async_op(stmt), Some(AsyncOp::Post(_)));
                let callee = call.callee.symbol;
                let implementations = checked.implementations.get(&callee).into_iter().flatten();
                for decl_idx in checked.procedures.get(&callee).into_iter().chain(implementations) {
                    let Some(frame) = checked.frames.get(decl_idx) else { continue };
                    for (&param, &arg) in frame.vars.iter().take(frame.n_params).zip(&call.args) {
                        flows.push((param, Source::Expr(arg)));
                    }
                    let results = frame.vars.iter().skip(frame.n_params).take(frame.n_results);
                    for (&result, out) in results.zip(&call.outs).filter(|_| !is_post) {
                        let target = out.and_then(|out| self.var(stmt, out.symbol));
                        flows.extend(target.map(|target| (target, Source::Var(result))));
                    }
                }
            }
            _ => {}
        }
        flows
    }

    /// Marks locals that receive marked values; true if one is new.
    fn spread(&mut self, stmt: StmtId) -> bool {
        // Pending tasks are compared by the marks that are written.
        if matches!(self.checked.async_op(stmt), Some(AsyncOp::Post(_))) {
            return false;
        }
        let mut is_new = false;
        for (target, source) in self.flows(stmt) {
            let is_local =
                matches!(self.checked.vars[target].kind, VarKind::Local | VarKind::Result | VarKind::Param);
            let is_shifted = match source {
                Source::Expr(expr) => self.mark(expr) == Ok(true),
                Source::Var(var) => self.shifted.contains(&var),
            };
            is_new |= is_local && is_shifted && self.shifted.insert(target);
        }
        is_new
    }

    fn check(&self, stmt: StmtId) -> Result<(), Obstacle> {
        let program = &self.checked.program;
        let span = program.stmts[stmt].span;
        for expr in program.stmt_exprs(stmt) {
            self.mark(expr)?;
        }
        match &program.stmts[stmt].kind {
            StmtKind::Assign { lhs, .. } => {
                for index in lhs.iter().flat_map(|lhs| lhs.indices.iter().flatten()) {
                    self.plain(*index)?;
                }
            }
            StmtKind::If { arms, .. } => {
                arms.iter().filter_map(|arm| arm.guard).try_for_each(|guard| self.plain(guard))?;
            }
            StmtKind::Call(call) => {
                if let Some((_, procedure)) = program.procedure(call.callee.symbol) {
                    for spec in &procedure.specs {
                        if let SpecKind::Requires(expr) | SpecKind::Ensures(expr) = spec.kind {
                            self.plain(expr)?;
                        }
                    }
                }
            }
            StmtKind::Havoc(names) => {
                for name in names {
                    let var = self.var(stmt, name.symbol);
                    var.and_then(|var| self.where_of(stmt, var))
                        .map_or(Ok(()), |clause| self.plain(clause))?;
                }
            }
            _ => {}
        }
        for (target, source) in self.flows(stmt) {
            let is_shifted = match source {
                Source::Expr(expr) => self.mark(expr)?,
                Source::Var(var) => self.shifted.contains(&var),
            };
            if is_shifted != self.shifted.contains(&target) {
                let what = match is_shifted {
                    true => "stores a number that shifts in a place that is not marked",
                    false => "stores a number that does not shift in a marked place",
                };
                return Err(Obstacle { span, what });
            }
        }
        Ok(())
    }

    fn where_of(&self, stmt: StmtId, var: VarId) -> Option<ExprId> {
        let (checked, name) = (self.checked, self.checked.vars[var].name.symbol);
        if checked.vars[var].kind == VarKind::Global {
            return checked.program.decls.iter().find_map(|decl| match &decl.kind {
                DeclKind::Var(binding) if binding.name.symbol == name => binding.where_clause,
                _ => None,
            });
        }
        let found = checked.program.body_in(*self.decl_of.get(&stmt)?)?;
        found.bindings().find(|binding| binding.name.symbol == name)?.where_clause
    }

    fn plain(&self, expr: ExprId) -> Result<(), Obstacle> {
        match self.mark(expr)? {
            false => Ok(()),
            true => Err(Obstacle {
                span: self.checked.program.exprs[expr].span,
                what: "depends on a number that shifts",
            }),
        }
    }

    /// Whether the value of an expression shifts with the marked variables.
    fn mark(&self, root: ExprId) -> Result<bool, Obstacle> {
        let program = &self.checked.program;
        let mut marks: FxHashMap<ExprId, bool> = FxHashMap::default();
        for id in program.postorder(root) {
            let of = |id: &ExprId| marks.get(id).copied().unwrap_or(false);
            let all_plain = |ids: &[ExprId]| !ids.iter().any(of);
            let mark = match &program.exprs[id].kind {
                ExprKind::Bool(_)
                | ExprKind::Int(_)
                | ExprKind::Real(_)
                | ExprKind::Bv { .. }
                | ExprKind::Text(_) => Some(false),
                ExprKind::Var(_) => {
                    Some(self.checked.expr_vars[id].is_some_and(|var| self.shifted.contains(&var)))
                }
                ExprKind::Binary(BinaryOp::Add, left, right) => {
                    (!(of(left) && of(right))).then(|| of(left) || of(right))
                }
                ExprKind::Binary(BinaryOp::Sub, left, right) => {
                    (of(left) || !of(right)).then(|| of(left) != of(right))
                }
                ExprKind::Binary(
                    BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge,
                    left,
                    right,
                ) => (of(left) == of(right)).then_some(false),
                ExprKind::Binary(_, left, right) => all_plain(&[*left, *right]).then_some(false),
                ExprKind::Select { map, indices } => all_plain(indices).then(|| of(map)),
                ExprKind::Store { map, indices, value } => {
                    (all_plain(indices) && of(map) == of(value)).then(|| of(map))
                }
                ExprKind::If { cond, then, otherwise } => {
                    (!of(cond) && of(then) == of(otherwise)).then(|| of(then))
                }
                ExprKind::Old(arg) | ExprKind::Coerce { arg, .. } => Some(of(arg)),
                ExprKind::Unary(_, arg)
                | ExprKind::Extract { arg, .. }
                | ExprKind::ToInt(arg)
                | ExprKind::ToReal(arg) => (!of(arg)).then_some(false),
                ExprKind::Apply { args, .. } => all_plain(args).then_some(false),
                ExprKind::Quantified(quantified) => match quantified.quantifier {
                    Quantifier::Lambda => Some(of(&quantified.body)),
                    Quantifier::Forall | Quantifier::Exists => (!of(&quantified.body)).then_some(false),
                },
                ExprKind::Let(binding) => all_plain(&binding.values).then(|| of(&binding.body)),
            };
            let Some(mark) = mark else {
                let span = program.exprs[id].span;
                return Err(Obstacle { span, what: "mixes numbers that shift with others" });
            };
            marks.insert(id, mark);
        }
        Ok(marks.get(&root).copied().unwrap_or(false))
    }
}

/// Where a value comes from.
enum Source {
    Expr(ExprId),
    Var(VarId),
}

#[cfg(test)]
mod tests {
    use super::*;
    use allways_base::FileId;
    use allways_boogie::interp::{Preemption, lower};
    use allways_boogie::{analyze, entry_point};

    /// Whether all statements of `p` commute.
    fn all_commute(body: &str) -> Result<(), &'static str> {
        let text = format!(
            "var {{:shift}} n: int; var {{:shift}} m: [bool]int; var c: int; var b: bool; const k: int;
             procedure main() {{ async call p(0); }}
             procedure p({{:shift}} a: int) {{ var x: int; {body} }}
             procedure q({{:shift}} a: int, i: int) {{ }} procedure id(v: int) returns (r: int) {{ r := v; }}"
        );
        let (checked, diagnostics) = analyze(FileId::from_u32(0), &text);
        let checked = checked.unwrap_or_else(|| panic!("{diagnostics:?}"));
        let entry = entry_point(&checked.program, None).unwrap_or_else(|d| panic!("{}", d.message));
        let code = lower(checked, entry, Preemption::Serial).unwrap_or_else(|limit| panic!("{limit}"));
        let program = &code.checked.program;
        let executed = program
            .bodies()
            .filter(|found| program.text(found.procedure) != "main")
            .flat_map(|found| program.stmts_below(&found.body.block))
            .collect();
        commutes(&code, &executed).map_err(|obstacle| obstacle.what)
    }

    #[test]
    fn copies_moves_and_comparisons_commute() {
        for body in [
            "n := n + 1; m[b] := n; c := c + 1;",
            "x := n; n := x + c; if (m[true] <= a) { async call q(x, c); }",
            "c := n - m[b]; assume a == n;",
            "call x := id(n); n := x;",
            "havoc n; assume n > a;",
            "n := if b then n else m[b];",
        ] {
            assert_eq!(all_commute(body), Ok(()), "{body}");
        }
    }

    #[test]
    fn other_uses_do_not() {
        for body in [
            "if (n < 100) { n := n + 1; }",
            "c := n;",
            "n := 0;",
            "n := n + a;",
            "n := c - n;",
            "n := n * 2;",
            "async call q(c, c);",
            "async call q(n, n);",
            "assume n mod 2 == 0;",
            "x := n; c := x;",
            "call x := id(n); c := x;",
            "call x := id(n); n := x; call x := id(c);",
        ] {
            assert!(all_commute(body).is_err(), "{body}");
        }
    }
}
