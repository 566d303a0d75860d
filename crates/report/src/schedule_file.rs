//! Schedule files: enough to replay a run.
//!
//! Text, line by line, in the manner of P's own `.schedule` files: header lines begin with `--`, comments with
//! `//`, then one choice a line: `(0.1)` is the machine that steps, by its path of creation from the main machine
//! `0`; a number is the answer to a data choice. A long path is written with an abbreviation, which a line `@1 = 0.0.0...` before
//! introduces, so that the file is linear in the length of the run, however deep machines create machines. P's own files number machines by order of creation and have a
//! line for every scheduling point of its runtime; they cannot be replayed here and are recognized.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use allways_run::{NetworkModel, NetworkOptions};

/// Written into every file; readers refuse others.
const FORMAT: &str = "--allways-schedule:1";
/// Places of a path that are written in full.
const MAX_PLACES: u32 = 16;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScheduleFile {
    pub test: String,
    /// Identifies the program, see [`fingerprint`].
    pub program: String,
    pub machines: Machines,
    pub choices: Vec<FileChoice>,
    /// Where the loop begins, for a run that repeats.
    pub loop_start: Option<usize>,
    /// The monitor that was hot for too long, which is all that is wrong with the run.
    pub potential: Option<String>,
    /// The monitor that is hot again and again in the loop, and never cold.
    pub hot: Option<String>,
    /// The bound that the run came to, which is all that is wrong with it.
    pub step_bound: Option<u64>,
    /// The invariant that does not hold at the end.
    pub invariant: Option<String>,
    /// What carries messages, and what can go wrong.
    pub network: NetworkOptions,
}

/// A machine by its number in [`Machines`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileChoice {
    Machine(u32),
    /// A message arrives: target and source, and its place among the different ones.
    Deliver {
        target: u32,
        source: u32,
        place: u32,
    },
    /// A machine stops for good.
    Crash(u32),
    Data(u32),
}

/// The machines of a schedule, as a tree: each has a creator and a place among the machines that this one makes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machines {
    /// By number: creator, place, and the number of creators up to the main machine. A creator comes before what it creates.
    origins: Vec<(u32, u32, u32)>,
    numbers: FxHashMap<(u32, u32), u32>,
}

impl Default for Machines {
    fn default() -> Self {
        Machines { origins: vec![(0, 0, 0)], numbers: FxHashMap::default() }
    }
}

impl Machines {
    pub const MAIN: u32 = 0;

    /// The machine that `creator` makes at this place.
    pub fn child(&mut self, creator: u32, place: u32) -> u32 {
        let next = self.origins.len() as u32;
        let depth = self.origins[creator as usize].2 + 1;
        let number = *self.numbers.entry((creator, place)).or_insert(next);
        if number == next {
            self.origins.push((creator, place, depth));
        }
        number
    }

    /// Creator and place of each machine but the main one, in the order of their numbers, which begin with one.
    pub fn origins(&self) -> impl Iterator<Item = (u32, u32)> {
        self.origins.iter().skip(1).map(|&(creator, place, _)| (creator, place))
    }
}

/// Writes the names of machines.
struct Names<'a> {
    machines: &'a Machines,
    /// By machine: its abbreviation.
    short: FxHashMap<u32, usize>,
}

impl Names<'_> {
    /// The nearest machine above (or the main one) that has an abbreviation, or is to have one.
    fn base(&self, machine: u32) -> u32 {
        let mut at = machine;
        loop {
            let (creator, _, depth) = self.machines.origins[at as usize];
            let is_base = depth.is_multiple_of(MAX_PLACES);
            if depth == 0 || is_base && at != machine {
                return at;
            }
            at = creator;
        }
    }

    /// Introduces what the name of a machine needs.
    fn introduce(&mut self, machine: u32, out: &mut String) {
        let mut missing = Vec::new();
        let mut at = self.base(machine);
        while at != Machines::MAIN && !self.short.contains_key(&at) {
            missing.push(at);
            at = self.base(at);
        }
        for machine in missing.into_iter().rev() {
            let name = self.name(machine);
            let number = self.short.len() + 1;
            let _ = writeln!(out, "@{number} = {name}");
            self.short.insert(machine, number);
        }
    }

    fn name(&self, machine: u32) -> String {
        let base = self.base(machine);
        let mut places = Vec::new();
        let mut at = machine;
        while at != base {
            let (creator, place, _) = self.machines.origins[at as usize];
            places.push(place);
            at = creator;
        }
        let mut name = match self.short.get(&base) {
            Some(number) => format!("@{number}"),
            None => "0".to_owned(),
        };
        for place in places.into_iter().rev() {
            let _ = write!(name, ".{place}");
        }
        name
    }
}

/// A short name for a program: its files' texts, whatever they are called.
pub fn fingerprint<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    // FNV-1a over all bytes: it finds mistakes, and does not protect against forgery.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for text in texts {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

