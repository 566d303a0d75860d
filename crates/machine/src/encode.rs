//! Configurations as bytes: the form for wires, checkpoints, and for comparing across kernels.
//!
//! Equal configurations of one executable have equal bytes, whatever kernel holds them and however it came there:
//! instances go in order of their paths, references are paths, values are written out, and registers that the code
//! will not read again count as null. Numbers are variable-length, low seven bits first.

use allways_base::Idx;
use allways_run::{InstanceId, ViolationKind};

use crate::Executable;
use crate::configuration::{After, Configuration, Local, Message, Pending, Status};
use crate::kernel::Kernel;
use crate::network::{Channel, InFlight};
use crate::value::{Kind, Store, Value, View};

impl Kernel<'_> {
    /// Appends the present configuration.
    pub fn encode(&self, out: &mut Vec<u8>) {
        encode_configuration(self.executable(), self.store(), self.configuration(), out);
    }

    /// The same, as bytes of its own.
    pub fn encoded(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        bytes
    }

    /// Appends the present configuration with every register as it is.
    pub fn encode_whole(&self, out: &mut Vec<u8>) {
        let (exe, store) = (self.executable(), self.store());
        Encoder::new(exe, store, out).configuration(self.configuration());
    }
}

/// Appends a configuration whose values are in `store`.
pub fn encode_configuration(exe: &Executable, store: &Store, conf: &Configuration, out: &mut Vec<u8>) {
    Encoder { hides_dead: true, ..Encoder::new(exe, store, out) }.configuration(conf);
}

/// Appends the messages in flight.
pub fn encode_in_flight(exe: &Executable, store: &Store, flight: &InFlight, out: &mut Vec<u8>) {
    Encoder { hides_dead: true, ..Encoder::new(exe, store, out) }.in_flight(flight);
}

/// Compares messages by their bytes, in the order of which a network without order keeps them.
pub fn compare_messages(exe: &Executable, store: &Store, a: Message, b: Message) -> std::cmp::Ordering {
    if a == b {
        return std::cmp::Ordering::Equal;
    }
    let bytes = |message: Message| {
        let mut bytes = Vec::new();
        Encoder::new(exe, store, &mut bytes).number(message.event.index() as u64);
        bytes
    };
    bytes(a).cmp(&bytes(b)).then_with(|| compare(exe, store, a.payload, b.payload))
}

/// Compares values by their bytes, of which as few as possible are written: no bytes of a value are the beginning of those of another, so
/// that the first part that differs decides, and equal parts of one store are the same.
fn compare(exe: &Executable, store: &Store, a: Value, b: Value) -> std::cmp::Ordering {
    if a == b {
        return std::cmp::Ordering::Equal;
    }
    // A leaf as a whole; of what has parts, the kind and how many.
    let head = |value: Value| {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(exe, store, &mut bytes);
        match value.view() {
            View::Node(Kind::Tuple | Kind::Named | Kind::Seq | Kind::Set | Kind::Map, id) => {
                encoder.head(value, store.content(id).len());
                (bytes, store.content(id))
            }
            _ => {
                encoder.value(value);
                (bytes, &[][..])
            }
        }
    };
    let ((a, a_parts), (b, b_parts)) = (head(a), head(b));
    let parts = || a_parts.iter().zip(b_parts).map(|(&a, &b)| compare(exe, store, a, b));
    a.cmp(&b).then_with(|| parts().find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal))
}

/// Appends a message.
pub fn encode_message(exe: &Executable, store: &Store, message: Message, out: &mut Vec<u8>) {
    Encoder::new(exe, store, out).message(message);
}

/// Appends where one machine stands; of the machine itself, that is, not of its name.
pub fn encode_local(exe: &Executable, store: &Store, local: &Local, out: &mut Vec<u8>) {
    Encoder { hides_dead: true, ..Encoder::new(exe, store, out) }.local(local);
}

/// The same with every register as it is.
pub fn encode_whole(exe: &Executable, store: &Store, local: &Local, out: &mut Vec<u8>) {
    Encoder::new(exe, store, out).local(local);
}

