//! Whether machine garbage is worth collecting. How it is found and left out: [`super::symmetry`], which canonicalises what stays.
//!
//! Most programs make their machines once, when they start, and keep them: then there is nothing to collect, or so little that it does not
//! pay. A program that makes machines in the handlers of events may do so again and again, and has infinitely many configurations
//! unless those that are gone are left out.

use allways_machine::Executable;
use allways_machine::ir::{Action, Op};

/// Whether machines are made elsewhere than in entry functions of start states that are entered once, or a machine makes another of its kind.
pub(crate) fn may_repeat_creations(exe: &Executable) -> bool {
    let n = exe.funs.len();
    let mut makes = vec![false; n];
    let mut calls: Vec<Vec<u32>> = vec![Vec::new(); n];
    for (fun, def) in exe.funs.iter().enumerate() {
        for op in &exe.code[def.entry as usize..def.end as usize] {
            match op {
                Op::New { .. } => makes[fun] = true,
                Op::Call { fun: callee, .. } => calls[fun].push(*callee),
                _ => {}
            }
        }
    }
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for fun in 0..n {
            if !makes[fun] && calls[fun].iter().any(|&callee| makes[callee as usize]) {
                makes[fun] = true;
                changed = true;
            }
        }
    }
    let does = |fun: Option<u32>| fun.is_some_and(|fun| makes[fun as usize]);
    let is_entered_again = |state: u32| {
        let goes_there = |action: &Action| matches!(*action, Action::Goto(target, _) if target == state);
        exe.states.iter().any(|other| other.actions.iter().any(goes_there))
            || exe.code.iter().any(|op| matches!(*op, Op::Goto { state: target, .. } if target == state))
    };
    exe.states.iter().enumerate().any(|(number, state)| {
        let machine = &exe.machines[state.machine as usize];
        let is_start = machine.start == Some(number as u32);
        let in_handler = state.actions.iter().any(|action| match *action {
            Action::Do(fun) => makes[fun as usize],
            Action::Goto(_, fun) => does(fun),
            Action::None | Action::Defer | Action::Ignore => false,
        });
        let is_once = is_start && !is_entered_again(number as u32);
        in_handler || does(state.exit) || !is_once && does(state.entry)
    }) || makes_its_own_kind(exe)
}

/// Whether some machine may make another of its kind, perhaps by way of others.
fn makes_its_own_kind(exe: &Executable) -> bool {
    let n = exe.machines.len();
    let mut makes = vec![vec![false; n]; n];
    for (machine, makes) in makes.iter_mut().enumerate() {
        for fun in exe.functions_of(machine as u32) {
            for op in &exe.code[fun.entry as usize..fun.end as usize] {
                if let Op::New { interface, .. } = *op
                    && let Some(made) = exe.interfaces[interface as usize].machine
                {
                    makes[made as usize] = true;
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
