//! Symmetry: of two machines that a configuration cannot tell apart, one steps.
//!
//! The user names declarations whose machines are exchangeable. For two such machines that can step, the configuration is compared with the one in which they, and
//! what they have created, change places: machines, monitors, channels and all references in them. Where both are the same, a step of the second leads to a
//! configuration that is the mirror image of one that a step of the first leads to, so only the first steps. No code tells machines apart
//! but by references, so mirror images break the same properties. Nothing rests on the user's word: naming machines that are never alike
//! costs time only.

use allways_machine::ir::MachineId;

use super::{Filter, Movers};
use crate::frontier::{Frontier, Mover};
use crate::guard::Guard;
use crate::run::Lifted;

pub(super) struct Symmetry {
    pub kinds: Vec<MachineId>,
}

impl Filter for Symmetry {
    fn apply(&mut self, frontier: &Frontier, lifted: &mut Lifted<'_>, movers: &mut Movers, _: Guard) {
        for second in 1..movers.len() {
            for first in 0..second {
                let (Mover::Machine(a), Mover::Machine(b)) = (movers[first].0, movers[second].0) else {
                    continue;
                };
                // Of machines that were taken away already, another stands for both.
                let both = lifted.values.guards.and(movers[first].1, movers[second].1);
                let both = frontier.of_kinds(lifted, a, b, &self.kinds, both);
                if both.is_false() {
                    continue;
                }
                let alike = frontier.exchangeable(lifted, a, b, both);
                let guard = &mut movers[second].1;
                *guard = lifted.values.guards.minus(*guard, alike);
            }
        }
    }
}
