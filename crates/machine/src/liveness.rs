//! Which registers the code may still read.
//!
//! A machine that waits in the middle of a function has registers left from work that is done. They would distinguish
//! configurations that behave the same, so [`Liveness::clear_dead`] sets them to null, and the byte encoding
//! writes them as null. Needs: verified code. Preserves: every property; only what is never read changes.

use allways_base::Idx;

use crate::Executable;
use crate::configuration::{Local, Pending, Status};
use crate::ir::{FunDef, FunId, Op, Operand, OperandView, Step};
use crate::value::Value;

/// For each op, the registers that may be read from there on before they are written.
#[derive(Clone, Debug, Default)]
pub struct Liveness {
    /// For each function, where its words begin and how many each op has.
    functions: Vec<(u32, u32)>,
    words: Vec<u64>,
}

impl Liveness {
    pub(crate) fn new(exe: &Executable) -> Self {
        let mut liveness = Liveness::default();
        for fun in &exe.funs {
            let width = fun.n_registers.div_ceil(64);
            liveness.functions.push((liveness.words.len() as u32, width));
            let solved = solve(exe, fun, width as usize);
            liveness.words.extend_from_slice(&solved);
        }
        liveness
    }

    #[inline]
    pub fn is_live(&self, exe: &Executable, fun: FunId, pc: u32, register: u32) -> bool {
        let (start, width) = self.functions[fun.index()];
        let at = start + (pc - exe.funs[fun].entry) * width + register / 64;
        self.words[at as usize] >> (register % 64) & 1 == 1
    }

    /// The places in `local.registers` that are dead.
    pub fn dead<'a>(&'a self, exe: &'a Executable, local: &'a Local) -> impl Iterator<Item = usize> + 'a {
        local.frames.iter().enumerate().flat_map(move |(depth, frame)| {
            // A callee's window begins inside its caller's.
            let callee = local.frames.get(depth + 1);
            let end = callee.map_or(local.registers.len(), |callee| callee.base as usize);
            // What a result is about to overwrite is dead.
            let written = match (callee, local.status) {
                (Some(callee), _) => Some(callee.dst),
                (None, Status::Pending(Pending::Create { dst, .. })) => Some(dst),
                (None, _) => None,
            };
            (frame.base as usize..end).filter(move |&place| {
                let register = place as u32 - frame.base;
                written == Some(Operand::register(register))
                    || !self.is_live(exe, frame.fun, frame.pc, register)
            })
        })
    }

    /// Sets the registers that will not be read again to null.
    pub fn clear_dead(&self, exe: &Executable, local: &mut Local) {
        let dead: Vec<usize> = self.dead(exe, local).collect();
        for place in dead {
            local.registers[place] = Value::NULL;
        }
    }
}

fn solve(exe: &Executable, fun: &FunDef, width: usize) -> Vec<u64> {
    let ops = &exe.code[fun.entry as usize..fun.end as usize];
    let mut live = vec![0; ops.len() * width];
    let mut now = vec![0; width];
    let mut changed = true;
    while changed {
        changed = false;
        for (at, op) in ops.iter().enumerate().rev() {
            now.fill(0);
            let join = |now: &mut [u64], pc: u32| {
                let other = (pc - fun.entry) as usize * width;
                for (word, &more) in now.iter_mut().zip(&live[other..other + width]) {
                    *word |= more;
                }
            };
            if !op.ends() {
                join(&mut now, fun.entry + at as u32 + 1);
            }
            match *op {
                Op::Jump { to }
                | Op::JumpIf { to, .. }
                | Op::JumpIfNot { to, .. }
                | Op::Next { end: to, .. } => join(&mut now, to),
                Op::Receive { table } => {
                    for case in exe.receives[table].cases.iter().flatten() {
                        let mut from_case = vec![0; width];
                        join(&mut from_case, case.to);
                        if let Some((param, _)) = case.param {
                            from_case[param as usize / 64] &= !(1 << (param % 64));
                        }
                        for (word, more) in now.iter_mut().zip(from_case) {
                            *word |= more;
                        }
                    }
                }
                _ => {}
            }
            transfer(exe, op, &mut now);
            let known = &mut live[at * width..(at + 1) * width];
            if *known != *now {
                known.copy_from_slice(&now);
                changed = true;
            }
        }
    }
    live
}

/// From what is live after an op to what is live before it.
fn transfer(exe: &Executable, op: &Op, live: &mut [u64]) {
    accesses(exe, op, &mut |operand, access| {
        if let OperandView::Register(n) = operand.view() {
            let bit = 1 << (n % 64);
            match access {
                Access::Read => live[n as usize / 64] |= bit,
                Access::Write => live[n as usize / 64] &= !bit,
            }
        }
    });
}

