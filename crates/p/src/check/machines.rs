//! Machines, specs and scenarios: states, their actions, and the functions used as handlers.

use allways_base::{Diagnostic, Idx, Span};
use rustc_hash::FxHashMap;

use super::Checker;
use crate::codes;
use crate::hir::{self, Action, EventId, FunId, MachineId, MachineKind, StateId};
use crate::syntax::ast::{self, Handler, Member, Name, StateItemKind};
use crate::types::{Type, TypeId, Types};

/// The actions of one state, with the place of each. An action that is wrong in itself is `None`.
type Actions = FxHashMap<EventId, (Option<Action>, Span)>;

/// How a function is used; each use has rules of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Entry,
    Exit,
    Do,
    With,
}

impl Role {
    fn text(self) -> &'static str {
        match self {
            Role::Entry => "an entry function",
            Role::Exit => "an exit function",
            Role::Do => "an event handler",
            Role::With => "a transition function",
        }
    }
}

impl<'a> Checker<'a> {
    /// Resolves states, transitions and handlers, and registers handlers written in place.
    pub(super) fn check_machines(&mut self) {
        for id in self.machines.ids() {
            let decl = self.machine_sources[id].decl;
            let mut start: Option<(StateId, Span)> = None;
            for member in &decl.members {
                let Member::State(state) = member else { continue };
                let Some(&state_id) = self.machine_sources[id].states.get(&state.name.symbol) else {
                    continue;
                };
                // A second state of the same name was reported; its content is not looked at.
                if self.machines[id].states[state_id].span != state.name.span {
                    continue;
                }
                if let Some(span) = state.start {
                    match start {
                        None => start = Some((state_id, span)),
                        Some((_, first)) => self.report(
                            Diagnostic::error(codes::DUPLICATE_START, span, "there is only one start state")
                                .also(first, "the first start state"),
                        ),
                    }
                }
                self.check_state(id, state_id, state);
            }
            self.machines[id].start = start.map(|(state, _)| state);
            if start.is_none() && decl.kind == ast::MachineKind::Machine {
                let text = self.text(decl.name.symbol).to_owned();
                self.report(
                    Diagnostic::error(
                        codes::NO_START_STATE,
                        decl.name.span,
                        format!("the machine `{text}` has no start state"),
                    )
                    .help("write `start state` at the state in which the machine begins"),
                );
            }
            self.check_scenario(id);
        }
        for id in self.machines.ids() {
            self.set_constructor(id);
        }
    }

    fn check_scenario(&mut self, id: MachineId) {
        let machine = &self.machines[id];
        if machine.kind != MachineKind::Scenario {
            return;
        }
        let is_cold = |state: &hir::State| state.temperature == hir::Temperature::Cold;
        let span = machine.span;
        let message = if !machine.states.iter().any(is_cold) {
            "this scenario has no cold state, so it can never be covered"
        } else if machine.start.is_some_and(|start| is_cold(&machine.states[start])) {
            "this scenario starts in a cold state, which does not count as covering it"
        } else {
            return;
        };
        self.report(Diagnostic::warning(codes::SCENARIO_SHAPE, span, message));
    }

    /// The parameter of the start state's entry is what `new` takes.
    fn set_constructor(&mut self, id: MachineId) {
        let machine = &self.machines[id];
        let entry = machine.start.and_then(|start| machine.states[start].entry);
        let ty = entry.map_or(Types::NULL, |entry| self.handler_param(entry));
        self.machines[id].constructor = ty;
        if let Some(interface) = self.machines[id].interface {
            self.interfaces[interface].constructor = ty;
        }
    }

    /// The type of a handler's parameter, `Null` if it has none.
    pub(super) fn handler_param(&self, fun: FunId) -> TypeId {
        match self.functions[fun].n_params {
            0 => Types::NULL,
            _ => self.functions[fun].locals[hir::LocalId::new(0)].ty,
        }
    }

