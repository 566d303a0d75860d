//! Settled monitors: those that nothing they hear changes any more.
//!
//! A control state of a monitor is *settled* if whatever is heard there is ignored, unhandled, or handled by code that neither
//! writes a field, nor changes the state, nor raises. A monitor in such a state stays as it is for ever: what it says of a
//! message depends on the message alone. So it does not matter in which order two messages are heard, and a step that it hears does not
//! touch it.

use crate::Executable;
use crate::ir::{Action, FunId, Op, Operand, OperandView};

/// By control state; those of machines are not.
pub(super) fn settled(exe: &Executable) -> Vec<bool> {
    let is_settled = |action: &Action| match *action {
        Action::None | Action::Ignore => true,
        Action::Do(fun) => leaves_alone(exe, fun),
        Action::Defer | Action::Goto(..) => false,
    };
    let states = exe.states.iter();
    states
        .map(|state| exe.machines[state.machine].is_monitor && state.actions.iter().all(is_settled))
        .collect()
}

/// Whether a function and all that it calls changes nothing but registers.
fn leaves_alone(exe: &Executable, fun: FunId) -> bool {
    let mut known = vec![fun];
    let mut at = 0;
    while let Some(&fun) = known.get(at) {
        at += 1;
        let def = &exe.funs[fun];
        for op in &exe.code[def.entry as usize..def.end as usize] {
            if !is_local(op) {
                return false;
            }
            if let Op::Call { fun, .. } = *op
                && !known.contains(&fun)
            {
                known.push(fun);
            }
        }
    }
    true
}

fn is_local(op: &Op) -> bool {
    let is_register = |operand: Operand| match operand.view() {
        OperandView::Register(_) => true,
        OperandView::Field(_) | OperandView::Const(_) => false,
    };
    match *op {
        Op::Move { dst, .. }
        | Op::Binary { dst, .. }
        | Op::Not { dst, .. }
        | Op::Neg { dst, .. }
        | Op::Tuple { dst, .. }
        | Op::Named { dst, .. }
        | Op::Part { dst, .. }
        | Op::Field { dst, .. }
        | Op::Index { dst, .. }
        | Op::Keys { dst, .. }
        | Op::Values { dst, .. }
        | Op::Sizeof { dst, .. }
        | Op::Cast { dst, .. }
        | Op::ToInt { dst, .. }
        | Op::ToFloat { dst, .. }
        | Op::ToPermission { dst, .. }
        | Op::Format { dst, .. }
        | Op::FormatForPrint { dst, .. }
        | Op::This { dst }
        | Op::Next { dst, .. }
        | Op::Call { dst, .. } => is_register(dst),
        Op::Store { root, .. } | Op::Insert { root, .. } | Op::Add { root, .. } | Op::Remove { root, .. } => {
            is_register(root)
        }
        Op::Jump { .. }
        | Op::JumpIf { .. }
        | Op::JumpIfNot { .. }
        | Op::Return { .. }
        | Op::Fail { .. }
        | Op::Print { .. }
        | Op::PrintFormat { .. } => true,
        // Monitors make no choices, and send to no machine.
        Op::Flip { .. }
        | Op::Choose { .. }
        | Op::Send { .. }
        | Op::Announce { .. }
        | Op::New { .. }
        | Op::Raise { .. }
        | Op::Goto { .. }
        | Op::Receive { .. }
        | Op::Foreign { .. } => false,
    }
}
