//! Invariants that the user states: conditions on all machines and specs at once, in the words of P's proofs.
//!
//! Connectives and quantifiers become a formula. What is between them is an ordinary condition, except that it reads
//! machines from outside; so it becomes a function whose parameters are what it reads, and is checked, lowered and run like
//! all code. A machine that is named without a quantifier is any machine of that kind.

use allways_base::{Diagnostic, IndexVec, Span, Symbol};

use super::Checker;
use super::bodies::Body;
use super::declare::new_fun;
use crate::codes;
use crate::hir::{
    self, Atom, Effects, ExprId, ExprKind, Formula, FunKind, Invariant, LocalId, MachineId, Read, StmtKind,
};
use crate::syntax::ast::{self, BinaryOp, Decl, Name};
use crate::types::{Type, TypeId, Types};

/// More variables than an invariant has in practice: each may be bound to each machine.
const MAX_VARIABLES: usize = 8;

/// What a part of an invariant reads: its parameters, in order.
pub(super) struct Reads {
    scope: Scope,
    found: Vec<Read>,
}

/// The variables of an invariant.
#[derive(Clone, Default)]
struct Scope {
    /// All of them: what they are called is used again.
    all: Vec<(MachineId, Symbol)>,
    /// Those that a quantifier around the place at hand binds; none where its kind is not known.
    bound: Vec<(Symbol, Option<usize>)>,
    /// Machines that are named without a quantifier.
    free: Vec<(MachineId, usize)>,
    is_too_many: bool,
}

impl Scope {
    fn bind(&mut self, machine: MachineId, name: Symbol) -> usize {
        self.all.push((machine, name));
        self.is_too_many |= self.all.len() > MAX_VARIABLES;
        self.all.len() - 1
    }
}

impl<'a> Checker<'a> {
    pub(super) fn check_invariants(&mut self) {
        for tree in self.trees {
            for decl in &tree.decls {
                if let Decl::Invariant { condition } = decl {
                    self.check_invariant(tree, *condition);
                }
            }
        }
    }

    fn check_invariant(&mut self, tree: &'a ast::Tree, condition: ast::ExprId) {
        let span = tree.exprs[condition].span;
        let mut scope = Scope::default();
        let mut formula = self.formula(tree, condition, &mut scope);
        // A machine that is named is any of its kind.
        for &(_, variable) in scope.free.iter().rev() {
            formula = Formula::Quantified { is_universal: true, variable, body: Box::new(formula) };
        }
        if scope.is_too_many {
            let message = format!("an invariant may quantify over at most {MAX_VARIABLES} machines");
            self.error(codes::BAD_INVARIANT, span, message);
        }
        self.invariants.push(Invariant { span, variables: scope.all, formula });
    }

