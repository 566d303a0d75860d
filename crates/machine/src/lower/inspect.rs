//! Which parts of a condition people want to see when its assertion fails, and how to compute them again.
//!
//! A part is a variable or a path into one. Conditions have no effects, apart from calls, which are not followed: so
//! the parts have the same values when the assertion has failed as they had when it was evaluated.

use allways_base::Span;
use allways_p::hir::{ExprId, ExprKind};

use super::function::FunctionLowering;
use crate::ir::{Inspect, InspectedPart, Inspection, Operand};
use crate::value::Notation;

impl FunctionLowering<'_, '_> {
    /// Describes the condition of the assertion whose failing op comes next. `assert false` in an `if` is about the
    /// condition of that.
    pub(super) fn inspect(&mut self, condition: ExprId) {
        let mut found = self.parts_of(condition);
        if found.1.is_empty()
            && let Some(&around) = self.conditions.last()
        {
            found = self.parts_of(around);
        }
        let (condition, parts) = found;
        let pc = self.here();
        self.lowering.exe.inspections.push(Inspection { pc, condition, parts });
    }

    fn parts_of(&mut self, condition: ExprId) -> (Span, Vec<InspectedPart>) {
        let mut parts = Vec::new();
        self.collect(condition, &mut parts);
        (self.body.exprs[condition].span, parts)
    }

    fn collect(&mut self, id: ExprId, parts: &mut Vec<InspectedPart>) {
        let body = self.body;
        let expr = &body.exprs[id];
        let is_variable =
            matches!(expr.kind, ExprKind::Local(_) | ExprKind::Field(_) | ExprKind::TupleGet(..))
                || matches!(expr.kind, ExprKind::FieldGet(..) | ExprKind::Index(..) | ExprKind::Sizeof(_));
        if is_variable && let Some(inspect) = self.inspected(id) {
            if !parts.iter().any(|part| part.inspect == inspect) {
                let notation = Notation::of(self.lowering.program, expr.ty);
                parts.push(InspectedPart { span: expr.span, inspect, notation });
            }
            return self.collect_keys(id, parts);
        }
        for operand in expr.kind.operands() {
            self.collect(operand, parts);
        }
    }

    /// Variables in the keys of a path matter, too.
    fn collect_keys(&mut self, id: ExprId, parts: &mut Vec<InspectedPart>) {
        let body = self.body;
        match &body.exprs[id].kind {
            ExprKind::Index(of, key) => {
                self.collect(*key, parts);
                self.collect_keys(*of, parts);
            }
            ExprKind::TupleGet(of, _) | ExprKind::FieldGet(of, _, _) | ExprKind::Sizeof(of) => {
                self.collect_keys(*of, parts);
            }
            _ => {}
        }
    }

    /// How to compute an expression again, if it is a path into a variable, or a literal.
    fn inspected(&mut self, id: ExprId) -> Option<Inspect> {
        let body = self.body;
        Some(match &body.exprs[id].kind {
            ExprKind::Local(local) => Inspect::Operand(Operand::register(local.as_u32())),
            ExprKind::Field(field) => Inspect::Operand(Operand::field(field.as_u32())),
            ExprKind::TupleGet(e, at) => Inspect::Part(Box::new(self.inspected(*e)?), *at as u32),
            ExprKind::FieldGet(e, name, position) => {
                let of = Box::new(self.inspected(*e)?);
                Inspect::Field(of, self.lowering.access(*name, *position))
            }
            ExprKind::Index(e, key) => {
                Inspect::Index(Box::new(self.inspected(*e)?), Box::new(self.inspected(*key)?))
            }
            ExprKind::Sizeof(e) => Inspect::Sizeof(Box::new(self.inspected(*e)?)),
            ExprKind::Cast(e) => self.inspected(*e)?,
            _ => Inspect::Operand(self.bare(id)?),
        })
    }
}
