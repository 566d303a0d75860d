//! Whether machine garbage is worth collecting. How it is found and left out: [`super::symmetry`], which canonicalises what stays.
//!
//! Most programs make their machines once, when they start, and keep them: then there is nothing to collect, or so little that it does not
//! pay. A program that makes machines in the handlers of events may do so again and again, and has infinitely many configurations
//! unless those that are gone are left out.

use allways_base::{Idx, IndexVec};
use allways_machine::Executable;
use allways_machine::ir::{Action, ControlId, FunId, Op};

/// Whether machines are made elsewhere than in entry functions of start states that are entered once, or a machine makes another of its kind.
pub(crate) fn may_repeat_creations(exe: &Executable) -> bool {
    let mut makes: IndexVec<FunId, bool> = exe.funs.iter().map(|_| false).collect();
    let mut calls: Vec<(FunId, FunId)> = Vec::new();
    for (fun, def) in exe.funs.iter_ids() {
        for op in &exe.code[def.entry as usize..def.end as usize] {
            match *op {
                Op::New { .. } => makes[fun] = true,
                Op::Call { fun: callee, .. } => calls.push((fun, callee)),
                _ => {}
            }
        }
    }
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &(fun, callee) in &calls {
            changed |= makes[callee] && !std::mem::replace(&mut makes[fun], true);
        }
    }
    let does = |fun: Option<FunId>| fun.is_some_and(|fun| makes[fun]);
    let is_entered_again = |state: ControlId| {
        let goes_there = |action: &Action| matches!(*action, Action::Goto(target, _) if target == state);
        exe.states.iter().any(|other| other.actions.iter().any(goes_there))
            || exe.code.iter().any(|op| matches!(*op, Op::Goto { state: target, .. } if target == state))
    };
    exe.states.iter_ids().any(|(number, state)| {
        let is_start = exe.machines[state.machine].start == Some(number);
        let in_handler = state.actions.iter().any(|action| match *action {
            Action::Do(fun) => makes[fun],
            Action::Goto(_, fun) => does(fun),
            Action::None | Action::Defer | Action::Ignore => false,
        });
        let is_once = is_start && !is_entered_again(number);
        in_handler || does(state.exit) || !is_once && does(state.entry)
    }) || makes_its_own_kind(exe)
}

/// Whether some machine may make another of its kind, perhaps by way of others.
fn makes_its_own_kind(exe: &Executable) -> bool {
    let n = exe.machines.len();
    let mut makes = vec![vec![false; n]; n];
    for (machine, makes) in exe.machines.ids().zip(&mut makes) {
        for fun in exe.functions_of(machine) {
            for op in &exe.code[fun.entry as usize..fun.end as usize] {
                if let Op::New { interface, .. } = *op
                    && let Some(made) = exe.interfaces[interface].machine
                {
                    makes[made.index()] = true;
                }
            }
        }
    }
    for via in 0..n {
        for from in 0..n {
            for to in 0..n {
                makes[from][to] |= makes[from][via] && makes[via][to];
            }
        }
    }
    (0..n).any(|machine| makes[machine][machine])
}
