//! The facade: find the sources of a project, run a pipeline on them, hand back what was found.
//!
//! This is the one library crate that touches the file system, through [`files::Files`]. What it reads becomes
//! [`Sources`]; what it finds wrong becomes diagnostics like all others.

pub mod abstraction;
pub mod boogie;
pub mod engine;
pub mod files;
pub mod foreign;
pub mod project;
pub mod quiesce;
pub mod select;
pub mod suite;

use allways_base::{Diagnostic, Sources, diagnostic};
use allways_p::{Dialect, FileRole, Input, hir};

pub use project::{Project, Request};

/// A project that was loaded and checked.
pub struct Compilation {
    pub project: Project,
    pub program: Option<hir::Program>,
    pub diagnostics: Vec<Diagnostic>,
    /// Foreign functions without a body were to answer with every value of their type.
    pub has_any_policy: bool,
    /// Those that do.
    pub any_foreign: Vec<String>,
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

/// Checks a program of one file that is not on disk, such as a model that ships with the binary.
pub fn compile_text(name: &str, file_name: &str, text: &str) -> Compilation {
    let mut project = Project { name: name.to_owned(), ..Project::default() };
    let file = project.sources.add(file_name.to_owned(), text.to_owned());
    project.inputs.push(Input { file, role: FileRole::Source });
    let (program, diagnostics) = check(&project, Vec::new(), false);
    Compilation { project, program, diagnostics, has_any_policy: false, any_foreign: Vec::new() }
}

/// Loads what is asked for and checks it. Problems of any kind are in the diagnostics.
pub fn compile(request: &Request, strict: bool) -> Compilation {
    compile_from(&files::Disk, request, strict)
}

/// The same, from files that need not be on disk.
pub fn compile_from(files: &dyn files::Files, request: &Request, strict: bool) -> Compilation {
    let (mut project, problems) = project::load(files, request);
    let has_any_policy = project.has_any_policy;
    let (mut program, mut diagnostics) = check(&project, problems.clone(), strict);
    let mut any_foreign = Vec::new();
    if let (true, Some(known)) = (has_any_policy, &program) {
        let (text, names) = foreign::any_bodies(known);
        if !names.is_empty() {
            let file = project.sources.add("<--foreign any>".to_owned(), text);
            project.inputs.push(Input { file, role: FileRole::ForeignBodies });
            (program, diagnostics) = check(&project, problems, strict);
            any_foreign = names;
        }
    }
    Compilation { project, program, diagnostics, has_any_policy, any_foreign }
}

fn check(
    project: &Project,
    mut diagnostics: Vec<Diagnostic>,
    strict: bool,
) -> (Option<hir::Program>, Vec<Diagnostic>) {
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
    (program, diagnostics)
}
