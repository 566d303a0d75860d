//! Text to tokens. Comments and blanks disappear; block comments nest.
//!
//! Names are interned here. The interner of every program starts with [`RESERVED`], so a keyword is
//! recognized by its number; words such as `async` or `div` that old inputs use as names stay
//! ordinary names and are recognized where the grammar wants them.

use allways_base::{Diagnostic, FileId, Interner, Span, Symbol};

use crate::codes;

/// The words that cannot be names.
pub const RESERVED: &[&str] = &[
    "assert",
    "assume",
    "axiom",
    "bool",
    "break",
    "call",
    "const",
    "else",
    "ensures",
    "exists",
    "false",
    "forall",
    "free",
    "function",
    "goto",
    "havoc",
    "if",
    "implementation",
    "int",
    "invariant",
    "lambda",
    "modifies",
    "old",
    "procedure",
    "real",
    "requires",
    "return",
    "returns",
    "then",
    "true",
    "type",
    "unique",
    "var",
    "where",
    "while",
];

/// Keywords by their place in [`RESERVED`].
pub mod kw {
    use allways_base::Symbol;

    macro_rules! keywords {
        ($($name:ident = $n:literal;)*) => {
            $(pub const $name: Symbol = Symbol::from_u32($n);)*
        };
    }

    keywords! {
        ASSERT = 0; ASSUME = 1; AXIOM = 2; BOOL = 3; BREAK = 4; CALL = 5; CONST = 6; ELSE = 7;
        ENSURES = 8; EXISTS = 9; FALSE = 10; FORALL = 11; FREE = 12; FUNCTION = 13; GOTO = 14;
        HAVOC = 15; IF = 16; IMPLEMENTATION = 17; INT = 18; INVARIANT = 19; LAMBDA = 20;
        MODIFIES = 21; OLD = 22; PROCEDURE = 23; REAL = 24; REQUIRES = 25; RETURN = 26;
        RETURNS = 27; THEN = 28; TRUE = 29; TYPE = 30; UNIQUE = 31; VAR = 32; WHERE = 33;
        WHILE = 34;
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    Keyword(Symbol),
    Ident(Symbol),
    /// Digits.
    Number(Symbol),
    /// Digits with a point or an exponent.
    Decimal(Symbol),
    /// `5bv32`.
    BvLiteral {
        digits: Symbol,
        width: u32,
    },
    /// The text between the quotes, as written.
    Text(Symbol),
    Punct(Punct),
    Eof,
}

macro_rules! puncts {
    ($($name:ident = $text:literal;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Punct { $($name,)* }

        impl Punct {
            pub const fn text(self) -> &'static str {
                match self { $(Punct::$name => $text,)* }
            }

            /// Longest first, so that the first match is the token.
            const ALL: &'static [Punct] = &[$(Punct::$name,)*];
        }
    };
}

puncts! {
    Iff = "<==>"; Implies = "==>"; Explies = "<==";
    And = "&&"; Or = "||"; EqEq = "=="; Ne = "!="; Le = "<="; Ge = ">="; Below = "<:";
    Concat = "++"; StarStar = "**"; Assign = ":="; ColonColon = "::"; Arrow = "->";
    LParen = "("; RParen = ")"; LBracket = "["; RBracket = "]"; LBrace = "{"; RBrace = "}";
    Comma = ","; Semi = ";"; Colon = ":"; Eq = "="; Lt = "<"; Gt = ">"; Plus = "+"; Minus = "-";
    Star = "*"; Slash = "/"; Percent = "%"; Bang = "!"; Pipe = "|";
}

#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
    /// No other token stands before it on its line.
    pub starts_line: bool,
}

