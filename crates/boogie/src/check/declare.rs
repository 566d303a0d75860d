//! Everything that has a name gets its entry before any body is checked.

use allways_base::words::count;
use allways_base::{Diagnostic, Span, Symbol};
use rustc_hash::FxHashMap;

use super::{Checker, Frame, Ty, TyKind, Var, VarId, VarKind, symbols};
use crate::codes;
use crate::tree::*;

/// How many synonyms may stand for each other before this counts as a cycle, and how large a type
/// may become by expanding them.
const MAX_EXPANSION: u32 = 100;

impl Checker {
    pub(super) fn declare(&mut self) {
        let decls = self.program.decls.clone();
        let mut callables: FxHashMap<Symbol, Span> = FxHashMap::default();
        for (decl_idx, decl) in decls.iter().enumerate() {
            match &decl.kind {
                DeclKind::Type(ty) => {
                    if let Some(&first) = self.type_decls.get(&ty.name.symbol) {
                        let first = self.program.decls[first].span;
                        self.duplicate("type", ty.name, first);
                    } else {
                        self.type_decls.insert(ty.name.symbol, decl_idx);
                    }
                    self.distinct("type parameter", &ty.params);
                }
                DeclKind::Function(function) => {
                    let name = function.name;
                    match callables.get(&name.symbol) {
                        Some(&first) => self.duplicate("function", name, first),
                        None => {
                            callables.insert(name.symbol, name.span);
                            self.out.functions.insert(name.symbol, decl_idx);
                        }
                    }
                }
                DeclKind::Procedure(procedure) => {
                    let name = procedure.name;
                    match callables.get(&name.symbol) {
                        Some(&first) => self.duplicate("procedure", name, first),
                        None => {
                            callables.insert(name.symbol, name.span);
                            self.out.procedures.insert(name.symbol, decl_idx);
                        }
                    }
                }
                DeclKind::Implementation(implementation) => {
                    self.out.implementations.entry(implementation.name.symbol).or_default().push(decl_idx);
                }
                DeclKind::Const(_) | DeclKind::Axiom(_) | DeclKind::Var(_) => {}
            }
        }
        for decl in &decls {
            match &decl.kind {
                DeclKind::Type(ty) => self.check_synonym(ty),
                DeclKind::Const(constant) => self.declare_global(constant.name, constant.ty, VarKind::Const),
                DeclKind::Var(binding) => {
                    let local = self.program.has_attr(&decl.attrs, "thread_local");
                    let kind = if local { VarKind::ThreadLocal } else { VarKind::Global };
                    self.declare_global(binding.name, binding.ty, kind);
                }
                DeclKind::Function(_)
                | DeclKind::Procedure(_)
                | DeclKind::Implementation(_)
                | DeclKind::Axiom(_) => {}
            }
        }
        for (decl_idx, decl) in decls.iter().enumerate() {
            self.declare_frame(decl_idx, decl);
        }
        for decl in &decls {
            if let DeclKind::Implementation(implementation) = &decl.kind {
                self.check_implementation(implementation);
            }
        }
    }

    fn duplicate(&mut self, what: &str, name: Ident, first: Span) {
        let message = format!("the {what} `{}` is declared twice", self.text(name.symbol));
        self.diagnostics
            .push(Diagnostic::error(codes::DUPLICATE, name.span, message).also(first, "first declared here"));
    }

    fn distinct(&mut self, what: &str, names: &[Ident]) {
        let mut seen: FxHashMap<Symbol, Span> = FxHashMap::default();
        for &name in names {
            match seen.get(&name.symbol) {
                Some(&first) => self.duplicate(what, name, first),
                None => {
                    seen.insert(name.symbol, name.span);
                }
            }
        }
    }

    fn check_synonym(&mut self, decl: &TypeDecl) {
        if let Some(synonym) = decl.synonym {
            self.type_params = symbols(&decl.params);
            self.convert(synonym);
            self.type_params.clear();
        }
    }

