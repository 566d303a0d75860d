//! Expressions that solvers do not know, in terms of those they do: `let` by substitution, `lambda`
//! by a function and an axiom.
//!
//! Needs a checked program without errors and without type parameters; the result must be checked
//! again. `(lambda i: T :: e)` becomes `lambda#0(x, ..)`, where `x, ..` are the variables of the
//! surroundings that `e` mentions (with `old(g)` apart from `g`), together with
//! `axiom (forall x.., i: T :: {lambda#0(x..)[i]} lambda#0(x..)[i] == e)`.

use allways_base::{Span, Symbol};
use rustc_hash::FxHashMap;

use crate::check::{Checked, VarId, VarKind};
use crate::tree::*;

/// Whether the program has expressions to desugar.
pub fn has_sugar(program: &Program) -> bool {
    program.exprs.iter().any(|expr| match &expr.kind {
        ExprKind::Let(_) => true,
        ExprKind::Quantified(quantified) => quantified.quantifier == Quantifier::Lambda,
        _ => false,
    })
}

/// The same program without `let` and `lambda`.
pub fn desugar(checked: &Checked) -> Program {
    if !has_sugar(&checked.program) {
        return checked.program.clone();
    }
    let mut sugar = Desugar {
        checked,
        out: checked.program.clone(),
        renamed: FxHashMap::default(),
        originals: FxHashMap::default(),
        n_fresh: FxHashMap::default(),
    };
    let n_decls = sugar.out.decls.len();
    for decl_idx in 0..n_decls {
        let mut decl = sugar.out.decls[decl_idx].clone();
        for root in decl_exprs(&mut decl) {
            *root = sugar.expr(*root);
        }
        let body = sugar.out.body_in(decl_idx);
        for stmt in body.map(|found| sugar.out.stmts_below(&found.body.block)).unwrap_or_default() {
            let mut kind = sugar.out.stmts[stmt].kind.clone();
            for root in stmt_exprs(&mut kind) {
                *root = sugar.expr(*root);
            }
            sugar.out.stmts[stmt].kind = kind;
        }
        sugar.out.decls[decl_idx] = decl;
    }
    sugar.out
}

struct Desugar<'a> {
    checked: &'a Checked,
    out: Program,
    /// Bound variables of the original and what stands for them: a renamed variable or the value of
    /// a `let`. Every binder gets a fresh name, so nothing is ever captured.
    renamed: FxHashMap<VarId, ExprId>,
    /// The bound variables behind fresh names.
    originals: FxHashMap<Symbol, VarId>,
    /// How many fresh names were made from each name.
    n_fresh: FxHashMap<Symbol, usize>,
}

