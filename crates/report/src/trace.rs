//! A run as a table of steps for people: who, which event, with what, to what effect.

use std::fmt::Write as _;

use allways_base::Sources;
use allways_run::{Counterexample, Entry, TraceStep};

/// How many of the last steps are shown unless all are asked for.
pub const LAST_STEPS: usize = 25;

/// Payloads longer than this are cut in the table; files have them whole.
const MAX_PAYLOAD: usize = 60;

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

/// One row for each thing that a reader wants to know; entries that only repeat others are left out.
fn rows_of(number: usize, step: &TraceStep, sources: &Sources) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut push = |who: &str, event: &str, effect: String| {
        rows.push(Row { number, who: who.to_owned(), event: event.to_owned(), effect });
    };
    for entry in &step.entries {
        match entry {
            Entry::Create { machine, creator, payload, .. } => match creator {
                Some(creator) => push(creator, "new", format!("creates {machine}{}", with(payload))),
                None => push(machine, "start", "the test begins".to_owned()),
            },
            Entry::Send { machine, target, event, payload, .. } => {
                push(machine, event, format!("to {target}{}", with(payload)));
            }
            Entry::Drop { machine, target, event } => {
                push(machine, event, format!("lost: {target} has halted"))
            }
            Entry::Dequeue { machine, state, event, .. } => {
                push(machine, event, format!("handled in {state}"))
            }
            Entry::Receive { machine, state, event, .. } => {
                push(machine, event, format!("received in {state}"))
            }
            Entry::Wait { machine, events, .. } => {
                push(machine, "", format!("waits for {}", events.join(", ")))
            }
            Entry::Raise { machine, event, payload, .. } => {
                push(machine, event, format!("raised{}", with(payload)))
            }
            Entry::Goto { machine, state, target } => push(machine, "", format!("{state} -> {target}")),
            Entry::Announce { machine, event, payload, .. } => {
                push(machine, event, format!("announced{}", with(payload)));
            }
            Entry::Observe { monitor, state, event, .. } => {
                push(monitor, event, format!("the monitor sees it in {state}"));
            }
            Entry::MonitorEnter { monitor, state, temperature } => {
                let temperature = temperature.map_or(String::new(), |t| format!(" ({t})"));
                push(monitor, "", format!("the monitor enters {state}{temperature}"));
            }
            Entry::Choice { machine, answer, n_answers, .. } => {
                let text = match (n_answers, answer) {
                    (2, 0) => "chooses false".to_owned(),
                    (2, 1) => "chooses true".to_owned(),
                    _ => format!("chooses {answer} of 0..{}", n_answers - 1),
                };
                push(machine, "", text);
            }
            Entry::Print { machine, text, .. } => push(machine, "print", cut(text)),
            Entry::Halt { machine, n_discarded } => {
                let rest = match n_discarded {
                    0 => String::new(),
                    n => format!(", {n} messages in its inbox are lost"),
                };
                push(machine, "halt", format!("halts{rest}"));
            }
            Entry::Fault(violation) => {
                let who = step.machine.as_str();
                push(who, "", format!("!! {}", violation.text(sources)));
            }
            // Entering and leaving a state is told by the transition.
            Entry::Enter { .. } | Entry::Exit { .. } | Entry::MonitorExit { .. } => {}
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

fn with(payload: &Option<String>) -> String {
    payload.as_ref().map_or(String::new(), |payload| format!(" with {}", cut(payload)))
}

fn cut(text: &str) -> String {
    let line: String = text.chars().map(|c| if c == '\n' { ' ' } else { c }).collect();
    if line.chars().count() <= MAX_PAYLOAD {
        return line;
    }
    let mut short: String = line.chars().take(MAX_PAYLOAD - 3).collect();
    short.push_str("...");
    short
}
