//! The rows of a step: a message, a creation, a crash, and what came of it.
//!
//! Monitors see a message when its `send` executes, which can be a step before the one that delivers it. A reader wants
//! both in one place: the reaction is shown with the delivery, unless other reactions come between, or the message is
//! never delivered. Then the send is a row of its own, in the step in which the monitors saw it.

use std::collections::{HashMap, HashSet};

use allways_base::{Sources, Span};
use allways_run::trace::Change;
use allways_run::{
    ActorId, ActorKind, Certainty, ChangeKind, Datum, Edit, Entry, Fate, MessageId, Name, PathStep, Trace,
    TraceStep, Violation, ViolationKind,
};

use super::Look;
use super::layout::{Line, Paint};
use crate::relevance::decisive_variables;
use crate::text::count;
use crate::value::{path_text, plain, source_text};

#[derive(Clone, Default, Debug)]
pub(super) struct Row {
    pub number: Option<String>,
    pub is_failure: bool,
    pub head: Line,
    pub place: Option<String>,
    pub details: Vec<Line>,
    /// The actor whose changes need no name in front of them.
    pub owner: Option<ActorId>,
    /// Whether a detail speaks of another one, so that they do.
    pub has_others: bool,
}

pub(super) struct Rows<'a> {
    trace: &'a Trace,
    sources: &'a Sources,
    look: Look,
    /// By step whose monitors react: the step to show that in.
    homes: HashMap<usize, usize>,
    /// The other way round.
    guests: HashMap<usize, usize>,
    /// Variables of which it is shown, too, that they were assigned the value that they had.
    decisive: HashSet<(ActorId, Name)>,
}

impl<'a> Rows<'a> {
    pub fn new(trace: &'a Trace, sources: &'a Sources, shown: &[usize], look: Look) -> Self {
        let decisive = decisive_variables(trace);
        let mut rows = Rows { trace, sources, look, homes: HashMap::new(), guests: HashMap::new(), decisive };
        // Steps in which monitors see something, counted.
        let mut n_seeing = Vec::with_capacity(trace.steps.len() + 1);
        n_seeing.push(0);
        for step in &trace.steps {
            let sees = step.entries.iter().any(|entry| matches!(entry, Entry::Observe { .. }));
            n_seeing.push(n_seeing[n_seeing.len() - 1] + usize::from(sees));
        }
        for (at, step) in trace.steps.iter().enumerate() {
            let Some(message) = only_message(step) else { continue };
            let message = trace.message(message);
            let Some(delivered) = message.delivered.map(|step| step as usize) else { continue };
            let is_shown = shown.binary_search(&delivered).is_ok();
            if delivered > at && is_shown && n_seeing[delivered] == n_seeing[at + 1] {
                rows.homes.insert(at, delivered);
                rows.guests.insert(delivered, at);
            }
        }
        rows
    }

    /// Whether some row stands for two steps.
    pub fn has_pairs(&self) -> bool {
        !self.guests.is_empty()
    }

    /// Steps that are not shown but as part of another, in which the message that monitors saw is delivered.
    pub fn n_merged(&self, shown: &[usize]) -> usize {
        self.guests.values().filter(|from| shown.binary_search(from).is_err()).count()
    }

    /// The step, from one, in which a reader finds a message.
    fn step_of(&self, message: MessageId) -> usize {
        let message = self.trace.message(message);
        let sent = message.sent as usize;
        let home = self.homes.get(&sent).filter(|home| message.delivered == Some(**home as u32));
        home.copied().unwrap_or(sent) + 1
    }

    /// The number, from one, by which texts name the step in which a message was sent. A row of two steps has the numbers of both, so it is that of
    /// the send, as on pages; but a full trace has a row for each, and shows the message in one of them.
    pub fn number_of_send(&self, message: MessageId) -> usize {
        if self.look.is_full { self.step_of(message) } else { self.trace.message(message).sent as usize + 1 }
    }

    /// The same of what an actor did in a step.
    pub fn number_of_change(&self, actor: ActorId, at: usize) -> usize {
        match self.trace.actor(actor).kind {
            ActorKind::Monitor if self.look.is_full => self.homes.get(&at).copied().unwrap_or(at) + 1,
            _ => at + 1,
        }
    }

