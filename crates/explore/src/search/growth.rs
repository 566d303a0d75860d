//! What was still growing when a search did not terminate, so that the user learns why.
//!
//! A program whose variables, inboxes or machines grow for ever has infinitely many configurations. Local states and messages are numbered in the
//! order in which the search reached them, so all of this is read from them afterwards; the search only notes how many there were
//! at each layer. A *record* is a value, length or number that is larger than all in earlier layers. Whatever
//! has set many records, and has never waited longer for one than it waits now, is still growing. Whether it ever
//! stops cannot be decided from this: a counter may be approaching a bound. But that is mostly the counter of some phase, and what has grown for most of the
//! search explains more: if there is anything of that kind, nothing else is reported.
//! Records are counted by layer, since a wide choice (`choose(100)`) sets a hundred records in one layer and then no more.

use allways_base::Idx;
use allways_machine::ir::{EventId, FunId, MachineId};
use allways_machine::{Message, Pending, Status, Store, Value};
use allways_run::InstanceId;
use rustc_hash::FxHashMap;

use super::local::size::{Size, Sizes};
use super::local::states::{LocalState, LocalStates, Owner};

/// LocalStates and messages that are examined, at most.
const LOOKS: usize = 200_000;
/// Fewer records are nothing special.
const MIN_RECORDS: u32 = 5;
/// Reported at most: more would hide the cause.
const MOST: usize = 3;

/// Something that was still growing when the search ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Growth {
    pub kind: GrowthKind,
    /// The machine or monitor; of payloads, the event.
    pub owner: String,
    /// The variable, or the event that waits; of machines and payloads there is none.
    pub name: Option<String>,
    /// Of a monitor, whose variables cannot be bounded.
    pub is_of_monitor: bool,
    /// The largest.
    pub size: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum GrowthKind {
    /// Messages of one event that wait in an inbox.
    Inbox,
    /// Messages that are on their way to a machine.
    Network,
    /// How many of them were made.
    Machines,
    /// The length of a sequence, set or map, also inside of a variable.
    Collection,
    /// A number, without its sign, also inside of a variable.
    Number,
    /// A number in the payload of an event.
    Payload,
}

/// How many local states and messages there were at each layer, or at each of as many moments.
#[derive(Clone, Default, Debug)]
pub(crate) struct Clock {
    locals: Vec<usize>,
    messages: Vec<usize>,
}

impl Clock {
    pub fn tick(&mut self, locals: &LocalStates<'_>) {
        self.locals.push(locals.states.len());
        self.messages.push(locals.messages.len());
    }

    fn n_layers(&self) -> usize {
        self.locals.len()
    }

    /// The layer of a local state.
    fn of_local(&self, number: usize) -> usize {
        self.locals.partition_point(|&n| n <= number)
    }

    /// The layer of a message.
    fn of_message(&self, number: usize) -> usize {
        self.messages.partition_point(|&n| n <= number)
    }
}

/// What is measured: of which machine (or event), and which of its variables (or events).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Measured {
    kind: GrowthKind,
    owner: MeasuredOwner,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum MeasuredOwner {
    /// A machine or monitor declaration.
    Machine(MachineId),
    /// What is on its way to a machine.
    Network(InstanceId),
    /// Of payloads.
    Event(EventId),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Place {
    Whole,
    Event(EventId),
    Field(u32),
    Local { fun: FunId, at: u32 },
}

#[derive(Clone, Copy, Default, Debug)]
struct Records {
    most: u64,
    /// Layers with one.
    n: u32,
    /// The first layer and the last.
    first: usize,
    last: usize,
    /// The most layers from one to the next.
    longest: usize,
}

impl Records {
    /// Whether the next one is not overdue, after so many layers, the last of which may not be complete.
    fn goes_on(&self, n_layers: usize) -> bool {
        n_layers.saturating_sub(self.last) <= self.longest + 1
    }

    /// Whether it has gone on for most of so many layers.
    fn is_old(&self, n_layers: usize) -> bool {
        self.last - self.first >= n_layers / 2
    }
}

struct Table<'a> {
    clock: &'a Clock,
    records: FxHashMap<Measured, Records>,
    sizes: Sizes,
}

/// What still grew, the fastest first.
pub(crate) fn growth(locals: &LocalStates<'_>, clock: &Clock) -> Vec<Growth> {
    let mut table = Table { clock, records: FxHashMap::default(), sizes: Sizes::default() };
    let mut made: FxHashMap<MachineId, u64> = FxHashMap::default();
    let mut seen_slots = vec![false; locals.owners.len()];
    let stride = locals.states.len() / LOOKS + 1;
    for (number, id) in locals.states.iter().enumerate().skip(1) {
        let machine = id.local.machine;
        if let Owner::Machine(instance) = id.owner {
            let slot = locals.known_slot(instance.index());
            if let Some(is_seen) = slot.and_then(|slot| seen_slots.get_mut(slot.index()))
                && !*is_seen
            {
                *is_seen = true;
                let n = made.entry(machine).or_default();
                *n += 1;
                let measured = Measured {
                    kind: GrowthKind::Machines,
                    owner: MeasuredOwner::Machine(machine),
                    place: Place::Whole,
                };
                table.note(measured, *n, table.clock.of_local(number));
            }
        }
        if number % stride == 0 {
            table.note_local(locals, number, id);
        }
    }
    let stride = locals.messages.len() / LOOKS + 1;
    for (number, message) in locals.messages.iter().enumerate().step_by(stride) {
        table.note_payload(locals.kernel.store(), *message, clock.of_message(number));
    }
    let mut growing: Vec<(Measured, Records)> = table
        .records
        .iter()
        .filter(|(_, records)| records.n >= MIN_RECORDS && records.goes_on(clock.n_layers()))
        .map(|(&measured, &records)| (measured, records))
        .collect();
    if growing.iter().any(|(_, records)| records.is_old(clock.n_layers())) {
        growing.retain(|(_, records)| records.is_old(clock.n_layers()));
    }
    // What waits somewhere explains more than numbers do: these may be but the means to tell messages apart.
    growing.sort_by_key(|&(measured, records)| (measured.kind, std::cmp::Reverse(records.n), measured));
    // A payload that grows comes from a variable, or goes to one; those say more.
    if growing.iter().any(|(measured, _)| measured.kind < GrowthKind::Payload) {
        growing.retain(|(measured, _)| measured.kind < GrowthKind::Payload);
    }
    let mut all: Vec<Growth> = Vec::new();
    for (measured, records) in growing {
        let growth = reported(locals, measured, records);
        // What is on its way is measured by machine, and reported by its kind.
        let same = |other: &Growth| {
            (other.kind, &other.owner, &other.name) == (growth.kind, &growth.owner, &growth.name)
        };
        match all.iter().position(same) {
            Some(at) => all[at].size = all[at].size.max(growth.size),
            None if all.len() == MOST => break,
            None => all.push(growth),
        }
    }
    all
}

