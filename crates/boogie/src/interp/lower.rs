//! Checked program to executable code.

use allways_base::{Span, Symbol};
use rustc_hash::FxHashMap;

use super::code::{
    Body, Code, Contract, ExprCode, Function, Instr, Meaning, Op, Origin, Procedure, Slot, Target,
};
use super::value::{Limit, Ratio, Value};
use crate::check::{Checked, Ty, TyKind, VarId, VarKind};
use crate::dialect::{AsyncOp, Yield};
use crate::tree::*;

/// Where a task may be preempted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Preemption {
    /// Nowhere inside a task.
    Serial,
    /// At the yield statements.
    #[default]
    Explicit,
    /// Also before everything that touches a shared global, waits, or may block, and at the entry of
    /// a posted procedure.
    Automatic,
}

/// Makes a checked program runnable from the procedure `entry`. Needs a program without errors and
/// without type parameters.
pub fn lower(checked: Checked, entry: Symbol, preemption: Preemption) -> Result<Code, Limit> {
    let mut functions = FxHashMap::default();
    let mut by_name = FxHashMap::default();
    for decl in &checked.program.decls {
        match &decl.kind {
            DeclKind::Function(function) => {
                let idx = functions.len();
                functions.insert(function.name.symbol, idx);
            }
            DeclKind::Procedure(procedure) => {
                let idx = by_name.len();
                by_name.insert(procedure.name.symbol, idx);
            }
            _ => {}
        }
    }
    let entry = *by_name.get(&entry).ok_or(Limit::Unsupported("a missing entry point"))?;
    let mut code = Code {
        checked,
        procedures: Vec::new(),
        by_name,
        functions: Vec::new(),
        global_where: Vec::new(),
        axioms: Vec::new(),
        unique: Vec::new(),
        uses_old: false,
        entry,
    };
    code.uses_old = code.checked.program.exprs.iter().any(|expr| matches!(expr.kind, ExprKind::Old(_)));
    let lower = Lower { checked: &code.checked, functions: &functions, by_name: &code.by_name, preemption };
    let mut procedures = Vec::new();
    let mut lowered_functions = Vec::new();
    let mut unique: FxHashMap<Ty, Vec<usize>> = FxHashMap::default();
    let mut unique_order = Vec::new();
    for (decl_idx, decl) in lower.checked.program.decls.iter().enumerate() {
        match &decl.kind {
            DeclKind::Function(function) => lowered_functions.push(lower.function(decl_idx, decl, function)?),
            DeclKind::Procedure(procedure) => procedures.push(lower.procedure(decl_idx, decl, procedure)?),
            DeclKind::Var(binding) => {
                code.global_where.push(binding.where_clause.map(|clause| lower.expr(clause)).transpose()?);
            }
            DeclKind::Axiom(expr) => code.axioms.push(lower.expr(*expr)?),
            DeclKind::Const(constant) if constant.unique => {
                let var = lower
                    .checked
                    .consts
                    .iter()
                    .copied()
                    .find(|&var| lower.checked.vars[var].name.symbol == constant.name.symbol);
                if let Some(var) = var {
                    let ty = lower.checked.vars[var].ty;
                    unique.entry(ty).or_insert_with(|| {
                        unique_order.push(ty);
                        Vec::new()
                    });
                    unique.entry(ty).or_default().push(lower.checked.vars[var].slot);
                }
            }
            DeclKind::Const(_) | DeclKind::Type(_) | DeclKind::Implementation(_) => {}
        }
    }
    code.unique = unique_order.iter().map(|ty| unique[ty].clone()).filter(|group| group.len() > 1).collect();
    code.procedures = procedures;
    code.functions = lowered_functions;
    Ok(code)
}

struct Lower<'a> {
    checked: &'a Checked,
    functions: &'a FxHashMap<Symbol, usize>,
    by_name: &'a FxHashMap<Symbol, usize>,
    preemption: Preemption,
}

