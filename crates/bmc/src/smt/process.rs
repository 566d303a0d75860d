//! A solver process behind a pipe.
//!
//! Answers are read on a thread of their own, so that a silent solver can be given up: the process is
//! asked for a limit per check, and killed when it ignores that. While it computes, a [`Watch`] is asked
//! whether to go on; if not, the process is killed at once. Dropping the value ends the process.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::find::{Dialect, Found};
use super::sexpr::Balance;
use super::{Solver, SolverError};

/// What the user set for the process.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ProcessOptions {
    /// For one check; what takes longer is answered `unknown`.
    pub time_per_check: Option<Duration>,
    /// For all checks together.
    pub deadline: Option<Instant>,
    /// Fixed, so that the same questions get the same answers.
    pub seed: u32,
}

/// Asked several times a second while the solver computes; `false` ends it.
pub type Watch<'w> = &'w dyn Fn() -> bool;

/// Between two questions to a [`Watch`].
const TICK: Duration = Duration::from_millis(50);

/// How much longer than its own limit a solver may take before it is killed.
const GRACE: Duration = Duration::from_secs(1);

/// How long a solver may take to start, on a machine that is busy with other things.
const START: Duration = Duration::from_secs(60);

pub struct ProcessSolver<'w> {
    watch: Option<Watch<'w>>,
    program: String,
    dialect: Dialect,
    child: Child,
    stdin: Option<ChildStdin>,
    /// Commands not yet written: one flush per question.
    pending: String,
    answers: Receiver<String>,
    patience: Option<Duration>,
    time_per_check: Option<Duration>,
    deadline: Option<Instant>,
    time: Duration,
}

impl<'w> ProcessSolver<'w> {
    /// Starts a solver and makes sure that it speaks SMT-LIB.
    pub fn start(found: &Found, options: &ProcessOptions) -> Result<Self, SolverError> {
        ProcessSolver::start_with(found, &[], options)
    }

    /// The same, under a watch.
    pub fn watched(found: &Found, options: &ProcessOptions, watch: Watch<'w>) -> Result<Self, SolverError> {
        let mut solver = ProcessSolver::start(found, options)?;
        solver.watch = Some(watch);
        Ok(solver)
    }

