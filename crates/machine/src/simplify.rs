//! Locals without what is never used, so that fewer of them differ.
//!
//! Three kinds, each by itself, all by what [`crate::liveness`], [`crate::usage`] and [`crate::demand`] know of the code:
//! - *dead variables*: registers and fields that are written before they are read again, if ever, become null, and so do
//!   parts of them that are never read; numbers that only numbers of the kind are made from become zero;
//! - *unread payloads*: so do payloads of waiting messages that no handler of the machine takes, and parts of payloads;
//! - *order*: elements of a collection whose order is never observed are sorted by their bytes, also inside other values.
//!
//! Preserves: every property, and how many steps lead where; a simplified local does in every step what the local does,
//! and stands then as the local would, simplified. Answers to `choose` from a sorted collection name other elements.

use allways_run::InstanceId;
use rustc_hash::FxHashMap;

use crate::configuration::{After, Local, Message, Pending, Status};
use crate::demand::{Demand, DemandId, EVERYTHING, NOTHING, Part};
use crate::encode::encode_element;
use crate::ir::Operand;
use crate::kernel::Kernel;
use crate::value::{Kind, Store, Value, View};

/// Collections with more elements stay as they are, and so does the order of those with more bytes: looking through them takes
/// longer than any limit allows, while hardly two of them ever become equal by it.
const MAX_ELEMENTS: usize = 1 << 19;
const MAX_SORTED: usize = 1 << 22;

/// What to leave out.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Simplify {
    pub dead_variables: bool,
    pub unread_payloads: bool,
    pub order: bool,
    /// Numbers that only numbers of the kind are made from are left out, too. Without that, what repeats up to what is left
    /// out repeats.
    pub counters: bool,
    /// Collections that `choose` picks from keep their order, so that answers mean the same.
    pub choose_counts: bool,
    /// A machine that sends to all elements of a collection does not see its order, where no other code does ([`crate::usage`]).
    pub broadcasts: bool,
}

/// What there was to leave out.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Simplified {
    pub dead_variables: bool,
    pub unread_payloads: bool,
    pub order: bool,
}

/// Values of one kernel that were simplified before, always alike. The kernel must not forget nodes meanwhile.
#[derive(Default, Debug)]
pub struct KnownValues {
    sorted: FxHashMap<Value, Value>,
    /// By demand, and whether parts are left out.
    trimmed: FxHashMap<(Value, DemandId, bool), Trimmed>,
}

/// What is done inside of values.
#[derive(Clone, Copy, Debug)]
struct Trim {
    /// What no demand reaches is left out.
    drops: bool,
    counters: bool,
    /// Collections without order are sorted.
    sorts: bool,
}

/// A value without what no demand reaches.
#[derive(Clone, Copy, Debug)]
struct Trimmed {
    value: Value,
    has_dropped: bool,
    has_sorted: bool,
}

impl Trimmed {
    fn note(self, dropped: &mut bool, sorted: &mut bool) {
        *dropped |= self.has_dropped;
        *sorted |= self.has_sorted;
    }

    /// Takes note of what was done to a part of this.
    fn with(&mut self, part: Trimmed) -> Value {
        part.note(&mut self.has_dropped, &mut self.has_sorted);
        part.value
    }
}

impl KnownValues {
    pub fn n_bytes(&self) -> usize {
        self.sorted.capacity() * 17 + self.trimmed.capacity() * 33
    }
}

