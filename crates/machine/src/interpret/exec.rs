//! Executing ops: reading their operands, writing their results, and where control goes. What they do to values is in
//! [`crate::ops`].

use allways_base::Span;
use allways_run::{HandlerLimit, ViolationKind};

use super::{Context, Effect, Interpreter, Stop, Trap};
use crate::configuration::{Fault, Frame, Message};
use crate::ir::{Op, Operand, OperandView, TemplateId, TemplatePiece};
use crate::ops::{self, MAX_TEXT, OpFault, PathOperands, Update};
use crate::record::{Actor, Note, PathNames, Recorder, Scene};
use crate::value::{Form, InstanceNames, Store, Value, write_value};

impl<R: Recorder> Interpreter<'_, '_, R> {
    #[inline]
    pub(super) fn read(&mut self, base: usize, operand: Operand) -> Value {
        match operand.view() {
            OperandView::Register(n) => self.local.registers[base + n as usize],
            OperandView::Field(n) => {
                self.local.touched.read_field(n);
                self.local.registers[n as usize]
            }
            OperandView::Const(n) => self.cx.exe.consts[n as usize],
        }
    }

    #[inline]
    pub(super) fn read_copy(&mut self, base: usize, operand: Operand) -> Value {
        let value = self.read(base, operand);
        self.cx.store.copy(value)
    }

    #[inline]
    fn write(&mut self, base: usize, operand: Operand, value: Value) {
        match operand.view() {
            OperandView::Register(n) => self.local.registers[base + n as usize] = value,
            OperandView::Field(n) => {
                self.local.touched.write_field(n);
                self.local.registers[n as usize] = value;
                if R::WRITES {
                    self.note(Note::Assign { actor: self.cx.actor, field: n });
                }
            }
            OperandView::Const(_) => debug_assert!(false, "a constant is not written"),
        }
    }

    /// Executes the frames until they return, unwind or meet an effect.
    pub(super) fn execute(&mut self) -> Result<Stop, Trap> {
        self.execute_ops::<false>()
    }

