//! Tree to text. The text parses back to the same tree, and is plain Boogie wherever the tree is.
//!
//! Parentheses appear where the grammar needs them, and around every conjunction inside a
//! disjunction, which the Boogie tool insists on.

use crate::parser::{POSTFIX_LEVEL, UNARY_LEVEL, level};
use crate::tree::*;

/// The whole program as Boogie text.
pub fn print(program: &Program) -> String {
    let mut printer = Printer { program, out: String::new(), indent: 0 };
    let mut after_long = false;
    for (idx, decl) in program.decls.iter().enumerate() {
        let long = matches!(decl.kind, DeclKind::Procedure(_) | DeclKind::Implementation(_));
        if idx > 0 && (long || after_long) {
            printer.out.push('\n');
        }
        after_long = long;
        printer.decl(decl);
    }
    printer.out
}

/// One expression as text.
pub fn print_expr(program: &Program, expr: ExprId) -> String {
    let mut printer = Printer { program, out: String::new(), indent: 0 };
    printer.expr(expr);
    printer.out
}

/// One type as text.
pub fn print_type(program: &Program, ty: TypeId) -> String {
    let mut printer = Printer { program, out: String::new(), indent: 0 };
    printer.ty(ty, false);
    printer.out
}

/// One statement as text on one line; of `if` and `while` only the head.
pub fn print_stmt_head(program: &Program, stmt: StmtId) -> String {
    let mut printer = Printer { program, out: String::new(), indent: 0 };
    match &program.stmts[stmt].kind {
        StmtKind::If { arms, .. } => {
            printer.out.push_str("if ");
            printer.guard(arms.first().and_then(|arm| arm.guard));
        }
        StmtKind::While { guard, .. } => {
            printer.out.push_str("while ");
            printer.guard(*guard);
        }
        _ => printer.stmt(stmt),
    }
    printer.out.truncate(printer.out.trim_end().len());
    printer.out
}

struct Printer<'a> {
    program: &'a Program,
    out: String,
    indent: usize,
}

/// What is left to print of an expression, topmost last.
enum Work {
    Text(&'static str),
    Symbol(allways_base::Symbol),
    Type(TypeId),
    Number(u32),
    /// An expression that gets parentheses when it binds less tightly than the number says.
    Expr(ExprId, u8),
    Binders(ExprId),
}

/// Where any expression stands without parentheses.
const ANY: u8 = 0;

impl<'a> Printer<'a> {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn symbol(&mut self, symbol: allways_base::Symbol) {
        let text = self.program.names.text(symbol);
        self.out.push_str(text);
    }

    fn start_line(&mut self) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
    }

    /// Items with commas between.
    fn list<T>(&mut self, items: &[T], item: impl Fn(&mut Self, &T)) {
        for (idx, each) in items.iter().enumerate() {
            if idx > 0 {
                self.text(", ");
            }
            item(self, each);
        }
    }

    // -- declarations

    fn decl(&mut self, decl: &Decl) {
        match &decl.kind {
            DeclKind::Type(ty) => {
                self.text("type ");
                self.attrs(&decl.attrs);
                if ty.finite {
                    self.text("finite ");
                }
                self.symbol(ty.name.symbol);
                for param in &ty.params {
                    self.text(" ");
                    self.symbol(param.symbol);
                }
                if let Some(synonym) = ty.synonym {
                    self.text(" = ");
                    self.ty(synonym, false);
                }
                self.text(";\n");
            }
            DeclKind::Const(constant) => {
                self.text("const ");
                self.attrs(&decl.attrs);
                if constant.unique {
                    self.text("unique ");
                }
                self.symbol(constant.name.symbol);
                self.text(": ");
                self.ty(constant.ty, false);
                if let Some(order) = &constant.order {
                    self.order(order);
                }
                self.text(";\n");
            }
            DeclKind::Function(function) => self.function(decl, function),
            DeclKind::Axiom(expr) => {
                self.text("axiom ");
                self.attrs(&decl.attrs);
                self.expr(*expr);
                self.text(";\n");
            }
            DeclKind::Var(binding) => {
                self.text("var ");
                self.attrs(&decl.attrs);
                self.binding(binding);
                self.text(";\n");
            }
            DeclKind::Procedure(procedure) => self.procedure(decl, procedure),
            DeclKind::Implementation(implementation) => {
                self.text("implementation ");
                self.attrs(&decl.attrs);
                let Implementation { name, type_params, params, results, body } = implementation;
                self.signature(*name, type_params, params, results);
                self.text("\n");
                self.body(body);
            }
        }
    }