    fn check_state(&mut self, machine: MachineId, state_id: StateId, state: &'a ast::State) {
        let mut actions = Actions::default();
        let mut entry: Option<Span> = None;
        let mut exit: Option<Span> = None;
        for item in &state.items {
            match &item.kind {
                StateItemKind::Entry(handler) => {
                    let fun = self.handler(machine, handler, Role::Entry);
                    if let Some(first) = entry {
                        self.second_of(item.span, first, "entry");
                    } else {
                        entry = Some(item.span);
                        self.machines[machine].states[state_id].entry = fun;
                    }
                }
                StateItemKind::Exit(handler) => {
                    let fun = self.handler(machine, handler, Role::Exit);
                    if let Some(first) = exit {
                        self.second_of(item.span, first, "exit");
                    } else {
                        exit = Some(item.span);
                        self.machines[machine].states[state_id].exit = fun;
                    }
                }
                StateItemKind::Defer(events) => {
                    if self.machines[machine].is_monitor() {
                        self.report(
                            Diagnostic::error(
                                codes::FORBIDDEN_IN_SPEC,
                                item.span,
                                "a spec cannot defer events",
                            )
                            .note("a spec sees each event at the moment it is sent and has no queue")
                            .help("use `ignore` for events that do not matter in this state"),
                        );
                    }
                    self.add_actions(machine, events, Some(Action::Defer), &mut actions);
                }
                StateItemKind::Ignore(events) => {
                    self.add_actions(machine, events, Some(Action::Ignore), &mut actions)
                }
                StateItemKind::Do(events, handler) => {
                    self.check_null_in_spec(machine, events);
                    let fun = self.handler(machine, handler, Role::Do);
                    self.add_actions(machine, events, fun.map(Action::Do), &mut actions);
                }
                StateItemKind::Goto(events, target, with) => {
                    self.check_null_in_spec(machine, events);
                    let target = self.lookup_state(machine, *target);
                    let with = match with {
                        Some(handler) => self.handler(machine, handler, Role::With).map(Some),
                        None => Some(None),
                    };
                    let action = target.zip(with).map(|(target, with)| Action::Goto(target, with));
                    self.add_actions(machine, events, action, &mut actions);
                }
            }
        }
        let mut actions: Vec<_> =
            actions.iter().filter_map(|(&event, &(action, _))| Some((event, action?))).collect();
        actions.sort_by_key(|&(event, _)| event);
        self.machines[machine].states[state_id].actions = actions;
    }

    fn second_of(&mut self, span: Span, first: Span, what: &str) {
        self.report(
            Diagnostic::error(codes::DUPLICATE_ENTRY, span, format!("a state has at most one `{what}`"))
                .also(first, "the first one"),
        );
    }

    pub(super) fn lookup_state(&mut self, machine: MachineId, name: Name) -> Option<StateId> {
        let found = self.machine_sources[machine].states.get(&name.symbol).copied();
        if found.is_none() {
            let candidates = self.candidates(self.machine_sources[machine].states.keys());
            self.unknown(codes::UNKNOWN_STATE, name, "state", candidates);
        }
        found
    }

    fn check_null_in_spec(&mut self, machine: MachineId, events: &[ast::EventRef]) {
        if !self.machines[machine].is_monitor() {
            return;
        }
        for event in events.iter().filter(|event| event.kind == ast::EventRefKind::Null) {
            self.report(
                Diagnostic::error(codes::FORBIDDEN_IN_SPEC, event.span, "a spec cannot handle `null`").note(
                    "`on null` runs when no message can be taken from the queue, and a spec has no queue",
                ),
            );
        }
    }

