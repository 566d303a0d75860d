//! What a verdict says about foreign functions, and `allways compile --foreign-stubs`.

use std::path::Path;

use allways_driver::{Compilation, foreign};
use allways_run::{StopReason, Verdict};

use crate::exit::ExitStatus;
use crate::printer;

/// What the verdict owes to foreign functions: their names, and what helps.
pub fn note(compilation: &Compilation, verdict: &Verdict) -> Option<String> {
    let mut notes = Vec::new();
    if let Verdict::Unknown(StopReason::ForeignFunction { .. }) = verdict {
        notes.extend(missing(compilation));
    }
    let any = &compilation.any_foreign;
    if !any.is_empty() {
        let given = format!("every value of their type was tried as the result of {}", quoted(any));
        notes.push(match verdict {
            Verdict::Violated(_) => {
                format!("{given}; the real code may never give the one that is used here")
            }
            Verdict::Holds(_) | Verdict::Unknown(_) => given,
        });
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// The functions without a body, if there are some, and what helps.
pub fn missing(compilation: &Compilation) -> Option<String> {
    let names = foreign::missing_names(compilation.program.as_ref()?);
    if names.is_empty() {
        return None;
    }
    let all = match names.len() {
        1 => "1 foreign function has no body in P".to_owned(),
        n => format!("{n} foreign functions have no body in P"),
    };
    let help = match compilation.has_any_policy {
        true => "`--foreign any` answers only where the type has few values and no spec calls the function",
        false => "`--foreign any` tries every result where the type has few values",
    };
    Some(format!(
        "{all}: {}; `allways compile --foreign-stubs FILE` writes them all, and {help}",
        quoted(&names)
    ))
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Writes bodies for all functions that have none.
pub fn write_stubs(compilation: &Compilation, path: &Path) -> ExitStatus {
    let Some(program) = &compilation.program else { return ExitStatus::Rejected };
    let Some(text) = foreign::stubs(program) else {
        printer::err("every function has a body in P: nothing was written\n");
        return ExitStatus::Success;
    };
    // What is there may have been filled in by hand.
    if path.exists() {
        printer::err(&format!("`{}` exists already; remove it, or give another name\n", path.display()));
        return ExitStatus::Rejected;
    }
    if let Err(error) = std::fs::write(path, text) {
        printer::err(&format!("`{}` cannot be written: {error}\n", path.display()));
        return ExitStatus::Rejected;
    }
    printer::out(&format!("..... Writing {}\n", path.display()));
    printer::err(&format!("fill in the bodies, and use them with `--foreign {}`\n", path.display()));
    ExitStatus::Success
}
