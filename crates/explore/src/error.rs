//! Faults of Allways itself, which no engine may turn into a verdict.

use allways_machine::ReplayError;

/// A fault of Allways itself: what was found does not replay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InternalError {
    Replay { index: u64, error: ReplayError },
    OtherOutcome { index: u64, expected: String, found: String },
}

impl std::fmt::Display for InternalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            InternalError::Replay { index, error } => {
                write!(f, "the violation of schedule {index} does not replay: {error}")
            }
            InternalError::OtherOutcome { index, expected, found } => {
                write!(f, "the violation of schedule {index} replays differently: {expected}, but {found}")
            }
        }
    }
}

impl std::error::Error for InternalError {}
