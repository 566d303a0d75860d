//! Local states and notes in a form that means the same in every process: for others, and for checkpoints.

use allways_base::Idx;
use allways_machine::Message;
use allways_machine::encode::{encode_in_flight, encode_message, encode_whole};
use allways_machine::ir::InterfaceId;
use allways_run::{InstanceId, Limits};

use super::LocalStates;
use crate::search::distribute::record::Record;
use crate::search::local::entries::{InputId, LocalStateId, Owner, Slot};
use crate::search::store::hash::hash_bytes;

impl LocalStates<'_> {
    /// The bytes of a local state without its owner.
    pub fn encoded(&self, id: LocalStateId) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode_whole(&self.exe, self.kernel.store(), self.local(id), &mut bytes);
        bytes
    }

    /// The bytes of a message.
    pub fn encoded_message(&self, message: InputId) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode_message(&self.exe, self.kernel.store(), self.messages[message.index()], &mut bytes);
        bytes
    }

    /// The content of a local state, for other processes.
    pub fn flat(&self, id: LocalStateId) -> Vec<u8> {
        let mut bytes = Vec::new();
        match &self.states[id.index()].flight {
            Some(flight) => encode_in_flight(&self.exe, self.kernel.store(), flight, &mut bytes),
            None => encode_whole(&self.exe, self.kernel.store(), self.local(id), &mut bytes),
        }
        bytes
    }

    /// The local state with an owner and a content, and its slot.
    ///
    /// # Errors
    /// When there is none.
    pub fn intern_flat(&mut self, owner: Owner, bytes: &[u8]) -> Result<(Slot, LocalStateId), String> {
        let id = match owner {
            Owner::Network(_) => {
                let flight = self.kernel.decode_in_flight(bytes).map_err(|error| error.to_string())?;
                if self.network_owners(&flight).any(|of| of != owner) {
                    return Err("a message is on its way in another network".to_owned());
                }
                self.intern_network(owner, flight)
            }
            Owner::Machine(_) | Owner::Monitor(_) => {
                let mut local = self.kernel.decode_local(bytes).map_err(|error| error.to_string())?;
                let is_monitor = self.exe.machines[local.machine].is_monitor;
                if is_monitor == owner.is_machine() {
                    return Err("a machine is no monitor".to_owned());
                }
                self.intern_local(owner, &mut local, false)
            }
        };
        Ok((self.slot(owner), id))
    }

    /// Counts what was simplified by hashes of content, which mean the same in every process.
    pub fn record_content(&mut self) {
        self.records_content = true;
    }

    /// What was noted, but for the figures of the search.
    pub fn record(&mut self) -> Record {
        let sorted = |mut list: Vec<u64>| {
            list.sort_unstable();
            list.dedup();
            list
        };
        let messages = self.messages.clone();
        let hash_of = |message: &Message| {
            let mut bytes = Vec::new();
            encode_message(&self.exe, self.kernel.store(), *message, &mut bytes);
            hash_bytes(&bytes)
        };
        // An empty network has no hash, and is not counted by it.
        let hashes = self.states.iter().skip(1).map(|state| match state.hash {
            0 => hash_bytes(&self.name(state.owner)),
            hash => hash,
        });
        Record {
            coverage: sorted(self.recorder.coverage.all().map(u64::from).collect()),
            simplified: self.simplified.each_ref().map(|known| sorted(known.iter().copied().collect())),
            local_states: sorted(hashes.collect()),
            messages: sorted(messages.iter().map(hash_of).collect()),
            largest_inbox: self.largest_inbox as u64,
            widest: self.widest.map(|(machine, n)| (machine.as_u32(), n)),
            singles: self.singles(),
            ..Record::default()
        }
    }

    /// Interfaces of which one machine is made at most, with the path of the one that was met.
    pub fn singles(&self) -> Vec<(u32, Vec<u32>)> {
        let path = |instance: InstanceId| self.exe.instances.path(instance);
        let mut singles: Vec<_> =
            self.singles.iter().map(|(&interface, &instance)| (interface.as_u32(), path(instance))).collect();
        singles.sort_unstable();
        singles
    }

    /// Takes note of machines that others have met.
    pub fn meet_singles(&mut self, singles: &[(u32, Vec<u32>)]) {
        let most = Limits::default().machines as usize;
        for (interface, path) in singles {
            if let Some(instance) = self.exe.instances.at_path_within(path, most) {
                self.meet(instance, InterfaceId::from_u32(*interface));
            }
        }
    }

    /// Another process has met a machine that may observe the order of broadcasts.
    pub fn set_lacks_broadcast_precondition(&mut self) {
        self.lacks_broadcast_precondition = true;
    }
}
