//! Random small programs in which a machine makes workers, one after the other, that finish differently: they halt, rest, wait for ever, or
//! act by themselves. Their names are kept in different places, and used later, or not at all.
//!
//! For each condition under which a machine is garbage there is a [`Life`] or a [`Keeper`] that needs it: a search that leaves the condition out
//! loses a machine that acts, or takes two machines for one.

use std::fmt::Write as _;

use crate::random::Random;

/// What becomes of a worker when its work is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    Halts,
    Rests,
    /// It waits for a message that may never come: a deadlock.
    Blocks,
    /// It acts on an empty inbox, once.
    OnNull,
    /// It sends itself a message, and reports when it gets it.
    Itself,
    /// It makes a child that reports, or is asked later, and halts; or rests.
    MakesAndHalts,
    MakesAndRests,
    /// It makes its successor, and halts.
    Succeeds,
}

/// Where the name of a worker is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Keeper {
    Absent,
    Variable,
    Collection,
    /// In the variable, or the inbox, of a machine that rests.
    Holder,
    Inbox,
    /// A monitor, which compares names.
    Monitor,
    /// The worker before it.
    Former,
}

const LIVES: [Life; 8] = [
    Life::Halts,
    Life::Rests,
    Life::Blocks,
    Life::OnNull,
    Life::Itself,
    Life::MakesAndHalts,
    Life::MakesAndRests,
    Life::Succeeds,
];

const KEEPERS: [Keeper; 7] = [
    Keeper::Absent,
    Keeper::Variable,
    Keeper::Collection,
    Keeper::Holder,
    Keeper::Inbox,
    Keeper::Monitor,
    Keeper::Former,
];

/// How many kinds there are; they come in turn.
pub const N_KINDS: u64 = (LIVES.len() * KEEPERS.len()) as u64;