    /// The same, or just one op that is neither a plain jump nor a call or return: then it yields after it.
    pub(super) fn execute_ops<const ONE: bool>(&mut self) -> Result<Stop, Trap> {
        let Some(&frame) = self.local.frames.last() else { return Ok(Stop::Return) };
        let mut pc = frame.pc;
        let mut base = frame.base as usize;
        // The top frame's `pc` is kept current where it is needed: at effects, faults and calls.
        macro_rules! here {
            () => {
                self.set_pc(pc)
            };
        }
        // The result of an operation, or its fault at the op at hand.
        macro_rules! attempt {
            ($outcome:expr) => {
                match $outcome {
                    Ok(value) => value,
                    Err(fault) => {
                        here!();
                        return Err(self.op_fault(fault));
                    }
                }
            };
        }
        let exe = self.cx.exe;
        let code = exe.code.as_slice();
        // Straight code ends by itself: only what can repeat costs fuel.
        macro_rules! jump {
            ($to:expr) => {{
                let to = $to;
                if to <= pc && !self.spend(pc - to + 1) {
                    self.set_pc(to);
                    return Ok(Stop::Effect(Effect::Yield));
                }
                pc = to;
                continue;
            }};
        }
        loop {
            let op = code[pc as usize];
            match op {
                Op::Move { dst, src } => {
                    let value = self.read_copy(base, src);
                    self.write(base, dst, value);
                }
                Op::Binary { op, dst, a, b } => {
                    let (a, b) = (self.read(base, a), self.read(base, b));
                    let value = attempt!(ops::binary(self.cx.store, op, a, b));
                    self.write(base, dst, value);
                }
                Op::Not { dst, src } => {
                    let value = attempt!(ops::not(self.read(base, src)));
                    self.write(base, dst, value);
                }
                Op::Neg { dst, src } => {
                    let value = self.read(base, src);
                    let value = attempt!(ops::neg(self.cx.store, value));
                    self.write(base, dst, value);
                }
                Op::Tuple { dst, first, n } => {
                    let at = base + first as usize;
                    let value = self.cx.store.tuple(&self.local.registers[at..at + n as usize]);
                    self.write(base, dst, value);
                    if self.cx.store.take_too_deep() {
                        attempt!(Err(OpFault::TOO_DEEP))
                    }
                }
                Op::Named { dst, first, shape } => {
                    let at = base + first as usize;
                    let n = self.cx.exe.shapes[shape].len();
                    let value = self.cx.store.named(shape, &self.local.registers[at..at + n]);
                    self.write(base, dst, value);
                    if self.cx.store.take_too_deep() {
                        attempt!(Err(OpFault::TOO_DEEP))
                    }
                }
                Op::Part { dst, src, index } => {
                    let tuple = self.read(base, src);
                    let value = attempt!(ops::part(self.cx.store, tuple, index));
                    self.write(base, dst, value);
                }
                Op::Field { dst, src, access } => {
                    let tuple = self.read(base, src);
                    let value = attempt!(ops::field(exe, self.cx.store, tuple, access));
                    self.write(base, dst, value);
                }
                Op::Index { dst, src, index } => {
                    let (collection, index) = (self.read(base, src), self.read(base, index));
                    let value = attempt!(ops::index(self.cx.store, collection, index));
                    self.write(base, dst, value);
                }
                Op::Keys { dst, src } => {
                    let map = self.read(base, src);
                    let keys = attempt!(self.cx.store.keys(map).map_err(OpFault::from));
                    self.write(base, dst, keys);
                }
                Op::Values { dst, src } => {
                    let map = self.read(base, src);
                    let values = attempt!(self.cx.store.values(map).map_err(OpFault::from));
                    self.write(base, dst, values);
                }
                Op::Sizeof { dst, src } => {
                    let collection = self.read(base, src);
                    let size = attempt!(ops::size_of(self.cx.store, collection));
                    self.write(base, dst, size);
                }
                Op::Cast { dst, src, class } => {
                    let value = self.read(base, src);
                    let value = attempt!(ops::cast(self.cx.store, value, class));
                    self.write(base, dst, value);
                }
                Op::ToInt { dst, src } => {
                    let value = self.read(base, src);
                    let value = attempt!(ops::to_int(self.cx.store, value));
                    self.write(base, dst, value);
                }
                Op::ToFloat { dst, src } => {
                    let value = self.read(base, src);
                    let value = attempt!(ops::to_float(self.cx.store, value));
                    self.write(base, dst, value);
                }
                Op::ToPermission { dst, src, permission } => {
                    let value = self.read(base, src);
                    let value = attempt!(ops::to_permission(exe, value, permission));
                    self.write(base, dst, value);
                }
                Op::Format { dst, template, first } => {
                    let text = self.fill(template, base + first as usize);
                    // The text of a failed assertion is for people only.
                    if code.get(pc as usize + 1) != Some(&Op::Fail { message: dst }) {
                        let n = exe.templates[template].n_args as usize;
                        let at = base + first as usize;
                        let args = &self.local.registers[at..at + n];
                        args.iter().for_each(|&value| self.cx.store.need_numbers_in(value));
                    }
                    if text.len() > MAX_TEXT {
                        attempt!(Err(OpFault::TOO_LONG))
                    }
                    let value = self.cx.store.string(&text);
                    self.write(base, dst, value);
                }
                Op::FormatForPrint { dst, template, first } => {
                    let text = if R::ON { self.fill(template, base + first as usize) } else { String::new() };
                    let value = self.cx.store.string(&text);
                    self.write(base, dst, value);
                }
                Op::This { dst } => {
                    let value = match self.cx.actor {
                        Actor::Machine(instance) => {
                            Value::reference(instance, self.cx.exe.machines[self.local.machine].receives)
                        }
                        Actor::Monitor(_) => Value::NULL,
                    };
                    self.write(base, dst, value);
                }
                Op::Flip { .. } => {
                    here!();
                    return Ok(Stop::Effect(Effect::Choose { n_answers: 2, is_number: false }));
                }
                Op::Choose { dst, src } => {
                    let source = self.read(base, src);
                    here!();
                    match attempt!(ops::n_answers(self.cx.store, source)) {
                        0 | 1 => {
                            let (actor, n_named) = (self.cx.actor, &mut self.local.n_named);
                            let value = ops::answer(self.cx.store, source, (pc, 0), actor, n_named);
                            self.write(base, dst, value);
                        }
                        n_answers => {
                            let is_number = self.cx.store.as_int(source).is_some();
                            return Ok(Stop::Effect(Effect::Choose { n_answers, is_number }));
                        }
                    }
                }
                Op::Jump { to } => jump!(to),
                Op::JumpIf { cond, to } => {
                    if attempt!(ops::condition(self.read(base, cond))) {
                        jump!(to)
                    }
                }
                Op::JumpIfNot { cond, to } => {
                    if !attempt!(ops::condition(self.read(base, cond))) {
                        jump!(to)
                    }
                }
                Op::Next { dst, iter, end } => {
                    let iter = base + iter as usize;
                    let (collection, position) = (self.local.registers[iter], self.local.registers[iter + 1]);
                    if self.cx.store.size_of(collection).is_none() {
                        attempt!(Err(OpFault::Operand("foreach over a value that is", collection)))
                    }
                    let at = position.as_small_int().unwrap_or(0) as usize;
                    match self.cx.store.nth(collection, at) {
                        Some(item) => {
                            self.local.registers[iter + 1] = Value::size(at + 1);
                            self.write(base, dst, item);
                        }
                        None => {
                            // Nothing of a finished loop stays behind in the state.
                            self.local.registers[iter] = Value::NULL;
                            self.local.registers[iter + 1] = Value::NULL;
                            if ONE {
                                self.set_pc(end);
                                return Ok(Stop::Effect(Effect::Yield));
                            }
                            pc = end;
                            continue;
                        }
                    }
                }
                Op::Call { dst, fun, first } => {
                    if self.local.frames.len() >= self.cx.limits.call_depth as usize {
                        here!();
                        return Err(Trap::Exceeds(HandlerLimit::CallDepth(self.cx.limits.call_depth)));
                    }
                    let def = &exe.funs[fun];
                    let has_fuel = self.spend(def.end - def.entry);
                    pc += 1;
                    here!();
                    base += first as usize;
                    let n_params = def.params.len();
                    self.local.registers.truncate(base + n_params);
                    self.local.registers.resize(base + def.n_registers as usize, Value::NULL);
                    self.local.frames.push(Frame { fun, pc: def.entry, base: base as u32, dst });
                    if !has_fuel {
                        return Ok(Stop::Effect(Effect::Yield));
                    }
                    pc = def.entry;
                    continue;
                }
                Op::Return { src } => {
                    let value = self.read_copy(base, src);
                    let Some(frame) = self.local.frames.pop() else { return Ok(Stop::Return) };
                    if self.cx.store.has_drafts() {
                        self.cx.store.release_all(&self.local.registers[frame.base as usize..]);
                    }
                    let Some(&caller) = self.local.frames.last() else {
                        self.local.registers.truncate(frame.base as usize);
                        return Ok(Stop::Return);
                    };
                    base = caller.base as usize;
                    let n_registers = self.cx.exe.funs[caller.fun].n_registers as usize;
                    // The registers of the callee are forgotten, so that nothing of it stays in the state.
                    self.local.registers.truncate(frame.base as usize);
                    self.local.registers.resize(base + n_registers, Value::NULL);
                    self.write(base, frame.dst, value);
                    pc = caller.pc;
                    continue;
                }
                Op::Store { root, path, src } => {
                    let value = self.read_copy(base, src);
                    here!();
                    self.update(base, root, path, Update::Set(value))?;
                }
                Op::Insert { root, path, src } => {
                    let value = self.read_copy(base, src);
                    here!();
                    self.update(base, root, path, Update::Insert(value))?;
                }
                Op::Add { root, path, src } => {
                    let value = self.read_copy(base, src);
                    here!();
                    self.update(base, root, path, Update::Add(value))?;
                }
                Op::Remove { root, path } => {
                    here!();
                    self.update(base, root, path, Update::Remove)?;
                }
                Op::Fail { message } => {
                    let message = self.read(base, message);
                    here!();
                    let span = self.cx.exe.spans.get(pc as usize).copied();
                    return Err(Trap::Fault(Fault { kind: ViolationKind::Assertion, text: message, span }));
                }
                Op::Print { src } => {
                    if R::ON {
                        let (text, span) = (self.read(base, src), self.cx.exe.spans[pc as usize]);
                        let actor = self.cx.actor;
                        self.note(Note::Print { actor, text, span });
                    }
                }
                Op::PrintFormat { template, first } => {
                    if R::ON {
                        let text = self.fill(template, base + first as usize);
                        let (text, span) = (self.cx.store.string(&text), self.cx.exe.spans[pc as usize]);
                        let actor = self.cx.actor;
                        self.note(Note::Print { actor, text, span });
                    }
                }
                Op::Send { target, event, payload } => {
                    let (target, event) = (self.read(base, target), self.read(base, event));
                    let payload = self.read_copy(base, payload);
                    here!();
                    let (target, event) = attempt!(ops::check_send(exe, self.local.machine, target, event));
                    let message = Message { event, payload };
                    if self.cx.exe.observers(self.local.interface, event).is_empty() {
                        self.set_pc(pc + 1);
                        return Ok(Stop::Effect(Effect::Deliver { target, message }));
                    }
                    return Ok(Stop::Effect(Effect::Observe(message)));
                }
                Op::Announce { event, payload } => {
                    let event = self.read(base, event);
                    let payload = self.read_copy(base, payload);
                    here!();
                    let event = attempt!(event.as_event().ok_or(OpFault::NullEvent("announced")));
                    let message = Message { event, payload };
                    // Whether a recorder listens must not change where the machine stops.
                    if !self.cx.exe.observers(self.local.interface, event).is_empty() {
                        return Ok(Stop::Effect(Effect::Observe(message)));
                    }
                    if R::ON
                        && let Actor::Machine(machine) = self.cx.actor
                    {
                        let (state, span) = (self.local.control, self.cx.exe.spans[pc as usize]);
                        self.note(Note::Announce { machine, state, message, span });
                    }
                }
                Op::New { dst, interface, payload } => {
                    let payload = self.read_copy(base, payload);
                    let interface = attempt!(ops::check_new(exe, self.local.interface, interface));
                    self.set_pc(pc + 1);
                    return Ok(Stop::Effect(Effect::Create { interface, payload, dst }));
                }
                Op::Raise { event, payload } => {
                    let event = self.read(base, event);
                    let payload = self.read_copy(base, payload);
                    here!();
                    let event = attempt!(event.as_event().ok_or(OpFault::NullEvent("raised")));
                    let message = Message { event, payload };
                    if R::ON {
                        let span = self.cx.exe.spans[pc as usize];
                        let (actor, state) = (self.cx.actor, self.local.control);
                        self.note(Note::Raise { actor, state, message, span });
                    }
                    return Ok(Stop::Raise(message));
                }
                Op::Goto { state, payload } => {
                    let payload = self.read_copy(base, payload);
                    return Ok(Stop::Goto { target: state, payload });
                }
                Op::Receive { table } => {
                    here!();
                    return Ok(Stop::Effect(Effect::Receive { table }));
                }
                Op::Foreign { fun } => {
                    here!();
                    return Ok(Stop::Effect(Effect::Foreign { fun }));
                }
            }
            pc += 1;
            if ONE {
                self.set_pc(pc);
                return Ok(Stop::Effect(Effect::Yield));
            }
        }
    }

