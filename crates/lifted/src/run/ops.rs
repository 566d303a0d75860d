//! Ops: those that work on summaries, and all others value by value through the kernel's interpreter.

use allways_machine::configuration::Frame;
use allways_machine::interpret::{Effect, Piece};
use allways_machine::ir::{AccessId, Class, EventId, FunId, Op, Operand, OperandView};
use allways_machine::liveness::reads_and_writes;
use allways_machine::value::{Kind, Value};
use allways_machine::{Local, Message};
use allways_run::{Choice, InstanceId, ViolationKind};

use super::{Running, Thread};
use crate::guard::Guard;
use crate::local::Stand;
use crate::summary::Shared;

impl Running<'_, '_> {
    pub(super) fn set_pc(thread: &mut Thread, pc: u32) {
        if let Some(frame) = thread.local.frames.last_mut() {
            frame.pc = pc;
        }
    }

    pub(super) fn go_on(&mut self, mut thread: Thread, pc: u32) {
        Self::set_pc(&mut thread, pc);
        self.push(thread);
    }

    /// Goes on behind an op that was executed where `done` holds, and executes it pointwise elsewhere.
    pub fn finish(&mut self, thread: Thread, pc: u32, done: Guard) {
        let rest = self.lifted.values.guards.minus(thread.guard, done);
        self.go_on(Thread { guard: done, ..thread.clone() }, pc + 1);
        if !rest.is_false() {
            self.op_pointwise(&Thread { guard: rest, ..thread }, pc);
        }
    }

