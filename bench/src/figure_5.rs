//! Figure 5 of Emmi and Lal's paper on non-terminating executions: which programs diverge within how many rounds and with
//! which recursion bound. The baseline is what the paper's tool took on its machine.
//!
//! The programs are in `corpus/boogie/quiesce`, written anew. After the sixteen rows come bounds that the paper does not
//! list: the smallest at which each divergence is found and the largest tried at which it is not, fairness, and variants.
//!
//! A lasso of BellmanFord-bug or Bfs-bug that sends each message once goes round a triangle and has seven nested
//! activations, two more than the bound of the paper. But a task may send a message twice, one for the stem and one for the loop: then
//! four are enough, and such lassos are found and replayed. Both bounds are in the table.
//!
//! SpanningTree-bug has no fair lasso, whatever the bounds. Whoever searches on has posted `setParent` for itself; a fair loop handles that,
//! and the flag that it sets stops the search. That is what is found without bounds (`causes` of the translation), as for SpanningTree-correct.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use allways_driver::boogie;
use allways_driver::boogie::quiesce::{QuiesceOptions, QuiesceVerdict, quiesce};
use allways_run::Quiet;

/// A row gives up after so many seconds; the paper's tool had 1800.
const PATIENCE: Duration = Duration::from_secs(600);

struct Row {
    /// As in the paper, empty for bounds that it does not list.
    name: &'static str,
    file: &'static str,
    rounds: u32,
    recursion: u32,
    fair: bool,
    diverges: bool,
    /// What the paper's tool took; `None` if it ran out of time, or did not try.
    seconds: Option<f64>,
}

const fn row(
    name: &'static str,
    file: &'static str,
    bounds: (u32, u32),
    fair: bool,
    diverges: bool,
    seconds: f64,
) -> Row {
    let seconds = if seconds > 0.0 { Some(seconds) } else { None };
    Row { name, file, rounds: bounds.0, recursion: bounds.1, fair, diverges, seconds }
}

/// The paper's rows at its bounds. It does not say which were asked fairly: only a fair question makes the bounds of Paxos
/// the smallest ones, and only an unfair one finds the spanning tree.
const PUBLISHED: [Row; 16] = [
    row("PingPong", "ping-pong", (1, 5), false, true, 5.32),
    row("PingPong-mod2", "ping-pong-mod2", (2, 5), false, true, 19.01),
    row("PingPong-mod2-1md", "ping-pong-mod2", (1, 5), false, false, 4.94),
    row("PingPong-mod3", "ping-pong-mod3", (3, 5), false, true, 86.61),
    row("PingPong-mod3-1md", "ping-pong-mod3", (2, 5), false, false, 23.53),
    row("PingPong-mod3-2md", "ping-pong-mod3", (1, 5), false, false, 4.66),
    row("PingPongPung", "ping-pong-pung", (2, 5), false, true, 111.92),
    row("PingPongPung-1md", "ping-pong-pung", (1, 5), false, false, 19.87),
    row("SpanningTree-bug", "spanning-tree-bug", (1, 5), false, true, 165.19),
    row("SpanningTree-correct", "spanning-tree-correct", (2, 3), false, false, 28.80),
    row("Bfs-bug", "bfs-bug", (1, 5), false, true, 286.95),
    row("Bfs-correct", "bfs-correct", (2, 3), false, false, 32.15),
    row("BellmanFord-bug", "bellman-ford-bug", (1, 5), false, true, 303.98),
    row("BellmanFord-correct", "bellman-ford-correct", (2, 3), false, false, 33.74),
    row("Paxos-bug-individual", "paxos-individual", (2, 2), true, true, 67.72),
    row("Paxos-bug-competition", "paxos-competition", (2, 2), true, true, 0.0),
];

/// Other bounds.
const FURTHER: [Row; 21] = [
    row("", "ping-pong", (1, 1), true, true, 0.0),
    row("", "ping-pong-mod2", (2, 2), false, true, 0.0),
    row("", "ping-pong-mod2", (2, 1), false, false, 0.0),
    row("", "ping-pong-mod3", (3, 3), false, true, 0.0),
    row("", "ping-pong-mod3", (3, 2), false, false, 0.0),
    row("", "spanning-tree-bug", (1, 4), false, true, 0.0),
    row("", "spanning-tree-bug", (1, 3), false, false, 0.0),
    row("", "spanning-tree-bug", (1, 5), true, false, 0.0),
    row("", "spanning-tree-bug-one-neighbour", (1, 4), false, true, 0.0),
    row("", "spanning-tree-bug-one-neighbour", (1, 4), true, false, 0.0),
    row("", "bfs-bug", (1, 7), false, true, 0.0),
    row("", "bfs-bug-no-parent", (1, 6), false, true, 0.0),
    row("", "bellman-ford-bug", (1, 7), false, true, 0.0),
    row("", "bellman-ford-bug", (1, 7), true, true, 0.0),
    row("", "bellman-ford-bug-no-parent", (1, 6), false, true, 0.0),
    row("", "paxos-individual", (1, 2), true, false, 0.0),
    row("", "paxos-individual", (2, 1), true, false, 0.0),
    row("", "paxos-individual", (1, 1), false, true, 0.0),
    row("", "paxos-competition", (1, 2), true, true, 0.0),
    row("", "paxos-competition", (1, 1), true, false, 0.0),
    row("", "ping-pong-pung", (2, 1), false, true, 0.0),
];