    fn formula(&mut self, tree: &'a ast::Tree, id: ast::ExprId, scope: &mut Scope) -> Formula {
        match &tree.exprs[id].kind {
            ast::ExprKind::Not(operand) => Formula::Not(Box::new(self.formula(tree, *operand, scope))),
            ast::ExprKind::Binary(
                op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Implies | BinaryOp::Iff),
                ..,
            ) => self.chain(tree, id, *op, scope),
            ast::ExprKind::Quantified(quantified) => {
                let n_bound = scope.bound.len();
                let mut variables = Vec::new();
                for variable in &quantified.variables {
                    let kind = self.quantified_kind(tree, variable);
                    let number = kind.map(|machine| scope.bind(machine, variable.name.symbol));
                    scope.bound.push((variable.name.symbol, number));
                    variables.extend(number);
                }
                let mut body = self.formula(tree, quantified.body, scope);
                scope.bound.truncate(n_bound);
                let is_universal = quantified.is_universal;
                for variable in variables.into_iter().rev() {
                    body = Formula::Quantified { is_universal, variable, body: Box::new(body) };
                }
                body
            }
            _ => Formula::Atom(self.atom(tree, id, scope)),
        }
    }

    /// A chain of one connective, which leans to the left and may be long.
    fn chain(&mut self, tree: &'a ast::Tree, id: ast::ExprId, op: BinaryOp, scope: &mut Scope) -> Formula {
        let mut rest = Vec::new();
        let mut first = id;
        while let ast::ExprKind::Binary(found, left, right, _) = tree.exprs[first].kind
            && found == op
        {
            rest.push(right);
            first = left;
        }
        let mut formula = self.formula(tree, first, scope);
        for right in rest.into_iter().rev() {
            let (left, right) = (Box::new(formula), Box::new(self.formula(tree, right, scope)));
            formula = match op {
                BinaryOp::And => Formula::And(left, right),
                BinaryOp::Implies => Formula::Or(Box::new(Formula::Not(left)), right),
                BinaryOp::Iff => Formula::Iff(left, right),
                _ => Formula::Or(left, right),
            };
        }
        formula
    }

    /// The declaration of the machines that a variable of a quantifier stands for.
    fn quantified_kind(&mut self, tree: &ast::Tree, variable: &ast::Var) -> Option<MachineId> {
        let ty = &tree.types[variable.ty];
        let ast::TypeKind::Named(symbol) = ty.kind else {
            let message = "a quantifier of an invariant is over machines of one kind";
            self.report(
                Diagnostic::error(codes::BAD_INVARIANT, ty.span, message)
                    .help("write the name of a machine: `forall (c: Client) :: ...`"),
            );
            return None;
        };
        let found = self.globals.machines.get(&symbol).copied();
        if let Some(machine) = found.filter(|&machine| self.machines[machine].is_monitor()) {
            let declared = self.machines[machine].span;
            let text = self.text(symbol).to_owned();
            self.report(
                Diagnostic::error(
                    codes::BAD_INVARIANT,
                    ty.span,
                    format!("a quantifier cannot range over the spec `{text}`, of which there is only one"),
                )
                .also(declared, "declared here")
                .help(format!("write `{text}` itself: `{text}.variable`, `{text} is State`")),
            );
            return None;
        }
        if found.is_none() {
            let machines = self.machines.iter().filter(|machine| !machine.is_monitor());
            let candidates = machines.map(|machine| machine.name).collect();
            self.unknown(codes::BAD_INVARIANT, Name { symbol, span: ty.span }, "machine", candidates);
        }
        found
    }

    /// The function of a condition without connectives and quantifiers.
    fn atom(&mut self, tree: &'a ast::Tree, id: ast::ExprId, scope: &mut Scope) -> Atom {
        let span = tree.exprs[id].span;
        let mut body = Body {
            cx: self,
            tree,
            owner: None,
            in_monitor: false,
            result: Types::NULL,
            locals: IndexVec::new(),
            scopes: vec![Default::default()],
            exprs: IndexVec::new(),
            stmts: IndexVec::new(),
            effects: Effects::default(),
            callees: Vec::new(),
            case_depth: 0,
            reads: Some(Reads { scope: std::mem::take(scope), found: Vec::new() }),
        };
        let cond = body.expr(id);
        body.check_fits(cond, Types::BOOL, "an invariant");
        let assertion = body.stmts.push(hir::Stmt { kind: StmtKind::Assert { cond, message: None }, span });
        let Body { locals, exprs, stmts, effects, mut callees, reads, .. } = body;
        callees.sort_unstable();
        callees.dedup();
        let Reads { scope: after, found: reads } = reads.expect("an atom keeps what it reads");
        *scope = after;
        let mut function = new_fun(None, span, FunKind::Anonymous, None);
        function.n_params = locals.len();
        function.locals = locals;
        function.effects = effects;
        function.callees = callees;
        function.body = Some(hir::Body { exprs, stmts, block: vec![assertion] });
        Atom { fun: self.functions.push(function), reads, span }
    }

    /// An invariant only looks.
    pub(super) fn check_invariant_effects(&mut self) {
        let mut funs = Vec::new();
        for invariant in &self.invariants {
            let mut open = vec![&invariant.formula];
            while let Some(formula) = open.pop() {
                match formula {
                    Formula::Atom(atom) => funs.push((atom.fun, atom.span)),
                    Formula::Not(inner) | Formula::Quantified { body: inner, .. } => open.push(inner),
                    Formula::And(a, b) | Formula::Or(a, b) | Formula::Iff(a, b) => open.extend([&**a, &**b]),
                }
            }
        }
        for (fun, span) in funs {
            let what = match self.functions[fun].effects {
                Effects { sends: true, .. } => "send or announce",
                Effects { creates: true, .. } => "create machines",
                Effects { receives: true, .. } => "receive",
                Effects { nondet: true, .. } => "make choices",
                Effects { raises: true, .. } => "raise events",
                Effects { gotos: true, .. } => "change states",
                _ => continue,
            };
            let message = format!("an invariant only reads the configuration and cannot {what}");
            self.error(codes::BAD_INVARIANT, span, message);
        }
    }

    /// The machine or spec of this name.
    fn machine_named(&self, symbol: Symbol) -> Option<MachineId> {
        self.globals.machines.get(&symbol).copied()
    }
}

