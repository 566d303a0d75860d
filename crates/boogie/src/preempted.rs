//! Where automatic preemption puts its points: before statements that touch shared variables. The interpreter and the translation agree
//! on it.

use allways_base::Symbol;

use crate::check::Checked;
use crate::tree::{ExprId, ExprKind, StmtId, StmtKind};

impl Checked {
    /// Whether automatic preemption puts a point before a statement, where these expressions read shared variables, and writes of these
    /// names are shared.
    pub fn is_preempted(
        &self,
        id: StmtId,
        reads: impl Fn(ExprId) -> bool,
        writes: impl Fn(Symbol) -> bool,
    ) -> bool {
        let program = &self.program;
        let reads = || program.stmt_exprs(id).iter().any(|&expr| reads(expr));
        match &program.stmts[id].kind {
            StmtKind::Label(_)
            | StmtKind::Break(_)
            | StmtKind::Goto(_)
            | StmtKind::Return
            | StmtKind::Yield => false,
            // The head of a loop is visited again and again; its point is put there.
            StmtKind::While { .. } => false,
            StmtKind::Assert { .. } | StmtKind::If { .. } => reads(),
            StmtKind::Assume { attrs, expr } => {
                program.has_attr(attrs, "wait")
                    || program.has_attr(attrs, "waitall")
                    || !matches!(program.exprs[*expr].kind, ExprKind::Bool(true))
            }
            StmtKind::Havoc(names) => names.iter().any(|name| writes(name.symbol)),
            StmtKind::Assign { lhs, .. } => lhs.iter().any(|lhs| writes(lhs.name.symbol)) || reads(),
            StmtKind::Call(call) => {
                program.text(call.callee.symbol) == "corral_atomic_begin"
                    || self.is_bodiless(call.callee.symbol)
                    || reads()
                    || call.outs.iter().flatten().any(|out| writes(out.symbol))
            }
        }
    }

    /// A procedure without body that says something is one shared access.
    fn is_bodiless(&self, name: Symbol) -> bool {
        self.program.procedure(name).is_some_and(|(_, procedure)| {
            procedure.body.is_none()
                && !self.implementations.contains_key(&name)
                && !procedure.specs.is_empty()
        })
    }
}
