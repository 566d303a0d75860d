//! What there is to know at once of each cell to fold a step, in two bytes: the memo has it too, but in so many that a
//! large search waits for them.

use allways_machine::drops::Drops;
use allways_machine::{Executable, Status};

use super::super::super::cells::{CellId, Cells, Owner};
use super::super::super::memo::{ActKind, Memo};

/// By cell.
pub(super) struct Briefs {
    entries: Vec<Brief>,
    drops: Drops,
    /// By event, see [`Brief::events`].
    bits: Vec<u8>,
    /// By control state, those of what is dropped there for good.
    by_control: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Brief {
    /// Which events a machine drops for good, which a network can bring, as bits: where there are none in common, nothing is
    /// dropped.
    pub events: u8,
    pub kind: BriefKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum BriefKind {
    /// The answer was put off.
    #[default]
    Unasked,
    /// A machine that does nothing by itself.
    Rests,
    Otherwise,
}

/// The bit of all events that only machines drop which have halted.
const SELDOM: u8 = 1 << 7;

impl Briefs {
    pub fn new(exe: &Executable) -> Self {
        let drops = Drops::new(exe);
        let mut others = (0..SELDOM.trailing_zeros()).cycle();
        let mut bit = |event| match drops.somewhere(event) {
            true => 1 << others.next().unwrap_or_default(),
            false => SELDOM,
        };
        let bits: Vec<u8> = (0..exe.n_events() as u32).map(&mut bit).collect();
        let at = |control: u32| {
            let dropped = (0..).zip(&bits).filter(|&(event, _)| drops.at(control, event));
            dropped.fold(0, |events, (_, bit)| events | bit)
        };
        let by_control = (0..exe.states.len() as u32).map(at).collect();
        Briefs { entries: Vec::new(), drops, bits, by_control }
    }

    /// Whether the machine that stands in a cell drops an event for good.
    pub fn is_dropped(&self, cells: &Cells<'_>, cell: CellId, event: u32) -> bool {
        self.drops.for_good(cells.local(cell), event)
    }

    #[inline]
    pub fn get(&mut self, memo: &mut Memo<'_>, cell: CellId) -> Brief {
        memo.n_lookups += 1;
        match self.entries.get(cell as usize) {
            Some(&brief) if brief.kind != BriefKind::Unasked => brief,
            _ => self.work_out(memo, cell),
        }
    }

    #[cold]
    fn work_out(&mut self, memo: &mut Memo<'_>, cell: CellId) -> Brief {
        let act = memo.act(cell);
        let kind = match act.kind {
            ActKind::Unasked => return Brief::default(),
            ActKind::Rest => BriefKind::Rests,
            ActKind::Network
            | ActKind::Blocked
            | ActKind::Alone
            | ActKind::Deliver
            | ActKind::Create
            | ActKind::Fault
            | ActKind::Unknown => BriefKind::Otherwise,
        };
        let Some(cells) = memo.cells_unless_busy() else { return Brief::default() };
        let events = match cells.owner_of(cell) {
            Owner::Machine(_) => {
                let local = cells.local(cell);
                match local.status {
                    Status::Halted => u8::MAX,
                    Status::Idle => self.by_control[local.control as usize],
                    Status::Pending(_) | Status::Blocked { .. } => 0,
                }
            }
            Owner::Network(_) => {
                let outs = &memo.outs[act.first as usize..][..act.n as usize];
                let messages = outs.iter().map(|out| memo.deliveries[out.extra as usize].message);
                let events = messages.map(|message| cells.messages[message as usize].event);
                events.fold(0, |events, event| events | self.bits[event as usize])
            }
            Owner::Monitor(_) => 0,
        };
        let brief = Brief { events, kind };
        if self.entries.len() <= cell as usize {
            self.entries.resize(cells.n_cells() + 1, Brief::default());
        }
        self.entries[cell as usize] = brief;
        brief
    }
}
