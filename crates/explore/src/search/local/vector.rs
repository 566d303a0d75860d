//! State vectors: by slot, the interned local state of a machine, monitor or network. What is not there yet, or no more, is 0.

use allways_base::Idx;

use super::entries::{LocalStateId, Slot};

/// What stands in a slot.
#[inline]
pub(crate) fn local_at(vector: &[LocalStateId], slot: Slot) -> LocalStateId {
    vector.get(slot.index()).copied().unwrap_or(LocalStateId::ABSENT)
}

/// Puts a local state in a slot, which may be beyond the end.
#[inline]
pub(crate) fn put(vector: &mut Vec<LocalStateId>, slot: Slot, local: LocalStateId) {
    if vector.len() <= slot.index() {
        vector.resize(slot.index() + 1, LocalStateId::ABSENT);
    }
    vector[slot.index()] = local;
}

/// Makes the changes of a step.
#[inline]
pub(crate) fn apply(vector: &mut Vec<LocalStateId>, changes: &[(Slot, LocalStateId)]) {
    for &(slot, local) in changes {
        put(vector, slot, local);
    }
}

/// Makes `vector` what another becomes by the changes of a step.
#[inline]
pub(crate) fn copy_changed(
    vector: &mut Vec<LocalStateId>,
    from: &[LocalStateId],
    changes: &[(Slot, LocalStateId)],
) {
    vector.clear();
    vector.extend_from_slice(from);
    apply(vector, changes);
}

/// Collects the slots in which a vector differs from another, and returns what that adds to a fingerprint: the sum of the hashes of local
/// states.
#[inline]
pub(crate) fn differences(
    from: &[LocalStateId],
    to: &[LocalStateId],
    differences: &mut Vec<(Slot, LocalStateId)>,
    mut hash: impl FnMut(LocalStateId) -> u64,
) -> u64 {
    differences.clear();
    let mut delta = 0u64;
    for slot in 0..to.len().max(from.len()) {
        let before = from.get(slot).copied().unwrap_or(LocalStateId::ABSENT);
        let after = to.get(slot).copied().unwrap_or(LocalStateId::ABSENT);
        if before != after {
            differences.push((Slot::new(slot), after));
            delta = delta.wrapping_add(hash(after)).wrapping_sub(hash(before));
        }
    }
    delta
}
