//! What testing found, as a report.

use allways_driver::Compilation;
use allways_explore::coverage::{Coverage, Share, Trigger, UnusedHandler};
use allways_explore::{CheckOptions, ScenarioCoverage, Statistics};
use allways_machine::Executable;
use allways_p::hir::Temperature;
use allways_report::check as check_report;
use allways_report::json::Head;
use allways_report::scenario::Scenario;
use allways_report::verdict::{self, Scope, VerdictReport};
use allways_run::{Verdict, Violation, ViolationKind};

use super::check::Checked;
use super::{foreign, network};

/// The report as data.
pub fn report_of(
    compilation: &Compilation,
    checked: &Checked,
    options: &CheckOptions,
) -> check_report::CheckReport {
    let sources = compilation.sources();
    let exe = &checked.executable;
    let report = &checked.report;
    check_report::CheckReport {
        head: Head::new("check", &compilation.project.name, &checked.name),
        answer: VerdictReport::new(&report.verdict, Scope::default(), explanation(compilation, checked)),
        seed: options.seed,
        strategy: options.strategy.to_string(),
        network: network::report_of(exe.network.options()),
        order_note: checked.order_note.clone(),
        statistics: testing_statistics(&report.statistics),
        coverage: coverage_of(exe, sources, &report.coverage),
        scenarios: report.scenarios.iter().map(|it| scenario_of(exe, it)).collect(),
        violations: report
            .findings
            .iter()
            .map(|finding| {
                let monitor = finding.counterexample.violation.monitor;
                check_report::violation(
                    &finding.counterexample,
                    monitor.map(|monitor| exe.monitor_name(monitor).to_owned()),
                    help_of(exe, &finding.counterexample.violation),
                    finding.index,
                    finding.strategy.to_string(),
                    sources,
                )
            })
            .collect(),
    }
}

pub fn testing_statistics(statistics: &Statistics) -> check_report::Statistics {
    check_report::Statistics {
        n_schedules: statistics.n_schedules,
        n_steps: statistics.n_steps,
        n_choices: statistics.n_choices,
        min_length: statistics.min_length,
        max_length: statistics.max_length,
        n_bounded: statistics.n_bounded,
    }
}

/// `Machine.State on event (file:line:column)`
pub fn handler_text(exe: &Executable, sources: &allways_base::Sources, handler: &UnusedHandler) -> String {
    let state = &exe.states[handler.state];
    let machine = exe.machine_name(state.machine);
    let trigger = match handler.trigger {
        Trigger::Entry => "entry".to_owned(),
        Trigger::Exit => "exit".to_owned(),
        Trigger::Event(event) => format!("on {}", exe.event_name(event)),
    };
    format!("{machine}.{} {trigger} ({})", exe.state_name(handler.state), sources.place(handler.span))
}

pub fn coverage_of(
    exe: &Executable,
    sources: &allways_base::Sources,
    coverage: &Coverage,
) -> check_report::Coverage {
    let summary = coverage.summary(exe);
    let share = |share: Share| check_report::Share { covered: share.n_covered, all: share.n_all };
    let unused = coverage.unused_handlers(exe);
    check_report::Coverage {
        states: share(summary.states),
        transitions: share(summary.transitions),
        events: share(summary.events),
        unused_handlers: unused.iter().map(|handler| handler_text(exe, sources, handler)).collect(),
    }
}

fn scenario_of(exe: &Executable, coverage: &ScenarioCoverage) -> Scenario {
    Scenario {
        name: exe.monitor_name(coverage.monitor).to_owned(),
        satisfied: coverage.is_satisfied(),
        satisfying_schedules: coverage.n_satisfying,
        distinct_satisfying_timelines: coverage.n_timelines() as u64,
        max_states_visited: coverage.most_visited as u64,
        monitor_states: coverage.n_states as u64,
    }
}

/// Advice for a violation, where there is some: a monitor without cold states is a common slip.
pub fn help_of(exe: &Executable, violation: &Violation) -> Option<String> {
    let (ViolationKind::Liveness(_), Some(monitor)) = (violation.kind, violation.monitor) else {
        return None;
    };
    let machine = exe.monitors[monitor].machine;
    let mut states = exe.states.iter().filter(|state| state.machine == machine);
    let is_never_cold = states.all(|state| state.temperature != Temperature::Cold);
    is_never_cold.then(|| {
        let name = exe.monitor_name(monitor);
        format!(
            "mark the states of `{name}` in which nothing is pending as `cold`: no state is marked so, and only a cold state ends the waiting"
        )
    })
}

/// What the verdict is worth, and what cut it short.
fn explanation(compilation: &Compilation, checked: &Checked) -> String {
    let mut text = verdict::explain(&checked.report.verdict, Scope::default(), compilation.sources());
    if let (Verdict::Holds(_), Some(reason)) = (&checked.report.verdict, &checked.report.stopped) {
        text.push_str("; ");
        text.push_str(&reason.to_string());
    }
    if let Some(note) = foreign::note(compilation, &checked.report.verdict) {
        text.push_str("; ");
        text.push_str(&note);
    }
    text
}
