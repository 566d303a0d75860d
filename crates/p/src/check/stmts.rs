//! The rules of statements.

use allways_base::words::count;
use allways_base::{Diagnostic, Span, Symbol};
use rustc_hash::FxHashMap;

use super::bodies::Body;
use crate::codes;
use crate::hir::{self, ExprId, ExprKind, PathKind, PathStep, Place, PlaceRoot, StmtId, StmtKind, Type};
use crate::syntax::ast::{self, Name};
use crate::types::{TypeId, Types};

impl Body<'_, '_> {
    pub fn stmt_list(&mut self, stmts: &[ast::StmtId]) -> Vec<StmtId> {
        stmts.iter().filter_map(|&stmt| self.stmt(stmt)).collect()
    }

    /// `None` for what does nothing or is wrong.
    fn stmt(&mut self, id: ast::StmtId) -> Option<StmtId> {
        let tree = self.tree;
        let ast::Stmt { kind, span } = &tree.stmts[id];
        let span = *span;
        let kind = match kind {
            ast::StmtKind::Empty => return None,
            ast::StmtKind::Block(stmts) => StmtKind::Block(self.stmt_list(stmts)),
            ast::StmtKind::Assert(cond, message) => {
                let cond = self.expr(*cond);
                self.check_same(cond, Types::BOOL, "the condition");
                let message = message.map(|message| {
                    let message = self.expr(message);
                    self.check_same(message, Types::STRING, "the message");
                    message
                });
                StmtKind::Assert { cond, message }
            }
            ast::StmtKind::Assume(cond, message) => {
                self.expr(*cond);
                message.map(|message| self.expr(message));
                self.cx.report(
                    Diagnostic::error(codes::PROOF_ONLY, span, "`assume` only exists in proofs")
                        .help("write `if` with `return` to leave the handler, or `assert` to check"),
                );
                return None;
            }
            ast::StmtKind::Print(text) => {
                let text = self.expr(*text);
                self.check_same(text, Types::STRING, "what is printed");
                StmtKind::Print(text)
            }
            ast::StmtKind::Return(value) => self.return_stmt(*value, span)?,
            ast::StmtKind::Break => StmtKind::Break,
            ast::StmtKind::Continue => StmtKind::Continue,
            ast::StmtKind::Assign(place, value) => {
                let place = self.place(*place);
                let value = self.expr(*value);
                let place = place?;
                self.check_fits(value, place.ty, "the assigned value");
                StmtKind::Assign { place, value }
            }
            ast::StmtKind::Insert(place, key, value) => self.insert(*place, *key, *value)?,
            ast::StmtKind::Add(place, value) => self.add(*place, *value)?,
            ast::StmtKind::Remove(place, key) => self.remove(*place, *key)?,
            ast::StmtKind::While(cond, body) => {
                let cond = self.expr(*cond);
                self.check_same(cond, Types::BOOL, "the condition");
                StmtKind::While { cond, body: self.stmt_or_empty(*body) }
            }
            ast::StmtKind::Foreach { item, collection, body } => self.foreach(*item, *collection, *body)?,
            ast::StmtKind::If { arms, otherwise } => {
                let arms = arms
                    .iter()
                    .map(|&(cond, body)| {
                        let cond = self.expr(cond);
                        self.check_same(cond, Types::BOOL, "the condition");
                        (cond, self.stmt_or_empty(body))
                    })
                    .collect();
                StmtKind::If { arms, otherwise: otherwise.map(|body| self.stmt_or_empty(body)) }
            }
            ast::StmtKind::New(name, args) => StmtKind::Eval(self.creation(*name, args, span)),
            ast::StmtKind::Call(name, args) => StmtKind::Eval(self.call_expr(*name, args, span)),
            ast::StmtKind::Raise(event, args) => {
                self.effects.raises = true;
                let is_wrong_place = self.check_leaves_handler(span, "raise");
                let (event, payload) = self.event_and_payload(*event, args);
                if is_wrong_place {
                    return None;
                }
                StmtKind::Raise { event, payload }
            }
            ast::StmtKind::Send(target, event, args) => {
                self.effects.sends = true;
                self.forbid_in_spec(span, "send events");
                let target = self.expr(*target);
                self.check_fits(target, Types::MACHINE, "the target");
                let (event, payload) = self.event_and_payload(*event, args);
                StmtKind::Send { target, event, payload }
            }
            ast::StmtKind::Announce(event, args) => {
                self.effects.sends = true;
                self.forbid_in_spec(span, "announce events");
                let (event, payload) = self.event_and_payload(*event, args);
                StmtKind::Announce { event, payload }
            }
            ast::StmtKind::Goto(state, args) => self.goto(*state, args, span)?,
            ast::StmtKind::Receive(cases) => self.receive(cases, span),
        };
        Some(self.stmts.push(hir::Stmt { kind, span }))
    }

