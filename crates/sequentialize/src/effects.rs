//! What procedures may do to shared variables, alone, through calls, and through everything they post.

use std::collections::{BTreeMap, BTreeSet};

use allways_base::Symbol;
use allways_boogie::check::{Checked, VarId, VarKind};
use allways_boogie::dialect::{self, AsyncOp};
use allways_boogie::tree::*;

/// The effects of one procedure.
#[derive(Clone, Default, Debug)]
pub struct Effects {
    /// Globals read or written in its own statements and contracts.
    pub accesses: BTreeSet<VarId>,
    pub modifies: BTreeSet<VarId>,
    pub calls: BTreeSet<Symbol>,
    pub posts: BTreeSet<Symbol>,
    /// Has preemption points.
    pub yields: bool,
    /// Has waits.
    pub waits: bool,
    /// Has assertions, or contracts that are checked.
    pub asserts: bool,
    /// Has statements at which a task that has failed is left.
    pub has_body: bool,
}

/// The effects of a whole program.
#[derive(Clone, Default, Debug)]
pub struct EffectTable {
    by_procedure: BTreeMap<Symbol, Effects>,
    /// Through synchronous calls.
    called: BTreeMap<Symbol, BTreeSet<Symbol>>,
    /// Through calls and posts.
    below: BTreeMap<Symbol, BTreeSet<Symbol>>,
}

impl EffectTable {
    pub fn new(checked: &Checked) -> Self {
        let mut by_procedure: BTreeMap<Symbol, Effects> = BTreeMap::new();
        for (decl_idx, decl) in checked.program.decls.iter().enumerate() {
            if let DeclKind::Procedure(procedure) = &decl.kind {
                let effects = by_procedure.entry(procedure.name.symbol).or_default();
                contracts(checked, decl_idx, procedure, effects);
            }
        }
        for found in checked.program.bodies() {
            let effects = by_procedure.entry(found.procedure).or_default();
            statements(checked, found.decl_idx, found.body, effects);
        }
        let close = |edges: &dyn Fn(&Effects) -> Vec<Symbol>| {
            let mut closed = BTreeMap::new();
            for &root in by_procedure.keys() {
                let mut seen = BTreeSet::from([root]);
                let mut work = vec![root];
                while let Some(at) = work.pop() {
                    let Some(effects) = by_procedure.get(&at) else { continue };
                    work.extend(edges(effects).into_iter().filter(|&next| seen.insert(next)));
                }
                closed.insert(root, seen);
            }
            closed
        };
        let called = close(&|effects| effects.calls.iter().copied().collect());
        let below = close(&|effects| effects.calls.union(&effects.posts).copied().collect());
        EffectTable { by_procedure, called, below }
    }

    pub fn of(&self, procedure: Symbol) -> Effects {
        self.by_procedure.get(&procedure).cloned().unwrap_or_default()
    }

    /// The procedure and all it calls, directly or not.
    pub fn called_from(&self, procedure: Symbol) -> impl Iterator<Item = (Symbol, &Effects)> {
        self.reached(self.called.get(&procedure))
    }

    /// The procedure and all that runs because of it.
    pub fn below(&self, procedure: Symbol) -> impl Iterator<Item = (Symbol, &Effects)> {
        self.reached(self.below.get(&procedure))
    }

    fn reached<'a>(
        &'a self,
        set: Option<&'a BTreeSet<Symbol>>,
    ) -> impl Iterator<Item = (Symbol, &'a Effects)> {
        set.into_iter().flatten().filter_map(|&name| Some((name, self.by_procedure.get(&name)?)))
    }

    /// Procedures that are started as tasks by something below `entry`, and `entry`.
    pub fn tasks(&self, entry: Symbol) -> BTreeSet<Symbol> {
        let posted = self.below(entry).flat_map(|(_, effects)| effects.posts.iter().copied());
        posted.chain([entry]).collect()
    }
}

fn is_shared(checked: &Checked, var: VarId) -> bool {
    matches!(checked.vars[var].kind, VarKind::Global | VarKind::ThreadLocal)
}

fn mentions(checked: &Checked, expr: ExprId, effects: &mut Effects) {
    for id in checked.program.all_exprs_below(expr) {
        if let Some(var) = checked.expr_vars[id].filter(|&var| is_shared(checked, var)) {
            effects.accesses.insert(var);
        }
    }
}

fn contracts(checked: &Checked, decl_idx: usize, procedure: &ProcedureDecl, effects: &mut Effects) {
    let has_body = procedure.body.is_some() || checked.implementations.contains_key(&procedure.name.symbol);
    effects.has_body = has_body;
    for spec in &procedure.specs {
        match &spec.kind {
            SpecKind::Requires(expr) => {
                mentions(checked, *expr, effects);
                effects.asserts |= !spec.free;
            }
            SpecKind::Ensures(expr) => {
                mentions(checked, *expr, effects);
                effects.asserts |= !spec.free && has_body;
            }
            SpecKind::Modifies(names) if !has_body => {
                for var in names.iter().filter_map(|name| checked.var_in(decl_idx, name.symbol)) {
                    modify(checked, var, effects);
                }
            }
            SpecKind::Modifies(_) | SpecKind::Posts(_) => {}
        }
    }
    for clause in procedure.params.iter().chain(&procedure.results).filter_map(|b| b.where_clause) {
        mentions(checked, clause, effects);
    }
}

