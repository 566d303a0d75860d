//! Random small programs in which messages beget messages: some for ever, some until nothing is left to say, some more and more of them.
//!
//! Three machines know each other. What a machine does with a message depends on its control state: it drops it, keeps it for later,
//! answers it, with one message or two, or by chance, or every second time, or goes to its other state.

use std::fmt::Write as _;

use crate::random::Random;

/// The program of a seed.
pub fn chatter(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0xc4a7_7e25);
    let n_events = random.between(1, 3);
    // How readily machines answer.
    let eager = random.between(20, 70) as u32;
    let self_sends = random.chance(30);
    let mut out = String::new();
    for event in 0..n_events {
        let _ = writeln!(out, "event e{event};");
    }
    for machine in 0..3 {
        let name = ["Main", "Left", "Right"][machine];
        let _ =
            writeln!(out, "machine {name} {{\n  var peers: seq[machine];\n  var n: int;\n  start state A {{");
        let one = |random: &mut Random| {
            let target = match machine {
                _ if self_sends && random.chance(30) => machine,
                machine => (machine + random.between(1, 2)) % 3,
            };
            format!("send peers[{target}], e{};", random.below(n_events))
        };
        let entry = match machine {
            0 => {
                "entry {\n      peers += (0, this);\n      peers += (1, new Left(this));\n      peers += (2, new Right((this, peers[1])));"
            }
            1 => {
                "entry (first: machine) {\n      peers += (0, first);\n      peers += (1, this);\n      peers += (2, first);"
            }
            _ => {
                "entry (others: (machine, machine)) {\n      peers += (0, others.0);\n      peers += (1, others.1);\n      peers += (2, this);"
            }
        };
        let _ = writeln!(out, "    {entry}");
        let n_opening = if machine == 0 { random.between(1, 3) } else { random.below(2) };
        for _ in 0..n_opening {
            let _ = writeln!(out, "      {}", one(&mut random));
        }
        out.push_str("    }\n");
        let n_states = random.between(1, 2);
        for state in 0..n_states {
            if state > 0 {
                out.push_str("  state B {\n");
            }
            let other = ["B", "A"][state];
            for event in 0..n_events {
                let line = if !random.chance(eager) {
                    match random.below(6) {
                        0 => format!("defer e{event};"),
                        1 => format!("ignore e{event};"),
                        // An entry function would run again, and with a payload that is not given.
                        2 if n_states == 2 && other == "B" => format!("on e{event} goto {other};"),
                        _ => format!("on e{event} do {{ }}"),
                    }
                } else {
                    let send = one(&mut random);
                    let body = match random.below(8) {
                        0 => format!("if ($) {{ {send} }}"),
                        1 => format!("if ($$) {{ {send} }}"),
                        2 => format!("n = 1 - n; if (n == 1) {{ {send} }}"),
                        3 => format!("{send} {}", one(&mut random)),
                        4 if n_states == 2 && other == "B" => format!("{send} goto B;"),
                        5 => format!("n = n + 1; {send}"),
                        _ => send,
                    };
                    format!("on e{event} do {{ {body} }}")
                };
                let _ = writeln!(out, "    {line}");
            }
            out.push_str("  }\n");
        }
        out.push_str("}\n");
    }
    out.push_str("test tc [main = Main]: { Main, Left, Right };\n");
    out
}
