//! The network between machines: what it may do, and the messages in flight.
//!
//! Under P's own model a send reaches the inbox of its target in one step, and there is nothing here. Under the weaker
//! ones a step hands its message over to a *channel*, sender to receiver, and a step of its own brings a message of a
//! channel to the inbox ([`Choice::Deliver`](allways_run::Choice)). What a machine sends to itself does not pass here.
//!
//! *Causal* order: a machine knows of messages in flight, by channel a number of the oldest. It knows what
//! it has sent, and when a message reaches its inbox it learns what the sender knew. A message carries what its sender
//! knew, and waits for those of it that go to the same target. A channel keeps its order, so what anybody
//! knows of it is always a first part, and a number is enough; when the oldest arrives, all numbers go down by one. A new
//! machine knows what its creator knows.
//!
//! *Faults*: where a message enters the network, under every model, a data choice decides whether it is delivered, is lost,
//! or goes twice, if that was asked for its event.

use std::cmp::Ordering;
use std::collections::VecDeque;

use allways_base::Idx;
use allways_base::nearest::nearest_few;
use allways_run::{InstanceId, NetworkModel, NetworkOptions};

use crate::Executable;
use crate::configuration::Message;
use crate::ir::{EventId, MachineId};
use crate::value::Value;

/// The network of an executable, by number.
#[derive(Clone, Default, Debug)]
pub struct Network {
    pub model: NetworkModel,
    /// Bits by event; empty without faults of messages.
    fates: Vec<u8>,
    /// By machine; empty if none crashes.
    crashable: Vec<bool>,
    options: NetworkOptions,
}

const LOSSY: u8 = 1;
const DUPLICATING: u8 = 2;

/// A name that means nothing in the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownName {
    /// `event` or `machine`.
    pub what: &'static str,
    pub name: String,
    /// Names like it.
    pub near: Vec<String>,
}

impl std::fmt::Display for UnknownName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "there is no {} `{}`", self.what, self.name)?;
        match self.near.as_slice() {
            [] => Ok(()),
            near => {
                let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
                write!(f, "; did you mean {}?", near.join(" or "))
            }
        }
    }
}

impl std::error::Error for UnknownName {}

impl Network {
    /// Looks up the names in the tables of an executable.
    ///
    /// # Errors
    /// When a name is not that of an event or machine.
    pub fn resolve(exe: &Executable, options: &NetworkOptions) -> Result<Network, UnknownName> {
        let mut network = Network { model: options.model, options: options.clone(), ..Network::default() };
        let events: Vec<&str> = exe.events.ids().map(|event| exe.event_name(event)).collect();
        for (names, bit) in [(&options.lossy, LOSSY), (&options.duplicating, DUPLICATING)] {
            for name in names {
                let event = position("event", &events, name)?;
                network.fates.resize(events.len(), 0);
                network.fates[event] |= bit;
            }
        }
        for name in &options.crash {
            let machine = machine_named(exe, name)?;
            network.crashable.resize(exe.machines.len(), false);
            network.crashable[machine] = true;
        }
        Ok(network)
    }

    pub fn options(&self) -> &NetworkOptions {
        &self.options
    }

    /// P's own network, and nothing ever goes wrong.
    pub fn is_default(&self) -> bool {
        self.is_direct() && !self.has_crashes()
    }

    /// A send reaches the inbox of its target, once and at once.
    #[inline]
    pub fn is_direct(&self) -> bool {
        self.model == NetworkModel::Inbox && self.fates.is_empty()
    }

    /// Messages stay in flight for a while.
    #[inline]
    pub fn is_delayed(&self) -> bool {
        self.model != NetworkModel::Inbox
    }

    #[inline]
    pub fn has_crashes(&self) -> bool {
        !self.crashable.is_empty()
    }

    /// Whether machines of this kind crash.
    #[inline]
    pub fn can_crash(&self, machine: MachineId) -> bool {
        self.crashable.get(machine.index()).copied().unwrap_or(false)
    }

    /// Whether anything goes wrong here.
    pub fn has_faults(&self) -> bool {
        !self.fates.is_empty() || self.has_crashes()
    }

    /// The copies of a message of this event, where what becomes of it is not decided yet.
    pub fn undecided(&self, event: EventId) -> Copies {
        let fates = self.fates(event);
        let least = fates.iter().copied().min().unwrap_or(1);
        let most = fates.iter().copied().max().unwrap_or(1);
        Copies { needed: least, spare: most - least }
    }