    fn order(&mut self, order: &Order) {
        self.text(" <:");
        for (idx, (unique, parent)) in order.parents.iter().enumerate() {
            self.text(if idx > 0 { ", " } else { " " });
            if *unique {
                self.text("unique ");
            }
            self.symbol(parent.symbol);
        }
        if order.complete {
            self.text(" complete");
        }
    }

    fn function(&mut self, decl: &Decl, function: &FunctionDecl) {
        self.text("function ");
        self.attrs(&decl.attrs);
        self.symbol(function.name.symbol);
        self.type_params(&function.type_params);
        self.text("(");
        self.list(&function.params, Self::function_param);
        self.text(") returns (");
        self.function_param(&function.result);
        self.text(")");
        match function.body {
            Some(body) => {
                self.text(" { ");
                self.expr(body);
                self.text(" }\n");
            }
            None => self.text(";\n"),
        }
    }

    fn function_param(&mut self, param: &FunctionParam) {
        self.attrs(&param.attrs);
        if let Some(name) = param.name {
            self.symbol(name.symbol);
            self.text(": ");
        }
        self.ty(param.ty, false);
    }

    fn procedure(&mut self, decl: &Decl, procedure: &ProcedureDecl) {
        self.text("procedure ");
        self.attrs(&decl.attrs);
        let ProcedureDecl { name, type_params, params, results, specs, body } = procedure;
        self.signature(*name, type_params, params, results);
        self.text(if body.is_some() { "\n" } else { ";\n" });
        self.indent += 1;
        for spec in specs {
            self.spec(spec);
        }
        self.indent -= 1;
        if let Some(body) = body {
            self.body(body);
        }
    }

    fn signature(&mut self, name: Ident, type_params: &[Ident], params: &[Binding], results: &[Binding]) {
        self.symbol(name.symbol);
        self.type_params(type_params);
        self.text("(");
        self.list(params, Self::param);
        self.text(")");
        if !results.is_empty() {
            self.text(" returns (");
            self.list(results, Self::param);
            self.text(")");
        }
    }

    fn spec(&mut self, spec: &Spec) {
        self.start_line();
        if spec.free {
            self.text("free ");
        }
        match &spec.kind {
            SpecKind::Requires(expr) => {
                self.text("requires ");
                self.attrs(&spec.attrs);
                self.expr(*expr);
            }
            SpecKind::Ensures(expr) => {
                self.text("ensures ");
                self.attrs(&spec.attrs);
                self.expr(*expr);
            }
            SpecKind::Modifies(names) => {
                self.text("modifies ");
                self.attrs(&spec.attrs);
                self.list(names, |p, name| p.symbol(name.symbol));
            }
            SpecKind::Posts(names) => {
                self.text("posts ");
                self.list(names, |p, name| p.symbol(name.symbol));
            }
        }
        self.text(";\n");
    }

    fn param(&mut self, binding: &Binding) {
        self.attrs(&binding.attrs);
        self.binding(binding);
    }

    fn binding(&mut self, binding: &Binding) {
        self.symbol(binding.name.symbol);
        self.text(": ");
        self.ty(binding.ty, false);
        if let Some(clause) = binding.where_clause {
            self.text(" where ");
            self.expr(clause);
        }
    }

    /// Attributes with a blank after each.
    fn attrs(&mut self, attrs: &[Attr]) {
        for attr in attrs {
            self.text("{:");
            self.symbol(attr.name.symbol);
            for (idx, &arg) in attr.args.iter().enumerate() {
                self.text(if idx > 0 { ", " } else { " " });
                self.expr(arg);
            }
            self.text("} ");
        }
    }

    // -- statements

    fn body(&mut self, body: &Body) {
        self.text("{\n");
        self.indent += 1;
        for local in &body.locals {
            self.start_line();
            self.text("var ");
            self.param(local);
            self.text(";\n");
        }
        if !body.locals.is_empty() && !body.block.stmts.is_empty() {
            self.text("\n");
        }
        self.indent -= 1;
        self.block_rest(&body.block);
        self.text("\n");
    }

    /// The statements of a block one level in, and its closing brace without a line break.
    fn block_rest(&mut self, block: &Block) {
        self.indent += 1;
        for &stmt in &block.stmts {
            self.stmt(stmt);
        }
        self.indent -= 1;
        self.start_line();
        self.text("}");
    }

