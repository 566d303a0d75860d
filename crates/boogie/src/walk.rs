//! Loops over trees: expressions without recursion, statements in order.

use allways_base::Symbol;
use rustc_hash::FxHashMap;

use crate::tree::*;

/// A body, with what it belongs to.
#[derive(Clone, Copy)]
pub struct BodyOf<'a> {
    pub decl_idx: usize,
    pub procedure: Symbol,
    pub params: &'a [Binding],
    pub results: &'a [Binding],
    pub body: &'a Body,
}

impl<'a> BodyOf<'a> {
    fn in_decl(decl_idx: usize, decl: &'a DeclKind) -> Option<Self> {
        let (name, params, results, body) = match decl {
            DeclKind::Procedure(p) => (p.name, &p.params, &p.results, p.body.as_ref()?),
            DeclKind::Implementation(i) => (i.name, &i.params, &i.results, &i.body),
            DeclKind::Type(_)
            | DeclKind::Const(_)
            | DeclKind::Function(_)
            | DeclKind::Axiom(_)
            | DeclKind::Var(_) => return None,
        };
        Some(BodyOf { decl_idx, procedure: name.symbol, params, results, body })
    }

    /// Parameters, results and local variables.
    pub fn bindings(self) -> impl Iterator<Item = &'a Binding> {
        self.params.iter().chain(self.results).chain(&self.body.locals)
    }
}

/// Carries facts from callees to callers until nothing changes. `inherit` is given a caller and a callee, and says whether the
/// caller changed.
pub fn along_calls(calls: &[(Symbol, Symbol)], mut inherit: impl FnMut(Symbol, Symbol) -> bool) {
    while calls.iter().fold(false, |changed, &(caller, callee)| inherit(caller, callee) | changed) {}
}

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
            for block in self.stmts[id].kind.blocks().rev() {
                work.extend(block.stmts.iter().rev());
            }
        }
        order
    }

    /// The bodies of procedures and implementations, in source order.
    pub fn bodies(&self) -> impl Iterator<Item = BodyOf<'_>> {
        self.decls.iter().enumerate().filter_map(|(decl_idx, decl)| BodyOf::in_decl(decl_idx, &decl.kind))
    }

    /// The bodies of one procedure: its own, and those of its implementations.
    pub fn bodies_of(&self, procedure: Symbol) -> impl Iterator<Item = BodyOf<'_>> {
        self.bodies().filter(move |found| found.procedure == procedure)
    }

    /// The body of a declaration, if it has one.
    pub fn body_in(&self, decl_idx: usize) -> Option<BodyOf<'_>> {
        BodyOf::in_decl(decl_idx, &self.decls[decl_idx].kind)
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

impl StmtKind {
    /// The blocks directly inside.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = &Block> {
        let (arms, last): (&[Arm], Option<&Block>) = match self {
            StmtKind::If { arms, otherwise } => (arms, otherwise.as_ref()),
            StmtKind::While { body, .. } => (&[], Some(body)),
            StmtKind::Label(_)
            | StmtKind::Assert { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Havoc(_)
            | StmtKind::Assign { .. }
            | StmtKind::Call(_)
            | StmtKind::Yield
            | StmtKind::Break(_)
            | StmtKind::Goto(_)
            | StmtKind::Return => (&[], None),
        };
        arms.iter().map(|arm| &arm.body).chain(last)
    }

    /// The same, to be changed.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        let (arms, last): (&mut [Arm], Option<&mut Block>) = match self {
            StmtKind::If { arms, otherwise } => (arms, otherwise.as_mut()),
            StmtKind::While { body, .. } => (&mut [], Some(body)),
            _ => (&mut [], None),
        };
        arms.iter_mut().map(|arm| &mut arm.body).chain(last)
    }

    /// The variables that it assigns, those of results of calls included; what a wait assigns is for [`crate::Checked`] to say.
    pub fn assigned(&self) -> Vec<Ident> {
        match self {
            StmtKind::Assign { lhs, .. } => lhs.iter().map(|lhs| lhs.name).collect(),
            StmtKind::Havoc(names) => names.clone(),
            StmtKind::Call(call) => call.outs.iter().flatten().copied().collect(),
            _ => Vec::new(),
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
