//! The rules of the asynchronous dialects: handles, results of posted calls, waits and yields.

use allways_base::words::count;
use allways_base::{Diagnostic, Span, Symbol};

use super::{Checker, Place, Ty, TyKind, VarKind};
use crate::codes;
use crate::dialect::{self, AsyncOp, Malformed};
use crate::tree::*;

impl Checker {
    /// The parts of waits, yields and other normalized statements that ordinary rules leave open.
    pub(super) fn check_async(&mut self, id: StmtId) {
        let span = self.program.stmts[id].span;
        let op = match dialect::async_op(&self.program, id) {
            Ok(op) => op,
            Err(malformed) => return self.malformed(malformed, span),
        };
        match op {
            Some(AsyncOp::Wait { out, handle }) => {
                let handle = Ident { symbol: handle, span };
                let result = self.handle_result(handle);
                if let (Some(out), Some(result)) = (out, result) {
                    self.expect_target(Ident { symbol: out, span }, result);
                }
            }
            Some(AsyncOp::Yield(point)) => {
                if let Some(condition) = point.condition {
                    self.check_bool(condition, Place::TWO_STATE);
                }
            }
            Some(
                AsyncOp::Post(_)
                | AsyncOp::WaitAll
                | AsyncOp::AtomicBegin
                | AsyncOp::AtomicEnd
                | AsyncOp::OwnId { .. }
                | AsyncOp::ChildId { .. }
                | AsyncOp::Unreachable
                | AsyncOp::Record(_),
            )
            | None => {}
        }
    }

    fn malformed(&mut self, malformed: Malformed, span: Span) {
        let (code, message) = match malformed {
            Malformed::Wait => {
                (codes::WAIT_ARGUMENTS, "`{:wait}` takes a handle, or a variable for the result and a handle")
            }
            Malformed::Yield => (
                codes::YIELD_ARGUMENTS,
                "`{:yield}` takes an optional condition and up to two numbers of rounds to skip, the smaller one first",
            ),
            Malformed::AsyncOuts => {
                (codes::ASYNC_RESULTS, "`async call` has at most one variable on the left: the task's number")
            }
        };
        self.error(code, span, message);
    }

    pub(super) fn check_post(&mut self, id: StmtId, call: &Call, results: &[Ty]) {
        let span = call.callee.span;
        let op = match dialect::async_op(&self.program, id) {
            Ok(op) => op,
            Err(malformed) => return self.malformed(malformed, span),
        };
        let Some(AsyncOp::Post(post)) = op else { return };
        let (handle, task_id) = (post.handle, post.task_id);
        if let Some(name) = task_id {
            let ty = self.target(name);
            let fits = matches!(self.out.types.kind(ty), TyKind::Int | TyKind::Bv(32) | TyKind::Error);
            if !fits {
                let message =
                    format!("`{}` receives the number of the task, an int or bv32", self.text(name.symbol));
                self.diagnostics.push(
                    Diagnostic::error(codes::ASYNC_RESULTS, name.span, message)
                        .help("to fetch a result, post with a handle and wait for it"),
                );
            }
            return;
        }
        if call.is_async {
            return;
        }
        let is_number = |ck: &Checker, name: Symbol| {
            ck.lookup(name).is_some_and(|var| {
                matches!(ck.out.types.kind(ck.out.vars[var].ty), TyKind::Int | TyKind::Bv(_))
            })
        };
        if let Some(handle) = handle.filter(|&handle| is_number(self, handle)) {
            self.out.ignored_handles.insert(id);
            let message =
                format!("`{}` is a number, not a task handle, and is not assigned", self.text(handle));
            self.diagnostics.push(
                Diagnostic::warning(codes::IGNORED, span, message)
                    .help("to wait for this call, declare the variable as `task T`"),
            );
        } else if let Some(handle) = handle {
            if results.len() > 1 {
                let message = format!("a handle delivers one result, and this call has {}", results.len());
                self.error(codes::ASYNC_RESULTS, span, message);
            }
            let delivered = self.handle_result(Ident { symbol: handle, span });
            if let (Some(delivered), [result]) = (delivered, results)
                && !self.unify(delivered, *result)
            {
                let message = format!(
                    "the handle is for a result of type {}, but the procedure returns {}",
                    self.show(delivered),
                    self.show(*result)
                );
                self.error(codes::HANDLE, span, message);
            }
        }
        // The variables on the left are not assigned; they only repeat the arity of the callee.
        if !call.outs.is_empty() && call.outs.len() != results.len() {
            let message = format!(
                "the procedure has {}, but the call assigns {}",
                count(results.len(), "result"),
                count(call.outs.len(), "variable")
            );
            self.error(codes::ARITY, span, message);
        }
        for (out, &result) in call.outs.iter().zip(results) {
            if let Some(name) = out {
                self.expect_target(*name, result);
            }
        }
    }

