//! The solver of the tests, and programs for it.
//!
//! Verdicts with quantifiers and lambdas depend on what a solver can do, so the tests ask one solver wherever they run: Z3,
//! from the path or installed by `scripts/get-solver`, unless `ALLWAYS_SOLVER` names another.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;
use std::time::Duration;

use allways_base::{Diagnostic, FileId};
use allways_bmc::smt::{Found, ProcessOptions, ProcessSolver, find_solver};
use allways_boogie::{Checked, check, monomorphize, parse};

/// The root of the checkout.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Makes sure that there is a solver, as a contributor would.
pub fn need_solver() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let done = Command::new("sh").arg(workspace().join("scripts/get-solver")).status();
        let installed = matches!(done, Ok(status) if status.success());
        assert!(installed, "these tests need an SMT solver, and scripts/get-solver could not get one");
    });
}

/// Where the solver is.
pub fn solver() -> Found {
    need_solver();
    find_solver().expect("scripts/get-solver has made sure of it")
}

/// A fresh process, patient enough for a loaded machine.
pub fn start() -> ProcessSolver<'static> {
    let options =
        ProcessOptions { time_per_check: Some(Duration::from_secs(20)), ..ProcessOptions::default() };
    ProcessSolver::start(&solver(), &options).expect("the solver starts")
}

/// A program that should be without errors, with its type parameters resolved.
pub fn load(name: &str, text: &str) -> Result<Checked, String> {
    let complain = |diagnostics: &[Diagnostic]| {
        let messages: Vec<&str> =
            diagnostics.iter().filter(|d| d.is_error()).map(|d| d.message.as_str()).collect();
        if messages.is_empty() { Ok(()) } else { Err(format!("{name}: {}", messages.join("; "))) }
    };
    let parsed = parse(FileId::from_u32(0), text);
    complain(&parsed.diagnostics)?;
    let (checked, diagnostics) = check(parsed.program);
    complain(&diagnostics)?;
    let program =
        monomorphize(&checked).or_else(|errors| complain(&errors).map(|()| checked.program.clone()))?;
    let (checked, diagnostics) = check(program);
    complain(&diagnostics)?;
    Ok(checked)
}
