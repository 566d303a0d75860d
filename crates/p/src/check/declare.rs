//! Declares every name of every file, and reports those declared twice.
//!
//! P keeps one table per kind of declaration; which kinds exclude each other is decided here. The first
//! declaration wins, so that a duplicate causes one report.

use allways_base::{Diagnostic, IndexVec, Span, Symbol};
use rustc_hash::FxHashMap;

use super::{Checker, EnumElement, FunSource, MachineSource};
use crate::codes;
use crate::hir::{self, EventId, FunId, FunKind, MachineId};
use crate::syntax::ast::{self, Decl, Member, Name};
use crate::types::{EventSet, Types};

impl<'a> Checker<'a> {
    pub(super) fn declare(&mut self) {
        let nowhere = Span::new(self.sources.ids().next().unwrap_or(allways_base::FileId::from_u32(0)), 0, 0);
        for name in ["null", "halt"] {
            let name = self.symbols.intern(name);
            self.events.push(hir::Event { name, span: nowhere, payload: Types::NULL });
        }
        self.universal.insert(EventId::HALT);
        let trees = self.trees;
        // Declarations of the program first: bodies for foreign functions attach to them.
        for (tree_idx, tree) in trees.iter().enumerate() {
            if !self.is_foreign_supply(tree_idx) {
                tree.decls.iter().for_each(|decl| self.declare_one(tree_idx, tree, decl));
            }
        }
        for (tree_idx, tree) in trees.iter().enumerate() {
            if self.is_foreign_supply(tree_idx) {
                tree.decls.iter().for_each(|decl| self.supply_foreign(tree, decl));
            }
        }
        self.note_proofs();
    }

    fn declare_one(&mut self, tree_idx: usize, tree: &'a ast::Tree, decl: &'a Decl) {
        match decl {
            Decl::Type { name, definition } => {
                if self.type_name_is_taken(*name, "type") {
                    return;
                }
                let ty = match definition {
                    Some(_) => self.types.new_alias(name.symbol),
                    None => {
                        self.foreign_types.push(hir::ForeignType { name: name.symbol, span: name.span });
                        self.types.new_foreign(name.symbol)
                    }
                };
                self.globals.typedefs.insert(name.symbol, (ty, name.span));
            }
            Decl::Enum { name, elements } => self.declare_enum(*name, elements),
            Decl::Event { name, .. } => {
                if let Some(first) = self.event_or_element(name.symbol) {
                    self.duplicate(*name, "event", first);
                    return;
                }
                let payload = Types::NULL;
                let event = self.events.push(hir::Event { name: name.symbol, span: name.span, payload });
                self.universal.insert(event);
                self.globals.events.insert(name.symbol, event);
            }
            Decl::EventSet { name, .. } => {
                let first = match self.globals.event_sets.get(&name.symbol) {
                    Some(&(_, first)) => Some(first),
                    None => self.globals.interfaces.get(&name.symbol).map(|&i| self.interfaces[i].span),
                };
                if let Some(first) = first {
                    self.duplicate(*name, "event set", first);
                    return;
                }
                self.globals.event_sets.insert(name.symbol, (EventSet::default(), name.span));
            }
            Decl::Interface { name, .. } => {
                if !self.type_name_is_taken(*name, "interface") {
                    self.declare_interface(*name, None);
                }
            }
            Decl::Machine(machine) => self.declare_machine(tree, machine),
            Decl::Fun(fun) => {
                if let Some(&first) = self.globals.functions.get(&fun.name.symbol) {
                    let first = self.functions[first].span;
                    self.duplicate(fun.name, "function", first);
                    return;
                }
                let id = self.add_fun(tree, fun, None);
                self.globals.functions.insert(fun.name.symbol, id);
            }
            Decl::Module { name, module } => {
                if let Some(&(_, _, first)) = self.globals.modules.get(&name.symbol) {
                    self.duplicate(*name, "module", first);
                    return;
                }
                self.globals.modules.insert(name.symbol, (tree_idx, *module, name.span));
            }
            Decl::Test(test) => self.declare_test(tree_idx, test.name, "test"),
            Decl::Implementation { name, .. } => self.declare_test(tree_idx, *name, "implementation"),
            Decl::Param { names, .. } => {
                for name in names {
                    if let Some(&first) = self.globals.params.get(&name.symbol) {
                        let first = self.params[first].span;
                        self.duplicate(*name, "parameter", first);
                        continue;
                    }
                    let ty = Types::ERROR;
                    let id = self.params.push(hir::GlobalParam { name: name.symbol, span: name.span, ty });
                    self.globals.params.insert(name.symbol, id);
                }
            }
            Decl::Proof { .. } | Decl::Invariant { .. } => {}
        }
    }

