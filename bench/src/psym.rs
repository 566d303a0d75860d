//! The tables of the PSYM paper (L. Pick, A. Desai, A. Gupta, 2023): on models of our own, and on those of a checkout of the P repository.
//!
//! Each row runs in a process of its own, once with the symbolic engine and once with explicit search, each within limits of time and memory. It shows
//! processor time and the largest resident memory of that process, and ratios to the paper's published figures. The paper's models are not
//! public in this form, and its machines are others, so a ratio to the paper is an order of magnitude. A row is *good* if the symbolic engine decides it in
//! a fifth of the paper's time, but a fifth of a second is always good.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use allways_driver::engine::{self, Algorithm, Answer, Budget, Effort, Means, Question, Settings};
use allways_driver::{Request, abstraction, suite};
use allways_explore::symbolic::FilterNames;
use allways_machine::Executable;
use allways_run::{NetworkOptions, Quiet, Verdict};

use crate::search::{cpu_limit, timed};

const MEMORY: u64 = 8 << 30;
/// Explicit search is given up after so long, unless a limit is asked for.
const EXPLICIT_SECONDS: u64 = 60;
/// The word before the arguments of a process that runs one row.
pub const ONE: &str = "psym-one";

#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    /// A folder of this repository.
    Own,
    /// One of a checkout of the P repository.
    Checkout,
}

/// A row of a table: the paper's name for it, its seconds and megabytes, a model and a test.
struct Row {
    table: &'static str,
    name: &'static str,
    seconds: f64,
    megabytes: Option<f64>,
    from: From,
    model: &'static str,
    test: &'static str,
    is_abstract: bool,
}

const fn own(
    table: &'static str,
    name: &'static str,
    seconds: f64,
    megabytes: Option<f64>,
    model: &'static str,
    test: &'static str,
) -> Row {
    Row { table, name, seconds, megabytes, from: From::Own, model, test, is_abstract: false }
}

const fn data(
    name: &'static str,
    seconds: f64,
    megabytes: f64,
    model: &'static str,
    test: &'static str,
) -> Row {
    Row { is_abstract: true, ..own("5", name, seconds, Some(megabytes), model, test) }
}

const fn repo(
    table: &'static str,
    name: &'static str,
    seconds: f64,
    megabytes: Option<f64>,
    model: &'static str,
    test: &'static str,
) -> Row {
    Row { from: From::Checkout, ..own(table, name, seconds, megabytes, model, test) }
}

/// The only test of a program that declares none.
const DEFAULT: &str = "DefaultImpl";