    fn name(&self, actor: ActorId) -> (Paint, &'a str) {
        (Paint::Actor(actor.as_u32()), self.trace.name(actor))
    }

    fn place(&self, span: Option<Span>) -> Option<String> {
        let span = span?;
        let file = self.sources.file(span.file);
        let name = file.name.rsplit(['/', '\\']).next().unwrap_or(&file.name);
        Some(format!("{name}:{}", file.line_col(span.start).line))
    }

    fn row(&self, head: Line, place: Option<Span>, owner: Option<ActorId>) -> Row {
        Row { head, place: self.place(place), owner, ..Row::default() }
    }

    /// `Client(3) --eWithdraw--> Teller(2)`
    fn arrow(&self, message: MessageId) -> Line {
        let message = self.trace.message(message);
        let mut line = Line::default();
        if let Some(sender) = message.sender {
            let (paint, name) = self.name(sender);
            line.push(paint, name).push(Paint::Plain, " ");
        }
        line.push(Paint::Plain, "--").push(Paint::Event, &message.event).push(Paint::Plain, "--> ");
        match message.target {
            Some(target) => {
                let (paint, name) = self.name(target);
                line.push(paint, name);
            }
            None => {
                line.push(Paint::Dim, "monitors");
            }
        }
        line
    }

    fn acting(&self, actor: ActorId, words: &str) -> Line {
        let (paint, name) = self.name(actor);
        let mut line = Line::of(paint, name);
        line.push(Paint::Plain, words);
        line
    }

    pub fn of(&self, at: usize) -> Vec<Row> {
        let step = &self.trace.steps[at];
        let mut rows: Vec<Row> = Vec::new();
        let mut delivered: Vec<MessageId> = Vec::new();
        let reacts_here = !self.homes.contains_key(&at);
        // Whether the line of the step itself says how the run fails.
        let mut says_failure = false;
        for entry in &step.entries {
            self.entry(at, entry, reacts_here, &mut delivered, &mut rows);
        }
        if rows.is_empty() {
            let fault = step.entries.iter().find_map(|entry| match entry {
                Entry::Fault(violation) => Some(violation),
                _ => None,
            });
            if let (Some(violation), Some(actor)) = (fault, self.trace.failure.actor) {
                let mut head = self.acting(actor, "");
                if let Some(message) = self.trace.failure.message {
                    let (paint, verb) = match is_unhandled(violation) {
                        true => (Paint::Failure, " cannot handle "),
                        false => (Paint::Plain, " handles "),
                    };
                    head.push(paint, verb).push(Paint::Event, &self.trace.message(message).event);
                    says_failure = is_unhandled(violation);
                }
                rows.push(self.row(head, violation.span, Some(actor)));
            } else if let Some(actor) = step.actor.filter(|_| self.look.is_full) {
                let words = match self.homes.get(&at) {
                    Some(home) => format!("  runs on to its send in step {}", home + 1),
                    None => " goes on".to_owned(),
                };
                rows.push(self.row(self.acting(actor, &words), None, Some(actor)));
            }
            if rows.is_empty() {
                return rows;
            }
        }
        let is_monitor = |change: &&Change| self.trace.actor(change.actor).kind == ActorKind::Monitor;
        self.changes(step.changes.iter().filter(|change| !is_monitor(change)), step, &mut rows);
        if reacts_here {
            self.changes(step.changes.iter().filter(is_monitor), step, &mut rows);
        }
        // The failure comes last.
        for entry in &step.entries {
            if let Entry::Fault(violation) = entry {
                let row = rows.last_mut().expect("there is a row");
                row.is_failure = true;
                row.number = Some(self.number(at));
                if says_failure {
                    continue;
                }
                let mut line = Line::default();
                if let Some(actor) = self.trace.failure.actor {
                    line.append(&self.acting(actor, ": "));
                }
                line.push(Paint::Failure, &failure_words(violation));
                row.details.push(line);
            }
        }
        rows[0].number = Some(self.number(at));
        rows
    }

