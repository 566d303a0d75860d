//! What every layer of Allways stands on: ids, source files, spans, interned names, diagnostics as data.
//!
//! This crate touches no file system, no clock and no terminal. Texts come in from the driver and
//! diagnostics go out to `allways-report`, which alone knows how they look.

pub mod diagnostic;
pub mod forest;
pub mod ids;
pub mod intern;
pub mod nearest;
pub mod source;
pub mod words;

pub use diagnostic::{Code, CodeInfo, Diagnostic, Label, Severity};
pub use ids::{Idx, IndexVec};
pub use intern::{Interner, Symbol};
pub use source::{FileId, LineCol, SourceFile, Sources, Span};
