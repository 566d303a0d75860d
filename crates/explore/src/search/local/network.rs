//! Messages in flight, as local states: one for each target or, since causal order concerns all machines, one for all.
//!
//! Adding a message and taking one out are functions of the messages in flight alone, so they are remembered like the
//! steps of machines. An empty network is a zero in the vector, as if it did not exist, and adds nothing to the
//! fingerprint; it has a number only where its outcomes are remembered.
//!
//! A network slot comes before the slot of its target. So no vector ends with one, and each configuration has one vector.

use allways_base::Idx;
use allways_machine::encode::{compare_messages, encode_in_flight};
use allways_machine::{Copies, DataPoint, InFlight, LateArrival, Local, Message, Touched};
use allways_run::{Choice, InstanceId, NetworkModel, StopReason};

pub(crate) use super::entries::{Arrival, NetworkOp};
use super::states::{
    Answer, Cut, Delivered, Ending, InputId, LOOK_AFTER, LocalState, LocalStateId, LocalStates, Owner, Slot,
};
use crate::search::store::hash::{hash_bytes, hash_words};

impl LocalStates<'_> {
    /// Whose network carries messages to a machine.
    pub(crate) fn network_of(&self, target: InstanceId) -> Owner {
        match self.exe.network.model {
            NetworkModel::Causal => Owner::Network(InstanceId::MAIN),
            NetworkModel::Inbox | NetworkModel::Fifo | NetworkModel::Bag => Owner::Network(target),
        }
    }

    /// The slot of a network, which is made before that of its target.
    pub(crate) fn network_slot(&mut self, target: InstanceId) -> Slot {
        let owner = self.network_of(target);
        let at = match owner {
            Owner::Network(instance) => instance.index(),
            Owner::Machine(_) | Owner::Monitor(_) => 0,
        };
        if self.network_slot_of.len() <= at {
            self.network_slot_of.resize(at + 1, None);
        }
        if let Some(slot) = self.network_slot_of[at] {
            return slot;
        }
        let slot = self.new_slot(owner);
        self.network_slot_of[at] = Some(slot);
        slot
    }

    /// The same, if it was made.
    pub fn network_slot_known(&self, target: InstanceId) -> Option<Slot> {
        let Owner::Network(instance) = self.network_of(target) else { return None };
        *self.network_slot_of.get(instance.index())?
    }

    pub(crate) fn network_op(&mut self, op: NetworkOp) -> InputId {
        *self.network_op_index.entry(op).or_insert_with(|| {
            self.network_ops.push(op);
            InputId::new(self.network_ops.len() - 1)
        })
    }

    /// The number under which an empty network is remembered.
    pub fn empty_network(&mut self, slot: Slot) -> LocalStateId {
        self.intern_network(self.owners[slot.index()], InFlight::default())
    }

    /// The local state as it stands in a vector.
    pub fn in_vector(&self, local: LocalStateId) -> LocalStateId {
        match &self.states[local.index()].flight {
            Some(flight) if flight.is_empty() => LocalStateId::ABSENT,
            _ => local,
        }
    }

    /// The networks in which messages are on their way.
    pub(crate) fn network_owners(&self, flight: &InFlight) -> impl Iterator<Item = Owner> {
        flight.channels.iter().map(|channel| self.network_of(channel.target))
    }

    pub(crate) fn intern_network(&mut self, owner: Owner, flight: InFlight) -> LocalStateId {
        let mut words = std::mem::take(&mut self.scratch);
        words.clear();
        self.network_words(owner, &flight, &mut words);
        let key = hash_words(&words);
        let local = match self.find(key, &words) {
            Some(local) => local,
            None => {
                let cut = self.network_cut(&flight);
                let hash = match (owner, self.exe.network.model) {
                    _ if flight.is_empty() => 0,
                    (Owner::Network(whose), NetworkModel::Inbox | NetworkModel::Fifo | NetworkModel::Bag) => {
                        let whose = self.hashes.instance(&self.exe, whose);
                        self.hashes.in_flight(&self.exe, self.kernel.store(), whose, &flight)
                    }
                    _ => hash_bytes(&self.network_bytes(owner, &flight)),
                };
                self.local_bytes += flight.n_messages() * 64 + flight.channels.len() * 64;
                let (local, flight) = (Local::default(), Some(Box::new(flight)));
                self.add(&words, LocalState { local, flight, owner, hash, key, end: 0, cut })
            }
        };
        self.scratch = words;
        local
    }

    /// What is on its way to the machine of a network slot, with exactly one message of each of these kinds: source, target,
    /// message. Those to other machines do not count.
    pub fn with_one_of_each(
        &mut self,
        slot: Slot,
        local: LocalStateId,
        kinds: &[(InstanceId, InstanceId, InputId)],
    ) -> LocalStateId {
        let owner = self.owners[slot.index()];
        let model = self.exe.network.model;
        let mut flight = if local.is_absent() { InFlight::default() } else { self.flight(local) };
        for &(source, target, message) in kinds.iter().filter(|kind| self.network_of(kind.1) == owner) {
            let message = self.messages[message.index()];
            if let Some(at) = flight.position(source, target) {
                flight.channels[at].messages.retain(|sent| sent.message != message);
            }
            let order = |a: Message, b: Message| compare_messages(&self.exe, self.kernel.store(), a, b);
            flight.put_in_flight(model, source, target, message, Copies::needed(1), order);
        }
        let local = self.intern_network(owner, flight);
        self.in_vector(local)
    }

    fn network_bytes(&self, owner: Owner, flight: &InFlight) -> Vec<u8> {
        let mut bytes = self.name(owner);
        encode_in_flight(&self.exe, self.kernel.store(), flight, &mut bytes);
        bytes
    }

    /// Words by which networks are distinguished here: what is on its way, by numbers of this process. Causal order knows more than
    /// that, and counts by its bytes.
    fn network_words(&self, owner: Owner, flight: &InFlight, words: &mut Vec<u64>) {
        if self.exe.network.model == NetworkModel::Causal {
            let bytes = self.network_bytes(owner, flight);
            words.push(2 << 32 | bytes.len() as u64);
            words.extend(bytes.chunks(8).map(|chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                u64::from_le_bytes(word)
            }));
            return;
        }
        let Owner::Network(whose) = owner else { return };
        words.push(3 << 32 | u64::from(whose.as_u32()));
        let mut used: Vec<_> =
            flight.channels.iter().filter(|channel| !channel.messages.is_empty()).collect();
        used.sort_unstable_by_key(|channel| (channel.target, channel.source));
        for channel in used {
            words.push(u64::from(channel.target.as_u32()) << 32 | u64::from(channel.source.as_u32()));
            words.push(channel.messages.len() as u64);
            for sent in &channel.messages {
                words.push(u64::from(sent.message.event.as_u32()) << 1 | u64::from(sent.is_spare));
                words.push(sent.message.payload.bits());
            }
        }
    }

    /// Bounds on inboxes count what is on its way to a machine likewise.
    fn network_cut(&self, flight: &InFlight) -> Option<Cut> {
        let targets: Vec<InstanceId> = flight.channels.iter().map(|channel| channel.target).collect();
        let to = |target: InstanceId| {
            let channels = flight.channels.iter().filter(move |channel| channel.target == target);
            channels.flat_map(|channel| channel.messages.iter().map(|sent| sent.message.event))
        };
        if let Some(bound) = self.bounds.inbox
            && targets.iter().any(|&target| to(target).count() > bound as usize)
        {
            return Some(Cut::Inbox);
        }
        let bound = self.bounds.occurrences? as usize;
        let is_over = |target: InstanceId| {
            to(target).any(|event| to(target).filter(|&other| other == event).count() > bound)
        };
        targets.into_iter().any(is_over).then_some(Cut::Occurrences)
    }

    fn network_ending(&mut self, owner: Owner, flight: InFlight) -> Ending {
        let local = self.intern_network(owner, flight);
        match self.states[local.index()].cut {
            None => Ending::Stands(local),
            Some(cut) => Ending::Cut(cut),
        }
    }

    fn flight(&self, local: LocalStateId) -> InFlight {
        self.states[local.index()].flight.as_deref().cloned().unwrap_or_default()
    }

    /// What becomes of a network.
    pub(crate) fn work_out_network_op(&mut self, local: LocalStateId, op: InputId) -> Vec<Delivered> {
        let owner = self.states[local.index()].owner;
        let (model, has_lazy_faults, exe) = (self.exe.network.model, self.has_lazy_faults, self.exe.clone());
        match self.network_ops[op.index()] {
            NetworkOp::Create { creator, created } => {
                let mut flight = self.flight(local);
                flight.create(model, creator, created);
                vec![Delivered {
                    end: self.network_ending(owner, flight),
                    answers: Vec::new(),
                    touched: Touched::default(),
                }]
            }
            NetworkOp::Send { source, target, message } => {
                let message = self.messages[message.index()];
                self.cover_sent(message.event);
                let mut apply_sends = |copies: Copies| {
                    let mut flight = self.flight(local);
                    let order =
                        |a: Message, b: Message| compare_messages(&self.exe, self.kernel.store(), a, b);
                    flight.put_in_flight(model, source, target, message, copies, order);
                    self.network_ending(owner, flight)
                };
                let fates = exe.network.fates(message.event);
                if has_lazy_faults {
                    let end = apply_sends(exe.network.undecided(message.event));
                    return vec![Delivered { end, answers: Vec::new(), touched: Touched::default() }];
                }
                let mut delivered = Vec::new();
                for (answer, &n_copies) in fates.iter().enumerate() {
                    let end = apply_sends(Copies::needed(n_copies));
                    let answers = fate_answer(source, fates.len(), answer).into_iter().collect();
                    delivered.push(Delivered { end, answers, touched: Touched::default() });
                }
                delivered
            }
        }
    }

    /// Whether what becomes of a message is a choice: of one that goes to a machine, or of an operation on a network.
    pub fn has_fate(&self, slot: Slot, delivery: InputId) -> bool {
        let message = match (self.owners[slot.index()], self.network_ops.get(delivery.index())) {
            (Owner::Network(_), Some(NetworkOp::Send { message, .. })) => *message,
            (Owner::Network(_), _) => return false,
            (Owner::Machine(_) | Owner::Monitor(_), _) => delivery,
        };
        self.exe.network.fates(self.messages[message.index()].event).len() > 1
    }

    /// What can arrive, by the paths of target and source. Each arrival leaves a network of its own, nearly as large as this one.
    ///
    /// # Errors
    /// When there is a reason to stop.
    pub(crate) fn arrivals(&mut self, local: LocalStateId) -> Result<Vec<Arrival>, StopReason> {
        let owner = self.states[local.index()].owner;
        let model = self.exe.network.model;
        let flight = self.flight(local);
        let has_lazy_faults = self.has_lazy_faults;
        let n_places = |at: usize| match (has_lazy_faults, model) {
            (true, NetworkModel::Fifo | NetworkModel::Causal) => flight.channels[at].messages.len() as u32,
            (true, NetworkModel::Inbox | NetworkModel::Bag) | (false, _) => flight.n_picks(model, at),
        };
        let mut channels: Vec<usize> = (0..flight.channels.len()).filter(|&at| n_places(at) > 0).collect();
        channels.sort_by_cached_key(|&at| {
            let channel = &flight.channels[at];
            (self.exe.instances.path(channel.target), self.exe.instances.path(channel.source))
        });
        let n_messages: usize = flight.channels.iter().map(|channel| channel.messages.len()).sum();
        let mut n_copied = 0;
        let mut arrivals = Vec::new();
        for at in channels {
            let (source, target) = (flight.channels[at].source, flight.channels[at].target);
            for place in 0..n_places(at) {
                n_copied += n_messages;
                if n_copied >= LOOK_AFTER {
                    n_copied = 0;
                    if self.n_following == 0
                        && let Some(reason) = self.stop_reason()
                    {
                        return Err(reason);
                    }
                }
                let mut rest = flight.clone();
                let arrived = match has_lazy_faults {
                    true => rest.deliver_late(model, at, place),
                    false => rest.deliver(model, at, place).map(LateArrival::plain),
                };
                let Some(LateArrival { message, is_spare, n_lost }) = arrived else { continue };
                let delivery = (self.slot(Owner::Machine(target)), self.message(message));
                let next = self.intern_network(owner, rest);
                let choice = Choice::Deliver { target, source, place };
                arrivals.push(Arrival { choice, delivery, next, is_spare, loses: n_lost > 0 });
            }
        }
        Ok(arrivals)
    }
}

/// The data choice of what becomes of a message, if there is one.
pub(crate) fn fate_answer(sender: InstanceId, n_fates: usize, answer: usize) -> Option<Answer> {
    let point =
        DataPoint { machine: sender, n_answers: n_fates as u32, is_fair: false, is_number: false, pc: 0 };
    (n_fates > 1).then_some(Answer { point, answer: answer as u32 })
}
