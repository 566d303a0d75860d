//! What functions may do through the functions they call, and where that is forbidden.

use allways_base::{Diagnostic, Idx, IndexVec, Span, Symbol};

use super::Checker;
use crate::codes;
use crate::hir::{self, Action, Effects, ExprKind, FunId, InterfaceId, StmtKind};
use crate::syntax::ast::{Handler, Member, StateItemKind};

impl Checker<'_> {
    /// Carries effects from callees to callers until nothing changes.
    pub(super) fn propagate_effects(&mut self) {
        let mut callers: IndexVec<FunId, Vec<FunId>> = self.functions.ids().map(|_| Vec::new()).collect();
        for (caller, function) in self.functions.iter_ids() {
            for &callee in &function.callees {
                callers[callee].push(caller);
            }
        }
        let mut work: Vec<FunId> =
            self.functions.ids().filter(|&f| self.functions[f].effects != Effects::default()).collect();
        while let Some(callee) = work.pop() {
            let effects = self.functions[callee].effects;
            for &caller in &callers[callee] {
                let before = self.functions[caller].effects;
                let after = before.union(effects);
                if after != before {
                    self.functions[caller].effects = after;
                    work.push(caller);
                }
            }
        }
    }

    pub(super) fn check_effects(&mut self) {
        self.check_monitor_calls();
        self.check_transition_functions();
    }

    /// A spec may not call global functions that do what a spec must not. (Its own functions were checked
    /// statement by statement.)
    fn check_monitor_calls(&mut self) {
        for fun in self.functions.ids() {
            let owner = self.functions[fun].owner;
            if !owner.is_some_and(|owner| self.machines[owner].is_monitor()) {
                continue;
            }
            for i in 0..self.functions[fun].callees.len() {
                let callee = self.functions[fun].callees[i];
                let effects = self.functions[callee].effects;
                let what = match effects {
                    _ if self.functions[callee].owner.is_some() => continue,
                    Effects { sends: true, .. } => "sends or announces",
                    Effects { creates: true, .. } => "creates machines",
                    Effects { receives: true, .. } => "receives",
                    Effects { nondet: true, .. } => "makes choices",
                    _ => continue,
                };
                let name = self.function_name(callee);
                let span = self.call_span(fun, callee);
                let declared = self.functions[callee].span;
                self.report(
                    Diagnostic::error(
                        codes::FORBIDDEN_IN_SPEC,
                        span,
                        format!("a spec cannot call `{name}`, which {what}"),
                    )
                    .also(declared, "declared here")
                    .note(
                        "specs only observe: they may use variables, change state, raise events and assert",
                    ),
                );
            }
        }
    }

    /// Exit and `with` functions run in the middle of a transition and must not begin another.
    fn check_transition_functions(&mut self) {
        let mut uses: Vec<(FunId, &str)> = Vec::new();
        for machine in &self.machines {
            for state in &machine.states {
                uses.extend(state.exit.map(|exit| (exit, "an exit function")));
                for &(_, action) in &state.actions {
                    if let Action::Goto(_, Some(with)) = action {
                        uses.push((with, "a transition function"));
                    }
                }
            }
        }
        uses.sort_unstable();
        uses.dedup();
        for (fun, role) in uses {
            let effects = self.functions[fun].effects;
            if !effects.gotos && !effects.raises {
                continue;
            }
            let what = if effects.gotos { "change the state" } else { "raise an event" };
            let escape = self.escape_span(fun);
            let message = format!("{role} cannot {what}");
            // A named function may be right for other uses: then the use is what is wrong.
            let diagnostics = match self.functions[fun].name {
                None => vec![Diagnostic::error(codes::ESCAPES_TRANSITION, escape, message)],
                Some(name) => {
                    let uses = self.transition_uses(fun, name, role == "an exit function");
                    let at = |span| {
                        Diagnostic::error(codes::ESCAPES_TRANSITION, span, message.clone())
                            .also(escape, "the state changes or an event is raised here")
                    };
                    uses.into_iter().map(at).collect()
                }
            };
            for diagnostic in diagnostics {
                self.report(
                    diagnostic
                        .note("it runs while the machine is already on its way to another state")
                        .help("do this in the entry of the target state"),
                );
            }
        }
    }

    /// Where a named function stands as exit or transition function of its machine.
    fn transition_uses(&self, fun: FunId, name: Symbol, is_exit: bool) -> Vec<Span> {
        let Some(owner) = self.functions[fun].owner else { return Vec::new() };
        let mut spans = Vec::new();
        for member in &self.machine_sources[owner].decl.members {
            let Member::State(state) = member else { continue };
            for item in &state.items {
                let used = match &item.kind {
                    StateItemKind::Exit(Handler::Named(used)) if is_exit => used,
                    StateItemKind::Goto(_, _, Some(Handler::Named(used))) if !is_exit => used,
                    _ => continue,
                };
                if used.symbol == name {
                    spans.push(used.span);
                }
            }
        }
        spans
    }

    fn function_name(&self, fun: FunId) -> String {
        self.functions[fun].name.map_or("anonymous function", |name| self.symbols.text(name)).to_owned()
    }

    fn call_span(&self, caller: FunId, callee: FunId) -> Span {
        let function = &self.functions[caller];
        let calls = function.body.iter().flat_map(|body| body.exprs.iter());
        calls
            .filter(|expr| matches!(expr.kind, ExprKind::Call(fun, _) if fun == callee))
            .map(|expr| expr.span)
            .next()
            .unwrap_or(function.span)
    }

    /// The raise, goto or call by which a function leaves its handler.
    fn escape_span(&self, fun: FunId) -> Span {
        let function = &self.functions[fun];
        let Some(body) = &function.body else { return function.span };
        let direct = body
            .stmts
            .iter()
            .find(|stmt| matches!(stmt.kind, StmtKind::Raise { .. } | StmtKind::Goto { .. }))
            .map(|stmt| stmt.span);
        let escapes = |&callee: &FunId| {
            let effects = self.functions[callee].effects;
            effects.gotos || effects.raises
        };
        direct
            .or_else(|| {
                function.callees.iter().copied().find(escapes).map(|callee| self.call_span(fun, callee))
            })
            .unwrap_or(function.span)
    }

    /// The interfaces that each machine may create, itself or through functions it calls.
    pub(super) fn infer_creates(&mut self) {
        let direct: IndexVec<FunId, Vec<InterfaceId>> = self.functions.iter().map(direct_creates).collect();
        for machine in self.machines.ids() {
            let mut seen = vec![false; self.functions.len()];
            let mut work = self.machines[machine].functions.clone();
            let mut creates = Vec::new();
            while let Some(fun) = work.pop() {
                if std::mem::replace(&mut seen[fun.index()], true) {
                    continue;
                }
                creates.extend(&direct[fun]);
                work.extend(&self.functions[fun].callees);
            }
            creates.sort_unstable();
            creates.dedup();
            self.machines[machine].creates = creates;
        }
    }
}

fn direct_creates(function: &hir::Function) -> Vec<InterfaceId> {
    let mut creates = function.foreign_creates.clone();
    for expr in function.body.iter().flat_map(|body| body.exprs.iter()) {
        if let ExprKind::New(interface, _) = expr.kind {
            creates.push(interface);
        }
    }
    creates.sort_unstable();
    creates.dedup();
    creates
}
