//! Bounds on variables: numbers that count for ever, as those of requests do, leave a program without end of configurations. Under a
//! bound, configurations beyond it are not looked at, and the verdict says so.
//!
//! What is measured of a variable is what people see grow: of a sequence, set or map how many elements it has, of everything else
//! the largest number in it, without its sign. Only variables of machines can be bounded: monitors listen, and what would be cut
//! off of them is a step of somebody else.

use allways_machine::value::{Kind, View};
use allways_machine::{Executable, Local, Pending, Status, Store, Value};

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
}

impl VariableBounds {
    /// Bounds by name: `Machine.variable`, or `variable` of every machine that has one of this name.
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
                *free = Some(VariableBound { machine: machine as u32, field: field as u32, most });
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
    pub(super) fn are_exceeded(&self, store: &Store, local: &Local) -> bool {
        if matches!(local.status, Status::Pending(Pending::Fault(_))) {
            return false;
        }
        self.0.iter().map_while(Option::as_ref).any(|bound| {
            let value = local.registers.get(bound.field as usize).filter(|_| bound.machine == local.machine);
            value.is_some_and(|&value| size(store, value) > bound.most)
        })
    }
}

/// Values are no deeper than the store allows.
fn size(store: &Store, value: Value) -> u64 {
    let largest = |parts: &[Value]| parts.iter().map(|&part| size(store, part)).max().unwrap_or(0);
    match value.view() {
        View::Int(n) => n.unsigned_abs(),
        View::Null | View::Bool(_) | View::Event(_) | View::Ref(..) | View::Hole(_) => 0,
        View::Node(Kind::Int, _) => store.as_int(value).map_or(0, i64::unsigned_abs),
        View::Node(Kind::Float | Kind::String, _) => 0,
        View::Node(Kind::Tuple, id) => largest(store.parts(id)),
        View::Node(Kind::Named, id) => largest(store.named_parts(id).1),
        View::Node(Kind::Seq | Kind::Set | Kind::Map, _) => store.size_of(value).unwrap_or(0) as u64,
    }
}
