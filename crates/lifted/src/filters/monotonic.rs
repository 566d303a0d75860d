//! Monotonic partial-order reduction (V. Kahlon, C. Wang, A. Gupta, *Monotonic partial order reduction: an optimal symbolic partial order
//! reduction technique*, 2009): of runs that differ in the order of independent steps, one.
//!
//! Movers have a fixed order. A run is *quasi-monotonic* if a mover steps after a later one only when a chain of dependent steps leads from the last step of the later
//! one to this one, or to an earlier mover that stepped in between. Every run has a quasi-monotonic permutation, so all others are
//! given up. `chain[j][i]` holds in the runs in which a chain leads from the last step of `j` to the last step of `i`; it is kept for all pairs, as in the paper.
//!
//! Two steps are dependent if they have something in common: the machine that steps, the machine or channel that gets a message, the machine that is
//! made, or a monitor that may observe both. A machine that gets a message and steps later is one of these cases.
//!
//! A shortest run to a configuration has no configuration twice, and neither have its permutations, so ending runs that come back to a configuration
//! does no harm. Where another filter has taken movers away, the choice of the step depends on what was enabled: that step is never
//! given up, and no order is remembered across it.

use std::collections::HashMap;

use allways_base::Idx;
use allways_machine::Executable;
use allways_machine::topology::{Target, Topology};
use allways_run::InstanceId;

use super::{Filter, Movers};
use crate::frontier::{Frontier, Mover};
use crate::guard::Guard;
use crate::run::Lifted;

/// What a step touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Thing {
    Machine(InstanceId),
    Channel(InstanceId, InstanceId),
    Monitor(u32),
}

/// What a step touches, and where.
type Touched = Vec<(Thing, Guard)>;

pub(super) struct Monotonic {
    /// By machine definition: monitors that may observe its steps.
    hears: Vec<Vec<u32>>,
    /// Movers in order of their first appearance, which is the order of the reduction.
    numbers: HashMap<Mover, usize>,
    /// By mover: where it has stepped, and what its last step touched.
    stepped: Vec<Guard>,
    touched: Vec<Touched>,
    chain: Vec<Vec<Guard>>,
    /// What each mover would touch, and the chains to it, worked out for this step.
    now: HashMap<Mover, (Touched, Vec<Guard>)>,
}

impl Monotonic {
    pub fn new(exe: &Executable) -> Self {
        let mut hears = vec![Vec::new(); exe.machines.len()];
        if !exe.monitors.is_empty() {
            let topology = Topology::new(exe);
            for (site, known) in topology.sites().iter_ids() {
                let hears: &mut Vec<u32> = &mut hears[known.machine.index()];
                for monitor in 0..exe.monitors.len() as u32 {
                    let may_hear = topology.is_potential_sender(site, Target::Monitor(monitor));
                    if may_hear && !hears.contains(&monitor) {
                        hears.push(monitor);
                    }
                }
            }
        }
        Monotonic {
            hears,
            numbers: HashMap::new(),
            stepped: Vec::new(),
            touched: Vec::new(),
            chain: Vec::new(),
            now: HashMap::new(),
        }
    }

    fn number(&mut self, mover: Mover) -> usize {
        let next = self.numbers.len();
        let number = *self.numbers.entry(mover).or_insert(next);
        if number == next {
            self.stepped.push(Guard::FALSE);
            self.touched.push(Vec::new());
            self.chain.iter_mut().for_each(|row| row.push(Guard::FALSE));
            self.chain.push(vec![Guard::FALSE; next + 1]);
        }
        number
    }

    /// What the step of a mover touches.
    fn touches(
        &self,
        frontier: &Frontier,
        lifted: &mut Lifted<'_>,
        mover: Mover,
        guard: Guard,
    ) -> Vec<(Thing, Guard)> {
        let mut things: Vec<(Thing, Guard)> = Vec::new();
        let mut add = |lifted: &mut Lifted<'_>, thing, guard| match things
            .iter_mut()
            .find(|(known, _)| *known == thing)
        {
            Some(known) => known.1 = lifted.values.guards.or(known.1, guard),
            None => things.push((thing, guard)),
        };
        let is_delayed = lifted.exe.network.is_delayed();
        match mover {
            Mover::Machine(machine) => {
                add(lifted, Thing::Machine(machine), guard);
                for (head, own) in frontier.heads(lifted, mover) {
                    let own = lifted.values.guards.and(own, guard);
                    let is_sent = is_delayed && head.event.is_some();
                    match head.target {
                        Some(target) if is_sent && target != machine => {
                            add(lifted, Thing::Channel(machine, target), own);
                        }
                        Some(target) => add(lifted, Thing::Machine(target), own),
                        None => {}
                    }
                }
                for (kind, own) in frontier.kinds(lifted, machine) {
                    let own = lifted.values.guards.and(own, guard);
                    for &monitor in &self.hears[kind.index()] {
                        add(lifted, Thing::Monitor(monitor), own);
                    }
                }
            }
            Mover::Channel(source, target) => {
                add(lifted, Thing::Channel(source, target), guard);
                add(lifted, Thing::Machine(target), guard);
            }
        }
        things
    }

