//! What broke and why: the failing expression with the values of its parts and where they were last written; for a deadlock,
//! which machine waits for what; for an unhandled event, which states would have handled it.

use allways_base::{Code, Diagnostic, Severity, Sources, Span};
use allways_run::{
    Activity, ActorId, ChangeKind, Counterexample, Datum, Edit, FailurePart, PartLabel, PartOrigin, PathStep,
    Trace, TraceState, ViolationKind,
};

use super::layout::phrases;
use super::rows::{Rows, list, shorten};
use super::{Look, shown_steps};
use crate::diagnostics;
use crate::value::{path_text, plain, source_text};

/// Writes of a variable beyond so many are only counted.
const MAX_WRITES: usize = 2;

/// The violation with its line of source, and what explains it.
pub fn explain(
    counterexample: &Counterexample,
    help: Option<String>,
    sources: &Sources,
    look: Look,
) -> String {
    let violation = &counterexample.violation;
    let trace = &counterexample.trace;
    let failure = &trace.failure;
    let message = match violation.message.as_str() {
        // An assertion need not say anything.
        "" => "this does not hold".to_owned(),
        message => plain(message),
    };
    let mut diagnostic = Diagnostic::new(Severity::Error, Code::new(violation.kind.as_str()), message);
    // Of an assertion, the message is the headline already: the statement is shown up to the end of its condition.
    let span = match (violation.span, failure.condition) {
        (Some(whole), Some(condition)) if whole.file == condition.file && whole.end > condition.end => {
            Some(Span { end: condition.end.max(whole.start), ..whole })
        }
        (whole, condition) => whole.or(condition),
    };
    if let Some(span) = span {
        diagnostic = diagnostic.at(span, "");
    }
    if let Some(help) = help {
        diagnostic = diagnostic.help(help);
    }
    let mut out = diagnostics::render_text(&[diagnostic], sources, look.is_styled);
    let (shown, _) = shown_steps(counterexample, look);
    let rows = Rows::new(trace, sources, &shown, look);
    let explainer = Explainer { trace, sources, rows };
    let lines = explainer.lines(violation.kind);
    if !lines.is_empty() {
        while out.ends_with("\n\n") {
            out.pop();
        }
        // As wide as the line numbers are.
        let line = span.map_or(1, |span| sources.file(span.file).line_col(span.end).line);
        let gutter = " ".repeat(line.to_string().len() + 1);
        for line in lines {
            for (i, part) in wrap(&line, look.width.saturating_sub(8)).iter().enumerate() {
                out.push_str(&gutter);
                out.push_str(if i == 0 { "= " } else { "    " });
                out.push_str(part.trim_end());
                out.push('\n');
            }
        }
        out.push('\n');
    }
    out
}

fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in phrases(text) {
        let line = lines.last_mut().expect("there is a line");
        if !line.is_empty() && line.chars().count() + word.trim_end().chars().count() > width {
            lines.push(word.to_owned());
        } else {
            line.push_str(word);
        }
    }
    lines
}

struct Explainer<'a> {
    trace: &'a Trace,
    sources: &'a Sources,
    rows: Rows<'a>,
}

