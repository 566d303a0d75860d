//! Which tasks of a loop can cause which others, whatever the bounds.
//!
//! Every task that the loop of a lasso dispatches is posted there, or equals one that is: what is pending at its start is posted
//! again before its end. So its posts form a cycle, and a program none of whose cycles is possible in a loop has no lasso.
//!
//! A post is impossible in a loop when the conditions for it contradict each other. Those that count are about values that do
//! not change in a loop: parameters, constants, globals that no task of a loop writes, and *latches*. A latch is a Boolean
//! variable, or a map to Booleans, to which all of these tasks assign the same constant; since the loop returns to the globals that it
//! started with, each such assignment finds the value there already. Under fairness a posted task, or its equal, is also
//! dispatched in the loop, so what the loop posts implies what that task needs in order to complete.

use std::collections::{BTreeMap, BTreeSet};

use allways_base::Symbol;
use allways_boogie::check::{Checked, Ty, TyKind, VarId, VarKind};
use allways_boogie::dialect::AsyncOp;
use allways_boogie::tree::*;

use super::shift;
use crate::build::Builder;
use crate::effects::EffectTable;

/// Chains of calls and posts through which needs of tasks are collected.
const MAX_DEPTH: u32 = 3;

/// One task may cause another.
pub struct Cause {
    /// The procedure with the post: a task, or what one calls.
    pub from: Symbol,
    pub to: Symbol,
    /// A program that fails its only assertion if and only if the conditions for this post agree; `None` where
    /// no latch speaks against it.
    pub question: Option<Box<Question>>,
}

pub struct Question {
    pub program: Program,
    pub entry: Symbol,
}

/// The posts of tasks that may run in a loop.
pub fn causes(checked: &Checked, entry: Symbol, fair: bool) -> Vec<Cause> {
    let effects = EffectTable::new(checked);
    let Some((_, procedure)) = checked.program.procedure(entry) else { return Vec::new() };
    let posted = super::posted(&effects, entry);
    let looped: BTreeSet<Symbol> =
        posted.iter().flat_map(|&task| effects.below(task)).map(|(name, _)| name).collect();
    let mut scan = Scan {
        checked,
        fair,
        build: Builder::new(&checked.program, procedure.name.span),
        latches: latches(checked, &effects, &looped),
        frozen: BTreeSet::new(),
        params: BTreeMap::new(),
    };
    let written: BTreeSet<VarId> =
        looped.iter().flat_map(|&name| effects.of(name).modifies.into_iter()).collect();
    let is_frozen = |var: &VarId| !written.contains(var) || scan.latches.contains_key(var);
    scan.frozen = checked.globals.iter().copied().filter(is_frozen).collect();
    looped.iter().flat_map(|&name| scan.posts_of(name)).collect()
}

/// Whether tasks of some procedure may cause others of the same, through posts that are possible and calls.
pub fn has_cycle(checked: &Checked, causes: &[(Symbol, Symbol)]) -> bool {
    let effects = EffectTable::new(checked);
    let next = |task: Symbol| -> BTreeSet<Symbol> {
        let called: BTreeSet<Symbol> = effects.called_from(task).map(|(name, _)| name).collect();
        causes.iter().filter(|(from, _)| called.contains(from)).map(|&(_, to)| to).collect()
    };
    let tasks: BTreeSet<Symbol> = causes.iter().map(|&(_, to)| to).collect();
    tasks.iter().any(|&task| {
        let mut seen = BTreeSet::new();
        let mut work: Vec<Symbol> = next(task).into_iter().collect();
        while let Some(at) = work.pop() {
            if seen.insert(at) {
                work.extend(next(at));
            }
        }
        seen.contains(&task)
    })
}

/// Whether everything that tasks below `entry` remember and pass on has finitely many values, so that every infinite run passes a lasso.
pub fn is_finite_data(checked: &Checked, entry: Symbol) -> bool {
    let effects = EffectTable::new(checked);
    let globals = effects.below(entry).flat_map(|(_, effects)| effects.modifies.iter().copied());
    let posted = super::posted(&effects, entry);
    let params = posted.iter().filter_map(|&name| checked.procedures.get(&name)).flat_map(|decl_idx| {
        let frame = checked.frames.get(decl_idx);
        frame.into_iter().flat_map(|frame| frame.vars.iter().copied().take(frame.n_params))
    });
    globals.chain(params).all(|var| is_finite(checked, checked.vars[var].ty))
}

