//! Monomorphization: a program without type parameters, by copying polymorphic functions and
//! procedures once for each list of types they are used with.
//!
//! Needs a checked program without errors; the result must be checked again, which gives it tables of
//! its own. A polymorphic axiom is copied for the types with which the functions in it are used, as
//! long as one application in it mentions all its type parameters. Types themselves may keep
//! arguments (`C int`): without parameters in them each is just a name.

use std::collections::VecDeque;

use allways_base::{Diagnostic, Span, Symbol};
use rustc_hash::FxHashMap;

use crate::check::{Checked, Ty, TyKind, TyTable};
use crate::codes;
use crate::tree::*;

/// More copies than this are taken for a definition that needs ever more types.
const MAX_INSTANCES: usize = 2_000;

/// Whether anything in the program has type parameters.
pub fn is_polymorphic(program: &Program) -> bool {
    let in_decls = program.decls.iter().any(|decl| match &decl.kind {
        DeclKind::Function(function) => !function.type_params.is_empty(),
        DeclKind::Procedure(procedure) => !procedure.type_params.is_empty(),
        DeclKind::Implementation(implementation) => !implementation.type_params.is_empty(),
        DeclKind::Type(_) | DeclKind::Const(_) | DeclKind::Axiom(_) | DeclKind::Var(_) => false,
    });
    in_decls
        || program.exprs.iter().any(|expr| match &expr.kind {
            ExprKind::Quantified(quantified) => !quantified.type_params.is_empty(),
            _ => false,
        })
}

/// The same program without type parameters.
pub fn monomorphize(checked: &Checked) -> Result<Program, Vec<Diagnostic>> {
    monomorphize_and_warn(checked).map(|(program, _)| program)
}

/// The same, with warnings about what has no copy.
pub fn monomorphize_and_warn(checked: &Checked) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    if !is_polymorphic(&checked.program) {
        return Ok((checked.program.clone(), Vec::new()));
    }
    let mut out = checked.program.clone();
    out.decls.clear();
    let mut mono = Mono {
        checked,
        types: checked.types.clone(),
        out,
        instances: FxHashMap::default(),
        functions: Vec::new(),
        queue: VecDeque::new(),
        diagnostics: Vec::new(),
    };
    let warnings = mono.run();
    if mono.diagnostics.is_empty() { Ok((mono.out, warnings)) } else { Err(mono.diagnostics) }
}

/// What type parameters stand for in the copy being made.
type Subst = FxHashMap<Symbol, Ty>;

struct Mono<'a> {
    checked: &'a Checked,
    types: TyTable,
    out: Program,
    /// The names of the copies of functions and procedures.
    instances: FxHashMap<(Symbol, Vec<Ty>), Symbol>,
    /// The copies of functions in the order they were asked for.
    functions: Vec<(Symbol, Vec<Ty>)>,
    /// Copies still to make.
    queue: VecDeque<(Symbol, Vec<Ty>)>,
    diagnostics: Vec<Diagnostic>,
}

