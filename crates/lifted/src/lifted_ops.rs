//! Ops on collections, lifted: elements are read and changed as parts of summaries, and the kernel's own functions are applied
//! to hollow collections.

use allways_machine::ir::{Operand, Step};
use allways_machine::value::{Kind, Value};

use crate::guard::Guard;
use crate::run::{Running, Thread};
use crate::summary::{Part, Shared};

/// What happens at the end of a path.
#[derive(Clone, Debug)]
pub(crate) enum Update {
    Set(Shared),
    Insert(Shared),
    Add(Shared),
    Remove,
}

/// A summary that was changed, and where.
struct Changed {
    summary: Shared,
    done: Guard,
}

fn as_position(value: Value) -> Option<usize> {
    match value.view() {
        allways_machine::value::View::Int(n) => usize::try_from(n).ok(),
        _ => None,
    }
}

impl Running<'_, '_> {
    /// `collection[index]` where the element exists; says where.
    pub(crate) fn load_element(
        &mut self,
        thread: &Thread,
        dst: Operand,
        collection: &Shared,
        index: &Shared,
    ) -> Guard {
        let elements = self.elements(collection, index, thread.guard);
        self.load_places(thread, dst, collection, elements)
    }

    /// The places of sequences and maps that an index means, and where. An index may be any value, so its words are enumerated; of
    /// the collection only the spine is.
    fn elements(&mut self, collection: &Shared, index: &Shared, guard: Guard) -> Vec<(Kind, Value, Guard)> {
        let mut found: Vec<(Kind, Value, Guard)> = Vec::new();
        let keys = self.lifted.values.values(index, guard);
        for &(hollow, own) in collection.spine() {
            for &(key, guard) in &keys {
                let place = match hollow.kind() {
                    Some(Kind::Seq) => {
                        let size = self.lifted.values.store.size_of(hollow).unwrap_or(0);
                        as_position(key).filter(|&at| at < size).map(|at| (Kind::Seq, Value::size(at)))
                    }
                    Some(Kind::Map) => self.lifted.values.stored_key(hollow, key).map(|key| (Kind::Map, key)),
                    _ => None,
                };
                let Some((kind, key)) = place else { continue };
                let guard = self.lifted.values.guards.and(own, guard);
                if guard.is_false() {
                    continue;
                }
                match found.iter_mut().find(|known| (known.0, known.1) == (kind, key)) {
                    Some(known) => known.2 = self.lifted.values.guards.or(known.2, guard),
                    None => found.push((kind, key, guard)),
                }
            }
        }
        found
    }

    /// Changes a variable along a path.
    pub(crate) fn update(&mut self, thread: Thread, pc: u32, root: Operand, path: u32, update: Update) {
        let exe = self.lifted.exe.clone();
        let mut steps = exe.paths[path as usize].as_slice();
        let mut key = self.lifted.values.nothing();
        if let (Update::Insert(_) | Update::Remove, Some((&Step::Index(operand), rest))) =
            (&update, steps.split_last())
        {
            key = self.read(&thread, operand);
            key = self.lifted.values.copy(&key);
            steps = rest;
        }
        let before = self.read(&thread, root);
        let changed = self.update_at(&thread, &before, steps, (&update, &key), thread.guard);
        self.write(&thread, root, &changed.summary, changed.done);
        self.finish(thread, pc, changed.done);
    }

