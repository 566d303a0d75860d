//! `allways explain`: the page of a code.

use crate::args::ExplainArgs;
use crate::exit::ExitStatus;
use crate::pages;
use crate::printer;

pub fn explain(args: &ExplainArgs) -> ExitStatus {
    let Some(code) = &args.code else {
        for info in pages::codes() {
            printer::out(&format!("{:<28} {}\n", info.code, info.summary));
        }
        return ExitStatus::Success;
    };
    if let Some(page) = pages::page(code) {
        printer::out(page);
        return ExitStatus::Success;
    }
    printer::err(&format!("there is no code `{code}`; `allways explain` lists them all\n"));
    ExitStatus::Rejected
}