    fn add_actions(
        &mut self,
        machine: MachineId,
        events: &[ast::EventRef],
        action: Option<Action>,
        actions: &mut Actions,
    ) {
        for &event_ref in events {
            let Some(event) = self.lookup_event(event_ref) else { continue };
            if let Some(&(_, first)) = actions.get(&event) {
                let text = self.event_name(event).to_owned();
                self.report(
                    Diagnostic::error(
                        codes::DUPLICATE_ACTION,
                        event_ref.span,
                        format!("this state already handles, defers or ignores `{text}`"),
                    )
                    .also(first, "here")
                    .help("keep one of the two"),
                );
                continue;
            }
            if self.machines[machine].is_monitor()
                && event != EventId::NULL
                && !self.machines[machine].observes.contains(event)
            {
                let (event, spec) = (self.event_name(event), self.text(self.machines[machine].name));
                let message = format!("`{spec}` handles `{event}` but does not observe it");
                let observes = self.machines[machine].span;
                self.report(
                    Diagnostic::warning(codes::UNOBSERVED_EVENT, event_ref.span, message)
                        .label("never happens")
                        .also(observes, "add the event to `observes` here"),
                );
            }
            actions.insert(event, (action, event_ref.span));
        }
    }

    /// The function of a handler: written in place, or named in the machine.
    fn handler(&mut self, machine: MachineId, handler: &'a Handler, role: Role) -> Option<FunId> {
        match handler {
            Handler::Anonymous(fun) => {
                let tree = self.machine_sources[machine].tree;
                let id = self.add_anonymous(tree, fun, machine);
                self.resolve_signature(id);
                Some(id)
            }
            Handler::Named(name) => self.named_handler(machine, *name, role),
        }
    }

    fn named_handler(&mut self, machine: MachineId, name: Name, role: Role) -> Option<FunId> {
        let text = self.text(name.symbol).to_owned();
        let Some(&fun) = self.machine_sources[machine].functions.get(&name.symbol) else {
            if let Some(&global) = self.globals.functions.get(&name.symbol) {
                let declared = self.functions[global].span;
                self.report(
                    Diagnostic::error(
                        codes::BAD_HANDLER,
                        name.span,
                        format!("the global function `{text}` cannot be {}", role.text()),
                    )
                    .also(declared, "declared outside of the machine")
                    .help(format!("write `{{ {text}(...); }}`, or declare the function inside the machine")),
                );
                return None;
            }
            let candidates = self.candidates(self.machine_sources[machine].functions.keys());
            self.unknown(codes::UNKNOWN_FUNCTION, name, "function", candidates);
            return None;
        };
        let declared = self.functions[fun].span;
        if self.fun_sources[fun].body.is_none() {
            self.report(
                Diagnostic::error(
                    codes::BAD_HANDLER,
                    name.span,
                    format!("the foreign function `{text}` cannot be {}", role.text()),
                )
                .also(declared, "it has no body in P")
                .help(format!("write `{{ {text}(...); }}`")),
            );
            return None;
        }
        let max_params = usize::from(role != Role::Exit);
        let n_params = self.fun_sources[fun].params.len();
        if n_params > max_params {
            let allowed = if max_params == 0 { "no parameter" } else { "at most one parameter" };
            self.report(
                Diagnostic::error(
                    codes::BAD_HANDLER,
                    name.span,
                    format!("{} has {allowed}, but `{text}` has {n_params}", role.text()),
                )
                .also(declared, "declared here"),
            );
            return None;
        }
        Some(fun)
    }

    /// Whether the payloads of events fit the parameters of what handles them.
    pub(super) fn check_handlers(&mut self) {
        for machine in self.machines.ids() {
            for state in self.machines[machine].states.ids() {
                let actions = self.machines[machine].states[state].actions.clone();
                for (event, action) in actions {
                    match action {
                        Action::Defer | Action::Ignore => {}
                        Action::Do(fun) => self.check_payload_fits(machine, state, event, fun),
                        Action::Goto(target, with) => {
                            if let Some(with) = with {
                                self.check_payload_fits(machine, state, event, with);
                            }
                            if let Some(entry) = self.machines[machine].states[target].entry {
                                self.check_payload_reaches(machine, state, event, target, entry);
                            }
                        }
                    }
                }
            }
        }
    }

