//! Random asynchronous programs on finite data: what the operational schedulers reach, the translated
//! program reaches, and nothing else. `ALLWAYS_RANDOM_PROGRAMS` sets how many (default 60) and
//! `ALLWAYS_RANDOM_FIRST` the first seed.

use std::collections::BTreeSet;

use allways_base::Span;
use allways_bmc::smt::{ProcessSolver, Solver, SolverError};
use allways_bmc::{Answer, Recursion, VerifyOptions, verify};
use allways_boogie::generate::{GenerateOptions, generate};
use allways_boogie::interp::{self, ExploreOptions, Value, explore, lower};
use allways_boogie::tree::{BinaryOp, DeclKind, ExprId, Program, StmtKind};
use allways_boogie::{check, entry_point, print};
use allways_run::Quiet;
use allways_sequentialize::{Assertions, Options, Preemption, Scheduler, Sequentialized, sequentialize};
use allways_testkit::boogie::solver;

/// One process for many programs.
struct Reused(ProcessSolver<'static>);

impl Reused {
    fn reset(&mut self) {
        self.0.tell("(reset)\n(set-option :print-success false)\n").expect("the solver listens");
    }
}

impl Solver for Reused {
    fn tell(&mut self, commands: &str) -> Result<(), SolverError> {
        self.0.tell(commands)
    }

    fn ask(&mut self, command: &str) -> Result<String, SolverError> {
        self.0.ask(command)
    }

    fn has_lambda(&self) -> bool {
        self.0.has_lambda()
    }
}

type Finals = BTreeSet<Vec<bool>>;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Whether the end can be reached with the globals in `wanted`.
fn reaches(done: &Sequentialized, n_globals: usize, wanted: &Finals, solver: &mut Reused) -> bool {
    let mut program: Program = done.program.clone();
    let mut names = vec![None; n_globals];
    for &(original, last) in &done.finals {
        if let Some(Ok(idx)) = program.text(original).strip_prefix('g').map(str::parse::<usize>) {
            names[idx] = Some(last);
        }
    }
    let (decl_idx, driver) = program.procedure(done.entry).expect("the translation has an entry point");
    let span: Span = driver.name.span;
    let mut any: Option<ExprId> = None;
    for valuation in wanted {
        let mut parts = Vec::new();
        for (name, &value) in names.iter().zip(valuation) {
            let variable = program.var(name.expect("every global is assigned"), span);
            parts.push(if value { variable } else { program.not(variable) });
        }
        let all = program.and_all(&parts, span);
        any = Some(match any {
            Some(before) => program.binary(BinaryOp::Or, before, all, span),
            None => all,
        });
    }
    let Some(any) = any else { return false };
    let expr = program.not(any);
    let assertion = program.add_stmt(StmtKind::Assert { attrs: Vec::new(), expr }, span);
    if let DeclKind::Procedure(driver) = &mut program.decls[decl_idx].kind
        && let Some(body) = &mut driver.body
    {
        body.block.stmts.push(assertion);
    }
    let (checked, diagnostics) = check(program);
    assert!(diagnostics.iter().all(|d| !d.is_error()), "{diagnostics:#?}\n{}", print(&checked.program));
    solver.reset();
    let options = VerifyOptions { recursion: Recursion::Exactly(1), ..VerifyOptions::default() };
    match verify(&checked, done.entry, &options, solver, &Quiet).map(|report| report.answer) {
        Ok(Answer::Fails { .. }) => true,
        Ok(Answer::Holds { bound_reached: false, .. }) => false,
        other => panic!("{other:?}\n{}", print(&checked.program)),
    }
}

fn compare(seed: u64, options: &GenerateOptions, solver: &mut Reused) {
    let sketch = generate(seed, options);
    let text = sketch.to_boogie();
    let checked = solver::load("random", &text).unwrap_or_else(|complaint| panic!("{complaint}\n{text}"));
    let entry = entry_point(&checked.program, None).unwrap_or_else(|d| panic!("{}", d.message));
    let code = lower(checked.clone(), entry, Preemption::Explicit).unwrap_or_else(|limit| panic!("{limit}"));
    let all: Finals = (0..1u32 << sketch.n_globals)
        .map(|bits| (0..sketch.n_globals).map(|global| bits >> global & 1 == 1).collect())
        .collect();
    for delays in 0..=2 {
        for (operational, scheduler) in [
            (interp::Scheduler::Dfw { delays }, Scheduler::Dfw { delays }),
            (interp::Scheduler::Df { delays }, Scheduler::Df { delays }),
        ] {
            let found =
                explore(&code, &ExploreOptions { scheduler: operational, ..ExploreOptions::default() });
            assert_eq!(found.limit, None);
            if found.violation.is_some() {
                // A wait for a handle that was never assigned: final values are beside the point.
                continue;
            }
            let is_true = |value: &Value| matches!(value, Value::Bool(true));
            let expected: Finals =
                found.finals.iter().map(|(globals, _)| globals.iter().map(is_true).collect()).collect();
            let options = Options {
                scheduler,
                assertions: Assertions::Exit,
                preemption: Preemption::Explicit,
                sources: None,
            };
            let done = sequentialize(&checked, entry, &options)
                .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
            let others: Finals = all.difference(&expected).cloned().collect();
            assert!(
                !reaches(&done, sketch.n_globals, &others, solver),
                "seed {seed}: {scheduler:?} reaches one of {others:?}\n{text}\n{}",
                print(&done.program)
            );
            for valuation in &expected {
                let wanted = Finals::from([valuation.clone()]);
                assert!(
                    reaches(&done, sketch.n_globals, &wanted, solver),
                    "seed {seed}: {scheduler:?} does not reach {valuation:?}\n{text}\n{}",
                    print(&done.program)
                );
            }
        }
    }
}

#[test]
fn translations_reach_what_schedulers_reach() {
    let (first, n) = (number("ALLWAYS_RANDOM_FIRST", 0), number("ALLWAYS_RANDOM_PROGRAMS", 60));
    let mut solver = Reused(solver::start());
    for seed in first..first + n {
        let waits = seed % 4 != 3;
        let yields = if seed % 2 == 0 { 50 } else { 25 };
        compare(seed, &GenerateOptions { waits, yields, ..GenerateOptions::default() }, &mut solver);
    }
}
