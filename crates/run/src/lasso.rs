//! A run for ever: a stem, and a loop that repeats.
//!
//! The unit is one dispatch: a task, or a machine with the message that it handles. Both languages describe their lassos
//! in these words, so that explanations, diagrams and JSON are made once.

/// An infinite run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Lasso {
    /// What happens once, in order.
    pub stem: Vec<Dispatch>,
    /// What happens again and again. [`Dispatch::cause`] and [`SentFate::Dispatched`] number stem and loop through.
    pub cycle: Vec<Dispatch>,
    /// How marked numbers grow per turn; zero where configurations repeat exactly.
    pub shift: i128,
    /// Messages that stay pending for ever although none like them is dispatched in the loop, each once. The run is
    /// fair if there are none.
    pub starved: Vec<Message>,
}

/// One message handled, or one task run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Dispatch {
    /// The machine that handles it; tasks have none.
    pub receiver: Option<String>,
    pub message: Message,
    /// The dispatch that sent it, counted through stem and loop. `None` for what the environment started.
    pub cause: Option<usize>,
    /// What it changed, in the order of declarations.
    pub changes: Vec<Change>,
    pub sent: Vec<Sent>,
}

/// A message or a posted task.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Message {
    /// The event, or the procedure.
    pub name: String,
    /// The payload: names of parameters, where there are any, with values.
    pub arguments: Vec<(String, String)>,
}

/// A variable that has another value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    pub name: String,
    pub before: String,
    pub after: String,
}

/// A message that a dispatch sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sent {
    pub target: Option<String>,
    pub message: Message,
    pub fate: SentFate,
}

/// What becomes of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SentFate {
    /// Handled by this dispatch, counted through stem and loop.
    Dispatched(usize),
    /// Pending at the end of the loop, in place of one that was pending at its start: the next turn handles it.
    NextTurn,
    /// Never handled.
    PilesUp,
}

impl Lasso {
    /// All dispatches, stem first.
    pub fn dispatches(&self) -> impl Iterator<Item = &Dispatch> {
        self.stem.iter().chain(&self.cycle)
    }

    /// Messages that every turn of the loop adds and none handles, each once, with how many a turn adds.
    pub fn growing(&self) -> Vec<(Message, usize)> {
        let mut found: Vec<(Message, usize)> = Vec::new();
        for sent in self.cycle.iter().flat_map(|dispatch| &dispatch.sent) {
            if sent.fate != SentFate::PilesUp {
                continue;
            }
            match found.iter_mut().find(|(message, _)| *message == sent.message) {
                Some((_, n)) => *n += 1,
                None => found.push((sent.message.clone(), 1)),
            }
        }
        found
    }

    /// Which handler sends what to which other round the loop: pairs of names, each once, in order.
    pub fn feeds(&self) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        for dispatch in &self.cycle {
            for sent in &dispatch.sent {
                let pair = (dispatch.shown(), sent.shown());
                if sent.fate != SentFate::PilesUp && !found.contains(&pair) {
                    found.push(pair);
                }
            }
        }
        found
    }
}

fn shown(receiver: Option<&String>, message: &Message) -> String {
    match receiver {
        Some(receiver) => format!("{receiver}.{}", message.name),
        None => message.name.clone(),
    }
}

impl Dispatch {
    /// The handler, as it is shown.
    pub fn shown(&self) -> String {
        shown(self.receiver.as_ref(), &self.message)
    }
}

impl Sent {
    /// The handler of the message, as it is shown.
    pub fn shown(&self) -> String {
        shown(self.target.as_ref(), &self.message)
    }
}

impl std::fmt::Display for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}(", self.name)?;
        for (idx, (_, value)) in self.arguments.iter().enumerate() {
            write!(f, "{}{value}", if idx == 0 { "" } else { ", " })?;
        }
        f.write_str(")")
    }
}
