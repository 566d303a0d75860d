//! Configurations as bytes, for other processes and for files.
//!
//! A *block* is a list of local states and a list of vectors. Local states are numbered in the order in which they come, through all blocks of one
//! sender to one receiver, and each comes once: its owner by path, its content, and the hash of both. A vector is the numbers of its local states that
//! are there: which slot each belongs to follows from its owner, so vectors need not agree about slots, and the receiver adds up the
//! fingerprint by itself. Numbers are variable-length, low seven bits first.
//!
//! A reader trusts nothing: lists are no longer than the bytes that are left, and a local state must have the hash that it
//! comes with, computed from what was read.

use std::sync::Mutex;

use allways_base::Idx;
use allways_run::Limits;

use crate::search::local::states::{LocalStateId, LocalStates, Owner, Slot};
use crate::search::lock;
use crate::wire::{
    Read, early, get_bytes, get_length, get_number, get_path, get_word, put_bytes, put_number, put_path,
};

/// Bytes of a block, about.
pub(crate) const BLOCK: usize = 1 << 16;

/// Vectors on their way into a block: each as how many local states it has, twice, plus one if it is a representative, and these.
#[derive(Default)]
pub(crate) struct Outbox {
    words: Vec<u32>,
    n_vectors: usize,
    /// Of each vector, where that is asked for: the fingerprint of a predecessor.
    pub parents: Vec<u64>,
}

impl Outbox {
    pub fn push(&mut self, vector: impl Iterator<Item = LocalStateId>, is_representative: bool) {
        let at = self.words.len();
        self.words.push(0);
        self.words.extend(vector.filter(|local| !local.is_absent()).map(LocalStateId::as_u32));
        let n = (self.words.len() - at - 1) as u32;
        self.words[at] = n << 1 | u32::from(is_representative);
        self.n_vectors += 1;
    }

    /// With a predecessor.
    pub fn push_with_parent(&mut self, vector: impl Iterator<Item = LocalStateId>, parent: u64) {
        self.push(vector, false);
        self.parents.push(parent);
    }

    pub fn is_empty(&self) -> bool {
        self.n_vectors == 0
    }

    /// Whether it makes a block.
    pub fn is_large(&self) -> bool {
        self.words.len() >= BLOCK / 2
    }
}

/// What one receiver has been sent.
#[derive(Default)]
pub(crate) struct Sender {
    /// By local state: its number there plus one; zero if it was not sent.
    numbers: Vec<u32>,
    n_sent: u32,
}

impl Sender {
    pub fn n_bytes(&self) -> usize {
        self.numbers.capacity() * 4
    }

    /// Appends a block with the vectors of an outbox, which is empty then.
    pub fn block(&mut self, locals: &Mutex<LocalStates<'_>>, outbox: &mut Outbox, out: &mut Vec<u8>) {
        let mut new = Vec::new();
        let mut at = 0;
        while let Some(&header) = outbox.words.get(at) {
            for &word in &outbox.words[at + 1..at + 1 + (header >> 1) as usize] {
                let local = LocalStateId::from_u32(word);
                if self.numbers.len() <= local.index() {
                    self.numbers.resize(local.index() + 1, 0);
                }
                if self.numbers[local.index()] == 0 {
                    self.n_sent += 1;
                    self.numbers[local.index()] = self.n_sent;
                    new.push(local);
                }
            }
            at += 1 + (header >> 1) as usize;
        }
        put_number(out, new.len() as u64);
        if !new.is_empty() {
            put_contents(&lock(locals), &new, out);
        }
        put_number(out, outbox.n_vectors as u64);
        let mut at = 0;
        while let Some(&header) = outbox.words.get(at) {
            put_number(out, u64::from(header));
            for &word in &outbox.words[at + 1..at + 1 + (header >> 1) as usize] {
                let local = LocalStateId::from_u32(word);
                put_number(out, u64::from(self.numbers[local.index()] - 1));
            }
            at += 1 + (header >> 1) as usize;
        }
        outbox.words.clear();
        outbox.n_vectors = 0;
    }
}

/// Appends the contents of local states.
fn put_contents(locals: &LocalStates<'_>, new: &[LocalStateId], out: &mut Vec<u8>) {
    for &local in new {
        match locals.owner_of(local) {
            Owner::Monitor(monitor) => {
                out.push(0);
                put_number(out, u64::from(monitor));
            }
            owner @ (Owner::Machine(instance) | Owner::Network(instance)) => {
                out.push(if owner.is_machine() { 1 } else { 2 });
                put_path(out, &locals.exe.instances.path(instance));
            }
        }
        out.extend_from_slice(&locals.hash(local).to_le_bytes());
        put_bytes(out, &locals.flat(local));
    }
}

/// What was received from one sender.
#[derive(Default)]
pub(crate) struct Receiver {
    /// By number: slot, local state, and what it adds to the fingerprint.
    locals: Vec<(Slot, LocalStateId, u64)>,
}

impl Receiver {
    pub fn n_bytes(&self) -> usize {
        self.locals.capacity() * 16
    }

    /// Reads a block: passes on each vector with its fingerprint and whether it is a representative. A vector has the slots of this process.
    pub fn block(
        &mut self,
        locals: &Mutex<LocalStates<'_>>,
        mut bytes: &[u8],
        tell: &mut dyn FnMut(&[LocalStateId], u64, bool),
    ) -> Read<()> {
        let bytes = &mut bytes;
        let n_new = get_length(bytes)?;
        if n_new > 0 {
            let mut locals = lock(locals);
            (0..n_new).try_for_each(|_| self.define(&mut locals, bytes))?;
        }
        let n_vectors = get_length(bytes)?;
        let mut vector = Vec::new();
        for _ in 0..n_vectors {
            let header = get_number(bytes)?;
            if header >> 1 > bytes.len() as u64 {
                return Err(early());
            }
            vector.clear();
            let mut print = 0u64;
            for _ in 0..header >> 1 {
                let number = get_number(bytes)? as usize;
                let &(slot, local, hash) = self.locals.get(number).ok_or("a local state was never sent")?;
                if vector.len() <= slot.index() {
                    vector.resize(slot.index() + 1, LocalStateId::ABSENT);
                }
                if !std::mem::replace(&mut vector[slot.index()], local).is_absent() {
                    return Err("a machine stands in two local states".to_owned());
                }
                print = print.wrapping_add(hash);
            }
            tell(&vector, print, header & 1 == 1);
        }
        if bytes.is_empty() { Ok(()) } else { Err("bytes are left over".to_owned()) }
    }

    fn define(&mut self, locals: &mut LocalStates<'_>, bytes: &mut &[u8]) -> Read<()> {
        let (&kind, rest) = bytes.split_first().ok_or_else(early)?;
        *bytes = rest;
        let owner = match kind {
            0 => {
                let monitor = get_number(bytes)?;
                if monitor >= locals.n_monitors() as u64 {
                    return Err("no such monitor".to_owned());
                }
                Owner::Monitor(monitor as u32)
            }
            1 | 2 => {
                let path = get_path(bytes)?;
                let most = Limits::default().machines as usize;
                let instance = locals.exe.instances.at_path_within(&path, most).ok_or("too many machines")?;
                if kind == 1 { Owner::Machine(instance) } else { Owner::Network(instance) }
            }
            _ => return Err("no such owner".to_owned()),
        };
        let hash = get_word(bytes)?;
        let (slot, local) = locals.intern_flat(owner, get_bytes(bytes)?)?;
        if locals.hash(local) != hash {
            return Err("a local state has another hash than it should".to_owned());
        }
        self.locals.push((slot, local, hash));
        Ok(())
    }
}
