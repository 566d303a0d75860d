//! Declarations.

use allways_base::{Diagnostic, Span, Symbol};

use super::{GivenUp, Parse, Parser, starts_decl};
use crate::codes;
use crate::lexer::{Punct, TokenKind, kw};
use crate::tree::*;

/// Words that start declarations of other dialects.
fn is_foreign(word: &str) -> bool {
    matches!(word, "datatype" | "yield" | "pure" | "action" | "atomic" | "both" | "left" | "right")
}

/// Attributes, name and signature of a procedure or implementation.
struct Header {
    attrs: Vec<Attr>,
    name: Ident,
    type_params: Vec<Ident>,
    params: Vec<Binding>,
    results: Vec<Binding>,
}

impl Parser {
    pub(super) fn program(&mut self) {
        while !self.at_end() {
            let before = self.pos;
            if self.decl().is_err() {
                self.skip_decl();
            }
            if self.pos == before {
                self.bump();
            }
        }
    }

    /// Skips to the next keyword that starts a declaration. `var` starts one too, but also a local.
    fn skip_decl(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.kind() {
                TokenKind::Eof => return,
                TokenKind::Keyword(keyword) if starts_decl(keyword) && self.last_error != Some(self.pos) => {
                    return;
                }
                TokenKind::Keyword(kw::VAR) if depth == 0 && self.last_error != Some(self.pos) => return,
                TokenKind::Ident(symbol)
                    if depth == 0
                        && self.tokens[self.pos].starts_line
                        && self.last_error != Some(self.pos)
                        && is_foreign(self.program.names.text(symbol)) =>
                {
                    return;
                }
                TokenKind::Punct(Punct::LBrace) => depth += 1,
                TokenKind::Punct(Punct::RBrace) => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.bump();
        }
    }

    fn decl(&mut self) -> Parse<()> {
        let start = self.span();
        match self.kind() {
            TokenKind::Keyword(kw::TYPE) => self.type_decl(start),
            TokenKind::Keyword(kw::CONST) => self.const_decl(start),
            TokenKind::Keyword(kw::FUNCTION) => self.function_decl(start),
            TokenKind::Keyword(kw::AXIOM) => {
                self.bump();
                let attrs = self.attrs()?;
                let expr = self.expr()?;
                self.expect_semi();
                self.push_decl(start, attrs, DeclKind::Axiom(expr));
                Ok(())
            }
            TokenKind::Keyword(kw::VAR) => {
                self.bump();
                let attrs = self.attrs()?;
                loop {
                    for binding in self.bindings(Vec::new(), "the name of a variable")? {
                        self.push_decl(start, attrs.clone(), DeclKind::Var(binding));
                    }
                    if !self.eat(Punct::Comma) {
                        break;
                    }
                }
                self.expect_semi();
                Ok(())
            }
            TokenKind::Keyword(kw::PROCEDURE) => self.procedure_decl(start),
            TokenKind::Keyword(kw::IMPLEMENTATION) => self.implementation(start),
            TokenKind::Ident(symbol) | TokenKind::Keyword(symbol @ kw::INVARIANT) => {
                Err(self.foreign_decl(symbol, start))
            }
            _ => Err(self.expected("a declaration")),
        }
    }

    fn push_decl(&mut self, start: Span, attrs: Vec<Attr>, kind: DeclKind) {
        let span = start.to(self.prev_span());
        self.program.decls.push(Decl { attrs, kind, span });
    }

    /// Declarations of Boogie's newer and Civl dialects get a word of their own.
    fn foreign_decl(&mut self, symbol: Symbol, span: Span) -> GivenUp {
        let (what, help) = match self.program.names.text(symbol) {
            "datatype" => ("datatypes", "declare a type, a function per field, and axioms"),
            "yield" | "pure" | "action" | "atomic" | "both" | "left" | "right" => {
                ("Civl procedures and actions", "use `procedure` with `yield;` or `async call`")
            }
            "invariant" => ("Civl invariants", "state the condition with `assert`"),
            _ => return self.expected("a declaration"),
        };
        self.unsupported(span, what, help)
    }

