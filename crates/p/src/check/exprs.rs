//! The types of expressions.

use allways_base::words::count;
use allways_base::{Code, Diagnostic, Span, Symbol};
use rustc_hash::FxHashMap;

use super::Checker;
use super::bodies::Body;
use crate::codes;
use crate::hir::{BinaryOp, ExprId, ExprKind, InterfaceId, Type};
use crate::syntax::ast::{self, Name};
use crate::types::{TypeId, Types};

/// `choose` with more alternatives fails at run time.
const MAX_CHOICES: i64 = 10_000;

impl Checker<'_> {
    pub(super) fn lookup_interface(&mut self, name: Name) -> Option<InterfaceId> {
        if let Some(&interface) = self.globals.interfaces.get(&name.symbol) {
            return Some(interface);
        }
        if let Some(&spec) = self.globals.machines.get(&name.symbol) {
            let text = self.text(name.symbol).to_owned();
            let declared = self.machines[spec].span;
            self.report(
                Diagnostic::error(
                    codes::UNKNOWN_INTERFACE,
                    name.span,
                    format!("`{text}` is a spec and cannot be created"),
                )
                .also(declared, "declared here")
                .help("attach it to a test with `assert` in the module expression"),
            );
            return None;
        }
        let candidates = self.candidates(self.globals.interfaces.keys());
        self.unknown(codes::UNKNOWN_INTERFACE, name, "machine or interface", candidates);
        None
    }
}

