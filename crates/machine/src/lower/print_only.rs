//! Parameters that are only ever printed.
//!
//! Models wrap `print` in helpers of their own: `Log(format("...", x))`. Building that text in every run of a search, to
//! show it in none, would cost more than the rest of the handler. So a text that goes to a parameter which is
//! only printed is built when a recorder listens, and is empty otherwise. Preserves: everything but what is printed.

use allways_base::Idx;
use allways_p::hir::{self, ExprId, ExprKind, PlaceRoot, StmtKind};

/// For each function, which of its parameters are only printed, directly or by functions they are given to.
pub(super) fn print_only_params(program: &hir::Program) -> Vec<Vec<bool>> {
    // The greatest solution: all string parameters, less those with another use, until nothing changes.
    let mut known: Vec<Vec<bool>> = program
        .functions
        .iter()
        .map(|function| {
            let is_text = |ty: hir::TypeId| matches!(program.types.get(ty), hir::Type::String);
            let has_body = function.body.is_some();
            function.locals.iter().take(function.n_params).map(|p| has_body && is_text(p.ty)).collect()
        })
        .collect();
    loop {
        let mut changed = false;
        for (id, function) in program.functions.iter_ids() {
            let Some(body) = &function.body else { continue };
            let mut uses = Uses { body, known: &known, other: vec![false; function.n_params] };
            uses.body();
            let other = uses.other;
            for (param, used) in other.into_iter().enumerate() {
                if used && known[id.index()][param] {
                    known[id.index()][param] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            return known;
        }
    }
}

struct Uses<'a> {
    body: &'a hir::Body,
    known: &'a [Vec<bool>],
    /// Parameters with a use that is no printing.
    other: Vec<bool>,
}

impl Uses<'_> {
    fn body(&mut self) {
        // Statements are visited one by one, wherever they are nested.
        for stmt in &self.body.stmts {
            if let StmtKind::Print(text) = stmt.kind {
                self.expr(text, true);
                continue;
            }
            if let Some(PlaceRoot::Local(local)) = stmt.kind.place().map(|place| place.root) {
                self.local(local);
            }
            for expr in stmt.kind.operands() {
                self.expr(expr, false);
            }
        }
    }

    fn local(&mut self, local: hir::LocalId) {
        if let Some(used) = self.other.get_mut(local.index()) {
            *used = true;
        }
    }

    /// Notes the uses in an expression whose value is only printed, or not.
    fn expr(&mut self, expr: ExprId, printed: bool) {
        match &self.body.exprs[expr].kind {
            ExprKind::Local(local) => {
                if !printed {
                    self.local(*local);
                }
            }
            ExprKind::Format(_, args) => {
                for &arg in args {
                    self.expr(arg, printed);
                }
            }
            ExprKind::Call(fun, args) => {
                for (param, &arg) in args.iter().enumerate() {
                    let printed = self.known[fun.index()].get(param).copied().unwrap_or(false);
                    self.expr(arg, printed);
                }
            }
            kind => {
                for e in kind.operands() {
                    self.expr(e, false);
                }
            }
        }
    }
}
