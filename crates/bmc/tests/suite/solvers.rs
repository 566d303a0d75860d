//! Solvers that are missing, wrong, dying or undecided are distinguished, and none of them is an answer.

use std::time::Duration;

use allways_bmc::smt::{Found, ProcessOptions, ProcessSolver, Recorded, Session, Solver, SolverError};
use allways_bmc::{Answer, Recursion, VerifyError, VerifyOptions, verify};
use allways_boogie::entry_point;
use allways_run::Quiet;
use allways_testkit::boogie::solver;

fn start(program: &str) -> Option<SolverError> {
    ProcessSolver::start(&Found::new(program), &ProcessOptions::default()).err()
}

#[test]
fn missing_executable_cannot_be_started() {
    let error = start("no-such-solver").expect("there is none");
    assert!(matches!(error, SolverError::Start { .. }), "{error:?}");
    assert!(error.to_string().contains("no-such-solver"));
}

#[test]
fn other_programs_are_no_solvers() {
    assert!(matches!(start("false"), Some(SolverError::Died { .. })));
    assert!(matches!(start("true"), Some(SolverError::Died { .. })));
    assert!(matches!(start("echo"), Some(SolverError::Nonsense { .. })));
}

#[test]
fn solver_that_dies_in_the_middle_is_an_error() {
    let mut solver = solver::start();
    solver.tell("(exit)\n").expect("it listens");
    assert!(matches!(solver.ask("(check-sat)"), Err(SolverError::Died { .. })));
    assert!(matches!(solver.ask("(check-sat)"), Err(SolverError::Died { .. })));
}

#[test]
fn rejected_command_is_an_error() {
    let mut solver = solver::start();
    let mut session = Session::new(&mut solver, false).expect("it listens");
    session.tell("(assert nothing)\n").expect("reported later");
    assert!(matches!(session.check(&[]), Err(SolverError::Complaint(_))));
}

fn verdict_of(text: &str, solver: &mut dyn Solver) -> Result<Answer, VerifyError> {
    let checked = solver::load("test", text).expect("no mistakes");
    let entry = entry_point(&checked.program, None).expect("it has a main");
    let options = VerifyOptions { recursion: Recursion::Exactly(1), ..VerifyOptions::default() };
    verify(&checked, entry, &options, solver, &Quiet).map(|report| report.answer)
}

#[test]
fn unknown_is_not_an_answer() {
    let text = "procedure main() { var x: int; assert x > 0; }";
    let mut solver = Recorded::new(["unknown", "(:reason-unknown \"incomplete\")"]);
    let answer = verdict_of(text, &mut solver);
    assert_eq!(answer, Ok(Answer::Unknown { reason: "incomplete".to_owned(), recursion: 1 }));
    let mut solver = Recorded::new(["unsat"]);
    assert_eq!(verdict_of(text, &mut solver), Ok(Answer::Holds { recursion: 1, bound_reached: false }));
    let mut solver = Recorded::new([]);
    assert!(matches!(verdict_of(text, &mut solver), Err(VerifyError::Solver(SolverError::Died { .. }))));
}

#[test]
fn time_limit_gives_unknown() {
    let options =
        ProcessOptions { time_per_check: Some(Duration::from_millis(50)), ..ProcessOptions::default() };
    let mut solver = ProcessSolver::start(&solver::solver(), &options).expect("it starts");
    // Fermat's theorem for the exponent three, over unbounded numbers.
    let text = "procedure main() {
        var a, b, c: int;
        assume a > 0 && b > 0 && c > 0;
        assert a * a * a + b * b * b != c * c * c;
    }";
    let answer = verdict_of(text, &mut solver);
    assert!(matches!(answer, Ok(Answer::Unknown { .. })), "{answer:?}");
}

#[test]
fn conversation_can_be_kept() {
    let checked = solver::load("test", "procedure main() { assert false; }").expect("no mistakes");
    let entry = entry_point(&checked.program, None).expect("it has a main");
    let options =
        VerifyOptions { recursion: Recursion::Exactly(1), keep_smt: true, ..VerifyOptions::default() };
    let report = verify(&checked, entry, &options, &mut solver::start(), &Quiet).expect("it works");
    let smt = report.smt.expect("it was kept");
    assert!(smt.contains("(set-logic ALL)") && smt.contains("(check-sat"), "{smt}");
    assert!(report.stats.n_queries > 0 && report.stats.n_instances > 0);
}

/// A script that behaves like a solver up to a point.
fn script(name: &str, text: &str) -> Found {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(
        &path,
        format!(
            "#!/bin/sh\nwhile read -r line; do\ncase $line in\n*echo*) echo ready ;;\n{text}\nesac\ndone\n"
        ),
    )
    .expect("the build folder can be written");
    Found::new(path)
}

/// What the verifier makes of such a solver.
fn with_script(name: &str, text: &str) -> String {
    let found = script(name, text);
    let shell = Found { program: "sh".into(), ..found.clone() };
    let options =
        ProcessOptions { time_per_check: Some(Duration::from_millis(10)), ..ProcessOptions::default() };
    let mut solver = match ProcessSolver::start_with(&shell, &[found.program], &options) {
        Ok(solver) => solver,
        Err(error) => return error.to_string(),
    };
    match verdict_of("procedure main() { var x: int; assert x > 0; }", &mut solver) {
        Ok(answer) => format!("{answer:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn solvers_that_misbehave_in_the_middle_are_distinguished() {
    let garbage = with_script("garbage", "*check-sat*) echo 'sat unsat maybe)' ;;");
    assert!(garbage.contains("which is not an SMT-LIB answer"), "{garbage}");
    let gone = with_script("gone", "*check-sat*) echo 'out of memory' >&2; exit 3 ;;");
    assert!(gone.contains("ended before it answered") && gone.contains("out of memory"), "{gone}");
    let half = with_script("half", "*check-sat*) echo sat ;;\n*get-value*) echo '((|x#1@0| 5'; exit 0 ;;");
    assert!(half.contains("ended before it answered"), "{half}");
    let few = with_script("few", "*check-sat*) echo sat ;;\n*get-value*) echo '()' ;;");
    assert!(few.contains("which is not an SMT-LIB answer"), "{few}");
    let undecided = with_script(
        "undecided",
        "*check-sat*) echo unknown ;;\n*get-info*) echo '(:reason-unknown tired)' ;;",
    );
    assert_eq!(undecided, "Unknown { reason: \"tired\", recursion: 1 }");
    let complaint = with_script("complaint", "*check-sat*) echo '(error \"no such logic\")' ;;");
    assert!(complaint.contains("rejected a command: no such logic"), "{complaint}");
}