    pub(super) fn execute(&mut self, thread: Thread) {
        let exe = self.lifted.exe.clone();
        let Some(&Frame { pc, .. }) = thread.local.frames.last() else { return self.returned(thread) };
        let guard = thread.guard;
        match exe.code[pc as usize] {
            Op::Move { dst, src } => {
                let value = self.read(&thread, src);
                let value = self.lifted.values.copy(&value);
                self.write(&thread, dst, &value, guard);
                self.go_on(thread, pc + 1);
            }
            Op::Tuple { dst, first, n } => {
                let parts: Vec<Shared> =
                    (first..first + n).map(|at| self.read(&thread, Operand::register(at))).collect();
                let tuple = self.lifted.values.tuple(&parts, guard);
                self.write(&thread, dst, &tuple, guard);
                self.go_on(thread, pc + 1);
            }
            Op::Named { dst, first, shape } => {
                let n = exe.shapes[shape].len() as u32;
                let parts: Vec<Shared> =
                    (first..first + n).map(|at| self.read(&thread, Operand::register(at))).collect();
                let tuple = self.lifted.values.named(shape, &parts, guard);
                self.write(&thread, dst, &tuple, guard);
                self.go_on(thread, pc + 1);
            }
            Op::Part { dst, src, index } => {
                let tuple = self.read(&thread, src);
                let done = self.load_part(&thread, dst, &tuple, |_, _| Some(index as usize));
                self.finish(thread, pc, done);
            }
            Op::Field { dst, src, access } => {
                let tuple = self.read(&thread, src);
                let done = self
                    .load_part(&thread, dst, &tuple, |running, value| running.field_position(value, access));
                self.finish(thread, pc, done);
            }
            Op::Index { dst, src, index } => {
                let (collection, index) = (self.read(&thread, src), self.read(&thread, index));
                let done = self.load_element(&thread, dst, &collection, &index);
                self.finish(thread, pc, done);
            }
            Op::Cast { dst, src, class } => {
                let value = self.read(&thread, src);
                let done = self.has_class(&thread, &value, class);
                let copied = self.lifted.values.copy(&value);
                self.write(&thread, dst, &copied, done);
                self.finish(thread, pc, done);
            }
            Op::Sizeof { .. } | Op::Keys { .. } => self.op_on_hollow(&thread, pc),
            Op::Format { dst, .. } if exe.code.get(pc as usize + 1) == Some(&Op::Fail { message: dst }) => {
                // The text of a failed assertion is for people, and replay makes it.
                self.write_value(&thread, dst, Value::NULL, guard);
                self.go_on(thread, pc + 1);
            }
            Op::Print { .. } | Op::PrintFormat { .. } => self.go_on(thread, pc + 1),
            Op::Flip { dst, .. } => {
                let variable = self.lifted.values.guards.fresh();
                let yes = self.lifted.values.guards.and(guard, variable);
                let no = self.lifted.values.guards.minus(guard, variable);
                let answer = self.lifted.values.of_values(&[(Value::TRUE, yes), (Value::FALSE, no)]);
                self.write(&thread, dst, &answer, guard);
                self.lifted.log.push((yes, Choice::Data(1)));
                self.lifted.log.push((no, Choice::Data(0)));
                self.go_on(thread, pc + 1);
            }
            Op::Choose { dst, src } => self.choose(&thread, pc, dst, src),
            Op::Jump { to } => self.go_on(thread, to),
            Op::JumpIf { cond, to } => self.branch(thread, pc, cond, to, true),
            Op::JumpIfNot { cond, to } => self.branch(thread, pc, cond, to, false),
            Op::Next { dst, iter, end } => self.next(&thread, pc, (dst, iter, end)),
            Op::Call { dst, fun, first } => self.call(thread, pc, (dst, fun, first)),
            Op::Return { src } => self.return_from(thread, src),
            Op::Store { root, path, src } => {
                let value = self.read(&thread, src);
                let value = self.lifted.values.copy(&value);
                self.update(thread, pc, root, path, crate::lifted_ops::Update::Set(value));
            }
            Op::Insert { root, path, src } => {
                let value = self.read(&thread, src);
                let value = self.lifted.values.copy(&value);
                self.update(thread, pc, root, path, crate::lifted_ops::Update::Insert(value));
            }
            Op::Add { root, path, src } => {
                let value = self.read(&thread, src);
                let value = self.lifted.values.copy(&value);
                self.update(thread, pc, root, path, crate::lifted_ops::Update::Add(value));
            }
            Op::Remove { root, path } => {
                self.update(thread, pc, root, path, crate::lifted_ops::Update::Remove);
            }
            Op::Fail { .. } if thread.own || self.is_monitor() => {
                self.lifted.fail(guard, ViolationKind::Assertion);
            }
            Op::Send { target, event, payload } => self.send(&thread, pc, target, event, payload),
            Op::Announce { event, payload } => self.announce(&thread, pc, event, payload),
            Op::New { payload, .. } => self.create(&thread, payload),
            Op::Raise { event, payload } => {
                let (event, payload) = (self.read(&thread, event), self.read(&thread, payload));
                let payload = self.lifted.values.copy(&payload);
                for (thread, event) in self.split(&thread, &event) {
                    match event.as_event() {
                        Some(event) => {
                            let message = Message { event, payload: Value::NULL };
                            self.left(thread, Piece::Raise(message), &payload);
                        }
                        None => self.op_pointwise(&thread, pc),
                    }
                }
            }
            Op::Goto { state, payload } => {
                let payload = self.read(&thread, payload);
                let payload = self.lifted.values.copy(&payload);
                self.left(thread, Piece::Goto { target: state, payload: Value::NULL }, &payload);
            }
            Op::Receive { table } => self.effect(thread, Effect::Receive { table }),
            Op::Foreign { fun } => self.effect(thread, Effect::Foreign { fun }),
            Op::Binary { .. }
            | Op::Not { .. }
            | Op::Neg { .. }
            | Op::Values { .. }
            | Op::ToInt { .. }
            | Op::ToFloat { .. }
            | Op::ToPermission { .. }
            | Op::Format { .. }
            | Op::FormatForPrint { .. }
            | Op::This { .. }
            | Op::Fail { .. } => self.op_pointwise(&thread, pc),
        }
    }

    /// The thread once for each value of a spine.
    pub(super) fn split(&mut self, thread: &Thread, summary: &Shared) -> Vec<(Thread, Value)> {
        let mut found = Vec::new();
        for &(value, guard) in summary.spine() {
            let guard = self.lifted.values.guards.and(guard, thread.guard);
            if !guard.is_false() {
                found.push((Thread { guard, ..thread.clone() }, value));
            }
        }
        found
    }

