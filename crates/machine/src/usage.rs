//! What code may still read: fields, payloads, the order of collections, the names of machines.
//!
//! The counterpart of [`crate::liveness`] for what outlives a handler. All of it errs on the side of "may". Found at the
//! first use, since only searches that compare configurations ask ([`Executable::usage`]).
//!
//! *Fields*: backwards through all code, functions by what is live when any caller goes on; a transition leads from the
//! exit function over the `with` function to the entry, and from there to rest in the control state, where any handler may
//! be next. *Payloads*: whether some handler of a machine takes the payload of an event. *Order*: whether a field that
//! holds a collection is only used so that the result does not depend on the order of its elements. *Names*: whether a text is
//! made of machines, other than for a message; such texts tell machines apart by more than equality.

use allways_base::{Idx, IndexVec};
use allways_p::hir::BinaryOp;

use crate::Executable;
use crate::broadcast::{self, Broadcast, BroadcastPrecondition};
use crate::configuration::{After, Local, Pending, Status};
use crate::ir::{Action, ControlId, EventId, FunDef, FunId, MachineId, Op, Operand, OperandView, Step};
use crate::liveness::{Access, accesses};
use crate::topology::Topology;
use crate::value::Kind;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// By op: fields that may be read from there on before they are written, as bits. Fields beyond 64 always are.
    live: Vec<u64>,
    /// The same by control state, for a machine at rest there.
    rest: Vec<u64>,
    n_events: usize,
    /// By machine and event.
    reads_payload: Vec<bool>,
    /// By control state: its entry takes a payload.
    entry_reads: Vec<bool>,
    /// By function: it takes a payload.
    fun_reads: Vec<bool>,
    /// By machine: fields whose order is never observed, and those where only `choose` does.
    unordered_fields: Vec<(u64, u64)>,
    /// The same where the order of broadcasts does not count.
    observed_in_any_order: Vec<(u64, u64)>,
    /// By machine: those broadcasts.
    broadcasts: Vec<Vec<Broadcast>>,
    broadcast_precondition: BroadcastPrecondition,
    /// The same of the registers of each function.
    unordered_registers: Vec<(u64, u64)>,
    names_in_texts: bool,
}

impl Usage {
    pub(crate) fn new(exe: &Executable) -> Self {
        let runs_in = runs_in(exe);
        let (live, rest) = Fields::new(exe, &runs_in).solve();
        let has_param = |fun: Option<FunId>| fun.is_some_and(|fun| !exe.funs[fun].params.is_empty());
        let (broadcasts, broadcast_precondition) = broadcasts(exe);
        let mut usage = Usage {
            live,
            rest,
            n_events: exe.n_events(),
            reads_payload: vec![false; exe.machines.len() * exe.n_events()],
            entry_reads: exe.states.iter().map(|state| has_param(state.entry)).collect(),
            fun_reads: exe.funs.iter().map(|fun| !fun.params.is_empty()).collect(),
            unordered_fields: unordered_fields(exe, &runs_in, &[]),
            observed_in_any_order: Vec::new(),
            broadcasts,
            broadcast_precondition,
            unordered_registers: unordered_registers(exe),
            names_in_texts: names_in_texts(exe),
        };
        usage.observed_in_any_order = unordered_fields(exe, &runs_in, &usage.broadcasts);
        for (at, state) in exe.states.iter_ids() {
            let row = state.machine.index() * exe.n_events();
            for (event, action) in state.actions.iter().enumerate() {
                usage.reads_payload[row + event] |= match *action {
                    Action::None | Action::Defer | Action::Ignore => false,
                    Action::Do(fun) => has_param(Some(fun)),
                    Action::Goto(target, with) => has_param(with) || usage.entry_reads[target.index()],
                };
            }
            for (fun, states) in runs_in.iter_ids() {
                if !states.contains(&at) {
                    continue;
                }
                let fun = &exe.funs[fun];
                for op in &exe.code[fun.entry as usize..fun.end as usize] {
                    if let Op::Receive { table } = *op {
                        for (event, case) in exe.receives[table].cases.iter().enumerate() {
                            usage.reads_payload[row + event] |= case.is_some_and(|case| case.param.is_some());
                        }
                    }
                }
            }
        }
        usage
    }

