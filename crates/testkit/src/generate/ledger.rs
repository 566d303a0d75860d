//! Random programs about one machine that keeps a value of some nested type: others write to parts of it in any order, and it
//! reads parts of it. A search that leaves out of a value what is read later, or takes for unordered what is read in order,
//! loses a run here. Small, and every run ends.

use crate::random::Random;

/// The form of a value.
#[derive(Clone, PartialEq)]
enum Form {
    Int,
    Bool,
    Who,
    Tuple(Box<[Form; 2]>),
    Named(Box<[Form; 2]>),
    Seq(Box<Form>),
    Set(Box<Form>),
    /// From numbers.
    Map(Box<Form>),
}

const NAMES: [&str; 2] = ["a", "b"];

/// What a row says, with the names that a handler and a maker of values have for it.
const ROW: &str = "(n: int, flag: bool, who: machine)";

impl Form {
    fn simple(random: &mut Random) -> Form {
        match random.below(4) {
            0 | 1 => Form::Int,
            2 => Form::Bool,
            _ => Form::Who,
        }
    }

    fn random(random: &mut Random, depth: usize) -> Form {
        if depth == 0 {
            return Form::simple(random);
        }
        let two = |random: &mut Random| {
            let deep = Form::random(random, depth - 1);
            let simple = Form::simple(random);
            Box::new(if random.chance(50) { [deep, simple] } else { [simple, deep] })
        };
        match random.below(9) {
            0 => Form::Tuple(two(random)),
            1 | 2 => Form::Named(two(random)),
            3..=5 => Form::Seq(Box::new(Form::random(random, depth - 1))),
            6 => Form::Set(Box::new(Form::random(random, depth - 1))),
            _ => Form::Map(Box::new(Form::random(random, depth - 1))),
        }
    }

    fn text(&self) -> String {
        match self {
            Form::Int => "int".into(),
            Form::Bool => "bool".into(),
            Form::Who => "machine".into(),
            Form::Tuple(parts) => format!("({}, {})", parts[0].text(), parts[1].text()),
            Form::Named(parts) => format!("(a: {}, b: {})", parts[0].text(), parts[1].text()),
            Form::Seq(of) => format!("seq[{}]", of.text()),
            Form::Set(of) => format!("set[{}]", of.text()),
            Form::Map(of) => format!("map[int, {}]", of.text()),
        }
    }
}

/// The program of a seed.
pub fn ledger(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x01ed_06e2);
    let depth = random.between(1, 3);
    let kept = Form::random(&mut random, depth);
    let depth = random.between(1, 2);
    let other = if random.chance(50) { kept.clone() } else { Form::random(&mut random, depth) };
    let mut program =
        Program { random, functions: Vec::new(), n_named: 0, locals: Vec::new(), lines: Vec::new() };
    program.write(&kept, &other)
}

struct Program {
    random: Random,
    /// Those that read and make values; each is a list of lines.
    functions: Vec<Vec<String>>,
    /// Of these and of those being written.
    n_named: usize,
    /// Of the body at hand: variables and lines.
    locals: Vec<String>,
    lines: Vec<String>,
}

