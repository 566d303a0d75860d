//! Invariants out of the set of all configurations: what is so whenever a machine or monitor is in a control state.
//!
//! For each control state of each machine, the set is restricted to the configurations in which the machine is there. The small
//! values that its own variables have in them are an invariant of the machine; the control states of each other machine, if they are
//! not all that it ever has, an invariant of the pair. Both are exact: every value and state that is named occurs.

use std::collections::BTreeSet;

use allways_machine::ir::ControlId;
use allways_machine::value::View;
use allways_machine::{Executable, Value};
use allways_mdd::{Halt, Node};

use super::engine::Search;
use super::names::owner_name;
use super::steps::BROKEN;

/// More values of a variable say little.
const MAX_VALUES: usize = 4;

/// A control state of a slot, or that the machine does not exist.
type Place = Option<ControlId>;

/// What holds in one control state of one slot.
struct InPlace {
    /// By field: its values, if they are few and small.
    fields: Vec<Option<BTreeSet<String>>>,
    /// By slot.
    others: Vec<BTreeSet<Place>>,
}

/// The invariants of a set of configurations, one sentence each.
///
/// # Errors
/// When a limit is met.
pub(crate) fn find(exe: &Executable, reach: &mut Search<'_>, reached: Node) -> Result<Vec<String>, Halt> {
    let all = in_place(reach, reached, None);
    let mut names: Vec<String> = Vec::new();
    for slot in 0..all.others.len() as u32 {
        let owner = reach.steps.owner(slot);
        let locals = reach.steps.expander.memo.locals();
        names.push(owner.map_or_else(String::new, |owner| owner_name(&locals, owner)));
    }
    let name = |place: &Place| place.map_or("no state yet", |control| exe.state_name(control)).to_owned();
    let mut found = Vec::new();
    for (slot, places) in all.others.iter().enumerate() {
        for place in places.iter().filter(|place| place.is_some()) {
            let here = restrict(reach, reached, slot as u32, *place)?;
            let here = in_place(reach, here, Some(slot as u32));
            let who = format!("{} in {}", names[slot], name(place));
            let machine = place.map(|control| exe.states[control].machine);
            let fields = machine.map_or(&[][..], |machine| &exe.machines[machine].fields);
            for (values, &(field, _)) in here.fields.iter().zip(fields) {
                if let Some(values) = values.as_ref().filter(|values| !values.is_empty()) {
                    found.push(format!("{who}: {} is {}", exe.symbols.text(field), list(values)));
                }
            }
            for (other, there) in here.others.iter().enumerate() {
                let is_news = other != slot && there.len() < all.others[other].len();
                if is_news && !there.is_empty() {
                    let there: BTreeSet<String> = there.iter().map(name).collect();
                    found.push(format!("{who}: {} in {}", names[other], list(&there)));
                }
            }
        }
    }
    Ok(found)
}

/// The control states that occur in a set.
pub(super) fn seen(reach: &mut Search<'_>, reached: Node) -> BTreeSet<ControlId> {
    let all = in_place(reach, reached, None);
    all.others.into_iter().flatten().flatten().collect()
}

fn list(words: &BTreeSet<String>) -> String {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

/// The configurations in which a slot is in a control state.
fn restrict(reach: &mut Search<'_>, set: Node, slot: u32, place: Place) -> Result<Node, Halt> {
    let Search { diagrams, events, steps, .. } = reach;
    diagrams.all(set, |level, value| {
        events.slot_of(level) != slot
            || events.part_of(level) > 0
            || steps.control_state(slot, value) == place
    })
}

/// The control states of all slots in a set, and the small values of the variables of one.
fn in_place(reach: &mut Search<'_>, set: Node, slot: Option<u32>) -> InPlace {
    let by_level = reach.diagrams.values(set);
    let n_slots = reach.events.order().iter().max().map_or(0, |&slot| slot as usize + 1);
    let mut found = InPlace { fields: Vec::new(), others: vec![BTreeSet::new(); n_slots] };
    let Search { events, steps, .. } = reach;
    for (level, values) in (1..).zip(&by_level) {
        let (of, part) = (events.slot_of(level), events.part_of(level));
        for &value in values.iter().filter(|&&value| part > 0 || value != BROKEN) {
            if part == 0 && steps.is_machine_or_monitor(of) {
                found.others[of as usize].insert(steps.control_state(of, value));
            }
            if Some(of) != slot {
                continue;
            }
            steps.each_field(of, part, value, |field, value| {
                if found.fields.len() <= field {
                    found.fields.resize(field + 1, Some(BTreeSet::new()));
                }
                let values = &mut found.fields[field];
                match (small(value), values.as_mut()) {
                    (Some(text), Some(known)) if known.len() < MAX_VALUES || known.contains(&text) => {
                        known.insert(text);
                    }
                    _ => *values = None,
                }
            });
        }
    }
    found
}

/// A value as text, if it is a number or a truth value.
fn small(value: Value) -> Option<String> {
    match value.view() {
        View::Bool(value) => Some(value.to_string()),
        View::Int(value) => Some(value.to_string()),
        View::Null | View::Event(_) | View::Ref(..) | View::Node(..) | View::Hole(_) | View::Atom(..) => None,
    }
}
