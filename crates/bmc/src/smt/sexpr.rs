//! S-expressions: what solvers answer.

use std::fmt;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SExpr {
    /// A symbol, numeral, keyword or string, as written. Quoted symbols keep their bars.
    Atom(String),
    List(Vec<SExpr>),
}

impl SExpr {
    pub fn atom(&self) -> Option<&str> {
        match self {
            SExpr::Atom(text) => Some(text),
            SExpr::List(_) => None,
        }
    }

    pub fn list(&self) -> Option<&[SExpr]> {
        match self {
            SExpr::Atom(_) => None,
            SExpr::List(items) => Some(items),
        }
    }

    /// The text between the bars of a quoted symbol, other atoms as they are.
    pub fn symbol(&self) -> Option<&str> {
        let text = self.atom()?;
        Some(text.strip_prefix('|').and_then(|rest| rest.strip_suffix('|')).unwrap_or(text))
    }
}

impl fmt::Display for SExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SExpr::Atom(text) => f.write_str(text),
            SExpr::List(items) => {
                f.write_str("(")?;
                for (idx, item) in items.iter().enumerate() {
                    if idx > 0 {
                        f.write_str(" ")?;
                    }
                    write!(f, "{item}")?;
                }
                f.write_str(")")
            }
        }
    }
}

/// How deep an answer may nest. Solvers print values of arrays as nested stores, one level per entry.
const MAX_DEPTH: usize = 4_000;

/// Reads a text that is one expression; `None` if it is not complete, goes on after it, or nests too deep.
pub fn parse(text: &str) -> Option<SExpr> {
    let mut stack: Vec<Vec<SExpr>> = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let done = match first {
            ';' => {
                rest = rest.split_once('\n')?.1;
                continue;
            }
            '(' => {
                if stack.len() >= MAX_DEPTH {
                    return None;
                }
                stack.push(Vec::new());
                rest = &rest[1..];
                continue;
            }
            ')' => {
                rest = &rest[1..];
                SExpr::List(stack.pop()?)
            }
            _ => {
                let len = atom_len(rest)?;
                let (atom, after) = rest.split_at(len);
                rest = after;
                SExpr::Atom(atom.to_owned())
            }
        };
        match stack.last_mut() {
            Some(items) => items.push(done),
            None => {
                let is_over =
                    rest.lines().all(|line| matches!(line.trim_start().chars().next(), None | Some(';')));
                return is_over.then_some(done);
            }
        }
    }
}

fn atom_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    match bytes.first()? {
        b'|' => text[1..].find('|').map(|end| end + 2),
        b'"' => {
            let mut at = 1;
            loop {
                at += text[at..].find('"')? + 1;
                // A doubled quote stands for one inside.
                if bytes.get(at) != Some(&b'"') {
                    return Some(at);
                }
                at += 1;
            }
        }
        _ => Some(
            text.find(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ';' | '|' | '"'))
                .unwrap_or(text.len()),
        ),
    }
}

/// Follows the parentheses of a text that arrives line by line.
#[derive(Default, Debug)]
pub struct Balance {
    depth: usize,
    inside: Option<u8>,
    seen: bool,
}

impl Balance {
    /// Takes the next line; true when a whole expression has been seen.
    pub fn line(&mut self, line: &str) -> bool {
        for byte in line.bytes() {
            match (self.inside, byte) {
                (Some(end), _) if end == byte => self.inside = None,
                (Some(_), _) => {}
                (None, b'|' | b'"') => {
                    self.inside = Some(byte);
                    self.seen = true;
                }
                (None, b';') => break,
                (None, b'(') => {
                    self.depth += 1;
                    self.seen = true;
                }
                (None, b')') => self.depth = self.depth.saturating_sub(1),
                (None, _) if byte.is_ascii_whitespace() => {}
                (None, _) => self.seen = true,
            }
        }
        self.seen && self.depth == 0 && self.inside.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_back() {
        for text in ["sat", "(a |b c| (d) \"e\"\"(f\")", "((|x#1@0| (- 3)) (y true))", "()"] {
            assert_eq!(parse(text).map(|e| e.to_string()).as_deref(), Some(text));
        }
        assert_eq!(parse("a ; b").map(|e| e.to_string()).as_deref(), Some("a"));
        assert_eq!(parse("(a) b"), None);
        assert_eq!(parse("(a"), None);
        assert_eq!(parse(")"), None);
        assert_eq!(parse("|a"), None);
        assert_eq!(parse(""), None);
        assert_eq!(parse("; c\n a").map(|e| e.to_string()).as_deref(), Some("a"));
    }

    #[test]
    fn balance_ignores_quoted_parentheses() {
        let mut balance = Balance::default();
        assert!(!balance.line("(a |(|"));
        assert!(!balance.line(" \"((\" ; )"));
        assert!(balance.line(")"));
        assert!(!Balance::default().line("  "));
        assert!(Balance::default().line("unsat"));
    }
}