const ROWS: &[Row] = &[
    own("2", "Chang-Roberts 5", 1.0, None, "models/ring_election", "tcElection___nNodes_5"),
    repo("2", "Chang-Roberts", 1.0, None, "Tst/PortfolioTests/ChangRob", DEFAULT),
    own("2", "hybrid clocks 3", 3.0, None, "models/hybrid_clock", "tcClocks___nNodes_3__maxTime_3__drift_2"),
    own("2", "hybrid clocks 4", 8.0, None, "models/hybrid_clock", "tcClocks___nNodes_3__maxTime_4__drift_2"),
    own("2", "hybrid clocks 5", 24.0, None, "models/hybrid_clock", "tcClocks___nNodes_3__maxTime_5__drift_2"),
    repo("2", "hybrid clocks", 3.0, None, "Tst/PortfolioTests/HClock", DEFAULT),
    own(
        "2",
        "2PC with backup manager",
        10.0,
        None,
        "models/backup_manager",
        "tcBackup___nParticipants_5__logsFirst_true",
    ),
    repo("2", "2PC with backup manager", 10.0, None, "Tst/PortfolioTests/2PC/2PCwithBTM", DEFAULT),
    own("2", "Ben-Or rounds 2", 7.0, None, "models/ben_or", "tcBenOr___nNodes_3__nFaults_1__maxRound_2"),
    own("2", "Ben-Or rounds 3", 71.0, None, "models/ben_or", "tcBenOr___nNodes_3__nFaults_1__maxRound_3"),
    repo("2", "Ben-Or", 7.0, None, "Tst/PortfolioTests/BenOr", DEFAULT),
    own("2", "Streamlet", 5.0, None, "models/streamlet", "tcStreamlet___nNodes_3__nEpochs_3__quorum_2"),
    repo("2", "Streamlet", 5.0, None, "Tst/PortfolioTests/Streamlet", DEFAULT),
    own("2", "Paxos simple", 201.0, None, "models/paxos", "tcAgreement___nProposers_2__nAcceptors_3"),
    own(
        "2",
        "Paxos full",
        414.0,
        None,
        "bench/models/paxos_rounds",
        "tcFlexible___nProposers_2__nAcceptors_3__nRounds_4__quorum1_3__quorum2_1",
    ),
    own("3", "token ring", 2.0, Some(27.0), "models/token_ring", "tcToken___nNodes_4"),
    repo("3", "token ring", 2.0, Some(27.0), "Tst/PortfolioTests/TokenRing", DEFAULT),
    own("3", "bounded async", 11.0, Some(45.0), "models/bounded_async", "tcBounded___nProcesses_3__bound_3"),
    repo(
        "3",
        "bounded async",
        11.0,
        Some(45.0),
        "Tst/RegressionTests/Integration/Correct/BoundedAsync",
        DEFAULT,
    ),
    own("3", "German", 44.0, Some(860.0), "models/german", "tcCoherent___nClients_4__nRequests_2"),
    repo("3", "German", 44.0, Some(860.0), "Tst/PortfolioTests/German", DEFAULT),
    own("3", "failure detector", 38.0, Some(1434.0), "models/failure_detector", "tcDetector___nNodes_4"),
    repo("3", "failure detector", 38.0, Some(1434.0), "Tutorial/4_FailureDetector", "tcTest_FailureDetector"),
    own(
        "3",
        "two-phase commit",
        3442.0,
        Some(13_312.0),
        "bench/models/store_commit",
        "tcStore___nClients_2__nParticipants_2__nWrites_2__nReads_2",
    ),
    repo(
        "3",
        "two-phase commit",
        3442.0,
        Some(13_312.0),
        "Tutorial/2_TwoPhaseCommit",
        "tcMultipleClientsNoFailure",
    ),
    own(
        "3",
        "Paxos 4 rounds",
        7207.0,
        Some(18_432.0),
        "bench/models/paxos_rounds",
        "tcRounds___nProposers_2__nAcceptors_3__nRounds_4__quorum1_2__quorum2_2",
    ),
    repo("3", "Paxos", 7207.0, Some(18_432.0), "Tutorial/5_Paxos", "testBasicPaxos2on3"),
    data("two-phase commit 2", 1.0, 8.1, "models/abstract/commit_store", "tcStore___nParticipants_2"),
    data("two-phase commit 4", 1.0, 8.7, "models/abstract/commit_store", "tcStore___nParticipants_4"),
    data("two-phase commit 6", 1.0, 9.0, "models/abstract/commit_store", "tcStore___nParticipants_6"),
    data("Paxos 3", 12.0, 123.3, "models/abstract/paxos_store", "tcStore___nAcceptors_3__takesOver_true"),
    data(
        "Paxos 5",
        10_818.0,
        18_432.0,
        "models/abstract/paxos_store",
        "tcStore___nAcceptors_5__takesOver_true",
    ),
    own("6", "lastzero 5", 3.0, Some(20.0), "bench/models/last_zero", "tcLastZero___n_5"),
    own("6", "lastzero 10", 12.0, Some(180.0), "bench/models/last_zero", "tcLastZero___n_10"),
    own("6", "lastzero 15", 73.0, Some(1024.0), "bench/models/last_zero", "tcLastZero___n_15"),
    own("6", "counter 5", 1.0, Some(8.1), "bench/models/counter", "tcCounter___n_5"),
    own("6", "counter 10", 7.6, Some(200.0), "bench/models/counter", "tcCounter___n_10"),
    own("6", "counter 15", 317.0, Some(13_312.0), "bench/models/counter", "tcCounter___n_15"),
];

