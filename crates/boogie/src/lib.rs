//! Boogie with asynchronous calls: the front half of the pipeline.
//!
//! Reading order: [`tree`] (the syntax tree every translation works on), [`lexer`], [`parser`],
//! [`printer`], [`dialect`] (what the asynchronous spellings mean).
//!
//! Parsing returns a tree and diagnostics; it cannot fail. Nothing here touches files or prints.

pub mod check;
pub mod codes;
pub mod dialect;
pub mod entry;
pub mod generate;
pub mod interp;
pub mod lexer;
pub mod mono;
pub mod parser;
pub mod printer;
pub mod tree;
pub mod walk;

pub use check::{Checked, check};
pub use entry::entry_point;
pub use mono::monomorphize;
pub use parser::{Parsed, parse};
pub use printer::print;
pub use tree::Program;
