//! Waits become blocking tests, for schedulers that do not know them.
//!
//! A handle is a number. A task posted with a handle runs in a wrapper that stores the result under
//! its number and marks it done; a wait is a preemption point and then the assumption that the task is
//! done. Numbers start at one; to wait for a handle that was never assigned, which is zero, is a
//! failed assertion.
//! The counter and the maps are shared variables like any others.

use std::collections::{BTreeMap, BTreeSet};

use allways_base::Symbol;
use allways_boogie::check::{Checked, Ty, TyKind};
use allways_boogie::dialect::{self, AsyncOp};
use allways_boogie::tree::*;
use rustc_hash::FxHashMap;

use crate::Unsupported;
use crate::build::Builder;
use crate::effects::{EffectTable, unassigned_waits};

/// A program without waits, and the wait behind each of its new preemption points.
pub type WithoutWaits = (Program, FxHashMap<StmtId, StmtId>);

/// The same program without waits; `None` if it has neither waits nor handles.
pub fn remove_waits(checked: &Checked, entry: Symbol) -> Result<Option<WithoutWaits>, Unsupported> {
    let program = &checked.program;
    let uses_handles = program.stmts.iter_ids().any(|(id, _)| {
        matches!(
            dialect::async_op(program, id),
            Ok(Some(AsyncOp::Wait { .. } | AsyncOp::WaitAll))
                | Ok(Some(AsyncOp::Post(dialect::Post { handle: Some(_), .. })))
        )
    });
    let has_handles = checked.vars.iter().any(|var| task_result(checked, var.ty).is_some());
    if !uses_handles && !has_handles {
        return Ok(None);
    }
    let Some((_, procedure)) = program.procedure(entry) else {
        return Err(Unsupported { what: "a program without entry point".to_owned(), span: None });
    };
    let mut build = Builder::new(program, procedure.name.span);
    let (counter, done) = (build.fresh("task.count"), build.fresh("task.done"));
    let mut removal = Removal {
        checked,
        build,
        counter,
        done,
        results: BTreeMap::new(),
        wrappers: BTreeMap::new(),
        new: Vec::new(),
        unassigned: BTreeSet::new(),
        points: FxHashMap::default(),
    };
    removal.run()?;
    Ok(Some((removal.build.program, removal.points)))
}

/// Whether the result of a task may be a handle: then tasks get to know others from anywhere in the order.
pub fn tasks_return_handles(checked: &Checked, entry: Symbol) -> bool {
    EffectTable::new(checked).tasks(entry).into_iter().any(|task| {
        let Some((decl_idx, _)) = checked.program.procedure(task) else { return false };
        let frame = checked.frames.get(&decl_idx).cloned().unwrap_or_default();
        let results = frame.vars.iter().skip(frame.n_params).take(frame.n_results);
        results.into_iter().any(|&var| task_result(checked, checked.vars[var].ty).is_some())
    })
}

fn task_result(checked: &Checked, ty: Ty) -> Option<Ty> {
    match checked.types.kind(ty) {
        TyKind::Con(name, args) if checked.program.text(*name) == "task" => {
            Some(args.first().copied().unwrap_or(Ty::INT))
        }
        _ => None,
    }
}

struct Removal<'a> {
    checked: &'a Checked,
    build: Builder,
    /// How many tasks with handles there are so far.
    counter: Symbol,
    /// Which of them have completed.
    done: Symbol,
    /// The maps of results, by type.
    results: BTreeMap<Ty, Symbol>,
    wrappers: BTreeMap<Symbol, Symbol>,
    new: Vec<Decl>,
    /// Waits of the current body on handles that may not be assigned.
    unassigned: BTreeSet<StmtId>,
    points: FxHashMap<StmtId, StmtId>,
}