impl Body<'_, '_> {
    pub fn expr(&mut self, id: ast::ExprId) -> ExprId {
        let tree = self.tree;
        let ast::Expr { kind, span } = &tree.exprs[id];
        let span = *span;
        if self.reads.is_some()
            && let Some(found) = self.read(id)
        {
            return found;
        }
        match kind {
            ast::ExprKind::Error => self.error_expr(span),
            ast::ExprKind::Name(symbol) => self.name_expr(*symbol, span),
            ast::ExprKind::Int(value) => self.push(ExprKind::Int(*value), Types::INT, span),
            ast::ExprKind::Float(value) => self.push(ExprKind::Float(*value), Types::FLOAT, span),
            ast::ExprKind::FloatPair => {
                self.cx.report(
                    Diagnostic::error(
                        codes::UNSUPPORTED_MODULE,
                        span,
                        "`float(base, exponent)` is not supported: P's own compiler fails on it",
                    )
                    .help("write the number with a decimal point, such as `0.5`, or compute it"),
                );
                self.push(ExprKind::Float(0.0), Types::FLOAT, span)
            }
            ast::ExprKind::Bool(value) => self.push(ExprKind::Bool(*value), Types::BOOL, span),
            ast::ExprKind::Null => self.push(ExprKind::Null, Types::NULL, span),
            ast::ExprKind::Nondet { fair } => {
                self.effects.nondet = true;
                self.forbid_in_spec(span, "make choices");
                self.push(ExprKind::Nondet { fair: *fair }, Types::BOOL, span)
            }
            ast::ExprKind::Halt => self.push(ExprKind::Event(crate::hir::EventId::HALT), Types::EVENT, span),
            ast::ExprKind::This => self.this_expr(span),
            ast::ExprKind::Format(literal, args) => {
                let pieces = self.cx.format_pieces(*literal, args.as_ref().map(Vec::len));
                let args = args.iter().flatten().map(|&arg| self.expr(arg)).collect();
                self.push(ExprKind::Format(pieces, args), Types::STRING, span)
            }
            ast::ExprKind::Tuple(fields) => {
                let fields: Vec<ExprId> = fields.iter().map(|&field| self.expr(field)).collect();
                self.tuple(fields, span)
            }
            ast::ExprKind::NamedTuple(fields) => self.named_tuple(fields, span),
            ast::ExprKind::Field(operand, name) => {
                let operand = self.expr(*operand);
                match self.named_field(self.ty(operand), *name) {
                    Some((index, ty)) => self.push(ExprKind::FieldGet(operand, name.symbol, index), ty, span),
                    None => self.error_expr(span),
                }
            }
            ast::ExprKind::TupleField(operand, index, index_span) => {
                let operand = self.expr(*operand);
                match self.tuple_field(self.ty(operand), *index, *index_span) {
                    Some(ty) => self.push(ExprKind::TupleGet(operand, *index as usize), ty, span),
                    None => self.error_expr(span),
                }
            }
            ast::ExprKind::Index(operand, index) => {
                let operand = self.expr(*operand);
                let index = self.expr(*index);
                match self.element(operand, index, true) {
                    Some(ty) => self.push(ExprKind::Index(operand, index), ty, span),
                    None => self.error_expr(span),
                }
            }
            ast::ExprKind::Keys(operand) => {
                let operand = self.expr(*operand);
                let keys =
                    self.map_parts(operand, "keys").map(|(key, _)| self.cx.types.intern(Type::Seq(key)));
                self.push(ExprKind::Keys(operand), keys.unwrap_or(Types::ERROR), span)
            }
            ast::ExprKind::Values(operand) => {
                let operand = self.expr(*operand);
                let values =
                    self.map_parts(operand, "values").map(|(_, v)| self.cx.types.intern(Type::Seq(v)));
                self.push(ExprKind::Values(operand), values.unwrap_or(Types::ERROR), span)
            }
            ast::ExprKind::Sizeof(operand) => {
                let operand = self.expr(*operand);
                let ty = self.ty(operand);
                let shape = self.cx.types.shape(ty);
                let is_collection =
                    matches!(shape, Type::Seq(_) | Type::Set(_) | Type::Map(..) | Type::Error);
                if !is_collection {
                    self.not_a_collection(operand, "`sizeof` takes a seq, set or map");
                }
                self.push(ExprKind::Sizeof(operand), Types::INT, span)
            }
            ast::ExprKind::Default(ty) => {
                let ty = self.cx.resolve_type(tree, *ty);
                let ty = self.cx.types.canonical(ty);
                self.push(ExprKind::Default(ty), ty, span)
            }
            ast::ExprKind::New(name, args) => self.creation(*name, args, span),
            ast::ExprKind::Call(name, args) => self.call_expr(*name, args, span),
            ast::ExprKind::Choose(operand) => self.choose_expr(*operand, span),
            ast::ExprKind::Neg(operand) => {
                let operand = self.expr(*operand);
                let ty = self.ty(operand);
                let is_number = self.is(Types::INT, ty) || self.is(Types::FLOAT, ty);
                if !is_number {
                    self.bad_operand(codes::BAD_OPERANDS, operand, "`-` takes an int or float");
                    return self.error_expr(span);
                }
                self.push(ExprKind::Neg(operand), ty, span)
            }
            ast::ExprKind::Not(operand) => {
                let operand = self.expr(*operand);
                if !self.is(Types::BOOL, self.ty(operand)) {
                    self.bad_operand(codes::BAD_OPERANDS, operand, "`!` takes a bool");
                    return self.error_expr(span);
                }
                self.push(ExprKind::Not(operand), Types::BOOL, span)
            }
            ast::ExprKind::Binary(op, left, right, op_span) => {
                let left = self.expr(*left);
                let right = self.expr(*right);
                self.binary(*op, left, right, *op_span, span)
            }
            ast::ExprKind::As(operand, ty) => {
                let operand = self.expr(*operand);
                let ty = self.cx.resolve_type(tree, *ty);
                let from = self.ty(operand);
                if !self.cx.types.comparable(from, ty) {
                    let (from, to) = (self.cx.show(from), self.cx.show(ty));
                    self.cx.report(
                        Diagnostic::error(codes::BAD_CAST, span, format!("cannot cast `{from}` to `{to}` with `as`"))
                            .help("`as` goes from a wider to a narrower type, for example from `any`; numbers convert with `to`"),
                    );
                }
                self.push(ExprKind::Cast(operand), ty, span)
            }
            ast::ExprKind::To(operand, ty) => {
                let operand = self.expr(*operand);
                let ty = self.cx.resolve_type(tree, *ty);
                self.coerce(operand, ty, span)
            }
            ast::ExprKind::Quantified(_) if self.reads.is_some() => self.misplaced_quantifier(span),
            ast::ExprKind::Proof | ast::ExprKind::Quantified(_) | ast::ExprKind::Is(..) => {
                self.cx.report(
                    Diagnostic::error(codes::PROOF_ONLY, span, "this expression only exists in proofs")
                        .help("quantifiers, `is`, `targets`, `inflight` and `sent` cannot be executed"),
                );
                self.error_expr(span)
            }
        }
    }

