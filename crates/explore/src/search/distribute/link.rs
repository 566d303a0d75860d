//! The protocol between the processes of a search.
//!
//! A message is a block of configurations for their owner, or a note. Processes meet at notes: each sends one to every other and goes on
//! when it has one of every other. After a note, nothing more of a process is read until all have met, so what belongs to the next layer waits.
//! A layer has two meetings: all successors were sent; and all have arrived, so that their number is known.

use std::sync::Mutex;

use allways_run::StopReason;

use super::flat::{Outbox, Receiver, Sender};
use super::owner_of;
use crate::exchange::Exchange;
use crate::search::local::states::{LocalStateId, LocalStates};
use crate::search::lock;
use crate::wire::{Read, get_length, get_word, put_number};

const BLOCK: u8 = 0;
const NOTE: u8 = 1;
/// A note that ends the layer for all: there is no point in more successors.
const URGENT: u8 = 2;
/// A block after the fingerprint of a predecessor of each of its vectors.
const BLOCK_WITH_PARENTS: u8 = 3;

/// The other processes, as a search sees them.
pub(crate) struct Link<'a> {
    exchange: &'a dyn Exchange,
    senders: Vec<Mutex<Sender>>,
    incoming: Vec<Mutex<Incoming>>,
}

#[derive(Default)]
struct Incoming {
    receiver: Receiver,
    /// Until all have met.
    note: Option<(bool, Vec<u8>)>,
}

/// Vectors that have arrived, with their fingerprints.
pub(crate) trait Arrivals {
    /// Comes before a vector, where predecessors are sent.
    fn parent(&mut self, _: u64) {}

    fn add(&mut self, vector: &[LocalStateId], fingerprint: u64, is_representative: bool);
}

impl<'a> Link<'a> {
    pub fn new(exchange: &'a dyn Exchange) -> Self {
        let n = exchange.n_processes();
        Link {
            exchange,
            senders: (0..n).map(|_| Mutex::default()).collect(),
            incoming: (0..n).map(|_| Mutex::default()).collect(),
        }
    }

    pub fn number(&self) -> usize {
        self.exchange.number()
    }

    pub fn n_processes(&self) -> usize {
        self.exchange.n_processes()
    }

    #[inline]
    pub fn owner_of(&self, fingerprint: u64) -> usize {
        owner_of(fingerprint, self.senders.len())
    }

    pub fn is_leader(&self) -> bool {
        self.number() == 0
    }

