//! Programs for tests.

#![allow(dead_code)]

use std::sync::Arc;

use allways_base::Sources;
use allways_explore::{CheckOptions, Never, Report, StrategyKind, check};
use allways_machine::Executable;
use allways_p::{Dialect, FileRole, Input};
use allways_run::{Quiet, Verdict, ViolationKind};

/// The only test of a program.
pub fn executable(text: &str) -> Arc<Executable> {
    let mut sources = Sources::default();
    let file = sources.add("test.p".to_owned(), text.to_owned());
    let input = Input { file, role: FileRole::Source };
    let compiled = allways_p::compile(&sources, &[input], Dialect::default());
    let messages: Vec<String> = compiled
        .diagnostics
        .iter()
        .map(|d| {
            format!("{}: {}", d.primary.as_ref().map_or(String::new(), |l| sources.place(l.span)), d.message)
        })
        .collect();
    let program = compiled.program.unwrap_or_else(|| panic!("rejected: {messages:?}"));
    assert_eq!(program.tests.len(), 1);
    Arc::new(Executable::new(&program, 0))
}

pub fn options(strategy: StrategyKind, n_schedules: u64) -> CheckOptions {
    CheckOptions { strategy, n_schedules: Some(n_schedules), ..CheckOptions::default() }
}

pub fn report(exe: &Arc<Executable>, options: &CheckOptions) -> Report {
    check(exe, options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"))
}

/// The kind of the violation, if there is one.
pub fn kind(report: &Report) -> Option<ViolationKind> {
    match &report.verdict {
        Verdict::Violated(found) => Some(found.violation.kind),
        Verdict::Holds(_) => None,
        Verdict::Unknown(reason) => panic!("unknown: {reason:?}"),
    }
}
