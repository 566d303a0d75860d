//! Preemption points that are not written: before everything that touches a shared variable, waits or
//! may block, and at the entry of procedures. The same places as those of the interpreter's automatic
//! mode. And the other way round: a program without its written points, whose tasks give way at waits only.

use allways_base::Symbol;
use allways_boogie::check::{Checked, VarKind};
use allways_boogie::dialect::AsyncOp;
use allways_boogie::tree::*;
use rustc_hash::FxHashMap;

use crate::Unsupported;
use crate::build::{self, Builder, Rewritten};

/// Writes the points into a program; each new point stands for the statement before which it stands.
pub fn insert_points(checked: &Checked) -> Rewritten {
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
        if let Some(body) = build::body_mut(decl) {
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

/// Takes the written points out of a program.
pub fn remove_points(checked: &Checked) -> Result<Rewritten, Unsupported> {
    let Some(first) = checked.program.decls.first() else {
        return Ok((checked.program.clone(), FxHashMap::default()));
    };
    let mut removal = Removal { checked, build: Builder::new(&checked.program, first.span) };
    let mut decls = std::mem::take(&mut removal.build.program.decls);
    for body in decls.iter_mut().filter_map(build::body_mut) {
        body.block = removal.block(&body.block)?;
    }
    removal.build.program.decls = decls;
    Ok((removal.build.program, FxHashMap::default()))
}

struct Removal<'a> {
    checked: &'a Checked,
    build: Builder,
}

impl Removal<'_> {
    fn block(&mut self, block: &Block) -> Result<Block, Unsupported> {
        let mut stmts = Vec::new();
        for &id in &block.stmts {
            if matches!(self.checked.async_op(id), Some(AsyncOp::Yield(_))) {
                continue;
            }
            let kind = self.checked.program.stmts[id].kind.clone();
            build::rewrite_inner(self, id, kind, Removal::block)?;
            stmts.push(id);
        }
        Ok(Block { stmts })
    }
}

impl build::HasBuilder for Removal<'_> {
    fn builder(&mut self) -> &mut Builder {
        &mut self.build
    }
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
                    let mut looked_at = invariants.iter().map(|invariant| invariant.expr).chain(guard);
                    if looked_at.any(|expr| self.reads_global(expr)) {
                        // Before each visit of the head.
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
        let writes = |name: Symbol| {
            self.checked
                .var_in(decl_idx, name)
                .is_some_and(|var| self.checked.vars[var].kind == VarKind::Global)
        };
        self.checked.is_preempted(id, |expr| self.reads_global(expr), writes)
    }
}