/// What an op reads, and what it may write: all that its effect on single values depends on.
pub fn reads_and_writes(exe: &Executable, op: &Op) -> (Vec<Operand>, Vec<Operand>) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    accesses(exe, op, &mut |operand, access| match access {
        Access::Read if !reads.contains(&operand) => reads.push(operand),
        Access::Read => {}
        Access::Write => writes.push(operand),
    });
    match *op {
        Op::Store { root, .. } | Op::Insert { root, .. } | Op::Add { root, .. } | Op::Remove { root, .. } => {
            writes.push(root);
        }
        Op::Next { dst, iter, .. } => {
            writes.extend([dst, Operand::register(iter), Operand::register(iter + 1)]);
        }
        _ => {}
    }
    (reads, writes)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Read,
    /// On every path through the op.
    Write,
}

/// Reports what an op writes, then what it reads. Jumps, and what a called function does, are not in it; nor is what is
/// only printed, since that does not distinguish configurations.
pub(crate) fn accesses(exe: &Executable, op: &Op, tell: &mut dyn FnMut(Operand, Access)) {
    let write = |tell: &mut dyn FnMut(Operand, Access), operand: Operand| tell(operand, Access::Write);
    let read = |tell: &mut dyn FnMut(Operand, Access), operand: Operand| tell(operand, Access::Read);
    let row = |tell: &mut dyn FnMut(Operand, Access), first: u32, n: usize| {
        for register in first..first + n as u32 {
            tell(Operand::register(register), Access::Read);
        }
    };
    let path = |tell: &mut dyn FnMut(Operand, Access), path: u32| {
        for step in &exe.paths[path as usize] {
            if let Step::Index(index) = *step {
                tell(index, Access::Read);
            }
        }
    };
    match *op {
        Op::Move { dst, src }
        | Op::Not { dst, src }
        | Op::Neg { dst, src }
        | Op::Part { dst, src, .. }
        | Op::Field { dst, src, .. }
        | Op::Keys { dst, src }
        | Op::Values { dst, src }
        | Op::Sizeof { dst, src }
        | Op::Cast { dst, src, .. }
        | Op::ToInt { dst, src }
        | Op::ToFloat { dst, src }
        | Op::ToPermission { dst, src, .. }
        | Op::Choose { dst, src }
        | Op::New { dst, payload: src, .. } => {
            write(tell, dst);
            read(tell, src);
        }
        Op::Binary { dst, a, b, .. } | Op::Index { dst, src: a, index: b } => {
            write(tell, dst);
            read(tell, a);
            read(tell, b);
        }
        Op::Tuple { dst, first, n } => {
            write(tell, dst);
            row(tell, first, n as usize);
        }
        Op::Named { dst, first, shape } => {
            write(tell, dst);
            row(tell, first, exe.shapes[shape].len());
        }
        Op::Format { dst, template, first } => {
            write(tell, dst);
            row(tell, first, exe.templates[template].n_args as usize);
        }
        Op::This { dst } | Op::Flip { dst, .. } => write(tell, dst),
        Op::JumpIf { cond, .. } | Op::JumpIfNot { cond, .. } => read(tell, cond),
        // The destination keeps its value when the loop ends, so it is not written on all paths.
        Op::Next { iter, .. } => row(tell, iter, 2),
        Op::Call { dst, fun, first } => {
            write(tell, dst);
            row(tell, first, exe.funs[fun].params.len());
        }
        Op::Return { src } | Op::Fail { message: src } => read(tell, src),
        // What is only printed does not distinguish configurations.
        Op::FormatForPrint { dst, .. } => write(tell, dst),
        Op::Print { .. } | Op::PrintFormat { .. } => {}
        Op::Store { root, path: steps, src }
        | Op::Insert { root, path: steps, src }
        | Op::Add { root, path: steps, src } => {
            read(tell, root);
            read(tell, src);
            path(tell, steps);
        }
        Op::Remove { root, path: steps } => {
            read(tell, root);
            path(tell, steps);
        }
        Op::Send { target, event, payload } => {
            read(tell, target);
            read(tell, event);
            read(tell, payload);
        }
        Op::Announce { event, payload } | Op::Raise { event, payload } => {
            read(tell, event);
            read(tell, payload);
        }
        Op::Goto { payload, .. } => read(tell, payload),
        Op::Jump { .. } | Op::Receive { .. } | Op::Foreign { .. } => {}
    }
}
