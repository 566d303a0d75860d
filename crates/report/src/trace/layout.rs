//! Lines of a fixed width, with colors.

use std::fmt::Write as _;

use super::Look;
use super::rows::Row;

/// What a piece of text is, which decides its color.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Paint {
    Plain,
    /// A machine or monitor, each with a color of its own.
    Actor(u32),
    Event,
    /// A value that changed.
    Changed,
    Failure,
    Dim,
}

/// Colors for actors; red is for failures.
const ACTORS: [&str; 6] = ["36", "32", "35", "34", "33", "96"];

impl Paint {
    fn code(self) -> Option<&'static str> {
        Some(match self {
            Paint::Plain => return None,
            Paint::Actor(n) => ACTORS[n as usize % ACTORS.len()],
            Paint::Event | Paint::Changed => "1",
            Paint::Failure => "1;91",
            Paint::Dim => "2",
        })
    }
}

/// Text in pieces.
#[derive(Clone, Default, Debug)]
pub(super) struct Line(Vec<(Paint, String)>);

impl Line {
    pub fn push(&mut self, paint: Paint, text: &str) -> &mut Self {
        self.0.push((paint, text.to_owned()));
        self
    }

    pub fn of(paint: Paint, text: &str) -> Self {
        Line(vec![(paint, text.to_owned())])
    }

    /// Without colors.
    pub fn text(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }

    pub fn append(&mut self, other: &Line) {
        self.0.extend(other.0.iter().cloned());
    }

    pub fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.chars().count()).sum()
    }

    /// The pieces, with a comma that begins one at the end of the piece before it: no line begins with a comma.
    fn with_commas_behind(&self) -> Vec<(Paint, String)> {
        let mut pieces: Vec<(Paint, String)> = Vec::new();
        for (paint, text) in &self.0 {
            match (pieces.last_mut(), text.strip_prefix(", ")) {
                (Some((_, last)), Some(rest)) => {
                    last.push_str(", ");
                    pieces.push((*paint, rest.to_owned()));
                }
                _ => pieces.push((*paint, text.clone())),
            }
        }
        pieces
    }

    /// Lines of at most so many columns, broken at spaces where that is possible.
    fn wrap(&self, width: usize) -> Vec<Line> {
        let width = width.max(16);
        let mut lines = vec![Line::default()];
        let mut used = 0;
        for (paint, text) in &self.with_commas_behind() {
            for word in phrases(text) {
                let mut word = word;
                let length = word.trim_end().chars().count();
                if used > 0 && used + length > width {
                    lines.push(Line::default());
                    used = 0;
                }
                // A word that is longer than a line is cut.
                while word.chars().count() > width {
                    let at = word.char_indices().nth(width).map_or(word.len(), |(at, _)| at);
                    let (first, rest) = word.split_at(at);
                    lines.last_mut().expect("there is a line").push(*paint, first);
                    lines.push(Line::default());
                    used = 0;
                    word = rest;
                }
                lines.last_mut().expect("there is a line").push(*paint, word);
                used += word.chars().count();
            }
        }
        // A style closes behind a space at the end of a line, which nothing can trim any more.
        for line in &mut lines {
            if let Some((_, last)) = line.0.last_mut() {
                last.truncate(last.trim_end().len());
            }
        }
        lines
    }

    fn write(&self, is_styled: bool, out: &mut String) {
        let mut at = 0;
        while at < self.0.len() {
            let paint = self.0[at].0;
            let mut text = String::new();
            while at < self.0.len() && self.0[at].0 == paint {
                text.push_str(&self.0[at].1);
                at += 1;
            }
            match paint.code().filter(|_| is_styled) {
                Some(code) => {
                    let _ = write!(out, "\x1b[{code}m{text}\x1b[0m");
                }
                None => out.push_str(&text),
            }
        }
    }
}

/// Words, where `a = 1,` and `a -> b` stay together.
pub(super) fn phrases(text: &str) -> Vec<&str> {
    let mut phrases = Vec::new();
    let (mut start, mut end) = (0, 0);
    let mut is_joined = true;
    for word in text.split_inclusive(' ') {
        let is_sign = matches!(word.trim_end(), "=" | "->" | "+=" | "-=");
        if !is_joined && !is_sign {
            phrases.push(&text[start..end]);
            start = end;
        }
        end += word.len();
        is_joined = is_sign;
    }
    phrases.push(&text[start..end]);
    phrases
}

