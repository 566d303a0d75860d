//! Renamings of machines that were made alike, by brute force.
//!
//! A search with symmetry looks at one of the configurations that differ by such a renaming: two machines of one creator
//! may change places if they are of one kind, and what they made moves along. Such exchanges make up all renamings, and what
//! they make of a configuration is its *orbit*. Not all of an orbit is reached: the machine that another made first is its first,
//! whatever else could be called that. But all of it behaves alike, so two sides agree when they reach the same orbits.
//!
//! Of one machine or monitor by itself it is not known which others exist. There names count by where they first occur; not at
//! all, if what they occur in has no order.

use std::collections::{BTreeMap, BTreeSet};

use crate::oracle::value::{Path, Value};
use crate::view::{At, LocalView, MonitorView, QuiescentView};

/// Orbits that are larger are not gone through.
const MOST: usize = 5_040;

/// The least of an orbit, which stands for it. Of an orbit that is too large, its machines and monitors without names.
/// After a renaming `tidy` puts in order what has none.
pub fn least(end: &QuiescentView, tidy: impl Fn(QuiescentView) -> QuiescentView) -> QuiescentView {
    let mut seen: BTreeSet<QuiescentView> = BTreeSet::from([end.clone()]);
    let mut open = vec![end.clone()];
    while let Some(end) = open.pop() {
        if seen.len() > MOST {
            return tidy(end.renamed(&mut nameless));
        }
        // By creator and kind, the last one met: neighbours are enough.
        let mut last: BTreeMap<(&[u32], u32), &[u32]> = BTreeMap::new();
        let mut machines: Vec<&LocalView> = end.machines.iter().collect();
        machines.sort_by_key(|view| &view.path);
        for view in machines {
            let Some((_, creator)) = view.path.split_last() else { continue };
            if let Some(before) = last.insert((creator, view.machine.as_u32()), &view.path) {
                let next = tidy(end.renamed(&mut |path| exchanged(path, before, &view.path)));
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    seen.pop_first().unwrap_or_else(|| end.clone())
}

/// Something by itself: names are numbers in the order in which they occur.
pub fn alone<T: Rename>(thing: &T) -> T {
    let mut numbers: Vec<Path> = Vec::new();
    thing.renamed(&mut |path| {
        let at = numbers.iter().position(|known| known == path).unwrap_or_else(|| {
            numbers.push(path.clone());
            numbers.len() - 1
        });
        [path.len() as u32, at as u32].into()
    })
}

/// The same where creators may have changed, since those that were are gone.
pub fn apart<T: Rename>(thing: &T) -> T {
    alone(thing).renamed(&mut |path| path[1..].into())
}

/// Whatever it is called.
pub fn anonymous(_: &Path) -> Path {
    [].into()
}

/// A terminal configuration without the machines that no machine blocked in `receive` knows, directly or by others, and without names.
pub fn without_garbage(end: &QuiescentView) -> QuiescentView {
    let mut live: BTreeSet<Path> = BTreeSet::new();
    let mut open: Vec<&LocalView> =
        end.machines.iter().filter(|view| matches!(view.at, At::Blocked { .. })).collect();
    live.extend(open.iter().map(|view| view.path.clone()));
    while let Some(view) = open.pop() {
        view.renamed(&mut |path| {
            if live.insert(path.clone()) {
                open.extend(end.machines.iter().find(|view| view.path == *path));
            }
            path.clone()
        });
    }
    let machines = end.machines.iter().filter(|view| live.contains(&view.path)).cloned().collect();
    QuiescentView { machines, monitors: end.monitors.clone() }.renamed(&mut anonymous)
}

/// Of a name, how deep it is.
pub fn nameless(path: &Path) -> Path {
    [path.len() as u32].into()
}

fn exchanged(path: &Path, a: &[u32], b: &[u32]) -> Path {
    for (from, to) in [(a, b), (b, a)] {
        if let Some(rest) = path.strip_prefix(from) {
            return to.iter().chain(rest).copied().collect();
        }
    }
    path.clone()
}

/// What has names of machines in it.
pub trait Rename {
    fn renamed(&self, name: &mut dyn FnMut(&Path) -> Path) -> Self;
}

impl Rename for Value {
    fn renamed(&self, name: &mut dyn FnMut(&Path) -> Path) -> Self {
        let mut all = |values: &[Value]| values.iter().map(|value| value.renamed(name)).collect();
        match self {
            Value::Machine(path, permissions) => Value::Machine(name(path), permissions.clone()),
            Value::Tuple(parts) => Value::Tuple(all(parts)),
            Value::Seq(parts) => Value::Seq(all(parts)),
            Value::Named(fields) => {
                Value::Named(fields.iter().map(|(field, value)| (*field, value.renamed(name))).collect())
            }
            Value::Set(slots) => Value::Set(slots.iter().map(|value| value.renamed(name)).collect()),
            Value::Map(slots) => Value::Map(
                slots.iter().map(|(key, value)| (key.renamed(name), value.renamed(name))).collect(),
            ),
            simple => simple.clone(),
        }
    }
}

impl Rename for LocalView {
    fn renamed(&self, name: &mut dyn FnMut(&Path) -> Path) -> Self {
        let path = name(&self.path);
        let fields = self.fields.iter().map(|value| value.renamed(name)).collect();
        let mut inbox = |inbox: &[(_, Value)]| -> Vec<(_, Value)> {
            inbox.iter().map(|(event, payload)| (*event, payload.renamed(name))).collect()
        };
        let at = match &self.at {
            At::Idle { inbox: messages } => At::Idle { inbox: inbox(messages) },
            At::Blocked { receive, calls, inbox: messages } => {
                At::Blocked { receive: *receive, calls: calls.clone(), inbox: inbox(messages) }
            }
            At::Halted => At::Halted,
            At::Sending { target, event, payload } => {
                At::Sending { target: name(target), event: *event, payload: payload.renamed(name) }
            }
            At::Creating { interface, payload } => {
                At::Creating { interface: *interface, payload: payload.renamed(name) }
            }
        };
        LocalView { path, machine: self.machine, control: self.control, fields, at }
    }
}

impl Rename for Vec<MonitorView> {
    fn renamed(&self, name: &mut dyn FnMut(&Path) -> Path) -> Self {
        let mut views = Vec::new();
        for view in self {
            let fields = view.fields.iter().map(|value| value.renamed(name)).collect();
            views.push(MonitorView { control: view.control, fields });
        }
        views
    }
}

impl Rename for QuiescentView {
    fn renamed(&self, name: &mut dyn FnMut(&Path) -> Path) -> Self {
        let mut machines: Vec<LocalView> = self.machines.iter().map(|view| view.renamed(name)).collect();
        machines.sort();
        QuiescentView { machines, monitors: self.monitors.renamed(name) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use allways_p::hir::{MachineId, StateId};

    fn name(path: &[u32]) -> Value {
        Value::Machine(path.into(), [].into())
    }

    fn machine(path: &[u32], kind: u32, fields: &[&[u32]]) -> LocalView {
        LocalView {
            path: path.into(),
            machine: MachineId::from_u32(kind),
            control: StateId::from_u32(0),
            fields: fields.iter().map(|path| name(path)).collect(),
            at: At::Idle { inbox: Vec::new() },
        }
    }

    /// Machines 0 to 2 are of one kind; `chosen` is known to the main machine, and `maker` has made one more.
    fn end(chosen: u32, maker: u32, other_kind: u32) -> QuiescentView {
        let mut machines = vec![machine(&[], 0, &[&[chosen]]), machine(&[maker, 0], 2, &[&[maker]])];
        machines.extend((0..3).map(|n| machine(&[n], 1, &[])));
        machines.push(machine(&[3], other_kind, &[]));
        machines.sort();
        QuiescentView { machines, monitors: Vec::new() }
    }

    #[test]
    fn siblings_change_places_with_all_that_they_made() {
        let least = |end: &QuiescentView| least(end, |end| end);
        let same = least(&end(0, 0, 9));
        assert_eq!([1, 2].map(|n| least(&end(n, n, 9)) == same), [true, true]);
        assert_eq!([(0, 1), (2, 1)].map(|(a, b)| least(&end(a, b, 9)) == least(&end(0, 2, 9))), [true, true]);
        assert!(least(&end(0, 1, 9)) != same, "chosen and maker are two");
        assert!(least(&end(3, 1, 9)) != least(&end(0, 1, 9)), "of another kind");
        assert!(least(&end(3, 1, 1)) == least(&end(0, 1, 1)));
    }

    #[test]
    fn alone_names_count_by_where_they_occur() {
        let view = |fields: &[&[u32]]| alone(&machine(&[1], 0, fields));
        assert_eq!(view(&[&[2], &[2], &[3]]), view(&[&[5], &[5], &[0]]));
        assert_ne!(view(&[&[2], &[3]]), view(&[&[2], &[2]]));
        assert_ne!(view(&[&[1]]), view(&[&[2]]), "its own name");
    }
}
