//! Random small asynchronous programs on finite data, for checking schedulers and translations
//! against each other.
//!
//! A [`Sketch`] is a straight-line program over Boolean globals whose tasks post, wait, pass handles
//! on, block and yield. Procedures post only later ones, so every run is finite. It is both printed
//! as Boogie text and simple enough to be interpreted by a second semantics in a test.

use std::fmt::Write;

use crate::interp::Random;

#[derive(Clone, Debug)]
pub struct Sketch {
    pub n_globals: usize,
    /// The first is the entry point. Each takes a Boolean and, where wanted, a handle.
    pub procs: Vec<Proc>,
}

#[derive(Clone, Debug)]
pub struct Proc {
    /// Takes a handle as second parameter; it has number 0 among the handles.
    pub takes_handle: bool,
    pub n_handles: usize,
    pub acts: Vec<Act>,
    /// The result of the procedure, read when it returns.
    pub result: Term,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    Yield,
    Set {
        global: usize,
        to: Term,
    },
    /// Blocks unless the global has this value.
    Assume {
        global: usize,
        is: bool,
    },
    Post {
        proc: usize,
        arg: Term,
        handle: Option<usize>,
        pass: Option<usize>,
    },
    /// Waits, and stores the result.
    Wait {
        handle: usize,
        into: Option<usize>,
    },
    /// A synchronous call, without results.
    Call {
        proc: usize,
        arg: Term,
        pass: Option<usize>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Term {
    Const(bool),
    Global(usize),
    Not(usize),
    /// The parameter of the procedure.
    Arg,
}

#[derive(Clone, Copy, Debug)]
pub struct GenerateOptions {
    pub n_globals: usize,
    pub max_procs: usize,
    pub max_acts: usize,
    /// Posts in the whole text, which bounds the tasks together with the other numbers.
    pub max_posts: usize,
    /// With waits and handles.
    pub waits: bool,
    /// In percent, the chance of a yield before each statement.
    pub yields: usize,
}

impl Default for GenerateOptions {
    fn default() -> Self {
        GenerateOptions { n_globals: 2, max_procs: 4, max_acts: 4, max_posts: 4, waits: true, yields: 50 }
    }
}

/// The program of this seed.
pub fn generate(seed: u64, options: &GenerateOptions) -> Sketch {
    let mut gen_ = Generator { random: Random::new(seed), options: *options, n_posts: 0 };
    gen_.sketch()
}

struct Generator {
    random: Random,
    options: GenerateOptions,
    n_posts: usize,
}

impl Generator {
    fn chance(&mut self, percent: usize) -> bool {
        self.random.below(100) < percent
    }

    fn sketch(&mut self) -> Sketch {
        let n_procs = 2 + self.random.below(self.options.max_procs.saturating_sub(1));
        let takes: Vec<bool> =
            (0..n_procs).map(|idx| idx > 0 && self.options.waits && self.chance(30)).collect();
        let procs = (0..n_procs).map(|idx| self.proc(idx, &takes)).collect();
        Sketch { n_globals: self.options.n_globals, procs }
    }

    fn proc(&mut self, idx: usize, takes: &[bool]) -> Proc {
        let mut n_handles = usize::from(takes[idx]);
        let mut acts = Vec::new();
        let n_acts = 1 + self.random.below(self.options.max_acts);
        for _ in 0..n_acts {
            if self.chance(self.options.yields) {
                acts.push(Act::Yield);
            }
            let act = self.act(idx, takes, &mut n_handles);
            acts.push(act);
        }
        Proc { takes_handle: takes[idx], n_handles, acts, result: self.term(idx) }
    }

    fn act(&mut self, idx: usize, takes: &[bool], n_handles: &mut usize) -> Act {
        let global = self.random.below(self.options.n_globals);
        // Callees come later in the list, and those that take a handle need one to be given.
        let callees: Vec<usize> =
            (idx + 1..takes.len()).filter(|&callee| !takes[callee] || *n_handles > 0).collect();
        match self.random.below(10) {
            0..=3 if !callees.is_empty() && self.n_posts < self.options.max_posts => {
                self.n_posts += 1;
                let proc = callees[self.random.below(callees.len())];
                let pass = takes[proc].then(|| self.random.below(*n_handles));
                let arg = self.term(idx);
                let handle = (self.options.waits && self.chance(70)).then_some(*n_handles);
                *n_handles += usize::from(handle.is_some());
                Act::Post { proc, arg, handle, pass }
            }
            4..=5 if *n_handles > 0 => {
                let handle = self.random.below(*n_handles);
                let into = self.chance(50).then_some(global);
                Act::Wait { handle, into }
            }
            6 if !callees.is_empty() && self.n_posts < self.options.max_posts => {
                self.n_posts += 1;
                let proc = callees[self.random.below(callees.len())];
                let pass = takes[proc].then(|| self.random.below(*n_handles));
                Act::Call { proc, arg: self.term(idx), pass }
            }
            7 => Act::Assume { global, is: self.chance(50) },
            _ => Act::Set { global, to: self.term(idx) },
        }
    }

    fn term(&mut self, idx: usize) -> Term {
        let global = self.random.below(self.options.n_globals);
        match self.random.below(if idx == 0 { 3 } else { 4 }) {
            0 => Term::Const(self.chance(50)),
            1 => Term::Global(global),
            2 => Term::Not(global),
            _ => Term::Arg,
        }
    }
}

impl Sketch {
    /// The program as Boogie text. All globals start as `false`.
    pub fn to_boogie(&self) -> String {
        let mut out = String::from("type task a;\n");
        for global in 0..self.n_globals {
            let _ = writeln!(out, "var g{global}: bool;");
        }
        for (idx, proc) in self.procs.iter().enumerate() {
            let entry = if idx == 0 { "{:entrypoint} " } else { "" };
            let params = match (idx, proc.takes_handle) {
                (0, _) => "",
                (_, false) => "a: bool",
                (_, true) => "a: bool, h0: task bool",
            };
            let _ = writeln!(out, "\nprocedure {entry}p{idx}({params}) returns (r: bool)\n{{");
            for handle in usize::from(proc.takes_handle)..proc.n_handles {
                let _ = writeln!(out, "  var h{handle}: task bool;");
            }
            let _ = writeln!(out, "  var d: bool;");
            if idx == 0 {
                for global in 0..self.n_globals {
                    let _ = writeln!(out, "  g{global} := false;");
                }
            }
            for act in &proc.acts {
                let _ = writeln!(out, "  {}", act.to_boogie());
            }
            let _ = writeln!(out, "  r := {};\n}}", proc.result.to_boogie());
        }
        out
    }
}

impl Act {
    fn to_boogie(self) -> String {
        let args = |arg: Term, pass: Option<usize>| match pass {
            Some(handle) => format!("{}, h{handle}", arg.to_boogie()),
            None => arg.to_boogie(),
        };
        match self {
            Act::Yield => "assume {:yield} true;".to_owned(),
            Act::Set { global, to } => format!("g{global} := {};", to.to_boogie()),
            Act::Assume { global, is: true } => format!("assume g{global};"),
            Act::Assume { global, is: false } => format!("assume !g{global};"),
            Act::Post { proc, arg, handle: Some(handle), pass } => {
                format!("call {{:async h{handle}}} d := p{proc}({});", args(arg, pass))
            }
            Act::Post { proc, arg, handle: None, pass } => {
                format!("call {{:async}} d := p{proc}({});", args(arg, pass))
            }
            Act::Wait { handle, into: Some(global) } => {
                format!("assume {{:wait g{global}, h{handle}}} true;")
            }
            Act::Wait { handle, into: None } => format!("assume {{:wait h{handle}}} true;"),
            Act::Call { proc, arg, pass } => format!("call d := p{proc}({});", args(arg, pass)),
        }
    }
}

impl Term {
    fn to_boogie(self) -> String {
        match self {
            Term::Const(value) => value.to_string(),
            Term::Global(global) => format!("g{global}"),
            Term::Not(global) => format!("!g{global}"),
            Term::Arg => "a".to_owned(),
        }
    }
}