impl Lower<'_> {
    fn program(&self) -> &Program {
        &self.checked.program
    }

    fn function(&self, decl_idx: usize, decl: &Decl, function: &FunctionDecl) -> Result<Function, Limit> {
        if !function.type_params.is_empty() {
            return Err(Limit::Unsupported("a polymorphic function"));
        }
        let frame = &self.checked.frames[&decl_idx];
        let params = frame.vars.iter().map(|&var| self.checked.vars[var].ty).collect();
        let builtin = ["bvbuiltin", "builtin"]
            .iter()
            .find_map(|name| self.program().attr(&decl.attrs, name))
            .and_then(|attr| attr.args.first())
            .and_then(|&arg| match self.program().exprs[arg].kind {
                ExprKind::Text(text) => Some(self.program().text(text).to_owned()),
                _ => None,
            });
        let meaning = match (builtin, function.body) {
            (Some(name), _) => Meaning::Builtin(name),
            (None, Some(body)) => Meaning::Defined(self.expr(body)?),
            (None, None) => Meaning::Uninterpreted,
        };
        let result = self.checked.function_results[&function.name.symbol];
        Ok(Function { name: function.name.symbol, params, result, meaning })
    }

    fn procedure(&self, decl_idx: usize, decl: &Decl, procedure: &ProcedureDecl) -> Result<Procedure, Limit> {
        if !procedure.type_params.is_empty() {
            return Err(Limit::Unsupported("a polymorphic procedure"));
        }
        let frame = &self.checked.frames[&decl_idx];
        let types: Vec<Ty> = frame.vars.iter().map(|&var| self.checked.vars[var].ty).collect();
        let types = types[..frame.n_params + frame.n_results].to_vec();
        let mut lowered = Procedure {
            name: procedure.name.symbol,
            span: procedure.name.span,
            n_params: frame.n_params,
            n_results: frame.n_results,
            types,
            names: frame.vars.iter().map(|&var| self.checked.vars[var].name.symbol).collect(),
            requires: Vec::new(),
            ensures: Vec::new(),
            result_where: Vec::new(),
            modifies: Vec::new(),
            atomic: self.program().has_attr(&decl.attrs, "atomic"),
            bodies: Vec::new(),
        };
        for (idx, result) in procedure.results.iter().enumerate() {
            if let Some(clause) = result.where_clause {
                lowered.result_where.push((frame.n_params + idx, self.expr(clause)?));
            }
        }
        for spec in &procedure.specs {
            let contract = |expr: ExprId| -> Result<Contract, Limit> {
                Ok(Contract { free: spec.free, expr: self.expr(expr)?, span: spec.span })
            };
            match &spec.kind {
                SpecKind::Requires(expr) => lowered.requires.push(contract(*expr)?),
                SpecKind::Ensures(expr) => lowered.ensures.push(contract(*expr)?),
                SpecKind::Modifies(names) => {
                    let slots = names
                        .iter()
                        .filter_map(|name| self.checked.var_in(decl_idx, name.symbol))
                        .map(|var| self.checked.vars[var].slot);
                    lowered.modifies.extend(slots);
                }
                SpecKind::Posts(_) => {}
            }
        }
        if let Some(body) = &procedure.body {
            lowered.bodies.push(self.body(decl_idx, &procedure.params, body)?);
        }
        let implementations = self.checked.implementations.get(&procedure.name.symbol);
        for &impl_idx in implementations.into_iter().flatten() {
            if let DeclKind::Implementation(implementation) = &self.program().decls[impl_idx].kind {
                lowered.bodies.push(self.body(impl_idx, &implementation.params, &implementation.body)?);
            }
        }
        Ok(lowered)
    }

    fn body(&self, decl_idx: usize, params: &[Binding], body: &crate::tree::Body) -> Result<Body, Limit> {
        let frame = &self.checked.frames[&decl_idx];
        let mut wheres = Vec::new();
        let locals_at = frame.n_params + frame.n_results;
        let bindings =
            params.iter().enumerate().chain(body.locals.iter().enumerate().map(|(i, b)| (locals_at + i, b)));
        for (slot, binding) in bindings {
            if let Some(clause) = binding.where_clause {
                wheres.push((slot, self.expr(clause)?));
            }
        }
        let mut flat = Flatten {
            lower: self,
            decl_idx,
            instrs: Vec::new(),
            origins: Vec::new(),
            labels: FxHashMap::default(),
            gotos: Vec::new(),
            leavable: Vec::new(),
            origin: Origin { stmt: None, span: body.span },
        };
        if self.preemption == Preemption::Automatic {
            // The entry of a posted procedure; after a synchronous call it is merged with the next.
            flat.push(Instr::Yield { condition: None, jump: None });
        }
        flat.block(&body.block)?;
        flat.origin =
            Origin { stmt: None, span: Span { start: body.span.end.saturating_sub(1), ..body.span } };
        flat.push(Instr::Return);
        flat.patch_gotos()?;
        Ok(Body {
            types: frame.vars.iter().map(|&var| self.checked.vars[var].ty).collect(),
            names: frame.vars.iter().map(|&var| self.checked.vars[var].name.symbol).collect(),
            wheres,
            instrs: flat.instrs,
            origins: flat.origins,
        })
    }

    // -- expressions

    fn expr(&self, root: ExprId) -> Result<ExprCode, Limit> {
        let mut emit = Emit { lower: self, ops: Vec::new(), bound: FxHashMap::default(), n_bound: 0 };
        emit.run(root)?;
        Ok(ExprCode { ops: emit.ops })
    }

    fn literal(&self, id: ExprId) -> Result<Value, Limit> {
        let text = |symbol: Symbol| self.program().text(symbol);
        match &self.program().exprs[id].kind {
            ExprKind::Bool(value) => Ok(Value::Bool(*value)),
            ExprKind::Int(digits) => text(*digits).parse().map(Value::Int).map_err(|_| Limit::Magnitude),
            ExprKind::Bv { digits, width } => {
                let bits = text(*digits).parse().map_err(|_| Limit::Magnitude)?;
                if *width > 128 { Err(Limit::Magnitude) } else { Ok(Value::Bv { width: *width, bits }) }
            }
            ExprKind::Real(digits) => parse_real(text(*digits)).map(Value::Real),
            _ => Err(Limit::Unsupported("a string")),
        }
    }
}

