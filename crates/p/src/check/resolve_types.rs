//! Event lists, type names and signatures.

use allways_base::{Diagnostic, Idx, Span, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Checker;
use crate::codes;
use crate::hir::{self, FunId, LocalId};
use crate::syntax::ast::{self, Decl, TypeKind};
use crate::syntax::words;
use crate::types::{EventSet, Type, TypeId, Types};

/// How deep and how large a type may be once its typedefs are written out.
const MAX_TYPE_DEPTH: u32 = 200;
const MAX_TYPE_SIZE: u64 = 10_000;

#[derive(Clone, Copy)]
struct Extent {
    depth: u32,
    size: u64,
}

impl<'a> Checker<'a> {
    /// Event sets, and what machines, specs and interfaces receive, send and observe.
    pub(super) fn resolve_event_lists(&mut self) {
        for tree in self.trees {
            for decl in &tree.decls {
                match decl {
                    Decl::EventSet { name, events } => {
                        let set = self.event_set(events);
                        if let Some(entry) = self.globals.event_sets.get_mut(&name.symbol)
                            && entry.1 == name.span
                        {
                            entry.0 = set;
                        }
                    }
                    Decl::Interface { name, receives, .. } => {
                        let set = self.event_set(receives);
                        if let Some(&id) = self.globals.interfaces.get(&name.symbol)
                            && self.interfaces[id].span == name.span
                        {
                            self.interfaces[id].receives = set;
                        }
                    }
                    _ => {}
                }
            }
        }
        for id in self.machines.ids() {
            let decl = self.machine_sources[id].decl;
            let mut list = |events: &Option<Vec<ast::EventRef>>| match events {
                Some(events) => self.event_set(events),
                None => self.universal.clone(),
            };
            let (receives, sends) = (list(&decl.receives), list(&decl.sends));
            let observes = self.event_set(&decl.observes);
            if let Some(interface) = self.machines[id].interface {
                self.interfaces[interface].receives = receives.clone();
            }
            let machine = &mut self.machines[id];
            (machine.receives, machine.sends, machine.observes) = (receives, sends, observes);
        }
    }

    fn event_set(&mut self, events: &[ast::EventRef]) -> EventSet {
        events.iter().filter_map(|&event| self.lookup_event(event)).collect()
    }

    pub(super) fn resolve_type(&mut self, tree: &ast::Tree, id: ast::TypeId) -> TypeId {
        let ty = &tree.types[id];
        let resolved = match &ty.kind {
            TypeKind::Bool => return Types::BOOL,
            TypeKind::Int => return Types::INT,
            TypeKind::Float => return Types::FLOAT,
            TypeKind::String => return Types::STRING,
            TypeKind::Event => return Types::EVENT,
            TypeKind::Machine => return Types::MACHINE,
            TypeKind::Data => return Types::DATA,
            TypeKind::Any => return Types::ANY,
            TypeKind::Named(symbol) => return self.resolve_type_name(*symbol, ty.span),
            TypeKind::Seq(element) => Type::Seq(self.resolve_type(tree, *element)),
            TypeKind::Set(element) => Type::Set(self.resolve_type(tree, *element)),
            TypeKind::Map(key, value) => {
                Type::Map(self.resolve_type(tree, *key), self.resolve_type(tree, *value))
            }
            TypeKind::Tuple(fields) => {
                Type::Tuple(fields.iter().map(|&field| self.resolve_type(tree, field)).collect())
            }
            TypeKind::NamedTuple(fields) => {
                let mut seen: FxHashMap<Symbol, Span> = FxHashMap::default();
                for (name, _) in fields {
                    self.check_field_once(&mut seen, *name);
                }
                Type::NamedTuple(
                    fields
                        .iter()
                        .map(|&(name, field)| (name.symbol, self.resolve_type(tree, field)))
                        .collect(),
                )
            }
        };
        self.types.intern(resolved)
    }

    /// Reports a field name that a named tuple has already.
    pub(super) fn check_field_once(&mut self, seen: &mut FxHashMap<Symbol, Span>, name: ast::Name) {
        if let Some(first) = seen.insert(name.symbol, name.span) {
            let text = self.text(name.symbol).to_owned();
            self.report(
                Diagnostic::error(
                    codes::DUPLICATE_FIELD,
                    name.span,
                    format!("this tuple has two fields `{text}`"),
                )
                .also(first, "the first one"),
            );
        }
    }

    fn resolve_type_name(&mut self, symbol: Symbol, span: Span) -> TypeId {
        let globals = &self.globals;
        if let Some(&(_, ty)) = globals.enums.get(&symbol) {
            return ty;
        }
        if let Some(&(ty, _)) = globals.typedefs.get(&symbol) {
            return ty;
        }
        let events = if let Some((events, _)) = globals.event_sets.get(&symbol) {
            Some(events.clone())
        } else if let Some(&id) = globals.interfaces.get(&symbol) {
            Some(self.interfaces[id].receives.clone())
        } else if let Some(&id) = globals.machines.get(&symbol) {
            Some(self.machines[id].receives.clone())
        } else {
            globals.events.get(&symbol).map(|&event| EventSet::from_iter([event]))
        };
        if let Some(events) = events {
            return self.types.intern(Type::Permission(symbol, events));
        }
        let candidates: Vec<Symbol> = globals
            .enums
            .keys()
            .chain(globals.typedefs.keys())
            .chain(globals.event_sets.keys())
            .chain(globals.interfaces.keys())
            .chain(&[words::INT, words::BOOL, words::FLOAT, words::STRING, words::MACHINE, words::EVENT])
            .copied()
            .collect();
        self.unknown(codes::UNKNOWN_TYPE, ast::Name { symbol, span }, "type", candidates);
        Types::ERROR
    }

    /// Gives every typedef its definition and rejects those that contain themselves.
    pub(super) fn resolve_typedefs(&mut self) {
        let mut order = Vec::new();
        for tree in self.trees {
            for decl in &tree.decls {
                let Decl::Type { name, definition: Some(definition) } = decl else { continue };
                let target = self.resolve_type(tree, *definition);
                // Of two declarations of one name the first one counts.
                if let Some(&(alias, span)) = self.globals.typedefs.get(&name.symbol)
                    && (span == name.span || self.is_undefined_alias(alias))
                    && matches!(self.types.get(alias), Type::Alias(_))
                {
                    self.types.set_alias(alias, target);
                    order.push((alias, *name));
                }
            }
        }
        self.check_typedefs(&order);
    }

    fn is_undefined_alias(&self, alias: TypeId) -> bool {
        self.types.alias_target(alias) == Some(Types::ERROR)
    }

    /// Visits typedefs so that each comes after those it uses; no recursion, whatever the chain.
    fn check_typedefs(&mut self, order: &[(TypeId, ast::Name)]) {
        let names: FxHashMap<TypeId, ast::Name> = order.iter().copied().collect();
        let mut extents: FxHashMap<TypeId, Extent> = FxHashMap::default();
        let mut open: FxHashSet<TypeId> = FxHashSet::default();
        for &(root, _) in order {
            let mut stack = vec![root];
            while let Some(&alias) = stack.last() {
                if extents.contains_key(&alias) {
                    stack.pop();
                    continue;
                }
                let name = names[&alias];
                // A definition found to be circular has become the error type, which uses nothing.
                let target = self.types.alias_target(alias).unwrap_or(Types::ERROR);
                open.insert(alias);
                let mut used = Vec::new();
                self.aliases_in(target, &mut used);
                let mut is_ready = true;
                for dependency in used {
                    if extents.contains_key(&dependency) {
                        continue;
                    }
                    if open.contains(&dependency) {
                        self.circular_type(name, names[&dependency]);
                        self.types.set_alias(alias, Types::ERROR);
                        break;
                    }
                    is_ready = false;
                    stack.push(dependency);
                }
                if !is_ready && stack.last() != Some(&alias) {
                    continue;
                }
                let extent = self.checked_extent(alias, name, &extents);
                extents.insert(alias, extent);
                open.remove(&alias);
                self.types.canonical(alias);
            }
        }
    }

    fn checked_extent(
        &mut self,
        alias: TypeId,
        name: ast::Name,
        extents: &FxHashMap<TypeId, Extent>,
    ) -> Extent {
        let target = self.types.alias_target(alias).unwrap_or(Types::ERROR);
        let extent = self.extent(target, extents);
        if extent.depth <= MAX_TYPE_DEPTH && extent.size <= MAX_TYPE_SIZE {
            return extent;
        }
        self.types.set_alias(alias, Types::ERROR);
        self.error(
            codes::NESTED_TOO_DEEP,
            name.span,
            format!("written out, this type has more than {MAX_TYPE_DEPTH} levels or {MAX_TYPE_SIZE} parts"),
        );
        Extent { depth: 1, size: 1 }
    }

    fn extent(&self, ty: TypeId, extents: &FxHashMap<TypeId, Extent>) -> Extent {
        let parts: Vec<TypeId> = match self.types.get(ty) {
            Type::Alias(_) => return extents.get(&ty).copied().unwrap_or(Extent { depth: 1, size: 1 }),
            Type::Seq(t) | Type::Set(t) => vec![*t],
            Type::Map(k, v) => vec![*k, *v],
            Type::Tuple(fields) => fields.clone(),
            Type::NamedTuple(fields) => fields.iter().map(|&(_, t)| t).collect(),
            _ => Vec::new(),
        };
        parts.into_iter().map(|part| self.extent(part, extents)).fold(
            Extent { depth: 1, size: 1 },
            |sum, part| Extent {
                depth: sum.depth.max(part.depth + 1),
                size: sum.size.saturating_add(part.size),
            },
        )
    }

    fn aliases_in(&self, ty: TypeId, found: &mut Vec<TypeId>) {
        match self.types.get(ty) {
            Type::Alias(_) => found.push(ty),
            Type::Seq(t) | Type::Set(t) => self.aliases_in(*t, found),
            Type::Map(k, v) => {
                self.aliases_in(*k, found);
                self.aliases_in(*v, found);
            }
            Type::Tuple(fields) => fields.iter().for_each(|&t| self.aliases_in(t, found)),
            Type::NamedTuple(fields) => fields.iter().for_each(|&(_, t)| self.aliases_in(t, found)),
            _ => {}
        }
    }

    fn circular_type(&mut self, name: ast::Name, through: ast::Name) {
        let text = self.text(name.symbol).to_owned();
        let mut diagnostic =
            Diagnostic::error(codes::CIRCULAR_TYPE, name.span, format!("the type `{text}` contains itself"));
        if through.span != name.span {
            diagnostic = diagnostic.also(through.span, "through this type");
        }
        self.report(diagnostic.help("P has no recursive types; keep a reference by index or key instead"));
    }

    /// Payloads, parameters, fields, and the signatures of functions.
    pub(super) fn resolve_signatures(&mut self) {
        for tree in self.trees {
            for decl in &tree.decls {
                match decl {
                    Decl::Event { name, payload: Some(payload) } => {
                        let ty = self.resolve_type(tree, *payload);
                        if let Some(&event) = self.globals.events.get(&name.symbol)
                            && self.events[event].span == name.span
                        {
                            self.events[event].payload = ty;
                        }
                    }
                    Decl::Interface { name, constructor: Some(constructor), .. } => {
                        let ty = self.resolve_type(tree, *constructor);
                        if let Some(&id) = self.globals.interfaces.get(&name.symbol)
                            && self.interfaces[id].span == name.span
                        {
                            self.interfaces[id].constructor = ty;
                        }
                    }
                    Decl::Param { names, ty } => {
                        let ty = self.resolve_type(tree, *ty);
                        for name in names {
                            if let Some(&id) = self.globals.params.get(&name.symbol)
                                && self.params[id].span == name.span
                            {
                                self.params[id].ty = ty;
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        for id in self.machines.ids() {
            let (tree, decl) = (self.machine_sources[id].tree, self.machine_sources[id].decl);
            for var in &decl.vars {
                let ty = self.resolve_type(tree, var.ty);
                self.check_not_param(var.name, "variable");
                if let Some(&field) = self.machine_sources[id].fields.get(&var.name.symbol)
                    && self.machines[id].fields[field].span == var.name.span
                {
                    self.machines[id].fields[field].ty = ty;
                }
            }
        }
        for id in self.functions.ids() {
            self.resolve_signature(id);
        }
    }

    /// Parameters become the first locals.
    pub(super) fn resolve_signature(&mut self, id: FunId) {
        let source = self.fun_sources[id];
        let mut seen: FxHashMap<Symbol, LocalId> = FxHashMap::default();
        for param in source.params {
            let ty = self.resolve_type(source.tree, param.ty);
            self.check_not_param(param.name, "parameter");
            if let Some(&first) = seen.get(&param.name.symbol) {
                let first = self.functions[id].locals[first].span;
                self.duplicate(param.name, "parameter", first);
            }
            let local = self.functions[id].locals.push(hir::Variable {
                name: param.name.symbol,
                span: param.name.span,
                ty,
            });
            seen.entry(param.name.symbol).or_insert(local);
        }
        let result = source.result.map_or(Types::NULL, |ty| self.resolve_type(source.tree, ty));
        self.functions[id].n_params = source.params.len();
        self.functions[id].result = result;
    }

    /// Global parameters are readable everywhere, so nothing else may take their name.
    pub(super) fn check_not_param(&mut self, name: ast::Name, kind: &str) {
        let Some(&param) = self.globals.params.get(&name.symbol) else { return };
        let text = self.text(name.symbol).to_owned();
        let first = self.params[param].span;
        self.report(
            Diagnostic::error(
                codes::PARAM_MISUSE,
                name.span,
                format!("the {kind} `{text}` has the name of a global parameter"),
            )
            .also(first, "the parameter")
            .help("choose another name"),
        );
    }

    /// Writes typedefs out everywhere in the finished program.
    pub(super) fn canonicalize_program(&mut self) {
        for i in 0..self.events.len() {
            let id = hir::EventId::new(i);
            self.events[id].payload = self.types.canonical(self.events[id].payload);
        }
        for i in 0..self.interfaces.len() {
            let id = hir::InterfaceId::new(i);
            self.interfaces[id].constructor = self.types.canonical(self.interfaces[id].constructor);
        }
        for i in 0..self.params.len() {
            let id = hir::ParamId::new(i);
            self.params[id].ty = self.types.canonical(self.params[id].ty);
        }
        for machine in self.machines.iter_mut() {
            machine.constructor = self.types.canonical(machine.constructor);
            for field in machine.fields.iter_mut() {
                field.ty = self.types.canonical(field.ty);
            }
        }
        for function in self.functions.iter_mut() {
            function.result = self.types.canonical(function.result);
            for local in function.locals.iter_mut() {
                local.ty = self.types.canonical(local.ty);
            }
            let Some(body) = &mut function.body else { continue };
            for expr in body.exprs.iter_mut() {
                expr.ty = self.types.canonical(expr.ty);
                if let hir::ExprKind::Default(ty) = &mut expr.kind {
                    *ty = self.types.canonical(*ty);
                }
            }
            for stmt in body.stmts.iter_mut() {
                let Some(place) = stmt.kind.place_mut() else { continue };
                place.ty = self.types.canonical(place.ty);
                place.root_ty = self.types.canonical(place.root_ty);
                for step in &mut place.path {
                    step.ty = self.types.canonical(step.ty);
                }
            }
        }
    }
}
