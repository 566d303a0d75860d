//! Configurations: where every machine and monitor stands.
//!
//! A [`Local`] is everything about one instance: control state, fields, frames, inbox, what it is about to do.
//! It refers to nothing outside but the value store, so it can be kept, compared and resumed by itself; the
//! handler continuation is data, never a host stack. A [`Configuration`] is the locals of all instances and
//! monitors.
//!
//! Outboxes (docs/semantics.md, section 2) are lazy. A handler may send for ever, so it runs only up to its next effect
//! and waits there ([`Pending`]); the segment that begins with that effect is computed in the step that
//! makes it. The variant is *patient*: a machine with a pending effect takes no message.

use std::collections::VecDeque;

use allways_base::{Idx, Span};
use allways_run::{InstanceId, ViolationKind};

use crate::ir::{ControlId, EventId, FunId, InterfaceId, MachineId, Operand, OperandView, ReceiveId};
use crate::network::InFlight;
use crate::value::Value;

/// One sent event with its payload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Message {
    pub event: EventId,
    pub payload: Value,
}

/// One activation of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    pub fun: FunId,
    /// The op to execute next when this frame is on top; of an outer frame, the op after the call.
    pub pc: u32,
    /// The register that is the first of this frame.
    pub base: u32,
    /// Where the caller wants the result. Unused in the outermost frame.
    pub dst: Operand,
}

/// What comes when the outermost frame has returned.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum After {
    /// The handler is done.
    Handler,
    /// This was the exit function: the `with` function is next, then the state.
    Exit { target: ControlId, with: Option<FunId>, payload: Value },
    /// This was the `with` function: the state is next.
    With { target: ControlId, payload: Value },
    /// This was the exit function before an unhandled event takes its toll.
    Unhandled { event: EventId },
}

/// A run-time fault, not yet a violation: the machine that met it has to step first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fault {
    pub kind: ViolationKind,
    /// A string of the store. Machines in it are paths, see [`crate::value`].
    pub text: Value,
    pub span: Option<Span>,
}

/// The effect a machine stands before.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pending {
    /// It exists, and has not begun. Only the main machine is ever seen like that.
    Start,
    /// An announcement, or a send that some monitor watches, is the first effect of the handler.
    Observe,
    /// The send was observed; the message has to reach its target.
    Deliver {
        target: InstanceId,
        message: Message,
    },
    /// A machine has to be made; the reference goes to `dst`.
    Create {
        interface: InterfaceId,
        payload: Value,
        dst: Operand,
    },
    Fault(Fault),
    /// A call of a foreign function without body.
    Foreign {
        fun: FunId,
    },
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Status {
    /// No handler runs, and the inbox has nothing that can be taken.
    Idle,
    Pending(Pending),
    /// In `receive`, by its table, with nothing in the inbox that it waits for.
    Blocked {
        table: ReceiveId,
    },
    Halted,
}

/// The parts of a local that the steps so far have read or written: bit `n` is field `n`, the last bit is the inbox. It says
/// which parts a step depends on, and is no part of what a local is.
///
/// Fields from [`Touched::MAX_FIELDS`] on share a bit, which is then only good for reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Touched {
    /// Read before they were written.
    pub reads: u64,
    pub writes: u64,
}

impl Touched {
    pub const INBOX: u64 = 1 << 63;
    /// Fields that have a bit of their own.
    pub const MAX_FIELDS: usize = 62;

    fn field(n: u32) -> u64 {
        1 << n.min(Self::MAX_FIELDS as u32)
    }

    #[inline]
    pub(crate) fn read_field(&mut self, n: u32) {
        self.reads |= Self::field(n) & !self.writes;
    }

    #[inline]
    pub(crate) fn write_field(&mut self, n: u32) {
        self.writes |= Self::field(n);
    }

    /// What becomes of an inbox depends on what is in it.
    #[inline]
    pub(crate) fn read_inbox(&mut self) {
        self.reads |= Self::INBOX & !self.writes;
    }

    /// Nothing stays of what there was.
    pub fn write_all(&mut self) {
        self.writes = u64::MAX;
    }

    /// What this and then the other touch.
    #[must_use]
    pub fn then(self, next: Touched) -> Touched {
        Touched { reads: self.reads | next.reads & !self.writes, writes: self.writes | next.writes }
    }
}

