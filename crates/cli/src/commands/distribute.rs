//! Work beyond one process, as options ask for it: opens checkpoints and connects to other processes.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use allways_cluster::folder::{Belongs, Folder, hash_of, name_of};
use allways_cluster::hosts;
use allways_cluster::mesh::{self, Mesh};
use allways_cluster::scratch::Spare;
use allways_driver::Compilation;
use allways_explore::CheckOptions;
use allways_explore::exchange::{Exchange, Peers};
use allways_explore::search::distribute::Checkpoints;
use allways_explore::search::{ProveOptions, Spill};
use allways_report::text::count_of;
use allways_run::NetworkOptions;

use crate::args::{ClusterArgs, DistributeArgs};
use crate::exit::ExitStatus;
use crate::printer;

/// The variable with the secret.
pub const SECRET: &str = "ALLWAYS_CLUSTER_SECRET";
/// Set for processes that must not outlive the one that started them: standard input ends with it.
pub const SUPERVISED: &str = "ALLWAYS_CLUSTER_SUPERVISED";

/// Between two signs of life.
const SIGN: Duration = Duration::from_millis(500);
/// Between two looks into a folder where processes find each other.
const LOOK: Duration = Duration::from_millis(20);

/// What was opened.
#[derive(Default)]
pub struct Beyond {
    pub folder: Option<Arc<Folder>>,
    pub mesh: Option<Arc<Mesh>>,
    pub spare: Option<Arc<Spare>>,
}

impl Beyond {
    pub fn checkpoints(&self) -> Option<Checkpoints> {
        self.folder.clone().map(|folder| Checkpoints(folder))
    }

    pub fn peers(&self) -> Option<Peers> {
        self.mesh.clone().map(|mesh| Peers(mesh))
    }

    pub fn spill(&self) -> Option<Spill> {
        self.spare.clone().map(|scratch| Spill { scratch, part: None })
    }

    /// Another process has the report.
    pub fn is_helper(&self) -> bool {
        self.mesh.as_ref().is_some_and(|mesh| mesh.number() > 0)
    }

    /// Says goodbye to the others. Whether the work was done, or why not.
    pub fn close(&self) -> Result<(), String> {
        let Some(mesh) = &self.mesh else { return Ok(()) };
        let failure = mesh.failure();
        let is_interrupted = crate::interrupt::is_interrupted();
        mesh.close(if is_interrupted { Some("it was interrupted") } else { failure.as_deref() });
        failure.map_or(Ok(()), Err)
    }
}

/// What decides about the work: lines of a name and a value.
fn belongs(compilation: &Compilation, test: &str, network: &NetworkOptions, options: String) -> Belongs {
    let sources = compilation.sources();
    let texts = compilation.project.inputs.iter().map(|input| sources.file(input.file).text.as_str());
    Belongs(vec![
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("program", name_of(texts)),
        ("test", test.to_owned()),
        ("network", format!("{network:?}")),
        ("options", options),
    ])
}

/// What decides about a proof.
pub fn belongs_to_proof(
    compilation: &Compilation,
    test: &str,
    network: &NetworkOptions,
    options: &ProveOptions,
) -> Belongs {
    let ProveOptions { order, store, bounds, max_choices, reductions, fairness, limits, .. } = options;
    let options = format!(
        "{order:?} {store:?} {bounds:?} {max_choices:?} {reductions:?} {fairness:?} {} {}",
        limits.instructions, limits.call_depth
    );
    belongs(compilation, test, network, options)
}

/// What decides about schedules. How many there are is up to process 0.
fn belongs_to_testing(
    compilation: &Compilation,
    test: &str,
    network: &NetworkOptions,
    options: &CheckOptions,
) -> Belongs {
    let CheckOptions { strategy, seed, fair_steps, unfair_steps, fail_on_max_steps, explore, .. } = options;
    let CheckOptions { liveness, limits, .. } = options;
    let options = format!(
        "testing {strategy:?} {seed} {fair_steps:?} {unfair_steps:?} {fail_on_max_steps} {explore} {liveness:?} {} {}",
        limits.instructions, limits.call_depth
    );
    belongs(compilation, test, network, options)
}

fn rejected(problem: &str) -> ExitStatus {
    printer::err(&format!("{problem}\n"));
    ExitStatus::Rejected
}

/// Connects processes that test together.
pub fn open_for_testing(
    args: &ClusterArgs,
    compilation: &Compilation,
    test: &str,
    network: &NetworkOptions,
    options: &CheckOptions,
) -> Result<Beyond, ExitStatus> {
    let belongs = belongs_to_testing(compilation, test, network, options);
    Ok(Beyond { mesh: connect(args, job_of(&belongs))?, ..Beyond::default() })
}

fn job_of(belongs: &Belongs) -> [u8; 32] {
    hash_of(belongs.0.iter().flat_map(|(name, value)| [*name, value.as_str()]))
}

/// How a process ends that has no report: since the processes could not go on, or since another one has it.
pub fn status_without_report(failure: Option<&str>, is_helper: bool) -> Option<ExitStatus> {
    if let Some(why) = failure {
        printer::err(&format!("{why}\n"));
    }
    let status = match (failure, is_helper) {
        (None, false) => return None,
        _ if crate::interrupt::is_interrupted() => ExitStatus::Interrupted,
        (Some(_), _) => ExitStatus::Lost,
        (None, true) => ExitStatus::Success,
    };
    Some(status)
}