/// Appends one value, as long as there are no more than so many bytes. Whether that is all of it.
pub(crate) fn encode_element(
    exe: &Executable,
    store: &Store,
    value: Value,
    max_bytes: usize,
    out: &mut Vec<u8>,
) -> bool {
    let mut encoder = Encoder { max_bytes, ..Encoder::new(exe, store, out) };
    encoder.value(value);
    encoder.out.len() <= max_bytes
}

/// Appends where one machine stands but for the machines that it mentions, and reports these: locals that differ by a
/// renaming of machines have equal bytes. `unordered` are registers, in order, of which the order of elements is of no meaning.
pub fn encode_skeleton(
    exe: &Executable,
    store: &Store,
    local: &Local,
    unordered: &[usize],
    out: &mut Vec<u8>,
    mentions: &mut Vec<Mention>,
) {
    let mut encoder = Encoder { mentions: Some((unordered, mentions)), ..Encoder::new(exe, store, out) };
    encoder.local(local);
}

/// One place at which a machine is mentioned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mention {
    pub instance: InstanceId,
    /// Differs from place to place, but not within a collection without order.
    pub place: u64,
}

struct Encoder<'a> {
    exe: &'a Executable,
    store: &'a Store,
    out: &'a mut Vec<u8>,
    /// Registers that will not be read are written as null.
    hides_dead: bool,
    /// Instances go there instead; with the registers that have no order.
    mentions: Option<(&'a [usize], &'a mut Vec<Mention>)>,
    /// When there are more bytes, parts of values are left out.
    max_bytes: usize,
}

impl<'a> Encoder<'a> {
    fn new(exe: &'a Executable, store: &'a Store, out: &'a mut Vec<u8>) -> Self {
        Encoder { exe, store, out, hides_dead: false, mentions: None, max_bytes: usize::MAX }
    }
}

