//! What an almost-synchronous proof hands back.

use crate::search::report::ProveReport;

#[derive(Clone, Debug)]
pub struct AlmostSyncReport {
    /// Figures count states of the reduced system; there are no ends, since it does not tell them.
    pub report: ProveReport,
    /// Which inbox is flooded, and by which machine, if some inbox grew.
    pub flood: Option<Flood>,
    /// The certificate of a proof, if it was asked for.
    pub certificate: Option<String>,
    /// States in which some machine is blocked.
    pub n_blocked: u64,
}

/// An inbox that grew beyond what is ordinary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flood {
    /// Machine names with the path of the instance.
    pub sender: String,
    pub receiver: String,
    /// The event of most messages that wait there.
    pub event: String,
    pub n_waiting: u32,
}
