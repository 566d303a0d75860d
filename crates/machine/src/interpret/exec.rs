//! Executing ops.

use allways_base::Symbol;
use allways_p::hir::BinaryOp;
use allways_run::ViolationKind;

use super::{Context, Effect, Interpreter, Stop, describe, has_class};
use crate::configuration::{Fault, Frame, Message};
use crate::ir::{Class, EventId, Op, Operand, OperandView, Step, TemplatePiece};
use crate::record::{Actor, Note, PathNames, Recorder, Scene};
use crate::value::{CollectionFault, Form, InstanceNames, Kind, Store, Value, View, write_value};

/// The largest number of answers of a `choose`.
const MAX_ANSWERS: usize = 10_000;

/// The longest string: one that doubles itself in a loop must not take all memory.
const MAX_TEXT: usize = 1 << 20;

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
            }
            OperandView::Const(_) => debug_assert!(false, "a constant is not written"),
        }
    }

    /// Executes the frames until they return, unwind or meet an effect.
    pub(super) fn execute(&mut self) -> Result<Stop, Fault> {
        let Some(&frame) = self.local.frames.last() else { return Ok(Stop::Return) };
        let mut pc = frame.pc;
        let mut base = frame.base as usize;
        // The top frame's `pc` is kept current where it is needed: at effects, faults and calls.
        macro_rules! here {
            () => {
                self.set_pc(pc)
            };
        }
        macro_rules! fail {
            ($kind:expr, $($text:tt)*) => {{
                here!();
                return Err(self.fault_here($kind, format!($($text)*)));
            }};
        }
        macro_rules! collection {
            ($outcome:expr) => {
                match $outcome {
                    Ok(value) => value,
                    Err(fault) => {
                        here!();
                        return Err(self.collection_fault(fault));
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
                    match binary(self.cx.store, op, a, b) {
                        Ok(value) => self.write(base, dst, value),
                        Err(BinaryFault::DivisionByZero) => {
                            fail!(ViolationKind::DivisionByZero, "attempted to divide by zero")
                        }
                        Err(BinaryFault::TooLong) => {
                            fail!(ViolationKind::ValueSize, "string longer than {MAX_TEXT} bytes")
                        }
                        Err(BinaryFault::Class) => fail!(
                            ViolationKind::Cast,
                            "operands {} and {} do not fit the operator",
                            describe(a),
                            describe(b)
                        ),
                        Err(BinaryFault::Collection(fault)) => collection!(Err(fault)),
                    }
                }
                Op::Not { dst, src } => match self.read(base, src).as_bool() {
                    Some(b) => self.write(base, dst, Value::bool(!b)),
                    None => fail!(ViolationKind::Cast, "operand of ! is not a bool"),
                },
                Op::Neg { dst, src } => {
                    let value = self.read(base, src);
                    let negated = match (self.cx.store.as_int(value), self.cx.store.as_float(value)) {
                        (Some(n), _) => self.cx.store.int(n.wrapping_neg()),
                        (_, Some(x)) => self.cx.store.float(-x),
                        _ => fail!(ViolationKind::Cast, "operand of - is {}", describe(value)),
                    };
                    self.write(base, dst, negated);
                }
                Op::Tuple { dst, first, n } => {
                    let at = base + first as usize;
                    let value = self.cx.store.tuple(&self.local.registers[at..at + n as usize]);
                    self.write(base, dst, value);
                    if self.cx.store.take_too_deep() {
                        here!();
                        return Err(self.too_deep());
                    }
                }
                Op::Named { dst, first, shape } => {
                    let at = base + first as usize;
                    let n = self.cx.exe.shapes[shape].len();
                    let value = self.cx.store.named(shape, &self.local.registers[at..at + n]);
                    self.write(base, dst, value);
                    if self.cx.store.take_too_deep() {
                        here!();
                        return Err(self.too_deep());
                    }
                }
                Op::Part { dst, src, index } => {
                    let tuple = self.read(base, src);
                    match part(self.cx.store, tuple, index as usize) {
                        Some(value) => {
                            let value = self.cx.store.copy(value);
                            self.write(base, dst, value);
                        }
                        None => {
                            fail!(
                                ViolationKind::Cast,
                                "no part {index} in a value that is {}",
                                describe(tuple)
                            )
                        }
                    }
                }
                Op::Field { dst, src, access } => {
                    let tuple = self.read(base, src);
                    let View::Node(Kind::Named, id) = tuple.view() else {
                        fail!(
                            ViolationKind::Cast,
                            "value with fields expected, found one {}",
                            describe(tuple)
                        )
                    };
                    let (name, usual) = self.cx.exe.accesses[access as usize];
                    match self.position(tuple, name, usual) {
                        Some(at) => {
                            let value = self.cx.store.named_parts(id).1[at];
                            let value = self.cx.store.copy(value);
                            self.write(base, dst, value);
                        }
                        None => {
                            let name = self.cx.exe.symbols.text(name).to_owned();
                            fail!(ViolationKind::MissingField, "no field '{name}' in the named tuple")
                        }
                    }
                }
                Op::Index { dst, src, index } => {
                    let (collection, index) = (self.read(base, src), self.read(base, index));
                    let value = collection!(self.cx.store.get(collection, index));
                    let value = self.cx.store.copy(value);
                    self.write(base, dst, value);
                }
                Op::Keys { dst, src } => {
                    let map = self.read(base, src);
                    let keys = collection!(self.cx.store.keys(map));
                    self.write(base, dst, keys);
                }
                Op::Values { dst, src } => {
                    let map = self.read(base, src);
                    let values = collection!(self.cx.store.values(map));
                    self.write(base, dst, values);
                }
                Op::Sizeof { dst, src } => {
                    let collection = self.read(base, src);
                    match self.cx.store.size_of(collection) {
                        Some(n) => self.write(base, dst, Value::size(n)),
                        None => {
                            fail!(ViolationKind::Cast, "sizeof of a value that is {}", describe(collection))
                        }
                    }
                }
                Op::Cast { dst, src, class } => {
                    let value = self.read_copy(base, src);
                    if !has_class(value, class) {
                        fail!(
                            ViolationKind::Cast,
                            "cast to {} of a value that is {}",
                            class.as_str(),
                            describe(value)
                        );
                    }
                    self.write(base, dst, value);
                }
                Op::ToInt { dst, src } => {
                    let value = self.read(base, src);
                    let converted = match self.cx.store.as_float(value) {
                        Some(x) => self.cx.store.int(x as i64),
                        None if has_class(value, Class::Int) => value,
                        None => fail!(
                            ViolationKind::Cast,
                            "conversion to int of a value that is {}",
                            describe(value)
                        ),
                    };
                    self.write(base, dst, converted);
                }
                Op::ToFloat { dst, src } => {
                    let value = self.read(base, src);
                    let converted = match self.cx.store.as_int(value) {
                        Some(n) => self.cx.store.float(n as f64),
                        None if has_class(value, Class::Float) => value,
                        None => fail!(
                            ViolationKind::Cast,
                            "conversion to float of a value that is {}",
                            describe(value)
                        ),
                    };
                    self.write(base, dst, converted);
                }
                Op::ToPermission { dst, src, permission } => {
                    let value = self.read(base, src);
                    let Some((instance, known)) = value.as_ref() else {
                        fail!(
                            ViolationKind::Cast,
                            "conversion to a machine type of a value that is {}",
                            describe(value)
                        )
                    };
                    let permissions = &self.cx.exe.permissions;
                    if !permissions[known].is_superset(&permissions[permission]) {
                        fail!(
                            ViolationKind::Permission,
                            "the reference does not permit all events of the type it is converted to"
                        );
                    }
                    self.write(base, dst, Value::reference(instance, permission));
                }
                Op::Format { dst, template, first } => {
                    let text = self.fill(template, base + first as usize);
                    // The text of a failed assertion is for people only.
                    if code.get(pc as usize + 1) != Some(&Op::Fail { message: dst }) {
                        let n = exe.templates[template as usize].n_args as usize;
                        let at = base + first as usize;
                        let args = &self.local.registers[at..at + n];
                        args.iter().for_each(|&value| self.cx.store.need_numbers_in(value));
                    }
                    if text.len() > MAX_TEXT {
                        fail!(ViolationKind::ValueSize, "string longer than {MAX_TEXT} bytes");
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
                    match self.n_answers(source)? {
                        0 | 1 => {
                            let value = self.answer(source, pc, 0);
                            self.write(base, dst, value);
                        }
                        n_answers => {
                            let is_number = self.cx.store.as_int(source).is_some();
                            return Ok(Stop::Effect(Effect::Choose { n_answers, is_number }));
                        }
                    }
                }
                Op::Jump { to } => jump!(to),
                Op::JumpIf { cond, to } => match self.read(base, cond) {
                    Value::TRUE => jump!(to),
                    Value::FALSE => {}
                    other => fail!(ViolationKind::Cast, "condition is {}", describe(other)),
                },
                Op::JumpIfNot { cond, to } => match self.read(base, cond) {
                    Value::FALSE => jump!(to),
                    Value::TRUE => {}
                    other => fail!(ViolationKind::Cast, "condition is {}", describe(other)),
                },
                Op::Next { dst, iter, end } => {
                    let iter = base + iter as usize;
                    let (collection, position) = (self.local.registers[iter], self.local.registers[iter + 1]);
                    if self.cx.store.size_of(collection).is_none() {
                        fail!(ViolationKind::Cast, "foreach over a value that is {}", describe(collection));
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
                            pc = end;
                            continue;
                        }
                    }
                }
                Op::Call { dst, fun, first } => {
                    if self.local.frames.len() >= self.cx.limits.call_depth as usize {
                        fail!(
                            ViolationKind::RecursionLimit,
                            "calls nested deeper than {}",
                            self.cx.limits.call_depth
                        );
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
                    return Err(Fault { kind: ViolationKind::Assertion, text: message, span });
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
                    let (target, event) = self.check_send(target, event)?;
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
                    let Some(event) = event.as_event() else {
                        fail!(ViolationKind::NullEvent, "announced event is null")
                    };
                    let message = Message { event, payload };
                    // Whether somebody records must not change where the machine stops.
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
                    let interface = self.cx.exe.link(self.local.interface, interface);
                    if self.cx.exe.interfaces[interface].machine.is_none() {
                        let name = self.cx.exe.interface_name(interface).to_owned();
                        fail!(ViolationKind::Unbound, "no machine is bound to interface '{name}'");
                    }
                    self.set_pc(pc + 1);
                    return Ok(Stop::Effect(Effect::Create { interface, payload, dst }));
                }
                Op::Raise { event, payload } => {
                    let event = self.read(base, event);
                    let payload = self.read_copy(base, payload);
                    here!();
                    let Some(event) = event.as_event() else {
                        fail!(ViolationKind::NullEvent, "raised event is null")
                    };
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
        }
    }

    #[inline]
    fn set_pc(&mut self, pc: u32) {
        if let Some(frame) = self.local.frames.last_mut() {
            frame.pc = pc;
        }
    }

    /// The answer to the choice at hand.
    pub(super) fn chosen(&mut self, answer: u32) -> Result<(), Fault> {
        let Some(&frame) = self.local.frames.last() else { return Ok(()) };
        let base = frame.base as usize;
        let (dst, value) = match self.cx.exe.code[frame.pc as usize] {
            Op::Flip { dst, .. } => (dst, Value::bool(answer != 0)),
            Op::Choose { dst, src } => {
                let source = self.read(base, src);
                let value = self.answer(source, frame.pc, answer);
                (dst, value)
            }
            _ => return Ok(()),
        };
        self.write(base, dst, value);
        self.set_pc(frame.pc + 1);
        Ok(())
    }

    fn n_answers(&mut self, source: Value) -> Result<u32, Fault> {
        if let Some(n) = self.cx.store.as_int(source) {
            return match usize::try_from(n) {
                Ok(n) if n <= MAX_ANSWERS => Ok(n as u32),
                Ok(_) => {
                    let text = format!("choose expects at most {MAX_ANSWERS} choices, got {n}");
                    Err(self.fault_here(ViolationKind::Choose, text))
                }
                Err(_) => {
                    Err(self.fault_here(ViolationKind::Choose, format!("choose of the negative number {n}")))
                }
            };
        }
        match self.cx.store.size_of(source) {
            Some(0) => Err(self.fault_here(ViolationKind::Choose, "choose from an empty collection".into())),
            Some(n) if n > MAX_ANSWERS => {
                let text = format!("choose expects at most {MAX_ANSWERS} choices, got {n}");
                Err(self.fault_here(ViolationKind::Choose, text))
            }
            Some(n) => Ok(n as u32),
            None => {
                let text = format!("choose from a value that is {}", describe(source));
                Err(self.fault_here(ViolationKind::Cast, text))
            }
        }
    }

    fn answer(&mut self, source: Value, pc: u32, answer: u32) -> Value {
        match self.cx.store.nth(source, answer as usize) {
            Some(value) => self.cx.store.copy(value),
            None => {
                let atom = self.cx.store.data.as_ref().and_then(|plan| plan.atom(pc, answer));
                atom.unwrap_or(Value::size(answer as usize))
            }
        }
    }

    /// P's checks of a send, in P's order.
    fn check_send(
        &mut self,
        target: Value,
        event: Value,
    ) -> Result<(allways_run::InstanceId, EventId), Fault> {
        let exe = self.cx.exe;
        let Some(event) = event.as_event() else {
            return Err(self.fault_here(ViolationKind::NullEvent, "sent event is null".into()));
        };
        let Some((target, permission)) = target.as_ref() else {
            return Err(self.fault_here(ViolationKind::NullTarget, "target of the send is null".into()));
        };
        if !exe.machines[self.local.machine].sends.contains(event) {
            let text = format!(
                "event {} is not in the sends set of machine {}",
                exe.event_name(event),
                exe.machine_name(self.local.machine)
            );
            return Err(self.fault_here(ViolationKind::SendsSet, text));
        }
        if !exe.permissions[permission].contains(event) {
            let text = format!(
                "event {} is not in the permissions set of the target machine",
                exe.event_name(event)
            );
            return Err(self.fault_here(ViolationKind::Permission, text));
        }
        Ok((target, event))
    }

    /// Where a named tuple has a field: where the static type says, or wherever its own names say.
    #[inline]
    fn position(&self, tuple: Value, name: Symbol, usual: u32) -> Option<usize> {
        let View::Node(Kind::Named, id) = tuple.view() else { return None };
        let names = &self.cx.exe.shapes[self.cx.store.named_parts(id).0];
        if names.get(usual as usize) == Some(&name) {
            return Some(usual as usize);
        }
        names.iter().position(|&other| other == name)
    }

    fn fill(&self, template: u32, first: usize) -> String {
        let Context { exe, store, roster, .. } = &self.cx;
        match exe.observed_text {
            Some(_) => self.fill_with(template, first, &Scene { exe, store, roster }),
            None => self.fill_with(template, first, &PathNames(exe)),
        }
    }

    fn fill_with(&self, template: u32, first: usize, names: &impl InstanceNames) -> String {
        let mut out = String::new();
        for piece in &self.cx.exe.templates[template as usize].pieces {
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

    /// Changes a variable along a path, in place: freed slots stay.
    fn update(&mut self, base: usize, root: Operand, path: u32, update: Update) -> Result<(), Fault> {
        let exe = self.cx.exe;
        let mut steps = exe.paths[path as usize].as_slice();
        // The key of an insertion or removal is the last step.
        let mut key = Value::NULL;
        if let (Update::Insert(_) | Update::Remove, Some((&Step::Index(operand), rest))) =
            (update, steps.split_last())
        {
            key = self.read_copy(base, operand);
            steps = rest;
        }
        // Down, keeping what was passed: a plain store needs the holder of the last step only.
        let down = match update {
            Update::Set(_) => steps.len() - 1,
            Update::Insert(_) | Update::Add(_) | Update::Remove => steps.len(),
        };
        let mut holders = [Value::NULL; 8];
        let mut more_holders = Vec::new();
        let mut current = self.read(base, root);
        for (depth, step) in steps[..down].iter().enumerate() {
            match holders.get_mut(depth) {
                Some(slot) => *slot = current,
                None => more_holders.push(current),
            }
            current = self.child(base, current, *step)?;
        }
        current = match update {
            Update::Set(value) => self.with_child(base, current, steps[down], value)?,
            Update::Insert(value) => {
                let outcome = self.cx.store.insert_at(current, key, value);
                outcome.map_err(|fault| self.collection_fault(fault))?
            }
            Update::Add(value) => {
                let outcome = self.cx.store.add(current, value);
                outcome.map_err(|fault| self.collection_fault(fault))?
            }
            Update::Remove => {
                let outcome = self.cx.store.remove(current, key);
                outcome.map_err(|fault| self.collection_fault(fault))?
            }
        };
        for (depth, step) in steps[..down].iter().enumerate().rev() {
            let holder = match holders.get(depth) {
                Some(&holder) => holder,
                None => more_holders[depth - holders.len()],
            };
            current = self.with_child(base, holder, *step, current)?;
        }
        if self.cx.store.take_too_deep() {
            return Err(self.too_deep());
        }
        self.write(base, root, current);
        Ok(())
    }

    fn child(&mut self, base: usize, holder: Value, step: Step) -> Result<Value, Fault> {
        match step {
            Step::Part(at) => match part(self.cx.store, holder, at as usize) {
                Some(value) => Ok(value),
                None => Err(self.not_a_tuple(holder)),
            },
            Step::Field(access) => {
                let at = self.field_position(holder, access)?;
                match part(self.cx.store, holder, at) {
                    Some(value) => Ok(value),
                    None => Err(self.not_a_tuple(holder)),
                }
            }
            Step::Index(index) => {
                let index = self.read(base, index);
                let outcome = self.cx.store.get(holder, index);
                outcome.map_err(|fault| self.collection_fault(fault))
            }
        }
    }

    fn with_child(&mut self, base: usize, holder: Value, step: Step, value: Value) -> Result<Value, Fault> {
        match step {
            Step::Part(at) => match self.cx.store.with_part(holder, at as usize, value) {
                Some(changed) => Ok(changed),
                None => Err(self.not_a_tuple(holder)),
            },
            Step::Field(access) => {
                let at = self.field_position(holder, access)?;
                match self.cx.store.with_part(holder, at, value) {
                    Some(changed) => Ok(changed),
                    None => Err(self.not_a_tuple(holder)),
                }
            }
            Step::Index(index) => {
                let index = self.read_copy(base, index);
                let outcome = self.cx.store.set(holder, index, value);
                outcome.map_err(|fault| self.collection_fault(fault))
            }
        }
    }

    fn field_position(&mut self, holder: Value, access: u32) -> Result<usize, Fault> {
        let (name, usual) = self.cx.exe.accesses[access as usize];
        if holder.kind() != Some(Kind::Named) {
            return Err(self.not_a_tuple(holder));
        }
        match self.position(holder, name, usual) {
            Some(at) => Ok(at),
            None => {
                let text = format!("no field '{}' in the named tuple", self.cx.exe.symbols.text(name));
                Err(self.fault_here(ViolationKind::MissingField, text))
            }
        }
    }

    #[cold]
    fn not_a_tuple(&mut self, value: Value) -> Fault {
        let text = format!("value with parts expected, found one {}", describe(value));
        self.fault_here(ViolationKind::Cast, text)
    }

    #[cold]
    fn too_deep(&mut self) -> Fault {
        self.fault_here(ViolationKind::ValueSize, "value nested too deeply".into())
    }

    #[cold]
    fn collection_fault(&mut self, fault: CollectionFault) -> Fault {
        let (kind, text) = match fault {
            CollectionFault::Class => {
                (ViolationKind::Cast, "operation on a value that is null or not a collection".into())
            }
            CollectionFault::Index(index, size) => (
                ViolationKind::Index,
                format!("index {index} is out of range for a collection of size {size}"),
            ),
            CollectionFault::MissingKey => (ViolationKind::MissingKey, "the key is not in the map".into()),
            CollectionFault::DuplicateKey => {
                (ViolationKind::DuplicateKey, "the key is in the map already".into())
            }
            CollectionFault::Null => (ViolationKind::NullElement, "null as map key or set element".into()),
        };
        self.fault_here(kind, text)
    }
}

/// What happens at the end of a path.
#[derive(Clone, Copy)]
enum Update {
    Set(Value),
    Insert(Value),
    Add(Value),
    Remove,
}

enum BinaryFault {
    Class,
    TooLong,
    DivisionByZero,
    Collection(CollectionFault),
}

#[inline]
fn part(store: &Store, tuple: Value, index: usize) -> Option<Value> {
    match tuple.view() {
        View::Node(Kind::Tuple, id) => store.parts(id).get(index).copied(),
        View::Node(Kind::Named, id) => store.named_parts(id).1.get(index).copied(),
        _ => None,
    }
}

#[inline]
fn binary(store: &mut Store, op: BinaryOp, a: Value, b: Value) -> Result<Value, BinaryFault> {
    match op {
        BinaryOp::Eq => return Ok(Value::bool(store.eq(a, b))),
        BinaryOp::Ne => return Ok(Value::bool(!store.eq(a, b))),
        BinaryOp::In => return store.contains(b, a).map(Value::bool).map_err(BinaryFault::Collection),
        _ => {}
    }
    if a.is_atom() || b.is_atom() {
        need_order(store, op, a, b);
    }
    if let (Some(a), Some(b)) = (store.shown_int(a), store.shown_int(b)) {
        let n = match op {
            BinaryOp::Add => a.wrapping_add(b),
            BinaryOp::Sub => a.wrapping_sub(b),
            BinaryOp::Mul => a.wrapping_mul(b),
            BinaryOp::Div | BinaryOp::Mod if b == 0 => return Err(BinaryFault::DivisionByZero),
            BinaryOp::Div => a.wrapping_div(b),
            // P's checker truncates both sides to 32 bits first; that is a defect, and 64 bits stay here.
            BinaryOp::Mod => a.wrapping_rem(b),
            BinaryOp::Lt => return Ok(Value::bool(a < b)),
            BinaryOp::Le => return Ok(Value::bool(a <= b)),
            BinaryOp::Gt => return Ok(Value::bool(a > b)),
            BinaryOp::Ge => return Ok(Value::bool(a >= b)),
            BinaryOp::In | BinaryOp::Eq | BinaryOp::Ne | BinaryOp::And | BinaryOp::Or => {
                return Err(BinaryFault::Class);
            }
        };
        return Ok(store.int(n));
    }
    binary_slow(store, op, a, b)
}

/// Reports what an operation with an atom needs to know: where the other number lies, if they are ordered; else which number it is.
#[cold]
fn need_order(store: &Store, op: BinaryOp, a: Value, b: Value) {
    let (atom, number, is_left) = match (a.is_atom(), b.is_atom()) {
        (true, false) => (a, b, true),
        (false, true) => (b, a, false),
        _ => {
            store.need_numbers_in(a);
            return store.need_numbers_in(b);
        }
    };
    let Some(n) = store.as_int(number) else { return };
    // The first number for which the answer differs from that of zero.
    let after =
        matches!((op, is_left), (BinaryOp::Le | BinaryOp::Gt, true) | (BinaryOp::Ge | BinaryOp::Lt, false));
    match op {
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            store.need_cut(atom, if after { n.saturating_add(1) } else { n });
        }
        _ => store.need_numbers_in(atom),
    }
}

#[cold]
fn binary_slow(store: &mut Store, op: BinaryOp, a: Value, b: Value) -> Result<Value, BinaryFault> {
    if let (Some(a), Some(b)) = (store.as_float(a), store.as_float(b)) {
        let x = match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::Div => a / b,
            BinaryOp::Mod => a % b,
            BinaryOp::Lt => return Ok(Value::bool(a < b)),
            BinaryOp::Le => return Ok(Value::bool(a <= b)),
            BinaryOp::Gt => return Ok(Value::bool(a > b)),
            BinaryOp::Ge => return Ok(Value::bool(a >= b)),
            BinaryOp::In | BinaryOp::Eq | BinaryOp::Ne | BinaryOp::And | BinaryOp::Or => {
                return Err(BinaryFault::Class);
            }
        };
        return Ok(store.float(x));
    }
    if let (Some(a), Some(b)) = (store.as_str(a), store.as_str(b)) {
        let text = match op {
            BinaryOp::Add if a.len() + b.len() > MAX_TEXT => return Err(BinaryFault::TooLong),
            BinaryOp::Add => [a, b].concat(),
            BinaryOp::Lt => return Ok(Value::bool(a < b)),
            BinaryOp::Le => return Ok(Value::bool(a <= b)),
            BinaryOp::Gt => return Ok(Value::bool(a > b)),
            BinaryOp::Ge => return Ok(Value::bool(a >= b)),
            BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Mod
            | BinaryOp::In
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::And
            | BinaryOp::Or => return Err(BinaryFault::Class),
        };
        return Ok(store.string(&text));
    }
    Err(BinaryFault::Class)
}
