//! What people call slots and levels.

use allways_base::Idx;

use super::split;
use crate::search::local::states::{LocalStates, Owner};

/// What people call a part of a local state.
pub(crate) fn part_name(locals: &LocalStates<'_>, owner: Owner, part: u32) -> String {
    let machine = match owner {
        Owner::Monitor(monitor) => Some(locals.exe.monitors[monitor as usize].machine),
        Owner::Machine(instance) | Owner::Network(instance) => locals.machine_of(instance.index()),
    };
    let fields = machine.map_or(&[][..], |machine| &locals.exe.machines[machine].fields);
    match part.checked_sub(split::FIELDS).map(|field| field as usize) {
        None => "(state)".to_owned(),
        Some(field) if field < fields.len() => locals.exe.symbols.text(fields[field].0).to_owned(),
        Some(field) => format!("(inbox {})", field - fields.len() + 1),
    }
}

/// What people call the owner of a slot: its declaration, and by which machines it was created.
pub(crate) fn owner_name(locals: &LocalStates<'_>, owner: Owner) -> String {
    let path = |instance| {
        let path: Vec<String> = locals.exe.instances.path(instance).iter().map(u32::to_string).collect();
        path.join(".")
    };
    let machine = |instance: allways_run::InstanceId| {
        locals.machine_of(instance.index()).map_or("?", |machine| locals.exe.machine_name(machine))
    };
    match owner {
        Owner::Monitor(monitor) => locals.exe.monitor_name(monitor as usize).to_owned(),
        Owner::Machine(instance) => match path(instance) {
            path if path.is_empty() => machine(instance).to_owned(),
            path => format!("{}#{path}", machine(instance)),
        },
        Owner::Network(instance) => format!("network to {}", machine(instance)),
    }
}
