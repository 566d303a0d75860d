//! From the answer of an engine to its report.

use allways_driver::Compilation;
use allways_driver::engine::{Answer, Question};
use allways_explore::search::{
    Covered, Growth, GrowthKind, ProveStatistics, SeenViolation, StoreKind, WideChoice,
};
use allways_explore::symbolic::{Count, SymbolicFigures};
use allways_report::json::Head;
use allways_report::verdict::{self, Scope, VerdictReport};
use allways_report::{check as check_report, prove as prove_report};
use allways_run::{StopReason, Verdict};

use super::tested::{coverage_of, handler_text, help_of, testing_statistics};
use super::{foreign, network};

/// What an answer leaves out of what could be asked about a program, by name.
pub fn unchecked(question: &Question, answer: &Answer) -> Vec<&'static str> {
    let leaves_out_liveness = question.fairness.is_none() && question.has_hot_state();
    let names = [
        ("deadlock", answer.unchecked.deadlock),
        ("liveness", answer.unchecked.liveness || leaves_out_liveness),
    ];
    names.into_iter().filter(|(_, is_unchecked)| *is_unchecked).map(|(name, _)| name).collect()
}

/// The report on one test.
pub fn report_of(
    compilation: &Compilation,
    question: &Question,
    test: &str,
    answer: &Answer,
    scope: Scope<'_>,
) -> prove_report::ProveReport {
    let (found, engine, exe) = (answer, answer.engine, &question.exe);
    let sources = compilation.sources();
    let mut explanation = verdict::explain(&found.verdict, scope, sources);
    if let (Verdict::Holds(_), Some(reason)) = (&found.verdict, &found.stopped) {
        explanation.push_str("; ");
        explanation.push_str(&reason.to_string());
    }
    let covered = match found.verdict {
        Verdict::Unknown(_) => found.figures.search.and_then(|search| covered(search.covered)),
        Verdict::Holds(_) | Verdict::Violated(_) => None,
    };
    if let Some(covered) = &covered {
        explanation.push_str("; ");
        explanation.push_str(&covered.text);
    }
    let seen_violation = found.remarks.search.seen.map(|seen| seen_violation(seen, found.stopped.as_ref()));
    if let Some(seen) = &seen_violation {
        explanation.push_str("; ");
        explanation.push_str(&seen.text);
    }
    if let Some(note) = foreign::note(compilation, &found.verdict) {
        explanation.push_str("; ");
        explanation.push_str(&note);
    }
    prove_report::ProveReport {
        head: Head::new("prove", &compilation.project.name, test),
        answer: VerdictReport::new(&found.verdict, scope, explanation),
        covered,
        engine,
        store: found
            .figures
            .search
            .filter(|_| found.figures.symbolic.is_none())
            .map(|search| store_name(search.store)),
        symbolic: found.figures.symbolic.as_ref().map(symbolic_of),
        network: network::report_of(exe.network.options()),
        order_note: None,
        statistics: figures_of(answer),
        coverage: found.coverage.as_ref().map(|coverage| coverage_of(exe, sources, coverage)),
        n_schedules: answer.figures.testing.map(|testing| testing.n_schedules),
        flood: answer.remarks.flood.as_ref().map(|flood| prove_report::Flood {
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
        may_be_shorter: found.remarks.search.may_be_shorter,
        seen_violation,
        growth: found.remarks.search.growth.iter().map(growth_of).collect(),
        notes: found.remarks.notes.clone(),
        wide_choice: found.remarks.search.wide_choice.as_ref().map(wide_choice_of),
    }
}

fn symbolic_of(figures: &SymbolicFigures) -> prove_report::Symbolic {
    let counts = figures.configurations.as_ref().zip(figures.terminal.as_ref());
    prove_report::Symbolic {
        configurations: figures.configurations.as_ref().map(Count::digits),
        terminal: figures.terminal.as_ref().map(Count::digits),
        handler_runs: figures.n_handler_runs,
        slots: figures.n_slots,
        events: figures.n_events,
        local_states: figures.n_local_states,
        most_local_states: figures.most_local_states,
        split: figures.n_split,
        stated_invariants: (figures.n_stated > 0).then_some(figures.n_stated),
        invariants: figures.invariants.clone(),
        peak_nodes: figures.peak_nodes,
        set_nodes: figures.set_nodes,
        order: figures.order.clone(),
        short: counts.map(|(configurations, terminal)| (configurations.to_string(), terminal.to_string())),
        shows_order: false,
    }
}

fn store_name(store: StoreKind) -> &'static str {
    match store {
        StoreKind::Fingerprint => "fingerprint",
        StoreKind::Wide => "wide",
        StoreKind::Exact => "exact",
    }
}

fn figures_of(answer: &Answer) -> prove_report::Figures {
    let figures = &answer.figures;
    match (&figures.search, &figures.testing) {
        (Some(search), _) => prove_report::Figures::Search(search_statistics(search)),
        (None, Some(testing)) => prove_report::Figures::Testing(testing_statistics(testing)),
        (None, None) => {
            let more = figures.more.iter().map(|figure| (figure.name, figure.unit, figure.n));
            prove_report::Figures::Other(prove_report::Other(more.collect()))
        }
    }
}

fn search_statistics(statistics: &ProveStatistics) -> prove_report::Statistics {
    let saved = &statistics.saved;
    prove_report::Statistics {
        n_configurations: statistics.n_configurations,
        n_transitions: statistics.n_transitions,
        depth: statistics.depth,
        n_ends: statistics.n_ends,
        largest_inbox: statistics.largest_inbox,
        n_machines: statistics.n_machines,
        reductions: prove_report::Saved {
            dead_variables: saved.n_dead,
            unread_payloads: saved.n_unread,
            collection_order: saved.n_unordered,
            symmetry: saved.n_renamed,
            machine_garbage: saved.n_collected,
            persistent_sets: saved.n_put_off + saved.n_merged,
            timer_stutter: saved.n_stuttering,
            data_independence: saved.n_equivalent,
            counters: saved.n_renumbered,
        },
    }
}

/// A violation that cannot be shown must not be passed over.
fn seen_violation(seen: SeenViolation, stopped: Option<&StopReason>) -> prove_report::SeenViolation {
    let advice = match stopped {
        Some(StopReason::Memory { .. }) => ": raise the memory limit with `--memory`",
        Some(StopReason::Time(_)) => ": raise the time limit with `--timeout`",
        _ => "",
    };
    let place = seen.n_steps.map_or_else(String::new, |n| format!(" within {n} steps"));
    let text = format!("a violation exists{place}, but no run that shows it was found{advice}");
    prove_report::SeenViolation { n_steps: seen.n_steps, text }
}

fn growth_of(growth: &Growth) -> prove_report::Growth {
    let Growth { kind, owner, name, is_of_monitor, size } = growth;
    let name_text = name.as_deref().unwrap_or("?");
    let (kind, text, help) = match kind {
        GrowthKind::Inbox => (
            "inbox",
            format!("the inbox of `{owner}`: {size} messages `{name_text}` wait"),
            "bound inboxes with `--max-inbox N`, or try `--engine asi`, which needs no bound".to_owned(),
        ),
        GrowthKind::Network => (
            "network",
            format!("the network: {size} messages are on their way to `{owner}`"),
            "let senders wait for replies, or limit the length of runs with `--max-depth N`".to_owned(),
        ),
        GrowthKind::Machines => (
            "machines",
            format!("the number of `{owner}` machines: {size} were created"),
            "create a fixed number of machines and reuse them, or limit the length of runs with `--max-depth N`".to_owned(),
        ),
        GrowthKind::Collection => (
            "collection",
            format!("`{name_text}` of `{owner}`: {size} elements"),
            if *is_of_monitor { BOUND_MONITORS.to_owned() } else { bound_collection(owner, name_text) },
        ),
        GrowthKind::Number => (
            "number",
            format!("`{name_text}` of `{owner}`: up to {size}"),
            if *is_of_monitor { BOUND_MONITORS.to_owned() } else { bound_variable(owner, name_text) },
        ),
        GrowthKind::Payload => (
            "payload",
            format!("the payload of `{owner}`: up to {size}"),
            "bound what the event carries, or limit the length of runs with `--max-depth N`".to_owned(),
        ),
    };
    prove_report::Growth { kind, owner: owner.clone(), name: name.clone(), size: *size, text, help }
}

fn wide_choice_of(wide: &WideChoice) -> prove_report::WideChoice {
    let WideChoice { machine, n_answers } = wide;
    let help = format!(
        "`{machine}` has a `choose` with {n_answers} answers; `--max-choices N` explores N answers of each"
    );
    prove_report::WideChoice { machine: machine.clone(), n_answers: *n_answers, help }
}

const BOUND_MONITORS: &str = "variables of monitors cannot be bounded: bound the variable of a machine that drives it, or limit the length of runs with `--max-depth N`";
fn bound_variable(owner: &str, name: &str) -> String {
    format!(
        "bound it, as in `--max-value {owner}.{name}=5`, or limit the length of runs with `--max-depth N`"
    )
}

fn bound_collection(owner: &str, name: &str) -> String {
    format!(
        "bound it, as in `--max-value 'sizeof({owner}.{name})=5'`, or limit the length of runs with `--max-depth N`"
    )
}

/// What a search that ended early explored.
fn covered(covered: Covered) -> Option<prove_report::Covered> {
    let (n_steps, text) = match covered {
        Covered::Unsaid => return None,
        Covered::Part => (None, "only some of the runs were explored".to_owned()),
        Covered::Steps(n) => {
            let s = if n == 1 { "" } else { "s" };
            (Some(n), format!("every run of up to {n} step{s} was explored"))
        }
        Covered::Finite => {
            (None, "every run was explored, but liveness on infinite runs is not decided".to_owned())
        }
        Covered::UpToUnknown => (None, "every run was explored up to that point".to_owned()),
    };
    Some(prove_report::Covered { n_steps, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_that_cannot_be_shown_has_advice() {
        let memory = StopReason::Memory { bytes: 1 << 30 };
        let seen = seen_violation(SeenViolation { n_steps: Some(7) }, Some(&memory));
        assert_eq!(seen.n_steps, Some(7));
        assert_eq!(
            seen.text,
            "a violation exists within 7 steps, but no run that shows it was found: raise the memory limit with `--memory`"
        );
        let seen = seen_violation(SeenViolation { n_steps: None }, Some(&StopReason::Interrupted));
        assert_eq!(seen.text, "a violation exists, but no run that shows it was found");
    }
}
