//! From a schedule back to the run it came from.

use std::sync::Arc;

use allways_run::{Choice, InstanceId, Limits, Schedule};

use crate::Executable;
use crate::kernel::{DataPoint, Kernel, Oracle, Outcome};
use crate::record::Recorder;

/// Why a schedule does not replay. Places count choices from zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReplayError {
    /// The machine cannot step there.
    NotEnabled { at: usize, machine: InstanceId },
    /// Nothing can arrive there by that channel.
    NothingArrives { at: usize },
    /// The machine cannot crash there.
    CannotCrash { at: usize },
    /// A machine or channel has to be named, and a data choice is there.
    MachineExpected { at: usize },
    /// A data choice was due, and there is none.
    DataExpected { at: usize },
    /// There are not so many answers.
    NoSuchAnswer { at: usize, answer: u32, n_answers: u32 },
    /// The run ended before the schedule did.
    TooLong { at: usize },
}

impl std::fmt::Display for ReplayError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReplayError::NotEnabled { at, .. } => write!(f, "choice {at}: the machine cannot step there"),
            ReplayError::NothingArrives { at } => {
                write!(f, "choice {at}: the network has no such message there")
            }
            ReplayError::CannotCrash { at } => write!(f, "choice {at}: the machine cannot crash there"),
            ReplayError::MachineExpected { at } => write!(f, "choice {at}: a machine should be named there"),
            ReplayError::DataExpected { at } => write!(f, "choice {at}: an answer is missing there"),
            ReplayError::NoSuchAnswer { at, answer, n_answers } => {
                write!(f, "choice {at}: answer {answer} of {n_answers} does not exist")
            }
            ReplayError::TooLong { at } => write!(f, "choice {at}: the run has ended there"),
        }
    }
}

impl std::error::Error for ReplayError {}

/// Runs a schedule and reports to the recorder. The kernel that is returned stands where the schedule ends.
pub fn replay<R: Recorder>(
    exe: &Arc<Executable>,
    limits: Limits,
    schedule: &Schedule,
    recorder: &mut R,
) -> Result<Kernel<'static>, ReplayError> {
    let mut kernel = Kernel::new(exe.clone(), limits);
    kernel.set_transient(true);
    replay_on(&mut kernel, schedule, recorder)?;
    Ok(kernel)
}

/// Resets a kernel and runs a schedule on it. It stands where the schedule ends, or where it went wrong.
pub fn replay_on<R: Recorder>(
    kernel: &mut Kernel,
    schedule: &Schedule,
    recorder: &mut R,
) -> Result<(), ReplayError> {
    kernel.reset();
    let mut answers = Answers { choices: &schedule.choices, at: 0, error: None };
    while let Some(&choice) = schedule.choices.get(answers.at) {
        let at = answers.at;
        if !matches!(kernel.outcome(), Outcome::Running) {
            return Err(ReplayError::TooLong { at });
        }
        answers.at += 1;
        if kernel.take(choice, &mut answers, recorder).is_err() {
            return Err(match choice {
                Choice::Machine(machine) => ReplayError::NotEnabled { at, machine },
                Choice::Deliver { .. } => ReplayError::NothingArrives { at },
                Choice::Crash(_) => ReplayError::CannotCrash { at },
                Choice::Data(_) => ReplayError::MachineExpected { at },
            });
        }
        if let Some(error) = answers.error {
            return Err(error);
        }
    }
    Ok(())
}

/// The data choices of a schedule.
struct Answers<'a> {
    choices: &'a [Choice],
    at: usize,
    error: Option<ReplayError>,
}

impl Oracle for Answers<'_> {
    fn answer(&mut self, point: DataPoint) -> u32 {
        let at = self.at;
        let n_answers = point.n_answers;
        match self.choices.get(at) {
            Some(&Choice::Data(answer)) => {
                self.at += 1;
                if answer >= n_answers {
                    self.error.get_or_insert(ReplayError::NoSuchAnswer { at, answer, n_answers });
                }
                answer
            }
            Some(Choice::Machine(_) | Choice::Deliver { .. } | Choice::Crash(_)) | None => {
                self.error.get_or_insert(ReplayError::DataExpected { at });
                0
            }
        }
    }
}
