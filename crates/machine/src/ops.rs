//! What operations do to values: the semantics of the IR's ops, as functions of their operands.
//!
//! Nothing here knows a machine, a frame or a register. The interpreter reads operands, calls a function and writes its result;
//! engines that run code on many values at once, and checkers that recompute one op, call the same functions. The store
//! is where results are interned; it is no state that a result depends on.
//!
//! Invariant: an op fails here or nowhere. An [`OpFault`] says why, and its [`kind`](OpFault::kind) and
//! [`text`](OpFault::text) are what the user sees.

use allways_base::Symbol;
use allways_p::hir::BinaryOp;
use allways_run::{HandlerLimit, InstanceId, ViolationKind};

use crate::Executable;
use crate::ir::{AccessId, Class, EventId, InterfaceId, MachineId, Operand, Step};
use crate::record::Actor;
use crate::value::{CollectionFault, Kind, MAX_DEPTH, PermissionId, Store, Value, View};

/// The largest number of answers of a `choose`.
pub const MAX_ANSWERS: usize = 10_000;

/// The longest string: one that doubles itself in a loop must not take all memory.
pub const MAX_TEXT: usize = 1 << 20;

/// Why an op fails.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum OpFault {
    /// The operands do not fit the operator.
    Operands(Value, Value),
    DivisionByZero,
    /// No fault of the program: a value larger than Allways takes.
    Exceeds(HandlerLimit),
    Collection(CollectionFault),
    NotOfBool,
    /// The operand does not fit: what needed another one, and what it is.
    Operand(&'static str, Value),
    NoPart {
        index: u32,
        found: Value,
    },
    MissingField(Symbol),
    Cast {
        class: Class,
        found: Value,
    },
    /// A payload that a handler or a case of `receive` does not accept.
    Payload {
        class: Class,
        found: Value,
    },
    /// A conversion to a machine type that permits more than the reference.
    Permissions,
    TooManyAnswers(usize),
    NegativeChoice(i64),
    EmptyChoice,
    /// What was to be done with the event that is null.
    NullEvent(&'static str),
    NullTarget,
    SendsSet {
        machine: MachineId,
        event: EventId,
    },
    SendPermission(EventId),
    Unbound(InterfaceId),
}

impl OpFault {
    /// A string longer than [`MAX_TEXT`].
    pub const TOO_LONG: OpFault = OpFault::Exceeds(HandlerLimit::TextBytes(MAX_TEXT as u32));
    /// A value nested more deeply than a store takes.
    pub const TOO_DEEP: OpFault = OpFault::Exceeds(HandlerLimit::Nesting(MAX_DEPTH));

    /// What is violated.
    ///
    /// # Errors
    /// When nothing is: the limit that is exceeded.
    pub fn kind(self) -> Result<ViolationKind, HandlerLimit> {
        Ok(match self {
            OpFault::Operands(..)
            | OpFault::NotOfBool
            | OpFault::Operand(..)
            | OpFault::NoPart { .. }
            | OpFault::Cast { .. }
            | OpFault::Payload { .. }
            | OpFault::Collection(CollectionFault::Class) => ViolationKind::Cast,
            OpFault::DivisionByZero => ViolationKind::DivisionByZero,
            OpFault::Exceeds(limit) => return Err(limit),
            OpFault::Collection(CollectionFault::Index(..)) => ViolationKind::Index,
            OpFault::Collection(CollectionFault::MissingKey) => ViolationKind::MissingKey,
            OpFault::Collection(CollectionFault::DuplicateKey) => ViolationKind::DuplicateKey,
            OpFault::Collection(CollectionFault::Null) => ViolationKind::NullElement,
            OpFault::MissingField(_) => ViolationKind::MissingField,
            OpFault::Permissions | OpFault::SendPermission(_) => ViolationKind::Permission,
            OpFault::TooManyAnswers(_) | OpFault::NegativeChoice(_) | OpFault::EmptyChoice => {
                ViolationKind::Choose
            }
            OpFault::NullEvent(_) => ViolationKind::NullEvent,
            OpFault::NullTarget => ViolationKind::NullTarget,
            OpFault::SendsSet { .. } => ViolationKind::SendsSet,
            OpFault::Unbound(_) => ViolationKind::Unbound,
        })
    }

    /// The message of the violation.
    pub fn text(self, exe: &Executable) -> String {
        match self {
            OpFault::Operands(a, b) => {
                format!("operands {} and {} do not fit the operator", describe(a), describe(b))
            }
            OpFault::DivisionByZero => "attempted to divide by zero".into(),
            OpFault::Exceeds(_) => "a value is too large".into(),
            OpFault::Collection(fault) => match fault {
                CollectionFault::Class => "operation on a value that is null or not a collection".into(),
                CollectionFault::Index(index, size) => {
                    format!("index {index} is out of range for a collection of size {size}")
                }
                CollectionFault::MissingKey => "the key is not in the map".into(),
                CollectionFault::DuplicateKey => "the key is in the map already".into(),
                CollectionFault::Null => "null as map key or set element".into(),
            },
            OpFault::NotOfBool => "operand of ! is not a bool".into(),
            OpFault::Operand(what, found) => format!("{what} {}", describe(found)),
            OpFault::NoPart { index, found } => {
                format!("no part {index} in a value that is {}", describe(found))
            }
            OpFault::MissingField(name) => {
                format!("no field '{}' in the named tuple", exe.symbols.text(name))
            }
            OpFault::Cast { class, found } => {
                format!("cast to {} of a value that is {}", class.as_str(), describe(found))
            }
            OpFault::Payload { class, found } => {
                format!("payload {} where {} is expected", describe(found), class.as_str())
            }
            OpFault::Permissions => {
                "the reference does not permit all events of the type it is converted to".into()
            }
            OpFault::TooManyAnswers(n) => format!("choose expects at most {MAX_ANSWERS} choices, got {n}"),
            OpFault::NegativeChoice(n) => format!("choose of the negative number {n}"),
            OpFault::EmptyChoice => "choose from an empty collection".into(),
            OpFault::NullEvent(what) => format!("{what} event is null"),
            OpFault::NullTarget => "target of the send is null".into(),
            OpFault::SendsSet { machine, event } => format!(
                "event {} is not in the sends set of machine {}",
                exe.event_name(event),
                exe.machine_name(machine)
            ),
            OpFault::SendPermission(event) => {
                format!("event {} is not in the permissions set of the target machine", exe.event_name(event))
            }
            OpFault::Unbound(interface) => {
                format!("no machine is bound to interface '{}'", exe.interface_name(interface))
            }
        }
    }
}

impl From<CollectionFault> for OpFault {
    fn from(fault: CollectionFault) -> Self {
        OpFault::Collection(fault)
    }
}

type Outcome = Result<Value, OpFault>;

/// A binary operator. `And` and `Or` are jumps, and never come here.
#[inline]
pub fn binary(store: &mut Store, op: BinaryOp, a: Value, b: Value) -> Outcome {
    match op {
        BinaryOp::Eq => return Ok(Value::bool(store.eq(a, b))),
        BinaryOp::Ne => return Ok(Value::bool(!store.eq(a, b))),
        BinaryOp::In => return Ok(Value::bool(store.contains(b, a)?)),
        _ => {}
    }
    if a.is_atom() || b.is_atom() {
        need_order(store, op, a, b);
    }
    if let (Some(m), Some(n)) = (store.shown_int(a), store.shown_int(b)) {
        let result = match op {
            BinaryOp::Add => m.wrapping_add(n),
            BinaryOp::Sub => m.wrapping_sub(n),
            BinaryOp::Mul => m.wrapping_mul(n),
            BinaryOp::Div | BinaryOp::Mod if n == 0 => return Err(OpFault::DivisionByZero),
            BinaryOp::Div => m.wrapping_div(n),
            // P's checker truncates both sides to 32 bits first; that is a defect, and 64 bits stay here.
            BinaryOp::Mod => m.wrapping_rem(n),
            BinaryOp::Lt => return Ok(Value::bool(m < n)),
            BinaryOp::Le => return Ok(Value::bool(m <= n)),
            BinaryOp::Gt => return Ok(Value::bool(m > n)),
            BinaryOp::Ge => return Ok(Value::bool(m >= n)),
            BinaryOp::In | BinaryOp::Eq | BinaryOp::Ne | BinaryOp::And | BinaryOp::Or => {
                return Err(OpFault::Operands(a, b));
            }
        };
        return Ok(store.int(result));
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
fn binary_slow(store: &mut Store, op: BinaryOp, a: Value, b: Value) -> Outcome {
    let misfit = Err(OpFault::Operands(a, b));
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
            BinaryOp::In | BinaryOp::Eq | BinaryOp::Ne | BinaryOp::And | BinaryOp::Or => return misfit,
        };
        return Ok(store.float(x));
    }
    if let (Some(a), Some(b)) = (store.as_str(a), store.as_str(b)) {
        let text = match op {
            BinaryOp::Add if a.len() + b.len() > MAX_TEXT => return Err(OpFault::TOO_LONG),
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
            | BinaryOp::Or => return misfit,
        };
        return Ok(store.string(&text));
    }
    misfit
}

/// `!a`
#[inline]
pub fn not(a: Value) -> Outcome {
    a.as_bool().map(|b| Value::bool(!b)).ok_or(OpFault::NotOfBool)
}

/// `-a`
pub fn neg(store: &mut Store, a: Value) -> Outcome {
    match (store.as_int(a), store.as_float(a)) {
        (Some(n), _) => Ok(store.int(n.wrapping_neg())),
        (_, Some(x)) => Ok(store.float(-x)),
        _ => Err(OpFault::Operand("operand of - is", a)),
    }
}

/// The part of a tuple, named or not, at a position.
#[inline]
pub(crate) fn part_at(store: &Store, tuple: Value, index: usize) -> Option<Value> {
    match tuple.view() {
        View::Node(Kind::Tuple, id) => store.parts(id).get(index).copied(),
        View::Node(Kind::Named, id) => store.named_parts(id).1.get(index).copied(),
        _ => None,
    }
}

/// `tuple.index`
#[inline]
pub fn part(store: &mut Store, tuple: Value, index: u32) -> Outcome {
    match part_at(store, tuple, index as usize) {
        Some(value) => Ok(store.copy(value)),
        None => Err(OpFault::NoPart { index, found: tuple }),
    }
}

/// `tuple.name`, by the table of accesses.
#[inline]
pub fn field(exe: &Executable, store: &mut Store, tuple: Value, access: AccessId) -> Outcome {
    let View::Node(Kind::Named, id) = tuple.view() else {
        return Err(OpFault::Operand("value with fields expected, found one", tuple));
    };
    let (shape, parts) = store.named_parts(id);
    match exe.field_position(shape, access) {
        Some(at) => {
            let value = parts[at];
            Ok(store.copy(value))
        }
        None => Err(OpFault::MissingField(exe.accesses[access].0)),
    }
}

/// `collection[index]`
#[inline]
pub fn index(store: &mut Store, collection: Value, index: Value) -> Outcome {
    let value = store.get(collection, index)?;
    Ok(store.copy(value))
}

/// `sizeof(collection)`
#[inline]
pub fn size_of(store: &Store, collection: Value) -> Outcome {
    let n = store.size_of(collection).ok_or(OpFault::Operand("sizeof of a value that is", collection))?;
    Ok(Value::size(n))
}

/// `value as class`
#[inline]
pub fn cast(store: &mut Store, value: Value, class: Class) -> Outcome {
    let value = store.copy(value);
    if has_class(value, class) { Ok(value) } else { Err(OpFault::Cast { class, found: value }) }
}

/// `value to int`
pub fn to_int(store: &mut Store, value: Value) -> Outcome {
    match store.as_float(value) {
        Some(x) => Ok(store.int(x as i64)),
        None if has_class(value, Class::Int) => Ok(value),
        None => Err(OpFault::Operand("conversion to int of a value that is", value)),
    }
}

/// `value to float`
pub fn to_float(store: &mut Store, value: Value) -> Outcome {
    match store.as_int(value) {
        Some(n) => Ok(store.float(n as f64)),
        None if has_class(value, Class::Float) => Ok(value),
        None => Err(OpFault::Operand("conversion to float of a value that is", value)),
    }
}

/// A reference as one of a machine type.
pub fn to_permission(exe: &Executable, value: Value, permission: PermissionId) -> Outcome {
    let Some((instance, known)) = value.as_ref() else {
        return Err(OpFault::Operand("conversion to a machine type of a value that is", value));
    };
    match exe.permissions[known].is_superset(&exe.permissions[permission]) {
        true => Ok(Value::reference(instance, permission)),
        false => Err(OpFault::Permissions),
    }
}

/// Whether a condition holds.
#[inline]
pub fn condition(value: Value) -> Result<bool, OpFault> {
    value.as_bool().ok_or(OpFault::Operand("condition is", value))
}

/// How many answers `choose` has; of 0 and 1 there is one.
pub fn n_answers(store: &Store, source: Value) -> Result<u32, OpFault> {
    if let Some(n) = store.as_int(source) {
        return match usize::try_from(n) {
            Ok(n) if n <= MAX_ANSWERS => Ok(n as u32),
            Ok(n) => Err(OpFault::TooManyAnswers(n)),
            Err(_) => Err(OpFault::NegativeChoice(n)),
        };
    }
    match store.size_of(source) {
        Some(0) => Err(OpFault::EmptyChoice),
        Some(n) if n > MAX_ANSWERS => Err(OpFault::TooManyAnswers(n)),
        Some(n) => Ok(n as u32),
        None => Err(OpFault::Operand("choose from a value that is", source)),
    }
}

/// An answer of the `choose` at an op, for an actor that has named so many.
pub fn answer(
    store: &mut Store,
    source: Value,
    (pc, answer): (u32, u32),
    actor: Actor,
    n_named: &mut u32,
) -> Value {
    if let Some(value) = store.nth(source, answer as usize) {
        return store.copy(value);
    }
    let atom = store.data.as_ref().and_then(|plan| Some((plan, plan.atom(pc, answer)?)));
    match (atom, actor) {
        (Some((plan, atom)), Actor::Machine(machine)) => plan.named(atom, machine, n_named),
        (Some((_, atom)), Actor::Monitor(_)) => atom,
        (None, _) => Value::size(answer as usize),
    }
}

/// P's checks of a send by a machine, in P's order.
pub fn check_send(
    exe: &Executable,
    machine: MachineId,
    target: Value,
    event: Value,
) -> Result<(InstanceId, EventId), OpFault> {
    let event = event.as_event().ok_or(OpFault::NullEvent("sent"))?;
    let (target, permission) = target.as_ref().ok_or(OpFault::NullTarget)?;
    if !exe.machines[machine].sends.contains(event) {
        return Err(OpFault::SendsSet { machine, event });
    }
    if !exe.permissions[permission].contains(event) {
        return Err(OpFault::SendPermission(event));
    }
    Ok((target, event))
}

/// What `new` of an interface makes in a machine that runs as `creator`.
pub fn check_new(
    exe: &Executable,
    creator: InterfaceId,
    interface: InterfaceId,
) -> Result<InterfaceId, OpFault> {
    let interface = exe.link(creator, interface);
    match exe.interfaces[interface].machine {
        Some(_) => Ok(interface),
        None => Err(OpFault::Unbound(interface)),
    }
}

/// Whether a handler or a case of `receive` accepts a payload.
#[inline]
pub fn check_payload(payload: Value, class: Class) -> Result<(), OpFault> {
    if has_class(payload, class) { Ok(()) } else { Err(OpFault::Payload { class, found: payload }) }
}

/// What happens at the end of a path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Update {
    Set(Value),
    /// At the key, which is the last step of the path.
    Insert(Value),
    Add(Value),
    /// The key, which is the last step of the path.
    Remove,
}