    /// Fields that may be read before they are written, as bits; those beyond 64 are not in it, and may be.
    pub fn live_fields(&self, local: &Local) -> u64 {
        match (local.status, local.frames.last()) {
            (Status::Pending(Pending::Start), _) => u64::MAX,
            (Status::Pending(Pending::Create { dst, .. }), Some(frame)) => {
                // What the reference is about to overwrite is dead.
                let written = match dst.view() {
                    OperandView::Field(n) => bit(n),
                    OperandView::Register(_) | OperandView::Const(_) => 0,
                };
                self.live[frame.pc as usize] & !written
            }
            (_, Some(frame)) => self.live[frame.pc as usize],
            (_, None) => self.rest[local.control.index()],
        }
    }

    /// The same for a machine at rest in a control state.
    pub fn live_at_rest(&self, control: ControlId) -> u64 {
        self.rest[control.index()]
    }

    /// Whether some handler of the machine takes the payload of an event.
    pub fn reads_payload(&self, machine: MachineId, event: EventId) -> bool {
        self.reads_payload[machine.index() * self.n_events + event.index()]
    }

    /// Whether what comes after the present function takes the payload that is kept for it.
    pub(crate) fn keeps_payload(&self, after: After) -> bool {
        match after {
            After::Handler | After::Unhandled { .. } => true,
            After::Exit { target, with, .. } => {
                self.entry_reads[target.index()] || with.is_some_and(|fun| self.fun_reads[fun.index()])
            }
            After::With { target, .. } => self.entry_reads[target.index()],
        }
    }

    /// The places in `local.registers` that may hold collections whose order is never observed; if asked for, broadcasts
    /// see none, but for a machine in the middle of one.
    pub fn unordered(
        &self,
        local: &Local,
        choose_counts: bool,
        broadcasts: bool,
    ) -> impl Iterator<Item = usize> {
        let pick =
            move |(always, but_for_choose): (u64, u64)| if choose_counts { always } else { but_for_choose };
        let bits = |bits: u64| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let at = left.trailing_zeros() as usize;
                left &= left.wrapping_sub(1);
                (at < 64).then_some(at)
            })
        };
        // A halted machine has no registers.
        let is_there = |place: &usize| *place < local.registers.len();
        let machine = local.machine.index();
        let mut fields = pick(self.unordered_fields[machine]);
        if broadcasts {
            let under_way = self.broadcasts[machine]
                .iter()
                .filter(|broadcast| local.frames.iter().any(|frame| broadcast.is_inside(frame.pc)));
            let under_way = under_way.fold(0, |fields, broadcast| fields | bit(broadcast.field));
            fields |= pick(self.observed_in_any_order[machine]) & !under_way;
        }
        let fields = bits(fields);
        let frames = local.frames.iter().enumerate().flat_map(move |(depth, frame)| {
            // A callee's window begins inside its caller's.
            let end =
                local.frames.get(depth + 1).map_or(local.registers.len(), |callee| callee.base as usize);
            let registers = bits(pick(self.unordered_registers[frame.fun.index()]));
            registers.map(|register| frame.base as usize + register).filter(move |&place| place < end)
        });
        fields.filter(is_there).chain(frames)
    }

    /// What has to be so that broadcasts see no order; `None` if there are none.
    pub fn broadcast_precondition(&self) -> Option<&BroadcastPrecondition> {
        self.broadcasts.iter().any(|known| !known.is_empty()).then_some(&self.broadcast_precondition)
    }

    /// Whether a text that is more than a message may name a machine.
    pub fn names_in_texts(&self) -> bool {
        self.names_in_texts
    }
}

/// For each function, the control states in which it may run.
pub(crate) fn runs_in(exe: &Executable) -> IndexVec<FunId, Vec<ControlId>> {
    let mut runs_in = IndexVec::from(vec![Vec::new(); exe.funs.len()]);
    for (at, state) in exe.states.iter_ids() {
        let mut open: Vec<FunId> = state.entry.into_iter().chain(state.exit).collect();
        for action in &state.actions {
            match *action {
                Action::Do(fun) | Action::Goto(_, Some(fun)) => open.push(fun),
                Action::None | Action::Defer | Action::Ignore | Action::Goto(_, None) => {}
            }
        }
        while let Some(fun) = open.pop() {
            if runs_in[fun].last() == Some(&at) {
                continue;
            }
            runs_in[fun].push(at);
            let fun = &exe.funs[fun];
            for op in &exe.code[fun.entry as usize..fun.end as usize] {
                if let Op::Call { fun, .. } = *op {
                    open.push(fun);
                }
            }
        }
    }
    runs_in
}