    fn stmt(&mut self, id: StmtId) {
        let program = self.program;
        if let StmtKind::Label(label) = &program.stmts[id].kind {
            // Labels stand one level out, where the eye looks for jump targets.
            self.indent = self.indent.saturating_sub(1);
            self.start_line();
            self.indent += 1;
            self.symbol(label.symbol);
            self.text(":\n");
            return;
        }
        self.start_line();
        match &program.stmts[id].kind {
            StmtKind::Label(_) => {}
            StmtKind::Assert { attrs, expr } => self.condition("assert ", attrs, *expr),
            StmtKind::Assume { attrs, expr } => self.condition("assume ", attrs, *expr),
            StmtKind::Havoc(names) => {
                self.text("havoc ");
                self.list(names, |p, name| p.symbol(name.symbol));
                self.text(";");
            }
            StmtKind::Assign { lhs, rhs } => {
                self.list(lhs, |p, lhs| {
                    p.symbol(lhs.name.symbol);
                    for indices in &lhs.indices {
                        p.text("[");
                        p.list(indices, |p, &index| p.expr(index));
                        p.text("]");
                    }
                });
                self.text(" := ");
                self.list(rhs, |p, &value| p.expr(value));
                self.text(";");
            }
            StmtKind::Call(call) => self.call(call),
            StmtKind::Yield => self.text("yield;"),
            StmtKind::If { arms, otherwise } => {
                for (idx, arm) in arms.iter().enumerate() {
                    self.text(if idx > 0 { " else if " } else { "if " });
                    self.guard(arm.guard);
                    self.text(" {\n");
                    self.block_rest(&arm.body);
                }
                if let Some(block) = otherwise {
                    self.text(" else {\n");
                    self.block_rest(block);
                }
            }
            StmtKind::While { guard, invariants, body } => {
                self.text("while ");
                self.guard(*guard);
                if invariants.is_empty() {
                    self.text(" {\n");
                } else {
                    self.text("\n");
                    self.indent += 1;
                    for invariant in invariants {
                        self.start_line();
                        let word = if invariant.free { "free invariant " } else { "invariant " };
                        self.condition(word, &invariant.attrs, invariant.expr);
                        self.text("\n");
                    }
                    self.indent -= 1;
                    self.start_line();
                    self.text("{\n");
                }
                self.block_rest(body);
            }
            StmtKind::Break(label) => {
                self.text("break");
                if let Some(label) = label {
                    self.text(" ");
                    self.symbol(label.symbol);
                }
                self.text(";");
            }
            StmtKind::Goto(labels) => {
                self.text("goto ");
                self.list(labels, |p, label| p.symbol(label.symbol));
                self.text(";");
            }
            StmtKind::Return => self.text("return;"),
        }
        self.text("\n");
    }

    fn condition(&mut self, word: &str, attrs: &[Attr], expr: ExprId) {
        self.text(word);
        self.attrs(attrs);
        self.expr(expr);
        self.text(";");
    }

    fn guard(&mut self, guard: Option<ExprId>) {
        self.text("(");
        match guard {
            Some(guard) => self.expr(guard),
            None => self.text("*"),
        }
        self.text(")");
    }

    fn call(&mut self, call: &Call) {
        if call.is_async {
            self.text("async ");
        }
        if call.free {
            self.text("free ");
        }
        self.text("call ");
        self.attrs(&call.attrs);
        if !call.outs.is_empty() {
            self.list(&call.outs, |p, out| match out {
                Some(name) => p.symbol(name.symbol),
                None => p.text("*"),
            });
            self.text(" := ");
        }
        self.symbol(call.callee.symbol);
        self.text("(");
        self.list(&call.args, |p, &arg| p.expr(arg));
        self.text(");");
    }

    // -- types

    fn type_params(&mut self, params: &[Ident]) {
        if !params.is_empty() {
            self.text("<");
            self.list(params, |p, param| p.symbol(param.symbol));
            self.text(">");
        }
    }

