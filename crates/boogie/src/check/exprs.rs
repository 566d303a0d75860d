//! Expressions: first what the names mean, walking down with scopes, then what the types are,
//! walking up. Both are loops. Types of polymorphic applications are holes filled by unification.

use allways_base::words::count;
use allways_base::{Diagnostic, Severity, Span, Symbol};
use rustc_hash::FxHashMap;

use super::{Checker, Place, Ty, TyKind, Var, VarId, VarKind, symbols};
use crate::codes;
use crate::tree::*;

/// A step of the walk that resolves names.
enum Walk {
    Enter(ExprId, Place),
    /// Leaves the scope of a binder: this many variables and type parameters go.
    Leave {
        n_vars: usize,
        n_type_params: usize,
    },
    /// The values of a `let` are done; its variables are visible from here on.
    Bind(ExprId),
}

impl Checker {
    pub(super) fn check_bool(&mut self, expr: ExprId, place: Place) {
        self.check_expr(expr, Ty::BOOL, place);
    }

    /// Checks an expression that must have this type, and writes the tables for it.
    pub(super) fn check_expr(&mut self, root: ExprId, wanted: Ty, place: Place) {
        let found = self.infer_expr(root, place);
        self.expect_type(root, found, wanted);
        self.settle(root);
    }

    /// Checks an expression of any type. [`settle`](Self::settle) must follow once the context has
    /// said what it knows about the type.
    pub(super) fn infer_expr(&mut self, root: ExprId, place: Place) -> Ty {
        self.resolve(root, place);
        let order = self.typed_order(root);
        // A variable bound by `let` has the type of its value, which comes before its uses.
        let mut let_values: FxHashMap<ExprId, Vec<VarId>> = FxHashMap::default();
        for &id in &order {
            if let ExprKind::Let(binding) = &self.program.exprs[id].kind {
                for (&value, &var) in binding.values.iter().zip(&self.out.bound_vars[&id]) {
                    let_values.entry(value).or_default().push(var);
                }
            }
        }
        for id in order {
            let ty = self.infer_node(id);
            self.out.expr_types[id] = ty;
            for &var in let_values.get(&id).into_iter().flatten() {
                self.out.vars[var].ty = ty;
            }
        }
        self.out.expr_types[root]
    }

    /// Operands and triggers, children first. Attributes have no types.
    fn typed_order(&self, root: ExprId) -> Vec<ExprId> {
        let mut order = Vec::new();
        for id in self.program.postorder(root) {
            if let ExprKind::Quantified(quantified) = &self.program.exprs[id].kind {
                for &part in quantified.triggers.iter().flatten() {
                    order.extend(self.program.postorder(part));
                }
            }
            order.push(id);
        }
        order
    }

    // -- names

    fn resolve(&mut self, root: ExprId, place: Place) {
        let mut scope: Vec<(Symbol, VarId)> = Vec::new();
        let mut work = vec![Walk::Enter(root, place)];
        while let Some(step) = work.pop() {
            match step {
                Walk::Leave { n_vars, n_type_params } => {
                    scope.truncate(scope.len() - n_vars);
                    self.type_params.truncate(self.type_params.len() - n_type_params);
                }
                Walk::Bind(id) => {
                    for &var in &self.out.bound_vars[&id] {
                        scope.push((self.out.vars[var].name.symbol, var));
                    }
                }
                Walk::Enter(id, place) => self.resolve_node(id, place, &mut scope, &mut work),
            }
        }
    }

