//! Random small programs in which machines choose numbers, hand them to a shelf, and compare what comes back: with what was chosen, which is equal
//! whichever number it is, or with another choice, which is not.
//!
//! For each condition under which a choice keeps its name (`allways_machine::data`) there is a trait that needs it: machines that choose again without
//! a trace of it in their variables, machines made alike, machines that halt and make room for others, numbers of different places.

use std::fmt::Write as _;

use crate::random::Random;

/// The program of a seed.
pub fn echoes(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0xec_40e5);
    let n = random.between(4, 5);
    let mut out = String::from(
        "event eGo;\nevent ePut: (from: machine, v: int);\nevent eGot: int;\nevent eHit;\n\
         spec Watch observes ePut, eHit {\n  var last: int; var some: bool; var n: int;\n  start state S {\n",
    );
    let meets = match random.below(4) {
        0 => "if (some && last == put.v) { n = n + 1; } last = put.v; some = true;",
        1 => "if (some && last != put.v) { n = n + 1; } last = put.v; some = true;",
        2 => "last = put.v;",
        _ => "",
    };
    let _ = writeln!(
        out,
        "    on ePut do (put: (from: machine, v: int)) {{ {meets} assert n < {}; }}\n    \
         on eHit do {{ n = n + 1; assert n < {}; }}\n  }}\n}}",
        random.between(1, 3),
        random.between(1, 4)
    );
    // What the shelf does with one more, and what it sends back.
    let mut body = String::new();
    for _ in 0..random.between(0, 2) {
        body.push_str(match random.below(9) {
            0 => "if (some && kept == put.v) { announce eHit; }\n      ",
            1 => "if (some && kept != put.v) { announce eHit; }\n      ",
            2 => "if (put.v in row) { announce eHit; }\n      ",
            3 => "if (!(put.v in row)) { row += (sizeof(row), put.v); }\n      ",
            4 => "if (sizeof(row) < 2) { row += (0, put.v); }\n      if (put.v in row) { announce eHit; }\n      ",
            5 => "table[put.v] = 1; if (sizeof(table) > 1) { announce eHit; }\n      ",
            6 => "if ((put.v, 1) == (kept, 2)) { announce eHit; }\n      ",
            7 => "if (put.v == 2) { announce eHit; }\n      ",
            _ => "if ((kept, some) == (put.v, true)) { announce eHit; }\n      ",
        });
    }
    let back = ["put.v", "kept", "put.v", "row[0]"][random.below(4)];
    let answers = match back {
        "row[0]" => "if (sizeof(row) > 0) { send put.from, eGot, row[0]; }".to_owned(),
        other => format!("send put.from, eGot, {other};"),
    };
    let (before, after) = match random.below(3) {
        0 => ("kept = put.v; some = true;", ""),
        1 => ("", "kept = put.v; some = true;"),
        _ => ("", "if (!some) { kept = put.v; } some = true;"),
    };
    let answers = if random.chance(75) { answers.as_str() } else { "" };
    let _ = writeln!(
        out,
        "machine Shelf {{\n  var kept: int; var some: bool; var row: seq[int]; var table: map[int, int];\n  start state S {{\n    \
         on ePut do (put: (from: machine, v: int)) {{\n      {body}{before}\n      {answers}\n      {after}\n    }}\n  }}\n}}"
    );
    let halts = random.chance(30);
    let n_kinds = if random.chance(30) { 2 } else { 1 };
    for kind in 0..n_kinds {
        let other = if random.chance(25) { random.between(4, 5) } else { n };
        let picks = match random.below(4) {
            // It leaves no trace.
            0 | 1 => format!("x = choose({other}); send shelf, ePut, (from = this, v = x);"),
            2 => format!("mine = choose({other}); send shelf, ePut, (from = this, v = mine);"),
            _ => format!(
                "x = choose({other}); mine = choose({other}); if (x == mine) {{ announce eHit; }}\n      \
                 send shelf, ePut, (from = this, v = x);"
            ),
        };
        let hears = match random.below(4) {
            0 => "if (v == mine) { announce eHit; }",
            1 => "if (v != mine) { announce eHit; }",
            2 => "mine = v;",
            _ => "",
        };
        let ends = match (halts, random.below(2)) {
            (false, _) => "",
            (true, 0) => "raise halt;",
            (true, _) => "mine = 0; raise halt;",
        };
        let _ = writeln!(
            out,
            "machine Picker{kind} {{\n  var shelf: machine; var mine: int;\n  start state S {{\n    \
             entry (of: machine) {{ shelf = of; }}\n    \
             on eGo do {{ var x: int;\n      {picks}\n      {ends}\n    }}\n    \
             on eGot do (v: int) {{ {hears} }}\n  }}\n}}"
        );
    }
    let n_rounds = random.between(1, 3);
    let last = format!("Picker{}", n_kinds - 1);
    let rounds = match (halts, random.below(3)) {
        (true, _) => format!(
            "while (i < {n_rounds}) {{ i = i + 1; p = new Picker0(shelf); send p, eGo; }}\n      q = new {last}(shelf); send q, eGo;"
        ),
        (false, 0) => {
            format!("p = new Picker0(shelf);\n      while (i < {n_rounds}) {{ i = i + 1; send p, eGo; }}")
        }
        (false, 1) => format!(
            "p = new Picker0(shelf); q = new {last}(shelf);\n      send p, eGo; send q, eGo;\n      \
             while (i < {}) {{ i = i + 1; send p, eGo; }}",
            n_rounds - 1
        ),
        (false, _) => format!(
            "both += (new Picker0(shelf)); both += (new {last}(shelf));\n      foreach (p in both) {{ send p, eGo; }}\n      \
             while (i < {}) {{ i = i + 1; send choose(both), eGo; }}",
            n_rounds - 1
        ),
    };
    let kinds = if n_kinds == 2 { "Picker0, Picker1" } else { "Picker0" };
    let _ = writeln!(
        out,
        "machine Main {{\n  start state S {{\n    entry {{ var i: int; var p: machine; var q: machine; var shelf: machine; \
         var both: set[machine];\n      shelf = new Shelf();\n      {rounds}\n    }}\n    \
         ignore eGot;\n  }}\n}}\ntest tc [main = Main]: assert Watch in {{ Main, Shelf, {kinds} }};"
    );
    out
}
