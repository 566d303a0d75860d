//! Module expressions: which machine stands behind which interface, and which specs watch.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use allways_base::{Diagnostic, Span, Symbol};
use rustc_hash::FxHashMap;

use super::Checker;
use crate::codes;
use crate::hir::{InterfaceId, MachineId, MachineKind, System};
use crate::syntax::ast::{self, Decl, ModuleId, ModuleKind, Name};
use crate::types::{EventSet, Types};

/// Modules that name modules may nest this deep.
const MAX_MODULE_DEPTH: usize = 200;

/// How a program without tests is called in messages.
pub(super) const DEFAULT_PROGRAM: &str = "the program";

/// What a module expression stands for.
#[derive(Clone, Default)]
pub(super) struct ModuleValue {
    pub bindings: BTreeMap<InterfaceId, MachineId>,
    /// Creations that mean another interface than the one written, after renaming.
    links: BTreeMap<(InterfaceId, InterfaceId), InterfaceId>,
    monitors: Vec<(MachineId, Vec<InterfaceId>)>,
    sends: EventSet,
    receives: EventSet,
    pub creates: BTreeSet<InterfaceId>,
    /// A part of it was wrong and is missing: what does not fit now is not worth a word.
    pub is_broken: bool,
}

impl ModuleValue {
    fn broken() -> Self {
        ModuleValue { is_broken: true, ..ModuleValue::default() }
    }

    pub fn into_system(self) -> System {
        System {
            bindings: self.bindings.into_iter().collect(),
            links: self.links.into_iter().collect(),
            monitors: self.monitors,
        }
    }
}

/// Values of named modules: computed once; `None` while it is being computed.
#[derive(Default)]
pub(super) struct ModuleCache {
    values: FxHashMap<Symbol, Option<Rc<ModuleValue>>>,
    depth: usize,
}

impl<'a> Checker<'a> {
    /// Evaluates every declared module, used or not, so that mistakes in all of them show.
    pub(super) fn check_modules(&mut self, cache: &mut ModuleCache) {
        for (tree_idx, tree) in self.trees.iter().enumerate() {
            if self.is_foreign_supply(tree_idx) {
                continue;
            }
            for decl in &tree.decls {
                if let Decl::Module { name, .. } = decl {
                    self.named_module(cache, *name);
                }
            }
        }
    }

    fn named_module(&mut self, cache: &mut ModuleCache, name: Name) -> Option<Rc<ModuleValue>> {
        let Some(&(tree_idx, module, declared)) = self.globals.modules.get(&name.symbol) else {
            let candidates = self.candidates(self.globals.modules.keys());
            self.unknown(codes::UNKNOWN_MODULE, name, "module", candidates);
            return None;
        };
        match cache.values.get(&name.symbol) {
            Some(Some(value)) => return Some(value.clone()),
            Some(None) => {
                let text = self.text(name.symbol).to_owned();
                self.report(
                    Diagnostic::error(
                        codes::CIRCULAR_MODULE,
                        name.span,
                        format!("the module `{text}` contains itself"),
                    )
                    .also(declared, "declared here"),
                );
                return None;
            }
            None => {}
        }
        if cache.depth >= MAX_MODULE_DEPTH {
            self.error(
                codes::NESTED_TOO_DEEP,
                name.span,
                format!("modules name each other more than {MAX_MODULE_DEPTH} levels deep"),
            );
            return None;
        }
        cache.values.insert(name.symbol, None);
        cache.depth += 1;
        let value = self.module(cache, &self.trees[tree_idx], module);
        cache.depth -= 1;
        // What is wrong with it is reported once, not at each use.
        let value = Rc::new(value.unwrap_or_else(ModuleValue::broken));
        cache.values.insert(name.symbol, Some(value.clone()));
        Some(value)
    }

