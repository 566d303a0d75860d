//! The two clones of a procedure: one for the stem, which keeps its name, statements and globals, and one for the loop.
//!
//! In both, posts choose a fate, and what is asserted is assumed: a run that fails is not infinite.

use allways_base::Symbol;
use allways_boogie::dialect::AsyncOp;
use allways_boogie::tree::*;

use super::{Phase, Translator};
use crate::Unsupported;
use crate::build::{self, Builder, HasBuilder};

impl HasBuilder for Translator<'_> {
    fn builder(&mut self) -> &mut Builder {
        &mut self.build
    }
}

impl Translator<'_> {
    /// Both clones of a procedure count towards one recursion bound.
    fn group(&mut self, attrs: &[Attr], name: Symbol) -> Vec<Attr> {
        let text = self.checked.program.text(name).to_owned();
        let group = self.build.text(&text);
        let mut attrs: Vec<Attr> = attrs.to_vec();
        attrs.retain(|attr| {
            !matches!(
                self.checked.program.text(attr.name.symbol),
                "entrypoint" | "atomic" | "recursion_group"
            )
        });
        attrs.push(self.build.attr("recursion_group", vec![group]));
        attrs
    }

    pub(super) fn stem_clone(&mut self, decl: &Decl, name: Symbol) -> Result<Decl, Unsupported> {
        self.build.span = decl.span;
        let mut decl = decl.clone();
        match &mut decl.kind {
            DeclKind::Procedure(procedure) => {
                procedure.specs.iter_mut().for_each(|spec| spec.free = true);
                decl.attrs = self.group(&decl.attrs, name);
            }
            DeclKind::Implementation(_) => {}
            _ => return Ok(decl),
        }
        if let Some(body) = build::body_mut(&mut decl) {
            body.block = self.stem_block(&body.block)?;
            body.locals.append(&mut self.locals);
        }
        Ok(decl)
    }

    fn stem_block(&mut self, block: &Block) -> Result<Block, Unsupported> {
        let checked = self.checked;
        let mut stmts = Vec::new();
        for &id in &block.stmts {
            match checked.async_op(id) {
                Some(AsyncOp::Post(post)) => {
                    let (call, args) = (post.call.clone(), post.call.args.clone());
                    stmts.push(self.post(id, &call, &args, Phase::Stem));
                    continue;
                }
                Some(AsyncOp::AtomicBegin | AsyncOp::AtomicEnd | AsyncOp::Record(_)) => {
                    // Nothing interrupts a task anyway.
                    let expr = self.build.bool(true);
                    self.build.program.stmts[id].kind = StmtKind::Assume { attrs: Vec::new(), expr };
                    continue;
                }
                Some(AsyncOp::Unreachable) => {
                    let expr = self.build.bool(false);
                    self.build.program.stmts[id].kind = StmtKind::Assume { attrs: Vec::new(), expr };
                }
                _ => {}
            }
            let mut kind = self.build.program.stmts[id].kind.clone();
            if let StmtKind::Assert { expr, .. } = kind {
                kind = StmtKind::Assume { attrs: Vec::new(), expr };
                self.build.program.stmts[id].kind = kind.clone();
            }
            if let StmtKind::While { invariants, .. } = &mut kind {
                invariants.iter_mut().for_each(|invariant| invariant.free = true);
            }
            build::rewrite_inner(self, id, kind, Translator::stem_block)?;
            stmts.push(id);
        }
        Ok(Block { stmts })
    }

    pub(super) fn loop_clone(&mut self, decl_idx: usize, decl: &Decl, name: Symbol) -> Decl {
        self.build.span = decl.span;
        let mut decl = decl.clone();
        let clone = self.loop_names[&name];
        let (params, results, body) = match &mut decl.kind {
            DeclKind::Procedure(procedure) => {
                procedure.name.symbol = clone;
                let has_body = procedure.body.is_some() || self.checked.implementations.contains_key(&name);
                let mut specs = Vec::new();
                for spec in &procedure.specs {
                    let kind = match &spec.kind {
                        SpecKind::Requires(expr) => SpecKind::Requires(self.in_loop(*expr)),
                        SpecKind::Ensures(expr) => SpecKind::Ensures(self.in_loop(*expr)),
                        SpecKind::Modifies(names) => {
                            let names: Vec<Ident> =
                                names.iter().map(|name| self.target(decl_idx, *name)).collect();
                            if !has_body {
                                specs.extend(self.wheres_of(decl_idx, &spec.kind).into_iter().map(|expr| {
                                    Spec { kind: SpecKind::Ensures(expr), free: true, ..spec.clone() }
                                }));
                            }
                            SpecKind::Modifies(names)
                        }
                        SpecKind::Posts(_) => continue,
                    };
                    specs.push(Spec { kind, free: true, ..spec.clone() });
                }
                procedure.specs = specs;
                (&mut procedure.params, &mut procedure.results, procedure.body.as_mut())
            }
            DeclKind::Implementation(implementation) => {
                implementation.name.symbol = clone;
                (&mut implementation.params, &mut implementation.results, Some(&mut implementation.body))
            }
            _ => return decl,
        };
        for binding in params.iter_mut().chain(results) {
            binding.where_clause = binding.where_clause.map(|clause| self.in_loop(clause));
        }
        if let Some(body) = body {
            for binding in &mut body.locals {
                binding.where_clause = binding.where_clause.map(|clause| self.in_loop(clause));
            }
            body.block = self.loop_block(decl_idx, &body.block);
            body.locals.append(&mut self.locals);
        }
        if matches!(decl.kind, DeclKind::Procedure(_)) {
            decl.attrs = self.group(&decl.attrs, name);
        }
        decl
    }

    /// The `where` clauses of the globals in a `modifies` clause, about their copies.
    fn wheres_of(&mut self, decl_idx: usize, modifies: &SpecKind) -> Vec<ExprId> {
        let SpecKind::Modifies(names) = modifies else { return Vec::new() };
        names.clone().iter().filter_map(|name| self.where_of(decl_idx, name.symbol)).collect()
    }

    /// What holds of the copy of a global after it got an arbitrary value.
    fn where_of(&mut self, decl_idx: usize, name: Symbol) -> Option<ExprId> {
        let var = self.checked.var_in(decl_idx, name)?;
        self.copies.get(&var)?;
        let clause = self.checked.program.decls.iter().find_map(|decl| match &decl.kind {
            DeclKind::Var(binding) if binding.name.symbol == name => binding.where_clause,
            _ => None,
        })?;
        Some(self.in_loop(clause))
    }

    /// A variable that a statement assigns, in the loop.
    fn target(&self, decl_idx: usize, name: Ident) -> Ident {
        let copy = self.checked.var_in(decl_idx, name.symbol).and_then(|var| self.copies.get(&var));
        copy.map_or(name, |&(copy, _)| Ident { symbol: copy, ..name })
    }

    /// A copy of an expression for the clone of the loop. Names of other variables mean others there, so leaves are
    /// never shared.
    fn in_loop(&mut self, root: ExprId) -> ExprId {
        let (checked, copies) = (self.checked, &self.copies);
        self.build.program.rewrite_expr(root, |program, id| {
            let ExprKind::Var(name) = program.exprs[id].kind else { return id };
            let copy = checked.expr_vars.get(id).copied().flatten().and_then(|var| copies.get(&var));
            let span = program.exprs[id].span;
            program.var(copy.map_or(name, |&(copy, _)| copy), span)
        })
    }

    fn loop_block(&mut self, decl_idx: usize, block: &Block) -> Block {
        let mut stmts = Vec::new();
        for &id in &block.stmts {
            self.loop_stmt(decl_idx, id, &mut stmts);
        }
        Block { stmts }
    }

    fn loop_stmt(&mut self, decl_idx: usize, id: StmtId, out: &mut Vec<StmtId>) {
        let checked = self.checked;
        let Stmt { kind, span } = checked.program.stmts[id].clone();
        self.build.span = span;
        match checked.async_op(id) {
            Some(AsyncOp::Post(post)) => {
                let args: Vec<ExprId> = post.call.args.iter().map(|&arg| self.in_loop(arg)).collect();
                out.push(self.post(id, post.call, &args, Phase::Loop));
                return;
            }
            Some(AsyncOp::AtomicBegin | AsyncOp::AtomicEnd | AsyncOp::Record(_)) => return,
            Some(AsyncOp::Unreachable) => {
                let no = self.build.bool(false);
                let stmt = self.build.assume(no);
                out.push(self.stands_for(stmt, id));
                return;
            }
            _ => {}
        }
        let kind = match kind {
            StmtKind::Label(_) | StmtKind::Break(_) | StmtKind::Goto(_) | StmtKind::Return => kind,
            StmtKind::Yield => return,
            StmtKind::Assert { expr, .. } | StmtKind::Assume { expr, .. } => {
                StmtKind::Assume { attrs: Vec::new(), expr: self.in_loop(expr) }
            }
            StmtKind::Havoc(names) => {
                let targets = names.iter().map(|&name| self.target(decl_idx, name)).collect();
                let stmt = self.build.stmt(StmtKind::Havoc(targets));
                out.push(self.stands_for(stmt, id));
                for name in names {
                    if let Some(clause) = self.where_of(decl_idx, name.symbol) {
                        out.push(self.build.assume(clause));
                    }
                }
                return;
            }
            StmtKind::Assign { lhs, rhs } => {
                let lhs = lhs
                    .iter()
                    .map(|lhs| Lhs {
                        name: self.target(decl_idx, lhs.name),
                        indices: lhs
                            .indices
                            .iter()
                            .map(|tuple| tuple.iter().map(|&index| self.in_loop(index)).collect())
                            .collect(),
                    })
                    .collect();
                StmtKind::Assign { lhs, rhs: rhs.iter().map(|&value| self.in_loop(value)).collect() }
            }
            StmtKind::Call(mut call) => {
                call.args = call.args.iter().map(|&arg| self.in_loop(arg)).collect();
                call.outs = call.outs.iter().map(|out| out.map(|name| self.target(decl_idx, name))).collect();
                call.attrs = Vec::new();
                if let Some(&clone) = self.loop_names.get(&call.callee.symbol) {
                    call.callee.symbol = clone;
                }
                StmtKind::Call(call)
            }
            StmtKind::If { arms, otherwise } => {
                let arms = arms
                    .iter()
                    .map(|arm| Arm {
                        guard: arm.guard.map(|guard| self.in_loop(guard)),
                        body: self.loop_block(decl_idx, &arm.body),
                    })
                    .collect();
                let otherwise = otherwise.map(|block| self.loop_block(decl_idx, &block));
                StmtKind::If { arms, otherwise }
            }
            StmtKind::While { guard, invariants, body } => {
                let invariants = invariants
                    .iter()
                    .map(|invariant| Invariant {
                        free: true,
                        attrs: Vec::new(),
                        expr: self.in_loop(invariant.expr),
                    })
                    .collect();
                let guard = guard.map(|guard| self.in_loop(guard));
                StmtKind::While { guard, invariants, body: self.loop_block(decl_idx, &body) }
            }
        };
        self.build.span = span;
        let stmt = self.build.stmt(kind);
        out.push(self.stands_for(stmt, id));
    }

    fn stands_for(&mut self, new: StmtId, original: StmtId) -> StmtId {
        self.legend.stands_for.insert(new, original);
        new
    }
}
