//! Procedures: signatures with handles as pairs and rounds, contracts as statements.

use std::collections::{BTreeMap, BTreeSet};

use allways_base::Symbol;
use allways_boogie::check::{VarId, VarKind};
use allways_boogie::tree::*;

use super::Translator;
use super::body::Frame;
use crate::Unsupported;
use crate::effects::unassigned_waits;

impl Translator<'_> {
    pub(super) fn procedure(
        &mut self,
        decl_idx: usize,
        decl: &Decl,
        procedure: &ProcedureDecl,
    ) -> Result<Decl, Unsupported> {
        let name = procedure.name.symbol;
        let effects = self.effects.of(name);
        let touches = effects.accesses.iter().any(|var| self.by_var.contains_key(var));
        let checks =
            procedure.specs.iter().any(|spec| !spec.free && matches!(spec.kind, SpecKind::Requires(_)));
        let mut out = procedure.clone();
        let mut attrs = decl.attrs.clone();
        attrs.retain(|attr| self.checked.program.text(attr.name.symbol) != "entrypoint");
        if !effects.has_body && !touches && !checks {
            // Says nothing about shared variables: stays as it is.
            return Ok(Decl { attrs, kind: DeclKind::Procedure(out), span: decl.span });
        }
        let mut frame = self.frame(decl_idx, name, &procedure.params, &procedure.results);
        let (params, results) = self.signature(&mut frame, decl_idx, &procedure.params, &procedure.results);
        out.params = params;
        out.results = results;
        out.specs = Vec::new();
        out.body = match (&procedure.body, effects.has_body) {
            (Some(body), _) => Some(self.body(&mut frame, procedure, body)?),
            (None, true) => None,
            (None, false) => Some(self.bodiless(&mut frame, procedure)?),
        };
        Ok(Decl { attrs, kind: DeclKind::Procedure(out), span: decl.span })
    }

    pub(super) fn implementation(
        &mut self,
        decl_idx: usize,
        decl: &Decl,
        implementation: &Implementation,
    ) -> Result<Decl, Unsupported> {
        let name = implementation.name.symbol;
        let Some((outer_idx, procedure)) = self.checked.program.procedure(name) else {
            return self.unsupported("an implementation without procedure", implementation.name.span);
        };
        let mut frame = self.frame(decl_idx, name, &implementation.params, &implementation.results);
        // Contracts use the names of the procedure.
        let outer = self.checked.frames.get(&outer_idx).cloned().unwrap_or_default();
        let inner = self.checked.frames.get(&decl_idx).cloned().unwrap_or_default();
        for (&theirs, &ours) in outer.vars.iter().zip(&inner.vars).take(outer.n_params + outer.n_results) {
            frame.renamed.insert(theirs, self.checked.vars[ours].name.symbol);
        }
        let mut out = implementation.clone();
        let (params, results) =
            self.signature(&mut frame, decl_idx, &implementation.params, &implementation.results);
        out.params = params;
        out.results = results;
        out.body = self.body(&mut frame, procedure, &implementation.body)?;
        Ok(Decl { attrs: decl.attrs.clone(), kind: DeclKind::Implementation(out), span: decl.span })
    }

    fn frame(
        &mut self,
        decl_idx: usize,
        procedure: Symbol,
        params: &[Binding],
        results: &[Binding],
    ) -> Frame {
        let mut wheres: BTreeMap<Symbol, ExprId> = BTreeMap::new();
        for decl in &self.checked.program.decls {
            if let DeclKind::Var(binding) = &decl.kind
                && let Some(clause) = binding.where_clause
            {
                wheres.insert(binding.name.symbol, clause);
            }
        }
        for binding in params.iter().chain(results) {
            // A parameter hides the global of the same name.
            match binding.where_clause {
                Some(clause) => wheres.insert(binding.name.symbol, clause),
                None => wheres.remove(&binding.name.symbol),
            };
        }
        let shape = self.shape(procedure);
        Frame { wheres, can_leave: shape.may_leave, ..Frame::new(decl_idx, procedure) }
    }

    /// Parameters and results with handles split and rounds added.
    fn signature(
        &mut self,
        frame: &mut Frame,
        decl_idx: usize,
        params: &[Binding],
        results: &[Binding],
    ) -> (Vec<Binding>, Vec<Binding>) {
        let shape = self.shape(frame.procedure);
        let mut new_params = self.split_handles(frame, decl_idx, params);
        let mut new_results = self.split_handles(frame, decl_idx, results);
        let int = self.build.int_type();
        if shape.returns_round {
            let incoming = self.build.fresh_local("round.in");
            let round = self.build.fresh_local("round");
            new_params.push(self.build.binding(incoming, int));
            new_results.push(self.build.binding(round, int));
            frame.round = Some(round);
            frame.helpers.insert("round.in".to_owned(), incoming);
        } else if shape.takes_round {
            let round = self.build.fresh_local("round");
            new_params.push(self.build.binding(round, int));
            frame.round = Some(round);
        }
        (new_params, new_results)
    }

    fn split_handles(&mut self, frame: &mut Frame, decl_idx: usize, bindings: &[Binding]) -> Vec<Binding> {
        let mut out = Vec::new();
        for binding in bindings {
            let var = self.checked.var_in(decl_idx, binding.name.symbol);
            let inner = var.and_then(|var| self.is_task_type(self.checked.vars[var].ty));
            match (var, inner) {
                (Some(var), Some(inner)) => {
                    let text = self.checked.program.text(binding.name.symbol).to_owned();
                    let result = self.build.fresh_local(&format!("{text}.result"));
                    let round = self.build.fresh_local(&format!("{text}.round"));
                    let ty = self.build.type_of(self.checked, inner);
                    let int = self.build.int_type();
                    frame.handles.insert(var, (result, round));
                    out.push(self.build.binding(result, ty));
                    out.push(self.build.binding(round, int));
                }
                _ => out.push(Binding { where_clause: None, ..binding.clone() }),
            }
        }
        out
    }

    /// Snapshots of the globals that are mentioned under `old`.
    fn snapshots(&mut self, frame: &mut Frame, exprs: &[ExprId]) -> Vec<StmtId> {
        let checked = self.checked;
        let mut vars: BTreeSet<VarId> = BTreeSet::new();
        for &root in exprs {
            for id in checked.program.all_exprs_below(root) {
                let ExprKind::Old(inner) = checked.program.exprs[id].kind else { continue };
                let below = checked.program.all_exprs_below(inner);
                let is_global =
                    |var: &VarId| matches!(checked.vars[*var].kind, VarKind::Global | VarKind::ThreadLocal);
                vars.extend(below.into_iter().filter_map(|id| checked.expr_vars[id]).filter(is_global));
            }
        }
        let mut stmts = Vec::new();
        for var in vars {
            let text = checked.program.text(checked.vars[var].name.symbol).to_owned();
            let snapshot = self.build.fresh_local(&format!("old.{text}"));
            let ty = self.build.type_of(checked, checked.vars[var].ty);
            frame.locals.push(self.build.binding(snapshot, ty));
            let value = match self.by_var.get(&var) {
                Some(&idx) => self.read(idx, frame),
                None => self.build.var(checked.vars[var].name.symbol),
            };
            stmts.push(self.build.assign(vec![(snapshot, value)]));
            frame.olds.insert(var, snapshot);
        }
        stmts
    }

    /// What comes before the statements of a body.
    fn prologue(&mut self, frame: &mut Frame, procedure: &ProcedureDecl, exprs: &[ExprId]) -> Vec<StmtId> {
        let mut stmts = Vec::new();
        if let (Some(&incoming), Some(round)) = (frame.helpers.get("round.in"), frame.round) {
            stmts.push(self.build.copy(&[(round, incoming)]));
        }
        if frame.can_leave {
            frame.leave = Some(self.build.fresh_local("leave"));
        }
        if self.tasks.contains(&frame.procedure) {
            self.leave_if_failed(frame, &mut stmts);
        }
        let mut all = exprs.to_vec();
        for spec in &procedure.specs {
            if let SpecKind::Requires(expr) | SpecKind::Ensures(expr) = spec.kind {
                all.push(expr);
            }
        }
        stmts.extend(self.snapshots(frame, &all));
        self.contract(procedure, frame, &mut stmts, |kind| matches!(kind, SpecKind::Requires(_)));
        for clause in procedure.params.iter().filter_map(|binding| binding.where_clause) {
            let clause = self.expr(clause, frame);
            stmts.push(self.build.assume(clause));
        }
        if let (Some(atomic), true) = (self.atomic, self.is_atomic(frame.procedure)) {
            stmts.push(self.count_atomic(atomic, BinaryOp::Add));
        }
        stmts
    }

    /// What a procedure promises or demands where it is translated itself: checked, or assumed if it is free.
    fn contract(
        &mut self,
        procedure: &ProcedureDecl,
        frame: &mut Frame,
        stmts: &mut Vec<StmtId>,
        is_wanted: fn(&SpecKind) -> bool,
    ) {
        for spec in procedure.specs.iter().filter(|spec| is_wanted(&spec.kind)) {
            let (SpecKind::Requires(expr) | SpecKind::Ensures(expr)) = spec.kind else { continue };
            self.build.span = spec.span;
            let expr = self.expr(expr, frame);
            if spec.free {
                stmts.push(self.build.assume(expr));
            } else {
                self.check(expr, frame, stmts);
            }
        }
    }

    fn is_atomic(&self, procedure: Symbol) -> bool {
        self.checked.program.procedure(procedure).is_some_and(|(idx, _)| {
            self.checked.program.has_attr(&self.checked.program.decls[idx].attrs, "atomic")
        })
    }

    fn count_atomic(&mut self, atomic: Symbol, op: BinaryOp) -> StmtId {
        let (depth, one) = (self.build.var(atomic), self.build.int(1));
        let value = self.build.binary(op, depth, one);
        self.build.assign(vec![(atomic, value)])
    }

    fn body(
        &mut self,
        frame: &mut Frame,
        procedure: &ProcedureDecl,
        body: &Body,
    ) -> Result<Body, Unsupported> {
        let checked = self.checked;
        self.build.span = body.span;
        let exprs: Vec<ExprId> = checked
            .program
            .stmts_below(&body.block)
            .into_iter()
            .flat_map(|stmt| checked.program.stmt_exprs(stmt))
            .collect();
        for binding in &body.locals {
            match binding.where_clause {
                Some(clause) => frame.wheres.insert(binding.name.symbol, clause),
                None => frame.wheres.remove(&binding.name.symbol),
            };
        }
        frame.unassigned = unassigned_waits(self.checked, frame.decl_idx, body);
        let mut stmts = self.prologue(frame, procedure, &exprs);
        let locals = self.split_handles(frame, frame.decl_idx, &body.locals);
        if !frame.unassigned.is_empty() {
            for binding in &body.locals {
                let handle =
                    checked.var_in(frame.decl_idx, binding.name.symbol).and_then(|v| frame.handles.get(&v));
                if let Some(&(_, round)) = handle {
                    let nothing = self.build.int(-1);
                    stmts.push(self.build.assign(vec![(round, nothing)]));
                }
            }
        }
        let results = procedure.results.iter().filter_map(|b| b.where_clause);
        for clause in results.chain(body.locals.iter().filter_map(|b| b.where_clause)) {
            let clause = self.expr(clause, frame);
            stmts.push(self.build.assume(clause));
        }
        let ensures = procedure.specs.iter().any(|spec| matches!(spec.kind, SpecKind::Ensures(_)));
        let is_atomic = self.atomic.is_some() && self.is_atomic(frame.procedure);
        if ensures || is_atomic {
            frame.done = Some(self.build.fresh_local("done"));
        }
        stmts.extend(self.block(&body.block, frame)?);
        self.build.span = body.span;
        if let Some(done) = frame.done
            && frame.done_used
        {
            stmts.push(self.build.label(done));
        }
        self.contract(procedure, frame, &mut stmts, |kind| matches!(kind, SpecKind::Ensures(_)));
        if let Some(leave) = frame.leave
            && frame.leave_used
        {
            stmts.push(self.build.label(leave));
        }
        if let (Some(atomic), true) = (self.atomic, is_atomic) {
            stmts.push(self.count_atomic(atomic, BinaryOp::Sub));
        }
        let locals = locals.into_iter().chain(std::mem::take(&mut frame.locals)).collect();
        Ok(Body { locals, block: Block { stmts }, span: body.span })
    }

    /// A procedure without body whose contract speaks about shared variables does what it says.
    fn bodiless(&mut self, frame: &mut Frame, procedure: &ProcedureDecl) -> Result<Body, Unsupported> {
        self.build.span = procedure.name.span;
        let mut stmts = self.prologue(frame, procedure, &[]);
        let mut modified: Vec<Symbol> = Vec::new();
        for spec in &procedure.specs {
            if let SpecKind::Modifies(names) = &spec.kind {
                modified.extend(names.iter().map(|name| name.symbol));
            }
        }
        for &name in &modified {
            let Some(var) = self.checked.var_in(frame.decl_idx, name) else { continue };
            match self.by_var.get(&var).copied() {
                Some(idx) => {
                    let ty = self.shared[idx].ty;
                    let purpose = format!("{}.any", self.checked.program.text(name));
                    let any = self.helper(frame, &purpose, ty);
                    stmts.push(self.build.havoc(&[any]));
                    let value = self.build.var(any);
                    self.write(idx, value, frame, &mut stmts);
                }
                None => stmts.push(self.build.havoc(&[name])),
            }
        }
        let wheres: Vec<ExprId> =
            modified.iter().filter_map(|name| frame.wheres.get(name).copied()).collect();
        let results = procedure.results.iter().filter_map(|b| b.where_clause);
        let ensures = procedure.specs.iter().filter_map(|spec| match spec.kind {
            SpecKind::Ensures(expr) => Some(expr),
            _ => None,
        });
        for clause in wheres.into_iter().chain(results).chain(ensures) {
            let clause = self.expr(clause, frame);
            stmts.push(self.build.assume(clause));
        }
        if let Some(leave) = frame.leave
            && frame.leave_used
        {
            stmts.push(self.build.label(leave));
        }
        let locals = std::mem::take(&mut frame.locals);
        Ok(Body { locals, block: Block { stmts }, span: procedure.name.span })
    }
}
