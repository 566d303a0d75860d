//! Random small programs that choose numbers and carry them about: some only store and send them, others use them so
//! that numbers are distinguished. There is a kind of statement for each operation that the plan of chosen numbers
//! (`allways_machine::data`) has to notice, beside kinds that it must not mind.

use std::fmt::Write as _;

use crate::random::Random;

/// The program of a seed.
pub fn carrier(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x0da7_a1d5);
    // Mostly such that little distinguishes numbers, or the plan would keep nothing.
    let nosy = [10, 30, 60][random.below(3)] as u32;
    let mut out = String::from(
        "event eValue: (int, int);\nevent eKept: (value: int, tag: int);\nevent eHit;\n\
         spec Watch observes eKept, eHit {\n  var last: int;\n  var n: int;\n  start state S {\n",
    );
    let monitor = statements(&mut random, nosy, "last", "kept.value", false);
    let _ = writeln!(
        out,
        "    on eKept do (kept: (value: int, tag: int)) {{ var t: string;\n{monitor}      last = kept.value; }}\n    \
         on eHit do {{ n = n + 1; assert n < {}; }}\n  }}\n}}",
        random.between(1, 4)
    );
    let fields =
        "  var a: int; var b: int; var n: int;\n  var m: map[int, int]; var s: set[int]; var q: seq[int];\n";
    let peer = statements(&mut random, nosy, "a", "b", true);
    let again = statements(&mut random, nosy, "a", "value.1", true);
    let _ = writeln!(
        out,
        "machine Peer {{\n{fields}  start state S {{\n    on eValue do (value: (int, int)) {{ var t: string;\n{again}      \
         a = value.0; b = value.1;\n{peer}      announce eKept, (value = a, tag = {});\n    }}\n  }}\n}}",
        random.below(2)
    );
    let (first, second) = (random.between(2, 5), random.between(2, 6));
    let own = statements(&mut random, nosy, "a", "b", true);
    let n_sends = random.between(1, 3);
    let _ = writeln!(
        out,
        "machine Main {{\n{fields}  var peer: machine;\n  start state S {{\n    entry {{ var t: string; var i: int;\n      \
         peer = new Peer();\n      while (i < {n_sends}) {{\n        i = i + 1;\n        a = choose({first});\n        \
         {}\n{own}        send peer, eValue, (a, b);\n      }}\n    }}\n  }}\n}}",
        match random.below(4) {
            0 => "b = a;".to_owned(),
            1 => format!("if ($) {{ b = choose({second}); }}"),
            2 => "b = 1;".to_owned(),
            _ => format!("b = choose({second});"),
        },
    );
    out.push_str("test tc [main = Main]: assert Watch in { Main, Peer };\n");
    out
}

/// Some statements over two numbers.
fn statements(random: &mut Random, nosy: u32, a: &str, b: &str, is_machine: bool) -> String {
    let mut out = String::new();
    for _ in 0..random.between(0, 2) {
        let c = random.between(0, 4);
        let hit = if is_machine { "announce eHit;" } else { "n = n + 1; assert n < 3;" };
        let line = if random.chance(nosy) {
            match random.below(if is_machine { 15 } else { 9 }) {
                0 => format!("if ({a} == {c}) {{ {hit} }}"),
                1 => format!("if ({a} != {b}) {{ {hit} }}"),
                2 => format!("if ({a} < {c}) {{ {hit} }}"),
                3 => format!("if ({c} <= {b}) {{ {hit} }}"),
                4 => format!("if ({b} > {a}) {{ {hit} }}"),
                5 => format!("if (({a}, 1) == ({b}, 1)) {{ {hit} }}"),
                6 => format!("if ({a} + 1 == {c}) {{ {hit} }}"),
                7 => format!("t = format(\"{{0}}\", {b}); if (t == \"{c}\") {{ {hit} }}"),
                8 => format!("if (-{b} == -{c}) {{ {hit} }}"),
                9 => format!("m[{b}] = {c}; if (sizeof(m) > 1) {{ {hit} }}"),
                10 => format!("s += ({a}); if (sizeof(s) > 1) {{ {hit} }}"),
                11 => format!("s += ({c}); if ({b} in s) {{ {hit} }}"),
                12 => format!("q += (0, {c}); if ({b} < sizeof(q)) {{ {hit} }}"),
                13 => format!("q += (0, {a}); if (q[0] == {c}) {{ {hit} }}"),
                _ => format!("if ({a} in q) {{ {hit} }} q += (0, {b});"),
            }
        } else {
            match random.below(if is_machine { 7 } else { 2 }) {
                0 => format!("print format(\"{{0}}\", {a});"),
                1 => format!("t = format(\"{{0}}\", {c}); if (t == \"1\") {{ {hit} }}"),
                2 => format!("n = {b};"),
                3 => format!("if (sizeof(q) < 2) {{ q += (0, {a}); }}"),
                4 => format!("m[{c}] = {b};"),
                5 => "if (sizeof(q) > 0) { n = q[0]; }".to_owned(),
                _ => format!("n = (first = {a}, second = {b}).second;"),
            }
        };
        let _ = writeln!(out, "        {line}");
    }
    out
}
