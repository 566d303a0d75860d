//! Random small programs that count: versions, request numbers and clocks that machines count up, send, keep and compare. There is a kind of
//! statement for everything that a renumbering of counters (`allways_machine::numbers`) has to respect, beside kinds that it must
//! not mind: some programs fit its conditions, others miss one of them by a single statement.

use std::fmt::Write as _;

use crate::random::Random;

/// The program of a seed.
pub fn counting(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0xc0_4742);
    // How often numbers are used for more than comparisons.
    let nosy = [0, 0, 10, 35][random.below(4)] as u32;
    let mut out = String::from(
        "event eNumber: (n: int, old: int);\nevent eBack: (n: int, (int, int));\nevent eKept: (n: int, tag: int);\nevent eHit;\n\
         spec Watch observes eKept, eHit {\n  var last: int; var best: int; var hits: int; var past: set[int];\n  \
         var when: map[int, int]; var z: map[int, (int, int)]; var y: map[int, int]; var x: set[set[int]];\n  start state S {\n",
    );
    let out_of = |random: &mut Random, nosy, scope: &Scope<'_>| statements(random, nosy, scope);
    let n_hits = random.between(1, 16);
    let monitor = out_of(
        &mut random,
        nosy,
        &Scope {
            a: "last",
            b: "kept.n",
            c: "best",
            set: "past",
            map: "when",
            seq: None,
            hit: "hits = hits + 1;",
        },
    );
    let _ = writeln!(
        out,
        "    on eKept do (kept: (n: int, tag: int)) {{ var t: string; var i: int;\n{monitor}      last = kept.n; assert hits < {}; }}\n    \
         on eHit do {{ hits = hits + 1; assert hits < {}; }}\n  }}\n}}",
        n_hits, n_hits
    );
    let fields = "  var a: int; var b: int; var c: int; var k: int;\n  var m: map[int, int]; var s: set[int]; var q: seq[int];\n  \
                  var z: map[int, (int, int)]; var y: map[int, int]; var x: set[set[int]];\n  \
                  var p: (int, (int, int));\n";
    let hit = "announce eHit;";
    let scope = |a, b| Scope { a, b, c: "c", set: "s", map: "m", seq: Some("q"), hit };
    // The peer keeps what it gets, or counts on its own.
    let first = out_of(&mut random, nosy, &scope("a", "got.n"));
    let second = out_of(&mut random, nosy, &scope("b", "a"));
    let keep = match random.below(5) {
        0 => "a = got.n; b = got.old;",
        1 => "if (got.n > a) { b = a; a = got.n; }",
        2 => "a = a + 1; b = got.n;",
        3 => "a = got.n + 1; b = got.n;",
        _ => "b = a; a = got.n;",
    };
    let reply = match random.below(3) {
        0 => "send boss, eBack, (a, (b, got.n));",
        1 => "if ($) { send boss, eBack, (b, (a, a)); }",
        _ => "",
    };
    let _ = writeln!(
        out,
        "machine Peer {{\n{fields}  var boss: machine;\n  start state S {{\n    entry (b0: machine) {{ boss = b0; {} }}\n    \
         on eNumber do (got: (n: int, old: int)) {{ var t: string; var i: int;\n{first}      {keep}\n{second}      \
         announce eKept, (n = a, tag = {});\n      {reply}\n    }}\n  }}\n}}",
        ["", "a = 1;", "goto S2;"][random.below(3)],
        random.below(2),
    );
    if out.contains("goto S2") {
        // The same in a second control state, where the numbers begin anew.
        let text =
            out.rfind("  start state S {\n    entry (b0").map(|at| out[at..].to_owned()).unwrap_or_default();
        let handler = text.find("    on eNumber").map(|at| text[at..].to_owned()).unwrap_or_default();
        let handler = handler.trim_end().trim_end_matches('}').trim_end().trim_end_matches('}').to_owned();
        let at = out.trim_end().trim_end_matches('}').trim_end().len();
        out.truncate(at);
        let begin = random.below(3);
        let _ = writeln!(out, "\n  state S2 {{\n    entry {{ a = {begin}; }}\n{handler}  }}\n}}");
    }
    let own = out_of(&mut random, nosy, &scope("a", "b"));
    let back = out_of(&mut random, nosy, &scope("a", "got.1.0"));
    let n_turns = random.between(2, 5);
    let step = match random.below(6) {
        0 => "a = a + 1;".to_owned(),
        1 => "if ($) { a = a + 1; }".to_owned(),
        2 => "b = a; a = a + 1;".to_owned(),
        3 => "a = a + 2;".to_owned(),
        4 => "if ($) { a = a + 1; } else { b = b + 1; }".to_owned(),
        _ => "if ($) { b = a; } a = a + 1;".to_owned(),
    };
    let n_peers = random.between(1, 2);
    let make = if n_peers == 2 {
        "peer = new Peer(this); other = new Peer(this);"
    } else {
        "peer = new Peer(this); other = peer;"
    };
    let begin =
        ["", "a = 1;", "a = 3; b = 3;", "c = -1; a = 2;", "k = 2; a = k * 3 + 1; k = 0;", "a = 2 - k;"]
            [random.below(6)];
    let target = ["peer", "other", "peer"][random.below(3)];
    let late = if nosy > 0 && random.chance(20) { "if ($) { a = 0; }" } else { "" };
    let _ = writeln!(
        out,
        "machine Main {{\n{fields}  var peer: machine; var other: machine;\n  start state S {{\n    entry {{ var t: string; var i: int; var turn: int;\n      \
         {make} {begin}\n      while (turn < {n_turns}) {{\n        turn = turn + 1;\n        {step} {late}\n{own}        \
         send {target}, eNumber, (n = a, old = b);\n      }}\n    }}\n    \
         on eBack do (got: (n: int, (int, int))) {{ var t: string; var i: int;\n{back}      {}\n    }}\n  }}\n}}",
        [
            "",
            "c = got.0;",
            "if (got.0 == a) { c = got.1.1; }",
            "if (k < 2) { k = k + 1; a = a + 1; send peer, eNumber, (n = a, old = got.0); }"
        ][random.below(4)],
    );
    out.push_str("test tc [main = Main]: assert Watch in { Main, Peer };\n");
    out.replace("(got: (n: int, (int, int)))", "(got: (int, (int, int)))")
        .replace("eBack: (n: int, (int, int))", "eBack: (int, (int, int))")
}

