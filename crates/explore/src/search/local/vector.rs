//! State vectors: by slot, the interned local state of a machine, monitor or network. What is not there yet, or no more, is 0.

use super::entries::LocalStateId;

/// What stands in a slot.
#[inline]
pub(crate) fn local_at(vector: &[LocalStateId], slot: u32) -> LocalStateId {
    vector.get(slot as usize).copied().unwrap_or(0)
}

/// Puts a local state in a slot, which may be beyond the end.
#[inline]
pub(crate) fn put(vector: &mut Vec<LocalStateId>, slot: u32, local: LocalStateId) {
    if vector.len() <= slot as usize {
        vector.resize(slot as usize + 1, 0);
    }
    vector[slot as usize] = local;
}

/// Makes the changes of a step.
#[inline]
pub(crate) fn apply(vector: &mut Vec<LocalStateId>, changes: &[(u32, LocalStateId)]) {
    for &(slot, local) in changes {
        put(vector, slot, local);
    }
}

/// Makes `vector` what another becomes by the changes of a step.
#[inline]
pub(crate) fn copy_changed(
    vector: &mut Vec<LocalStateId>,
    from: &[LocalStateId],
    changes: &[(u32, LocalStateId)],
) {
    vector.clear();
    vector.extend_from_slice(from);
    apply(vector, changes);
}
