//! Random small programs that go round for ever: tokens are handed on, timers tick, and monitors are hot and cold by turns.
//!
//! A machine that takes a token sends one at most, so that there are never more of them and the graph is small, and yet there are few ends. What
//! becomes of a run is decided by `$`, by which message comes first, and by a mode that one machine switches once: one part of the graph cools
//! a monitor again and again, another one never does. In some, *races*, nothing goes round unless the right one comes first, so that
//! most runs end.

use crate::random::Random;

/// How tokens go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    /// From one to the next, and back to the main machine.
    Ring,
    /// From the main machine to any of the others, which are alike, and back.
    Star,
    /// The main machine sends to all others, and again when all have answered.
    Council,
}

/// The program of a seed.
pub fn liveness_cycles(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x0706_0d5e);
    let shape = *random.pick(&[Shape::Ring, Shape::Ring, Shape::Star, Shape::Council]);
    let n_workers = if shape == Shape::Ring { random.between(0, 2) } else { 2 };
    let n_tokens = if shape == Shape::Ring && n_workers < 2 && random.chance(30) { 2 } else { 1 };
    let mut out = "event eTok;\nevent eMode;\nevent eTick;\nevent eUp;\nevent eDown;\n".to_owned();
    let mut begin = Vec::new();
    for _ in 0..n_workers {
        begin.push(match shape {
            Shape::Ring => "next = new Worker(next);".to_owned(),
            Shape::Star | Shape::Council => "all += (new Worker(this));".to_owned(),
        });
    }
    // What gets in between.
    let target = |random: &mut Random| match (shape, random.below(3)) {
        (_, 0) => "this".to_owned(),
        (Shape::Ring, _) => "next".to_owned(),
        (Shape::Star | Shape::Council, _) => "choose(all)".to_owned(),
    };
    for _ in 0..random.below(3) {
        let kind = *random.pick(&["Switch", "Switch", "Timer", "Ticker", "Idle"]);
        begin.push(format!("new {kind}({});", target(&mut random)));
    }
    let place = random.below(begin.len() + 1);
    if random.chance(40) {
        begin.insert(place, "announce eUp;".to_owned());
    }
    let tokens = match shape {
        Shape::Ring => "send next, eTok;",
        Shape::Star => "send choose(all), eTok;",
        Shape::Council => "foreach (p in all) { send p, eTok; }",
    };
    let tokens = vec![tokens; n_tokens].join(" ");
    let main = worker(&mut random, shape, true);
    let is_race = random.chance(40);
    let (first, race) = match is_race {
        false => {
            begin.push(tokens);
            ("Run", String::new())
        }
        true => {
            begin.retain(|line| !["Ticker", "Idle", "eUp"].iter().any(|word| line.contains(word)));
            let mut runners = vec!["new Switch(this);"; random.between(1, 2)];
            runners.insert(random.below(runners.len() + 1), "new Start(this);");
            let place = random.below(begin.len() + 1);
            begin.splice(place..place, runners.iter().map(|line| (*line).to_owned()));
            ("Wait", race(&mut random, &tokens))
        }
    };
    out.push_str(&format!(
        "machine Main {{\n  var next: machine; var all: set[machine]; var mode: int; var n: int;\n  \
         start state Begin {{\n    entry {{\n      var p: machine;\n      next = this;\n      {}\n      goto {first};\n    }}\n  }}\n{race}{main}}}\n",
        begin.join("\n      ")
    ));
    let others = worker(&mut random, shape, false);
    out.push_str(&format!(
        "machine Worker {{\n  var next: machine; var mode: int;\n  \
         start state Begin {{\n    entry (whom: machine) {{ next = whom; goto Run; }}\n  }}\n{others}}}\n"
    ));
    let on_tick = match random.below(3) {
        0 => "if ($) { send client, eMode; } else { send this, eTick; }",
        1 => "if ($) { send client, eMode; goto Off; } send this, eTick;",
        _ => "if ($$) { send client, eMode; } else { send this, eTick; }",
    };
    let beat = *random.pick(&["", "", "announce eUp;", "announce eDown;", "if ($) { announce eDown; }"]);
    let on_null = *random.pick(&[
        "",
        "if ($) { announce eUp; }",
        "if ($) { goto Off; }",
        "if ($) { send client, eMode; goto Off; }",
    ]);
    out.push_str(&format!(
        "machine Start {{\n  start state S {{\n    entry (whom: machine) {{ send whom, eTok; }}\n  }}\n}}\n\
         machine Switch {{\n  start state S {{\n    entry (whom: machine) {{ send whom, eMode; }}\n  }}\n}}\n\
         machine Timer {{\n  var client: machine;\n  start state S {{\n    entry (whom: machine) {{ client = whom; send this, eTick; }}\n    \
         on eTick do {{ {on_tick} }}\n  }}\n  state Off {{ ignore eTick; }}\n}}\n\
         machine Ticker {{\n  start state S {{\n    entry (whom: machine) {{ send this, eTick; }}\n    \
         on eTick do {{ {beat} send this, eTick; }}\n  }}\n}}\n\
         machine Idle {{\n  var client: machine;\n  start state S {{\n    entry (whom: machine) {{ client = whom; }}\n    \
         on null do {{ {on_null} }}\n  }}\n  state Off {{ }}\n}}\n"
    ));
    let n_monitors = if random.chance(70) { 1 } else { 2 };
    for monitor in 0..n_monitors {
        out.push_str(&spec(&mut random, monitor, is_race));
    }
    let specs: Vec<String> = (0..n_monitors).map(|monitor| format!("Spec{monitor}")).collect();
    out.push_str(&format!(
        "test t [main = Main]: assert {} in {{ Main, Worker, Start, Switch, Timer, Ticker, Idle }};\n",
        specs.join(", ")
    ));
    out
}

