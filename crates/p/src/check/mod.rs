//! From trees to the typed program: names, types and every static rule of P, all mistakes in one run.
//!
//! The passes are the functions called by [`check`], in the order in which they need each other. A pass
//! never stops at a mistake: what could not be determined has [`Types::ERROR`] for its type, which
//! everything accepts, or is left out. The program is handed out only when nothing was wrong.

mod bodies;
mod declare;
mod effects;
mod exprs;
mod flow;
mod format;
mod invariants;
mod machines;
mod modules;
mod params;
mod resolve_types;
mod stmts;
mod tests;

use allways_base::{Code, Diagnostic, IndexVec, Interner, Sources, Span, Symbol, diagnostic, nearest};
use rustc_hash::FxHashMap;

use crate::codes;
use crate::hir::{self, EnumId, EventId, ForeignTypeId, FunId, InterfaceId, MachineId, ParamId};
use crate::syntax::{Dialect, ast};
use crate::types::{EventSet, TypeId, Types};
use crate::{FileRole, Input};

/// Checks parsed files. `trees` belong to `inputs`, one to one.
pub(crate) fn check(
    sources: &Sources,
    inputs: &[Input],
    trees: &[ast::Tree],
    dialect: Dialect,
    symbols: Interner,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<hir::Program> {
    let mut checker = Checker::new(sources, inputs, trees, dialect, symbols, diagnostics);
    checker.declare();
    // Event sets first: a machine used as a type is the set of events it receives.
    checker.resolve_event_lists();
    checker.resolve_typedefs();
    checker.resolve_signatures();
    checker.check_machines();
    checker.check_bodies();
    checker.check_handlers();
    checker.check_invariants();
    checker.propagate_effects();
    checker.check_effects();
    checker.check_invariant_effects();
    checker.infer_creates();
    let tests = checker.check_modules_and_tests();
    if diagnostic::has_errors(checker.diagnostics) { None } else { Some(checker.finish(tests)) }
}

/// How many names are compared for suggestions in one run: a large program full of unknown names must not
/// take a time that grows with the square of its size.
const MAX_COMPARED: usize = 1_000_000;

/// After that many errors, or that many milder reports, the rest is not reported.
const MAX_REPORTS: usize = 2000;

/// Where a function's code is. Parameters and locals are resolved from here.
#[derive(Clone, Copy)]
struct FunSource<'a> {
    tree: &'a ast::Tree,
    params: &'a [ast::Var],
    result: Option<ast::TypeId>,
    body: Option<&'a ast::Body>,
    creates: Option<ast::Name>,
}

/// A declared machine, with its own scope.
struct MachineSource<'a> {
    tree: &'a ast::Tree,
    decl: &'a ast::Machine,
    functions: FxHashMap<Symbol, FunId>,
    states: FxHashMap<Symbol, hir::StateId>,
    fields: FxHashMap<Symbol, hir::FieldId>,
}

/// The global scope: a table per kind of declaration, since P lets different kinds share names.
#[derive(Default)]
struct Globals {
    typedefs: FxHashMap<Symbol, (TypeId, Span)>,
    enums: FxHashMap<Symbol, (EnumId, TypeId)>,
    enum_elements: FxHashMap<Symbol, EnumElement>,
    events: FxHashMap<Symbol, EventId>,
    event_sets: FxHashMap<Symbol, (EventSet, Span)>,
    interfaces: FxHashMap<Symbol, InterfaceId>,
    machines: FxHashMap<Symbol, MachineId>,
    functions: FxHashMap<Symbol, FunId>,
    params: FxHashMap<Symbol, ParamId>,
    modules: FxHashMap<Symbol, (usize, ast::ModuleId, Span)>,
    tests: FxHashMap<Symbol, Span>,
}

#[derive(Clone, Copy)]
struct EnumElement {
    ty: TypeId,
    value: i64,
    span: Span,
    /// Another element of the enum has the number already: P's compiler fails on its use.
    is_shared: bool,
}