fn parse_real(text: &str) -> Result<Ratio, Limit> {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().map_err(|_| Limit::Magnitude)?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let num: i128 = format!("{whole}{fraction}").parse().map_err(|_| Limit::Magnitude)?;
    let exponent = exponent.checked_sub(fraction.len() as i32).ok_or(Limit::Magnitude)?;
    let scale = 10i128.checked_pow(exponent.unsigned_abs()).ok_or(Limit::Magnitude)?;
    if exponent >= 0 {
        Ratio::new(num.checked_mul(scale).ok_or(Limit::Magnitude)?, 1)
    } else {
        Ratio::new(num, scale)
    }
}

/// Emits the ops of one expression with an explicit stack of what is left to do.
struct Emit<'a, 'b> {
    lower: &'b Lower<'a>,
    ops: Vec<Op>,
    bound: FxHashMap<VarId, usize>,
    n_bound: usize,
}

enum Todo {
    Visit(ExprId, bool),
    Emit(Op),
    /// Emits an op with a target that the matching [`Todo::Land`] fills in.
    EmitJump(Op, usize),
    Land(usize),
    /// The variables of a binder become visible, in a quantifier before its body.
    Enter(ExprId),
    Leave(usize),
    BindLet(ExprId, usize),
}

impl Emit<'_, '_> {
    fn run(&mut self, root: ExprId) -> Result<(), Limit> {
        let mut todo = vec![Todo::Visit(root, false)];
        // Positions of emitted jumps by ticket.
        let mut jumps: Vec<usize> = Vec::new();
        while let Some(item) = todo.pop() {
            match item {
                Todo::Emit(op) => self.ops.push(op),
                Todo::EmitJump(jump, ticket) => {
                    jumps[ticket] = self.ops.len();
                    self.ops.push(jump);
                }
                Todo::Land(ticket) => {
                    let here = self.ops.len();
                    match &mut self.ops[jumps[ticket]] {
                        Op::AndThen(target)
                        | Op::OrElse(target)
                        | Op::Unless(target)
                        | Op::Jump(target)
                        | Op::Quantified { end: target, .. } => *target = here,
                        _ => {}
                    }
                }
                Todo::Enter(id) => {
                    let vars = &self.lower.checked.bound_vars[&id];
                    for &var in vars {
                        self.bound.insert(var, self.n_bound);
                        self.n_bound += 1;
                    }
                }
                Todo::BindLet(id, idx) => {
                    // Values are computed one after another; names become visible together, after
                    // the last.
                    let vars = &self.lower.checked.bound_vars[&id];
                    self.ops.push(Op::Bind);
                    self.n_bound += 1;
                    if idx + 1 == vars.len() {
                        for (offset, &var) in vars.iter().enumerate() {
                            self.bound.insert(var, self.n_bound - vars.len() + offset);
                        }
                    }
                }
                Todo::Leave(n) => self.n_bound -= n,
                Todo::Visit(id, old) => {
                    let start = todo.len();
                    self.visit(id, old, &mut todo, &mut jumps)?;
                    todo[start..].reverse();
                }
            }
        }
        Ok(())
    }

