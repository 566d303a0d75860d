//! From text to tree. A tree is a value for one file; parsing returns one whatever the text.

pub mod ast;
mod lexer;
mod parser;
pub mod words;

pub use parser::{Dialect, parse, parse_invariant};