    fn update_at(
        &mut self,
        thread: &Thread,
        holder: &Shared,
        steps: &[Step],
        what: (&Update, &Shared),
        guard: Guard,
    ) -> Changed {
        let Some((&step, rest)) = steps.split_first() else {
            return self.change(holder, what, guard);
        };
        let places = match step {
            Step::Part(at) => self.tuple_places(holder, guard, |_, _| Some(at as usize)),
            Step::Field(access) => {
                self.tuple_places(holder, guard, |running, value| running.field_position(value, access))
            }
            Step::Index(index) => {
                let index = self.read(thread, index);
                let index = self.lifted.values.copy(&index);
                if let (Update::Set(value), []) = (what.0, rest) {
                    return self.set_element(holder, &index, value, guard);
                }
                self.elements(holder, &index, guard)
            }
        };
        let mut changed = Changed { summary: holder.clone(), done: Guard::FALSE };
        for (kind, key, guard) in places {
            let Some(part) = holder.part(kind, key).cloned() else { continue };
            let inner = self.update_at(thread, &part, rest, what, guard);
            changed.summary =
                self.lifted.values.with_part(&changed.summary, kind, key, &inner.summary, inner.done);
            changed.done = self.lifted.values.guards.or(changed.done, inner.done);
        }
        changed
    }

    fn tuple_places(
        &mut self,
        holder: &Shared,
        guard: Guard,
        position: impl Fn(&Self, Value) -> Option<usize>,
    ) -> Vec<(Kind, Value, Guard)> {
        let mut found: Vec<(Kind, Value, Guard)> = Vec::new();
        for &(value, own) in holder.spine() {
            let Some(kind @ (Kind::Tuple | Kind::Named)) = value.kind() else { continue };
            let Some(key) = position(self, value).map(Value::size) else { continue };
            if !self.lifted.values.places(value).contains(&(kind, key)) {
                continue;
            }
            let guard = self.lifted.values.guards.and(own, guard);
            match found.iter_mut().find(|known| (known.0, known.1) == (kind, key)) {
                Some(known) => known.2 = self.lifted.values.guards.or(known.2, guard),
                None => found.push((kind, key, guard)),
            }
        }
        found
    }

    /// `holder[index] = value`, which may add a key to a map.
    fn set_element(&mut self, holder: &Shared, index: &Shared, value: &Shared, guard: Guard) -> Changed {
        let mut changed = Changed { summary: holder.clone(), done: Guard::FALSE };
        for (kind, key, guard) in self.elements(holder, index, guard) {
            changed.summary = self.lifted.values.with_part(&changed.summary, kind, key, value, guard);
            changed.done = self.lifted.values.guards.or(changed.done, guard);
        }
        let rest = self.lifted.values.guards.minus(guard, changed.done);
        let added = self.add_entries(&changed.summary, index, value, rest);
        Changed { done: self.lifted.values.guards.or(changed.done, added.done), summary: added.summary }
    }

    /// Adds a key to maps that do not have it.
    fn add_entries(&mut self, maps: &Shared, keys: &Shared, value: &Shared, guard: Guard) -> Changed {
        self.rebuild(maps, keys, guard, |running, hollow, key| {
            if hollow.kind() != Some(Kind::Map) || running.lifted.values.stored_key(hollow, key).is_some() {
                return None;
            }
            let more = running.lifted.values.store.insert_at(hollow, key, Value::NULL).ok()?;
            Some((more, Place::Added(key, value.clone())))
        })
    }

    /// Gives each hollow collection and key another hollow collection, and adds or removes the part that this is about.
    fn rebuild(
        &mut self,
        holder: &Shared,
        keys: &Shared,
        guard: Guard,
        change: impl Fn(&mut Self, Value, Value) -> Option<(Value, Place)>,
    ) -> Changed {
        let mut done = Guard::FALSE;
        let mut spine: Vec<(Value, Guard)> = Vec::new();
        let mut added: Vec<Part> = Vec::new();
        let mut removed: Vec<(Value, Guard)> = Vec::new();
        let keys = match guard.is_false() {
            true => Vec::new(),
            false => self.lifted.values.values(keys, guard),
        };
        for &(hollow, own) in holder.spine() {
            for &(key, guard) in &keys {
                let guard = self.lifted.values.guards.and(own, guard);
                if guard.is_false() {
                    continue;
                }
                let Some((changed, place)) = change(self, hollow, key) else { continue };
                let changed = self.lifted.values.store.freeze(changed);
                spine.push((changed, guard));
                done = self.lifted.values.guards.or(done, guard);
                match place {
                    Place::Added(key, value) => {
                        let summary = self.lifted.values.restrict(&value, guard);
                        added.push(Part { kind: Kind::Map, key, summary });
                    }
                    Place::Removed(key) => removed.push((key, guard)),
                    Place::Same => {}
                }
            }
        }
        if done.is_false() {
            return Changed { summary: holder.clone(), done };
        }
        for &(hollow, own) in holder.spine() {
            spine.push((hollow, self.lifted.values.guards.minus(own, done)));
        }
        let mut parts = holder.parts().to_vec();
        for (key, guard) in removed {
            for part in parts.iter_mut().filter(|part| part.kind == Kind::Map && part.key == key) {
                part.summary = self.lifted.values.restrict(&part.summary, guard.not());
            }
        }
        parts.extend(added);
        Changed { summary: self.lifted.values.build(spine, parts), done }
    }

