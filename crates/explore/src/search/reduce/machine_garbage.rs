//! Whether machine garbage is worth collecting. How it is found and left out: [`super::symmetry`], which canonicalises what stays.
//!
//! Most programs make their machines once, when they start, and keep them: then there is nothing to collect, or so little that it does not
//! pay. A program that makes machines in the handlers of events may do so again and again, and has infinitely many configurations
//! unless those that are gone are left out.

use std::collections::BTreeSet;

use allways_base::IndexVec;
use allways_machine::Executable;
use allways_machine::ir::{Action, ControlId, FunId, MachineId, Op};

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
    let mut is_entered_again: IndexVec<ControlId, bool> = exe.states.iter().map(|_| false).collect();
    for action in exe.states.iter().flat_map(|state| state.actions.iter()) {
        if let Action::Goto(target, _) = *action {
            is_entered_again[target] = true;
        }
    }
    for op in &exe.code {
        if let Op::Goto { state: target, .. } = *op {
            is_entered_again[target] = true;
        }
    }
    exe.states.iter_ids().any(|(number, state)| {
        let is_start = exe.machines[state.machine].start == Some(number);
        let in_handler = state.actions.iter().any(|action| match *action {
            Action::Do(fun) => makes[fun],
            Action::Goto(_, fun) => does(fun),
            Action::None | Action::Defer | Action::Ignore => false,
        });
        let is_once = is_start && !is_entered_again[number];
        in_handler || does(state.exit) || !is_once && does(state.entry)
    }) || makes_its_own_kind(exe)
}

/// Whether some machine may make another of its kind, perhaps through others: whether the graph of creations has a cycle.
fn makes_its_own_kind(exe: &Executable) -> bool {
    let mut made: IndexVec<MachineId, BTreeSet<MachineId>> =
        exe.machines.iter().map(|_| BTreeSet::new()).collect();
    for (machine, fun) in exe.functions_by_machine() {
        for op in &exe.code[fun.entry as usize..fun.end as usize] {
            if let Op::New { interface, .. } = *op {
                made[machine].extend(exe.interfaces[interface].machine);
            }
        }
    }
    // Kinds that nothing makes any more are taken away (Kahn 1962); what stays is made by a cycle.
    let mut n_makers: IndexVec<MachineId, usize> = exe.machines.iter().map(|_| 0).collect();
    for &kind in made.iter().flatten() {
        n_makers[kind] += 1;
    }
    let mut open: Vec<MachineId> = exe.machines.ids().filter(|&kind| n_makers[kind] == 0).collect();
    let mut n_left = exe.machines.len();
    while let Some(maker) = open.pop() {
        n_left -= 1;
        for &kind in &made[maker] {
            n_makers[kind] -= 1;
            if n_makers[kind] == 0 {
                open.push(kind);
            }
        }
    }
    n_left > 0
}
