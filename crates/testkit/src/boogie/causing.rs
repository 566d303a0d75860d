//! Random asynchronous Boogie programs over finite data in which tasks cause tasks, some of them for ever.
//!
//! Tasks run to completion and have no loops, so an infinite run has infinitely many tasks.

use std::fmt::Write;

use crate::random::Random;

/// Posts in the body of one task at most.
const MAX_POSTS: usize = 2;

/// The program of this seed.
pub fn generate(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0xca05_1460_0000_0000);
    let n_procs = 1 + random.below(3);
    let takes = (0..n_procs).map(|_| random.chance(40)).collect();
    let modulus = random.chance(40).then(|| 2 + random.below(2));
    let has_latches = random.chance(40);
    let generator = Generator {
        random,
        takes,
        modulus,
        has_latches,
        has_helper: false,
        n_posts: 0,
        n_left: 0,
        out: String::new(),
    };
    generator.program()
}

struct Generator {
    random: Random,
    /// Which tasks have an argument.
    takes: Vec<bool>,
    /// Of the counter, if there is one.
    modulus: Option<usize>,
    /// Variables to which tasks assign one constant only.
    has_latches: bool,
    has_helper: bool,
    /// Posts of the body so far.
    n_posts: usize,
    /// Statements that the body may still have.
    n_left: usize,
    out: String,
}

impl Generator {
    fn program(mut self) -> String {
        self.has_helper = self.random.chance(25);
        self.out.push_str("var x: bool;\nvar y: bool;\n");
        if self.modulus.is_some() {
            self.out.push_str("var i: int;\n");
        }
        if self.has_latches {
            self.out.push_str("var done: bool;\nvar seen: [bool]bool;\n");
        }
        self.out.push_str("procedure {:entrypoint} main()\n{\n  x, y := false, false;\n");
        if self.has_latches {
            self.out.push_str("  done := false;\n  seen[false] := false;\n  seen[true] := false;\n");
        }
        if self.modulus.is_some() {
            self.out.push_str("  i := 0;\n");
        }
        for _ in 0..1 + self.random.below(2) {
            let callee = self.random.below(self.takes.len());
            let arg = if self.takes[callee] { ["false", "true"][self.random.below(2)] } else { "" };
            let _ = writeln!(self.out, "  call {{:async}} p{callee}({arg});");
        }
        self.out.push_str("}\n");
        if self.has_helper {
            self.out.push_str("procedure flip()\n{\n  y := !y;\n}\n");
        }
        for idx in 0..self.takes.len() {
            let param = if self.takes[idx] { "a: bool" } else { "" };
            let _ = writeln!(self.out, "procedure p{idx}({param})\n{{");
            self.n_posts = 0;
            self.n_left = 2 + self.random.below(4);
            while self.n_left > 0 {
                self.statement(idx, 1);
            }
            self.out.push_str("}\n");
        }
        self.out
    }

    fn line(&mut self, indent: usize, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "  ".repeat(indent));
    }

    /// A place that only ever becomes true.
    fn latch(&mut self, proc: usize) -> String {
        let index = match self.takes[proc] {
            true => ["a", "a", "!a", "x"][self.random.below(4)],
            false => ["true", "false", "x"][self.random.below(3)],
        };
        if self.random.chance(50) { "done".to_owned() } else { format!("seen[{index}]") }
    }

    fn term(&mut self, proc: usize) -> String {
        if self.has_latches && self.random.chance(40) {
            let latch = self.latch(proc);
            return if self.random.chance(70) { format!("!{latch}") } else { latch };
        }
        match self.random.below(8) {
            0 => ["true", "false"][self.random.below(2)].to_owned(),
            1 => "x".to_owned(),
            2 => "!x".to_owned(),
            3 => "y".to_owned(),
            4 => "x == y".to_owned(),
            5 if self.modulus.is_some() => format!("i == {}", self.random.below(3)),
            6 | 7 if self.takes[proc] => ["a", "!a"][self.random.below(2)].to_owned(),
            _ => "!y".to_owned(),
        }
    }

    fn statement(&mut self, proc: usize, indent: usize) {
        self.n_left = self.n_left.saturating_sub(1);
        if self.has_latches && self.random.chance(25) {
            if self.random.chance(25) {
                let guard = self.term(proc);
                return self.line(indent, &format!("if ({guard}) {{ return; }}"));
            }
            let latch = self.latch(proc);
            return self.line(indent, &format!("{latch} := true;"));
        }
        match (self.random.below(16), self.modulus) {
            (0..=4, _) if self.n_posts < MAX_POSTS => {
                self.n_posts += 1;
                let callee = self.random.below(self.takes.len());
                let arg = if self.takes[callee] { self.term(proc) } else { String::new() };
                self.line(indent, &format!("call {{:async}} p{callee}({arg});"));
            }
            (5..=7, _) if self.n_left > 0 && indent < 3 => {
                let guard = if self.random.chance(15) { "*".to_owned() } else { self.term(proc) };
                self.line(indent, &format!("if ({guard}) {{"));
                for _ in 0..1 + self.random.below(2) {
                    self.statement(proc, indent + 1);
                }
                if self.random.chance(40) {
                    self.line(indent, "} else {");
                    self.statement(proc, indent + 1);
                }
                self.line(indent, "}");
            }
            (8, _) => {
                let term = self.term(proc);
                self.line(indent, &format!("assume {term};"));
            }
            (9, _) if self.random.chance(30) => {
                let term = self.term(proc);
                self.line(indent, &format!("assert {term};"));
            }
            (10, _) if self.random.chance(40) => {
                let target = ["x", "y"][self.random.below(2)];
                self.line(indent, &format!("havoc {target};"));
            }
            (11, _) if self.has_helper => self.line(indent, "call flip();"),
            (12 | 13, Some(modulus)) => self.line(indent, &format!("i := (i + 1) mod {modulus};")),
            _ => {
                let target = ["x", "y"][self.random.below(2)];
                let value = self.term(proc);
                self.line(indent, &format!("{target} := {value};"));
            }
        }
    }
}