impl Desugar<'_> {
    /// Rebuilds an expression of the original.
    fn expr(&mut self, root: ExprId) -> ExprId {
        let program = &self.checked.program;
        let order = program.all_exprs_below(root);
        let sugared = order.iter().any(|&id| match &program.exprs[id].kind {
            ExprKind::Let(_) => true,
            ExprKind::Quantified(quantified) => quantified.quantifier == Quantifier::Lambda,
            _ => false,
        });
        if !sugared {
            return root;
        }
        for &id in &order {
            if let ExprKind::Quantified(quantified) = &program.exprs[id].kind {
                for (binding, &var) in quantified.vars.iter().zip(&self.checked.bound_vars[&id]) {
                    let fresh = self.fresh(binding.name.symbol);
                    let renamed = self.out.var(fresh, binding.name.span);
                    self.renamed.insert(var, renamed);
                    self.originals.insert(fresh, var);
                }
            }
        }
        // Values of `let` come before its body in the order, so they are done when uses are met.
        let mut let_values: FxHashMap<ExprId, Vec<VarId>> = FxHashMap::default();
        for &id in &order {
            if let ExprKind::Let(binding) = &program.exprs[id].kind {
                for (&value, &var) in binding.values.iter().zip(&self.checked.bound_vars[&id]) {
                    let_values.entry(value).or_default().push(var);
                }
            }
        }
        let mut done: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for &id in &order {
            let Expr { mut kind, span } = program.exprs[id].clone();
            kind.replace_children(|child| done[&child]);
            let new = match kind {
                ExprKind::Var(_) => match self.checked.expr_vars[id].and_then(|v| self.renamed.get(&v)) {
                    Some(&renamed) => renamed,
                    None => id,
                },
                ExprKind::Let(binding) => binding.body,
                ExprKind::Quantified(mut quantified) => {
                    for (binding, var) in quantified.vars.iter_mut().zip(&self.checked.bound_vars[&id]) {
                        if let ExprKind::Var(name) = self.out.exprs[self.renamed[var]].kind {
                            binding.name.symbol = name;
                        }
                    }
                    match quantified.quantifier {
                        Quantifier::Lambda => self.lambda(id, *quantified, span),
                        Quantifier::Forall | Quantifier::Exists => {
                            self.out.add_expr(ExprKind::Quantified(quantified), span)
                        }
                    }
                }
                kind => self.out.add_expr(kind, span),
            };
            done.insert(id, new);
            for &var in let_values.get(&id).into_iter().flatten() {
                self.renamed.insert(var, new);
            }
        }
        done[&root]
    }

    fn fresh(&mut self, name: Symbol) -> Symbol {
        let base = self.out.text(name).trim_start_matches('\\').to_owned();
        loop {
            let n = self.n_fresh.entry(name).or_default();
            let text = format!("{base}#{n}");
            *n += 1;
            if self.out.names.get(&text).is_none() {
                return self.out.intern(&text);
            }
        }
    }

    /// The function and the axiom for a lambda whose body is already rebuilt, and its application.
    fn lambda(&mut self, original: ExprId, lambda: Quantified, span: Span) -> ExprId {
        let frees = self.free_variables(&lambda);
        let lambda_ty = self.checked.expr_types[original];
        let base = self.out.intern("lambda");
        let name = Ident { symbol: self.fresh(base), span };
        let mut params = Vec::new();
        let mut binders = Vec::new();
        let mut inside: FxHashMap<(ExprKey, bool), Symbol> = FxHashMap::default();
        let mut args_outside = Vec::new();
        let mut args_inside = Vec::new();
        for (key, old, var) in frees {
            let ty = self.checked.vars[var].ty;
            // The node for the argument is new; this is how its meaning is found again.
            self.originals.insert(key.0, var);
            let symbol = self.fresh(key.0);
            let ident = Ident { symbol, span };
            let ty = self.checked.types.write(ty, span, &mut self.out);
            params.push(FunctionParam { attrs: Vec::new(), name: Some(ident), ty });
            binders.push(Binding { attrs: Vec::new(), name: ident, ty, where_clause: None });
            inside.insert((key, old), symbol);
            let outer = self.out.var(key.0, span);
            args_outside.push(if old { self.out.add_expr(ExprKind::Old(outer), span) } else { outer });
            args_inside.push(self.out.var(symbol, span));
        }
        let ty = self.checked.types.write(lambda_ty, span, &mut self.out);
        let result = FunctionParam { attrs: Vec::new(), name: None, ty };
        let function = FunctionDecl { name, type_params: Vec::new(), params, result, body: None };
        self.out.decls.push(Decl { attrs: Vec::new(), kind: DeclKind::Function(function), span });

        let body = self.replace_free(lambda.body, &inside);
        let indices: Vec<ExprId> =
            lambda.vars.iter().map(|binding| self.out.var(binding.name.symbol, span)).collect();
        let map = self.out.add_expr(ExprKind::Apply { function: name, args: args_inside }, span);
        let element = self.out.add_expr(ExprKind::Select { map, indices }, span);
        let equation = self.out.binary(BinaryOp::Eq, element, body, span);
        binders.extend(lambda.vars);
        let axiom = if binders.is_empty() {
            equation
        } else {
            let quantified = Quantified {
                quantifier: Quantifier::Forall,
                type_params: Vec::new(),
                vars: binders,
                attrs: lambda.attrs,
                triggers: vec![vec![element]],
                body: equation,
            };
            self.out.add_expr(ExprKind::Quantified(Box::new(quantified)), span)
        };
        self.out.decls.push(Decl { attrs: Vec::new(), kind: DeclKind::Axiom(axiom), span });
        self.out.add_expr(ExprKind::Apply { function: name, args: args_outside }, span)
    }

    /// What a rebuilt lambda mentions of its surroundings, with whether under `old`, in order of
    /// appearance. Constants are visible everywhere and need no passing.
    fn free_variables(&self, lambda: &Quantified) -> Vec<(ExprKey, bool, VarId)> {
        let mut frees: Vec<(ExprKey, bool, VarId)> = Vec::new();
        let mut work = vec![(lambda.body, false, Vec::<Symbol>::new())];
        let own: Vec<Symbol> = lambda.vars.iter().map(|binding| binding.name.symbol).collect();
        while let Some((id, old, bound)) = work.pop() {
            match &self.out.exprs[id].kind {
                ExprKind::Var(name) if own.contains(name) || bound.contains(name) => {}
                ExprKind::Var(name) => {
                    let Some(var) = self.variable(id, *name) else { continue };
                    let kind = self.checked.vars[var].kind;
                    let is_global = matches!(kind, VarKind::Global | VarKind::ThreadLocal);
                    let entry = (ExprKey(*name), old && is_global, var);
                    if kind != VarKind::Const && !frees.contains(&entry) {
                        frees.push(entry);
                    }
                }
                ExprKind::Old(arg) => work.push((*arg, true, bound)),
                ExprKind::Quantified(quantified) => {
                    let mut bound = bound;
                    bound.extend(quantified.vars.iter().map(|binding| binding.name.symbol));
                    work.push((quantified.body, old, bound));
                }
                _ => self.out.operands(id, |operand| work.push((operand, old, bound.clone()))),
            }
        }
        frees
    }

    /// The variable behind a node: an original one, or one made here.
    fn variable(&self, id: ExprId, name: Symbol) -> Option<VarId> {
        let original = self.checked.expr_vars.get(id).copied().flatten();
        original.or_else(|| self.originals.get(&name).copied())
    }

    /// The body with its free variables replaced by the parameters, and `old` gone.
    fn replace_free(&mut self, body: ExprId, inside: &FxHashMap<(ExprKey, bool), Symbol>) -> ExprId {
        let mut done: FxHashMap<(ExprId, bool), ExprId> = FxHashMap::default();
        let mut work = vec![(body, false, false)];
        while let Some((id, old, expanded)) = work.pop() {
            if done.contains_key(&(id, old)) {
                continue;
            }
            if let ExprKind::Old(arg) = self.out.exprs[id].kind {
                match done.get(&(arg, true)).copied() {
                    Some(new) => drop(done.insert((id, old), new)),
                    None => work.extend([(id, old, true), (arg, true, false)]),
                }
                continue;
            }
            if !expanded {
                work.push((id, old, true));
                self.out.operands(id, |operand| work.push((operand, old, false)));
                if let ExprKind::Quantified(quantified) = &self.out.exprs[id].kind {
                    work.extend(quantified.triggers.iter().flatten().map(|&part| (part, old, false)));
                    let args = quantified.attrs.iter().flat_map(|attr| &attr.args);
                    work.extend(args.map(|&arg| (arg, old, false)));
                }
                continue;
            }
            let Expr { mut kind, span } = self.out.exprs[id].clone();
            let new = match kind {
                ExprKind::Var(name) => {
                    let key = ExprKey(name);
                    let param = inside.get(&(key, old)).or_else(|| inside.get(&(key, false)));
                    param.map_or(id, |&param| self.out.var(param, span))
                }
                _ => {
                    kind.replace_children(|child| done[&(child, old)]);
                    self.out.add_expr(kind, span)
                }
            };
            done.insert((id, old), new);
        }
        done[&(body, false)]
    }
}

