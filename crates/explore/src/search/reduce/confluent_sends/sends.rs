//! What a machine hands over before it does anything else: worked out once for each local state in which it may stand, since neither
//! the machine nor what it sends depends on others.

use allways_base::Idx;
use rustc_hash::FxHashMap;

use super::{MAX_MERGED, is_confluent_send};
use crate::search::local::entries::{ActKind, Crash};
use crate::search::local::memo::Memo;
use crate::search::local::states::{InputId, LocalStateId, Slot};

/// By local state.
#[derive(Default)]
pub(crate) struct Sends {
    entries: Vec<Option<Next>>,
    /// The same of machines that can crash, see [`Sends::next_after_arrival`].
    after_arrival: FxHashMap<LocalStateId, Next>,
    sent: Vec<Sent>,
}

/// What comes next of a machine.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    /// Nothing that goes first.
    Nothing,
    /// It sends, in one way.
    Sends {
        run: Run,
        /// Where it stands then.
        next: LocalStateId,
        /// What its own steps add to the fingerprint.
        delta: u64,
    },
    /// It makes machines, or has a choice, or goes on for too long.
    Special,
}

/// Messages that are sent one after the other.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Run {
    pub first: u32,
    pub n: u32,
}

#[derive(Clone, Copy)]
pub(crate) struct Sent {
    /// Where the machine stands before it.
    pub local: LocalStateId,
    /// The network and what it does with the message.
    pub delivery: (Slot, InputId),
}

impl Sends {
    pub fn n_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Option<Next>>()
            + self.after_arrival.capacity() * size_of::<(LocalStateId, Next)>()
            + self.sent.capacity() * size_of::<Sent>()
    }

    /// `None` if the answer was put off.
    #[inline]
    pub fn next(&mut self, memo: &mut Memo<'_>, local: LocalStateId) -> Option<Next> {
        match self.entries.get(local.index()) {
            Some(&Some(next)) => Some(next),
            Some(None) | None => self.work_out(memo, local),
        }
    }

    /// The same of a machine to which something has arrived in this step. If it can crash, one confluent send goes first all the same: an end where
    /// it has crashed before that is one where it has crashed before the arrival, for all other machines. `None` if the answer was postponed.
    pub fn next_after_arrival(&mut self, memo: &mut Memo<'_>, local: LocalStateId) -> Option<Next> {
        let act = memo.act(local);
        let is_late = act.crash == Crash::Late && act.is_unheard;
        match act.kind {
            ActKind::Deliver if is_late => {}
            ActKind::Create if is_late => return Some(Next::Special),
            // Asked again, it may be answered, but this is not the question then.
            ActKind::Unasked => return None,
            _ => return self.next(memo, local),
        }
        if let Some(&known) = self.after_arrival.get(&local) {
            return Some(known);
        }
        let next = match act.next {
            LocalStateId::ABSENT => Next::Special,
            next => {
                let run = Run { first: self.sent.len() as u32, n: 1 };
                self.sent.push(Sent { local, delivery: act.delivery });
                Next::Sends { run, next, delta: act.delta }
            }
        };
        self.after_arrival.insert(local, next);
        Some(next)
    }

    #[inline]
    pub fn all(&self, run: Run) -> &[Sent] {
        &self.sent[run.first as usize..][..run.n as usize]
    }

    #[cold]
    fn work_out(&mut self, memo: &mut Memo<'_>, local: LocalStateId) -> Option<Next> {
        let mut sent = Vec::new();
        let (mut delta, mut next) = (0u64, local);
        let found = loop {
            let act = memo.act(next);
            match act.kind {
                ActKind::Unasked => return None,
                ActKind::Create if is_confluent_send(act) => break Next::Special,
                ActKind::Deliver if is_confluent_send(act) => {
                    if act.next.is_absent() || sent.len() == MAX_MERGED as usize {
                        break Next::Special;
                    }
                    sent.push(Sent { local: next, delivery: act.delivery });
                    delta = delta.wrapping_add(act.delta);
                    next = act.next;
                }
                ActKind::Create
                | ActKind::Deliver
                | ActKind::Rest
                | ActKind::Blocked
                | ActKind::Alone
                | ActKind::Network
                | ActKind::Fault
                | ActKind::Unknown => {
                    if sent.is_empty() {
                        break Next::Nothing;
                    }
                    let run = Run { first: self.sent.len() as u32, n: sent.len() as u32 };
                    self.sent.append(&mut sent);
                    break Next::Sends { run, next, delta };
                }
            }
        };
        if self.entries.len() <= local.index() {
            self.entries.resize((local.index() + 1).next_power_of_two(), None);
        }
        self.entries[local.index()] = Some(found);
        Some(found)
    }
}