/// The machines whose states those are, by function.
pub(crate) fn machines_of(
    exe: &Executable,
    runs_in: &IndexVec<FunId, Vec<ControlId>>,
) -> IndexVec<FunId, Vec<MachineId>> {
    let machines = runs_in.iter().map(|states| {
        let mut machines: Vec<MachineId> = states.iter().map(|&state| exe.states[state].machine).collect();
        machines.sort_unstable();
        machines.dedup();
        machines
    });
    machines.collect()
}

/// The analysis of fields in progress.
struct Fields<'a> {
    exe: &'a Executable,
    runs_in: &'a IndexVec<FunId, Vec<ControlId>>,
    live: Vec<u64>,
    rest: Vec<u64>,
    /// By function: live when it has returned.
    returned: Vec<u64>,
    changed: bool,
}

impl<'a> Fields<'a> {
    fn new(exe: &'a Executable, runs_in: &'a IndexVec<FunId, Vec<ControlId>>) -> Self {
        Fields {
            exe,
            runs_in,
            live: vec![0; exe.code.len()],
            rest: vec![0; exe.states.len()],
            returned: vec![0; exe.funs.len()],
            changed: true,
        }
    }

    fn solve(mut self) -> (Vec<u64>, Vec<u64>) {
        while std::mem::take(&mut self.changed) {
            for state in self.exe.states.ids() {
                self.state(state);
            }
            for fun in self.exe.funs.ids().rev() {
                let def = &self.exe.funs[fun];
                for pc in (def.entry..def.end).rev() {
                    self.op(fun, pc);
                }
            }
        }
        (self.live, self.rest)
    }

    fn begin(&self, fun: FunId) -> u64 {
        self.live[self.exe.funs[fun].entry as usize]
    }

    fn enter(&self, state: ControlId) -> u64 {
        match self.exe.states[state].entry {
            Some(fun) => self.begin(fun),
            None => self.rest[state.index()],
        }
    }

    fn after_exit(&self, target: ControlId, with: Option<FunId>) -> u64 {
        with.map_or_else(|| self.enter(target), |fun| self.begin(fun))
    }

    fn leave(&self, state: ControlId, target: ControlId, with: Option<FunId>) -> u64 {
        match self.exe.states[state].exit {
            Some(fun) => self.begin(fun),
            None => self.after_exit(target, with),
        }
    }

    fn dispatch(&self, state: ControlId, event: EventId) -> u64 {
        let def = &self.exe.states[state];
        match def.actions[event] {
            Action::Do(fun) => self.begin(fun),
            Action::Goto(target, with) => self.leave(state, target, with),
            Action::None => def.exit.map_or(0, |fun| self.begin(fun)),
            Action::Defer | Action::Ignore => self.rest[state.index()],
        }
    }

    fn join(changed: &mut bool, known: &mut u64, more: u64) {
        if *known | more != *known {
            *known |= more;
            *changed = true;
        }
    }

    fn returns(&mut self, fun: FunId, live: u64) {
        Self::join(&mut self.changed, &mut self.returned[fun.index()], live);
    }

    fn state(&mut self, state: ControlId) {
        let exe = self.exe;
        let def = &exe.states[state];
        let mut rest = 0;
        for (event, action) in def.actions.iter_ids() {
            match *action {
                Action::Defer | Action::Ignore => {}
                Action::None | Action::Do(_) | Action::Goto(..) => rest |= self.dispatch(state, event),
            }
            match *action {
                Action::Do(fun) => self.returns(fun, self.rest[state.index()]),
                Action::Goto(target, with) => {
                    if let Some(with) = with {
                        self.returns(with, self.enter(target));
                    }
                    if let Some(exit) = def.exit {
                        self.returns(exit, self.after_exit(target, with));
                    }
                }
                Action::None | Action::Defer | Action::Ignore => {}
            }
        }
        if let Some(entry) = def.entry {
            self.returns(entry, self.rest[state.index()]);
        }
        Self::join(&mut self.changed, &mut self.rest[state.index()], rest);
    }