    /// Whether a value of type `from` is a `to` (aliases of primitive types count).
    fn is(&mut self, to: TypeId, from: TypeId) -> bool {
        self.cx.types.accepts(to, from)
    }

    pub fn forbid_in_spec(&mut self, span: Span, what: &str) {
        if self.in_monitor {
            self.cx.report(
                Diagnostic::error(codes::FORBIDDEN_IN_SPEC, span, format!("a spec cannot {what}")).note(
                    "specs only observe: they may use variables, change state, raise events and assert",
                ),
            );
        }
    }

    fn bad_operand(&mut self, code: Code, operand: ExprId, message: &str) {
        let (ty, span) = (self.ty(operand), self.span(operand));
        let ty = self.cx.show(ty);
        self.cx.report(Diagnostic::error(code, span, message).label(format!("this has type `{ty}`")));
    }

    fn not_a_collection(&mut self, operand: ExprId, message: &str) {
        self.bad_operand(codes::NOT_A_COLLECTION, operand, message);
    }

    fn name_expr(&mut self, symbol: Symbol, span: Span) -> ExprId {
        if let Some(local) = self.lookup_local(symbol) {
            let ty = self.locals[local].ty;
            return self.push(ExprKind::Local(local), ty, span);
        }
        if let Some(field) = self.lookup_field(symbol)
            && let Some(owner) = self.owner
        {
            let ty = self.cx.machines[owner].fields[field].ty;
            return self.push(ExprKind::Field(field), ty, span);
        }
        if let Some(&param) = self.cx.globals.params.get(&symbol) {
            let ty = self.cx.params[param].ty;
            return self.push(ExprKind::Param(param), ty, span);
        }
        if let Some(&element) = self.cx.globals.enum_elements.get(&symbol) {
            if element.is_shared {
                let text = self.cx.text(symbol).to_owned();
                self.cx.report(
                    Diagnostic::error(
                        codes::ENUM_NUMBER_SHARED,
                        span,
                        format!("`{text}` has the same number as another element of its enum, so it cannot be used"),
                    )
                    .also(element.span, "declared here")
                    .help("give it a number of its own"),
                );
            }
            return self.push(ExprKind::EnumElement(element.value), element.ty, span);
        }
        if let Some(&event) = self.cx.globals.events.get(&symbol) {
            return self.push(ExprKind::Event(event), Types::EVENT, span);
        }
        self.unknown_name(symbol, span);
        self.error_expr(span)
    }

    fn unknown_name(&mut self, symbol: Symbol, span: Span) {
        let text = self.cx.text(symbol).to_owned();
        let is_machine = self.cx.globals.interfaces.contains_key(&symbol);
        if is_machine || self.cx.globals.machines.contains_key(&symbol) {
            let (kind, help) = match is_machine {
                true => ("machine", "create an instance with `new`"),
                false => ("spec", "a spec watches a test; attach it with `assert SPEC in MODULE`"),
            };
            self.cx.report(
                Diagnostic::error(codes::UNKNOWN_NAME, span, format!("`{text}` is a {kind}, not a value"))
                    .help(help),
            );
            return;
        }
        if self.lookup_fun(symbol).is_some() {
            self.cx.report(
                Diagnostic::error(codes::UNKNOWN_NAME, span, format!("`{text}` is a function, not a value"))
                    .help(format!("call it: `{text}(...)`")),
            );
            return;
        }
        let mut candidates = self.variable_names();
        candidates.extend(self.cx.candidates(self.cx.globals.enum_elements.keys()));
        candidates.extend(self.cx.candidates(self.cx.globals.events.keys()));
        self.cx.unknown(
            codes::UNKNOWN_NAME,
            Name { symbol, span },
            "variable, event or enum element",
            candidates,
        );
    }