impl Removal<'_> {
    fn run(&mut self) -> Result<(), Unsupported> {
        let mut decls = std::mem::take(&mut self.build.program.decls);
        for (decl_idx, decl) in decls.iter_mut().enumerate() {
            self.build.span = decl.span;
            match &mut decl.kind {
                DeclKind::Procedure(procedure) => {
                    self.numbers(decl_idx, &mut procedure.params);
                    self.numbers(decl_idx, &mut procedure.results);
                    if let Some(body) = &mut procedure.body {
                        self.body(decl_idx, body)?;
                    }
                }
                DeclKind::Implementation(implementation) => {
                    self.numbers(decl_idx, &mut implementation.params);
                    self.numbers(decl_idx, &mut implementation.results);
                    self.body(decl_idx, &mut implementation.body)?;
                }
                DeclKind::Type(_)
                | DeclKind::Const(_)
                | DeclKind::Function(_)
                | DeclKind::Axiom(_)
                | DeclKind::Var(_) => {}
            }
        }
        let int = self.build.int_type();
        let bool_type = self.build.bool_type();
        let span = self.build.span;
        let map = |result: TypeId, build: &mut Builder| {
            let kind = TypeKind::Map { type_params: Vec::new(), args: vec![int], result };
            build.program.add_type(kind, span)
        };
        let done_type = map(bool_type, &mut self.build);
        let mut first = vec![self.build.global(self.counter, int), self.build.global(self.done, done_type)];
        for (ty, name) in self.results.clone() {
            let result = self.build.type_of(self.checked, ty);
            let ty = map(result, &mut self.build);
            first.push(self.build.global(name, ty));
        }
        first.push(self.initially());
        first.append(&mut decls);
        first.append(&mut self.new);
        self.build.program.decls = first;
        Ok(())
    }

    /// No task has a number, and none is done.
    fn initially(&mut self) -> Decl {
        let (counter, zero) = (self.build.var(self.counter), self.build.int(0));
        let none = self.build.eq(counter, zero);
        let number = self.build.fresh("number");
        let (done, index) = (self.build.var(self.done), self.build.var(number));
        let span = self.build.span;
        let selected =
            self.build.program.add_expr(ExprKind::Select { map: done, indices: vec![index] }, span);
        let no = self.build.bool(false);
        let body = self.build.eq(selected, no);
        let int = self.build.int_type();
        let quantified = Quantified {
            quantifier: Quantifier::Forall,
            type_params: Vec::new(),
            vars: vec![self.build.binding(number, int)],
            attrs: Vec::new(),
            triggers: Vec::new(),
            body,
        };
        let all = self.build.program.add_expr(ExprKind::Quantified(Box::new(quantified)), span);
        let expr = self.build.and(&[none, all]);
        let init = self.build.attr("init", Vec::new());
        Decl { attrs: vec![init], kind: DeclKind::Axiom(expr), span }
    }

    /// Handles are numbers.
    fn numbers(&mut self, decl_idx: usize, bindings: &mut [Binding]) {
        for binding in bindings {
            let var = self.checked.var_in(decl_idx, binding.name.symbol);
            if var.is_some_and(|var| task_result(self.checked, self.checked.vars[var].ty).is_some()) {
                binding.ty = self.build.int_type();
            }
        }
    }

    fn results_map(&mut self, ty: Ty) -> Symbol {
        if let Some(&name) = self.results.get(&ty) {
            return name;
        }
        let text: String =
            self.checked.show_type(ty).chars().map(|c| if c.is_alphanumeric() { c } else { '.' }).collect();
        let name = self.build.fresh(&format!("task.result.{text}"));
        self.results.insert(ty, name);
        name
    }

    fn body(&mut self, decl_idx: usize, body: &mut Body) -> Result<(), Unsupported> {
        self.build.span = body.span;
        let mut stmts = Vec::new();
        for binding in &body.locals {
            let var = self.checked.var_in(decl_idx, binding.name.symbol);
            if var.is_some_and(|var| task_result(self.checked, self.checked.vars[var].ty).is_some()) {
                let zero = self.build.int(0);
                stmts.push(self.build.assign(vec![(binding.name.symbol, zero)]));
            }
        }
        self.numbers(decl_idx, &mut body.locals);
        self.unassigned = unassigned_waits(self.checked, decl_idx, body);
        stmts.extend(self.block(decl_idx, &body.block)?.stmts);
        body.block = Block { stmts };
        Ok(())
    }

    fn block(&mut self, decl_idx: usize, block: &Block) -> Result<Block, Unsupported> {
        let checked = self.checked;
        let mut stmts = Vec::new();
        for &id in &block.stmts {
            let Stmt { kind, span } = checked.program.stmts[id].clone();
            self.build.span = span;
            match dialect::async_op(&checked.program, id) {
                Ok(Some(AsyncOp::Post(post))) if post.handle.is_some() => {
                    let Some(handle) = post.handle else { continue };
                    self.post(handle, post.call, &mut stmts);
                    continue;
                }
                Ok(Some(AsyncOp::Wait { out, handle })) => {
                    self.wait(id, decl_idx, out, handle, &mut stmts);
                    continue;
                }
                Ok(Some(AsyncOp::WaitAll)) => {
                    let what = "a wait for all children under this scheduler".to_owned();
                    return Err(Unsupported { what, span: Some(span) });
                }
                _ => {}
            }
            match kind {
                StmtKind::If { arms, otherwise } => {
                    let mut new_arms = Vec::new();
                    for arm in arms {
                        new_arms.push(Arm { guard: arm.guard, body: self.block(decl_idx, &arm.body)? });
                    }
                    let otherwise = match otherwise {
                        Some(block) => Some(self.block(decl_idx, &block)?),
                        None => None,
                    };
                    self.build.program.stmts[id].kind = StmtKind::If { arms: new_arms, otherwise };
                }
                StmtKind::While { guard, invariants, body } => {
                    let body = self.block(decl_idx, &body)?;
                    self.build.program.stmts[id].kind = StmtKind::While { guard, invariants, body };
                }
                _ => {}
            }
            stmts.push(id);
        }
        Ok(Block { stmts })
    }

    /// `async t := p(e)`: the task gets the next number.
    fn post(&mut self, handle: Symbol, call: &Call, stmts: &mut Vec<StmtId>) {
        let wrapper = self.wrapper(call.callee.symbol);
        let mut args = call.args.clone();
        let (counter, one) = (self.build.var(self.counter), self.build.int(1));
        args.push(self.build.binary(BinaryOp::Add, counter, one));
        let attr = self.build.attr("async", Vec::new());
        let callee = self.build.ident(wrapper);
        let post = Call { is_async: false, free: false, attrs: vec![attr], outs: Vec::new(), callee, args };
        stmts.push(self.build.stmt(StmtKind::Call(post)));
        let (counter, one) = (self.build.var(self.counter), self.build.int(1));
        let next = self.build.binary(BinaryOp::Add, counter, one);
        stmts.push(self.build.assign(vec![(self.counter, next)]));
        stmts.push(self.build.copy(&[(handle, self.counter)]));
    }

    fn wait(
        &mut self,
        id: StmtId,
        decl_idx: usize,
        out: Option<Symbol>,
        handle: Symbol,
        stmts: &mut Vec<StmtId>,
    ) {
        let span = self.build.span;
        let point = self.build.stmt(StmtKind::Yield);
        self.points.insert(point, id);
        stmts.push(point);
        if self.unassigned.contains(&id) {
            let (number, zero) = (self.build.var(handle), self.build.int(0));
            let expr = self.build.binary(BinaryOp::Ne, number, zero);
            stmts.push(self.build.stmt(StmtKind::Assert { attrs: Vec::new(), expr }));
        }
        let (done, number) = (self.build.var(self.done), self.build.var(handle));
        let completed =
            self.build.program.add_expr(ExprKind::Select { map: done, indices: vec![number] }, span);
        stmts.push(self.build.assume(completed));
        let ty = self
            .checked
            .var_in(decl_idx, handle)
            .and_then(|var| task_result(self.checked, self.checked.vars[var].ty));
        if let (Some(out), Some(ty)) = (out, ty) {
            let map = self.results_map(ty);
            let (map, number) = (self.build.var(map), self.build.var(handle));
            let value = self.build.program.add_expr(ExprKind::Select { map, indices: vec![number] }, span);
            stmts.push(self.build.assign(vec![(out, value)]));
        }
    }

    /// Calls the procedure, then stores its result and marks the task done.
    fn wrapper(&mut self, callee: Symbol) -> Symbol {
        if let Some(&name) = self.wrappers.get(&callee) {
            return name;
        }
        let checked = self.checked;
        let text = checked.program.text(callee).to_owned();
        let name = self.build.fresh(&format!("{text}.task"));
        self.wrappers.insert(callee, name);
        let Some((decl_idx, procedure)) = checked.program.procedure(callee) else { return name };
        let span = self.build.span;
        self.build.span = procedure.name.span;
        let mut params: Vec<Binding> =
            procedure.params.iter().map(|b| Binding { where_clause: None, ..b.clone() }).collect();
        self.numbers(decl_idx, &mut params);
        let args: Vec<ExprId> = params
            .iter()
            .map(|b| b.name.symbol)
            .collect::<Vec<_>>()
            .into_iter()
            .map(|p| self.build.var(p))
            .collect();
        let me = self.build.fresh("me");
        let int = self.build.int_type();
        params.push(self.build.binding(me, int));
        let mut locals: Vec<Binding> =
            procedure.results.iter().map(|b| Binding { where_clause: None, ..b.clone() }).collect();
        self.numbers(decl_idx, &mut locals);
        let outs = locals.iter().map(|b| Some(self.build.ident(b.name.symbol))).collect();
        let call = Call {
            is_async: false,
            free: false,
            attrs: Vec::new(),
            outs,
            callee: self.build.ident(callee),
            args,
        };
        let mut stmts = vec![self.build.stmt(StmtKind::Call(call))];
        let frame = checked.frames.get(&decl_idx).cloned().unwrap_or_default();
        let mut store = |map: Symbol, value: ExprId, build: &mut Builder| {
            let index = build.var(me);
            let lhs = vec![Lhs { name: build.ident(map), indices: vec![vec![index]] }];
            stmts.push(build.stmt(StmtKind::Assign { lhs, rhs: vec![value] }));
        };
        if let (Some(&result), Some(local)) = (frame.vars.get(frame.n_params), locals.first())
            && frame.n_results > 0
        {
            let ty = checked.vars[result].ty;
            let map = match self.results.get(&ty) {
                Some(&map) => map,
                None => self.results_map(ty),
            };
            let value = self.build.var(local.name.symbol);
            store(map, value, &mut self.build);
        }
        let yes = self.build.bool(true);
        store(self.done, yes, &mut self.build);
        let body = Body { locals, block: Block { stmts }, span: self.build.span };
        let procedure = ProcedureDecl {
            name: self.build.ident(name),
            type_params: Vec::new(),
            params,
            results: Vec::new(),
            specs: Vec::new(),
            body: Some(body),
        };
        self.new.push(Decl {
            attrs: Vec::new(),
            kind: DeclKind::Procedure(procedure),
            span: self.build.span,
        });
        self.build.span = span;
        name
    }
}
