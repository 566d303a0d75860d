//! `cargo xtask cluster`: several processes of the binary against one, on models and random programs; processes that are killed or stopped; figures.
//!
//! `compare` is about equal reports: with `--namespaces`, each process has a network namespace of its own, and they are connected by a bridge (this needs
//! Linux, root and `ip`). `lose` ends or stops one process at a random moment, again and again. `figures` measures processor time and memory.
//! Whatever is started is ended, and whatever is made is removed, also after a failure.

mod namespaces;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use allways_run::NetworkModel;
use allways_testkit::case::Case;
use allways_testkit::differential::Over;

use crate::child;
use namespaces::Namespaces;

/// Tests of models that ship with Allways, small enough for eight runs each. The last four have violations.
const MODELS: &[(&str, &str)] = &[
    ("german", "tcCoherent___nClients_3__nRequests_2"),
    ("failure_detector", "tcDetector___nNodes_4"),
    ("lease", "tcFenced___nClients_3__nWrites_2__nExpiries_2__hasFence_true"),
    ("paxos", "tcAgreement___nProposers_2__nAcceptors_2"),
    ("saga", "tcSaga___nTrips_3__nSeats_1__isForgetful_false"),
    ("snapshot", "tcSnapshot___nBranches_3__nCoins_1__isHasty_false"),
    ("two_phase", "tcAtomic___nParticipants_4__nTransactions_1"),
    ("ring_election", "tcElection___nNodes_5"),
    ("hybrid_clock", "tcClocks___nNodes_2__maxTime_4__drift_2"),
    ("streamlet", "tcStreamlet___nNodes_3__nEpochs_2__quorum_2"),
    ("ben_or", "tcBenOr___nNodes_3__nFaults_1__maxRound_1"),
    ("bank", "HastyTellers"),
    ("elections", "tcDoubleVote"),
    ("two_phase_commit", "HastyWriters"),
    ("retries", "tcForgetful"),
];

/// How many processes there are in a comparison.
const PROCESSES: [usize; 3] = [1, 2, 4];
/// Seconds that a search by one process may take to be compared: of a model, and of a random program, of which there are always others.
const TIME: u64 = 60;
const TIME_OF_RANDOM: u64 = 5;
/// Random programs after which the comparison says how far it has come.
const REPORT_AFTER: u64 = 20;
/// The comparison ends after so many differences.
const MAX_DIFFERENCES: usize = 5;
const SECRET: &str = "a secret of this campaign alone";

struct Options {
    /// Where processes run, and write what they write.
    folder: PathBuf,
    n_programs: u64,
    seed: u64,
    n_turns: u64,
    binary: PathBuf,
    models: PathBuf,
    has_namespaces: bool,
    has_models: bool,
    words: Vec<String>,
}

pub fn run(args: &[&str]) -> ExitCode {
    let [what, rest @ ..] = args else { return usage() };
    let Some(options) = options(rest) else { return usage() };
    if !options.binary.is_file() {
        println!(
            "{}: there is no such file; build it, or name another with --allways",
            options.binary.display()
        );
        return ExitCode::from(2);
    }
    let folder = options.folder.clone();
    if let Err(error) = fs::create_dir_all(&folder) {
        println!("{}: {error}", folder.display());
        return ExitCode::from(2);
    }
    let n_problems = match *what {
        "compare" => compare(&options, &folder),
        "lose" => lose(&options, &folder),
        "figures" => figures(&options, &folder),
        _ => {
            let _ = fs::remove_dir_all(&folder);
            return usage();
        }
    };
    let _ = fs::remove_dir_all(&folder);
    match n_problems {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(problem) => {
            println!("{problem}");
            ExitCode::from(2)
        }
    }
}

