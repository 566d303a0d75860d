//! Locals without what is never looked at, so that fewer of them differ.
//!
//! Three kinds, each by itself, all by what [`crate::liveness`] and [`crate::usage`] know of the code:
//! - *dead variables*: registers and fields that are written before they are read again, if ever, become null;
//! - *unread payloads*: so do payloads of waiting messages that no handler of the machine takes;
//! - *order*: elements of a collection whose order nobody sees are sorted by their bytes.
//!
//! Preserves: every property, and how many steps lead where; a simplified local does in every step what the local does,
//! and stands then as the local would, simplified. Answers to `choose` from a sorted collection name other elements.

use allways_run::InstanceId;
use rustc_hash::FxHashMap;

use crate::configuration::{After, Local, Message, Pending, Status};
use crate::encode::encode_element;
use crate::kernel::Kernel;
use crate::value::{Kind, Store, Value};

/// What to leave out.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Simplify {
    pub dead_variables: bool,
    pub unread_payloads: bool,
    pub order: bool,
    /// Collections that `choose` picks from keep their order, so that answers mean the same.
    pub choose_counts: bool,
}

/// What there was to leave out.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Simplified {
    pub dead_variables: bool,
    pub unread_payloads: bool,
    pub order: bool,
}

/// Collections of one kernel that were sorted before, which must not forget nodes meanwhile.
pub type SortedValues = FxHashMap<Value, Value>;

impl Kernel {
    /// Simplifies a local whose values are this kernel's.
    pub fn simplify(&mut self, local: &mut Local, which: Simplify, known: &mut SortedValues) -> Simplified {
        let mut done = Simplified::default();
        // These do nothing any more, or fail next.
        if let Status::Halted | Status::Pending(Pending::Fault(_)) = local.status {
            return done;
        }
        let exe = self.executable().clone();
        let usage = exe.usage();
        let n_fields = exe.machines[local.machine as usize].fields.len().min(64);
        if which.dead_variables {
            let live = usage.live_fields(local);
            for field in (0..n_fields).filter(|&field| live >> field & 1 == 0) {
                done.dead_variables |= !local.registers[field].is_null();
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
        if which.order {
            let unordered: Vec<usize> = usage.unordered(local, which.choose_counts).collect();
            for place in unordered {
                let value = local.registers[place];
                if !matches!(value.kind(), Some(Kind::Seq | Kind::Set | Kind::Map)) {
                    continue;
                }
                let sorted = match known.get(&value) {
                    Some(&sorted) => sorted,
                    None => {
                        let sorted = self.sorted(value);
                        known.insert(value, sorted);
                        sorted
                    }
                };
                done.order |= sorted != value;
                local.registers[place] = sorted;
            }
        }
        done
    }

    /// A collection with its elements in order of their bytes.
    fn sorted(&mut self, value: Value) -> Value {
        let exe = self.executable().clone();
        let store = self.store_mut();
        if store.size_of(value).is_none() {
            return value;
        }
        let mut elements: Vec<(Vec<u8>, usize)> = store
            .elements(value)
            .enumerate()
            .map(|(at, element)| {
                let mut bytes = Vec::new();
                for &part in element {
                    encode_element(&exe, store, part, &mut bytes);
                }
                (bytes, at)
            })
            .collect();
        elements.sort();
        // Freed slots of the collection itself go; those of its elements stay, since their order may be seen.
        let order: Vec<usize> = elements.into_iter().map(|(_, at)| at).collect();
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
            // The text of a fault is for people, who see it in a run that was replayed.
            other @ (Status::Idle
            | Status::Blocked { .. }
            | Status::Halted
            | Status::Pending(
                Pending::Start | Pending::Observe | Pending::Fault(_) | Pending::Foreign { .. },
            )) => other,
        };
    }
}

fn renamed(store: &mut Store, message: Message, to: &dyn Fn(InstanceId) -> InstanceId) -> Message {
    Message { event: message.event, payload: store.rename(message.payload, to) }
}