    fn this_expr(&mut self, span: Span) -> ExprId {
        let Some(owner) = self.owner else {
            self.cx.report(
                Diagnostic::error(
                    codes::THIS_OUTSIDE_MACHINE,
                    span,
                    "`this` cannot be used in a global function, which belongs to no machine",
                )
                .help("pass `this` as an argument"),
            );
            return self.error_expr(span);
        };
        self.forbid_in_spec(span, "use `this`");
        let machine = &self.cx.machines[owner];
        let ty = Type::Permission(machine.name, machine.receives.clone());
        let ty = self.cx.types.intern(ty);
        self.push(ExprKind::This, ty, span)
    }

    pub fn tuple(&mut self, fields: Vec<ExprId>, span: Span) -> ExprId {
        let types = fields.iter().map(|&field| self.ty(field)).collect();
        let ty = self.cx.types.intern(Type::Tuple(types));
        self.push(ExprKind::Tuple(fields), ty, span)
    }

    fn named_tuple(&mut self, fields: &[(Name, ast::ExprId)], span: Span) -> ExprId {
        let mut seen: FxHashMap<Symbol, Span> = FxHashMap::default();
        let mut values = Vec::with_capacity(fields.len());
        let mut types = Vec::with_capacity(fields.len());
        for &(name, value) in fields {
            self.cx.check_field_once(&mut seen, name);
            let value = self.expr(value);
            types.push((name.symbol, self.ty(value)));
            values.push((name.symbol, value));
        }
        let ty = self.cx.types.intern(Type::NamedTuple(types));
        self.push(ExprKind::NamedTuple(values), ty, span)
    }

    /// The position and type of a named field.
    pub fn named_field(&mut self, ty: TypeId, name: Name) -> Option<(usize, TypeId)> {
        let text = self.cx.text(name.symbol).to_owned();
        let diagnostic = match self.cx.types.shape(ty) {
            Type::Error => return None,
            Type::NamedTuple(fields) => {
                if let Some(index) = fields.iter().position(|&(field, _)| field == name.symbol) {
                    return Some((index, fields[index].1));
                }
                let names: Vec<&str> =
                    fields.iter().take(20).map(|&(field, _)| self.cx.text(field)).collect();
                Diagnostic::error(
                    codes::NO_SUCH_FIELD,
                    name.span,
                    format!("this tuple has no field `{text}`"),
                )
                .help(format!("its fields are: {}", names.join(", ")))
            }
            Type::Tuple(_) => {
                Diagnostic::error(codes::NO_SUCH_FIELD, name.span, "the fields of this tuple have no names")
                    .help("use their numbers: `.0`, `.1`, ...")
            }
            _ => {
                let ty = self.cx.show(ty);
                Diagnostic::error(codes::NO_SUCH_FIELD, name.span, format!("the type `{ty}` has no fields"))
            }
        };
        self.cx.report(diagnostic);
        None
    }

    /// The type of a numbered field.
    pub fn tuple_field(&mut self, ty: TypeId, index: i64, span: Span) -> Option<TypeId> {
        let diagnostic = match self.cx.types.shape(ty) {
            Type::Error => return None,
            Type::Tuple(fields) => {
                if let Some(&field) = fields.get(index as usize) {
                    return Some(field);
                }
                Diagnostic::error(codes::NO_SUCH_FIELD, span, format!("this tuple has no field {index}"))
                    .help(format!("it has {}, counted from 0", count(fields.len(), "field")))
            }
            Type::NamedTuple(_) => {
                Diagnostic::error(codes::NO_SUCH_FIELD, span, "the fields of this tuple have names")
                    .help("use the name of the field instead of its number")
            }
            _ => {
                let ty = self.cx.show(ty);
                Diagnostic::error(codes::NO_SUCH_FIELD, span, format!("the type `{ty}` has no fields"))
            }
        };
        self.cx.report(diagnostic);
        None
    }

