//! Boogie with asynchronous calls: the front half of the pipeline.
//!
//! ```text
//! text ─ parser ─► tree ─ check ─► tables ─ mono ─► tree without type parameters ─ check ─► tables
//!                   └─ printer ─► text                                              └─ interp ─► runs
//! ```
//!
//! Reading order: [`tree`] (the syntax tree every translation works on) with [`walk`], [`lexer`],
//! [`parser`], [`printer`], [`dialect`] (what the asynchronous spellings mean), [`mod@check`] (names and
//! types), [`mono`], [`desugar`], [`interp`] (interpreters and schedulers), [`generate`] (random
//! programs for tests). [`analyze`] is the front end in one call.
//!
//! Parsing returns a tree and diagnostics; it cannot fail. Nothing here touches files or prints, and
//! no text makes it panic.

pub mod check;
pub mod codes;
pub mod desugar;
pub mod dialect;
pub mod entry;
pub mod generate;
pub mod interp;
pub mod lexer;
pub mod mono;
pub mod parser;
mod preempted;
pub mod printer;
pub mod tree;
pub mod walk;

pub use check::{Checked, check};
pub use entry::entry_point;
pub use mono::monomorphize;
pub use parser::{Parsed, parse, parse_files};
pub use printer::print;
pub use tree::Program;

use allways_base::{Diagnostic, FileId, diagnostic::has_errors};

/// The front end from text to a checked program without type parameters, which is there if no
/// diagnostic is an error.
pub fn analyze(file: FileId, text: &str) -> (Option<Checked>, Vec<Diagnostic>) {
    analyze_files([(file, text)])
}

/// The same for several files, which are one program.
pub fn analyze_files<'a>(
    files: impl IntoIterator<Item = (FileId, &'a str)>,
) -> (Option<Checked>, Vec<Diagnostic>) {
    let Parsed { program, mut diagnostics } = parse_files(files);
    if has_errors(&diagnostics) {
        return (None, diagnostics);
    }
    let (checked, found) = check(program);
    diagnostics.extend(found);
    if has_errors(&diagnostics) || !mono::is_polymorphic(&checked.program) {
        let accepted = !has_errors(&diagnostics);
        return (accepted.then_some(checked), diagnostics);
    }
    match mono::monomorphize_and_warn(&checked) {
        Ok((program, warnings)) => {
            diagnostics.extend(warnings);
            let (checked, found) = check(program);
            // Warnings have been given for the original already.
            diagnostics.extend(found.into_iter().filter(Diagnostic::is_error));
            let accepted = !has_errors(&diagnostics);
            (accepted.then_some(checked), diagnostics)
        }
        Err(found) => {
            diagnostics.extend(found);
            (None, diagnostics)
        }
    }
}
