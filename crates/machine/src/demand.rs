//! How much of a value code may ever read: which parts of tuples, which elements, whether their order.
//!
//! The counterpart of [`crate::usage`] for the inside of values. For each register, field and waiting payload a *demand*: a
//! tree with the form of the values that are there. What no demand reaches can be left out, and collections of which no
//! demand sees the order can be sorted; then code does the same, and leaves behind what it would have, up to demands.
//!
//! Backwards: what is used of the result of an op is used of its operands, and what the op does itself with an operand
//! is added. Registers by op, since they are used again for other things; fields and payloads all through. A place that is only *kept* must have a value of the same outermost class, since
//! that is checked, but the content does not matter. Texts of failed assertions are for people, and they see a run that was
//! replayed, so what goes into them counts as unused. All of it errs on the side of "may".

use allways_base::{Idx, IndexVec, Symbol};
use allways_p::hir::BinaryOp;
use rustc_hash::FxHashMap;

use crate::Executable;
use crate::ir::{AccessId, Action, ControlId, EventId, FunId, MachineId, Op, Operand, OperandView, Step};
use crate::liveness::{Access, accesses};
use crate::usage::{machines_of, runs_in};
use crate::value::Kind;

/// Demands that are deeper are for everything.
const MAX_DEPTH: usize = 8;

/// Number of a demand in [`Demands::nodes`].
pub type DemandId = u32;

/// Nothing of the value is used.
pub const NOTHING: DemandId = 0;
/// Everything may be.
pub const EVERYTHING: DemandId = 1;

/// One part of a tuple, by place or by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    Place(u32),
    Name(Symbol),
}

/// What is used of a value that is neither left out nor needed as it is.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Demand {
    pub parts: Vec<(Part, DemandId)>,
    /// Of each element of a sequence and each value of a map. Elements of sets and keys are always needed.
    pub elements: DemandId,
    /// Code may see the order of elements.
    pub order: bool,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Demands {
    nodes: Vec<Demand>,
    n_events: usize,
    /// By machine: its fields.
    fields: IndexVec<MachineId, Vec<DemandId>>,
    /// By op: where the registers of its function begin in `registers`, before the op.
    starts: Vec<u32>,
    registers: Vec<DemandId>,
    /// By machine and event.
    payloads: Vec<DemandId>,
    /// By control state: the parameter of its entry.
    entries: IndexVec<ControlId, DemandId>,
    /// By target and `with` function of transitions: what these read of the payload.
    transitions: FxHashMap<(ControlId, FunId), DemandId>,
}

impl Demands {
    pub(crate) fn new(exe: &Executable) -> Self {
        let runs_in = runs_in(exe);
        let solved = Solver::new(exe, &runs_in).solve();
        let mut demands = Demands { n_events: exe.n_events(), ..Demands::default() };
        demands.nodes = vec![Demand::default(); 2];
        let ids: Vec<DemandId> = solved.demands.iter().map(|tree| demands.intern(tree)).collect();
        let fields = exe.machines.iter().zip(&solved.fields);
        demands.fields =
            fields.map(|(machine, &start)| ids[start..start + machine.fields.len()].to_vec()).collect();
        for before in &solved.registers {
            demands.starts.push(demands.registers.len() as u32);
            for tree in before {
                let demand = demands.intern(tree);
                demands.registers.push(demand);
            }
        }
        demands.starts.push(demands.registers.len() as u32);
        let n_payloads = exe.machines.len() * exe.n_events();
        demands.payloads = ids[solved.payloads..solved.payloads + n_payloads].to_vec();
        let param = |fun: Option<FunId>| match fun {
            Some(fun) => solved.param(exe, fun),
            None => Tree::default(),
        };
        demands.entries = exe.states.iter().map(|state| demands.intern(&param(state.entry))).collect();
        for action in exe.states.iter().flat_map(|state| &state.actions) {
            if let Action::Goto(target, Some(with)) = *action {
                let mut both = param(Some(with));
                both.join(&param(exe.states[target].entry), MAX_DEPTH);
                let demand = demands.intern(&both);
                demands.transitions.insert((target, with), demand);
            }
        }
        demands
    }

    /// What is used, of a demand that is not [`EVERYTHING`].
    pub fn node(&self, id: DemandId) -> &Demand {
        &self.nodes[id as usize]
    }