/// Case studies (table 4): with and without filters, and planted bugs. The paper's figures are those with its filters.
const CASES: &[Row] = &[
    own(
        "4",
        "firmware update",
        906.0,
        Some(5427.0),
        "models/firmware_update",
        "tcUpdate___nDevices_3__nBlocks_2__verifies_true",
    ),
    own(
        "4",
        "data migration",
        7223.0,
        Some(15_360.0),
        "models/data_migration",
        "tcMigration___nKeys_3__nWrites_2__clientsLock_true",
    ),
    own(
        "4",
        "data replication",
        10_874.0,
        Some(16_384.0),
        "models/replicated_backup",
        "tcBackup___nAgents_4__majority_2",
    ),
    own(
        "4",
        "conflict resolution",
        18_060.0,
        Some(45_056.0),
        "models/conflict_resolution",
        "tcRegions___nCommands_3__breaksTies_true",
    ),
    own(
        "4",
        "firmware bug",
        906.0,
        None,
        "models/firmware_update",
        "tcUnverified___nDevices_3__nBlocks_2__verifies_false",
    ),
    own(
        "4",
        "migration bug",
        7223.0,
        None,
        "models/data_migration",
        "tcUnlocked___nKeys_3__nWrites_2__clientsLock_false",
    ),
    own(
        "4",
        "replication bug",
        10_874.0,
        None,
        "models/replicated_backup",
        "tcHasty___nAgents_4__majority_1",
    ),
    own(
        "4",
        "conflict bug",
        18_060.0,
        None,
        "models/conflict_resolution",
        "tcTies___nCommands_3__breaksTies_false",
    ),
];

/// What is asked of the bench.
pub struct PsymOptions {
    checkout: Option<PathBuf>,
    /// The limit of each row; else a part of the paper's time.
    seconds: Option<u64>,
    words: Vec<String>,
}

impl PsymOptions {
    pub fn parse(words: &[&str]) -> Option<Self> {
        let mut options = PsymOptions { checkout: None, seconds: None, words: Vec::new() };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            match word {
                "--p-repo" => options.checkout = Some(PathBuf::from(*words.next()?)),
                "--seconds" => options.seconds = Some(words.next()?.parse().ok()?),
                word if word.starts_with('-') => return None,
                word => options.words.push(word.to_owned()),
            }
        }
        Some(options)
    }
}

/// How one engine goes about a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Sets,
    Filtered,
    Paper,
    PaperFiltered,
    Explicit,
}

impl Way {
    const ALL: [(Way, &'static str); 5] = [
        (Way::Sets, "sets"),
        (Way::Filtered, "filtered"),
        (Way::Paper, "paper"),
        (Way::PaperFiltered, "paper-filtered"),
        (Way::Explicit, "explicit"),
    ];

    fn name(self) -> &'static str {
        Way::ALL.iter().find(|(way, _)| *way == self).map_or("", |(_, name)| name)
    }
}

/// What a process said of a row.
#[derive(Clone, Debug)]
struct Found {
    verdict: String,
    configurations: String,
    cpu: f64,
    megabytes: f64,
}

impl Found {
    fn is_decided(&self) -> bool {
        matches!(self.verdict.as_str(), "holds" | "violated")
    }