/// The variables that statements are about.
struct Scope<'a> {
    a: &'a str,
    b: &'a str,
    c: &'a str,
    set: &'a str,
    map: &'a str,
    seq: Option<&'a str>,
    hit: &'a str,
}

/// Some statements over numbers.
fn statements(random: &mut Random, nosy: u32, scope: &Scope<'_>) -> String {
    let Scope { a, b, c, set, map, seq, hit } = scope;
    let mut out = String::new();
    for _ in 0..random.between(0, 3) {
        let n = random.between(0, 4);
        let line = if random.chance(nosy) {
            match random.below(24) {
                0 => format!("if ({a} * 2 == {b} + {n}) {{ {hit} }}"),
                1 => format!("if ({a} - {b} == {n}) {{ {hit} }}"),
                2 => format!("if ({a} + {b} == {n}) {{ {hit} }}"),
                3 => format!("if ({a} / 2 == {n}) {{ {hit} }}"),
                4 => format!("if (-{a} == -{n}) {{ {hit} }}"),
                5 => format!("t = format(\"{{0}}\", {b}); if (t == \"{n}\") {{ {hit} }}"),
                6 => format!("{set} += ({b}); if (sizeof({set}) > {n}) {{ {hit} }}"),
                7 => format!("{map}[{a}] = {n}; foreach (i in keys({map})) {{ if (i == {b}) {{ {hit} }} }}"),
                8 => format!("{map}[{a}] = {b}; if (sizeof({map}) == {n}) {{ {hit} }}"),
                9 => match seq {
                    Some(seq) => format!("{seq} += (0, {a}); if ({b} < sizeof({seq})) {{ {hit} }}"),
                    None => format!("if ({a} < sizeof({set})) {{ {hit} }}"),
                },
                10 => match seq {
                    Some(seq) => format!(
                        "{seq} += (0, {n}); if ({b} >= 0 && {b} < 4) {{ if (sizeof({seq}) > 3) {{ if ({seq}[{b}] == {n}) {{ {hit} }} }} }}"
                    ),
                    None => format!("if ({a} == {n}) {{ {hit} }}"),
                },
                11 => format!("if ({a} % 2 == {}) {{ {hit} }}", n % 2),
                12 => format!("{c} = {n};"),
                13 => format!("foreach (i in {set}) {{ if (i > {b}) {{ {hit} }} }} {set} += ({a});"),
                14 => format!("{c} = {c} - 1; if ({c} == {b}) {{ {hit} }}"),
                16 => format!("y = {map}; if (sizeof(y) > {n}) {{ {hit} }} {map}[{a}] = {n};"),
                17 => format!("if (y == {map}) {{ {hit} }} else {{ y = {map}; }} {map}[{b}] = {n};"),
                18 => format!("x += ({set}); {set} += ({a}); if (sizeof(x) > {n}) {{ {hit} }}"),
                19 => format!("{c} = {n} * 2; if ({c} < {a}) {{ {c} = {c} + 1; }}"),
                20 => format!("{c} = sizeof({set}); if ({c} == {b}) {{ {hit} }} {set} += ({a});"),
                21 => format!("{c} = {n} - {c}; if ({c} == {a}) {{ {hit} }}"),
                22 => format!("if ({b} in y) {{ {hit} }} y = {map}; {map}[{a}] = {n};"),
                23 => format!("foreach (i in values(y)) {{ if (i == {n}) {{ {hit} }} }} y[{a}] = {b};"),
                _ => format!("if ({a} == {b} * {n}) {{ {hit} }}"),
            }
        } else {
            match random.below(30) {
                0 => format!("print format(\"{{0}}\", {a});"),
                1 => format!("if ({a} == {b}) {{ {hit} }}"),
                2 => format!("if ({a} < {b}) {{ {hit} }}"),
                3 => format!("if ({b} >= {c}) {{ {c} = {b}; }}"),
                4 => format!("if ({a} == {n}) {{ {hit} }}"),
                5 => format!("if ({b} > {n}) {{ {hit} }}"),
                6 => format!("{set} += ({b}); if ({a} in {set}) {{ {hit} }}"),
                7 => format!("if ({b} in {set}) {{ {hit} }} {set} += ({a});"),
                8 => format!("{map}[{b}] = {a}; if ({a} in {map}) {{ {hit} }}"),
                9 => format!("if ({a} in {map}) {{ if ({map}[{a}] == {b}) {{ {hit} }} }} {map}[{a}] = {b};"),
                10 => format!("{set} -= ({b});"),
                11 => format!("if ({a} + 1 == {b}) {{ {hit} }}"),
                12 => format!("{c} = {b} + 1;"),
                13 => format!("if ({a} % {} == {}) {{ {hit} }}", n % 3 + 1, n % 2),
                14 => format!("if ({b} - 1 == {c}) {{ {hit} }}"),
                15 => format!("if (({a}, {n}) == ({b}, {n})) {{ {hit} }}"),
                16 => format!("{c} = {a};"),
                17 => format!("if ({c} == {a}) {{ {hit} }} {c} = {b};"),
                18 => format!("{c} = {c} + 1; if ({c} == {a}) {{ {hit} }}"),
                19 => format!("{map} -= ({a}); if ({b} in {map}) {{ {hit} }}"),
                21 => format!("z[{b}] = ({a}, {n}); if ({c} in z) {{ if (z[{c}].0 == {a}) {{ {hit} }} }}"),
                22 => {
                    format!("if ({b} in z) {{ if (z[{b}].1 == {n}) {{ {hit} }} }} z[{a}] = ({b}, {});", n % 2)
                }
                23 => format!(
                    "if ({b} in z) {{ {c} = z[{b}].0; if ({c} in z) {{ {hit} }} }} z[{a}] = ({b}, {n});"
                ),
                24 => format!("if (({a} - 1) in {map}) {{ {hit} }} {map}[{b}] = {n};"),
                25 => format!("if (({b} - 2) in {set}) {{ {hit} }} {set} += ({a});"),
                26 => format!("if (({b} + 1) in {set}) {{ {hit} }} {set} += ({a});"),
                27 => format!("if ({n} in {map}) {{ {hit} }} {map}[{b}] = {a};"),
                28 => format!("if ({c} in {set}) {{ {hit} }} {set} += ({b}); {c} = {a};"),
                20 => match seq {
                    Some(seq) => format!(
                        "if (sizeof({seq}) < 2) {{ {seq} += (0, {a}); }} if ({b} in {seq}) {{ {hit} }}"
                    ),
                    None => format!("{set} += ({a});"),
                },
                _ => format!("if ({c} < {a}) {{ {c} = {a}; {hit} }}"),
            }
        };
        let _ = writeln!(out, "        {line}");
    }
    out
}