    fn resolve_node(
        &mut self,
        id: ExprId,
        place: Place,
        scope: &mut Vec<(Symbol, VarId)>,
        work: &mut Vec<Walk>,
    ) {
        let span = self.program.exprs[id].span;
        match &self.program.exprs[id].kind {
            ExprKind::Var(name) => {
                let name = *name;
                let bound = scope.iter().rev().find(|(bound, _)| *bound == name).map(|&(_, var)| var);
                match bound.or_else(|| self.lookup(name)) {
                    Some(var) => {
                        let is_global =
                            matches!(self.out.vars[var].kind, VarKind::Global | VarKind::ThreadLocal);
                        if is_global && !place.globals {
                            let message = format!(
                                "a function or an axiom cannot read the global variable `{}`",
                                self.text(name)
                            );
                            self.diagnostics.push(
                                Diagnostic::error(codes::MISPLACED_GLOBAL, span, message)
                                    .note("functions and axioms hold in every state, so they cannot read a variable")
                                    .help("pass the value as an argument, or mark the axiom `{:init}`"),
                            );
                        }
                        self.out.expr_vars[id] = Some(var);
                    }
                    None => self.unknown_name(Ident { symbol: name, span }),
                }
            }
            ExprKind::Old(arg) => {
                let arg = *arg;
                if !place.old {
                    let message = "`old` means nothing here: there is only one state";
                    self.error(codes::MISPLACED_OLD, span, message);
                }
                work.push(Walk::Enter(arg, place));
            }
            ExprKind::Quantified(quantified) => {
                let quantified = quantified.clone();
                let type_params = symbols(&quantified.type_params);
                for param in &quantified.type_params {
                    if self.type_params.contains(&param.symbol) {
                        let message =
                            format!("the type parameter `{}` hides another", self.text(param.symbol));
                        self.error(codes::DUPLICATE, param.span, message);
                    }
                }
                self.type_params.extend(&type_params);
                let mut bound = Vec::new();
                for binding in &quantified.vars {
                    let ty = self.convert(binding.ty).unwrap_or(Ty::ERROR);
                    bound.push(self.bind(binding.name, ty, scope, bound.len()));
                }
                work.push(Walk::Leave { n_vars: bound.len(), n_type_params: type_params.len() });
                self.out.bound_vars.insert(id, bound);
                work.push(Walk::Enter(quantified.body, place));
                work.extend(quantified.triggers.iter().flatten().map(|&part| Walk::Enter(part, place)));
            }
            ExprKind::Let(binding) => {
                let binding = binding.clone();
                if binding.names.len() != binding.values.len() {
                    let message = format!(
                        "{} for {}",
                        count(binding.names.len(), "name"),
                        count(binding.values.len(), "value")
                    );
                    self.error(codes::ARITY, span, message);
                }
                // The types of the variables are those of the values, known only on the way up.
                let mut bound = Vec::new();
                for (slot, &name) in binding.names.iter().enumerate() {
                    bound.push(self.out.vars.push(Var { name, ty: Ty::ERROR, kind: VarKind::Bound, slot }));
                }
                work.push(Walk::Leave { n_vars: bound.len(), n_type_params: 0 });
                self.out.bound_vars.insert(id, bound);
                work.push(Walk::Enter(binding.body, place));
                work.push(Walk::Bind(id));
                work.extend(binding.values.iter().rev().map(|&value| Walk::Enter(value, place)));
            }
            ExprKind::Coerce { arg, ty } => {
                // Converted here, where the type parameters of quantifiers are in scope.
                let (arg, ty) = (*arg, *ty);
                if let Some(converted) = self.convert(ty) {
                    self.coercions.insert(ty, converted);
                }
                work.push(Walk::Enter(arg, place));
            }
            _ => self.program.operands(id, |operand| work.push(Walk::Enter(operand, place))),
        }
    }

    fn bind(&mut self, name: Ident, ty: Ty, scope: &mut Vec<(Symbol, VarId)>, n_before: usize) -> VarId {
        let siblings = &scope[scope.len() - n_before..];
        if let Some(&(_, first)) = siblings.iter().find(|(other, _)| *other == name.symbol) {
            let message = format!("the variable `{}` is bound twice", self.text(name.symbol));
            let first = self.out.vars[first].name.span;
            self.diagnostics.push(
                Diagnostic::error(codes::DUPLICATE, name.span, message).also(first, "first bound here"),
            );
        }
        let var = self.out.vars.push(Var { name, ty, kind: VarKind::Bound, slot: n_before });
        scope.push((name.symbol, var));
        var
    }

    // -- types

