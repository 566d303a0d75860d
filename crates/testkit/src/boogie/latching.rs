//! Random asynchronous Boogie programs in which *latches* decide whether tasks cause each other for ever.
//!
//! A task often posts others only where a latch is not set yet, and sets it; some programs get that wrong: another latch is
//! set, one is reset, the post stands outside, what is needed is only assumed on one side. The conditions for posts that
//! the analysis of causes collects contradict each other in many of these programs, and nearly do in the others.

use std::fmt::Write;

use crate::random::Random;

/// The program of this seed.
pub fn generate(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x1a7c_4e50_0000_0000);
    let n_procs = 1 + random.below(3);
    let takes = (0..n_procs).map(|_| random.chance(65)).collect();
    let constant = if random.chance(75) { "true" } else { "false" };
    let helper = random.chance(40).then(|| random.below(6));
    Generator { random, takes, constant, helper, n_posts: 0, out: String::new() }.program()
}

/// Posts in the body of one task.
const MAX_POSTS: usize = 2;

struct Generator {
    random: Random,
    /// Which tasks have an argument.
    takes: Vec<bool>,
    /// What latches are set to.
    constant: &'static str,
    /// The kind of helper that tasks call.
    helper: Option<usize>,
    n_posts: usize,
    out: String,
}

impl Generator {
    fn program(mut self) -> String {
        let other = self.other();
        self.out.push_str("var done: bool;\nvar seen: [bool]bool;\nvar x: bool;\n");
        self.out.push_str("procedure {:entrypoint} main()\n{\n");
        let _ = writeln!(self.out, "  x := false;\n  done := {other};");
        let _ = writeln!(self.out, "  seen[false] := {other};\n  seen[true] := {other};");
        for _ in 0..1 + self.random.below(2) {
            let callee = self.random.below(self.takes.len());
            let arg = if self.takes[callee] { ["false", "true"][self.random.below(2)] } else { "" };
            let _ = writeln!(self.out, "  call {{:async}} p{callee}({arg});");
        }
        self.out.push_str("}\n");
        if let Some(helper) = self.helper {
            let is_set = self.is_set("seen[h]");
            let body = match helper {
                0 => format!("seen[h] := {};", self.constant),
                1 => format!("assume !({is_set});"),
                2 => format!("assume {is_set};"),
                3 => format!("if ({is_set}) {{ return; }}\n  seen[h] := {};", self.constant),
                4 => format!("if (!({is_set})) {{ done := {}; }}", self.constant),
                _ => format!("seen[h] := {};\n  x := h;", self.constant),
            };
            let _ = writeln!(self.out, "procedure help(h: bool)\n{{\n  {body}\n}}");
        }
        for idx in 0..self.takes.len() {
            let param = if self.takes[idx] { "a: bool" } else { "" };
            let _ = writeln!(self.out, "procedure p{idx}({param})\n{{");
            self.n_posts = 0;
            for _ in 0..1 + self.random.below(3) {
                self.item(idx);
            }
            self.out.push_str("}\n");
        }
        self.out
    }

    fn other(&self) -> &'static str {
        if self.constant == "true" { "false" } else { "true" }
    }

    fn is_set(&self, latch: &str) -> String {
        if self.constant == "true" { latch.to_owned() } else { format!("!{latch}") }
    }

    fn index(&mut self, proc: usize) -> &'static str {
        match self.takes[proc] {
            true => ["a", "a", "a", "!a", "x", "true"][self.random.below(6)],
            false => ["true", "false", "x"][self.random.below(3)],
        }
    }

    fn latch(&mut self, proc: usize) -> String {
        if self.random.chance(35) { "done".to_owned() } else { format!("seen[{}]", self.index(proc)) }
    }

    fn line(&mut self, indent: usize, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "  ".repeat(indent));
    }

    fn post(&mut self, proc: usize, indent: usize) {
        if self.n_posts == MAX_POSTS {
            return;
        }
        self.n_posts += 1;
        let callee = self.random.below(self.takes.len());
        let arg = if self.takes[callee] { self.index(proc) } else { "" };
        self.line(indent, &format!("call {{:async}} p{callee}({arg});"));
    }

    fn set(&mut self, latch: &str, indent: usize) {
        let value = if self.random.chance(94) { self.constant } else { self.other() };
        self.line(indent, &format!("{latch} := {value};"));
    }

    /// One statement, or a few that belong together.
    fn item(&mut self, proc: usize) {
        let latch = self.latch(proc);
        let is_set = self.is_set(&latch);
        // Mostly the latch that was asked about.
        let own = if self.random.chance(80) { latch.clone() } else { self.latch(proc) };
        match self.random.below(16) {
            0..=3 => {
                self.line(1, &format!("if (!({is_set})) {{"));
                let is_first = self.random.chance(50);
                if is_first {
                    self.set(&own, 2);
                }
                for _ in 0..1 + self.random.below(2) {
                    self.post(proc, 2);
                }
                if !is_first && self.random.chance(80) {
                    self.set(&own, 2);
                }
                if self.random.chance(20) {
                    self.line(1, "} else {");
                    self.post(proc, 2);
                }
                self.line(1, "}");
            }
            4 | 5 => {
                self.line(1, &format!("if ({is_set}) {{ return; }}"));
                self.set(&own, 1);
                self.post(proc, 1);
            }
            6 => self.line(1, &format!("assume !({is_set});")),
            7 => self.line(1, &format!("assume {is_set};")),
            8 => self.set(&latch, 1),
            9 | 10 => self.post(proc, 1),
            11 if self.helper.is_some() => {
                let index = self.index(proc);
                self.line(1, &format!("call help({index});"));
            }
            12 => {
                self.line(1, "if (*) {");
                self.post(proc, 2);
                self.line(1, "}");
            }
            13 => {
                let guard = if self.takes[proc] { "a == x" } else { "x" };
                self.line(1, &format!("if ({guard}) {{"));
                self.set(&own, 2);
                self.line(1, "} else {");
                self.post(proc, 2);
                self.line(1, "}");
            }
            14 if self.random.chance(30) => {
                let target = ["x", "done"][self.random.below(2)];
                self.line(1, &format!("havoc {target};"));
            }
            _ => {
                let value = ["!x", "x", "true", "done"][self.random.below(4)];
                self.line(1, &format!("x := {value};"));
            }
        }
    }
}