    #[inline]
    fn set_pc(&mut self, pc: u32) {
        if let Some(frame) = self.local.frames.last_mut() {
            frame.pc = pc;
        }
    }

    /// The answer to the choice at hand.
    pub(super) fn chosen(&mut self, answer: u32) -> Result<(), Trap> {
        let Some(&frame) = self.local.frames.last() else { return Ok(()) };
        let base = frame.base as usize;
        let (dst, value) = match self.cx.exe.code[frame.pc as usize] {
            Op::Flip { dst, .. } => (dst, Value::bool(answer != 0)),
            Op::Choose { dst, src } => {
                let source = self.read(base, src);
                let (actor, n_named) = (self.cx.actor, &mut self.local.n_named);
                let value = ops::answer(self.cx.store, source, (frame.pc, answer), actor, n_named);
                (dst, value)
            }
            _ => return Ok(()),
        };
        self.write(base, dst, value);
        self.set_pc(frame.pc + 1);
        Ok(())
    }

    fn fill(&self, template: TemplateId, first: usize) -> String {
        let Context { exe, store, roster, .. } = &self.cx;
        match exe.observed_text {
            Some(_) => self.fill_with(template, first, &Scene { exe, store, roster }),
            None => self.fill_with(template, first, &PathNames(exe)),
        }
    }