fn usage() -> ExitCode {
    println!(
        "usage: cargo xtask cluster compare [--programs N] [--seed S] [--namespaces] [--random-only]\n\
         \x20      cargo xtask cluster lose [--turns N] [--seed S] [-- MODEL TEST [WORD]...]\n\
         \x20      cargo xtask cluster figures [-- MODEL TEST [WORD]...]\n\
         with each: [--allways FILE] [--models DIR]"
    );
    ExitCode::from(2)
}

fn options(args: &[&str]) -> Option<Options> {
    let mut options = Options {
        folder: std::env::temp_dir().join(format!("allways-cluster-campaign-{}", std::process::id())),
        n_programs: 200,
        seed: 0,
        n_turns: 20,
        binary: child::allways_beside()?,
        models: Path::new(env!("CARGO_MANIFEST_DIR")).join("../models"),
        has_namespaces: false,
        has_models: true,
        words: Vec::new(),
    };
    let mut rest = args;
    loop {
        rest = match rest {
            [] => return Some(options),
            ["--", words @ ..] => {
                options.words = words.iter().map(|&word| word.to_owned()).collect();
                &[]
            }
            ["--namespaces", more @ ..] => {
                options.has_namespaces = true;
                more
            }
            ["--random-only", more @ ..] => {
                options.has_models = false;
                more
            }
            [name, value, more @ ..] => {
                match *name {
                    "--programs" => options.n_programs = value.parse().ok()?,
                    "--seed" => options.seed = value.parse().ok()?,
                    "--turns" => options.n_turns = value.parse().ok()?,
                    "--allways" => options.binary = fs::canonicalize(value).ok()?,
                    "--models" => options.models = fs::canonicalize(value).ok()?,
                    _ => return None,
                }
                more
            }
            [_] => return None,
        };
    }
}

/// What a run has said, but for what depends on time.
#[derive(PartialEq, Eq)]
struct Said {
    code: Option<i32>,
    text: String,
}

fn said(code: Option<i32>, stdout: &[u8]) -> Said {
    let text = String::from_utf8_lossy(stdout);
    let lines = text.lines().filter(|line| !line.contains("Elapsed"));
    Said { code, text: lines.collect::<Vec<_>>().join("\n") }
}

fn allways(options: &Options, words: &[String]) -> Command {
    let mut command = Command::new(&options.binary);
    command
        .current_dir(&options.folder)
        .args(words)
        .env("NO_COLOR", "1")
        .env("ALLWAYS_CLUSTER_SECRET", SECRET)
        .stdin(Stdio::null());
    command
}

fn run_to_end(command: &mut Command) -> Result<Said, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    Ok(said(output.status.code(), &output.stdout))
}

/// Names of files that are written go by what is there.
fn forget_output(options: &Options) {
    let _ = fs::remove_dir_all(options.folder.join("PCheckerOutput"));
}

/// `words` by so many processes.
fn together(
    options: &Options,
    namespaces: Option<&Namespaces>,
    words: &[String],
    n: usize,
) -> Result<Said, String> {
    forget_output(options);
    if let Some(namespaces) = namespaces {
        let mut all = namespaces.start(options, words, n)?;
        let first = all.0.remove(0);
        let first = first.wait_with_output().map_err(|error| error.to_string())?;
        for mut child in std::mem::take(&mut all.0) {
            child.wait().map_err(|error| error.to_string())?;
        }
        return Ok(said(first.status.code(), &first.stdout));
    }
    let up = ["cluster", "up", "-n", &n.to_string(), "--restarts", "0", "--"].map(str::to_owned);
    run_to_end(&mut allways(options, &[&up[..], words].concat()))
}

/// Processes that are ended, whatever happens.
struct Children(Vec<Child>);

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
        }
        for child in &mut self.0 {
            let _ = child.wait();
        }
    }
}

#[derive(Default)]
struct Compared {
    n_questions: usize,
    n_runs: usize,
    n_violated: usize,
    n_open: usize,
    n_differences: usize,
}