impl Explainer<'_> {
    fn lines(&self, kind: ViolationKind) -> Vec<String> {
        let failure = &self.trace.failure;
        let mut lines = Vec::new();
        let labels: Vec<String> = failure.parts.iter().map(|part| self.label(part)).collect();
        let values: Vec<String> =
            failure.parts.iter().map(|part| shorten(&source_text(&part.value))).collect();
        // Short ones are aligned.
        let widest =
            |texts: &[String]| texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).min(28);
        let (label_width, value_width) = (widest(&labels), widest(&values));
        for ((part, label), value) in failure.parts.iter().zip(&labels).zip(&values) {
            let origin = self.origin(part);
            let line = format!("{label:<label_width$} = {value:<value_width$}  {origin}");
            lines.push(line.trim_end().to_owned());
        }
        match kind {
            ViolationKind::Deadlock => self.deadlock(&mut lines),
            ViolationKind::UnhandledEvent | ViolationKind::MonitorUnhandled => self.unhandled(&mut lines),
            ViolationKind::HotAtEnd | ViolationKind::Liveness(_) => self.hot(&mut lines),
            _ => {}
        }
        lines
    }

    fn label(&self, part: &FailurePart) -> String {
        match &part.label {
            PartLabel::Source(span) => {
                let text = &self.sources.file(span.file).text[span.start as usize..span.end as usize];
                plain(&text.split_whitespace().collect::<Vec<_>>().join(" "))
            }
            PartLabel::Text(text) => plain(text),
        }
    }

    fn origin(&self, part: &FailurePart) -> String {
        let failure = &self.trace.failure;
        match (&part.origin, failure.actor) {
            (PartOrigin::Variable { name, path }, Some(actor)) => self.writes(actor, name, path),
            (PartOrigin::Payload, _) => failure.message.map_or_else(String::new, |id| {
                let message = self.trace.message(id);
                let sender = message.sender.map_or("?", |sender| self.trace.name(sender));
                format!("sent in step {} by {sender}", self.rows.step_of(id))
            }),
            _ => String::new(),
        }
    }

    /// The last writes of a place in a variable.
    fn writes(&self, actor: ActorId, variable: &str, path: &[PathStep]) -> String {
        let mut writes: Vec<String> = Vec::new();
        let mut n_more = 0;
        for (at, step) in self.trace.steps.iter().enumerate().rev() {
            for change in step.changes.iter().rev() {
                let ChangeKind::Variable { name, path: changed, edit } = &change.what else { continue };
                let n = path.len().min(changed.len());
                if change.actor != actor || &**name != variable || path[..n] != changed[..n] {
                    continue;
                }
                if writes.len() == MAX_WRITES {
                    n_more += 1;
                    continue;
                }
                let rest = &path[n..];
                let text = match edit {
                    Edit::Replace { before, after } => {
                        let side = |side: &Option<Datum>| {
                            let part = side.as_ref().and_then(|datum| {
                                rest.iter().try_fold(datum, |datum, step| datum.part(step))
                            });
                            part.map(|datum| shorten(&source_text(datum)))
                        };
                        // Inside of the place that is shown, it is said where.
                        let place = match &changed[n..] {
                            [] => String::new(),
                            inner => format!("{} ", path_text(inner)),
                        };
                        match (side(before), side(after)) {
                            (Some(before), Some(after)) if before == after => continue,
                            (Some(before), Some(after)) => format!("{place}{before} -> {after}"),
                            (None, Some(after)) => format!("{place}set to {after}"),
                            (Some(before), None) => format!("{place}{before} removed"),
                            (None, None) => continue,
                        }
                    }
                    Edit::Splice { .. } => "changed".to_owned(),
                };
                writes.push(format!("{text} in step {}", self.rows.step_of_change(actor, at)));
            }
        }
        if writes.is_empty() {
            return "never written".to_owned();
        }
        writes.reverse();
        if n_more > 0 {
            writes.insert(0, format!("{n_more} earlier"));
        }
        writes.join(", ")
    }

    fn unhandled(&self, lines: &mut Vec<String>) {
        let failure = &self.trace.failure;
        let (Some(actor), Some(id)) = (failure.actor, failure.message) else { return };
        let (name, message) = (self.trace.name(actor), self.trace.message(id));
        let sender = message.sender.map_or("?", |sender| self.trace.name(sender));
        let state = self.final_state();
        let payload =
            message.payload.as_ref().map_or_else(String::new, |payload| format!(" {}", source_text(payload)));
        lines.push(format!(
            "{name} in state {} received {}{payload} from {sender}, sent in step {}",
            state.of(actor).state,
            message.event,
            self.rows.step_of(id)
        ));
        let machine = &self.trace.actor(actor).type_name;
        lines.push(match &failure.handled_in[..] {
            [] => format!("no state of {machine} handles {}", message.event),
            states => format!("{machine} handles {} in state {}", message.event, list(states)),
        });
    }

    fn final_state(&self) -> TraceState {
        let mut state = TraceState::first(self.trace);
        self.trace.steps.iter().for_each(|step| state.apply(step));
        state
    }

    fn deadlock(&self, lines: &mut Vec<String>) {
        let state = self.final_state();
        for waiting in &self.trace.failure.waiting {
            let name = self.trace.name(waiting.actor);
            let place =
                waiting.span.map_or_else(String::new, |span| format!(" ({})", self.sources.place(span)));
            lines.push(format!(
                "{name} in state {} waits for {}{place}",
                waiting.state,
                list(&waiting.events)
            ));
            if waiting.senders.is_empty() {
                lines.push("  no machine of this test ever sends that to it".to_owned());
                continue;
            }
            for sender in self.trace.actor_ids() {
                let actor = self.trace.actor(sender);
                if !waiting.senders.contains(&actor.type_name) || sender == waiting.actor {
                    continue;
                }
                let now = state.of(sender);
                let doing = match now.activity {
                    Activity::Halted => "has halted".to_owned(),
                    Activity::Waiting => format!("waits itself, in state {}", now.state),
                    Activity::Idle | Activity::Running => format!("is idle in state {}", now.state),
                };
                lines.push(format!("  {} could send it, but {doing}", actor.name));
            }
        }
    }

    fn hot(&self, lines: &mut Vec<String>) {
        let Some(actor) = self.trace.failure.actor else { return };
        let name = self.trace.name(actor);
        let state = self.final_state();
        let since = self.trace.steps.iter().rposition(|step| {
            let is_it = |what: &ChangeKind| matches!(what, ChangeKind::State { .. } | ChangeKind::Created);
            step.changes.iter().any(|change| change.actor == actor && is_it(&change.what))
        });
        if let Some(since) = since {
            let step = self.rows.step_of_change(actor, since);
            lines.push(format!("{name} is in state {} since step {step}", state.of(actor).state));
        }
    }
}