impl Body<'_, '_> {
    /// An expression that reads a machine or spec from outside, in an invariant.
    pub(super) fn read(&mut self, id: ast::ExprId) -> Option<ExprId> {
        let tree = self.tree;
        let ast::Expr { kind, span } = &tree.exprs[id];
        match kind {
            ast::ExprKind::Name(symbol) => self.read_machine(*symbol, *span),
            ast::ExprKind::Field(operand, name) => self.read_field(*operand, *name, *span),
            ast::ExprKind::Is(operand, name) => Some(self.read_is(*operand, *name, *span)),
            ast::ExprKind::Binary(BinaryOp::In, left, right, op_span) => {
                self.state_behind_in(*left, *right, *op_span, *span)
            }
            _ => None,
        }
    }

    pub(super) fn misplaced_quantifier(&mut self, span: Span) -> ExprId {
        self.cx.report(
            Diagnostic::error(codes::BAD_INVARIANT, span, "a quantifier cannot be part of a computation")
                .help("use it alone, or under `!`, `&&`, `||`, `==>` and `<==>`"),
        );
        self.error_expr(span)
    }

    /// A parameter that stands for what is read.
    fn param(&mut self, read: Read, ty: TypeId, span: Span) -> ExprId {
        let reads = self.reads.as_mut().expect("only invariants read");
        let known = reads.found.iter().position(|known| *known == read);
        let local = match known {
            Some(at) => LocalId::from_u32(at as u32),
            None => {
                reads.found.push(read);
                // No name can clash with it: the part has no variables of its own.
                let name = crate::syntax::words::THIS;
                self.locals.push(hir::Variable { name, span, ty })
            }
        };
        self.push(ExprKind::Local(local), ty, span)
    }

    /// What an expression reads, if it is nothing but that.
    fn read_of(&self, expr: ExprId) -> Option<Read> {
        let ExprKind::Local(local) = self.exprs[expr].kind else { return None };
        self.reads.as_ref()?.found.get(local.as_u32() as usize).cloned()
    }

    fn machine_type(&mut self, machine: MachineId) -> TypeId {
        let machine = &self.cx.machines[machine];
        let ty = Type::Permission(machine.name, machine.receives.clone());
        self.cx.types.intern(ty)
    }