fn is_finite(checked: &Checked, ty: Ty) -> bool {
    match checked.types.kind(ty) {
        TyKind::Bool | TyKind::Bv(_) => true,
        TyKind::Map(args, result) => {
            args.iter().all(|&arg| is_finite(checked, arg)) && is_finite(checked, *result)
        }
        TyKind::Int
        | TyKind::Real
        | TyKind::Con(..)
        | TyKind::Param(_)
        | TyKind::Error
        | TyKind::Infer(_) => false,
    }
}

/// The globals to which tasks of a loop assign one constant only, with that constant.
fn latches(checked: &Checked, effects: &EffectTable, looped: &BTreeSet<Symbol>) -> BTreeMap<VarId, bool> {
    let program = &checked.program;
    let mut found: BTreeMap<VarId, bool> = BTreeMap::new();
    let mut others: BTreeSet<VarId> = BTreeSet::new();
    for &name in looped {
        let own = effects.of(name);
        let mut assigned: BTreeSet<VarId> = BTreeSet::new();
        for (decl_idx, body) in bodies_of(checked, name) {
            for id in program.stmts_below(&body.block) {
                let (targets, is_async) =
                    (written_otherwise(&program.stmts[id].kind), checked.async_op(id).is_some());
                let targets = targets.into_iter().filter_map(|name| checked.var_in(decl_idx, name));
                others.extend(targets);
                let StmtKind::Assign { lhs, rhs } = &program.stmts[id].kind else { continue };
                for (lhs, &value) in lhs.iter().zip(rhs) {
                    let Some(var) = checked.var_in(decl_idx, lhs.name.symbol) else { continue };
                    let constant = match program.exprs[value].kind {
                        ExprKind::Bool(constant) if !is_async => constant,
                        _ => {
                            others.insert(var);
                            continue;
                        }
                    };
                    assigned.insert(var);
                    if *found.entry(var).or_insert(constant) != constant {
                        others.insert(var);
                    }
                }
            }
        }
        // What a procedure without body modifies, and anything else that is no assignment.
        others.extend(own.modifies.difference(&assigned));
    }
    found.retain(|var, _| !others.contains(var) && checked.vars[*var].kind == VarKind::Global);
    found
}

/// What a statement writes other than by assignment.
fn written_otherwise(kind: &StmtKind) -> Vec<Symbol> {
    match kind {
        StmtKind::Havoc(names) => names.iter().map(|name| name.symbol).collect(),
        StmtKind::Call(call) => call.outs.iter().flatten().map(|name| name.symbol).collect(),
        StmtKind::Assign { .. }
        | StmtKind::Label(_)
        | StmtKind::Assert { .. }
        | StmtKind::Assume { .. }
        | StmtKind::Yield
        | StmtKind::If { .. }
        | StmtKind::While { .. }
        | StmtKind::Break(_)
        | StmtKind::Goto(_)
        | StmtKind::Return => Vec::new(),
    }
}

fn bodies_of(checked: &Checked, name: Symbol) -> Vec<(usize, &Body)> {
    checked.program.bodies_of(name).map(|found| (found.decl_idx, found.body)).collect()
}

/// Whether a block may be left before its end: by a return, a break or a jump.
fn may_leave(program: &Program, id: StmtId) -> bool {
    let block = Block { stmts: vec![id] };
    let leaves = |id: &StmtId| {
        let kind = &program.stmts[*id].kind;
        matches!(kind, StmtKind::Return | StmtKind::Break(_) | StmtKind::Goto(_) | StmtKind::Label(_))
    };
    program.stmts_below(&block).iter().any(leaves)
}

/// Collects conditions. They speak about parameters by names that are unique in the program.
struct Scan<'a> {
    checked: &'a Checked,
    fair: bool,
    build: Builder,
    latches: BTreeMap<VarId, bool>,
    /// Globals that do not change in a loop.
    frozen: BTreeSet<VarId>,
    params: BTreeMap<Symbol, Vec<Symbol>>,
}

/// A post with the conditions for it.
struct Found {
    to: Symbol,
    conditions: Vec<ExprId>,
}

