//! `allways replay`: runs a schedule file again and shows the run.

use std::path::Path;
use std::sync::Arc;

use allways_driver::{Compilation, select};
use allways_explore::{broken_invariant, potential_liveness, step_bound_violation};
use allways_explorer::choices;
use allways_machine::{Executable, Kernel, Outcome, Tracer};
use allways_p::hir::Temperature;
use allways_report::check as check_report;
use allways_report::check::ReplayReport;
use allways_report::json::{self, Head};
use allways_report::schedule_file::{self, ScheduleFile};
use allways_run::{Certainty, Counterexample, Entry, Limits, StopReason, Trace, Violation, ViolationKind};

use super::files::program_fingerprint;
use super::load::load_with;
use super::network;
use crate::args::{Format, InputArgs, NetworkArgs, ReplayArgs};
use crate::exit::ExitStatus;
use crate::printer;

pub fn replay(args: &ReplayArgs) -> ExitStatus {
    replay_file(&args.input, &args.file, args.format.format, args.full_trace, &args.network)
}

/// A schedule that was run again.
pub struct Replayed {
    pub file: ScheduleFile,
    pub executable: Arc<Executable>,
    /// Of a run without violation only the run counts.
    pub counterexample: Counterexample,
    pub verdict: Outlook,
    hot: Vec<String>,
}

/// How a run that was repeated ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outlook {
    Violated,
    Repeats,
    Holds,
}

impl Replayed {
    /// The monitor that is broken.
    pub fn monitor(&self) -> Option<&str> {
        self.counterexample.violation.monitor.map(|monitor| self.executable.monitor_name(monitor))
    }
}

/// Runs a schedule file again; what is wrong is shown.
pub fn run(
    input: &InputArgs,
    path: &Path,
    format: Format,
    asked: &NetworkArgs,
    command: &'static str,
) -> Result<(Compilation, Replayed), ExitStatus> {
    let rejected = |problem: String| {
        printer::err(&format!("`{}`: {problem}\n", path.display()));
        ExitStatus::Rejected
    };
    let text = std::fs::read_to_string(path).map_err(|error| {
        printer::err(&format!("`{}` cannot be read: {error}\n", path.display()));
        ExitStatus::Rejected
    })?;
    let file = schedule_file::parse(&text).map_err(rejected)?;
    if asked.is_given() && asked.options() != file.network {
        let words = file.network.describe().unwrap_or_else(|| "network inbox, no faults".to_owned());
        return Err(rejected(format!(
            "the schedule was recorded with {words}, which `replay` applies by itself: leave out the network options"
        )));
    }
    let invariants = file.invariant.iter().cloned().collect();
    let compilation = load_with(input, invariants, format, command)?;
    let replayed = run_on(&compilation, file).map_err(rejected)?;
    Ok((compilation, replayed))
}

/// Runs a schedule again on a program.
///
/// # Errors
/// When it is a schedule of another program, or of one that has changed too much.
pub fn run_on(compilation: &Compilation, file: ScheduleFile) -> Result<Replayed, String> {
    let Some(program) = &compilation.program else { return Err("the program has errors".to_owned()) };
    let test = match select::select(program, Some(&file.test)) {
        Ok(tests) if program.tests[tests[0]].name == file.test => tests[0],
        _ => return Err(format!("the program has no test case `{}`: is it another program?", file.test)),
    };
    let is_changed = file.program != program_fingerprint(compilation);
    if is_changed {
        printer::err("the program text has changed since the schedule was written; trying anyway\n");
    }
    let misfit = |problem: String| match is_changed {
        true => format!(
            "the program text has changed since the schedule was written, and the schedule does not fit it any \
             more: {problem}"
        ),
        false => format!("the schedule does not fit this program: {problem}"),
    };
    let executable = Executable::new(program, test).with_network(&file.network);
    let executable = Arc::new(executable.map_err(|error| error.to_string())?);
    let schedule = choices::of_file(&executable, &file);
    let mut tracer = Tracer::default();
    let mut kernel = Kernel::new(executable.clone(), Limits::default());
    if file.step_bound.is_some() {
        kernel.bound_choices(schedule.len() as u64);
    }
    allways_machine::replay_on(&mut kernel, &schedule, &mut tracer)
        .map_err(|error| misfit(error.to_string()))?;
    let mut trace = tracer.finish(&kernel);
    let (verdict, violation) = match (kernel.outcome(), file.loop_start) {
        (Outcome::Violated(violation), _) => (Outlook::Violated, Some((**violation).clone())),
        (_, Some(start)) => {
            match file.hot.as_deref().and_then(|name| hot_loop(&executable, &trace, start, name)) {
                Some(violation) => (Outlook::Violated, Some(violation)),
                None => (Outlook::Repeats, None),
            }
        }
        (_, None) => match potential(&kernel, file.potential.as_deref())
            .or_else(|| at_bound(&kernel, &file))
            .or_else(|| broken_invariant(&mut kernel, 0))
        {
            Some(violation) => (Outlook::Violated, Some(violation)),
            None => (Outlook::Holds, None),
        },
    };
    if let (Some(violation), None) = (&violation, &trace.violation) {
        trace.fail(violation);
    }
    let hot = hot_monitors(&kernel);
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
    Ok(Replayed { file, executable, counterexample, verdict, hot })
}

