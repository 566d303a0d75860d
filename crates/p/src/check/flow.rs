//! Control flow: results on all paths, and `break`/`continue` inside loops.

use allways_base::Diagnostic;

use super::Checker;
use crate::codes;
use crate::hir::FunId;
use crate::syntax::ast::{self, ExprKind, StmtId, StmtKind, Tree};
use crate::types::Types;

impl Checker<'_> {
    pub(super) fn check_flow(&mut self, tree: &Tree, fun: FunId, body: &ast::Body) {
        // A lost statement may have been the `return`.
        let is_whole = tree.damage == ast::Damage::None;
        if is_whole
            && self.functions[fun].result != Types::NULL
            && !body.stmts.iter().any(|&stmt| returns(tree, stmt))
        {
            let name = self.functions[fun].name.map_or("this function", |name| self.symbols.text(name));
            let message = format!("`{name}` can end without returning its result");
            let end = body.span.at_end();
            let brace = allways_base::Span { start: end.start.saturating_sub(1), ..end };
            let declared = self.functions[fun].span;
            self.report(
                Diagnostic::error(codes::MISSING_RETURN, brace, message)
                    .label("the end is reached without `return`")
                    .also(declared, "this function has a result type")
                    .help("add a `return` at the end; one inside a loop does not count, since the body may run zero times"),
            );
        }
        for &stmt in &body.stmts {
            self.check_loop_control(tree, stmt);
        }
    }

    /// Looks through blocks and branches. What stands in a loop is fine, and P does not look into receive cases.
    fn check_loop_control(&mut self, tree: &Tree, id: StmtId) {
        let stmt = &tree.stmts[id];
        match &stmt.kind {
            StmtKind::Break | StmtKind::Continue => {
                let word = if matches!(stmt.kind, StmtKind::Break) { "break" } else { "continue" };
                self.error(codes::OUTSIDE_LOOP, stmt.span, format!("`{word}` outside a loop"));
            }
            StmtKind::Block(stmts) => stmts.iter().for_each(|&stmt| self.check_loop_control(tree, stmt)),
            StmtKind::If { arms, otherwise } => {
                for &(_, arm) in arms {
                    self.check_loop_control(tree, arm);
                }
                if let &Some(otherwise) = otherwise {
                    self.check_loop_control(tree, otherwise);
                }
            }
            _ => {}
        }
    }
}

/// Whether a statement surely leaves the function.
fn returns(tree: &Tree, id: StmtId) -> bool {
    match &tree.stmts[id].kind {
        StmtKind::Return(_) | StmtKind::Goto(..) | StmtKind::Raise(..) => true,
        StmtKind::Assert(cond, _) | StmtKind::Assume(cond, _) => {
            matches!(tree.exprs[*cond].kind, ExprKind::Bool(false))
        }
        StmtKind::Block(stmts) => stmts.iter().any(|&stmt| returns(tree, stmt)),
        StmtKind::If { arms, otherwise } => {
            otherwise.is_some_and(|otherwise| returns(tree, otherwise))
                && arms.iter().all(|&(_, arm)| returns(tree, arm))
        }
        StmtKind::Receive(cases) => {
            cases.iter().all(|case| case.handler.body.stmts.iter().any(|&stmt| returns(tree, stmt)))
        }
        _ => false,
    }
}
