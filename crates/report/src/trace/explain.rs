//! What broke and why: the failing expression with the values of its parts and where they were last written; for a deadlock,
//! which machine waits for what; for an unhandled event, which states would have handled it.

use allways_base::{Code, Diagnostic, Severity, Sources, Span};
use allways_run::{
    Activity, ActorId, ActorKind, ChangeKind, Counterexample, Datum, Edit, Entry, FailurePart, Fate,
    MessageId, Name, PartLabel, PartOrigin, PathStep, Trace, TraceMessage, TraceState, TraceStep,
    ViolationKind, Waiting,
};

use super::layout::phrases;
use super::rows::{Rows, and_list, list, shorten};
use super::{Look, shown_steps};
use crate::diagnostics;
use crate::text::count;
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
    let headline = headline(counterexample);
    let mut diagnostic = Diagnostic::new(Severity::Error, Code::new(violation.kind.as_str()), headline);
    // Of an assertion, the message is the headline already: the statement is shown up to the end of its condition.
    let span = match (violation.span, failure.condition) {
        (Some(whole), Some(condition)) if whole.file == condition.file && whole.end > condition.end => {
            Some(Span { end: condition.end.max(whole.start), ..whole })
        }
        (whole, condition) => whole.or(condition),
    };
    // Of a `receive`, the first line says which one it is.
    let span = span.map(|span| match violation.kind {
        ViolationKind::Deadlock => first_line(span, sources),
        _ => span,
    });
    if let Some(span) = span {
        diagnostic = diagnostic.at(span, "");
    }
    if let Some(help) = help {
        diagnostic = diagnostic.help(help);
    }
    let mut out = diagnostics::render_text(&[diagnostic], sources, look.is_styled);
    let shown = shown_steps(counterexample, look).steps;
    let rows = Rows::new(trace, sources, &shown, look);
    let explainer = Explainer { trace, sources, rows, loop_start: loop_start(counterexample) };
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