    fn stmt_or_empty(&mut self, id: ast::StmtId) -> StmtId {
        let span = self.tree.stmts[id].span;
        match self.stmt(id) {
            Some(stmt) => stmt,
            None => self.stmts.push(hir::Stmt { kind: StmtKind::Block(Vec::new()), span }),
        }
    }

    /// "The same type" as P means it: assignable both ways.
    fn check_same(&mut self, value: ExprId, to: TypeId, what: &str) {
        let from = self.ty(value);
        if !self.cx.types.same(to, from) {
            self.misfit(value, to, what);
        }
    }

    fn return_stmt(&mut self, value: Option<ast::ExprId>, span: Span) -> Option<StmtKind> {
        // A receive case is a function of its own to the type checker, without result.
        let result = if self.case_depth > 0 { Types::NULL } else { self.result };
        let Some(value) = value else {
            if !self.cx.types.accepts(result, Types::NULL) {
                let ty = self.cx.show(result);
                self.cx.report(
                    Diagnostic::error(
                        codes::TYPE_MISMATCH,
                        span,
                        format!("this function must return `{ty}`"),
                    )
                    .help("write the result after `return`"),
                );
            }
            return Some(StmtKind::Return(None));
        };
        let value = self.expr(value);
        let from = self.ty(value);
        if self.cx.types.accepts(result, from) {
            return Some(StmtKind::Return(Some(value)));
        }
        let value_span = self.span(value);
        if self.case_depth > 0 {
            self.cx.report(
                Diagnostic::error(codes::RECEIVE_CASE, value_span, "a receive case cannot return a value")
                    .help("keep the value in a variable and return it after the `receive`"),
            );
        } else if result == Types::NULL {
            self.cx.report(
                Diagnostic::error(
                    codes::TYPE_MISMATCH,
                    value_span,
                    "this function has no result type, so it returns nothing",
                )
                .help("a handler returns nothing; a function needs `: T` after its parameters to return a value"),
            );
        } else {
            self.cx.mismatch(value_span, result, from, "the result");
        }
        None
    }

    // Places.

    /// The left side of an update.
    fn place(&mut self, id: ast::ExprId) -> Option<Place> {
        let tree = self.tree;
        let ast::Expr { kind, span } = &tree.exprs[id];
        let span = *span;
        match kind {
            ast::ExprKind::Name(symbol) => self.root_place(*symbol, span),
            ast::ExprKind::Field(base, name) => {
                let place = self.place(*base)?;
                let (index, ty) = self.named_field(place.ty, *name)?;
                Some(extend(place, PathKind::Field(name.symbol, index), ty, span))
            }
            ast::ExprKind::TupleField(base, index, index_span) => {
                let place = self.place(*base)?;
                let ty = self.tuple_field(place.ty, *index, *index_span)?;
                Some(extend(place, PathKind::Tuple(*index as usize), ty, span))
            }
            ast::ExprKind::Index(base, index) => {
                let place = self.place(*base);
                let index = self.expr(*index);
                let place = place?;
                // The rules are those of reading; a stand-in carries the type of the place.
                let stand_in = self.push(ExprKind::Null, place.ty, place.span);
                let ty = self.element(stand_in, index, false)?;
                Some(extend(place, PathKind::Index(index), ty, span))
            }
            _ => {
                self.cx.report(
                    Diagnostic::error(codes::NOT_ASSIGNABLE, span, "this cannot be assigned to")
                        .help("assign to a variable, a field of it or an element of it"),
                );
                None
            }
        }
    }

