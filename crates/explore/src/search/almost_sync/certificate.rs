//! The certificate: the explored states as text, for a checker that trusts nothing of the engine.
//!
//! The format is described in `docs/formats/certificate.md`. A place is a line (whose it is, and where it stands, as bytes
//! of `allways_machine::encode`, with the messages of its tail), a state is the numbers of its places and of those that move from it.

use std::fmt::Write as _;

use allways_machine::Executable;
use allways_machine::topology::{Target, Topology};
use rustc_hash::FxHashMap;

pub(super) const HEAD: &str = "allways-certificate 1";

/// The lines of the topology.
pub(super) fn topology_lines(exe: &Executable, topology: &Topology) -> Vec<String> {
    topology
        .edges()
        .map(|(from, target, events)| {
            let target = match target {
                Target::Site(site) => format!("site {site}"),
                Target::Monitor(monitor) => format!("monitor {monitor}"),
            };
            let events: Vec<&str> = events.iter().map(|&event| exe.event_name(event)).collect();
            format!("send {from} {target} {}", events.join(" "))
        })
        .collect()
}

/// The line of a place: who, where, and the messages of the tail in order.
pub(super) fn place_line(who: &str, bytes: &[u8], tail: impl Iterator<Item = String>) -> String {
    let mut tail: Vec<String> = tail.collect();
    tail.sort_unstable();
    let mut line = format!("{who} {}", hex(bytes));
    for message in tail {
        line.push(' ');
        line.push_str(&message);
    }
    line
}

/// Writes a certificate, state by state.
#[derive(Default)]
pub(super) struct Writer {
    places: Vec<String>,
    index: FxHashMap<String, usize>,
    states: Vec<String>,
}

impl Writer {
    pub fn place(&mut self, line: String) -> usize {
        let next = self.places.len();
        match self.index.get(&line) {
            Some(&known) => known,
            None => {
                self.index.insert(line.clone(), next);
                self.places.push(line);
                next
            }
        }
    }

    pub fn state(&mut self, mut places: Vec<usize>, mut movers: Vec<usize>) {
        places.sort_unstable();
        movers.sort_unstable();
        self.states.push(format!("state {}|{}", numbers(&places), numbers(&movers)));
    }

    pub fn finish(self, exe: &Executable, topology: &Topology, bound: Option<u32>) -> String {
        let mut out = format!("{HEAD}\ntest {}\n", exe.test_name);
        if let Some(bound) = bound {
            let _ = writeln!(out, "inbox {bound}");
        }
        let lines = topology_lines(exe, topology);
        for line in lines.iter().chain(&self.places).chain(&self.states) {
            out.push_str(line);
            out.push('\n');
        }
        let _ = writeln!(out, "end {} {} {}", lines.len(), self.places.len(), self.states.len());
        out
    }
}

fn numbers(numbers: &[usize]) -> String {
    let texts: Vec<String> = numbers.iter().map(usize::to_string).collect();
    texts.join(" ")
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}
