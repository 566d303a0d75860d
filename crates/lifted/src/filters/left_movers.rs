//! Left movers (R. J. Lipton, 1975): messages that commute to the left of every step that comes before them.
//!
//! Where a mover is about to bring a message of such an event, it alone is looked at; of several, the first. That they are left movers is what the
//! user says: that the message can be brought before all that others do meanwhile, with the same result. Nothing is lost then as long as left movers
//! do not go on among themselves for ever.

use allways_machine::ir::EventId;

use super::{Filter, Movers};
use crate::frontier::Frontier;
use crate::guard::Guard;
use crate::run::Lifted;

pub(super) struct LeftMovers {
    pub events: Vec<EventId>,
}

impl Filter for LeftMovers {
    fn apply(&mut self, frontier: &Frontier, lifted: &mut Lifted<'_>, movers: &mut Movers, _: Guard) {
        let mut any = Guard::FALSE;
        let mut firsts = Vec::with_capacity(movers.len());
        for &(mover, guard) in movers.iter() {
            let mut is_left = Guard::FALSE;
            for (head, own) in frontier.heads(lifted, mover) {
                if head.event.is_some_and(|event| self.events.contains(&event)) {
                    is_left = lifted.values.guards.or(is_left, own);
                }
            }
            let guards = &mut lifted.values.guards;
            is_left = guards.and(is_left, guard);
            firsts.push(guards.minus(is_left, any));
            any = guards.or(any, is_left);
        }
        if any.is_false() {
            return;
        }
        for ((_, guard), first) in movers.iter_mut().zip(firsts) {
            let guards = &mut lifted.values.guards;
            let elsewhere = guards.minus(*guard, any);
            *guard = guards.or(first, elsewhere);
        }
    }
}
