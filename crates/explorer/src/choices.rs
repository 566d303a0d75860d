//! Choices of a run as schedule files write them, and back.

use allways_machine::Executable;
use allways_report::schedule_file::FileChoice;
use allways_run::{Choice, Schedule};

pub fn to_file(exe: &Executable, schedule: &Schedule) -> Vec<FileChoice> {
    let choice = |choice: &Choice| match *choice {
        Choice::Machine(machine) => FileChoice::Machine(exe.instance_path(machine)),
        Choice::Deliver { target, source, place } => FileChoice::Deliver {
            target: exe.instance_path(target),
            source: exe.instance_path(source),
            place,
        },
        Choice::Crash(machine) => FileChoice::Crash(exe.instance_path(machine)),
        Choice::Data(answer) => FileChoice::Data(answer),
    };
    schedule.choices.iter().map(choice).collect()
}

/// `None` if a machine has a name that no machine can have.
pub fn of_file(exe: &Executable, choices: &[FileChoice]) -> Option<Schedule> {
    let choice = |choice: &FileChoice| match choice {
        FileChoice::Machine(path) => exe.instance_at(path).map(Choice::Machine),
        FileChoice::Deliver { target, source, place } => {
            let (target, source) = (exe.instance_at(target)?, exe.instance_at(source)?);
            Some(Choice::Deliver { target, source, place: *place })
        }
        FileChoice::Crash(path) => exe.instance_at(path).map(Choice::Crash),
        FileChoice::Data(answer) => Some(Choice::Data(*answer)),
    };
    choices.iter().map(choice).collect()
}
