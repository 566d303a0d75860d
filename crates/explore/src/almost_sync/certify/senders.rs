//! Potential senders, by slot.
//!
//! A machine belongs to the creation sites at which it was seen to be made. A state is the same wherever its machines were made, and so
//! is what can happen after it; so the sites of any run that leads there are good enough, and more do no harm.

use allways_base::IndexVec;
use allways_machine::ir::MachineId;
use allways_machine::topology::{SiteId, Target, Topology};
use allways_machine::{Executable, Local, Pending, Status};

pub(crate) struct Senders {
    n_monitors: usize,
    /// By site: its machines may act on themselves, since some state handles null.
    has_null: IndexVec<SiteId, bool>,
    /// By slot.
    sites: Vec<Vec<SiteId>>,
    /// Creator, created, and how the creator stands.
    creations: Vec<(u32, u32, Local)>,
    /// By target and sender, both slots.
    may_send: Vec<bool>,
}

impl Senders {
    pub fn new(exe: &Executable, topology: &Topology, n_slots: usize) -> Senders {
        let n_monitors = exe.monitors.len();
        let has_null =
            |machine: MachineId| exe.states.iter().any(|state| state.machine == machine && state.has_null);
        let mut senders = Senders {
            n_monitors,
            has_null: topology.sites().iter().map(|site| has_null(site.machine)).collect(),
            sites: vec![Vec::new(); n_slots],
            creations: Vec::new(),
            may_send: Vec::new(),
        };
        // The main machine is the first after the monitors.
        if let Some(sites) = senders.sites.get_mut(n_monitors) {
            sites.push(SiteId::MAIN);
        }
        senders.update(topology);
        senders
    }

    /// A machine that stands so makes another.
    pub fn creates(
        &mut self,
        topology: &Topology,
        creator: u32,
        created: u32,
        local: &Local,
    ) -> Result<(), String> {
        // The topology depends on nothing else of the creator.
        let op = |local: &Local| {
            let interface = match local.status {
                Status::Pending(Pending::Create { interface, .. }) => Some(interface),
                _ => None,
            };
            (local.frames.last().map(|frame| frame.pc), interface)
        };
        let mut known = self.creations.iter();
        if !known.any(|(by, child, known)| (*by, *child, op(known)) == (creator, created, op(local))) {
            self.creations.push((creator, created, local.clone()));
            self.update(topology);
        }
        if self.sites[created as usize].is_empty() {
            return Err("it creates a machine that the topology does not have".to_owned());
        }
        Ok(())
    }

    fn update(&mut self, topology: &Topology) {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (creator, created, local) in &self.creations {
                for parent in self.sites[*creator as usize].clone() {
                    let sites = &mut self.sites[*created as usize];
                    if let Some(site) = topology.created(parent, local)
                        && !sites.contains(&site)
                    {
                        sites.push(site);
                        changed = true;
                    }
                }
            }
        }
        let n_slots = self.sites.len();
        let pairs = (0..n_slots).flat_map(|target| (0..n_slots).map(move |sender| (target, sender)));
        self.may_send = pairs
            .map(|(target, sender)| {
                self.sites[sender].iter().any(|&from| {
                    let to_monitor = target < self.n_monitors
                        && topology.is_potential_sender(from, Target::Monitor(target as u32));
                    let to_machine = self.sites[target]
                        .iter()
                        .any(|&site| topology.is_potential_sender(from, Target::Site(site)));
                    to_monitor || to_machine || target == sender && self.has_null[from]
                })
            })
            .collect();
    }

    pub fn may_send(&self, sender: u32, target: u32) -> bool {
        self.may_send[target as usize * self.sites.len() + sender as usize]
    }
}
