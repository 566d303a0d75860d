//! A description of configurations, for the question whether one of them can be reached: conditions on control states and
//! variables, all of which have to hold.
//!
//! `Lock(2): Held, Client(3).tries > 1`. A name without a number means some machine of that kind, for each condition anew.

use allways_base::nearest::nearest;
use allways_machine::Executable;
use allways_machine::ir::MachineId;

/// Conditions that all hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Goal {
    pub(super) conditions: Vec<Condition>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Condition {
    /// A machine with its number, a kind of machine, or a monitor.
    pub who: String,
    pub what: What,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum What {
    State(String),
    Variable { name: String, relation: Relation, value: String },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    Equal,
    NotEqual,
    Less,
    Greater,
    AtMost,
    AtLeast,
}

/// Longer ones first, since they begin with shorter ones.
const RELATIONS: &[(&str, Relation)] = &[
    ("==", Relation::Equal),
    ("!=", Relation::NotEqual),
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("=", Relation::Equal),
    ("<", Relation::Less),
    (">", Relation::Greater),
];

impl Relation {
    /// Numbers are compared as numbers, everything else as it is written.
    pub fn holds(self, left: &str, right: &str) -> bool {
        match (left.parse::<i64>(), right.parse::<i64>()) {
            (Ok(left), Ok(right)) => match self {
                Relation::Equal => left == right,
                Relation::NotEqual => left != right,
                Relation::Less => left < right,
                Relation::Greater => left > right,
                Relation::AtMost => left <= right,
                Relation::AtLeast => left >= right,
            },
            _ => match self {
                Relation::Equal => left == right,
                Relation::NotEqual => left != right,
                _ => false,
            },
        }
    }
}

impl Goal {
    /// Reads a description.
    ///
    /// # Errors
    /// In one sentence, when it is not one, or names something that the program does not have.
    pub fn parse(text: &str, exe: &Executable) -> Result<Goal, String> {
        let text = text.replace(" and ", ", ");
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let conditions: Vec<Condition> = parts.map(|part| condition(part, exe)).collect::<Result<_, _>>()?;
        if conditions.is_empty() {
            return Err("say which state is meant, such as `Lock(2): Held, Client(3).tries > 1`".to_owned());
        }
        Ok(Goal { conditions })
    }
}

fn condition(text: &str, exe: &Executable) -> Result<Condition, String> {
    if let Some((who, state)) = text.split_once(':').or_else(|| text.split_once(" in ")) {
        let (who, state) = (who.trim(), state.trim());
        let machine = machine(who, exe)?;
        let states: Vec<&str> = exe
            .states
            .iter()
            .filter(|found| found.machine == machine)
            .map(|found| exe.symbols.text(found.name))
            .collect();
        known("state", state, who, &states)?;
        return Ok(Condition { who: who.to_owned(), what: What::State(state.to_owned()) });
    }
    let found = RELATIONS.iter().find_map(|&(sign, relation)| Some((text.split_once(sign)?, relation)));
    let Some(((place, value), relation)) = found else {
        return Err(format!(
            "`{text}` is not a condition: write `MACHINE: STATE` or `MACHINE.VARIABLE = VALUE`"
        ));
    };
    let (place, value) = (place.trim(), value.trim());
    let Some((who, name)) = place.split_once('.') else {
        return Err(format!("`{place}` is no variable: write `MACHINE.VARIABLE`"));
    };
    if value.is_empty() || value.starts_with(['(', '[', '{', '<']) {
        return Err(format!(
            "`{text}`: a variable is compared with a number, a Boolean, a text, an enum element, a machine or null"
        ));
    }
    let machine = machine(who, exe)?;
    let names: Vec<&str> =
        exe.machines[machine].fields.iter().map(|&(name, _)| exe.symbols.text(name)).collect();
    known("variable", name, who, &names)?;
    let what = What::Variable { name: name.to_owned(), relation, value: value.to_owned() };
    Ok(Condition { who: who.to_owned(), what })
}

/// The machine or monitor that a name with or without a number means.
fn machine(who: &str, exe: &Executable) -> Result<MachineId, String> {
    let kind = who.split('(').next().unwrap_or(who);
    let mut names: Vec<(&str, MachineId)> = exe
        .interfaces
        .iter()
        .filter_map(|interface| Some((exe.symbols.text(interface.name), interface.machine?)))
        .collect();
    names.extend(exe.monitors.iter().map(|monitor| (exe.machine_name(monitor.machine), monitor.machine)));
    if let Some(&(_, machine)) = names.iter().find(|(name, _)| *name == kind) {
        return Ok(machine);
    }
    let near = nearest(kind, names.iter().map(|(name, _)| *name));
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Err(format!("this test has no machine or monitor `{kind}`{hint}"))
}

fn known(what: &str, name: &str, who: &str, names: &[&str]) -> Result<(), String> {
    if names.contains(&name) {
        return Ok(());
    }
    let near = nearest(name, names.iter().copied());
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Err(format!("`{who}` has no {what} `{name}`{hint}"))
}
