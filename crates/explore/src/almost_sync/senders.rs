//! Potential senders by slot: the topology of creation sites, laid over the machines that the search has met.
//!
//! An instance can be made at different sites in different runs. A slot has all sites at which its machine was seen to be made;
//! too many potential senders are sound.

use allways_base::{Idx, IndexVec};
use allways_machine::ir::MachineId;
use allways_machine::topology::{SiteId, Target, Topology};
use allways_machine::{Executable, Local, Pending, Status};

use crate::search::local::entries::Slot;

pub(crate) struct Senders {
    topology: Topology,
    n_monitors: usize,
    /// By site: some state of the machine handles null, so that it may act on itself.
    has_null: IndexVec<SiteId, bool>,
    /// By slot; monitors have none.
    sites: Vec<Vec<SiteId>>,
    /// Creator, created, and how the creator stood.
    creations: Vec<(Slot, Slot, Local)>,
    /// By target slot: the slots of potential senders, as bits.
    rows: Vec<Vec<u64>>,
}

impl Senders {
    pub fn new(exe: &Executable) -> Self {
        let n_monitors = exe.monitors.len();
        let topology = Topology::new(exe);
        let has_null =
            |machine: MachineId| exe.states.iter().any(|state| state.machine == machine && state.has_null);
        let mut senders = Senders {
            has_null: topology.sites().iter().map(|site| has_null(site.machine)).collect(),
            topology,
            n_monitors,
            sites: vec![Vec::new(); n_monitors],
            creations: Vec::new(),
            rows: Vec::new(),
        };
        // The main machine is the first after the monitors.
        senders.sites.push(vec![SiteId::MAIN]);
        senders.update();
        senders
    }

    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The slots of machines that may send to the slot, or make one that may.
    #[inline]
    pub fn of(&self, slot: Slot) -> &[u64] {
        &self.rows[slot.index()]
    }

    pub fn n_words(&self) -> usize {
        self.sites.len().div_ceil(64)
    }

    /// A machine that stands so makes another.
    ///
    /// # Errors
    /// When the topology does not know the creation.
    pub fn creates(&mut self, creator: Slot, created: Slot, local: &Local) -> Result<(), String> {
        if self.sites.len() <= created.index() {
            self.sites.resize(created.index() + 1, Vec::new());
        }
        let place = |local: &Local| {
            let interface = match local.status {
                Status::Pending(Pending::Create { interface, .. }) => Some(interface),
                _ => None,
            };
            (local.frames.last().map(|frame| frame.pc), interface)
        };
        let is_known = self
            .creations
            .iter()
            .any(|(by, child, known)| (*by, *child, place(known)) == (creator, created, place(local)));
        if !is_known {
            self.creations.push((creator, created, local.clone()));
            self.update();
        }
        if self.sites[created.index()].is_empty() {
            return Err("a creation that the topology does not have".to_owned());
        }
        Ok(())
    }

    fn update(&mut self) {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (creator, created, local) in &self.creations {
                for at in 0..self.sites[creator.index()].len() {
                    let parent = self.sites[creator.index()][at];
                    if let Some(site) = self.topology.created(parent, local)
                        && !self.sites[created.index()].contains(&site)
                    {
                        self.sites[created.index()].push(site);
                        changed = true;
                    }
                }
            }
        }
        let n_words = self.n_words();
        self.rows = (0..self.sites.len())
            .map(|slot| {
                let mut row = vec![0; n_words];
                for sender in self.n_monitors..self.sites.len() {
                    if self.may_send(sender, slot) {
                        row[sender / 64] |= 1 << (sender % 64);
                    }
                }
                row
            })
            .collect();
    }

    fn may_send(&self, sender: usize, slot: usize) -> bool {
        self.sites[sender].iter().any(|&from| {
            if sender == slot && self.has_null[from] {
                true
            } else if slot < self.n_monitors {
                self.topology.is_potential_sender(from, Target::Monitor(slot as u32))
            } else {
                let sites = self.sites[slot].iter();
                sites.into_iter().any(|&site| self.topology.is_potential_sender(from, Target::Site(site)))
            }
        })
    }
}
