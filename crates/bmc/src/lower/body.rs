//! Statements to blocks.

use std::collections::BTreeSet;

use allways_base::{IndexVec, Span, Symbol};
use allways_boogie::check::Ty;
use allways_boogie::dialect::{self, AsyncOp};
use allways_boogie::tree::*;
use rustc_hash::FxHashMap;

use super::{EncodeError, Lowerer, Scope};
use crate::flow::{self, BlockId, Failure, FailureKind, Instr, InstrKind, Proc};
use crate::term::{TermId, VarRef};

/// A graph under construction. Instructions go to the current block.
pub(super) struct Graph {
    blocks: IndexVec<BlockId, flow::Block>,
    pub current: BlockId,
    entry: BlockId,
    /// Where control goes when an assertion has failed.
    leave: BlockId,
    pub failed: Option<VarRef>,
}

impl Graph {
    pub fn new() -> Self {
        let mut blocks = IndexVec::new();
        let entry = blocks.push(flow::Block::default());
        let leave = blocks.push(flow::Block::default());
        Graph { blocks, current: entry, entry, leave, failed: None }
    }

    pub fn new_block(&mut self) -> BlockId {
        self.blocks.push(flow::Block::default())
    }

    pub fn push(&mut self, kind: InstrKind, origin: Option<StmtId>) {
        self.blocks[self.current].instrs.push(Instr { kind, origin });
    }

    pub fn link(&mut self, from: BlockId, to: BlockId) {
        let next = &mut self.blocks[from].next;
        if !next.contains(&to) {
            next.push(to);
        }
    }

    /// Ends the current block with a jump and goes on in a new one.
    fn jump(&mut self, to: BlockId) {
        self.link(self.current, to);
        self.current = self.new_block();
    }

    /// A new block after the current one.
    fn branch(&mut self) -> BlockId {
        let block = self.new_block();
        self.link(self.current, block);
        block
    }

    pub fn finish(
        mut self,
        name: String,
        params: Vec<VarRef>,
        results: Vec<VarRef>,
        failed: Option<VarRef>,
    ) -> Proc {
        let results = match failed {
            Some(failed) if !results.contains(&failed) => results.into_iter().chain([failed]).collect(),
            _ => results,
        };
        // The block that failures lead to is the exit of all.
        self.link(self.current, self.leave);
        Proc {
            name,
            is_loop: false,
            params,
            results,
            failed,
            blocks: self.blocks,
            entry: self.entry,
            exit: self.leave,
            hidden: BTreeSet::new(),
            reads: BTreeSet::new(),
            writes: BTreeSet::new(),
        }
    }
}

/// What is around the current statement.
struct Around {
    decl_idx: usize,
    scope: Scope,
    labels: FxHashMap<Symbol, BlockId>,
    /// What `break` may leave: labels, whether it is a loop, and where control goes on.
    leavable: Vec<(Vec<Symbol>, bool, BlockId)>,
    done: BlockId,
    wheres: FxHashMap<VarRef, ExprId>,
}

