//! Bounds on variables: a counter that never stops, such as a request number, gives a program infinitely many configurations. Under a
//! bound, configurations beyond it are not explored, and the verdict says so.
//!
//! A variable is measured as in reports of growth (`size`): no number in it exceeds the bound, and no sequence, set or map
//! in it has more elements; for `sizeof(variable)`, only the latter. Variables of machines can be bounded, and parameters and locals of
//! their functions, which count while the function runs. Monitors cannot: they only observe, and the step that would be cut off is that
//! of a machine.

use allways_base::Symbol;
use allways_machine::ir::MachineId;
use allways_machine::{Executable, Local, Pending, Status, Store, Value};

use super::local::size::Sizes;

/// Bounds that there can be at once.
pub const MAX_VARIABLES: usize = 8;

/// Of a few variables.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct VariableBounds([Option<VariableBound>; MAX_VARIABLES]);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct VariableBound {
    machine: MachineId,
    /// The variable of the machine, if it has one of this name.
    field: Option<u32>,
    /// Otherwise locals of this name are bounded.
    name: Symbol,
    most: u64,
    /// Numbers are not bounded, only how many elements there are.
    is_of_length: bool,
}

impl VariableBounds {
    /// Bounds by name: `Machine.variable`, or `variable` of every machine that has one of this name; or `sizeof` of one.
    ///
    /// # Errors
    /// When no machine has such a variable, or there are too many.
    pub fn named<'a>(
        exe: &Executable,
        bounds: impl IntoIterator<Item = (&'a str, u64)>,
    ) -> Result<Self, String> {
        let mut found = VariableBounds::default();
        let mut n = 0;
        for (name, most) in bounds {
            let measured = name.strip_prefix("sizeof(").and_then(|name| name.strip_suffix(')'));
            let is_of_length = measured.is_some();
            let name = measured.unwrap_or(name);
            let (owner, variable) = match name.split_once('.') {
                Some((owner, variable)) => (Some(owner), variable),
                None => (None, name),
            };
            let n_before = n;
            for (machine, def) in exe.machines.iter_ids().filter(|(_, def)| !def.is_monitor) {
                if owner.is_some_and(|owner| owner != exe.symbols.text(def.name)) {
                    continue;
                }
                let fields = def.fields.iter().map(|&(name, _)| exe.symbols.text(name));
                let field =
                    fields.enumerate().find(|&(_, name)| name == variable).map(|(field, _)| field as u32);
                let name = match field {
                    Some(field) => def.fields[field as usize].0,
                    None => match local_named(exe, machine, variable) {
                        Some(name) => name,
                        None => continue,
                    },
                };
                let Some(free) = found.0.get_mut(n) else {
                    return Err(format!("at most {MAX_VARIABLES} variables can be bounded"));
                };
                *free = Some(VariableBound { machine, field, name, most, is_of_length });
                n += 1;
            }
            if n == n_before {
                return Err(match owner {
                    Some(owner) => {
                        format!("no machine `{owner}` has a variable `{variable}` that can be bounded")
                    }
                    None => format!("no machine has a variable `{variable}` that can be bounded"),
                });
            }
        }
        Ok(found)
    }

    /// Whether a machine is beyond a bound. One that is about to fail grows no more, and people want to know.
    pub(crate) fn are_exceeded(
        &self,
        exe: &Executable,
        sizes: &mut Sizes,
        store: &Store,
        local: &Local,
    ) -> bool {
        if matches!(local.status, Status::Pending(Pending::Fault(_))) {
            return false;
        }
        self.0.iter().map_while(Option::as_ref).filter(|bound| bound.machine == local.machine).any(|bound| {
            let mut is_beyond = |value: Value| {
                let size = sizes.of(store, value);
                size.length > bound.most || (!bound.is_of_length && size.number > bound.most)
            };
            match bound.field {
                Some(field) => local.registers.get(field as usize).is_some_and(|&value| is_beyond(value)),
                None => locals_of(exe, local).any(|(name, value)| name == bound.name && is_beyond(value)),
            }
        })
    }
}

/// Parameters and named locals of the functions that a machine is in, with what they hold.
fn locals_of<'a>(exe: &'a Executable, local: &'a Local) -> impl Iterator<Item = (Symbol, Value)> + 'a {
    local.frames.iter().flat_map(move |frame| {
        let names = exe.funs[frame.fun].locals.iter().copied();
        names.zip(local.registers.iter().skip(frame.base as usize).copied())
    })
}

/// The parameter or local of this name in a function that a machine can run.
fn local_named(exe: &Executable, machine: MachineId, name: &str) -> Option<Symbol> {
    let mut locals = exe.functions_of(machine).flat_map(|fun| &fun.locals).copied();
    locals.find(|&local| exe.symbols.text(local) == name)
}
