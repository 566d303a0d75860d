//! Filters: which of all movers of a run are looked at (PSYM, section 6.2).
//!
//! A run can go on with any of its *movers*: machines that step, and channels that bring a message. A filter takes some of them away, run by
//! run: each mover has a guard, and what is left of the guard are the runs in which it is still looked at. Filters are applied one after the other,
//! in the order of [`Filters::new`].
//!
//! Each says what it preserves. Two rest on what the user says: [`left_movers`] (these messages commute to the left of everything), and
//! [`send_order`] over a network that keeps the order between two machines only (the order in which messages of one machine arrive at different ones cannot
//! be observed). `explore` compares with the unfiltered search when it is asked to.

mod left_movers;
pub(crate) mod look;
mod monotonic;
mod send_order;
mod symmetry;

use allways_machine::ir::{EventId, MachineId};
use allways_run::InstanceId;

use crate::frontier::{Frontier, Mover};
use crate::guard::Guard;
use crate::run::Lifted;

/// Which filters there are.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct FilterOptions {
    /// Persistent sets from the order of sends (PRED). Over P's own inboxes the search has them anyway: of each machine it
    /// knows the next send only.
    pub send_order: bool,
    /// Events whose messages are left movers.
    pub left_movers: Vec<EventId>,
    /// Of runs that differ in the order of independent steps, one.
    pub monotonic: bool,
    /// Machines that can be exchanged for each other.
    pub symmetric: Vec<MachineId>,
}

impl FilterOptions {
    pub fn is_empty(&self) -> bool {
        *self == FilterOptions::default()
    }

    /// Whether a filter rests on what the user says.
    pub fn has_claims(&self) -> bool {
        self.send_order || !self.left_movers.is_empty()
    }
}

/// One filter.
pub(crate) trait Filter {
    /// Takes movers away. `pruned` is where an earlier filter has taken some away in this step.
    fn apply(&mut self, frontier: &Frontier, lifted: &mut Lifted<'_>, movers: &mut Movers, pruned: Guard);

    /// Each run takes its step.
    fn picked(&mut self, _: &Frontier, _: &mut Lifted<'_>, _picked: &Movers, _pruned: Guard) {}

    /// Shows the guards that it keeps from step to step.
    fn each_guard(&self, _visit: &mut dyn FnMut(Guard)) {}
}

/// What can move, each with the runs in which it is looked at.
pub(crate) type Movers = Vec<(Mover, Guard)>;

/// All filters of a search, with what they keep.
pub struct Filters {
    list: Vec<Box<dyn Filter>>,
    /// Steps that were not looked at although they could be made, as pairs of mover and step.
    pub n_pruned: u64,
}

impl Filters {
    pub fn new(options: &FilterOptions, lifted: &Lifted<'_>) -> Self {
        let mut list: Vec<Box<dyn Filter>> = Vec::new();
        if options.send_order {
            list.push(Box::new(send_order::SendOrder));
        }
        if !options.symmetric.is_empty() {
            list.push(Box::new(symmetry::Symmetry { kinds: options.symmetric.clone() }));
        }
        if !options.left_movers.is_empty() {
            list.push(Box::new(left_movers::LeftMovers { events: options.left_movers.clone() }));
        }
        // The last: it looks at the order of the steps that are left.
        if options.monotonic {
            list.push(Box::new(monotonic::Monotonic::new(lifted.exe)));
        }
        Filters { list, n_pruned: 0 }
    }

    /// What is left of the movers; and where some were taken away.
    pub(crate) fn apply(
        &mut self,
        frontier: &Frontier,
        lifted: &mut Lifted<'_>,
        movers: Movers,
    ) -> (Movers, Guard) {
        let mut pruned = Guard::FALSE;
        let mut left = movers;
        for filter in &mut self.list {
            let before = left.clone();
            filter.apply(frontier, lifted, &mut left, pruned);
            for (&(_, before), &(_, after)) in before.iter().zip(&left) {
                let taken = lifted.values.guards.minus(before, after);
                self.n_pruned += u64::from(!taken.is_false());
                pruned = lifted.values.guards.or(pruned, taken);
            }
        }
        left.retain(|(_, guard)| !guard.is_false());
        (left, pruned)
    }

    pub(crate) fn picked(
        &mut self,
        frontier: &Frontier,
        lifted: &mut Lifted<'_>,
        picked: &Movers,
        pruned: Guard,
    ) {
        for filter in &mut self.list {
            filter.picked(frontier, lifted, picked, pruned);
        }
    }

    pub fn each_guard(&self, visit: &mut dyn FnMut(Guard)) {
        self.list.iter().for_each(|filter| filter.each_guard(visit));
    }
}

/// Where a mover is about to bring something, and which event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    pub target: Option<InstanceId>,
    pub event: Option<EventId>,
}
