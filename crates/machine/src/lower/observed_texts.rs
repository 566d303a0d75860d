//! Texts of machines that a run can depend on.
//!
//! `format("{0}", this)` is `Main(1)`, with the number of the creation in the run. As long as such a text is only printed, stored and sent,
//! it may stand for any number, and strings hold the path of the machine instead, which does not depend on the interleaving
//! (`value::text`). Where it may be compared, ordered, or used as a key or an element of a set, its letters matter. This analysis
//! finds such places: it follows texts through variables, payloads, parameters and results, without regard to
//! order or to the parts of a value. Too many places are sound; too few would be wrong.

use allways_base::{Idx, Span};
use allways_p::hir::{self, BinaryOp, ExprId, ExprKind, PathKind, PlaceRoot, StmtKind, Type, TypeId};
use rustc_hash::FxHashMap;

use super::function::has_machines;

/// The first place, in order of the sources, at which a run of the test may depend on the text of a machine.
pub(super) fn observed_text(program: &hir::Program, test: &hir::Test) -> Option<Span> {
    let mut is_here = vec![false; program.machines.len()];
    for &(_, machine) in &test.system.bindings {
        is_here[machine.index()] = true;
    }
    for (machine, _) in &test.system.monitors {
        is_here[machine.index()] = true;
    }
    let mut flow = Flow {
        program,
        locals: program.functions.iter().map(|function| vec![false; function.locals.len()]).collect(),
        results: vec![false; program.functions.len()],
        fields: program.machines.iter().map(|machine| vec![false; machine.fields.len()]).collect(),
        events: vec![false; program.events.len()],
        transitions: false,
        observed: None,
        changed: true,
        has_text: FxHashMap::default(),
    };
    while std::mem::take(&mut flow.changed) {
        for (id, machine) in program.machines.iter_ids() {
            if is_here[id.index()] {
                flow.handlers(machine);
            }
        }
        for (id, function) in program.functions.iter_ids() {
            if function.owner.is_none_or(|owner| is_here[owner.index()]) {
                flow.function(id, function);
            }
        }
    }
    flow.observed
}

/// What may hold a text of a machine. Everything only grows.
struct Flow<'a> {
    program: &'a hir::Program,
    locals: Vec<Vec<bool>>,
    results: Vec<bool>,
    fields: Vec<Vec<bool>>,
    /// Payloads by event.
    events: Vec<bool>,
    /// Some payload of a creation or a `goto`.
    transitions: bool,
    observed: Option<Span>,
    changed: bool,
    has_text: FxHashMap<TypeId, bool>,
}

impl Flow<'_> {
    /// Payloads go to the parameters of handlers.
    fn handlers(&mut self, machine: &hir::Machine) {
        for state in &machine.states {
            self.param(state.entry, self.transitions);
            for &(event, action) in &state.actions {
                let carries = self.events[event.index()];
                match action {
                    hir::Action::Defer | hir::Action::Ignore => {}
                    hir::Action::Do(fun) => self.param(Some(fun), carries),
                    hir::Action::Goto(target, with) => {
                        self.param(with, carries);
                        self.param(machine.states[target].entry, carries);
                    }
                }
            }
        }
    }

    fn param(&mut self, fun: Option<hir::FunId>, carries: bool) {
        if let Some(fun) = fun
            && self.program.functions[fun].n_params > 0
        {
            set(&mut self.locals[fun.index()][0], carries, &mut self.changed);
        }
    }

    fn function(&mut self, id: hir::FunId, function: &hir::Function) {
        let Some(body) = &function.body else { return };
        let mut walk = Walk { flow: self, id, function, body };
        for stmt in &body.stmts {
            walk.stmt(stmt);
        }
    }

    fn event(&mut self, event: Option<hir::EventId>, carries: bool) {
        match event {
            Some(event) => set(&mut self.events[event.index()], carries, &mut self.changed),
            None => {
                for known in &mut self.events {
                    set(known, carries, &mut self.changed);
                }
            }
        }
    }

    /// Whether values of a type may hold a string.
    fn has_text(&mut self, ty: TypeId) -> bool {
        // A type that shares its parts is a graph, and is visited once.
        if let Some(&known) = self.has_text.get(&ty) {
            return known;
        }
        let has_text = self.has_text_inside(ty);
        self.has_text.insert(ty, has_text);
        has_text
    }

    fn has_text_inside(&mut self, ty: TypeId) -> bool {
        let program = self.program;
        let kind = program.types.get(ty);
        matches!(kind, Type::Error | Type::String | Type::Data | Type::Any | Type::Alias(_))
            || kind.parts().any(|part| self.has_text(part))
    }

    /// Whether an element is looked for by its value in a collection of the type, and may hold a string.
    fn is_keyed_by_text(&mut self, collection: TypeId) -> bool {
        let program = self.program;
        match program.types.get(collection) {
            Type::Map(key, _) | Type::Set(key) => self.has_text(*key),
            Type::Error | Type::Alias(_) => true,
            _ => false,
        }
    }
}

