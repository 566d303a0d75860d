//! Persistent sets from the order of sends (PRED; PSYM, appendix D): a message is brought only when no other that its sender sent
//! before is still on its way.
//!
//! Over a network that keeps the order between each two machines, messages of one sender to different receivers are independent, so one order of
//! bringing them is enough, unless a receiver of the later one sends something to the receiver of the earlier one that overtakes it. The paper's semantics
//! forbids that (a message is received after all that happened before its sending); `fifo` does not. So this filter explores the runs in which
//! messages arrive in causal order, and whether the program has others that matter is for the user to say.
//!
//! What was sent to whom, in order, is part of the frontier (`Frontier`), since what a run can do depends on it.

use super::{Filter, Movers};
use crate::frontier::{Frontier, Mover};
use crate::guard::Guard;
use crate::run::Lifted;

pub(super) struct SendOrder;

impl Filter for SendOrder {
    fn apply(&mut self, frontier: &Frontier, lifted: &mut Lifted<'_>, movers: &mut Movers, _: Guard) {
        for (mover, guard) in movers {
            if let Mover::Channel(source, target) = *mover {
                let first = frontier.first_sent(lifted, source, target);
                *guard = lifted.values.guards.and(*guard, first);
            }
        }
    }
}
