//! Limits of time and memory, measured from outside: heavy programs (`testkit::generate::heavy`) under small random limits, with
//! every command and engine.
//!
//! A command must end within its limit of time and two seconds, must never hold more than one and a half times its limit of memory and 50 MB,
//! and whatever it says must be true of the program. One in six is interrupted, and must end within two seconds of that. Time is told twice:
//! as it passed, and beyond the limit as far as the command had a processor, since a busy machine takes it away at will.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::time::Duration;

use allways_testkit::generate::heavy::{Failure, Heavy, heavy};
use allways_testkit::random::Random;

use crate::child;

/// Beyond its limit of time, in seconds.
const LATE: f64 = 2.0;
/// However busy the machine is.
const VERY_LATE: f64 = 20.0;
/// Rows of each table of the worst.
const N_WORST: usize = 10;

const COMMANDS: [&[&str]; 12] = [
    &["check"],
    &["check", "--sch-pct", "3"],
    &["check", "--sch-random", "--no-shrink"],
    &["prove"],
    &["prove", "--engine", "explicit"],
    &["prove", "--engine", "explicit", "--order", "depth"],
    &["prove", "--engine", "explicit", "--order", "deepening", "--store", "exact"],
    &["prove", "--engine", "symbolic"],
    &["prove", "--engine", "asi"],
    &["prove", "--reductions", "none", "--engine", "explicit"],
    &["quiesce"],
    &["quiesce", "--fair"],
];
const NETWORKS: [&[&str]; 4] = [&[], &[], &["--network", "bag"], &["--network", "fifo"]];

pub fn run(args: &[&str]) -> ExitCode {
    let (mut n_programs, mut seed, mut only, mut binary) = (200u64, 0u64, None, None);
    let mut args = args.iter();
    while let Some(&arg) = args.next() {
        let value = args.next().copied();
        let number = value.and_then(|word| word.parse().ok());
        match (arg, value, number) {
            ("--programs", _, Some(number)) => n_programs = number,
            ("--seed", _, Some(number)) => seed = number,
            ("--only", _, Some(number)) => only = Some(number),
            ("--allways", Some(path), _) => binary = Some(PathBuf::from(path)),
            _ => {
                eprintln!(
                    "usage: cargo xtask limits [--programs N] [--seed S] [--only PROGRAM] [--allways FILE]"
                );
                return ExitCode::from(2);
            }
        }
    }
    let Some(binary) = binary.or_else(child::allways_beside).filter(|path| path.is_file()) else {
        eprintln!(
            "xtask limits: `allways` is not built: cargo build --release -p allways, or `--allways FILE`"
        );
        return ExitCode::from(2);
    };
    let folder = std::env::temp_dir().join(format!("allways-limits-{}", std::process::id()));
    let mut measured = Vec::new();
    for program in (0..n_programs).filter(|&program| only.is_none_or(|only| program == only)) {
        match measure(&binary, &folder, seed.wrapping_mul(1_000_003).wrapping_add(program), program) {
            Ok(one) => {
                if only.is_some() || !one.problems.is_empty() {
                    println!("{}", one.line());
                }
                measured.push(one);
            }
            Err(problem) => {
                eprintln!("xtask limits: {problem}");
                return ExitCode::FAILURE;
            }
        }
    }
    if only.is_none() {
        let _ = fs::remove_dir_all(&folder);
    } else {
        println!("{}", folder.display());
    }
    report(&mut measured)
}

/// A command that was run.
struct Measured {
    program: u64,
    command: String,
    /// What it said first.
    verdict: String,
    limit: f64,
    seconds: f64,
    /// User and system time.
    cpu: f64,
    limit_megabytes: f64,
    megabytes: f64,
    problems: Vec<String>,
}

impl Measured {
    /// Seconds beyond the limit of time, and how many of these it had a processor.
    fn late(&self) -> (f64, f64) {
        let late = self.seconds - self.limit;
        (late, late * (self.cpu / self.seconds).min(1.0))
    }

    /// Its memory as a share of what is allowed.
    fn share(&self) -> f64 {
        self.megabytes / (1.5 * self.limit_megabytes + 50.0)
    }

    fn line(&self) -> String {
        let (late, late_cpu) = self.late();
        let problems = match self.problems.is_empty() {
            true => String::new(),
            false => format!("  !! {}", self.problems.join("; ")),
        };
        format!(
            "{:>5} {:>6.2} {:>7.2} {:>7.2} {late:>7.2} {late_cpu:>7.2} {:>6.0} {:>6.0} {:>6.2}  {}: {}{problems}",
            self.program,
            self.limit,
            self.seconds,
            self.cpu,
            self.limit_megabytes,
            self.megabytes,
            self.share(),
            self.command,
            self.verdict,
        )
    }
}

const HEADING: &str = "prog.  limit    wall     CPU    late  on CPU  limit     MB  share  command: verdict (times in s, memory in MB)";

