//! Labels: declared once, jumped to from where they can be seen, left by `break`.
//!
//! A label is visible in the block it stands in and in the blocks inside it, as in Boogie: no jump
//! enters a block from outside.

use allways_base::{Diagnostic, Span, Symbol};
use rustc_hash::FxHashMap;

use super::Checker;
use crate::codes;
use crate::tree::*;

#[derive(Default)]
struct Jumps {
    /// The labels of the blocks around, outermost first.
    visible: Vec<Vec<Symbol>>,
    /// What `break` may leave: the labels of each statement around, and whether it is a loop.
    leavable: Vec<(Vec<Symbol>, bool)>,
}

impl Checker {
    pub(super) fn check_jumps(&mut self, block: &Block) {
        let mut declared: FxHashMap<Symbol, Span> = FxHashMap::default();
        for stmt in self.program.stmts_below(block) {
            if let StmtKind::Label(label) = self.program.stmts[stmt].kind
                && let Some(first) = declared.insert(label.symbol, label.span)
            {
                let message = format!("the label `{}` is declared twice", self.text(label.symbol));
                self.diagnostics.push(
                    Diagnostic::error(codes::DUPLICATE, label.span, message)
                        .also(first, "first declared here"),
                );
            }
        }
        self.jumps_in(block, &mut Jumps::default(), &declared);
    }

    fn jumps_in(&mut self, block: &Block, jumps: &mut Jumps, declared: &FxHashMap<Symbol, Span>) {
        let labels = block.stmts.iter().filter_map(|&stmt| match &self.program.stmts[stmt].kind {
            StmtKind::Label(label) => Some(label.symbol),
            _ => None,
        });
        jumps.visible.push(labels.collect());
        let mut own_labels = Vec::new();
        for &stmt in &block.stmts {
            let Stmt { kind, span } = self.program.stmts[stmt].clone();
            match kind {
                StmtKind::Label(label) => {
                    own_labels.push(label.symbol);
                    continue;
                }
                StmtKind::Goto(targets) => {
                    for target in targets {
                        self.check_goto(target, jumps, declared);
                    }
                }
                StmtKind::Break(label) => self.check_break(label, span, jumps),
                StmtKind::If { arms, otherwise } => {
                    jumps.leavable.push((own_labels.clone(), false));
                    for block in arms.iter().map(|arm| &arm.body).chain(&otherwise) {
                        self.jumps_in(block, jumps, declared);
                    }
                    jumps.leavable.pop();
                }
                StmtKind::While { body, .. } => {
                    jumps.leavable.push((own_labels.clone(), true));
                    self.jumps_in(&body, jumps, declared);
                    jumps.leavable.pop();
                }
                StmtKind::Assert { .. }
                | StmtKind::Assume { .. }
                | StmtKind::Havoc(_)
                | StmtKind::Assign { .. }
                | StmtKind::Call(_)
                | StmtKind::Yield
                | StmtKind::Return => {}
            }
            own_labels.clear();
        }
        jumps.visible.pop();
    }

    fn check_goto(&mut self, target: Ident, jumps: &Jumps, declared: &FxHashMap<Symbol, Span>) {
        if jumps.visible.iter().flatten().any(|&label| label == target.symbol) {
            return;
        }
        let text = self.text(target.symbol);
        let diagnostic = match declared.get(&target.symbol) {
            Some(&span) => Diagnostic::error(
                codes::UNKNOWN_LABEL,
                target.span,
                format!("a jump cannot enter the block that contains the label `{text}`"),
            )
            .also(span, "the label"),
            None => Diagnostic::error(
                codes::UNKNOWN_LABEL,
                target.span,
                format!("there is no label `{text}` in this body"),
            ),
        };
        self.diagnostics.push(diagnostic);
    }

    fn check_break(&mut self, label: Option<Ident>, span: Span, jumps: &Jumps) {
        let found = jumps.leavable.iter().any(|(labels, is_loop)| match label {
            Some(label) => labels.contains(&label.symbol),
            None => *is_loop,
        });
        if found {
            return;
        }
        let message = match label {
            Some(label) => {
                format!("no enclosing statement has the label `{}`", self.text(label.symbol))
            }
            None => "there is no loop to leave here".to_owned(),
        };
        self.error(codes::MISPLACED_BREAK, span, message);
    }
}
