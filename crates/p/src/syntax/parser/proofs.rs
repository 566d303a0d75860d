//! Constructs for the P verifier. They are parsed so that mistakes in them show and so that everything around
//! them is understood; nothing of them is kept.
//!
//! Their words are ordinary names elsewhere. In a proof (`in_proof`) they are always words of proofs; in code they
//! are taken as such only where a name would make no sense.

use super::super::ast::{Decl, ExprId, ExprKind, Fun, Quantified};
use super::super::lexer::Tok;
use super::super::words;
use super::{Parsed, Parser};

impl Parser<'_> {
    pub(super) fn begins_proof_decl(&self) -> bool {
        let next = self.nth(1);
        match self.token().symbol {
            words::INVARIANT | words::PURE => next.tok == Tok::Name,
            words::LEMMA | words::THEOREM => next.tok == Tok::Name,
            words::PROOF => next.tok == Tok::LBrace || next.tok == Tok::Name,
            words::AXIOM => true,
            words::INIT => {
                let adjacent = self.token().end == next.start && next.end == self.nth(2).start;
                next.tok == Tok::Minus && self.nth_is_word(2, words::CONDITION) && adjacent
            }
            _ => false,
        }
    }

    pub(super) fn proof_decl(&mut self) -> Parsed<Decl> {
        let start = self.span();
        self.in_proof += 1;
        let result = self.proof_decl_inner();
        self.in_proof -= 1;
        result?;
        Ok(Decl::Proof { span: self.since(start) })
    }

    fn proof_decl_inner(&mut self) -> Parsed<()> {
        match self.bump().symbol {
            words::INVARIANT => self.invariant(),
            words::AXIOM => {
                self.expr()?;
                self.expect_semi("the axiom")
            }
            words::INIT => {
                self.bump();
                self.bump();
                self.expr()?;
                self.expect_semi("the condition")
            }
            words::PURE => {
                self.name("the name of a function")?;
                self.expect(Tok::LParen)?;
                self.params()?;
                self.expect(Tok::Colon)?;
                self.type_()?;
                if self.eat(Tok::Assign) {
                    self.expr()?;
                }
                self.expect_semi("the pure function")
            }
            words::PROOF => {
                if !self.at(Tok::LBrace) {
                    self.name("the name of a proof")?;
                }
                self.expect(Tok::LBrace)?;
                while !self.eat(Tok::RBrace) {
                    self.proof_item()?;
                }
                Ok(())
            }
            // A lemma or theorem.
            _ => {
                self.name("the name of a lemma")?;
                self.expect(Tok::LBrace)?;
                while !self.eat(Tok::RBrace) {
                    self.expect_word(words::INVARIANT)?;
                    self.invariant()?;
                }
                Ok(())
            }
        }
    }

    fn invariant(&mut self) -> Parsed<()> {
        self.name("the name of an invariant")?;
        self.expect(Tok::Colon)?;
        self.expr()?;
        self.expect_semi("the invariant")
    }

    fn proof_item(&mut self) -> Parsed<()> {
        self.expect_word(words::PROVE)?;
        if !self.eat(Tok::Star) && !self.eat_word(words::DEFAULT) {
            self.proof_exprs()?;
        }
        if self.eat_word(words::USING) && !self.eat(Tok::Star) {
            self.proof_exprs()?;
        }
        if self.eat_word(words::EXCEPT) {
            self.proof_exprs()?;
        }
        self.expect_semi("the proof step")
    }

    fn proof_exprs(&mut self) -> Parsed<()> {
        self.expr()?;
        while self.eat(Tok::Comma) {
            self.expr()?;
        }
        Ok(())
    }

    /// The tail of a foreign function with a contract; it may be empty.
    pub(super) fn contract(&mut self, mut fun: Fun) -> Parsed<Fun> {
        if self.eat_word(words::RETURN) {
            self.expect(Tok::LParen)?;
            self.name("the name of the result")?;
            self.expect(Tok::Colon)?;
            fun.result = Some(self.type_()?);
            self.expect(Tok::RParen)?;
            self.expect(Tok::Semi)?;
        }
        let start = self.span();
        let first = self.pos;
        for word in [words::REQUIRES, words::ENSURES] {
            while self.eat_word(word) {
                self.proof_expr()?;
                self.expect(Tok::Semi)?;
            }
        }
        if self.pos > first {
            let span = self.since(start);
            self.tree.proofs.push(span);
        }
        Ok(fun)
    }

    /// `invariant e;` between the head of a `foreach` and its body. A statement may also begin with a variable of
    /// that name.
    pub(super) fn loop_invariants(&mut self) -> Parsed<()> {
        let is_place =
            |tok| matches!(tok, Tok::Assign | Tok::PlusAssign | Tok::MinusAssign | Tok::Dot | Tok::LBracket);
        while self.at_word(words::INVARIANT) && !is_place(self.nth(1).tok) {
            let start = self.span();
            self.bump();
            self.proof_expr()?;
            self.expect_semi("the invariant")?;
            let span = self.since(start);
            self.tree.proofs.push(span);
        }
        Ok(())
    }

    /// `is K` and `targets e` behind an operand, where nothing else could begin with a name.
    pub(super) fn proof_postfix(&mut self, operand: ExprId) -> Parsed<Option<ExprKind>> {
        if self.at_word(words::IS) && self.nth(1).tok == Tok::Name {
            self.bump();
            return Ok(Some(ExprKind::Is(operand, self.name("a state or machine")?)));
        }
        if self.at_word(words::TARGETS) && (self.in_proof > 0 || self.nth(1).tok == Tok::Name) {
            self.bump();
            self.nested(Self::postfix_expr)?;
            return Ok(Some(ExprKind::Proof));
        }
        Ok(None)
    }

    /// `inflight e`, `sent e` and quantifiers.
    pub(super) fn proof_primary(&mut self) -> Parsed<Option<ExprId>> {
        let start = self.span();
        let word = self.token().symbol;
        if !words::is_proof_word(word) {
            return Ok(None);
        }
        match word {
            words::INFLIGHT | words::SENT if self.in_proof > 0 || self.nth(1).tok == Tok::Name => {
                self.bump();
                self.nested(Self::postfix_expr)?;
                let span = self.since(start);
                Ok(Some(self.push(ExprKind::Proof, span)?))
            }
            words::FORALL | words::EXISTS
                if self.in_proof > 0
                    || self.nth_is_word(1, words::NEW)
                    || (self.nth(1).tok == Tok::LParen && self.nth(3).tok == Tok::Colon) =>
            {
                self.bump();
                let is_about_new = self.eat_word(words::NEW);
                self.in_proof += 1;
                let quantified = self.quantified(word == words::FORALL);
                self.in_proof -= 1;
                let quantified = quantified?;
                let span = self.since(start);
                let kind = if is_about_new { ExprKind::Proof } else { ExprKind::Quantified(quantified) };
                Ok(Some(self.push(kind, span)?))
            }
            _ => Ok(None),
        }
    }

    fn quantified(&mut self, is_universal: bool) -> Parsed<Quantified> {
        self.expect(Tok::LParen)?;
        let variables = self.params()?;
        self.expect(Tok::Colon)?;
        self.expect(Tok::Colon)?;
        let body = self.expr()?;
        Ok(Quantified { is_universal, variables, body })
    }

    /// The text of an invariant that the user states: one condition, in the words of proofs.
    pub(super) fn stated_invariant(&mut self) -> Parsed<()> {
        self.in_proof += 1;
        let condition = self.expr();
        self.in_proof -= 1;
        let condition = condition?;
        self.eat(Tok::Semi);
        if !self.at(Tok::Eof) {
            return Err(self.expected("an operator or the end of the invariant"));
        }
        self.tree.decls.push(Decl::Invariant { condition });
        Ok(())
    }
}