impl Compared {
    /// One question, by one process and by several.
    fn ask(
        &mut self,
        options: &Options,
        namespaces: Option<&Namespaces>,
        name: &str,
        words: &[String],
        seconds: u64,
    ) -> Result<(), String> {
        let more = |more: &[&str]| -> Vec<String> {
            words.iter().cloned().chain(more.iter().map(|&word| word.to_owned())).collect()
        };
        let is_proof = words[0] == "prove";
        let time = seconds.to_string();
        let limited: &[&str] = if is_proof { &["--engine", "explicit", "-t", &time] } else { &[] };
        forget_output(options);
        let alone = run_to_end(&mut allways(options, &more(limited)))?;
        if is_proof && alone.code == Some(3) {
            self.n_open += 1;
            return Ok(());
        }
        self.n_questions += 1;
        self.n_violated += usize::from(alone.code == Some(1));
        for n in PROCESSES {
            self.n_runs += 1;
            let found = together(options, namespaces, &more(&["-j", "1"]), n)?;
            if found != alone {
                self.n_differences += 1;
                println!(
                    "{name}, {n} processes: {words:?}\none process, {:?}:\n{}\n{n} processes, {:?}:\n{}\n",
                    alone.code, alone.text, found.code, found.text
                );
            }
        }
        Ok(())
    }
}

/// Equal reports on models and random programs, with and without reductions; of testing, too.
fn compare(options: &Options, folder: &Path) -> Result<usize, String> {
    let namespaces = options.has_namespaces.then(|| Namespaces::new(PROCESSES[2])).transpose()?;
    let namespaces = namespaces.as_ref();
    let mut compared = Compared::default();
    let word = |word: &str| word.to_owned();
    for (model, test) in MODELS.iter().filter(|_| options.has_models) {
        let path = options.models.join(model).display().to_string();
        for reductions in ["default", "none"] {
            let words = [
                word("prove"),
                path.clone(),
                word("-tc"),
                word(test),
                word("--reductions"),
                word(reductions),
            ];
            compared.ask(options, namespaces, model, &words, TIME)?;
        }
        let words = [word("check"), path, word("-tc"), word(test), word("-s"), word("300")];
        compared.ask(options, namespaces, model, &words, TIME)?;
        if compared.n_differences >= MAX_DIFFERENCES {
            break;
        }
    }
    if options.has_models {
        println!("models: {}", compared.summary());
    }
    let n_differences = compared.n_differences;
    let mut compared = Compared::default();
    let file = folder.join("random.p");
    for seed in options.seed..options.seed + options.n_programs {
        let case = Case::new(seed, Over { model: NetworkModel::Inbox, faults: false, only: None });
        fs::write(&file, &case.text).map_err(|error| error.to_string())?;
        let Some(test) = case.loaded.program.tests.first().map(|test| test.name.clone()) else { continue };
        for reductions in ["all", "none"] {
            let path = file.display().to_string();
            let words =
                [word("prove"), path, word("-tc"), test.clone(), word("--reductions"), word(reductions)];
            compared.ask(options, namespaces, &case.name(), &words, TIME_OF_RANDOM)?;
        }
        let words = [word("check"), file.display().to_string(), word("-tc"), test, word("-s"), word("20")];
        compared.ask(options, namespaces, &case.name(), &words, TIME_OF_RANDOM)?;
        if compared.n_differences >= MAX_DIFFERENCES {
            break;
        }
        let n_done = seed + 1 - options.seed;
        if n_done.is_multiple_of(REPORT_AFTER) && n_done < options.n_programs {
            println!("{n_done} random programs so far: {}", compared.summary());
        }
    }
    println!("random programs: {}", compared.summary());
    Ok(n_differences + compared.n_differences)
}

impl Compared {
    fn summary(&self) -> String {
        let Compared { n_questions, n_runs, n_violated, n_open, n_differences } = self;
        format!(
            "{n_questions} questions, {n_violated} of them with a violation, {n_runs} runs by several processes, {n_open} left out since one \
             process does not answer in time, {n_differences} differences"
        )
    }
}

