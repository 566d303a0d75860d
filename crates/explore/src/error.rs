//! Faults of Allways itself, which no engine may turn into a verdict.

use allways_machine::{Outcome, ReplayError};

/// A fault of Allways itself: what was found does not replay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InternalError {
    Replay(ReplayError),
    OtherOutcome {
        expected: String,
        found: String,
    },
    /// Of a schedule of testing, by its number.
    OfSchedule {
        index: u64,
        error: Box<InternalError>,
    },
}

impl InternalError {
    /// A run stands otherwise than expected.
    pub(crate) fn differs(expected: &str, found: &Outcome) -> Self {
        InternalError::OtherOutcome { expected: expected.to_owned(), found: format!("{found:?}") }
    }

    /// The same, of a schedule of testing.
    #[must_use]
    pub fn of_schedule(self, index: u64) -> Self {
        InternalError::OfSchedule { index, error: Box::new(self) }
    }
}

impl From<ReplayError> for InternalError {
    fn from(error: ReplayError) -> Self {
        InternalError::Replay(error)
    }
}

impl std::fmt::Display for InternalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            InternalError::Replay(error) => write!(f, "the violation does not replay: {error}"),
            InternalError::OtherOutcome { expected, found } => {
                write!(f, "the violation replays differently: {expected}, but {found}")
            }
            InternalError::OfSchedule { index, error } => write!(f, "schedule {index}: {error}"),
        }
    }
}

impl std::error::Error for InternalError {}
