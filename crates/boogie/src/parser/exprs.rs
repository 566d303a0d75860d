//! Expressions, by precedence climbing over a table of levels.

use allways_base::{Diagnostic, Span};

use super::{GivenUp, Parse, Parser};
use crate::codes;
use crate::lexer::{Punct, TokenKind, kw};
use crate::tree::*;

/// How tightly an operator binds; the printer uses the same table.
pub(crate) fn level(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Iff => 0,
        BinaryOp::Implies | BinaryOp::Explies => 1,
        BinaryOp::Or => 2,
        BinaryOp::And => 3,
        BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge
        | BinaryOp::Below => 4,
        BinaryOp::Concat => 5,
        BinaryOp::Add | BinaryOp::Sub => 6,
        BinaryOp::Mul | BinaryOp::Slash | BinaryOp::Percent | BinaryOp::Div | BinaryOp::Mod => 7,
        BinaryOp::Pow => 8,
    }
}

/// The level of unary operators, above every binary one.
pub(crate) const UNARY_LEVEL: u8 = 9;
/// The level of `e[i]` and `e: T`.
pub(crate) const POSTFIX_LEVEL: u8 = 10;

/// An operator waiting for its right operand.
struct Pending {
    left: ExprId,
    op: BinaryOp,
}

impl Parser {
    /// An expression. The operator stack is explicit, so chains may have any length.
    pub(super) fn expr(&mut self) -> Parse<ExprId> {
        self.nested(Self::binary_expr)
    }

    fn binary_expr(&mut self) -> Parse<ExprId> {
        let mut stack: Vec<Pending> = Vec::new();
        let mut left = self.unary_expr()?;
        while let Some(op) = self.binary_op() {
            let op_span = self.span();
            left = self.reduce(&mut stack, left, |top| binds_before(top, op));
            if let Some(top) = stack.last() {
                self.check_mixture(top.op, op, op_span)?;
            }
            self.check_left(op, left, op_span)?;
            self.bump();
            stack.push(Pending { left, op });
            left = self.unary_expr()?;
        }
        Ok(self.reduce(&mut stack, left, |_| true))
    }

    fn reduce(
        &mut self,
        stack: &mut Vec<Pending>,
        mut right: ExprId,
        while_: impl Fn(BinaryOp) -> bool,
    ) -> ExprId {
        while let Some(pending) = stack.pop_if(|top| while_(top.op)) {
            let span = self.program.exprs[pending.left].span.to(self.program.exprs[right].span);
            right = self.program.binary(pending.op, pending.left, right, span);
        }
        right
    }

