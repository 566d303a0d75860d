//! Schedule files: enough to replay a run.
//!
//! Text, line by line, in the manner of P's own `.schedule` files: header lines begin with `--`, comments with
//! `//`, then one choice a line: `(0.1)` is the machine that steps, by its path of creation from the main machine
//! `0`; a number is the answer to a data choice. P's own files number machines by order of creation and have a
//! line for every scheduling point of its runtime; they cannot be replayed here and are recognized.

use std::fmt::Write as _;

use allways_run::{NetworkModel, NetworkOptions};

/// Written into every file; readers refuse others.
const FORMAT: &str = "--allways-schedule:1";

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScheduleFile {
    pub test: String,
    /// Identifies the program, see [`fingerprint`].
    pub program: String,
    pub choices: Vec<FileChoice>,
    /// Where the loop begins, for a run that repeats.
    pub loop_start: Option<usize>,
    /// The monitor that was hot for too long, which is all that is wrong with the run.
    pub potential: Option<String>,
    /// The monitor that is hot again and again in the loop, and never cold.
    pub hot: Option<String>,
    /// The bound that the run came to, which is all that is wrong with it.
    pub step_bound: Option<u64>,
    /// What carries messages, and what can go wrong.
    pub network: NetworkOptions,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileChoice {
    /// A machine by its path, `0.1`.
    Machine(String),
    /// A message arrives: the paths of target and source, and its place among the different ones.
    Deliver {
        target: String,
        source: String,
        place: u32,
    },
    /// A machine stops for good.
    Crash(String),
    Data(u32),
}

/// A short name for a program: its files' texts, whatever they are called.
pub fn fingerprint<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    // FNV-1a over all bytes: a label for people's mistakes, not a defense against anyone.
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
    for choice in &file.choices {
        let _ = writeln!(out, "{}", choice.line());
    }
    out
}

impl FileChoice {
    /// The line of a choice.
    pub fn line(&self) -> String {
        match self {
            FileChoice::Machine(path) => format!("({path})"),
            FileChoice::Deliver { target, source, place: 0 } => format!("({source} > {target})"),
            FileChoice::Deliver { target, source, place } => format!("({source} > {target} #{place})"),
            FileChoice::Crash(path) => format!("({path} crash)"),
            FileChoice::Data(answer) => answer.to_string(),
        }
    }

    /// The choice of a line.
    pub fn of_line(line: &str) -> Option<FileChoice> {
        match line.strip_prefix('(').and_then(|line| line.strip_suffix(')')) {
            Some(path) => mover(path),
            None => line.parse().ok().map(FileChoice::Data),
        }
    }
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
                "this is a schedule of P's own checker, which steps differently and cannot be replayed here"
                    .to_owned(),
            );
        }
        _ => return Err("this is not a schedule file".to_owned()),
    }
    let mut file = ScheduleFile {
        test: String::new(),
        program: String::new(),
        choices: Vec::new(),
        loop_start: None,
        potential: None,
        hot: None,
        step_bound: None,
        network: NetworkOptions::default(),
    };
    let mut n_choices = None;
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
                "loop" => file.loop_start = value.parse().ok(),
                _ => return Err(format!("line {number} has an unknown header: `--{key}`")),
            }
        } else if let Some(path) = line.strip_prefix('(').and_then(|line| line.strip_suffix(')')) {
            file.choices.push(mover(path).ok_or_else(wrong)?);
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

/// What stands in parentheses: `0.1`, `0 > 0.1`, `0 > 0.1 #2`, `0.1 crash`.
fn mover(text: &str) -> Option<FileChoice> {
    if let Some((source, rest)) = text.split_once(" > ") {
        let (target, place) = match rest.split_once(" #") {
            Some((target, place)) => (target, place.parse().ok()?),
            None => (rest, 0),
        };
        return Some(FileChoice::Deliver { target: target.to_owned(), source: source.to_owned(), place });
    }
    Some(match text.strip_suffix(" crash") {
        Some(path) => FileChoice::Crash(path.to_owned()),
        None => FileChoice::Machine(text.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> ScheduleFile {
        ScheduleFile {
            test: "tc".into(),
            program: fingerprint(["machine"].into_iter()),
            choices: vec![
                FileChoice::Machine("0".into()),
                FileChoice::Data(1),
                FileChoice::Machine("0.2".into()),
                FileChoice::Deliver { target: "0.1".into(), source: "0".into(), place: 0 },
                FileChoice::Deliver { target: "0".into(), source: "0.1.0".into(), place: 2 },
                FileChoice::Crash("0.1".into()),
                FileChoice::Machine("0.2".into()),
            ],
            loop_start: Some(2),
            hot: Some("Served".into()),
            potential: Some("Progress".into()),
            step_bound: Some(7),
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
    fn damaged_files_are_told_apart() {
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