struct Measured {
    seconds: f64,
    /// `None` if it was not decided.
    diverges: Option<bool>,
    /// The bounds at which it was found, or why nothing was decided.
    remark: String,
}

/// Measures the rows whose names have one of the words, on two threads. False if one is not as it should be.
pub fn run(words: &[&str]) -> bool {
    let wanted = |row: &&Row| words.is_empty() || words.iter().any(|word| row.file.contains(word));
    let rows: Vec<&Row> = PUBLISHED.iter().chain(&FURTHER).filter(wanted).collect();
    let next = Mutex::new(0usize);
    let results: Mutex<Vec<Option<Measured>>> = Mutex::new(rows.iter().map(|_| None).collect());
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = {
                        let Ok(mut next) = next.lock() else { return };
                        *next += 1;
                        *next - 1
                    };
                    let Some(row) = rows.get(number) else { return };
                    let measured = measure(row);
                    if let Ok(mut results) = results.lock() {
                        results[number] = Some(measured);
                    }
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_default();
    println!(
        "{:<24} {:<32} {:>2} {:>2} {:<5} {:<10} {:>8} {:>9} {:>7}  found at",
        "row", "program", "K", "N", "fair", "diverges", "s", "paper s", "ratio"
    );
    let mut is_right = true;
    for (row, measured) in rows.iter().zip(&results) {
        let Some(measured) = measured else { continue };
        let says = match measured.diverges {
            Some(true) => "yes",
            Some(false) => "no",
            None => "unknown",
        };
        let is_expected = measured.diverges == Some(row.diverges);
        is_right &= is_expected;
        let (paper, ratio) = match row.seconds {
            Some(seconds) => {
                (format!("{seconds:.2}"), format!("{:.0}x", seconds / measured.seconds.max(0.01)))
            }
            None if row.name.is_empty() => (String::new(), String::new()),
            None => ("> 1800".to_owned(), format!("> {:.0}x", 1800.0 / measured.seconds.max(0.01))),
        };
        println!(
            "{:<24} {:<32} {:>2} {:>2} {:<5} {:<10} {:>8.2} {:>9} {:>7}  {}{}",
            row.name,
            row.file,
            row.rounds,
            row.recursion,
            if row.fair { "yes" } else { "no" },
            says,
            measured.seconds,
            paper,
            ratio,
            measured.remark,
            if is_expected { "" } else { "  <-- not as expected" },
        );
    }
    let published: f64 = PUBLISHED.iter().filter(wanted).filter_map(|row| row.seconds).sum();
    println!(
        "{:.1} s together on two threads; the paper's tool took {published:.0} s for the rows that it finished",
        start.elapsed().as_secs_f64()
    );
    is_right
}

fn measure(row: &Row) -> Measured {
    let start = Instant::now();
    let path = format!("{}/../corpus/boogie/quiesce/{}.bpl", env!("CARGO_MANIFEST_DIR"), row.file);
    let loaded = boogie::load(&[path]);
    let Some(checked) = &loaded.checked else {
        return Measured { seconds: 0.0, diverges: None, remark: "is not a program".to_owned() };
    };
    let options = QuiesceOptions {
        fair: row.fair,
        rounds: Some(row.rounds),
        recursion: Some(row.recursion),
        time: Some(PATIENCE),
        ..QuiesceOptions::default()
    };
    let (diverges, remark) = match quiesce(&loaded, checked, &options, &Quiet) {
        Ok(report) => match report.verdict {
            QuiesceVerdict::Diverges(found) => {
                let fair = if found.lasso.starved.is_empty() { ", a fair loop" } else { ", an unfair loop" };
                let shift = match found.lasso.shift {
                    0 => String::new(),
                    n => format!(", shift {n}"),
                };
                (Some(true), format!("K = {}, N = {}{fair}{shift}", found.rounds, found.recursion))
            }
            QuiesceVerdict::NoDivergence { .. } => (Some(false), String::new()),
            QuiesceVerdict::Quiescent(_) | QuiesceVerdict::NoLasso => {
                (Some(false), "proved whatever the bounds".to_owned())
            }
            QuiesceVerdict::Unknown(reason) => (None, format!("{reason:?}")),
        },
        Err(error) => (None, format!("{error:?}")),
    };
    Measured { seconds: start.elapsed().as_secs_f64(), diverges, remark }
}
