//! Building trees: short forms for the statements and expressions that translations make, and what the passes
//! that prepare a program for the translation share.

use std::collections::{BTreeMap, BTreeSet};

use allways_base::{Span, Symbol};
use allways_boogie::check::{Checked, Ty, TyKind};
use allways_boogie::tree::*;
use allways_boogie::walk::along_calls;
use rustc_hash::FxHashMap;

use crate::Unsupported;

/// A program made from another, and the statements of the original that new ones stand for.
pub type Rewritten = (Program, FxHashMap<StmtId, StmtId>);

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

    pub fn constant(&self, name: Symbol, ty: TypeId) -> Decl {
        let constant = ConstDecl { name: self.ident(name), ty, unique: false, order: None };
        Decl { attrs: Vec::new(), kind: DeclKind::Const(constant), span: self.span }
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

    /// What holds in the initial state.
    pub fn initially(&mut self, expr: ExprId) -> Decl {
        let init = self.attr("init", Vec::new());
        Decl { attrs: vec![init], kind: DeclKind::Axiom(expr), span: self.span }
    }

    /// `m[index]`.
    pub fn select(&mut self, map: Symbol, index: Symbol) -> ExprId {
        let (map, index) = (self.var(map), self.var(index));
        self.program.add_expr(ExprKind::Select { map, indices: vec![index] }, self.span)
    }

    /// `m[index] := value;`
    pub fn store(&mut self, map: Symbol, index: Symbol, value: ExprId) -> StmtId {
        let index = self.var(index);
        let lhs = vec![Lhs { name: self.ident(map), indices: vec![vec![index]] }];
        self.stmt(StmtKind::Assign { lhs, rhs: vec![value] })
    }

    /// `(forall i: int :: m[i] == value)`.
    pub fn constant_map(&mut self, map: Symbol, value: ExprId) -> ExprId {
        let number = self.fresh("number");
        let selected = self.select(map, number);
        let body = self.eq(selected, value);
        let int = self.int_type();
        let quantified = Quantified {
            quantifier: Quantifier::Forall,
            type_params: Vec::new(),
            vars: vec![self.binding(number, int)],
            attrs: Vec::new(),
            triggers: Vec::new(),
            body,
        };
        self.program.add_expr(ExprKind::Quantified(Box::new(quantified)), self.span)
    }

    /// The type of maps from numbers.
    pub fn map_type(&mut self, result: TypeId) -> TypeId {
        let int = self.int_type();
        let kind = TypeKind::Map { type_params: Vec::new(), args: vec![int], result };
        self.program.add_type(kind, self.span)
    }

    /// The arguments of a post, evaluated already where they mention a variable that the post assigns.
    pub fn args_without(
        &mut self,
        checked: &Checked,
        call: &Call,
        params: &[Binding],
        target: Option<Symbol>,
        locals: &mut Vec<Binding>,
        stmts: &mut Vec<StmtId>,
    ) -> Vec<ExprId> {
        let mentions = |arg: ExprId| {
            let below = checked.program.all_exprs_below(arg);
            let is_target = |&id: &ExprId| matches!(checked.program.exprs[id].kind, ExprKind::Var(name) if Some(name) == target);
            below.iter().any(is_target)
        };
        let mut args = Vec::new();
        for (position, &arg) in call.args.iter().enumerate() {
            let Some(param) = params.get(position).filter(|_| mentions(arg)) else {
                args.push(arg);
                continue;
            };
            let name = self.fresh("argument");
            locals.push(self.binding(name, param.ty));
            stmts.push(self.assign(vec![(name, arg)]));
            args.push(self.var(name));
        }
        args
    }

    /// Whether an expression is a variable or a literal.
    pub fn is_atomic(&self, expr: ExprId) -> bool {
        matches!(
            self.program.exprs[expr].kind,
            ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Bv { .. } | ExprKind::Var(_)
        )
    }
}

/// The body of a declaration, if it has one.
pub fn body_mut(decl: &mut Decl) -> Option<&mut Body> {
    match &mut decl.kind {
        DeclKind::Procedure(procedure) => procedure.body.as_mut(),
        DeclKind::Implementation(implementation) => Some(&mut implementation.body),
        DeclKind::Type(_)
        | DeclKind::Const(_)
        | DeclKind::Function(_)
        | DeclKind::Axiom(_)
        | DeclKind::Var(_) => None,
    }
}