fn first_line(span: Span, sources: &Sources) -> Span {
    let text = &sources.file(span.file).text[span.start as usize..span.end as usize];
    match text.find('\n') {
        Some(at) => Span { end: span.start + text[..at].trim_end().len() as u32, ..span },
        None => span,
    }
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
    /// The step, by index, that a loop goes back to.
    loop_start: Option<usize>,
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
        self.reasons(kind, &mut lines);
        lines
    }

    /// What is not a value: which machine waits for what, which states would have handled an event, what would cool a monitor.
    fn reasons(&self, kind: ViolationKind, lines: &mut Vec<String>) {
        match kind {
            ViolationKind::Deadlock => self.deadlock(lines),
            ViolationKind::UnhandledEvent | ViolationKind::MonitorUnhandled => self.unhandled(lines),
            ViolationKind::HotAtEnd | ViolationKind::Liveness(_) => self.hot(lines),
            _ => {}
        }
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
            (PartOrigin::Variable { name, path }, Some(actor)) => {
                self.writes(self.owner(actor, name), name, path)
            }
            (PartOrigin::Payload, _) => failure.message.map_or_else(String::new, |id| {
                let message = self.trace.message(id);
                let sender = message.sender.map_or("?", |sender| self.trace.name(sender));
                format!("sent in step {} by {sender}", self.rows.number_of_send(id))
            }),
            _ => String::new(),
        }
    }

    /// The actor that a variable belongs to: the failing one, or else the memory that tasks share.
    fn owner(&self, actor: ActorId, variable: &str) -> ActorId {
        let is_own = self.trace.actor(actor).variables.iter().any(|(name, _)| &**name == variable);
        let shared = || self.trace.actor_ids().find(|&id| self.trace.actor(id).kind == ActorKind::Shared);
        if is_own { actor } else { shared().unwrap_or(actor) }
    }

    /// The last writes of a place in a variable.
    fn writes(&self, actor: ActorId, variable: &str, path: &[PathStep]) -> String {
        let mut writes: Vec<String> = Vec::new();
        // Assigning the same value again can be what was lost of another write: the last one is shown, too.
        let mut again: Option<String> = None;
        let mut n_more = 0;
        // Before its first write, a variable of a task holds no value.
        let is_task = matches!(self.trace.actor(actor).kind, ActorKind::Task | ActorKind::Shared);
        for (at, step) in self.trace.steps.iter().enumerate().rev() {
            for change in step.changes.iter().rev() {
                let ChangeKind::Variable { name, path: changed, edit } = &change.what else { continue };
                let n = path.len().min(changed.len());
                if change.actor != actor || &**name != variable || path[..n] != changed[..n] {
                    continue;
                }
                if edit.is_same() && (again.is_some() || !writes.is_empty()) {
                    continue;
                }
                if writes.len() == MAX_WRITES {
                    n_more += 1;
                    continue;
                }
                let rest = &path[n..];
                let text = match edit {
                    Edit::Replace { after, .. }
                        if matches!(changed[n..].last(), Some(PathStep::Element(_))) =>
                    {
                        format!(
                            "{} {}",
                            path_text(&changed[n..]),
                            if after.is_some() { "added" } else { "removed" }
                        )
                    }
                    Edit::Replace { before, after } => {
                        let side = |side: &Option<Datum>| {
                            let part = side.as_ref().and_then(|datum| {
                                rest.iter().try_fold(datum, |datum, step| datum.part(step))
                            });
                            part.filter(|datum| !is_task || **datum != Datum::Null)
                                .map(|datum| shorten(&source_text(datum)))
                        };
                        // Inside of the place that is shown, it is said where.
                        let place = match &changed[n..] {
                            [] => String::new(),
                            inner => format!("{} ", path_text(inner)),
                        };
                        match (side(before), side(after)) {
                            (Some(before), Some(after)) if before == after && !rest.is_empty() => continue,
                            (Some(before), Some(after)) => format!("{place}{before} -> {after}"),
                            (None, Some(after)) => format!("{place}set to {after}"),
                            (Some(before), None) => format!("{place}{before} removed"),
                            (None, None) => continue,
                        }
                    }
                    Edit::Splice { removed, inserted, .. } => match (removed.len(), inserted.len()) {
                        (0, 1) => "one inserted".to_owned(),
                        (0, n) => format!("{n} inserted"),
                        (1, 0) => "one removed".to_owned(),
                        (n, 0) => format!("{n} removed"),
                        _ => "changed".to_owned(),
                    },
                };
                let text = format!("{text} in step {}", self.rows.number_of_change(actor, at));
                if edit.is_same() {
                    again = Some(text);
                } else {
                    writes.push(text);
                }
            }
        }
        writes.reverse();
        writes.extend(again);
        if writes.is_empty() {
            return "never changed".to_owned();
        }
        if n_more > 0 {
            writes.insert(0, count(n_more, "earlier write"));
        }
        writes.join(", ")
    }

    fn unhandled(&self, lines: &mut Vec<String>) {
        let failure = &self.trace.failure;
        let (Some(actor), Some(id)) = (failure.actor, failure.message) else { return };
        let (name, message) = (self.trace.name(actor), self.trace.message(id));
        let sender = message.sender.map_or("?", |sender| self.trace.name(sender));
        let state = self.final_state();
        let control = &state.of(actor).state;
        let payload = message
            .payload
            .as_ref()
            .map_or_else(String::new, |payload| format!(" (payload {})", shorten(&source_text(payload))));
        lines.push(format!(
            "{name} in state {control} received {}{payload} from {sender}, sent in step {}",
            message.event,
            self.rows.number_of_send(id)
        ));
        if let Some(since) = self.since(actor)
            && !self.is_created(actor, since)
        {
            let step = self.rows.number_of_change(actor, since);
            lines.push(format!("{name} has been in state {control} since step {step}"));
        }
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
            let kept = self.inbox(&state, waiting.actor);
            if !kept.is_empty() {
                lines.push(format!("  this `receive` does not take what is in its inbox: {kept}"));
            }
            if let Some(line) = self.lost(waiting) {
                lines.push(format!("  {line}"));
            }
            let events = list(&waiting.events);
            if waiting.senders.is_empty() {
                lines.push(match &waiting.elsewhere[..] {
                    [] => format!("  no machine of this test sends {events}"),
                    [other] => format!("  {other} sends {events}, but never to {name}"),
                    others => format!("  {} send {events}, but never to {name}", and_list(others)),
                });
                continue;
            }
            for kind in &waiting.senders {
                let is_one = |sender: &ActorId| self.trace.actor(*sender).type_name == *kind;
                let senders: Vec<ActorId> = self.trace.actor_ids().filter(is_one).collect();
                if senders.is_empty() {
                    lines.push(format!("  {kind} could send {events}, but this run creates no {kind}"));
                }
                for sender in senders.into_iter().filter(|sender| *sender != waiting.actor) {
                    let other = self.trace.name(sender);
                    lines.push(format!("  {other} could send it, but {}", self.doing(&state, sender)));
                }
            }
        }
    }

    /// Why a machine does not step.
    fn doing(&self, state: &TraceState, machine: ActorId) -> String {
        let now = state.of(machine);
        match now.activity {
            Activity::Halted => "has halted".to_owned(),
            Activity::Waiting => match self.trace.failure.waiting.iter().find(|other| other.actor == machine)
            {
                Some(other) => format!("is itself waiting for {}", list(&other.events)),
                None => format!("is itself waiting, in state {}", now.state),
            },
            Activity::Idle | Activity::Running => match self.deferred(state, machine) {
                kept if kept.is_empty() => format!("is idle in {}, its inbox empty", now.state),
                kept => format!("in {} it defers {kept}", now.state),
            },
        }
    }

    /// The last message that a machine waits for, was sent, and did not reach its `receive`.
    fn lost(&self, waiting: &Waiting) -> Option<String> {
        let is_it = |message: &TraceMessage| {
            message.target == Some(waiting.actor)
                && waiting.events.contains(&message.event)
                && matches!(message.fate, Fate::Lost | Fate::Ignored)
        };
        let at = self.trace.messages.iter().rposition(is_it)?;
        let message = &self.trace.messages[at];
        let sender = message.sender.map_or("?", |sender| self.trace.name(sender));
        let what = match message.fate {
            Fate::Lost => "the network lost it",
            _ => "it was ignored",
        };
        let step = self.rows.number_of_send(MessageId::from_u32(at as u32));
        Some(format!("{sender} sent {} in step {step}, and {what}", message.event))
    }

    /// The events that wait in an inbox, each once.
    fn inbox(&self, state: &TraceState, machine: ActorId) -> String {
        let mut events: Vec<&str> = Vec::new();
        for message in &state.of(machine).inbox {
            let event = &*self.trace.message(*message).event;
            if !events.contains(&event) {
                events.push(event);
            }
        }
        events.join(", ")
    }

    /// What waits in an inbox, with its senders: a machine that waits for an answer may find its own request there.
    fn deferred(&self, state: &TraceState, machine: ActorId) -> String {
        const MAX_SHOWN: usize = 4;
        let mut kept: Vec<String> = Vec::new();
        for message in &state.of(machine).inbox {
            let message = self.trace.message(*message);
            let text = match message.sender {
                Some(sender) => format!("{} from {}", message.event, self.trace.name(sender)),
                None => message.event.to_string(),
            };
            if !kept.contains(&text) {
                kept.push(text);
            }
        }
        if kept.len() > MAX_SHOWN {
            let n_left_out = kept.len() - MAX_SHOWN;
            kept.truncate(MAX_SHOWN);
            kept.push(format!("{n_left_out} more"));
        }
        kept.join(", ")
    }

    /// The last step that changed the control state of an actor, or made it.
    fn since(&self, actor: ActorId) -> Option<usize> {
        let is_it = |what: &ChangeKind| matches!(what, ChangeKind::State { .. } | ChangeKind::Created);
        let changes =
            |step: &TraceStep| step.changes.iter().any(|change| change.actor == actor && is_it(&change.what));
        self.trace.steps.iter().rposition(changes)
    }

    fn is_created(&self, actor: ActorId, at: usize) -> bool {
        let is_it = |what: &ChangeKind| matches!(what, ChangeKind::Created);
        self.trace.steps[at].changes.iter().any(|change| change.actor == actor && is_it(&change.what))
    }

    fn hot(&self, lines: &mut Vec<String>) {
        let Some(actor) = self.trace.failure.actor else { return };
        let name = self.trace.name(actor);
        let state = self.final_state();
        let Some(since) = self.since(actor) else { return };
        let step = self.rows.number_of_change(actor, since);
        let control = &state.of(actor).state;
        lines.push(format!("{name} has been in state {control} since step {step}"));
        // In a loop that changes its state, what it waits for changes too.
        if self.loop_start.is_some_and(|start| since >= start) {
            return;
        }
        let reactions = self.trace.actor(actor).reactions.iter().find(|(name, _)| name == control);
        let Some((_, awaited)) = reactions else { return };
        let began = self.loop_start.unwrap_or(since + 1);
        let is_seen = |event: &Name| {
            let entries = self.trace.steps[began..].iter().flat_map(|step| &step.entries);
            entries.into_iter().any(|entry| {
                matches!(entry, Entry::Observe { monitor, message, .. }
                    if *monitor == actor && self.trace.message(*message).event == *event)
            })
        };
        let (seen, missing): (Vec<Name>, Vec<Name>) = awaited.iter().cloned().partition(is_seen);
        let when = if self.loop_start.is_some() { "in the loop" } else { "after that" };
        lines.push(match (&seen[..], &missing[..]) {
            ([], []) => format!("{control} handles no event, so that nothing can cool it"),
            ([], [event]) => format!("{control} handles {event}, which does not occur {when}"),
            ([], missing) => format!("{control} handles {}, and none of them occurs {when}", list(missing)),
            (seen, []) => format!("{} {when} without cooling it", occur(seen)),
            (seen, missing) => {
                format!("{} {when} without cooling it; no {} occurs", occur(seen), list(missing))
            }
        });
    }
}

