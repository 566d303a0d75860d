//! The facade: find the sources of a project, run a pipeline on them, hand back what was found.
//!
//! This is the one library crate that touches the file system. What it reads becomes
//! [`Sources`](allways_base::Sources); what it finds wrong becomes diagnostics like all others.

pub mod auto;
pub mod boogie;
pub mod project;
pub mod select;
pub mod suite;

use allways_base::{Diagnostic, Sources, diagnostic};
use allways_p::{Dialect, hir};

pub use project::{Project, Request};

/// A project that was loaded and checked.
pub struct Compilation {
    pub project: Project,
    pub program: Option<hir::Program>,
    pub diagnostics: Vec<Diagnostic>,
}

impl Compilation {
    pub fn sources(&self) -> &Sources {
        &self.project.sources
    }

    pub fn n_lines(&self) -> usize {
        let sources = &self.project.sources;
        self.project.inputs.iter().map(|input| sources.file(input.file).n_lines()).sum()
    }
}

/// Loads what is asked for and checks it. Problems of any kind are in the diagnostics.
pub fn compile(request: &Request, strict: bool) -> Compilation {
    let (project, mut diagnostics) = project::load(request);
    let program = if diagnostic::has_errors(&diagnostics) && project.inputs.is_empty() {
        None
    } else {
        let dialect = Dialect { strict, verifier: project.for_verifier };
        let compiled = allways_p::compile(&project.sources, &project.inputs, dialect);
        diagnostics.extend(compiled.diagnostics);
        compiled.program
    };
    diagnostic::sort(&mut diagnostics, &project.sources);
    let program = program.filter(|_| !diagnostic::has_errors(&diagnostics));
    Compilation { project, program, diagnostics }
}
