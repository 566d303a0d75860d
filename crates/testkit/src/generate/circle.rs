//! Random programs in which every machine knows every other, so that messages take different paths: what distinguishes
//! networks that keep little order. They are small, end always, and remember in which order messages came.

use crate::random::Random;

/// The program of a seed.
pub fn circle(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0xc1_4c1e);
    let n_machines = random.between(3, 4);
    let n_events = random.between(2, 3);
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line("event eMeet: seq[machine];".to_owned());
    for event in 0..n_events {
        line(format!("event e{event}: int;"));
    }
    // Sends events of a higher rank only, so that every run ends.
    let sends = |random: &mut Random, from: usize, most: usize| -> Vec<String> {
        let n = if from < n_events { random.below(most + 1) } else { 0 };
        let one = |random: &mut Random| {
            let event = random.between(from, n_events - 1);
            let target = random.below(n_machines);
            format!("send peers[{target}], e{event}, {};", random.below(2))
        };
        (0..n).map(|_| one(random)).collect()
    };
    for machine in 0..n_machines {
        let is_main = machine == 0;
        let name = if is_main { "Main".to_owned() } else { format!("M{machine}") };
        line(format!("machine {name} {{\n  var peers: seq[machine];\n  var order: int;"));
        let opening = sends(&mut random, 0, 2).join(" ");
        if is_main {
            line("  start state Run {\n    entry {\n      peers += (0, this);".to_owned());
            for other in 1..n_machines {
                line(format!("      peers += ({other}, new M{other}());"));
            }
            for other in 1..n_machines {
                line(format!("      send peers[{other}], eMeet, peers;"));
            }
            line(format!("      {opening}\n    }}"));
        } else {
            let deferred: Vec<String> = (0..n_events).map(|event| format!("e{event}")).collect();
            line(format!("  start state Wait {{\n    defer {};", deferred.join(", ")));
            line(
                "    on eMeet goto Run with (p: seq[machine]) { peers = p; }\n  }\n  state Run {".to_owned(),
            );
            line(format!("    entry {{ {opening} }}"));
        }
        for event in 0..n_events {
            let more = sends(&mut random, event + 1, 2).join(" ");
            let check = match random.below(12) {
                0 => format!("assert order != {};", random.between(1, 12)),
                _ => String::new(),
            };
            match random.below(8) {
                0 => line(format!("    ignore e{event};")),
                _ => line(format!(
                    "    on e{event} do (n: int) {{ order = (order * 3 + {event} + n + 1) % 50; {check} {more} }}"
                )),
            }
        }
        line("  }\n}".to_owned());
    }
    out
}