    /// Runs the op at hand on a local state with these operands.
    pub(super) fn apply(&mut self, thread: &Thread, operands: &[(Operand, Value)]) -> (Local, Piece) {
        self.lifted.figures.n_pointwise += 1;
        let mut local = thread.local.clone();
        for &(operand, value) in operands {
            if let Some(place) = Self::place(thread, operand) {
                local.registers[place] = value;
            }
        }
        let piece = self.lifted.pointwise.op(&mut self.lifted.values.store, self.actor, &mut local);
        (local, piece)
    }

    /// Executes the op at hand once for each combination of values that it reads.
    pub(super) fn op_pointwise(&mut self, thread: &Thread, pc: u32) {
        self.op_by(thread, pc, |running, summary, guard| running.lifted.values.values(summary, guard));
    }

    /// The same for an op that looks at no element of what it reads.
    pub(super) fn op_on_hollow(&mut self, thread: &Thread, pc: u32) {
        self.op_by(thread, pc, |running, summary, guard| {
            let both = |&(value, own): &(Value, Guard)| (value, running.lifted.values.guards.and(own, guard));
            summary.spine().iter().map(both).filter(|(_, guard)| !guard.is_false()).collect()
        });
    }

    pub(super) fn op_by(
        &mut self,
        thread: &Thread,
        pc: u32,
        enumerate: impl Fn(&mut Self, &Shared, Guard) -> Vec<(Value, Guard)>,
    ) {
        let exe = self.lifted.exe.clone();
        let (reads, writes) = reads_and_writes(&exe, &exe.code[pc as usize]);
        let mut rows: Vec<(Vec<(Operand, Value)>, Guard)> = vec![(Vec::new(), thread.guard)];
        for operand in reads {
            if matches!(operand.view(), OperandView::Const(_)) {
                continue;
            }
            let summary = self.read(thread, operand);
            let mut next = Vec::new();
            for (row, guard) in rows {
                for (value, guard) in enumerate(self, &summary, guard) {
                    let mut row = row.clone();
                    row.push((operand, value));
                    next.push((row, guard));
                }
            }
            rows = next;
            if self.lifted.values.guards.halted().is_some() {
                return;
            }
        }
        // By result: what is written, and where.
        let mut results: Vec<(Vec<Value>, Guard)> = Vec::new();
        for (row, guard) in rows {
            if self.lifted.values.guards.halted().is_some() {
                return;
            }
            let (local, piece) = self.apply(thread, &row);
            match piece {
                Piece::Execute => {
                    let read = |&operand: &Operand| self.lifted.pointwise.read(&local, operand);
                    let written: Vec<Value> = writes.iter().map(read).collect();
                    match results.iter_mut().find(|(known, _)| *known == written) {
                        Some(known) => known.1 = self.lifted.values.guards.or(known.1, guard),
                        None => results.push((written, guard)),
                    }
                }
                Piece::Effect(effect) => {
                    let mut thread = Thread { guard, ..thread.clone() };
                    // Of the local state only control has changed that matters.
                    thread.local.frames = local.frames;
                    self.effect(thread, effect);
                }
                Piece::Return | Piece::Raise(_) | Piece::Goto { .. } => {
                    debug_assert!(false, "control is passed elsewhere");
                }
            }
        }
        let done = self.lifted.values.guards.any(results.iter().map(|&(_, guard)| guard));
        for (at, &operand) in writes.iter().enumerate() {
            let column: Vec<(Value, Guard)> = results.iter().map(|(row, guard)| (row[at], *guard)).collect();
            let mut joined: Vec<(Value, Guard)> = Vec::new();
            for (value, guard) in column {
                match joined.iter_mut().find(|(known, _)| *known == value) {
                    Some(known) => known.1 = self.lifted.values.guards.or(known.1, guard),
                    None => joined.push((value, guard)),
                }
            }
            let summary = self.lifted.values.of_values(&joined);
            self.write(thread, operand, &summary, done);
        }
        self.go_on(Thread { guard: done, ..thread.clone() }, pc + 1);
    }

