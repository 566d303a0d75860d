//! The answer to "does every run end?", as data for scripts, as text for people and as a diagram of the loop.

use std::fmt::Write as _;

use serde::Serialize;

use crate::check::{Network, Step};
use crate::graph::{Edge, Graph, Node, NodeKind};
use crate::json::{self, Head};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QuiesceReport {
    #[serde(flatten)]
    pub head: Head,
    /// `quiesces`, `diverges` or `unknown`.
    pub verdict: &'static str,
    /// What the verdict is worth, or why there is none.
    pub explanation: String,
    /// Only fair runs count.
    pub fair: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stimuli: Vec<String>,
    /// Absent for P's own network without faults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Steps of the longest run, if every run ends and this was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_run: Option<u64>,
    /// The kind of violation that some runs end with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<&'static str>,
    pub statistics: Statistics,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<Divergence>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Statistics {
    pub n_configurations: u64,
    /// Absent where sets of configurations were explored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_transitions: Option<u64>,
    pub depth: u64,
}

/// An infinite run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Divergence {
    /// `repetition`, or `growth` if messages pile up.
    pub kind: &'static str,
    pub n_stem_steps: usize,
    pub n_loop_steps: usize,
    /// A fair scheduler can go on like that.
    pub is_fair: bool,
    /// What a fair scheduler would not leave waiting.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub starved: Vec<String>,
    /// Whether fair runs end: `quiesces`, `diverges` or `unknown`; absent if the loop is fair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairly: Option<&'static str>,
    /// The same over P's own network; absent if that is the one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_order: Option<&'static str>,
    /// Messages sent in one turn round the loop.
    pub sends: Vec<Sends>,
    pub machines: Vec<Part>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub piles: Vec<Pile>,
    pub n_created: u64,
    /// Machines that send without ever finishing a handler.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub endless_handlers: Vec<String>,
    pub steps: Vec<Step>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sends {
    pub from: String,
    pub to: String,
    pub event: String,
    pub n: u64,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    pub machine: String,
    pub states: Vec<String>,
    pub variables: Vec<Variable>,
    pub n_taken: u64,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Variable {
    pub name: String,
    pub values: Vec<String>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pile {
    /// Absent for an inbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    pub to: String,
    pub event: String,
    pub n_each_turn: u64,
}

/// The loop in words: which machines feed each other, what changes, what piles up, and whether fairness rules it out.
pub fn render_divergence(found: &Divergence) -> String {
    let mut out = String::new();
    let repeats = match found.n_loop_steps {
        1 => "this step repeats".to_owned(),
        n => format!("these {n} steps repeat"),
    };
    let _ = writeln!(out, "after {} {repeats} for ever:\n", steps(found.n_stem_steps));
    let _ = writeln!(out, "  {}", cycle(&found.sends).unwrap_or_else(|| "no message is sent".to_owned()));
    out.push_str("\nin each iteration of the loop:\n");
    let width = found.machines.iter().map(|part| part.machine.chars().count()).max().unwrap_or(0);
    for part in &found.machines {
        let mut says: Vec<String> = Vec::new();
        let sent: Vec<String> = found
            .sends
            .iter()
            .filter(|sends| sends.from == part.machine)
            .map(|sends| format!("{}{} to {}", sends.event, times(sends.n), sends.to))
            .collect();
        match part.n_taken {
            0 => {}
            1 => says.push("takes 1 message".to_owned()),
            n => says.push(format!("takes {n} messages")),
        }
        if !sent.is_empty() {
            says.push(format!("sends {}", sent.join(", ")));
        }
        if part.states.len() > 1 {
            says.push(part.states.join(" -> "));
        }
        for variable in &part.variables {
            says.push(format!("{} = {}", variable.name, variable.values.join(" -> ")));
        }
        let _ = writeln!(out, "  {:<width$}  {}", part.machine, says.join("; "));
    }
    if found.n_created > 0 {
        let s = if found.n_created == 1 { "machine is" } else { "machines are" };
        let _ = writeln!(out, "  {} {s} created", found.n_created);
    }
    for pile in &found.piles {
        let place = match &pile.from {
            None => format!("in the inbox of {}", pile.to),
            Some(from) => format!("on the way from {from} to {}", pile.to),
        };
        let _ = writeln!(out, "  {} {} more each iteration {place}", pile.n_each_turn, pile.event);
    }
    for machine in &found.endless_handlers {
        let _ = writeln!(
            out,
            "note: {machine} stays inside one handler and takes no message; if it models the environment, exclude its messages with `--stimulus`"
        );
    }
    if found.is_fair {
        out.push_str("this loop is fair: every machine and message that could always proceed does\n");
    } else {
        let _ = writeln!(out, "this loop is unfair: {}", found.starved.join("; "));
        match found.fairly {
            Some("quiesces") => out.push_str("with `--fair` it quiesces\n"),
            Some("diverges") => out.push_str("with `--fair` it diverges, too, by another loop\n"),
            _ => out
                .push_str("whether a fair run diverges by another loop is not known; `--fair` decides it\n"),
        }
    }
    match found.in_order {
        Some("quiesces") => {
            out.push_str("this depends on the order of messages: with `--network inbox` it quiesces\n");
        }
        Some("diverges") => out.push_str("with `--network inbox` it diverges, too\n"),
        Some(_) => {
            out.push_str("whether it diverges also with `--network inbox` is not known\n");
        }
        None => {}
    }
    out
}

fn steps(n: usize) -> String {
    if n == 1 { "1 step".to_owned() } else { format!("{n} steps") }
}

fn times(n: u64) -> String {
    if n == 1 { String::new() } else { format!(" x {n}") }
}

/// Which machines feed each other, as a chain that closes where that is possible.
fn cycle(sends: &[Sends]) -> Option<String> {
    // Depth first along messages from the first sender, until a machine comes again.
    let start = &sends.first()?.from;
    let mut chain: Vec<&Sends> = Vec::new();
    let mut tried: Vec<usize> = Vec::new();
    let mut at = start;
    loop {
        let next = sends.iter().enumerate().find(|(number, sends)| {
            sends.from == *at && !tried.contains(number) && (sends.from != sends.to || *start == sends.to)
        });
        match next {
            Some((number, sends)) => {
                tried.push(number);
                chain.push(sends);
                if sends.to == *start || chain.iter().filter(|it| it.from == sends.to).count() > 0 {
                    break;
                }
                at = &sends.to;
            }
            None => match chain.pop() {
                Some(last) => at = &last.from,
                None => break,
            },
        }
    }
    // Nothing closes: a machine sends by itself.
    if chain.is_empty() {
        chain.push(sends.first()?);
    }
    let back = chain.last()?.to.clone();
    let from = chain.iter().position(|sends| sends.from == back);
    let ring = from.map_or(chain.as_slice(), |from| &chain[from..]);
    let mut out = ring.first()?.from.clone();
    for sends in ring {
        let _ = write!(out, " --{}--> {}", sends.event, sends.to);
    }
    Some(out)
}

/// The loop as a picture: machines, and what they send each other in one turn.
pub fn diagram(report: &QuiesceReport, found: &Divergence) -> Graph {
    let mut names: Vec<&str> = found.machines.iter().map(|part| part.machine.as_str()).collect();
    for sends in &found.sends {
        for name in [sends.from.as_str(), sends.to.as_str()] {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let node = |name: &&str| {
        let mut lines = vec![(*name).to_owned()];
        let part = found.machines.iter().find(|part| part.machine == *name);
        if let Some(part) = part {
            lines.push(part.states.join(" -> "));
            lines.extend(part.variables.iter().map(|it| format!("{} = {}", it.name, it.values.join(" -> "))));
        }
        for pile in found.piles.iter().filter(|pile| pile.to == *name) {
            lines.push(format!("piles up: {} {} each iteration", pile.n_each_turn, pile.event));
        }
        let kind = if part.is_some_and(|part| part.n_taken > 0) { NodeKind::Hot } else { NodeKind::Machine };
        Node { lines, kind, place: None }
    };
    let place = |name: &str| names.iter().position(|it| *it == name).unwrap_or(0);
    Graph {
        version: json::VERSION,
        command: "quiesce",
        project: report.head.project.clone(),
        test: report.head.test.clone(),
        nodes: names.iter().map(node).collect(),
        edges: found
            .sends
            .iter()
            .map(|sends| Edge {
                from: place(&sends.from),
                to: place(&sends.to),
                labels: vec![format!("{}{}", sends.event, times(sends.n))],
            })
            .collect(),
    }
}

pub fn render_statistics(statistics: &Statistics) -> String {
    let Statistics { n_configurations, n_transitions, depth } = statistics;
    // A symbolic search that was stopped has no number.
    if *n_configurations == 0 {
        return String::new();
    }
    let transitions = n_transitions.map_or(String::new(), |n| format!(" {n} transitions,"));
    format!("..... {n_configurations} configurations,{transitions} depth {depth}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sends(from: &str, to: &str) -> Sends {
        Sends { from: from.to_owned(), to: to.to_owned(), event: format!("e{to}"), n: 1 }
    }

    #[test]
    fn a_cycle_closes() {
        let all = [sends("A", "Log"), sends("A", "B"), sends("B", "C"), sends("C", "B")];
        assert_eq!(cycle(&all).as_deref(), Some("B --eC--> C --eB--> B"));
        assert_eq!(cycle(&[sends("A", "A")]).as_deref(), Some("A --eA--> A"));
        assert_eq!(cycle(&[sends("A", "B")]).as_deref(), Some("A --eB--> B"));
        assert_eq!(cycle(&[]), None);
    }
}