    /// Whether a handler parameter takes the payload of an event. A tuple with one field may also be taken by a
    /// parameter of the type of that field (P lets it pass, and fails at run time).
    fn payload_fits(&mut self, event: EventId, fun: FunId) -> bool {
        if self.functions[fun].n_params == 0 {
            return true;
        }
        let (param, payload) = (self.handler_param(fun), self.events[event].payload);
        if self.types.accepts(param, payload) {
            return true;
        }
        match self.types.shape(payload) {
            Type::Tuple(fields) if fields.len() == 1 => self.types.accepts(param, fields[0]),
            _ => false,
        }
    }

    fn check_payload_fits(&mut self, machine: MachineId, state: StateId, event: EventId, fun: FunId) {
        if self.payload_fits(event, fun) {
            return;
        }
        let param = self.functions[fun].locals[hir::LocalId::new(0)].span;
        // A named function may be right for others: then the use is what is wrong.
        let diagnostic = match self.functions[fun].name {
            None => {
                let message = self.payload_message(event, "this handler takes", fun);
                Diagnostic::error(codes::PAYLOAD_MISMATCH, param, message)
            }
            Some(name) => {
                let takes = format!("`{}` takes", self.text(name));
                let message = self.payload_message(event, &takes, fun);
                let span = self.event_span(machine, state, event);
                Diagnostic::error(codes::PAYLOAD_MISMATCH, span, message).also(param, "taken here")
            }
        };
        self.report_payload(event, diagnostic);
    }

    fn check_payload_reaches(
        &mut self,
        machine: MachineId,
        state: StateId,
        event: EventId,
        target: StateId,
        entry: FunId,
    ) {
        if self.payload_fits(event, entry) {
            return;
        }
        let target_name = self.text(self.machines[machine].states[target].name).to_owned();
        let message = self.payload_message(event, &format!("the entry of `{target_name}` takes"), entry);
        // Point at the transition: the entry may be right for others.
        let span = self.event_span(machine, state, event);
        let param = self.functions[entry].locals[hir::LocalId::new(0)].span;
        let diagnostic = Diagnostic::error(codes::PAYLOAD_MISMATCH, span, message).also(param, "taken here");
        self.report_payload(event, diagnostic);
    }

    /// Where a state says what it does with an event.
    fn event_span(&self, machine: MachineId, state: StateId, event: EventId) -> Span {
        let source = &self.machine_sources[machine];
        let name = self.machines[machine].states[state].span;
        let is_event = |event_ref: &&ast::EventRef| match event_ref.kind {
            ast::EventRefKind::Null => event == EventId::NULL,
            ast::EventRefKind::Halt => event == EventId::HALT,
            ast::EventRefKind::Named(symbol) => self.globals.events.get(&symbol) == Some(&event),
        };
        for member in &source.decl.members {
            let Member::State(decl) = member else { continue };
            if decl.name.span != name {
                continue;
            }
            for item in &decl.items {
                if let StateItemKind::Goto(events, _, _) | StateItemKind::Do(events, _) = &item.kind
                    && let Some(found) = events.iter().find(is_event)
                {
                    return found.span;
                }
            }
        }
        name
    }

    fn payload_message(&mut self, event: EventId, takes: &str, fun: FunId) -> String {
        let param = self.handler_param(fun);
        let (param, event_name) = (self.show(param), self.event_name(event).to_owned());
        let payload = self.events[event].payload;
        if payload == Types::NULL {
            format!("`{event_name}` carries nothing, but {takes} `{param}`")
        } else {
            format!("`{event_name}` carries `{}`, but {takes} `{param}`", self.show(payload))
        }
    }

    fn report_payload(&mut self, event: EventId, mut diagnostic: Diagnostic) {
        let declared = self.events[event].span;
        if event != EventId::NULL && event != EventId::HALT {
            diagnostic = diagnostic.also(declared, "the event");
        }
        self.report(diagnostic);
    }
}
