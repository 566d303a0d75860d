//! Locals as words, and hashes of what they are.
//!
//! Values of one store are equal when their words are. So within one kernel a local is a short list of words, and comparing
//! these says what comparing bytes (see [`crate::encode`]) would, without writing any.
//!
//! A hash of the words would depend on the order of interning. The hash here is of the content: each node of the store
//! has one, made of those of its parts, and remembered; machines count by their paths. Equal locals have equal hashes in every
//! process, and a local of large values is hashed in the time that its registers take.

use allways_base::Idx;
use allways_run::InstanceId;

use crate::Executable;
use crate::configuration::{After, Local, Message, Pending, Status};
use crate::network::InFlight;
use crate::value::{Kind, Store, Value, View};

/// What a local is made of, in order.
enum Part {
    Number(u64),
    Value(Value),
    Instance(InstanceId),
}

/// Reports the parts of a local. Registers that will not be read again count as null if there is code to look at.
#[inline]
fn parts(local: &Local, hides_dead: Option<&Executable>, tell: &mut impl FnMut(Part)) {
    let mut pair = |a: u32, b: u32| tell(Part::Number(u64::from(a) << 32 | u64::from(b)));
    pair(local.machine.as_u32(), local.interface.as_u32());
    match local.status {
        Status::Idle => pair(0, 0),
        Status::Halted => return pair(1, 0),
        Status::Blocked { table } => pair(2, table.as_u32()),
        Status::Pending(Pending::Start) => pair(3, 0),
        Status::Pending(Pending::Observe) => pair(4, 0),
        Status::Pending(Pending::Deliver { target, message }) => {
            pair(5, message.event.as_u32());
            tell(Part::Instance(target));
            tell(Part::Value(message.payload));
        }
        Status::Pending(Pending::Create { interface, payload, dst }) => {
            pair(6, interface.as_u32());
            pair(0, dst.bits());
            tell(Part::Value(payload));
        }
        Status::Pending(Pending::Fault(fault)) => {
            pair(7, 0);
            tell(Part::Number(text_hash(fault.kind.as_str().as_bytes())));
            tell(Part::Value(fault.text));
            // Two faults of one kind are one only at one place.
            let (file, start, end) =
                fault.span.map_or((0, 0, 0), |span| (1 + span.file.as_u32(), span.start, span.end));
            tell(Part::Number(u64::from(file)));
            tell(Part::Number(u64::from(start) << 32 | u64::from(end)));
        }
        Status::Pending(Pending::Foreign { fun }) => pair(8, fun.as_u32()),
    }
    let mut pair = |a: u32, b: u32| tell(Part::Number(u64::from(a) << 32 | u64::from(b)));
    pair(local.control.as_u32(), local.n_children);
    match local.after {
        After::Handler => pair(0, 0),
        After::Exit { target, with, payload } => {
            pair(1, target.as_u32());
            pair(0, with.map_or(0, |fun| fun.as_u32() + 1));
            tell(Part::Value(payload));
        }
        After::With { target, payload } => {
            pair(2, target.as_u32());
            tell(Part::Value(payload));
        }
        After::Unhandled { event } => pair(3, event.as_u32()),
    }
    let mut pair = |a: u32, b: u32| tell(Part::Number(u64::from(a) << 32 | u64::from(b)));
    pair(local.frames.len() as u32, local.registers.len() as u32);
    for frame in &local.frames {
        pair(frame.fun.as_u32(), frame.pc);
        pair(frame.base, frame.dst.bits());
    }
    match hides_dead {
        None => local.registers.iter().for_each(|&value| tell(Part::Value(value))),
        Some(exe) => {
            let mut dead = exe.liveness.dead(exe, local).peekable();
            for (place, &value) in local.registers.iter().enumerate() {
                let is_dead = dead.next_if_eq(&place).is_some();
                tell(Part::Value(if is_dead { Value::NULL } else { value }));
            }
        }
    }
    for &Message { event, payload } in &local.inbox {
        tell(Part::Number(u64::from(event.as_u32())));
        tell(Part::Value(payload));
    }
    // Messages are pairs, so one more word is no message.
    if local.n_named != 0 {
        tell(Part::Number(u64::from(local.n_named)));
    }
}

/// Appends the words of a local, which are those of another one of the same store just when the two are equal.
pub fn words(local: &Local, out: &mut Vec<u64>) {
    parts(local, None, &mut |part| out.push(word(part)));
}

/// The same, where registers that will not be read again count as null.
pub fn live_words(exe: &Executable, local: &Local, out: &mut Vec<u64>) {
    parts(local, Some(exe), &mut |part| out.push(word(part)));
}

#[inline]
fn word(part: Part) -> u64 {
    match part {
        Part::Number(n) => n,
        Part::Value(value) => value.bits(),
        Part::Instance(instance) => u64::from(instance.as_u32()),
    }
}

/// Hashes of the content of one store, which must not forget nodes meanwhile.
#[derive(Default)]
pub struct ContentHashes {
    /// By node; zero where it was not asked for.
    nodes: Vec<u64>,
    /// By instance, likewise.
    instances: Vec<u64>,
}

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;

