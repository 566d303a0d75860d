//! Names and types. [`check`] finds out what every name refers to and what type every expression
//! has, and reports all mistakes of a program in one run.
//!
//! The tree is not changed: the answers are side tables in [`Checked`]. A program that has errors
//! gets tables too, but only the diagnostics of such a result are worth anything.

mod async_rules;
mod declare;
mod exprs;
mod jumps;
mod stmts;
pub mod types;

use allways_base::nearest::nearest;
use allways_base::{Code, Diagnostic, IndexVec, Span, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::dialect::{self, AsyncOp};
use crate::tree::*;
pub use types::{Ty, TyKind, TyTable};

allways_base::newtype_ids! {
    /// A variable of a checked program, of any kind.
    VarId = "v";
}

/// How many diagnostics look for a similar name.
const MAX_SUGGESTIONS: usize = 100;

/// A program with what its names mean.
#[derive(Clone)]
pub struct Checked {
    pub program: Program,
    pub types: TyTable,
    pub vars: IndexVec<VarId, Var>,
    /// The variable behind each [`ExprKind::Var`].
    pub expr_vars: IndexVec<ExprId, Option<VarId>>,
    /// [`Ty::ERROR`] for expressions in attributes.
    pub expr_types: IndexVec<ExprId, Ty>,
    /// The variables that a quantifier or a `let` binds.
    pub bound_vars: FxHashMap<ExprId, Vec<VarId>>,
    /// The type arguments of each application of a polymorphic function.
    pub apply_types: FxHashMap<ExprId, Vec<Ty>>,
    /// The type arguments of each call of a polymorphic procedure.
    pub call_types: FxHashMap<StmtId, Vec<Ty>>,
    /// Posts whose attribute names a variable that is no handle (some inputs write numbers there).
    pub ignored_handles: FxHashSet<StmtId>,
    /// Global variables in source order; [`Var::slot`] is the place in this list.
    pub globals: Vec<VarId>,
    /// Global variables and constants.
    pub global_names: FxHashMap<Symbol, VarId>,
    /// Constants in source order; [`Var::slot`] is the place in this list.
    pub consts: Vec<VarId>,
    /// Places in [`Program::decls`].
    pub functions: FxHashMap<Symbol, usize>,
    pub function_results: FxHashMap<Symbol, Ty>,
    pub procedures: FxHashMap<Symbol, usize>,
    pub implementations: FxHashMap<Symbol, Vec<usize>>,
    /// The variables of each function, procedure and implementation, by place in
    /// [`Program::decls`].
    pub frames: FxHashMap<usize, Frame>,
}

/// The parameters, results and locals of a declaration, in this order; [`Var::slot`] counts along.
/// Parameters and results have the same slots in a procedure and in its implementations.
#[derive(Clone, Default, Debug)]
pub struct Frame {
    pub vars: Vec<VarId>,
    pub n_params: usize,
    pub n_results: usize,
    by_name: FxHashMap<Symbol, VarId>,
}

#[derive(Clone, Debug)]
pub struct Var {
    pub name: Ident,
    pub ty: Ty,
    pub kind: VarKind,
    pub slot: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VarKind {
    Global,
    /// A global variable of which every task has its own copy.
    ThreadLocal,
    Const,
    /// An input of a procedure or a function.
    Param,
    Result,
    Local,
    /// Bound by a quantifier or a `let`.
    Bound,
}

impl Checked {
    /// What a name on the left of an assignment, in a `havoc` or in a call means inside a body.
    pub fn var_in(&self, decl_idx: usize, name: Symbol) -> Option<VarId> {
        self.frames
            .get(&decl_idx)
            .and_then(|frame| frame.by_name.get(&name).copied())
            .or_else(|| self.global_names.get(&name).copied())
            .filter(|&var| self.vars[var].kind != VarKind::Const)
    }

    /// The asynchronous meaning of a statement, `None` for an ordinary one. Malformed ones have been
    /// reported as errors and count as ordinary here.
    pub fn async_op(&self, stmt: StmtId) -> Option<AsyncOp<'_>> {
        match dialect::async_op(&self.program, stmt).ok()? {
            Some(AsyncOp::Post(mut post)) => {
                post.handle = post.handle.filter(|_| !self.ignored_handles.contains(&stmt));
                Some(AsyncOp::Post(post))
            }
            op => op,
        }
    }

    pub fn show_type(&self, ty: Ty) -> String {
        self.types.show(ty, &self.program.names)
    }
}

/// Resolves and checks a program.
pub fn check(program: Program) -> (Checked, Vec<Diagnostic>) {
    let checked = Checked {
        expr_vars: program.exprs.iter().map(|_| None).collect(),
        expr_types: program.exprs.iter().map(|_| Ty::ERROR).collect(),
        program,
        types: TyTable::default(),
        vars: IndexVec::new(),
        bound_vars: FxHashMap::default(),
        apply_types: FxHashMap::default(),
        call_types: FxHashMap::default(),
        ignored_handles: FxHashSet::default(),
        globals: Vec::new(),
        global_names: FxHashMap::default(),
        consts: Vec::new(),
        functions: FxHashMap::default(),
        function_results: FxHashMap::default(),
        procedures: FxHashMap::default(),
        implementations: FxHashMap::default(),
        frames: FxHashMap::default(),
    };
    // The tree is moved out while it is read, so that the tables can be written meanwhile.
    let mut ck = Checker {
        program: Program::default(),
        out: checked,
        diagnostics: Vec::new(),
        type_decls: FxHashMap::default(),
        type_params: Vec::new(),
        in_contract: false,
        coercions: FxHashMap::default(),
        holes: Vec::new(),
        frame: Frame::default(),
    };
    std::mem::swap(&mut ck.program, &mut ck.out.program);
    ck.run();
    std::mem::swap(&mut ck.program, &mut ck.out.program);
    // Signatures are converted several times, and their mistakes found as often.
    let key = |d: &Diagnostic| (d.primary.as_ref().map(|label| label.span), d.code);
    ck.diagnostics.sort_by(|a, b| (key(a), &a.message).cmp(&(key(b), &b.message)));
    ck.diagnostics.dedup();
    (ck.out, ck.diagnostics)
}

struct Checker {
    program: Program,
    out: Checked,
    diagnostics: Vec<Diagnostic>,
    type_decls: FxHashMap<Symbol, usize>,
    /// The type parameters in scope, innermost last.
    type_params: Vec<Symbol>,
    /// In what callers see of a procedure, which knows nothing of its locals.
    in_contract: bool,
    /// What the types in coercions mean.
    coercions: FxHashMap<TypeId, Ty>,
    /// What the holes of the current expression have been found to be.
    holes: Vec<Option<Ty>>,
    /// The variables of the current declaration.
    frame: Frame,
}

/// What an expression may mention, by where it stands.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    globals: bool,
    old: bool,
}

