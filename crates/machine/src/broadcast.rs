//! Broadcasts: loops that send to every element of a field, and whose order is never observed.
//!
//! A machine that sends something to all its peers goes through a collection of them, and so sees its order. But the sends of
//! such a loop are all made, whatever happens meanwhile, and if no other machine ever sends to these peers, no monitor hears of it, and they do
//! nothing by themselves, then each send commutes with everything that others do, and so with the other sends of the loop. The
//! collection in any other order leads to the same local states of all others, the same faults and the same ends.
//!
//! Two shapes are known: `i = 0; while (i < sizeof(c)) { send c[i], ...; i = i + 1; }` and `foreach (x in c) send x, ...`, where what
//! is sent is made in the loop from what the loop does not change. Which others may send to the peers is known from the [`Topology`], which
//! also has machines that are never made. So it is taken for granted that there are no such machines, and that there is one of the kind
//! that tells; a search has to check whether that is so ([`BroadcastPrecondition`]), and up to the first step that shows the contrary it is.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use allways_p::hir::BinaryOp;

use crate::Executable;
use crate::ir::{FunDef, FunId, InterfaceId, MachineId, Op, Operand, OperandView};
use crate::liveness::{Access, accesses};
use crate::topology::{SiteId, Target, Topology};
use crate::value::Value;

/// A loop that sends to every element of a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Broadcast {
    fun: FunId,
    pub field: u32,
    /// The op that sees the order of the field.
    pub reads: u32,
    /// The op that sends.
    send: u32,
    /// A function whose next op is one of these is in the middle of the field, and its order matters. None if the loop has a copy.
    pub inside: Option<RangeInclusive<u32>>,
}

impl Broadcast {
    /// Whether a function that stands there is in the middle of the field.
    pub fn is_inside(&self, pc: u32) -> bool {
        self.inside.as_ref().is_some_and(|inside| inside.contains(&pc))
    }
}

/// Loops of a known shape.
pub(crate) fn find(exe: &Executable) -> Vec<Broadcast> {
    let mut found = Vec::new();
    for (number, fun) in exe.funs.iter_ids() {
        for head in fun.entry + 1..fun.end {
            found.extend(counted(exe, number, fun, head));
            found.extend(foreach(exe, number, fun, head));
        }
    }
    found
}

/// `i = 0; while (i < sizeof(c)) { send c[i], ...; i = i + 1; }`, by the first op after the assignment.
fn counted(exe: &Executable, number: FunId, fun: &FunDef, head: u32) -> Option<Broadcast> {
    let op = |pc: u32| (pc < fun.end).then(|| exe.code[pc as usize]);
    let Op::Sizeof { dst: size, src } = op(head)? else { return None };
    let OperandView::Field(field) = src.view() else { return None };
    let Op::Binary { op: BinaryOp::Lt, dst: is_less, a: counter, b } = op(head + 1)? else { return None };
    let Op::JumpIfNot { cond, to: exit } = op(head + 2)? else { return None };
    let is_register = |operand: Operand| matches!(operand.view(), OperandView::Register(_));
    let in_place = [size, is_less, counter].into_iter().all(is_register);
    if !in_place || b != size || cond != is_less || counter == size || counter == is_less {
        return None;
    }
    if !starts_at_zero(exe, head - 1, counter) {
        return None;
    }
    // The body, up to where the counter grows.
    let is_end = |op: Op| matches!(op, Op::Binary { op: BinaryOp::Add, dst, .. } if dst == counter);
    let end = (head + 3..fun.end).find(|&pc| is_end(exe.code[pc as usize]))?;
    let Op::Binary { a, b, .. } = op(end)? else { return None };
    let OperandView::Const(one) = b.view() else { return None };
    if a != counter
        || Some(exe.consts[one as usize]) != Value::small_int(1)
        || op(end + 1)? != (Op::Jump { to: head })
    {
        return None;
    }
    let is_read = |pc: &u32| matches!(exe.code[*pc as usize], Op::Index { src: from, index, .. } if from == src && index == counter);
    let reads = (head + 3..end).find(is_read)?;
    let mut body: Vec<u32> = (head + 3..end).collect();
    body.retain(|&pc| pc != reads);
    let Op::Index { dst: element, .. } = op(reads)? else { return None };
    if element == counter {
        return None;
    }
    let send = sends_alike(exe, number, (&body, reads), element, counter, exit)?;
    // A jump in from elsewhere has another counter.
    let is_alone = jumps(exe, fun).all(|(from, to)| !(head..=end + 1).contains(&to) || from == end + 1);
    is_alone.then(|| Broadcast { fun: number, field, reads, send, inside: Some(head + 1..=end + 1) })
}

