//! Random programs that are heavy on purpose, with what is true of them: long loops, large collections and texts, wide choices,
//! deep calls, very many machines and messages, long and endless runs.
//!
//! A program has a main machine that creates a few workers, each of one kind. Workers do not know each other, so that what is true of
//! the program follows from the kinds: whether a run can fail, whether every run does, and whether every run ends.

use std::fmt::Write as _;

use crate::random::Random;

/// Whether an assertion fails.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Failure {
    Never,
    /// On some runs.
    Possible,
    /// On every run.
    Certain,
}

/// A program with what is true of it.
#[derive(Clone, Debug)]
pub struct Heavy {
    pub text: String,
    pub failure: Failure,
    /// Every run terminates.
    pub is_finite: bool,
    /// Some handler runs for longer than any budget, without repeating itself: nothing but *unknown* can be said of it.
    pub is_undecided: bool,
}

/// What one worker does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Work {
    /// Counts in one handler.
    Count,
    /// Counts in one handler, and never ends.
    CountForEver,
    /// Builds a sequence, set or map in one handler.
    Build,
    /// Keeps every version of a growing sequence.
    Versions,
    /// Builds sequences of sequences, one for each message that it sends to itself.
    Rows,
    /// Builds a text piece by piece.
    Text,
    /// Sends itself messages, so many times.
    Walk,
    /// Sends itself messages for ever; what it counts is read.
    WalkForEver,
    /// Sends growing collections to a machine that keeps them.
    Ship,
    /// Sends very many messages in one handler to a machine that defers them.
    Flood,
    /// Chooses among very many values.
    Choose,
    /// Answers very many `$` in one handler.
    Toss,
    /// Creates machine after machine.
    Breed,
    /// Machines that create the next one.
    Chain,
    /// Calls itself.
    Recurse,
    /// Shuffles a sequence by choices, message after message.
    Shuffle,
}

const KINDS: [Work; 16] = [
    Work::Count,
    Work::CountForEver,
    Work::Build,
    Work::Versions,
    Work::Rows,
    Work::Text,
    Work::Walk,
    Work::WalkForEver,
    Work::Ship,
    Work::Flood,
    Work::Choose,
    Work::Toss,
    Work::Breed,
    Work::Chain,
    Work::Recurse,
    Work::Shuffle,
];

/// The program of a seed. Its test is called `tcHeavy`.
pub fn heavy(seed: u64) -> Heavy {
    let mut random = Random::new(seed ^ 0x4ea_7135);
    let n_workers = random.between(1, 3);
    let failing = if random.chance(40) { Some(random.below(n_workers)) } else { None };
    let mut all =
        Heavy { text: String::new(), failure: Failure::Never, is_finite: true, is_undecided: false };
    let mut names = Vec::new();
    let mut machines = String::new();
    for worker in 0..n_workers {
        let work = *random.pick(&KINDS);
        let failure = match (failing == Some(worker), random.chance(50)) {
            (false, _) => Failure::Never,
            (true, false) => Failure::Possible,
            (true, true) => Failure::Certain,
        };
        let mut writer = Writer { random: &mut random, out: &mut machines, names: &mut names, worker };
        let failure = writer.write(work, failure);
        all.failure = all.failure.max(failure);
        all.is_finite &= !matches!(work, Work::CountForEver | Work::WalkForEver);
        all.is_undecided |= work == Work::CountForEver;
    }
    // Where another worker never ends, not every run comes to the failure.
    if !all.is_finite && all.failure == Failure::Certain {
        all.failure = Failure::Possible;
    }
    let mut text = String::from("event eGo: int;\nevent eRow: seq[int];\nevent eBag: set[int];\n");
    text.push_str(&machines);
    text.push_str("machine Main {\n  start state Begin {\n    entry {\n");
    for worker in 0..n_workers {
        let _ = writeln!(text, "      send new Worker{worker}(), eGo, 0;");
    }
    let _ = writeln!(text, "    }}\n  }}\n}}\ntest tcHeavy [main = Main]: {{ Main, {} }};", names.join(", "));
    all.text = text;
    all
}