pub fn replay_file(
    input: &InputArgs,
    path: &Path,
    format: Format,
    full_trace: bool,
    asked: &NetworkArgs,
) -> ExitStatus {
    let (compilation, replayed) = match run(input, path, format, asked, "replay") {
        Ok(replayed) => replayed,
        Err(status) => return status,
    };
    let Replayed { file, counterexample, verdict, hot, .. } = &replayed;
    let (verdict, sources) = (*verdict, compilation.sources());
    match format {
        Format::Json => {
            let monitor = replayed.monitor().map(str::to_owned);
            let run = check_report::violation(counterexample, monitor, None, 0, "replay".to_owned(), sources);
            let report = ReplayReport {
                head: Head::new("replay", &compilation.project.name, &file.test),
                verdict: match verdict {
                    Outlook::Violated => "violated",
                    Outlook::Repeats => "repeats",
                    Outlook::Holds => "holds",
                },
                network: network::report_of(&file.network),
                hot_monitors: hot.clone(),
                n_steps: run.n_steps,
                loop_start: run.loop_start,
                violation: (verdict == Outlook::Violated).then_some(run.summary()),
                steps: run.steps,
            };
            printer::out(&json::to_text(&report));
        }
        _ => {
            if verdict == Outlook::Violated {
                super::results::annotate(&compilation, &file.test, counterexample);
            }
            let look = printer::look(full_trace);
            let table = || allways_report::trace::render_steps(counterexample, sources, look);
            let words = network::words(&file.network);
            printer::out(&match verdict {
                Outlook::Violated => {
                    let text = check_report::render_counterexample(counterexample, None, sources, look);
                    format!("{}: violated{words}\n\n{text}", file.test)
                }
                Outlook::Repeats => format!("{}: the run repeats for ever{words}\n\n{}", file.test, table()),
                Outlook::Holds => {
                    let hot = match &hot[..] {
                        [] => String::new(),
                        [name] => format!("; monitor '{name}' is hot at its end"),
                        names => format!("; monitors '{}' are hot at its end", names.join("', '")),
                    };
                    let test = &file.test;
                    format!(
                        "{test}: the schedule ran to its end without a violation{hot}{words}\n\n{}",
                        table()
                    )
                }
            });
        }
    }
    match verdict {
        Outlook::Holds => ExitStatus::Success,
        Outlook::Violated | Outlook::Repeats => ExitStatus::Violated,
    }
}

/// The violation of a run that was written for a monitor which was hot for too long, if it is hot again.
fn potential(kernel: &Kernel, monitor: Option<&str>) -> Option<Violation> {
    let exe = kernel.executable();
    let name = monitor.filter(|name| hot_monitors(kernel).iter().any(|hot| hot == name))?;
    let monitor = (0..exe.monitors.len()).find(|&monitor| exe.monitor_name(monitor) == name)?;
    Some(potential_liveness(kernel, monitor))
}

/// The violation of a run that repeats, if the monitor for which it was written is hot in the loop again, and never cold.
fn hot_loop(exe: &Executable, trace: &Trace, loop_start: usize, name: &str) -> Option<Violation> {
    let monitor = (0..exe.monitors.len()).find(|&monitor| exe.monitor_name(monitor) == name)?;
    let start = trace.step_of_choice(loop_start);
    let (mut temperature, mut is_hot) = (None, false);
    for (at, step) in trace.steps.iter().enumerate() {
        let entered = step.entries.iter().filter_map(|entry| match entry {
            Entry::Enter { actor, temperature, .. } if actor.as_u32() as usize == monitor => {
                Some(*temperature)
            }
            _ => None,
        });
        let before = std::iter::once(temperature);
        for now in before.chain(entered) {
            temperature = now;
            if at >= start && temperature == Some("cold") {
                return None;
            }
            is_hot |= at >= start && temperature == Some("hot");
        }
    }
    is_hot.then(|| Violation {
        kind: ViolationKind::Liveness(Certainty::Certain),
        message: format!(
            "Monitor '{name}' detected liveness bug: it is hot again and again in the loop, and never cold."
        ),
        span: Some(exe.machines[exe.monitors[monitor].machine].span),
        machine: None,
        monitor: Some(monitor),
    })
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
        let state = &exe.states[kernel.configuration().monitors[monitor].control];
        state.temperature == Temperature::Hot && !exe.machines[state.machine].is_scenario
    };
    let hot = (0..exe.monitors.len()).filter(|&monitor| is_hot(monitor));
    hot.map(|monitor| exe.monitor_name(monitor).to_owned()).collect()
}