    fn root_place(&mut self, symbol: Symbol, span: Span) -> Option<Place> {
        let (root, ty) = if let Some(local) = self.lookup_local(symbol) {
            (PlaceRoot::Local(local), self.locals[local].ty)
        } else if let Some(field) = self.lookup_field(symbol)
            && let Some(owner) = self.owner
        {
            (PlaceRoot::Field(field), self.cx.machines[owner].fields[field].ty)
        } else {
            self.not_a_variable(symbol, span);
            return None;
        };
        Some(Place { root, path: Vec::new(), root_ty: ty, ty, span })
    }

    fn not_a_variable(&mut self, symbol: Symbol, span: Span) {
        let text = self.cx.text(symbol).to_owned();
        if let Some(&param) = self.cx.globals.params.get(&symbol) {
            let declared = self.cx.params[param].span;
            self.cx.report(
                Diagnostic::error(
                    codes::PARAM_MISUSE,
                    span,
                    format!("the global parameter `{text}` cannot be changed"),
                )
                .also(declared, "set by the test")
                .help("copy it into a variable"),
            );
            return;
        }
        let kind = if self.cx.globals.events.contains_key(&symbol) {
            Some("an event")
        } else if self.cx.globals.enum_elements.contains_key(&symbol) {
            Some("an enum element")
        } else if self.lookup_fun(symbol).is_some() {
            Some("a function")
        } else {
            None
        };
        if let Some(kind) = kind {
            self.cx.error(
                codes::NOT_ASSIGNABLE,
                span,
                format!("`{text}` is {kind} and cannot be assigned to"),
            );
        } else {
            let candidates = self.variable_names();
            self.cx.unknown(codes::UNKNOWN_NAME, Name { symbol, span }, "variable", candidates);
        }
    }

    fn insert(&mut self, place: ast::ExprId, key: ast::ExprId, value: ast::ExprId) -> Option<StmtKind> {
        let place = self.place(place);
        let key = self.expr(key);
        let value = self.expr(value);
        let place = place?;
        match self.cx.types.shape(place.ty) {
            Type::Seq(element) => {
                self.check_fits(key, Types::INT, "the position");
                self.check_fits(value, element, "the inserted value");
            }
            Type::Map(map_key, map_value) => {
                self.check_fits(key, map_key, "the key");
                self.check_fits(value, map_value, "the inserted value");
            }
            Type::Set(_) => {
                self.cx.report(
                    Diagnostic::error(
                        codes::NOT_A_COLLECTION,
                        place.span,
                        "`+=` on a set takes one value, without a key",
                    )
                    .help("write `s += (value);`, and `s += ((a, b));` to add a pair"),
                );
                return None;
            }
            Type::Error => return None,
            _ => {
                self.update_mismatch(&place, "`+=` adds to a seq, set or map");
                return None;
            }
        }
        Some(StmtKind::Insert { place, key, value })
    }

    fn add(&mut self, place: ast::ExprId, value: ast::ExprId) -> Option<StmtKind> {
        let place = self.place(place);
        let value = self.expr(value);
        let place = place?;
        match self.cx.types.shape(place.ty) {
            Type::Set(element) => self.check_fits(value, element, "the added value"),
            Type::Seq(_) | Type::Map(..) => {
                self.cx.report(
                    Diagnostic::error(
                        codes::NOT_A_COLLECTION,
                        place.span,
                        "adding to a seq needs a position, adding to a map needs a key",
                    )
                    .help("write `s += (sizeof(s), value);` or `m += (key, value);`"),
                );
                return None;
            }
            Type::Error => return None,
            _ => {
                self.update_mismatch(&place, "`+=` adds to a seq, set or map");
                return None;
            }
        }
        Some(StmtKind::Add { place, value })
    }

    fn remove(&mut self, place: ast::ExprId, key: ast::ExprId) -> Option<StmtKind> {
        let place = self.place(place);
        let key = self.expr(key);
        let place = place?;
        match self.cx.types.shape(place.ty) {
            Type::Seq(_) => self.check_fits(key, Types::INT, "the position"),
            Type::Set(element) => self.check_fits(key, element, "the removed value"),
            Type::Map(map_key, _) => self.check_fits(key, map_key, "the key"),
            Type::Error => return None,
            _ => {
                self.update_mismatch(&place, "`-=` removes from a seq, set or map");
                return None;
            }
        }
        Some(StmtKind::Remove { place, key })
    }