    pub fn field(&self, machine: MachineId, field: usize) -> DemandId {
        self.fields[machine].get(field).copied().unwrap_or(EVERYTHING)
    }

    /// Of a register, before an op of its function.
    pub fn register(&self, pc: u32, register: usize) -> DemandId {
        let row = self.starts[pc as usize] as usize..self.starts[pc as usize + 1] as usize;
        self.registers[row].get(register).copied().unwrap_or(EVERYTHING)
    }

    /// Of the payload of an event that waits in the inbox of a machine.
    pub fn payload(&self, machine: MachineId, event: EventId) -> DemandId {
        self.payloads[machine.index() * self.n_events + event.index()]
    }

    /// Of a payload that is kept for the entry of a control state, and for a function before that.
    pub fn transition(&self, target: ControlId, with: Option<FunId>) -> DemandId {
        match with {
            None => self.entries[target],
            Some(with) => self.transitions.get(&(target, with)).copied().unwrap_or(EVERYTHING),
        }
    }

    fn intern(&mut self, tree: &Tree) -> DemandId {
        if !tree.is_kept {
            return NOTHING;
        }
        if tree.is_all {
            return EVERYTHING;
        }
        let parts = tree.parts.iter().map(|(part, tree)| (*part, self.intern(tree))).collect();
        let elements = tree.elements.as_ref().map_or(NOTHING, |tree| self.intern(tree));
        let node = Demand { parts, elements, order: tree.order };
        let known = self.nodes[2..].iter().position(|known| *known == node);
        known.map_or_else(
            || {
                self.nodes.push(node.clone());
                self.nodes.len() as DemandId - 1
            },
            |at| at as DemandId + 2,
        )
    }
}

/// A demand under construction.
#[derive(Clone, PartialEq, Default, Debug)]
struct Tree {
    is_kept: bool,
    is_all: bool,
    order: bool,
    parts: Vec<(Part, Tree)>,
    elements: Option<Box<Tree>>,
}

impl Tree {
    fn all() -> Tree {
        Tree { is_kept: true, is_all: true, ..Tree::default() }
    }

    fn kept(mut self) -> Tree {
        self.is_kept = true;
        self
    }

    fn of_part(part: Part, tree: Tree) -> Tree {
        Tree { is_kept: true, parts: vec![(part, tree)], ..Tree::default() }
    }

    fn of_elements(tree: Tree, order: bool) -> Tree {
        Tree { is_kept: true, order, elements: Some(Box::new(tree)), ..Tree::default() }
    }

    fn part(&self, part: Part) -> Tree {
        if self.is_all {
            return Tree::all();
        }
        let known = self.parts.iter().find(|(known, _)| *known == part);
        known.map_or_else(Tree::default, |(_, tree)| tree.clone())
    }

    fn element(&self) -> Tree {
        if self.is_all {
            return Tree::all();
        }
        self.elements.as_ref().map_or_else(Tree::default, |tree| (**tree).clone())
    }

    /// Adds another demand; whether there is anything new in it.
    fn join(&mut self, other: &Tree, depth: usize) -> bool {
        if self.is_all || !other.is_kept {
            return false;
        }
        if other.is_all || depth == 0 {
            *self = Tree::all();
            return true;
        }
        let mut changed = !self.is_kept || other.order && !self.order;
        self.is_kept = true;
        self.order |= other.order;
        for (part, tree) in &other.parts {
            let at = self.parts.iter().position(|(known, _)| known == part).unwrap_or_else(|| {
                self.parts.push((*part, Tree::default()));
                self.parts.len() - 1
            });
            changed |= self.parts[at].1.join(tree, depth - 1);
        }
        if let Some(tree) = &other.elements {
            changed |= self.elements.get_or_insert_default().join(tree, depth - 1);
        }
        changed
    }
}

struct Solved {
    /// Of fields, payloads and results of functions.
    demands: Vec<Tree>,
    /// By op: of the registers before it.
    registers: Vec<Vec<Tree>>,
    /// Where the fields of a machine begin in `demands`.
    fields: Vec<usize>,
    payloads: usize,
}

impl Solved {
    /// What a function reads of its parameter, if it has one.
    fn param(&self, exe: &Executable, fun: FunId) -> Tree {
        let def = &exe.funs[fun];
        match self.registers[def.entry as usize].first() {
            Some(tree) if !def.params.is_empty() => tree.clone().kept(),
            _ => Tree::default(),
        }
    }
}