    /// The same with arguments before the usual ones: a solver that is a script has an interpreter.
    pub fn start_with(
        found: &Found,
        args: &[PathBuf],
        options: &ProcessOptions,
    ) -> Result<Self, SolverError> {
        let program = found.program.display().to_string();
        let mut command = Command::new(&found.program);
        command.args(args);
        match found.dialect {
            Dialect::Z3 => command.args(["-in", "-smt2"]),
            Dialect::Cvc5 => command.args(["--incremental", "--lang", "smt2", "--arrays-exp"]),
        };
        if let (Dialect::Cvc5, Some(limit)) = (found.dialect, options.time_per_check) {
            command.arg(format!("--tlimit-per={}", limit.as_millis()));
        }
        let failed = |reason: String| SolverError::Start { program: program.clone(), reason };
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or_else(|| failed("it has no output".to_owned()))?;
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            let (mut answer, mut balance) = (String::new(), Balance::default());
            loop {
                let start = answer.len();
                match reader.read_line(&mut answer) {
                    Ok(0) | Err(_) => return,
                    Ok(_) => {}
                }
                if balance.line(&answer[start..]) {
                    balance = Balance::default();
                    if sender.send(std::mem::take(&mut answer)).is_err() {
                        return;
                    }
                }
            }
        });
        let patience = options.time_per_check.map(|limit| limit + GRACE);
        let mut solver = ProcessSolver {
            watch: None,
            program,
            dialect: found.dialect,
            child,
            stdin,
            pending: String::new(),
            answers,
            patience,
            time_per_check: options.time_per_check,
            deadline: options.deadline,
            time: Duration::ZERO,
        };
        solver.tell("(set-option :print-success false)\n")?;
        if found.dialect == Dialect::Z3 {
            solver.tell(&format!(
                "(set-option :smt.random_seed {0})\n(set-option :sat.random_seed {0})\n",
                options.seed
            ))?;
            if let Some(limit) = options.time_per_check {
                solver.tell(&format!("(set-option :timeout {})\n", limit.as_millis()))?;
            }
        }
        solver.greet()?;
        Ok(solver)
    }

    /// A process that is no solver is found out here and not in the middle of a run.
    fn greet(&mut self) -> Result<(), SolverError> {
        let asked = "(echo \"ready\")";
        // A program that ignores its input would keep us waiting for ever.
        let patience = self.patience.replace(START);
        let answer = self.ask(asked);
        self.patience = patience;
        let answer = answer?;
        match answer.trim().trim_matches('"') {
            "ready" => Ok(()),
            _ => Err(SolverError::Nonsense { asked: asked.to_owned(), answer: answer.trim().to_owned() }),
        }
    }

    /// Gives the next check what is left of the time. Only Z3 accepts a new limit while it runs; others are killed when it is over.
    fn limit(&mut self, left: Duration) {
        let limit = self.time_per_check.map_or(left, |most| most.min(left)).max(Duration::from_millis(1));
        if self.dialect == Dialect::Z3 {
            self.pending.push_str(&format!("(set-option :timeout {})\n", limit.as_millis()));
        }
        self.patience = Some(limit + GRACE);
    }

    /// The next answer, as long as nothing speaks against waiting for it.
    fn wait(&mut self, patience: Option<Duration>) -> Result<String, Waiting> {
        let start = Instant::now();
        loop {
            let left = patience.map(|patience| patience.saturating_sub(start.elapsed()));
            let next = left.unwrap_or(TICK).min(TICK);
            match self.answers.recv_timeout(next) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Disconnected) => return Err(Waiting::Ended),
                Err(RecvTimeoutError::Timeout) if left.is_some_and(|left| left <= next) => {
                    return Err(Waiting::TooLong);
                }
                Err(RecvTimeoutError::Timeout) if self.watch.is_some_and(|watch| !watch()) => {
                    return Err(Waiting::Stopped);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.stdin = None;
    }

    /// Why the process is gone: its status and what it wrote to its error stream.
    fn died(&mut self) -> SolverError {
        self.stdin = None;
        let mut detail = String::new();
        // Its output is closed, so it has ended or is worth ending.
        let _ = self.child.kill();
        if let Ok(status) = self.child.wait() {
            detail = status.to_string();
        }
        if let Some(stderr) = self.child.stderr.take() {
            let mut message = String::new();
            let _ = stderr.take(10_000).read_to_string(&mut message);
            if let Some(line) = message.lines().find(|line| !line.trim().is_empty()) {
                detail = format!("{detail}: {}", line.trim());
            }
        }
        SolverError::Died { program: self.program.clone(), detail }
    }
}

/// Why there is no answer.
enum Waiting {
    Ended,
    TooLong,
    Stopped,
}

impl Solver for ProcessSolver<'_> {
    fn tell(&mut self, commands: &str) -> Result<(), SolverError> {
        self.pending.push_str(commands);
        Ok(())
    }

    fn ask(&mut self, command: &str) -> Result<String, SolverError> {
        let start = Instant::now();
        if let Some(deadline) = self.deadline
            && command.starts_with("(check-sat")
        {
            self.limit(deadline.saturating_duration_since(start));
        }
        self.pending.push_str(command);
        self.pending.push('\n');
        let text = std::mem::take(&mut self.pending);
        let written = match &mut self.stdin {
            Some(stdin) => stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_ok(),
            None => false,
        };
        // What it said before it died may explain why, so a failed write still reads; the reader may not have got to
        // it yet, and tells when there is nothing more.
        let patience = if written { self.patience } else { Some(GRACE) };
        let answer = self.wait(patience);
        self.time += start.elapsed();
        match answer {
            Ok(answer) => Ok(answer),
            Err(Waiting::Stopped) => {
                self.end();
                Err(SolverError::Stopped)
            }
            Err(Waiting::TooLong) if written => {
                self.end();
                Err(SolverError::Silent { after: self.patience.unwrap_or_default() })
            }
            Err(Waiting::TooLong | Waiting::Ended) => Err(self.died()),
        }
    }

    fn has_lambda(&self) -> bool {
        self.dialect == Dialect::Z3
    }

    fn triggers_only(&self) -> Option<&'static str> {
        match self.dialect {
            Dialect::Z3 => Some(
                "(set-option :auto_config false)\n(set-option :smt.mbqi false)\n(set-option :smt.candidate_models true)\n",
            ),
            Dialect::Cvc5 => None,
        }
    }

    fn time(&self) -> Duration {
        self.time
    }
}

impl Drop for ProcessSolver<'_> {
    fn drop(&mut self) {
        // Errors have no reader any more.
        self.end();
    }
}