struct Checker<'a> {
    sources: &'a Sources,
    inputs: &'a [Input],
    trees: &'a [ast::Tree],
    dialect: Dialect,
    symbols: Interner,
    types: Types,
    enums: IndexVec<EnumId, hir::Enum>,
    foreign_types: IndexVec<ForeignTypeId, hir::ForeignType>,
    events: IndexVec<EventId, hir::Event>,
    interfaces: IndexVec<InterfaceId, hir::Interface>,
    machines: IndexVec<MachineId, hir::Machine>,
    functions: IndexVec<FunId, hir::Function>,
    params: IndexVec<ParamId, hir::GlobalParam>,
    globals: Globals,
    machine_sources: IndexVec<MachineId, MachineSource<'a>>,
    fun_sources: IndexVec<FunId, FunSource<'a>>,
    /// `{halt}` and every declared event.
    universal: EventSet,
    invariants: Vec<hir::Invariant>,
    /// How many milder diagnostics and how many errors were reported.
    n_reports: [usize; 2],
    /// How many names were compared with an unknown one, see [`MAX_COMPARED`].
    n_compared: usize,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a> Checker<'a> {
    fn new(
        sources: &'a Sources,
        inputs: &'a [Input],
        trees: &'a [ast::Tree],
        dialect: Dialect,
        symbols: Interner,
        diagnostics: &'a mut Vec<Diagnostic>,
    ) -> Self {
        Checker {
            sources,
            inputs,
            trees,
            dialect,
            symbols,
            types: Types::default(),
            enums: IndexVec::new(),
            foreign_types: IndexVec::new(),
            events: IndexVec::new(),
            interfaces: IndexVec::new(),
            machines: IndexVec::new(),
            functions: IndexVec::new(),
            params: IndexVec::new(),
            globals: Globals::default(),
            machine_sources: IndexVec::new(),
            fun_sources: IndexVec::new(),
            universal: EventSet::default(),
            invariants: Vec::new(),
            n_reports: [0; 2],
            n_compared: 0,
            diagnostics,
        }
    }

    fn finish(self, tests: Vec<hir::Test>) -> hir::Program {
        hir::Program {
            symbols: self.symbols,
            types: self.types,
            enums: self.enums,
            foreign_types: self.foreign_types,
            events: self.events,
            interfaces: self.interfaces,
            machines: self.machines,
            functions: self.functions,
            params: self.params,
            tests,
            invariants: self.invariants,
        }
    }

    // Words used by all passes.

    /// Adds a diagnostic. An error is never dropped unless enough others have been kept.
    fn report(&mut self, diagnostic: Diagnostic) {
        let n_kept = &mut self.n_reports[usize::from(diagnostic.is_error())];
        *n_kept += 1;
        if *n_kept <= MAX_REPORTS {
            self.diagnostics.push(diagnostic);
        }
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(code, span, message));
    }

    /// A name, for messages: cut to a readable length.
    fn text(&self, symbol: Symbol) -> &str {
        crate::types::short(self.symbols.text(symbol))
    }

    fn show(&self, ty: TypeId) -> String {
        self.types.show(ty, &self.symbols)
    }

    fn is_foreign_supply(&self, tree_idx: usize) -> bool {
        self.inputs[tree_idx].role == FileRole::ForeignBodies
    }

    /// Names that an unknown one may have meant; none once enough names were compared.
    fn candidates<'s>(&self, names: impl Iterator<Item = &'s Symbol>) -> Vec<Symbol> {
        if self.n_compared > MAX_COMPARED { Vec::new() } else { names.copied().collect() }
    }

    /// Reports a name that nothing declares, with the nearest name that something does.
    fn unknown(&mut self, code: Code, name: ast::Name, kind: &str, candidates: Vec<Symbol>) {
        let text = self.text(name.symbol).to_owned();
        let mut diagnostic =
            Diagnostic::error(code, name.span, format!("there is no {kind} `{text}`")).label("not declared");
        self.n_compared += candidates.len();
        if self.n_compared <= MAX_COMPARED
            && let Some(near) = nearest::nearest(&text, candidates.iter().map(|&c| self.symbols.text(c)))
        {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        self.report(diagnostic);
    }

    fn lookup_event(&mut self, event: ast::EventRef) -> Option<EventId> {
        let symbol = match event.kind {
            ast::EventRefKind::Null => return Some(EventId::NULL),
            ast::EventRefKind::Halt => return Some(EventId::HALT),
            ast::EventRefKind::Named(symbol) => symbol,
        };
        let found = self.globals.events.get(&symbol).copied();
        if found.is_none() {
            let candidates = self.candidates(self.globals.events.keys());
            self.unknown(codes::UNKNOWN_EVENT, ast::Name { symbol, span: event.span }, "event", candidates);
        }
        found
    }

    fn event_name(&self, event: EventId) -> &str {
        match event {
            EventId::NULL => "null",
            EventId::HALT => "halt",
            _ => self.text(self.events[event].name),
        }
    }

    /// Reports that `from` does not fit into `to`, in the words that fit the case.
    fn mismatch(&mut self, span: Span, to: TypeId, from: TypeId, what: &str) {
        let (to_text, from_text) = (self.show(to), self.show(from));
        let diagnostic = if self.types.alias_hides(to, from) {
            let (real_to, real_from) = (self.types.canonical(to), self.types.canonical(from));
            let (real_to, real_from) = (self.show(real_to), self.show(real_from));
            Diagnostic::error(
                codes::ALIAS_HIDES_TYPE,
                span,
                format!("{what} must be `{real_to}`, and P does not resolve the type name `{from_text}`"),
            )
            .label(format!("this was declared as `{from_text}`"))
            .note("a value declared with a name for an enum or machine type can hardly be used in P")
            .help(format!("declare it as `{real_from}`"))
        } else {
            let mut diagnostic = Diagnostic::error(
                codes::TYPE_MISMATCH,
                span,
                format!("{what} must be `{to_text}`, not `{from_text}`"),
            )
            .label(format!("this has type `{from_text}`"));
            if let Some(help) = self.mismatch_help(to, from) {
                diagnostic = diagnostic.help(help);
            }
            diagnostic
        };
        self.report(diagnostic);
    }

    fn mismatch_help(&mut self, to: TypeId, from: TypeId) -> Option<&'static str> {
        use hir::Type::*;
        Some(match (self.types.shape(to), self.types.shape(from)) {
            (Int, Float) => "convert with `to int`",
            (Float, Int) => "convert with `to float`, or write the number with a decimal point",
            (Int, Enum(_)) => "convert with `to int`",
            (Tuple(fields), other) if fields.len() == 1 && !matches!(other, Tuple(_) | NamedTuple(_)) => {
                "a type in parentheses is a tuple with one field; its value is written `(x,)`"
            }
            (Tuple(_), NamedTuple(_)) | (NamedTuple(_), Tuple(_)) => {
                "tuples with and without field names are different types"
            }
            (NamedTuple(_), NamedTuple(_)) => "field names, their order and their types must agree",
            (Permission(..), Machine) => "convert with `to` (checked at run time) or `as`",
            (Permission(..), Permission(..)) => {
                "the two may receive different events; convert with `to` or `as`"
            }
            (_, Any) => "cast with `as`",
            (_, Null) => "use `default(T)` for the initial value of a type",
            _ => return None,
        })
    }
}
