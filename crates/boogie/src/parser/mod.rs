//! Tokens to tree, with recovery: a mistake costs the statement or declaration it is in, and reading
//! goes on after it. Parsing never fails; a program with errors in its diagnostics is only good for
//! being looked at.
//!
//! Depth of recursion is counted and bounded by [`MAX_NESTING`]; operator chains, unary chains and
//! `else if` chains are loops and may have any length.

mod decls;
mod exprs;
mod stmts;
mod types;

use allways_base::{Code, Diagnostic, FileId, Span, Symbol};

pub(crate) use exprs::{POSTFIX_LEVEL, UNARY_LEVEL, level};

use crate::codes;
use crate::lexer::{self, Punct, Token, TokenKind, kw};
use crate::tree::*;

/// How deep parentheses, blocks, conditionals, quantifiers and types may nest.
pub const MAX_NESTING: u32 = 200;

/// A tree with what is wrong with it.
pub struct Parsed {
    pub program: Program,
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses one file. The spans of the tree refer to `file`.
pub fn parse(file: FileId, text: &str) -> Parsed {
    parse_files([(file, text)])
}

/// Parses several files as one program: its declarations are those of all of them, in this order.
pub fn parse_files<'a>(files: impl IntoIterator<Item = (FileId, &'a str)>) -> Parsed {
    let mut parsed = Parsed { program: Program::default(), diagnostics: Vec::new() };
    for (file, text) in files {
        let Parsed { mut program, mut diagnostics } = parsed;
        let tokens = lexer::lex(file, text, &mut program.names, &mut diagnostics);
        let mut parser = Parser { tokens, pos: 0, program, diagnostics, depth: 0, last_error: None };
        parser.program();
        parsed = Parsed { program: parser.program, diagnostics: parser.diagnostics };
    }
    parsed
}

/// A diagnostic has been reported and the construct given up.
struct GivenUp;

type Parse<T> = Result<T, GivenUp>;

struct Parser {
    /// Ends with [`TokenKind::Eof`].
    tokens: Vec<Token>,
    pos: usize,
    program: Program,
    diagnostics: Vec<Diagnostic>,
    depth: u32,
    /// The token at which the last syntax error was reported; a second one there would only repeat.
    last_error: Option<usize>,
}

impl Parser {
    // -- looking

    fn kind(&self) -> TokenKind {
        self.tokens[self.pos].kind
    }

    fn kind_at(&self, ahead: usize) -> TokenKind {
        self.tokens[(self.pos + ahead).min(self.tokens.len() - 1)].kind
    }

    fn span(&self) -> Span {
        self.tokens[self.pos].span
    }

    fn prev_span(&self) -> Span {
        self.tokens[self.pos.saturating_sub(1)].span
    }

    fn at(&self, punct: Punct) -> bool {
        self.kind() == TokenKind::Punct(punct)
    }

    fn at_ahead(&self, ahead: usize, punct: Punct) -> bool {
        self.kind_at(ahead) == TokenKind::Punct(punct)
    }

    fn at_kw(&self, keyword: Symbol) -> bool {
        self.kind() == TokenKind::Keyword(keyword)
    }

    /// Whether the token `ahead` is the contextual word `text`.
    fn at_word(&self, ahead: usize, text: &str) -> bool {
        matches!(self.kind_at(ahead), TokenKind::Ident(s) if self.program.names.text(s) == text)
    }

    fn at_end(&self) -> bool {
        self.kind() == TokenKind::Eof
    }

    // -- moving

    fn bump(&mut self) {
        if !self.at_end() {
            self.pos += 1;
        }
    }

    fn eat(&mut self, punct: Punct) -> bool {
        let found = self.at(punct);
        if found {
            self.bump();
        }
        found
    }

    fn eat_kw(&mut self, keyword: Symbol) -> bool {
        let found = self.at_kw(keyword);
        if found {
            self.bump();
        }
        found
    }

    fn eat_word(&mut self, text: &str) -> bool {
        let found = self.at_word(0, text);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, punct: Punct) -> Parse<()> {
        if self.eat(punct) {
            return Ok(());
        }
        Err(self.expected(&format!("`{}`", punct.text())))
    }

    /// A missing semicolon is reported where it belongs, and reading goes on as if it were there.
    fn expect_semi(&mut self) {
        if !self.eat(Punct::Semi) && self.last_error != Some(self.pos) {
            let found = self.found();
            let span = self.prev_span().at_end();
            self.last_error = Some(self.pos);
            let message = format!("expected `;`, found {found}");
            self.diagnostics.push(Diagnostic::error(codes::SYNTAX, span, message));
            // On a new line the next construct begins; on the same one it is a rest of this one.
            let rest_follows = !self.tokens[self.pos].starts_line
                && matches!(self.kind(), TokenKind::Ident(_) | TokenKind::Number(_));
            if rest_follows {
                self.skip_stmt();
            }
        }
    }

