//! Whether the axioms of a program contradict each other.
//!
//! From a contradiction everything follows, so a program with contradictory axioms is never called proved. Two questions look for one.
//! First the axioms alone, with the applications of functions that the program makes to constants, so that triggers fire as they do
//! for the program. Then the program without its assumptions: what remains has a run in every model of the axioms, so if there is none,
//! there is no model. Calls that are not looked into do anything, which can only hide a contradiction, never make one.

use allways_base::{Span, Symbol};
use allways_boogie::check::Checked;
use allways_run::Quiet;

use crate::VerifyError;
use crate::flow::InstrKind;
use crate::inline::Inliner;
use crate::lower::{Assumptions, Lowered};
use crate::smt::{CheckResult, Session, Solver, SolverError};
use crate::term::{TermId, TermKind};
use crate::{prepared, theory};

/// What is known about the axioms that matter for a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Consistency {
    /// They have a model, or there are none.
    Consistent,
    /// They have none; these suffice for a contradiction, with what the program applies functions to.
    Contradictory(Vec<Span>),
    /// The solver did not decide.
    Undecided,
}

/// Asks about the axioms of a program without errors and type parameters. `start` starts a solver for each of the questions.
pub fn check_axioms<S: Solver>(
    checked: &Checked,
    entry: Symbol,
    mut start: impl FnMut() -> Result<S, SolverError>,
) -> Result<Consistency, VerifyError> {
    let mut solver = start()?;
    let lowered = prepared(checked, entry, solver.has_lambda(), Assumptions::Kept)?;
    if lowered.axioms.is_empty() {
        return Ok(Consistency::Consistent);
    }
    let applications = applications(checked, &lowered);
    let mut session = Session::new(&mut solver, false)?;
    session.tell(&theory::prelude(checked, &lowered))?;
    session.tell(&theory::axioms(checked, &lowered))?;
    session.tell(&applications)?;
    match session.check(&[])? {
        CheckResult::Sat => return Ok(Consistency::Consistent),
        CheckResult::Unsat(_) => {
            let core = core(checked, &lowered, &applications, &mut start()?)?;
            return Ok(Consistency::Contradictory(core));
        }
        CheckResult::Unknown(_) => {}
    }
    let mut solver = start()?;
    let bare = prepared(checked, entry, solver.has_lambda(), Assumptions::Dropped)?;
    let mut session = Session::new(&mut solver, false)?;
    session.tell(&theory::prelude(checked, &bare))?;
    session.tell(&theory::axioms(checked, &bare))?;
    let mut inliner = Inliner::new(checked, &bare.flow, session, &Quiet);
    Ok(match inliner.has_runs()? {
        CheckResult::Unsat(_) => {
            Consistency::Contradictory(bare.axioms.iter().map(|axiom| axiom.span).collect())
        }
        CheckResult::Sat | CheckResult::Unknown(_) => Consistency::Undecided,
    })
}

/// Axioms that suffice for the contradiction; all of them if the solver does not find fewer.
fn core(
    checked: &Checked,
    lowered: &Lowered,
    applications: &str,
    solver: &mut dyn Solver,
) -> Result<Vec<Span>, SolverError> {
    let mut session = Session::new(solver, false)?;
    session.tell(&theory::prelude(checked, lowered))?;
    session.tell(applications)?;
    let mut names = Vec::new();
    for (number, axiom) in lowered.axioms.iter().enumerate() {
        let name = format!("|axiom {number}|");
        let text = theory::render(checked, lowered, axiom.term);
        session.tell(&format!("(declare-const {name} Bool)\n(assert (=> {name} {text}))\n"))?;
        names.push(name);
    }
    let needed = match session.check(&names)? {
        CheckResult::Unsat(core) => core,
        CheckResult::Sat | CheckResult::Unknown(_) => names.clone(),
    };
    let axioms = lowered.axioms.iter().zip(&names);
    Ok(axioms.filter(|(_, name)| needed.contains(name)).map(|(axiom, _)| axiom.span).collect())
}

/// Names for the applications of declared functions that mention no variable.
fn applications(checked: &Checked, lowered: &Lowered) -> String {
    let terms = &lowered.flow.terms;
    let mut roots: Vec<TermId> = Vec::new();
    for instr in lowered.flow.procs.iter().flat_map(|proc| &proc.blocks).flat_map(|block| &block.instrs) {
        match &instr.kind {
            InstrKind::Assign(pairs) => roots.extend(pairs.iter().map(|&(_, term)| term)),
            InstrKind::Assume(term) => roots.push(*term),
            InstrKind::Call { args, .. } => roots.extend(args),
            InstrKind::Havoc(_) | InstrKind::Mark(_) => {}
        }
    }
    let mut texts: Vec<(String, String)> = Vec::new();
    for root in roots {
        terms.walk_ids(root, |id| {
            let TermKind::App(name, _) = terms.kind(id) else { return };
            let Some(function) = lowered.functions.iter().find(|function| function.name == *name) else {
                return;
            };
            if !terms.has_variables(id) {
                let entry = (theory::render(checked, lowered, id), theory::sort(checked, function.result));
                if !texts.contains(&entry) {
                    texts.push(entry);
                }
            }
        });
    }
    let mut out = String::new();
    for (number, (term, sort)) in texts.into_iter().enumerate() {
        out.push_str(&format!("(declare-const |application {number}| {sort})\n"));
        out.push_str(&format!("(assert (= |application {number}| {term}))\n"));
    }
    out
}
