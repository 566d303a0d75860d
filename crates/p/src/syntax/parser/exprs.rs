//! Expressions, by operator precedence.

use allways_base::{Diagnostic, Idx, Span};

use super::super::ast::{BinaryOp, Expr, ExprId, ExprKind, Name};
use super::super::lexer::Tok;
use super::super::words;
use super::{MAX_EXPR_DEPTH, Parsed, Parser};
use crate::codes;

/// What can follow an operand, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Iff,
    Implies,
    Or,
    And,
    Equality,
    Relation,
    /// `as` and `to` bind looser than arithmetic.
    Cast,
    Sum,
    Product,
}

enum Infix {
    Binary(BinaryOp),
    As,
    To,
}

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parsed<ExprId> {
        self.nested(|p| p.expr_at(Level::Iff))
    }

    /// Adds a node, unless the tree under it is deeper than what is recursed over later.
    pub(super) fn push(&mut self, kind: ExprKind, span: Span) -> Parsed<ExprId> {
        let depths = &self.expr_depths;
        let below = |id: &ExprId| depths[id.index()];
        let all = |ids: &[ExprId]| ids.iter().map(below).max().unwrap_or(0);
        let depth = 1 + match &kind {
            ExprKind::Format(_, Some(args)) => all(args),
            ExprKind::Tuple(args) | ExprKind::New(_, args) | ExprKind::Call(_, args) => all(args),
            ExprKind::NamedTuple(fields) => fields.iter().map(|(_, id)| below(id)).max().unwrap_or(0),
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b, _) => below(a).max(below(b)),
            ExprKind::Field(e, _)
            | ExprKind::TupleField(e, _, _)
            | ExprKind::Keys(e)
            | ExprKind::Values(e)
            | ExprKind::Sizeof(e)
            | ExprKind::Neg(e)
            | ExprKind::Not(e)
            | ExprKind::As(e, _)
            | ExprKind::To(e, _)
            | ExprKind::Choose(Some(e))
            | ExprKind::Is(e, _) => below(e),
            ExprKind::Quantified(quantified) => below(&quantified.body),
            _ => 0,
        };
        if depth > MAX_EXPR_DEPTH {
            return Err(self.fail(
                codes::NESTED_TOO_DEEP,
                span,
                &format!("this expression is more than {MAX_EXPR_DEPTH} operations deep"),
                "keep parts of it in variables",
            ));
        }
        self.expr_depths.push(depth);
        Ok(self.tree.exprs.push(Expr { kind, span }))
    }

    fn infix(&self) -> Option<(Infix, Level)> {
        use BinaryOp::*;
        let binary = |op, level| Some((Infix::Binary(op), level));
        match self.tok() {
            Tok::Star => binary(Mul, Level::Product),
            Tok::Slash => binary(Div, Level::Product),
            Tok::Percent => binary(Mod, Level::Product),
            Tok::Plus => binary(Add, Level::Sum),
            Tok::Minus => binary(Sub, Level::Sum),
            Tok::Lt => binary(Lt, Level::Relation),
            Tok::Gt => binary(Gt, Level::Relation),
            Tok::Le => binary(Le, Level::Relation),
            Tok::Ge => binary(Ge, Level::Relation),
            Tok::EqEq => binary(Eq, Level::Equality),
            Tok::NotEq => binary(Ne, Level::Equality),
            Tok::AndAnd => binary(And, Level::And),
            Tok::OrOr => binary(Or, Level::Or),
            Tok::Implies => binary(Implies, Level::Implies),
            Tok::Iff => binary(Iff, Level::Iff),
            Tok::Word => match self.token().symbol {
                words::IN => binary(In, Level::Relation),
                words::AS => Some((Infix::As, Level::Cast)),
                words::TO => Some((Infix::To, Level::Cast)),
                _ => None,
            },
            _ => None,
        }
    }

    /// An expression whose operators bind at least as tightly as `level`. All associate to the left, so a chain is
    /// a loop; recursion on the right operand is bounded by the number of levels.
    fn expr_at(&mut self, level: Level) -> Parsed<ExprId> {
        let mut left = self.unary_expr()?;
        while let Some((infix, found)) = self.infix() {
            if found < level {
                break;
            }
            let op_span = self.span();
            self.bump();
            let start = self.tree.exprs[left].span;
            let kind = match infix {
                Infix::Binary(op) => {
                    let right = match next_tighter(found) {
                        Some(tighter) => self.expr_at(tighter)?,
                        None => self.unary_expr()?,
                    };
                    ExprKind::Binary(op, left, right, op_span)
                }
                Infix::As => ExprKind::As(left, self.type_()?),
                Infix::To => ExprKind::To(left, self.type_()?),
            };
            let span = self.since(start);
            left = self.push(kind, span)?;
        }
        Ok(left)
    }

    fn unary_expr(&mut self) -> Parsed<ExprId> {
        let start = self.span();
        match self.tok() {
            Tok::Minus | Tok::Not => {
                let tok = self.bump().tok;
                let operand = self.nested(Self::unary_expr)?;
                let kind = if tok == Tok::Minus { ExprKind::Neg(operand) } else { ExprKind::Not(operand) };
                let span = self.since(start);
                self.push(kind, span)
            }
            _ => self.postfix_expr(),
        }
    }

    /// An operand with field and index accesses behind it.
    pub(super) fn postfix_expr(&mut self) -> Parsed<ExprId> {
        let start = self.span();
        let mut expr = self.primary_expr()?;
        loop {
            let kind = match self.tok() {
                Tok::Dot => {
                    self.bump();
                    if self.at(Tok::Int) {
                        let (index, span) = self.int()?;
                        ExprKind::TupleField(expr, index, span)
                    } else {
                        ExprKind::Field(expr, self.name("the name or number of a field")?)
                    }
                }
                Tok::LBracket => {
                    self.bump();
                    let index = self.expr()?;
                    self.expect(Tok::RBracket)?;
                    ExprKind::Index(expr, index)
                }
                Tok::Name => match self.proof_postfix(expr)? {
                    Some(kind) => kind,
                    None => return Ok(expr),
                },
                _ => return Ok(expr),
            };
            let span = self.since(start);
            expr = self.push(kind, span)?;
        }
    }

    fn primary_expr(&mut self) -> Parsed<ExprId> {
        let start = self.span();
        let token = self.token();
        let is_taken = self.at_taken_name();
        let kind = match token.tok {
            Tok::Name | Tok::Word if is_taken || token.tok == Tok::Name => {
                if !is_taken && let Some(proof) = self.proof_primary()? {
                    return Ok(proof);
                }
                let name = self.name("an expression")?;
                // In a test declaration `assume ... x (2 wise)` is not a call.
                let is_wise = self.nth(1).tok == Tok::Int && self.nth_is_word(2, words::WISE);
                if self.at(Tok::LParen) && !is_wise {
                    self.bump();
                    ExprKind::Call(name, self.args()?)
                } else {
                    ExprKind::Name(name.symbol)
                }
            }
            Tok::Int => {
                let is_float = self.nth(1).tok == Tok::Dot && self.nth(2).tok == Tok::Int;
                if is_float {
                    let whole = self.bump();
                    self.bump();
                    self.float(Some(whole))
                } else {
                    ExprKind::Int(self.int()?.0)
                }
            }
            Tok::Dot if self.nth(1).tok == Tok::Int => {
                self.bump();
                self.float(None)
            }
            Tok::Str => {
                self.bump();
                ExprKind::Format(start, None)
            }
            Tok::Dollar | Tok::DollarDollar => {
                self.bump();
                ExprKind::Nondet { fair: token.tok == Tok::DollarDollar }
            }
            Tok::LParen => {
                self.bump();
                return self.parenthesized(start);
            }
            Tok::Word => self.keyword_expr(token.symbol)?,
            Tok::LBracket => {
                return Err(self.fail(
                    codes::SYNTAX_ERROR,
                    start,
                    "there are no literals for collections in P",
                    "begin with an empty variable, and insert with `s += (index, value);`",
                ));
            }
            Tok::LBrace if !self.on_new_line() => {
                let failed = self.fail(
                    codes::SYNTAX_ERROR,
                    start,
                    "an expression cannot begin with `{`",
                    "write a tuple as `(1, 2)` or `(name = 1, other = 2)`; a collection begins empty, and elements are inserted",
                );
                self.skip_braces();
                return Err(failed);
            }
            _ => return Err(self.expected("an expression")),
        };
        let span = self.since(start);
        self.push(kind, span)
    }

    /// Takes an opening brace and all to the brace that closes it, unless something else begins before.
    fn skip_braces(&mut self) {
        let start = self.pos;
        let mut depth = 0usize;
        loop {
            match self.tok() {
                Tok::LBrace => depth += 1,
                Tok::RBrace => depth -= 1,
                Tok::Eof => break,
                Tok::Word if words::begins_line(self.token().symbol) && self.on_new_line() => break,
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return;
            }
        }
        self.pos = start;
    }

    /// The digits behind the point; a float is put together from up to three tokens.
    fn float(&mut self, whole: Option<super::Token>) -> ExprKind {
        let fraction = self.bump();
        let digits = |token: super::Token| &self.text[token.start as usize..token.end as usize];
        let text = format!("{}.{}", whole.map_or("0", digits), digits(fraction));
        ExprKind::Float(text.parse().unwrap_or(f64::INFINITY))
    }

    fn keyword_expr(&mut self, word: allways_base::Symbol) -> Parsed<ExprKind> {
        let simple = match word {
            words::TRUE => Some(ExprKind::Bool(true)),
            words::FALSE => Some(ExprKind::Bool(false)),
            words::NULL => Some(ExprKind::Null),
            words::HALT => Some(ExprKind::Halt),
            words::THIS => Some(ExprKind::This),
            _ => None,
        };
        if let Some(kind) = simple {
            self.bump();
            return Ok(kind);
        }
        match word {
            words::KEYS | words::VALUES | words::SIZEOF => {
                self.bump();
                self.expect(Tok::LParen)?;
                let operand = self.expr()?;
                self.expect(Tok::RParen)?;
                Ok(match word {
                    words::KEYS => ExprKind::Keys(operand),
                    words::VALUES => ExprKind::Values(operand),
                    _ => ExprKind::Sizeof(operand),
                })
            }
            words::DEFAULT => {
                self.bump();
                self.expect(Tok::LParen)?;
                let ty = self.type_()?;
                self.expect(Tok::RParen)?;
                Ok(ExprKind::Default(ty))
            }
            words::NEW => {
                self.bump();
                let name = self.name("a machine or interface")?;
                self.expect(Tok::LParen)?;
                Ok(ExprKind::New(name, self.args()?))
            }
            words::CHOOSE => {
                self.bump();
                self.expect(Tok::LParen)?;
                let operand = if self.at(Tok::RParen) { None } else { Some(self.expr()?) };
                self.expect(Tok::RParen)?;
                Ok(ExprKind::Choose(operand))
            }
            words::FORMAT => {
                self.bump();
                self.expect(Tok::LParen)?;
                let literal = self.span();
                self.expect(Tok::Str)?;
                let mut args = Vec::new();
                while self.eat(Tok::Comma) {
                    args.push(self.expr()?);
                }
                self.expect(Tok::RParen)?;
                Ok(ExprKind::Format(literal, Some(args)))
            }
            words::FLOAT => {
                self.bump();
                self.expect(Tok::LParen)?;
                self.int()?;
                self.expect(Tok::Comma)?;
                self.int()?;
                self.expect(Tok::RParen)?;
                Ok(ExprKind::FloatPair)
            }
            words::IF | words::WHILE | words::FOREACH if self.nth(1).tok == Tok::LParen => {
                let message = format!("`{}` is a statement and has no value", self.symbols.text(word));
                let help = "assign to a variable inside of it, and use the variable here";
                Err(self.fail(codes::SYNTAX_ERROR, self.span(), &message, help))
            }
            _ if self.stands_like_a_name() => Ok(ExprKind::Name(self.name("a name")?.symbol)),
            _ => Err(self.expected("an expression")),
        }
    }

    /// Arguments up to and with the closing parenthesis.
    pub(super) fn args(&mut self) -> Parsed<Vec<ExprId>> {
        let mut args = Vec::new();
        if !self.at(Tok::RParen) {
            args.push(self.expr()?);
            while self.eat(Tok::Comma) {
                self.no_trailing_comma()?;
                args.push(self.expr()?);
            }
        }
        self.expect(Tok::RParen)?;
        Ok(args)
    }

    /// Behind an expression in parentheses: `=` was meant as `==`.
    pub(super) fn refuse_assignment(&mut self) -> Parsed<()> {
        if !self.at(Tok::Assign) {
            return Ok(());
        }
        Err(self.fail(
            codes::ASSIGNMENT_IN_EXPRESSION,
            self.span(),
            "`=` is not allowed in an expression",
            "compare with `==`; an assignment is a statement of its own",
        ))
    }

    /// Behind `(`: a group, a tuple or a named tuple.
    fn parenthesized(&mut self, start: Span) -> Parsed<ExprId> {
        if matches!(self.tok(), Tok::Name | Tok::Word) && self.nth(1).tok == Tok::Assign {
            return self.named_tuple(start);
        }
        let first = self.expr()?;
        if self.eat(Tok::RParen) {
            // A group keeps its parentheses in the span only.
            self.tree.exprs[first].span = self.since(start);
            return Ok(first);
        }
        self.refuse_assignment()?;
        if !self.at(Tok::Comma) {
            return Err(self.expected("`)` or `,`"));
        }
        self.bump();
        let mut fields = vec![first];
        if !self.at(Tok::RParen) {
            fields.push(self.expr()?);
            while self.eat(Tok::Comma) {
                self.no_trailing_comma()?;
                fields.push(self.expr()?);
            }
        }
        self.expect(Tok::RParen)?;
        let span = self.since(start);
        self.push(ExprKind::Tuple(fields), span)
    }

    fn named_tuple(&mut self, start: Span) -> Parsed<ExprId> {
        let mut fields: Vec<(Name, ExprId)> = Vec::new();
        loop {
            let name = self.name("the name of a field")?;
            if !self.at(Tok::Assign) {
                return Err(self.fail(
                    codes::SYNTAX_ERROR,
                    name.span,
                    "every field of a named tuple has a name and a value",
                    "write `name = value`",
                ));
            }
            self.bump();
            fields.push((name, self.expr()?));
            if !self.eat(Tok::Comma) {
                break;
            }
            if self.at(Tok::RParen) {
                if fields.len() > 1 {
                    self.no_trailing_comma()?;
                }
                self.bump();
                let span = self.since(start);
                return self.push(ExprKind::NamedTuple(fields), span);
            }
        }
        self.expect(Tok::RParen)?;
        let span = self.since(start);
        if fields.len() == 1 {
            self.report(
                Diagnostic::error(
                    codes::MISSING_COMMA,
                    span,
                    "a tuple with one field needs a comma at its end",
                )
                .help(format!("write `({} = ...,)`", self.symbols.text(fields[0].0.symbol))),
            );
        }
        self.push(ExprKind::NamedTuple(fields), span)
    }

    /// An expression of a proof that will not be kept.
    pub(super) fn proof_expr(&mut self) -> Parsed<ExprId> {
        self.in_proof += 1;
        let result = self.expr();
        self.in_proof -= 1;
        result
    }
}

fn next_tighter(level: Level) -> Option<Level> {
    match level {
        Level::Iff => Some(Level::Implies),
        Level::Implies => Some(Level::Or),
        Level::Or => Some(Level::And),
        Level::And => Some(Level::Equality),
        Level::Equality => Some(Level::Relation),
        Level::Relation => Some(Level::Cast),
        Level::Cast => Some(Level::Sum),
        Level::Sum => Some(Level::Product),
        Level::Product => None,
    }
}