    fn fill_with(&self, template: TemplateId, first: usize, names: &impl InstanceNames) -> String {
        let mut out = String::new();
        for piece in &self.cx.exe.templates[template].pieces {
            match piece {
                TemplatePiece::Text(text) => out.push_str(text),
                TemplatePiece::Arg(n) => {
                    let value = self.local.registers[first + *n as usize];
                    write_value(self.cx.store, names, Form::Plain, value, &mut out);
                }
            }
        }
        out
    }

    /// Changes a variable along a path.
    fn update(&mut self, base: usize, root: Operand, path: u32, update: Update) -> Result<(), Trap> {
        let exe = self.cx.exe;
        let before = self.read(base, root);
        let after = ops::update(exe, &mut InFrame { interpreter: self, base }, before, path, update);
        let after = after.map_err(|fault| self.op_fault(fault))?;
        self.write(base, root, after);
        Ok(())
    }

    #[cold]
    pub(super) fn op_fault(&mut self, fault: OpFault) -> Trap {
        let span = self.local.frames.last().and_then(|frame| self.cx.exe.spans.get(frame.pc as usize));
        self.op_fault_at(fault, span.copied())
    }

    #[cold]
    pub(super) fn op_fault_at(&mut self, fault: OpFault, span: Option<Span>) -> Trap {
        match fault.kind() {
            Ok(kind) => self.fault(kind, fault.text(self.cx.exe), span),
            Err(limit) => Trap::Exceeds(limit),
        }
    }
}

/// The frame at `base`, in which the operands of a path are.
struct InFrame<'a, 'b, 'c, R> {
    interpreter: &'a mut Interpreter<'b, 'c, R>,
    base: usize,
}

impl<R: Recorder> PathOperands for InFrame<'_, '_, '_, R> {
    #[inline]
    fn read(&mut self, operand: Operand) -> Value {
        self.interpreter.read(self.base, operand)
    }

    #[inline]
    fn store(&mut self) -> &mut Store {
        self.interpreter.cx.store
    }
}