/// The states in which the main machine waits for the first message, and those in which nothing goes round.
fn race(random: &mut Random, tokens: &str) -> String {
    let on_token = *random.pick(&["goto Done", "goto Go", "do { mode = 1; }"]);
    let on_mode = *random.pick(&["goto Done", "goto Go", "do { if (mode == 1) { goto Go; } }"]);
    let opening = *random.pick(&["", "announce eUp;", "announce eDown;"]);
    format!(
        "  state Wait {{\n    on eTok {on_token}{}\n    on eMode {on_mode}{}\n  }}\n  \
         state Go {{\n    entry {{ var p: machine; {opening} {tokens} goto Run; }}\n  }}\n  \
         state Done {{\n    ignore eTok, eMode;\n  }}\n",
        if on_token.ends_with('}') { "" } else { ";" },
        if on_mode.ends_with('}') { "" } else { ";" },
    )
}

/// The states of a machine that hands on tokens.
fn worker(random: &mut Random, shape: Shape, is_main: bool) -> String {
    let mut states = String::new();
    for state in ["Run", "Late"] {
        let on_mode = match random.below(4) {
            0 => "ignore eMode;".to_owned(),
            1 => "on eMode do { mode = 1; }".to_owned(),
            2 => "on eMode do { mode = 1 - mode; announce eUp; }".to_owned(),
            _ => format!("on eMode goto {};", if state == "Run" { "Late" } else { "Run" }),
        };
        let body = body(random, shape, is_main, state);
        states.push_str(&format!("  state {state} {{\n    {on_mode}\n    on eTok do {{ {body} }}\n  }}\n"));
    }
    states
}

fn body(random: &mut Random, shape: Shape, is_main: bool, state: &str) -> String {
    const DOES: [&str; 12] = [
        "announce eUp;",
        "announce eDown;",
        "announce eDown; announce eUp;",
        "if ($) { announce eUp; }",
        "if ($) { announce eDown; }",
        "if ($$) { announce eDown; }",
        "if (mode == 0) { announce eDown; } else { announce eUp; }",
        "if (mode == 1) { announce eDown; }",
        "if ($) { mode = 1; }",
        "mode = 1 - mode;",
        "",
        "",
    ];
    let does: Vec<&str> = (0..random.between(1, 2)).map(|_| *random.pick(&DOES)).collect();
    let does = does.join(" ");
    let on = match (shape, is_main) {
        (Shape::Ring, _) | (_, false) => "send next, eTok;",
        (Shape::Star, true) => "send choose(all), eTok;",
        (Shape::Council, true) => "foreach (p in all) { send p, eTok; }",
    };
    let is_council = shape == Shape::Council && is_main;
    let on = match random.below(12) {
        0 if !is_council => format!("if ($) {{ {on} }} else {{ send this, eTok; }}"),
        1 if !is_council => format!("if (mode == 1) {{ send this, eTok; }} else {{ {on} }}"),
        2 => format!("if ($) {{ {on} }}"),
        3 => format!("if (mode == 0) {{ {on} }}"),
        _ => on.to_owned(),
    };
    let after = match random.below(8) {
        0 if state == "Run" => "if ($) { goto Late; }",
        1 if state == "Run" => "goto Late;",
        2 if state == "Late" => "if (mode == 1) { goto Run; }",
        3 if state == "Late" => "goto Run;",
        _ => "",
    };
    match is_council {
        true => format!("var p: machine; n = n + 1; if (n == sizeof(all)) {{ n = 0; {does} {on} {after} }}"),
        false => format!("{does} {on} {after}"),
    }
}

/// A monitor with random states, one of them hot.
fn spec(random: &mut Random, number: usize, is_race: bool) -> String {
    let n_states = random.between(2, 3);
    // What ends in a race is not to end hot, since that would be a violation without any infinite run.
    let more = if is_race { "" } else { *random.pick(&["", "", "", ", eTok", ", eMode"]) };
    let hot = if is_race { random.between(1, n_states - 1) } else { random.below(n_states) };
    let mut out = format!("spec Spec{number} observes eUp, eDown{more} {{\n");
    for state in 0..n_states {
        let start = if state == 0 { "start " } else { "" };
        let temperature = match random.below(4) {
            _ if state == hot => "hot ",
            0 => "",
            1 if n_states == 3 && !is_race => "hot ",
            _ => "cold ",
        };
        out.push_str(&format!("  {start}{temperature}state S{state} {{\n"));
        let mut events = vec!["eUp", "eDown"];
        events.extend(more.strip_prefix(", "));
        for event in events {
            match random.below(4) {
                0 => out.push_str(&format!("    ignore {event};\n")),
                // Up is hot, mostly.
                1 | 2 if event == "eUp" => out.push_str(&format!("    on {event} goto S{hot};\n")),
                _ => out.push_str(&format!("    on {event} goto S{};\n", random.below(n_states))),
            }
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}