struct Solver<'a> {
    exe: &'a Executable,
    /// By function: the machines in which it runs.
    machines: IndexVec<FunId, Vec<MachineId>>,
    solved: Solved,
    /// Where results of functions begin in the demands.
    results: usize,
    /// Of registers, after and before the op at hand.
    after: Vec<Tree>,
    before: Vec<Tree>,
    changed: bool,
}

impl<'a> Solver<'a> {
    fn new(exe: &'a Executable, runs_in: &IndexVec<FunId, Vec<ControlId>>) -> Self {
        let mut n = 0;
        let mut next = |more: usize| {
            let start = n;
            n += more;
            start
        };
        let mut registers = vec![Vec::new(); exe.code.len()];
        for fun in &exe.funs {
            for before in &mut registers[fun.entry as usize..fun.end as usize] {
                *before = vec![Tree::default(); fun.n_registers as usize];
            }
        }
        let fields = exe.machines.iter().map(|machine| next(machine.fields.len())).collect();
        let payloads = next(exe.machines.len() * exe.n_events());
        let results = next(exe.funs.len());
        Solver {
            exe,
            machines: machines_of(exe, runs_in),
            solved: Solved { demands: vec![Tree::default(); n], registers, fields, payloads },
            results,
            after: Vec::new(),
            before: Vec::new(),
            changed: true,
        }
    }

    fn solve(mut self) -> Solved {
        while std::mem::take(&mut self.changed) {
            for fun in self.exe.funs.ids() {
                let def = &self.exe.funs[fun];
                for pc in (def.entry..def.end).rev() {
                    self.flow(fun, pc);
                }
            }
            self.handlers();
        }
        self.solved
    }

    /// From what is used after an op to what is used before it.
    fn flow(&mut self, fun: FunId, pc: u32) {
        let exe = self.exe;
        let (def, op) = (&exe.funs[fun], &exe.code[pc as usize]);
        let mut after = std::mem::take(&mut self.after);
        after.clear();
        after.resize(def.n_registers as usize, Tree::default());
        let known = &self.solved.registers;
        let mut come_from = |to: u32, written: Option<u32>| {
            for (register, tree) in known[to as usize].iter().enumerate() {
                if written != Some(register as u32) {
                    after[register].join(tree, MAX_DEPTH);
                }
            }
        };
        if !op.ends() {
            come_from(pc + 1, None);
        }
        match *op {
            Op::Jump { to } | Op::JumpIf { to, .. } | Op::JumpIfNot { to, .. } | Op::Next { end: to, .. } => {
                come_from(to, None);
            }
            Op::Receive { table } => {
                for case in exe.receives[table].cases.iter().flatten() {
                    come_from(case.to, case.param.map(|(param, _)| param));
                }
            }
            _ => {}
        }
        let mut before = std::mem::take(&mut self.before);
        before.clone_from(&after);
        accesses(exe, op, &mut |operand, access| {
            if let (Access::Write, OperandView::Register(n)) = (access, operand.view()) {
                before[n as usize] = Tree::default();
            }
        });
        (self.after, self.before) = (after, before);
        self.op(fun, op);
        for (known, tree) in self.solved.registers[pc as usize].iter_mut().zip(&self.before) {
            self.changed |= known.join(tree, MAX_DEPTH);
        }
    }

    /// What handlers read of the payloads that wait for them.
    fn handlers(&mut self) {
        let exe = self.exe;
        for state in &exe.states {
            for (event, action) in state.actions.iter_ids() {
                let mut takes = Vec::new();
                match *action {
                    Action::None | Action::Defer | Action::Ignore => {}
                    Action::Do(fun) => takes.push(fun),
                    Action::Goto(target, with) => {
                        takes.extend(with);
                        takes.extend(exe.states[target].entry);
                    }
                }
                for fun in takes {
                    let param = self.solved.param(exe, fun);
                    self.payload(state.machine, event, &param);
                }
            }
        }
    }

    fn payload(&mut self, machine: MachineId, event: EventId, demand: &Tree) {
        let at = self.solved.payloads + machine.index() * self.exe.n_events() + event.index();
        self.join_at(at, demand);
    }

    fn join_at(&mut self, at: usize, demand: &Tree) {
        self.changed |= self.solved.demands[at].join(demand, MAX_DEPTH);
    }

