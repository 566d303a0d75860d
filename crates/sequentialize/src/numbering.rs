//! Numbers of tasks become ordinary variables.
//!
//! The counter `task.last` is a shared variable, so numbers are given in the order in which tasks are posted, as in
//! the interpreter. A task learns its own number as a parameter of a wrapper around its procedure, which keeps it in a
//! variable of the task's own. Everything that a post changes in its poster is changed before the child can run.

use std::collections::BTreeMap;

use allways_base::Symbol;
use allways_boogie::check::{Checked, TyKind};
use allways_boogie::dialect::{AsyncOp, Post};
use allways_boogie::tree::*;
use allways_boogie::walk::BodyOf;
use rustc_hash::FxHashMap;

use crate::build::{Builder, Rewritten, Wrapper};
use crate::{Unsupported, build};

/// The width of numbers that are bit vectors.
const WIDTH: u32 = 32;

/// The same program without numbers of tasks; `None` if it uses none.
pub fn number_tasks(checked: &Checked, entry: Symbol) -> Result<Option<Rewritten>, Unsupported> {
    let Some(are_bits) = kind_of_numbers(checked)? else { return Ok(None) };
    let Some((_, procedure)) = checked.program.procedure(entry) else {
        return Err(Unsupported { what: "a program without entry point".to_owned(), span: None });
    };
    let mut build = Builder::new(&checked.program, procedure.name.span);
    let ty = match are_bits {
        true => build.program.add_type(TypeKind::Bv(WIDTH), build.span),
        false => build.int_type(),
    };
    let (last, own, child) = (build.fresh("task.last"), build.fresh("task.own"), build.fresh("task.child"));
    let add = build.fresh("task.add");
    let mut numbering = Numbering {
        checked,
        build,
        ty,
        are_bits,
        last,
        own,
        child,
        add,
        wrappers: BTreeMap::new(),
        new: Vec::new(),
        stands_for: FxHashMap::default(),
    };
    numbering.run()?;
    Ok(Some((numbering.build.program, numbering.stands_for)))
}

/// Whether numbers are bit vectors; `None` if there is none.
fn kind_of_numbers(checked: &Checked) -> Result<Option<bool>, Unsupported> {
    let mut kind = None;
    for BodyOf { decl_idx, body, .. } in checked.program.bodies() {
        for id in checked.program.stmts_below(&body.block) {
            let out = match checked.async_op(id) {
                Some(AsyncOp::OwnId { out } | AsyncOp::ChildId { out }) => out,
                Some(AsyncOp::Post(Post { task_id: Some(out), .. })) => Some(out),
                _ => continue,
            };
            let Some(out) = out else {
                kind.get_or_insert(false);
                continue;
            };
            let var = checked.var_in(decl_idx, out.symbol);
            let are_bits =
                var.is_some_and(|var| matches!(checked.types.kind(checked.vars[var].ty), TyKind::Bv(_)));
            if *kind.get_or_insert(are_bits) != are_bits {
                let what = "task numbers that are int here and bv32 elsewhere".to_owned();
                return Err(Unsupported { what, span: Some(out.span) });
            }
        }
    }
    Ok(kind)
}

struct Numbering<'a> {
    checked: &'a Checked,
    build: Builder,
    ty: TypeId,
    are_bits: bool,
    /// The number of the task posted last.
    last: Symbol,
    /// The number of the running task, and of its child posted last.
    own: Symbol,
    child: Symbol,
    /// Addition of bit vectors.
    add: Symbol,
    wrappers: BTreeMap<Symbol, Symbol>,
    new: Vec<Decl>,
    stands_for: FxHashMap<StmtId, StmtId>,
}

