//! Types.

use super::{GivenUp, Parse, Parser};
use crate::lexer::{Punct, TokenKind, kw};
use crate::tree::*;

impl Parser {
    pub(super) fn ty(&mut self) -> Parse<TypeId> {
        let start = self.span();
        if let TokenKind::Ident(symbol) = self.kind()
            && self.bv_width(symbol).is_none()
        {
            self.bump();
            let mut args = Vec::new();
            while self.at_type_arg() {
                if self.at(Punct::LBracket) {
                    args.push(self.nested(Self::ty)?);
                    break;
                }
                args.push(self.type_atom()?);
            }
            let span = start.to(self.prev_span());
            return Ok(self.program.add_type(TypeKind::Named(symbol, args), span));
        }
        self.type_atom()
    }

    fn at_type_arg(&self) -> bool {
        match self.kind() {
            TokenKind::Ident(_) => true,
            TokenKind::Keyword(keyword) => [kw::BOOL, kw::INT, kw::REAL].contains(&keyword),
            TokenKind::Punct(punct) => [Punct::LParen, Punct::LBracket].contains(&punct),
            TokenKind::Number(_)
            | TokenKind::Decimal(_)
            | TokenKind::BvLiteral { .. }
            | TokenKind::Text(_)
            | TokenKind::Eof => false,
        }
    }

    fn type_atom(&mut self) -> Parse<TypeId> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Keyword(kw::BOOL) => TypeKind::Bool,
            TokenKind::Keyword(kw::INT) => TypeKind::Int,
            TokenKind::Keyword(kw::REAL) => TypeKind::Real,
            TokenKind::Ident(symbol) => match self.bv_width(symbol) {
                Some(width) => TypeKind::Bv(width),
                None => TypeKind::Named(symbol, Vec::new()),
            },
            TokenKind::Punct(Punct::LParen) => {
                self.bump();
                let inner = self.nested(Self::ty)?;
                self.expect(Punct::RParen)?;
                return Ok(inner);
            }
            TokenKind::Punct(Punct::LBracket | Punct::Lt) => return self.map_type(),
            _ => return Err(self.expected("a type")),
        };
        self.bump();
        Ok(self.program.add_type(kind, start))
    }

    fn map_type(&mut self) -> Parse<TypeId> {
        let start = self.span();
        let type_params = self.type_params()?;
        self.expect(Punct::LBracket)?;
        let args = self.list_to(Punct::RBracket, |p| p.nested(Self::ty))?;
        let result = self.nested(Self::ty)?;
        let span = start.to(self.prev_span());
        Ok(self.program.add_type(TypeKind::Map { type_params, args, result }, span))
    }

    /// `<a, b>`, or nothing.
    pub(super) fn type_params(&mut self) -> Parse<Vec<Ident>> {
        if !self.eat(Punct::Lt) {
            return Ok(Vec::new());
        }
        let params = self.idents("the name of a type parameter")?;
        self.expect(Punct::Gt)?;
        Ok(params)
    }

    /// The width if the name reads `bv32`.
    fn bv_width(&self, symbol: allways_base::Symbol) -> Option<u32> {
        let digits = self.program.names.text(symbol).strip_prefix("bv")?;
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        digits.parse().ok()
    }

    /// Names with one type: `a, b: T`, and `where e` after it.
    pub(super) fn bindings(&mut self, attrs: Vec<Attr>, what: &str) -> Parse<Vec<Binding>> {
        let names = self.idents(what)?;
        self.expect(Punct::Colon)?;
        let ty = self.ty()?;
        let where_clause = if self.eat_kw(kw::WHERE) { Some(self.expr()?) } else { None };
        Ok(names.into_iter().map(|name| Binding { attrs: attrs.clone(), name, ty, where_clause }).collect())
    }

    /// Groups of bindings with commas between; whatever ends them is left.
    pub(super) fn binding_groups(&mut self, what: &str) -> Result<Vec<Binding>, GivenUp> {
        let mut all = Vec::new();
        loop {
            let attrs = self.attrs()?;
            all.extend(self.bindings(attrs, what)?);
            if !self.eat(Punct::Comma) {
                return Ok(all);
            }
        }
    }
}