/// Everything about one machine instance or monitor.
#[derive(Debug)]
pub struct Local {
    pub machine: MachineId,
    /// The interface it was created as; of no meaning in a monitor.
    pub interface: InterfaceId,
    /// The control state.
    pub control: ControlId,
    pub status: Status,
    pub after: After,
    /// How many machines it has made.
    pub n_children: u32,
    /// Chosen numbers that it has named ([`crate::data`]).
    pub n_named: u32,
    pub frames: Vec<Frame>,
    /// The fields, then the registers of the frames.
    pub registers: Vec<Value>,
    pub inbox: VecDeque<Message>,
    pub touched: Touched,
}

impl Clone for Local {
    fn clone(&self) -> Self {
        Local {
            frames: self.frames.clone(),
            registers: self.registers.clone(),
            inbox: self.inbox.clone(),
            ..*self
        }
    }

    /// Into the memory that is there.
    fn clone_from(&mut self, other: &Self) {
        let Local {
            machine,
            interface,
            control,
            status,
            after,
            n_children,
            n_named,
            frames,
            registers,
            inbox,
            touched,
        } = other;
        self.touched = *touched;
        self.machine = *machine;
        self.interface = *interface;
        self.control = *control;
        self.status = *status;
        self.after = *after;
        self.n_children = *n_children;
        self.n_named = *n_named;
        self.frames.clone_from(frames);
        self.registers.clone_from(registers);
        self.inbox.clone_from(inbox);
    }
}

impl Default for Local {
    fn default() -> Self {
        Local {
            machine: MachineId::from_u32(0),
            interface: InterfaceId::from_u32(0),
            control: ControlId::from_u32(0),
            status: Status::Halted,
            after: After::Handler,
            n_children: 0,
            n_named: 0,
            frames: Vec::new(),
            registers: Vec::new(),
            inbox: VecDeque::new(),
            touched: Touched::default(),
        }
    }
}

impl Local {
    /// Forgets all but the buffers.
    pub(crate) fn reset(
        &mut self,
        machine: MachineId,
        interface: InterfaceId,
        control: ControlId,
        fields: &[(allways_base::Symbol, Value)],
    ) {
        self.machine = machine;
        self.interface = interface;
        self.control = control;
        self.status = Status::Idle;
        self.after = After::Handler;
        self.n_children = 0;
        self.n_named = 0;
        self.frames.clear();
        self.registers.clear();
        self.registers.extend(fields.iter().map(|&(_, value)| value));
        self.inbox.clear();
        self.touched = Touched::default();
    }

    /// The value of an operand in the top frame.
    pub(crate) fn read(&self, exe: &crate::Executable, operand: Operand) -> Value {
        let base = self.frames.last().map_or(0, |frame| frame.base as usize);
        match operand.view() {
            OperandView::Register(n) => self.registers.get(base + n as usize).copied().unwrap_or_default(),
            OperandView::Field(n) => self.registers.get(n as usize).copied().unwrap_or_default(),
            OperandView::Const(n) => exe.consts[n as usize],
        }
    }

    fn each_value(&mut self, visit: &mut dyn FnMut(&mut Value)) {
        match &mut self.status {
            Status::Pending(Pending::Deliver { message: Message { payload, .. }, .. })
            | Status::Pending(Pending::Create { payload, .. })
            | Status::Pending(Pending::Fault(Fault { text: payload, .. })) => visit(payload),
            Status::Pending(Pending::Start | Pending::Observe | Pending::Foreign { .. })
            | Status::Idle
            | Status::Blocked { .. }
            | Status::Halted => {}
        }
        match &mut self.after {
            After::Exit { payload, .. } | After::With { payload, .. } => visit(payload),
            After::Handler | After::Unhandled { .. } => {}
        }
        self.registers.iter_mut().for_each(&mut *visit);
        self.inbox.iter_mut().for_each(|message| visit(&mut message.payload));
    }

    /// A halted machine is the same whatever it was before.
    pub fn halt(&mut self) {
        self.status = Status::Halted;
        self.after = After::Handler;
        self.n_children = 0;
        self.n_named = 0;
        self.frames.clear();
        self.registers.clear();
        self.inbox.clear();
        self.touched.write_all();
    }
}

