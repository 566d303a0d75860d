//! Statements and blocks. Attributes on jumps, guards and assignments only direct how the Boogie
//! tool splits its proofs; they are read and dropped.

use super::{GivenUp, Parse, Parser, starts_decl};
use crate::lexer::{Punct, TokenKind, kw};
use crate::tree::*;

impl Parser {
    /// `{ locals statements }`. Mistakes inside are reported and skipped; an error means that not
    /// even the opening brace is there.
    pub(super) fn body(&mut self) -> Parse<Body> {
        let start = self.span();
        self.expect(Punct::LBrace)?;
        let mut locals = Vec::new();
        while self.at_kw(kw::VAR) {
            match self.locals() {
                Ok(group) => locals.extend(group),
                Err(GivenUp) => self.skip_stmt(),
            }
        }
        let block = self.block_rest()?;
        Ok(Body { locals, block, span: start.to(self.prev_span()) })
    }

    fn locals(&mut self) -> Parse<Vec<Binding>> {
        self.bump();
        let attrs = self.attrs()?;
        let mut all = Vec::new();
        loop {
            all.extend(self.bindings(attrs.clone(), "the name of a variable")?);
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect_semi();
        Ok(all)
    }

    fn block(&mut self) -> Parse<Block> {
        self.expect(Punct::LBrace)?;
        self.nested(Self::block_rest)
    }

    /// Statements up to the closing brace, which is consumed.
    fn block_rest(&mut self) -> Parse<Block> {
        let mut block = Block::default();
        loop {
            match self.kind() {
                TokenKind::Punct(Punct::RBrace) => {
                    self.bump();
                    return Ok(block);
                }
                TokenKind::Eof => return Err(self.expected("`}`")),
                TokenKind::Keyword(keyword) if starts_decl(keyword) => {
                    return Err(self.expected("a statement or `}`"));
                }
                _ => {}
            }
            let before = self.pos;
            match self.stmt() {
                Ok(stmt) => block.stmts.push(stmt),
                Err(GivenUp) => self.skip_stmt(),
            }
            if self.pos == before {
                self.bump();
            }
        }
    }

    /// Skips to where the next statement plausibly begins.
    pub(super) fn skip_stmt(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.kind() {
                TokenKind::Eof => return,
                TokenKind::Keyword(keyword) if starts_decl(keyword) => return,
                TokenKind::Keyword(
                    kw::ASSERT | kw::ASSUME | kw::HAVOC | kw::GOTO | kw::RETURN | kw::WHILE | kw::BREAK,
                ) if depth == 0 && self.last_error != Some(self.pos) => return,
                TokenKind::Punct(Punct::LBrace) => depth += 1,
                TokenKind::Punct(Punct::RBrace) if depth == 0 => return,
                TokenKind::Punct(Punct::RBrace) => {
                    depth -= 1;
                    if depth == 0 {
                        self.bump();
                        return;
                    }
                }
                TokenKind::Punct(Punct::Semi) if depth == 0 => {
                    self.bump();
                    return;
                }
                _ => {}
            }
            self.bump();
        }
    }

