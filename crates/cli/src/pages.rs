//! What `allways explain` knows: the pages of `docs/codes` about mistakes in programs, and those of `docs/codes/run` about
//! kinds of violations and verdicts.

use allways_base::{Code, CodeInfo};
use allways_run::ViolationKind;

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Verdicts that have a page, beside the kinds of violations.
const VERDICTS: &[CodeInfo] = &[
    CodeInfo { code: Code::new("inconclusive"), summary: "no verdict within the limits" },
    CodeInfo {
        code: Code::new("unexpected-verdict"),
        summary: "a verdict other than the one `allways.toml` expects",
    },
];

/// The pages of a code: one, or two if a mistake can be found both before and in a run.
pub fn pages(code: &str) -> Vec<&'static str> {
    let find = |pages: &[(&str, &'static str)]| {
        pages.binary_search_by_key(&code, |&(name, _)| name).ok().map(|at| pages[at].1)
    };
    find(PAGES).into_iter().chain(find(RUN_PAGES)).collect()
}

/// Every code of a mistake in a program with its one line, by name.
pub fn static_codes() -> Vec<CodeInfo> {
    let mut all = allways_p::codes::ALL.to_vec();
    all.extend_from_slice(allways_boogie::codes::ALL);
    all.sort_by_key(|info| info.code);
    all
}

/// Every kind of violation, and the verdicts that need an explanation, by name.
pub fn run_codes() -> Vec<CodeInfo> {
    let kinds = ViolationKind::ALL.iter();
    let kinds = kinds.map(|kind| CodeInfo { code: Code::new(kind.as_str()), summary: kind.summary() });
    let mut all: Vec<CodeInfo> = kinds.chain(VERDICTS.iter().copied()).collect();
    all.sort_by_key(|info| info.code);
    all
}

/// All of both.
pub fn codes() -> Vec<CodeInfo> {
    let mut all = static_codes();
    all.extend(run_codes());
    all
}