    /// The number of a step, with that of the one in which the monitors saw its message.
    fn number(&self, at: usize) -> String {
        match self.guests.get(&at) {
            Some(&from) if !self.look.is_full && from + 1 == at => format!("{}-{}", from + 1, at + 1),
            Some(&from) if !self.look.is_full => format!("{},{}", from + 1, at + 1),
            _ => (at + 1).to_string(),
        }
    }

    fn payload(&self, message: MessageId, row: &mut Row) {
        if let Some(payload) = &self.trace.message(message).payload {
            row.details.push(payload_line(payload));
        }
    }

    /// Reactions of monitors in an earlier step to the message that is delivered in this one.
    fn guest(&self, at: usize, message: MessageId, row: &mut Row) {
        let Some(&from) = self.guests.get(&at) else { return };
        if self.trace.message(message).sent as usize != from {
            return;
        }
        let step = &self.trace.steps[from];
        let mut rows = vec![std::mem::take(row)];
        let is_monitor = |change: &&Change| self.trace.actor(change.actor).kind == ActorKind::Monitor;
        self.changes(step.changes.iter().filter(is_monitor), step, &mut rows);
        *row = rows.pop().unwrap_or_default();
    }

    fn entry(
        &self,
        at: usize,
        entry: &Entry,
        reacts_here: bool,
        delivered: &mut Vec<MessageId>,
        rows: &mut Vec<Row>,
    ) {
        let trace = self.trace;
        let detail = |rows: &mut Vec<Row>, line: Line| {
            if let Some(row) = rows.last_mut() {
                row.details.push(line);
            }
        };
        // What an actor does belongs to the row about it.
        let doing = |rows: &mut Vec<Row>, actor: ActorId, line: Line| {
            let at =
                rows.iter().rposition(|row| row.owner == Some(actor)).unwrap_or(rows.len().saturating_sub(1));
            if let Some(row) = rows.get_mut(at) {
                row.has_others |= row.owner != Some(actor);
                row.details.push(line);
            }
        };
        match entry {
            Entry::Create { machine, creator: None, span, .. } => {
                rows.push(self.row(self.acting(*machine, " starts the test"), *span, Some(*machine)));
            }
            Entry::Create { machine, creator: Some(creator), payload, span } => {
                let mut head = self.acting(*creator, " creates ");
                let (paint, name) = self.name(*machine);
                head.push(paint, name);
                let mut row = self.row(head, *span, Some(*machine));
                if let Some(payload) = payload {
                    row.details.push(payload_line(payload));
                }
                rows.push(row);
            }
            Entry::Send { message, is_delayed, .. } => {
                delivered.push(*message);
                let sent = trace.message(*message);
                let mut row = self.row(self.arrow(*message), sent.span, sent.target);
                // It was shown when the monitors saw it.
                let was_shown = self.step_of(*message) != at + 1;
                if was_shown {
                    row.details.push(Line::of(
                        Paint::Dim,
                        &format!("sent in step {}", self.number_of_send(*message)),
                    ));
                } else {
                    self.payload(*message, &mut row);
                }
                let is_taken = sent.taken == Some(at as u32);
                let fate = match sent.fate {
                    _ if *is_delayed => "on its way",
                    Fate::Lost | Fate::Dropped | Fate::Ignored => "",
                    _ if is_taken => "",
                    _ => "waits in the inbox",
                };
                if !fate.is_empty() {
                    row.details.push(Line::of(Paint::Dim, fate));
                }
                if !was_shown {
                    self.guest(at, *message, &mut row);
                }
                rows.push(row);
            }
            Entry::Arrive { message } => {
                delivered.push(*message);
                let sent = trace.message(*message);
                let mut row = self.row(self.arrow(*message), None, sent.target);
                row.details.push(Line::of(
                    Paint::Dim,
                    &format!("delivered by the network; sent in step {}", self.number_of_send(*message)),
                ));
                rows.push(row);
            }
            Entry::Lose { .. } => detail(rows, Line::of(Paint::Failure, "the network loses it")),
            Entry::Duplicate { .. } => {
                detail(rows, Line::of(Paint::Failure, "the network delivers it twice"))
            }
            Entry::Drop { message } => {
                let target = trace.message(*message).target.map_or("the target", |target| trace.name(target));
                detail(rows, Line::of(Paint::Dim, &format!("{target} has halted: the message is lost")));
            }
            Entry::Ignore { message } => {
                let message = trace.message(*message);
                let target = message.target.map_or("the target", |target| trace.name(target));
                detail(rows, Line::of(Paint::Dim, &format!("{target} ignores {}", message.event)));
            }
            Entry::Crash { machine, state, n_discarded } => {
                let words = format!(" crashes in {state}{}", discarded(*n_discarded));
                rows.push(self.row(self.acting(*machine, &words), None, Some(*machine)));
            }
            Entry::Dequeue { machine, event, message, .. }
            | Entry::Receive { machine, event, message, .. } => {
                if message.is_some_and(|message| delivered.contains(&message)) {
                    return;
                }
                let words = match message {
                    Some(_) => " takes ",
                    None => " has nothing to take and handles ",
                };
                let mut head = self.acting(*machine, words);
                head.push(Paint::Event, event);
                let mut row = self.row(head, None, Some(*machine));
                if let Some(message) = message {
                    let sender = trace.message(*message).sender.map_or("?", |sender| trace.name(sender));
                    let text =
                        format!("from its inbox; sent in step {} by {sender}", self.number_of_send(*message));
                    row.details.push(Line::of(Paint::Dim, &text));
                }
                rows.push(row);
            }
            Entry::Wait { machine, events, .. } => {
                let words = format!(" waits for {}", list(events));
                doing(rows, *machine, self.acting(*machine, &words));
            }
            Entry::Raise { actor, event, payload, .. } => {
                if reacts_here || trace.actor(*actor).kind != ActorKind::Monitor {
                    let mut line = self.acting(*actor, " raises ");
                    line.push(Paint::Event, event);
                    if let Some(payload) = payload {
                        line.push(Paint::Plain, &format!(" {}", source_text(payload)));
                    }
                    doing(rows, *actor, line);
                }
            }
            Entry::Announce { message, .. } => {
                let announced = trace.message(*message);
                let Some(sender) = announced.sender else { return };
                let mut head = self.acting(sender, " announces ");
                head.push(Paint::Event, &announced.event);
                let mut row = self.row(head, announced.span, None);
                self.payload(*message, &mut row);
                rows.push(row);
            }
            Entry::Observe { message, .. } => {
                let seen = trace.message(*message);
                let is_new = seen.target.is_some() && !delivered.contains(message) && reacts_here;
                if is_new {
                    delivered.push(*message);
                    let mut row = self.row(self.arrow(*message), seen.span, None);
                    self.payload(*message, &mut row);
                    if seen.delivered.is_some() {
                        let step = seen.delivered.map_or(0, |step| step + 1);
                        row.details.push(Line::of(Paint::Dim, &format!("delivered in step {step}")));
                    }
                    rows.push(row);
                }
            }
            Entry::Choice { machine, n_answers, value, .. } => {
                let mut line = self.acting(*machine, " chooses ");
                line.push(Paint::Plain, &source_text(value));
                if *n_answers > 2 || !matches!(value, Datum::Bool(_)) {
                    line.push(Paint::Dim, &format!(" (of {n_answers} answers)"));
                }
                doing(rows, *machine, line);
            }
            Entry::Print { actor, text, .. } => {
                if self.look.is_full {
                    let mut line = self.acting(*actor, " prints ");
                    line.push(Paint::Plain, &format!("\"{}\"", plain(text)));
                    doing(rows, *actor, line);
                }
            }
            Entry::Halt { machine, n_discarded } => {
                let words = format!(" halts{}", discarded(*n_discarded));
                doing(rows, *machine, self.acting(*machine, &words));
            }
            Entry::Statement { actor, round, text, span, .. } => {
                let mut head = self.acting(*actor, ": ");
                head.push(Paint::Plain, &plain(text));
                let mut row = self.row(head, Some(*span), Some(*actor));
                if let Some(round) = round.filter(|&round| round > 0) {
                    row.details.push(Line::of(Paint::Dim, &format!("round {round}")));
                }
                rows.push(row);
            }
            Entry::Delay { actor, n_rounds } => {
                let words = format!(" is delayed by {}", count(u64::from(*n_rounds), "round"));
                rows.push(self.row(self.acting(*actor, &words), None, Some(*actor)));
            }
            Entry::Abandon { actor } => {
                rows.push(self.row(self.acting(*actor, " is never run again"), None, Some(*actor)));
            }
            // Changes and the end of `of` show these.
            Entry::Goto { .. } | Entry::Enter { .. } | Entry::Exit { .. } | Entry::Fault(_) => {}
        }
    }