    /// The type of `operand[index]`. A set can be read by position but not written.
    pub fn element(&mut self, operand: ExprId, index: ExprId, is_read: bool) -> Option<TypeId> {
        let ty = self.ty(operand);
        match self.cx.types.shape(ty) {
            Type::Error => None,
            Type::Seq(element) => {
                self.check_fits(index, Types::INT, "the index");
                Some(element)
            }
            Type::Set(element) if is_read => {
                self.check_fits(index, Types::INT, "the index");
                Some(element)
            }
            Type::Set(_) => {
                let span = self.span(operand);
                self.cx.report(
                    Diagnostic::error(codes::NOT_ASSIGNABLE, span, "an element of a set cannot be assigned")
                        .label("a set has no order")
                        .help("remove the old value with `-=` and add the new one with `+=`"),
                );
                None
            }
            Type::Map(key, value) => {
                self.check_fits(index, key, "the key");
                Some(value)
            }
            _ => {
                self.not_a_collection(operand, "only a seq, set or map can be indexed");
                None
            }
        }
    }

    fn map_parts(&mut self, operand: ExprId, word: &str) -> Option<(TypeId, TypeId)> {
        let ty = self.ty(operand);
        match self.cx.types.shape(ty) {
            Type::Map(key, value) => Some((key, value)),
            Type::Error => None,
            _ => {
                self.not_a_collection(operand, &format!("`{word}` takes a map"));
                None
            }
        }
    }

    /// Reports a value that a location of type `to` does not accept.
    pub fn check_fits(&mut self, value: ExprId, to: TypeId, what: &str) {
        let from = self.ty(value);
        if !self.cx.types.accepts(to, from) {
            self.misfit(value, to, what);
        }
    }

    /// Reports that a value is not of the type `to`.
    pub fn misfit(&mut self, value: ExprId, to: TypeId, what: &str) {
        let (from, span) = (self.ty(value), self.span(value));
        let ExprKind::Call(fun, _) = self.exprs[value].kind else {
            return self.cx.mismatch(span, to, from, what);
        };
        if from != Types::NULL {
            return self.cx.mismatch(span, to, from, what);
        }
        let (to, declared) = (self.cx.show(to), self.cx.functions[fun].span);
        self.cx.report(
            Diagnostic::error(
                codes::TYPE_MISMATCH,
                span,
                format!("{what} must be `{to}`, but this function returns nothing"),
            )
            .also(declared, "declared here, without a result type"),
        );
    }

    pub fn creation(&mut self, name: Name, args: &[ast::ExprId], span: Span) -> ExprId {
        self.effects.creates = true;
        self.forbid_in_spec(span, "create machines");
        let args: Vec<ExprId> = args.iter().map(|&arg| self.expr(arg)).collect();
        let Some(interface) = self.cx.lookup_interface(name) else { return self.error_expr(span) };
        let constructor = self.cx.interfaces[interface].constructor;
        let what = format!("`{}`", self.cx.text(name.symbol));
        let payload = self.payload(args, constructor, &what, name.span);
        let ty = Type::Permission(name.symbol, self.cx.interfaces[interface].receives.clone());
        let ty = self.cx.types.intern(ty);
        self.push(ExprKind::New(interface, payload), ty, span)
    }

