//! `allways certify`: checks a proof from elsewhere.

use std::sync::Arc;
use std::time::Instant;

use allways_explore::almost_sync::certify::{self, Refusal};
use allways_machine::Executable;
use allways_run::Limits;

use super::files;
use super::load::load;
use crate::args::{CertifyArgs, Format};
use crate::exit::ExitStatus;
use crate::interrupt::{self, Stop};
use crate::printer;
use crate::progress::ProgressLine;

const CHANGED: &str = "the program text has changed since the certificate was written";

pub fn certify(args: &CertifyArgs) -> ExitStatus {
    let text = match std::fs::read_to_string(&args.file) {
        Ok(text) => text,
        Err(error) => {
            printer::err(&format!("`{}` cannot be read: {error}\n", args.file.display()));
            return ExitStatus::Rejected;
        }
    };
    let compilation = match load(&args.input, Format::Text, "certify") {
        Ok(compilation) => compilation,
        Err(status) => return status,
    };
    let Some(program) = &compilation.program else { return ExitStatus::Rejected };
    let Some(name) = certify::test_of(&text) else {
        printer::out(&format!("{}: refused\nit is not a certificate\n", args.file.display()));
        return ExitStatus::Violated;
    };
    let Some(test) = program.tests.iter().position(|test| test.name == name) else {
        printer::out(&format!("{name}: refused\nthe program has no such test case\n"));
        return ExitStatus::Violated;
    };
    let executable = Arc::new(Executable::new(program, test));
    interrupt::listen();
    let progress = ProgressLine::new(name, true);
    let start = Instant::now();
    let found = certify::certify(&executable, &text, Limits::default(), &progress, &Stop::after(None));
    progress.finish();
    let is_changed =
        certify::program_of(&text).is_some_and(|label| label != files::program_fingerprint(&compilation));
    match found {
        Ok(found) => {
            let how = match found.inbox {
                Some(bound) => format!(", over-approximated beyond {bound} messages,"),
                None => String::new(),
            };
            printer::out(&format!(
                "{name}: accepted\nproved for unbounded inboxes{how} by {} states; {} steps were checked\n",
                found.n_states, found.n_steps
            ));
            printer::err(&format!(
                "... {} places, {:.1} bytes of the file for each state, {} MB in all\n... Elapsed {:.2} sec\n",
                found.n_places,
                text.len() as f64 / found.n_states.max(1) as f64,
                found.n_bytes >> 20,
                start.elapsed().as_secs_f64()
            ));
            if is_changed {
                printer::err(&format!("{CHANGED}; it proves the program as it is now\n"));
            }
            ExitStatus::Success
        }
        Err(Refusal::Wrong(problem)) => {
            printer::out(&format!("{name}: refused\n{problem}\n"));
            if is_changed {
                printer::out(&format!(
                    "{CHANGED}; `allways prove --engine asi --certificate FILE` writes a new one\n"
                ));
            }
            ExitStatus::Violated
        }
        Err(Refusal::Interrupted) => {
            printer::out(&format!("{name}: interrupted\n"));
            ExitStatus::Interrupted
        }
    }
}
