//! Source files and places in them.

use crate::{Idx, IndexVec};

crate::newtype_ids! {
    /// One source file of the input.
    FileId = "file";
}

/// A half-open range of bytes in one file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        debug_assert!(start <= end);
        Span { file, start, end }
    }

    /// The smallest span that covers both. Both lie in one file.
    pub fn to(self, other: Span) -> Span {
        debug_assert_eq!(self.file, other.file);
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The empty span at the start of this one.
    pub fn at_start(self) -> Span {
        Span { end: self.start, ..self }
    }

    /// The empty span at the end of this one.
    pub fn at_end(self) -> Span {
        Span { start: self.end, ..self }
    }

    pub fn len(self) -> u32 {
        self.end - self.start
    }

    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// A place for people: both count from one, columns in characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LineCol {
    pub line: u32,
    pub column: u32,
}

/// One file: the name it is shown with, its text, and where its lines begin.
#[derive(Clone, Debug)]
pub struct SourceFile {
    pub name: String,
    pub text: String,
    line_starts: Vec<u32>,
}

impl SourceFile {
    pub fn n_lines(&self) -> usize {
        self.line_starts.len()
    }

    pub fn line_col(&self, offset: u32) -> LineCol {
        let line_idx = self.line_starts.partition_point(|&start| start <= offset) - 1;
        let start = self.line_starts[line_idx] as usize;
        let end = (offset as usize).min(self.text.len());
        let column = self.text.get(start..end).map_or(end - start, |line| line.chars().count());
        LineCol { line: line_idx as u32 + 1, column: column as u32 + 1 }
    }

    /// The text of a line (from one), without its line break.
    pub fn line_text(&self, line: u32) -> &str {
        let Some(&start) = self.line_starts.get(line as usize - 1) else { return "" };
        let end = self.line_starts.get(line as usize).map_or(self.text.len(), |&e| e as usize);
        self.text[start as usize..end].trim_end_matches(['\n', '\r'])
    }
}

/// All files of one input.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: IndexVec<FileId, SourceFile>,
}

impl Sources {
    /// Adds a file. A leading byte-order mark must already be gone.
    pub fn add(&mut self, name: String, text: String) -> FileId {
        let line_starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i as u32 + 1))
            .collect();
        self.files.push(SourceFile { name, text, line_starts })
    }

    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id]
    }

    pub fn text(&self, span: Span) -> &str {
        &self.files[span.file].text[span.start as usize..span.end as usize]
    }

    pub fn line_col(&self, span: Span) -> LineCol {
        self.files[span.file].line_col(span.start)
    }

    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter_ids()
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// `name:line:column` of the start of a span.
    pub fn place(&self, span: Span) -> String {
        let at = self.line_col(span);
        format!("{}:{}:{}", self.files[span.file].name, at.line, at.column)
    }

    pub fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.files.len()).map(FileId::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let mut sources = Sources::default();
        let file = sources.add("a.p".into(), "x\nµy\n".into());
        let place = |offset| sources.file(file).line_col(offset);
        assert_eq!(place(0), LineCol { line: 1, column: 1 });
        assert_eq!(place(2), LineCol { line: 2, column: 1 });
        assert_eq!(place(4), LineCol { line: 2, column: 2 });
        assert_eq!(place(6), LineCol { line: 3, column: 1 });
        assert_eq!(sources.file(file).line_text(2), "µy");
    }
}