/// Where an update finds the operands of its path, and keeps new values.
pub trait PathOperands {
    fn read(&mut self, operand: Operand) -> Value;

    fn store(&mut self) -> &mut Store;
}

/// A variable after a change along a path, made in place: freed slots stay.
pub fn update(
    exe: &Executable,
    cx: &mut impl PathOperands,
    root: Value,
    path: u32,
    update: Update,
) -> Outcome {
    let mut steps = exe.paths[path as usize].as_slice();
    // The key of an insertion or removal is the last step.
    let mut key = Value::NULL;
    if let (Update::Insert(_) | Update::Remove, Some((&Step::Index(operand), rest))) =
        (update, steps.split_last())
    {
        let read = cx.read(operand);
        key = cx.store().copy(read);
        steps = rest;
    }
    // Down, keeping what was passed: a plain store needs the holder of the last step only.
    let down = match update {
        Update::Set(_) => steps.len() - 1,
        Update::Insert(_) | Update::Add(_) | Update::Remove => steps.len(),
    };
    let mut holders = [Value::NULL; 8];
    let mut more_holders = Vec::new();
    let mut current = root;
    for (depth, step) in steps[..down].iter().enumerate() {
        match holders.get_mut(depth) {
            Some(slot) => *slot = current,
            None => more_holders.push(current),
        }
        current = child(exe, cx, current, *step)?;
    }
    current = match update {
        Update::Set(value) => with_child(exe, cx, current, steps[down], value)?,
        Update::Insert(value) => cx.store().insert_at(current, key, value)?,
        Update::Add(value) => cx.store().add(current, value)?,
        Update::Remove => cx.store().remove(current, key)?,
    };
    for (depth, step) in steps[..down].iter().enumerate().rev() {
        let holder = match holders.get(depth) {
            Some(&holder) => holder,
            None => more_holders[depth - holders.len()],
        };
        current = with_child(exe, cx, holder, *step, current)?;
    }
    if cx.store().take_too_deep() { Err(OpFault::TOO_DEEP) } else { Ok(current) }
}