    /// Monitors that did not fail have no influence on anything.
    fn is_of_interest(&self, actor: ActorId) -> bool {
        let is_monitor = self.trace.actor(actor).kind == ActorKind::Monitor;
        self.look.is_full
            || !is_monitor
            || self.trace.violation.is_none()
            || self.trace.failure.actor == Some(actor)
    }

    /// What changed, actor by actor, in the row that the actor belongs to.
    fn changes<'c>(&self, changes: impl Iterator<Item = &'c Change>, step: &TraceStep, rows: &mut [Row]) {
        let mut by_actor: Vec<(ActorId, Vec<Line>)> = Vec::new();
        for change in changes {
            if !self.is_of_interest(change.actor) {
                continue;
            }
            let Some(text) = self.change(change, step) else { continue };
            match by_actor.iter_mut().find(|(actor, _)| *actor == change.actor) {
                Some((_, texts)) => texts.push(text),
                None => by_actor.push((change.actor, vec![text])),
            }
        }
        for (actor, texts) in by_actor {
            let at = rows.iter().rposition(|row| row.owner == Some(actor));
            let is_owner = at.is_some();
            let is_monitor = self.trace.actor(actor).kind == ActorKind::Monitor;
            let at = at.unwrap_or(if is_monitor { rows.len() - 1 } else { 0 });
            let mut line = Line::default();
            if !is_owner || rows[at].has_others {
                let (paint, name) = self.name(actor);
                line.push(paint, name).push(Paint::Plain, ": ");
                rows[at].has_others = true;
            }
            for (i, text) in texts.iter().enumerate() {
                if i > 0 {
                    line.push(Paint::Plain, ", ");
                }
                line.append(text);
            }
            rows[at].details.push(line);
        }
    }

    fn change(&self, change: &Change, step: &TraceStep) -> Option<Line> {
        let mut line = Line::default();
        match &change.what {
            ChangeKind::State { before, after } => {
                line.push(Paint::Plain, &format!("{before} -> ")).push(Paint::Changed, after);
                let is_it =
                    |entry: &&Entry| matches!(entry, Entry::Enter { actor, .. } if *actor == change.actor);
                if let Some(Entry::Enter { temperature: Some(temperature), .. }) =
                    step.entries.iter().rfind(is_it)
                {
                    line.push(Paint::Plain, &format!(" ({temperature})"));
                }
            }
            ChangeKind::Variable { name, path, edit } => {
                let is_of_task =
                    matches!(self.trace.actor(change.actor).kind, ActorKind::Task | ActorKind::Shared);
                let is_hidden = edit.is_same() && !is_of_task && !self.look.is_full;
                if is_hidden && !self.decisive.contains(&(change.actor, name.clone())) {
                    return None;
                }
                let place = format!("{name}{}", path_text(path));
                let short = |datum: &Datum| shorten(&source_text(datum));
                if let Some((PathStep::Element(element), container)) = path.split_last() {
                    let is_added = matches!(edit, Edit::Replace { after: Some(_), .. });
                    let sign = if is_added { "+=" } else { "-=" };
                    line.push(Paint::Plain, &format!("{name}{} {sign} ", path_text(container)));
                    line.push(Paint::Changed, &short(element));
                    return Some(line);
                }
                match edit {
                    Edit::Replace { before: None, after: Some(after) } => {
                        line.push(Paint::Plain, &format!("{place} = ")).push(Paint::Changed, &short(after));
                    }
                    Edit::Replace { before: Some(before), after: Some(after) } => {
                        let is_initial = matches!(before, Datum::Null);
                        let before =
                            if is_initial { String::new() } else { format!(" {} ->", short(before)) };
                        let sign = if is_initial { " = " } else { " " };
                        line.push(Paint::Plain, &format!("{place}{before}{sign}"));
                        line.push(Paint::Changed, &short(after));
                    }
                    Edit::Replace { after: None, .. } => {
                        line.push(Paint::Plain, &format!("{place} ")).push(Paint::Changed, "removed");
                    }
                    Edit::Splice { at, removed, inserted } => {
                        let texts = |data: &[Datum]| {
                            shorten(&data.iter().map(source_text).collect::<Vec<_>>().join(", "))
                        };
                        // Places are those before the change.
                        let several = |n: usize| match n {
                            1 => format!("{place}[{at}]"),
                            n => format!("{place}[{at}..{}]", at + n),
                        };
                        match (removed.len(), inserted.len()) {
                            (0, n) => {
                                line.push(Paint::Plain, &format!("{} inserted: ", several(n)));
                                line.push(Paint::Changed, &texts(inserted));
                            }
                            (n, 0) => {
                                line.push(Paint::Plain, &format!("{} removed: ", several(n)));
                                line.push(Paint::Changed, &texts(removed));
                            }
                            (n, _) => {
                                let before = texts(removed);
                                line.push(Paint::Plain, &format!("{} {before} -> ", several(n)));
                                line.push(Paint::Changed, &texts(inserted));
                            }
                        }
                    }
                }
            }
            ChangeKind::Created
            | ChangeKind::Activity { .. }
            | ChangeKind::Queued(_)
            | ChangeKind::Unqueued(_) => {
                return None;
            }
        }
        Some(line)
    }
}

