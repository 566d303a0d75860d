//! Exit statuses, one list for all commands. The README documents them.

/// What a command tells the shell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ExitStatus {
    /// The program holds, or the input is accepted.
    Success = 0,
    /// A property is violated.
    Violated = 1,
    /// The input is rejected, or the command was used wrongly.
    Rejected = 2,
    /// No answer within the limits.
    Inconclusive = 3,
    /// Processes that work together have lost each other.
    Lost = 4,
    /// A fault of Allways itself. (A panic of the runtime ends with the same number.)
    Internal = 101,
    /// Stopped by the user.
    Interrupted = 130,
}

impl ExitStatus {
    /// Of another process, by its code.
    pub fn of_code(code: Option<i32>) -> Self {
        match code {
            Some(0) => ExitStatus::Success,
            Some(1) => ExitStatus::Violated,
            Some(2) => ExitStatus::Rejected,
            Some(3) => ExitStatus::Inconclusive,
            Some(4) => ExitStatus::Lost,
            Some(130) => ExitStatus::Interrupted,
            Some(_) | None => ExitStatus::Internal,
        }
    }
}