/// The model that is asked about where no other is named.
fn words_of(options: &Options) -> Vec<String> {
    let (model, test, more) = match options.words.as_slice() {
        [model, test, more @ ..] => (model.as_str(), test.as_str(), more.to_vec()),
        _ => (
            "german",
            "tcCoherent___nClients_4__nRequests_5",
            ["--reductions", "none"].map(str::to_owned).to_vec(),
        ),
    };
    let path = options.models.join(model).display().to_string();
    ["prove", &path, "-tc", test].map(str::to_owned).into_iter().chain(more).collect()
}

/// The processes below a process that have come to run what they are for. One that is stopped before that makes its parent wait for ever: so says
/// `vfork`, and it is no matter of ours.
fn children_of(parent: u32) -> Vec<libc::pid_t> {
    let list = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    let has_begun = |process: &libc::pid_t| {
        let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        words.split(|&byte| byte == 0).any(|word| word == b"--process")
    };
    list.split_whitespace().filter_map(|word| word.parse().ok()).filter(has_begun).collect()
}

/// One process is ended, or stopped, at a random moment, turn after turn.
fn lose(options: &Options, folder: &Path) -> Result<usize, String> {
    let words = words_of(options);
    let alone = {
        let words: Vec<String> =
            words.iter().cloned().chain(["--engine", "explicit"].map(str::to_owned)).collect();
        run_to_end(&mut allways(options, &words))?
    };
    let mut n_problems = 0;
    // Pseudo-random, so that a turn can be repeated.
    let mut random = options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    for (signal, name) in [(libc::SIGKILL, "kill -9"), (libc::SIGSTOP, "SIGSTOP")] {
        let (mut n_lost, mut n_exact) = (0, 0);
        // How long a run takes that loses nothing.
        let mut usual = Duration::from_millis(1_500);
        for turn in 0..options.n_turns {
            let temporary = folder.join(format!("turn-{signal}-{turn}"));
            fs::create_dir_all(&temporary).map_err(|error| error.to_string())?;
            let up = ["cluster", "up", "-n", "3", "--"].map(str::to_owned);
            let more = ["-j", "1", "--silence-seconds", "2", "--checkpoint-seconds", "0"].map(str::to_owned);
            let folder = temporary.join("kept").display().to_string();
            let kept = ["--checkpoint".to_owned(), folder];
            let mut command = allways(options, &[&up[..], &words, &more, &kept].concat());
            let output = temporary.join("stdout");
            let errors = temporary.join("stderr");
            let open = |path: &Path| fs::File::create(path).map_err(|error| error.to_string());
            command.stdout(open(&output)?).stderr(open(&errors)?).env("TMPDIR", &temporary);
            let start = Instant::now();
            let mut up = Children(vec![command.spawn().map_err(|error| error.to_string())?]);
            let at = Duration::from_millis(100 + next(usual.as_millis() as u64));
            while start.elapsed() < at {
                std::thread::sleep(Duration::from_millis(5));
            }
            let processes = children_of(up.0[0].id());
            let hit = (!processes.is_empty()).then(|| processes[next(processes.len() as u64) as usize]);
            if let Some(hit) = hit {
                // SAFETY: it is a child of the process that was started here, which waits for it no earlier than it notices its end.
                unsafe { libc::kill(hit, signal) };
            }
            let status = up.0[0].wait().map_err(|error| error.to_string())?;
            let text = fs::read(&output).map_err(|error| error.to_string())?;
            let was_lost = fs::read_to_string(&errors).unwrap_or_default().contains("starting again");
            n_lost += usize::from(was_lost);
            if !was_lost {
                usual = usual.min(start.elapsed());
            }
            let is_exact = said(status.code(), &text) == alone;
            n_exact += usize::from(is_exact);
            let left: Vec<String> = hit
                .into_iter()
                .chain(processes)
                .filter(|process| Path::new(&format!("/proc/{process}")).exists())
                .map(|process| format!("process {process}"))
                .chain(fs::read_dir(&temporary).into_iter().flatten().flatten().filter_map(|entry| {
                    let name = entry.file_name().to_string_lossy().into_owned();
                    name.starts_with("allways-cluster-").then_some(name)
                }))
                .collect();
            if !is_exact || !left.is_empty() {
                n_problems += 1;
                println!(
                    "{name}, turn {turn}, after {} ms: {:?}, left behind {left:?}\n{}",
                    at.as_millis(),
                    status.code(),
                    String::from_utf8_lossy(&text)
                );
            }
            let _ = fs::remove_dir_all(&temporary);
        }
        println!(
            "{name}: {} turns, {n_lost} lost a process and began again, {n_exact} with the report of one process",
            options.n_turns
        );
    }
    Ok(n_problems)
}