impl Table<'_> {
    /// Inbox and variables of a machine or monitor; what is on its way in a network.
    fn note_local(&mut self, locals: &LocalStates<'_>, number: usize, state: &LocalState) {
        let local = &state.local;
        let layer = self.clock.of_local(number);
        if let Some(flight) = &state.flight {
            if let Owner::Network(target) = state.owner {
                let kind = GrowthKind::Network;
                let measured = Measured { kind, owner: MeasuredOwner::Network(target), place: Place::Whole };
                self.note(measured, flight.n_messages() as u64, layer);
            }
            return;
        }
        let owner = MeasuredOwner::Machine(local.machine);
        let mut waiting: Vec<(EventId, u64)> = Vec::new();
        for message in &local.inbox {
            match waiting.iter_mut().find(|(event, _)| *event == message.event) {
                Some((_, n)) => *n += 1,
                None => waiting.push((message.event, 1)),
            }
        }
        for (event, n) in waiting {
            self.note(Measured { kind: GrowthKind::Inbox, owner, place: Place::Event(event) }, n, layer);
        }
        let store = locals.kernel.store();
        // What a machine sends to itself is nowhere else.
        if let Status::Pending(Pending::Deliver { message, .. }) = local.status {
            self.note_payload(store, message, layer);
        }
        let n_fields = local.frames.first().map_or(local.registers.len(), |frame| frame.base as usize);
        for (field, &value) in local.registers.iter().take(n_fields).enumerate() {
            self.note_value(store, owner, Place::Field(field as u32), value, layer);
        }
        for frame in &local.frames {
            let n_locals = locals.exe.funs[frame.fun].locals.len();
            let registers = local.registers.iter().skip(frame.base as usize);
            for (register, &value) in registers.take(n_locals).enumerate() {
                let place = Place::Local { fun: frame.fun, at: register as u32 };
                self.note_value(store, owner, place, value, layer);
            }
        }
    }

    fn note_payload(&mut self, store: &Store, message: Message, layer: usize) {
        let size = self.sizes.of(store, message.payload);
        let owner = MeasuredOwner::Event(message.event);
        self.note(Measured { kind: GrowthKind::Payload, owner, place: Place::Whole }, size.number, layer);
    }

    fn note(&mut self, measured: Measured, size: u64, layer: usize) {
        let records = self.records.entry(measured).or_default();
        if size > records.most {
            if records.n == 0 {
                records.first = layer;
            }
            if records.n == 0 || layer > records.last {
                if records.n > 0 {
                    records.longest = records.longest.max(layer - records.last);
                }
                records.n += 1;
            }
            records.most = size;
            records.last = layer;
        }
    }

    fn note_value(&mut self, store: &Store, owner: MeasuredOwner, place: Place, value: Value, layer: usize) {
        let Size { number, length } = self.sizes.of(store, value);
        self.note(Measured { kind: GrowthKind::Number, owner, place }, number, layer);
        self.note(Measured { kind: GrowthKind::Collection, owner, place }, length, layer);
    }
}

fn reported(locals: &LocalStates<'_>, measured: Measured, records: Records) -> Growth {
    let exe = &locals.exe;
    let Measured { kind, owner, place } = measured;
    let symbol = |symbol| exe.symbols.text(symbol).to_owned();
    let is_variable = matches!(place, Place::Field(_) | Place::Local { .. });
    let is_of_monitor =
        is_variable && matches!(owner, MeasuredOwner::Machine(machine) if exe.machines[machine].is_monitor);
    let (owner, name) = match owner {
        MeasuredOwner::Event(event) => (exe.event_name(event).to_owned(), None),
        MeasuredOwner::Network(target) => {
            let machine = locals.machine_of(target.index());
            (machine.map_or_else(String::new, |machine| exe.machine_name(machine).to_owned()), None)
        }
        MeasuredOwner::Machine(machine) => {
            let name = match place {
                Place::Whole => None,
                Place::Event(event) => Some(exe.event_name(event).to_owned()),
                Place::Field(field) => {
                    exe.machines[machine].fields.get(field as usize).map(|&(name, _)| symbol(name))
                }
                Place::Local { fun, at } => exe.funs[fun].locals.get(at as usize).map(|&name| symbol(name)),
            };
            (exe.machine_name(machine).to_owned(), name)
        }
    };
    Growth { kind, owner, name, is_of_monitor, size: records.most }
}