fn report(measured: &mut [Measured]) -> ExitCode {
    println!("\nlatest\n{HEADING}");
    measured.sort_by(|a, b| b.late().0.total_cmp(&a.late().0));
    measured.iter().take(N_WORST).for_each(|one| println!("{}", one.line()));
    println!("\nlargest\n{HEADING}");
    measured.sort_by(|a, b| b.share().total_cmp(&a.share()));
    measured.iter().take(N_WORST).for_each(|one| println!("{}", one.line()));
    let late = measured.iter().filter(|one| one.late().0 > LATE).count();
    let wrong = measured.iter().filter(|one| !one.problems.is_empty()).count();
    println!(
        "\n{} commands: {wrong} with a problem; {late} later than {LATE} s by the clock of the wall",
        measured.len()
    );
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn measure(binary: &Path, folder: &Path, seed: u64, program: u64) -> Result<Measured, String> {
    let mut random = Random::new(seed);
    let heavy = heavy(random.next_u64());
    let mut words: Vec<String> = random.pick(&COMMANDS).iter().map(|&word| word.to_owned()).collect();
    let takes_network = !words.iter().any(|word| word == "asi");
    if takes_network {
        words.extend(random.pick(&NETWORKS).iter().map(|&word| word.to_owned()));
    }
    let seconds = random.between(1, 5);
    let memory = random.between(1, 5) as f64 / 10.0;
    words.extend(["-t".to_owned(), seconds.to_string(), "-m".to_owned(), memory.to_string()]);
    if random.chance(30) && words[0] != "quiesce" {
        words.extend(["-j".to_owned(), "1".to_owned()]);
    }
    // Within the limit, so that it is the interruption that ends it.
    let interrupted = random.chance(17).then(|| {
        let signal = *random.pick(&[libc::SIGINT, libc::SIGTERM]);
        (signal, Duration::from_millis(random.between(200, seconds * 1000) as u64))
    });
    let command = words.join(" ");
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let path = folder.join("heavy.p");
    fs::write(&path, &heavy.text).map_err(|error| error.to_string())?;
    if words[0] != "quiesce" {
        words.extend(["-o".to_owned(), folder.join("out").display().to_string()]);
    }
    let mut run = Command::new(binary);
    run.args(&words).arg(&path);
    let ended = child::measure(&mut run, folder, interrupted).map_err(|error| error.to_string())?;
    let text = &ended.stdout;
    let said = text.lines().find_map(|line| line.strip_prefix("tcHeavy: ")).unwrap_or("").to_owned();
    let mut one = Measured {
        program,
        command: match interrupted {
            Some((signal, after)) => {
                format!("{command} (signal {signal} after {:.1} s)", after.as_secs_f64())
            }
            None => command,
        },
        verdict: said.clone(),
        limit: interrupted.map_or(seconds as f64, |(_, after)| after.as_secs_f64()),
        seconds: ended.seconds,
        cpu: ended.cpu,
        limit_megabytes: memory * 1024.0,
        megabytes: ended.megabytes,
        problems: Vec::new(),
    };
    let is_cut = text.contains("cut off at the step bound");
    if let Some(problem) = wrong(&heavy, &said, is_cut, ended.status, interrupted.is_some()) {
        one.problems.push(format!("{problem}; {}", ended.stderr.lines().last().unwrap_or("")));
    }
    let (late, late_cpu) = one.late();
    if late > LATE && late_cpu > LATE || late > VERY_LATE {
        one.problems.push("late".to_owned());
    }
    if one.share() > 1.0 {
        one.problems.push("too much memory".to_owned());
    }
    Ok(one)
}

/// What is wrong with an answer about a program, if something is.
fn wrong(heavy: &Heavy, said: &str, is_cut: bool, status: ExitStatus, may_be_130: bool) -> Option<String> {
    let Some(status) = status.code() else { return Some(format!("ended by signal {:?}", status.signal())) };
    let verdict = said.split([' ', ',', ':']).next().unwrap_or("");
    // What is said, the status that goes with it, and whether it is so.
    let (expected, is_true) = match verdict {
        "violated" => (1, heavy.failure != Failure::Never),
        "proved" => (0, heavy.failure == Failure::Never && !heavy.is_undecided),
        "holds" => (0, heavy.failure == Failure::Never),
        "no" => (0, is_cut || heavy.failure != Failure::Certain),
        "quiesces" => (0, heavy.is_finite),
        "diverges" => (1, !heavy.is_finite),
        "unknown" => (3, true),
        // Interrupted before the program was read.
        "" if may_be_130 => (130, true),
        _ => return Some(format!("no verdict, status {status}")),
    };
    if !is_true {
        return Some(format!("wrong: failure {:?}, finite {}", heavy.failure, heavy.is_finite));
    }
    if status != expected && !(may_be_130 && status == 130 && expected != 1) {
        return Some(format!("status {status}"));
    }
    None
}
