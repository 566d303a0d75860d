//! Loops over trees: expressions without recursion, statements in order.

use rustc_hash::FxHashMap;

use crate::tree::*;

impl Program {
    /// Calls `f` on each operand, left to right. Triggers and attributes are not operands.
    pub fn operands(&self, id: ExprId, mut f: impl FnMut(ExprId)) {
        match &self.exprs[id].kind {
            ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Real(_)
            | ExprKind::Bv { .. }
            | ExprKind::Text(_)
            | ExprKind::Var(_) => {}
            ExprKind::Apply { args, .. } => args.iter().copied().for_each(f),
            ExprKind::Unary(_, arg)
            | ExprKind::Extract { arg, .. }
            | ExprKind::Coerce { arg, .. }
            | ExprKind::Old(arg)
            | ExprKind::ToInt(arg)
            | ExprKind::ToReal(arg) => f(*arg),
            ExprKind::Binary(_, left, right) => {
                f(*left);
                f(*right);
            }
            ExprKind::Select { map, indices } => {
                f(*map);
                indices.iter().copied().for_each(f);
            }
            ExprKind::Store { map, indices, value } => {
                f(*map);
                indices.iter().copied().for_each(&mut f);
                f(*value);
            }
            ExprKind::If { cond, then, otherwise } => {
                f(*cond);
                f(*then);
                f(*otherwise);
            }
            ExprKind::Quantified(quantified) => f(quantified.body),
            ExprKind::Let(binding) => {
                binding.values.iter().copied().for_each(&mut f);
                f(binding.body);
            }
        }
    }

    /// Like [`operands`](Self::operands), and the expressions in triggers and attributes before them.
    pub fn all_children(&self, id: ExprId, mut f: impl FnMut(ExprId)) {
        if let ExprKind::Quantified(quantified) = &self.exprs[id].kind {
            for attr in &quantified.attrs {
                attr.args.iter().copied().for_each(&mut f);
            }
            for trigger in &quantified.triggers {
                trigger.iter().copied().for_each(&mut f);
            }
        }
        self.operands(id, f);
    }

    /// The nodes below `root`, each once, operands before their parents, `root` last.
    pub fn postorder(&self, root: ExprId) -> Vec<ExprId> {
        self.postorder_with(root, |program, id, f| program.operands(id, f))
    }

    /// Like [`postorder`](Self::postorder), with triggers and attributes of quantifiers included.
    pub fn all_exprs_below(&self, root: ExprId) -> Vec<ExprId> {
        self.postorder_with(root, |program, id, f| program.all_children(id, f))
    }

    fn postorder_with(
        &self,
        root: ExprId,
        children: impl Fn(&Program, ExprId, &mut dyn FnMut(ExprId)),
    ) -> Vec<ExprId> {
        let mut order = Vec::new();
        let mut seen: FxHashMap<ExprId, ()> = FxHashMap::default();
        let mut work = vec![(root, false)];
        let mut operands = Vec::new();
        while let Some((id, expanded)) = work.pop() {
            if expanded {
                order.push(id);
                continue;
            }
            if seen.insert(id, ()).is_some() {
                continue;
            }
            work.push((id, true));
            operands.clear();
            children(self, id, &mut |operand| operands.push(operand));
            work.extend(operands.iter().rev().map(|&operand| (operand, false)));
        }
        order
    }

    /// Rebuilds `root` bottom up. `f` sees each node after its operands have been replaced, and
    /// returns what stands in its place: the same id to keep it, or another. Nodes none of whose
    /// operands changed are shared with the old expression. Triggers are rebuilt too.
    ///
    /// `f` does not know scopes: a caller that replaces variables by name makes sure that no
    /// quantifier captures them.
    pub fn rewrite_expr(
        &mut self,
        root: ExprId,
        mut f: impl FnMut(&mut Program, ExprId) -> ExprId,
    ) -> ExprId {
        let mut done: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in self.all_exprs_below(root) {
            let mut changed = false;
            self.all_children(id, |child| changed |= done[&child] != child);
            let rebuilt = if changed {
                let Expr { mut kind, span } = self.exprs[id].clone();
                kind.replace_children(|child| done[&child]);
                self.add_expr(kind, span)
            } else {
                id
            };
            let new = f(self, rebuilt);
            done.insert(id, new);
        }
        done[&root]
    }

