//! Random asynchronous Boogie programs over finite data, with most of what the language has: branches,
//! loops, jumps, recursion, handles, atomic sections, contracts, maps, variables of a task's own.
//!
//! Every run is finite: loops are counted, procedures call and post only later ones, or themselves with a
//! Boolean argument that is then false.

use std::fmt::Write;

use crate::random::Random;

/// The program of this seed.
pub fn generate(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0xb009_1e00_0000_0000);
    let features = Features {
        waits: random.chance(70),
        asserts: random.chance(60),
        map: random.chance(30),
        counter: random.chance(30),
        own: random.chance(20),
        atomic: random.chance(25),
        recursion: random.chance(30),
        contracts: random.chance(20),
        wait_all: random.chance(15),
        yields: [25, 50, 80][random.below(3)],
    };
    let n_procs = 2 + random.below(3);
    let takes = (0..n_procs).map(|idx| idx > 0 && features.waits && random.chance(30)).collect();
    let generator =
        Generator { random, features, takes, n_posts: 0, n_left: 0, out: String::new(), n_labels: 0 };
    generator.program()
}

#[derive(Clone, Copy)]
struct Features {
    waits: bool,
    asserts: bool,
    map: bool,
    counter: bool,
    /// A variable of each task's own.
    own: bool,
    atomic: bool,
    recursion: bool,
    contracts: bool,
    wait_all: bool,
    /// In percent, before each statement.
    yields: u32,
}

const MAX_POSTS: usize = 4;
const N_HANDLES: usize = 2;

struct Generator {
    random: Random,
    features: Features,
    /// Which procedures take a handle.
    takes: Vec<bool>,
    n_posts: usize,
    /// Statements that the current procedure may still have.
    n_left: usize,
    out: String,
    n_labels: usize,
}

/// Where a statement stands.
#[derive(Clone)]
struct Place {
    proc: usize,
    indent: usize,
    /// Handles that are assigned here on every path.
    handles: Vec<String>,
    in_loop: bool,
    /// Loops and atomic sections are not nested.
    is_simple: bool,
}

impl Generator {
    fn program(mut self) -> String {
        let f = self.features;
        self.out.push_str("type task a;\nvar g0: bool;\nvar g1: bool;\n");
        if f.map {
            self.out.push_str("var m: [bool]bool;\n");
        }
        if f.counter {
            self.out.push_str("var c: int;\n");
        }
        if f.own {
            self.out.push_str("var {:thread_local} l: bool;\n");
        }
        if f.atomic {
            self.out.push_str("procedure corral_atomic_begin();\nprocedure corral_atomic_end();\n");
        }
        for idx in 0..self.takes.len() {
            self.procedure(idx);
        }
        self.out
    }

    fn procedure(&mut self, idx: usize) {
        let entry = if idx == 0 { "{:entrypoint} " } else { "" };
        let params = match (idx, self.takes[idx]) {
            (0, _) => "",
            (_, false) => "a: bool",
            (_, true) => "a: bool, h: task bool",
        };
        let _ = writeln!(self.out, "procedure {entry}p{idx}({params}) returns (r: bool)");
        if self.features.contracts && idx > 0 {
            let free = if self.features.asserts && self.random.chance(50) { "" } else { "free " };
            match self.random.below(4) {
                0 => {
                    let _ = writeln!(self.out, "  {free}requires a || g{};", self.random.below(2));
                }
                1 => {
                    let _ = writeln!(self.out, "  {free}ensures r || old(g{});", self.random.below(2));
                }
                _ => {}
            }
        }
        self.out.push_str("{\n");
        for handle in 0..N_HANDLES {
            let _ = writeln!(self.out, "  var h{handle}: task bool;");
        }
        self.out.push_str("  var d: bool;\n  var n: int;\n  d := false;\n");
        let mut place = Place { proc: idx, indent: 1, handles: Vec::new(), in_loop: false, is_simple: false };
        if idx == 0 {
            self.out.push_str("  g0, g1 := false, false;\n");
            if self.features.map {
                self.out.push_str("  m[false] := false;\n  m[true] := false;\n");
            }
            if self.features.counter {
                self.out.push_str("  c := 0;\n");
            }
        }
        if self.features.own {
            self.out.push_str("  l := false;\n");
        }
        if self.takes[idx] {
            place.handles.push("h".to_owned());
        }
        self.n_left = 2 + self.random.below(4);
        while self.n_left > 0 {
            self.statement(&mut place);
        }
        let result = self.term(&place);
        let _ = writeln!(self.out, "  r := {result};\n}}");
    }