    fn seconds(&self) -> String {
        match self.is_decided() {
            true => format!("{:.2}", self.cpu),
            false => format!("> {:.0}", self.cpu),
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Prints the tables; says whether no engine contradicts another and every row of ours is good.
pub fn run(options: &PsymOptions) -> bool {
    println!(
        "{:34} {:>9} {:>14} {:>8} {:>7} {:>9} {:>7} {:>7} {:>8} {:>8} {:>8} {:>8}",
        "table: row",
        "verdict",
        "configs",
        "symb. s",
        "MB",
        "expl. s",
        "MB",
        "s/e",
        "paper s",
        "s/paper",
        "MB/paper",
        ""
    );
    let mut is_good = true;
    for row in ROWS {
        let Some(label) = label(row, options) else { continue };
        let (symbolic, explicit) = (process(row, options, Way::Sets), process(row, options, Way::Explicit));
        let (Some(symbolic), Some(explicit)) = (symbolic, explicit) else {
            is_good &= row.from == From::Checkout;
            continue;
        };
        let agree = !symbolic.is_decided() || !explicit.is_decided() || symbolic.verdict == explicit.verdict;
        let in_time = symbolic.cpu <= (row.seconds / 5.0).max(0.2) && symbolic.megabytes <= 8192.0;
        let mark = match (agree, symbolic.is_decided() && in_time, symbolic.is_decided()) {
            (false, ..) => "DIFFER",
            (_, true, _) => "good",
            (_, _, true) => "slow",
            _ => "open",
        };
        is_good &= agree && (mark == "good" || row.from == From::Checkout);
        let ratio = symbolic.cpu.max(0.01) / explicit.cpu.max(0.01);
        let relation = match (symbolic.is_decided(), explicit.is_decided()) {
            (true, true) => format!("{ratio:.2}"),
            (true, false) => format!("< {ratio:.2}"),
            (false, true) => format!("> {ratio:.1}"),
            (false, false) => "-".to_owned(),
        };
        let of_paper = |own: f64, paper: f64| match symbolic.is_decided() {
            true => format!("{:.4}", own / paper),
            false => "-".to_owned(),
        };
        println!(
            "{label:34} {:>9} {:>14} {:>8} {:>7.0} {:>9} {:>7.0} {:>7} {:>8} {:>8} {:>8} {:>8}",
            symbolic.verdict,
            symbolic.configurations,
            symbolic.seconds(),
            symbolic.megabytes,
            explicit.seconds(),
            explicit.megabytes,
            relation,
            row.seconds,
            of_paper(symbolic.cpu.max(0.01), row.seconds),
            row.megabytes.map_or_else(|| "-".to_owned(), |paper| of_paper(symbolic.megabytes, paper)),
            mark
        );
    }
    is_good
}

/// Table 4: the case studies in every way, a line for each.
pub fn cases(options: &PsymOptions) -> bool {
    println!(
        "{:34} {:>15} {:>9} {:>14} {:>9} {:>8} {:>8} {:>8}",
        "table: row", "way", "verdict", "configs", "cpu s", "MB", "s/paper", "MB/paper"
    );
    let mut agree = true;
    for row in CASES {
        let Some(label) = label(row, options) else { continue };
        let mut verdicts: Vec<String> = Vec::new();
        for (way, name) in Way::ALL {
            let Some(found) = process(row, options, way) else { continue };
            let ratio = |own: f64, paper: Option<f64>| match paper {
                Some(paper) if found.is_decided() => format!("{:.5}", own / paper),
                _ => "-".to_owned(),
            };
            println!(
                "{label:34} {name:>15} {:>9} {:>14} {:>9} {:>8.0} {:>8} {:>8}",
                found.verdict,
                found.configurations,
                found.seconds(),
                found.megabytes,
                ratio(found.cpu.max(0.01), Some(row.seconds)),
                ratio(found.megabytes, row.megabytes)
            );
            if found.is_decided() {
                verdicts.push(found.verdict);
            }
        }
        agree &= verdicts.windows(2).all(|pair| pair[0] == pair[1]);
    }
    agree
}

/// What a row is called, if it is asked for.
fn label(row: &Row, options: &PsymOptions) -> Option<String> {
    let place = if row.from == From::Checkout { " (P)" } else { "" };
    let label = format!("{}: {}{place}", row.table, row.name);
    let is_there = row.from == From::Own || options.checkout.is_some();
    (is_there && options.words.iter().all(|word| label.contains(word.as_str()))).then_some(label)
}

/// Seconds for a row: a fifth of the paper's time for what is compared with it, and not much longer for explicit search.
fn limit(row: &Row, options: &PsymOptions, way: Way) -> u64 {
    let fifth = (row.seconds / 5.0).ceil().max(1.0) as u64;
    let most = if way == Way::Explicit { EXPLICIT_SECONDS } else { u64::MAX };
    options.seconds.unwrap_or_else(|| fifth.min(most))
}

/// Runs a row in a process of its own.
fn process(row: &Row, options: &PsymOptions, way: Way) -> Option<Found> {
    let folder = match row.from {
        From::Own => root(),
        From::Checkout => options.checkout.clone()?,
    };
    let output = Command::new(std::env::current_exe().ok()?)
        .args([ONE, way.name(), if row.is_abstract { "abstract" } else { "concrete" }])
        .args([&limit(row, options, way).to_string(), row.test])
        .arg(folder.join(row.model))
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let words: Vec<&str> = text.split_whitespace().collect();
    let [verdict, configurations, cpu, megabytes] = words[..] else {
        eprintln!("{} {}: {}", row.model, row.test, String::from_utf8_lossy(&output.stderr).trim());
        return None;
    };
    Some(Found {
        verdict: verdict.to_owned(),
        configurations: configurations.to_owned(),
        cpu: cpu.parse().ok()?,
        megabytes: megabytes.parse().ok()?,
    })
}

/// One row, in this process: verdict, configurations, processor seconds and megabytes, in one line.
pub fn run_one(way: &str, kind: &str, seconds: &str, test: &str, model: &str) -> bool {
    match answer(way, kind == "abstract", seconds.parse().unwrap_or(60), test, Path::new(model)) {
        Ok((answer, cpu)) => {
            let verdict = match &answer.verdict {
                Verdict::Holds(_) => "holds",
                Verdict::Violated(_) => "violated",
                Verdict::Unknown(_) => "unknown",
            };
            let symbolic = answer.figures.symbolic.as_ref().and_then(|it| it.configurations.as_ref());
            let explicit = answer.figures.search.as_ref().map(|it| it.n_configurations);
            let configurations = match (symbolic, explicit) {
                (Some(count), _) => count.to_string().replace(',', ""),
                (None, Some(n)) if way == "explicit" => n.to_string(),
                _ => "?".to_owned(),
            };
            println!("{verdict} {configurations} {cpu:.3} {:.1}", peak_megabytes());
            true
        }
        Err(problem) => {
            eprintln!("{problem}");
            false
        }
    }
}

/// The largest resident memory of this process, where the system tells.
fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|n| n.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}

fn answer(
    way: &str,
    is_abstract: bool,
    seconds: u64,
    test: &str,
    model: &Path,
) -> Result<(Answer, f64), String> {
    let way = Way::ALL.iter().find(|(_, name)| *name == way).map(|(way, _)| *way).ok_or("no such way")?;
    let request = Request { paths: vec![model.to_owned()], ..Request::default() };
    let compilation = allways_driver::compile(&request, false);
    let program = compilation.program.ok_or("the model is rejected")?;
    let number = program
        .tests
        .iter()
        .position(|found| found.name == test)
        .ok_or_else(|| format!("no test `{test}`"))?;
    let suite = suite::load(&compilation.project.folder)?.unwrap_or_default();
    let exe = Arc::new(Executable::new(&program, number));
    let mut settings = Settings::default();
    if matches!(way, Way::Paper | Way::PaperFiltered) {
        settings.symbolic_algorithm = Algorithm::Paper;
    }
    let mut question = Question::new(exe);
    if matches!(way, Way::Filtered | Way::PaperFiltered) {
        let is_paper = way == Way::PaperFiltered;
        settings.symbolic.filters = FilterNames {
            left_movers: suite.filters.left_movers,
            symmetric: if is_paper { suite.filters.symmetric } else { Vec::new() },
            ..FilterNames::default()
        };
        if !is_paper {
            question.fairness = None;
        }
    }
    let name = if way == Way::Explicit { engine::EXPLICIT } else { engine::SYMBOLIC };
    let budget = Budget { n_threads: 1, memory_bytes: Some(MEMORY), effort: Effort::Whole };
    let cancel = cpu_limit(Duration::from_secs(seconds));
    let means = Means { budget, observer: &Quiet, cancel: &cancel };
    let (found, cpu, _) = timed(|| match is_abstract {
        false => engine::answer(name, &question, &settings, means).map_err(|error| error.to_string()),
        true => {
            let network = NetworkOptions::default();
            let types = &suite.abstract_types;
            abstraction::answer(&program, number, &network, types, name, &question, &settings, means)
                .map(|found| found.answer)
                .map_err(|_| "the abstraction has no answer".to_owned())
        }
    });
    Ok((found?, cpu))
}
