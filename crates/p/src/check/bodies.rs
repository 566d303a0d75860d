//! Function bodies: the scopes of one function, and the checker that walks it.

use allways_base::{IndexVec, Span, Symbol};
use rustc_hash::FxHashMap;

use super::invariants::Reads;
use super::{Checker, FunSource};
use crate::hir::{self, ExprId, ExprKind, FunId, LocalId, MachineId};
use crate::syntax::ast;
use crate::types::{TypeId, Types};

/// What is known while one function is checked.
pub(super) struct Body<'c, 'a> {
    pub cx: &'c mut Checker<'a>,
    pub tree: &'a ast::Tree,
    pub owner: Option<MachineId>,
    /// The code is owned by a spec or scenario.
    pub in_monitor: bool,
    pub result: TypeId,
    pub locals: IndexVec<LocalId, hir::Variable>,
    /// The function's scope, then one per receive case around the current statement.
    pub scopes: Vec<FxHashMap<Symbol, LocalId>>,
    pub exprs: IndexVec<ExprId, hir::Expr>,
    pub stmts: IndexVec<hir::StmtId, hir::Stmt>,
    pub effects: hir::Effects,
    pub callees: Vec<FunId>,
    /// How many receive cases are around the current statement.
    pub case_depth: usize,
    /// In a part of an invariant: what it reads.
    pub reads: Option<Reads>,
}

impl<'a> Checker<'a> {
    pub(super) fn check_bodies(&mut self) {
        for fun in self.functions.ids() {
            let source = self.fun_sources[fun];
            if let Some(body) = source.body {
                self.check_body(fun, source, body);
            } else if let Some(name) = source.creates {
                let interface = self.lookup_interface(name);
                self.functions[fun].foreign_creates.extend(interface);
            }
        }
    }

    fn check_body(&mut self, fun: FunId, source: FunSource<'a>, ast_body: &'a ast::Body) {
        let function = &mut self.functions[fun];
        let owner = function.owner;
        let locals = function.locals.clone();
        let result = function.result;
        let in_monitor = owner.is_some_and(|owner| self.machines[owner].is_monitor());
        let mut scope = FxHashMap::default();
        for (id, local) in locals.iter_ids() {
            scope.entry(local.name).or_insert(id);
        }
        let mut body = Body {
            cx: self,
            tree: source.tree,
            owner,
            in_monitor,
            result,
            locals,
            scopes: vec![scope],
            exprs: IndexVec::new(),
            stmts: IndexVec::new(),
            effects: hir::Effects::default(),
            callees: Vec::new(),
            case_depth: 0,
            reads: None,
        };
        body.declare_locals(&ast_body.vars);
        let block = body.stmt_list(&ast_body.stmts);
        let Body { locals, exprs, stmts, effects, mut callees, .. } = body;
        callees.sort_unstable();
        callees.dedup();
        self.check_flow(source.tree, fun, ast_body);
        let function = &mut self.functions[fun];
        function.locals = locals;
        function.effects = effects;
        function.callees = callees;
        function.body = Some(hir::Body { exprs, stmts, block });
    }
}

impl Body<'_, '_> {
    /// Declares the variables of a body in the innermost scope.
    pub fn declare_locals(&mut self, vars: &[ast::Var]) -> Vec<LocalId> {
        vars.iter().filter_map(|var| self.declare_local(var)).collect()
    }

    pub fn declare_local(&mut self, var: &ast::Var) -> Option<LocalId> {
        let ty = self.cx.resolve_type(self.tree, var.ty);
        self.cx.check_not_param(var.name, "variable");
        let scope = self.scopes.last().expect("a function has a scope");
        if let Some(&first) = scope.get(&var.name.symbol) {
            let first = self.locals[first].span;
            self.cx.duplicate(var.name, "variable", first);
            return None;
        }
        let local = self.locals.push(hir::Variable { name: var.name.symbol, span: var.name.span, ty });
        self.scopes.last_mut().expect("a function has a scope").insert(var.name.symbol, local);
        Some(local)
    }

    pub fn lookup_local(&self, symbol: Symbol) -> Option<LocalId> {
        self.scopes.iter().rev().find_map(|scope| scope.get(&symbol).copied())
    }

    pub fn lookup_field(&self, symbol: Symbol) -> Option<hir::FieldId> {
        self.cx.machine_sources[self.owner?].fields.get(&symbol).copied()
    }

    /// Functions of the machine hide global ones.
    pub fn lookup_fun(&self, symbol: Symbol) -> Option<FunId> {
        let own = self.owner.and_then(|owner| self.cx.machine_sources[owner].functions.get(&symbol));
        own.or_else(|| self.cx.globals.functions.get(&symbol)).copied()
    }

    /// Every variable that a name could have meant.
    pub fn variable_names(&self) -> Vec<Symbol> {
        let mut names = self.cx.candidates(self.scopes.iter().flat_map(|scope| scope.keys()));
        if let Some(owner) = self.owner {
            names.extend(self.cx.candidates(self.cx.machine_sources[owner].fields.keys()));
        }
        names.extend(self.cx.candidates(self.cx.globals.params.keys()));
        names
    }

    pub fn push(&mut self, kind: ExprKind, ty: TypeId, span: Span) -> ExprId {
        self.exprs.push(hir::Expr { kind, ty, span })
    }

    /// Stands for an expression that is wrong.
    pub fn error_expr(&mut self, span: Span) -> ExprId {
        self.push(ExprKind::Null, Types::ERROR, span)
    }

    pub fn ty(&self, expr: ExprId) -> TypeId {
        self.exprs[expr].ty
    }

    pub fn span(&self, expr: ExprId) -> Span {
        self.exprs[expr].span
    }
}
