//! Building trees: short forms for the statements and expressions that translations make.

use std::collections::{BTreeMap, BTreeSet};

use allways_base::{Span, Symbol};
use allways_boogie::check::{Checked, Ty, TyKind};
use allways_boogie::tree::*;

/// A program under construction with a current place, which new nodes take.
pub struct Builder {
    pub program: Program,
    pub span: Span,
    made: BTreeSet<String>,
    /// The names up to here are those of the source.
    n_source_names: usize,
}

impl Builder {
    /// Starts from a copy: ids of the original stay valid.
    pub fn new(program: &Program, span: Span) -> Self {
        Builder { program: program.clone(), span, made: BTreeSet::new(), n_source_names: program.names.len() }
    }

    /// A name that occurs nowhere in the program.
    pub fn fresh(&mut self, wanted: &str) -> Symbol {
        let mut name = wanted.to_owned();
        while self.program.names.get(&name).is_some() || self.made.contains(&name) {
            name.push('\'');
        }
        self.made.insert(name.clone());
        self.program.intern(&name)
    }

    /// A name for one body: it differs from all names of the source and from [`fresh`](Self::fresh)
    /// ones made before, but other bodies may use it too.
    pub fn fresh_local(&mut self, wanted: &str) -> Symbol {
        let mut name = wanted.to_owned();
        let is_source = |build: &Self, name: &str| {
            build
                .program
                .names
                .get(name)
                .is_some_and(|symbol| (symbol.as_u32() as usize) < build.n_source_names)
        };
        while is_source(self, &name) || self.made.contains(&name) {
            name.push('\'');
        }
        self.program.intern(&name)
    }

    pub fn ident(&self, symbol: Symbol) -> Ident {
        Ident { symbol, span: self.span }
    }

    pub fn var(&mut self, symbol: Symbol) -> ExprId {
        self.program.var(symbol, self.span)
    }

    pub fn int(&mut self, value: i64) -> ExprId {
        self.program.int(value, self.span)
    }

    pub fn bool(&mut self, value: bool) -> ExprId {
        self.program.bool(value, self.span)
    }

    pub fn binary(&mut self, op: BinaryOp, left: ExprId, right: ExprId) -> ExprId {
        self.program.binary(op, left, right, self.span)
    }

    pub fn eq(&mut self, left: ExprId, right: ExprId) -> ExprId {
        self.binary(BinaryOp::Eq, left, right)
    }

    pub fn and(&mut self, parts: &[ExprId]) -> ExprId {
        self.program.and_all(parts, self.span)
    }

    pub fn not(&mut self, arg: ExprId) -> ExprId {
        self.program.not(arg)
    }

    pub fn ite(&mut self, cond: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        self.program.add_expr(ExprKind::If { cond, then, otherwise }, self.span)
    }

    pub fn stmt(&mut self, kind: StmtKind) -> StmtId {
        self.program.add_stmt(kind, self.span)
    }

    /// `a, b := x, y;`, all at once.
    pub fn assign(&mut self, pairs: Vec<(Symbol, ExprId)>) -> StmtId {
        let (names, rhs): (Vec<Symbol>, Vec<ExprId>) = pairs.into_iter().unzip();
        let lhs = names.into_iter().map(|name| Lhs { name: self.ident(name), indices: Vec::new() }).collect();
        self.stmt(StmtKind::Assign { lhs, rhs })
    }

    /// `a, b := x, y;` for variables.
    pub fn copy(&mut self, pairs: &[(Symbol, Symbol)]) -> StmtId {
        let pairs = pairs.iter().map(|&(to, from)| (to, self.var(from))).collect();
        self.assign(pairs)
    }

    pub fn havoc(&mut self, names: &[Symbol]) -> StmtId {
        let names = names.iter().map(|&name| self.ident(name)).collect();
        self.stmt(StmtKind::Havoc(names))
    }

    pub fn assume(&mut self, expr: ExprId) -> StmtId {
        self.program.assume(expr, self.span)
    }

    /// Assumes that variables are equal, pair by pair.
    pub fn assume_equal(&mut self, pairs: &[(Symbol, Symbol)]) -> StmtId {
        let parts: Vec<ExprId> = pairs
            .iter()
            .map(|&(left, right)| {
                let (left, right) = (self.var(left), self.var(right));
                self.eq(left, right)
            })
            .collect();
        let all = self.and(&parts);
        self.assume(all)
    }

    pub fn if_then(&mut self, cond: ExprId, then: Vec<StmtId>) -> StmtId {
        let arms = vec![Arm { guard: Some(cond), body: Block { stmts: then } }];
        self.stmt(StmtKind::If { arms, otherwise: None })
    }

    pub fn goto(&mut self, label: Symbol) -> StmtId {
        let target = self.ident(label);
        self.stmt(StmtKind::Goto(vec![target]))
    }

    pub fn label(&mut self, label: Symbol) -> StmtId {
        let label = self.ident(label);
        self.stmt(StmtKind::Label(label))
    }

    pub fn attr(&mut self, name: &str, args: Vec<ExprId>) -> Attr {
        Attr { name: self.program.ident(name, self.span), args }
    }