#[inline]
fn fold(hash: u64, word: u64) -> u64 {
    let product = u128::from(word ^ hash) * u128::from(FACTOR);
    (product as u64) ^ (product >> 64) as u64 ^ hash.rotate_left(23).wrapping_mul(SEED)
}

fn text_hash(text: &[u8]) -> u64 {
    text.chunks(8).fold(SEED ^ (text.len() as u64) << 8 ^ 3, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        fold(hash, u64::from_le_bytes(word))
    })
}

/// A bijection that spreads over all bits.
#[inline]
fn spread(mut n: u64) -> u64 {
    n ^= n >> 32;
    n = n.wrapping_mul(FACTOR);
    n ^= n >> 32;
    n = n.wrapping_mul(FACTOR);
    n ^ n >> 32
}

impl ContentHashes {
    pub fn n_bytes(&self) -> usize {
        (self.nodes.capacity() + self.instances.capacity()) * 8
    }

    /// Of where one machine stands, and its name.
    pub fn local(&mut self, exe: &Executable, store: &Store, owner: u64, local: &Local) -> u64 {
        let mut hash = fold(SEED, owner);
        parts(local, None, &mut |part| {
            let word = match part {
                Part::Number(n) => n,
                Part::Value(value) => self.value(exe, store, value),
                Part::Instance(instance) => self.instance(exe, instance),
            };
            hash = fold(hash, word);
        });
        spread(hash)
    }

    /// Of the messages in flight, over a network that keeps no more than that: by the paths of channels, and their owner.
    pub fn in_flight(&mut self, exe: &Executable, store: &Store, owner: u64, flight: &InFlight) -> u64 {
        let mut used: Vec<_> =
            flight.channels.iter().filter(|channel| !channel.messages.is_empty()).collect();
        used.sort_by_cached_key(|channel| {
            (exe.instances.path(channel.target), exe.instances.path(channel.source))
        });
        let mut hash = fold(SEED ^ 9, owner);
        for channel in used {
            hash = fold(hash, self.instance(exe, channel.target));
            hash = fold(hash, self.instance(exe, channel.source));
            hash = fold(hash, channel.messages.len() as u64);
            for sent in &channel.messages {
                hash = fold(hash, u64::from(sent.message.event.as_u32()) << 1 | u64::from(sent.is_spare));
                hash = fold(hash, self.value(exe, store, sent.message.payload));
            }
        }
        spread(hash)
    }

    /// Of the path of a machine.
    pub fn instance(&mut self, exe: &Executable, instance: InstanceId) -> u64 {
        let at = instance.index();
        if self.instances.len() <= at {
            self.instances.resize(at + 1, 0);
        }
        if self.instances[at] == 0 {
            let path = exe.instances.path(instance);
            let hash = path.iter().fold(SEED, |hash, &place| fold(hash, u64::from(place) + 1));
            self.instances[at] = spread(hash).max(1);
        }
        self.instances[at]
    }

    #[inline]
    fn value(&mut self, exe: &Executable, store: &Store, value: Value) -> u64 {
        match value.view() {
            View::Null | View::Bool(_) | View::Int(_) | View::Event(_) | View::Hole(_) => value.bits(),
            View::Atom(class, number) => match store.origin(class) {
                None => value.bits(),
                Some(origin) => {
                    let machine = self.instance(exe, origin.machine);
                    let choice = u64::from(origin.site) << 32 | u64::from(origin.ordinal);
                    fold(fold(machine, choice), u64::from(number))
                }
            },
            View::Ref(instance, permission) => {
                fold(self.instance(exe, instance), u64::from(permission.as_u32()))
            }
            View::Node(_, id) => match self.nodes.get(id as usize) {
                Some(&hash) if hash != 0 => hash,
                _ => self.node(exe, store, value),
            },
        }
    }

    /// Parts have lower numbers than what they are part of, and are hashed before it.
    #[cold]
    fn node(&mut self, exe: &Executable, store: &Store, value: Value) -> u64 {
        if self.nodes.len() < store.n_nodes() {
            self.nodes.resize(store.n_nodes().next_power_of_two(), 0);
        }
        let View::Node(kind, id) = value.view() else { return self.value(exe, store, value) };
        let hash = match kind {
            Kind::Int => fold(SEED ^ 1, store.as_int(value).unwrap_or(0) as u64),
            Kind::Float => fold(SEED ^ 2, store.as_float(value).unwrap_or(0.0).to_bits()),
            Kind::String => text_hash(store.as_str(value).unwrap_or("").as_bytes()),
            Kind::Tuple | Kind::Named | Kind::Seq | Kind::Set | Kind::Map => {
                let content = store.content(id);
                let mut hash = SEED ^ (content.len() as u64) << 8 ^ (4 + kind as u64);
                for &part in content {
                    hash = fold(hash, self.value(exe, store, part));
                }
                hash
            }
        };
        let hash = spread(hash).max(1);
        self.nodes[id as usize] = hash;
        hash
    }
}