    pub(super) fn module(
        &mut self,
        cache: &mut ModuleCache,
        tree: &'a ast::Tree,
        id: ModuleId,
    ) -> Option<ModuleValue> {
        let ast::Module { kind, span } = &tree.modules[id];
        match kind {
            ModuleKind::Primitive(bindings) => Some(self.primitive(bindings)),
            ModuleKind::Named(symbol) => {
                let value = self.named_module(cache, Name { symbol: *symbol, span: *span })?;
                Some(ModuleValue::clone(&value))
            }
            ModuleKind::Union(parts) => self.union(cache, tree, parts, false),
            ModuleKind::Compose(parts) => self.union(cache, tree, parts, true),
            ModuleKind::Assert(specs, inner) => {
                let value = self.module(cache, tree, *inner)?;
                Some(self.attach_specs(specs, value))
            }
            ModuleKind::Main(machine, inner) => {
                // P ignores the main machine of a module altogether.
                if !self.globals.machines.contains_key(&machine.symbol) {
                    let text = self.text(machine.symbol).to_owned();
                    self.report(
                        Diagnostic::warning(
                            codes::BAD_MAIN,
                            machine.span,
                            format!("there is no machine `{text}`"),
                        )
                        .note("`main` in a module is ignored; the test says which machine starts"),
                    );
                }
                self.module(cache, tree, *inner)
            }
            ModuleKind::Rename(from, to, inner) => {
                let value = self.module(cache, tree, *inner)?;
                self.rename(*from, *to, value)
            }
            ModuleKind::HideInterfaces(names, inner) => {
                let value = self.module(cache, tree, *inner)?;
                for &name in names {
                    let Some(interface) = self.lookup_interface(name) else { continue };
                    let is_hidden =
                        value.creates.contains(&interface) && value.bindings.contains_key(&interface);
                    if !is_hidden && !value.is_broken {
                        let text = self.text(name.symbol).to_owned();
                        self.report(Diagnostic::error(
                            codes::MODULE_CONFLICT,
                            name.span,
                            format!("`{text}` cannot be hidden: the module must both bind and create it"),
                        ));
                    }
                }
                Some(value)
            }
            ModuleKind::HideEvents(events, inner) => {
                for &event in events {
                    self.lookup_event(event);
                }
                self.module(cache, tree, *inner);
                self.report(
                    Diagnostic::error(codes::UNSUPPORTED_MODULE, *span, "`hidee` is not supported")
                        .note("the compiler of P fails on every use of it, too")
                        .help("remove it: hiding events does not change what a closed program does"),
                );
                None
            }
        }
    }

    pub(super) fn lookup_machine(&mut self, name: Name) -> Option<MachineId> {
        let found = self.globals.machines.get(&name.symbol).copied();
        match found {
            Some(id) if self.machines[id].kind == MachineKind::Machine => Some(id),
            Some(_) => {
                let text = self.text(name.symbol).to_owned();
                self.report(
                    Diagnostic::error(
                        codes::UNKNOWN_INTERFACE,
                        name.span,
                        format!("`{text}` is a spec, not a machine"),
                    )
                    .help("attach specs with `assert SPEC in MODULE`"),
                );
                None
            }
            None => {
                let candidates = self.candidates(self.globals.machines.keys());
                self.unknown(codes::UNKNOWN_INTERFACE, name, "machine", candidates);
                None
            }
        }
    }

    fn primitive(&mut self, bindings: &[(Name, Option<Name>)]) -> ModuleValue {
        let mut value = ModuleValue::default();
        let mut places: FxHashMap<InterfaceId, Span> = FxHashMap::default();
        for &(machine_name, interface_name) in bindings {
            let machine = self.lookup_machine(machine_name);
            let shown = interface_name.unwrap_or(machine_name);
            let interface = match interface_name {
                Some(name) => self.lookup_interface(name),
                None => machine.and_then(|machine| self.machines[machine].interface),
            };
            let (Some(machine), Some(interface)) = (machine, interface) else {
                value.is_broken = true;
                continue;
            };
            if let Some(first) = places.insert(interface, shown.span) {
                let text = self.text(shown.symbol).to_owned();
                self.report(
                    Diagnostic::error(codes::MODULE_CONFLICT, shown.span, format!("`{text}` is bound twice"))
                        .also(first, "bound here first"),
                );
                continue;
            }
            self.check_implements(machine, interface, shown.span);
            value.bindings.insert(interface, machine);
            let machine = &self.machines[machine];
            value.sends.union(&machine.sends);
            value.receives.union(&machine.receives);
            value.creates.extend(&machine.creates);
        }
        value
    }

    fn check_implements(&mut self, machine: MachineId, interface: InterfaceId, span: Span) {
        let names = (self.text(self.machines[machine].name), self.text(self.interfaces[interface].name));
        let (machine_text, interface_text) = (names.0.to_owned(), names.1.to_owned());
        let missing = self.interfaces[interface]
            .receives
            .iter()
            .find(|&event| !self.machines[machine].receives.contains(event));
        if let Some(event) = missing {
            let event = self.event_name(event).to_owned();
            self.report(Diagnostic::error(
                codes::BINDING_MISMATCH,
                span,
                format!("`{machine_text}` does not receive `{event}`, which `{interface_text}` promises"),
            ));
        }
        let (to, from) = (self.machines[machine].constructor, self.interfaces[interface].constructor);
        if !self.types.accepts(to, from) {
            let words = |this: &Self, ty| match ty {
                Types::NULL => "nothing".to_owned(),
                ty => format!("`{}`", this.show(ty)),
            };
            let (to, from) = (words(self, to), words(self, from));
            self.report(Diagnostic::error(
                codes::BINDING_MISMATCH,
                span,
                format!("`{interface_text}` is created with {from}, but `{machine_text}` takes {to}"),
            ));
        }
    }