fn set(known: &mut bool, value: bool, changed: &mut bool) {
    if value && !*known {
        *known = true;
        *changed = true;
    }
}

/// One function.
struct Walk<'a, 'p> {
    flow: &'a mut Flow<'p>,
    id: hir::FunId,
    function: &'a hir::Function,
    body: &'a hir::Body,
}

impl Walk<'_, '_> {
    /// Statements are visited one by one, wherever they are nested.
    fn stmt(&mut self, stmt: &hir::Stmt) {
        match &stmt.kind {
            StmtKind::Block(_) | StmtKind::Break | StmtKind::Continue => {}
            StmtKind::Assert { cond, message } => {
                self.expr(*cond);
                self.optional(*message);
            }
            StmtKind::Print(e) | StmtKind::Eval(e) | StmtKind::While { cond: e, .. } => {
                self.expr(*e);
            }
            StmtKind::Return(e) => {
                let carries = self.optional(*e);
                set(&mut self.flow.results[self.id.index()], carries, &mut self.flow.changed);
            }
            StmtKind::Assign { place, value } => {
                let carries = self.expr(*value);
                self.place(place, carries);
            }
            StmtKind::Insert { place, key, value } => {
                let key = self.expr(*key);
                let carries = self.expr(*value) | key;
                let before = self.place(place, carries);
                self.keyed(place.ty, before | key, stmt.span);
            }
            StmtKind::Add { place, value: key } | StmtKind::Remove { place, key } => {
                let carries = self.expr(*key);
                let before = self.place(place, carries);
                self.keyed(place.ty, before | carries, stmt.span);
            }
            StmtKind::Foreach { item, collection, .. } => {
                let carries = self.expr(*collection);
                self.place(item, carries);
            }
            StmtKind::If { arms, .. } => {
                for &(cond, _) in arms {
                    self.expr(cond);
                }
            }
            StmtKind::Raise { event, payload } | StmtKind::Announce { event, payload } => {
                self.occurs(*event, *payload);
            }
            StmtKind::Send { target, event, payload } => {
                self.expr(*target);
                self.occurs(*event, *payload);
            }
            StmtKind::Goto { payload, .. } => {
                let carries = self.optional(*payload);
                set(&mut self.flow.transitions, carries, &mut self.flow.changed);
            }
            StmtKind::Receive { cases } => {
                for case in cases {
                    let carries = case.events.iter().any(|event| self.flow.events[event.index()]);
                    if let Some(param) = case.param {
                        self.local(param, carries);
                    }
                }
            }
        }
    }

    fn occurs(&mut self, event: ExprId, payload: Option<ExprId>) {
        self.expr(event);
        let carries = self.optional(payload);
        let event = match self.body.exprs[event].kind {
            ExprKind::Event(event) => Some(event),
            _ => None,
        };
        self.flow.event(event, carries);
    }

    fn local(&mut self, local: hir::LocalId, carries: bool) {
        set(&mut self.flow.locals[self.id.index()][local.index()], carries, &mut self.flow.changed);
    }

