//! Bounds on variables: numbers that count for ever, as those of requests do, leave a program without end of configurations. Under a
//! bound, configurations beyond it are not looked at, and the verdict says so.
//!
//! What is measured of a variable is what people see grow (`size`): no number in it is beyond the bound, and no sequence, set or map
//! in it has more elements; of `sizeof(variable)`, only the latter. Only variables of machines can be bounded: monitors listen, and what would be cut
//! off of them is a step of somebody else.

use allways_machine::{Executable, Local, Pending, Status, Store};

use super::size::Sizes;

/// Bounds that there can be at once.
pub const MAX_VARIABLES: usize = 8;

/// Of a few variables.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct VariableBounds([Option<VariableBound>; MAX_VARIABLES]);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct VariableBound {
    machine: u32,
    field: u32,
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
            for (machine, def) in exe.machines.iter().enumerate().filter(|(_, def)| !def.is_monitor) {
                if owner.is_some_and(|owner| owner != exe.symbols.text(def.name)) {
                    continue;
                }
                let fields = def.fields.iter().map(|&(name, _)| exe.symbols.text(name));
                let Some((field, _)) = fields.enumerate().find(|&(_, name)| name == variable) else {
                    continue;
                };
                let Some(free) = found.0.get_mut(n) else {
                    return Err(format!("at most {MAX_VARIABLES} variables can be bounded"));
                };
                *free =
                    Some(VariableBound { machine: machine as u32, field: field as u32, most, is_of_length });
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
    pub(super) fn are_exceeded(&self, sizes: &mut Sizes, store: &Store, local: &Local) -> bool {
        if matches!(local.status, Status::Pending(Pending::Fault(_))) {
            return false;
        }
        self.0.iter().map_while(Option::as_ref).any(|bound| {
            let value = local.registers.get(bound.field as usize).filter(|_| bound.machine == local.machine);
            value.is_some_and(|&value| {
                let size = sizes.of(store, value);
                size.length > bound.most || (!bound.is_of_length && size.number > bound.most)
            })
        })
    }
}
