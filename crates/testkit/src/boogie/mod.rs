//! Asynchronous Boogie: the schedulers as operational definitions against the translated programs, verified by
//! a solver, on random programs.
//!
//! For each number of delays and each assertion mode three things have to agree: whether an assertion fails,
//! which values the globals have after runs without failure, and, where runs go on after a failure, which values
//! they have after those. The operational side enumerates; the symbolic side is asked for each value, and for
//! any other.

pub mod causing;
pub mod generate;
pub mod lasso;
mod latching;
pub mod solver;
mod unbounded;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;

use allways_base::{FileId, Symbol};
use allways_bmc::smt::find::Dialect;
use allways_bmc::smt::{ProcessOptions, ProcessSolver, Solver, SolverError, find_solver};
use allways_bmc::{Answer, Recursion, VerifyOptions, verify};
use allways_boogie::check::{Checked, VarKind};
use allways_boogie::interp::{self, ExploreOptions, Value, explore, lower};
use allways_boogie::tree::{BinaryOp, DeclKind, ExprId, ExprKind, Program, StmtKind};
use allways_boogie::{analyze, check, entry_point, print};
use allways_run::Quiet;
use allways_sequentialize::{Assertions, Options, Preemption, Scheduler, Sequentialized, sequentialize};

/// Deep enough for every loop and recursion of the generator.
const RECURSION: u32 = 12;

const TIME_PER_QUESTION: Duration = Duration::from_secs(20);

/// A solver process for many programs.
pub struct Reused {
    solver: ProcessSolver<'static>,
    /// What a reset forgets.
    options: String,
}

impl Reused {
    /// The solver of this machine.
    pub fn start() -> Result<Self, SolverError> {
        let options = ProcessOptions { time_per_check: Some(TIME_PER_QUESTION), ..ProcessOptions::default() };
        let found = find_solver()?;
        let solver = ProcessSolver::start(&found, &options)?;
        let limit = match found.dialect {
            Dialect::Z3 => format!("(set-option :timeout {})\n", TIME_PER_QUESTION.as_millis()),
            Dialect::Cvc5 => String::new(),
        };
        Ok(Reused { solver, options: format!("(set-option :print-success false)\n{limit}") })
    }

    pub fn reset(&mut self) -> Result<(), SolverError> {
        self.solver.tell(&format!("(reset)\n{}", self.options))
    }
}

impl Solver for Reused {
    fn tell(&mut self, commands: &str) -> Result<(), SolverError> {
        self.solver.tell(commands)
    }

    fn ask(&mut self, command: &str) -> Result<String, SolverError> {
        self.solver.ask(command)
    }

    fn has_lambda(&self) -> bool {
        self.solver.has_lambda()
    }
}

#[derive(Clone, Copy, Debug)]
pub struct CompareOptions {
    /// Numbers of delays from none to this one.
    pub max_delays: u32,
    /// Configurations that the operational side may explore.
    pub max_confs: usize,
    pub preemption: Preemption,
}

impl Default for CompareOptions {
    fn default() -> Self {
        CompareOptions { max_delays: 2, max_confs: 5_000, preemption: Preemption::Explicit }
    }
}

/// What a comparison said.
#[derive(Clone, Debug)]
pub enum Comparison {
    Same {
        /// Whether an assertion fails, with the most delays, depth first with waiting.
        fails: bool,
        n_questions: u64,
    },
    /// More configurations than the limit, or a question that the solver did not answer in time.
    TooLarge,
    Differ(String),
}

type Finals = BTreeSet<Vec<Value>>;

/// A question about the end of a translated run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    /// Those that have not failed.
    Good,
    /// Those that have.
    Failed,
}

/// Why a comparison ends early.
enum Trouble {
    Difference(String),
    /// The solver gave up.
    Undecided,
}

impl From<String> for Trouble {
    fn from(difference: String) -> Self {
        Trouble::Difference(difference)
    }
}

impl From<&str> for Trouble {
    fn from(difference: &str) -> Self {
        Trouble::Difference(difference.to_owned())
    }
}

/// Compares both sides on a program.
pub fn compare(text: &str, options: &CompareOptions, solver: &mut Reused) -> Comparison {
    match try_compare(text, options, solver) {
        Ok(comparison) => comparison,
        Err(Trouble::Undecided) => Comparison::TooLarge,
        Err(Trouble::Difference(difference)) => Comparison::Differ(difference),
    }
}