    /// Pushes what an expression takes in order.
    fn visit(
        &mut self,
        id: ExprId,
        old: bool,
        todo: &mut Vec<Todo>,
        jumps: &mut Vec<usize>,
    ) -> Result<(), Limit> {
        let program = self.lower.program();
        let visit = |expr: ExprId| Todo::Visit(expr, old);
        let mut ticket = || {
            jumps.push(0);
            jumps.len() - 1
        };
        match &program.exprs[id].kind {
            ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Real(_)
            | ExprKind::Bv { .. }
            | ExprKind::Text(_) => {
                todo.push(Todo::Emit(Op::Push(self.lower.literal(id)?)));
            }
            ExprKind::Var(_) => todo.push(Todo::Emit(self.load(id, old)?)),
            ExprKind::Apply { function, args } => {
                let function = self.lower.functions[&function.symbol];
                todo.extend(args.iter().map(|&arg| visit(arg)));
                todo.push(Todo::Emit(Op::Apply { function, n_args: args.len() }));
            }
            ExprKind::Unary(op, arg) => {
                let op = match op {
                    UnaryOp::Not => Op::Not,
                    UnaryOp::Neg => Op::Neg,
                };
                todo.extend([visit(*arg), Todo::Emit(op)]);
            }
            ExprKind::Binary(op, left, right) => {
                let t = ticket();
                match op {
                    BinaryOp::And => {
                        todo.extend([
                            visit(*left),
                            Todo::EmitJump(Op::AndThen(0), t),
                            visit(*right),
                            Todo::Land(t),
                        ]);
                    }
                    BinaryOp::Or => {
                        todo.extend([
                            visit(*left),
                            Todo::EmitJump(Op::OrElse(0), t),
                            visit(*right),
                            Todo::Land(t),
                        ]);
                    }
                    BinaryOp::Implies => todo.extend([
                        visit(*left),
                        Todo::Emit(Op::Not),
                        Todo::EmitJump(Op::OrElse(0), t),
                        visit(*right),
                        Todo::Land(t),
                    ]),
                    BinaryOp::Explies => todo.extend([
                        visit(*right),
                        Todo::Emit(Op::Not),
                        Todo::EmitJump(Op::OrElse(0), t),
                        visit(*left),
                        Todo::Land(t),
                    ]),
                    BinaryOp::Below => return Err(Limit::Unsupported("the order of constants")),
                    _ => todo.extend([visit(*left), visit(*right), Todo::Emit(Op::Binary(*op))]),
                }
            }
            ExprKind::Select { map, indices } => {
                todo.push(visit(*map));
                todo.extend(indices.iter().map(|&index| visit(index)));
                todo.push(Todo::Emit(Op::Select { n_indices: indices.len() }));
            }
            ExprKind::Store { map, indices, value } => {
                todo.push(visit(*map));
                todo.extend(indices.iter().map(|&index| visit(index)));
                todo.extend([visit(*value), Todo::Emit(Op::Store { n_indices: indices.len() })]);
            }
            ExprKind::Extract { arg, hi, lo } => {
                todo.extend([visit(*arg), Todo::Emit(Op::Extract { hi: *hi, lo: *lo })]);
            }
            ExprKind::Coerce { arg, .. } => todo.push(visit(*arg)),
            ExprKind::Old(arg) => todo.push(Todo::Visit(*arg, true)),
            ExprKind::ToInt(arg) => todo.extend([visit(*arg), Todo::Emit(Op::ToInt)]),
            ExprKind::ToReal(arg) => todo.extend([visit(*arg), Todo::Emit(Op::ToReal)]),
            ExprKind::If { cond, then, otherwise } => {
                let (to_else, to_end) = (ticket(), ticket());
                todo.extend([
                    visit(*cond),
                    Todo::EmitJump(Op::Unless(0), to_else),
                    visit(*then),
                    Todo::EmitJump(Op::Jump(0), to_end),
                    Todo::Land(to_else),
                    visit(*otherwise),
                    Todo::Land(to_end),
                ]);
            }
            ExprKind::Quantified(quantified) => {
                if !quantified.type_params.is_empty() {
                    return Err(Limit::Unsupported("a polymorphic quantifier"));
                }
                let t = ticket();
                let vars = &self.lower.checked.bound_vars[&id];
                let types = vars.iter().map(|&var| self.lower.checked.vars[var].ty).collect();
                let op = Op::Quantified { quantifier: quantified.quantifier, types, end: 0 };
                todo.extend([
                    Todo::EmitJump(op, t),
                    Todo::Enter(id),
                    visit(quantified.body),
                    Todo::Leave(vars.len()),
                    Todo::Land(t),
                ]);
            }
            ExprKind::Let(binding) => {
                for (idx, &value) in binding.values.iter().enumerate() {
                    todo.extend([visit(value), Todo::BindLet(id, idx)]);
                }
                let n = binding.values.len();
                todo.extend([visit(binding.body), Todo::Emit(Op::Unbind(n)), Todo::Leave(n)]);
            }
        }
        Ok(())
    }

