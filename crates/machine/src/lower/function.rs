//! The code of one function.
//!
//! Registers: parameters and locals as the typed program numbers them, then temporaries in stack order. A
//! bare variable or literal costs no op: it is an operand where it is used, and hence read late, as P does.
//! Where P copies early (arguments, parts of tuples, the target of a send before its payload is computed),
//! a `Move` does it.

use allways_base::{Idx, IndexVec, Span};
use allways_p::hir::{self, BinaryOp, ExprId, ExprKind, PathKind, PlaceRoot, StmtId, StmtKind};

use super::Lowering;
use crate::ir::{
    Class, Op, Operand, OperandView, ReceiveCase, ReceiveTable, Step, Template, TemplateId, TemplatePiece,
};
use crate::value::Value;

/// Appends the code of a function and returns how many registers it needs.
pub(super) fn lower_body(lowering: &mut Lowering<'_>, id: hir::FunId, function: &hir::Function) -> u32 {
    let entry = lowering.exe.code.len();
    let n_locals = function.locals.len() as u32;
    let Some(body) = &function.body else {
        lowering.exe.code.push(Op::Foreign { fun: id });
        lowering.exe.spans.push(function.span);
        return n_locals;
    };
    let mut f = FunctionLowering {
        lowering,
        function,
        body,
        n_locals,
        n_temps: 0,
        max_temps: 0,
        labels: Vec::new(),
        jumps: Vec::new(),
        conditions: Vec::new(),
        span: function.span,
    };
    f.initialize_locals();
    f.block(&body.block);
    f.span = function.span.at_end();
    let null = f.null();
    f.emit(Op::Return { src: null });
    f.resolve_labels(entry);
    n_locals + f.max_temps
}

/// A place in the code that is not known yet; jumps hold its number until the function is done.
type Label = u32;

/// Where `break` and `continue` lead. A receive case catches `break` only, as in P.
#[derive(Clone, Copy)]
struct Jumps {
    on_break: Label,
    on_continue: Option<Label>,
}

pub(super) struct FunctionLowering<'a, 'b> {
    pub(super) lowering: &'a mut Lowering<'b>,
    function: &'a hir::Function,
    pub(super) body: &'a hir::Body,
    n_locals: u32,
    n_temps: u32,
    max_temps: u32,
    labels: Vec<u32>,
    jumps: Vec<Jumps>,
    /// Conditions of the `if`s around, for people.
    pub(super) conditions: Vec<ExprId>,
    /// The source of the ops being made.
    span: Span,
}

