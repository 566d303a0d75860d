//! Configurations as words, to tell them apart within one kernel.
//!
//! Values are interned by the kernel's store, so equal words are equal values. (Sets and maps that differ in the order
//! of storage only count as different here, which may make a graph larger and never smaller.) Registers that will not
//! be read again count as null. Faster than the bytes of `allways_machine::encode`, and of no meaning outside.

use std::hash::BuildHasher;

use allways_base::Idx;
use allways_machine::configuration::After;
use allways_machine::encode::encode_in_flight;
use allways_machine::{Executable, Kernel, Local, Message, Pending, Status};
use allways_run::InstanceId;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Writes the words of where the kernel stands.
pub(crate) fn write_key(kernel: &Kernel, instances: &mut Vec<InstanceId>, out: &mut Vec<u64>) {
    out.clear();
    let conf = kernel.configuration();
    instances.clear();
    instances.extend(conf.roster.iter());
    // Where a run may depend on numbers, the order of creation is part of the configuration.
    if kernel.executable().observed_text.is_none() {
        instances.sort_unstable();
    }
    out.push(instances.len() as u64);
    for instance in &*instances {
        out.push(instance.index() as u64);
        write_local(kernel.executable(), conf.local(*instance), out);
    }
    write_rest(kernel, out);
}

/// A hash of each configuration of one run. Only the machines that a step touched are written again, so a long run in which many
/// machines take part costs what its steps do.
#[derive(Default)]
pub(crate) struct RunKey {
    of_machine: FxHashMap<InstanceId, u64>,
    /// Of all machines.
    sum: u64,
    words: Vec<u64>,
}

impl RunKey {
    /// Where the kernel stands, after a step that touched these machines.
    pub fn after(&mut self, kernel: &Kernel, touched: impl IntoIterator<Item = InstanceId>) -> u64 {
        let conf = kernel.configuration();
        for instance in touched {
            self.words.clear();
            self.words.push(instance.index() as u64);
            write_local(kernel.executable(), conf.local(instance), &mut self.words);
            let hash = FxBuildHasher.hash_one(&self.words);
            let before = self.of_machine.insert(instance, hash).unwrap_or(0);
            self.sum = self.sum.wrapping_sub(before).wrapping_add(hash);
        }
        self.words.clear();
        self.words.extend([self.of_machine.len() as u64, self.sum]);
        write_rest(kernel, &mut self.words);
        FxBuildHasher.hash_one(&self.words)
    }
}

/// Everything but the machines.
fn write_rest(kernel: &Kernel, out: &mut Vec<u64>) {
    let conf = kernel.configuration();
    for monitor in &conf.monitors {
        write_local(kernel.executable(), monitor, out);
    }
    if kernel.executable().network.is_delayed() {
        let mut bytes = Vec::new();
        encode_in_flight(kernel.executable(), kernel.store(), &conf.network, &mut bytes);
        out.push(bytes.len() as u64);
        out.extend(
            bytes
                .chunks(8)
                .map(|chunk| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))),
        );
    }
}

fn pair(high: u32, low: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

fn write_message(message: Message, out: &mut Vec<u64>) {
    out.extend([u64::from(message.event.as_u32()), message.payload.bits()]);
}

fn write_local(exe: &Executable, local: &Local, out: &mut Vec<u64>) {
    out.push(pair(local.machine.as_u32(), local.interface.as_u32()));
    match local.status {
        Status::Idle => out.push(0),
        Status::Halted => return out.push(1),
        Status::Blocked { table } => out.push(pair(2, table.as_u32())),
        Status::Pending(Pending::Start) => out.push(3),
        Status::Pending(Pending::Observe) => out.push(4),
        Status::Pending(Pending::Deliver { target, message }) => {
            out.push(pair(5, target.index() as u32));
            write_message(message, out);
        }
        Status::Pending(Pending::Create { interface, payload, dst }) => {
            out.extend([pair(6, interface.as_u32()), dst.bits() as u64, payload.bits()]);
        }
        // A machine that is about to fail: the kind and the text say how.
        Status::Pending(Pending::Fault(fault)) => out.extend([7, fault.text.bits()]),
        Status::Pending(Pending::Foreign { fun }) => out.push(pair(8, fun.as_u32())),
    }
    out.push(pair(local.control.as_u32(), local.n_children));
    match local.after {
        After::Handler => out.push(0),
        After::Exit { target, with, payload } => {
            out.extend([
                pair(1, target.as_u32()),
                with.map_or(0, |fun| u64::from(fun.as_u32()) + 1),
                payload.bits(),
            ]);
        }
        After::With { target, payload } => out.extend([pair(2, target.as_u32()), payload.bits()]),
        After::Unhandled { event } => out.push(pair(3, event.as_u32())),
    }
    out.push(pair(local.frames.len() as u32, local.inbox.len() as u32));
    for frame in &local.frames {
        out.extend([pair(frame.fun.as_u32(), frame.pc), pair(frame.base, frame.dst.bits())]);
    }
    let start = out.len();
    out.extend(local.registers.iter().map(|value| value.bits()));
    for place in exe.liveness.dead(exe, local) {
        out[start + place] = allways_machine::Value::NULL.bits();
    }
    for &message in &local.inbox {
        write_message(message, out);
    }
}