    fn declare_test(&mut self, tree_idx: usize, name: Name, kind: &str) {
        // Tests of an included project are not part of this one.
        if self.inputs[tree_idx].role == crate::FileRole::Included && kind == "test" {
            return;
        }
        if let Some(&first) = self.globals.tests.get(&name.symbol) {
            self.duplicate(name, kind, first);
        } else {
            self.globals.tests.insert(name.symbol, name.span);
        }
    }

    fn declare_enum(&mut self, name: Name, elements: &[(Name, Option<i64>)]) {
        let is_taken = self.type_name_is_taken(name, "enum");
        let ty = self.types.new_enum(name.symbol);
        let mut values: FxHashMap<i64, Symbol> = FxHashMap::default();
        let mut declared = Vec::new();
        for (i, &(element, number)) in elements.iter().enumerate() {
            if let Some(first) = self.event_or_element(element.symbol) {
                self.duplicate(element, "enum element", first);
                continue;
            }
            let value = number.unwrap_or(i as i64);
            let is_shared = values.insert(value, element.symbol).is_some();
            declared.push((element.symbol, value));
            self.globals
                .enum_elements
                .insert(element.symbol, EnumElement { ty, value, span: element.span, is_shared });
        }
        let id = self.enums.push(hir::Enum { name: name.symbol, span: name.span, elements: declared });
        if !is_taken {
            self.globals.enums.insert(name.symbol, (id, ty));
        }
    }

    fn declare_interface(&mut self, name: Name, machine: Option<MachineId>) -> hir::InterfaceId {
        let interface = self.interfaces.push(hir::Interface {
            name: name.symbol,
            span: name.span,
            receives: EventSet::default(),
            constructor: Types::NULL,
            machine,
        });
        self.globals.interfaces.insert(name.symbol, interface);
        interface
    }

    fn declare_machine(&mut self, tree: &'a ast::Tree, decl: &'a ast::Machine) {
        let name = decl.name;
        let word = match decl.kind {
            ast::MachineKind::Machine => "machine",
            ast::MachineKind::Spec => "spec",
            ast::MachineKind::Scenario => "scenario",
        };
        let is_taken = self.type_name_is_taken(name, word);
        let id = self.machines.next_id();
        let kind = match decl.kind {
            ast::MachineKind::Machine => hir::MachineKind::Machine,
            ast::MachineKind::Spec => hir::MachineKind::Spec,
            ast::MachineKind::Scenario => hir::MachineKind::Scenario,
        };
        let interface = match kind {
            hir::MachineKind::Machine if !is_taken => Some(self.declare_interface(name, Some(id))),
            _ => None,
        };
        self.machines.push(hir::Machine {
            name: name.symbol,
            span: name.span,
            kind,
            receives: EventSet::default(),
            sends: EventSet::default(),
            observes: EventSet::default(),
            fields: IndexVec::new(),
            states: IndexVec::new(),
            start: None,
            functions: Vec::new(),
            interface,
            constructor: Types::NULL,
            creates: Vec::new(),
        });
        self.machine_sources.push(MachineSource {
            tree,
            decl,
            functions: FxHashMap::default(),
            states: FxHashMap::default(),
            fields: FxHashMap::default(),
        });
        if !is_taken {
            self.globals.machines.insert(name.symbol, id);
        }
        self.declare_members(id, tree, decl);
    }

    fn declare_members(&mut self, id: MachineId, tree: &'a ast::Tree, decl: &'a ast::Machine) {
        for var in &decl.vars {
            if let Some(&first) = self.machine_sources[id].fields.get(&var.name.symbol) {
                let first = self.machines[id].fields[first].span;
                self.duplicate(var.name, "variable", first);
                continue;
            }
            let (name, span) = (var.name.symbol, var.name.span);
            let field = self.machines[id].fields.push(hir::Variable { name, span, ty: Types::ERROR });
            self.machine_sources[id].fields.insert(name, field);
        }
        for member in &decl.members {
            match member {
                Member::State(state) => {
                    if let Some(&first) = self.machine_sources[id].states.get(&state.name.symbol) {
                        let first = self.machines[id].states[first].span;
                        self.duplicate(state.name, "state", first);
                        continue;
                    }
                    let temperature = match state.temperature {
                        ast::Temperature::Warm => hir::Temperature::Warm,
                        ast::Temperature::Hot => hir::Temperature::Hot,
                        ast::Temperature::Cold => hir::Temperature::Cold,
                    };
                    let state_id = self.machines[id].states.push(hir::State {
                        name: state.name.symbol,
                        span: state.name.span,
                        temperature,
                        entry: None,
                        exit: None,
                        actions: Vec::new(),
                    });
                    self.machine_sources[id].states.insert(state.name.symbol, state_id);
                }
                Member::Fun(fun) => {
                    if let Some(&first) = self.machine_sources[id].functions.get(&fun.name.symbol) {
                        let first = self.functions[first].span;
                        self.duplicate(fun.name, "function", first);
                        continue;
                    }
                    if let Some(&state) = self.machine_sources[id].states.get(&fun.name.symbol) {
                        self.shared_name(fun.name, self.machines[id].states[state].span);
                    }
                    let fun_id = self.add_fun(tree, fun, Some(id));
                    self.machine_sources[id].functions.insert(fun.name.symbol, fun_id);
                    self.machines[id].functions.push(fun_id);
                }
            }
        }
    }