fn try_compare(text: &str, options: &CompareOptions, solver: &mut Reused) -> Result<Comparison, Trouble> {
    let (checked, diagnostics) = analyze(FileId::from_u32(0), text);
    let checked = checked.ok_or_else(|| format!("{diagnostics:#?}"))?;
    let entry = entry_point(&checked.program, None).map_err(|d| d.message.clone())?;
    let code = lower(checked.clone(), entry, options.preemption).map_err(|limit| limit.to_string())?;
    let (mut fails, mut n_questions) = (false, 0);
    for delays in 0..=options.max_delays {
        let rounds = delays + 1;
        for (operational, scheduler) in [
            (interp::Scheduler::Dfw { delays }, Scheduler::Dfw { delays }),
            (interp::Scheduler::Df { delays }, Scheduler::Df { delays }),
            (interp::Scheduler::ChildFirst { rounds }, Scheduler::ChildFirst { rounds }),
        ] {
            // Child first is Corral's, which ends at the first failure.
            let modes: &[Assertions] = match scheduler {
                Scheduler::ChildFirst { .. } => &[Assertions::Exit],
                _ => &[Assertions::Exit, Assertions::Continue],
            };
            for &assertions in modes {
                let found = explore(
                    &code,
                    &ExploreOptions {
                        scheduler: operational,
                        assertions,
                        max_confs: options.max_confs,
                        ..ExploreOptions::default()
                    },
                );
                if found.limit.is_some() {
                    return Ok(Comparison::TooLarge);
                }
                let with = Options { scheduler, assertions, preemption: options.preemption, sources: None };
                let done = sequentialize(&checked, entry, &with).map_err(|error| error.to_string())?;
                let has_failed = found.violation.is_some();
                fails |= has_failed && matches!(scheduler, Scheduler::Dfw { .. });
                let side = format!("{scheduler:?}, {assertions:?}");
                let mut asked =
                    Asked { checked: &checked, done: &done, solver: &mut *solver, n_questions: 0 };
                let verdict = asked.verdict()?;
                if verdict != has_failed {
                    let word = |fails: bool| if fails { "fails" } else { "holds" };
                    return Err(format!(
                        "{side}: operationally it {}, translated it {}\n{}",
                        word(has_failed),
                        word(verdict),
                        print(&done.program)
                    )
                    .into());
                }
                // With arbitrary numbers the operational side has seen some, not all.
                let is_whole = found.complete;
                let mut kinds = vec![(Runs::Good, false)];
                if assertions == Assertions::Continue && has_failed {
                    kinds.push((Runs::Failed, true));
                }
                for (runs, flag) in kinds {
                    let of_kind = found.finals.iter().filter(|(_, failed)| *failed == flag);
                    let expected: Finals = of_kind.map(|(globals, _)| globals.clone()).collect();
                    asked.finals(runs, &expected, is_whole).map_err(|trouble| match trouble {
                        Trouble::Difference(text) => {
                            Trouble::Difference(format!("{side}: {text}\n{}", print(&done.program)))
                        }
                        Trouble::Undecided => Trouble::Undecided,
                    })?;
                }
                n_questions += asked.n_questions;
            }
        }
    }
    Ok(Comparison::Same { fails, n_questions })
}

struct Asked<'a> {
    checked: &'a Checked,
    done: &'a Sequentialized,
    solver: &'a mut Reused,
    n_questions: u64,
}

impl Asked<'_> {
    /// Whether an assertion of the original may fail.
    fn verdict(&mut self) -> Result<bool, Trouble> {
        self.ask(self.done.program.clone())
    }

    /// The values of the globals after such runs are these, and no others if these are all.
    fn finals(&mut self, runs: Runs, expected: &Finals, is_whole: bool) -> Result<(), Trouble> {
        if is_whole && self.reaches(runs, expected, true)? {
            return Err(format!("translated, the globals may be none of {expected:?}").into());
        }
        for valuation in expected {
            if !self.reaches(runs, &Finals::from([valuation.clone()]), false)? {
                return Err(format!("translated, the globals cannot be {valuation:?}").into());
            }
        }
        Ok(())
    }

    /// Whether the end can be reached with the globals in `these`, or outside of them.
    fn reaches(&mut self, runs: Runs, these: &Finals, outside: bool) -> Result<bool, Trouble> {
        let mut program = self.done.program.clone();
        let ends: BTreeMap<Symbol, Symbol> = self.done.finals.iter().copied().collect();
        let mut alternatives = Vec::new();
        for valuation in these {
            let mut parts = Vec::new();
            for (&var, value) in self.checked.globals.iter().zip(valuation) {
                let info = &self.checked.vars[var];
                if info.kind == VarKind::ThreadLocal {
                    continue;
                }
                let end = ends.get(&info.name.symbol).ok_or("a global without a value at the end")?;
                equals(&mut program, *end, value, &mut parts)?;
            }
            let span = program.procedure(self.done.entry).map(|(_, p)| p.name.span);
            alternatives.push(program.and_all(&parts, span.ok_or("no entry point")?));
        }
        let (decl_idx, driver) = program.procedure(self.done.entry).ok_or("no entry point")?;
        let span = driver.name.span;
        let last = driver.body.as_ref().and_then(|body| body.block.stmts.last().copied());
        // The assertion at the end picks the runs.
        let mut has_assertion = false;
        if let Some(last) = last
            && let StmtKind::Assert { expr, .. } = program.stmts[last].kind
        {
            has_assertion = true;
            let expr = if runs == Runs::Good { expr } else { program.not(expr) };
            program.stmts[last].kind = StmtKind::Assume { attrs: Vec::new(), expr };
        }
        if !has_assertion && runs == Runs::Failed {
            return Ok(false);
        }
        let mut any: Option<ExprId> = None;
        for all in alternatives {
            any = Some(match any {
                Some(before) => program.binary(BinaryOp::Or, before, all, span),
                None => all,
            });
        }
        let any = match any {
            Some(any) => any,
            None => program.add_expr(ExprKind::Bool(false), span),
        };
        let expr = if outside { any } else { program.not(any) };
        let assertion = program.add_stmt(StmtKind::Assert { attrs: Vec::new(), expr }, span);
        if let DeclKind::Procedure(driver) = &mut program.decls[decl_idx].kind
            && let Some(body) = &mut driver.body
        {
            body.block.stmts.push(assertion);
        }
        self.ask(program)
    }

    /// Whether an assertion of the sequential program may fail.
    fn ask(&mut self, program: Program) -> Result<bool, Trouble> {
        self.n_questions += 1;
        let (checked, diagnostics) = check(program);
        if let Some(error) = diagnostics.iter().find(|d| d.is_error()) {
            return Err(format!(
                "the translated program is wrong: {}\n{}",
                error.message,
                print(&checked.program)
            )
            .into());
        }
        self.solver.reset().map_err(|error| error.to_string())?;
        let options = VerifyOptions { recursion: Recursion::Exactly(RECURSION), ..VerifyOptions::default() };
        let report = verify(&checked, self.done.entry, &options, self.solver, &Quiet)
            .map_err(|error| format!("{error}\n{}", print(&checked.program)))?;
        match report.answer {
            Answer::Fails { .. } => Ok(true),
            Answer::Holds { bound_reached: false, .. } => Ok(false),
            Answer::Unknown { .. } => Err(Trouble::Undecided),
            other => Err(format!("{other:?}\n{}", print(&checked.program)).into()),
        }
    }
}

