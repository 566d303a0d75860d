//! What a search reached, for comparisons of engines: local states of machines, joint states of monitors, and terminal
//! configurations; all after reduction.

use allways_base::Idx;
use std::collections::HashSet;
use std::sync::Mutex;

use allways_machine::{Local, Store};
use allways_run::InstanceId;

use super::local::states::{LocalStateId, LocalStates, Owner};
use super::lock;

/// See the module. Values are those of the store.
#[derive(Default)]
pub struct Survey {
    pub locals: Vec<(InstanceId, Local)>,
    pub monitors: Vec<Vec<Local>>,
    pub ends: Vec<End>,
    pub store: Store,
}

/// A terminal configuration: machines and monitors.
pub type End = (Vec<(InstanceId, Local)>, Vec<Local>);

/// Taken while the search goes on, by all threads.
#[derive(Default)]
pub(crate) struct Notes {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    locals: HashSet<LocalStateId>,
    monitors: HashSet<Box<[LocalStateId]>>,
    ends: HashSet<Box<[LocalStateId]>>,
}

impl Notes {
    /// A configuration that was explored.
    pub fn see(&self, vector: &[LocalStateId], n_monitors: usize, is_end: bool) {
        let mut inner = lock(&self.inner);
        inner.locals.extend(vector[n_monitors..].iter().filter(|id| !id.is_absent()));
        if !inner.monitors.contains(&vector[..n_monitors]) {
            inner.monitors.insert(vector[..n_monitors].into());
        }
        if is_end {
            inner.ends.insert(vector.into());
        }
    }

    /// Machines of a configuration that was not explored as it is.
    pub fn see_locals(&self, locals: impl Iterator<Item = LocalStateId>) {
        lock(&self.inner).locals.extend(locals);
    }

    pub fn survey(&self, locals: &LocalStates<'_>) -> Survey {
        let inner = lock(&self.inner);
        let local = |id: LocalStateId| match locals.states[id.index()].owner {
            Owner::Machine(instance) => Some((instance, locals.states[id.index()].local.clone())),
            Owner::Monitor(_) | Owner::Network(_) => None,
        };
        let machines = |vector: &[LocalStateId]| {
            vector.iter().filter(|id| !id.is_absent()).filter_map(|&id| local(id)).collect()
        };
        let monitors = |vector: &[LocalStateId]| {
            vector.iter().map(|&id| locals.states[id.index()].local.clone()).collect::<Vec<Local>>()
        };
        Survey {
            locals: inner.locals.iter().filter_map(|&id| local(id)).collect(),
            monitors: inner.monitors.iter().map(|vector| monitors(vector)).collect(),
            ends: inner
                .ends
                .iter()
                .map(|vector| (machines(vector), monitors(&vector[..locals.n_monitors()])))
                .collect(),
            store: locals.kernel.store().clone(),
        }
    }
}