    fn update_mismatch(&mut self, place: &Place, message: &str) {
        let ty = self.cx.show(place.ty);
        let mut diagnostic = Diagnostic::error(codes::NOT_A_COLLECTION, place.span, message)
            .label(format!("this has type `{ty}`"));
        if matches!(self.cx.types.shape(place.ty), Type::Int | Type::Float | Type::String) {
            let help = if message.starts_with("`+=`") { "write `x = x + y;`" } else { "write `x = x - y;`" };
            diagnostic = diagnostic.help(help);
        }
        self.cx.report(diagnostic);
    }

    fn foreach(&mut self, item: Name, collection: ast::ExprId, body: ast::StmtId) -> Option<StmtKind> {
        let place = self.root_place(item.symbol, item.span);
        let collection = self.expr(collection);
        let ty = self.ty(collection);
        let element = match self.cx.types.shape(ty) {
            Type::Seq(element) | Type::Set(element) => Some(element),
            Type::Error => None,
            _ => {
                let span = self.span(collection);
                let ty_text = self.cx.show(ty);
                let mut diagnostic =
                    Diagnostic::error(codes::NOT_A_COLLECTION, span, "`foreach` runs over a seq or set")
                        .label(format!("this has type `{ty_text}`"));
                if matches!(self.cx.types.shape(ty), Type::Map(..)) {
                    diagnostic = diagnostic.help("run over `keys(m)` or `values(m)`");
                }
                self.cx.report(diagnostic);
                None
            }
        };
        if let (Some(place), Some(element)) = (&place, element)
            && !self.cx.types.same(place.ty, element)
        {
            let (want, have) = (self.cx.show(element), self.cx.show(place.ty));
            self.cx.report(
                Diagnostic::error(
                    codes::TYPE_MISMATCH,
                    item.span,
                    format!(
                        "the loop variable must be exactly `{want}`, the type of the elements, not `{have}`"
                    ),
                )
                .help(format!("declare it with `: {want}`")),
            );
        }
        let body = self.stmt_or_empty(body);
        Some(StmtKind::Foreach { item: place?, collection, body })
    }

    // Events.

    /// The event operand of send, raise and announce, with its payload. The payload is checked only against an
    /// event that is named: P knows nothing about others.
    fn event_and_payload(&mut self, event: ast::ExprId, args: &[ast::ExprId]) -> (ExprId, Option<ExprId>) {
        let event = self.expr(event);
        let span = self.span(event);
        let args: Vec<ExprId> = args.iter().map(|&arg| self.expr(arg)).collect();
        match self.exprs[event].kind {
            ExprKind::Null if self.ty(event) == Types::NULL => {
                self.cx.report(
                    Diagnostic::error(
                        codes::NULL_EVENT,
                        span,
                        "`null` is not an event that can be sent, raised or announced",
                    )
                    .help("name an event"),
                );
            }
            _ => self.check_fits(event, Types::EVENT, "the event"),
        }
        let payload = match self.exprs[event].kind {
            ExprKind::Event(id) => {
                let what = format!("`{}`", self.cx.event_name(id));
                let expected = self.cx.events[id].payload;
                self.payload(args, expected, &what, span)
            }
            _ => match args.len() {
                0 => None,
                1 => Some(args[0]),
                n => {
                    let whole = self.span(args[0]).to(self.span(args[n - 1]));
                    Some(self.tuple(args, whole))
                }
            },
        };
        (event, payload)
    }

    /// Raise and goto leave the handler, which a function with a result cannot do. True when reported.
    fn check_leaves_handler(&mut self, span: Span, what: &str) -> bool {
        let is_wrong = self.result != Types::NULL;
        if is_wrong {
            self.cx.report(
                Diagnostic::error(
                    codes::GOTO_IN_FUNCTION,
                    span,
                    format!("a function with a result cannot {what}"),
                )
                .help("return a value that tells the caller what to do"),
            );
        }
        is_wrong
    }

