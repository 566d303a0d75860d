//! Executable code: a checked program with its control flow made flat and its names made slots.
//!
//! A body is a list of [`Instr`]s that jump by position; an expression is a list of [`Op`]s for a
//! stack machine, so that long chains need no recursion. [`mod@crate::interp::lower`] makes them.

use allways_base::{Span, Symbol};
use rustc_hash::FxHashMap;

use super::value::Value;
use crate::check::{Checked, Ty};
use crate::tree::{BinaryOp, Quantifier, StmtId};

/// A program ready to run.
pub struct Code {
    pub checked: Checked,
    pub procedures: Vec<Procedure>,
    pub by_name: FxHashMap<Symbol, usize>,
    pub functions: Vec<Function>,
    /// The `where` clauses of globals, by slot.
    pub global_where: Vec<Option<ExprCode>>,
    /// Axioms; those marked `{:init}` speak about the initial globals.
    pub axioms: Vec<ExprCode>,
    /// The unique constants of each type, by slot, in groups of two or more.
    pub unique: Vec<Vec<usize>>,
    /// Some expression mentions `old`.
    pub uses_old: bool,
    /// Where a run starts.
    pub entry: usize,
}

pub struct Procedure {
    pub name: Symbol,
    pub span: Span,
    pub n_params: usize,
    pub n_results: usize,
    /// Types and names of parameters and results.
    pub types: Vec<Ty>,
    pub names: Vec<Symbol>,
    pub requires: Vec<Contract>,
    pub ensures: Vec<Contract>,
    /// `where` clauses of results, by slot.
    pub result_where: Vec<(usize, ExprCode)>,
    /// Slots of the globals that a bodiless procedure may change.
    pub modifies: Vec<usize>,
    /// No preemption inside.
    pub atomic: bool,
    /// None for a bodiless procedure; several are a choice.
    pub bodies: Vec<Body>,
}

pub struct Contract {
    pub free: bool,
    pub expr: ExprCode,
    pub span: Span,
}

pub struct Body {
    /// Types of all slots: parameters, results, locals.
    pub types: Vec<Ty>,
    pub names: Vec<Symbol>,
    /// `where` clauses of parameters and locals, by slot.
    pub wheres: Vec<(usize, ExprCode)>,
    pub instrs: Vec<Instr>,
    /// The statement behind each instruction.
    pub origins: Vec<Origin>,
}

#[derive(Clone, Copy, Debug)]
pub struct Origin {
    pub stmt: Option<StmtId>,
    pub span: Span,
}

/// A variable that instructions read and write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Slot {
    Global(usize),
    Local(usize),
}

pub enum Instr {
    Assign {
        targets: Vec<Target>,
        values: Vec<ExprCode>,
    },
    Havoc(Vec<Slot>),
    Assert(ExprCode),
    Assume(ExprCode),
    Call {
        procedure: usize,
        args: Vec<ExprCode>,
        outs: Vec<Option<Slot>>,
        free: bool,
    },
    Post {
        procedure: usize,
        args: Vec<ExprCode>,
        handle: Option<Slot>,
        task_id: Option<Slot>,
    },
    Wait {
        out: Option<Slot>,
        handle: Slot,
    },
    WaitAll,
    Yield {
        condition: Option<ExprCode>,
        jump: Option<(u32, u32)>,
    },
    AtomicBegin,
    AtomicEnd,
    OwnId(Option<Slot>),
    ChildId(Option<Slot>),
    /// An unconditional violation.
    Fail,
    Record(ExprCode),
    Jump(usize),
    /// To the first place if the condition holds, else to the second.
    Branch(ExprCode, usize, usize),
    /// To any of these.
    Choose(Vec<usize>),
    Return,
}

pub struct Target {
    pub slot: Slot,
    pub indices: Vec<Vec<ExprCode>>,
}

pub struct Function {
    pub name: Symbol,
    pub params: Vec<Ty>,
    pub result: Ty,
    pub meaning: Meaning,
}

pub enum Meaning {
    /// Chosen entry by entry.
    Uninterpreted,
    Defined(ExprCode),
    /// An operation of the solver, by its name there.
    Builtin(String),
}

/// An expression for the stack machine.
#[derive(Clone, Default, Debug)]
pub struct ExprCode {
    pub ops: Vec<Op>,
}

#[derive(Clone, Debug)]
pub enum Op {
    Push(Value),
    Global(usize),
    /// The value of a global when the procedure was entered.
    OldGlobal(usize),
    Local(usize),
    Const(usize),
    /// A variable of the quantifier or `let` around, counted from the outermost.
    Bound(usize),
    Not,
    Neg,
    /// A strict operator. The connectives are jumps.
    Binary(BinaryOp),
    /// Jumps with the `false` on the stack, else drops the `true`.
    AndThen(usize),
    /// Jumps with the `true` on the stack, else drops the `false`.
    OrElse(usize),
    /// Drops; jumps if it was `false`.
    Unless(usize),
    Jump(usize),
    Select {
        n_indices: usize,
    },
    Store {
        n_indices: usize,
    },
    Extract {
        hi: u32,
        lo: u32,
    },
    ToInt,
    ToReal,
    Apply {
        function: usize,
        n_args: usize,
    },
    /// The body is the ops up to `end`.
    Quantified {
        quantifier: Quantifier,
        types: Vec<Ty>,
        end: usize,
    },
    /// Moves the top value to the bound variables.
    Bind,
    Unbind(usize),
}