    /// Complaints about an operator that follows another waiting one of its own level.
    fn check_mixture(&mut self, waiting: BinaryOp, op: BinaryOp, span: Span) -> Parse<()> {
        match (waiting, op) {
            (BinaryOp::Explies, BinaryOp::Implies) => Err(self.mixed_arrows(span)),
            (BinaryOp::Or, BinaryOp::And) => {
                self.mixed_logic(span);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Complaints about a finished left operand that is not in parentheses.
    fn check_left(&mut self, op: BinaryOp, left: ExprId, span: Span) -> Parse<()> {
        if self.prev_span().end != self.program.exprs[left].span.end {
            // The operand ends with a parenthesis, which its span leaves out.
            return Ok(());
        }
        let ExprKind::Binary(left_op, ..) = self.program.exprs[left].kind else { return Ok(()) };
        match (left_op, op) {
            (BinaryOp::Implies, BinaryOp::Explies) => Err(self.mixed_arrows(span)),
            (BinaryOp::And, BinaryOp::Or) => {
                self.mixed_logic(span);
                Ok(())
            }
            _ if level(op) == level(BinaryOp::Eq) && level(left_op) == level(op) => {
                self.report(
                    Diagnostic::error(codes::CHAINED_RELATION, span, "comparisons do not chain")
                        .help("write `a < b && b < c`, or put one comparison in parentheses"),
                );
                Err(GivenUp)
            }
            _ => Ok(()),
        }
    }

    fn mixed_arrows(&mut self, span: Span) -> GivenUp {
        self.report(
            Diagnostic::error(codes::MIXED_ARROWS, span, "`==>` and `<==` are mixed here")
                .help("say with parentheses which implication comes first"),
        );
        GivenUp
    }

    fn mixed_logic(&mut self, span: Span) {
        self.diagnostics.push(
            Diagnostic::warning(codes::MIXED_LOGIC, span, "`&&` and `||` are mixed without parentheses")
                .note("Allways lets `&&` bind more tightly; the Boogie tool rejects this expression")
                .help("put the conjunction in parentheses"),
        );
    }

    fn binary_op(&self) -> Option<BinaryOp> {
        let op = match self.kind() {
            TokenKind::Punct(punct) => match punct {
                Punct::Iff => BinaryOp::Iff,
                Punct::Implies => BinaryOp::Implies,
                Punct::Explies => BinaryOp::Explies,
                Punct::And => BinaryOp::And,
                Punct::Or => BinaryOp::Or,
                Punct::EqEq => BinaryOp::Eq,
                Punct::Ne => BinaryOp::Ne,
                Punct::Lt => BinaryOp::Lt,
                Punct::Le => BinaryOp::Le,
                Punct::Gt => BinaryOp::Gt,
                Punct::Ge => BinaryOp::Ge,
                Punct::Below => BinaryOp::Below,
                Punct::Concat => BinaryOp::Concat,
                Punct::Plus => BinaryOp::Add,
                Punct::Minus => BinaryOp::Sub,
                Punct::Star => BinaryOp::Mul,
                Punct::Slash => BinaryOp::Slash,
                Punct::Percent => BinaryOp::Percent,
                Punct::StarStar => BinaryOp::Pow,
                _ => return None,
            },
            TokenKind::Ident(_) if self.at_word(0, "div") => BinaryOp::Div,
            TokenKind::Ident(_) if self.at_word(0, "mod") => BinaryOp::Mod,
            _ => return None,
        };
        Some(op)
    }

    fn unary_expr(&mut self) -> Parse<ExprId> {
        let mut ops = Vec::new();
        loop {
            let op = match self.kind() {
                TokenKind::Punct(Punct::Bang) => UnaryOp::Not,
                TokenKind::Punct(Punct::Minus) => UnaryOp::Neg,
                _ => break,
            };
            ops.push((op, self.span()));
            self.bump();
        }
        let mut expr = self.postfix_expr()?;
        for (op, span) in ops.into_iter().rev() {
            let span = span.to(self.program.exprs[expr].span);
            expr = self.program.add_expr(ExprKind::Unary(op, expr), span);
        }
        Ok(expr)
    }

    fn postfix_expr(&mut self) -> Parse<ExprId> {
        let mut expr = self.atom()?;
        loop {
            let start = self.program.exprs[expr].span;
            let kind = match self.kind() {
                TokenKind::Punct(Punct::LBracket) => {
                    self.bump();
                    self.brackets(expr)?
                }
                TokenKind::Punct(Punct::Colon) => {
                    self.bump();
                    ExprKind::Coerce { arg: expr, ty: self.ty()? }
                }
                TokenKind::Punct(Punct::Arrow) => {
                    let span = self.span();
                    return Err(self.unsupported(
                        span,
                        "datatype fields",
                        "model the data with functions or maps",
                    ));
                }
                TokenKind::Ident(_) if self.at_word(0, "is") => {
                    let span = self.span();
                    return Err(self.unsupported(
                        span,
                        "datatype tests (`is`)",
                        "model the data with functions or maps",
                    ));
                }
                _ => return Ok(expr),
            };
            let span = start.to(self.prev_span());
            expr = self.program.add_expr(kind, span);
        }
    }

    /// What stands between `[` and `]`, which is consumed.
    fn brackets(&mut self, map: ExprId) -> Parse<ExprKind> {
        if matches!(self.kind(), TokenKind::Number(_))
            && self.at_ahead(1, Punct::Colon)
            && matches!(self.kind_at(2), TokenKind::Number(_))
        {
            let hi = self.small_number()?;
            self.bump();
            let lo = self.small_number()?;
            self.expect(Punct::RBracket)?;
            return Ok(ExprKind::Extract { arg: map, hi, lo });
        }
        let mut indices = Vec::new();
        while !self.at(Punct::RBracket) && !self.at(Punct::Assign) {
            indices.push(self.expr()?);
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        if self.eat(Punct::Assign) {
            let value = self.expr()?;
            self.expect(Punct::RBracket)?;
            return Ok(ExprKind::Store { map, indices, value });
        }
        if !self.eat(Punct::RBracket) {
            return Err(self.expected("`,`, `:=` or `]`"));
        }
        Ok(ExprKind::Select { map, indices })
    }

    fn atom(&mut self) -> Parse<ExprId> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Number(digits) => {
                self.bump();
                if let TokenKind::Ident(suffix) = self.kind()
                    && self.span().start == start.end
                    && self.program.names.text(suffix).starts_with(['x', 'N', 'o'])
                {
                    let help = "use `real`, or bitvectors with the solver's operations";
                    return Err(self.unsupported(start.to(self.span()), "floating-point numbers", help));
                }
                ExprKind::Int(digits)
            }
            TokenKind::Decimal(digits) => {
                self.bump();
                ExprKind::Real(digits)
            }
            TokenKind::BvLiteral { digits, width } => {
                self.bump();
                ExprKind::Bv { digits, width }
            }
            TokenKind::Text(text) => {
                self.bump();
                ExprKind::Text(text)
            }
            TokenKind::Ident(symbol) => {
                self.bump();
                if self.eat(Punct::LParen) {
                    let args = self.list_to(Punct::RParen, Self::expr)?;
                    ExprKind::Apply { function: Ident { symbol, span: start }, args }
                } else {
                    ExprKind::Var(symbol)
                }
            }
            TokenKind::Keyword(keyword) => match keyword {
                kw::TRUE | kw::FALSE => {
                    self.bump();
                    ExprKind::Bool(keyword == kw::TRUE)
                }
                kw::OLD => ExprKind::Old(self.keyword_arg()?),
                kw::INT => ExprKind::ToInt(self.keyword_arg()?),
                kw::REAL => ExprKind::ToReal(self.keyword_arg()?),
                kw::IF => self.if_expr()?,
                _ => return Err(self.expected("an expression")),
            },
            TokenKind::Punct(Punct::LParen) => return self.parens(),
            TokenKind::Punct(Punct::Pipe) if self.at_ahead(1, Punct::LBrace) => {
                self.bump();
                self.skip_group();
                self.eat(Punct::Pipe);
                let help = "write a procedure and call it";
                return Err(self.unsupported(start.to(self.prev_span()), "code expressions", help));
            }
            TokenKind::Punct(_) | TokenKind::Eof => return Err(self.expected("an expression")),
        };
        let span = start.to(self.prev_span());
        Ok(self.program.add_expr(kind, span))
    }

    fn keyword_arg(&mut self) -> Parse<ExprId> {
        self.bump();
        self.expect(Punct::LParen)?;
        let arg = self.expr()?;
        self.expect(Punct::RParen)?;
        Ok(arg)
    }

    fn if_expr(&mut self) -> Parse<ExprKind> {
        self.bump();
        let cond = self.expr()?;
        if !self.eat_kw(kw::THEN) {
            return Err(self.expected("`then`"));
        }
        let then = self.expr()?;
        if !self.eat_kw(kw::ELSE) {
            return Err(self.expected("`else`"));
        }
        let otherwise = self.expr()?;
        Ok(ExprKind::If { cond, then, otherwise })
    }

    fn parens(&mut self) -> Parse<ExprId> {
        let start = self.span();
        self.bump();
        let kind = match self.kind() {
            TokenKind::Keyword(kw::FORALL) => self.quantified(Quantifier::Forall)?,
            TokenKind::Keyword(kw::EXISTS) => self.quantified(Quantifier::Exists)?,
            TokenKind::Keyword(kw::LAMBDA) => self.quantified(Quantifier::Lambda)?,
            TokenKind::Keyword(kw::VAR) => self.let_expr()?,
            _ => {
                let inner = self.expr()?;
                self.expect(Punct::RParen)?;
                return Ok(inner);
            }
        };
        self.expect(Punct::RParen)?;
        let span = start.to(self.prev_span());
        Ok(self.program.add_expr(kind, span))
    }

    fn quantified(&mut self, quantifier: Quantifier) -> Parse<ExprKind> {
        self.bump();
        let type_params = self.type_params()?;
        let vars = if self.at(Punct::ColonColon) && !type_params.is_empty() {
            Vec::new()
        } else {
            self.binding_groups("the name of a bound variable")?
        };
        if let Some(span) =
            vars.iter().find_map(|v| v.where_clause).map(|clause| self.program.exprs[clause].span)
        {
            return Err(self.fail(codes::SYNTAX, span, "bound variables have no `where`"));
        }
        self.expect(Punct::ColonColon)?;
        let mut attrs = Vec::new();
        let mut triggers = Vec::new();
        while self.at(Punct::LBrace) {
            if self.at_attr() {
                attrs.push(self.attr()?);
            } else {
                self.bump();
                triggers.push(self.list_to(Punct::RBrace, Self::expr)?);
            }
        }
        let body = self.expr()?;
        let quantified = Quantified { quantifier, type_params, vars, attrs, triggers, body };
        Ok(ExprKind::Quantified(Box::new(quantified)))
    }

    fn let_expr(&mut self) -> Parse<ExprKind> {
        self.bump();
        let names = self.idents("the name of a variable")?;
        self.expect(Punct::Assign)?;
        let mut values = vec![self.expr()?];
        while self.eat(Punct::Comma) {
            values.push(self.expr()?);
        }
        self.expect(Punct::Semi)?;
        let body = self.expr()?;
        Ok(ExprKind::Let(Box::new(Let { names, values, body })))
    }
}

/// Whether the waiting operator takes its operands before `op` does.
fn binds_before(waiting: BinaryOp, op: BinaryOp) -> bool {
    let right_assoc = matches!(op, BinaryOp::Implies | BinaryOp::Pow);
    level(waiting) > level(op) || (level(waiting) == level(op) && !right_assoc)
}
