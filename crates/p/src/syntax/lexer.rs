//! Text to tokens.
//!
//! Written by hand for two reasons. An unclosed `/*` is, to P, the operators `/` and `*`: a generated
//! lexer would look for the end of each of a million such openings anew, this one remembers that there
//! is none. And words of proofs (`exists`, `targets`, ...) are names almost everywhere, so whether a
//! word is reserved is one comparison of its symbol (see `words`).

use allways_base::{Diagnostic, FileId, Interner, Span, Symbol};

use super::words;
use crate::codes;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[rustfmt::skip]
pub enum Tok {
    /// A name, or one of the words that only proofs reserve.
    Name,
    /// A reserved word; the symbol tells which.
    Word,
    Int, Str,
    DollarDollar, Dollar, Not, AndAnd, OrOr, Implies, Iff, EqEq, NotEq, Le, Ge, Lt, Gt, Arrow,
    Assign, PlusAssign, MinusAssign, Plus, Minus, Star, Slash, Percent,
    LBrace, RBrace, LBracket, RBracket, LParen, RParen, Semi, Comma, Dot, Colon,
    /// Something that is no token and has been reported. Nothing more is said about it.
    Unknown,
    Eof,
}

impl Tok {
    /// How the token is written in messages.
    pub fn text(self) -> &'static str {
        match self {
            Tok::Name => "a name",
            Tok::Word => "a reserved word",
            Tok::Int => "an integer",
            Tok::Str => "a string",
            Tok::DollarDollar => "`$$`",
            Tok::Dollar => "`$`",
            Tok::Not => "`!`",
            Tok::AndAnd => "`&&`",
            Tok::OrOr => "`||`",
            Tok::Implies => "`==>`",
            Tok::Iff => "`<==>`",
            Tok::EqEq => "`==`",
            Tok::NotEq => "`!=`",
            Tok::Le => "`<=`",
            Tok::Ge => "`>=`",
            Tok::Lt => "`<`",
            Tok::Gt => "`>`",
            Tok::Arrow => "`->`",
            Tok::Assign => "`=`",
            Tok::PlusAssign => "`+=`",
            Tok::MinusAssign => "`-=`",
            Tok::Plus => "`+`",
            Tok::Minus => "`-`",
            Tok::Star => "`*`",
            Tok::Slash => "`/`",
            Tok::Percent => "`%`",
            Tok::LBrace => "`{`",
            Tok::RBrace => "`}`",
            Tok::LBracket => "`[`",
            Tok::RBracket => "`]`",
            Tok::LParen => "`(`",
            Tok::RParen => "`)`",
            Tok::Semi => "`;`",
            Tok::Comma => "`,`",
            Tok::Dot => "`.`",
            Tok::Colon => "`:`",
            Tok::Unknown => "something unknown",
            Tok::Eof => "the end of the file",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub tok: Tok,
    /// Of names and reserved words.
    pub symbol: Symbol,
    pub start: u32,
    pub end: u32,
}

/// Splits a text. The last token is [`Tok::Eof`]; what is no token is reported and becomes [`Tok::Unknown`].
pub fn lex(
    file: FileId,
    text: &str,
    symbols: &mut Interner,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Token> {
    let mut lexer = Lexer {
        file,
        text,
        bytes: text.as_bytes(),
        at: 0,
        comments_end: None,
        n_unknown: 0,
        tokens: Vec::with_capacity(text.len() / 5 + 1),
        diagnostics,
    };
    lexer.run(symbols);
    lexer.tokens
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// Where the last `*/` of the file starts, found when the first block comment is met.
    comments_end: Option<usize>,
    /// How often unknown characters were reported.
    n_unknown: usize,
    tokens: Vec<Token>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

/// The symbol of tokens that have none.
const NO_SYMBOL: Symbol = Symbol::from_u32(0);

/// After that many reports the file is no program, and the rest of them would only cost memory.
const MAX_UNKNOWN: usize = 1000;

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl Lexer<'_> {
    fn run(&mut self, symbols: &mut Interner) {
        loop {
            while let Some(b' ' | b'\t' | b'\r' | b'\n' | 0x0c) = self.bytes.get(self.at) {
                self.at += 1;
            }
            let start = self.at;
            let Some(&byte) = self.bytes.get(start) else { break };
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                    let len = self.bytes[start..].iter().position(|&b| !is_name_byte(b));
                    self.at = len.map_or(self.bytes.len(), |len| start + len);
                    let symbol = symbols.intern(&self.text[start..self.at]);
                    let tok = if words::is_reserved(symbol) { Tok::Word } else { Tok::Name };
                    self.push(tok, symbol, start);
                }
                b'0'..=b'9' => {
                    let len = self.bytes[start..].iter().position(|b| !b.is_ascii_digit());
                    self.at = len.map_or(self.bytes.len(), |len| start + len);
                    self.push(Tok::Int, NO_SYMBOL, start);
                }
                b'"' => self.string(start),
                b'/' if self.bytes.get(start + 1) == Some(&b'/') => {
                    let rest = &self.bytes[start..];
                    self.at = start + memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
                }
                b'/' if self.bytes.get(start + 1) == Some(&b'*') => self.block_comment(start),
                _ => self.symbol(start, byte),
            }
        }
        let end = self.bytes.len();
        self.at = end;
        self.push(Tok::Eof, NO_SYMBOL, end);
    }

