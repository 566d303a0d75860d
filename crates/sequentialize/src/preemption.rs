//! Preemption points that are not written: before everything that touches a shared variable, waits or
//! may block, and at the entry of procedures. The same places as those of the interpreter's automatic
//! mode.

use allways_base::Symbol;
use allways_boogie::check::{Checked, VarKind};
use allways_boogie::tree::*;
use rustc_hash::FxHashMap;

use crate::build::Builder;

/// A program with explicit points, and the statement that each new point stands before.
pub type WithPoints = (Program, FxHashMap<StmtId, StmtId>);

/// Writes the points into a program.
pub fn insert_points(checked: &Checked) -> WithPoints {
    let Some(first) = checked.program.decls.first() else {
        return (checked.program.clone(), FxHashMap::default());
    };
    let mut insertion = Insertion {
        checked,
        build: Builder::new(&checked.program, first.span),
        points: FxHashMap::default(),
    };
    let mut decls = std::mem::take(&mut insertion.build.program.decls);
    for (decl_idx, decl) in decls.iter_mut().enumerate() {
        let body = match &mut decl.kind {
            DeclKind::Procedure(procedure) => procedure.body.as_mut(),
            DeclKind::Implementation(implementation) => Some(&mut implementation.body),
            _ => None,
        };
        if let Some(body) = body {
            insertion.build.span = body.span;
            let entry = insertion.build.stmt(StmtKind::Yield);
            let mut stmts = vec![entry];
            stmts.extend(insertion.block(decl_idx, &body.block).stmts);
            body.block = Block { stmts };
        }
    }
    insertion.build.program.decls = decls;
    (insertion.build.program, insertion.points)
}

struct Insertion<'a> {
    checked: &'a Checked,
    build: Builder,
    points: FxHashMap<StmtId, StmtId>,
}

impl Insertion<'_> {
    fn point(&mut self, before: StmtId) -> StmtId {
        self.build.span = self.checked.program.stmts[before].span;
        let point = self.build.stmt(StmtKind::Yield);
        self.points.insert(point, before);
        point
    }

    fn block(&mut self, decl_idx: usize, block: &Block) -> Block {
        let checked = self.checked;
        let mut stmts = Vec::new();
        for &id in &block.stmts {
            if self.is_shared(decl_idx, id) {
                // Labels stand before their statement, so a jump there meets the point too.
                stmts.push(self.point(id));
            }
            match checked.program.stmts[id].kind.clone() {
                StmtKind::If { arms, otherwise } => {
                    let arms = arms
                        .iter()
                        .map(|arm| Arm { guard: arm.guard, body: self.block(decl_idx, &arm.body) })
                        .collect();
                    let otherwise = otherwise.map(|block| self.block(decl_idx, &block));
                    self.build.program.stmts[id].kind = StmtKind::If { arms, otherwise };
                }
                StmtKind::While { guard, invariants, body } => {
                    let mut body = self.block(decl_idx, &body);
                    if guard.is_some_and(|guard| self.reads_global(guard)) {
                        // Before each evaluation of the guard.
                        stmts.push(self.point(id));
                        let again = self.point(id);
                        body.stmts.push(again);
                    }
                    self.build.program.stmts[id].kind = StmtKind::While { guard, invariants, body };
                }
                _ => {}
            }
            stmts.push(id);
        }
        Block { stmts }
    }

    fn reads_global(&self, root: ExprId) -> bool {
        let checked = self.checked;
        checked
            .program
            .postorder(root)
            .into_iter()
            .any(|id| checked.expr_vars[id].is_some_and(|var| checked.vars[var].kind == VarKind::Global))
    }

    fn is_shared(&self, decl_idx: usize, id: StmtId) -> bool {
        let program = &self.checked.program;
        let writes = |name: Symbol| {
            self.checked
                .var_in(decl_idx, name)
                .is_some_and(|var| self.checked.vars[var].kind == VarKind::Global)
        };
        let reads = || program.stmt_exprs(id).iter().any(|&expr| self.reads_global(expr));
        match &program.stmts[id].kind {
            StmtKind::Label(_)
            | StmtKind::Break(_)
            | StmtKind::Goto(_)
            | StmtKind::Return
            | StmtKind::Yield
            | StmtKind::While { .. } => false,
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
        self.checked.program.procedure(name).is_some_and(|(_, procedure)| {
            procedure.body.is_none()
                && !self.checked.implementations.contains_key(&name)
                && !procedure.specs.is_empty()
        })
    }
}
