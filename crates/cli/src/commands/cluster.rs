//! `allways cluster up`: several processes of this machine, watched.
//!
//! Processes find each other in a folder made for that, and share a secret made for that. When one ends before its work is done, or the others
//! lose it, or it shows no sign of life, all are ended and started again; their search goes on from the last complete layer of its checkpoint.
//! Processes end with this one, however it ends, since their standard input does.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus as ChildStatus, Stdio};
use std::time::{Duration, Instant};

use super::distribute::{SECRET, SUPERVISED, sign_of_life};
use crate::args::{ClusterCommand, ClusterCommandArgs, UpArgs};
use crate::exit::ExitStatus;
use crate::{interrupt, printer};

/// Between two checks of the processes.
const LOOK: Duration = Duration::from_millis(20);
/// Between two looks for signs of life.
const SIGN_LOOK: Duration = Duration::from_millis(250);
/// Seconds without a sign of life, unless the command says otherwise; and how much later than the other processes this one gives up, since
/// they know more.
const SILENCE: u64 = 20;
const MORE_SILENCE: Duration = Duration::from_secs(5);
/// How long processes may take to end by themselves.
const PATIENCE: Duration = Duration::from_secs(10);

pub fn cluster(args: &ClusterCommandArgs) -> ExitStatus {
    match &args.command {
        ClusterCommand::Up(args) => up(args),
    }
}

/// A folder that is removed with everything in it.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Result<Self, String> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
        let folder = std::env::temp_dir().join(format!("allways-cluster-{:016x}", u64::from_le_bytes(bytes)));
        std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Temporary(folder))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Processes that are ended and waited for, whatever happens.
struct Processes(Vec<Child>);

impl Drop for Processes {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
        }
        for child in &mut self.0 {
            let _ = child.wait();
        }
    }
}

enum Ended {
    /// Process 0 has given its report.
    Done(ExitStatus),
    /// Some process was lost, for this reason.
    Lost(String),
}

fn up(args: &UpArgs) -> ExitStatus {
    interrupt::listen();
    let fail = |problem: String| {
        printer::err(&format!("{problem}\n"));
        ExitStatus::Rejected
    };
    let is_prove = args.command.first().is_some_and(|command| command == "prove");
    if !is_prove && args.command.first().is_none_or(|command| command != "check") {
        return fail(
            "`cluster up` is for `prove` and `check`: allways cluster up -n 2 -- prove ...".to_owned(),
        );
    }
    let temporary = match Temporary::new() {
        Ok(temporary) => temporary,
        Err(problem) => return fail(problem),
    };
    let mut secret = [0; 32];
    if let Err(error) = getrandom::fill(&mut secret) {
        return fail(error.to_string());
    }
    let secret: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let has_checkpoint =
        args.command.iter().any(|word| word.to_string_lossy().split('=').next() == Some("--checkpoint"));
    let checkpoint = temporary.0.join("checkpoint");
    let mut n_restarts = 0;
    loop {
        let folder = temporary.0.join(format!("processes-{n_restarts}"));
        if let Err(error) = std::fs::create_dir(&folder) {
            return fail(format!("{}: {error}", folder.display()));
        }
        let more = (is_prove && !has_checkpoint).then_some(checkpoint.as_path());
        let ended = match start(args, &folder, more, &secret) {
            Ok(processes) => watch(processes, Signs::new(&folder, args)),
            Err(problem) => return fail(problem),
        };
        match ended {
            Ended::Done(status) => return status,
            Ended::Lost(why) if n_restarts < args.restarts && !interrupt::is_interrupted() => {
                n_restarts += 1;
                let from = if is_prove { " from the last complete layer" } else { "" };
                printer::note(&format!(
                    "... {why}; starting again{from} ({n_restarts} of {})\n",
                    args.restarts
                ));
            }
            Ended::Lost(_) if interrupt::is_interrupted() => return ExitStatus::Interrupted,
            Ended::Lost(why) => {
                printer::err(&format!("{why}\n"));
                return ExitStatus::Lost;
            }
        }
    }
}

fn start(args: &UpArgs, folder: &Path, checkpoint: Option<&Path>, secret: &str) -> Result<Processes, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut processes = Processes(Vec::new());
    for number in 0..args.processes {
        let mut command = Command::new(&program);
        command.args(&args.command);
        let options: [(&str, OsString); 3] = [
            ("--cluster", folder.into()),
            ("--process", number.to_string().into()),
            ("--processes", args.processes.to_string().into()),
        ];
        for (name, value) in options {
            command.arg(name).arg(value);
        }
        if let Some(checkpoint) = checkpoint {
            command.arg("--checkpoint").arg(checkpoint);
        }
        command.env(SECRET, secret).env(SUPERVISED, "1").stdin(Stdio::piped());
        if number > 0 {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        let child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
        processes.0.push(child);
    }
    Ok(processes)
}