    /// A bound variable, or any machine of the kind that is named.
    fn read_machine(&mut self, symbol: Symbol, span: Span) -> Option<ExprId> {
        let scope = &mut self.reads.as_mut()?.scope;
        let bound = scope.bound.iter().rev().find(|&&(name, _)| name == symbol);
        let variable = match bound {
            Some(&(_, Some(variable))) => variable,
            Some(&(_, None)) => return Some(self.error_expr(span)),
            None => {
                let machine = self.cx.machine_named(symbol)?;
                if self.cx.machines[machine].is_monitor() {
                    return None;
                }
                match scope.free.iter().find(|&&(known, _)| known == machine) {
                    Some(&(_, variable)) => variable,
                    None => {
                        let variable = scope.bind(machine, symbol);
                        scope.free.push((machine, variable));
                        variable
                    }
                }
            }
        };
        let machine = scope.all[variable].0;
        let ty = self.machine_type(machine);
        Some(self.param(Read::Machine(variable), ty, span))
    }

    /// The spec that an expression names, if it is nothing else.
    fn spec_of(&self, operand: ast::ExprId) -> Option<MachineId> {
        let ast::ExprKind::Name(symbol) = self.tree.exprs[operand].kind else { return None };
        let is_bound = self.reads.as_ref()?.scope.bound.iter().any(|&(name, _)| name == symbol);
        let machine = self.cx.machine_named(symbol)?;
        (!is_bound && self.cx.machines[machine].is_monitor()).then_some(machine)
    }

    /// `e.v` of a machine or spec; of anything else it is the field of a tuple.
    fn read_field(&mut self, operand: ast::ExprId, name: Name, span: Span) -> Option<ExprId> {
        if let Some(spec) = self.spec_of(operand) {
            let Some((field, ty)) = self.field_of(spec, name) else { return Some(self.error_expr(span)) };
            return Some(self.param(Read::SpecField(spec, field), ty, span));
        }
        let operand = self.expr(operand);
        let ty = self.ty(operand);
        let shape = self.cx.types.shape(ty);
        if shape == Type::Machine {
            let operand_span = self.span(operand);
            self.cx.report(
                Diagnostic::error(
                    codes::BAD_INVARIANT,
                    operand_span,
                    "this may be any machine, with any variables",
                )
                .help("name the kind: `forall (s: Server) :: x == s ==> s.variable == ...`"),
            );
            return Some(self.error_expr(span));
        }
        let Type::Permission(kind, _) = shape else {
            // Not through the syntax again: what was read once is read.
            return Some(match self.named_field(ty, name) {
                Some((index, ty)) => self.push(ExprKind::FieldGet(operand, name.symbol, index), ty, span),
                None => self.error_expr(span),
            });
        };
        let found = self.machine_behind(operand, kind);
        let Some((of, machine)) = found else { return Some(self.error_expr(span)) };
        let Some((field, ty)) = self.field_of(machine, name) else { return Some(self.error_expr(span)) };
        Some(self.param(Read::Field(Box::new(of), machine, field), ty, span))
    }

    /// The machine that a reference leads to, if it can be looked into.
    fn machine_behind(&mut self, operand: ExprId, kind: Symbol) -> Option<(Read, MachineId)> {
        let span = self.span(operand);
        let Some(machine) = self.cx.machine_named(kind) else {
            let text = self.cx.text(kind).to_owned();
            self.cx.report(
                Diagnostic::error(
                    codes::BAD_INVARIANT,
                    span,
                    format!("`{text}` is not the name of a machine"),
                )
                .help("name the kind: `forall (s: Server) :: x == s ==> ...`"),
            );
            return None;
        };
        let Some(of) = self.read_of(operand) else {
            self.cx.report(
                Diagnostic::error(
                    codes::BAD_INVARIANT,
                    span,
                    "only a machine name or a reference in a variable can be followed here",
                )
                .help("name the machine: `forall (s: Server) :: x == s ==> ...`"),
            );
            return None;
        };
        Some((of, machine))
    }