/// Processor time and memory, as a table.
fn figures(options: &Options, folder: &Path) -> Result<usize, String> {
    let words = words_of(options);
    let mut n_transitions = 0u64;
    println!("| | CPU s in all | ns per transition | MB of each process | MB sent |\n|---|---|---|---|---|");
    let mut row = |name: &str, n: usize, more: &[&str]| -> Result<(), String> {
        let hosts = folder.join(format!("hosts-{n}"));
        fs::create_dir_all(&hosts).map_err(|error| error.to_string())?;
        for entry in fs::read_dir(&hosts).into_iter().flatten().flatten() {
            let _ = fs::remove_file(entry.path());
        }
        let run = |number: usize| {
            let mut command = allways(options, &words);
            command.args(["-j", "1", "-v"]).args(more);
            if n == 0 {
                command.args(["--engine", "explicit"]);
            } else {
                command.arg("--cluster").arg(&hosts).args(["--processes", &n.to_string()]);
                command.args(["--process", &number.to_string()]);
            }
            let own = folder.join(format!("process-{number}"));
            fs::create_dir_all(&own)?;
            child::measure(&mut command, &own, None)
        };
        let ended: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..n.max(1)).map(|number| scope.spawn(move || run(number))).collect();
            threads.into_iter().map(|thread| thread.join()).collect()
        });
        let mut all = Vec::new();
        for ended in ended {
            all.push(ended.map_err(|_| "a thread has failed")?.map_err(|error| error.to_string())?);
        }
        let cpu: f64 = all.iter().map(|ended| ended.cpu).sum();
        let figure = |text: &str, unit: &str| -> Option<u64> {
            let before = text.split(unit).next()?;
            before.rsplit([' ', '\n']).find(|word| !word.is_empty())?.parse().ok()
        };
        n_transitions = figure(&all[0].stdout, " transitions").unwrap_or(n_transitions);
        let sent = [&all[0].stdout, &all[0].stderr].into_iter().find_map(|text| {
            figure(text.split("..... sent ").nth(1).map(|_| text)?, " bytes to other processes")
        });
        let memory: Vec<String> = all.iter().map(|ended| format!("{:.0}", ended.megabytes)).collect();
        println!(
            "| {name} | {cpu:.2} | {:.0} | {} | {} |",
            cpu * 1e9 / n_transitions.max(1) as f64,
            memory.join(", "),
            sent.map_or("-".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6))
        );
        Ok(())
    };
    row("one process", 0, &[])?;
    let kept = folder.join("kept").display().to_string();
    row(
        "the same, with a checkpoint of each layer",
        0,
        &["--checkpoint", &kept, "--checkpoint-seconds", "0"],
    )?;
    for n in [1, 2, 4, 8] {
        row(&format!("{n} process{} of a cluster", if n == 1 { "" } else { "es" }), n, &[])?;
    }
    println!("{n_transitions} transitions");
    Ok(0)
}
