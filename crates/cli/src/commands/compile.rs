//! `allways compile` and `allways tests`.

use std::time::Instant;

use allways_base::{Diagnostic, Severity, Sources};
use allways_driver::Compilation;
use allways_report::annotation::{self, Annotation};
use allways_report::{diagnostics, json};

use crate::args::{CompileArgs, Format, TestsArgs};
use crate::exit::ExitStatus;
use crate::{annotations, printer};

pub fn compile(args: &CompileArgs) -> ExitStatus {
    if super::boogie::is_boogie(&args.input.paths) {
        return super::boogie::compile(&args.input.paths, args.format.format);
    }
    let start = Instant::now();
    for note in args.compat.notes() {
        printer::note(&format!("{note}\n"));
    }
    let request = match super::load::request_of(&args.input) {
        Ok(request) => request,
        Err(status) => return status,
    };
    let mut compilation = allways_driver::compile(&request, args.input.strict);
    if let Some(name) = &args.compat.projname {
        compilation.project.name.clone_from(name);
    }
    if args.format.format == Format::Json {
        printer::out(&json::to_text(&report(&compilation, "compile")));
        return status(&compilation);
    }
    show_diagnostics(&compilation);
    if let Some(program) = &compilation.program {
        let n_files = compilation.project.inputs.len();
        let n_tests = program.tests.len();
        printer::out(&format!(
            "{}: accepted ({}, {} lines, {})\n",
            compilation.project.name,
            count(n_files, "file"),
            compilation.n_lines(),
            count(n_tests, "test case"),
        ));
    }
    if let Some(path) = &args.foreign_stubs {
        return super::foreign::write_stubs(&compilation, path);
    }
    if let Some(note) = super::foreign::missing(&compilation) {
        printer::out(&format!("{note}\n"));
    }
    // Results are the same bytes every time; the time is for people.
    if printer::err_is_terminal() {
        printer::err(&format!("in {} ms\n", start.elapsed().as_millis()));
    }
    status(&compilation)
}

/// Lists the test cases, one a line.
pub fn tests(args: &TestsArgs) -> ExitStatus {
    if let Err(status) = super::boogie::refuse(&args.input) {
        return status;
    }
    let request = match super::load::request_of(&args.input) {
        Ok(request) => request,
        Err(status) => return status,
    };
    let compilation = allways_driver::compile(&request, args.input.strict);
    if args.format.format == Format::Json {
        printer::out(&json::to_text(&report(&compilation, "tests")));
        return status(&compilation);
    }
    // Warnings belong to `compile`; here they would hide the list.
    if compilation.program.is_none() {
        show_diagnostics(&compilation);
    }
    let names = test_names(&compilation);
    for name in &names {
        printer::out(&format!("{name}\n"));
    }
    if compilation.program.is_some() && names.is_empty() {
        printer::err("this program has no test case: it declares no `test` and has no machine `Main`\n");
    }
    status(&compilation)
}

fn status(compilation: &Compilation) -> ExitStatus {
    if compilation.program.is_some() { ExitStatus::Success } else { ExitStatus::Rejected }
}

/// Writes what was found to standard error, with a line that counts it.
pub fn show_diagnostics(compilation: &Compilation) {
    show(&compilation.diagnostics, compilation.sources());
    let counts = diagnostics::render_counts(&compilation.diagnostics);
    if compilation.program.is_none() {
        let code = compilation.diagnostics.iter().find(|d| d.is_error()).map(|d| d.code.as_str());
        printer::err(&format!("rejected: {counts}\n"));
        if let Some(code) = code {
            printer::err(&format!("`allways explain {code}` says more about the first one\n"));
        }
    }
}

/// Writes diagnostics to standard error; for tools of P, to standard output in the form that they read.
pub fn show(found: &[Diagnostic], sources: &Sources) {
    annotations::add_diagnostics(found, sources);
    if printer::format() == Format::P {
        let all: Vec<Annotation> = found.iter().map(|d| Annotation::of_diagnostic(d, sources)).collect();
        printer::out(&annotation::p_lines(&all));
    } else {
        printer::err(&diagnostics::render_text(found, sources, true));
    }
}

fn test_names(compilation: &Compilation) -> Vec<String> {
    compilation.program.iter().flat_map(|program| &program.tests).map(|test| test.name.clone()).collect()
}

pub fn report(compilation: &Compilation, command: &'static str) -> json::CompileReport {
    let count = |severity| compilation.diagnostics.iter().filter(|d| d.severity == severity).count();
    json::CompileReport {
        version: json::VERSION,
        command,
        project: compilation.project.name.clone(),
        accepted: compilation.program.is_some(),
        n_files: compilation.project.inputs.len(),
        n_lines: compilation.n_lines(),
        n_errors: count(Severity::Error),
        n_warnings: count(Severity::Warning),
        tests: test_names(compilation),
        diagnostics: compilation
            .diagnostics
            .iter()
            .map(|diagnostic| json::diagnostic(diagnostic, compilation.sources()))
            .collect(),
    }
}

/// `1 file`, `2 files`
fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