/// `eAsk occurs`, `eAsk and eAnswer occur`
fn occur(names: &[Name]) -> String {
    format!("{} {}", and_list(names), if names.len() == 1 { "occurs" } else { "occur" })
}

/// The reasons in plain text, with the numbers of steps as in the trace.
pub fn reasons(counterexample: &Counterexample, sources: &Sources) -> Vec<String> {
    let trace = &counterexample.trace;
    let rows = Rows::new(trace, sources, &[], Look::PLAIN);
    let explainer = Explainer { trace, sources, rows, loop_start: loop_start(counterexample) };
    let mut lines = Vec::new();
    explainer.reasons(counterexample.violation.kind, &mut lines);
    lines
}

/// What broke, as a headline for people. That of a deadlock in P's words is for logs.
pub fn headline(counterexample: &Counterexample) -> String {
    let (violation, trace) = (&counterexample.violation, &counterexample.trace);
    match (violation.kind, &trace.failure.waiting[..]) {
        (ViolationKind::Deadlock, [one]) => {
            format!("{} waits, and no machine can step", trace.name(one.actor))
        }
        (ViolationKind::Deadlock, [some @ .., last]) if !some.is_empty() => {
            let names: Vec<&str> = some.iter().take(3).map(|one| trace.name(one.actor)).collect();
            let more = some.len() - names.len();
            let last =
                if more > 0 { format!("{} more", more + 1) } else { trace.name(last.actor).to_owned() };
            format!("{} and {last} wait, and no machine can step", names.join(", "))
        }
        // An assertion need not say anything.
        _ if violation.message.is_empty() => "this does not hold".to_owned(),
        _ => plain(&violation.message),
    }
}