    /// The type of the result that a handle variable stands for.
    fn handle_result(&mut self, name: Ident) -> Option<Ty> {
        let Some(var) = self.lookup(name.symbol) else {
            self.unknown_name(name);
            return None;
        };
        let var = self.out.vars[var].clone();
        let is_local = match var.kind {
            VarKind::Param | VarKind::Result | VarKind::Local => true,
            VarKind::Global | VarKind::ThreadLocal | VarKind::Const | VarKind::Bound => false,
        };
        match self.out.types.kind(var.ty).clone() {
            TyKind::Con(_, args) if is_local && self.is_task(var.ty) => {
                args.first().copied().or(Some(Ty::ERROR))
            }
            TyKind::Error => None,
            _ => {
                let message = format!("`{}` is not a task handle", self.text(name.symbol));
                self.diagnostics.push(
                    Diagnostic::error(codes::HANDLE, name.span, message)
                        .also(var.name.span, "declared here")
                        .help("a handle is a local variable of type `task T`, with `type task a;` declared"),
                );
                None
            }
        }
    }

    /// Calls of procedures that tools know without a declaration.
    pub(super) fn check_builtin_call(&mut self, id: StmtId, call: &Call) {
        for &arg in &call.args {
            self.infer_expr(arg, Place::TWO_STATE);
            self.settle(arg);
        }
        let name = self.text(call.callee.symbol).to_owned();
        if !dialect::is_builtin_procedure(&name) {
            let mut diagnostic = Diagnostic::error(
                codes::UNKNOWN_PROCEDURE,
                call.callee.span,
                format!("there is no procedure `{name}`"),
            );
            if self.out.functions.contains_key(&call.callee.symbol) {
                diagnostic = diagnostic.help("a function is applied in an expression, without `call`");
            }
            self.diagnostics.push(diagnostic);
            return;
        }
        let (n_args, n_outs) = builtin_shape(&name);
        if call.args.len() != n_args || call.outs.len() != n_outs {
            let message =
                format!("`{name}` takes {} and has {}", count(n_args, "argument"), count(n_outs, "result"));
            self.error(codes::ARITY, call.callee.span, message);
            return;
        }
        for name in call.outs.iter().copied().flatten() {
            let ty = self.target(name);
            if !matches!(self.out.types.kind(ty), TyKind::Int | TyKind::Bv(32) | TyKind::Error) {
                let message = format!("`{}` receives a number, an int or bv32", self.text(name.symbol));
                self.error(codes::TYPE_MISMATCH, name.span, message);
            }
        }
        self.check_async(id);
    }
}

/// Arguments and results of a procedure known by name.
fn builtin_shape(name: &str) -> (usize, usize) {
    match name {
        "corral_getThreadID" | "corral_getChildThreadID" => (0, 1),
        "corral_atomic_begin" | "corral_atomic_end" | "corral_assert_not_reachable" => (0, 0),
        _ => (1, 0),
    }
}
