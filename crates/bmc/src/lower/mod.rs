//! A checked sequential program to flow graphs.
//!
//! [`expr`] turns expressions into terms, [`body`] statements into blocks; here are procedures and
//! what surrounds them. The semantics are those of section 1.5 of the project's reference: contracts
//! of procedures with bodies are checked and the bodies looked into; `where` clauses are honored;
//! uninitialized variables are arbitrary.

mod body;
mod expr;

use std::collections::BTreeSet;
use std::fmt;

use allways_base::{Idx, IndexVec, Span, Symbol};
use allways_boogie::check::{Checked, Ty, VarId, VarKind};
use allways_boogie::tree::*;
use allways_boogie::walk::{BodyOf, along_calls};
use rustc_hash::FxHashMap;

use crate::flow::*;
use crate::term::{TermId, Terms, VarRef};
pub use expr::{LambdaFunction, constant_name, function_name, literal_real};

/// Why a program cannot be encoded. None of these is a mistake of the user's program as Boogie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EncodeError {
    /// A construct that the verifier does not handle.
    Unsupported { what: String, span: Span },
    /// A post or wait: the program has to be sequentialized first.
    Asynchronous { span: Span },
    /// There is no such procedure, or it has no body.
    NoEntry { name: String },
}

impl EncodeError {
    pub fn span(&self) -> Option<Span> {
        match self {
            EncodeError::Unsupported { span, .. } | EncodeError::Asynchronous { span } => Some(*span),
            EncodeError::NoEntry { .. } => None,
        }
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodeError::Unsupported { what, .. } => write!(f, "the verifier does not support {what}"),
            EncodeError::Asynchronous { .. } => {
                f.write_str("the verifier takes sequential programs; sequentialize this one first")
            }
            EncodeError::NoEntry { name } => {
                write!(f, "there is no procedure `{name}` with a body to start from")
            }
        }
    }
}

impl std::error::Error for EncodeError {}

/// A program as flow graphs, with what the terms in them refer to.
#[derive(Debug)]
pub struct Lowered {
    pub flow: Flow,
    /// Functions that stand for lambda expressions.
    pub lambdas: Vec<LambdaFunction>,
    /// Over constants and functions only.
    pub axioms: Vec<Axiom>,
    pub functions: Vec<FunctionTerm>,
}

/// An axiom of the program.
#[derive(Clone, Copy, Debug)]
pub struct Axiom {
    pub term: TermId,
    pub span: Span,
}

/// Whether the assumptions of the program are part of its encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assumptions {
    Kept,
    /// `assume`, `where`, and what contracts assume are left out. What remains has a run from every initial state, in every
    /// model of the axioms.
    Dropped,
}

/// A function of the program.
#[derive(Clone, Debug)]
pub struct FunctionTerm {
    pub symbol: Symbol,
    pub name: String,
    pub params: Vec<(u32, Ty)>,
    pub result: Ty,
    pub body: Option<TermId>,
}

/// Lowers the procedures that `entry` reaches. Lambda expressions stay what they are for solvers that
/// know them, and become functions with axioms for the others.
pub fn lower(
    checked: &Checked,
    entry: Symbol,
    native_lambda: bool,
    assumptions: Assumptions,
) -> Result<Lowered, EncodeError> {
    let mut lowerer = Lowerer {
        checked,
        terms: Terms::default(),
        vars: IndexVec::new(),
        globals: FxHashMap::default(),
        procs: IndexVec::new(),
        by_name: FxHashMap::default(),
        work: Vec::new(),
        failures: Vec::new(),
        lambdas: Vec::new(),
        fresh_bound: checked.vars.len() as u32,
        may_fail: BTreeSet::new(),
        native_lambda,
        assumptions,
    };
    lowerer.program(entry)
}

/// The names of a body or a contract.
#[derive(Clone, Default)]
struct Scope {
    names: FxHashMap<VarId, VarRef>,
    /// What globals stand for under `old`.
    old: FxHashMap<VarId, VarRef>,
}

struct Lowerer<'a> {
    checked: &'a Checked,
    terms: Terms,
    vars: IndexVec<VarRef, Variable>,
    globals: FxHashMap<VarId, VarRef>,
    procs: IndexVec<ProcId, Option<Proc>>,
    /// By name and whether the call checks preconditions.
    by_name: FxHashMap<(Symbol, bool), ProcId>,
    work: Vec<(ProcId, Symbol, bool)>,
    failures: Vec<Failure>,
    lambdas: Vec<LambdaFunction>,
    fresh_bound: u32,
    /// The procedures in which, or below which, an assertion may fail.
    may_fail: BTreeSet<Symbol>,
    native_lambda: bool,
    assumptions: Assumptions,
}