fn modify(checked: &Checked, var: VarId, effects: &mut Effects) {
    if !is_shared(checked, var) {
        return;
    }
    effects.accesses.insert(var);
    effects.modifies.insert(var);
    // An arbitrary new value obeys the `where` clause, which may speak about others.
    let name = checked.vars[var].name.symbol;
    for decl in &checked.program.decls {
        if let DeclKind::Var(binding) = &decl.kind
            && binding.name.symbol == name
            && let Some(clause) = binding.where_clause
        {
            mentions(checked, clause, effects);
        }
    }
}

fn statements(checked: &Checked, decl_idx: usize, body: &Body, effects: &mut Effects) {
    let program = &checked.program;
    for clause in body.locals.iter().filter_map(|b| b.where_clause) {
        mentions(checked, clause, effects);
    }
    for id in program.stmts_below(&body.block) {
        for expr in program.stmt_exprs(id) {
            mentions(checked, expr, effects);
        }
        let mut written: Vec<Symbol> = Vec::new();
        match dialect::async_op(program, id) {
            Ok(Some(op)) => match op {
                AsyncOp::Post(post) => {
                    effects.posts.insert(post.call.callee.symbol);
                    written.extend(post.task_id.map(|name| name.symbol));
                }
                AsyncOp::Wait { out, .. } => {
                    effects.waits = true;
                    written.extend(out);
                }
                AsyncOp::WaitAll => effects.waits = true,
                AsyncOp::Yield(point) => {
                    effects.yields = true;
                    if let Some(condition) = point.condition {
                        mentions(checked, condition, effects);
                    }
                }
                AsyncOp::Unreachable => effects.asserts = true,
                AsyncOp::OwnId { out } | AsyncOp::ChildId { out } => {
                    written.extend(out.map(|name| name.symbol));
                }
                AsyncOp::AtomicBegin | AsyncOp::AtomicEnd | AsyncOp::Record(_) => {}
            },
            Ok(None) | Err(_) => match &program.stmts[id].kind {
                StmtKind::Assert { .. } => effects.asserts = true,
                StmtKind::While { invariants, .. } => effects.asserts |= invariants.iter().any(|i| !i.free),
                StmtKind::Havoc(names) => written.extend(names.iter().map(|name| name.symbol)),
                StmtKind::Assign { lhs, .. } => written.extend(lhs.iter().map(|lhs| lhs.name.symbol)),
                StmtKind::Call(call) => {
                    effects.calls.insert(call.callee.symbol);
                    written.extend(call.outs.iter().flatten().map(|name| name.symbol));
                }
                StmtKind::Label(_)
                | StmtKind::Assume { .. }
                | StmtKind::Yield
                | StmtKind::If { .. }
                | StmtKind::Break(_)
                | StmtKind::Goto(_)
                | StmtKind::Return => {}
            },
        }
        for var in written.into_iter().filter_map(|name| checked.var_in(decl_idx, name)) {
            modify(checked, var, effects);
        }
    }
}

/// The waits on local handles that are not preceded by a post for the handle on every path.
pub fn unassigned_waits(checked: &Checked, decl_idx: usize, body: &Body) -> BTreeSet<StmtId> {
    let program = &checked.program;
    let is_goto = |&id: &StmtId| matches!(program.stmts[id].kind, StmtKind::Goto(_));
    // A jump may skip a post, so with jumps no post counts.
    let jumps = program.stmts_below(&body.block).iter().any(is_goto);
    let mut unassigned = BTreeSet::new();
    waits_in(checked, decl_idx, &body.block, jumps, &mut BTreeSet::new(), &mut unassigned);
    unassigned
}

fn waits_in(
    checked: &Checked,
    decl_idx: usize,
    block: &Block,
    jumps: bool,
    assigned: &mut BTreeSet<Symbol>,
    found: &mut BTreeSet<StmtId>,
) {
    let program = &checked.program;
    for &id in &block.stmts {
        match dialect::async_op(program, id) {
            Ok(Some(AsyncOp::Post(post))) if !jumps => assigned.extend(post.handle),
            Ok(Some(AsyncOp::Wait { handle, .. })) => {
                let is_param = checked
                    .var_in(decl_idx, handle)
                    .is_some_and(|var| checked.vars[var].kind == VarKind::Param);
                if !is_param && !assigned.contains(&handle) {
                    found.insert(id);
                }
            }
            _ => {}
        }
        match &program.stmts[id].kind {
            StmtKind::If { arms, otherwise } => {
                for inner in arms.iter().map(|arm| &arm.body).chain(otherwise) {
                    waits_in(checked, decl_idx, inner, jumps, &mut assigned.clone(), found);
                }
            }
            StmtKind::While { body, .. } => {
                waits_in(checked, decl_idx, body, jumps, &mut assigned.clone(), found);
            }
            // A copy is as good as its source, and the source is not analysed.
            StmtKind::Assign { lhs, .. } => lhs.iter().for_each(|lhs| {
                assigned.remove(&lhs.name.symbol);
            }),
            StmtKind::Havoc(names) => names.iter().for_each(|name| {
                assigned.remove(&name.symbol);
            }),
            _ => {}
        }
    }
}