    /// Puts something at a place. Says whether the variable may have held a text before.
    fn place(&mut self, place: &hir::Place, carries: bool) -> bool {
        let carries = carries && self.flow.has_text(place.root_ty);
        let before = match (place.root, self.function.owner) {
            (PlaceRoot::Local(local), _) => {
                self.local(local, carries);
                self.flow.locals[self.id.index()][local.index()]
            }
            (PlaceRoot::Field(field), Some(owner)) => {
                let known = &mut self.flow.fields[owner.index()][field.index()];
                set(known, carries, &mut self.flow.changed);
                *known
            }
            (PlaceRoot::Field(_), None) => false,
        };
        let mut ty = place.root_ty;
        for step in &place.path {
            if let PathKind::Index(index) = step.kind {
                let key = self.expr(index);
                self.keyed(ty, before | key, step.span);
                // The key of a map may be a new one.
                if key && self.flow.is_keyed_by_text(ty) {
                    match (place.root, self.function.owner) {
                        (PlaceRoot::Local(local), _) => self.local(local, true),
                        (PlaceRoot::Field(field), Some(owner)) => {
                            let known = &mut self.flow.fields[owner.index()][field.index()];
                            set(known, true, &mut self.flow.changed);
                        }
                        (PlaceRoot::Field(_), None) => {}
                    }
                }
            }
            ty = step.ty;
        }
        before
    }

    /// Something is looked for in a collection; either may hold a text.
    fn keyed(&mut self, collection: TypeId, carries: bool, span: Span) {
        if carries && self.flow.is_keyed_by_text(collection) {
            self.observed(span);
        }
    }

    fn observed(&mut self, span: Span) {
        let order = |span: &Span| (span.file, span.start);
        if self.flow.observed.as_ref().is_none_or(|known| order(&span) < order(known)) {
            self.flow.observed = Some(span);
        }
    }

    fn optional(&mut self, expr: Option<ExprId>) -> bool {
        expr.is_some_and(|expr| self.expr(expr))
    }

    fn any(&mut self, exprs: impl IntoIterator<Item = ExprId>) -> bool {
        exprs.into_iter().fold(false, |carries, expr| self.expr(expr) | carries)
    }

    /// Whether the value may hold a text of a machine. Notes what is observed inside.
    fn expr(&mut self, id: ExprId) -> bool {
        let expr = &self.body.exprs[id];
        let carries = match &expr.kind {
            ExprKind::Local(local) => self.flow.locals[self.id.index()][local.index()],
            ExprKind::Field(field) => {
                self.function.owner.is_some_and(|owner| self.flow.fields[owner.index()][field.index()])
            }
            ExprKind::Format(_, args) => {
                let names = |&arg: &ExprId| has_machines(self.flow.program, self.body.exprs[arg].ty);
                let has_names = args.iter().any(names);
                self.any(args.iter().copied()) | has_names
            }
            ExprKind::New(_, Some(e)) => {
                let carries = self.expr(*e);
                set(&mut self.flow.transitions, carries, &mut self.flow.changed);
                false
            }
            ExprKind::Call(fun, args) => {
                for (param, &arg) in args.iter().enumerate() {
                    let carries = self.expr(arg);
                    set(&mut self.flow.locals[fun.index()][param], carries, &mut self.flow.changed);
                }
                self.flow.results[fun.index()]
            }
            ExprKind::Index(a, b) => {
                let (collection, key) = (self.expr(*a), self.expr(*b));
                // The index of a set or sequence is a number.
                self.keyed(self.body.exprs[*a].ty, (collection | key) && self.is_map(*a), expr.span);
                collection
            }
            ExprKind::Binary(op, a, b) => {
                let carries = self.expr(*a) | self.expr(*b);
                match op {
                    BinaryOp::Eq
                    | BinaryOp::Ne
                    | BinaryOp::Lt
                    | BinaryOp::Le
                    | BinaryOp::Gt
                    | BinaryOp::Ge
                    | BinaryOp::In => {
                        if carries {
                            self.observed(expr.span);
                        }
                        false
                    }
                    BinaryOp::Add => carries,
                    BinaryOp::Sub
                    | BinaryOp::Mul
                    | BinaryOp::Div
                    | BinaryOp::Mod
                    | BinaryOp::And
                    | BinaryOp::Or => false,
                }
            }
            // A value made of others carries what they carry; a literal has none.
            kind => self.any(kind.operands()),
        };
        carries && self.flow.has_text(expr.ty)
    }

    fn is_map(&self, expr: ExprId) -> bool {
        !matches!(self.flow.program.types.get(self.body.exprs[expr].ty), Type::Set(_) | Type::Seq(_))
    }
}
