//! The control states of a machine as a graph: which event leads where, what is deferred and ignored.

use allways_base::Idx;

use crate::Executable;
use crate::ir::{Action, ControlId, EventId, FunId, Op};

/// What makes a machine change its control state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cause {
    Entry,
    Exit,
    Event(EventId),
}

/// A transition from one control state to another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Transition {
    pub cause: Cause,
    pub target: ControlId,
}

/// What the code of functions may do, calls included.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Moves {
    /// Control states that it may go to, each once.
    pub targets: Vec<ControlId>,
    pub may_receive: bool,
}

/// What these functions may do with the control state of their machine.
pub fn moves(exe: &Executable, funs: impl IntoIterator<Item = FunId>) -> Moves {
    let mut open: Vec<FunId> = funs.into_iter().collect();
    let mut is_seen = vec![false; exe.funs.len()];
    let mut moves = Moves::default();
    while let Some(fun) = open.pop() {
        if std::mem::replace(&mut is_seen[fun.index()], true) {
            continue;
        }
        let fun = &exe.funs[fun];
        for op in &exe.code[fun.entry as usize..fun.end as usize] {
            match *op {
                Op::Call { fun, .. } => open.push(fun),
                Op::Goto { state, .. } => moves.targets.push(state),
                Op::Receive { .. } => moves.may_receive = true,
                _ => {}
            }
        }
    }
    moves.targets.sort_unstable();
    moves.targets.dedup();
    moves
}

/// All transitions out of a control state, in order.
pub fn transitions(exe: &Executable, state: ControlId) -> Vec<Transition> {
    let def = &exe.states[state];
    let mut found = Vec::new();
    let mut add = |cause, fun: Option<FunId>| {
        let targets = moves(exe, fun).targets;
        found.extend(targets.into_iter().map(|target| Transition { cause, target }));
    };
    add(Cause::Entry, def.entry);
    add(Cause::Exit, def.exit);
    for (event, action) in def.actions.iter_ids() {
        match *action {
            Action::Do(fun) => add(Cause::Event(event), Some(fun)),
            Action::Goto(_, fun) => add(Cause::Event(event), fun),
            Action::None | Action::Defer | Action::Ignore => {}
        }
    }
    for (event, action) in def.actions.iter_ids() {
        if let Action::Goto(target, _) = *action {
            found.push(Transition { cause: Cause::Event(event), target });
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
