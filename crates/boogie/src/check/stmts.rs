//! Statements: what is assigned, called and assumed.

use allways_base::words::count;
use allways_base::{Diagnostic, Span, Symbol};
use rustc_hash::FxHashMap;

use super::{Checker, Place, Ty, VarKind};
use crate::codes;
use crate::tree::*;

impl Checker {
    pub(super) fn check_body(&mut self, body: &Body) {
        for clause in body.locals.iter().filter_map(|local| local.where_clause) {
            self.check_bool(clause, Place::ONE_STATE);
        }
        for stmt in self.program.stmts_below(&body.block) {
            self.check_stmt(stmt);
        }
        self.check_jumps(&body.block);
    }

    fn check_stmt(&mut self, id: StmtId) {
        let Stmt { kind, span } = self.program.stmts[id].clone();
        match &kind {
            StmtKind::Assert { expr, .. } => self.check_bool(*expr, Place::TWO_STATE),
            StmtKind::Assume { expr, .. } => {
                self.check_bool(*expr, Place::TWO_STATE);
                self.check_async(id);
            }
            StmtKind::Havoc(names) => {
                for &name in names {
                    self.target(name);
                }
            }
            StmtKind::Assign { lhs, rhs } => self.check_assign(lhs, rhs, span),
            StmtKind::Call(call) => self.check_call(id, call),
            StmtKind::If { arms, .. } => {
                for guard in arms.iter().filter_map(|arm| arm.guard) {
                    self.check_bool(guard, Place::TWO_STATE);
                }
            }
            StmtKind::While { guard, invariants, .. } => {
                for expr in guard.iter().copied().chain(invariants.iter().map(|i| i.expr)) {
                    self.check_bool(expr, Place::TWO_STATE);
                }
            }
            StmtKind::Label(_)
            | StmtKind::Yield
            | StmtKind::Break(_)
            | StmtKind::Goto(_)
            | StmtKind::Return => {}
        }
    }

    /// The type of a variable that is about to be written; [`Ty::ERROR`] after a report.
    pub(super) fn target(&mut self, name: Ident) -> Ty {
        let Some(var) = self.lookup(name.symbol) else {
            self.unknown_name(name);
            return Ty::ERROR;
        };
        let var = self.out.vars[var].clone();
        let what = match var.kind {
            VarKind::Const => "constant",
            VarKind::Param => "input parameter",
            VarKind::Global | VarKind::ThreadLocal | VarKind::Result | VarKind::Local | VarKind::Bound => {
                return var.ty;
            }
        };
        let message = format!("the {what} `{}` cannot be assigned", self.text(name.symbol));
        self.diagnostics.push(
            Diagnostic::error(codes::NOT_ASSIGNABLE, name.span, message)
                .also(var.name.span, "declared here")
                .help("copy it to a local variable and assign that"),
        );
        var.ty
    }

    fn distinct_targets(&mut self, names: impl Iterator<Item = Ident>) {
        let mut seen: FxHashMap<Symbol, Span> = FxHashMap::default();
        for name in names {
            if let Some(first) = seen.insert(name.symbol, name.span) {
                let message = format!("`{}` is assigned twice by one statement", self.text(name.symbol));
                self.diagnostics.push(
                    Diagnostic::error(codes::REPEATED_TARGET, name.span, message)
                        .also(first, "first assigned here"),
                );
            }
        }
    }

    fn check_assign(&mut self, lhs: &[Lhs], rhs: &[ExprId], span: Span) {
        if lhs.len() != rhs.len() {
            let message = format!(
                "the assignment has {} on the left, but {} on the right",
                count(lhs.len(), "variable"),
                count(rhs.len(), "value")
            );
            self.error(codes::ARITY, span, message);
        }
        self.distinct_targets(lhs.iter().map(|lhs| lhs.name));
        let mut wanted = Vec::new();
        for lhs in lhs {
            let mut ty = self.target(lhs.name);
            for indices in &lhs.indices {
                let found: Vec<(ExprId, Ty)> =
                    indices.iter().map(|&index| (index, self.infer_expr(index, Place::TWO_STATE))).collect();
                ty = self.select_type(ty, lhs.name.span, &found, lhs.name.span);
                indices.iter().for_each(|&index| self.settle(index));
            }
            wanted.push(ty);
        }
        for (idx, &value) in rhs.iter().enumerate() {
            match wanted.get(idx) {
                Some(&ty) => self.check_expr(value, ty, Place::TWO_STATE),
                None => {
                    self.infer_expr(value, Place::TWO_STATE);
                    self.settle(value);
                }
            }
        }
    }