    /// What is used of an operand, after an op wrote it.
    fn of(&self, fun: FunId, operand: Operand) -> Tree {
        match operand.view() {
            OperandView::Const(_) => Tree::default(),
            OperandView::Register(n) => self.after[n as usize].clone(),
            OperandView::Field(n) => {
                let mut sum = Tree::default();
                for &machine in &self.machines[fun] {
                    if let Some(at) = self.field(machine, n) {
                        sum.join(&self.solved.demands[at], MAX_DEPTH);
                    }
                }
                sum
            }
        }
    }

    fn field(&self, machine: MachineId, field: u32) -> Option<usize> {
        let is_there = (field as usize) < self.exe.machines[machine].fields.len();
        is_there.then(|| self.solved.fields[machine.index()] + field as usize)
    }

    fn join(&mut self, fun: FunId, operand: Operand, demand: &Tree) {
        match operand.view() {
            OperandView::Const(_) => {}
            OperandView::Register(n) => {
                self.before[n as usize].join(demand, MAX_DEPTH);
            }
            OperandView::Field(n) => {
                for i in 0..self.machines[fun].len() {
                    if let Some(at) = self.field(self.machines[fun][i], n) {
                        self.join_at(at, demand);
                    }
                }
            }
        }
    }

    /// Whether an operand holds a map, as far as its declaration says.
    fn is_kind(&self, fun: FunId, operand: Operand, kinds: &[Kind]) -> bool {
        let OperandView::Field(n) = operand.view() else { return false };
        self.machines[fun].iter().all(|&machine| {
            let field = self.exe.machines[machine].fields.get(n as usize);
            field.is_none_or(|(_, value)| value.kind().is_some_and(|kind| kinds.contains(&kind)))
        })
    }

    fn name(&self, access: AccessId) -> Part {
        Part::Name(self.exe.accesses[access].0)
    }