/// A free variable, by the name it has in the rebuilt expression. Binders have fresh names there, so
/// a name means one thing.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ExprKey(Symbol);

/// The expressions of a declaration outside of statements.
fn decl_exprs(decl: &mut Decl) -> Vec<&mut ExprId> {
    fn wheres(bindings: &mut [Binding]) -> impl Iterator<Item = &mut ExprId> {
        bindings.iter_mut().filter_map(|binding| binding.where_clause.as_mut())
    }
    match &mut decl.kind {
        DeclKind::Type(_) | DeclKind::Const(_) => Vec::new(),
        DeclKind::Axiom(expr) => vec![expr],
        DeclKind::Var(binding) => binding.where_clause.iter_mut().collect(),
        DeclKind::Function(function) => function.body.iter_mut().collect(),
        DeclKind::Procedure(procedure) => {
            let specs = procedure.specs.iter_mut().filter_map(|spec| match &mut spec.kind {
                SpecKind::Requires(expr) | SpecKind::Ensures(expr) => Some(expr),
                SpecKind::Modifies(_) | SpecKind::Posts(_) => None,
            });
            let locals = procedure.body.iter_mut().flat_map(|body| wheres(&mut body.locals));
            wheres(&mut procedure.params)
                .chain(wheres(&mut procedure.results))
                .chain(specs)
                .chain(locals)
                .collect()
        }
        DeclKind::Implementation(implementation) => wheres(&mut implementation.params)
            .chain(wheres(&mut implementation.results))
            .chain(wheres(&mut implementation.body.locals))
            .collect(),
    }
}

/// The expressions of a statement, conditions of yields included.
fn stmt_exprs(kind: &mut StmtKind) -> Vec<&mut ExprId> {
    match kind {
        StmtKind::Assert { expr, .. } => vec![expr],
        StmtKind::Assume { attrs, expr } => {
            attrs.iter_mut().flat_map(|attr| &mut attr.args).chain([expr]).collect()
        }
        StmtKind::Assign { lhs, rhs } => {
            lhs.iter_mut().flat_map(|lhs| lhs.indices.iter_mut().flatten()).chain(rhs).collect()
        }
        StmtKind::Call(call) => call.args.iter_mut().collect(),
        StmtKind::If { arms, .. } => arms.iter_mut().filter_map(|arm| arm.guard.as_mut()).collect(),
        StmtKind::While { guard, invariants, .. } => {
            guard.iter_mut().chain(invariants.iter_mut().map(|invariant| &mut invariant.expr)).collect()
        }
        StmtKind::Label(_)
        | StmtKind::Havoc(_)
        | StmtKind::Yield
        | StmtKind::Break(_)
        | StmtKind::Goto(_)
        | StmtKind::Return => Vec::new(),
    }
}