/// What became of a process that has ended, unless its work is done.
fn lost(number: usize, status: ChildStatus) -> Option<String> {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return Some(format!("process {number} was ended by signal {signal}"));
        }
    }
    match status.code() {
        Some(code) if code == ExitStatus::Lost as i32 => {
            Some("the processes lost contact with each other".to_owned())
        }
        Some(code) if code == ExitStatus::Internal as i32 => Some(format!(
            "process {number} failed with an internal error, please report this; to see its output, start the processes \
                 by hand with `allways prove --cluster FOLDER --process N`"
        )),
        _ => None,
    }
}

/// What processes show of themselves: a process that is stopped, or hangs, may be one that the others need no more, or not yet.
struct Signs<'a> {
    folder: &'a Path,
    silence: Duration,
    /// By process: the last sign, and when it was seen.
    last: Vec<(Vec<u8>, Instant)>,
    /// When signs were last looked for.
    looked: Instant,
}

impl<'a> Signs<'a> {
    fn new(folder: &'a Path, args: &UpArgs) -> Self {
        let mut words = args.command.iter().map(|word| word.to_string_lossy());
        let seconds = words.find_map(|word| match word.strip_prefix("--silence-seconds") {
            Some("") => Some(None),
            Some(rest) => Some(rest.strip_prefix('=').and_then(|n| n.parse().ok())),
            None => None,
        });
        // The option is checked by the processes.
        let seconds: Option<u64> =
            seconds.and_then(|here: Option<u64>| here.or_else(|| words.next()?.parse().ok()));
        let now = Instant::now();
        let silence = Duration::from_secs(seconds.unwrap_or(SILENCE)) + MORE_SILENCE;
        Signs { folder, silence, last: vec![(Vec::new(), now); args.processes], looked: now }
    }

    /// Whether a process has shown nothing for too long.
    fn is_silent(&mut self, number: usize) -> bool {
        let sign = std::fs::read(self.folder.join(sign_of_life(number))).unwrap_or_default();
        let (last, seen) = &mut self.last[number];
        // One that is being written is empty.
        if !sign.is_empty() && *last != sign {
            (*last, *seen) = (sign, Instant::now());
        }
        seen.elapsed() > self.silence
    }
}

/// Waits for process 0 to give its report, or for a process to be lost. No process is left then.
fn watch(mut processes: Processes, mut signs: Signs<'_>) -> Ended {
    let mut interrupted: Option<Instant> = None;
    let mut done: Option<(ExitStatus, Instant)> = None;
    let mut has_ended = vec![false; processes.0.len()];
    loop {
        for number in 0..processes.0.len() {
            if has_ended[number] {
                continue;
            }
            let Ok(Some(status)) = processes.0[number].try_wait() else { continue };
            has_ended[number] = true;
            if let Some(why) = lost(number, status)
                && done.is_none()
            {
                // The one that is to blame may end a moment later than those that have noticed.
                let culprit = (0..processes.0.len()).filter(|&other| !has_ended[other]).find_map(|other| {
                    let status = processes.0[other].try_wait().ok().flatten()?;
                    lost(other, status).filter(|why| why.contains("signal"))
                });
                return Ended::Lost(culprit.unwrap_or(why));
            }
            if number == 0 {
                done = Some((ExitStatus::of_code(status.code()), Instant::now()));
            }
        }
        if done.is_none() && signs.looked.elapsed() > SIGN_LOOK {
            signs.looked = Instant::now();
            if let Some(number) =
                (0..processes.0.len()).find(|&number| !has_ended[number] && signs.is_silent(number))
            {
                return Ended::Lost(format!("process {number} shows no sign of life"));
            }
        }
        match done {
            Some((status, _)) if has_ended.iter().all(|&ended| ended) => return Ended::Done(status),
            Some((status, since)) if since.elapsed() > PATIENCE => return Ended::Done(status),
            _ => {}
        }
        if interrupt::is_interrupted() && interrupted.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return Ended::Lost("interrupted".to_owned());
        }
        std::thread::sleep(LOOK);
    }
}
