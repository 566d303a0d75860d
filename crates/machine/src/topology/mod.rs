//! Which machines may send to which: the queuing architecture of a test.
//!
//! Machines are distinguished by their *creation site*: the `new` that makes them, in a machine of some site. The main
//! machine is site 0. References are followed through registers, fields, payloads, parts of tuples and collections,
//! calls, raised events and `receive`; see `flow`. The answer contains every pair that some run shows. It may contain more,
//! but not less: reductions that leave out sends rely on it.
//!
//! A run's instances are mapped to sites by [`Topology::created`], at the step that creates them. The same instance name
//! may belong to different sites in different runs.

mod flow;
mod settled;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use allways_base::{Idx, IndexVec, Span, newtype_ids};
use rustc_hash::FxHashMap;

use crate::Executable;
use crate::configuration::{Local, Pending, Status};
use crate::ir::{ControlId, EventId, InterfaceId, MachineId};

/// Beyond so many, sites no longer depend on the site of the creator.
const MAX_SITES: usize = 256;

newtype_ids! {
    /// Where machines are created; the first is the main machine.
    SiteId = "site";
}

impl SiteId {
    pub const MAIN: SiteId = SiteId::from_u32(0);
}

/// Where machines are created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Site {
    /// The site of the first creator that was found; none for the main machine.
    pub parent: Option<SiteId>,
    /// The op that creates; of no meaning for the main machine.
    pub pc: u32,
    /// What it is created as, and the machine bound to that.
    pub interface: InterfaceId,
    pub machine: MachineId,
}

/// What gets a message, or observes it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Target {
    Site(SiteId),
    Monitor(u32),
}

#[derive(Clone, Debug)]
pub struct Topology {
    sites: IndexVec<SiteId, Site>,
    children: FxHashMap<(SiteId, u32, InterfaceId), SiteId>,
    /// Sender and target, with the events.
    edges: BTreeMap<(SiteId, Target), BTreeSet<EventId>>,
    /// Potential senders, by target (sites, then monitors) and sender.
    potential: Vec<bool>,
    /// By sender and receiver, both sites: the sites of references in what is sent.
    carried: BTreeMap<(SiteId, SiteId), BTreeSet<SiteId>>,
    /// Sites whose machines use `this`.
    naming_itself: BTreeSet<SiteId>,
    /// By sender and op: the sites that it may send to.
    targets: BTreeMap<(SiteId, u32), BTreeSet<SiteId>>,
    /// By control state of a monitor.
    settled: Vec<bool>,
}

impl Topology {
    pub fn new(exe: &Executable) -> Self {
        let found = flow::analyse(exe, true).or_else(|| flow::analyse(exe, false)).unwrap_or_else(|| {
            unreachable!("without creators there is one site for each `new` and interface")
        });
        let n_sites = found.sites.len();
        let n_targets = n_sites + exe.monitors.len();
        let mut potential = vec![false; n_targets * n_sites];
        for &(from, target) in found.edges.keys() {
            potential[row(n_sites, target) * n_sites + from.index()] = true;
        }
        // A site that may create a potential sender is one.
        let mut changed = true;
        while changed {
            changed = false;
            for (&(parent, ..), &child) in &found.children {
                for senders in potential.chunks_mut(n_sites) {
                    if senders[child.index()] && !senders[parent.index()] {
                        senders[parent.index()] = true;
                        changed = true;
                    }
                }
            }
        }
        Topology {
            sites: found.sites,
            children: found.children,
            edges: found.edges,
            potential,
            carried: found.carried,
            naming_itself: found.naming_itself,
            targets: found.targets,
            settled: settled::settled(exe),
        }
    }

    /// By number; the main machine is the first.
    pub fn sites(&self) -> &IndexVec<SiteId, Site> {
        &self.sites
    }

    /// The site of what a machine of site `parent` makes by the op `pc`.
    pub fn child(&self, parent: SiteId, pc: u32, interface: InterfaceId) -> Option<SiteId> {
        self.children.get(&(parent, pc, interface)).copied()
    }

    /// The site of the machine that a machine of site `parent`, which stands as `local` before a creation, is about to
    /// make.
    pub fn created(&self, parent: SiteId, local: &Local) -> Option<SiteId> {
        let Status::Pending(Pending::Create { interface, .. }) = local.status else { return None };
        // The frame already points past the op.
        let pc = local.frames.last()?.pc.checked_sub(1)?;
        self.child(parent, pc, interface)
    }

    /// Sender, target and events, in order.
    pub fn edges(&self) -> impl Iterator<Item = (SiteId, Target, &BTreeSet<EventId>)> {
        self.edges.iter().map(|(&(from, target), events)| (from, target, events))
    }

    /// Whether a machine of site `from` may itself send the event to the target.
    pub fn sends(&self, from: SiteId, target: Target, event: EventId) -> bool {
        self.edges.get(&(from, target)).is_some_and(|events| events.contains(&event))
    }

    /// Whether a machine of site `from` may send to the target, or make a machine that is a potential sender.
    pub fn is_potential_sender(&self, from: SiteId, target: Target) -> bool {
        self.potential[row(self.sites.len(), target) * self.sites.len() + from.index()]
    }

    /// The sites of references that machines of site `from` may send to machines of site `to`.
    pub fn carried(&self, from: SiteId, to: SiteId) -> impl Iterator<Item = SiteId> + '_ {
        self.carried.get(&(from, to)).into_iter().flatten().copied()
    }

    /// Whether machines of a site may use `this`, so that they know their own name without receiving it.
    pub fn names_itself(&self, site: SiteId) -> bool {
        self.naming_itself.contains(&site)
    }

    /// The sites that machines of a site may send to by an op.
    pub(crate) fn targets(&self, site: SiteId, pc: u32) -> impl Iterator<Item = SiteId> + '_ {
        self.targets.get(&(site, pc)).into_iter().flatten().copied()
    }

    /// Whether a monitor in this control state stays as it is, whatever it hears.
    pub fn is_settled(&self, control: ControlId) -> bool {
        self.settled[control.index()]
    }

    /// Creator and created, both sites.
    pub fn creations(&self) -> impl Iterator<Item = (SiteId, SiteId)> + '_ {
        self.children.iter().map(|(&(parent, ..), &child)| (parent, child))
    }

    /// A name for people: the machine, numbered if several sites make it.
    pub fn name(&self, exe: &Executable, site: SiteId) -> String {
        let machine = self.sites[site].machine;
        let name = exe.machine_name(machine);
        let same: Vec<SiteId> =
            self.sites.ids().filter(|&other| self.sites[other].machine == machine).collect();
        match same.iter().position(|&other| other == site) {
            Some(at) if same.len() > 1 => format!("{name}#{}", at + 1),
            _ => name.to_owned(),
        }
    }

    /// Where machines of a site are created; for the main machine, where it is declared.
    pub fn place(&self, exe: &Executable, site: SiteId) -> Span {
        let Site { parent, pc, machine, .. } = self.sites[site];
        match parent {
            Some(_) => exe.spans[pc as usize],
            None => exe.machines[machine].span,
        }
    }
}

fn row(n_sites: usize, target: Target) -> usize {
    match target {
        Target::Site(site) => site.index(),
        Target::Monitor(monitor) => n_sites + monitor as usize,
    }
}
