//! String literals: every one is a format template.

use allways_base::words::count;
use allways_base::{Diagnostic, Span};

use super::Checker;
use crate::codes;
use crate::hir::FormatPiece;

impl Checker<'_> {
    /// The pieces of a literal, with escapes resolved. `n_args` is `None` for a literal without `format`.
    pub(super) fn format_pieces(&mut self, literal: Span, n_args: Option<usize>) -> Vec<FormatPiece> {
        let sources = self.sources;
        let quoted = sources.text(literal);
        let text = quoted.strip_prefix('"').unwrap_or(quoted);
        let text = text.strip_suffix('"').unwrap_or(text);
        let at = |from: usize, to: usize| {
            Span::new(literal.file, literal.start + 1 + from as u32, literal.start + 1 + to as u32)
        };

        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut n_needed = 0;
        let mut chars = text.char_indices().peekable();
        let mut has_line_break = false;
        let mut is_wrong = false;
        while let Some((i, c)) = chars.next() {
            match c {
                '\\' => {
                    let Some((j, escape)) = chars.next() else { break };
                    match unescape(escape) {
                        Some(c) => plain.push(c),
                        None => {
                            let span = at(i, j + escape.len_utf8());
                            self.report(
                                Diagnostic::error(
                                    codes::BAD_ESCAPE,
                                    span,
                                    format!("strings have no escape `\\{}`", escape.escape_debug()),
                                )
                                .help(
                                    "write `\\\\` for a backslash; the escapes are \\n \\t \\r \\0 \\\" \\' \\\\",
                                ),
                            );
                        }
                    }
                }
                '\n' => {
                    has_line_break = true;
                    plain.push(c);
                }
                '{' | '}' if chars.peek().is_some_and(|&(_, next)| next == c) => {
                    chars.next();
                    plain.push(c);
                }
                '{' => {
                    let rest = &text[i + 1..];
                    let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                    let index: Option<usize> = rest[..n_digits].parse().ok().filter(|&n| n < 10_000);
                    match index {
                        Some(index) if rest[n_digits..].starts_with('}') => {
                            for _ in 0..=n_digits {
                                chars.next();
                            }
                            n_needed = n_needed.max(index + 1);
                            if !plain.is_empty() {
                                pieces.push(FormatPiece::Text(std::mem::take(&mut plain)));
                            }
                            pieces.push(FormatPiece::Arg(index));
                        }
                        _ => {
                            is_wrong = true;
                            // Up to the closing brace it is one mistake.
                            let len = rest.find(['{', '}', '\\']).filter(|&len| rest[len..].starts_with('}'));
                            let end = len.map_or(i + 1, |len| i + len + 2);
                            while chars.next_if(|&(at, _)| at < end).is_some() {}
                            self.bad_brace(at(i, end));
                        }
                    }
                }
                '}' => {
                    is_wrong = true;
                    self.bad_brace(at(i, i + 1));
                }
                _ => plain.push(c),
            }
        }
        if !plain.is_empty() || pieces.is_empty() {
            pieces.push(FormatPiece::Text(plain));
        }
        if has_line_break {
            let message = "this string contains a line break";
            let diagnostic = if self.dialect.strict {
                Diagnostic::error(codes::LINE_BREAK_IN_STRING, literal, message)
            } else {
                Diagnostic::warning(codes::LINE_BREAK_IN_STRING, literal, message)
                    .note("the C# code that P makes from it does not build")
            };
            self.report(diagnostic.help("write `\\n`, or join two strings with `+`"));
        }
        let n_given = n_args.unwrap_or(0);
        if n_needed != n_given && !is_wrong {
            self.wrong_count(literal, n_needed, n_args);
        }
        pieces
    }

    fn bad_brace(&mut self, span: Span) {
        self.report(
            Diagnostic::error(codes::BAD_FORMAT, span, "a single brace in a string must belong to `{N}`")
                .help("write `{{` or `}}` for a brace, `{0}` for the first argument of `format`"),
        );
    }

    fn wrong_count(&mut self, literal: Span, n_needed: usize, n_args: Option<usize>) {
        let (message, help) = match n_args {
            None => (
                "this string refers to arguments, but is not inside `format`".to_owned(),
                "write `format(\"...\", arguments)`, or `{{` for a brace",
            ),
            Some(n_given) => (
                format!("this format string needs {}, but gets {n_given}", count(n_needed, "argument")),
                "the number of arguments is one more than the largest `{N}`",
            ),
        };
        self.report(Diagnostic::error(codes::BAD_FORMAT, literal, message).help(help));
    }
}

fn unescape(c: char) -> Option<char> {
    Some(match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        '0' => '\0',
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'v' => '\x0b',
        '"' | '\'' | '\\' => c,
        _ => return None,
    })
}
