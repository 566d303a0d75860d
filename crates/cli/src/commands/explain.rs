//! `allways explain`: the page of a code.

use allways_base::CodeInfo;
use allways_base::nearest::nearest;

use crate::args::ExplainArgs;
use crate::exit::ExitStatus;
use crate::pages;
use crate::printer;

pub fn explain(args: &ExplainArgs) -> ExitStatus {
    let Some(code) = &args.code else {
        list("Violations and verdicts", &pages::run_codes());
        printer::out("\n");
        list("Mistakes in programs", &pages::static_codes());
        return ExitStatus::Success;
    };
    // People copy the code with what stands around it.
    let code = code.trim_start_matches("error[").trim_start_matches("warning[").trim_end_matches([']', ':']);
    let found = pages::pages(code);
    if !found.is_empty() {
        printer::out(&found.join("\n"));
        return ExitStatus::Success;
    }
    let all = pages::codes();
    let hint = match nearest(code, all.iter().map(|info| info.code.as_str())) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`allways explain` lists them all".to_owned(),
    };
    printer::err(&format!("there is no code `{code}`; {hint}\n"));
    ExitStatus::Rejected
}

fn list(title: &str, codes: &[CodeInfo]) {
    printer::out(&format!("{title}:\n"));
    for info in codes {
        printer::out(&format!("  {:<28} {}\n", info.code, info.summary));
    }
}
