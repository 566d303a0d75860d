//! Choices of a run as schedule files and the page write them, and back.

use allways_machine::Executable;
use allways_report::schedule_file::{FileChoice, Machines, ScheduleFile};
use allways_run::{Choice, InstanceId, Schedule};
use rustc_hash::FxHashMap;

/// The choices of a schedule file, and the machines that they name.
pub fn to_file(exe: &Executable, schedule: &Schedule) -> (Machines, Vec<FileChoice>) {
    let mut machines = Machines::default();
    let mut numbers = FxHashMap::from_iter([(InstanceId::MAIN, Machines::MAIN)]);
    let mut number = |machine: InstanceId| {
        let mut missing = Vec::new();
        let mut at = machine;
        while !numbers.contains_key(&at)
            && let Some((creator, place)) = exe.instances.origin(at)
        {
            missing.push((at, creator, place));
            at = creator;
        }
        for (machine, creator, place) in missing.into_iter().rev() {
            numbers.insert(machine, machines.child(numbers[&creator], place));
        }
        numbers[&machine]
    };
    let choices = schedule
        .choices
        .iter()
        .map(|choice| match *choice {
            Choice::Machine(machine) => FileChoice::Machine(number(machine)),
            Choice::Deliver { target, source, place } => {
                let (source, target) = (number(source), number(target));
                FileChoice::Deliver { target, source, place }
            }
            Choice::Crash(machine) => FileChoice::Crash(number(machine)),
            Choice::Data(answer) => FileChoice::Data(answer),
        })
        .collect();
    (machines, choices)
}

/// The schedule of a file.
pub fn of_file(exe: &Executable, file: &ScheduleFile) -> Schedule {
    let mut instances = vec![InstanceId::MAIN];
    for (creator, place) in file.machines.origins() {
        instances.push(exe.instances.child(instances[creator as usize], place));
    }
    let instance = |machine: u32| instances[machine as usize];
    let choices = file.choices.iter().map(|choice| match *choice {
        FileChoice::Machine(machine) => Choice::Machine(instance(machine)),
        FileChoice::Deliver { target, source, place } => {
            Choice::Deliver { target: instance(target), source: instance(source), place }
        }
        FileChoice::Crash(machine) => Choice::Crash(instance(machine)),
        FileChoice::Data(answer) => Choice::Data(answer),
    });
    Schedule { choices: choices.collect() }
}

/// A choice as the page writes it, with the whole path of each machine.
pub fn line(exe: &Executable, choice: &Choice) -> String {
    let path = |machine| exe.instance_path(machine);
    match *choice {
        Choice::Machine(machine) => format!("({})", path(machine)),
        Choice::Deliver { target, source, place: 0 } => format!("({} > {})", path(source), path(target)),
        Choice::Deliver { target, source, place } => {
            format!("({} > {} #{place})", path(source), path(target))
        }
        Choice::Crash(machine) => format!("({} crash)", path(machine)),
        Choice::Data(answer) => answer.to_string(),
    }
}

/// The choice of such a line; `None` if it is not one, or names a machine that cannot exist.
pub fn of_line(exe: &Executable, line: &str) -> Option<Choice> {
    let Some(text) = line.strip_prefix('(').and_then(|line| line.strip_suffix(')')) else {
        return line.parse().ok().map(Choice::Data);
    };
    if let Some((source, rest)) = text.split_once(" > ") {
        let (target, place) = match rest.split_once(" #") {
            Some((target, place)) => (target, place.parse().ok()?),
            None => (rest, 0),
        };
        let (target, source) = (exe.instance_at(target)?, exe.instance_at(source)?);
        return Some(Choice::Deliver { target, source, place });
    }
    match text.strip_suffix(" crash") {
        Some(path) => exe.instance_at(path).map(Choice::Crash),
        None => exe.instance_at(text).map(Choice::Machine),
    }
}