    fn stmt(&mut self) -> Parse<StmtId> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Ident(_) => self.ident_stmt()?,
            TokenKind::Keyword(keyword) => match keyword {
                kw::ASSERT => {
                    let (attrs, expr) = self.condition()?;
                    StmtKind::Assert { attrs, expr }
                }
                kw::ASSUME => {
                    let (attrs, expr) = self.condition()?;
                    StmtKind::Assume { attrs, expr }
                }
                kw::HAVOC => {
                    self.bump();
                    let names = self.idents("the name of a variable")?;
                    self.expect_semi();
                    StmtKind::Havoc(names)
                }
                kw::CALL | kw::FREE => self.call(false)?,
                kw::IF => self.if_stmt()?,
                kw::WHILE => self.while_stmt()?,
                kw::BREAK => {
                    self.bump();
                    let label = if self.at(Punct::Semi) { None } else { Some(self.ident("a label or `;`")?) };
                    self.expect_semi();
                    StmtKind::Break(label)
                }
                kw::GOTO => {
                    self.bump();
                    self.attrs()?;
                    let labels = self.idents("a label")?;
                    self.expect_semi();
                    StmtKind::Goto(labels)
                }
                kw::RETURN => {
                    self.bump();
                    self.attrs()?;
                    if !self.at(Punct::Semi) && !self.at(Punct::RBrace) {
                        self.expr()?;
                        let span = start.to(self.prev_span());
                        let help = "assign the result variable, then write `return;`";
                        return Err(self.unsupported(span, "values after `return`", help));
                    }
                    self.expect_semi();
                    StmtKind::Return
                }
                kw::VAR => {
                    let message = "variables are declared at the start of the body";
                    return Err(self.fail(crate::codes::SYNTAX, start, message));
                }
                _ => return Err(self.expected("a statement")),
            },
            _ => return Err(self.expected("a statement")),
        };
        let span = start.to(self.prev_span());
        Ok(self.program.add_stmt(kind, span))
    }

    /// A statement that starts with a name: a label, an assignment, or a contextual word.
    fn ident_stmt(&mut self) -> Parse<StmtKind> {
        if self.at_ahead(1, Punct::Colon) {
            let label = self.ident("a label")?;
            self.bump();
            return Ok(StmtKind::Label(label));
        }
        if self.at_word(0, "async") && matches!(self.kind_at(1), TokenKind::Keyword(kw::CALL | kw::FREE)) {
            self.bump();
            return self.call(true);
        }
        if self.at_word(0, "yield") && self.at_ahead(1, Punct::Semi) {
            self.bump();
            self.bump();
            return Ok(StmtKind::Yield);
        }
        if self.at_word(0, "par")
            && matches!(self.kind_at(1), TokenKind::Keyword(kw::CALL) | TokenKind::Ident(_))
        {
            let span = self.span();
            return Err(self.unsupported(span, "parallel calls (`par`)", "post the calls with `async call`"));
        }
        let mut lhs = vec![self.lhs()?];
        while self.eat(Punct::Comma) {
            lhs.push(self.lhs()?);
        }
        if !self.eat(Punct::Assign) {
            return Err(self.expected("`:=`"));
        }
        self.attrs()?;
        let mut rhs = vec![self.expr()?];
        while self.eat(Punct::Comma) {
            rhs.push(self.expr()?);
        }
        self.expect_semi();
        Ok(StmtKind::Assign { lhs, rhs })
    }

    fn lhs(&mut self) -> Parse<Lhs> {
        let name = self.ident("a variable")?;
        let mut indices = Vec::new();
        while self.eat(Punct::LBracket) {
            indices.push(self.list_to(Punct::RBracket, Self::expr)?);
        }
        if self.at(Punct::Arrow) {
            let span = self.span();
            return Err(self.unsupported(span, "datatype fields", "model the data with functions or maps"));
        }
        Ok(Lhs { name, indices })
    }

    fn condition(&mut self) -> Parse<(Vec<Attr>, ExprId)> {
        self.bump();
        let attrs = self.attrs()?;
        let expr = self.expr()?;
        self.expect_semi();
        Ok((attrs, expr))
    }

    fn call(&mut self, is_async: bool) -> Parse<StmtKind> {
        let free = self.eat_kw(kw::FREE);
        if !self.eat_kw(kw::CALL) {
            return Err(self.expected("`call`"));
        }
        let attrs = self.attrs()?;
        if self.at_kw(kw::FORALL) {
            let span = self.span();
            return Err(self.unsupported(
                span,
                "`call forall` statements",
                "assume the quantified formula instead",
            ));
        }
        let mut outs = Vec::new();
        if !self.at_ahead(1, Punct::LParen) {
            loop {
                outs.push(if self.eat(Punct::Star) { None } else { Some(self.ident("a variable")?) });
                if !self.eat(Punct::Comma) {
                    break;
                }
            }
            if !self.eat(Punct::Assign) {
                return Err(self.expected("`:=` or `(`"));
            }
        }
        let callee = self.ident("the name of a procedure")?;
        self.expect(Punct::LParen)?;
        let args = self.list_to(Punct::RParen, Self::expr)?;
        if self.at(Punct::Pipe) {
            let span = self.span();
            return Err(self.unsupported(span, "parallel calls (`|`)", "post the calls with `async call`"));
        }
        self.expect_semi();
        Ok(StmtKind::Call(Call { is_async, free, attrs, outs, callee, args }))
    }

    fn guard(&mut self) -> Parse<Option<ExprId>> {
        self.attrs()?;
        self.expect(Punct::LParen)?;
        let guard = if self.at(Punct::Star) && self.at_ahead(1, Punct::RParen) {
            self.bump();
            None
        } else {
            Some(self.expr()?)
        };
        self.expect(Punct::RParen)?;
        Ok(guard)
    }

    fn if_stmt(&mut self) -> Parse<StmtKind> {
        let mut arms = Vec::new();
        let mut otherwise = None;
        loop {
            self.bump();
            // A broken guard does not take the block with it: the statements inside are still read,
            // so that their mistakes show in the same run.
            let guard = self.guard();
            if guard.is_err() {
                self.skip_to_block();
            }
            let body = self.block()?;
            arms.push(Arm { guard: guard?, body });
            if !self.eat_kw(kw::ELSE) {
                break;
            }
            if !self.at_kw(kw::IF) {
                otherwise = Some(self.block()?);
                break;
            }
        }
        Ok(StmtKind::If { arms, otherwise })
    }

    fn while_stmt(&mut self) -> Parse<StmtKind> {
        self.bump();
        let guard = self.guard();
        if guard.is_err() {
            self.skip_to_block();
        }
        let mut invariants = Vec::new();
        while self.at_kw(kw::INVARIANT) || self.at_kw(kw::FREE) {
            let free = self.eat_kw(kw::FREE);
            if !self.at_kw(kw::INVARIANT) {
                return Err(self.expected("`invariant`"));
            }
            let (attrs, expr) = self.condition()?;
            invariants.push(Invariant { free, attrs, expr });
        }
        let body = self.block()?;
        Ok(StmtKind::While { guard: guard?, invariants, body })
    }

    fn skip_to_block(&mut self) {
        loop {
            match self.kind() {
                TokenKind::Eof
                | TokenKind::Punct(Punct::LBrace | Punct::RBrace | Punct::Semi)
                | TokenKind::Keyword(kw::INVARIANT) => return,
                TokenKind::Keyword(keyword) if starts_decl(keyword) => return,
                _ => self.bump(),
            }
        }
    }
}