    fn op(&mut self, fun: FunId, pc: u32) {
        let exe = self.exe;
        let op = &exe.code[pc as usize];
        let next = |fields: &Self| fields.live[pc as usize + 1];
        let runs_in = self.runs_in;
        let here = &runs_in[fun];
        let mut live = match *op {
            Op::Jump { to } => self.live[to as usize],
            Op::JumpIf { to, .. } | Op::JumpIfNot { to, .. } | Op::Next { end: to, .. } => {
                next(self) | self.live[to as usize]
            }
            Op::Return { .. } => self.returned[fun.index()],
            Op::Fail { .. } | Op::Foreign { .. } => 0,
            Op::Goto { state: target, .. } => {
                for &state in here {
                    if let Some(exit) = exe.states[state].exit {
                        self.returns(exit, self.enter(target));
                    }
                }
                here.iter().fold(0, |live, &state| live | self.leave(state, target, None))
            }
            Op::Raise { event, .. } => {
                let known = match event.view() {
                    OperandView::Const(n) => exe.consts[n as usize].as_event(),
                    OperandView::Register(_) | OperandView::Field(_) => None,
                };
                let events: Vec<EventId> =
                    known.map_or_else(|| exe.events.ids().collect(), |event| vec![event]);
                let places = here.iter().flat_map(|&state| events.iter().map(move |&event| (state, event)));
                places.fold(0, |live, (state, event)| live | self.dispatch(state, event))
            }
            Op::Receive { table } => {
                let cases = exe.receives[table].cases.iter().flatten();
                let live = cases.fold(0, |live, case| live | self.live[case.to as usize]);
                here.iter().fold(live, |live, &state| live | self.dispatch(state, EventId::HALT))
            }
            Op::Call { fun: callee, dst, .. } => {
                let mut after = next(self);
                if let OperandView::Field(n) = dst.view() {
                    after &= !bit(n);
                }
                self.returns(callee, after);
                self.begin(callee)
            }
            _ => next(self),
        };
        accesses(exe, op, &mut |operand, access| {
            if let OperandView::Field(n) = operand.view() {
                match access {
                    Access::Read => live |= bit(n),
                    // What a call writes was not live after it already, and may be live in it.
                    Access::Write if matches!(op, Op::Call { .. }) => {}
                    Access::Write => live &= !bit(n),
                }
            }
        });
        Self::join(&mut self.changed, &mut self.live[pc as usize], live);
    }
}

/// Zero for fields that there are no bits for.
fn bit(field: u32) -> u64 {
    1u64.checked_shl(field).unwrap_or(0)
}

/// By machine: broadcasts whose order is never observed, and what has to be so.
fn broadcasts(exe: &Executable) -> (Vec<Vec<Broadcast>>, BroadcastPrecondition) {
    let found = broadcast::find(exe);
    let mut broadcast_precondition = BroadcastPrecondition::default();
    let mut unseen = vec![Vec::new(); exe.machines.len()];
    if !found.is_empty() {
        let topology = Topology::new(exe);
        for (machine, unseen) in exe.machines.ids().zip(&mut unseen) {
            let is_unseen = |known: &&Broadcast| {
                broadcast::is_unseen(exe, &topology, machine, known, &mut broadcast_precondition)
            };
            unseen.extend(found.iter().filter(is_unseen).cloned());
        }
    }
    (unseen, broadcast_precondition)
}

/// By machine: fields whose order only those broadcasts observe, and those where only `choose` does.
fn unordered_fields(
    exe: &Executable,
    runs_in: &IndexVec<FunId, Vec<ControlId>>,
    broadcasts: &[Vec<Broadcast>],
) -> Vec<(u64, u64)> {
    let mut unordered: Vec<(u64, u64)> = exe
        .machines
        .iter()
        .map(|machine| {
            let is_collection = |kind| matches!(kind, Some(Kind::Seq | Kind::Set | Kind::Map));
            let fields = machine.fields.iter().take(64).enumerate();
            let bits = fields
                .filter(|(_, (_, value))| is_collection(value.kind()))
                .fold(0, |bits, (at, _)| bits | 1 << at);
            (bits, bits)
        })
        .collect();
    for (fun, states) in exe.funs.iter().zip(runs_in) {
        let mut machines: Vec<MachineId> = states.iter().map(|&state| exe.states[state].machine).collect();
        machines.dedup();
        for machine in machines {
            let fields = &exe.machines[machine].fields;
            let kind = |operand: Operand| match operand.view() {
                OperandView::Field(n) => fields.get(n as usize).and_then(|(_, value)| value.kind()),
                OperandView::Register(_) | OperandView::Const(_) => None,
            };
            let (always, but_for_choose) = &mut unordered[machine.index()];
            let blind = broadcasts.get(machine.index());
            let is_blind = |pc: u32| blind.is_some_and(|known| known.iter().any(|known| known.reads == pc));
            for pc in (fun.entry..fun.end).filter(|&pc| !is_blind(pc)) {
                let op = &exe.code[pc as usize];
                order_seen(exe, op, &kind, &mut |operand, by_choose| {
                    if let OperandView::Field(n) = operand.view() {
                        *always &= !bit(n);
                        if !by_choose {
                            *but_for_choose &= !bit(n);
                        }
                    }
                });
            }
        }
    }
    unordered
}