impl Place {
    const PURE: Place = Place { globals: false, old: false };
    const ONE_STATE: Place = Place { globals: true, old: false };
    const TWO_STATE: Place = Place { globals: true, old: true };
}

impl Checker {
    fn run(&mut self) {
        self.declare();
        for decl_idx in 0..self.program.decls.len() {
            let decl = self.program.decls[decl_idx].clone();
            self.frame = self.out.frames.get(&decl_idx).cloned().unwrap_or_default();
            match &decl.kind {
                DeclKind::Type(_) => {}
                DeclKind::Const(_) => {}
                DeclKind::Var(binding) => {
                    if let Some(clause) = binding.where_clause {
                        self.check_bool(clause, Place::ONE_STATE);
                    }
                }
                DeclKind::Axiom(expr) => {
                    let init = self.program.has_attr(&decl.attrs, "init");
                    self.check_bool(*expr, if init { Place::ONE_STATE } else { Place::PURE });
                }
                DeclKind::Function(function) => {
                    self.type_params = symbols(&function.type_params);
                    if let Some(body) = function.body
                        && let Some(ty) = self.convert(function.result.ty)
                    {
                        self.check_expr(body, ty, Place::PURE);
                    }
                }
                DeclKind::Procedure(procedure) => {
                    self.type_params = symbols(&procedure.type_params);
                    self.in_contract = true;
                    self.check_bindings(&procedure.params, &procedure.results);
                    for spec in &procedure.specs {
                        self.check_spec(spec);
                    }
                    self.in_contract = false;
                    if let Some(body) = &procedure.body {
                        self.check_body(body);
                    }
                }
                DeclKind::Implementation(implementation) => {
                    self.type_params = symbols(&implementation.type_params);
                    self.check_bindings(&implementation.params, &implementation.results);
                    self.check_body(&implementation.body);
                }
            }
            self.type_params.clear();
        }
    }

    fn check_bindings(&mut self, params: &[Binding], results: &[Binding]) {
        for clause in params.iter().chain(results).filter_map(|b| b.where_clause) {
            self.check_bool(clause, Place::ONE_STATE);
        }
    }

    fn check_spec(&mut self, spec: &Spec) {
        match &spec.kind {
            SpecKind::Requires(expr) => self.check_bool(*expr, Place::ONE_STATE),
            SpecKind::Ensures(expr) => self.check_bool(*expr, Place::TWO_STATE),
            SpecKind::Modifies(names) => {
                for name in names {
                    match self.out.global_names.get(&name.symbol) {
                        Some(&var) if self.out.vars[var].kind != VarKind::Const => {}
                        Some(_) => self.error(
                            crate::codes::NOT_ASSIGNABLE,
                            name.span,
                            format!("the constant `{}` cannot be modified", self.text(name.symbol)),
                        ),
                        None => self.unknown_name(*name),
                    }
                }
            }
            SpecKind::Posts(_) => {}
        }
    }

    fn text(&self, symbol: Symbol) -> &str {
        self.program.names.text(symbol)
    }

    fn show(&self, ty: Ty) -> String {
        self.out.types.show(ty, &self.program.names)
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(code, span, message));
    }

    fn unknown_name(&mut self, name: Ident) {
        let mut diagnostic = Diagnostic::error(
            crate::codes::UNKNOWN_NAME,
            name.span,
            format!("there is no variable or constant `{}` here", self.text(name.symbol)),
        );
        // A program full of unknown names must not cost the square of its size.
        if self.diagnostics.len() < MAX_SUGGESTIONS
            && let Some(near) = self.similar_name(name.symbol)
        {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        self.diagnostics.push(diagnostic);
    }

    /// A visible variable of nearly this name.
    fn similar_name(&self, name: Symbol) -> Option<String> {
        let visible = self.frame.vars.iter().chain(&self.out.globals).chain(&self.out.consts);
        let names = visible.map(|&var| self.text(self.out.vars[var].name.symbol));
        nearest(self.text(name), names).map(str::to_owned)
    }
}

fn symbols(idents: &[Ident]) -> Vec<Symbol> {
    idents.iter().map(|ident| ident.symbol).collect()
}