impl Program {
    fn write(&mut self, kept: &Form, other: &Form) -> String {
        let mut out = vec![
            format!("event eRow: {ROW};"),
            "event eRead: int;".to_owned(),
            format!("event eWhole: {};", kept.text()),
            "event eSeen: int;".to_owned(),
        ];
        let n_scribes = self.random.between(2, 3);
        let rows = self.body(|this| {
            for _ in 0..this.random.between(1, 2) {
                let (name, form) = this.one_of(kept, other);
                this.write_part(name, &form);
            }
        });
        let reads = self.body(|this| {
            for _ in 0..this.random.between(1, 2) {
                let (name, form) = this.one_of(kept, other);
                this.read_part(name, &form);
            }
            this.tell();
            this.hand_on(kept, other);
        });
        let whole = self.body(|this| {
            this.read_part("whole", kept);
            this.tell();
        });
        let closed = self.body(|this| {
            this.read_part("last", kept);
            this.tell();
        });
        let closed_rows = self.body(|this| {
            if this.random.chance(50) {
                let (name, form) = this.one_of(kept, other);
                this.read_part(name, &form);
                this.tell();
            }
        });
        out.extend(self.functions.iter().flatten().cloned());
        out.extend(["machine Main {", "  start state S {", "    entry {"].map(str::to_owned));
        out.extend(["      var book: machine;", "      book = new Ledger();"].map(str::to_owned));
        for n in 0..n_scribes {
            out.push(format!("      new Scribe((book = book, n = {n}));"));
        }
        for n in 0..self.random.below(2) {
            out.push(format!("      send book, eRead, {n};"));
        }
        out.extend(["    }", "  }", "}"].map(str::to_owned));
        out.extend(
            [
                "machine Scribe {",
                "  start state S {",
                "    entry (p: (book: machine, n: int)) {",
                "      send p.book, eRow, (n = p.n, flag = p.n == 1, who = this);",
            ]
            .map(str::to_owned),
        );
        if self.random.chance(40) {
            out.push("      send p.book, eRow, (n = (p.n + 1) % 3, flag = false, who = this);".into());
        }
        if self.random.chance(70) {
            let n = self.random.below(n_scribes);
            out.extend([format!("      if (p.n == {n}) {{"), "        send p.book, eRead, p.n;".into()]);
            out.push("      }".into());
        }
        out.extend(["    }", "  }", "}"].map(str::to_owned));
        out.push("machine Ledger {".into());
        out.push(format!("  var kept: {};", kept.text()));
        out.push(format!("  var other: {};", other.text()));
        out.push("  var sum: int;".into());
        out.push("  start state Open {".into());
        self.handler(&mut out, &format!("on eRow do (p: {ROW})"), rows);
        self.handler(&mut out, "on eRead do (at: int)", reads);
        self.handler(&mut out, &format!("on eWhole do (whole: {})", kept.text()), whole);
        out.extend(["  }".to_owned(), "  state Closed {".to_owned()]);
        self.handler(&mut out, &format!("entry (last: {})", kept.text()), closed);
        self.handler(&mut out, "on eRow do", closed_rows);
        out.extend(["    ignore eRead, eWhole;", "  }", "}"].map(str::to_owned));
        let k = self.random.between(5, 12);
        out.extend(
            [
                "spec Spec observes eSeen {",
                "  var heard: int;",
                "  start state S {",
                "    on eSeen do (n: int) {",
                "      heard = (heard * 3 + n) % 13;",
            ]
            .map(str::to_owned),
        );
        if self.random.chance(40) {
            out.push(format!("      assert heard != {k}, \"heard\";"));
        }
        out.extend(["    }", "  }", "}", ""].map(str::to_owned));
        out.join("\n")
    }

    fn handler(&self, out: &mut Vec<String>, head: &str, (locals, lines): (Vec<String>, Vec<String>)) {
        out.push(format!("    {head} {{"));
        out.extend(locals.into_iter().chain(lines).map(|line| format!("      {line}")));
        out.push("    }".into());
    }

    /// What is written between: its variables and its lines.
    fn body(&mut self, write: impl FnOnce(&mut Self)) -> (Vec<String>, Vec<String>) {
        let outer =
            (std::mem::take(&mut self.locals), std::mem::replace(&mut self.lines, vec!["out = 0;".into()]));
        self.locals.push("var out: int;".into());
        write(self);
        let inner = (std::mem::take(&mut self.locals), std::mem::take(&mut self.lines));
        (self.locals, self.lines) = outer;
        inner
    }

    fn name(&mut self, word: &str) -> String {
        self.n_named += 1;
        format!("{word}{}", self.n_named)
    }

    fn line(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
    }

    fn local(&mut self, form: &Form) -> String {
        let name = format!("w{}", self.locals.len());
        self.locals.push(format!("var {name}: {};", form.text()));
        name
    }

    fn one_of(&mut self, kept: &Form, other: &Form) -> (&'static str, Form) {
        if self.random.chance(65) { ("kept", kept.clone()) } else { ("other", other.clone()) }
    }