impl Scan<'_> {
    fn posts_of(&mut self, name: Symbol) -> Vec<Cause> {
        let checked = self.checked;
        let mut found = Vec::new();
        for (decl_idx, body) in bodies_of(checked, name) {
            self.walk(decl_idx, name, &body.block, &[], &mut found);
        }
        let cause = |Found { to, conditions }| Cause {
            from: name,
            to,
            question: self.mention_latches(&conditions).then(|| Box::new(self.question(name, &conditions))),
        };
        found.into_iter().map(cause).collect()
    }

    /// Conditions about anything else are rarely worth a question to the solver.
    fn mention_latches(&self, conditions: &[ExprId]) -> bool {
        let names: BTreeSet<Symbol> =
            self.latches.keys().map(|&var| self.checked.vars[var].name.symbol).collect();
        let program = &self.build.program;
        conditions.iter().any(|&condition| {
            let mentions =
                |id: ExprId| matches!(program.exprs[id].kind, ExprKind::Var(name) if names.contains(&name));
            program.all_exprs_below(condition).into_iter().any(mentions)
        })
    }

    /// Finds the posts of a block that is entered under some conditions.
    fn walk(
        &mut self,
        decl_idx: usize,
        name: Symbol,
        block: &Block,
        path: &[ExprId],
        found: &mut Vec<Found>,
    ) {
        let checked = self.checked;
        for (at, &id) in block.stmts.iter().enumerate() {
            let kind = &checked.program.stmts[id].kind;
            let post = match checked.async_op(id) {
                Some(AsyncOp::Post(post)) => Some(post.call),
                _ => None,
            };
            if post.is_none() && !matches!(kind, StmtKind::If { .. } | StmtKind::While { .. }) {
                continue;
            }
            let mut here = path.to_vec();
            here.extend(self.around(decl_idx, name, block, at));
            if let Some(call) = post {
                here.extend(self.needs_of_callee(decl_idx, name, call, true, MAX_DEPTH));
                found.push(Found { to: call.callee.symbol, conditions: here });
                continue;
            }
            match kind {
                StmtKind::If { arms, otherwise } => {
                    for arm in arms {
                        let mut inner = here.clone();
                        if let Some(guard) = arm.guard {
                            self.facts(decl_idx, name, guard, true, &mut inner);
                            self.facts(decl_idx, name, guard, false, &mut here);
                        }
                        self.walk(decl_idx, name, &arm.body, &inner, found);
                    }
                    if let Some(otherwise) = otherwise {
                        self.walk(decl_idx, name, otherwise, &here, found);
                    }
                }
                StmtKind::While { guard, body, .. } => {
                    if let Some(guard) = guard {
                        self.facts(decl_idx, name, *guard, true, &mut here);
                    }
                    self.walk(decl_idx, name, body, &here, found);
                }
                _ => {}
            }
        }
    }

    /// What the other statements of a block say that run whenever the one at some place runs and its task completes.
    fn around(&mut self, decl_idx: usize, name: Symbol, block: &Block, at: usize) -> Vec<ExprId> {
        let program = &self.checked.program;
        // A jump may enter anywhere.
        if self.has_jumps(decl_idx) {
            return Vec::new();
        }
        let mut conditions = Vec::new();
        for &before in &block.stmts[..at] {
            conditions.extend(self.needs(decl_idx, name, before, MAX_DEPTH));
        }
        if !may_leave(program, block.stmts[at]) {
            for &after in block.stmts[at + 1..].iter().take_while(|&&after| !may_leave(program, after)) {
                conditions.extend(self.needs(decl_idx, name, after, MAX_DEPTH));
            }
        }
        conditions
    }

    fn has_jumps(&self, decl_idx: usize) -> bool {
        let program = &self.checked.program;
        let body = match &program.decls[decl_idx].kind {
            DeclKind::Procedure(procedure) => procedure.body.as_ref(),
            DeclKind::Implementation(implementation) => Some(&implementation.body),
            _ => None,
        };
        body.is_some_and(|body| {
            let is_jump = |id: &StmtId| matches!(program.stmts[*id].kind, StmtKind::Goto(_));
            program.stmts_below(&body.block).iter().any(is_jump)
        })
    }

    /// What holds in a loop where control passes a statement.
    fn needs(&mut self, decl_idx: usize, name: Symbol, id: StmtId, depth: u32) -> Vec<ExprId> {
        let checked = self.checked;
        let mut conditions = Vec::new();
        match checked.async_op(id) {
            Some(AsyncOp::Post(post)) if self.fair => {
                return self.needs_of_callee(decl_idx, name, post.call, true, depth);
            }
            Some(AsyncOp::Unreachable) => return vec![self.build.bool(false)],
            Some(_) => return conditions,
            None => {}
        }
        match &checked.program.stmts[id].kind {
            StmtKind::Assume { expr, .. } | StmtKind::Assert { expr, .. } => {
                self.facts(decl_idx, name, *expr, true, &mut conditions);
            }
            StmtKind::Assign { lhs, .. } => {
                for lhs in lhs {
                    conditions.extend(self.latched(decl_idx, name, lhs));
                }
            }
            StmtKind::Call(call) => {
                conditions = self.needs_of_callee(decl_idx, name, call, false, depth);
            }
            // `if (guard) { return; }`
            StmtKind::If { arms, otherwise: None } => {
                for arm in arms {
                    let last = arm.body.stmts.last().map(|&last| &checked.program.stmts[last].kind);
                    if !matches!(last, Some(StmtKind::Return)) {
                        break;
                    }
                    if let Some(guard) = arm.guard {
                        self.facts(decl_idx, name, guard, false, &mut conditions);
                    }
                }
            }
            _ => {}
        }
        conditions
    }

    /// An assignment to a latch changes nothing.
    fn latched(&mut self, decl_idx: usize, name: Symbol, lhs: &Lhs) -> Option<ExprId> {
        let var = self.checked.var_in(decl_idx, lhs.name.symbol)?;
        let constant = *self.latches.get(&var)?;
        let mut place = self.build.var(lhs.name.symbol);
        for tuple in &lhs.indices {
            let indices =
                tuple.iter().map(|&index| self.stable(decl_idx, name, index)).collect::<Option<Vec<_>>>()?;
            place = self.build.program.add_expr(ExprKind::Select { map: place, indices }, self.build.span);
        }
        Some(if constant { place } else { self.build.not(place) })
    }

    /// What a task of a procedure, or a call of it, needs in order to complete in a loop.
    fn needs_of_callee(
        &mut self,
        decl_idx: usize,
        name: Symbol,
        call: &Call,
        is_post: bool,
        depth: u32,
    ) -> Vec<ExprId> {
        let checked = self.checked;
        let callee = call.callee.symbol;
        let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
        let bodies = bodies_of(checked, callee);
        let [(callee_idx, body)] = bodies[..] else { return Vec::new() };
        let Some((_, procedure)) = checked.program.procedure(callee) else { return Vec::new() };
        if self.has_jumps(callee_idx) || !procedure.type_params.is_empty() {
            return Vec::new();
        }
        let mut conditions = Vec::new();
        for &id in body.block.stmts.iter().take_while(|&&id| !may_leave(&checked.program, id)) {
            conditions.extend(self.needs(callee_idx, callee, id, depth));
        }
        let params = self.params_of(callee);
        // Equal tasks may differ in arguments that shift.
        let shifted = |at: usize| {
            is_post && procedure.params.get(at).is_some_and(|p| shift::is_marked(&checked.program, &p.attrs))
        };
        let args: Vec<Option<ExprId>> = call
            .args
            .iter()
            .enumerate()
            .map(|(at, &arg)| self.stable(decl_idx, name, arg).filter(|_| !shifted(at)))
            .collect();
        let given: BTreeMap<Symbol, Option<ExprId>> = params.iter().copied().zip(args).collect();
        conditions.into_iter().filter_map(|condition| self.with_args(condition, &given)).collect()
    }

    /// A condition about the parameters of a callee as one about those of its caller.
    fn with_args(&mut self, condition: ExprId, given: &BTreeMap<Symbol, Option<ExprId>>) -> Option<ExprId> {
        let mut is_known = true;
        let changed =
            self.build.program.rewrite_expr(condition, |program, id| match program.exprs[id].kind {
                ExprKind::Var(name) => match given.get(&name) {
                    Some(Some(arg)) => *arg,
                    Some(None) => {
                        is_known = false;
                        id
                    }
                    None => id,
                },
                _ => id,
            });
        is_known.then_some(changed)
    }

    /// Adds what follows from the value of an expression, as far as it is about what does not change.
    fn facts(&mut self, decl_idx: usize, name: Symbol, expr: ExprId, value: bool, out: &mut Vec<ExprId>) {
        match self.checked.program.exprs[expr].kind {
            ExprKind::Unary(UnaryOp::Not, arg) => self.facts(decl_idx, name, arg, !value, out),
            ExprKind::Binary(BinaryOp::And, left, right) if value => {
                self.facts(decl_idx, name, left, true, out);
                self.facts(decl_idx, name, right, true, out);
            }
            ExprKind::Binary(BinaryOp::Or, left, right) if !value => {
                self.facts(decl_idx, name, left, false, out);
                self.facts(decl_idx, name, right, false, out);
            }
            ExprKind::Bool(constant) if constant == value => {}
            _ => {
                if let Some(stable) = self.stable(decl_idx, name, expr) {
                    out.push(if value { stable } else { self.build.not(stable) });
                }
            }
        }
    }

    /// An expression in which nothing changes while a loop repeats, with the unique names of parameters.
    fn stable(&mut self, decl_idx: usize, name: Symbol, root: ExprId) -> Option<ExprId> {
        let checked = self.checked;
        let params = self.params_of(name);
        let frame = checked.frames.get(&decl_idx)?;
        let own = |var: VarId| frame.vars.iter().take(frame.n_params).position(|&param| param == var);
        for id in checked.program.all_exprs_below(root) {
            match checked.program.exprs[id].kind {
                ExprKind::Var(_) => {
                    let var = checked.expr_vars[id]?;
                    match checked.vars[var].kind {
                        VarKind::Const => {}
                        VarKind::Global if self.frozen.contains(&var) => {}
                        VarKind::Param if own(var).is_some() => {}
                        _ => return None,
                    }
                }
                ExprKind::Old(_) | ExprKind::Quantified(_) | ExprKind::Let(_) => return None,
                _ => {}
            }
        }
        Some(self.build.program.rewrite_expr(root, |program, id| {
            let var = checked.expr_vars.get(id).copied().flatten();
            let at = var.and_then(own).and_then(|at| params.get(at));
            let span = program.exprs[id].span;
            at.map_or(id, |&param| program.var(param, span))
        }))
    }

    fn params_of(&mut self, name: Symbol) -> Vec<Symbol> {
        if let Some(known) = self.params.get(&name) {
            return known.clone();
        }
        let n_params = self.checked.program.procedure(name).map_or(0, |(_, found)| found.params.len());
        let params: Vec<Symbol> = (0..n_params).map(|_| self.build.fresh("param")).collect();
        self.params.insert(name, params.clone());
        params
    }

    /// A program of one procedure that assumes conditions and fails.
    fn question(&mut self, name: Symbol, conditions: &[ExprId]) -> Question {
        let checked = self.checked;
        let entry = self.build.fresh("agree");
        let mut stmts = Vec::new();
        for &condition in conditions {
            let own = self.build.program.copy_expr(condition);
            stmts.push(self.build.assume(own));
        }
        let no = self.build.bool(false);
        stmts.push(self.build.stmt(StmtKind::Assert { attrs: Vec::new(), expr: no }));
        let symbols = self.params_of(name);
        let types: Vec<TypeId> = checked
            .program
            .procedure(name)
            .map_or_else(Vec::new, |(_, p)| p.params.iter().map(|p| p.ty).collect());
        let params: Vec<Binding> =
            symbols.iter().zip(types).map(|(&symbol, ty)| self.build.binding(symbol, ty)).collect();
        let is_initial =
            |decl: &Decl| decl.attrs.iter().any(|attr| checked.program.text(attr.name.symbol) == "init");
        let mut decls: Vec<Decl> = Vec::new();
        for decl in &checked.program.decls {
            match &decl.kind {
                DeclKind::Procedure(_) | DeclKind::Implementation(_) => {}
                DeclKind::Axiom(_) if is_initial(decl) => {}
                DeclKind::Var(binding) => {
                    let kind = DeclKind::Var(Binding { where_clause: None, ..binding.clone() });
                    decls.push(Decl { kind, ..decl.clone() });
                }
                _ => decls.push(decl.clone()),
            }
        }
        let span = self.build.span;
        let procedure = ProcedureDecl {
            name: self.build.ident(entry),
            type_params: Vec::new(),
            params,
            results: Vec::new(),
            specs: Vec::new(),
            body: Some(Body { locals: Vec::new(), block: Block { stmts }, span }),
        };
        decls.push(Decl { attrs: Vec::new(), kind: DeclKind::Procedure(procedure), span });
        let mut program = self.build.program.clone();
        program.decls = decls;
        Question { program, entry }
    }
}