    fn union(
        &mut self,
        cache: &mut ModuleCache,
        tree: &'a ast::Tree,
        parts: &[ModuleId],
        is_compose: bool,
    ) -> Option<ModuleValue> {
        let values: Vec<(Option<ModuleValue>, Span)> =
            parts.iter().map(|&part| (self.module(cache, tree, part), tree.modules[part].span)).collect();
        let mut all = ModuleValue::default();
        let mut is_complete = true;
        for (value, span) in values {
            let Some(value) = value else {
                is_complete = false;
                continue;
            };
            self.check_union(&all, &value, span, is_compose);
            all.bindings.extend(value.bindings);
            all.links.extend(value.links);
            all.monitors.extend(value.monitors);
            all.sends.union(&value.sends);
            all.receives.union(&value.receives);
            all.creates.extend(value.creates);
            all.is_broken |= value.is_broken;
        }
        is_complete.then_some(all)
    }

    fn check_union(&mut self, all: &ModuleValue, part: &ModuleValue, span: Span, is_compose: bool) {
        let conflict = |this: &mut Self, message: String| {
            this.report(Diagnostic::error(codes::MODULE_CONFLICT, span, message));
        };
        if let Some(&interface) = part.bindings.keys().find(|interface| all.bindings.contains_key(interface))
        {
            let text = self.text(self.interfaces[interface].name).to_owned();
            conflict(self, format!("`{text}` is bound by two of these modules"));
        }
        if let Some(&(spec, _)) =
            part.monitors.iter().find(|(spec, _)| all.monitors.iter().any(|(other, _)| other == spec))
        {
            let text = self.text(self.machines[spec].name).to_owned();
            conflict(self, format!("the spec `{text}` is attached to two of these modules"));
        }
        if !is_compose {
            return;
        }
        let shared_event = part.sends.iter().find(|&event| all.sends.contains(event));
        if let Some(event) = shared_event {
            let text = self.event_name(event).to_owned();
            self.report(
                Diagnostic::error(
                    codes::MODULE_CONFLICT,
                    span,
                    format!("`compose` wants modules that send different events, but two send `{text}`"),
                )
                .note("a machine without `sends` clause may send every event")
                .help("use `union`"),
            );
        }
        if let Some(&interface) = part.creates.iter().find(|interface| all.creates.contains(interface)) {
            let text = self.text(self.interfaces[interface].name).to_owned();
            self.report(
                Diagnostic::error(
                    codes::MODULE_CONFLICT,
                    span,
                    format!(
                        "`compose` wants modules that create different machines, but two create `{text}`"
                    ),
                )
                .help("use `union`"),
            );
        }
    }

    fn attach_specs(&mut self, specs: &[Name], mut value: ModuleValue) -> ModuleValue {
        let interfaces: Vec<InterfaceId> = value.bindings.keys().copied().collect();
        for &name in specs {
            let spec = self.globals.machines.get(&name.symbol).copied();
            if spec.is_some_and(|spec| !self.machines[spec].is_monitor()) {
                let text = self.text(name.symbol).to_owned();
                self.report(
                    Diagnostic::error(
                        codes::UNKNOWN_SPEC,
                        name.span,
                        format!("`{text}` is a machine, not a spec"),
                    )
                    .help("name specs after `assert`, and bind machines in `{ ... }`"),
                );
                continue;
            }
            let Some(spec) = spec else {
                let candidates = self.monitor_names();
                self.unknown(codes::UNKNOWN_SPEC, name, "spec", candidates);
                continue;
            };
            let text = self.text(name.symbol).to_owned();
            if value.monitors.iter().any(|&(other, _)| other == spec) {
                self.report(Diagnostic::error(
                    codes::MODULE_CONFLICT,
                    name.span,
                    format!("the spec `{text}` is attached twice"),
                ));
                continue;
            }
            let unsent = self.machines[spec].observes.iter().find(|&event| !value.sends.contains(event));
            if let Some(event) = unsent
                && !value.is_broken
            {
                let event = self.event_name(event).to_owned();
                self.report(
                    Diagnostic::error(
                        codes::MODULE_CONFLICT,
                        name.span,
                        format!("`{text}` observes `{event}`, which no machine of the module sends"),
                    )
                    .help("add the event to a `sends` clause, or attach the spec to a larger module"),
                );
                continue;
            }
            value.monitors.push((spec, interfaces.clone()));
        }
        value
    }