    pub(super) fn branch(&mut self, thread: Thread, pc: u32, cond: Operand, to: u32, jumps_if: bool) {
        let condition = self.read(&thread, cond);
        let mut done = Guard::FALSE;
        for &(value, guard) in condition.spine() {
            let Some(is_true) = value.as_bool() else { continue };
            let guard = self.lifted.values.guards.and(guard, thread.guard);
            done = self.lifted.values.guards.or(done, guard);
            let next = if is_true == jumps_if { to } else { pc + 1 };
            self.go_on(Thread { guard, ..thread.clone() }, next);
        }
        let rest = self.lifted.values.guards.minus(thread.guard, done);
        if !rest.is_false() {
            self.op_on_hollow(&Thread { guard: rest, ..thread }, pc);
        }
    }

    /// The next element of a loop: of the collection only the spine is looked at, and of a sequence one part.
    pub(super) fn next(&mut self, thread: &Thread, pc: u32, (dst, iter, end): (Operand, u32, u32)) {
        let (collection_at, position_at) = (Operand::register(iter), Operand::register(iter + 1));
        let (collection, position) = (self.read(thread, collection_at), self.read(thread, position_at));
        for (at_collection, hollow) in self.split(thread, &collection) {
            for (thread, place) in self.split(&at_collection, &position) {
                let guard = thread.guard;
                let (local, piece) = self.apply(&thread, &[(collection_at, hollow), (position_at, place)]);
                if let Piece::Effect(effect) = piece {
                    self.effect(thread, effect);
                    continue;
                }
                let next = local.frames.last().map_or(pc, |frame| frame.pc);
                let moved = self.lifted.pointwise.read(&local, position_at);
                self.write_value(&thread, position_at, moved, guard);
                if next == end && moved.is_null() {
                    self.write_value(&thread, collection_at, Value::NULL, guard);
                    self.go_on(thread, next);
                    continue;
                }
                let at = if place.is_null() { Value::size(0) } else { place };
                match collection.part(Kind::Seq, at).cloned() {
                    Some(element) if hollow.kind() == Some(Kind::Seq) => {
                        self.write(&thread, dst, &element, guard)
                    }
                    _ => {
                        let element = self.lifted.pointwise.read(&local, dst);
                        self.write_value(&thread, dst, element, guard);
                    }
                }
                self.go_on(thread, next);
            }
        }
    }

    pub(super) fn call(&mut self, mut thread: Thread, pc: u32, (dst, fun, first): (Operand, FunId, u32)) {
        if thread.local.frames.len() >= self.lifted.call_depth as usize {
            let (_, piece) = self.apply(&thread, &[]);
            return self.went(thread, piece);
        }
        let exe = self.lifted.exe.clone();
        let def = &exe.funs[fun];
        Self::set_pc(&mut thread, pc + 1);
        let base = thread.local.frames.last().map_or(0, |frame| frame.base) + first;
        thread.local.registers.resize((base + def.n_registers) as usize, Value::NULL);
        thread.local.frames.push(Frame { fun, pc: def.entry, base, dst });
        self.clear_registers(&thread, base as usize + def.params.len());
        self.push(thread);
    }

    pub(super) fn return_from(&mut self, mut thread: Thread, src: Operand) {
        let value = self.read(&thread, src);
        let value = self.lifted.values.copy(&value);
        let Some(frame) = thread.local.frames.pop() else { return self.returned(thread) };
        thread.local.registers.truncate(frame.base as usize);
        let Some(&caller) = thread.local.frames.last() else {
            self.clear_registers(&thread, frame.base as usize);
            return self.returned(thread);
        };
        let n_registers = self.lifted.exe.funs[caller.fun].n_registers;
        thread.local.registers.resize((caller.base + n_registers) as usize, Value::NULL);
        self.clear_registers(&thread, frame.base as usize);
        self.write(&thread, frame.dst, &value, thread.guard);
        self.push(thread);
    }

