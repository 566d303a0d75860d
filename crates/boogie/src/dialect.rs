//! The asynchronous dialects, normalized: which statements post, wait, yield or bracket atomic
//! sections, whatever tool's spelling they use.
//!
//! | spelling | meaning |
//! |---|---|
//! | `call {:async} p(a);`, `async call p(a);` | post |
//! | `call {:async t} x := p(a);` | post; the local `t: task T` receives the handle, `x` is not assigned |
//! | `async call t := p(a);` | post; `t` receives the number of the new task |
//! | `assume {:wait x, t} true;`, `assume {:wait t} true;` | wait for `t`, then `x := result` |
//! | `assume {:waitall} true;` | wait for all children posted so far |
//! | `assume {:yield ..} true;`, `yield;` | preemption point |
//! | `call corral_atomic_begin();`, `corral_atomic_end();` | dynamic atomic section |
//! | `call n := corral_getThreadID();`, `corral_getChildThreadID();` | number of this task, of its last child |
//! | `call corral_assert_not_reachable();` | unconditional failure |
//! | `call boogie_si_record_T(e);` | records a value for the trace |
//!
//! [`async_op`] reads the spelling alone. Once a program is checked, ask
//! [`Checked::async_op`](crate::Checked::async_op), which also knows the types.

use allways_base::Symbol;

use crate::tree::*;

/// What an asynchronous statement does.
#[derive(Clone, Debug)]
pub enum AsyncOp<'a> {
    Post(Post<'a>),
    Wait {
        out: Option<Symbol>,
        handle: Symbol,
    },
    WaitAll,
    Yield(Yield),
    AtomicBegin,
    AtomicEnd,
    /// The number of the running task.
    OwnId {
        out: Option<Ident>,
    },
    /// The number of the task posted last by the running one.
    ChildId {
        out: Option<Ident>,
    },
    /// Reaching this is a violation.
    Unreachable,
    /// Records a value for the trace; no effect.
    Record(ExprId),
}

/// A posted call.
#[derive(Clone, Debug)]
pub struct Post<'a> {
    /// The local that receives the handle.
    pub handle: Option<Symbol>,
    /// The variable that receives the number of the task (very old Corral inputs).
    pub task_id: Option<Ident>,
    pub call: &'a Call,
}

/// A preemption point, possibly restricted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Yield {
    /// The scheduler may act here only if this holds.
    pub condition: Option<ExprId>,
    /// The delays that may be spent here are none or between these two. `None` allows any number.
    pub jump: Option<(u32, u32)>,
}

impl Yield {
    pub const FREE: Yield = Yield { condition: None, jump: None };
}

/// An attribute that asks for asynchrony with arguments it cannot have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Malformed {
    /// `{:wait}` takes one or two variables.
    Wait,
    /// `{:yield}` takes an optional condition and up to two numbers.
    Yield,
    /// `async call` has at most one variable on the left.
    AsyncOuts,
}

/// The names that Corral and Boogie's stratified inliner give a meaning to, declared or not.
pub fn is_builtin_procedure(name: &str) -> bool {
    matches!(
        name,
        "corral_atomic_begin"
            | "corral_atomic_end"
            | "corral_getThreadID"
            | "corral_getChildThreadID"
            | "corral_assert_not_reachable"
    ) || name.starts_with("boogie_si_record_")
}

/// The asynchronous meaning of a statement, `None` for an ordinary one.
pub fn async_op(program: &Program, stmt: StmtId) -> Result<Option<AsyncOp<'_>>, Malformed> {
    match &program.stmts[stmt].kind {
        StmtKind::Yield => Ok(Some(AsyncOp::Yield(Yield::FREE))),
        StmtKind::Assume { attrs, .. } => {
            if let Some(attr) = program.attr(attrs, "wait") {
                return wait(program, attr).map(Some);
            }
            if program.has_attr(attrs, "waitall") {
                return Ok(Some(AsyncOp::WaitAll));
            }
            match program.attr(attrs, "yield") {
                Some(attr) => yield_point(program, attr).map(Some),
                None => Ok(None),
            }
        }
        StmtKind::Call(call) => call_op(program, call),
        StmtKind::Label(_)
        | StmtKind::Assert { .. }
        | StmtKind::Havoc(_)
        | StmtKind::Assign { .. }
        | StmtKind::If { .. }
        | StmtKind::While { .. }
        | StmtKind::Break(_)
        | StmtKind::Goto(_)
        | StmtKind::Return => Ok(None),
    }
}

fn call_op<'a>(program: &'a Program, call: &'a Call) -> Result<Option<AsyncOp<'a>>, Malformed> {
    if let Some(attr) = program.attr(&call.attrs, "async") {
        // Other arguments than a variable (`{:async 0}`) appear in old inputs and mean nothing.
        let handle = attr.args.first().and_then(|&arg| variable(program, arg));
        return Ok(Some(AsyncOp::Post(Post { handle, task_id: None, call })));
    }
    if call.is_async {
        if call.outs.len() > 1 {
            return Err(Malformed::AsyncOuts);
        }
        let task_id = call.outs.first().copied().flatten();
        return Ok(Some(AsyncOp::Post(Post { handle: None, task_id, call })));
    }
    let out = call.outs.first().copied().flatten();
    let op = match program.text(call.callee.symbol) {
        "corral_atomic_begin" => AsyncOp::AtomicBegin,
        "corral_atomic_end" => AsyncOp::AtomicEnd,
        "corral_getThreadID" => AsyncOp::OwnId { out },
        "corral_getChildThreadID" => AsyncOp::ChildId { out },
        "corral_assert_not_reachable" => AsyncOp::Unreachable,
        name if name.starts_with("boogie_si_record_") => match call.args.first() {
            Some(&arg) => AsyncOp::Record(arg),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    Ok(Some(op))
}

fn wait<'a>(program: &'a Program, attr: &Attr) -> Result<AsyncOp<'a>, Malformed> {
    let variables: Vec<Option<Symbol>> = attr.args.iter().map(|&arg| variable(program, arg)).collect();
    match variables[..] {
        [Some(handle)] => Ok(AsyncOp::Wait { out: None, handle }),
        [Some(out), Some(handle)] => Ok(AsyncOp::Wait { out: Some(out), handle }),
        _ => Err(Malformed::Wait),
    }
}

fn yield_point<'a>(program: &'a Program, attr: &Attr) -> Result<AsyncOp<'a>, Malformed> {
    let (condition, numbers) = match attr.args[..] {
        [first, ref rest @ ..] if number(program, first).is_none() => (Some(first), rest),
        ref all => (None, all),
    };
    let numbers: Option<Vec<u32>> = numbers.iter().map(|&arg| number(program, arg)).collect();
    let jump = match numbers.as_deref() {
        Some([]) => None,
        Some([n]) => Some((*n, *n)),
        Some([n, m]) if n <= m => Some((*n, *m)),
        _ => return Err(Malformed::Yield),
    };
    Ok(AsyncOp::Yield(Yield { condition, jump }))
}

fn variable(program: &Program, expr: ExprId) -> Option<Symbol> {
    match program.exprs[expr].kind {
        ExprKind::Var(symbol) => Some(symbol),
        _ => None,
    }
}

fn number(program: &Program, expr: ExprId) -> Option<u32> {
    match program.exprs[expr].kind {
        ExprKind::Int(digits) => program.text(digits).parse().ok(),
        _ => None,
    }
}
