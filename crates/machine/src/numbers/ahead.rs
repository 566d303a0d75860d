//! Which code a machine may still execute, as far as it begins to count from a constant.
//!
//! Backwards through all code, with control states, calls, transitions and creations; nothing is ever taken back. A set of classes is a
//! word: the classes that code from there on may give a constant which is then counted from, or a number of which nothing is known.

use allways_base::Idx;

use super::{Origin, Why};
use crate::Executable;
use crate::configuration::{After, Local, Pending, Status};
use crate::ir::{Action, FunId, InterfaceId, MachineId, Op};

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead {
    /// By op.
    ops: Vec<u64>,
    /// By control state: of a machine that rests there.
    rest: Vec<u64>,
    /// The same, and of what is done on entry.
    enter: Vec<u64>,
    /// By machine: of one that is made.
    made: Vec<u64>,
}

impl Ahead {
    pub fn new(exe: &Executable, seeds: &[(Origin, u8, Why)]) -> Self {
        let mut ahead = Ahead {
            ops: vec![0; exe.code.len()],
            rest: vec![0; exe.states.len()],
            enter: vec![0; exe.states.len()],
            made: vec![0; exe.machines.len()],
        };
        let mut own = vec![0; exe.code.len()];
        for &(origin, class, _) in seeds {
            match origin {
                Origin::Op(pc) => own[pc as usize] |= 1 << class,
                Origin::Field(machine) => ahead.made[machine.index()] |= 1 << class,
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for fun in exe.funs.iter().rev() {
                for pc in (fun.entry..fun.end).rev() {
                    let more = own[pc as usize] | ahead.from(exe, pc, fun.end);
                    changed |= join(&mut ahead.ops[pc as usize], more);
                }
            }
            for (at, state) in exe.states.iter().enumerate() {
                let begin = |fun: Option<FunId>| fun.map_or(0, |fun| ahead.function(exe, fun));
                let mut rest = begin(state.exit);
                for action in &state.actions {
                    rest |= match *action {
                        Action::None | Action::Defer | Action::Ignore => 0,
                        Action::Do(fun) => begin(Some(fun)),
                        Action::Goto(target, with) => begin(with) | ahead.enter[target.index()],
                    };
                }
                let enter = rest | begin(state.entry);
                changed |= join(&mut ahead.rest[at], rest);
                changed |= join(&mut ahead.enter[at], enter);
            }
            for (at, machine) in exe.machines.iter().enumerate() {
                let start = machine.start.map_or(0, |start| ahead.enter[start.index()]);
                changed |= join(&mut ahead.made[at], start);
            }
        }
        ahead
    }

    fn function(&self, exe: &Executable, fun: FunId) -> u64 {
        let def = &exe.funs[fun];
        if def.entry < def.end { self.ops[def.entry as usize] } else { 0 }
    }

    fn machine_of(&self, exe: &Executable, interface: InterfaceId) -> u64 {
        exe.interfaces[interface].machine.map_or(0, |machine| self.made[machine.index()])
    }

    /// What comes after an op, in its function and where that leads.
    fn from(&self, exe: &Executable, pc: u32, end: u32) -> u64 {
        let op = &exe.code[pc as usize];
        let next = if !op.ends() && pc + 1 < end { self.ops[pc as usize + 1] } else { 0 };
        next | match *op {
            Op::Jump { to } | Op::JumpIf { to, .. } | Op::JumpIfNot { to, .. } | Op::Next { end: to, .. } => {
                self.ops[to as usize]
            }
            Op::Call { fun, .. } => self.function(exe, fun),
            Op::Goto { state, .. } => self.enter[state.index()],
            Op::New { interface, .. } => {
                let creators = exe.interfaces.ids();
                let made = creators.map(|creator| self.machine_of(exe, exe.link(creator, interface)));
                made.fold(0, |all, made| all | made)
            }
            Op::Receive { table } => {
                let cases = exe.receives[table].cases.iter().flatten();
                cases.fold(0, |all, case| all | self.ops[case.to as usize])
            }
            // A raised event is handled in the control state at hand, which machines that run this have ahead anyway.
            _ => 0,
        }
    }

    /// Classes in which some kind of machine may always begin to count, wherever it rests. Such a class is never renumbered while a machine
    /// of that kind exists.
    pub fn always(&self, exe: &Executable) -> u64 {
        let is_made = |machine: MachineId| {
            let makes = |op: &Op| match *op {
                Op::New { interface, .. } => exe
                    .interfaces
                    .ids()
                    .any(|creator| exe.interfaces[exe.link(creator, interface)].machine == Some(machine)),
                _ => false,
            };
            exe.interfaces[exe.main].machine == Some(machine)
                || exe.monitors.iter().any(|monitor| monitor.machine == machine)
                || exe.code.iter().any(makes)
        };
        let mut always = 0;
        for machine in exe.machines.ids().filter(|&machine| is_made(machine)) {
            // A start state that does nothing but go elsewhere is no place to rest.
            let rests = exe.states.iter_ids().filter(|(_, state)| {
                let has_actions = state.actions.iter().any(|action| !matches!(action, Action::None));
                state.machine == machine && (has_actions || state.has_null)
            });
            always |= rests.map(|(number, _)| self.rest[number.index()]).reduce(|a, b| a & b).unwrap_or(0);
        }
        always
    }

    /// The classes that a machine, and those that it makes, may still begin to count in.
    pub fn of(&self, exe: &Executable, local: &Local) -> u64 {
        let status = match local.status {
            Status::Halted | Status::Pending(Pending::Fault(_)) => return 0,
            Status::Pending(Pending::Start) => self.made[local.machine.index()],
            Status::Pending(Pending::Create { interface, .. }) => self.machine_of(exe, interface),
            Status::Pending(Pending::Foreign { .. }) => u64::MAX,
            Status::Pending(Pending::Observe | Pending::Deliver { .. })
            | Status::Idle
            | Status::Blocked { .. } => 0,
        };
        let after = match local.after {
            After::Handler | After::Unhandled { .. } => 0,
            After::Exit { target, with, .. } => {
                self.enter[target.index()] | with.map_or(0, |fun| self.function(exe, fun))
            }
            After::With { target, .. } => self.enter[target.index()],
        };
        let frames = local.frames.iter().filter(|frame| (frame.pc as usize) < self.ops.len());
        let frames = frames.fold(0, |all, frame| all | self.ops[frame.pc as usize]);
        status | after | frames | self.rest[local.control.index()]
    }
}

fn join(known: &mut u64, more: u64) -> bool {
    let all = *known | more;
    std::mem::replace(known, all) != all
}