    /// How many copies of a message of this event arrive, by the answer to the choice; one if there is no choice.
    #[inline]
    pub fn fates(&self, event: EventId) -> &'static [u32] {
        match self.fates.get(event.index()).copied().unwrap_or(0) {
            0 => &[1],
            LOSSY => &[1, 0],
            DUPLICATING => &[1, 2],
            _ => &[1, 0, 2],
        }
    }
}

/// Copies of one message, one right behind the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Copies {
    /// They will arrive.
    pub needed: u32,
    /// They may.
    pub spare: u32,
}

impl Copies {
    /// So many, which will arrive.
    pub fn needed(needed: u32) -> Self {
        Copies { needed, spare: 0 }
    }
}

/// The machine of a name, by its place in the tables of an executable. Specs are none.
///
/// # Errors
/// When there is no such machine.
pub fn machine_named(exe: &Executable, name: &str) -> Result<usize, UnknownName> {
    let names: Vec<&str> = exe
        .machines
        .iter()
        .map(|machine| if machine.is_monitor { "" } else { exe.symbols.text(machine.name) })
        .collect();
    position("machine", &names, name)
}

fn position(what: &'static str, names: &[&str], name: &str) -> Result<usize, UnknownName> {
    if let Some(found) = names.iter().position(|known| *known == name && !known.is_empty()) {
        return Ok(found);
    }
    let known = names.iter().copied().filter(|known| !known.is_empty());
    let near = nearest_few(name, known, 3).into_iter().map(str::to_owned).collect();
    Err(UnknownName { what, name: name.to_owned(), near })
}

impl LateArrival {
    /// Of a message about which nothing is undecided.
    pub fn plain(message: Message) -> Self {
        LateArrival { message, is_spare: false, n_lost: 0 }
    }
}

/// The messages in flight.
#[derive(Clone, Default, Debug)]
pub struct InFlight {
    /// In the order of their first use, empty ones included.
    pub channels: Vec<Channel>,
    /// Causal: by instance, what it knows of each channel.
    known: Vec<Vec<u32>>,
}

/// From one machine to another.
#[derive(Clone, Debug)]
pub struct Channel {
    pub source: InstanceId,
    pub target: InstanceId,
    /// The oldest first; under `bag`, in the order of their bytes.
    pub messages: VecDeque<Sent>,
}

#[derive(Clone, Debug)]
pub struct Sent {
    pub message: Message,
    /// It need not arrive: whether it was lost is decided when something overtakes it. The kernel has none of these.
    pub is_spare: bool,
    /// Causal: what its sender knew of each channel.
    before: Vec<u32>,
}

/// What is brought where messages may be spare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LateArrival {
    pub message: Message,
    pub is_spare: bool,
    /// How many were lost for that.
    pub n_lost: u32,
}

impl InFlight {
    /// Shows every payload, to be changed.
    pub(crate) fn each_value(&mut self, visit: &mut dyn FnMut(&mut Value)) {
        let sent = self.channels.iter_mut().flat_map(|channel| &mut channel.messages);
        sent.for_each(|sent| visit(&mut sent.message.payload));
    }

    pub(crate) fn clear(&mut self) {
        self.channels.clear();
        self.known.clear();
    }

    /// No message is in flight.
    pub fn is_empty(&self) -> bool {
        self.channels.iter().all(|channel| channel.messages.is_empty())
    }

    pub fn n_messages(&self) -> usize {
        self.channels.iter().map(|channel| channel.messages.len()).sum()
    }

    pub fn position(&self, source: InstanceId, target: InstanceId) -> Option<usize> {
        self.channels.iter().position(|channel| channel.source == source && channel.target == target)
    }

