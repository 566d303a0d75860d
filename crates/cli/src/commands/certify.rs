//! `allways certify`: checks a proof that somebody else made.

use std::sync::Arc;

use allways_explore::search::almost_sync::certify;
use allways_machine::Executable;
use allways_run::Limits;

use super::check::load;
use crate::args::{CertifyArgs, Format};
use crate::exit::ExitStatus;
use crate::printer;

pub fn certify(args: &CertifyArgs) -> ExitStatus {
    let text = match std::fs::read_to_string(&args.file) {
        Ok(text) => text,
        Err(error) => {
            printer::err(&format!("cannot read {}: {error}\n", args.file.display()));
            return ExitStatus::Rejected;
        }
    };
    let compilation = match load(&args.input, Format::Text, "certify") {
        Ok(compilation) => compilation,
        Err(status) => return status,
    };
    let Some(program) = &compilation.program else { return ExitStatus::Rejected };
    let Some(name) = certify::test_of(&text) else {
        printer::out(&format!("{}: refused\nit is no certificate\n", args.file.display()));
        return ExitStatus::Violated;
    };
    let Some(test) = program.tests.iter().position(|test| test.name == name) else {
        printer::out(&format!("{name}: refused\nthe program has no such test case\n"));
        return ExitStatus::Violated;
    };
    let executable = Arc::new(Executable::new(program, test));
    match certify::certify(&executable, &text, Limits::default()) {
        Ok(found) => {
            let how = match found.inbox {
                Some(bound) => format!(", over-approximated beyond {bound} messages,"),
                None => String::new(),
            };
            printer::out(&format!(
                "{name}: accepted\nproved for unbounded inboxes{how} by {} states; {} steps were checked\n",
                found.n_states, found.n_steps
            ));
            ExitStatus::Success
        }
        Err(problem) => {
            printer::out(&format!("{name}: refused\n{problem}\n"));
            ExitStatus::Violated
        }
    }
}
