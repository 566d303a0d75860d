//! Compiles what a command is asked about, with the foreign bodies that the suite of the project names.

use std::path::{Path, PathBuf};

use allways_driver::{Compilation, suite};
use allways_report::json;

use super::compile;
use crate::args::Format;
use crate::exit::ExitStatus;
use crate::printer;

/// What is asked for, with the foreign bodies that the suite of the project names.
pub fn request_of(input: &crate::args::InputArgs) -> Result<allways_driver::Request, ExitStatus> {
    let mut request = input.request();
    match suite::load(&project_folder(&request.paths)) {
        Ok(Some(suite)) => request.foreign.extend(suite.foreign),
        Ok(None) => {}
        Err(problem) => {
            printer::err(&format!("{problem}\n"));
            return Err(ExitStatus::Rejected);
        }
    }
    Ok(request)
}

/// Compiles, and shows what is wrong.
pub fn load(
    input: &crate::args::InputArgs,
    format: Format,
    command: &'static str,
) -> Result<Compilation, ExitStatus> {
    load_with(input, Vec::new(), format, command)
}

/// The same, with invariants that the user states.
pub fn load_with(
    input: &crate::args::InputArgs,
    invariants: Vec<String>,
    format: Format,
    command: &'static str,
) -> Result<Compilation, ExitStatus> {
    super::boogie::refuse(input)?;
    let request = allways_driver::Request { invariants, ..request_of(input)? };
    let compilation = allways_driver::compile(&request, input.strict);
    if compilation.program.is_none() {
        if format == Format::Json {
            printer::out(&json::to_text(&compile::report(&compilation, command)));
        } else {
            compile::show_diagnostics(&compilation);
        }
        return Err(ExitStatus::Rejected);
    }
    Ok(compilation)
}

/// Where `allways.toml` is looked for.
fn project_folder(paths: &[PathBuf]) -> PathBuf {
    match paths {
        [path] if path.is_dir() => path.clone(),
        [path, ..] => path.parent().map(Path::to_owned).unwrap_or_default(),
        [] => PathBuf::new(),
    }
}

/// Says what the default test is: P attaches no spec to it, Allways attaches all.
pub fn show_default_test(compilation: &Compilation, test: &str) {
    let tests = compilation.program.iter().flat_map(|program| &program.tests);
    let is_made_up = |kind| kind == allways_p::hir::TestKind::Default;
    let Some(default) = tests.into_iter().find(|found| found.name == test && is_made_up(found.kind)) else {
        return;
    };
    let specs = match default.system.monitors.len() {
        0 => "there is no spec to attach",
        _ => "every spec is attached",
    };
    printer::detail(&format!("the program declares no test, so `Main` is run; {specs}\n"));
}
