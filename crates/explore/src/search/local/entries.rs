//! The data of local steps, without behaviour: identifiers, and what the memo and its log hold.

use std::ops::Range;

use allways_base::newtype_ids;
use allways_run::{Choice, InstanceId, StopReason};

newtype_ids! {
    /// An interned local state; [`LocalStateId::ABSENT`] where there is none.
    LocalStateId = "local";
    /// A position of a state vector: of a monitor, a machine or a network.
    Slot = "slot";
    /// What a local state reacts to: of a machine or monitor a message, of a network an operation ([`NetworkOp`]), each by the number
    /// under which it is interned.
    InputId = "input";
}

impl LocalStateId {
    /// What stands in a slot whose machine does not exist, and in that of an empty network.
    pub const ABSENT: LocalStateId = LocalStateId::from_u32(0);

    #[inline]
    pub fn is_absent(self) -> bool {
        self == Self::ABSENT
    }
}

impl Default for LocalStateId {
    fn default() -> Self {
        LocalStateId::ABSENT
    }
}

impl From<LocalStateId> for u32 {
    #[inline]
    fn from(local: LocalStateId) -> u32 {
        local.as_u32()
    }
}

impl From<InputId> for u32 {
    #[inline]
    fn from(input: InputId) -> u32 {
        input.as_u32()
    }
}

impl Slot {
    /// No slot has this number.
    pub const NONE: Slot = Slot::from_u32(u32::MAX);
}

impl Default for Slot {
    fn default() -> Self {
        Slot::from_u32(0)
    }
}

impl Default for InputId {
    fn default() -> Self {
        InputId::from_u32(0)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    Monitor(u32),
    Machine(InstanceId),
    /// What is on its way to a machine; all that is on its way, if that of the main machine is the only one.
    Network(InstanceId),
}

impl Owner {
    pub fn is_machine(&self) -> bool {
        matches!(self, Owner::Machine(_))
    }
}

/// A bound that the search met.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Cut {
    Depth,
    Inbox,
    Occurrences,
    Machines,
    Choices,
    Variables,
}

/// What happens to a network.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum NetworkOp {
    Send {
        source: InstanceId,
        target: InstanceId,
        message: InputId,
    },
    /// A machine is made, and knows what its creator knows.
    Create {
        creator: InstanceId,
        created: InstanceId,
    },
}

/// One message that can arrive.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub choice: Choice,
    /// Slot of the target, and the message.
    pub delivery: (Slot, InputId),
    /// The network without it.
    pub next: LocalStateId,
    /// With lazy faults: an optional message.
    pub is_spare: bool,
    /// With lazy faults: its arrival loses others.
    pub loses: bool,
}

/// What a machine can do where it stands, in half a line of the cache: a step with one outcome and nothing special about it,
/// as most are, is all in here.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
pub(crate) struct ActEntry {
    /// Of the outcome, if there is one that has nothing extra.
    pub delta: u64,
    /// Likewise; else zero.
    pub next: LocalStateId,
    /// Outcomes, in `outs`.
    pub first: u32,
    pub n: u32,
    /// The delivery that comes first: the slot and the message.
    pub delivery: (Slot, InputId),
    pub kind: ActKind,
    /// No monitor hears of the step, and no bound cuts it.
    pub is_unheard: bool,
    /// It rests for ever.
    pub is_halted: bool,
    pub crash: Crash,
}

/// Whether a machine can crash where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Crash {
    #[default]
    Never,
    /// Behind its outcomes there is one more: it crashes.
    Step,
    /// It may have crashed, and then does none of its steps.
    Late,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum ActKind {
    #[default]
    Unasked,
    Rest,
    Blocked,
    /// A step without delivery.
    Alone,
    Deliver,
    Create,
    /// Not a machine: the network brings something. The deliveries of the outcomes are in their `extra`.
    Network,
    Fault,
    Unknown,
}

/// One outcome: the next local state, and what replacing the present one by it adds to the fingerprint.
#[derive(Clone, Copy, Default)]
pub(crate) struct Out {
    pub delta: u64,
    pub next: LocalStateId,
    /// Into `extras`; zero is none.
    pub extra: u32,
}

/// What a receiver makes of a message.
#[derive(Clone, Copy, Default)]
pub(crate) struct Reaction {
    /// The outcome, if it is the only one; else its `extra` is not zero.
    pub only: Out,
    /// All outcomes, in `outs`.
    pub first: u32,
    pub n: u32,
}

/// What a network brings.
#[derive(Clone, Copy, Default)]
pub(crate) struct Brought {
    /// The slot of the target.
    pub target: Slot,
    pub message: InputId,
    /// With lazy faults: an optional message; its arrival loses others.
    pub is_spare: bool,
    pub loses: bool,
}

/// What few outcomes have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extra {
    pub end: End,
    /// What monitors hear, in `observed`: the first, and how many.
    pub heard: (u32, u32),
    /// Slot, local state and what it adds to the fingerprint.
    pub created: Option<(Slot, LocalStateId, u64)>,
    /// What the creation does to the network: its slot and the operation.
    pub birth: Option<(Slot, InputId)>,
}

impl Extra {
    pub fn new(end: End) -> Self {
        Extra { end, heard: (0, 0), created: None, birth: None }
    }

    /// Places in `observed`.
    #[inline]
    pub fn observed(&self) -> Range<usize> {
        let (first, n) = self.heard;
        first as usize..(first + n) as usize
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Stands,
    Cut(Cut),
    Fault,
    Unknown,
}

/// In `Out::extra` of a monitor.
pub(crate) const HEARD_HOT: u32 = 1;
pub(crate) const HEARD_COLD: u32 = 2;
pub(crate) const HEARD_FAULT: u32 = 4;
pub(crate) const HEARD_UNKNOWN: u32 = 8;

/// What memos have worked out, in order, as they lay it out: outcomes have the same places in all of them, so a thread that catches up
/// only copies.
#[derive(Default)]
pub(crate) struct Log {
    pub acts: Vec<(LocalStateId, ActEntry)>,
    pub delivered: Vec<(LocalStateId, InputId, Reaction)>,
    pub heard: Vec<(LocalStateId, InputId, Reaction)>,
    pub outs: Vec<Out>,
    pub extras: Vec<Extra>,
    pub observed: Vec<(Slot, InputId)>,
    pub deliveries: Vec<Brought>,
    pub unknown: Option<StopReason>,
}

impl Log {
    pub fn n_bytes(&self) -> usize {
        self.acts.capacity() * size_of::<(LocalStateId, ActEntry)>()
            + (self.delivered.capacity() + self.heard.capacity())
                * size_of::<(LocalStateId, InputId, Reaction)>()
            + self.outs.capacity() * size_of::<Out>()
            + self.extras.capacity() * size_of::<Extra>()
            + self.observed.capacity() * 8
            + self.deliveries.capacity() * size_of::<Brought>()
    }
}