/// The program of a seed.
pub fn workers(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x6a_5b1d);
    let kind = (seed % N_KINDS) as usize;
    let (life, keeper) = (LIVES[kind % LIVES.len()], KEEPERS[kind / LIVES.len()]);
    let mut out = String::from(
        "event eGo;\nevent eWork: int;\nevent eDone: int;\nevent eTick;\nevent ePoke;\nevent eNever;\nevent eSeen: machine;\n\
         event eKeep: machine;\nevent eUse;\nevent eChild: (machine, int);\n",
    );
    let after = match life {
        Life::Halts => "raise halt;",
        Life::Rests => "",
        Life::Blocks => "receive { case ePoke: { send boss, eDone, 4; } }",
        Life::OnNull => "goto Bored;",
        Life::Itself => "send this, eTick;",
        Life::MakesAndHalts => "MAKE raise halt;",
        Life::MakesAndRests => "MAKE",
        Life::Succeeds => {
            "if (k > 1) { next = new Worker((boss, k - 1)); send next, eWork, k - 1; } raise halt;"
        }
    };
    let tells = if random.chance(50) { "send boss, eChild, (child, k);" } else { "send child, eWork, k;" };
    let after = after.replace("MAKE", &format!("child = new Child(boss); {tells}"));
    let n_workers = if life == Life::Succeeds { 1 } else { random.between(2, 3) };
    let first = if life == Life::Succeeds { 3 } else { 0 };
    let seen = match random.below(3) {
        0 => "announce eSeen, this;",
        1 => "if (k > 0) { announce eSeen, this; }",
        _ => "",
    };
    let poked = match random.below(3) {
        0 => "send boss, eDone, 7;",
        1 => "send boss, eDone, 7; raise halt;",
        _ => "",
    };
    let _ = writeln!(
        out,
        "machine Worker {{\n  var boss: machine; var next: machine; var child: machine; var former: machine;\n  start state S {{\n    \
         entry (made: (machine, int)) {{ boss = made.0; }}\n    on eWork do (k: int) {{\n      {seen}\n      {}\n      {after}\n    }}\n    \
         on eTick do {{ send boss, eDone, 5; }}\n    on ePoke do {{ {poked} }}\n    on eKeep do (m: machine) {{ former = m; {} }}\n  }}\n  \
         state Bored {{\n    on null do {{ send boss, eDone, 6; goto Over; }}\n    on ePoke do {{ {poked} }}\n    \
         on eKeep do (m: machine) {{ former = m; }}\n    ignore eWork, eTick;\n  }}\n  \
         state Over {{ ignore eWork, eTick, eKeep; on ePoke do {{ {poked} }} }}\n}}",
        if random.chance(70) { "send boss, eDone, k;" } else { "" },
        if random.chance(50) { "send m, ePoke;" } else { "" },
    );
    let _ = writeln!(
        out,
        "machine Child {{\n  var boss: machine;\n  start state S {{\n    entry (b: machine) {{ boss = b; {} }}\n    \
         on eWork do (k: int) {{ send boss, eDone, 2; {} }}\n    on ePoke do {{ send boss, eDone, 3; }}\n  }}\n}}",
        if random.chance(30) { "send boss, eDone, 1;" } else { "" },
        if random.chance(50) { "raise halt;" } else { "" },
    );
    let _ = writeln!(
        out,
        "machine Holder {{\n  var kept: machine;\n  start state S {{\n    on eKeep do (m: machine) {{ {} kept = m; }}\n    \
         on eUse do {{ if (kept != null) {{ send kept, ePoke; }} {} }}\n  }}\n  state Deferring {{\n    defer eKeep;\n    \
         on eUse goto S;\n  }}\n}}",
        if random.chance(50) {
            "if (kept != null) { assert kept != m, \"one name for two\"; send kept, ePoke; }"
        } else {
            ""
        },
        if random.chance(50) { "goto Deferring;" } else { "" },
    );
    let keep = match keeper {
        Keeper::Absent => "",
        Keeper::Variable => "if (last != null) { COMPARE } last = w;",
        Keeper::Collection => "all += (w); COUNT",
        Keeper::Holder => "send holder, eKeep, w;",
        Keeper::Inbox => "send holder, eKeep, w; send holder, eUse;",
        Keeper::Monitor => "announce eSeen, w;",
        Keeper::Former => "if (last != null) { send w, eKeep, last; } last = w;",
    };
    let compare = *random.pick(&["assert last != w, \"one name for two\";", "send last, ePoke;", ""]);
    let count = *random.pick(&["assert sizeof(all) == n + 1, \"one name for two\";", ""]);
    let keep = keep.replace("COMPARE", compare).replace("COUNT", count);
    let last = match keeper {
        Keeper::Variable | Keeper::Former => {
            *random.pick(&["send last, ePoke;", "last = default(machine);", ""])
        }
        Keeper::Collection => *random.pick(&["foreach (w in all) { send w, ePoke; }", ""]),
        Keeper::Holder | Keeper::Inbox => "send holder, eUse;",
        Keeper::Absent | Keeper::Monitor => "",
    };
    // Workers are made when asked for, or when the one before has reported.
    let go = if random.chance(50) { "send this, eGo;" } else { "" };
    let on_done = if go.is_empty() { "if (k == AGAIN) { send this, eGo; }" } else { "" };
    let again = *random.pick(&["n", "4", "5", "7"]);
    let wrong = random.below(9);
    let claim = if random.chance(30) { format!("assert k != {wrong}, \"wrong\";") } else { String::new() };
    let _ = writeln!(
        out,
        "machine Main {{\n  var n: int; var last: machine; var all: set[machine]; var holder: machine; var kids: seq[machine];\n  \
         start state S {{\n    entry {{ holder = new Holder(); {} send this, eGo; }}\n    on eGo do {{\n      var w: machine;\n      \
         if (n < {n_workers}) {{\n        w = new Worker((this, {first}));\n        {keep}\n        n = n + 1;\n        \
         send w, eWork, {};\n        {go}\n      }} else {{\n        {last}\n      }}\n    }}\n    \
         on eDone do (k: int) {{ {claim} {} }}\n    on eChild do (it: (machine, int)) {{\n      {}\n      send it.0, eWork, it.1;\n    }}\n  }}\n}}",
        if random.chance(30) { "send holder, eUse;" } else { "" },
        if life == Life::Succeeds { "3" } else { "n" },
        on_done.replace("AGAIN", again),
        if random.chance(50) {
            "if (sizeof(kids) > 0) { assert kids[0] != it.0, \"one name for two\"; send kids[0], ePoke; }\n      kids += (0, it.0);"
        } else {
            ""
        },
    );
    let compared = *random.pick(&[
        "assert !(m in seen), \"one name for two\"; seen += (m);",
        "if (!(m in seen)) { n = n + 1; } seen += (m); assert n < 3, \"three\";",
        "if (last == m) { goto Hot; } last = m;",
    ]);
    let _ = writeln!(
        out,
        "spec Watch observes eSeen {{\n  var seen: set[machine]; var last: machine; var n: int;\n  start state S {{\n    \
         on eSeen do (m: machine) {{ {compared} }}\n  }}\n  hot state Hot {{ ignore eSeen; }}\n}}"
    );
    out.push_str("test tc [main = Main]: assert Watch in { Main, Worker, Child, Holder };\n");
    out
}