    fn infer_node(&mut self, id: ExprId) -> Ty {
        let Expr { kind, span } = self.program.exprs[id].clone();
        let ty_of = |ck: &Checker, id: ExprId| ck.out.expr_types[id];
        match kind {
            ExprKind::Bool(_) => Ty::BOOL,
            ExprKind::Int(_) => Ty::INT,
            ExprKind::Real(_) => Ty::REAL,
            ExprKind::Bv { digits, width } => {
                if !fits(self.text(digits), width) {
                    let message = format!("{} does not fit into {width} bits", self.text(digits));
                    self.error(codes::NUMBER, span, message);
                }
                self.out.types.bv(width)
            }
            ExprKind::Text(_) => {
                self.error(codes::TYPE_MISMATCH, span, "strings are allowed only in attributes");
                Ty::ERROR
            }
            ExprKind::Var(_) => match self.out.expr_vars[id] {
                Some(var) => self.out.vars[var].ty,
                None => Ty::ERROR,
            },
            ExprKind::Apply { function, args } => self.infer_apply(id, function, &args),
            ExprKind::Unary(UnaryOp::Not, arg) => {
                self.expect_type(arg, ty_of(self, arg), Ty::BOOL);
                Ty::BOOL
            }
            ExprKind::Unary(UnaryOp::Neg, arg) => self.expect_number(arg),
            ExprKind::Binary(op, left, right) => self.infer_binary(op, left, right),
            ExprKind::Select { map, indices } => self.infer_select(map, &indices, span),
            ExprKind::Store { map, indices, value } => {
                let result = self.infer_select(map, &indices, span);
                self.expect_type(value, ty_of(self, value), result);
                ty_of(self, map)
            }
            ExprKind::Extract { arg, hi, lo } => {
                let width = self.expect_bv(arg);
                if hi < lo || width.is_some_and(|width| hi > width) {
                    let message = match width {
                        Some(width) if lo <= hi => {
                            format!(
                                "the bit range [{hi}:{lo}] does not fit a bitvector of {}",
                                count(width as usize, "bit")
                            )
                        }
                        _ => format!("the bit range [{hi}:{lo}] ends before it begins"),
                    };
                    self.error(codes::TYPE_MISMATCH, span, message);
                    return Ty::ERROR;
                }
                self.out.types.bv(hi - lo)
            }
            ExprKind::Coerce { arg, ty } => match self.coercions.get(&ty).copied() {
                Some(ty) => {
                    self.expect_type(arg, ty_of(self, arg), ty);
                    ty
                }
                None => Ty::ERROR,
            },
            ExprKind::Old(arg) => ty_of(self, arg),
            ExprKind::ToInt(arg) => {
                self.expect_type(arg, ty_of(self, arg), Ty::REAL);
                Ty::INT
            }
            ExprKind::ToReal(arg) => {
                self.expect_type(arg, ty_of(self, arg), Ty::INT);
                Ty::REAL
            }
            ExprKind::If { cond, then, otherwise } => {
                self.expect_type(cond, ty_of(self, cond), Ty::BOOL);
                self.expect_same(then, otherwise)
            }
            ExprKind::Quantified(quantified) => {
                let body_ty = ty_of(self, quantified.body);
                if quantified.quantifier == Quantifier::Lambda {
                    if !quantified.type_params.is_empty() {
                        self.error(codes::UNSUPPORTED, span, "polymorphic lambdas are not supported");
                        return Ty::ERROR;
                    }
                    let args = self.out.bound_vars[&id].iter().map(|&var| self.out.vars[var].ty).collect();
                    return self.out.types.intern(TyKind::Map(args, body_ty));
                }
                self.expect_type(quantified.body, body_ty, Ty::BOOL);
                Ty::BOOL
            }
            ExprKind::Let(binding) => ty_of(self, binding.body),
        }
    }

    fn infer_apply(&mut self, id: ExprId, name: Ident, args: &[ExprId]) -> Ty {
        let Some(&decl_idx) = self.out.functions.get(&name.symbol) else {
            let message = format!("there is no function `{}`", self.text(name.symbol));
            let mut diagnostic = Diagnostic::error(codes::UNKNOWN_FUNCTION, name.span, message);
            if self.out.procedures.contains_key(&name.symbol) {
                diagnostic = diagnostic.help("a procedure is called by a statement: `call x := ..`");
            }
            self.diagnostics.push(diagnostic);
            return Ty::ERROR;
        };
        let DeclKind::Function(function) = self.program.decls[decl_idx].kind.clone() else {
            return Ty::ERROR;
        };
        if function.params.len() != args.len() {
            let message = format!(
                "`{}` takes {}, but gets {}",
                self.text(name.symbol),
                count(function.params.len(), "argument"),
                args.len()
            );
            self.diagnostics.push(
                Diagnostic::error(codes::ARITY, name.span, message).also(function.name.span, "declared here"),
            );
            return Ty::ERROR;
        }
        let holes = self.fresh_holes(&function.type_params);
        let saved = std::mem::replace(&mut self.type_params, symbols(&function.type_params));
        let params: Vec<Option<Ty>> = function.params.iter().map(|p| self.convert(p.ty)).collect();
        let result = self.convert(function.result.ty);
        self.type_params = saved;
        for (&arg, param) in args.iter().zip(params) {
            if let Some(param) = param {
                let wanted = self.instantiate(param, &holes);
                let found = self.out.expr_types[arg];
                self.expect_type(arg, found, wanted);
            }
        }
        if !function.type_params.is_empty() {
            let list = function.type_params.iter().map(|param| holes[&param.symbol]).collect();
            self.out.apply_types.insert(id, list);
        }
        match result {
            Some(result) => self.instantiate(result, &holes),
            None => Ty::ERROR,
        }
    }