    pub fn text(&mut self, text: &str) -> ExprId {
        let symbol = self.program.intern(text);
        self.program.add_expr(ExprKind::Text(symbol), self.span)
    }

    pub fn binding(&self, name: Symbol, ty: TypeId) -> Binding {
        Binding { attrs: Vec::new(), name: self.ident(name), ty, where_clause: None }
    }

    pub fn global(&self, name: Symbol, ty: TypeId) -> Decl {
        Decl { attrs: Vec::new(), kind: DeclKind::Var(self.binding(name, ty)), span: self.span }
    }

    pub fn int_type(&mut self) -> TypeId {
        self.program.add_type(TypeKind::Int, self.span)
    }

    pub fn bool_type(&mut self) -> TypeId {
        self.program.add_type(TypeKind::Bool, self.span)
    }

    /// The type expression of a checked type.
    pub fn type_of(&mut self, checked: &Checked, ty: Ty) -> TypeId {
        let kind = match checked.types.kind(ty).clone() {
            TyKind::Bool => TypeKind::Bool,
            TyKind::Int => TypeKind::Int,
            TyKind::Real => TypeKind::Real,
            TyKind::Bv(width) => TypeKind::Bv(width),
            TyKind::Con(name, args) => {
                TypeKind::Named(name, args.into_iter().map(|arg| self.type_of(checked, arg)).collect())
            }
            TyKind::Map(args, result) => TypeKind::Map {
                type_params: Vec::new(),
                args: args.into_iter().map(|arg| self.type_of(checked, arg)).collect(),
                result: self.type_of(checked, result),
            },
            TyKind::Param(name) => TypeKind::Named(name, Vec::new()),
            // Only in programs with errors, which are not translated.
            TyKind::Error | TyKind::Infer(_) => TypeKind::Bool,
        };
        self.program.add_type(kind, self.span)
    }

    /// Whether an expression is a variable or a literal.
    pub fn is_atomic(&self, expr: ExprId) -> bool {
        matches!(
            self.program.exprs[expr].kind,
            ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Bv { .. } | ExprKind::Var(_)
        )
    }
}

/// Gives every procedure with a body the `modifies` clause that it needs, through its calls.
pub fn complete_modifies(program: &mut Program) {
    let globals: BTreeSet<Symbol> = program
        .decls
        .iter()
        .filter_map(|decl| match &decl.kind {
            DeclKind::Var(binding) => Some(binding.name.symbol),
            _ => None,
        })
        .collect();
    let mut writes: BTreeMap<Symbol, BTreeSet<Symbol>> = BTreeMap::new();
    let mut calls: Vec<(Symbol, Symbol)> = Vec::new();
    let mut with_body: BTreeSet<Symbol> = BTreeSet::new();
    for decl in &program.decls {
        let (name, params, results, body) = match &decl.kind {
            DeclKind::Procedure(p) => {
                for spec in &p.specs {
                    if let SpecKind::Modifies(names) = &spec.kind {
                        writes.entry(p.name.symbol).or_default().extend(names.iter().map(|n| n.symbol));
                    }
                }
                (p.name.symbol, &p.params, &p.results, p.body.as_ref())
            }
            DeclKind::Implementation(i) => (i.name.symbol, &i.params, &i.results, Some(&i.body)),
            _ => continue,
        };
        let Some(body) = body else { continue };
        if with_body.insert(name) {
            writes.insert(name, BTreeSet::new());
        }
        let own: BTreeSet<Symbol> =
            params.iter().chain(results).chain(&body.locals).map(|binding| binding.name.symbol).collect();
        let mut note = |target: Symbol| {
            if globals.contains(&target) && !own.contains(&target) {
                writes.entry(name).or_default().insert(target);
            }
        };
        for stmt in program.stmts_below(&body.block) {
            match &program.stmts[stmt].kind {
                StmtKind::Assign { lhs, .. } => lhs.iter().for_each(|lhs| note(lhs.name.symbol)),
                StmtKind::Havoc(names) => names.iter().for_each(|name| note(name.symbol)),
                StmtKind::Call(call) => {
                    call.outs.iter().flatten().for_each(|out| note(out.symbol));
                    calls.push((name, call.callee.symbol));
                }
                _ => {}
            }
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for &(caller, callee) in &calls {
            let inherited = writes.get(&callee).cloned().unwrap_or_default();
            let own = writes.entry(caller).or_default();
            let n_before = own.len();
            own.extend(inherited);
            changed |= own.len() != n_before;
        }
    }
    for decl in &mut program.decls {
        let span = decl.span;
        let DeclKind::Procedure(procedure) = &mut decl.kind else { continue };
        if !with_body.contains(&procedure.name.symbol) {
            continue;
        }
        procedure.specs.retain(|spec| !matches!(spec.kind, SpecKind::Modifies(_)));
        let written = writes.get(&procedure.name.symbol).cloned().unwrap_or_default();
        if !written.is_empty() {
            let names = written.into_iter().map(|symbol| Ident { symbol, span }).collect();
            let kind = SpecKind::Modifies(names);
            procedure.specs.push(Spec { free: false, attrs: Vec::new(), kind, span });
        }
    }
}