/// The tokens of `text`, ended by [`TokenKind::Eof`].
pub fn lex(file: FileId, text: &str, names: &mut Interner, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut lexer = Lexer { file, text, pos: 0, names, diagnostics, tokens: Vec::new() };
    // Spans count bytes in 32 bits. The driver refuses larger files; this only keeps offsets sane.
    if text.len() > u32::MAX as usize {
        let span = Span::new(file, 0, 0);
        lexer.diagnostics.push(Diagnostic::error(codes::SYNTAX, span, "this file is larger than 4 GB"));
        lexer.text = "";
    }
    while lexer.next_token() {}
    lexer.tokens
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    pos: usize,
    names: &'a mut Interner,
    diagnostics: &'a mut Vec<Diagnostic>,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    /// Appends one token; false after the end of the text.
    fn next_token(&mut self) -> bool {
        self.skip_blanks();
        let start = self.pos;
        let Some(c) = self.peek() else {
            self.push(TokenKind::Eof, start);
            return false;
        };
        if is_ident_start(c) || (c == '\\' && self.text[start + 1..].starts_with(is_ident_start)) {
            self.ident();
        } else if c.is_ascii_digit() {
            self.number();
        } else if c == '"' {
            self.string();
        } else if let Some(kind) = unicode_token(c) {
            self.pos += c.len_utf8();
            self.push(kind, start);
        } else if let Some(&punct) = Punct::ALL.iter().find(|p| self.text[start..].starts_with(p.text())) {
            self.pos += punct.text().len();
            self.push(TokenKind::Punct(punct), start);
        } else {
            self.pos += c.len_utf8();
            let shown = c.escape_default();
            let message = match c {
                '&' => "a single `&` is not an operator; conjunction is written `&&`".to_owned(),
                _ => format!("the character `{shown}` cannot start anything here"),
            };
            self.error(codes::UNEXPECTED_CHARACTER, start, message);
            if c == '&' {
                // What was meant is clear enough to read on without a second complaint.
                self.push(TokenKind::Punct(Punct::And), start);
            }
        }
        true
    }

    fn peek(&self) -> Option<char> {
        self.text[self.pos..].chars().next()
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        let span = Span::new(self.file, start as u32, self.pos as u32);
        let gap_start = self.tokens.last().map_or(0, |token| token.span.end as usize);
        let starts_line = gap_start == 0 || self.text[gap_start..start].contains('\n');
        self.tokens.push(Token { kind, span, starts_line });
    }

    fn error(&mut self, code: allways_base::Code, start: usize, message: impl Into<String>) {
        let span = Span::new(self.file, start as u32, self.pos as u32);
        self.diagnostics.push(Diagnostic::error(code, span, message));
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.pos..];
            if let Some(c) = rest.chars().next()
                && c.is_whitespace()
            {
                self.pos += c.len_utf8();
            } else if rest.starts_with("//") {
                self.pos += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.block_comment();
            } else {
                return;
            }
        }
    }

    fn block_comment(&mut self) {
        let start = self.pos;
        let mut depth = 0u32;
        let bytes = self.text.as_bytes();
        while self.pos < bytes.len() {
            match &bytes[self.pos..] {
                [b'/', b'*', ..] => {
                    depth += 1;
                    self.pos += 2;
                }
                [b'*', b'/', ..] => {
                    depth -= 1;
                    self.pos += 2;
                    if depth == 0 {
                        return;
                    }
                }
                _ => self.pos += 1,
            }
        }
        // The rest of the file is inside the comment, so only its opening is worth showing.
        let span = Span::new(self.file, start as u32, start as u32 + 2);
        let diagnostic = Diagnostic::error(codes::UNTERMINATED_COMMENT, span, "this comment has no end")
            .help("close it with `*/`; comments nest, so each `/*` inside needs its own `*/`");
        self.diagnostics.push(diagnostic);
    }

    fn ident(&mut self) {
        let start = self.pos;
        let escaped = self.text[start..].starts_with('\\');
        self.pos += usize::from(escaped);
        self.skip_while(is_ident_continue);
        let text = &self.text[start..self.pos];
        let plain = text.strip_prefix('\\').unwrap_or(text);
        let symbol = self.names.intern(plain);
        let kind = match (is_reserved(symbol), escaped) {
            (false, _) => TokenKind::Ident(symbol),
            (true, false) => TokenKind::Keyword(symbol),
            // The backslash stays part of the name, so that printing gives it back.
            (true, true) => TokenKind::Ident(self.names.intern(text)),
        };
        self.push(kind, start);
    }

    fn number(&mut self) {
        let start = self.pos;
        self.skip_while(|c| c.is_ascii_digit());
        let digits_end = self.pos;
        if let Some(width) = self.bv_suffix() {
            let digits = self.names.intern(&self.text[start..digits_end]);
            if width.is_none() {
                self.error(codes::NUMBER, start, "this bitvector is wider than Allways can count");
            }
            let width = width.unwrap_or(1);
            self.push(TokenKind::BvLiteral { digits, width }, start);
            return;
        }
        let rest = &self.text[self.pos..];
        let mut decimal = false;
        if rest.starts_with('.') && rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
            decimal = true;
            self.pos += 1;
            self.skip_while(|c| c.is_ascii_digit());
        }
        let rest = &self.text[self.pos..];
        if let Some(exponent) = rest.strip_prefix('e') {
            let sign = usize::from(exponent.starts_with('-'));
            if exponent[sign..].starts_with(|c: char| c.is_ascii_digit()) {
                decimal = true;
                self.pos += 1 + sign;
                self.skip_while(|c| c.is_ascii_digit());
            }
        }
        let symbol = self.names.intern(&self.text[start..self.pos]);
        self.push(if decimal { TokenKind::Decimal(symbol) } else { TokenKind::Number(symbol) }, start);
    }

    /// Consumes `bv32` after digits. The inner `None` is a width that does not fit.
    fn bv_suffix(&mut self) -> Option<Option<u32>> {
        let rest = self.text[self.pos..].strip_prefix("bv")?;
        let n_digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if n_digits == 0 {
            return None;
        }
        self.pos += 2 + n_digits;
        Some(rest[..n_digits].parse().ok())
    }

    fn string(&mut self) {
        let start = self.pos;
        self.pos += 1;
        loop {
            match self.peek() {
                Some('"') => {
                    let symbol = self.names.intern(&self.text[start + 1..self.pos]);
                    self.pos += 1;
                    return self.push(TokenKind::Text(symbol), start);
                }
                Some('\\') if self.text[self.pos + 1..].starts_with(['"', '\\']) => self.pos += 2,
                Some('\n') | None => {
                    let symbol = self.names.intern(&self.text[start + 1..self.pos]);
                    self.error(codes::UNTERMINATED_STRING, start, "this string has no closing quote");
                    return self.push(TokenKind::Text(symbol), start);
                }
                Some(c) => self.pos += c.len_utf8(),
            }
        }
    }

    fn skip_while(&mut self, f: impl Fn(char) -> bool) {
        let rest = &self.text[self.pos..];
        self.pos += rest.find(|c| !f(c)).unwrap_or(rest.len());
    }
}