    /// `atomic` asks for parentheses around what has blanks in it.
    fn ty(&mut self, id: TypeId, atomic: bool) {
        match &self.program.types[id].kind {
            TypeKind::Bool => self.text("bool"),
            TypeKind::Int => self.text("int"),
            TypeKind::Real => self.text("real"),
            TypeKind::Bv(width) => {
                self.text("bv");
                self.text(&width.to_string());
            }
            TypeKind::Named(name, args) => {
                let parens = atomic && !args.is_empty();
                self.text(if parens { "(" } else { "" });
                self.symbol(*name);
                for &arg in args {
                    self.text(" ");
                    self.ty(arg, true);
                }
                self.text(if parens { ")" } else { "" });
            }
            TypeKind::Map { type_params, args, result } => {
                self.text(if atomic { "(" } else { "" });
                self.type_params(type_params);
                self.text("[");
                self.list(args, |p, &arg| p.ty(arg, false));
                self.text("]");
                self.ty(*result, false);
                self.text(if atomic { ")" } else { "" });
            }
        }
    }

    // -- expressions

    fn expr(&mut self, root: ExprId) {
        let mut work = vec![Work::Expr(root, ANY)];
        while let Some(item) = work.pop() {
            match item {
                Work::Text(text) => self.text(text),
                Work::Symbol(symbol) => self.symbol(symbol),
                Work::Type(ty) => self.ty(ty, false),
                Work::Number(number) => self.text(&number.to_string()),
                Work::Binders(id) => self.binders(id),
                Work::Expr(id, min_level) => {
                    let start = work.len();
                    if self.level_of(id) < min_level {
                        work.push(Work::Text("("));
                        self.parts(id, &mut work);
                        work.push(Work::Text(")"));
                    } else {
                        self.parts(id, &mut work);
                    }
                    work[start..].reverse();
                }
            }
        }
    }

    /// How tightly an expression binds. What ends in an open operand (a coercion's type, the last
    /// branch of a conditional) binds least, and so has parentheses in every operand position.
    fn level_of(&self, id: ExprId) -> u8 {
        match &self.program.exprs[id].kind {
            ExprKind::Coerce { .. } | ExprKind::If { .. } => ANY,
            ExprKind::Binary(op, ..) => level(*op) + 1,
            ExprKind::Unary(..) => UNARY_LEVEL + 1,
            ExprKind::Select { .. } | ExprKind::Store { .. } | ExprKind::Extract { .. } => POSTFIX_LEVEL + 1,
            ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Real(_)
            | ExprKind::Bv { .. }
            | ExprKind::Text(_)
            | ExprKind::Var(_)
            | ExprKind::Apply { .. }
            | ExprKind::Old(_)
            | ExprKind::ToInt(_)
            | ExprKind::ToReal(_)
            | ExprKind::Quantified(_)
            | ExprKind::Let(_) => u8::MAX,
        }
    }

