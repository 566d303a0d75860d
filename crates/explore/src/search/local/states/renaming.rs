//! Local states under other names and numbers, for reductions that replace configurations by representatives; and whether a machine
//! can still act, for those that leave machines out.

use allways_base::Idx;
use allways_machine::encode::encode_skeleton;
use allways_machine::ir::InterfaceId;
use allways_machine::{Occurrence, Pending, Renumbering, Simplify, Status};

use super::{LocalState, LocalStates};
use crate::search::local::entries::{LocalStateId, Owner, Slot};
use crate::search::store::hash::hash_bytes;

/// Whether a machine can still do something.
#[derive(Clone, Copy, Default)]
pub(crate) struct Vitality {
    /// It may step, or counts, without being sent anything.
    pub acts: bool,
    pub is_halted: bool,
    /// How many machines it has made; none if it has halted.
    pub n_children: u32,
}

impl LocalStates<'_> {
    /// What a local state looks like with the names of machines left out, as a hash; its slot and interface. The slots of the
    /// machines that it mentions are appended, each with a number for where; the one that it is about to send to comes last.
    pub fn form(&mut self, id: LocalStateId, mentions: &mut Vec<(Slot, u64)>) -> (u64, Slot, InterfaceId) {
        let LocalState { local, owner, .. } = &self.states[id.index()];
        let (owner, interface) = (*owner, local.interface);
        let unordered = if self.simplify.order {
            let Simplify { choose_counts, broadcasts, .. } = self.simplify;
            self.exe.usage().unordered(local, choose_counts, broadcasts).collect()
        } else {
            Vec::new()
        };
        let (mut bytes, mut found) = (Vec::new(), Vec::new());
        encode_skeleton(&self.exe, self.kernel.store(), local, &unordered, &mut bytes, &mut found);
        if let Status::Pending(Pending::Deliver { .. }) = local.status
            && !found.is_empty()
        {
            found.rotate_left(1);
        }
        for mention in found {
            let slot = self.slot(Owner::Machine(mention.instance));
            mentions.push((slot, mention.place));
        }
        (hash_bytes(&bytes), self.slot(owner), interface)
    }

    /// The slot of the creator, and the place there.
    pub fn origin(&mut self, slot: Slot) -> Option<(Slot, u32)> {
        match self.owners[slot.index()] {
            Owner::Monitor(_) | Owner::Network(_) => None,
            Owner::Machine(instance) => {
                let (creator, place) = self.exe.instances.origin(instance)?;
                Some((self.slot(Owner::Machine(creator)), place))
            }
        }
    }

    /// The slot of what the machine of a slot makes as its `place`-th.
    pub fn child_slot(&mut self, parent: Slot, place: u32) -> Slot {
        match self.owners[parent.index()] {
            Owner::Monitor(_) | Owner::Network(_) => parent,
            Owner::Machine(creator) => {
                let child = self.exe.instances.child(creator, place);
                self.slot(Owner::Machine(child))
            }
        }
    }

    /// What a local state says about whether its machine can still do something, and what it has made.
    pub fn vitality(&self, id: LocalStateId) -> Vitality {
        let LocalState { local, owner, .. } = &self.states[id.index()];
        let is_idle = match local.status {
            Status::Idle => !self.exe.states[local.control].has_null,
            Status::Halted => true,
            // A machine that waits in `receive` for ever is a deadlock.
            Status::Blocked { .. } | Status::Pending(_) => false,
        };
        // Whether a broadcast has an order depends on how many machines of some interfaces are ever made.
        let is_counted = self.simplify.broadcasts
            && self
                .exe
                .usage()
                .broadcast_precondition()
                .is_some_and(|precondition| precondition.single.contains(&local.interface));
        Vitality {
            acts: !is_idle || is_counted || !owner.is_machine(),
            is_halted: local.status == Status::Halted,
            n_children: local.n_children,
        }
    }

    /// The local state of the machine once it has halted.
    pub fn halted(&mut self, id: LocalStateId) -> LocalStateId {
        let LocalState { local, owner, .. } = &self.states[id.index()];
        let (owner, mut local) = (*owner, local.clone());
        local.halt();
        self.intern_local(owner, &mut local, false)
    }

    /// The local state with other machines in it, at another slot; `to` says for each slot which it becomes. A machine that has not
    /// halted will have made so many, if that is given.
    pub fn rename(
        &mut self,
        id: LocalStateId,
        owner: Slot,
        to: &[Slot],
        n_children: Option<u32>,
    ) -> LocalStateId {
        let mut local = self.states[id.index()].local.clone();
        if local.status != Status::Halted {
            local.n_children = n_children.unwrap_or(local.n_children);
        }
        let (owners, slot_of) = (&self.owners, &self.slot_of);
        self.kernel.rename(&mut local, &|instance| {
            let slot = slot_of.get(instance.index()).copied().flatten();
            let to = slot.and_then(|slot| to.get(slot.index()));
            match to.and_then(|&to| owners.get(to.index())) {
                Some(&Owner::Machine(renamed)) => renamed,
                Some(Owner::Monitor(_) | Owner::Network(_)) | None => instance,
            }
        });
        let owner = self.owners[owner.index()];
        self.intern_local(owner, &mut local, false)
    }

    /// The numbers of a local state that may be renumbered; the classes that it may still begin to count in.
    pub fn numbers_of(&mut self, id: LocalStateId, out: &mut Vec<Occurrence>) -> u64 {
        let LocalState { local, .. } = &self.states[id.index()];
        self.kernel.numbers_of(local, out);
        self.exe.numbers().ahead(&self.exe, local)
    }

    /// The local state with other numbers, and without entries that can go.
    pub fn renumber(&mut self, id: LocalStateId, to: &dyn Renumbering) -> LocalStateId {
        let LocalState { local, owner, .. } = &self.states[id.index()];
        let (mut local, owner) = (local.clone(), *owner);
        self.kernel.renumber(&mut local, to);
        self.intern_local(owner, &mut local, false)
    }
}
