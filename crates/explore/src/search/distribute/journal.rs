//! What a checkpoint consists of: the keys of all configurations that were visited, the vectors of the layer that comes next, and the record.
//!
//! Keys are eight bytes each, of wide ones sixteen. Blocks of the frontier are those of [`flat`](super::flat); the first block of a part is the record.

use std::sync::Mutex;

use super::Checkpoint;
use super::flat::{Outbox, Receiver, Sender};
use super::record::Record;
use crate::search::local::states::{LocalStateId, LocalStates};
use crate::wire::Read;

/// Writes the frontier: vectors, with what they say of themselves.
pub(crate) fn write_frontier<'v>(
    locals: &Mutex<LocalStates<'_>>,
    record: &Record,
    vectors: &mut dyn Iterator<Item = (&'v [LocalStateId], bool)>,
    write: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let mut block = Vec::new();
    record.put(&mut block);
    write(&block)?;
    let (mut sender, mut outbox) = (Sender::default(), Outbox::default());
    let mut flush = |outbox: &mut Outbox| {
        block.clear();
        sender.block(locals, outbox, &mut block);
        write(&block)
    };
    for (vector, is_representative) in vectors {
        outbox.push(vector.iter().copied(), is_representative);
        if outbox.is_large() {
            flush(&mut outbox)?;
        }
    }
    if outbox.is_empty() { Ok(()) } else { flush(&mut outbox) }
}

/// Reads a frontier: passes each vector on, and returns the records of all parts together.
pub(crate) fn read_frontier(
    checkpoint: &dyn Checkpoint,
    locals: &Mutex<LocalStates<'_>>,
    tell: &mut dyn FnMut(&[LocalStateId], u64, bool),
) -> Read<Record> {
    let mut record = Record::default();
    let mut receivers: Vec<Option<Receiver>> = Vec::new();
    checkpoint.read_frontier(&mut |part, mut block| {
        if receivers.len() <= part {
            receivers.resize_with(part + 1, || None);
        }
        match &mut receivers[part] {
            first @ None => {
                record.merge(Record::get(&mut block)?);
                *first = Some(Receiver::default());
                Ok(())
            }
            Some(receiver) => receiver.block(locals, block, tell),
        }
    })?;
    Ok(record)
}
