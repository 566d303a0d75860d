//! Flow graphs: procedures in control-flow normal form.
//!
//! A [`Proc`] is a graph of blocks with one exit. Assertions are gone: a failing one sets the result
//! [`Proc::failed`] and leaves, and callers leave after a call that failed. Contracts, `where` clauses,
//! `old` and loops with invariants are spelled out as assumptions and branches, and a procedure
//! without body has a body that does what its contract says.
//!
//! Besides parameters and results, a procedure reads and writes variables of its surroundings by
//! identity ([`Proc::reads`], [`Proc::writes`]): globals, and for an extracted loop also the locals of
//! the procedure the loop was in.

use std::collections::BTreeSet;

use allways_base::{IndexVec, Span};
use allways_boogie::check::Ty;
use allways_boogie::tree::StmtId;

use crate::term::{TermId, Terms, VarRef};

allways_base::newtype_ids! {
    /// A procedure of a [`Flow`].
    ProcId = "p";
    /// A block of a [`Proc`].
    BlockId = "b";
}

/// A whole program as flow graphs.
#[derive(Debug)]
pub struct Flow {
    pub terms: Terms,
    pub vars: IndexVec<VarRef, Variable>,
    pub procs: IndexVec<ProcId, Proc>,
    /// Sets up the initial state and calls the entry point.
    pub start: ProcId,
    pub failures: Vec<Failure>,
}

#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub ty: Ty,
    pub kind: VariableKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VariableKind {
    Global,
    /// Of the source: parameter, result or local.
    Local,
    /// Made by the normal form.
    Helper,
}

#[derive(Clone, Debug)]
pub struct Proc {
    /// The name in the source; an extracted loop is named after the procedure it was in.
    pub name: String,
    /// Whether this is an extracted loop.
    pub is_loop: bool,
    pub params: Vec<VarRef>,
    pub results: Vec<VarRef>,
    /// The result that tells whether an assertion failed, in procedures where one can.
    pub failed: Option<VarRef>,
    pub blocks: IndexVec<BlockId, Block>,
    pub entry: BlockId,
    pub exit: BlockId,
    /// Of an extracted loop: variables of the surroundings whose value matters only within one pass.
    pub hidden: BTreeSet<VarRef>,
    /// Variables of the surroundings whose value at entry matters.
    pub reads: BTreeSet<VarRef>,
    /// Variables of the surroundings that may change; all of them are in `reads`.
    pub writes: BTreeSet<VarRef>,
}

#[derive(Clone, Default, Debug)]
pub struct Block {
    pub instrs: Vec<Instr>,
    /// Where control goes next; any of them. None for the exit, and where control ends.
    pub next: Vec<BlockId>,
    /// The assertion that has failed when control is here.
    pub failure: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct Instr {
    pub kind: InstrKind,
    pub origin: Option<StmtId>,
}

#[derive(Clone, Debug)]
pub enum InstrKind {
    /// All at once.
    Assign(Vec<(VarRef, TermId)>),
    Havoc(VarRef),
    Assume(TermId),
    Call {
        callee: ProcId,
        args: Vec<TermId>,
        outs: Vec<VarRef>,
    },
    /// Nothing happens; the statement shows in traces, with the number of the way taken if it chose
    /// one.
    Mark(Option<u32>),
}

/// An assertion that may fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    pub kind: FailureKind,
    /// The assertion or contract.
    pub span: Span,
    pub stmt: Option<StmtId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailureKind {
    Assert,
    Requires,
    Ensures,
    Invariant,
    /// Control reached what must not be reached.
    Unreachable,
}

impl FailureKind {
    /// The stable name, in kebab case.
    pub const fn as_str(self) -> &'static str {
        match self {
            FailureKind::Assert => "assert",
            FailureKind::Requires => "requires",
            FailureKind::Ensures => "ensures",
            FailureKind::Invariant => "invariant",
            FailureKind::Unreachable => "unreachable",
        }
    }
}

impl Instr {
    /// Calls `f` on the variables whose value before the instruction matters to it.
    pub fn uses(&self, flow: &Flow, mut f: impl FnMut(VarRef)) {
        match &self.kind {
            InstrKind::Assign(pairs) => {
                pairs.iter().for_each(|&(_, term)| flow.terms.vars_of(term).into_iter().for_each(&mut f));
            }
            InstrKind::Assume(term) => flow.terms.vars_of(*term).into_iter().for_each(f),
            InstrKind::Call { callee, args, .. } => {
                args.iter().for_each(|&arg| flow.terms.vars_of(arg).into_iter().for_each(&mut f));
                flow.procs[*callee].reads.iter().copied().for_each(f);
            }
            InstrKind::Havoc(_) | InstrKind::Mark(_) => {}
        }
    }

    /// Calls `f` on the variables that have a new value after the instruction.
    pub fn defines(&self, flow: &Flow, mut f: impl FnMut(VarRef)) {
        match &self.kind {
            InstrKind::Assign(pairs) => pairs.iter().for_each(|&(var, _)| f(var)),
            InstrKind::Havoc(var) => f(*var),
            InstrKind::Call { callee, outs, .. } => {
                flow.procs[*callee].writes.iter().copied().for_each(&mut f);
                outs.iter().copied().for_each(f);
            }
            InstrKind::Assume(_) | InstrKind::Mark(_) => {}
        }
    }
}

impl Proc {
    /// Whether a variable lives only in a call of this procedure.
    fn owns(&self, flow: &Flow, var: VarRef) -> bool {
        if self.is_loop {
            self.results.contains(&var) || self.hidden.contains(&var)
        } else {
            flow.vars[var].kind != VariableKind::Global
        }
    }
}

impl Flow {
    /// Computes [`Proc::reads`] and [`Proc::writes`] of all procedures, through their calls.
    pub fn link(&mut self) {
        let ids: Vec<ProcId> = self.procs.iter_ids().map(|(id, _)| id).collect();
        let mut changed = true;
        while changed {
            changed = false;
            // Callees tend to come after their callers.
            for &id in ids.iter().rev() {
                let proc = &self.procs[id];
                let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
                for instr in proc.blocks.iter().flat_map(|block| &block.instrs) {
                    instr.uses(self, |var| {
                        reads.insert(var);
                    });
                    instr.defines(self, |var| {
                        writes.insert(var);
                    });
                }
                writes.retain(|&var| !proc.owns(self, var));
                reads.retain(|&var| !proc.owns(self, var));
                // What is written on some paths only keeps its old value on the others.
                reads.extend(&writes);
                if reads != proc.reads || writes != proc.writes {
                    let proc = &mut self.procs[id];
                    (proc.reads, proc.writes) = (reads, writes);
                    changed = true;
                }
            }
        }
    }

    pub fn new_var(&mut self, name: impl Into<String>, ty: Ty, kind: VariableKind) -> VarRef {
        self.vars.push(Variable { name: name.into(), ty, kind })
    }
}
