//! The new entry point: initial state, the old entry point, validation of guesses, the assertion.

use allways_base::Symbol;
use allways_boogie::tree::*;

use super::Translator;
use super::body::Frame;
use crate::Unsupported;

/// Pairs of variables that have to be equal.
type Equalities = Vec<(Symbol, Symbol)>;

impl Translator<'_> {
    pub(super) fn driver(&mut self, decls: &mut Vec<Decl>) -> Result<Symbol, Unsupported> {
        let checked = self.checked;
        let Some((decl_idx, procedure)) = checked.program.procedure(self.entry) else {
            return Err(Unsupported { what: "a program without entry point".to_owned(), span: None });
        };
        let procedure = procedure.clone();
        let span = procedure.name.span;
        self.build.span = span;
        let text = checked.program.text(self.entry).to_owned();
        let name = self.build.fresh(&format!("{text}.sequential"));
        let shape = self.shape(self.entry);
        let mut frame = Frame::new(decl_idx, self.entry);
        let mut stmts = Vec::new();
        let int = self.build.int_type();
        // The initial state is that of the first round.
        let round = if self.n_rounds > 1 {
            let round = self.helper(&mut frame, "round", int);
            let zero = self.build.int(0);
            stmts.push(self.build.assign(vec![(round, zero)]));
            frame.round = Some(round);
            Some(round)
        } else {
            None
        };
        let mut locals: Vec<Binding> = Vec::new();
        for binding in &procedure.params {
            if let Some(var) = checked.var_in(decl_idx, binding.name.symbol)
                && self.is_task_type(checked.vars[var].ty).is_some()
            {
                return self.unsupported("an entry point that takes a handle", binding.name.span);
            }
            let name = self.driver_local(&mut frame, decl_idx, binding.name.symbol);
            locals.push(Binding { where_clause: None, name: self.build.ident(name), ..binding.clone() });
        }
        let clauses = checked.program.decls.iter().filter_map(|decl| match &decl.kind {
            DeclKind::Var(binding) => binding.where_clause,
            DeclKind::Axiom(expr) if checked.program.has_attr(&decl.attrs, "init") => Some(*expr),
            _ => None,
        });
        let own = procedure.specs.iter().filter_map(|spec| match spec.kind {
            SpecKind::Requires(expr) => Some(expr),
            _ => None,
        });
        let own = own.chain(procedure.params.iter().filter_map(|binding| binding.where_clause));
        for clause in clauses.chain(own).collect::<Vec<_>>() {
            let clause = self.expr(clause, &frame);
            stmts.push(self.build.assume(clause));
        }
        self.build.span = span;
        if let Some(failed) = self.failed {
            let no = self.build.bool(false);
            let first = self.shared[failed].copies[0];
            stmts.push(self.build.assign(vec![(first, no)]));
        }
        if let Some(failing) = self.failing {
            let (zero, value) = (self.build.int(0), self.build.var(failing));
            let from = self.build.binary(BinaryOp::Le, zero, value);
            let (value, last) = (self.build.var(failing), self.build.int(self.n_rounds as i64));
            let to = self.build.binary(BinaryOp::Le, value, last);
            let within = self.build.and(&[from, to]);
            stmts.push(self.build.assume(within));
        }
        let flags: Vec<Symbol> = [self.failed_plain, self.stopped].into_iter().flatten().collect();
        for flag in flags {
            let no = self.build.bool(false);
            stmts.push(self.build.assign(vec![(flag, no)]));
        }
        for (counter, start) in [(self.used, 0), (self.atomic, 0), (self.joined, -1)] {
            if let Some(counter) = counter {
                let start = self.build.int(start);
                stmts.push(self.build.assign(vec![(counter, start)]));
            }
        }
        let (starts, ends) = self.guesses(&mut frame, &mut stmts);
        let mut args: Vec<ExprId> = locals
            .iter()
            .map(|b| b.name.symbol)
            .collect::<Vec<_>>()
            .into_iter()
            .map(|name| self.build.var(name))
            .collect();
        let mut outs = Vec::new();
        for binding in &procedure.results {
            let Some(var) = checked.var_in(decl_idx, binding.name.symbol) else { continue };
            if self.is_task_type(checked.vars[var].ty).is_some() {
                return self.unsupported("an entry point that returns a handle", binding.name.span);
            }
            let name = self.driver_local(&mut frame, decl_idx, binding.name.symbol);
            let name = self.build.ident(name);
            locals.push(Binding { where_clause: None, name, ..binding.clone() });
            outs.push(Some(name));
        }
        if let Some(round) = round {
            if shape.takes_round {
                args.push(self.build.var(round));
            }
            if shape.returns_round {
                outs.push(Some(self.build.ident(round)));
            }
        }
        let callee = self.build.ident(self.entry);
        let call = Call { is_async: false, free: false, attrs: Vec::new(), outs, callee, args };
        stmts.push(self.build.stmt(StmtKind::Call(call)));
        if !ends.is_empty() {
            stmts.push(self.build.assume_equal(&ends));
        }
        if !starts.is_empty() {
            stmts.push(self.build.assume_equal(&starts));
        }
        let last = match (self.failed, self.failed_plain) {
            (Some(failed), _) => {
                let shared = &self.shared[failed];
                let names = if self.is_child_first() { &shared.copies } else { &shared.next };
                names.last().copied()
            }
            (None, plain) => plain,
        };
        if let Some(last) = last {
            let seen = self.build.var(last);
            if let Some(failing) = self.failing {
                // What was guessed has happened.
                let is_round = self.is_round(failing);
                let (left, right) = (self.build.var(last), is_round);
                let same = self.build.binary(BinaryOp::Iff, left, right);
                stmts.push(self.build.assume(same));
            }
            let expr = self.build.not(seen);
            stmts.push(self.build.stmt(StmtKind::Assert { attrs: Vec::new(), expr }));
        }
        if let Some(goal) = self.goal {
            let reached = self.at_end(goal.accept);
            let expr = self.build.not(reached);
            stmts.push(self.build.stmt(StmtKind::Assert { attrs: Vec::new(), expr }));
        }
        locals.extend(std::mem::take(&mut frame.locals));
        let body = Body { locals, block: Block { stmts }, span };
        let driver = ProcedureDecl {
            name: self.build.ident(name),
            type_params: Vec::new(),
            params: Vec::new(),
            results: Vec::new(),
            specs: Vec::new(),
            body: Some(body),
        };
        let entrypoint = self.build.attr("entrypoint", Vec::new());
        decls.push(Decl { attrs: vec![entrypoint], kind: DeclKind::Procedure(driver), span });
        Ok(name)
    }

    /// The local of the driver that stands for a parameter or result of the entry point: of another name than any global,
    /// which a parameter may hide.
    fn driver_local(&mut self, frame: &mut Frame, decl_idx: usize, name: Symbol) -> Symbol {
        let text = self.checked.program.text(name).to_owned();
        let local = match self.checked.globals.iter().any(|&var| self.checked.vars[var].name.symbol == name) {
            true => self.build.fresh_local(&text),
            false => name,
        };
        if let Some(var) = self.checked.var_in(decl_idx, name) {
            frame.renamed.insert(var, local);
        }
        local
    }

    /// The expression about the globals at the end of the simulated run, which is the end of the last round.
    fn at_end(&mut self, expr: ExprId) -> ExprId {
        let checked = self.checked;
        let (by_var, shared) = (&self.by_var, &self.shared);
        let (last, is_child_first) = (self.n_rounds - 1, self.is_child_first());
        self.build.program.rewrite_expr(expr, |program, id| {
            // Goals stand in no declaration, so names are looked up here; what they bind differs from all globals.
            let ExprKind::Var(name) = program.exprs[id].kind else { return id };
            let var = checked.global_names.get(&name);
            let Some(&idx) = var.and_then(|var| by_var.get(var)) else { return id };
            let names = if is_child_first { &shared[idx].copies } else { &shared[idx].next };
            let span = program.exprs[id].span;
            program.var(names[last], span)
        })
    }

    /// Whether the guessed round of the failure is one of the rounds.
    fn is_round(&mut self, failing: Symbol) -> ExprId {
        let (failing, n_rounds) = (self.build.var(failing), self.build.int(self.n_rounds as i64));
        self.build.binary(BinaryOp::Lt, failing, n_rounds)
    }

    /// Remembers where rounds start and guesses where the first task ends. Returns the equalities that
    /// have to hold in the end: round after round, and for the first task.
    fn guesses(&mut self, frame: &mut Frame, stmts: &mut Vec<StmtId>) -> (Equalities, Equalities) {
        let mut starts = Vec::new();
        let mut ends = Vec::new();
        let mut remember = Vec::new();
        let mut promise = Vec::new();
        if self.is_serial() {
            // The first task runs before round 0; rounds start where the ones before have ended.
            for idx in 0..self.shared.len() {
                let (slots, ty) = (self.shared[idx].next.clone(), self.shared[idx].ty);
                for (round, &slot) in slots.iter().enumerate() {
                    let text = self.build.program.text(slot).to_owned();
                    let start = self.helper(frame, &format!("start.{text}"), ty);
                    remember.push((start, slot));
                    let reached = if round == 0 { self.shared[idx].copies[0] } else { slots[round - 1] };
                    starts.push((reached, start));
                }
            }
            if !remember.is_empty() {
                stmts.push(self.build.copy(&remember));
            }
            return (starts, ends);
        }
        for idx in 0..self.shared.len() {
            for round in 0..self.shared[idx].next.len() {
                let (copy, next, end, ty) = {
                    let shared = &self.shared[idx];
                    (shared.copies[round], shared.next[round], shared.end[round], shared.ty)
                };
                if round > 0 {
                    let text = self.build.program.text(copy).to_owned();
                    let start = self.helper(frame, &format!("start.{text}"), ty);
                    remember.push((start, copy));
                    let before = &self.shared[idx];
                    let reached =
                        if self.is_child_first() { before.copies[round - 1] } else { before.next[round - 1] };
                    starts.push((reached, start));
                }
                if self.is_child_first() {
                    continue;
                }
                if self.has_waits {
                    promise.push((end, next));
                    ends.push((copy, end));
                } else {
                    let text = self.build.program.text(end).to_owned();
                    let local = self.helper(frame, &format!("local.{text}"), ty);
                    promise.push((local, next));
                    ends.push((copy, local));
                }
            }
        }
        if !remember.is_empty() {
            stmts.push(self.build.copy(&remember));
        }
        if !promise.is_empty() {
            stmts.push(self.build.copy(&promise));
        }
        (starts, ends)
    }
}