    /// What was read shows in a field, or a monitor hears of it, or it breaks something.
    fn tell(&mut self) {
        match self.random.below(4) {
            0 => self.line("sum = (sum * 2 + out) % 7;"),
            1 => {
                let k = self.random.between(1, 6);
                self.line(format!("assert out != {k}, \"out\";"));
            }
            _ => self.line("announce eSeen, out;"),
        }
    }

    /// What becomes of the value after it was read.
    fn hand_on(&mut self, kept: &Form, other: &Form) {
        match self.random.below(6) {
            0 => self.line("send this, eWhole, kept;"),
            1 => self.line("goto Closed, kept;"),
            2 if kept == other => self.line("other = kept;"),
            3 => {
                let empty = kept.text();
                self.line(format!("kept = default({empty});"));
            }
            _ => {}
        }
    }

    /// Adds something of a value to `out`.
    fn read_part(&mut self, value: &str, form: &Form) {
        match self.random.below(10) {
            // Through a variable, or a function.
            0 => {
                let copy = self.local(form);
                self.line(format!("{copy} = {value};"));
                return self.read_part(&copy, form);
            }
            1 => {
                let name = self.name("read");
                let (locals, lines) = self.body(|this| this.read_part("x", form));
                let mut function = vec![format!("fun {name}(x: {}): int {{", form.text())];
                function.extend(locals.into_iter().chain(lines).map(|line| format!("  {line}")));
                function.extend(["  return out;".to_owned(), "}".to_owned()]);
                self.functions.push(function);
                return self.line(format!("out = (out * 2 + {name}({value})) % 7;"));
            }
            _ => {}
        }
        match form {
            Form::Int => self.line(format!("out = (out * 2 + {value}) % 7;")),
            Form::Bool => self.count_if(value),
            Form::Who => self.count_if(&format!("{value} == null")),
            Form::Tuple(parts) => {
                let at = self.random.below(2);
                self.read_part(&format!("{value}.{at}"), &parts[at]);
            }
            Form::Named(parts) => {
                let at = self.random.below(2);
                self.read_part(&format!("{value}.{}", NAMES[at]), &parts[at]);
            }
            Form::Seq(of) | Form::Set(of) => match self.random.below(6) {
                0 => self.line(format!("out = (out * 2 + sizeof({value})) % 7;")),
                1 => {
                    let element = self.constant(of);
                    self.count_if(&format!("{element} in {value}"));
                }
                2 | 3 => self.for_each(value, of),
                at => {
                    let place = if at == 4 { "0".to_owned() } else { format!("sizeof({value}) - 1") };
                    self.line(format!("if (sizeof({value}) > 0) {{"));
                    self.read_part(&format!("{value}[{place}]"), of);
                    self.line("}");
                }
            },
            Form::Map(of) => match self.random.below(7) {
                0 => self.line(format!("out = (out * 2 + sizeof({value})) % 7;")),
                1 => {
                    let key = self.random.below(3);
                    self.count_if(&format!("{key} in {value}"));
                }
                2 => self.for_each(&format!("keys({value})"), &Form::Int),
                3 => self.for_each(&format!("values({value})"), of),
                4 => {
                    let values = self.local(&Form::Seq(of.clone()));
                    self.line(format!("{values} = values({value});"));
                    self.read_part(&values, &Form::Seq(of.clone()));
                }
                _ => {
                    let key = self.random.below(3);
                    self.line(format!("if ({key} in {value}) {{"));
                    self.read_part(&format!("{value}[{key}]"), of);
                    self.line("}");
                }
            },
        }
    }

    fn count_if(&mut self, condition: &str) {
        self.line(format!("if ({condition}) {{"));
        self.line("out = (out * 2 + 1) % 7;");
        self.line("}");
    }

    fn for_each(&mut self, values: &str, of: &Form) {
        let each = self.local(of);
        self.line(format!("foreach ({each} in {values}) {{"));
        self.read_part(&each, of);
        self.line("}");
    }