    fn goto(&mut self, state: Name, args: &[ast::ExprId], span: Span) -> Option<StmtKind> {
        self.effects.gotos = true;
        let args: Vec<ExprId> = args.iter().map(|&arg| self.expr(arg)).collect();
        let Some(owner) = self.owner else {
            self.cx.report(
                Diagnostic::error(codes::GOTO_IN_FUNCTION, span, "a global function cannot change the state")
                    .help("declare the function inside the machine"),
            );
            return None;
        };
        if self.check_leaves_handler(span, "change the state") {
            return None;
        }
        let target = self.cx.lookup_state(owner, state)?;
        let entry = self.cx.machines[owner].states[target].entry;
        let n_params = entry.map_or(0, |entry| self.cx.functions[entry].n_params);
        if args.len() != n_params {
            let text = self.cx.text(state.symbol).to_owned();
            let message = match n_params {
                0 => {
                    format!("the entry of `{text}` takes nothing, but gets {}", count(args.len(), "argument"))
                }
                n => format!("the entry of `{text}` takes {}, but gets {}", count(n, "argument"), args.len()),
            };
            let mut diagnostic = Diagnostic::error(codes::WRONG_ARGUMENT_COUNT, span, message);
            if let Some(entry) = entry {
                diagnostic = diagnostic.also(self.cx.functions[entry].span, "the entry");
            }
            self.cx.report(diagnostic);
            return None;
        }
        if let (Some(&arg), Some(entry)) = (args.first(), entry) {
            let param = self.cx.handler_param(entry);
            self.check_fits(arg, param, "the argument");
        }
        Some(StmtKind::Goto { state: target, payload: args.first().copied() })
    }

    fn receive(&mut self, cases: &[ast::Case], span: Span) -> StmtKind {
        self.effects.receives = true;
        self.forbid_in_spec(span, "receive events");
        let mut seen: FxHashMap<hir::EventId, Span> = FxHashMap::default();
        let cases = cases.iter().map(|case| self.receive_case(case, &mut seen)).collect();
        StmtKind::Receive { cases }
    }

    fn receive_case(&mut self, case: &ast::Case, seen: &mut FxHashMap<hir::EventId, Span>) -> hir::Case {
        self.scopes.push(FxHashMap::default());
        let param = case.handler.param.as_ref().and_then(|param| self.declare_local(param));
        let mut events = Vec::new();
        for &event_ref in &case.events {
            let Some(event) = self.cx.lookup_event(event_ref) else { continue };
            if let Some(first) = seen.insert(event, event_ref.span) {
                let text = self.cx.event_name(event).to_owned();
                self.cx.report(
                    Diagnostic::error(
                        codes::DUPLICATE_ACTION,
                        event_ref.span,
                        format!("this `receive` already has a case for `{text}`"),
                    )
                    .also(first, "here"),
                );
                continue;
            }
            self.check_case_payload(event, event_ref.span, param, case);
            events.push(event);
        }
        let locals = self.declare_locals(&case.handler.body.vars);
        self.case_depth += 1;
        let block = self.stmt_list(&case.handler.body.stmts);
        self.case_depth -= 1;
        self.scopes.pop();
        hir::Case { events, param, locals, block, span: case.span }
    }

    /// Unlike a state's handler, a case must take the payload of its events.
    fn check_case_payload(
        &mut self,
        event: hir::EventId,
        span: Span,
        param: Option<hir::LocalId>,
        case: &ast::Case,
    ) {
        let payload = self.cx.events[event].payload;
        let ty = param.map_or(Types::NULL, |param| self.locals[param].ty);
        if (param.is_none() && case.handler.param.is_some()) || self.cx.types.accepts(ty, payload) {
            return;
        }
        let (event_text, payload_text) = (self.cx.event_name(event).to_owned(), self.cx.show(payload));
        let diagnostic = match param {
            None => Diagnostic::error(
                codes::RECEIVE_CASE,
                span,
                format!("`{event_text}` carries `{payload_text}`, and a receive case must take it"),
            )
            .help(format!("write `case {event_text}: (payload: {payload_text}) {{ ... }}`")),
            Some(param) => {
                let ty_text = self.cx.show(ty);
                let message = if payload == Types::NULL {
                    format!("`{event_text}` carries nothing, but this case takes `{ty_text}`")
                } else {
                    format!("`{event_text}` carries `{payload_text}`, but this case takes `{ty_text}`")
                };
                let param_span = self.locals[param].span;
                Diagnostic::error(codes::RECEIVE_CASE, param_span, message).also(span, "the event")
            }
        };
        self.cx.report(diagnostic);
    }
}

fn extend(mut place: Place, kind: PathKind, ty: TypeId, span: Span) -> Place {
    place.path.push(PathStep { kind, ty, span });
    place.ty = ty;
    place.span = span;
    place
}