fn loop_start(counterexample: &Counterexample) -> Option<usize> {
    counterexample.loop_start.map(|choice| counterexample.trace.step_of_choice(choice))
}

#[cfg(test)]
mod tests {
    use allways_run::{Choice, InstanceId, Schedule, Trace, Violation};

    use super::*;
    use crate::trace_file::{self, Heading};
    use crate::{annotation, check, itf, p_log};

    /// A limit may cut the replay of a run that was found: the violation is reported, and there is no actor that it could name.
    #[test]
    fn violations_without_a_trace_are_shown_and_written() {
        let sources = Sources::default();
        for &kind in ViolationKind::ALL {
            for loop_start in [None, Some(0)] {
                let violation =
                    Violation { kind, message: "broken".into(), span: None, machine: None, monitor: Some(1) };
                let schedule = Schedule { choices: vec![Choice::Machine(InstanceId::MAIN)] };
                let mut trace = Trace::default();
                trace.fail(&violation);
                let found = Counterexample { violation, schedule, loop_start, trace };
                let text = check::render_counterexample(&found, None, &sources, Look::PLAIN);
                assert!(text.contains(kind.as_str()), "{text}");
                let heading = Heading { project: "p", test: "t", network: None, monitor: Some("M") };
                let mut out = Vec::new();
                trace_file::write(&found, &heading, &sources, &mut out).unwrap();
                itf::write(&found, "t", None, &mut out).unwrap();
                p_log::write_text(&found.trace, "t", "s", &sources, &mut out).unwrap();
                p_log::write_json(&found.trace, &sources, &mut out).unwrap();
                assert!(out.len() > 50);
                annotation::Annotation::of_counterexample("t", &found, &sources);
                check::violation(&found, Some("M".into()), None, 0, "s".into(), &sources);
            }
        }
    }
}