    /// A function named like a state above it: P 3 rejects it, older versions did not.
    fn shared_name(&mut self, name: Name, state: Span) {
        let text = self.text(name.symbol).to_owned();
        let message = format!("the function `{text}` has the name of a state");
        let diagnostic = if self.dialect.strict {
            Diagnostic::error(codes::LEGACY_SHARED_NAME, name.span, message)
        } else {
            Diagnostic::warning(codes::LEGACY_SHARED_NAME, name.span, message)
                .note("the compiler of P 3 rejects this; `--strict` does the same")
        };
        self.report(diagnostic.also(state, "the state").help("rename one of them"));
    }

    fn add_fun(&mut self, tree: &'a ast::Tree, fun: &'a ast::Fun, owner: Option<MachineId>) -> FunId {
        self.fun_sources.push(FunSource {
            tree,
            params: &fun.params,
            result: fun.result,
            body: fun.body.as_ref(),
            creates: fun.creates,
        });
        self.functions.push(new_fun(Some(fun.name.symbol), fun.name.span, FunKind::Named, owner))
    }

    /// Adds a handler written in place.
    pub(super) fn add_anonymous(
        &mut self,
        tree: &'a ast::Tree,
        fun: &'a ast::AnonymousFun,
        owner: MachineId,
    ) -> FunId {
        self.fun_sources.push(FunSource {
            tree,
            params: fun.param.as_slice(),
            result: None,
            body: Some(&fun.body),
            creates: None,
        });
        let id = self.functions.push(new_fun(None, fun.body.span, FunKind::Anonymous, Some(owner)));
        self.machines[owner].functions.push(id);
        id
    }

    /// A file of bodies for foreign functions: each must belong to a declaration without body.
    fn supply_foreign(&mut self, tree: &'a ast::Tree, decl: &'a Decl) {
        match decl {
            Decl::Fun(fun) => {
                let target = self.globals.functions.get(&fun.name.symbol).copied();
                self.attach_body(tree, fun, target);
            }
            Decl::Machine(machine) => {
                let Some(&owner) = self.globals.machines.get(&machine.name.symbol) else {
                    let candidates = self.candidates(self.globals.machines.keys());
                    self.unknown(codes::UNKNOWN_INTERFACE, machine.name, "machine", candidates);
                    return;
                };
                for member in &machine.members {
                    if let Member::Fun(fun) = member {
                        let target = self.machine_sources[owner].functions.get(&fun.name.symbol).copied();
                        self.attach_body(tree, fun, target);
                    }
                }
            }
            Decl::Type { name, definition: Some(_) } => {
                // The definition is resolved with the other typedefs, under the declared name.
                let Some(&(ty, span)) = self.globals.typedefs.get(&name.symbol) else {
                    let candidates = self.candidates(self.globals.typedefs.keys());
                    self.unknown(codes::UNKNOWN_TYPE, *name, "foreign type", candidates);
                    return;
                };
                if matches!(self.types.get(ty), hir::Type::Foreign(_)) {
                    let alias = self.types.new_alias(name.symbol);
                    self.globals.typedefs.insert(name.symbol, (alias, span));
                } else {
                    self.duplicate(*name, "type", span);
                }
            }
            other => {
                if let Some(span) = decl_span(other) {
                    self.report(
                        Diagnostic::error(
                            codes::BAD_HANDLER,
                            span,
                            "this file may only give bodies to foreign functions",
                        )
                        .help("move the declaration to a source file of the project"),
                    );
                }
            }
        }
    }