    fn check_call(&mut self, id: StmtId, call: &Call) {
        self.distinct_targets(call.outs.iter().copied().flatten());
        let Some(&decl_idx) = self.out.procedures.get(&call.callee.symbol) else {
            return self.check_builtin_call(id, call);
        };
        let DeclKind::Procedure(procedure) = &self.program.decls[decl_idx].kind else { return };
        let (declared, type_params) = (procedure.name.span, procedure.type_params.clone());
        let frame = &self.out.frames[&decl_idx];
        let tys: Vec<Ty> = frame.vars.iter().map(|&var| self.out.vars[var].ty).collect();
        let params = tys[..frame.n_params].to_vec();
        let results = tys[frame.n_params..frame.n_params + frame.n_results].to_vec();
        let name = self.text(call.callee.symbol).to_owned();
        if params.len() != call.args.len() {
            let message =
                format!("`{name}` takes {}, but gets {}", count(params.len(), "argument"), call.args.len());
            self.diagnostics.push(
                Diagnostic::error(codes::ARITY, call.callee.span, message).also(declared, "declared here"),
            );
        }
        let holes = self.fresh_holes(&type_params);
        for (&arg, &param) in call.args.iter().zip(&params) {
            let wanted = self.instantiate(param, &holes);
            let found = self.infer_expr(arg, Place::TWO_STATE);
            self.expect_type(arg, found, wanted);
        }
        for &arg in call.args.iter().skip(params.len()) {
            self.infer_expr(arg, Place::TWO_STATE);
        }
        let results: Vec<Ty> = results.into_iter().map(|ty| self.instantiate(ty, &holes)).collect();
        self.check_outs(id, call, declared, &results);
        call.args.iter().for_each(|&arg| self.settle(arg));
        if !type_params.is_empty() {
            let types: Vec<Ty> =
                type_params.iter().map(|param| self.resolved_deep(holes[&param.symbol])).collect();
            if types.iter().any(|&ty| self.is_open(ty)) {
                self.diagnostics.push(
                    Diagnostic::error(
                        codes::AMBIGUOUS_TYPE,
                        call.callee.span,
                        "the type arguments of this call cannot be inferred",
                    )
                    .help("pass arguments whose types determine them"),
                );
            }
            self.out.call_types.insert(id, types);
        }
    }

    fn check_outs(&mut self, id: StmtId, call: &Call, declared: Span, results: &[Ty]) {
        let is_post = call.is_async || self.program.has_attr(&call.attrs, "async");
        if is_post {
            return self.check_post(id, call, results);
        }
        if results.len() != call.outs.len() {
            let name = self.text(call.callee.symbol);
            let message = format!(
                "`{name}` has {}, but the call assigns {}",
                count(results.len(), "result"),
                count(call.outs.len(), "variable")
            );
            self.diagnostics.push(
                Diagnostic::error(codes::ARITY, call.callee.span, message).also(declared, "declared here"),
            );
        }
        for (out, &wanted) in call.outs.iter().zip(results) {
            if let Some(name) = out {
                self.expect_target(*name, wanted);
            }
        }
        self.check_async(id);
    }

    /// A variable that receives a value of type `value`.
    pub(super) fn expect_target(&mut self, name: Ident, value: Ty) {
        let ty = self.target(name);
        if !self.unify(value, ty) {
            let (value, ty) = (self.resolved_deep(value), self.resolved_deep(ty));
            let message = format!(
                "`{}` has type {}, but is assigned a value of type {}",
                self.text(name.symbol),
                self.show(ty),
                self.show(value)
            );
            self.error(codes::TYPE_MISMATCH, name.span, message);
        }
    }
}
