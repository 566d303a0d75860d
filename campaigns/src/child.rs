//! Child processes, measured from outside: wall time, processor time, the largest resident memory.

use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What a child left.
pub struct Ended {
    pub status: ExitStatus,
    pub seconds: f64,
    /// User and system time.
    pub cpu: f64,
    pub megabytes: f64,
    pub stdout: String,
    pub stderr: String,
}

/// A signal, and when it is sent.
pub type Signal = (libc::c_int, Duration);

/// The `allways` binary in the folder of this one.
pub fn allways_beside() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.parent()?.join("allways"))
}

/// Runs a command in a folder, where what it prints is kept until it has ended.
pub fn measure(command: &mut Command, folder: &Path, signal: Option<Signal>) -> io::Result<Ended> {
    let (stdout, stderr) = (folder.join("stdout"), folder.join("stderr"));
    command.current_dir(folder).stdin(Stdio::null());
    command.stdout(fs::File::create(&stdout)?).stderr(fs::File::create(&stderr)?);
    let start = Instant::now();
    let child = command.spawn()?;
    let mut ended = wait(child.id() as libc::pid_t, start, signal)?;
    ended.stdout = String::from_utf8_lossy(&fs::read(&stdout)?).into_owned();
    ended.stderr = String::from_utf8_lossy(&fs::read(&stderr)?).into_owned();
    Ok(ended)
}

fn wait(pid: libc::pid_t, start: Instant, mut signal: Option<Signal>) -> io::Result<Ended> {
    loop {
        let mut status = 0;
        // SAFETY: all fields of the structure are numbers.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        let options = if signal.is_some() { libc::WNOHANG } else { 0 };
        // SAFETY: both pointers are of live variables of the right types; the child was started here and is waited for only here.
        let found = unsafe { libc::wait4(pid, &raw mut status, options, &raw mut usage) };
        if found == pid {
            let time = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
            return Ok(Ended {
                status: ExitStatus::from_raw(status),
                seconds: start.elapsed().as_secs_f64(),
                cpu: time(usage.ru_utime) + time(usage.ru_stime),
                megabytes: usage.ru_maxrss as f64 / 1024.0,
                stdout: String::new(),
                stderr: String::new(),
            });
        }
        if found < 0 {
            return Err(io::Error::last_os_error());
        }
        match signal {
            Some((number, after)) if start.elapsed() >= after => {
                // SAFETY: the child has not been waited for, so that its number is its own.
                unsafe { libc::kill(pid, number) };
                signal = None;
            }
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}