    pub(super) fn fresh_holes(&mut self, type_params: &[Ident]) -> FxHashMap<Symbol, Ty> {
        type_params
            .iter()
            .map(|param| {
                self.holes.push(None);
                let hole = TyKind::Infer(self.holes.len() as u32 - 1);
                (param.symbol, self.out.types.intern(hole))
            })
            .collect()
    }

    fn infer_binary(&mut self, op: BinaryOp, left: ExprId, right: ExprId) -> Ty {
        let left_ty = self.out.expr_types[left];
        let right_ty = self.out.expr_types[right];
        match op {
            BinaryOp::Iff | BinaryOp::Implies | BinaryOp::Explies | BinaryOp::And | BinaryOp::Or => {
                self.expect_type(left, left_ty, Ty::BOOL);
                self.expect_type(right, right_ty, Ty::BOOL);
                Ty::BOOL
            }
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Below => {
                self.expect_same(left, right);
                Ty::BOOL
            }
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                if self.expect_number(left) != Ty::ERROR {
                    self.expect_same(left, right);
                }
                Ty::BOOL
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Pow => {
                let ty = self.expect_number(left);
                if ty == Ty::ERROR { ty } else { self.expect_same(left, right) }
            }
            // Of integers too; `div` is the division with remainder.
            BinaryOp::Slash => {
                let (left, right) = (self.expect_number(left), self.expect_number(right));
                if left == Ty::ERROR || right == Ty::ERROR { Ty::ERROR } else { Ty::REAL }
            }
            BinaryOp::Percent | BinaryOp::Div | BinaryOp::Mod => {
                self.expect_type(left, left_ty, Ty::INT);
                self.expect_type(right, right_ty, Ty::INT);
                Ty::INT
            }
            BinaryOp::Concat => match (self.expect_bv(left), self.expect_bv(right)) {
                (Some(a), Some(b)) if a.checked_add(b).is_some() => self.out.types.bv(a + b),
                _ => Ty::ERROR,
            },
        }
    }

    /// `int` or `real`; a hole becomes `int`.
    fn expect_number(&mut self, arg: ExprId) -> Ty {
        let ty = self.resolved(self.out.expr_types[arg]);
        match self.out.types.kind(ty) {
            TyKind::Int | TyKind::Real | TyKind::Error => ty,
            TyKind::Infer(_) => {
                self.expect_type(arg, ty, Ty::INT);
                Ty::INT
            }
            TyKind::Bool | TyKind::Bv(_) | TyKind::Con(..) | TyKind::Map(..) | TyKind::Param(_) => {
                let span = self.program.exprs[arg].span;
                let is_bv = matches!(self.out.types.kind(ty), TyKind::Bv(_));
                let message = format!("expected a number, found {}", self.show(ty));
                let mut diagnostic = Diagnostic::error(codes::TYPE_MISMATCH, span, message);
                if is_bv {
                    diagnostic =
                        diagnostic.help("arithmetic on bitvectors needs functions marked `{:bvbuiltin}`");
                }
                self.diagnostics.push(diagnostic);
                Ty::ERROR
            }
        }
    }

    fn expect_bv(&mut self, arg: ExprId) -> Option<u32> {
        let ty = self.resolved(self.out.expr_types[arg]);
        match self.out.types.kind(ty) {
            TyKind::Bv(width) => Some(*width),
            TyKind::Error => None,
            _ => {
                let span = self.program.exprs[arg].span;
                let message = format!("expected a bitvector, found {}", self.show(ty));
                self.error(codes::TYPE_MISMATCH, span, message);
                None
            }
        }
    }