    fn declare_global(&mut self, name: Ident, ty: TypeId, kind: VarKind) {
        let ty = self.convert(ty).unwrap_or(Ty::ERROR);
        if let Some(&first) = self.out.global_names.get(&name.symbol) {
            let first = self.out.vars[first].name.span;
            return self.duplicate("name", name, first);
        }
        if self.mentions_task(ty) {
            self.handle_storage(name);
        }
        let list = if kind == VarKind::Const { &mut self.out.consts } else { &mut self.out.globals };
        let slot = list.len();
        let var = self.out.vars.push(Var { name, ty, kind, slot });
        list.push(var);
        self.out.global_names.insert(name.symbol, var);
    }

    fn declare_frame(&mut self, decl_idx: usize, decl: &Decl) {
        let mut frame = Frame::default();
        match &decl.kind {
            DeclKind::Function(function) => {
                self.distinct("type parameter", &function.type_params);
                self.type_params = symbols(&function.type_params);
                for param in &function.params {
                    let ty = self.convert(param.ty).unwrap_or(Ty::ERROR);
                    // A parameter without a name still takes its slot.
                    let name = param.name.unwrap_or(Ident {
                        symbol: function.name.symbol,
                        span: self.program.types[param.ty].span,
                    });
                    self.add_var(&mut frame, name, ty, VarKind::Param, param.name.is_some());
                }
                frame.n_params = function.params.len();
                let result = self.convert(function.result.ty).unwrap_or(Ty::ERROR);
                self.out.function_results.entry(function.name.symbol).or_insert(result);
            }
            DeclKind::Procedure(procedure) => {
                let ProcedureDecl { type_params, params, results, body, .. } = procedure;
                self.declare_signature(&mut frame, type_params, params, results);
                self.declare_locals(&mut frame, body.iter().flat_map(|body| &body.locals));
            }
            DeclKind::Implementation(implementation) => {
                let Implementation { type_params, params, results, body, .. } = implementation;
                self.declare_signature(&mut frame, type_params, params, results);
                self.declare_locals(&mut frame, body.locals.iter());
            }
            DeclKind::Type(_) | DeclKind::Const(_) | DeclKind::Axiom(_) | DeclKind::Var(_) => return,
        }
        self.type_params.clear();
        self.out.frames.insert(decl_idx, frame);
    }

    fn declare_signature(
        &mut self,
        frame: &mut Frame,
        type_params: &[Ident],
        params: &[Binding],
        results: &[Binding],
    ) {
        self.distinct("type parameter", type_params);
        self.type_params = symbols(type_params);
        for (list, kind) in [(params, VarKind::Param), (results, VarKind::Result)] {
            for binding in list {
                let ty = self.convert(binding.ty).unwrap_or(Ty::ERROR);
                self.add_var(frame, binding.name, ty, kind, true);
            }
        }
        frame.n_params = params.len();
        frame.n_results = results.len();
    }

