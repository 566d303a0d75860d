//! Waits become blocking tests, for schedulers that do not know them.
//!
//! A handle is a number. A task posted with a handle runs in a wrapper that stores the result under
//! its number and marks it done; a wait is a preemption point and then the assumption that the task is
//! done. Numbers start at one; to wait for a handle that was never assigned, which is zero, is a
//! failed assertion. In a program that waits for all children every task has a number, and a map
//! counts the open children of each. The counter and the maps are shared variables like any others, and what a
//! post does to them is done before the child can run.

use std::collections::{BTreeMap, BTreeSet};

use allways_base::Symbol;
use allways_boogie::check::{Checked, Ty, TyKind};
use allways_boogie::dialect::AsyncOp;
use allways_boogie::tree::*;
use allways_boogie::walk::BodyOf;
use rustc_hash::FxHashMap;

use crate::Unsupported;
use crate::build::{self, Builder, Rewritten, Wrapper};
use crate::effects::{EffectTable, unassigned_waits};

/// The same program without waits; `None` if it has neither waits nor handles.
pub fn remove_waits(checked: &Checked, entry: Symbol) -> Result<Option<Rewritten>, Unsupported> {
    let program = &checked.program;
    let (mut uses_handles, mut waits_for_all) = (false, false);
    for BodyOf { body, .. } in program.bodies() {
        for id in program.stmts_below(&body.block) {
            match checked.async_op(id) {
                Some(AsyncOp::Wait { .. }) => uses_handles = true,
                Some(AsyncOp::WaitAll) => waits_for_all = true,
                Some(AsyncOp::Post(post)) => uses_handles |= post.handle.is_some(),
                _ => {}
            }
        }
    }
    let has_handles = checked.vars.iter().any(|var| task_result(checked, var.ty).is_some());
    if !uses_handles && !has_handles && !waits_for_all {
        return Ok(None);
    }
    let Some((_, procedure)) = program.procedure(entry) else {
        return Err(Unsupported { what: "a program without entry point".to_owned(), span: None });
    };
    let mut build = Builder::new(program, procedure.name.span);
    let (counter, done) = (build.fresh("task.count"), build.fresh("task.done"));
    let all = waits_for_all.then(|| All { me: build.fresh("task.me"), open: build.fresh("task.open") });
    let mut removal = Removal {
        checked,
        build,
        counter,
        done,
        all,
        results: BTreeMap::new(),
        wrappers: BTreeMap::new(),
        new: Vec::new(),
        unassigned: BTreeSet::new(),
        number: None,
        locals: Vec::new(),
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
    /// How many tasks with numbers there are so far.
    counter: Symbol,
    /// Which of them have completed.
    done: Symbol,
    all: Option<All>,
    /// The maps of results, by type.
    results: BTreeMap<Ty, Symbol>,
    wrappers: BTreeMap<(Symbol, bool), Symbol>,
    new: Vec<Decl>,
    /// Waits of the current body on handles that may not be assigned.
    unassigned: BTreeSet<StmtId>,
    /// New locals of the current body, and among them the one for the number of a new task.
    number: Option<Symbol>,
    locals: Vec<Binding>,
    points: FxHashMap<StmtId, StmtId>,
}

/// What waits for all children need.
#[derive(Clone, Copy)]
struct All {
    /// The number of the running task; zero is the first one's.
    me: Symbol,
    /// How many children of a task have not completed.
    open: Symbol,
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
        let mut first = self.declarations();
        first.append(&mut decls);
        first.append(&mut self.new);
        self.build.program.decls = first;
        Ok(())
    }

    /// The new variables: no task has a number, none is done, and no task has children.
    fn declarations(&mut self) -> Vec<Decl> {
        let (int, bool_type) = (self.build.int_type(), self.build.bool_type());
        let done_type = self.build.map_type(bool_type);
        let mut decls = vec![self.build.global(self.counter, int), self.build.global(self.done, done_type)];
        let (counter, zero) = (self.build.var(self.counter), self.build.int(0));
        let mut parts = vec![self.build.eq(counter, zero)];
        let no = self.build.bool(false);
        parts.push(self.build.constant_map(self.done, no));
        for (ty, name) in self.results.clone() {
            let result = self.build.type_of(self.checked, ty);
            let ty = self.build.map_type(result);
            decls.push(self.build.global(name, ty));
        }
        if let Some(all) = self.all {
            let own = self.build.attr("thread_local", Vec::new());
            let mut me = self.build.global(all.me, int);
            me.attrs.push(own);
            let counts = self.build.map_type(int);
            decls.extend([me, self.build.global(all.open, counts)]);
            let (me, zero) = (self.build.var(all.me), self.build.int(0));
            parts.push(self.build.eq(me, zero));
            let zero = self.build.int(0);
            parts.push(self.build.constant_map(all.open, zero));
        }
        let expr = self.build.and(&parts);
        decls.push(self.build.initially(expr));
        decls
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
        self.number = None;
        stmts.extend(self.block(decl_idx, &body.block)?.stmts);
        body.block = Block { stmts };
        body.locals.append(&mut self.locals);
        Ok(())
    }

    fn block(&mut self, decl_idx: usize, block: &Block) -> Result<Block, Unsupported> {
        let checked = self.checked;
        let mut stmts = Vec::new();
        for &id in &block.stmts {
            let Stmt { kind, span } = checked.program.stmts[id].clone();
            self.build.span = span;
            match checked.async_op(id) {
                Some(AsyncOp::Post(post)) if post.handle.is_some() || self.all.is_some() => {
                    self.post(id, post.handle, post.call, &mut stmts);
                    continue;
                }
                Some(AsyncOp::Wait { out, handle }) => {
                    self.wait(id, decl_idx, out, handle, &mut stmts);
                    continue;
                }
                Some(AsyncOp::WaitAll) => {
                    self.wait_for_all(id, &mut stmts);
                    continue;
                }
                _ => {}
            }
            build::rewrite_inner(self, id, kind, |removal, inner| removal.block(decl_idx, inner))?;
            stmts.push(id);
        }
        Ok(Block { stmts })
    }

    /// The local that holds the number of a new task.
    fn number(&mut self) -> Symbol {
        if let Some(name) = self.number {
            return name;
        }
        let name = self.build.fresh_local("task.number");
        let int = self.build.int_type();
        self.locals.push(self.build.binding(name, int));
        self.number = Some(name);
        name
    }

    /// `async t := p(e)`: the task gets the next number.
    fn post(&mut self, id: StmtId, handle: Option<Symbol>, call: &Call, stmts: &mut Vec<StmtId>) {
        let number = self.number();
        let (counter, one) = (self.build.var(self.counter), self.build.int(1));
        let next = self.build.binary(BinaryOp::Add, counter, one);
        stmts.push(self.build.assign(vec![(number, next)]));
        stmts.push(self.build.copy(&[(self.counter, number)]));
        if let Some(all) = self.all {
            let (before, one) = (self.build.select(all.open, all.me), self.build.int(1));
            let more = self.build.binary(BinaryOp::Add, before, one);
            stmts.push(self.build.store(all.open, all.me, more));
        }
        let mut params = Vec::new();
        if let Some((decl_idx, procedure)) = self.checked.program.procedure(call.callee.symbol) {
            params = procedure.params.clone();
            self.numbers(decl_idx, &mut params);
        }
        let mut args = self.build.args_without(self.checked, call, &params, handle, &mut self.locals, stmts);
        stmts.extend(handle.map(|handle| self.build.copy(&[(handle, number)])));
        args.push(self.build.var(number));
        if let Some(all) = self.all {
            args.push(self.build.var(all.me));
        }
        let wrapper = self.wrapper(call.callee.symbol, handle.is_some());
        let attr = self.build.attr("async", Vec::new());
        let callee = self.build.ident(wrapper);
        let post =
            Call { is_async: false, free: call.free, attrs: vec![attr], outs: Vec::new(), callee, args };
        let new = self.build.stmt(StmtKind::Call(post));
        self.points.insert(new, id);
        stmts.push(new);
    }

    /// The preemption point that a wait is.
    fn point(&mut self, id: StmtId, stmts: &mut Vec<StmtId>) {
        let point = self.build.stmt(StmtKind::Yield);
        self.points.insert(point, id);
        stmts.push(point);
    }

    fn wait_for_all(&mut self, id: StmtId, stmts: &mut Vec<StmtId>) {
        self.point(id, stmts);
        let Some(all) = self.all else { return };
        let (open, zero) = (self.build.select(all.open, all.me), self.build.int(0));
        let none_open = self.build.eq(open, zero);
        stmts.push(self.build.assume(none_open));
    }

    fn wait(
        &mut self,
        id: StmtId,
        decl_idx: usize,
        out: Option<Symbol>,
        handle: Symbol,
        stmts: &mut Vec<StmtId>,
    ) {
        self.point(id, stmts);
        if self.unassigned.contains(&id) {
            let (number, zero) = (self.build.var(handle), self.build.int(0));
            let expr = self.build.binary(BinaryOp::Ne, number, zero);
            stmts.push(self.build.stmt(StmtKind::Assert { attrs: Vec::new(), expr }));
        }
        let completed = self.build.select(self.done, handle);
        stmts.push(self.build.assume(completed));
        let ty = self
            .checked
            .var_in(decl_idx, handle)
            .and_then(|var| task_result(self.checked, self.checked.vars[var].ty));
        if let (Some(out), Some(ty)) = (out, ty) {
            let map = self.results_map(ty);
            let value = self.build.select(map, handle);
            stmts.push(self.build.assign(vec![(out, value)]));
        }
    }

    /// Calls the procedure, then stores its result and marks the task done.
    fn wrapper(&mut self, callee: Symbol, has_handle: bool) -> Symbol {
        if let Some(&name) = self.wrappers.get(&(callee, has_handle)) {
            return name;
        }
        let checked = self.checked;
        let text = checked.program.text(callee).to_owned();
        let name = self.build.fresh(&format!("{text}.task"));
        self.wrappers.insert((callee, has_handle), name);
        let span = self.build.span;
        let Some(mut wrapper) = Wrapper::new(&mut self.build, checked, callee) else { return name };
        let decl_idx = checked.procedures.get(&callee).copied().unwrap_or_default();
        self.numbers(decl_idx, &mut wrapper.params);
        self.numbers(decl_idx, &mut wrapper.results);
        let me = self.build.fresh_local("me");
        let int = self.build.int_type();
        wrapper.params.push(self.build.binding(me, int));
        if let Some(all) = self.all {
            let parent = self.build.fresh_local("parent");
            wrapper.params.push(self.build.binding(parent, int));
            wrapper.before.push(self.build.copy(&[(all.me, me)]));
            let (before, one) = (self.build.select(all.open, parent), self.build.int(1));
            let fewer = self.build.binary(BinaryOp::Sub, before, one);
            wrapper.after.push(self.build.store(all.open, parent, fewer));
        }
        if has_handle {
            let frame = checked.frames.get(&decl_idx).cloned().unwrap_or_default();
            let result = frame.vars.get(frame.n_params).filter(|_| frame.n_results > 0);
            if let (Some(&result), Some(local)) = (result, wrapper.results.first()) {
                let local = local.name.symbol;
                let map = self.results_map(checked.vars[result].ty);
                let value = self.build.var(local);
                wrapper.after.push(self.build.store(map, me, value));
            }
            let yes = self.build.bool(true);
            wrapper.after.push(self.build.store(self.done, me, yes));
        }
        self.new.push(wrapper.finish(&mut self.build, name));
        self.build.span = span;
        name
    }
}

impl build::HasBuilder for Removal<'_> {
    fn builder(&mut self) -> &mut Builder {
        &mut self.build
    }
}