impl Encoder<'_> {
    fn configuration(&mut self, conf: &Configuration) {
        let mut instances: Vec<(Vec<u32>, InstanceId)> =
            conf.roster.iter().map(|instance| (self.exe.instances.path(instance), instance)).collect();
        // Where a run may depend on numbers, the order of creation is part of the configuration.
        if self.exe.observed_text.is_none() {
            instances.sort();
        }
        self.number(instances.len() as u64);
        for (path, instance) in &instances {
            self.path(path);
            self.local(&conf.locals[instance.index()]);
        }
        for monitor in &conf.monitors {
            self.local(monitor);
        }
        if self.exe.network.is_delayed() {
            self.in_flight(&conf.network);
        }
    }

    fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.out.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.out.push(n as u8);
    }

    fn path(&mut self, path: &[u32]) {
        self.number(path.len() as u64);
        for &place in path {
            self.number(place as u64);
        }
    }

    fn instance(&mut self, instance: InstanceId) {
        if let Some((_, mentions)) = &mut self.mentions {
            let place = mentions.len() as u64;
            mentions.push(Mention { instance, place });
            return;
        }
        let path = self.exe.instances.path(instance);
        self.path(&path);
    }

    fn message(&mut self, message: Message) {
        self.number(u64::from(message.event.as_u32()));
        self.value(message.payload);
    }

    /// Channels that are not empty by the paths of their ends, then what machines know of them, by their paths.
    fn in_flight(&mut self, flight: &InFlight) {
        let exe = self.exe;
        let path = |instance| exe.instances.path(instance);
        let used = flight.channels.iter().enumerate().filter(|(_, channel)| !channel.messages.is_empty());
        let mut used: Vec<(Vec<u32>, Vec<u32>, usize, &Channel)> =
            used.map(|(at, channel)| (path(channel.target), path(channel.source), at, channel)).collect();
        used.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        let places: Vec<usize> = used.iter().map(|&(_, _, at, _)| at).collect();
        self.number(used.len() as u64);
        for (target, source, _, channel) in &used {
            self.path(target);
            self.path(source);
            let has_spare = channel.messages.iter().any(|sent| sent.is_spare);
            self.number((channel.messages.len() as u64) << 1 | u64::from(has_spare));
            for sent in &channel.messages {
                self.message(sent.message);
                if has_spare {
                    self.number(u64::from(sent.is_spare));
                }
                self.numbers(sent.before(), &places);
            }
        }
        let mut known: Vec<(Vec<u32>, &[u32])> =
            flight.knowledge().map(|(instance, known)| (path(instance), known)).collect();
        known.sort();
        self.number(known.len() as u64);
        for (path, known) in known {
            self.path(&path);
            self.numbers(known, &places);
        }
    }

    /// Numbers by channel, of these channels: only those above zero.
    fn numbers(&mut self, numbers: &[u32], places: &[usize]) {
        let number = |at: usize| numbers.get(at).copied().unwrap_or(0);
        self.number(places.iter().filter(|&&at| number(at) > 0).count() as u64);
        for (place, &at) in places.iter().enumerate().filter(|&(_, &at)| number(at) > 0) {
            self.number(place as u64);
            self.number(number(at) as u64);
        }
    }

    fn local(&mut self, local: &Local) {
        self.number(u64::from(local.machine.as_u32()));
        self.number(u64::from(local.interface.as_u32()));
        match local.status {
            Status::Idle => self.number(0),
            Status::Halted => return self.number(1),
            Status::Blocked { table } => {
                self.number(2);
                self.number(table.as_u32().into());
            }
            Status::Pending(Pending::Start) => self.number(3),
            Status::Pending(Pending::Observe) => self.number(4),
            Status::Pending(Pending::Deliver { target, message }) => {
                self.number(5);
                self.instance(target);
                self.message(message);
            }
            Status::Pending(Pending::Create { interface, payload, dst }) => {
                self.number(6);
                self.number(u64::from(interface.as_u32()));
                self.number(dst.bits() as u64);
                self.value(payload);
            }
            Status::Pending(Pending::Fault(fault)) => {
                self.number(7);
                let kind = ViolationKind::ALL.iter().position(|kind| kind.as_str() == fault.kind.as_str());
                self.number(kind.unwrap_or(ViolationKind::ALL.len()) as u64);
                self.value(fault.text);
                // Two faults of one kind are one only at one place.
                if let Some(span) = fault.span {
                    self.number(1 + u64::from(span.file.as_u32()));
                    self.number(u64::from(span.start));
                    self.number(u64::from(span.end));
                } else {
                    self.number(0);
                }
            }
            Status::Pending(Pending::Foreign { fun }) => {
                self.number(8);
                self.number(u64::from(fun.as_u32()));
            }
        }
        self.number(u64::from(local.control.as_u32()));
        self.number(local.n_children as u64);
        self.number(local.n_named as u64);
        match local.after {
            After::Handler => self.number(0),
            After::Exit { target, with, payload } => {
                self.number(1);
                self.number(u64::from(target.as_u32()));
                self.number(with.map_or(0, |fun| u64::from(fun.as_u32()) + 1));
                self.value(payload);
            }
            After::With { target, payload } => {
                self.number(2);
                self.number(u64::from(target.as_u32()));
                self.value(payload);
            }
            After::Unhandled { event } => {
                self.number(3);
                self.number(u64::from(event.as_u32()));
            }
        }
        self.number(local.frames.len() as u64);
        for frame in &local.frames {
            for part in [frame.fun.as_u32(), frame.pc, frame.base, frame.dst.bits()] {
                self.number(part as u64);
            }
        }
        self.number(local.registers.len() as u64);
        if self.hides_dead {
            let mut dead = self.exe.liveness.dead(self.exe, local).peekable();
            for (place, &value) in local.registers.iter().enumerate() {
                match dead.next_if_eq(&place) {
                    Some(_) => self.value(Value::NULL),
                    None => self.value(value),
                }
            }
        } else {
            for (place, &value) in local.registers.iter().enumerate() {
                let is_unordered =
                    self.mentions.as_ref().is_some_and(|(unordered, _)| unordered.contains(&place));
                if is_unordered { self.unordered(value) } else { self.value(value) }
            }
        }
        self.number(local.inbox.len() as u64);
        for &message in &local.inbox {
            self.message(message);
        }
    }

    /// A collection without order, machines left out: elements in order of what is left.
    fn unordered(&mut self, value: Value) {
        let View::Node(kind @ (Kind::Seq | Kind::Set | Kind::Map), _) = value.view() else {
            return self.value(value);
        };
        let mut elements: Vec<(Vec<u8>, Vec<Mention>)> = self
            .store
            .elements(value)
            .map(|element| {
                let (mut bytes, mut mentions) = (Vec::new(), Vec::new());
                let mut encoder = Encoder {
                    mentions: Some((&[], &mut mentions)),
                    ..Encoder::new(self.exe, self.store, &mut bytes)
                };
                for &part in element {
                    encoder.value(part);
                }
                (bytes, mentions)
            })
            .collect();
        elements.sort_by(|a, b| a.0.cmp(&b.0));
        self.out.push(9 + kind as u8);
        self.number(elements.len() as u64);
        let Some((_, mentions)) = &mut self.mentions else { return };
        let place = (mentions.len() as u64) << 32;
        let mut at = place;
        for (i, (bytes, own)) in elements.iter().enumerate() {
            if i > 0 && elements[i - 1].0 != *bytes {
                at = place + i as u64;
            }
            self.out.extend_from_slice(bytes);
            mentions
                .extend(own.iter().map(|mention| Mention { place: at << 16 | mention.place, ..*mention }));
        }
    }

    fn value(&mut self, value: Value) {
        match value.view() {
            View::Null => self.out.push(0),
            View::Bool(b) => self.out.push(1 + b as u8),
            View::Int(n) => self.int(n),
            View::Atom(class, n) => match self.store.origin(class).filter(|_| self.mentions.is_none()) {
                None => {
                    self.out.push(20);
                    self.number(class.into());
                    self.number(n.into());
                }
                Some(origin) => {
                    self.out.push(21);
                    self.number(origin.site.into());
                    self.instance(origin.machine);
                    self.number(origin.ordinal.into());
                    self.number(n.into());
                }
            },
            View::Event(event) => {
                self.out.push(4);
                self.number(u64::from(event.as_u32()));
            }
            View::Ref(instance, permission) => {
                self.out.push(5);
                self.instance(instance);
                self.number(permission.as_u32() as u64);
            }
            View::Hole(next) => {
                self.out.push(6);
                self.number(next.map_or(0, |slot| slot as u64 + 1));
            }
            View::Node(kind, id) => match kind {
                Kind::Int => self.int(self.store.as_int(value).unwrap_or(0)),
                Kind::Float => {
                    self.out.push(7);
                    let bits = self.store.as_float(value).unwrap_or(0.0).to_bits();
                    self.out.extend_from_slice(&bits.to_le_bytes());
                }
                Kind::String => {
                    let text = self.store.as_str(value).unwrap_or("");
                    self.out.push(8);
                    self.number(text.len() as u64);
                    self.out.extend_from_slice(text.as_bytes());
                }
                Kind::Tuple | Kind::Named | Kind::Seq | Kind::Set | Kind::Map => {
                    let content = self.store.content(id);
                    self.head(value, content.len());
                    for &part in content {
                        if self.out.len() > self.max_bytes {
                            return;
                        }
                        self.value(part);
                    }
                }
            },
        }
    }

    /// What comes before the parts of a value: of which kind it is, and how many there are.
    fn head(&mut self, value: Value, n_parts: usize) {
        self.out.extend(value.kind().map(|kind| 9 + kind as u8));
        self.number(n_parts as u64);
    }

    fn int(&mut self, n: i64) {
        self.out.push(3);
        // Zigzag, so that small negative numbers stay short.
        self.number((n as u64) << 1 ^ (n >> 63) as u64);
    }
}