    /// Copies of a message enter the network. `order` compares messages by content; only `bag` asks.
    pub fn put_in_flight(
        &mut self,
        model: NetworkModel,
        source: InstanceId,
        target: InstanceId,
        message: Message,
        copies: Copies,
        mut order: impl FnMut(Message, Message) -> Ordering,
    ) {
        let n_copies = copies.needed + copies.spare;
        if n_copies == 0 {
            return;
        }
        let at = self.position(source, target).unwrap_or_else(|| {
            self.channels.push(Channel { source, target, messages: VecDeque::new() });
            self.channels.len() - 1
        });
        for copy in 0..n_copies {
            let is_spare = copy >= copies.needed;
            let place = match model {
                // Of equal ones, those first that are needed: they arrive first.
                NetworkModel::Bag => {
                    self.channels[at].messages.partition_point(|sent| match order(sent.message, message) {
                        Ordering::Less => true,
                        Ordering::Equal => !sent.is_spare || is_spare,
                        Ordering::Greater => false,
                    })
                }
                NetworkModel::Inbox | NetworkModel::Causal | NetworkModel::Fifo => {
                    self.channels[at].messages.len()
                }
            };
            let mut before = Vec::new();
            if model == NetworkModel::Causal {
                let known = self.known_mut(source);
                before.clone_from(known);
                raise(known, at, 1);
            }
            self.channels[at].messages.insert(place, Sent { message, is_spare, before });
        }
    }

    fn known_mut(&mut self, instance: InstanceId) -> &mut Vec<u32> {
        if self.known.len() <= instance.index() {
            self.known.resize_with(instance.index() + 1, Vec::new);
        }
        &mut self.known[instance.index()]
    }

    /// A new machine knows what its creator knows.
    pub fn create(&mut self, model: NetworkModel, creator: InstanceId, created: InstanceId) {
        if model == NetworkModel::Causal {
            let known = self.known_mut(creator).clone();
            *self.known_mut(created) = known;
        }
    }

    /// How many different messages the channel at this place can bring now.
    pub fn n_picks(&self, model: NetworkModel, at: usize) -> u32 {
        let channel = &self.channels[at];
        let Some(head) = channel.messages.front() else { return 0 };
        match model {
            NetworkModel::Inbox => 0,
            NetworkModel::Fifo => 1,
            NetworkModel::Causal => {
                let waits = head
                    .before
                    .iter()
                    .zip(&self.channels)
                    .any(|(&n, other)| n > 0 && other.target == channel.target);
                u32::from(!waits)
            }
            NetworkModel::Bag => {
                let messages = channel.messages.iter();
                let again = messages.clone().zip(messages.skip(1)).filter(|(a, b)| a.message == b.message);
                (channel.messages.len() - again.count()) as u32
            }
        }
    }

    /// Takes out the message at a place among the different ones, if it can arrive now.
    pub fn deliver(&mut self, model: NetworkModel, at: usize, place: u32) -> Option<Message> {
        if place >= self.n_picks(model, at) {
            return None;
        }
        let messages = &mut self.channels[at].messages;
        let mut index = 0;
        for _ in 0..place {
            let same = messages[index].message;
            while messages[index].message == same {
                index += 1;
            }
        }
        let mut sent = messages.remove(index)?;
        if model == NetworkModel::Causal {
            self.forget_oldest(at, &mut sent);
            let target = self.channels[at].target;
            let known = self.known_mut(target);
            for (channel, &n) in sent.before.iter().enumerate() {
                let more = n.saturating_sub(known.get(channel).copied().unwrap_or(0));
                raise(known, channel, more);
            }
        }
        Some(sent.message)
    }

    /// Causal: the oldest message of a channel is gone, so all numbers go down.
    fn forget_oldest(&mut self, at: usize, gone: &mut Sent) {
        let later = self.channels.iter_mut().flat_map(|channel| &mut channel.messages);
        let numbers = later.map(|sent| &mut sent.before).chain(&mut self.known).chain([&mut gone.before]);
        for number in numbers.filter_map(|numbers| numbers.get_mut(at)) {
            *number = number.saturating_sub(1);
        }
    }

