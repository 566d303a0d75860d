//! Lassos: an infinite run as a cycle for people, as JSON for scripts, and as a diagram.

use std::fmt::Write as _;

use allways_run::{Dispatch, Lasso, Message, Sent, SentFate};
use serde::Serialize;

use crate::check::Step;
use crate::graph::{Edge, Graph, Node, NodeKind};
use crate::json::Head;
use crate::{boogie, json};

/// Whether every run of an asynchronous Boogie program ends.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DivergenceReport {
    #[serde(flatten)]
    pub head: Head,
    /// `quiesces`, `diverges`, `no-divergence-that-repeats`, `no-divergence-within-bounds` or `unknown`.
    pub verdict: &'static str,
    pub is_proof: bool,
    /// What the verdict is worth, or why there is none.
    pub explanation: String,
    /// Only fair runs count.
    pub fair: bool,
    /// Bounds within which there is no lasso, if that is the answer.
    pub covered: Option<Vec<CoveredReport>>,
    pub divergence: Option<FoundReport>,
    pub statistics: boogie::Statistics,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CoveredReport {
    pub rounds: u32,
    pub recursion: u32,
    /// Whether longer causal chains were cut off.
    pub is_bounded: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundReport {
    pub rounds: u32,
    pub recursion: u32,
    pub assumptions_left_to_solver: usize,
    pub lasso: LassoReport,
    /// Steps of the stem and of one turn of the loop: a statement each.
    pub n_stem_steps: usize,
    pub n_loop_steps: usize,
    pub steps: Vec<Step>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LassoReport {
    pub stem: Vec<DispatchReport>,
    #[serde(rename = "loop")]
    pub cycle: Vec<DispatchReport>,
    /// How much marked numbers grow per turn.
    pub shift: i128,
    pub is_fair: bool,
    /// Messages that are never handled although none like them is.
    pub starved: Vec<String>,
    /// Messages that every turn adds and none handles.
    pub growing: Vec<GrowingReport>,
    /// Which handler sends to which round the loop.
    pub feeds: Vec<FeedReport>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DispatchReport {
    /// Counted from zero through stem and loop.
    pub number: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver: Option<String>,
    #[serde(flatten)]
    pub message: MessageReport,
    /// The number of the dispatch that sent it.
    pub cause: Option<usize>,
    pub changes: Vec<ChangeReport>,
    pub sent: Vec<SentReport>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageReport {
    pub name: String,
    pub arguments: Vec<ArgumentReport>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArgumentReport {
    pub name: String,
    pub value: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeReport {
    pub name: String,
    pub before: String,
    pub after: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SentReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    #[serde(flatten)]
    pub message: MessageReport,
    /// `dispatched`, `next-turn` or `piles-up`.
    pub fate: &'static str,
    /// The dispatch that handles it.
    pub dispatch: Option<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GrowingReport {
    pub message: String,
    pub per_turn: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FeedReport {
    pub from: String,
    pub to: String,
}

/// The lasso for scripts.
pub fn report(lasso: &Lasso) -> LassoReport {
    let all: Vec<DispatchReport> = lasso.dispatches().enumerate().map(|(n, d)| dispatch(n, d)).collect();
    let mut stem = all;
    let cycle = stem.split_off(lasso.stem.len());
    LassoReport {
        stem,
        cycle,
        shift: lasso.shift,
        is_fair: lasso.starved.is_empty(),
        starved: lasso.starved.iter().map(Message::to_string).collect(),
        growing: lasso
            .growing()
            .into_iter()
            .map(|(message, per_turn)| GrowingReport { message: message.to_string(), per_turn })
            .collect(),
        feeds: lasso.feeds().into_iter().map(|(from, to)| FeedReport { from, to }).collect(),
    }
}

fn message(message: &Message) -> MessageReport {
    let argument =
        |(name, value): &(String, String)| ArgumentReport { name: name.clone(), value: value.clone() };
    MessageReport { name: message.name.clone(), arguments: message.arguments.iter().map(argument).collect() }
}

fn dispatch(number: usize, dispatch: &Dispatch) -> DispatchReport {
    let sent = |sent: &Sent| SentReport {
        target: sent.target.clone(),
        message: message(&sent.message),
        fate: match sent.fate {
            SentFate::Dispatched(_) => "dispatched",
            SentFate::NextTurn => "next-turn",
            SentFate::PilesUp => "piles-up",
        },
        dispatch: match sent.fate {
            SentFate::Dispatched(number) => Some(number),
            SentFate::NextTurn | SentFate::PilesUp => None,
        },
    };
    DispatchReport {
        number,
        receiver: dispatch.receiver.clone(),
        message: message(&dispatch.message),
        cause: dispatch.cause,
        changes: dispatch
            .changes
            .iter()
            .map(|c| ChangeReport { name: c.name.clone(), before: c.before.clone(), after: c.after.clone() })
            .collect(),
        sent: dispatch.sent.iter().map(sent).collect(),
    }
}

/// The lasso for people: stem, loop, and what keeps it going.
pub fn render(lasso: &Lasso) -> String {
    let mut out = String::new();
    let n_stem = lasso.stem.len();
    out.push_str("stem:\n");
    for (number, dispatch) in lasso.stem.iter().enumerate() {
        render_dispatch(&mut out, lasso, number, dispatch);
    }
    out.push_str("loop, repeated for ever:\n");
    for (number, dispatch) in lasso.cycle.iter().enumerate() {
        render_dispatch(&mut out, lasso, n_stem + number, dispatch);
    }
    out.push('\n');
    let feeds: Vec<String> = lasso.feeds().iter().map(|(from, to)| format!("{from} -> {to}")).collect();
    let _ = writeln!(out, "messages that keep the loop going: {}", feeds.join(", "));
    let _ = match lasso.shift {
        0 => writeln!(out, "each iteration ends in the state in which it began"),
        n => writeln!(
            out,
            "each iteration increases every number marked `{{:shift}}` by {n} and changes nothing else"
        ),
    };
    for (message, per_turn) in lasso.growing() {
        let _ = writeln!(out, "piles up: {message}, {per_turn} per iteration");
    }
    if lasso.starved.is_empty() {
        out.push_str("fair: no message is ignored for ever\n");
    } else {
        let starved: Vec<String> = lasso.starved.iter().map(Message::to_string).collect();
        let _ = writeln!(out, "unfair: ignores {} for ever; --fair rules such loops out", starved.join(", "));
    }
    out
}

fn render_dispatch(out: &mut String, lasso: &Lasso, number: usize, dispatch: &Dispatch) {
    let receiver = dispatch.receiver.as_ref().map_or(String::new(), |receiver| format!("{receiver}: "));
    let _ = write!(out, "  {:>3}  {receiver}{}", number + 1, dispatch.message);
    if let Some(cause) = dispatch.cause
        && cause + 1 != number
    {
        let _ = write!(out, ", sent by {}", cause + 1);
    }
    out.push('\n');
    for change in &dispatch.changes {
        let _ = writeln!(out, "         {}: {} -> {}", change.name, change.before, change.after);
    }
    for sent in &dispatch.sent {
        let fate = match sent.fate {
            SentFate::Dispatched(to) if to >= lasso.stem.len() && number < lasso.stem.len() => {
                format!("pending when the loop starts, handled by {}", to + 1)
            }
            SentFate::Dispatched(to) => format!("handled by {}", to + 1),
            SentFate::NextTurn => "handled in the next iteration".to_owned(),
            SentFate::PilesUp => "never handled".to_owned(),
        };
        let target = sent.target.as_ref().map_or(String::new(), |target| format!(" to {target}"));
        let _ = writeln!(out, "         sends {}{target}: {fate}", sent.message);
    }
}

/// The lasso as a picture: dispatches, and the messages by which they cause each other.
pub fn diagram(program: &str, lasso: &Lasso) -> Graph {
    let n_stem = lasso.stem.len();
    let mut nodes = Vec::new();
    let mut edges = Vec::new();
    for (number, dispatch) in lasso.dispatches().enumerate() {
        let receiver = dispatch.receiver.as_ref().map_or(String::new(), |receiver| format!("{receiver}: "));
        let mut lines = vec![format!("{}  {receiver}{}", number + 1, dispatch.message)];
        lines.extend(dispatch.changes.iter().map(|c| format!("{}: {} -> {}", c.name, c.before, c.after)));
        let piles = dispatch.sent.iter().filter(|sent| sent.fate == SentFate::PilesUp);
        lines.extend(piles.map(|sent| format!("piles up: {}", sent.message)));
        let kind = match number {
            0 => NodeKind::Start,
            _ if number < n_stem => NodeKind::Plain,
            _ => NodeKind::Hot,
        };
        nodes.push(Node { lines, kind, place: None });
        for sent in &dispatch.sent {
            let to = match sent.fate {
                SentFate::Dispatched(to) => Some((to, Vec::new())),
                SentFate::NextTurn => {
                    next_turn(lasso, &sent.message).map(|to| (to, vec!["next iteration".to_owned()]))
                }
                SentFate::PilesUp => None,
            };
            edges.extend(to.map(|(to, labels)| Edge { from: number, to, labels }));
        }
    }
    let (version, project, test) = (json::VERSION, program.to_owned(), "lasso".to_owned());
    Graph { version, command: "quiesce", project, test, nodes, edges }
}

/// The dispatch of the loop that handles a message of the turn before: one that the stem has caused.
fn next_turn(lasso: &Lasso, message: &Message) -> Option<usize> {
    let n_stem = lasso.stem.len();
    let is_start = |dispatch: &Dispatch| dispatch.cause.is_none_or(|cause| cause < n_stem);
    let is_it = |dispatch: &Dispatch| {
        is_start(dispatch)
            && dispatch.message.name == message.name
            && (lasso.shift != 0 || dispatch.message == *message)
    };
    lasso.cycle.iter().position(is_it).map(|at| n_stem + at)
}