impl Numbering<'_> {
    fn run(&mut self) -> Result<(), Unsupported> {
        let mut decls = std::mem::take(&mut self.build.program.decls);
        for decl in &mut decls {
            let Some(body) = build::body_mut(decl) else { continue };
            self.build.span = body.span;
            let number = self.build.fresh_local("task.number");
            let mut frame = Frame { number, is_used: false, locals: Vec::new() };
            body.block = self.block(&body.block, &mut frame)?;
            if frame.is_used {
                body.locals.push(self.build.binding(number, self.ty));
            }
            body.locals.append(&mut frame.locals);
        }
        let mut first = vec![self.build.global(self.last, self.ty)];
        for name in [self.own, self.child] {
            let attr = self.build.attr("thread_local", Vec::new());
            let mut decl = self.build.global(name, self.ty);
            decl.attrs.push(attr);
            first.push(decl);
        }
        if self.are_bits {
            first.push(self.addition());
        }
        let parts: Vec<ExprId> = [self.last, self.own, self.child]
            .into_iter()
            .map(|name| {
                let (name, one) = (self.build.var(name), self.one());
                self.build.eq(name, one)
            })
            .collect();
        let all = self.build.and(&parts);
        first.push(self.build.initially(all));
        first.append(&mut decls);
        first.append(&mut self.new);
        self.build.program.decls = first;
        Ok(())
    }

    fn addition(&mut self) -> Decl {
        let (ty, span) = (self.ty, self.build.span);
        let operation = self.build.text("bvadd");
        let attr = self.build.attr("bvbuiltin", vec![operation]);
        let part = || FunctionParam { attrs: Vec::new(), name: None, ty };
        let function = FunctionDecl {
            name: self.build.ident(self.add),
            type_params: Vec::new(),
            params: vec![part(), part()],
            result: part(),
            body: None,
        };
        Decl { attrs: vec![attr], kind: DeclKind::Function(function), span }
    }

    fn one(&mut self) -> ExprId {
        if !self.are_bits {
            return self.build.int(1);
        }
        let digits = self.build.program.intern("1");
        self.build.program.add_expr(ExprKind::Bv { digits, width: WIDTH }, self.build.span)
    }

    fn next(&mut self) -> ExprId {
        let (last, one) = (self.build.var(self.last), self.one());
        if !self.are_bits {
            return self.build.binary(BinaryOp::Add, last, one);
        }
        let function = self.build.ident(self.add);
        self.build.program.add_expr(ExprKind::Apply { function, args: vec![last, one] }, self.build.span)
    }

    fn block(&mut self, block: &Block, frame: &mut Frame) -> Result<Block, Unsupported> {
        let checked = self.checked;
        let mut stmts = Vec::new();
        for &id in &block.stmts {
            let Stmt { kind, span } = checked.program.stmts[id].clone();
            self.build.span = span;
            match checked.async_op(id) {
                Some(AsyncOp::Post(post)) => {
                    self.post(id, &post, frame, &mut stmts);
                    continue;
                }
                Some(AsyncOp::OwnId { out }) => {
                    let own = self.own;
                    stmts.extend(out.map(|out| self.build.copy(&[(out.symbol, own)])));
                    continue;
                }
                Some(AsyncOp::ChildId { out }) => {
                    let child = self.child;
                    stmts.extend(out.map(|out| self.build.copy(&[(out.symbol, child)])));
                    continue;
                }
                _ => {}
            }
            build::rewrite_inner(self, id, kind, |numbering, inner| numbering.block(inner, frame))?;
            stmts.push(id);
        }
        Ok(Block { stmts })
    }

    fn post(&mut self, id: StmtId, post: &Post<'_>, frame: &mut Frame, stmts: &mut Vec<StmtId>) {
        frame.is_used = true;
        let next = self.next();
        stmts.push(self.build.assign(vec![(frame.number, next)]));
        stmts.push(self.build.copy(&[(self.last, frame.number), (self.child, frame.number)]));
        let target = post.task_id.map(|target| target.symbol);
        let procedure = self.checked.program.procedure(post.call.callee.symbol);
        let params = procedure.map_or(&[][..], |(_, procedure)| &procedure.params);
        let mut args =
            self.build.args_without(self.checked, post.call, params, target, &mut frame.locals, stmts);
        stmts.extend(target.map(|target| self.build.copy(&[(target, frame.number)])));
        args.push(self.build.var(frame.number));
        let wrapper = self.wrapper(post.call.callee.symbol);
        let mut call = post.call.clone();
        call.callee = self.build.ident(wrapper);
        call.args = args;
        if call.is_async {
            call.outs.clear();
        }
        let new = self.build.stmt(StmtKind::Call(call));
        self.stands_for.insert(new, id);
        stmts.push(new);
    }

    /// Notes the number of the task, then does what the procedure does.
    fn wrapper(&mut self, callee: Symbol) -> Symbol {
        if let Some(&name) = self.wrappers.get(&callee) {
            return name;
        }
        let text = self.checked.program.text(callee).to_owned();
        let name = self.build.fresh(&format!("{text}.numbered"));
        self.wrappers.insert(callee, name);
        let span = self.build.span;
        if let Some(mut wrapper) = Wrapper::new(&mut self.build, self.checked, callee) {
            let number = self.build.fresh_local("number");
            wrapper.params.push(self.build.binding(number, self.ty));
            let note = self.build.copy(&[(self.own, number), (self.child, number)]);
            wrapper.before.push(note);
            wrapper.returns = true;
            self.new.push(wrapper.finish(&mut self.build, name));
        }
        self.build.span = span;
        name
    }
}

struct Frame {
    /// The local with the number of the task that is being posted.
    number: Symbol,
    is_used: bool,
    /// Further locals.
    locals: Vec<Binding>,
}

impl build::HasBuilder for Numbering<'_> {
    fn builder(&mut self) -> &mut Builder {
        &mut self.build
    }
}
