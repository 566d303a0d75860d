//! Every program in `corpus/boogie/sequential` gets the verdict that its first line expects:
//!
//! - `// fails N [KIND]`: an assertion (of that kind) fails with the recursion bound N, none below;
//! - `// safe N`: nothing fails, and the bound N is enough to know;
//! - `// holds N`: nothing fails within the bound N, which is reached;
//! - `// unsupported`: rejected with a reason.

use std::fs;

use allways_bmc::{Answer, Quantifiers, Recursion, VerifyError, VerifyOptions, verify};
use allways_boogie::entry_point;
use allways_run::Quiet;
use allways_testkit::boogie::solver;

fn verdict(name: &str, text: &str, recursion: Recursion, quantifiers: Quantifiers) -> String {
    let checked = match solver::load(name, text) {
        Ok(checked) => checked,
        Err(complaint) => return complaint,
    };
    let entry = match entry_point(&checked.program, None) {
        Ok(entry) => entry,
        Err(diagnostic) => return diagnostic.message.clone(),
    };
    let mut solver = solver::start();
    let options = VerifyOptions { recursion, quantifiers, ..VerifyOptions::default() };
    match verify(&checked, entry, &options, &mut solver, &Quiet) {
        Ok(report) => match report.answer {
            // With quick answers, a run that may fail is as much as can be had.
            Answer::Fails { trace, recursion } | Answer::Candidate { trace, recursion } => {
                let kind = trace.failure.map_or("nothing", |failure| failure.kind.as_str());
                format!("fails {recursion} {kind}")
            }
            Answer::Holds { recursion, bound_reached: true } => format!("holds {recursion}"),
            Answer::Holds { recursion, bound_reached: false } => format!("safe {recursion}"),
            Answer::Unknown { reason, .. } => format!("unknown {reason}"),
            Answer::Stopped { .. } => "stopped".to_owned(),
        },
        Err(VerifyError::Encode(_)) => "unsupported".to_owned(),
        Err(VerifyError::Solver(error)) => format!("solver error: {error}"),
    }
}

fn check_file(name: &str, text: &str) -> Result<(), String> {
    let first = text.lines().next().unwrap_or_default();
    let expected = first.strip_prefix("// ").ok_or_else(|| format!("{name}: no expectation"))?;
    let words: Vec<&str> = expected.split_whitespace().collect();
    let expect = |wanted: &str, recursion: Recursion| {
        for quantifiers in [Quantifiers::Thorough, Quantifiers::Quick] {
            let found = verdict(name, text, recursion, quantifiers);
            if found != wanted && !found.starts_with(&format!("{wanted} ")) {
                return Err(format!(
                    "{name}: expected {wanted} with {recursion:?}, {quantifiers:?}, found {found}"
                ));
            }
        }
        Ok(())
    };
    let bound = |word: &str| word.parse::<u32>().map_err(|_| format!("{name}: no bound in `{expected}`"));
    match words[..] {
        ["fails", n, ..] => {
            let n = bound(n)?;
            expect(expected, Recursion::UpTo(n))?;
            expect(expected, Recursion::Exactly(n))?;
            if n > 1 { expect(&format!("holds {}", n - 1), Recursion::UpTo(n - 1)) } else { Ok(()) }
        }
        ["safe", n] => {
            let n = bound(n)?;
            expect(expected, Recursion::UpTo(n))?;
            if n > 1 { expect(&format!("holds {}", n - 1), Recursion::Exactly(n - 1)) } else { Ok(()) }
        }
        ["holds", n] => expect(expected, Recursion::UpTo(bound(n)?)),
        ["unsupported"] => expect(expected, Recursion::UpTo(1)),
        _ => Err(format!("{name}: `{expected}` is no expectation")),
    }
}

/// Every fourth program, from one on: the tests run side by side.
fn check_quarter(first: usize) {
    let folder = solver::workspace().join("corpus/boogie/sequential");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the corpus is there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "bpl"))
        .collect();
    files.sort();
    assert!(files.len() >= 120, "the corpus has only {} programs", files.len());
    let mut wrong = Vec::new();
    for path in files.iter().skip(first).step_by(4) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(path).expect("corpus files are text");
        if let Err(complaint) = check_file(&name, &text) {
            wrong.push(complaint);
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn sequential_programs_get_their_verdicts_1() {
    check_quarter(0);
}

#[test]
fn sequential_programs_get_their_verdicts_2() {
    check_quarter(1);
}

#[test]
fn sequential_programs_get_their_verdicts_3() {
    check_quarter(2);
}

#[test]
fn sequential_programs_get_their_verdicts_4() {
    check_quarter(3);
}