    fn infer_select(&mut self, map: ExprId, indices: &[ExprId], span: Span) -> Ty {
        let map_ty = self.out.expr_types[map];
        let found: Vec<(ExprId, Ty)> = indices.iter().map(|&i| (i, self.out.expr_types[i])).collect();
        let map_span = self.program.exprs[map].span;
        self.select_type(map_ty, map_span, &found, span)
    }

    /// The type of an element, after the indices have been checked.
    pub(super) fn select_type(
        &mut self,
        map_ty: Ty,
        map_span: Span,
        indices: &[(ExprId, Ty)],
        span: Span,
    ) -> Ty {
        let map_ty = self.resolved(map_ty);
        let (args, result) = match self.out.types.kind(map_ty).clone() {
            TyKind::Map(args, result) => (args, result),
            TyKind::Error => return Ty::ERROR,
            _ => {
                let message = format!("this has type {} and cannot be indexed", self.show(map_ty));
                self.error(codes::NOT_A_MAP, map_span, message);
                return Ty::ERROR;
            }
        };
        if args.len() != indices.len() {
            let message = format!(
                "this map has {}, but gets {}",
                count(args.len(), "dimension"),
                count(indices.len(), "argument")
            );
            self.error(codes::ARITY, span, message);
            return result;
        }
        for (&(index, found), wanted) in indices.iter().zip(args) {
            self.expect_type(index, found, wanted);
        }
        result
    }

    /// Two expressions of one type, which is returned.
    fn expect_same(&mut self, left: ExprId, right: ExprId) -> Ty {
        let (left_ty, right_ty) = (self.out.expr_types[left], self.out.expr_types[right]);
        let is = |ck: &Checker, ty: Ty, wanted: Ty| ck.resolved(ty) == wanted;
        if is(self, left_ty, Ty::REAL) && is(self, right_ty, Ty::INT) && self.read_as_div(left) {
            return Ty::INT;
        }
        self.expect_type(right, right_ty, left_ty);
        left_ty
    }

