//! Slots: which machine, monitor or network stands where in a state vector.

use allways_base::Idx;

use super::LocalStates;
use crate::search::local::entries::{Owner, Slot};
use crate::search::store::hash::hash_bytes;

impl LocalStates<'_> {
    pub fn n_slots(&self) -> usize {
        self.owners.len()
    }

    /// A number for the machine of a slot that depends on its path alone, and differs from those of others.
    pub fn rank(&self, slot: Slot) -> u64 {
        match self.owners[slot.index()] {
            Owner::Monitor(monitor) => u64::from(monitor),
            Owner::Machine(instance) | Owner::Network(instance) => {
                let path = self.exe.instances.path(instance);
                let mut bytes: Vec<u8> = path.iter().flat_map(|place| place.to_le_bytes()).collect();
                if let Owner::Network(_) = self.owners[slot.index()] {
                    bytes.push(1);
                }
                hash_bytes(&bytes)
            }
        }
    }

    /// The slot of an instance that was met.
    pub fn known_slot(&self, instance: usize) -> Option<Slot> {
        self.slot_of.get(instance).copied().flatten()
    }

    pub fn owner(&self, slot: Slot) -> Owner {
        self.owners[slot.index()]
    }

    /// The slots of machines by their paths, then those of networks, which does not depend on the order of interning.
    pub fn slots_by_path(&self) -> Vec<Slot> {
        let mut slots: Vec<(bool, Vec<u32>, Slot)> = self
            .owners
            .iter()
            .enumerate()
            .filter_map(|(slot, owner)| match owner {
                Owner::Machine(instance) => {
                    Some((false, self.exe.instances.path(*instance), Slot::new(slot)))
                }
                Owner::Network(target) => Some((true, self.exe.instances.path(*target), Slot::new(slot))),
                Owner::Monitor(_) => None,
            })
            .collect();
        slots.sort();
        slots.into_iter().map(|(_, _, slot)| slot).collect()
    }

    pub(crate) fn slot(&mut self, owner: Owner) -> Slot {
        let machine = match owner {
            Owner::Monitor(monitor) => return Slot::from_u32(monitor),
            Owner::Network(target) => return self.network_slot(target),
            Owner::Machine(machine) => machine,
        };
        let instance = machine.index();
        if self.slot_of.len() <= instance {
            self.slot_of.resize(instance + 1, None);
        }
        if let Some(slot) = self.slot_of[instance] {
            return slot;
        }
        if self.exe.network.is_delayed() {
            self.network_slot(machine);
        }
        let slot = self.new_slot(owner);
        self.slot_of[instance] = Some(slot);
        slot
    }

    pub(crate) fn new_slot(&mut self, owner: Owner) -> Slot {
        self.owners.push(owner);
        Slot::new(self.owners.len() - 1)
    }

    /// The owner, as bytes.
    pub(crate) fn name(&self, owner: Owner) -> Vec<u8> {
        let (kind, instance) = match owner {
            Owner::Monitor(monitor) => return vec![0, monitor as u8, (monitor >> 8) as u8],
            Owner::Machine(instance) => (1, instance),
            Owner::Network(instance) => (2, instance),
        };
        let mut bytes = vec![kind];
        for place in self.exe.instances.path(instance) {
            bytes.extend_from_slice(&(place + 1).to_le_bytes());
        }
        bytes.extend_from_slice(&0u32.to_le_bytes());
        bytes
    }
}