    /// The parts of an expression in reading order.
    fn parts(&self, id: ExprId, work: &mut Vec<Work>) {
        let postfix = POSTFIX_LEVEL + 1;
        match &self.program.exprs[id].kind {
            ExprKind::Bool(value) => work.push(Work::Text(if *value { "true" } else { "false" })),
            ExprKind::Int(symbol) | ExprKind::Real(symbol) | ExprKind::Var(symbol) => {
                work.push(Work::Symbol(*symbol));
            }
            ExprKind::Bv { digits, width } => {
                work.extend([Work::Symbol(*digits), Work::Text("bv"), Work::Number(*width)]);
            }
            ExprKind::Text(text) => {
                work.extend([Work::Text("\""), Work::Symbol(*text), Work::Text("\"")]);
            }
            ExprKind::Apply { function, args } => {
                work.extend([Work::Symbol(function.symbol), Work::Text("(")]);
                push_list(args, work);
                work.push(Work::Text(")"));
            }
            ExprKind::Unary(op, arg) => {
                work.extend([Work::Text(op.text()), Work::Expr(*arg, UNARY_LEVEL + 1)]);
            }
            ExprKind::Binary(op, left, right) => {
                let (left_min, right_min) = self.operand_levels(*op, *left, *right);
                work.extend([
                    Work::Expr(*left, left_min),
                    Work::Text(" "),
                    Work::Text(op.text()),
                    Work::Text(" "),
                    Work::Expr(*right, right_min),
                ]);
            }
            ExprKind::Select { map, indices } => {
                work.extend([Work::Expr(*map, postfix), Work::Text("[")]);
                push_list(indices, work);
                work.push(Work::Text("]"));
            }
            ExprKind::Store { map, indices, value } => {
                work.extend([Work::Expr(*map, postfix), Work::Text("[")]);
                push_list(indices, work);
                let gap = if indices.is_empty() { ":= " } else { " := " };
                work.extend([Work::Text(gap), Work::Expr(*value, ANY), Work::Text("]")]);
            }
            ExprKind::Extract { arg, hi, lo } => work.extend([
                Work::Expr(*arg, postfix),
                Work::Text("["),
                Work::Number(*hi),
                Work::Text(":"),
                Work::Number(*lo),
                Work::Text("]"),
            ]),
            ExprKind::Coerce { arg, ty } => {
                work.extend([Work::Expr(*arg, postfix), Work::Text(": "), Work::Type(*ty)]);
            }
            ExprKind::Old(arg) => push_call("old(", *arg, work),
            ExprKind::ToInt(arg) => push_call("int(", *arg, work),
            ExprKind::ToReal(arg) => push_call("real(", *arg, work),
            ExprKind::If { cond, then, otherwise } => work.extend([
                Work::Text("if "),
                Work::Expr(*cond, ANY),
                Work::Text(" then "),
                Work::Expr(*then, ANY),
                Work::Text(" else "),
                Work::Expr(*otherwise, ANY),
            ]),
            ExprKind::Quantified(quantified) => {
                work.push(Work::Binders(id));
                for attr in &quantified.attrs {
                    work.extend([Work::Text("{:"), Work::Symbol(attr.name.symbol)]);
                    work.push(Work::Text(if attr.args.is_empty() { "" } else { " " }));
                    push_list(&attr.args, work);
                    work.push(Work::Text("} "));
                }
                for trigger in &quantified.triggers {
                    work.push(Work::Text("{"));
                    push_list(trigger, work);
                    work.push(Work::Text("} "));
                }
                work.extend([Work::Expr(quantified.body, ANY), Work::Text(")")]);
            }
            ExprKind::Let(binding) => {
                work.push(Work::Text("(var "));
                for (idx, name) in binding.names.iter().enumerate() {
                    work.extend([Work::Text(if idx > 0 { ", " } else { "" }), Work::Symbol(name.symbol)]);
                }
                work.push(Work::Text(" := "));
                push_list(&binding.values, work);
                work.extend([Work::Text("; "), Work::Expr(binding.body, ANY), Work::Text(")")]);
            }
        }
    }

    /// `(forall <a> x: T, y: U :: `. Attributes of bound variables hold literals, so recursion ends.
    fn binders(&mut self, id: ExprId) {
        let program = self.program;
        let ExprKind::Quantified(quantified) = &program.exprs[id].kind else { return };
        self.text("(");
        self.text(quantified.quantifier.text());
        self.type_params(&quantified.type_params);
        self.text(" ");
        self.list(&quantified.vars, Self::param);
        self.text(" :: ");
    }

    fn operand_levels(&self, op: BinaryOp, left: ExprId, right: ExprId) -> (u8, u8) {
        let own = level(op) + 1;
        let (mut left_min, mut right_min) = match op {
            BinaryOp::Implies | BinaryOp::Pow => (own + 1, own),
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::Below => (own + 1, own + 1),
            BinaryOp::Iff
            | BinaryOp::Explies
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Concat
            | BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Slash
            | BinaryOp::Percent
            | BinaryOp::Div
            | BinaryOp::Mod => (own, own + 1),
        };
        // The two mixtures that the grammar forbids although the levels allow them.
        let forbidden = match op {
            BinaryOp::Or => BinaryOp::And,
            BinaryOp::Implies => BinaryOp::Explies,
            BinaryOp::Explies => BinaryOp::Implies,
            _ => return (left_min, right_min),
        };
        for (operand, min) in [(left, &mut left_min), (right, &mut right_min)] {
            if matches!(self.program.exprs[operand].kind, ExprKind::Binary(inner, ..) if inner == forbidden) {
                *min = u8::MAX;
            }
        }
        (left_min, right_min)
    }
}

fn push_list(exprs: &[ExprId], work: &mut Vec<Work>) {
    for (idx, &expr) in exprs.iter().enumerate() {
        if idx > 0 {
            work.push(Work::Text(", "));
        }
        work.push(Work::Expr(expr, ANY));
    }
}

fn push_call(word: &'static str, arg: ExprId, work: &mut Vec<Work>) {
    work.extend([Work::Text(word), Work::Expr(arg, ANY), Work::Text(")")]);
}