/// The message that monitors see in a step, if it is one and is going to be delivered.
fn only_message(step: &TraceStep) -> Option<MessageId> {
    let mut only = None;
    for entry in &step.entries {
        match entry {
            Entry::Announce { .. } | Entry::Fault(_) => return None,
            Entry::Observe { message, .. } => match only {
                Some(other) if other != *message => return None,
                _ => only = Some(*message),
            },
            _ => {}
        }
    }
    only
}

/// A tuple speaks for itself.
fn payload_line(payload: &Datum) -> Line {
    let text = source_text(payload);
    match payload {
        Datum::Named(_) | Datum::Tuple(_) => Line::of(Paint::Plain, &text),
        _ => Line::of(Paint::Plain, &format!("payload: {text}")),
    }
}

/// Values in changes are cut; the trace file has them whole.
const MAX_VALUE: usize = 48;

pub(super) fn shorten(text: &str) -> String {
    if text.chars().count() <= MAX_VALUE {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(MAX_VALUE - 3).collect();
    short.push_str("...");
    short
}

fn discarded(n: usize) -> String {
    match n {
        0 => String::new(),
        1 => ", one message in its inbox is lost".to_owned(),
        n => format!(", {n} messages in its inbox are lost"),
    }
}

pub(super) fn list(names: &[Name]) -> String {
    joined(names, "or")
}

pub(super) fn and_list(names: &[Name]) -> String {
    joined(names, "and")
}

fn joined(names: &[Name], word: &str) -> String {
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} {word} {last}", rest.join(", ")),
        _ => names.join(""),
    }
}

fn is_unhandled(violation: &Violation) -> bool {
    matches!(violation.kind, ViolationKind::UnhandledEvent | ViolationKind::MonitorUnhandled)
}

/// The message of the violation is its headline already; short ones are repeated where there are no other words.
fn failure_words(violation: &Violation) -> String {
    let words = match violation.kind {
        ViolationKind::Assertion => "assertion fails",
        _ if is_unhandled(violation) => "cannot handle the event",
        ViolationKind::Deadlock => "waits, and no machine can step: deadlock",
        ViolationKind::HotAtEnd => "is hot, and the run has ended",
        ViolationKind::Liveness(Certainty::Certain) => "stays hot for ever",
        ViolationKind::Liveness(Certainty::Potential) => "was hot for very long",
        ViolationKind::StepBound(_) => "the step bound is reached",
        ViolationKind::Invariant => "the invariant does not hold here",
        _ if !violation.message.is_empty() && violation.message.chars().count() <= MAX_VALUE => {
            return plain(&violation.message);
        }
        other => other.as_str(),
    };
    words.to_owned()
}