/// Opens what a search is to use.
pub fn open(args: &DistributeArgs, belongs: &Belongs) -> Result<Beyond, ExitStatus> {
    let every = Duration::from_secs(args.checkpoint_seconds);
    let folder = args.checkpoint.as_deref().map(|folder| Folder::new(folder, belongs, every));
    let folder = folder.transpose().map_err(|problem| rejected(&problem))?;
    let mesh = connect(&args.cluster, job_of(belongs))?;
    let spare = args.spill.as_deref().map(Spare::new).transpose().map_err(|problem| rejected(&problem))?;
    Ok(Beyond { folder: folder.map(Arc::new), mesh, spare: spare.map(Arc::new) })
}

/// Connects to the other processes, if there are some.
fn connect(args: &ClusterArgs, job: [u8; 32]) -> Result<Option<Arc<Mesh>>, ExitStatus> {
    let (Some(cluster), Some(number)) = (&args.cluster, args.process) else { return Ok(None) };
    if std::env::var_os(SUPERVISED).is_some() {
        end_with_input();
        show_life(cluster.join(sign_of_life(number)));
    }
    let settings = mesh::Settings {
        secret: secret(args)?,
        job,
        connect: Duration::from_secs(args.connect_seconds),
        silence: Duration::from_secs(args.silence_seconds),
    };
    let (listener, hosts) = match cluster.is_dir() {
        true => rendezvous(cluster, number, args)?,
        false => from_file(cluster, number).map_err(|problem| rejected(&problem))?,
    };
    let mesh = Mesh::connect(&listener, &hosts, number, &settings);
    let mesh = mesh.map_err(|problem| {
        printer::err(&format!("process {number} of {}: {problem}\n", hosts.len()));
        ExitStatus::Lost
    })?;
    Ok(Some(Arc::new(mesh)))
}

fn secret(args: &ClusterArgs) -> Result<Vec<u8>, ExitStatus> {
    let text = match &args.secret_file {
        Some(file) => std::fs::read_to_string(file)
            .map_err(|error| rejected(&format!("--secret-file {}: {error}", file.display())))?,
        None => std::env::var(SECRET).unwrap_or_default(),
    };
    let secret = text.trim().as_bytes().to_vec();
    if secret.len() < 16 {
        let problem = format!(
            "processes of a cluster need a secret of 16 characters or more, the same for all: give --secret-file, or set {SECRET}"
        );
        return Err(rejected(&problem));
    }
    Ok(secret)
}

fn from_file(file: &Path, number: usize) -> Result<(TcpListener, Vec<String>), String> {
    let at = |problem: String| format!("--cluster {}: {problem}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| at(error.to_string()))?;
    let hosts = hosts::parse(&text).map_err(at)?;
    let Some(own) = hosts.get(number) else {
        return Err(at(format!(
            "there is no process {number}: the file lists {}, numbered from 0",
            count_of(hosts.len() as u64, "process", "processes")
        )));
    };
    Ok((mesh::listen(own)?, hosts))
}

/// Leaves the address of this process in a folder, and waits for those of the others.
fn rendezvous(
    folder: &Path,
    number: usize,
    args: &ClusterArgs,
) -> Result<(TcpListener, Vec<String>), ExitStatus> {
    let at = |problem: String| rejected(&format!("--cluster {}: {problem}", folder.display()));
    let n = args.processes.filter(|&n| (number + 1..=hosts::MAX_PROCESSES).contains(&n));
    let n = n.ok_or_else(|| {
        at(format!(
            "it is a folder, so --processes N is needed, more than --process and at most {}",
            hosts::MAX_PROCESSES
        ))
    })?;
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| at(error.to_string()))?;
    let own = listener.local_addr().map_err(|error| at(error.to_string()))?.to_string();
    let new = folder.join(format!("new-{number}"));
    let written =
        std::fs::write(&new, &own).and_then(|()| std::fs::rename(&new, folder.join(number.to_string())));
    written.map_err(|error| at(error.to_string()))?;
    let deadline = Instant::now() + Duration::from_secs(args.connect_seconds);
    let mut hosts = Vec::new();
    while hosts.len() < n {
        match std::fs::read_to_string(folder.join(hosts.len().to_string())) {
            Ok(host) => hosts.push(host),
            Err(_) if Instant::now() < deadline => std::thread::sleep(LOOK),
            Err(_) => {
                printer::err(&format!("process {} did not connect\n", hosts.len()));
                return Err(ExitStatus::Lost);
            }
        }
    }
    Ok((listener, hosts))
}

/// The file in which a process shows that it lives.
pub fn sign_of_life(number: usize) -> String {
    format!("alive-{number}")
}

/// Changes a file again and again, for as long as this process runs.
fn show_life(file: PathBuf) {
    let show = move || {
        for turn in 0u64.. {
            // A sign that is lost is one that is late.
            let _ = std::fs::write(&file, turn.to_string());
            std::thread::sleep(SIGN);
        }
    };
    let _ = std::thread::Builder::new().name("sign of life".to_owned()).spawn(show);
}

/// Ends this process when standard input does.
fn end_with_input() {
    let watch = || {
        let mut input = std::io::stdin().lock();
        while std::io::Read::read(&mut input, &mut [0; 64]).is_ok_and(|n| n > 0) {}
        std::process::exit(ExitStatus::Lost as i32);
    };
    // Without it, a process may outlive the one that started it.
    let _ = std::thread::Builder::new().name("standard input".to_owned()).spawn(watch);
}