pub fn write(file: &ScheduleFile) -> String {
    let mut out = format!("{FORMAT}\n--test-method:{}\n--program:{}\n", file.test, file.program);
    let _ = writeln!(out, "--choices:{}", file.choices.len());
    if let Some(start) = file.loop_start {
        let _ = writeln!(out, "--loop:{start}");
    }
    if let Some(monitor) = &file.potential {
        let _ = writeln!(out, "--potential:{monitor}");
    }
    if let Some(monitor) = &file.hot {
        let _ = writeln!(out, "--hot:{monitor}");
    }
    if let Some(bound) = file.step_bound {
        let _ = writeln!(out, "--step-bound:{bound}");
    }
    if let Some(text) = &file.invariant {
        let _ = writeln!(out, "--invariant:{text}");
    }
    let network = &file.network;
    if network.model != NetworkModel::Inbox {
        let _ = writeln!(out, "--network:{}", network.model.as_str());
    }
    for (key, names) in
        [("lossy", &network.lossy), ("duplicating", &network.duplicating), ("crash", &network.crash)]
    {
        for name in names {
            let _ = writeln!(out, "--{key}:{name}");
        }
    }
    let mut names = Names { machines: &file.machines, short: FxHashMap::default() };
    for choice in &file.choices {
        let mut named = |machine: u32| {
            names.introduce(machine, &mut out);
            names.name(machine)
        };
        let line = match *choice {
            FileChoice::Machine(machine) => format!("({})", named(machine)),
            FileChoice::Deliver { target, source, place: 0 } => {
                format!("({} > {})", named(source), named(target))
            }
            FileChoice::Deliver { target, source, place } => {
                format!("({} > {} #{place})", named(source), named(target))
            }
            FileChoice::Crash(machine) => format!("({} crash)", named(machine)),
            FileChoice::Data(answer) => answer.to_string(),
        };
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// Reads a file, or says in one sentence what is wrong with it.
pub fn parse(text: &str) -> Result<ScheduleFile, String> {
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with("//"));
    match lines.next() {
        Some((_, FORMAT)) => {}
        Some((_, line)) if line.starts_with("--") || line.starts_with('(') => {
            return Err(
                "this is a schedule of P's own checker, which steps differently; it cannot be replayed here: run `allways check -tc TEST` to find the violation again"
                    .to_owned(),
            );
        }
        _ => return Err("this is not a schedule file".to_owned()),
    }
    let mut file = ScheduleFile {
        test: String::new(),
        program: String::new(),
        machines: Machines::default(),
        choices: Vec::new(),
        loop_start: None,
        potential: None,
        hot: None,
        step_bound: None,
        invariant: None,
        network: NetworkOptions::default(),
    };
    let mut n_choices = None;
    let mut short = Vec::new();
    let n_lines = text.lines().count();
    for (number, line) in lines {
        let wrong =
            || format!("line {number} is not a choice: `{}`", line.chars().take(40).collect::<String>());
        if let Some(header) = line.strip_prefix("--") {
            let (key, value) = header.split_once(':').unwrap_or((header, ""));
            match key {
                "test-method" => file.test = value.to_owned(),
                "program" => file.program = value.to_owned(),
                "choices" => n_choices = value.parse::<usize>().ok(),
                "network" => {
                    file.network.model = NetworkModel::named(value)
                        .ok_or_else(|| format!("line {number} names an unknown network: `{value}`"))?;
                }
                "lossy" => file.network.lossy.push(value.to_owned()),
                "duplicating" => file.network.duplicating.push(value.to_owned()),
                "crash" => file.network.crash.push(value.to_owned()),
                "hot" => file.hot = Some(value.to_owned()),
                "potential" => file.potential = Some(value.to_owned()),
                "step-bound" => file.step_bound = value.parse().ok(),
                "invariant" => file.invariant = Some(value.to_owned()),
                "loop" => file.loop_start = value.parse().ok(),
                _ => return Err(format!("line {number} has an unknown header: `--{key}`")),
            }
        } else if let Some(path) = line.strip_prefix('(').and_then(|line| line.strip_suffix(')')) {
            let mut reader = Reader { machines: &mut file.machines, short: &short };
            file.choices.push(reader.mover(path).ok_or_else(wrong)?);
        } else if let Some((number, path)) = line.strip_prefix('@').and_then(|line| line.split_once(" = ")) {
            let mut reader = Reader { machines: &mut file.machines, short: &short };
            let machine = reader.machine(path).ok_or_else(wrong)?;
            short.push(machine);
            if number.parse() != Ok(short.len()) {
                return Err(wrong());
            }
        } else {
            match line.parse() {
                Ok(answer) => file.choices.push(FileChoice::Data(answer)),
                // A file that ends in the middle of a line.
                Err(_) if number == n_lines => break,
                Err(_) => return Err(wrong()),
            }
        }
    }
    match n_choices {
        Some(n) if n == file.choices.len() => Ok(file),
        Some(n) => Err(format!("the file is cut off: it has {} of {n} choices", file.choices.len())),
        None => Err("the file does not say how many choices it has".to_owned()),
    }
}

/// Reads names of machines.
struct Reader<'a> {
    machines: &'a mut Machines,
    /// Abbreviations, by their number less one.
    short: &'a [u32],
}