/// Details beyond so many lines are cut, unless they are of the failure.
const MAX_DETAIL_LINES: usize = 3;
/// Even those.
const MAX_FAILURE_LINES: usize = 40;

pub(super) struct Painter {
    out: String,
    look: Look,
    /// Of step numbers.
    number_width: usize,
    is_boxed: bool,
}

impl Painter {
    /// Some rows may have two numbers.
    pub fn new(look: Look, n_steps: usize, has_pairs: bool) -> Self {
        let digits = n_steps.to_string().len();
        let number_width = if has_pairs { 2 * digits + 1 } else { digits }.max(4);
        Painter { out: String::new(), look, number_width, is_boxed: false }
    }

    /// Columns right of the step number.
    fn width(&self) -> usize {
        self.look.width.saturating_sub(self.number_width + 4).max(24)
    }

    fn margin(&self) -> &'static str {
        if self.is_boxed { "|" } else { " " }
    }

    fn line(&mut self, left: &str, line: &Line) {
        let mut text = left.to_owned();
        line.write(self.look.is_styled, &mut text);
        // A style at the end has no space behind it that could be trimmed.
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    pub fn heading(&mut self) {
        let pad = self.width().saturating_sub("source".len());
        let left = format!("{:>1$}  ", "step", self.number_width + 2);
        let text = format!("{}source", " ".repeat(pad));
        self.line(&left, &Line::of(Paint::Dim, &text));
    }

    pub fn blank(&mut self) {
        self.out.push('\n');
    }

    pub fn remark(&mut self, text: &str) {
        let left = " ".repeat(self.number_width + 4);
        for line in Line::of(Paint::Dim, text).wrap(self.width()) {
            self.line(&left, &line);
        }
    }

    fn rule(&mut self, corner: &str, text: &str) {
        let rest = self.look.width.saturating_sub(text.chars().count() + 6);
        let line = format!("{corner}-- {text} {}", "-".repeat(rest));
        self.line("", &Line::of(Paint::Failure, &line));
    }

    pub fn open_box(&mut self, text: &str) {
        self.rule(".", text);
        self.is_boxed = true;
    }

    pub fn close_box(&mut self, text: &str) {
        self.is_boxed = false;
        self.rule("'", text);
    }

    pub fn row(&mut self, row: &Row) {
        let mark = if row.is_failure { "!" } else { " " };
        let number = row.number.clone().unwrap_or_default();
        let left = format!("{}{mark}{number:>1$}  ", self.margin(), self.number_width);
        let indent = format!("{}{}", self.margin(), " ".repeat(self.number_width + 3));
        let width = self.width();
        let place = row.place.as_deref().unwrap_or("");
        let mut heads = row.head.wrap(width);
        let last = heads.pop().unwrap_or_default();
        for (i, line) in heads.iter().enumerate() {
            let left = if i == 0 { &left } else { &indent };
            self.line(left, line);
        }
        let left_of_last = if heads.is_empty() { &left } else { &indent };
        let room = width.saturating_sub(last.width() + place.chars().count());
        let mut line = last;
        if place.is_empty() || room >= 2 {
            if !place.is_empty() {
                line.push(Paint::Dim, &format!("{}{place}", " ".repeat(room)));
            }
            self.line(left_of_last, &line);
        } else {
            self.line(left_of_last, &line);
            let pad = width.saturating_sub(place.chars().count());
            self.line(&indent, &Line::of(Paint::Dim, &format!("{}{place}", " ".repeat(pad))));
        }
        let max = match (row.is_failure, self.look.is_full) {
            (false, false) => MAX_DETAIL_LINES,
            _ => MAX_FAILURE_LINES,
        };
        for detail in &row.details {
            let lines = detail.wrap(width.saturating_sub(4));
            let n_cut = lines.len().saturating_sub(max);
            let n_shown = lines.len() - n_cut;
            for (i, line) in lines.into_iter().take(n_shown).enumerate() {
                let left = format!("{indent}  {}", if i > 0 { "  " } else { "" });
                self.line(&left, &line);
            }
            if n_cut > 0 {
                let text = format!("... {n_cut} more line{}", if n_cut == 1 { "" } else { "s" });
                self.line(&format!("{indent}    "), &Line::of(Paint::Dim, &text));
            }
        }
    }

    pub fn finish(self) -> String {
        self.out
    }
}