fn child(exe: &Executable, cx: &mut impl PathOperands, holder: Value, step: Step) -> Outcome {
    let at = match step {
        Step::Part(at) => at as usize,
        Step::Field(access) => holder_position(exe, cx.store(), holder, access)?,
        Step::Index(index) => {
            let index = cx.read(index);
            return Ok(cx.store().get(holder, index)?);
        }
    };
    part_at(cx.store(), holder, at).ok_or_else(|| no_parts(holder))
}

fn with_child(
    exe: &Executable,
    cx: &mut impl PathOperands,
    holder: Value,
    step: Step,
    value: Value,
) -> Outcome {
    let at = match step {
        Step::Part(at) => at as usize,
        Step::Field(access) => holder_position(exe, cx.store(), holder, access)?,
        Step::Index(index) => {
            let read = cx.read(index);
            let index = cx.store().copy(read);
            return Ok(cx.store().set(holder, index, value)?);
        }
    };
    cx.store().with_part(holder, at, value).ok_or_else(|| no_parts(holder))
}

fn holder_position(
    exe: &Executable,
    store: &Store,
    holder: Value,
    access: AccessId,
) -> Result<usize, OpFault> {
    let View::Node(Kind::Named, id) = holder.view() else { return Err(no_parts(holder)) };
    let at = exe.field_position(store.named_parts(id).0, access);
    at.ok_or(OpFault::MissingField(exe.accesses[access].0))
}