impl Reader<'_> {
    /// What stands in parentheses: `0.1`, `0 > 0.1`, `0 > 0.1 #2`, `0.1 crash`.
    fn mover(&mut self, text: &str) -> Option<FileChoice> {
        if let Some((source, rest)) = text.split_once(" > ") {
            let (target, place) = match rest.split_once(" #") {
                Some((target, place)) => (target, place.parse().ok()?),
                None => (rest, 0),
            };
            let (source, target) = (self.machine(source)?, self.machine(target)?);
            return Some(FileChoice::Deliver { target, source, place });
        }
        match text.strip_suffix(" crash") {
            Some(path) => self.machine(path).map(FileChoice::Crash),
            None => self.machine(text).map(FileChoice::Machine),
        }
    }

    /// A path: `0.1`, `@3.1`.
    fn machine(&mut self, path: &str) -> Option<u32> {
        /// No run makes more machines than this in one place; a larger number is a damaged file.
        const MAX_PLACE: u32 = 1 << 20;
        let mut parts = path.split('.');
        let first = parts.next()?;
        let base = match first.strip_prefix('@') {
            Some(number) => *self.short.get(number.parse::<usize>().ok()?.checked_sub(1)?)?,
            None if first == "0" => Machines::MAIN,
            None => return None,
        };
        parts.try_fold(base, |creator, part| {
            let place = part.parse().ok().filter(|&place| place < MAX_PLACE)?;
            Some(self.machines.child(creator, place))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> ScheduleFile {
        let mut machines = Machines::default();
        let main = Machines::MAIN;
        // Numbers as a reader gives them: by first mention.
        let (two, one) = (machines.child(main, 2), machines.child(main, 1));
        let below = machines.child(one, 0);
        ScheduleFile {
            test: "tc".into(),
            program: fingerprint(["machine"].into_iter()),
            machines,
            choices: vec![
                FileChoice::Machine(main),
                FileChoice::Data(1),
                FileChoice::Machine(two),
                FileChoice::Deliver { target: one, source: main, place: 0 },
                FileChoice::Deliver { target: main, source: below, place: 2 },
                FileChoice::Crash(one),
                FileChoice::Machine(two),
            ],
            loop_start: Some(2),
            hot: Some("Served".into()),
            potential: Some("Progress".into()),
            step_bound: Some(7),
            invariant: Some("forall (c: Client) :: c.n <= 2".into()),
            network: NetworkOptions {
                model: NetworkModel::Bag,
                lossy: vec!["eA".into(), "eB".into()],
                duplicating: Vec::new(),
                crash: vec!["Server".into()],
            },
        }
    }

    #[test]
    fn written_files_read_back() {
        assert_eq!(parse(&write(&sample())), Ok(sample()));
    }

    #[test]
    fn files_of_deep_machines_are_linear() {
        let file = |n: u32| {
            let mut file = sample();
            let mut left = Machines::MAIN;
            let mut right = file.machines.child(Machines::MAIN, 7);
            for _ in 0..n {
                left = file.machines.child(left, 0);
                file.choices.push(FileChoice::Machine(left));
                right = file.machines.child(right, 3);
                file.choices.push(FileChoice::Deliver { target: right, source: left, place: 1 });
            }
            file.choices.push(FileChoice::Crash(file.machines.child(left, 0)));
            file
        };
        let text = write(&file(1_000));
        let read = parse(&text).unwrap();
        assert_eq!(write(&read), text);
        assert_eq!(read.choices.len(), file(1_000).choices.len());
        let (half, whole) = (write(&file(500)).len(), text.len());
        assert!(whole < 2 * half + 10_000, "{half} {whole}");
        for (right, wrong) in [("@2 = ", "@3 = "), ("@2 = ", "@2 = x"), ("> @1.", "> @9999.")] {
            let damaged = parse(&text.replacen(right, wrong, 1));
            assert!(damaged.is_err_and(|problem| problem.contains("line")), "{wrong}");
        }
    }

    #[test]
    fn damaged_files_are_reported_apart() {
        let text = write(&sample());
        let cut = &text[..text.len() - 6];
        assert!(parse(cut).unwrap_err().contains("cut off"));
        assert!(parse(&text[..text.len() - 3]).unwrap_err().contains("cut off"));
        assert!(parse("--fair-scheduling\n(0)\n(1)\n").unwrap_err().contains("P's own checker"));
        assert!(parse("hello").unwrap_err().contains("not a schedule"));
        assert!(parse("").unwrap_err().contains("not a schedule"));
        assert!(parse(&text.replace("(0)", "x")).unwrap_err().contains("line"));
    }
}
