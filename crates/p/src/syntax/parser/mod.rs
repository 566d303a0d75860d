//! Tokens to tree, by recursive descent.
//!
//! A production returns [`Parsed`]: the node, or [`Failed`] after reporting what was expected. Lists of
//! declarations, members, state items and statements catch the failure, skip to where the next element
//! may begin and go on, so one run shows every mistake. Recursion is limited to [`MAX_DEPTH`]; chains
//! that grow to the left or by `else if` do not recurse at all.

mod decls;
mod exprs;
mod modules;
mod proofs;
mod stmts;

use allways_base::nearest::nearest;
use allways_base::{Diagnostic, FileId, IndexVec, Interner, Span, Symbol};
use rustc_hash::FxHashSet;

use super::ast::{Damage, EventRef, EventRefKind, Name, Tree, Type, TypeId, TypeKind, Var};
use super::lexer::{Tok, Token, lex};
use super::words;
use crate::codes;

/// Which programs are let in.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Dialect {
    /// Reject what the compiler of P 3 rejects, also where older programs would be understood.
    pub strict: bool,
    /// The project is meant for the P verifier, whose words are then reserved everywhere.
    pub verifier: bool,
}

/// How deep brackets, blocks and types may nest. P's own sources stay below 20.
const MAX_DEPTH: u32 = 200;

/// How deep the tree of an expression may be: a chain `a + b + ...` is as deep as it is long.
const MAX_EXPR_DEPTH: u32 = 500;

/// After that many mistakes in a file the rest is not reported: memory is finite.
const MAX_REPORTS: usize = 1000;

/// How many tokens behind a mistake its closing parenthesis is looked for.
const MAX_SKIPPED: usize = 4096;

/// A production did not match; what was expected has been reported.
#[derive(Clone, Copy, Debug)]
struct Failed;

type Parsed<T> = Result<T, Failed>;

/// Parses one file. Whatever the text, there is a tree; `diagnostics` tell what is missing from it.
pub fn parse(
    file: FileId,
    text: &str,
    dialect: Dialect,
    symbols: &mut Interner,
    diagnostics: &mut Vec<Diagnostic>,
) -> Tree {
    parse_by(file, text, dialect, symbols, diagnostics, |parser| parser.file())
}

/// Parses the text of an invariant that the user states: a condition and nothing else.
pub fn parse_invariant(
    file: FileId,
    text: &str,
    dialect: Dialect,
    symbols: &mut Interner,
    diagnostics: &mut Vec<Diagnostic>,
) -> Tree {
    parse_by(file, text, dialect, symbols, diagnostics, |parser| {
        if let Err(Failed) = parser.stated_invariant() {
            parser.tree.damage = Damage::Declarations;
        }
    })
}