/// The machines that exist, in order of creation. P numbers machines in that order, from one.
#[derive(Clone, Default, Debug)]
pub struct Roster {
    order: Vec<InstanceId>,
    /// By instance: its number, or zero when it does not exist in this run.
    numbers: Vec<u32>,
    /// By instance: the interface it was created as.
    interfaces: Vec<InterfaceId>,
}

impl Roster {
    pub(crate) fn clear(&mut self) {
        for instance in self.order.drain(..) {
            self.numbers[instance.index()] = 0;
        }
    }

    pub(crate) fn add(&mut self, instance: InstanceId, interface: InterfaceId) {
        if self.numbers.len() <= instance.index() {
            self.numbers.resize(instance.index() + 1, 0);
            self.interfaces.resize(instance.index() + 1, interface);
        }
        self.order.push(instance);
        self.numbers[instance.index()] = self.order.len() as u32;
        self.interfaces[instance.index()] = interface;
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// In order of creation.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = InstanceId> + ExactSizeIterator + '_ {
        self.order.iter().copied()
    }

    /// The number that P would print, if the instance exists.
    #[inline]
    pub fn number(&self, instance: InstanceId) -> Option<u32> {
        self.numbers.get(instance.index()).copied().filter(|&number| number > 0)
    }

    #[inline]
    pub fn interface(&self, instance: InstanceId) -> InterfaceId {
        self.interfaces[instance.index()]
    }

    /// The instance with the number `idx + 1`.
    #[inline]
    pub fn at(&self, idx: usize) -> InstanceId {
        self.order[idx]
    }
}

/// Which machines and channels can move, a bit for each in order of appearance. That order depends on the run alone,
/// not on what other runs of the process named before, so strategies may count on it.
///
/// A run may have thousands of machines of which a few can move, so a second level has a bit for each word with bits.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct EnabledSet {
    words: Vec<u64>,
    used_words: Vec<u64>,
    len: usize,
}

/// The places of the bits of a word.
fn bits(word: u64) -> impl Iterator<Item = usize> {
    let first = (word != 0).then_some(word);
    let rest = |&word: &u64| Some(word & (word - 1)).filter(|&rest| rest != 0);
    std::iter::successors(first, rest).map(|word| word.trailing_zeros() as usize)
}

impl EnabledSet {
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.used_words.clear();
        self.len = 0;
    }

    #[inline]
    pub(crate) fn set(&mut self, idx: usize, enabled: bool) {
        let (word, bit) = (idx / 64, 1u64 << (idx % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
            self.used_words.resize(word / 64 + 1, 0);
        }
        let was = self.words[word] & bit != 0;
        if was != enabled {
            let before = self.words[word];
            self.words[word] ^= bit;
            if enabled {
                self.len += 1;
            } else {
                self.len -= 1;
            }
            if (before == 0) != (self.words[word] == 0) {
                self.used_words[word / 64] ^= 1 << (word % 64);
            }
        }
    }

    #[inline]
    pub fn contains(&self, idx: usize) -> bool {
        self.words.get(idx / 64).is_some_and(|word| word >> (idx % 64) & 1 == 1)
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.used().flat_map(|i| bits(self.words[i]).map(move |bit| i * 64 + bit))
    }

    /// The place of the `n`-th of them.
    #[inline]
    pub fn nth(&self, n: usize) -> Option<usize> {
        // Most runs have few machines.
        let first = self.words.first().copied().unwrap_or(0);
        if n < first.count_ones() as usize {
            return bits(first).nth(n);
        }
        let mut left = n;
        for i in self.used() {
            let count = self.words[i].count_ones() as usize;
            if left < count {
                return bits(self.words[i]).nth(left).map(|bit| i * 64 + bit);
            }
            left -= count;
        }
        None
    }

    /// The words that have bits.
    #[inline]
    fn used(&self) -> impl Iterator<Item = usize> + '_ {
        self.used_words.iter().enumerate().flat_map(|(i, &used)| bits(used).map(move |bit| i * 64 + bit))
    }
}

/// The global state.
#[derive(Clone, Default, Debug)]
pub struct Configuration {
    pub roster: Roster,
    /// By instance; meaningful for those on the roster.
    pub locals: Vec<Local>,
    /// In order of attachment.
    pub monitors: Vec<Local>,
    /// The messages in flight; none ever under P's own network.
    pub network: InFlight,
    pub(crate) places: Places,
    pub(crate) enabled: EnabledSet,
}