    /// The arguments of a creation, send, raise or announcement as one value of type `expected`.
    pub fn payload(&mut self, args: Vec<ExprId>, expected: TypeId, what: &str, span: Span) -> Option<ExprId> {
        match args.len() {
            0 => {
                if !self.cx.types.same(expected, Types::NULL) {
                    let ty = self.cx.show(expected);
                    let mut diagnostic = Diagnostic::error(
                        codes::PAYLOAD_MISMATCH,
                        span,
                        format!("{what} needs a payload of type `{ty}`, but none is given"),
                    );
                    if self.cx.types.accepts(expected, Types::NULL) {
                        diagnostic = diagnostic.help("pass `null` for an empty payload");
                    }
                    self.cx.report(diagnostic);
                }
                None
            }
            1 => {
                let from = self.ty(args[0]);
                if !self.cx.types.accepts(expected, from) {
                    self.payload_mismatch(args[0], expected, what);
                }
                Some(args[0])
            }
            n => {
                let whole = self.span(args[0]).to(self.span(args[n - 1]));
                let fits = match self.cx.types.shape(expected) {
                    Type::Error => true,
                    Type::Tuple(fields) if fields.len() == n => {
                        for (&arg, &field) in args.iter().zip(&fields) {
                            self.check_fits(arg, field, "this argument");
                        }
                        true
                    }
                    _ => false,
                };
                if !fits {
                    let message = if expected == Types::NULL {
                        format!("{what} takes nothing, but {n} arguments are given")
                    } else {
                        format!("{what} takes `{}`, but {n} arguments are given", self.cx.show(expected))
                    };
                    self.cx.report(Diagnostic::error(codes::PAYLOAD_MISMATCH, whole, message));
                }
                Some(self.tuple(args, whole))
            }
        }
    }

    fn payload_mismatch(&mut self, arg: ExprId, expected: TypeId, what: &str) {
        let (from, span) = (self.ty(arg), self.span(arg));
        if self.cx.types.alias_hides(expected, from) {
            return self.cx.mismatch(span, expected, from, "the argument");
        }
        let from_text = self.cx.show(from);
        let message = if self.cx.types.canonical(expected) == Types::NULL {
            format!("{what} takes nothing, but `{from_text}` is given")
        } else {
            format!("{what} takes `{}`, but `{from_text}` is given", self.cx.show(expected))
        };
        let mut diagnostic = Diagnostic::error(codes::PAYLOAD_MISMATCH, span, message);
        if let Some(help) = self.cx.mismatch_help(expected, from) {
            diagnostic = diagnostic.help(help);
        }
        self.cx.report(diagnostic);
    }

    pub fn call_expr(&mut self, name: Name, args: &[ast::ExprId], span: Span) -> ExprId {
        let args: Vec<ExprId> = args.iter().map(|&arg| self.expr(arg)).collect();
        let Some(fun) = self.lookup_fun(name.symbol) else {
            let mut candidates = self.cx.candidates(self.cx.globals.functions.keys());
            if let Some(owner) = self.owner {
                candidates.extend(self.cx.candidates(self.cx.machine_sources[owner].functions.keys()));
            }
            self.cx.unknown(codes::UNKNOWN_FUNCTION, name, "function", candidates);
            return self.error_expr(span);
        };
        self.callees.push(fun);
        let n_params = self.cx.functions[fun].n_params;
        let result = self.cx.functions[fun].result;
        if args.len() != n_params {
            let declared = self.cx.functions[fun].span;
            let text = self.cx.text(name.symbol).to_owned();
            self.cx.report(
                Diagnostic::error(
                    codes::WRONG_ARGUMENT_COUNT,
                    span,
                    format!("`{text}` takes {}, but gets {}", count(n_params, "argument"), args.len()),
                )
                .also(declared, "declared here"),
            );
            return self.push(ExprKind::Null, result, span);
        }
        for (i, &arg) in args.iter().enumerate() {
            let param = self.cx.functions[fun].locals[allways_base::Idx::new(i)].ty;
            self.check_fits(arg, param, "this argument");
        }
        self.push(ExprKind::Call(fun, args), result, span)
    }

    fn choose_expr(&mut self, operand: Option<ast::ExprId>, span: Span) -> ExprId {
        self.effects.nondet = true;
        self.forbid_in_spec(span, "make choices");
        let Some(operand) = operand else { return self.push(ExprKind::Choose(None), Types::BOOL, span) };
        if let ast::ExprKind::Int(n) = self.tree.exprs[operand].kind
            && n > MAX_CHOICES
        {
            let span = self.tree.exprs[operand].span;
            self.cx.report(
                Diagnostic::error(
                    codes::TOO_MANY_CHOICES,
                    span,
                    format!("`choose` has at most {MAX_CHOICES} alternatives"),
                )
                .help("choose in two steps, or from fewer values"),
            );
        }
        let operand = self.expr(operand);
        let ty = self.ty(operand);
        let ty = match self.cx.types.shape(ty) {
            Type::Int => Types::INT,
            Type::Seq(element) | Type::Set(element) => element,
            Type::Map(key, _) => key,
            Type::Error => Types::ERROR,
            _ => {
                self.not_a_collection(operand, "`choose` takes an int, seq, set or map");
                Types::ERROR
            }
        };
        self.push(ExprKind::Choose(Some(operand)), ty, span)
    }

