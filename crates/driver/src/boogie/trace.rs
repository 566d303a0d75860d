//! A run of the interpreter as a trace: a task is an actor, and a step is a statement that it executes.

use std::collections::BTreeMap;

use allways_boogie::interp::run::{Run, Segment};
use allways_boogie::interp::{Code, Move};
use allways_boogie::printer::print_stmt_head;
use allways_boogie::tree::{ExprKind, Program, StmtId, StmtKind};
use allways_run::task_trace::Write;
use allways_run::{ActorId, Entry, TaskTrace, Trace, Violation};

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
    let mut names: BTreeMap<usize, String> = BTreeMap::new();
    for event in run.segments.iter().flat_map(|segment| &segment.events) {
        // The first statement of a task stands in the procedure that was posted.
        let procedure = program.text(code.procedures[event.procedure].name);
        names.entry(event.task).or_insert_with(|| task_name(procedure, event.task));
    }
    let name = |task: usize| names.get(&task).cloned().unwrap_or_else(|| task_name("task", task));
    let mut trace = TaskTrace::default();
    let mut last = None;
    for Segment { made, round, events } in &run.segments {
        let (Move::Run(task) | Move::Delay(task, _) | Move::Abandon(task)) = *made;
        let actor = trace.task(&name(task));
        match *made {
            Move::Delay(_, n_rounds) => trace.step(actor, Entry::Delay { actor, n_rounds }),
            Move::Abandon(_) => trace.step(actor, Entry::Abandon { actor }),
            Move::Run(_) => {}
        }
        for event in events {
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
        }
    }
    if let Some((actor, stmt)) = last {
        add_reads(&mut trace, program, actor, stmt);
    }
    trace.finish(violation)
}