/// By function, the same of its registers. What kind of collection they hold is not known, but the ops show it.
fn unordered_registers(exe: &Executable) -> Vec<(u64, u64)> {
    let unordered = |fun: &FunDef| {
        let all = 1u64.checked_shl(fun.n_registers).unwrap_or(0).wrapping_sub(1);
        let (mut always, mut but_for_choose) = (all, all);
        for op in &exe.code[fun.entry as usize..fun.end as usize] {
            order_seen(exe, op, &|_| None, &mut |operand, by_choose| {
                if let OperandView::Register(n) = operand.view() {
                    always &= !bit(n);
                    if !by_choose {
                        but_for_choose &= !bit(n);
                    }
                }
            });
        }
        (always, but_for_choose)
    };
    exe.funs.iter().map(unordered).collect()
}

/// Tells the variables whose order of elements an op may see, and whether it is `choose`. `kind` says which kind of
/// collection a variable holds, if that is known.
fn order_seen(
    exe: &Executable,
    op: &Op,
    kind: &dyn Fn(Operand) -> Option<Kind>,
    tell: &mut dyn FnMut(Operand, bool),
) {
    let is_map = |operand: Operand| kind(operand) == Some(Kind::Map);
    let is_set_or_map = |operand: Operand| matches!(kind(operand), Some(Kind::Set | Kind::Map));
    // Whether a change of part of a variable depends on the order of its elements. It does in a sequence, but for
    // insertions: wherever it goes, the elements are the same.
    let root_is_blind = |root: Operand, path: u32| {
        let steps = &exe.paths[path as usize];
        // An index that is the variable itself would be another use of it.
        if steps.contains(&Step::Index(root)) {
            return false;
        }
        match op {
            Op::Insert { .. } if steps.len() == 1 => true,
            Op::Add { .. } if steps.is_empty() => true,
            Op::Remove { .. } if steps.len() == 1 => is_set_or_map(root),
            _ => is_map(root),
        }
    };
    // The operand in which the op does not see the order.
    let blind: Option<Operand> = match *op {
        Op::Sizeof { src, .. } => Some(src),
        Op::Choose { src, .. } => return tell(src, true),
        Op::Binary { op: BinaryOp::In, a, b, .. } => Some(b).filter(|_| a != b),
        Op::Binary { op: BinaryOp::Eq | BinaryOp::Ne, a, b, .. } => {
            for operand in [a, b].into_iter().filter(|&operand| !is_set_or_map(operand)) {
                tell(operand, false);
            }
            return;
        }
        Op::Index { src, index, .. } => Some(src).filter(|&src| is_map(src) && index != src),
        Op::Store { root, path, src } | Op::Insert { root, path, src } | Op::Add { root, path, src } => {
            Some(root).filter(|&root| root_is_blind(root, path) && src != root)
        }
        Op::Remove { root, path } => Some(root).filter(|&root| root_is_blind(root, path)),
        _ => None,
    };
    accesses(exe, op, &mut |operand, access| {
        if access == Access::Read && Some(operand) != blind {
            tell(operand, false);
        }
    });
}

/// Whether code makes a text of a machine that is more than the message of a failed assertion.
fn names_in_texts(exe: &Executable) -> bool {
    exe.code.windows(2).any(|ops| match (ops[0], ops[1]) {
        (Op::Format { dst, template, .. }, next) => {
            exe.templates[template].has_machines && next != Op::Fail { message: dst }
        }
        _ => false,
    })
}