    /// A copy of `root` that shares no node with it. Tables of a checked program are by expression, so an expression that
    /// stands in two scopes needs a node of its own in each.
    pub fn copy_expr(&mut self, root: ExprId) -> ExprId {
        let mut done: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in self.all_exprs_below(root) {
            let Expr { mut kind, span } = self.exprs[id].clone();
            kind.replace_children(|child| done[&child]);
            let copy = self.add_expr(kind, span);
            done.insert(id, copy);
        }
        done[&root]
    }

    /// The statements of a block in source order, those of inner blocks after the statement that
    /// holds them.
    pub fn stmts_below(&self, block: &Block) -> Vec<StmtId> {
        let mut order = Vec::new();
        let mut work: Vec<StmtId> = block.stmts.iter().rev().copied().collect();
        while let Some(id) = work.pop() {
            order.push(id);
            match &self.stmts[id].kind {
                StmtKind::If { arms, otherwise } => {
                    let blocks = arms.iter().map(|arm| &arm.body).chain(otherwise);
                    for block in blocks.rev() {
                        work.extend(block.stmts.iter().rev());
                    }
                }
                StmtKind::While { body, .. } => work.extend(body.stmts.iter().rev()),
                StmtKind::Label(_)
                | StmtKind::Assert { .. }
                | StmtKind::Assume { .. }
                | StmtKind::Havoc(_)
                | StmtKind::Assign { .. }
                | StmtKind::Call(_)
                | StmtKind::Yield
                | StmtKind::Break(_)
                | StmtKind::Goto(_)
                | StmtKind::Return => {}
            }
        }
        order
    }

    /// The expressions directly in a statement, not those in inner blocks and attributes.
    pub fn stmt_exprs(&self, id: StmtId) -> Vec<ExprId> {
        match &self.stmts[id].kind {
            StmtKind::Assert { expr, .. } | StmtKind::Assume { expr, .. } => vec![*expr],
            StmtKind::Assign { lhs, rhs } => {
                lhs.iter().flat_map(|l| l.indices.iter().flatten()).chain(rhs).copied().collect()
            }
            StmtKind::Call(call) => call.args.clone(),
            StmtKind::If { arms, .. } => arms.iter().filter_map(|arm| arm.guard).collect(),
            StmtKind::While { guard, invariants, .. } => {
                guard.iter().copied().chain(invariants.iter().map(|i| i.expr)).collect()
            }
            StmtKind::Label(_)
            | StmtKind::Havoc(_)
            | StmtKind::Yield
            | StmtKind::Break(_)
            | StmtKind::Goto(_)
            | StmtKind::Return => Vec::new(),
        }
    }
}

impl ExprKind {
    /// Replaces every child, triggers and attribute arguments included.
    pub fn replace_children(&mut self, f: impl Fn(ExprId) -> ExprId) {
        let all = |ids: &mut Vec<ExprId>| ids.iter_mut().for_each(|id| *id = f(*id));
        match self {
            ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Real(_)
            | ExprKind::Bv { .. }
            | ExprKind::Text(_)
            | ExprKind::Var(_) => {}
            ExprKind::Apply { args, .. } => all(args),
            ExprKind::Unary(_, arg)
            | ExprKind::Extract { arg, .. }
            | ExprKind::Coerce { arg, .. }
            | ExprKind::Old(arg)
            | ExprKind::ToInt(arg)
            | ExprKind::ToReal(arg) => *arg = f(*arg),
            ExprKind::Binary(_, left, right) => {
                *left = f(*left);
                *right = f(*right);
            }
            ExprKind::Select { map, indices } => {
                *map = f(*map);
                all(indices);
            }
            ExprKind::Store { map, indices, value } => {
                *map = f(*map);
                all(indices);
                *value = f(*value);
            }
            ExprKind::If { cond, then, otherwise } => {
                *cond = f(*cond);
                *then = f(*then);
                *otherwise = f(*otherwise);
            }
            ExprKind::Quantified(quantified) => {
                quantified.attrs.iter_mut().for_each(|attr| all(&mut attr.args));
                quantified.triggers.iter_mut().for_each(all);
                quantified.body = f(quantified.body);
            }
            ExprKind::Let(binding) => {
                all(&mut binding.values);
                binding.body = f(binding.body);
            }
        }
    }
}
