//! A run for people: one block for each step, with what was sent, what it changed, and where in the source.
//!
//! Unless all is asked for, what is shown is chosen by relevance, the causal past of the failure ([`crate::relevance`]); what is
//! left out is counted.

mod explain;
mod fold;
mod layout;
mod rows;

use allways_base::Sources;
use allways_run::{Counterexample, Entry, Trace};

pub use explain::{explain, headline, reasons};
use fold::{Fold, fold};
use layout::{Line, Paint, Painter};
use rows::{Row, Rows};

use crate::relevance::Relevance;

/// Rows beyond so many are left out, the ones farthest from the failure first.
const MAX_STEPS: usize = 60;

/// How a run is shown.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Columns of the terminal.
    pub width: usize,
    /// All steps, and all that happened in each.
    pub is_full: bool,
    /// With colors.
    pub is_styled: bool,
}

impl Look {
    /// For files: as wide as the narrowest usual terminal.
    pub const PLAIN: Look = Look { width: 80, is_full: false, is_styled: false };
}

/// Renders the steps of a counterexample.
pub fn render_steps(counterexample: &Counterexample, sources: &Sources, look: Look) -> String {
    let trace = &counterexample.trace;
    let loop_start = counterexample.loop_start.map(|choice| trace.step_of_choice(choice));
    let Shown { steps: shown, n_far, folds, n_hidden } = shown_steps(counterexample, look);
    let rows = Rows::new(trace, sources, &shown, look);
    let n_hidden = n_hidden - rows.n_merged(&shown);
    let set_up = if look.is_full || n_far > 0 { 0 } else { n_of_set_up(trace, &shown) };

    let mut painter = Painter::new(look, trace.steps.len(), !look.is_full && rows.has_pairs());
    painter.heading();
    if n_far > 0 {
        painter.remark(&format!(
            "{} of the causal past, all before step {}, are not shown",
            steps(n_far),
            shown[0] + 1
        ));
    }
    if set_up > 0 {
        set_up_line(&mut painter, trace, &shown[..set_up]);
    }
    let mut is_in_loop = false;
    for &at in &shown[set_up..] {
        if let Some((_, fold)) = folds.iter().find(|(before, _)| *before == at) {
            fold_line(&mut painter, *fold);
        }
        if loop_start.is_some_and(|start| at >= start) && !is_in_loop {
            is_in_loop = true;
            painter.open_box("from here on the run repeats for ever");
        }
        for row in rows.of(at) {
            painter.row(&row);
        }
    }
    if is_in_loop {
        let back = loop_start.unwrap_or(0) + 1;
        painter.close_box(&format!("and again from step {back}"));
    }
    if n_hidden > 0 || n_far > 0 || !folds.is_empty() {
        painter.blank();
        if n_hidden > 0 {
            let verb = if n_hidden == 1 { "is" } else { "are" };
            painter.remark(&format!(
                "{} without influence on the failure {verb} not shown: --full-trace",
                steps(n_hidden)
            ));
        } else {
            painter.remark("--full-trace shows all steps");
        }
    }
    painter.finish()
}

/// One step in plain text: its headlines and what hangs below them.
pub fn step_lines(trace: &Trace, sources: &Sources, at: usize) -> Vec<String> {
    let look = Look { is_full: true, ..Look::PLAIN };
    let rows = Rows::new(trace, sources, &[at], look);
    let mut lines = Vec::new();
    for row in rows.of(at) {
        lines.push(row.head.text());
        lines.extend(row.details.iter().map(|line| format!("  {}", line.text())));
    }
    lines
}

/// Which steps are shown, and what is not.
struct Shown {
    steps: Vec<usize>,
    /// Relevant steps that are too far from the failure.
    n_far: usize,
    /// Steps without influence on the failure.
    n_hidden: usize,
    /// Rounds that are left out, each with the step that it stands before.
    folds: Vec<(usize, Fold)>,
}

fn shown_steps(counterexample: &Counterexample, look: Look) -> Shown {
    let trace = &counterexample.trace;
    let loop_start = counterexample.loop_start.map(|choice| trace.step_of_choice(choice));
    let relevance = Relevance::of(trace, loop_start);
    let mut shown: Vec<usize> =
        (0..trace.steps.len()).filter(|&at| look.is_full || relevance.is_relevant(at)).collect();
    let n_hidden = trace.steps.len() - shown.len();
    let end = loop_start.unwrap_or(trace.steps.len());
    let mut folds = if look.is_full { Vec::new() } else { fold(trace, &mut shown, end) };
    let mut n_far = 0;
    if !look.is_full && shown.len() > MAX_STEPS {
        n_far = shown.len() - MAX_STEPS;
        shown.drain(..n_far);
        folds.retain(|(before, _)| *before >= shown[0]);
    }
    Shown { steps: shown, n_far, n_hidden, folds }
}

fn steps(n: usize) -> String {
    format!("{n} step{}", if n == 1 { "" } else { "s" })
}

/// How many of the first steps only make machines.
fn n_of_set_up(trace: &Trace, shown: &[usize]) -> usize {
    let is_set_up = |at: &&usize| {
        let entries = &trace.steps[**at].entries;
        !entries.iter().any(|entry| {
            matches!(
                entry,
                Entry::Send { .. }
                    | Entry::Arrive { .. }
                    | Entry::Dequeue { .. }
                    | Entry::Crash { .. }
                    | Entry::Statement { .. }
                    | Entry::Delay { .. }
                    | Entry::Fault(_)
            ) || matches!(entry, Entry::Observe { message, .. } if trace.message(*message).target.is_some())
        })
    };
    let n = shown.iter().take_while(is_set_up).count();
    if n >= 2 { n } else { 0 }
}

fn fold_line(painter: &mut Painter, fold: Fold) {
    let what = match fold.period {
        1 => "the step above".to_owned(),
        n => format!("the {n} steps above"),
    };
    let text = format!("{what} repeated {}, with other values", times(fold.n_rounds));
    let number = format!("{}-{}", fold.first + 1, fold.last + 1);
    painter.row(&Row { number: Some(number), head: Line::of(Paint::Dim, &text), ..Row::default() });
}

fn times(n: usize) -> String {
    if n == 1 { "once".to_owned() } else { format!("{n} times") }
}

fn set_up_line(painter: &mut Painter, trace: &Trace, set_up: &[usize]) {
    let (first, last) = (set_up[0] + 1, set_up[set_up.len() - 1] + 1);
    let mut made: Vec<&str> = Vec::new();
    for entry in set_up.iter().flat_map(|&at| &trace.steps[at].entries) {
        if let Entry::Create { machine, .. } = entry {
            made.push(trace.name(*machine));
        }
    }
    let text = match made.split_first() {
        Some((main, rest)) if !rest.is_empty() => format!("set-up: {main} creates {}", rest.join(", ")),
        _ => "set-up".to_owned(),
    };
    let mut line = Line::default();
    line.push(Paint::Dim, &text);
    painter.row(&Row { number: Some(format!("{first}-{last}")), head: line, ..Row::default() });
}
