//! A run of the interpreter as a trace: a task is an actor, and a step is a statement that it executes.

use std::collections::BTreeMap;

use allways_base::Idx;
use allways_boogie::interp::run::{Run, Segment};
use allways_boogie::interp::{Code, Move};
use allways_boogie::printer::print_stmt_head;
use allways_boogie::tree::{ExprKind, Program, StmtId, StmtKind};
use allways_run::task_trace::Write;
use allways_run::{
    ActorId, Choice, Counterexample, Entry, InstanceId, Schedule, TaskTrace, Trace, Violation,
};
use allways_sequentialize::nontermination::lasso::Certificate;

/// The name of a task: the procedure that it runs, and its number in the order of posting.
pub fn task_name(procedure: &str, task: usize) -> String {
    format!("{procedure}({})", task + 1)
}

/// Adds the variables that a failing assertion reads, with their values.
pub fn add_reads(trace: &mut TaskTrace, program: &Program, task: ActorId, stmt: StmtId) {
    let StmtKind::Assert { expr, .. } = program.stmts[stmt].kind else { return };
    for id in program.postorder(expr) {
        let read = &program.exprs[id];
        if let ExprKind::Var(name) = read.kind {
            trace.reads(task, program.text(name).into(), read.span);
        }
    }
}

/// The trace of a run that fails.
pub fn of_run(code: &Code, run: &Run, violation: &Violation, shows_rounds: bool) -> Trace {
    let program = &code.checked.program;
    let mut trace = TaskTrace::default();
    if let Some((actor, stmt)) = add_segments(&mut trace, code, &run.segments, shows_rounds) {
        add_reads(&mut trace, program, actor, stmt);
    }
    trace.finish(violation)
}

/// The stem and one turn of the loop of an infinite run, as a counterexample.
pub fn of_lasso(code: &Code, certificate: &Certificate, violation: Violation) -> Counterexample {
    let Certificate { run, n_stem, n_loop, .. } = certificate;
    let segments = &run.segments[..n_stem + n_loop];
    let mut trace = TaskTrace::default();
    add_segments(&mut trace, code, segments, false);
    // The scheduler chooses a task for each segment that has statements.
    let loop_start = segments[..*n_stem].iter().filter(|segment| !segment.events.is_empty()).count();
    Counterexample {
        violation,
        schedule: Schedule::default(),
        loop_start: Some(loop_start),
        trace: trace.into_trace(),
    }
}

/// Adds segments, each begun by a choice of the scheduler. Returns the last statement and its task.
fn add_segments(
    trace: &mut TaskTrace,
    code: &Code,
    segments: &[Segment],
    shows_rounds: bool,
) -> Option<(ActorId, StmtId)> {
    let program = &code.checked.program;
    let mut names: BTreeMap<usize, String> = BTreeMap::new();
    for event in segments.iter().flat_map(|segment| &segment.events) {
        // The first statement of a task stands in the procedure that was posted.
        let procedure = program.text(code.procedures[event.procedure].name);
        names.entry(event.task).or_insert_with(|| task_name(procedure, event.task));
    }
    let name = |task: usize| names.get(&task).cloned().unwrap_or_else(|| task_name("task", task));
    let mut last = None;
    for Segment { made, round, events } in segments {
        let (Move::Run(task) | Move::Delay(task, _) | Move::Abandon(task)) = *made;
        let actor = trace.task(&name(task));
        match *made {
            Move::Delay(_, n_rounds) => trace.step(actor, Entry::Delay { actor, n_rounds }),
            Move::Abandon(_) => trace.step(actor, Entry::Abandon { actor }),
            Move::Run(_) => {}
        }
        for (number, event) in events.iter().enumerate() {
            let writes = event.writes.iter().map(|(variable, value)| Write {
                variable: variable.map_or("recorded", |variable| program.text(variable)).into(),
                value: value.as_ref().map_or("any value".to_owned(), ToString::to_string).into(),
                is_shared: variable.is_some_and(|variable| code.checked.global_names.contains_key(&variable)),
            });
            let actor = trace.task(&name(event.task));
            last = event.stmt.map(|stmt| (actor, stmt));
            trace.statement(
                actor,
                program.text(code.procedures[event.procedure].name).into(),
                shows_rounds.then_some(*round),
                event.stmt.map_or(String::new(), |stmt| print_stmt_head(program, stmt)).into(),
                writes.collect(),
                event.span,
            );
            if number == 0 {
                trace.choose(Choice::Machine(InstanceId::new(task)));
            }
        }
    }
    last
}