    /// Takes out the message at a place, among the different ones under `bag`, else among all of its channel. Spare ones that it
    /// would have to wait for are lost, as if they never had been sent; `None`, and no network any more, if one of those is needed.
    pub fn deliver_late(&mut self, model: NetworkModel, at: usize, place: u32) -> Option<LateArrival> {
        let mut n_lost = 0;
        let first = match model {
            NetworkModel::Inbox | NetworkModel::Bag => place,
            NetworkModel::Fifo | NetworkModel::Causal => {
                let target = self.channels[at].target;
                let mut ahead = self.channels[at].messages.get(place as usize)?.before.clone();
                // It may not know of itself what its channel does.
                ahead.resize(ahead.len().max(at + 1), 0);
                ahead[at] = place;
                for (other, &n) in ahead.iter().enumerate() {
                    if self.channels[other].target != target {
                        continue;
                    }
                    for _ in 0..n {
                        let mut lost =
                            self.channels[other].messages.pop_front().filter(|sent| sent.is_spare)?;
                        self.forget_oldest(other, &mut lost);
                        n_lost += 1;
                    }
                }
                0
            }
        };
        let messages = &self.channels[at].messages;
        let is_spare = match model {
            NetworkModel::Bag => {
                let different = messages.iter().zip([None].into_iter().chain(messages.iter().map(Some)));
                let mut firsts =
                    different.filter(|(sent, before)| before.is_none_or(|it| it.message != sent.message));
                firsts.nth(first as usize)?.0.is_spare
            }
            NetworkModel::Inbox | NetworkModel::Fifo | NetworkModel::Causal => messages.front()?.is_spare,
        };
        let message = self.deliver(model, at, first)?;
        Some(LateArrival { message, is_spare, n_lost })
    }

    /// Adds a channel, which must not be there; says where.
    pub(crate) fn add_channel(&mut self, source: InstanceId, target: InstanceId) -> Option<usize> {
        if self.position(source, target).is_some() {
            return None;
        }
        self.channels.push(Channel { source, target, messages: VecDeque::new() });
        Some(self.channels.len() - 1)
    }

    /// Adds a message behind those of a channel.
    pub(crate) fn add_sent(&mut self, channel: usize, message: Message, is_spare: bool, before: Vec<u32>) {
        self.channels[channel].messages.push_back(Sent { message, is_spare, before });
    }

    /// Says what an instance knows of each channel.
    pub(crate) fn set_known(&mut self, instance: InstanceId, known: Vec<u32>) {
        *self.known_mut(instance) = known;
    }

    /// What instances know of the channel at each place, without those that know nothing.
    pub(crate) fn knowledge(&self) -> impl Iterator<Item = (InstanceId, &[u32])> {
        let known = self.known.iter().enumerate().filter(|(_, known)| known.iter().any(|&n| n > 0));
        known.map(|(instance, known)| (InstanceId::new(instance), known.as_slice()))
    }
}

impl Sent {
    pub(crate) fn before(&self) -> &[u32] {
        &self.before
    }
}