/// What can move, in order of appearance: machines, and channels once something was sent through them. Under P's own
/// network there are no channels, places are those of the roster, and this is empty.
#[derive(Clone, Default, Debug)]
pub(crate) struct Places {
    pub movers: Vec<Mover>,
    /// By number of the machine, less one.
    pub machines: Vec<u32>,
    /// By channel.
    pub channels: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mover {
    Machine(InstanceId),
    /// By its place in [`InFlight::channels`].
    Channel(u32),
}

impl Places {
    pub fn clear(&mut self) {
        self.movers.clear();
        self.machines.clear();
        self.channels.clear();
    }

    pub fn add_machine(&mut self, instance: InstanceId) {
        self.machines.push(self.movers.len() as u32);
        self.movers.push(Mover::Machine(instance));
    }

    /// Gives a place to every channel that has none.
    pub fn add_channels(&mut self, n_channels: usize) {
        while self.channels.len() < n_channels {
            let channel = self.channels.len() as u32;
            self.channels.push(self.movers.len() as u32);
            self.movers.push(Mover::Channel(channel));
        }
    }

    /// The place of the machine with the number `idx + 1`.
    #[inline]
    pub fn of_machine(&self, idx: usize) -> usize {
        if self.movers.is_empty() { idx } else { self.machines[idx] as usize }
    }
}

impl Configuration {
    /// No machine exists; buffers are kept.
    pub(crate) fn clear(&mut self) {
        self.roster.clear();
        self.enabled.clear();
        self.places.clear();
        self.network.clear();
    }

    /// Shows every value in it, to be changed.
    pub(crate) fn each_value(&mut self, visit: &mut dyn FnMut(&mut Value)) {
        for &instance in &self.roster.order {
            self.locals[instance.index()].each_value(visit);
        }
        for monitor in &mut self.monitors {
            monitor.each_value(visit);
        }
        self.network.each_value(visit);
    }

    pub fn local(&self, instance: InstanceId) -> &Local {
        &self.locals[instance.index()]
    }

    /// Machines that can step, and targets that the network can bring something, in order of appearance.
    pub(crate) fn movers(&self) -> impl Iterator<Item = InstanceId> + '_ {
        self.enabled.iter().map(|place| match self.places.movers.get(place) {
            None => self.roster.at(place),
            Some(Mover::Machine(machine)) => *machine,
            Some(Mover::Channel(channel)) => self.network.channels[*channel as usize].target,
        })
    }

    /// Instances in order of creation, with where they stand.
    pub fn instances(&self) -> impl Iterator<Item = (InstanceId, &Local)> {
        self.roster.iter().map(|instance| (instance, &self.locals[instance.index()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enabled_places_are_found_among_thousands() {
        let mut set = EnabledSet::default();
        let places = [0, 3, 63, 64, 4_095, 4_096, 9_000];
        for &place in &places {
            set.set(place, true);
            set.set(place + 1, true);
            set.set(place + 1, place + 1 == 64);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), places);
        assert!((0..places.len()).all(|n| set.nth(n) == Some(places[n])));
        assert_eq!((set.len(), set.nth(places.len())), (places.len(), None));
        set.set(4_095, false);
        set.set(9_000, false);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 3, 63, 64, 4_096]);
        assert_eq!((set.nth(4), set.nth(5)), (Some(4_096), None));
    }

    #[test]
    fn enabled_set_counts_and_selects() {
        let mut set = EnabledSet::default();
        for idx in [3, 64, 130, 5] {
            set.set(idx, true);
        }
        set.set(5, true);
        set.set(64, false);
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 5, 130]);
        assert_eq!((0..4).map(|n| set.nth(n)).collect::<Vec<_>>(), [Some(3), Some(5), Some(130), None]);
        assert_eq!((set.len(), set.contains(5), set.contains(6)), (3, true, false));
    }

    #[test]
    fn roster_numbers_from_one() {
        let mut roster = Roster::default();
        let [a, b] = [4, 2].map(InstanceId::from_u32);
        roster.add(a, InterfaceId::from_u32(0));
        roster.add(b, InterfaceId::from_u32(1));
        assert_eq!((roster.number(a), roster.number(b)), (Some(1), Some(2)));
        roster.clear();
        assert_eq!((roster.number(a), roster.len()), (None, 0));
    }
}