    pub(super) fn choose(&mut self, thread: &Thread, pc: u32, dst: Operand, src: Operand) {
        let source = self.read(thread, src);
        // By number of answers: guards of the answers.
        let mut alternatives: Vec<(u32, Vec<Guard>)> = Vec::new();
        for (thread, hollow) in self.split(thread, &source) {
            let guard = thread.guard;
            let (local, piece) = self.apply(&thread, &[(src, hollow)]);
            let element = |source: &Shared, at: u32| match hollow.kind() {
                Some(Kind::Seq) => source.part(Kind::Seq, Value::size(at as usize)).cloned(),
                _ => None,
            };
            match piece {
                Piece::Effect(Effect::Choose { n_answers, .. }) => {
                    if alternatives.iter().all(|(n, _)| *n != n_answers) {
                        let guards = self.lifted.values.guards.alternatives(n_answers as usize);
                        alternatives.push((n_answers, guards));
                    }
                    let Some(at) = alternatives.iter().position(|(n, _)| *n == n_answers) else { continue };
                    self.watch.blurred = self.lifted.values.guards.or(self.watch.blurred, guard);
                    let mut chosen = Vec::new();
                    for answer in 0..n_answers {
                        let own = self.lifted.values.guards.and(guard, alternatives[at].1[answer as usize]);
                        self.lifted.log.push((own, Choice::Data(answer)));
                        match element(&source, answer) {
                            Some(element) => self.write(&thread, dst, &element, own),
                            None => {
                                let mut local = thread.local.clone();
                                if let Some(place) = Self::place(&thread, src) {
                                    local.registers[place] = hollow;
                                }
                                let store = &mut self.lifted.values.store;
                                self.lifted.pointwise.answer(store, self.actor, &mut local, answer);
                                chosen.push((self.lifted.pointwise.read(&local, dst), own));
                            }
                        }
                        if self.lifted.values.guards.halted().is_some() {
                            return;
                        }
                    }
                    if !chosen.is_empty() {
                        let chosen = self.lifted.values.of_values(&chosen);
                        self.write(&thread, dst, &chosen, guard);
                    }
                    self.go_on(thread, pc + 1);
                }
                Piece::Effect(effect) => self.effect(thread, effect),
                _ => {
                    match element(&source, 0) {
                        Some(element) => self.write(&thread, dst, &element, guard),
                        None => {
                            let value = self.lifted.pointwise.read(&local, dst);
                            self.write_value(&thread, dst, value, guard);
                        }
                    }
                    self.go_on(thread, pc + 1);
                }
            }
        }
    }

    // Effects of ops, with payloads.

    pub(super) fn send(
        &mut self,
        thread: &Thread,
        pc: u32,
        target: Operand,
        event: Operand,
        payload: Operand,
    ) {
        let (targets, events) = (self.read(thread, target), self.read(thread, event));
        let payload = self.read(thread, payload);
        let payload = self.lifted.values.copy(&payload);
        for (at_target, to) in self.split(thread, &targets) {
            for (mut thread, what) in self.split(&at_target, &events) {
                let (local, piece) = self.apply(&thread, &[(target, to), (event, what)]);
                match piece {
                    Piece::Effect(Effect::Observe(_)) if !thread.own => self.rest(&thread, Stand::Observe),
                    Piece::Effect(Effect::Observe(message)) => {
                        let payload = self.observe(&mut thread, message.event, &payload);
                        Self::set_pc(&mut thread, pc + 1);
                        if let Some((target, _)) = to.as_ref() {
                            self.deliver(&thread, target, message.event, &payload);
                        }
                    }
                    Piece::Effect(Effect::Deliver { target, message }) => {
                        thread.local.frames = local.frames;
                        self.deliver(&thread, target, message.event, &payload);
                    }
                    other => self.went(thread, other),
                }
            }
        }
    }

    /// Has the monitors handle what a thread sends or announces, which goes on where they do not fail; the payload there.
    fn observe(&mut self, thread: &mut Thread, event: EventId, payload: &Shared) -> Shared {
        let interface = self.interface(thread);
        let payload = self.lifted.values.restrict(payload, thread.guard);
        self.watch.blurred = self.lifted.values.guards.or(self.watch.blurred, thread.guard);
        self.lifted.observe(interface, event, &payload, thread.guard);
        thread.guard = self.lifted.alive(thread.guard);
        payload
    }

