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
    // Up to which constant numbers are compared: those above may be renumbered.
    let most = [0, 0, 1, 4][random.below(4)];
    let mut out = format!(
        "event eNumber: (n: int, old: int);\nevent eBack: (n: int, (int, int));\nevent eKept: (n: int, tag: int);\nevent eHit;\n\
         event eReset: int;\nevent eAgain: int;\n{FUNCTIONS}\
         spec Watch observes eKept, eHit {{\n  var last: int; var best: int; var hits: int; var past: set[int];\n  \
         var when: map[int, int];{COLLECTIONS}\n  start state S {{\n",
    );
    // Or in a single place.
    let mut place = if nosy == 0 { random.below(12) as u32 } else { u32::MAX };
    let mut out_of = |random: &mut Random, nosy, scope: &Scope<'_>| {
        place = place.wrapping_sub(1);
        statements(random, [if place == 0 { 100 } else { nosy }, most], scope)
    };
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
                  var p: (int, (int, int));\n";
    let fields = &format!("{fields} {COLLECTIONS}\n");
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
    let handler = format!(
        "on eNumber do (got: (n: int, old: int)) {{ var t: string; var i: int;\n{first}      {keep}\n{second}      \
         announce eKept, (n = a, tag = {});\n      {reply}\n    }}",
        random.below(2)
    );
    let begin = ["", "a = 1;", "goto S2, 1;"][random.below(3)];
    let resets = random.chance(25);
    let _ = writeln!(
        out,
        "machine Peer {{\n{fields}  var boss: machine;\n  start state S {{\n    entry (b0: machine) {{ boss = b0; {begin} }}\n    \
         {handler}\n    {}\n  }}",
        peer_resets(&mut random, resets)
    );
    if resets || begin.starts_with("goto") {
        // The same in a second control state, where the numbers may begin anew.
        let from = random.below(3);
        let entry = ["a = x;", "b = x;", "a = x + 1; b = x;", "", "a = 0;", "a = from; b = x;"]
            [random.below(6)]
        .replace("from", &from.to_string());
        let again =
            ["ignore eReset, eAgain;", "ignore eAgain; on eReset do (x: int) { c = x; }"][random.below(2)];
        let _ = writeln!(
            out,
            "  state S2 {{\n    entry (x: int) {{ {entry} }}\n    {handler}\n    {again}\n  }}"
        );
    }
    out.push_str("}\n");
    let own = out_of(&mut random, nosy, &scope("a", "b"));
    let back = out_of(&mut random, nosy, &scope("a", "got.1.0"));
    let n_turns = random.between(2, 6);
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
    // Runs that differ by a renumbering from the beginning.
    let apart = [
        "",
        "",
        "if ($) { a = a + 1; }",
        "if ($) { a = a + 5; b = a; }",
        "a = a + 3; if ($) { b = a; a = a + 2; }",
    ][random.below(5)];
    let target = ["peer", "other", "peer"][random.below(3)];
    let reset = match (resets, random.below(4)) {
        (false, _) => String::new(),
        (true, 0) => format!("if (turn == {}) {{ send peer, eReset, 0; }}", random.between(1, n_turns)),
        (true, 1) => format!("if (turn == {}) {{ send peer, eReset, a; }}", random.between(1, n_turns)),
        (true, 2) => "if ($) { send peer, eReset, 1; }".to_owned(),
        (true, _) => format!("if (turn == {}) {{ other = new Peer(this); }}", random.between(1, n_turns)),
    };
    let late = if nosy > 0 && random.chance(20) { "if ($) { a = 0; }" } else { "" };
    let _ = writeln!(
        out,
        "machine Main {{\n{fields}  var peer: machine; var other: machine;\n  start state S {{\n    entry {{ var t: string; var i: int; var turn: int;\n      \
         {make} {begin} {apart}\n      while (turn < {n_turns}) {{\n        turn = turn + 1;\n        {step} {late} {reset}\n{own}        \
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

/// Functions through which numbers go.
const FUNCTIONS: &str = "fun next(x: int): int { return x + 1; }\nfun zero(): int { return 0; }\n\
                         fun same(x: int, y: int): int { if (x == y) { return x; } return y; }\n";
const COLLECTIONS: &str = "\n  var z: map[int, (int, int)]; var y: map[int, int]; var x: set[set[int]]; var w: map[int, map[int, int]]; \
                           var u: set[(int, int)]; var l: seq[int]; var d: any; var o: map[(int, int), int];";

/// How a peer comes to count anew.
fn peer_resets(random: &mut Random, resets: bool) -> &'static str {
    if !resets {
        return "ignore eReset, eAgain;";
    }
    [
        "on eReset goto S2; ignore eAgain;",
        "on eReset goto S2 with (x: int) { a = x; } ignore eAgain;",
        "on eReset goto S2 with (x: int) { b = 0; } exit { c = 1; } ignore eAgain;",
        "on eReset do (x: int) { raise eAgain, x; } on eAgain goto S2;",
        "on eReset do (x: int) { raise eAgain, 0; } on eAgain do (x: int) { a = x; goto S2, a; }",
        "on eReset do (x: int) { goto S2, x; } exit { a = 0; } ignore eAgain;",
        "on eReset do (x: int) { receive { case eNumber: (got: (n: int, old: int)) { a = got.n; b = 0; } } goto S2, b; } ignore eAgain;",
        "on eReset do (x: int) { a = zero(); goto S2, next(a); } ignore eAgain;",
        "on eReset do (x: int) { a = x; } ignore eAgain;",
        "on eReset do (x: int) { a = 0; } ignore eAgain;",
    ][random.below(10)]
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

/// A number that is nested more deeply than numbers are followed.
fn deep(number: &str) -> String {
    let (open, close) = ("(".repeat(14), ", 0)".repeat(14));
    format!("{open}{number}{close}")
}

/// Some statements over numbers.
fn statements(random: &mut Random, [nosy, most]: [u32; 2], scope: &Scope<'_>) -> String {
    let Scope { a, b, c, set, map, seq, hit } = scope;
    let mut out = String::new();
    for _ in 0..random.between(0, 3) {
        let n = random.between(0, most as usize);
        let line = if random.chance(nosy) {
            match random.below(39) {
                // Specs cannot make choices.
                24 | 25 | 27 if seq.is_none() => format!("{c} = {n};"),
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
                24 => format!("if (choose({n} + 2) == {a}) {{ {hit} }}"),
                25 => format!("if ({a} > 0 && {a} < 4) {{ if (choose({a}) == {n}) {{ {hit} }} }}"),
                26 => format!("if (({a} to float) > {n}.0) {{ {hit} }}"),
                27 => format!("{set} += ({a}); {c} = choose({set}); if ({c} == {n}) {{ {hit} }}"),
                28 => {
                    format!("o[({a}, {n})] = {n}; foreach (i in values(o)) {{ if (i == {b}) {{ {hit} }} }}")
                }
                29 => format!("d = ({a}, {b}); if (d == ({n}, {c})) {{ {hit} }}"),
                35 => format!("foreach (i in {set}) {{ if (i * 2 == {n}) {{ {hit} }} }} {set} += ({a});"),
                36 => format!("y = {map}; {map}[{a}] = {n}; if (y == {map}) {{ {hit} }}"),
                37 => format!(
                    "foreach (i in keys({map})) {{ if (i * 2 == {n} + 2) {{ {hit} }} }} {map}[{b}] = {n};"
                ),
                // Out of range is an error.
                30 => format!(
                    "l = default(seq[int]); l += (0, {n}); l += (1, 7); if (l[{a}] == {n}) {{ {hit} }}"
                ),
                31 => format!("l = default(seq[int]); l += (0, {n}); if ({b} == {c}) {{ l += ({b}, {n}); }}"),
                32 => format!(
                    "l = default(seq[int]); l += (0, {n}); l += (1, 7); if ({a} == {c}) {{ l -= ({a}); }}"
                ),
                34 => format!("{c} = ({n}.0 to int); if ({c} == {a}) {{ {hit} }}"),
                33 => format!("if (d == {}) {{ {hit} }} d = {};", deep(a), deep(b)),
                _ => format!("if ({a} == {b} * {n}) {{ {hit} }}"),
            }
        } else {
            match random.below(48) {
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
                30 => format!("if (next({a}) == {b}) {{ {hit} }}"),
                31 => format!("{c} = same({a}, {b}); if ({c} == {n}) {{ {hit} }}"),
                32 => format!("{c} = zero();"),
                33 => format!(
                    "if (!({a} in w)) {{ w[{a}] = {map}; }} if ({b} in w) {{ if ({c} in w[{b}]) {{ {hit} }} }}"
                ),
                34 => format!("u += (({a}, {b})); if (({b}, {c}) in u) {{ {hit} }}"),
                35 => format!(
                    "if (sizeof(l) < 2) {{ l += (0, {b}); }} foreach (i in l) {{ if (i == {a}) {{ {hit} }} }}"
                ),
                36 => format!(
                    "l = default(seq[int]); l += (0, {a}); l += (1, {b}); if (l[{}] == {c}) {{ {hit} }}",
                    n % 2
                ),
                37 => format!("d = {a}; if (d == {b}) {{ {hit} }} {c} = d as int;"),
                38 => format!("o[({a}, {n})] = {b}; if (({b}, {n}) in o) {{ {hit} }}"),
                39 => format!("{map}[{a}] = {b}; {map}[{b}] = {map}[{a}]; if ({c} in {map}) {{ {hit} }}"),
                40 => format!("d = ({a}, {n}); if (d == ({b}, {n})) {{ {hit} }}"),
                41 => format!(
                    "if ({a} in {map} && {b} in {map}) {{ if ({map}[{a}] < {map}[{b}]) {{ {hit} }} }} {map}[{a}] = {c};"
                ),
                42 => format!("y[{b}] = {n}; y -= ({a}); if ({a} - 2 in y) {{ {hit} }}"),
                43 => format!(
                    "if ({a} in {set}) {{ x += ({set}); }} if ({set} in x) {{ {hit} }} {set} += ({b});"
                ),
                45 => format!("foreach (i in {set}) {{ if (i < {b}) {{ {c} = i; }} }} {set} += ({a});"),
                46 => format!("{c} = {a} - 1; if (({c} - 1) in {map}) {{ {hit} }} {map}[{b}] = {n};"),
                47 => format!(
                    "z[{b}] = ({a}, {n}); if ({c} in z) {{ {c} = z[{c}].0 + 1; if ({c} in {set}) {{ {hit} }} }} {set} += ({b});"
                ),
                _ => format!("if ({c} < {a}) {{ {c} = {a}; {hit} }}"),
            }
        };
        let _ = writeln!(out, "        {line}");
    }
    out
}
