//! `allways replay`: runs a schedule file again and shows the run.

use std::path::Path;
use std::sync::Arc;

use allways_driver::select;
use allways_machine::{Executable, Outcome};
use allways_report::check as check_report;
use allways_report::json;
use allways_report::schedule_file::{self, FileChoice, ScheduleFile};
use allways_run::{Choice, Counterexample, Limits, Schedule};

use super::check::load;
use super::files::program_fingerprint;
use super::network;
use crate::args::{Format, InputArgs, NetworkArgs, ReplayArgs};
use crate::exit::ExitStatus;
use crate::printer;

pub fn replay(args: &ReplayArgs) -> ExitStatus {
    replay_file(&args.input, &args.file, args.format, args.full_trace, &args.network)
}

pub fn replay_file(
    input: &InputArgs,
    path: &Path,
    format: Format,
    full_trace: bool,
    asked: &NetworkArgs,
) -> ExitStatus {
    let rejected = |problem: String| {
        printer::err(&format!("`{}`: {problem}\n", path.display()));
        ExitStatus::Rejected
    };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return rejected(format!("cannot be read: {error}")),
    };
    let file = match schedule_file::parse(&text) {
        Ok(file) => file,
        Err(problem) => return rejected(problem),
    };
    if asked.is_given() && asked.options() != file.network {
        let words = file.network.describe().unwrap_or_else(|| "network inbox, no faults".to_owned());
        return rejected(format!("the schedule was written with {words}; leave the options out"));
    }
    let compilation = match load(input, format, "replay") {
        Ok(compilation) => compilation,
        Err(status) => return status,
    };
    let Some(program) = &compilation.program else { return ExitStatus::Rejected };
    let test = match select::select(program, Some(&file.test)) {
        Ok(tests) if program.tests[tests[0]].name == file.test => tests[0],
        _ => {
            return rejected(format!("the program has no test case `{}`: is it another program?", file.test));
        }
    };
    if file.program != program_fingerprint(&compilation) {
        printer::err("the program has changed since the schedule was written; trying all the same\n");
    }
    let executable = match Executable::new(program, test).with_network(&file.network) {
        Ok(executable) => Arc::new(executable),
        Err(error) => return rejected(error.to_string()),
    };
    let Some(schedule) = schedule_of(&executable, &file) else {
        return rejected("a machine in it has a name that no machine can have".to_owned());
    };
    let (trace, outcome) = match allways_machine::trace(&executable, Limits::default(), &schedule) {
        Ok(replayed) => replayed,
        Err(error) => return rejected(format!("the schedule does not fit this program: {error}")),
    };
    let sources = compilation.sources();
    let Outcome::Violated(violation) = outcome else {
        return no_violation(&file, schedule, trace, sources, full_trace);
    };
    let counterexample =
        Counterexample { violation: *violation, schedule, loop_start: file.loop_start, trace };
    match format {
        Format::Json => {
            let data = check_report::violation(&counterexample, None, 0, "replay".to_owned(), sources);
            printer::out(&json::to_text(&data));
        }
        Format::Text => {
            let n_last = if full_trace { None } else { Some(allways_report::trace::LAST_STEPS) };
            printer::out(&format!("{}: violated{}\n\n", file.test, network::words(&file.network)));
            printer::out(&check_report::render_counterexample(&counterexample, sources, n_last, true));
        }
    }
    ExitStatus::Violated
}

/// A run that ends without violation is shown all the same. One that repeats shows its loop: that is how a
/// liveness violation looks.
fn no_violation(
    file: &ScheduleFile,
    schedule: Schedule,
    trace: allways_run::Trace,
    sources: &allways_base::Sources,
    full_trace: bool,
) -> ExitStatus {
    let violation = allways_run::Violation {
        kind: allways_run::ViolationKind::Liveness(allways_run::Certainty::Certain),
        message: String::new(),
        span: None,
        machine: None,
        monitor: None,
    };
    let n_last = if full_trace { None } else { Some(allways_report::trace::LAST_STEPS) };
    let counterexample = Counterexample { violation, schedule, loop_start: file.loop_start, trace };
    let table = allways_report::trace::render_table(&counterexample, sources, n_last);
    if file.loop_start.is_some() {
        printer::out(&format!("{}: the run repeats for ever\n\n{table}", file.test));
        return ExitStatus::Violated;
    }
    printer::out(&format!("{}: the schedule runs through and nothing breaks\n\n{table}", file.test));
    ExitStatus::Success
}

fn schedule_of(exe: &Executable, file: &ScheduleFile) -> Option<Schedule> {
    file.choices
        .iter()
        .map(|choice| match choice {
            FileChoice::Machine(path) => exe.instance_at(path).map(Choice::Machine),
            FileChoice::Deliver { target, source, place } => {
                let (target, source) = (exe.instance_at(target)?, exe.instance_at(source)?);
                Some(Choice::Deliver { target, source, place: *place })
            }
            FileChoice::Crash(path) => exe.instance_at(path).map(Choice::Crash),
            FileChoice::Data(answer) => Some(Choice::Data(*answer)),
        })
        .collect()
}