    fn attach_body(&mut self, tree: &'a ast::Tree, fun: &'a ast::Fun, target: Option<FunId>) {
        let Some(target) = target else {
            let candidates = self.candidates(self.globals.functions.keys());
            self.unknown(codes::UNKNOWN_FUNCTION, fun.name, "foreign function", candidates);
            return;
        };
        if self.fun_sources[target].body.is_some() {
            let first = self.functions[target].span;
            self.duplicate(fun.name, "function", first);
            return;
        }
        let source = FunSource {
            tree,
            params: &fun.params,
            result: fun.result,
            body: fun.body.as_ref(),
            creates: self.fun_sources[target].creates,
        };
        if source.params.len() != self.fun_sources[target].params.len() {
            let declared = self.functions[target].span;
            self.report(
                Diagnostic::error(
                    codes::WRONG_ARGUMENT_COUNT,
                    fun.name.span,
                    "this body and the foreign function have different numbers of parameters",
                )
                .also(declared, "declared here"),
            );
            return;
        }
        self.fun_sources[target] = source;
    }

    /// Reports that a type name is in use by another typedef, enum, interface or machine.
    fn type_name_is_taken(&mut self, name: Name, kind: &str) -> bool {
        let globals = &self.globals;
        let first = if let Some(&(_, span)) = globals.typedefs.get(&name.symbol) {
            Some(span)
        } else if let Some(&(id, _)) = globals.enums.get(&name.symbol) {
            Some(self.enums[id].span)
        } else if let Some(&id) = globals.interfaces.get(&name.symbol) {
            Some(self.interfaces[id].span)
        } else {
            globals.machines.get(&name.symbol).map(|&id| self.machines[id].span)
        };
        if let Some(first) = first {
            self.duplicate(name, kind, first);
        }
        first.is_some()
    }

    fn event_or_element(&self, symbol: Symbol) -> Option<Span> {
        match self.globals.events.get(&symbol) {
            Some(&event) => Some(self.events[event].span),
            None => self.globals.enum_elements.get(&symbol).map(|element| element.span),
        }
    }

    pub(super) fn duplicate(&mut self, name: Name, kind: &str, first: Span) {
        let text = self.text(name.symbol).to_owned();
        self.report(
            Diagnostic::error(
                codes::DUPLICATE_NAME,
                name.span,
                format!("the name `{text}` is declared twice"),
            )
            .label(format!("this {kind} needs another name"))
            .also(first, "first declared here"),
        );
    }

    /// One note for all declarations that only the verifier reads.
    fn note_proofs(&mut self) {
        let mut spans: Vec<Span> = Vec::new();
        for tree in self.trees {
            spans.extend(&tree.proofs);
            spans.extend(tree.decls.iter().filter_map(|decl| match decl {
                Decl::Proof { span } => Some(*span),
                _ => None,
            }));
        }
        let Some(&first) = spans.iter().min() else { return };
        let message = match spans.len() {
            1 => "this is for the P verifier and is not checked here".to_owned(),
            n => {
                format!("{n} declarations are for the P verifier and are not checked here; this is the first")
            }
        };
        let diagnostic = if self.dialect.strict && !self.dialect.verifier {
            let message = "only the P verifier understands this";
            Diagnostic::error(codes::PROOF_NOT_CHECKED, first, message)
                .note("P 3 accepts them only in projects whose target is `PVerifier`")
        } else {
            Diagnostic::new(allways_base::Severity::Note, codes::PROOF_NOT_CHECKED, message).at(first, "")
        };
        self.report(diagnostic);
    }
}

pub(super) fn new_fun(
    name: Option<Symbol>,
    span: Span,
    kind: FunKind,
    owner: Option<MachineId>,
) -> hir::Function {
    hir::Function {
        name,
        span,
        kind,
        owner,
        n_params: 0,
        locals: IndexVec::new(),
        result: Types::NULL,
        body: None,
        effects: hir::Effects::default(),
        callees: Vec::new(),
        foreign_creates: Vec::new(),
    }
}

fn decl_span(decl: &Decl) -> Option<Span> {
    match decl {
        Decl::Type { name, .. }
        | Decl::Enum { name, .. }
        | Decl::Event { name, .. }
        | Decl::EventSet { name, .. }
        | Decl::Interface { name, .. }
        | Decl::Module { name, .. }
        | Decl::Implementation { name, .. } => Some(name.span),
        Decl::Machine(machine) => Some(machine.name.span),
        Decl::Fun(fun) => Some(fun.name.span),
        Decl::Test(test) => Some(test.name.span),
        Decl::Param { names, .. } => names.first().map(|name| name.span),
        Decl::Proof { span } => Some(*span),
        Decl::Invariant { .. } => None,
    }
}