    pub(super) fn deliver(&mut self, thread: &Thread, target: InstanceId, event: EventId, payload: &Shared) {
        if thread.guard.is_false() {
            return;
        }
        self.local.pending = self.lifted.values.update(&self.local.pending.clone(), payload, thread.guard);
        self.rest(thread, Stand::Deliver { target, event });
    }

    pub(super) fn announce(&mut self, thread: &Thread, pc: u32, event: Operand, payload: Operand) {
        let events = self.read(thread, event);
        let payload = self.read(thread, payload);
        let payload = self.lifted.values.copy(&payload);
        for (mut thread, what) in self.split(thread, &events) {
            let (local, piece) = self.apply(&thread, &[(event, what)]);
            match piece {
                Piece::Effect(Effect::Observe(_)) if !thread.own => self.rest(&thread, Stand::Observe),
                Piece::Effect(Effect::Observe(message)) => {
                    self.observe(&mut thread, message.event, &payload);
                    self.go_on(thread, pc + 1);
                }
                Piece::Execute => {
                    thread.local.frames = local.frames;
                    self.push(thread);
                }
                other => self.went(thread, other),
            }
        }
    }

    pub(super) fn create(&mut self, thread: &Thread, payload: Operand) {
        let payload = self.read(thread, payload);
        let payload = self.lifted.values.copy(&payload);
        let (local, piece) = self.apply(thread, &[]);
        let mut thread = thread.clone();
        match piece {
            Piece::Effect(Effect::Create { interface, dst, .. }) => {
                thread.local.frames = local.frames;
                self.local.pending =
                    self.lifted.values.update(&self.local.pending.clone(), &payload, thread.guard);
                self.rest(&thread, Stand::Create { interface, dst });
            }
            other => self.went(thread, other),
        }
    }

    // Parts of tuples.

    pub fn field_position(&self, value: Value, access: AccessId) -> Option<usize> {
        let shape = self.lifted.values.shape_of(value)?;
        self.lifted.exe.field_position(shape, access)
    }

    /// Where a value has a class, by the kernel's own check.
    pub(super) fn has_class(&mut self, thread: &Thread, value: &Shared, class: Class) -> Guard {
        self.lifted
            .values
            .guard_where(value, thread.guard, |value| allways_machine::ops::has_class(value, class))
    }

    /// Reads one place of tuples, as `position` says for each of them, and says where that was possible.
    pub(super) fn load_part(
        &mut self,
        thread: &Thread,
        dst: Operand,
        tuple: &Shared,
        position: impl Fn(&Self, Value) -> Option<usize>,
    ) -> Guard {
        // By place: where.
        let mut places: Vec<(Kind, usize, Guard)> = Vec::new();
        for &(value, own) in tuple.spine() {
            let Some(kind @ (Kind::Tuple | Kind::Named)) = value.kind() else { continue };
            let Some(at) = position(self, value) else { continue };
            if !self.lifted.values.places(value).contains(&(kind, Value::size(at))) {
                continue;
            }
            let guard = self.lifted.values.guards.and(own, thread.guard);
            match places.iter_mut().find(|place| (place.0, place.1) == (kind, at)) {
                Some(place) => place.2 = self.lifted.values.guards.or(place.2, guard),
                None => places.push((kind, at, guard)),
            }
        }
        let places = places.into_iter().map(|(kind, at, guard)| (kind, Value::size(at), guard));
        self.load_places(thread, dst, tuple, places)
    }

    /// Reads places of a tuple or collection, each under its guard, and says where there was something.
    pub(crate) fn load_places(
        &mut self,
        thread: &Thread,
        dst: Operand,
        whole: &Shared,
        places: impl IntoIterator<Item = (Kind, Value, Guard)>,
    ) -> Guard {
        let mut done = Guard::FALSE;
        let mut loaded = self.lifted.values.nothing();
        for (kind, key, guard) in places {
            let Some(part) = whole.part(kind, key).cloned() else { continue };
            let part = self.lifted.values.restrict(&part, guard);
            loaded = self.lifted.values.merge(&loaded, &part);
            done = self.lifted.values.guards.or(done, guard);
        }
        let loaded = self.lifted.values.copy(&loaded);
        self.write(thread, dst, &loaded, done);
        done
    }
}