    fn load(&self, id: ExprId, old: bool) -> Result<Op, Limit> {
        let var = self.lower.checked.expr_vars[id].ok_or(Limit::Unsupported("an unknown name"))?;
        let info = &self.lower.checked.vars[var];
        Ok(match info.kind {
            VarKind::Global | VarKind::ThreadLocal if old => Op::OldGlobal(info.slot),
            VarKind::Global | VarKind::ThreadLocal => Op::Global(info.slot),
            VarKind::Const => Op::Const(info.slot),
            VarKind::Param | VarKind::Result | VarKind::Local => Op::Local(info.slot),
            VarKind::Bound => Op::Bound(self.bound[&var]),
        })
    }
}

/// Flattens one body.
struct Flatten<'a, 'b> {
    lower: &'b Lower<'a>,
    decl_idx: usize,
    instrs: Vec<Instr>,
    origins: Vec<Origin>,
    labels: FxHashMap<Symbol, usize>,
    /// Jumps to labels that may come later.
    gotos: Vec<(usize, Vec<Symbol>)>,
    /// Statements that `break` may leave: their labels, whether loops, and the breaks found.
    leavable: Vec<(Vec<Symbol>, bool, Vec<usize>)>,
    origin: Origin,
}

impl Flatten<'_, '_> {
    fn push(&mut self, instr: Instr) -> usize {
        self.instrs.push(instr);
        self.origins.push(self.origin);
        self.instrs.len() - 1
    }

    fn slot(&self, name: Symbol) -> Result<Slot, Limit> {
        let checked = self.lower.checked;
        let var = checked.var_in(self.decl_idx, name).ok_or(Limit::Unsupported("an unknown name"))?;
        let var = &checked.vars[var];
        Ok(match var.kind {
            VarKind::Global | VarKind::ThreadLocal => Slot::Global(var.slot),
            VarKind::Const | VarKind::Param | VarKind::Result | VarKind::Local | VarKind::Bound => {
                Slot::Local(var.slot)
            }
        })
    }

    fn out(&self, name: Option<Ident>) -> Result<Option<Slot>, Limit> {
        name.map(|name| self.slot(name.symbol)).transpose()
    }

    fn block(&mut self, block: &Block) -> Result<(), Limit> {
        let mut own_labels = Vec::new();
        for &stmt in &block.stmts {
            if let StmtKind::Label(label) = &self.lower.program().stmts[stmt].kind {
                self.labels.insert(label.symbol, self.instrs.len());
                own_labels.push(label.symbol);
                continue;
            }
            self.stmt(stmt, std::mem::take(&mut own_labels))?;
        }
        Ok(())
    }