pub fn is_reserved(symbol: Symbol) -> bool {
    (symbol.as_u32() as usize) < RESERVED.len()
}

fn is_ident_start(c: char) -> bool {
    (c.is_alphabetic() && unicode_token(c).is_none()) || "_.$#'`~^?".contains(c)
}

fn is_ident_continue(c: char) -> bool {
    is_ident_start(c) || c.is_ascii_digit()
}

/// The mathematical spellings that current Boogie accepts.
fn unicode_token(c: char) -> Option<TokenKind> {
    let punct = match c {
        '∀' => return Some(TokenKind::Keyword(kw::FORALL)),
        '∃' => return Some(TokenKind::Keyword(kw::EXISTS)),
        'λ' => return Some(TokenKind::Keyword(kw::LAMBDA)),
        '⇔' => Punct::Iff,
        '⇒' => Punct::Implies,
        '⇐' => Punct::Explies,
        '∧' => Punct::And,
        '∨' => Punct::Or,
        '≠' => Punct::Ne,
        '≤' => Punct::Le,
        '≥' => Punct::Ge,
        '¬' => Punct::Bang,
        '•' => Punct::ColonColon,
        _ => return None,
    };
    Some(TokenKind::Punct(punct))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_where_their_constants_say() {
        let names = Interner::with(RESERVED);
        for (symbol, text) in [(kw::ASSERT, "assert"), (kw::LAMBDA, "lambda"), (kw::WHILE, "while")] {
            assert_eq!(names.text(symbol), text);
        }
    }

    #[test]
    fn punctuation_is_longest_first() {
        for (idx, long) in Punct::ALL.iter().enumerate() {
            for short in &Punct::ALL[..idx] {
                assert!(!long.text().starts_with(short.text()), "{short:?} hides {long:?}");
            }
        }
    }

    #[test]
    fn odd_names_and_numbers() {
        let mut names = Interner::with(RESERVED);
        let mut diagnostics = Vec::new();
        let text = r".str1 #k $e bef? \then \x 5bv32 1.5e-3 2e5 /* a /* b */ c */ x";
        let tokens = lex(FileId::from_u32(0), text, &mut names, &mut diagnostics);
        assert!(diagnostics.is_empty());
        let shown: Vec<String> = tokens
            .iter()
            .map(|t| match t.kind {
                TokenKind::Ident(s) => names.text(s).to_owned(),
                TokenKind::Decimal(s) => format!("real {}", names.text(s)),
                TokenKind::BvLiteral { digits, width } => format!("{}/{width}", names.text(digits)),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(
            shown,
            [".str1", "#k", "$e", "bef?", r"\then", "x", "5/32", "real 1.5e-3", "real 2e5", "x", "Eof"]
        );
    }
}
