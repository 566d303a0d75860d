//! `allways prove`: exhaustive search that ends with a proof or a shortest counterexample.

use std::time::{Duration, Instant};

use allways_driver::auto::{self, Answer, AutoOptions, Engine};
use allways_driver::{Compilation, select};
use allways_explore::Fairness;
use allways_explore::search::almost_sync::{self, AlmostSyncOptions, DestinationChoice, FloodRule, Rules};
use allways_explore::search::{
    self, Covered, Growth, GrowthKind, Order, ProveOptions, ProveReport, Reductions, SearchBounds,
    SeenViolation, StoreKind, VariableBounds, WideChoice,
};
use allways_machine::{Executable, Simplify};
use allways_report::{check as check_report, json, prove as prove_report};
use allways_run::{Guarantee, Limits, StopReason, Verdict};

use super::check::{add_up, coverage_of, finish, handler_text, help_of, junit_case, load, show_default_test};
use super::files;
use super::network;
use super::reductions::{self, reductions};
use crate::args::{DestinationArg, EngineArg, Format, OrderArg, ProveArgs, ProveFairnessArg, StoreArg};
use crate::exit::ExitStatus;
use crate::interrupt::{self, Stop};
use crate::printer;
use crate::progress::ProgressLine;

pub fn prove(args: &ProveArgs) -> ExitStatus {
    let compilation = match load(&args.input, args.format, "prove") {
        Ok(compilation) => compilation,
        Err(status) => return status,
    };
    let Some(program) = &compilation.program else { return ExitStatus::Rejected };
    let tests = if args.all {
        Ok((0..program.tests.len()).collect())
    } else {
        select::select(program, args.testcase.as_deref())
    };
    let tests = match tests {
        Ok(tests) => tests,
        Err(error) => {
            printer::err(&format!("{error}\n"));
            return ExitStatus::Rejected;
        }
    };
    if let Some(problem) = wrong_use(args, tests.len()).or_else(|| reductions::wrong_use(args)) {
        printer::err(&format!("{problem}\n"));
        return ExitStatus::Rejected;
    }
    for note in reductions::notes(args) {
        printer::err(&format!("{note}\n"));
    }
    interrupt::listen();
    let mut options = options(args);
    let network = args.network.options();
    let mut total = ExitStatus::Success;
    let mut reports = Vec::new();
    let mut cases = Vec::new();
    for test in tests {
        let name = program.tests[test].name.clone();
        let executable = match network::executable(program, test, &network) {
            Ok(executable) => executable,
            Err(status) => return status,
        };
        let bounds = args.max_value.iter().map(|(name, most)| (name.as_str(), *most));
        options.bounds.variables = match VariableBounds::named(&executable, bounds) {
            Ok(bounds) => bounds,
            Err(problem) => {
                printer::err(&format!("--max-value: {problem}\n"));
                return ExitStatus::Rejected;
            }
        };
        let progress = ProgressLine::new(&name, args.format == Format::Text);
        let start = Instant::now();
        let stop = Stop::after(args.timeout.map(Duration::from_secs)).or_beyond(options.limits.memory_bytes);
        let mut certificate = None;
        let found = match args.engine {
            EngineArg::Explicit => search::prove(&executable, &options, &progress, &stop)
                .map(|report| Answer { engine: Engine::Explicit, report, flood: None, n_schedules: 0 }),
            EngineArg::Asi => {
                almost_sync::prove(&executable, &almost_sync_options(args, options.limits), &progress, &stop)
                    .map(|found| {
                        certificate = found.certificate;
                        Answer {
                            engine: Engine::AlmostSync,
                            report: found.report,
                            flood: found.flood,
                            n_schedules: 0,
                        }
                    })
            }
            EngineArg::Auto => auto::prove(&executable, &auto_options(args, &options), &progress, &stop),
        };
        progress.finish();
        let answer = match found {
            Ok(answer) => answer,
            Err(error) => {
                printer::err(&format!("internal error in test case `{name}`: {error}\nplease report this\n"));
                return ExitStatus::Internal;
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        if let (Some(file), Some(text)) = (&args.almost_sync.certificate, &certificate) {
            if let Err(error) = std::fs::write(file, text) {
                printer::err(&format!("cannot write {}: {error}\n", file.display()));
                return ExitStatus::Rejected;
            }
            printer::err(&format!("... {} bytes of certificate in {}\n", text.len(), file.display()));
        }
        if args.almost_sync.certificate.is_some() && certificate.is_none() {
            printer::err(&format!("no certificate for `{name}`: there is no proof\n"));
        }
        let leaves_out_liveness = options.fairness.is_none() && auto::has_hot_state(&executable);
        let mut report = report_of(&compilation, &executable, &name, &answer, leaves_out_liveness);
        let found = answer.report;
        if let Verdict::Violated(counterexample) = &found.verdict {
            report.order_note =
                network::prove_in_order(program, test, &network, &options, counterexample, &stop);
        }
        match args.format {
            Format::Json => reports.push(serde_json::to_value(&report).expect("reports are plain data")),
            Format::Text => show(&compilation, &found, &report, args, seconds),
        }
        if let Verdict::Violated(counterexample) = &found.verdict {
            let written = files::write_counterexample(
                &compilation,
                &executable,
                &name,
                counterexample,
                args.outdir.as_deref(),
                args.format,
            );
            if let Err(problem) = written {
                printer::err(&format!("{problem}\n"));
                return ExitStatus::Rejected;
            }
        }
        cases.push(junit_case(&compilation, &name, &found.verdict, seconds));
        total = add_up(total, status_of(&found));
        if interrupt::is_interrupted() {
            break;
        }
    }
    let reports = (args.format == Format::Json).then_some(reports);
    finish(&compilation, args.junit.as_deref(), &cases, reports, total)
}

fn options(args: &ProveArgs) -> ProveOptions {
    let mut options = ProveOptions {
        order: match args.order {
            OrderArg::Breadth => Order::Breadth,
            OrderArg::Depth => Order::Depth,
            OrderArg::Deepening => Order::Deepening,
        },
        store: match args.store {
            StoreArg::Fingerprint => StoreKind::Fingerprint,
            StoreArg::Wide => StoreKind::Wide,
            StoreArg::Exact => StoreKind::Exact,
        },
        fairness: match args.fairness {
            ProveFairnessArg::Random => Some(Fairness::Random),
            ProveFairnessArg::Weak => Some(Fairness::Weak),
            ProveFairnessArg::None => None,
        },
        n_threads: args
            .threads
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        ..ProveOptions::default()
    };
    options.reductions = reductions(args);
    options.bounds.depth = args.max_depth;
    options.bounds.inbox = args.max_inbox;
    options.bounds.occurrences = args.max_occurrences;
    options.max_choices = args.max_choices;
    options.limits.memory_bytes =
        args.memory.map(|gigabytes| (gigabytes * (1u64 << 30) as f64) as u64).or_else(available_memory);
    options
}

/// Options that the engine does not have must not be dropped in silence.
fn wrong_use(args: &ProveArgs, n_tests: usize) -> Option<String> {
    if args.almost_sync.certificate.is_some() && (args.engine != EngineArg::Asi || n_tests > 1) {
        return Some("--certificate is for `--engine asi` and one test case".to_owned());
    }
    if args.engine == EngineArg::Explicit {
        let given = [
            ("--no-sleep-sets", args.almost_sync.no_sleep_sets),
            ("--destination", args.almost_sync.destination != DestinationArg::LeastWaiting),
            ("--flood", args.almost_sync.flood != FloodRule::Auto),
            ("--max-states", args.almost_sync.max_states.is_some()),
        ];
        let (name, _) = given.into_iter().find(|(_, given)| *given)?;
        return Some(format!("{name} is for `--engine asi`"));
    }
    if args.engine != EngineArg::Asi {
        return None;
    }
    if args.store != StoreArg::Fingerprint {
        return Some("--store is for `--engine explicit`: the almost-synchronous engine is exact".to_owned());
    }
    if args.fairness == ProveFairnessArg::Weak {
        return Some("--fairness is for `--engine explicit`: the almost-synchronous engine tells nothing about liveness".to_owned());
    }
    let given = [
        ("--max-depth", args.max_depth.is_some()),
        ("--max-inbox", args.max_inbox.is_some()),
        ("--max-occurrences", args.max_occurrences.is_some()),
        ("--max-choices", args.max_choices.is_some()),
        ("--max-value", !args.max_value.is_empty()),
        ("--order", args.order != OrderArg::Breadth),
    ];
    let (name, _) = given.into_iter().find(|(_, given)| *given)?;
    Some(format!("{name} is for `--engine explicit`: the almost-synchronous engine needs no bounds"))
}

fn almost_sync_options(args: &ProveArgs, limits: Limits) -> AlmostSyncOptions {
    let reductions = reductions(args);
    AlmostSyncOptions {
        choice: match args.almost_sync.destination {
            DestinationArg::LeastWaiting => DestinationChoice::LeastWaiting,
            DestinationArg::Canonical => DestinationChoice::Canonical,
        },
        // The canonical choice is the paper's, and so are the rules that go with it.
        sleep: args.almost_sync.destination == DestinationArg::LeastWaiting
            && !args.almost_sync.no_sleep_sets
            && reductions != Reductions::NONE,
        rules: match args.almost_sync.destination {
            DestinationArg::LeastWaiting => Rules::Lean,
            DestinationArg::Canonical => Rules::Paper,
        },
        flood: args.almost_sync.flood,
        certificate: args.almost_sync.certificate.is_some(),
        max_states: args.almost_sync.max_states,
        simplify: Simplify {
            dead_variables: reductions.dead_variables,
            unread_payloads: reductions.unread_payloads,
            order: reductions.collection_order,
            counters: false,
            choose_counts: true,
            broadcasts: false,
        },
        limits,
        ..AlmostSyncOptions::default()
    }
}

fn auto_options(args: &ProveArgs, options: &ProveOptions) -> AutoOptions {
    // Where something is bounded, or the network is another, the almost-synchronous engine has nothing to say.
    let is_plain = options.bounds == SearchBounds::default()
        && options.max_choices.is_none()
        && !args.network.is_given();
    AutoOptions {
        explicit: options.clone(),
        almost_sync: is_plain.then(|| almost_sync_options(args, options.limits)),
        seed: 0,
    }
}

/// Four fifths of the memory that is free now, where the system tells.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024 / 5 * 4)
}

fn report_of(
    compilation: &Compilation,
    exe: &Executable,
    test: &str,
    answer: &Answer,
    leaves_out_liveness: bool,
) -> prove_report::ProveReport {
    let (found, engine) = (&answer.report, answer.engine.as_str());
    let sources = compilation.sources();
    let statistics = &found.statistics;
    let mut explanation = check_report::explain_verdict(&found.verdict, sources);
    if let (Verdict::Holds(_), Some(reason)) = (&found.verdict, &found.stopped) {
        explanation.push_str("; ");
        explanation.push_str(&check_report::explain_stop(reason));
    }
    if let (Verdict::Holds(_), Engine::Explicit, true) = (&found.verdict, answer.engine, leaves_out_liveness)
    {
        explanation.push_str("; liveness of infinite runs was left out");
    }
    if answer.engine == Engine::AlmostSync && auto::cannot_hang(exe) {
        let all = "nothing waits in `receive`, and no state is hot";
        explanation = explanation.replace(check_report::HANGS_UNTOLD, all);
    }
    let covered = match found.verdict {
        Verdict::Unknown(_) => covered(statistics.covered),
        Verdict::Holds(_) | Verdict::Violated(_) => None,
    };
    if let Some(covered) = &covered {
        explanation.push_str("; ");
        explanation.push_str(&covered.text);
    }
    let seen_violation = found.remarks.seen.map(|seen| seen_violation(seen, found.stopped.as_ref()));
    if let Some(seen) = &seen_violation {
        explanation.push_str("; ");
        explanation.push_str(&seen.text);
    }
    prove_report::ProveReport {
        version: json::VERSION,
        command: "prove",
        project: compilation.project.name.clone(),
        test: test.to_owned(),
        verdict: check_report::verdict_word(&found.verdict),
        explanation,
        covered,
        engine,
        store: match statistics.store {
            StoreKind::Fingerprint => "fingerprint",
            StoreKind::Wide => "wide",
            StoreKind::Exact => "exact",
        },
        network: network::report_of(exe.network.options()),
        order_note: None,
        statistics: prove_report::Statistics {
            n_configurations: statistics.n_configurations,
            n_transitions: statistics.n_transitions,
            depth: statistics.depth,
            n_ends: statistics.n_ends,
            largest_inbox: statistics.largest_inbox,
            n_machines: statistics.n_machines,
            reductions: prove_report::Saved {
                dead_variables: statistics.saved.n_dead,
                unread_payloads: statistics.saved.n_unread,
                collection_order: statistics.saved.n_unordered,
                symmetry: statistics.saved.n_renamed,
                persistent_sets: statistics.saved.n_put_off + statistics.saved.n_folded,
                timer_stutter: statistics.saved.n_stuttering,
            },
        },
        coverage: coverage_of(exe, sources, &found.coverage),
        n_schedules: (answer.engine == Engine::Testing).then_some(answer.n_schedules),
        flood: answer.flood.as_ref().map(|flood| prove_report::Flood {
            sender: flood.sender.clone(),
            receiver: flood.receiver.clone(),
            event: flood.event.clone(),
            n_waiting: flood.n_waiting,
        }),
        dead_handlers: found
            .dead_handlers
            .as_ref()
            .map(|handlers| handlers.iter().map(|handler| handler_text(exe, sources, handler)).collect()),
        violation: match &found.verdict {
            Verdict::Violated(counterexample) => {
                let monitor =
                    counterexample.violation.monitor.map(|monitor| exe.monitor_name(monitor).to_owned());
                let help = help_of(exe, &counterexample.violation);
                Some(check_report::violation(counterexample, monitor, help, 0, engine.to_owned(), sources))
            }
            Verdict::Holds(_) | Verdict::Unknown(_) => None,
        },
        may_be_shorter: found.remarks.may_be_shorter,
        seen_violation,
        growth: found.remarks.growth.iter().map(growth_of).collect(),
        wide_choice: found.remarks.wide_choice.as_ref().map(wide_choice_of),
    }
}

/// A violation that cannot be shown must not be passed over.
fn seen_violation(seen: SeenViolation, stopped: Option<&StopReason>) -> prove_report::SeenViolation {
    let advice = match stopped {
        Some(StopReason::Memory { .. }) => ": give it more memory by `--memory`",
        Some(StopReason::Time(_)) => ": give it more time by `--timeout`",
        _ => "",
    };
    let place = seen.n_steps.map_or_else(String::new, |n| format!(" within {n} steps"));
    let text = format!("a violation exists{place}, but no run that shows it was found{advice}");
    prove_report::SeenViolation { n_steps: seen.n_steps, text }
}

fn growth_of(growth: &Growth) -> prove_report::Growth {
    let Growth { kind, owner, name, size } = growth;
    let name_text = name.as_deref().unwrap_or("?");
    let (kind, text, help) = match kind {
        GrowthKind::Inbox => (
            "inbox",
            format!("the inbox of `{owner}`: {size} messages `{name_text}` wait"),
            "bound inboxes by `--max-inbox N`, or try `--engine asi`, which needs no bound",
        ),
        GrowthKind::Network => (
            "network",
            format!("the network: {size} messages are on their way to `{owner}`"),
            "let senders wait for answers, or bound the steps by `--max-depth N`",
        ),
        GrowthKind::Machines => (
            "machines",
            format!("the number of machines `{owner}`: {size} were made"),
            "make a fixed number of machines, or bound the steps by `--max-depth N`",
        ),
        GrowthKind::Collection => {
            ("collection", format!("`{name_text}` of `{owner}`: {size} elements"), BOUND_COLLECTIONS)
        }
        GrowthKind::Number => {
            ("number", format!("`{name_text}` of `{owner}`: up to {size}"), BOUND_VARIABLES)
        }
        GrowthKind::Payload => (
            "payload",
            format!("the payload of `{owner}`: up to {size}"),
            "bound what the event carries, or the steps by `--max-depth N`",
        ),
    };
    prove_report::Growth { kind, owner: owner.clone(), name: name.clone(), size: *size, text, help }
}

fn wide_choice_of(wide: &WideChoice) -> prove_report::WideChoice {
    let WideChoice { machine, n_answers } = wide;
    let help =
        format!("`{machine}` has a `choose` with {n_answers} answers; `--max-choices N` looks at N of each");
    prove_report::WideChoice { machine: machine.clone(), n_answers: *n_answers, help }
}

const BOUND_VARIABLES: &str =
    "bound a variable by `--max-value MACHINE.VARIABLE=N`, or the steps by `--max-depth N`";
const BOUND_COLLECTIONS: &str =
    "bound a collection by `--max-value 'sizeof(MACHINE.VARIABLE)=N'`, or the steps by `--max-depth N`";

/// What a search that ended early looked at.
fn covered(covered: Covered) -> Option<prove_report::Covered> {
    let (n_steps, text) = match covered {
        Covered::Unsaid => return None,
        Covered::Part => (None, "only a part of the runs was looked at".to_owned()),
        Covered::Steps(n) => {
            let s = if n == 1 { "" } else { "s" };
            (Some(n), format!("every run of up to {n} step{s} was looked at"))
        }
        Covered::Finite => {
            (None, "every run was looked at, but liveness on infinite runs is not decided".to_owned())
        }
        Covered::UpToUnknown => (None, "every run was looked at, up to there".to_owned()),
    };
    Some(prove_report::Covered { n_steps, text })
}

fn show(
    compilation: &Compilation,
    found: &ProveReport,
    report: &prove_report::ProveReport,
    args: &ProveArgs,
    seconds: f64,
) {
    let word = match &found.verdict {
        Verdict::Holds(
            Guarantee::Exhaustive | Guarantee::Probable { .. } | Guarantee::LocalStates { .. },
        ) => "proved",
        _ => report.verdict,
    };
    show_default_test(compilation, &report.test);
    printer::out(&format!("{}: {word}{}\n", report.test, network::words(&args.network.options())));
    match &found.verdict {
        Verdict::Violated(counterexample) => {
            let n_last = if args.full_trace { None } else { Some(allways_report::trace::LAST_STEPS) };
            let text = check_report::render_counterexample(
                counterexample,
                report.violation.as_ref().and_then(|violation| violation.help.clone()),
                compilation.sources(),
                n_last,
                true,
            );
            printer::out(&format!("\n{text}\n"));
            if let Some(note) = &report.order_note {
                printer::out(&format!("{note}\n"));
            }
        }
        Verdict::Holds(_) | Verdict::Unknown(_) => {
            printer::out(&format!("{}\n", report.explanation));
            printer::out(&prove_report::render_growth(&report.growth));
            printer::out(&prove_report::render_wide_choice(report.wide_choice.as_ref()));
        }
    }
    printer::out(&prove_report::render_statistics(report));
    // These depend on the number of threads and on the clock.
    let statistics = &found.statistics;
    // In a small store most of the room is free, and a figure for each would say nothing.
    let each = match statistics.n_configurations {
        0..10_000 => String::new(),
        _ => format!(", {:.1} bytes each", statistics.bytes_per_configuration),
    };
    printer::err(&format!(
        "... {:.0} configurations/s{each}, {} MB in all, memo hit rate {:.2} %\n... Elapsed {seconds:.2} sec\n",
        statistics.n_configurations as f64 / seconds.max(1e-3),
        statistics.peak_bytes >> 20,
        statistics.hit_rate() * 100.0
    ));
}

fn status_of(found: &ProveReport) -> ExitStatus {
    match (&found.verdict, &found.stopped) {
        (Verdict::Violated(_), _) => ExitStatus::Violated,
        (_, Some(StopReason::Interrupted)) | (Verdict::Unknown(StopReason::Interrupted), _) => {
            ExitStatus::Interrupted
        }
        (Verdict::Unknown(_), _) => ExitStatus::Inconclusive,
        (Verdict::Holds(_), _) => ExitStatus::Success,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_that_cannot_be_shown_is_told_with_advice() {
        let memory = StopReason::Memory { bytes: 1 << 30 };
        let told = seen_violation(SeenViolation { n_steps: Some(7) }, Some(&memory));
        assert_eq!(told.n_steps, Some(7));
        assert_eq!(
            told.text,
            "a violation exists within 7 steps, but no run that shows it was found: give it more memory by `--memory`"
        );
        let told = seen_violation(SeenViolation { n_steps: None }, Some(&StopReason::Interrupted));
        assert_eq!(told.text, "a violation exists, but no run that shows it was found");
    }
}
