//! Statements.

use std::collections::{BTreeMap, BTreeSet};

use allways_base::{Span, Symbol};
use allways_boogie::check::{VarId, VarKind};
use allways_boogie::dialect::{AsyncOp, Yield};
use allways_boogie::tree::*;

use super::Translator;
use crate::{Origin, Role, Unsupported};

/// A body under construction.
pub(super) struct Frame {
    pub decl_idx: usize,
    pub procedure: Symbol,
    /// The variable with the current round; `None` with one round.
    pub round: Option<Symbol>,
    /// New local variables.
    pub locals: Vec<Binding>,
    /// Snapshots for `old`.
    pub olds: BTreeMap<VarId, Symbol>,
    /// Where failures lead.
    pub leave: Option<Symbol>,
    pub leave_used: bool,
    /// Where `return` leads, if something has to be checked there.
    pub done: Option<Symbol>,
    pub done_used: bool,
    /// Handles: the locals for result and round.
    pub handles: BTreeMap<VarId, (Symbol, Symbol)>,
    /// `where` clauses that havocs have to repeat.
    pub wheres: BTreeMap<Symbol, ExprId>,
    pub unassigned: BTreeSet<StmtId>,
    /// Names of helper variables, by what they are for.
    pub helpers: BTreeMap<String, Symbol>,
    pub can_leave: bool,
    /// Other names for parameters and results, in implementations.
    pub renamed: BTreeMap<VarId, Symbol>,
}

impl Frame {
    pub fn new(decl_idx: usize, procedure: Symbol) -> Self {
        Frame {
            decl_idx,
            procedure,
            round: None,
            locals: Vec::new(),
            olds: BTreeMap::new(),
            leave: None,
            leave_used: false,
            done: None,
            done_used: false,
            handles: BTreeMap::new(),
            wheres: BTreeMap::new(),
            unassigned: BTreeSet::new(),
            helpers: BTreeMap::new(),
            can_leave: false,
            renamed: BTreeMap::new(),
        }
    }
}

pub(super) type Stmts = Vec<StmtId>;