    /// Changes a part of a variable by what a row says.
    fn write_part(&mut self, place: &str, form: &Form) {
        match form {
            Form::Int | Form::Bool | Form::Who => {
                let value = self.value(form);
                self.line(format!("{place} = {value};"));
            }
            Form::Tuple(_) | Form::Named(_) if self.random.chance(25) => {
                let value = self.value(form);
                self.line(format!("{place} = {value};"));
            }
            Form::Tuple(parts) => {
                let at = self.random.below(2);
                self.write_part(&format!("{place}.{at}"), &parts[at]);
            }
            Form::Named(parts) => {
                let at = self.random.below(2);
                self.write_part(&format!("{place}.{}", NAMES[at]), &parts[at]);
            }
            Form::Seq(of) => match self.random.below(8) {
                0 => {
                    let at = *self.random.pick(&["0", "sizeof"]);
                    let at = if at == "0" { "0".to_owned() } else { format!("sizeof({place}) - 1") };
                    self.line(format!("if (sizeof({place}) > 1) {{"));
                    self.line(format!("{place} -= ({at});"));
                    self.line("}");
                }
                1 | 2 => {
                    self.line(format!("if (sizeof({place}) > 1) {{"));
                    self.write_part(&format!("{place}[0]"), of);
                    self.line("} else {");
                    self.push(place, of);
                    self.line("}");
                }
                _ => self.push(place, of),
            },
            Form::Set(of) => {
                let value = self.value(of);
                let op = if self.random.chance(80) { "+=" } else { "-=" };
                self.line(format!("{place} {op} ({value});"));
            }
            Form::Map(of) => match self.random.below(6) {
                0 => self.line(format!("{place} -= (p.n);")),
                1 | 2 => {
                    self.line(format!("if (p.n in {place}) {{"));
                    self.write_part(&format!("{place}[p.n]"), of);
                    self.line("} else {");
                    let value = self.value(of);
                    self.line(format!("{place}[p.n] = {value};"));
                    self.line("}");
                }
                _ => {
                    let key =
                        if self.random.chance(60) { "p.n".into() } else { self.random.below(2).to_string() };
                    let value = self.value(of);
                    self.line(format!("{place}[{key}] = {value};"));
                }
            },
        }
    }

    fn push(&mut self, place: &str, of: &Form) {
        let at = if self.random.chance(50) { "0".to_owned() } else { format!("sizeof({place})") };
        let value = self.value(of);
        self.line(format!("{place} += ({at}, {value});"));
    }

    /// A value out of the row `p`.
    fn value(&mut self, form: &Form) -> String {
        match form {
            Form::Int if self.random.chance(85) => "p.n".into(),
            Form::Int => self.random.below(3).to_string(),
            Form::Bool => "p.flag".into(),
            Form::Who if self.random.chance(80) => "p.who".into(),
            Form::Who => "null as machine".into(),
            Form::Tuple(parts) => format!("({}, {})", self.value(&parts[0]), self.value(&parts[1])),
            Form::Named(parts) => format!("(a = {}, b = {})", self.value(&parts[0]), self.value(&parts[1])),
            Form::Seq(_) | Form::Set(_) | Form::Map(_) => {
                let name = self.name("make");
                let (locals, lines) = self.body(|this| {
                    for _ in 0..this.random.between(1, 2) {
                        this.write_part("x", form);
                    }
                });
                let text = form.text();
                let mut function =
                    vec![format!("fun {name}(p: {ROW}): {text} {{"), format!("  var x: {text};")];
                function.extend(locals.into_iter().chain(lines).map(|line| format!("  {line}")));
                function.extend(["  return x;".to_owned(), "}".to_owned()]);
                self.functions.push(function);
                format!("{name}(p)")
            }
        }
    }

    /// A value that does not depend on anything.
    fn constant(&mut self, form: &Form) -> String {
        match form {
            Form::Int => self.random.below(3).to_string(),
            Form::Bool => "true".into(),
            Form::Who => "null as machine".into(),
            Form::Tuple(parts) => format!("({}, {})", self.constant(&parts[0]), self.constant(&parts[1])),
            Form::Named(parts) => {
                format!("(a = {}, b = {})", self.constant(&parts[0]), self.constant(&parts[1]))
            }
            Form::Seq(_) | Form::Set(_) | Form::Map(_) => format!("default({})", form.text()),
        }
    }
}