    fn type_decl(&mut self, start: Span) -> Parse<()> {
        self.bump();
        let attrs = self.attrs()?;
        let finite = self.at_word(0, "finite") && matches!(self.kind_at(1), TokenKind::Ident(_));
        if finite {
            self.bump();
        }
        loop {
            let name = self.ident("the name of a type")?;
            let mut params = Vec::new();
            while matches!(self.kind(), TokenKind::Ident(_)) {
                params.push(self.ident("a type parameter")?);
            }
            let synonym = if self.eat(Punct::Eq) { Some(self.ty()?) } else { None };
            let decl = TypeDecl { name, params, synonym, finite };
            self.push_decl(start, attrs.clone(), DeclKind::Type(decl));
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect_semi();
        Ok(())
    }

    fn const_decl(&mut self, start: Span) -> Parse<()> {
        self.bump();
        let attrs = self.attrs()?;
        let unique = self.eat_kw(kw::UNIQUE);
        let names = self.idents("the name of a constant")?;
        self.expect(Punct::Colon)?;
        let ty = self.ty()?;
        let order = if self.at(Punct::Below) { Some(self.order()?) } else { None };
        for name in names {
            let decl = ConstDecl { name, ty, unique, order: order.clone() };
            self.push_decl(start, attrs.clone(), DeclKind::Const(decl));
        }
        self.uses(false)
    }

    fn order(&mut self) -> Parse<Order> {
        let span = self.span();
        self.bump();
        let mut parents = Vec::new();
        while !self.at(Punct::Semi) && !self.at_word(0, "complete") {
            let unique = self.eat_kw(kw::UNIQUE);
            parents.push((unique, self.ident("the name of a parent constant")?));
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        let complete = self.eat_word("complete");
        self.diagnostics.push(Diagnostic::warning(
            codes::IGNORED,
            span.to(self.prev_span()),
            "the order of constants is read and ignored",
        ));
        Ok(Order { parents, complete })
    }

    fn function_decl(&mut self, start: Span) -> Parse<()> {
        self.bump();
        let attrs = self.attrs()?;
        let name = self.ident("the name of a function")?;
        let type_params = self.type_params()?;
        self.expect(Punct::LParen)?;
        let params = self.list_to(Punct::RParen, Self::function_param)?;
        let params = self.share_types(params)?;
        let result = if self.eat_kw(kw::RETURNS) {
            self.expect(Punct::LParen)?;
            let result = self.function_param()?;
            self.expect(Punct::RParen)?;
            result
        } else if self.eat(Punct::Colon) {
            FunctionParam { attrs: Vec::new(), name: None, ty: self.ty()? }
        } else {
            return Err(self.expected("`returns` or `:`"));
        };
        let body = if self.eat(Punct::LBrace) {
            let body = self.expr()?;
            self.expect(Punct::RBrace)?;
            Some(body)
        } else {
            None
        };
        let has_body = body.is_some();
        let decl = FunctionDecl { name, type_params, params, result, body };
        self.push_decl(start, attrs, DeclKind::Function(decl));
        self.uses(has_body)
    }

    /// `uses { axioms }` after a function or constant, or the semicolon that ends it. The clause says
    /// when its axioms matter; here axioms always count, so they become ordinary ones.
    fn uses(&mut self, ended: bool) -> Parse<()> {
        if self.at_word(0, "uses") && self.at_ahead(1, Punct::LBrace) {
            self.bump();
            self.bump();
            while !self.eat(Punct::RBrace) {
                if !self.at_kw(kw::AXIOM) {
                    return Err(self.expected("an axiom or `}`"));
                }
                self.decl()?;
            }
            return Ok(());
        }
        if !ended {
            self.expect_semi();
        }
        Ok(())
    }

    fn function_param(&mut self) -> Parse<FunctionParam> {
        let attrs = self.attrs()?;
        let name = if self.at_ahead(1, Punct::Colon) {
            let name = self.ident("the name of a parameter")?;
            self.bump();
            Some(name)
        } else {
            None
        };
        Ok(FunctionParam { attrs, name, ty: self.ty()? })
    }

    /// `f(x, y: int)` gives every name the next type: names without a type have been read as types.
    fn share_types(&mut self, mut params: Vec<FunctionParam>) -> Parse<Vec<FunctionParam>> {
        if params.iter().all(|param| param.name.is_none()) {
            return Ok(params);
        }
        let mut next_ty = None;
        for param in params.iter_mut().rev() {
            if param.name.is_some() {
                next_ty = Some(param.ty);
                continue;
            }
            let Type { kind, span } = &self.program.types[param.ty];
            match (kind, next_ty) {
                (TypeKind::Named(symbol, args), Some(ty)) if args.is_empty() => {
                    param.name = Some(Ident { symbol: *symbol, span: *span });
                    param.ty = ty;
                }
                _ => {
                    let span = *span;
                    return Err(self.fail(
                        codes::SYNTAX,
                        span,
                        "either all parameters of a function have names or none",
                    ));
                }
            }
        }
        Ok(params)
    }

    fn params(&mut self) -> Parse<Vec<Binding>> {
        self.expect(Punct::LParen)?;
        if self.eat(Punct::RParen) {
            return Ok(Vec::new());
        }
        let params = self.binding_groups("the name of a parameter")?;
        if !self.eat(Punct::RParen) {
            return Err(self.expected("`,` or `)`"));
        }
        Ok(params)
    }

    fn results(&mut self) -> Parse<Vec<Binding>> {
        if self.eat_kw(kw::RETURNS) { self.params() } else { Ok(Vec::new()) }
    }

    /// What procedures and implementations begin with.
    fn header(&mut self) -> Parse<Header> {
        self.bump();
        let attrs = self.attrs()?;
        let name = self.ident("the name of a procedure")?;
        let type_params = self.type_params()?;
        let params = self.params()?;
        let results = self.results()?;
        Ok(Header { attrs, name, type_params, params, results })
    }

    fn procedure_decl(&mut self, start: Span) -> Parse<()> {
        let Header { attrs, name, type_params, params, results } = self.header()?;
        let without_body = self.eat(Punct::Semi);
        let mut specs = Vec::new();
        while let Some(spec) = self.spec()? {
            specs.push(spec);
        }
        let body = match without_body {
            true => None,
            false if self.at(Punct::LBrace) => Some(self.body()?),
            false => {
                return Err(self.expected(if specs.is_empty() {
                    "`;`, a specification or `{`"
                } else {
                    "`{`"
                }));
            }
        };
        let decl = ProcedureDecl { name, type_params, params, results, specs, body };
        self.push_decl(start, attrs, DeclKind::Procedure(decl));
        Ok(())
    }

    fn spec(&mut self) -> Parse<Option<Spec>> {
        let start = self.span();
        let free = self.eat_kw(kw::FREE);
        let (attrs, kind) = match self.kind() {
            TokenKind::Keyword(kw::REQUIRES) => {
                self.bump();
                let attrs = self.attrs()?;
                (attrs, SpecKind::Requires(self.expr()?))
            }
            TokenKind::Keyword(kw::ENSURES) => {
                self.bump();
                let attrs = self.attrs()?;
                (attrs, SpecKind::Ensures(self.expr()?))
            }
            TokenKind::Keyword(kw::MODIFIES) => {
                self.bump();
                let attrs = self.attrs()?;
                let names = match self.at(Punct::Semi) {
                    true => Vec::new(),
                    false => self.idents("a global variable")?,
                };
                (attrs, SpecKind::Modifies(names))
            }
            TokenKind::Ident(_) if self.at_word(0, "posts") => {
                self.bump();
                (Vec::new(), SpecKind::Posts(self.idents("the name of a procedure")?))
            }
            _ if free => return Err(self.expected("`requires`, `ensures` or `modifies`")),
            _ => return Ok(None),
        };
        self.expect_semi();
        Ok(Some(Spec { free, attrs, kind, span: start.to(self.prev_span()) }))
    }

    fn implementation(&mut self, start: Span) -> Parse<()> {
        let Header { attrs, name, type_params, params, results } = self.header()?;
        let body = self.body()?;
        let decl = Implementation { name, type_params, params, results, body };
        self.push_decl(start, attrs, DeclKind::Implementation(decl));
        Ok(())
    }
}