/// `foreach (x in c) send x, ...`, by its first op after the copy.
fn foreach(exe: &Executable, number: FunId, fun: &FunDef, zero: u32) -> Option<Broadcast> {
    let op = |pc: u32| (pc < fun.end).then(|| exe.code[pc as usize]);
    let Op::Move { dst: copy, src } = op(zero - 1)? else { return None };
    let OperandView::Field(field) = src.view() else { return None };
    let head = zero + 1;
    let Op::Next { dst: element, iter, end: exit } = op(head)? else { return None };
    let position = Operand::register(iter + 1);
    if copy != Operand::register(iter) || !starts_at_zero(exe, zero, position) {
        return None;
    }
    let end = (head + 1..fun.end).find(|&pc| exe.code[pc as usize] == Op::Jump { to: head })?;
    let body: Vec<u32> = (head + 1..end).collect();
    let send = sends_alike(exe, number, (&body, head), element, position, exit)?;
    let changes_copy = body.iter().any(|&pc| writes(exe, pc, copy));
    if element == copy || element == position || exe.liveness.is_live(exe, number, exit, iter) {
        return None;
    }
    let is_alone = jumps(exe, fun).all(|(from, to)| !(zero..=end).contains(&to) || from == end);
    (is_alone && !changes_copy).then_some(Broadcast {
        fun: number,
        field,
        reads: zero - 1,
        send,
        inside: None,
    })
}

fn starts_at_zero(exe: &Executable, pc: u32, counter: Operand) -> bool {
    match exe.code[pc as usize] {
        Op::Move { dst, src } if dst == counter => match src.view() {
            OperandView::Const(zero) => exe.consts[zero as usize] == Value::ZERO,
            OperandView::Register(_) | OperandView::Field(_) => false,
        },
        _ => false,
    }
}

fn writes(exe: &Executable, pc: u32, operand: Operand) -> bool {
    let mut writes = false;
    accesses(exe, &exe.code[pc as usize], &mut |other, access| {
        writes |= access == Access::Write && other == operand;
    });
    writes
}