    fn ident(&mut self, what: &str) -> Parse<Ident> {
        match self.kind() {
            TokenKind::Ident(symbol) => {
                let span = self.span();
                self.bump();
                Ok(Ident { symbol, span })
            }
            TokenKind::Keyword(symbol) => {
                let word = self.program.names.text(symbol).to_owned();
                let span = self.span();
                let message = format!("expected {what}, found the keyword `{word}`");
                let help = format!("to use it as a name, write `\\{word}`");
                self.report(Diagnostic::error(codes::SYNTAX, span, message).help(help));
                Err(GivenUp)
            }
            TokenKind::Number(_)
            | TokenKind::Decimal(_)
            | TokenKind::BvLiteral { .. }
            | TokenKind::Text(_)
            | TokenKind::Punct(_)
            | TokenKind::Eof => Err(self.expected(what)),
        }
    }

    /// One or more names with commas between.
    fn idents(&mut self, what: &str) -> Parse<Vec<Ident>> {
        let mut idents = vec![self.ident(what)?];
        while self.eat(Punct::Comma) {
            idents.push(self.ident(what)?);
        }
        Ok(idents)
    }

    /// Items with commas between up to `close`, which is consumed. The opening is already gone.
    fn list_to<T>(&mut self, close: Punct, item: impl Fn(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.eat(close) {
                return Ok(items);
            }
            if !self.eat(Punct::Comma) {
                return Err(self.expected(&format!("`,` or `{}`", close.text())));
            }
        }
    }

    /// A number that must fit into 32 bits.
    fn small_number(&mut self) -> Parse<u32> {
        let TokenKind::Number(digits) = self.kind() else { return Err(self.expected("a number")) };
        let value = self.program.names.text(digits).parse().ok();
        let Some(value) = value else {
            let span = self.span();
            return Err(self.fail(codes::NUMBER, span, "this number is too large here"));
        };
        self.bump();
        Ok(value)
    }

    // -- reporting

    fn found(&self) -> String {
        let names = &self.program.names;
        match self.kind() {
            TokenKind::Keyword(symbol) => format!("the keyword `{}`", names.text(symbol)),
            TokenKind::Ident(symbol) => format!("`{}`", names.text(symbol)),
            TokenKind::Number(symbol) | TokenKind::Decimal(symbol) => {
                format!("the number {}", names.text(symbol))
            }
            TokenKind::BvLiteral { digits, width } => {
                format!("the number {}bv{width}", names.text(digits))
            }
            TokenKind::Text(_) => "a string".to_owned(),
            TokenKind::Punct(punct) => format!("`{}`", punct.text()),
            TokenKind::Eof => "the end of the file".to_owned(),
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.last_error != Some(self.pos) {
            self.last_error = Some(self.pos);
            self.diagnostics.push(diagnostic);
        }
    }

    fn expected(&mut self, what: &str) -> GivenUp {
        let message = format!("expected {what}, found {}", self.found());
        let span = self.span();
        self.fail(codes::SYNTAX, span, message)
    }

    fn fail(&mut self, code: Code, span: Span, message: impl Into<String>) -> GivenUp {
        self.report(Diagnostic::error(code, span, message));
        GivenUp
    }

    fn unsupported(&mut self, span: Span, what: &str, help: &str) -> GivenUp {
        let message = format!("{what} are not supported");
        self.report(Diagnostic::error(codes::UNSUPPORTED, span, message).help(help));
        GivenUp
    }

    /// Runs `f` one level deeper, or reports that this is too deep.
    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_NESTING {
            let span = self.span();
            let message = format!("this is nested more than {MAX_NESTING} levels deep");
            self.report(
                Diagnostic::error(codes::NESTING, span, message)
                    .help("name inner parts with variables, functions or procedures"),
            );
            return Err(GivenUp);
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// Skips a bracketed group that starts here, whatever is inside.
    fn skip_group(&mut self) {
        let mut depth = 0usize;
        while !self.at_end() {
            match self.kind() {
                TokenKind::Punct(Punct::LBrace | Punct::LParen | Punct::LBracket) => depth += 1,
                TokenKind::Punct(Punct::RBrace | Punct::RParen | Punct::RBracket) => {
                    depth = depth.saturating_sub(1);
                }
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return;
            }
        }
    }

    // -- attributes

    fn at_attr(&self) -> bool {
        self.at(Punct::LBrace) && self.at_ahead(1, Punct::Colon)
    }

    fn attrs(&mut self) -> Parse<Vec<Attr>> {
        let mut attrs = Vec::new();
        while self.at_attr() {
            attrs.push(self.attr()?);
        }
        Ok(attrs)
    }

    fn attr(&mut self) -> Parse<Attr> {
        self.bump();
        self.bump();
        let name = self.attr_name()?;
        let args = self.list_to(Punct::RBrace, Self::expr)?;
        Ok(Attr { name, args })
    }

    /// Any word names an attribute, keywords included.
    fn attr_name(&mut self) -> Parse<Ident> {
        if let TokenKind::Keyword(symbol) = self.kind() {
            let span = self.span();
            self.bump();
            return Ok(Ident { symbol, span });
        }
        self.ident("the name of an attribute")
    }
}

/// The keywords that start a declaration and nothing else: recovery stops at them.
fn starts_decl(keyword: Symbol) -> bool {
    [kw::TYPE, kw::CONST, kw::FUNCTION, kw::AXIOM, kw::PROCEDURE, kw::IMPLEMENTATION].contains(&keyword)
}