    /// `+=` and `-=` at the end of a path.
    fn change(&mut self, holder: &Shared, (update, key): (&Update, &Shared), guard: Guard) -> Changed {
        match update {
            Update::Set(value) => {
                Changed { summary: self.lifted.values.update(holder, value, guard), done: guard }
            }
            Update::Insert(value) => {
                let changed = self.change_seq(holder, key, guard, |running, seq, at, size, guard| {
                    (at <= size).then(|| running.lifted.values.seq_insert(seq, at, value, guard))
                });
                let rest = self.lifted.values.guards.minus(guard, changed.done);
                let added = self.add_entries(&changed.summary, key, value, rest);
                Changed {
                    done: self.lifted.values.guards.or(changed.done, added.done),
                    summary: added.summary,
                }
            }
            Update::Add(value) => self.rebuild(holder, value, guard, |running, hollow, element| {
                if hollow.kind() != Some(Kind::Set) {
                    return None;
                }
                let more = running.lifted.values.store.add(hollow, element).ok()?;
                Some((more, Place::Same))
            }),
            Update::Remove => {
                let changed = self.change_seq(holder, key, guard, |running, seq, at, size, guard| {
                    (at < size).then(|| running.lifted.values.seq_remove(seq, at, guard))
                });
                let rest = self.lifted.values.guards.minus(guard, changed.done);
                let removed = self.rebuild(&changed.summary, key, rest, |running, hollow, key| {
                    let place = match hollow.kind() {
                        Some(Kind::Set) => Place::Same,
                        Some(Kind::Map) => {
                            running.lifted.values.stored_key(hollow, key).map_or(Place::Same, Place::Removed)
                        }
                        _ => return None,
                    };
                    let less = running.lifted.values.store.remove(hollow, key).ok()?;
                    Some((less, place))
                });
                Changed {
                    done: self.lifted.values.guards.or(changed.done, removed.done),
                    summary: removed.summary,
                }
            }
        }
    }

    /// Changes sequences at a position, for each size and position that occur.
    fn change_seq(
        &mut self,
        holder: &Shared,
        index: &Shared,
        guard: Guard,
        change: impl Fn(&mut Self, &Shared, usize, usize, Guard) -> Option<Shared>,
    ) -> Changed {
        let mut changed = Changed { summary: holder.clone(), done: Guard::FALSE };
        let sizes = self.lifted.values.seq_sizes(holder);
        if sizes.is_empty() {
            return changed;
        }
        for (key, guard) in self.lifted.values.values(index, guard) {
            let Some(at) = as_position(key) else { continue };
            for &(size, own) in &sizes {
                let guard = self.lifted.values.guards.and(own, guard);
                if guard.is_false() {
                    continue;
                }
                if let Some(summary) = change(self, &changed.summary, at, size, guard) {
                    changed.summary = summary;
                    changed.done = self.lifted.values.guards.or(changed.done, guard);
                }
            }
        }
        changed
    }
}

/// What becomes of the parts of a map.
enum Place {
    Added(Value, Shared),
    Removed(Value),
    Same,
}