fn raise(numbers: &mut Vec<u32>, at: usize, by: u32) {
    if by == 0 {
        return;
    }
    if numbers.len() <= at {
        numbers.resize(at + 1, 0);
    }
    numbers[at] += by;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(event: u32) -> Message {
        Message { event: EventId::from_u32(event), payload: Value::NULL }
    }

    fn hand(flight: &mut InFlight, model: NetworkModel, way: [u32; 2], event: u32) {
        let [source, target] = way.map(InstanceId::from_u32);
        let order = |a: Message, b: Message| a.event.cmp(&b.event);
        flight.put_in_flight(model, source, target, message(event), Copies::needed(1), order);
    }

    fn picks(flight: &InFlight, model: NetworkModel) -> Vec<u32> {
        (0..flight.channels.len()).map(|at| flight.n_picks(model, at)).collect()
    }

    #[test]
    fn fifo_keeps_the_order_of_a_channel() {
        let (mut flight, model) = (InFlight::default(), NetworkModel::Fifo);
        for (way, event) in [([0, 1], 5), ([0, 1], 3), ([2, 1], 7)] {
            hand(&mut flight, model, way, event);
        }
        assert_eq!(picks(&flight, model), [1, 1]);
        assert_eq!(flight.deliver(model, 0, 0), Some(message(5)));
        assert_eq!(flight.deliver(model, 0, 1), None);
        assert_eq!(flight.deliver(model, 0, 0), Some(message(3)));
    }

    #[test]
    fn bag_tells_different_messages_apart() {
        let (mut flight, model) = (InFlight::default(), NetworkModel::Bag);
        for event in [5, 3, 5, 4] {
            hand(&mut flight, model, [0, 1], event);
        }
        assert_eq!(picks(&flight, model), [3]);
        assert_eq!(flight.deliver(model, 0, 2), Some(message(5)));
        assert_eq!(flight.deliver(model, 0, 1), Some(message(4)));
        assert_eq!(flight.deliver(model, 0, 0), Some(message(3)));
        assert_eq!(flight.deliver(model, 0, 0), Some(message(5)));
        assert!(flight.is_empty());
    }

    #[test]
    fn causal_order_goes_through_third_machines() {
        // 0 sends to 2, then to 1, which sends to 2: that has to wait for the first.
        let (mut flight, model) = (InFlight::default(), NetworkModel::Causal);
        hand(&mut flight, model, [0, 2], 5);
        hand(&mut flight, model, [0, 1], 6);
        assert_eq!(flight.deliver(model, 1, 0), Some(message(6)));
        hand(&mut flight, model, [1, 2], 7);
        hand(&mut flight, model, [3, 2], 8);
        assert_eq!(picks(&flight, model), [1, 0, 0, 1]);
        assert_eq!(flight.deliver(model, 2, 0), None);
        assert_eq!(flight.deliver(model, 0, 0), Some(message(5)));
        assert_eq!(picks(&flight, model), [0, 0, 1, 1]);
    }

    fn hand_spare(flight: &mut InFlight, model: NetworkModel, way: [u32; 2], event: u32, copies: Copies) {
        let [source, target] = way.map(InstanceId::from_u32);
        flight.put_in_flight(model, source, target, message(event), copies, |a, b| a.event.cmp(&b.event));
    }

    const SPARE: Copies = Copies { needed: 0, spare: 1 };

    #[test]
    fn spare_messages_are_overtaken() {
        let (mut flight, model) = (InFlight::default(), NetworkModel::Fifo);
        hand_spare(&mut flight, model, [0, 1], 5, SPARE);
        hand(&mut flight, model, [0, 1], 6);
        hand(&mut flight, model, [0, 1], 7);
        let deliver = |place| flight.clone().deliver_late(model, 0, place);
        assert_eq!(deliver(0), Some(LateArrival { message: message(5), is_spare: true, n_lost: 0 }));
        assert_eq!(deliver(1), Some(LateArrival { message: message(6), is_spare: false, n_lost: 1 }));
        assert_eq!(deliver(2), None);
        assert_eq!(deliver(3), None);
    }

    #[test]
    fn what_is_needed_arrives_before_its_copy() {
        let (mut flight, model) = (InFlight::default(), NetworkModel::Bag);
        for copies in [SPARE, Copies { needed: 1, spare: 1 }] {
            hand_spare(&mut flight, model, [0, 1], 5, copies);
        }
        hand_spare(&mut flight, model, [0, 1], 6, SPARE);
        assert_eq!(picks(&flight, model), [2]);
        let spare: Vec<bool> =
            std::iter::from_fn(|| flight.deliver_late(model, 0, 0)).map(|found| found.is_spare).collect();
        assert_eq!(spare, [false, true, true, true]);
    }

    #[test]
    fn in_causal_order_spare_messages_of_others_are_overtaken() {
        // 0 sends to 2, then to 1, which sends to 2: that waits for the first, unless it was lost.
        for (copies, arrives) in [(SPARE, true), (Copies::needed(1), false)] {
            let (mut flight, model) = (InFlight::default(), NetworkModel::Causal);
            hand_spare(&mut flight, model, [0, 2], 5, copies);
            hand(&mut flight, model, [0, 1], 6);
            assert_eq!(flight.deliver_late(model, 1, 0), Some(LateArrival::plain(message(6))));
            hand(&mut flight, model, [1, 2], 7);
            let found = flight.deliver_late(model, 2, 0);
            let lost = LateArrival { n_lost: 1, ..LateArrival::plain(message(7)) };
            assert_eq!(found, arrives.then_some(lost));
            if arrives {
                assert!(flight.is_empty());
                assert_eq!(flight.knowledge().count(), 0);
            }
        }
    }

    #[test]
    fn near_names_are_found() {
        let error = position("event", &["eRequest", "eReply", "halt"], "eRequst").unwrap_err();
        assert_eq!(error.to_string(), "there is no event `eRequst`; did you mean `eRequest`?");
        let error = position("event", &["eRequest"], "tick").unwrap_err();
        assert_eq!(error.to_string(), "there is no event `tick`");
        assert_eq!(position("event", &["eRequest"], "eRequest"), Ok(0));
    }
}
