//! The P front end: from texts to a typed program, with every mistake reported in one run.
//!
//! [`compile`] is the whole of it. The typed program ([`hir`]) is the API that the rest of Allways uses;
//! [`syntax`] is open to tools that work on broken programs.

pub mod abstraction;
mod check;
pub mod codes;
pub mod hir;
pub mod syntax;
pub mod types;

use allways_base::{Diagnostic, FileId, Sources, diagnostic};

pub use syntax::Dialect;

/// What a file is to the project.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileRole {
    Source,
    /// Of an included project: its tests are left out.
    Included,
    /// Bodies in P for functions and types that the program declares as foreign.
    ForeignBodies,
    /// Not a file: an invariant that the user states for a search ([`hir::Invariant`]).
    Invariant,
}

#[derive(Clone, Copy, Debug)]
pub struct Input {
    pub file: FileId,
    pub role: FileRole,
}

/// The program, if nothing was wrong, and everything that is to be said about it, sorted by place.
pub struct Compiled {
    pub program: Option<hir::Program>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses and checks files as one program.
///
/// Names and types are looked at unless a syntax error has cost a declaration: what refers to it would be
/// reported a second time as unknown.
pub fn compile(sources: &Sources, inputs: &[Input], dialect: Dialect) -> Compiled {
    let mut symbols = syntax::words::interner();
    let mut diagnostics = Vec::new();
    let trees: Vec<_> = inputs
        .iter()
        .map(|input| {
            let parse = match input.role {
                FileRole::Invariant => syntax::parse_invariant,
                FileRole::Source | FileRole::Included | FileRole::ForeignBodies => syntax::parse,
            };
            parse(input.file, &sources.file(input.file).text, dialect, &mut symbols, &mut diagnostics)
        })
        .collect();
    let is_damaged = trees.iter().any(|tree| tree.damage == syntax::ast::Damage::Declarations);
    let program = if is_damaged {
        None
    } else {
        check::check(sources, inputs, &trees, dialect, symbols, &mut diagnostics)
    };
    diagnostic::sort(&mut diagnostics, sources);
    Compiled { program, diagnostics }
}