    fn others(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.n_processes()).filter(|&process| process != self.number())
    }

    pub fn n_bytes(&self) -> usize {
        self.senders.iter().map(|sender| lock(sender).n_bytes()).sum::<usize>()
            + self.incoming.iter().map(|incoming| lock(incoming).receiver.n_bytes()).sum::<usize>()
    }

    pub fn is_congested(&self) -> bool {
        self.exchange.is_congested()
    }

    pub fn wait(&self) {
        self.exchange.wait();
    }

    pub fn failure(&self) -> Option<StopReason> {
        // A process that ends its work has sent its last note before.
        let has_left = |&from: &usize| {
            let is_missing = |incoming: &Incoming| incoming.note.is_none();
            self.exchange.has_left(from) && self.incoming[from].try_lock().is_ok_and(|of| is_missing(&of))
        };
        let left = || self.others().find(has_left).map(|from| format!("process {from}: it has left"));
        self.exchange.failure().or_else(left).map(|why| StopReason::Undecided { why })
    }

    /// Sends the vectors of an outbox to the process that owns them.
    pub fn send(&self, to: usize, locals: &Mutex<LocalStates<'_>>, outbox: &mut Outbox) {
        if outbox.is_empty() {
            return;
        }
        // Blocks are sent in the order in which they were made, since each relies on those before.
        let mut sender = lock(&self.senders[to]);
        let mut message = vec![if outbox.parents.is_empty() { BLOCK } else { BLOCK_WITH_PARENTS }];
        if !outbox.parents.is_empty() {
            put_number(&mut message, outbox.parents.len() as u64);
            outbox.parents.drain(..).for_each(|parent| message.extend_from_slice(&parent.to_le_bytes()));
        }
        sender.block(locals, outbox, &mut message);
        self.exchange.send(to, message);
    }

    /// Sends a note to all others.
    pub fn note(&self, note: &[u8], is_urgent: bool) {
        for to in self.others() {
            self.note_to(to, note, is_urgent);
        }
    }

    pub fn note_to(&self, to: usize, note: &[u8], is_urgent: bool) {
        let mut message = vec![if is_urgent { URGENT } else { NOTE }];
        message.extend_from_slice(note);
        self.exchange.send(to, message);
    }

    /// Reads the next message of any process that has not sent its note; whether there was one.
    pub fn receive(&self, locals: &Mutex<LocalStates<'_>>, arrivals: &mut dyn Arrivals) -> bool {
        self.others().any(|from| self.receive_from(from, locals, arrivals))
    }

    /// The same of one process.
    pub fn receive_from(
        &self,
        from: usize,
        locals: &Mutex<LocalStates<'_>>,
        arrivals: &mut dyn Arrivals,
    ) -> bool {
        // Another thread may read from it.
        let Ok(mut incoming) = self.incoming[from].try_lock() else { return false };
        if incoming.note.is_some() {
            return false;
        }
        let Some(message) = self.exchange.take(from) else { return false };
        let read = match message.split_first() {
            Some((&BLOCK, block)) => {
                let mut tell = |vector: &[LocalStateId], print: u64, is_representative: bool| {
                    arrivals.add(vector, print, is_representative);
                };
                incoming.receiver.block(locals, block, &mut tell)
            }
            Some((&BLOCK_WITH_PARENTS, mut rest)) => get_parents(&mut rest).and_then(|parents| {
                let mut parents = parents.iter();
                let mut tell = |vector: &[LocalStateId], print: u64, is_representative: bool| {
                    arrivals.parent(parents.next().copied().unwrap_or(0));
                    arrivals.add(vector, print, is_representative);
                };
                incoming.receiver.block(locals, rest, &mut tell)
            }),
            Some((&kind @ (NOTE | URGENT), note)) => {
                incoming.note = Some((kind == URGENT, note.to_vec()));
                Ok(())
            }
            Some(_) | None => Err("a message of no known kind".to_owned()),
        };
        if let Err(why) = read {
            self.exchange.fail(from, &why);
        }
        true
    }

    /// Whether a process has sent its note.
    pub fn has_met(&self, process: usize) -> bool {
        lock(&self.incoming[process]).note.is_some()
    }

    /// The note of one process, if it has sent it.
    pub fn take_note(&self, process: usize) -> Option<Vec<u8>> {
        lock(&self.incoming[process]).note.take().map(|(_, note)| note)
    }

    /// Some process says that the layer ends.
    pub fn is_urgent(&self) -> bool {
        let is_urgent = |incoming: &Incoming| incoming.note.as_ref().is_some_and(|(is_urgent, _)| *is_urgent);
        self.others().any(|from| is_urgent(&lock(&self.incoming[from])))
    }

    /// Whether all others have sent their notes.
    pub fn have_all_met(&self) -> bool {
        self.others().all(|from| lock(&self.incoming[from]).note.is_some())
    }

    /// The notes of all others, by process, which have met.
    pub fn notes(&self) -> Vec<(usize, Vec<u8>)> {
        let note = |from: usize| lock(&self.incoming[from]).note.take().map(|(_, note)| (from, note));
        self.others().filter_map(note).collect()
    }

    /// A note of no known form has come.
    pub fn fail(&self, with: usize, why: &str) -> StopReason {
        self.exchange.fail(with, why);
        StopReason::Undecided { why: format!("process {with}: {why}") }
    }
}

fn get_parents(bytes: &mut &[u8]) -> Read<Vec<u64>> {
    let n = get_length(bytes)?;
    (0..n).map(|_| get_word(bytes)).collect()
}