    fn binary(
        &mut self,
        op: ast::BinaryOp,
        left: ExprId,
        right: ExprId,
        op_span: Span,
        span: Span,
    ) -> ExprId {
        use ast::BinaryOp as Op;
        let (a, b) = (self.ty(left), self.ty(right));
        let both = |this: &mut Self, ty| this.is(ty, a) && this.is(ty, b);
        let (op, ty) = match op {
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Mod => {
                let op = match op {
                    Op::Add => BinaryOp::Add,
                    Op::Sub => BinaryOp::Sub,
                    Op::Mul => BinaryOp::Mul,
                    Op::Div => BinaryOp::Div,
                    _ => BinaryOp::Mod,
                };
                let ty = if a == Types::ERROR || b == Types::ERROR {
                    Types::ERROR
                } else if both(self, Types::INT) {
                    Types::INT
                } else if both(self, Types::FLOAT) {
                    Types::FLOAT
                } else if op == BinaryOp::Add && both(self, Types::STRING) {
                    Types::STRING
                } else {
                    let wants =
                        if op == BinaryOp::Add { "ints, floats or strings" } else { "ints or floats" };
                    self.bad_operands(left, right, op_span, wants);
                    Types::ERROR
                };
                (op, ty)
            }
            Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                if !both(self, Types::INT) && !both(self, Types::FLOAT) && !both(self, Types::STRING) {
                    self.bad_operands(left, right, op_span, "ints, floats or strings");
                }
                let op = match op {
                    Op::Lt => BinaryOp::Lt,
                    Op::Le => BinaryOp::Le,
                    Op::Gt => BinaryOp::Gt,
                    _ => BinaryOp::Ge,
                };
                (op, Types::BOOL)
            }
            Op::In => {
                match self.cx.types.shape(b) {
                    Type::Map(key, _) => self.check_fits(left, key, "the key"),
                    Type::Seq(element) | Type::Set(element) => self.check_fits(left, element, "the element"),
                    Type::Error => {}
                    _ => self.not_a_collection(right, "the right side of `in` is a seq, set or map"),
                }
                (BinaryOp::In, Types::BOOL)
            }
            Op::Eq | Op::Ne => {
                if !self.cx.types.comparable(a, b) {
                    self.not_comparable(left, right, op_span);
                }
                (if op == Op::Eq { BinaryOp::Eq } else { BinaryOp::Ne }, Types::BOOL)
            }
            Op::And | Op::Or | Op::Implies | Op::Iff => {
                if !both(self, Types::BOOL) {
                    self.bad_operands(left, right, op_span, "bools");
                }
                if matches!(op, Op::Implies | Op::Iff) {
                    let (word, help) = match op {
                        Op::Implies => ("==>", "write `!a || b`"),
                        _ => ("<==>", "write `a == b`"),
                    };
                    self.cx.report(
                        Diagnostic::error(
                            codes::PROOF_ONLY,
                            op_span,
                            format!("`{word}` only exists in proofs"),
                        )
                        .help(help),
                    );
                }
                (if op == Op::Or { BinaryOp::Or } else { BinaryOp::And }, Types::BOOL)
            }
        };
        self.push(ExprKind::Binary(op, left, right), ty, span)
    }

    fn bad_operands(&mut self, left: ExprId, right: ExprId, op_span: Span, wants: &str) {
        let (a, b) = (self.ty(left), self.ty(right));
        if a == Types::ERROR || b == Types::ERROR {
            return;
        }
        let op = self.cx.sources.text(op_span);
        let same = if wants == "bools" { "" } else { " of the same type" };
        let message = format!("`{op}` takes two {wants}{same}");
        let (a_shape, b_shape) = (self.cx.types.shape(a), self.cx.types.shape(b));
        let (a_text, b_text) = (self.cx.show(a), self.cx.show(b));
        let mut diagnostic = Diagnostic::error(codes::BAD_OPERANDS, op_span, message)
            .also(self.span(left), format!("`{a_text}`"))
            .also(self.span(right), format!("`{b_text}`"));
        match (a_shape, b_shape) {
            (Type::Int, Type::Float) | (Type::Float, Type::Int) => {
                diagnostic = diagnostic.help("convert one of them with `to float` or `to int`");
            }
            (Type::Enum(_), _) | (_, Type::Enum(_)) => {
                diagnostic = diagnostic.help("convert an enum with `to int`");
            }
            (Type::String, _) | (_, Type::String) if op == "+" => {
                diagnostic = diagnostic.help("use `format` to put values into a string")
            }
            _ => {}
        }
        self.cx.report(diagnostic);
    }

    fn not_comparable(&mut self, left: ExprId, right: ExprId, op_span: Span) {
        let (a, b) = (self.ty(left), self.ty(right));
        let (a_text, b_text) = (self.cx.show(a), self.cx.show(b));
        let mut diagnostic = Diagnostic::error(
            codes::NOT_COMPARABLE,
            op_span,
            format!("`{a_text}` and `{b_text}` cannot be compared"),
        )
        .also(self.span(left), format!("`{a_text}`"))
        .also(self.span(right), format!("`{b_text}`"));
        match (self.cx.types.shape(a), self.cx.types.shape(b)) {
            (Type::Enum(_), Type::Int) | (Type::Int, Type::Enum(_)) => {
                diagnostic = diagnostic.help("convert the enum with `to int`");
            }
            (Type::Null, _) | (_, Type::Null) => {
                diagnostic =
                    diagnostic.help("compare with `default(T)`; only events, machines and `any` can be null");
            }
            (Type::Int, Type::Float) | (Type::Float, Type::Int) => {
                diagnostic = diagnostic.help("convert one of them with `to float` or `to int`");
            }
            _ => {}
        }
        self.cx.report(diagnostic);
    }

    /// `operand to ty`
    fn coerce(&mut self, operand: ExprId, ty: TypeId, span: Span) -> ExprId {
        let from = self.ty(operand);
        if from == Types::ERROR || ty == Types::ERROR {
            return self.push(ExprKind::Coerce(operand), ty, span);
        }
        // P looks at the source type as it was written: an alias of a machine type is not recognized.
        let from_shape = match self.cx.types.get(from) {
            Type::Alias(_) => match self.cx.types.shape(from) {
                Type::Permission(..) => Type::Null,
                shape => shape,
            },
            shape => shape.clone(),
        };
        // The same holds for the target: only a machine type itself counts, not an alias of it.
        let to_shape = match self.cx.types.get(ty) {
            Type::Alias(_) => match self.cx.types.shape(ty) {
                Type::Permission(..) => Type::Null,
                shape => shape,
            },
            shape => shape.clone(),
        };
        let (allowed, help) = match to_shape {
            Type::Int => (
                matches!(from_shape, Type::Int | Type::Float | Type::Enum(_)),
                "`to int` takes an int, float or enum",
            ),
            Type::Float => {
                (matches!(from_shape, Type::Int | Type::Float), "`to float` takes an int or float")
            }
            Type::Permission(_, wanted) => (
                match from_shape {
                    Type::Machine => true,
                    Type::Permission(_, has) => wanted.is_subset(&has),
                    _ => false,
                },
                "the source must be a machine that may receive every event of the target",
            ),
            _ => (false, "`to` converts to `int`, `float` or a machine type; use `as` to cast"),
        };
        if !allowed {
            let (from, to) = (self.cx.show(from), self.cx.show(ty));
            self.cx.report(
                Diagnostic::error(codes::BAD_CAST, span, format!("`{from}` cannot be converted to `{to}`"))
                    .help(help),
            );
        }
        self.push(ExprKind::Coerce(operand), ty, span)
    }
}