fn parse_by(
    file: FileId,
    text: &str,
    dialect: Dialect,
    symbols: &mut Interner,
    diagnostics: &mut Vec<Diagnostic>,
    read: impl FnOnce(&mut Parser<'_>),
) -> Tree {
    let n_before = diagnostics.len();
    let tokens = lex(file, text, symbols, diagnostics);
    let is_cut = diagnostics[n_before..].iter().any(|d| d.code == codes::UNTERMINATED_COMMENT);
    let mut parser = Parser {
        text,
        tokens,
        pos: 0,
        depth: 0,
        in_proof: 0,
        dialect,
        symbols,
        tree: Tree {
            file,
            damage: if is_cut { Damage::Declarations } else { Damage::None },
            decls: Vec::new(),
            exprs: IndexVec::with_capacity(text.len() / 16),
            stmts: IndexVec::with_capacity(text.len() / 48),
            types: IndexVec::new(),
            modules: IndexVec::new(),
            proofs: Vec::new(),
        },
        warned_words: FxHashSet::default(),
        taken_words: FxHashSet::default(),
        too_deep: false,
        is_unbalanced: false,
        n_reports: 0,
        late_vars: Vec::new(),
        expr_depths: Vec::with_capacity(text.len() / 16),
        diagnostics,
    };
    read(&mut parser);
    parser.tree
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    pos: usize,
    depth: u32,
    /// How many proof constructs are around the current token.
    in_proof: u32,
    dialect: Dialect,
    symbols: &'a Interner,
    tree: Tree,
    /// Words that this file uses as names, that P reserves since P 3 only, and that have been reported.
    warned_words: FxHashSet<Symbol>,
    /// Reserved words that this file takes for names and that have been reported. They are understood as names where they
    /// cannot mean anything else: a mistake is reported once.
    taken_words: FxHashSet<Symbol>,
    /// The nesting limit was reported for the declaration at hand: what is too deep goes on for a while.
    too_deep: bool,
    /// A missing brace was reported for the declaration at hand: others that seem wrong follow from it.
    is_unbalanced: bool,
    /// How many diagnostics this file has brought, see [`MAX_REPORTS`].
    n_reports: usize,
    /// Variables declared in inner blocks of the function at hand, which is a mistake.
    late_vars: Vec<Var>,
    /// The depth of the tree under each expression.
    expr_depths: Vec<u32>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Parser<'_> {
    // Looking at tokens.

    fn token(&self) -> Token {
        self.tokens[self.pos]
    }

    fn tok(&self) -> Tok {
        self.tokens[self.pos].tok
    }

    fn nth(&self, n: usize) -> Token {
        self.tokens[(self.pos + n).min(self.tokens.len() - 1)]
    }

    fn at(&self, tok: Tok) -> bool {
        self.tok() == tok
    }

    /// At a reserved word, or at a proof word that is not used as a name.
    fn at_word(&self, word: Symbol) -> bool {
        let token = self.token();
        matches!(token.tok, Tok::Word | Tok::Name) && token.symbol == word
    }

    fn nth_is_word(&self, n: usize, word: Symbol) -> bool {
        let token = self.nth(n);
        matches!(token.tok, Tok::Word | Tok::Name) && token.symbol == word
    }

    fn span_of(&self, token: Token) -> Span {
        Span::new(self.tree.file, token.start, token.end)
    }

    fn span(&self) -> Span {
        self.span_of(self.token())
    }

    fn prev_span(&self) -> Span {
        self.span_of(self.tokens[self.pos.saturating_sub(1)])
    }

    /// From `start` to the end of the last token taken.
    fn since(&self, start: Span) -> Span {
        if self.pos == 0 || self.prev_span().end <= start.start { start } else { start.to(self.prev_span()) }
    }

    // Taking tokens.

    fn bump(&mut self) -> Token {
        let token = self.token();
        if token.tok != Tok::Eof {
            self.pos += 1;
        }
        token
    }

    fn eat(&mut self, tok: Tok) -> bool {
        let is_there = self.at(tok);
        if is_there {
            self.bump();
        }
        is_there
    }

    fn eat_word(&mut self, word: Symbol) -> bool {
        let is_there = self.at_word(word);
        if is_there {
            self.bump();
        }
        is_there
    }

    fn expect(&mut self, tok: Tok) -> Parsed<Span> {
        if self.at(tok) {
            let token = self.bump();
            return Ok(self.span_of(token));
        }
        if self.on_new_line() && matches!(tok, Tok::RParen | Tok::RBracket | Tok::Semi | Tok::Colon) {
            return Err(self.missing_behind(tok.text()));
        }
        Err(self.expected(tok.text()))
    }

    fn expect_word(&mut self, word: Symbol) -> Parsed<Span> {
        if self.at_word(word) {
            let token = self.bump();
            return Ok(self.span_of(token));
        }
        let text = format!("`{}`", self.symbols.text(word));
        Err(self.expected(&text))
    }

    /// The `;` that ends something. A missing one is reported behind what it should end, and parsing goes on
    /// as if it were there when the next token can begin something new.
    fn expect_semi(&mut self, what: &str) -> Parsed<()> {
        if self.eat(Tok::Semi) {
            return Ok(());
        }
        let next = self.token();
        if next.tok == Tok::Unknown {
            return Err(Failed);
        }
        if next.tok == Tok::Assign {
            return Err(self.fail(
                codes::ASSIGNMENT_IN_EXPRESSION,
                self.span(),
                "`=` is not allowed in an expression",
                "compare with `==`; an assignment is a statement of its own",
            ));
        }
        let last = self.prev_span();
        if self.pos > 0
            && self.tokens[self.pos - 1].tok == Tok::Int
            && next.tok == Tok::Name
            && next.start == last.end
        {
            let number = last.to(self.span());
            let text = crate::types::short(&self.text[number.start as usize..number.end as usize]).to_owned();
            return Err(self.fail(
                codes::SYNTAX_ERROR,
                number,
                &format!("`{text}` is not a number"),
                "numbers are written with decimal digits only",
            ));
        }
        let behind = last.at_end();
        let mut diagnostic = Diagnostic::error(
            codes::SYNTAX_ERROR,
            behind,
            format!("expected `;` after {what}, found {}", self.found()),
        )
        .label("`;` is missing here");
        if next.tok == Tok::Comma {
            diagnostic = diagnostic.also(self.span(), "nothing more can follow here");
        }
        self.report(diagnostic);
        let begins_anew = next.start > behind.end && self.on_new_line() && next.tok != Tok::Eof
            || next.tok == Tok::RBrace && self.nth(1).tok != Tok::Semi;
        if begins_anew { Ok(()) } else { Err(Failed) }
    }

    /// Whether a line break lies between the last token and this one.
    fn on_new_line(&self) -> bool {
        self.is_first_of_line(self.pos)
    }

    fn is_first_of_line(&self, at: usize) -> bool {
        let from = self.tokens[at.saturating_sub(1)].end as usize;
        let to = self.tokens[at].start as usize;
        from <= to && self.text[from..to].contains('\n')
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.token();
        match token.tok {
            Tok::Name => {
                self.bump();
                let name = Name { symbol: token.symbol, span: self.span_of(token) };
                self.check_recent_word(name);
                Ok(name)
            }
            Tok::Word => {
                if !self.taken_words.contains(&token.symbol) {
                    if !self.stands_like_a_name() {
                        return Err(self.expected(what));
                    }
                    self.take_word(what);
                }
                self.bump();
                Ok(Name { symbol: token.symbol, span: self.span_of(token) })
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Reports a reserved word in the place of a name, as which it is understood from here on.
    fn take_word(&mut self, what: &str) {
        let symbol = self.token().symbol;
        let word = self.symbols.text(symbol);
        self.fail(
            codes::RESERVED_WORD,
            self.span(),
            &format!("`{word}` is a reserved word of P and cannot be {what}"),
            "choose another name",
        );
        // What it is called elsewhere is anybody's guess.
        self.damaged(Damage::Declarations);
        self.taken_words.insert(symbol);
    }

    /// Whether the word here is in the place of a name, by what comes behind it; otherwise the name is missing, and the word
    /// begins what follows.
    fn stands_like_a_name(&self) -> bool {
        if self.on_new_line() {
            return false;
        }
        let next = self.nth(1);
        match next.tok {
            Tok::Colon
            | Tok::Semi
            | Tok::Comma
            | Tok::Dot
            | Tok::Assign
            | Tok::PlusAssign
            | Tok::MinusAssign
            | Tok::LParen
            | Tok::RParen
            | Tok::LBracket
            | Tok::RBracket
            | Tok::LBrace
            | Tok::RBrace => true,
            Tok::Word => {
                matches!(next.symbol, words::DO | words::GOTO | words::IN | words::OBSERVES | words::RECEIVES)
            }
            _ => false,
        }
    }

    /// At a reserved word that was taken for a name, and that means nothing else in an expression.
    fn at_taken_name(&self) -> bool {
        let token = self.token();
        if token.tok != Tok::Word || !self.taken_words.contains(&token.symbol) {
            return false;
        }
        match token.symbol {
            words::TRUE | words::FALSE | words::NULL | words::HALT | words::THIS => {
                matches!(self.nth(1).tok, Tok::Assign | Tok::PlusAssign | Tok::MinusAssign)
            }
            words::NEW => false,
            words::KEYS
            | words::VALUES
            | words::SIZEOF
            | words::DEFAULT
            | words::CHOOSE
            | words::FORMAT
            | words::FLOAT => self.nth(1).tok != Tok::LParen,
            _ => true,
        }
    }

    fn name_list(&mut self, what: &str) -> Parsed<Vec<Name>> {
        let mut names = vec![self.name(what)?];
        while self.eat(Tok::Comma) {
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    /// Reports a word that is used as a name and that older versions of P did not reserve: a warning, or an error
    /// when P 3 is to be followed.
    fn check_recent_word(&mut self, name: Name) {
        let is_scenario = name.symbol == words::SCENARIO;
        let is_recent = is_scenario || words::is_proof_word(name.symbol) && self.in_proof == 0;
        if !is_recent || !self.warned_words.insert(name.symbol) {
            return;
        }
        let word = self.symbols.text(name.symbol);
        let message = match is_scenario {
            true => format!("`{word}` is reserved for declarations in P 3"),
            false => format!("`{word}` is reserved for proofs in P 3"),
        };
        let diagnostic = if self.dialect.strict || self.dialect.verifier {
            Diagnostic::error(codes::LEGACY_NAME, name.span, message).label("used as a name here")
        } else {
            Diagnostic::warning(codes::LEGACY_NAME, name.span, message)
                .label("understood as an ordinary name")
                .note("the compiler of P 3 rejects the file; `--strict` does the same")
        };
        self.report(diagnostic.help("choose another name"));
    }

    fn int(&mut self) -> Parsed<(i64, Span)> {
        let span = self.expect(Tok::Int)?;
        let text = &self.text[span.start as usize..span.end as usize];
        match text.parse::<i64>() {
            Ok(value) if value <= i64::from(i32::MAX) => Ok((value, span)),
            _ => {
                self.report(
                    Diagnostic::error(
                        codes::INTEGER_TOO_LARGE,
                        span,
                        "this integer is too large to be written in a program",
                    )
                    .label("more than 2147483647")
                    .note("values at run time have 64 bits; only literals are limited"),
                );
                Ok((0, span))
            }
        }
    }

    // Reporting.

    /// The current token, for messages.
    fn found(&self) -> String {
        let token = self.token();
        match token.tok {
            Tok::Name | Tok::Word => {
                let text: String = self.symbols.text(token.symbol).chars().take(40).collect();
                format!("`{text}`")
            }
            Tok::Int => {
                let text: String =
                    self.text[token.start as usize..token.end as usize].chars().take(20).collect();
                format!("`{text}`")
            }
            tok => tok.text().to_owned(),
        }
    }

    /// Adds a diagnostic of this file.
    fn report(&mut self, mut diagnostic: Diagnostic) {
        self.n_reports += 1;
        if self.n_reports > MAX_REPORTS {
            return;
        }
        if diagnostic.code == codes::SYNTAX_ERROR
            && diagnostic.help.is_empty()
            && let Some(word) = self.mistyped_word(&diagnostic.message)
        {
            diagnostic = diagnostic.help(format!("did you mean `{word}`?"));
        }
        self.diagnostics.push(diagnostic);
    }

    /// The reserved word that the current token, the last one or the first one of the line is likely to stand for;
    /// preferably one that the message says is expected.
    fn mistyped_word(&self, message: &str) -> Option<&'static str> {
        let first = (0..=self.pos).rev().find(|&at| at == 0 || self.is_first_of_line(at))?;
        let candidates = [self.pos, self.pos.saturating_sub(1), first].map(|at| self.tokens[at]);
        let mut names = candidates.into_iter().filter(|token| token.tok == Tok::Name);
        names.find_map(|token| {
            // The usual name of a machine is not a mistyped `main`.
            if token.symbol == words::MAIN_MACHINE {
                return None;
            }
            let text = self.symbols.text(token.symbol);
            let expected = words::reserved().filter(|word| message.contains(&format!("`{word}`")));
            nearest(text, expected).or_else(|| nearest(text, words::reserved()))
        })
    }

    /// Something is missing at the end of a line.
    fn missing_behind(&mut self, what: &str) -> Failed {
        let found = self.found();
        let behind = self.prev_span().at_end();
        self.report(
            Diagnostic::error(codes::SYNTAX_ERROR, behind, format!("expected {what}, found {found}"))
                .label(format!("{what} is missing here")),
        );
        Failed
    }

    fn expected(&mut self, what: &str) -> Failed {
        if self.at(Tok::Unknown) {
            return Failed;
        }
        let found = self.found();
        let span = match self.tok() {
            // Point behind the last thing that is there.
            Tok::Eof if self.pos > 0 => self.prev_span().at_end(),
            _ => self.span(),
        };
        self.report(
            Diagnostic::error(codes::SYNTAX_ERROR, span, format!("expected {what}, found {found}"))
                .label(format!("expected {what}")),
        );
        Failed
    }

    fn fail(&mut self, code: allways_base::Code, span: Span, message: &str, help: &str) -> Failed {
        if !self.at(Tok::Unknown) {
            self.report(Diagnostic::error(code, span, message).help(help));
        }
        Failed
    }

    /// The `{` of a body. Where it is missing and `begins` finds what belongs into the body, parsing goes on as if
    /// it were there.
    fn open_brace(&mut self, begins: impl Fn(&Self) -> bool) -> Parsed<Span> {
        if !self.at(Tok::LBrace) && begins(self) {
            self.missing_behind("`{`");
            self.damaged(Damage::Declarations);
            return Ok(self.prev_span().at_end());
        }
        self.expect(Tok::LBrace)
    }

    /// Reports something that stands outside of where it belongs. Mostly a brace above it is wrong, and then all
    /// that follows stands wrong as well: it is reported once for a declaration.
    fn misplaced(&mut self, what: &str, help: &str) -> Failed {
        if self.at(Tok::Unknown) || std::mem::replace(&mut self.is_unbalanced, true) {
            return Failed;
        }
        let found = self.found();
        self.report(
            Diagnostic::error(codes::SYNTAX_ERROR, self.span(), format!("expected {what}, found {found}"))
                .label(format!("expected {what}"))
                .help(help),
        );
        Failed
    }

    /// Skips what does not belong here, to where `stops` holds or to a closing brace that it did not open.
    fn skip_misplaced(&mut self, stops: impl Fn(&Self) -> bool) {
        let mut depth = 0usize;
        loop {
            match self.tok() {
                Tok::Eof => return,
                Tok::RBrace if depth == 0 => return,
                Tok::RBrace => depth -= 1,
                Tok::LBrace => depth += 1,
                _ => {}
            }
            self.bump();
            if depth == 0 && stops(self) {
                return;
            }
        }
    }

    /// Reports that the brace at `open` is not closed before the current token, unless a brace was reported
    /// for this declaration already.
    fn never_closed(&mut self, what: &str, open: Span) {
        if std::mem::replace(&mut self.is_unbalanced, true) {
            return;
        }
        let (place, text) = match self.tok() {
            Tok::Eof => (self.prev_span().at_end(), "the file ends here"),
            _ => (self.span(), "this is not allowed inside"),
        };
        self.report(
            Diagnostic::error(codes::SYNTAX_ERROR, open, format!("this {what} is never closed"))
                .label("opened here")
                .also(place, text)
                .help("add the missing `}`"),
        );
    }

    /// Runs a production one level deeper, or reports that the nesting is too deep.
    fn nested<T>(&mut self, production: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            if !self.too_deep {
                self.too_deep = true;
                self.report(
                    Diagnostic::error(
                        codes::NESTED_TOO_DEEP,
                        self.span(),
                        format!("the program is nested more than {MAX_DEPTH} levels deep here"),
                    )
                    .help("split the expression, block or type into named parts"),
                );
            }
            return Err(Failed);
        }
        self.depth += 1;
        let result = production(self);
        self.depth -= 1;
        result
    }

    // Recovery.

    fn damaged(&mut self, damage: Damage) {
        self.tree.damage = self.tree.damage.max(damage);
    }

    /// Skips the rest of the broken part that began at token `start`: to where `stops` holds outside of its
    /// braces, or to a closing brace that it did not open. Takes a `;` that ends it. Inside of its braces only
    /// what `stops_inside` finds at the start of a line ends it: then a closing brace is missing.
    fn recover(&mut self, start: usize, stops: impl Fn(&Self) -> bool, stops_inside: impl Fn(&Self) -> bool) {
        if let Some(behind) = self.behind_parentheses(start) {
            self.pos = behind;
        }
        let mut depth = 0usize;
        for token in &self.tokens[start..self.pos] {
            match token.tok {
                Tok::LBrace => depth += 1,
                Tok::RBrace => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        loop {
            match self.tok() {
                Tok::Eof => return,
                _ if depth > 0 && self.pos > start && self.on_new_line() && stops_inside(self) => return,
                Tok::RBrace if depth == 0 => return,
                Tok::Semi if depth == 0 => {
                    self.bump();
                    return;
                }
                _ if depth == 0 && self.pos > start && stops(self) => return,
                Tok::LBrace => depth += 1,
                Tok::RBrace => {
                    depth -= 1;
                    self.bump();
                    if depth == 0 {
                        // A block that the broken part opened ends it, unless it goes on (`else`, `;`).
                        if self.at_word(words::ELSE) {
                            continue;
                        }
                        self.eat(Tok::Semi);
                        return;
                    }
                    continue;
                }
                _ => {}
            }
            self.bump();
        }
    }

    /// The token behind the parentheses and brackets that are open here and were opened at or behind token `start`: a mistake
    /// inside of them says nothing about what follows, and a line or `;` in them begins no statement. None if they are
    /// not closed, as far as can be decided: before the block ends, or a line begins with a word that cannot stand in them.
    fn behind_parentheses(&self, start: usize) -> Option<usize> {
        let mut n_open = 0usize;
        for token in &self.tokens[start..self.pos] {
            match token.tok {
                Tok::LParen | Tok::LBracket => n_open += 1,
                Tok::RParen | Tok::RBracket => n_open = n_open.saturating_sub(1),
                // What is open outside of a block is not looked for inside.
                Tok::LBrace | Tok::RBrace => n_open = 0,
                _ => {}
            }
        }
        let mut n_braces = 0usize;
        let end = self.tokens.len().min(self.pos + MAX_SKIPPED);
        for at in self.pos..end {
            if n_open == 0 {
                return (at > self.pos).then_some(at);
            }
            let token = self.tokens[at];
            match token.tok {
                Tok::LParen | Tok::LBracket => n_open += 1,
                Tok::RParen | Tok::RBracket => n_open -= 1,
                Tok::LBrace => n_braces += 1,
                Tok::RBrace => n_braces = n_braces.checked_sub(1)?,
                Tok::Eof => return None,
                Tok::Word if words::begins_line(token.symbol) && self.is_first_of_line(at) => return None,
                _ => {}
            }
        }
        None
    }

    // Shared productions.

    fn type_(&mut self) -> Parsed<TypeId> {
        self.nested(Self::type_inner)
    }

    fn type_inner(&mut self) -> Parsed<TypeId> {
        let start = self.span();
        let token = self.token();
        let is_taken = token.tok == Tok::Word
            && !matches!(
                token.symbol,
                words::BOOL
                    | words::INT
                    | words::FLOAT
                    | words::STRING
                    | words::EVENT
                    | words::MACHINE
                    | words::DATA
                    | words::ANY
            )
            && self.taken_words.contains(&token.symbol)
            && self.nth(1).tok != Tok::LBracket;
        let kind = match token.tok {
            _ if is_taken => {
                let name = self.name("a type")?;
                TypeKind::Named(name.symbol)
            }
            Tok::Name => {
                let name = self.name("a type")?;
                TypeKind::Named(name.symbol)
            }
            Tok::LParen => {
                self.bump();
                self.tuple_type()?
            }
            Tok::Word => {
                let simple = match token.symbol {
                    words::BOOL => Some(TypeKind::Bool),
                    words::INT => Some(TypeKind::Int),
                    words::FLOAT => Some(TypeKind::Float),
                    words::STRING => Some(TypeKind::String),
                    words::EVENT => Some(TypeKind::Event),
                    words::MACHINE => Some(TypeKind::Machine),
                    words::DATA => Some(TypeKind::Data),
                    words::ANY => Some(TypeKind::Any),
                    _ => None,
                };
                if let Some(kind) = simple {
                    self.bump();
                    kind
                } else if matches!(token.symbol, words::SEQ | words::SET | words::MAP) {
                    self.bump();
                    self.expect(Tok::LBracket)?;
                    let first = self.type_()?;
                    let kind = match token.symbol {
                        words::SEQ => TypeKind::Seq(first),
                        words::SET => TypeKind::Set(first),
                        _ => {
                            self.expect(Tok::Comma)?;
                            TypeKind::Map(first, self.type_()?)
                        }
                    };
                    self.expect(Tok::RBracket)?;
                    kind
                } else {
                    return Err(self.expected("a type"));
                }
            }
            _ => return Err(self.expected("a type")),
        };
        let span = self.since(start);
        Ok(self.tree.types.push(Type { kind, span }))
    }

    fn tuple_type(&mut self) -> Parsed<TypeKind> {
        let is_named = matches!(self.tok(), Tok::Name | Tok::Word) && self.nth(1).tok == Tok::Colon;
        if is_named {
            let mut fields = Vec::new();
            loop {
                if self.nth(1).tok != Tok::Colon {
                    return Err(self.fail(
                        codes::SYNTAX_ERROR,
                        self.span(),
                        "either all fields of a tuple have a name or none",
                        "write `name: type` for each of them",
                    ));
                }
                let name = self.name("the name of a field")?;
                self.expect(Tok::Colon)?;
                fields.push((name, self.type_()?));
                if !self.eat(Tok::Comma) {
                    break;
                }
                self.no_trailing_comma()?;
            }
            self.expect(Tok::RParen)?;
            return Ok(TypeKind::NamedTuple(fields));
        }
        let mut fields = vec![self.type_()?];
        while self.eat(Tok::Comma) {
            self.no_trailing_comma()?;
            fields.push(self.type_()?);
        }
        self.expect(Tok::RParen)?;
        Ok(TypeKind::Tuple(fields))
    }

    /// A comma was taken: a closing parenthesis must not follow.
    fn no_trailing_comma(&mut self) -> Parsed<()> {
        if !self.at(Tok::RParen) {
            return Ok(());
        }
        let comma = self.prev_span();
        Err(self.fail(codes::SYNTAX_ERROR, comma, "nothing follows this comma", "remove the comma"))
    }

    /// `null` only where `allow_null`.
    fn event_ref(&mut self, allow_null: bool) -> Parsed<EventRef> {
        let span = self.span();
        if self.eat_word(words::HALT) {
            return Ok(EventRef { kind: EventRefKind::Halt, span });
        }
        if self.at_word(words::NULL) {
            if allow_null {
                self.bump();
                return Ok(EventRef { kind: EventRefKind::Null, span });
            }
            return Err(self.fail(
                codes::SYNTAX_ERROR,
                span,
                "`null` is not an event that can be listed here",
                "`null` may only be handled with `on null`; name an event or `halt`",
            ));
        }
        let name = self.name("an event")?;
        Ok(EventRef { kind: EventRefKind::Named(name.symbol), span: name.span })
    }

    fn event_refs(&mut self, allow_null: bool) -> Parsed<Vec<EventRef>> {
        let mut events = vec![self.event_ref(allow_null)?];
        while self.eat(Tok::Comma) {
            events.push(self.event_ref(allow_null)?);
        }
        Ok(events)
    }
}
