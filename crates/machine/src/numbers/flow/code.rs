//! What each op of the code does: which places it moves values between, compares, or needs the numbers of.

use allways_p::hir::BinaryOp;

use super::{
    Constant, Flow, Increment, Label, Later, MAX_STEP, NO_PLACE, Origin, PlaceId, Selects, Source, kinds,
};
use crate::demand::EVERYTHING;
use crate::ir::{EventId, FunId, Op, Operand, OperandView, Step};
use crate::numbers::Why;

impl Flow<'_> {
    /// The places that an operand of an op is read from. A constant is a place of its own.
    fn read(&mut self, fun: FunId, pc: u32, operand: Operand) -> Vec<PlaceId> {
        match operand.view() {
            OperandView::Register(n) => vec![self.register(pc, n)],
            OperandView::Field(n) => {
                self.machines[fun].iter().map(|&machine| self.field(machine, n as usize)).collect()
            }
            OperandView::Const(n) => {
                if let Some(&place) = self.constant_places.get(&(pc, n)) {
                    return vec![place];
                }
                let place = self.new_places(1);
                self.constant_places.insert((pc, n), place);
                self.constant_into(place, self.exe.consts[n as usize], Origin::Op(pc));
                vec![place]
            }
        }
    }

    /// The places that an op writes an operand to: none for a register that is dead after it.
    fn written(&mut self, fun: FunId, pc: u32, operand: Operand) -> Vec<PlaceId> {
        match operand.view() {
            OperandView::Register(n) if pc + 1 < self.exe.funs[fun].end => {
                vec![self.register(pc + 1, n)]
            }
            OperandView::Register(_) | OperandView::Const(_) => Vec::new(),
            OperandView::Field(_) => self.read(fun, pc, operand),
        }
    }

    fn copy(&mut self, fun: FunId, pc: u32, src: Operand, dst: Operand) {
        for from in self.read(fun, pc, src) {
            for to in self.written(fun, pc, dst) {
                self.flow(from, to);
            }
        }
    }

    fn constant(&self, operand: Operand) -> Option<i64> {
        match operand.view() {
            OperandView::Const(n) => self.exe.store.as_int(self.exe.consts[n as usize]),
            OperandView::Register(_) | OperandView::Field(_) => None,
        }
    }

    pub(super) fn op(&mut self, fun: FunId, pc: u32) {
        let exe = self.exe;
        let span = exe.spans[pc as usize];
        match exe.code[pc as usize] {
            Op::Move { dst, src } | Op::Cast { dst, src, .. } => self.copy(fun, pc, src, dst),
            Op::Binary { op, dst, a, b } => self.binary(fun, pc, op, dst, [a, b]),
            Op::Neg { dst, src } if self.constant(src).is_some() => {
                let number = self.constant(src).unwrap_or(0).wrapping_neg();
                for to in self.written(fun, pc, dst).into_iter().filter(|&to| to != NO_PLACE) {
                    let place = self.new_places(1);
                    self.add_kinds(place, kinds::INT);
                    self.constants.push(Constant { place, number, origin: Origin::Op(pc) });
                    self.flow(place, to);
                }
            }
            Op::Neg { dst, src } => {
                self.expose_operand(fun, pc, src, Why::Arithmetic);
                self.unknown(fun, pc, dst, Why::Arithmetic);
            }
            Op::ToInt { dst, src } => {
                self.expose_operand(fun, pc, src, Why::Conversion);
                self.unknown(fun, pc, dst, Why::Conversion);
            }
            Op::ToFloat { src, .. } => self.expose_operand(fun, pc, src, Why::Conversion),
            Op::Tuple { dst, first, n } => {
                for to in self.written(fun, pc, dst) {
                    for at in 0..n {
                        let to = self.part(to, Label::Part(at));
                        self.flow(self.register(pc, first + at), to);
                    }
                }
            }
            Op::Named { dst, first, shape } => {
                for to in self.written(fun, pc, dst) {
                    for (at, &name) in exe.shapes[shape].iter().enumerate() {
                        let to = self.part(to, Label::Name(name));
                        self.flow(self.register(pc, first + at as u32), to);
                    }
                }
            }
            Op::Part { dst, src, index } => self.project(fun, pc, src, Label::Part(index), dst),
            Op::Field { dst, src, access } => {
                let (name, _) = exe.accesses[access];
                self.project(fun, pc, src, Label::Name(name), dst);
            }
            Op::Index { dst, src, index } => {
                for of in self.read(fun, pc, src) {
                    for index in self.read(fun, pc, index) {
                        self.later.push(Later::Select { index, of, how: Selects::Find, span });
                    }
                }
                self.project(fun, pc, src, Label::Element, dst);
            }
            Op::Keys { dst, src } => self.list(fun, pc, src, Label::Key, dst),
            Op::Values { dst, src } => self.list(fun, pc, src, Label::Element, dst),
            Op::Sizeof { dst, src } => {
                self.enumerate(fun, pc, src);
                self.unknown(fun, pc, dst, Why::Size);
            }
            Op::Format { dst, template, first } => {
                // The text of a failed assertion is for people, and no code reads it.
                let is_for_people = exe.code.get(pc as usize + 1) == Some(&Op::Fail { message: dst })
                    || matches!(dst.view(), OperandView::Register(n)
                        if exe.demands().register(pc + 1, n as usize) != EVERYTHING);
                if !is_for_people {
                    for at in 0..exe.templates[template].n_args {
                        self.opaque(self.register(pc, first + at), (Why::Text, Some(span)));
                    }
                }
            }
            Op::Choose { dst, src } => {
                self.enumerate(fun, pc, src);
                for of in self.read(fun, pc, src) {
                    for to in self.written(fun, pc, dst) {
                        self.later.push(Later::Pick { of, to, is_choice: true, span });
                    }
                    // Even if the answer is not used.
                    self.later.push(Later::Pick { of, to: NO_PLACE, is_choice: true, span });
                }
            }
            Op::Next { dst, iter, .. } => {
                let (collection, position) = (self.register(pc, iter), self.register(pc, iter + 1));
                self.enumerate(fun, pc, Operand::register(iter));
                self.expose(position, (Why::Size, Some(span)));
                for to in self.written(fun, pc, dst) {
                    self.later.push(Later::Pick { of: collection, to, is_choice: false, span });
                }
            }
            Op::Call { dst, fun: callee, first } => {
                let def = &exe.funs[callee];
                for at in 0..def.params.len() as u32 {
                    if def.entry < def.end {
                        let (from, to) = (self.register(pc, first + at), self.register(def.entry, at));
                        self.flow(from, to);
                    }
                }
                for to in self.written(fun, pc, dst) {
                    self.flow(self.results + callee.as_u32(), to);
                }
            }
            Op::Return { src } => {
                for from in self.read(fun, pc, src) {
                    self.flow(from, self.results + fun.as_u32());
                }
            }
            Op::Store { root, path, src } => {
                for place in self.walk(fun, pc, root, &exe.paths[path as usize], true) {
                    for from in self.read(fun, pc, src) {
                        self.flow(from, place);
                    }
                }
            }
            Op::Insert { root, path, src } => {
                for place in self.walk(fun, pc, root, &exe.paths[path as usize], true) {
                    for from in self.read(fun, pc, src) {
                        self.flow(from, place);
                    }
                }
            }
            Op::Add { root, path, src } => {
                for place in self.walk(fun, pc, root, &exe.paths[path as usize], false) {
                    let element = self.part(place, Label::Element);
                    for from in self.read(fun, pc, src) {
                        self.flow(from, element);
                    }
                }
            }
            Op::Remove { root, path } => {
                let Some((&last, steps)) = exe.paths[path as usize].split_last() else { return };
                let Step::Index(index) = last else { return };
                for of in self.walk(fun, pc, root, steps, false) {
                    for index in self.read(fun, pc, index) {
                        self.later.push(Later::Member { index, of, is_in: false, span });
                    }
                }
            }
            Op::Send { event, payload, .. }
            | Op::Announce { event, payload }
            | Op::Raise { event, payload } => {
                let known = match event.view() {
                    OperandView::Const(n) => exe.consts[n as usize].as_event(),
                    OperandView::Register(_) | OperandView::Field(_) => None,
                };
                let events: Vec<EventId> = match known {
                    Some(event) => vec![event],
                    None => exe.events.ids().collect(),
                };
                for from in self.read(fun, pc, payload) {
                    for &event in &events {
                        self.flow(from, self.payload(event));
                    }
                }
            }
            Op::New { interface, payload, .. } => {
                for from in self.read(fun, pc, payload) {
                    for creator in exe.interfaces.ids() {
                        self.flow(from, self.creation(exe.link(creator, interface)));
                    }
                }
            }
            Op::Goto { state, payload } => {
                for from in self.read(fun, pc, payload) {
                    self.flow(from, self.transition(state));
                }
            }
            Op::Receive { table } => {
                for (event, case) in exe.receives[table].cases.iter_ids() {
                    if let Some((case, (param, _))) = case.and_then(|case| Some((case, case.param?))) {
                        self.flow(self.payload(event), self.register(case.to, param));
                    }
                }
            }
            Op::Foreign { fun: foreign } => {
                let def = &exe.funs[foreign];
                for at in 0..def.params.len() as u32 {
                    if def.entry < def.end {
                        self.opaque(self.register(def.entry, at), (Why::Foreign, Some(span)));
                    }
                }
                self.opaque(self.results + foreign.as_u32(), (Why::Foreign, Some(span)));
            }
            Op::Not { .. }
            | Op::ToPermission { .. }
            | Op::FormatForPrint { .. }
            | Op::This { .. }
            | Op::Flip { .. }
            | Op::Jump { .. }
            | Op::JumpIf { .. }
            | Op::JumpIfNot { .. }
            | Op::Fail { .. }
            | Op::Print { .. }
            | Op::PrintFormat { .. } => {}
        }
    }

    fn binary(&mut self, fun: FunId, pc: u32, op: BinaryOp, dst: Operand, [a, b]: [Operand; 2]) {
        let span = self.exe.spans[pc as usize];
        match op {
            BinaryOp::Eq | BinaryOp::Ne => {
                for a in self.read(fun, pc, a) {
                    for b in self.read(fun, pc, b) {
                        self.compare(a, b);
                    }
                }
            }
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                for a in self.read(fun, pc, a) {
                    for b in self.read(fun, pc, b) {
                        if a != NO_PLACE && b != NO_PLACE {
                            self.ordered.push((a, b));
                        }
                    }
                }
            }
            BinaryOp::In => {
                for index in self.read(fun, pc, a) {
                    for of in self.read(fun, pc, b) {
                        self.later.push(Later::Member { index, of, is_in: true, span });
                    }
                }
            }
            BinaryOp::Add | BinaryOp::Sub => {
                let (from, by) = match (self.constant(a), self.constant(b), op) {
                    (None, Some(by), BinaryOp::Add) => (a, by),
                    (None, Some(by), _) => (a, by.saturating_neg()),
                    (Some(by), None, BinaryOp::Add) => (b, by),
                    _ => {
                        self.expose_operand(fun, pc, a, Why::Arithmetic);
                        self.expose_operand(fun, pc, b, Why::Arithmetic);
                        return self.unknown(fun, pc, dst, Why::Arithmetic);
                    }
                };
                if by.unsigned_abs() > MAX_STEP as u64 {
                    self.expose_operand(fun, pc, from, Why::Arithmetic);
                    return self.unknown(fun, pc, dst, Why::Arithmetic);
                }
                for from in self.read(fun, pc, from) {
                    for to in self.written(fun, pc, dst) {
                        if from != NO_PLACE && to != NO_PLACE {
                            self.add_kinds(to, kinds::INT);
                            self.increments.push(Increment { from, to, by });
                        }
                    }
                }
            }
            BinaryOp::Mod if self.constant(b).is_some_and(|n| (1..=MAX_STEP).contains(&n)) => {
                let modulus = self.constant(b).unwrap_or(1);
                for from in self.read(fun, pc, a).into_iter().filter(|&from| from != NO_PLACE) {
                    self.moduli.push((from, modulus));
                }
                self.unknown(fun, pc, dst, Why::Arithmetic);
            }
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod => {
                self.expose_operand(fun, pc, a, Why::Arithmetic);
                self.expose_operand(fun, pc, b, Why::Arithmetic);
                self.unknown(fun, pc, dst, Why::Arithmetic);
            }
            BinaryOp::And | BinaryOp::Or => {}
        }
    }

    fn project(&mut self, fun: FunId, pc: u32, src: Operand, label: Label, dst: Operand) {
        for from in self.read(fun, pc, src) {
            let part = self.part(from, label);
            for to in self.written(fun, pc, dst) {
                self.flow(part, to);
            }
        }
    }

    /// A sequence of keys or values.
    fn list(&mut self, fun: FunId, pc: u32, src: Operand, label: Label, dst: Operand) {
        self.enumerate(fun, pc, src);
        for from in self.read(fun, pc, src) {
            let part = self.part(from, label);
            for to in self.written(fun, pc, dst) {
                self.add_kinds(to, kinds::SEQ);
                let element = self.part(to, Label::Element);
                self.flow(part, element);
            }
        }
    }

    fn enumerate(&mut self, fun: FunId, pc: u32, operand: Operand) {
        for place in self.read(fun, pc, operand).into_iter().filter(|&place| place != NO_PLACE) {
            self.places[place as usize].is_enumerated = true;
        }
    }

    /// The places at the end of a path into a variable. If `enters`, the last key may be new.
    fn walk(&mut self, fun: FunId, pc: u32, root: Operand, steps: &[Step], enters: bool) -> Vec<PlaceId> {
        let span = self.exe.spans[pc as usize];
        let mut ends = Vec::new();
        let mut roots = self.read(fun, pc, root);
        // What is dead before the op is live after it all the same: it is changed in place.
        roots.extend(self.written(fun, pc, root));
        for mut place in roots {
            for (at, step) in steps.iter().enumerate() {
                let label = match *step {
                    Step::Part(part) => Label::Part(part),
                    Step::Field(access) => Label::Name(self.exe.accesses[access].0),
                    Step::Index(index) => {
                        let is_last = at + 1 == steps.len();
                        let how = if enters && is_last { Selects::Enter } else { Selects::Find };
                        for index in self.read(fun, pc, index) {
                            self.later.push(Later::Select { index, of: place, how, span });
                        }
                        Label::Element
                    }
                };
                place = self.part(place, label);
            }
            ends.push(place);
        }
        ends
    }

    /// An op depends on the numbers of an operand themselves.
    fn expose_operand(&mut self, fun: FunId, pc: u32, operand: Operand, why: Why) {
        let span = self.exe.spans[pc as usize];
        for place in self.read(fun, pc, operand) {
            self.expose(place, (why, Some(span)));
        }
    }

    /// A number is written of which nothing is known but where.
    fn unknown(&mut self, fun: FunId, pc: u32, operand: Operand, why: Why) {
        for place in self.written(fun, pc, operand).into_iter().filter(|&place| place != NO_PLACE) {
            self.sources.push(Source { place, pc, why });
            self.add_kinds(place, kinds::INT);
        }
    }
}