    fn stmt(&mut self, id: StmtId, labels: Vec<Symbol>) -> Result<(), Limit> {
        let lower = self.lower;
        let program = lower.program();
        let Stmt { kind, span } = &program.stmts[id];
        self.origin = Origin { stmt: Some(id), span: *span };
        if self.lower.preemption == Preemption::Automatic && self.is_shared(id) {
            self.push(Instr::Yield { condition: None, jump: None });
        }
        if let Some(op) = lower.checked.async_op(id) {
            return self.async_op(op);
        }
        match kind {
            StmtKind::Label(_) => {}
            StmtKind::Assert { expr, .. } => {
                let expr = lower.expr(*expr)?;
                self.push(Instr::Assert(expr));
            }
            StmtKind::Assume { expr, .. } => {
                let expr = lower.expr(*expr)?;
                self.push(Instr::Assume(expr));
            }
            StmtKind::Havoc(names) => {
                let slots = names.iter().map(|name| self.slot(name.symbol)).collect::<Result<_, _>>()?;
                self.push(Instr::Havoc(slots));
            }
            StmtKind::Assign { lhs, rhs } => {
                let mut targets = Vec::new();
                for lhs in lhs {
                    let mut indices = Vec::new();
                    for list in &lhs.indices {
                        indices.push(list.iter().map(|&index| lower.expr(index)).collect::<Result<_, _>>()?);
                    }
                    targets.push(Target { slot: self.slot(lhs.name.symbol)?, indices });
                }
                let values = rhs.iter().map(|&value| lower.expr(value)).collect::<Result<_, _>>()?;
                self.push(Instr::Assign { targets, values });
            }
            StmtKind::Call(call) => {
                let procedure = self.procedure(call.callee.symbol)?;
                let args = call.args.iter().map(|&arg| lower.expr(arg)).collect::<Result<_, _>>()?;
                let outs = call.outs.iter().map(|&out| self.out(out)).collect::<Result<_, _>>()?;
                self.push(Instr::Call { procedure, args, outs, free: call.free });
            }
            StmtKind::Yield => {}
            StmtKind::If { arms, otherwise } => self.if_stmt(arms, otherwise.as_ref(), labels)?,
            StmtKind::While { guard, invariants, body } => {
                self.while_stmt(*guard, invariants, body, labels)?
            }
            StmtKind::Break(label) => {
                let at = self.push(Instr::Jump(0));
                let entry = self.leavable.iter_mut().rev().find(|(labels, is_loop, _)| match label {
                    Some(label) => labels.contains(&label.symbol),
                    None => *is_loop,
                });
                entry.ok_or(Limit::Unsupported("a misplaced break"))?.2.push(at);
            }
            StmtKind::Goto(targets) => {
                let at = self.push(Instr::Choose(Vec::new()));
                self.gotos.push((at, targets.iter().map(|target| target.symbol).collect()));
            }
            StmtKind::Return => {
                self.push(Instr::Return);
            }
        }
        Ok(())
    }

    fn procedure(&self, name: Symbol) -> Result<usize, Limit> {
        self.lower.by_name.get(&name).copied().ok_or(Limit::Unsupported("an unknown procedure"))
    }

    fn if_stmt(&mut self, arms: &[Arm], otherwise: Option<&Block>, labels: Vec<Symbol>) -> Result<(), Limit> {
        let origin = self.origin;
        self.leavable.push((labels, false, Vec::new()));
        let mut ends = Vec::new();
        for arm in arms {
            self.origin = origin;
            let branch = self.branch(arm.guard)?;
            self.block(&arm.body)?;
            self.origin = origin;
            ends.push(self.push(Instr::Jump(0)));
            self.set_else(branch);
        }
        if let Some(block) = otherwise {
            self.block(block)?;
        }
        let (_, _, breaks) = self.leavable.pop().unwrap_or_default();
        let here = self.instrs.len();
        for at in ends.into_iter().chain(breaks) {
            self.instrs[at] = Instr::Jump(here);
        }
        Ok(())
    }

    fn while_stmt(
        &mut self,
        guard: Option<ExprId>,
        invariants: &[Invariant],
        body: &Block,
        labels: Vec<Symbol>,
    ) -> Result<(), Limit> {
        let origin = self.origin;
        let head = self.instrs.len();
        let mut looked_at = invariants.iter().map(|invariant| invariant.expr).chain(guard);
        if self.lower.preemption == Preemption::Automatic && looked_at.any(|expr| self.reads_global(expr)) {
            self.push(Instr::Yield { condition: None, jump: None });
        }
        for invariant in invariants {
            let expr = self.lower.expr(invariant.expr)?;
            self.push(if invariant.free { Instr::Assume(expr) } else { Instr::Assert(expr) });
        }
        let branch = self.branch(guard)?;
        self.leavable.push((labels, true, Vec::new()));
        self.block(body)?;
        self.origin = origin;
        self.push(Instr::Jump(head));
        self.set_else(branch);
        let (_, _, breaks) = self.leavable.pop().unwrap_or_default();
        let here = self.instrs.len();
        for at in breaks {
            self.instrs[at] = Instr::Jump(here);
        }
        Ok(())
    }