    fn line(&mut self, place: &Place, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "  ".repeat(place.indent));
    }

    fn block(&mut self, place: &Place, most: usize) {
        let mut inner = Place { indent: place.indent + 1, ..place.clone() };
        for _ in 0..1 + self.random.below(most) {
            self.statement(&mut inner);
        }
    }

    /// A Boolean expression.
    fn term(&mut self, place: &Place) -> String {
        let global = self.random.below(2);
        match self.random.below(9) {
            0 => ["true", "false"][self.random.below(2)].to_owned(),
            1 | 2 => format!("g{global}"),
            3 => format!("!g{global}"),
            4 if place.proc > 0 => "a".to_owned(),
            5 if self.features.map => format!("m[{}]", ["g0", "!g1", "d", "true"][self.random.below(4)]),
            6 if self.features.counter => format!("c == {}", self.random.below(3)),
            7 if self.features.own => "l".to_owned(),
            7 => format!("old(g{global})"),
            _ => ["d", "g0 == g1", "(g0 || g1)", "(if d then g0 else g1)"][self.random.below(4)].to_owned(),
        }
    }

    fn statement(&mut self, place: &mut Place) {
        self.n_left = self.n_left.saturating_sub(1);
        if self.random.chance(self.features.yields) {
            let point = match self.random.below(12) {
                0 => "assume {:yield 1} true;".to_owned(),
                1 => "assume {:yield 1, 2} true;".to_owned(),
                2 => format!("assume {{:yield {}}} true;", self.term(place)),
                3..=6 => "yield;".to_owned(),
                _ => "assume {:yield} true;".to_owned(),
            };
            self.line(place, &point);
        }
        let nests = self.n_left > 0;
        match self.random.below(24) {
            0..=3 => self.post(place),
            4..=6 if self.features.waits && !place.handles.is_empty() => {
                let handle = place.handles[self.random.below(place.handles.len())].clone();
                let target = ["", "g0, ", "g1, ", "d, "][self.random.below(4)];
                self.line(place, &format!("assume {{:wait {target}{handle}}} true;"));
            }
            // A handle that may not be assigned: a failure like that of an assertion.
            4 if self.features.waits && self.features.asserts => {
                self.line(place, "if (g0) { assume {:wait h0} true; }");
            }
            7 if self.features.wait_all => {
                self.line(place, "assume {:waitall} true;");
            }
            8 => self.call(place),
            9 => {
                let term = self.term(place);
                self.line(place, &format!("assume {term};"));
            }
            10 | 11 if self.features.asserts => {
                let term = self.term(place);
                self.line(place, &format!("assert {term};"));
            }
            12 if nests => {
                let guard = if self.random.chance(30) { "*".to_owned() } else { self.term(place) };
                self.line(place, &format!("if ({guard}) {{"));
                self.block(place, 2);
                if self.random.chance(50) {
                    self.line(place, "} else {");
                    self.block(place, 2);
                }
                self.line(place, "}");
            }
            13 if nests && !place.in_loop => {
                self.line(place, "n := 0;");
                let most = 1 + self.random.below(2);
                self.line(place, &format!("while (n < {most}) {{"));
                let inner = Place { in_loop: true, is_simple: true, ..place.clone() };
                self.block(&inner, 2);
                self.line(&inner, "  n := n + 1;");
                self.line(place, "}");
            }
            14 if nests && self.features.atomic && !place.is_simple => {
                self.line(place, "call corral_atomic_begin();");
                let inner = Place { is_simple: true, ..place.clone() };
                self.block(&inner, 3);
                self.line(place, "call corral_atomic_end();");
            }
            15 if nests && place.indent == 1 => {
                let label = self.n_labels;
                self.n_labels += 1;
                self.line(place, &format!("goto A{label}, B{label};"));
                self.line(place, &format!("A{label}:"));
                self.statement(&mut place.clone());
                self.line(place, &format!("goto C{label};"));
                self.line(place, &format!("B{label}:"));
                self.statement(&mut place.clone());
                self.line(place, &format!("C{label}:"));
            }
            16 if place.indent > 1 && !place.in_loop && self.random.chance(50) => {
                self.line(place, "r := g0;");
                self.line(place, "return;");
                // What would follow is not reached.
                self.line(place, "d := true;");
            }
            17 => {
                let target = ["g0", "g1", "d"][self.random.below(3)];
                self.line(place, &format!("havoc {target};"));
            }
            18 => {
                let (one, two) = (self.term(place), self.term(place));
                self.line(place, &format!("g0, g1 := {one}, {two};"));
            }
            19 if self.features.map => {
                let (index, value) = (self.term(place), self.term(place));
                self.line(place, &format!("m[{index}] := {value};"));
            }
            20 if self.features.counter => self.line(place, "c := (c + 1) mod 3;"),
            21 if self.features.own => {
                let value = self.term(place);
                self.line(place, &format!("l := {value};"));
            }
            _ => {
                let target = ["g0", "g1", "g0", "g1", "d"][self.random.below(5)];
                let value = self.term(place);
                self.line(place, &format!("{target} := {value};"));
            }
        }
    }

    /// A later procedure, or the same one with `false` as its argument; with the arguments, and a guard.
    fn callee(&mut self, place: &Place) -> Option<(usize, String, bool)> {
        if self.n_posts >= MAX_POSTS {
            return None;
        }
        self.n_posts += 1;
        if self.features.recursion && place.proc > 0 && !self.takes[place.proc] && self.random.chance(40) {
            return Some((place.proc, "false".to_owned(), true));
        }
        let callees: Vec<usize> = (place.proc + 1..self.takes.len())
            .filter(|&callee| !self.takes[callee] || !place.handles.is_empty())
            .collect();
        if callees.is_empty() {
            return None;
        }
        let callee = callees[self.random.below(callees.len())];
        let mut args = self.term(place);
        if self.takes[callee] {
            let handle = &place.handles[self.random.below(place.handles.len())];
            let _ = write!(args, ", {handle}");
        }
        Some((callee, args, false))
    }

    fn post(&mut self, place: &mut Place) {
        let Some((callee, args, guarded)) = self.callee(place) else {
            return self.line(place, "g1 := !g1;");
        };
        let handle = (self.features.waits && self.random.chance(70)).then(|| self.random.below(N_HANDLES));
        let call = match handle {
            Some(handle) => format!("call {{:async h{handle}}} d := p{callee}({args});"),
            None if self.random.chance(50) => format!("async call p{callee}({args});"),
            None => format!("call {{:async}} d := p{callee}({args});"),
        };
        if guarded {
            self.line(place, &format!("if (a) {{ {call} }}"));
        } else {
            self.line(place, &call);
            if let Some(handle) = handle {
                let name = format!("h{handle}");
                if !place.handles.contains(&name) {
                    place.handles.push(name);
                }
            }
        }
    }

    fn call(&mut self, place: &mut Place) {
        let Some((callee, args, guarded)) = self.callee(place) else {
            return self.line(place, "g0 := !g0;");
        };
        let target = ["d", "g0", "g1"][self.random.below(3)];
        let call = format!("call {target} := p{callee}({args});");
        self.line(place, &if guarded { format!("if (a) {{ {call} }}") } else { call });
    }
}