fn no_parts(holder: Value) -> OpFault {
    OpFault::Operand("value with parts expected, found one", holder)
}

/// Whether a cast, parameter or payload of this class accepts the value. Null passes for classes of references.
#[inline]
pub fn has_class(value: Value, class: Class) -> bool {
    match value.view() {
        View::Null => !matches!(class, Class::Int | Class::Bool | Class::Float | Class::String),
        View::Bool(_) => matches!(class, Class::Bool | Class::Any),
        View::Int(_) | View::Atom(..) => matches!(class, Class::Int | Class::Any),
        View::Event(_) => matches!(class, Class::Event | Class::Any),
        View::Ref(..) => matches!(class, Class::Machine | Class::Any),
        View::Hole(_) => false,
        View::Node(kind, _) => {
            class == Class::Any
                || class
                    == match kind {
                        Kind::Int => Class::Int,
                        Kind::Float => Class::Float,
                        Kind::String => Class::String,
                        Kind::Tuple => Class::Tuple,
                        Kind::Named => Class::Named,
                        Kind::Seq => Class::Seq,
                        Kind::Set => Class::Set,
                        Kind::Map => Class::Map,
                    }
        }
    }
}

/// What a value is, for messages.
pub fn describe(value: Value) -> &'static str {
    match value.view() {
        View::Null => "null",
        View::Bool(_) => "of type bool",
        View::Int(_) | View::Atom(..) | View::Node(Kind::Int, _) => "of type int",
        View::Event(_) => "of type event",
        View::Ref(..) => "of type machine",
        View::Node(Kind::Float, _) => "of type float",
        View::Node(Kind::String, _) => "of type string",
        View::Node(Kind::Tuple, _) => "of type tuple",
        View::Node(Kind::Named, _) => "of type named tuple",
        View::Node(Kind::Seq, _) => "of type seq",
        View::Node(Kind::Set, _) => "of type set",
        View::Node(Kind::Map, _) => "of type map",
        View::Hole(_) => "absent",
    }
}