impl<'a> FunctionLowering<'a, '_> {
    fn emit(&mut self, op: Op) {
        self.lowering.exe.code.push(op);
        self.lowering.exe.spans.push(self.span);
    }

    pub(super) fn here(&self) -> u32 {
        self.lowering.exe.code.len() as u32
    }

    fn new_label(&mut self) -> Label {
        self.labels.push(u32::MAX);
        self.labels.len() as u32 - 1
    }

    fn place_label(&mut self, label: Label) {
        self.labels[label as usize] = self.here();
    }

    fn resolve_labels(&mut self, entry: usize) {
        for op in &mut self.lowering.exe.code[entry..] {
            match op {
                Op::Jump { to }
                | Op::JumpIf { to, .. }
                | Op::JumpIfNot { to, .. }
                | Op::Next { end: to, .. } => *to = self.labels[*to as usize],
                _ => {}
            }
        }
    }

    fn temp(&mut self) -> Operand {
        let register = self.n_locals + self.n_temps;
        self.n_temps += 1;
        self.max_temps = self.max_temps.max(self.n_temps);
        Operand::register(register)
    }

    fn next_register(&self) -> u32 {
        self.n_locals + self.n_temps
    }

    fn is_temp(&self, operand: Operand) -> bool {
        matches!(operand.view(), OperandView::Register(n) if n >= self.n_locals)
    }

    fn value(&mut self, value: Value) -> Operand {
        Operand::constant(self.lowering.constant(value))
    }

    fn null(&mut self) -> Operand {
        self.value(Value::NULL)
    }

    fn initialize_locals(&mut self) {
        let in_cases: Vec<hir::LocalId> = self
            .body
            .stmts
            .iter()
            .filter_map(|stmt| match &stmt.kind {
                StmtKind::Receive { cases } => Some(cases),
                _ => None,
            })
            .flatten()
            .flat_map(|case| case.locals.iter().copied().chain(case.param))
            .collect();
        for local in self.function.locals.ids().skip(self.function.n_params) {
            if !in_cases.contains(&local) {
                self.initialize(local);
            }
        }
    }

    fn initialize(&mut self, local: hir::LocalId) {
        let value = self.lowering.default_value(self.function.locals[local].ty);
        let src = self.value(value);
        self.emit(Op::Move { dst: Operand::register(local.as_u32()), src });
    }

    // Expressions.

    /// Where the value of an expression will be when the op that needs it executes.
    fn operand(&mut self, expr: ExprId) -> Operand {
        if let Some(operand) = self.bare(expr) {
            return operand;
        }
        let dst = self.temp();
        self.expr_into(expr, dst);
        dst
    }

    /// Like [`operand`](Self::operand), but copied now if evaluating `later` could change it.
    fn operand_before(&mut self, expr: ExprId, later: &[Option<ExprId>]) -> Operand {
        if later.iter().flatten().any(|&e| self.may_call(e)) {
            let dst = self.temp();
            self.expr_into(expr, dst);
            return dst;
        }
        self.operand(expr)
    }

    /// A variable or literal, which needs no op.
    pub(super) fn bare(&mut self, expr: ExprId) -> Option<Operand> {
        let body = self.body;
        let value = match &body.exprs[expr].kind {
            ExprKind::Local(local) => return Some(Operand::register(local.as_u32())),
            ExprKind::Field(field) => return Some(Operand::field(field.as_u32())),
            ExprKind::Null => Value::NULL,
            ExprKind::Bool(b) => Value::bool(*b),
            ExprKind::Int(n) | ExprKind::EnumElement(n) => self.lowering.exe.store.int(*n),
            ExprKind::Float(x) => self.lowering.exe.store.float(*x),
            ExprKind::Event(event) => Value::event(*event),
            ExprKind::Param(param) => self.lowering.param_value(*param),
            ExprKind::Default(ty) => self.lowering.default_value(*ty),
            ExprKind::Format(pieces, args) if args.is_empty() => {
                let text: String = pieces
                    .iter()
                    .map(|piece| match piece {
                        hir::FormatPiece::Text(text) => text.as_str(),
                        hir::FormatPiece::Arg(_) => "",
                    })
                    .collect();
                self.lowering.exe.store.string(&text)
            }
            _ => return None,
        };
        Some(self.value(value))
    }

    /// Whether evaluating the expression can change variables.
    fn may_call(&self, expr: ExprId) -> bool {
        let kind = &self.body.exprs[expr].kind;
        matches!(kind, ExprKind::Call(..)) || kind.operands().any(|e| self.may_call(e))
    }

    fn unary(&mut self, operand: ExprId, op: impl FnOnce(Operand) -> Op) {
        let src = self.operand(operand);
        self.emit(op(src));
    }

    /// Evaluates expressions into consecutive temporaries, copying each before the next.
    fn in_a_row(&mut self, exprs: impl IntoIterator<Item = ExprId>) -> u32 {
        let first = self.next_register();
        for expr in exprs {
            let dst = self.temp();
            self.expr_into(expr, dst);
        }
        first
    }

    /// Evaluates an expression. `dst` is written by the last op only, so it may occur in the expression.
    fn expr_into(&mut self, id: ExprId, dst: Operand) {
        let body = self.body;
        let expr = &body.exprs[id];
        let outer_span = std::mem::replace(&mut self.span, expr.span);
        let n_temps = self.n_temps;
        match &expr.kind {
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Event(_)
            | ExprKind::EnumElement(_)
            | ExprKind::Local(_)
            | ExprKind::Field(_)
            | ExprKind::Param(_)
            | ExprKind::Default(_) => {
                if let Some(src) = self.bare(id) {
                    self.emit(Op::Move { dst, src });
                }
            }
            ExprKind::Format(pieces, args) => match self.bare(id) {
                Some(src) => self.emit(Op::Move { dst, src }),
                None => {
                    let template = self.template(pieces, args);
                    let first = self.in_a_row(args.iter().copied());
                    self.emit(Op::Format { dst, template, first });
                }
            },
            ExprKind::This => self.emit(Op::This { dst }),
            ExprKind::Nondet { fair } => self.emit(Op::Flip { dst, fair: *fair }),
            ExprKind::Tuple(parts) => {
                let first = self.in_a_row(parts.iter().copied());
                self.emit(Op::Tuple { dst, first, n: parts.len() as u32 });
            }
            ExprKind::NamedTuple(fields) => {
                let first = self.in_a_row(fields.iter().map(|&(_, e)| e));
                let shape = self.lowering.shape(fields.iter().map(|&(name, _)| name).collect());
                self.emit(Op::Named { dst, first, shape });
            }
            ExprKind::TupleGet(e, index) => {
                let src = self.operand(*e);
                self.emit(Op::Part { dst, src, index: *index as u32 });
            }
            ExprKind::FieldGet(e, name, position) => {
                let src = self.operand(*e);
                let access = self.lowering.access(*name, *position);
                self.emit(Op::Field { dst, src, access });
            }
            ExprKind::Index(e, index) => {
                let src = self.operand(*e);
                let index = self.operand(*index);
                self.emit(Op::Index { dst, src, index });
            }
            ExprKind::Keys(e) => self.unary(*e, |src| Op::Keys { dst, src }),
            ExprKind::Values(e) => self.unary(*e, |src| Op::Values { dst, src }),
            ExprKind::Sizeof(e) => self.unary(*e, |src| Op::Sizeof { dst, src }),
            ExprKind::New(interface, payload) => {
                let payload = self.payload(*payload);
                self.emit(Op::New { dst, interface: *interface, payload });
            }
            ExprKind::Call(fun, args) => {
                let first = self.next_register();
                for (param, &arg) in args.iter().enumerate() {
                    let dst = self.temp();
                    match &body.exprs[arg].kind {
                        ExprKind::Format(pieces, args)
                            if !args.is_empty() && self.lowering.print_only[fun.index()][param] =>
                        {
                            let n_temps = self.n_temps;
                            let template = self.template(pieces, args);
                            let first = self.in_a_row(args.iter().copied());
                            self.emit(Op::FormatForPrint { dst, template, first });
                            self.n_temps = n_temps;
                        }
                        _ => self.expr_into(arg, dst),
                    }
                }
                self.emit(Op::Call { dst, fun: *fun, first });
            }
            ExprKind::Choose(None) => self.emit(Op::Flip { dst, fair: false }),
            ExprKind::Choose(Some(e)) => self.unary(*e, |src| Op::Choose { dst, src }),
            ExprKind::Neg(e) => self.unary(*e, |src| Op::Neg { dst, src }),
            ExprKind::Not(e) => self.unary(*e, |src| Op::Not { dst, src }),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                // The first half is written before the second is read.
                let result = if self.is_temp(dst) { dst } else { self.temp() };
                let done = self.new_label();
                self.expr_into(*a, result);
                self.emit(match op {
                    BinaryOp::And => Op::JumpIfNot { cond: result, to: done },
                    _ => Op::JumpIf { cond: result, to: done },
                });
                self.expr_into(*b, result);
                self.place_label(done);
                if result != dst {
                    self.emit(Op::Move { dst, src: result });
                }
            }
            ExprKind::Binary(op, a, b) => {
                let a = self.operand(*a);
                let b = self.operand(*b);
                self.emit(Op::Binary { op: *op, dst, a, b });
            }
            ExprKind::Cast(e) => {
                let src = self.operand(*e);
                let class = self.lowering.class(expr.ty);
                self.emit(Op::Cast { dst, src, class });
            }
            ExprKind::Coerce(e) => self.coerce(*e, expr.ty, dst),
        }
        self.n_temps = n_temps;
        self.span = outer_span;
    }

    fn coerce(&mut self, e: ExprId, to: hir::TypeId, dst: Operand) {
        let program = self.lowering.program;
        let src = self.operand(e);
        let from = program.types.get(self.body.exprs[e].ty);
        match (program.types.get(to), from) {
            (hir::Type::Int, _) => self.emit(Op::ToInt { dst, src }),
            (hir::Type::Float, _) => self.emit(Op::ToFloat { dst, src }),
            (hir::Type::Permission(_, wanted), hir::Type::Permission(_, known)) if wanted == known => {
                self.emit(Op::Move { dst, src });
            }
            (hir::Type::Permission(_, wanted), _) => {
                let permission = self.lowering.permission(wanted);
                self.emit(Op::ToPermission { dst, src, permission });
            }
            _ => {
                let class = self.lowering.class(to);
                self.emit(Op::Cast { dst, src, class });
            }
        }
    }

    fn payload(&mut self, payload: Option<ExprId>) -> Operand {
        match payload {
            Some(e) => self.operand(e),
            None => self.null(),
        }
    }

    fn template(&mut self, pieces: &[hir::FormatPiece], args: &[ExprId]) -> TemplateId {
        let pieces = pieces.iter().map(|piece| match piece {
            hir::FormatPiece::Text(text) => TemplatePiece::Text(text.clone()),
            hir::FormatPiece::Arg(n) => TemplatePiece::Arg(*n as u32),
        });
        let program = self.lowering.program;
        let has_machines = args.iter().any(|&arg| has_machines(program, self.body.exprs[arg].ty));
        let template = Template { pieces: pieces.collect(), n_args: args.len() as u32, has_machines };
        self.lowering.exe.templates.push(template)
    }

    /// Jumps to `to` when the condition is `wanted`, and goes on otherwise.
    fn jump_when(&mut self, cond: ExprId, wanted: bool, to: Label) {
        let n_temps = self.n_temps;
        match self.body.exprs[cond].kind {
            ExprKind::Not(e) => self.jump_when(e, !wanted, to),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                // `a && b` is false as soon as one is; `a || b` is true as soon as one is.
                if (op == BinaryOp::Or) == wanted {
                    self.jump_when(a, wanted, to);
                    self.jump_when(b, wanted, to);
                } else {
                    let past = self.new_label();
                    self.jump_when(a, !wanted, past);
                    self.jump_when(b, wanted, to);
                    self.place_label(past);
                }
            }
            _ => {
                let cond = self.operand(cond);
                self.emit(match wanted {
                    true => Op::JumpIf { cond, to },
                    false => Op::JumpIfNot { cond, to },
                });
            }
        }
        self.n_temps = n_temps;
    }

    // Places.

    fn root(&self, place: &hir::Place) -> Operand {
        match place.root {
            PlaceRoot::Local(local) => Operand::register(local.as_u32()),
            PlaceRoot::Field(field) => Operand::field(field.as_u32()),
        }
    }

    /// Evaluates the indices of a path. A bare variable among them is read when the store executes, as in P.
    fn path_steps(&mut self, place: &hir::Place) -> Vec<Step> {
        let mut steps = Vec::new();
        for step in &place.path {
            steps.push(match &step.kind {
                PathKind::Tuple(at) => Step::Part(*at as u32),
                PathKind::Field(name, at) => Step::Field(self.lowering.access(*name, *at)),
                PathKind::Index(index) => Step::Index(self.operand(*index)),
            });
        }
        steps
    }

    fn path(&mut self, steps: Vec<Step>) -> u32 {
        self.lowering.exe.paths.push(steps);
        self.lowering.exe.paths.len() as u32 - 1
    }

    // Statements.

    fn block(&mut self, block: &'a [StmtId]) {
        for &stmt in block {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, id: StmtId) {
        let body = self.body;
        let stmt = &body.stmts[id];
        self.span = stmt.span;
        let n_temps = self.n_temps;
        match &stmt.kind {
            StmtKind::Block(block) => self.block(block),
            StmtKind::Assert { cond, message } => {
                let ok = self.new_label();
                self.jump_when(*cond, true, ok);
                let message = match message {
                    Some(message) => self.operand(*message),
                    None => {
                        let empty = self.lowering.exe.store.string("");
                        self.value(empty)
                    }
                };
                self.span = stmt.span;
                self.inspect(*cond);
                self.emit(Op::Fail { message });
                self.place_label(ok);
            }
            StmtKind::Print(e) => match &body.exprs[*e].kind {
                ExprKind::Format(pieces, args) => {
                    let template = self.template(pieces, args);
                    let first = self.in_a_row(args.iter().copied());
                    self.emit(Op::PrintFormat { template, first });
                }
                _ => {
                    let src = self.operand(*e);
                    self.emit(Op::Print { src });
                }
            },
            StmtKind::Return(e) => {
                let src = self.payload(*e);
                self.emit(Op::Return { src });
            }
            // The front end accepts both only where they lead somewhere.
            StmtKind::Break => {
                if let Some(jumps) = self.jumps.last() {
                    let to = jumps.on_break;
                    self.emit(Op::Jump { to });
                }
            }
            StmtKind::Continue => {
                if let Some(to) = self.jumps.iter().rev().find_map(|jumps| jumps.on_continue) {
                    self.emit(Op::Jump { to });
                }
            }
            StmtKind::Assign { place, value } => {
                let root = self.root(place);
                if place.path.is_empty() {
                    self.expr_into(*value, root);
                } else {
                    let steps = self.path_steps(place);
                    let src = self.operand(*value);
                    let path = self.path(steps);
                    self.emit(Op::Store { root, path, src });
                }
            }
            StmtKind::Insert { place, key, value } => {
                let root = self.root(place);
                let mut steps = self.path_steps(place);
                let key = self.operand_before(*key, &[Some(*value)]);
                let src = self.operand(*value);
                steps.push(Step::Index(key));
                let path = self.path(steps);
                self.emit(Op::Insert { root, path, src });
            }
            StmtKind::Add { place, value } => {
                let root = self.root(place);
                let steps = self.path_steps(place);
                let src = self.operand(*value);
                let path = self.path(steps);
                self.emit(Op::Add { root, path, src });
            }
            StmtKind::Remove { place, key } => {
                let root = self.root(place);
                let mut steps = self.path_steps(place);
                let key = self.operand(*key);
                steps.push(Step::Index(key));
                let path = self.path(steps);
                self.emit(Op::Remove { root, path });
            }
            StmtKind::While { cond, body } => {
                let (top, end) = (self.new_label(), self.new_label());
                self.place_label(top);
                self.jump_when(*cond, false, end);
                self.jumps.push(Jumps { on_break: end, on_continue: Some(top) });
                self.stmt(*body);
                self.jumps.pop();
                self.emit(Op::Jump { to: top });
                self.place_label(end);
            }
            StmtKind::Foreach { item, collection, body } => self.foreach(item, *collection, *body),
            StmtKind::If { arms, otherwise } => {
                let end = self.new_label();
                for (cond, then) in arms {
                    let next = self.new_label();
                    self.jump_when(*cond, false, next);
                    self.conditions.push(*cond);
                    self.stmt(*then);
                    self.conditions.pop();
                    self.emit(Op::Jump { to: end });
                    self.place_label(next);
                }
                if let Some(otherwise) = otherwise {
                    self.stmt(*otherwise);
                }
                self.place_label(end);
            }
            StmtKind::Eval(e) => {
                let dst = self.temp();
                self.expr_into(*e, dst);
            }
            StmtKind::Raise { event, payload } => {
                let event = self.operand_before(*event, &[*payload]);
                let payload = self.payload(*payload);
                self.emit(Op::Raise { event, payload });
            }
            StmtKind::Send { target, event, payload } => {
                let target = self.operand_before(*target, &[Some(*event), *payload]);
                let event = self.operand_before(*event, &[*payload]);
                let payload = self.payload(*payload);
                self.emit(Op::Send { target, event, payload });
            }
            StmtKind::Announce { event, payload } => {
                let event = self.operand_before(*event, &[*payload]);
                let payload = self.payload(*payload);
                self.emit(Op::Announce { event, payload });
            }
            StmtKind::Goto { state, payload } => {
                let payload = self.payload(*payload);
                let machine = self.function.owner.unwrap_or(hir::MachineId::from_u32(0));
                let state = self.lowering.control(machine, *state);
                self.emit(Op::Goto { state, payload });
            }
            StmtKind::Receive { cases } => self.receive(cases),
        }
        self.n_temps = n_temps;
        self.span = stmt.span;
    }

    fn foreach(&mut self, item: &hir::Place, collection: ExprId, body: StmtId) {
        let span = self.span;
        let iter = self.next_register();
        let (copy, position) = (self.temp(), self.temp());
        self.expr_into(collection, copy);
        let zero = self.value(Value::ZERO);
        self.emit(Op::Move { dst: position, src: zero });
        let (top, end) = (self.new_label(), self.new_label());
        self.place_label(top);
        let n_temps = self.n_temps;
        if item.path.is_empty() {
            let dst = self.root(item);
            self.emit(Op::Next { dst, iter, end });
        } else {
            let dst = self.temp();
            self.emit(Op::Next { dst, iter, end });
            let steps = self.path_steps(item);
            let path = self.path(steps);
            let root = self.root(item);
            self.emit(Op::Store { root, path, src: dst });
        }
        self.n_temps = n_temps;
        self.jumps.push(Jumps { on_break: end, on_continue: Some(top) });
        self.stmt(body);
        self.jumps.pop();
        self.span = span;
        self.emit(Op::Jump { to: top });
        self.place_label(end);
    }

    fn receive(&mut self, cases: &'a [hir::Case]) {
        let mut by_event = vec![None; self.lowering.program.events.len()];
        let table = self.lowering.exe.receives.push(ReceiveTable { cases: IndexVec::new() });
        self.emit(Op::Receive { table });
        let end = self.new_label();
        self.jumps.push(Jumps { on_break: end, on_continue: None });
        for case in cases {
            let param = case.param.map(|local| {
                let class: Class = self.lowering.class(self.function.locals[local].ty);
                (local.as_u32(), class)
            });
            let entry = ReceiveCase { to: self.here(), param };
            for event in &case.events {
                by_event[event.index()] = Some(entry);
            }
            self.span = case.span;
            for &local in &case.locals {
                self.initialize(local);
            }
            self.block(&case.block);
            self.span = case.span;
            self.emit(Op::Jump { to: end });
        }
        self.jumps.pop();
        self.place_label(end);
        self.lowering.exe.receives[table].cases = by_event.into();
    }
}

/// Whether values of a type may hold references to machines.
pub(super) fn has_machines(program: &hir::Program, ty: hir::TypeId) -> bool {
    let kind = program.types.get(ty);
    let is_reference = matches!(
        kind,
        hir::Type::Error
            | hir::Type::Machine
            | hir::Type::Any
            | hir::Type::Permission(..)
            | hir::Type::Alias(_)
    );
    is_reference || kind.parts().any(|part| has_machines(program, part))
}
