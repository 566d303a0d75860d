//! Names of machine instances.
//!
//! An instance is named by its creator and an index: a path from the main machine. The table
//! gives each path a dense [`InstanceId`] that stays the same for as long as the process lives, in all threads
//! and runs. Kernels keep a private copy of what they use, so the lock is taken only for names never seen by
//! that kernel before.

use std::sync::{Mutex, PoisonError};

use allways_base::Idx;
use allways_run::InstanceId;

#[derive(Default)]
pub struct InstanceTable {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Creator and place there; the main machine has none.
    parents: Vec<Option<(InstanceId, u32)>>,
    children: Vec<Vec<InstanceId>>,
}

impl InstanceTable {
    pub fn new() -> Self {
        let inner = Inner { parents: vec![None], children: vec![Vec::new()] };
        InstanceTable { inner: Mutex::new(inner) }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The `k`-th machine that `creator` makes, counted from zero.
    pub fn child(&self, creator: InstanceId, k: u32) -> InstanceId {
        let mut inner = self.lock();
        while inner.children[creator.index()].len() <= k as usize {
            let id = InstanceId::new(inner.parents.len());
            let place = inner.children[creator.index()].len() as u32;
            inner.parents.push(Some((creator, place)));
            inner.children.push(Vec::new());
            inner.children[creator.index()].push(id);
        }
        inner.children[creator.index()][k as usize]
    }

    /// The places along the path from the main machine, which itself has an empty path.
    pub fn path(&self, instance: InstanceId) -> Vec<u32> {
        let inner = self.lock();
        let mut path = Vec::new();
        let mut at = instance;
        while let Some((creator, place)) = inner.parents[at.index()] {
            path.push(place);
            at = creator;
        }
        path.reverse();
        path
    }

    /// The creator and the place there; the main machine has none.
    pub fn origin(&self, instance: InstanceId) -> Option<(InstanceId, u32)> {
        self.lock().parents[instance.index()]
    }

    /// The instance with this path.
    pub fn at_path(&self, path: &[u32]) -> InstanceId {
        path.iter().fold(InstanceId::MAIN, |creator, &place| self.child(creator, place))
    }

    /// The same, unless that takes more names than so many.
    pub fn at_path_within(&self, path: &[u32], most: usize) -> Option<InstanceId> {
        path.iter().try_fold(InstanceId::MAIN, |creator, &place| {
            let inner = self.lock();
            let n_new = (place as usize + 1).saturating_sub(inner.children[creator.index()].len());
            let fits = inner.parents.len() + n_new <= most;
            drop(inner);
            fits.then(|| self.child(creator, place))
        })
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.lock().parents.len()
    }

    pub fn is_empty(&self) -> bool {
        false
    }
}

/// The part of the table that one kernel has seen.
#[derive(Clone, Default)]
pub(crate) struct KnownInstances {
    children: Vec<Vec<InstanceId>>,
}

impl KnownInstances {
    #[inline]
    pub fn child(&mut self, table: &InstanceTable, creator: InstanceId, k: u32) -> InstanceId {
        if let Some(&known) = self.children.get(creator.index()).and_then(|list| list.get(k as usize)) {
            return known;
        }
        if self.children.len() <= creator.index() {
            self.children.resize_with(creator.index() + 1, Vec::new);
        }
        let list = &mut self.children[creator.index()];
        while list.len() <= k as usize {
            list.push(table.child(creator, list.len() as u32));
        }
        list[k as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths() {
        let table = InstanceTable::new();
        let a = table.child(InstanceId::MAIN, 2);
        let b = table.child(a, 0);
        assert_eq!(table.path(b), [2, 0]);
        assert_eq!(table.at_path(&[2, 0]), b);
        assert_eq!(table.path(InstanceId::MAIN), [0; 0]);
        let mut known = KnownInstances::default();
        assert_eq!(known.child(&table, InstanceId::MAIN, 2), a);
        assert_eq!(known.child(&table, InstanceId::MAIN, 1), table.child(InstanceId::MAIN, 1));
    }
}