    fn push(&mut self, tok: Tok, symbol: Symbol, start: usize) {
        self.tokens.push(Token { tok, symbol, start: start as u32, end: self.at as u32 });
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.file, start as u32, self.at as u32)
    }

    fn string(&mut self, start: usize) {
        self.at = start + 1;
        loop {
            let rest = &self.bytes[self.at..];
            match memchr::memchr2(b'"', b'\\', rest) {
                Some(len) if rest[len] == b'"' => {
                    self.at += len + 1;
                    self.push(Tok::Str, NO_SYMBOL, start);
                    return;
                }
                // A backslash takes the next character with it, whatever it is.
                Some(len) if len + 1 < rest.len() => self.at += len + 2,
                _ => break,
            }
        }
        // No end: the rest of the line is taken as the string, so that parsing can go on.
        let rest = &self.bytes[start..];
        self.at = start + memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        self.diagnostics.push(
            Diagnostic::error(codes::UNTERMINATED_STRING, self.span(start), "this string never ends")
                .label("starts here")
                .help("close the string with `\"`; write `\\\"` for a quote inside it"),
        );
        self.push(Tok::Str, NO_SYMBOL, start);
        // The end of the statement is probably inside it.
        let end = self.at;
        self.push(Tok::Unknown, NO_SYMBOL, end);
    }

    fn block_comment(&mut self, start: usize) {
        let last =
            *self.comments_end.get_or_insert_with(|| memchr::memmem::rfind(self.bytes, b"*/").unwrap_or(0));
        if last >= start + 2 {
            let len = memchr::memmem::find(&self.bytes[start + 2..], b"*/").unwrap_or(0);
            self.at = start + 2 + len + 2;
            return;
        }
        self.at = start + 2;
        let span = self.span(start);
        self.diagnostics.push(
            Diagnostic::error(codes::UNTERMINATED_COMMENT, span, "this comment never ends")
                .label("starts here")
                .help("close the comment with `*/`"),
        );
        // Nothing after it can be trusted to be code.
        self.at = self.bytes.len();
    }

    fn symbol(&mut self, start: usize, byte: u8) {
        let rest = &self.bytes[start..];
        let (tok, len) = match byte {
            b'$' if rest.starts_with(b"$$") => (Tok::DollarDollar, 2),
            b'$' => (Tok::Dollar, 1),
            b'!' if rest.starts_with(b"!=") => (Tok::NotEq, 2),
            b'!' => (Tok::Not, 1),
            b'&' if rest.starts_with(b"&&") => (Tok::AndAnd, 2),
            b'|' if rest.starts_with(b"||") => (Tok::OrOr, 2),
            b'=' if rest.starts_with(b"==>") => (Tok::Implies, 3),
            b'=' if rest.starts_with(b"==") => (Tok::EqEq, 2),
            b'=' => (Tok::Assign, 1),
            b'<' if rest.starts_with(b"<==>") => (Tok::Iff, 4),
            b'<' if rest.starts_with(b"<=") => (Tok::Le, 2),
            b'<' => (Tok::Lt, 1),
            b'>' if rest.starts_with(b">=") => (Tok::Ge, 2),
            b'>' => (Tok::Gt, 1),
            b'-' if rest.starts_with(b"->") => (Tok::Arrow, 2),
            b'-' if rest.starts_with(b"-=") => (Tok::MinusAssign, 2),
            b'-' => (Tok::Minus, 1),
            b'+' if rest.starts_with(b"+=") => (Tok::PlusAssign, 2),
            b'+' => (Tok::Plus, 1),
            b'*' => (Tok::Star, 1),
            b'/' => (Tok::Slash, 1),
            b'%' => (Tok::Percent, 1),
            b'{' => (Tok::LBrace, 1),
            b'}' => (Tok::RBrace, 1),
            b'[' => (Tok::LBracket, 1),
            b']' => (Tok::RBracket, 1),
            b'(' => (Tok::LParen, 1),
            b')' => (Tok::RParen, 1),
            b';' => (Tok::Semi, 1),
            b',' => (Tok::Comma, 1),
            b'.' => (Tok::Dot, 1),
            b':' => (Tok::Colon, 1),
            _ => return self.unknown(start),
        };
        self.at = start + len;
        self.push(tok, NO_SYMBOL, start);
    }

    /// Reports a run of characters that begin no token, once.
    fn unknown(&mut self, start: usize) {
        let is_known = |c: char| {
            c.is_ascii_alphanumeric() || c.is_ascii_whitespace() || "_\"/$!=<>-+*%{}[]();,.:".contains(c)
        };
        let rest = &self.text[start..];
        // The first one is unknown even where it could begin something longer, like a lone `&`.
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let run =
            || rest[first..].find(|c| is_known(c) || c == '&' || c == '|').map_or(rest.len(), |n| n + first);
        let len = if rest.starts_with('\'') { quoted(rest).unwrap_or(first) } else { run() };
        self.at = start + len;
        self.push(Tok::Unknown, NO_SYMBOL, start);
        self.n_unknown += 1;
        if self.n_unknown > MAX_UNKNOWN {
            return;
        }
        let text: String = rest[..len].chars().take(12).collect();
        let help = match text.as_str() {
            text if text.starts_with('\'') => Some("P has no character literals; strings use `\"`"),
            "&" => Some("write `&&` for \"and\""),
            "|" => Some("write `||` for \"or\""),
            "#" => Some("comments start with `//`"),
            "?" => Some("P has no `?:` operator; use `if`"),
            text if text.contains(char::is_alphabetic) => {
                Some("names are made of the letters `a` to `z` and `A` to `Z`, digits and `_`")
            }
            _ => None,
        };
        let show = |c: char| match c.is_control() {
            true => c.escape_default().to_string(),
            false => c.to_string(),
        };
        let shown: String = text.chars().map(show).collect();
        let message = match text.chars().count() {
            1 => format!("the character `{shown}` has no meaning in P"),
            _ => format!("the characters `{shown}` have no meaning in P"),
        };
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_CHARACTER, self.span(start), message);
        if let Some(help) = help {
            diagnostic = diagnostic.help(help);
        }
        self.diagnostics.push(diagnostic);
    }
}

/// The length of `'...'` on one line at the start of a text, if it is short.
fn quoted(text: &str) -> Option<usize> {
    let head = text.char_indices().nth(40).map_or(text, |(end, _)| &text[..end]);
    let end = head[1..].find(['\'', '\n', '\r'])? + 1;
    head[end..].starts_with('\'').then_some(end + 1)
}
