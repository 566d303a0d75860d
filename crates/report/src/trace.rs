//! A run as a table of steps for people: who, which event, with what, to what effect.

use std::fmt::Write as _;

use allways_base::Sources;
use allways_run::{Counterexample, Entry, TraceStep};

/// How many of the last steps are shown unless all are asked for.
pub const LAST_STEPS: usize = 25;

/// Payloads longer than this are cut in the table; files have them whole.
const MAX_PAYLOAD: usize = 60;
const MAX_EVENT: usize = 28;

/// Renders the steps of a counterexample, the last `n_last` of them (`None` for all).
pub fn render_table(counterexample: &Counterexample, sources: &Sources, n_last: Option<usize>) -> String {
    let steps = &counterexample.trace.steps;
    let first = n_last.map_or(0, |n| steps.len().saturating_sub(n));
    let rows: Vec<Row> =
        steps.iter().enumerate().skip(first).flat_map(|(i, step)| rows_of(i + 1, step, sources)).collect();
    let width = |cell: fn(&Row) -> &str| rows.iter().map(|row| cell(row).chars().count()).max().unwrap_or(0);
    let (who, event) = (width(|row| &row.who).max(7), width(|row| &row.event).max(5));
    let number_width = steps.len().to_string().len().max(4);

    let mut out = String::new();
    let _ = writeln!(out, "  {:>number_width$}  {:<who$}  {:<event$}  effect", "step", "machine", "event");
    if first > 0 {
        let _ = writeln!(out, "  {:>number_width$}  ({first} earlier steps are not shown)", "...");
    }
    let loop_step = counterexample.loop_start.map(|choice| step_of_choice(steps, choice));
    let mut last_number = 0;
    for row in rows {
        let number = if row.number == last_number { String::new() } else { row.number.to_string() };
        if row.number != last_number && loop_step == Some(row.number) {
            let _ = writeln!(out, "  {:>number_width$}  from here on the run repeats for ever:", "");
        }
        last_number = row.number;
        let line =
            format!("  {number:>number_width$}  {:<who$}  {:<event$}  {}", row.who, row.event, row.effect);
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// The step, counted from one, that a choice of the schedule belongs to.
fn step_of_choice(steps: &[TraceStep], choice: usize) -> usize {
    let mut n_before = 0;
    for (i, step) in steps.iter().enumerate() {
        n_before += step.choices.len();
        if choice < n_before {
            return i + 1;
        }
    }
    steps.len() + 1
}

struct Row {
    number: usize,
    who: String,
    event: String,
    effect: String,
}

/// One row for each thing that a reader wants to know; entries that only repeat others are left out or joined.
fn rows_of(number: usize, step: &TraceStep, sources: &Sources) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (i, entry) in step.entries.iter().enumerate() {
        let next = step.entries.get(i + 1);
        let last = i.checked_sub(1).and_then(|i| step.entries.get(i));
        if let Some((who, event, effect)) = cells(entry, last, next, step, sources) {
            rows.push(Row { number, who: who.to_owned(), event: cut(event, MAX_EVENT), effect });
        }
    }
    if rows.is_empty() {
        rows.push(Row {
            number,
            who: step.machine.clone(),
            event: String::new(),
            effect: "goes on".to_owned(),
        });
    }
    rows
}

/// Who, which event, and the effect; `None` for what a neighboring entry tells as well.
fn cells<'a>(
    entry: &'a Entry,
    last: Option<&Entry>,
    next: Option<&Entry>,
    step: &'a TraceStep,
    sources: &Sources,
) -> Option<(&'a str, &'a str, String)> {
    Some(match entry {
        Entry::Create { machine, creator, payload, .. } => match creator {
            Some(creator) => (creator, "new", format!("creates {machine}{}", with(payload))),
            None => (machine, "start", "the test begins".to_owned()),
        },
        Entry::Send { machine, target, event, payload, is_delayed, .. } => {
            let taken = match next {
                Some(Entry::Dequeue { machine: by, state, event: taken, .. })
                    if by == target && taken == event =>
                {
                    format!(", handled in {state}")
                }
                Some(Entry::Receive { machine: by, state, event: taken, .. })
                    if by == target && taken == event =>
                {
                    format!(", received in {state}")
                }
                // Told by the next entry: the message is lost.
                Some(Entry::Drop { target: lost, event: dropped, .. })
                    if lost == target && dropped == event =>
                {
                    return None;
                }
                Some(Entry::Lose { target: lost, event: missing, .. })
                    if lost == target && missing == event =>
                {
                    return None;
                }
                Some(Entry::Duplicate { .. }) => String::new(),
                _ if *is_delayed => ", on its way".to_owned(),
                _ => ", waits in its inbox".to_owned(),
            };
            (machine, event, format!("to {target}{taken}{}", with(payload)))
        }
        Entry::Lose { machine, target, event } => (machine, event, format!("lost on its way to {target}")),
        Entry::Duplicate { machine, target, event } => (machine, event, format!("arrives twice at {target}")),
        Entry::Arrive { machine, source, event, payload } => {
            let taken = match next {
                Some(Entry::Dequeue { machine: by, state, event: taken, .. })
                    if by == machine && taken == event =>
                {
                    format!(", handled in {state}")
                }
                Some(Entry::Receive { machine: by, state, event: taken, .. })
                    if by == machine && taken == event =>
                {
                    format!(", received in {state}")
                }
                Some(Entry::Drop { .. }) => return None,
                _ => ", waits in its inbox".to_owned(),
            };
            (machine, event, format!("arrives from {source}{taken}{}", with(payload)))
        }
        Entry::Crash { machine, state, n_discarded } => {
            (machine, "crash", format!("crashes in {state}{}", discarded(*n_discarded)))
        }
        Entry::Drop { machine, target, event } => (machine, event, format!("lost: {target} has halted")),
        Entry::Dequeue { machine, state, event, payload } => {
            if is_delivery(last, machine, event) {
                return None;
            }
            (machine, event, format!("taken from its inbox in {state}{}", with(payload)))
        }
        Entry::Receive { machine, state, event, payload } => {
            if is_delivery(last, machine, event) {
                return None;
            }
            (machine, event, format!("received from its inbox in {state}{}", with(payload)))
        }
        Entry::Wait { machine, events, .. } => (machine, "", format!("waits for {}", events.join(", "))),
        Entry::Raise { machine, event, payload, .. } => (machine, event, format!("raised{}", with(payload))),
        Entry::Goto { machine, state, target } => {
            let is_monitor = step
                .entries
                .iter()
                .any(|e| matches!(e, Entry::MonitorEnter { monitor, .. } if monitor == machine));
            if is_monitor {
                return None;
            }
            (machine, "", format!("{state} -> {target}"))
        }
        Entry::Announce { machine, event, payload, .. } => {
            (machine, event, format!("announced{}", with(payload)))
        }
        // What a monitor sees matters when it changes its state or breaks.
        Entry::Observe { monitor, state, event, .. } => match next {
            Some(Entry::Fault(_)) => (monitor, event, format!("seen by the monitor in {state}")),
            _ => return None,
        },
        Entry::MonitorEnter { monitor, state, temperature } => {
            let temperature = temperature.map_or(String::new(), |t| format!(" ({t})"));
            (monitor, "", format!("the monitor enters {state}{temperature}"))
        }
        Entry::Choice { machine, answer, n_answers, .. } => {
            let text = match (n_answers, answer) {
                (2, 0) => "chooses false".to_owned(),
                (2, 1) => "chooses true".to_owned(),
                _ => format!("chooses {answer} of 0..{}", n_answers - 1),
            };
            (machine, "", text)
        }
        Entry::Print { machine, text, .. } => (machine, "print", cut(text, MAX_PAYLOAD)),
        Entry::Halt { machine, n_discarded } => {
            (machine, "halt", format!("halts{}", discarded(*n_discarded)))
        }
        Entry::Fault(violation) => {
            let place = violation.span.map_or(String::new(), |span| format!(" at {}", sources.place(span)));
            (&step.machine, "", format!("!! {}{place}", violation.kind.as_str()))
        }
        // Entering and leaving a state is told by the transition.
        Entry::Enter { .. } | Entry::Exit { .. } | Entry::MonitorExit { .. } => return None,
    })
}

/// Whether the entry before is the delivery of this event to this machine.
fn is_delivery(last: Option<&Entry>, machine: &str, event: &str) -> bool {
    match last {
        Some(Entry::Send { target, event: sent, .. }) => target == machine && sent == event,
        Some(Entry::Arrive { machine: target, event: brought, .. }) => target == machine && brought == event,
        _ => false,
    }
}

/// What becomes of an inbox that nobody reads any more.
fn discarded(n: usize) -> String {
    match n {
        0 => String::new(),
        1 => ", one message in its inbox is lost".to_owned(),
        n => format!(", {n} messages in its inbox are lost"),
    }
}

fn with(payload: &Option<String>) -> String {
    payload.as_ref().map_or(String::new(), |payload| format!(": {}", cut(payload, MAX_PAYLOAD)))
}

fn cut(text: &str, limit: usize) -> String {
    let line: String = text.chars().map(|c| if c == '\n' { ' ' } else { c }).collect();
    if line.chars().count() <= limit {
        return line;
    }
    let mut short: String = line.chars().take(limit - 3).collect();
    short.push_str("...");
    short
}
