//! What becomes of a machine and of its network when one of the network's messages arrives, with all that goes first after
//! that: it does not depend on others but for what these get. A step of a large search changes few machines and networks, so the same
//! two meet in many configurations.

use super::sends::{Run, Sent};
use crate::search::local::pair_table::{PairTable, Quarter};
use crate::search::local::states::{InputId, LocalStateId, Slot};
use crate::search::store::huge_pages::{make_room, prefetch};

/// When so many are remembered all are forgotten: in some programs they are as many as configurations. Where checks are on that
/// happens in small programs too, so that they show what goes wrong.
const MAX_CACHED: usize = if cfg!(debug_assertions) { 8 } else { 1 << 17 };

/// By local states of a machine and of its network.
#[derive(Default)]
pub(crate) struct ArrivalCache {
    pairs: PairTable<CachedArrivals, Quarter>,
    arrivals: Vec<Arrival>,
}

/// One arrival after the other.
#[derive(Clone, Copy, Default)]
pub(crate) struct CachedArrivals {
    first: u32,
    pub n: u16,
    /// There is something special about some of them.
    pub is_special: bool,
    /// Nothing has to arrive.
    pub can_wait: bool,
}

impl CachedArrivals {
    /// Nothing arrives.
    pub const NONE: CachedArrivals = CachedArrivals { first: 0, n: 0, is_special: false, can_wait: true };
    pub const SPECIAL: CachedArrivals = CachedArrivals { is_special: true, ..CachedArrivals::NONE };
}

/// Where the two stand after an arrival. In as few bytes as it takes, since many are read.
#[derive(Clone, Copy)]
pub(crate) struct Arrival {
    /// What both add to the fingerprint.
    pub delta: u64,
    pub machine: LocalStateId,
    pub network: LocalStateId,
    first_sent: u32,
    pub n_sent: u16,
    n_dropped: u16,
    /// What is sent first, if anything is: the network and what it does with it.
    pub delivery: (Slot, InputId),
}

impl Arrival {
    /// `None` if there are too many of something.
    pub fn new(
        delta: u64,
        machine: LocalStateId,
        network: LocalStateId,
        (sent, all): (Run, &[Sent]),
        n_dropped: u32,
    ) -> Option<Self> {
        let (n_sent, n_dropped) = (sent.n.try_into().ok()?, n_dropped.try_into().ok()?);
        let delivery = all.first().map_or_else(Default::default, |sent| sent.delivery);
        Some(Arrival { delta, machine, network, first_sent: sent.first, n_sent, n_dropped, delivery })
    }

    /// What the machine has handed over to others.
    #[inline]
    pub fn sent(&self) -> Run {
        Run { first: self.first_sent, n: u32::from(self.n_sent) }
    }

    /// Steps that were merged.
    #[inline]
    pub fn n_merged(&self) -> u32 {
        u32::from(self.n_sent) + u32::from(self.n_dropped)
    }
}

impl ArrivalCache {
    pub fn n_bytes(&self) -> usize {
        self.pairs.n_bytes() + self.arrivals.capacity() * size_of::<Arrival>()
    }

    /// Forgets all if there are too many; says whether it did.
    #[inline]
    pub fn tidy(&mut self) -> bool {
        let are_too_many = self.pairs.len() > MAX_CACHED;
        if are_too_many {
            self.pairs.clear();
            self.arrivals.clear();
        }
        are_too_many
    }

    #[inline]
    pub fn prefetch(&self, machine: LocalStateId, network: LocalStateId) {
        self.pairs.prefetch(machine, network);
    }

    #[inline]
    pub fn prefetch_arrivals(&self, cached: CachedArrivals) {
        if let Some(first) = self.arrivals.get(cached.first as usize) {
            prefetch(first);
        }
    }

    #[inline]
    pub fn get(&self, machine: LocalStateId, network: LocalStateId) -> Option<CachedArrivals> {
        self.pairs.get(machine, network)
    }

    #[inline]
    pub fn arrivals(&self, cached: CachedArrivals) -> &[Arrival] {
        &self.arrivals[cached.first as usize..][..cached.n as usize]
    }

    pub fn add(
        &mut self,
        machine: LocalStateId,
        network: LocalStateId,
        arrivals: &[Arrival],
        can_wait: bool,
    ) -> CachedArrivals {
        let first = self.arrivals.len() as u32;
        let Ok(n) = arrivals.len().try_into() else { return self.add_special(machine, network) };
        make_room(&mut self.arrivals, arrivals.len());
        self.arrivals.extend_from_slice(arrivals);
        let cached = CachedArrivals { first, n, is_special: false, can_wait };
        self.pairs.insert(machine, network, cached);
        cached
    }

    pub fn add_special(&mut self, machine: LocalStateId, network: LocalStateId) -> CachedArrivals {
        self.pairs.insert(machine, network, CachedArrivals::SPECIAL);
        CachedArrivals::SPECIAL
    }
}