impl Lowerer<'_> {
    fn program(&mut self, entry: Symbol) -> Result<Lowered, EncodeError> {
        let checked = self.checked;
        for &var in &checked.globals {
            let name = self.name(checked.vars[var].name.symbol);
            let new = self.vars.push(Variable { name, ty: checked.vars[var].ty, kind: VariableKind::Global });
            self.globals.insert(var, new);
        }
        self.find_failing();
        let start = self.start(entry)?;
        while let Some((id, symbol, checks)) = self.work.pop() {
            let proc = self.procedure(symbol, checks)?;
            self.procs[id] = Some(proc);
        }
        let functions = self.functions()?;
        let axioms = self.axioms()?;
        let procs = self.procs.iter_mut().filter_map(Option::take).collect();
        let flow = Flow {
            terms: std::mem::take(&mut self.terms),
            vars: std::mem::take(&mut self.vars),
            procs,
            start,
            failures: std::mem::take(&mut self.failures),
        };
        Ok(Lowered { flow, lambdas: std::mem::take(&mut self.lambdas), axioms, functions })
    }

    fn name(&self, symbol: Symbol) -> String {
        self.checked.program.text(symbol).to_owned()
    }

    fn helper(&mut self, name: &str, ty: Ty) -> VarRef {
        self.vars.push(Variable { name: name.to_owned(), ty, kind: VariableKind::Helper })
    }

    /// An assumption of the program: not a condition of a branch, and not the state after a failed call.
    fn assume(&self, graph: &mut body::Graph, term: TermId, origin: Option<StmtId>) {
        if self.assumptions == Assumptions::Kept {
            graph.push(InstrKind::Assume(term), origin);
        }
    }

    fn unsupported<T>(&self, what: impl Into<String>, span: Span) -> Result<T, EncodeError> {
        Err(EncodeError::Unsupported { what: what.into(), span })
    }

    /// The bodies of a procedure: its own and those of its implementations, by declaration.
    fn bodies(&self, symbol: Symbol) -> Vec<usize> {
        let checked = self.checked;
        let own = checked.procedures.get(&symbol).copied().filter(|&decl_idx| {
            matches!(&checked.program.decls[decl_idx].kind, DeclKind::Procedure(p) if p.body.is_some())
        });
        let others = checked.implementations.get(&symbol).into_iter().flatten().copied();
        own.into_iter().chain(others).collect()
    }

    fn body_of(&self, decl_idx: usize) -> Option<&Body> {
        Some(self.checked.program.body_in(decl_idx)?.body)
    }

    fn procedure_decl(&self, symbol: Symbol) -> Option<(usize, &ProcedureDecl)> {
        let decl_idx = *self.checked.procedures.get(&symbol)?;
        match &self.checked.program.decls[decl_idx].kind {
            DeclKind::Procedure(procedure) => Some((decl_idx, procedure)),
            _ => None,
        }
    }

    /// Which procedures contain assertions, directly or in what they call.
    fn find_failing(&mut self) {
        let program = &self.checked.program;
        let mut calls: Vec<(Symbol, Symbol)> = Vec::new();
        let mut failing = BTreeSet::new();
        for decl in &program.decls {
            let DeclKind::Procedure(procedure) = &decl.kind else { continue };
            let is_check =
                |spec: &Spec| !spec.free && matches!(spec.kind, SpecKind::Requires(_) | SpecKind::Ensures(_));
            if procedure.specs.iter().any(is_check) {
                failing.insert(procedure.name.symbol);
            }
        }
        for BodyOf { procedure: name, body, .. } in program.bodies() {
            for stmt in program.stmts_below(&body.block) {
                match &program.stmts[stmt].kind {
                    StmtKind::Assert { .. } => {
                        failing.insert(name);
                    }
                    StmtKind::While { invariants, .. } if invariants.iter().any(|i| !i.free) => {
                        failing.insert(name);
                    }
                    StmtKind::Call(call) => {
                        calls.push((name, call.callee.symbol));
                        if program.text(call.callee.symbol) == "corral_assert_not_reachable" {
                            failing.insert(name);
                        }
                    }
                    _ => {}
                }
            }
        }
        along_calls(&calls, |caller, callee| failing.contains(&callee) && failing.insert(caller));
        self.may_fail = failing;
    }

    /// The id of a procedure; its graph is made later.
    fn proc_id(&mut self, symbol: Symbol, checks: bool) -> ProcId {
        if let Some(&id) = self.by_name.get(&(symbol, checks)) {
            return id;
        }
        let id = self.procs.push(None);
        self.by_name.insert((symbol, checks), id);
        self.work.push((id, symbol, checks));
        id
    }

    /// Initial state, then a call of the entry point with arbitrary arguments.
    fn start(&mut self, entry: Symbol) -> Result<ProcId, EncodeError> {
        let checked = self.checked;
        let missing = || EncodeError::NoEntry { name: checked.program.text(entry).to_owned() };
        let (decl_idx, procedure) = self.procedure_decl(entry).ok_or_else(missing)?;
        let procedure = procedure.clone();
        if self.bodies(entry).is_empty() {
            return Err(missing());
        }
        let start = self.procs.push(None);
        let mut graph = body::Graph::new();
        let scope = self.contract_scope(decl_idx, &procedure);
        for decl in &checked.program.decls {
            let clause = match &decl.kind {
                DeclKind::Var(binding) => binding.where_clause,
                DeclKind::Axiom(expr) if checked.program.has_attr(&decl.attrs, "init") => Some(*expr),
                _ => None,
            };
            if let Some(clause) = clause {
                let term = self.expr(clause, &scope.0)?;
                self.assume(&mut graph, term, None);
            }
        }
        for spec in &procedure.specs {
            if let SpecKind::Requires(expr) = spec.kind {
                let term = self.expr(expr, &scope.0)?;
                self.assume(&mut graph, term, None);
            }
        }
        for clause in procedure.params.iter().filter_map(|binding| binding.where_clause) {
            let term = self.expr(clause, &scope.0)?;
            self.assume(&mut graph, term, None);
        }
        let callee = self.proc_id(entry, true);
        let args = scope.1.iter().map(|&param| self.terms.var(param)).collect();
        let mut outs = scope.2.clone();
        let failed = self.helper("failed", Ty::BOOL);
        if self.may_fail.contains(&entry) {
            outs.push(failed);
        } else {
            let no = self.terms.bool(false);
            graph.push(InstrKind::Assign(vec![(failed, no)]), None);
        }
        graph.push(InstrKind::Call { callee, args, outs }, None);
        let proc = graph.finish("start".to_owned(), Vec::new(), Vec::new(), Some(failed));
        self.procs[start] = Some(proc);
        Ok(start)
    }

    /// Fresh variables for parameters and results, and the names of contracts over them.
    fn contract_scope(
        &mut self,
        decl_idx: usize,
        procedure: &ProcedureDecl,
    ) -> (Scope, Vec<VarRef>, Vec<VarRef>) {
        let frame = self.checked.frames.get(&decl_idx).cloned().unwrap_or_default();
        let mut scope = Scope::default();
        let mut all = Vec::new();
        for &var in frame.vars.iter().take(frame.n_params + frame.n_results) {
            let info = &self.checked.vars[var];
            let new = self.vars.push(Variable {
                name: self.checked.program.text(info.name.symbol).to_owned(),
                ty: info.ty,
                kind: VariableKind::Local,
            });
            scope.names.insert(var, new);
            all.push(new);
        }
        let results = all.split_off(procedure.params.len().min(all.len()));
        (scope, all, results)
    }

    /// The globals mentioned under `old` in expressions.
    fn note_old(&mut self, scope: &mut Scope, exprs: &[ExprId]) {
        let program = &self.checked.program;
        for &root in exprs {
            for id in program.all_exprs_below(root) {
                let ExprKind::Old(inner) = program.exprs[id].kind else { continue };
                for below in program.all_exprs_below(inner) {
                    let Some(var) = self.checked.expr_vars[below] else { continue };
                    let info = &self.checked.vars[var];
                    let is_global = matches!(info.kind, VarKind::Global | VarKind::ThreadLocal);
                    if is_global && !scope.old.contains_key(&var) {
                        let name = format!("old.{}", program.text(info.name.symbol));
                        let snapshot =
                            self.vars.push(Variable { name, ty: info.ty, kind: VariableKind::Helper });
                        scope.old.insert(var, snapshot);
                    }
                }
            }
        }
    }

    /// Copies the globals that `old` speaks about.
    fn take_snapshots(&mut self, scope: &Scope, graph: &mut body::Graph) {
        let mut pairs: Vec<(VarRef, TermId)> = Vec::new();
        let mut olds: Vec<(VarId, VarRef)> =
            scope.old.iter().map(|(&var, &snapshot)| (var, snapshot)).collect();
        olds.sort();
        for (var, snapshot) in olds {
            let global = self.globals[&var];
            pairs.push((snapshot, self.terms.var(global)));
        }
        if !pairs.is_empty() {
            graph.push(InstrKind::Assign(pairs), None);
        }
    }

    fn procedure(&mut self, symbol: Symbol, checks: bool) -> Result<Proc, EncodeError> {
        let name = self.name(symbol);
        let Some((decl_idx, procedure)) = self.procedure_decl(symbol) else {
            return Err(EncodeError::NoEntry { name });
        };
        let procedure = procedure.clone();
        if !procedure.type_params.is_empty() {
            return self.unsupported(format!("type parameters of `{name}`"), procedure.name.span);
        }
        let (mut scope, params, mut results) = self.contract_scope(decl_idx, &procedure);
        let mut exprs: Vec<ExprId> = Vec::new();
        for spec in &procedure.specs {
            if let SpecKind::Requires(expr) | SpecKind::Ensures(expr) = spec.kind {
                exprs.push(expr);
            }
        }
        self.note_old(&mut scope, &exprs);
        let bodies = self.bodies(symbol);
        for &body_idx in &bodies {
            let exprs: Vec<ExprId> = match self.body_of(body_idx) {
                Some(body) => {
                    let stmts = self.checked.program.stmts_below(&body.block);
                    stmts.into_iter().flat_map(|stmt| self.checked.program.stmt_exprs(stmt)).collect()
                }
                None => Vec::new(),
            };
            self.note_old(&mut scope, &exprs);
        }
        let failed = self.may_fail.contains(&symbol).then(|| self.helper("failed", Ty::BOOL));
        let mut graph = body::Graph::new();
        self.take_snapshots(&scope, &mut graph);
        if let Some(failed) = failed {
            let no = self.terms.bool(false);
            graph.push(InstrKind::Assign(vec![(failed, no)]), None);
            graph.failed = Some(failed);
            results.push(failed);
        }
        for spec in &procedure.specs {
            let SpecKind::Requires(expr) = spec.kind else { continue };
            let term = self.expr(expr, &scope)?;
            if spec.free || !checks {
                self.assume(&mut graph, term, None);
            } else {
                self.assertion(&mut graph, term, FailureKind::Requires, spec.span, None);
            }
        }
        let clauses: Vec<ExprId> = procedure.params.iter().filter_map(|b| b.where_clause).collect();
        for clause in clauses {
            let term = self.expr(clause, &scope)?;
            self.assume(&mut graph, term, None);
        }
        if bodies.is_empty() {
            self.contract_body(decl_idx, &procedure, &scope, &results, failed, &mut graph)?;
        } else {
            self.choose_body(&bodies, &scope, decl_idx, &procedure, &mut graph)?;
            for spec in &procedure.specs {
                let SpecKind::Ensures(expr) = spec.kind else { continue };
                let term = self.expr(expr, &scope)?;
                if spec.free {
                    self.assume(&mut graph, term, None);
                } else {
                    self.assertion(&mut graph, term, FailureKind::Ensures, spec.span, None);
                }
            }
        }
        Ok(graph.finish(name, params, results, failed))
    }

    /// What a call of a procedure without body does.
    fn contract_body(
        &mut self,
        decl_idx: usize,
        procedure: &ProcedureDecl,
        scope: &Scope,
        results: &[VarRef],
        failed: Option<VarRef>,
        graph: &mut body::Graph,
    ) -> Result<(), EncodeError> {
        let mut clauses: Vec<ExprId> = Vec::new();
        for spec in &procedure.specs {
            let SpecKind::Modifies(names) = &spec.kind else { continue };
            for name in names {
                let Some(var) = self.checked.var_in(decl_idx, name.symbol) else { continue };
                let Some(&global) = self.globals.get(&var) else { continue };
                graph.push(InstrKind::Havoc(global), None);
                clauses.extend(self.global_where(name.symbol));
            }
        }
        for &result in results.iter().filter(|&&result| Some(result) != failed) {
            graph.push(InstrKind::Havoc(result), None);
        }
        clauses.extend(procedure.results.iter().filter_map(|b| b.where_clause));
        for spec in &procedure.specs {
            if let SpecKind::Ensures(expr) = spec.kind {
                clauses.push(expr);
            }
        }
        for clause in clauses {
            let term = self.expr(clause, scope)?;
            self.assume(graph, term, None);
        }
        Ok(())
    }

    fn global_where(&self, name: Symbol) -> Option<ExprId> {
        self.checked.program.decls.iter().find_map(|decl| match &decl.kind {
            DeclKind::Var(binding) if binding.name.symbol == name => binding.where_clause,
            _ => None,
        })
    }

    /// Any of the bodies.
    fn choose_body(
        &mut self,
        bodies: &[usize],
        scope: &Scope,
        decl_idx: usize,
        procedure: &ProcedureDecl,
        graph: &mut body::Graph,
    ) -> Result<(), EncodeError> {
        let outer = self.checked.frames.get(&decl_idx).cloned().unwrap_or_default();
        let fork = graph.current;
        let done = graph.new_block();
        for (number, &body_idx) in bodies.iter().enumerate() {
            let Some(body) = self.body_of(body_idx).cloned() else { continue };
            let frame = self.checked.frames.get(&body_idx).cloned().unwrap_or_default();
            let mut inner = scope.clone();
            let n_shared = outer.n_params + outer.n_results;
            let mut clauses: Vec<(VarRef, ExprId)> = Vec::new();
            for (slot, &var) in frame.vars.iter().enumerate() {
                if slot < n_shared {
                    // The procedure and its implementations may name the same slot differently.
                    if let Some(&shared) = outer.vars.get(slot).and_then(|v| scope.names.get(v)) {
                        inner.names.insert(var, shared);
                    }
                } else {
                    let info = &self.checked.vars[var];
                    let (name, ty) = (self.name(info.name.symbol), info.ty);
                    let new = self.vars.push(Variable { name, ty, kind: VariableKind::Local });
                    inner.names.insert(var, new);
                    let binding = body.locals.iter().find(|b| b.name.symbol == info.name.symbol);
                    if let Some(clause) = binding.and_then(|b| b.where_clause) {
                        clauses.push((new, clause));
                    }
                }
            }
            let start = graph.new_block();
            graph.link(fork, start);
            graph.current = start;
            if bodies.len() > 1 {
                graph.push(InstrKind::Mark(Some(number as u32)), None);
            }
            for clause in procedure.results.iter().filter_map(|b| b.where_clause) {
                let term = self.expr(clause, scope)?;
                self.assume(graph, term, None);
            }
            for &(_, clause) in &clauses {
                let term = self.expr(clause, &inner)?;
                self.assume(graph, term, None);
            }
            self.body(body_idx, &body, &inner, graph, done)?;
        }
        graph.current = done;
        Ok(())
    }

    fn functions(&mut self) -> Result<Vec<FunctionTerm>, EncodeError> {
        let checked = self.checked;
        let mut functions = Vec::new();
        for (decl_idx, decl) in checked.program.decls.iter().enumerate() {
            let DeclKind::Function(function) = &decl.kind else { continue };
            if expr::builtin(checked, &decl.attrs).is_some() {
                continue;
            }
            let name = checked.program.text(function.name.symbol);
            if !function.type_params.is_empty() {
                return self.unsupported(format!("type parameters of `{name}`"), function.name.span);
            }
            let frame = checked.frames.get(&decl_idx).cloned().unwrap_or_default();
            let params: Vec<(u32, Ty)> = frame
                .vars
                .iter()
                .take(frame.n_params)
                .map(|&var| (var.as_u32(), checked.vars[var].ty))
                .collect();
            let result = checked.function_results.get(&function.name.symbol).copied().unwrap_or(Ty::ERROR);
            let body = match function.body {
                Some(body) => Some(self.expr(body, &Scope::default())?),
                None => None,
            };
            let name = function_name(name);
            functions.push(FunctionTerm { symbol: function.name.symbol, name, params, result, body });
        }
        Ok(functions)
    }

    fn axioms(&mut self) -> Result<Vec<Axiom>, EncodeError> {
        let checked = self.checked;
        let mut axioms = Vec::new();
        for decl in &checked.program.decls {
            if let DeclKind::Axiom(expr) = decl.kind
                && !checked.program.has_attr(&decl.attrs, "init")
            {
                axioms.push(Axiom { term: self.expr(expr, &Scope::default())?, span: decl.span });
            }
        }
        Ok(axioms)
    }
}

/// Bound variables are numbered by their place among the checked variables; the rest comes after.
fn bound_number(var: VarId) -> u32 {
    var.index() as u32
}