    /// Old programs write `/` for the division of integers with remainder. Where its result has to be an integer, nothing
    /// else can be meant, so it is read as `div`. Returns whether `root` is an integer then.
    fn read_as_div(&mut self, root: ExprId) -> bool {
        let mut work = vec![root];
        let (mut divisions, mut others) = (Vec::new(), Vec::new());
        while let Some(id) = work.pop() {
            if self.resolved(self.out.expr_types[id]) == Ty::INT {
                continue;
            }
            match self.program.exprs[id].kind {
                ExprKind::Binary(BinaryOp::Slash, left, right) => {
                    divisions.push(id);
                    work.extend([left, right]);
                }
                ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, left, right)
                | ExprKind::If { then: left, otherwise: right, .. } => {
                    others.push(id);
                    work.extend([left, right]);
                }
                ExprKind::Unary(UnaryOp::Neg, arg) | ExprKind::Old(arg) => {
                    others.push(id);
                    work.push(arg);
                }
                _ => return false,
            }
        }
        for &id in &divisions {
            if let ExprKind::Binary(op, ..) = &mut self.program.exprs[id].kind {
                *op = BinaryOp::Div;
            }
            let message = "`/` divides reals, but an integer is needed here; it is read as `div`";
            self.diagnostics.push(
                Diagnostic::new(Severity::Warning, codes::OLD_DIVISION, message)
                    .at(self.program.exprs[id].span, "")
                    .help("write `div` for the division of integers"),
            );
        }
        for id in divisions.into_iter().chain(others) {
            self.out.expr_types[id] = Ty::INT;
        }
        true
    }

    pub(super) fn expect_type(&mut self, expr: ExprId, found: Ty, wanted: Ty) {
        let is_division = self.resolved(found) == Ty::REAL && self.resolved(wanted) == Ty::INT;
        if is_division && self.read_as_div(expr) {
            return;
        }
        if !self.unify(found, wanted) {
            let (found, wanted) = (self.resolved_deep(found), self.resolved_deep(wanted));
            let span = self.program.exprs[expr].span;
            let message = format!("expected {}, found {}", self.show(wanted), self.show(found));
            self.error(codes::TYPE_MISMATCH, span, message);
        }
    }

    /// Makes the two types equal by filling holes, if that is possible.
    pub(super) fn unify(&mut self, a: Ty, b: Ty) -> bool {
        let mut work = vec![(a, b)];
        while let Some((a, b)) = work.pop() {
            let (a, b) = (self.resolved(a), self.resolved(b));
            if a == b {
                continue;
            }
            match (self.out.types.kind(a).clone(), self.out.types.kind(b).clone()) {
                (TyKind::Error, _) | (_, TyKind::Error) => {}
                (TyKind::Infer(hole), _) => {
                    if self.occurs(hole, b) {
                        return false;
                    }
                    self.holes[hole as usize] = Some(b);
                }
                (_, TyKind::Infer(hole)) => {
                    if self.occurs(hole, a) {
                        return false;
                    }
                    self.holes[hole as usize] = Some(a);
                }
                (TyKind::Con(f, xs), TyKind::Con(g, ys)) if f == g && xs.len() == ys.len() => {
                    work.extend(xs.into_iter().zip(ys));
                }
                (TyKind::Map(xs, x), TyKind::Map(ys, y)) if xs.len() == ys.len() => {
                    work.extend(xs.into_iter().zip(ys));
                    work.push((x, y));
                }
                _ => return false,
            }
        }
        true
    }

    fn occurs(&mut self, hole: u32, ty: Ty) -> bool {
        let ty = self.resolved_deep(ty);
        self.out.types.contains(ty, &|kind| *kind == TyKind::Infer(hole))
    }

    /// The type with a filled hole at its top replaced.
    pub(super) fn resolved(&self, mut ty: Ty) -> Ty {
        while let TyKind::Infer(hole) = self.out.types.kind(ty)
            && let Some(filled) = self.holes[*hole as usize]
        {
            ty = filled;
        }
        ty
    }

    pub(super) fn resolved_deep(&mut self, ty: Ty) -> Ty {
        let holes = &self.holes;
        self.out.types.substitute(ty, &|kind| match kind {
            TyKind::Infer(hole) => holes[*hole as usize],
            _ => None,
        })
    }

    /// Replaces the holes in the tables of this expression by what filled them.
    pub(super) fn settle(&mut self, root: ExprId) {
        for id in self.typed_order(root) {
            self.out.expr_types[id] = self.resolved_deep(self.out.expr_types[id]);
            let Some(args) = self.out.apply_types.get(&id).cloned() else { continue };
            let args: Vec<Ty> = args.into_iter().map(|arg| self.resolved_deep(arg)).collect();
            if args.iter().any(|&arg| self.is_open(arg)) {
                let span = self.program.exprs[id].span;
                self.diagnostics.push(
                    Diagnostic::error(
                        codes::AMBIGUOUS_TYPE,
                        span,
                        "the type arguments of this call cannot be inferred",
                    )
                    .help("give the type of the result: `f(x): T`"),
                );
            }
            self.out.apply_types.insert(id, args);
        }
    }

    pub(super) fn is_open(&self, ty: Ty) -> bool {
        self.out.types.contains(ty, &|kind| matches!(kind, TyKind::Infer(_)))
    }
}

/// Whether a decimal number is below two to the power of `width`.
fn fits(digits: &str, width: u32) -> bool {
    // Each decimal digit takes more than three bits, so long numbers are out without computing.
    let digits = digits.trim_start_matches('0');
    if digits.len() as u64 * 3 > u64::from(width) + 3 {
        return digits.is_empty();
    }
    if digits.len() as u64 * 4 <= u64::from(width) {
        return true;
    }
    // Near the limit: halve the number `width` times and see whether anything is left.
    let mut number: Vec<u8> = digits.bytes().map(|b| b - b'0').collect();
    for _ in 0..width {
        let mut carry = 0;
        for digit in &mut number {
            let value = carry * 10 + *digit;
            *digit = value / 2;
            carry = value % 2;
        }
    }
    number.iter().all(|&digit| digit == 0)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn literals_fit_exactly() {
        for (digits, width, expected) in [
            ("0", 0, true),
            ("1", 0, false),
            ("0001", 1, true),
            ("2", 1, false),
            ("255", 8, true),
            ("256", 8, false),
            ("18446744073709551615", 64, true),
            ("18446744073709551616", 64, false),
        ] {
            assert_eq!(fits(digits, width), expected, "{digits}bv{width}");
        }
    }
}