    fn declare_locals<'a>(&mut self, frame: &mut Frame, locals: impl Iterator<Item = &'a Binding>) {
        for binding in locals {
            let ty = self.convert(binding.ty).unwrap_or(Ty::ERROR);
            self.add_var(frame, binding.name, ty, VarKind::Local, true);
        }
    }

    fn add_var(&mut self, frame: &mut Frame, name: Ident, ty: Ty, kind: VarKind, named: bool) {
        if self.is_task_inside(ty) {
            self.handle_storage(name);
        }
        let slot = frame.vars.len();
        let var = self.out.vars.push(Var { name, ty, kind, slot });
        frame.vars.push(var);
        if named && let Some(first) = frame.by_name.insert(name.symbol, var) {
            let first = self.out.vars[first].name.span;
            self.duplicate("variable", name, first);
        }
    }

    fn handle_storage(&mut self, name: Ident) {
        let message = format!("`{}` would keep a task handle", self.text(name.symbol));
        self.diagnostics.push(
            Diagnostic::error(codes::HANDLE_STORAGE, name.span, message)
                .note("handles live only in locals, parameters and results, never in globals or maps")
                .help("pass the handle as an argument to the task that waits"),
        );
    }

    pub(super) fn is_task(&self, ty: Ty) -> bool {
        matches!(self.out.types.kind(ty), TyKind::Con(name, _) if self.text(*name) == "task")
    }

    fn mentions_task(&self, ty: Ty) -> bool {
        let is_task = |kind: &TyKind| matches!(kind, TyKind::Con(name, _) if self.text(*name) == "task");
        self.out.types.contains(ty, &is_task)
    }

    /// A handle somewhere inside a type that is not itself a handle.
    fn is_task_inside(&self, ty: Ty) -> bool {
        self.out.types.parts(ty).iter().any(|&part| self.mentions_task(part))
    }

    fn check_implementation(&mut self, implementation: &Implementation) {
        let name = implementation.name;
        let Some(&procedure_idx) = self.out.procedures.get(&name.symbol) else {
            let message = format!("there is no procedure `{}` to implement", self.text(name.symbol));
            self.error(codes::UNKNOWN_PROCEDURE, name.span, message);
            return;
        };
        let DeclKind::Procedure(procedure) = self.program.decls[procedure_idx].kind.clone() else { return };
        let mut complaint = None;
        if procedure.type_params.len() != implementation.type_params.len() {
            complaint = Some("the numbers of type parameters differ".to_owned());
        }
        let lists = [
            ("parameter", &procedure.params, &implementation.params),
            ("result", &procedure.results, &implementation.results),
        ];
        for (what, declared, given) in lists {
            if declared.len() != given.len() {
                complaint.get_or_insert(format!(
                    "the procedure has {} {what}s, the implementation {}",
                    declared.len(),
                    given.len()
                ));
                continue;
            }
            for (declared, given) in declared.iter().zip(given) {
                self.type_params = symbols(&procedure.type_params);
                let wanted = self.convert(declared.ty);
                self.type_params = symbols(&implementation.type_params);
                let found = self.convert(given.ty);
                let (Some(wanted), Some(found)) = (wanted, found) else { continue };
                // Type parameters may have other names in the implementation.
                let renaming: FxHashMap<Symbol, Symbol> = implementation
                    .type_params
                    .iter()
                    .zip(&procedure.type_params)
                    .map(|(own, declared)| (own.symbol, declared.symbol))
                    .collect();
                let renamed = self.rename_params(found, &renaming);
                if renamed != wanted {
                    let (name, wanted, found) =
                        (self.text(given.name.symbol).to_owned(), self.show(wanted), self.show(found));
                    complaint.get_or_insert(format!("the {what} `{name}` is {found}, not {wanted}"));
                }
            }
        }
        self.type_params.clear();
        if let Some(complaint) = complaint {
            let message =
                format!("this implementation of `{}` does not fit its procedure", self.text(name.symbol));
            self.diagnostics.push(
                Diagnostic::error(codes::IMPLEMENTATION_MISMATCH, name.span, message)
                    .also(procedure.name.span, "the procedure")
                    .note(complaint),
            );
        }
    }

    fn rename_params(&mut self, ty: Ty, renaming: &FxHashMap<Symbol, Symbol>) -> Ty {
        let renaming: FxHashMap<Symbol, Ty> =
            renaming.iter().map(|(&from, &to)| (from, self.out.types.intern(TyKind::Param(to)))).collect();
        self.instantiate(ty, &renaming)
    }

    /// The type with its parameters replaced, all at once.
    pub(super) fn instantiate(&mut self, ty: Ty, by: &FxHashMap<Symbol, Ty>) -> Ty {
        match self.out.types.kind(ty).clone() {
            TyKind::Param(name) => by.get(&name).copied().unwrap_or(ty),
            TyKind::Con(name, args) => {
                let args = args.into_iter().map(|arg| self.instantiate(arg, by)).collect();
                self.out.types.intern(TyKind::Con(name, args))
            }
            TyKind::Map(args, result) => {
                let args = args.into_iter().map(|arg| self.instantiate(arg, by)).collect();
                let result = self.instantiate(result, by);
                self.out.types.intern(TyKind::Map(args, result))
            }
            TyKind::Error | TyKind::Bool | TyKind::Int | TyKind::Real | TyKind::Bv(_) | TyKind::Infer(_) => {
                ty
            }
        }
    }

    /// The type that a type expression means. `None` after a report.
    pub(super) fn convert(&mut self, id: TypeId) -> Option<Ty> {
        let mut budget = MAX_EXPANSION * 100;
        self.convert_in(id, &FxHashMap::default(), 0, &mut budget)
    }

    /// `by` gives the arguments of the synonym being expanded. Each node of the result costs one
    /// from the budget, so that synonyms of synonyms cannot blow up.
    fn convert_in(
        &mut self,
        id: TypeId,
        by: &FxHashMap<Symbol, Ty>,
        depth: u32,
        budget: &mut u32,
    ) -> Option<Ty> {
        let Type { kind, span } = self.program.types[id].clone();
        *budget = budget.saturating_sub(1);
        if depth > MAX_EXPANSION || *budget == 0 {
            let message = "this type refers to itself through its synonyms";
            self.error(codes::CYCLIC_SYNONYM, span, message);
            return None;
        }
        let ty = match kind {
            TypeKind::Bool => Ty::BOOL,
            TypeKind::Int => Ty::INT,
            TypeKind::Real => Ty::REAL,
            TypeKind::Bv(width) => self.out.types.bv(width),
            TypeKind::Map { type_params, args, result } => {
                if !type_params.is_empty() {
                    let message = "polymorphic maps are not supported";
                    self.diagnostics.push(
                        Diagnostic::error(codes::UNSUPPORTED, span, message)
                            .help("declare one map per type that is used"),
                    );
                    return None;
                }
                let args: Vec<Option<Ty>> =
                    args.iter().map(|&arg| self.convert_in(arg, by, depth, budget)).collect();
                let result = self.convert_in(result, by, depth, budget)?;
                let args = args.into_iter().collect::<Option<Vec<Ty>>>()?;
                self.out.types.intern(TyKind::Map(args, result))
            }
            TypeKind::Named(name, args) => {
                let n_args = args.len();
                let args: Vec<Option<Ty>> =
                    args.iter().map(|&arg| self.convert_in(arg, by, depth, budget)).collect();
                let args = args.into_iter().collect::<Option<Vec<Ty>>>()?;
                if let Some(&ty) = by.get(&name) {
                    return self.expect_type_args(name, span, 0, n_args).then_some(ty);
                }
                if depth == 0 && self.type_params.contains(&name) {
                    let fits = self.expect_type_args(name, span, 0, n_args);
                    return fits.then(|| self.out.types.intern(TyKind::Param(name)));
                }
                let Some(&decl_idx) = self.type_decls.get(&name) else {
                    self.unknown_type(name, span);
                    return None;
                };
                let DeclKind::Type(decl) = self.program.decls[decl_idx].kind.clone() else { return None };
                if !self.expect_type_args(name, span, decl.params.len(), n_args) {
                    return None;
                }
                match decl.synonym {
                    None => self.out.types.intern(TyKind::Con(name, args)),
                    Some(synonym) => {
                        let by = symbols(&decl.params).into_iter().zip(args).collect();
                        return self.convert_in(synonym, &by, depth + 1, budget);
                    }
                }
            }
        };
        Some(ty)
    }

    fn unknown_type(&mut self, name: Symbol, span: Span) {
        let text = self.text(name).to_owned();
        let mut diagnostic =
            Diagnostic::error(codes::UNKNOWN_TYPE, span, format!("there is no type `{text}`"));
        if text == "task" {
            diagnostic = diagnostic.help("task handles need the declaration `type task a;`");
        }
        self.diagnostics.push(diagnostic);
    }

    fn expect_type_args(&mut self, name: Symbol, span: Span, wanted: usize, found: usize) -> bool {
        if wanted != found {
            let message =
                format!("`{}` takes {}, but gets {found}", self.text(name), count(wanted, "type argument"));
            self.error(codes::TYPE_ARGUMENTS, span, message);
        }
        wanted == found
    }

    /// The variable that a name means in the current declaration.
    pub(super) fn lookup(&self, name: Symbol) -> Option<VarId> {
        let is_seen = |var: &&VarId| !(self.in_contract && self.out.vars[**var].kind == VarKind::Local);
        let own = self.frame.by_name.get(&name).filter(is_seen);
        own.or_else(|| self.out.global_names.get(&name)).copied()
    }
}