    /// A branch whose first target is the next instruction; the second is set later.
    fn branch(&mut self, guard: Option<ExprId>) -> Result<usize, Limit> {
        let next = self.instrs.len() + 1;
        Ok(match guard {
            Some(guard) => {
                let guard = self.lower.expr(guard)?;
                self.push(Instr::Branch(guard, next, 0))
            }
            None => self.push(Instr::Choose(vec![next, 0])),
        })
    }

    fn set_else(&mut self, at: usize) {
        let here = self.instrs.len();
        match &mut self.instrs[at] {
            Instr::Branch(_, _, otherwise) => *otherwise = here,
            Instr::Choose(targets) => {
                if let Some(last) = targets.last_mut() {
                    *last = here;
                }
            }
            _ => {}
        }
    }

    fn patch_gotos(&mut self) -> Result<(), Limit> {
        for (at, names) in std::mem::take(&mut self.gotos) {
            let targets: Option<Vec<usize>> =
                names.iter().map(|name| self.labels.get(name).copied()).collect();
            let targets = targets.ok_or(Limit::Unsupported("an unknown label"))?;
            self.instrs[at] = match targets[..] {
                [single] => Instr::Jump(single),
                _ => Instr::Choose(targets),
            };
        }
        Ok(())
    }

    fn async_op(&mut self, op: AsyncOp<'_>) -> Result<(), Limit> {
        let lower = self.lower;
        let instr = match op {
            AsyncOp::Post(post) => {
                let procedure = self.procedure(post.call.callee.symbol)?;
                let args = post.call.args.iter().map(|&arg| lower.expr(arg)).collect::<Result<_, _>>()?;
                let handle = post.handle.map(|name| self.slot(name)).transpose()?;
                Instr::Post { procedure, args, handle, task_id: self.out(post.task_id)? }
            }
            AsyncOp::Wait { out, handle } => {
                Instr::Wait { out: out.map(|name| self.slot(name)).transpose()?, handle: self.slot(handle)? }
            }
            AsyncOp::WaitAll => Instr::WaitAll,
            AsyncOp::Yield(_) if lower.preemption == Preemption::Serial => return Ok(()),
            AsyncOp::Yield(Yield { condition, jump }) => {
                Instr::Yield { condition: condition.map(|expr| lower.expr(expr)).transpose()?, jump }
            }
            AsyncOp::AtomicBegin => Instr::AtomicBegin,
            AsyncOp::AtomicEnd => Instr::AtomicEnd,
            AsyncOp::OwnId { out } => Instr::OwnId(self.out(out)?),
            AsyncOp::ChildId { out } => Instr::ChildId(self.out(out)?),
            AsyncOp::Unreachable => Instr::Fail,
            AsyncOp::Record(expr) => Instr::Record(lower.expr(expr)?),
        };
        self.push(instr);
        Ok(())
    }

    /// Whether automatic preemption puts a point before this statement.
    fn is_shared(&self, id: StmtId) -> bool {
        let writes =
            |name: Symbol| matches!(self.slot(name), Ok(Slot::Global(slot)) if self.is_shared_slot(slot));
        self.lower.checked.is_preempted(id, |expr| self.reads_global(expr), writes)
    }

    fn reads_global(&self, root: ExprId) -> bool {
        let checked = self.lower.checked;
        checked
            .program
            .postorder(root)
            .into_iter()
            .any(|id| checked.expr_vars[id].is_some_and(|var| checked.vars[var].kind == VarKind::Global))
    }

    fn is_shared_slot(&self, slot: usize) -> bool {
        let checked = self.lower.checked;
        checked.vars[checked.globals[slot]].kind == VarKind::Global
    }
}

/// Whether values of this type can be task handles.
pub fn is_task_type(checked: &Checked, ty: Ty) -> bool {
    matches!(checked.types.kind(ty), TyKind::Con(name, _) if checked.program.text(*name) == "task")
}