/// A pass that builds.
pub trait HasBuilder {
    fn builder(&mut self) -> &mut Builder;
}

/// Rewrites the blocks inside a statement in place.
pub fn rewrite_inner<P: HasBuilder>(
    pass: &mut P,
    id: StmtId,
    mut kind: StmtKind,
    mut rewrite: impl FnMut(&mut P, &Block) -> Result<Block, Unsupported>,
) -> Result<(), Unsupported> {
    let mut has_blocks = false;
    for block in kind.blocks_mut() {
        *block = rewrite(pass, block)?;
        has_blocks = true;
    }
    if has_blocks {
        pass.builder().program.stmts[id].kind = kind;
    }
    Ok(())
}

/// A procedure that calls another and does something before and after.
pub struct Wrapper {
    callee: Symbol,
    span: Span,
    n_params: usize,
    /// The parameters of the callee come first.
    pub params: Vec<Binding>,
    /// What the callee returns.
    pub results: Vec<Binding>,
    /// Whether the wrapper returns that too.
    pub returns: bool,
    pub before: Vec<StmtId>,
    pub after: Vec<StmtId>,
}

impl Wrapper {
    /// Starts one for a declared procedure, and takes its place.
    pub fn new(build: &mut Builder, checked: &Checked, callee: Symbol) -> Option<Self> {
        let (_, procedure) = checked.program.procedure(callee)?;
        let span = procedure.name.span;
        build.span = span;
        let plain = |bindings: &[Binding]| -> Vec<Binding> {
            bindings.iter().map(|b| Binding { where_clause: None, ..b.clone() }).collect()
        };
        Some(Wrapper {
            callee,
            span,
            n_params: procedure.params.len(),
            params: plain(&procedure.params),
            results: plain(&procedure.results),
            returns: false,
            before: Vec::new(),
            after: Vec::new(),
        })
    }

    pub fn finish(self, build: &mut Builder, name: Symbol) -> Decl {
        let names: Vec<Symbol> = self.params.iter().take(self.n_params).map(|b| b.name.symbol).collect();
        let args = names.into_iter().map(|name| build.var(name)).collect();
        let outs = self.results.iter().map(|b| Some(build.ident(b.name.symbol))).collect();
        let callee = build.ident(self.callee);
        let call = Call { is_async: false, free: false, attrs: Vec::new(), outs, callee, args };
        let mut stmts = self.before;
        stmts.push(build.stmt(StmtKind::Call(call)));
        stmts.extend(self.after);
        let (results, locals) =
            if self.returns { (self.results, Vec::new()) } else { (Vec::new(), self.results) };
        let procedure = ProcedureDecl {
            name: build.ident(name),
            type_params: Vec::new(),
            params: self.params,
            results,
            specs: Vec::new(),
            body: Some(Body { locals, block: Block { stmts }, span: self.span }),
        };
        Decl { attrs: Vec::new(), kind: DeclKind::Procedure(procedure), span: self.span }
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
        let DeclKind::Procedure(procedure) = &decl.kind else { continue };
        for spec in &procedure.specs {
            if let SpecKind::Modifies(names) = &spec.kind {
                let declared = writes.entry(procedure.name.symbol).or_default();
                declared.extend(names.iter().map(|name| name.symbol));
            }
        }
    }
    for found in program.bodies() {
        let name = found.procedure;
        if with_body.insert(name) {
            writes.insert(name, BTreeSet::new());
        }
        let own: BTreeSet<Symbol> = found.bindings().map(|binding| binding.name.symbol).collect();
        for stmt in program.stmts_below(&found.body.block) {
            let kind = &program.stmts[stmt].kind;
            let assigned = kind.assigned().into_iter().map(|name| name.symbol);
            let written = assigned.filter(|name| globals.contains(name) && !own.contains(name));
            writes.entry(name).or_default().extend(written);
            if let StmtKind::Call(call) = kind {
                calls.push((name, call.callee.symbol));
            }
        }
    }
    along_calls(&calls, |caller, callee| {
        let inherited = writes.get(&callee).cloned().unwrap_or_default();
        let own = writes.entry(caller).or_default();
        let n_before = own.len();
        own.extend(inherited);
        own.len() != n_before
    });
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
