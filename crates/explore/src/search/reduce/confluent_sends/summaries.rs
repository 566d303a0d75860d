//! What there is to know at once of each local state to merge a step, in two bytes: the memo has it too, but in so many that a
//! large search waits for them.

use allways_base::{Idx, IndexVec};
use allways_machine::drops::Drops;
use allways_machine::ir::{ControlId, EventId};
use allways_machine::{Executable, Status};

use crate::search::local::entries::ActKind;
use crate::search::local::memo::Memo;
use crate::search::local::states::{LocalStateId, LocalStates, Owner};

/// By local state.
pub(crate) struct LocalSummaries {
    entries: Vec<LocalSummary>,
    drops: Drops,
    /// By event, see [`LocalSummary::events`].
    bits: IndexVec<EventId, u8>,
    /// By control state, those of what is dropped there for good.
    by_control: IndexVec<ControlId, u8>,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct LocalSummary {
    /// Which events a machine drops for good, which a network can bring, as bits: where there are none in common, nothing is
    /// dropped.
    pub events: u8,
    pub kind: SummaryKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum SummaryKind {
    /// The answer was put off.
    #[default]
    Unasked,
    /// A machine that does nothing by itself.
    Rests,
    Otherwise,
}

/// The bit of all events that only machines drop which have halted.
const SELDOM: u8 = 1 << 7;

impl LocalSummaries {
    pub fn new(exe: &Executable) -> Self {
        let drops = Drops::new(exe);
        let mut others = (0..SELDOM.trailing_zeros()).cycle();
        let mut bit = |event| match drops.somewhere(event) {
            true => 1 << others.next().unwrap_or_default(),
            false => SELDOM,
        };
        let bits: IndexVec<EventId, u8> = exe.events.ids().map(&mut bit).collect();
        let at = |control: ControlId| {
            let dropped = exe.events.ids().zip(&bits).filter(|&(event, _)| drops.at(control, event));
            dropped.fold(0, |events, (_, bit)| events | bit)
        };
        let by_control = exe.states.ids().map(at).collect();
        LocalSummaries { entries: Vec::new(), drops, bits, by_control }
    }

    /// Whether the machine that stands in a local state drops an event for good.
    pub fn is_dropped(&self, locals: &LocalStates<'_>, local: LocalStateId, event: EventId) -> bool {
        self.drops.for_good(locals.local(local), event)
    }

    #[inline]
    pub fn get(&mut self, memo: &mut Memo<'_>, local: LocalStateId) -> LocalSummary {
        memo.n_lookups += 1;
        match self.entries.get(local.index()) {
            Some(&summary) if summary.kind != SummaryKind::Unasked => summary,
            _ => self.work_out(memo, local),
        }
    }

    #[cold]
    fn work_out(&mut self, memo: &mut Memo<'_>, local: LocalStateId) -> LocalSummary {
        let act = memo.act(local);
        let kind = match act.kind {
            ActKind::Unasked => return LocalSummary::default(),
            ActKind::Rest => SummaryKind::Rests,
            ActKind::Network
            | ActKind::Blocked
            | ActKind::Alone
            | ActKind::Deliver
            | ActKind::Create
            | ActKind::Fault
            | ActKind::Unknown => SummaryKind::Otherwise,
        };
        let Some(locals) = memo.locals_unless_busy() else { return LocalSummary::default() };
        let events = match locals.owner_of(local) {
            Owner::Machine(_) => {
                let local = locals.local(local);
                match local.status {
                    Status::Halted => u8::MAX,
                    Status::Idle => self.by_control[local.control],
                    Status::Pending(_) | Status::Blocked { .. } => 0,
                }
            }
            Owner::Network(_) => {
                let outs = &memo.outs[act.first as usize..][..act.n as usize];
                let messages = outs.iter().map(|out| memo.deliveries[out.extra as usize].message);
                let events = messages.map(|message| locals.messages[message.index()].event);
                events.fold(0, |events, event| events | self.bits[event])
            }
            Owner::Monitor(_) => 0,
        };
        let summary = LocalSummary { events, kind };
        if self.entries.len() <= local.index() {
            self.entries.resize(locals.n_local_states() + 1, LocalSummary::default());
        }
        self.entries[local.index()] = summary;
        summary
    }
}