impl Translator<'_> {
    pub(super) fn mark(&mut self, stmt: StmtId, original: StmtId, role: Role) -> StmtId {
        self.origins.insert(stmt, Origin { stmt: original, role });
        stmt
    }

    /// A local variable of the body for a purpose, made on first use.
    pub(super) fn helper(&mut self, frame: &mut Frame, purpose: &str, ty: TypeId) -> Symbol {
        if let Some(&name) = frame.helpers.get(purpose) {
            return name;
        }
        let name = self.build.fresh_local(purpose);
        frame.helpers.insert(purpose.to_owned(), name);
        frame.locals.push(self.build.binding(name, ty));
        name
    }

    /// `{:origin file, line, column}` before what stands for a statement of another kind.
    pub(super) fn announce(&mut self, what: &str, span: Span, out: &mut Stmts) {
        let Some(sources) = self.options.sources else { return };
        let at = sources.line_col(span);
        let file = sources.file(span.file).name.clone();
        let file = self.build.text(&file.replace('\\', "/").replace('"', "'"));
        let (line, column) = (self.build.int(at.line.into()), self.build.int(at.column.into()));
        let what = self.build.text(what);
        let attr = self.build.attr("origin", vec![file, line, column, what]);
        let yes = self.build.bool(true);
        out.push(self.build.stmt(StmtKind::Assume { attrs: vec![attr], expr: yes }));
    }

    /// What the running task sees of a shared variable.
    pub(super) fn read(&mut self, idx: usize, frame: &Frame) -> ExprId {
        let copies = self.shared[idx].copies.clone();
        let Some(round) = frame.round.filter(|_| copies.len() > 1) else { return self.build.var(copies[0]) };
        let mut value = self.build.var(copies[copies.len() - 1]);
        for (number, &copy) in copies.iter().enumerate().rev().skip(1) {
            let (round, number) = (self.build.var(round), self.build.int(number as i64));
            let here = self.build.eq(round, number);
            let copy = self.build.var(copy);
            value = self.build.ite(here, copy, value);
        }
        value
    }

    /// Assigns a shared variable in the current round.
    pub(super) fn write(&mut self, idx: usize, value: ExprId, frame: &mut Frame, out: &mut Stmts) -> StmtId {
        let copies = self.shared[idx].copies.clone();
        let Some(round) = frame.round.filter(|_| copies.len() > 1) else {
            let stmt = self.build.assign(vec![(copies[0], value)]);
            out.push(stmt);
            return stmt;
        };
        let value = if self.build.is_atomic(value) {
            value
        } else {
            let ty = self.shared[idx].ty;
            let name = self.build.program.text(copies[0]).trim_end_matches(".0").to_owned();
            let temp = self.helper(frame, &format!("{name}.new"), ty);
            out.push(self.build.assign(vec![(temp, value)]));
            self.build.var(temp)
        };
        let mut pairs = Vec::new();
        for (number, &copy) in copies.iter().enumerate() {
            let (round, number) = (self.build.var(round), self.build.int(number as i64));
            let here = self.build.eq(round, number);
            let old = self.build.var(copy);
            let new = self.build.ite(here, value, old);
            pairs.push((copy, new));
        }
        let stmt = self.build.assign(pairs);
        out.push(stmt);
        stmt
    }

    /// The expression in terms of the new variables.
    pub(super) fn expr(&mut self, root: ExprId, frame: &Frame) -> ExprId {
        let checked = self.checked;
        let n_original = checked.expr_vars.len();
        let var_of = |id: ExprId| {
            if (id.as_u32() as usize) < n_original { checked.expr_vars[id] } else { None }
        };
        // First what stands under `old`, innermost first; then the rest.
        let olds: Vec<ExprId> = checked
            .program
            .all_exprs_below(root)
            .into_iter()
            .filter(|&id| matches!(checked.program.exprs[id].kind, ExprKind::Old(_)))
            .collect();
        let mut replaced: BTreeMap<ExprId, ExprId> = BTreeMap::new();
        for old in olds {
            let ExprKind::Old(inner) = checked.program.exprs[old].kind else { continue };
            let new = self.build.program.rewrite_expr(inner, |program, id| {
                if let ExprKind::Old(inner) = program.exprs[id].kind {
                    return inner;
                }
                let Some(&snapshot) = var_of(id).and_then(|var| frame.olds.get(&var)) else { return id };
                let span = program.exprs[id].span;
                program.var(snapshot, span)
            });
            replaced.insert(inner, new);
        }
        let root = if replaced.is_empty() {
            root
        } else {
            self.build.program.rewrite_expr(root, |program, id| match program.exprs[id].kind {
                ExprKind::Old(inner) => replaced.get(&inner).copied().unwrap_or(inner),
                _ => id,
            })
        };
        let mut current: BTreeMap<usize, ExprId> = BTreeMap::new();
        for id in self.build.program.all_exprs_below(root) {
            if let Some(&idx) = var_of(id).and_then(|var| self.by_var.get(&var)) {
                current.entry(idx).or_insert(id);
            }
        }
        let used: Vec<usize> = current.keys().copied().collect();
        let values: BTreeMap<usize, ExprId> =
            used.into_iter().map(|idx| (idx, self.read(idx, frame))).collect();
        let by_var = &self.by_var;
        let new = self.build.program.rewrite_expr(root, |program, id| {
            let Some(var) = var_of(id) else { return id };
            if let Some(&name) = frame.renamed.get(&var) {
                let span = program.exprs[id].span;
                return program.var(name, span);
            }
            match by_var.get(&var) {
                Some(idx) => values[idx],
                None => id,
            }
        });
        // A contract stands in the procedure, in its implementations and in the driver, each with names of its own.
        self.build.program.copy_expr(new)
    }

    pub(super) fn resolve(&self, name: Symbol, frame: &Frame) -> Option<VarId> {
        self.checked.var_in(frame.decl_idx, name)
    }

    pub(super) fn shared_of(&self, name: Symbol, frame: &Frame) -> Option<usize> {
        self.by_var.get(&self.resolve(name, frame)?).copied()
    }

    pub(super) fn block(&mut self, block: &Block, frame: &mut Frame) -> Result<Stmts, Unsupported> {
        let mut out = Vec::new();
        for &stmt in &block.stmts {
            self.build.span = self.checked.program.stmts[stmt].span;
            self.stmt(stmt, frame, &mut out)?;
        }
        Ok(out)
    }

    /// Leaves the task if it has failed.
    pub(super) fn leave_if_failed(&mut self, frame: &mut Frame, out: &mut Stmts) {
        if let (Some(failed), Some(leave)) = (self.failed, frame.leave) {
            let seen = self.has_failed(failed, frame);
            let go = self.build.goto(leave);
            out.push(self.build.if_then(seen, vec![go]));
            frame.leave_used = true;
        }
    }

    /// Whether an assertion has failed before this point of the current round.
    fn has_failed(&mut self, failed: usize, frame: &Frame) -> ExprId {
        let (Some(failing), Some(round)) = (self.failing, frame.round) else {
            return self.read(failed, frame);
        };
        let (earlier, now) = (self.build.var(failing), self.build.var(round));
        let before = self.build.binary(BinaryOp::Lt, earlier, now);
        let (earlier, now) = (self.build.var(failing), self.build.var(round));
        let here = self.build.eq(earlier, now);
        let flag = self.build.var(self.shared[failed].copies[0]);
        let here = self.build.and(&[here, flag]);
        self.build.binary(BinaryOp::Or, before, here)
    }

    /// An assertion, by the chosen mode.
    pub(super) fn check(&mut self, holds: ExprId, frame: &mut Frame, out: &mut Stmts) -> Option<StmtId> {
        if let Some(failed) = self.failed_plain {
            let before = self.build.var(failed);
            let broken = self.build.not(holds);
            let value = self.build.binary(BinaryOp::Or, before, broken);
            let stmt = self.build.assign(vec![(failed, value)]);
            out.push(stmt);
            return Some(stmt);
        }
        let (failed, leave) = (self.failed?, frame.leave?);
        let mut inner = Vec::new();
        if let (Some(failing), Some(round)) = (self.failing, frame.round) {
            let (guessed, now) = (self.build.var(failing), self.build.var(round));
            let here = self.build.eq(guessed, now);
            inner.push(self.build.assume(here));
        }
        let yes = self.build.bool(true);
        self.write(failed, yes, frame, &mut inner);
        inner.push(self.build.goto(leave));
        frame.leave_used = true;
        let broken = self.build.not(holds);
        let stmt = self.build.if_then(broken, inner);
        out.push(stmt);
        Some(stmt)
    }

    pub(super) fn assume_where(&mut self, name: Symbol, frame: &Frame, out: &mut Stmts) {
        if let Some(&clause) = frame.wheres.get(&name) {
            let clause = self.expr(clause, frame);
            out.push(self.build.assume(clause));
        }
    }

    fn stmt(&mut self, id: StmtId, frame: &mut Frame, out: &mut Stmts) -> Result<(), Unsupported> {
        let checked = self.checked;
        let Stmt { kind, span } = checked.program.stmts[id].clone();
        if let Some(op) = checked.async_op(id) {
            return self.async_stmt(id, op, span, frame, out);
        }
        match kind {
            StmtKind::Label(_) | StmtKind::Break(_) | StmtKind::Goto(_) | StmtKind::Yield => {
                let copy = self.build.stmt(kind);
                out.push(self.mark(copy, id, Role::Plain));
            }
            StmtKind::Return => {
                let stmt = match frame.done {
                    Some(done) => {
                        frame.done_used = true;
                        self.build.goto(done)
                    }
                    None => self.build.stmt(StmtKind::Return),
                };
                out.push(self.mark(stmt, id, Role::Plain));
            }
            StmtKind::Assert { expr, .. } => {
                self.announce("assert", span, out);
                let expr = self.expr(expr, frame);
                if let Some(stmt) = self.check(expr, frame, out) {
                    self.mark(stmt, id, Role::Plain);
                }
            }
            StmtKind::Assume { attrs, expr } => {
                let expr = self.expr(expr, frame);
                let stmt = self.build.stmt(StmtKind::Assume { attrs, expr });
                out.push(self.mark(stmt, id, Role::Plain));
            }
            StmtKind::Havoc(names) => self.havoc(id, &names, frame, out),
            StmtKind::Assign { lhs, rhs } => self.assign(id, &lhs, &rhs, frame, out),
            StmtKind::Call(call) => self.call(id, &call, frame, out)?,
            StmtKind::If { arms, otherwise } => {
                let mut new_arms = Vec::new();
                for arm in &arms {
                    self.build.span = span;
                    let guard = arm.guard.map(|guard| self.expr(guard, frame));
                    let stmts = self.block(&arm.body, frame)?;
                    new_arms.push(Arm { guard, body: Block { stmts } });
                }
                let otherwise = match &otherwise {
                    Some(block) => Some(Block { stmts: self.block(block, frame)? }),
                    None => None,
                };
                self.build.span = span;
                let stmt = self.build.stmt(StmtKind::If { arms: new_arms, otherwise });
                out.push(self.mark(stmt, id, Role::Plain));
            }
            StmtKind::While { guard, invariants, body } => {
                // Invariants are checked at each visit of the head: before the loop and at its end.
                let mut visits = Vec::new();
                let mut conjuncts = Vec::new();
                for invariant in &invariants {
                    let expr = self.expr(invariant.expr, frame);
                    conjuncts.push((invariant.free, expr));
                }
                for &(free, expr) in &conjuncts {
                    if free {
                        visits.push(self.build.assume(expr));
                    } else {
                        self.check(expr, frame, &mut visits);
                    }
                }
                let guard = guard.map(|guard| self.expr(guard, frame));
                let mut stmts = self.block(&body, frame)?;
                self.build.span = span;
                stmts.extend(&visits);
                out.extend(visits);
                let body = Block { stmts };
                let stmt = self.build.stmt(StmtKind::While { guard, invariants: Vec::new(), body });
                out.push(self.mark(stmt, id, Role::Plain));
            }
        }
        Ok(())
    }

    fn havoc(&mut self, id: StmtId, names: &[Ident], frame: &mut Frame, out: &mut Stmts) {
        let mut plain = Vec::new();
        let mut shared = Vec::new();
        for name in names {
            let var = self.resolve(name.symbol, frame);
            if let Some(&(result, round)) = var.and_then(|var| frame.handles.get(&var)) {
                plain.extend([result, round]);
                continue;
            }
            match self.shared_of(name.symbol, frame) {
                Some(idx) if self.n_copies() > 1 => {
                    let ty = self.shared[idx].ty;
                    let purpose = format!("{}.any", self.checked.program.text(name.symbol));
                    let temp = self.helper(frame, &purpose, ty);
                    plain.push(temp);
                    shared.push((idx, temp));
                }
                _ => plain.push(name.symbol),
            }
        }
        let stmt = self.build.havoc(&plain);
        out.push(self.mark(stmt, id, Role::Choice));
        for (idx, temp) in shared {
            let value = self.build.var(temp);
            self.write(idx, value, frame, out);
        }
        for name in names {
            self.assume_where(name.symbol, frame, out);
        }
    }

    fn assign(&mut self, id: StmtId, lhs: &[Lhs], rhs: &[ExprId], frame: &mut Frame, out: &mut Stmts) {
        // Handles are assigned as pairs.
        if let ([target], [value]) = (lhs, rhs)
            && let Some(&to) = self.resolve(target.name.symbol, frame).and_then(|var| frame.handles.get(&var))
            && let Some(&from) = self.checked.expr_vars[*value].and_then(|var| frame.handles.get(&var))
        {
            let stmt = self.build.copy(&[(to.0, from.0), (to.1, from.1)]);
            out.push(self.mark(stmt, id, Role::Plain));
            return;
        }
        let values: Vec<ExprId> = rhs.iter().map(|&value| self.expr(value, frame)).collect();
        let indices: Vec<Vec<Vec<ExprId>>> = lhs
            .iter()
            .map(|lhs| {
                let tuple = |tuple: &Vec<ExprId>| tuple.iter().map(|&i| self.expr(i, frame)).collect();
                lhs.indices.iter().map(tuple).collect()
            })
            .collect();
        let is_split =
            self.n_copies() > 1 && lhs.iter().any(|lhs| self.shared_of(lhs.name.symbol, frame).is_some());
        if !is_split {
            let lhs = lhs.iter().zip(indices).map(|(lhs, indices)| Lhs { name: lhs.name, indices }).collect();
            let stmt = self.build.stmt(StmtKind::Assign { lhs, rhs: values });
            out.push(self.mark(stmt, id, Role::Plain));
            return;
        }
        // Whole new values first, then one variable after the other.
        let mut whole = Vec::new();
        for ((lhs, indices), value) in lhs.iter().zip(&indices).zip(values) {
            let map = match self.shared_of(lhs.name.symbol, frame) {
                Some(idx) => self.read(idx, frame),
                None => self.build.var(lhs.name.symbol),
            };
            whole.push(self.nested_store(map, indices, value));
        }
        if lhs.len() > 1 {
            for (position, (lhs, value)) in lhs.iter().zip(&mut whole).enumerate() {
                if self.build.is_atomic(*value) && !self.is_target(*value, lhs, frame) {
                    continue;
                }
                let Some(var) = self.resolve(lhs.name.symbol, frame) else { continue };
                let ty = self.build.type_of(self.checked, self.checked.vars[var].ty);
                let purpose = format!("{}.new{position}", self.checked.program.text(lhs.name.symbol));
                let temp = self.helper(frame, &purpose, ty);
                out.push(self.build.assign(vec![(temp, *value)]));
                *value = self.build.var(temp);
            }
        }
        for (lhs, value) in lhs.iter().zip(whole) {
            let stmt = match self.shared_of(lhs.name.symbol, frame) {
                Some(idx) => self.write(idx, value, frame, out),
                None => {
                    let stmt = self.build.assign(vec![(lhs.name.symbol, value)]);
                    out.push(stmt);
                    stmt
                }
            };
            self.mark(stmt, id, Role::Plain);
        }
    }

    /// A variable on the right of a parallel assignment may be a target on its left.
    fn is_target(&self, value: ExprId, _lhs: &Lhs, _frame: &Frame) -> bool {
        matches!(self.build.program.exprs[value].kind, ExprKind::Var(_))
    }

    fn nested_store(&mut self, map: ExprId, indices: &[Vec<ExprId>], value: ExprId) -> ExprId {
        let Some((first, rest)) = indices.split_first() else { return value };
        let value = if rest.is_empty() {
            value
        } else {
            let select = ExprKind::Select { map, indices: first.clone() };
            let inner = self.build.program.add_expr(select, self.build.span);
            self.nested_store(inner, rest, value)
        };
        let store = ExprKind::Store { map, indices: first.clone(), value };
        self.build.program.add_expr(store, self.build.span)
    }

    fn async_stmt(
        &mut self,
        id: StmtId,
        op: AsyncOp<'_>,
        span: Span,
        frame: &mut Frame,
        out: &mut Stmts,
    ) -> Result<(), Unsupported> {
        match op {
            AsyncOp::Post(post) => self.post(id, &post, span, frame, out),
            AsyncOp::Wait { out: target, handle } => self.wait(id, target, handle, span, frame, out),
            AsyncOp::WaitAll if self.is_depth_first() => {
                self.preempt(id, &Yield::FREE, span, frame, out);
                self.announce("wait for all", span, out);
                if let Some(joined) = self.joined {
                    // All have ended in earlier rounds: those of this one come after their parent.
                    let now = match frame.round {
                        Some(round) => self.build.var(round),
                        None => self.build.int(0),
                    };
                    let latest = self.build.var(joined);
                    let past = self.build.binary(BinaryOp::Lt, latest, now);
                    let stmt = self.build.assume(past);
                    out.push(self.mark(stmt, id, Role::Wait));
                }
                Ok(())
            }
            AsyncOp::WaitAll => {
                self.announce("wait for all", span, out);
                self.renew(frame, out);
                if let (Some(round), Some(joined)) = (frame.round, self.joined) {
                    let stmt = self.later_round(round, joined);
                    out.push(self.mark(stmt, id, Role::Wait));
                }
                self.leave_if_failed(frame, out);
                Ok(())
            }
            AsyncOp::Yield(point) => {
                self.preempt(id, &point, span, frame, out);
                Ok(())
            }
            AsyncOp::AtomicBegin | AsyncOp::AtomicEnd => {
                if let Some(atomic) = self.atomic {
                    let step = if matches!(op, AsyncOp::AtomicBegin) { BinaryOp::Add } else { BinaryOp::Sub };
                    let (depth, one) = (self.build.var(atomic), self.build.int(1));
                    let value = self.build.binary(step, depth, one);
                    let stmt = self.build.assign(vec![(atomic, value)]);
                    out.push(self.mark(stmt, id, Role::Plain));
                }
                Ok(())
            }
            AsyncOp::OwnId { .. } | AsyncOp::ChildId { .. } => self.unsupported("task numbers", span),
            AsyncOp::Unreachable => {
                self.announce("not reachable", span, out);
                let no = self.build.bool(false);
                if let Some(stmt) = self.check(no, frame, out) {
                    self.mark(stmt, id, Role::Plain);
                }
                Ok(())
            }
            AsyncOp::Record(_) => Ok(()),
        }
    }

    /// `round := max(round, other)`.
    pub(super) fn later_round(&mut self, round: Symbol, other: Symbol) -> StmtId {
        let (a, b) = (self.build.var(round), self.build.var(other));
        let earlier = self.build.binary(BinaryOp::Lt, a, b);
        let (a, b) = (self.build.var(round), self.build.var(other));
        let value = self.build.ite(earlier, b, a);
        self.build.assign(vec![(round, value)])
    }

    pub(super) fn preempt(
        &mut self,
        id: StmtId,
        point: &Yield,
        span: Span,
        frame: &mut Frame,
        out: &mut Stmts,
    ) {
        self.announce("yield", span, out);
        self.stop_for_good(id, frame, out);
        let Some(round) = frame.round.filter(|_| !self.is_serial()) else {
            let attr = self.build.attr("yield", Vec::new());
            let yes = self.build.bool(true);
            let stmt = self.build.stmt(StmtKind::Assume { attrs: vec![attr], expr: yes });
            out.push(self.mark(stmt, id, Role::Yield));
            return;
        };
        let int = self.build.int_type();
        let jump = self.helper(frame, "jump", int);
        let choice = self.build.havoc(&[jump]);
        out.push(self.mark(choice, id, Role::Yield));
        let last = self.n_rounds as i64 - 1;
        let mut parts = Vec::new();
        let (zero, amount) = (self.build.int(0), self.build.var(jump));
        parts.push(self.build.binary(BinaryOp::Le, zero, amount));
        for counter in [Some(round), self.used].into_iter().flatten() {
            let (counter, amount) = (self.build.var(counter), self.build.var(jump));
            let sum = self.build.binary(BinaryOp::Add, counter, amount);
            let last = self.build.int(last);
            parts.push(self.build.binary(BinaryOp::Le, sum, last));
        }
        let (amount, zero) = (self.build.var(jump), self.build.int(0));
        let stays = self.build.eq(amount, zero);
        if let Some((low, high)) = point.jump {
            let (low, high) = (self.build.int(low.into()), self.build.int(high.into()));
            let (one, two) = (self.build.var(jump), self.build.var(jump));
            let above = self.build.binary(BinaryOp::Le, low, one);
            let below = self.build.binary(BinaryOp::Le, two, high);
            let within = self.build.and(&[above, below]);
            parts.push(self.build.binary(BinaryOp::Or, stays, within));
        }
        if let Some(condition) = point.condition {
            let condition = self.expr(condition, frame);
            parts.push(self.build.binary(BinaryOp::Or, stays, condition));
        }
        if let Some(atomic) = self.atomic {
            let (depth, zero) = (self.build.var(atomic), self.build.int(0));
            let outside = self.build.binary(BinaryOp::Le, depth, zero);
            parts.push(self.build.binary(BinaryOp::Or, stays, outside));
        }
        let all = self.build.and(&parts);
        out.push(self.build.assume(all));
        let counters: Vec<Symbol> = [Some(round), self.used].into_iter().flatten().collect();
        let mut pairs = Vec::new();
        for counter in counters {
            let (value, amount) = (self.build.var(counter), self.build.var(jump));
            let sum = self.build.binary(BinaryOp::Add, value, amount);
            pairs.push((counter, sum));
        }
        out.push(self.build.assign(pairs));
        self.leave_if_failed(frame, out);
    }

    /// Child first: a task may stop for good.
    fn stop_for_good(&mut self, id: StmtId, frame: &mut Frame, out: &mut Stmts) {
        let (Some(stopped), Some(leave)) = (self.stopped, frame.leave) else { return };
        let yes = self.build.bool(true);
        let mut inner = Vec::new();
        if let Some(atomic) = self.atomic {
            let (depth, zero) = (self.build.var(atomic), self.build.int(0));
            let outside = self.build.binary(BinaryOp::Le, depth, zero);
            inner.push(self.build.assume(outside));
        }
        let stmt = self.build.assign(vec![(stopped, yes)]);
        inner.push(self.mark(stmt, id, Role::Stop));
        inner.push(self.build.goto(leave));
        frame.leave_used = true;
        let arms = vec![Arm { guard: None, body: Block { stmts: inner } }];
        out.push(self.build.stmt(StmtKind::If { arms, otherwise: None }));
    }

    /// The task's current segment ends as guessed; it goes on where its children have left things.
    fn renew(&mut self, frame: &mut Frame, out: &mut Stmts) {
        let renewed: Vec<usize> = self.renewed(frame.procedure).into_iter().collect();
        let names = |of: fn(&super::Shared) -> &Vec<Symbol>, translator: &Self| -> Vec<Symbol> {
            renewed.iter().flat_map(|&idx| of(&translator.shared[idx]).clone()).collect()
        };
        let (copies, next, end) =
            (names(|s| &s.copies, self), names(|s| &s.next, self), names(|s| &s.end, self));
        if copies.is_empty() {
            return;
        }
        let zip = |a: &[Symbol], b: &[Symbol]| -> Vec<(Symbol, Symbol)> {
            a.iter().copied().zip(b.iter().copied()).collect()
        };
        out.push(self.build.assume_equal(&zip(&copies, &end)));
        out.push(self.build.copy(&zip(&copies, &next)));
        out.push(self.build.havoc(&next));
        out.push(self.build.copy(&zip(&end, &next)));
    }

    fn wait(
        &mut self,
        id: StmtId,
        target: Option<Symbol>,
        handle: Symbol,
        span: Span,
        frame: &mut Frame,
        out: &mut Stmts,
    ) -> Result<(), Unsupported> {
        let Some(&(result, handle_round)) =
            self.resolve(handle, frame).and_then(|var| frame.handles.get(&var))
        else {
            return self.unsupported("a wait for something that is no local handle", span);
        };
        let in_turn = self.is_depth_first();
        if in_turn {
            self.preempt(id, &Yield::FREE, span, frame, out);
        }
        self.announce("wait", span, out);
        if frame.unassigned.contains(&id) {
            let (zero, value) = (self.build.int(0), self.build.var(handle_round));
            let assigned = self.build.binary(BinaryOp::Le, zero, value);
            self.check(assigned, frame, out);
        }
        if in_turn {
            let complete = self.is_past(handle_round, frame);
            let stmt = self.build.assume(complete);
            out.push(self.mark(stmt, id, Role::Wait));
        } else {
            self.renew(frame, out);
            let stmt = match frame.round {
                Some(round) => self.later_round(round, handle_round),
                None => {
                    let yes = self.build.bool(true);
                    let attr = self.build.attr("waited", Vec::new());
                    self.build.stmt(StmtKind::Assume { attrs: vec![attr], expr: yes })
                }
            };
            out.push(self.mark(stmt, id, Role::Wait));
            self.leave_if_failed(frame, out);
        }
        if let Some(target) = target {
            let value = self.build.var(result);
            match self.shared_of(target, frame) {
                Some(idx) => {
                    self.write(idx, value, frame, out);
                }
                None => out.push(self.build.assign(vec![(target, value)])),
            }
        }
        Ok(())
    }

    /// Depth first: whether a task with this in its handle is complete at this point of the current round.
    fn is_past(&mut self, time: Symbol, frame: &Frame) -> ExprId {
        let now = match frame.round {
            Some(round) => {
                let (two, round) = (self.build.int(2), self.build.var(round));
                self.build.binary(BinaryOp::Mul, two, round)
            }
            None => self.build.int(0),
        };
        let time = self.build.var(time);
        self.build.binary(BinaryOp::Le, time, now)
    }

    /// Depth first: what the handle of a task that is posted now holds, by the round in which the task ends.
    pub(super) fn time_below(&mut self, round: Option<Symbol>) -> ExprId {
        let Some(round) = round else { return self.build.int(1) };
        let (two, round, one) = (self.build.int(2), self.build.var(round), self.build.int(1));
        let twice = self.build.binary(BinaryOp::Mul, two, round);
        self.build.binary(BinaryOp::Add, twice, one)
    }

    /// Depth first: the same for a task that is posted later, to which the handle is given.
    fn time_before(&mut self, time: Symbol) -> ExprId {
        let (value, same, two) = (self.build.var(time), self.build.var(time), self.build.int(2));
        let below = self.build.binary(BinaryOp::Mod, same, two);
        self.build.binary(BinaryOp::Sub, value, below)
    }

    /// The arguments of a call, with handles as pairs, and the round.
    pub(super) fn args(
        &mut self,
        call: &Call,
        by_value: bool,
        frame: &mut Frame,
        out: &mut Stmts,
    ) -> Result<Vec<ExprId>, Unsupported> {
        let mut args = Vec::new();
        let decl_idx = self.checked.procedures.get(&call.callee.symbol).copied();
        let callee = decl_idx.and_then(|idx| self.checked.frames.get(&idx)).cloned().unwrap_or_default();
        for (position, &arg) in call.args.iter().enumerate() {
            let handle = self.checked.expr_vars[arg].and_then(|var| frame.handles.get(&var)).copied();
            if let Some((result, round)) = handle {
                let is_given = by_value && self.is_depth_first();
                let round = if is_given { self.time_before(round) } else { self.build.var(round) };
                args.extend([self.build.var(result), round]);
                continue;
            }
            let value = self.expr(arg, frame);
            let reads_shared = value != arg || self.reads_global(arg);
            if by_value && reads_shared {
                // Evaluated before the child's view replaces the parent's.
                let Some(&param) = callee.vars.get(position) else { continue };
                let ty = self.build.type_of(self.checked, self.checked.vars[param].ty);
                let purpose = format!(
                    "{}.{}",
                    self.checked.program.text(call.callee.symbol),
                    self.checked.program.text(self.checked.vars[param].name.symbol)
                );
                let temp = self.helper(frame, &purpose, ty);
                out.push(self.build.assign(vec![(temp, value)]));
                args.push(self.build.var(temp));
            } else {
                args.push(value);
            }
        }
        Ok(args)
    }

    fn reads_global(&self, expr: ExprId) -> bool {
        self.checked.program.all_exprs_below(expr).into_iter().any(|id| {
            self.checked.expr_vars[id].is_some_and(|var| {
                matches!(self.checked.vars[var].kind, VarKind::Global | VarKind::ThreadLocal)
            })
        })
    }

    /// The results of a callee: types, handles as pairs.
    pub(super) fn result_types(&mut self, callee: Symbol) -> Vec<(String, TypeId)> {
        let decl_idx = self.checked.procedures.get(&callee).copied();
        let frame = decl_idx.and_then(|idx| self.checked.frames.get(&idx)).cloned().unwrap_or_default();
        let mut types = Vec::new();
        for &var in frame.vars.iter().skip(frame.n_params).take(frame.n_results) {
            let info = &self.checked.vars[var];
            let name = self.checked.program.text(info.name.symbol).to_owned();
            match self.is_task_type(info.ty) {
                Some(inner) => {
                    let ty = self.build.type_of(self.checked, inner);
                    let int = self.build.int_type();
                    types.push((format!("{name}.result"), ty));
                    types.push((format!("{name}.round"), int));
                }
                None => {
                    let ty = self.build.type_of(self.checked, info.ty);
                    types.push((name, ty));
                }
            }
        }
        types
    }

    /// A free call assumes what others check. It does so in the caller, where nothing can change before the callee
    /// looks again.
    fn assume_requires(&mut self, call: &Call, args: &[ExprId], frame: &mut Frame, out: &mut Stmts) {
        let checked = self.checked;
        let Some((decl_idx, procedure)) = checked.program.procedure(call.callee.symbol) else { return };
        let checks = |spec: &&Spec| !spec.free && matches!(spec.kind, SpecKind::Requires(_));
        if !procedure.specs.iter().any(|spec| checks(&spec)) {
            return;
        }
        let params = checked.frames.get(&decl_idx).cloned().unwrap_or_default();
        let mut outer = std::mem::take(&mut frame.renamed);
        // Handles are two arguments each, and no condition can mention them.
        let mut position = 0;
        for &param in params.vars.iter().take(params.n_params) {
            let info = &checked.vars[param];
            if self.is_task_type(info.ty).is_some() {
                position += 2;
                continue;
            }
            let Some(&arg) = args.get(position) else { break };
            position += 1;
            let text = checked.program.text(info.name.symbol).to_owned();
            let ty = self.build.type_of(checked, info.ty);
            let purpose = format!("{}.{text}.given", checked.program.text(call.callee.symbol));
            let given = self.helper(frame, &purpose, ty);
            out.push(self.build.assign(vec![(given, arg)]));
            frame.renamed.insert(param, given);
        }
        for spec in procedure.specs.iter().filter(checks) {
            let SpecKind::Requires(expr) = spec.kind else { continue };
            let expr = self.expr(expr, frame);
            out.push(self.build.assume(expr));
        }
        std::mem::swap(&mut frame.renamed, &mut outer);
    }

    fn call(
        &mut self,
        id: StmtId,
        call: &Call,
        frame: &mut Frame,
        out: &mut Stmts,
    ) -> Result<(), Unsupported> {
        let callee = call.callee.symbol;
        let shape = self.shape(callee);
        let mut args = self.args(call, false, frame, out)?;
        if call.free {
            self.assume_requires(call, &args, frame, out);
        }
        let types = self.result_types(callee);
        let mut outs: Vec<Option<Ident>> = Vec::new();
        let mut stores: Vec<(usize, Symbol)> = Vec::new();
        let mut assigned: Vec<Symbol> = Vec::new();
        let mut position = 0;
        let declared = self.checked.procedures.get(&callee).and_then(|idx| self.checked.frames.get(idx));
        let n_results = declared.map_or(0, |frame| frame.n_results);
        for idx in 0..n_results {
            let target = call.outs.get(idx).copied().flatten();
            let handle = target
                .and_then(|t| self.resolve(t.symbol, frame))
                .and_then(|var| frame.handles.get(&var))
                .copied();
            let is_pair = types.get(position).is_some_and(|(name, _)| name.ends_with(".result"))
                && types.get(position + 1).is_some_and(|(name, _)| name.ends_with(".round"))
                && (handle.is_some() || target.is_none());
            if is_pair && let Some((result, round)) = handle {
                outs.extend([Some(self.build.ident(result)), Some(self.build.ident(round))]);
                position += 2;
                continue;
            }
            let Some((name, ty)) = types.get(position).cloned() else { break };
            position += 1;
            match target {
                Some(target) => match self.shared_of(target.symbol, frame) {
                    Some(shared) if self.n_copies() > 1 => {
                        let temp = self.helper(
                            frame,
                            &format!("{}.got", self.checked.program.text(target.symbol)),
                            ty,
                        );
                        outs.push(Some(self.build.ident(temp)));
                        stores.push((shared, temp));
                    }
                    _ => outs.push(Some(target)),
                },
                None => {
                    let text = self.checked.program.text(callee).to_owned();
                    let temp = self.helper(frame, &format!("{text}.{name}.unused"), ty);
                    outs.push(Some(self.build.ident(temp)));
                }
            }
            assigned.extend(target.map(|t| t.symbol));
        }
        if let Some(round) = frame.round {
            if shape.takes_round {
                args.push(self.build.var(round));
            }
            if shape.returns_round {
                outs.push(Some(self.build.ident(round)));
            }
        }
        let attrs = call.attrs.clone();
        let new = Call { is_async: false, free: false, attrs, outs, callee: call.callee, args };
        let stmt = self.build.stmt(StmtKind::Call(new));
        out.push(self.mark(stmt, id, Role::Plain));
        if shape.may_leave {
            self.leave_if_failed(frame, out);
            if let (Some(stopped), Some(leave)) = (self.stopped, frame.leave) {
                let seen = self.build.var(stopped);
                let go = self.build.goto(leave);
                out.push(self.build.if_then(seen, vec![go]));
                frame.leave_used = true;
            }
        }
        for (shared, temp) in stores {
            let value = self.build.var(temp);
            self.write(shared, value, frame, out);
        }
        if !self.effects.of(callee).has_body {
            for name in assigned {
                self.assume_where(name, frame, out);
            }
        }
        Ok(())
    }
}
