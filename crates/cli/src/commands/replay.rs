//! `allways replay`: runs a schedule file again and shows the run.

use std::path::Path;
use std::sync::Arc;

use allways_driver::select;
use allways_explore::{potential_liveness, step_bound_violation};
use allways_machine::{Executable, Kernel, Outcome, Tracer};
use allways_p::hir::Temperature;
use allways_report::check as check_report;
use allways_report::check::ReplayReport;
use allways_report::json;
use allways_report::schedule_file::{self, FileChoice, ScheduleFile};
use allways_run::{
    Certainty, Choice, Counterexample, InstanceId, Limits, Schedule, StopReason, Violation, ViolationKind,
};

use super::check::load;
use super::files::program_fingerprint;
use super::network;
use crate::args::{Format, InputArgs, NetworkArgs, ReplayArgs};
use crate::exit::ExitStatus;
use crate::printer;

pub fn replay(args: &ReplayArgs) -> ExitStatus {
    replay_file(&args.input, &args.file, args.format.format, args.full_trace, &args.network)
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
    let is_changed = file.program != program_fingerprint(&compilation);
    if is_changed {
        printer::err("the program text has changed since the schedule was written; trying all the same\n");
    }
    let misfit = |problem: String| {
        rejected(match is_changed {
            true => format!(
                "the program text has changed since the schedule was written, and the schedule does not fit it any \
                 more: {problem}"
            ),
            false => format!("the schedule does not fit this program: {problem}"),
        })
    };
    let executable = match Executable::new(program, test).with_network(&file.network) {
        Ok(executable) => Arc::new(executable),
        Err(error) => return rejected(error.to_string()),
    };
    let schedule = schedule_of(&executable, &file);
    let mut tracer = Tracer::default();
    let mut kernel = Kernel::new(executable.clone(), Limits::default());
    if file.step_bound.is_some() {
        kernel.bound_choices(schedule.len() as u64);
    }
    match allways_machine::replay_on(&mut kernel, &schedule, &mut tracer) {
        Ok(()) => {}
        Err(error) => return misfit(error.to_string()),
    };
    let sources = compilation.sources();
    let (verdict, violation) = match (kernel.outcome(), file.loop_start) {
        (Outcome::Violated(violation), _) => ("violated", Some((**violation).clone())),
        (_, Some(_)) => ("repeats", None),
        (_, None) => match potential(&kernel, file.potential.as_deref()).or_else(|| at_bound(&kernel, &file))
        {
            Some(violation) => ("violated", Some(violation)),
            None => ("holds", None),
        },
    };
    let mut trace = tracer.finish(&kernel);
    if let (Some(violation), None) = (&violation, &trace.violation) {
        trace.fail(violation);
    }
    let monitor = violation.as_ref().and_then(|violation| violation.monitor);
    let hot = hot_monitors(&kernel);
    let is_broken = violation.is_some();
    // A run without violation is shown all the same. One that repeats shows its loop: that is how a liveness violation
    // looks.
    let violation = violation.unwrap_or_else(|| Violation {
        kind: ViolationKind::Liveness(Certainty::Certain),
        message: String::new(),
        span: None,
        machine: None,
        monitor: None,
    });
    let counterexample = Counterexample { violation, schedule, loop_start: file.loop_start, trace };
    match format {
        Format::Json => {
            let monitor = monitor.map(|monitor| executable.monitor_name(monitor).to_owned());
            let run =
                check_report::violation(&counterexample, monitor, None, 0, "replay".to_owned(), sources);
            let report = ReplayReport {
                version: json::VERSION,
                command: "replay",
                project: compilation.project.name.clone(),
                test: file.test.clone(),
                verdict,
                network: network::report_of(&file.network),
                hot_monitors: hot,
                n_steps: run.n_steps,
                loop_start: run.loop_start,
                violation: is_broken.then_some(run.summary()),
                steps: run.steps,
            };
            printer::out(&json::to_text(&report));
        }
        _ => {
            if is_broken {
                super::check::annotate(&compilation, &file.test, &counterexample);
            }
            let look = printer::look(full_trace);
            let table = || allways_report::trace::render_steps(&counterexample, sources, look);
            let words = network::words(&file.network);
            printer::out(&match verdict {
                "violated" => {
                    let text = check_report::render_counterexample(&counterexample, None, sources, look);
                    format!("{}: violated{words}\n\n{text}", file.test)
                }
                "repeats" => format!("{}: the run repeats for ever{words}\n\n{}", file.test, table()),
                _ => {
                    let hot = match &hot[..] {
                        [] => String::new(),
                        [name] => format!("; monitor '{name}' is hot at its end"),
                        names => format!("; monitors '{}' are hot at its end", names.join("', '")),
                    };
                    let test = &file.test;
                    format!("{test}: the schedule runs through and nothing breaks{hot}{words}\n\n{}", table())
                }
            });
        }
    }
    match verdict {
        "holds" => ExitStatus::Success,
        _ => ExitStatus::Violated,
    }
}

/// The violation of a run that was written for a monitor which was hot for too long, if it is hot again.
fn potential(kernel: &Kernel, monitor: Option<&str>) -> Option<Violation> {
    let exe = kernel.executable();
    let name = monitor.filter(|name| hot_monitors(kernel).iter().any(|hot| hot == name))?;
    let monitor = (0..exe.monitors.len()).find(|&monitor| exe.monitor_name(monitor) == name)?;
    Some(potential_liveness(kernel, monitor))
}

/// The violation of a run that was written because it came to a bound on steps, if it goes on there again.
fn at_bound(kernel: &Kernel, file: &ScheduleFile) -> Option<Violation> {
    let is_cut = matches!(kernel.outcome(), Outcome::Unknown(StopReason::ChoiceBound(_)));
    let goes_on = kernel.is_running() || is_cut;
    let bound = file.step_bound.filter(|&bound| goes_on && file.choices.len() as u64 >= bound)?;
    Some(step_bound_violation(bound))
}

/// Monitors that stand in a hot state.
fn hot_monitors(kernel: &Kernel) -> Vec<String> {
    let exe = kernel.executable();
    let is_hot = |monitor: usize| {
        let state = &exe.states[kernel.configuration().monitors[monitor].control as usize];
        state.temperature == Temperature::Hot && !exe.machines[state.machine as usize].is_scenario
    };
    let hot = (0..exe.monitors.len()).filter(|&monitor| is_hot(monitor));
    hot.map(|monitor| exe.monitor_name(monitor).to_owned()).collect()
}

fn schedule_of(exe: &Executable, file: &ScheduleFile) -> Schedule {
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