    /// Where the last step of one mover and the present one of another are dependent.
    fn depends(lifted: &mut Lifted<'_>, last: &[(Thing, Guard)], now: &[(Thing, Guard)]) -> Guard {
        let mut depends = Guard::FALSE;
        for &(thing, guard) in last {
            for &(_, other) in now.iter().filter(|&&(other, _)| other == thing) {
                let both = lifted.values.guards.and(guard, other);
                depends = lifted.values.guards.or(depends, both);
            }
        }
        depends
    }
}

impl Filter for Monotonic {
    fn apply(&mut self, frontier: &Frontier, lifted: &mut Lifted<'_>, movers: &mut Movers, pruned: Guard) {
        for &(mover, _) in movers.iter() {
            self.number(mover);
        }
        self.now.clear();
        let n = self.stepped.len();
        for (mover, guard) in movers {
            let number = self.numbers[mover];
            let things = self.touches(frontier, lifted, *mover, *guard);
            let depends: Vec<Guard> =
                (0..n).map(|other| Self::depends(lifted, &self.touched[other], &things)).collect();
            let mut chains = Vec::with_capacity(n);
            for from in 0..n {
                let guards = &mut lifted.values.guards;
                let mut chain = if from == number { self.stepped[from] } else { Guard::FALSE };
                for (&known, &depends) in self.chain[from].iter().zip(&depends) {
                    let longer = guards.and(known, depends);
                    chain = guards.or(chain, longer);
                }
                chains.push(chain);
            }
            let later = self.stepped.iter().zip(&chains).zip(&self.chain).skip(number + 1);
            for ((&stepped, &chain), through) in later {
                let guards = &mut lifted.values.guards;
                let mut wrong = guards.minus(stepped, chain);
                for &earlier in &through[..number] {
                    wrong = guards.minus(wrong, earlier);
                }
                wrong = guards.minus(wrong, pruned);
                *guard = guards.minus(*guard, wrong);
                if guard.is_false() {
                    break;
                }
            }
            self.now.insert(*mover, (things, chains));
        }
    }

    fn picked(&mut self, _: &Frontier, lifted: &mut Lifted<'_>, picked: &Movers, pruned: Guard) {
        let n = self.stepped.len();
        let all = lifted.values.guards.any(picked.iter().map(|&(_, guard)| guard));
        let kept = lifted.values.guards.minus(all, pruned);
        // What is known of runs that go on in another way, or not at all, is forgotten.
        for at in 0..n {
            self.stepped[at] = lifted.values.guards.and(self.stepped[at], kept);
            for thing in &mut self.touched[at] {
                thing.1 = lifted.values.guards.and(thing.1, kept);
            }
            for to in 0..n {
                self.chain[at][to] = lifted.values.guards.and(self.chain[at][to], kept);
            }
        }
        for &(mover, guard) in picked {
            let guard = lifted.values.guards.and(guard, kept);
            let number = self.numbers[&mover];
            let Some((things, chains)) = self.now.remove(&mover) else { continue };
            let guards = &mut lifted.values.guards;
            for (from, chain) in chains.into_iter().enumerate() {
                let (old, new) = (guards.minus(self.chain[from][number], guard), guards.and(chain, guard));
                self.chain[from][number] = guards.or(old, new);
            }
            for to in 0..n {
                self.chain[number][to] = match to == number {
                    true => guards.or(self.chain[number][to], guard),
                    false => guards.minus(self.chain[number][to], guard),
                };
            }
            self.stepped[number] = guards.or(self.stepped[number], guard);
            let mut touched: Vec<(Thing, Guard)> = Vec::new();
            for &(thing, own) in &self.touched[number] {
                let own = guards.minus(own, guard);
                if !own.is_false() {
                    touched.push((thing, own));
                }
            }
            for (thing, own) in things {
                let own = guards.and(own, guard);
                match touched.iter_mut().find(|(known, _)| *known == thing) {
                    Some(known) => known.1 = guards.or(known.1, own),
                    None if own.is_false() => {}
                    None => touched.push((thing, own)),
                }
            }
            self.touched[number] = touched;
        }
    }

    fn each_guard(&self, visit: &mut dyn FnMut(Guard)) {
        self.stepped.iter().for_each(|&guard| visit(guard));
        self.chain.iter().flatten().for_each(|&guard| visit(guard));
        self.touched.iter().flatten().for_each(|&(_, guard)| visit(guard));
    }
}