/// Adds what says that a variable has a value: Booleans, numbers, and maps from Booleans to them.
fn equals(program: &mut Program, name: Symbol, value: &Value, parts: &mut Vec<ExprId>) -> Result<(), String> {
    let span = program.decls.first().map(|decl| decl.span).ok_or("an empty program")?;
    let variable = program.var(name, span);
    let mut entry = |program: &mut Program, place: ExprId, value: &Value| -> Result<(), String> {
        let part = match value {
            Value::Bool(true) => place,
            Value::Bool(false) => program.not(place),
            Value::Int(number) => {
                let number = program.int(i64::try_from(*number).map_err(|e| e.to_string())?, span);
                program.binary(BinaryOp::Eq, place, number, span)
            }
            other => return Err(format!("{other} is no value that can be compared")),
        };
        parts.push(part);
        Ok(())
    };
    if let Value::Map(map) = value {
        for index in [false, true] {
            let at = program.add_expr(ExprKind::Bool(index), span);
            let place = program.add_expr(ExprKind::Select { map: variable, indices: vec![at] }, span);
            entry(program, place, map.get(&[Value::Bool(index)]))?;
        }
        return Ok(());
    }
    entry(program, variable, value)
}

/// What a run over many seeds saw.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    pub n_programs: u64,
    pub n_too_large: u64,
    pub n_failing: u64,
    pub n_questions: u64,
}

impl Statistics {
    pub fn add(&mut self, comparison: &Comparison) {
        self.n_programs += 1;
        match comparison {
            Comparison::Same { fails, n_questions } => {
                self.n_failing += u64::from(*fails);
                self.n_questions += n_questions;
            }
            Comparison::TooLarge => self.n_too_large += 1,
            Comparison::Differ(_) => {}
        }
    }
}

/// How the program of a seed is compared. One in five is preempted at every shared access.
pub fn options_of(seed: u64) -> CompareOptions {
    let preemption = if seed % 5 == 4 { Preemption::Automatic } else { Preemption::Explicit };
    CompareOptions { preemption, ..CompareOptions::default() }
}

/// Generates and compares.
pub fn compare_seed(seed: u64, solver: &mut Reused) -> (String, Comparison) {
    let text = generate::generate(seed);
    let comparison = compare(&text, &options_of(seed), solver);
    (text, comparison)
}

/// A smaller program that still differs: lines are left out while it does.
pub fn shrink(text: &str, options: &CompareOptions, solver: &mut Reused) -> String {
    let differs = |text: &str, solver: &mut Reused| {
        let (checked, _) = analyze(FileId::from_u32(0), text);
        checked.is_some() && matches!(compare(text, options, solver), Comparison::Differ(_))
    };
    let mut lines: Vec<&str> = text.lines().collect();
    let mut size = (lines.len() / 2).max(1);
    loop {
        let mut at = 0;
        let mut changed = false;
        while at < lines.len() {
            let end = (at + size).min(lines.len());
            let fewer: Vec<&str> = lines[..at].iter().chain(&lines[end..]).copied().collect();
            if differs(&fewer.join("\n"), solver) {
                lines = fewer;
                changed = true;
            } else {
                at = end;
            }
        }
        if size == 1 && !changed {
            break;
        }
        size = (size / 2).max(1);
    }
    let mut out = String::new();
    for line in lines {
        let _ = writeln!(out, "{line}");
    }
    out
}
