//! `allways demo`: finds a bug in a model that is part of the binary, shows it, and proves the repaired model. It goes the same
//! way as `check` and `prove`; only the program comes from memory, and no files are written unless asked for.

use std::fs;
use std::path::Path;
use std::time::Instant;

use allways_driver::{Compilation, select};
use allways_run::{Guarantee, Verdict};
use clap::Parser;

use super::{check, prove};
use crate::args::{Args, Command, DemoArgs};
use crate::exit::ExitStatus;
use crate::interrupt;
use crate::printer;

const FILE: &str = "Lease.p";
const MODEL: &str = include_str!("../../../../models/lease/Lease.p");
const SUITE: &str = include_str!("../../../../models/lease/allways.toml");

/// The test with the bug, and the ones with the repair.
const BROKEN: &str = "tcNoFence";
const REPAIRED: &str = "tcFenced";

pub fn demo(args: &DemoArgs) -> ExitStatus {
    let start = Instant::now();
    interrupt::listen();
    if let Some(folder) = &args.output
        && let Err(problem) = write(folder)
    {
        printer::err(&format!("{problem}\n"));
        return ExitStatus::Rejected;
    }
    let compilation = allways_driver::compile_text("lease", FILE, MODEL);
    printer::out(
        "A lock server grants a lock to clients that write to a shared store. The lock is a lease: when it expires, the server
takes it back, and the client may not have noticed. Can an old write overwrite a newer one?

",
    );
    let status = show_bug(&compilation).and_then(|()| {
        printer::out(
            "
The store is repaired: it rejects a write under a lease that is older than the newest it has seen (`hasFence`).
Now for a proof, which needs every run and not only some:

",
        );
        show_proof(&compilation)
    });
    if let Err(status) = status {
        return status;
    }
    let seconds = start.elapsed().as_secs_f64();
    let next = match &args.output {
        Some(folder) => format!("The model is in {}: `allways check {0} --all`.", folder.display()),
        None => "`allways new NAME` makes a project with a bug for you to find.".to_owned(),
    };
    printer::out(&format!("\n{next}\n"));
    printer::note(&format!("... Elapsed {seconds:.2} sec\n"));
    ExitStatus::Success
}

/// Tests the broken variant. The counterexample must be there.
fn show_bug(compilation: &Compilation) -> Result<(), ExitStatus> {
    let Command::Check(args) = parse(&["check", "-tc", BROKEN]) else { return Err(ExitStatus::Internal) };
    printer::out(&format!("Running: allways check {FILE} -tc {BROKEN}\n"));
    for test in tests(compilation, BROKEN)? {
        let checked = check::test(compilation, test, &args)?;
        if !matches!(checked.report.verdict, Verdict::Violated(_)) {
            return Err(failed("the bug was not found"));
        }
    }
    Ok(())
}

/// Proves the repaired variant, for every combination of parameters.
fn show_proof(compilation: &Compilation) -> Result<(), ExitStatus> {
    let Command::Prove(args) = parse(&["prove", "-tc", REPAIRED]) else { return Err(ExitStatus::Internal) };
    printer::out(&format!("Running: allways prove {FILE} -tc {REPAIRED}\n"));
    for test in tests(compilation, REPAIRED)? {
        let verdict = prove::headline(compilation, test, &args)?;
        if !matches!(verdict, Verdict::Holds(Guarantee::Exhaustive | Guarantee::Probable { .. })) {
            return Err(failed("the repaired model was not proved"));
        }
    }
    Ok(())
}

fn tests(compilation: &Compilation, name: &str) -> Result<Vec<usize>, ExitStatus> {
    let Some(program) = &compilation.program else { return Err(failed("the model is rejected")) };
    select::select(program, Some(name)).map_err(|error| failed(&error.to_string()))
}

fn parse(words: &[&str]) -> Command {
    let words = std::iter::once("allways").chain(words.iter().copied());
    let words = crate::args::normalize(words.map(Into::into));
    Args::parse_from(words).command
}

fn failed(what: &str) -> ExitStatus {
    if interrupt::is_interrupted() {
        return ExitStatus::Interrupted;
    }
    printer::err(&format!("internal error: {what}\nplease report this\n"));
    ExitStatus::Internal
}

fn write(folder: &Path) -> Result<(), String> {
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| format!("`{}` cannot be written: {error}", path.display()))
    };
    fs::create_dir_all(folder)
        .map_err(|error| format!("`{}` cannot be created: {error}", folder.display()))?;
    put(FILE, MODEL)?;
    put("allways.toml", SUITE)
}
