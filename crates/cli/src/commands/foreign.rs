//! What a verdict says about foreign functions, and `allways compile --foreign-stubs`.

use std::path::Path;

use allways_driver::{Compilation, foreign};
use allways_run::{StopReason, Verdict};

use crate::exit::ExitStatus;
use crate::printer;

/// What the verdict owes to foreign functions: their names, and what helps.
pub fn note(compilation: &Compilation, verdict: &Verdict) -> Option<String> {
    let mut notes = Vec::new();
    if let Verdict::Unknown(StopReason::ForeignFunction { name }) = verdict {
        let mut others = missing_names(compilation);
        others.retain(|other| other != name);
        if !others.is_empty() {
            notes.push(format!("other functions without a body: {}", quoted(&others)));
        }
        notes.push(format!(
            "`allways compile --foreign-stubs FILE` writes bodies to fill in, and {}",
            any(compilation)
        ));
    }
    let tried = &compilation.any_foreign;
    if !tried.is_empty() {
        let given = format!("every value of their type was tried as the result of {}", quoted(tried));
        notes.push(match verdict {
            Verdict::Violated(_) => {
                format!("{given}; the real function may never return the value used in this run")
            }
            Verdict::Holds(_) | Verdict::Unknown(_) => given,
        });
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// The functions without a body, if there are some, and what helps.
pub fn missing(compilation: &Compilation) -> Option<String> {
    let names = missing_names(compilation);
    let all = match names.len() {
        0 => return None,
        1 => "1 foreign function has no body in P".to_owned(),
        n => format!("{n} foreign functions have no body in P"),
    };
    let help = any(compilation);
    Some(format!(
        "{all}: {}; `allways compile --foreign-stubs FILE` writes bodies to fill in, and {help}",
        quoted(&names)
    ))
}

fn missing_names(compilation: &Compilation) -> Vec<String> {
    compilation.program.as_ref().map(foreign::missing_names).unwrap_or_default()
}

/// What `--foreign any` does for them.
fn any(compilation: &Compilation) -> &'static str {
    match compilation.has_any_policy {
        true => {
            "`--foreign any` works only for a function whose result type has few values and that no spec calls"
        }
        false => "`--foreign any` tries every result of a function whose result type has few values",
    }
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