impl Kernel<'_> {
    /// Simplifies a local whose values are this kernel's.
    pub fn simplify(&mut self, local: &mut Local, which: Simplify, known: &mut KnownValues) -> Simplified {
        let mut done = Simplified::default();
        // These do nothing any more, or fail next.
        if let Status::Halted | Status::Pending(Pending::Fault(_)) = local.status {
            return done;
        }
        let exe = self.executable().clone();
        let usage = exe.usage();
        let n_fields = exe.machines[local.machine].fields.len().min(64);
        if which.dead_variables {
            let live = usage.live_fields(local);
            for field in (0..n_fields).filter(|&field| live >> field & 1 == 0) {
                done.dead_variables |= !local.registers[field].is_null();
                local.touched.write_field(field as u32);
                local.registers[field] = Value::NULL;
            }
            if !local.frames.is_empty() {
                let dead: Vec<usize> = exe.liveness.dead(&exe, local).collect();
                for place in dead {
                    done.dead_variables |= !local.registers[place].is_null();
                    local.registers[place] = Value::NULL;
                }
            }
        }
        if which.unread_payloads {
            let machine = local.machine;
            for message in &mut local.inbox {
                if !message.payload.is_null() && !usage.reads_payload(machine, message.event) {
                    message.payload = Value::NULL;
                    done.unread_payloads = true;
                }
            }
            let is_kept = usage.keeps_payload(local.after);
            if let After::Exit { payload, .. } | After::With { payload, .. } = &mut local.after
                && !is_kept
                && !payload.is_null()
            {
                *payload = Value::NULL;
                done.unread_payloads = true;
            }
        }
        // First what is left out, then the order of what stays: it must not depend on what was left out.
        self.trim(local, which, known, &mut done);
        if which.order {
            let unordered: Vec<usize> =
                usage.unordered(local, which.choose_counts, which.broadcasts).collect();
            for place in unordered {
                let value = local.registers[place];
                if !matches!(value.kind(), Some(Kind::Seq | Kind::Set | Kind::Map)) {
                    continue;
                }
                let sorted = match known.sorted.get(&value) {
                    Some(&sorted) => sorted,
                    None => {
                        let sorted = self.sorted(value);
                        known.sorted.insert(value, sorted);
                        sorted
                    }
                };
                done.order |= sorted != value;
                local.registers[place] = sorted;
            }
        }
        done
    }

    /// Leaves out what no demand reaches, inside of values.
    fn trim(&mut self, local: &mut Local, which: Simplify, known: &mut KnownValues, done: &mut Simplified) {
        if let Status::Pending(Pending::Start) = local.status {
            return;
        }
        let exe = self.executable().clone();
        let (demands, machine) = (exe.demands(), local.machine);
        let n_fields = exe.machines[machine].fields.len().min(local.registers.len());
        // What was a part of a payload may be part of a variable now.
        let Simplify { dead_variables, unread_payloads, order, counters, .. } = which;
        let how = Trim { drops: dead_variables || unread_payloads, counters, sorts: order };
        for field in 0..n_fields {
            let trimmed = self.trimmed(local.registers[field], demands.field(machine, field), how, known);
            trimmed.note(&mut done.dead_variables, &mut done.order);
            local.registers[field] = trimmed.value;
        }
        for depth in 0..local.frames.len() {
            let frame = local.frames[depth];
            // A callee's window begins inside its caller's.
            let callee = local.frames.get(depth + 1).copied();
            let end = callee.map_or(local.registers.len(), |callee| callee.base as usize);
            // What a result is about to overwrite is used no more.
            let written = match (callee, local.status) {
                (Some(callee), _) => Some(callee.dst),
                (None, Status::Pending(Pending::Create { dst, .. })) => Some(dst),
                (None, _) => None,
            };
            for place in frame.base as usize..end {
                let register = place - frame.base as usize;
                let demand = match written {
                    Some(dst) if dst == Operand::register(register as u32) => NOTHING,
                    _ => demands.register(frame.pc, register),
                };
                let trimmed = self.trimmed(local.registers[place], demand, how, known);
                trimmed.note(&mut done.dead_variables, &mut done.order);
                local.registers[place] = trimmed.value;
            }
        }
        let how = Trim { drops: unread_payloads, ..how };
        for message in &mut local.inbox {
            let demand = demands.payload(machine, message.event);
            let trimmed = self.trimmed(message.payload, demand, how, known);
            trimmed.note(&mut done.unread_payloads, &mut done.order);
            message.payload = trimmed.value;
        }
        let kept = match &mut local.after {
            After::Exit { target, with, payload } => Some((demands.transition(*target, *with), payload)),
            After::With { target, payload } => Some((demands.transition(*target, None), payload)),
            After::Handler | After::Unhandled { .. } => None,
        };
        if let Some((demand, payload)) = kept {
            let trimmed = self.trimmed(*payload, demand, how, known);
            trimmed.note(&mut done.unread_payloads, &mut done.order);
            *payload = trimmed.value;
        }
    }

    /// As much of a value as a demand reaches.
    fn trimmed(&mut self, value: Value, demand: DemandId, how: Trim, known: &mut KnownValues) -> Trimmed {
        let same = Trimmed { value, has_dropped: false, has_sorted: false };
        if demand == EVERYTHING || value.is_null() || !how.drops && !how.sorts {
            return same;
        }
        // What is not left out, although it is never read, is sorted: it may be a copy of what was.
        if demand == NOTHING && how.drops {
            return Trimmed { value: Value::NULL, has_dropped: true, ..same };
        }
        let (kind, id) = match value.view() {
            View::Node(kind, id) => (kind, id),
            View::Int(n) if how.drops && how.counters && n != 0 && self.is_kept_only(demand) => {
                return Trimmed { value: Value::ZERO, has_dropped: true, ..same };
            }
            _ => return same,
        };
        let key = (value, demand, how.drops);
        if let Some(&trimmed) = known.trimmed.get(&key) {
            return trimmed;
        }
        let exe = self.executable().clone();
        let node = exe.demands().node(demand);
        let mut all = same;
        match kind {
            Kind::Int | Kind::Float | Kind::String => {}
            Kind::Tuple => {
                let mut parts = self.store().parts(id).to_vec();
                for (at, part) in parts.iter_mut().enumerate() {
                    let demand = demand_of(&node.parts, Part::Place(at as u32));
                    *part = all.with(self.trimmed(*part, demand, how, known));
                }
                all.value = self.store_mut().tuple(&parts);
            }
            Kind::Named => {
                let (shape, parts) = self.store().named_parts(id);
                let mut parts = parts.to_vec();
                for (part, &name) in parts.iter_mut().zip(&exe.shapes[shape]) {
                    let demand = demand_of(&node.parts, Part::Name(name));
                    *part = all.with(self.trimmed(*part, demand, how, known));
                }
                all.value = self.store_mut().named(shape, &parts);
            }
            Kind::Seq | Kind::Set | Kind::Map => {
                let sorts = how.sorts && !node.order;
                if self.store().elements_and_holes(value).0.len() > MAX_ELEMENTS {
                    known.trimmed.insert(key, same);
                    return same;
                }
                // Freed slots are part of the order. They stay as they are, whatever lies between them: what is left out must not
                // depend on how a value came about.
                let (content, free) = self.store().elements_and_holes(value);
                let mut content = content.to_vec();
                let width = if kind == Kind::Map { 2 } else { 1 };
                if kind != Kind::Set {
                    for entry in content.chunks_exact_mut(width).filter(|entry| !entry[0].is_hole()) {
                        let element = &mut entry[width - 1];
                        *element = all.with(self.trimmed(*element, node.elements, how, known));
                    }
                }
                let trimmed = self.store_mut().with_elements(value, &content, free);
                all.value = if sorts { self.sorted(trimmed) } else { trimmed };
                all.has_sorted |= all.value != trimmed;
            }
        }
        known.trimmed.insert(key, all);
        all
    }

    /// Whether nothing but the class of a value is used.
    fn is_kept_only(&self, demand: DemandId) -> bool {
        *self.executable().demands().node(demand) == Demand::default()
    }

    /// A collection with its elements in order of their bytes.
    fn sorted(&mut self, value: Value) -> Value {
        let exe = self.executable().clone();
        let store = self.store_mut();
        if store.size_of(value).is_none() {
            return value;
        }
        // One after the other in one buffer, and where each of them ends.
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for element in store.elements(value) {
            for &part in element {
                if !encode_element(&exe, store, part, MAX_SORTED, &mut bytes) {
                    return value;
                }
            }
            ends.push(bytes.len());
        }
        let element = |at: usize| &bytes[at.checked_sub(1).map_or(0, |before| ends[before])..ends[at]];
        let mut order: Vec<usize> = (0..ends.len()).collect();
        order.sort_unstable_by(|&a, &b| element(a).cmp(element(b)).then(a.cmp(&b)));
        // Freed slots of the collection itself go; those of its elements stay, since their order may be seen.
        store.reordered(value, &order)
    }

    /// The local with other machines in it.
    pub fn rename(&mut self, local: &mut Local, to: &dyn Fn(InstanceId) -> InstanceId) {
        let store = self.store_mut();
        for value in &mut local.registers {
            *value = store.rename(*value, to);
        }
        for message in &mut local.inbox {
            message.payload = store.rename(message.payload, to);
        }
        if let After::Exit { payload, .. } | After::With { payload, .. } = &mut local.after {
            *payload = store.rename(*payload, to);
        }
        local.status = match local.status {
            Status::Pending(Pending::Deliver { target, message }) => {
                let message = renamed(store, message, to);
                Status::Pending(Pending::Deliver { target: to(target), message })
            }
            Status::Pending(Pending::Create { interface, payload, dst }) => {
                let payload = store.rename(payload, to);
                Status::Pending(Pending::Create { interface, payload, dst })
            }
            // The text of a fault is for people, and they see it in a run that was replayed.
            other @ (Status::Idle
            | Status::Blocked { .. }
            | Status::Halted
            | Status::Pending(
                Pending::Start | Pending::Observe | Pending::Fault(_) | Pending::Foreign { .. },
            )) => other,
        };
    }
}

fn demand_of(parts: &[(Part, DemandId)], part: Part) -> DemandId {
    parts.iter().find(|(known, _)| *known == part).map_or(NOTHING, |&(_, demand)| demand)
}

fn renamed(store: &mut Store, message: Message, to: &dyn Fn(InstanceId) -> InstanceId) -> Message {
    Message { event: message.event, payload: store.rename(message.payload, to) }
}