    fn op(&mut self, fun: FunId, op: &Op) {
        let exe = self.exe;
        match *op {
            Op::Move { dst, src } => {
                let demand = self.of(fun, dst);
                self.join(fun, src, &demand);
            }
            Op::Cast { dst, src, .. } => {
                let demand = self.of(fun, dst).kept();
                self.join(fun, src, &demand);
            }
            Op::Tuple { dst, first, n } => {
                let demand = self.of(fun, dst);
                for at in 0..n {
                    self.join(fun, Operand::register(first + at), &demand.part(Part::Place(at)));
                }
            }
            Op::Named { dst, first, shape } => {
                let demand = self.of(fun, dst);
                for (at, &name) in exe.shapes[shape].iter().enumerate() {
                    let register = Operand::register(first + at as u32);
                    self.join(fun, register, &demand.part(Part::Name(name)));
                }
            }
            Op::Part { dst, src, index } => {
                let demand = self.of(fun, dst);
                self.join(fun, src, &Tree::of_part(Part::Place(index), demand));
            }
            Op::Field { dst, src, access } => {
                let demand = self.of(fun, dst);
                self.join(fun, src, &Tree::of_part(self.name(access), demand));
            }
            Op::Index { dst, src, index } => {
                self.join(fun, index, &Tree::all());
                let demand = self.of(fun, dst);
                let order = !self.is_kind(fun, src, &[Kind::Map]);
                self.join(fun, src, &Tree::of_elements(demand, order));
            }
            Op::Values { dst, src } => {
                let demand = self.of(fun, dst).element();
                self.join(fun, src, &Tree::of_elements(demand, true));
            }
            Op::Keys { src, .. } => {
                self.join(fun, src, &Tree::of_elements(Tree::default(), true));
            }
            Op::Sizeof { src, .. } => {
                self.join(fun, src, &Tree::default().kept());
            }
            Op::Next { dst, iter, .. } => {
                let demand = self.of(fun, dst);
                self.join(fun, Operand::register(iter), &Tree::of_elements(demand, true));
                self.join(fun, Operand::register(iter + 1), &Tree::all());
            }
            Op::Binary { op: BinaryOp::In, a, b, .. } => {
                self.join(fun, a, &Tree::all());
                // Of a map that is the keys.
                let is_map = self.is_kind(fun, b, &[Kind::Map]);
                let demand = if is_map { Tree::default() } else { Tree::all() };
                self.join(fun, b, &Tree::of_elements(demand, false));
            }
            // Counters that are never read, and texts that are only for people.
            Op::Binary { op: BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, dst, a, b }
                if !self.of(fun, dst).is_all =>
            {
                self.join(fun, a, &Tree::default().kept());
                self.join(fun, b, &Tree::default().kept());
            }
            Op::Format { dst, .. } if !self.of(fun, dst).is_all => {}
            Op::Fail { .. } => {}
            Op::Call { dst, fun: callee, first } => {
                let result = self.of(fun, dst);
                self.join_at(self.results + callee.index(), &result);
                let callee = &exe.funs[callee];
                for at in 0..callee.params.len() {
                    let demand = self.solved.registers[callee.entry as usize][at].clone().kept();
                    self.join(fun, Operand::register(first + at as u32), &demand);
                }
            }
            Op::Return { src } => {
                let demand = self.solved.demands[self.results + fun.index()].clone();
                self.join(fun, src, &demand);
            }
            Op::Store { root, path, src } | Op::Insert { root, path, src } => {
                let steps = &exe.paths[path as usize];
                let is_insert = matches!(op, Op::Insert { .. });
                let way = self.way(fun, root, steps, is_insert, Tree::default());
                self.join(fun, root, &way);
                let mut demand = self.of(fun, root);
                for step in steps {
                    demand = match *step {
                        Step::Part(at) => demand.part(Part::Place(at)),
                        Step::Field(access) => demand.part(self.name(access)),
                        Step::Index(_) => demand.element(),
                    };
                }
                self.join(fun, src, &demand.kept());
            }
            Op::Add { root, path, src } => {
                let steps = &exe.paths[path as usize];
                let way = self.way(fun, root, steps, false, Tree::default().kept());
                self.join(fun, root, &way);
                self.join(fun, src, &Tree::all());
            }
            Op::Remove { root, path } => {
                let steps = &exe.paths[path as usize];
                // From a sequence goes what is at a place.
                let is_blind = steps.len() == 1 && self.is_kind(fun, root, &[Kind::Set, Kind::Map]);
                let way = self.way(fun, root, steps, is_blind, Tree::default());
                self.join(fun, root, &way);
            }
            Op::Receive { table } => {
                for (event, case) in exe.receives[table].cases.iter_ids() {
                    let Some(case) = case else { continue };
                    let Some((param, _)) = case.param else { continue };
                    let demand = self.solved.registers[case.to as usize][param as usize].clone().kept();
                    for i in 0..self.machines[fun].len() {
                        self.payload(self.machines[fun][i], event, &demand);
                    }
                }
            }
            Op::Binary { .. }
            | Op::Not { .. }
            | Op::Neg { .. }
            | Op::ToInt { .. }
            | Op::ToFloat { .. }
            | Op::ToPermission { .. }
            | Op::Format { .. }
            | Op::FormatForPrint { .. }
            | Op::This { .. }
            | Op::Flip { .. }
            | Op::Choose { .. }
            | Op::Jump { .. }
            | Op::JumpIf { .. }
            | Op::JumpIfNot { .. }
            | Op::Print { .. }
            | Op::PrintFormat { .. }
            | Op::Send { .. }
            | Op::Announce { .. }
            | Op::New { .. }
            | Op::Raise { .. }
            | Op::Goto { .. }
            | Op::Foreign { .. } => {
                let mut read = Vec::new();
                accesses(exe, op, &mut |operand, access| {
                    if access == Access::Read {
                        read.push(operand);
                    }
                });
                for operand in read {
                    self.join(fun, operand, &Tree::all());
                }
            }
        }
    }

    /// What a change of part of a variable looks at on the path there: classes, and where an index into a sequence is on the
    /// path, its order; not that of the last step if `is_blind`.
    fn way(&mut self, fun: FunId, root: Operand, steps: &[Step], is_blind: bool, end: Tree) -> Tree {
        let mut tree = end;
        for (at, step) in steps.iter().enumerate().rev() {
            let is_last = at + 1 == steps.len();
            tree = match *step {
                Step::Part(place) => Tree::of_part(Part::Place(place), tree),
                Step::Field(access) => Tree::of_part(self.name(access), tree),
                Step::Index(index) => {
                    self.join(fun, index, &Tree::all());
                    let is_map = at == 0 && self.is_kind(fun, root, &[Kind::Map]);
                    Tree::of_elements(tree, !(is_map || is_last && is_blind))
                }
            };
        }
        tree.kept()
    }
}
