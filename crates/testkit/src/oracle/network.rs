//! The network between machines and the faults that are let in (docs/semantics.md, section 3), read literally.
//!
//! Every message in flight is a packet with the set of packets that happened before it, and every machine has the set
//! of those that happened before what it does next. A packet is named by its two ends and how many are before it there.

use std::collections::{BTreeMap, BTreeSet};

use allways_p::hir::{EventId, MachineId, Program};
use allways_run::{NetworkModel, NetworkOptions};

use super::configuration::Message;
use super::value::Path;

/// The options with their names looked up.
#[derive(Clone, Default, Debug)]
pub struct Rules {
    pub model: NetworkModel,
    pub lossy: Vec<EventId>,
    pub duplicating: Vec<EventId>,
    pub crash: Vec<MachineId>,
}

impl Rules {
    /// Names that mean nothing are left out.
    pub fn new(program: &Program, options: &NetworkOptions) -> Self {
        let events = |names: &[String]| {
            let is_named =
                |event: &EventId| names.iter().any(|name| program.name(program.events[*event].name) == name);
            program.events.ids().filter(is_named).collect()
        };
        let crash = program.machines.ids().filter(|&machine| {
            let name = program.name(program.machines[machine].name);
            options.crash.iter().any(|crashing| crashing == name)
        });
        Rules {
            model: options.model,
            lossy: events(&options.lossy),
            duplicating: events(&options.duplicating),
            crash: crash.collect(),
        }
    }

    /// How many copies of a message may arrive.
    pub fn fates(&self, event: EventId) -> Vec<usize> {
        let mut fates = vec![1];
        if self.lossy.contains(&event) {
            fates.push(0);
        }
        if self.duplicating.contains(&event) {
            fates.push(2);
        }
        fates
    }
}

/// Target, source, and how many packets are before it on that channel.
pub type PacketId = (Path, Path, usize);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Packet {
    message: Message,
    before: BTreeSet<PacketId>,
}

/// The messages in flight.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Network {
    ways: BTreeMap<(Path, Path), Vec<Packet>>,
    known: BTreeMap<Path, BTreeSet<PacketId>>,
}

impl Network {
    pub fn is_empty(&self) -> bool {
        self.ways.is_empty()
    }

    pub fn send(&mut self, model: NetworkModel, source: &Path, target: &Path, message: &Message) {
        let way = self.ways.entry((target.clone(), source.clone())).or_default();
        let id = (target.clone(), source.clone(), way.len());
        let mut before = BTreeSet::new();
        if model == NetworkModel::Causal {
            let known = self.known.entry(source.clone()).or_default();
            before.clone_from(known);
            known.insert(id);
        }
        way.push(Packet { message: message.clone(), before });
        if model == NetworkModel::Bag {
            way.sort();
        }
    }

    /// What happened before the creation happened before all that the new machine does.
    pub fn create(&mut self, creator: &Path, created: &Path) {
        if let Some(known) = self.known.get(creator).cloned() {
            self.known.insert(created.clone(), known);
        }
    }

    /// The packets that may arrive now.
    pub fn arrivals(&self, model: NetworkModel) -> Vec<PacketId> {
        let mut arrivals = Vec::new();
        for ((target, source), way) in &self.ways {
            for (n, packet) in way.iter().enumerate() {
                let may_arrive = match model {
                    NetworkModel::Inbox => false,
                    NetworkModel::Bag => true,
                    NetworkModel::Fifo => n == 0,
                    NetworkModel::Causal => packet.before.iter().all(|(other, ..)| other != target),
                };
                if may_arrive {
                    arrivals.push((target.clone(), source.clone(), n));
                }
            }
        }
        arrivals
    }

    /// Takes a packet out; its target knows then what its sender knew.
    pub fn take(&mut self, id: &PacketId) -> Message {
        let (target, source, n) = id;
        let key = (target.clone(), source.clone());
        let way = self.ways.get_mut(&key).expect("the packet is there");
        let packet = way.remove(*n);
        if way.is_empty() {
            self.ways.remove(&key);
        }
        if !packet.before.is_empty() || !self.known.is_empty() {
            self.known.entry(target.clone()).or_default().extend(packet.before);
        }
        // The packet is gone from all sets, and those behind it have a smaller number.
        let without = |set: &mut BTreeSet<PacketId>| {
            let renamed = |other: PacketId| {
                let is_behind = (&other.0, &other.1) == (target, source) && other.2 > *n;
                if is_behind { (other.0, other.1, other.2 - 1) } else { other }
            };
            let rest = std::mem::take(set);
            set.extend(rest.into_iter().filter(|other| other != id).map(renamed));
        };
        self.ways.values_mut().flatten().map(|packet| &mut packet.before).for_each(without);
        self.known.values_mut().for_each(without);
        self.known.retain(|_, known| !known.is_empty());
        packet.message
    }
}
