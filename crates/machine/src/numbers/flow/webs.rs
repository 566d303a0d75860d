//! A place for every register and stretch of code in which it is live.

use allways_base::forest;

use super::{Flow, MAX_PLACES, NO_PLACE};
use crate::ir::{Op, OperandView};
use crate::liveness::{Access, accesses};

impl Flow<'_> {
    /// Makes a place of every register for each stretch of code in which it is live.
    pub(super) fn find_webs(&mut self) {
        let exe = self.exe;
        let mut n = 0;
        for fun in &exe.funs {
            for _ in fun.entry..fun.end {
                self.map.starts.push(n);
                n += fun.n_registers;
            }
        }
        if n as usize > 16 * MAX_PLACES {
            self.has_overflown = true;
            self.map.webs = vec![NO_PLACE; n as usize];
            return;
        }
        let mut parents: Vec<u32> = (0..n).collect();
        let mut written: Vec<u32> = Vec::new();
        for (number, fun) in exe.funs.iter_ids() {
            let is_live = |pc: u32, register: u32| exe.liveness.is_live(exe, number, pc, register);
            for pc in fun.entry..fun.end {
                let op = &exe.code[pc as usize];
                written.clear();
                accesses(exe, op, &mut |operand, access| {
                    if let (Access::Write, OperandView::Register(n)) = (access, operand.view()) {
                        written.push(n);
                    }
                });
                let starts = &self.map.starts;
                let mut join = |to: u32, param: Option<u32>| {
                    for register in 0..fun.n_registers {
                        if is_live(pc, register)
                            && is_live(to, register)
                            && !written.contains(&register)
                            && param != Some(register)
                        {
                            let a = forest::root(&mut parents, starts[pc as usize] + register);
                            let b = forest::root(&mut parents, starts[to as usize] + register);
                            parents[a as usize] = b;
                        }
                    }
                };
                if !op.ends() && pc + 1 < fun.end {
                    join(pc + 1, None);
                }
                match *op {
                    Op::Jump { to }
                    | Op::JumpIf { to, .. }
                    | Op::JumpIfNot { to, .. }
                    | Op::Next { end: to, .. } => join(to, None),
                    Op::Receive { table } => {
                        for case in exe.receives[table].cases.iter().flatten() {
                            join(case.to, case.param.map(|(param, _)| param));
                        }
                    }
                    _ => {}
                }
            }
        }
        self.map.webs = vec![NO_PLACE; n as usize];
        for (number, fun) in exe.funs.iter_ids() {
            for pc in fun.entry..fun.end {
                for register in 0..fun.n_registers {
                    if exe.liveness.is_live(exe, number, pc, register) {
                        let at = self.map.starts[pc as usize] + register;
                        let root = forest::root(&mut parents, at);
                        if self.map.webs[root as usize] == NO_PLACE {
                            self.map.webs[root as usize] = self.new_places(1);
                        }
                        self.map.webs[at as usize] = self.map.webs[root as usize];
                    }
                }
            }
        }
    }
}