impl Mono<'_> {
    /// Makes all copies, and warns of axioms that have none.
    fn run(&mut self) -> Vec<Diagnostic> {
        let mut axioms = Vec::new();
        for (decl_idx, decl) in self.checked.program.decls.iter().enumerate() {
            let type_params = match &decl.kind {
                DeclKind::Function(function) => &function.type_params[..],
                DeclKind::Procedure(procedure) => &procedure.type_params[..],
                DeclKind::Implementation(implementation) => &implementation.type_params[..],
                DeclKind::Axiom(expr) => match &self.checked.program.exprs[*expr].kind {
                    ExprKind::Quantified(quantified) => &quantified.type_params[..],
                    _ => &[],
                },
                DeclKind::Type(_) | DeclKind::Const(_) | DeclKind::Var(_) => &[],
            };
            match (&decl.kind, type_params.is_empty()) {
                (_, true) => self.copy_decl(decl_idx, &Subst::default(), None),
                (DeclKind::Axiom(expr), false) => axioms.push((decl_idx, *expr)),
                (_, false) => {}
            }
        }
        self.drain();
        let mut done: FxHashMap<(usize, Vec<Ty>), ()> = FxHashMap::default();
        let mut next_function = 0;
        // Each new copy of a function may match parts of the axioms.
        while next_function < self.functions.len() && self.diagnostics.is_empty() {
            let (function, args) = self.functions[next_function].clone();
            next_function += 1;
            for &(decl_idx, expr) in &axioms {
                self.instantiate_axiom(decl_idx, expr, function, &args, &mut done);
            }
            self.drain();
        }
        let has_copy = |decl_idx: usize| done.keys().any(|&(of, _)| of == decl_idx);
        let unused = axioms.into_iter().filter(|&(decl_idx, _)| !has_copy(decl_idx));
        unused.map(|(decl_idx, _)| self.unused_axiom(decl_idx)).collect()
    }

    fn unused_axiom(&self, decl_idx: usize) -> Diagnostic {
        let span = self.checked.program.decls[decl_idx].span;
        let message = "nothing in the program determines the types of this axiom, so it has no effect";
        Diagnostic::warning(codes::UNUSED_AXIOM, span, message).help(
            "write it for the types you need, or so that one application mentions all its type parameters",
        )
    }

    fn drain(&mut self) {
        while let Some((name, args)) = self.queue.pop_front() {
            if self.instances.len() > MAX_INSTANCES {
                let span = self.decl_span(name);
                self.diagnostics.push(
                    Diagnostic::error(
                        codes::UNSUPPORTED,
                        span,
                        "this needs copies for infinitely many types",
                    )
                    .note(format!("more than {MAX_INSTANCES} copies were made")),
                );
                return;
            }
            let new_name = self.instances[&(name, args.clone())];
            let checked = self.checked;
            let places = checked.functions.get(&name).into_iter().chain(checked.procedures.get(&name));
            let implementations = checked.implementations.get(&name).into_iter().flatten();
            for &decl_idx in places.chain(implementations) {
                let params = match &checked.program.decls[decl_idx].kind {
                    DeclKind::Function(function) => &function.type_params,
                    DeclKind::Procedure(procedure) => &procedure.type_params,
                    DeclKind::Implementation(implementation) => &implementation.type_params,
                    DeclKind::Type(_) | DeclKind::Const(_) | DeclKind::Axiom(_) | DeclKind::Var(_) => {
                        continue;
                    }
                };
                let subst = params.iter().map(|param| param.symbol).zip(args.iter().copied()).collect();
                self.copy_decl(decl_idx, &subst, Some(new_name));
            }
        }
    }

    fn decl_span(&self, name: Symbol) -> Span {
        let decl_idx = self.checked.functions.get(&name).or_else(|| self.checked.procedures.get(&name));
        let decl_idx = decl_idx.copied().unwrap_or_default();
        self.checked.program.decls[decl_idx].span
    }

    /// The name of a copy, which is put on the list of copies to make.
    fn instance(&mut self, name: Symbol, args: Vec<Ty>) -> Symbol {
        if let Some(&instance) = self.instances.get(&(name, args.clone())) {
            return instance;
        }
        let mut text = self.out.text(name).to_owned();
        for &arg in &args {
            let shown = self.types.show(arg, &self.out.names);
            text.push('#');
            text.extend(
                shown.chars().map(|c| if c.is_alphanumeric() || "_.$#'`~^?".contains(c) { c } else { '.' }),
            );
        }
        // Different types may look the same in letters, and the program may use the name already.
        while self.out.names.get(&text).is_some() {
            text.push('\'');
        }
        let instance = self.out.intern(&text);
        self.instances.insert((name, args.clone()), instance);
        if self.checked.functions.contains_key(&name) {
            self.functions.push((name, args.clone()));
        }
        self.queue.push_back((name, args));
        instance
    }

    fn instantiate_axiom(
        &mut self,
        decl_idx: usize,
        root: ExprId,
        function: Symbol,
        args: &[Ty],
        done: &mut FxHashMap<(usize, Vec<Ty>), ()>,
    ) {
        let program = &self.checked.program;
        let ExprKind::Quantified(quantified) = &program.exprs[root].kind else { return };
        let params: Vec<Symbol> = quantified.type_params.iter().map(|param| param.symbol).collect();
        for id in program.all_exprs_below(root) {
            let ExprKind::Apply { function: name, .. } = &program.exprs[id].kind else { continue };
            let Some(pattern) = self.checked.apply_types.get(&id) else { continue };
            if name.symbol != function {
                continue;
            }
            let mut subst = Subst::default();
            let fits = pattern.iter().zip(args).all(|(&pattern, &arg)| self.fits(pattern, arg, &mut subst));
            let found: Option<Vec<Ty>> = params.iter().map(|param| subst.get(param).copied()).collect();
            let (true, Some(types)) = (fits, found) else { continue };
            if done.insert((decl_idx, types), ()).is_none() {
                self.copy_decl(decl_idx, &subst, None);
            }
        }
    }

    /// Finds what the parameters of a pattern must be for it to be the given type.
    fn fits(&self, pattern: Ty, ty: Ty, subst: &mut Subst) -> bool {
        match (self.types.kind(pattern), self.types.kind(ty)) {
            (TyKind::Param(name), _) => *subst.entry(*name).or_insert(ty) == ty,
            (TyKind::Con(f, xs), TyKind::Con(g, ys)) => {
                f == g && xs.iter().zip(ys).all(|(&x, &y)| self.fits(x, y, subst))
            }
            (TyKind::Map(xs, x), TyKind::Map(ys, y)) => {
                xs.len() == ys.len()
                    && xs.iter().zip(ys).all(|(&x, &y)| self.fits(x, y, subst))
                    && self.fits(*x, *y, subst)
            }
            _ => pattern == ty,
        }
    }

    // -- copying

    fn copy_decl(&mut self, decl_idx: usize, subst: &Subst, name: Option<Symbol>) {
        let mut decl = self.checked.program.decls[decl_idx].clone();
        let frame_tys: Vec<Ty> =
            self.checked.frames.get(&decl_idx).map_or(Vec::new(), |frame| {
                frame.vars.iter().map(|&var| self.checked.vars[var].ty).collect()
            });
        let mut tys = frame_tys.into_iter();
        match &mut decl.kind {
            DeclKind::Type(_) | DeclKind::Const(_) => {}
            DeclKind::Axiom(expr) => *expr = self.copy_expr(*expr, subst),
            DeclKind::Var(binding) => {
                binding.where_clause = binding.where_clause.map(|clause| self.copy_expr(clause, subst));
            }
            DeclKind::Function(function) => {
                function.name.symbol = name.unwrap_or(function.name.symbol);
                function.type_params.clear();
                for param in &mut function.params {
                    param.ty = self.copy_type(param.ty, tys.next(), subst);
                }
                // The copies have a new name; the result type is known under the old one.
                let original = &self.checked.program.decls[decl_idx].kind;
                if let DeclKind::Function(original) = original {
                    let result = self.checked.function_results.get(&original.name.symbol).copied();
                    function.result.ty = self.copy_type(function.result.ty, result, subst);
                }
                function.body = function.body.map(|body| self.copy_expr(body, subst));
            }
            DeclKind::Procedure(procedure) => {
                procedure.name.symbol = name.unwrap_or(procedure.name.symbol);
                procedure.type_params.clear();
                self.copy_bindings(&mut procedure.params, &mut tys, subst);
                self.copy_bindings(&mut procedure.results, &mut tys, subst);
                for spec in &mut procedure.specs {
                    if let SpecKind::Requires(expr) | SpecKind::Ensures(expr) = &mut spec.kind {
                        *expr = self.copy_expr(*expr, subst);
                    }
                }
                if let Some(body) = &mut procedure.body {
                    self.copy_bindings(&mut body.locals, &mut tys, subst);
                    body.block = self.copy_block(&body.block, subst);
                }
            }
            DeclKind::Implementation(implementation) => {
                implementation.name.symbol = name.unwrap_or(implementation.name.symbol);
                implementation.type_params.clear();
                self.copy_bindings(&mut implementation.params, &mut tys, subst);
                self.copy_bindings(&mut implementation.results, &mut tys, subst);
                self.copy_bindings(&mut implementation.body.locals, &mut tys, subst);
                implementation.body.block = self.copy_block(&implementation.body.block, subst);
            }
        }
        self.out.decls.push(decl);
    }

    fn copy_bindings(&mut self, bindings: &mut [Binding], tys: &mut impl Iterator<Item = Ty>, subst: &Subst) {
        for binding in bindings {
            binding.ty = self.copy_type(binding.ty, tys.next(), subst);
            binding.where_clause = binding.where_clause.map(|clause| self.copy_expr(clause, subst));
        }
    }

    /// The type expression for a type under the substitution; the old one where nothing changes.
    fn copy_type(&mut self, old: TypeId, ty: Option<Ty>, subst: &Subst) -> TypeId {
        match ty {
            Some(ty) if !subst.is_empty() => {
                let ty = self.substitute(ty, subst);
                let span = self.out.types[old].span;
                self.types.write(ty, span, &mut self.out)
            }
            _ => old,
        }
    }

    /// Only types of the original are substituted in, so one pass over the original suffices.
    fn substitute(&mut self, ty: Ty, subst: &Subst) -> Ty {
        match self.types.kind(ty).clone() {
            TyKind::Param(name) => subst.get(&name).copied().unwrap_or(ty),
            TyKind::Con(name, args) => {
                let args = args.into_iter().map(|arg| self.substitute(arg, subst)).collect();
                self.types.intern(TyKind::Con(name, args))
            }
            TyKind::Map(args, result) => {
                let args = args.into_iter().map(|arg| self.substitute(arg, subst)).collect();
                let result = self.substitute(result, subst);
                self.types.intern(TyKind::Map(args, result))
            }
            TyKind::Error | TyKind::Bool | TyKind::Int | TyKind::Real | TyKind::Bv(_) | TyKind::Infer(_) => {
                ty
            }
        }
    }

    fn copy_block(&mut self, block: &Block, subst: &Subst) -> Block {
        Block { stmts: block.stmts.iter().map(|&stmt| self.copy_stmt(stmt, subst)).collect() }
    }

    fn copy_stmt(&mut self, id: StmtId, subst: &Subst) -> StmtId {
        let Stmt { mut kind, span } = self.checked.program.stmts[id].clone();
        match &mut kind {
            StmtKind::Assert { attrs, expr } | StmtKind::Assume { attrs, expr } => {
                self.copy_attrs(attrs, subst);
                *expr = self.copy_expr(*expr, subst);
            }
            StmtKind::Assign { lhs, rhs } => {
                for index in lhs.iter_mut().flat_map(|lhs| lhs.indices.iter_mut().flatten()).chain(rhs) {
                    *index = self.copy_expr(*index, subst);
                }
            }
            StmtKind::Call(call) => {
                self.copy_attrs(&mut call.attrs, subst);
                for arg in &mut call.args {
                    *arg = self.copy_expr(*arg, subst);
                }
                if let Some(types) = self.checked.call_types.get(&id) {
                    let types = types.iter().map(|&ty| self.substitute(ty, subst)).collect();
                    call.callee.symbol = self.instance(call.callee.symbol, types);
                }
            }
            StmtKind::If { arms, otherwise } => {
                for arm in arms {
                    arm.guard = arm.guard.map(|guard| self.copy_expr(guard, subst));
                    arm.body = self.copy_block(&arm.body, subst);
                }
                if let Some(block) = otherwise {
                    *block = self.copy_block(block, subst);
                }
            }
            StmtKind::While { guard, invariants, body } => {
                *guard = guard.map(|guard| self.copy_expr(guard, subst));
                for invariant in invariants {
                    invariant.expr = self.copy_expr(invariant.expr, subst);
                }
                *body = self.copy_block(body, subst);
            }
            StmtKind::Label(_)
            | StmtKind::Havoc(_)
            | StmtKind::Yield
            | StmtKind::Break(_)
            | StmtKind::Goto(_)
            | StmtKind::Return => {}
        }
        self.out.add_stmt(kind, span)
    }

    /// Conditions of yields are expressions of the program and may apply polymorphic functions.
    fn copy_attrs(&mut self, attrs: &mut [Attr], subst: &Subst) {
        for arg in attrs.iter_mut().flat_map(|attr| &mut attr.args) {
            *arg = self.copy_expr(*arg, subst);
        }
    }

    fn copy_expr(&mut self, root: ExprId, subst: &Subst) -> ExprId {
        let program = &self.checked.program;
        let mut done: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in program.all_exprs_below(root) {
            let Expr { mut kind, span } = program.exprs[id].clone();
            kind.replace_children(|child| done[&child]);
            match &mut kind {
                ExprKind::Apply { function, .. } => {
                    if let Some(types) = self.checked.apply_types.get(&id) {
                        let types: Vec<Ty> = types.iter().map(|&ty| self.substitute(ty, subst)).collect();
                        function.symbol = self.instance(function.symbol, types);
                    }
                }
                ExprKind::Coerce { ty, .. } => {
                    *ty = self.copy_type(*ty, Some(self.checked.expr_types[id]), subst);
                }
                ExprKind::Quantified(quantified) => {
                    let known = quantified.type_params.iter().all(|param| subst.contains_key(&param.symbol));
                    if !known {
                        self.diagnostics.push(
                            Diagnostic::error(
                                codes::UNSUPPORTED,
                                span,
                                "a polymorphic quantifier inside an expression is not supported",
                            )
                            .help("write one quantifier per type, or a polymorphic axiom"),
                        );
                    }
                    quantified.type_params.clear();
                    let bound = self.checked.bound_vars.get(&id).cloned().unwrap_or_default();
                    for (binding, var) in quantified.vars.iter_mut().zip(bound) {
                        binding.ty = self.copy_type(binding.ty, Some(self.checked.vars[var].ty), subst);
                    }
                }
                _ => {}
            }
            let copy = self.out.add_expr(kind, span);
            done.insert(id, copy);
        }
        done[&root]
    }
}