    fn field_of(&mut self, machine: MachineId, name: Name) -> Option<(hir::FieldId, TypeId)> {
        let fields = &self.cx.machines[machine].fields;
        if let Some((field, variable)) = fields.iter_ids().find(|(_, field)| field.name == name.symbol) {
            return Some((field, self.cx.types.canonical(variable.ty)));
        }
        let candidates = fields.iter().map(|field| field.name).collect();
        let kind = format!("variable of `{}`", self.cx.text(self.cx.machines[machine].name));
        self.cx.unknown(codes::BAD_INVARIANT, name, &kind, candidates);
        None
    }

    fn read_is(&mut self, operand: ast::ExprId, name: Name, span: Span) -> ExprId {
        if let Some(spec) = self.spec_of(operand) {
            let Some(state) = self.state_of(spec, name) else { return self.error_expr(span) };
            return self.param(Read::SpecIsIn(spec, state), Types::BOOL, span);
        }
        let operand = self.expr(operand);
        let ty = self.ty(operand);
        let is_kind =
            self.cx.machine_named(name.symbol).filter(|&machine| !self.cx.machines[machine].is_monitor());
        match (self.cx.types.shape(ty), is_kind) {
            (Type::Error, _) => self.error_expr(span),
            (Type::Machine | Type::Permission(..), Some(machine)) => match self.read_of(operand) {
                Some(of) => self.param(Read::IsKind(Box::new(of), machine), Types::BOOL, span),
                None => {
                    self.machine_behind(operand, name.symbol);
                    self.error_expr(span)
                }
            },
            (Type::Permission(kind, _), None) => {
                let found = self.machine_behind(operand, kind);
                let Some((of, machine)) = found else { return self.error_expr(span) };
                let Some(state) = self.state_of(machine, name) else { return self.error_expr(span) };
                self.param(Read::IsIn(Box::new(of), machine, state), Types::BOOL, span)
            }
            (Type::Machine, None) => {
                let operand_span = self.span(operand);
                self.cx.report(
                    Diagnostic::error(
                        codes::BAD_INVARIANT,
                        operand_span,
                        "this may be any machine, with any states",
                    )
                    .help("name the kind: `forall (s: Server) :: x == s ==> s is Busy`"),
                );
                self.error_expr(span)
            }
            _ => {
                let operand_span = self.span(operand);
                let text = self.cx.show(ty);
                self.cx.report(
                    Diagnostic::error(
                        codes::BAD_INVARIANT,
                        operand_span,
                        "only a machine or spec is in a state",
                    )
                    .label(format!("this has type `{text}`")),
                );
                self.error_expr(span)
            }
        }
    }

    fn state_of(&mut self, machine: MachineId, name: Name) -> Option<hir::StateId> {
        let states = &self.cx.machines[machine].states;
        if let Some((state, _)) = states.iter_ids().find(|(_, state)| state.name == name.symbol) {
            return Some(state);
        }
        let candidates = states.iter().map(|state| state.name).collect();
        let kind = format!("state of `{}`", self.cx.text(self.cx.machines[machine].name));
        self.cx.unknown(codes::UNKNOWN_STATE, name, &kind, candidates);
        None
    }

    /// `c in Waiting`, where only `is` will do.
    fn state_behind_in(
        &mut self,
        left: ast::ExprId,
        right: ast::ExprId,
        op_span: Span,
        span: Span,
    ) -> Option<ExprId> {
        let ast::ExprKind::Name(symbol) = self.tree.exprs[right].kind else { return None };
        let is_state = |machine: &hir::Machine| machine.states.iter().any(|state| state.name == symbol);
        let is_known = self.lookup_local(symbol).is_some() || !self.cx.machines.iter().any(is_state);
        if is_known {
            return None;
        }
        let (what, state) = (self.cx.sources.text(self.tree.exprs[left].span), self.cx.text(symbol));
        let help = format!("write `{what} is {state}`");
        self.cx
            .report(Diagnostic::error(codes::BAD_INVARIANT, op_span, "`in` is for collections").help(help));
        Some(self.error_expr(span))
    }
}
