//! What the verifier finds in a translated program, the concurrent interpreter repeats: for every
//! failing line of the asynchronous corpus, and for the programs below.

mod common;

use std::fs;

use allways_bmc::{Answer, Recursion, TraceStep, VerifyOptions, verify};
use allways_boogie::interp::{self, lower};
use allways_boogie::{check, entry_point};
use allways_run::Quiet;
use allways_sequentialize::decode::{Step, decode};
use allways_sequentialize::replay::{Values, replay};
use allways_sequentialize::{Assertions, Options, Preemption, Role, Scheduler, sequentialize};

/// Translates, verifies, decodes, replays. `Ok(false)` if nothing fails.
fn certify(text: &str, scheduler: Scheduler, assertions: Assertions) -> Result<bool, String> {
    let checked = common::load("original", text)?;
    let entry = entry_point(&checked.program, None).map_err(|d| d.message.clone())?;
    let options = Options { scheduler, assertions, preemption: Preemption::Explicit, sources: None };
    let done = sequentialize(&checked, entry, &options).map_err(|e| e.to_string())?;
    let (sequential, diagnostics) = check(done.program.clone());
    if let Some(error) = diagnostics.iter().find(|d| d.is_error()) {
        return Err(error.message.clone());
    }
    let options = VerifyOptions { recursion: Recursion::UpTo(6), keep_smt: false };
    let mut solver = common::start();
    let report = verify(&sequential, done.entry, &options, &mut solver, &Quiet).map_err(|e| e.to_string())?;
    let trace = match report.answer {
        Answer::Fails { trace, .. } => trace,
        Answer::Holds { .. } => return Ok(false),
        other => return Err(format!("{other:?}")),
    };
    let used = done.used.map(|name| done.program.text(name).to_owned());
    let steps = trace.steps.iter().map(|step| match step {
        TraceStep::Enter { .. } => Step::Enter,
        TraceStep::Leave { .. } => Step::Leave,
        TraceStep::Stmt { stmt, values, way } => {
            let counter = values.iter().find(|assigned| Some(&assigned.name) == used.as_ref());
            let used = counter.and_then(|assigned| u32::try_from(assigned.value.as_int()?).ok());
            Step::Stmt { stmt: *stmt, way: *way, used }
        }
    });
    let plan = decode(&done, steps);
    let mut values = Values::default();
    for &var in &checked.globals {
        let name = checked.vars[var].name.symbol;
        let new = done.initials.iter().find(|(original, _)| *original == name).map_or(name, |&(_, new)| new);
        let new = done.program.text(new);
        let assigned = trace.initial.iter().find(|assigned| assigned.name == new);
        values.initial.push(assigned.and_then(|assigned| assigned.value.to_concrete()));
    }
    let choices = trace.steps.iter().filter_map(|step| match step {
        TraceStep::Stmt { stmt, values, .. } => {
            let is_choice = done.origins.get(stmt).is_none_or(|origin| origin.role == Role::Choice);
            is_choice.then_some(values)
        }
        TraceStep::Enter { .. } | TraceStep::Leave { .. } => None,
    });
    for assigned in trace.constants.iter().chain(choices.flatten()) {
        if let Some(value) = assigned.value.to_concrete()
            && !values.pool.contains(&value)
        {
            values.pool.push(value);
        }
    }
    let code = lower(checked, entry, Preemption::Explicit).map_err(|limit| limit.to_string())?;
    let operational = match scheduler {
        Scheduler::Dfw { delays } => interp::Scheduler::Dfw { delays },
        Scheduler::Df { delays } => interp::Scheduler::Df { delays },
        Scheduler::ChildFirst { rounds } => interp::Scheduler::ChildFirst { rounds },
        Scheduler::Rounds { .. } => return Err("serial tasks have no operational scheduler here".to_owned()),
    };
    match replay(&code, &plan, &values, operational, assertions) {
        Some(_) => Ok(true),
        None => Err(format!("not repeated: {plan:?} {values:?}")),
    }
}

#[test]
fn failing_corpus_programs_are_repeated() {
    let folder = common::workspace().join("corpus/boogie/async");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the corpus is there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    let (mut n_repeated, mut wrong) = (0, Vec::new());
    for path in files.iter().filter(|path| path.extension().is_some_and(|e| e == "bpl")) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(path).expect("corpus files are text");
        if text.contains("// preemption: automatic") {
            continue;
        }
        for line in text.lines().filter_map(|line| line.strip_prefix("// explore: ")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [scheduler, mode, "fails"] = words[..] else { continue };
            let Some((scheduler, bound)) = scheduler.trim_end_matches(')').split_once('(') else { continue };
            let delays: u32 = bound.parse().unwrap_or(0);
            let scheduler = match scheduler {
                "df" => Scheduler::Df { delays },
                "dfw" => Scheduler::Dfw { delays },
                _ => continue,
            };
            let assertions = if mode == "continue" { Assertions::Continue } else { Assertions::Exit };
            match certify(&text, scheduler, assertions) {
                Ok(true) => n_repeated += 1,
                Ok(false) => wrong.push(format!("{name}: {line}: holds")),
                Err(message) if message.contains("numbers of tasks") => {}
                Err(message) => wrong.push(format!("{name}: {line}: {message}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{n_repeated} repeated, not so:\n{}", wrong.join("\n"));
    assert!(n_repeated >= 15, "only {n_repeated}");
}

#[test]
fn values_and_branches_of_the_model_are_used() {
    let texts = [
        "var x: int; procedure p() { var y: int; havoc y; if (y > 40) { x := y; } }
         procedure main() { x := 0; async call p(); yield; assert x != 77; }",
        "var x: int; procedure p(n: int) { while (*) { x := x + n; yield; } }
         procedure main() { x := 0; async call p(3); async call p(5); yield; yield; assert x != 11; }",
        "var x: int; procedure p() { goto a, b; a: x := 1; return; b: x := 2; }
         procedure main() { x := 0; async call p(); yield; if (*) { x := x + 10; } else { x := x + 20; } assert x != 22; }",
    ];
    for text in texts {
        for scheduler in [Scheduler::Dfw { delays: 2 }, Scheduler::Df { delays: 2 }] {
            assert_eq!(certify(text, scheduler, Assertions::Exit), Ok(true), "{scheduler:?}\n{text}");
        }
    }
}