/// The op by which a straight body sends, once, to the element that `reads` gives it, something that depends on the element alone. Nothing
/// that it leaves behind is used after the loop.
fn sends_alike(
    exe: &Executable,
    fun: FunId,
    (body, reads): (&[u32], u32),
    element: Operand,
    counter: Operand,
    exit: u32,
) -> Option<u32> {
    let mut send = None;
    let mut written: Vec<Operand> = vec![element];
    let mut made: Vec<Operand> =
        if body.first().is_none_or(|&first| reads < first) { vec![element] } else { Vec::new() };
    for &pc in body {
        let op = &exe.code[pc as usize];
        accesses(exe, op, &mut |operand, access| {
            if access == Access::Write && !written.contains(&operand) {
                written.push(operand);
            }
        });
    }
    for &pc in body {
        if pc > reads && !made.contains(&element) {
            made.push(element);
        }
        let op = &exe.code[pc as usize];
        match *op {
            Op::Send { target, .. } if target == element && send.is_none() => send = Some(pc),
            // These change nothing else, and wait for no message.
            Op::Move { .. }
            | Op::This { .. }
            | Op::Tuple { .. }
            | Op::Named { .. }
            | Op::Part { .. }
            | Op::Field { .. }
            | Op::Cast { .. }
            | Op::ToPermission { .. } => {}
            _ => return None,
        }
        let mut is_fine = true;
        accesses(exe, op, &mut |operand, access| match access {
            // What another round of the loop has left behind is not known.
            Access::Read => {
                is_fine &= operand != counter && (!written.contains(&operand) || made.contains(&operand))
            }
            Access::Write => {
                is_fine &= matches!(operand.view(), OperandView::Register(_))
                    && operand != counter
                    && operand != element;
            }
        });
        if !is_fine {
            return None;
        }
        accesses(exe, op, &mut |operand, access| {
            if access == Access::Write {
                made.push(operand);
            }
        });
    }
    let is_left = |operand: &Operand| match operand.view() {
        OperandView::Register(n) => exe.liveness.is_live(exe, fun, exit, n),
        OperandView::Field(_) | OperandView::Const(_) => true,
    };
    // It comes after `reads`, since it reads what is made there.
    send.filter(|_| !written.iter().any(is_left))
}

/// From where to where code of a function jumps.
fn jumps<'a>(exe: &'a Executable, fun: &'a FunDef) -> impl Iterator<Item = (u32, u32)> + 'a {
    (fun.entry..fun.end).flat_map(move |pc| {
        let to: Vec<u32> = match exe.code[pc as usize] {
            Op::Jump { to } | Op::JumpIf { to, .. } | Op::JumpIfNot { to, .. } | Op::Next { end: to, .. } => {
                vec![to]
            }
            Op::Receive { table } => exe.receives[table].cases.iter().flatten().map(|case| case.to).collect(),
            _ => Vec::new(),
        };
        to.into_iter().map(move |to| (pc, to))
    })
}

/// The conditions under which the order is not observable. A search checks them as it runs.
#[derive(Clone, Default, Debug)]
pub struct BroadcastPrecondition {
    /// Interfaces of which no machine is ever made.
    pub absent: BTreeSet<InterfaceId>,
    /// Those of which one machine is made at most.
    pub single: BTreeSet<InterfaceId>,
}

/// Whether the order in which a machine sends in the loop is never observed, if `precondition` is as it says then.
pub(crate) fn is_unseen(
    exe: &Executable,
    topology: &Topology,
    machine: MachineId,
    broadcast: &Broadcast,
    precondition: &mut BroadcastPrecondition,
) -> bool {
    let sites = topology.sites();
    let mut needs = precondition.clone();
    let mut is_made = false;
    for from in sites.ids().filter(|&site| sites[site].machine == machine) {
        let interface = sites[from].interface;
        // The main machine is not seen to be made, so a second of its kind would pass for the only one.
        let is_mains = interface == sites[SiteId::MAIN].interface;
        if is_mains && sites.iter().skip(1).any(|site| site.interface == interface) {
            return false;
        }
        for to in topology.targets(from, broadcast.send) {
            is_made = true;
            needs.single.insert(interface);
            let peer = sites[to];
            // A machine that acts on an empty inbox may do so until the message arrives.
            if peer.interface == interface
                || exe.states.iter().any(|state| state.machine == peer.machine && state.has_null)
            {
                return false;
            }
            for (sender, _, events) in topology.edges().filter(|edge| edge.1 == Target::Site(to)) {
                let other = sites[sender].interface;
                if other != interface {
                    // Main exists, and no machine creates it. That the peers are there would be seen, but then no loop has an
                    // order, this one or another; so also where a machine sends to itself and others answer it.
                    if sender == SiteId::MAIN || other == peer.interface {
                        return false;
                    }
                    needs.absent.insert(other);
                } else if events.iter().any(|&event| !exe.observers(interface, event).is_empty()) {
                    return false;
                }
            }
        }
    }
    if is_made {
        *precondition = needs;
    }
    is_made
}