impl Lowerer<'_> {
    /// Appends a body; every way through it ends at `done` or at the graph's exit.
    pub(super) fn body(
        &mut self,
        decl_idx: usize,
        body: &Body,
        scope: &Scope,
        graph: &mut Graph,
        done: BlockId,
    ) -> Result<(), EncodeError> {
        let mut labels = FxHashMap::default();
        for stmt in self.checked.program.stmts_below(&body.block) {
            if let StmtKind::Label(label) = self.checked.program.stmts[stmt].kind {
                labels.entry(label.symbol).or_insert_with(|| graph.new_block());
            }
        }
        let mut wheres = FxHashMap::default();
        for binding in &body.locals {
            if let (Some(clause), Some(var)) =
                (binding.where_clause, self.local(decl_idx, scope, binding.name.symbol))
            {
                wheres.insert(var, clause);
            }
        }
        for &global in &self.checked.globals {
            let name = self.checked.vars[global].name.symbol;
            if let Some(clause) = self.global_where(name) {
                wheres.insert(self.globals[&global], clause);
            }
        }
        let mut around =
            Around { decl_idx, scope: scope.clone(), labels, leavable: Vec::new(), done, wheres };
        self.block(&body.block, &mut around, graph)?;
        graph.link(graph.current, done);
        Ok(())
    }

    fn local(&self, decl_idx: usize, scope: &Scope, name: Symbol) -> Option<VarRef> {
        let var = self.checked.var_in(decl_idx, name)?;
        scope.names.get(&var).or_else(|| self.globals.get(&var)).copied()
    }

    /// The variable that a statement assigns.
    fn target(&self, name: Ident, around: &Around) -> Result<VarRef, EncodeError> {
        match self.local(around.decl_idx, &around.scope, name.symbol) {
            Some(var) => Ok(var),
            None => self.unsupported(format!("an assignment to `{}`", self.name(name.symbol)), name.span),
        }
    }

    fn block(&mut self, block: &Block, around: &mut Around, graph: &mut Graph) -> Result<(), EncodeError> {
        let mut own_labels = Vec::new();
        for &stmt in &block.stmts {
            if let StmtKind::Label(label) = self.checked.program.stmts[stmt].kind {
                own_labels.push(label.symbol);
                let to = around.labels[&label.symbol];
                graph.link(graph.current, to);
                graph.current = to;
                continue;
            }
            self.stmt(stmt, &own_labels, around, graph)?;
            own_labels.clear();
        }
        Ok(())
    }

    /// Control goes on only if the term holds; otherwise the assertion has failed.
    pub(super) fn assertion(
        &mut self,
        graph: &mut Graph,
        term: TermId,
        kind: FailureKind,
        span: Span,
        stmt: Option<StmtId>,
    ) {
        if self.terms.is_true(term) {
            return;
        }
        let bad = graph.branch();
        let good = graph.branch();
        let failure = self.failures.len();
        self.failures.push(Failure { kind, span, stmt });
        let negated = self.terms.not(term);
        graph.current = bad;
        graph.push(InstrKind::Assume(negated), stmt);
        if let Some(failed) = graph.failed {
            let yes = self.terms.bool(true);
            graph.push(InstrKind::Assign(vec![(failed, yes)]), None);
        }
        graph.blocks[bad].failure = Some(failure);
        graph.link(bad, graph.leave);
        graph.current = good;
        graph.push(InstrKind::Assume(term), stmt);
    }

    fn assume_where(&mut self, var: VarRef, around: &Around, graph: &mut Graph) -> Result<(), EncodeError> {
        if let Some(&clause) = around.wheres.get(&var) {
            let term = self.expr(clause, &around.scope)?;
            self.assume(graph, term, None);
        }
        Ok(())
    }

    fn stmt(
        &mut self,
        id: StmtId,
        labels: &[Symbol],
        around: &mut Around,
        graph: &mut Graph,
    ) -> Result<(), EncodeError> {
        let checked = self.checked;
        let span = checked.program.stmts[id].span;
        match dialect::async_op(&checked.program, id) {
            Ok(None) => {}
            Ok(Some(op)) => return self.async_stmt(id, op, span, around, graph),
            Err(_) => return self.unsupported("this asynchronous statement", span),
        }
        match &checked.program.stmts[id].kind {
            StmtKind::Label(_) => {}
            StmtKind::Yield => graph.push(InstrKind::Mark(None), Some(id)),
            StmtKind::Assert { expr, .. } => {
                let term = self.expr(*expr, &around.scope)?;
                self.assertion(graph, term, FailureKind::Assert, span, Some(id));
            }
            StmtKind::Assume { expr, .. } => {
                let term = self.expr(*expr, &around.scope)?;
                self.assume(graph, term, Some(id));
            }
            StmtKind::Havoc(names) => {
                let mut vars = Vec::new();
                for &name in names {
                    let var = self.target(name, around)?;
                    graph.push(InstrKind::Havoc(var), Some(id));
                    vars.push(var);
                }
                for var in vars {
                    self.assume_where(var, around, graph)?;
                }
            }
            StmtKind::Assign { lhs, rhs } => {
                let mut pairs: Vec<(VarRef, TermId)> = Vec::new();
                for (lhs, &rhs) in lhs.iter().zip(rhs) {
                    let var = self.target(lhs.name, around)?;
                    let mut value = self.expr(rhs, &around.scope)?;
                    if !lhs.indices.is_empty() {
                        let mut indices = Vec::new();
                        for index in &lhs.indices {
                            let index: Result<Vec<TermId>, _> =
                                index.iter().map(|&i| self.expr(i, &around.scope)).collect();
                            indices.push(index?);
                        }
                        let map = self.terms.var(var);
                        value = self.nested_store(map, &indices, value);
                    }
                    pairs.push((var, value));
                }
                graph.push(InstrKind::Assign(pairs), Some(id));
            }
            StmtKind::Call(call) => self.call(id, call, around, graph)?,
            StmtKind::If { arms, otherwise } => {
                let after = graph.new_block();
                around.leavable.push((labels.to_vec(), false, after));
                for arm in arms {
                    let guard = match arm.guard {
                        Some(guard) => Some(self.expr(guard, &around.scope)?),
                        None => None,
                    };
                    let (then, other) = (graph.branch(), graph.branch());
                    graph.current = then;
                    match guard {
                        Some(guard) => graph.push(InstrKind::Assume(guard), Some(id)),
                        None => graph.push(InstrKind::Mark(Some(0)), Some(id)),
                    }
                    self.block(&arm.body, around, graph)?;
                    graph.link(graph.current, after);
                    graph.current = other;
                    match guard {
                        Some(guard) => {
                            let negated = self.terms.not(guard);
                            graph.push(InstrKind::Assume(negated), Some(id));
                        }
                        None => graph.push(InstrKind::Mark(Some(1)), Some(id)),
                    }
                }
                if let Some(otherwise) = otherwise {
                    self.block(otherwise, around, graph)?;
                }
                graph.link(graph.current, after);
                around.leavable.pop();
                graph.current = after;
            }
            StmtKind::While { guard, invariants, body } => {
                let head = graph.branch();
                let after = graph.new_block();
                graph.current = head;
                for invariant in invariants {
                    let term = self.expr(invariant.expr, &around.scope)?;
                    if invariant.free {
                        self.assume(graph, term, Some(id));
                    } else {
                        let span = checked.program.exprs[invariant.expr].span;
                        self.assertion(graph, term, FailureKind::Invariant, span, Some(id));
                    }
                }
                let guard = match guard {
                    Some(guard) => Some(self.expr(*guard, &around.scope)?),
                    None => None,
                };
                let (inside, outside) = (graph.branch(), graph.branch());
                graph.current = outside;
                match guard {
                    Some(guard) => {
                        let negated = self.terms.not(guard);
                        graph.push(InstrKind::Assume(negated), Some(id));
                    }
                    None => graph.push(InstrKind::Mark(Some(1)), Some(id)),
                }
                graph.link(outside, after);
                graph.current = inside;
                match guard {
                    Some(guard) => graph.push(InstrKind::Assume(guard), Some(id)),
                    None => graph.push(InstrKind::Mark(Some(0)), Some(id)),
                }
                around.leavable.push((labels.to_vec(), true, after));
                self.block(body, around, graph)?;
                around.leavable.pop();
                graph.link(graph.current, head);
                graph.current = after;
            }
            StmtKind::Break(label) => {
                let found = around.leavable.iter().rev().find(|(labels, is_loop, _)| match label {
                    Some(label) => labels.contains(&label.symbol),
                    None => *is_loop,
                });
                let Some(&(_, _, after)) = found else {
                    return self.unsupported("this `break`", span);
                };
                graph.push(InstrKind::Mark(None), Some(id));
                graph.jump(after);
            }
            StmtKind::Goto(targets) => {
                for (number, target) in targets.iter().enumerate() {
                    let Some(&to) = around.labels.get(&target.symbol) else {
                        return self.unsupported(format!("a jump to `{}`", self.name(target.symbol)), span);
                    };
                    // A block per target, so that traces show which way was taken.
                    let way = graph.branch();
                    let choice = (targets.len() > 1).then_some(number as u32);
                    let mark = Instr { kind: InstrKind::Mark(choice), origin: Some(id) };
                    graph.blocks[way].instrs.push(mark);
                    graph.link(way, to);
                }
                graph.current = graph.new_block();
            }
            StmtKind::Return => {
                graph.push(InstrKind::Mark(None), Some(id));
                graph.jump(around.done);
            }
        }
        Ok(())
    }

    fn async_stmt(
        &mut self,
        id: StmtId,
        op: AsyncOp<'_>,
        span: Span,
        around: &mut Around,
        graph: &mut Graph,
    ) -> Result<(), EncodeError> {
        match op {
            AsyncOp::Post(_) | AsyncOp::Wait { .. } | AsyncOp::WaitAll => {
                Err(EncodeError::Asynchronous { span })
            }
            // One task alone is never preempted.
            AsyncOp::Yield(_) | AsyncOp::AtomicBegin | AsyncOp::AtomicEnd | AsyncOp::Record(_) => {
                graph.push(InstrKind::Mark(None), Some(id));
                Ok(())
            }
            AsyncOp::OwnId { out } | AsyncOp::ChildId { out } => {
                if let Some(out) = out {
                    let var = self.target(out, around)?;
                    let one = match self.vars[var].ty {
                        Ty::INT => "1",
                        _ => "(_ bv1 32)",
                    };
                    let one = self.terms.atom(one);
                    graph.push(InstrKind::Assign(vec![(var, one)]), Some(id));
                }
                Ok(())
            }
            AsyncOp::Unreachable => {
                let no = self.terms.bool(false);
                self.assertion(graph, no, FailureKind::Unreachable, span, Some(id));
                Ok(())
            }
        }
    }

    fn call(
        &mut self,
        id: StmtId,
        call: &Call,
        around: &mut Around,
        graph: &mut Graph,
    ) -> Result<(), EncodeError> {
        let symbol = call.callee.symbol;
        let Some((_, procedure)) = self.procedure_decl(symbol) else {
            return self.unsupported(format!("a call of `{}`", self.name(symbol)), call.callee.span);
        };
        let result_types: Vec<String> =
            procedure.results.iter().map(|binding| self.name(binding.name.symbol)).collect();
        let frame_idx = self.checked.procedures[&symbol];
        let frame = self.checked.frames.get(&frame_idx).cloned().unwrap_or_default();
        let callee = self.proc_id(symbol, !call.free);
        let mut args = Vec::new();
        for &arg in &call.args {
            args.push(self.expr(arg, &around.scope)?);
        }
        let mut outs = Vec::new();
        let mut assigned = Vec::new();
        for (idx, name) in result_types.iter().enumerate() {
            let out = match call.outs.get(idx).copied().flatten() {
                Some(out) => {
                    let var = self.target(out, around)?;
                    assigned.push(var);
                    var
                }
                None => {
                    let ty =
                        frame.vars.get(frame.n_params + idx).map_or(Ty::ERROR, |&v| self.checked.vars[v].ty);
                    self.helper(name, ty)
                }
            };
            outs.push(out);
        }
        let failed = self.may_fail.contains(&symbol).then(|| self.helper("failed", Ty::BOOL));
        outs.extend(failed);
        graph.push(InstrKind::Call { callee, args, outs }, Some(id));
        if let Some(failed) = failed {
            let (bad, good) = (graph.branch(), graph.branch());
            let flag = self.terms.var(failed);
            graph.current = bad;
            graph.push(InstrKind::Assume(flag), None);
            if let Some(own) = graph.failed {
                let yes = self.terms.bool(true);
                graph.push(InstrKind::Assign(vec![(own, yes)]), None);
            }
            graph.link(bad, graph.leave);
            let unset = self.terms.not(flag);
            graph.current = good;
            graph.push(InstrKind::Assume(unset), None);
        }
        if self.bodies(symbol).is_empty() {
            for var in assigned {
                self.assume_where(var, around, graph)?;
            }
        }
        Ok(())
    }
}