struct Writer<'a> {
    random: &'a mut Random,
    out: &'a mut String,
    names: &'a mut Vec<String>,
    worker: usize,
}

impl Writer<'_> {
    /// A number between these, as likely in each order of magnitude.
    fn size(&mut self, low: u32, high: u32) -> u64 {
        let power = self.random.between(low as usize, high as usize - 1) as u32;
        10u64.pow(power) * self.random.between(1, 9) as u64
    }

    /// A machine with fields, and code for `eGo`, where `n` is its payload.
    fn machine(&mut self, name: &str, fields: &str, code: &str, more: &str) {
        let _ = writeln!(
            self.out,
            "machine {name} {{\n  {fields}\n  start state Work {{\n    on eGo do (n: int) {{\n      {code}\n    }}\n    {more}\n  }}\n}}"
        );
        self.names.push(name.to_owned());
    }

    /// Writes the worker. What of the failure it has: a worker that never comes to its end never fails there.
    fn write(&mut self, work: Work, failure: Failure) -> Failure {
        let worker = self.worker;
        let name = format!("Worker{worker}");
        let fails = match failure {
            Failure::Never => "",
            Failure::Possible => "if ($) { assert false, \"planted\"; }",
            Failure::Certain => "assert false, \"planted\";",
        };
        match work {
            Work::Count => {
                let n = self.size(3, 8);
                let code = format!("var i: int; while (i < {n}) {{ i = i + 1; }} {fails}");
                self.machine(&name, "", &code, "");
            }
            Work::CountForEver => {
                let code = format!("var i: int; while (i >= 0) {{ i = i + 1; }} {fails}");
                self.machine(&name, "", &code, "");
                return Failure::Never;
            }
            Work::Build => {
                let n = self.size(3, 7);
                let (field, add) = *self.random.pick(&[
                    ("var all: seq[int];", "all += (sizeof(all), i);"),
                    ("var all: seq[int];", "all += (0, i);"),
                    ("var all: set[int];", "all += (i * 7919 % 1000003);"),
                    ("var all: map[int, int];", "all[i * 7919 % 1000003] = i;"),
                    ("var all: map[int, seq[int]];", "all[i] = default(seq[int]); all[i] += (0, i);"),
                    ("var all: seq[(int, bool)];", "all += (sizeof(all), (i, i % 2 == 0));"),
                ]);
                let code = format!(
                    "var i: int; while (i < {n}) {{ {add} i = i + 1; }} assert sizeof(all) > 0; {fails}"
                );
                self.machine(&name, field, &code, "");
            }
            Work::Versions => {
                let n = self.size(2, 5);
                let code = format!(
                    "var i: int; while (i < {n}) {{ one += (sizeof(one), i); all += (sizeof(all), one); i = i + 1; }} assert sizeof(all) == sizeof(one); {fails}"
                );
                self.machine(&name, "var one: seq[int]; var all: seq[seq[int]];", &code, "");
            }
            Work::Rows => {
                let (n, length) = (self.size(1, 4), self.size(1, 3));
                let code = format!(
                    "var i: int; var row: seq[int]; while (i < {length}) {{ row += (i, n + i); i = i + 1; }} rows += (sizeof(rows), row);\n      if (n < {n}) {{ send this, eGo, n + 1; }} else {{ assert sizeof(rows) > 0; {fails} }}"
                );
                self.machine(&name, "var rows: seq[seq[int]];", &code, "");
            }
            Work::Text => {
                let n = self.size(2, 5);
                let code = format!(
                    "var i: int; while (i < {n}) {{ text = format(\"{{0}} and {{1}}\", text, i); i = i + 1; }} assert text != \"\"; {fails}"
                );
                self.machine(&name, "var text: string;", &code, "");
            }
            Work::Walk => {
                let n = self.size(2, 6);
                let code = format!(
                    "if (n < {n}) {{ send this, eGo, n + {}; }} else {{ {fails} }}",
                    if self.random.chance(50) { "1" } else { "1 + choose(2)" }
                );
                self.machine(&name, "", &code, "");
            }
            Work::WalkForEver => {
                let code = "total = total + n; assert total >= 0; send this, eGo, n + 1;";
                let code = if self.random.chance(50) { code } else { "send this, eGo, 1 - n;" };
                self.machine(&name, "var total: int;", code, "");
                return Failure::Never;
            }
            Work::Ship => {
                let n = self.size(1, 4);
                let keeper = format!("Keeper{worker}");
                let code = format!(
                    "if (n == 0) {{ keeper = new {keeper}(); }} bag += (n); send keeper, eBag, bag;\n      if (n < {n}) {{ send this, eGo, n + 1; }} else {{ {fails} }}"
                );
                self.machine(&name, &format!("var bag: set[int]; var keeper: {keeper};"), &code, "");
                self.machine(
                    &keeper,
                    "var all: set[int]; var last: seq[set[int]];",
                    "assert n >= 0;",
                    "on eBag do (bag: set[int]) { var i: int; foreach (i in bag) { all += (i); } last += (sizeof(last), bag); assert sizeof(all) >= sizeof(bag); }",
                );
            }
            Work::Flood => {
                let n = self.size(2, 6);
                let sink = format!("Sink{worker}");
                let code = format!(
                    "var i: int; var sink: {sink}; sink = new {sink}(); while (i < {n}) {{ send sink, eGo, i; i = i + 1; }} {fails}"
                );
                self.machine(&name, "", &code, "");
                let _ = writeln!(
                    self.out,
                    "machine {sink} {{\n  start state Keep {{\n    defer eGo;\n    ignore eRow;\n  }}\n}}"
                );
                self.names.push(sink);
            }
            Work::Choose => {
                let n = self.size(1, 4);
                let turns = self.random.between(1, 6);
                let code = format!(
                    "total = total + choose({n}); assert total >= 0; if (n < {turns}) {{ send this, eGo, n + 1; }} else {{ {fails} }}"
                );
                self.machine(&name, "var total: int;", &code, "");
            }
            Work::Toss => {
                let n = self.random.between(4, 400);
                let code = format!(
                    "var i: int; while (i < {n}) {{ if ($) {{ total = total + i; }} i = i + 1; }} assert total >= 0; {fails}"
                );
                self.machine(&name, "var total: int;", &code, "");
            }
            Work::Breed => {
                let n = self.size(1, 5);
                let child = format!("Child{worker}");
                let code = format!(
                    "var i: int; while (i < {n}) {{ send new {child}(), eGo, i; i = i + 1; }} {fails}"
                );
                self.machine(&name, "", &code, "");
                self.machine(&child, "var last: int;", "last = n; assert last >= 0;", "");
            }
            Work::Chain => {
                let n = self.size(1, 5);
                let code = format!(
                    "if (n < {n}) {{ send new {name}(), eGo, n + 1; }} else {{ {fails} }} assert n >= 0;"
                );
                self.machine(&name, "", &code, "");
            }
            Work::Recurse => {
                let (depth, turns) = (self.size(1, 4).min(5_000), self.size(0, 3));
                let code = format!(
                    "var i: int; while (i < {turns}) {{ assert Down{worker}({depth}) == {depth}; i = i + 1; }} {fails}"
                );
                self.machine(&name, "", &code, "");
                let _ = writeln!(
                    self.out,
                    "fun Down{worker}(n: int): int {{ if (n == 0) {{ return 0; }} return 1 + Down{worker}(n - 1); }}"
                );
            }
            Work::Shuffle => {
                let n = self.size(1, 4);
                let code = format!(
                    "var at: int; at = choose(sizeof(row) + 1); row += (at, n);\n      if (n < {n}) {{ send this, eGo, n + 1; }} else {{ assert sizeof(row) > 0; {fails} }}"
                );
                self.machine(&name, "var row: seq[int];", &code, "");
            }
        }
        failure
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::source::Loaded;

    #[test]
    fn programs_are_accepted_and_of_all_kinds() {
        let mut kinds = BTreeSet::new();
        for seed in 0..300 {
            let program = heavy(seed);
            if let Err(problem) = Loaded::new("heavy.p", &program.text) {
                panic!("seed {seed}: {problem}\n{}", program.text);
            }
            kinds.insert((program.failure, program.is_finite));
        }
        assert_eq!(kinds.len(), 5, "{kinds:?}");
    }
}