    fn monitor_names(&self) -> Vec<Symbol> {
        self.machines.iter().filter(|machine| machine.is_monitor()).map(|machine| machine.name).collect()
    }

    fn rename(&mut self, from_name: Name, to_name: Name, value: ModuleValue) -> Option<ModuleValue> {
        let from = self.lookup_interface(from_name);
        let to = self.lookup_interface(to_name);
        let (from, to) = (from?, to?);
        let (from_text, to_text) =
            (self.text(from_name.symbol).to_owned(), self.text(to_name.symbol).to_owned());
        let wrong = |this: &mut Self, span, message: String| {
            this.report(Diagnostic::error(codes::MODULE_CONFLICT, span, message));
        };
        if self.interfaces[from].receives != self.interfaces[to].receives {
            wrong(
                self,
                to_name.span,
                format!("`{from_text}` and `{to_text}` do not receive the same events"),
            );
            return None;
        }
        let has = |interface| value.creates.contains(&interface) || value.bindings.contains_key(&interface);
        if value.is_broken {
            return None;
        }
        if !has(from) {
            wrong(self, from_name.span, format!("the module neither binds nor creates `{from_text}`"));
            return None;
        }
        if has(to) {
            wrong(self, to_name.span, format!("the module already has `{to_text}`"));
            return None;
        }
        let renamed = |interface: InterfaceId| if interface == from { to } else { interface };
        let mut links = BTreeMap::new();
        // Machines in the module still say `new from`; from now on that means `to`.
        for (&interface, &machine) in &value.bindings {
            for &created in &self.machines[machine].creates {
                let actual = value.links.get(&(interface, created)).copied().unwrap_or(created);
                if renamed(actual) != created {
                    links.insert((renamed(interface), created), renamed(actual));
                }
            }
        }
        Some(ModuleValue {
            bindings: value.bindings.into_iter().map(|(interface, m)| (renamed(interface), m)).collect(),
            links,
            monitors: value
                .monitors
                .into_iter()
                .map(|(spec, watched)| (spec, watched.into_iter().map(renamed).collect()))
                .collect(),
            creates: value.creates.into_iter().map(renamed).collect(),
            sends: value.sends,
            receives: value.receives,
            is_broken: value.is_broken,
        })
    }

    /// Reports interfaces that are created but not bound.
    pub(super) fn check_closed(&mut self, value: &ModuleValue, span: Span, what: &str) -> bool {
        let missing: Vec<String> = value
            .creates
            .iter()
            .filter(|interface| !value.bindings.contains_key(interface))
            .take(10)
            .map(|&interface| format!("`{}`", self.text(self.interfaces[interface].name)))
            .collect();
        if missing.is_empty() || value.is_broken {
            return true;
        }
        let missing = missing.join(", ");
        let (message, help) = match what {
            DEFAULT_PROGRAM => (
                format!("the program creates {missing}, but nothing says which machine that is"),
                "declare a test whose module binds a machine to it",
            ),
            _ => (
                format!("{what} creates {missing}, which its module does not bind"),
                "add the machine to the module expression",
            ),
        };
        self.report(Diagnostic::error(codes::NOT_CLOSED, span, message).help(help));
        false
    }

    /// The module of a program without tests: every machine as itself, every spec watching everything.
    pub(super) fn default_module(&self) -> ModuleValue {
        let mut value = ModuleValue::default();
        for (id, machine) in self.machines.iter_ids() {
            if let Some(interface) = machine.interface {
                value.bindings.insert(interface, id);
                value.creates.extend(&machine.creates);
            }
        }
        let interfaces: Vec<InterfaceId> = value.bindings.keys().copied().collect();
        value.monitors = self
            .machines
            .iter_ids()
            .filter(|(_, machine)| machine.kind == MachineKind::Spec)
            .map(|(id, _)| (id, interfaces.clone()))
            .collect();
        value
    }

    /// Scenarios watch every test.
    pub(super) fn attach_scenarios(&self, value: &mut ModuleValue) {
        let interfaces: Vec<InterfaceId> = value.bindings.keys().copied().collect();
        for (id, machine) in self.machines.iter_ids() {
            let is_attached = value.monitors.iter().any(|&(other, _)| other == id);
            if machine.kind == MachineKind::Scenario && !is_attached {
                value.monitors.push((id, interfaces.clone()));
            }
        }
    }

    /// Whether a machine can start a test: nothing is passed to it.
    pub(super) fn takes_nothing(&mut self, machine: MachineId) -> bool {
        let constructor = self.machines[machine].constructor;
        self.types.same(constructor, Types::NULL)
    }
}
